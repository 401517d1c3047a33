/* The functional at the points of a batch: own formulas on the card; libxc on the host, between two
 * copies. */
#include "xc_gpu_slices.cuh"

#include "xc_fn.h"

enum { MIXED = -1 };

/* Weights of a functional; MIXED: known when running. */
template <int F> static __device__ __forceinline__ xc_mix mix_of(const xc_mix &mix) {
  return mix;
}
#define X(name, ...)                                                                    \
  template <> __device__ __forceinline__ xc_mix mix_of<XC_OWN_##name>(const xc_mix &) { \
    return xc_mix_##name();                                                             \
  }
XC_OWN_LIST(X, )
#undef X

/* Arrays over points, from this point on. */
struct point {
  const double *in;
  double *out;
  int64_t stride;
  double weight;
  __device__ double density(int s) const {
    return in[s * stride];
  }
  __device__ double slope(int s, int x) const {
    return in[(2 + 3 * s + x) * stride];
  }
  __device__ double sigma(int s, int t) const {
    double sum = 0;
    for (int x = 0; x < 3; x++) sum += slope(s, x) * slope(t, x);
    return sum;
  }
  __device__ double tau(int s) const {
    return in[(XC_TAU_IN + s) * stride];
  }
  __device__ void scale(int s, int c, double value) {
    out[(4 * s + c) * stride] = value;
  }
  __device__ void scale_tau(int s, double value) {
    out[(XC_TAU_SCALE + s) * stride] = 0.25 * weight * value;
  }
};

/* Energy and electrons go to sums. */
template <int F, int KIND>
static __device__ void do_restricted(point k, const xc_mix &mix, double sums[XC_N_INTEGRALS]) {
  constexpr bool GGA = KIND >= XC_KIND_GRADIENT, TAU = KIND >= XC_KIND_TAU;
  const double rho = k.density(0);
  const xc_rks_f64 o =
      xc_rks_point_f64(mix_of<F>(mix), rho, GGA ? k.sigma(0, 0) : 0, TAU ? k.tau(0) : 0);
  k.scale(0, 0, 0.5 * k.weight * o.v);
  for (int x = 0; x < 3 && GGA; x++) k.scale(0, 1 + x, 2 * k.weight * o.s * k.slope(0, x));
  if (TAU) k.scale_tau(0, o.t);
  sums[XC_INTEGRAL_ENERGY] = k.weight * o.e;
  sums[XC_INTEGRAL_ALPHA] = k.weight * rho;
}

template <int F, int KIND>
static __device__ void do_polarised(point k, const xc_mix &mix, double sums[XC_N_INTEGRALS]) {
  constexpr bool GGA = KIND >= XC_KIND_GRADIENT, TAU = KIND >= XC_KIND_TAU;
  const double a = k.density(0), b = k.density(1);
  const xc_uks_f64 o =
      xc_uks_point_f64(mix_of<F>(mix), a, b, GGA ? k.sigma(0, 0) : 0, GGA ? k.sigma(0, 1) : 0,
                       GGA ? k.sigma(1, 1) : 0, TAU ? k.tau(0) : 0, TAU ? k.tau(1) : 0);
  k.scale(0, 0, 0.5 * k.weight * o.a);
  k.scale(1, 0, 0.5 * k.weight * o.b);
  for (int x = 0; x < 3 && GGA; x++) {
    const double ga = k.slope(0, x), gb = k.slope(1, x);
    k.scale(0, 1 + x, 2 * k.weight * o.aa * ga + k.weight * o.ab * gb);
    k.scale(1, 1 + x, 2 * k.weight * o.bb * gb + k.weight * o.ab * ga);
  }
  if (TAU) k.scale_tau(0, o.ta), k.scale_tau(1, o.tb);
  sums[XC_INTEGRAL_ENERGY] = k.weight * o.e;
  sums[XC_INTEGRAL_ALPHA] = k.weight * a;
  sums[XC_INTEGRAL_BETA] = k.weight * b;
}

/* Block (slice, piece); points beyond the piece get scales and amounts 0. */
template <int F, bool UKS, int KIND>
static __global__ void functional_kernel(const xc_piece *pieces, xc_mix mix, const double *weights,
                                         double *arrays, int64_t stride, double *partials) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * XC_SLICE + threadIdx.x);
  double sums[XC_N_INTEGRALS] = {};
  if ((int)(blockIdx.x * XC_SLICE) >= k.n) return;
  double *const at = arrays + k.points + p;
  point here = {at, at + XC_INPUTS * stride, stride, p < k.n ? weights[k.first + p] : 0};
  if (p < k.n) {
    if (UKS)
      do_polarised<F, KIND>(here, mix, sums);
    else
      do_restricted<F, KIND>(here, mix, sums);
  } else if (p < k.ld)
    for (int c = 0; c < XC_SCALES; c++) here.out[c * stride] = 0;
  if (p < k.ld) at[XC_AMOUNT * stride] = sums[XC_INTEGRAL_ENERGY];
  xc_add_slice(sums, partials + (k.slice + blockIdx.x) * XC_N_INTEGRALS);
}

template <int F, bool UKS, int KIND> static tsl_err launch(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, XC_SLICE), (unsigned)batch->n);
  TSL_LAUNCH((functional_kernel<F, UKS, KIND>), grid, XC_SLICE, 0, w->stream, batch->card,
             w->p->functional.mix, (const double *)w->points.data + 3 * w->p->n_points,
             batch->arrays, batch->stride, (double *)w->partials.data);
done:
  return err;
}

template <int F, int KIND> static tsl_err run_own(xc_gpu *w, const xc_batch *batch) {
  return w->p->n_spin == 2 ? launch<F, true, KIND>(w, batch) : launch<F, false, KIND>(w, batch);
}

/* ------------------------------------------------------------------- libxc */

static tsl_err reserve_host(xc_gpu *w, int64_t bytes) {
  tsl_err err = TSL_OK;
  char text[24];
  if (bytes <= w->host_points_bytes) return TSL_OK;
  if (w->host_points != NULL) (void)cudaFreeHost(w->host_points);
  w->host_points = NULL, w->host_points_bytes = 0;
  if (cudaHostAlloc((void **)&w->host_points, (size_t)bytes, cudaHostAllocDefault) != cudaSuccess) {
    (void)cudaGetLastError();
    TSL_FAIL(TSL_ERR_MEMORY, "no pinned host memory for %s of points",
             tsl_bytes_text((double)bytes, text));
  }
  w->host_points_bytes = bytes;
done:
  return err;
}

static tsl_err evaluate(const xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  xc_host_points *list = NULL;
  const xc_host_kind kind = {w->p->n_spin, w->p->functional.gga != 0, w->p->functional.tau != 0};
  TSL_TRY(tsl_alloc(batch->n, sizeof *list, "pieces", (void **)&list));
  for (int64_t i = 0; i < batch->n; i++) {
    const xc_piece *k = &batch->host[i];
    double *at = w->host_points + k->points;
    list[i] = {k->n,
               k->ld,
               batch->stride,
               w->view.point[3] + k->first,
               at,
               at + XC_INPUTS * batch->stride,
               w->host_partials + k->slice * XC_N_INTEGRALS};
  }
  xc_host_functional(w->evaluator, kind, w->threads, list, batch->n);
done:
  tsl_free(list);
  return err;
}

static tsl_err copy_partials(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < batch->n; i++) {
    const xc_piece *k = &batch->host[i];
    const int64_t at = k->slice * XC_N_INTEGRALS;
    const int64_t count = tsl_ceil_div(k->n, XC_SLICE) * XC_N_INTEGRALS;
    TSL_CUDA_TRY(cudaMemcpyAsync((double *)w->partials.data + at, w->host_partials + at,
                                 (size_t)count * sizeof(double), cudaMemcpyHostToDevice,
                                 w->stream));
  }
done:
  return err;
}

static tsl_err run_host(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const int64_t in = XC_INPUTS * batch->stride, out = (XC_ROWS - XC_INPUTS) * batch->stride;
  const size_t in_bytes = (size_t)in * sizeof(double), out_bytes = (size_t)out * sizeof(double);
  TSL_TRY(reserve_host(w, (in + out) * (int64_t)sizeof(double)));
  TSL_TRY(tsl_gpu_copy(w, w->host_points, batch->arrays, in_bytes));
  TSL_TRY(evaluate(w, batch));
  TSL_CUDA_TRY(cudaMemcpyAsync(batch->arrays + in, w->host_points + in, out_bytes,
                               cudaMemcpyHostToDevice, w->stream));
  TSL_TRY(copy_partials(w, batch));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the host's arrays are used again */
done:
  return err;
}

tsl_err xc_functional_run(xc_gpu *w, const xc_batch *batch) {
  const xc_functional *f = &w->p->functional;
  if (w->evaluator != NULL) return run_host(w, batch);
  switch (f->own) {
#define X(name, ...)  \
  case XC_OWN_##name: \
    return run_own<XC_OWN_##name, (int)XC_OWN_GGA_##name + (int)XC_OWN_TAU_##name>(w, batch);
    XC_OWN_LIST(X, )
#undef X
  default:
    return f->tau   ? run_own<MIXED, XC_KIND_TAU>(w, batch)
           : f->gga ? run_own<MIXED, XC_KIND_GRADIENT>(w, batch)
                    : run_own<MIXED, XC_KIND_LOCAL>(w, batch);
  }
}
