/**
 * @file rna_lists.h
 * Loops of foldings in lists by letters: what engines of foldings read instead of rna_energy.h.
 */
#ifndef TSL_FAM_DP_RNA_LISTS_H
#define TSL_FAM_DP_RNA_LISTS_H

#include "fn.h"

#include <stdint.h>

enum {
  DP_FOLD_NEAR = 7, /**< loops whose energies are all in tables */
  AROUND = 8,       /**< letters of room on both sides */
  KEYS = 625,       /**< of four letters */
  COMBOS = 30,      /**< a letter and its neighbour, which may be missing */
  MISSING = 5       /**< that there is none */
};

/** Letters of these loops: before the pair inside, and behind it. */
static const int dp_fold_near[DP_FOLD_NEAR][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1},
                                                  {1, 2}, {2, 1}, {2, 2}};

/** Kinds of larger loops, and the energies alone. */
typedef enum dp_fold_kind {
  DP_FOLD_GENERIC,
  DP_FOLD_ONE,       /**< one letter on a side */
  DP_FOLD_TWO_THREE, /**< two and three */
  DP_FOLD_BULGE,     /**< none on a side */
  DP_FOLD_PLAIN,
  DP_FOLD_WINDOWS
} dp_fold_kind;

/** Energies by the two letters of a row (a combo), for all columns. */
typedef enum fold_list {
  OUTER_GENERIC, /* of pairs that close a loop: letter of the row and the one after it */
  OUTER_ONE,
  OUTER_TWO_THREE,
  OUTER_BULGE,
  OUTER_HAIRPIN,
  OUTER_MULTI,
  INNER_GENERIC, /* of pairs inside: letter of the row and the one before it */
  INNER_ONE,
  INNER_TWO_THREE,
  INNER_BULGE,
  STEM,
  EXTERIOR,
  N_LISTS
} fold_list;

/** Place of a list's value for a row with these letters. */
TSL_FN int64_t loops_place(int64_t columns, fold_list list, int letter, int neighbour) {
  return ((int64_t)list * COMBOS + 6 * letter + neighbour) * columns;
}

/** Four letters, by a step of 1 or -1, as one number. */
TSL_FN int loops_key(const uint8_t *s, int step) {
  return 125 * s[0] + 25 * s[step] + 5 * s[2 * step] + s[3 * step];
}

#endif
