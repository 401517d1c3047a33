/* Loops over points of one SIMD level, compiled once for each by tsl_simd
 * (tools/cmake/TslSimd.cmake), which names the table in TSL_SIMD_TABLE. The bodies of xc_fn.h have
 * no branch and no call, so that each loop becomes vector code; tests/unit/xc_vectorised.py checks
 * that it did. */
#include "xc_functional_own.h"

#define XC_RKS_LOOP(label, mix, is_gga, is_tau)                                    \
  static void rks_##label(const xc_points *points) {                               \
    const double *const restrict n = points->rho[0];                               \
    const double *const restrict sigma = points->sigma[0];                         \
    const double *const restrict tau = points->tau[0];                             \
    double *const restrict e = points->e, *const restrict v = points->vrho[0];     \
    double *const restrict s = points->vsigma[0];                                  \
    double *const restrict t = points->vtau[0];                                    \
    const int64_t count = points->n;                                               \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) {                      \
      const xc_rks_f64 out =                                                       \
          xc_rks_point_f64(mix, n[i], is_gga ? sigma[i] : 0, is_tau ? tau[i] : 0); \
      e[i] = out.e;                                                                \
      v[i] = out.v;                                                                \
      if (is_gga) s[i] = out.s;                                                    \
      if (is_tau) t[i] = out.t;                                                    \
    }                                                                              \
  }

#define XC_UKS_LOOP(label, mix, is_gga, is_tau)                                                  \
  static void uks_##label(const xc_points *points) {                                             \
    const double *const restrict na = points->rho[0], *const restrict nb = points->rho[1];       \
    const double *const restrict saa = points->sigma[0], *const restrict sab = points->sigma[1]; \
    const double *const restrict sbb = points->sigma[2];                                         \
    const double *const restrict ta = points->tau[0], *const restrict tb = points->tau[1];       \
    double *const restrict e = points->e;                                                        \
    double *const restrict a = points->vrho[0], *const restrict b = points->vrho[1];             \
    double *const restrict aa = points->vsigma[0], *const restrict ab = points->vsigma[1];       \
    double *const restrict bb = points->vsigma[2];                                               \
    double *const restrict va = points->vtau[0], *const restrict vb = points->vtau[1];           \
    const int64_t count = points->n;                                                             \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) {                                    \
      const xc_uks_f64 out =                                                                     \
          xc_uks_point_f64(mix, na[i], nb[i], is_gga ? saa[i] : 0, is_gga ? sab[i] : 0,          \
                           is_gga ? sbb[i] : 0, is_tau ? ta[i] : 0, is_tau ? tb[i] : 0);         \
      e[i] = out.e;                                                                              \
      a[i] = out.a;                                                                              \
      b[i] = out.b;                                                                              \
      if (is_gga) aa[i] = out.aa, ab[i] = out.ab, bb[i] = out.bb;                                \
      if (is_tau) va[i] = out.ta, vb[i] = out.tb;                                                \
    }                                                                                            \
  }

#define XC_LOOPS(label, mix, is_gga, is_tau) \
  XC_RKS_LOOP(label, mix, is_gga, is_tau)    \
  XC_UKS_LOOP(label, mix, is_gga, is_tau)

#define X(name, ...) XC_LOOPS(own_##name, xc_mix_##name(), XC_OWN_GGA_##name, XC_OWN_TAU_##name)
XC_OWN_LIST(X, )
#undef X

#define X(name, ...) \
  XC_LOOPS(part_##name, ((const xc_mix){.name = 1}), XC_PART_GGA_##name, XC_PART_TAU_##name)
XC_PART_LIST(X)
#undef X

#define XC_OWN_ENTRY(name, ...) \
  [XC_OWN_##name] = {rks_own_##name, uks_own_##name, XC_OWN_GGA_##name, XC_OWN_TAU_##name},
#define XC_PART_ENTRY(name, ...) \
  [XC_PART_##name] = {rks_part_##name, uks_part_##name, XC_PART_GGA_##name, XC_PART_TAU_##name},

const xc_kernels TSL_SIMD_TABLE = {
    .own = {XC_OWN_LIST(XC_OWN_ENTRY, )},
    .part = {XC_PART_LIST(XC_PART_ENTRY)},
};
