/**
 * @file xc_triple.h
 * Three-centre integrals (P|ab) from Hermite Gaussians, for sockets and cards: xc_integrals.h says
 * what they are.
 *
 * A pair of primitives is a sum of Hermite Gaussians d^t/dX d^u/dY d^v/dZ exp(-p |r - X|^2). A
 * solid harmonic times a Gaussian of exponent c at C is the harmonic of the gradient,
 * S_lm(d/dX) / (-2c)^l, before the integral (Hobson's theorem), and S_lm(d/dX) f(R^2) =
 * S_lm(R) ((1/R) d/dR)^l f with R = X - C. So of a primitive pair and all primitives of P
 *
 *   (P_m|ab) = sum_tuv E_tuv^ab V_tuv,   V_tuv = d_tuv (S_lm(R) G_0(R)),
 *   G_n = ((1/R) d/dR)^n G_0 = sum_c weight s u^l (-2 alpha)^n F_l+n(alpha R^2),
 *   s = (p + c)^-1/2, u = p / (p + c), alpha = p c / (p + c),
 *   weight = 2 pi^5/2 coefficient / c;   1/p is part of E.
 *
 * Here derivatives are coefficients of Taylor's series, d_tuv / (t! u! v!): then a product of
 * functions is one of polynomials, and derivatives of G beyond those of the pair are not needed.
 * t! u! v! is part of E. Contraction of P ends with G_n, as its series is linear in them.
 *
 * A monomial of P (Cartesian shells) is a sum of r^2j S_lm, where (twice for j = 2)
 *   r^2 S_l exp(-c r^2) = (nabla^2 / 4c^2 + (2l + 3) / 2c) S_l exp(-c r^2)
 * and nabla^2 / |r - r'| is a delta function: G_n has a part with exp(-alpha R^2) then.
 *
 * Loops have bounds that are constants at the place of the call on a card: their arrays are
 * registers there. xc_hermite_at numbers coefficients, of degree at most L of the pair.
 *
 * Sources: Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory, 9.5, 9.9.18-20 (the
 * recursion, here for Taylor's coefficients) and 6.4; Hobson's theorem and the radial derivatives:
 * E. J. Weniger, E. O. Steinborn, J. Math. Phys. 24 (1983) 2553.
 */
#pragma once

#include "xc_boys.h"
#include "xc_expansion.h"
#include "xc_hermite.h"

enum {
  XC_TRIPLE_L = 2 * XC_MAX_L, /**< degree of a pair */
  XC_TRIPLE_H = XC_HERMITES,  /**< Hermite functions of that degree or less */
  XC_TRIPLE_TERMS = 6         /**< monomials of a harmonic at most */
};

/** A function as a sum of monomials. */
typedef struct xc_polynomial {
  double c[XC_TRIPLE_TERMS];
  int8_t power[XC_TRIPLE_TERMS][3];
  int8_t n;
} xc_polynomial;

/** Tables, plain data for sockets and cards. */
typedef struct xc_triple_tables {
  double boys[XC_BOYS_NODES][XC_BOYS_ROW];
  xc_polynomial of[2][XC_MAX_L + 1][XC_CARTESIANS(XC_MAX_L)]; /**< [spherical][l][function] */
  double factor[XC_TRIPLE_H];                                 /**< t! u! v! */
  int8_t hermite[XC_TRIPLE_H][3];                             /**< t, u, v of a number */
  /** [l][monomial][.]: a monomial's parts r^2j S_(l-2j)m, j ascending, m within j */
  double parts[XC_MAX_L + 1][XC_CARTESIANS(XC_MAX_L)][XC_CARTESIANS(XC_MAX_L)];
} xc_triple_tables;

TSL_C_BEGIN
/** The tables, filled at the first call; any thread. */
const xc_triple_tables *xc_triple_tables_get(void);
TSL_C_END

/* ------------------------------------------------------------------- the pair */

/** A pair of primitives: exponent and centre of the product, E along the axes. */
typedef struct xc_triple_pair {
  double p, at[3];
  double factor; /**< both coefficients / p */
  xc_expansion e[3];
} xc_triple_pair;

/** Exponent, centre and factor of primitives i of a and j of b. */
TSL_FN void xc_triple_set(const xc_shell *a, const xc_shell *b, int i, int j, xc_triple_pair *q) {
  const double alpha = a->exponent[i], beta = b->exponent[j];
  q->p = alpha + beta;
  q->factor = a->coefficient[i] * b->coefficient[j] / q->p;
  for (int x = 0; x < 3; x++) q->at[x] = (alpha * a->at[x] + beta * b->at[x]) / q->p;
}

/** And E along an axis. */
TSL_FN void xc_triple_expand(const xc_shell *a, const xc_shell *b, int i, int j, int x,
                             xc_triple_pair *q) {
  const double ab = a->at[x] - b->at[x];
  xc_expansion_fill(&q->e[x], a->l, b->l, q->at[x] - a->at[x], q->at[x] - b->at[x], q->p,
                    exp(-a->exponent[i] * b->exponent[j] / q->p * ab * ab));
}

/** E_tuv^ab t! u! v! / p of two functions. @param[in] h  number of (t, u, v) */
TSL_FN double xc_triple_element(const xc_triple_tables *tables, const xc_triple_pair *q,
                                const xc_polynomial *a, const xc_polynomial *b, int h) {
  const int8_t *d = tables->hermite[h];
  double sum = 0;
  for (int m = 0; m < a->n; m++)
    for (int n = 0; n < b->n; n++) {
      const int8_t *i = a->power[m], *j = b->power[n];
      if (d[0] > i[0] + j[0] || d[1] > i[1] + j[1] || d[2] > i[2] + j[2]) continue;
      sum += a->c[m] * b->c[n] * q->e[0].of[i[0]][j[0]][d[0]] * q->e[1].of[i[1]][j[1]][d[1]] *
             q->e[2].of[i[2]][j[2]][d[2]];
    }
  return q->factor * tables->factor[h] * sum;
}

/**
 * E along an axis, of powers i and j, when A moves and the centre of the product stays: with alpha
 * the exponent at A, d/dA = alpha / p d/dP + this for t <= i + j, by 2 alpha (i + 1) - i (i - 1).
 * @param[in] pa  P - A
 */
TSL_FN double xc_triple_turned(const xc_expansion *e, int i, int j, int t, double alpha,
                               double pa) {
  double sum = pa * e->of[i][j][t];
  if (t < i + j) sum += (t + 1) * e->of[i][j][t + 1];
  sum *= 2 * alpha;
  if (i > 0 && t < i + j) sum -= i * e->of[i - 1][j][t];
  return sum;
}

/* ------------------------------------------------------------- the fitting shell */

/** A primitive of a part r^2j S_lm of P. */
typedef struct xc_triple_primitive {
  double c;      /**< exponent */
  double weight; /**< 2 pi^5/2 coefficient / (c (2c)^j) */
} xc_triple_primitive;

/** Set one from shell primitive i, for power j. */
TSL_FN xc_triple_primitive xc_triple_weight(double exponent, double coefficient, int j) {
  xc_triple_primitive k = {exponent, 34.986836655249725693 * coefficient / exponent};
  for (int n = 0; n < j; n++) k.weight *= 0.5 / exponent;
  return k;
}

/**
 * Add a primitive to G_0..G_L.
 * @param[in] j   power of r^2; l = 0 when it is 2
 * @param[in] r2  R^2
 */
TSL_FN void xc_triple_radial(int L, int l, int j, double p, xc_triple_primitive k, double r2,
                             const double *boys, double *g) {
  double f[XC_BOYS_L + 1];
  const double s2 = 1 / (p + k.c), u = p * s2, alpha = k.c * u, t = alpha * r2;
  const double decay = xc_boys_functions(boys, l, l + L, t, f);
  const double whole = j == 0 ? 1 : j == 1 ? 2 * l + 3 : 15;
  double scale = k.weight * sqrt(s2);
  TSL_UNROLL
  for (int n = 0; n < l; n++) scale *= u;
  TSL_UNROLL
  for (int n = 0; n <= L; n++) {
    double value = f[n];
    if (j > 0) {
      const double part = j == 1 ? u : 2 * u * (5 - 1.5 * u + u * (t - n));
      value = whole * value - part * decay;
    }
    g[n] = fma(scale, value, g[n]);
    scale *= -2 * alpha;
  }
}

/** Coefficient (t, u, v) of one order from those of lower degree of the order above it. */
TSL_FN void xc_triple_step(const double r[3], int t, int u, int v, double *out) {
  const int i = t > 0, j = !i && u > 0, k = !i && !j, most = i ? t : j ? u : v;
  double value = r[i ? 0 : j ? 1 : 2] * out[xc_hermite_at(t - i, u - j, v - k)];
  if (most > 1)
    value = (value + out[xc_hermite_at(t - 2 * i, u - 2 * j, v - 2 * k)]) * (1.0 / most);
  out[xc_hermite_at(t, u, v)] = value;
}

/** Taylor's coefficients of G_0 at R to degree L: order n = L..0, each from the order above it.
 *  @param[in] g  [L + 1] */
TSL_FN void xc_triple_taylor(int L, const double r[3], const double *g, double *out) {
  out[0] = g[L];
  TSL_UNROLL
  for (int n = L - 1; n >= 0; n--) {
    TSL_UNROLL
    for (int d = L - n; d > 0; d--) {
      TSL_UNROLL
      for (int t = 0; t <= d; t++) {
        TSL_UNROLL
        for (int u = 0; u <= d - t; u++) xc_triple_step(r, t, u, d - t - u, out);
      }
    }
    out[0] = g[n];
  }
}

/* Monomials (coefficient, powers) of the harmonics, in the order of xc_functions.h. */
#define XC_SQRT_3_4 0.86602540378443864676
#define XC_SQRT_3 1.7320508075688772935
#define XC_SQRT_5_8 0.79056941504209483300
#define XC_SQRT_15 3.8729833462074168852
#define XC_SQRT_3_8 0.61237243569579452455
#define XC_SQRT_35_4 2.9580398915498080213
#define XC_SQRT_35_8 2.0916500663351888699
#define XC_SQRT_5_4 1.1180339887498948482

#define XC_HARMONIC_0(T) T(1, 0, 0, 0)
#define XC_HARMONIC_1(T) T(1, 0, 1, 0)
#define XC_HARMONIC_2(T) T(1, 0, 0, 1)
#define XC_HARMONIC_3(T) T(1, 1, 0, 0)
#define XC_HARMONIC_4(T) T(XC_SQRT_3, 1, 1, 0)
#define XC_HARMONIC_5(T) T(XC_SQRT_3, 0, 1, 1)
#define XC_HARMONIC_6(T) T(1, 0, 0, 2) T(-0.5, 2, 0, 0) T(-0.5, 0, 2, 0)
#define XC_HARMONIC_7(T) T(XC_SQRT_3, 1, 0, 1)
#define XC_HARMONIC_8(T) T(XC_SQRT_3_4, 2, 0, 0) T(-XC_SQRT_3_4, 0, 2, 0)
#define XC_HARMONIC_9(T) T(3 * XC_SQRT_5_8, 2, 1, 0) T(-XC_SQRT_5_8, 0, 3, 0)
#define XC_HARMONIC_10(T) T(XC_SQRT_15, 1, 1, 1)
#define XC_HARMONIC_11(T) \
  T(4 * XC_SQRT_3_8, 0, 1, 2) T(-XC_SQRT_3_8, 2, 1, 0) T(-XC_SQRT_3_8, 0, 3, 0)
#define XC_HARMONIC_12(T) T(1, 0, 0, 3) T(-1.5, 2, 0, 1) T(-1.5, 0, 2, 1)
#define XC_HARMONIC_13(T) \
  T(4 * XC_SQRT_3_8, 1, 0, 2) T(-XC_SQRT_3_8, 3, 0, 0) T(-XC_SQRT_3_8, 1, 2, 0)
#define XC_HARMONIC_14(T) T(0.5 * XC_SQRT_15, 2, 0, 1) T(-0.5 * XC_SQRT_15, 0, 2, 1)
#define XC_HARMONIC_15(T) T(XC_SQRT_5_8, 3, 0, 0) T(-3 * XC_SQRT_5_8, 1, 2, 0)
#define XC_HARMONIC_16(T) T(XC_SQRT_35_4, 3, 1, 0) T(-XC_SQRT_35_4, 1, 3, 0)
#define XC_HARMONIC_17(T) T(3 * XC_SQRT_35_8, 2, 1, 1) T(-XC_SQRT_35_8, 0, 3, 1)
#define XC_HARMONIC_18(T) \
  T(6 * XC_SQRT_5_4, 1, 1, 2) T(-XC_SQRT_5_4, 3, 1, 0) T(-XC_SQRT_5_4, 1, 3, 0)
#define XC_HARMONIC_19(T) \
  T(4 * XC_SQRT_5_8, 0, 1, 3) T(-3 * XC_SQRT_5_8, 2, 1, 1) T(-3 * XC_SQRT_5_8, 0, 3, 1)
#define XC_HARMONIC_20(T) \
  T(1, 0, 0, 4) T(-3, 2, 0, 2) T(-3, 0, 2, 2) T(0.375, 4, 0, 0) T(0.75, 2, 2, 0) T(0.375, 0, 4, 0)
#define XC_HARMONIC_21(T) \
  T(4 * XC_SQRT_5_8, 1, 0, 3) T(-3 * XC_SQRT_5_8, 3, 0, 1) T(-3 * XC_SQRT_5_8, 1, 2, 1)
#define XC_HARMONIC_22(T)     \
  T(3 * XC_SQRT_5_4, 2, 0, 2) \
  T(-3 * XC_SQRT_5_4, 0, 2, 2) T(-0.5 * XC_SQRT_5_4, 4, 0, 0) T(0.5 * XC_SQRT_5_4, 0, 4, 0)
#define XC_HARMONIC_23(T) T(XC_SQRT_35_8, 3, 0, 1) T(-3 * XC_SQRT_35_8, 1, 2, 1)
#define XC_HARMONIC_24(T) \
  T(0.25 * XC_SQRT_35_4, 4, 0, 0) T(-1.5 * XC_SQRT_35_4, 2, 2, 0) T(0.25 * XC_SQRT_35_4, 0, 4, 0)

/** a over i. */
TSL_FN int xc_triple_binomial(int a, int i) {
  return i == 0 || i == a ? 1 : a == 4 && i == 2 ? 6 : a;
}

/* c X^a Y^b Z^e; powers below 0 are asked for where they are not used. */
TSL_FN double xc_triple_monomial(double c, double x[3][XC_MAX_L + 1], int a, int b, int e) {
  return c * (x[0][a < 0 ? 0 : a] * (x[1][b < 0 ? 0 : b] * x[2][e < 0 ? 0 : e]));
}

/* Coefficient (i, j, k) of c (X + x)^a (Y + y)^b (Z + z)^e. */
#define XC_TERM_(c, a, b, e)                                                                       \
  if (i <= (a) && j <= (b) && k <= (e))                                                            \
    sum += xc_triple_monomial((c) * (double)(xc_triple_binomial(a, i) * xc_triple_binomial(b, j) * \
                                             xc_triple_binomial(e, k)),                            \
                              x, (a)-i, (b)-j, (e)-k);
/* All coefficients of harmonic number m. */
#define XC_CASE_(m)                                                  \
  case m: {                                                          \
    TSL_UNROLL                                                       \
    for (int i = 0; i <= top; i++) {                                 \
      TSL_UNROLL                                                     \
      for (int j = 0; j <= top - i; j++) {                           \
        TSL_UNROLL                                                   \
        for (int k = 0; k <= top - i - j; k++) {                     \
          double sum = 0;                                            \
          XC_HARMONIC_##m(XC_TERM_) d[xc_hermite_at(i, j, k)] = sum; \
        }                                                            \
      }                                                              \
    }                                                                \
    break;                                                           \
  }

/** Taylor's coefficients of S_lm at R to degree top <= l. @param[in] m  0..2l */
TSL_FN void xc_triple_harmonic(int l, int m, int top, const double r[3], double *d) {
  double x[3][XC_MAX_L + 1];
  TSL_UNROLL
  for (int a = 0; a < 3; a++) {
    x[a][0] = 1;
    TSL_UNROLL
    for (int n = 0; n < XC_MAX_L; n++) x[a][n + 1] = x[a][n] * r[a];
  }
  if (l == 0)
    d[0] = 1;
  else if (l == 1)
    switch (m + 1) { XC_CASE_(1) XC_CASE_(2) XC_CASE_(3) }
  else if (l == 2)
    switch (m + 4) { XC_CASE_(4) XC_CASE_(5) XC_CASE_(6) XC_CASE_(7) XC_CASE_(8) }
  else if (l == 3)
    switch (m + 9) {
      XC_CASE_(9)
      XC_CASE_(10)
      XC_CASE_(11) XC_CASE_(12) XC_CASE_(13) XC_CASE_(14) XC_CASE_(15)
    }
  else
    switch (m + 16) {
      XC_CASE_(16)
      XC_CASE_(17)
      XC_CASE_(18) XC_CASE_(19) XC_CASE_(20) XC_CASE_(21) XC_CASE_(22) XC_CASE_(23) XC_CASE_(24)
    }
}

/** Taylor's coefficients at R to degree top <= l of a polynomial of monomials of degree l.
 *  @param[in] q  [monomials], as xc_molecule.h numbers them */
TSL_FN void xc_triple_shift(int l, int top, const double *q, const double r[3], double *d) {
  double x[3][XC_MAX_L + 1];
  TSL_UNROLL
  for (int a = 0; a < 3; a++) {
    x[a][0] = 1;
    TSL_UNROLL
    for (int n = 0; n < l; n++) x[a][n + 1] = x[a][n] * r[a];
  }
  TSL_UNROLL
  for (int i = 0; i <= top; i++) {
    TSL_UNROLL
    for (int j = 0; j <= top - i; j++) {
      TSL_UNROLL
      for (int k = 0; k <= top - i - j; k++) {
        double sum = 0;
        TSL_UNROLL
        for (int b = j; b <= l - i - k; b++) {
          TSL_UNROLL
          for (int e = k; e <= l - i - b; e++) {
            const int a = l - b - e;
            const int times =
                xc_triple_binomial(a, i) * xc_triple_binomial(b, j) * xc_triple_binomial(e, k);
            sum = fma(q[xc_cartesian_at(b, e)] * times, x[0][a - i] * (x[1][b - j] * x[2][e - k]),
                      sum);
          }
        }
        d[xc_hermite_at(i, j, k)] = sum;
      }
    }
  }
}

/** Coefficient (t, u, w) of a product of two series, d of degree top. */
TSL_FN double xc_triple_convolve(int top, int t, int u, int w, const double *d, const double *g) {
  double sum = 0;
  TSL_UNROLL
  for (int i = 0; i <= (t < top ? t : top); i++) {
    TSL_UNROLL
    for (int j = 0; j <= (u < top - i ? u : top - i); j++) {
      TSL_UNROLL
      for (int k = 0; k <= (w < top - i - j ? w : top - i - j); k++)
        sum = fma(d[xc_hermite_at(i, j, k)], g[xc_hermite_at(t - i, u - j, w - k)], sum);
    }
  }
  return sum;
}

/** V: the product of two series to degree L. @param[in] d  of degree top <= L */
TSL_FN void xc_triple_product(int L, int top, const double *d, const double *g, double *v) {
  TSL_UNROLL
  for (int t = 0; t <= L; t++) {
    TSL_UNROLL
    for (int u = 0; u <= L - t; u++) {
      TSL_UNROLL
      for (int w = 0; w <= L - t - u; w++)
        v[xc_hermite_at(t, u, w)] = xc_triple_convolve(top, t, u, w, d, g);
    }
  }
}
