/**
 * @file xc_gpu.cuh
 * The family xc on a card: the worker and what its files offer each other.
 *
 *   xc_gpu.cu             the backend: open, begin, run, collect, close
 *   xc_gpu_batch.cu       groups cut into pieces, batches of pieces
 *   xc_gpu_products.cu    their products by cuBLAS
 *   xc_gpu_cache.cu       functions kept on the card between iterations
 *   xc_gpu_functions.cu   values and gradients of functions at points
 *   xc_gpu_points.cu      density and Z: what runs over points and functions
 *   xc_gpu_functional.cu  functional, energy, electrons: what runs over points
 *   xc_gpu_matrix.cu      from matrices of the basis to those of a piece, and back
 *   xc_gpu_fit.cu         (P|mn) kept on the card
 *   xc_gpu_exchange.cu    fitted exchange of orbitals
 *   xc_gpu_triple_slopes.cu  its derivatives: xc_gpu_triple_slopes.cuh, _low.cu, _high.cu
 *   xc_gpu_quartets.cu    exact J and K: xc_gpu_quartets.cuh, _low.cu, _high.cu; its lists are
 *                         xc_gpu_quartet_lists.c's; derivatives: xc_gpu_quartet_slopes.cuh,
 *                         _low.cu, _high.cu
 *   xc_gpu_triples.cu     (P|mn) computed on the card: xc_gpu_triples.cuh, _low.cu, _high.cu
 *   xc_gpu_fit_slopes.cu  its derivatives: xc_gpu_fit_slopes.cuh, _low.cu, _high.cu
 *   xc_gpu_lists.c        lists of pairs and fitting shells for it
 *   xc_gpu_gradient.cu    what units add to the gradient: which of it is the card's, sums
 *   xc_gpu_slopes.cu      of groups: the functions move; points follow their owners
 *   xc_gpu_weights.cu     of groups: the weights of the points
 *   xc_gpu_nonlocal.cu    non-local correlation: densities, and points that meet
 *   xc_gpu_shares.cu      the weights themselves, while a problem is made: not a worker's
 *   xc_gpu_host.c         host threads: functionals of libxc
 *   xc_bench.cu           measurements
 *
 * A batch of pieces passes through: functions (unless kept) -> P -> X = P phi -> density ->
 * functional -> Z = w (v/2 phi + 2 s grad rho . grad phi) -> M = phi Z^T -> matrix. Meta-GGAs have
 * these products for each component of grad phi, too: X_k = P dphi/dk adds to tau, and
 * Z_k = w t/4 dphi/dk to M. Matrices of a piece are [function][point], point fastest; functions
 * are padded with zero rows to a multiple of XC_PAD, points with zero columns to a multiple of
 * XC_LANES. R is double, or float where the phase allows it: then functions and products are float,
 * all sums over functions of one point, the functional and the matrix of the basis double.
 *
 * Of the gradient (xc_cpu_gradient.h says what it is) it passes through: functions -> P -> X ->
 * density -> functional -> psi -> Z = psi P -> sums of atoms; always in double. X_k of meta-GGAs
 * are kept until then.
 *
 * The sum of the pieces' matrices is kept as 64-bit integers (xc_gpu_matrix.cu) and energies as
 * one partial sum for each slice of points: results do not depend on the order of the units.
 * Reproducible: the integers are what leaves the card, partial sums are rounded to integers, each
 * product is a call of its own, and Coulomb and exact exchange are the host's alone. So no result
 * depends on what else a card was given.
 *
 * All functions work on the worker's stream and do not wait unless they say so.
 */
#pragma once

#include "gpu_blas.cuh"
#include "xc_batches.h"
#include "xc_cache.h"
#include "xc_gpu_host.h"
#include "xc_gpu_lists.h"
#include "xc_gpu_quartet_lists.h"
#include "xc_problem.h"
#include "xc_sampler.h"

enum {
  XC_WARP = 32,         /**< threads */
  XC_LANES = 32,        /**< points of a piece are padded to a multiple */
  XC_PAD = 16,          /**< functions of a piece are padded to a multiple */
  XC_PIECE = 2048,      /**< most points of a piece */
  XC_MAX_PIECES = 4096, /**< most pieces of a batch */
  XC_INPUTS = 10, /**< arrays over points: density of 2 spins, its gradient [spin][3], tau [spin] */
  XC_SCALES = 10, /**< and after it [spin][4]: what multiplies phi and grad phi in Z; then [spin]:
                       what multiplies a component of grad phi in its own Z (meta-GGAs) */
  XC_TAU_IN = 8,  /**< where tau begins */
  XC_TAU_SCALE = 8,                  /**< and its scales */
  XC_AMOUNT = XC_INPUTS + XC_SCALES, /**< and weight times energy density */
  XC_ROWS                            /**< of them all */
};

/** What a functional depends on beside the density: nothing, its gradient, tau too. */
enum { XC_KIND_LOCAL, XC_KIND_GRADIENT, XC_KIND_TAU };

/** Points of a group with their functions: a task of the kernels, in device memory. */
typedef struct xc_piece {
  void *phi;      /**< R [4 or 1][pad][ld]: values, d/dx, d/dy, d/dz */
  void *x;        /**< R [pad][ld]: X, later Z; of gradients of meta-GGAs [4][pad][ld]: X of phi */
  void *square;   /**< R [pad][pad]: P, later M */
  void *psi, *z;  /**< [pad][ld], of gradients beyond LDA: psi, and Z = psi P */
  int64_t first;  /**< its first point in the grid */
  int64_t points; /**< its place in the arrays over points */
  int64_t slice;  /**< its first slice */
  int64_t list;   /**< its shells in the lists */
  int64_t place;  /**< its functions in the places */
  int32_t n, ld;  /**< points, and padded */
  int32_t b, pad; /**< functions, and padded */
  int32_t n_shells, group;
  int32_t ready; /**< phi is filled */
  int32_t zero;
} xc_piece;

/** Steps of a batch, for who measures them. */
typedef enum xc_step {
  XC_STEP_FUNCTIONS,
  XC_STEP_GATHER,
  XC_STEP_X,
  XC_STEP_DENSITY,
  XC_STEP_FUNCTIONAL,
  XC_STEP_POTENTIAL,
  XC_STEP_M,
  XC_STEP_SCATTER, /**< of a gradient: to sums of atoms */
  XC_STEP_WEIGHTS, /**< of a gradient alone */
  XC_N_STEPS
} xc_step;

struct xc_shapes;

/** Products of pieces: X = phi P, M = phi^T x, Z = psi P. */
typedef enum xc_product { XC_PRODUCT_X, XC_PRODUCT_M, XC_PRODUCT_Z } xc_product;

/** Pointers of a piece behind the pieces of a batch: blocks of phi and of x, square, psi, z. */
enum { XC_BLOCKS = 4, XC_PIECE_POINTERS = 2 * XC_BLOCKS + 3 };

/** How products are asked of cuBLAS: as measured to be faster (on an H200 doubles by buckets,
 *  floats in one call), all in one call, each bucket of equal shapes in a call, or each piece in a
 *  call: its result then depends on the piece alone, whatever else is in the batch. */
typedef enum xc_calls { XC_CALLS_BEST, XC_CALLS_ONE, XC_CALLS_BUCKETS, XC_CALLS_EACH } xc_calls;

/** (P|mn) of a unit, or B_Q (xc_exchange.h), kept. */
typedef struct xc_rows {
  int64_t lo, hi;      /**< fitting shells, or Q */
  int64_t first, n;    /**< functions */
  int phase;           /**< of B_Q, the last that used them */
  tsl_gpu_buffer card; /**< [n][n_packed]; empty: the host's threads have them (xc_batches.h) */
} xc_rows;

enum { XC_TRIPLE_GROUPS = 64, XC_TRIPLE_STEPS = XC_MAX_L + 2 };

/** What (P|mn) of a group of pairs took, for who measures it: kernels of each l of P; expansion. */
typedef struct xc_triple_times {
  xc_triple_group group;
  int64_t parts[XC_TRIPLE_STEPS]; /**< of fitting shells */
  double seconds[XC_TRIPLE_STEPS];
} xc_triple_times;

/** Fitted exchange (xc_exchange.h); all empty when exchange is not fitted. */
typedef struct xc_gpu_exchange {
  tsl_gpu_buffer metric;     /**< [n_fit][n_fit] L^-1, column by column */
  tsl_gpu_buffer orbitals;   /**< [n_spin][n][n] of this phase, one a row */
  tsl_gpu_buffer sums;       /**< [n_spin] K of this phase, the upper triangle by rows */
  tsl_gpu_buffer map;        /**< I32 [n][n] places in packed matrices, or -1 */
  tsl_gpu_buffer squares, x; /**< [n_rows][n][n]: some B_Q, and their X */
  tsl_gpu_buffer fit, anew;  /**< [n_rows][n_packed]: some (P|mn); B_Q that are not kept */
  tsl_gpu_buffer products;   /**< [n_rows]: of orbitals, square and packed; of gradients */
  int64_t n_rows;            /**< functions at a time */
} xc_gpu_exchange;

/** What gradients need; all empty until there is one. */
typedef struct xc_gpu_gradient {
  tsl_gpu_buffer groups;    /**< U64 [n_atoms][3] of groups (xc_gradient_scale) */
  tsl_gpu_buffer integrals; /**< [XC_GRADIENT_COPIES][n_atoms][3] of integrals, added up at last */
  tsl_gpu_buffer owners;    /**< I32 [n_points] */
  tsl_gpu_buffer at, inverse, shift; /**< of xc_partition (xc_weights_own.h); empty: no response */
  double over;                       /**< likewise */
  bool becke;
  const char *on_host; /**< what of it the host's threads computed; NULL: nothing */
} xc_gpu_gradient;

/** Non-local correlation; empty: there is none. */
typedef struct xc_gpu_nonlocal {
  tsl_gpu_buffer rows;      /**< XC_IN_NONLOCAL of this phase */
  tsl_gpu_buffer densities; /**< F64 [4][points], made in this phase */
  int64_t sites;
} xc_gpu_nonlocal;

/** A worker; tsl_worker of this backend. */
typedef struct xc_gpu {
  const tsl_problem *problem; /**< not owned */
  const xc_params *p;
  xc_view view;
  int phase, threads; /**< threads: of the host */
  xc_task task;       /**< of this phase */
  bool single;        /**< this phase: R is float */
  bool host_quartets; /**< some quartets are the host's: all, or those of high shells */
  tsl_gpu_memory memory;
  int64_t room; /**< bytes of a batch */
  cudaStream_t stream;
  cublasHandle_t blas;
  tsl_gpu_timer timer;
  tsl_gpu_buffer shells, points, lists, rows_of,
      places; /**< rows_of: first row of a list's shell */
  tsl_gpu_buffer densities, sums, matrix, partials, flag;
  tsl_gpu_buffer batch, tasks; /**< memory of a batch; its pieces and pointers */
  int64_t *place, *slice;      /**< [n_groups] where places and slices of a group begin */
  int64_t n_slices, n_pieces;  /**< of all groups */
  double small;                /**< see xc_gpu_matrix.cu */
  struct xc_shapes *shapes;    /**< xc_gpu_products.cu */
  xc_calls calls;              /**< of products; other than XC_CALLS_BEST for measurements */
  double *steps;               /**< [XC_N_STEPS] seconds are added; NULL: nobody asks */
  tsl_gpu_timer step_timer;
  xc_cache cache;     /**< functions of groups kept on the card */
  cudaMemPool_t pool; /**< of cache; NULL: the card has none, nothing is kept */
  xc_piece *pieces;   /**< [room_pieces] of a run */
  int64_t room_pieces;
  char *staged;            /**< host copy of what goes to tasks */
  xc_evaluator *evaluator; /**< functionals of libxc; NULL: own formulas */
  double *host_points;     /**< arrays over points, pinned */
  int64_t host_points_bytes;
  double *host_partials; /**< [n_slices][XC_N_INTEGRALS] */
  xc_batches *batches;   /**< bra pairs and fitting integrals; NULL when there are none */
  xc_sampler *sampler;   /**< blocks of cubes, shares of atoms; on the host's threads */
  xc_rows *kept_rows;    /**< [n_rows] */
  int64_t n_rows, room_rows;
  xc_triple_times *triple_times; /**< [XC_TRIPLE_GROUPS], added to; NULL: nobody asks */
  struct xc_triples *triples;    /**< xc_gpu_triples.cu; NULL until needed, or there is no memory */
  struct xc_quartets *quartets; /**< xc_gpu_quartets.cu; NULL: they are the host's, or not needed */
  tsl_gpu_buffer packed, fitted, gamma, coefficients;
  xc_gpu_exchange x;
  xc_gpu_gradient gradient;
  xc_gpu_nonlocal nonlocal;
} xc_gpu;

extern const tsl_backend xc_backend_gpu;

/** Blocks of functions: values, and gradients where the functional needs them. */
static inline int64_t xc_blocks(const xc_gpu *w) {
  return w->p->functional.gga ? 4 : 1;
}
/** Blocks that gradients need beside: psi and Z, which LDA makes of X. */
static inline int64_t xc_gradient_blocks(const xc_gpu *w) {
  return w->p->functional.gga ? 2 : 0;
}
/** Blocks of X that a piece has room for in phases of a task. */
static inline int64_t xc_x_blocks(const xc_gpu *w, xc_task task) {
  return w->p->functional.tau && task == XC_TASK_GRADIENT ? XC_BLOCKS : 1;
}
static inline int64_t xc_real_bytes(const xc_gpu *w) {
  return w->single ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
}
static inline int64_t xc_round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}
/** Bytes of a group's functions. */
static inline int64_t xc_block_bytes(const xc_gpu *w, const xc_group *g) {
  return xc_blocks(w) * xc_round_up(g->functions, XC_PAD) * xc_round_up(g->n, XC_LANES) *
         xc_real_bytes(w);
}

/** Block b of a piece's functions: 0 values, 1 to 3 their gradients. */
static inline void *xc_block_of(const xc_gpu *w, const xc_piece *k, int b) {
  return (char *)k->phi + b * (int64_t)k->pad * k->ld * xc_real_bytes(w);
}

/** Where X of a block of phi begins, in blocks: with room for one block all are made there. */
static inline int64_t xc_x_place(const xc_gpu *w, int b) {
  return b < xc_x_blocks(w, w->task) ? b : 0;
}
static inline void *xc_x_of(const xc_gpu *w, const xc_piece *k, int b) {
  return (char *)k->x + xc_x_place(w, b) * (int64_t)k->pad * k->ld * xc_real_bytes(w);
}

/** Pieces of a batch on the card, sorted by shape, and its arrays over points. */
typedef struct xc_batch {
  const xc_piece *host; /**< [n] */
  const xc_piece *card; /**< [n] */
  int64_t n;
  int most_ld, most_pad, most_shells;
  double *arrays; /**< [XC_INPUTS + XC_SCALES][stride] */
  int64_t stride;
  bool nonlocal; /**< all are of non-local correlation */
} xc_batch;

/* ------------------------------------------------------------------ batches */

/** Bytes of the card that batches need at least beside xc_memory_card: tables, partial sums, the
 *  largest piece alone. */
double xc_batch_least(const xc_gpu *w);
/** Memory that all batches use. */
tsl_err xc_batch_open(xc_gpu *w);
void xc_batch_close(xc_gpu *w);
/** Enqueue groups of one kind; parts may be read after the stream has been waited for. */
tsl_err xc_batch_run(xc_gpu *w, const tsl_unit *units, int64_t n);
/** Share the time of a run among its groups by cost. */
void xc_batch_seconds(const xc_gpu *w, const tsl_unit *units, int64_t n, double seconds,
                      tsl_part *parts);

/* -------------------------------------------------------------------- cache */

/** Make an empty cache of at most xc_params.card_cache bytes, with a memory pool where the card has
 *  pools. @return TSL_ERR_MEMORY, TSL_ERR_DEVICE */
tsl_err xc_cache_open(xc_gpu *w);
/** Give all memory and the pool back; waits. Also when it is not open. */
void xc_cache_close(xc_gpu *w);
/** Give all memory back; waits. */
tsl_err xc_cache_drop(xc_gpu *w);
/**
 * The block of a group; larger groups that this batch does not use make room.
 * @param[out] block  NULL: not kept
 * @param[out] ready  it holds the functions; else the caller fills it in this batch
 */
void xc_cache_find(xc_gpu *w, int64_t group, void **block, bool *ready);

/* ------------------------------------------------------------------ kernels */

/** phi of all pieces that are not ready. */
tsl_err xc_functions_run(xc_gpu *w, const xc_batch *batch);
/** Density and gradient of a spin from X. */
tsl_err xc_density_run(xc_gpu *w, const xc_batch *batch, int spin);
/** What block 1, 2 or 3 of phi adds to tau of a spin, from its X; block 1 sets it. */
tsl_err xc_tau_run(xc_gpu *w, const xc_batch *batch, int spin, int block);
/** Z of a spin, in place of X; of block 1, 2 or 3 of phi: that of its tau. In a phase of the
 *  gradient psi, in its own place. */
tsl_err xc_potential_run(xc_gpu *w, const xc_batch *batch, int spin, int block);
/** Energy and electrons of the slices; scales of Z; amounts. Waits when libxc computes. */
tsl_err xc_functional_run(xc_gpu *w, const xc_batch *batch);
/** A product of all pieces, of a block of phi; blocks beyond 0 add to M. */
tsl_err xc_product_run(xc_gpu *w, const xc_batch *batch, xc_product which, int block);
/** Host memory for the shapes of products. @return TSL_ERR_MEMORY */
tsl_err xc_product_open(xc_gpu *w);
/** P of a spin. */
tsl_err xc_gather_run(xc_gpu *w, const xc_batch *batch, int spin);
/** Add M + M^T to the sum of a spin. */
tsl_err xc_scatter_run(xc_gpu *w, const xc_batch *batch, int spin);
/** The sums as matrices of doubles, reproducible: as they are, both triangles, in w->matrix. */
tsl_err xc_matrix_run(xc_gpu *w);
/** A value did not fit the sums: which group. Waits. @return TSL_ERR_NUMERIC */
tsl_err xc_matrix_check(xc_gpu *w);

/* ----------------------------------------------------------------- gradient */

enum { XC_GRADIENT_COPIES = 512 }; /**< of sums, so that few blocks add to one at a time */

/** Numbers of sums of groups to hartree/bohr: 2^48, reproducible 2^42, as on sockets. */
static inline double xc_gradient_scale(const xc_params *p) {
  return p->reproducible ? 0x1p42 : 0x1p48;
}
/** Add to a sum of groups; what is no number or 512 and more sets the flag to a group. Whatever
 *  their order, the sum has the same bits. */
static __device__ __forceinline__ void xc_gradient_add(unsigned long long *sum, double value,
                                                       double scale, int32_t group,
                                                       unsigned long long *flag) {
  if (fabs(value) < 512)
    atomicAdd(sum, (unsigned long long)__double2ll_rn(value * scale));
  else
    atomicMin(flag, (unsigned long long)group);
}

/** Memory of sums and of what points need. @return TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY,
 *  TSL_ERR_INPUT: more atoms than a card takes */
tsl_err xc_gradient_open(xc_gpu *w);
/** Bytes of it. */
double xc_gradient_bytes(const xc_params *p);
/** Start a phase of the gradient: sums are zero. */
tsl_err xc_gradient_begin(xc_gpu *w);
void xc_gradient_close(xc_gpu *w);
/** Memory for derivatives of integrals during a call, at least 8 bytes; for it the cache of
 *  functions gives its own back. @return TSL_ERR_DEVICE_MEMORY */
tsl_err xc_gradient_reserve(xc_gpu *w, tsl_gpu_buffer *buffer, int64_t bytes);
/** Add what the card has to the field. Waits. @return TSL_ERR_NUMERIC reproducible: beyond 1024 */
tsl_err xc_gradient_collect(xc_gpu *w, double *gradient);
/** Those units of integrals that add to the gradient in this phase. Waits. */
tsl_err xc_gradient_integrals(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** What the functions of a spin add, and points that follow their owners, after XC_PRODUCT_Z. */
tsl_err xc_slopes_run(xc_gpu *w, const xc_batch *batch, int spin);
/** What the weights add; nothing without response. */
tsl_err xc_weights_run(xc_gpu *w, const xc_batch *batch);
/** The partition of space on the card. @return TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY */
tsl_err xc_weights_open(xc_gpu *w);
/** Bytes of it. */
double xc_weights_bytes(const xc_params *p);

/* ---------------------------------------------------------------- non-local */

/** Memory of the points; nothing without non-local correlation. @return TSL_ERR_DEVICE_MEMORY */
tsl_err xc_nonlocal_open(xc_gpu *w);
/** Bytes of it. */
double xc_nonlocal_bytes(const xc_params *p);
void xc_nonlocal_close(xc_gpu *w);
/** Start a phase: queue the upload of the field, zero the densities. */
tsl_err xc_nonlocal_begin(xc_gpu *w);
/** What the pieces have as density and its gradient leaves the arrays over points. */
tsl_err xc_nonlocal_densities_run(xc_gpu *w, const xc_batch *batch);
/** In place of xc_functional_run: the points meet all sites; of a gradient they are moved, too. */
tsl_err xc_nonlocal_run(xc_gpu *w, const xc_batch *batch);
/** @param[out] densities  [4][points]. Waits. */
tsl_err xc_nonlocal_collect(xc_gpu *w, double *densities);

/* ---------------------------------------------------------------------- fit */

/** Reserve the packed density and Coulomb matrix, gamma and coefficients on the card; nothing
 *  without fitting, or when sums are reproducible (the host has them then).
 *  @return TSL_ERR_INPUT: more packed elements than an int; TSL_ERR_DEVICE_MEMORY */
tsl_err xc_fit_open(xc_gpu *w);
/** Free them and all kept integrals. */
void xc_fit_close(xc_gpu *w);
/** Start a phase: queue the upload of density and coefficients, zero J and gamma. */
tsl_err xc_fit_begin(xc_gpu *w);
/** Compute the integrals of those units that have none yet, where the card has memory. Waits.
 *  @param[out] seconds  that the card took */
tsl_err xc_fit_fill(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds);
/** Are the integrals of a unit of fitting shells on the card? */
bool xc_fit_on_card(const xc_gpu *w, const tsl_unit *unit);
/** Such a unit: queued when they are, else it is done by the host. */
tsl_err xc_fit_run(xc_gpu *w, const tsl_unit *unit);
/** A place on the card for B_Q, Q in [lo, hi), which are kept from now on, so the caller fills it.
 *  @param[out] place  [hi - lo][n_packed]; NULL: no memory for it */
tsl_err xc_fit_place(xc_gpu *w, int64_t lo, int64_t hi, double **place);
/** B_Q of Q in [lo, hi), [hi - lo][n_packed] on the card; NULL: not kept there. */
const double *xc_fit_kept(const xc_gpu *w, int64_t lo, int64_t hi);
/** Give B_Q back that were used last in this or a later phase. */
void xc_fit_forget(xc_gpu *w, int phase);
/** J and gamma of this phase, when the card has them. Waits.
 *  @param[out] fitted, gamma  [n_packed], [n_fit] */
tsl_err xc_fit_collect(xc_gpu *w, double *fitted, double *gamma);

/* ----------------------------------------------------------------- exchange */

/** Memory of fitted exchange, as much as helps; nothing when exchange is not fitted.
 *  @return TSL_ERR_DEVICE_MEMORY */
tsl_err xc_exchange_open(xc_gpu *w);
void xc_exchange_close(xc_gpu *w);
/** Start a phase: queue the upload of orbitals, zero K. */
tsl_err xc_exchange_begin(xc_gpu *w);
/** A unit of kind XC_UNIT_EXCHANGE. Waits. */
tsl_err xc_exchange_run(xc_gpu *w, const tsl_unit *unit);
/** @param[out] exchange  [n_spin][n][n], the upper triangle by rows */
tsl_err xc_exchange_collect(xc_gpu *w, double *exchange);

/** What the derivatives of (P|mn) of a unit of kind XC_UNIT_EXCHANGE add to the gradient. Waits.
 *  @param[out] done  false: the card has no memory for it, nothing was added */
tsl_err xc_exchange_slopes(xc_gpu *w, const tsl_unit *unit, bool *done);

/** Weights of (P|Q) of such a unit (xc_batches_gradient_metric). Waits.
 *  @param[out] pairs  [functions][n_fit], free with tsl_free; NULL: the card lacks memory for it */
tsl_err xc_exchange_pairs(xc_gpu *w, const tsl_unit *unit, double **pairs);

/* ----------------------------------------------------------------- quartets */

/** Are J and K of quartets the card's, as far as its kernels go? */
static inline bool xc_quartets_on_card(const xc_params *p) {
  return xc_has_quartets(p) && !p->reproducible;
}
/** Lists and memory of exact J and K on the card; nothing when they are not the card's.
 *  @return TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY; TSL_ERR_INPUT: more of something than an int */
tsl_err xc_quartets_open(xc_gpu *w);
void xc_quartets_close(xc_gpu *w);
/** Start a phase, after xc_batches_begin: queue the upload of densities, zero J and K. */
tsl_err xc_quartets_begin(xc_gpu *w);
/** Those bra pairs of the units of kind XC_UNIT_FOCK and their kets that have no shell beyond
 *  XC_QUARTET_L; the others are the host's (xc_batches_open, least). In a phase of the gradient
 *  into its sums. Waits.
 *  @param[out] seconds  that the card took */
tsl_err xc_quartets_run(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds);
/** Sums before xc_fock_finish. Waits. @param[out] coulomb, exchange  [n][n], [n_spin][n][n], those
 *  that are asked for */
tsl_err xc_quartets_collect(xc_gpu *w, double *coulomb, double *exchange);

/* ------------------------------------------------------------------ triples */

/** Lists on the card. @param[out] ready  false: the card has no memory for them */
tsl_err xc_triples_lists(xc_gpu *w, bool *ready);
/** And memory to expand pairs in, until the next fill ends.
 *  @param[out] ready  false: the card has no memory for them, nothing is taken */
tsl_err xc_triples_prepare(xc_gpu *w, bool *ready);
/** (P|mn) of fitting shells into their rows [functions][n_packed]. After xc_triples_prepare. Waits.
 *  @param[out] seconds  that the card took */
tsl_err xc_triples_fill(xc_gpu *w, const xc_triple_ket *kets, int64_t n, double *seconds);
void xc_triples_close(xc_gpu *w);
/** Rows of Cartesian fitting shells on the card, xc_triple_join [n]: those of parts become those of
 *  monomials; back: weights of monomials to those of parts. Queues. */
tsl_err xc_triple_join_parts(xc_gpu *w, const void *joins, int64_t n, bool back);

/**
 * What fitted Coulomb adds to the gradient for fitting shells of units of kind XC_UNIT_FIT. Waits.
 * @param[out] seconds  that the card took
 * @param[out] done     false: the card has no memory for it, nothing was added
 */
tsl_err xc_fit_slopes(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds, bool *done);
