/**
 * @file dp_eval.h
 * The interpreter: what a recurrence means, cell by cell. The oracle of all engines.
 *
 * For small tables; engines run compiled forms of the same tree (dp_emit.h) that agree with it bit
 * for bit. Messages name the cell: "column 9: integer overflow ... at i = 3, j = 4".
 */
#pragma once

#include "dp_recur.h"

TSL_C_BEGIN

#define DP_ORACLE_MAX (INT64_C(1) << 24) /**< cells of a grid */
#define DP_WORK_MAX (INT64_C(1) << 33)   /**< nodes visited by one call below */

/** A value; its kind is known from where it stands. Reals of f32 tables are rounded to f32. */
typedef union dp_value {
  int64_t whole;
  double real;
} dp_value;

/** Element n of an array. Global for tests. */
dp_value dp_array_value(const lang_array *array, const void *data, int64_t n);

/**
 * A value of a cell is needed.
 * @param[in] expr, node  the reference, for messages
 * @param[in] value       its number (lang_values)
 * @return any error stops the evaluation and is passed on
 */
typedef tsl_err dp_read_fn(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                           int32_t value, dp_value *out);

/** An evaluation: the place, and who delivers cells. */
typedef struct dp_eval {
  const dp_recurrence *recurrence;
  int64_t i, j;              /**< the cell; -1: none */
  int32_t value;             /**< which of the cell's (lang_values) */
  int64_t k[LANG_LOOPS_MAX]; /**< range variables, set by the evaluation */
  int32_t n_k;               /**< ranges open */
  dp_read_fn *read;          /**< NULL: there are no reads */
  void *self;                /**< first argument of read */
  int64_t work;              /**< nodes that may still be visited */
} dp_eval;

/** Table and layer of eval->value. */
static inline int32_t dp_eval_table(const dp_eval *eval) {
  return eval->value % eval->recurrence->equation.names.n_tables;
}
static inline int64_t dp_eval_layer(const dp_eval *eval) {
  return eval->value / eval->recurrence->equation.names.n_tables;
}

/** The cell and the number of the value that a reference reads. @return TSL_ERR_INPUT: outside */
tsl_err dp_eval_place(dp_eval *eval, const lang_expr *expr, int32_t node, int64_t *i, int64_t *j,
                      int32_t *value);

/** "M[3][4]", with inner indices "M[3][4][2]"; returns text. */
const char *dp_value_text(const lang_names *names, int64_t i, int64_t j, int32_t value, char *text,
                          size_t size);

/** Value of a subtree at the place. @return TSL_ERR_NUMERIC, _INPUT, or what read returned */
tsl_err dp_evaluate(dp_eval *eval, const lang_expr *expr, int32_t node, dp_value *out);

/** Start an error at a node of the expression, with the place. @return code */
tsl_err dp_eval_fail(const dp_eval *eval, tsl_err code, const lang_expr *expr, int32_t node,
                     const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

#define DP_EVAL_FAIL(eval, code, expr, node, ...)                                     \
  do {                                                                                \
    err = (code);                                                                     \
    (void)dp_eval_fail((eval), err, (expr), (node), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                                        \
  } while (0)

/**
 * Which expression gives cell (eval->i, eval->j) of eval->value?
 * @param[out] rule  as dp_recurrence_value counts
 */
tsl_err dp_eval_rule(dp_eval *eval, int32_t *rule, const lang_expr **expr);

/** Value of cell (eval->i, eval->j): its expression, checked against and rounded to the table's
 * type.
 */
tsl_err dp_eval_cell(dp_eval *eval, dp_value *out);

/* ------------------------------------------------------------------- grids */

/** A small table with all its values; release with dp_oracle_clear. For tests: no run has one. */
typedef struct dp_oracle {
  const dp_recurrence *recurrence; /**< not owned */
  dp_value *values; /**< [rows][cols][in_cell]; cells that the table does not have stay 0 */
  uint8_t *state;   /**< likewise: 0 unknown, 1 being computed, 2 known */
  int64_t rows, cols, in_cell; /**< lang_values */
  int64_t work; /**< nodes that one of the calls below may visit; DP_WORK_MAX when created */
} dp_oracle;

/** Memory for all cells, unknown. @return TSL_ERR_INPUT above DP_ORACLE_MAX cells */
tsl_err dp_oracle_create(const dp_recurrence *recurrence, dp_oracle *grid);
void dp_oracle_clear(dp_oracle *grid);

/**
 * Fill by need: a cell that is read and unknown is computed first, on an explicit stack.
 * @return TSL_ERR_INPUT naming the cells of a cycle, or a read outside the table
 */
tsl_err dp_oracle_fill(dp_oracle *grid);

/** Fill in the order of a pattern. @return TSL_ERR_INPUT when a cell reads one that comes later */
tsl_err dp_oracle_fill_order(dp_oracle *grid, dp_pattern pattern);

/** dp_eval.read of a filled grid, which is self. */
tsl_err dp_oracle_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                       int32_t value, dp_value *out);

/**
 * The goal of a filled grid.
 * @param[out] i, j, layer  the cell that attains it and its layer, the first in row-major order,
 *                          the layer last; i, j -1 for an expression, layer 0
 * @return TSL_ERR_INPUT when there is no cell to choose from
 */
tsl_err dp_oracle_goal(const dp_oracle *grid, dp_value *value, int64_t *i, int64_t *j,
                       int64_t *layer);

/* ---------------------------------------------------------------- recovery */

/** A reference that a value rests on. The first equal one wins: first argument of min and max,
 *  least value of a range variable. */
typedef struct dp_link {
  int64_t i, j;            /**< the cell; -1, -1: the goal */
  int64_t to_i, to_j;      /**< the cell read; -1, -1: the choice reads none */
  int32_t value, to_value; /**< their numbers in their cells */
  int32_t rule;            /**< what gives (i, j), as dp_recurrence_value counts (of the goal -1) */
  int32_t reference;       /**< its number in the text of the expression, -1: none */
  int64_t k;               /**< value of the innermost range variable there, -1: none */
} dp_link;

typedef struct dp_links {
  dp_link *list; /**< from tsl_alloc; release with tsl_free */
  int64_t n, room;
} dp_links;

/**
 * The solution behind the goal of a filled grid: from the goal on, for each cell once and in depth
 * first order, the references that its value rests on; of min, max and ranges the one chosen, of
 * ?: the branch taken, of other operators all.
 */
tsl_err dp_oracle_trace(const dp_oracle *grid, dp_links *steps);

/** On how many others a value of a cell may rest at most; 2 stands for more. */
int32_t dp_trace_most(const dp_recurrence *recurrence);

/** Append the references that the value of cell (eval->i, eval->j) rests on, or of the goal's
 *  expression (i = -1), cells being read by eval->read. */
tsl_err dp_trace_cell(dp_eval *eval, dp_links *links);

TSL_C_END
