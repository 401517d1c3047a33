/** @file bench_xc_molecules.c  Coordinates of the built-in molecules, and the way from a name
 * or file to a deck, and from the deck to a problem with its groups. */
#include "bench_xc_molecules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DECK = 8192 };

/* --------------------------------------------------------------- coordinates */

/* Text that grows. */
typedef struct text {
  char *at;
  size_t room, n;
} text;

static void add_atom(text *t, const char *symbol, double x, double y, double z) {
  const int n = snprintf(t->at + t->n, t->room - t->n, "%s %.6f %.6f %.6f;", symbol, x, y, z);
  if (n > 0 && (size_t)n < t->room - t->n) t->n += (size_t)n;
}

static void add_water(text *t) {
  add_atom(t, "O", 0, 0, 0.1174);
  add_atom(t, "H", 0.757, 0, -0.4696);
  add_atom(t, "H", -0.757, 0, -0.4696);
}

static void add_benzene(text *t) {
  for (int k = 0; k < 6; k++) {
    const double c = cos(k * acos(-1) / 3), s = sin(k * acos(-1) / 3);
    add_atom(t, "C", 1.3915 * c, 1.3915 * s, 0);
    add_atom(t, "H", 2.4715 * c, 2.4715 * s, 0);
  }
}

/* Truncated icosahedron, edges 1.4325 Angstrom: even permutations of (0, 1, 3g), (1, 2 + g, 2g),
 * (g, 2, 2g + 1) with all signs, whose edges are 2; g the golden ratio. */
static void add_c60(text *t) {
  const double g = (1 + sqrt(5)) / 2, scale = 1.4325 / 2;
  const double base[3][3] = {{0, 1, 3 * g}, {1, 2 + g, 2 * g}, {g, 2, 2 * g + 1}};
  for (int b = 0; b < 3; b++)
    for (int turn = 0; turn < 3; turn++)
      for (int signs = b == 0 ? 1 : 0; signs < 8; signs += b == 0 ? 2 : 1) { /* -0 is 0 */
        double v[3];
        for (int k = 0; k < 3; k++) v[k] = scale * base[b][k] * (signs >> k & 1 ? 1 : -1);
        add_atom(t, "C", v[turn], v[(turn + 1) % 3], v[(turn + 2) % 3]);
      }
}

static const struct {
  const char *name;
  void (*add)(text *t);
} built_in[] = {{"water", add_water}, {"benzene", add_benzene}, {"C60", add_c60}};

/* ---------------------------------------------------------------------- decks */

static bool ends(const char *what, const char *with) {
  const size_t n = strlen(what), m = strlen(with);
  return n > m && strcmp(what + n - m, with) == 0;
}

static tsl_err deck_of(const char *what, tsl_deck **deck) {
  tsl_err err = TSL_OK;
  char yaml[DECK], atoms[DECK / 2] = "", path[DECK / 4] = "";
  text t = {atoms, sizeof atoms, 0};
  if (ends(what, ".yaml")) return tsl_deck_read(what, NULL, 0, deck);
  if (ends(what, ".xyz") && (size_t)snprintf(path, sizeof path, "%s", what) >= sizeof path)
    TSL_FAIL(TSL_ERR_USAGE, "the name of a file is longer than %zu bytes", sizeof path - 1);
  for (size_t k = 0; k < sizeof built_in / sizeof *built_in; k++)
    if (strcmp(what, built_in[k].name) == 0) built_in[k].add(&t);
  if (t.n == 0 && path[0] == '\0')
    TSL_FAIL(TSL_ERR_USAGE,
             "'%s' is no molecule: water, benzene, C60, a file .xyz or a deck .yaml are known",
             what);
  (void)snprintf(yaml, sizeof yaml,
                 "family: xc\nxc:\n  molecule:\n    %s: \"%s\"\n  basis: def2-SVP\n"
                 "  functional: pbe\n",
                 t.n > 0 ? "atoms" : "xyz", t.n > 0 ? atoms : path);
  TSL_TRY(tsl_deck_parse(yaml, strlen(yaml), what, NULL, 0, deck));
done:
  return err;
}

/* -------------------------------------------------------------------- problem */

/* Memory of what a worker sums. */
static tsl_err add_sums(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < problem->n_fields; f++)
    if (problem->fields[f].combine == TSL_SUM) TSL_TRY(tsl_field_allocate(&problem->fields[f]));
done:
  return err;
}

tsl_err bench_xc_make(const char *what, bench_xc_molecule *out) {
  tsl_err err = TSL_OK;
  const char *const families[] = {"xc", NULL};
  const char *slash = strrchr(what, '/');
  int family = 0;
  *out = (bench_xc_molecule){.deck = NULL};
  (void)snprintf(out->name, sizeof out->name, "%s", slash != NULL ? slash + 1 : what);
  TSL_TRY(deck_of(what, &out->deck));
  TSL_TRY(tsl_deck_top(out->deck, families, &family));
  out->problem.family = &tsl_family_xc;
  TSL_TRY(tsl_family_xc.create(out->deck, &out->problem));
  TSL_TRY(add_sums(&out->problem));
  const int64_t n = xc_params_of(&out->problem)->n_groups;
  TSL_TRY(tsl_alloc(n, sizeof *out->groups, "units", (void **)&out->groups));
  for (int64_t g = 0; g < n; g++)
    out->groups[g] =
        (tsl_unit){.id = g, .kind = XC_UNIT_GROUP, .lo = {g, 0, 0}, .hi = {g + 1, 1, 1}};
done:
  if (err != TSL_OK) bench_xc_clear(out);
  return err;
}

void bench_xc_clear(bench_xc_molecule *molecule) {
  tsl_free(molecule->groups);
  if (molecule->problem.family != NULL) tsl_family_xc.destroy(&molecule->problem);
  tsl_problem_clear(&molecule->problem);
  tsl_deck_destroy(&molecule->deck);
  *molecule = (bench_xc_molecule){.deck = NULL};
}
