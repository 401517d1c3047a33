/**
 * @file rebalance_phases.h
 * From one phase of an iterating family to the next: who owns what, what is shared again.
 *
 * In the first phase of one set of kinds ranks take from each other while it runs, as in any run.
 * Afterwards a unit stays with the rank that computed it, whose device keeps its functions or
 * integrals: nothing is taken any more, and units move between phases only, by measured times
 * (rebalance.h), when that pays.
 */
#pragma once

#include "record.h"

/**
 * Collective on session->comm. Prepare the phase after one that family.advance does not call the
 * last.
 * @param[in]     phase   number of the phase that has ended
 * @param[in,out] record  rank 0: has its log; gets what is expected of the next phase
 */
tsl_err tsl_rebalance_phases_next(tsl_session *session, int phase, tsl_record *record);

/** One line for people about the phase that ended last. Rank 0. */
void tsl_rebalance_phases_print(const tsl_record *record, FILE *file);
