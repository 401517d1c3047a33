/**
 * @file tri_wide.cuh
 * Condensed and square output for points of two or three dimensions: what the default map does
 * with more than a few million values. Included once for each type.
 *
 * Memory takes whole lines of 128 bytes at the best rate, but rows of the output begin anywhere.
 * A block therefore owns, of each of its rows, the columns from the line boundary at or before the
 * tile's first column, so that every warp stores whole lines. The columns' coordinates lie in
 * shared memory, once for each place modulo 16 bytes that a row can begin at; a thread reads its
 * C neighbouring columns by one 16-byte load whatever the row's place is. Ends of rows and the
 * diagonal are stored one by one. Tiles are low, so that what all blocks write at a time is a
 * region that the L2 cache holds; 8 rows cost more for the columns than they gain there.
 */
#pragma once

#include "tri_store.cuh"

enum {
  TRI_WIDE_ROWS = 32,   /**< most rows of a tile */
  TRI_WIDE_PARTS = 8,   /**< dimensions times copies up to which tiles have half as many */
  TRI_WIDE_WANTED = 16, /**< tiles wanted for each multiprocessor before they are made higher */
  TRI_WIDE_THREADS = 128,
  TRI_LINE_BYTES = 128,
  TRI_LINE_GROUPS = TRI_LINE_BYTES / 16, /**< groups of C columns in a line */
  TRI_WIDE_GROUPS = TRI_WIDE_THREADS + 2 * TRI_LINE_GROUPS,
  TRI_WIDE_PASSES = (TRI_WIDE_GROUPS + TRI_WIDE_THREADS - 1) / TRI_WIDE_THREADS
};

/** How rows lie relative to lines of memory. */
typedef struct tri_places {
  int copies; /**< places modulo 16 bytes: 1 or C */
  int most;   /**< largest shift of a row, in columns */
} tri_places;

/** A row of a tile. */
template <class R> struct tri_line {
  R *out;     /**< where the thread of number 0 stores, on a line boundary */
  int offset; /**< of its columns in shared memory, in groups of C */
  int shift;  /**< columns from the line boundary to the tile's first column */
};

/** C columns of one dimension in shared memory. */
template <class R> struct alignas(16) tri_group { R v[tri_width<R>::value]; };

/** Rows of the tile to shared memory, one thread for each. */
template <class S, class R, int N>
static __device__ __forceinline__ void
tri_wide_rows(const tri_args<R> &args, const tri_layout &o, const tri_tile &tile, int left, R *out,
              tri_rows<R, N> &rows, tri_line<R> (&lines)[N]) {
  constexpr int C = S::C, A = TRI_LINE_BYTES / (int)sizeof(R);
  const int p = threadIdx.x, i = tile.i0 + p;
  if (i >= tile.i1) return;
  R *const at = out + tri_layout_base(o, i) + left;
  const int shift = (int)((size_t)at / sizeof(R)) & (A - 1);
  lines[p].out = at - shift;
  lines[p].offset = shift % C * S::D * TRI_WIDE_GROUPS + TRI_LINE_GROUPS - shift / C;
  lines[p].shift = shift;
  tri_rows_put<S>(args, rows, p, i);
}

/** A thread's share of the tile's columns on their way to shared memory. */
template <int D, class R> struct tri_wide_columns {
  static constexpr int C = tri_width<R>::value;
  tri_group<R> own[TRI_WIDE_PASSES][D], before[TRI_WIDE_PASSES][D]; /**< before: to the left */

  /** Groups from one line before column `left` on; out of range ones are replaced. */
  __device__ __forceinline__ void load(const tri_args<R> &args, int left, bool several) {
    const int last = (int)args.n_pad - C;
#pragma unroll
    for (int pass = 0; pass < TRI_WIDE_PASSES; pass++) {
      const int m = pass * TRI_WIDE_THREADS + (int)threadIdx.x;
      const int place = left + C * (m - TRI_LINE_GROUPS);
      if (m >= TRI_WIDE_GROUPS) continue;
#pragma unroll
      for (int k = 0; k < D; k++) {
        const R *const x = args.x + k * args.n_pad;
        tri_get_all(x + min(max(place, 0), last), own[pass][k].v);
        if (several) tri_get_all(x + min(max(place - C, 0), last), before[pass][k].v);
      }
    }
  }

  /** To [copy][dimension][group]: copy c begins c columns further to the left. */
  __device__ __forceinline__ void put(tri_group<R> *columns, bool several) const {
#pragma unroll
    for (int pass = 0; pass < TRI_WIDE_PASSES; pass++) {
      const int m = pass * TRI_WIDE_THREADS + (int)threadIdx.x;
      if (m >= TRI_WIDE_GROUPS) continue;
#pragma unroll
      for (int k = 0; k < D; k++) {
        const tri_group<R> &x = own[pass][k], &y = before[pass][k];
        columns[k * TRI_WIDE_GROUPS + m] = x;
        if (!several) continue;
#pragma unroll
        for (int c = 1; c < C; c++) {
          tri_group<R> moved;
#pragma unroll
          for (int e = 0; e < C; e++) moved.v[e] = e >= c ? x.v[e - c] : y.v[C + e - c];
          columns[(c * D + k) * TRI_WIDE_GROUPS + m] = moved;
        }
      }
    }
  }
};

/** Values of row p with a group of its columns. */
template <class S, class R, int N>
static __device__ __forceinline__ void
tri_wide_values(const tri_args<R> &args, const tri_rows<R, N> &rows, int p,
                const tri_group<R> *columns, R (&v)[1][S::C]) {
  S source = {};
#pragma unroll
  for (int k = 0; k < S::D; k++) {
    const tri_group<R> x = columns[k * TRI_WIDE_GROUPS];
#pragma unroll
    for (int c = 0; c < S::C; c++) source.x[k][c] = x.v[c];
  }
  source.values(args, rows, p, p + 1, v);
}

/** Group m of row p of the tile, where some columns may lie outside the row or on the diagonal. */
template <class S, class R, int N>
static __device__ __forceinline__ void tri_wide_edge(const tri_args<R> &args, const tri_layout &o,
                                                     const tri_rows<R, N> &rows,
                                                     const tri_line<R> (&lines)[N], int p, int i,
                                                     int left, int m, const tri_group<R> *columns) {
  const tri_line<R> line = lines[p];
  const int j = left - line.shift + m * S::C;
  R v[1][S::C];
  if (j + S::C <= tri_layout_begin(o, i) || j >= tri_layout_end(o, i)) return;
  tri_wide_values<S>(args, rows, p, columns + line.offset + m, v);
  tri_put_edge<S>(o, args, line.out + line.shift - left, i, j, (R)0, v[0]);
}

template <class S>
static __global__ void __launch_bounds__(TRI_WIDE_THREADS)
    tri_wide_kernel(tri_args<typename S::real> args, tri_tiles tiles, tri_layout o,
                    tri_places places, typename S::real *out) {
  using R = typename S::real;
  constexpr int W = TRI_WIDE_THREADS * S::C;
  extern __shared__ double shared_columns[];
  __shared__ tri_rows<R, TRI_WIDE_ROWS> rows;
  __shared__ tri_line<R> lines[TRI_WIDE_ROWS];
  tri_group<R> *const columns = (tri_group<R> *)shared_columns;
  const tri_tile tile = tri_tile_at(tiles, blockIdx.x);
  const int left = tile.q * W, t = threadIdx.x, count = tile.i1 - tile.i0;
  const int first = left - places.most, end = left + W;
  tri_wide_columns<S::D, R> mine;
  mine.load(args, left, places.copies > 1);
  tri_wide_rows<S>(args, o, tile, left, out, rows, lines);
  mine.put(columns, places.copies > 1);
  __syncthreads();
  if (o.square && first >= tile.i1 && end <= o.columns) {
    const R zeros[S::C] = {};
    for (int p = 0; p < count; p++) tri_put_all(lines[p].out + t * S::C, zeros);
  } else if (o.square ? first >= 0 && end <= tile.i0 && end <= o.columns
                      : first >= tile.i1 && end <= o.n) {
#pragma unroll 2
    for (int p = 0; p < count; p++) {
      const tri_line<R> line = lines[p];
      R v[1][S::C];
      tri_wide_values<S>(args, rows, p, columns + line.offset + t, v);
      tri_put_all(line.out + t * S::C, v[0]);
    }
  } else {
    for (int p = 0; p < count; p++)
      tri_wide_edge<S>(args, o, rows, lines, p, tile.i0 + p, left, t, columns);
  }
  if (!tile.last) return;
  for (int r = t; r < count * TRI_LINE_GROUPS; r += TRI_WIDE_THREADS)
    tri_wide_edge<S>(args, o, rows, lines, r / TRI_LINE_GROUPS, tile.i0 + r / TRI_LINE_GROUPS, left,
                     TRI_WIDE_THREADS + r % TRI_LINE_GROUPS, columns);
}

TRI_ENTRY(wide, tri_tiles, tri_layout, tri_places, R *)

/** Where rows can begin: square rows keep their place if the row length allows. */
template <class R> static tri_places tri_places_of(const tri_layout *o, const R *out) {
  const int C = tri_width<R>::value, A = TRI_LINE_BYTES / (int)sizeof(R);
  const bool lines = o->square && o->columns % A == 0 && (size_t)out % TRI_LINE_BYTES == 0;
  tri_places places = {};
  places.copies = o->square && o->columns % C == 0 ? 1 : C;
  places.most = lines ? 0 : A - 1;
  return places;
}
