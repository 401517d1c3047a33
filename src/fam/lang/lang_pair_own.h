/**
 * @file lang_pair_own.h
 * Private to lang_pair*.c: walking through an expression with range variables bound.
 */
#pragma once

#include "lang_pair.h"

/** Where a walk is. */
typedef struct lang_walk {
  const lang_pair *pair;
  const lang_pair_values *values; /**< NULL: constants only */
  int64_t k[LANG_LOOPS_MAX];      /**< range variables */
  int64_t work;                   /**< nodes visited */
} lang_walk;

/** Value of a node. @return as lang_pair_value */
tsl_err lang_walk_value(lang_walk *w, int32_t node, double *out);

/** Value of an integer node that no variable is in. */
tsl_err lang_walk_whole(lang_walk *w, int32_t node, int64_t *out);

/** Ends of a range, not empty but of a sum (then *hi is *lo - 1). */
tsl_err lang_walk_range(lang_walk *w, int32_t node, int64_t *lo, int64_t *hi);

/** Index of an array's element, inside it. */
tsl_err lang_walk_index(lang_walk *w, int32_t node, int64_t *out);

/** The power of a call. */
tsl_err lang_walk_power(lang_walk *w, int32_t node, int64_t *out);

/** Is no variable in it? */
bool lang_is_known(const lang_pair *pair, int32_t node);

#define LANG_PAIR_FAIL(pair, node, ...)                                               \
  do {                                                                                \
    err = TSL_ERR_INPUT;                                                              \
    (void)lang_node_fail(err, (pair)->expr, (node), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                                        \
  } while (0)
