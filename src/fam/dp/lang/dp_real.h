/**
 * @file dp_real.h
 * When an operation on reals has failed, the same for the interpreter, sockets and cards.
 *
 *   division by zero   whatever the dividend
 *   overflow           an infinite result of finite operands; `inf` itself is a number of the
 *                      language: inf + 1 is inf
 *   not a number       inf - inf, 0 * inf, inf / inf
 *   underflow          a product or quotient smaller than the smallest normal number of the table's
 *                      type (f64 2.2e-308, f32 1.2e-38), unless a factor or the dividend is 0 or
 *                      the divisor inf
 *
 * Sums and differences never underflow: where they are small they are exact. Functions fail
 * likewise, but exp may be 0 and log of 0 is -inf, the logarithm of what cannot be; the power of a
 * number that is not 0 underflows as products do.
 */
#pragma once

#include "dp_bounds.h"

TSL_C_BEGIN

/** The result of a op b, rounded to f32 when single. */
double dp_real_result(bool single, int32_t op, double a, double b);

/** What is wrong with the result v of a op b, or NULL: "overflow", ... */
const char *dp_real_fault(bool single, int32_t op, double a, double b, double v);

/** What is wrong with the value v of a function of x, or NULL. */
const char *dp_real_call_fault(bool single, int32_t function, double x, double v);

/** What a real can be: 0, magnitudes from least to most (infinite: not known), and inf or -inf. */
typedef struct dp_reach {
  double least, most;
  bool infinite;
} dp_reach;

/** Values of a real node, from data, constants, the ends of indices and bounds->reals. */
dp_reach dp_real_reach(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Can the operation at the node not fail? */
bool dp_real_safe(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Can a sum of such values not fail? In the body of its range. */
bool dp_real_sum_safe(dp_bounds *bounds, const lang_expr *expr, int32_t body);

/**
 * Greatest magnitude that a finite cell can have when a chain of cells that need each other has at
 * most steps members. Known for equations that add bounded terms to single cells and choose among
 * such sums. @return infinite when nothing is known
 */
double dp_real_growth(const dp_recurrence *recurrence, double steps);

/** Least and greatest magnitude of reals, 0 left out; 0, 0 when there are none. */
dp_reach dp_real_limits(int32_t type, const void *data, int64_t n);

TSL_C_END
