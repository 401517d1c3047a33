/* Rules of grids, and the points of atoms. */
#include "xc_grid.h"

#include "assist.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

const char *const xc_radial_words[] = {"treutler", "becke", "slater", NULL};
const char *const xc_pruning_words[] = {"none", "nwchem", "treutler", NULL};
const char *const xc_scheme_words[] = {"becke", "ssf", NULL};
const char *const xc_adjust_words[] = {"none", "treutler", "bragg", "slater", NULL};
const char *const xc_preset_words[] = {"coarse", "default", "fine", "ultrafine",
                                       "lio0",   "lio1",    "lio2", NULL};

/** Points that a thread takes at a time: they amortise a table of neighbours (xc_grid.h); and atoms
 *  whose points it makes. */
enum { RANGE = 4096, FILLED = 2 };

/** Points times atoms from which on weights are offered to the root's device: 16 threads take 27 ms
 *  for so many (0.9 ns each, SSF), a card a few ms for its memory, the moves and a first launch. */
static const double offered = 3e7;

/** Points of less weight than this are dropped: far below what any sum can show. */
#define STANDARD_CUT 1e-14

#define MOLECULAR(sizes_, pruning_, n_r, n_a)                                             \
  {                                                                                       \
    .radial = XC_RADIAL_TREUTLER, .sizes = sizes_, .pruning = pruning_, .scheme = XC_SSF, \
    .adjust = XC_ADJUST_TREUTLER, .n_radial = n_r, .n_angular = n_a, .cut = STANDARD_CUT  \
  }
#define SEED(sizes_, n_a)                                                                      \
  {                                                                                            \
    .radial = XC_RADIAL_SLATER, .sizes = sizes_, .pruning = XC_PRUNE_NONE, .scheme = XC_BECKE, \
    .adjust = XC_ADJUST_SLATER, .n_radial = 0, .n_angular = n_a, .cut = STANDARD_CUT           \
  }

/** In the order of xc_preset_words. */
static const xc_grid_rule presets[] = {MOLECULAR(XC_SIZES_GIVEN, XC_PRUNE_NWCHEM, 50, 194),
                                       MOLECULAR(XC_SIZES_PERIOD, XC_PRUNE_NWCHEM, 0, 0),
                                       MOLECULAR(XC_SIZES_GIVEN, XC_PRUNE_NWCHEM, 75, 302),
                                       MOLECULAR(XC_SIZES_GIVEN, XC_PRUNE_NONE, 99, 590),
                                       SEED(XC_SIZES_SLATER20, 50),
                                       SEED(XC_SIZES_SLATER30, 116),
                                       SEED(XC_SIZES_SLATER30, 194)};

/** "a, b, c" */
static void list_words(const char *const *words, char *text, size_t room) {
  size_t used = 0;
  for (int i = 0; words[i] != NULL && used < room; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? ", " : "", words[i]);
}

tsl_err xc_grid_preset(const char *name, xc_grid_rule *out) {
  tsl_err err = TSL_OK;
  char all[128] = "";
  int i = 0;
  while (xc_preset_words[i] != NULL && strcmp(xc_preset_words[i], name) != 0) i++;
  if (xc_preset_words[i] != NULL) {
    *out = presets[i];
    goto done;
  }
  const char *nearest = tsl_nearest_word(name, xc_preset_words);
  list_words(xc_preset_words, all, sizeof all);
  TSL_FAIL(TSL_ERR_INPUT, "unknown grid '%.60s'%s%s%s; grids: %s", name,
           nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
           nearest != NULL ? "'?" : "", all);
done:
  return err;
}

/** Period of an element, 0 for hydrogen and helium. */
static int period_of(int z) {
  static const int last[] = {2, 10, 18, 36, 54};
  int period = 0;
  while (period < 5 && z > last[period]) period++;
  return period;
}

void xc_grid_sizes(const xc_grid_rule *rule, int z, int64_t *n_radial, int64_t *n_angular) {
  static const int molecular[6][2] = {{50, 302}, {75, 302}, {80, 434},
                                      {90, 434}, {95, 434}, {100, 434}};
  const int period = period_of(z);
  *n_radial = rule->n_radial;
  *n_angular = rule->n_angular;
  if (rule->sizes == XC_SIZES_PERIOD) {
    *n_radial = molecular[period][0];
    *n_angular = molecular[period][1];
  } else if (rule->sizes != XC_SIZES_GIVEN) {
    *n_radial = (rule->sizes == XC_SIZES_SLATER20 ? 20 : 30) + 5 * period;
  }
}

static tsl_err check_choice(const char *what, int32_t value, int32_t n) {
  tsl_err err = TSL_OK;
  if (value < 0 || value >= n)
    TSL_FAIL(TSL_ERR_INPUT, "grid: %s is number %d; allowed are 0 to %d", what, value, n - 1);
done:
  return err;
}

/** The rules of the pruned zones must exist. */
static tsl_err check_pruning(const xc_grid_rule *rule, const xc_lebedev *sphere) {
  tsl_err err = TSL_OK;
  if (rule->pruning == XC_PRUNE_NWCHEM && xc_lebedev_below(sphere, 0) == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "grid: pruning nwchem needs a series of smaller rules, which %d points are not part "
             "of; use pruning none or treutler, or 110 points",
             sphere->points);
done:
  return err;
}

tsl_err xc_grid_check(const xc_grid_rule *rule) {
  tsl_err err = TSL_OK;
  const xc_lebedev *sphere = NULL;
  TSL_TRY(check_choice("radial", rule->radial, XC_N_RADIAL));
  TSL_TRY(check_choice("sizes", rule->sizes, XC_N_SIZES));
  TSL_TRY(check_choice("pruning", rule->pruning, XC_N_PRUNING));
  TSL_TRY(check_choice("scheme", rule->scheme, XC_N_SCHEMES));
  TSL_TRY(check_choice("adjust", rule->adjust, XC_N_ADJUST));
  if (!(rule->cut >= 0) || !isfinite(rule->cut))
    TSL_FAIL(TSL_ERR_INPUT, "grid: cut is %g; it must be a number of at least 0", rule->cut);
  if (rule->sizes == XC_SIZES_GIVEN && (rule->n_radial < 1 || rule->n_radial > XC_MAX_RADIAL))
    TSL_FAIL(TSL_ERR_INPUT, "grid: %lld radial shells; allowed are 1 to %d",
             (long long)rule->n_radial, (int)XC_MAX_RADIAL);
  if (rule->sizes == XC_SIZES_PERIOD) goto done;
  TSL_TRY(xc_lebedev_find(rule->n_angular, &sphere));
  TSL_TRY(check_pruning(rule, sphere));
done:
  return err;
}

/* ------------------------------------------------------------- one element */

/** The shells of an element. */
typedef struct recipe {
  int64_t n;                                 /**< shells; 0: not made yet */
  int64_t points;                            /**< of all shells */
  double r[XC_MAX_RADIAL], w[XC_MAX_RADIAL]; /**< w without the 4 pi */
  const xc_lebedev *sphere[XC_MAX_RADIAL];
} recipe;

/** The smaller of a rule and the rule of so many points. */
static const xc_lebedev *at_most(const xc_lebedev *full, int points) {
  const xc_lebedev *rule = xc_lebedevs;
  while (rule->points != points) rule++;
  return rule->points < full->points ? rule : full;
}

/** NWChem's five zones: 50 points, 86, one rule below the full one, the full one, one below. */
static const xc_lebedev *nwchem_sphere(const xc_lebedev *full, int z, double r) {
  static const double limits[3][4] = {
      {0.25, 0.5, 1.0, 4.5}, {0.1667, 0.5, 0.9, 3.5}, {0.1, 0.4, 0.8, 2.5}};
  const double *limit = limits[z <= 2 ? 0 : z <= 10 ? 1 : 2];
  const double ratio = r / xc_bragg_radius(z);
  int zone = 0;
  while (zone < 4 && ratio > limit[zone]) zone++;
  if (full->points <= 50 || zone == 3) return full;
  if (zone < 2) return at_most(full, zone == 0 ? 50 : 86);
  return xc_lebedev_below(full, 1);
}

/** The sphere of shell i of n. */
static const xc_lebedev *pruned(int32_t pruning, const xc_lebedev *full, int z, int64_t i,
                                int64_t n, double r) {
  if (pruning == XC_PRUNE_NWCHEM) return nwchem_sphere(full, z, r);
  if (pruning == XC_PRUNE_TREUTLER && i < n / 2) return at_most(full, i < n / 3 ? 14 : 50);
  return full;
}

static tsl_err make_recipe(const xc_grid_rule *rule, int z, recipe *out) {
  tsl_err err = TSL_OK;
  const xc_lebedev *full = NULL;
  int64_t n_angular;
  xc_grid_sizes(rule, z, &out->n, &n_angular);
  TSL_TRY(xc_lebedev_find(n_angular, &full));
  xc_radial_shells((xc_radial)rule->radial, z, out->n, out->r, out->w);
  for (int64_t i = 0; i < out->n; i++) {
    out->sphere[i] = pruned(rule->pruning, full, z, i, out->n, out->r[i]);
    out->points += out->sphere[i]->points;
  }
done:
  return err;
}

/* ---------------------------------------------------------------- molecule */

static tsl_err check_atom(const xc_grid_rule *rule, const xc_atom *atom, int64_t i) {
  tsl_err err = TSL_OK;
  const bool slater = rule->radial == XC_RADIAL_SLATER || rule->adjust == XC_ADJUST_SLATER;
  if (atom->z < 1 || atom->z > XC_MAX_Z)
    TSL_FAIL(TSL_ERR_INPUT, "atom %lld: there are no grids for element %d; allowed are 1 to %d",
             (long long)i + 1, atom->z, (int)XC_MAX_Z);
  if (slater && atom->z > XC_MAX_SLATER_Z)
    TSL_FAIL(TSL_ERR_INPUT,
             "atom %lld: the Slater radii of grids lio0, lio1, lio2 and of rule and adjust slater "
             "end at element "
             "%d, and it is element %d; use another grid",
             (long long)i + 1, (int)XC_MAX_SLATER_Z, atom->z);
  for (int k = 0; k < 3; k++)
    if (!isfinite(atom->at[k]))
      TSL_FAIL(TSL_ERR_INPUT, "atom %lld: coordinate %c is no number", (long long)i + 1, "xyz"[k]);
done:
  return err;
}

/** Recipes of the elements in the molecule, by atomic number, and the number of all points. */
static tsl_err make_recipes(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                            recipe **out, int64_t *n) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  TSL_TRY(tsl_alloc(XC_MAX_Z + 1, sizeof(recipe), "recipes of the elements", &memory));
  *out = memory;
  for (int64_t i = 0; i < n_atoms; i++) {
    TSL_TRY(check_atom(rule, &atoms[i], i));
    recipe *own = &(*out)[atoms[i].z];
    if (own->n == 0) TSL_TRY(make_recipe(rule, atoms[i].z, own));
    *n += own->points; /* at most 1.5e6 an atom: no overflow */
  }
done:
  return err;
}

/** Set x y z w from block. */
static void name_rows(xc_grid *grid) {
  grid->x = grid->block;
  grid->y = grid->block + grid->n;
  grid->z = grid->block + 2 * grid->n;
  grid->w = grid->block + 3 * grid->n;
}

static tsl_err alloc_points(int64_t n, xc_grid *grid) {
  tsl_err err = TSL_OK;
  void *block = NULL, *atom = NULL, *shell = NULL;
  grid->n = n;
  if (n == 0) goto done;
  TSL_TRY(tsl_alloc(n, 4 * sizeof(double), "points of the grid", &block));
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), "owners of the grid's points", &atom));
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), "shells of the grid's points", &shell));
  grid->block = block, grid->atom = atom, grid->shell = shell;
  block = atom = shell = NULL;
  name_rows(grid);
done:
  TSL_FREE_ALL(block, atom, shell);
  return err;
}

/** Unit sphere of a rule, kept from shell to shell. */
typedef struct sphere {
  const xc_lebedev *rule;
  double x[XC_LEBEDEV_MAX], y[XC_LEBEDEV_MAX], z[XC_LEBEDEV_MAX], w[XC_LEBEDEV_MAX];
} sphere;

static void fill_atom(const xc_atom *atom, int32_t number, const recipe *own, sphere *unit,
                      xc_grid *grid, int64_t p) {
  for (int32_t i = 0; i < own->n; i++) {
    const double r = own->r[i], volume = 4 * pi * own->w[i];
    if (unit->rule != own->sphere[i]) {
      unit->rule = own->sphere[i];
      xc_lebedev_points(unit->rule, unit->x, unit->y, unit->z, unit->w);
    }
    for (int k = 0; k < unit->rule->points; k++, p++) {
      grid->x[p] = atom->at[0] + r * unit->x[k];
      grid->y[p] = atom->at[1] + r * unit->y[k];
      grid->z[p] = atom->at[2] + r * unit->z[k];
      grid->w[p] = volume * unit->w[k];
      grid->atom[p] = number;
      grid->shell[p] = i;
    }
  }
}

/** Atoms whose points are being made. */
typedef struct filling {
  const xc_atom *atoms;
  const recipe *recipes; /**< by atomic number */
  const int64_t *first;  /**< [n_atoms] first point of each */
  xc_grid *grid;
} filling;

static tsl_err fill_atoms(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const filling *f = context;
  sphere *unit = NULL;
  (void)slot;
  TSL_TRY(tsl_alloc(1, sizeof *unit, "unit sphere", (void **)&unit));
  for (int64_t i = lo; i < hi; i++)
    fill_atom(&f->atoms[i], (int32_t)i, &f->recipes[f->atoms[i].z], unit, f->grid, f->first[i]);
done:
  tsl_free(unit);
  return err;
}

tsl_err xc_grid_points(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                       xc_grid *grid) {
  tsl_err err = TSL_OK;
  recipe *recipes = NULL;
  void *shells = NULL;
  int64_t *first = NULL, n = 0, p = 0;
  *grid = (xc_grid){0};
  TSL_TRY(xc_grid_check(rule));
  if (n_atoms < 0 || n_atoms > INT32_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "grid: %lld atoms", (long long)n_atoms);
  TSL_TRY(make_recipes(rule, atoms, n_atoms, &recipes, &n));
  TSL_TRY(tsl_alloc(n_atoms, sizeof *first, "first points of the atoms", (void **)&first));
  TSL_TRY(tsl_alloc(n_atoms > 0 ? n_atoms : 1, sizeof(int32_t), "shells of the atoms", &shells));
  grid->shells = shells;
  grid->n_atoms = n_atoms;
  grid->n_made = n;
  TSL_TRY(alloc_points(n, grid));
  for (int64_t i = 0; i < n_atoms; i++) {
    const recipe *own = &recipes[atoms[i].z];
    grid->shells[i] = (int32_t)own->n;
    first[i] = p, p += own->points;
  }
  filling f = {atoms, recipes, first, grid};
  TSL_TRY(tsl_parallel(n_atoms, FILLED, fill_atoms, &f));
done:
  TSL_FREE_ALL(first, recipes);
  if (err != TSL_OK) xc_grid_clear(grid);
  return err;
}

/* -------------------------------------------------------------- whole grid */

typedef struct taking {
  const xc_grid *from;
  const int64_t *order;
  xc_grid *to;
} taking;

static tsl_err take_points(void *context, int slot, int64_t lo, int64_t hi) {
  const taking *t = context;
  const xc_grid *from = t->from, *to = t->to;
  (void)slot;
  for (int64_t i = lo; i < hi; i++) {
    const int64_t k = t->order[i];
    to->x[i] = from->x[k], to->y[i] = from->y[k], to->z[i] = from->z[k], to->w[i] = from->w[k];
    to->atom[i] = from->atom[k], to->shell[i] = from->shell[k];
  }
  return TSL_OK;
}

tsl_err xc_grid_take(xc_grid *grid, const int64_t *order, int64_t n) {
  tsl_err err = TSL_OK;
  xc_grid taken = {0};
  taking t = {grid, order, &taken};
  TSL_TRY(alloc_points(n, &taken));
  TSL_TRY(tsl_parallel(n, RANGE, take_points, &t));
  taken.n_made = grid->n_made, taken.n_atoms = grid->n_atoms, taken.shells = grid->shells;
  grid->shells = NULL;
  xc_grid_clear(grid);
  *grid = taken;
done:
  return err;
}

tsl_err xc_grid_join(xc_grid *grid, const xc_grid *more) {
  tsl_err err = TSL_OK;
  const xc_grid *const parts[2] = {grid, more};
  xc_grid all = {0};
  TSL_TRY(alloc_points(grid->n + more->n, &all));
  for (int64_t k = 0, at = 0; k < 2; at += parts[k]->n, k++)
    for (int64_t i = 0; i < parts[k]->n; i++) {
      const xc_grid *from = parts[k];
      all.x[at + i] = from->x[i], all.y[at + i] = from->y[i], all.z[at + i] = from->z[i];
      all.w[at + i] = from->w[i];
      all.atom[at + i] = from->atom[i], all.shell[at + i] = from->shell[i];
    }
  all.n_made = grid->n_made + more->n_made, all.n_atoms = grid->n_atoms, all.shells = grid->shells;
  grid->shells = NULL;
  xc_grid_clear(grid);
  *grid = all;
done:
  return err;
}

/* Take out points with |w| < cut (w = 0 when cut is 0); the order stays. */
static tsl_err drop_points(xc_grid *grid, double cut) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  int64_t n = 0;
  TSL_TRY(tsl_alloc(grid->n > 0 ? grid->n : 1, sizeof(int64_t), "kept points", &memory));
  int64_t *kept = memory;
  for (int64_t i = 0; i < grid->n; i++)
    if (grid->w[i] != 0 && !(fabs(grid->w[i]) < cut)) kept[n++] = i;
  if (n < grid->n) TSL_TRY(xc_grid_take(grid, kept, n));
done:
  tsl_free(memory);
  return err;
}

static tsl_err weigh(void *context, int slot, int64_t lo, int64_t hi) {
  const xc_weighing *w = context;
  (void)slot;
  return xc_partition_weights(w->partition, w->grid, lo, hi);
}

/* A device has to be worth its start. */
static tsl_err weigh_all(xc_weighing *w) {
  tsl_err err = TSL_OK;
  bool taken = false;
  if ((double)w->grid->n * (double)w->grid->n_atoms >= offered)
    TSL_TRY(tsl_assist("xc.weights", w, &taken));
  if (!taken) TSL_TRY(tsl_parallel(w->grid->n, RANGE, weigh, w));
done:
  return err;
}

tsl_err xc_grid_make(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                     xc_grid *grid) {
  tsl_err err = TSL_OK;
  xc_partition *partition = NULL;
  TSL_TRY(xc_grid_points(rule, atoms, n_atoms, grid));
  TSL_TRY(xc_partition_create(rule, atoms, n_atoms, &partition));
  TSL_TRY(weigh_all(&(xc_weighing){partition, grid}));
  TSL_TRY(drop_points(grid, rule->cut));
done:
  xc_partition_destroy(&partition);
  if (err != TSL_OK) xc_grid_clear(grid);
  return err;
}

void xc_grid_clear(xc_grid *grid) {
  TSL_FREE_ALL(grid->block, grid->atom, grid->shell, grid->shells);
  *grid = (xc_grid){0};
}
