/**
 * @file dp_depend.h
 * The dependency checker: which of the eight orders a recurrence fits, before anything is computed.
 *
 * Three kinds of evidence, weakest last:
 *   proof      offsets of every reference as linear forms (dp_bounds.h): constants, data with known
 *              signs, range variables between their ends
 *   reads      the cells that each cell can read, one by one, on the whole table when it is small,
 *              else on nine windows (corners, edges, middle); a condition that reads the table
 *              counts both its branches, any other only the branch taken
 *   poison     the same cells filled twice in the chosen order, cells not yet computed holding two
 *              different values: the results must agree
 *
 * A read outside the table, a cycle, or a read that the order forbids is an error that names the
 * reference and the cells. What is not proved is guarded in compiled code (dp_emit.h), so that a
 * window that missed something cannot lead to a wrong number.
 *
 * Cell (i, j) of several tables and layers is one vertex for all its values: one may read those of
 * (i, j) that are computed before it, which is no dependency of cells; the other way round is
 * refused. Of many layers the first, the middle and the last of each inner index are looked at.
 *
 * On the same cells the dependency graph gives the minimal sequence of stages: stage 0 reads no
 * cell, stage s reads stages below s only.
 */
#pragma once

#include "dp_bounds.h"
#include "dp_eval.h"

TSL_C_BEGIN

#define DP_LOOK_WORK INT64_C(20000000) /**< nodes visited on a window before the rest is left */

enum { DP_REFS_MAX = 256 /* references of a recurrence, boundary values included */ };

/** A table reference of the recurrence and the cells it reaches: spans of row - i, column - j,
 *  each inner index - the cell's, and layer - the cell's. */
typedef struct dp_reference {
  const lang_expr *expr; /**< of the recurrence, borrowed */
  int32_t node;
  int32_t rule; /**< where, as dp_recurrence_value counts */
  int32_t from; /**< the table whose cells read */
  dp_span di, dj, inner[LANG_INNER_MAX], layer;
} dp_reference;

typedef struct dp_references {
  dp_reference list[DP_REFS_MAX];
  int32_t n;
} dp_references;

/** All references with their offsets. @return TSL_ERR_INPUT when there are too many */
tsl_err dp_depend_references(const dp_recurrence *recurrence, dp_references *out);

/** The reference at a node with its offsets where bounds hold; rule and from are 0. */
dp_reference dp_reference_at(dp_bounds *bounds, const lang_expr *expr, int32_t node);

/** Is it of the same cell and a value computed before? */
bool dp_reference_same(const dp_reference *reference);

/** Does the order allow the reference wherever it is read? */
bool dp_reference_proved(const dp_reference *reference, dp_pattern pattern);

/** A read that an order forbids. */
typedef struct dp_clash {
  const lang_expr *expr; /**< NULL: none */
  int32_t node;
  int64_t i, j, to_i, to_j;
  int32_t to_value;
} dp_clash;

/** What was found. */
typedef struct dp_depend {
  dp_pattern pattern;            /**< to be used */
  dp_clash clash[DP_N_PATTERNS]; /**< expr NULL: the order fits */
  bool proved[DP_N_PATTERNS];    /**< by offsets alone */
  bool whole;                    /**< every cell was looked at */
  int64_t cells, reads;          /**< looked at */
  int64_t stages;                /**< minimal sequence on those cells (of windows: the longest) */
} dp_depend;

/**
 * Check a recurrence.
 * @param[in] asked  the deck's pattern, DP_AUTO: the fitting one with the fewest stages, the first
 * of equal ones; with cells: upper or lower the interval orders come first
 * @return TSL_ERR_INPUT: "M[i+1][j] reads M[4][2] at i = 3, j = 2; RUD reads rows above only" with
 * the place in the text; a cycle; a read outside the table; no pattern fits
 */
tsl_err dp_depend_check(const dp_recurrence *recurrence, dp_pattern asked, dp_depend *out);

/** A few lines for people: orders that fit, stages, evidence. */
void dp_depend_text(const dp_recurrence *recurrence, const dp_depend *depend, char *text,
                    size_t size);

/* ------------------------------------------------------------- its pieces */

/** Value number `value` of a cell can be read. @return any error stops and is passed on */
typedef tsl_err dp_visit_fn(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                            int32_t value);

/** The number of a cell's value to be looked at after this one. */
int32_t dp_next_value(const lang_names *names, int32_t value);

/** Visit every value that value eval->value of cell (eval->i, eval->j) can read.
 *  @return TSL_ERR_INPUT outside the table */
tsl_err dp_reads(dp_eval *eval, dp_visit_fn *visit, void *self);

/** The same for the goal's expression; eval->i and j are not used. */
tsl_err dp_reads_goal(dp_eval *eval, dp_visit_fn *visit, void *self);

/** A part of the table. */
typedef struct dp_patch {
  int64_t i0, i1, j0, j1; /**< half-open */
} dp_patch;

/**
 * The part of the table outside which no cell matters to the goal: between the first and last row
 * and column that it reads, or to the table's edge above, below, left or right, where an offset is
 * not proved not to lead there. All of it where an expression asks for rows(M) or cols(M). Of a
 * triangle the part begins at a cell (i, i).
 * @return TSL_ERR_INPUT: the goal reads a cell outside the table
 */
tsl_err dp_needed_patch(const dp_recurrence *recurrence, dp_patch *part);

/**
 * Stages of the cells of a window, reads from outside it being known.
 * @param[in,out] reads  reads that may still be visited
 * @return TSL_ERR_INPUT naming a cycle
 */
tsl_err dp_depend_stages(const dp_recurrence *recurrence, const dp_patch *window, int64_t *reads,
                         int64_t *stages);

/** The two-poison test on a window. @return TSL_ERR_INPUT naming a cell whose value differs */
tsl_err dp_depend_poison(const dp_recurrence *recurrence, const dp_patch *window,
                         dp_pattern pattern);

TSL_C_END
