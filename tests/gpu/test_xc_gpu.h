/**
 * @file test_xc_gpu.h
 * The exchange-correlation matrix by plain loops, and a backend driven by the contract's calls.
 */
#pragma once

#include "xc_problem.h"

/* Molecules of sections, and a grid. */
#define WATER "  molecule: {atoms: 'O 0 0 0.1174; H 0 0.757 -0.4696; H 0 -0.757 -0.4696'}\n"
#define OXYGEN "  molecule: {atoms: 'O 0 0 0; O 0 0 1.2', multiplicity: 3}\n"
#define NONLOCAL "  nonlocal: {b: 5.9, radial: 20, angular: 50}\n"
#define SMALL "  grid: {radial: 12, angular: 26}\n"
#define BENZENE                                                                                \
  "  molecule: {atoms: 'C 1.3915 0 0; C 0.69575 1.205074 0; C -0.69575 1.205074 0; C -1.3915 " \
  "0 0; C -0.69575 -1.205074 0; C 0.69575 -1.205074 0; H 2.4715 0 0; H 1.23575 2.140382 0; H " \
  "-1.23575 2.140382 0; H -2.4715 0 0; H -1.23575 -2.140382 0; H 1.23575 -2.140382 0'}\n"

/** Does this build know a functional, which may be one of libxc? */
static inline bool xc_known(const char *functional) {
  xc_functional found;
  return xc_functional_find(functional, XC_SOURCE_AUTO, &found) == TSL_OK;
}

/** Write a basis with even-tempered shells up to g on hydrogen and oxygen into a new file. */
tsl_err xc_write_basis(char path[64]);

/** A problem from a section of a deck, its units, and fields for the sums. */
typedef struct xc_made {
  tsl_deck *deck;
  tsl_problem problem;
  tsl_units units;
  tsl_part *parts;
} xc_made;

tsl_err xc_made_open(const char *section, xc_made *made);
void xc_made_close(xc_made *made);

/** What came out of a phase. */
typedef struct xc_outcome {
  double sums[XC_N_INTEGRALS];
  double *xc;       /**< [n_spin][n][n] */
  double *coulomb;  /**< [n][n]; of batches or fitted, as the field has it */
  double *exchange; /**< [n_spin or 0][n][n], of batches */
  double *gamma;    /**< [n_fit] */
  double seconds;   /**< of all parts */
} xc_outcome;

tsl_err xc_outcome_open(const xc_made *made, xc_outcome *out);
void xc_outcome_close(xc_outcome *out);

enum { XC_ORDER_GIVEN, XC_ORDER_TURNED };

/** One phase of a worker.
 *  @param[in] kinds  bits of unit kinds that run
 *  @param[in] call   units of one call */
tsl_err xc_phase(const tsl_backend *backend, tsl_worker *worker, xc_made *made, int phase,
                 int kinds, int order, int64_t call, xc_outcome *out);

/**
 * Energy, electrons and matrix of the fields' densities: each point, each function, each pair, as
 * the formulas say, with the functions that the groups name. Functions by monomials and libm's exp,
 * the functional by libxc where this build has it.
 */
tsl_err xc_truth(const xc_made *made, xc_outcome *out);

/** Each (P|mn) of a card beside the socket's: within 1e-12, not all the same bits. */
tsl_err xc_integrals_same(const char *what, const char *section, const tsl_device *card,
                          const tsl_device *host);

/** Exact J and K of a card beside the socket's, of several molecules and bases. */
tsl_err xc_test_quartets(const tsl_device *card, const tsl_device *host);
/** What units add to the gradient on a card beside a socket's; whole gradients of both. */
tsl_err xc_test_gradient(const tsl_device *card, const tsl_device *host);
/** Likewise of four shells of every class to f, with tight, middle and diffuse exponents. */
tsl_err xc_test_classes(const tsl_device *card, const tsl_device *host);
/** Weights of grids as the card makes them: those of the host's threads, bit for bit. */
tsl_err xc_test_weights(const tsl_device *card);
