/**
 * @file series.h
 * `tesela run` of a deck with a series (tsl_series): problem after problem, one output.
 */
#pragma once

#include "record.h"

/** Does the deck ask for a series? The same on all ranks. */
bool tsl_series_asked(const tsl_session *session);

/**
 * Collective on session->comm. After the deck and the checks of files: compute all problems. Then
 * session->problem has the fields of the whole, and the record is that of the last problem.
 *
 * A checkpoint is due after each problem, as far as it costs at most 2 % of the time: a run that is
 * killed loses the problem under way, and where problems take less than a second, a few. SIGTERM
 * ends the problem under way.
 * @param[in] options  the session's; becomes quiet, as what stages print is of one problem
 * @return TSL_ERR_PAUSED: a restart goes on
 */
tsl_err tsl_series_run(tsl_session *session, tsl_options *options, tsl_record *record);
