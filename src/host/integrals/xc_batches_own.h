/** @file xc_batches_own.h  What the files xc_batches*.c share. */
#pragma once

#include "xc_batches.h"
#include "xc_coulomb_gradient.h"
#include "xc_fit.h"
#include "xc_fixed.h"

/** Engines of gradients: of quartets, (P|mn), (P|Q). */
enum {
  XC_SLOPE_QUARTETS, /* of the first operator */
  XC_SLOPE_TRIPLES = XC_MOST_OPERATORS,
  XC_SLOPE_DOUBLES,
  XC_N_SLOPES
};

/** So many products are one thread's: others would wake for longer than they take. */
enum { XC_ALONE = 1 << 14 };

/** What one thread owns. */
typedef struct xc_batch_thread {
  xc_engine *quartets[XC_MOST_OPERATORS], *triples;
  double *coulomb, *exchange[2];              /**< [n][n] sums; reproducible: of one bra pair */
  double *square, *x;                         /**< [n][n] B_Q, X of some Q; fitted exchange alone */
  int64_t *fixed_coulomb, *fixed_exchange[2]; /**< [n][n] sums when reproducible, else NULL */
  bool bad;                                   /**< something did not fit a fixed sum */
  xc_engine *slopes[XC_N_SLOPES];             /**< of gradients; NULL until there is one */
  double (*gradient)[3], (*share)[3];         /**< [n_atoms]; share: reproducible, not summed yet */
  double *half;       /**< [n_orbitals][n + n_orbitals]; fitted exchange alone */
  double *pairs;      /**< [functions of a shell][n_fit]; fitted alone */
  double *potentials; /**< [xc_distributions_sums]; Coulomb not fitted; NULL until needed */
} xc_batch_thread;

/** (P|mn) of a fitting shell. */
typedef struct xc_rows {
  int64_t phase; /**< the last that used them */
  double *rows;  /**< [functions][n_packed], kept; NULL: not */
} xc_rows;

/** Rows B_Q of a unit, or of a trial (xc_exchange.h). */
typedef struct xc_kept_rows {
  int64_t lo, hi, phase; /**< phase: the last that used them */
  double *rows;          /**< [hi - lo][n_packed] */
} xc_kept_rows;

/** Integrals of a bra pair. */
typedef struct xc_kept_pair {
  double *values; /**< [xc_fock_cost of the pair]; NULL: not kept */
  int64_t phase;  /**< the last that used them */
  bool filled;
} xc_kept_pair;

struct xc_batches {
  const tsl_problem *problem;
  const xc_params *p;
  xc_view view;
  xc_integrals *integrals;
  int threads, phase, least;
  xc_batch_thread *thread;                  /**< [threads] */
  double *largest;                          /**< [n_shells][n_shells] of the densities asked for */
  double most;                              /**< the largest of them */
  xc_operator operators[XC_MOST_OPERATORS]; /**< of quartets */
  int n_operators;
  double
      *weighted[XC_MOST_OPERATORS]; /**< [n_spin][n][n] densities asked for K, where the weight of
                                            an operator is not 1 */
  xc_kept_pair *quartets;           /**< [n_operators][n_pairs]; NULL: none are kept */
  double quartets_bytes, quartets_most; /**< what they take, and may take */
  int64_t quartets_dropped;             /**< the last phase that gave back idle ones */
  bool quartets_anew;                   /**< there was no memory for some */
  double *packed;                       /**< [n_packed] density */
  double *fitted;                       /**< [n_packed] J; NULL when reproducible */
  int64_t *fixed_fitted;                /**< [n_packed] J when reproducible, else NULL */
  bool bad_fit;                         /**< something did not fit it */
  double *gamma;                        /**< [n_fit] */
  xc_rows *rows;                        /**< [n_fit_shells] */
  double **row;  /**< [n_fit] of each function, as far as xc_batches_rows has made them */
  int64_t *fill; /**< [n_fit_shells] shells to be computed */
  double rows_bytes, rows_most;    /**< what rows take, and may take */
  double *scratch;                 /**< rows of scratch_shells shells; NULL until needed */
  int64_t scratch_shells, dropped; /**< dropped: the last phase that gave back idle rows */
  xc_kept_rows *kept;              /**< [n_kept], fitted exchange alone */
  int64_t n_kept, room_kept, fit_rows, anew_rows;
  double *fit_scratch, *anew; /**< [fit_rows] (P|mn), [anew_rows] B_Q; NULL until needed */
  double *weights;            /**< [functions of a shell][n_packed] of d(P|mn); NULL until needed */
  double *products;           /**< [n_spin][n_fit][n_products] B_Qij; NULL until needed */
  double *fit_bounds;         /**< [n_fit_shells] sqrt((P|P)), likewise */
  xc_distributions *distributions; /**< of this phase's density; NULL: no gradient of J yet */
  double *spins;    /**< [n_shells][n_shells] as largest, of single spins; NULL: no gradient yet */
  double most_spin; /**< the largest of them */
};

/** Memory of quartets that are kept, of the room that fitting integrals leave, and of densities. */
tsl_err xc_batches_quartets_open(xc_batches *b, double room);
void xc_batches_quartets_close(xc_batches *b);
/** Take in the densities of a phase. */
void xc_batches_quartets_begin(xc_batches *b);

/** Memory of fitted Coulomb. */
tsl_err xc_batches_fit_open(xc_batches *b, double room);
void xc_batches_fit_close(xc_batches *b);
/** Set b->row of the functions of shells [lo, *hi), *hi <= end as far as memory goes; they hold
 *  until the next call. */
tsl_err xc_batches_rows(xc_batches *b, int64_t lo, int64_t end, int64_t *hi);
/** Compute (P|mn) of the shells fill[0..n) into the rows of their functions. */
void xc_batches_fill(xc_batches *b, int64_t n);
/** Products of rows [first, first + n), which are there: gamma += row D; J += c row.
 *  @param[in] c  [n_fit] */
void xc_batches_gamma(xc_batches *b, int64_t first, int64_t n);
void xc_batches_coulomb(xc_batches *b, int64_t first, int64_t n, const double *c);

/** Memory of fitted exchange: bytes at least; taken off the room; what is kept lies in the rest. */
double xc_batches_exchange_least(const xc_params *p, int most_size);
void xc_batches_exchange_open(xc_batches *b, int most_size, double *room);
/** A phase begins: forget what trials have kept since it was last said to begin. */
void xc_batches_exchange_begin(xc_batches *b);
void xc_batches_exchange_close(xc_batches *b);
/** What quartets of an operator are for, into the sums of a thread; K without its weight. */
xc_fock xc_batches_task(const xc_batches *b, const xc_batch_thread *t, int which);
/** Make what gradients need, when it has not been. */
tsl_err xc_batches_gradient_open(xc_batches *b);
/** B_Qij of functions [first, first + n), whose rows are there. */
tsl_err xc_batches_products(xc_batches *b, int64_t first, int64_t n);
/** They go over to the field. */
tsl_err xc_batches_products_collect(xc_batches *b, tsl_problem *problem);
/** Subtract exchange's part of the weights of d(P|mn), of a shell from first on, and add it to
 *  those of d(P|Q), of a thread. */
void xc_batches_products_weigh(const xc_batches *b, int64_t first, int64_t n);
void xc_batches_products_pair(const xc_batches *b, xc_batch_thread *t, int64_t first, int64_t n);
/** Sums of gradients: zero, add to out [n_atoms][3], free. None may have been made yet. */
void xc_batches_gradient_begin(xc_batches *b);
void xc_batches_gradient_collect(xc_batches *b, double *out);
void xc_batches_gradient_close(xc_batches *b);
/** Functions of the largest shell. */
int xc_batches_most_size(const xc_basis *basis);
/** The upper triangle of a row-major matrix becomes the lower too. */
void xc_batches_mirror(int64_t n, double *matrix);
