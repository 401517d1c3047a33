/* Bodies of xc_functions.h for one type; included once for double and once for float. No guard: the
 * includer sets XC_REAL, XC_(name) and XC_FMA; the end unsets them. */

#define R XC_REAL

/** f = sum_k c_k exp(-a_k r2) and g = 2 df/d(r2) of n primitives. */
TSL_FN void XC_(xc_radial)(int n, const R *a, const R *c, R r2, R *f, R *g) {
  R sum = 0, slope = 0;
  for (int k = 0; k < n; k++) {
    const R e = c[k] * XC_(xc_exp)(-a[k] * r2);
    sum += e;
    slope = XC_FMA(-a[k], e, slope);
  }
  *f = sum;
  *g = slope + slope;
}

/** Likewise with h = 2 dg/d(r2). */
TSL_FN void XC_(xc_radial_second)(int n, const R *a, const R *c, R r2, R *f, R *g, R *h) {
  R sum = 0, slope = 0, second = 0;
  for (int k = 0; k < n; k++) {
    const R e = c[k] * XC_(xc_exp)(-a[k] * r2);
    sum += e;
    slope = XC_FMA(-a[k], e, slope);
    second = XC_FMA(a[k] * a[k], e, second);
  }
  *f = sum;
  *g = slope + slope;
  *h = 4 * second;
}

/* Functions and their gradients, [1..15] each. */
#define XC_SHELL_(name) XC_(name##_first)
#define XC_PARTS R f, R g
#define XC_OUT R *value, R *dx, R *dy, R *dz
#define XC_PASS f, g, value, dx, dy, dz
#define P_(i, p, px, py, pz, pxx, pxy, pxz, pyy, pyz, pzz) \
  do {                                                     \
    const R at = (p);                                      \
    value[i] = at * f;                                     \
    dx[i] = XC_FMA((R)(px), f, at * (x * g));              \
    dy[i] = XC_FMA((R)(py), f, at * (y * g));              \
    dz[i] = XC_FMA((R)(pz), f, at * (z * g));              \
  } while (0)
#include "xc_functions_shells_body.h"

/* Gradients and second derivatives, [1..15] each: d[k] is d/dx, d/dy, d/dz, then xx xy xz yy yz zz.
 */
#define XC_SHELL_(name) XC_(name##_second)
#define XC_PARTS R f, R g, R h
#define XC_OUT R(*d)[XC_MAX_FUNCTIONS]
#define XC_PASS f, g, h, d
#define P_(i, p, px, py, pz, pxx, pxy, pxz, pyy, pyz, pzz)                                  \
  do {                                                                                      \
    const R at = (p), ax = (R)(px), ay = (R)(py), az = (R)(pz), atg = at * g, ath = at * h; \
    d[0][i] = XC_FMA(ax, f, at * (x * g));                                                  \
    d[1][i] = XC_FMA(ay, f, at * (y * g));                                                  \
    d[2][i] = XC_FMA(az, f, at * (z * g));                                                  \
    d[3][i] = XC_FMA((R)(pxx), f, XC_FMA(x + x, ax * g, atg) + ath * (x * x));              \
    d[4][i] = XC_FMA((R)(pxy), f, XC_FMA(ax, y, ay * x) * g + ath * (x * y));               \
    d[5][i] = XC_FMA((R)(pxz), f, XC_FMA(ax, z, az * x) * g + ath * (x * z));               \
    d[6][i] = XC_FMA((R)(pyy), f, XC_FMA(y + y, ay * g, atg) + ath * (y * y));              \
    d[7][i] = XC_FMA((R)(pyz), f, XC_FMA(ay, z, az * y) * g + ath * (y * z));               \
    d[8][i] = XC_FMA((R)(pzz), f, XC_FMA(z + z, az * g, atg) + ath * (z * z));              \
  } while (0)
#include "xc_functions_shells_body.h"

/** Values and gradients of the functions of a shell at (x, y, z) from its centre. */
TSL_FN void XC_(xc_functions)(int l, int spherical, R x, R y, R z, R f, R g, R *value, R *dx, R *dy,
                              R *dz) {
  XC_(xc_shell_functions_first)(l, spherical, x, y, z, f, g, value, dx, dy, dz);
}

/** Gradients and second derivatives. */
TSL_FN void XC_(xc_function_seconds)(int l, int spherical, R x, R y, R z, R f, R g, R h,
                                     R (*d)[XC_MAX_FUNCTIONS]) {
  XC_(xc_shell_functions_second)(l, spherical, x, y, z, f, g, h, d);
}

/** Values alone; the compiler drops what only the gradient needs. */
TSL_FN void XC_(xc_function_values)(int l, int spherical, R x, R y, R z, R f, R *value) {
  R dx[XC_MAX_FUNCTIONS], dy[XC_MAX_FUNCTIONS], dz[XC_MAX_FUNCTIONS];
  XC_(xc_functions)(l, spherical, x, y, z, f, 0, value, dx, dy, dz);
}

#undef R
#undef XC_REAL
#undef XC_
#undef XC_FMA
