/* From the density matrix to P of a piece, and from M of a piece to the matrix of the basis.
 *
 * The sum over pieces is one of 64-bit integers, value times 2^52: exact and in any order the same.
 * A value of 512 or more sets a flag. That no sum passes 2048 unseen: values below `small`, which
 * is 512 over the number of all pieces, together stay below 512; each larger one looks at the sum
 * it makes, which must stay below 1024. Only the lower triangle is summed, M + M^T. */
#include "xc_gpu.cuh"

#include <limits.h>

enum { MATRIX_BLOCK = 256, TILE = 32, ROWS = 8 };

/* P[j][i] of the padded functions; zero beyond the functions. Block (rows, piece). */
template <class R>
static __global__ void gather_kernel(const xc_piece *pieces, const int32_t *places,
                                     const double *density, int64_t n) {
  const xc_piece k = pieces[blockIdx.y];
  const int j = (int)(blockIdx.x * ROWS + threadIdx.y);
  if (j >= k.pad) return;
  const int32_t *const place = places + k.place;
  const double *const from = density + (j < k.b ? place[j] * n : 0);
  R *const to = (R *)k.square + (int64_t)j * k.pad;
  for (int i = (int)threadIdx.x; i < k.pad; i += TILE)
    to[i] = i < k.b && j < k.b ? (R)from[place[i]] : (R)0;
}

static __device__ void xc_gpu_matrix_add(unsigned long long *sum, double value, double small,
                                         int32_t group, unsigned long long *flag) {
  const long long fixed = __double2ll_rn(value * 0x1p52);
  if (fabs(value) < small)
    atomicAdd(sum, (unsigned long long)fixed);
  else if (fabs(value) < 512) {
    const long long now = (long long)atomicAdd(sum, (unsigned long long)fixed) + fixed;
    if (now >= (1LL << 62) || now <= -(1LL << 62)) atomicMin(flag, (unsigned long long)group);
  } else /* NaN too */
    atomicMin(flag, (unsigned long long)group);
}

/* Tiles of the lower triangle. Block (tile, piece). */
template <class R>
static __global__ void scatter_kernel(const xc_piece *pieces, const int32_t *places, int64_t n,
                                      double small, unsigned long long *sums,
                                      unsigned long long *flag) {
  __shared__ R turned[TILE][TILE + 1];
  const xc_piece k = pieces[blockIdx.y];
  const int t = (int)blockIdx.x;
  int row = (int)((sqrtf(8.0f * (float)t + 1) - 1) * 0.5f);
  while ((row + 1) * (row + 2) / 2 <= t) row++;
  while (row * (row + 1) / 2 > t) row--;
  const int i0 = row * TILE, j0 = (t - row * (row + 1) / 2) * TILE;
  if (i0 >= k.b) return;
  const R *const m = (const R *)k.square;
  const int32_t *const place = places + k.place;
  const int x = (int)threadIdx.x;
  for (int y = (int)threadIdx.y; y < TILE; y += ROWS)
    if (j0 + y < k.b && i0 + x < k.b) turned[y][x] = m[(j0 + y) * k.pad + i0 + x];
  __syncthreads();
  for (int y = (int)threadIdx.y; y < TILE; y += ROWS) {
    const int i = i0 + y, j = j0 + x;
    if (i >= k.b || j > i) continue;
    const double value = (double)m[i * k.pad + j] + (double)turned[x][y];
    if (value != 0) xc_gpu_matrix_add(&sums[place[i] * n + place[j]], value, small, k.group, flag);
  }
}

static __device__ void xc_gpu_matrix_put(double *to, long long sum) {
  *to = (double)sum * 0x1p-52;
}
static __device__ void xc_gpu_matrix_put(int64_t *to, long long sum) {
  *to = sum;
}

/* Both triangles as doubles or as they are; shape [spins][n][n]. */
template <class T>
static __global__ void matrix_kernel(const unsigned long long *sums, T *matrix, int64_t n,
                                     int64_t count) {
  const int64_t at = (int64_t)blockIdx.x * MATRIX_BLOCK + threadIdx.x;
  if (at >= count) return;
  const int64_t spin = at / (n * n), i = at % (n * n) / n, j = at % n;
  const int64_t from = (spin * n + (i > j ? i : j)) * n + (i > j ? j : i);
  xc_gpu_matrix_put(&matrix[at], (long long)sums[from]);
}

tsl_err xc_gather_run(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n;
  const double *density = (const double *)w->densities.data + spin * n * n;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_pad, ROWS), (unsigned)batch->n);
  if (w->single)
    TSL_LAUNCH((gather_kernel<float>), grid, dim3(TILE, ROWS), 0, w->stream, batch->card,
               (const int32_t *)w->places.data, density, n);
  else
    TSL_LAUNCH((gather_kernel<double>), grid, dim3(TILE, ROWS), 0, w->stream, batch->card,
               (const int32_t *)w->places.data, density, n);
done:
  return err;
}

tsl_err xc_scatter_run(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n, tiles = tsl_ceil_div(batch->most_pad, TILE);
  unsigned long long *sums = (unsigned long long *)w->sums.data + spin * n * n;
  unsigned long long *flag = (unsigned long long *)w->flag.data;
  const dim3 grid((unsigned)(tiles * (tiles + 1) / 2), (unsigned)batch->n), block(TILE, ROWS);
  if (w->single)
    TSL_LAUNCH((scatter_kernel<float>), grid, block, 0, w->stream, batch->card,
               (const int32_t *)w->places.data, n, w->small, sums, flag);
  else
    TSL_LAUNCH((scatter_kernel<double>), grid, block, 0, w->stream, batch->card,
               (const int32_t *)w->places.data, n, w->small, sums, flag);
done:
  return err;
}

tsl_err xc_matrix_run(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t count = w->p->n_spin * w->p->n * w->p->n;
  const unsigned long long *sums = (const unsigned long long *)w->sums.data;
  const unsigned blocks = (unsigned)tsl_ceil_div(count, MATRIX_BLOCK);
  if (w->p->reproducible)
    TSL_LAUNCH((matrix_kernel<int64_t>), blocks, MATRIX_BLOCK, 0, w->stream, sums,
               (int64_t *)w->matrix.data, w->p->n, count);
  else
    TSL_LAUNCH((matrix_kernel<double>), blocks, MATRIX_BLOCK, 0, w->stream, sums,
               (double *)w->matrix.data, w->p->n, count);
done:
  return err;
}

tsl_err xc_matrix_check(xc_gpu *w) {
  tsl_err err = TSL_OK;
  unsigned long long flag = ULLONG_MAX;
  TSL_TRY(tsl_gpu_copy(w, &flag, w->flag.data, sizeof flag));
  if (flag != ULLONG_MAX)
    TSL_FAIL(
        TSL_ERR_NUMERIC,
        "card %s: the exchange-correlation matrix, or its gradient, of group %llu is not finite, "
        "or beyond 512 hartree",
        tsl_gpu_card(), flag);
done:
  return err;
}
