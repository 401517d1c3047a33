/** @file bench_tri_cpu.c  `tesela bench tri-cpu`: speeds of this socket, each beside its goal. */
#include "bench_cpu.h"
#include "bench_options.h"
#include "bench_tri_sum.h"
#include "new_file.h"
#include "tri_cpu.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ problems and timing */

/** A problem of uniform points in the unit cube; correlation: standardised rows of d samples. */
static tsl_err bench_problem(const tri_params *params, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = NULL;
  uint64_t state = 1;
  memset(problem, 0, sizeof *problem);
  TSL_TRY(tsl_alloc(1, sizeof *p, "parameters", &problem->params));
  p = problem->params;
  *p = *params;
  p->n_pad = (p->n + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
  p->d_read = p->d;
  problem->n_fields = TRI_OUT_3;
  TSL_TRY(tsl_alloc(p->d * p->n_pad, sizeof(float), "points", &problem->fields[TRI_POINTS].data));
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t k = 0; k < p->d; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const float u = (float)(state >> 40) * 0x1p-24f;
      const float scaled =
          p->function == TRI_CORRELATION ? (u - 0.5f) * sqrtf(12.0f / (float)p->d) : u;
      ((float *)problem->fields[TRI_POINTS].data)[k * p->n_pad + i] = scaled;
    }
done:
  return err;
}

/** Best seconds of running all rows as one unit, slab provided; a warm run comes first. */
static tsl_err bench_run(tsl_problem *problem, int threads, int repeats, void *slab_1, void *slab_2,
                         double *seconds) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  const tsl_unit unit = {.hi = {tri_params_of(problem)->n}};
  tsl_part part = {.slab = {[TRI_OUT] = slab_1, [TRI_OUT_2] = slab_2}};
  *seconds = INFINITY;
  TSL_TRY(tri_backend_cpu.open(problem, &device, &w));
  TSL_TRY(tri_backend_cpu.begin(w, 0));
  for (int r = 0; r <= repeats; r++) {
    TSL_TRY(tri_backend_cpu.run(w, &unit, 1, &part));
    if (r > 0 && part.seconds < *seconds) *seconds = part.seconds;
  }
done:
  tri_backend_cpu.close(&w);
  return err;
}

/** Best GB/s of all threads filling memory past the caches. */
static tsl_err bench_stores(const bench_options *o, char *memory, int64_t bytes, double *rate) {
  tsl_err err = TSL_OK;
  enum { BLOCK = 1 << 14 };
  tsl_worker *w = NULL;
  tsl_problem problem;
  const tsl_device device = {.kind = TSL_CPU, .threads = o->threads};
  const tri_params p = {.function = TRI_EUCLIDEAN, .n = 1, .d = 1, .type = TSL_F32};
  static float block[BLOCK / sizeof(float)] __attribute__((aligned(64)));
  double best = INFINITY;
  /* not zeros: some processors write those faster than memory takes data */
  for (size_t k = 0; k < BLOCK / sizeof(float); k++) block[k] = (float)(k + 1);
  TSL_TRY(bench_problem(&p, &problem));
  TSL_TRY(tri_backend_cpu.open(&problem, &device, &w));
  for (int r = 0; r < 4; r++) {
    const double start = tsl_cpu_seconds();
#pragma omp parallel for schedule(static) num_threads(o->threads)
    for (int64_t k = 0; k < bytes / BLOCK; k++)
      w->kernels->stream(memory + k * BLOCK, block, BLOCK);
    const double seconds = tsl_cpu_seconds() - start;
    if (r > 0 && seconds < best) best = seconds;
  }
  *rate = (double)(bytes / BLOCK * BLOCK) / best * 1e-9;
done:
  tri_backend_cpu.close(&w);
  tsl_problem_clear(&problem);
  return err;
}

/** Pairs per second of a plain loop over double points on one thread, as a library would do it. */
static tsl_err bench_plain(int64_t n, double *rate) {
  tsl_err err = TSL_OK;
  double *x = NULL, *out = NULL, seconds = INFINITY;
  TSL_TRY(tsl_alloc(3 * n, sizeof *x, "points", (void **)&x));
  TSL_TRY(tsl_alloc(n * (n - 1) / 2, sizeof *out, "distances", (void **)&out));
  for (int64_t k = 0; k < 3 * n; k++) x[k] = (double)(k * 7919 % 10007) / 10007;
  for (int r = 0; r < 3; r++) {
    const double start = tsl_cpu_seconds();
    for (int64_t i = 0, at = 0; i < n; i++)
      for (int64_t j = i + 1; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
          sum += (x[3 * i + k] - x[3 * j + k]) * (x[3 * i + k] - x[3 * j + k]);
        out[at++] = sqrt(sum);
      }
    if (tsl_cpu_seconds() - start < seconds) seconds = tsl_cpu_seconds() - start;
  }
  *rate = (double)(n * (n - 1) / 2) / seconds;
done:
  TSL_FREE_ALL(x, out);
  return err;
}

/* ------------------------------------------------------------------ the table */

typedef struct table {
  const bench_options *o;
  FILE *csv;
} table;

/** One line: what, value, unit, the same as a ratio to a reference, the goal of that ratio. */
static void bench_tri_cpu_line(const table *t, const char *what, double value, const char *unit,
                               double ratio, const char *of, double goal) {
  printf("%-34s %9.3f %-10s %7.2f x %-26s", what, value, unit, ratio, of);
  if (goal > 0)
    printf(" goal %5.2f  %s\n", goal, ratio >= goal ? "reached" : "NOT REACHED");
  else
    printf("\n");
  if (t->csv != NULL)
    fprintf(t->csv, "\"%s\",%d,%.6g,%s,%.6g,\"%s\",%.6g\n", what, t->o->threads, value, unit, ratio,
            of, goal);
}

static tsl_err bench_distances(const table *t) {
  tsl_err err = TSL_OK;
  tsl_problem problem = {0};
  const int64_t n = t->o->quick ? 12000 : 24000;
  const int64_t pairs = n * (n - 1) / 2;
  void *slab = NULL;
  double seconds = 0, store = 0, plain = 0;
  const tri_params p = {
      .function = TRI_EUCLIDEAN, .output = TRI_CONDENSED, .type = TSL_F32, .n = n, .d = 3};
  TSL_TRY(tsl_alloc(pairs, sizeof(float), "distances", &slab));
  memset(slab, 1, (size_t)pairs * sizeof(float)); /* page faults now, not in the measurement */
  TSL_TRY(bench_problem(&p, &problem));
  TSL_TRY(bench_stores(t->o, slab, 4 * pairs, &store));
  TSL_TRY(bench_run(&problem, t->o->threads, 5, slab, NULL, &seconds));
  TSL_TRY(bench_plain(6000, &plain));
  const double rate = (double)pairs / seconds;
  bench_tri_cpu_line(t, "store bandwidth", store, "GB/s", 1, "itself", 0);
  bench_tri_cpu_line(t, "plain fp64 distances 1 thread", plain * 1e-9, "Gpairs/s", 1, "itself", 0);
  bench_tri_cpu_line(t, "distances f32 d=3 condensed", rate * 1e-9, "Gpairs/s", rate / plain,
                     "plain fp64 1 thread", 15);
  bench_tri_cpu_line(t, "distances f32 d=3 written", 4e-9 * rate, "GB/s", 4e-9 * rate / store,
                     "store bandwidth", 0);
done:
  tsl_free(slab);
  tsl_problem_clear(&problem);
  return err;
}

static tsl_err bench_gravity(const table *t) {
  tsl_err err = TSL_OK;
  tsl_problem problem = {0};
  const int64_t n = t->o->quick ? 16384 : 65536;
  void *a = NULL, *potential = NULL;
  double seconds = 0;
  const tri_params p = {.function = TRI_GRAVITY,
                        .output = TRI_FORCES,
                        .type = TSL_F32,
                        .n = n,
                        .d = 3,
                        .constant = 1,
                        .mass = 1,
                        .softening = 1e-3};
  TSL_TRY(tsl_alloc(3 * n, sizeof(double), "accelerations", &a));
  TSL_TRY(tsl_alloc(n, sizeof(double), "potential", &potential));
  TSL_TRY(bench_problem(&p, &problem));
  TSL_TRY(bench_run(&problem, t->o->threads, 3, a, potential, &seconds));
  const double rate = (double)n * (double)n / seconds / t->o->threads * 1e-9;
  bench_tri_cpu_line(t, "gravity f32, per thread", rate, "Gpairs/s", rate / 5,
                     "5e9 ordered pairs/s", 1);
done:
  TSL_FREE_ALL(a, potential);
  tsl_problem_clear(&problem);
  return err;
}

static tsl_err bench_histogram(const table *t) {
  tsl_err err = TSL_OK;
  tsl_problem problem = {0};
  const int64_t n = t->o->quick ? 30000 : 60000;
  double seconds = 0;
  const tri_params p = {.function = TRI_EUCLIDEAN_PERIODIC,
                        .output = TRI_HISTOGRAM,
                        .type = TSL_F32,
                        .n = n,
                        .d = 3,
                        .bins = 200,
                        .range_hi = 0.5,
                        .box = {1, 1, 1}};
  TSL_TRY(bench_problem(&p, &problem));
  TSL_TRY(bench_run(&problem, t->o->threads, 3, NULL, NULL, &seconds));
  const double rate = (double)n * (double)(n - 1) / 2 / seconds / t->o->threads * 1e-9;
  bench_tri_cpu_line(t, "RDF f32, 200 bins, per thread", rate, "Gpairs/s", rate, "1e9 pairs/s", 1);
done:
  tsl_problem_clear(&problem);
  return err;
}

/** Best seconds of X^T X by one matrix product on all threads. */
static double product_seconds(const tsl_problem *problem, int threads, float *out) {
  const tri_params *p = tri_params_of(problem);
  const float *x = problem->fields[TRI_POINTS].data;
  const int n = (int)p->n, ld = (int)p->n_pad;
  double best = INFINITY;
  openblas_set_num_threads(threads);
  for (int r = 0; r < 3; r++) {
    const double start = tsl_cpu_seconds();
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, (int)p->d, 1, x, ld, x, ld, 0, out,
                n);
    const double seconds = tsl_cpu_seconds() - start;
    if (seconds < best) best = seconds;
  }
  return best;
}

static tsl_err bench_correlation(const table *t) {
  tsl_err err = TSL_OK;
  tsl_problem problem = {0};
  const int64_t n = t->o->quick ? 2048 : 4096;
  void *slab = NULL;
  double seconds = 0, full = 0;
  const tri_params p = {
      .function = TRI_CORRELATION, .output = TRI_CONDENSED, .type = TSL_F32, .n = n, .d = 1000};
  TSL_TRY(tsl_alloc(n * n, sizeof(float), "correlations", &slab));
  TSL_TRY(bench_problem(&p, &problem));
  full = product_seconds(&problem, t->o->threads, slab);
  TSL_TRY(bench_run(&problem, t->o->threads, 3, slab, NULL, &seconds));
  bench_tri_cpu_line(t, "full product f32 k=1000", 2e-9 * (double)(n * n) * 1000 / full, "GFLOP/s",
                     1, "itself", 0);
  bench_tri_cpu_line(t, "correlation f32 k=1000", 5e-10 * (double)(n * (n - 1)) / seconds,
                     "Gpairs/s", full / seconds, "full product", 1.3);
done:
  tsl_free(slab);
  tsl_problem_clear(&problem);
  return err;
}

static tsl_err bench_sum(const table *t) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 20000 : 60000;
  const double pairs = (double)n * (double)n * 1e-9 / t->o->threads;
  bench_tri_sums s;
  TSL_TRY(bench_tri_sum(n, t->o->threads, &s));
  bench_tri_cpu_line(t, "Gaussian sum by hand, per thread", pairs / s.hand, "Gpairs/s", 1, "itself",
                     0);
  bench_tri_cpu_line(t, "Gaussian sum by equation", pairs / s.deck, "Gpairs/s", s.hand / s.deck,
                     "by hand", 0.9);
done:
  return err;
}

static tsl_err bench_all(const bench_options *o) {
  tsl_err err = TSL_OK;
  const table t = {.o = o, .csv = o->table};
  TSL_TRY(bench_distances(&t));
  TSL_TRY(bench_gravity(&t));
  TSL_TRY(bench_histogram(&t));
  TSL_TRY(bench_sum(&t));
  TSL_TRY(bench_correlation(&t));
done:
  return err;
}

tsl_err tri_bench_cpu(int argc, char **argv) {
  static const bench_about about = {
      "tri",
      "tesela bench tri-cpu [--threads N] [--quick] [--csv FILE]\n"
      "Speeds of all-pairs kernels on this socket, best of several runs.\n"
      "TSL_SIMD=2|3|4 measures a lower SIMD level.\n",
      "what,threads,value,unit,ratio,reference,goal", bench_all};
  return bench_socket(argc, argv, omp_get_max_threads(), &about);
}
