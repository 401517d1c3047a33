/* The lines of `tesela bench fractal`. */
#include "fractal_bench.cuh"

#include <math.h>

static const char *const memory_words[] = {"device", "managed", "pinned"};
static const char *const threads_words[] = {"auto", "1d", "2d"};
static const char *const mean_words[] = {"auto", "cublas", "tree", "atomic"};

enum { MAXITER = 1000 };

/* Seconds of the whole pipeline on a GTX 1660 Ti (Universidad de Oviedo, 2022). */
static const struct {
  int64_t resolution;
  int threads;
  double seconds;
} published[] = {
    {1024, FRACTAL_THREADS_1D, 0.122}, {2048, FRACTAL_THREADS_1D, 0.276},
    {4096, FRACTAL_THREADS_1D, 0.922}, {8192, FRACTAL_THREADS_1D, 3.27},
    {10240, FRACTAL_THREADS_1D, 5.03}, {10240, FRACTAL_THREADS_2D, 4.72},
};

static const char *published_text(int64_t resolution, const fractal_params *p, char text[16]) {
  (void)snprintf(text, 16, "-");
  for (size_t r = 0; r < sizeof published / sizeof *published; r++)
    if (published[r].resolution == resolution && published[r].threads == p->threads &&
        p->memory == FRACTAL_MEMORY_DEVICE)
      (void)snprintf(text, 16, "%.3f", published[r].seconds);
  return text;
}

/* ------------------------------------------------------------------ goals */

/* goal 0: none. */
static void print_goal(const tri_bench_options *o, const char *what, int64_t resolution,
                       double seconds, double value, const char *unit, double goal) {
  printf("%-44s %6lld  %10.4f ms  %11.4g %-13s", what, (long long)resolution, seconds * 1e3, value,
         unit);
  if (goal > 0)
    printf(" goal %9.4g  ratio %6.2f\n", goal, value / goal);
  else
    printf("\n");
  if (o->csv != NULL)
    (void)fprintf(o->csv, "\"%s\",%lld,,,,%.6f,,%.6g,%s,%.6g,\n", what, (long long)resolution,
                  seconds * 1e3, value, unit, goal);
}

/* All pixels inside, no tricks: steps per second. */
static tsl_err bench_raw(const tri_bench_options *o, tsl_type type, const char *what, double goal) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  double seconds = 0;
  const int64_t n = o->quick ? 2048 : 4096;
  fractal_bench_view(&b, true, n, MAXITER);
  b.p.type = type;
  b.p.interior = b.p.periodicity = 0;
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_bench_image_run(&b));
  if (b.totals[FRACTAL_TOTAL_INSIDE] != (uint64_t)(n * n))
    TSL_FAIL(TSL_ERR_INTERNAL, "%lld of %lld pixels are outside of a view that is all inside",
             (long long)(n * n) - (long long)b.totals[FRACTAL_TOTAL_INSIDE], (long long)(n * n));
  TSL_TRY(bench_best(
      b.w, o->repeat, [&]() { return fractal_values_run(b.w, 1); }, &seconds));
  print_goal(o, what, n, seconds, (double)(n * n) * (MAXITER - 1) / seconds, "iterations/s", goal);
done:
  fractal_bench_close(&b);
  return err;
}

/* The whole set: the seed's program in this run against ours. */
static tsl_err bench_whole(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  fractal_seed_times seed = {};
  double kernel = 0, pipeline = 0, filled = 0;
  const int64_t n = o->quick ? 2048 : 10240;
  fractal_bench_view(&b, false, n, MAXITER);
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_seed_measure(&b, o->repeat, &seed));
  TSL_TRY(fractal_bench_image_run(&b));
  TSL_TRY(bench_best(
      b.w, o->repeat, [&]() { return fractal_values_run(b.w, 1); }, &kernel));
  TSL_TRY(bench_best(
      b.w, o->repeat, [&]() { return fractal_bench_pipeline(&b); }, &pipeline));
  b.w->p.exact = 0;
  TSL_TRY(bench_best(
      b.w, o->repeat, [&]() { return fractal_bench_image_run(&b); }, &filled));
  printf("the seed's program, %lld: kernel 1d %.3f ms, 2d %.3f ms, pipeline %.3f ms\n",
         (long long)n, seed.kernel_1d * 1e3, seed.kernel_2d * 1e3, seed.pipeline * 1e3);
  print_goal(o, "whole set, kernel against the seed's", n, kernel,
             fmin(seed.kernel_1d, seed.kernel_2d) / kernel, "times as fast", 3);
  print_goal(o, "whole set, pipeline against the seed's", n, pipeline, seed.pipeline / pipeline,
             "times as fast", 3);
  print_goal(o, "whole set, exact: no, against exact", n, filled, kernel / filled, "times as fast",
             1);
  printf("exact: no filled %.2f %% of the pixels; %lld of %lld sampled differ\n",
         100.0 * (double)b.totals[FRACTAL_TOTAL_FILLED] / (double)(n * n),
         (long long)b.totals[FRACTAL_TOTAL_WRONG], (long long)b.totals[FRACTAL_TOTAL_SAMPLED]);
done:
  fractal_bench_close(&b);
  return err;
}

tsl_err fractal_bench_goals(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  printf("# fp64 on one card, maxiter %d; goals are for one H200\n", (int)MAXITER);
  TSL_TRY(bench_raw(o, TSL_F64, "all inside, no tricks, fp64", 2.8e12));
  TSL_TRY(bench_raw(o, TSL_F32, "all inside, no tricks, fp32", 0));
  TSL_TRY(bench_whole(o));
done:
  return err;
}

/* ------------------------------------------------------------------ table */

/* One line: kernel and pipeline by the image's memory, threads and mean. */
static tsl_err table_line(const tri_bench_options *o, fractal_bench_image *b, uint64_t sum) {
  tsl_err err = TSL_OK;
  const fractal_params *p = &b->w->p;
  char text[16];
  double kernel = 0, pipeline = 0;
  TSL_TRY(fractal_bench_image_run(b));
  if (b->totals[FRACTAL_TOTAL_VALUES] != sum)
    TSL_FAIL(TSL_ERR_INTERNAL, "the sum of the values is %llu here and %llu elsewhere",
             (unsigned long long)b->totals[FRACTAL_TOTAL_VALUES], (unsigned long long)sum);
  TSL_TRY(bench_best(
      b->w, o->repeat, [&]() { return fractal_values_run(b->w, 1); }, &kernel));
  TSL_TRY(bench_best(
      b->w, o->repeat, [&]() { return fractal_bench_pipeline(b); }, &pipeline));
  (void)published_text(p->xres, p, text);
  printf("%6lld  %-8s %-5s %-7s %11.3f %11.3f %9s\n", (long long)p->xres, memory_words[p->memory],
         threads_words[p->threads], mean_words[p->mean], kernel * 1e3, pipeline * 1e3, text);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "table,%lld,%s,%s,%s,%.6f,%.6f,,,,%s\n", (long long)p->xres,
                  memory_words[p->memory], threads_words[p->threads], mean_words[p->mean],
                  kernel * 1e3, pipeline * 1e3, text);
done:
  return err;
}

/* The seed's lines of one resolution, then ours. */
static tsl_err table_of(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  uint64_t sum = 0;
  fractal_bench_view(&b, false, n, MAXITER);
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_bench_image_run(&b));
  sum = b.totals[FRACTAL_TOTAL_VALUES];
  for (int memory = 0; memory < FRACTAL_N_MEMORIES; memory++)
    for (int threads = FRACTAL_THREADS_1D; threads < FRACTAL_N_THREADS; threads++) {
      tsl_gpu_release(&b.w->memory, &b.w->image); /* the next one is of another kind */
      b.w->p.memory = memory;
      b.w->p.threads = threads;
      b.w->p.mean = FRACTAL_MEAN_TREE;
      TSL_TRY(table_line(o, &b, sum));
    }
  tsl_gpu_release(&b.w->memory, &b.w->image);
  b.w->p = b.p;
  TSL_TRY(table_line(o, &b, sum));
done:
  fractal_bench_close(&b);
  return err;
}

/* The plain kernels alone, by the threads of a block. */
static tsl_err bench_blocks(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  fractal_bench_view(&b, false, n, MAXITER);
  TSL_TRY(fractal_bench_open(&b));
  for (int threads = FRACTAL_THREADS_1D; threads < FRACTAL_N_THREADS; threads++)
    for (int block = 32; block <= 1024; block *= 2) {
      double seconds = 0;
      b.w->p.threads = threads;
      b.w->p.block = block;
      TSL_TRY(fractal_bench_image_run(&b));
      TSL_TRY(bench_best(
          b.w, o->repeat, [&]() { return fractal_values_run(b.w, 1); }, &seconds));
      printf("%6lld  %-3s blocks of %4d %9.4f ms\n", (long long)n, threads_words[threads], block,
             seconds * 1e3);
      if (o->csv != NULL)
        (void)fprintf(o->csv, "blocks of %d,%lld,device,%s,,%.6f,,,,,\n", block, (long long)n,
                      threads_words[threads], seconds * 1e3);
    }
done:
  fractal_bench_close(&b);
  return err;
}

/* The sums alone, on an image that lies on the card. */
static tsl_err bench_means(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  uint64_t sum = 0;
  fractal_bench_view(&b, false, n, MAXITER);
  TSL_TRY(fractal_bench_open(&b));
  for (int mean = FRACTAL_MEAN_AUTO; mean < FRACTAL_N_MEANS; mean++) {
    double seconds = 0;
    b.w->p.mean = mean;
    TSL_TRY(fractal_bench_image_run(&b));
    if (mean == FRACTAL_MEAN_AUTO) sum = b.totals[FRACTAL_TOTAL_VALUES];
    if (b.totals[FRACTAL_TOTAL_VALUES] != sum)
      TSL_FAIL(TSL_ERR_INTERNAL, "gpu_mean: %s gives %llu, not %llu", mean_words[mean],
               (unsigned long long)b.totals[FRACTAL_TOTAL_VALUES], (unsigned long long)sum);
    TSL_TRY(bench_best(
        b.w, o->repeat, [&]() { return fractal_totals_run(b.w, 1); }, &seconds));
    printf("%6lld  mean %-7s %9.4f ms%s\n", (long long)n, mean_words[mean], seconds * 1e3,
           mean == FRACTAL_MEAN_AUTO ? " (inside the kernel of the values)" : "");
    if (o->csv != NULL)
      (void)fprintf(o->csv, "mean,%lld,device,auto,%s,%.6f,,,,,\n", (long long)n, mean_words[mean],
                    seconds * 1e3);
  }
done:
  fractal_bench_close(&b);
  return err;
}

/* Binarising alone, on an image that lies on the card. */
static tsl_err bench_binarise(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  fractal_bench_view(&b, false, n, MAXITER);
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_bench_image_run(&b));
  for (int threads = FRACTAL_THREADS_1D; threads < FRACTAL_N_THREADS; threads++) {
    double seconds = 0;
    b.w->p.threads = threads;
    TSL_TRY(bench_best(
        b.w, o->repeat,
        [&]() {
          return fractal_binarise_run(b.w, b.w->list[0].out, n * n, b.totals[FRACTAL_TOTAL_VALUES],
                                      (uint64_t)(n * n), (uint8_t *)b.binary_device.data);
        },
        &seconds));
    printf("%6lld  binarise %-3s %9.4f ms\n", (long long)n, threads_words[threads], seconds * 1e3);
    if (o->csv != NULL)
      (void)fprintf(o->csv, "binarise,%lld,device,%s,,%.6f,,,,,\n", (long long)n,
                    threads_words[threads], seconds * 1e3);
  }
done:
  fractal_bench_close(&b);
  return err;
}

/* ----------------------------------------------------------------- theory */

static double pearson(const double *a, const double *b, int n) {
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (int k = 0; k < n; k++) {
    ma += a[k] / n;
    mb += b[k] / n;
  }
  for (int k = 0; k < n; k++) {
    aa += (a[k] - ma) * (a[k] - ma);
    bb += (b[k] - mb) * (b[k] - mb);
    ab += (a[k] - ma) * (b[k] - mb);
  }
  return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* One resolution of the theory: the prediction, the seed's kernel and ours without tricks. */
static tsl_err theory_of(const tri_bench_options *o, int64_t n, double *predicted, double *seed,
                         double *ours) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  fractal_seed_times times = {};
  double peak = 0;
  fractal_bench_view(&b, true, n, MAXITER);
  b.p.interior = b.p.periodicity = 0;
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_bench_image_run(&b));
  TSL_TRY(fractal_bench_peak(b.w, &peak));
  TSL_TRY(fractal_seed_measure(&b, o->repeat, &times));
  TSL_TRY(bench_best(
      b.w, o->repeat, [&]() { return fractal_values_run(b.w, 1); }, ours));
  *seed = fmin(times.kernel_1d, times.kernel_2d);
  *predicted = (6.0 * MAXITER + 5) * (double)(n * n) / peak;
  printf("%6lld  peak %7.3f TFLOP/s  predicted %10.3f ms  the seed's kernel %10.3f ms (%.2f)  ours "
         "%10.3f ms (%.2f)\n",
         (long long)n, peak * 1e-12, *predicted * 1e3, *seed * 1e3, *seed / *predicted, *ours * 1e3,
         *ours / *predicted);
  if (o->csv != NULL) {
    (void)fprintf(o->csv, "theory predicted,%lld,,,,%.6f,,%.6g,flop/s,,\n", (long long)n,
                  *predicted * 1e3, peak);
    (void)fprintf(o->csv, "theory seed,%lld,,,,%.6f,,,,,\n", (long long)n, *seed * 1e3);
    (void)fprintf(o->csv, "theory ours,%lld,,,,%.6f,,,,,\n", (long long)n, *ours * 1e3);
  }
done:
  fractal_bench_close(&b);
  return err;
}

static tsl_err bench_theory(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  double predicted[TRI_BENCH_LIST], seed[TRI_BENCH_LIST], ours[TRI_BENCH_LIST];
  puts("\n# theory: (6 maxiter + 5) flops for each pixel at the measured rate of fused\n"
       "# multiply-adds (two flops each); all pixels inside, so that the steps are known");
  for (int k = 0; k < o->n_n; k++)
    TSL_TRY(theory_of(o, o->n[k], &predicted[k], &seed[k], &ours[k]));
  if (o->n_n > 1)
    printf("correlation with the prediction: the seed's kernel %.6f, ours %.6f\n",
           pearson(predicted, seed, o->n_n), pearson(predicted, ours, o->n_n));
done:
  return err;
}

tsl_err fractal_bench_table(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  printf(
      "\n# whole set, maxiter %d: the seed's memories and threads with our arithmetic; last line\n"
      "# of a resolution: our default. Pipeline: image, mean, binarised image, both on the host\n",
      (int)MAXITER);
  printf("%6s  %-8s %-5s %-7s %11s %11s %9s\n", "N", "memory", "thr", "mean", "kernel ms",
         "pipeline ms", "1660Ti s");
  for (int k = 0; k < o->n_n; k++) TSL_TRY(table_of(o, o->n[k]));
  TSL_TRY(bench_blocks(o, o->n[o->n_n - 1]));
  TSL_TRY(bench_means(o, o->n[o->n_n - 1]));
  TSL_TRY(bench_binarise(o, o->n[o->n_n - 1]));
  TSL_TRY(bench_theory(o));
done:
  return err;
}
