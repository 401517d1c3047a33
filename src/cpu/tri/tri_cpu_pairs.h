/**
 * @file tri_cpu_pairs.h
 * Row k with column k of two sets of sequences on a socket: output PAIRED.
 */
#pragma once

#include "tri_cpu_letters.h"

/** What one thread owns. */
typedef struct tri_pairs_thread {
  tri_edit_patterns edit;
  tri_letter_pairs align;
  tri_extender *extender; /**< tri_cpu_letters.extends: the only one that is there */
  uint8_t *letters;       /**< of tri_letter_pairs */
  int8_t *table;          /**< likewise, [codes + 1][TRI_LETTER_CODES]; NULL: they leave 8 bits */
  int32_t *scores;        /**< likewise, [codes + 1][codes + 1] */
  /** Best score of a letter of a text, of a pattern; not below 0. */
  int32_t most[2][TRI_LETTERS_SCORED + 1];
  int32_t best;                              /**< score of two letters; not below 0 */
  const uint8_t *patterns[TRI_LETTER_LANES]; /**< of what is loaded */
  uint64_t *planes;                          /**< [planes_n] directions of tri_letter_pairs */
  int64_t planes_n;
  int64_t best_row[TRI_LETTER_LANES]; /**< LOCAL, traced: rows of tri_letter_pairs */
  int64_t done[2];                    /**< pairs in 8 bits, and of them those done again */
  int skip; /**< groups that are not tried in 8 bits, as the last ones were done again */
} tri_pairs_thread;

/** tri_pairs_thread_clear() also after an error. */
tsl_err tri_pairs_thread_create(const tri_cpu_letters *letters, tri_pairs_thread **thread);
void tri_pairs_thread_clear(tri_pairs_thread **thread);

/** A pair: places of its row's and its column's sequence, and its number. */
typedef struct tri_pair {
  int64_t text, pattern, number;
} tri_pair;

/** Order pairs so that neighbours have like lengths: strips of like patterns, in a strip by texts.
 *  The order depends on the pairs alone. @param[in,out] pairs  [n] */
tsl_err tri_pairs_sort(const tri_cpu_letters *letters, tri_pair *pairs, int64_t n);

/** Pairs that one call of a kernel takes. */
int tri_pairs_lanes(const tri_cpu_letters *letters);

/**
 * Values of n <= tri_pairs_lanes() pairs.
 * @param[in]  pairs  [n]
 * @param[in]  bytes  may be tried in 8 bits
 * @param[out] values [n]
 * @param[out] again  [n] 1: 8 bits did not hold it, the value is to be computed again without
 */
void tri_pairs_fill(const tri_cpu_letters *letters, tri_pairs_thread *thread, const tri_pair *pairs,
                    int n, bool bytes, int64_t *values, uint8_t *again);

/** Value number `at` of a slab, in the run's type. */
void tri_pairs_put(const struct tsl_worker *worker, void *slab, int64_t at, double value);

/** Ready the thread's `align` for n <= TRI_LETTER_LANES pairs: all but zero and minus. */
void tri_pairs_load(const tri_cpu_letters *letters, tri_pairs_thread *thread, const tri_pair *pairs,
                    int n);

/** Values of what is loaded, with directions and the row of each best cell. LOCAL begins in 8 bits
 *  and goes on in more where values grow. @param[out] values  [lanes] */
tsl_err tri_pairs_trace(const tri_cpu_letters *letters, tri_pairs_thread *thread, int64_t *values);
