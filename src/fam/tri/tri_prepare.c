/* Points as the pair functions want them (tri_pairs.h): prepared in double, stored as [d][n_pad].
 */
#include "tri_bits.h"
#include "tri_family.h"
#include "tri_letters.h"

#include "integers.h"
#include "parallel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

const char *tri_blamed(const tri_preparing *c, int64_t row) {
  return c->points->row == NULL && row < c->points->other ? c->other_path : c->path;
}
long long tri_numbered(const tri_preparing *c, int64_t row) {
  if (c->points->row != NULL) return c->points->row[row];
  return row < c->points->other ? row : row - c->points->other;
}

typedef tsl_err (*preparer)(const tri_preparing *c, int64_t row, const double *in, double *out);

static double largest_abs(const double *x, int64_t d) {
  double most = 0;
  for (int64_t k = 0; k < d; k++) most = fmax(most, fabs(x[k]));
  return most;
}

/** Divide by the Euclidean norm, scaled so that nothing overflows; x must not be zero. */
static void normalise(double *x, int64_t d) {
  const double most = largest_abs(x, d);
  double sum = 0;
  for (int64_t k = 0; k < d; k++) x[k] /= most, sum += x[k] * x[k];
  for (int64_t k = 0; k < d; k++) x[k] /= sqrt(sum);
}

static tsl_err prepare_raw(const tri_preparing *c, int64_t row, const double *in, double *out) {
  (void)row;
  for (int64_t k = 0; k < c->p->d_read; k++) out[k] = in[k];
  return TSL_OK;
}

static tsl_err prepare_unit_norm(const tri_preparing *c, int64_t row, const double *in,
                                 double *out) {
  tsl_err err = TSL_OK;
  if (largest_abs(in, c->p->d) == 0)
    TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                  "point %lld (from 0) is the zero vector, which has no cosine distance",
                  tri_numbered(c, row));
  for (int64_t k = 0; k < c->p->d; k++) out[k] = in[k];
  normalise(out, c->p->d);
done:
  return err;
}

static tsl_err prepare_standardised(const tri_preparing *c, int64_t row, const double *in,
                                    double *out) {
  tsl_err err = TSL_OK;
  const int64_t d = c->p->d;
  double least = INFINITY, most = -INFINITY, mean = 0;
  int exponent = 0;
  for (int64_t k = 0; k < d; k++) least = fmin(least, in[k]), most = fmax(most, in[k]);
  if (!(least < most))
    TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                  "point %lld (from 0) is constant (%g), which has no correlation distance",
                  tri_numbered(c, row), most);
  /* a power of two keeps all digits, and so does one of the numbers as first guess of the mean */
  (void)frexp(largest_abs(in, d), &exponent);
  for (int64_t k = 0; k < d; k++) out[k] = ldexp(in[k], -exponent) - ldexp(in[0], -exponent);
  for (int64_t k = 0; k < d; k++) mean += out[k] / (double)d;
  for (int64_t k = 0; k < d; k++) out[k] -= mean;
  normalise(out, d);
done:
  return err;
}

static tsl_err prepare_sphere(const tri_preparing *c, int64_t row, const double *in, double *out) {
  tsl_err err = TSL_OK;
  const double radian = 0.017453292519943295769;
  const double lat = in[0] * radian, lon = in[1] * radian;
  if (fabs(in[0]) > 90)
    TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                  "point %lld (from 0): latitude %g is outside -90 .. 90 degrees",
                  tri_numbered(c, row), in[0]);
  if (in[1] < -180 || in[1] > 360)
    TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                  "point %lld (from 0): longitude %g is outside -180 .. 360 degrees",
                  tri_numbered(c, row), in[1]);
  out[0] = cos(lat) * cos(lon);
  out[1] = cos(lat) * sin(lon);
  out[2] = sin(lat);
done:
  return err;
}

static tsl_err prepare_wrapped(const tri_preparing *c, int64_t row, const double *in, double *out) {
  (void)row;
  for (int64_t k = 0; k < c->p->d; k++) {
    const double box = c->p->box[k], x = in[k] - box * floor(in[k] / box);
    const bool inside = c->p->type == TSL_F32 ? (float)x < (float)box : x < box;
    out[k] = inside && x > 0 ? x : 0; /* rounding may reach the box's end, which is its start */
  }
  return TSL_OK;
}

static tsl_err prepare_amounts(const tri_preparing *c, int64_t row, const double *in, double *out) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < c->p->d; k++) {
    if (in[k] < 0)
      TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                    "point %lld (from 0): %g is negative; %s compares amounts",
                    tri_numbered(c, row), in[k], tri_function_words[c->p->function]);
    out[k] = in[k];
  }
done:
  return err;
}

static tsl_err prepare_shares(const tri_preparing *c, int64_t row, const double *in, double *out) {
  tsl_err err = TSL_OK;
  double sum = 0;
  TSL_TRY(prepare_amounts(c, row, in, out));
  for (int64_t k = 0; k < c->p->d; k++) sum += in[k];
  if (!(sum > 0))
    TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                  "point %lld (from 0) is the zero vector, which is no distribution",
                  tri_numbered(c, row));
  for (int64_t k = 0; k < c->p->d; k++) out[k] /= sum;
done:
  return err;
}

static tsl_err prepare_scaled(const tri_preparing *c, int64_t row, const double *in, double *out) {
  (void)row;
  for (int64_t k = 0; k < c->p->d; k++) out[k] = (in[k] - c->spread.mean[k]) * c->spread.factor[k];
  return TSL_OK;
}

static tsl_err prepare_whitened(const tri_preparing *c, int64_t row, const double *in,
                                double *out) {
  (void)row;
  for (int64_t k = 0; k < c->p->d; k++) {
    out[k] = 0;
    for (int64_t m = 0; m <= k; m++)
      out[k] += c->spread.factor[k * c->p->d + m] * (in[m] - c->spread.mean[m]);
  }
  return TSL_OK;
}

static const preparer preparers[] = {[TRI_RAW] = prepare_raw,
                                     [TRI_UNIT_NORM] = prepare_unit_norm,
                                     [TRI_STANDARDISED] = prepare_standardised,
                                     [TRI_SPHERE] = prepare_sphere,
                                     [TRI_WRAPPED] = prepare_wrapped,
                                     [TRI_FIXED] = prepare_raw,
                                     [TRI_AMOUNTS] = prepare_amounts,
                                     [TRI_SHARES] = prepare_shares,
                                     [TRI_SCALED] = prepare_scaled,
                                     [TRI_WHITENED] = prepare_whitened};

tsl_err tri_prepare_point(const tri_preparing *c, int64_t row, double *x) {
  const double *in = c->points->table.values + row * c->points->table.columns;
  return preparers[tri_abouts[c->p->function].prepare](c, row, in, x);
}

/* ---------------------------------------------------------------- storing */

double tri_rounded(const tri_params *p, double value) {
  return p->type == TSL_F32 ? (double)(float)value : value;
}

static tsl_err check_row(const tri_preparing *c, int64_t row, const double *x, int64_t n) {
  tsl_err err = TSL_OK;
  const double most = c->p->type == TSL_F32 ? FLT_MAX : DBL_MAX;
  for (int64_t k = 0; k < n; k++)
    if (!(fabs(x[k]) <= most))
      TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                    "point %lld (from 0): %g overflows fp32; use precision: fp64",
                    tri_numbered(c, row), x[k]);
done:
  return err;
}

/** Whole numbers that are only compared must not become equal by rounding. */
static tsl_err check_categories(const tri_preparing *c, int64_t row, const double *x) {
  tsl_err err = TSL_OK;
  if (c->p->function != TRI_HAMMING) goto done;
  for (int64_t k = 0; k < c->p->d; k++)
    if (x[k] == floor(x[k]) && x[k] != tri_rounded(c->p, x[k]))
      TSL_DECK_FAIL(c->deck, tri_blamed(c, row),
                    "point %lld (from 0): %.17g is a whole number that fp32 does not have, so that "
                    "others may seem equal; use precision: fp64",
                    tri_numbered(c, row), x[k]);
done:
  return err;
}

/** Points that a thread prepares at a time. */
enum { PREPARED = 1 << 14 };

typedef struct storing {
  const tri_preparing *c;
  const tri_rounding *rounding;
  void *data;
  double *moved; /**< [ranges] by rounding, at most, squared */
  double *x;     /**< [slots][d] one point */
} storing;

static tsl_err store_range(void *context, int slot, int64_t first, int64_t last) {
  tsl_err err = TSL_OK;
  const storing *s = context;
  const tri_params *p = s->c->p;
  double *const x = s->x + slot * p->d;
  double most = 0;
  for (int64_t i = first; i < last; i++) {
    const int64_t place = tri_place_of(p, i);
    double moved = 0;
    for (int64_t k = p->d_read; k < p->d; k++) x[k] = 0;
    TSL_TRY(tri_prepare_point(s->c, i, x));
    for (int64_t k = 0; k < p->d; k++) x[k] -= s->rounding->origin[k];
    TSL_TRY(check_row(s->c, i, x, p->d));
    TSL_TRY(check_categories(s->c, i, x));
    for (int64_t k = 0; k < p->d; k++) {
      const double off = x[k] - tri_rounded(p, x[k]);
      tsl_real_put(p->type, s->data, k * p->n_pad + place, x[k]);
      moved += off * off;
    }
    most = moved > most ? moved : most;
  }
  s->moved[first / PREPARED] = most;
done:
  return err;
}

static tsl_err store_points(const tri_preparing *c, tri_rounding *rounding, void *data) {
  tsl_err err = TSL_OK;
  const int64_t n = c->points->table.n, ranges = tsl_divide_up(n, PREPARED);
  storing s = {.c = c, .rounding = rounding, .data = data};
  TSL_TRY(tsl_alloc(ranges, sizeof *s.moved, "rounding of points", (void **)&s.moved));
  TSL_TRY(tsl_alloc(tsl_parallel_slots() * c->p->d, sizeof *s.x, "one point", (void **)&s.x));
  TSL_TRY(tsl_parallel(n, PREPARED, store_range, &s));
  for (int64_t r = 0; r < ranges; r++) rounding->most = fmax(rounding->most, sqrt(s.moved[r]));
done:
  TSL_FREE_ALL(s.moved, s.x);
  return err;
}

/** Extent of the cloud along dimension k, or the largest size of its coordinates. */
static double extent(const tri_points *points, int64_t k, bool sizes) {
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < points->table.n; i++) {
    const double x = points->table.values[i * points->table.columns + k];
    least = x < least ? x : least, most = x > most ? x : most;
  }
  return sizes ? fmax(most, -least) : most - least;
}

/**
 * Smallest cloud that a precision can tell apart as well as its rounding lets it. A square that
 * underflows is off by half of the smallest number, 2^-150 (fp32) or 2^-1075 (fp64), so a distance
 * by the root of it; coordinates of size e are rounded by e 2^-25 or e 2^-54.
 */
static double least_extent(const tri_params *p) {
  const bool single = p->type == TSL_F32;
  if (tri_abouts[p->function].sum == TRI_LENGTHS) return single ? 0x1p-125 : 0x1p-1021;
  return single ? TRI_LEAST_F32 : TRI_LEAST_F64;
}

/** Sums of whole numbers of int8 are exact. */
static tsl_err check_exact(const tri_preparing *c, double sum) {
  tsl_err err = TSL_OK;
  const tri_sum of = tri_abouts[c->p->function].sum;
  const double most = 0x1p24; /* fp32 has all whole numbers up to it */
  if (c->exact && (of < TRI_PRODUCT || of == TRI_SIMILAR) && sum > most)
    TSL_DECK_FAIL(c->deck, "tri.precision",
                  "sums of int8 may reach %.0f, and fp32 has whole numbers exactly up to %.0f; use "
                  "precision: fp64",
                  sum, most);
done:
  return err;
}

/** Neither the largest nor typical values of raw points may leave the precision. */
static tsl_err check_extent(const tri_preparing *c) {
  tsl_err err = TSL_OK;
  const tri_params *p = c->p;
  const bool single = p->type == TSL_F32, sizes = p->function == TRI_INNER;
  const bool squares = tri_abouts[p->function].sum != TRI_LENGTHS;
  const char *name = single ? "fp32" : "fp64";
  const double limit = (single ? FLT_MAX : DBL_MAX) / 4; /* room for rounding and radii */
  double sum = 0, most = 0;
  if (tri_abouts[p->function].prepare != TRI_RAW && !sizes) goto done;
  for (int64_t k = 0; k < p->d_read && c->points->table.n > 0; k++) {
    const double e = extent(c->points, k, sizes);
    sum += squares ? e * e : e;
    most = fmax(most, e);
  }
  TSL_TRY(check_exact(c, sum));
  if (!(sum <= limit))
    TSL_DECK_FAIL(c->deck, c->path, "%s that values overflow %s; use %s",
                  sizes ? "coordinates are so large" : "the points are so far apart", name,
                  single ? "precision: fp64" : "a larger unit of length");
  if (most > 0 && most < least_extent(p))
    TSL_DECK_FAIL(c->deck, c->path, "%s, all within %g, that values underflow %s; use %s",
                  sizes ? "coordinates are so small" : "the points are so close together", most,
                  name, single ? "precision: fp64" : "a smaller unit of length");
done:
  return err;
}

/* ------------------------------------------------------ radii and masses */

/** Radius or mass of point i. */
static double extra_of(const tri_params *p, const tri_deck *s, const tri_points *points,
                       bool one_mass, int64_t i) {
  const table_rows *t = &points->table;
  if (points->has_extra) return t->values[(i + 1) * t->columns - 1];
  if (tri_abouts[p->function].extra == TRI_RADIUS) return s->radius;
  return one_mass ? s->mass : 1.0 / (double)tri_columns_of(p);
}

/** TRI_TOTAL. */
static tsl_err store_totals(const tri_preparing *c, void *data) {
  tsl_err err = TSL_OK;
  double *x = NULL;
  TSL_TRY(tsl_alloc(c->p->d, sizeof *x, "one point", (void **)&x));
  for (int64_t i = 0; i < c->points->table.n; i++) {
    double total = 0;
    TSL_TRY(tri_prepare_point(c, i, x));
    for (int64_t k = 0; k < c->p->d; k++) total += tri_rounded(c->p, x[k]);
    TSL_TRY(check_row(c, i, &total, 1));
    tsl_real_put(c->p->type, data, tri_place_of(c->p, i), total);
  }
done:
  tsl_free(x);
  return err;
}

static tsl_err store_extras(const tri_preparing *c, const tri_deck *s, void *data, double *common) {
  tsl_err err = TSL_OK;
  const bool one_mass = tsl_deck_given(c->deck, "tri.mass");
  const char *what = tri_abouts[c->p->function].extra == TRI_RADIUS ? "radius" : "mass";
  const int64_t n = c->p->function == TRI_GRAVITY ? tri_columns_of(c->p) : c->points->table.n;
  bool equal = true;
  double first = 0, most = 0;
  for (int64_t i = 0; i < n; i++) { /* masses are those of the columns */
    const double value = extra_of(c->p, s, c->points, one_mass, i);
    if (value < 0)
      TSL_DECK_FAIL(c->deck, tri_blamed(c, i), "point %lld (from 0): %s %g is negative",
                    tri_numbered(c, i), what, value);
    TSL_TRY(check_row(c, i, &value, 1));
    tsl_real_put(c->p->type, data, tri_place_of(c->p, i), value);
    if (i == 0) first = value;
    equal = equal && value == first;
    most = fmax(most, value);
  }
  if (c->p->function == TRI_GRAVITY && c->p->type == TSL_F32 && most > 0 && most < FLT_MIN)
    TSL_DECK_FAIL(c->deck, c->path, "the largest mass, %g, underflows fp32; use precision: fp64",
                  most);
  *common = equal ? first : 0;
done:
  return err;
}

/* ----------------------------------------------------------------- fields */

static tsl_err add_points(tsl_problem *problem, const tri_points *points, tsl_field **out) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t d = tri_of_bits(p) || tri_of_letters(p) ? 0 : p->d;
  const bool plain = tri_abouts[p->function].prepare == TRI_RAW ||
                     tri_abouts[p->function].prepare == TRI_FIXED || p->box[0] > 0;
  TSL_TRY(tsl_problem_add_hidden(problem, "points",
                                 "Prepared points, dimension by dimension, padded with zeros.",
                                 p->type, d, p->n_pad, out));
  if (plain) (void)snprintf((*out)->unit, sizeof(*out)->unit, "%s", points->unit);
done:
  return err;
}

/** Quantities and vectors, after the radius where there is one. */
static tsl_err store_more(const tri_preparing *c, void *data) {
  tsl_err err = TSL_OK;
  const tri_params *p = c->p;
  const table_rows *t = &c->points->table;
  const int64_t first = tri_abouts[p->function].extra != TRI_NO_EXTRA;
  for (int64_t i = 0; i < t->n && c->points->more > 0; i++) {
    const double *row = t->values + i * t->columns + c->points->d;
    TSL_TRY(check_row(c, i, row, c->points->more));
    for (int64_t m = 0; m < c->points->more; m++)
      tsl_real_put(p->type, data, (first + m) * p->n_pad + tri_place_of(p, i), row[m]);
  }
done:
  return err;
}

static tsl_err add_extras(tsl_problem *problem, const tri_points *points, tsl_field **out) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_extra extra = tri_abouts[p->function].extra;
  TSL_TRY(tsl_problem_add_hidden(
      problem, "extras", "Radius or mass of each point, then its quantities, padded with zeros.",
      p->type, ((extra != TRI_NO_EXTRA) + points->more) * p->n_pad, 1, out));
  if (extra == TRI_RADIUS) (void)snprintf((*out)->unit, sizeof(*out)->unit, "%s", points->unit);
done:
  return err;
}

tsl_err tri_prepare_points(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                           bool absolute, tsl_problem *problem, tri_rounding *rounding) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  tri_preparing c = {.deck = deck,
                     .p = p,
                     .path = points->made ? "tri.generator" : "tri.input.file",
                     .other_path =
                         points->other_made ? "tri.other.generator" : "tri.other.input.file",
                     .points = points,
                     .absolute = absolute,
                     .exact = s->precision == TRI_INT8};
  double common = 0;
  tsl_field *field = NULL;
  if (tri_of_letters(p) || tri_of_bits(p)) { /* there are none */
    TSL_TRY(tri_bits_check(&c));
    TSL_TRY(add_points(problem, points, &field));
    TSL_TRY(add_extras(problem, points, &field));
    return store_more(&c, field->data);
  }
  TSL_TRY(check_extent(&c));
  TSL_TRY(tri_spread_create(&c, &s->function.variances, &c.spread));
  TSL_TRY(add_points(problem, points, &field));
  TSL_TRY(tri_rounding_create(&c, rounding));
  TSL_TRY(store_points(&c, rounding, field->data));
  TSL_TRY(add_extras(problem, points, &field));
  TSL_TRY(store_more(&c, field->data));
  if (tri_abouts[p->function].extra == TRI_TOTAL) TSL_TRY(store_totals(&c, field->data));
  if (tri_abouts[p->function].extra == TRI_RADIUS || p->function == TRI_GRAVITY)
    TSL_TRY(store_extras(&c, s, field->data, &common));
  if (p->function == TRI_GRAVITY) p->mass = common;
done:
  tri_spread_clear(&c.spread);
  return err;
}
