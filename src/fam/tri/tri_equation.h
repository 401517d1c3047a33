/**
 * @file tri_equation.h
 * A function of pairs that the deck gives: its keys, what its names are, and its text.
 *
 *     tri:
 *       function:
 *         value: "exp(-r2 / (2 * s * s)) * q_i * q_j"
 *         symmetric: yes                       # value(i, j) = value(j, i)
 *         quantities: [{name: q, column: 3}]   # of the input: q_i and q_j
 *         parameters: [{name: s, value: 0.1}]
 *         gradient: "-dx[k] / (s * s) * exp(-r2 / (2 * s * s)) * q_i * q_j"   # by x_i[k]
 *
 * Names: r and r2, the distance and its square; x_i[k], x_j[k], the coordinates, and dx[k], their
 * difference (with a box: of the nearest images, and coordinates within the box); d; the quantities
 * and parameters. The language: lang_expr.h.
 *
 * Text for compilers, in this order: what a device brings (LANG_FN, i64), the family's text in the
 * field "equation", the device's loops. The family's text defines R, lang_math.h's functions, and
 *
 *     enum { TRI_D, TRI_Q, TRI_KEEPS };       dimensions, quantities, is the diagonal kept
 *     struct tri_point                        coordinates and quantities of a point that are used
 *     struct tri_constants                    numbers of the deck
 *     tri_read(x, q, ld, i)                   point i; x [TRI_D][ld], q [TRI_Q][ld]
 *     tri_numbers(const struct tri_equation_args *)
 *     tri_value(a, b, c)                      value of a pair of points
 *     struct tri_terms { R t0, ...; }, tri_all(a, b, c), TRI_EACH(X)
 *                                             what is summed: the value, and with a gradient minus
 *                                             its components; X(0) X(1) ...
 */
#pragma once

#include "lang_equation.h"
#include "tri.h"

TSL_C_BEGIN

enum {
  TRI_GRADIENT_D = 8,  /**< dimensions of gradients */
  TRI_EQUATION_D = 64, /**< dimensions */
  TRI_SUM_CHUNK = 256, /**< SUM: columns that are added in lanes; multiple of TRI_SUM_LANES */
  TRI_SUM_LANES = 16   /**< column j is of lane j % 16 */
};

/** What compiled loops get; part of the text. */
#define TRI_EQUATION_STRUCT       \
  struct tri_equation_args {      \
    const void *x, *q;            \
    long long ld;                 \
    double box[3], constants[64]; \
  }
typedef TRI_EQUATION_STRUCT tri_equation_args;
#ifndef __cplusplus
_Static_assert(LANG_CONSTANTS_MAX == 64, "TRI_EQUATION_STRUCT");
#endif

/** Is the function one? */
static inline bool tri_is_equation(const tri_params *p) {
  return p->function == TRI_EQUATION || p->function == TRI_EQUATION_PERIODIC;
}

/** Arguments of the loops. @param[in] x, q  points and quantities, where the loops run */
void tri_equation_arguments(const tsl_problem *problem, const void *x, const void *q,
                            tri_equation_args *args);

/** For messages of compilers. */
extern const lang_purpose tri_purpose;

TSL_C_END
