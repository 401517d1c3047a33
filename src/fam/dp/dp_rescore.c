/* The recovered solution scored again, from the input alone. */
#include "dp_family.h"

#include <math.h>
#include <stdio.h>

static void complain(dp_own *own, double found, double goal) {
  (void)snprintf(own->mismatch, sizeof own->mismatch,
                 "the recovered solution scores %.17g, but the optimum is %.17g", found, goal);
}

static void complain_path(dp_own *own, const char *what) {
  (void)snprintf(own->mismatch, sizeof own->mismatch, "the recovered solution is no %s", what);
}

/** Score of one run at (i, j); -1 in *bad when its letters are not what it says. */
static int64_t score_run(const tsl_problem *problem, const int64_t run[2], int64_t i, int64_t j,
                         bool *bad) {
  const dp_params *p = dp_params_of(problem);
  const uint8_t *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  const bool edit = p->problem == DP_EDIT;
  int64_t sum = 0;
  if (run[0] == DP_INSERT || run[0] == DP_DELETE) {
    if (edit) return run[1] * (run[0] == DP_INSERT ? p->insert : p->remove);
    return -(p->scores.open + run[1] * (int64_t)p->scores.extend);
  }
  for (int64_t k = 0; k < run[1]; k++) {
    const bool same = a[i + k] == b[j + k];
    *bad = *bad || same != (run[0] == DP_MATCH);
    sum += edit ? (same ? 0 : p->replace) : p->scores.s[a[i + k]][b[j + k]];
  }
  return sum;
}

/** Is what lies before and after the alignment free? LOCAL: all is. */
static bool ends_are_free(const dp_params *p, const letters_alignment *al) {
  const int64_t left_out[4] = {al->begin[0], p->n - al->end[0], al->begin[1], p->m - al->end[1]};
  const bool whole =
      (al->begin[0] == 0 || al->begin[1] == 0) && (al->end[0] == p->n || al->end[1] == p->m);
  if (p->problem == DP_LOCAL) return true;
  for (int k = 0; k < 4; k++)
    if (left_out[k] != 0 && !(p->free_ends >> k & 1)) return false;
  return whole;
}

/** @return is it one of the sequences, with its value? */
static bool rescore_one(const tsl_problem *problem, const letters_alignment *al) {
  dp_own *own = dp_own_of(problem);
  int64_t i = al->begin[0], j = al->begin[1], sum = 0;
  bool bad = false;
  for (int64_t k = al->n_steps - 1; k >= 0 && !bad; k--) {
    const int64_t *run = al->steps[k];
    const int64_t of_a = run[0] != DP_INSERT ? run[1] : 0, of_b = run[0] != DP_DELETE ? run[1] : 0;
    bad = run[1] < 1 || i + of_a > al->end[0] || j + of_b > al->end[1];
    if (!bad) sum += score_run(problem, run, i, j, &bad);
    i += of_a, j += of_b;
  }
  if (bad || i != al->end[0] || j != al->end[1] || !ends_are_free(dp_params_of(problem), al))
    complain_path(own, "alignment of the sequences");
  else if (sum != al->value)
    complain(own, (double)sum, (double)al->value);
  return own->mismatch[0] == '\0';
}

void dp_rescore_alignment(const tsl_problem *problem) {
  const dp_own *own = dp_own_of(problem);
  for (int64_t k = 0; k < own->n_list && rescore_one(problem, &own->list[k]);) k++;
}

void dp_rescore_lcs(const tsl_problem *problem) {
  const int64_t goal = *(const int64_t *)problem->fields[DP_GOAL].data;
  dp_own *own = dp_own_of(problem);
  const uint8_t *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  int64_t i = -1, j = -1;
  for (int64_t k = own->n_steps - 1; k >= 0; k--) {
    const int64_t *step = own->steps[k];
    if (step[0] <= i || step[1] <= j || a[step[0]] != b[step[1]]) {
      return complain_path(own, "common subsequence");
    }
    i = step[0], j = step[1];
  }
  if (own->n_steps != goal) complain(own, (double)own->n_steps, (double)goal);
}

void dp_rescore_sack(const tsl_problem *problem) {
  const int64_t goal = *(const int64_t *)problem->fields[DP_GOAL].data;
  dp_own *own = dp_own_of(problem);
  const dp_params *p = dp_params_of(problem);
  const int64_t *weights = problem->fields[DP_A].data, *values = problem->fields[DP_B].data;
  int64_t left = p->m, value = 0, before = p->n;
  for (int64_t k = 0; k < own->n_steps; k++) {
    const int64_t item = own->steps[k][0], count = own->steps[k][1];
    const int64_t most = p->problem == DP_KNAPSACK ? 1 : p->m;
    if (item < 0 || item >= before || count < 1 || count > most || weights[item] > left / count)
      return complain_path(own, "sack within the capacity");
    left -= count * weights[item];
    value += count * values[item];
    before = item;
  }
  if (value != goal) complain(own, (double)value, (double)goal);
}

/* ---- sums in the table's own type and order, so that they agree to the last bit; long double
 * holds all four types */

static long double sum_of(const dp_params *p, long double a, long double b) {
  if (p->type == TSL_F32) return (float)a + (float)b;
  return p->type == TSL_F64 ? (double)a + (double)b : a + b;
}

static void compare(const tsl_problem *problem, long double sum) {
  const tsl_field *goal = &problem->fields[DP_GOAL];
  if (sum != dp_field_number(goal, 0))
    complain(dp_own_of(problem), (double)sum, (double)dp_field_number(goal, 0));
}

void dp_rescore_allotment(const tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  int64_t k = own->n_steps - 1, left = p->m;
  long double sum = 0;
  for (int64_t i = 0; i < p->n; i++) {
    int64_t amount = 0;
    if (k >= 0 && own->steps[k][0] == i) amount = own->steps[k--][1];
    left -= amount;
    if (amount < 0 || left < 0) return complain_path(own, "allotment");
    sum = sum_of(p, sum, dp_field_number(&problem->fields[DP_A], i * (p->m + 1) + amount));
  }
  if (k >= 0) return complain_path(own, "allotment");
  compare(problem, sum);
}

void dp_rescore_stagecoach(const tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  long double sum = 0;
  int64_t before = 0;
  if (own->n_steps != p->n) return complain_path(own, "way");
  for (int64_t t = 0; t < p->n; t++) {
    const int64_t *step = own->steps[p->n - 1 - t];
    if (step[0] != t || step[1] < 0 || step[1] >= p->m) return complain_path(own, "way");
    if (t == 0)
      sum = dp_field_number(&problem->fields[DP_B], step[1]);
    else
      sum = sum_of(
          p, sum,
          dp_field_number(&problem->fields[DP_A], ((t - 1) * p->m + before) * p->m + step[1]));
    before = step[1];
  }
  compare(problem, sum);
}

static long double distance(const tsl_problem *problem, int64_t i, int64_t j) {
  const dp_params *p = dp_params_of(problem);
  const void *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  if (p->type == TSL_F32) {
    const float d = ((const float *)a)[i] - ((const float *)b)[j];
    return p->square ? d * d : fabsf(d);
  }
  const double d = ((const double *)a)[i] - ((const double *)b)[j];
  return p->square ? d * d : fabs(d);
}

void dp_rescore_dtw(const tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  int64_t i = -1, j = -1;
  long double sum = 0;
  for (int64_t k = own->n_steps - 1; k >= 0; k--) {
    const int64_t x = own->steps[k][0], y = own->steps[k][1];
    const bool joins = x - i <= 1 && y - j <= 1 && x >= i && y >= j && x + y > i + j;
    if (!joins || (i < 0 && (x > 0 || y > 0))) return complain_path(own, "warping path");
    i = x, j = y;
    sum = sum_of(p, distance(problem, i, j), sum);
  }
  if (i != p->n - 1 || j != p->m - 1) return complain_path(own, "warping path");
  compare(problem, sum);
}
