/**
 * @file triples_equation.h
 * A function of three points that the deck gives, summed over all triples.
 *
 *     triples:
 *       function:
 *         value: "c * q_i * q_j * q_k * exp(-(r_ij + r_jk + r_ki) / s)"
 *         symmetric: yes                       # the same however the points are ordered
 *         quantities: [{name: q, column: 3}]   # of the input: q_i, q_j and q_k
 *         parameters: [{name: s, value: 0.1}, {name: c, value: 2}]
 *         gradient: "-c / s * q_i * q_j * q_k * exp(-(r_ij + r_jk + r_ki) / s)"   # by r_ij
 *       output: sums
 *
 * Names: r_ij, r_jk, r_ki, the sides, and r2_ij, r2_jk, r2_ki, their squares; the quantities and
 * parameters; d. The language: lang_expr.h.
 *
 * The sum over the triples of which point i is one, or is the first (params.all: 0), goes over the
 * pairs (i, j), j ascending. Values of a pair are added for k < j, in the type of the run: 16 lanes
 * by k modulo 16 in chunks of 256, the lanes folded; chunks are added in double precision, and so
 * are pairs, in 64 lanes by j modulo 64 that are then added in order. So bits depend neither on the
 * device nor on how the work is shared out.
 *
 * Forces (params.slopes): -sum over j of S(i, j) (x_i - x_j) / r_ij, S(i, j) being the sum of the
 * gradient, the value's derivative by r_ij with the other sides held, over all k; as the value is
 * symmetric, that is minus its whole derivative by x_i. S is added up as values are, over all k;
 * the sum over j in double precision, in 64 lanes by j modulo 64 that are then added in order.
 *
 * Text for compilers, in this order: what a device brings (LANG_FN, i64), the family's text in the
 * field "equation", the device's loops. The family's text defines R, lang_math.h's functions, and
 *
 *     enum { TRIPLES_D, TRIPLES_Q, TRIPLES_ALL, TRIPLES_CUTS, TRIPLES_CHUNK, TRIPLES_LANES }
 *                           dimensions, quantities, params.all, is there a cut-off
 *     struct triples_point, triples_read(x, q, ld, i)      x [TRIPLES_D][ld], q [TRIPLES_Q][ld]
 *     struct triples_constants, triples_numbers(const struct triples_equation_args *)
 *     struct triples_side { R r2, r; }, triples_side_of(a, b, c)    r: 0 where it is not used
 *     triples_value(ij, jk, ki, i, j, k, c)                         0 beyond the cut-off
 *     with params.slopes the macro TRIPLES_SLOPES, and triples_slope, the same of the gradient
 */
#pragma once

#include "lang_equation.h"
#include "triples.h"

TSL_C_BEGIN

enum { TRIPLES_SUM_CHUNK = 256, TRIPLES_SUM_LANES = 16 };

/** What compiled loops get; part of the text. */
#define TRIPLES_EQUATION_STRUCT            \
  struct triples_equation_args {           \
    const void *x, *q;                     \
    long long n, ld;                       \
    double box[3], cutoff2, constants[64]; \
  }
typedef TRIPLES_EQUATION_STRUCT triples_equation_args;
#ifndef __cplusplus
_Static_assert(LANG_CONSTANTS_MAX == 64, "TRIPLES_EQUATION_STRUCT");
#endif

/** Arguments of the loops. @param[in] x, q  points and quantities, where the loops run */
void triples_equation_arguments(const tsl_problem *problem, const void *x, const void *q,
                                triples_equation_args *args);

/** Points j of the pairs (i, j) of a row are [0, this). */
TSL_FN int64_t triples_columns(const triples_params *p, int64_t i) {
  return p->all ? p->n : i;
}

/** For messages of compilers. */
extern const lang_purpose triples_purpose;

TSL_C_END
