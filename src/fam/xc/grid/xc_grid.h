/**
 * @file xc_grid.h
 * The integration grid of a molecule: atomic grids (radial shells times Lebedev spheres) joined by
 * weights of a fuzzy partition of space.
 *
 *   rule (a preset, or sizes given) -> xc_grid_points: every atom's points with their volumes
 *     -> xc_partition_weights: volume times the owner's share of the point, by ranges of points
 *     -> points of no weight leave (xc_grid_make does all three) -> groups (xc_groups.h)
 *
 * Atomic units throughout. All functions are without state; xc_grid_make hands the weights over to
 * the root's device (assist.h) or in ranges (parallel.h).
 */
#pragma once

#include "xc_lebedev.h"
#include "xc_molecule.h"

TSL_C_BEGIN

/* ------------------------------------------------------------------ rule */

typedef enum xc_radial {
  XC_RADIAL_TREUTLER, /**< M4 map with xi of the element, Chebyshev of the second kind */
  XC_RADIAL_BECKE,    /**< Becke map, R = half the Bragg-Slater radius (hydrogen: the whole) */
  XC_RADIAL_SLATER,   /**< Becke map, R = half the Slater radius in the seed's table */
  XC_N_RADIAL
} xc_radial;

typedef enum xc_sizes {
  XC_SIZES_GIVEN,    /**< n_radial and n_angular for every atom */
  XC_SIZES_PERIOD,   /**< by period: 50 75 80 90 95 shells of 302 302 434 434 434 points */
  XC_SIZES_SLATER20, /**< by period: 20 25 30 35 40 shells of n_angular points (seed, lio0) */
  XC_SIZES_SLATER30, /**< by period: 30 35 40 45 50 shells of n_angular points (seed, lio1, lio2) */
  XC_N_SIZES
} xc_sizes;

typedef enum xc_pruning {
  XC_PRUNE_NONE,     /**< the same sphere in every shell */
  XC_PRUNE_NWCHEM,   /**< zones of r over the Bragg-Slater radius: 50 points, 86, one rule
                          below, the full rule, one below; not from rules of 50 and fewer */
  XC_PRUNE_TREUTLER, /**< inner third 14 points, up to the half 50 */
  XC_N_PRUNING
} xc_pruning;

typedef enum xc_scheme {
  XC_BECKE, /**< Becke, J. Chem. Phys. 88 (1988) 2547, k = 3 */
  XC_SSF,   /**< Stratmann, Scuseria, Frisch, Chem. Phys. Lett. 257 (1996) 213, a = 0.64 */
  XC_N_SCHEMES
} xc_scheme;

typedef enum xc_adjust {
  XC_ADJUST_NONE,     /**< cells of equal size */
  XC_ADJUST_TREUTLER, /**< by the square root of the Bragg-Slater radii */
  XC_ADJUST_BRAGG,    /**< by the Bragg-Slater radii (Becke, appendix) */
  XC_ADJUST_SLATER, /**< by the Slater radii of the seed's table; shifts are not held within 1/2 */
  XC_N_ADJUST
} xc_adjust;

/** Words for decks, in the order of the enums, NULL-ended. */
extern const char *const xc_radial_words[];
extern const char *const xc_pruning_words[];
extern const char *const xc_scheme_words[];
extern const char *const xc_adjust_words[];

/** Everything that decides a grid. Plain data. */
typedef struct xc_grid_rule {
  int32_t radial, sizes, pruning, scheme, adjust; /**< the enums above */
  int32_t zero;                                   /**< reserved */
  int64_t n_radial, n_angular;                    /**< XC_SIZES_GIVEN; else see xc_sizes */
  double cut; /**< points of less weight are dropped; 0: those of weight 0 */
} xc_grid_rule;

enum {
  XC_MAX_RADIAL = 1000,
  XC_MAX_SLATER_Z = 54 /**< elements of the seed's table of radii */
};

/** coarse default fine ultrafine lio0 lio1 lio2, NULL-ended. Global for tests. */
extern const char *const xc_preset_words[];

/**
 * A rule by name.
 *
 * coarse (50, 194), default (by period, see XC_SIZES_PERIOD), fine (75, 302), ultrafine (99, 590):
 * Treutler-Ahlrichs shells, SSF cells with Treutler's size adjustment (electrons as exact as with
 * Becke cells, a tenth fewer points); pruned as NWChem does, but ultrafine not. lio0 lio1 lio2: the
 * seed's grids of 50, 116, 194 points a shell with its shells and radii, Becke cells, not pruned.
 * @return TSL_ERR_INPUT naming the nearest preset and all of them
 */
tsl_err xc_grid_preset(const char *name, xc_grid_rule *out);

/** TSL_ERR_INPUT when a rule makes no sense: says which member and what is allowed. */
tsl_err xc_grid_check(const xc_grid_rule *rule);

/** Shells and points a shell of an element, before pruning; rule checked, z in 1..XC_MAX_Z. Global
 *  for tests. */
void xc_grid_sizes(const xc_grid_rule *rule, int z, int64_t *n_radial, int64_t *n_angular);

/* ---------------------------------------------------------------- radial */

/** Bragg-Slater radius, J. C. Slater, J. Chem. Phys. 41 (1964) 3199, noble gases filled in; bohr.
 */
double xc_bragg_radius(int z);
/** Slater radius of the seed's table, z up to XC_MAX_SLATER_Z; bohr. */
double xc_slater_radius(int z);

/**
 * Radii and weights of integral_0^inf f(r) r^2 dr, from the nucleus outwards.
 *
 * With theta_i = pi i/(n+1), x_i = cos theta_i and Chebyshev's weights of the second kind freed of
 * their square root, pi/(n+1) sin theta_i:
 *   Becke     r = R (1 + x)/(1 - x)
 *   Treutler  r = xi/ln 2 (1 + x)^0.6 ln(2/(1 - x))     (M4, alpha = 0.6)
 * xi: O. Treutler, R. Ahlrichs, J. Chem. Phys. 102 (1995) 346, table I; beyond krypton the values
 * of Psi4 and PySCF. 1 - x and 1 + x are formed without cancellation.
 * @param[out] r, w  [n] bohr and bohr^3
 */
void xc_radial_shells(xc_radial rule, int z, int64_t n, double *r, double *w);

/* ------------------------------------------------------------------ grid */

/** Points of a molecule; release with xc_grid_clear. x y z w point into block. */
typedef struct xc_grid {
  int64_t n;
  double *block;     /**< [4][n] rows x y z w, from tsl_alloc; NULL when n is 0 */
  double *x, *y, *z; /**< [n] bohr */
  double *w;         /**< [n] weights, bohr^3 */
  int32_t *atom;     /**< [n] owner */
  int32_t *shell;    /**< [n] radial shell of the owner, from the nucleus outwards */
  int64_t n_made;    /**< points before any was dropped */
  int32_t *shells;   /**< [n_atoms] number of radial shells of an atom */
  int64_t n_atoms;
} xc_grid;

/**
 * All points of all atoms, by atom, shell and Lebedev point; w is the volume 4 pi w_r w_a. Global
 * for tests.
 * @param[in]  atoms  [n_atoms]; may be none
 * @param[out] grid   owned by the caller
 * @return TSL_ERR_INPUT for a bad rule, an element out of range, a coordinate that is no number
 */
tsl_err xc_grid_points(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                       xc_grid *grid);

/** Reorder: point i becomes what was point order[i]; order has n <= grid.n distinct entries, the
 *  other points leave. */
tsl_err xc_grid_take(xc_grid *grid, const int64_t *order, int64_t n);

/** Append the points of another grid of the same atoms. */
tsl_err xc_grid_join(xc_grid *grid, const xc_grid *more);

/** Points, weights and drop in one call. */
tsl_err xc_grid_make(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                     xc_grid *grid);

/** Free and zero. */
void xc_grid_clear(xc_grid *grid);

/* --------------------------------------------------------------- weights */

/** The partition of space of a molecule; immutable, may be shared by threads. */
typedef struct xc_partition xc_partition;

/**
 * Prepare the partition: distances, size adjustment.
 *
 * Size adjustment nu = mu + a (1 - mu^2), a = (R_j/R_i - R_i/R_j)/4 within [-1/2, 1/2].
 * Memory: 16 n_atoms^2 bytes.
 * @return TSL_ERR_INPUT when two nuclei are closer than 0.1 Angstrom
 */
tsl_err xc_partition_create(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                            xc_partition **out);

/** NULL accepted, sets NULL. */
void xc_partition_destroy(xc_partition **partition);

/**
 * Multiply the volumes of points [lo, hi) by the owner's share P_owner / sum_j P_j.
 *
 * Threads: several at once for ranges that do not overlap; ranges of 4000 points and more amortise
 * the table of the owner's neighbours (24 n_atoms^2 bytes for each call).
 * Numerics: exact to rounding but for two things. A weight that is surely less than half the
 * rule's cut is set to 0; and cells below 1e-16 of the largest are left out of the sum. Far
 * outside a molecule of more than a thousand atoms every cell underflows: the weight is 0.
 * A result does not depend on the ranges.
 */
tsl_err xc_partition_weights(const xc_partition *partition, xc_grid *grid, int64_t lo, int64_t hi);

/** Arguments of the step "xc.weights" (assist.h), which xc_grid_make offers: the same for all
 *  points of the grid. */
typedef struct xc_weighing {
  const xc_partition *partition;
  xc_grid *grid;
} xc_weighing;

/** Scratch memory of one thread for xc_partition_gradient. */
typedef struct xc_partition_work xc_partition_work;
/** Memory: 88 n_atoms bytes. @param[out] out  free with xc_partition_work_destroy */
tsl_err xc_partition_work_create(const xc_partition *partition, xc_partition_work **out);
/** NULL accepted, sets NULL. */
void xc_partition_work_destroy(xc_partition_work **work);

/**
 * Derivatives of sum_p amount_p ln w_p, the weights w_p as xc_partition_weights makes them, when
 * atoms move and points with their owners; so of sum_p w_p e_p with fixed e when amount is w e.
 *
 * B. G. Johnson, P. M. W. Gill, J. A. Pople, J. Chem. Phys. 98 (1993) 5612, appendix, for cells
 * of Becke and of SSF, and all adjustments. Its sum over the atoms is zero to rounding.
 * Cost: that of the weights, a few times; points with one cell (SSF) cost their distances alone.
 * @param[in]     at        [3] arrays [n], bohr
 * @param[in]     owner     [n] atoms; points of weight 0 are not allowed
 * @param[in,out] gradient  [n_atoms][3] added to, unit of amount per bohr
 */
void xc_partition_gradient(const xc_partition *partition, xc_partition_work *work, int64_t n,
                           const double *const at[3], const int32_t *owner, const double *amount,
                           double *gradient);

TSL_C_END
