/* Values and gradients of functions at points. Computed in double whatever they are kept as. */
#include "xc_gpu.cuh"

#include "xc_functions.h"

enum { FUNCTION_BLOCK = 128, SHELLS = 16 }; /* points of a block; shells of it */

/* One shell at one point: rows of the piece from `out` on. */
template <int L, int SPHERICAL, class R, bool GGA>
static __device__ __forceinline__ void store_shell(double x, double y, double z, double f, double g,
                                                   R *out, int64_t ld, int64_t block) {
  constexpr int SIZE = SPHERICAL ? 2 * L + 1 : (L + 1) * (L + 2) / 2;
  double v[XC_MAX_FUNCTIONS], dx[XC_MAX_FUNCTIONS], dy[XC_MAX_FUNCTIONS], dz[XC_MAX_FUNCTIONS];
  xc_functions_f64(L, SPHERICAL, x, y, z, f, g, v, dx, dy, dz);
#pragma unroll
  for (int i = 0; i < SIZE; i++) {
    R *to = out + i * ld;
    to[0] = (R)v[i];
    if (GGA) to[block] = (R)dx[i], to[2 * block] = (R)dy[i], to[3 * block] = (R)dz[i];
  }
}

#define KIND(l, spherical)                                           \
  case 2 * (l) + (spherical):                                        \
    store_shell<l, spherical, R, GGA>(x, y, z, f, g, to, ld, block); \
    break;

/* Points outside the piece get f = g = 0: zeros. */
template <class R, bool GGA>
static __device__ __forceinline__ void do_shell(const xc_shell *shell, const double at[3],
                                                bool inside, R *to, int64_t ld, int64_t block) {
  const double x = at[0] - shell->at[0], y = at[1] - shell->at[1], z = at[2] - shell->at[2];
  double f = 0, g = 0;
  if (inside)
    xc_radial_f64(shell->n, shell->exponent, shell->coefficient, x * x + y * y + z * z, &f, &g);
  switch (2 * shell->l + (shell->spherical != 0)) { XC_SHELL_KINDS(KIND) }
}

/* Block (points, piece, shells). */
template <class R, bool GGA>
static __global__ void functions_kernel(const xc_piece *pieces, const xc_shell *shells,
                                        const int32_t *lists, const int32_t *rows_of,
                                        const double *points, int64_t n_points) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * FUNCTION_BLOCK + threadIdx.x), from = (int)blockIdx.z * SHELLS;
  const int64_t ld = k.ld, block = ld * k.pad;
  const bool inside = p < k.n;
  double at[3] = {0, 0, 0};
  if (k.ready || p >= k.ld || from >= k.n_shells) return;
  R *const column = (R *)k.phi + p;
  for (int x = 0; x < 3 && inside; x++) at[x] = points[x * n_points + k.first + p];
  for (int s = from; s < from + SHELLS && s < k.n_shells; s++)
    do_shell<R, GGA>(&shells[lists[k.list + s]], at, inside, column + rows_of[k.list + s] * ld, ld,
                     block);
  if (from > 0) return;
  for (int i = k.b; i < k.pad; i++)
    for (int x = 0; x < (GGA ? 4 : 1); x++) column[x * block + i * ld] = 0;
}

template <class R, bool GGA> static tsl_err run(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, FUNCTION_BLOCK), (unsigned)batch->n,
                  (unsigned)tsl_ceil_div(batch->most_shells, SHELLS));
  TSL_LAUNCH((functions_kernel<R, GGA>), grid, FUNCTION_BLOCK, 0, w->stream, batch->card,
             (const xc_shell *)w->shells.data, (const int32_t *)w->lists.data,
             (const int32_t *)w->rows_of.data, (const double *)w->points.data, w->p->n_points);
done:
  return err;
}

tsl_err xc_functions_run(xc_gpu *w, const xc_batch *batch) {
  bool any = false;
  for (int64_t k = 0; k < batch->n; k++) any = any || !batch->host[k].ready;
  if (!any) return TSL_OK;
  if (w->p->functional.gga)
    return w->single ? run<float, true>(w, batch) : run<double, true>(w, batch);
  return w->single ? run<float, false>(w, batch) : run<double, false>(w, batch);
}
