/* Density from X, and Z from the scales: each thread one point, warps share the functions. */
#include "xc_gpu.cuh"

enum { POINT_WARPS = 8 };

/* Sum the warps' parts in their order. */
template <int N> static __device__ __forceinline__ void add_warps(double (&v)[N]) {
  __shared__ double all[N][POINT_WARPS][XC_LANES];
#pragma unroll
  for (int k = 0; k < N; k++) all[k][threadIdx.y][threadIdx.x] = v[k];
  __syncthreads();
  if (threadIdx.y != 0) return;
#pragma unroll
  for (int k = 0; k < N; k++)
    for (int y = 1; y < POINT_WARPS; y++) v[k] += all[k][y][threadIdx.x];
}

/* rho = factor sum x_i phi_i, gradient = 2 factor sum x_i grad phi_i. Block (points, piece). */
template <class R, bool GGA>
static __global__ void __launch_bounds__(POINT_WARPS *XC_LANES)
    density_kernel(const xc_piece *pieces, double factor, double *arrays, int64_t stride,
                   int spin) {
  constexpr int N = GGA ? 4 : 1;
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_LANES + threadIdx.x);
  const int64_t ld = k.ld, block = ld * k.pad;
  const R *const x = (const R *)k.x + p, *const phi = (const R *)k.phi + p;
  double sum[N] = {};
  if (p >= k.ld) return; /* whole blocks: ld is a multiple of the lanes */
#pragma unroll 4
  for (int i = (int)threadIdx.y; i < k.b; i += POINT_WARPS) {
    const double xi = (double)x[i * ld];
#pragma unroll
    for (int c = 0; c < N; c++) sum[c] = fma(xi, (double)phi[c * block + i * ld], sum[c]);
  }
  add_warps(sum);
  if (threadIdx.y != 0) return;
  double *const to = arrays + k.points + p;
  to[spin * stride] = factor * sum[0];
#pragma unroll
  for (int c = 1; c < N; c++) to[(2 + 3 * spin + c - 1) * stride] = 2 * factor * sum[c];
}

/* tau += factor sum x_i phi_i with X, in its block, and phi of one component of the gradients. */
template <class R>
static __global__ void __launch_bounds__(POINT_WARPS *XC_LANES)
    tau_kernel(const xc_piece *pieces, double factor, double *arrays, int64_t stride, int spin,
               int component, int64_t place) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_LANES + threadIdx.x);
  const int64_t ld = k.ld, block = ld * k.pad;
  const R *const x = (const R *)k.x + place * block + p, *const phi = (const R *)k.phi +
                                                                      component * block + p;
  double sum[1] = {};
  if (p >= k.ld) return;
#pragma unroll 4
  for (int i = (int)threadIdx.y; i < k.b; i += POINT_WARPS)
    sum[0] = fma((double)x[i * ld], (double)phi[i * ld], sum[0]);
  add_warps(sum);
  if (threadIdx.y != 0) return;
  double *const to = arrays + (XC_TAU_IN + spin) * stride + k.points + p;
  *to = factor * sum[0] + (component > 1 ? *to : 0);
}

/* z_i = scale dphi_i of one component, in place of x. */
template <class R>
static __global__ void __launch_bounds__(POINT_WARPS *XC_LANES)
    curve_kernel(const xc_piece *pieces, const double *scales, int64_t stride, int spin,
                 int component) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_LANES + threadIdx.x);
  const int64_t ld = k.ld, block = ld * k.pad;
  const R *const __restrict__ phi = (const R *)k.phi + component * block + p;
  R *const __restrict__ z = (R *)k.x + p;
  if (p >= k.ld) return;
  const double scale = scales[(XC_TAU_SCALE + spin) * stride + k.points + p];
#pragma unroll 4
  for (int i = (int)threadIdx.y; i < k.pad; i += POINT_WARPS)
    z[i * ld] = (R)(scale * (double)phi[i * ld]);
}

/* z_i = a phi_i + b . grad phi_i, in place of x; psi: 2 a phi_i + b . grad phi_i. */
template <class R, bool GGA, bool PSI>
static __global__ void __launch_bounds__(POINT_WARPS *XC_LANES)
    potential_kernel(const xc_piece *pieces, const double *scales, int64_t stride, int spin) {
  constexpr int N = GGA ? 4 : 1;
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_LANES + threadIdx.x);
  const int64_t ld = k.ld, block = ld * k.pad;
  const R *const __restrict__ phi = (const R *)k.phi + p;
  R *const __restrict__ z = (R *)(PSI ? k.psi : k.x) + p;
  double s[N];
  if (p >= k.ld) return;
#pragma unroll
  for (int c = 0; c < N; c++) s[c] = scales[(4 * spin + c) * stride + k.points + p];
  if (PSI) s[0] *= 2;
#pragma unroll 4
  for (int i = (int)threadIdx.y; i < k.pad; i += POINT_WARPS) {
    double sum = 0;
#pragma unroll
    for (int c = 0; c < N; c++) sum = fma(s[c], (double)phi[c * block + i * ld], sum);
    z[i * ld] = (R)sum;
  }
}

template <class R, bool GGA> static tsl_err density(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)(batch->most_ld / XC_LANES), (unsigned)batch->n);
  TSL_LAUNCH((density_kernel<R, GGA>), grid, dim3(XC_LANES, POINT_WARPS), 0, w->stream, batch->card,
             w->p->n_spin == 1 ? 2.0 : 1.0, batch->arrays, batch->stride, spin);
done:
  return err;
}

template <class R, bool GGA, bool PSI = false>
static tsl_err potential(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)(batch->most_ld / XC_LANES), (unsigned)batch->n);
  TSL_LAUNCH((potential_kernel<R, GGA, PSI>), grid, dim3(XC_LANES, POINT_WARPS), 0, w->stream,
             batch->card, batch->arrays + XC_INPUTS * batch->stride, batch->stride, spin);
done:
  return err;
}

template <class R> static tsl_err tau(xc_gpu *w, const xc_batch *batch, int spin, int component) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)(batch->most_ld / XC_LANES), (unsigned)batch->n);
  TSL_LAUNCH(tau_kernel<R>, grid, dim3(XC_LANES, POINT_WARPS), 0, w->stream, batch->card,
             w->p->n_spin == 1 ? 1.0 : 0.5, batch->arrays, batch->stride, spin, component,
             xc_x_place(w, component));
done:
  return err;
}

template <class R> static tsl_err curve(xc_gpu *w, const xc_batch *batch, int spin, int component) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)(batch->most_ld / XC_LANES), (unsigned)batch->n);
  TSL_LAUNCH(curve_kernel<R>, grid, dim3(XC_LANES, POINT_WARPS), 0, w->stream, batch->card,
             batch->arrays + XC_INPUTS * batch->stride, batch->stride, spin, component);
done:
  return err;
}

tsl_err xc_tau_run(xc_gpu *w, const xc_batch *batch, int spin, int block) {
  return w->single ? tau<float>(w, batch, spin, block) : tau<double>(w, batch, spin, block);
}

tsl_err xc_density_run(xc_gpu *w, const xc_batch *batch, int spin) {
  if (w->p->functional.gga)
    return w->single ? density<float, true>(w, batch, spin) : density<double, true>(w, batch, spin);
  return w->single ? density<float, false>(w, batch, spin) : density<double, false>(w, batch, spin);
}

tsl_err xc_potential_run(xc_gpu *w, const xc_batch *batch, int spin, int block) {
  if (w->task == XC_TASK_GRADIENT) return potential<double, true, true>(w, batch, spin);
  if (block > 0)
    return w->single ? curve<float>(w, batch, spin, block) : curve<double>(w, batch, spin, block);
  if (w->p->functional.gga)
    return w->single ? potential<float, true>(w, batch, spin)
                     : potential<double, true>(w, batch, spin);
  return w->single ? potential<float, false>(w, batch, spin)
                   : potential<double, false>(w, batch, spin);
}
