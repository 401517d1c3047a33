/* Groups: every point once, every shell that reaches it, balance, costs, statistics. */
#include "random.h"
#include "xc_grid_reference.h"
#include "xc_groups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static void assert_says(tsl_err err, const char *part) {
  assert_int_equal(err, TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, tsl_err_message());
}

/* ---------------------------------------------------------------- vitamin C */

static xc_shell shells[200];

/** Vitamin C in def2-SVP: 96 shells, 208 functions. */
static xc_basis vitamin_basis(void) {
  xc_basis basis = {.shells = shells};
  for (int32_t a = 0; a < LENGTH(vitamin_c_atoms); a++)
    for (int64_t s = 0; s < LENGTH(def2_svp); s++) {
      const element_shell *from = &def2_svp[s];
      if (from->z != vitamin_c_atoms[a].z) continue;
      xc_shell *to = &shells[basis.n_shells++];
      *to = (xc_shell){.atom = a,
                       .l = from->l,
                       .spherical = 1,
                       .n = from->n,
                       .first = basis.n,
                       .radius = from->radius};
      memcpy(to->at, vitamin_c_atoms[a].at, sizeof to->at);
      memcpy(to->exponent, from->exponent, (size_t)from->n * sizeof(double));
      memcpy(to->coefficient, from->coefficient, (size_t)from->n * sizeof(double));
      basis.n += xc_shell_size(to);
    }
  assert_int_equal(basis.n_shells, 96);
  assert_int_equal(basis.n, 208);
  return basis;
}

static xc_grid vitamin_grid(const char *name) {
  xc_grid_rule rule;
  xc_grid grid;
  assert_int_equal(xc_grid_preset(name, &rule), TSL_OK);
  assert_int_equal(xc_grid_make(&rule, vitamin_c_atoms, LENGTH(vitamin_c_atoms), &grid), TSL_OK);
  return grid;
}

/** The seed's own way: its test of exponents. */
static xc_groups_rule seed_rule(void) {
  xc_groups_rule rule = xc_groups_standard();
  rule.grouping = XC_CUBES;
  rule.reach = XC_REACH_EXPONENT;
  return rule;
}

/* ------------------------------------------------------------------ checks */

/** A number for a point, whatever its place in the grid. */
static double mark(const xc_grid *g, int64_t i) {
  return g->w[i] * (1 + sin(g->x[i]) + 0.1 * cos(3 * g->y[i]) - sin(g->z[i])) + g->atom[i] +
         0.01 * g->shell[i];
}

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double *marks(const xc_grid *g) {
  double *list = malloc((size_t)g->n * sizeof *list);
  assert_non_null(list);
  for (int64_t i = 0; i < g->n; i++) list[i] = mark(g, i);
  qsort(list, (size_t)g->n, sizeof *list, rising);
  return list;
}

/** The groups are the grid: ranges follow one another, boxes are tight. */
static void assert_ranges(const xc_grid *g, const xc_groups *groups) {
  int64_t next = 0;
  for (int64_t k = 0; k < groups->n; k++) {
    const xc_group *group = &groups->list[k];
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    assert_int_equal(group->first, next);
    assert_true(group->n > 0);
    next += group->n;
    for (int64_t i = group->first; i < next; i++) {
      const double at[3] = {g->x[i], g->y[i], g->z[i]};
      for (int d = 0; d < 3; d++) lo[d] = fmin(lo[d], at[d]), hi[d] = fmax(hi[d], at[d]);
    }
    assert_memory_equal(lo, group->lo, sizeof lo);
    assert_memory_equal(hi, group->hi, sizeof hi);
  }
  assert_int_equal(next, g->n);
}

/** Distance of the nearest of a group's points from a shell. */
static double nearest(const xc_grid *g, const xc_group *group, const xc_shell *shell) {
  double best = INFINITY;
  for (int64_t i = group->first; i < group->first + group->n; i++) {
    const double x = g->x[i] - shell->at[0], y = g->y[i] - shell->at[1], z = g->z[i] - shell->at[2];
    best = fmin(best, sqrt(x * x + y * y + z * z));
  }
  return best;
}

/** Every shell that reaches a point is listed; what is listed is ascending and counted. */
static void assert_shells(const xc_groups_rule *rule, const xc_basis *basis, const xc_grid *g,
                          const xc_groups *groups) {
  int64_t listed = 0, needed = 0, end = 0;
  for (int64_t k = 0; k < groups->n; k++) {
    const xc_group *group = &groups->list[k];
    const int32_t *list = groups->shells + group->shells;
    int64_t functions = 0;
    int32_t at = 0;
    end = group->shells + group->n_shells;
    assert_true(group->shells >= 0 && end <= groups->n_shells);
    for (int32_t s = 0; s < basis->n_shells; s++) {
      const bool in = at < group->n_shells && list[at] == s;
      const bool reaches =
          nearest(g, group, &basis->shells[s]) <= xc_groups_reach(rule, &basis->shells[s]);
      assert_true(in || !reaches);
      needed += reaches;
      if (in) at++, functions += xc_shell_size(&basis->shells[s]);
    }
    assert_int_equal(at, group->n_shells);
    assert_int_equal(functions, group->functions);
    listed += group->n_shells;
  }
  if (rule->grouping == XC_KD) assert_true((double)listed < 1.3 * (double)needed); /* boxes fit */
}

static void assert_groups(const xc_groups_rule *rule, const char *name) {
  const xc_basis basis = vitamin_basis();
  xc_grid grid = vitamin_grid(name);
  xc_groups groups;
  double *before = marks(&grid);
  const int64_t n = grid.n;
  assert_int_equal(xc_groups_make(rule, &basis, &grid, &groups), TSL_OK);
  assert_int_equal(grid.n + groups.unreached, n);
  double *after = marks(&grid);
  for (int64_t i = 0, j = 0; i < grid.n; i++, j++) { /* after is a part of before */
    while (j < n && before[j] != after[i]) j++;
    assert_true(j < n);
  }
  assert_ranges(&grid, &groups);
  assert_shells(rule, &basis, &grid, &groups);
  free(before);
  free(after);
  xc_groups_clear(&groups);
  xc_grid_clear(&grid);
}

/* ------------------------------------------------------------------- tests */

static void test_kd_covers(void **state) {
  (void)state;
  static const int64_t targets[] = {7, 100, 512, 4096, 1000000};
  for (int64_t t = 0; t < LENGTH(targets); t++) {
    xc_groups_rule rule = xc_groups_standard();
    rule.target = targets[t];
    assert_groups(&rule, t < 2 ? "lio0" : "lio1");
  }
}

static void test_cubes_cover(void **state) {
  (void)state;
  xc_groups_rule rule = xc_groups_standard();
  rule.grouping = XC_CUBES;
  for (double side = 3; side < 20; side *= 2) {
    rule.side = side;
    assert_groups(&rule, "lio1");
  }
  rule.least = 100;
  rule.spheres = 0.25;
  assert_groups(&rule, "lio1");
  rule = seed_rule();
  assert_groups(&rule, "lio1");
  rule.spheres = 1;
  assert_groups(&rule, "lio0");
  rule.spheres = 0;
  assert_groups(&rule, "lio0");
}

/** All groups of kd but one have the same number of points, whole vectors of 32. */
static void test_kd_sizes(void **state) {
  (void)state;
  const xc_basis basis = vitamin_basis();
  static const int64_t targets[] = {64, 500, 512, 2048};
  for (int64_t t = 0; t < LENGTH(targets); t++) {
    xc_grid grid = vitamin_grid("lio2");
    xc_groups_rule rule = xc_groups_standard();
    xc_groups groups;
    int64_t other = 0;
    rule.target = targets[t];
    assert_int_equal(xc_groups_make(&rule, &basis, &grid, &groups), TSL_OK);
    for (int64_t k = 0; k < groups.n; k++) {
      assert_true(groups.list[k].n <= targets[t]);
      if (groups.list[k].n != groups.list[0].n) other++;
    }
    assert_true(other <= 1);
    assert_true(targets[t] == 500 || groups.list[0].n % 32 == 0);
    assert_true(groups.n * targets[t] < grid.n + groups.unreached + 2 * groups.n * 32);
    xc_groups_clear(&groups);
    xc_grid_clear(&grid);
  }
}

/** Spheres hold the inner shells of one atom, cubes are no larger than their side. */
static void test_cubes_shape(void **state) {
  (void)state;
  const xc_basis basis = vitamin_basis();
  xc_grid grid = vitamin_grid("lio2");
  xc_groups_rule rule = xc_groups_standard();
  xc_groups groups;
  int64_t spheres = 0;
  rule.grouping = XC_CUBES;
  assert_int_equal(xc_groups_make(&rule, &basis, &grid, &groups), TSL_OK);
  for (int64_t k = 0; k < groups.n; k++) {
    const xc_group *group = &groups.list[k];
    const bool sphere = group->kind == XC_GROUP_SPHERE;
    spheres += sphere;
    for (int64_t i = group->first; i < group->first + group->n; i++) {
      const double inner = ceil(0.6 * grid.shells[grid.atom[i]]);
      assert_int_equal(grid.shell[i] < inner, sphere);
      if (sphere) assert_int_equal(grid.atom[i], grid.atom[group->first]);
    }
    for (int d = 0; d < 3 && !sphere; d++) assert_true(group->hi[d] - group->lo[d] <= 8 + 1e-9);
  }
  assert_int_equal(spheres, LENGTH(vitamin_c_atoms));
  xc_groups_clear(&groups);
  xc_grid_clear(&grid);
}

static void test_cubes_least(void **state) {
  (void)state;
  const xc_basis basis = vitamin_basis();
  xc_grid grid = vitamin_grid("lio1");
  xc_groups_rule rule = xc_groups_standard();
  xc_groups groups;
  int64_t few = 0;
  rule.grouping = XC_CUBES;
  rule.least = 200;
  for (int64_t i = 0; i < basis.n_shells; i++) shells[i].radius = 1e6; /* no group leaves */
  assert_int_equal(xc_groups_make(&rule, &basis, &grid, &groups), TSL_OK);
  for (int64_t k = 0; k < groups.n; k++)
    few += groups.list[k].kind == XC_GROUP_CUBE && groups.list[k].n < 200;
  assert_true(few <= 1); /* the last one */
  xc_groups_clear(&groups);
  xc_grid_clear(&grid);
}

/** The same grid gives the same groups, whatever is made in between. */
static void test_repeats(void **state) {
  (void)state;
  const xc_basis basis = vitamin_basis();
  const xc_groups_rule rule = xc_groups_standard();
  xc_grid grid[2] = {vitamin_grid("lio1"), vitamin_grid("lio1")};
  xc_groups groups[2];
  for (int k = 0; k < 2; k++)
    assert_int_equal(xc_groups_make(&rule, &basis, &grid[k], &groups[k]), TSL_OK);
  assert_int_equal(groups[0].n, groups[1].n);
  assert_int_equal(grid[0].n, grid[1].n);
  assert_memory_equal(grid[0].block, grid[1].block, (size_t)grid[0].n * 4 * sizeof(double));
  assert_memory_equal(groups[0].list, groups[1].list, (size_t)groups[0].n * sizeof(xc_group));
  for (int k = 0; k < 2; k++) {
    xc_groups_clear(&groups[k]);
    xc_grid_clear(&grid[k]);
  }
}

/** Where the seed's test ends a shell: the diffuse primitive, normalised, is e^-10 there. */
static void test_reach(void **state) {
  (void)state;
  const double pi = 3.14159265358979323846;
  const xc_groups_rule rule = seed_rule();
  for (int l = 0; l <= 4; l++) {
    const xc_shell shell = {.l = l, .n = 2, .exponent = {3.5, 0.2}, .radius = 7};
    const double r = xc_groups_reach(&rule, &shell), a = 0.2;
    double norm = pow(2 * a / pi, 0.75) * pow(4 * a, 0.5 * l);
    for (int k = 2 * l - 1; k > 1; k -= 2) norm /= sqrt(k);
    assert_true(fabs(norm * pow(r, l) * exp(-a * r * r) / exp(-10) - 1) < 1e-9);
    const double beyond = norm * pow(1.1 * r, l) * exp(-a * 1.21 * r * r);
    assert_true(beyond < exp(-10));
    const xc_groups_rule exact = xc_groups_standard();
    assert_true(xc_groups_reach(&exact, &shell) == 7);
  }
  const xc_shell faint = {.l = 1, .n = 1, .exponent = {1e-20}};
  assert_true(xc_groups_reach(&rule, &faint) == 0);
}

/* ----------------------------------------------------------------- balance */

static double balance_of(const xc_groups_rule *rule, xc_cost_kind kind, const double *speeds,
                         int ranks) {
  const xc_basis basis = vitamin_basis();
  const xc_cost_rule cost = xc_cost_standard(kind);
  xc_grid grid = vitamin_grid("default");
  xc_groups groups;
  double efficiency = -1;
  assert_int_equal(xc_groups_make(rule, &basis, &grid, &groups), TSL_OK);
  assert_int_equal(xc_groups_balance(&groups, &cost, speeds, ranks, &efficiency), TSL_OK);
  xc_groups_clear(&groups);
  xc_grid_clear(&grid);
  return efficiency;
}

/** Eight equal ranks share vitamin C by kd; the seed's spheres and cubes stop near three. */
static void test_vitamin_c(void **state) {
  (void)state;
  static const double speeds[] = {1, 3, 1, 1, 0.5, 2};
  const xc_groups_rule kd = xc_groups_standard(), seed = seed_rule();
  assert_true(balance_of(&kd, XC_COST_FITTED, NULL, 8) >= 0.99);
  assert_true(balance_of(&kd, XC_COST_SEED, NULL, 8) >= 0.95);
  assert_true(balance_of(&kd, XC_COST_SIZE, NULL, 8) >= 0.95);
  assert_true(balance_of(&kd, XC_COST_FITTED, speeds, 6) >= 0.99);
  for (int kind = XC_COST_FITTED; kind <= XC_COST_SEED; kind++) {
    const double ranks = 8 * balance_of(&seed, (xc_cost_kind)kind, NULL, 8);
    assert_true(ranks > 2.5 && ranks < 3.3);
    assert_true(fabs(16 * balance_of(&seed, (xc_cost_kind)kind, NULL, 16) - ranks) < 1e-9);
  }
}

/** Smallest time of the last rank by trying every assignment. */
static double best_time(const double *cost, int n, const double *speeds, double *load, int ranks) {
  if (n == 0) {
    double last = 0;
    for (int r = 0; r < ranks; r++) last = fmax(last, load[r] / speeds[r]);
    return last;
  }
  double best = INFINITY;
  for (int r = 0; r < ranks; r++) {
    load[r] += cost[0];
    best = fmin(best, best_time(cost + 1, n - 1, speeds, load, ranks));
    load[r] -= cost[0];
  }
  return best;
}

/** LPT against the best of all plans: never better, and within 4/3 on equal ranks (Graham). */
static void test_balance_brute(void **state) {
  (void)state;
  enum { N = 8, RANKS = 3 };
  static const double equal[RANKS] = {1, 1, 1}, mixed[RANKS] = {1, 3, 0.5};
  uint64_t seed = 5;
  for (int trial = 0; trial < 40; trial++) {
    const double *speeds = trial % 2 == 0 ? equal : mixed;
    xc_group list[N] = {{0}};
    const xc_groups groups = {.list = list, .n = N};
    const xc_cost_rule cost = xc_cost_standard(XC_COST_FITTED);
    double costs[N], load[RANKS] = {0}, work = 0, efficiency = 0, all = 0;
    for (int i = 0; i < N; i++) {
      list[i].n = 1 + random_below(&seed, 50), list[i].functions = 1 + random_below(&seed, 9);
      costs[i] = xc_group_cost(&cost, &list[i]);
      work += costs[i];
    }
    for (int r = 0; r < RANKS; r++) all += speeds[r];
    const double best = work / (all * best_time(costs, N, speeds, load, RANKS));
    assert_int_equal(xc_groups_balance(&groups, &cost, speeds, RANKS, &efficiency), TSL_OK);
    assert_true(efficiency <= best + 1e-12);
    assert_true(efficiency >= best / (trial % 2 == 0 ? 4. / 3 : 2) - 1e-12);
  }
}

static void test_costs(void **state) {
  (void)state;
  const xc_group group = {.n = 100, .functions = 30};
  const xc_group_features f = xc_group_features_of(&group);
  assert_true(f.nb == 3000 && f.nbb == 90000 && f.bb == 900);
  xc_cost_rule rule = xc_cost_standard(XC_COST_SEED);
  assert_true(xc_group_cost(&rule, &group) == 10 * (100 * 30 * 31 / 2) + 250000);
  rule = xc_cost_standard(XC_COST_PAPER);
  assert_true(xc_group_cost(&rule, &group) == 30 * 100 * 101 / 2 + 250000);
  rule = xc_cost_standard(XC_COST_SIZE);
  assert_true(xc_group_cost(&rule, &group) == 112 * 30);
  rule = (xc_cost_rule){.kind = XC_COST_FITTED, .c = {7, 0.5, 2, 0.25}};
  assert_true(xc_group_cost(&rule, &group) == 7 + 1500 + 180000 + 225);
  rule.c[0] = -1e9;
  assert_true(xc_group_cost(&rule, &group) == 0);
}

/* --------------------------------------------------------------- bad input */

static void refuse(const xc_groups_rule *rule, const char *part) {
  const xc_basis basis = vitamin_basis();
  xc_grid grid = {0};
  xc_groups groups;
  assert_says(xc_groups_make(rule, &basis, &grid, &groups), part);
  assert_null(groups.list);
}

static void test_bad_rules(void **state) {
  (void)state;
  xc_groups_rule rule = xc_groups_standard();
  rule.target = 0;
  refuse(&rule, "target is 0 points");
  rule = xc_groups_standard(), rule.side = NAN;
  refuse(&rule, "side is nan");
  rule = xc_groups_standard(), rule.spheres = 1.5;
  refuse(&rule, "spheres is 1.5");
  rule = xc_groups_standard(), rule.least = -1;
  refuse(&rule, "least is -1");
  rule = xc_groups_standard(), rule.grouping = 9;
  refuse(&rule, "kind is number 9");
  rule = xc_groups_standard(), rule.max_exponent = 0;
  refuse(&rule, "max_exponent is 0");
  rule = xc_groups_standard(), rule.reach = -1;
  refuse(&rule, "reach is number -1");
  const xc_basis basis = vitamin_basis();
  xc_grid grid = vitamin_grid("lio0");
  xc_groups groups;
  rule = seed_rule(), rule.side = 1e-9;
  assert_says(xc_groups_make(&rule, &basis, &grid, &groups), "too small");
  xc_grid_clear(&grid);
}

static void test_bad_balance(void **state) {
  (void)state;
  const xc_groups none = {0};
  const double speeds[] = {1, 0};
  xc_cost_rule rule = xc_cost_standard(XC_COST_FITTED);
  double efficiency;
  assert_says(xc_groups_balance(&none, &rule, NULL, 0, &efficiency), "over 0 ranks");
  assert_says(xc_groups_balance(&none, &rule, speeds, 2, &efficiency), "speed of rank 1 is 0");
  rule.c[2] = NAN;
  assert_says(xc_groups_balance(&none, &rule, NULL, 2, &efficiency), "coefficient 2");
  rule.kind = 77;
  assert_says(xc_groups_balance(&none, &rule, NULL, 2, &efficiency), "cost is number 77");
}

/** No points, no shells, shells that reach nothing. */
static void test_empty(void **state) {
  (void)state;
  xc_basis basis = vitamin_basis();
  const xc_groups_rule rules[] = {xc_groups_standard(), seed_rule()};
  const xc_cost_rule cost = xc_cost_standard(XC_COST_SEED);
  for (int k = 0; k < 4; k++) {
    xc_grid grid = k < 2 ? (xc_grid){0} : vitamin_grid("lio0");
    const int64_t n = grid.n;
    xc_groups groups;
    double efficiency = 0;
    basis.n_shells = k < 2 ? 96 : 0;
    assert_int_equal(xc_groups_make(&rules[k % 2], &basis, &grid, &groups), TSL_OK);
    assert_int_equal(groups.n, 0);
    assert_int_equal(grid.n, 0);
    assert_int_equal(groups.unreached, n);
    assert_int_equal(xc_groups_balance(&groups, &cost, NULL, 3, &efficiency), TSL_OK);
    assert_true(efficiency == 1);
    xc_groups_clear(&groups);
    xc_grid_clear(&grid);
  }
}

/* -------------------------------------------------------------- statistics */

/** Sum of the counts of a histogram; counts its lines. */
static int64_t histogram(const char *text, const char *name, int *lines) {
  const char *at = strstr(text, name);
  int64_t sum = 0;
  assert_non_null(at);
  for (*lines = 0, at = strchr(at, '\n') + 1; *at == ' '; at = strchr(at, '\n') + 1, ++*lines) {
    double lo, hi;
    long long count;
    if (sscanf(at, "%lf to %lf %lld", &lo, &hi, &count) != 3) break;
    assert_true(hi >= lo);
    sum += count;
  }
  return sum;
}

static void assert_text(const xc_groups *groups, int ranks) {
  const xc_cost_rule cost = xc_cost_standard(XC_COST_SEED);
  char *text = NULL, wanted[64];
  int lines;
  assert_int_equal(xc_groups_text(groups, &cost, ranks, &text), TSL_OK);
  (void)snprintf(wanted, sizeof wanted, "groups %lld (", (long long)groups->n);
  assert_non_null(strstr(text, wanted));
  assert_int_equal(histogram(text, "groups by points", &lines), groups->n);
  assert_true(lines >= 1 && lines <= 30);
  assert_int_equal(histogram(text, "groups by functions", &lines), groups->n);
  assert_true(lines >= 1 && lines <= 12);
  (void)snprintf(wanted, sizeof wanted, "%d ranks", ranks);
  assert_non_null(strstr(text, wanted));
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
    assert_true(strcspn(at, "\n") <= 100);
  tsl_free(text);
}

static void test_text(void **state) {
  (void)state;
  const xc_basis basis = vitamin_basis();
  const xc_groups_rule rules[] = {xc_groups_standard(), seed_rule()};
  for (int k = 0; k < 2; k++) {
    xc_grid grid = vitamin_grid("lio1");
    xc_groups groups;
    assert_int_equal(xc_groups_make(&rules[k], &basis, &grid, &groups), TSL_OK);
    assert_text(&groups, 1);
    assert_text(&groups, 12);
    xc_groups_clear(&groups);
    xc_grid_clear(&grid);
  }
  const xc_groups none = {0};
  const xc_cost_rule cost = xc_cost_standard(XC_COST_FITTED);
  char *text = NULL;
  assert_int_equal(xc_groups_text(&none, &cost, 2, &text), TSL_OK);
  assert_non_null(strstr(text, "groups 0"));
  tsl_free(text);
  assert_says(xc_groups_text(&none, &cost, 0, &text), "over 0 ranks");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kd_covers),     cmocka_unit_test(test_cubes_cover),
      cmocka_unit_test(test_kd_sizes),      cmocka_unit_test(test_cubes_shape),
      cmocka_unit_test(test_cubes_least),   cmocka_unit_test(test_repeats),
      cmocka_unit_test(test_reach),         cmocka_unit_test(test_vitamin_c),
      cmocka_unit_test(test_balance_brute), cmocka_unit_test(test_costs),
      cmocka_unit_test(test_bad_rules),     cmocka_unit_test(test_bad_balance),
      cmocka_unit_test(test_empty),         cmocka_unit_test(test_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
