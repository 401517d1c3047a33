/**
 * @file dp_fold.cuh
 * DP_FOLD on a card: the tables beside the one that intervals have (Zuker and Stiegler 1981; dp.h,
 * intervals; dp_cpu_fold.h). X of dp_interval is M, its sign turned; V has tiles of the same form.
 *
 * A block multiplies as for any interval problem. Then it closes the tile, one anti-diagonal after
 * the other, a warp a cell: its lanes share the splits, and the loops that the pair may close.
 */
#pragma once

#include "dp_interval.cuh"
#include "rna_energy.h"
#include "warp.cuh"

enum {
  DP_FOLD_HALO = 32, /**< columns before a tile and rows below it that loops reach */
  DP_FOLD_SIDE = DP_FOLD_HALO + DP_TILE,
  DP_FOLD_ROW = DP_TILE + 1, /**< row length in shared memory: columns lie in different banks */
  DP_FOLD_AROUND = 64,       /**< letters of room on both sides */
  DP_FOLD_LOOPS = (RNA_LOOP + 1) * (RNA_LOOP + 2) / 2
};

/** Plain max-plus; tiles are closed below. */
struct dp_folding {
  typedef int32_t T;
  static const int ROWS = 4, COLUMNS = 4;
  static const bool TERM = false;
  static __device__ __forceinline__ T worst(void) {
    return -RNA_NONE;
  }
  static __device__ __forceinline__ T step(T best, T x, T y, T, T) {
    return __viaddmax_s32(x, y, best);
  }
};

/** A launch, besides what dp_interval_args has. */
struct dp_fold_args {
  int32_t *v;                        /**< tiles, as X */
  int32_t *split_row, *split_column; /**< by tile, [64]: D, sign turned, of the first row and of the
                                          last column */
  int32_t *f;                        /**< by post */
  const uint8_t *letters;            /**< letters[-AROUND..] are readable, zero outside */
  const rna_energy *energy;
  const int32_t *sizes; /**< of hairpins */
  const uchar2 *loops;  /**< [LOOPS] letters before and behind the pair inside, kind by kind */
  int posts;
};

/** Shared memory while closing. */
struct dp_fold_closing {
  int32_t x[DP_TILE][DP_FOLD_ROW];           /**< the tile */
  int32_t u[DP_TILE][DP_FOLD_ROW];           /**< as that of dp_closing */
  int32_t d[DP_TILE + 1][DP_FOLD_ROW];       /**< from the column before the first on */
  int32_t v[DP_FOLD_SIDE][DP_FOLD_SIDE + 1]; /**< from HALO columns before the first on */
  int32_t under[DP_TILE], left[DP_TILE];     /**< X of the row below, of the column before */
  int32_t f[DP_TILE];                        /**< F of the tile's columns */
  int32_t stems[4][DP_TILE]; /**< of quarters of the rows: F with a stem that ends */
  uchar2 loops[DP_FOLD_LOOPS];
};

union dp_fold_shared {
  dp_interval_shared<int32_t> multiplying;
  dp_fold_closing closing;
};

/** A block at work on a tile. */
struct dp_fold_block : dp_tile_block<dp_folding> {
  const dp_fold_args &f;
  dp_fold_closing &to;
  int lane, warp;

  __device__ dp_fold_block(const dp_interval_args<int32_t> &args, const dp_fold_args &fold, int2 at)
      : dp_tile_block<dp_folding>(args, *(dp_interval_shared<int32_t> *)dp_shared(), at), f(fold),
        to(*(dp_fold_closing *)dp_shared()), lane(thread % DP_WARP), warp(thread / DP_WARP) {
  }

  /** Tiles around this one, which multiply_all has not waited for. */
  __device__ void wait_around(void) {
    if (I == J) return;
    wait(I, I);
    wait(J, J);
    wait(I + 1, J);
    wait(I, J - 1);
  }

  __device__ void gather_splits(void) {
    const bool off = I < J, corner = I + 1 < J;
    for (int w = thread; w < (DP_TILE + 1) * DP_FOLD_ROW; w += THREADS)
      to.d[w / DP_FOLD_ROW][w % DP_FOLD_ROW] = -RNA_NONE;
    __syncthreads();
    for (int k = thread; k < DP_TILE && off; k += THREADS) {
      to.d[k][0] = __ldcg(f.split_column + dp_tile_number(I, J - 1) * DP_TILE + k);
      to.d[DP_TILE][k + 1] = __ldcg(f.split_row + dp_tile_number(I + 1, J) * DP_TILE + k);
    }
    if (thread == 0 && corner)
      to.d[DP_TILE][0] = __ldcg(f.split_column + dp_tile_number(I + 1, J - 1) * DP_TILE);
  }

  /** V of the tiles around, none in the tile itself. */
  __device__ void gather_pairs(void) {
    for (int w = thread; w < DP_FOLD_SIDE * DP_FOLD_SIDE; w += THREADS) {
      const int r = w / DP_FOLD_SIDE, c = w % DP_FOLD_SIDE;
      const int i = I + r / DP_TILE, j = J - (c < DP_FOLD_HALO);
      const int row = r % DP_TILE, column = (c + DP_TILE - DP_FOLD_HALO) % DP_TILE;
      const bool own = i == I && j == J;
      to.v[r][c] =
          own || i > j ? (int32_t)RNA_NONE : __ldcg(dp_tile_at(f.v, i, j) + row * DP_TILE + column);
    }
  }

  __device__ void gather_values(void) {
    const int32_t *di = dp_tile_at(g.tiles, I, I), *dj = dp_tile_at(g.tiles, J, J);
    for (int w = thread; w < DP_TILE_CELLS && I < J; w += THREADS) {
      const int r = w / DP_TILE, c = w % DP_TILE;
      if (c <= r) continue;
      to.u[r][c] = __ldcg(di + w);
      to.u[c][r] = __ldcg(dj + w);
    }
    for (int k = thread; k < DP_TILE; k += THREADS) {
      to.under[k] = to.left[k] = -RNA_NONE;
      if (I == J) continue;
      to.under[k] = __ldcg(dp_tile_at(g.tiles, I + 1, J) + k);
      to.left[k] = __ldcg(dp_tile_at(g.tiles, I, J - 1) + k * DP_TILE + DP_TILE - 1);
    }
#pragma unroll
    for (int q = 0; q < dp_folding::ROWS; q++)
#pragma unroll
      for (int c = 0; c < dp_folding::COLUMNS; c++) to.x[row(q)][column(c)] = best[q][c];
  }

  /** All that closing needs; best is in registers. */
  __device__ void gather(void) {
    wait_around();
    __syncthreads();
    for (int k = thread; k < DP_FOLD_LOOPS; k += THREADS) to.loops[k] = f.loops[k];
    gather_splits();
    gather_pairs();
    gather_values();
    __syncthreads();
  }

  /** D of a cell, sign turned: the best split. All lanes of a warp, as below. */
  __device__ int32_t split_of(int r, int c) const {
    const int end = I < J ? DP_TILE : c;
    int32_t value = to.x[r][c];
    for (int k = r + 1 + lane; k < end; k += DP_WARP)
      value = dp_folding::step(value, I < J ? to.u[r][k] : to.x[r][k], to.x[k][c], 0, 0);
    for (int k = lane; k < c && I < J; k += DP_WARP)
      value = dp_folding::step(value, to.x[r][k], to.u[c][k], 0, 0);
    return tsl_warp_max(value);
  }

  /** A hairpin, or a multiloop. */
  __device__ int32_t open_loop(int r, int c, int a, int b) const {
    const uint8_t *s = f.letters;
    const int turned = rna_pair(s[b - 1], s[a]);
    const int32_t hairpin = rna_hairpin(f.energy, f.sizes, s + a, b - a - 2);
    const int32_t closing =
        f.energy->multi_closing + rna_multi_stem(f.energy, turned, s[b - 2], s[a + 1]);
    return min(hairpin, min(closing, (int32_t)RNA_FORBIDDEN) - to.d[r + 1][c]);
  }

  /** The best loop with a pair inside that the lane has seen. */
  __device__ int32_t interior_loops(int r, int c, int a, int b, int32_t value) const {
    const uint8_t *s = f.letters;
    for (int k = lane; k < DP_FOLD_LOOPS; k += DP_WARP) {
      const int n1 = to.loops[k].x, n2 = to.loops[k].y;
      const int32_t inner = to.v[r + 1 + n1][c + DP_FOLD_HALO - 1 - n2];
      if (inner < RNA_HIGH)
        value = min(value, inner + rna_interior(f.energy, s + a, n1, s + b - 2 - n2, n2));
    }
    return value;
  }

  /** V of a cell. */
  __device__ int32_t pair_of(int r, int c, int a, int b, int pair) const {
    if (pair == 0 || b - a < RNA_HAIRPIN + 2) return RNA_NONE;
    int32_t value = lane == 0 ? open_loop(r, c, a, b) : (int32_t)RNA_NONE;
    value = interior_loops(r, c, a, b, value);
    value = tsl_warp_min(value);
    return value < RNA_HIGH ? value : (int32_t)RNA_NONE;
  }

  __device__ void close_cell(int r, int c) const {
    const int a = I * DP_TILE + r, b = J * DP_TILE + c;
    const uint8_t *s = f.letters;
    if (b >= f.posts) return;
    const int pair = rna_pair(s[a], s[b - 1]);
    const int32_t split = split_of(r, c), v = pair_of(r, c, a, b, pair);
    if (lane != 0) return;
    const int32_t stem = v < RNA_HIGH ? v + min(rna_multi_stem(f.energy, pair, s[a - 1], s[b]),
                                                (int32_t)RNA_FORBIDDEN)
                                      : (int32_t)RNA_NONE;
    const int32_t below = r + 1 < DP_TILE ? to.x[r + 1][c] : to.under[c];
    const int32_t before = c > 0 ? to.x[r][c - 1] : to.left[r];
    to.d[r][c + 1] = split;
    to.v[r][c + DP_FOLD_HALO] = v;
    to.x[r][c] = max(max(split, -stem), max(below, before) - f.energy->multi_base);
  }

  /** Cells from the lower left corner on; of a tile on the diagonal those above it. */
  __device__ void close(void) {
    gather();
    for (int d = I < J ? 0 : DP_TILE; d < 2 * DP_TILE - 1; d++) {
      const int skip = d < DP_TILE ? 0 : d - DP_TILE + 1; /* the first column */
      for (int c = skip + warp; c < DP_TILE && c <= d; c += THREADS / DP_WARP)
        close_cell(DP_TILE - 1 - d + c, c);
      __syncthreads();
    }
  }

  /** The tile to memory, but not its mark. */
  __device__ void store(void) {
    int32_t *x = dp_tile_at(g.tiles, I, J), *v = dp_tile_at(f.v, I, J);
    for (int w = thread; w < DP_TILE_CELLS; w += THREADS) {
      __stcg(x + w, to.x[w / DP_TILE][w % DP_TILE]);
      __stcg(v + w, to.v[w / DP_TILE][w % DP_TILE + DP_FOLD_HALO]);
    }
    for (int k = thread; k < DP_TILE; k += THREADS) {
      __stcg(f.split_row + dp_tile_number(I, J) * DP_TILE + k, to.d[0][k + 1]);
      __stcg(f.split_column + dp_tile_number(I, J) * DP_TILE + k, to.d[k][DP_TILE]);
    }
    __syncthreads();
  }

  /** F[a], and a stem of letters a..b-1. */
  __device__ int32_t exterior_at(int a, int b, int32_t before) const {
    const uint8_t *s = f.letters;
    const int32_t v = __ldcg(dp_cell_at(f.v, a, b));
    if (v >= RNA_HIGH) return RNA_NONE;
    return before + v +
           rna_exterior_stem(f.energy, rna_pair(s[a], s[b - 1]), a > 0 ? s[a - 1] : -1,
                             b + 1 < f.posts ? s[b] : -1);
  }

  /** Stems that begin in the columns themselves: one after the other, by one warp. */
  __device__ void finish_exterior(void) {
    int32_t last = J > 0 ? __ldcg(f.f + J * DP_TILE - 1) : 0;
    for (int c = 0, b = J * DP_TILE; c < DP_TILE && b < f.posts; c++, b++) {
      int32_t value = lane < 4 ? to.stems[lane % 4][c] : (int32_t)RNA_NONE;
      for (int k = lane; k < c; k += DP_WARP)
        value = min(value, exterior_at(J * DP_TILE + k, b, to.f[k]));
      last = min(last, tsl_warp_min(value));
      if (lane == 0) {
        to.f[c] = last;
        __stcg(f.f + b, last);
      }
      __syncwarp();
    }
  }

  /** F of the columns of a tile of row 0, which is the last one in them. */
  __device__ void exterior(void) {
    const int c = thread % DP_TILE, quarter = thread / DP_TILE;
    int32_t value = RNA_NONE;
    for (int a = quarter; a < J * DP_TILE; a += 4)
      value = min(value, exterior_at(a, J * DP_TILE + c, __ldcg(f.f + a)));
    to.stems[quarter][c] = value;
    __syncthreads();
    if (warp == 0) finish_exterior();
    __syncthreads();
  }
};

static_assert(dp_fold_block::THREADS == 4 * DP_TILE, "quarters of rows");

/* dp_fold.cu, for dp_interval.cu: what FOLD has besides. */
/** @param[in] in  letters, energy, sizes; copied */
tsl_err dp_fold_open(dp_interval *w, const dp_interval_input *in);
void dp_fold_close(dp_interval *w);
tsl_err dp_fold_begin(dp_interval *w);
/** All that was computed or came in is zero: measuring. */
tsl_err dp_fold_pretend(dp_interval *w);
/** Tiles of V. */
int32_t *dp_fold_pairs(const dp_interval *w);
/** Queue the tiles of w->list. */
tsl_err dp_fold_launch(dp_interval *w, int64_t count);
