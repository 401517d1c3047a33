/* The sums over the parts of a mix at one point, of xc_fn.h for one type. No guard: included by
 * xc_fn.h for double and float, after the other bodies. A part below its density threshold enters
 * with weight 0, so NaN stays NaN. */

#define R XC_REAL

/** The weight of a part, 0 where n is below (at: not above) its threshold. */
TSL_FN R XC_(xc_weight)(double weight, R n, R least) {
  return n < least ? (R)0 : (R)weight;
}
TSL_FN R XC_(xc_weight_spin)(double weight, R n, R least) {
  return n <= least ? (R)0 : (R)weight;
}

/* ---- what a row of XC_PART_LIST adds, by its form; nothing where the form is another one */

/** Densities are raised to COMMON once for all parts that share it. */
#define XC_SHARED_COMMON

/** Exchange of one spin, in xc_exchange_spin. */
#define XC_SPIN_LDA_X(name, threshold)                           \
  XC_SHARED_##threshold if (mix->name != 0) {                    \
    const R weight = XC_(xc_weight_spin)(mix->name, n, least.n); \
    XC_(xc_##name)(d, &e, &v);                                   \
    out.e = XC_FMA(weight, e, out.e);                            \
    out.v = XC_FMA(weight, v, out.v);                            \
  }
#define XC_SPIN_GGA_X(name, threshold)                           \
  XC_SHARED_##threshold if (mix->name != 0) {                    \
    const R weight = XC_(xc_weight_spin)(mix->name, n, least.n); \
    XC_(xc_##name)(d, square, &e, &v, &s);                       \
    out.e = XC_FMA(weight, e, out.e);                            \
    out.v = XC_FMA(weight, v, out.v);                            \
    out.s = XC_FMA(weight, s, out.s);                            \
  }
#define XC_SPIN_LDA_C(name, threshold)
#define XC_SPIN_GGA_C(name, threshold)
#define XC_SPIN_MGGA_C(name, threshold)
#define XC_SPIN_MGGA_X(name, threshold)                                                      \
  if (mix->name != 0) {                                                                      \
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_##threshold);                           \
    const R weight = XC_(xc_weight_spin)(mix->name, n, bound.n);                             \
    const XC_DENSITY raised = XC_(xc_density_raise)(d, bound);                               \
    const R kinetic = XC_(xc_raise)(tau, XC_TAU_LEAST);                                      \
    XC_(xc_##name)                                                                           \
    (raised, XC_(xc_bound_curvature)(XC_(xc_raise)(square, bound.sigma), raised.n, kinetic), \
     kinetic, &e, &v, &s, &t);                                                               \
    out.e = XC_FMA(weight, e, out.e);                                                        \
    out.v = XC_FMA(weight, v, out.v);                                                        \
    out.s = XC_FMA(weight, s, out.s);                                                        \
    out.t = XC_FMA(weight, t, out.t);                                                        \
  }
#define XC_SPIN(name, form, threshold, libxc) XC_SPIN_##form(name, threshold)

/** Local correlation, in xc_local_rks and xc_local_uks: text where the form is that. */
#define XC_IF_LOCAL_LDA_X(...)
#define XC_IF_LOCAL_GGA_X(...)
#define XC_IF_LOCAL_MGGA_X(...)
#define XC_IF_LOCAL_LDA_C(...) __VA_ARGS__
#define XC_IF_LOCAL_GGA_C(...)
#define XC_IF_LOCAL_MGGA_C(...)
#define XC_LOCAL_RKS(name, form, threshold, libxc)                                   \
  XC_IF_LOCAL_##form(XC_SHARED_##threshold if (mix->name != 0)                       \
                         XC_(xc_add_rks)(XC_(xc_weight)(mix->name, n, least.n), d.n, \
                                         XC_(xc_##name##_rks)(x, y), out);)
#define XC_LOCAL_UKS(name, form, threshold, libxc)                                              \
  XC_IF_LOCAL_##form(if (mix->name != 0) XC_(xc_add_uks)(XC_(xc_weight)(mix->name, n, least.n), \
                                                         &s, XC_(xc_##name##_uks)(&s), out);)
#define XC_ANY_LOCAL(name, form, threshold, libxc) XC_IF_LOCAL_##form(|| mix->name != 0)

/** Correlation with gradients, in xc_rks_point and xc_uks_point, of either. */
#define XC_SLOPES_LDA_X(of, name, threshold)
#define XC_SLOPES_GGA_X(of, name, threshold)
#define XC_SLOPES_MGGA_X(of, name, threshold)
#define XC_SLOPES_LDA_C(of, name, threshold)
#define XC_SLOPES_GGA_C(of, name, threshold) XC_SLOPES_##of##_GGA_C(name, threshold)
#define XC_SLOPES_MGGA_C(of, name, threshold) XC_SLOPES_##of##_MGGA_C(name, threshold)
#define XC_SLOPES_RKS(name, form, threshold, libxc) XC_SLOPES_##form(RKS, name, threshold)
#define XC_SLOPES_UKS(name, form, threshold, libxc) XC_SLOPES_##form(UKS, name, threshold)

#define XC_SLOPES_RKS_GGA_C(name, threshold)                                \
  if (mix.name != 0) {                                                      \
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_##threshold);          \
    XC_(xc_##name##_rks)                                                    \
    (XC_(xc_weight)(mix.name, n, bound.n), XC_(xc_density_raise)(d, bound), \
     XC_(xc_raise)(sigma, bound.sigma), &out);                              \
  }
#define XC_SLOPES_RKS_MGGA_C(name, threshold)                                                \
  if (mix.name != 0) {                                                                       \
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_##threshold);                           \
    const XC_DENSITY raised = XC_(xc_density_raise)(d, bound);                               \
    const R kinetic = XC_(xc_raise)(tau, XC_TAU_LEAST);                                      \
    XC_(xc_##name##_rks)                                                                     \
    (XC_(xc_weight)(mix.name, n, bound.n), raised,                                           \
     XC_(xc_bound_curvature)(XC_(xc_raise)(sigma, bound.sigma), raised.n, kinetic), kinetic, \
     &out);                                                                                  \
  }

#define XC_SLOPES_UKS_GGA_C(name, threshold)                                                \
  if (mix.name != 0) {                                                                      \
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_##threshold);                          \
    const XC_SPINS s = XC_(xc_spins_of)(a, b, bound);                                       \
    R aa = saa, ab = sab, bb = sbb;                                                         \
    XC_(xc_bound_sigma)(bound.sigma, &aa, &ab, &bb);                                        \
    XC_(xc_##name##_uks)(XC_(xc_weight)(mix.name, na + nb, bound.n), &s, aa, ab, bb, &out); \
  }
#define XC_SLOPES_UKS_MGGA_C(name, threshold)                                           \
  if (mix.name != 0) {                                                                  \
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_##threshold);                      \
    const XC_SPINS s = XC_(xc_spins_of)(a, b, bound);                                   \
    const R ka = XC_(xc_raise)(ta, XC_TAU_LEAST), kb = XC_(xc_raise)(tb, XC_TAU_LEAST); \
    R aa = XC_(xc_bound_curvature)(saa, XC_(xc_raise)(a.n, bound.n), ka), ab = sab;     \
    R bb = XC_(xc_bound_curvature)(sbb, XC_(xc_raise)(b.n, bound.n), kb);               \
    XC_(xc_bound_sigma)(bound.sigma, &aa, &ab, &bb);                                    \
    XC_(xc_##name##_uks)                                                                \
    (XC_(xc_weight)(mix.name, na + nb, bound.n), &s, aa, ab, bb, ka + kb, &out);        \
  }

/* ------------------------------------------------------------------ sums */

/** sigma where the curvature of the Fermi hole is positive: at most 8 n tau. */
TSL_FN R XC_(xc_bound_curvature)(R sigma, R n, R tau) {
  const R most = (R)8 * n * tau;
  return sigma > most ? most : sigma;
}

/** Exchange of one spin: weighted e, de/dn, de/dsigma, de/dtau; d is n raised to the bound. */
TSL_FN XC_RKS XC_(xc_exchange_spin)(const xc_mix *mix, R n, XC_DENSITY d, R square, R tau) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_COMMON);
  XC_RKS out = {(R)0, (R)0, (R)0, (R)0};
  R e, v, s, t;
  XC_PART_LIST(XC_SPIN)
  return out;
}

/** Local correlation of the mix, spin-restricted. */
TSL_FN void XC_(xc_local_rks)(const xc_mix *mix, R n, XC_DENSITY d, XC_RKS *out) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_COMMON);
  const R y = (R)XC_RS * d.inverse, x = XC_SQRT(y);
  XC_PART_LIST(XC_LOCAL_RKS)
}

/**
 * A mix at one point, spin-restricted.
 * @param[in] n      density
 * @param[in] sigma  square of its gradient (0 for local mixes)
 * @param[in] tau    density of kinetic energy (0 for others than meta-GGAs)
 * @return e, de/dn, de/dsigma, de/dtau
 */
TSL_FN XC_RKS XC_(xc_rks_point)(const xc_mix mix, R n, R sigma, R tau) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_COMMON);
  const XC_DENSITY d = XC_(xc_density_of)(n, least.n);
  XC_RKS
  out = XC_(xc_exchange_spin)(&mix, (R)0.5 * n, XC_(xc_density_half)(d),
                              (R)0.25 * XC_(xc_raise)(sigma, least.sigma), (R)0.5 * tau);
  out.e *= (R)2;
  out.s *= (R)0.5;
  XC_(xc_local_rks)(&mix, n, d, &out);
  XC_PART_LIST(XC_SLOPES_RKS)
  return out;
}

/** Local correlation of the mix, spin-polarised; n is the bare sum of the spin densities. */
TSL_FN void XC_(xc_local_uks)(const xc_mix *mix, R n, XC_DENSITY a, XC_DENSITY b, XC_UKS *out) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_COMMON);
  if (0 XC_PART_LIST(XC_ANY_LOCAL)) {
    const XC_SPINS s = XC_(xc_spins_of)(a, b, least);
    XC_PART_LIST(XC_LOCAL_UKS)
  }
}

/** sigma_aa, _ab, _bb as libxc lets them into a part. */
TSL_FN void XC_(xc_bound_sigma)(R least, R *aa, R *ab, R *bb) {
  R most;
  *aa = XC_(xc_raise)(*aa, least);
  *bb = XC_(xc_raise)(*bb, least);
  most = (R)0.5 * (*aa + *bb);
  *ab = *ab < -most ? -most : *ab > most ? most : *ab;
}

/**
 * A mix at one point, spin-polarised.
 * @param[in] na, nb         spin densities
 * @param[in] saa, sab, sbb  products of their gradients (0 for local mixes)
 * @param[in] ta, tb         densities of kinetic energy (0 for others than meta-GGAs)
 * @return e, de/dn_a, _b, de/dsigma_aa, _ab, _bb, de/dtau_a, _b
 */
TSL_FN XC_UKS XC_(xc_uks_point)(const xc_mix mix, R na, R nb, R saa, R sab, R sbb, R ta, R tb) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_COMMON);
  const XC_DENSITY a = XC_(xc_density_of)(na, least.n), b = XC_(xc_density_of)(nb, least.n);
  const int empty = na + nb < least.n;
  const XC_RKS xa =
      XC_(xc_exchange_spin)(&mix, empty ? (R)0 : na, a, XC_(xc_raise)(saa, least.sigma), ta);
  const XC_RKS xb =
      XC_(xc_exchange_spin)(&mix, empty ? (R)0 : nb, b, XC_(xc_raise)(sbb, least.sigma), tb);
  XC_UKS out = {xa.e + xb.e, xa.v, xb.v, xa.s, (R)0, xb.s, xa.t, xb.t};
  XC_(xc_local_uks)(&mix, na + nb, a, b, &out);
  XC_PART_LIST(XC_SLOPES_UKS)
  return out;
}

#undef R
