/**
 * @file xc_cpu.h
 * The family xc on a socket, private to src/cpu.
 *
 * Groups: a batch of groups is cut into pieces of points (by the deck's key parallel), dealt to
 * threads; a piece computes functions, X = D phi, density, functional, Z, V = phi Z^T on its own;
 * V is added to the sum in the order of the pieces. Batches of bra pairs and of fitting shells are
 * those of src/host. So the sums of a worker depend on the units, their order and the number of
 * threads alone; reproducible, with pieces that do not depend on threads and sums of integers
 * (xc_fixed.h), on none of them.
 */
#pragma once

#include "cpu.h"
#include "xc_batches.h"
#include "xc_cache.h"
#include "xc_loops.h"
#include "xc_problem.h"
#include "xc_sampler.h"

#include <pthread.h>

enum {
  XC_PIECE = 512, /**< points of a piece, hybrid */
  XC_LANES = 32   /**< pieces and leading dimensions are multiples of it */
};

/** Make an empty cache. @param[in] most  bytes that blocks may take together
 *  @param[out] cache  free with xc_cache_close. @return TSL_ERR_MEMORY */
tsl_err xc_cache_open(int64_t n_groups, int64_t most, xc_cache *cache);
/** Free all blocks; zeroed one is accepted. */
void xc_cache_close(xc_cache *cache);
/** Begin a batch: what it uses stays. */
void xc_cache_batch(xc_cache *cache);
/**
 * The block of a group. Larger groups that this batch does not use make room.
 * @param[out] block  NULL: not kept, use scratch memory
 * @param[out] ready  it holds the functions; else the caller fills it in this batch
 */
void xc_cache_find(xc_cache *cache, int64_t group, int64_t bytes, double **block, bool *ready);
/** The batch has filled the block. */
void xc_cache_ready(xc_cache *cache, int64_t group);

/** Points [lo, lo + n) of a group. */
typedef struct xc_piece {
  int64_t unit;  /**< place in the batch */
  int64_t group; /**< its number */
  int64_t lo, n, ld;
  double *block; /**< functions, of the cache; NULL: scratch */
  bool ready;    /**< block is filled */
  double seconds;
} xc_piece;

/** Steps of a piece; what a thread spends on each is counted for `tesela bench xc-cpu` alone, as
 *  its clock is a call of the system. */
typedef enum xc_step {
  XC_STEP_FUNCTIONS,  /**< functions and gradients; what is kept costs nothing */
  XC_STEP_X,          /**< gather D, X = D phi */
  XC_STEP_DENSITY,    /**< rho, its gradient, sigma */
  XC_STEP_FUNCTIONAL, /**< e, vrho, vsigma, and the integrals */
  XC_STEP_Z,          /**< Z */
  XC_STEP_V,          /**< V = phi Z^T */
  XC_STEP_SCATTER,    /**< V to its places in the sum */
  XC_N_STEPS
} xc_step;

/** What one thread owns. */
typedef struct xc_thread {
  double *phi;              /**< [4][functions][ld] */
  double *x;                /**< [functions][ld]; also Z */
  double *square;           /**< [functions][functions], density of a group */
  double *points;           /**< [XC_POINT_ARRAYS][ld] */
  bool counts;              /**< somebody asks for steps */
  double steps[XC_N_STEPS]; /**< processor seconds since open */
  double mark;              /**< this thread's clock at the end of its last step */
} xc_thread;

/** What a piece found, until its turn comes to be added. */
typedef struct xc_slot {
  int64_t piece;  /**< -1: free */
  bool done;      /**< ready to be added */
  double *matrix; /**< [n_spin][functions][functions] */
  int64_t *at;    /**< [functions] their places in the basis */
  double sums[XC_N_INTEGRALS];
} xc_slot;

/** Threads take pieces in order and need not wait for one another: what they find is added in the
 *  order of the pieces by whoever ends one. */
typedef struct xc_ordered_sum {
  pthread_mutex_t lock;
  pthread_cond_t room;
  int64_t taken, added, end; /**< pieces */
  bool adding;               /**< a thread is at it */
  bool made;                 /**< lock and room are */
  xc_slot *slots;            /**< [n] */
  int n;
} xc_ordered_sum;

struct tsl_worker {
  const tsl_problem *problem; /**< not owned */
  const xc_params *p;
  const xc_loops *loops;
  xc_view view;
  xc_evaluator *evaluator;
  int threads, phase;
  double slow;         /**< TSL_TEST_SLOW */
  int64_t cache_bytes; /**< the deck's, and no more than a part of the rank's memory */
  int64_t most_points; /**< of a piece */
  int64_t most_functions;
  xc_cache cache;
  xc_thread *thread; /**< [threads] */
  xc_ordered_sum ordered_sum;
  xc_piece *pieces; /**< [room] */
  int64_t n_pieces, piece_room;
  double *xc;     /**< [n_spin][n][n] sum of phi Z^T; NULL when reproducible */
  int64_t *fixed; /**< the same when reproducible, else NULL */
  double integrals_sum[XC_N_INTEGRALS];
  int64_t integrals_fixed[XC_N_INTEGRALS]; /**< instead, when reproducible */
  bool bad;                                /**< something did not fit a fixed sum */
  xc_batches *batches;                     /**< bra pairs and fitting shells */
  xc_sampler *sampler;                     /**< blocks of cubes, shares of atoms */
  struct xc_gradient *gradient;            /**< of groups; NULL unless a gradient is asked for */
  double *gradient_sum;                    /**< [n_atoms][3] of groups, likewise */
  double *densities; /**< [4][points of non-local correlation] of this phase; or NULL */
  int64_t sites;     /**< of XC_IN_NONLOCAL */
};

/** A batch of groups; seconds of the parts are set. */
tsl_err xc_run_groups(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Find the largest group. @return bytes that xc_groups_open takes */
double xc_groups_bytes(tsl_worker *w);
/** Memory of the threads and sums, after xc_groups_bytes. */
tsl_err xc_groups_open(tsl_worker *w);
void xc_groups_close(tsl_worker *w);

/** Slots that the worker has, at least one more than threads. */
int xc_ordered_sum_slots(const tsl_worker *w);
tsl_err xc_ordered_sum_open(tsl_worker *w);
void xc_ordered_sum_close(xc_ordered_sum *sum);
/** Pieces [lo, hi) are next. */
void xc_ordered_sum_begin(xc_ordered_sum *sum, int64_t lo, int64_t hi);
/** The next piece and a slot for it, waiting for a free one; NULL: none is left. */
xc_slot *xc_ordered_sum_take(xc_ordered_sum *sum);
/** A piece has ended: add it and what waits behind it, if its turn has come. */
void xc_ordered_sum_add(tsl_worker *w, xc_slot *slot, const tsl_unit *units);

extern const tsl_backend xc_backend_cpu;
