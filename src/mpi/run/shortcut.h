/**
 * @file shortcut.h
 * Results without units (tsl_backend.shortcut), before the first phase.
 */
#pragma once

#include "stages.h"

/**
 * Collective on session->comm, after the plan. Rank 0's backend finds the results where that pays;
 * units are then cut and dealt anew. Meanwhile the others wait, rank 0 shows how far it is, and
 * SIGINT ends it, as other signals do in runs without checkpoints. In those with them it goes on,
 * as there is nothing yet that a restart could take over.
 * @return TSL_ERR_STOPPED: by a signal; those of the backend
 */
tsl_err tsl_session_shortcut(tsl_session *session);

/** Root, after the plan: s that a shortcut which comes yet is likely to take; 0: that would not
 *  pay. */
double tsl_session_shortcut_seconds(const tsl_session *session);
