/**
 * @file test_dp_cpu_edit.c
 * Weighted edit distance against a plain table of all cells: the goal, every row, every edge and
 * the way back, for cuts at random places and costs that need 16 and 32 bits. With unit costs the
 * same as by bits, and as edlib says where its library is installed.
 */
#include "bench_dp_peers.h"
#include "test_dp_cpu.h"

/** A grid of bands and tiles, and the plain table [n + 1][m + 1]. */
typedef struct grid {
  int64_t insert, remove, replace;
  int64_t n, m;
  const uint8_t *a, *b;
  int64_t *t;
  tiles cuts;
  dp_cpu_align *bands[8];
} grid;

static int64_t cell(const grid *g, int64_t i, int64_t j) {
  return g->t[i * (g->m + 1) + j];
}

static int64_t pair_cost(const grid *g, int64_t i, int64_t j) {
  return g->a[i - 1] == g->b[j - 1] ? 0 : g->replace;
}

static void table_make(grid *g) {
  g->t = alloc((g->n + 1) * (g->m + 1), sizeof *g->t);
  for (int64_t i = 0; i <= g->n; i++)
    for (int64_t j = 0; j <= g->m; j++) {
      int64_t *at = &g->t[i * (g->m + 1) + j];
      *at = i * g->remove + j * g->insert;
      if (i == 0 || j == 0) continue;
      *at = at[-(g->m + 2)] + pair_cost(g, i, j);
      if (at[-1] + g->insert < *at) *at = at[-1] + g->insert;
      if (at[-(g->m + 1)] + g->remove < *at) *at = at[-(g->m + 1)] + g->remove;
    }
}

static void check_trace(const grid *g, int band, int64_t lo, int64_t hi) {
  const int64_t first = g->cuts.columns[band], m = g->cuts.columns[band + 1] - first;
  dp_place place = {.row = hi - random_below((hi - lo) / 2 + 1),
                    .column = m - random_below(m / 2 + 1)};
  int64_t i = place.row, j = first + place.column, count = 0, k = 0;
  const int64_t room = place.row - lo + place.column;
  uint8_t *steps = alloc(room, 1);
  bool same = true;
  must(dp_cpu_align_trace(g->bands[band], &place, steps, room, &count));
  for (; i > lo && j > first; k++) {
    int step = DP_STEP_UP;
    if (cell(g, i - 1, j - 1) + pair_cost(g, i, j) == cell(g, i, j))
      step = DP_STEP_PAIR;
    else if (cell(g, i, j - 1) + g->insert == cell(g, i, j))
      step = DP_STEP_LEFT;
    same = same && k < count && steps[k] == step;
    i -= step != DP_STEP_LEFT;
    j -= step != DP_STEP_UP;
  }
  CHECK(same && k == count && place.row == i && place.column == j - first && place.done == 0,
        "way back: %lld steps of %lld", (long long)count, (long long)k);
  tsl_free(steps);
}

static void run_tiles(grid *g, int r) {
  const int64_t lo = g->cuts.rows[r], hi = g->cuts.rows[r + 1];
  int32_t *edge = alloc(hi - lo + 1, sizeof *edge);
  int32_t *row = alloc(g->m, sizeof *row);
  for (int c = 0; c < g->cuts.n_columns; c++) {
    const int64_t first = g->cuts.columns[c], last = g->cuts.columns[c + 1];
    const bool keep = random_below(2) == 0;
    bool same = true;
    must(dp_cpu_align_tile(g->bands[c], lo, hi, c > 0 ? edge : NULL, edge, keep));
    for (int64_t i = lo; i <= hi; i++) same &= edge[i - lo] == cell(g, i, last);
    CHECK(same, "edge of rows %lld..%lld at column %lld", (long long)lo, (long long)hi,
          (long long)last);
    dp_cpu_align_row_get(g->bands[c], row, NULL);
    same = true;
    for (int64_t j = first; j < last; j++) same &= row[j - first] == cell(g, hi, j + 1);
    CHECK(same, "row %lld of band %d", (long long)hi, c);
    dp_cpu_align_row_put(g->bands[c], row, NULL);
    if (first < last) CHECK(dp_cpu_align_best(g->bands[c]).score == cell(g, hi, last), "last cell");
    if (keep) check_trace(g, c, lo, hi);
  }
  tsl_free(edge);
  tsl_free(row);
}

static void test_pair(const dp_cpu *cpu, grid *g) {
  table_make(g);
  for (int cut = 0; cut < 3; cut++) {
    random_tiles(cut, g->n, g->m, &g->cuts);
    for (int c = 0; c < g->cuts.n_columns; c++)
      must(dp_cpu_edit_open(cpu, g->insert, g->remove, g->replace, g->a, g->n,
                            g->b + g->cuts.columns[c], g->cuts.columns[c + 1] - g->cuts.columns[c],
                            g->m, g->cuts.columns[c], &g->bands[c]));
    for (int r = 0; r < g->cuts.n_rows; r++) run_tiles(g, r);
    for (int c = 0; c < g->cuts.n_columns; c++) dp_cpu_align_close(&g->bands[c]);
  }
  tsl_free(g->t);
}

static void test_sizes(const dp_cpu *cpu) {
  static const int64_t sizes[][2] = {{0, 0},     {0, 5},     {5, 0},     {1, 1},    {2, 2},
                                     {1, 97},    {97, 1},    {64, 512},  {65, 129}, {513, 515},
                                     {600, 300}, {2051, 40}, {331, 2311}};
  static const int64_t costs[][3] = {{1, 1, 1},         {2, 3, 4},          {5, 1, 100},
                                     {0, 0, 3},         {4, 4, 0},          {900, 1300, 2100},
                                     {70000, 1, 90000}, {100000, 100000, 0}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
      const int letters = k % 2 == 0 ? 4 : 256;
      grid g = {.insert = costs[k][0],
                .remove = costs[k][1],
                .replace = costs[k][2],
                .n = sizes[s][0],
                .m = sizes[s][1]};
      uint8_t *a = random_letters(g.n, letters), *b = random_letters(g.m, letters);
      g.a = a, g.b = b;
      test_pair(cpu, &g);
      tsl_free(b);
      b = mutate(a, g.n, letters, 10, &g.m);
      g.b = b;
      test_pair(cpu, &g);
      tsl_free(a);
      tsl_free(b);
    }
}

static void test_errors(const dp_cpu *cpu) {
  const uint8_t letters[2] = {0, 255};
  dp_cpu_align *band = NULL;
  CHECK(dp_cpu_edit_open(cpu, -1, 1, 1, letters, 2, letters, 2, 2, 0, &band) == TSL_ERR_INPUT,
        "a negative cost is taken");
  CHECK(dp_cpu_edit_open(cpu, 1, 1, INT64_C(1) << 40, letters, 2, letters, 2, 2, 0, &band) ==
            TSL_ERR_INPUT,
        "a cost of 40 bits is taken");
  CHECK(dp_cpu_edit_open(cpu, 1 << 20, 1, 1, letters, 2, letters, 2, 1 << 20, 0, &band) ==
            TSL_ERR_INPUT,
        "a distance of 40 bits is taken");
}

/* ------------------------------------------------------------------ edlib */

static int64_t by_bits(const dp_cpu *cpu, const uint8_t *a, int64_t n, const uint8_t *b,
                       int64_t m) {
  dp_cpu_bits *band = NULL;
  must(dp_cpu_bits_open(cpu, DP_EDIT, a, n, b, m, &band));
  must(dp_cpu_bits_tile(band, 0, n, NULL, NULL, false));
  const int64_t distance = n + dp_cpu_bits_sum(band);
  dp_cpu_bits_close(&band);
  return distance;
}

static void test_unit(const dp_cpu *cpu) {
  int compared = 0;
  for (int k = 0; k < 8; k++) {
    const int64_t n = 1000 + random_below(4000);
    int64_t m = 0;
    dp_cpu_align *band = NULL;
    uint8_t *a = random_letters(n, 4 + 20 * (k % 2)), *b = mutate(a, n, 4, 2 + 5 * k, &m);
    must(dp_cpu_edit_open(cpu, 1, 1, 1, a, n, b, m, m, 0, &band));
    must(dp_cpu_align_tile(band, 0, n, NULL, NULL, false));
    const int64_t distance = dp_cpu_align_best(band).score;
    CHECK(distance == by_bits(cpu, a, n, b, m), "unit costs: %lld by numbers, %lld by bits",
          (long long)distance, (long long)by_bits(cpu, a, n, b, m));
    double seconds = 0;
    int64_t theirs = 0;
    if (dp_peer_edlib(a, n, b, m, 1, &seconds, &theirs)) {
      CHECK(theirs == distance, "edlib: %lld, here %lld", (long long)theirs, (long long)distance);
      compared++;
    }
    dp_cpu_align_close(&band);
    tsl_free(a);
    tsl_free(b);
  }
  if (compared == 0 && level_now == tsl_cpu_level() && threads_now == 1)
    printf("edlib is not installed: not compared\n");
}

static void test(const dp_cpu *cpu) {
  test_sizes(cpu);
  test_errors(cpu);
  test_unit(cpu);
}

int main(void) {
  return run_levels("cpu.dp.edit", test);
}
