/* Tables of Rys quadrature: Gauss rules of the measure exp(-t x^2) dx in x^2, which Gauss-Legendre
 * points stand for, at Chebyshev's points of wide intervals; and polynomials of few terms on short
 * ones through what those of many terms say. */
#include "xc_rys.h"

#include "xc_gauss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <threads.h>

enum {
  POINTS = 96, /* of Gauss and Legendre on [0, 1]: exact for every t below the reach */
  WIDE = 4,    /* units of t of a wide interval, */
  NODES = 24   /* and its points: exact to the last bits of fp64 */
};

#define XC_RYS_PI 3.141592653589793238462643383279502884L

/** A discrete measure: points y = x^2 and weights. */
typedef struct measure {
  long double y[POINTS], w[POINTS];
} measure;

static xc_rys_tables tables;
static once_flag filled = ONCE_FLAG_INIT;

/* dx on [0, 1] by Gauss and Legendre, in y = x^2. */
static void set_measure(measure *m) {
  xc_gauss_legendre(POINTS, m->y, m->w);
  for (int k = 0; k < POINTS; k++) m->y[k] *= m->y[k];
}

/* Recursion coefficients of the monic polynomials that are orthogonal for exp(-t y) dx. */
static void stieltjes(const measure *m, int n, long double t, long double *a, long double *b) {
  long double here[POINTS], below[POINTS] = {0}, w[POINTS], last = 1;
  for (int k = 0; k < POINTS; k++) here[k] = 1, w[k] = m->w[k] * expl(-t * m->y[k]);
  for (int j = 0; j < n; j++) {
    long double norm = 0, mean = 0;
    for (int k = 0; k < POINTS; k++) norm += w[k] * here[k] * here[k];
    for (int k = 0; k < POINTS; k++) mean += w[k] * m->y[k] * here[k] * here[k];
    a[j] = mean / norm, b[j] = j == 0 ? norm : norm / last, last = norm;
    for (int k = 0; k < POINTS; k++) {
      const long double next = (m->y[k] - a[j]) * here[k] - (j == 0 ? 0 : b[j]) * below[k];
      below[k] = here[k], here[k] = next;
    }
  }
}

/* The monic polynomial of degree n at y, and its derivative. */
static long double monic(int n, const long double *a, const long double *b, long double y,
                         long double *derivative) {
  long double below = 0, value = 1, d_below = 0, d = 0;
  for (int j = 0; j < n; j++) {
    const long double c = j == 0 ? 0 : b[j];
    const long double next = (y - a[j]) * value - c * below;
    const long double d_next = value + (y - a[j]) * d - c * d_below;
    below = value, value = next, d_below = d, d = d_next;
  }
  *derivative = d;
  return value;
}

/* b_0 / (sum of squares of the orthonormal polynomials at a root). */
static long double weight_at(int n, const long double *a, const long double *b, long double y) {
  long double below = 0, value = 1, norm = 1, sum = 1;
  for (int j = 0; j + 1 < n; j++) {
    const long double next = (y - a[j]) * value - (j == 0 ? 0 : b[j]) * below;
    below = value, value = next, norm *= b[j + 1];
    sum += value * value / norm;
  }
  return b[0] / sum;
}

/** Rules of 1..XC_RYS_MOST points. */
typedef struct rules {
  long double root[XC_RYS_MOST + 1][XC_RYS_MOST], weight[XC_RYS_MOST + 1][XC_RYS_MOST];
} rules;

/* The zero of the polynomial of degree n in (lo, hi), by bisection and Newton. */
static long double zero_between(int n, const long double *a, const long double *b, long double lo,
                                long double hi) {
  enum { HALVES = 12, STEPS = 4 };
  long double slope = 1;
  const bool rising = monic(n, a, b, hi, &slope) > 0;
  for (int k = 0; k < HALVES; k++) {
    const long double middle = (lo + hi) / 2;
    *((monic(n, a, b, middle, &slope) > 0) == rising ? &hi : &lo) = middle;
  }
  long double y = (lo + hi) / 2;
  for (int k = 0; k < STEPS; k++) y -= monic(n, a, b, y, &slope) / slope;
  return y;
}

/* Gauss rules on (0, most): zeros of one degree lie between those of the degree before. */
static void gauss(const long double *a, const long double *b, long double most, rules *out) {
  for (int n = 1; n <= XC_RYS_MOST; n++)
    for (int r = 0; r < n; r++) {
      const long double lo = r == 0 ? 0 : out->root[n - 1][r - 1];
      const long double hi = r == n - 1 ? most : out->root[n - 1][r];
      out->root[n][r] = zero_between(n, a, b, lo, hi);
      out->weight[n][r] = weight_at(n, a, b, out->root[n][r]);
    }
}

static void rules_at(const measure *m, long double t, rules *out) {
  long double a[XC_RYS_MOST], b[XC_RYS_MOST];
  stieltjes(m, XC_RYS_MOST, t, a, b);
  gauss(a, b, 1, out);
}

/* Laguerre's polynomials of order -1/2: exp(-x^2) dx on the half-line, in x^2. */
static void half_line(rules *out) {
  long double a[XC_RYS_MOST], b[XC_RYS_MOST];
  for (int k = 0; k < XC_RYS_MOST; k++) {
    a[k] = 2 * k + 0.5L;
    b[k] = k == 0 ? sqrtl(XC_RYS_PI) / 2 : (long double)k * (k - 0.5L);
  }
  gauss(a, b, 4 * XC_RYS_MOST + 4, out);
}

/* ---- polynomials */

/** Chebyshev's points on [-1, 1]. */
static long double chebyshev(int n, int k) {
  return cosl(XC_RYS_PI * ((long double)k + 0.5L) / n);
}

/* Coefficients by powers of the polynomial through values at Chebyshev's points. */
static void interpolate(const long double value[XC_RYS_TERMS], long double power[XC_RYS_TERMS]) {
  enum { N = XC_RYS_TERMS };
  long double below[N] = {0}, here[N] = {1};
  for (int j = 0; j < N; j++) power[j] = 0;
  for (int k = 0; k < N; k++) { /* here: T_k in powers */
    long double next[N] = {0}, term = 0;
    for (int j = 0; j < N; j++)
      term +=
          (k == 0 ? 1.0L : 2.0L) / N * value[j] * cosl(XC_RYS_PI * k * ((long double)j + 0.5L) / N);
    for (int j = 0; j < N; j++) power[j] += term * here[j];
    for (int j = 0; j + 1 < N; j++) next[j + 1] = (k == 0 ? 1 : 2) * here[j];
    for (int j = 0; j < N; j++) next[j] -= below[j], below[j] = here[j], here[j] = next[j];
  }
}

/* What values at the NODES of a wide interval are times at z in (-1, 1) of it: Lagrange's
 * polynomials by the barycentric formula. */
static void lagrange(long double z, long double share[NODES]) {
  long double sum = 0;
  for (int k = 0; k < NODES; k++) {
    const long double sine = sinl(XC_RYS_PI * ((long double)k + 0.5L) / NODES);
    share[k] = (k % 2 == 0 ? sine : -sine) / (z - chebyshev(NODES, k));
    sum += share[k];
  }
  for (int k = 0; k < NODES; k++) share[k] /= sum;
}

/** What values at the NODES are times in the terms of a short interval. */
typedef struct terms {
  long double of[NODES][XC_RYS_TERMS];
} terms;

/* Of short interval `at` of a wide one. */
static void set_terms(int at, terms *out) {
  long double share[XC_RYS_TERMS][NODES];
  for (int j = 0; j < XC_RYS_TERMS; j++) {
    const long double t = at + (chebyshev(XC_RYS_TERMS, j) + 1) / 2; /* in short intervals */
    lagrange(2 * t / (WIDE * XC_RYS_FINE) - 1, share[j]);
  }
  for (int k = 0; k < NODES; k++) {
    long double value[XC_RYS_TERMS];
    for (int j = 0; j < XC_RYS_TERMS; j++) value[j] = share[j][k];
    interpolate(value, out->of[k]);
  }
}

/* ---- tables */

/* Two numbers in a word. */
static double short_word(long double low, long double high) {
  const float two[2] = {(float)low, (float)high};
  double word;
  memcpy(&word, two, sizeof word);
  return word;
}

/* Terms of a root and its weight into their points, `apart` points apart. */
static void put(const long double x[XC_RYS_TERMS], const long double y[XC_RYS_TERMS], int apart,
                xc_rys_point *out) {
  for (int k = 0; k < XC_RYS_LONG; k++)
    out[k * apart] = (xc_rys_point){.x = (double)x[k], .y = (double)y[k]};
  for (int k = XC_RYS_LONG; k < XC_RYS_WORDS; k++) {
    const int at = XC_RYS_LONG + 2 * (k - XC_RYS_LONG);
    out[k * apart] =
        (xc_rys_point){.x = short_word(x[at], x[at + 1]), .y = short_word(y[at], y[at + 1])};
  }
}

static void fill_interval(const rules nodes[NODES], const terms *times, int interval) {
  for (int n = 1; n <= XC_RYS_MOST; n++)
    for (int r = 0; r < n; r++) {
      long double x[XC_RYS_TERMS] = {0}, y[XC_RYS_TERMS] = {0};
      for (int k = 0; k < NODES; k++)
        for (int j = 0; j < XC_RYS_TERMS; j++) {
          x[j] += nodes[k].root[n][r] * times->of[k][j];
          y[j] += nodes[k].weight[n][r] * times->of[k][j];
        }
      put(x, y, n, tables.of + XC_RYS_FIRST(n) + interval * XC_RYS_PITCH(n) + r);
    }
}

static void fill_wide(const measure *m, const terms times[WIDE * XC_RYS_FINE], int wide) {
  rules nodes[NODES];
  for (int k = 0; k < NODES; k++)
    rules_at(m, WIDE * (wide + (chebyshev(NODES, k) + 1) / 2), &nodes[k]);
  for (int i = 0; i < WIDE * XC_RYS_FINE; i++)
    fill_interval(nodes, &times[i], wide * WIDE * XC_RYS_FINE + i);
}

static void xc_rys_fill(void) {
  measure m;
  rules tail;
  terms times[WIDE * XC_RYS_FINE];
  set_measure(&m);
  for (int i = 0; i < WIDE * XC_RYS_FINE; i++) set_terms(i, &times[i]);
  for (int k = 0; k < XC_RYS_REACH / WIDE; k++) fill_wide(&m, times, k);
  half_line(&tail);
  for (int n = 1; n <= XC_RYS_MOST; n++)
    for (int r = 0; r < n; r++)
      tables.of[XC_RYS_FIRST(n) + XC_RYS_SIZE(n) - n + r] =
          (xc_rys_point){.x = (double)tail.root[n][r], .y = (double)tail.weight[n][r]};
}

const xc_rys_tables *xc_rys_tables_get(void) {
  call_once(&filled, xc_rys_fill);
  return &tables;
}

void xc_rys_exact(int n, double t, double *root, double *weight) {
  measure m;
  rules all;
  set_measure(&m);
  rules_at(&m, t, &all);
  for (int r = 0; r < n; r++)
    root[r] = (double)all.root[n][r], weight[r] = (double)all.weight[n][r];
}
