/**
 * @file xc_problem.h
 * The family xc: Kohn-Sham energies, as seen by its backends. (Not xc.h: that name is libxc's.)
 *
 * A self-consistent field whose expensive sums are units of a plan. Kinds of units:
 *   XC_UNIT_GROUP  a group of points [lo[0]], hi[0] = lo[0] + 1: its share of the
 *                  exchange-correlation matrix, energy and electrons
 *   XC_UNIT_FOCK   bra pairs of shells [lo[0], hi[0]): their share of J and K (xc_fock.h)
 *   XC_UNIT_FIT    fitting shells [lo[0], hi[0]): their share of gamma, and of J (xc_fit.h)
 *   XC_UNIT_EXCHANGE  orthonormal fitting functions [lo[0], hi[0]): their share of J and K
 *                  (xc_exchange.h); the only ones beside groups when exchange is fitted, too
 *   XC_UNIT_LATTICE  blocks of points [lo[0], hi[0]) of a slab of the lattice of cube files
 *   XC_UNIT_NONLOCAL  a group of points likewise, of the grid of non-local correlation: density at
 *                  its points, then its share of matrix and energy (xc_nonlocal.h)
 *
 * Phases. A phase is an iteration, but where Coulomb alone is fitted two are: in the even one
 * groups, bra pairs, and gamma = (P|mn) D; then the root solves (P|Q) c = gamma, and in the odd one
 * J = c (P|mn). With non-local correlation there are two, too: in the even one the densities at
 * its points are made, in the odd one these meet. Units with nothing to do in a phase are not
 * handed out in it (xc_is_active).
 * Fitting integrals of a unit are kept by the rank that made them.
 *
 * Of a field that has converged the gradient takes one iteration more (xc_params.gradient), with
 * the same units in the same phases: groups and bra pairs add their share of it; with Coulomb
 * fitted gamma of the whole density is made in the even phase, and fitting shells add theirs in the
 * odd one. With fitted exchange there are two phases: in the first beta of the whole density and
 * B_Qij of its orbitals are made, in the second groups and fitting shells add their share. The
 * phases are told from the field's by XC_IN_TASK, as nobody knows before how many those are.
 *
 * What is asked for at points of space follows, of the field's last density, in phases of its own:
 * one in which groups share out the density among the atoms (Hirshfeld's charges), then one for
 * each slab of the lattice of cube files, whose text the units make (xc_lattice.h).
 *
 * The root guesses the density, steps (xc_scf.h) and decides when it is done, in `advance`. Units
 * add to n x n matrices, row-major, that are summed over ranks; densities are symmetric.
 */
#pragma once

#include "contract.h"
#include "xc_fock.h"
#include "xc_functional.h"
#include "xc_groups.h"
#include "xc_lattice.h"

TSL_C_BEGIN

enum {
  XC_UNIT_GROUP,
  XC_UNIT_FOCK,
  XC_UNIT_FIT,
  XC_UNIT_EXCHANGE,
  XC_UNIT_NONLOCAL,
  XC_UNIT_LATTICE,
  XC_N_UNIT_KINDS
};

/** What the threads of a socket share: the points of a group, the groups, or pieces of both. */
typedef enum xc_parallel { XC_HYBRID, XC_INNER, XC_OUTER, XC_N_PARALLEL } xc_parallel;

/** Parameters; plain data, the same on all ranks. */
typedef struct xc_params {
  xc_functional functional;
  int32_t n_spin;          /**< 1 restricted, 2 unrestricted */
  int32_t fitted;          /**< 1: Coulomb by density fitting */
  int32_t fitted_exchange; /**< 1: exchange too, of a functional that has any */
  int32_t parallel;        /**< xc_parallel; of sockets */
  int32_t mixed;           /**< 1: cards use float until the last iterations (XC_IN_PRECISION) */
  int32_t reproducible;    /**< 1: the same bits whoever computes: sums are integers (xc_fixed.h) */
  int64_t n;               /**< functions */
  int64_t n_shells, n_fit_shells;
  int64_t n_fit;      /**< functions of the fitting set; 0 when not fitted */
  int64_t n_occupied; /**< orbitals of all spins that electrons are in */
  int64_t n_pairs;    /**< pairs of shells that the bounds leave */
  int64_t n_packed;   /**< elements of their blocks */
  int64_t n_points, n_groups;
  int64_t n_nonlocal_points, n_nonlocal_groups; /**< the last of them: of non-local correlation */
  int64_t cache;         /**< bytes of function values that a rank may keep between iterations */
  int64_t card_cache;    /**< likewise on a card */
  int64_t fitting_cache; /**< bytes of (P|mn) that a rank may keep; what is beyond is made anew */
  int64_t
      quartet_cache; /**< likewise of quartets; 0 where there are cards, which are as fast anew */
  double threshold;  /**< of J and K, see xc_fock.threshold */
  int64_t n_atoms;
  xc_grid_rule grid;  /**< of the points; gradients need the partition of space */
  int32_t response;   /**< 1: gradients follow points and weights of the grid */
  int64_t n_orbitals; /**< most orbitals of a spin in XC_IN_PRODUCTS; 0: none are needed */
  int64_t n_products; /**< pairs of them */
  int32_t gradient;   /**< 1: the gradient of the energy follows the field (XC_IN_TASK) */
  int32_t shares;     /**< 1: so do Hirshfeld's charges */
  xc_lattice lattice; /**< so do cubes, when there are any */
} xc_params;

/** Indices into problem->fields. */
enum {
  XC_IN_SHELLS,       /**< U8 [n_shells + n_fit_shells][sizeof xc_shell]: orbital, then fitting */
  XC_IN_PAIRS,        /**< U8 [n_pairs][sizeof xc_shell_pair] */
  XC_IN_POINTS,       /**< F64 [4][n_points]: x y z w */
  XC_IN_GROUPS,       /**< U8 [n_groups][sizeof xc_group] */
  XC_IN_LISTS,        /**< I32 [.]: shells of the groups */
  XC_IN_DENSITIES,    /**< F64 [2 n_spin + 1][n][n]: of the spins; asked for J; for K, by spin */
  XC_IN_COEFFICIENTS, /**< F64 [n_fit]: c of the odd phases */
  XC_IN_ORBITALS,     /**< F64 [n_spin][n][n]: exchange fitted: of the densities asked for K, D =
                           sum of c c^T over the first rows c (xc_exchange.h); else empty */
  XC_IN_OCCUPIED,     /**< I32 [n_spin]: how many rows; else empty */
  XC_IN_METRIC,       /**< F64 [n_fit][n_fit]: exchange fitted: L^-1 of (P|Q) = L L^T, column by
                           column, zero above the diagonal; else empty */
  XC_IN_PRECISION,    /**< I32 [1 + XC_N_FIXED]: 1: cards may use float in this phase; bits behind
                           the point of each kind of sums */
  XC_IN_OWNERS,       /**< I32 [n_points]: atoms that points belong to */
  XC_IN_ATOMS,        /**< U8 [n_atoms][sizeof xc_atom] */
  XC_IN_PRODUCTS,     /**< F64 [n_spin][n_fit][n_products]: gradient of fitted exchange: sum_Q
                           (P|Q)^-1 (Q|ij) of orbitals i >= j (xc_exchange.h); else empty */
  XC_IN_NONLOCAL,     /**< F64 [XC_N_NONLOCAL][n_nonlocal_points]: of the odd phases */
  XC_IN_CUBES,        /**< F64 [orbitals among the cubes][n]; set before their phases */
  XC_IN_CHARGES,    /**< U8 [charges or 0][sizeof xc_charge]: nuclei and point charges; of cubes */
  XC_IN_TASK,       /**< I32 [2]: what the next phases are for, xc_task; slab of cubes */
  XC_SUM_XC,        /**< F64 [n_spin][n][n]; reproducible: this and the next, J and K are I64
                           until the root has set the results */
  XC_SUM_INTEGRALS, /**< F64 [XC_N_INTEGRALS] */
  XC_SUM_GUARD,     /**< I64 [XC_N_FIXED]: size of each rank's sums (xc_fixed_set_guard) */
  XC_SUM_COULOMB,   /**< F64 [n][n]: of batches (before xc_fock_finish), or J when fitted */
  XC_SUM_EXCHANGE,  /**< F64 [n_spin or 0][n][n]: of batches */
  XC_SUM_GAMMA,     /**< F64 [n_fit]: when Coulomb alone is fitted gamma, of the even phases;
                           exchange too: beta before a gradient; each element by one rank, so its
                           sum is exact */
  XC_SUM_PRODUCTS,  /**< F64 [n_spin][n_fit][n_products]: B_Qij, each by one rank; empty but in the
                           phase that makes them */
  XC_SUM_NONLOCAL,  /**< F64 [4][n_nonlocal_points]: density and its gradient of the even
                        phases, each point by one rank, so its sum is exact */
  XC_SUM_TEXT,   /**< U8 [.]: of cubes, as xc_lattice_text makes it, each by one rank; empty but in
                      their phases */
  XC_SUM_POINTS, /**< F64 [.]: of shares [as XC_IN_LISTS] of atoms at the points of groups; of cubes
                      [blocks] of the density; each by one rank, so its sum is exact; else empty */
  XC_SUM_GRADIENT,    /**< F64 [n_atoms or 0][3]: what units add to it; of the result all of it */
  XC_OUT_DENSITY,     /**< F64 [n_spin][n][n]; this and what follows: set by the root at the end */
  XC_OUT_FOCK,        /**< F64 [n_spin][n][n] */
  XC_OUT_LEVELS,      /**< F64 [n_spin][independent functions] */
  XC_OUT_OCCUPATIONS, /**< F64 [n_spin][independent functions] */
  XC_OUT_CHARGES,     /**< F64 [n_atoms] */
  XC_OUT_HIRSHFELD,   /**< F64 [n_atoms]; hidden where it is not asked for */
  XC_OUT_ORBITALS,    /**< F64 [n_spin][independent functions][n]: row k is orbital k */
  XC_OUT_OVERLAP,     /**< F64 [n][n] */
  XC_OUT_SIZES,       /**< I64 [n_groups][2]: points and functions */
  XC_OUT_ATOMS,       /**< F64 [n_atoms][5]: atomic number, x y z in bohr, core electrons */
  XC_OUT_BASIS,       /**< F64 [primitives][6]: shell, atom, l, spherical, exponent, coefficient */
  XC_OUT_ON_CHARGES,  /**< F64 [n_charges or 0][3]: the gradient with respect to point charges */
  XC_OUT_HISTORY,     /**< F64 [iterations][XC_N_HISTORY]: number, energy, its change, commutator;
                           until the end as long as the most iterations there may be */
  XC_STATE_DENSITY,   /**< F64 [n_spin][n][n] of the next iteration; of checkpoints, root only */
  XC_STATE_MARK,      /**< F64 [XC_N_MARKS + .], what it belongs to (xc_state.c), and the numbers
                           that the next iterations depend on */
  XC_N_FIELDS
};

/** Entries of XC_SUM_INTEGRALS: energy (hartree), electrons of alpha and beta. Restricted: all
 *  electrons count as alpha. */
enum { XC_INTEGRAL_ENERGY, XC_INTEGRAL_ALPHA, XC_INTEGRAL_BETA, XC_N_INTEGRALS };

enum { XC_N_HISTORY = 4 };

/** Rows of XC_IN_NONLOCAL: of all points density of both spins, its gradient x y z, xc_vv10_site;
 *  then, of those that take part, place x y z, xc_vv10_site, weight times density, and 0 behind the
 *  last of them. */
enum {
  XC_NONLOCAL_RHO,
  XC_NONLOCAL_SLOPE,
  XC_NONLOCAL_OMEGA = 4,
  XC_NONLOCAL_KAPPA,
  XC_N_POINT_ROWS,
  XC_NONLOCAL_SITES = XC_N_POINT_ROWS,
  XC_N_SITE_ROWS = 6,
  XC_NONLOCAL_CHARGE = XC_NONLOCAL_SITES + XC_N_SITE_ROWS - 1,
  XC_N_NONLOCAL
};

/** Kinds of sums of fixed point (xc_fixed.h). */
enum { XC_FIXED_XC, XC_FIXED_INTEGRALS, XC_FIXED_COULOMB, XC_FIXED_EXCHANGE, XC_N_FIXED };

static inline const xc_params *xc_params_of(const tsl_problem *problem) {
  return (const xc_params *)problem->params;
}

/** Phases of an iteration. */
static inline int xc_phases(const xc_params *p) {
  const bool nonlocal = p->functional.nonlocal.b != 0;
  return nonlocal || (p->fitted && !p->fitted_exchange) ? 2 : 1;
}

/** Points and groups of the rest, which are the first. */
static inline int64_t xc_local_points(const xc_params *p) {
  return p->n_points - p->n_nonlocal_points;
}
static inline int64_t xc_local_groups(const xc_params *p) {
  return p->n_groups - p->n_nonlocal_groups;
}

/** A row of XC_IN_NONLOCAL. */
static inline const double *xc_nonlocal_row(const tsl_problem *problem, int row) {
  const double *rows = (const double *)problem->fields[XC_IN_NONLOCAL].data;
  return rows + row * xc_params_of(problem)->n_nonlocal_points;
}
/** How many of its points take part. */
static inline int64_t xc_nonlocal_sites_of(const tsl_problem *problem) {
  const double *charge = xc_nonlocal_row(problem, XC_NONLOCAL_CHARGE);
  int64_t n = 0;
  while (n < xc_params_of(problem)->n_nonlocal_points && charge[n] != 0) n++;
  return n;
}

/** What phases are for: first the field; when it has converged its gradient, of fitted exchange
 *  after a phase for products of orbitals; at last what the field is at points of space: shares of
 *  atoms, cubes. */
typedef enum xc_task {
  XC_TASK_ENERGY,
  XC_TASK_GRADIENT,
  XC_TASK_PRODUCTS,
  XC_TASK_SHARES,
  XC_TASK_CUBES
} xc_task;

static inline xc_task xc_task_of(const tsl_problem *problem) {
  return (xc_task) * (const int32_t *)problem->fields[XC_IN_TASK].data;
}

/** The slab of a phase of cubes. */
static inline int64_t xc_slab_of(const tsl_problem *problem) {
  return ((const int32_t *)problem->fields[XC_IN_TASK].data)[1];
}

/** Has a kind of unit work in a phase? */
static inline bool xc_is_active(const tsl_problem *problem, int phase, int kind) {
  const xc_params *p = xc_params_of(problem);
  const xc_task task = xc_task_of(problem);
  if (kind == XC_UNIT_LATTICE && p->lattice.n > 0) return task == XC_TASK_CUBES;
  if (task == XC_TASK_CUBES) return false;
  if (task == XC_TASK_SHARES && kind == XC_UNIT_GROUP) return true;
  if (xc_phases(p) == 1 || kind == XC_UNIT_FIT) return true;
  if (kind == XC_UNIT_NONLOCAL) return p->functional.nonlocal.b != 0;
  return phase % 2 == 0 && kind != XC_UNIT_EXCHANGE && kind != XC_UNIT_LATTICE;
}

/** Are phases for matrices and gradients, none for what the field is at points of space? */
static inline bool xc_has_sums(const tsl_problem *problem) {
  return xc_task_of(problem) < XC_TASK_SHARES;
}

/** Does a kind of unit add to the gradient in this phase? Fitting shells do so once gamma of the
 *  whole density is known, points of non-local correlation once all their densities are. */
static inline bool xc_adds_gradient(const tsl_problem *problem, int phase, int kind) {
  const bool later = kind == XC_UNIT_FIT || kind == XC_UNIT_NONLOCAL;
  return xc_task_of(problem) == XC_TASK_GRADIENT && (!later || phase % 2 != 0);
}

/** Are four-centre integrals needed? */
static inline bool xc_has_quartets(const xc_params *p) {
  return !p->fitted || (xc_functional_exact(&p->functional) && !p->fitted_exchange);
}

/** An operator that four-centre integrals are made of: erf(omega r) / r; omega 0: 1 / r. */
typedef struct xc_operator {
  double omega, weight; /**< weight: of K's integrals in K; 0: none */
} xc_operator;

enum { XC_MOST_OPERATORS = 2 };

/** Those that are needed. J is of 1 / r, which is the first. @return how many */
static inline int xc_operators_of(const xc_params *p, xc_operator list[XC_MOST_OPERATORS]) {
  const xc_functional *f = &p->functional;
  const bool exact = xc_functional_exact(f) && !p->fitted_exchange;
  const double near = !exact ? 0 : f->far != 0 ? f->exchange : 1;
  int n = 0;
  if (!p->fitted || near != 0) list[n++] = (xc_operator){0, near};
  if (exact && f->far != 0) list[n++] = (xc_operator){f->omega, f->far};
  return n;
}

/** May cards use float for functions and products in the phase at hand? */
static inline bool xc_is_single(const tsl_problem *problem) {
  return *(const int32_t *)problem->fields[XC_IN_PRECISION].data != 0;
}

/** Matrix k of XC_IN_DENSITIES. */
static inline const double *xc_density_of(const tsl_problem *problem, int64_t k) {
  const int64_t n = xc_params_of(problem)->n;
  return (const double *)problem->fields[XC_IN_DENSITIES].data + k * n * n;
}
/** The density asked for J, and that of spin s asked for K. */
static inline const double *xc_asked_total(const tsl_problem *problem) {
  return xc_density_of(problem, xc_params_of(problem)->n_spin);
}
static inline const double *xc_asked_spin(const tsl_problem *problem, int s) {
  return xc_density_of(problem, xc_params_of(problem)->n_spin + 1 + s);
}

/** The fields as the pieces of the family know them; everything is borrowed from the fields. */
typedef struct xc_view {
  xc_basis orbital, fitting;
  xc_pairs pairs;
  const double *point[4]; /**< x y z w */
  const xc_group *groups;
  const int32_t *lists;
} xc_view;
void xc_view_set(const tsl_problem *problem, xc_view *view);

/** Words of the deck, NULL-ended. */
extern const char *const xc_parallel_words[];

extern const tsl_family tsl_family_xc;

TSL_C_END
