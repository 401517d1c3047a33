/**
 * @file dp_cpu_partition.h
 * DP_PARTITION: sums over all secondary structures and probabilities of pairs (McCaskill 1990).
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
#ifndef TSL_CPU_DP_CPU_PARTITION_H
#define TSL_CPU_DP_CPU_PARTITION_H

#include "dp_cpu.h"
#include "dp_kernels.h"
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

/** Tables of rows and columns of tiles, DP_SIDE numbers for each tile. */
typedef enum partition_side {
  PART_D_ROW,
  PART_D_COLUMN,
  PART_R_ROW,
  PART_OUT_R_ROW,
  PART_OUT_STEM_COLUMN,
  PART_SIDES
} partition_side;

/** What one thread works in. */
typedef struct partition_scratch {
  double window[DP_FOLD_WINDOWS][DP_FOLD_LD][DP_FOLD_LD];
  double split[DP_SIDE + 1][DP_SIDE + 1]; /**< D, with the column before and the row below */
  double turned[2][DP_SIDE * DP_SIDE];    /**< transposed tiles */
} partition_scratch;

/** A number m 2^e. */
typedef struct partition_number {
  double m;
  int32_t e;
} partition_number;

struct dp_cpu_partition {
  dp_cpu cpu;
  int64_t posts, tiles, columns;
  rna_weights w; /**< w.base: u */
  double *table[PART_TABLES];
  double *side[PART_SIDES];
  int32_t *exponent;            /**< [tiles of the triangle] */
  double *prefix, *suffix;      /**< [columns] F, G */
  int32_t *prefix_e, *suffix_e; /**< [tiles] exponents of their stretches of DP_SIDE */
  partition_number whole;       /**< F[n] */
  partition_scratch *scratch;   /**< [threads] */
};

static inline int64_t partition_tile(const dp_cpu_partition *f, int64_t i, int64_t j) {
  return i * (2 * f->tiles - i + 1) / 2 + j - i;
}

static inline double *partition_at(const dp_cpu_partition *f, partition_table t, int64_t i,
                                   int64_t j) {
  return f->table[t] + partition_tile(f, i, j) * DP_SIDE * DP_SIDE;
}

static inline double *partition_side_at(const dp_cpu_partition *f, partition_side s, int64_t i,
                                        int64_t j) {
  return f->side[s] + partition_tile(f, i, j) * DP_SIDE;
}

static inline int32_t partition_e(const dp_cpu_partition *f, int64_t i, int64_t j) {
  return f->exponent[partition_tile(f, i, j)];
}

static inline const double *partition_list(const dp_cpu_partition *f, fold_list list, int letter,
                                           int neighbour, int64_t column) {
  return f->w.lists + loops_place(f->columns, list, letter, neighbour) + column;
}

/** Products for tile (i, j) over tiles k in [k0, k1), which are finished. */
void partition_inside_meet(dp_cpu_partition *f, int64_t i, int64_t j, int64_t k0, int64_t k1);
/** Tile (i, j) after all its products. */
void partition_inside_join(dp_cpu_partition *f, int64_t i, int64_t j);
/** Products over tiles (i, k), k in [right0, right1), and (k, j), k in [above0, above1). */
void partition_outside_meet(dp_cpu_partition *f, int64_t i, int64_t j, const int64_t right[2],
                            const int64_t above[2]);
void partition_outside_join(dp_cpu_partition *f, int64_t i, int64_t j);
/** F[n] of F. */
void partition_whole(dp_cpu_partition *f);
/** F of tile column j after its tiles; G of tile row i. */
void partition_prefix(dp_cpu_partition *f, int64_t j);
void partition_suffix(dp_cpu_partition *f, int64_t i);

/** Row r of the windows of a tile, n columns from column `at` on: v scale, and times what the pairs
 *  of row a and columns b.. add to a loop of each kind. @param[in] neighbour  of letter a */
void partition_window(const dp_cpu_partition *f, partition_scratch *s, const fold_list kinds[4],
                      int64_t r, int at, int64_t a, int neighbour, int64_t b, int n,
                      const double *v, double scale);

#endif
