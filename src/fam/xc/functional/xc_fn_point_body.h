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

/** Exchange of one spin: weighted e, de/dn, de/dsigma; d is n raised to the bound. */
TSL_FN XC_RKS XC_(xc_exchange_spin)(const xc_mix *mix, R n, XC_DENSITY d, R square) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_X);
  XC_RKS out = {(R)0, (R)0, (R)0};
  R e, v, s;
  if (mix->slater != 0) {
    const R weight = XC_(xc_weight_spin)(mix->slater, n, least.n);
    XC_(xc_slater)(d, &e, &v);
    out.e = XC_FMA(weight, e, out.e);
    out.v = XC_FMA(weight, v, out.v);
  }
  if (mix->pbe_x != 0) {
    const R weight = XC_(xc_weight_spin)(mix->pbe_x, n, least.n);
    XC_(xc_pbe_x)(d, square, &e, &v, &s);
    out.e = XC_FMA(weight, e, out.e);
    out.v = XC_FMA(weight, v, out.v);
    out.s = XC_FMA(weight, s, out.s);
  }
  if (mix->b88 != 0) {
    const R weight = XC_(xc_weight_spin)(mix->b88, n, least.n);
    XC_(xc_b88)(d, square, &e, &v, &s);
    out.e = XC_FMA(weight, e, out.e);
    out.v = XC_FMA(weight, v, out.v);
    out.s = XC_FMA(weight, s, out.s);
  }
  return out;
}

/** Local correlation of the mix, spin-restricted. */
TSL_FN void XC_(xc_local_rks)(const xc_mix *mix, R n, XC_DENSITY d, XC_RKS *out) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_X);
  const R y = (R)XC_RS * d.inverse, x = XC_SQRT(y);
  if (mix->vwn5 != 0) XC_(xc_add_rks)
  (XC_(xc_weight)(mix->vwn5, n, least.n), d.n, XC_(xc_vwn_fit)(x, XC_VWN5_PARA(R)), out);
  if (mix->vwn_rpa != 0) XC_(xc_add_rks)
  (XC_(xc_weight)(mix->vwn_rpa, n, least.n), d.n, XC_(xc_vwn_fit)(x, XC_VWNR_PARA(R)), out);
  if (mix->pw92 != 0)
    XC_(xc_add_rks)(XC_(xc_weight)(mix->pw92, n, least.n), d.n, XC_(xc_pw_para)(x, y), out);
}

/**
 * A mix at one point, spin-restricted.
 * @param[in] n      density; sigma: square of its gradient (0 for local mixes)
 * @return e, de/dn, de/dsigma
 */
TSL_FN XC_RKS XC_(xc_rks_point)(const xc_mix mix, R n, R sigma) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_X);
  const XC_DENSITY d = XC_(xc_density_of)(n, least.n);
  XC_RKS
  out = XC_(xc_exchange_spin)(&mix, (R)0.5 * n, XC_(xc_density_half)(d),
                              (R)0.25 * XC_(xc_raise)(sigma, least.sigma));
  out.e *= (R)2;
  out.s *= (R)0.5;
  XC_(xc_local_rks)(&mix, n, d, &out);
  if (mix.pbe_c != 0) {
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_PBE_C);
    XC_(xc_pbe_c_rks)
    (XC_(xc_weight)(mix.pbe_c, n, bound.n), XC_(xc_density_raise)(d, bound),
     XC_(xc_raise)(sigma, bound.sigma), &out);
  }
  if (mix.lyp != 0) {
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_LYP);
    XC_(xc_lyp_rks)
    (XC_(xc_weight)(mix.lyp, n, bound.n), XC_(xc_density_raise)(d, bound),
     XC_(xc_raise)(sigma, bound.sigma), &out);
  }
  return out;
}

/** Local correlation of the mix, spin-polarised; n is the bare sum of the spin densities. */
TSL_FN void XC_(xc_local_uks)(const xc_mix *mix, R n, XC_DENSITY a, XC_DENSITY b, XC_UKS *out) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_X);
  if (mix->vwn5 != 0 || mix->vwn_rpa != 0 || mix->pw92 != 0) {
    const XC_SPINS s = XC_(xc_spins_of)(a, b, least);
    if (mix->vwn5 != 0)
      XC_(xc_add_uks)(XC_(xc_weight)(mix->vwn5, n, least.n), &s, XC_(xc_vwn5_uks)(&s), out);
    if (mix->vwn_rpa != 0)
      XC_(xc_add_uks)(XC_(xc_weight)(mix->vwn_rpa, n, least.n), &s, XC_(xc_vwn_rpa_uks)(&s), out);
    if (mix->pw92 != 0)
      XC_(xc_add_uks)(XC_(xc_weight)(mix->pw92, n, least.n), &s, XC_(xc_pw92_uks)(&s), out);
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
 * @return e, de/dn_a, _b, de/dsigma_aa, _ab, _bb
 */
TSL_FN XC_UKS XC_(xc_uks_point)(const xc_mix mix, R na, R nb, R saa, R sab, R sbb) {
  const XC_LEAST least = XC_(xc_least_of)(XC_LEAST_X);
  const XC_DENSITY a = XC_(xc_density_of)(na, least.n), b = XC_(xc_density_of)(nb, least.n);
  const int empty = na + nb < least.n;
  const XC_RKS xa =
      XC_(xc_exchange_spin)(&mix, empty ? (R)0 : na, a, XC_(xc_raise)(saa, least.sigma));
  const XC_RKS xb =
      XC_(xc_exchange_spin)(&mix, empty ? (R)0 : nb, b, XC_(xc_raise)(sbb, least.sigma));
  XC_UKS out = {xa.e + xb.e, xa.v, xb.v, xa.s, (R)0, xb.s};
  XC_(xc_local_uks)(&mix, na + nb, a, b, &out);
  if (mix.pbe_c != 0) {
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_PBE_C);
    const XC_SPINS s = XC_(xc_spins_of)(a, b, bound);
    R aa = saa, ab = sab, bb = sbb;
    XC_(xc_bound_sigma)(bound.sigma, &aa, &ab, &bb);
    XC_(xc_pbe_c_uks)(XC_(xc_weight)(mix.pbe_c, na + nb, bound.n), &s, aa + (R)2 * ab + bb, &out);
  }
  if (mix.lyp != 0) {
    const XC_LEAST bound = XC_(xc_least_of)(XC_LEAST_LYP);
    const XC_SPINS s = XC_(xc_spins_of)(a, b, bound);
    R aa = saa, ab = sab, bb = sbb;
    XC_(xc_bound_sigma)(bound.sigma, &aa, &ab, &bb);
    XC_(xc_lyp_uks)(XC_(xc_weight)(mix.lyp, na + nb, bound.n), &s, aa, ab, bb, &out);
  }
  return out;
}

#undef R
