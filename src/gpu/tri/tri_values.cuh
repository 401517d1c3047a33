/**
 * @file tri_values.cuh
 * Values of many dimensions for outputs that consume pairs by rows: a strip of rows with all
 * columns is computed like a product of matrices, PART x PART pairs in the registers of a thread,
 * coordinates of the tile's rows and columns in shared memory some dimensions at a time. The sums
 * are those of tri_pairs.h, in their order. Included once for each type.
 */
#pragma once

#include "tri_fn.cuh"

enum {
  TRI_VALUES_SIDE = 16,  /**< threads along rows and along columns of a tile */
  TRI_VALUES_DEPTH = 16, /**< dimensions in shared memory at once */
  TRI_VALUES_THREADS = TRI_VALUES_SIDE * TRI_VALUES_SIDE
};

/** Rows and columns of a thread. */
template <class R> struct tri_values_part { static constexpr int value = 32 / (int)sizeof(R); };

/** Where a strip is: rows [a, b), columns [c0, c1), into out[row][column]. */
template <class R> struct tri_values_strip_of {
  int a, b, c0, c1;
  R *out;
};

/** A tile's coordinates in shared memory, dimension by dimension. */
template <class R> struct tri_values_tile {
  static constexpr int N = TRI_VALUES_SIDE * tri_values_part<R>::value;
  alignas(16) R rows[TRI_VALUES_DEPTH][N], columns[TRI_VALUES_DEPTH][N];
};

/** Number c of a thread's columns within the tile: groups of 16 bytes, threads side by side. */
template <class R> static __device__ __forceinline__ int tri_values_column(int tx, int c) {
  constexpr int C = tri_width<R>::value;
  return c / C * TRI_VALUES_SIDE * C + tx * C + c % C;
}

/** Dimensions [k, k + n) of the tile's rows from i on and columns from j on; beyond n_pad those of
 *  other points. */
template <class R>
static __device__ __forceinline__ void
tri_values_load(const tri_args<R> &args, tri_values_tile<R> &tile, int k, int n, int i, int j) {
  constexpr int N = tri_values_tile<R>::N;
  const int last = (int)args.n_pad - 1;
  for (int e = (int)threadIdx.x; e < n * N; e += TRI_VALUES_THREADS) {
    const R *const x = args.x + (int64_t)(k + e / N) * args.n_pad;
    tile.rows[e / N][e % N] = __ldg(x + min(i + e % N, last));
    tile.columns[e / N][e % N] = __ldg(x + min(j + e % N, last));
  }
}

/** Add dimension k of the tile to a thread's sums; number: of tri_of_step. */
template <int F, class R, int PART>
static __device__ __forceinline__ void tri_values_step(const tri_values_tile<R> &tile, int k,
                                                       int tx, int ty, R number,
                                                       R (&sum)[PART][PART]) {
  constexpr int C = tri_width<R>::value;
  alignas(16) R row[PART], column[PART];
#pragma unroll
  for (int g = 0; g < PART; g += C) {
    *(int4 *)&row[g] = *(const int4 *)&tile.rows[k][ty * PART + g];
    *(int4 *)&column[g] = *(const int4 *)&tile.columns[k][tri_values_column<R>(tx, g)];
  }
#pragma unroll
  for (int r = 0; r < PART; r++)
#pragma unroll
    for (int c = 0; c < PART; c++)
      sum[r][c] = tri_fn<F, R>::step(sum[r][c], row[r], column[c], number);
}

/** Values of row i with the columns of 16 bytes from j on; at once where rows begin on such. */
template <int F, class R>
static __device__ __forceinline__ void tri_values_store(const tri_args<R> &args,
                                                        const tri_values_strip_of<R> &o, int i,
                                                        int j, const R *sum) {
  constexpr int C = tri_width<R>::value;
  constexpr bool extras = tri_row_of<F>::extras;
  R *const to = o.out + (int64_t)(i - o.a) * (o.c1 - o.c0) + (j - o.c0);
  alignas(16) R v[C];
#pragma unroll
  for (int c = 0; c < C; c++)
    v[c] =
        tri_fn<F, R>::finish(sum[c], extras ? __ldg(args.extra + i) : (R)0,
                             extras ? __ldg(args.extra + min(j + c, o.c1 - 1)) : (R)0, args.scale);
  if (j + C <= o.c1 && (o.c1 - o.c0) % C == 0)
    *(int4 *)to = *(const int4 *)v;
  else
    for (int c = 0; c < C && j + c < o.c1; c++) to[c] = v[c];
}

template <int F, class R>
static __global__ void __launch_bounds__(TRI_VALUES_THREADS, 2)
    tri_values_kernel(tri_args<R> args, tri_values_strip_of<R> o) {
  constexpr int PART = tri_values_part<R>::value, N = tri_values_tile<R>::N;
  __shared__ tri_values_tile<R> tile;
  const int tx = (int)threadIdx.x % TRI_VALUES_SIDE, ty = (int)threadIdx.x / TRI_VALUES_SIDE;
  const int i0 = o.a + (int)blockIdx.y * N, j0 = o.c0 + (int)blockIdx.x * N;
  R sum[PART][PART];
#pragma unroll
  for (int r = 0; r < PART; r++)
#pragma unroll
    for (int c = 0; c < PART; c++) sum[r][c] = tri_zero<F, R>();
  for (int k = 0; k < args.d; k += TRI_VALUES_DEPTH) {
    const int n = min(args.d - k, (int)TRI_VALUES_DEPTH);
    __syncthreads();
    tri_values_load(args, tile, k, n, i0, j0);
    __syncthreads();
#pragma unroll 4
    for (int m = 0; m < n; m++)
      tri_values_step<F>(tile, m, tx, ty, tri_of_step<F, R>(args, k + m), sum);
  }
#pragma unroll
  for (int r = 0; r < PART; r++) {
    const int i = i0 + ty * PART + r;
    if (i >= o.b) return;
#pragma unroll
    for (int c = 0; c < PART; c += tri_width<R>::value)
      tri_values_store<F>(args, o, i, j0 + tri_values_column<R>(tx, c), &sum[r][c]);
  }
}

template <class R> static void (*tri_values_of(int function))(tri_args<R>, tri_values_strip_of<R>) {
  switch (function) {
#define X(NAME, ...) \
  case TRI_##NAME:   \
    return tri_values_kernel<tri_same<TRI_##NAME>::value, R>;
    TRI_STEP_LIST(X)
#undef X
  default:
    return NULL;
  }
}

template <class R>
tsl_err tri_values_rows(const tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, R *out) {
  tsl_err err = TSL_OK;
  constexpr int N = tri_values_tile<R>::N;
  void (*const kernel)(tri_args<R>, tri_values_strip_of<R>) = tri_values_of<R>(w->p.function);
  const tri_values_strip_of<R> strip = {(int)a, (int)b, (int)c0, (int)c1, out};
  const dim3 grid((unsigned)tsl_ceil_div(c1 - c0, N), (unsigned)tsl_ceil_div(b - a, N));
  if (kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", w->p.function);
  TSL_LAUNCH(kernel, grid, TRI_VALUES_THREADS, 0, w->stream, tri_args_of<R>(w), strip);
done:
  return err;
}
