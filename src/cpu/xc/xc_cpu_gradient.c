/** @file xc_cpu_gradient.c  Groups of points: the gradient of the exchange-correlation energy. */
#include "xc_cpu_gradient.h"
#include "xc_cpu_groups.h"
#include "xc_cpu_nonlocal.h"
#include "xc_fixed.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { PIECES_EACH = 32 }; /* of a thread before what they found is added */

/** What one thread owns beside xc_thread. */
typedef struct gradient_thread {
  double *x[2][4];  /**< [functions][ld] of spins: D phi; meta-GGAs: D dphi/dx, ..; x[0][0] is
                        xc_thread.x */
  double *psi, *z;  /**< [functions][ld]; local functionals: z alone */
  double *move[3];  /**< [ld] what points add when they move, without its factor */
  double *amount;   /**< [ld] w e */
  double *force[3]; /**< [ld] what moves points that meet others: dE/dr */
  int64_t *at;      /**< [functions] */
  double *block;    /**< all of the doubles but x[0][0] */
  xc_partition_work *work; /**< NULL: no response */
} gradient_thread;

struct xc_gradient {
  int threads;
  int64_t n_atoms;
  const int32_t *owners;   /**< [n_points] not owned */
  xc_partition *partition; /**< NULL: no response */
  gradient_thread *own;    /**< [threads] */
  double *found;           /**< [threads * PIECES_EACH][n_atoms][3] */
};

/* ------------------------------------------------------------------- piece */

/** Blocks of X = D phi that a spin has. */
static int x_blocks(const tsl_worker *w) {
  return w->p->functional.tau ? 4 : 1;
}

/** Add the parts of the functions of a spin. @param[out] found  [n_atoms][3] */
static void add_functions(const xc_work *k, const gradient_thread *o, int spin, double *found) {
  const tsl_worker *w = k->w;
  const xc_piece *piece = k->piece;
  const int64_t first = k->group->first + piece->lo;
  const xc_place place = {w->view.point[0] + first, w->view.point[1] + first,
                          w->view.point[2] + first, piece->n};
  const bool gga = w->p->functional.gga != 0;
  const double *slope[3], *curve = k->tau ? xc_work_array(k, XC_AT_CURVE) : NULL;
  for (int c = 0; c < 3; c++) slope[c] = gga ? xc_work_array(k, XC_AT_SLOPE + c) : NULL;
  for (int64_t s = 0, row = 0; s < k->group->n_shells; s++) {
    const xc_shell *shell = &w->view.orbital.shells[w->view.lists[k->group->shells + s]];
    const double *x[4] = {NULL};
    double sum[3] = {0};
    for (int b = 0; b < (k->tau ? 4 : 1); b++) x[b] = o->x[spin][b] + row * piece->ld;
    w->loops->gradient(shell, &place, piece->ld, x, o->z + row * piece->ld, slope, curve, o->move,
                       sum);
    for (int c = 0; c < 3; c++) found[3 * shell->atom + c] -= sum[c];
    row += xc_shell_size(shell);
  }
}

/** z = D psi of a spin, psi = w v_rho phi + w G . grad phi. */
static void set_z(const xc_work *k, const gradient_thread *o, int spin) {
  const tsl_worker *w = k->w;
  const int64_t n = k->piece->n, ld = k->piece->ld, b = k->functions;
  double *scale = xc_work_array(k, XC_AT_SCALE);
  const double *slope[3] = {NULL};
  xc_work_scales(k, spin);
  for (int64_t p = 0; p < n; p++) scale[p] *= 2;
  double *curve = xc_work_array(k, XC_AT_CURVE);
  for (int64_t p = 0; p < n && k->tau; p++) curve[p] *= 2;
  if (!w->p->functional.gga) {
    w->loops->potential(b, n, ld, scale, slope, (const double *const[4]){o->x[spin][0]}, o->z);
    return;
  }
  for (int c = 0; c < 3; c++) slope[c] = xc_work_array(k, XC_AT_SLOPE + c);
  w->loops->potential(b, n, ld, scale, slope, k->phi, o->psi);
  if (w->p->n_spin == 2) xc_work_gather(k, xc_density_of(w->problem, spin));
  xc_work_product(k, false, false, n, b, k->t->square, b, o->psi, o->z, ld);
}

/** Points and weights that follow their owners. */
static void add_response(const xc_gradient *g, const xc_work *k, const gradient_thread *o,
                         double *found) {
  const tsl_worker *w = k->w;
  const int64_t first = k->group->first + k->piece->lo, n = k->piece->n;
  const int32_t *owner = g->owners + first;
  const double *weight = w->view.point[3] + first, *e = xc_work_array(k, XC_AT_ENERGY);
  const double *const at[3] = {w->view.point[0] + first, w->view.point[1] + first,
                               w->view.point[2] + first};
  for (int64_t p = 0; p < n; p++)
    for (int c = 0; c < 3; c++) found[3 * owner[p] + c] += o->move[c][p];
  for (int64_t k3 = 0; k3 < 3 * g->n_atoms; k3++) found[k3] *= w->p->n_spin == 1 ? 4 : 2;
  for (int64_t p = 0; p < n && k->nonlocal; p++)
    for (int c = 0; c < 3; c++) found[3 * owner[p] + c] += o->force[c][p];
  for (int64_t p = 0; p < n; p++) o->amount[p] = weight[p] * e[p];
  xc_partition_gradient(g->partition, o->work, n, at, owner, o->amount, found);
}

static void compute(const xc_gradient *g, xc_work *k, const gradient_thread *o, double *found) {
  const xc_params *p = k->w->p;
  memset(found, 0, (size_t)(3 * g->n_atoms) * sizeof *found);
  for (int c = 0; c < 3; c++) memset(o->move[c], 0, (size_t)k->piece->n * sizeof *found);
  xc_step_begins(k->t);
  xc_work_functions(k);
  for (int s = 0; s < p->n_spin; s++) xc_work_density(k, s, o->x[s]);
  if (k->nonlocal)
    xc_nonlocal_evaluate(k, g->partition != NULL ? o->force : NULL);
  else
    xc_work_evaluate(k);
  for (int s = 0; s < p->n_spin; s++) {
    set_z(k, o, s);
    add_functions(k, o, s, found);
  }
  if (g->partition != NULL) {
    add_response(g, k, o, found);
  } else {
    for (int64_t c = 0; c < 3 * g->n_atoms; c++) found[c] *= p->n_spin == 1 ? 4 : 2;
  }
}

/* ------------------------------------------------------------------- batch */

/* Pieces [lo, hi), as many as there are places for what they find. */
static void run_pieces(tsl_worker *w, const xc_gradient *g, int64_t lo, int64_t hi) {
#pragma omp parallel for num_threads(g->threads) schedule(dynamic)
  for (int64_t i = lo; i < hi; i++) {
    const int thread = omp_get_thread_num();
    xc_piece *piece = &w->pieces[i];
    const gradient_thread *o = &g->own[thread];
    xc_work k = xc_work_of(w, &w->thread[thread], piece, NULL, o->at);
    const double start = tsl_cpu_seconds();
    compute(g, &k, o, g->found + (i - lo) * 3 * g->n_atoms);
    piece->seconds = tsl_cpu_seconds() - start;
  }
}

/** Add what pieces found, in their order. */
static tsl_err add_found(const tsl_worker *w, const xc_gradient *g, int64_t n, double *gradient) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < n; i++) {
    const double *found = g->found + i * 3 * g->n_atoms;
    for (int64_t c = 0; c < 3 * g->n_atoms; c++)
      gradient[c] += w->p->reproducible ? xc_fixed_share(found[c]) : found[c];
  }
  for (int64_t c = 0; c < 3 * g->n_atoms && w->p->reproducible; c++)
    if (!(fabs(gradient[c]) < 1024))
      TSL_FAIL(TSL_ERR_NUMERIC,
               "the gradient of the exchange-correlation energy is %g hartree/bohr; "
               "xc.reproducible can hold less than 1024",
               gradient[c]);
done:
  return err;
}

tsl_err xc_gradient_groups(tsl_worker *w, xc_gradient *g, const tsl_unit *units, int64_t n,
                           tsl_part *parts, double *gradient) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  const int64_t most = (int64_t)g->threads * PIECES_EACH;
  TSL_TRY(xc_set_pieces(w, units, n));
  for (int64_t lo = 0, hi; lo < w->n_pieces; lo = hi) {
    hi = w->n_pieces - lo < most ? w->n_pieces : lo + most;
    run_pieces(w, g, lo, hi);
    TSL_TRY(add_found(w, g, hi - lo, gradient));
  }
  xc_keep_pieces(w, units);
  xc_spread_seconds(w, tsl_cpu_unit_seconds(start, w->slow, 1), n, parts);
done:
  return err;
}

/* ------------------------------------------------------------------ memory */

/** Blocks of functions that a thread has beside those of xc_thread. */
static int64_t blocks(const tsl_worker *w) {
  return (w->p->functional.gga ? 2 : 1) + w->p->n_spin * x_blocks(w) - 1;
}

enum { POINT_ROWS = 7 };

static int64_t own_doubles(const tsl_worker *w) {
  return (blocks(w) * w->most_functions + POINT_ROWS) * w->most_points;
}

double xc_gradient_bytes(const tsl_worker *w) {
  const double own = 8 * ((double)own_doubles(w) + (double)w->most_functions);
  const double atoms = (double)w->p->n_atoms, response = w->p->response ? 1 : 0;
  return w->threads * (own + 24 * PIECES_EACH * atoms + response * 88 * atoms) +
         response * 16 * atoms * atoms;
}

static tsl_err open_own(const tsl_worker *w, const xc_gradient *g, int thread, gradient_thread *o) {
  tsl_err err = TSL_OK;
  const int64_t size = w->most_functions * w->most_points;
  TSL_TRY(tsl_alloc(own_doubles(w), sizeof *o->block, "gradient of a group", (void **)&o->block));
  TSL_TRY(tsl_alloc(w->most_functions, sizeof *o->at, "places", (void **)&o->at));
  if (g->partition != NULL) TSL_TRY(xc_partition_work_create(g->partition, &o->work));
  double *next = o->block;
  o->x[0][0] = w->thread[thread].x;
  for (int s = 0; s < w->p->n_spin; s++)
    for (int b = 0; b < x_blocks(w); b++)
      if (s + b > 0) o->x[s][b] = next, next += size;
  o->z = next, next += size;
  if (w->p->functional.gga) o->psi = next, next += size;
  for (int c = 0; c < 3; c++) o->move[c] = next, next += w->most_points;
  o->amount = next, next += w->most_points;
  for (int c = 0; c < 3; c++) o->force[c] = next, next += w->most_points;
done:
  return err;
}

tsl_err xc_gradient_open(tsl_worker *w, xc_gradient **out) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const tsl_field *fields = w->problem->fields;
  void *memory = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof **out, "gradient", &memory));
  xc_gradient *g = *out = memory;
  *g = (xc_gradient){
      .threads = w->threads, .n_atoms = p->n_atoms, .owners = fields[XC_IN_OWNERS].data};
  if (p->response)
    TSL_TRY(xc_partition_create(&p->grid, fields[XC_IN_ATOMS].data, p->n_atoms, &g->partition));
  TSL_TRY(tsl_alloc(g->threads, sizeof *g->own, "threads", (void **)&g->own));
  TSL_TRY(tsl_alloc((int64_t)g->threads * PIECES_EACH, 3 * p->n_atoms * (int64_t)sizeof(double),
                    "gradients of pieces", (void **)&g->found));
  for (int t = 0; t < g->threads; t++) TSL_TRY(open_own(w, g, t, &g->own[t]));
done:
  if (err != TSL_OK) xc_gradient_close(out);
  return err;
}

void xc_gradient_close(xc_gradient **gradient) {
  xc_gradient *g = *gradient;
  if (g == NULL) return;
  for (int t = 0; g->own != NULL && t < g->threads; t++) {
    xc_partition_work_destroy(&g->own[t].work);
    TSL_FREE_ALL(g->own[t].block, g->own[t].at);
  }
  xc_partition_destroy(&g->partition);
  TSL_FREE_ALL(g->own, g->found, g);
  *gradient = NULL;
}
