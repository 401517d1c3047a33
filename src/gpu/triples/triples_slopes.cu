/* axilrod_teller on a card. The slopes of a tile of pairs are a product of two matrices of sides
 * (triples_fn.h), computed as one: sides of all points with some third points, a panel, are made
 * first; of each tile's rows and columns they come into shared memory while those before are used.
 * A thread has ROWS x COLUMNS pairs in registers. */
#include "triples_points.cuh"

#include "integers.h"

#include <cuda_pipeline.h>

enum {
  TILE = TRIPLES_TILE,
  ROWS = 8, /* of a thread: the same for all of a warp, so that they are read once */
  COLUMNS = 2,
  PAIRS = ROWS * COLUMNS,
  ACROSS = TILE / COLUMNS, /* threads along a row of a tile */
  THREADS = TILE / ROWS * ACROSS,
  VALUES = 3 /* of a side: square, cube, fifth */
};

/* ------------------------------------------------------------------ sides */

/* Sides with third points [first, first + count), a multiple of TILE; beyond n they are none. */
template <class R> struct triples_panel {
  R *sides; /* [VALUES][count][args.ld] */
  int first, count;
};

/* A thread: point blockIdx.x TILE + threadIdx.x with a tile of third points. */
template <class R, bool OPEN>
static __global__ void __launch_bounds__(TILE)
    sides_kernel(triples_args<R> args, triples_panel<R> panel) {
  typedef triples_formulas<R> fn;
  const int c = (int)blockIdx.x * TILE + (int)threadIdx.x;
  const int64_t all = (int64_t)panel.count * args.ld;
  const R *const x = args.x, *const y = x + args.ld, *const z = y + args.ld;
  const R point[3] = {x[c], y[c], z[c]};
  for (int m = (int)blockIdx.y * TILE; m < (int)(blockIdx.y + 1) * TILE; m++) {
    const int k = panel.first + m;
    const R third[3] = {x[k], y[k], z[k]};
    const R square = triples_square_between<R, OPEN>(args, third, point);
    const typename fn::side side =
        fn::side_of(square, k < args.n ? triples_cutoff2<R, OPEN>(args) : (R)-1);
    R *const to = panel.sides + (int64_t)m * args.ld + c;
    to[0] = side.square, to[all] = side.cube, to[2 * all] = side.fifth;
  }
}

/* ----------------------------------------------------------------- slopes */

/* What a block of threads shares, with THIRD third points at a time, which divides TILE: points
 * 0..TILE-1 are the rows, the others the columns. */
template <class R, int THIRD> struct shared_sides {
  R sides[2][VALUES][THIRD][2 * TILE]; /* one half is filled while the other is used */
  double sums[PAIRS][THREADS];
};

/* Of THIRD lines of a panel a thread copies 16 bytes of every STEP-th one. */
template <class R> struct copies {
  static constexpr int EACH = 16 / (int)sizeof(R), LINE = 2 * TILE / EACH, STEP = THREADS / LINE;
};

/* Where a thread copies from in the panel's first lines. */
template <class R>
static __device__ __forceinline__ const R *first_copy(const R *sides, int ld, int i0, int j0) {
  const int t = (int)threadIdx.x, c = t % copies<R>::LINE * copies<R>::EACH;
  return sides + (int64_t)(t / copies<R>::LINE) * ld + (c < TILE ? i0 + c : j0 + c - TILE);
}

/* Begin to copy THIRD lines to shared memory; all: values between those of a kind and the next. */
template <class R, int THIRD>
static __device__ __forceinline__ void fetch(const R *from, int64_t all, int ld,
                                             R (*to)[THIRD][2 * TILE]) {
  const int t = (int)threadIdx.x;
  R *const place = &to[0][t / copies<R>::LINE][t % copies<R>::LINE * copies<R>::EACH];
#pragma unroll
  for (int v = 0; v < VALUES; v++)
#pragma unroll
    for (int m = 0; m < THIRD; m += copies<R>::STEP)
      __pipeline_memcpy_async(place + (v * THIRD + m) * 2 * TILE, from + v * all + m * ld, 16);
  __pipeline_commit();
}

/* N numbers that follow each other, 16 bytes at a time or all at once. */
template <int N, class R> static __device__ __forceinline__ void load(const R *from, R (&to)[N]) {
  constexpr int BYTES = N * (int)sizeof(R) < 16 ? N * (int)sizeof(R) : 16;
  constexpr int EACH = BYTES / (int)sizeof(R);
  struct alignas(BYTES) piece {
    R values[EACH];
  };
#pragma unroll
  for (int v = 0; v < N; v += EACH) *(piece *)(to + v) = *(const piece *)(from + v);
}

/* Terms of the third points in shared memory. */
template <class R, int THIRD>
static __device__ __forceinline__ void
add_terms(const R (*sides)[THIRD][2 * TILE], int row, int column,
          const typename triples_formulas<R>::pair (&pair)[ROWS][COLUMNS], R (&wz)[ROWS][COLUMNS],
          R (&q)[ROWS][COLUMNS]) {
  typedef triples_formulas<R> fn;
#pragma unroll 4
  for (int m = 0; m < THIRD; m++) {
    R a[VALUES][ROWS], b[VALUES][COLUMNS];
#pragma unroll
    for (int v = 0; v < VALUES; v++)
      load<ROWS>(&sides[v][m][row], a[v]), load<COLUMNS>(&sides[v][m][TILE + column], b[v]);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) {
        const typename fn::side ik = {a[0][r], a[1][r], a[2][r]};
        const typename fn::side jk = {b[0][c], b[1][c], b[2][c]};
        fn::term(pair[r][c], ik, jk, &wz[r][c], &q[r][c]);
      }
  }
}

/* The side of a pair, before and after the loop over third points. */
template <class R>
static __device__ __forceinline__ typename triples_formulas<R>::side
side_of_pair(const triples_args<R> &args, int i, int j) {
  R a[3], b[3];
  for (int k = 0; k < 3; k++) a[k] = args.x[k * args.ld + i], b[k] = args.x[k * args.ld + j];
  return triples_side_between<R, false>(args, a, b);
}

/* A block of threads: rows of tile first + blockIdx.y, columns of tile first + blockIdx.x, a panel
 * of third points. Sums go on in slopes from panel to panel; the last one makes slopes of them. */
template <class R, int THIRD>
static __global__ void __launch_bounds__(THREADS, sizeof(R) == 4 ? 2 : 1)
    slopes_kernel(triples_args<R> args, triples_panel<R> panel, int first, double *slopes) {
  extern __shared__ __align__(16) char memory[];
  shared_sides<R, THIRD> *const s = (shared_sides<R, THIRD> *)memory;
  typedef triples_formulas<R> fn;
  const int t = (int)threadIdx.x, row = t / ACROSS * ROWS, column = t % ACROSS * COLUMNS;
  const int i0 = (first + (int)blockIdx.y) * TILE, j0 = (first + (int)blockIdx.x) * TILE;
  double *const out = slopes + (int64_t)(i0 + row - first * TILE) * args.ld + j0 + column;
  const int64_t all = (int64_t)panel.count * args.ld;
  const R *from = first_copy(panel.sides, args.ld, i0, j0);
  typename fn::pair pair[ROWS][COLUMNS];
  R wz[ROWS][COLUMNS], q[ROWS][COLUMNS];
  if (j0 < i0) return;
  fetch(from, all, args.ld, s->sides[0]);
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    const int r = p / COLUMNS, c = p % COLUMNS;
    pair[r][c] = fn::pair_of(side_of_pair(args, i0 + row + r, j0 + column + c).square);
    wz[r][c] = q[r][c] = (R)0;
    s->sums[p][t] = panel.first == 0 ? 0 : out[(int64_t)r * args.ld + c];
  }
  for (int m = 0; m < panel.count; m += THIRD) {
    const int half = m / THIRD % 2;
    __pipeline_wait_prior(0);
    __syncthreads(); /* all see this half, and have done with the other */
    from += THIRD * args.ld;
    if (m + THIRD < panel.count) fetch(from, all, args.ld, s->sides[1 - half]);
    add_terms(s->sides[half], row, column, pair, wz, q);
    if ((m + THIRD) % TILE != 0) continue;
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      const int r = p / COLUMNS, c = p % COLUMNS;
      s->sums[p][t] += (double)fn::sum(pair[r][c], wz[r][c], q[r][c]);
      wz[r][c] = q[r][c] = (R)0;
    }
  }
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    const int i = i0 + row + p / COLUMNS, j = j0 + column + p % COLUMNS;
    const typename fn::side side = side_of_pair(args, i, j);
    const double sum = s->sums[p][t];
    const double slope = triples_slope((double)side.square, (double)side.fifth, sum);
    out[(int64_t)(p / COLUMNS) * args.ld + p % COLUMNS] = panel.first + panel.count < args.n ? sum
                                                          : j > i && j < args.n              ? slope
                                                                                             : 0.0;
  }
}

/* Reserve room for sides with all third points, or with as many as memory allows. */
static tsl_err reserve_sides(triples_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t third = VALUES * w->p.n_pad * (int64_t)tsl_type_bytes((tsl_type)w->p.type);
  int64_t thirds = tsl_min(w->p.n_pad, tsl_max(TILE, TRIPLES_SCRATCH / third / TILE * TILE));
  if (w->thirds > 0) return TSL_OK;
  while ((err = tsl_gpu_reserve(&w->memory, &w->sides, thirds * third, "sides of points")) ==
             TSL_ERR_DEVICE_MEMORY &&
         thirds > TILE)
    thirds = tsl_ceil_div(thirds, 2 * TILE) * TILE;
  if (err == TSL_OK) w->thirds = thirds, w->panel = -1;
  return err;
}

/* Make the panel that begins at a third point, if it is not there. */
template <class R>
static tsl_err make_panel(triples_gpu *w, int64_t first, bool open, triples_panel<R> *panel) {
  tsl_err err = TSL_OK;
  void (*const kernel)(triples_args<R>, triples_panel<R>) =
      open ? sides_kernel<R, true> : sides_kernel<R, false>;
  const int64_t count = tsl_min(w->thirds, w->p.n_pad - first);
  *panel = {(R *)w->sides.data, (int)first, (int)count};
  if (w->panel == first) return TSL_OK;
  TSL_LAUNCH(kernel, dim3((unsigned)(w->p.n_pad / TILE), (unsigned)(count / TILE)), TILE, 0,
             w->stream, triples_args_of<R>(w), *panel);
  w->panel = first;
done:
  return err;
}

template <class R, int THIRD>
static tsl_err launch_slopes(triples_gpu *w, int64_t first, int64_t tiles, bool open) {
  tsl_err err = TSL_OK;
  void (*const kernel)(triples_args<R>, triples_panel<R>, int, double *) = slopes_kernel<R, THIRD>;
  const int bytes = (int)sizeof(shared_sides<R, THIRD>);
  const dim3 grid((unsigned)(w->p.n_pad / TILE - first), (unsigned)tiles);
  TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int64_t k = 0; k < w->p.n_pad; k += w->thirds) {
    triples_panel<R> panel;
    TSL_TRY(make_panel(w, k, open, &panel));
    TSL_LAUNCH(kernel, grid, THREADS, bytes, w->stream, triples_args_of<R>(w), panel, (int)first,
               (double *)w->slopes.data);
  }
done:
  return err;
}

/* With the most third points that shared memory holds: cards before sm_80 have 64 KiB of it. */
template <class R>
static tsl_err run_slopes(triples_gpu *w, int64_t first, int64_t tiles, bool open) {
  enum { MOST = 16, FEWEST = copies<R>::STEP };
  return (int)sizeof(shared_sides<R, MOST>) <= w->shared_limit
             ? launch_slopes<R, MOST>(w, first, tiles, open)
             : launch_slopes<R, FEWEST>(w, first, tiles, open);
}

/* Tiles of rows before a block. */
static int64_t tiles_before(const triples_params *p, int64_t block) {
  const int64_t tiles = block * (p->block_rows / TILE), all = p->n_pad / TILE;
  return tiles < all ? tiles : all;
}

tsl_err triples_slopes_run(triples_gpu *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const int64_t first = tiles_before(&w->p, a), tiles = tiles_before(&w->p, b) - first;
  bool open = isinf(w->p.cutoff);
  for (double edge : w->p.box) open = open && isinf(edge);
  TSL_TRY(reserve_sides(w));
  TSL_TRY(w->p.type == TSL_F64 ? run_slopes<double>(w, first, tiles, open)
                               : run_slopes<float>(w, first, tiles, open));
done:
  return err;
}

/* ------------------------------------------------------------------- sums */

/* Of some blocks of rows. */
struct triples_blocks {
  int first; /* row of the first */
  int rows;  /* of a block */
  const double *slopes;
  double *sums; /* [blocks][n][TRIPLES_SUMS] */
};

/* A thread: column j of block blockIdx.y, the rows above it in their order. */
template <class R> static __global__ void columns_kernel(triples_args<R> args, triples_blocks b) {
  const int block = (int)blockIdx.y, i0 = b.first + block * b.rows;
  const int j = i0 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  double sum[3] = {0, 0, 0};
  if (j >= args.n) return;
  for (int i = i0; i < j && i < i0 + b.rows; i++) {
    const double slope = b.slopes[(int64_t)(i - b.first) * args.ld + j];
    for (int k = 0; k < 3; k++) {
      const R *const x = args.x + k * args.ld;
      sum[k] += 2 * slope * (double)triples_formulas<R>::difference(x[j], x[i], args.box[k]);
    }
  }
  double *const out = b.sums + ((int64_t)block * args.n + j) * TRIPLES_SUMS;
  out[0] = sum[0], out[1] = sum[1], out[2] = sum[2], out[3] = 0;
}

/* A block of threads: row first + blockIdx.x, whose columns its threads take in turn. */
template <class R> static __global__ void row_kernel(triples_args<R> args, triples_blocks b) {
  __shared__ double lanes[TRIPLES_SUMS][TRIPLES_LANES];
  typedef triples_formulas<R> fn;
  const int i = b.first + (int)blockIdx.x, t = (int)threadIdx.x;
  const R *const x = args.x, *const y = x + args.ld, *const z = y + args.ld;
  double sum[TRIPLES_SUMS] = {0, 0, 0, 0};
  for (int j = i / TRIPLES_LANES * TRIPLES_LANES + t; j < args.ld; j += TRIPLES_LANES) {
    const double slope = b.slopes[(int64_t)(i - b.first) * args.ld + j];
    const R dx = fn::difference(x[i], x[j], args.box[0]);
    const R dy = fn::difference(y[i], y[j], args.box[1]);
    const R dz = fn::difference(z[i], z[j], args.box[2]);
    sum[0] += 2 * slope * (double)dx;
    sum[1] += 2 * slope * (double)dy;
    sum[2] += 2 * slope * (double)dz;
    sum[3] += slope * (double)fn::square(dx, dy, dz);
  }
  for (int s = 0; s < TRIPLES_SUMS; s++) lanes[s][t] = sum[s];
  __syncthreads();
  if (t >= TRIPLES_SUMS) return;
  double all = 0;
  for (int c = 0; c < TRIPLES_LANES; c++) all += lanes[t][c];
  b.sums[((int64_t)((i - b.first) / b.rows) * args.n + i) * TRIPLES_SUMS + t] +=
      t < 3 ? all : -2.0 / 9.0 * all;
}

template <class R>
static tsl_err launch_sums(const triples_gpu *w, int64_t a, int64_t b, double *sums) {
  tsl_err err = TSL_OK;
  const triples_args<R> args = triples_args_of<R>(w);
  const int64_t first = a * w->p.block_rows, end = triples_block_end(&w->p, b - 1);
  const triples_blocks blocks = {(int)first, (int)w->p.block_rows, (const double *)w->slopes.data,
                                 sums};
  const dim3 grid((unsigned)tsl_ceil_div(w->p.n - first, 128), (unsigned)(b - a));
  TSL_CUDA_TRY(cudaMemsetAsync(sums, 0, (size_t)((b - a) * w->p.n * TRIPLES_SUMS) * sizeof(double),
                               w->stream));
  TSL_LAUNCH(columns_kernel<R>, grid, 128, 0, w->stream, args, blocks);
  TSL_LAUNCH(row_kernel<R>, dim3((unsigned)(end - first)), TRIPLES_LANES, 0, w->stream, args,
             blocks);
done:
  return err;
}

tsl_err triples_sums_run(const triples_gpu *w, int64_t a, int64_t b, double *sums) {
  return w->p.type == TSL_F64 ? launch_sums<double>(w, a, b, sums)
                              : launch_sums<float>(w, a, b, sums);
}
