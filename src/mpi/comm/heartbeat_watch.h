/**
 * @file heartbeat_watch.h
 * Which ranks are silent: a rule on a clock that the caller gives, tested without threads, sockets
 * and MPI.
 *
 * A rank is watched from its first sign of life on, so that a network that lets nothing through
 * ends no job. Who watches and was itself stopped or starved starts all clocks anew: a job that was
 * suspended as a whole goes on.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** What is known of a rank. */
typedef enum tsl_life {
  TSL_LIFE_UNKNOWN, /**< not heard of so far: not watched */
  TSL_LIFE_BEATS,
  TSL_LIFE_LEFT,  /**< in good order, for good */
  TSL_LIFE_SILENT /**< for good */
} tsl_life;

typedef struct tsl_watched {
  tsl_life life;
  double heard; /**< s, of the last sign of life, or of the last look that was late */
  double spoke; /**< s, of the last sign of life */
  int64_t unit; /**< that it computed by then; -1: none */
} tsl_watched;

/** Plain data; nothing but of is owned. */
typedef struct tsl_watch {
  double patience; /**< s of silence that are borne */
  double looked;   /**< s, of the last look */
  int n;
  tsl_watched *of; /**< [n] */
} tsl_watch;

/** @param[out] watch  free with tsl_watch_close */
tsl_err tsl_watch_open(int n, double patience, double now, tsl_watch *watch);
void tsl_watch_close(tsl_watch *watch);

/** A sign of life. @param[in] unit  what the rank computes; -1: nothing so far */
void tsl_watch_heard(tsl_watch *watch, int rank, int64_t unit, double now);

/** The rank leaves in good order: it is watched no more. */
void tsl_watch_left(tsl_watch *watch, int rank);

/** Before ranks are judged: has the caller itself been away for long? At least four times within
 *  patience. */
void tsl_watch_look(tsl_watch *watch, double now);

/** Has the rank been silent for more than half of patience, and not for good? Ask it for a sign. */
bool tsl_watch_doubts(const tsl_watch *watch, int rank, double now);

/** Has the rank been silent for longer than patience? */
bool tsl_watch_misses(const tsl_watch *watch, int rank, double now);

/** It is taken for lost. */
void tsl_watch_lose(tsl_watch *watch, int rank);
