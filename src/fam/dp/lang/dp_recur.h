/**
 * @file dp_recur.h
 * A recurrence: names, boundary rules, the cell's equation and the goal.
 *
 * dp_equation is plain data that travels between ranks; dp_recurrence is the parsed form, made on
 * each of them from the same equation and therefore the same everywhere.
 *
 * There are one or several tables of the same rows, columns, depth, cells and type. Cell (i, j) of
 * all of them is computed at one time, layer after layer and table after table in each: a value
 * may read those of the same cell that come before it. A value's number is layer * n_tables +
 * table (lang_values). It is given by the table's first boundary rule whose condition holds, else
 * by its `cell`.
 */
#pragma once

#include "dp_pattern.h"
#include "lang_expr.h"

TSL_C_BEGIN

enum { DP_RULES_MAX = 32 /* of all tables */, DP_EQUATION_BYTES = 32768 };

/** What is asked of the finished table. */
typedef enum dp_goal {
  DP_GOAL_EXPR,  /**< an expression over cells, "M[n][m]"; the others: all layers of cells */
  DP_GOAL_ALL,   /**< "min over all", "max over all" */
  DP_GOAL_ROW,   /**< "max over last row" */
  DP_GOAL_COLUMN /**< "max over last column" */
} dp_goal;

/** A recurrence as texts; plain data. Members ending in _at are places in text. */
typedef struct dp_equation {
  lang_names names;
  int32_t pattern;    /**< dp_pattern, DP_AUTO when the deck leaves the choice */
  int32_t goal;       /**< dp_goal */
  int32_t maximum;    /**< goals over cells: 1 max, 0 min */
  int32_t goal_table; /**< goals over cells: whose */
  int32_t n_rules;
  int32_t rule_table[DP_RULES_MAX];
  int32_t where_at[DP_RULES_MAX], value_at[DP_RULES_MAX];
  int32_t cell_at[LANG_TABLES_MAX], goal_at;
  int32_t n_text; /**< bytes used */
  char text[DP_EQUATION_BYTES];
} dp_equation;

/** For messages of compilers. */
extern const lang_purpose dp_purpose;

/** Append a text. @param[out] at  its place @return TSL_ERR_INPUT when the texts are too long */
tsl_err dp_equation_add(dp_equation *equation, const char *text, int32_t *at);

/** Append a boundary rule of a table. */
tsl_err dp_equation_rule(dp_equation *equation, int32_t table, const char *where,
                         const char *value);

/** Set the goal from its text: "min|max [TABLE] over all | last row | last column", or an
 *  expression; the names of tables are there. @return TSL_ERR_INPUT: no such table, or none named
 *  where there are several */
tsl_err dp_equation_goal(dp_equation *equation, const char *text);

enum { DP_PLACE_MAX = 256, DP_PLACES = 1 + LANG_TABLES_MAX + 2 * DP_RULES_MAX };

/** Where the texts stand, "deck.yaml:9: dp.cell"; plain data, apart from the equation: the same
 *  equation may stand elsewhere. In order: goal, cell of each table there can be, where and value
 *  of each rule. */
typedef struct dp_places {
  char of[DP_PLACES][DP_PLACE_MAX];
} dp_places;

typedef struct dp_rule {
  lang_expr where, value;
} dp_rule;

/** A parsed recurrence; create with dp_recurrence_create. */
typedef struct dp_recurrence {
  dp_equation equation;
  const void *data[LANG_ARRAYS_MAX]; /**< not owned: elements of names.arrays */
  lang_expr cells[LANG_TABLES_MAX];
  lang_expr goal; /**< DP_GOAL_EXPR */
  dp_rule rules[DP_RULES_MAX];
} dp_recurrence;

/**
 * Parse all texts.
 * @param[in]  equation  copied
 * @param[in]  data    [n_arrays] elements of the arrays, borrowed; arrays' lo and hi must hold for
 * them
 * @param[out] out     free with dp_recurrence_destroy
 * @return TSL_ERR_INPUT: "cell: column 3: ..."
 */
tsl_err dp_recurrence_create(const dp_equation *equation, const void *const *data,
                             dp_recurrence **out);

/* What gives cells is counted from -n_tables to n_rules - 1: boundary rule number n, or -1 - t, the
 * `cell` of table t. */

/** Its expression. */
static inline const lang_expr *dp_recurrence_value(const dp_recurrence *r, int32_t rule) {
  return rule < 0 ? &r->cells[-1 - rule] : &r->rules[rule].value;
}

/** Its table. */
static inline int32_t dp_recurrence_table(const dp_recurrence *r, int32_t rule) {
  return rule < 0 ? -1 - rule : r->equation.rule_table[rule];
}

/** Goals over cells: number of the value in a layer of the goal's table. */
static inline int32_t dp_goal_value(const dp_equation *e, int64_t layer) {
  return (int32_t)layer * e->names.n_tables + e->goal_table;
}

/** Messages about the expressions begin with their places from now on.
 *  @param[in] places  borrowed */
void dp_recurrence_place(dp_recurrence *recurrence, const dp_places *places);

/** NULL accepted, sets NULL. */
void dp_recurrence_destroy(dp_recurrence **recurrence);

/** Least and greatest value of an integer array, into lo and hi (0, -1 when empty or real), or
 *  magnitude of a real one, into least and most. */
void dp_array_limits(lang_array *array, const void *data);

/** Elements of an array. */
int64_t dp_array_count(const lang_array *array);

TSL_C_END
