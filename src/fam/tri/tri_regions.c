/* Regions of about equally many points, where the deck gives their number: points are cut across
 * the longest side again and again, those of both sets by the same planes. */
#include "tri_marks.h"

#include <math.h>
#include <stdlib.h>

/** A point on its way into a region. */
typedef struct placed {
  double x[3];
  double key;
  int64_t row;
} placed;

static int by_key(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/** The axis along which points extend most. */
static int longest(const placed *points, int64_t n, int d) {
  double most = -1;
  int widest = 0;
  for (int k = 0; k < d; k++) {
    double least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < n; i++)
      least = fmin(least, points[i].x[k]), largest = fmax(largest, points[i].x[k]);
    if (largest - least > most) most = largest - least, widest = k;
  }
  return widest;
}

/** Regions first .. first + regions - 1 for n points. */
static void cut(placed *points, int64_t n, int d, int32_t first, int32_t regions, int32_t *region) {
  if (regions == 1) {
    for (int64_t i = 0; i < n; i++) region[points[i].row] = first;
    return;
  }
  const int32_t below = regions / 2;
  const int axis = longest(points, n, d);
  const int64_t m = (int64_t)((double)n * below / regions);
  for (int64_t i = 0; i < n; i++) points[i].key = points[i].x[axis];
  qsort(points, (size_t)n, sizeof *points, by_key);
  cut(points, m, d, first, below, region);
  cut(points + m, n - m, d, first + below, regions - below, region);
}

tsl_err tri_regions_cut(const tsl_deck *deck, const tri_deck *s, const tsl_problem *problem,
                        tri_marks *marks) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const void *x = problem->fields[TRI_POINTS].data;
  const int d = (int)(p->d < 3 ? p->d : 3);
  placed *points = NULL;
  if (s->regions == 0 || marks->region != NULL) {
    if (s->regions > 0)
      TSL_DECK_FAIL(deck, "tri.regions", "the points have regions already; leave one of them out");
    goto done;
  }
  if (s->regions > marks->n)
    TSL_DECK_FAIL(deck, "tri.regions", "%lld regions for %lld points", (long long)s->regions,
                  (long long)marks->n);
  TSL_TRY(tsl_alloc(marks->n, sizeof *points, "points of regions", (void **)&points));
  TSL_TRY(tsl_alloc(marks->n, sizeof *marks->region, "regions", (void **)&marks->region));
  for (int64_t i = 0; i < marks->n; i++) {
    points[i].row = i;
    for (int k = 0; k < d; k++) {
      const int64_t at = k * p->n_pad + tri_place_of(p, i);
      points[i].x[k] = tsl_real_get(p->type, x, at);
    }
  }
  cut(points, marks->n, d, 0, (int32_t)s->regions, marks->region);
  marks->regions = (int32_t)s->regions;
done:
  tsl_free(points);
  return err;
}
