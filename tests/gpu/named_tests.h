/* Programs whose first word says which of their tests is run. */
#pragma once

#include "error.h"

#include <stdio.h>
#include <string.h>

typedef struct named_test {
  const char *name;
  tsl_err (*run)(void);
} named_test;

/** @return exit status; 2: no such test */
static inline int run_named(const named_test *tests, int n, int argc, char **argv) {
  for (int k = 0; k < n; k++) {
    if (argc < 2 || strcmp(argv[1], tests[k].name) != 0) continue;
    const tsl_err err = tests[k].run();
    if (err != TSL_OK) fprintf(stderr, "%s\n%s", tsl_err_message(), tsl_err_places());
    return tsl_err_status(err);
  }
  fprintf(stderr, "usage: %s", argv[0]);
  for (int k = 0; k < n; k++) fprintf(stderr, "%s%s", k == 0 ? " " : " | ", tests[k].name);
  fputc('\n', stderr);
  return 2;
}
