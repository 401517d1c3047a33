/**
 * @file rna_energy.h
 * Energies of the loops of an RNA's secondary structure in 0.01 kcal/mol: the nearest-neighbour
 * model (Mathews 2004) as ViennaRNA evaluates it (Lorenz 2011), without coaxial stacking.
 *
 * Letters are 0 any other, 1 A, 2 C, 3 G, 4 U; pairs 0 none, 1 CG, 2 GC, 3 GU, 4 UG, 5 AU, 6 UA. A
 * pair seen from inside a loop that it opens is the pair of its letters the other way round.
 */
#ifndef TSL_FAM_DP_RNA_ENERGY_H
#define TSL_FAM_DP_RNA_ENERGY_H

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

/** A table for a pair and its neighbours in the loop: next to its first letter, to its second. */
typedef int32_t rna_mismatch[RNA_PAIRS][RNA_LETTERS][RNA_LETTERS];

/** Energies at one temperature; plain data, all of it int32. */
typedef struct rna_energy {
  int32_t stack[RNA_PAIRS][RNA_PAIRS];
  rna_mismatch hairpin_end, interior_end, one_end, two_three_end, multi_end, exterior_end;
  int32_t dangle5[RNA_PAIRS][RNA_LETTERS], dangle3[RNA_PAIRS][RNA_LETTERS];
  int32_t int11[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS];
  int32_t int21[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS];
  int32_t int22[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS];
  int32_t bulge[RNA_LOOP + 1], interior[RNA_LOOP + 1]; /**< by size */
  int32_t ninio, most_ninio;
  int32_t multi_base, multi_closing, multi_stem;
  int32_t terminal;
  /** Whole energies of hairpins of certain letters, by four letters' worth of bits (rna_special);
   *  RNA_NONE: no such one. */
  int32_t triloop[1 << 10], tetraloop[1 << 12], hexaloop[1 << 16];
} rna_energy;

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

TSL_FN int32_t rna_end(const rna_energy *e, int pair) {
  return pair >= RNA_AU ? e->terminal : 0;
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

/** Hairpin closed by s[0] and s[size + 1]. @param[in] sizes  energies by size */
TSL_FN int32_t rna_hairpin(const rna_energy *e, const int32_t *sizes, const uint8_t *s,
                           int64_t size) {
  const int pair = rna_pair(s[0], s[size + 1]);
  int32_t whole = RNA_NONE;
  if (pair == 0 || size < RNA_HAIRPIN) return RNA_NONE;
  if (size == 3 || size == 4 || size == 6) {
    const int32_t word = rna_special(s, (int)size + 2);
    if (word >= 0)
      whole = size == 3 ? e->triloop[word] : size == 4 ? e->tetraloop[word] : e->hexaloop[word];
  }
  if (whole != RNA_NONE) return whole;
  return sizes[size] + (size == 3 ? rna_end(e, pair) : e->hairpin_end[pair][s[1]][s[size]]);
}

/** Cost of the two sides' difference. */
TSL_FN int32_t rna_asymmetry(const rna_energy *e, int difference) {
  const int32_t cost = difference * e->ninio;
  return cost < e->most_ninio ? cost : e->most_ninio;
}

/**
 * Loop between pairs (i, j) and (p, q), i < p < q < j, with at most RNA_LOOP letters.
 * @param[in] left, right  letters from i to p and from q to j, [n + 2] each
 * @param[in] n1, n2       unpaired letters of both sides
 */
TSL_FN int32_t rna_interior(const rna_energy *e, const uint8_t *left, int n1, const uint8_t *right,
                            int n2) {
  const uint8_t *p = left + n1 + 1, *j = right + n2 + 1;
  const int outer = rna_pair(left[0], *j), inner = rna_pair(right[0], *p);
  const int more = n1 > n2 ? n1 : n2, less = n1 > n2 ? n2 : n1;
  if (outer == 0 || inner == 0) return RNA_NONE;
  if (more == 0) return e->stack[outer][inner];
  if (less == 0)
    return e->bulge[more] +
           (more == 1 ? e->stack[outer][inner] : rna_end(e, outer) + rna_end(e, inner));
  const int a = left[1], b = j[-1], c = p[-1], d = right[1]; /* after i, before j and p, after q */
  if (more == 1) return e->int11[outer][inner][a][b];
  if (less == 1 && more == 2)
    return n1 == 1 ? e->int21[outer][inner][a][d][b] : e->int21[inner][outer][d][a][c];
  if (less == 2 && more == 2) return e->int22[outer][inner][a][c][d][b];
  const int32_t size = e->interior[n1 + n2] + rna_asymmetry(e, more - less);
  if (less == 1) return size + e->one_end[outer][a][b] + e->one_end[inner][d][c];
  if (less == 2 && more == 3)
    return size + e->two_three_end[outer][a][b] + e->two_three_end[inner][d][c];
  return size + e->interior_end[outer][a][b] + e->interior_end[inner][d][c];
}

/** A stem that begins with a pair in a multiloop. before, after: the letters next to the pair
 *  outside of the stem. */
TSL_FN int32_t rna_multi_stem(const rna_energy *e, int pair, int before, int after) {
  return e->multi_stem + e->multi_end[pair][before][after] + rna_end(e, pair);
}

/** The same in the exterior loop; -1: there is no such letter. */
TSL_FN int32_t rna_exterior_stem(const rna_energy *e, int pair, int before, int after) {
  const int32_t end = before >= 0 && after >= 0 ? e->exterior_end[pair][before][after]
                      : before >= 0             ? e->dangle5[pair][before]
                      : after >= 0              ? e->dangle3[pair][after]
                                                : 0;
  return end + rna_end(e, pair);
}

#endif
