/**
 * @file lang_pair.h
 * Functions of pairs: their values in double precision, and their text in C and CUDA.
 *
 * The names of an expression (LANG_SCOPE_PAIR) are variables of the pair, the first scalars of
 * lang_names; parameters, whose values are known, the scalars after them; and arrays of rank 1,
 * whose elements are variables, too. What depends on numbers and parameters alone is worked out
 * once, in double precision, and rounded to the pair's type: a constant of the text; dividing by it
 * is multiplying by its reciprocal. Ranges are written out.
 *
 * The text is the same for all devices, of operations of lang_math.h, each rounded.
 */
#pragma once

#include "lang_expr.h"
#include "lang_text.h"

TSL_C_BEGIN

enum {
  LANG_CONSTANTS_MAX = 64,       /**< of a text */
  LANG_PAIR_BYTES_MAX = 1 << 18, /**< of a text: ranges written out may be long */
  LANG_PAIR_NODES_MAX = 1 << 20  /**< nodes visited for one value */
};

/** Variables of a pair in double precision; borrowed. */
typedef struct lang_pair_values {
  const double *scalars;       /**< [n_variables] */
  const double *const *arrays; /**< [n_arrays] */
} lang_pair_values;

/** An expression and what its names are; all borrowed. */
typedef struct lang_pair {
  const lang_names *names;
  const lang_expr *expr;
  int32_t n_variables; /**< the scalars after them are parameters */
} lang_pair;

/**
 * The value of a pair.
 * @param[in] values  NULL: of an expression without variables
 * @return TSL_ERR_INPUT for an index outside an array, an empty range, a power that is too large, a
 *         range that is too long, with the place and a caret
 */
tsl_err lang_pair_value(const lang_pair *pair, const lang_pair_values *values, double *out);

/** How the variables are called in the text: C expressions; an array's is followed by an index. */
typedef struct lang_pair_words {
  const char *const *scalars; /**< [n_variables] */
  const char *const *arrays;  /**< [n_arrays] */
} lang_pair_words;

/** What a text uses; zero it first. Texts may share one. */
typedef struct lang_pair_uses {
  double constants[LANG_CONSTANTS_MAX]; /**< c.v0, c.v1, ... of the texts */
  int32_t n_constants;
  uint32_t scalars; /**< bit n: variable n is used */
  uint32_t arrays;  /**< bit n: array n is */
} lang_pair_uses;

/** Append the expression, of type R. @return as lang_pair_value; or constants or text too many */
tsl_err lang_pair_emit(const lang_pair *pair, const lang_pair_words *words, lang_pair_uses *uses,
                       lang_text *text);

/** lang_math.h, to stand before a text. */
extern const char lang_math_text[];

TSL_C_END
