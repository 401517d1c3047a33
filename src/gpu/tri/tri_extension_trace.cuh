/**
 * @file tri_extension_trace.cuh
 * Alignments of extensions on a card: a warp keeps a byte of directions for each cell in strips of
 * antidiagonals (tri_extension_room of tri_traceback.h), of which those before the last are
 * computed again on the way back. Its lanes then hold those of eight rows of 32 antidiagonals.
 */
#pragma once

#include "tri_extension.cuh"
#include "tri_traceback.cuh"

/** A warp's pair with directions. */
struct tri_extension_trace {
  tri_extension_pair t;
  tri_extension_work work;
  tri_extension_room room;
  uint8_t *at; /**< room.end bytes */
  int strips;

  __device__ __forceinline__ tri_extension_line *lines() const {
    return (tri_extension_line *)(at + room.lines);
  }
  __device__ __forceinline__ tri_extension_state *states() const {
    return (tri_extension_state *)(at + room.states);
  }

  /** The cells that are kept before a strip which begins in this state. */
  __device__ __forceinline__ tri_extension_diagonals kept(int strip,
                                                          const tri_extension_state &s) const {
    int *const first = (int *)(at + room.kept) + strip * 4 * room.width - s.least;
    tri_extension_diagonals d = {};
    d.h[0] = first, d.h[1] = first + room.width;
    d.e[0] = first + 2 * room.width, d.f[0] = first + 3 * room.width;
    d.mask = -1;
    return d;
  }

  /** The whole extension. */
  __device__ __forceinline__ void run(int lane) {
    int64_t place = room.strip;
    int lo, hi;
    strips = 0;
    work.begin(t, lane);
    for (; tri_extension_rows(&work.s, t.n, t.m, &lo, &hi); place += hi - lo + 1) {
      if (place + hi - lo + 1 > room.strip) {
        if (lane == 0) states()[strips] = work.s;
        kept(strips, work.s).copy(work.cells, work.s.least, work.s.most, lane);
        strips++;
        place = 0;
      }
      if (lane == 0) lines()[work.s.k] = tri_extension_line{lo, place};
      work.step<true>(t, lane, lo, hi, at + place);
    }
  }

  /** The strip that has antidiagonal k, from which `strips` then counts. */
  __device__ __forceinline__ void again(int k, int lane) {
    int lo, hi;
    while (k < states()[strips - 1].k) strips--;
    const int end = states()[strips].k;
    work.s = states()[strips - 1];
    work.place(t, work.s.most - work.s.least < TRI_EXTENSION_SHARED);
    work.cells.copy(kept(strips - 1, work.s), work.s.least, work.s.most, lane);
    while (work.s.k < end && tri_extension_rows(&work.s, t.n, t.m, &lo, &hi))
      work.step<true>(t, lane, lo, hi, at + lines()[work.s.k].place);
  }
};

/** Directions of rows top - 7 to top of antidiagonals last - lane; rows and columns from 0 are
 *  those of letters, as for tri_trace_back. */
struct tri_extension_window {
  tri_extension_trace &x;
  uint32_t words[2]; /**< of rows from the top on */
  int a, b;          /**< letters of row top - lane, of column last - top - lane */
  int top, last;
  int first; /**< antidiagonal of the strip */

  __device__ __forceinline__ void look(int i, int j, int lane) {
    const int k = i + j + 2 - lane;
    if (i + j + 2 < x.states()[x.strips - 1].k) x.again(i + j + 2, lane);
    top = i, last = i + j;
    first = x.states()[x.strips - 1].k;
    words[0] = words[1] = 0;
    a = i >= lane ? (int)__ldg(x.t.a + i - lane) : 0;
    b = j >= lane ? (int)__ldg(x.t.b + j - lane) : 0;
    if (k < first) return;
    const tri_extension_line line = x.lines()[k];
#pragma unroll
    for (int r = 0; r < 8; r++) {
      const int64_t in = i + 1 - r - line.lo; /* above the antidiagonal: not on the way */
      if (in >= 0) words[r / 4] |= (uint32_t)x.at[line.place + in] << 8 * (r % 4);
    }
  }
  __device__ __forceinline__ bool has(int i, int j) const {
    return i > top - 8 && i + j > last - 32 && i + j + 2 >= first;
  }
  __device__ __forceinline__ uint32_t at(int i, int j, bool *same) const {
    const int row = top - i, column = last - top - j;
    const uint32_t word = __shfl_sync(0xffffffffu, row < 4 ? words[0] : words[1], last - i - j);
    const uint32_t bits = word >> 8 * (row % 4);
    *same = __shfl_sync(0xffffffffu, a, row) == __shfl_sync(0xffffffffu, b, column);
    const uint32_t how = (bits >> TRI_PLANE_PAIR & 1) != 0   ? TRI_DIRECTION_PAIR
                         : (bits >> TRI_PLANE_LEFT & 1) != 0 ? TRI_DIRECTION_LEFT
                                                             : TRI_DIRECTION_UP;
    return how | ((bits >> TRI_PLANE_LEFT_OPENED & 1) != 0 ? TRI_DIRECTION_LEFT_OPENED : 0) |
           ((bits >> TRI_PLANE_UP_OPENED & 1) != 0 ? TRI_DIRECTION_UP_OPENED : 0);
  }
};

/** Warps take pairs from a common counter. */
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_extension_trace_kernel(tri_letters_args s, tri_trace_list list) {
  __shared__ int scores[TRI_SCORES_LD * TRI_SCORES_LD];
  __shared__ int cells[TRI_LETTERS_THREADS / 32][TRI_EXTENSION_ARRAYS * TRI_EXTENSION_SHARED];
  const int lane = (int)threadIdx.x % 32;
  const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  tri_warp_scores(s, scores);
  __syncthreads();
  for (;;) {
    const unsigned k = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(list.counter, 1u) : 0u, 0);
    if (k >= (unsigned)list.n) return;
    tri_extension_trace x = {};
    tri_extension_window window = {x, {0, 0}, 0, 0, 0, 0, 0};
    tri_trace_walk walk = {list.walked + warp * list.walked_ld, 0, 0, 0};
    x.t = tri_extension_pair_of(s, list.pairs[k].row, list.pairs[k].column, scores,
                                cells[threadIdx.x / 32]);
    x.room = tri_extension_room_of(x.t.n, x.t.m);
    x.at = (uint8_t *)(list.directions + warp * list.directions_ld);
    x.t.device = (int *)(x.at + x.room.cells);
    x.run(lane);
    tri_trace_from(list, window, false, lane, x.work.s.at[0], x.work.s.at[1], &walk,
                   list.spans + k);
  }
}
