/* From the section to parameters and IN fields, one function for each kind of input. */
#include "dp_family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- fields */

tsl_err dp_add_input(tsl_problem *problem, const char *name, const char *doc, tsl_type type,
                     int64_t n, void *data) {
  tsl_err err = TSL_OK;
  tsl_field *field = NULL, ask = {.role = TSL_IN, .type = type, .rank = 1, .shape = {n, 1, 1}};
  tsl_field_label(&ask, name, "1", doc);
  TSL_TRY(tsl_problem_add(problem, &ask, &field));
  field->data = data;
done:
  return err;
}

tsl_err dp_add_unused(tsl_problem *problem) {
  static const char *const names[] = {[DP_A] = "a", [DP_B] = "b", [DP_C] = "c"};
  tsl_err err = TSL_OK;
  for (int f = problem->n_fields; f <= DP_C; f++)
    TSL_TRY(dp_add_input(problem, names[f], "Not used by this problem.", TSL_U8, 0, NULL));
done:
  return err;
}

/* Whole numbers from lo on as int64; values is freed. */
static tsl_err add_whole(const tsl_deck *deck, const char *key, tsl_problem *problem,
                         const char *doc, double **values, int64_t n, double lo) {
  tsl_err err = TSL_OK;
  int64_t *whole = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *whole, key, (void **)&whole));
  for (int64_t k = 0; k < n; k++) {
    if (!((*values)[k] >= lo) || (*values)[k] != floor((*values)[k]) || (*values)[k] > 0x1p53)
      TSL_DECK_FAIL(deck, key, "number %lld is %g: a whole number from %g to 2^53 is needed",
                    (long long)k + 1, (*values)[k], lo);
    whole[k] = (int64_t)(*values)[k];
  }
  TSL_TRY(dp_add_input(problem, key + 3, doc, TSL_I64, n, whole));
  whole = NULL;
done:
  TSL_FREE_ALL(whole, *values);
  *values = NULL;
  return err;
}

static int put_typed(tsl_type type, void *data, int64_t k, double value) {
  if (type == TSL_F64) return ((double *)data)[k] = value, 1;
  if (type == TSL_F32) return ((float *)data)[k] = (float)value, isfinite((float)value);
  if (value != floor(value) || fabs(value) > 0x1p53) return 0;
  if (type == TSL_I64) return ((int64_t *)data)[k] = (int64_t)value, 1;
  if (fabs(value) > 2147483647.0) return 0;
  ((int32_t *)data)[k] = (int32_t)value;
  return 1;
}

/* Numbers in the problem's type; values is freed. */
static tsl_err add_typed(const tsl_deck *deck, const char *key, tsl_problem *problem,
                         const char *doc, double **values, int64_t n) {
  tsl_err err = TSL_OK;
  const tsl_type type = (tsl_type)dp_params_of(problem)->type;
  void *data = NULL;
  TSL_TRY(tsl_alloc(n, tsl_type_bytes(type), key, &data));
  for (int64_t k = 0; k < n; k++)
    if (!put_typed(type, data, k, (*values)[k]))
      TSL_DECK_FAIL(deck, key, "number %lld is %g, which type %s does not hold", (long long)k + 1,
                    (*values)[k], tsl_type_name(type));
  TSL_TRY(dp_add_input(problem, key + 3, doc, type, n, data));
  data = NULL;
done:
  TSL_FREE_ALL(data, *values);
  *values = NULL;
  return err;
}

/* ---- sources */

/** Keys that are of no use for letters, or for numbers. */
static tsl_err check_keys(const tsl_deck *deck, const char *key, bool letters) {
  static const char *const of_numbers[] = {"values", "dataset", "columns", "lo", "hi", NULL};
  static const char *const of_letters[] = {"text", "record", "format", "mutate", NULL};
  tsl_err err = TSL_OK;
  char path[64];
  for (const char *const *word = letters ? of_numbers : of_letters; *word != NULL; word++) {
    (void)snprintf(path, sizeof path, "%s.%s", key, *word);
    if (tsl_deck_given(deck, path))
      TSL_DECK_FAIL(deck, path, "%s are needed here", letters ? "letters" : "numbers");
  }
done:
  return err;
}

tsl_err dp_check_source(const tsl_deck *deck, const char *key, bool letters) {
  tsl_err err = TSL_OK;
  const char *inline_word = letters ? "text" : "values";
  const bool may_copy = letters && strcmp(key, "dp.b") == 0,
             file = tsl_deck_given_in(deck, key, "file");
  TSL_TRY(check_keys(deck, key, letters));
  if (!may_copy && tsl_deck_given_in(deck, key, "mutate"))
    TSL_DECK_FAIL(deck, key, "mutate makes a copy of a; it is for b only");
  if (tsl_deck_given_in(deck, key, inline_word) + file + tsl_deck_given_in(deck, key, "random") +
          (may_copy && tsl_deck_given_in(deck, key, "mutate")) !=
      1)
    TSL_DECK_FAIL(deck, key, "give exactly one of %s, file and random%s", inline_word,
                  may_copy ? ", or mutate" : "");
  if (letters && !file &&
      (tsl_deck_given_in(deck, key, "format") || tsl_deck_given_in(deck, key, "record")))
    TSL_DECK_FAIL(deck, key, "format and record are for a file");
done:
  return err;
}

/** Numbers of a section's key, as dp_read_numbers. */
static tsl_err read_source(const tsl_deck *deck, const char *key, const dp_source *s,
                           int64_t *columns, double **values, int64_t *rows, tsl_problem *problem) {
  const tsl_err err = dp_check_source(deck, key, false);
  return err != TSL_OK ? err
                       : dp_read_numbers(deck, key, s, columns, values, rows, dp_own_of(problem));
}

tsl_err dp_load_dtw(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *values = NULL;
  int64_t columns = 1;
  p->square = s->distance;
  TSL_TRY(read_source(deck, "dp.a", &s->a, &columns, &values, &p->n, problem));
  TSL_TRY(add_typed(deck, "dp.a", problem, "First series.", &values, p->n));
  TSL_TRY(read_source(deck, "dp.b", &s->b, &columns, &values, &p->m, problem));
  TSL_TRY(add_typed(deck, "dp.b", problem, "Second series.", &values, p->m));
  if (p->n == 0 || p->m == 0)
    TSL_DECK_FAIL(deck, p->n == 0 ? "dp.a" : "dp.b", "an empty series cannot be warped");
  TSL_TRY(dp_add_unused(problem));
done:
  tsl_free(values);
  return err;
}

/* ---- numbers */

static tsl_err too_large(const tsl_deck *deck, const char *key) {
  return tsl_deck_fail(deck, TSL_ERR_NUMERIC, key, __FILE__, __LINE__,
                       "values of the table may overflow; scale the numbers down");
}

/** Value of item k taken as often as it may be, -1 above 63 bits. */
static int64_t most_value(const dp_params *p, int64_t weight, int64_t value) {
  int64_t most = -1;
  if (weight > p->m) return 0;
  if (p->problem == DP_KNAPSACK) return value;
  return tsl_mul_i64(value, p->m / weight, &most) ? most : -1;
}

/** No sack may be worth more than 62 bits. */
static tsl_err check_sack(const tsl_deck *deck, const tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  const int64_t *weights = problem->fields[DP_A].data, *values = problem->fields[DP_B].data;
  int64_t total = 0;
  for (int64_t k = 0; k < p->n; k++) {
    const int64_t most = most_value(p, weights[k], values[k]);
    if (most < 0 || most > INT64_MAX / 4) return too_large(deck, "dp.values");
    if (p->problem == DP_KNAPSACK && !tsl_add_i64(total, most, &total))
      return too_large(deck, "dp.values");
  }
  return total > INT64_MAX / 4 ? too_large(deck, "dp.values") : TSL_OK;
}

/** Sums of at most count numbers, each at most most in size, fit the problem's type twice. */
static tsl_err check_sum(const tsl_deck *deck, const char *key, const tsl_problem *problem,
                         int64_t count) {
  const tsl_type type = (tsl_type)dp_params_of(problem)->type;
  double most = 0;
  if (type != TSL_I32 && type != TSL_I64) return TSL_OK;
  for (int f = DP_A; f <= DP_B; f++)
    for (int64_t k = 0; k < problem->fields[f].shape[0]; k++) {
      const void *data = problem->fields[f].data;
      const double x = fabs(type == TSL_I32 ? (double)((const int32_t *)data)[k]
                                            : (double)((const int64_t *)data)[k]);
      if (x > most) most = x;
    }
  return most * (double)count >= (type == TSL_I32 ? 0x1p30 : 0x1p61) ? too_large(deck, key)
                                                                     : TSL_OK;
}

tsl_err dp_load_sack(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *weights = NULL, *values = NULL;
  int64_t columns = 1, n = 0;
  const double least = p->problem == DP_KNAPSACK_UNBOUNDED ? 1 : 0;
  p->m = s->capacity;
  TSL_TRY(read_source(deck, "dp.weights", &s->weights, &columns, &weights, &p->n, problem));
  TSL_TRY(add_whole(deck, "dp.weights", problem, "Weight of each item.", &weights, p->n, least));
  TSL_TRY(read_source(deck, "dp.values", &s->values, &columns, &values, &n, problem));
  TSL_TRY(add_whole(deck, "dp.values", problem, "Value of each item.", &values, n, 0));
  TSL_TRY(dp_add_unused(problem));
  if (n != p->n)
    TSL_DECK_FAIL(deck, "dp.values", "%lld values for %lld weights", (long long)n, (long long)p->n);
  TSL_TRY(check_sack(deck, problem));
done:
  TSL_FREE_ALL(weights, values);
  return err;
}

tsl_err dp_load_binomial(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  (void)deck;
  p->n = s->n;
  p->m = s->k;
  if (s->mode == DP_VALUE && p->m <= p->n && p->m > p->n - p->m)
    p->m = p->n - p->m; /* C(n, k) = C(n, n - k), whose table has no larger number */
  p->modulus = s->modulus;
  TSL_TRY(dp_add_unused(problem));
done:
  return err;
}

tsl_err dp_load_allotment(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *values = NULL;
  int64_t columns = tsl_deck_given(deck, "dp.capacity") ? s->capacity + 1 : 0;
  if (s->returns.file == NULL && columns == 0)
    TSL_DECK_FAIL(deck, "dp", "allotment needs the key capacity when returns is no file");
  TSL_TRY(read_source(deck, "dp.returns", &s->returns, &columns, &values, &p->n, problem));
  p->m = columns - 1;
  TSL_TRY(add_typed(deck, "dp.returns", problem, "Return of activity i for k units, row by row.",
                    &values, p->n * columns));
  TSL_TRY(dp_add_unused(problem));
  TSL_TRY(check_sum(deck, "dp.returns", problem, p->n));
done:
  tsl_free(values);
  return err;
}

tsl_err dp_load_stagecoach(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *costs = NULL, *start = NULL;
  int64_t columns = 0, one = 1, rows = 0, states = 0;
  TSL_TRY(read_source(deck, "dp.start", &s->start, &one, &start, &states, problem));
  if (s->costs.file == NULL) columns = states > 0 ? states : 1;
  TSL_TRY(read_source(deck, "dp.costs", &s->costs, &columns, &costs, &rows, problem));
  if (states == 0 || columns != states || rows % states != 0)
    TSL_DECK_FAIL(deck, "dp.costs",
                  "blocks of %lld x %lld numbers are needed, as start has %lld "
                  "states; there are %lld rows of %lld",
                  (long long)states, (long long)states, (long long)states, (long long)rows,
                  (long long)columns);
  p->m = states;
  p->n = rows / states + 1;
  TSL_TRY(add_typed(deck, "dp.costs", problem, "Cost of step t from state k to state s.", &costs,
                    rows * columns));
  TSL_TRY(add_typed(deck, "dp.start", problem, "Cost of beginning in state s.", &start, states));
  TSL_TRY(dp_add_unused(problem));
  TSL_TRY(check_sum(deck, "dp.costs", problem, p->n));
done:
  TSL_FREE_ALL(costs, start);
  return err;
}

/** Products in any order of at most n matrices stay within 61 bits: n times the largest product. */
static tsl_err check_chain(const tsl_deck *deck, const tsl_problem *problem) {
  const int64_t *dims = problem->fields[DP_A].data, n = dp_params_of(problem)->n;
  int64_t most = 0, bound = 0;
  for (int64_t k = 0; k <= n; k++)
    if (dims[k] > most) most = dims[k];
  if (!tsl_mul_i64(most, most, &bound) || !tsl_mul_i64(bound, most, &bound) ||
      !tsl_mul_i64(bound, n, &bound) || bound > INT64_MAX / 4)
    return too_large(deck, "dp.dimensions");
  return TSL_OK;
}

tsl_err dp_load_chain(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *values = NULL;
  int64_t columns = 1, n = 0;
  TSL_TRY(read_source(deck, "dp.dimensions", &s->dimensions, &columns, &values, &n, problem));
  if (n == 0)
    TSL_DECK_FAIL(deck, "dp.dimensions", "n + 1 sizes are needed for n matrices, at least one");
  TSL_TRY(add_whole(deck, "dp.dimensions", problem, "Matrix i is of size [i] x [i + 1].", &values,
                    n, 1));
  TSL_TRY(dp_add_unused(problem));
  p->n = p->m = n - 1;
  TSL_TRY(check_chain(deck, problem));
done:
  tsl_free(values);
  return err;
}

/** Weights are not negative, and n levels of all of them stay within 61 bits. */
static tsl_err check_weights(const tsl_deck *deck, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  double sum = 0;
  for (int f = DP_A; f <= DP_B; f++)
    for (int64_t k = 0; k < problem->fields[f].shape[0]; k++) {
      const void *data = problem->fields[f].data;
      const double x =
          p->type == TSL_I64 ? (double)((const int64_t *)data)[k] : ((const double *)data)[k];
      if (!(x >= 0))
        TSL_DECK_FAIL(deck, f == DP_A ? "dp.keys" : "dp.gaps",
                      "number %lld is %g: weights are not negative", (long long)k + 1, x);
      sum += x;
    }
  if (p->type == TSL_I64 && sum * (double)(p->n + 2) >= 0x1p61) err = too_large(deck, "dp.keys");
done:
  return err;
}

tsl_err dp_load_tree(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  double *keys = NULL, *gaps = NULL;
  int64_t columns = 1, n = 0;
  TSL_TRY(read_source(deck, "dp.keys", &s->keys, &columns, &keys, &p->n, problem));
  TSL_TRY(add_typed(deck, "dp.keys", problem, "Weight of each key.", &keys, p->n));
  if (tsl_deck_given(deck, "dp.gaps")) {
    TSL_TRY(read_source(deck, "dp.gaps", &s->gaps, &columns, &gaps, &n, problem));
  } else {
    n = p->n + 1;
    TSL_TRY(tsl_alloc(n, sizeof *gaps, "gaps", (void **)&gaps));
  }
  TSL_TRY(add_typed(deck, "dp.gaps", problem, "Weight of each gap between keys.", &gaps, n));
  TSL_TRY(dp_add_unused(problem));
  if (n != p->n + 1)
    TSL_DECK_FAIL(deck, "dp.gaps", "%lld gaps for %lld keys; one more than keys is needed",
                  (long long)n, (long long)p->n);
  p->m = p->n;
  TSL_TRY(check_weights(deck, problem));
done:
  TSL_FREE_ALL(keys, gaps);
  return err;
}
