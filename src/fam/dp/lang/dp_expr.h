/**
 * @file dp_expr.h
 * The language of recurrences: expressions of a deck as checked trees.
 *
 * A recurrence deck (keys: dp_recur_deck.h)
 *
 *     dp:
 *       problem: recurrence
 *       table: {name: M, type: i32, rows: len(a) + 1, cols: len(b) + 1}
 *       data:
 *         - {name: a, text: ACCGGT}
 *         - {name: b, text: ACGT}
 *       boundary:
 *         - {where: i == 0 || j == 0, value: 0}
 *       cell: "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])"
 *       goal: M[len(a)][len(b)]
 *
 * Grammar, in order of precedence; blanks and line ends mean nothing:
 *
 *     expr    = or [ "?" expr ":" expr ]
 *     or      = and { "||" and }                       and = equal { "&&" equal }
 *     equal   = order [ ("==" | "!=") order ]          order = sum [ ("<" "<=" ">" ">=") sum ]
 *     sum     = product { ("+" | "-") product }        product = unary { ("*" "/" "%") unary }
 *     unary   = { "-" | "+" | "!" } primary
 *     primary = number | name | name "[" expr "]" [ "[" expr "]" ] | "(" expr ")"
 *             | ("min" | "max") "(" expr { "," expr } ")" | "abs" "(" expr ")"
 *             | ("len" | "rows" | "cols") "(" name ")"
 *             | ("min" | "max" | "sum") "(" name "=" expr ".." expr ":" expr [ "else" expr ] ")"
 *
 * Names: i (row) and j (column) of the cell, both from 0; the table; data arrays; constants; the
 * variable of a range. M[..][..] reads the table; len, rows, cols are extents of an array or table
 * (len is rows). `inf` is infinity, in real tables only.
 *
 * Kinds: an expression is an integer or a real. i, j, range variables, extents, integer data and
 * numbers without a point are integers (1e6 too); a real table, real data and 2.5 are reals. Where
 * both meet the integer becomes a real. An integer table takes integers only. Comparisons, &&, ||
 * and ! give 0 or 1; conditions are integers.
 *
 * Arithmetic: integers in 64 bits, every overflow an error; the value stored must fit the table's
 * type. Division truncates towards zero, the remainder has the sign of the dividend, dividing by
 * zero is an error. Reals in the table's type, each operation rounded; a cell that is not a number
 * is an error. min and max keep the first of equal values. ?:, && and || evaluate only what they
 * need, so that `j >= w[i] ? M[i-1][j-w[i]] : 0` reads nothing outside the table.
 *
 * Ranges `k = lo .. hi` include both ends, ascending. An empty range: sum is 0; min and max give
 * the value after `else`, and are an error without it. sum takes no `else`.
 *
 * Indices, ranges and the conditions of `boundary` do not read the table: dependencies are known
 * before values are.
 */
#ifndef TSL_FAM_DP_EXPR_H
#define TSL_FAM_DP_EXPR_H

#include "contract.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

enum {
  DP_TEXT_MAX = 4096, /**< bytes of an expression */
  DP_DEPTH_MAX = 100, /**< brackets, calls, choices and signs inside each other */
  DP_CHAIN_MAX = 64,  /**< operands of a chain or call that are written and bounded as one */
  DP_LOOPS_MAX = 4,   /**< ranges inside ranges */
  DP_NAME_MAX = 32,   /**< bytes of a name, the closing zero included */
  DP_TABLES_MAX = 2,
  DP_ARRAYS_MAX = 8,
  DP_SCALARS_MAX = 32
};

#define DP_RANGE_MAX INT64_C(2147483647) /**< values of a range variable */

/** Integer or real. */
typedef enum dp_kind { DP_WHOLE, DP_REAL } dp_kind;

/** Which cells a table has, in the order of the deck's words. */
typedef enum dp_cells {
  DP_CELLS_ALL,
  DP_CELLS_UPPER, /**< i <= j only */
  DP_CELLS_LOWER  /**< i >= j only */
} dp_cells;

/** A table being filled. */
typedef struct dp_table {
  char name[DP_NAME_MAX];
  int32_t type;  /**< TSL_I16, TSL_I32, TSL_I64, TSL_F32 or TSL_F64 */
  int32_t cells; /**< dp_cells */
  int64_t rows, cols;
} dp_table;

/** A data array, row-major; its values are elsewhere. */
typedef struct dp_array {
  char name[DP_NAME_MAX];
  int32_t type;       /**< TSL_U8, TSL_I32, TSL_I64: integers; TSL_F32, TSL_F64: reals */
  int32_t rank;       /**< 1 or 2 */
  int64_t shape[2];   /**< shape[1] is 1 when rank is 1 */
  int64_t lo, hi;     /**< integers: least and greatest value; 0, -1 when there are none */
  double least, most; /**< reals: least and greatest magnitude, 0 left out; 0 when there are none */
} dp_array;

/** A named constant. */
typedef struct dp_scalar {
  char name[DP_NAME_MAX];
  int32_t kind;  /**< dp_kind */
  int32_t zero;  /**< reserved */
  int64_t whole; /**< value of DP_WHOLE */
  double real;   /**< value of DP_REAL, rounded to the table's type */
} dp_scalar;

/** All names an expression may use: plain data. */
typedef struct dp_names {
  dp_table tables[DP_TABLES_MAX]; /**< tables[0] is the one being defined */
  dp_array arrays[DP_ARRAYS_MAX];
  dp_scalar scalars[DP_SCALARS_MAX];
  int32_t n_tables, n_arrays, n_scalars, reserved;
} dp_names;

/** Kind of a type's values. */
dp_kind dp_kind_of(int32_t type);

/** Do reals round to f32? As tables[0] says. */
bool dp_is_single(const dp_names *names);

/** Is cell (i, j) one of the table's? */
bool dp_has_cell(const dp_table *table, int64_t i, int64_t j);

/**
 * May name be given to a table, an array or a constant?
 * @return TSL_ERR_INPUT: not a name, too long, one of the language's words, or already taken
 */
tsl_err dp_check_name(const dp_names *names, const char *name);

/* ------------------------------------------------------------------- trees */

typedef enum dp_opcode {
  DP_OP_NUMBER, /**< whole or real */
  DP_OP_I,
  DP_OP_J,
  DP_OP_LOOP,   /**< range variable; ref: level, 0 the outermost */
  DP_OP_SCALAR, /**< ref: constant */
  DP_OP_EXTENT, /**< ref: array, or -1 - table; dim: 0 rows, 1 columns */
  DP_OP_TABLE,  /**< ref: table; dim: number of this reference in the text; children: row, column */
  DP_OP_DATA,   /**< ref: array; children: one or two indices */
  DP_OP_TO_REAL, /**< integer to real, put in by the type check */
  DP_OP_NEG,
  DP_OP_NOT,
  DP_OP_ABS,
  DP_OP_ADD,
  DP_OP_SUB,
  DP_OP_MUL,
  DP_OP_DIV,
  DP_OP_MOD,
  DP_OP_LT,
  DP_OP_LE,
  DP_OP_GT,
  DP_OP_GE,
  DP_OP_EQ,
  DP_OP_NE,
  DP_OP_AND,
  DP_OP_OR,
  DP_OP_COND,      /**< children: condition, then, else */
  DP_OP_MIN,       /**< children: two or more, or one */
  DP_OP_MAX,       /**< likewise */
  DP_OP_RANGE_MIN, /**< ref: level; dim: where its variable's name is in the text; children: lo, hi,
                      body, and the default if there is one */
  DP_OP_RANGE_MAX,
  DP_OP_RANGE_SUM,
  DP_N_OPS
} dp_opcode;

/** A node; -1 is "none". */
typedef struct dp_node {
  int32_t op;          /**< dp_opcode */
  int32_t kind;        /**< dp_kind */
  int32_t first, next; /**< first child, next sibling */
  int32_t ref, dim;
  int32_t at, length; /**< bytes of the text it stands for */
  int32_t depth;      /**< levels from here to the deepest leaf */
  int32_t reads;      /**< 1: a table reference is in it */
  int64_t whole;
  double real;
} dp_node;

/** An expression. Release with dp_expr_clear. */
typedef struct dp_expr {
  char *text;        /**< as given */
  const char *place; /**< "deck.yaml:9: dp.cell", for messages; borrowed, NULL: no deck */
  dp_node *nodes;
  int64_t room;
  int32_t n_nodes;
  int32_t root;
  int32_t n_refs; /**< table references */
} dp_expr;

/** Where an expression stands: what it may name and what kind it must have. */
typedef enum dp_scope {
  DP_SCOPE_CONSTANT, /**< no i, j, table reads; either kind */
  DP_SCOPE_SIZE,     /**< likewise; integer */
  DP_SCOPE_WHERE,    /**< i, j; no table reads; integer */
  DP_SCOPE_CELL,     /**< i, j, table reads; kind of the table */
  DP_SCOPE_GOAL      /**< table reads, no i and j; kind of the table */
} dp_scope;

/**
 * Parse and check an expression.
 * @param[in]  names  borrowed for the call
 * @param[out] out    release with dp_expr_clear
 * @return TSL_ERR_INPUT: "column 7: what is wrong", then the line of the text and a caret under the
 *         place; with the nearest name for an unknown one
 */
tsl_err dp_expr_parse(const dp_names *names, dp_scope scope, const char *text, dp_expr *out);

/** Free the tree and zero the struct. */
void dp_expr_clear(dp_expr *expr);

/** Child number n of a node, -1 when there are fewer. */
int32_t dp_child(const dp_expr *expr, int32_t node, int n);

/** Are two subtrees the same, text places aside? They may be of different expressions. */
bool dp_same(const dp_expr *a, int32_t x, const dp_expr *b, int32_t y);

/**
 * Start an error about bytes [at, at + length) of a text: "[line 2, ]column 7: what", the line and
 * a caret. @return code
 */
tsl_err dp_fail_at(tsl_err code, const char *text, int32_t at, int32_t length, const char *file,
                   int line, const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/** Start an error about an expression: its place, then "what". @return code */
tsl_err dp_expr_fail(tsl_err code, const dp_expr *expr, const char *file, int line, const char *fmt,
                     ...) __attribute__((format(printf, 5, 6)));

/** The same about a node, with the column, the line and a caret. */
tsl_err dp_node_fail(tsl_err code, const dp_expr *expr, int32_t node, const char *file, int line,
                     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#define DP_FAIL_AT(code, text, at, length, ...)                                     \
  do {                                                                              \
    err = (code);                                                                   \
    (void)dp_fail_at(err, (text), (at), (length), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                                      \
  } while (0)

TSL_C_END
#endif
