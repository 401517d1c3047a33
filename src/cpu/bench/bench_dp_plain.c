/** @file bench_dp_plain.c  The problems of `tesela bench dp-paper`: decks, and plain programs that
 * fill a whole table with nested loops on one thread and walk back through it. */
#include "bench_cases.h"
#include "clock.h"
#include "dp.h"

#include <stdio.h>

/* ------------------------------------------------------------------ decks */

/** The beginning of a deck; a solution by an equation needs its whole table. */
static int deck_begin(const char *problem, bool equation, tsl_paper_mode mode, char *text,
                      size_t size) {
  return snprintf(text, size, "family: dp\ndp:\n  problem: %s\n  mode: %s\n%s%s",
                  equation ? "recurrence" : problem, mode == TSL_PAPER_VALUE ? "value" : "recover",
                  mode == TSL_PAPER_VALUE ? "" : "  memory: 8 GiB\n",
                  mode == TSL_PAPER_HOST && !equation ? "  recover: host\n" : "");
}

static void deck_binomial(bool equation, int64_t n, tsl_paper_mode mode, char *text, size_t size) {
  const long long rows = (long long)n, columns = (long long)n / 2;
  const int used = deck_begin("binomial", equation, mode, text, size);
  text += used, size -= (size_t)used;
  if (!equation) {
    (void)snprintf(text, size, "  n: %lld\n  k: %lld\n  modulus: 1000000007\n", rows, columns);
    return;
  }
  (void)snprintf(text, size,
                 "  table: {type: i64, rows: %lld, cols: %lld}\n"
                 "  boundary:\n"
                 "    - {where: j == 0 || j == i, value: 1}\n"
                 "    - {where: j > i, value: 0}\n"
                 "  cell: (M[i-1][j-1] + M[i-1][j]) %% 1000000007\n"
                 "  goal: M[%lld][%lld]\n",
                 rows + 1, columns + 1, rows, columns);
}

static void deck_knapsack(bool equation, int64_t n, tsl_paper_mode mode, char *text, size_t size) {
  char weights[96], values[96];
  const int used = deck_begin("knapsack", equation, mode, text, size);
  text += used, size -= (size_t)used;
  (void)snprintf(weights, sizeof weights, "random: %lld, seed: 1, lo: 1, hi: %lld", (long long)n,
                 (long long)n / 8 + 1);
  (void)snprintf(values, sizeof values, "random: %lld, seed: 2, lo: 1, hi: 1000", (long long)n);
  if (!equation) {
    (void)snprintf(text, size, "  capacity: %lld\n  weights: {%s}\n  values: {%s}\n", (long long)n,
                   weights, values);
    return;
  }
  (void)snprintf(text, size,
                 "  table: {type: i64, rows: len(w) + 1, cols: %lld}\n"
                 "  data:\n    - {name: w, %s}\n    - {name: v, %s}\n"
                 "  boundary: [{where: i == 0, value: 0}]\n"
                 "  cell: \"j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + v[i-1])\"\n"
                 "  goal: M[len(w)][%lld]\n",
                 (long long)n + 1, weights, values, (long long)n);
}

static void deck_lcs(bool equation, int64_t n, tsl_paper_mode mode, char *text, size_t size) {
  const int used = deck_begin("lcs", equation, mode, text, size);
  text += used, size -= (size_t)used;
  if (!equation) {
    (void)snprintf(text, size,
                   "  band: off\n  a: {random: %lld, seed: 1}\n  b: {random: %lld, seed: 2}\n",
                   (long long)n, (long long)n);
    return;
  }
  (void)snprintf(text, size,
                 "  table: {type: i32, rows: len(a) + 1, cols: len(b) + 1}\n"
                 "  data:\n"
                 "    - {name: a, type: letters, random: %lld, seed: 1}\n"
                 "    - {name: b, type: letters, random: %lld, seed: 2}\n"
                 "  boundary: [{where: i == 0 || j == 0, value: 0}]\n"
                 "  cell: \"a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])\"\n"
                 "  goal: M[len(a)][len(b)]\n",
                 (long long)n, (long long)n);
}

static void deck_chain(bool equation, int64_t n, tsl_paper_mode mode, char *text, size_t size) {
  char sizes[96];
  const int used = deck_begin("matrix_chain", equation, mode, text, size);
  text += used, size -= (size_t)used;
  (void)snprintf(sizes, sizeof sizes, "random: %lld, seed: 1, lo: 1, hi: 1000", (long long)n + 1);
  if (!equation) {
    (void)snprintf(text, size, "  dimensions: {%s}\n", sizes);
    return;
  }
  (void)snprintf(text, size,
                 "  table: {type: i64, rows: len(p) - 1, cols: len(p) - 1, cells: upper}\n"
                 "  data: [{name: p, %s}]\n"
                 "  boundary: [{where: i == j, value: 0}]\n"
                 "  cell: \"min(k = i .. j-1 : M[i][k] + M[k+1][j] + p[i] * p[k+1] * p[j+1])\"\n"
                 "  goal: M[0][len(p)-2]\n",
                 sizes);
}

/* ------------------------------------------------------------------ programs */

static tsl_err plain_binomial(const tsl_problem *problem, bool recover, tsl_plain_answer *out) {
  tsl_err err = TSL_OK;
  const dp_params *p = problem->params;
  const int64_t n = p->n, k = p->m, w = k + 1, modulus = p->modulus;
  int64_t *m = NULL;
  (void)recover; /* it has no solution but its value */
  TSL_TRY(tsl_alloc((n + 1) * w, sizeof *m, "table", (void **)&m));
  const double start = tsl_now();
  for (int64_t i = 0; i <= n; i++)
    for (int64_t j = 0; j <= k && j <= i; j++)
      m[i * w + j] = j == 0 || j == i ? 1 : (m[(i - 1) * w + j - 1] + m[(i - 1) * w + j]) % modulus;
  *out = (tsl_plain_answer){tsl_now() - start, m[n * w + k], 0};
done:
  tsl_free(m);
  return err;
}

static tsl_err plain_knapsack(const tsl_problem *problem, bool recover, tsl_plain_answer *out) {
  tsl_err err = TSL_OK;
  const dp_params *p = problem->params;
  const int64_t n = p->n, capacity = p->m, w = capacity + 1;
  const int64_t *weight = problem->fields[DP_A].data, *value = problem->fields[DP_B].data;
  int64_t *m = NULL, worth = 0;
  TSL_TRY(tsl_alloc((n + 1) * w, sizeof *m, "table", (void **)&m));
  const double start = tsl_now();
  for (int64_t j = 0; j <= capacity; j++) m[j] = 0;
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 0; j <= capacity; j++) {
      const int64_t without = m[(i - 1) * w + j];
      int64_t with = -1;
      if (j >= weight[i - 1]) with = m[(i - 1) * w + j - weight[i - 1]] + value[i - 1];
      m[i * w + j] = with > without ? with : without;
    }
  for (int64_t i = n, j = capacity; recover && i > 0; i--)
    if (m[i * w + j] != m[(i - 1) * w + j]) worth += value[i - 1], j -= weight[i - 1];
  *out = (tsl_plain_answer){tsl_now() - start, m[n * w + capacity], worth};
done:
  tsl_free(m);
  return err;
}

static tsl_err plain_lcs(const tsl_problem *problem, bool recover, tsl_plain_answer *out) {
  tsl_err err = TSL_OK;
  const dp_params *p = problem->params;
  const int64_t n = p->n, w = p->m + 1;
  const uint8_t *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  int32_t *m = NULL;
  int64_t length = 0;
  TSL_TRY(tsl_alloc((n + 1) * w, sizeof *m, "table", (void **)&m));
  const double start = tsl_now();
  for (int64_t j = 0; j < w; j++) m[j] = 0;
  for (int64_t i = 1; i <= n; i++) {
    m[i * w] = 0;
    for (int64_t j = 1; j < w; j++) {
      const int32_t up = m[(i - 1) * w + j], left = m[i * w + j - 1];
      m[i * w + j] = a[i - 1] == b[j - 1] ? m[(i - 1) * w + j - 1] + 1 : up > left ? up : left;
    }
  }
  for (int64_t i = n, j = w - 1; recover && i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1])
      length++, i--, j--;
    else if (m[(i - 1) * w + j] >= m[i * w + j - 1])
      i--;
    else
      j--;
  }
  *out = (tsl_plain_answer){tsl_now() - start, m[n * w + w - 1], length};
done:
  tsl_free(m);
  return err;
}

/** Multiplications of the order that the splits tell; pairs are first and last matrix. */
static int64_t chain_worth(const int64_t *split, const int64_t *d, int64_t n, int64_t (*pairs)[2]) {
  int64_t worth = 0, left = 1;
  pairs[0][0] = 0, pairs[0][1] = n - 1;
  while (left > 0) {
    const int64_t i = pairs[left - 1][0], j = pairs[left - 1][1], k = split[i * n + j];
    left--;
    if (i == j) continue;
    worth += d[i] * d[k + 1] * d[j + 1];
    pairs[left][0] = i, pairs[left++][1] = k;
    pairs[left][0] = k + 1, pairs[left++][1] = j;
  }
  return worth;
}

static void chain_cell(int64_t *m, int64_t *split, const int64_t *d, int64_t n, int64_t i,
                       int64_t j) {
  m[i * n + j] = INT64_MAX;
  for (int64_t k = i; k < j; k++) {
    const int64_t cost = m[i * n + k] + m[(k + 1) * n + j] + d[i] * d[k + 1] * d[j + 1];
    if (cost < m[i * n + j]) m[i * n + j] = cost, split[i * n + j] = k;
  }
}

static tsl_err plain_chain(const tsl_problem *problem, bool recover, tsl_plain_answer *out) {
  tsl_err err = TSL_OK;
  const dp_params *p = problem->params;
  const int64_t n = p->n, *d = problem->fields[DP_A].data;
  int64_t *m = NULL, *split = NULL, (*pairs)[2] = NULL;
  TSL_TRY(tsl_alloc(n * n, sizeof *m, "table", (void **)&m));
  TSL_TRY(tsl_alloc(n * n, sizeof *split, "splits", (void **)&split));
  TSL_TRY(tsl_alloc(n + 1, sizeof *pairs, "products", (void **)&pairs));
  const double start = tsl_now();
  for (int64_t i = 0; i < n; i++) m[i * n + i] = 0;
  for (int64_t diagonal = 1; diagonal < n; diagonal++)
    for (int64_t i = 0; i + diagonal < n; i++) chain_cell(m, split, d, n, i, i + diagonal);
  const int64_t worth = recover ? chain_worth(split, d, n, pairs) : 0;
  *out = (tsl_plain_answer){tsl_now() - start, m[n - 1], worth};
done:
  TSL_FREE_ALL(m, split, pairs);
  return err;
}

const tsl_paper_case tsl_paper_cases[] = {
    {"binomial", false, {512, 1024, 2048, 4096}, deck_binomial, plain_binomial},
    {"knapsack", true, {512, 1024, 2048, 4096}, deck_knapsack, plain_knapsack},
    {"lcs", true, {512, 1024, 2048, 4096}, deck_lcs, plain_lcs},
    {"matrix_chain", true, {128, 256, 512, 1024}, deck_chain, plain_chain},
    {NULL, false, {0}, NULL, NULL},
};
