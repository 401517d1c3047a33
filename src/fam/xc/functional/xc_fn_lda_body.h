/* Densities, Slater exchange, VWN and PW92 correlation of xc_fn.h for one type. No guard: included
 * by xc_fn.h for double and float. */

#define R XC_REAL

/** Sums over the parts of a mix, spin-restricted: e, de/dn, de/dsigma, de/dtau. */
typedef struct XC_(xc_rks) {
  R e, v, s, t;
} XC_(xc_rks);

/** Sums over the parts of a mix, spin-polarised: e, de/dn_a, _b, de/dsigma_aa, _ab, _bb,
 *  de/dtau_a, _b. */
typedef struct XC_(xc_uks) {
  R e, a, b, aa, ab, bb, ta, tb;
} XC_(xc_uks);

/** Smallest values that libxc lets into a part: density, its cube root, sigma. */
typedef struct XC_(xc_least) {
  R n, root, sigma;
} XC_(xc_least);

/** A density with n^(1/3) and n^(-1/3). */
typedef struct XC_(xc_density) {
  R n, root, inverse;
} XC_(xc_density);

/** Total density, zeta and the powers of 1 + zeta (p) and 1 - zeta (m) that correlation needs. */
typedef struct XC_(xc_spins) {
  R n, r, zeta;           /**< r = n^(-1/3) */
  R p, m, p_root, m_root; /**< p_root = p^(1/3), at least 2^(-52/3) */
  R p_inverse, m_inverse; /**< p^(-1/3); 0 at the bound */
  R p_slope, m_slope;     /**< p^(1/3); 0 at the bound */
} XC_(xc_spins);

/** An energy per particle, x times its derivative by x = sqrt(r_s), and its derivative by zeta. */
typedef struct XC_(xc_energy) {
  R e, x, z;
} XC_(xc_energy);

TSL_FN XC_LEAST XC_(xc_least_of)(R n, R root, R sigma) {
  const XC_LEAST least = {n, root, sigma};
  return least;
}

/** x, at least least; NaN stays. */
TSL_FN R XC_(xc_raise)(R x, R least) {
  return x < least ? least : x;
}

/** A density raised to least, with its roots. */
TSL_FN XC_DENSITY XC_(xc_density_of)(R n, R least) {
  XC_DENSITY d;
  d.n = XC_(xc_raise)(n, least);
  d.root = XC_(xc_roots)(d.n, &d.inverse);
  return d;
}

/** A known density raised to a higher bound. */
TSL_FN XC_DENSITY XC_(xc_density_raise)(XC_DENSITY d, XC_LEAST least) {
  const int low = d.n < least.n;
  d.n = low ? least.n : d.n;
  d.root = low ? least.root : d.root;
  d.inverse = low ? (R)1 / least.root : d.inverse;
  return d;
}

/** Half of a density. */
TSL_FN XC_DENSITY XC_(xc_density_half)(XC_DENSITY d) {
  d.n *= (R)0.5;
  d.root *= (R)XC_CBRT_HALF;
  d.inverse *= (R)XC_CBRT2;
  return d;
}

/** What correlation sees of two spin densities, each raised to the part's bound. */
TSL_FN XC_SPINS XC_(xc_spins_of)(XC_DENSITY a, XC_DENSITY b, XC_LEAST least) {
  XC_SPINS s;
  R n_root;
  int at_bound;
  a = XC_(xc_density_raise)(a, least);
  b = XC_(xc_density_raise)(b, least);
  s.n = a.n + b.n;
  n_root = XC_(xc_roots)(s.n, &s.r);
  s.zeta = (a.n - b.n) / s.n;
  s.p = (R)2 * a.n / s.n;
  s.m = (R)2 * b.n / s.n;
  at_bound = s.p <= XC_ZETA_LEAST;
  s.p_slope = at_bound ? (R)0 : (R)XC_CBRT2 * a.root * s.r;
  s.p_inverse = at_bound ? (R)0 : (R)XC_CBRT_HALF * a.inverse * n_root;
  s.p_root = at_bound ? XC_ZETA_LEAST_ROOT : s.p_slope;
  at_bound = s.m <= XC_ZETA_LEAST;
  s.m_slope = at_bound ? (R)0 : (R)XC_CBRT2 * b.root * s.r;
  s.m_inverse = at_bound ? (R)0 : (R)XC_CBRT_HALF * b.inverse * n_root;
  s.m_root = at_bound ? XC_ZETA_LEAST_ROOT : s.m_slope;
  return s;
}

/* --------------------------------------------------------------- exchange */

/** Slater exchange of one spin: e and de/dn. */
TSL_FN void XC_(xc_slater)(XC_DENSITY d, R *e, R *v) {
  const R slope = (R)-XC_SLATER * d.root;
  *e = slope * d.n;
  *v = (R)(4.0 / 3) * slope;
}

/* ------------------------------------------------------------ correlation */

/** A fit of Vosko, Wilk and Nusair: eps(x), x deps/dx; numbers from XC_VWN5_PARA(R) and others. */
TSL_FN XC_ENERGY XC_(xc_vwn_fit)(R x, R amplitude, R b, R c, R x0, R q, R k, R t) {
  const R fit = (R)1 / XC_FMA(x, x + b, c), from = x - x0;
  const R turn = XC_(xc_atan)(q, (R)2 * x + b);
  const R logs = XC_(xc_log)(x * x * fit) - k * XC_(xc_log)(from * from * fit);
  XC_ENERGY out;
  out.e = amplitude * XC_FMA(t, turn, logs);
  out.x = (R)2 * amplitude * fit * (c * from - b * x0 * x) / from;
  out.z = (R)0;
  return out;
}

/** A fit of Perdew and Wang: G(r_s) and x dG/dx, with x = sqrt(r_s), y = r_s. */
TSL_FN XC_ENERGY XC_(xc_pw_fit)(R x, R y, R amplitude, R a1, R b1, R b2, R b3, R b4) {
  const R odd = XC_FMA(b3, y, b1) * x, even = XC_FMA(b4, y, b2) * y;
  const R rises = XC_FMA((R)3 * b3, y, b1) * x + (R)2 * XC_FMA((R)2 * b4, y, b2) * y;
  const R q = (R)2 * amplitude * (odd + even), inverse = (R)1 / q;
  const R logs = XC_(xc_log1p)(inverse), front = XC_FMA(a1, y, (R)1);
  XC_ENERGY out;
  out.e = (R)-2 * amplitude * front * logs;
  out.x = (R)4 * amplitude * amplitude * front * rises * inverse / ((R)1 + q) -
          (R)4 * amplitude * a1 * y * logs;
  out.z = (R)0;
  return out;
}

/** x d/dx of xc_pw_fit and again. */
TSL_FN XC_ENERGY XC_(xc_pw_curve)(R x, R y, R amplitude, R a1, R b1, R b2, R b3, R b4) {
  const R odd1 = b1 * x, even1 = b2 * y, odd3 = b3 * y * x, even2 = b4 * y * y;
  const R q = (R)2 * amplitude * (odd1 + even1 + odd3 + even2);
  const R once = (R)2 * amplitude * (odd1 + (R)2 * even1 + (R)3 * odd3 + (R)4 * even2);
  const R twice = (R)2 * amplitude * (odd1 + (R)4 * even1 + (R)9 * odd3 + (R)16 * even2);
  const R low = (R)1 / (q * ((R)1 + q)), front = XC_FMA(a1, y, (R)1), rise = a1 * y;
  const R logs = XC_(xc_log1p)((R)1 / q), slope = -once * low;
  const R bend = low * XC_FMA(once * once * low, XC_FMA((R)2, q, (R)1), -twice);
  XC_ENERGY out;
  out.e = (R)-2 * amplitude * XC_FMA((R)2 * rise, logs, front * slope);
  out.x = (R)-2 * amplitude * XC_FMA((R)4 * rise, logs, XC_FMA((R)4 * rise, slope, front * bend));
  out.z = (R)0;
  return out;
}

/* Perdew and Wang's numbers: without polarisation, of one spin alone, of the stiffness. */
#define XC_PW92_PARA (R)0.0310907, (R)0.21370, (R)7.5957, (R)3.5876, (R)1.6382, (R)0.49294
#define XC_PW92_FERRO (R)0.01554535, (R)0.20548, (R)14.1189, (R)6.1977, (R)3.3662, (R)0.62517
#define XC_PW92_STIFF (R)0.0168869, (R)0.11125, (R)10.357, (R)3.6231, (R)0.88026, (R)0.49671
#define XC_PW92_SCALE (R)(-1 / 1.709920934161365617563962776245)

/** PW92 of one spin alone. */
TSL_FN XC_ENERGY XC_(xc_pw92_ferro)(R x, R y) {
  return XC_(xc_pw_fit)(x, y, XC_PW92_FERRO);
}

/** PW92 without polarisation. */
TSL_FN XC_ENERGY XC_(xc_pw92_rks)(R x, R y) {
  return XC_(xc_pw_fit)(x, y, XC_PW92_PARA);
}

/** f(zeta) and its derivative. */
TSL_FN R XC_(xc_f_zeta)(const XC_SPINS *s, R *slope) {
  *slope = (R)(4.0 / 3 * XC_F_SCALE) * (s->p_slope - s->m_slope);
  return (R)XC_F_SCALE * (s->p * s->p_root + s->m * s->m_root - (R)2);
}

/** Between zeta = 0 and 1: para + stiff f (1 - zeta^4) + (ferro - para) f zeta^4. */
TSL_FN XC_ENERGY XC_(xc_interpolate)(const XC_SPINS *s, XC_ENERGY para, XC_ENERGY ferro,
                                     XC_ENERGY stiff) {
  const R z2 = s->zeta * s->zeta, z4 = z2 * z2, rest = s->p * s->m * ((R)1 + z2);
  const R gap = ferro.e - para.e;
  R slope;
  const R f = XC_(xc_f_zeta)(s, &slope);
  XC_ENERGY out;
  out.e = para.e + f * XC_FMA(gap, z4, stiff.e * rest);
  out.x = para.x + f * XC_FMA(ferro.x - para.x, z4, stiff.x * rest);
  out.z = slope * XC_FMA(gap, z4, stiff.e * rest) + f * (R)4 * z2 * s->zeta * (gap - stiff.e);
  return out;
}

/** VWN5 (Monte Carlo fit) without polarisation. */
TSL_FN XC_ENERGY XC_(xc_vwn5_rks)(R x, R y) {
  (void)y;
  return XC_(xc_vwn_fit)(x, XC_VWN5_PARA(R));
}

/** VWN5. */
TSL_FN XC_ENERGY XC_(xc_vwn5_uks)(const XC_SPINS *s) {
  const R x = XC_SQRT((R)XC_RS * s->r);
  return XC_(xc_interpolate)(s, XC_(xc_vwn_fit)(x, XC_VWN5_PARA(R)),
                             XC_(xc_vwn_fit)(x, XC_VWN5_FERRO(R)),
                             XC_(xc_vwn_fit)(x, XC_VWN5_STIFF(R)));
}

/** VWN of the random-phase approximation without polarisation. */
TSL_FN XC_ENERGY XC_(xc_vwn_rpa_rks)(R x, R y) {
  (void)y;
  return XC_(xc_vwn_fit)(x, XC_VWNR_PARA(R));
}

/** VWN of the random-phase approximation: para + (ferro - para) f. */
TSL_FN XC_ENERGY XC_(xc_vwn_rpa_uks)(const XC_SPINS *s) {
  const R x = XC_SQRT((R)XC_RS * s->r);
  const XC_ENERGY para = XC_(xc_vwn_fit)(x, XC_VWNR_PARA(R));
  const XC_ENERGY ferro = XC_(xc_vwn_fit)(x, XC_VWNR_FERRO(R));
  R slope;
  const R f = XC_(xc_f_zeta)(s, &slope);
  XC_ENERGY out;
  out.e = XC_FMA(ferro.e - para.e, f, para.e);
  out.x = XC_FMA(ferro.x - para.x, f, para.x);
  out.z = (ferro.e - para.e) * slope;
  return out;
}

/** PW92 with f''(0) in full. */
TSL_FN XC_ENERGY XC_(xc_pw92_uks)(const XC_SPINS *s) {
  const R y = (R)XC_RS * s->r, x = XC_SQRT(y);
  XC_ENERGY stiff = XC_(xc_pw_fit)(x, y, XC_PW92_STIFF);
  stiff.e *= XC_PW92_SCALE;
  stiff.x *= XC_PW92_SCALE;
  return XC_(xc_interpolate)(s, XC_(xc_pw92_rks)(x, y), XC_(xc_pw92_ferro)(x, y), stiff);
}

/** PW92 and its second derivatives: e, x de/dx, de/dzeta, and the same of x de/dx. */
TSL_FN void XC_(xc_pw92_curve)(const XC_SPINS *s, R x, R y, int polarised, XC_ENERGY *e,
                               XC_ENERGY *slope) {
  XC_ENERGY stiff;
  *e = XC_(xc_pw92_rks)(x, y);
  *slope = XC_(xc_pw_curve)(x, y, XC_PW92_PARA);
  if (!polarised) return;
  stiff = XC_(xc_pw_curve)(x, y, XC_PW92_STIFF);
  stiff.e *= XC_PW92_SCALE;
  stiff.x *= XC_PW92_SCALE;
  *e = XC_(xc_pw92_uks)(s);
  *slope = XC_(xc_interpolate)(s, *slope, XC_(xc_pw_curve)(x, y, XC_PW92_FERRO), stiff);
}

/** Add weight times a local energy per particle to the sums. n deps/dn = -x/6 deps/dx. */
TSL_FN void XC_(xc_add_rks)(R weight, R n, XC_ENERGY eps, XC_RKS *out) {
  out->e = XC_FMA(weight, n * eps.e, out->e);
  out->v = XC_FMA(weight, XC_FMA((R)(-1.0 / 6), eps.x, eps.e), out->v);
}

TSL_FN void XC_(xc_add_uks)(R weight, const XC_SPINS *s, XC_ENERGY eps, XC_UKS *out) {
  const R v = XC_FMA((R)(-1.0 / 6), eps.x, eps.e);
  out->e = XC_FMA(weight, s->n * eps.e, out->e);
  out->a = XC_FMA(weight, XC_FMA(s->m, eps.z, v), out->a);
  out->b = XC_FMA(weight, XC_FMA(-s->p, eps.z, v), out->b);
}

#undef R
