/* unit.dp.anchors: what anchors say of local alignments and of paths from corner to corner, beside
 * a plain table: a score that is not above the optimum, of sequences that are alike close below it,
 * and about the part of the table that such a score leaves to be computed. */
#include "../cpu/cases.h"
#include "dp_anchors.h"

#include "dp_diagonals.h"

#include "integers.h"
#include "must.h"
#include "random.h"

#include <math.h>

enum { MOST = 3000 };

/** Two sequences and their scores. */
typedef struct pair_case {
  dp_params p;
  uint8_t a[2 * MOST], b[2 * MOST];
} pair_case;

static void make_case(uint64_t *seed, double changed, pair_case *s) {
  s->p = (dp_params){.problem = DP_LOCAL, .letters = 4, .n = 1 + random_below(seed, MOST)};
  s->p.scores.open = random_below(seed, 8), s->p.scores.extend = 1 + random_below(seed, 3);
  s->p.scores.alphabet = 4;
  for (int x = 0; x < 4; x++)
    for (int y = 0; y < 4; y++)
      s->p.scores.s[x][y] = x == y ? 2 + random_below(seed, 4) : -2 - random_below(seed, 4);
  for (int64_t i = 0; i < s->p.n; i++) s->a[i] = (uint8_t)random_below(seed, 4);
  for (int64_t i = 0; i < s->p.n; i++) {
    const int kind = random_unit(seed) < changed ? random_below(seed, 3) : -1;
    if (kind == 0) continue;
    s->b[s->p.m++] = kind == 1 ? (uint8_t)random_below(seed, 4) : s->a[i];
    if (kind == 2) s->b[s->p.m++] = (uint8_t)random_below(seed, 4);
  }
}

/** H of the whole table [n + 1][m + 1], by the recurrences of Gotoh 1982; the optimum. */
static int32_t fill(const pair_case *s, int32_t *h) {
  const letters_scores *scores = &s->p.scores;
  const int32_t open = scores->open + scores->extend;
  const int64_t width = s->p.m + 1;
  static int32_t f[2 * MOST + 1];
  int32_t best = 0;
  memset(f, 0, sizeof f);
  memset(h, 0, (size_t)width * sizeof *h);
  for (int64_t i = 1; i <= s->p.n; i++) {
    int32_t e = 0, *row = h + i * width;
    row[0] = 0;
    for (int64_t j = 1; j <= s->p.m; j++) {
      e = (int32_t)tsl_max(e - scores->extend, row[j - 1] - open);
      f[j] = (int32_t)tsl_max(f[j] - scores->extend, row[j - width] - open);
      row[j] = row[j - width - 1] + scores->s[s->a[i - 1]][s->b[j - 1]];
      row[j] = (int32_t)tsl_max(tsl_max(row[j], 0), tsl_max(e, f[j]));
      best = (int32_t)tsl_max(best, row[j]);
    }
  }
  return best;
}

/** Part of the cells of a box from which the score can be attained. */
static double part_of(const pair_case *s, const int32_t *h, int64_t score, const int64_t lo[2],
                      const int64_t hi[2]) {
  int32_t most = 0;
  double cells = 0;
  for (int x = 0; x < 4; x++)
    for (int y = 0; y < 4; y++) most = (int32_t)tsl_max(most, s->p.scores.s[x][y]);
  for (int64_t i = lo[0]; i < hi[0]; i++)
    for (int64_t j = lo[1]; j < hi[1]; j++)
      cells += h[i * (s->p.m + 1) + j] + most * tsl_min(s->p.n - i, s->p.m - j) >= score;
  return cells / (double)((hi[0] - lo[0]) * (hi[1] - lo[1]));
}

static void check_part(const pair_case *s, const dp_chain *chain, const int32_t *h) {
  static dp_needed needed;
  const int64_t whole[2][2] = {{0, 0}, {s->p.n, s->p.m}};
  const int64_t box[2][2] = {{s->p.n / 3, s->p.m / 2}, {s->p.n / 3 * 2, s->p.m / 4 * 3}};
  dp_needed_set(&s->p, chain, &needed);
  const double want = part_of(s, h, chain->score, whole[0], whole[1]);
  const double got = dp_needed_part(&s->p, &needed, whole[0], whole[1]);
  if (!(fabs(got - want) < 0.06)) fail_msg("%.3f of the table, really %.3f", got, want);
  const double want_box = part_of(s, h, chain->score, box[0], box[1]);
  const double got_box = dp_needed_part(&s->p, &needed, box[0], box[1]);
  if (!(fabs(got_box - want_box) < 0.2)) fail_msg("%.3f of a box, really %.3f", got_box, want_box);
}

static void alike(void **state) {
  uint64_t seed = 5;
  int32_t *h = NULL;
  (void)state;
  MUST(tsl_alloc((int64_t)(MOST + 1) * (2 * MOST + 1), sizeof *h, "table", (void **)&h));
  for (int round = 0; round < 40; round++) {
    static pair_case s;
    dp_chain chain;
    const double changed = 0.02 * (round % 8);
    make_case(&seed, changed, &s);
    const int32_t best = fill(&s, h);
    MUST(dp_chain_find(&s.p, s.a, s.b, &chain));
    assert_true(chain.score <= best);
    for (int64_t k = 1; k < chain.n; k++)
      assert_true(chain.anchor[k].row > chain.anchor[k - 1].row &&
                  chain.anchor[k].column > chain.anchor[k - 1].column &&
                  chain.anchor[k].row <= s.p.n && chain.anchor[k].column <= s.p.m);
    if (s.p.n >= 1000 && changed < 0.13) {
      assert_true((double)chain.score > 0.9 * best);
      check_part(&s, &chain, h);
    }
    dp_chain_clear(&chain);
  }
  tsl_free(h);
}

/** Best score from corner to corner. */
static int64_t fill_whole(const pair_case *s) {
  static int64_t h[2 * MOST + 1], f[2 * MOST + 1];
  const dp_params *p = &s->p;
  const int64_t up = dp_gap_score(p, 2, true) - dp_gap_score(p, 1, true);
  const int64_t left = dp_gap_score(p, 2, false) - dp_gap_score(p, 1, false);
  for (int64_t j = 0; j <= p->m; j++) h[j] = dp_gap_score(p, j, false), f[j] = INT32_MIN;
  for (int64_t i = 1; i <= p->n; i++) {
    int64_t corner = h[0], e = INT32_MIN;
    h[0] = dp_gap_score(p, i, true);
    for (int64_t j = 1; j <= p->m; j++) {
      e = tsl_max(e + left, h[j - 1] + dp_gap_score(p, 1, false));
      f[j] = tsl_max(f[j] + up, h[j] + dp_gap_score(p, 1, true));
      const int64_t pair = corner + dp_pair_score(p, s->a[i - 1], s->b[j - 1]);
      corner = h[j];
      h[j] = tsl_max(pair, tsl_max(e, f[j]));
    }
  }
  return h[p->m];
}

/** Another problem of the same sequences, some far from one another. */
static void make_whole(uint64_t *seed, double changed, pair_case *s) {
  static const int32_t problems[] = {DP_LCS, DP_EDIT, DP_GLOBAL};
  make_case(seed, changed, s);
  s->p.problem = problems[random_below(seed, 3)];
  s->p.insert = random_below(seed, 4), s->p.remove = random_below(seed, 4);
  s->p.replace = random_below(seed, 6);
  const int kind = random_below(seed, 6);
  if (kind == 0) s->p.m = s->p.m / 2;
  if (kind == 1) memset(s->b, 2, (size_t)s->p.m);
  if (kind == 2) memmove(s->b, s->b + s->p.m / 3, (size_t)(s->p.m - s->p.m / 3));
}

static void corners(void **state) {
  uint64_t seed = 9;
  (void)state;
  for (int round = 0; round < 120; round++) {
    static pair_case s;
    dp_chain chain;
    const double changed = 0.02 * (round % 8);
    if (round % 2 == 0)
      make_whole(&seed, changed, &s);
    else
      make_case(&seed, changed, &s), s.p.problem = DP_GLOBAL;
    if (s.p.m == 0 || !case_is_mine(round)) continue;
    const int64_t best = fill_whole(&s);
    MUST(dp_chain_find(&s.p, s.a, s.b, &chain));
    assert_true(chain.score <= best && chain.hope >= chain.score);
    assert_true(chain.anchor[chain.n - 1].row == s.p.n && chain.anchor[0].column == 0);
    if (round % 2 == 1 && s.p.n >= 1000 && changed < 0.05)
      assert_true((double)chain.score > 0.95 * (double)best);
    dp_chain_clear(&chain);
  }
}

/** No anchors: empty, short, and sequences of one letter, whose words are all the same. */
static void none(void **state) {
  static pair_case s;
  dp_chain chain;
  (void)state;
  for (int k = 0; k < 4; k++) {
    s.p = (dp_params){.problem = DP_LOCAL, .letters = 4, .scores = {.open = 1, .alphabet = 4}};
    s.p.n = k == 0 ? 0 : k == 1 ? 1 : 500, s.p.m = k == 3 ? 0 : 500;
    memset(s.a, 1, sizeof s.a);
    memset(s.b, k == 2 ? 1 : 2, sizeof s.b);
    MUST(dp_chain_find(&s.p, s.a, s.b, &chain));
    assert_true(chain.n == 0 && chain.score == 0);
    dp_chain_clear(&chain);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alike), cmocka_unit_test(corners),
                                     cmocka_unit_test(none)};
  return cmocka_run_group_tests_name("unit.dp.anchors", tests, NULL, NULL);
}
