/**
 * @file xc_fn.h
 * Exchange-correlation formulas: one source for sockets, cards and tests.
 *
 * A point has the density (electrons/bohr^3), sigma, the square of its gradient, and tau, the
 * density of the orbitals' kinetic energy (sum of |grad psi|^2 / 2); out come the energy per volume
 * e = n eps(n, sigma, tau) (hartree / bohr^3) and its derivatives:
 *
 *   xc_rks_*  n, sigma, tau                     -> e, v = de/dn, s = de/dsigma, t = de/dtau
 *   xc_uks_*  n_a, n_b, sigma_aa, _ab, _bb,     -> e, a, b = de/dn_a, _b, aa, ab, bb = de/dsigma..,
 *             tau_a, tau_b                         ta, tb = de/dtau_a, _b
 *
 * which are libxc's conventions but for e, where libxc gives e / n. A functional is a mix of parts
 * (xc_parts.h); a mix known when compiling leaves no trace of the other parts.
 *
 * Arithmetic. exp, log, cube roots and arc tangent are polynomials of our own (xc_fn_math_body.h):
 * no branch, no call, so loops over points become vector code, and the same bits come out of every
 * device with a fused multiply-add (x86-64-v3 and above, cards). Without it, products and sums
 * round twice; results then differ in the last places.
 *
 * Forms. Where textbook forms cancel, equivalent ones are used:
 *  - VWN: x deps/dx = 2 A (c (x - x0) - b x0 x) / (X(x) (x - x0)), all terms of one sign.
 *  - PBE correlation: eps + H = gamma phi^3 log(1 - w / ((1 + w) Y)) with y = A t^2,
 *    w = exp(-eps/(gamma phi^3)) - 1, Y = 1 + y + y^2; the common form takes nearly equal numbers
 *    from each other at large gradients.
 *  - TPSS exchange: numerator and denominator of x are divided by p^2, so nothing overflows.
 *  - r2SCAN correlation: eps + H as PBE's, of the limits alpha = 0 and 1 alike.
 *  - LYP: linear in the sigmas with dimensionless coefficients (B. Miehlich, A. Savin, H. Stoll,
 *    H. Preuss, Chem. Phys. Lett. 157 (1989) 200), so that nothing overflows.
 *
 * Thresholds are those of libxc 5.2, part by part, for double:
 *  - a part is 0 where n_a + n_b is below its density threshold (1e-15; LYP 1e-14, PBE correlation
 *    1e-12, r2SCAN exchange 1e-11), exchange of a spin also where that spin's density is not above
 *    it;
 *  - correlation sees max(n_spin, threshold); all see max(sigma_.., threshold^(8/3)) and sigma_ab
 *    within +-(sigma_aa + sigma_bb)/2. Negative densities and sigmas (noise) are covered by that;
 *  - meta-GGAs see tau of at least 1e-20 (of a spin, restricted: of both), and sigma_ss of at most
 *    8 n_s tau_s, where the curvature of the Fermi hole is 0 (libxc's default);
 *  - 1 +- zeta is at least 2^-52, with derivative 0 there, in f(zeta) and phi(zeta). (libxc bounds
 *    it in exchange and LYP too, where nothing diverges; its derivatives by the values of a spin
 *    that is smaller by 10^15 differ from these.)
 * For float the density threshold is 1e-10 for all parts, that of 1 +- zeta 1e-18. NaN stays NaN.
 *
 * Sources: Slater: P. A. M. Dirac, Proc. Camb. Phil. Soc. 26 (1930) 376. VWN: S. H. Vosko, L. Wilk,
 * M. Nusair, Can. J. Phys. 58 (1980) 1200, fit V and the RPA fit. PW92: J. P. Perdew, Y. Wang, PRB
 * 45 (1992) 13244, with f''(0) in full. PBE: J. P. Perdew, K. Burke, M. Ernzerhof, PRL 77 (1996)
 * 3865. B88: A. D. Becke, PRA 38 (1988) 3098. LYP: C. Lee, W. Yang, R. G. Parr, PRB 37 (1988) 785.
 * TPSS: J. Tao, J. P. Perdew, V. N. Staroverov, G. E. Scuseria, PRL 91 (2003) 146401. r2SCAN: J. W.
 * Furness, A. D. Kaplan, J. Ning, J. P. Perdew, J. Sun, J. Phys. Chem. Lett. 11 (2020) 8208 and its
 * supplement (S..), 9248.
 */
#pragma once

#include "fn.h"
#include "xc_fn_numbers.h"
#include "xc_parts.h"

#include <stdint.h>
#include <string.h>

/* Lee, Yang and Parr's numbers. */
#define XC_LYP_A 0.04918
#define XC_LYP_B 0.132
#define XC_LYP_C 0.2533
#define XC_LYP_D 0.349

#if defined __FMA__ || defined __CUDACC__ || defined __aarch64__
#define FMA_f64(a, b, c) fma(a, b, c)
#define FMA_f32(a, b, c) fmaf(a, b, c)
#else /* a call for each would be slower by far; nothing below needs the single rounding */
#define FMA_f64(a, b, c) ((a) * (b) + (c))
#define FMA_f32(a, b, c) ((a) * (b) + (c))
#endif

/* Guess of x^(-1/3) from the upper bits: bits / -3 + constant, computed as a real number. */
TSL_FN double xc_root_guess_f64(double x) {
  uint64_t bits;
  double y;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits >> 32) | UINT64_C(0x4330000000000000);
  memcpy(&y, &bits, sizeof y);
  y = FMA_f64(y - 0x1p52, -1.0 / 3, 0x1.8p52 + 0x553ef0ff);
  memcpy(&bits, &y, sizeof bits);
  bits <<= 32;
  memcpy(&y, &bits, sizeof y);
  return y + (x - x);
}

TSL_FN float xc_root_guess_f32(float x) {
  int32_t bits;
  float y;
  memcpy(&bits, &x, sizeof bits);
  bits = (int32_t)(1419967488.0f - (float)bits * (1.0f / 3));
  memcpy(&y, &bits, sizeof y);
  return y + (x - x);
}

/* Types of the bodies, for the type at hand. */
#define XC_RKS XC_(xc_rks)
#define XC_UKS XC_(xc_uks)
#define XC_LEAST XC_(xc_least)
#define XC_DENSITY XC_(xc_density)
#define XC_SPINS XC_(xc_spins)
#define XC_ENERGY XC_(xc_energy)
#define XC_PBE_LOG XC_(xc_pbe_log)
#define XC_LYP XC_(xc_lyp)
#define XC_PARTICLE XC_(xc_particle)
#define XC_TPSS_C0 XC_(xc_tpss_c0)
#define XC_TPSS_C XC_(xc_tpss_c)
#define XC_SLOPES XC_(xc_slopes)
#define XC_R2SCAN_LOCAL XC_(xc_r2scan_local)

#define XC_REAL double
#define XC_UINT uint64_t
#define XC_(name) name##_f64
#define XC_FMA FMA_f64
#define XC_SQRT sqrt
#define XC_MANTISSA 52
#define XC_MANTISSA_MASK UINT64_C(0xfffffffffffff)
#define XC_ONE_BITS UINT64_C(0x3ff0000000000000)
#define XC_ROOT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)
#define XC_COUNT_BITS UINT64_C(0x4330000000000000)
#define XC_COUNT 0x1p52
#define XC_BIAS 1023
#define XC_BIAS_BITS UINT64_C(1023)
#define XC_TWICE_BIAS UINT64_C(2046)
#define XC_ROUND 0x1.8p52
#define XC_LOG2E 1.4426950408889634
#define XC_LN2_HIGH 0x1.62e42feep-1
#define XC_LN2_LOW 1.9082149292705877e-10
#define XC_EXP_LEAST (-708.0)
#define XC_EXP_MOST 709.0
#define XC_LOG_TAIL XC_LOG_TAIL_f64
#define XC_EXP_TAIL XC_EXP_TAIL_f64
#define XC_ATAN_TAIL XC_ATAN_TAIL_f64
#define XC_ROOT_FIRST(h) FMA_f64(FMA_f64(FMA_f64(35.0 / 243, h, 14.0 / 81), h, 2.0 / 9), h, 1.0 / 3)
#define XC_ROOT_SECOND(h) FMA_f64(FMA_f64(14.0 / 81, h, 2.0 / 9), h, 1.0 / 3)
#define XC_LEAST_COMMON 1e-15, 1e-5, 1e-40
#define XC_LEAST_LYP 1e-14, 2.1544346900318837e-5, 4.6415888336127789e-38
#define XC_LEAST_PBE_C 1e-12, 1e-4, 1e-32
#define XC_LEAST_R2SCAN_X 1e-11, 2.1544346900318838e-4, 4.6415888336127773e-30
#define XC_TAU_LEAST 1e-20
#define XC_SQUARE_LEAST 1e-300
#define XC_ZETA_LEAST 0x1p-52
#define XC_ZETA_LEAST_ROOT 6.0554544523933395e-6
#define XC_Y_MOST 1e60
#include "xc_fn_body.h"

#define XC_REAL float
#define XC_UINT uint32_t
#define XC_(name) name##_f32
#define XC_FMA FMA_f32
#define XC_SQRT sqrtf
#define XC_MANTISSA 23
#define XC_MANTISSA_MASK UINT32_C(0x7fffff)
#define XC_ONE_BITS UINT32_C(0x3f800000)
#define XC_ROOT_HALF_BITS UINT32_C(0x3f3504f3)
#define XC_COUNT_BITS UINT32_C(0x4b000000)
#define XC_COUNT 0x1p23f
#define XC_BIAS 127
#define XC_BIAS_BITS UINT32_C(127)
#define XC_TWICE_BIAS UINT32_C(254)
#define XC_ROUND 0x1.8p23f
#define XC_LOG2E 1.44269504f
#define XC_LN2_HIGH 0.693138123f
#define XC_LN2_LOW 9.05800061e-6f
#define XC_EXP_LEAST (-87.0f)
#define XC_EXP_MOST 88.0f
#define XC_LOG_TAIL XC_LOG_TAIL_f32
#define XC_EXP_TAIL XC_EXP_TAIL_f32
#define XC_ATAN_TAIL XC_ATAN_TAIL_f32
#define XC_ROOT_FIRST(h) \
  FMA_f32(FMA_f32(FMA_f32(35.0f / 243, h, 14.0f / 81), h, 2.0f / 9), h, 1.0f / 3)
#define XC_ROOT_SECOND(h) (1.0f / 3)
#define XC_LEAST_COMMON 1e-10f, 4.64158883e-4f, 2.15443469e-27f
#define XC_LEAST_LYP XC_LEAST_COMMON
#define XC_LEAST_PBE_C XC_LEAST_COMMON
#define XC_LEAST_R2SCAN_X XC_LEAST_COMMON
#define XC_TAU_LEAST 1e-20f
#define XC_SQUARE_LEAST 1e-37f
#define XC_ZETA_LEAST 1e-18f
#define XC_ZETA_LEAST_ROOT 1e-6f
#define XC_Y_MOST 1e8f
#include "xc_fn_body.h"
