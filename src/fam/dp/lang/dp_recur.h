/**
 * @file dp_recur.h
 * A recurrence: names, boundary rules, the cell's equation and the goal.
 *
 * dp_equation is plain data that travels between ranks; dp_recurrence is the parsed form, made on
 * each of them from the same equation and therefore the same everywhere.
 *
 * A cell's value is that of the first boundary rule whose condition holds, else of `cell`.
 */
#ifndef TSL_FAM_DP_RECUR_H
#define TSL_FAM_DP_RECUR_H

#include "dp_pattern.h"
#include "lang_expr.h"

TSL_C_BEGIN

enum { DP_RULES_MAX = 16, DP_EQUATION_BYTES = 32768 };

/** What is asked of the finished table. */
typedef enum dp_goal {
  DP_GOAL_EXPR,  /**< an expression over cells, "M[n][m]" */
  DP_GOAL_ALL,   /**< "min over all", "max over all" */
  DP_GOAL_ROW,   /**< "max over last row" */
  DP_GOAL_COLUMN /**< "max over last column" */
} dp_goal;

/** A recurrence as texts; plain data. Members ending in _at are places in text. */
typedef struct dp_equation {
  lang_names names;
  int32_t pattern; /**< dp_pattern, DP_AUTO when the deck leaves the choice */
  int32_t goal;    /**< dp_goal */
  int32_t maximum; /**< goals over cells: 1 max, 0 min */
  int32_t n_rules;
  int32_t where_at[DP_RULES_MAX], value_at[DP_RULES_MAX];
  int32_t cell_at, goal_at;
  int32_t n_text; /**< bytes used */
  char text[DP_EQUATION_BYTES];
} dp_equation;

/** For messages of compilers. */
extern const lang_purpose dp_purpose;

/** Append a text. @param[out] at  its place @return TSL_ERR_INPUT when the texts are too long */
tsl_err dp_equation_add(dp_equation *equation, const char *text, int32_t *at);

/** Append a boundary rule. */
tsl_err dp_equation_rule(dp_equation *equation, const char *where, const char *value);

/** Set the goal from its text: "min|max over all | last row | last column", or an expression. */
tsl_err dp_equation_goal(dp_equation *equation, const char *text);

enum { DP_PLACE_MAX = 256, DP_PLACES = 2 + 2 * DP_RULES_MAX };

/** Where the texts stand, "deck.yaml:9: dp.cell"; plain data, apart from the equation: the same
 *  equation may stand elsewhere. In order: cell, goal, where and value of each rule. */
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
  lang_expr cell;
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
#endif
