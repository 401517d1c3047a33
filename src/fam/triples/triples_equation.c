/* An equation of three points as text: points, numbers, sides, the value. */
#include "triples_family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const lang_purpose triples_purpose = {"equation", ""};

/* --------------------------------------------------------------------- text */

/** Names of the variables in the text. */
typedef struct words {
  char scalar[TRIPLES_SIDES + 3 * LANG_QUANTITIES_MAX][16];
  const char *scalars[TRIPLES_SIDES + 3 * LANG_QUANTITIES_MAX];
} words;

static void set_words(int32_t n_variables, words *w) {
  static const char *const sides[] = {"ij", "jk", "ki"};
  for (int32_t s = 0; s < n_variables; s++) {
    if (s < TRIPLES_SIDES)
      (void)snprintf(w->scalar[s], sizeof w->scalar[s], "%s.%s", sides[s % 3], s < 3 ? "r2" : "r");
    else
      (void)snprintf(w->scalar[s], sizeof w->scalar[s], "%c.q%d", "ijk"[s % 3],
                     (int)(s - TRIPLES_SIDES) / 3);
    w->scalars[s] = w->scalar[s];
  }
}

/** struct triples_point and triples_read, of the quantities that are used. */
static void put_point(lang_text *t, const triples_params *p, const lang_pair_uses *u) {
  lang_put(t, "struct triples_point { R x0");
  for (int k = 1; k < p->d; k++) lang_put(t, ", x%d", k);
  for (int q = 0; q < p->n_quantities; q++)
    if (u->scalars >> (TRIPLES_SIDES + 3 * q) & 7u) lang_put(t, ", q%d", q);
  lang_put(t, "; };\nLANG_FN struct triples_point triples_read(const R *x, const R *q, const i64 "
              "ld, const i64 i) {\n  struct triples_point p;\n  (void)q;\n");
  for (int k = 0; k < p->d; k++) lang_put(t, "  p.x%d = x[%d * ld + i];\n", k, k);
  for (int q = 0; q < p->n_quantities; q++)
    if (u->scalars >> (TRIPLES_SIDES + 3 * q) & 7u)
      lang_put(t, "  p.q%d = q[%d * ld + i];\n", q, q);
  lang_put(t, "  return p;\n}\n");
}

static bool is_boxed(const triples_params *p) {
  return isfinite(p->box[0]);
}

static void put_numbers(lang_text *t, const triples_params *p, const lang_pair_uses *u) {
  lang_put(t, "struct triples_constants { R cutoff2");
  for (int n = 0; n < u->n_constants; n++) lang_put(t, ", v%d", n);
  for (int k = 0; is_boxed(p) && k < p->d; k++) lang_put(t, ", box%d", k);
  lang_put(t, "; };\nLANG_FN struct triples_constants triples_numbers(const struct "
              "triples_equation_args *a) {\n  struct triples_constants c;\n  c.cutoff2 = "
              "(R)a->cutoff2;\n");
  for (int n = 0; n < u->n_constants; n++) lang_put(t, "  c.v%d = (R)a->constants[%d];\n", n, n);
  for (int k = 0; is_boxed(p) && k < p->d; k++) lang_put(t, "  c.box%d = (R)a->box[%d];\n", k, k);
  lang_put(t, "  return c;\n}\n");
}

/** Distances are the same from either end. */
static void put_side(lang_text *t, const triples_params *p, bool root) {
  if (is_boxed(p))
    lang_put(t, "LANG_FN R triples_image(const R t, const R box) {\n"
                "  const R size = LANG_ABS(t);\n  const R other = box - size;\n"
                "  return other < size ? other : size;\n}\n");
  lang_put(t,
           "struct triples_side { R r2, r; };\nLANG_FN struct triples_side triples_side_of(const "
           "struct triples_point a, const struct triples_point b,\n"
           "                    const struct triples_constants c) {\n"
           "  struct triples_side s;\n  (void)c;\n");
  for (int k = 0; k < p->d; k++)
    if (is_boxed(p))
      lang_put(t, "  const R d%d = triples_image(a.x%d - b.x%d, c.box%d);\n", k, k, k, k);
    else
      lang_put(t, "  const R d%d = a.x%d - b.x%d;\n", k, k, k);
  lang_put(t, "  R r2 = (R)0;\n");
  for (int k = 0; k < p->d; k++) lang_put(t, "  r2 = LANG_FMA(d%d, d%d, r2);\n", k, k);
  lang_put(t, "  s.r2 = r2;\n  s.r = %s;\n  return s;\n}\n", root ? "LANG_SQRT(r2)" : "(R)0");
}

/** triples_value or triples_slope. */
static void put_function(lang_text *t, const triples_params *p, const char *name,
                         const lang_text *value) {
  lang_put(t,
           "LANG_FN R %s(const struct triples_side ij, const struct triples_side jk,\n"
           "                    const struct triples_side ki, const struct triples_point i,\n"
           "                    const struct triples_point j, const struct triples_point k,\n"
           "                    const struct triples_constants c) {\n"
           "  (void)ij, (void)jk, (void)ki, (void)i, (void)j, (void)k, (void)c;\n",
           name);
  lang_put(t, "  const R v = %s;\n", value->text);
  lang_put(t, isfinite(p->cutoff)
                  ? "  return (ij.r2 <= c.cutoff2) & (jk.r2 <= c.cutoff2) & (ki.r2 <= c.cutoff2) "
                    "? v : (R)0;\n}\n"
                  : "  return v;\n}\n");
}

#define STRING_(...) #__VA_ARGS__
#define STRING(...) STRING_(__VA_ARGS__)

static tsl_err write_text(const tsl_deck *deck, const triples_equation *e, const triples_params *p,
                          lang_pair_uses *uses, lang_text *t) {
  tsl_err err = TSL_OK;
  const bool single = p->type == TSL_F32;
  lang_text value = {0}, slope = {0};
  words w;
  set_words(e->n_variables, &w);
  const lang_pair_words called = {w.scalars, NULL};
  lang_pair pair = {&e->names, &e->value, e->n_variables};
  TSL_TRY(
      tsl_deck_blame(deck, "triples.function.value", lang_pair_emit(&pair, &called, uses, &value)));
  pair.expr = &e->gradient;
  if (p->slopes)
    TSL_TRY(tsl_deck_blame(deck, "triples.function.gradient",
                           lang_pair_emit(&pair, &called, uses, &slope)));
  lang_put(t, "#define R %s\n#define LANG_BYTES %d\n#define LANG_(name) name\n%s\n%s;\n",
           single ? "float" : "double", single ? 4 : 8, lang_math_text,
           STRING(TRIPLES_EQUATION_STRUCT));
  lang_put(t,
           "enum { TRIPLES_D = %d, TRIPLES_Q = %d, TRIPLES_ALL = %d, TRIPLES_CUTS = %d, "
           "TRIPLES_CHUNK = %d, TRIPLES_LANES = %d };\n",
           (int)p->d, p->n_quantities, p->all, (int)isfinite(p->cutoff), TRIPLES_SUM_CHUNK,
           TRIPLES_SUM_LANES);
  put_point(t, p, uses);
  put_numbers(t, p, uses);
  put_side(t, p, (uses->scalars >> 3 & 7u) != 0);
  put_function(t, p, "triples_value", &value);
  if (p->slopes) lang_put(t, "#define TRIPLES_SLOPES\n");
  if (p->slopes) put_function(t, p, "triples_slope", &slope);
done:
  TSL_FREE_ALL(value.text, slope.text);
  return err;
}

/* ------------------------------------------------------------------- fields */

static tsl_err add_quantities(const tsl_deck *deck, const triples_points *points,
                              tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const triples_params *p = triples_params_of(problem);
  const table_rows *t = &points->table;
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "quantities",
                                 "Quantities of the points, padded with zeros.", p->type,
                                 p->n_quantities * p->n_pad, 1, &added));
  for (int64_t m = 0; m < p->n_quantities; m++)
    for (int64_t i = 0; i < p->n; i++) {
      const double value = t->values[i * t->columns + p->d + m];
      if (!lang_real_fits(p->type == TSL_F32, value))
        TSL_DECK_FAIL(deck, "triples.function.quantities",
                      "point %lld (from 0): %g does not fit fp32; use precision: fp64",
                      (long long)i, value);
      tsl_real_put(p->type, added->data, m * p->n_pad + i, value);
    }
done:
  return err;
}

static tsl_err add_forces(tsl_problem *problem) {
  const triples_params *p = triples_params_of(problem);
  tsl_field *added = NULL;
  tsl_field field = {
      .role = TSL_OUT, .type = TSL_F64, .combine = TSL_GATHER, .rank = 2, .shape = {p->n, p->d, 1}};
  tsl_field_label(&field, "forces", "1", "Force on each point: minus the slope of the sum.");
  return tsl_problem_add(problem, &field, &added);
}

tsl_err triples_equation_fields(const tsl_deck *deck, const triples_equation *e,
                                const triples_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_params *p = problem->params;
  lang_pair_uses uses = {0};
  lang_text text = {0};
  TSL_TRY(add_quantities(deck, points, problem));
  if (p->slopes) TSL_TRY(add_forces(problem));
  TSL_TRY(write_text(deck, e, p, &uses, &text));
  TSL_TRY(lang_fields_add(problem, &text, &uses, &p->equation));
  TSL_TRY(triples_equation_sample(deck, e, problem));
  if (p->slopes) TSL_TRY(triples_equation_slope(deck, e, problem));
done:
  tsl_free(text.text);
  return err;
}

void triples_equation_arguments(const tsl_problem *problem, const void *x, const void *q,
                                triples_equation_args *args) {
  const triples_params *p = triples_params_of(problem);
  memset(args, 0, sizeof *args);
  args->x = x;
  args->q = q;
  args->n = p->n;
  args->ld = p->n_pad;
  memcpy(args->box, p->box, sizeof args->box);
  args->cutoff2 = p->cutoff * p->cutoff;
  lang_fields_constants(problem, args->constants);
}
