/* Grids: Lebedev's rules against harmonics, weights against plain loops and PySCF, integrals. */
#include "assist.h"
#include "random.h"
#include "xc_grid.h"
#include "xc_grid_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static void assert_says(tsl_err err, tsl_err wanted, const char *part) {
  assert_int_equal(err, wanted);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, tsl_err_message());
}

static xc_grid_rule preset(const char *name) {
  xc_grid_rule rule;
  assert_int_equal(xc_grid_preset(name, &rule), TSL_OK);
  return rule;
}

/* ----------------------------------------------------------------- spheres */

typedef struct sphere {
  int n;
  double x[XC_LEBEDEV_MAX], y[XC_LEBEDEV_MAX], z[XC_LEBEDEV_MAX], w[XC_LEBEDEV_MAX];
} sphere;

static void unfold(const xc_lebedev *rule, sphere *s) {
  s->n = rule->points;
  xc_lebedev_points(rule, s->x, s->y, s->z, s->w);
}

/** Largest |sum_i w_i Y_lm(i)| over m by degree, 0 < l <= most; Y orthonormal and real. */
static void worst_harmonics(const sphere *s, int most, double *worst) {
  for (int l = 0; l <= most; l++) worst[l] = 0;
  for (int m = 0; m <= most; m++) {
    double sum[80][2] = {{0}};
    for (int i = 0; i < s->n; i++) {
      double re = 1, im = 0, q = sqrt((m > 0 ? 2 : 1) / (4 * pi)), before = 0;
      for (int k = 1; k <= m; k++) {
        const double old = re;
        q *= sqrt((2 * k + 1.0) / (2 * k));
        re = old * s->x[i] - im * s->y[i];
        im = old * s->y[i] + im * s->x[i];
      }
      for (int l = m; l <= most; l++) { /* normalised Legendre functions by degree */
        const double next = l + 1, j = l;
        sum[l][0] += s->w[i] * q * re;
        sum[l][1] += s->w[i] * q * im;
        const double a = sqrt((4 * next * next - 1) / (next * next - (double)m * m));
        const double b = sqrt((j * j - (double)m * m) / (4 * j * j - 1 + (l == 0)));
        const double kept = q;
        q = a * (s->z[i] * q - (l > m ? b * before : 0));
        before = kept;
      }
    }
    for (int l = m; l <= most; l++)
      worst[l] = fmax(worst[l], 4 * pi * fmax(fabs(sum[l][0]), fabs(sum[l][1])));
  }
}

static void test_lebedev_exact(void **state) {
  (void)state;
  static const int wanted[] = {6,   14,  26,  38,  50,  74,  86,  110, 116, 146,  170,
                               194, 230, 266, 302, 350, 434, 590, 770, 974, 1202, 1454};
  int64_t n = 0;
  sphere *s = malloc(sizeof *s);
  assert_non_null(s);
  for (const xc_lebedev *rule = xc_lebedevs; rule->points > 0; rule++, n++) {
    double beyond = 0, sum = 0, least = 1, worst[80];
    assert_int_equal(rule->points, wanted[n]);
    unfold(rule, s);
    for (int i = 0; i < s->n; i++) {
      sum += s->w[i];
      least = fmin(least, s->w[i]);
      const double r2 = s->x[i] * s->x[i] + s->y[i] * s->y[i] + s->z[i] * s->z[i];
      assert_true(fabs(r2 - 1) < 1e-15 * 4);
    }
    assert_true(fabs(sum - 1) < 1e-14);
    const bool negative = rule->points == 74 || rule->points == 230 || rule->points == 266;
    assert_true(negative ? least < 0 : least > 0);
    worst_harmonics(s, rule->order + 7, worst);
    assert_true(fabs(worst[0] - sqrt(4 * pi)) < 1e-13);
    for (int l = 1; l <= rule->order; l++)
      if (!(worst[l] < 1e-12)) fail_msg("%d points, degree %d", rule->points, l);
    for (int l = rule->order + 1; l <= rule->order + 7; l++) beyond = fmax(beyond, worst[l]);
    assert_true(beyond > 1e-3); /* the check can fail, and the order is not too low */
  }
  assert_int_equal(n, LENGTH(wanted));
  free(s);
}

static void test_lebedev_distinct(void **state) {
  (void)state;
  sphere *s = malloc(sizeof *s);
  assert_non_null(s);
  for (const xc_lebedev *rule = xc_lebedevs; rule->points > 0; rule++) {
    unfold(rule, s);
    for (int i = 0; i < s->n; i++)
      for (int j = 0; j < i; j++)
        assert_false(fabs(s->x[i] - s->x[j]) < 1e-6 && fabs(s->y[i] - s->y[j]) < 1e-6 &&
                     fabs(s->z[i] - s->z[j]) < 1e-6);
  }
  free(s);
}

static void test_lebedev_find(void **state) {
  (void)state;
  const xc_lebedev *rule = NULL;
  assert_int_equal(xc_lebedev_find(302, &rule), TSL_OK);
  assert_int_equal(rule->order, 29);
  assert_int_equal(xc_lebedev_below(rule, 1)->points, 266);
  assert_int_equal(xc_lebedev_find(146, &rule), TSL_OK);
  assert_int_equal(xc_lebedev_below(rule, 1)->points, 110); /* not 116 */
  assert_null(xc_lebedev_below(xc_lebedevs, 1));
  assert_says(xc_lebedev_find(300, &rule), TSL_ERR_INPUT, "nearest have 266 and 302");
  assert_null(rule);
  assert_says(xc_lebedev_find(5810, &rule), TSL_ERR_INPUT, "nearest has 1454");
  assert_says(xc_lebedev_find(0, &rule), TSL_ERR_INPUT, "nearest has 6;");
  assert_says(xc_lebedev_find(-1, &rule), TSL_ERR_INPUT, "rules: 6, 14, 26");
}

/* ------------------------------------------------------------------ radial */

/** Gaussians of every width that a basis needs: integral r^2 exp(-a r^2) = sqrt(pi)/4 a^-1.5. */
static void test_radial(void **state) {
  (void)state;
  static const int elements[] = {1, 2, 6, 8, 11, 26, 36, 54};
  double r[100], w[100];
  for (int rule = 0; rule < XC_N_RADIAL; rule++)
    for (int64_t e = 0; e < LENGTH(elements); e++) {
      xc_radial_shells((xc_radial)rule, elements[e], 100, r, w);
      for (int i = 0; i < 100; i++) assert_true(w[i] > 0 && r[i] > (i > 0 ? r[i - 1] : 0));
      for (double a = 0.1; a < 1000; a *= 3) {
        double sum = 0;
        for (int i = 0; i < 100; i++) sum += w[i] * exp(-a * r[i] * r[i]);
        const double exact = sqrt(pi) / 4 / (a * sqrt(a));
        if (!(fabs(sum / exact - 1) < 1e-6))
          fail_msg("rule %d, element %d, exponent %g: %g", rule, elements[e], a, sum / exact - 1);
      }
    }
}

/** M4 and Becke's map by their textbook forms. */
static void test_radial_formula(void **state) {
  (void)state;
  enum { N = 20 };
  double r[N], w[N], s[N], v[N];
  xc_radial_shells(XC_RADIAL_TREUTLER, 7, N, r, w);
  xc_radial_shells(XC_RADIAL_SLATER, 1, N, s, v);
  for (int i = 0; i < N; i++) {
    const double x = cos(pi * (N - i) / (N + 1)), weight = pi / (N + 1) * sqrt(1 - x * x);
    const double m4 = 0.9 / log(2) * pow(1 + x, 0.6) * log(2 / (1 - x));
    const double becke = 0.35 / XC_BOHR / 2 * (1 + x) / (1 - x);
    const double slope = 0.35 / XC_BOHR / ((1 - x) * (1 - x));
    assert_true(fabs(r[i] / m4 - 1) < 1e-12);
    assert_true(fabs(s[i] / becke - 1) < 1e-12);
    assert_true(fabs(v[i] / (weight * slope * becke * becke) - 1) < 1e-12);
  }
}

/* ----------------------------------------------------------------- presets */

static void assert_sizes(const char *name, int z, int64_t n_radial, int64_t n_angular) {
  const xc_grid_rule rule = preset(name);
  int64_t shells, points;
  xc_grid_sizes(&rule, z, &shells, &points);
  assert_int_equal(shells, n_radial);
  assert_int_equal(points, n_angular);
}

static void test_presets(void **state) {
  (void)state;
  for (int i = 0; xc_preset_words[i] != NULL; i++) {
    const xc_grid_rule rule = preset(xc_preset_words[i]);
    assert_int_equal(xc_grid_check(&rule), TSL_OK);
  }
  assert_sizes("coarse", 8, 50, 194);
  assert_sizes("fine", 1, 75, 302);
  assert_sizes("ultrafine", 54, 99, 590);
  assert_sizes("default", 2, 50, 302);
  assert_sizes("default", 10, 75, 302);
  assert_sizes("default", 11, 80, 434);
  assert_sizes("default", 36, 90, 434);
  assert_sizes("default", 37, 95, 434);
  assert_sizes("lio0", 1, 20, 50);
  assert_sizes("lio0", 8, 25, 50);
  assert_sizes("lio1", 17, 40, 116);
  assert_sizes("lio2", 26, 45, 194);
  assert_sizes("lio2", 54, 50, 194);
  xc_grid_rule rule;
  assert_says(xc_grid_preset("finee", &rule), TSL_ERR_INPUT, "did you mean 'fine'");
  assert_says(xc_grid_preset("", &rule), TSL_ERR_INPUT, "grids: coarse, default, fine");
}

static void refuse(void (*spoil)(xc_grid_rule *), const char *part) {
  xc_grid_rule rule = preset("fine");
  xc_grid grid;
  spoil(&rule);
  assert_says(xc_grid_make(&rule, water_atoms, 3, &grid), TSL_ERR_INPUT, part);
  assert_null(grid.block);
}

static void no_shells(xc_grid_rule *rule) {
  rule->n_radial = 0;
}
static void many_shells(xc_grid_rule *rule) {
  rule->n_radial = INT64_MAX;
}
static void odd_sphere(xc_grid_rule *rule) {
  rule->n_angular = 301;
}
static void seed_sphere(xc_grid_rule *rule) {
  rule->n_angular = 116;
}
static void no_cut(xc_grid_rule *rule) {
  rule->cut = NAN;
}
static void bad_scheme(xc_grid_rule *rule) {
  rule->scheme = XC_N_SCHEMES;
}

static void test_bad_rules(void **state) {
  (void)state;
  refuse(no_shells, "0 radial shells; allowed are 1 to 1000");
  refuse(many_shells, "radial shells; allowed are 1 to 1000");
  refuse(odd_sphere, "nearest have 266 and 302");
  refuse(seed_sphere, "pruning nwchem");
  refuse(no_cut, "cut is nan");
  refuse(bad_scheme, "scheme is number 2");
}

static void test_bad_atoms(void **state) {
  (void)state;
  const xc_grid_rule rule = preset("coarse"), lio = preset("lio1");
  xc_grid grid;
  xc_atom atoms[3];
  memcpy(atoms, water_atoms, sizeof atoms);
  atoms[1].z = 87;
  assert_says(xc_grid_make(&rule, atoms, 3, &grid), TSL_ERR_INPUT, "atom 2: there are no grids");
  atoms[1].z = 55;
  assert_says(xc_grid_make(&lio, atoms, 3, &grid), TSL_ERR_INPUT, "atom 2: the Slater radii");
  atoms[1].z = 0;
  assert_says(xc_grid_make(&rule, atoms, 3, &grid), TSL_ERR_INPUT, "atom 2: there are no grids");
  atoms[1] = water_atoms[1];
  atoms[2].at[1] = NAN;
  assert_says(xc_grid_make(&rule, atoms, 3, &grid), TSL_ERR_INPUT, "atom 3: coordinate y");
  atoms[2] = atoms[1];
  assert_says(xc_grid_make(&rule, atoms, 3, &grid), TSL_ERR_INPUT, "atoms 2 and 3 are 0 Angstrom");
  assert_int_equal(xc_grid_make(&rule, atoms, 0, &grid), TSL_OK);
  assert_int_equal(grid.n, 0);
  xc_grid_clear(&grid);
}

/* ------------------------------------------------------------------- PySCF */

static double probe(const xc_grid *g, int64_t i) {
  const double x = g->x[i], y = g->y[i], z = g->z[i];
  return exp(-0.1 * (x * x + y * y + z * z)) * (1 + 0.3 * x - 0.2 * y + 0.1 * z + 0.05 * x * y);
}

/** The point nearest to a place. */
static int64_t nearest(const xc_grid *g, const double at[3]) {
  double best = INFINITY;
  int64_t found = 0;
  for (int64_t i = 0; i < g->n; i++) {
    const double x = g->x[i] - at[0], y = g->y[i] - at[1], z = g->z[i] - at[2];
    const double d2 = x * x + y * y + z * z;
    if (d2 < best) best = d2, found = i;
  }
  return found;
}

/** Position and weight of a point as PySCF has them: weights to 1e-12 of the point's volume, the
 *  weight before the partition (a small share is a difference of numbers near 1). */
static void assert_sample(const xc_grid *grid, const xc_grid *volumes, const double sample[4]) {
  const int64_t i = nearest(grid, sample), v = nearest(volumes, sample);
  const double size = 1 + fabs(sample[0]) + fabs(sample[1]) + fabs(sample[2]);
  assert_true(fabs(grid->x[i] - sample[0]) < 1e-12 * size);
  assert_true(fabs(grid->y[i] - sample[1]) < 1e-12 * size);
  assert_true(fabs(grid->z[i] - sample[2]) < 1e-12 * size);
  if (!(fabs(grid->w[i] - sample[3]) <= 1e-12 * fabs(volumes->w[v])))
    fail_msg("weight %.17g, not %.17g, at %g %g %g", grid->w[i], sample[3], sample[0], sample[1],
             sample[2]);
}

static void test_pyscf(void **state) {
  (void)state;
  for (int64_t c = 0; c < LENGTH(grid_cases); c++) {
    const grid_case *one = &grid_cases[c];
    xc_grid grid, volumes;
    double sum = 0;
    assert_int_equal(xc_grid_make(&one->rule, one->atoms, one->n_atoms, &grid), TSL_OK);
    assert_int_equal(xc_grid_points(&one->rule, one->atoms, one->n_atoms, &volumes), TSL_OK);
    assert_int_equal(grid.n, one->points);
    assert_int_equal(grid.n_made, volumes.n);
    for (int64_t i = 0; i < grid.n; i++) sum += grid.w[i] * probe(&grid, i);
    if (!(fabs(sum / one->probe - 1) < 1e-12))
      fail_msg("case %d: sum of the probe %.17g, not %.17g", (int)c, sum, one->probe);
    for (int s = 0; s < SAMPLES; s++) assert_sample(&grid, &volumes, one->samples[s]);
    xc_grid_clear(&grid);
    xc_grid_clear(&volumes);
  }
}

/* ----------------------------------------------------------------- weights */

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

static double plain_radius(int32_t adjust, int z) {
  if (adjust == XC_ADJUST_NONE) return 1;
  if (adjust == XC_ADJUST_SLATER) return xc_slater_radius(z);
  return adjust == XC_ADJUST_BRAGG ? xc_bragg_radius(z) : sqrt(xc_bragg_radius(z));
}

/** s(nu_ij) straight from the papers. */
static double plain_step(const xc_grid_rule *rule, const xc_atom *i, const xc_atom *j,
                         const double at[3]) {
  const double mu = (distance(at, i->at) - distance(at, j->at)) / distance(i->at, j->at);
  const double chi = plain_radius(rule->adjust, i->z) / plain_radius(rule->adjust, j->z);
  const double u = (chi - 1) / (chi + 1), whole = u / (u * u - 1);
  const double a =
      rule->adjust == XC_ADJUST_SLATER ? whole : fmax(-0.5, fmin(0.5, whole)); /* as LIO has it */
  double t = mu + a * (1 - mu * mu);
  if (rule->scheme == XC_BECKE) {
    for (int k = 0; k < 3; k++) t = 1.5 * t - 0.5 * t * t * t;
    return 0.5 * (1 - t);
  }
  if (t <= -0.64) return 1;
  if (t >= 0.64) return 0;
  t /= 0.64;
  return 0.5 * (1 - (35 * t - 35 * pow(t, 3) + 21 * pow(t, 5) - 5 * pow(t, 7)) / 16);
}

static double plain_share(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n, int64_t owner,
                          const double at[3]) {
  double sum = 0, own = 0;
  for (int64_t i = 0; i < n; i++) {
    double cell = 1;
    for (int64_t j = 0; j < n; j++)
      if (j != i) cell *= plain_step(rule, &atoms[i], &atoms[j], at);
    sum += cell;
    if (i == owner) own = cell;
  }
  return own / sum;
}

/* Radii that differ by up to 6.7 times: the shift a_ij is far beyond 1/2. */
static const xc_atom uneven_atoms[] = {
    {.z = 26, .at = {0.1, 0.2, 0.3}},   {.z = 1, .at = {2.9, 0.3, -0.4}},
    {.z = 15, .at = {-3.1, 2.2, 0.7}},  {.z = 1, .at = {-4.2, 4.1, 2.0}},
    {.z = 37, .at = {0.5, -5.5, -2.5}}, {.z = 8, .at = {0.2, -1.1, 3.6}}};

/** Screened, sorted, vectorised weights against all pairs, and ranges against the whole. */
static void check_weights(const xc_atom *atoms, int64_t n_atoms) {
  xc_grid_rule rule = preset("coarse");
  rule.n_radial = 20, rule.n_angular = 26, rule.pruning = XC_PRUNE_NONE;
  for (int kind = 0; kind < XC_N_SCHEMES * XC_N_ADJUST; kind++) {
    rule.scheme = kind / XC_N_ADJUST, rule.adjust = kind % XC_N_ADJUST;
    xc_grid grid, whole;
    xc_partition *partition = NULL;
    assert_int_equal(xc_grid_points(&rule, atoms, n_atoms, &grid), TSL_OK);
    assert_int_equal(xc_grid_points(&rule, atoms, n_atoms, &whole), TSL_OK);
    assert_int_equal(xc_partition_create(&rule, atoms, grid.n_atoms, &partition), TSL_OK);
    for (int64_t lo = 0; lo < grid.n; lo += 777) {
      const int64_t hi = lo + 777 < grid.n ? lo + 777 : grid.n;
      assert_int_equal(xc_partition_weights(partition, &grid, lo, hi), TSL_OK);
    }
    for (int64_t i = 0; i < grid.n; i++) {
      const double at[3] = {grid.x[i], grid.y[i], grid.z[i]};
      const double share = plain_share(&rule, atoms, grid.n_atoms, grid.atom[i], at);
      if (!(fabs(grid.w[i] - whole.w[i] * share) <= 1e-13 * fabs(whole.w[i]) + rule.cut))
        fail_msg("scheme %d %d: %g, not %g", rule.scheme, rule.adjust, grid.w[i] / whole.w[i],
                 share);
    }
    assert_int_equal(xc_partition_weights(partition, &whole, 0, whole.n), TSL_OK);
    assert_memory_equal(grid.w, whole.w, (size_t)grid.n * sizeof(double));
    assert_int_equal(xc_partition_weights(partition, &grid, 5, grid.n + 1), TSL_ERR_INTERNAL);
    xc_partition_destroy(&partition);
    xc_grid_clear(&grid);
    xc_grid_clear(&whole);
  }
}

static void test_plain_weights(void **state) {
  (void)state;
  check_weights(vitamin_c_atoms, LENGTH(vitamin_c_atoms));
  check_weights(uneven_atoms, LENGTH(uneven_atoms));
}

/** The shares of all atoms of any point sum to 1. */
static void test_partition_of_unity(void **state) {
  (void)state;
  enum { POINTS = 200 };
  uint64_t seed = 11;
  xc_grid_rule rule = preset("coarse");
  rule.n_radial = POINTS, rule.n_angular = 6, rule.pruning = XC_PRUNE_NONE, rule.cut = 0;
  for (int kind = 0; kind < XC_N_SCHEMES * XC_N_ADJUST; kind++) {
    rule.scheme = kind / XC_N_ADJUST, rule.adjust = kind % XC_N_ADJUST;
    const int64_t n = LENGTH(benzene_atoms);
    double sum[POINTS] = {0};
    xc_grid grid;
    xc_partition *partition = NULL;
    assert_int_equal(xc_grid_points(&rule, benzene_atoms, n, &grid), TSL_OK);
    assert_int_equal(xc_partition_create(&rule, benzene_atoms, n, &partition), TSL_OK);
    for (int64_t p = 0; p < POINTS; p++) {
      double at[3];
      for (int k = 0; k < 3; k++) at[k] = (random_unit(&seed) - 0.5) * (p < 20 ? 60 : 14);
      if (p < n) memcpy(at, benzene_atoms[p].at, sizeof at);
      for (int64_t a = 0; a < n; a++) {
        const int64_t i = a * POINTS + p;
        grid.x[i] = at[0], grid.y[i] = at[1], grid.z[i] = at[2], grid.w[i] = 1;
        grid.atom[i] = (int32_t)a;
      }
    }
    assert_int_equal(xc_partition_weights(partition, &grid, 0, n * POINTS), TSL_OK);
    for (int64_t i = 0; i < n * POINTS; i++) sum[i % POINTS] += grid.w[i];
    for (int p = 0; p < POINTS; p++) assert_true(fabs(sum[p] - 1) < 1e-13);
    xc_partition_destroy(&partition);
    xc_grid_clear(&grid);
  }
}

/* --------------------------------------------------------------- integrals */

/** Gaussians at the nuclei: (pi/a)^1.5. */
static void test_gaussians(void **state) {
  (void)state;
  static const double exponents[] = {0.15, 0.5, 2, 10, 300};
  const int64_t n = LENGTH(vitamin_c_atoms);
  const xc_grid_rule rule = preset("default");
  xc_grid grid;
  assert_int_equal(xc_grid_make(&rule, vitamin_c_atoms, n, &grid), TSL_OK);
  assert_true(grid.n < grid.n_made);
  for (int64_t i = 0; i < grid.n; i++) assert_true(fabs(grid.w[i]) >= rule.cut);
  for (int64_t e = 0; e < LENGTH(exponents); e++)
    for (int64_t a = 0; a < n; a += 3) {
      double sum = 0;
      for (int64_t i = 0; i < grid.n; i++) {
        const double at[3] = {grid.x[i], grid.y[i], grid.z[i]};
        const double r = distance(at, vitamin_c_atoms[a].at);
        sum += grid.w[i] * exp(-exponents[e] * r * r);
      }
      const double exact = pow(pi / exponents[e], 1.5);
      if (!(fabs(sum / exact - 1) < 1e-4))
        fail_msg("atom %d, exponent %g: %g", (int)a, exponents[e], sum / exact - 1);
    }
  xc_grid_clear(&grid);
}

/** Values of the STO-3G functions of an atom at a point; returns their number. */
static int functions_of(const xc_atom *atom, const double at[3], double *value) {
  const double d[3] = {at[0] - atom->at[0], at[1] - atom->at[1], at[2] - atom->at[2]};
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  int n = 0;
  for (int64_t s = 0; s < LENGTH(sto_3g); s++) {
    if (sto_3g[s].z != atom->z) continue;
    double radial = 0;
    for (int k = 0; k < sto_3g[s].n; k++)
      radial += sto_3g[s].coefficient[k] * exp(-sto_3g[s].exponent[k] * r2);
    if (sto_3g[s].l == 0)
      value[n++] = radial;
    else
      for (int k = 0; k < 3; k++) value[n++] = radial * d[k];
  }
  return n;
}

static double count_electrons(const xc_grid *grid, const xc_atom *atoms, int64_t n_atoms,
                              const double *density) {
  double electrons = 0, value[64];
  for (int64_t i = 0; i < grid->n; i++) {
    const double at[3] = {grid->x[i], grid->y[i], grid->z[i]};
    double rho = 0;
    int n = 0;
    for (int64_t a = 0; a < n_atoms; a++) n += functions_of(&atoms[a], at, value + n);
    for (int p = 0; p < n; p++)
      for (int q = 0; q <= p; q++)
        rho += (p == q ? 1 : 2) * density[p * (p + 1) / 2 + q] * value[p] * value[q];
    electrons += grid->w[i] * rho;
  }
  return electrons;
}

static void assert_electrons(const char *name, const xc_atom *atoms, int64_t n_atoms,
                             const double *density, double exact, double per_atom) {
  const xc_grid_rule rule = preset(name);
  xc_grid grid;
  assert_int_equal(xc_grid_make(&rule, atoms, n_atoms, &grid), TSL_OK);
  const double error = count_electrons(&grid, atoms, n_atoms, density) - exact;
  if (!(fabs(error) < per_atom * (double)n_atoms))
    fail_msg("%s: %.3g electrons an atom too many", name, error / (double)n_atoms);
  xc_grid_clear(&grid);
}

static void test_electrons(void **state) {
  (void)state;
  assert_int_equal(LENGTH(water_density), 7 * 8 / 2);
  assert_int_equal(LENGTH(benzene_density), 36 * 37 / 2);
  assert_electrons("coarse", water_atoms, 3, water_density, 10, 1e-5);
  assert_electrons("default", water_atoms, 3, water_density, 10, 2e-6);
  assert_electrons("fine", water_atoms, 3, water_density, 10, 2e-6);
  assert_electrons("ultrafine", water_atoms, 3, water_density, 10, 1e-7);
  assert_electrons("lio0", water_atoms, 3, water_density, 10, 2e-3);
  assert_electrons("lio1", water_atoms, 3, water_density, 10, 2e-4);
  assert_electrons("lio2", water_atoms, 3, water_density, 10, 1e-4);
  assert_electrons("default", benzene_atoms, 12, benzene_density, 42, 1e-5);
}

/* --------------------------------------------------------------- assistance */

/* What a device does: takes a step, lacks the memory, fails. */
static enum { TAKES, LACKS, FAILS } device_does;
static int asked;
static char device;

static tsl_err take_weights(const struct tsl_device *mine, void *arguments, bool *taken) {
  tsl_err err = TSL_OK;
  const xc_weighing *w = arguments;
  asked++;
  assert_ptr_equal(mine, &device);
  *taken = device_does == TAKES;
  for (int64_t i = 0; i < w->grid->n && *taken; i++) w->grid->w[i] = i % 2;
  if (device_does == FAILS) TSL_FAIL(TSL_ERR_DEVICE, "the device fails");
done:
  return err;
}

/** Large grids are offered to the device of this thread, and only what it takes is left to it. */
static void test_assistance(void **state) {
  (void)state;
  static const tsl_assistant table[] = {{"xc.others", NULL}, {"xc.weights", take_weights}, {NULL}};
  const struct tsl_device *mine = (const struct tsl_device *)&device;
  const xc_grid_rule rule = preset("fine");
  xc_grid plain, grid;
  enum { ATOMS = 64 };
  xc_atom atoms[ATOMS];
  for (int a = 0; a < ATOMS; a++)
    atoms[a] = (xc_atom){.z = 6, .at = {3.0 * (a % 4), 3.0 * (a / 4 % 4), 3.0 * (a / 16)}};
  asked = 0;
  assert_int_equal(xc_grid_make(&rule, atoms, ATOMS, &plain), TSL_OK);
  tsl_assist_open(table, mine);
  assert_int_equal(xc_grid_make(&rule, water_atoms, 3, &grid), TSL_OK);
  xc_grid_clear(&grid);
  assert_int_equal(asked, 0);
  device_does = LACKS;
  assert_int_equal(xc_grid_make(&rule, atoms, ATOMS, &grid), TSL_OK);
  assert_int_equal(grid.n, plain.n);
  assert_memory_equal(grid.w, plain.w, (size_t)plain.n * sizeof(double));
  xc_grid_clear(&grid);
  device_does = FAILS;
  assert_says(xc_grid_make(&rule, atoms, ATOMS, &grid), TSL_ERR_DEVICE, "the device fails");
  device_does = TAKES;
  assert_int_equal(xc_grid_make(&rule, atoms, ATOMS, &grid), TSL_OK);
  assert_int_equal(grid.n, grid.n_made / 2);
  for (int64_t i = 0; i < grid.n; i++) assert_true(grid.w[i] == 1);
  tsl_assist_open(NULL, NULL);
  assert_int_equal(asked, 3);
  xc_grid_clear(&grid);
  xc_grid_clear(&plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lebedev_exact),
      cmocka_unit_test(test_lebedev_distinct),
      cmocka_unit_test(test_lebedev_find),
      cmocka_unit_test(test_radial),
      cmocka_unit_test(test_radial_formula),
      cmocka_unit_test(test_presets),
      cmocka_unit_test(test_bad_rules),
      cmocka_unit_test(test_bad_atoms),
      cmocka_unit_test(test_pyscf),
      cmocka_unit_test(test_plain_weights),
      cmocka_unit_test(test_partition_of_unity),
      cmocka_unit_test(test_gaussians),
      cmocka_unit_test(test_electrons),
      cmocka_unit_test(test_assistance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
