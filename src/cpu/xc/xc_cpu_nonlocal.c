/** @file xc_cpu_nonlocal.c  Groups of non-local correlation: densities, and points that meet. */
#include "xc_cpu_nonlocal.h"

#include <omp.h>

/* --------------------------------------------------------------- densities */

static void set_densities(xc_work *k) {
  const tsl_worker *w = k->w;
  const int64_t all = w->p->n_nonlocal_points;
  const int64_t first = k->group->first + k->piece->lo - xc_local_points(w->p);
  double *const x[4] = {k->t->x, k->t->x, k->t->x, k->t->x};
  xc_step_begins(k->t);
  xc_work_functions(k);
  xc_step_ends(k->t, XC_STEP_FUNCTIONS);
  for (int s = 0; s < w->p->n_spin; s++) xc_work_density(k, s, x);
  for (int s = 0; s < w->p->n_spin; s++)
    for (int c = 0; c < XC_NONLOCAL_OMEGA; c++) {
      const double *from = xc_work_array(
          k, c == XC_NONLOCAL_RHO ? XC_AT_RHO + s : XC_AT_GRADIENT + 3 * s + c - XC_NONLOCAL_SLOPE);
      double *to = w->densities + c * all + first;
      for (int64_t p = 0; p < k->piece->n; p++) to[p] = s == 0 ? from[p] : to[p] + from[p];
    }
}

tsl_err xc_nonlocal_densities(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  TSL_TRY(xc_set_pieces(w, units, n));
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
  for (int64_t i = 0; i < w->n_pieces; i++) {
    const int thread = omp_get_thread_num();
    xc_work k =
        xc_work_of(w, &w->thread[thread], &w->pieces[i], NULL, w->ordered_sum.slots[thread].at);
    const double begin = tsl_cpu_seconds();
    set_densities(&k);
    w->pieces[i].seconds = tsl_cpu_seconds() - begin;
  }
  xc_keep_pieces(w, units);
  xc_spread_seconds(w, tsl_cpu_unit_seconds(start, w->slow, 1), n, parts);
done:
  return err;
}

/* ------------------------------------------------------------------- pairs */

/** Rows of the fields of points, from a piece's first on, and of all sites. */
typedef struct meeting {
  const double *point[XC_N_POINT_ROWS]; /* density, gradient, site */
  const double *site[XC_N_SITE_ROWS];
  const double *near[5];
  const double *weight;
  int64_t sites;
} meeting;

static meeting meeting_of(const xc_work *k) {
  const tsl_worker *w = k->w;
  const int64_t first = k->group->first + k->piece->lo;
  meeting m = {.weight = w->view.point[3] + first, .sites = w->sites};
  for (int r = 0; r < XC_N_POINT_ROWS; r++)
    m.point[r] = xc_nonlocal_row(w->problem, r) + first - xc_local_points(w->p);
  for (int r = 0; r < XC_N_SITE_ROWS; r++)
    m.site[r] = xc_nonlocal_row(w->problem, XC_NONLOCAL_SITES + r);
  for (int x = 0; x < 3; x++) m.near[x] = w->view.point[x] + first;
  m.near[3] = m.point[XC_NONLOCAL_OMEGA], m.near[4] = m.point[XC_NONLOCAL_KAPPA];
  return m;
}

/* The arrays of a point that has met all; of points that take no part all is 0. */
static void finish_point(const xc_work *k, const meeting *m, int64_t p, double *const sums[6],
                         double *const force[3]) {
  const xc_vv10 f = k->w->p->functional.nonlocal;
  const double rho = m->point[XC_NONLOCAL_RHO][p];
  double sigma = 0, slope[3];
  xc_vv10_point o = {0};
  for (int x = 0; x < 3; x++) slope[x] = m->point[XC_NONLOCAL_SLOPE + x][p];
  for (int x = 0; x < 3; x++) sigma += slope[x] * slope[x];
  if (rho >= XC_VV10_LEAST) {
    const xc_vv10_sums s = {.f = sums[0][p], .u = sums[1][p], .v = sums[2][p]};
    const xc_vv10_site site = {m->point[XC_NONLOCAL_OMEGA][p], m->point[XC_NONLOCAL_KAPPA][p]};
    o = xc_vv10_finish(f, xc_vv10_beta(f.b), rho, sigma, site, &s);
  }
  const double charge = rho >= XC_VV10_LEAST && force != NULL ? m->weight[p] * rho : 0;
  const bool two = k->w->p->n_spin == 2;
  for (int x = 0; x < 3 && force != NULL; x++) force[x][p] = 2 * charge * sums[3 + x][p];
  xc_work_array(k, XC_AT_ENERGY)[p] = force != NULL ? o.whole : o.e;
  for (int s = 0; s < 2; s++) {
    xc_work_array(k, XC_AT_VRHO + s)[p] = o.vrho;
    xc_work_array(k, XC_AT_VSIGMA + 2 * s)[p] = o.vsigma;
    for (int x = 0; x < 3; x++)
      xc_work_array(k, XC_AT_GRADIENT + 3 * s + x)[p] = two ? 0.5 * slope[x] : slope[x];
  }
  xc_work_array(k, XC_AT_VSIGMA + 1)[p] = 2 * o.vsigma;
}

void xc_nonlocal_evaluate(const xc_work *k, double *const force[3]) {
  const meeting m = meeting_of(k);
  double *sums[6];
  for (int s = 0; s < 3; s++) sums[s] = xc_work_array(k, XC_AT_SLOPE + s);
  for (int s = 0; s < 3; s++) sums[3 + s] = force != NULL ? force[s] : NULL;
  k->w->loops->pairs(k->piece->n, m.near, m.sites, m.site, force != NULL, sums);
  for (int64_t p = 0; p < k->piece->n; p++) finish_point(k, &m, p, sums, force);
}
