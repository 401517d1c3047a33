/* Groups of non-local correlation (xc_nonlocal.h): densities at their points, which leave the card;
 * points that meet all sites, each a thread's, in the order of the sites as on a socket. */
#include "xc_gpu_slices.cuh"

/* ------------------------------------------------------------------- memory */

tsl_err xc_nonlocal_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n_nonlocal_points;
  if (n == 0) goto done;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->nonlocal.rows, 8 * XC_N_NONLOCAL * n,
                          "points of non-local correlation"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->nonlocal.densities, 8 * XC_NONLOCAL_OMEGA * n,
                          "densities of points"));
done:
  return err;
}

double xc_nonlocal_bytes(const xc_params *p) {
  return 8.0 * (XC_N_NONLOCAL + XC_NONLOCAL_OMEGA) * (double)p->n_nonlocal_points;
}

void xc_nonlocal_close(xc_gpu *w) {
  tsl_gpu_release(&w->memory, &w->nonlocal.rows);
  tsl_gpu_release(&w->memory, &w->nonlocal.densities);
}

tsl_err xc_nonlocal_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_gpu_nonlocal *n = &w->nonlocal;
  if (n->rows.data == NULL) goto done;
  n->sites = xc_nonlocal_sites_of(w->problem);
  TSL_CUDA_TRY(cudaMemsetAsync(n->densities.data, 0, (size_t)n->densities.bytes, w->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(n->rows.data, xc_nonlocal_row(w->problem, 0), (size_t)n->rows.bytes,
                               cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

tsl_err xc_nonlocal_collect(xc_gpu *w, double *densities) {
  tsl_err err = TSL_OK;
  const xc_gpu_nonlocal *n = &w->nonlocal;
  if (n->densities.data == NULL) goto done;
  TSL_TRY(tsl_gpu_copy(w, densities, n->densities.data, n->densities.bytes));
done:
  return err;
}

/* ---------------------------------------------------------------- densities */

/* Block (points, piece): both spins together; rows of n points, of which the piece has those from
 * k.first - before on. */
static __global__ void densities_kernel(const xc_piece *pieces, const double *arrays,
                                        int64_t stride, bool two, double *to, int64_t n,
                                        int64_t before) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_SLICE + threadIdx.x);
  if (p >= k.n) return;
  const double *const from = arrays + k.points + p;
  for (int c = 0; c < XC_NONLOCAL_OMEGA; c++) {
    const int a = c == XC_NONLOCAL_RHO ? 0 : 1 + c, step = c == XC_NONLOCAL_RHO ? 1 : 3;
    double sum = from[a * stride];
    if (two) sum += from[(a + step) * stride];
    to[c * n + k.first - before + p] = sum;
  }
}

tsl_err xc_nonlocal_densities_run(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, XC_SLICE), (unsigned)batch->n);
  TSL_LAUNCH(densities_kernel, grid, XC_SLICE, 0, w->stream, batch->card, batch->arrays,
             batch->stride, w->p->n_spin == 2, (double *)w->nonlocal.densities.data,
             w->p->n_nonlocal_points, xc_local_points(w->p));
done:
  return err;
}

/* -------------------------------------------------------------------- pairs */

/** What points know of each other; owners NULL: they stay. */
struct meeting {
  const double *rows;   /**< XC_IN_NONLOCAL */
  const double *points; /**< x y z w of all points */
  int64_t n, n_points, before, sites;
  xc_vv10 f;
  unsigned long long *atoms, *flag;
  const int32_t *owners;
  double scale;
};

/* Tiles of sites pass through shared memory; all threads of a block come along. */
template <bool SLOPES>
static __device__ __forceinline__ void meet(const meeting &m, const double at[3], xc_vv10_site own,
                                            xc_vv10_sums *sums) {
  __shared__ double tile[XC_N_SITE_ROWS][XC_SLICE];
  const double *const far = m.rows + XC_NONLOCAL_SITES * m.n;
  for (int64_t begin = 0; begin < m.sites; begin += XC_SLICE) {
    const int count = (int)(m.sites - begin < XC_SLICE ? m.sites - begin : XC_SLICE);
    __syncthreads();
    for (int r = 0; r < XC_N_SITE_ROWS && (int)threadIdx.x < count; r++)
      tile[r][threadIdx.x] = far[r * m.n + begin + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < count; j++) {
      const double d[3] = {at[0] - tile[0][j], at[1] - tile[1][j], at[2] - tile[2][j]};
      const xc_vv10_site site = {tile[3][j], tile[4][j]};
      xc_vv10_add(own, site, tile[5][j], d, sums);
      if (SLOPES) xc_vv10_add_slope(own, site, tile[5][j], d, sums);
    }
  }
}

/* Block (slice, piece); as functional_kernel sets scales, amounts and the slice's energy. */
template <bool SLOPES>
static __global__ void __launch_bounds__(XC_SLICE)
    meet_kernel(const xc_piece *pieces, const meeting m, bool whole, double *arrays, int64_t stride,
                double *partials) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_SLICE + threadIdx.x);
  if ((int)(blockIdx.x * XC_SLICE) >= k.n) return;
  const bool inside = p < k.n;
  const double *const row = m.rows + k.first - m.before + p;
  double at[3] = {0, 0, 0}, slope[3] = {0, 0, 0}, sigma = 0, sums[XC_N_INTEGRALS] = {};
  for (int x = 0; x < 3 && inside; x++) {
    at[x] = m.points[x * m.n_points + k.first + p];
    slope[x] = row[(XC_NONLOCAL_SLOPE + x) * m.n];
  }
  for (int x = 0; x < 3; x++) sigma += slope[x] * slope[x];
  const double rho = inside ? row[0] : 0, w = inside ? m.points[3 * m.n_points + k.first + p] : 0;
  const xc_vv10_site own = {inside ? row[XC_NONLOCAL_OMEGA * m.n] : 0,
                            inside ? row[XC_NONLOCAL_KAPPA * m.n] : 1};
  xc_vv10_sums met = {};
  xc_vv10_point o = {};
  meet<SLOPES>(m, at, own, &met);
  if (rho >= XC_VV10_LEAST) o = xc_vv10_finish(m.f, xc_vv10_beta(m.f.b), rho, sigma, own, &met);
  double *const to = arrays + k.points + p;
  for (int s = 0; s < 2 && p < k.ld; s++) {
    to[(XC_INPUTS + 4 * s) * stride] = 0.5 * w * o.vrho;
    for (int x = 0; x < 3; x++)
      to[(XC_INPUTS + 4 * s + 1 + x) * stride] = 2 * w * o.vsigma * slope[x];
  }
  if (p < k.ld) to[XC_AMOUNT * stride] = w * (whole ? o.whole : o.e);
  sums[XC_INTEGRAL_ENERGY] = w * o.e;
  xc_add_slice(sums, partials + (k.slice + blockIdx.x) * XC_N_INTEGRALS);
  if (!SLOPES || !(rho >= XC_VV10_LEAST)) return;
  unsigned long long *const owner = &m.atoms[3 * m.owners[k.first + p]];
  for (int x = 0; x < 3; x++)
    xc_gradient_add(&owner[x], 2 * w * rho * met.at[x], m.scale, k.group, m.flag);
}

tsl_err xc_nonlocal_run(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, XC_SLICE), (unsigned)batch->n);
  const bool gradient = w->task == XC_TASK_GRADIENT;
  const meeting m = {(const double *)w->nonlocal.rows.data,
                     (const double *)w->points.data,
                     p->n_nonlocal_points,
                     p->n_points,
                     xc_local_points(p),
                     w->nonlocal.sites,
                     p->functional.nonlocal,
                     (unsigned long long *)w->gradient.groups.data,
                     (unsigned long long *)w->flag.data,
                     (const int32_t *)w->gradient.owners.data,
                     xc_gradient_scale(p)};
  if (gradient && m.owners != NULL)
    TSL_LAUNCH(meet_kernel<true>, grid, XC_SLICE, 0, w->stream, batch->card, m, gradient,
               batch->arrays, batch->stride, (double *)w->partials.data);
  else
    TSL_LAUNCH(meet_kernel<false>, grid, XC_SLICE, 0, w->stream, batch->card, m, gradient,
               batch->arrays, batch->stride, (double *)w->partials.data);
done:
  return err;
}
