/**
 * @file xc_integrals.h
 * Two-electron integrals of libint2 behind a C interface: quartets (ab|cd), triples (P|mn) with a
 * fitting set, and pairs (P|Q).
 *
 *   xc_integrals (shells and pairs in the library's form; read-only, shared by threads)
 *     -> xc_engine (scratch of one thread) -> blocks of doubles in the functions' own order
 *
 * The library ends the process when a limit is exceeded; here limits are checked first and are
 * errors. Limits of the installed library that are used: l <= XC_MAX_L for all shells, contractions
 * of XC_MAX_PRIMITIVES. First derivatives of triples are wrong in libint 2.7; those of quartets
 * with a function that is 1 everywhere are not, and stand for them.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

/** Shells and shell pairs for the library. */
typedef struct xc_integrals xc_integrals;

/** What an engine computes. */
typedef enum xc_repulsion {
  XC_QUARTETS,          /**< (ab|cd), shells of the orbital basis */
  XC_TRIPLES,           /**< (P|mn), P of the fitting basis */
  XC_DOUBLES,           /**< (P|Q) */
  XC_QUARTET_GRADIENTS, /**< first derivatives of the three kinds */
  XC_TRIPLE_GRADIENTS,
  XC_DOUBLE_GRADIENTS,
  XC_N_REPULSIONS
} xc_repulsion;

/** Scratch memory and tables of one thread. */
typedef struct xc_engine xc_engine;

/**
 * Prepare a basis. Starts the library at the first call; any thread.
 * @param[in] orbital  copied
 * @param[in] fitting  copied; NULL or empty when there is none
 * @return TSL_ERR_INPUT when l or a contraction is beyond the limits, TSL_ERR_MEMORY,
 *         TSL_ERR_INTERNAL with the library's own message
 */
tsl_err xc_integrals_create(const xc_basis *orbital, const xc_basis *fitting, xc_integrals **out);

/** NULL accepted, sets NULL. No engine of it may be left. */
void xc_integrals_destroy(xc_integrals **integrals);

/** One engine for one thread. integrals is borrowed. Memory grows with the fourth power of the
 *  longest contraction (4 MiB for 8 primitives, 300 MiB for 24).
 *  @param[in] omega      of quartets and their derivatives: erf(omega r) / r in place of 1 / r, of
 *                        which it is a part; 1 / bohr; 0: 1 / r
 *  @param[in] precision  absolute error allowed in an integral, for instance 1e-14 */
tsl_err xc_engine_create(const xc_integrals *integrals, xc_repulsion kind, double omega,
                         double precision, xc_engine **out);
void xc_engine_destroy(xc_engine **engine);
/** Another precision from now on. */
void xc_engine_precision(xc_engine *engine, double precision);

/**
 * Quartet of shells a >= b, c >= d.
 * @return block [size a][size b][size c][size d], the engine's, valid until its next call; NULL
 *         when all its integrals are below the precision
 */
const double *xc_engine_quartet(xc_engine *engine, int64_t a, int64_t b, int64_t c, int64_t d);

/** Triple (P|mn), m >= n. @return block [size P][size m][size n], likewise */
const double *xc_engine_triple(xc_engine *engine, int64_t p, int64_t m, int64_t n);

/** Pair (P|Q). @return block [size P][size Q], likewise */
const double *xc_engine_double(xc_engine *engine, int64_t p, int64_t q);

/**
 * First derivatives of a block with respect to the places of its shells, in the order in which the
 * shells are named: block 3 k + x is that of shell k along axis x. The sum over all shells is 0, so
 * those of the last shell are left to the caller.
 * @param[out] blocks  [9], [6], [3]: blocks as of the integrals, the engine's, until its next call
 * @return false: all are below the precision, and blocks are not set
 */
bool xc_engine_quartet_gradient(xc_engine *engine, int64_t a, int64_t b, int64_t c, int64_t d,
                                const double *blocks[9]);
bool xc_engine_triple_gradient(xc_engine *engine, int64_t p, int64_t m, int64_t n,
                               const double *blocks[6]);
bool xc_engine_double_gradient(xc_engine *engine, int64_t p, int64_t q, const double *blocks[3]);

TSL_C_END
