/* Recurrences for the card's test, and what the interpreter makes of them. */
#ifndef TSL_TEST_DP_RECUR_CASES_H
#define TSL_TEST_DP_RECUR_CASES_H

#include "dp_emit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A recurrence, its CUDA text and the values of all cells in folded order. */
typedef struct recur_case {
  const char *what;
  dp_recurrence *r;
  dp_code code;
  dp_args args; /**< host data */
  char *text;
  char *values;           /**< [P][Q] of the table's type; cells that it does not have are 0 */
  bool fails;             /**< the interpreter found an error: bad is expected, values are not */
  int64_t best_p, best_q; /**< best: the goal's cell among those that are no boundary; -1: none */
} recur_case;

int recur_n_cases(void);

/** Build case n; free with recur_case_clear. */
tsl_err recur_case_make(int n, recur_case *c);
void recur_case_clear(recur_case *c);

/** A long common subsequence of n and n letters, text only: to be timed. */
tsl_err recur_case_lcs(int64_t n, const uint8_t *a, const uint8_t *b, recur_case *c);

#ifdef __cplusplus
}
#endif
#endif
