/**
 * @file tri_letters.h
 * Sequences of letters in place of points: functions of TRI_LETTER_LIST. Fields:
 *   TRI_LETTERS  IN  u8 [letters]  codes, 0..params.codes - 1, sequence after sequence by place
 *   TRI_STARTS   IN  i64 [n_pad + 1] or [0]  where the sequence of each place begins; those of the
 *                padding are empty
 */
#ifndef TSL_FAM_TRI_LETTERS_H
#define TSL_FAM_TRI_LETTERS_H

#include "tri.h"

/** Sequences of letters? */
static inline bool tri_of_letters(const tri_params *p) {
  return tri_abouts[p->function].prepare == TRI_OF_LETTERS;
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

#endif
