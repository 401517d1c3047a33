/* Groups: from points to ranges with shells. */
#include "xc_groups_own.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

/** Groups, and points, that a thread takes at a time. */
enum { RANGE = 16, POINTS = 16384 };

const char *const xc_grouping_words[] = {"kd", "cubes", NULL};
const char *const xc_reach_words[] = {"radius", "exponent", NULL};

xc_groups_rule xc_groups_standard(void) {
  return (xc_groups_rule){.grouping = XC_KD,
                          .reach = XC_REACH_RADIUS,
                          .target = 512,
                          .side = 8,
                          .spheres = 0.6,
                          .least = 1,
                          .max_exponent = 10};
}

static tsl_err check_rule(const xc_groups_rule *rule) {
  tsl_err err = TSL_OK;
  if (rule->grouping < 0 || rule->grouping >= XC_N_GROUPINGS)
    TSL_FAIL(TSL_ERR_INPUT, "groups: kind is number %d; allowed are 0 (kd), 1 (cubes)",
             rule->grouping);
  if (rule->reach < 0 || rule->reach >= XC_N_REACHES)
    TSL_FAIL(TSL_ERR_INPUT, "groups: reach is number %d; allowed are 0 (radius), 1 (exponent)",
             rule->reach);
  if (rule->target < 1)
    TSL_FAIL(TSL_ERR_INPUT, "groups: target is %lld points; at least 1 is needed",
             (long long)rule->target);
  if (!(rule->side > 0) || !isfinite(rule->side))
    TSL_FAIL(TSL_ERR_INPUT, "groups: side is %g bohr; it must be positive", rule->side);
  if (!(rule->spheres >= 0 && rule->spheres <= 1))
    TSL_FAIL(TSL_ERR_INPUT, "groups: spheres is %g; it is a share between 0 and 1", rule->spheres);
  if (rule->least < 1)
    TSL_FAIL(TSL_ERR_INPUT, "groups: least is %lld points; at least 1 is needed",
             (long long)rule->least);
  if (!(rule->max_exponent > 0) || !isfinite(rule->max_exponent))
    TSL_FAIL(TSL_ERR_INPUT, "groups: max_exponent is %g; it must be positive", rule->max_exponent);
done:
  return err;
}

/* ------------------------------------------------------------------- reach */

/** ln of the most diffuse primitive, normalised: N r^l exp(-a r^2), N of x^l. */
static double log_primitive(double a, int l, double r) {
  const double pi = 3.14159265358979323846;
  double log_norm = 0.75 * log(2 * a / pi) + 0.5 * l * log(4 * a);
  for (int k = 2 * l - 1; k > 1; k -= 2) log_norm -= 0.5 * log(k);
  return log_norm + (l > 0 ? l * log(r) : 0) - a * r * r;
}

/** The last radius where the primitive is exp(-limit); 0 when it never is. */
static double reach_of_exponent(const xc_shell *shell, double limit) {
  double a = shell->exponent[0];
  for (int k = 1; k < shell->n; k++) a = fmin(a, shell->exponent[k]);
  double lo = sqrt(shell->l / (2 * a)), hi = lo + 1; /* it falls beyond its maximum */
  if (lo > 0 && log_primitive(a, shell->l, lo) <= -limit) return 0;
  while (log_primitive(a, shell->l, hi) > -limit) hi *= 2;
  for (int i = 0; i < 100; i++) {
    const double middle = 0.5 * (lo + hi);
    if (log_primitive(a, shell->l, middle) > -limit)
      lo = middle;
    else
      hi = middle;
  }
  return hi;
}

double xc_groups_reach(const xc_groups_rule *rule, const xc_shell *shell) {
  if (rule->reach == XC_REACH_RADIUS) return shell->radius;
  return reach_of_exponent(shell, rule->max_exponent);
}

/* --------------------------------------------------------------- extension */

tsl_err xc_cut_add(xc_cut *cut, int64_t first, int64_t n, xc_group_kind kind) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&cut->list, cut->n, 1, &cut->room, sizeof *cut->list, "groups"));
  cut->list[cut->n++] = (xc_group){.first = first, .n = n, .kind = kind};
done:
  return err;
}

/** The shape whose distance to a shell decides: a box, or a ball round a point. */
typedef struct extent {
  double lo[3], hi[3];
  double radius;
} extent;

static void set_box(const xc_place *places, xc_group *group) {
  for (int k = 0; k < 3; k++) {
    double lo = places[group->first].at[k], hi = lo;
    for (int64_t i = group->first + 1; i < group->first + group->n; i++) {
      lo = fmin(lo, places[i].at[k]);
      hi = fmax(hi, places[i].at[k]);
    }
    group->lo[k] = lo, group->hi[k] = hi;
  }
}

/** Spheres: the ball round the middle of the box; else the box. */
static extent extent_of(const xc_place *places, const xc_group *group) {
  extent e = {.radius = 0};
  memcpy(e.lo, group->lo, sizeof e.lo);
  memcpy(e.hi, group->hi, sizeof e.hi);
  if (group->kind != XC_GROUP_SPHERE) return e;
  for (int k = 0; k < 3; k++) e.lo[k] = e.hi[k] = 0.5 * (group->lo[k] + group->hi[k]);
  for (int64_t i = group->first; i < group->first + group->n; i++) {
    double d2 = 0;
    for (int k = 0; k < 3; k++) d2 += (places[i].at[k] - e.lo[k]) * (places[i].at[k] - e.lo[k]);
    e.radius = fmax(e.radius, sqrt(d2));
  }
  return e;
}

static bool touches(const extent *e, const double at[3], double reach) {
  double d2 = 0;
  for (int k = 0; k < 3; k++) {
    const double d = fmax(0, fmax(e->lo[k] - at[k], at[k] - e->hi[k]));
    d2 += d * d;
  }
  return sqrt(d2) <= reach + e->radius;
}

/* ------------------------------------------------------------------ shells */

/** The groups of a cut and which shells reach them, looked for twice: to count, and to list. */
typedef struct finding {
  const xc_basis *basis;
  const double *reach;
  const xc_place *places;
  xc_group *groups;
  int32_t *list; /**< NULL: count; else group->shells is where the group's begin */
} finding;

static void find_shells(const finding *f, xc_group *group) {
  if (f->list == NULL) set_box(f->places, group);
  const extent e = extent_of(f->places, group);
  int64_t functions = 0;
  int32_t n = 0;
  for (int64_t i = 0; i < f->basis->n_shells; i++) {
    if (!touches(&e, f->basis->shells[i].at, f->reach[i])) continue;
    if (f->list != NULL) f->list[group->shells + n] = (int32_t)i;
    functions += xc_shell_size(&f->basis->shells[i]);
    n++;
  }
  group->functions = functions, group->n_shells = n;
}

static tsl_err find_range(void *context, int slot, int64_t lo, int64_t hi) {
  const finding *f = context;
  (void)slot;
  for (int64_t i = lo; i < hi; i++) find_shells(f, &f->groups[i]);
  return TSL_OK;
}

/** Shells of all groups; groups that no shell reaches leave. */
static tsl_err find_all(const xc_groups_rule *rule, const xc_basis *basis, const xc_place *places,
                        xc_cut *cut, xc_groups *out) {
  tsl_err err = TSL_OK;
  double *reach = NULL;
  int32_t *list = NULL;
  int64_t kept = 0, n = 0;
  TSL_TRY(tsl_alloc(basis->n_shells, sizeof *reach, "reach of the shells", (void **)&reach));
  for (int64_t i = 0; i < basis->n_shells; i++) reach[i] = xc_groups_reach(rule, &basis->shells[i]);
  finding f = {basis, reach, places, cut->list, NULL};
  TSL_TRY(tsl_parallel(cut->n, RANGE, find_range, &f));
  for (int64_t i = 0; i < cut->n; i++) {
    xc_group *group = &cut->list[i];
    if (group->functions == 0) {
      out->unreached += group->n;
      continue;
    }
    group->shells = n, n += group->n_shells;
    cut->list[kept++] = *group;
  }
  TSL_TRY(tsl_alloc(n, sizeof *list, "shells of the groups", (void **)&list));
  f.list = list;
  TSL_TRY(tsl_parallel(kept, RANGE, find_range, &f));
  out->list = cut->list, out->n = kept;
  out->shells = list, out->n_shells = n;
  cut->list = NULL, list = NULL;
done:
  TSL_FREE_ALL(reach, list);
  return err;
}

/** Put the grid in the order of the groups, and number their points anew. */
static tsl_err order_grid(const xc_place *places, xc_grid *grid, xc_groups *groups) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  int64_t n = 0;
  TSL_TRY(tsl_alloc(grid->n > 0 ? grid->n : 1, sizeof(int64_t), "order of the points", &memory));
  int64_t *order = memory;
  for (int64_t g = 0; g < groups->n; g++) {
    xc_group *group = &groups->list[g];
    const int64_t first = n;
    for (int64_t i = 0; i < group->n; i++) order[n++] = places[group->first + i].point;
    group->first = first;
  }
  TSL_TRY(xc_grid_take(grid, order, n));
done:
  tsl_free(memory);
  return err;
}

/** Places of points that are not ordered yet. */
typedef struct placing {
  const xc_grid *grid;
  xc_place *places;
} placing;

static tsl_err place_points(void *context, int slot, int64_t lo, int64_t hi) {
  const placing *p = context;
  (void)slot;
  for (int64_t i = lo; i < hi; i++)
    p->places[i] = (xc_place){{p->grid->x[i], p->grid->y[i], p->grid->z[i]}, i};
  return TSL_OK;
}

tsl_err xc_groups_make(const xc_groups_rule *rule, const xc_basis *basis, xc_grid *grid,
                       xc_groups *out) {
  tsl_err err = TSL_OK;
  xc_cut cut = {0};
  placing p = {.grid = grid};
  *out = (xc_groups){0};
  TSL_TRY(check_rule(rule));
  if (basis->n_shells > INT32_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "groups: %lld shells are too many", (long long)basis->n_shells);
  TSL_TRY(tsl_alloc(grid->n, sizeof *p.places, "places of the points", (void **)&p.places));
  TSL_TRY(tsl_parallel(grid->n, POINTS, place_points, &p));
  if (rule->grouping == XC_KD)
    TSL_TRY(xc_groups_kd(p.places, grid->n, rule->target, &cut));
  else
    TSL_TRY(xc_groups_cubes(rule, grid, p.places, &cut));
  TSL_TRY(find_all(rule, basis, p.places, &cut, out));
  TSL_TRY(order_grid(p.places, grid, out));
done:
  TSL_FREE_ALL(p.places, cut.list);
  if (err != TSL_OK) xc_groups_clear(out);
  return err;
}

tsl_err xc_groups_join(xc_groups *groups, const xc_groups *more, int64_t first) {
  tsl_err err = TSL_OK;
  xc_groups all = {.n = groups->n + more->n,
                   .n_shells = groups->n_shells + more->n_shells,
                   .unreached = groups->unreached + more->unreached};
  void *list = NULL, *shells = NULL;
  TSL_TRY(tsl_alloc(all.n, sizeof *all.list, "groups", &list));
  TSL_TRY(tsl_alloc(all.n_shells, sizeof *all.shells, "shells of the groups", &shells));
  all.list = list, all.shells = shells;
  for (int64_t g = 0; g < groups->n; g++) all.list[g] = groups->list[g];
  for (int64_t g = 0; g < more->n; g++) {
    xc_group *group = &all.list[groups->n + g];
    *group = more->list[g];
    group->first += first, group->shells += groups->n_shells;
  }
  for (int64_t s = 0; s < groups->n_shells; s++) all.shells[s] = groups->shells[s];
  for (int64_t s = 0; s < more->n_shells; s++) all.shells[groups->n_shells + s] = more->shells[s];
  xc_groups_clear(groups);
  *groups = all;
done:
  if (err != TSL_OK) TSL_FREE_ALL(list, shells);
  return err;
}

void xc_groups_clear(xc_groups *groups) {
  TSL_FREE_ALL(groups->list, groups->shells);
  *groups = (xc_groups){0};
}
