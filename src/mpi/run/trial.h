/**
 * @file trial.h
 * Ways to cut the same work (contract.h, tsl_trial): which one is taken.
 *
 * The fastest on the device that decides, which is the first card, else rank 0's socket: the device
 * that does most of the work. It is found by a trial and kept in the calibration file under that
 * device and what the family says; a run from a checkpoint takes the checkpoint's.
 */
#pragma once

#include "session.h"

/** What create asks, alive during it. */
typedef struct tsl_decider {
  tsl_trial trial; /**< first */
  tsl_session *session;
} tsl_decider;

tsl_decider tsl_session_decider(tsl_session *session);

/**
 * Collective on session->comm, after tsl_session_problem. Where create has asked for a way that
 * nobody knows, create the problem in each way, time its units of kind 0 on all ranks at once, keep
 * the way that takes the device that decides least, the middle one unless another is faster by more
 * than noise (cost.h), and create the problem in that. Else nothing.
 */
tsl_err tsl_session_try_ways(tsl_session *session);
