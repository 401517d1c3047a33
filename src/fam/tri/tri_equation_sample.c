/* What an equation is said to be, looked into at some pairs: symmetric; the gradient its own. */
#include "tri_equation_own.h"

#include <math.h>

/* ----------------------------------------------------------------- symmetry */

/** Pairs looked at, and what differs more than rounding does: of the value, of the largest one. */
enum { PAIRS = 1000 };
static const double of_value = 1e-6, of_largest = 1e-12;

/** Variables of the pair (i, j) of prepared points. */
typedef struct variables {
  double scalars[LANG_SCALARS_MAX], x_i[TRI_EQUATION_D], x_j[TRI_EQUATION_D], dx[TRI_EQUATION_D];
} variables;

/** The value, or component k of the gradient, with x_i[component] moved by `move`. */
typedef struct place {
  int64_t i, j;
  int64_t component; /**< -1: the value */
  int64_t moved;
  double move;
} place;

static void set_variables(const tsl_problem *problem, const place *at, variables *v) {
  const int64_t i = at->i, j = at->j;
  const tri_params *p = tri_params_of(problem);
  const void *x = problem->fields[TRI_POINTS].data, *q = problem->fields[TRI_EXTRAS].data;
  double square = 0;
  for (int64_t k = 0; k < p->d; k++) {
    v->x_i[k] = tsl_real_get(p->type, x, k * p->n_pad + i) + (k == at->moved ? at->move : 0);
    v->x_j[k] = tsl_real_get(p->type, x, k * p->n_pad + j);
    v->dx[k] = v->x_i[k] - v->x_j[k];
    if (k < 3 && p->box[k] > 0) v->dx[k] -= p->box[k] * nearbyint(v->dx[k] / p->box[k]);
    square += v->dx[k] * v->dx[k];
  }
  v->scalars[0] = square;
  v->scalars[1] = sqrt(square);
  for (int64_t n = 0; n < p->n_quantities; n++) {
    v->scalars[2 + 2 * n] = tsl_real_get(p->type, q, n * p->n_pad + i);
    v->scalars[3 + 2 * n] = tsl_real_get(p->type, q, n * p->n_pad + j);
  }
}

static tsl_err value_at(const tsl_deck *deck, const tri_equation *e, const tsl_problem *problem,
                        const place *at, double *out) {
  tsl_err err = TSL_OK;
  const bool slope = at->component >= 0;
  variables v;
  lang_names names = e->names;
  if (slope) names.scalars[names.n_scalars - 1].whole = at->component;
  set_variables(problem, at, &v);
  const lang_pair pair = {&names, slope ? &e->gradient : &e->value, e->n_variables};
  const double *const arrays[] = {v.x_i, v.x_j, v.dx};
  const lang_pair_values values = {v.scalars, arrays};
  TSL_TRY(tsl_deck_blame(deck, slope ? "tri.function.gradient" : "tri.function.value",
                         lang_pair_value(&pair, &values, out)));
done:
  return err;
}

/** The value of the k-th of some pairs: a row and a column that is not its own. */
static place pick_pair(const tri_params *p, uint64_t k) {
  const int64_t i = p->first + lang_pick(2 * k, tri_rows_of(p));
  const int64_t j = lang_pick(2 * k + 1, tri_partners_of(p));
  return (place){i, p->two ? j : (i + 1 + j) % p->n, -1, -1, 0};
}

tsl_err tri_equation_sample(const tsl_deck *deck, const tri_equation *e,
                            const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  double worst = 0, largest = 0, there[2] = {0}, v[2];
  int64_t at[2] = {0};
  for (uint64_t k = 0; k < PAIRS && tri_pairs_of(p) > 0; k++) {
    const place pair = pick_pair(p, k);
    TSL_TRY(value_at(deck, e, problem, &pair, &v[0]));
    TSL_TRY(value_at(deck, e, problem, &(place){pair.j, pair.i, -1, -1, 0}, &v[1]));
    const double size = fmax(fabs(v[0]), fabs(v[1])), off = fabs(v[0] - v[1]);
    if (!isfinite(size) || !isfinite(off)) continue;
    largest = fmax(largest, size);
    if (off <= of_value * size || off <= worst) continue;
    worst = off, at[0] = pair.i - p->first, at[1] = pair.j, there[0] = v[0], there[1] = v[1];
  }
  if (worst > of_largest * largest)
    TSL_DECK_FAIL(deck, "tri.function.symmetric",
                  "the value is not symmetric: of points (%lld, %lld) it is %.9g, of (%lld, %lld) "
                  "%.9g; say symmetric: no%s",
                  (long long)at[0], (long long)at[1], there[0], (long long)at[1], (long long)at[0],
                  there[1], p->two ? "" : ", with output topk or sum");
done:
  return err;
}

/* ----------------------------------------------------------------- gradient */

/** A derivative by differences, and the deck's; NaN where there is none. */
static tsl_err compare_slopes(const tsl_deck *deck, const tri_equation *e,
                              const tsl_problem *problem, place at, double v[2]) {
  const double step = 1e-5; /* of the distance: both errors are about 1e-10 of the value */
  tsl_err err = TSL_OK;
  variables here;
  double ends[2];
  const int64_t k = at.component;
  set_variables(problem, &at, &here);
  const double h = step * here.scalars[1];
  TSL_TRY(value_at(deck, e, problem, &at, &v[1]));
  TSL_TRY(value_at(deck, e, problem, &(place){at.i, at.j, -1, k, h}, &ends[0]));
  TSL_TRY(value_at(deck, e, problem, &(place){at.i, at.j, -1, k, -h}, &ends[1]));
  v[0] = h > 0 ? (ends[0] - ends[1]) / (2 * h) : NAN;
done:
  return err;
}

tsl_err tri_equation_slope(const tsl_deck *deck, const tri_equation *e,
                           const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  lang_slopes slopes = {0};
  double v[2];
  place worst = {0};
  for (uint64_t n = 0; n < PAIRS / 4 && tri_pairs_of(p) > 0; n++) {
    place at = pick_pair(p, n);
    at.component = (int64_t)n % p->d;
    TSL_TRY(compare_slopes(deck, e, problem, at, v));
    if (lang_slopes_differ(&slopes, v[0], v[1])) worst = at;
  }
  if (lang_slopes_wrong(&slopes))
    TSL_DECK_FAIL(deck, "tri.function.gradient",
                  "it is not the value's derivative: of points (%lld, %lld), k = %lld, it is %.6g, "
                  "by differences %.6g",
                  (long long)(worst.i - p->first), (long long)worst.j, (long long)worst.component,
                  slopes.given, slopes.by_differences);
done:
  return err;
}
