/* unit.tri.problem: decks, generators, units and regions of family tri. */
#include "tri_family.h"
#include "tri_near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ decks */

/** A problem from the lines of a tri section; release with release(). */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
} made;

static tsl_err make(const char *section, made *m) {
  char text[2048];
  const int n = snprintf(text, sizeof text, "family: tri\ntri:\n%s", section);
  *m = (made){0};
  const tsl_err err = tsl_deck_parse(text, (size_t)n, "t.yaml", NULL, 0, &m->deck);
  return err == TSL_OK ? tsl_family_tri.create(m->deck, &m->problem) : err;
}

static void release(made *m) {
  tsl_family_tri.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
}

static const tri_params *make_good(const char *section, made *m) {
  const tsl_err err = make(section, m);
  if (err != TSL_OK) fail_msg("%s", tsl_err_message());
  return tri_params_of(&m->problem);
}

static void expect_refused(const char *section, const char *word, const char *other) {
  made m;
  assert_int_equal(make(section, &m), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), word) == NULL || strstr(tsl_err_message(), other) == NULL ||
      strstr(tsl_err_message(), "t.yaml:") == NULL)
    fail_msg("'t.yaml:', '%s' and '%s' expected in: %s", word, other, tsl_err_message());
  release(&m);
}

#define CONDENSED " function: euclidean\n output: condensed\n"
#define TEN " generator: {kind: uniform, n: 10}\n"

static void deck_refused(void **state) {
  static const char *const bad[][3] = {
      {" function: gravity\n output: condensed\n" TEN, "t.yaml:4", "forces only"},
      {" function: euclidean\n output: forces\n" TEN, "t.yaml:4", "gravity"},
      {" function: euklidean\n output: condensed\n" TEN, "t.yaml:3", "euclidean"},
      {CONDENSED, "tri", "exactly one"},
      {CONDENSED " input: {file: a.csv}\n" TEN, "generator.kind", "exactly one"},
      {CONDENSED " bins: 10\n" TEN, "t.yaml:5", "not used by output condensed"},
      {CONDENSED " k: 3\n" TEN, "tri.k", "not used by output condensed"},
      {CONDENSED " threshold: 3\n" TEN, "tri.threshold", "not used by output condensed"},
      {CONDENSED " softening: 1\n" TEN, "tri.softening", "not used by function euclidean"},
      {CONDENSED " search: near\n" TEN, "tri.search", "not used by output condensed"},
      {" function: euclidean\n output: topk\n search: near\n generator: {kind: uniform, d: 17}\n",
       "tri.search", "16 dimensions at most"},
      {" function: cosine\n output: topk\n search: near\n generator: {kind: uniform, d: 16}\n",
       "tri.search", "matrix product"},
      {CONDENSED " generator: {kind: uniform, n: 10, clusters: 3}\n", "generator.clusters",
       "not used by this generator"},
      {CONDENSED " generator: {kind: plummer, d: 2}\n", "generator.d", "3 dimensions"},
      {CONDENSED " generator: {kind: uniform, n: 3000000000}\n", "generator.n", "outside"},
      {CONDENSED " generator: {kind: uniform, n: -1}\n", "generator.n", "outside"},
      {CONDENSED " input: {file: no_such_file.csv}\n", "t.yaml:5", "No such file"},
      {" function: manhattan\n output: histogram\n range: [0, 1]\n box: 3\n" TEN, "tri.box",
       "euclidean only"},
      {" function: euclidean\n output: histogram\n" TEN, "tri.range", "[lo, hi]"},
      {" function: euclidean\n output: histogram\n range: [1, 1]\n" TEN, "tri.range", "less than"},
      {" function: euclidean\n output: histogram\n range: [1, 1.00000001]\n" TEN, "tri.range",
       "same number in fp32"},
      {" function: euclidean\n output: histogram\n range: [0, 1]\n bins: 65537\n" TEN, "tri.bins",
       "65536"},
      {" function: euclidean\n output: histogram\n range: [0, 6]\n box: [20, 20, 10]\n" TEN,
       "tri.range", "at least 12"},
      {" function: euclidean\n output: threshold\n threshold: 6\n box: [20, 20, 10]\n" TEN,
       "tri.threshold", "at least 12"},
      {" function: euclidean\n output: histogram\n range: [0, 1]\n box: [20, 20]\n" TEN, "tri.box",
       "2 edges"},
      {" function: euclidean\n output: histogram\n range: [0, 1]\n box: [20, 0, 9]\n" TEN,
       "tri.box", "positive"},
      {" function: euclidean\n output: histogram\n range: [0, 1]\n box: [9, 9, 9, 9]\n" TEN,
       "tri.box", "at most 3"},
      {" function: euclidean\n output: threshold\n" TEN, "needs the key threshold", "t.yaml"},
      {" function: euclidean\n output: topk\n k: 10\n" TEN, "tri.k", "have 9 each"},
      {" function: euclidean\n output: topk\n k: 0\n" TEN, "tri.k", "outside"},
      {" function: overlap\n output: condensed\n" TEN, "overlap needs radii", "t.yaml:3"},
      {" function: overlap\n output: condensed\n radius: -1\n" TEN, "tri.radius", "outside"},
      {" function: haversine\n output: condensed\n" TEN, "haversine needs 2 columns", "have 3"},
      {" function: haversine\n output: condensed\n"
       " generator: {kind: uniform, n: 50, d: 2, side: 180}\n",
       "latitude", "point"},
      {CONDENSED " generator: {kind: uniform, n: 9, side: 1e39}\n", "overflow", "fp64"},
      {CONDENSED " generator: {kind: uniform, n: 9, side: 1e25}\n", "overflow", "fp64"},
      {CONDENSED " precision: fp64\n generator: {kind: uniform, n: 9, side: 1e200}\n", "overflow",
       "larger unit"},
      {" function: gravity\n output: forces\n softening: 1e30\n" TEN, "tri.softening", "fp32"},
      {" function: gravity\n output: forces\n generator: {kind: uniform, d: 4}\n", "gravity needs",
       "have 4"},
      {" function: cosine\n output: condensed\n unit: m\n" TEN, "tri.unit", "not used"},
  };
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    expect_refused(bad[b][0], bad[b][1], bad[b][2]);
}

static char path[] = "/tmp/tsl_tri_problem_XXXXXX";

/** A section whose points are in a text file; path of the file in %s. */
static void with_file(const char *text, const char *section, char out[1024]) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  (void)snprintf(out, 1024, section, path);
}

static void data_refused(void **state) {
  static const char *const bad[][4] = {
      {"1 2\n0 0\n", " function: cosine\n output: condensed\n input: {file: %s}\n", "point 1",
       "zero vector"},
      {"1 2\n3 3\n", " function: correlation\n output: condensed\n input: {file: %s}\n", "point 1",
       "constant"},
      {"1 2\n95 3\n", " function: haversine\n output: condensed\n input: {file: %s}\n", "point 1",
       "latitude 95"},
      {"1 2\n5 -190\n", " function: haversine\n output: condensed\n input: {file: %s}\n", "point 1",
       "longitude -190"},
      {"1 2\n3 -3\n",
       " function: overlap\n output: condensed\n input: {file: %s, radius_column: 1}\n", "point 1",
       "radius -3 is negative"},
      {"1 2\n3 -3\n", " function: gravity\n output: forces\n input: {file: %s, mass_column: 1}\n",
       "point 1", "mass -3 is negative"},
      {"1 2\n3 4\n", " function: gravity\n output: forces\n input: {file: %s}\n", "needs masses",
       "t.yaml:3"},
      {"1 2\n3 1e40\n", " function: cosine\n output: condensed\n input: {file: %s, dataset: x}\n",
       "input.dataset", "not used"},
      {"1 2\n3\n", " function: cosine\n output: condensed\n input: {file: %s}\n", ":2: 1 field,",
       "line 1 has 2"},
      {"1 2\n3 4\n",
       " function: overlap\n output: square\n radius: 1\n input: {file: %s, radius_column: 1}\n",
       "tri.radius", "one of them"},
  };
  char section[1024];
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    with_file(bad[b][0], bad[b][1], section);
    expect_refused(section, bad[b][2], bad[b][3]);
  }
}

static double point(const made *m, int64_t k, int64_t i) {
  const tri_params *p = tri_params_of(&m->problem);
  const void *x = m->problem.fields[TRI_POINTS].data;
  return p->type == TSL_F32 ? (double)((const float *)x)[k * p->n_pad + i]
                            : ((const double *)x)[k * p->n_pad + i];
}

static void points_prepared(void **state) {
  char section[1024];
  made m;
  (void)state;
  with_file("1 2 3\n2 4 7\n",
            " function: correlation\n output: square\n precision: fp64\n"
            " input: {file: %s}\n",
            section);
  (void)make_good(section, &m);
  assert_true(fabs(point(&m, 0, 0) + sqrt(0.5)) < 1e-15 && fabs(point(&m, 1, 0)) < 1e-15);
  assert_true(point(&m, 0, 2) == 0 && point(&m, 2, 127) == 0);
  release(&m);
  with_file("90 0\n0 90\n", " function: haversine\n output: square\n input: {file: %s}\n", section);
  assert_int_equal(make_good(section, &m)->d, 3);
  assert_true(fabs(point(&m, 2, 0) - 1) < 1e-7 && fabs(point(&m, 1, 1) - 1) < 1e-7);
  assert_string_equal(m.problem.fields[TRI_OUT].unit, "km");
  release(&m);
  with_file("-0.5\n2.25\n1\n-1e-30\n",
            " function: euclidean\n output: histogram\n box: 1\n"
            " input: {file: %s}\n",
            section);
  assert_true(make_good(section, &m)->range_hi == 0.5);
  assert_int_equal(tri_params_of(&m.problem)->function, TRI_EUCLIDEAN_PERIODIC);
  assert_true(point(&m, 0, 0) == 0.5 && point(&m, 0, 1) == 0.25);
  assert_true(point(&m, 0, 2) == 0 && point(&m, 0, 3) == 0);
  release(&m);
  with_file("1 5\n2 5\n",
            " function: gravity\n output: forces\n input: {file: %s, mass_column: 1}\n", section);
  assert_true(make_good(section, &m)->mass == 5);
  assert_int_equal(tri_params_of(&m.problem)->d, 3);
  assert_int_equal(m.problem.fields[TRI_OUT].shape[1], 1);
  release(&m);
}

static void few_points(void **state) {
  static const char *const sections[] = {
      " function: euclidean\n output: condensed\n generator: {kind: uniform, n: %d}\n",
      " function: cosine\n output: square\n generator: {kind: clusters, n: %d}\n",
      " function: overlap\n output: threshold\n radius: 1\n generator: {kind: uniform, n: %d}\n",
      " function: euclidean\n output: topk\n generator: {kind: uniform, n: %d}\n",
      (" function: euclidean\n output: histogram\n box: 2\n"
       " generator: {kind: uniform, d: 1, n: %d}\n"),
      " function: gravity\n output: forces\n generator: {kind: plummer, n: %d}\n"};
  const tsl_limits limits = {
      .slab_bytes = 1 << 20, .device_bytes = 1 << 20, .target_units = 16, .n_ranks = 1};
  char section[256];
  made m;
  (void)state;
  for (int s = 0; s < 6; s++)
    for (int n = 0; n < 2; n++) {
      tsl_units units;
      bool more = true;
      (void)snprintf(section, sizeof section, sections[s], n);
      assert_int_equal(make_good(section, &m)->n, n);
      assert_int_equal(tri_params_of(&m.problem)->k, 0);
      assert_int_equal(tri_units(&m.problem, &limits, &units), TSL_OK);
      assert_int_equal(units.n, n);
      tsl_free(units.list);
      if (m.problem.fields[TRI_OUT].combine == TSL_SUM) {
        assert_int_equal(tsl_alloc(200, 8, "counts", &m.problem.fields[TRI_OUT].data), TSL_OK);
        assert_int_equal(tri_advance(&m.problem, 0, &more), TSL_OK);
        assert_false(more);
      }
      release(&m);
    }
}

/* ------------------------------------------------------------- generators */

static void generator_independent(void **state) {
  static const points_generator kinds[] = {
      {.kind = POINTS_UNIFORM, .n = 1000, .d = 3, .seed = 5, .side = 2},
      {.kind = POINTS_PLUMMER, .n = 1000, .d = 3, .seed = 5, .scale = 2}};
  (void)state;
  for (int g = 0; g < 2; g++) {
    points_generator few = kinds[g], other = kinds[g];
    table_rows all, some, different;
    few.n = 10, other.seed = 6;
    assert_int_equal(points_generate(&kinds[g], &all), TSL_OK);
    assert_int_equal(points_generate(&few, &some), TSL_OK);
    assert_int_equal(points_generate(&other, &different), TSL_OK);
    assert_memory_equal(all.values, some.values, 30 * sizeof(double));
    for (int i = 0; i < 30; i++) assert_true(all.values[i] != different.values[i]);
    table_rows_clear(&all), table_rows_clear(&some), table_rows_clear(&different);
  }
}

static void generator_moments(void **state) {
  enum { N = 200000 };
  const points_generator uniform = {.kind = POINTS_UNIFORM, .n = N, .d = 2, .seed = 1, .side = 2};
  const points_generator plummer = {.kind = POINTS_PLUMMER, .n = N, .d = 3, .seed = 1, .scale = 1};
  double mean[2] = {0}, square = 0, product = 0, inside = 0, z = 0;
  table_rows t;
  (void)state;
  assert_int_equal(points_generate(&uniform, &t), TSL_OK);
  for (int64_t i = 0; i < N; i++) {
    const double *x = t.values + 2 * i;
    assert_true(x[0] > 0 && x[0] < 2 && x[1] > 0 && x[1] < 2);
    mean[0] += x[0] / N, mean[1] += x[1] / N;
    square += (x[0] - 1) * (x[0] - 1) / N, product += (x[0] - 1) * (x[1] - 1) / N;
  }
  table_rows_clear(&t);
  assert_true(fabs(mean[0] - 1) < 0.006 && fabs(mean[1] - 1) < 0.006); /* 4.6 sigma */
  assert_true(fabs(square - 1.0 / 3) < 0.004 && fabs(product) < 0.004);
  assert_int_equal(points_generate(&plummer, &t), TSL_OK);
  for (int64_t i = 0; i < N; i++) {
    const double *x = t.values + 3 * i;
    const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    assert_true(isfinite(r));
    inside += r < 1.3047660265 ? 1.0 / N : 0; /* half of the mass is inside 1.3048 scale radii */
    z += x[2] / r / N;
  }
  table_rows_clear(&t);
  assert_true(fabs(inside - 0.5) < 0.006 && fabs(z) < 0.006);
}

static void generator_clusters(void **state) {
  const points_generator g = {.kind = POINTS_CLUSTERS,
                              .n = 4000,
                              .d = 2,
                              .seed = 3,
                              .side = 1,
                              .scale = 1e-3,
                              .clusters = 4};
  table_rows t;
  (void)state;
  assert_int_equal(points_generate(&g, &t), TSL_OK);
  for (int64_t c = 0; c < 4; c++) {
    double mean = 0, square = 0;
    for (int64_t i = 1000 * c; i < 1000 * (c + 1); i++) mean += t.values[2 * i] / 1000;
    for (int64_t i = 1000 * c; i < 1000 * (c + 1); i++)
      square += (t.values[2 * i] - mean) * (t.values[2 * i] - mean) / 1000;
    assert_true(fabs(sqrt(square) - 1e-3) < 1.2e-4);
  }
  table_rows_clear(&t);
}

/* ------------------------------------------------------------------ units */

static tsl_problem problem_of(tri_params *p, int32_t output, int64_t n) {
  *p = (tri_params){.output = output,
                    .type = TSL_F32,
                    .n = n,
                    .n_pad = n + 127,
                    .d = 3,
                    .d_read = 3,
                    .k = n > 5 ? 5 : 0,
                    .bins = 50,
                    .function = output == TRI_FORCES ? TRI_GRAVITY : TRI_EUCLIDEAN};
  return (tsl_problem){.params = p, .params_bytes = (int64_t)sizeof *p};
}

static void check_units(const tsl_problem *problem, const tsl_limits *limits) {
  const tri_params *p = tri_params_of(problem);
  int64_t row = 0, pairs = 0;
  tsl_units units;
  assert_int_equal(tri_units(problem, limits, &units), TSL_OK);
  assert_true(units.n <= p->n);
  for (int64_t u = 0; u < units.n; u++) {
    const tsl_unit *unit = &units.list[u];
    assert_int_equal(unit->id, u);
    assert_int_equal(unit->lo[0], row);
    assert_true(unit->hi[0] > row);
    row = unit->hi[0];
    pairs += (int64_t)unit->count;
    assert_true(unit->hi[0] - unit->lo[0] == 1 ||
                unit->device_bytes <= (double)limits->device_bytes);
  }
  assert_int_equal(row, p->n);
  assert_int_equal(pairs, tri_pairs_before(p, p->n));
  tsl_free(units.list);
}

static void units_cover_once(void **state) {
  static const int64_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 127, 300, 1009, 4096, 100003};
  static const tsl_limits limits[] = {
      {.slab_bytes = 1 << 30, .device_bytes = 1 << 30, .target_units = 1, .n_ranks = 1},
      {.slab_bytes = 1 << 30, .device_bytes = 1 << 30, .target_units = 7, .n_ranks = 1},
      {.slab_bytes = 1 << 30, .device_bytes = 1 << 30, .target_units = 64, .n_ranks = 1},
      {.slab_bytes = 1 << 16, .device_bytes = 1 << 30, .target_units = 16, .n_ranks = 1},
      {.slab_bytes = 1 << 30, .device_bytes = 1 << 12, .target_units = 16, .n_ranks = 1},
      {.slab_bytes = 1, .device_bytes = 1, .target_units = 4, .n_ranks = 1},
      {.slab_bytes = 0, .device_bytes = 0, .target_units = 0, .n_ranks = 1}};
  (void)state;
  for (int32_t output = 0; output < TRI_N_OUTPUTS; output++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        tri_params p;
        const tsl_problem problem = problem_of(&p, output, sizes[s]);
        check_units(&problem, &limits[l]);
      }
}

static void units_balanced(void **state) {
  const tsl_limits limits = {.slab_bytes = INT64_C(1) << 40,
                             .device_bytes = INT64_C(1) << 40,
                             .target_units = 32,
                             .n_ranks = 1};
  (void)state;
  for (int32_t output = 0; output < TRI_N_OUTPUTS; output++) {
    tri_params p;
    const tsl_problem problem = problem_of(&p, output, 200000);
    double most = 0, sum = 0;
    tsl_units units;
    assert_int_equal(tri_units(&problem, &limits, &units), TSL_OK);
    for (int64_t u = 0; u < units.n; u++) {
      most = fmax(most, units.list[u].count);
      sum += units.list[u].count;
      assert_true(output == TRI_PAIRED || units.list[u].lo[0] % 64 == 0);
    }
    assert_int_equal(units.n, 32);
    assert_true(most * (double)units.n / sum < 1.03);
    tsl_free(units.list);
  }
}

/** Units of near pairs: rows of dense regions take more, and their units are shorter. */
static void units_of_near(void **state) {
  const char *const sections[] = {
      " function: euclidean\n output: histogram\n range: [0, 0.1]\n search: near\n"
      " generator: {kind: plummer, n: 30000}\n",
      " function: euclidean\n output: threshold\n threshold: 0.02\n search: near\n"
      " generator: {kind: clusters, n: 30000, scale: 0.01}\n"};
  const tsl_limits limits = {
      .slab_bytes = INT64_MAX, .device_bytes = INT64_MAX, .target_units = 40, .n_ranks = 2};
  (void)state;
  for (int s = 0; s < 2; s++) {
    made m;
    const tri_params *p = make_good(sections[s], &m);
    tsl_units units;
    double items = 0, most = 0;
    int64_t row = 0, shortest = INT64_MAX, longest = 0;
    assert_int_equal(p->near, 1);
    assert_int_equal(m.problem.fields[TRI_ORDER].shape[0], p->n);
    assert_int_equal(tri_units(&m.problem, &limits, &units), TSL_OK);
    assert_true(units.n >= 30 && units.n <= 45);
    for (int64_t u = 0; u < units.n; u++) {
      const int64_t rows = units.list[u].hi[0] - units.list[u].lo[0];
      assert_int_equal(units.list[u].lo[0], row);
      row = units.list[u].hi[0];
      items += units.list[u].count;
      most = fmax(most, units.list[u].count);
      shortest = rows < shortest ? rows : shortest, longest = rows > longest ? rows : longest;
    }
    assert_int_equal(row, p->n);
    assert_true(most < 1.5 * items / (double)units.n);
    assert_true(s == 1 || longest > 2 * shortest);
    tsl_free(units.list);
    release(&m);
  }
}

/** The sample that spares a search: a sphere's part of a periodic box, and k of n - 1. */
static void part_that_is_kept(void **state) {
  const double radii[] = {1, 3, 4.9}, pi = acos(-1);
  (void)state;
  for (int s = 0; s < 4; s++) {
    char section[256];
    made m;
    if (s < 3)
      (void)snprintf(section, sizeof section,
                     " function: euclidean\n output: histogram\n range: [0, %g]\n"
                     " box: [10, 10, 10]\n generator: {kind: uniform, n: 20000}\n",
                     radii[s]);
    else
      (void)snprintf(section, sizeof section,
                     " function: euclidean\n output: topk\n k: 8\n search: all\n"
                     " generator: {kind: uniform, n: 20000}\n");
    const tri_params *p = make_good(section, &m);
    const double kept = s < 3 ? 4 * pi / 3 * pow(radii[s], 3) / 1000 : 8.0 / 19999;
    assert_true(fabs(tri_near_least(&m.problem) - kept) < (s < 3 ? 0.01 : 1e-15));
    assert_int_equal(p->near, s == 0);
    assert_int_equal(m.problem.fields[TRI_ORDER].shape[0], s == 0 ? p->n : 0);
    release(&m);
  }
}

static void sample_is_smaller(void **state) {
  const tsl_limits limits = {.slab_bytes = INT64_C(1) << 40,
                             .device_bytes = INT64_C(1) << 40,
                             .target_units = 8,
                             .n_ranks = 1};
  (void)state;
  for (int32_t output = 0; output < TRI_N_OUTPUTS; output++) {
    tri_params p;
    tsl_units units;
    tsl_unit part;
    const tsl_problem problem = problem_of(&p, output, 50000);
    assert_int_equal(tri_units(&problem, &limits, &units), TSL_OK);
    for (int64_t u = 0; u < units.n; u++) {
      tri_sample(&problem, &units.list[u], 0.1, &part);
      assert_true(fabs(part.count / units.list[u].count - 0.1) < 0.01);
      tri_sample(&problem, &units.list[u], 1e-12, &part);
      assert_int_equal(part.hi[0] - part.lo[0], 1);
      tri_sample(&problem, &units.list[u], 1, &part);
      assert_int_equal(part.hi[0], units.list[u].hi[0]);
    }
    tsl_free(units.list);
  }
}

/** Every element of the field that should be written is in exactly one region. */
static void check_regions(const tsl_problem *problem, int field, int64_t columns) {
  const tri_params *p = tri_params_of(problem);
  const bool flat = p->output == TRI_CONDENSED && !p->two;
  const int64_t rows = flat ? p->n * (p->n - 1) / 2 : tri_rows_of(p);
  const tsl_limits limits = {
      .slab_bytes = 1000, .device_bytes = 1000, .target_units = 9, .n_ranks = 1};
  unsigned char *seen = calloc((size_t)(rows * columns + 1), 1);
  tsl_units units;
  assert_non_null(seen);
  assert_int_equal(tri_units(problem, &limits, &units), TSL_OK);
  for (int64_t u = 0; u < units.n; u++) {
    int64_t lo[3], hi[3];
    tri_region(problem, &units.list[u], field, lo, hi);
    assert_true(lo[2] == 0 && hi[2] == 1 && hi[0] <= rows && hi[1] <= columns);
    for (int64_t i = lo[0]; i < hi[0]; i++)
      for (int64_t j = lo[1]; j < hi[1]; j++) assert_int_equal(seen[i * columns + j]++, 0);
  }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      assert_true(seen[i * columns + j] == 1 || (p->output == TRI_SQUARE && j > i));
  tsl_free(units.list);
  free(seen);
}

static void regions_cover_once(void **state) {
  static const struct {
    int32_t output;
    int field;
    int64_t columns; /**< 0: n */
  } fields[] = {
      {TRI_CONDENSED, TRI_OUT, 1}, {TRI_SQUARE, TRI_OUT, 0},    {TRI_TOPK, TRI_OUT, 5},
      {TRI_TOPK, TRI_OUT_2, 5},    {TRI_FORCES, TRI_OUT, 3},    {TRI_FORCES, TRI_OUT_2, 1},
      {TRI_DEGREE, TRI_OUT, 1},    {TRI_MINIMUM, TRI_OUT_2, 1}, {TRI_MAXIMUM, TRI_OUT, 1},
      {TRI_CSR, TRI_OUT_3, 1},     {TRI_SUM, TRI_OUT, 1}};
  static const int64_t sizes[] = {6, 64, 65, 257};
  (void)state;
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
    for (size_t s = 0; s < 4; s++) {
      tri_params p;
      const tsl_problem problem = problem_of(&p, fields[f].output, sizes[s]);
      check_regions(&problem, fields[f].field,
                    fields[f].columns > 0 ? fields[f].columns : sizes[s]);
    }
}

/** Of two sets rows are counted from the first one's place on; fields behind the units' ones, as
 *  points_first, are written by none. */
static void regions_of_two_sets(void **state) {
  static const int32_t outputs[] = {TRI_CONDENSED, TRI_DEGREE, TRI_MINIMUM, TRI_CSR, TRI_SUM};
  static const int fields[] = {TRI_OUT, TRI_OUT, TRI_OUT_2, TRI_OUT_3, TRI_OUT};
  (void)state;
  for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
    const tsl_unit unit = {.hi = {10, 1, 1}};
    int64_t lo[3], hi[3];
    tri_params p;
    const tsl_problem problem = problem_of(&p, outputs[o], TRI_PAD + 77);
    p.two = 1, p.columns = 33, p.first = TRI_PAD;
    check_regions(&problem, fields[o], outputs[o] == TRI_CONDENSED ? p.columns : 1);
    tri_region(&problem, &unit, fields[o] + 1, lo, hi);
    assert_int_equal(lo[0], hi[0]);
    p.columns = 0; /* nobody to be near to */
    tri_region(&problem, &unit, fields[o], lo, hi);
    if (outputs[o] == TRI_MINIMUM) assert_int_equal(lo[0], hi[0]);
  }
}

static void regions_of_edges_empty(void **state) {
  const tsl_unit unit = {.hi = {10, 1, 1}};
  tri_params p;
  const tsl_problem problem = problem_of(&p, TRI_HISTOGRAM, 10);
  int64_t lo[3], hi[3];
  (void)state;
  for (int field = TRI_OUT_2; field <= TRI_OUT_3; field++) {
    tri_region(&problem, &unit, field, lo, hi);
    assert_int_equal(lo[0], hi[0]);
  }
}

/* ---------------------------------------------------------------- results */

/** Shells tile a ball: with counts = volumes, g(r) is the same in every bin. */
static void rdf_of_volumes(void **state) {
  static const char *const boxes[] = {"4", "[4, 4]", "[4, 4, 4]"};
  static const double full[] = {2, 3.14159265358979, 4.18879020478639}; /* of the unit ball */
  char section[256];
  (void)state;
  for (int d = 1; d <= 3; d++) {
    made m;
    bool more = true;
    (void)snprintf(section, sizeof section,
                   " function: euclidean\n output: histogram\n bins: 8\n box: %s\n"
                   " generator: {kind: uniform, n: 2000, d: %d}\n",
                   boxes[d - 1], d);
    (void)make_good(section, &m);
    tsl_field *counts = &m.problem.fields[TRI_OUT];
    assert_int_equal(tsl_alloc(8, 8, "counts", &counts->data), TSL_OK);
    for (int b = 0; b < 8; b++) /* radii b/4: integer multiples of the first shell */
      ((uint64_t *)counts->data)[b] = (uint64_t)(1000 * (pow(b + 1, d) - pow(b, d)) + 0.5);
    assert_int_equal(tri_advance(&m.problem, 0, &more), TSL_OK);
    const double *edges = m.problem.fields[TRI_OUT_2].data, *g = m.problem.fields[TRI_OUT_3].data;
    const double one = 1000 / (2000.0 * 1999 / 2 * full[d - 1] * pow(0.25, d) / pow(4, d));
    assert_true(edges[0] == 0 && edges[8] == 2 && edges[3] == 0.75);
    for (int b = 0; b < 8; b++) assert_true(fabs(g[b] / one - 1) < 1e-9);
    release(&m);
  }
}

static void summary_of_forces(void **state) {
  made m;
  tsl_summary summary = {0};
  (void)state;
  (void)make_good(" function: gravity\n output: forces\n mass: 2\n"
                  " generator: {kind: uniform, n: 2}\n",
                  &m);
  double *a = NULL, *phi = NULL;
  assert_int_equal(tsl_alloc(6, 8, "a", (void **)&a), TSL_OK);
  assert_int_equal(tsl_alloc(2, 8, "phi", (void **)&phi), TSL_OK);
  m.problem.fields[TRI_OUT].data = a, m.problem.fields[TRI_OUT_2].data = phi;
  a[0] = 1, a[3] = -1, phi[0] = phi[1] = -3;
  assert_int_equal(tri_summary(&m.problem, &summary), TSL_OK);
  assert_true(summary.valid);
  assert_string_equal(summary.results[2].name, "potential energy");
  assert_true(summary.results[2].value == -6 && summary.results[3].value == 0);
  a[3] = 1;
  assert_int_equal(tri_summary(&m.problem, &summary), TSL_OK);
  assert_false(summary.valid);
  phi[0] = -INFINITY;
  assert_int_equal(tri_summary(&m.problem, &summary), TSL_OK);
  assert_non_null(strstr(summary.reason, "softening"));
  release(&m);
}

/** The resolved deck describes the same problem. */
static void resolved_again(void **state) {
  made m;
  char *text = NULL;
  tsl_deck *deck = NULL;
  tsl_problem again = {0};
  (void)state;
  (void)make_good(CONDENSED TEN, &m);
  assert_int_equal(tsl_deck_resolved(m.deck, &text), TSL_OK);
  assert_int_equal(tsl_deck_parse(text, strlen(text), "r.yaml", NULL, 0, &deck), TSL_OK);
  if (tsl_family_tri.create(deck, &again) != TSL_OK) fail_msg("%s", tsl_err_message());
  assert_memory_equal(again.params, m.problem.params, sizeof(tri_params));
  tsl_family_tri.destroy(&again);
  tsl_problem_clear(&again);
  tsl_deck_destroy(&deck);
  free(text);
  release(&m);
}

int main(void) {
  const int fd = mkstemp(path);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deck_refused),          cmocka_unit_test(data_refused),
      cmocka_unit_test(points_prepared),       cmocka_unit_test(few_points),
      cmocka_unit_test(generator_independent), cmocka_unit_test(generator_moments),
      cmocka_unit_test(generator_clusters),    cmocka_unit_test(units_cover_once),
      cmocka_unit_test(units_balanced),        cmocka_unit_test(units_of_near),
      cmocka_unit_test(part_that_is_kept),     cmocka_unit_test(sample_is_smaller),
      cmocka_unit_test(regions_cover_once),    cmocka_unit_test(regions_of_edges_empty),
      cmocka_unit_test(regions_of_two_sets),   cmocka_unit_test(rdf_of_volumes),
      cmocka_unit_test(summary_of_forces),     cmocka_unit_test(resolved_again)};
  if (fd < 0 || close(fd) != 0) return 1;
  const int failed = cmocka_run_group_tests_name("unit.tri.problem", tests, NULL, NULL);
  (void)unlink(path);
  return failed;
}
