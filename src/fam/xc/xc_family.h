/**
 * @file xc_family.h
 * What the files of the family share among themselves: the deck section and the root's own state.
 */
#ifndef TSL_FAM_XC_XC_FAMILY_H
#define TSL_FAM_XC_XC_FAMILY_H

#include "xc_basis.h"
#include "xc_problem.h"
#include "xc_scf.h"

/** Section `xc:`; the keys and their meaning are in xc_deck.c. */
typedef struct xc_deck {
  struct {
    char *xyz, *json, *atoms, *charges;
    int64_t charge, multiplicity;
  } molecule;
  char *basis, *fitting, *basis_folder, *functional;
  int32_t functions, source, coulomb, reference, parallel, precision;
  int64_t cache;
  double threshold;
  struct {
    char *preset;
    int64_t radial, angular;
    int32_t rule, pruning, scheme, adjust;
    double cut;
  } grid;
  struct {
    int32_t kind, reach, cost;
    int64_t target, least;
    double side, spheres, max_exponent;
  } groups;
  struct {
    double energy, commutator, overlap, damping, damping_until, level_shift;
    int64_t iterations, diis, rebuild;
  } scf;
} xc_deck;

extern const tsl_key xc_keys[];

/** Places in the deck's words. */
enum { XC_COULOMB_EXACT, XC_COULOMB_FITTED };
enum { XC_REFERENCE_AUTO, XC_REFERENCE_RESTRICTED, XC_REFERENCE_UNRESTRICTED };

/** Keys that exclude each other, or that a choice does not use. */
tsl_err xc_deck_check(const tsl_deck *deck, const xc_deck *s);
/** The grid's rule: a preset, its parts replaced by what the deck gives. */
tsl_err xc_deck_grid(const tsl_deck *deck, const xc_deck *s, xc_grid_rule *rule);
xc_groups_rule xc_deck_groups(const tsl_deck *deck, const xc_deck *s);
xc_scf_options xc_deck_scf(const xc_deck *s);

/** Pass an error of a piece on as one about a key; err is given back. */
tsl_err xc_blame(const tsl_deck *deck, const char *path, tsl_err err);

/** What the root keeps between phases. */
typedef struct xc_own {
  xc_molecule molecule;
  xc_basis orbital, fitting;
  xc_pairs pairs;   /**< the list is the field's */
  xc_groups groups; /**< both arrays are the fields' */
  xc_cost_rule cost;
  xc_scf scf;
  double *metric;      /**< [n_fit][n_fit] Cholesky factor */
  double *xc;          /**< [n_spin][n][n] of this iteration */
  double *exchange[2]; /**< [n][n] */
  double integrals[XC_N_INTEGRALS];
  int64_t n_made;      /**< points before any was dropped */
  int64_t unconverged; /**< elements of the guess that did not settle */
} xc_own;

static inline xc_own *xc_own_of(const tsl_problem *problem) {
  return (xc_own *)problem->own;
}

/** Read the molecule and the sets, find the functional. */
tsl_err xc_load(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p);

/** One-electron matrices, the guess, pairs, the metric. */
tsl_err xc_prepare(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p);

/** Copy the densities that the next phase needs into XC_IN_DENSITIES. */
void xc_put_densities(tsl_problem *problem);

tsl_err xc_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
tsl_err xc_advance(tsl_problem *problem, int phase, bool *more);
tsl_err xc_summary(const tsl_problem *problem, tsl_summary *summary);
void xc_describe(const tsl_problem *problem, char *text, size_t size);

#endif
