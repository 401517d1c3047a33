/* Solutions of interval problems, from the whole table on the root: splits are found again, the
 * smallest that attains a value, in O(n) each. */
#include "dp_interval.h"

#include "dp_family.h"

#include <stdio.h>
#include <string.h>

/* ---- weights of trees */

/** A sum as the type rounds it. */
static long double sum_of(int32_t type, long double x, long double y) {
  return type == TSL_F64 ? (double)x + (double)y : x + y;
}

static void weight_put(int32_t type, void *list, int64_t post, long double weight) {
  if (type == TSL_I64)
    ((int64_t *)list)[post] = (int64_t)weight;
  else
    ((double *)list)[post] = (double)weight;
}

void dp_tree_sums(const dp_params *p, const void *keys, const void *gaps, void *high, void *low) {
  long double sum = 0;
  weight_put(p->type, high, 0, 0);
  weight_put(p->type, low, 0, 0);
  for (int64_t post = 1; post <= p->n + 1; post++) {
    sum = sum_of(p->type, sum, dp_number(p->type, gaps, post - 1));
    weight_put(p->type, high, post, sum);
    if (post <= p->n) sum = sum_of(p->type, sum, dp_number(p->type, keys, post - 1));
    weight_put(p->type, low, post, sum);
  }
}

/* ---- values */

/** The table and what it was made of; numbers of either type as long double, which holds both. */
typedef struct triangle {
  const tsl_problem *problem;
  const dp_params *p;
  int64_t posts;
  const void *table;
  void *high, *low;
} triangle;

static long double value(const triangle *t, int64_t a, int64_t b) {
  return dp_number(t->p->type, t->table, a * t->posts + b);
}

/** Value of (a, b) split at k. */
static long double split_value(const triangle *t, int64_t a, int64_t k, int64_t b, long double left,
                               long double right) {
  const long double sum = sum_of(t->p->type, left, right);
  if (t->p->problem == DP_MATRIX_CHAIN) {
    const int64_t *d = t->problem->fields[DP_A].data;
    return sum + d[a] * d[k] * d[b];
  }
  if (t->p->problem == DP_SEARCH_TREE)
    return sum_of(
        t->p->type, sum,
        sum_of(t->p->type, dp_number(t->p->type, t->high, b), -dp_number(t->p->type, t->low, a)));
  return sum;
}

/** Smallest split that attains the value of (a, b); -1 none. */
static int64_t find_split(const triangle *t, int64_t a, int64_t b) {
  const long double best = value(t, a, b);
  for (int64_t k = a + 1; k < b; k++)
    if (split_value(t, a, k, b, value(t, a, k), value(t, k, b)) == best) return k;
  return -1;
}

static bool pairs(const triangle *t, int64_t a, int64_t b) {
  const uint8_t *letters = t->problem->fields[DP_A].data;
  return b - 1 - a > t->p->span && dp_pairs(t->p, letters[a], letters[b - 1]);
}

/* ---- the walk down */

/** Intervals still to be split, the next one last. */
typedef struct stack {
  int64_t (*at)[2];
  int64_t n;
} stack;

static void push(stack *s, int64_t a, int64_t b) {
  if (b - a < 2) return;
  s->at[s->n][0] = a, s->at[s->n++][1] = b;
}

/** A record of the path. */
static void dp_interval_put(int64_t *path, int64_t *n, const triangle *t, int64_t a, int64_t k,
                            int64_t b) {
  const bool tree = t->p->problem == DP_SEARCH_TREE;
  int64_t *record = path + 3 * (*n)++;
  record[0] = a, record[1] = b - 1 - tree, record[2] = k - 1;
}

/** Splits from the whole down, left parts first. Fails when the table contradicts itself. */
static tsl_err split_all(const triangle *t, stack *s, int64_t *path, int64_t *n) {
  tsl_err err = TSL_OK;
  push(s, 0, t->posts - 1);
  while (s->n > 0) {
    const int64_t *top = s->at[--s->n], a = top[0], b = top[1], k = find_split(t, a, b);
    if (k < 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "no split attains the value of the interval from %lld to %lld",
               (long long)a, (long long)b);
    dp_interval_put(path, n, t, a, k, b);
    push(s, k, b);
    push(s, a, k);
  }
done:
  return err;
}

/** Pairs of letters in the order of the first of the two. */
static tsl_err pair_all(const triangle *t, stack *s, int64_t *path, int64_t *n) {
  tsl_err err = TSL_OK;
  push(s, 0, t->posts - 1);
  while (s->n > 0) {
    const int64_t *top = s->at[--s->n], a = top[0], b = top[1], k = find_split(t, a, b);
    const long double inner = b - a > 2 ? value(t, a + 1, b - 1) : 0;
    if (k >= 0) {
      push(s, k, b);
      push(s, a, k);
    } else if (pairs(t, a, b) && inner + 1 == value(t, a, b)) {
      path[2 * *n] = a, path[2 * (*n)++ + 1] = b - 1;
      push(s, a + 1, b - 1);
    } else {
      TSL_FAIL(TSL_ERR_INTERNAL, "nothing attains the value of letters %lld to %lld", (long long)a,
               (long long)b - 1);
    }
  }
done:
  return err;
}

/* ---- scoring again, from the input and the path alone */

/** The value of an interval that the last records of the path have given. */
typedef struct part {
  int64_t a, b;
  long double value;
} part;

/** Value of (a, b), taken from the end of parts; where it has no split, what it is by definition.
 */
static long double take_part(const triangle *t, part *parts, int64_t *n, int64_t a, int64_t b,
                             bool *bad) {
  if (b - a < 2)
    return t->p->problem == DP_SEARCH_TREE ? dp_number(t->p->type, t->problem->fields[DP_B].data, a)
                                           : 0;
  *bad = *bad || *n == 0 || parts[*n - 1].a != a || parts[*n - 1].b != b;
  return *bad ? 0 : parts[--*n].value;
}

/** Cost of the whole: records from the last to the first, so that parts come before the whole. */
static tsl_err rescore_splits(const triangle *t, const int64_t *path, int64_t n, bool *bad,
                              long double *cost) {
  tsl_err err = TSL_OK;
  const bool tree = t->p->problem == DP_SEARCH_TREE;
  part *parts = NULL;
  int64_t n_parts = 0;
  TSL_TRY(tsl_alloc(n + 1, sizeof *parts, "solution", (void **)&parts));
  for (int64_t r = n - 1; r >= 0 && !*bad; r--) {
    const int64_t a = path[3 * r], b = path[3 * r + 1] + 1 + tree, k = path[3 * r + 2] + 1;
    *bad = a < 0 || k <= a || b <= k || b >= t->posts;
    if (*bad) break;
    const long double left = take_part(t, parts, &n_parts, a, k, bad);
    const long double right = take_part(t, parts, &n_parts, k, b, bad);
    parts[n_parts++] = (part){a, b, split_value(t, a, k, b, left, right)};
  }
  *cost = take_part(t, parts, &n_parts, 0, t->posts - 1, bad);
  *bad = *bad || n_parts != 0;
done:
  tsl_free(parts);
  return err;
}

/** Number of pairs when they pair, do not share letters and do not cross. */
static long double rescore_pairs(const triangle *t, const int64_t *path, int64_t n, stack *s,
                                 bool *bad) {
  s->n = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = path[2 * k], j = path[2 * k + 1];
    while (s->n > 0 && s->at[s->n - 1][1] < i) s->n--; /* closed before i */
    *bad = *bad || i < 0 || j >= t->p->n || !pairs(t, i, j + 1) ||
           (k > 0 && i <= path[2 * k - 2]) ||
           (s->n > 0 && (s->at[s->n - 1][1] <= j || s->at[s->n - 1][1] == i));
    if (*bad) return 0;
    s->at[s->n][0] = i, s->at[s->n++][1] = j;
  }
  return n;
}

static tsl_err check_path(const triangle *t, const int64_t *path, int64_t n, stack *s) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(t->problem);
  const tsl_field *field = &t->problem->fields[DP_GOAL];
  const long double goal = field->type == TSL_F64 ? *(const double *)field->data
                                                  : (long double)*(const int64_t *)field->data;
  long double found = 0;
  bool bad = false;
  if (t->p->problem == DP_NUSSINOV)
    found = rescore_pairs(t, path, n, s, &bad);
  else
    TSL_TRY(rescore_splits(t, path, n, &bad, &found));
  if (bad)
    (void)snprintf(own->mismatch, sizeof own->mismatch, "the recovered structure is none");
  else if (found != goal)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "the recovered solution scores %.17Lg, but the optimum is %.17Lg", found, goal);
done:
  return err;
}

/* ---- all of it */

static tsl_err open_triangle(const tsl_problem *problem, triangle *t) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  *t = (triangle){.problem = problem, .p = p, .posts = dp_posts(p)};
  t->table = problem->fields[dp_field(problem, "table")].data;
  if (p->problem != DP_SEARCH_TREE) return TSL_OK;
  TSL_TRY(tsl_alloc(t->posts, 8, "weights", &t->high));
  TSL_TRY(tsl_alloc(t->posts, 8, "weights", &t->low));
  dp_tree_sums(p, problem->fields[DP_A].data, problem->fields[DP_B].data, t->high, t->low);
done:
  return err;
}

tsl_err dp_recover_interval(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  triangle t = {0};
  stack s = {0};
  int64_t *path = NULL, n = 0;
  TSL_TRY(open_triangle(problem, &t));
  TSL_TRY(tsl_alloc(t.posts + 1, sizeof *s.at, "solution", (void **)&s.at));
  TSL_TRY(tsl_alloc(3 * t.posts, sizeof *path, "solution", (void **)&path));
  TSL_TRY(t.p->problem == DP_NUSSINOV ? pair_all(&t, &s, path, &n) : split_all(&t, &s, path, &n));
  TSL_TRY(check_path(&t, path, n, &s));
  TSL_TRY(store->append(store->state, dp_field(problem, "path"), path, n));
done:
  TSL_FREE_ALL(t.high, t.low, s.at, path);
  return err;
}
