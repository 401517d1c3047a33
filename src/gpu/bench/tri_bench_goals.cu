/* `tesela bench tri`: the kernels of all pairs against their goals and against cuBLAS. */
#include "gpu_blas.cuh"
#include "tri_bench.cuh"

#include <math.h>

static void tri_bench_goals_print_help(void) {
  puts("usage: tesela bench tri [--quick] [--repeat R] [--csv FILE]\n"
       "\n"
       "Kernels of all pairs on card 0 in fp32, copies to the host not counted; each line has its\n"
       "goal for one H200 and the ratio to it.\n"
       "  --quick     smaller problems\n"
       "  --repeat R  timed repetitions [5]\n"
       "  --csv FILE  also write the table as CSV");
}

static void tri_bench_goals_print_row(const tri_bench_options *o, const char *what, double value,
                                      const char *unit, double goal, double seconds) {
  printf("%-36s %12.4g %-18s goal %9.4g  ratio %6.2f  (%.4f ms)\n", what, value, unit, goal,
         value / goal, seconds * 1e3);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "\"%s\",%.6g,%s,%.6g,%.4f,%.6f\n", what, value, unit, goal, value / goal,
                  seconds * 1e3);
}

static tri_params params_of(int64_t n, int64_t d, int function, int output) {
  tri_params p = {};
  p.n = n;
  p.d = d;
  p.function = function;
  p.output = output;
  return p;
}

/* A line of the mean time of work(w), of so many units each, on a worker of the problem. */
template <class F>
static tsl_err bench_one(const tri_bench_options *o, const tri_params *p, const char *what,
                         double units, const char *unit, double goal, F work) {
  tsl_err err = TSL_OK;
  tri_bench_worker b = {};
  tri_bench_time time = {};
  tri_gpu *w = NULL;
  b.p = *p;
  TSL_TRY(tri_bench_open(&b));
  w = tri_bench_gpu(&b);
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return work(w); }, &time));
  tri_bench_goals_print_row(o, what, units / time.mean, unit, goal, time.mean);
done:
  tri_bench_close(&b);
  return err;
}

/* All rows at once; memory is there after the first time, which does not count. */
static tsl_err gravity(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p.n;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, n * 24, "accelerations"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out_2, n * 8, "potential"));
  TSL_TRY(
      tsl_gpu_reserve(&w->memory, &w->work[0], tri_gravity_bytes(w, n), "partial sums of forces"));
  TSL_TRY(tri_gravity_sums(w, 0, n, (double *)w->work[0].data, w->stream, w->stream));
  TSL_TRY(tri_gravity_combine(w, (const double *)w->work[0].data, n, (double *)w->out.data,
                              (double *)w->out_2.data, w->stream));
done:
  return err;
}

static tsl_err bench_gravity(const tri_bench_options *o) {
  tri_params p = params_of(o->quick ? 65536 : 262144, 3, TRI_GRAVITY, TRI_FORCES);
  p.softening = 0.01;
  p.constant = 1;
  p.mass = 1.0 / (double)p.n;
  return bench_one(o, &p, "gravity fp32", 20e-12 * (double)p.n * (double)(p.n - 1), "TFLOP/s", 35,
                   gravity);
}

static tsl_err bench_rdf(const tri_bench_options *o) {
  tri_params p = params_of(o->quick ? 200000 : 1000000, 3, TRI_EUCLIDEAN_PERIODIC, TRI_HISTOGRAM);
  p.bins = 200;
  p.range_hi = 0.5;
  for (int k = 0; k < 3; k++) p.box[k] = 1;
  return bench_one(o, &p, "RDF periodic 200 bins fp32", 0.5 * (double)p.n * (double)(p.n - 1),
                   "pairs/s", 4e11, [](tri_gpu *w) { return tri_histogram_run(w, 0, w->p.n); });
}

/* The whole n x n product, as one call of cuBLAS. */
static tsl_err full_product(cublasHandle_t handle, tri_gpu *w, float *out) {
  tsl_err err = TSL_OK;
  const float one = 1, zero = 0;
  const int n = (int)w->p.n, ld = (int)w->p.n_pad;
  const float *x = (const float *)w->points.data;
  TSL_BLAS_TRY(tsl_blas.Sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, (int)w->p.d, &one, x, ld, x,
                              ld, &zero, out, n));
done:
  return err;
}

static tsl_err bench_correlation(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  tri_bench_worker b = {};
  tri_bench_time ours = {}, full = {};
  tri_gpu *w = NULL;
  cublasHandle_t handle = NULL;
  const int64_t n = o->quick ? 4096 : 8192;
  const tri_slab slab = {0, n, n, false};
  b.p = params_of(n, 1000, TRI_CORRELATION, TRI_CONDENSED);
  TSL_TRY(tri_bench_open(&b));
  w = tri_bench_gpu(&b);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, n * n * 4, "matrix"));
  TSL_TRY(tsl_blas_create(w->stream, &handle));
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return full_product(handle, w, (float *)w->out.data); }, &full));
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return tri_slab_run(w, &slab, w->out.data); }, &ours));
  tri_bench_goals_print_row(o, "correlation k=1000 against full GEMM", full.mean / ours.mean,
                            "times as fast", 1.3, ours.mean);
done:
  tsl_blas_destroy(&handle);
  tri_bench_close(&b);
  return err;
}

/* Two lines: share of the write rate, and the time of the map fr at B = 16 over ours. */
static void print_distances(const tri_bench_options *o, const tri_params *p, double ceiling,
                            double ours, double fr) {
  const bool square = p->output == TRI_SQUARE;
  const double cells = 0.5 * (double)p->n * (double)(square ? p->n + 1 : p->n - 1);
  const char *word = square ? "square" : "condensed";
  char what[64];
  (void)snprintf(what, sizeof what, "euclidean d=%lld %s fp32", (long long)p->d, word);
  tri_bench_goals_print_row(o, what, 4 * cells / ours / ceiling, "of the write rate", 0.85, ours);
  (void)snprintf(what, sizeof what, "euclidean d=%lld %s against map fr", (long long)p->d, word);
  tri_bench_goals_print_row(o, what, fr / ours, "times as fast", 2.5, fr);
}

static tsl_err bench_distances(const tri_bench_options *o, int64_t d, int output) {
  tsl_err err = TSL_OK;
  tri_bench_worker b = {};
  tri_bench_time ours = {}, fr = {};
  tri_gpu *w = NULL;
  double ceiling = 0;
  const int64_t n = o->quick ? 16384 : 32768;
  const tri_slab slab = {0, n, n, false};
  b.p = params_of(n, d, TRI_EUCLIDEAN, output);
  TSL_TRY(tri_bench_open(&b));
  w = tri_bench_gpu(&b);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, n * n * 4, "matrix"));
  TSL_TRY(tri_bench_ceiling(w, w->out.data, n * n * 4, &ceiling));
  TSL_TRY(tri_bench_measure(
      w, 4 * o->repeat, [=]() { return tri_slab_run(w, &slab, w->out.data); }, &ours));
  w->p.map = TRI_MAP_FR;
  w->p.block = 16;
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return tri_slab_run(w, &slab, w->out.data); }, &fr));
  print_distances(o, &b.p, ceiling, ours.mean, fr.mean);
done:
  tri_bench_close(&b);
  return err;
}

static tsl_err bench_sum(const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 200000 : 1000000;
  const double pairs = (double)n * (double)n;
  tri_bench_sums s = {};
  TSL_TRY(tri_bench_sum(n, o->repeat, &s));
  tri_bench_goals_print_row(o, "Gaussian sum by equation, pairs", pairs / s.deck, "pairs/s", 7.2e11,
                            s.deck);
  tri_bench_goals_print_row(o, "Gaussian sum, equation against hand", s.hand / s.deck,
                            "times as fast", 0.9, s.hand);
  tri_bench_goals_print_row(o, "the same by hand with __expf", s.fast / s.deck, "times as fast",
                            0.5, s.fast);
done:
  return err;
}

tsl_err tri_bench_goals(int argc, char **argv) {
  static const char *const allowed[] = {"--quick", "--repeat", "--csv", NULL};
  tsl_err err = TSL_OK;
  tri_bench_options o = {};
  o.repeat = 5;
  TSL_TRY(tri_bench_options_read(argc, argv, allowed, &o));
  if (o.help) {
    tri_bench_goals_print_help();
    goto done;
  }
  if (o.csv != NULL) (void)fputs("what,value,unit,goal,ratio,milliseconds\n", o.csv);
  for (int64_t d = 2; d <= 3; d++) {
    TSL_TRY(bench_distances(&o, d, TRI_SQUARE));
    TSL_TRY(bench_distances(&o, d, TRI_CONDENSED));
  }
  TSL_TRY(bench_gravity(&o));
  TSL_TRY(bench_rdf(&o));
  TSL_TRY(bench_sum(&o));
  TSL_TRY(bench_correlation(&o));
done:
  return tri_bench_finish(&o, err);
}
