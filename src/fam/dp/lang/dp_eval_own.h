/** @file dp_eval_own.h  Private to dp_eval.c and dp_eval_range.c. */
#pragma once

#include "dp_eval.h"

/** An operation on reals; op: that of the node, or of a range's terms. */
tsl_err dp_eval_real(const dp_eval *e, const lang_expr *x, int32_t node, int32_t op, double a,
                     double b, dp_value *out);

/** Does b replace a, the best so far? Equal values do not. */
bool dp_eval_better(bool maximum, int32_t kind, dp_value a, dp_value b);

/** Value of a range. */
tsl_err dp_eval_range(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out);
