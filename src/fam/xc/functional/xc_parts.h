/**
 * @file xc_parts.h
 * The parts with formulas of our own, and their mixtures: lists of one row each. Weights, sums at a
 * point, kernels, names and tests follow them; the formulas are in xc_fn_lda_body.h and
 * xc_fn_gga_body.h and xc_fn_mgga_body.h.
 */
#pragma once

#include "fn.h"

/**
 * X(name, form, threshold, libxc): a part, what its formulas take, the density below which it is 0
 * (XC_LEAST_<threshold> of xc_fn.h; LDA_X, LDA_C and GGA_X have COMMON), libxc's name. By form:
 *
 *   LDA_X  exchange of a spin           xc_<name>(density, e, v)
 *   GGA_X  the same with its gradient   xc_<name>(density, sigma, e, v, s)
 *   LDA_C  correlation of a particle    xc_<name>_rks(sqrt(r_s), r_s) and xc_<name>_uks(spins)
 *   GGA_C  correlation                  xc_<name>_rks(weight, density, sigma, sums) and
 *                                       xc_<name>_uks(weight, spins, saa, sab, sbb, sums)
 *   MGGA_X  exchange of a spin          xc_<name>(density, sigma, tau, e, v, s, t)
 *   MGGA_C  correlation                 xc_<name>_rks(weight, density, sigma, tau, sums) and
 *                                       xc_<name>_uks(weight, spins, saa, sab, sbb, tau, sums)
 */
#define XC_PART_LIST(X)                          \
  X(slater, LDA_X, COMMON, "lda_x")              \
  X(vwn5, LDA_C, COMMON, "lda_c_vwn")            \
  X(vwn_rpa, LDA_C, COMMON, "lda_c_vwn_rpa")     \
  X(pw92, LDA_C, COMMON, "lda_c_pw_mod")         \
  X(pbe_x, GGA_X, COMMON, "gga_x_pbe")           \
  X(pbe_c, GGA_C, PBE_C, "gga_c_pbe")            \
  X(b88, GGA_X, COMMON, "gga_x_b88")             \
  X(lyp, GGA_C, LYP, "gga_c_lyp")                \
  X(tpss_x, MGGA_X, COMMON, "mgga_x_tpss")       \
  X(tpss_c, MGGA_C, COMMON, "mgga_c_tpss")       \
  X(r2scan_x, MGGA_X, R2SCAN_X, "mgga_x_r2scan") \
  X(r2scan_c, MGGA_C, COMMON, "mgga_c_r2scan")

/**
 * Functionals with a kernel of their own: X(name, fraction of exact exchange, parts, what it is),
 * the parts as W(part, weight). b3lyp is Gaussian's and libxc's.
 */
#define XC_OWN_LIST(X, W)                                                           \
  X(svwn5, 0, W(slater, 1) W(vwn5, 1), "Slater exchange, VWN5 correlation")         \
  X(pbe, 0, W(pbe_x, 1) W(pbe_c, 1), "Perdew, Burke, Ernzerhof")                    \
  X(blyp, 0, W(b88, 1) W(lyp, 1), "Becke 88 exchange, Lee-Yang-Parr correlation")   \
  X(pbe0, 0.25, W(pbe_x, 0.75) W(pbe_c, 1), "PBE with a quarter of exact exchange") \
  X(b3lyp, 0.2, W(slater, 0.08) W(vwn_rpa, 0.19) W(b88, 0.72) W(lyp, 0.81),         \
    "Becke's three parameters, VWN of RPA")                                         \
  X(b3lyp5, 0.2, W(slater, 0.08) W(vwn5, 0.19) W(b88, 0.72) W(lyp, 0.81),           \
    "Becke's three parameters, VWN5")                                               \
  X(tpss, 0, W(tpss_x, 1) W(tpss_c, 1), "Tao, Perdew, Staroverov, Scuseria")        \
  X(tpssh, 0.1, W(tpss_x, 0.9) W(tpss_c, 1), "TPSS with a tenth of exact exchange") \
  X(r2scan, 0, W(r2scan_x, 1) W(r2scan_c, 1), "Furness, Kaplan, Ning, Perdew, Sun") \
  X(r2scan0, 0.25, W(r2scan_x, 0.75) W(r2scan_c, 1), "r2SCAN with a quarter of exact exchange")

/** Weights of the parts. */
typedef struct xc_mix {
#define X(name, ...) double name;
  XC_PART_LIST(X)
#undef X
} xc_mix;

/** Places in XC_PART_LIST: XC_PART_slater, ... */
enum {
#define X(name, ...) XC_PART_##name,
  XC_PART_LIST(X)
#undef X
      XC_N_PARTS
};

/** Places in XC_OWN_LIST: XC_OWN_pbe, ... */
enum {
#define X(name, ...) XC_OWN_##name,
  XC_OWN_LIST(X, )
#undef X
      XC_N_OWN
};

/** 1 where sigma is needed: XC_PART_GGA_slater, ... and XC_OWN_GGA_pbe, ... */
enum {
#define XC_GGA_LDA_X 0
#define XC_GGA_LDA_C 0
#define XC_GGA_GGA_X 1
#define XC_GGA_GGA_C 1
#define XC_GGA_MGGA_X 1
#define XC_GGA_MGGA_C 1
#define X(name, form, ...) XC_PART_GGA_##name = XC_GGA_##form,
  XC_PART_LIST(X)
#undef X
#define X(name, exact, parts, ...) XC_OWN_GGA_##name = 0 parts,
#define W(part, weight) | (int)XC_PART_GGA_##part
      XC_OWN_LIST(X, W)
#undef X
#undef W
          XC_N_GGA
};

/** 1 where tau is needed: XC_PART_TAU_slater, ... and XC_OWN_TAU_pbe, ... */
enum {
#define XC_TAU_LDA_X 0
#define XC_TAU_LDA_C 0
#define XC_TAU_GGA_X 0
#define XC_TAU_GGA_C 0
#define XC_TAU_MGGA_X 1
#define XC_TAU_MGGA_C 1
#define X(name, form, ...) XC_PART_TAU_##name = XC_TAU_##form,
  XC_PART_LIST(X)
#undef X
#define X(name, exact, parts, ...) XC_OWN_TAU_##name = 0 parts,
#define W(part, weight) | (int)XC_PART_TAU_##part
      XC_OWN_LIST(X, W)
#undef X
#undef W
          XC_N_TAU
};

/* xc_mix_pbe(), ...: weights known when compiling. */
#define ZERO(name, ...) 0,
#define W(part, weight) mix.part = weight;
#define X(name, exact, parts, ...)     \
  TSL_FN xc_mix xc_mix_##name(void) {  \
    xc_mix mix = {XC_PART_LIST(ZERO)}; \
    parts return mix;                  \
  }
XC_OWN_LIST(X, W)
#undef X
#undef W
#undef ZERO

/** Their names, each with ", " behind it, for messages. */
#define XC_OWN_NAME(name, ...) #name ", "
#define XC_OWN_NAMES XC_OWN_LIST(XC_OWN_NAME, )
