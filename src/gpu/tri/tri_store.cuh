/**
 * @file tri_store.cuh
 * Condensed and square output by tiles, for any number of dimensions and for strips of inner
 * products; and what all kernels of these outputs share. Included once for each type.
 *
 * A block owns `rows` rows x 256 C columns; a thread owns C columns (16 bytes) in registers and
 * walks down the rows, whose coordinates all threads read from shared memory. Output rows start
 * anywhere in memory, so the rows of a tile are taken by classes of their place modulo
 * TRI_ALIGN_BYTES, and for each class the columns are shifted so that every store is one aligned
 * 16-byte store. Cells at the ends of rows and at the diagonal are stored one by one.
 */
#pragma once

#include "tri_tiles.cuh"

enum {
  TRI_STORE_ROWS = 64,  /**< most rows of a tile */
  TRI_ALIGN_BYTES = 16, /**< 16 or 32: where a thread's or a memory sector's columns begin */
  TRI_STREAMING = 1,    /**< 1: stores marked evict-first, the values are not read again here */
  TRI_SMALL_GROUP = 4   /**< tiles wanted for each multiprocessor before they are made larger */
};

/** Where values go; element (i, j) is at base(i) + j of the slab. */
typedef struct tri_layout {
  int square, fill;
  int keeps; /**< square: the diagonal, too, is the source's */
  int n, a;
  int64_t columns, origin;
} tri_layout;

static __device__ __forceinline__ int64_t tri_layout_base(const tri_layout &o, int64_t i) {
  return o.square ? (i - o.a) * o.columns : tri_condensed_row(o.n, i) - (i + 1) - o.origin;
}

/** First and one past the last column of row i that are stored. */
static __device__ __forceinline__ int tri_layout_begin(const tri_layout &o, int i) {
  return o.square ? 0 : i + 1;
}
static __device__ __forceinline__ int tri_layout_end(const tri_layout &o, int i) {
  return !o.square ? o.n : o.fill ? (int)o.columns : i + 1;
}

static __device__ __forceinline__ void tri_put_all(float *out, const float (&v)[4]) {
  const float4 packed = make_float4(v[0], v[1], v[2], v[3]);
  if (TRI_STREAMING)
    __stcs((float4 *)out, packed);
  else
    *(float4 *)out = packed;
}
static __device__ __forceinline__ void tri_put_all(double *out, const double (&v)[2]) {
  const double2 packed = make_double2(v[0], v[1]);
  if (TRI_STREAMING)
    __stcs((double2 *)out, packed);
  else
    *(double2 *)out = packed;
}

/** Store a thread's columns j.. of row i where some may lie outside the row or on the diagonal. */
template <class S, class R, int C>
static __device__ __forceinline__ void tri_put_edge(const tri_layout &o, const tri_args<R> &args,
                                                    R *row, int i, int j, R ei, R (&v)[C]) {
  const int begin = tri_layout_begin(o, i), end = tri_layout_end(o, i);
  if (o.square) {
#pragma unroll
    for (int c = 0; c < C; c++)
      v[c] = j + c < i || (j + c == i && o.keeps) ? v[c]
             : j + c == i                         ? S::diagonal(args, ei)
                                                  : (R)0;
  }
  if (j >= begin && j + C <= end) {
    tri_put_all(row + j, v);
  } else {
#pragma unroll
    for (int c = 0; c < C; c++)
      if (j + c >= begin && j + c < end) row[j + c] = v[c];
  }
}

/** Rows [p, end) of one class with columns j.. */
template <class S, bool EDGE, class R, int N>
static __device__ __forceinline__ void tri_stream(const S &source, const tri_args<R> &args,
                                                  const tri_layout &o, const tri_rows<R, N> &rows,
                                                  int p, int end, int j, R *out) {
#pragma unroll 2
  for (; p < end; p += S::G) {
    R v[S::G][S::C];
    source.values(args, rows, p, end, v);
#pragma unroll
    for (int g = 0; g < S::G; g++) {
      if (S::G > 1 && p + g >= end) break;
      R *const row = out + rows.base[p + g];
      if (EDGE)
        tri_put_edge<S>(o, args, row, rows.index[p + g], j, rows.extra[p + g], v[g]);
      else
        tri_put_all(row + j, v[g]);
    }
  }
}

/** The tile's rows into shared memory sorted by class; starts[s]: first place of class s. */
template <class S, int A, class R, int N>
static __device__ __forceinline__ void tri_sort_rows(const tri_args<R> &args, const tri_layout &o,
                                                     const tri_tile &tile, tri_rows<R, N> &rows,
                                                     int (&starts)[A + 1]) {
  static_assert(N == 64, "two warps order the rows");
  const int lane = threadIdx.x % 32, mine = threadIdx.x / 32;
  if (threadIdx.x >= N) return;
  int64_t base[2];
  int kind[2], place = 0, before = 0;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int i = tile.i0 + lane + 32 * h;
    base[h] = i < tile.i1 ? tri_layout_base(o, i) : 0;
    kind[h] = i < tile.i1 ? (int)(base[h] & (A - 1)) : A;
  }
#pragma unroll
  for (int s = 0; s < A; s++) {
    const unsigned low = __ballot_sync(~0u, kind[0] == s), high = __ballot_sync(~0u, kind[1] == s);
    const unsigned below = (1u << lane) - 1;
    if ((mine == 0 ? kind[0] : kind[1]) == s)
      place = before + (mine == 0 ? __popc(low & below) : __popc(low) + __popc(high & below));
    if (threadIdx.x == 0) starts[s] = before;
    before += __popc(low) + __popc(high);
  }
  if (threadIdx.x == 0) starts[A] = rows.count = before;
  if ((mine == 0 ? kind[0] : kind[1]) == A) return;
  tri_rows_put<S>(args, rows, place, tile.i0 + (int)threadIdx.x);
  rows.base[place] = mine == 0 ? base[0] : base[1];
}

/** The last columns of rows whose class shifted the tile to the left, one cell for a thread. */
template <class S, int A, class R, int N>
static __device__ __forceinline__ void tri_store_tails(const tri_args<R> &args, const tri_layout &o,
                                                       const tri_rows<R, N> &rows, int edge,
                                                       R *out) {
  for (int t = threadIdx.x; t < rows.count * (A - 1); t += TRI_THREADS) {
    const int p = t / (A - 1), shift = (int)(rows.base[p] & (A - 1));
    const int i = rows.index[p], j = edge - shift + t % (A - 1);
    if (j >= edge || j < tri_layout_begin(o, i) || j >= tri_layout_end(o, i)) continue;
    S source;
    R v[S::G][S::C];
    source.columns(args, j);
    source.values(args, rows, p, p + 1, v);
    const bool below = !o.square || j < i;
    out[rows.base[p] + j] = below || (j == i && o.keeps) ? v[0][0]
                            : j == i                     ? S::diagonal(args, rows.extra[p])
                                                         : (R)0;
  }
}

/** Rows above the diagonal of a filled square. */
template <class R, int C, int N>
static __device__ __forceinline__ void tri_store_zeros(const tri_rows<R, N> &rows, int p, int end,
                                                       int j, R *out) {
  R v[C] = {};
  for (; p < end; p++) tri_put_all(out + rows.base[p] + j, v);
}

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_store_kernel(tri_args<typename S::real> args, tri_tiles tiles, tri_layout o,
                     typename S::real *out) {
  using R = typename S::real;
  constexpr int A = TRI_ALIGN_BYTES / (int)sizeof(R), W = TRI_THREADS * S::C;
  __shared__ tri_rows<R, TRI_STORE_ROWS> rows;
  __shared__ int starts[A + 1];
  const tri_tile tile = tri_tile_at(tiles, blockIdx.x);
  tri_sort_rows<S, A>(args, o, tile, rows, starts);
  __syncthreads();
#pragma unroll 1
  for (int s = 0; s < A; s++) {
    const int p = starts[s], end = starts[s + 1];
    if (p == end) continue;
    const int first = tile.q * W - s, j = first + (int)threadIdx.x * S::C;
    const bool inside = o.square ? first >= 0 && first + W <= tile.i0 && first + W <= o.columns
                                 : first >= tile.i1 && first + W <= o.n;
    const bool above = o.square && first >= tile.i1 && first + W <= o.columns;
    if (above) {
      tri_store_zeros<R, S::C>(rows, p, end, j, out);
      continue;
    }
    S source;
    source.columns(args, j);
    if (inside)
      tri_stream<S, false>(source, args, o, rows, p, end, j, out);
    else
      tri_stream<S, true>(source, args, o, rows, p, end, j, out);
  }
  if (tile.last) tri_store_tails<S, A>(args, o, rows, (tile.q + 1) * W, out);
}

TRI_ENTRY(store, tri_tiles, tri_layout, R *)
