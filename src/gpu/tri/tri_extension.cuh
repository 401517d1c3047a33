/**
 * @file tri_extension.cuh
 * Extensions of pairs of sequences on a card (fam/tri/tri_extension.h): a warp has a pair, and its
 * lanes the cells of an antidiagonal, 32 at a time. Antidiagonals lie in shared memory, each row at
 * its number modulo TRI_EXTENSION_SHARED, while so many rows hold one; a pair with a wider one goes
 * on in device memory.
 */
#pragma once

#include "tri_extension.h"
#include "tri_paired.cuh"
#include "tri_warp.cuh"
#include "warp.cuh"

enum { TRI_EXTENSION_SHARED = 256 /**< rows of antidiagonals in it; a power of two */ };

/** A warp's pair at work. */
typedef struct tri_extension_pair {
  const uint8_t *a, *b; /**< letters of the row's sequence and of the column's */
  int n, m;
  const int *scores; /**< shared, of tri_warp_scores */
  int gap, extend, drop;
  int *shared; /**< [ARRAYS][TRI_EXTENSION_SHARED] */
  int *device; /**< tri_extension_cells(n) of them */
} tri_extension_pair;

static __device__ __forceinline__ tri_extension_pair tri_extension_pair_of(
    const tri_letters_args &s, int64_t row, int64_t column, const int *scores, int *shared) {
  tri_extension_pair t = {};
  t.a = s.codes + s.starts[row], t.b = s.codes + s.starts[column];
  t.n = (int)(s.starts[row + 1] - s.starts[row]);
  t.m = (int)(s.starts[column + 1] - s.starts[column]);
  t.scores = scores, t.shared = shared;
  t.gap = s.p.open + s.p.extend, t.extend = s.p.extend, t.drop = s.p.x_drop;
  return t;
}

/** Cells by their rows, of the antidiagonal that is done last, of that before it, and so on. */
struct tri_extension_diagonals {
  int *h[3], *e[2], *f[2];
  int mask; /**< of rows */

  /** All arrays, `ld` apart. */
  __device__ __forceinline__ void place(int *at, int64_t ld, int rows) {
    h[0] = at, h[1] = at + ld, h[2] = at + 2 * ld;
    e[0] = at + 3 * ld, e[1] = at + 4 * ld, f[0] = at + 5 * ld, f[1] = at + 6 * ld;
    mask = rows;
  }

  /** The oldest ones have place for the next. */
  __device__ __forceinline__ void turn() {
    int *const last = h[2], *const along = e[1], *const down = f[1];
    h[2] = h[1], h[1] = h[0], h[0] = last;
    e[1] = e[0], e[0] = along;
    f[1] = f[0], f[0] = down;
  }

  __device__ __forceinline__ void put(int row, const tri_extension_cell &cell) const {
    h[0][row & mask] = cell.h, e[0][row & mask] = cell.e, f[0][row & mask] = cell.f;
  }

  /** What the next antidiagonal reads, rows [lo, hi], from others. */
  __device__ __forceinline__ void copy(const tri_extension_diagonals &from, int lo, int hi,
                                       int lane) const {
    for (int i = lo + lane; i <= hi; i += 32) {
      const int to = i & mask, at = i & from.mask;
      h[0][to] = from.h[0][at], h[1][to] = from.h[1][at];
      e[0][to] = from.e[0][at], f[0][to] = from.f[0][at];
    }
    __syncwarp();
  }
};

static __device__ __forceinline__ tri_extension_cell tri_extension_dropped(void) {
  return {TRI_EXTENSION_MINUS, TRI_EXTENSION_MINUS, TRI_EXTENSION_MINUS};
}

/** An extension as far as it is done. */
struct tri_extension_work {
  tri_extension_state s;
  tri_extension_diagonals cells;
  int room; /**< rows that cells hold */

  __device__ __forceinline__ void place(const tri_extension_pair &t, bool shared) {
    if (shared)
      cells.place(t.shared, TRI_EXTENSION_SHARED, TRI_EXTENSION_SHARED - 1);
    else
      cells.place(t.device + 1, t.n + TRI_EXTENSION_BESIDE, -1);
    room = shared ? (int)TRI_EXTENSION_SHARED : INT32_MAX;
  }

  __device__ __forceinline__ void begin(const tri_extension_pair &t, int lane) {
    s = tri_extension_begin();
    place(t, true);
    if (lane < 3) {
      const int i = (lane - 1) & cells.mask;
      cells.put(lane - 1, tri_extension_dropped());
      cells.h[0][i] = lane == 1 ? 0 : TRI_EXTENSION_MINUS;
      cells.h[1][i] = TRI_EXTENSION_MINUS;
    }
    __syncwarp();
  }

  /** What cell i of antidiagonal k follows from. */
  __device__ __forceinline__ tri_extension_from from_of(const tri_extension_pair &t, int i) const {
    const int j = s.k - i, here = i & cells.mask, above = (i - 1) & cells.mask;
    const int score =
        i > 0 && j > 0 ? t.scores[__ldg(t.a + i - 1) * TRI_SCORES_LD + __ldg(t.b + j - 1)] : 0;
    return {cells.h[2][above] + score, cells.h[1][here] - t.gap, cells.e[1][here] - t.extend,
            cells.h[1][above] - t.gap, cells.f[1][above] - t.extend};
  }

  /** Rows [lo, hi] of antidiagonal k. KEEP: with their directions */
  template <bool KEEP>
  __device__ __forceinline__ void step(const tri_extension_pair &t, int lane, int lo, int hi,
                                       uint8_t *directions) {
    const int cut = s.top - t.drop;
    int best = TRI_EXTENSION_MINUS, row = TRI_EXTENSION_NONE, first = TRI_EXTENSION_NONE, last = -1;
    if (hi - lo + 3 > room) {
      const tri_extension_diagonals shared = cells;
      place(t, false);
      cells.copy(shared, s.least, s.most, lane);
    }
    cells.turn();
    for (int begin = lo; begin <= hi; begin += 32) {
      const int i = begin + lane;
      bool kept = false;
      if (i <= hi) {
        const tri_extension_from from = from_of(t, i);
        const tri_extension_cell cell = tri_extension_cell_of(from);
        kept = cell.h >= cut;
        cells.put(i, kept ? cell : tri_extension_dropped());
        if (KEEP) directions[i - lo] = (uint8_t)tri_extension_direction_of(from, cell);
        if (cell.h > best) best = cell.h, row = i;
      }
      const unsigned here = __ballot_sync(0xffffffffu, kept);
      if (here != 0 && first > hi) first = begin + __ffs((int)here) - 1;
      if (here != 0) last = begin + 31 - __clz((int)here);
    }
    if (lane < 2) cells.put(lane == 0 ? lo - 1 : hi + 1, tri_extension_dropped());
    const int most = tsl_warp_max(best);
    if (most >= s.top) tri_extension_look(&s, most, tsl_warp_min(best == most ? row : INT32_MAX));
    tri_extension_next(&s, lo, hi, first, last);
    __syncwarp();
  }
};

/** Score of a pair. */
static __device__ __forceinline__ int tri_extension_run(const tri_extension_pair &t, int lane) {
  tri_extension_work work;
  int lo, hi;
  work.begin(t, lane);
  while (tri_extension_rows(&work.s, t.n, t.m, &lo, &hi)) work.step<false>(t, lane, lo, hi, NULL);
  return work.s.top;
}

/** All pairs of a strip, the longest rows first. */
template <class R> struct tri_extension_of_strip {
  tri_letters_strip_of<R> o;

  __device__ __forceinline__ bool find(const tri_letters_args &s, unsigned k, int64_t *row,
                                       int64_t *column) const {
    const unsigned columns = (unsigned)(o.c1 - o.c0);
    if (k >= columns * (unsigned)(o.b - o.a)) return false;
    *row = s.rows[k / columns], *column = o.c0 + (int)(k % columns);
    return true;
  }
  __device__ __forceinline__ void put(int64_t row, int64_t column, int value) const {
    o.out[(row - o.a) * (o.c1 - o.c0) + column - o.c0] = (R)value;
  }
};

/** Those of a list (tri_paired.cuh), all by warps. */
struct tri_extension_of_list {
  tri_paired_list list;

  __device__ __forceinline__ bool find(const tri_letters_args &s, unsigned k, int64_t *row,
                                       int64_t *column) const {
    if (k >= (unsigned)list.n) return false;
    *column = list.rows[k], *row = s.p.first + *column;
    return true;
  }
  __device__ __forceinline__ void put(int64_t row, int64_t column, int value) const {
    tri_paired_put(list, (int)column, value);
  }
};

/** Warps take pairs of a source from a common counter. */
template <class S>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_extension_kernel(tri_letters_args s, S source, unsigned *counter) {
  __shared__ int scores[TRI_SCORES_LD * TRI_SCORES_LD];
  __shared__ int cells[TRI_LETTERS_THREADS / 32][TRI_EXTENSION_ARRAYS * TRI_EXTENSION_SHARED];
  const int lane = (int)threadIdx.x % 32, sign = s.p.similar ? -1 : 1;
  const int64_t warp = ((int64_t)blockIdx.x * TRI_LETTERS_THREADS + threadIdx.x) / 32;
  int64_t row = 0, column = 0;
  tri_warp_scores(s, scores);
  __syncthreads();
  for (;;) {
    const unsigned k = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(counter, 1u) : 0u, 0);
    if (!source.find(s, k, &row, &column)) return;
    tri_extension_pair t = tri_extension_pair_of(s, row, column, scores, cells[threadIdx.x / 32]);
    t.device = (int *)s.below + warp * s.below_ld;
    const int value = tri_extension_run(t, lane);
    if (lane == 0) source.put(row, column, sign * value);
  }
}
