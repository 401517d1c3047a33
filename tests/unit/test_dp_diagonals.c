/* unit.dp.diagonals: no path that leaves a band of diagonals scores more than its bound, found by
 * trying all of them in a table; the strips of a band hold its cells. */
#include "dp_diagonals.h"

#include "dp_problem_fixture.h"
#include "integers.h"
#include "random.h"

enum { MOST = 14, LETTERS = 3, NONE = INT32_MIN / 2 };

/** A small problem. */
typedef struct small {
  dp_params p;
  uint8_t a[MOST], b[MOST];
} small;

static int64_t between(uint64_t *seed, int64_t lo, int64_t hi) {
  return lo + (int64_t)(random_bits(seed) % (uint64_t)(hi - lo + 1));
}

static void make_small(uint64_t *seed, small *s) {
  static const int32_t problems[] = {DP_LCS, DP_EDIT, DP_GLOBAL};
  s->p = (dp_params){.problem = problems[between(seed, 0, 2)], .band = true};
  s->p.n = between(seed, 1, MOST), s->p.m = between(seed, 1, MOST);
  s->p.insert = between(seed, 0, 4), s->p.remove = between(seed, 0, 4);
  s->p.replace = between(seed, 0, 6);
  s->p.scores.open = (int32_t)between(seed, 0, 5),
  s->p.scores.extend = (int32_t)between(seed, 0, 3);
  s->p.scores.alphabet = LETTERS;
  for (int x = 0; x < LETTERS; x++)
    for (int y = 0; y < LETTERS; y++)
      s->p.scores.s[x][y] = (int32_t)between(seed, x == y ? 0 : -5, x == y ? 6 : 1);
  for (int i = 0; i < MOST; i++) s->a[i] = (uint8_t)between(seed, 0, LETTERS - 1);
  for (int i = 0; i < MOST; i++)
    s->b[i] = between(seed, 0, 3) > 0 ? s->a[i] : (uint8_t)between(seed, 0, LETTERS - 1);
}

static int64_t larger(int64_t x, int64_t y) {
  return x > y ? x : y;
}

static int64_t score(const dp_params *p, int x, int y) {
  if (p->problem == DP_LCS) return x == y;
  if (p->problem == DP_EDIT) return x == y ? 0 : -p->replace;
  return p->scores.s[x][y];
}

/** Best of the three kinds of ends of [i][j], of paths that have left band k or not. */
static int64_t best[2][3][MOST + 1][MOST + 1];

static int64_t any(int left, int64_t i, int64_t j) {
  return larger(best[left][0][i][j], larger(best[left][1][i][j], best[left][2][i][j]));
}

static void cell(const small *s, int64_t k, int64_t i, int64_t j) {
  const dp_params *p = &s->p;
  const int64_t d = p->m - p->n, edit = p->problem == DP_EDIT, global = p->problem == DP_GLOBAL;
  const int64_t open = global ? p->scores.open : 0;
  const int64_t gap[2] = {edit     ? p->insert
                          : global ? p->scores.extend
                                   : 0,
                          edit     ? p->remove
                          : global ? p->scores.extend
                                   : 0};
  const bool out = j - i < (d < 0 ? d : 0) - k || j - i > (d > 0 ? d : 0) + k;
  int64_t from[2][3] = {{NONE, NONE, NONE}, {NONE, NONE, NONE}};
  for (int left = 0; left < 2; left++) {
    if (i > 0 && j > 0)
      from[left][0] = any(left, i - 1, j - 1) + score(p, s->a[i - 1], s->b[j - 1]);
    if (j > 0) from[left][1] = larger(any(left, i, j - 1) - open, best[left][1][i][j - 1]) - gap[0];
    if (i > 0) from[left][2] = larger(any(left, i - 1, j) - open, best[left][2][i - 1][j]) - gap[1];
  }
  if (i == 0 && j == 0) from[0][0] = 0;
  for (int e = 0; e < 3; e++) {
    best[1][e][i][j] = out ? larger(from[0][e], from[1][e]) : from[1][e];
    best[0][e][i][j] = out ? NONE : from[0][e];
  }
}

static void bounds(void **state) {
  uint64_t seed = 3;
  int finite = 0;
  (void)state;
  for (int round = 0; round < 3000; round++) {
    small s;
    dp_outside outside;
    int64_t before = INT64_MAX;
    make_small(&seed, &s);
    dp_outside_set(&s.p, s.a, s.b, &outside);
    for (int64_t k = 0; k <= MOST + 1; k++) {
      const int64_t bound = dp_outside_score(&outside, k);
      for (int64_t i = 0; i <= s.p.n; i++)
        for (int64_t j = 0; j <= s.p.m; j++) cell(&s, k, i, j);
      const int64_t leaving = any(1, s.p.n, s.p.m);
      assert_true(leaving <= bound || leaving < NONE / 2);
      if (bound == INT64_MIN) assert_true(leaving < NONE / 2);
      assert_true(bound <= before);
      finite += bound != INT64_MIN && bound != INT64_MAX && leaving == bound;
      before = bound;
      const int64_t all = larger(any(0, s.p.n, s.p.m), leaving);
      const int64_t least = dp_outside_width(&outside, all);
      assert_true(dp_outside_score(&outside, least) < all);
      assert_true(least == 0 || dp_outside_score(&outside, least - 1) >= all);
    }
  }
  assert_true(finite > 1000); /* bounds are attained */
}

/* ------------------------------------------------------------------ strips */

static void holds(const dp_params *p, int64_t k, int64_t width) {
  const int64_t d = p->m - p->n, n = dp_strips_number(p, width);
  double cells = 0;
  dp_strip before = {{0, 0}, {0, 0}};
  for (int64_t s = 0; s < n; s++) {
    const dp_strip t = dp_strip_of(p, k, width, s);
    assert_true(t.columns[0] == before.columns[1] && t.columns[1] > t.columns[0]);
    assert_true(t.rows[0] % 64 == 0 && t.rows[0] < t.rows[1] && t.rows[1] <= p->n);
    assert_true(t.rows[0] >= before.rows[0] && t.rows[1] >= before.rows[1]);
    assert_true(s == 0 || t.rows[0] <= before.rows[1]);
    for (int64_t j = t.columns[0] + 1; j <= t.columns[1]; j++) {
      const int64_t low = j - (d > 0 ? d : 0) - k, high = j - (d < 0 ? d : 0) + k;
      assert_true(t.rows[0] < (low > 1 ? low : 1) && t.rows[1] >= (high < p->n ? high : p->n));
    }
    cells += (double)(t.columns[1] - t.columns[0]) * (double)(t.rows[1] - t.rows[0]);
    before = t;
  }
  assert_true(before.columns[1] == p->m && before.rows[1] == p->n);
  assert_true(cells == dp_strips_cells(p, k, width));
}

static void strips(void **state) {
  static const int64_t sizes[] = {1, 2, 63, 64, 65, 500, 1999};
  (void)state;
  for (int a = 0; a < 7; a++)
    for (int b = 0; b < 7; b++)
      for (int64_t k = 0; k < 3000; k = 2 * k + 1)
        for (int64_t width = 64; width <= 512; width *= 2) {
          const dp_params p = {.problem = DP_EDIT, .n = sizes[a], .m = sizes[b]};
          holds(&p, k, width);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounds), cmocka_unit_test(strips)};
  return cmocka_run_group_tests_name("unit.dp.diagonals", tests, NULL, NULL);
}
