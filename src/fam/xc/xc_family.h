/**
 * @file xc_family.h
 * What the files of the family share among themselves: the deck section and the root's own state.
 */
#pragma once

#include "xc_basis.h"
#include "xc_cubes.h"
#include "xc_dispersion.h"
#include "xc_last.h"
#include "xc_lennard_jones.h"
#include "xc_problem.h"
#include "xc_scf.h"
#include "xc_stability.h"

#include <stdio.h>

/** Files beside the output. */
enum { XC_FILE_MOLDEN, XC_FILE_QCSCHEMA, XC_N_FILES };

/** Section `xc:`; the keys and their meaning are in xc_deck.c. */
typedef struct xc_deck {
  struct {
    char *xyz, *frames, *json, *atoms, *charges;
    int64_t charge, multiplicity;
    struct {
      char *atoms;
      int32_t mixing;
    } lennard_jones;
  } molecule;
  struct {
    char *file, *spins;
  } guess;
  struct {
    int32_t kind;
    double width;
  } smearing;
  struct {
    bool remote;
    char *token;
    double wait;
  } serve;
  struct {
    double b, c;
    char *preset;
    int64_t radial, angular;
    int32_t pruning;
  } nonlocal;
  char *basis, *ecp, *fitting, *basis_folder, *functional, *files[XC_N_FILES];
  int32_t task, functions, source, coulomb, exchange, reference, parallel, precision, dispersion;
  bool reproducible, hirshfeld;
  xc_cube_deck cube;
  int64_t cache, card_cache, fitting_cache, quartet_cache;
  double threshold;
  struct {
    char *preset;
    int64_t radial, angular;
    int32_t rule, pruning, scheme, adjust;
    double cut;
    bool response;
  } grid;
  struct {
    int32_t kind, reach, cost;
    int64_t target, least;
    double side, spheres, max_exponent;
  } groups;
  struct {
    double energy, commutator, overlap, damping, damping_until, level_shift;
    int64_t iterations, diis, rebuild;
    int32_t accelerator, stability;
  } scf;
} xc_deck;

extern const tsl_key xc_keys[];

/** Places in the deck's words. */
enum { XC_COULOMB_EXACT, XC_COULOMB_FITTED };
enum { XC_EXCHANGE_EXACT, XC_EXCHANGE_FITTED };
enum { XC_PRECISION_FP64, XC_PRECISION_MIXED };
enum { XC_ACCELERATOR_DIIS, XC_ACCELERATOR_ADIIS_DIIS };
enum { XC_REFERENCE_AUTO, XC_REFERENCE_RESTRICTED, XC_REFERENCE_UNRESTRICTED };

/** Deck of a QCSchema file, .json, that is run as it is. */
tsl_err xc_adopt(const char *file, char **text);
/** Keys that exclude each other, or that a choice does not use.
 *  @param[in] molecule  the deck has to have one */
tsl_err xc_deck_check(const tsl_deck *deck, const xc_deck *s, bool molecule);
/** Those of gradients, when it is known whether one is asked for. */
tsl_err xc_deck_check_gradient(const tsl_deck *deck, bool gradient);
/** The grid's rule: a preset, its parts replaced by what the deck gives. */
tsl_err xc_deck_grid(const tsl_deck *deck, const xc_deck *s, xc_grid_rule *rule);
xc_groups_rule xc_deck_groups(const tsl_deck *deck, const xc_deck *s);
xc_scf_options xc_deck_scf(const tsl_deck *deck, const xc_deck *s, bool gradient);
/** Matrices of a spin that DIIS keeps, densities among them. */
int64_t xc_deck_kept(const xc_deck *s);

enum { XC_ASKED = 256, XC_FOLDER = 4096, XC_INPUT = 1024 };

/** Fitting set that the deck names, or that goes with what is fitted. */
const char *xc_deck_fitting(const xc_deck *s);

/** Columns of XC_OUT_ATOMS and XC_OUT_BASIS. */
enum { XC_N_ATOM_COLUMNS = 5, XC_N_BASIS_COLUMNS = 6 };

/** Densities to begin with, of another run's output or of atoms with spins. Release with
 *  xc_start_clear. */
typedef struct xc_start {
  double *density; /**< [n_spin][n][n]; NULL: none are asked for */
  xc_basis basis;  /**< of a file's density, where the molecule's atoms are */
  bool projected;  /**< that is not the field's */
  double (*at)[3]; /**< [n_atoms] where the atoms were, bohr */
  double moved;    /**< the farthest that one is from there, bohr */
  int32_t n_spin;
} xc_start;

/** What the root keeps between phases. */
typedef struct xc_own {
  char method[XC_ASKED];     /**< the functional as it was asked for */
  char basis_name[XC_ASKED]; /**< the basis set likewise */
  char input[XC_INPUT];      /**< how the input was read, one line */
  xc_molecule molecule;
  xc_lj lennard_jones;
  xc_basis orbital, fitting;
  xc_pairs pairs;   /**< the list is the field's */
  xc_groups groups; /**< both arrays are the fields' */
  xc_cost_rule cost;
  xc_start start;
  const xc_last *last; /**< of a served job, whose it is; or NULL */
  double *spins;       /**< [n_atoms] unpaired electrons of the guess; NULL: none are asked for */
  xc_dispersion dispersion;
  xc_scf scf;
  xc_stability stability;
  double *metric;        /**< [n_fit][n_fit] L of (P|Q) = L L^T; with fitted exchange L^-1 */
  double *fit_bounds;    /**< [n_fit] sqrt((P|P)) */
  double *coulomb;       /**< [n][n] of this iteration */
  double *xc;            /**< [n_spin][n][n] of this iteration */
  double *exchange[2];   /**< [n][n] */
  double (*gradient)[3]; /**< [n_atoms + n_charges], made when it is asked for; or NULL */
  bool gradient_begun, gradient_done;
  double integrals[XC_N_INTEGRALS];
  double nonlocal;                 /**< part of the energy among them */
  double (*history)[XC_N_HISTORY]; /**< [most iterations] */
  int64_t n_history;
  double dipole[3];        /**< at the end, about the origin, e bohr */
  int64_t n_made;          /**< points before any was dropped */
  int64_t unconverged;     /**< elements of the guess that did not settle */
  bool idle;               /**< the next phase is a half iteration that a restart passes over */
  char *files[XC_N_FILES]; /**< to be written, or NULL */
  xc_cubes cubes;
  double *hirshfeld; /**< [n_atoms] Hirshfeld's charges, when they are asked for and made */
} xc_own;

static inline xc_own *xc_own_of(const tsl_problem *problem) {
  return (xc_own *)problem->own;
}

/** Read the molecule and the sets, find the functional.
 *  @param[in] talk  of a served job: it has the molecule and what is asked for; else NULL */
struct xc_talk;
tsl_err xc_load(const tsl_deck *deck, const xc_deck *s, struct xc_talk *talk, xc_own *own,
                xc_params *p);

/**
 * Read the density of an output of family xc.
 * @return TSL_ERR_INPUT naming what is of other atoms or too far away
 */
tsl_err xc_start_read(const char *path, const xc_molecule *molecule, const xc_basis *basis,
                      xc_start *start);
/** The same shells of the same atoms, wherever those are. */
bool xc_basis_same(const xc_basis *a, const xc_basis *b);
/**
 * Begin the field with a file's density: orbitals are made orthonormal again where atoms have
 * moved, D' = X D X^T with X = S'^(-1/2) S^(1/2) (P.-O. Loewdin, J. Chem. Phys. 18 (1950) 365), and
 * those occupied are projected where the basis is another one, C' = C S_old,new S'^-1, orthonormal
 * again.
 * @param[in] name  of the file, for messages
 */
tsl_err xc_start_apply(const char *name, const xc_basis *basis, xc_start *start, xc_scf *scf);
/** Begin with densities of the field's basis, each scaled to as many electrons as the field has. */
tsl_err xc_start_begin(const xc_start *start, xc_scf *scf);
void xc_start_clear(xc_start *start);
/** A row of XC_OUT_BASIS: primitive p of a shell. */
void xc_basis_row(const xc_shell *shell, int64_t number, int p, double row[XC_N_BASIS_COLUMNS]);

/** Say in own->input how molecule and sets, which are loaded, were read. */
void xc_input_text(const xc_deck *s, xc_own *own);

/** Nuclei and point charges together. @param[out] out  [n_atoms + n_charges] */
void xc_set_charges(const xc_molecule *m, xc_charge *out);
/** Likewise, from tsl_alloc. */
tsl_err xc_all_charges(const xc_molecule *m, xc_charge **out);

/** Pairs, and integrals of the fitting set: neither points nor algebra. */
tsl_err xc_prepare_integrals(const tsl_deck *deck, xc_own *own, xc_params *p);
/** After it: one-electron matrices, the guess, the factor of the metric. */
tsl_err xc_prepare(const tsl_deck *deck, const xc_deck *s, const tsl_problem *problem, xc_own *own,
                   xc_params *p);

/** Can the files beside the output be written? Asked before anything is computed. */
tsl_err xc_files_check(const tsl_deck *deck, const xc_deck *s);
/** The same of one file. @param[in] head  that a file which may be replaced has near its beginning
 */
tsl_err xc_files_check_one(const tsl_deck *deck, const char *key, const char *ending,
                           const char *head, const char *file);
/** Keep their names, which are the deck's, for xc_finish. */
tsl_err xc_files_keep(const xc_deck *s, xc_own *own);
/** Write an open file. */
tsl_err xc_molden_write(const xc_params *p, const xc_own *own, FILE *file);
tsl_err xc_qcschema_write(const xc_params *p, const xc_own *own, FILE *file);
/** Write them. */
tsl_err xc_finish(tsl_problem *problem, const tsl_field_rows *store);

/** Numbers of XC_STATE_MARK: format, iteration, spins, electrons of both, functions, and two parts
 *  of a hash of atoms, point charges, Lennard-Jones parameters and shells. */
enum {
  XC_MARK_FORMAT,
  XC_MARK_ITERATION,
  XC_MARK_SPINS,
  XC_MARK_ALPHA,
  XC_MARK_BETA,
  XC_MARK_FUNCTIONS,
  XC_MARK_HASH,
  XC_N_MARKS = XC_MARK_HASH + 2
};
/** Numbers behind the marks, at most: the state of the field and the history. */
int64_t xc_state_numbers(const xc_own *own);
/** Hash of point charges, Lennard-Jones parameters and shells, and with places of the atoms. */
uint64_t xc_state_hash(const xc_own *own, bool places);
/** Make the fields of checkpoints and fill them for the first time. */
tsl_err xc_state_create(tsl_problem *problem);
/** Fill them after an iteration: the density to go on with. The field of marks is as long as it is
 *  filled. @param[in] whole  else they hold the iteration before, and get what has changed */
void xc_state_save(tsl_problem *problem, bool whole);
/** The phase that the fields of checkpoints are before. */
int32_t xc_state_phase(const tsl_problem *problem);
/**
 * Go on from the fields as read from a checkpoint, as if there had been no end; reproducible: with
 * the same bits. A phase in the middle of an iteration (fitted Coulomb) is passed over.
 * @param[in] phase  the first to be computed
 * @return TSL_ERR_INPUT when the density is of another molecule, basis or kind of spins, or when no
 *         iteration is left
 */
tsl_err xc_restore(tsl_problem *problem, int phase);

/** Copy the densities that the next phase needs into XC_IN_DENSITIES, and choose the bits of its
 *  sums. @return TSL_ERR_NUMERIC when they are not finite and sums are to be fixed */
tsl_err xc_put_densities(tsl_problem *problem);

/** Orbitals of the densities asked for K into XC_IN_ORBITALS, when exchange is fitted.
 *  @return TSL_ERR_NUMERIC when a density has a negative occupation */
tsl_err xc_put_orbitals(tsl_problem *problem);

tsl_err xc_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
/** A part of a unit of bra pairs or fitting shells, from its middle; groups whole. */
void xc_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out);
/** The root's algebra gets the root's threads, as far as matrices are large enough for them, and
 *  its card; reproducible: one thread, as its bits depend on them. */
void xc_root_algebra(const xc_params *p);
tsl_err xc_advance(tsl_problem *problem, int phase, bool *more);

/** The field has converged: the next phases are those of its gradient, of the whole density. */
tsl_err xc_gradient_begin(tsl_problem *problem);
/** What the next phases are for. @param[in] slab  of cubes, else 0 */
void xc_set_task(tsl_problem *problem, xc_task task, int64_t slab);
/** The next phases are of the whole density of the field's end. */
tsl_err xc_put_whole(tsl_problem *problem);
/** Field and gradient have ended: begin what is asked for at points of space, if anything is.
 *  @param[out] more  there is a phase for it */
tsl_err xc_points_begin(tsl_problem *problem, bool *more);
/** After one of its phases. */
tsl_err xc_points_advance(tsl_problem *problem, bool *more);
/** Keep what the units of a phase have added. */
void xc_gradient_take(const tsl_problem *problem);
/** After the phase for products of orbitals: c and C of beta and B_Qij (xc_exchange.h). */
tsl_err xc_gradient_solve(tsl_problem *problem);
/** Add what no unit does: one-electron matrices, the overlap times the energy-weighted density, and
 *  nuclei and charges; then own->gradient is whole. */
tsl_err xc_gradient_finish(tsl_problem *problem);
/** What may help a field that did not converge; one sentence without its end. */
const char *xc_advice(const xc_own *own);
tsl_err xc_summary(const tsl_problem *problem, tsl_summary *summary);
void xc_describe(const tsl_problem *problem, char *text, size_t size);
