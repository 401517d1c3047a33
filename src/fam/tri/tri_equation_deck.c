/* The function from the deck: keys, and of an equation names and the tree. */
#include "tri_equation_own.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(tri_function_deck, member)

const tsl_key tri_function_keys[] = {
    TSL_CHOICE_KEY(
        "name", AT(name), "equation", tri_choice_words,
        "Its name, for which the word alone stands; an equation has the keys from value on."),
    TSL_REAL_KEY("p", AT(order), "", 1e-3, 1e3, "Minkowski: the order; default 2."),
    TSL_REALS_KEY("variances", AT(variances), 1e-300, 1e300,
                  "Seuclidean: the variance of each dimension; default: those of the points."),
    LANG_VALUE_KEYS(
        tri_function_deck,
        "Value of a pair (i, j), of r, r2, dx[k], x_i[k], x_j[k], d, quantities and parameters.",
        "Output forces: derivative of the value by x_i[k], an expression with k for any component.",
        "Value (i, j) is value (j, i); needed by all outputs of unordered pairs, and looked into; "
        "default no."),
    TSL_BOOL_KEY(
        "diagonal", AT(diagonal), "",
        "Square and sum: keep the value of a point with itself (default); no: 0 in its place."),
    LANG_EQUATION_KEYS(tri_function_deck),
    {0}};

/* -------------------------------------------------------------------- names */

static void add_array(lang_names *names, const char *name) {
  lang_array *a = &names->arrays[names->n_arrays++];
  *a = (lang_array){.type = names->tables[0].type, .rank = 1, .shape = {1, 1}};
  (void)snprintf(a->name, sizeof a->name, "%.31s", name);
}

tsl_err tri_equation_names(const tsl_deck *deck, const tri_function_deck *s, int32_t type,
                           tri_equation *e) {
  tsl_err err = TSL_OK;
  lang_names *names = &e->names;
  const lang_place place = {deck, "tri.function", type};
  memset(e, 0, sizeof *e);
  names->tables[0].type = type;
  if (s->value == NULL)
    TSL_DECK_FAIL(deck, "tri.function",
                  "an equation needs the key value, function: {value: \"...\"}");
  add_array(names, "x_i");
  add_array(names, "x_j");
  add_array(names, "dx");
  lang_add_scalar(names, "r2", LANG_REAL, 0);
  lang_add_scalar(names, "r", LANG_REAL, 0);
  TSL_TRY(lang_add_quantities(&place, &s->quantities, "ij", names));
  e->n_variables = names->n_scalars;
  lang_add_scalar(names, "d", LANG_WHOLE, 1);
  TSL_TRY(lang_add_parameters(&place, &s->parameters, names));
done:
  return err;
}

/* --------------------------------------------------------------------- tree */

static bool uses_array(const lang_expr *x, int32_t node, int32_t array) {
  const lang_node *n = &x->nodes[node];
  if (n->op == LANG_OP_DATA && n->ref == array) return true;
  for (int32_t c = n->first; c >= 0; c = x->nodes[c].next)
    if (uses_array(x, c, array)) return true;
  return false;
}

/** The same with one name more: k, the component. */
static tsl_err parse_gradient(const tsl_deck *deck, const tri_function_deck *s, tri_equation *e) {
  tsl_err err = TSL_OK;
  for (int n = 0; n < e->names.n_scalars; n++)
    if (strcmp(e->names.scalars[n].name, "k") == 0)
      TSL_DECK_FAIL(deck, "tri.function.gradient",
                    "k is its component; choose another name for the "
                    "parameter k");
  lang_add_scalar(&e->names, "k", LANG_WHOLE, 0);
  TSL_TRY(tsl_deck_blame(deck, "tri.function.gradient",
                         lang_expr_parse(&e->names, LANG_SCOPE_PAIR, s->gradient, &e->gradient)));
done:
  return err;
}

tsl_err tri_equation_parse(const tsl_deck *deck, const tri_function_deck *s, int64_t d,
                           tri_equation *e) {
  tsl_err err = TSL_OK;
  if (d > TRI_EQUATION_D)
    TSL_DECK_FAIL(deck, "tri.function",
                  "an equation takes %d dimensions at most; the points have "
                  "%lld",
                  TRI_EQUATION_D, (long long)d);
  if (s->gradient != NULL && d > TRI_GRADIENT_D)
    TSL_DECK_FAIL(deck, "tri.function.gradient", "gradients are of %d dimensions at most",
                  TRI_GRADIENT_D);
  for (int a = 0; a < e->names.n_arrays; a++) e->names.arrays[a].shape[0] = d;
  e->names.scalars[e->n_variables].whole = d;
  e->names.scalars[e->n_variables].real = (double)d;
  TSL_TRY(tsl_deck_blame(deck, "tri.function.value",
                         lang_expr_parse(&e->names, LANG_SCOPE_PAIR, s->value, &e->value)));
  if (s->gradient != NULL) TSL_TRY(parse_gradient(deck, s, e));
  for (int a = 0; a < 2; a++) {
    e->absolute = e->absolute || uses_array(&e->value, e->value.root, a);
    if (e->gradient.text != NULL)
      e->absolute = e->absolute || uses_array(&e->gradient, e->gradient.root, a);
  }
done:
  return err;
}

void tri_equation_clear(tri_equation *e) {
  lang_expr_clear(&e->value);
  lang_expr_clear(&e->gradient);
}
