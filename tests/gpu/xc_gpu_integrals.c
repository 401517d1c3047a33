/* gpu.xc.integrals: (P|mn) of a card beside libint2's of a socket, element by element: with one
 * fitting coefficient 1 and the others 0, J is a row of them. */
#include "test_xc_gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* J of both workers for coefficient k alone; the largest difference and the largest element. */
static tsl_err one_row(xc_made *made, tsl_worker *const workers[2], int64_t k, xc_outcome out[2],
                       double *worst, double *largest) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const tsl_backend *backends[2] = {tsl_backend_find(&tsl_platform_gpu, "xc"),
                                    tsl_backend_find(&tsl_platform_cpu, "xc")};
  double *c = made->problem.fields[XC_IN_COEFFICIENTS].data;
  memset(c, 0, (size_t)p->n_fit * sizeof *c);
  c[k] = 1;
  for (int side = 0; side < 2; side++)
    TSL_TRY(xc_phase(backends[side], workers[side], made, 1, 1 << XC_UNIT_FIT, XC_ORDER_GIVEN, 256,
                     &out[side]));
  for (int64_t e = 0; e < p->n * p->n; e++) {
    const double off = fabs(out[0].coulomb[e] - out[1].coulomb[e]);
    if (!(off <= *worst)) *worst = off; /* NaN stays */
    *largest = fmax(*largest, fabs(out[1].coulomb[e]));
  }
done:
  return err;
}

tsl_err xc_integrals_same(const char *what, const char *section, const tsl_device *card,
                          const tsl_device *host) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome out[2] = {{.xc = NULL}, {.xc = NULL}};
  tsl_worker *workers[2] = {NULL, NULL};
  double worst = 0, largest = 0;
  TSL_TRY(xc_made_open(section, &made));
  const int64_t n_fit = xc_params_of(&made.problem)->n_fit;
  for (int side = 0; side < 2; side++) TSL_TRY(xc_outcome_open(&made, &out[side]));
  TSL_TRY(tsl_backend_find(&tsl_platform_gpu, "xc")->open(&made.problem, card, &workers[0]));
  TSL_TRY(tsl_backend_find(&tsl_platform_cpu, "xc")->open(&made.problem, host, &workers[1]));
  for (int64_t k = 0; k < n_fit; k++) TSL_TRY(one_row(&made, workers, k, out, &worst, &largest));
  printf("%-34s %4lld functions, %4lld fitting: largest %.2g, off by %.1e\n", what,
         (long long)xc_params_of(&made.problem)->n, (long long)n_fit, largest, worst);
  (void)fflush(stdout);
  if (!(worst < 1e-12)) TSL_FAIL(TSL_ERR_NUMERIC, "%s: integrals off by %.3g", what, worst);
  if (worst == 0) TSL_FAIL(TSL_ERR_NUMERIC, "%s: the card's are the socket's bits", what);
done:
  tsl_backend_find(&tsl_platform_gpu, "xc")->close(&workers[0]);
  tsl_backend_find(&tsl_platform_cpu, "xc")->close(&workers[1]);
  for (int side = 0; side < 2; side++) xc_outcome_close(&out[side]);
  xc_made_close(&made);
  return err;
}
