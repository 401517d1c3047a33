/**
 * @file dp_cpu_fold.h
 * DP_FOLD: the tables beside the one that intervals have (Zuker and Stiegler 1981).
 *
 *   V[a][b]  energy of the best structure of letters a..b-1 in which a and b-1 pair
 *   M[a][b]  the same with at least one stem of a multiloop: X of dp_cpu_interval, its sign turned,
 *            so that splits are products over (max, +) as Nussinov's are
 *   D[a][b]  the best split of M[a][b], which pair (a - 1, b) closes to a multiloop; kept of each
 *            tile: its first row and last column
 *   F[b]     energy of letters 0..b-1; found in the tiles of row 0
 */
#pragma once

#include "dp_cpu.h"
#include "dp_kernels.h"

/** What one thread works in. */
typedef struct dp_fold_scratch {
  int32_t window[DP_FOLD_WINDOWS][DP_FOLD_LD][DP_FOLD_LD];
  int32_t split[DP_SIDE + 1][DP_SIDE + 1]; /* D, with the column before and the row below */
} dp_fold_scratch;

typedef struct dp_cpu_fold {
  dp_cpu cpu;
  int64_t posts, tiles, columns; /* columns: with room for whole tiles */
  rna_energy *energy;
  dp_fold_costs costs;
  uint8_t *around, *letters;         /* letters[-RNA_AROUND..] are readable */
  int32_t small[7];                  /* hairpins by size */
  int32_t *sizes;                    /* the same of larger ones, [column - row + 2 DP_SIDE] */
  int32_t *v;                        /* tiles as those of dp_cpu_interval */
  int32_t *split_row, *split_column; /* [tiles][DP_SIDE] D of first rows and last columns */
  int32_t *f;                        /* [columns] */
  int32_t *near;                     /* [DP_FOLD_NEAR][RNA_KEYS][RNA_KEYS] */
  int32_t *key;                      /* [columns] */
  int32_t *lists;                    /* [RNA_N_LISTS][RNA_COMBOS][columns] */
  dp_fold_scratch *scratch;          /* [threads] */
} dp_cpu_fold;

struct dp_cpu_interval;

static inline int64_t fold_number(const dp_cpu_fold *f, int64_t i, int64_t j) {
  return i * (2 * f->tiles - i + 1) / 2 + j - i;
}

/** V of a tile, [DP_SIDE][DP_SIDE]. */
static inline int32_t *fold_tile(const dp_cpu_fold *f, int64_t i, int64_t j) {
  return f->v + fold_number(f, i, j) * DP_SIDE * DP_SIDE;
}

/** @param[in] in  letters, energy, sizes; copied */
tsl_err dp_cpu_fold_open(const dp_cpu *cpu, const dp_cpu_interval_input *in, dp_cpu_fold **out);
void dp_cpu_fold_close(dp_cpu_fold **fold);
void dp_cpu_fold_begin(dp_cpu_fold *f);

/** Tile (i, j), after those that it needs; c has all splits in the tiles between. */
void dp_cpu_fold_join(const struct dp_cpu_interval *w, int64_t i, int64_t j);

/** Values V of a box, as dp_cpu_interval_get. */
void dp_cpu_fold_get(const struct dp_cpu_interval *w, const dp_box *box, int32_t *values);
