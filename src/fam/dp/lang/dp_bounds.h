/**
 * @file dp_bounds.h
 * What is known of integers before a cell is computed: intervals and linear inequalities.
 *
 * The dependency checker proves the signs of offsets with it, the emitter that an index is inside,
 * that a sum cannot overflow. Everything here is sound and incomplete: an interval holds all values
 * the node can have wherever the facts hold; "not known" is a wide interval.
 *
 * Linear forms: c + sum of coefficient * atom >= 0, atoms being a cell's indices, range variables
 * and any other subtree taken as a whole. Facts come from conditions passed on the way to a node
 * and from the ends of ranges; a form is bounded by intervals after up to three facts are
 * subtracted from it.
 */
#pragma once

#include "dp_recur.h"

TSL_C_BEGIN

typedef __int128 dp_wide;

/** Beyond 64 bits; all ends are cut here, so that products fit. */
#define DP_WIDE_LIMIT (((dp_wide)1 << 63) + 1)

/** Closed interval; lo > hi: no value. */
typedef struct dp_span {
  dp_wide lo, hi;
} dp_span;

enum { DP_ATOMS_MAX = 20, DP_FACTS_MAX = 48 };

/** c + sum coef[a] * atom a. */
typedef struct dp_form {
  dp_wide c;
  int64_t coef[DP_ATOMS_MAX];
} dp_form;

/** A state of knowledge; plain data, copied freely. */
typedef struct dp_bounds {
  const dp_recurrence *recurrence;
  dp_span i, j, inner[LANG_INNER_MAX], k[LANG_LOOPS_MAX];
  dp_span table; /**< values of cells */
  double reals;  /**< greatest magnitude of finite cells; infinite: not known */
  const lang_expr *atom_expr[DP_ATOMS_MAX];
  int32_t atom_node[DP_ATOMS_MAX];
  int32_t n_atoms, n_facts;
  int32_t work;                /**< left for the present question */
  int32_t nest;                /**< forms being bounded inside each other */
  bool plain;                  /**< intervals only, no facts */
  dp_form facts[DP_FACTS_MAX]; /**< each >= 0 */
} dp_bounds;

/** Nothing known but the table's extents and the data's limits. */
void dp_bounds_init(const dp_recurrence *recurrence, dp_bounds *bounds);

/** The same; what is known of cells stays. */
void dp_bounds_restart(dp_bounds *bounds);

/** Values of a type. */
dp_span dp_span_of_type(int32_t type);
bool dp_span_within(dp_span inner, dp_span outer);
dp_span dp_span_hull(dp_span a, dp_span b);
dp_span dp_span_add(dp_span a, dp_span b);

/** The condition is known to be true, or false. */
void dp_bounds_assume(dp_bounds *bounds, const lang_expr *expr, int32_t node, bool truth);

/** Is the condition true (1), false (0), or not decided (-1)? */
int dp_bounds_truth(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Is left <= right wherever the facts hold? */
bool dp_bounds_ordered(dp_bounds *bounds, const lang_expr *expr, int32_t left, int32_t right);

/** In what gives cells (dp_recur.h): a rule, its condition true, those of its table before false;
 *  or `cell`, all false. */
void dp_bounds_rule(dp_bounds *bounds, int32_t rule);

/** In the body of the range at node. */
void dp_bounds_range(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Values of an integer node; 0 stands for those of an operation that failed. */
dp_span dp_bounds_span(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Is the node's exact result, before any overflow, always in the range? */
bool dp_bounds_fits(dp_bounds *bounds, const lang_expr *expr, int32_t node, dp_span range);

/** The indices of a cell: row, column, and from DP_INNER on the inner ones. */
enum { DP_ROW, DP_COLUMN, DP_INNER, DP_INDICES_MAX = DP_INNER + LANG_INNER_MAX };

/** Values of (node) - the cell's index of this number. */
dp_span dp_bounds_offset(dp_bounds *bounds, const lang_expr *expr, int32_t node, int index);

/** Values of (column index) - (row index) of a table reference. */
dp_span dp_bounds_slant(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/**
 * Values the table can have when a chain of cells that need each other has at most steps members.
 * Known for equations that add bounded terms to single cells and choose among such sums.
 * @return false when nothing is known
 */
bool dp_bounds_growth(const dp_recurrence *recurrence, dp_wide steps, dp_span *values);

TSL_C_END
