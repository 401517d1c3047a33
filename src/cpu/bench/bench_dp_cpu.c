/** @file bench_dp_cpu.c  `tesela bench dp-cpu`: speeds of the dp engines, each beside its goal. */
#include "bench_cpu.h"
#include "bench_dp_peers.h"
#include "bench_dp_recur.h"
#include "bench_dp_storage.h"
#include "bench_options.h"
#include "cpu.h"
#include "dp_cpu.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ the table */

typedef struct table {
  const bench_options *o;
  dp_cpu cpu;
  int repeats;
  FILE *csv;
} table;

/** One line: what, 1e9 items a second and thread, the same as a ratio to a reference, its goal. */
static void bench_dp_cpu_line(const table *t, const char *what, double rate, double ratio,
                              const char *of, double goal) {
  printf("%-40s %9.3f G/s/thread %8.2f x %-26s", what, rate, ratio, of);
  if (goal > 0)
    printf(" goal %5.2f  %s\n", goal, ratio >= goal ? "reached" : "NOT REACHED");
  else
    printf("\n");
  if (t->csv != NULL)
    fprintf(t->csv, "\"%s\",%d,%.6g,%.6g,\"%s\",%.6g\n", what, t->o->threads, rate, ratio, of,
            goal);
}

/** 1e9 items a second and thread. */
static double rate_of(const table *t, double items, double seconds) {
  return items / seconds / t->o->threads * 1e-9;
}

/** Best seconds of a function; a warm run comes first. */
static tsl_err best_of(const table *t, tsl_err (*run)(void *context), void *context,
                       double *seconds) {
  tsl_err err = TSL_OK;
  *seconds = INFINITY;
  for (int r = 0; r <= t->repeats; r++) {
    const double start = tsl_cpu_seconds();
    TSL_TRY(run(context));
    const double took = tsl_cpu_seconds() - start;
    if (r > 0 && took < *seconds) *seconds = took;
  }
done:
  return err;
}

static uint64_t random_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static tsl_err letters_make(int64_t n, int letters, uint64_t seed, uint8_t **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, "letters", (void **)out));
  for (int64_t i = 0; i < n; i++) (*out)[i] = (uint8_t)(random_next(&seed) % (unsigned)letters);
done:
  return err;
}

/* ------------------------------------------------------------------ sequences */

typedef struct bits_run {
  dp_cpu_bits *band;
  int64_t n;
} bits_run;

static tsl_err run_bits(void *context) {
  const bits_run *r = context;
  dp_cpu_bits_begin(r->band);
  return dp_cpu_bits_tile(r->band, 0, r->n, NULL, NULL, false);
}

static tsl_err bench_bits(const table *t, dp_problem problem, int64_t n, int letters,
                          const char *what, double goal) {
  tsl_err err = TSL_OK;
  bits_run r = {.n = n};
  uint8_t *a = NULL, *b = NULL;
  double seconds = 0;
  TSL_TRY(letters_make(n, letters, 1, &a));
  TSL_TRY(letters_make(n, letters, 2, &b));
  TSL_TRY(dp_cpu_bits_open(&t->cpu, problem, a, n, b, n, &r.band));
  TSL_TRY(best_of(t, run_bits, &r, &seconds));
  const double rate = rate_of(t, (double)n * (double)n, seconds);
  bench_dp_cpu_line(t, what, rate, rate / 100, "100e9 cells/s", goal);
done:
  dp_cpu_bits_close(&r.band);
  TSL_FREE_ALL(a, b);
  return err;
}

/** Against edlib on a pair that differs in every tenth letter. */
static tsl_err bench_edlib(const table *t, int64_t n) {
  tsl_err err = TSL_OK;
  bits_run r = {.n = n};
  uint8_t *a = NULL, *b = NULL;
  double seconds = 0, peer = 0;
  int64_t distance = 0;
  TSL_TRY(letters_make(n, 4, 3, &a));
  TSL_TRY(letters_make(n, 4, 3, &b));
  for (int64_t i = 0; i < n; i += 10) b[i] = (uint8_t)(3 - b[i]);
  TSL_TRY(dp_cpu_bits_open(&t->cpu, DP_EDIT, a, n, b, n, &r.band));
  TSL_TRY(best_of(t, run_bits, &r, &seconds));
  if (dp_peer_edlib(a, n, b, n, t->repeats, &peer, &distance)) {
    if (distance != dp_cpu_bits_sum(r.band) + n)
      TSL_FAIL(TSL_ERR_INTERNAL, "edit distance %lld, edlib says %lld",
               (long long)(dp_cpu_bits_sum(r.band) + n), (long long)distance);
    bench_dp_cpu_line(t, "edit distance, 10 % different",
                      rate_of(t, (double)n * (double)n, seconds), peer / seconds,
                      "edlib (band), 1 thread", 0);
  } else
    printf("edlib is not installed (libedlib.so.1): not compared\n");
done:
  dp_cpu_bits_close(&r.band);
  TSL_FREE_ALL(a, b);
  return err;
}

typedef struct align_run {
  dp_cpu_align *band;
  int64_t n;
} align_run;

static tsl_err run_align(void *context) {
  const align_run *r = context;
  dp_cpu_align_begin(r->band);
  return dp_cpu_align_tile(r->band, 0, r->n, NULL, NULL, false);
}

/** 20,000 x 20,000 DNA letters; same of 100 letters are kept in the second sequence. */
static tsl_err bench_align(const table *t, dp_problem problem, int same, const char *what,
                           double goal) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 5000 : 20000;
  letters_scores scores = {.open = 4, .extend = 2, .alphabet = 4};
  align_run r = {.n = n};
  uint8_t *a = NULL, *b = NULL;
  uint64_t state = 4;
  double seconds = 0, peer = 0;
  int64_t score = 0;
  char kernel[48], of[64];
  for (int x = 0; x < 4; x++)
    for (int y = 0; y < 4; y++) scores.s[x][y] = x == y ? 2 : -3;
  TSL_TRY(letters_make(n, 4, 5, &a));
  TSL_TRY(letters_make(n, 4, 6, &b));
  for (int64_t i = 0; i < n; i++)
    if ((int)(random_next(&state) % 100) < same) b[i] = a[i];
  TSL_TRY(dp_cpu_align_open(&t->cpu, problem, &scores, a, n, b, n, n, 0, &r.band));
  TSL_TRY(best_of(t, run_align, &r, &seconds));
  const double rate = rate_of(t, (double)n * (double)n, seconds);
  if (!dp_peer_parasail(problem, &scores, a, n, b, n, t->repeats, &peer, &score, kernel)) {
    printf("parasail is not installed (libparasail.so.8): not compared\n");
    bench_dp_cpu_line(t, what, rate, 1, "itself", 0);
    goto done;
  }
  /* 16 bits of parasail saturate; of a global alignment already on the boundary */
  const int64_t mine = dp_cpu_align_best(r.band).score;
  const int64_t reach = problem == DP_LOCAL ? mine : scores.open + n * scores.extend;
  if (mine != score && reach < 32000)
    TSL_FAIL(TSL_ERR_INTERNAL, "score %lld, %s says %lld", (long long)mine, kernel,
             (long long)score);
  (void)snprintf(of, sizeof of, "%s", kernel);
  bench_dp_cpu_line(t, what, rate, rate * t->o->threads / ((double)n * (double)n / peer * 1e-9), of,
                    goal);
done:
  dp_cpu_align_close(&r.band);
  TSL_FREE_ALL(a, b);
  return err;
}

static tsl_err bench_edit(const table *t) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 5000 : 20000;
  align_run r = {.n = n};
  uint8_t *a = NULL, *b = NULL;
  double seconds = 0;
  TSL_TRY(letters_make(n, 26, 7, &a));
  TSL_TRY(letters_make(n, 26, 8, &b));
  TSL_TRY(dp_cpu_edit_open(&t->cpu, 2, 3, 4, a, n, b, n, n, 0, &r.band));
  TSL_TRY(best_of(t, run_align, &r, &seconds));
  bench_dp_cpu_line(t, "edit distance, weights", rate_of(t, (double)n * (double)n, seconds), 1,
                    "itself", 0);
done:
  dp_cpu_align_close(&r.band);
  TSL_FREE_ALL(a, b);
  return err;
}

typedef struct dtw_run {
  dp_cpu_dtw *band;
  int64_t n;
} dtw_run;

static tsl_err run_dtw(void *context) {
  const dtw_run *r = context;
  dp_cpu_dtw_begin(r->band);
  return dp_cpu_dtw_tile(r->band, 0, r->n, NULL, NULL, false);
}

static tsl_err bench_dtw(const table *t) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 4000 : 16000;
  dtw_run r = {.n = n};
  float *x = NULL;
  uint64_t state = 9;
  double seconds = 0;
  TSL_TRY(tsl_alloc(2 * n, sizeof *x, "series", (void **)&x));
  for (int64_t i = 0; i < 2 * n; i++) x[i] = (float)random_next(&state) * 0x1p-31f;
  TSL_TRY(dp_cpu_dtw_open(&t->cpu, TSL_F32, false, x, n, x + n, n, &r.band));
  TSL_TRY(best_of(t, run_dtw, &r, &seconds));
  bench_dp_cpu_line(t, "dynamic time warping f32", rate_of(t, (double)n * (double)n, seconds), 1,
                    "itself", 0);
done:
  dp_cpu_dtw_close(&r.band);
  tsl_free(x);
  return err;
}

/** The same of three sequences, the second of them twice: the length is that of two. */
static tsl_err bench_three(const table *t, const uint8_t *a, const uint8_t *b, double two) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 300 : 600;
  const dp_bench_letters pair = {.a = a, .b = b, .n = n};
  const dp_bench_letters three = {.a = a, .b = b, .n = n, .c = b, .n_c = n};
  double seconds = 0;
  int64_t length = 0, want = 0;
  TSL_TRY(dp_bench_recurrence(&pair, 1, &seconds, &want));
  TSL_TRY(dp_bench_recurrence(&three, t->repeats, &seconds, &length));
  if (length != want)
    TSL_FAIL(TSL_ERR_INTERNAL, "of three sequences the length is %lld, of two %lld",
             (long long)length, (long long)want);
  const double rate = (double)n * (double)n * (double)n / seconds * 1e-9;
  bench_dp_cpu_line(t, "a deck's recurrence: of three, i32", rate, rate / two, "of two", 0.5);
done:
  return err;
}

/** A recurrence as decks have it, by one thread; its goal is the engine's length. */
static tsl_err bench_recurrence(const table *t) {
  tsl_err err = TSL_OK;
  const int64_t n = t->o->quick ? 4000 : 16000;
  dp_bench_letters letters = {.n = n};
  bits_run r = {.n = n};
  uint8_t *a = NULL, *b = NULL;
  double seconds = 0;
  int64_t length = 0;
  TSL_TRY(letters_make(n, 4, 1, &a));
  TSL_TRY(letters_make(n, 4, 2, &b));
  TSL_TRY(dp_cpu_bits_open(&t->cpu, DP_LCS, a, n, b, n, &r.band));
  TSL_TRY(run_bits(&r));
  letters.a = a, letters.b = b;
  TSL_TRY(dp_bench_recurrence(&letters, t->repeats, &seconds, &length));
  if (length != dp_cpu_bits_sum(r.band))
    TSL_FAIL(TSL_ERR_INTERNAL, "a deck's recurrence finds the length %lld, the engine %lld",
             (long long)length, (long long)dp_cpu_bits_sum(r.band));
  const double rate = (double)n * (double)n / seconds * 1e-9;
  bench_dp_cpu_line(t, "a deck's recurrence: LCS, i32", rate, rate, "1e9 cells/s", 1);
  TSL_TRY(bench_three(t, a, b, rate));
done:
  dp_cpu_bits_close(&r.band);
  TSL_FREE_ALL(a, b);
  return err;
}

/* ------------------------------------------------------------------ rows */

typedef struct sack_run {
  const dp_cpu *cpu;
  int64_t items, columns;
  int64_t *weights, *values, *from, *to;
  uint64_t *taken;
} sack_run;

static tsl_err run_sack(void *context) {
  const sack_run *r = context;
  return dp_cpu_knapsack(r->cpu, r->weights, r->values, r->items, r->from, r->to, 0, r->columns,
                         r->taken);
}

static tsl_err bench_knapsack(const table *t) {
  tsl_err err = TSL_OK;
  sack_run r = {.cpu = &t->cpu, .items = 128, .columns = t->o->quick ? 100001 : 1000001};
  uint64_t *bits = NULL, state = 10;
  double seconds = 0;
  TSL_TRY(tsl_alloc(r.items, sizeof *r.weights, "weights", (void **)&r.weights));
  TSL_TRY(tsl_alloc(r.items, sizeof *r.values, "values", (void **)&r.values));
  TSL_TRY(tsl_alloc(r.columns, sizeof *r.from, "row", (void **)&r.from));
  TSL_TRY(tsl_alloc(r.columns, sizeof *r.to, "row", (void **)&r.to));
  TSL_TRY(tsl_alloc(r.items * (r.columns / 64 + 1), sizeof *bits, "bits", (void **)&bits));
  for (int64_t i = 0; i < r.items; i++) {
    r.weights[i] = 1 + (int64_t)(random_next(&state) % 1000);
    r.values[i] = 1 + (int64_t)(random_next(&state) % 1000);
  }
  for (int k = 0; k < 2; k++) {
    r.taken = k > 0 ? bits : NULL;
    TSL_TRY(best_of(t, run_sack, &r, &seconds));
    const double rate = rate_of(t, (double)r.items * (double)r.columns, seconds);
    bench_dp_cpu_line(t, k > 0 ? "knapsack, bits of what is taken" : "knapsack, value", rate,
                      rate / 5, "5e9 cells/s", k > 0 ? 0 : 1);
  }
done:
  TSL_FREE_ALL(r.weights, r.values, r.from, r.to, bits);
  return err;
}

typedef struct row_run {
  const dp_cpu *cpu;
  int64_t m;
  double *from, *to, *costs;
  bool stagecoach;
} row_run;

static tsl_err run_row(void *context) {
  const row_run *r = context;
  if (r->stagecoach)
    return dp_cpu_stagecoach(r->cpu, TSL_F64, r->from, r->costs, r->m, r->to, 0, r->m, NULL);
  return dp_cpu_allotment(r->cpu, TSL_F64, r->from, r->costs, r->to, 0, r->m, NULL);
}

static tsl_err bench_row(const table *t, bool stagecoach) {
  tsl_err err = TSL_OK;
  row_run r = {.cpu = &t->cpu, .m = t->o->quick ? 1000 : 4000, .stagecoach = stagecoach};
  uint64_t state = 11;
  double seconds = 0;
  const int64_t n = stagecoach ? r.m * r.m : r.m;
  TSL_TRY(tsl_alloc(r.m, sizeof *r.from, "row", (void **)&r.from));
  TSL_TRY(tsl_alloc(r.m, sizeof *r.to, "row", (void **)&r.to));
  TSL_TRY(tsl_alloc(n, sizeof *r.costs, "costs", (void **)&r.costs));
  for (int64_t k = 0; k < r.m; k++) r.from[k] = (double)random_next(&state);
  for (int64_t k = 0; k < n; k++) r.costs[k] = (double)random_next(&state);
  TSL_TRY(best_of(t, run_row, &r, &seconds));
  const double pairs = (double)r.m * (double)r.m * (stagecoach ? 1 : 0.5);
  bench_dp_cpu_line(t, stagecoach ? "stagecoach f64 (memory)" : "allotment f64",
                    rate_of(t, pairs, seconds), 1, "itself", 0);
done:
  TSL_FREE_ALL(r.from, r.to, r.costs);
  return err;
}

/* ------------------------------------------------------------------ intervals */

static tsl_err run_interval(void *context) {
  dp_cpu_interval_all(context);
  return TSL_OK;
}

static tsl_err bench_interval(const table *t, dp_problem problem, int64_t n, int64_t range,
                              const char *what, double goal) {
  tsl_err err = TSL_OK;
  int64_t *d = NULL;
  uint8_t *letters = NULL;
  dp_cpu_interval *w = NULL;
  uint64_t state = 12;
  double seconds = 0;
  table few = *t;
  dp_cpu_interval_input in = {.problem = problem,
                              .type = problem == DP_NUSSINOV ? TSL_I32 : TSL_I64,
                              .posts = n + 1,
                              .span = 3,
                              .pairs = {8, 4, 2, 1}};
  few.repeats = 2;
  TSL_TRY(letters_make(n, 4, 13, &letters));
  TSL_TRY(tsl_alloc(n + 1, sizeof *d, "dimensions", (void **)&d));
  for (int64_t k = 0; k <= n; k++) d[k] = 1 + (int64_t)(random_next(&state) % (uint64_t)range);
  in.dims = d;
  in.letters = letters;
  TSL_TRY(dp_cpu_interval_open(&t->cpu, &in, &w));
  TSL_TRY(best_of(&few, run_interval, w, &seconds)); /* the same values again */
  const double splits = (double)n * (double)n * (double)n / 6;
  const double rate = rate_of(t, splits, seconds);
  bench_dp_cpu_line(t, what, rate, rate / 5, "5e9 splits/s", goal);
done:
  dp_cpu_interval_close(&w);
  TSL_FREE_ALL(letters, d);
  return err;
}

/* ------------------------------------------------------------------- storage */

/** Plain loops over tables stored by rows, beside the same over those stored as they are filled. */
static tsl_err bench_storage(const table *t, dp_storage_order order) {
  tsl_err err = TSL_OK;
  const dp_storage_case about = dp_storage_case_of(order, t->o->quick);
  char what[64];
  double ordered = 0, by_rows = 0;
  int64_t goals[2] = {0};
  TSL_TRY(dp_storage_run(order, &about, false, t->repeats, &ordered, &goals[0]));
  TSL_TRY(dp_storage_run(order, &about, true, t->repeats, &by_rows, &goals[1]));
  if (goals[0] != goals[1])
    TSL_FAIL(TSL_ERR_INTERNAL, "%s: %lld and, stored by rows, %lld", about.what,
             (long long)goals[0], (long long)goals[1]);
  (void)snprintf(what, sizeof what, "%s, so stored", about.what);
  bench_dp_cpu_line(t, what, about.items / ordered * 1e-9, by_rows / ordered,
                    "stored by rows, plain loops", 0);
done:
  return err;
}

static tsl_err bench_all(const bench_options *o) {
  tsl_err err = TSL_OK;
  table t = {.o = o, .repeats = 5, .csv = o->table};
  TSL_TRY(dp_cpu_open(o->threads, &t.cpu));
  const int64_t n = o->quick ? 20000 : 100000;
  TSL_TRY(bench_bits(&t, DP_LCS, n, 4, "LCS length, DNA", 1));
  TSL_TRY(bench_bits(&t, DP_LCS, n, 256, "LCS length, bytes", 0));
  TSL_TRY(bench_bits(&t, DP_EDIT, n, 4, "edit distance, DNA", 0));
  TSL_TRY(bench_edlib(&t, n));
  TSL_TRY(bench_align(&t, DP_LOCAL, 0, "Smith-Waterman, DNA, unrelated", 1.5));
  TSL_TRY(bench_align(&t, DP_LOCAL, 90, "Smith-Waterman, DNA, 90 % the same", 0));
  TSL_TRY(bench_align(&t, DP_GLOBAL, 0, "Needleman-Wunsch, DNA, unrelated", 0));
  TSL_TRY(bench_edit(&t));
  TSL_TRY(bench_dtw(&t));
  TSL_TRY(bench_recurrence(&t));
  TSL_TRY(bench_knapsack(&t));
  TSL_TRY(bench_row(&t, false));
  TSL_TRY(bench_row(&t, true));
  const int64_t chain = o->quick ? 1024 : 4096;
  TSL_TRY(bench_interval(&t, DP_MATRIX_CHAIN, chain, 1000, "matrix chain i64, below 2^53", 1));
  TSL_TRY(bench_interval(&t, DP_MATRIX_CHAIN, chain, 50000, "matrix chain i64, below 2^61", 0));
  TSL_TRY(bench_interval(&t, DP_NUSSINOV, 2 * chain, 2, "Nussinov", 0));
  for (int k = 0; k < DP_N_STORED; k++) TSL_TRY(bench_storage(&t, (dp_storage_order)k));
done:
  return err;
}

tsl_err dp_bench_cpu(int argc, char **argv) {
  static const bench_about about = {
      "dp",
      "tesela bench dp-cpu [--threads N] [--quick] [--csv FILE]\n"
      "Speeds of the dynamic programming engines on this socket, best of several runs, 1 thread\n"
      "unless asked otherwise. parasail and edlib are run beside them where installed.\n"
      "TSL_SIMD=2|3|4 measures a lower SIMD level.\n",
      "what,threads,rate,ratio,reference,goal", bench_all};
  return bench_socket(argc, argv, 1, &about);
}
