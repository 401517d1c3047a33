/**
 * @file test_tri_cpu.c
 * Every function x output x type x size x cut x dimension x SIMD level of the socket's tri
 * backend against a plain double loop over i and j with the formulas of tri_pairs.h.
 *
 * Bitwise, except: gravity f32, within 1e-5 of the sum of the terms' sizes (3e-7 for each term,
 * the rest for the rounding of fp32 sums of 256 terms: at most 255 * 2^-24); and cosine and
 * correlation with d >= 16, which are matrix products, within 64 rounding units of 1. Both must
 * still be bitwise the same for every cut into units.
 */
#include "test_tri_cpu.h"

#include "levels.h"

static double get(const void *array, int type, int64_t k) {
  return type == TSL_F32 ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/* ------------------------------------------------------------------ references */

/** What a step of dimension k takes besides the coordinates. */
static double of_step(const tri_params *p, int64_t k) {
  if (tri_abouts[p->function].sum == TRI_POWERS) return p->scale;
  return k < 3 ? p->box[k] : 0;
}

/** values[i n + j] as the plain loop computes them. */
static double *reference_make(const tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  const void *x = problem->fields[TRI_POINTS].data, *e = problem->fields[TRI_EXTRAS].data;
  const bool has = problem->fields[TRI_EXTRAS].shape[0] > 0;
  double *values = alloc(p->n * p->n, sizeof *values);
#define LOOP(name, R, t)                                                                 \
  for (int64_t i = 0; i < p->n; i++)                                                     \
    for (int64_t j = 0; j < p->n; j++) {                                                 \
      R acc = 0;                                                                         \
      for (int64_t k = 0; k < p->d; k++)                                                 \
        acc = tri_step_##name##_##t(acc, ((const R *)x)[k * p->n_pad + i],               \
                                    ((const R *)x)[k * p->n_pad + j], (R)of_step(p, k)); \
      const R ei = has ? ((const R *)e)[i] : (R)0, ej = has ? ((const R *)e)[j] : (R)0;  \
      values[i * p->n + j] = (double)tri_finish_##name##_##t(acc, ei, ej, (R)p->scale);  \
    }
#define BOTH(NAME, name, ...)      \
  if (p->function == TRI_##NAME) { \
    if (p->type == TSL_F32) {      \
      LOOP(name, float, f32)       \
    } else {                       \
      LOOP(name, double, f64)      \
    }                              \
  }
  TRI_STEP_LIST(BOTH)
#define COUNT(name, R, t)                                                                     \
  for (int64_t i = 0; i < p->n; i++)                                                          \
    for (int64_t j = 0; j < p->n; j++) {                                                      \
      R both = 0;                                                                             \
      for (int64_t k = 0; k < p->d; k++)                                                      \
        both += ((const R *)x)[k * p->n_pad + i] * ((const R *)x)[k * p->n_pad + j];          \
      values[i * p->n + j] = (double)tri_finish_##name##_##t(both, ((const R *)e)[i],         \
                                                             ((const R *)e)[j], (R)p->scale); \
    }
#define TRUTHS(NAME, name, ...)    \
  if (p->function == TRI_##NAME) { \
    if (p->type == TSL_F32) {      \
      COUNT(name, float, f32)      \
    } else {                       \
      COUNT(name, double, f64)     \
    }                              \
  }
  TRI_TRUTH_LIST(TRUTHS)
  return values;
}

/** What the output must be, from the matrix of values. */
static void expect_store(const tri_params *p, const double *m, whole *out) {
  const int64_t v = p->type == TSL_F32 ? 4 : 8;
  const bool square = p->output == TRI_SQUARE;
  char value[8];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = square ? 0 : i + 1; j < p->n; j++) {
      const bool zero = j > i || (j == i && tri_abouts[p->function].extra != TRI_RADIUS);
      put(value, p->type, 0, square && zero ? 0 : m[i * p->n + j]);
      append(&out->a, &out->a_n, value, v);
    }
}

static void expect_threshold(const tri_params *p, const double *m, whole *out) {
  const int64_t v = p->type == TSL_F32 ? 4 : 8;
  const double most = p->type == TSL_F32 ? (double)(float)p->threshold : p->threshold;
  char value[8];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      if (!(m[i * p->n + j] <= most)) continue;
      const int64_t pair[2] = {i, j};
      put(value, p->type, 0, m[i * p->n + j]);
      append(&out->a, &out->a_n, pair, 16);
      append(&out->b, &out->b_n, value, v);
    }
}

static void expect_histogram(const tri_params *p, const double *m, whole *out) {
  uint64_t *counts = alloc(p->bins, 8);
  const double inv = p->bins / (p->range_hi - p->range_lo);
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      const double v = m[i * p->n + j];
      const int bin = p->type == TSL_F32 ? tri_bin_f32((float)v, (float)p->range_lo,
                                                       (float)p->range_hi, (float)inv, p->bins)
                                         : tri_bin_f64(v, p->range_lo, p->range_hi, inv, p->bins);
      if (bin >= 0) counts[bin]++;
    }
  append(&out->a, &out->a_n, counts, 8 * p->bins);
  tsl_free(counts);
}

typedef struct entry {
  double value;
  int64_t j;
} entry;

static int by_value(const void *a_, const void *b_) {
  const entry *a = a_, *b = b_;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  return a->j < b->j ? -1 : a->j > b->j;
}

static void expect_topk(const tri_params *p, const double *m, whole *out) {
  const int64_t v = p->type == TSL_F32 ? 4 : 8;
  entry *row = alloc(p->n, sizeof *row);
  char value[8];
  for (int64_t i = 0; i < p->n; i++) {
    int64_t n = 0;
    for (int64_t j = 0; j < p->n; j++)
      if (j != i) row[n++] = (entry){m[i * p->n + j], j};
    qsort(row, (size_t)n, sizeof *row, by_value);
    for (int64_t c = 0; c < p->k; c++) {
      put(value, p->type, 0, row[c].value);
      append(&out->a, &out->a_n, &row[c].j, 8);
      append(&out->b, &out->b_n, value, v);
    }
  }
  tsl_free(row);
}

static void expect_any(const tri_params *p, const double *m, whole *out) {
  memset(out, 0, sizeof *out);
  if (p->output == TRI_CONDENSED || p->output == TRI_SQUARE) expect_store(p, m, out);
  if (p->output == TRI_THRESHOLD) expect_threshold(p, m, out);
  if (p->output == TRI_HISTOGRAM) expect_histogram(p, m, out);
  if (p->output == TRI_TOPK) expect_topk(p, m, out);
}

/** Values of a matrix product against the plain loop: |difference| <= 64 rounding units. */
static void near_values(const tri_params *p, int level, const void *got, const void *want,
                        int64_t bytes) {
  const double tolerance = p->type == TSL_F32 ? 64 * 0x1p-24 : 64 * 0x1p-53;
  const int64_t n = bytes / (p->type == TSL_F32 ? 4 : 8);
  n_checks++;
  for (int64_t k = 0; k < n; k++)
    if (!(fabs(get(got, p->type, k) - get(want, p->type, k)) <= tolerance)) {
      fail_at("product", p, level, "beyond the tolerance");
      return;
    }
}

/** Replace the upper triangle of m by the values of the condensed vector. */
static void take_condensed(const tri_params *p, const void *condensed, double *m) {
  int64_t k = 0;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) m[i * p->n + j] = get(condensed, p->type, k++);
}

static int first_level, last_level;

static void level_set(int level) {
  char text[2] = {(char)('0' + level), 0};
  if (level > 0) (void)setenv("TSL_SIMD", text, 1);
}

/** All cuts of one output on one level. m is the matrix; product: see the file comment. */
static void check_output(tsl_problem *problem, double *m, const whole *want, int level,
                         bool product) {
  const tri_params *p = tri_params_of(problem);
  const int64_t cuts[] = {p->n > 0 ? p->n : 1, 1, 29};
  whole first = {0};
  for (int c = 0; c < 3; c++) {
    whole got = {0};
    run_cut(problem, cuts[c], cuts[c] == 1 && p->n > 300 ? 1 : 2, &got);
    if (c == 0 && product && want->a_n == got.a_n) {
      const bool topk = p->output == TRI_TOPK;
      near_values(p, level, topk ? got.b : got.a, topk ? want->b : want->a,
                  topk ? got.b_n : got.a_n);
      if (p->output == TRI_CONDENSED) take_condensed(p, got.a, m);
    } else {
      same_bytes(c == 0 ? "value" : "cut", p, level, product ? &first : want, &got);
    }
    if (c == 0) first = got;
    if (c != 0) whole_clear(&got);
  }
  whole_clear(&first);
}

/** wants: of each output, from the reference. Lists and counts of a product are those of its own
 * values. */
static void check_level(tsl_problem *problem, const double *reference, const whole *wants,
                        int level) {
  tri_params *p = problem->params;
  const bool product = tri_abouts[p->function].sum == TRI_PRODUCT && p->d >= 16;
  double *m = alloc(p->n * p->n, sizeof *m);
  memcpy(m, reference, (size_t)(p->n * p->n) * sizeof *m);
  level_set(level);
  for (int output = TRI_CONDENSED; output <= TRI_HISTOGRAM; output++) {
    const bool from_product = output == TRI_THRESHOLD || output == TRI_HISTOGRAM;
    whole own = {0};
    p->output = output;
    if (product && from_product) expect_any(p, m, &own);
    check_output(problem, m, product && from_product ? &own : &wants[output], level,
                 product && !from_product);
    whole_clear(&own);
  }
  tsl_free(m);
}

static void check_function(int function, int type, int64_t n, int64_t d) {
  tri_params params = {.function = function,
                       .type = type,
                       .n = n,
                       .d = d,
                       .d_read = d,
                       .bins = d == 2   ? 3000
                               : d == 4 ? 1000
                                        : 37,
                       .k = n > 6   ? (n == 257 ? 256 : 6)
                            : n > 0 ? n - 1
                                    : 0,
                       .threshold = 0.2,
                       .range_lo = 0.1,
                       .range_hi = 1.2,
                       .box = {1, 1.25, 1.5},
                       .scale = 2.5};
  tsl_problem problem;
  problem_make(&problem, &params);
  double *reference = reference_make(&problem);
  whole wants[TRI_HISTOGRAM + 1];
  tri_params *p = problem.params;
  for (p->output = TRI_CONDENSED; p->output <= TRI_HISTOGRAM; p->output++)
    expect_any(p, reference, &wants[p->output]);
  for (int level = first_level; level <= last_level; level++)
    check_level(&problem, reference, wants, level);
  for (int output = TRI_CONDENSED; output <= TRI_HISTOGRAM; output++) whole_clear(&wants[output]);
  tsl_free(reference);
  tsl_problem_clear(&problem);
}

/* ------------------------------------------------------------------ gravity */

/** The plain loop; size[4 i + s] = sum of the absolute terms. */
static void gravity_reference(const tsl_problem *problem, double *sum, double *size) {
  const tri_params *p = tri_params_of(problem);
  const void *x = problem->fields[TRI_POINTS].data, *m = problem->fields[TRI_EXTRAS].data;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < p->n; j++) {
      double d[3];
      if (j == i) continue;
      for (int k = 0; k < 3; k++)
        d[k] = get(x, p->type, k * p->n_pad + j) - get(x, p->type, k * p->n_pad + i);
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + p->softening * p->softening;
      const double y = 1 / sqrt(r2), mass = get(m, p->type, j);
      const double w = p->mass != 0 ? y * (y * y) : y * (y * y) * mass;
      for (int k = 0; k < 3; k++) sum[4 * i + k] += w * d[k], size[4 * i + k] += fabs(w * d[k]);
      sum[4 * i + 3] += p->mass != 0 ? y : y * mass;
    }
  const double factor = p->mass != 0 ? p->constant * p->mass : p->constant;
  for (int64_t k = 0; k < 4 * p->n; k++) {
    sum[k] *= k % 4 == 3 ? -factor : factor;
    size[k] = k % 4 == 3 ? fabs(sum[k]) : size[k] * fabs(factor);
  }
}

static void gravity_compare(const tri_params *p, int level, const whole *got, const double *sum,
                            const double *size) {
  const double tolerance = p->type == TSL_F32 ? 1e-5 : 0;
  n_checks++;
  for (int64_t i = 0; i < p->n; i++)
    for (int s = 0; s < 4; s++) {
      if (s < 3 && s >= p->d_read) continue;
      const double value =
          s < 3 ? ((const double *)got->a)[i * p->d_read + s] : ((const double *)got->b)[i];
      if (fabs(value - sum[4 * i + s]) <= tolerance * size[4 * i + s]) continue;
      char text[160];
      (void)snprintf(text, sizeof text, "row %lld component %d: %.17g, expected %.17g, relative %g",
                     (long long)i, s, value, sum[4 * i + s],
                     fabs(value - sum[4 * i + s]) / size[4 * i + s]);
      fail_at("gravity", p, level, text);
      return;
    }
}

static void check_gravity(int type, int64_t n, int64_t d_read, double softening, double mass) {
  tri_params params = {.function = TRI_GRAVITY,
                       .output = TRI_FORCES,
                       .type = type,
                       .n = n,
                       .d = 3,
                       .d_read = d_read,
                       .softening = softening,
                       .constant = 6.5,
                       .mass = mass};
  const int64_t cuts[] = {n > 0 ? n : 1, 1, 29};
  tsl_problem problem;
  problem_make(&problem, &params);
  double *sum = alloc(4 * n, sizeof *sum), *size = alloc(4 * n, sizeof *size);
  gravity_reference(&problem, sum, size);
  for (int level = first_level; level <= last_level; level++) {
    whole first = {0};
    level_set(level);
    for (int c = 0; c < 3; c++) {
      whole got = {0};
      run_cut(&problem, cuts[c], 1 + c % 2, &got);
      gravity_compare(&params, level, &got, sum, size);
      if (c == 0) {
        first = got;
        continue;
      }
      same_bytes("cut", &params, level, &first, &got);
      whole_clear(&got);
    }
    whole_clear(&first);
  }
  tsl_free(sum);
  tsl_free(size);
  tsl_problem_clear(&problem);
}

/** Metres and kilogrammes in fp32: r^-3 alone would leave the range of float. */
static void check_gravity_units(void) {
  tri_params params = {.function = TRI_GRAVITY,
                       .output = TRI_FORCES,
                       .type = TSL_F32,
                       .n = 200,
                       .d = 3,
                       .d_read = 3,
                       .constant = 6.674e-11};
  tsl_problem problem;
  problem_make(&problem, &params);
  float *x = problem.fields[TRI_POINTS].data, *m = problem.fields[TRI_EXTRAS].data;
  const int64_t n_pad = tri_params_of(&problem)->n_pad;
  for (int64_t k = 0; k < 3 * n_pad; k++) x[k] *= 1e17f;
  for (int64_t k = 0; k < n_pad; k++) m[k] *= 2e30f;
  double sum[800] = {0}, size[800] = {0};
  gravity_reference(&problem, sum, size);
  for (int level = first_level; level <= last_level; level++) {
    whole got = {0};
    level_set(level);
    run_cut(&problem, 200, 2, &got);
    gravity_compare(&params, level, &got, sum, size);
    whole_clear(&got);
  }
  tsl_problem_clear(&problem);
}

/* ------------------------------------------------------------------ the rest */

/** A slab above the cache goes by streaming stores; equal to plain stores of small units. */
static void check_streaming(int output) {
  tri_params params = {
      .function = TRI_EUCLIDEAN, .output = output, .type = TSL_F32, .d = 3, .d_read = 3};
  const double wanted = 1.2 * (double)tsl_cpu_cache_bytes() / 4;
  params.n = (int64_t)sqrt(output == TRI_SQUARE ? wanted : 2 * wanted) + 3;
  if (params.n > 30000) return; /* a cache that large needs too much time here */
  tsl_problem problem;
  problem_make(&problem, &params);
  for (int level = first_level; level <= last_level; level++) {
    whole one = {0}, many = {0};
    level_set(level);
    run_cut(&problem, params.n, 2, &one);
    run_cut(&problem, 501, 2, &many);
    same_bytes("streaming", &params, level, &one, &many);
    whole_clear(&one);
    whole_clear(&many);
  }
  tsl_problem_clear(&problem);
}

static void expect_slow(const char *text, const char *rank, tsl_err code, double want) {
  double factor = 0;
  (void)setenv("TSL_TEST_SLOW", text, 1);
  (void)setenv("OMPI_COMM_WORLD_RANK", rank, 1);
  const tsl_err err = tsl_test_delay_factor(&factor);
  n_checks++;
  if (err != code || (err == TSL_OK && factor != want)) {
    n_failures++;
    fprintf(stderr, "FAIL TSL_TEST_SLOW=%s rank %s: code %d, factor %g\n", text, rank, (int)err,
            factor);
  }
}

static void check_environment(void) {
  int level = 0;
  expect_slow("2.5", "3", TSL_OK, 2.5);
  expect_slow("0:2,3:4", "3", TSL_OK, 4);
  expect_slow("0:2,3:4", "1", TSL_OK, 1);
  expect_slow("0.5", "0", TSL_ERR_USAGE, 0);
  expect_slow("2,3", "0", TSL_ERR_USAGE, 0);
  expect_slow("1:x", "1", TSL_ERR_USAGE, 0);
  expect_slow("nan", "1", TSL_ERR_USAGE, 0);
  (void)unsetenv("TSL_TEST_SLOW");
  n_checks++;
  (void)setenv("TSL_SIMD", "7", 1);
  if (tsl_cpu_level_use(&level) != TSL_ERR_USAGE) {
    n_failures++;
    fprintf(stderr, "FAIL TSL_SIMD=7 was accepted\n");
  }
  (void)unsetenv("TSL_SIMD");
}

static void check_platform(void) {
  const char *why = "";
  const int n = tsl_platform_cpu.count(&why);
  tsl_device device = {0};
  n_checks++;
  for (int k = 0; k < n; k++) {
    must(tsl_platform_cpu.describe(k, &device), "describe");
    if (device.memory <= 0 || device.processors < 0 || device.name[0] == 0) n_failures++;
    printf("%s: %s, %d cores, level %d, %s\n", device.id, device.name, device.processors,
           device.capability, device.driver);
  }
  if (n < 1 || tsl_platform_cpu.describe(n, &device) == TSL_OK) {
    n_failures++;
    fprintf(stderr, "FAIL platform: %d sockets\n", n);
  }
}

static int64_t n_cases;

static void check_functions(void) {
  static const int64_t sizes[] = {0, 1, 2, 3, 37, 128, 257, 641};
  static const int64_t dims[] = {1, 2, 3, 4, 5, 17};
  for (int function = 0; function < TRI_N_PAIRS; function++)
    for (int type = TSL_F32; type <= TSL_F64; type++)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
          const int64_t d = dims[k];
          if (tri_abouts[function].prepare == TRI_SPHERE && d != 3) continue;
          if (tri_abouts[function].prepare == TRI_WRAPPED && d > 3) continue;
          if (sizes[s] == 641 && d != 3 && d != 17) continue;
          if (!case_is_mine(n_cases++)) continue;
          check_function(function, type, sizes[s], d);
        }
}

/** Dimensions around whole words and steps of words; 17,000: more steps than a byte counts. */
static void check_bits(void) {
  static const int64_t sizes[] = {7, 75, 130};
  static const int64_t dims[] = {31, 32, 33, 63, 64, 65, 255, 257, 511, 513, 2048, 17000};
  for (int function = TRI_JACCARD; function <= TRI_YULE; function++)
    for (int type = TSL_F32; type <= TSL_F64; type++)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
          if ((dims[k] < 2048 || (function == TRI_YULE && s == 1)) && case_is_mine(n_cases++))
            check_function(function, type, sizes[s], dims[k]);
}

int main(void) {
  static const int64_t sizes[] = {0, 1, 2, 3, 37, 128, 257, 641};
  last_level = tsl_cpu_level();
  first_level = lowest_level();
  check_environment();
  check_platform();
  for (int type = TSL_F32; type <= TSL_F64; type++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (int d = 1; d <= 3; d++) {
        if (!case_is_mine(n_cases++)) continue;
        check_gravity(type, sizes[s], d, 0.05, 0);
        check_gravity(type, sizes[s], d, 0, 0.25);
      }
  check_gravity_units();
  check_functions();
  check_bits();
  check_streaming(TRI_CONDENSED);
  check_streaming(TRI_SQUARE);
  printf("cpu.tri.ref: %ld checks, %ld failures, levels %d to %d\n", n_checks, n_failures,
         first_level, last_level);
  return n_failures == 0 ? 0 : 1;
}
