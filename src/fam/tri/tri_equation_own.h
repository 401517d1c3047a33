/**
 * @file tri_equation_own.h
 * The deck's part of tri_equation.h; private to the family.
 */
#pragma once

#include "tri_equation.h"

/** The map `tri.function`. */
typedef struct tri_function_deck {
  int32_t name;        /**< index into tri_choice_words */
  double order;        /**< minkowski's p */
  tsl_reals variances; /**< seuclidean's; empty: of the points */
  /* of equations: */
  char *value, *gradient, *unit;
  bool symmetric, diagonal;
  tsl_maps quantities, parameters; /**< lang_quantity, lang_parameter */
} tri_function_deck;

/** TRI_OF_EQUATIONS: the first of those of equations. */
extern const tsl_key tri_function_keys[];
enum { TRI_OF_EQUATIONS = 3 };

/** An equation on the root; release with tri_equation_clear. */
typedef struct tri_equation {
  lang_names names;
  lang_expr value, gradient; /**< gradient.text NULL: none */
  int32_t n_variables;       /**< first scalars: r2, r, q_i, q_j of each quantity */
  bool absolute;             /**< coordinates themselves are used */
} tri_equation;

/** Names without dimensions: refuses bad ones, and outputs that take symmetric values of others. */
tsl_err tri_equation_names(const tsl_deck *deck, const tri_function_deck *s, int32_t type,
                           tri_equation *equation);

/** Parse for points of d dimensions. */
tsl_err tri_equation_parse(const tsl_deck *deck, const tri_function_deck *s, int64_t d,
                           tri_equation *equation);

/** Add the fields of tri_equation.h. Points are prepared. */
tsl_err tri_equation_fields(const tsl_deck *deck, const tri_equation *equation,
                            tsl_problem *problem);

/** Look at some pairs: is the gradient that of the value, by differences? @return likewise */
tsl_err tri_equation_slope(const tsl_deck *deck, const tri_equation *equation,
                           const tsl_problem *problem);

/** Look at some pairs of the prepared points: is value(i, j) = value(j, i)? @return TSL_ERR_INPUT
 *  naming a pair */
tsl_err tri_equation_sample(const tsl_deck *deck, const tri_equation *equation,
                            const tsl_problem *problem);

void tri_equation_clear(tri_equation *equation);
