/* Points of Gauss and Legendre: zeros of Legendre's polynomial by Newton's steps. */
#include "xc_gauss.h"

#include <math.h>

#define XC_GAUSS_PI 3.141592653589793238462643383279502884L

/* Legendre's polynomial of degree n at x, and its derivative. */
static long double legendre(int n, long double x, long double *derivative) {
  long double below = 1, value = x;
  for (int k = 2; k <= n; k++) {
    const long double next = ((2 * k - 1) * x * value - (k - 1) * below) / k;
    below = value, value = next;
  }
  *derivative = n * (x * value - below) / (x * x - 1);
  return value;
}

void xc_gauss_legendre(int n, long double *x, long double *w) {
  enum { STEPS = 12 };
  for (int k = 0; k < n; k++) {
    long double at = cosl(XC_GAUSS_PI * ((long double)k + 0.75L) / (n + 0.5L)), slope = 1;
    for (int s = 0; s < STEPS; s++) at -= legendre(n, at, &slope) / slope;
    (void)legendre(n, at, &slope);
    x[k] = (1 + at) / 2;
    w[k] = 1 / ((1 - at * at) * slope * slope);
  }
}
