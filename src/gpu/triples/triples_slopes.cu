/* axilrod_teller on a card. The slopes of a tile of pairs are a product of two matrices of sides
 * (triples_fn.h), computed as one: sides of the rows and of the columns with some third points lie
 * in shared memory, a thread has PART x PART pairs in registers. */
#include "triples_points.cuh"

enum {
  TILE = TRIPLES_TILE,
  SIDE = 16,          /* threads along rows and along columns of a tile */
  PART = TILE / SIDE, /* rows and columns of a thread */
  THIRD = 32,         /* third points in shared memory; divides TILE */
  THREADS = SIDE * SIDE
};

/* ----------------------------------------------------------------- slopes */

/* What a block of threads shares: points 0..TILE-1 are the rows, the others the columns. */
template <class R> struct shared_sides {
  R square[THIRD][2 * TILE], cube[THIRD][2 * TILE], fifth[THIRD][2 * TILE];
  R x[3][2 * TILE];
  double sums[PART * PART][THREADS];
};

/* Sides of all points of the tile with the third points [k, k + THIRD); beyond n they are none. A
 * thread has one point. */
template <class R, bool OPEN>
static __device__ __forceinline__ void fill(const triples_args<R> &args, shared_sides<R> *s,
                                            int k) {
  typedef triples_formulas<R> fn;
  const int c = (int)threadIdx.x % (2 * TILE), first = (int)threadIdx.x / (2 * TILE);
  const R point[3] = {s->x[0][c], s->x[1][c], s->x[2][c]};
  const R *const x = args.x + k, *const y = x + args.ld, *const z = y + args.ld;
#pragma unroll
  for (int m = first; m < THIRD; m += THREADS / (2 * TILE)) {
    const R third[3] = {x[m], y[m], z[m]};
    const R square = triples_square_between<R, OPEN>(args, third, point);
    const typename fn::side side =
        fn::side_of(square, k + m < args.n ? triples_cutoff2<R, OPEN>(args) : (R)-1);
    s->square[m][c] = side.square, s->cube[m][c] = side.cube, s->fifth[m][c] = side.fifth;
  }
}

/* PART numbers that follow each other; 16 bytes at a time. */
template <class R> static __device__ __forceinline__ void load(const R *from, R to[PART]) {
  constexpr int EACH = 16 / (int)sizeof(R);
#pragma unroll
  for (int v = 0; v < PART; v += EACH) {
    const int4 bits = *(const int4 *)(from + v);
    memcpy(to + v, &bits, sizeof bits);
  }
}

/* Terms of the third points in shared memory. */
template <class R>
static __device__ __forceinline__ void
add_terms(const shared_sides<R> *s, int row, int column,
          const typename triples_formulas<R>::pair (&pair)[PART][PART], R (&wz)[PART][PART],
          R (&q)[PART][PART]) {
  typedef triples_formulas<R> fn;
#pragma unroll 4
  for (int m = 0; m < THIRD; m++) {
    R a[3][PART], b[3][PART];
    load(&s->square[m][row], a[0]), load(&s->square[m][TILE + column], b[0]);
    load(&s->cube[m][row], a[1]), load(&s->cube[m][TILE + column], b[1]);
    load(&s->fifth[m][row], a[2]), load(&s->fifth[m][TILE + column], b[2]);
#pragma unroll
    for (int r = 0; r < PART; r++)
#pragma unroll
      for (int c = 0; c < PART; c++) {
        const typename fn::side ik = {a[0][r], a[1][r], a[2][r]};
        const typename fn::side jk = {b[0][c], b[1][c], b[2][c]};
        fn::term(pair[r][c], ik, jk, &wz[r][c], &q[r][c]);
      }
  }
}

/* Pairs of the thread before the loop over third points. */
template <class R>
static __device__ __forceinline__ typename triples_formulas<R>::side
side_of_pair(const triples_args<R> &args, const shared_sides<R> *s, int row, int column) {
  const R a[3] = {s->x[0][row], s->x[1][row], s->x[2][row]};
  const R b[3] = {s->x[0][TILE + column], s->x[1][TILE + column], s->x[2][TILE + column]};
  return triples_side_between<R, false>(args, a, b);
}

/* A block of threads: rows of tile first + blockIdx.y, columns of tile first + blockIdx.x. OPEN:
 * neither box nor cut-off. */
template <class R, bool OPEN>
static __global__ void __launch_bounds__(THREADS, sizeof(R) == 4 ? 2 : 1)
    slopes_kernel(triples_args<R> args, int first, double *slopes) {
  extern __shared__ __align__(16) char memory[];
  shared_sides<R> *const s = (shared_sides<R> *)memory;
  typedef triples_formulas<R> fn;
  const int t = (int)threadIdx.x, row = t / SIDE * PART, column = t % SIDE * PART;
  const int i0 = (first + (int)blockIdx.y) * TILE, j0 = (first + (int)blockIdx.x) * TILE;
  typename fn::pair pair[PART][PART];
  R wz[PART][PART], q[PART][PART];
  if (j0 < i0) return;
  for (int e = t; e < 3 * 2 * TILE; e += THREADS) {
    const int k = e / (2 * TILE), c = e % (2 * TILE);
    s->x[k][c] = args.x[k * args.ld + (c < TILE ? i0 + c : j0 + c - TILE)];
  }
  __syncthreads();
#pragma unroll
  for (int p = 0; p < PART * PART; p++) {
    pair[p / PART][p % PART] =
        fn::pair_of(side_of_pair(args, s, row + p / PART, column + p % PART).square);
    wz[p / PART][p % PART] = q[p / PART][p % PART] = (R)0;
    s->sums[p][t] = 0;
  }
  for (int k = 0; k < args.n; k += THIRD) {
    fill<R, OPEN>(args, s, k);
    __syncthreads();
    add_terms(s, row, column, pair, wz, q);
    __syncthreads();
    if ((k + THIRD) % TILE != 0 && k + THIRD < args.n) continue;
#pragma unroll
    for (int p = 0; p < PART * PART; p++) {
      s->sums[p][t] +=
          fn::sum(pair[p / PART][p % PART], wz[p / PART][p % PART], q[p / PART][p % PART]);
      wz[p / PART][p % PART] = q[p / PART][p % PART] = (R)0;
    }
  }
#pragma unroll
  for (int p = 0; p < PART * PART; p++) {
    const int i = i0 + row + p / PART, j = j0 + column + p % PART;
    const typename fn::side side = side_of_pair(args, s, row + p / PART, column + p % PART);
    const double slope = triples_slope((double)side.square, (double)side.fifth, s->sums[p][t]);
    slopes[(int64_t)(i - first * TILE) * args.ld + j] = j > i && j < args.n ? slope : 0.0;
  }
}

template <class R, bool OPEN>
static tsl_err launch_slopes(const triples_gpu *w, int64_t first, int64_t tiles) {
  tsl_err err = TSL_OK;
  const triples_args<R> args = triples_args_of<R>(w);
  void (*const kernel)(triples_args<R>, int, double *) = slopes_kernel<R, OPEN>;
  const int bytes = (int)sizeof(shared_sides<R>);
  const dim3 grid((unsigned)(w->p.n_pad / TILE - first), (unsigned)tiles);
  TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  TSL_LAUNCH(kernel, grid, THREADS, bytes, w->stream, args, (int)first, (double *)w->slopes.data);
done:
  return err;
}

template <class R> static tsl_err run_slopes(const triples_gpu *w, int64_t first, int64_t tiles) {
  bool open = isinf(w->p.cutoff);
  for (double edge : w->p.box) open = open && isinf(edge);
  return open ? launch_slopes<R, true>(w, first, tiles) : launch_slopes<R, false>(w, first, tiles);
}

/* Tiles of rows before a block. */
static int64_t tiles_before(const triples_params *p, int64_t block) {
  const int64_t tiles = block * (p->block_rows / TILE), all = p->n_pad / TILE;
  return tiles < all ? tiles : all;
}

tsl_err triples_slopes_run(const triples_gpu *w, int64_t a, int64_t b) {
  const int64_t first = tiles_before(&w->p, a), tiles = tiles_before(&w->p, b) - first;
  return w->p.type == TSL_F64 ? run_slopes<double>(w, first, tiles)
                              : run_slopes<float>(w, first, tiles);
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
