/**
 * @file rna_sums.h
 * DP_PARTITION: sums over all secondary structures and probabilities of pairs (McCaskill 1990), as
 * every device computes them: which tables there are, and how their tiles are scaled.
 *
 * Weights are exp(-energy / kT). Inside, of letters a..b-1 between posts a < b, u being the weight
 * of an unpaired letter of a multiloop:
 *
 *   V[a][b]  letters a and b-1 pair: hairpin, loops with a pair inside, closing(a, b) D[a+1][b-1]
 *   S[a][b]  one stem that begins at a: u S[a][b-1] + stem(a, b) V[a][b]
 *   D[a][b]  stems, two or more: sum over k of M[a][k] S[k][b]
 *   R[a][b]  one stem, wherever it begins: u R[a+1][b] + S[a][b]
 *   M[a][b]  stems, one or more: D + R
 *   F[b]     letters 0..b-1, anything; G[a]: letters a..n-1
 *
 * Each structure is counted once. Outside, derivatives of ln F[n] by these, their names with o:
 *
 *   oD[a][b] = closing(a-1, b+1) oV[a-1][b+1] + oM[a][b]
 *   oM[a][b] = sum over k > b of oD[a][k] S[b][k]
 *   oR[a][b] = oM[a][b] + u oR[a-1][b]
 *   oS[a][b] = u oS[a][b+1] + oR[a][b] + sum over k < a of oD[k][b] M[k][a]
 *   oV[a][b] = ext(a, b) F[a] G[b] / F[n] + stem(a, b) oS[a][b] + loops around, each its oV
 *
 * and the probability of a pair is V oV. Both sweeps are products of tiles, as those of other
 * intervals. D is kept of each tile's first row and last column, R of its first row, oR of its last
 * row, oS of its first column.
 *
 * Scaling: a tile holds its sums times 2^-e, those outside times 2^e, with an exponent e for each
 * tile, so that its largest number is near 2^RNA_WEIGHTS_HIGH. Scaling by powers of two is exact:
 * there is no factor to be guessed, and nothing overflows however long the sequence is. Numbers
 * within a tile differ by what 128 letters can give, 2^730 at most with measured energies.
 */
#pragma once

#include "fn.h"
#include "rna_weights.h"

/** Tables of tiles. */
typedef enum partition_table {
  PART_V,
  PART_STEM,  /**< S */
  PART_STEMS, /**< M; D while a tile is being made */
  PART_OUT_V, /**< oV; oS meanwhile */
  PART_OUT_D, /**< oD; oM meanwhile */
  PART_TABLES
} partition_table;

/** Tables of rows and columns of tiles, RNA_WEIGHTS_TILE numbers for each tile. */
typedef enum partition_side {
  PART_D_ROW,
  PART_D_COLUMN,
  PART_R_ROW,
  PART_OUT_R_ROW,
  PART_OUT_STEM_COLUMN,
  PART_SIDES
} partition_side;

/** A number m 2^e. */
typedef struct partition_number {
  double m;
  int32_t e;
} partition_number;

/** Place of tile (i, j), i <= j, among those on and above the diagonal of `tiles` rows. */
TSL_FN int64_t partition_place(int64_t tiles, int64_t i, int64_t j) {
  return i * (2 * tiles - i + 1) / 2 + j - i;
}
