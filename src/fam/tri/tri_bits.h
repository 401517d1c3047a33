/**
 * @file tri_bits.h
 * Rows of bits in place of points: functions of TRI_TRUTH_LIST. Fields:
 *   TRI_WORDS   IN  u64 [words][n_pad] or [0]  bit k % 64 of word k / 64 is dimension k; beyond the
 *               last dimension, and in the padding, zeros
 *   TRI_EXTRAS  begins with each point's number of ones
 *
 * All that a value takes besides is how many bits are 1 in both points. These are whole numbers of
 * at most params.d, which fp32 has exactly.
 */
#pragma once

#include "tri.h"

TSL_C_BEGIN

enum { TRI_WORD_BITS = 64, TRI_BYTE_BITS = 8 };

/** Rows of bits? */
static inline bool tri_of_bits(const tri_params *p) {
  return tri_abouts[p->function].prepare == TRI_TRUTHS;
}

/** Words of a point. */
static inline int64_t tri_words_of(const tri_params *p) {
  return (p->d + TRI_WORD_BITS - 1) / TRI_WORD_BITS;
}

TSL_C_END
