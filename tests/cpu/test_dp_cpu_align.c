/**
 * @file test_dp_cpu_align.c
 * Global and local alignment with affine gaps against plain tables H, E, F of all cells: the goal,
 * every row, every edge and the way back, for cuts at random places and for scores that need 8, 16
 * and 32 bits. Scores against parasail where its library is installed.
 */
#include "test_dp_cpu.h"

#include <dlfcn.h>

enum { LEAST = INT32_MIN / 2 };

/** A grid of bands and tiles, and the plain tables [n + 1][m + 1]. */
typedef struct grid {
  dp_problem problem;
  letters_scores scores;
  int64_t n, m;
  const uint8_t *a, *b;
  int32_t *h, *e, *f;
  tiles cuts;
  dp_cpu_align *bands[8];
  bool track; /* the best are of all cells, GLOBAL */
} grid;

static int32_t most(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static void tables_make(grid *g) {
  const int64_t w = g->m + 1, cells = (g->n + 1) * w;
  const int32_t open = g->scores.open, extend = g->scores.extend;
  g->h = alloc(cells, sizeof *g->h);
  g->e = alloc(cells, sizeof *g->e);
  g->f = alloc(cells, sizeof *g->f);
  for (int64_t i = 0; i <= g->n; i++)
    for (int64_t j = 0; j <= g->m; j++) {
      const int64_t at = i * w + j;
      g->e[at] = g->f[at] = LEAST;
      if (i == 0 || j == 0) {
        const bool zero = i + j == 0 || g->problem == DP_LOCAL;
        g->h[at] = zero ? 0 : -(open + (int32_t)(i + j) * extend);
        continue;
      }
      g->e[at] = most(g->e[at - 1], g->h[at - 1] - open) - extend;
      g->f[at] = most(g->f[at - w], g->h[at - w] - open) - extend;
      g->h[at] =
          most(g->h[at - w - 1] + g->scores.s[g->a[i - 1]][g->b[j - 1]], most(g->e[at], g->f[at]));
      if (g->problem == DP_LOCAL) g->h[at] = most(g->h[at], 0);
    }
}

static void tables_free(grid *g) {
  tsl_free(g->h);
  tsl_free(g->e);
  tsl_free(g->f);
}

static void check_edge(const grid *g, const int32_t *edge, int64_t lo, int64_t hi, int64_t j) {
  bool same = true;
  for (int64_t i = lo; i <= hi; i++) {
    const int64_t at = i * (g->m + 1) + j;
    same &= edge[2 * (i - lo)] == g->h[at];
    if (i > lo) same &= edge[2 * (i - lo) + 1] == most(g->e[at], g->h[at] - g->scores.open);
  }
  CHECK(same, "problem %d: edge of rows %lld..%lld at column %lld", (int)g->problem, (long long)lo,
        (long long)hi, (long long)j);
}

static void check_row(const grid *g, int band, int64_t i) {
  const int64_t lo = g->cuts.columns[band], m = g->cuts.columns[band + 1] - lo;
  int32_t *h = alloc(m, sizeof *h), *f = alloc(m, sizeof *f);
  bool same = true;
  dp_cpu_align_row_get(g->bands[band], h, f);
  for (int64_t j = 0; j < m; j++) {
    const int64_t at = i * (g->m + 1) + lo + j + 1;
    int32_t want = most(g->f[at], g->h[at] - g->scores.open);
    if (g->problem == DP_LOCAL) want = most(want, g->scores.extend);
    same = same && h[j] == g->h[at] && f[j] == want;
  }
  CHECK(same, "problem %d: row %lld of band %d", (int)g->problem, (long long)i, band);
  dp_cpu_align_row_put(g->bands[band], h, f);
  tsl_free(h);
  tsl_free(f);
}

/** One move of the plain walk; a step or -1. */
static int plain_move(const grid *g, dp_place *p) {
  const int64_t w = g->m + 1, at = p->row * w + p->column;
  const int32_t h = g->h[at], open = g->scores.open;
  const int state = p->state;
  if (state == DP_STEP_PAIR) {
    if (g->problem == DP_LOCAL && h == 0) return p->done = 1, -1;
    if (h == g->h[at - w - 1] + g->scores.s[g->a[p->row - 1]][g->b[p->column - 1]]) {
      p->row--, p->column--;
      return DP_STEP_PAIR;
    }
    p->state = h == g->e[at] ? DP_STEP_LEFT : DP_STEP_UP;
    return -1;
  }
  const int64_t from = state == DP_STEP_LEFT ? at - 1 : at - w;
  const int32_t longer = state == DP_STEP_LEFT ? g->e[from] : g->f[from];
  if (g->h[from] - open >= longer) p->state = DP_STEP_PAIR;
  if (state == DP_STEP_LEFT)
    p->column--;
  else
    p->row--;
  return state;
}

static void check_trace(const grid *g, int band, int64_t lo, int64_t hi) {
  const int64_t first = g->cuts.columns[band], m = g->cuts.columns[band + 1] - first;
  dp_place place = {.row = hi - random_below((hi - lo) / 2 + 1),
                    .column = m - random_below(m / 2 + 1)};
  dp_place plain = place;
  const int64_t room = place.row - lo + place.column;
  uint8_t *steps = alloc(room, 1);
  int64_t count = 0, k = 0;
  bool same = true;
  must(dp_cpu_align_trace(g->bands[band], &place, steps, room, &count));
  plain.column += first;
  while (plain.row > lo && plain.column > first && !plain.done) {
    const int step = plain_move(g, &plain);
    if (step < 0) continue;
    same = same && k < count && steps[k] == step;
    k++;
  }
  CHECK(same && k == count && place.row == plain.row && place.column + first == plain.column &&
            place.state == plain.state && place.done == plain.done,
        "problem %d: way back in rows %lld..%lld of band %d: %lld steps of %lld", (int)g->problem,
        (long long)lo, (long long)hi, band, (long long)count, (long long)k);
  tsl_free(steps);
}

/** The best cell of the columns of a band, rows 1..hi. */
static dp_best plain_best(const grid *g, int band, int64_t hi) {
  dp_best best = {0};
  for (int64_t i = 1; i <= hi; i++)
    for (int64_t j = g->cuts.columns[band] + 1; j <= g->cuts.columns[band + 1]; j++)
      if (g->h[i * (g->m + 1) + j] > best.score)
        best = (dp_best){g->h[i * (g->m + 1) + j], i, j - g->cuts.columns[band]};
  return best;
}

static void run_tiles(grid *g, int r) {
  const int64_t lo = g->cuts.rows[r], hi = g->cuts.rows[r + 1];
  int32_t *edge = alloc(2 * (hi - lo + 1), sizeof *edge);
  for (int c = 0; c < g->cuts.n_columns; c++) {
    const bool keep = random_below(2) == 0;
    must(dp_cpu_align_tile(g->bands[c], lo, hi, c > 0 ? edge : NULL, edge, keep));
    check_edge(g, edge, lo, hi, g->cuts.columns[c + 1]);
    check_row(g, c, hi);
    if (keep) check_trace(g, c, lo, hi);
    const dp_best best = dp_cpu_align_best(g->bands[c]), want = plain_best(g, c, hi);
    if (g->problem == DP_LOCAL)
      CHECK(best.score == want.score && best.row == want.row && best.column == want.column,
            "best cell (%lld, %lld, %lld), not (%lld, %lld, %lld)", (long long)best.score,
            (long long)best.row, (long long)best.column, (long long)want.score, (long long)want.row,
            (long long)want.column);
    else if (g->track)
      CHECK(best.score == want.score, "largest value %lld, not %lld", (long long)best.score,
            (long long)want.score);
    else if (g->cuts.columns[c + 1] > g->cuts.columns[c])
      CHECK(best.score == g->h[hi * (g->m + 1) + g->cuts.columns[c + 1]], "last cell");
  }
  tsl_free(edge);
}

static void test_pair(const dp_cpu *cpu, dp_problem problem, const letters_scores *scores,
                      const uint8_t *a, int64_t n, const uint8_t *b, int64_t m) {
  grid g = {.problem = problem, .scores = *scores, .n = n, .m = m, .a = a, .b = b};
  tables_make(&g);
  for (int cut = 0; cut < 2; cut++) {
    random_tiles(cut, n, m, &g.cuts);
    for (int c = 0; c < g.cuts.n_columns; c++)
      must(dp_cpu_align_open(cpu, problem, scores, a, n, b + g.cuts.columns[c],
                             g.cuts.columns[c + 1] - g.cuts.columns[c], m, g.cuts.columns[c],
                             &g.bands[c]));
    g.track = problem == DP_GLOBAL && random_below(2) == 0;
    for (int c = 0; c < g.cuts.n_columns && g.track; c++) dp_cpu_align_track(g.bands[c]);
    for (int r = 0; r < g.cuts.n_rows; r++) run_tiles(&g, r);
    for (int c = 0; c < g.cuts.n_columns; c++) dp_cpu_align_close(&g.bands[c]);
  }
  tables_free(&g);
}

static letters_scores simple_scores(int alphabet, int32_t match, int32_t mismatch, int32_t open,
                                    int32_t extend) {
  letters_scores s = {.open = open, .extend = extend, .alphabet = alphabet};
  for (int x = 0; x < alphabet; x++)
    for (int y = 0; y < alphabet; y++) s.s[x][y] = x == y ? match : mismatch;
  return s;
}

/** The k-th set of scores; from 5 on a matrix. */
static letters_scores scores_of(int k) {
  letters_scores s;
  switch (k) {
  case 0:
    return simple_scores(4, 1, -3, 3, 2);
  case 1: /* the last letter matches nothing, not even itself */
    s = simple_scores(5, 2, -3, 5, 1);
    s.s[4][4] = -3;
    return s;
  case 2:
    return simple_scores(4, 5, -4, 10, 0);
  case 3: /* 8 bits are left at once, 16 soon */
    return simple_scores(2, 900, -700, 4000, 31);
  case 4:
    return simple_scores(1, 3, 3, 0, 0);
  case 5: /* 32 bits only */
    s = simple_scores(20, 40000, -30000, 100000, 7000);
    s.s[3][7] = 11;
    return s;
  default:
    s = simple_scores(k % 2 == 0 ? 24 : 32, 0, 0, 11, 1);
    for (int x = 0; x < s.alphabet; x++)
      for (int y = 0; y < s.alphabet; y++)
        s.s[x][y] = (int32_t)random_below(9) - 5 + (x == y ? 8 : 0);
    return s;
  }
}

static void test_sizes(const dp_cpu *cpu) {
  static const int64_t sizes[][2] = {{0, 0},    {0, 7},     {7, 0},     {1, 1},     {2, 2},
                                     {1, 130},  {130, 1},   {31, 33},   {64, 256},  {65, 259},
                                     {127, 63}, {511, 513}, {2049, 70}, {700, 791}, {97, 1283}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int k = 0; k < 8; k++)
      for (int problem = DP_GLOBAL; problem <= DP_LOCAL; problem++) {
        if ((s + (size_t)k) % 2 == (size_t)problem % 2 && s > 9) continue; /* half of the large */
        const letters_scores scores = scores_of(k);
        const int64_t n = sizes[s][0], m = sizes[s][1];
        int64_t c_n = 0;
        uint8_t *a = random_letters(n, scores.alphabet), *b = random_letters(m, scores.alphabet);
        uint8_t *c = mutate(a, n, scores.alphabet, 12, &c_n);
        test_pair(cpu, (dp_problem)problem, &scores, a, n, b, m);
        test_pair(cpu, (dp_problem)problem, &scores, a, n, c, c_n);
        tsl_free(a);
        tsl_free(b);
        tsl_free(c);
      }
}

/** Long similar sequences: values far beyond 16 bits, computed with 16 bits nevertheless. */
static void test_long(const dp_cpu *cpu) {
  const letters_scores scores = simple_scores(4, 20, -21, 60, 9);
  int64_t m = 0;
  uint8_t *a = random_letters(4001, 4), *b = mutate(a, 4001, 4, 40, &m);
  test_pair(cpu, DP_LOCAL, &scores, a, 4001, b, m);
  test_pair(cpu, DP_GLOBAL, &scores, a, 4001, b, m);
  tsl_free(a);
  tsl_free(b);
}

/** Runs of equal letters: H rises and falls as fast as scores allow, which 8 bits must bear. */
static uint8_t *random_runs(int64_t n) {
  uint8_t *letters = alloc(n, 1);
  for (int64_t i = 0, end = 0; i < n; end = 0) {
    const uint8_t letter = (uint8_t)random_below(3);
    for (end = i + 1 + random_below(90); i < n && i < end;) letters[i++] = letter;
  }
  return letters;
}

static void test_runs(const dp_cpu *cpu) {
  for (int k = 0; k < 16; k++) {
    const letters_scores scores =
        simple_scores(3, 1 + (int32_t)random_below(k % 3 == 0 ? 15 : 5),
                      -(int32_t)random_below(k % 4 == 0 ? 90 : 9),
                      (int32_t)random_below(k % 5 == 0 ? 30 : 9), (int32_t)random_below(4));
    const int64_t n = 100 + random_below(200), m = 100 + random_below(700);
    uint8_t *a = random_runs(n), *b = random_runs(m);
    test_pair(cpu, DP_LOCAL, &scores, a, n, b, m);
    test_pair(cpu, DP_GLOBAL, &scores, a, n, b, m);
    tsl_free(a);
    tsl_free(b);
  }
}

/** Bands with cells left out, `cut` columns and the others, in tiles; the best cell of both.
 *  @param[in] known  a score that the table has, or 0 */
static dp_best pruned_best(const dp_cpu *cpu, const letters_scores *scores, const uint8_t *a,
                           int64_t n, const uint8_t *b, int64_t m, int64_t cut, int64_t known,
                           int64_t *cells) {
  const int64_t from[3] = {0, cut, m};
  int32_t *edges[3] = {NULL, alloc(2 * (n + 1), sizeof *edges[0]), NULL};
  dp_cpu_align *bands[2] = {NULL, NULL};
  dp_best best = {0};
  *cells = 0;
  for (int k = 0; k < 2; k++) {
    must(dp_cpu_align_open(cpu, DP_LOCAL, scores, a, n, b + from[k], from[k + 1] - from[k], m,
                           from[k], &bands[k]));
    dp_cpu_align_prune(bands[k], n, m - from[k], known);
  }
  for (int64_t lo = 0, hi; lo < n; lo = hi) {
    hi = lo + n / 5 + 1 < n ? lo + n / 5 + 1 : n;
    for (int k = 0; k < 2; k++)
      must(dp_cpu_align_tile(bands[k], lo, hi, edges[k], edges[k + 1], false));
  }
  for (int k = 0; k < 2; k++) {
    dp_best found = dp_cpu_align_best(bands[k]);
    found.column += from[k];
    if (found.score > best.score || (found.score == best.score && found.row < best.row))
      best = found;
    *cells += dp_cpu_align_pruned(bands[k]);
    dp_cpu_align_close(&bands[k]);
  }
  tsl_free(edges[1]);
  return best;
}

/** The best cell is that of a band without cells left out; of sequences that are alike some are. */
static void test_pruned(const dp_cpu *cpu) {
  for (int k = 0; k < 24; k++) {
    const letters_scores scores =
        k % 4 == 3 ? simple_scores(4, 300, -400, 900, 70) : scores_of(k % 4);
    const int64_t n = k < 8 ? 6000 : 300 + random_below(3000);
    const bool alike = k < 8 || k % 2 == 0;
    int64_t m = n, cells = 0;
    uint8_t *a = random_letters(n, 4), *b = NULL;
    b = alike ? mutate(a, n, 4, k < 8 ? 200 : 20, &m) : random_letters(m, 4);
    dp_cpu_align *whole = NULL;
    must(dp_cpu_align_open(cpu, DP_LOCAL, &scores, a, n, b, m, m, 0, &whole));
    must(dp_cpu_align_tile(whole, 0, n, NULL, NULL, false));
    const dp_best want = dp_cpu_align_best(whole);
    for (int known = 0; known < 2; known++) {
      const dp_best got = pruned_best(cpu, &scores, a, n, b, m, m / 3, known * want.score, &cells);
      CHECK(got.score == want.score && got.row == want.row && got.column == want.column,
            "case %d: best (%lld, %lld, %lld) with cells left out, (%lld, %lld, %lld) without", k,
            (long long)got.score, (long long)got.row, (long long)got.column, (long long)want.score,
            (long long)want.row, (long long)want.column);
      CHECK(dp_cpu_align_pruned(whole) == 0 && (k >= 8 || cells > n * m / (known ? 2 : 50)),
            "case %d: %lld cells left out", k, (long long)cells);
    }
    dp_cpu_align_close(&whole);
    tsl_free(a);
    tsl_free(b);
  }
}

static void test_errors(const dp_cpu *cpu) {
  const uint8_t letters[3] = {0, 1, 7};
  letters_scores s = simple_scores(4, 1, -1, 1, 1);
  dp_cpu_align *band = NULL;
  CHECK(dp_cpu_align_open(cpu, DP_LOCAL, &s, letters, 3, letters, 2, 2, 0, &band) == TSL_ERR_INPUT,
        "a letter outside the alphabet is taken");
  s = simple_scores(4, 1 << 28, -1, 1, 1);
  CHECK(dp_cpu_align_open(cpu, DP_GLOBAL, &s, letters, 2, letters, 2, 1000, 0, &band) ==
            TSL_ERR_INPUT,
        "scores of 31 bits are taken");
  s.open = -1;
  CHECK(dp_cpu_align_open(cpu, DP_GLOBAL, &s, letters, 2, letters, 2, 2, 0, &band) == TSL_ERR_INPUT,
        "a negative gap cost is taken");
  CHECK(band == NULL, "a band in spite of an error");
}

/* ------------------------------------------------------------------ parasail */

typedef struct peer {
  void *handle;
  void *(*matrix)(const char *, int, int);
  void *(*align)(const char *, int, const char *, int, int, int, const void *);
  void *(*align_global)(const char *, int, const char *, int, int, int, const void *);
  int (*score)(const void *);
  void (*result_free)(void *), (*matrix_free)(void *);
} peer;

static void *symbol(const peer *p, const char *name) {
  void *found = dlsym(p->handle, name);
  if (found == NULL) fprintf(stderr, "libparasail.so.8 has no %s\n", name);
  CHECK(found != NULL, "parasail: %s", name);
  return found;
}

/** Scores of parasail on pairs with planted similarity. */
static void test_parasail(const dp_cpu *cpu) {
  peer p = {.handle = dlopen("libparasail.so.8", RTLD_NOW)};
  if (p.handle == NULL) {
    if (level_now == tsl_cpu_level() && threads_now == 1)
      printf("parasail is not installed: not compared\n");
    return;
  }
  *(void **)&p.matrix = symbol(&p, "parasail_matrix_create");
  *(void **)&p.align = symbol(&p, "parasail_sw");
  *(void **)&p.align_global = symbol(&p, "parasail_nw");
  *(void **)&p.score = symbol(&p, "parasail_result_get_score");
  *(void **)&p.result_free = symbol(&p, "parasail_result_free");
  *(void **)&p.matrix_free = symbol(&p, "parasail_matrix_free");
  void *matrix = p.matrix("ACGT", 2, -3);
  const letters_scores scores = simple_scores(4, 2, -3, 4, 2);
  for (int k = 0; k < 6; k++) {
    const int64_t n = 300 + random_below(1500);
    int64_t m = 0;
    uint8_t *a = random_letters(n, 4), *b = mutate(a, n, 4, 3 + 5 * k, &m);
    char *ta = alloc(n + 1, 1), *tb = alloc(m + 1, 1);
    for (int64_t i = 0; i < n; i++) ta[i] = "ACGT"[a[i]];
    for (int64_t j = 0; j < m; j++) tb[j] = "ACGT"[b[j]];
    for (int problem = DP_GLOBAL; problem <= DP_LOCAL; problem++) {
      dp_cpu_align *band = NULL;
      /* its open is the cost of the first letter of a gap */
      void *result = (problem == DP_LOCAL ? p.align : p.align_global)(
          ta, (int)n, tb, (int)m, scores.open + scores.extend, scores.extend, matrix);
      must(dp_cpu_align_open(cpu, (dp_problem)problem, &scores, a, n, b, m, m, 0, &band));
      must(dp_cpu_align_tile(band, 0, n, NULL, NULL, false));
      CHECK(dp_cpu_align_best(band).score == p.score(result), "parasail: %d, here %lld",
            p.score(result), (long long)dp_cpu_align_best(band).score);
      p.result_free(result);
      dp_cpu_align_close(&band);
    }
    tsl_free(a);
    tsl_free(b);
    tsl_free(ta);
    tsl_free(tb);
  }
  p.matrix_free(matrix);
  (void)dlclose(p.handle);
}

static void test(const dp_cpu *cpu) {
  test_sizes(cpu);
  test_long(cpu);
  test_runs(cpu);
  test_pruned(cpu);
  test_errors(cpu);
  test_parasail(cpu);
}

int main(void) {
  return run_levels("cpu.dp.align", test);
}
