/**
 * @file shortcut.h
 * Results without units (tsl_backend.shortcut), before the first phase.
 *
 * What takes it is a worker of the root's sockets with the cores of all ranks of its node, for
 * these wait: also where the root drives a card, whose worker and plan stay as they are. What it
 * would take for all units is known as that of any rank is, from trials or the calibration file.
 */
#pragma once

#include "stages.h"

/**
 * Collective on session->comm, after the plan: find the results where that pays; units are then cut
 * and dealt anew. Rank 0 shows how far it is, and SIGINT ends it, as other signals do in runs
 * without checkpoints. In those with them it goes on, as there is nothing yet that a restart could
 * take over.
 * @return TSL_ERR_STOPPED: by a signal; those of the backend
 */
tsl_err tsl_session_shortcut(tsl_session *session);

/** Root, after the plan. *seconds: what a shortcut is likely to take; 0: none is known, or it would
 *  not pay, or nothing is to be measured (TSL_CALIBRATE_PROBE). */
tsl_err tsl_session_shortcut_seconds(tsl_session *session, double *seconds);
