/* Points as the backends want them: wrapped or centred, scaled, rounded, [3][n_pad]. */
#include "triples_family.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static double coordinate(const triples_points *points, int64_t i, int64_t k) {
  return points->table.values[i * points->table.columns + k];
}

/** Least and largest coordinate along dimension k. */
static void find_extent(const triples_points *points, int64_t k, double extent[2]) {
  extent[0] = INFINITY, extent[1] = -INFINITY;
  for (int64_t i = 0; i < points->table.n; i++) {
    extent[0] = fmin(extent[0], coordinate(points, i, k));
    extent[1] = fmax(extent[1], coordinate(points, i, k));
  }
}

/** fp32: exponent of about the distance of neighbours, so that their r^-10 is near 1. */
static int find_length(const triples_params *p, const triples_points *points) {
  double longest = 0, extent[2];
  int e = 0;
  if (p->type != TSL_F32 || p->n < 2 || p->function == TRIPLES_EQUATION) return 0;
  for (int64_t k = 0; k < p->d; k++) {
    find_extent(points, k, extent);
    longest = fmax(longest, isfinite(p->box[k]) ? p->box[k] : extent[1] - extent[0]);
  }
  if (longest > 0) (void)frexp(longest / cbrt((double)p->n), &e);
  return e;
}

/** Everything that has a length, in units of 2^length. */
static void set_unit(triples_params *p, int length) {
  p->length = length;
  p->cutoff = ldexp(p->cutoff, -length);
  p->range_lo = ldexp(p->range_lo, -length);
  p->range_hi = ldexp(p->range_hi, -length);
  for (int k = 0; k < 3; k++) p->box[k] = ldexp(p->box[k], -length);
}

/** In fp32 a multiple of 2^-50, as all numbers of at least 2^-26 are: the square of a side is 0 or
 *  at least 2^-100, whose root needs no care on a card. */
static double rounded(const triples_params *p, double value) {
  return p->type == TSL_F32 ? ldexp(rint(ldexp((double)(float)value, 50)), -50) : value;
}

/** Wrapped into [0, box), of which rounding may reach the end, which is the start. */
static double wrapped(const triples_params *p, double x, double box) {
  const double y = rounded(p, x - box * floor(x / box));
  return y > 0 && y < rounded(p, box) ? y : 0;
}

static tsl_err store(const tsl_deck *deck, const triples_points *points, const triples_params *p,
                     void *data) {
  tsl_err err = TSL_OK;
  const double most = p->type == TSL_F32 ? FLT_MAX : DBL_MAX;
  for (int64_t k = 0; k < p->d; k++) {
    double extent[2];
    find_extent(points, k, extent);
    const double middle = extent[0] + (extent[1] - extent[0]) / 2;
    for (int64_t i = 0; i < p->n; i++) {
      const double x = ldexp(coordinate(points, i, k), -p->length);
      const double y =
          isfinite(p->box[k]) ? wrapped(p, x, p->box[k]) : x - ldexp(middle, -p->length);
      if (!(fabs(y) <= sqrt(most) / 4))
        TSL_DECK_FAIL(deck, points->made ? "triples.generator" : "triples.input.file",
                      "point %lld (from 0): squares of its distances overflow %s", (long long)i,
                      p->type == TSL_F32 ? "fp32; use precision: fp64" : "fp64");
      tsl_real_put(p->type, data, k * p->n_pad + i, rounded(p, y));
    }
  }
done:
  return err;
}

/* ---- points that coincide have no energy */

typedef struct place {
  double x[3];
  int64_t i;
} place;

static int by_place(const void *a, const void *b) {
  const place *one = a, *other = b;
  for (int k = 0; k < 3; k++)
    if (one->x[k] != other->x[k]) return one->x[k] < other->x[k] ? -1 : 1;
  return one->i < other->i ? -1 : one->i > other->i;
}

static tsl_err check_apart(const tsl_deck *deck, const triples_points *points,
                           const triples_params *p, const void *data) {
  tsl_err err = TSL_OK;
  place *places = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *places, "places", (void **)&places));
  for (int64_t i = 0; i < p->n; i++) {
    places[i].i = i;
    for (int k = 0; k < 3; k++) places[i].x[k] = tsl_real_get(p->type, data, k * p->n_pad + i);
  }
  qsort(places, (size_t)p->n, sizeof *places, by_place);
  for (int64_t i = 1; i < p->n; i++) {
    const double *a = places[i - 1].x, *b = places[i].x;
    if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2])
      TSL_DECK_FAIL(
          deck, points->made ? "triples.generator" : "triples.input.file",
          "points %lld and %lld (from 0) are at the same place in %s, where the energy is "
          "infinite",
          (long long)places[i - 1].i, (long long)places[i].i, p->type == TSL_F32 ? "fp32" : "fp64");
  }
done:
  tsl_free(places);
  return err;
}

/* ---------------------------------------------------------------- prepare */

static void set_blocks(triples_params *p) {
  const int64_t tiles = p->n_pad / TRIPLES_TILE;
  p->block_rows = TRIPLES_TILE * ((tiles + TRIPLES_BLOCKS - 1) / TRIPLES_BLOCKS);
  p->blocks = p->n > 0 ? (p->n + p->block_rows - 1) / p->block_rows : 0;
}

tsl_err triples_prepare(const tsl_deck *deck, const triples_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_params *p = problem->params;
  tsl_field *added = NULL;
  p->n = points->table.n;
  p->n_pad = (p->n + TRIPLES_TILE - 1) / TRIPLES_TILE * TRIPLES_TILE;
  p->d = points->table.columns - p->n_quantities;
  set_blocks(p);
  set_unit(p, find_length(p, points));
  TSL_TRY(tsl_problem_add_hidden(problem, "points",
                                 "Prepared points, dimension by dimension, padded with zeros.",
                                 p->type, 3, p->n_pad, &added));
  TSL_TRY(store(deck, points, p, added->data));
  if (p->function == TRIPLES_AXILROD_TELLER) TSL_TRY(check_apart(deck, points, p, added->data));
  TSL_TRY(triples_cells_make(problem));
done:
  return err;
}
