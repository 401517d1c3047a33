/* gpu.xc.functional: the formulas of xc_fn.h on a card.
 *   test_xc_functional same        the card's values are the host's, double and float
 *   test_xc_functional reference   and libxc's, as committed in xc_functional_reference.h
 *   test_xc_functional speed       nanoseconds per point, printed only
 * Exit status 77: no card. */
#include "gpu.cuh"
#include "xc_fn.h"

#include "../unit/xc_sweep.h"
#include "xc_functional_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum { INPUTS = SWEEP_INPUTS, OUTPUTS = SWEEP_OUTPUTS, RKS_OUTPUTS = 4, BLOCK = 128 };
static const double SAME = 1e-12, LIBXC = 1e-11;

/* ---------------------------------------------------------------- kernels */

template <int F> struct own;
#define X(name, ...)                                          \
  template <> struct own<XC_OWN_##name> {                     \
    static __host__ __device__ __forceinline__ xc_mix mix() { \
      return xc_mix_##name();                                 \
    }                                                         \
  };
XC_OWN_LIST(X, )
#undef X

static const char *const own_names[] = {
#define X(name, ...) #name,
    XC_OWN_LIST(X, )
#undef X
};

TSL_FN xc_uks_f64 uks_point(xc_mix mix, double a, double b, double aa, double ab, double bb,
                            double ta, double tb) {
  return xc_uks_point_f64(mix, a, b, aa, ab, bb, ta, tb);
}
TSL_FN xc_uks_f32 uks_point(xc_mix mix, float a, float b, float aa, float ab, float bb, float ta,
                            float tb) {
  return xc_uks_point_f32(mix, a, b, aa, ab, bb, ta, tb);
}
TSL_FN xc_rks_f64 rks_point(xc_mix mix, double n, double sigma, double tau) {
  return xc_rks_point_f64(mix, n, sigma, tau);
}
TSL_FN xc_rks_f32 rks_point(xc_mix mix, float n, float sigma, float tau) {
  return xc_rks_point_f32(mix, n, sigma, tau);
}

/* Point i of n; arrays follow one another: [INPUTS][n] and [OUTPUTS][n]. */
template <class R>
static __host__ __device__ __forceinline__ void uks_one(xc_mix mix, const R *in, R *out, int64_t n,
                                                        int64_t i) {
  const auto o = uks_point(mix, in[i], in[n + i], in[2 * n + i], in[3 * n + i], in[4 * n + i],
                           in[5 * n + i], in[6 * n + i]);
  out[i] = o.e;
  out[n + i] = o.a;
  out[2 * n + i] = o.b;
  out[3 * n + i] = o.aa;
  out[4 * n + i] = o.ab;
  out[5 * n + i] = o.bb;
  out[6 * n + i] = o.ta;
  out[7 * n + i] = o.tb;
}

/* Spin-restricted with the first density and the first sigma. */
template <class R>
static __host__ __device__ __forceinline__ void rks_one(xc_mix mix, const R *in, R *out, int64_t n,
                                                        int64_t i) {
  const auto o = rks_point(mix, in[i], in[2 * n + i], in[5 * n + i]);
  out[i] = o.e;
  out[n + i] = o.v;
  out[2 * n + i] = o.s;
  out[3 * n + i] = o.t;
}

template <int F, class R, int SPINS>
static __global__ void own_kernel(const R *__restrict__ in, R *__restrict__ out, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (SPINS == 2)
    uks_one(own<F>::mix(), in, out, n, i);
  else
    rks_one(own<F>::mix(), in, out, n, i);
}

/* Weights known when running: what a sum of own parts uses. */
static __global__ void mix_kernel(xc_mix mix, const double *in, double *out, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) uks_one(mix, in, out, n, i);
}

/* ------------------------------------------------------------------ runs */

static tsl_gpu_memory memory;

/* Run a functional on the card; out is resized. F < 0: mix_kernel. */
template <int F, class R, int SPINS>
static tsl_err on_card(xc_mix mix, const std::vector<R> &in, int64_t n, std::vector<R> &out) {
  tsl_err err = TSL_OK;
  tsl_gpu_buffer d_in = {}, d_out = {};
  const size_t in_bytes = in.size() * sizeof(R);
  const size_t out_bytes = (size_t)((SPINS == 2 ? OUTPUTS : RKS_OUTPUTS) * n) * sizeof(R);
  const unsigned grid = (unsigned)tsl_ceil_div(n, BLOCK);
  out.assign(out_bytes / sizeof(R), (R)-12345);
  TSL_TRY(tsl_gpu_reserve(&memory, &d_in, (int64_t)in_bytes, "points"));
  TSL_TRY(tsl_gpu_reserve(&memory, &d_out, (int64_t)out_bytes, "values"));
  TSL_CUDA_TRY(cudaMemcpy(d_in.data, in.data(), in_bytes, cudaMemcpyHostToDevice));
  TSL_CUDA_TRY(cudaMemcpy(d_out.data, out.data(), out_bytes, cudaMemcpyHostToDevice));
  if constexpr (F < 0) {
    TSL_LAUNCH(mix_kernel, grid, BLOCK, 0, 0, mix, (const double *)d_in.data, (double *)d_out.data,
               n);
  } else {
    TSL_LAUNCH((own_kernel<F, R, SPINS>), grid, BLOCK, 0, 0, (const R *)d_in.data, (R *)d_out.data,
               n);
  }
  TSL_CUDA_TRY(cudaDeviceSynchronize());
  TSL_CUDA_TRY(cudaMemcpy(out.data(), d_out.data, out_bytes, cudaMemcpyDeviceToHost));
done:
  tsl_gpu_release(&memory, &d_in);
  tsl_gpu_release(&memory, &d_out);
  return err;
}

/* Values of the card against the host's. */
template <class R>
static tsl_err compare(const char *name, const char *kind, const std::vector<R> &card,
                       const std::vector<R> &host, double tolerance) {
  tsl_err err = TSL_OK;
  size_t equal = 0;
  double worst = 0;
  for (size_t k = 0; k < card.size(); k++) {
    const double off = fabs((double)card[k] - (double)host[k]);
    equal += memcmp(&card[k], &host[k], sizeof(R)) == 0;
    if (off > worst * fabs((double)host[k])) worst = off / fabs((double)host[k]);
    if (!(off <= tolerance * fabs((double)host[k])))
      TSL_FAIL(TSL_ERR_NUMERIC, "%s %s: value %zu is %.17g on the card, %.17g on the host", name,
               kind, k, (double)card[k], (double)host[k]);
  }
  printf("%-8s %-12s %zu of %zu values bitwise equal, worst %.1e\n", name, kind, equal, card.size(),
         worst);
done:
  return err;
}

/* n points, arrays after one another; some spins empty. */
template <class R> static std::vector<R> points_of(int64_t n, double least) {
  std::vector<R> in((size_t)(INPUTS * n));
  uint64_t state = 23;
  for (int64_t k = 0; k < n; k++) {
    double point[INPUTS];
    do {
      sweep_point(&state, point);
    } while (point[0] < least || point[1] < least);
    if (k % 37 == 36) point[0] = point[2] = point[3] = 0;
    for (int i = 0; i < INPUTS; i++) in[(size_t)(i * n + k)] = (R)point[i];
  }
  return in;
}

/* ----------------------------------------------------------------- tests */

template <int F> static tsl_err test_same(void) {
  tsl_err err = TSL_OK;
  const int64_t sizes[] = {1, 127, 128, 10007};
  for (int64_t n : sizes) {
    const std::vector<double> in = points_of<double>(n, 0);
    const std::vector<float> in32 = points_of<float>(n, 1e-7);
    std::vector<double> card, host((size_t)(OUTPUTS * n)), host1((size_t)(RKS_OUTPUTS * n));
    std::vector<float> card32, host32((size_t)(OUTPUTS * n)), host132((size_t)(RKS_OUTPUTS * n));
    for (int64_t i = 0; i < n; i++) {
      uks_one(own<F>::mix(), in.data(), host.data(), n, i);
      rks_one(own<F>::mix(), in.data(), host1.data(), n, i);
      uks_one(own<F>::mix(), in32.data(), host32.data(), n, i);
      rks_one(own<F>::mix(), in32.data(), host132.data(), n, i);
    }
    TSL_TRY((on_card<F, double, 2>(own<F>::mix(), in, n, card)));
    TSL_TRY(compare(own_names[F], "polarised", card, host, SAME));
    TSL_TRY((on_card<-1, double, 2>(own<F>::mix(), in, n, card)));
    TSL_TRY(compare(own_names[F], "as a sum", card, host, SAME));
    TSL_TRY((on_card<F, double, 1>(own<F>::mix(), in, n, card)));
    TSL_TRY(compare(own_names[F], "restricted", card, host1, SAME));
    TSL_TRY((on_card<F, float, 2>(own<F>::mix(), in32, n, card32)));
    TSL_TRY(compare(own_names[F], "float", card32, host32, 1e-5));
    TSL_TRY((on_card<F, float, 1>(own<F>::mix(), in32, n, card32)));
    TSL_TRY(compare(own_names[F], "float, rks", card32, host132, 1e-5));
  }
done:
  return err;
}

template <int F> static tsl_err test_reference(void) {
  tsl_err err = TSL_OK;
  std::vector<const xc_value_row *> rows;
  std::vector<double> in, card;
  int64_t n;
  for (const xc_value_row &row : xc_references)
    if (row.own == F) rows.push_back(&row);
  n = (int64_t)rows.size();
  if (n == 0) TSL_FAIL(TSL_ERR_INTERNAL, "no reference of %s", own_names[F]);
  in.resize((size_t)(INPUTS * n));
  for (int64_t k = 0; k < n; k++)
    for (int i = 0; i < INPUTS; i++) in[(size_t)(i * n + k)] = rows[(size_t)k]->in[i];
  TSL_TRY((on_card<F, double, 2>(own<F>::mix(), in, n, card)));
  for (int64_t k = 0; k < n; k++)
    for (int i = 0; i < OUTPUTS; i++) {
      const double value = card[(size_t)(i * n + k)], theirs = rows[(size_t)k]->out[i];
      if (!(fabs(value - theirs) <= LIBXC * fabs(theirs)))
        TSL_FAIL(TSL_ERR_NUMERIC, "%s row %d output %d: %.17g, libxc %.17g", own_names[F], (int)k,
                 i, value, theirs);
    }
  printf("%-8s %d rows of libxc within %.0e\n", own_names[F], (int)n, LIBXC);
done:
  return err;
}

template <int F, class R, int SPINS> static tsl_err speed_of(const char *kind) {
  tsl_err err = TSL_OK;
  const int64_t small = 4096, n = INT64_C(1) << 22;
  const std::vector<R> some = points_of<R>(small, 1e-7);
  std::vector<R> in((size_t)(INPUTS * n));
  tsl_gpu_buffer d_in = {}, d_out = {};
  tsl_gpu_timer timer = {};
  double seconds = 0, best = 1e9;
  for (int a = 0; a < INPUTS; a++)
    for (int64_t k = 0; k < n; k++) in[(size_t)(a * n + k)] = some[(size_t)(a * small + k % small)];
  TSL_TRY(tsl_gpu_timer_create(&timer));
  TSL_TRY(tsl_gpu_reserve(&memory, &d_in, (int64_t)(in.size() * sizeof(R)), "points"));
  TSL_TRY(tsl_gpu_reserve(&memory, &d_out, (int64_t)(OUTPUTS * n * (int64_t)sizeof(R)), "values"));
  TSL_CUDA_TRY(cudaMemcpy(d_in.data, in.data(), in.size() * sizeof(R), cudaMemcpyHostToDevice));
  for (int repeat = 0; repeat < 10; repeat++) {
    TSL_TRY(tsl_gpu_timer_start(&timer, 0));
    TSL_LAUNCH((own_kernel<F, R, SPINS>), (unsigned)(n / BLOCK), BLOCK, 0, 0, (const R *)d_in.data,
               (R *)d_out.data, n);
    TSL_TRY(tsl_gpu_timer_stop(&timer, 0, &seconds));
    best = seconds < best ? seconds : best;
  }
  printf("%-8s %-18s %.4f ns/point, %.0f GB/s\n", own_names[F], kind, 1e9 * best / (double)n,
         1e-9 * (double)n * (SPINS == 2 ? INPUTS + OUTPUTS : 3 + RKS_OUTPUTS) * (double)sizeof(R) /
             best);
done:
  tsl_gpu_release(&memory, &d_in);
  tsl_gpu_release(&memory, &d_out);
  tsl_gpu_timer_destroy(&timer);
  return err;
}

template <int F> static tsl_err test_speed(void) {
  tsl_err err = TSL_OK;
  TSL_TRY((speed_of<F, double, 1>("restricted")));
  TSL_TRY((speed_of<F, double, 2>("polarised")));
  TSL_TRY((speed_of<F, float, 1>("restricted, float")));
  TSL_TRY((speed_of<F, float, 2>("polarised, float")));
done:
  return err;
}

/* For all own functionals. */
#define TRY_same(name, ...) TSL_TRY(test_same<XC_OWN_##name>());
#define TRY_reference(name, ...) TSL_TRY(test_reference<XC_OWN_##name>());
#define TRY_speed(name, ...) TSL_TRY(test_speed<XC_OWN_##name>());
#define ALL(test)                   \
  static tsl_err all_##test(void) { \
    tsl_err err = TSL_OK;           \
    XC_OWN_LIST(TRY_##test, )       \
  done:                             \
    return err;                     \
  }
ALL(same)
ALL(reference)
ALL(speed)

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  int cards = 0;
  if (cudaGetDeviceCount(&cards) != cudaSuccess || cards == 0) {
    printf("no card\n");
    return 77;
  }
  const char *const test = argc > 1 ? argv[1] : "";
  if (strcmp(test, "same") == 0)
    err = all_same();
  else if (strcmp(test, "reference") == 0)
    err = all_reference();
  else if (strcmp(test, "speed") == 0)
    err = all_speed();
  else {
    fprintf(stderr, "usage: %s same | reference | speed\n", argv[0]);
    return 2;
  }
  if (err != TSL_OK) fprintf(stderr, "%s\n%s", tsl_err_message(), tsl_err_places());
  return tsl_err_status(err);
}
