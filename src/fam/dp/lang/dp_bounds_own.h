/**
 * @file dp_bounds_own.h
 * Private to dp_bounds.c and dp_assumptions.c: forms, and the steps that share one question's work.
 */
#pragma once

#include "dp_bounds.h"

enum {
  DP_BOUNDS_WORK = 20000, /* steps of one question */
  DP_HEIGHT_MAX = 4 * LANG_DEPTH_MAX
};

/** f += factor * node. @return false when there is no room or a number is too large */
bool dp_form_of(dp_bounds *b, const lang_expr *x, int32_t node, dp_wide factor, dp_form *f);

/** Values of a form under the facts. */
dp_span dp_form_span(dp_bounds *b, const dp_form *f);

/** Values of an integer node. */
dp_span dp_span_node(dp_bounds *b, const lang_expr *x, int32_t node);

/** dp_bounds_assume and dp_bounds_range within a question. */
void dp_assume(dp_bounds *b, const lang_expr *x, int32_t node, bool truth);
void dp_enter_range(dp_bounds *b, const lang_expr *x, int32_t node);
