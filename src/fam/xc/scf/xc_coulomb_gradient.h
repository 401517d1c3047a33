/**
 * @file xc_coulomb_gradient.h
 * The derivative of the Coulomb energy sum_pq (p|q) / 2 of a density, p and q its distributions
 * over pairs of primitives. No integral over four functions is made: the density goes first into
 * Hermite Gaussians H_h of each pair, centre P and exponent p,
 *
 *   (p|q) = sum_h H_h V_h,   V_h = 2 pi^5/2 / (p q (p + q)^1/2) sum_k (-1)^k H_k R_(h+k)(P - Q),
 *
 * with R of exponent p q / (p + q), and what moves an atom is sum_h dH_h/dA V_h of all others' V,
 * to one degree more, as of charges (xc_one_gradient.h).
 *
 * Screened by Schwarz's bound of distributions, |(p|q)| <= (p|p)^1/2 (q|q)^1/2, times how fast they
 * change.
 *
 *   create -> meet (pairs in any order, by threads with sums of their own) -> forces -> destroy
 *
 * Sources: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218; densities first: G. R.
 * Ahmadi, J. Almlof, Chem. Phys. Lett. 246 (1995) 364; C. A. White, M. Head-Gordon, J. Chem. Phys.
 * 104 (1996) 2620.
 */
#pragma once

#include "xc_fock.h"

/** A density by pairs of primitives; read-only, shared by threads. */
typedef struct xc_distributions xc_distributions;

/**
 * @param[in] basis,pairs  borrowed
 * @param[in] density      [n][n] symmetric, of both spins
 * @param[in] threshold    pairs that add less to a derivative are left out, hartree/bohr
 * @param[in] least        pairs of pairs without a shell of this degree or higher are left out
 * @return TSL_ERR_MEMORY
 */
tsl_err xc_distributions_create(const xc_basis *basis, const xc_pairs *pairs, const double *density,
                                double threshold, int least, xc_distributions **out);
/** NULL accepted, sets NULL. */
void xc_distributions_destroy(xc_distributions **all);

/** Numbers in the sums of one thread. */
int64_t xc_distributions_sums(const xc_distributions *all);
/** Bytes at most, with the sums of so many threads. */
double xc_distributions_bytes(const xc_basis *basis, const xc_pairs *pairs, int threads);

/**
 * A pair of shells meets itself and those before it in the list, and both get their V. Alone, it
 * meets all of the list, and gets its own V: forces of all pairs are the same.
 * @param[in,out] sums  [xc_distributions_sums], V of all pairs, 0 at first
 */
void xc_coulomb_meet(const xc_distributions *all, int64_t pair, bool alone, double *sums);

/** gradient += what pairs [lo, hi) feel, hartree/bohr. @param[in,out] gradient  [atoms][3] */
void xc_coulomb_forces(const xc_distributions *all, int64_t lo, int64_t hi, const double *sums,
                       double (*gradient)[3]);
