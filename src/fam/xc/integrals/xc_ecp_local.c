/* Derivatives of the local part of an effective core potential in a Gaussian. */
#include "xc_ecp_local.h"

#include "xc_gauss.h"
#include "xc_one.h"

#include <math.h>
#include <string.h>
#include <threads.h>

enum { NODES = 64, TOP = XC_HERMITE_L };

/* Below 1e-22 of its size at the centre a term is nothing. */
static const double least = 50;

/* Points of Gauss and Legendre on [0, 1]. */
static double node[NODES], weight[NODES];
static once_flag filled = ONCE_FLAG_INIT;

static void fill_nodes(void) {
  long double x[NODES], w[NODES];
  xc_gauss_legendre(NODES, x, w);
  for (int k = 0; k < NODES; k++) node[k] = (double)x[k], weight[k] = (double)w[k];
}

/* Up to t = 60 in u; beyond it in v = 1 - u^2, of which what is above 50 / t is nothing. */
void xc_ecp_dawson(int last, double t, double *d) {
  static const double turn = 60, reach = 50;
  call_once(&filled, fill_nodes);
  for (int n = 0; n <= last; n++) d[n] = 0;
  for (int k = 0; k < NODES; k++) {
    const double v = t < turn ? (1 - node[k]) * (1 + node[k]) : reach / t * node[k];
    double term = exp(-t * v) * weight[k];
    if (t >= turn) term *= 0.5 * reach / t / sqrt(1 - v);
    for (int n = 0; n <= last; n++, term *= v) d[n] += term;
  }
}

/* slopes[n] += (1/R d/dR)^n of exp(-g R^2) f_0(h R^2) size, where f_n' = -f_n+1. */
static void add_product(int l, double size, double g, double h, const double *f, double *slopes) {
  double gs[TOP + 1] = {1}, hs[TOP + 1] = {1};
  for (int n = 1; n <= l; n++) gs[n] = -2 * g * gs[n - 1], hs[n] = -2 * h * hs[n - 1];
  for (int n = 0; n <= l; n++) {
    double choose = 1, sum = 0;
    for (int k = 0; k <= n; k++) {
      sum += choose * gs[n - k] * hs[k] * f[k];
      choose *= (double)(n - k) / (k + 1);
    }
    slopes[n] += size * sum;
  }
}

/* What a term adds. @return false: it is too far away */
static bool add_term(const xc_ecp_term *term, int l, double p, double r2, double *slopes) {
  const double s = p + term->exponent, g = p * term->exponent / s, h = p * p / s;
  double f[TOP + 1] = {1}, size = term->coefficient;
  if (g * r2 > least) return false;
  size *= exp(-g * r2);
  if (term->power == 0) {
    xc_ecp_dawson(l, h * r2, f);
    size *= 2 * sqrt(M_PI / s) * M_PI;
  } else if (term->power == 1) {
    xc_boys(l, h * r2, f);
    size *= 2 * M_PI / s;
  } else {
    size *= M_PI / s * sqrt(M_PI / s);
  }
  add_product(l, size, g, term->power == 2 ? 0 : h, f, slopes);
  return true;
}

void xc_ecp_hermites(const xc_ecp_centre *centre, int l, double p, const double at[3],
                     double sum[XC_HERMITES]) {
  const xc_one_tables *tab = xc_one_tables_get();
  const xc_ecp *ecp = centre->ecp;
  double r[3], r2 = 0, slopes[TOP + 1] = {0}, work[2][XC_HERMITES];
  bool felt = false;
  for (int x = 0; x < 3; x++) r[x] = at[x] - centre->at[x], r2 += r[x] * r[x];
  for (int k = 0; k < ecp->n; k++)
    if (ecp->terms[k].l == ecp->l && add_term(&ecp->terms[k], l, p, r2, slopes)) felt = true;
  if (!felt) {
    memset(sum, 0, (size_t)xc_hermite_count(l) * sizeof *sum);
    return;
  }
  for (int n = l; n >= 0; n--) { /* as of charges (xc_hermite.c) */
    double *to = n == 0 ? sum : work[n % 2];
    const double *from = work[1 - n % 2];
    to[0] = slopes[n];
    for (int h = 1; h < xc_hermite_count(l - n); h++) {
      const xc_hermite_step s = tab->step[h];
      to[h] = r[s.axis] * from[s.one] + s.factor * from[s.two];
    }
  }
}
