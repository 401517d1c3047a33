/* An equation as text: points, numbers, the value of a pair. */
#include "tri_equation_own.h"

#include <stdio.h>
#include <string.h>

const lang_purpose tri_purpose = {"equation", ""};

/* --------------------------------------------------------------------- text */

/** Names of the variables in the text. */
typedef struct words {
  char scalar[2 + 2 * LANG_QUANTITIES_MAX][16];
  const char *scalars[2 + 2 * LANG_QUANTITIES_MAX];
  const char *arrays[3];
} words;

static void set_words(int32_t n_variables, words *w) {
  w->arrays[0] = "a.x", w->arrays[1] = "b.x", w->arrays[2] = "dx";
  for (int32_t s = 0; s < n_variables; s++) {
    if (s < 2)
      (void)snprintf(w->scalar[s], sizeof w->scalar[s], "%s", s == 0 ? "r2" : "r");
    else
      (void)snprintf(w->scalar[s], sizeof w->scalar[s], "%c.q%d", s % 2 == 0 ? 'a' : 'b',
                     (int)(s / 2 - 1));
    w->scalars[s] = w->scalar[s];
  }
}

static bool uses_quantity(const lang_pair_uses *u, int q) {
  return (u->scalars >> (2 + 2 * q) & 3u) != 0;
}

/** struct tri_point and tri_read. */
static void put_point(lang_text *t, int64_t d, int n_q, const lang_pair_uses *u) {
  lang_put(t, "struct tri_point { R");
  for (int64_t k = 0; k < d; k++) lang_put(t, "%s x%lld", k > 0 ? "," : "", (long long)k);
  for (int q = 0; q < n_q; q++)
    if (uses_quantity(u, q)) lang_put(t, ", q%d", q);
  lang_put(t, "; };\nLANG_FN struct tri_point tri_read(const R *x, const R *q, const i64 ld, "
              "const i64 i) {\n  struct tri_point p;\n  (void)q;\n");
  for (int64_t k = 0; k < d; k++)
    lang_put(t, "  p.x%lld = x[%lld * ld + i];\n", (long long)k, (long long)k);
  for (int q = 0; q < n_q; q++)
    if (uses_quantity(u, q)) lang_put(t, "  p.q%d = q[%d * ld + i];\n", q, q);
  lang_put(t, "  return p;\n}\n");
}

static void put_numbers(lang_text *t, bool boxed, int64_t d, const lang_pair_uses *u) {
  lang_put(t, "struct tri_constants { R none");
  for (int n = 0; n < u->n_constants; n++) lang_put(t, ", v%d", n);
  for (int64_t k = 0; boxed && k < d; k++) lang_put(t, ", box%lld", (long long)k);
  lang_put(t, "; };\nLANG_FN struct tri_constants tri_numbers(const struct tri_equation_args *a) "
              "{\n  struct tri_constants c;\n  c.none = (R)a->constants[0];\n");
  for (int n = 0; n < u->n_constants; n++) lang_put(t, "  c.v%d = (R)a->constants[%d];\n", n, n);
  for (int64_t k = 0; boxed && k < d; k++)
    lang_put(t, "  c.box%lld = (R)a->box[%lld];\n", (long long)k, (long long)k);
  lang_put(t, "  return c;\n}\n");
}

/** dx, r2, r as far as they are used. */
static void put_distance(lang_text *t, bool boxed, int64_t d, const lang_pair_uses *u) {
  const bool square = (u->scalars & 3u) != 0;
  for (int64_t k = 0; k < d && (square || u->arrays & 4u); k++) {
    const long long n = (long long)k;
    if (boxed)
      lang_put(t, "  const R dx%lld = tri_image(a.x%lld - b.x%lld, c.box%lld);\n", n, n, n, n);
    else
      lang_put(t, "  const R dx%lld = a.x%lld - b.x%lld;\n", n, n, n);
  }
  if (!square) return;
  lang_put(t, "  R r2 = (R)0;\n");
  for (int64_t k = 0; k < d; k++)
    lang_put(t, "  r2 = LANG_FMA(dx%lld, dx%lld, r2);\n", (long long)k, (long long)k);
  if (u->scalars & 2u) lang_put(t, "  const R r = LANG_SQRT(r2);\n");
}

static const char image[] = "/* Of a difference of coordinates within the box: that to the nearest "
                            "image, of the size that\n * euclidean with a box has. */\n"
                            "LANG_FN R tri_image(const R t, const R box) {\n"
                            "  const R size = LANG_ABS(t);\n"
                            "  const R other = box - size;\n"
                            "  return other < size ? (t > (R)0 ? -other : other) : t;\n}\n";

#define STRING_(...) #__VA_ARGS__
#define STRING(...) STRING_(__VA_ARGS__)

enum { TERMS_MAX = 1 + TRI_GRADIENT_D };

/** The expressions of a text: the value, and the components of a gradient; free them all. */
typedef struct terms {
  lang_text text[TERMS_MAX];
  int n;
} terms;

static tsl_err emit_terms(const tsl_deck *deck, const tri_equation *e, const tri_params *p,
                          lang_pair_uses *uses, terms *t) {
  tsl_err err = TSL_OK;
  lang_names names = e->names;
  words w;
  set_words(e->n_variables, &w);
  const lang_pair_words called = {w.scalars, w.arrays};
  lang_pair pair = {&names, &e->value, e->n_variables};
  t->n = p->gradient ? 1 + (int)p->d : 1;
  TSL_TRY(tsl_deck_blame(deck, "tri.function.value",
                         lang_pair_emit(&pair, &called, uses, &t->text[0])));
  pair.expr = &e->gradient;
  for (int k = 1; k < t->n; k++) {
    names.scalars[names.n_scalars - 1].whole = k - 1;
    TSL_TRY(tsl_deck_blame(deck, "tri.function.gradient",
                           lang_pair_emit(&pair, &called, uses, &t->text[k])));
  }
done:
  return err;
}

/** tri_value, and tri_all with all terms. */
static void put_functions(lang_text *out, bool boxed, int64_t d, const lang_pair_uses *uses,
                          const terms *t) {
  static const char take[] = "(const struct tri_point a, const struct tri_point b,\n"
                             "                    const struct tri_constants c) {\n"
                             "  (void)a, (void)b, (void)c;\n";
  lang_put(out, "LANG_FN R tri_value%s", take);
  put_distance(out, boxed, d, uses);
  lang_put(out, "  return %s;\n}\nstruct tri_terms { R t0", t->text[0].text);
  for (int k = 1; k < t->n; k++) lang_put(out, ", t%d", k);
  lang_put(out, "; };\n#define TRI_EACH(X)");
  for (int k = 0; k < t->n; k++) lang_put(out, " X(%d)", k);
  lang_put(out, "\nLANG_FN struct tri_terms tri_all%s", take);
  put_distance(out, boxed, d, uses);
  lang_put(out, "  struct tri_terms t;\n  t.t0 = %s;\n", t->text[0].text);
  for (int k = 1; k < t->n; k++) lang_put(out, "  t.t%d = -%s;\n", k, t->text[k].text);
  lang_put(out, "  return t;\n}\n");
}

static tsl_err write_text(const tsl_deck *deck, const tri_equation *e, const tri_params *p,
                          lang_pair_uses *uses, lang_text *t) {
  tsl_err err = TSL_OK;
  const bool boxed = p->function == TRI_EQUATION_PERIODIC, single = p->type == TSL_F32;
  terms all = {.n = 0};
  TSL_TRY(emit_terms(deck, e, p, uses, &all));
  lang_put(t, "#define R %s\n#define LANG_BYTES %d\n#define LANG_(name) name\n%s\n%s;\n",
           single ? "float" : "double", single ? 4 : 8, lang_math_text,
           STRING(TRI_EQUATION_STRUCT));
  lang_put(t,
           "enum { TRI_D = %d, TRI_Q = %d, TRI_TERMS = %d, TRI_KEEPS = %d, TRI_CHUNK = %d, "
           "TRI_LANES = %d };\n",
           (int)p->d, (int)p->n_quantities, all.n, (int)p->keeps_diagonal, TRI_SUM_CHUNK,
           TRI_SUM_LANES);
  if (boxed) lang_put(t, "%s", image);
  put_point(t, p->d, (int)p->n_quantities, uses);
  put_numbers(t, boxed, p->d, uses);
  put_functions(t, boxed, p->d, uses, &all);
  TSL_TRY(t->err);
done:
  for (int k = 0; k < TERMS_MAX; k++) tsl_free(all.text[k].text);
  return err;
}

/* ------------------------------------------------------------------- fields */

tsl_err tri_equation_fields(const tsl_deck *deck, const tri_equation *e, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  lang_pair_uses uses = {0};
  lang_text text = {0};
  TSL_TRY(write_text(deck, e, p, &uses, &text));
  TSL_TRY(lang_fields_add(problem, &text, &uses, &p->equation));
done:
  tsl_free(text.text);
  return err;
}

void tri_equation_arguments(const tsl_problem *problem, const void *x, const void *q,
                            tri_equation_args *args) {
  const tri_params *p = tri_params_of(problem);
  memset(args, 0, sizeof *args);
  args->x = x;
  args->q = q;
  args->ld = p->n_pad;
  memcpy(args->box, p->box, sizeof args->box);
  lang_fields_constants(problem, args->constants);
}
