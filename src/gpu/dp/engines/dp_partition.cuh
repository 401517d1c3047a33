/**
 * @file dp_partition.cuh
 * DP_PARTITION on a card: sums over secondary structures and probabilities of pairs (McCaskill
 * 1990). Tables, formulas and exponents of tiles are those of rna_sums.h, the weights those of
 * rna_weights.h; every sum has the order that sockets give it, so that the bits are the same.
 *
 * A stage is a launch of products with all tiles outside of its boxes, and then one launch for each
 * diagonal of tiles inside of boxes: the products that are left, and the join of the tile. A block
 * has a tile. Nothing is waited for between launches but the launch before.
 */
#pragma once

#include "dp_gpu.cuh"
#include "rna_sums.h"

struct dp_partition;
/** The sums of a worker, on a card. */
typedef struct dp_partition dp_partition;

/** Open and begin; the input is copied. Memory: 20 posts^2 bytes.
 *  @return TSL_ERR_DEVICE_MEMORY; TSL_ERR_DEVICE: a multiprocessor has too little shared memory */
tsl_err dp_partition_open(dp_card *card, const rna_weights_input *in, dp_partition **out);
void dp_partition_close(dp_partition **w);
/** Forget all sums. */
tsl_err dp_partition_begin(dp_partition *w);
/** Queue n boxes of one sweep that do not need each other, after those that they need. */
tsl_err dp_partition_boxes(dp_partition *w, const dp_box *boxes, int64_t n);
/** Queue: probabilities of a box of the second sweep to device memory, as dp_region has them;
 *  nothing of the first. */
tsl_err dp_partition_get(dp_partition *w, const dp_box *box, double *values);
/** All that others need of a box, and the taking in of it: an edge of dp.h; host, waits.
 *  @param[in] n  of the edge's values */
tsl_err dp_partition_edge_out(dp_partition *w, const dp_box *box, int64_t n, double *values);
tsl_err dp_partition_edge_in(dp_partition *w, const dp_box *box, int64_t n, const double *values);
/** Energy of the ensemble in kcal/mol, after the last box of the first sweep; waits. */
tsl_err dp_partition_energy(dp_partition *w, double *energy);

/* ------------------------------------------------------------------ what the files share */

enum { DP_PART = RNA_WEIGHTS_TILE, DP_PART_CELLS = DP_PART * DP_PART, DP_PART_LISTS_ROOM = 64 };

/** All that kernels read and write. */
struct dp_part_args {
  double *table[PART_TABLES], *side[PART_SIDES];
  int32_t *exponent;
  double *prefix, *suffix;
  int32_t *prefix_e, *suffix_e;
  partition_number *whole;
  const uint8_t *letters; /**< 2 DP_PART of room on both sides, zero */
  const double *sizes, *hairpins, *near;
  const double *lists; /**< DP_PART_LISTS_ROOM before the first, zero */
  const int32_t *key;
  const rna_weights_costs *costs;
  double base;
  int near_letters[DP_FOLD_NEAR][2]; /**< dp_fold_near */
  int hairpin_letters[RNA_WEIGHTS_HAIRPINS];
  int posts, tiles, columns;

  __device__ __forceinline__ int64_t number(int i, int j) const {
    return partition_place(tiles, i, j);
  }
  __device__ __forceinline__ double *at(partition_table t, int i, int j) const {
    return table[t] + number(i, j) * DP_PART_CELLS;
  }
  __device__ __forceinline__ double *side_at(partition_side s, int i, int j) const {
    return side[s] + number(i, j) * DP_PART;
  }
  __device__ __forceinline__ int e(int i, int j) const {
    return exponent[number(i, j)];
  }
  __device__ __forceinline__ const double *list(int which, int letter, int neighbour,
                                                int column) const {
    return lists + rna_list_place(columns, (rna_list)which, letter, neighbour) + column;
  }
};

/** The worker. */
struct dp_partition {
  dp_card *card; /**< not owned */
  rna_weights w; /**< posts, tiles, columns and beta alone: lists are on the card */
  dp_part_args args;
  tsl_gpu_buffer table[PART_TABLES], side[PART_SIDES];
  tsl_gpu_buffer exponent, prefix, suffix, prefix_e, suffix_e, whole;
  tsl_gpu_buffer letters, sizes, hairpins, near, lists, key, costs, list, edge;
};
