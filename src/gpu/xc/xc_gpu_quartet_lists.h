/**
 * @file xc_gpu_quartet_lists.h
 * Lists for (ab|cd) on a card: pairs of shells by class with their pairs of primitives, and the
 * monomials of the basis. Plain data, made on the host.
 */
#pragma once

#include "xc_fock.h"
#include "xc_quartet.h"

TSL_C_BEGIN

/** Classes of pairs (la, lb), la >= lb: la (la + 1) / 2 + lb; those without f are the first. */
enum { XC_QUARTET_CLASSES = (XC_QUARTET_L + 1) * (XC_QUARTET_L + 2) / 2, XC_QUARTET_LOW = 6 };

/** What screening looks at. */
typedef struct xc_quartet_key {
  double bound;  /**< Schwarz, of xc_shell_pair */
  int32_t order; /**< place in the list of pairs */
  int32_t a, b;  /**< shells, the one of higher degree first */
  int32_t atom;  /**< of both; -1: two atoms */
} xc_quartet_key;

/** What integrals need. */
typedef struct xc_quartet_pair {
  alignas(16) double at[3]; /**< A */
  double ab[3];             /**< A - B */
  int32_t first, n;         /**< its pairs of primitives */
  int32_t at_a, at_b;       /**< first monomials of the shells */
  int32_t same;             /**< a is b */
  int32_t atom_a, atom_b, zero;
} xc_quartet_pair;

/** Release with xc_quartet_lists_clear. */
typedef struct xc_quartet_lists {
  xc_quartet_key *keys;   /**< [n] by class, contractions, first shell, second */
  xc_quartet_pair *pairs; /**< [n] likewise */
  xc_quartet_two *twos;   /**< [n_twos] */
  double *alpha;          /**< [n_twos] exponents at A */
  int32_t *place; /**< [list of pairs] where a pair is, -1: it has a shell of higher degree */
  double *turn;   /**< [functions][monomials]: functions as sums of monomials */
  int64_t first[XC_QUARTET_CLASSES + 1]; /**< where a class begins; the end */
  int64_t n, n_twos, n_monomials;
} xc_quartet_lists;

/**
 * All pairs of shells up to degree XC_QUARTET_L. Pairs of primitives that add less than about 1e-20
 * to an integral are left out, as libint2 does; one at least is kept.
 * @return TSL_ERR_MEMORY; TSL_ERR_INPUT: more pairs than an int
 */
tsl_err xc_quartet_lists_create(const xc_basis *orbital, const xc_pairs *pairs,
                                xc_quartet_lists *lists);
void xc_quartet_lists_clear(xc_quartet_lists *lists);

TSL_C_END
