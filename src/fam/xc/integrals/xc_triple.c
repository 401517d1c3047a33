/* Tables of three-centre integrals: Boys functions, monomials of functions, Hermite functions by
 * number, monomials as sums of r^2j S_lm. */
#include "xc_triple.h"

#include <math.h>
#include <string.h>
#include <threads.h>

enum { MOST = XC_CARTESIANS(XC_MAX_L) };

static xc_triple_tables tables;
static once_flag filled = ONCE_FLAG_INIT;

static void set_polynomial(const xc_one_tables *one, int l, const double *c, xc_polynomial *to) {
  for (int k = 0; k < XC_CARTESIANS(l); k++) {
    if (c[k] == 0) continue;
    for (int x = 0; x < 3; x++) to->power[to->n][x] = (int8_t)one->power[l][k][x];
    to->c[to->n++] = c[k];
  }
}

static void fill_polynomials(const xc_one_tables *one) {
  for (int l = 0; l <= XC_MAX_L; l++) {
    for (int m = 0; m < XC_SPHERICALS(l); m++)
      set_polynomial(one, l, one->harmonics.of[l][m], &tables.of[1][l][m]);
    for (int k = 0; k < XC_CARTESIANS(l); k++) {
      double c[MOST] = {0};
      c[k] = 1;
      set_polynomial(one, l, c, &tables.of[0][l][k]);
    }
  }
}

static void fill_hermites(void) {
  static const double factorial[XC_TRIPLE_L + 1] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
  for (int t = 0; t <= XC_TRIPLE_L; t++)
    for (int u = 0; t + u <= XC_TRIPLE_L; u++)
      for (int v = 0; t + u + v <= XC_TRIPLE_L; v++) {
        const int h = xc_hermite_at(t, u, v);
        tables.factor[h] = factorial[t] * factorial[u] * factorial[v];
        tables.hermite[h][0] = (int8_t)t, tables.hermite[h][1] = (int8_t)u;
        tables.hermite[h][2] = (int8_t)v;
      }
}

/* c r^2, both in monomials; c of degree l. */
static void times_square(const xc_one_tables *one, int l, const double *c, double *out) {
  memset(out, 0, MOST * sizeof *out);
  for (int k = 0; k < XC_CARTESIANS(l); k++) {
    const int *power = one->power[l][k];
    for (int x = 0; x < 3; x++)
      out[xc_cartesian_at(power[1] + 2 * (x == 1), power[2] + 2 * (x == 2))] += c[k];
  }
}

/* Gauss-Jordan with the largest pivot of a column; a [n][MOST] is lost. */
static void invert(int n, double a[MOST][MOST], double out[MOST][MOST]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i][j] = i == j;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++)
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    for (int j = 0; j < n; j++) {
      double swap = a[k][j];
      a[k][j] = a[best][j], a[best][j] = swap;
      swap = out[k][j], out[k][j] = out[best][j], out[best][j] = swap;
    }
    const double scale = 1 / a[k][k];
    for (int j = 0; j < n; j++) a[k][j] *= scale, out[k][j] *= scale;
    for (int i = 0; i < n; i++) {
      const double times = a[i][k];
      for (int j = 0; j < n && i != k; j++)
        a[i][j] -= times * a[k][j], out[i][j] -= times * out[k][j];
    }
  }
}

/* The harmonics times powers of r^2 in monomials, inverted. */
static void fill_parts(const xc_one_tables *one, int l) {
  double a[MOST][MOST] = {{0}}, out[MOST][MOST];
  int row = 0;
  for (int j = 0; 2 * j <= l; j++)
    for (int m = 0; m < XC_SPHERICALS(l - 2 * j); m++, row++) {
      memcpy(a[row], one->harmonics.of[l - 2 * j][m], sizeof a[row]);
      for (int k = l - 2 * j; k < l; k += 2) {
        double up[MOST];
        times_square(one, k, a[row], up);
        memcpy(a[row], up, sizeof up);
      }
    }
  invert(row, a, out);
  memcpy(tables.parts[l], out, sizeof out);
}

static void xc_triple_fill(void) {
  const xc_one_tables *one = xc_one_tables_get();
  for (int k = 0; k < XC_BOYS_NODES; k++)
    memcpy(tables.boys[k], one->boys[k], sizeof tables.boys[k]);
  fill_polynomials(one);
  fill_hermites();
  for (int l = 0; l <= XC_MAX_L; l++) fill_parts(one, l);
}

const xc_triple_tables *xc_triple_tables_get(void) {
  call_once(&filled, xc_triple_fill);
  return &tables;
}
