/**
 * @file dp_recur_deck.h
 * The keys of `problem: recurrence`, and from them an equation and its data.
 *
 *     dp:
 *       problem: recurrence
 *       table: {name: M, type: i32, rows: len(w) + 1, cols: C + 1, cells: all}
 *       data:                               # arrays, by name
 *         - {name: w, values: [3, 4, 5]}    # numbers; in a real table reals, unless type: int
 *         - {name: g, values: [1, 2, 3, 4], width: 2}    # two rows of two: g[0][1] is 2
 *         - {name: a, text: ACGT}           # letters: codes of the characters, integers
 *         - {name: x, file: x.npy}          # as other problems read files; columns make it 2-D
 *         - {name: b, file: b.fa, type: letters}
 *       constants:                          # in order; each may use those before it and the data
 *         - {name: C, value: 10}
 *       boundary:                           # in order; the first whose condition holds
 *         - {where: i == 0, value: 0}
 *       cell: "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + 1)"
 *       goal: M[len(w)][C]                  # or "min|max over all | last row | last column"
 *       pattern: auto                       # RUD RDU CLR CRL NOSE SENO SONE NESO
 *
 * Several tables of one shape, in the order in which a cell of all of them is computed:
 *
 *       table: {type: i32, rows: len(a) + 1, cols: len(b) + 1}
 *       tables:
 *         - {name: E, boundary: [...], cell: "max(H[i][j-1] - 5, E[i][j-1] - 1)"}
 *         - {name: H, boundary: [...], cell: "max(H[i-1][j-1] + 1, E[i][j])"}
 *       goal: H[len(a)][len(b)]             # or "max H over all"
 *
 * More indices: `depth` has the extents of k, l, m and n, as many as are wanted. A cell has a value
 * for each combination, computed with the last index fastest, all ascending:
 *
 *       table: {type: i32, rows: len(a) + 1, cols: len(b) + 1, depth: [len(c) + 1, len(d) + 1]}
 *       cell: "max(M[i-1][j][k][l], M[i][j-1][k][l], M[i][j][k-1][l], M[i][j][k][l-1])"
 *       goal: M[len(a)][len(b)][len(c)][len(d)]
 *
 * Sizes, constants, conditions, values, cell and goal are expressions (lang_expr.h).
 */
#pragma once

#include "dp_recur.h"
#include "dp_source.h"

/** An entry of `data`. */
typedef struct dp_recur_array {
  char *name;
  int32_t type; /**< index into auto, int, real, letters */
  int64_t width;
  dp_source source;
} dp_recur_array;

/** Entries of `constants` and `boundary`. */
typedef struct dp_recur_constant {
  char *name, *value;
} dp_recur_constant;
typedef struct dp_recur_rule {
  char *where, *value;
} dp_recur_rule;

/** Entries of `tables`. */
typedef struct dp_recur_table {
  char *name, *cell;
  tsl_maps boundary; /**< dp_recur_rule */
} dp_recur_table;

/** The keys; a member of the section's struct. */
typedef struct dp_recur_deck {
  struct {
    char *name, *rows, *cols;
    tsl_texts depth;
    int32_t type, cells;
  } table;
  tsl_maps data, constants, boundary; /**< dp_recur_array, dp_recur_constant, dp_recur_rule */
  tsl_maps tables;                    /**< dp_recur_table */
  char *cell, *goal;
  int32_t pattern;
} dp_recur_deck;

extern const tsl_key dp_recur_table_keys[], dp_recur_data_keys[], dp_recur_constant_keys[],
    dp_recur_rule_keys[], dp_recur_tables_keys[];

#define DP_RECUR_AT(base, member) ((base) + offsetof(dp_recur_deck, member))

/** Entries of a table of keys; base: offset of the dp_recur_deck in the section's struct. */
#define DP_RECUR_KEYS(base)                                                                      \
  TSL_MAP_KEY("table", DP_RECUR_AT(base, table), dp_recur_table_keys,                            \
              sizeof((dp_recur_deck *)0)->table, "Recurrence: the table being filled."),         \
      TSL_MAPS_KEY("tables", DP_RECUR_AT(base, tables), dp_recur_tables_keys,                    \
                   sizeof(dp_recur_table),                                                       \
                   "Recurrence: several tables of that shape, filled together in this order."),  \
      TSL_MAPS_KEY("data", DP_RECUR_AT(base, data), dp_recur_data_keys, sizeof(dp_recur_array),  \
                   "Recurrence: data arrays, each with a name."),                                \
      TSL_MAPS_KEY("constants", DP_RECUR_AT(base, constants), dp_recur_constant_keys,            \
                   sizeof(dp_recur_constant), "Recurrence: named numbers, in order."),           \
      TSL_MAPS_KEY(                                                                              \
          "boundary", DP_RECUR_AT(base, boundary), dp_recur_rule_keys, sizeof(dp_recur_rule),    \
          "Recurrence: cells with values of their own; the first rule whose condition holds."),  \
      TSL_TEXT_KEY("cell", DP_RECUR_AT(base, cell), "", "Recurrence: value of cell (i, j)."),    \
      TSL_TEXT_KEY("goal", DP_RECUR_AT(base, goal), "",                                          \
                   "Recurrence: what is asked: an expression of cells, or min or max over all, " \
                   "last row, last column."),                                                    \
      TSL_CHOICE_KEY("pattern", DP_RECUR_AT(base, pattern), "auto", dp_pattern_words,            \
                     "Recurrence: order in which the table is filled; auto: the checker chooses.")

/**
 * The equation of a section, and its data read.
 * @param[in]  section   "dp", for messages
 * @param[out] equation  from tsl_alloc
 * @param[out] data      elements of each array, from tsl_alloc
 * @return TSL_ERR_INPUT with the line of the deck, the column of the expression and a caret
 */
tsl_err dp_recur_read(const tsl_deck *deck, const char *section, const dp_recur_deck *s,
                      dp_equation **equation, void *data[LANG_ARRAYS_MAX]);

/** Where the section's expressions stand. */
void dp_recur_places(const tsl_deck *deck, const char *section, const dp_equation *equation,
                     dp_places *places);
