/* Bands of diagonals: their strips, and the best score of paths that leave them. */
#include "dp_diagonals.h"

#include "dp_anchors.h"
#include "dp_family.h"
#include "integers.h"

#include <math.h>
#include <stdio.h>

enum {
  QUANTUM = 64, /* strips begin at multiples of this many rows */
  COLUMNS = 512 /* about those of a strip, where nobody knows the threads */
};

bool dp_diagonals_apply(const dp_params *p) {
  const bool able = p->problem == DP_LCS || p->problem == DP_EDIT || p->problem == DP_GLOBAL;
  if (p->free_ends != 0) return false; /* the bound is of paths from corner to corner */
  return able && p->band && p->mode != DP_TABLE && p->n > 0 && p->m > 0;
}

/* ---- scores of steps */

int64_t dp_pair_score(const dp_params *p, int x, int y) {
  if (dp_ready_of(p)->affine) return p->scores.s[x][y];
  if (p->problem == DP_LCS) return x == y;
  return x == y ? 0 : -p->replace;
}

/** Of each letter of a gap. */
static int64_t gap_extend(const dp_params *p, bool of_a) {
  if (dp_ready_of(p)->affine) return p->scores.extend;
  return p->problem == DP_LCS ? 0 : of_a ? p->remove : p->insert;
}

static int64_t gap_open(const dp_params *p) {
  return dp_ready_of(p)->affine ? p->scores.open : 0;
}

int64_t dp_gap_score(const dp_params *p, int64_t letters, bool of_a) {
  return letters == 0 ? 0 : -(gap_open(p) + letters * gap_extend(p, of_a));
}

/* ---- bounds */

static void count_letters(const uint8_t *letters, int64_t n, int64_t count[256]) {
  for (int x = 0; x < 256; x++) count[x] = 0;
  for (int64_t i = 0; i < n; i++) count[letters[i]]++;
}

/** Add a value, in order. */
static void insert(dp_counted *list, int64_t value, int64_t count) {
  int k = list->n++;
  for (; k > 0 && list->value[k - 1] < value; k--)
    list->value[k] = list->value[k - 1], list->count[k] = list->count[k - 1];
  list->value[k] = value, list->count[k] = count;
}

/** For each letter of one sequence the best score with one of the other. */
static void best_pairs(const dp_params *p, const int64_t mine[256], const int64_t others[256],
                       bool rows, dp_counted *list) {
  list->n = 0;
  for (int x = 0; x < 256; x++) {
    int64_t best = INT64_MIN;
    for (int y = 0; y < 256 && mine[x] > 0; y++) {
      if (others[y] == 0) continue;
      best = tsl_max(best, rows ? dp_pair_score(p, x, y) : dp_pair_score(p, y, x));
    }
    if (mine[x] > 0) insert(list, best, mine[x]);
  }
}

void dp_outside_set(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_outside *out) {
  const int64_t gap[2] = {gap_extend(p, true), gap_extend(p, false)};
  int64_t of_a[256], of_b[256];
  count_letters(a, p->n, of_a);
  count_letters(b, p->m, of_b);
  *out = (dp_outside){.n = p->n, .m = p->m, .open = gap_open(p)};
  out->extend = gap[0] + gap[1];
  out->alone = p->m > p->n ? gap[1] * (p->m - p->n) : gap[0] * (p->n - p->m);
  best_pairs(p, of_a, of_b, true, &out->a);
  best_pairs(p, of_b, of_a, false, &out->b);
}

/** Sum of the largest n > 0 numbers; *least: the least of them. */
static int64_t sum_largest(const dp_counted *list, int64_t n, int64_t *least) {
  int64_t sum = 0;
  for (int k = 0; k < list->n && n > 0; k++) {
    const int64_t count = tsl_min(n, list->count[k]);
    sum += count * list->value[k];
    *least = list->value[k];
    n -= count;
  }
  return sum;
}

int64_t dp_outside_score(const dp_outside *o, int64_t k) {
  const int64_t x = k + 1, pairs = tsl_min(o->n, o->m) - x;
  const int64_t gaps = 2 * o->open + x * o->extend + o->alone;
  int64_t score = INT64_MAX, least = 0;
  if (pairs < 0) return INT64_MIN;
  if (pairs == 0) return -gaps;
  const int64_t of_a = sum_largest(&o->a, pairs, &least);
  if (least + o->extend >= 0) score = of_a - gaps;
  const int64_t of_b = sum_largest(&o->b, pairs, &least);
  if (least + o->extend >= 0) score = tsl_min(score, of_b - gaps);
  return score;
}

int64_t dp_outside_width(const dp_outside *o, int64_t score) {
  int64_t low = 0, high = tsl_min(o->n, o->m); /* the last one is certain for any score */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (dp_outside_score(o, middle) < score)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* ---- strips */

static int64_t within(int64_t x, int64_t most) {
  return x < 0 ? 0 : tsl_min(x, most);
}

dp_strip dp_strip_of(const dp_params *p, int64_t k, int64_t width, int64_t s) {
  const int64_t d = p->m - p->n, low = tsl_min(d, 0) - k, high = tsl_max(d, 0) + k;
  const int64_t begin = s * width, end = tsl_min(begin + width, p->m);
  const int64_t top = begin - tsl_divide_up(high, QUANTUM) * QUANTUM;
  return (dp_strip){{begin, end}, {within(top, p->n), within(end - low, p->n)}};
}

int64_t dp_strips_number(const dp_params *p, int64_t width) {
  return tsl_divide_up(p->m, width);
}

double dp_strips_cells(const dp_params *p, int64_t k, int64_t width) {
  double cells = 0;
  for (int64_t s = 0; s < dp_strips_number(p, width); s++) {
    const dp_strip t = dp_strip_of(p, k, width, s);
    cells += (double)(t.columns[1] - t.columns[0]) * (double)(t.rows[1] - t.rows[0]);
  }
  return cells;
}

/* ---- what a run says of it */

dp_attempts *dp_attempts_of(const tsl_problem *problem) {
  return &dp_own_of(problem)->attempts;
}

/** Part of the table that a band takes, about. */
static double part_of(const dp_params *p, int64_t k) {
  return fmin(dp_strips_cells(p, k, COLUMNS) / (double)p->n / (double)p->m, 1);
}

tsl_err dp_attempts_look(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const uint8_t *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  dp_attempts *t = dp_attempts_of(problem);
  dp_chain chain = {0};
  TSL_TRY(dp_chain_find(p, a, b, &chain));
  dp_outside_set(p, a, b, &t->outside);
  t->path = chain.score, t->hope = chain.hope, t->looked = true;
done:
  dp_chain_clear(&chain);
  return err;
}

static int tell_path(const tsl_problem *problem, char *text, size_t size) {
  const dp_params *p = dp_params_of(problem);
  const dp_attempts *t = dp_attempts_of(problem);
  const double part = part_of(p, dp_outside_width(&t->outside, t->path));
  char band[32];
  (void)snprintf(band, sizeof band, part < 1 ? "a band of about %.2g %%" : "no band", 100 * part);
  return snprintf(text, size,
                  "anchors: a path has the %s %lld: %s of the table's %.4g cells is certain; at "
                  "least %.2g %% are needed\n",
                  dp_ready_of(p)->goal, (long long)dp_goal_score(p, t->path), band,
                  (double)p->n * (double)p->m, 100 * part_of(p, 0));
}

void dp_attempts_tell(const tsl_problem *problem, char *text, size_t size) {
  const dp_params *p = dp_params_of(problem);
  const dp_attempts *t = dp_attempts_of(problem);
  text[0] = '\0';
  if (!t->looked) return;
  const int used = tell_path(problem, text, size);
  if (t->runs > 0 && used > 0 && (size_t)used < size)
    (void)snprintf(text + used, size - (size_t)used,
                   "%.4g of the table's %.4g cells in %lld band%s of diagonals, %.3g s; %s\n",
                   t->cells, (double)p->n * (double)p->m, (long long)t->runs,
                   t->runs == 1 ? "" : "s", t->seconds,
                   t->certain ? "no path outside is as good" : "not certain, so the whole table");
}
