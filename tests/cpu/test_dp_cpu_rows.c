/**
 * @file test_dp_cpu_rows.c
 * Row sweeps against plain loops over all cells: knapsacks with the bits of what is taken, binomial
 * coefficients exact and modulo p, allotments and stagecoaches of all types with their choices. For
 * cuts at random places, each cut given only the columns it may read.
 */
#include "test_dp_cpu.h"

#include <math.h>

enum { POISON = -77 };

/* ------------------------------------------------------------------ knapsacks */

typedef struct sack {
  bool unbounded;
  int64_t items, columns; /**< columns: capacity + 1 */
  int64_t *weights, *values;
  int64_t *rows;  /**< [items + 1][columns] */
  uint8_t *taken; /**< [items][columns] */
} sack;

static void sack_solve(sack *s) {
  s->rows = alloc((s->items + 1) * s->columns, sizeof *s->rows);
  s->taken = alloc(s->items * s->columns, 1);
  for (int64_t i = 0; i < s->items; i++)
    for (int64_t c = 0; c < s->columns; c++) {
      const int64_t *before = s->rows + i * s->columns, w = s->weights[i];
      int64_t *row = s->rows + (i + 1) * s->columns;
      row[c] = before[c];
      if (w > c) continue;
      const int64_t with = (s->unbounded ? row : before)[c - w] + s->values[i];
      s->taken[i * s->columns + c] = with > row[c];
      if (with > row[c]) row[c] = with;
    }
}

static sack sack_make(int64_t items, int64_t columns, int64_t heaviest, int64_t most,
                      bool unbounded) {
  sack s = {.unbounded = unbounded, .items = items, .columns = columns};
  s.weights = alloc(items, sizeof *s.weights);
  s.values = alloc(items, sizeof *s.values);
  for (int64_t i = 0; i < items; i++) {
    s.weights[i] = unbounded + random_below(heaviest);
    s.values[i] = random_below(most);
  }
  sack_solve(&s);
  return s;
}

static void sack_free(sack *s) {
  tsl_free(s->weights);
  tsl_free(s->values);
  tsl_free(s->rows);
  tsl_free(s->taken);
}

/** Items [i0, i1) over columns [lo, hi), with nothing in the row but what may be read. */
static void check_sack(const dp_cpu *cpu, const sack *s, int64_t i0, int64_t i1, int64_t lo,
                       int64_t hi, bool bits) {
  const int64_t words = (hi - lo + 63) / 64;
  int64_t *from = alloc(s->columns, sizeof *from), *to = alloc(s->columns, sizeof *to), sum = 0;
  uint64_t *taken = alloc((i1 - i0) * words, sizeof *taken);
  bool same = true, same_bits = true;
  for (int64_t i = i0; i < i1; i++)
    if (s->weights[i] < hi) sum += s->weights[i];
  for (int64_t c = 0; c < s->columns; c++) {
    from[c] = c >= lo - sum && c < hi ? s->rows[i0 * s->columns + c] : POISON;
    to[c] = POISON;
  }
  must(dp_cpu_knapsack(cpu, s->weights + i0, s->values + i0, i1 - i0, from, to, lo, hi,
                       bits ? taken : NULL));
  for (int64_t c = 0; c < s->columns; c++)
    same &= to[c] == (c >= lo && c < hi ? s->rows[i1 * s->columns + c] : POISON);
  CHECK(same, "knapsack: items %lld..%lld, capacities %lld..%lld of %lld", (long long)i0,
        (long long)i1, (long long)lo, (long long)hi, (long long)s->columns);
  for (int64_t i = i0; bits && i < i1; i++)
    for (int64_t c = lo; c < hi; c++)
      same_bits &= dp_cpu_taken(taken + (i - i0) * words, lo, c) == s->taken[i * s->columns + c];
  CHECK(same_bits, "knapsack: bits of items %lld..%lld, capacities %lld..%lld", (long long)i0,
        (long long)i1, (long long)lo, (long long)hi);
  TSL_FREE_ALL(from, to, taken);
}

/** Groups of items after each other over lanes of columns; bits of single items only. */
static void check_unbounded(const dp_cpu *cpu, const sack *s, const int64_t *cuts, int lanes) {
  int64_t *from = alloc(s->columns, sizeof *from), *to = alloc(s->columns, sizeof *to);
  uint64_t *taken = alloc(s->columns / 64 + 1, sizeof *taken);
  bool same = true, same_bits = true;
  for (int64_t i = 0, end; i < s->items; i = end) {
    end = i + 1 + random_below(2) * random_below(s->items - i);
    for (int lane = 0; lane < lanes; lane++) {
      const int64_t lo = cuts[lane], hi = cuts[lane + 1];
      const bool bits = end == i + 1 && random_below(2) == 0;
      for (int64_t c = 0; c < s->columns; c++)
        from[c] = c >= lo && c < hi ? s->rows[i * s->columns + c] : POISON;
      must(dp_cpu_knapsack_unbounded(cpu, s->weights + i, s->values + i, end - i, from, to, lo, hi,
                                     bits ? taken : NULL));
      for (int64_t c = lo; c < hi; c++) {
        same &= to[c] == s->rows[end * s->columns + c];
        if (bits) same_bits &= dp_cpu_taken(taken, lo, c) == s->taken[i * s->columns + c];
      }
    }
  }
  CHECK(same, "unbounded knapsack of %lld items, %lld capacities", (long long)s->items,
        (long long)s->columns);
  CHECK(same_bits, "unbounded knapsack: bits");
  TSL_FREE_ALL(from, to, taken);
}

static void test_sacks(const dp_cpu *cpu) {
  static const struct {
    int64_t items, columns, heaviest, most;
  } sizes[] = {{0, 1, 1, 1},          {1, 1, 3, 9},          {2, 2, 3, 9},
               {5, 97, 40, 1000},     {13, 1031, 2000, 50},  {40, 3001, 30, 7},
               {9, 40009, 50000, 9},  {30, 70001, 3000, 99}, {25, 20011, 600, INT64_C(1) << 50},
               {7, 200003, 90000, 99}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    sack s = sack_make(sizes[k].items, sizes[k].columns, sizes[k].heaviest, sizes[k].most, false);
    check_sack(cpu, &s, 0, s.items, 0, s.columns, true);
    for (int cut = 0; cut < 6; cut++) {
      int64_t i[3], c[3];
      random_cuts(s.items, 2, i);
      random_cuts(s.columns, 2, c);
      const int which = (int)random_below(2), lane = (int)random_below(2);
      check_sack(cpu, &s, i[which], i[which + 1], c[lane], c[lane + 1], cut % 2 == 0);
    }
    sack_free(&s);
    const int64_t fits = (INT64_C(1) << 61) / sizes[k].columns; /* even of weight 1 */
    s = sack_make(sizes[k].items, sizes[k].columns, sizes[k].heaviest,
                  sizes[k].most < fits ? sizes[k].most : fits, true);
    int64_t cuts[5];
    random_cuts(s.columns, 4, cuts);
    check_unbounded(cpu, &s, cuts, 4);
    cuts[1] = s.columns;
    check_unbounded(cpu, &s, cuts, 1);
    sack_free(&s);
  }
}

static void test_sack_errors(const dp_cpu *cpu) {
  int64_t w[2] = {1, 1}, v[2] = {INT64_MAX / 2 + 1, INT64_MAX / 2 + 1}, from[4] = {0}, to[4];
  CHECK(dp_cpu_knapsack(cpu, w, v, 2, from, to, 0, 4, NULL) == TSL_ERR_NUMERIC,
        "values beyond 63 bits");
  v[0] = -1;
  CHECK(dp_cpu_knapsack(cpu, w, v, 1, from, to, 0, 4, NULL) == TSL_ERR_INPUT, "a negative value");
  w[0] = 0, v[0] = 1;
  CHECK(dp_cpu_knapsack_unbounded(cpu, w, v, 1, from, to, 0, 4, NULL) == TSL_ERR_INPUT, "weight 0");
  from[3] = 1, w[0] = 1, v[0] = INT64_MAX / 2;
  CHECK(dp_cpu_knapsack_unbounded(cpu, w, v, 1, from, to, 0, 4, NULL) == TSL_ERR_NUMERIC,
        "values beyond 63 bits, unbounded");
}

/* ------------------------------------------------------------------ binomial */

/** Even weights and odd capacity: a known answer of subset sums, C - 1. */
static void test_subset_sum(const dp_cpu *cpu) {
  enum { ITEMS = 60, COLUMNS = 2002 };
  int64_t w[ITEMS], *from = alloc(COLUMNS, sizeof *from), *to = alloc(COLUMNS, sizeof *to);
  for (int i = 0; i < ITEMS; i++) w[i] = 2 + 2 * random_below(50);
  must(dp_cpu_knapsack(cpu, w, w, ITEMS, from, to, 0, COLUMNS, NULL));
  CHECK(to[COLUMNS - 1] == COLUMNS - 2, "even weights reach %lld of %d", (long long)to[COLUMNS - 1],
        COLUMNS - 1);
  tsl_free(from);
  tsl_free(to);
}

static void check_pascal(const dp_cpu *cpu, int64_t modulus, int64_t rows, int64_t columns,
                         int64_t lo, int64_t hi, int64_t r0) {
  int64_t *plain = alloc(columns, sizeof *plain), *from = alloc(columns, sizeof *from);
  int64_t *to = alloc(columns, sizeof *to);
  bool same = true;
  plain[0] = modulus == 1 ? 0 : 1;
  for (int64_t i = 1; i <= rows; i++) {
    if (i == r0 + 1) memcpy(from, plain, (size_t)columns * sizeof *from);
    for (int64_t c = columns - 1; c > 0; c--) {
      const __int128 sum = (__int128)plain[c] + plain[c - 1];
      if (modulus > 0)
        plain[c] = (int64_t)(sum % modulus);
      else
        plain[c] = plain[c] < 0 || plain[c - 1] < 0 || sum > INT64_MAX ? -1 : (int64_t)sum;
    }
  }
  for (int64_t c = 0; c < columns; c++) to[c] = POISON;
  if (r0 >= rows) memcpy(from, plain, (size_t)columns * sizeof *from);
  for (int64_t c = 0; c < lo - (rows - r0); c++) from[c] = POISON;
  for (int64_t c = hi; c < columns; c++) from[c] = POISON;
  must(dp_cpu_binomial(cpu, modulus, rows - r0, from, to, lo, hi));
  for (int64_t c = 0; c < columns; c++) {
    if (c < lo || c >= hi)
      same &= to[c] == POISON;
    else
      same &= plain[c] < 0 ? to[c] < 0 : to[c] == plain[c];
  }
  CHECK(same, "rows %lld..%lld, columns %lld..%lld, modulo %lld", (long long)r0, (long long)rows,
        (long long)lo, (long long)hi, (long long)modulus);
  TSL_FREE_ALL(plain, from, to);
}

static void test_binomial(const dp_cpu *cpu) {
  static const int64_t moduli[] = {0, 1, 2, 1000000007, INT64_C(1) << 62};
  static const int64_t sizes[][2] = {{0, 1},   {1, 1},      {1, 2},    {61, 62},
                                     {90, 91}, {300, 5000}, {700, 301}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (size_t p = 0; p < 5; p++)
      for (int cut = 0; cut < 4; cut++) {
        int64_t c[3], r[3];
        random_cuts(sizes[k][1], 2, c);
        random_cuts(sizes[k][0], 2, r);
        /* exact: from row 0, for a negative value of a cut may differ in its other bits */
        check_pascal(cpu, moduli[p], sizes[k][0], sizes[k][1], cut == 0 ? 0 : c[1],
                     cut == 0 ? sizes[k][1] : c[2], cut == 0 ? 0 : r[1]);
      }
}

/* ------------------------------------------------------------------ allotment, stagecoach */

static void put(tsl_type type, void *list, int64_t k, int64_t x) {
  if (type == TSL_I32) ((int32_t *)list)[k] = (int32_t)x;
  if (type == TSL_I64) ((int64_t *)list)[k] = x;
  if (type == TSL_F32) ((float *)list)[k] = (float)x * 0.3f;
  if (type == TSL_F64) ((double *)list)[k] = (double)x * 0.3;
}

/** As the type adds; long double holds all of them. */
static long double add(tsl_type type, const void *a, int64_t i, const void *b, int64_t j) {
  if (type == TSL_I32) return ((const int32_t *)a)[i] + ((const int32_t *)b)[j];
  if (type == TSL_I64) return (long double)(((const int64_t *)a)[i] + ((const int64_t *)b)[j]);
  if (type == TSL_F32) return ((const float *)a)[i] + ((const float *)b)[j];
  return ((const double *)a)[i] + ((const double *)b)[j];
}

static long double get(tsl_type type, const void *list, int64_t k) {
  const int64_t zero = 0; /* +0 of every type */
  return add(type, list, k, &zero, 0);
}

static void fill(tsl_type type, void *list, int64_t n, int64_t range) {
  for (int64_t k = 0; k < n; k++) put(type, list, k, random_below(2 * range) - range);
}

static void check_allotment(const dp_cpu *cpu, tsl_type type, int64_t n, int64_t range) {
  void *from = alloc(n, 8), *returns = alloc(n, 8), *to = alloc(n, 8), *again = alloc(n, 8);
  int32_t *choices = alloc(n, sizeof *choices);
  int64_t cuts[5];
  bool same = true;
  fill(type, from, n, range);
  fill(type, returns, n, range);
  random_cuts(n, 4, cuts);
  for (int lane = 0; lane < 4; lane++) {
    const int64_t lo = cuts[lane], hi = cuts[lane + 1];
    must(dp_cpu_allotment(cpu, type, from, returns, to, lo, hi, NULL));
    must(dp_cpu_allotment(cpu, type, from, returns, again, lo, hi, choices + lo));
  }
  for (int64_t c = 0; c < n; c++) {
    int64_t best = 0;
    for (int64_t k = 1; k <= c; k++)
      if (add(type, from, c - k, returns, k) > add(type, from, c - best, returns, best)) best = k;
    same &= get(type, to, c) == add(type, from, c - best, returns, best);
    same &= get(type, again, c) == get(type, to, c) && choices[c] == best;
  }
  CHECK(same, "allotment of %lld, %s", (long long)n, tsl_type_name(type));
  TSL_FREE_ALL(from, returns, to, again, choices);
}

static void check_stagecoach(const dp_cpu *cpu, tsl_type type, int64_t m, int64_t range) {
  void *from = alloc(m, 8), *costs = alloc(m * m, 8), *to = alloc(m, 8), *again = alloc(m, 8);
  int32_t *choices = alloc(m, sizeof *choices);
  int64_t cuts[5];
  bool same = true;
  fill(type, from, m, range);
  fill(type, costs, m * m, range);
  random_cuts(m, 4, cuts);
  for (int lane = 0; lane < 4; lane++) {
    const int64_t lo = cuts[lane], hi = cuts[lane + 1];
    must(dp_cpu_stagecoach(cpu, type, from, costs, m, to, lo, hi, NULL));
    must(dp_cpu_stagecoach(cpu, type, from, costs, m, again, lo, hi, choices + lo));
  }
  for (int64_t s = 0; s < m; s++) {
    int64_t best = 0;
    for (int64_t k = 1; k < m; k++)
      if (add(type, from, k, costs, k * m + s) < add(type, from, best, costs, best * m + s))
        best = k;
    same &= get(type, to, s) == add(type, from, best, costs, best * m + s);
    same &= get(type, again, s) == get(type, to, s) && choices[s] == best;
  }
  CHECK(same, "stagecoach of %lld states, %s", (long long)m, tsl_type_name(type));
  TSL_FREE_ALL(from, costs, to, again, choices);
}

static void test_rows(const dp_cpu *cpu) {
  static const tsl_type types[] = {TSL_I32, TSL_I64, TSL_F32, TSL_F64};
  static const int64_t sizes[] = {0, 1, 2, 17, 64, 131, 521, 1033};
  for (size_t t = 0; t < 4; t++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
      for (int64_t range = 3; range < 100000; range *= 1000) {
        check_allotment(cpu, types[t], sizes[k], range);
        check_stagecoach(cpu, types[t], sizes[k], range);
      }
}

static void test_row_errors(const dp_cpu *cpu) {
  int32_t from[33], costs[33 * 33], to[33];
  for (int k = 0; k < 33; k++) from[k] = 1 << 30;
  for (int k = 0; k < 33 * 33; k++) costs[k] = 0;
  must(dp_cpu_stagecoach(cpu, TSL_I32, from, costs, 33, to, 0, 33, NULL));
  costs[20 * 33 + 32] = 1 << 30;
  CHECK(dp_cpu_stagecoach(cpu, TSL_I32, from, costs, 33, to, 0, 33, NULL) == TSL_ERR_NUMERIC,
        "stagecoach beyond 32 bits in the last column");
  costs[20 * 33 + 32] = 0, costs[30 * 33 + 3] = INT32_MAX;
  CHECK(dp_cpu_stagecoach(cpu, TSL_I32, from, costs, 33, to, 0, 33, NULL) == TSL_ERR_NUMERIC,
        "stagecoach beyond 32 bits");
  CHECK(dp_cpu_allotment(cpu, TSL_I32, from, from, to, 0, 33, NULL) == TSL_ERR_NUMERIC,
        "allotment beyond 32 bits");
}

static void test(const dp_cpu *cpu) {
  test_sacks(cpu);
  test_sack_errors(cpu);
  test_subset_sum(cpu);
  test_binomial(cpu);
  test_rows(cpu);
  test_row_errors(cpu);
}

int main(void) {
  return run_levels("cpu.dp.rows", test);
}
