/* A Gaussian kernel sum of uniform points, d = 3, fp32: by an equation of a deck, and the same one
 * written by hand. */
#include "lang_functions.h"
#include "tri_bench.cuh"
#include "tri_equation.cuh"

#include <string.h>

enum { SUM_BLOCK = 128, SUM_TILE = 256 };

/* Two rows for each thread, points of a tile in shared memory; FAST: exp by the card's own, which
 * has 2 ulp in the exponent's base only. */
template <bool FAST>
static __global__ void __launch_bounds__(SUM_BLOCK)
    tri_bench_sum_kernel(const float *x, int64_t ld, int64_t n, float c, double *sums) {
  __shared__ float4 tile[SUM_TILE];
  const int64_t i = (int64_t)blockIdx.x * 2 * SUM_BLOCK + threadIdx.x, j = i + SUM_BLOCK;
  const int64_t p = i < n ? i : n - 1, q = j < n ? j : n - 1;
  const float ax = x[p], ay = x[ld + p], az = x[2 * ld + p];
  const float bx = x[q], by = x[ld + q], bz = x[2 * ld + q];
  double total_a = 0, total_b = 0;
  for (int64_t first = 0; first < n; first += SUM_TILE) {
    const int m = n - first < SUM_TILE ? (int)(n - first) : SUM_TILE;
    __syncthreads();
    for (int k = threadIdx.x; k < m; k += SUM_BLOCK)
      tile[k] = make_float4(x[first + k], x[ld + first + k], x[2 * ld + first + k], 0);
    __syncthreads();
    float a = 0, b = 0;
#pragma unroll 16
    for (int k = 0; k < m; k++) {
      const float4 t = tile[k];
      const float ux = ax - t.x, uy = ay - t.y, uz = az - t.z;
      const float vx = bx - t.x, vy = by - t.y, vz = bz - t.z;
      const float u = -c * fmaf(uz, uz, fmaf(uy, uy, ux * ux));
      const float v = -c * fmaf(vz, vz, fmaf(vy, vy, vx * vx));
      a += FAST ? __expf(u) : lang_exp_f32(u);
      b += FAST ? __expf(v) : lang_exp_f32(v);
    }
    total_a += (double)a;
    total_b += (double)b;
  }
  if (i < n) sums[i] = total_a;
  if (j < n) sums[j] = total_b;
}

template <bool FAST> static tsl_err by_hand(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const unsigned blocks = (unsigned)((w->p.n + 2 * SUM_BLOCK - 1) / (2 * SUM_BLOCK));
  TSL_LAUNCH((tri_bench_sum_kernel<FAST>), blocks, SUM_BLOCK, 0, w->stream,
             (const float *)w->points.data, w->p.n_pad, w->p.n, 50.0f, (double *)w->out_2.data);
done:
  return err;
}

static tsl_err make_problem(int64_t n, tsl_device *device, tsl_deck **deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  char text[512];
  (void)snprintf(text, sizeof text,
                 "family: tri\ntri:\n  function:\n"
                 "    value: exp(-r2 / (2 * s * s))\n    parameters: [{name: s, value: 0.1}]\n"
                 "  output: sum\n  generator: {kind: uniform, n: %lld}\n",
                 (long long)n);
  TSL_TRY(tri_bench_select_card(device));
  TSL_TRY(tsl_deck_parse(text, strlen(text), "bench", NULL, 0, deck));
  problem->family = &tsl_family_tri;
  TSL_TRY(tsl_family_tri.create(*deck, problem));
  TSL_TRY(tri_backend_gpu.prepare(problem, device, 1));
done:
  return err;
}

tsl_err tri_bench_sum(int64_t n, int64_t repeat, tri_bench_sums *out) {
  tsl_err err = TSL_OK;
  tsl_device device = {};
  tsl_deck *deck = NULL;
  tsl_problem problem = {};
  tsl_worker *worker = NULL;
  tri_gpu *w = NULL;
  tri_bench_time ours = {}, hand = {}, fast = {};
  void *sums = NULL;
  tsl_unit unit = {};
  tsl_part part = {};
  unit.hi[0] = n;
  TSL_TRY(make_problem(n, &device, &deck, &problem));
  TSL_TRY(tri_backend_gpu.open(&problem, &device, &worker));
  w = (tri_gpu *)worker;
  TSL_TRY(tsl_gpu_host_alloc(n * 8, &sums));
  part.slab[TRI_OUT] = sums;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out_2, n * 8, "sums"));
  TSL_TRY(tri_bench_measure(
      w, repeat, [&]() { return tri_sum_run(w, &unit, 1, &part); }, &ours));
  TSL_TRY(tri_bench_measure(
      w, repeat, [=]() { return by_hand<false>(w); }, &hand));
  TSL_TRY(tri_bench_measure(
      w, repeat, [=]() { return by_hand<true>(w); }, &fast));
  out->deck = ours.mean, out->hand = hand.mean, out->fast = fast.mean;
done:
  if (sums != NULL) tsl_gpu_host_free(sums);
  if (worker != NULL) tri_backend_gpu.close(&worker);
  if (problem.family != NULL) tsl_family_tri.destroy(&problem);
  tsl_problem_clear(&problem);
  tsl_deck_destroy(&deck);
  return err;
}
