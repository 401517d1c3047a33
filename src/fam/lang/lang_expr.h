/**
 * @file lang_expr.h
 * The language of decks: expressions as checked trees, of recurrences (dp) and of pairs (tri).
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
 *     equal   = order [ ("==" | "!=") order ]          order = bits [ ("<" "<=" ">" ">=") bits ]
 *     bits    = xor { "|" xor }                        xor = both { "^" both }
 *     both    = shift { "&" shift }                    shift = sum { ("<<" | ">>") sum }
 *     sum     = product { ("+" | "-") product }        product = unary { ("*" "/" "%") unary }
 *     unary   = { "-" | "+" | "!" | "~" } primary
 *     primary = number | letter | name | name "[" expr "]" { "[" expr "]" } | "(" expr ")"
 *             | ("min" | "max") "(" expr { "," expr } ")" | "abs" "(" expr ")"
 *             | ("len" | "rows" | "cols") "(" name ")"
 *             | range "(" name "=" expr ".." expr ":" expr [ "else" expr ] ")"
 *             | ("sqrt" | "exp" | "log" | "log1p" | "sin" | "cos" | "erf" | "floor") "(" expr ")"
 *             | "pow" "(" expr "," expr ")"
 *     range   = "min" | "max" | "sum" | "prod" | "argmin" | "argmax" | "logsum"
 *
 * Names: i (row) and j (column) of the cell and, where the table has a depth, its inner indices k,
 * l, m and n, as many as there are sizes, all from 0; the table; data arrays; constants; the
 * variable of a range. M[..][..] reads the table, with one index more for each size of a depth;
 * len, rows, cols are extents of an array or table (len is rows).
 * `inf` is infinity, in real tables only. 'A' is the number of a letter, 65.
 *
 * Kinds: an expression is an integer or a real. i, j, range variables, extents, integer data and
 * numbers without a point are integers (1e6 too); a real table, real data and 2.5 are reals. Where
 * both meet the integer becomes a real. An integer table takes integers only. Comparisons, &&, ||
 * and ! give 0 or 1; conditions are integers. Functions such as exp take and give a real; the power
 * of pow is an integer from -64 to 64.
 *
 * Arithmetic: integers in 64 bits, every overflow an error; the value stored must fit the table's
 * type. Division truncates towards zero, the remainder has the sign of the dividend, dividing by
 * zero is an error. In the values of a real table (cell, values of boundary, goal) a quotient is a
 * real, 1 / 2 is 0.5; in indices, ends of ranges and operands of % it stays an integer. Reals in
 * the table's type, each operation rounded; a cell that is not a number is an error; log(0) is
 * -inf. min and max keep the first of equal values. ?:, && and || evaluate only what they
 * need, so that `j >= w[i] ? M[i-1][j-w[i]] : 0` reads nothing outside the table.
 *
 * Bits are those of integers of 64 bits in two's complement. a << n is a times 2^n,
 * an error where that overflows, a >> n is a / 2^n rounded down, n from 0 to 63.
 *
 * Ranges `k = lo .. hi` include both ends, ascending. argmin and argmax give the first k of the
 * least or greatest value, an integer. An empty range: sum is 0, prod 1; min, max, argmin and
 * argmax give the value after `else`, and are an error without it. sum and prod take no `else`.
 *
 * Indices, ranges and the conditions of `boundary` do not read the table: dependencies are known
 * before values are.
 *
 * logsum, prod, argmin, argmax and operators of bits are a recurrence's alone. logsum is
 * log(exp(a) + exp(b) + ...) without overflow, of arguments one after another and of a range from
 * its first value on; of none, and of -inf alone, it is -inf.
 *
 * Functions of pairs (LANG_SCOPE_PAIR) have no table and no cell. All their values are reals; what
 * a division gives is real, too: 1 / 2 is 0.5. Integers are what is known before the points are:
 * numbers, extents, range variables, as indices, ends of ranges and powers need; comparisons, &&,
 * || and ! give 0 or 1.
 */
#pragma once

#include "contract.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

enum {
  LANG_TEXT_MAX = 4096, /**< bytes of an expression */
  LANG_DEPTH_MAX = 100, /**< brackets, calls, choices and signs inside each other */
  LANG_CHAIN_MAX = 64,  /**< operands of a chain or call that are written and bounded as one */
  LANG_LOOPS_MAX = 4,   /**< ranges inside ranges */
  LANG_NAME_MAX = 32,   /**< bytes of a name, the closing zero included */
  LANG_INNER_MAX = 4,   /**< indices of a table beside row and column */
  LANG_TABLES_MAX = 8,  /**< of a recurrence, which share rows, columns, cells and type */
  LANG_ARRAYS_MAX = 8,
  LANG_SCALARS_MAX = 32
};

#define LANG_RANGE_MAX INT64_C(2147483647) /**< values of a range variable */

/** What a text is compiled for, as messages say it. */
typedef struct lang_purpose {
  const char *what;    /**< "recurrence" */
  const char *without; /**< what else can be done: ", or ...", or "" */
} lang_purpose;

/** Integer or real. */
typedef enum lang_kind { LANG_WHOLE, LANG_REAL } lang_kind;

/** Which cells a table has, in the order of the deck's words. */
typedef enum lang_cells {
  LANG_CELLS_ALL,
  LANG_CELLS_UPPER, /**< i <= j only */
  LANG_CELLS_LOWER  /**< i >= j only */
} lang_cells;

/** A table being filled. */
typedef struct lang_table {
  char name[LANG_NAME_MAX];
  int32_t type;  /**< TSL_I16, TSL_I32, TSL_I64, TSL_F32 or TSL_F64 */
  int32_t cells; /**< lang_cells */
  int64_t rows, cols;
  int64_t inner[LANG_INNER_MAX]; /**< extents of the inner indices, each 1 or more */
  int32_t n_inner;               /**< how many there are, 0..LANG_INNER_MAX */
  int32_t reserved;
} lang_table;

/** A data array, row-major; its values are elsewhere. */
typedef struct lang_array {
  char name[LANG_NAME_MAX];
  int32_t type;       /**< TSL_U8, TSL_I32, TSL_I64: integers; TSL_F32, TSL_F64: reals */
  int32_t rank;       /**< 1 or 2 */
  int64_t shape[2];   /**< shape[1] is 1 when rank is 1 */
  int64_t lo, hi;     /**< integers: least and greatest value; 0, -1 when there are none */
  double least, most; /**< reals: least and greatest magnitude, 0 left out; 0 when there are none */
} lang_array;

/** A named constant. */
typedef struct lang_scalar {
  char name[LANG_NAME_MAX];
  int32_t kind;  /**< lang_kind */
  int32_t zero;  /**< reserved */
  int64_t whole; /**< value of LANG_WHOLE */
  double real;   /**< value of LANG_REAL, rounded to the table's type */
} lang_scalar;

/** All names an expression may use: plain data. */
typedef struct lang_names {
  lang_table tables[LANG_TABLES_MAX]; /**< in the order in which a cell's are computed */
  lang_array arrays[LANG_ARRAYS_MAX];
  lang_scalar scalars[LANG_SCALARS_MAX];
  int32_t n_tables, n_arrays, n_scalars, reserved;
  int64_t origin[2]; /**< row and column of the text's table that its cell (0, 0) is: more than 0
                        where the table is a part cut out of it */
} lang_names;

/** Kind of a type's values. */
lang_kind lang_kind_of(int32_t type);

/** Do reals round to f32? As tables[0] says. */
bool lang_is_single(const lang_names *names);

/* A cell's values of one table are its layers, numbered by the inner indices with the last of them
 * fastest: of k and l layer k * inner[1] + l. Without inner indices there is one. */

/** Names of the inner indices. */
extern const char *const lang_inner_words[LANG_INNER_MAX];

/** Layers of a cell. */
int64_t lang_layers(const lang_names *names);

/** Layers from one value of inner index n to the next. */
int64_t lang_layer_stride(const lang_names *names, int n);

/** Inner index n of a layer. */
int64_t lang_inner_of(const lang_names *names, int64_t layer, int n);

/** Values of a cell, those of all tables and layers. Number layer * n_tables + t is table t's in a
 *  layer, and they are computed in this order. */
int32_t lang_values(const lang_names *names);

/** Most of them. */
#define LANG_VALUES_MAX (INT64_C(1) << 24)

/** Most layers. */
#define LANG_LAYERS_MAX (LANG_VALUES_MAX / LANG_TABLES_MAX)

/** Is cell (i, j) one of the table's? */
bool lang_has_cell(const lang_table *table, int64_t i, int64_t j);

/**
 * May name be given to a table, an array or a constant?
 * @return TSL_ERR_INPUT: not a name, too long, one of the language's words, or already taken
 */
tsl_err lang_check_name(const lang_names *names, const char *name);

/* ------------------------------------------------------------------- trees */

typedef enum lang_opcode {
  LANG_OP_NUMBER, /**< whole or real */
  LANG_OP_I,
  LANG_OP_J,
  LANG_OP_INNER,   /**< ref: which inner index */
  LANG_OP_LOOP,    /**< range variable; ref: level, 0 the outermost */
  LANG_OP_SCALAR,  /**< ref: constant */
  LANG_OP_EXTENT,  /**< ref: array, or -1 - table; dim: 0 rows, 1 columns */
  LANG_OP_TABLE,   /**< ref: table; dim: number of this reference in the text; children: row,
                    column, and the inner indices */
  LANG_OP_DATA,    /**< ref: array; children: one or two indices */
  LANG_OP_TO_REAL, /**< integer to real, put in by the type check */
  LANG_OP_NEG,
  LANG_OP_NOT,
  LANG_OP_ABS,
  LANG_OP_ADD,
  LANG_OP_SUB,
  LANG_OP_MUL,
  LANG_OP_DIV,
  LANG_OP_MOD,
  LANG_OP_BIT_AND,
  LANG_OP_BIT_OR,
  LANG_OP_BIT_XOR,
  LANG_OP_SHIFT_LEFT,
  LANG_OP_SHIFT_RIGHT,
  LANG_OP_LT,
  LANG_OP_LE,
  LANG_OP_GT,
  LANG_OP_GE,
  LANG_OP_EQ,
  LANG_OP_NE,
  LANG_OP_AND,
  LANG_OP_OR,
  LANG_OP_COND,      /**< children: condition, then, else */
  LANG_OP_MIN,       /**< children: two or more, or one */
  LANG_OP_MAX,       /**< likewise */
  LANG_OP_LOGSUM,    /**< likewise, reals */
  LANG_OP_RANGE_MIN, /**< ref: level; dim: where its variable's name is in the text; children: lo,
                        hi, body, and the default if there is one */
  LANG_OP_RANGE_MAX,
  LANG_OP_RANGE_SUM,
  LANG_OP_RANGE_PROD,
  LANG_OP_RANGE_ARGMIN, /**< an integer, whatever the body is */
  LANG_OP_RANGE_ARGMAX,
  LANG_OP_RANGE_LOGSUM,
  LANG_OP_CALL, /**< ref: lang_function; children: one or two */
  LANG_N_OPS
} lang_opcode;

/** Functions of reals. */
typedef enum lang_function {
  LANG_SQRT,
  LANG_EXP,
  LANG_LOG,
  LANG_POW, /**< second child: an integer */
  LANG_SIN,
  LANG_COS,
  LANG_ERF,
  LANG_LOG1P,
  LANG_FLOOR,
  LANG_N_FUNCTIONS
} lang_function;

/** Their words, NULL-ended. */
extern const char *const lang_function_words[];

enum { LANG_POWER_MAX = 64, LANG_SHIFT_MAX = 63 };

/** A node; -1 is "none". */
typedef struct lang_node {
  int32_t op;          /**< lang_opcode */
  int32_t kind;        /**< lang_kind */
  int32_t first, next; /**< first child, next sibling */
  int32_t ref, dim;
  int32_t at, length; /**< bytes of the text it stands for */
  int32_t depth;      /**< levels from here to the deepest leaf */
  int32_t reads;      /**< 1: a table reference is in it */
  int64_t whole;
  double real;
} lang_node;

/** An expression. Release with lang_expr_clear. */
typedef struct lang_expr {
  char *text;        /**< as given */
  const char *place; /**< "deck.yaml:9: dp.cell", for messages; borrowed, NULL: no deck */
  lang_node *nodes;
  int64_t room;
  int32_t n_nodes;
  int32_t root;
  int32_t n_refs; /**< table references */
} lang_expr;

/** Where an expression stands: what it may name and what kind it must have. */
typedef enum lang_scope {
  LANG_SCOPE_CONSTANT, /**< no i, j, table reads; either kind */
  LANG_SCOPE_SIZE,     /**< likewise; integer */
  LANG_SCOPE_WHERE,    /**< i, j, inner indices; no table reads; integer */
  LANG_SCOPE_CELL,     /**< likewise, and table reads; kind of the table */
  LANG_SCOPE_GOAL,     /**< table reads, no place of a cell; kind of the table */
  LANG_SCOPE_PAIR      /**< no table: names.n_tables is 0, tables[0].type that of all reals */
} lang_scope;

/**
 * Parse and check an expression.
 * @param[in]  names  borrowed for the call
 * @param[out] out    release with lang_expr_clear
 * @return TSL_ERR_INPUT: "column 7: what is wrong", then the line of the text and a caret under the
 *         place; with the nearest name for an unknown one
 */
tsl_err lang_expr_parse(const lang_names *names, lang_scope scope, const char *text,
                        lang_expr *out);

/** Is the operation one over a range? */
bool lang_is_range(int32_t op);

/** Is it one of two values, + to >>? */
bool lang_is_arithmetic(int32_t op);

/** Is it a shift, whose second operand is from 0 to LANG_SHIFT_MAX? */
bool lang_is_shift(int32_t op);

/** Does it give a value of its variable? */
bool lang_is_argument(int32_t op);

/**
 * A function's value in f32 or f64, as compiled code of all devices has it (lang_math.h).
 * @param[in] power  of LANG_POW, -64 to 64
 */
double lang_function_value(bool single, lang_function function, double x, int64_t power);

/** log(e^a + e^b), a the sum so far, likewise; and one more term of a range's: sum of e^(v - most),
 *  most the greatest so far. At its end the value is most + log(sum). */
double lang_logsum(bool single, double a, double b);
void lang_logsum_add(bool single, double v, double *most, double *sum);

/** Can a finite real be one of the type's, 0 or a normal number? */
bool lang_real_fits(bool single, double value);

/** Free the tree and zero the struct. */
void lang_expr_clear(lang_expr *expr);

/** Child number n of a node, -1 when there are fewer. */
int32_t lang_child(const lang_expr *expr, int32_t node, int n);

/** Are two subtrees the same, text places aside? They may be of different expressions. */
bool lang_same(const lang_expr *a, int32_t x, const lang_expr *b, int32_t y);

/**
 * Start an error about bytes [at, at + length) of a text: "[line 2, ]column 7: what", the line and
 * a caret. @return code
 */
tsl_err lang_fail_at(tsl_err code, const char *text, int32_t at, int32_t length, const char *file,
                     int line, const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/** Start an error about an expression: its place, then "what". @return code */
tsl_err lang_expr_fail(tsl_err code, const lang_expr *expr, const char *file, int line,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** The same about a node, with the column, the line and a caret. */
tsl_err lang_node_fail(tsl_err code, const lang_expr *expr, int32_t node, const char *file,
                       int line, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#define LANG_FAIL_AT(code, text, at, length, ...)                                     \
  do {                                                                                \
    err = (code);                                                                     \
    (void)lang_fail_at(err, (text), (at), (length), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                                        \
  } while (0)

TSL_C_END
