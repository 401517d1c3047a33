/** @file xc_functional_eval.c  Values of a functional on blocks of points. */
#include "xc_functional_own.h"

#include <string.h>

struct xc_evaluator {
  xc_functional functional;
  const xc_kernels *kernels;
  int n_spins;
  void *handles[XC_MAX_TERMS]; /* of libxc, one for each term */
};

tsl_err xc_evaluator_create(const xc_functional *functional, int n_spins, int level,
                            xc_evaluator **out) {
  tsl_err err = TSL_OK;
  xc_evaluator *made = NULL;
  *out = NULL;
  if (n_spins != 1 && n_spins != 2)
    TSL_FAIL(TSL_ERR_INTERNAL, "functional '%s' of %d spins", functional->name, n_spins);
  TSL_TRY(tsl_alloc(1, sizeof *made, "functional", (void **)&made));
  made->functional = *functional;
  made->kernels = xc_kernels_at(level);
  made->n_spins = n_spins;
  for (int k = 0; k < functional->n_terms; k++)
    TSL_TRY(xc_library_libxc.open(functional->terms[k].name, n_spins, &made->handles[k]));
  *out = made;
done:
  if (err != TSL_OK) xc_evaluator_destroy(&made);
  return err;
}

void xc_evaluator_destroy(xc_evaluator **evaluator) {
  if (*evaluator == NULL) return;
  for (int k = 0; k < (*evaluator)->functional.n_terms; k++)
    xc_library_libxc.close((*evaluator)->handles[k]);
  tsl_free(*evaluator);
  *evaluator = NULL;
}

/* ------------------------------------------------------------------- sums */

/** The pieces of a block that are summed: e, vrho, vsigma, vtau; NULL where nothing is wanted. */
enum { N_PIECES = 8 };

static void pieces_of(const xc_points *p, int n_spins, int gga, int tau, double *pieces[N_PIECES]) {
  const int n_sigma = n_spins == 1 ? 1 : 3;
  for (int k = 0; k < N_PIECES; k++) pieces[k] = NULL;
  pieces[0] = p->e;
  for (int k = 0; k < n_spins; k++) pieces[1 + k] = p->vrho[k];
  for (int k = 0; k < n_sigma && gga; k++) pieces[3 + k] = p->vsigma[k];
  for (int k = 0; k < n_spins && tau; k++) pieces[6 + k] = p->vtau[k];
}

static void add_pieces(double weight, int64_t n, double *const from[N_PIECES],
                       double *const to[N_PIECES]) {
  for (int k = 0; k < N_PIECES; k++)
    for (int64_t i = 0; from[k] != NULL && i < n; i++) to[k][i] += weight * from[k][i];
}

/** Points of a block whose results go to scratch memory. */
static xc_points scratch_points(const xc_points *block, double scratch[N_PIECES][XC_BLOCK]) {
  xc_points p = *block;
  p.e = scratch[0];
  for (int k = 0; k < 2; k++) p.vrho[k] = scratch[1 + k];
  for (int k = 0; k < 3; k++) p.vsigma[k] = scratch[3 + k];
  for (int k = 0; k < 2; k++) p.vtau[k] = scratch[6 + k];
  return p;
}

static void add_part(const xc_evaluator *ev, int part, double weight, const xc_points *block) {
  double scratch[N_PIECES][XC_BLOCK];
  double *from[N_PIECES], *to[N_PIECES];
  const xc_kernel *const kernel = &ev->kernels->part[part];
  const xc_points p = scratch_points(block, scratch);
  (ev->n_spins == 1 ? kernel->rks : kernel->uks)(&p);
  pieces_of(&p, ev->n_spins, kernel->gga, kernel->tau, from);
  pieces_of(block, ev->n_spins, kernel->gga, kernel->tau, to);
  add_pieces(weight, block->n, from, to);
}

/* ------------------------------------------------------------------ libxc */

/** Interleave n_arrays arrays of n values; zeros where an array is missing. */
static void gather(const double *const *arrays, int n_arrays, int64_t n, double *out) {
  for (int k = 0; k < n_arrays; k++)
    for (int64_t i = 0; i < n; i++) out[i * n_arrays + k] = arrays[k] == NULL ? 0 : arrays[k][i];
}

static void scatter_add(double weight, const double *in, int n_arrays, int64_t n,
                        double *const *arrays) {
  for (int k = 0; k < n_arrays; k++)
    for (int64_t i = 0; arrays[k] != NULL && i < n; i++)
      arrays[k][i] += weight * in[i * n_arrays + k];
}

static void add_term(const xc_evaluator *ev, int term, const xc_points *block) {
  double rho[2 * XC_BLOCK], sigma[3 * XC_BLOCK], tau[2 * XC_BLOCK];
  double e[XC_BLOCK], v[2 * XC_BLOCK], s[3 * XC_BLOCK], t[2 * XC_BLOCK];
  const double weight = ev->functional.terms[term].weight;
  const int n_rho = ev->n_spins, n_sigma = ev->n_spins == 1 ? 1 : 3;
  gather(block->rho, n_rho, block->n, rho);
  gather(block->sigma, n_sigma, block->n, sigma);
  gather(block->tau, n_rho, block->n, tau);
  xc_library_libxc.eval(ev->handles[term], block->n, &(xc_library_in){rho, sigma, tau},
                        &(xc_library_out){e, v, s, t});
  for (int64_t i = 0; i < block->n; i++)
    block->e[i] += weight * e[i] * (n_rho == 1 ? rho[i] : rho[2 * i] + rho[2 * i + 1]);
  scatter_add(weight, v, n_rho, block->n, block->vrho);
  if (ev->functional.gga) scatter_add(weight, s, n_sigma, block->n, block->vsigma);
  if (ev->functional.tau) scatter_add(weight, t, n_rho, block->n, block->vtau);
}

/* ------------------------------------------------------------------- all */

static void clear(double *array, int64_t n) {
  if (array != NULL && n > 0) memset(array, 0, (size_t)n * sizeof *array);
}

/** Points first..first+n of points. */
static xc_points slice(const xc_points *points, int64_t first, int64_t n) {
  xc_points p = *points;
  p.n = n;
  p.e += first;
  for (int k = 0; k < 2; k++) {
    if (p.rho[k] != NULL) p.rho[k] += first;
    if (p.vrho[k] != NULL) p.vrho[k] += first;
    if (p.tau[k] != NULL) p.tau[k] += first;
    if (p.vtau[k] != NULL) p.vtau[k] += first;
  }
  for (int k = 0; k < 3; k++) {
    if (p.sigma[k] != NULL) p.sigma[k] += first;
    if (p.vsigma[k] != NULL) p.vsigma[k] += first;
  }
  return p;
}

/** Part by part, term by term, through scratch memory. */
static void evaluate_sum(const xc_evaluator *ev, const xc_points *points) {
  xc_mix mix = ev->functional.mix;
  clear(points->e, points->n);
  for (int k = 0; k < ev->n_spins; k++) clear(points->vrho[k], points->n);
  for (int64_t first = 0; first < points->n; first += XC_BLOCK) {
    const int64_t left = points->n - first;
    const xc_points block = slice(points, first, left < XC_BLOCK ? left : XC_BLOCK);
    for (int part = 0; part < XC_N_PARTS; part++)
      if (xc_mix_list(&mix)[part] != 0) add_part(ev, part, xc_mix_list(&mix)[part], &block);
    for (int term = 0; term < ev->functional.n_terms; term++) add_term(ev, term, &block);
  }
}

void xc_evaluate(const xc_evaluator *ev, const xc_points *points) {
  const xc_functional *const f = &ev->functional;
  const bool fused = f->own >= 0 && f->n_terms == 0;
  const int n_sigma = ev->n_spins == 1 ? 1 : 3;
  if (!fused || !f->gga)
    for (int k = 0; k < n_sigma; k++) clear(points->vsigma[k], points->n);
  if (!fused || !f->tau)
    for (int k = 0; k < ev->n_spins; k++) clear(points->vtau[k], points->n);
  if (fused) {
    const xc_kernel *const kernel = &ev->kernels->own[f->own];
    (ev->n_spins == 1 ? kernel->rks : kernel->uks)(points);
  } else {
    evaluate_sum(ev, points);
  }
}
