/* fp32 has 24 bits for a coordinate. Far from the origin most of them say where the cloud is, and
 * few are left for where its points are: such clouds are counted from their middle. */
#include "tri_family.h"

#include "integers.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  SAMPLE = 1025,     /**< points of which the median is the middle */
  NUMBERS = 1 << 22, /**< that a sample holds at most */
  QUERIES = 16,      /**< points whose nearest neighbour is looked for */
  STEPS = 1 << 22    /**< differences of coordinates for all of them */
};

void tri_rounding_clear(tri_rounding *r) {
  tsl_free(r->origin);
  *r = (tri_rounding){0};
}

static int64_t bounded(int64_t value, int64_t lo, int64_t hi) {
  return value < lo ? lo : value > hi ? hi : value;
}

/** m points spread over all: x[m][d]. */
static tsl_err take_sample(const tri_preparing *c, int64_t m, double *x) {
  tsl_err err = TSL_OK;
  for (int64_t s = 0; s < m; s++)
    TSL_TRY(tri_prepare_point(c, s * c->points->table.n / m, x + s * c->p->d));
done:
  return err;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** Median of each dimension, short enough that differences from it lose nothing. */
static tsl_err find_middle(const tri_preparing *c, double *middle) {
  tsl_err err = TSL_OK;
  const int64_t d = c->p->d;
  const int64_t m =
      bounded(NUMBERS / d, 1, c->points->table.n < SAMPLE ? c->points->table.n : SAMPLE);
  double *x = NULL, *column = NULL;
  TSL_TRY(tsl_alloc(m * d, sizeof *x, "sample of points", (void **)&x));
  TSL_TRY(tsl_alloc(m, sizeof *column, "sample of points", (void **)&column));
  TSL_TRY(take_sample(c, m, x));
  for (int64_t k = 0; k < d; k++) {
    for (int64_t s = 0; s < m; s++) column[s] = x[s * d + k];
    qsort(column, (size_t)m, sizeof *column, ascending);
    middle[k] = tri_rounded(c->p, column[m / 2]);
  }
done:
  TSL_FREE_ALL(x, column);
  return err;
}

/** Sums over the points along one dimension. */
typedef struct spread {
  double about_0, about_middle; /**< of magnitudes */
  bool rounded;                 /**< a coordinate is not exact in fp32 */
} spread;

/** Points of a range: sums are added up range by range, and do not depend on threads. */
enum { RANGE = 1 << 14 };

typedef struct spreading {
  const tri_preparing *c;
  const double *middle;
  double *x;  /**< [slots][d] one point */
  spread *of; /**< [ranges][d] */
} spreading;

static tsl_err spread_range(void *context, int slot, int64_t first, int64_t last) {
  tsl_err err = TSL_OK;
  const spreading *s = context;
  const int64_t d = s->c->p->d;
  double *const x = s->x + slot * d;
  spread *const of = s->of + first / RANGE * d;
  for (int64_t i = first; i < last; i++) {
    TSL_TRY(tri_prepare_point(s->c, i, x));
    for (int64_t k = 0; k < d; k++) {
      of[k].about_0 += fabs(x[k]);
      of[k].about_middle += fabs(x[k] - s->middle[k]);
      of[k].rounded = of[k].rounded || x[k] != tri_rounded(s->c->p, x[k]);
    }
  }
done:
  return err;
}

static tsl_err find_spread(const tri_preparing *c, const double *middle, spread *of) {
  tsl_err err = TSL_OK;
  const int64_t n = c->points->table.n, d = c->p->d, ranges = tsl_divide_up(n, RANGE);
  spreading s = {.c = c, .middle = middle};
  TSL_TRY(tsl_alloc(tsl_parallel_slots() * d, sizeof *s.x, "one point", (void **)&s.x));
  TSL_TRY(tsl_alloc(ranges * d, sizeof *s.of, "spread of points", (void **)&s.of));
  TSL_TRY(tsl_parallel(n, RANGE, spread_range, &s));
  for (int64_t m = 0; m < ranges * d; m++) {
    spread *const to = of + m % d;
    to->about_0 += s.of[m].about_0;
    to->about_middle += s.of[m].about_middle;
    to->rounded = to->rounded || s.of[m].rounded;
  }
done:
  TSL_FREE_ALL(s.x, s.of);
  return err;
}

/** The middle where it saves two bits or more, else 0: what is dense around 0 stays so. */
static tsl_err find_origin(const tri_preparing *c, tri_rounding *r) {
  tsl_err err = TSL_OK;
  const double worth = 0.25;
  spread *of = NULL;
  TSL_TRY(tsl_alloc(c->p->d, sizeof *of, "spread of points", (void **)&of));
  TSL_TRY(find_middle(c, r->origin));
  TSL_TRY(find_spread(c, r->origin, of));
  for (int64_t k = 0; k < c->p->d; k++) {
    if (!of[k].rounded || !(of[k].about_middle < worth * of[k].about_0)) r->origin[k] = 0;
    r->moved = r->moved || r->origin[k] != 0;
  }
done:
  tsl_free(of);
  return err;
}

/** Nearest of the queries' neighbours so far, squared, with one more point. */
static void look_near(const double *queries, int64_t q, int64_t d, const double *x, double *near) {
  for (int64_t s = 0; s < q; s++) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
      sum += (queries[s * d + k] - x[k]) * (queries[s * d + k] - x[k]);
    near[s] = sum > 0 && sum < near[s] ? sum : near[s];
  }
}

typedef struct nearing {
  const tri_preparing *c;
  int64_t q, m;
  double *queries; /**< [q][d] */
  double *x;       /**< [slots][d] one point */
  double *near;    /**< [slots][QUERIES] */
} nearing;

static tsl_err near_range(void *context, int slot, int64_t first, int64_t last) {
  tsl_err err = TSL_OK;
  const nearing *s = context;
  const int64_t d = s->c->p->d;
  double *const x = s->x + slot * d;
  for (int64_t k = first; k < last; k++) {
    TSL_TRY(tri_prepare_point(s->c, k * s->c->points->table.n / s->m, x));
    look_near(s->queries, s->q, d, x, s->near + (int64_t)slot * QUERIES);
  }
done:
  return err;
}

/** Median of some points' distances to their nearest neighbours, scaled up from a part of these. */
static tsl_err find_near(const tri_preparing *c, tri_rounding *r) {
  tsl_err err = TSL_OK;
  const int64_t n = c->points->table.n, d = c->p->d, slots = tsl_parallel_slots();
  const int64_t q = bounded(NUMBERS / d, 1, n < QUERIES ? n : QUERIES);
  nearing s = {.c = c, .q = q, .m = bounded(STEPS / q / d, 2, n)};
  TSL_TRY(tsl_alloc(q * d, sizeof *s.queries, "sample of points", (void **)&s.queries));
  TSL_TRY(tsl_alloc(slots * d, sizeof *s.x, "one point", (void **)&s.x));
  TSL_TRY(tsl_alloc(slots * QUERIES, sizeof *s.near, "nearest points", (void **)&s.near));
  TSL_TRY(take_sample(c, q, s.queries));
  for (int64_t k = 0; k < slots * QUERIES; k++) s.near[k] = INFINITY;
  TSL_TRY(tsl_parallel(s.m, RANGE, near_range, &s));
  for (int64_t k = QUERIES; k < slots * QUERIES; k++)
    s.near[k % QUERIES] = fmin(s.near[k % QUERIES], s.near[k]);
  qsort(s.near, (size_t)q, sizeof *s.near, ascending);
  r->near = isfinite(s.near[q / 2]) ? sqrt(s.near[q / 2]) : 0;
  if (d <= 3) r->near *= pow((double)s.m / (double)n, 1.0 / (double)d);
done:
  TSL_FREE_ALL(s.queries, s.x, s.near);
  return err;
}

tsl_err tri_rounding_create(const tri_preparing *c, tri_rounding *r) {
  tsl_err err = TSL_OK;
  const tri_prepare how = tri_abouts[c->p->function].prepare;
  TSL_TRY(tsl_alloc(c->p->d, sizeof *r->origin, "origin", (void **)&r->origin));
  if (c->p->type != TSL_F32 || c->points->table.n < 2) goto done;
  if ((how == TRI_RAW && !c->absolute) || how == TRI_SPHERE) TSL_TRY(find_origin(c, r));
  TSL_TRY(find_near(c, r));
done:
  return err;
}

void tri_rounding_describe(const tri_params *p, const char *unit, const tri_rounding *r, char *text,
                           size_t size) {
  const double matters = 1e-3; /* of a distance */
  const tri_prepare how = tri_abouts[p->function].prepare;
  const bool lengths = how != TRI_UNIT_NORM && how != TRI_STANDARDISED;
  const double scale = how == TRI_SPHERE ? p->scale : 1;
  const bool named = lengths && unit[0] != '\0' && !(unit[0] == '1' && unit[1] == '\0');
  int used = 0;
  text[0] = '\0';
  if (r->moved) used = snprintf(text, size, ", counted from their middle");
  if (r->most == 0) return;
  used += snprintf(text + used, size - (size_t)used, "; rounding moves %s by up to %.2g%s%.24s",
                   lengths ? "them" : "their unit vectors", scale * r->most, named ? " " : "",
                   named ? unit : "");
  if (2 * r->most > matters * r->near && r->near > 0 && (size_t)used < size)
    (void)snprintf(text + used, size - (size_t)used,
                   ", nearest ones are about %.2g apart: precision: fp64 tells them apart",
                   scale * r->near);
}
