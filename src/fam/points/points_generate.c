/* Uniform, Plummer and clustered points from a counter-based random number generator (splitmix64).
 * */
#include "points.h"

#include "parallel.h"

#include <math.h>

static const double two_pi = 6.28318530717958647692;

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/**
 * Uniform number in (0, 1) with 52 random bits; never 0 or 1.
 * Source: splitmix64 (Steele, Lea, Flood 2014) at position point 2^24 + draw of the seed's
 * sequence; draw is 0 .. 2^24 - 1.
 */
static double draw_random(int64_t seed, int64_t point, int64_t draw) {
  static const uint64_t gamma = UINT64_C(0x9e3779b97f4a7c15);
  const uint64_t start = mix((uint64_t)seed + gamma);
  const uint64_t place = ((uint64_t)point << 24) + (uint64_t)draw + 1;
  return ((double)(mix(start + gamma * place) >> 12) + 0.5) * 0x1p-52;
}

static void make_uniform(const points_generator *g, int64_t i, double *x) {
  for (int64_t k = 0; k < g->d; k++)
    x[k] = draw_random(g->seed, i, k) * (g->box != NULL ? g->box[k] : g->side);
}

/**
 * A point of the Plummer sphere: mass inside r is r^3 / (r^2 + a^2)^(3/2).
 * Source: Aarseth, Henon & Wielen 1974, Astron. Astrophys. 37, 183, appendix.
 */
static void make_plummer(const points_generator *g, int64_t i, double *x) {
  const double mass = draw_random(g->seed, i, 0);
  const double r = g->scale / sqrt(pow(mass, -2.0 / 3.0) - 1.0);
  const double z = (1.0 - 2.0 * draw_random(g->seed, i, 1)) * r;
  const double angle = two_pi * draw_random(g->seed, i, 2);
  const double flat = sqrt((r - z) * (r + z));
  x[0] = flat * cos(angle);
  x[1] = flat * sin(angle);
  x[2] = z;
}

/** A Gaussian blob around its cluster's centre (Box & Muller 1958). */
static void make_cluster(const points_generator *g, int64_t i, double *x) {
  const int64_t cluster = (int64_t)((double)i * (double)g->clusters / (double)g->n);
  for (int64_t k = 0; k < g->d; k++) {
    const double centre = g->side * draw_random(g->seed, TABLE_MAX_ROWS + 1 + cluster, k);
    const double r = sqrt(-2.0 * log(draw_random(g->seed, i, 2 * k)));
    x[k] = centre + g->scale * r * cos(two_pi * draw_random(g->seed, i, 2 * k + 1));
  }
}

typedef struct making {
  const points_generator *g;
  double *x; /**< [n][d] */
} making;

static tsl_err make_range(void *context, int slot, int64_t first, int64_t last) {
  static void (*const makers[])(const points_generator *, int64_t, double *) = {
      [POINTS_UNIFORM] = make_uniform,
      [POINTS_PLUMMER] = make_plummer,
      [POINTS_CLUSTERS] = make_cluster,
  };
  const making *m = context;
  (void)slot;
  for (int64_t i = first; i < last; i++) makers[m->g->kind](m->g, i, m->x + i * m->g->d);
  return TSL_OK;
}

tsl_err points_generate(const points_generator *g, table_rows *table) {
  enum { GRAIN = 1 << 14 };
  tsl_err err = TSL_OK;
  TSL_TRY(table_rows_create(g->n, g->d, "the points", table));
  making m = {g, table->values};
  TSL_TRY(tsl_parallel(g->n, GRAIN, make_range, &m));
done:
  return err;
}
