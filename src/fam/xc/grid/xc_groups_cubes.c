/* The seed's groups: a sphere round each nucleus, the other points in cubes of one side. */
#include "xc_groups_own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Most cubes along an axis; their number fits in 63 bits. */
enum { MOST_CUBES = 1 << 20 };

/** A place with the number of its sphere or cube: spheres first, by atom. */
typedef struct keyed {
  int64_t key;
  xc_place place;
} keyed;

static int by_key(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->place.point < b->place.point ? -1 : a->place.point > b->place.point;
}

/** Does the point belong to its owner's sphere, the inner share of its radial shells? */
static bool in_sphere(const xc_groups_rule *rule, const xc_grid *grid, int64_t point) {
  const double inner = ceil(rule->spheres * grid->shells[grid->atom[point]]);
  return grid->shell[point] < inner;
}

/** The cubes that hold the points outside the spheres. */
typedef struct lattice {
  double lo[3];
  int64_t n[3];
} lattice;

static tsl_err find_lattice(const xc_groups_rule *rule, const xc_grid *grid, const xc_place *places,
                            lattice *out) {
  tsl_err err = TSL_OK;
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < grid->n; i++)
    for (int k = 0; k < 3 && !in_sphere(rule, grid, places[i].point); k++) {
      lo[k] = fmin(lo[k], places[i].at[k]);
      hi[k] = fmax(hi[k], places[i].at[k]);
    }
  for (int k = 0; k < 3; k++) {
    const double cubes = hi[k] >= lo[k] ? floor((hi[k] - lo[k]) / rule->side) + 1 : 1;
    if (!(cubes <= MOST_CUBES))
      TSL_FAIL(TSL_ERR_INPUT, "cubes of side %g bohr are too small for points %g bohr apart",
               rule->side, hi[k] - lo[k]);
    out->lo[k] = lo[k];
    out->n[k] = (int64_t)cubes;
  }
done:
  return err;
}

static int64_t cube_of(const lattice *cubes, double side, const double at[3]) {
  int64_t place[3];
  for (int k = 0; k < 3; k++) {
    place[k] = (int64_t)floor((at[k] - cubes->lo[k]) / side);
    if (place[k] >= cubes->n[k]) place[k] = cubes->n[k] - 1;
  }
  return (place[0] * cubes->n[1] + place[1]) * cubes->n[2] + place[2];
}

/** Groups of sorted places: one for each sphere; cubes, joined while they have too few points. */
static tsl_err add_groups(const xc_groups_rule *rule, const keyed *sorted, int64_t n,
                          int64_t n_atoms, xc_cut *cut) {
  tsl_err err = TSL_OK;
  for (int64_t first = 0, end = 0; first < n; first = end) {
    const bool sphere = sorted[first].key < n_atoms;
    const int64_t least = sphere ? 1 : rule->least;
    while (end < n && (sorted[end].key == sorted[end > first ? end - 1 : first].key ||
                       (!sphere && end - first < least)))
      end++;
    TSL_TRY(xc_cut_add(cut, first, end - first, sphere ? XC_GROUP_SPHERE : XC_GROUP_CUBE));
  }
done:
  return err;
}

tsl_err xc_groups_cubes(const xc_groups_rule *rule, const xc_grid *grid, xc_place *places,
                        xc_cut *cut) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  lattice cubes;
  if (grid->n == 0) goto done;
  TSL_TRY(find_lattice(rule, grid, places, &cubes));
  TSL_TRY(tsl_alloc(grid->n, sizeof(keyed), "points in spheres and cubes", &memory));
  keyed *sorted = memory;
  for (int64_t i = 0; i < grid->n; i++) {
    sorted[i].place = places[i];
    sorted[i].key = in_sphere(rule, grid, places[i].point)
                        ? grid->atom[places[i].point]
                        : grid->n_atoms + cube_of(&cubes, rule->side, places[i].at);
  }
  qsort(sorted, (size_t)grid->n, sizeof *sorted, by_key);
  for (int64_t i = 0; i < grid->n; i++) places[i] = sorted[i].place;
  TSL_TRY(add_groups(rule, sorted, grid->n, grid->n_atoms, cut));
done:
  tsl_free(memory);
  return err;
}
