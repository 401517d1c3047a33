/* Both laws are lines in s through a known point, so that the fits are quotients of sums. */
#include "scaling_fit.h"

double tsl_fit_amdahl(const int64_t *nodes, const double *seconds, int n, double one) {
  double xy = 0, xx = 0;
  for (int k = 0; k < n; k++) { /* T(N) / T(1) - 1 / N = s (1 - 1 / N) */
    const double x = 1 - 1 / (double)nodes[k];
    xy += x * (seconds[k] / one - 1 / (double)nodes[k]);
    xx += x * x;
  }
  return xy / xx;
}

double tsl_fit_gustafson(const int64_t *nodes, const double *seconds, int n, double one) {
  double xy = 0, xx = 0;
  for (int k = 0; k < n; k++) { /* N - T(1) / T(N) = s (N - 1) */
    const double x = (double)nodes[k] - 1;
    xy += x * ((double)nodes[k] - one / seconds[k]);
    xx += x * x;
  }
  return xy / xx;
}
