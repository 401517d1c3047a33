/**
 * @file test_dp_cpu_lcs.c
 * Longest common subsequence and unit edit distance by bits, against plain tables of all cells:
 * the goal, every row, every edge and the way back, for cuts at random places.
 */
#include "test_dp_cpu.h"

/** M[i][j], [n + 1][m + 1]. */
static int32_t *table_make(dp_problem problem, const uint8_t *a, int64_t n, const uint8_t *b,
                           int64_t m) {
  int32_t *t = alloc((n + 1) * (m + 1), sizeof *t);
  for (int64_t i = 0; i <= n; i++)
    for (int64_t j = 0; j <= m; j++) {
      int32_t *at = &t[i * (m + 1) + j];
      if (i == 0 || j == 0) {
        *at = problem == DP_EDIT ? (int32_t)(i + j) : 0;
        continue;
      }
      const int32_t up = at[-(m + 1)], left = at[-1], over = at[-(m + 2)];
      const bool equal = a[i - 1] == b[j - 1];
      if (problem == DP_LCS) {
        *at = up > left ? up : left;
        if (equal && over + 1 > *at) *at = over + 1;
      } else {
        *at = (up < left ? up : left) + 1;
        if (over + !equal < *at) *at = over + !equal;
      }
    }
  return t;
}

static bool bit(const uint32_t *bits, int64_t k) {
  return bits[k / 32] >> k % 32 & 1;
}

/** A grid of bands and tiles. */
typedef struct grid {
  dp_problem problem;
  int64_t n, m;
  const uint8_t *a, *b;
  const int32_t *t;
  tiles cuts;
  dp_cpu_bits *bands[8];
} grid;

static int32_t cell(const grid *g, int64_t i, int64_t j) {
  return g->t[i * (g->m + 1) + j];
}

/** The edge of rows [lo, hi) at column j against the table. */
static void check_edge(const grid *g, const uint32_t *edge, int64_t lo, int64_t hi, int64_t j) {
  const int64_t groups = (hi - lo + 31) / 32;
  bool same = true;
  for (int64_t r = 0; r < 32 * groups; r++) {
    const int32_t d = r < hi - lo ? cell(g, lo + r + 1, j) - cell(g, lo + r, j) : 0;
    same &= bit(edge, r) == (d == 1);
    if (g->problem == DP_EDIT) same &= bit(edge + groups, r) == (d == -1);
  }
  CHECK(same, "problem %d: edge of rows %lld..%lld at column %lld", (int)g->problem, (long long)lo,
        (long long)hi, (long long)j);
}

static void check_row(const grid *g, int band, int64_t i) {
  const int64_t lo = g->cuts.columns[band], m = g->cuts.columns[band + 1] - lo,
                halves = (m + 31) / 32;
  uint32_t *bits = alloc(2 * halves, sizeof *bits);
  bool same = true;
  dp_cpu_bits_row_get(g->bands[band], bits);
  for (int64_t j = 0; j < 32 * halves; j++) {
    const int32_t d = j < m ? cell(g, i, lo + j + 1) - cell(g, i, lo + j) : 0;
    same &= bit(bits, j) == (d == 1);
    if (g->problem == DP_EDIT) same &= bit(bits + halves, j) == (d == -1);
  }
  CHECK(same, "problem %d: row %lld of band %d", (int)g->problem, (long long)i, band);
  CHECK(dp_cpu_bits_sum(g->bands[band]) == cell(g, i, lo + m) - cell(g, i, lo), "sum of row %lld",
        (long long)i);
  dp_cpu_bits_row_put(g->bands[band], bits); /* the same row again: must change nothing */
  tsl_free(bits);
}

/** One step of the plain walk with the rule of dp_cpu.h. */
static bool plain_step(const grid *g, int64_t *i, int64_t *j) {
  const int32_t here = cell(g, *i, *j), up = cell(g, *i - 1, *j), left = cell(g, *i, *j - 1);
  const bool equal = g->a[*i - 1] == g->b[*j - 1];
  if (g->problem == DP_LCS) {
    if (left == here) return (*j)--, false;
    if (up == here) return (*i)--, false;
    return (*i)--, (*j)--, true;
  }
  if (cell(g, *i - 1, *j - 1) + !equal == here) return (*i)--, (*j)--, true;
  if (left + 1 == here) return (*j)--, false;
  return (*i)--, false;
}

/** Walk through the kept tile of a band from one of its corners, against the plain walk. */
static void check_trace(const grid *g, int band, int64_t lo, int64_t hi) {
  const int64_t first = g->cuts.columns[band], m = g->cuts.columns[band + 1] - first;
  const int64_t room = hi - lo < m ? hi - lo : m;
  dp_pair *pairs = alloc(room, sizeof *pairs);
  int64_t row = hi - random_below((hi - lo) / 2 + 1), column = m - random_below(m / 2 + 1);
  int64_t i = row, j = first + column, count = 0, k = 0;
  bool same = true;
  must(dp_cpu_bits_trace(g->bands[band], &row, &column, pairs, room, &count));
  while (i > lo && j > first) {
    if (!plain_step(g, &i, &j)) continue;
    same = same && k < count && pairs[k].row == i && pairs[k].column == j - first;
    k++;
  }
  CHECK(same && k == count && row == i && column == j - first,
        "problem %d: way back, %lld pairs of %lld, ends at (%lld, %lld) not (%lld, %lld)",
        (int)g->problem, (long long)count, (long long)k, (long long)row,
        (long long)(column + first), (long long)i, (long long)j);
  tsl_free(pairs);
}

static void run_tiles(grid *g, int r) {
  const int64_t lo = g->cuts.rows[r], hi = g->cuts.rows[r + 1], groups = (hi - lo + 31) / 32;
  uint32_t *edge = alloc(2 * groups, sizeof *edge);
  for (int c = 0; c < g->cuts.n_columns; c++) {
    const bool keep = random_below(2) == 0;
    must(dp_cpu_bits_tile(g->bands[c], lo, hi, c > 0 ? edge : NULL, edge, keep));
    if (lo < hi) check_edge(g, edge, lo, hi, g->cuts.columns[c + 1]);
    check_row(g, c, hi);
    if (keep) check_trace(g, c, lo, hi);
  }
  tsl_free(edge);
}

static void test_pair(const dp_cpu *cpu, dp_problem problem, const uint8_t *a, int64_t n,
                      const uint8_t *b, int64_t m) {
  grid g = {.problem = problem, .n = n, .m = m, .a = a, .b = b};
  int32_t *t = table_make(problem, a, n, b, m);
  g.t = t;
  for (int cut = 0; cut < 3; cut++) {
    random_tiles(cut, n, m, &g.cuts);
    for (int c = 0; c < g.cuts.n_columns; c++)
      must(dp_cpu_bits_open(cpu, problem, a, n, b + g.cuts.columns[c],
                            g.cuts.columns[c + 1] - g.cuts.columns[c], &g.bands[c]));
    for (int r = 0; r < g.cuts.n_rows; r++) run_tiles(&g, r);
    int64_t sum = 0;
    for (int c = 0; c < g.cuts.n_columns; c++) sum += dp_cpu_bits_sum(g.bands[c]);
    CHECK(sum + (problem == DP_EDIT ? n : 0) == cell(&g, n, m), "goal of %lld x %lld", (long long)n,
          (long long)m);
    for (int c = 0; c < g.cuts.n_columns; c++) dp_cpu_bits_close(&g.bands[c]);
  }
  tsl_free(t);
}

static void test_sizes(const dp_cpu *cpu) {
  static const int64_t sizes[][2] = {{0, 0},    {0, 5},     {5, 0},      {1, 1},     {2, 2},
                                     {1, 97},   {97, 1},    {31, 33},    {64, 64},   {65, 129},
                                     {127, 63}, {512, 512}, {513, 2049}, {600, 300}, {1031, 2311},
                                     {3, 4099}, {1537, 70}, {40, 12289}};
  static const int letters[] = {1, 2, 4, 5, 26, 256};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int problem = DP_LCS; problem <= DP_EDIT; problem++) {
      const int64_t n = sizes[s][0], m = sizes[s][1];
      const int alphabet = letters[(s + (size_t)problem) % 6];
      int64_t k = 0;
      uint8_t *a = random_letters(n, alphabet), *b = random_letters(m, alphabet);
      uint8_t *c = mutate(a, n, alphabet, 10, &k);
      test_pair(cpu, (dp_problem)problem, a, n, b, m);
      test_pair(cpu, (dp_problem)problem, a, n, c, k);
      for (int64_t j = 0; j < m; j++) b[j] = (uint8_t)(255 - b[j] / 2); /* letters of b alone */
      test_pair(cpu, (dp_problem)problem, a, n, b, m);
      tsl_free(a);
      tsl_free(b);
      tsl_free(c);
    }
}

/** Known answers: k letters removed; nothing in common; the longest increasing subsequence. */
static void test_known(const dp_cpu *cpu) {
  enum { N = 20011, REMOVED = 137 };
  uint8_t *a = random_letters(N, 4), *b = alloc(N, 1);
  dp_cpu_bits *band = NULL;
  for (int64_t i = 0, k = 0; i < N; i++)
    if (i % (N / REMOVED) != 0 || k >= N - REMOVED) b[k++] = a[i];
  const int64_t m = N - (N + N / REMOVED - 1) / (N / REMOVED);
  must(dp_cpu_bits_open(cpu, DP_LCS, a, N, b, m, &band));
  must(dp_cpu_bits_tile(band, 0, N, NULL, NULL, false));
  CHECK(dp_cpu_bits_sum(band) == m, "letters removed: %lld", (long long)dp_cpu_bits_sum(band));
  dp_cpu_bits_close(&band);
  for (int64_t i = 0; i < m; i++) b[i] = (uint8_t)(b[i] + 4);
  must(dp_cpu_bits_open(cpu, DP_LCS, a, N, b, m, &band));
  must(dp_cpu_bits_tile(band, 0, N, NULL, NULL, false));
  CHECK(dp_cpu_bits_sum(band) == 0, "nothing in common: %lld", (long long)dp_cpu_bits_sum(band));
  dp_cpu_bits_close(&band);
  must(dp_cpu_bits_open(cpu, DP_EDIT, a, N, b, m, &band));
  must(dp_cpu_bits_tile(band, 0, N, NULL, NULL, false));
  CHECK(dp_cpu_bits_sum(band) + N == N, "edit distance of strangers");
  dp_cpu_bits_close(&band);
  tsl_free(a);
  tsl_free(b);
}

static void test(const dp_cpu *cpu) {
  test_sizes(cpu);
  test_known(cpu);
}

int main(void) {
  return run_levels("cpu.dp.lcs", test);
}
