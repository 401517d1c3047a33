/* Functions seen from the centre of an effective core potential. */
#include "xc_ecp_project.h"

#include "xc_gauss.h"
#include "xc_hermite.h"

#include <math.h>
#include <string.h>

enum {
  THETAS = XC_PROJECT_K, /* exact for the degree 2 (XC_PROJECT_K - 1) that there is at most */
  PHIS = 2 * XC_PROJECT_K
};

/* ----------------------------------------------------------------- radii */

/* The highest order of Legendre's polynomials that a degree of powers meets. */
static int top_of(const xc_ecp_angles *angles, int degree) {
  return angles->far > 0 ? angles->l - 1 + degree : 0;
}

/* Up to t = 30 by the series of the two highest and downwards, beyond it upwards: either adds terms
 * of one sign, or loses little. i_k(t) / t^k first. */
void xc_ecp_bessel(int top, double t, double *out) {
  static const double turn = 30;
  if (t > turn) {
    const double fall = exp(-2 * t);
    out[0] = (1 - fall) / (2 * t);
    if (top > 0) out[1] = (1 + fall) / (2 * t) - out[0] / t;
    for (int k = 1; k < top; k++) out[k + 1] = out[k - 1] - (2 * k + 1) / t * out[k];
    return;
  }
  double high[2];
  for (int k = top; k <= top + 1; k++) {
    double term = 1, sum = 0;
    for (int n = 1; n <= k; n++) term /= 2 * n + 1;
    for (int j = 1; term > 1e-17 * sum; j++) {
      sum += term;
      term *= 0.5 * t * t / (j * (2.0 * k + 2 * j + 1));
    }
    high[k - top] = sum;
  }
  double above = high[1], here = high[0], power = exp(-t);
  for (int k = top; k >= 0; k--) {
    const double below = t * t * above + (2 * k + 1) * here;
    out[k] = here, above = here, here = below;
  }
  for (int k = 0; k <= top; k++, power *= t) out[k] *= power;
}

/* Of all degrees of powers up to degree, r^degree times
 * sum_p c_p exp(-a_p (r - far)^2) exp(-t) i_k(t). */
static void radial_parts(xc_ecp_view *v, const xc_shell *shell, const double *coefficient,
                         int degree) {
  static const double least = 60;
  const xc_ecp_angles *angles = v->angles;
  const int n = v->n, top = top_of(angles, degree);
  double bessel[XC_PROJECT_K];
  memset(v->radial[0], 0, sizeof v->radial[0]);
  for (int p = 0; p < shell->n; p++)
    for (int i = 0; i < n; i++) {
      const double a = shell->exponent[p], away = v->r[i] - angles->far, fall = a * away * away;
      if (fall > least) continue;
      const double size = coefficient[p] * exp(-fall);
      xc_ecp_bessel(top, 2 * a * v->r[i] * angles->far, bessel);
      for (int k = 0; k <= top; k++) v->radial[0][k][i] += size * bessel[k];
    }
  for (int d = 1; d <= degree; d++)
    for (int k = 0; k <= top; k++)
      for (int i = 0; i < n; i++) v->radial[d][k][i] = v->r[i] * v->radial[d - 1][k][i];
}

/* ------------------------------------------------------------- directions */

static int power_at(int degree, int j, int k) {
  return degree * (degree + 1) * (degree + 2) / 6 + xc_cartesian_at(j, k);
}

/* All of x^i y^j z^k up to a degree. */
static void set_powers(const double u[3], int degree, double *out) {
  out[0] = 1;
  for (int d = 1; d <= degree; d++)
    for (int j = 0; j <= d; j++)
      for (int k = 0; j + k <= d; k++)
        out[power_at(d, j, k)] = j + k < d ? u[0] * out[power_at(d - 1, j, k)]
                                 : j > 0   ? u[1] * out[power_at(d - 1, j - 1, k)]
                                           : u[2] * out[power_at(d - 1, j, k - 1)];
}

static double harmonic(int l, int m, const double *powers) {
  const double *c = xc_one_tables_get()->harmonics.of[l][m + l];
  const double *from = powers + power_at(l, 0, 0);
  double sum = 0;
  for (int k = 0; k < XC_CARTESIANS(l); k++) sum += c[k] * from[k];
  return sum * sqrt((2 * l + 1) / (4 * M_PI));
}

static void add_direction(const double u[3], double w, int degree, xc_ecp_angles *out) {
  double powers[XC_PROJECT_POWERS], legendre[XC_PROJECT_K] = {1}, x = 0;
  const int top = top_of(out, degree);
  for (int k = 0; k < 3 && out->far > 0; k++) x += u[k] * out->d[k] / out->far;
  if (top > 0) legendre[1] = x;
  for (int k = 1; k < top; k++)
    legendre[k + 1] = ((2 * k + 1) * x * legendre[k] - k * legendre[k - 1]) / (k + 1);
  for (int k = 0; k <= top; k++) legendre[k] *= (2 * k + 1) * w;
  set_powers(u, degree > XC_MAX_L ? degree : XC_MAX_L, powers);
  for (int l = 0; l < out->l; l++)
    for (int m = -l; m <= l; m++) {
      const double s = harmonic(l, m, powers);
      for (int p = 0; p < power_at(degree + 1, 0, 0); p++)
        for (int k = 0; k <= top; k++) out->of[l * l + l + m][p][k] += s * powers[p] * legendre[k];
    }
}

void xc_ecp_angles_set(const double d[3], int l, int degree, xc_ecp_angles *out) {
  long double z[THETAS], w[THETAS];
  memset(out, 0, sizeof *out);
  memcpy(out->d, d, sizeof out->d);
  out->far = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  out->l = l;
  xc_gauss_legendre(THETAS, z, w);
  for (int i = 0; i < THETAS; i++)
    for (int j = 0; j < PHIS; j++) {
      const double cosine = (double)(2 * z[i] - 1), sine = sqrt(1 - cosine * cosine);
      const double phi = 2 * M_PI * j / PHIS;
      const double u[3] = {sine * cos(phi), sine * sin(phi), cosine};
      add_direction(u, 4 * M_PI * (double)w[i] / PHIS, degree, out);
    }
}

/* ---------------------------------------------------------------- shells */

static double choose(int n, int k) {
  double value = 1;
  for (int i = 0; i < k; i++) value *= (double)(n - i) / (i + 1);
  return value;
}

/* out[n] += what x^X y^Y z^Z around A with the radial parts is along S_lm: of its powers around C,
 * sum (-d)^.. x^i y^j z^k. */
static void add_power(const xc_ecp_view *v, int lm, const int power[3], double *out) {
  const double *d = v->angles->d;
  const int top = top_of(v->angles, power[0] + power[1] + power[2]);
  for (int i = 0; i <= power[0]; i++)
    for (int j = 0; j <= power[1]; j++)
      for (int k = 0; k <= power[2]; k++) {
        const int degree = i + j + k;
        const double c = choose(power[0], i) * pow(-d[0], power[0] - i) * choose(power[1], j) *
                         pow(-d[1], power[1] - j) * choose(power[2], k) * pow(-d[2], power[2] - k);
        const double *of = v->angles->of[lm][power_at(degree, j, k)];
        for (int order = 0; order <= top && c != 0; order++) {
          const double factor = c * of[order], *from = v->radial[degree][order];
          if (fabs(of[order]) < 1e-15) continue; /* by parity */
          for (int q = 0; q < v->n; q++) out[q] += factor * from[q];
        }
      }
}

/* Of Cartesian functions of a degree. @param[out] rows  [XC_CARTESIANS(degree)][l^2][n] */
static void make_rows(xc_ecp_view *v, const xc_shell *shell, const double *coefficient, int degree,
                      double *rows) {
  const int all = v->angles->l * v->angles->l;
  radial_parts(v, shell, coefficient, degree);
  memset(rows, 0, (size_t)(XC_CARTESIANS(degree) * all * v->n) * sizeof *rows);
  for (int j = 0; j <= degree; j++)
    for (int k = 0; j + k <= degree; k++)
      for (int lm = 0; lm < all; lm++)
        add_power(v, lm, (int[3]){degree - j - k, j, k},
                  rows + (xc_cartesian_at(j, k) * all + lm) * v->n);
}

/* to[length] += factor from */
static void add_row(int64_t length, double factor, const double *from, double *to) {
  for (int64_t q = 0; q < length && factor != 0; q++) to[q] += factor * from[q];
}

/* Part of Cartesian function c in function f of the shell. */
static double share(const xc_shell *shell, int f, int c) {
  return shell->spherical ? xc_one_tables_get()->harmonics.of[shell->l][f][c] : f == c;
}

void xc_ecp_project(xc_ecp_view *v, const xc_shell *shell, double *out) {
  const int64_t row = (int64_t)v->angles->l * v->angles->l * v->n;
  const int size = xc_shell_size(shell);
  make_rows(v, shell, shell->coefficient, shell->l, v->rows[0]);
  memset(out, 0, (size_t)(size * row) * sizeof *out);
  for (int f = 0; f < size; f++)
    for (int c = 0; c < XC_CARTESIANS(shell->l); c++)
      add_row(row, share(shell, f, c), v->rows[0] + c * row, out + f * row);
}

/* With respect to A, x^p exp(-a x^2) has the derivative 2 a x^(p + 1) - p x^(p - 1). */
void xc_ecp_project_slopes(xc_ecp_view *v, const xc_shell *shell, double *out) {
  const int64_t row = (int64_t)v->angles->l * v->angles->l * v->n;
  const int size = xc_shell_size(shell), l = shell->l;
  double twice[XC_MAX_PRIMITIVES];
  for (int p = 0; p < shell->n; p++) twice[p] = 2 * shell->exponent[p] * shell->coefficient[p];
  make_rows(v, shell, twice, l + 1, v->rows[0]);
  if (l > 0) make_rows(v, shell, shell->coefficient, l - 1, v->rows[1]);
  memset(out, 0, (size_t)(3 * size * row) * sizeof *out);
  for (int x = 0; x < 3; x++)
    for (int f = 0; f < size; f++)
      for (int c = 0; c < XC_CARTESIANS(l); c++) {
        const int *p = xc_one_tables_get()->power[l][c], y = x == 1, z = x == 2;
        const double part = share(shell, f, c);
        double *to = out + (x * size + f) * row;
        add_row(row, part, v->rows[0] + xc_cartesian_at(p[1] + y, p[2] + z) * row, to);
        if (p[x] > 0)
          add_row(row, -p[x] * part, v->rows[1] + xc_cartesian_at(p[1] - y, p[2] - z) * row, to);
      }
}
