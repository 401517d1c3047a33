/**
 * @file phases.h
 * What a run and a served job do with a problem that is planned.
 */
#pragma once

#include "record.h"

/**
 * Collective on session->comm. Run phase after phase until the family is done, then the walk of
 * its solution; inputs are shared and units moved in between.
 * @param[in] out  the output, open for rows, which are complete then; NULL: there is none
 * @param[in,out] record  gets the phases
 * @return TSL_ERR_PAUSED: a checkpoint is written
 */
tsl_err tsl_phases_run(tsl_session *session, tsl_out *out, tsl_record *record);
