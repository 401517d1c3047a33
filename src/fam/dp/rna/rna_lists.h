/**
 * @file rna_lists.h
 * Loops of foldings in lists by letters: what engines of foldings read instead of rna_energy.h.
 */
#pragma once

#include "fn.h"

#include <stdint.h>

enum {
  DP_FOLD_NEAR = 7, /**< loops whose energies are all in tables */
  RNA_AROUND = 8,   /**< letters of room on both sides */
  RNA_KEYS = 625,   /**< of four letters */
  RNA_COMBOS = 30,  /**< a letter and its neighbour, which may be missing */
  RNA_MISSING = 5   /**< that there is none */
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
typedef enum rna_list {
  RNA_OUTER_GENERIC, /* of pairs that close a loop: letter of the row and the one after it */
  RNA_OUTER_ONE,
  RNA_OUTER_TWO_THREE,
  RNA_OUTER_BULGE,
  RNA_OUTER_HAIRPIN,
  RNA_OUTER_MULTI,
  RNA_INNER_GENERIC, /* of pairs inside: letter of the row and the one before it */
  RNA_INNER_ONE,
  RNA_INNER_TWO_THREE,
  RNA_INNER_BULGE,
  RNA_LIST_STEM,
  RNA_LIST_EXTERIOR,
  RNA_N_LISTS
} rna_list;

/** Place of a list's value for a row with these letters. */
TSL_FN int64_t rna_list_place(int64_t columns, rna_list list, int letter, int neighbour) {
  return ((int64_t)list * RNA_COMBOS + 6 * letter + neighbour) * columns;
}

/** Four letters, by a step of 1 or -1, as one number. */
TSL_FN int rna_list_key(const uint8_t *s, int step) {
  return 125 * s[0] + 25 * s[step] + 5 * s[2 * step] + s[3 * step];
}
