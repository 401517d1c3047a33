/**
 * @file test_xc_cpu_gradient.c
 * The gradient of the exchange-correlation energy at fixed density matrices, beside differences of
 * the energy when atoms move and the grid, weights and groups are made anew: functionals of
 * both sources, one and two spins, every partition and adjustment, spherical and Cartesian
 * functions to g; and beside PySCF's. Its sum over the atoms; threads, pieces, SIMD levels, caches;
 * reproducible: the same bits for any threads and units.
 */
#include "test_xc_cpu.h"

#include "cases.h"
#include "levels.h"
#include "xc_cpu.h"
#include "xc_cpu_gradient.h"
#include "xc_gradient_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WATER "O 0 0.02 0.117; H 0.05 0.757 -0.471; H -0.03 -0.757 -0.47"
#define METHANOL                                                                         \
  "C -0.047 0.664 0.01; O -0.046 -0.758 0.02; H -1.093 0.97 -0.02; H 0.437 1.072 0.89; " \
  "H 0.44 1.071 -0.893; H 0.868 -1.057 0.03"
#define H2S "S 0.01 0 0.103; H 0.03 0.974 -0.824; H -0.02 -0.97 -0.82"

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

/** Density of no field, of each spin another, as in tools/xc_gradient_reference. */
static void set_densities(made *m) {
  enum { RANK = 4 };
  const int64_t n = params(m)->n;
  double *density = m->problem.fields[XC_IN_DENSITIES].data, *c = NULL;
  must(tsl_alloc(n, sizeof *c, "vector", (void **)&c), "memory");
  memset(density, 0, (size_t)(params(m)->n_spin * n * n) * sizeof *density);
  for (int s = 0; s < params(m)->n_spin; s++) {
    for (int64_t i = 0; i < n; i++) density[(s * n + i) * n + i] = 0.3 + 0.1 * s;
    for (int k = 0; k < RANK; k++) {
      for (int64_t i = 0; i < n; i++) c[i] = 0.3 * cos(0.7 * (double)i + 1.9 * k + s);
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) density[(s * n + i) * n + j] += c[i] * c[j];
    }
  }
  tsl_free(c);
}

static void make(const char *atoms, const char *keys, made *m) {
  char yaml[4096];
  const char *const families[] = {"xc", NULL};
  int family = 0;
  *m = (made){.deck = NULL};
  (void)snprintf(yaml, sizeof yaml,
                 "family: xc\nxc: {task: gradient, molecule: {atoms: \"%s\"}, %s\n", atoms,
                 keys + 1);
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

/** Energy with an atom moved by so much: grid and groups of its own, the same density. Without
 *  response the points stay. */
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
  const xc_basis basis = {.shells = to.shells, .n_shells = m->params.n_shells, .n = m->params.n};
  must(xc_grid_make(&m->params.grid, m->params.response ? to.atoms : m->atoms, n, &to.grid),
       "grid");
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

/** Gradient in units of so many groups; functions of the first half are kept by then. */
static double *gradient_of(made *m, int threads, int64_t each) {
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  const int64_t n = params(m)->n_groups;
  tsl_worker *w = NULL;
  xc_gradient *g = NULL;
  double *gradient = NULL;
  must(tsl_alloc(3 * params(m)->n_atoms, sizeof *gradient, "gradient", (void **)&gradient),
       "memory");
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  must(xc_gradient_open(w, &g), "open");
  must(xc_run_groups(w, m->units, n / 2, m->parts), "groups");
  for (int64_t u = 0; u < n; u += each)
    must(
        xc_gradient_groups(w, g, m->units + u, n - u < each ? n - u : each, m->parts + u, gradient),
        "gradient");
  for (int64_t u = 0; u < n; u++) check(m->parts[u].seconds > 0, "seconds", m->parts[u].seconds, 1);
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

/** Differences of fourth order, of the atoms [0, n_atoms), -1: all. A case of cases.h. */
static void check_case(const char *atoms, const char *keys, int64_t n_atoms) {
  static const double weights[4] = {8, -8, -1, 1}, places[4] = {1, -1, 2, -2};
  static int64_t number = 0;
  if (!case_is_mine(number++)) return;
  made m;
  make(atoms, keys, &m);
  const double step = m.params.response ? 1e-3 : 2e-4; /* points at rest: nuclei pass close by */
  double *gradient = gradient_of(&m, 2, m.params.n_groups), most = 0;
  const double size = largest(3 * m.params.n_atoms, gradient, NULL);
  for (int64_t a = 0; a < (n_atoms < 0 ? m.params.n_atoms : n_atoms); a++)
    for (int x = 0; x < 3; x++) {
      double slope = 0;
      for (int k = 0; k < 4; k++)
        slope += weights[k] / (12 * step) * energy_at(&m, a, x, places[k] * step);
      const double got = gradient[3 * a + x];
      most = fmax(most, fabs(got - slope));
      check(fabs(got - slope) < (m.params.response ? 1e-9 : 2e-8) * fmax(size, 1), keys, got,
            slope);
    }
  check(size > 0.1, "the gradient is not small", size, 1);
  if (m.params.response) check_sum(keys, gradient, m.params.n_atoms);
  printf("%.1e of %.3f: %lld atoms, %s\n", most, size, (long long)m.params.n_atoms, keys);
  tsl_free(gradient);
  clear(&m);
}

/** Every partition and adjustment; with sulphur next to hydrogen Slater's shift is beyond 1/2. */
static void check_partitions(void) {
  static const char *const adjusts[] = {"none", "treutler", "bragg", "slater"};
  static const char *const rules[] = {"treutler", "becke", "slater"};
  char keys[1024], chain[2048] = "";
  for (int s = 0; s < 2; s++)
    for (int a = 0; a < 4; a++) {
      (void)snprintf(keys, sizeof keys,
                     "{basis: def2-SVP, functional: pbe, grid: {radial: 25, angular: 50, "
                     "pruning: %s, rule: %s, scheme: %s, adjust: %s}}",
                     a % 2 ? "treutler" : "none", rules[(a + s) % 3], s ? "ssf" : "becke",
                     adjusts[a]);
      check_case(a == 1 ? METHANOL : a == 2 ? WATER : H2S, keys, -1);
    }
  for (int k = 0; k < 44; k++)
    (void)snprintf(chain + strlen(chain), sizeof chain - strlen(chain), "%sH %.2f %.2f %.2f",
                   k > 0 ? "; " : "", 0.6 * k, k % 2 ? 0.5 : 0.0, k % 3 ? 0.4 : 0.0);
  for (int s = 0; s < 2; s++) {
    (void)snprintf(keys, sizeof keys,
                   "{basis: STO-3G, functional: svwn5, grid: {radial: 12, angular: 26, "
                   "pruning: none, scheme: %s}}",
                   s ? "ssf" : "becke");
    check_case(chain, keys, 2);
  }
}

static void check_functionals(void) {
  static const char *const functionals[] = {"svwn5",          "pbe",      "b3lyp", "lda_x",
                                            "hyb_gga_xc_b97", "gga_x_b88"};
  char keys[1024];
  for (int f = 0; f < 6; f++)
    for (int k = 0; k < 8; k++) {
      (void)snprintf(keys, sizeof keys,
                     "{basis: def2-SVP, functional: %s, reference: %s, functions: %s, grid: "
                     "{radial: 25, angular: 50, pruning: none, response: %s}}",
                     functionals[f], k & 1 ? "unrestricted" : "restricted",
                     k & 2 ? "cartesian" : "spherical", k & 4 ? "no" : "yes");
      check_case((f + k) % 2 ? H2S : WATER, keys, -1);
    }
}

/** Functions to g, of a set that is written here. */
static void check_momenta(void) {
  static const char name[] = "./test_xc_cpu_gradient.nw";
  char keys[1024];
  FILE *set = fopen(name, "w");
  check(set != NULL, "a basis set's file", 0, 1);
  if (set == NULL) return;
  fprintf(set, "BASIS \"test\" SPHERICAL\nO S\n 130.7 0.15\n 23.8 0.53\n 6.4 0.44\nO P\n 5.03 "
               "0.16\n 1.17 0.61\nO D\n 1.2 1.0\n"
               "O F\n 0.9 1.0\nO G\n 0.8 1.0\nH S\n 3.4 0.15\n 0.62 0.53\nH P\n 0.7 1.0\n"
               "H G\n 0.6 1.0\nEND\n");
  (void)fclose(set);
  for (int k = 0; k < 4; k++) {
    (void)snprintf(keys, sizeof keys,
                   "{basis: %s, functional: %s, functions: %s, grid: {radial: 25, angular: 50, "
                   "pruning: none}}",
                   name, k & 1 ? "pbe" : "svwn5", k & 2 ? "cartesian" : "spherical");
    check_case(WATER, keys, -1);
  }
  check_case(METHANOL,
             "{basis: def2-TZVP, functional: pbe0, grid: {radial: 25, angular: 50, pruning: none}}",
             2);
  (void)remove(name);
}

static void check_references(void) {
  char keys[1024];
  for (size_t r = 0; r < sizeof references / sizeof *references; r++)
    for (int response = 0; response < 2; response++) {
      if (!case_is_mine((int64_t)(2 * r) + response)) continue;
      const struct reference *of = &references[r];
      const double *truth = response ? of->moving : of->fixed;
      made m;
      (void)snprintf(keys, sizeof keys,
                     "{basis: %s, functions: %s, functional: %s, reference: %s, grid: {radial: 40, "
                     "angular: 302, rule: treutler, pruning: none, scheme: becke, adjust: "
                     "treutler, response: %s}}",
                     of->basis, of->functions, of->functional, of->reference,
                     response ? "yes" : "no");
      make(of->atoms, keys, &m);
      double *gradient = gradient_of(&m, 2, m.params.n_groups);
      const double most = largest(3 * of->n_atoms, gradient, truth);
      check(most < 1e-8, "largest difference from PySCF", most, 0);
      printf("%.1e from PySCF: %s\n", most, keys);
      tsl_free(gradient);
      clear(&m);
    }
}

/** Groups that leave out the functions that do not reach them, beside one of all. */
static void check_groups(void) {
  static const char *const groups[2] = {"", ", groups: {target: 1048576}"};
  char keys[1024];
  double *gradient[2];
  made m[2];
  for (int k = 0; k < 2; k++) {
    (void)snprintf(keys, sizeof keys, "{basis: def2-SVP, functional: pbe%s}", groups[k]);
    make(METHANOL, keys, &m[k]);
    gradient[k] = gradient_of(&m[k], 2, m[k].params.n_groups);
  }
  const double most = largest(3 * m[0].params.n_atoms, gradient[0], gradient[1]);
  check(most < 1e-8 && m[0].params.n_groups > 10 && m[1].params.n_groups == 1,
        "functions left out of groups", most, 0);
  printf("%.1e: functions left out of groups\n", most);
  for (int k = 0; k < 2; k++) tsl_free(gradient[k]), clear(&m[k]);
}

/** Levels, ways of sharing, threads, caches. */
static void check_sharing(const char *keys) {
  made m;
  make(METHANOL, keys, &m);
  double *first = gradient_of(&m, 1, m.params.n_groups);
  const int least = lowest_level();
  int64_t number = 0;
  for (int level = tsl_cpu_level(); level >= least; level--)
    for (int parallel = 0; parallel < XC_N_PARALLEL; parallel++)
      for (int threads = 1; threads <= 3; threads++) {
        if (!case_is_mine(number++)) continue;
        const char text[2] = {(char)('0' + level), 0};
        (void)setenv("TSL_SIMD", text, 1);
        params(&m)->parallel = parallel;
        params(&m)->cache = threads == 2 ? 0 : (int64_t)1 << 30;
        double *again = gradient_of(&m, threads, threads == 3 ? 5 : m.params.n_groups);
        const double most = largest(3 * m.params.n_atoms, again, first);
        check(most < 1e-11, "difference between ways of sharing", most, 0);
        tsl_free(again);
      }
  (void)unsetenv("TSL_SIMD");
  tsl_free(first);
  *params(&m) = m.params;
  params(&m)->reproducible = 1;
  for (int f = 0; f < XC_N_FIXED; f++)
    ((int32_t *)m.problem.fields[XC_IN_PRECISION].data)[1 + f] = 40;
  first = gradient_of(&m, 1, m.params.n_groups);
  for (int threads = 1; threads <= 3; threads++) {
    params(&m)->parallel = threads - 1;
    double *again = gradient_of(&m, threads, threads);
    check(memcmp(first, again, (size_t)(3 * m.params.n_atoms) * sizeof *first) == 0,
          "reproducible: the same bits", again[0], first[0]);
    tsl_free(again);
  }
  tsl_free(first);
  clear(&m);
}

/** Reproducible sums that cannot hold a gradient are refused. */
static void check_refusal(void) {
  const tsl_device device = {.kind = TSL_CPU, .threads = 1};
  tsl_worker *w = NULL;
  xc_gradient *g = NULL;
  double gradient[9] = {0, 0, 1024};
  made m;
  make(WATER, "{basis: STO-3G, functional: svwn5, reproducible: yes, grid: {preset: coarse}}", &m);
  must(xc_backend_cpu.open(&m.problem, &device, &w), "open");
  must(xc_gradient_open(w, &g), "open");
  check(xc_gradient_groups(w, g, m.units, 1, m.parts, gradient) == TSL_ERR_NUMERIC,
        "a gradient that is too large", 0, 1);
  xc_gradient_close(&g);
  xc_backend_cpu.close(&w);
  clear(&m);
}

int main(void) {
  check_partitions();
  check_functionals();
  check_momenta();
  check_references();
  check_groups();
  check_sharing("{basis: def2-SVP, functional: pbe, grid: {preset: coarse}}");
  check_sharing("{basis: def2-SVP, functional: svwn5, reference: unrestricted, grid: {preset: "
                "coarse, scheme: becke}}");
  check_refusal();
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
