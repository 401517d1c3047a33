/** @file bench_fractal_cpu.c  `tesela bench fractal-cpu`: schedules, our default, theory. */
#include "bench_cpu.h"
#include "bench_options.h"
#include "fractal_cpu.h"
#include "new_file.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SIZES = 4, SCHEDULE_MAXITER = 500, TASKS_SIZE = 1024 };

/* ------------------------------------------------------------------ images */

/** A square view and how it is computed. */
typedef struct picture {
  fractal_params params;
  double centre[2], width;
} picture;

static picture full_view(int64_t size) {
  return (picture){.params = {.set = FRACTAL_MANDELBROT,
                              .type = TSL_F64,
                              .value_type = TSL_U16,
                              .exact = 1,
                              .interior = 1,
                              .periodicity = 1,
                              .xres = size,
                              .yres = size,
                              .maxiter = SCHEDULE_MAXITER},
                   .centre = {-0.5, 0},
                   .width = 3};
}

/** All pixels inside, and nothing but steps to find that out. */
static picture inside_view(int64_t size, int32_t type) {
  picture i = full_view(size);
  i.params.type = type;
  i.params.interior = i.params.periodicity = 0;
  i.params.maxiter = 1000;
  i.centre[0] = -0.1;
  i.width = 0.2;
  return i;
}

/** A problem made without a deck; values are in part.slab. */
typedef struct bench {
  const picture *image;
  tsl_problem problem;
  tsl_unit unit;
  tsl_part part;
  int64_t bytes; /**< of the values */
} bench;

static void bench_clear(bench *b) {
  tsl_free(b->part.slab[FRACTAL_VALUES]);
  tsl_problem_clear(&b->problem);
}

static tsl_err bench_make(const picture *image, bench *b) {
  tsl_err err = TSL_OK;
  const int64_t n = image->params.xres;
  *b = (bench){.image = image, .unit = {.hi = {n, n, 1}}};
  TSL_TRY(tsl_alloc(1, sizeof image->params, "parameters", &b->problem.params));
  *(fractal_params *)b->problem.params = image->params;
  b->problem.n_fields = FRACTAL_TOTALS + 1;
  for (int axis = 0; axis < 2; axis++) {
    void **table = &b->problem.fields[axis == 0 ? FRACTAL_X : FRACTAL_Y].data;
    TSL_TRY(tsl_alloc(n, sizeof(double), "coordinates", table));
    for (int64_t i = 0; i < n; i++) {
      const double at = ((double)i + 0.5 - 0.5 * (double)n) * (image->width / (double)n);
      const double c = image->centre[axis] + (axis == 0 ? at : -at);
      if (image->params.type == TSL_F64)
        ((double *)*table)[i] = c;
      else
        ((float *)*table)[i] = (float)c;
    }
  }
  b->bytes = n * n * (image->params.value_type == TSL_U16 ? 2 : 4);
  TSL_TRY(tsl_alloc(b->bytes, 1, "values", &b->part.slab[FRACTAL_VALUES]));
  memset(b->part.slab[FRACTAL_VALUES], 1, (size_t)b->bytes); /* page faults now */
done:
  return err;
}

/** Best seconds of the image under a schedule. */
static tsl_err bench_run(bench *b, fractal_schedule schedule, int threads, int repeats,
                         double *seconds) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  ((fractal_params *)b->problem.params)->schedule = (int32_t)schedule;
  *seconds = INFINITY;
  TSL_TRY(fractal_backend_cpu.open(&b->problem, &device, &w));
  TSL_TRY(fractal_backend_cpu.begin(w, 0));
  for (int r = 0; r < repeats; r++) {
    TSL_TRY(fractal_backend_cpu.run(w, &b->unit, 1, &b->part));
    if (b->part.seconds < *seconds) *seconds = b->part.seconds;
  }
done:
  fractal_backend_cpu.close(&w);
  return err;
}

/** The same by the formula as a textbook has it, rows dealt dynamically. */
static void bench_textbook(bench *b, const fractal_kernels *kernels, int threads, int repeats,
                           double *seconds) {
  const fractal_params *p = b->problem.params;
  const int64_t n = p->xres;
  const int t = p->type == TSL_F64;
  *seconds = INFINITY;
  for (int r = 0; r < repeats; r++) {
    const double start = tsl_cpu_seconds();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t row = 0; row < n; row++) {
      const fractal_piece piece = {
          .x = b->problem.fields[FRACTAL_X].data,
          .y = (const char *)b->problem.fields[FRACTAL_Y].data + row * (t ? 8 : 4),
          .one_y = true,
          .out = (char *)b->part.slab[FRACTAL_VALUES] + row * (b->bytes / n),
          .n = n};
      kernels->textbook[t](p, &piece);
    }
    if (tsl_cpu_seconds() - start < *seconds) *seconds = tsl_cpu_seconds() - start;
  }
}

/* ------------------------------------------------------------------ the table */

typedef struct table {
  const bench_options *o;
  const fractal_kernels *kernels;
  FILE *csv;
  double peak[2];          /**< flop/s of all threads, fp32 and fp64 */
  int n;                   /**< sizes measured */
  double size[MAX_SIZES];  /**< pixels */
  double plain[MAX_SIZES]; /**< s, the best of the schedules */
  double ours[MAX_SIZES];  /**< s */
} table;

/** One schedule at one size; published <= 0: none. */
static void bench_fractal_cpu_line(const table *t, const char *what, int64_t size, double seconds,
                                   double serial, double published) {
  const double pixels = (double)size * (double)size;
  printf("%6lld  %-22s %10.4f s %10.2f Mpixel/s %8.2f x", (long long)size, what, seconds,
         1e-6 * pixels / seconds, serial / seconds);
  if (published > 0)
    printf("   published %.2f x on 8 cores\n", published);
  else
    printf("\n");
  if (t->csv != NULL)
    fprintf(t->csv, "\"%s\",%lld,%d,%.6g,s,%.6g,serial,%.6g\n", what, (long long)size,
            t->o->threads, seconds, serial / seconds, published);
}

/** One figure beside its goal; goal <= 0: none. */
static void figure(const table *t, const char *what, int64_t size, double value, const char *unit,
                   double goal) {
  printf("%6lld  %-36s %10.4g %-12s", (long long)size, what, value, unit);
  if (goal > 0)
    printf(" goal %-8.3g %s\n", goal, value >= goal ? "reached" : "NOT REACHED");
  else
    printf("\n");
  if (t->csv != NULL)
    fprintf(t->csv, "\"%s\",%lld,%d,%.6g,%s,,,%.6g\n", what, (long long)size, t->o->threads, value,
            unit, goal);
}

static tsl_err bench_schedules(table *t, int64_t size) {
  static const struct {
    fractal_schedule schedule;
    const char *what;
    double published;
  } rows[] = {{FRACTAL_SCHEDULE_TASKS, "tasks", 1.32},
              {FRACTAL_SCHEDULE_STATIC, "static", 5.32},
              {FRACTAL_SCHEDULE_DYNAMIC, "dynamic", 6.33},
              {FRACTAL_SCHEDULE_GUIDED, "guided", 0},
              {FRACTAL_SCHEDULE_COLLAPSE, "collapse", 5.96}};
  tsl_err err = TSL_OK;
  const picture full = full_view(size);
  const int repeats = size <= 2048 ? 3 : 1;
  bench b;
  double serial = 0, seconds = 0, best = INFINITY;
  TSL_TRY(bench_make(&full, &b));
  TSL_TRY(bench_run(&b, FRACTAL_SCHEDULE_STATIC, 1, repeats, &serial));
  bench_fractal_cpu_line(t, "serial", size, serial, serial, 0);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (rows[k].schedule == FRACTAL_SCHEDULE_TASKS && size > TASKS_SIZE) continue;
    TSL_TRY(bench_run(&b, rows[k].schedule, t->o->threads, repeats, &seconds));
    bench_fractal_cpu_line(t, rows[k].what, size, seconds, serial, rows[k].published);
    if (seconds < best) best = seconds;
  }
  bench_textbook(&b, t->kernels, t->o->threads, repeats, &seconds);
  bench_fractal_cpu_line(t, "dynamic, textbook step", size, seconds, serial, 0);
  if (seconds < best) best = seconds;
  TSL_TRY(bench_run(&b, FRACTAL_SCHEDULE_AUTO, t->o->threads, 5, &seconds));
  bench_fractal_cpu_line(t, "auto (default)", size, seconds, serial, 0);
  t->size[t->n] = (double)size * (double)size;
  t->plain[t->n] = best;
  t->ours[t->n++] = seconds;
  figure(t, "auto / best schedule", size, best / seconds, "x", size == 8192 ? 8 : 0);
done:
  bench_clear(&b);
  return err;
}

/** Raw rate of steps, nothing else to be done. */
static tsl_err bench_raw(table *t, int32_t type, double goal) {
  tsl_err err = TSL_OK;
  const int64_t size = t->o->quick ? 512 : 2048;
  const picture inside = inside_view(size, type);
  const double steps = (double)size * (double)size * (double)inside.params.maxiter;
  bench b;
  double seconds = 0;
  TSL_TRY(bench_make(&inside, &b));
  TSL_TRY(bench_run(&b, FRACTAL_SCHEDULE_AUTO, t->o->threads, 5, &seconds));
  const double rate = steps / seconds / t->o->threads;
  figure(t, type == TSL_F64 ? "all inside, fp64, per core" : "all inside, fp32, per core", size,
         rate, "steps/s", goal);
  figure(t, "  7 flop a step / measured peak", size,
         7 * rate * t->o->threads / t->peak[type == TSL_F64], "", 0);
done:
  bench_clear(&b);
  return err;
}

/** Best rate of independent fused multiply-adds on all threads. */
static void bench_peak(table *t) {
  const int64_t rounds = t->o->quick ? 1000000 : 4000000;
  for (int k = 0; k < 2; k++)
    for (int r = 0; r < 5; r++) {
      double flops = 0;
      const double start = tsl_cpu_seconds();
#pragma omp parallel num_threads(t->o->threads) reduction(+ : flops)
      flops += t->kernels->peak[k](t->kernels->level > 2 ? rounds : rounds / 100);
      t->peak[k] = fmax(t->peak[k], flops / (tsl_cpu_seconds() - start));
    }
  figure(t, "peak fp64, fused multiply-adds", 0, 1e-9 * t->peak[1], "GFLOP/s", 0);
  figure(t, "peak fp32, fused multiply-adds", 0, 1e-9 * t->peak[0], "GFLOP/s", 0);
}

static double pearson(const double *a, const double *b, int n) {
  double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
  for (int k = 0; k < n; k++) ma += a[k] / n, mb += b[k] / n;
  for (int k = 0; k < n; k++) {
    ab += (a[k] - ma) * (b[k] - mb);
    aa += (a[k] - ma) * (a[k] - ma);
    bb += (b[k] - mb) * (b[k] - mb);
  }
  return ab / sqrt(aa * bb);
}

/** Prediction (6 maxiter + 5) flop for each pixel at the measured peak, against measurement. */
static void bench_theory(const table *t) {
  double predicted[MAX_SIZES];
  for (int k = 0; k < t->n; k++) {
    const int64_t size = (int64_t)sqrt(t->size[k]);
    predicted[k] = (6.0 * SCHEDULE_MAXITER + 5) * t->size[k] / t->peak[1];
    figure(t, "theory, every pixel inside", size, predicted[k], "s", 0);
    figure(t, "  best schedule / theory", size, t->plain[k] / predicted[k], "x", 0);
    figure(t, "  auto / theory", size, t->ours[k] / predicted[k], "x", 0);
  }
  if (t->n < 3) return;
  figure(t, "correlation theory, best schedule", 0, pearson(predicted, t->plain, t->n), "", 0);
  figure(t, "correlation theory, auto", 0, pearson(predicted, t->ours, t->n), "", 0);
}

static tsl_err bench_all(const bench_options *o) {
  static const int64_t sizes[2][MAX_SIZES] = {{1024, 2048, 4096, 8192}, {256, 512, 1024, 0}};
  tsl_err err = TSL_OK;
  table all = {.o = o, .kernels = fractal_kernels_at(o->level), .csv = o->table}, *const t = &all;
  bench_peak(t);
  TSL_TRY(bench_raw(t, TSL_F64, 1e10));
  TSL_TRY(bench_raw(t, TSL_F32, 0));
  printf("\nwhole mandelbrot, fp64, maxiter %d, values only; speed-up over serial\n",
         SCHEDULE_MAXITER);
  for (int k = 0; k < MAX_SIZES; k++)
    if (sizes[t->o->quick][k] > 0) TSL_TRY(bench_schedules(t, sizes[t->o->quick][k]));
  printf("\ntheory: (6 maxiter + 5) flop for each pixel at the peak\n");
  bench_theory(t);
done:
  return err;
}

tsl_err fractal_bench_cpu(int argc, char **argv) {
  static const bench_about about = {
      "fractal",
      "tesela bench fractal-cpu [--threads N] [--quick] [--csv FILE]\n"
      "Escape-time images on this socket: plain loops under OpenMP schedules, our default,\n"
      "and theory; best of several runs. TSL_SIMD=2|3|4 measures a lower SIMD level.\n",
      "what,size,threads,value,unit,ratio,reference,goal", bench_all};
  return bench_socket(argc, argv, omp_get_max_threads(), &about);
}
