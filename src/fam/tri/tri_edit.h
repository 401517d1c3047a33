/**
 * @file tri_edit.h
 * A word of a column of the table of edit distances, one formula for sockets and cards.
 *
 * Column j of the table of a pattern (down) and a text (across) is known by the differences of
 * neighbouring cells, which are -1, 0 or 1: a bit of `up` says that the cell is one more than the
 * one above it, a bit of `down` that it is one less. A step takes a word of them from one column to
 * the next; differences along the row below a word enter the word beneath it.
 *
 * Myers 1999, J. ACM 46:395, figure 8, in the form of Hyyro 2003, Nordic J. Comput. 10:29.
 */
#pragma once

#include "fn.h"

#include <stdint.h>

/**
 * tri_edit_<name>(equal, up, down, more, less): the word's next column. W is an unsigned type, or a
 * vector of such, of BITS bits.
 * @param[in] equal  bits of the pattern's letters that are the text's next one
 * @param[in,out] more,less  0 or 1: the difference along the row above the word, then below it
 */
#define TRI_EDIT_STEP(W, name, BITS)                                                      \
  TSL_FN void tri_edit_##name(const W equal, W *up, W *down, W *more, W *less) {          \
    const W e = equal | *less;                                                            \
    const W same = (((e & *up) + *up) ^ *up) | e | *down; /* no change on the diagonal */ \
    const W along_more = *down | ~(same | *up), along_less = *up & same;                  \
    const W over_more = (along_more << 1) | *more, over_less = (along_less << 1) | *less; \
    *more = along_more >> ((BITS)-1);                                                     \
    *less = along_less >> ((BITS)-1);                                                     \
    *up = over_less | ~(same | over_more);                                                \
    *down = over_more & same;                                                             \
  }
