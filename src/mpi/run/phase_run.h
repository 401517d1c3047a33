/**
 * @file phase_run.h
 * One phase of a session from begin to the combined fields and the log.
 */
#pragma once

#include "record.h"

/**
 * Collective on session->comm. begin on every worker, run all units, collect, combine, log.
 * @param[in]     out     in its streaming stage; NULL: streamed results are checked and dropped
 * @param[in]     index   number of the phase, 0 for the first
 * @param[in,out] record  zeroed or cleared; gets the phase's log and balance
 */
tsl_err tsl_phase_run(tsl_session *session, tsl_out *out, int index, tsl_record *record);
