/**
 * @file xc_one.h
 * One-electron integrals by the scheme of McMurchie and Davidson: a product of two Gaussians is a
 * sum of Hermite Gaussians, whose Coulomb integrals follow from Boys functions. A primitive pair
 * meets all charges once, eight at a time, so many point charges cost little.
 *
 * All functions work on batches: pairs (a, b), b <= a, of shells with a in [lo, hi). They fill both
 * triangles of the rows and columns of those pairs in row-major [n][n] matrices and touch nothing
 * else, so batches of disjoint [lo, hi) may run at the same time.
 *
 * Source: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218; Helgaker, Jorgensen,
 * Olsen, Molecular Electronic-Structure Theory, chapter 9.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

/** overlap S_ij = <i|j> and kinetic T_ij = -1/2 <i|nabla^2|j> (hartree). */
void xc_overlap_kinetic(const xc_basis *basis, int64_t lo, int64_t hi, double *overlap,
                        double *kinetic);

/** x, y and z elements <i|r - origin|j> (bohr). */
void xc_dipole(const xc_basis *basis, const double origin[3], int64_t lo, int64_t hi,
               double *const dipole[3]);

/**
 * Attraction of an electron by charges: - sum_c q_c <i| 1/|r - R_c| |j> (hartree).
 * @param[in] charges  [n]; nuclei are charges too (xc_nuclei)
 */
void xc_attraction(const xc_basis *basis, const xc_charge *charges, int64_t n, int64_t lo,
                   int64_t hi, double *attraction);

/** The nuclei as charges. @param[out] charges  [molecule->n_atoms] */
void xc_nuclei(const xc_molecule *molecule, xc_charge *charges);

/** Boys functions F_0(t)..F_last(t), last <= 2 XC_MAX_L + 1, t >= 0; relative error below 1e-14.
 *  For tests. */
void xc_boys(int last, double t, double *f);

TSL_C_END
