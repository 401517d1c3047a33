/**
 * @file xc_scf.h
 * The self-consistent field as a sequence of steps. What is expensive - J, K and the
 * exchange-correlation matrix of given densities - is built outside, in batches, by whoever has the
 * devices; the steps between are here:
 *
 *   xc_scf_create -> xc_scf_start(density) -> { build for scf.ask_*; xc_scf_step } until done
 *
 *   F_s = H + J - a K_s + V_s
 *   E = E_nuclei + tr(P H) + tr(P J)/2 - a sum_s tr(D_s K_s)/2 + E_xc,    P = D_alpha + D_beta
 *
 * Densities D_s are per spin; in the restricted case (n_spin = 1) both spins share D_0. J and K are
 * linear, so only the change of the density is asked for (ask_*), every rebuild-th time the whole.
 * Convergence: change of the energy and largest element of the commutator F D S - S D F in the
 * orthonormal basis, both with the Fock matrix of the very density.
 *
 * In the orthonormal basis, where half S half^T = 1, F' = half F half^T and D = half^T D' half, so
 * that half (F D S - S D F) half^T = F' D' - D' F'. DIIS, level shift and orbitals work there.
 */
#pragma once

#include "xc_diis.h"
#include "xc_molecule.h"
#include "xc_occupation.h"

/** Options with their usual values in brackets. */
typedef struct xc_scf_options {
  double energy_limit;     /**< hartree between iterations (1e-8) */
  double commutator_limit; /**< largest element, hartree (1e-5) */
  double overlap_limit;    /**< smallest eigenvalue of the overlap that is kept (1e-7) */
  double exchange;         /**< a: share of exact exchange, 1 for Hartree-Fock */
  double level_shift;      /**< hartree added to empty orbitals; 0: none (0) */
  double damping;          /**< share of the old density kept, 0..1 (0) */
  double damping_until;    /**< commutator below which damping and level shift end (0.01) */
  int32_t diis;            /**< matrices of DIIS; 0: none (8) */
  int32_t adiis;           /**< 1: ADIIS far from the end; needs diis (1) */
  int32_t most_iterations; /**< (100) */
  int32_t rebuild;         /**< whole J and K every so many iterations (8) */
  int32_t restricted;      /**< 1: RKS, needs alpha = beta */
  int32_t smearing;        /**< xc_smearing; not with a level shift (none) */
  double width;            /**< of smearing, hartree */
  int32_t stability;       /**< xc_stability_task, of the caller (none) */
} xc_scf_options;

/** What follows a field that has converged (xc_stability.h): nothing, a look, or from a saddle
 * point a
 *  field of lower energy. */
typedef enum xc_stability_task {
  XC_STABILITY_NONE,
  XC_STABILITY_CHECK,
  XC_STABILITY_FOLLOW
} xc_stability_task;

void xc_scf_standard(xc_scf_options *options);

/** Energies by term, hartree. */
typedef struct xc_energies {
  double nuclei;        /**< repulsion of nuclei among themselves and with point charges */
  double lennard_jones; /**< of atoms and point charges; the caller's, 0 without */
  double kinetic;
  double attraction; /**< of electrons by nuclei and point charges */
  double coulomb;
  double exchange;   /**< exact, share included */
  double xc;         /**< of the functional */
  double dispersion; /**< of the nuclei's places alone (xc_dispersion.h), set by the caller */
  double total;
} xc_energies;

/** What was built for the densities asked for. */
typedef struct xc_scf_built {
  const double *coulomb;     /**< J of ask_total */
  const double *exchange[2]; /**< K of ask_spin; unused when options.exchange is 0 */
  const double *xc[2];       /**< V of the whole densities (density[]); NULL: none */
  double xc_energy;
} xc_scf_built;

typedef enum xc_scf_state { XC_SCF_RUNNING, XC_SCF_CONVERGED, XC_SCF_STOPPED } xc_scf_state;

/** Matrices are [n][n], of the basis; all memory is owned. Release with xc_scf_clear. */
typedef struct xc_scf {
  xc_scf_options options;
  int64_t n, m; /**< functions; independent combinations of them */
  int32_t n_spin;
  int64_t electrons[2];    /**< of each spin */
  double smallest_overlap; /**< eigenvalue of the overlap */
  double *overlap, *core, *kinetic;
  double *half;        /**< [m][n], xc_orthogonal.h */
  double *density[2];  /**< of a spin */
  double *total;       /**< density of both spins */
  double *ask_total;   /**< density for J, a difference or the whole */
  double *ask_spin[2]; /**< densities for K, likewise */
  double *fock[2];
  double *orbitals[2];    /**< [m][n], row k is orbital k */
  int64_t filled[2];      /**< while it runs: so many rows, each times the root of its occupation,
                               make the density; 0: it is not made of them */
  double *levels[2];      /**< [m] energies of the orbitals, hartree */
  double *occupations[2]; /**< [m] of the orbitals, 0..1 */
  double fermi[2];        /**< Fermi level of each spin (xc_occupy), hartree */
  double entropy;         /**< of the densities, both spins, Boltzmann's constants; at first 0 */
  xc_energies energies;
  double change; /**< of the energy, last iteration */
  double commutator;
  int32_t iteration; /**< steps done */
  int32_t rough;     /**< 1: what is built is too rough to end with */
  int32_t state;     /**< xc_scf_state; STOPPED: not converged in most_iterations */
  /* private */
  double *coulomb, *exchange[2], *last_total, *last_spin[2], *work;
  double *fock_half[2], *density_half[2], *error; /* F', D', F' D' - D' F': [m][m] of each spin */
  xc_diis diis;
} xc_scf;

/**
 * Take over the one-electron matrices.
 * @param[in] overlap,kinetic,attraction  [n][n], copied
 * @return TSL_ERR_INPUT for bad options, a closed-shell method on an open shell, or more electrons
 *         of a spin than independent functions; TSL_ERR_MEMORY, TSL_ERR_NUMERIC
 */
tsl_err xc_scf_create(const xc_molecule *molecule, int64_t n, const double *overlap,
                      const double *kinetic, const double *attraction,
                      const xc_scf_options *options, xc_scf *scf);
void xc_scf_clear(xc_scf *scf);

/** Begin with a total density, shared among the spins by their electrons. */
tsl_err xc_scf_start(xc_scf *scf, const double *total);
/** Begin with spin densities; density[1] unused when restricted.
 *  @param[in] done  iterations that were done before; they count */
tsl_err xc_scf_restart(xc_scf *scf, const double *const density[2], int32_t done);

/**
 * All that the next iterations depend on beside the densities and the number of iterations: J, K
 * and what they are of, the orthonormal basis (which another number of threads makes with other
 * signs) and what is in it, D' and DIIS, the last energy. After xc_scf_restart with the same
 * densities, load makes the field go on with the same bits.
 * @param[in,out] numbers  [xc_scf_numbers(scf)]
 */
int64_t xc_scf_numbers(const xc_scf *scf);
/** @param[in] whole  else numbers are those saved before the last step, and only what that step
 *                    has changed is written */
void xc_scf_save(const xc_scf *scf, bool whole, double *numbers);
/** @return TSL_ERR_INPUT when they are of another DIIS */
tsl_err xc_scf_load(xc_scf *scf, const double *numbers);
/** Ask for the difference of the density to what J and K are known of. */
void xc_scf_ask(xc_scf *scf);

/** One iteration: Fock matrix and energy of the density, then the next density and what to ask.
 *  When it ends (state) density, fock, orbitals and energies belong together. */
tsl_err xc_scf_step(xc_scf *scf, const xc_scf_built *built);

/* The Fock matrices of other densities than the field's: */

/** The densities were set: J and K of them are asked for. */
void xc_scf_vary(xc_scf *scf);
/** They were built: the Fock matrices of these densities; energies and what else there is of the
 *  field stay. */
void xc_scf_sum(xc_scf *scf, const xc_scf_built *built);

/* ------------------------------------------------------------- properties */

/** Highest occupied and lowest empty orbital over the spins (hartree); an infinity when there is
 *  none. */
void xc_scf_frontier(const xc_scf *scf, double *highest, double *lowest);

/** Dipole moment about the origin (e bohr). @param[in] matrices  of xc_dipole, origin 0 */
void xc_scf_dipole(const xc_scf *scf, const xc_molecule *molecule, const double *const matrices[3],
                   double dipole[3]);

/** Mulliken charges. @param[out] charges  [n_atoms] */
void xc_scf_mulliken(const xc_scf *scf, const xc_molecule *molecule, const xc_basis *basis,
                     double *charges);

/** <S^2> of the single determinant: of the state wanted S (S + 1), more with contamination. */
tsl_err xc_scf_spin_square(const xc_scf *scf, double *square);
