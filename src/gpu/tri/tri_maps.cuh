/**
 * @file tri_maps.cuh
 * Index arithmetic of the maps from thread blocks to tiles of a triangle.
 *
 * Plain functions for host and device, so that a test without a card checks that each map meets
 * every cell exactly once. A lower triangle of m rows has the cells (r, c), 0 <= c <= r < m; in
 * tiles of side B it has t = ceil(m / B) tile rows. A map gives, for a block (x, y) of its grid
 * and a thread (tx, ty), a cell, or none.
 *
 * Sources: bb, the full box; rb, Jung & O'Leary 2008 (fold of a rectangle, odd m by its own form);
 * rec, Ries et al. 2009 (squares by level, here any t: the rows whose tile index has the level's
 * bit set); ltm, Navarro & Hitschfeld 2013 with an integer correction, exact to row 8.39 million;
 * frb and fr, the flat recursion of the seed: b = 2^floor(log2 y), q = floor(x / b), tile
 * (x + q b, y + 2 q b), for powers of two; any t by one segment for each set bit of t.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TRI_MAP_FN static __host__ __device__ __forceinline__
#else
#define TRI_MAP_FN static inline
#endif

/** A cell of the triangle, or none (r < 0). */
typedef struct tri_cell {
  int r, c;
} tri_cell;

TRI_MAP_FN tri_cell tri_cell_of(int r, int c) {
  tri_cell cell;
  cell.r = r;
  cell.c = c;
  return cell;
}

/** The cell if it is in the triangle of m rows, else none. */
TRI_MAP_FN tri_cell tri_cell_cut(int r, int c, int m) {
  return c <= r && r < m ? tri_cell_of(r, c) : tri_cell_of(-1, -1);
}

/** floor(log2 y) for y >= 1 by leading zeros. */
TRI_MAP_FN int tri_log2_clz(unsigned y) {
#ifdef __CUDA_ARCH__
  return 31 - __clz((int)y);
#else
  return 31 - __builtin_clz(y);
#endif
}

/** floor(log2 y) for y >= 1 by log2f, corrected where rounding crossed a power of two. */
TRI_MAP_FN int tri_log2_float(unsigned y) {
  const int e = (int)floorf(log2f((float)y));
  if ((1u << e) > y) return e - 1;
  return e < 31 && (2u << e) <= y ? e + 1 : e;
}

/** Row of cell number w of a lower triangle with diagonal: floor(sqrt(1/4 + 2w) - 1/2), exact. */
TRI_MAP_FN int64_t tri_ltm_row(int64_t w) {
  int64_t r = (int64_t)(sqrtf(0.25f + 2.0f * (float)w) - 0.5f);
  while (r * (r + 1) / 2 > w) r--;
  while ((r + 1) * (r + 2) / 2 <= w) r++;
  return r;
}

/** Bounding box: grid t x t of tiles. */
TRI_MAP_FN tri_cell tri_map_bb(int x, int y, int tx, int ty, int side, int m) {
  if (x > y) return tri_cell_of(-1, -1);
  return tri_cell_cut(y * side + ty, x * side + tx, m);
}

/** Columns and rows of rb's rectangle of cells. */
TRI_MAP_FN int tri_rb_columns(int m) {
  return (m + 1) / 2;
}
TRI_MAP_FN int tri_rb_rows(int m) {
  return m % 2 == 0 ? m + 1 : m;
}

/** Rectangle box: cell (row y, column x) of the rectangle, beyond the diagonal folded back. */
TRI_MAP_FN tri_cell tri_map_rb(int x, int y, int m) {
  if (x >= tri_rb_columns(m) || y >= tri_rb_rows(m)) return tri_cell_of(-1, -1);
  if (m % 2 == 0) return x < y ? tri_cell_of(y - 1, x) : tri_cell_of(m - 1 - y, m - 1 - x);
  return x <= y ? tri_cell_of(y, x) : tri_cell_of(m - 1 - y, m - x);
}

/** Tile rows of level l of rec: those below t whose bit l is set. */
TRI_MAP_FN int tri_rec_rows(int t, int level) {
  const int64_t s = (int64_t)1 << level, rest = t % (2 * s);
  return (int)(t / (2 * s) * s + (rest > s ? rest - s : 0));
}

/** Recursive squares: level l is a grid of 2^l x tri_rec_rows tiles strictly below the diagonal. */
TRI_MAP_FN tri_cell tri_map_rec(int x, int y, int level, int tx, int ty, int side, int m) {
  const int s = 1 << level, square = y >> level;
  const int row = (2 * square + 1) * s + (y & (s - 1)), column = 2 * square * s + x;
  return tri_cell_cut(row * side + ty, column * side + tx, m);
}

/** The pass of rec for the diagonal: grid t x 1. */
TRI_MAP_FN tri_cell tri_map_rec_diagonal(int x, int tx, int ty, int side, int m) {
  return tri_cell_cut(x * side + ty, x * side + tx, m);
}

/** Lower-triangular map: linear grid of t (t + 1) / 2 tiles. */
TRI_MAP_FN tri_cell tri_map_ltm(int64_t w, int tx, int ty, int side, int m) {
  const int64_t row = tri_ltm_row(w), column = w - row * (row + 1) / 2;
  return tri_cell_cut((int)row * side + ty, (int)column * side + tx, m);
}

/** A segment of the flat recursion: tile rows [at, at + p) with their triangle and all rows below.
 */
typedef struct tri_segment {
  int at; /**< first tile row and column */
  int p;  /**< a power of two */
  int t;  /**< tile rows of the whole triangle */
} tri_segment;

/** The segment at tile row `at`: its side is the largest power of two that fits. */
TRI_MAP_FN tri_segment tri_segment_at(int at, int t) {
  tri_segment s;
  s.at = at;
  s.t = t;
  s.p = 1 << tri_log2_clz((unsigned)(t - at));
  return s;
}

/** Grid of a segment: row 0 the diagonal, 1..p-1 the recursion, then two rows for each row below.
 */
TRI_MAP_FN int tri_flat_columns(tri_segment s) {
  return s.p > 1 ? s.p / 2 : 1;
}
TRI_MAP_FN int tri_flat_rows(tri_segment s) {
  return s.p + 2 * (s.t - s.at - s.p);
}

/** Cell of a block that does two diagonal tiles; second: the threads' second cell (diagonal of tile
 * 2). */
TRI_MAP_FN tri_cell tri_flat_diagonal(tri_segment s, int x, int tx, int ty, int side, int m,
                                      int second) {
  const int one = (s.at + x) * side, two = (s.at + x + s.p / 2) * side;
  if (second)
    return s.p > 1 && tx == ty ? tri_cell_cut(two + ty, two + tx, m) : tri_cell_of(-1, -1);
  if (tx <= ty) return tri_cell_cut(one + ty, one + tx, m);
  return s.p > 1 ? tri_cell_cut(two + side - 1 - ty, two + side - 1 - tx, m) : tri_cell_of(-1, -1);
}

/** Flat recursion, block (x, y) with y >= 1, and log2 = floor(log2 y) found by the caller's way. */
TRI_MAP_FN tri_cell tri_map_flat(tri_segment s, int x, int y, int log2, int tx, int ty, int side,
                                 int m) {
  int row, column;
  if (y < s.p) {
    const int q = x >> log2;
    row = y + ((2 * q) << log2);
    column = x + (q << log2);
  } else {
    row = s.p + (y - s.p) / 2;
    column = x + ((y - s.p) & 1) * (s.p / 2);
  }
  return tri_cell_cut((s.at + row) * side + ty, (s.at + column) * side + tx, m);
}

/** Dynamic parallelism: a triangle of rows [at, at + size) is a square and two smaller triangles.
 */
typedef struct tri_node {
  int at, size;
} tri_node;

/** First row of the lower child: half of the size, rounded up to whole tiles. */
TRI_MAP_FN int tri_node_half(tri_node node, int side) {
  return ((node.size + 1) / 2 + side - 1) / side * side;
}

/** Rows of a triangle that is a leaf done by bb: the cut-off; or what `depth` x log2(m) levels
 * leave, 0 <= depth <= 1; or what keeps the tree within 512 leaves, whichever is most. */
TRI_MAP_FN int tri_cdp_leaf(int m, int cutoff, double depth) {
  const int levels = (int)(depth * log2((double)(m > 1 ? m : 1)));
  const int by_depth = (int)(((int64_t)m + ((int64_t)1 << levels) - 1) >> levels);
  const int by_count = (int)(((int64_t)m + 255) / 256);
  const int most = by_count > by_depth ? by_count : by_depth;
  return most > cutoff ? most : cutoff;
}

/** Square of a node: rows [at + half, at + size) x columns [at, at + half), a grid of tiles. */
TRI_MAP_FN tri_cell tri_map_square(tri_node node, int x, int y, int tx, int ty, int side) {
  const int half = tri_node_half(node, side);
  const int row = half + y * side + ty, column = x * side + tx;
  if (row >= node.size || column >= half) return tri_cell_of(-1, -1);
  return tri_cell_of(node.at + row, node.at + column);
}
