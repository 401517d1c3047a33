/** @file bench_tri_sum.c  A kernel sum by an equation of a deck, beside the same by hand. */
#include "bench_tri_sum.h"

#include "fn.h"
#include "lang_functions.h"
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { TILE = 1024 };

/* ------------------------------------------------------------------ by hand */

/** sum_j exp(-c |x_i - x_j|^2) over n points; lanes that the compiler may keep in one vector. */
TSL_LEVELS static double sum_of_row(const float *x, int64_t ld, int64_t n, float c, int64_t i) {
  const float a = x[i], b = x[ld + i], z = x[2 * ld + i];
  double total = 0;
  for (int64_t first = 0; first < n; first += TILE) {
    const int64_t m = n - first < TILE ? n - first : TILE;
    const float *px = x + first, *py = px + ld, *pz = py + ld;
    float lane[16] = {0};
    for (int64_t k = 0; k + 16 <= m; k += 16) TSL_INDEPENDENT
    for (int l = 0; l < 16; l++) {
      const float u = a - px[k + l], v = b - py[k + l], w = z - pz[k + l];
      lane[l] += lang_exp_f32(-c * fmaf(w, w, fmaf(v, v, u * u)));
    }
    for (int64_t k = m / 16 * 16; k < m; k++) {
      const float u = a - px[k], v = b - py[k], w = z - pz[k];
      lane[k % 16] += lang_exp_f32(-c * fmaf(w, w, fmaf(v, v, u * u)));
    }
    for (int l = 0; l < 16; l++) total += (double)lane[l];
  }
  return total;
}

static double hand_seconds(const tsl_problem *problem, int threads, double *sums) {
  const tri_params *p = tri_params_of(problem);
  const float *x = problem->fields[TRI_POINTS].data;
  double best = INFINITY;
  for (int r = 0; r < 4; r++) {
    const double start = tsl_cpu_seconds();
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
    for (int64_t i = 0; i < p->n; i++) sums[i] = sum_of_row(x, p->n_pad, p->n, 50, i);
    if (r > 0) best = fmin(best, tsl_cpu_seconds() - start);
  }
  return best;
}

/* ------------------------------------------------------------- by the deck */

static tsl_err deck_seconds(tsl_problem *problem, int threads, double *sums, double *seconds) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  int level = 0;
  TSL_TRY(tsl_cpu_level_use(&level));
  const tsl_device device = {.kind = TSL_CPU, .threads = threads, .capability = level};
  const tsl_unit unit = {.hi = {tri_params_of(problem)->n}};
  tsl_part part = {.slab = {[TRI_OUT] = sums}};
  *seconds = INFINITY;
  TSL_TRY(tri_backend_cpu.prepare(problem, &device, 1));
  TSL_TRY(tri_backend_cpu.open(problem, &device, &w));
  TSL_TRY(tri_backend_cpu.begin(w, 0));
  for (int r = 0; r < 4; r++) {
    TSL_TRY(tri_backend_cpu.run(w, &unit, 1, &part));
    if (r > 0) *seconds = fmin(*seconds, part.seconds);
  }
done:
  tri_backend_cpu.close(&w);
  return err;
}

tsl_err bench_tri_sum(int64_t n, int threads, bench_tri_sums *out) {
  tsl_err err = TSL_OK;
  char text[512];
  tsl_deck *deck = NULL;
  tsl_problem problem = {0};
  void *sums = NULL, *hand = NULL;
  (void)snprintf(text, sizeof text,
                 "family: tri\ntri:\n  function:\n"
                 "    value: exp(-r2 / (2 * s * s))\n    parameters: [{name: s, value: 0.1}]\n"
                 "  output: sum\n  generator: {kind: uniform, n: %lld}\n",
                 (long long)n);
  TSL_TRY(tsl_alloc(n, sizeof(double), "sums", &sums));
  TSL_TRY(tsl_alloc(n, sizeof(double), "sums", &hand));
  TSL_TRY(tsl_deck_parse(text, strlen(text), "bench", NULL, 0, &deck));
  problem.family = &tsl_family_tri;
  TSL_TRY(tsl_family_tri.create(deck, &problem));
  TSL_TRY(deck_seconds(&problem, threads, sums, &out->deck));
  out->hand = hand_seconds(&problem, threads, hand);
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(((double *)sums)[i] / ((double *)hand)[i] - 1) < 1e-5))
      TSL_FAIL(TSL_ERR_INTERNAL, "the sums of point %lld differ: %.9g, by hand %.9g", (long long)i,
               ((double *)sums)[i], ((double *)hand)[i]);
done:
  if (problem.family != NULL) tsl_family_tri.destroy(&problem);
  tsl_problem_clear(&problem);
  tsl_deck_destroy(&deck);
  TSL_FREE_ALL(sums, hand);
  return err;
}
