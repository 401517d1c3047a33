/**
 * @file dp_emit_own.h
 * Private to dp_emit*.c: text being written, and the words of the emitted code.
 *
 * Types in the text: E values of the table's type, T a cell: one E, or of several tables a struct
 * of them, DP_OF(cell, n) that of table n; with a depth T is an array of E, a cell a pointer to its
 * first value and DP_AT(cell, n) that of number n, `step` of them from one to the next; V integers
 * as values (32 bits when all fit, else 64), R reals, i64 integers as indices. Variables: i, j, p,
 * q, k0..k3, x0..x3 the inner indices; NR, NC extents of the table; Aa, Aa_r, Aa_c an array and its
 * extents; Sn a constant; up, left, diag or r0.. or t, st where the table is.
 */
#pragma once

#include "dp_emit.h"
#include "lang_text.h"

/** What an expression is wanted as. */
typedef enum dp_as { DP_AS_VALUE, DP_AS_INDEX } dp_as;

enum { DP_HOISTS_MAX = 16 };

/** Data elements of `cell` that are the same along a row, read before its loop; or, with a depth,
 *  data elements and values of cells that its function reads at its beginning. */
typedef struct dp_hoist {
  const lang_expr *expr;
  const dp_bounds *always; /**< with a depth: what holds wherever the function is called */
  int32_t node[DP_HOISTS_MAX];
  int32_t n;
  bool inside; /**< a range is being written: its function does not know the names */
} dp_hoist;

typedef struct dp_emitter {
  const dp_recurrence *recurrence;
  dp_code *code;
  dp_bounds bounds;
  lang_text functions; /**< ranges, then cells */
  int32_t table;       /**< whose value is being written */
  int32_t n_ranges;
  int32_t n_open;          /**< ranges that the node being written is in */
  bool wide;               /**< V has 64 bits */
  bool misfit;             /**< some value does not fit 32 bits */
  bool other_layers;       /**< some value reads others of its run in its own cell, or may do so */
  bool functions_of_reals; /**< lang_math.h is needed */
  dp_hoist *hoist;         /**< not NULL: what is read before has names */
  int32_t split;           /**< range of `cell` that continues from an earlier part; -1: none */
} dp_emitter;

/* dp_emit.c */

/**
 * Write a function of a value: E NAME(DP_TAKE, DP_CTAKE, MORE p, q, bad), of what
 * dp_recurrence_value counts; DP_CTAKE is DP_TTAKE and, of several tables, what the cell has in
 * those before (own).
 * @param[in] more  further parameters with a comma behind, or ""
 */
void dp_emit_value(dp_emitter *e, int32_t rule, const char *name, const char *more);

/** Write the functions NAME_t of any cell's value in table t: the rules', or CELL_t's with PASS
 *  before p (CELL NULL: a failure), and dp_emit_tables of them. */
void dp_emit_full(dp_emitter *e, const char *name, const char *cell, const char *take,
                  const char *pass);

/** Write the function of a cell from those of its values: T NAME(DP_TAKE, DP_TTAKE, TAKE p, q, bad)
 *  calls NAME_t with PASS before p, table after table. With inner indices: a layer, to `own`. */
void dp_emit_tables(dp_emitter *e, const char *name, const char *take, const char *pass);

/** Append a function's text and free it. */
void dp_emit_append(dp_emitter *e, lang_text *body);

/* dp_emit_macros.c */

/** Write types and macros that functions and loops use. */
void dp_emit_macros(const dp_emitter *e, dp_target target, lang_text *out);

/** "i32" of TSL_I32. */
const char *dp_type_word(int32_t type);

/* dp_emit_hoist.c */

/** The number of a data element or value that is read before, 3 of "H3", or -1 when it is not. */
int dp_hoist_number(dp_emitter *e, const lang_expr *x, int32_t node);

/**
 * With a depth: write what `cell` x reads whatever its conditions are, under names that e->hoist =
 * hoist then gives, so that the expression itself has no reads in branches: compilers make vectors
 * of that. At the beginning of its function; bounds are those of the rule.
 * @param[in] always  a copy of these bounds, for as long as hoist is used
 */
void dp_emit_reads_first(dp_emitter *e, lang_text *out, const lang_expr *x, const dp_bounds *always,
                         dp_hoist *hoist);

/** ROWS in C: the cell's function with such elements as parameters; macros DP_H* for the loop. */
void dp_emit_hoisted(dp_emitter *e);

/* dp_emit_split.c */

/** INTERVAL in C: functions for a range of `cell` whose first part is shared by cells of a row;
 * macro DP_SPLIT says whether there is one. */
void dp_emit_split(dp_emitter *e);

/* dp_emit_node.c */

/** Type of a node in the text. */
const char *dp_emit_type(const lang_expr *x, int32_t node, dp_as as);

/** Write a op b in the hardware's arithmetic or by a checking function. @param[in] left  a name
 *  instead of a, or NULL */
void dp_emit_arithmetic(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as,
                        const char *left);

/* dp_emit_table.c */

/** Write a read of the table. */
void dp_emit_table(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as);

/** Is the read known to be inside the table and to follow the order? */
bool dp_read_is_proved(dp_emitter *e, const lang_expr *x, int32_t node);

/* dp_emit_long.c */

/** Write min(a, b, c) as dp_min_v(dp_min_v(a, b), c). */
void dp_emit_extreme(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as);

/** Is the node written as a function of its own, a statement for each operand? */
bool dp_is_long(const lang_expr *x, int32_t node);
void dp_emit_long(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as);

/** Write a subtree as an expression. */
void dp_emit_node(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as);

/** Write an integer subtree as a condition. */
void dp_emit_condition(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node);

/** Write a && b && c without brackets, each where those before it are true (of ||: false). */
void dp_emit_logic(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node);

/** Write a range as a function; returns its number. */
int32_t dp_emit_range(dp_emitter *e, const lang_expr *x, int32_t node, dp_as as);

/** Fixed text: types and helpers before the functions, loops after them. */
extern const char dp_text_c_head[], dp_text_cuda_head[], dp_text_helpers[];
extern const char dp_text_functions[]; /**< of reals, where used, after lang_math.h */
extern const char dp_text_c_rows[], dp_text_c_wave[], dp_text_c_tile[];
extern const char dp_text_cuda_rows[], dp_text_cuda_wave[], dp_text_cuda_tile[];
extern const char dp_text_cuda_layers[]; /**< of every engine, with a depth */
