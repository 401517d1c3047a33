/* The function from the deck: keys, and of an equation names and the tree. */
#include "tri_equation_own.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(tri_function_deck, member)

static const tsl_key quantity_keys[] = {
    {"name", TSL_KEY_TEXT, offsetof(tri_quantity, name), NULL, 0, 0, NULL, NULL, 0,
     "Its name: q is q_i and q_j in the equation."},
    {"column", TSL_KEY_INT, offsetof(tri_quantity, column), NULL, 0, TRI_MAX_D * 16, NULL, NULL, 0,
     "Column of the input, counted from 0."},
    {0}};

static const tsl_key parameter_keys[] = {
    {"name", TSL_KEY_TEXT, offsetof(tri_parameter, name), NULL, 0, 0, NULL, NULL, 0, "Its name."},
    {"value", TSL_KEY_REAL, offsetof(tri_parameter, value), NULL, 0, 0, NULL, NULL, 0,
     "Its number."},
    {0}};

const tsl_key tri_function_keys[] = {
    {"name", TSL_KEY_CHOICE, AT(name), "equation", 0, 0, tri_choice_words, NULL, 0,
     "Its name, for which the word alone stands; an equation has the keys below."},
    {"value", TSL_KEY_TEXT, AT(value), "", 0, 0, NULL, NULL, 0,
     "Value of a pair (i, j), of r, r2, dx[k], x_i[k], x_j[k], d, quantities and parameters."},
    {"gradient", TSL_KEY_TEXT, AT(gradient), "", 0, 0, NULL, NULL, 0,
     "Output forces: derivative of the value by x_i[k], an expression with k for any component."},
    {"symmetric", TSL_KEY_BOOL, AT(symmetric), "", 0, 0, NULL, NULL, 0,
     "Value (i, j) is value (j, i); needed by all outputs of unordered pairs, and looked into; "
     "default no."},
    {"diagonal", TSL_KEY_BOOL, AT(diagonal), "", 0, 0, NULL, NULL, 0,
     "Square and sum: keep the value of a point with itself (default); no: 0 in its place."},
    {"unit", TSL_KEY_TEXT, AT(unit), "", 0, 0, NULL, NULL, 0,
     "Unit of the values, written to the output; default 1."},
    {"quantities", TSL_KEY_MAPS, AT(quantities), "", 0, 0, NULL, quantity_keys,
     sizeof(tri_quantity),
     "Numbers of each point: columns of the input (input.columns is needed)."},
    {"parameters", TSL_KEY_MAPS, AT(parameters), "", 0, 0, NULL, parameter_keys,
     sizeof(tri_parameter), "Named numbers."},
    {0}};

/* -------------------------------------------------------------------- names */

static const char *path_of(char path[96], const char *list, uint64_t n, const char *key) {
  (void)snprintf(path, 96, "tri.function.%s[%llu].%s", list, (unsigned long long)n, key);
  return path;
}

static void add_scalar(lang_names *names, const char *name, lang_kind kind, double value) {
  lang_scalar *s = &names->scalars[names->n_scalars++];
  (void)snprintf(s->name, sizeof s->name, "%.31s", name);
  s->kind = (int32_t)kind;
  s->whole = kind == LANG_WHOLE ? (int64_t)value : 0;
  s->real = value;
}

static void add_array(lang_names *names, const char *name) {
  lang_array *a = &names->arrays[names->n_arrays++];
  *a = (lang_array){.type = names->tables[0].type, .rank = 1, .shape = {1, 1}};
  (void)snprintf(a->name, sizeof a->name, "%.31s", name);
}

/** May a user's name be one? The functions' words are none. */
static tsl_err check_name(const tsl_deck *deck, const lang_names *names, const char *name,
                          const char *path) {
  tsl_err err = TSL_OK;
  for (int f = 0; lang_function_words[f] != NULL; f++)
    if (strcmp(name, lang_function_words[f]) == 0)
      TSL_DECK_FAIL(deck, path, "'%s' is a function of the language; choose another name", name);
  TSL_TRY(tsl_deck_blame(deck, path, lang_check_name(names, name)));
done:
  return err;
}

static tsl_err add_quantity(const tsl_deck *deck, const tri_quantity *q, uint64_t n,
                            lang_names *names) {
  tsl_err err = TSL_OK;
  char path[96], name[LANG_NAME_MAX + 4];
  (void)path_of(path, "quantities", n, "name");
  if (strlen(q->name) > LANG_NAME_MAX - 3)
    TSL_DECK_FAIL(deck, path, "a name of more than %d letters", LANG_NAME_MAX - 3);
  for (const char *end = "i"; end != NULL; end = end[0] == 'i' ? "j" : NULL) {
    (void)snprintf(name, sizeof name, "%s_%s", q->name, end);
    TSL_TRY(check_name(deck, names, name, path));
    add_scalar(names, name, LANG_REAL, 0);
  }
done:
  return err;
}

static tsl_err check_number(const tsl_deck *deck, const char *path, int32_t type, double value) {
  tsl_err err = TSL_OK;
  if (!lang_real_fits(type == TSL_F32, value))
    TSL_DECK_FAIL(deck, path, "%g does not fit %s", value,
                  type == TSL_F32 ? "fp32; use precision: fp64" : "fp64");
done:
  return err;
}

tsl_err tri_equation_names(const tsl_deck *deck, const tri_function_deck *s, int32_t type,
                           tri_equation *e) {
  tsl_err err = TSL_OK;
  lang_names *names = &e->names;
  const tri_quantity *q = s->quantities.values;
  const tri_parameter *p = s->parameters.values;
  char path[96];
  memset(e, 0, sizeof *e);
  names->tables[0].type = type;
  if (s->value == NULL)
    TSL_DECK_FAIL(deck, "tri.function",
                  "an equation needs the key value, function: {value: \"...\"}");
  if (s->quantities.n > TRI_QUANTITIES_MAX)
    TSL_DECK_FAIL(deck, "tri.function.quantities", "more than %d quantities", TRI_QUANTITIES_MAX);
  if (s->parameters.n > TRI_PARAMETERS_MAX)
    TSL_DECK_FAIL(deck, "tri.function.parameters", "more than %d parameters", TRI_PARAMETERS_MAX);
  add_array(names, "x_i");
  add_array(names, "x_j");
  add_array(names, "dx");
  add_scalar(names, "r2", LANG_REAL, 0);
  add_scalar(names, "r", LANG_REAL, 0);
  for (uint64_t n = 0; n < s->quantities.n; n++) TSL_TRY(add_quantity(deck, &q[n], n, names));
  e->n_variables = names->n_scalars;
  add_scalar(names, "d", LANG_WHOLE, 1);
  for (uint64_t n = 0; n < s->parameters.n; n++) {
    TSL_TRY(check_name(deck, names, p[n].name, path_of(path, "parameters", n, "name")));
    TSL_TRY(check_number(deck, path_of(path, "parameters", n, "value"), type, p[n].value));
    add_scalar(names, p[n].name, LANG_REAL, p[n].value);
  }
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
  add_scalar(&e->names, "k", LANG_WHOLE, 0);
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
