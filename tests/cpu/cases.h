/* Which cases of a long test are this run's: TSL_TEST_ONE_IN and TSL_TEST_FIRST of the environment,
 * as tests/accept/harness.py reads them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline int64_t case_number_in(const char *variable, int64_t standard) {
  const char *const text = getenv(variable);
  return text != NULL && text[0] != '\0' ? strtoll(text, NULL, 10) : standard;
}

/** Cases have numbers from 0: the first is everybody's. */
static inline bool case_is_mine(int64_t number) {
  const int64_t one_in = case_number_in("TSL_TEST_ONE_IN", 1);
  if (one_in <= 1 || number == 0) return true;
  return number % one_in == case_number_in("TSL_TEST_FIRST", 0) % one_in;
}
