/**
 * @file test_dp_cpu_dtw.c
 * Dynamic time warping against a plain table of all cells, bit for bit: every row, every edge and
 * the way back, for cuts at random places.
 */
#include "test_dp_cpu.h"

#include <math.h>

/** A grid of bands and tiles, and the plain table [n + 1][m + 1]. */
typedef struct grid {
  tsl_type type;
  bool square;
  int64_t n, m;
  const void *a, *b;
  double *t;
  tiles cuts;
  dp_cpu_dtw *bands[8];
} grid;

static double value(const grid *g, const void *list, int64_t k) {
  return g->type == TSL_F64 ? ((const double *)list)[k] : (double)((const float *)list)[k];
}

static double cell(const grid *g, int64_t i, int64_t j) {
  return g->t[i * (g->m + 1) + j];
}

/** The cell (i, j), from 1, when its predecessor has the value before. */
static double plain_after(const grid *g, int64_t i, int64_t j, double before) {
  const double x = value(g, g->a, i - 1), y = value(g, g->b, j - 1);
  if (g->type == TSL_F64) return (g->square ? (x - y) * (x - y) : fabs(x - y)) + before;
  const float d = (float)x - (float)y;
  const float cost = g->square ? d * d : fabsf(d);
  return (double)(cost + (float)before);
}

static void table_make(grid *g) {
  g->t = alloc((g->n + 1) * (g->m + 1), sizeof *g->t);
  for (int64_t i = 0; i <= g->n; i++)
    for (int64_t j = 0; j <= g->m; j++) {
      double *at = &g->t[i * (g->m + 1) + j];
      *at = i + j == 0 ? 0 : (double)INFINITY;
      if (i == 0 || j == 0) continue;
      const double up = at[-(g->m + 1)], over = at[-(g->m + 2)], left = at[-1];
      double least = up < over ? up : over;
      if (left < least) least = left;
      *at = plain_after(g, i, j, least);
    }
}

static void check_trace(const grid *g, int band, int64_t lo, int64_t hi) {
  const int64_t first = g->cuts.columns[band], m = g->cuts.columns[band + 1] - first;
  int64_t row = hi - random_below((hi - lo) / 2 + 1), column = m - random_below(m / 2 + 1);
  int64_t i = row, j = first + column, count = 0, k = 0;
  const int64_t room = row - lo + column;
  dp_pair *pairs = alloc(room, sizeof *pairs);
  bool same = true;
  must(dp_cpu_dtw_trace(g->bands[band], &row, &column, pairs, room, &count));
  for (; i > lo && j > first; k++) {
    same = same && k < count && pairs[k].row == i - 1 && pairs[k].column == j - first - 1;
    if (plain_after(g, i, j, cell(g, i - 1, j - 1)) == cell(g, i, j))
      i--, j--;
    else if (plain_after(g, i, j, cell(g, i, j - 1)) == cell(g, i, j))
      j--;
    else
      i--;
  }
  CHECK(same && k == count && row == i && column == j - first, "way back: %lld cells of %lld",
        (long long)count, (long long)k);
  tsl_free(pairs);
}

static void run_tiles(grid *g, int r) {
  const int64_t lo = g->cuts.rows[r], hi = g->cuts.rows[r + 1];
  char *edge = alloc(hi - lo + 1, sizeof(double)), *row = alloc(g->m, sizeof(double));
  for (int c = 0; c < g->cuts.n_columns; c++) {
    const int64_t first = g->cuts.columns[c], last = g->cuts.columns[c + 1];
    const bool keep = random_below(2) == 0;
    bool same = true;
    must(dp_cpu_dtw_tile(g->bands[c], lo, hi, c > 0 ? edge : NULL, edge, keep));
    for (int64_t i = lo; i <= hi; i++) same &= value(g, edge, i - lo) == cell(g, i, last);
    CHECK(same, "edge of rows %lld..%lld at column %lld", (long long)lo, (long long)hi,
          (long long)last);
    dp_cpu_dtw_row_get(g->bands[c], row);
    same = true;
    for (int64_t j = first; j < last; j++) same &= value(g, row, j - first) == cell(g, hi, j + 1);
    CHECK(same, "row %lld of band %d", (long long)hi, c);
    dp_cpu_dtw_row_put(g->bands[c], row);
    if (keep) check_trace(g, c, lo, hi);
  }
  tsl_free(edge);
  tsl_free(row);
}

static void test_pair(const dp_cpu *cpu, grid *g) {
  const size_t size = tsl_type_bytes(g->type);
  table_make(g);
  for (int cut = 0; cut < 3; cut++) {
    random_tiles(cut, g->n, g->m, &g->cuts);
    for (int c = 0; c < g->cuts.n_columns; c++)
      must(dp_cpu_dtw_open(cpu, g->type, g->square, g->a, g->n,
                           (const char *)g->b + (size_t)g->cuts.columns[c] * size,
                           g->cuts.columns[c + 1] - g->cuts.columns[c], &g->bands[c]));
    for (int r = 0; r < g->cuts.n_rows; r++) run_tiles(g, r);
    for (int c = 0; c < g->cuts.n_columns; c++) dp_cpu_dtw_close(&g->bands[c]);
  }
  tsl_free(g->t);
}

/** Whole numbers now and then, so that ties occur. */
static void *series(tsl_type type, int64_t n, bool whole) {
  void *out = alloc(n, sizeof(double));
  for (int64_t i = 0; i < n; i++) {
    const double x = whole ? (double)random_below(5) : (double)(random_next() >> 11) * 0x1p-50 - 4;
    if (type == TSL_F64)
      ((double *)out)[i] = x;
    else
      ((float *)out)[i] = (float)x;
  }
  return out;
}

static void test(const dp_cpu *cpu) {
  static const int64_t sizes[][2] = {{0, 0},     {0, 3},     {3, 0},     {1, 1},     {2, 2},
                                     {1, 140},   {140, 1},   {31, 33},   {130, 127}, {257, 64},
                                     {300, 521}, {1025, 35}, {1300, 700}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int k = 0; k < 8; k++) {
      grid g = {
          .type = k & 1 ? TSL_F32 : TSL_F64, .square = k & 2, .n = sizes[s][0], .m = sizes[s][1]};
      void *a = series(g.type, g.n, k & 4), *b = series(g.type, g.m, k & 4);
      g.a = a, g.b = b;
      test_pair(cpu, &g);
      tsl_free(a);
      tsl_free(b);
    }
}

int main(void) {
  return run_levels("cpu.dp.dtw", test);
}
