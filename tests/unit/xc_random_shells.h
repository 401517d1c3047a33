/** @file xc_random_shells.h  Random shells for tests of integrals, the same in every run. */
#pragma once

#include "xc_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t xc_seed = 20260;

static double xc_uniform(double lo, double hi) {
  xc_seed = xc_seed * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(xc_seed >> 11) * 0x1p-53;
}

/* Places repeat, so that shells share centres. The exponents of a shell are within a factor of 100,
 * as libint2 loses digits beyond (unit.xc.triple, digits). */
static void xc_random_shell(int l, int spherical, double lo, double hi, xc_shell *s) {
  static const double places[][3] = {{0, 0, 0},        {0.9, -0.4, 1.3}, {-1.7, 0.6, 0.2},
                                     {2.5, 3.1, -2.2}, {0, 0, 1e-3},     {4, -3, 6}};
  const int place = (int)xc_uniform(0, 6);
  *s = (xc_shell){.l = l, .spherical = spherical, .n = 1 + (int)xc_uniform(0, 4)};
  const double first = exp(xc_uniform(log(lo), log(hi)));
  memcpy(s->at, places[place], sizeof s->at);
  for (int k = 0; k < s->n; k++) {
    s->exponent[k] = fmax(lo, fmin(hi, first * exp(xc_uniform(-log(10), log(10)))));
    s->coefficient[k] = xc_uniform(0.2, 1);
  }
  assert_int_equal(xc_shell_normalise(s), TSL_OK);
}

/* Shells of each l, `each` times; the caller frees b->shells. */
static void xc_random_basis(int most_l, int each, int spherical, double lo, double hi,
                            xc_basis *b) {
  *b = (xc_basis){.n_shells = (most_l + 1) * each};
  b->shells = calloc((size_t)b->n_shells, sizeof *b->shells);
  assert_non_null(b->shells);
  for (int64_t k = 0; k < b->n_shells; k++) {
    xc_random_shell((int)k / each, spherical, lo, hi, &b->shells[k]);
    b->shells[k].first = b->n;
    b->n += xc_shell_size(&b->shells[k]);
  }
}
