/**
 * @file xc_gpu_lists.h
 * Lists for (P|ab) on a card: pairs of shells by class with their pairs of primitives, and the
 * parts of fitting shells by degree. Plain data, made on the host.
 */
#pragma once

#include "xc_fock.h"
#include "xc_triple.h"

TSL_C_BEGIN

/** Distance of their centres, bohr. */
double xc_shell_distance(const xc_shell *a, const xc_shell *b);
/** Does a pair of primitives matter to any integral of normalised functions? */
bool xc_primitives_matter(const xc_shell *a, const xc_shell *b, int i, int j, double distance);

/** A pair of shells. */
typedef struct xc_triple_bra {
  int64_t packed; /**< of xc_shell_pair */
  int32_t a, b;
  int32_t first, n; /**< its pairs of primitives */
} xc_triple_bra;

/** A pair of primitives: its pair in the list, its numbers in the shells. */
typedef struct xc_triple_two {
  int32_t bra;
  int16_t i, j;
} xc_triple_two;

/** Pairs of one degree and size of block. */
typedef struct xc_triple_group {
  int32_t L, size;
  int64_t first, n; /**< pairs of shells */
  int64_t twos;     /**< pairs of primitives; those of a group follow one another */
  int64_t most;     /**< of one pair of shells */
} xc_triple_group;

/** Release with xc_triple_lists_clear. */
typedef struct xc_triple_lists {
  xc_triple_bra *bras;     /**< [n_bras] by group, else in the order of the pairs */
  xc_triple_two *twos;     /**< [n_twos] in the order of bras */
  xc_triple_group *groups; /**< [n_groups] */
  int64_t n_bras, n_twos, n_groups;
} xc_triple_lists;

/**
 * All pairs. Pairs of primitives that add less than about 1e-20 to an integral are left out, as
 * libint2 does.
 * @return TSL_ERR_MEMORY; TSL_ERR_INPUT: more pairs of primitives than an int
 */
tsl_err xc_triple_lists_create(const xc_basis *orbital, const xc_pairs *pairs,
                               xc_triple_lists *lists);
void xc_triple_lists_clear(xc_triple_lists *lists);

/** As many pairs of shells from lo on as have at most so many pairs of primitives.
 *  @param[out] twos  pairs of primitives of these  @return the pair of shells behind them */
int64_t xc_triple_lists_take(const xc_triple_lists *lists, int64_t lo, int64_t end, int64_t most,
                             int64_t *twos);

/** A part r^2j S_lm of a fitting shell. */
typedef struct xc_triple_part {
  double at[3];
  double *row;      /**< of its first function, on the card */
  int32_t first, n; /**< primitives */
  int32_t l, j;
  int32_t atom, zero;
} xc_triple_part;

/** A Cartesian fitting shell: its rows are those of its parts until they are joined. */
typedef struct xc_triple_join {
  double *row;
  int64_t l;
} xc_triple_join;

/** Release with xc_triple_parts_clear. */
typedef struct xc_triple_parts {
  xc_triple_part *list; /**< [n] by l, j and contraction, else in the order of shells */
  int64_t n;
  int64_t first[XC_MAX_L + 2]; /**< where those of l begin; the end */
  xc_triple_primitive *primitives;
  int64_t n_primitives;
  xc_triple_join *joins;
  int64_t n_joins;
} xc_triple_parts;

/** A fitting shell with the place of its rows. */
typedef struct xc_triple_ket {
  const xc_shell *shell;
  double *row;
} xc_triple_ket;

/** @param[in] stride  doubles from row to row. @return TSL_ERR_MEMORY */
tsl_err xc_triple_parts_create(const xc_triple_ket *kets, int64_t n, int64_t stride,
                               xc_triple_parts *parts);
void xc_triple_parts_clear(xc_triple_parts *parts);

TSL_C_END
