/**
 * @file rna_energy.h
 * Energies of the loops of an RNA's secondary structure in 0.01 kcal/mol: the nearest-neighbour
 * model (Mathews 2004) as ViennaRNA evaluates it (Lorenz 2011), without coaxial stacking.
 *
 * The loops are written once, in rna_loops.h, for two sets of energies: rna_energy in whole
 * numbers, of which a minimum is taken, and rna_exact in doubles, not rounded, for sums.
 *
 * Letters are 0 any other, 1 A, 2 C, 3 G, 4 U; pairs 0 none, 1 CG, 2 GC, 3 GU, 4 UG, 5 AU, 6 UA. A
 * pair seen from inside a loop that it opens is the pair of its letters the other way round.
 */
#pragma once

#include "fn.h"

#include <stdint.h>

enum {
  RNA_PAIRS = 7,           /**< kinds of pairs, 0: none */
  RNA_LETTERS = 5,         /**< 0: any other */
  RNA_LOOP = 30,           /**< most unpaired letters of an interior loop or bulge */
  RNA_HAIRPIN = 3,         /**< fewest letters of a hairpin */
  RNA_AU = 3,              /**< this pair and those after it have the terminal cost */
  RNA_FORBIDDEN = 1 << 28, /**< INF of a file; four of them and RNA_NONE fit 32 bits */
  RNA_HIGH = 1 << 27,      /**< no structure has this energy: forbidden */
  RNA_NONE = 1 << 30       /**< of letters that cannot pair */
};

TSL_FN int rna_pair(int x, int y) {
  const int sum = 10 * x + y;
  return sum == 23   ? 1
         : sum == 32 ? 2
         : sum == 34 ? 3
         : sum == 43 ? 4
         : sum == 14 ? 5
         : sum == 41 ? 6
                     : 0;
}

/** Two bits a letter; -1 where one is none of A C G U. @param[in] s  [n] letters */
TSL_FN int32_t rna_special(const uint8_t *s, int n) {
  int32_t word = 0;
  for (int k = 0; k < n; k++) {
    if (s[k] == 0) return -1;
    word = 4 * word + s[k] - 1;
  }
  return word;
}

#define RNA_NUMBER int32_t
#define RNA(name) rna_##name
#include "rna_loops.h"
#undef RNA_NUMBER
#undef RNA

#define RNA_NUMBER double
#define RNA(name) rna_exact_##name
#include "rna_loops.h"
#undef RNA_NUMBER
#undef RNA
typedef rna_exact_energy rna_exact;
