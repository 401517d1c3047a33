/* An equation of three points from the deck: keys, names, the tree, and whether it is symmetric. */
#include "triples_family.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(triples_function_deck, member)

const tsl_key triples_function_keys[] = {
    TSL_CHOICE_KEY("name", AT(name), "equation", triples_function_words,
                   "Its name, for which the word alone stands; an equation has the keys below."),
    LANG_VALUE_KEYS(
        triples_function_deck,
        "Value of three points, of r_ij, r_jk, r_ki, r2_ij, r2_jk, r2_ki, quantities and "
        "parameters.",
        "Output forces: derivative of the value by r_ij, the other two sides held, of the same "
        "names.",
        "The value is the same however the three points are ordered; needed, and looked into."),
    LANG_EQUATION_KEYS(triples_function_deck),
    {0}};

tsl_err triples_equation_parse(const tsl_deck *deck, const triples_function_deck *s,
                               const triples_params *p, triples_equation *e) {
  static const char *const sides[] = {"r2_ij", "r2_jk", "r2_ki", "r_ij", "r_jk", "r_ki"};
  tsl_err err = TSL_OK;
  const lang_place place = {deck, "triples.function", p->type};
  lang_names *names = &e->names;
  names->tables[0].type = p->type;
  if (s->value == NULL)
    TSL_DECK_FAIL(deck, place.path, "an equation needs the key value, function: {value: \"...\"}");
  if (!s->symmetric)
    TSL_DECK_FAIL(deck, place.path,
                  "sums are over unordered triples: say symmetric: yes if the value is the same "
                  "however the points are ordered");
  for (int k = 0; k < TRIPLES_SIDES; k++) lang_add_scalar(names, sides[k], LANG_REAL, 0);
  TSL_TRY(lang_add_quantities(&place, &s->quantities, "ijk", names));
  e->n_variables = names->n_scalars;
  lang_add_scalar(names, "d", LANG_WHOLE, (double)p->d);
  TSL_TRY(lang_add_parameters(&place, &s->parameters, names));
  TSL_TRY(tsl_deck_blame(deck, "triples.function.value",
                         lang_expr_parse(names, LANG_SCOPE_PAIR, s->value, &e->value)));
  if (s->gradient != NULL)
    TSL_TRY(tsl_deck_blame(deck, "triples.function.gradient",
                           lang_expr_parse(names, LANG_SCOPE_PAIR, s->gradient, &e->gradient)));
done:
  return err;
}

void triples_equation_clear(triples_equation *e) {
  lang_expr_clear(&e->value);
  lang_expr_clear(&e->gradient);
}

/* ----------------------------------------------------------------- symmetry */

static double square_between(const tsl_problem *problem, int64_t a, int64_t b) {
  const triples_params *p = triples_params_of(problem);
  const void *x = problem->fields[TRIPLES_POINTS].data;
  double square = 0;
  for (int64_t k = 0; k < p->d; k++) {
    double t =
        tsl_real_get(p->type, x, k * p->n_pad + a) - tsl_real_get(p->type, x, k * p->n_pad + b);
    if (isfinite(p->box[k])) t -= p->box[k] * nearbyint(t / p->box[k]);
    square += t * t;
  }
  return square;
}

/** Variables of a triple: the sides and quantities. */
static void set_variables(const tsl_problem *problem, const int64_t at[3], double *v) {
  const triples_params *p = triples_params_of(problem);
  const void *q = problem->fields[TRIPLES_QUANTITIES].data;
  for (int k = 0; k < 3; k++) {
    v[k] = square_between(problem, at[k], at[(k + 1) % 3]);
    v[3 + k] = sqrt(v[k]);
    for (int64_t m = 0; m < p->n_quantities; m++)
      v[TRIPLES_SIDES + 3 * m + k] = tsl_real_get(p->type, q, m * p->n_pad + at[k]);
  }
}

/** The value or the gradient, in double precision. */
static tsl_err number_of(const tsl_deck *deck, const triples_equation *e, const double *v,
                         bool slope, double *out) {
  tsl_err err = TSL_OK;
  const lang_pair pair = {&e->names, slope ? &e->gradient : &e->value, e->n_variables};
  const lang_pair_values values = {v, NULL};
  TSL_TRY(tsl_deck_blame(deck, slope ? "triples.function.gradient" : "triples.function.value",
                         lang_pair_value(&pair, &values, out)));
done:
  return err;
}

static tsl_err value_at(const tsl_deck *deck, const triples_equation *e, const tsl_problem *problem,
                        const int64_t at[3], double *out) {
  double v[LANG_SCALARS_MAX];
  set_variables(problem, at, v);
  return number_of(deck, e, v, false, out);
}

static void pick_triple(uint64_t t, int64_t n, int64_t at[3]) {
  at[0] = lang_pick(3 * t, n);
  at[1] = (at[0] + 1 + lang_pick(3 * t + 1, n - 1)) % n;
  at[2] = lang_pick(3 * t + 2, n - 2); /* of the others */
  const int64_t least = at[0] < at[1] ? at[0] : at[1], most = at[0] < at[1] ? at[1] : at[0];
  if (at[2] >= least) at[2]++;
  if (at[2] >= most) at[2]++;
}

enum { TRIPLES = 500 /* looked at */ };

/** An exchange and a turn make all orders. */
tsl_err triples_equation_sample(const tsl_deck *deck, const triples_equation *e,
                                const tsl_problem *problem) {
  const double of_value = 1e-6, of_largest = 1e-12; /* more than rounding */
  tsl_err err = TSL_OK;
  const int64_t n = triples_params_of(problem)->n;
  double worst = 0, largest = 0, there[2] = {0}, v[2];
  int64_t a[3] = {0}, b[3] = {0}, at[3];
  for (uint64_t t = 0; t < 2 * TRIPLES && n > 2; t++) {
    pick_triple(t / 2, n, at);
    const int64_t other[3] = {at[1], t % 2 ? at[2] : at[0], t % 2 ? at[0] : at[2]};
    TSL_TRY(value_at(deck, e, problem, at, &v[0]));
    TSL_TRY(value_at(deck, e, problem, other, &v[1]));
    const double size = fmax(fabs(v[0]), fabs(v[1])), off = fabs(v[0] - v[1]);
    if (!isfinite(size) || !isfinite(off)) continue;
    largest = fmax(largest, size);
    if (off <= of_value * size || off <= worst) continue;
    worst = off, memcpy(a, at, sizeof a), memcpy(b, other, sizeof b), memcpy(there, v, sizeof v);
  }
  if (worst > of_largest * largest)
    TSL_DECK_FAIL(deck, "triples.function.symmetric",
                  "the value is not symmetric: of points (%lld, %lld, %lld) it is %.9g, of (%lld, "
                  "%lld, %lld) %.9g",
                  (long long)a[0], (long long)a[1], (long long)a[2], there[0], (long long)b[0],
                  (long long)b[1], (long long)b[2], there[1]);
done:
  return err;
}

/* ----------------------------------------------------------------- gradient */

/** The derivative by r_ij from differences, and the deck's; NaN where there is none. */
static tsl_err compare_slopes(const tsl_deck *deck, const triples_equation *e,
                              const tsl_problem *problem, const int64_t at[3], double slopes[2]) {
  const double step = 1e-5; /* of the side: both errors are about 1e-10 of the value */
  tsl_err err = TSL_OK;
  double v[LANG_SCALARS_MAX], ends[2];
  set_variables(problem, at, v);
  const double r = v[3], h = step * r;
  TSL_TRY(number_of(deck, e, v, true, &slopes[1]));
  for (int end = 0; end < 2; end++) {
    v[3] = end ? r + h : r - h;
    v[0] = v[3] * v[3];
    TSL_TRY(number_of(deck, e, v, false, &ends[end]));
  }
  slopes[0] = h > 0 ? (ends[1] - ends[0]) / (2 * h) : NAN;
done:
  return err;
}

tsl_err triples_equation_slope(const tsl_deck *deck, const triples_equation *e,
                               const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const int64_t n = triples_params_of(problem)->n;
  lang_slopes slopes = {0};
  int64_t at[3], worst[3] = {0};
  double v[2];
  for (uint64_t t = 0; t < TRIPLES && n > 2; t++) {
    pick_triple(t, n, at);
    TSL_TRY(compare_slopes(deck, e, problem, at, v));
    if (lang_slopes_differ(&slopes, v[0], v[1])) memcpy(worst, at, sizeof at);
  }
  if (lang_slopes_wrong(&slopes))
    TSL_DECK_FAIL(deck, "triples.function.gradient",
                  "it is not the value's derivative by r_ij: of points (%lld, %lld, %lld) it is "
                  "%.6g, by differences %.6g",
                  (long long)worst[0], (long long)worst[1], (long long)worst[2], slopes.given,
                  slopes.by_differences);
done:
  return err;
}
