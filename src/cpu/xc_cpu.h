/**
 * @file xc_cpu.h
 * The family xc on a socket, private to src/cpu.
 *
 * Groups: a batch of groups is cut into pieces of points (by the deck's key parallel), dealt to
 * threads; a piece computes functions, X = D phi, density, functional, Z, V = phi Z^T on its own
 * and adds to the sums in the order of the pieces. Batches of bra pairs and of fitting shells are
 * dealt to threads by a fixed rule into sums of each thread. So the sums of a worker depend on the
 * units, their order and the number of threads alone.
 */
#ifndef TSL_CPU_XC_CPU_H
#define TSL_CPU_XC_CPU_H

#include "cpu.h"
#include "xc_loops.h"
#include "xc_problem.h"

enum {
  XC_PIECE = 512, /**< points of a piece, hybrid */
  XC_LANES = 32   /**< pieces and leading dimensions are multiples of it */
};

/** A group's functions kept between iterations. */
typedef struct xc_kept {
  double *block; /**< pieces one after another, each [4 or 1][functions][ld]; NULL: not kept */
  int64_t bytes;
  int64_t batch; /**< the last that used it */
  bool ready;    /**< filled */
} xc_kept;

/** Functions of groups, the smallest kept. */
typedef struct xc_cache {
  xc_kept *kept; /**< [n_groups] */
  int64_t n, used, most, batch;
} xc_cache;

tsl_err xc_cache_open(int64_t n_groups, int64_t most, xc_cache *cache);
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
  int64_t unit; /**< place in the batch */
  int64_t lo, n, ld;
  double *block; /**< functions, of the cache; NULL: scratch */
  bool ready;    /**< block is filled */
  double seconds;
} xc_piece;

/** (P|mn) of a unit. */
typedef struct xc_rows {
  int64_t lo, hi;
  double *rows; /**< [functions][n_packed] */
} xc_rows;

/** What one thread owns. */
typedef struct xc_thread {
  double *phi;    /**< [4][functions][ld] */
  double *x;      /**< [functions][ld]; also Z */
  double *square; /**< [functions][functions], density and matrix of a group */
  double *matrix; /**< [n_spin][functions][functions] */
  double *points; /**< [XC_POINT_ARRAYS][ld] */
  int64_t *at;    /**< [functions] */
  xc_engine *quartets, *triples;
  double *coulomb, *exchange[2]; /**< [n][n] sums of this thread */
} xc_thread;

struct tsl_worker {
  const tsl_problem *problem; /**< not owned */
  const xc_params *p;
  const xc_loops *loops;
  xc_view view;
  xc_integrals *integrals;
  xc_evaluator *evaluator;
  int threads, phase;
  double slow;         /**< TSL_TEST_SLOW */
  int64_t cache_bytes; /**< the deck's, and no more than a part of the rank's memory */
  int64_t most_points; /**< of a piece */
  int64_t most_functions;
  xc_cache cache;
  xc_thread *thread; /**< [threads] */
  xc_piece *pieces;  /**< [room] */
  int64_t n_pieces, piece_room;
  double *largest; /**< [n_shells][n_shells] of the densities asked for */
  double *xc;      /**< [n_spin][n][n] sum of phi Z^T */
  double integrals_sum[XC_N_INTEGRALS];
  xc_rows *rows; /**< [n_rows] */
  int64_t n_rows, rows_room;
  double *packed; /**< [n_packed] density */
  double *fitted; /**< [n_packed] J */
  double *gamma;  /**< [n_fit] */
};

/** Points of a piece of a group. */
int64_t xc_piece_points(const tsl_worker *w, const xc_group *group);

/** A batch of groups; seconds of the parts are set. */
tsl_err xc_run_groups(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Groups' memory of a thread. */
tsl_err xc_groups_open(tsl_worker *w);
void xc_groups_close(tsl_worker *w);

/** One unit of bra pairs, of fitting shells. */
tsl_err xc_run_fock(tsl_worker *w, const tsl_unit *unit);
tsl_err xc_run_fit(tsl_worker *w, const tsl_unit *unit);
/** Engines, sums, and the rows kept. */
tsl_err xc_fock_open(tsl_worker *w);
void xc_fock_close(tsl_worker *w);
/** Zero the sums; take in the densities. */
void xc_fock_begin(tsl_worker *w);
/** Copy the sums into the fields. */
void xc_fock_collect(tsl_worker *w, tsl_problem *problem);

#endif
