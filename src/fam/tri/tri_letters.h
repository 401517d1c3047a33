/**
 * @file tri_letters.h
 * Sequences of letters in place of points: functions of TRI_LETTER_LIST. Fields:
 *   TRI_LETTERS  IN  u8 [letters]  codes, 0..params.codes - 1, sequence after sequence by place
 *   TRI_STARTS   IN  i64 [n_pad + 1] or [0]  where the sequence of each place begins; those of the
 *                padding are empty
 *   TRI_SCORES   IN  i32 [codes][codes] or [0]  of alignments: a row's letter with a column's
 *
 * GLOBAL is Needleman and Wunsch's, LOCAL Smith and Waterman's score with affine gaps (Gotoh 1982).
 *
 * EXTENSION begins at the first letters of both sequences and ends in the best cell, the one of the
 * smallest row, then column. Cell (i, j) lies on antidiagonal i + j; (0, 0) has 0. A cell whose
 * value is less than T - x_drop is dropped: its value and the gaps that end in it are minus
 * infinity for all others. T is the largest value of all antidiagonals before its own (Zhang,
 * Schwartz, Wagner and Miller 2000, J. Comput. Biol. 7, 203, section 2; of whole letters, without
 * their points half way between two). What is dropped follows from the sequences alone. Without
 * x_drop the value is that of the best cell of GLOBAL's table.
 * Scores tell how similar two sequences are: tri_is_similarity().
 */
#pragma once

#include "tri.h"

TSL_C_BEGIN

/** Sequences of letters? */
static inline bool tri_of_letters(const tri_params *p) {
  return tri_abouts[p->function].prepare == TRI_OF_LETTERS;
}

/** Scores of alignments? */
static inline bool tri_is_scored(const tri_params *p) {
  return tri_of_letters(p) && p->function != TRI_EDIT;
}

enum {
  TRI_LETTERS_SCORED = 32,   /**< most codes of what has scores */
  TRI_NARROW_MOST = 15000,   /**< no value of a table of 16 bits is larger in size */
  TRI_NARROW_MINUS = -16384, /**< but minus infinity, which may be lowered once */
  TRI_MAX_DROP = 1000000000, /**< x_drop, where cells are dropped */
  TRI_NO_DROP = INT32_MAX    /**< and where none are */
};

/** EXTENSION of which cells are dropped? Values of other scores are those of whole tables. */
static inline bool tri_is_dropping(const tri_params *p) {
  return p->function == TRI_EXTENSION && p->x_drop != TRI_NO_DROP;
}

/** Are the values of tables of m x n letters, and all on the way to them, at most so large in size?
 *  Cells are between `high` and, but for LOCAL, two gaps; one step beyond them is looked at. */
TSL_FN bool tri_values_fit(int64_t m, int64_t n, int64_t high, const tri_params *p,
                           int64_t largest) {
  const int64_t step = (int64_t)p->open + p->extend - (p->least < 0 ? p->least : 0);
  const int64_t low = p->function == TRI_LOCAL ? 0 : 2 * (int64_t)p->open + (m + n) * p->extend;
  return high + step <= largest && low + 2 * step <= largest;
}

/** The same of any letters, by what all of them give at most. */
TSL_FN bool tri_table_fits(int64_t m, int64_t n, const tri_params *p, int64_t largest) {
  return tri_values_fit(m, n, (m < n ? m : n) * (p->most > 0 ? p->most : 0), p, largest);
}

/** Do they fit 16 bits? */
TSL_FN bool tri_is_narrow(int64_t m, int64_t n, const tri_params *p) {
  return tri_table_fits(m, n, p, TRI_NARROW_MOST);
}

/** Sequences by place; borrowed. */
typedef struct tri_sequences {
  const uint8_t *codes;
  const int64_t *starts;
} tri_sequences;

static inline tri_sequences tri_sequences_of(const tsl_problem *problem) {
  return (tri_sequences){(const uint8_t *)problem->fields[TRI_LETTERS].data,
                         (const int64_t *)problem->fields[TRI_STARTS].data};
}

static inline int64_t tri_sequence_length(const tri_sequences *s, int64_t place) {
  return s->starts[place + 1] - s->starts[place];
}

TSL_C_END
