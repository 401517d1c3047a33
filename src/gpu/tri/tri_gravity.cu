/* Softened gravity: accelerations and potential of a range of rows from all points.
 *
 * The n points that are summed over are cut into tiles of 256 and the tiles into segments; both
 * depend on n alone. One block sums one segment for its rows: a tile in type R, in ascending order
 * of j, then added to fp64 sums in ascending order of tiles. A second kernel adds the segments in
 * ascending order. So the bits of a row do not depend on which rows are computed together, and
 * batches of a few thousand rows still are many rounds of blocks. fp32 uses rsqrt.approx.ftz
 * (relative error 2^-22.9); fp64 uses rsqrt (1 ulp). */
#include "gpu.cuh"
#include "tri_gpu.cuh"

enum { TILE = 256, THREADS = 128, SEGMENT_POINTS = 4096, MAX_SEGMENTS = 256, SUMS = 4 };
enum { SCRATCH_MEGABYTES = 512 };

/* Rows of a thread. */
template <class R> struct rows_of { static constexpr int value = sizeof(R) == 4 ? 4 : 2; };

template <class R> struct alignas(4 * sizeof(R)) body { R x, y, z, m; };

/* Rows [a, a + rows), places, against all n columns; a launch begins at row a + first. */
template <class R> struct gravity_job {
  const R *x, *m;
  int64_t n_pad;
  int n, a, rows, first, tiles; /* tiles: of a segment */
  R eps2;
  double *partial; /* [segments][SUMS][rows] */
};

static __device__ __forceinline__ float inverse_root(float r2) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r2));
  return y;
}
static __device__ __forceinline__ double inverse_root(double r2) {
  return rsqrt(r2);
}

/* Add body b to the sums of the point at p: 0..2 acceleration, 3 potential, over G (and m if
 * EQUAL). use: false for the point itself and for padding; looked at only if MASKED. */
template <bool EQUAL, bool MASKED, class R>
static __device__ __forceinline__ void interact(const body<R> &b, const R (&p)[3], R eps2, bool use,
                                                R (&s)[SUMS]) {
  const R dx = b.x - p[0], dy = b.y - p[1], dz = b.z - p[2];
  R inv = inverse_root(fma(dz, dz, fma(dy, dy, fma(dx, dx, eps2))));
  if (MASKED) inv = use ? inv : (R)0;
  const R first = EQUAL ? inv : b.m * inv;
  const R w = first * (inv * inv);
  s[0] = fma(dx, w, s[0]);
  s[1] = fma(dy, w, s[1]);
  s[2] = fma(dz, w, s[2]);
  s[3] += first;
}

template <class R>
static __device__ __forceinline__ void load_tile(const gravity_job<R> &job, int first,
                                                 body<R> *tile) {
  for (int t = threadIdx.x; t < TILE; t += THREADS) {
    const int j = min(first + t, job.n - 1);
    tile[t].x = __ldg(job.x + j);
    tile[t].y = __ldg(job.x + job.n_pad + j);
    tile[t].z = __ldg(job.x + 2 * job.n_pad + j);
    tile[t].m = job.m != NULL ? __ldg(job.m + j) : (R)1;
  }
}

/* All bodies of a tile on the thread's rows i[q]. */
template <bool EQUAL, bool MASKED, class R, int Q>
static __device__ __forceinline__ void sum_tile(const gravity_job<R> &job, const body<R> *tile,
                                                int first, const int (&i)[Q], const R (&p)[Q][3],
                                                R (&s)[Q][SUMS]) {
#pragma unroll 8
  for (int t = 0; t < TILE; t++) {
    const body<R> b = tile[t];
    const int j = first + t;
#pragma unroll
    for (int q = 0; q < Q; q++)
      interact<EQUAL, MASKED>(b, p[q], job.eps2, j < job.n && j != i[q], s[q]);
  }
}

template <class R, bool EQUAL, int Q>
static __global__ void __launch_bounds__(THREADS) gravity_kernel(gravity_job<R> job) {
  __shared__ body<R> tile[TILE];
  const int row0 = job.first + (int)blockIdx.x * THREADS * Q;
  const int begin = job.a + row0, end = begin + THREADS * Q;
  int i[Q];
  R p[Q][3];
  double sum[Q][SUMS] = {};
#pragma unroll
  for (int q = 0; q < Q; q++) {
    i[q] = begin + q * THREADS + (int)threadIdx.x;
#pragma unroll
    for (int k = 0; k < 3; k++)
      p[q][k] = __ldg(job.x + k * job.n_pad + min(i[q], job.a + job.rows - 1));
  }
  for (int t = 0; t < job.tiles; t++) {
    const int64_t at = ((int64_t)blockIdx.y * job.tiles + t) * TILE;
    if (at >= job.n) break;
    const int first = (int)at;
    R s[Q][SUMS] = {};
    __syncthreads();
    load_tile(job, first, tile);
    __syncthreads();
    if (first + TILE <= job.n && (first >= end || first + TILE <= begin))
      sum_tile<EQUAL, false>(job, tile, first, i, p, s);
    else
      sum_tile<EQUAL, true>(job, tile, first, i, p, s);
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
      for (int c = 0; c < SUMS; c++) sum[q][c] += (double)s[q][c];
  }
#pragma unroll
  for (int q = 0; q < Q; q++) {
    const int row = i[q] - job.a;
#pragma unroll
    for (int c = 0; c < SUMS; c++)
      if (row < job.rows)
        job.partial[((int64_t)blockIdx.y * SUMS + c) * job.rows + row] = sum[q][c];
  }
}

/* acc[row][k] = per_acc * sum over segments; phi[row] = -per_phi * sum. */
static __global__ void combine_kernel(const double *partial, int segments, int rows, int d,
                                      double per_acc, double per_phi, double *acc, double *phi) {
  const int row = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < SUMS; c++) {
    double sum = 0;
    if (c < 3 && c >= d) continue;
    for (int s = 0; s < segments; s++) sum += partial[((int64_t)s * SUMS + c) * rows + row];
    if (c < 3)
      acc[(int64_t)row * d + c] = per_acc * sum;
    else
      phi[row] = -per_phi * sum;
  }
}

/* Values over 2^exponent, exactly. */
static __global__ void scale_kernel(float *values, int64_t n, int exponent) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) values[k] = scalbnf(values[k], -exponent);
}

static tsl_err scale(const tri_gpu *w, void *values, int64_t n, int exponent) {
  tsl_err err = TSL_OK;
  if (n == 0 || exponent == 0) return TSL_OK;
  TSL_LAUNCH(scale_kernel, dim3((unsigned)tsl_ceil_div(n, 256)), 256, 0, w->stream, (float *)values,
             n, exponent);
done:
  return err;
}

tsl_err tri_gravity_upload(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_gravity_units(w->problem, &w->length, &w->weight);
  TSL_TRY(scale(w, w->points.data, 3 * w->p.n_pad, w->length));
  TSL_TRY(scale(w, w->extras.data, w->p.n_pad, w->weight));
done:
  return err;
}

static int segments_of(int64_t n) {
  const int64_t wanted = tsl_ceil_div(n, SEGMENT_POINTS);
  return wanted < 1 ? 1 : wanted > MAX_SEGMENTS ? (int)MAX_SEGMENTS : (int)wanted;
}

int64_t tri_gravity_bytes(const tri_gpu *w, int64_t rows) {
  return (int64_t)segments_of(tri_columns_of(&w->p)) * SUMS * (int64_t)sizeof(double) * rows;
}

int64_t tri_gravity_rows(const tri_gpu *w, int64_t rows) {
  const int64_t most = (int64_t)SCRATCH_MEGABYTES * 1048576 / tri_gravity_bytes(w, 1);
  return rows < most ? rows : most;
}

/* Blocks of THREADS * Q rows from row a + first on. */
template <class R, int Q>
static tsl_err tri_gravity_launch(const tri_gpu *w, gravity_job<R> job, int first, int64_t blocks,
                                  cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)blocks, (unsigned)segments_of(tri_columns_of(&w->p)));
  job.first = first;
  if (w->p.mass != 0)
    TSL_LAUNCH((gravity_kernel<R, true, Q>), grid, THREADS, 0, stream, job);
  else
    TSL_LAUNCH((gravity_kernel<R, false, Q>), grid, THREADS, 0, stream, job);
done:
  return err;
}

/* The rows from a + first on, which fill no block, with no more rows in a thread than they need: of
 * a few thousand rows, idle threads would be several per cent. */
template <class R, int Q>
static tsl_err launch_rest(const tri_gpu *w, const gravity_job<R> &job, int first,
                           cudaStream_t stream) {
  if constexpr (Q > 1)
    if (job.rows - first <= (Q - 1) * THREADS) return launch_rest<R, Q - 1>(w, job, first, stream);
  return tri_gravity_launch<R, Q>(w, job, first, job.rows > first, stream);
}

template <class R>
static tsl_err sums(const tri_gpu *w, int64_t lo, int64_t hi, double *partial, cudaStream_t stream,
                    cudaStream_t rest) {
  tsl_err err = TSL_OK;
  constexpr int Q = rows_of<R>::value;
  const bool equal = w->p.mass != 0;
  const int64_t n = tri_columns_of(&w->p);
  gravity_job<R> job = {};
  int64_t blocks = 0;
  job.x = (const R *)w->points.data;
  job.m = equal ? NULL : (const R *)w->extras.data;
  job.n_pad = w->p.n_pad;
  job.n = (int)n;
  job.a = (int)(w->p.first + lo);
  job.rows = (int)(hi - lo);
  job.tiles = (int)tsl_ceil_div(tsl_ceil_div(n, TILE), segments_of(n));
  job.eps2 = (R)ldexp(w->p.softening, -w->length) * (R)ldexp(w->p.softening, -w->length);
  job.partial = partial;
  blocks = job.rows / (THREADS * Q);
  TSL_TRY((tri_gravity_launch<R, Q>(w, job, 0, blocks, stream)));
  TSL_TRY((launch_rest<R, Q>(w, job, (int)blocks * THREADS * Q, rest)));
done:
  return err;
}

tsl_err tri_gravity_sums(const tri_gpu *w, int64_t lo, int64_t hi, double *partial,
                         cudaStream_t stream, cudaStream_t rest) {
  return w->p.type == TSL_F64 ? sums<double>(w, lo, hi, partial, stream, rest)
                              : sums<float>(w, lo, hi, partial, stream, rest);
}

tsl_err tri_gravity_combine(const tri_gpu *w, const double *partial, int64_t rows, double *acc,
                            double *phi, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const double factor = w->p.constant * (w->p.mass != 0 ? w->p.mass : 1.0);
  TSL_LAUNCH(combine_kernel, dim3((unsigned)tsl_ceil_div(rows, 256)), 256, 0, stream, partial,
             segments_of(tri_columns_of(&w->p)), (int)rows, (int)w->p.d_read,
             ldexp(factor, w->weight - 2 * w->length), ldexp(factor, w->weight - w->length), acc,
             phi);
done:
  return err;
}
