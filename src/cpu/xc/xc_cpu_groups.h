/**
 * @file xc_cpu_groups.h
 * A piece of a group at work: the steps that the matrix and the gradient share.
 */
#pragma once

#include "xc_cpu.h"

/** Arrays of one value for each point of a piece. */
enum {
  XC_AT_RHO = 0,      /**< of spins */
  XC_AT_GRADIENT = 2, /**< [spin][3] */
  XC_AT_SIGMA = 8,    /**< aa ab bb */
  XC_AT_ENERGY = 11,
  XC_AT_VRHO = 12,
  XC_AT_VSIGMA = 14,
  XC_AT_SCALE = 17, /**< w vrho / 2 */
  XC_AT_SLOPE = 18, /**< [3] what multiplies the gradient of a function */
  XC_AT_TAU = 21,   /**< of spins */
  XC_AT_VTAU = 23,
  XC_AT_CURVE = 25, /**< w vtau / 4 */
  XC_POINT_ARRAYS = 26
};

/** A piece at work. */
typedef struct xc_work {
  tsl_worker *w;
  xc_thread *t;
  const xc_piece *piece;
  const xc_group *group;
  xc_slot *slot; /**< where its matrices go; NULL: there are none */
  int64_t *at;   /**< [functions] their places in the basis */
  int64_t functions;
  const double *phi[4];
  bool tau;      /**< the functional depends on it */
  bool nonlocal; /**< the group is of non-local correlation */
} xc_work;

static inline double *xc_work_array(const xc_work *k, int which) {
  return k->t->points + which * k->w->most_points;
}

/** A piece of a worker at work. */
static inline xc_work xc_work_of(tsl_worker *w, xc_thread *t, const xc_piece *piece, xc_slot *slot,
                                 int64_t *at) {
  const bool nonlocal = piece->group >= xc_local_groups(w->p);
  const xc_group *group = &w->view.groups[piece->group];
  return (xc_work){.w = w,
                   .t = t,
                   .piece = piece,
                   .group = group,
                   .slot = slot,
                   .at = at,
                   .functions = group->functions,
                   .tau = w->p->functional.tau && !nonlocal,
                   .nonlocal = nonlocal};
}

/** Blocks of functions: values, and for functionals of the gradient three more. */
int64_t xc_row_blocks(const tsl_worker *w);
/** The next multiple of XC_LANES. */
int64_t xc_round_up(int64_t n);

/** This thread's clock: begin, and count what has passed for a step. */
void xc_step_begins(xc_thread *t);
void xc_step_ends(xc_thread *t, xc_step step);

/** Functions of the group at the piece's points, into its block or scratch, and their places. */
void xc_work_functions(xc_work *k);
/** The elements of an n x n matrix between the group's functions, into square. */
void xc_work_gather(const xc_work *k, const double *density);
/** C = A B or A B^T, added to C with add; A of as many rows as there are functions, B with the
 *  piece's ld. */
void xc_work_product(const xc_work *k, bool turned, bool add, int64_t columns, int64_t inner,
                     const double *a, int64_t lda, const double *b, double *c, int64_t ldc);
/** Density of a spin, its gradient, and for meta-GGAs tau. @param[out] x  [functions][ld] D phi and
 *  for meta-GGAs D dphi/dx, ..; x[0] is written last, so all may be one */
void xc_work_density(const xc_work *k, int spin, double *const x[4]);
/** The functional, after the densities of all spins; of non-local correlation without these. */
void xc_work_evaluate(const xc_work *k);
/** What multiplies functions, their gradients in Z, and in Z of gradients, of a spin. */
void xc_work_scales(const xc_work *k, int spin);

/** Cut a batch of groups into the worker's pieces. */
tsl_err xc_set_pieces(tsl_worker *w, const tsl_unit *units, int64_t n);
/** What pieces have put into the cache is there now. */
void xc_keep_pieces(tsl_worker *w, const tsl_unit *units);
/** Share the time of a batch among its units as their pieces took it. */
void xc_spread_seconds(const tsl_worker *w, double seconds, int64_t n, tsl_part *parts);
