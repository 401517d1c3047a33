/** @file xc_cpu_groups.c  Groups of points: density, functional, matrix. */
#include "xc_cpu_groups.h"
#include "xc_cpu_nonlocal.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------- clock */

void xc_step_begins(xc_thread *t) {
  struct timespec now;
  if (!t->counts) return;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  t->mark = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void xc_step_ends(xc_thread *t, xc_step step) {
  const double last = t->mark;
  xc_step_begins(t);
  t->steps[step] += t->mark - last;
}

/* --------------------------------------------------------------- functions */

int64_t xc_row_blocks(const tsl_worker *w) {
  return w->p->functional.gga ? 4 : 1;
}

/* Places of the group's functions in the basis. */
static void set_places(xc_work *k) {
  int64_t row = 0;
  for (int64_t s = 0; s < k->group->n_shells; s++) {
    const xc_shell *shell = &k->w->view.orbital.shells[k->w->view.lists[k->group->shells + s]];
    for (int i = 0; i < xc_shell_size(shell); i++) k->at[row++] = shell->first + i;
  }
}

void xc_work_functions(xc_work *k) {
  const tsl_worker *w = k->w;
  const xc_piece *piece = k->piece;
  const int64_t first = k->group->first + piece->lo, size = k->functions * piece->ld;
  const xc_place place = {w->view.point[0] + first, w->view.point[1] + first,
                          w->view.point[2] + first, piece->n};
  double *block = piece->block != NULL ? piece->block : k->t->phi, *out[4];
  for (int b = 0; b < 4; b++) k->phi[b] = b < xc_row_blocks(w) ? block + b * size : NULL;
  set_places(k);
  if (piece->ready) return;
  for (int64_t s = 0, row = 0; s < k->group->n_shells; s++) {
    const xc_shell *shell = &w->view.orbital.shells[w->view.lists[k->group->shells + s]];
    for (int b = 0; b < 4; b++)
      out[b] = k->phi[b] != NULL ? block + b * size + row * piece->ld : NULL;
    w->loops->functions(shell, &place, w->p->functional.gga != 0, piece->ld, out);
    row += xc_shell_size(shell);
  }
}

/* ----------------------------------------------------------------- density */

void xc_work_gather(const xc_work *k, const double *density) {
  const int64_t b = k->functions, n = k->w->p->n;
  for (int64_t i = 0; i < b; i++) {
    const double *row = density + k->at[i] * n;
    double *to = k->t->square + i * b;
    for (int64_t j = 0; j < b; j++) to[j] = row[k->at[j]];
  }
}

void xc_work_product(const xc_work *k, bool turned, bool add, int64_t columns, int64_t inner,
                     const double *a, int64_t lda, const double *b, double *c, int64_t ldc) {
  if (k->w->loops->product != NULL)
    k->w->loops->product(turned, add, k->functions, columns, inner, a, lda, b, k->piece->ld, c,
                         ldc);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, turned ? CblasTrans : CblasNoTrans, (int)k->functions,
                (int)columns, (int)inner, 1, a, (int)lda, b, (int)k->piece->ld, add, c, (int)ldc);
}

/* X = D phi of a block of functions. */
static void set_x(const xc_work *k, int block, double *x) {
  xc_work_product(k, false, false, k->piece->n, k->functions, k->t->square, k->functions,
                  k->phi[block], x, k->piece->ld);
}

/* tau = sum_k D dphi/dk . dphi/dk / 2, of both spins together where they are alike. */
static void set_tau(const xc_work *k, int spin, double *const x[4]) {
  double *const tau = xc_work_array(k, XC_AT_TAU + spin);
  double *const none[3] = {NULL};
  memset(tau, 0, (size_t)k->piece->n * sizeof *tau);
  for (int b = 1; b < 4; b++) {
    set_x(k, b, x[b]);
    xc_step_ends(k->t, XC_STEP_X);
    k->w->loops->density(k->functions, k->piece->n, k->piece->ld, k->w->p->n_spin == 1 ? 1 : 0.5,
                         &k->phi[b], x[b], tau, none);
    xc_step_ends(k->t, XC_STEP_DENSITY);
  }
}

void xc_work_density(const xc_work *k, int spin, double *const x[4]) {
  const tsl_worker *w = k->w;
  const int64_t n = k->piece->n;
  const bool gga = w->p->functional.gga != 0;
  double *gradient[3];
  for (int c = 0; c < 3; c++) {
    gradient[c] = gga ? xc_work_array(k, XC_AT_GRADIENT + 3 * spin + c) : NULL;
    if (gga) memset(gradient[c], 0, (size_t)n * sizeof(double));
  }
  memset(xc_work_array(k, XC_AT_RHO + spin), 0, (size_t)n * sizeof(double));
  xc_work_gather(k, xc_density_of(w->problem, spin));
  if (k->tau) set_tau(k, spin, x);
  set_x(k, 0, x[0]);
  xc_step_ends(k->t, XC_STEP_X);
  w->loops->density(k->functions, n, k->piece->ld, w->p->n_spin == 1 ? 2 : 1, k->phi, x[0],
                    xc_work_array(k, XC_AT_RHO + spin), gradient);
  xc_step_ends(k->t, XC_STEP_DENSITY);
}

static void set_sigma(const xc_work *k) {
  static const int pairs[3][2] = {{0, 0}, {0, 1}, {1, 1}};
  const int last = k->w->p->n_spin == 1 ? 1 : 3;
  for (int s = 0; s < last; s++) {
    double *sigma = xc_work_array(k, XC_AT_SIGMA + s);
    memset(sigma, 0, (size_t)k->piece->n * sizeof *sigma);
    for (int x = 0; x < 3; x++) {
      const double *a = xc_work_array(k, XC_AT_GRADIENT + 3 * pairs[s][0] + x);
      const double *b = xc_work_array(k, XC_AT_GRADIENT + 3 * pairs[s][1] + x);
      for (int64_t p = 0; p < k->piece->n; p++) sigma[p] += a[p] * b[p];
    }
  }
}

/* -------------------------------------------------------------- functional */

void xc_work_evaluate(const xc_work *k) {
  if (k->nonlocal) {
    xc_nonlocal_evaluate(k, NULL);
    return;
  }
  const bool gga = k->w->p->functional.gga != 0, tau = k->w->p->functional.tau != 0;
  if (gga) set_sigma(k);
  xc_step_ends(k->t, XC_STEP_DENSITY);
  xc_points points = {.n = k->piece->n, .e = xc_work_array(k, XC_AT_ENERGY)};
  for (int s = 0; s < 2; s++)
    points.rho[s] = xc_work_array(k, XC_AT_RHO + s),
    points.vrho[s] = xc_work_array(k, XC_AT_VRHO + s);
  for (int s = 0; s < 3 && gga; s++)
    points.sigma[s] = xc_work_array(k, XC_AT_SIGMA + s),
    points.vsigma[s] = xc_work_array(k, XC_AT_VSIGMA + s);
  for (int s = 0; s < 2 && tau; s++)
    points.tau[s] = xc_work_array(k, XC_AT_TAU + s),
    points.vtau[s] = xc_work_array(k, XC_AT_VTAU + s);
  xc_evaluate(k->w->evaluator, &points);
}

static void integrate(const xc_work *k, double sums[XC_N_INTEGRALS]) {
  const double *w = k->w->view.point[3] + k->group->first + k->piece->lo;
  const double *e = xc_work_array(k, XC_AT_ENERGY);
  memset(sums, 0, XC_N_INTEGRALS * sizeof *sums);
  for (int64_t p = 0; p < k->piece->n; p++) sums[XC_INTEGRAL_ENERGY] += w[p] * e[p];
  for (int s = 0; s < k->w->p->n_spin && !k->nonlocal; s++) {
    const double *rho = xc_work_array(k, XC_AT_RHO + s);
    for (int64_t p = 0; p < k->piece->n; p++) sums[XC_INTEGRAL_ALPHA + s] += w[p] * rho[p];
  }
}

/* ------------------------------------------------------------------ matrix */

void xc_work_scales(const xc_work *k, int spin) {
  const tsl_worker *w = k->w;
  const double *weight = w->view.point[3] + k->group->first + k->piece->lo;
  const double *vrho = xc_work_array(k, XC_AT_VRHO + spin),
               *own = xc_work_array(k, XC_AT_VSIGMA + 2 * spin);
  const double *mixed = xc_work_array(k, XC_AT_VSIGMA + 1);
  double *scale = xc_work_array(k, XC_AT_SCALE);
  for (int64_t p = 0; p < k->piece->n; p++) scale[p] = 0.5 * weight[p] * vrho[p];
  for (int x = 0; x < 3 && w->p->functional.gga; x++) {
    const double *g = xc_work_array(k, XC_AT_GRADIENT + 3 * spin + x);
    const double *other = xc_work_array(k, XC_AT_GRADIENT + 3 * (1 - spin) + x);
    double *slope = xc_work_array(k, XC_AT_SLOPE + x);
    for (int64_t p = 0; p < k->piece->n; p++) slope[p] = 2 * weight[p] * own[p] * g[p];
    for (int64_t p = 0; p < k->piece->n && w->p->n_spin == 2; p++)
      slope[p] += weight[p] * mixed[p] * other[p];
  }
  const double *vtau = xc_work_array(k, XC_AT_VTAU + spin);
  double *curve = xc_work_array(k, XC_AT_CURVE);
  for (int64_t p = 0; p < k->piece->n && k->tau; p++) curve[p] = 0.25 * weight[p] * vtau[p];
}

static void set_matrix(const xc_work *k, int spin) {
  const int64_t b = k->functions;
  const bool gga = k->w->p->functional.gga != 0;
  const double *slopes[3], *const none[3] = {NULL};
  for (int x = 0; x < 3; x++) slopes[x] = gga ? xc_work_array(k, XC_AT_SLOPE + x) : NULL;
  xc_work_scales(k, spin);
  for (int block = 0; block < (k->tau ? 4 : 1); block++) {
    k->w->loops->potential(b, k->piece->n, k->piece->ld,
                           xc_work_array(k, block == 0 ? XC_AT_SCALE : XC_AT_CURVE),
                           block == 0 ? slopes : none, &k->phi[block], k->t->x);
    xc_step_ends(k->t, XC_STEP_Z);
    xc_work_product(k, true, block > 0, b, k->piece->n, k->phi[block], k->piece->ld, k->t->x,
                    k->slot->matrix + spin * b * b, b);
    xc_step_ends(k->t, XC_STEP_V);
  }
}

static void xc_cpu_groups_compute(xc_work *k) {
  xc_step_begins(k->t);
  xc_work_functions(k);
  xc_step_ends(k->t, XC_STEP_FUNCTIONS);
  double *const x[4] = {k->t->x, k->t->x, k->t->x, k->t->x};
  for (int s = 0; s < k->w->p->n_spin && !k->nonlocal; s++) xc_work_density(k, s, x);
  xc_work_evaluate(k);
  integrate(k, k->slot->sums);
  xc_step_ends(k->t, XC_STEP_FUNCTIONAL);
  for (int s = 0; s < k->w->p->n_spin; s++) set_matrix(k, s);
}

/* ------------------------------------------------------------------ pieces */

int64_t xc_round_up(int64_t n) {
  return (n + XC_LANES - 1) / XC_LANES * XC_LANES;
}

/** Points of a piece of a group. */
static int64_t piece_points(const tsl_worker *w, const xc_group *group) {
  if (w->p->parallel == XC_OUTER) return xc_round_up(group->n);
  if (w->p->parallel == XC_HYBRID || w->p->reproducible) return XC_PIECE;
  const int64_t share = xc_round_up((group->n + w->threads - 1) / w->threads);
  return share;
}

static tsl_err add_pieces(tsl_worker *w, const tsl_unit *unit, int64_t at) {
  tsl_err err = TSL_OK;
  const xc_group *g = &w->view.groups[unit->lo[0]];
  const int64_t size = piece_points(w, g), row = xc_row_blocks(w) * g->functions;
  double *block = NULL;
  bool ready = false;
  if (g->functions == 0) goto done;
  xc_cache_find(&w->cache, unit->lo[0], row * xc_round_up(g->n) * (int64_t)sizeof *block, &block,
                &ready);
  for (int64_t lo = 0; lo < g->n; lo += size) {
    const int64_t n = g->n - lo < size ? g->n - lo : size;
    TSL_TRY(
        tsl_grow((void **)&w->pieces, w->n_pieces, 1, &w->piece_room, sizeof *w->pieces, "pieces"));
    w->pieces[w->n_pieces++] = (xc_piece){.unit = at,
                                          .group = unit->lo[0],
                                          .lo = lo,
                                          .n = n,
                                          .ld = xc_round_up(n),
                                          .block = block != NULL ? block + row * lo : NULL,
                                          .ready = ready};
  }
done:
  return err;
}

tsl_err xc_set_pieces(tsl_worker *w, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  xc_cache_batch(&w->cache);
  w->n_pieces = 0;
  for (int64_t u = 0; u < n; u++) TSL_TRY(add_pieces(w, &units[u], u));
done:
  return err;
}

void xc_keep_pieces(tsl_worker *w, const tsl_unit *units) {
  for (int64_t i = 0; i < w->n_pieces; i++)
    if (w->pieces[i].block != NULL) xc_cache_ready(&w->cache, units[w->pieces[i].unit].lo[0]);
}

static void run_piece(tsl_worker *w, xc_thread *t, xc_slot *slot) {
  xc_piece *piece = &w->pieces[slot->piece];
  xc_work k = xc_work_of(w, t, piece, slot, slot->at);
  const double start = tsl_cpu_seconds();
  xc_cpu_groups_compute(&k);
  piece->seconds = tsl_cpu_seconds() - start;
}

/* The pieces [lo, hi), dealt to threads, what they find added in order. */
static void run_pieces(tsl_worker *w, const tsl_unit *units, int64_t lo, int64_t hi) {
  xc_ordered_sum_begin(&w->ordered_sum, lo, hi);
#pragma omp parallel num_threads(w->threads)
  {
    xc_thread *own = &w->thread[omp_get_thread_num()];
    for (xc_slot *slot; (slot = xc_ordered_sum_take(&w->ordered_sum)) != NULL;) {
      run_piece(w, own, slot);
      xc_step_begins(own);
      xc_ordered_sum_add(w, slot, units);
      xc_step_ends(own, XC_STEP_SCATTER);
    }
  }
}

void xc_spread_seconds(const tsl_worker *w, double seconds, int64_t n, tsl_part *parts) {
  double sum = 0;
  for (int64_t u = 0; u < n; u++) parts[u].seconds = 0;
  for (int64_t i = 0; i < w->n_pieces; i++) {
    parts[w->pieces[i].unit].seconds += w->pieces[i].seconds;
    sum += w->pieces[i].seconds;
  }
  for (int64_t u = 0; u < n; u++)
    parts[u].seconds = sum > 0 ? parts[u].seconds * seconds / sum : seconds / (double)n;
}

tsl_err xc_run_groups(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  TSL_TRY(xc_set_pieces(w, units, n));
  if (w->p->parallel != XC_INNER)
    run_pieces(w, units, 0, w->n_pieces);
  else
    for (int64_t lo = 0, hi; lo < w->n_pieces; lo = hi) { /* one group after another */
      for (hi = lo + 1; hi < w->n_pieces && w->pieces[hi].unit == w->pieces[lo].unit;) hi++;
      run_pieces(w, units, lo, hi);
    }
  xc_keep_pieces(w, units);
  xc_spread_seconds(w, tsl_cpu_unit_seconds(start, w->slow, 1), n, parts);
done:
  return err;
}

/* ------------------------------------------------------------------ memory */

static tsl_err open_thread(const tsl_worker *w, xc_thread *t) {
  tsl_err err = TSL_OK;
  const int64_t b = w->most_functions, ld = w->most_points;
  TSL_TRY(tsl_alloc(xc_row_blocks(w) * b * ld, sizeof *t->phi, "functions", (void **)&t->phi));
  TSL_TRY(tsl_alloc(b * ld, sizeof *t->x, "products", (void **)&t->x));
  TSL_TRY(tsl_alloc(b * b, sizeof *t->square, "density of a group", (void **)&t->square));
  TSL_TRY(tsl_alloc(XC_POINT_ARRAYS * ld, sizeof *t->points, "points", (void **)&t->points));
done:
  return err;
}

/* Likewise. */
static double thread_bytes(const tsl_worker *w) {
  const double b = (double)w->most_functions, ld = (double)w->most_points;
  return 8 * ((double)(xc_row_blocks(w) + 1) * b * ld + b * b + XC_POINT_ARRAYS * ld);
}

double xc_groups_bytes(tsl_worker *w) {
  const xc_params *p = w->p;
  w->most_points = XC_LANES, w->most_functions = 1;
  for (int64_t g = 0; g < p->n_groups; g++) {
    const xc_group *group = &w->view.groups[g];
    const int64_t piece = piece_points(w, group), points = xc_round_up(group->n);
    const int64_t most = points < piece ? points : piece;
    if (most > w->most_points) w->most_points = most;
    if (group->functions > w->most_functions) w->most_functions = group->functions;
  }
  const double spins = p->n_spin, b = (double)w->most_functions, n = (double)p->n;
  return w->threads * thread_bytes(w) + 8 * spins * (xc_ordered_sum_slots(w) * b * b + n * n);
}

tsl_err xc_groups_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  TSL_TRY(xc_cache_open(p->n_groups, w->cache_bytes, &w->cache));
  TSL_TRY(tsl_alloc(p->n_spin * p->n * p->n, sizeof *w->xc, "exchange-correlation matrix",
                    p->reproducible ? (void **)&w->fixed : (void **)&w->xc));
  TSL_TRY(xc_evaluator_create(&p->functional, p->n_spin, w->loops->level, &w->evaluator));
  for (int t = 0; t < w->threads; t++) TSL_TRY(open_thread(w, &w->thread[t]));
  TSL_TRY(xc_ordered_sum_open(w));
done:
  return err;
}

void xc_groups_close(tsl_worker *w) {
  for (int t = 0; w->thread != NULL && t < w->threads; t++) {
    xc_thread *own = &w->thread[t];
    void *all[] = {own->phi, own->x, own->square, own->points};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsl_free(all[k]);
  }
  xc_evaluator_destroy(&w->evaluator);
  xc_cache_close(&w->cache);
  xc_ordered_sum_close(&w->ordered_sum);
  TSL_FREE_ALL(w->pieces, w->xc, w->fixed);
}
