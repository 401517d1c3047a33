/* What tests of xc on sockets share: checks that are counted, and calls that must not fail. */
#pragma once

#include "must.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static long n_checks, n_failures;

static void check(bool good, const char *what, double got, double wanted) {
  n_checks++;
  if (!good && ++n_failures <= 20)
    fprintf(stderr, "FAIL %s: %.15g, should be %.15g\n", what, got, wanted);
}
