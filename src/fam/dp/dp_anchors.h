/**
 * @file dp_anchors.h
 * A score that some path has, found before the table is filled: of a local alignment, or from
 * corner to corner (LCS, EDIT, GLOBAL).
 *
 * Words of a that occur once among those looked at, and once in b, are anchors (maximal unique
 * matches: Delcher et al. 1999, Alignment of whole genomes). The longest chain of anchors whose
 * places rise in both sequences (Schensted 1961, longest increasing subsequence) is a path; from
 * each anchor to the next, letters that are equal at both ends and between them an alignment in a
 * narrow band with affine gaps (Gotoh 1982), or the diagonal and a gap, or gaps alone, where they
 * lie far apart. The best run of these pieces (Kadane) is a local alignment; with the corners all
 * of them are a path of the whole.
 *
 * The score is a lower bound of the optimum, of sequences that are alike nearly the optimum: it
 * proves which band of diagonals is certain (dp_diagonals.h), and local alignments leave out from
 * the beginning what cannot attain it (adr/0039). The chain tells, too,
 * about which part of the table that is. All depends on the letters alone, not on threads. Time and
 * memory grow with n + m.
 */
#pragma once

#include "dp.h"

TSL_C_BEGIN

/** Places through which a path goes, both coordinates rising: cells of the table, (i, j) before
 *  letters i and j. */
typedef struct dp_chain {
  int64_t n;       /**< anchors, and the end of the last one, or between both corners; 0: none */
  dp_pair *anchor; /**< [n] from tsl_alloc */
  int64_t *run;    /**< LOCAL: [n] from tsl_alloc: score of an alignment that ends there, or 0 */
  int64_t score;   /**< the largest of these, 0 without anchors; else that of the path */
  int64_t hope;    /**< the path's, were all letters that are not aligned the best of pairs, and
                        large gaps no larger than the lengths require */
} dp_chain;

/**
 * Work is shared by the threads of parallel.h.
 * @param[in]  p    problem, scores or costs, letters, n, m
 * @param[in]  a,b  codes, shape [n], [m]
 * @return TSL_ERR_MEMORY
 */
tsl_err dp_chain_find(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_chain *chain);
void dp_chain_clear(dp_chain *chain);

/** The part of a table that is computed, on a grid of so many fields a side. */
enum { DP_NEEDED_FIELDS = 256 };
typedef struct dp_needed {
  float until[DP_NEEDED_FIELDS + 1][DP_NEEDED_FIELDS + 1]; /**< fields above and to the left */
} dp_needed;

/**
 * What is computed when the chain's score is known from the beginning. H of a field is taken as
 * that of the last anchor before it, less one gap to the field's diagonal.
 */
void dp_needed_set(const dp_params *p, const dp_chain *chain, dp_needed *needed);
/** Part of rows [lo[0], hi[0]) and columns [lo[1], hi[1]), 0 to 1. */
double dp_needed_part(const dp_params *p, const dp_needed *needed, const int64_t lo[2],
                      const int64_t hi[2]);

TSL_C_END
