/**
 * @file xc_values.h
 * Functions, densities and orbitals at points, on the threads of the root (parallel.h). A block of
 * points and the shells that reach it are worked on together, as groups of the grid are.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

/** Most points of a block. */
enum { XC_PLACES = 512 };

/** Where points are, bohr; borrowed. */
typedef struct xc_places {
  const double *x, *y, *z; /**< [n] */
  int64_t n;               /**< at most XC_PLACES */
} xc_places;

/** Values of the functions of some shells at a block of points; scratch memory of one slot, kept
 *  from block to block. Begin with zeros, release with xc_values_clear. */
typedef struct xc_values {
  const xc_basis *basis; /**< of the last xc_values_fill, as the next two */
  const int32_t *shells; /**< [n_shells], ascending; borrowed */
  int64_t n_shells, n_points;
  int64_t functions; /**< of these shells */
  double *phi;       /**< [functions][XC_PLACES], points beyond n_points are 0 */
  double *matrix;    /**< private */
  int64_t room;      /**< private: functions that there is memory for */
} xc_values;

void xc_values_clear(xc_values *values);

/** Values of the functions of shells at points. @return TSL_ERR_MEMORY */
tsl_err xc_values_fill(const xc_basis *basis, const int32_t *shells, int64_t n_shells,
                       const xc_places *points, xc_values *values);

/** rho(p) = sum_ij D_ij phi_i(p) phi_j(p), electrons per bohr^3.
 *  @param[in]  density  [n][n] of the basis, symmetric
 *  @param[out] rho      [XC_PLACES]; those beyond the points are 0 */
void xc_values_density(const xc_values *values, const double *density, double *rho);

/** psi(p) = sum_i c_i phi_i(p), bohr^-3/2.
 *  @param[in]  orbital  [n] of the basis
 *  @param[out] psi      [XC_PLACES]; those beyond the points are 0 */
void xc_values_orbital(const xc_values *values, const double *orbital, double *psi);

TSL_C_END
