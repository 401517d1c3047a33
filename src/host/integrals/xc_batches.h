/**
 * @file xc_batches.h
 * Batches of quartets and of (P|mn) on the threads of a host: what ranks of sockets and of cards
 * compute alike. It has threads, so it is none of the family's files; both kinds of backends use
 * it, so it is none of theirs.
 *
 *   open -> begin (each phase) -> fock, fit in any number -> collect -> close
 *
 * Bra pairs are dealt to threads by a fixed rule into sums of each thread, so sums depend on the
 * units, their order and the number of threads alone. Reproducible: what each bra pair, and each
 * function of the fitting set, adds is computed alone and added as integers (xc_fixed.h), so sums
 * depend on neither.
 *
 * (P|mn) of fitting shells are kept from phase to phase within the room that open is given; rows
 * beyond it are computed anew, some shells at a time, with the same result. Likewise the B_Q of
 * fitted exchange, which are made of them, and quartets, where there are sockets alone
 * (xc_params.quartet_cache).
 */
#pragma once

#include "xc_problem.h"

TSL_C_BEGIN

typedef struct xc_batches xc_batches;

/** Host bytes needed at least: (P|mn) of one shell, with fitted exchange one B_Q; 0 when Coulomb is
 *  not fitted. */
double xc_batches_least(const tsl_problem *problem);

/** Host bytes of the gradient of J, where there is one and J is exact. */
double xc_batches_gradient_bytes(const tsl_problem *problem, int threads);

/**
 * What of a rank's host memory is left for things that are kept, at least xc_batches_least: fields,
 * sums of the threads and what else is said are taken off.
 * @param[in]  limit  bytes that the rank may use; 0: as many as there are
 * @param[in]  other  bytes of the host's memory that the backend needs beside
 * @return TSL_ERR_MEMORY, with the bytes that are needed and the keys to change
 */
tsl_err xc_batches_room(const tsl_problem *problem, int threads, int64_t limit, double other,
                        double *room);

/** No degree is as high. */
enum { XC_BATCHES_NONE = XC_MAX_L + 1 };

/**
 * Engines and sums for the units of a problem.
 * @param[in] problem  borrowed; its IN fields are read again by begin
 * @param[in] room  bytes for what is kept, at least xc_batches_least; the deck's xc.fitting_cache
 *                  and xc.quartet_cache are obeyed too
 * @param[in] least  quartets with a shell of this degree or higher are computed here, others by the
 *                   backend; 0: all; XC_BATCHES_NONE: none, nor fitted exchange, and no memory is
 *                   taken for either
 */
tsl_err xc_batches_open(const tsl_problem *problem, int threads, double room, int least,
                        xc_batches **out);
/** NULL accepted, sets NULL. */
void xc_batches_close(xc_batches **batches);

/** Zero the sums; take in the densities and the phase. */
void xc_batches_begin(xc_batches *batches, int phase);

/** For trials, until a phase begins: integrals that are kept are all used. A guess of atoms leaves
 *  most of them out, the densities that follow nearly none. */
void xc_batches_trial(xc_batches *batches);

/** Bra pairs [lo, hi) into J and K. */
void xc_batches_fock(xc_batches *batches, int64_t lo, int64_t hi);

/** Fitting shells [lo, hi): gamma in even phases, their share of J in odd ones. */
tsl_err xc_batches_fit(xc_batches *batches, int64_t lo, int64_t hi);

/** A unit of kind XC_UNIT_EXCHANGE into J and K. OpenBLAS is to have one thread. */
tsl_err xc_batches_exchange(xc_batches *batches, const tsl_unit *unit);

/** What a unit of bra pairs or fitting shells adds to the gradient (xc_adds_gradient).
 *  @return TSL_ERR_MEMORY; TSL_ERR_NUMERIC reproducible: beyond what sums can hold */
tsl_err xc_batches_gradient(xc_batches *batches, const tsl_unit *unit);
/** Of a unit of kind XC_UNIT_EXCHANGE the derivatives of (P|Q) alone, where another device has the
 *  rest.
 *  @param[in] pairs  [functions of the unit][n_fit] their weights, of Q before P's shell, both
 *                    orders in one; NULL: they are made here
 *  @return as xc_batches_gradient */
tsl_err xc_batches_gradient_metric(xc_batches *batches, const tsl_unit *unit, const double *pairs);

/** Where the B_Qij of a phase of XC_TASK_PRODUCTS go that another device makes,
 *  [n_spin][n_fit][n_products], zero at first. @return TSL_ERR_MEMORY */
tsl_err xc_batches_products_place(xc_batches *batches, double **place);

/** First function of a fitting shell; their number for n_fit_shells. */
int64_t xc_batches_first(const xc_batches *batches, int64_t shell);

/** The packed density asked for, [n_packed]; NULL when Coulomb is not fitted. */
const double *xc_batches_packed(const xc_batches *batches);

/** Largest elements of this phase's densities asked for, [n_shells][n_shells] (xc_fock_largest). */
const double *xc_batches_largest(const xc_batches *batches);

/** Bytes of rows that are kept; whether some were computed anew. Global for tests. */
double xc_batches_kept(const xc_batches *batches, bool *anew);
/** Likewise of quartets. */
double xc_batches_quartets_kept(const xc_batches *batches, bool *anew);
/** As text for tsl_backend.notes, empty when all rows and quartets are kept that may be. */
void xc_batches_tell(const xc_batches *batches, char *text, size_t size);

/** Sums of another device; NULL: none, as always when reproducible. */
typedef struct xc_batches_more {
  double *fitted;   /**< [n_packed] J, when it is fitted */
  double *gamma;    /**< [n_fit] */
  double *coulomb;  /**< [n][n] J of quartets */
  double *exchange; /**< [n_spin][n][n] K; fitted: the upper triangle */
} xc_batches_more;

/**
 * Copy the sums into the fields J, K and gamma, with those of another device added.
 * @return TSL_ERR_NUMERIC when a reproducible sum met what it cannot hold
 */
tsl_err xc_batches_collect(xc_batches *batches, tsl_problem *problem, const xc_batches_more *more);

TSL_C_END
