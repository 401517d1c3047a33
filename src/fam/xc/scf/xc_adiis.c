/* The model as a quadratic form on the simplex, and its minimum by steps along the edge between the
 * weights that gain and lose most: each lowers f, also where it is not convex. */
#include "xc_adiis.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_STEPS = 2000 };

/* f(c) = 2 linear.c + c.square c, square symmetric. */
typedef struct form {
  int32_t n;
  double linear[XC_ADIIS_MOST], square[XC_ADIIS_MOST][XC_ADIIS_MOST];
} form;

static form form_of(int32_t n, const double t[XC_ADIIS_MOST][XC_ADIIS_MOST]) {
  form f = {.n = n};
  for (int32_t i = 0; i < n; i++) {
    f.linear[i] = t[i][0] - t[0][0];
    for (int32_t j = 0; j < n; j++)
      f.square[i][j] = 0.5 * (t[i][j] + t[j][i] - t[0][j] - t[j][0] - t[i][0] - t[0][i]) + t[0][0];
  }
  return f;
}

/* Half of the derivatives of f. @return f */
static double slopes_of(const form *f, const double *c, double *slope) {
  double value = 0;
  for (int32_t i = 0; i < f->n; i++) {
    slope[i] = f->linear[i];
    for (int32_t j = 0; j < f->n; j++) slope[i] += f->square[i][j] * c[j];
    value += c[i] * (f->linear[i] + slope[i]);
  }
  return value;
}

/* Move weight from where the slope is highest to where it is lowest; false at a minimum. */
static bool xc_adiis_move(const form *f, const double *slope, double *c) {
  int32_t to = 0, from = -1;
  for (int32_t i = 0; i < f->n; i++) {
    if (slope[i] < slope[to]) to = i;
    if (c[i] > 0 && (from < 0 || slope[i] > slope[from])) from = i;
  }
  const double gain = slope[from] - slope[to];
  const double bend = f->square[to][to] + f->square[from][from] - 2 * f->square[to][from];
  if (!(gain > 1e-12 * fabs(slope[from]))) return false;
  const double step = bend * c[from] > gain ? gain / bend : c[from];
  c[to] += step;
  c[from] = step < c[from] ? c[from] - step : 0;
  return true;
}

void xc_adiis_weights(int32_t n, const double trace[XC_ADIIS_MOST][XC_ADIIS_MOST],
                      double weight[XC_ADIIS_MOST]) {
  const form f = form_of(n, trace);
  double lowest = INFINITY, slope[XC_ADIIS_MOST];
  for (int32_t k = 0; k < n; k++) weight[k] = k == 0; /* where the traces are not finite */
  for (int32_t start = 0; start < n; start++) {
    double c[XC_ADIIS_MOST] = {0};
    c[start] = 1;
    double value = slopes_of(&f, c, slope);
    for (int k = 0; k < MOST_STEPS && xc_adiis_move(&f, slope, c); k++)
      value = slopes_of(&f, c, slope);
    if (value < lowest) {
      lowest = value;
      memcpy(weight, c, (size_t)n * sizeof *c);
    }
  }
}
