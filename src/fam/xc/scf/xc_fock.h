/**
 * @file xc_fock.h
 * Coulomb and exact-exchange matrices from quartets, in batches.
 *
 *   J_ij = sum_kl D_kl (ij|kl)       K_ij = sum_kl D_kl (ik|jl)
 *
 * Pairs of shells are listed by falling Schwarz bound sqrt(max (ab|ab)). A batch is a range of bra
 * pairs; each meets the ket pairs before it in the list until the product of bounds with the
 * largest element of the density is below the threshold. Batches add to their own matrices, which
 * may be summed in any number; xc_fock_finish makes J and K of the sum.
 */
#pragma once

#include "xc_integrals.h"

/** A pair of shells a >= b. */
typedef struct xc_shell_pair {
  int32_t a, b;
  double bound;   /**< |(ab|cd)| <= bound_ab bound_cd */
  int64_t packed; /**< place of its first element in a packed matrix (xc_fit.h) */
} xc_shell_pair;

/** Pairs by falling bound. Release with xc_pairs_clear. */
typedef struct xc_pairs {
  xc_shell_pair *list; /**< [n] from tsl_alloc */
  int64_t n;
  int64_t n_packed; /**< elements of all blocks [size a][size b] */
} xc_pairs;

/** Schwarz bounds of pairs (a, b), b <= a, with a in [lo, hi).
 *  @param[out] bounds  [n_shells][n_shells], both triangles of those rows are set */
void xc_schwarz(xc_engine *quartets, const xc_basis *basis, int64_t lo, int64_t hi, double *bounds);

/** List the pairs whose bound times the largest of all reaches threshold. */
tsl_err xc_pairs_create(const xc_basis *basis, const double *bounds, double threshold,
                        xc_pairs *pairs);
void xc_pairs_clear(xc_pairs *pairs);

/** What to build; matrices are [n][n]. */
typedef struct xc_fock {
  const xc_basis *basis;
  const xc_pairs *pairs;
  const double *largest; /**< [n_shells][n_shells] largest |D| of a block (xc_fock_largest) */
  double most;           /**< the largest of them */
  double threshold;      /**< contributions below are left out, for instance 1e-12 */
  int least;             /**< quartets without a shell of this degree or higher are left out */
  const double *total;   /**< density of J; NULL: no J */
  const double *spin[2]; /**< densities of K; NULL: none */
  double *coulomb;       /**< added to */
  double *exchange[2];   /**< added to */
} xc_fock;

/** Are all shells of a quartet of lower degree than `least`? */
static inline bool xc_fock_leaves(const xc_fock *fock, const xc_shell_pair *p,
                                  const xc_shell_pair *q) {
  const xc_shell *s = fock->basis->shells;
  return s[p->a].l < fock->least && s[p->b].l < fock->least && s[q->a].l < fock->least &&
         s[q->b].l < fock->least;
}

/** Set fock's largest, whose memory that is from now on, and most, of all its densities.
 *  @param[out] largest  [n_shells][n_shells] */
void xc_fock_largest(xc_fock *fock, double *largest);

/** Work of bra pairs [lo, hi) with the density ignored: integrals of all quartets that the bounds
 *  leave, for cost models. */
double xc_fock_cost(const xc_basis *basis, const xc_pairs *pairs, double threshold, int64_t lo,
                    int64_t hi);

/**
 * The part of xc_fock_cost that a density leaves to be done, of a few of the bra pairs [lo, hi).
 * Above 1 where its elements are.
 * @param[in] fock  what to build, with threshold and largest
 */
double xc_fock_part(const xc_fock *fock, int64_t lo, int64_t hi);

/** Add bra pairs [lo, hi). Matrices and engine belong to the caller's thread. */
void xc_fock_batch(xc_engine *quartets, const xc_fock *fock, int64_t lo, int64_t hi);

/**
 * Add one bra pair, whose integrals are kept as far as bounds alone reach the threshold; those that
 * only a density above 1 makes large enough are made anew.
 * @param[in,out] kept  [xc_fock_cost of the pair], of a fock of all degrees; NULL: nothing is kept
 * @param[in] filled    they were made before; else they are made now, all of them
 */
void xc_fock_pair(xc_engine *quartets, const xc_fock *fock, int64_t pair, double *kept,
                  bool filled);

/** Turn sums of batches into J and K. */
void xc_fock_finish(const xc_fock *fock);
