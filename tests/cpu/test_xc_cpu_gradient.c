/**
 * @file test_xc_cpu_gradient.c
 * The gradient of the exchange-correlation energy at fixed density matrices, beside differences of
 * the energy when atoms move and the grid, its weights and its groups are made anew: functionals of
 * both sources, one and two spins, every partition and adjustment, spherical and Cartesian functions
 * to g. Its sum over the atoms; threads, pieces, SIMD levels, caches; reproducible: the same bits.
 */
#include "test_xc_cpu.h"
#include "xc_cpu.h"
#include "xc_cpu_gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WATER "O 0 0.02 0.117; H 0.05 0.757 -0.471; H -0.03 -0.757 -0.47"
#define METHANOL                                                                         \
  "C -0.047 0.664 0.01; O -0.046 -0.758 0.02; H -1.093 0.97 -0.02; H 0.437 1.072 0.89; " \
  "H 0.44 1.071 -0.893; H 0.868 -1.057 0.03"
#define H2S "S 0.01 0 0.103; H 0.03 0.974 -0.824; H -0.02 -0.97 -0.82"
#define GRID "grid: {radial: 25, angular: 50, pruning: none}"

/** A molecule, its grid and its densities, which do not change when its atoms move. */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
  tsl_unit *units;
  tsl_part *parts;
  const xc_atom *atoms; /**< where they are at first */
  xc_params params;     /**< at first */
  void *data[XC_N_FIELDS];
} made;

static xc_params *params(made *m) {
  return m->problem.params;
}

static void set_units(made *m) {
  const int64_t n = params(m)->n_groups;
  TSL_FREE_ALL(m->units, m->parts);
  must(tsl_alloc(n, sizeof *m->units, "units", (void **)&m->units), "memory");
  must(tsl_alloc(n, sizeof *m->parts, "parts", (void **)&m->parts), "memory");
  for (int64_t g = 0; g < n; g++)
    m->units[g] = (tsl_unit){.id = g, .kind = XC_UNIT_GROUP, .lo = {g}, .hi = {g + 1, 1, 1}};
}

/** Densities as of no field: the guess and a random positive part, of each spin another. */
static void set_densities(made *m) {
  enum { RANK = 3 };
  const int64_t n = params(m)->n;
  double *density = m->problem.fields[XC_IN_DENSITIES].data, *c = NULL;
  must(tsl_alloc(n, sizeof *c, "vector", (void **)&c), "memory");
  srand(7);
  for (int s = 0; s < params(m)->n_spin; s++)
    for (int k = 0; k < RANK; k++) {
      for (int64_t i = 0; i < n; i++) c[i] = 0.3 * (rand() / (double)RAND_MAX - 0.5);
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) density[(s * n + i) * n + j] += c[i] * c[j];
    }
  tsl_free(c);
}

static void make(const char *atoms, const char *keys, made *m) {
  char yaml[2048];
  const char *const families[] = {"xc", NULL};
  int family = 0;
  *m = (made){.deck = NULL};
  (void)snprintf(yaml, sizeof yaml, "family: xc\nxc:\n  molecule: {atoms: \"%s\"}\n  %s\n", atoms,
                 keys);
  must(tsl_deck_parse(yaml, (int64_t)strlen(yaml), "test", NULL, 0, &m->deck), keys);
  must(tsl_deck_top(m->deck, families, &family), keys);
  m->problem.family = &tsl_family_xc;
  must(tsl_family_xc.create(m->deck, &m->problem), keys);
  m->params = *params(m);
  m->atoms = m->problem.fields[XC_IN_ATOMS].data;
  for (int f = 0; f < XC_N_FIELDS; f++) m->data[f] = m->problem.fields[f].data;
  set_densities(m);
  set_units(m);
}

static void clear(made *m) {
  TSL_FREE_ALL(m->units, m->parts);
  tsl_family_xc.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
}

/* ------------------------------------------------------------------- energy */

static double energy_here(made *m) {
  const tsl_device device = {.kind = TSL_CPU, .threads = 1};
  tsl_worker *w = NULL;
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  must(xc_run_groups(w, m->units, params(m)->n_groups, m->parts), "groups");
  const double energy = w->integrals_sum[XC_INTEGRAL_ENERGY];
  xc_backend_cpu.close(&w);
  return energy;
}

/** What depends on the places of the atoms. */
typedef struct moved {
  xc_atom *atoms;
  xc_shell *shells;
  xc_grid grid;
  xc_groups groups;
} moved;

static const xc_groups_rule grouping = {
    .grouping = XC_KD,
    .reach = XC_REACH_RADIUS,
    .target = 1 << 20,
    .side = 8,
    .least = 1,
    .max_exponent = 10}; /* one group: nothing is left out here that is not there */

/** Energy with an atom moved by so much: grid and groups of its own, the same density. */
static double energy_at(made *m, int64_t atom, int x, double by) {
  const int64_t n = m->params.n_atoms, n_shells = m->params.n_shells + m->params.n_fit_shells;
  tsl_field *fields = m->problem.fields;
  moved to = {.atoms = NULL};
  must(tsl_alloc(n, sizeof *to.atoms, "atoms", (void **)&to.atoms), "memory");
  must(tsl_alloc(n_shells, sizeof *to.shells, "shells", (void **)&to.shells), "memory");
  memcpy(to.atoms, m->atoms, (size_t)n * sizeof *to.atoms);
  memcpy(to.shells, m->data[XC_IN_SHELLS], (size_t)n_shells * sizeof *to.shells);
  to.atoms[atom].at[x] += by;
  for (int64_t s = 0; s < n_shells; s++)
    if (to.shells[s].atom == atom) to.shells[s].at[x] += by;
  const xc_basis basis = {to.shells, m->params.n_shells, m->params.n};
  must(xc_grid_make(&m->params.grid, to.atoms, n, &to.grid), "grid");
  must(xc_groups_make(&grouping, &basis, &to.grid, &to.groups), "groups");
  params(m)->n_points = to.grid.n, params(m)->n_groups = to.groups.n;
  fields[XC_IN_SHELLS].data = to.shells, fields[XC_IN_ATOMS].data = to.atoms;
  fields[XC_IN_POINTS].data = to.grid.block, fields[XC_IN_OWNERS].data = to.grid.atom;
  fields[XC_IN_GROUPS].data = to.groups.list, fields[XC_IN_LISTS].data = to.groups.shells;
  set_units(m);
  const double energy = energy_here(m);
  for (int f = 0; f < XC_N_FIELDS; f++) fields[f].data = m->data[f];
  *params(m) = m->params;
  set_units(m);
  xc_groups_clear(&to.groups);
  xc_grid_clear(&to.grid);
  TSL_FREE_ALL(to.atoms, to.shells);
  return energy;
}

/* ----------------------------------------------------------------- gradient */

static double *gradient_of(made *m, int threads) {
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  tsl_worker *w = NULL;
  xc_gradient *g = NULL;
  double *gradient = NULL;
  must(tsl_alloc(3 * params(m)->n_atoms, sizeof *gradient, "gradient", (void **)&gradient),
       "memory");
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  must(xc_gradient_open(w, &g), "open");
  const int64_t half = params(m)->n_groups / 2; /* two batches, and functions of the first kept */
  must(xc_run_groups(w, m->units, half, m->parts), "groups");
  must(xc_gradient_groups(w, g, m->units, half, m->parts, gradient), "gradient");
  must(xc_gradient_groups(w, g, m->units + half, params(m)->n_groups - half, m->parts + half,
                          gradient),
       "gradient");
  xc_gradient_close(&g);
  xc_backend_cpu.close(&w);
  return gradient;
}

static double largest(int64_t n, const double *a, const double *b) {
  double most = 0;
  for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - (b != NULL ? b[k] : 0)));
  return most;
}

static void check_sum(const char *what, const double *gradient, int64_t n_atoms) {
  for (int x = 0; x < 3; x++) {
    double sum = 0;
    for (int64_t a = 0; a < n_atoms; a++) sum += gradient[3 * a + x];
    check(fabs(sum) < 1e-11, what, sum, 0);
  }
}

/** Differences of fourth order. */
static void check_case(const char *atoms, const char *keys) {
  static const double weights[4] = {8, -8, -1, 1}, places[4] = {1, -1, 2, -2};
  const double step = 1e-3;
  made m;
  make(atoms, keys, &m);
  double *gradient = gradient_of(&m, 1), most = 0;
  const double size = largest(3 * m.params.n_atoms, gradient, NULL);
  for (int64_t a = 0; a < m.params.n_atoms; a++)
    for (int x = 0; x < 3; x++) {
      double slope = 0;
      for (int k = 0; k < 4; k++)
        slope += weights[k] / (12 * step) * energy_at(&m, a, x, places[k] * step);
      const double got = gradient[3 * a + x];
      most = fmax(most, fabs(got - slope));
      check(fabs(got - slope) < 1e-8 * size, keys, got, slope);
    }
  check(size > 0.1, "the gradient is not small", size, 1);
  check_sum(keys, gradient, m.params.n_atoms);
  printf("%.1e of %.3f: %s\n", most, size, keys);
  tsl_free(gradient);
  clear(&m);
}

static void check_cases(void) {
  static const char *const schemes[] = {"becke", "ssf"};
  static const char *const adjusts[] = {"none", "treutler", "bragg", "slater"};
  static const char *const functionals[] = {"svwn5",     "pbe",   "b3lyp",
                                            "gga_x_b88", "lda_x", "hyb_gga_xc_b97"};
  char keys[1024];
  for (int s = 0; s < 2; s++)
    for (int a = 0; a < 4; a++) {
      (void)snprintf(keys, sizeof keys,
                     "basis: def2-SVP\n  functional: pbe\n  grid: {radial: 25, angular: 50, "
                     "pruning: none, scheme: %s, adjust: %s}",
                     schemes[s], adjusts[a]);
      check_case(a == 1 ? METHANOL : WATER, keys);
    }
  for (int f = 0; f < 6; f++)
    for (int open = 0; open < 2; open++)
      for (int cartesian = 0; cartesian < 2; cartesian++) {
        (void)snprintf(
            keys, sizeof keys,
            "basis: def2-SVP\n  functional: %s\n  reference: %s\n  functions: %s\n  " GRID,
            functionals[f], open ? "unrestricted" : "restricted",
            cartesian ? "cartesian" : "spherical");
        check_case((f + open) % 2 ? H2S : WATER, keys);
      }
  check_case(H2S, "basis: def2-TZVP\n  functional: pbe\n  " GRID);
  check_case(METHANOL, "basis: def2-TZVP\n  functional: b3lyp\n  functions: cartesian\n  " GRID);
}

int main(void) {
  check_cases();
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
