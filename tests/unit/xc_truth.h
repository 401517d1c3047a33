/* Exchange-correlation energies in quadruple precision, as the papers write them: truth_NAME for
 * each row of XC_PART_LIST; derivatives by differences. Nothing here is shared with xc_fn.h. Needs
 * libquadmath. */
#ifndef XC_TRUTH_H
#define XC_TRUTH_H

#include <quadmath.h>

typedef __float128 quad;

#define QUAD_PI M_PIq

/** na, nb, sigma_aa, sigma_ab, sigma_bb. */
enum { TRUTH_INPUTS = 5 };
typedef quad truth_fn(const quad in[TRUTH_INPUTS]);

/* Exchange of a spin that is not there is 0. */
static inline quad truth_slater_all(quad n) {
  return -0.75q * cbrtq(3 / QUAD_PI) * powq(n, 4.0q / 3);
}

static quad truth_slater(const quad in[TRUTH_INPUTS]) {
  return (truth_slater_all(2 * in[0]) + truth_slater_all(2 * in[1])) / 2;
}

static inline quad truth_pbe_x_all(quad n, quad sigma) {
  const quad kappa = 0.804q, mu = 0.2195149727645171q;
  if (n == 0) return 0;
  const quad s = sqrtq(sigma) / (2 * cbrtq(3 * QUAD_PI * QUAD_PI) * powq(n, 4.0q / 3));
  return truth_slater_all(n) * (1 + kappa - kappa / (1 + mu * s * s / kappa));
}

static quad truth_pbe_x(const quad in[TRUTH_INPUTS]) {
  return (truth_pbe_x_all(2 * in[0], 4 * in[2]) + truth_pbe_x_all(2 * in[1], 4 * in[4])) / 2;
}

static inline quad truth_b88_spin(quad n, quad sigma) {
  const quad beta = 0.0042q, n43 = powq(n, 4.0q / 3), x = n == 0 ? 0 : sqrtq(sigma) / n43;
  return -n43 * (1.5q * cbrtq(3 / (4 * QUAD_PI)) + beta * x * x / (1 + 6 * beta * x * asinhq(x)));
}

static quad truth_b88(const quad in[TRUTH_INPUTS]) {
  return truth_b88_spin(in[0], in[2]) + truth_b88_spin(in[1], in[4]);
}

static inline quad truth_rs(quad n) {
  return cbrtq(3 / (4 * QUAD_PI * n));
}

static inline quad truth_f_zeta(quad z) {
  return (powq(1 + z, 4.0q / 3) + powq(1 - z, 4.0q / 3) - 2) / (2 * cbrtq(2) - 2);
}

static inline quad truth_vwn_fit(quad a, quad b, quad c, quad x0, quad rs) {
  const quad x = sqrtq(rs), q = sqrtq(4 * c - b * b);
  const quad at = x * x + b * x + c, at0 = x0 * x0 + b * x0 + c, turn = atanq(q / (2 * x + b));
  return a * (logq(x * x / at) + 2 * b / q * turn -
              b * x0 / at0 * (logq((x - x0) * (x - x0) / at) + 2 * (b + 2 * x0) / q * turn));
}

static quad truth_vwn5(const quad in[TRUTH_INPUTS]) {
  const quad n = in[0] + in[1], z = (in[0] - in[1]) / n, rs = truth_rs(n), f = truth_f_zeta(z);
  const quad para = truth_vwn_fit(0.0310907q, 3.72744q, 12.9352q, -0.10498q, rs);
  const quad ferro = truth_vwn_fit(0.01554535q, 7.06042q, 18.0578q, -0.325q, rs);
  const quad stiff =
      truth_vwn_fit(-1 / (6 * QUAD_PI * QUAD_PI), 1.13107q, 13.0045q, -0.0047584q, rs);
  const quad curve = 4 / (9 * (cbrtq(2) - 1)), z4 = z * z * z * z;
  return n * (para + stiff * f / curve * (1 - z4) + (ferro - para) * f * z4);
}

static quad truth_vwn_rpa(const quad in[TRUTH_INPUTS]) {
  const quad n = in[0] + in[1], rs = truth_rs(n), f = truth_f_zeta((in[0] - in[1]) / n);
  return n * (truth_vwn_fit(0.0310907q, 13.0720q, 42.7198q, -0.409286q, rs) * (1 - f) +
              truth_vwn_fit(0.01554535q, 20.1231q, 101.578q, -0.743294q, rs) * f);
}

static inline quad truth_pw_fit(quad a, quad a1, quad b1, quad b2, quad b3, quad b4, quad rs) {
  const quad sum = b1 * sqrtq(rs) + b2 * rs + b3 * rs * sqrtq(rs) + b4 * rs * rs;
  return -2 * a * (1 + a1 * rs) * logq(1 + 1 / (2 * a * sum));
}

static inline quad truth_pw_eps(quad na, quad nb) {
  const quad n = na + nb, z = (na - nb) / n, rs = truth_rs(n), f = truth_f_zeta(z);
  const quad para = truth_pw_fit(0.0310907q, 0.21370q, 7.5957q, 3.5876q, 1.6382q, 0.49294q, rs);
  const quad ferro = truth_pw_fit(0.01554535q, 0.20548q, 14.1189q, 6.1977q, 3.3662q, 0.62517q, rs);
  const quad stiff = -truth_pw_fit(0.0168869q, 0.11125q, 10.357q, 3.6231q, 0.88026q, 0.49671q, rs);
  const quad z4 = z * z * z * z;
  return para + stiff * f / 1.709920934161365617563962776245q * (1 - z4) + (ferro - para) * f * z4;
}

static quad truth_pw92(const quad in[TRUTH_INPUTS]) {
  return (in[0] + in[1]) * truth_pw_eps(in[0], in[1]);
}

static quad truth_pbe_c(const quad in[TRUTH_INPUTS]) {
  const quad n = in[0] + in[1], z = (in[0] - in[1]) / n, eps = truth_pw_eps(in[0], in[1]);
  const quad phi = (powq(1 + z, 2.0q / 3) + powq(1 - z, 2.0q / 3)) / 2, phi3 = phi * phi * phi;
  const quad beta = 0.06672455060314922q, gamma = (1 - logq(2)) / (QUAD_PI * QUAD_PI);
  const quad ks = sqrtq(4 * cbrtq(3 * QUAD_PI * QUAD_PI * n) / QUAD_PI);
  const quad t2 = (in[2] + 2 * in[3] + in[4]) / powq(2 * phi * ks * n, 2);
  const quad a = beta / gamma / expm1q(-eps / (gamma * phi3)), y = a * t2;
  const quad h = gamma * phi3 * log1pq(beta / gamma * t2 * (1 + y) / (1 + y + y * y));
  return n * (eps + h);
}

/** Miehlich, Savin, Stoll, Preuss, Chem. Phys. Lett. 157 (1989) 200, eq. (2). */
static quad truth_lyp(const quad in[TRUTH_INPUTS]) {
  const quad a = 0.04918q, b = 0.132q, c = 0.2533q, d = 0.349q;
  const quad na = in[0], nb = in[1], n = na + nb, r = 1 / cbrtq(n);
  const quad saa = in[2], sbb = in[4], s = in[2] + 2 * in[3] + in[4];
  const quad cf = 0.3q * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3);
  const quad omega = expq(-c * r) / (1 + d * r) * powq(n, -11.0q / 3);
  const quad delta = c * r + d * r / (1 + d * r);
  const quad kinetic = powq(2, 11.0q / 3) * cf * (powq(na, 8.0q / 3) + powq(nb, 8.0q / 3));
  const quad inner = kinetic + (47.0q / 18 - 7 * delta / 18) * s -
                     (2.5q - delta / 18) * (saa + sbb) -
                     (delta - 11) / 9 * (na / n * saa + nb / n * sbb);
  return -4 * a / (1 + d * r) * na * nb / n -
         a * b * omega *
             (na * nb * inner - 2.0q / 3 * n * n * s + (2.0q / 3 * n * n - na * na) * sbb +
              (2.0q / 3 * n * n - nb * nb) * saa);
}

/**
 * Derivative by input k: central differences of steps h and 2 h, extrapolated; error near h^4.
 * Exchange is a sum over spins: the other spin is left out, for it may be larger by far.
 * Correlation depends on the sigmas smoothly through 0, so that their largest gives the step; LYP
 * is linear in them, so that a huge step is exact and its energy at sigma = 0 does not hide them.
 */
static inline quad truth_derivative(truth_fn *f, int exchange, const quad in[TRUTH_INPUTS], int k) {
  const quad relative = f == truth_lyp && k >= 2 ? 1e1000q : 1e-7q;
  quad at[TRUTH_INPUTS], d[2], size = in[k];
  for (int j = 0; j < TRUTH_INPUTS; j++) at[j] = in[j];
  if (exchange && (k == 0 || k == 2)) at[1] = at[4] = 0;
  if (exchange && (k == 1 || k == 4)) at[0] = at[2] = 0;
  if (!exchange && k >= 2) size = in[2] > in[4] ? in[2] : in[4];
  for (int step = 0; step < 2; step++) {
    const quad h = (1 + step) * relative * size, middle = at[k];
    at[k] = middle + h;
    d[step] = f(at);
    at[k] = middle - h;
    d[step] = (d[step] - f(at)) / (2 * h);
    at[k] = middle;
  }
  return (4 * d[0] - d[1]) / 3;
}

#endif
