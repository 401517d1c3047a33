/**
 * @file xc_potential.h
 * Electrostatic potential of electrons, nuclei and point charges, hartree per elementary charge.
 *
 * With the density as a sum of Hermite Gaussians of pairs of primitives, (P|mn) of one point each:
 *
 *   V(r) = sum_A Z_A / |r - A| + sum_c q_c / |r - c| - sum_k 2 pi / p_k sum_tuv E_tuv^k
 *          R_tuv(p_k, P_k - r)
 *
 * where E_tuv^k holds the density of both primitives. The cost is that of the attraction by as many
 * charges as there are points: pairs of primitives times points.
 *
 * Source: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218; Helgaker, Jorgensen,
 * Olsen, Molecular Electronic-Structure Theory, 9.5 and 9.9.
 */
#pragma once

#include "xc_values.h"

TSL_C_BEGIN

/** Nearer to a nucleus or a charge than this, bohr, its potential is that at this distance. */
#define XC_POTENTIAL_NEAREST 1e-4

typedef struct xc_potential xc_potential;

/** Pairs of primitives whose product is not nothing, whatever the density: for predictions. */
int64_t xc_potential_pairs(const xc_basis *basis);

/**
 * Begin the potential of charges and a density of Hermite Gaussians, none of which are made yet.
 * @param[in]  charges  [n_charges] nuclei and point charges, borrowed
 * @param[in]  basis    borrowed
 * @param[out] out      free with xc_potential_destroy
 */
tsl_err xc_potential_create(const xc_charge *charges, int64_t n_charges, const xc_basis *basis,
                            xc_potential **out);
/**
 * The Hermite Gaussians of a shell and those before it; needed of all shells. Those that add less
 * than 1e-12 hartree anywhere are left out. Any thread, one for a shell.
 * @param[in] total  [n][n] density of both spins; not kept
 */
tsl_err xc_potential_shell(xc_potential *potential, const double *total, int64_t shell);
/** NULL accepted, sets NULL. */
void xc_potential_destroy(xc_potential **potential);

/** Potential at points. Any thread. @param[out] out  [points->n] */
void xc_potential_at(const xc_potential *potential, const xc_places *points, double *out);

TSL_C_END
