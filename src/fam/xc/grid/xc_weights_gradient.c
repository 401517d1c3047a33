/* Derivatives of the weights of a fuzzy partition of space with the positions of the atoms. */
#include "xc_weights_own.h"

#include <stdlib.h>
#include <string.h>

/**
 * The atoms that matter to a point, its rivals, and what is known of each: [n] arrays of doubles.
 * u is the unit vector from the atom to the point. Of the pairs (i, k) of one atom i: mu, the
 * factor of the cell, and slope = (ds/dnu)/s (dnu/dmu)/R_ik, the derivative of ln s_ik with
 * r_i - r_k.
 */
struct xc_partition_work {
  int64_t n;                /**< rivals of this point */
  double reach;             /**< cells of rivals farther away are 0 */
  double *r, *ux, *uy, *uz; /**< r: first of all atoms, then of rivals */
  double *inverse, *shift, *mu, *factor, *slope;
  double *cell;  /**< P_i; 0: left out */
  int64_t *atom; /**< numbers of the rivals */
  double *block; /**< all of the doubles */
};

enum { ARRAYS = 10 };

tsl_err xc_partition_work_create(const xc_partition *partition, xc_partition_work **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  const int64_t n = partition->n > 0 ? partition->n : 1;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof **out, "derivatives of weights", &memory));
  xc_partition_work *w = *out = memory;
  *w = (xc_partition_work){.n = 0};
  TSL_TRY(tsl_alloc(n, ARRAYS * sizeof *w->block, "rivals of a point", (void **)&w->block));
  TSL_TRY(tsl_alloc(n, sizeof *w->atom, "numbers of rivals", (void **)&w->atom));
  double **const rows[ARRAYS] = {&w->r,     &w->ux, &w->uy,     &w->uz,    &w->inverse,
                                 &w->shift, &w->mu, &w->factor, &w->slope, &w->cell};
  for (int k = 0; k < ARRAYS; k++) *rows[k] = w->block + k * n;
done:
  if (err != TSL_OK) xc_partition_work_destroy(out);
  return err;
}

void xc_partition_work_destroy(xc_partition_work **work) {
  if (*work == NULL) return;
  TSL_FREE_ALL((*work)->block, (*work)->atom, *work);
  *work = NULL;
}

/* ------------------------------------------------------------------ rivals */

TSL_LEVELS static void set_distances(const xc_partition *p, const double at[3],
                                     double *restrict r) {
  for (int64_t k = 0; k < p->n; k++) {
    const double *c = &p->at[3 * k], x = at[0] - c[0], y = at[1] - c[1], z = at[2] - c[2];
    r[k] = sqrt(x * x + y * y + z * z);
  }
}

/**
 * The atoms whose cells or whose factors change when atoms move a little. SSF: with the ratio of
 * ssf_share, cells of atoms not nearer than ratio times the nearest are 0, and of the others'
 * factors those of atoms not nearer than ratio times the farthest of them are 1.
 * @return false: one cell is all
 */
static bool find_rivals(const xc_partition *p, const double at[3], xc_partition_work *w) {
  const double ratio = (1 + p->over) / (1 - p->over);
  double nearest = INFINITY, farthest = 0;
  int64_t cells = 0;
  set_distances(p, at, w->r);
  for (int64_t k = 0; k < p->n; k++) nearest = fmin(nearest, w->r[k]);
  w->reach = p->becke ? INFINITY : ratio * nearest;
  for (int64_t k = 0; k < p->n; k++)
    if (w->r[k] <= w->reach) cells++, farthest = fmax(farthest, w->r[k]);
  w->n = 0;
  if (cells == 1) return false;
  for (int64_t k = 0; k < p->n; k++)
    if (p->becke || w->r[k] <= ratio * farthest) {
      const double *c = &p->at[3 * k], r = w->r[k], over = r > 0 ? 1 / r : 0;
      const int64_t to = w->n++;
      w->atom[to] = k, w->r[to] = r;
      w->ux[to] = (at[0] - c[0]) * over;
      w->uy[to] = (at[1] - c[1]) * over;
      w->uz[to] = (at[2] - c[2]) * over;
    }
  return true;
}

/* ------------------------------------------------------------------- cells */

static void set_pairs(const xc_partition *p, int64_t i, int64_t lo, int64_t hi,
                      xc_partition_work *w) {
  const double *inverse = p->inverse + w->atom[i] * p->n, *shift = p->shift + w->atom[i] * p->n;
  for (int64_t k = lo; k < hi; k++)
    w->inverse[k] = inverse[w->atom[k]], w->shift[k] = shift[w->atom[k]];
}

/* mu and factors of the pairs of i with rivals [lo, hi), and slopes of all. The diagonal has mu = 0
 * and shift -1: nu is -1, its factor 1 and its slope 0. */
#define ROW(name, step, step_slope)                                                              \
  TSL_LEVELS static void name##_factors(const xc_partition_work *w, int64_t i, int64_t lo,       \
                                        int64_t hi) {                                            \
    const double own = w->r[i];                                                                  \
    const double *restrict r = w->r, *restrict inverse = w->inverse, *restrict shift = w->shift; \
    double *restrict mu = w->mu, *restrict factor = w->factor;                                   \
    for (int64_t k = lo; k < hi; k++) {                                                          \
      mu[k] = (own - r[k]) * inverse[k];                                                         \
      factor[k] = step(mu[k] + shift[k] * (1 - mu[k] * mu[k]));                                  \
    }                                                                                            \
  }                                                                                              \
  TSL_LEVELS static void name##_slopes(const xc_partition_work *w) {                             \
    const double *restrict inverse = w->inverse, *restrict shift = w->shift;                     \
    const double *restrict mu = w->mu, *restrict factor = w->factor;                             \
    double *restrict slope = w->slope;                                                           \
    for (int64_t k = 0; k < w->n; k++)                                                           \
      slope[k] = step_slope(mu[k] + shift[k] * (1 - mu[k] * mu[k]), factor[k]) *                 \
                 (1 - 2 * shift[k] * mu[k]) * inverse[k];                                        \
  }
ROW(becke, becke_step, becke_slope)
ROW(ssf, ssf_step, ssf_slope)

/** The cell of rival i; 0 once it is at most stop. */
static double cell_of(const xc_partition *p, xc_partition_work *w, int64_t i, double stop) {
  enum { PIECE = 32 };
  double product = 1;
  for (int64_t lo = 0; lo < w->n; lo += PIECE) {
    const int64_t hi = w->n - lo < PIECE ? w->n : lo + PIECE;
    set_pairs(p, i, lo, hi, w);
    (p->becke ? becke_factors : ssf_factors)(w, i, lo, hi);
    for (int64_t k = lo; k < hi; k++) product *= w->factor[k];
    if (product <= stop) return 0;
  }
  return product;
}

/** All cells, and their sum. */
static double set_cells(const xc_partition *p, xc_partition_work *w) {
  double sum = 0;
  int64_t nearest = 0;
  for (int64_t i = 1; i < w->n; i++)
    if (w->r[i] < w->r[nearest]) nearest = i;
  const double most = cell_of(p, w, nearest, 0);
  for (int64_t i = 0; i < w->n; i++) {
    w->cell[i] = i == nearest ? most : 0;
    if (i != nearest && w->r[i] <= w->reach) w->cell[i] = cell_of(p, w, i, XC_LEAST_CELL * most);
    sum += w->cell[i];
  }
  return sum;
}

/* --------------------------------------------------------------- gradients */

/**
 * Add c d ln P_i. With mu_ik = (r_i - r_k)/R_ik and e = (R_i - R_k)/R_ik,
 *   d mu/dR_i = -(u_i + mu e)/R_ik    d mu/dR_k = (u_k + mu e)/R_ik    d mu/dr = (u_i - u_k)/R_ik
 * where the point, r, moves with its owner.
 */
static void add_cell(const xc_partition *p, const xc_partition_work *w, int64_t i, double c,
                     double *own, double *gradient) {
  const double *at = &p->at[3 * w->atom[i]];
  double moved[3] = {0};
  for (int64_t k = 0; k < w->n; k++) {
    const double *other = &p->at[3 * w->atom[k]];
    const double t = c * w->slope[k], along = t * w->mu[k] * w->inverse[k];
    const double u[3] = {w->ux[k], w->uy[k], w->uz[k]};
    if (t == 0) continue;
    for (int x = 0; x < 3; x++) {
      const double stretch = along * (at[x] - other[x]);
      gradient[3 * w->atom[k] + x] += t * u[x] + stretch;
      own[x] -= t * u[x];
      moved[x] -= stretch;
      own[x] += t * (x == 0 ? w->ux[i] : x == 1 ? w->uy[i] : w->uz[i]);
      moved[x] -= t * (x == 0 ? w->ux[i] : x == 1 ? w->uy[i] : w->uz[i]);
    }
  }
  for (int x = 0; x < 3; x++) gradient[3 * w->atom[i] + x] += moved[x];
}

void xc_partition_gradient(const xc_partition *partition, xc_partition_work *work, int64_t n,
                           const double *const at[3], const int32_t *owner, const double *amount,
                           double *gradient) {
  for (int64_t q = 0; q < n; q++) {
    const double place[3] = {at[0][q], at[1][q], at[2][q]};
    if (!find_rivals(partition, place, work)) continue;
    const double sum = set_cells(partition, work);
    for (int64_t i = 0; i < work->n; i++) {
      const double share = work->cell[i] / sum;
      const bool own = work->atom[i] == owner[q];
      if (!own && share < XC_LEAST_CELL) continue;
      (void)cell_of(partition, work, i, -1); /* its factors again, all of them */
      (partition->becke ? becke_slopes : ssf_slopes)(work);
      add_cell(partition, work, i, amount[q] * ((own ? 1 : 0) - share), &gradient[3 * owner[q]],
               gradient);
    }
  }
}
