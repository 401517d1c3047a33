/* Recurrences for the card's test, and what the interpreter makes of them. */
#pragma once

#include "dp_recur_problem.h"

TSL_C_BEGIN

/** A recurrence, its CUDA text and the values of all cells in folded order. */
typedef struct recur_case {
  const char *what;
  dp_recurrence *r;
  dp_pattern pattern;
  dp_code code;
  dp_args args; /**< host data */
  char *text;
  char *values; /**< [P][Q][depth] of the table's type; cells that it does not have are 0 */
  bool fails;   /**< the interpreter found an error: bad is expected, values are not */
  int64_t best_p, best_q; /**< best: the goal's cell among those that are no boundary; -1: none, or
                               with a depth */
  int64_t goal_i, goal_j,
      goal_layer; /**< goals over cells: the interpreter's; -1: an expression, or
                                       fails */
} recur_case;

int recur_n_cases(void);

/** Build case n; free with recur_case_clear. */
tsl_err recur_case_make(int n, recur_case *c);
void recur_case_clear(recur_case *c);

/** Does case n make sense at any size? */
bool recur_case_any_size(int n);
/** Can the interpreter fill a large one? Its cells have no ranges and no depth. */
bool recur_case_any_large(int n);
/** Case n with another size; with any_size. */
tsl_err recur_case_sized(int n, int64_t rows, int64_t cols, recur_case *c);

/** A case with an inner index and rows of more than 2 GiB, without values. */
tsl_err recur_case_long_rows(recur_case *c);

/** Recurrences of two texts, to be timed. */
extern const char recur_lcs[], recur_edit[];

/** Such a recurrence for n and n letters, without values. @param[in] frame  of the boundary */
tsl_err recur_case_letters(const char *cell, const char *frame, int64_t n, const uint8_t *a,
                           const uint8_t *b, recur_case *c);

/**
 * The case as a problem: params, equation, data, empty code_gpu, wanted, best and table as asked.
 * Free with tsl_problem_clear; the case must outlive it.
 */
tsl_err recur_problem_make(const recur_case *c, bool table, tsl_problem *problem);

TSL_C_END
