/**
 * @file dp_cpu_partition.h
 * DP_PARTITION on a socket: tables, formulas and scaling are those of rna_sums.h.
 */
#pragma once

#include "dp_cpu.h"
#include "dp_kernels.h"
#include "rna_sums.h"

/** What one thread works in. */
typedef struct partition_scratch {
  double window[DP_FOLD_WINDOWS][DP_FOLD_LD][DP_FOLD_LD];
  double split[DP_SIDE + 1][DP_SIDE + 1]; /**< D, with the column before and the row below */
  double turned[2][DP_SIDE * DP_SIDE];    /**< transposed tiles */
} partition_scratch;

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
  return partition_place(f->tiles, i, j);
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

/** 2^(exponent of tile (k, l) - that of (i, j)): numbers of (k, l) as (i, j) has them; outside of
 *  pairs scales are turned round. */
static inline double partition_scale(const dp_cpu_partition *f, int64_t k, int64_t l, int64_t i,
                                     int64_t j) {
  return rna_weights_power((int64_t)partition_e(f, k, l) - partition_e(f, i, j));
}

static inline const double *partition_list(const dp_cpu_partition *f, rna_list list, int letter,
                                           int neighbour, int64_t column) {
  return f->w.lists + rna_list_place(f->columns, list, letter, neighbour) + column;
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
void partition_window(const dp_cpu_partition *f, partition_scratch *s, const rna_list kinds[4],
                      int64_t r, int at, int64_t a, int neighbour, int64_t b, int n,
                      const double *v, double scale);
