/* Exchange-correlation energies in quadruple precision, as the papers write them: truth_NAME for
 * each row of XC_PART_LIST; derivatives by differences. Nothing here is shared with xc_fn.h. Needs
 * libquadmath. */
#pragma once

#include <quadmath.h>

typedef __float128 quad;

#define QUAD_PI M_PIq

/** na, nb, sigma_aa, sigma_ab, sigma_bb, tau_a, tau_b. */
enum { TRUTH_INPUTS = 7 };
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

/** Tao, Perdew, Staroverov, Scuseria, PRL 91 (2003) 146401, eq. (5) to (10), of both spins. */
static inline quad truth_tpss_x_all(quad n, quad sigma, quad tau) {
  const quad b = 0.40q, c = 1.59096q, e = 1.537q, kappa = 0.804q, mu = 0.21951q;
  if (n == 0) return 0;
  const quad p = sigma / (4 * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 8.0q / 3));
  const quad weizsaecker = sigma / (8 * n), z = weizsaecker / tau, z2 = z * z;
  const quad uniform = 0.3q * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 5.0q / 3);
  const quad a = (tau - weizsaecker) / uniform;
  const quad qb = 9.0q / 20 * (a - 1) / sqrtq(1 + b * a * (a - 1)) + 2 * p / 3;
  const quad over = (10.0q / 81 + c * z2 / powq(1 + z2, 2)) * p + 146.0q / 2025 * qb * qb -
                    73.0q / 405 * qb * sqrtq(0.5q * powq(0.6q * z, 2) + 0.5q * p * p) +
                    powq(10.0q / 81, 2) / kappa * p * p +
                    2 * sqrtq(e) * 10.0q / 81 * powq(0.6q * z, 2) + e * mu * p * p * p;
  const quad x = over / powq(1 + sqrtq(e) * p, 2);
  return truth_slater_all(n) * (1 + kappa - kappa / (1 + x / kappa));
}

static quad truth_tpss_x(const quad in[TRUTH_INPUTS]) {
  return (truth_tpss_x_all(2 * in[0], 4 * in[2], 2 * in[5]) +
          truth_tpss_x_all(2 * in[1], 4 * in[4], 2 * in[6])) /
         2;
}

/** PBE's energy per particle. */
static inline quad truth_pbe_eps(quad na, quad nb, quad sigma) {
  const quad in[TRUTH_INPUTS] = {na, nb, sigma};
  return truth_pbe_c(in) / (na + nb);
}

/** Likewise, eq. (11) to (14). */
static quad truth_tpss_c(const quad in[TRUTH_INPUTS]) {
  const quad na = in[0], nb = in[1], n = na + nb, z = (na - nb) / n, z2 = z * z;
  const quad sigma = in[2] + 2 * in[3] + in[4], w = fminq(sigma / (8 * n * (in[5] + in[6])), 1);
  const quad g = truth_pbe_eps(na, nb, sigma);
  const quad q = na / n * fmaxq(truth_pbe_eps(na, 0, in[2]), g) +
                 nb / n * fmaxq(truth_pbe_eps(0, nb, in[4]), g);
  const quad slope2 = 4 * (nb * nb * in[2] - 2 * na * nb * in[3] + na * na * in[4]) / powq(n, 4);
  const quad xi2 = slope2 / (4 * powq(3 * QUAD_PI * QUAD_PI * n, 2.0q / 3));
  const quad c0 = 0.53q + 0.87q * z2 + 0.50q * z2 * z2 + 2.26q * z2 * z2 * z2;
  const quad open = (powq(1 + z, -4.0q / 3) + powq(1 - z, -4.0q / 3)) / 2;
  const quad c = c0 / powq(1 + xi2 * open, 4);
  const quad e = g * (1 + c * w * w) - (1 + c) * w * w * q;
  return n * e * (1 + 2.8q * e * w * w * w);
}

static inline quad truth_switch(quad a, quad c1, quad c2, quad d, const quad f[8]) {
  quad sum = 0;
  if (a <= 0) return expq(-c1 * a / (1 - a));
  if (a > 2.5q) return -d * expq(c2 / (1 - a));
  for (int k = 7; k >= 0; k--) sum = sum * a + f[k];
  return sum;
}

static inline quad truth_switch_slope(const quad f[8]) {
  quad sum = 0;
  for (int k = 1; k < 8; k++) sum += k * f[k];
  return sum;
}

/** Furness, Kaplan, Ning, Perdew, Sun, J. Phys. Chem. Lett. 11 (2020) 8208, of both spins. */
static inline quad truth_r2scan_x_all(quad n, quad sigma, quad tau) {
  static const quad f[8] = {1,
                            -0.667q,
                            -0.4445555q,
                            -0.663086601049q,
                            1.451297044490q,
                            -0.887998041597q,
                            0.234528941479q,
                            -0.023185843322q};
  const quad eta = 0.001q, k1 = 0.065q, h0 = 1.174q;
  if (n == 0) return 0;
  const quad p = sigma / (4 * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 8.0q / 3));
  const quad uniform = 0.3q * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 5.0q / 3);
  const quad weizsaecker = sigma / (8 * n);
  const quad a = (tau - weizsaecker) / (uniform + eta * weizsaecker);
  const quad second = -truth_switch_slope(f) * (1 - h0), front = 20.0q / 27 + eta * 5 / 3;
  const quad x = (front * second * expq(-p * p / powq(0.361q, 4)) + 10.0q / 81) * p;
  const quad h1 = 1 + k1 - k1 / (1 + x / k1), g = 1 - expq(-4.9479q / sqrtq(sqrtq(p)));
  return truth_slater_all(n) * (h1 + truth_switch(a, 0.667q, 0.8q, 1.24q, f) * (h0 - h1)) * g;
}

static quad truth_r2scan_x(const quad in[TRUTH_INPUTS]) {
  return (truth_r2scan_x_all(2 * in[0], 4 * in[2], 2 * in[5]) +
          truth_r2scan_x_all(2 * in[1], 4 * in[4], 2 * in[6])) /
         2;
}

/** The limit without gradient and alpha = 0 of SCAN, and PW92, at r_s and zeta. */
static inline quad truth_scan_lda(quad rs) {
  return -0.0285764q / (1 + 0.0889q * sqrtq(rs) + 0.125541q * rs);
}

static inline quad truth_scan_gc(quad z) {
  const quad dx = (powq(1 + z, 4.0q / 3) + powq(1 - z, 4.0q / 3)) / 2;
  return (1 - 2.363q * (dx - 1)) * (1 - powq(z, 12));
}

static inline quad truth_pw_at(quad rs, quad z) {
  const quad n = 3 / (4 * QUAD_PI * rs * rs * rs);
  return truth_pw_eps(n * (1 + z) / 2, n * (1 - z) / 2);
}

/** Derivatives by r_s: differences of steps h and 2 h, extrapolated. */
static inline quad truth_gap(quad rs, quad z) {
  return truth_scan_lda(rs) * truth_scan_gc(z) - truth_pw_at(rs, z);
}

static inline quad truth_gap_slope(quad rs, quad z) {
  const quad h = 1e-6q * rs;
  const quad one = (truth_gap(rs + h, z) - truth_gap(rs - h, z)) / (2 * h);
  const quad two = (truth_gap(rs + 2 * h, z) - truth_gap(rs - 2 * h, z)) / (4 * h);
  return (4 * one - two) / 3;
}

/** Likewise, its supplement, eq. (S24) to (S41). */
static quad truth_r2scan_c(const quad in[TRUTH_INPUTS]) {
  static const quad f[8] = {1,
                            -0.64q,
                            -0.4352q,
                            -1.535685604549q,
                            3.061560252175q,
                            -1.915710236206q,
                            0.516884468372q,
                            -0.051848879792q};
  const quad na = in[0], nb = in[1], n = na + nb, z = (na - nb) / n, rs = truth_rs(n);
  const quad sigma = in[2] + 2 * in[3] + in[4], eta = 0.001q, b1 = 0.0285764q;
  const quad p = sigma / (4 * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 8.0q / 3));
  const quad phi = (powq(1 + z, 2.0q / 3) + powq(1 - z, 2.0q / 3)) / 2;
  const quad ds = (powq(1 + z, 5.0q / 3) + powq(1 - z, 5.0q / 3)) / 2;
  const quad uniform = 0.3q * powq(3 * QUAD_PI * QUAD_PI, 2.0q / 3) * powq(n, 5.0q / 3);
  const quad a = (in[5] + in[6] - sigma / (8 * n)) / (uniform * ds + eta * sigma / (8 * n));
  const quad gamma = (1 - logq(2)) / (QUAD_PI * QUAD_PI), scale = gamma * phi * phi * phi;
  const quad lda = truth_scan_lda(rs), pw = truth_pw_eps(na, nb);
  const quad w0 = expm1q(-lda / b1), g0 = powq(1 + 4 * 0.12802585262625815q * p, -0.25q);
  const quad e0 = (lda + b1 * log1pq(w0 * (1 - g0))) * truth_scan_gc(z);
  const quad w1 = expm1q(-pw / scale);
  const quad beta = 0.06672455060314922q * (1 + 0.1q * rs) / (1 + 0.1778q * rs);
  const quad t2 = powq(3 * QUAD_PI * QUAD_PI / 16, 2.0q / 3) * p / (phi * phi * rs);
  const quad dy = truth_switch_slope(f) / (27 * scale * ds * w1) *
                  (20 * rs * truth_gap_slope(rs, z) - 45 * eta * (lda * truth_scan_gc(z) - pw)) *
                  p * expq(-p * p / powq(0.361q, 4));
  const quad g1 = powq(1 + 4 * (beta * t2 / (gamma * w1) - dy), -0.25q);
  const quad e1 = pw + scale * log1pq(w1 * (1 - g1));
  return n * (e1 + truth_switch(a, 0.64q, 1.5q, 0.7q, f) * (e0 - e1));
}

/**
 * Derivative by input k: central differences of steps h and 2 h, extrapolated; error near h^4.
 * Exchange is a sum over spins: the other spin is left out, for it may be larger by far.
 * Correlation depends on the sigmas smoothly through 0, so that their largest gives the step; LYP
 * is linear in them, so that a huge step is exact and its energy at sigma = 0 does not hide them.
 */
static inline quad truth_derivative(truth_fn *f, int exchange, const quad in[TRUTH_INPUTS], int k) {
  const quad near = f == truth_tpss_c ? 1e-12q : 1e-7q; /* its tau_W/tau has a bend at 1 */
  const quad relative = f == truth_lyp && k >= 2 ? 1e1000q : near;
  quad at[TRUTH_INPUTS], d[2], size = in[k];
  for (int j = 0; j < TRUTH_INPUTS; j++) at[j] = in[j];
  if (exchange && (k == 0 || k == 2 || k == 5)) at[1] = at[4] = at[6] = 0;
  if (exchange && (k == 1 || k == 4 || k == 6)) at[0] = at[2] = at[5] = 0;
  if (!exchange && k >= 2 && k < 5) size = in[2] > in[4] ? in[2] : in[4];
  if (f == truth_tpss_c && k >= 2 && k < 5) /* sees the gradient of each spin alone, too */
    size = k == 2 ? in[2] : k == 4 ? in[4] : sqrtq(in[2] * in[4]);
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
