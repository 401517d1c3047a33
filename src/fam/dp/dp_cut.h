/**
 * @file dp_cut.h
 * A length cut into pieces.
 */
#ifndef TSL_FAM_DP_CUT_H
#define TSL_FAM_DP_CUT_H

#include "memory.h"

/** Pieces of about equal length, each a multiple of quantum where that is possible. */
typedef struct dp_cut {
  int64_t n, pieces, quantum;
} dp_cut;

/** At most wanted pieces of n; none of 0. */
dp_cut dp_cut_make(int64_t n, int64_t wanted, int64_t quantum);

/** Ends of pieces one after another. */
typedef struct dp_ends {
  int64_t *at; /**< [n] from tsl_alloc */
  int64_t n;
} dp_ends;

tsl_err dp_cut_ends(const dp_cut *cut, dp_ends *ends);

#endif
