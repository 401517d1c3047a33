/** @file dp_steps.c  Steps of a traceback from what engines find: directions, pairs. */
#include "dp_steps.h"

#include <stdlib.h>

tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second) {
  tsl_err err = TSL_OK;
  if (steps->n == steps->room) {
    const int64_t room = steps->room > 0 ? 2 * steps->room : 1024;
    void *more = realloc(steps->at, (size_t)room * sizeof *steps->at);
    if (more == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for %lld steps", (long long)room);
    steps->at = more, steps->room = room;
  }
  steps->at[steps->n][0] = first;
  steps->at[steps->n++][1] = second;
done:
  return err;
}

tsl_err dp_steps_run(dp_steps *steps, int64_t op, int64_t length) {
  if (steps->n == 0 || steps->at[steps->n - 1][0] != op) return dp_steps_add(steps, op, length);
  steps->at[steps->n - 1][1] += length;
  return TSL_OK;
}

tsl_err dp_steps_alignment(const dp_context *c, const uint8_t *directions, int64_t n, int64_t i,
                           int64_t j, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const uint8_t *a = dp_input(c, DP_A), *b = dp_input(c, DP_B);
  for (int64_t k = 0; k < n; k++) {
    const bool pair = directions[k] == DP_STEP_PAIR;
    const int op = pair                            ? (a[i - 1] == b[j - 1] ? DP_MATCH : DP_MISMATCH)
                   : directions[k] == DP_STEP_LEFT ? DP_INSERT
                                                   : DP_DELETE;
    TSL_TRY(dp_steps_run(steps, op, 1));
    i -= directions[k] != DP_STEP_LEFT;
    j -= directions[k] != DP_STEP_UP;
  }
done:
  return err;
}

int64_t dp_steps_score(const dp_context *c, const uint8_t *directions, int64_t n, int64_t i,
                       int64_t j, int32_t state) {
  const uint8_t *a = dp_input(c, DP_A), *b = dp_input(c, DP_B);
  const letters_scores *scores = &c->p->scores;
  int64_t sum = 0;
  for (int64_t k = 0; k < n; k++) {
    const int32_t now = directions[k], next = k + 1 < n ? directions[k + 1] : state;
    if (now == DP_STEP_PAIR)
      sum += scores->s[a[i - 1]][b[j - 1]];
    else
      sum -= scores->extend + (next != now ? scores->open : 0);
    i -= now != DP_STEP_LEFT;
    j -= now != DP_STEP_UP;
  }
  return sum;
}

tsl_err dp_steps_cells(const uint8_t *directions, int64_t n, int64_t i, int64_t j,
                       dp_steps *steps) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(dp_steps_add(steps, i - 1, j - 1));
    i -= directions[k] != DP_STEP_LEFT;
    j -= directions[k] != DP_STEP_UP;
  }
done:
  return err;
}

tsl_err dp_steps_pairs(const dp_context *c, const dp_pair *pairs, int64_t n, const int64_t lo[2],
                       const int64_t from[2], const int64_t to[2], dp_steps *steps) {
  tsl_err err = TSL_OK;
  const uint8_t *a = dp_input(c, DP_A), *b = dp_input(c, DP_B);
  int64_t i = from[0], j = from[1];
  for (int64_t k = 0; k <= n; k++) {
    const int64_t row = k < n ? lo[0] + pairs[k].row + 1 : to[0];
    const int64_t column = k < n ? lo[1] + pairs[k].column + 1 : to[1];
    if (c->p->problem == DP_LCS) {
      if (k < n) TSL_TRY(dp_steps_add(steps, row - 1, column - 1));
      continue;
    }
    if (j > column) TSL_TRY(dp_steps_run(steps, DP_INSERT, j - column));
    if (i > row) TSL_TRY(dp_steps_run(steps, DP_DELETE, i - row));
    if (k < n)
      TSL_TRY(dp_steps_run(steps, a[row - 1] == b[column - 1] ? DP_MATCH : DP_MISMATCH, 1));
    i = row - 1, j = column - 1;
  }
done:
  return err;
}
