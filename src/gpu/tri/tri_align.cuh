/**
 * @file tri_align.cuh
 * Cells of tables of alignments on a card: some neighbouring letters of two patterns, a tile, whose
 * column of each table is in a lane's registers, 16 bits each, and goes through the texts.
 *
 * Gotoh 1982, J. Mol. Biol. 162:705, as sockets have it (tri_cpu_letters.h): kept is G = H - open -
 * extend. All of it is raised by open + extend, and but for LOCAL by 2^14 more, as cells may be far
 * below 0. EXTENSION is the one of which no cell is dropped: the best cell of GLOBAL's table.
 */
#pragma once

#include "tri_letters.cuh"

enum { TRI_ALIGN_RAISED = 1 << 14 /**< GLOBAL and EXTENSION */ };

/** Two tables, 16 bits of a register each, not negative; of any sign. */
static __device__ __forceinline__ uint32_t tri_two_all(int x) {
  return (uint32_t)x * 0x10001u;
}
static __device__ __forceinline__ uint32_t tri_two_signed(int x) {
  return ((uint32_t)x & 0xffffu) * 0x10001u;
}
/** Halves do not borrow from each other. */
static __device__ __forceinline__ uint32_t tri_two_add(uint32_t a, uint32_t b) {
  return __viaddmax_s16x2(a, b, 0x80008000u);
}
static __device__ __forceinline__ int tri_two_value(uint32_t v, int pair) {
  return pair == 0 ? (int)(v & 0xffffu) : (int)(v >> 16);
}

/** A tile: TILE letters of each pattern. */
template <int TILE> struct tri_align_tile {
  uint32_t g[TILE], along[TILE]; /**< G; gaps in the pattern */
  uint32_t corner, best;
  int result[2]; /**< GLOBAL */
};

/** G at the table's edge, k letters from its corner. Of GLOBAL none is negative on which a value
 *  depends. */
template <tri_function OF>
static __device__ __forceinline__ uint32_t tri_align_edge(const tri_params &p, int k) {
  const int edge = OF == TRI_LOCAL ? 0 : TRI_ALIGN_RAISED - (k == 0 ? 0 : p.open + k * p.extend);
  return OF == TRI_EXTENSION ? tri_two_signed(edge) : tri_two_all(edge);
}

/** A letter of the text, with scores[k] of letter k of the tile: above and f come from the tile
 *  above and go to the one below. As open is not negative, a gap downwards need not come from a
 *  cell that ends one itself: f goes from cell to cell in one instruction, beside all else. */
template <tri_function OF, int TILE, class S>
static __device__ __forceinline__ void tri_align_step(const tri_params &p, const S &scores,
                                                      tri_align_tile<TILE> &tile, uint32_t &above,
                                                      uint32_t &f) {
  const uint32_t less_extend = tri_two_signed(-p.extend);
  const uint32_t less_gap = tri_two_signed(-p.open - p.extend), entered = above;
  uint32_t corner = tile.corner, from = above;
#pragma unroll
  for (int k = 0; k < TILE; k++) {
    const uint32_t left = tile.g[k];
    tile.along[k] = __viaddmax_s16x2(tile.along[k], less_extend, left);
    f = __viaddmax_s16x2(f, less_extend, from);
    const uint32_t pair = __viaddmax_s16x2(corner, scores[k], tile.along[k]);
    from = OF == TRI_LOCAL ? __viaddmax_s16x2(pair, less_gap, 0) : tri_two_add(pair, less_gap);
    tile.g[k] = __viaddmax_s16x2(f, less_gap, from);
    corner = left;
    if (OF != TRI_GLOBAL && k % 2 == 1)
      tile.best = __vimax3_s16x2(tile.best, tile.g[k - 1], tile.g[k]);
  }
  above = tile.g[TILE - 1];
  tile.corner = entered;
}

/** GLOBAL: the text of a table ends here, and its pattern `last` letters behind the first one. */
template <int TILE>
static __device__ __forceinline__ void tri_align_end(int pair, int last,
                                                     tri_align_tile<TILE> &tile) {
#pragma unroll
  for (int k = 0; k < TILE; k++)
    if (k == last) tile.result[pair] = tri_two_value(tile.g[k], pair) - TRI_ALIGN_RAISED;
}

/** Before the first letter of the text. */
template <tri_function OF, int TILE>
static __device__ __forceinline__ void tri_align_begin(const tri_params &p, int first,
                                                       tri_align_tile<TILE> &tile) {
  tile.corner = tri_align_edge<OF>(p, first);
#pragma unroll
  for (int k = 0; k < TILE; k++) {
    tile.g[k] = tri_align_edge<OF>(p, first + k + 1);
    tile.along[k] = tile.g[k]; /* a gap opened there: no less than one that goes on */
  }
}
