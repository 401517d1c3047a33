/**
 * @file xc_fit.h
 * Density-fitted Coulomb matrix:
 *
 *   gamma_P = sum_mn (P|mn) D_mn,   (P|Q) c_Q = gamma_P,   J_mn = sum_P c_P (P|mn)
 *
 * Densities and J are packed: the elements of the listed pairs of shells one block after another,
 * so (P|mn) of a range of fitting shells is a plain matrix [functions][packed], kept where its rank
 * or card wants it, and both sums are matrix-vector products. Ranges of fitting shells are batches:
 * gamma of a range is final, J sums over ranges.
 *
 * Source: B. I. Dunlap, J. W. D. Connolly, J. R. Sabin, J. Chem. Phys. 71 (1979) 3396.
 */
#pragma once

#include "xc_fock.h"

/** Functions of fitting shells [lo, hi). */
int64_t xc_fit_functions(const xc_basis *fitting, int64_t lo, int64_t hi);

/** Rows of (P|Q) for P in shells [lo, hi), each from its shell on; of a triangle, as
 *  xc_matrix_factor reads it, the rest of metric [n][n] stays.
 *  @param[in] doubles  engine of kind XC_DOUBLES */
void xc_fit_metric(xc_engine *doubles, const xc_basis *fitting, int64_t lo, int64_t hi,
                   double *metric);

/** (P|mn) of a fitting shell and the pairs [lo, hi) of the list.
 *  @param[out] rows  [functions][pairs->n_packed], of which the blocks of these pairs are set */
void xc_fit_triples(xc_engine *triples, const xc_basis *orbital, const xc_basis *fitting,
                    const xc_pairs *pairs, int64_t shell, int64_t lo, int64_t hi, double *rows);

/** Packed density, blocks of unlike shells doubled, so that gamma = rows packed. The pairs [lo, hi)
 *  of the list alone. */
void xc_fit_pack(const xc_basis *orbital, const xc_pairs *pairs, int64_t lo, int64_t hi,
                 const double *density, double *packed);

/** J from packed = rows^T c, of the pairs [lo, hi) of the list alone; other elements stay. */
void xc_fit_unpack(const xc_basis *orbital, const xc_pairs *pairs, int64_t lo, int64_t hi,
                   const double *packed, double *coulomb);
