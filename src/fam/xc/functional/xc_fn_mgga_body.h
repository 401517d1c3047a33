/* TPSS and r2SCAN of xc_fn.h for one type. No guard: included by xc_fn.h for double and float,
 * after xc_fn_gga_body.h. A formula is one of dimensionless variables; derivatives by them are
 * turned into those by n, sigma and tau at its end. */

#define R XC_REAL

/* ---------------------------------------------------------- TPSS exchange */

/**
 * F_x of TPSS and dF/dp, dF/dz, dF/da. Eq. (10) over (1 + sqrt(e) p)^2 by u = p / (1 + sqrt(e) p),
 * i = 1 / (1 + sqrt(e) p), so that no power of p grows.
 * @param[in] p, z, a  s^2, tau_W/tau, alpha
 */
TSL_FN R XC_(xc_tpss_factor)(R p, R z, R a, R *by_p, R *by_z, R *by_a) {
  const R b = (R)0.40, c = (R)1.59096, e = (R)1.537, root_e = (R)1.2397580409095961;
  const R kappa = (R)0.804, mu = (R)0.21951, ge = (R)(10.0 / 81);
  const R i = (R)1 / XC_FMA(root_e, p, (R)1), u = p * i, z2 = z * z, fall = (R)1 / ((R)1 + z2);
  const R w = z2 * fall * fall, w_z = (R)2 * z * ((R)1 - z2) * fall * fall * fall;
  const R root = (R)1 / XC_SQRT(XC_FMA(b * a, a - (R)1, (R)1));
  const R qb = XC_FMA((R)(9.0 / 20) * (a - (R)1), root, (R)(2.0 / 3) * p) * i;
  const R qb_a = (R)(9.0 / 20) * root * root * root * XC_FMA((R)0.5 * b, a - (R)1, (R)1) * i;
  const R zi = z * i, square = (R)0.5 * XC_FMA((R)0.36 * zi, zi, u * u);
  const R both = XC_SQRT(XC_(xc_raise)(square, XC_SQUARE_LEAST)), half = (R)0.5 / both;
  const R bend = XC_FMA((R)(292.0 / 2025), qb, (R)(-73.0 / 405) * both); /* dx/dqb */
  const R turn = (R)(-73.0 / 405) * qb * half;                           /* dx/dboth, halved */
  const R eu2 = e * mu * u * u;
  const R x = (ge + c * w) * u * i + qb * ((R)(146.0 / 2025) * qb - (R)(73.0 / 405) * both) +
              XC_FMA(ge * ge / kappa * u, u, (R)0.72 * root_e * ge * zi * zi) + eu2 * p;
  const R direct = XC_FMA((R)(2.0 / 3) * bend, i, turn * u * i) + (ge + c * w) * i * i +
                   (R)2 * ge * ge / kappa * u * i + (R)3 * eu2;
  const R x_p = direct - (R)2 * root_e * i * x;
  const R x_z = XC_FMA(c * w_z * u, i, (R)0.36 * turn * zi * i) + (R)1.44 * root_e * ge * zi * i;
  const R whole = (R)1 / XC_FMA((R)(1 / 0.804), x, (R)1), slope = whole * whole;
  *by_p = slope * x_p;
  *by_z = slope * x_z;
  *by_a = slope * bend * qb_a;
  return XC_FMA(x, whole, (R)1);
}

/** TPSS exchange of one spin: e, de/dn, de/dsigma, de/dtau. */
TSL_FN void XC_(xc_tpss_x)(XC_DENSITY d, R sigma, R tau, R *e, R *v, R *s, R *t) {
  const R i2 = d.inverse * d.inverse, i4 = i2 * i2, slope = (R)-XC_SLATER * d.root;
  const R p = (R)XC_S2 * (sigma * i4) * i4, kinetic = tau * i4 * d.inverse;
  const R rise = (R)(1 / (8 * XC_S2)) / kinetic, z = p * rise;
  const R a = XC_FMA((R)(1 / XC_SPIN_CF), kinetic, (R)(-5.0 / 3) * p);
  R by_p, by_z, by_a;
  const R f = XC_(xc_tpss_factor)(p, z, a, &by_p, &by_z, &by_a);
  const R f_p = XC_FMA(by_z, rise, XC_FMA((R)(-5.0 / 3), by_a, by_p));
  const R f_k = XC_FMA((R)(1 / XC_SPIN_CF) * by_a, kinetic, -by_z * z); /* kinetic dF/dkinetic */
  *e = slope * d.n * f;
  *v = slope * XC_FMA((R)(-5.0 / 3), f_k, XC_FMA((R)(-8.0 / 3) * p, f_p, (R)(4.0 / 3) * f));
  *s = (R)(-XC_SLATER * XC_S2) * i4 * f_p;
  *t = slope * d.n / tau * f_k;
}

/* ------------------------------------------------------- TPSS correlation */

/** C(zeta, xi) of eq. (13) and (14), and n dC/dn, dC/dzeta, dC/dsigma_.. */
typedef struct XC_(xc_tpss_c0) {
  R c, n, z, aa, ab, bb;
} XC_(xc_tpss_c0);

TSL_FN XC_TPSS_C0 XC_(xc_tpss_c0_of)(const XC_SPINS *s, R saa, R sab, R sbb) {
  const R z2 = s->zeta * s->zeta, r2 = s->r * s->r, scale = (R)XC_P2 * r2 * r2 * r2 * r2;
  const R c00 = XC_FMA(XC_FMA(XC_FMA((R)2.26, z2, (R)0.50), z2, (R)0.87), z2, (R)0.53);
  const R c00_z = s->zeta * XC_FMA(XC_FMA((R)13.56, z2, (R)2), z2, (R)1.74);
  const R pi = s->p_inverse, mi = s->m_inverse, p4 = pi * pi * pi * pi, m4 = mi * mi * mi * mi;
  const R h = (R)0.5 * scale * (p4 + m4);
  const R h_z = (R)(-2.0 / 3) * scale * (p4 * pi * pi * pi - m4 * mi * mi * mi);
  const R mm = s->m * s->m, pm = s->p * s->m, pp = s->p * s->p;
  const R y = XC_FMA(mm, saa, XC_FMA((R)-2 * pm, sab, pp * sbb));
  const R y_z = (R)2 * XC_FMA(s->p, sbb, XC_FMA(s->p - s->m, sab, -s->m * saa));
  const R k = h * y, whole = (R)1 / ((R)1 + k), whole2 = whole * whole;
  XC_TPSS_C0 out;
  out.c = c00 * whole2 * whole2;
  const R fall = (R)-4 * out.c * whole;
  out.n = (R)(-8.0 / 3) * k * fall;
  out.z = XC_FMA(c00_z * whole2, whole2, fall * XC_FMA(h, y_z, h_z * y));
  out.aa = fall * h * mm;
  out.ab = (R)-2 * fall * h * pm;
  out.bb = fall * h * pp;
  return out;
}

/** PBE correlation of a spin alone with n^(-1/3) = r. */
TSL_FN XC_PARTICLE XC_(xc_pbe_ferro)(R n, R r, R sigma) {
  const R y = (R)XC_RS * r, r2 = r * r;
  return XC_(xc_pbe_particle)(XC_(xc_pw92_ferro)(XC_SQRT(y), y), (R)(0.5 * XC_GAMMA), (R)0,
                              (R)(XC_T2 * XC_CBRT2 * XC_CBRT2) * r2 * r2 * r2 * r, n, sigma);
}

/** Eq. (11) and (12): f = e (1 + 2.8 e w^3), e = g - w^2 q + c w^2 (g - q), w = tau_W/tau.
 *  Derivatives of f by g, q, c and w. */
typedef struct XC_(xc_tpss_c) {
  R f, g, q, c, w;
} XC_(xc_tpss_c);

TSL_FN XC_TPSS_C XC_(xc_tpss_c_of)(R g, R q, R c, R w) {
  const R w2 = w * w, d = (R)2.8, gap = g - q;
  const R e = XC_FMA(c * w2, gap, XC_FMA(-w2, q, g)), de = d * e * w2;
  const R slope = XC_FMA((R)2 * de, w, (R)1);
  XC_TPSS_C out;
  out.f = e * XC_FMA(de, w, (R)1);
  out.g = slope * XC_FMA(c, w2, (R)1);
  out.q = -slope * XC_FMA(c, w2, w2);
  out.c = slope * w2 * gap;
  out.w = XC_FMA((R)2 * slope * w, XC_FMA(c, gap, -q), (R)3 * de * e);
  return out;
}

/** TPSS correlation without polarisation: C = 0.53, both spins alike. */
TSL_FN void XC_(xc_tpss_c_rks)(R weight, XC_DENSITY d, R sigma, R tau, XC_RKS *out) {
  const XC_PARTICLE g = XC_(xc_pbe_alike)(d, sigma);
  XC_PARTICLE q = XC_(xc_pbe_ferro)((R)0.5 * d.n, (R)XC_CBRT2 * d.inverse, (R)0.25 * sigma);
  const int local = q.e < g.e;
  const R unit = (R)1 / ((R)8 * d.n * tau), w = sigma * unit;
  q.e = local ? g.e : q.e;
  q.n = local ? g.n : q.n;
  q.s = local ? g.s : (R)0.5 * q.s; /* n d/dsigma from n/2 d/d(sigma/4) */
  const XC_TPSS_C f = XC_(xc_tpss_c_of)(g.e, q.e, (R)0.53, w);
  const R f_w = f.w * w;
  out->e = XC_FMA(weight, d.n * f.f, out->e);
  out->v = XC_FMA(weight, f.f + XC_FMA(f.g, g.n, XC_FMA(f.q, q.n, -f_w)), out->v);
  out->s = XC_FMA(weight, XC_FMA(f.g, g.s, XC_FMA(f.q, q.s, f.w / ((R)8 * tau))), out->s);
  out->t = XC_FMA(-weight * d.n / tau, f_w, out->t);
}

/** A spin's part of eq. (12): n_s/n max(e_s, e); n d/dn and d/dzeta of it, n d/dsigma_ss (own), and
 *  n d/dsigma of the total density (s). */
TSL_FN XC_PARTICLE XC_(xc_tpss_spin)(XC_PARTICLE g, R n, R share, R r, R sigma, R sign, R *own) {
  const XC_PARTICLE q = XC_(xc_pbe_ferro)(share * n, r, sigma);
  const int local = q.e < g.e;
  XC_PARTICLE out;
  *own = local ? (R)0 : q.s;
  out.e = share * (local ? g.e : q.e);
  out.n = share * (local ? g.n : q.n);
  out.z = (R)0.5 * sign * (local ? g.e : q.e + q.n) + (local ? share * g.z : (R)0);
  out.s = local ? share * g.s : (R)0;
  return out;
}

/** TPSS correlation. tau is that of both spins. */
TSL_FN void XC_(xc_tpss_c_uks)(R weight, const XC_SPINS *s, R saa, R sab, R sbb, R tau,
                               XC_UKS *out) {
  const R sigma = saa + (R)2 * sab + sbb;
  const XC_PARTICLE g = XC_(xc_pbe_spins)(s, sigma);
  R own_a, own_b;
  const XC_PARTICLE qa =
      XC_(xc_tpss_spin)(g, s->n, (R)0.5 * s->p, (R)XC_CBRT2 * s->r / s->p_root, saa, (R)1, &own_a);
  const XC_PARTICLE qb =
      XC_(xc_tpss_spin)(g, s->n, (R)0.5 * s->m, (R)XC_CBRT2 * s->r / s->m_root, sbb, (R)-1, &own_b);
  const XC_TPSS_C0 c = XC_(xc_tpss_c0_of)(s, saa, sab, sbb);
  const R unit = (R)1 / ((R)8 * s->n * tau), ratio = sigma * unit;
  const int full = ratio > (R)1;
  const R w = full ? (R)1 : ratio;
  const XC_TPSS_C f = XC_(xc_tpss_c_of)(g.e, qa.e + qb.e, c.c, w);
  const R f_w = full ? (R)0 : f.w * w, scale = weight * s->n;
  const R v = f.f + XC_FMA(f.g, g.n, XC_FMA(f.q, qa.n + qb.n, XC_FMA(f.c, c.n, -f_w)));
  const R z = XC_FMA(f.g, g.z, XC_FMA(f.q, qa.z + qb.z, f.c * c.z));
  const R all = XC_FMA(f.g, g.s, XC_FMA(f.q, qa.s + qb.s, full ? (R)0 : f.w / ((R)8 * tau)));
  const R slope = f.c * s->n; /* dC/dsigma is not times n yet */
  const R kinetic = -scale / tau * f_w;
  out->e = XC_FMA(scale, f.f, out->e);
  out->a = XC_FMA(weight, XC_FMA(s->m, z, v), out->a);
  out->b = XC_FMA(weight, XC_FMA(-s->p, z, v), out->b);
  out->aa = XC_FMA(weight, XC_FMA(f.q, own_a, XC_FMA(slope, c.aa, all)), out->aa);
  out->ab = XC_FMA(weight, XC_FMA(slope, c.ab, (R)2 * all), out->ab);
  out->bb = XC_FMA(weight, XC_FMA(f.q, own_b, XC_FMA(slope, c.bb, all)), out->bb);
  out->ta += kinetic;
  out->tb += kinetic;
}

/* -------------------------------------------------------- r2SCAN exchange */

/** f(alpha) of r2SCAN and its derivative: a polynomial between 0 and 5/2, exponentials beyond. */
TSL_FN R XC_(xc_r2scan_switch)(R a, R c1, R c2, R d, R f0, R f1, R f2, R f3, R f4, R f5, R f6, R f7,
                               R *slope) {
  const int low = a <= (R)0, high = a > (R)2.5;
  const R x = low ? (R)0 : high ? (R)2.5 : a;
  const R outside = low ? a : high ? a : (R)2.5, g = (R)1 / ((R)1 - outside);
  const R factor = low ? -c1 : c2;
  const R tail = (low ? (R)1 : -d) * XC_(xc_exp_any)(factor * g * (low ? a : (R)1));
  const R inner = XC_FMA(
      XC_FMA(XC_FMA(XC_FMA(XC_FMA(XC_FMA(XC_FMA(f7, x, f6), x, f5), x, f4), x, f3), x, f2), x, f1),
      x, f0);
  const R inner_slope = XC_FMA(
      XC_FMA(XC_FMA(XC_FMA(XC_FMA(XC_FMA((R)7 * f7, x, (R)6 * f6), x, (R)5 * f5), x, (R)4 * f4), x,
                    (R)3 * f3),
             x, (R)2 * f2),
      x, f1);
  *slope = low || high ? factor * g * g * tail : inner_slope;
  return low || high ? tail : inner;
}

/** r2SCAN exchange of one spin: e, de/dn, de/dsigma, de/dtau. */
TSL_FN void XC_(xc_r2scan_x)(XC_DENSITY d, R sigma, R tau, R *e, R *v, R *s, R *t) {
  const R h0 = (R)1.174, k1 = (R)0.065, eta = (R)0.001, ge = (R)(10.0 / 81), a1 = (R)4.9479;
  const R damp = (R)(1 / (0.361 * 0.361 * 0.361 * 0.361));
  const R i2 = d.inverse * d.inverse, i4 = i2 * i2, local = (R)-XC_SLATER * d.root;
  const R p = (R)XC_S2 * (sigma * i4) * i4, kinetic = (R)(1 / XC_SPIN_CF) * tau * i4 * d.inverse;
  const R whole = (R)1 / XC_FMA((R)(5.0 / 3) * eta, p, (R)1);
  const R a = XC_FMA((R)(-5.0 / 3), p, kinetic) * whole;
  const R a_p = (R)(-5.0 / 3) * XC_FMA(eta, a, (R)1) * whole;
  R f_a;
  const R f = XC_(xc_r2scan_switch)(a, (R)0.667, (R)0.8, (R)1.24, XC_R2SCAN_FX(R), &f_a);
  const R pd = damp * p * p, fade = XC_(xc_exp_any)(-pd);
  const R x = p * XC_FMA((R)XC_R2SCAN_CX, fade, ge);
  const R x_p = XC_FMA((R)XC_R2SCAN_CX * fade, XC_FMA((R)-2, pd, (R)1), ge);
  const R rest = (R)1 / XC_FMA((R)(1 / 0.065), x, (R)1), h1 = (R)1 + k1 * ((R)1 - rest);
  const R root = (R)1 / XC_SQRT(XC_SQRT(XC_(xc_raise)(p, (R)1e-20))), root2 = root * root;
  const R off = XC_(xc_exp_any)(-a1 * root), g = (R)1 - off;
  const R g_p = (R)-0.25 * a1 * off * root * root2 * root2;
  const R gap = h0 - h1, h = XC_FMA(f, gap, h1), by_a = g * f_a * gap;
  const R f_p = XC_FMA(g * ((R)1 - f) * rest * rest, x_p, XC_FMA(by_a, a_p, g_p * h));
  const R f_k = by_a * whole, all = g * h;
  *e = local * d.n * all;
  *v = local *
       XC_FMA((R)(-5.0 / 3) * kinetic, f_k, XC_FMA((R)(-8.0 / 3) * p, f_p, (R)(4.0 / 3) * all));
  *s = (R)(-XC_SLATER * XC_S2) * i4 * f_p;
  *t = (R)(-XC_SLATER / XC_SPIN_CF) * d.inverse * f_k;
}

/* ----------------------------------------------------- r2SCAN correlation */

/** A quantity and its derivatives: x d/dx with x = sqrt(r_s), by zeta, by p = s^2. */
typedef struct XC_(xc_slopes) {
  R e, x, z, p;
} XC_(xc_slopes);

/** Without polarisation and gradient: -b1 / (1 + b2 x + b3 x^2), x d/dx of it, and again. */
TSL_FN R XC_(xc_r2scan_lda)(R x, R y, R *once, R *twice) {
  const R b1 = (R)0.0285764, b2 = (R)0.0889 * x, b3 = (R)0.125541 * y;
  const R h = (R)1 / ((R)1 + b2 + b3), rise = XC_FMA((R)2, b3, b2), again = XC_FMA((R)4, b3, b2);
  *once = b1 * h * h * rise;
  *twice = b1 * h * h * XC_FMA((R)-2 * h * rise, rise, again);
  return -b1 * h;
}

/** Gc(zeta) and its derivative. */
TSL_FN R XC_(xc_r2scan_gc)(const XC_SPINS *s, R *slope) {
  const R z = s->zeta, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2;
  const R dx = (R)0.5 * XC_FMA(s->p, s->p_root, s->m * s->m_root), c = (R)2.363;
  const R dx_z = (R)(2.0 / 3) * (s->p_slope - s->m_slope);
  const R front = XC_FMA(-c, dx - (R)1, (R)1);
  const R rest = s->p * s->m * ((R)1 + z2 + z4) * ((R)1 + z6); /* 1 - zeta^12 */
  *slope = XC_FMA(-c * dx_z, rest, (R)-12 * front * z4 * z6 * z);
  return front * rest;
}

/** The limit alpha = 0: E0, from the local energy and Gc. */
TSL_FN XC_SLOPES XC_(xc_r2scan_e0)(R local, R once, R gc, R gc_z, R p) {
  const R b1 = (R)0.0285764, four_chi = (R)(4 * 0.12802585262625815),
          q = (R)(-1 / 0.0285764) * local;
  const R w = XC_(xc_expm1)(q), steep = (R)1 / XC_FMA(four_chi, p, (R)1);
  const R g = XC_SQRT(XC_SQRT(steep)), low = (R)1 / XC_FMA(w, (R)1 - g, (R)1);
  const int small = g > (R)0.5;
  const R logs = XC_(xc_log1p)(small ? w * ((R)1 - g) : -w * g / ((R)1 + w));
  const R all = b1 * (small ? logs - q : logs);
  XC_SLOPES out;
  out.e = all * gc;
  out.x = g * once * gc * low;
  out.z = all * gc_z;
  out.p = (R)0.25 * b1 * w * four_chi * g * steep * low * gc;
  return out;
}

/** What E1 has beside p: local energy e with its slopes, those of x de/dx, gap to E0, of spins. */
typedef struct XC_(xc_r2scan_local) {
  XC_ENERGY e, x; /**< of PW92: e, x, z; and of its x */
  R v, v_x, v_z;  /**< braces of eq. (S34) */
  R phi3, bend;   /**< phi^3, dlog(phi)/dzeta */
  R ds, ds_bend;  /**< d_s, dlog(d_s)/dzeta */
} XC_(xc_r2scan_local);

/** The limit alpha = 1: E1 = gamma phi^3 log(1 - w g / (1 + w)), g = (1 + 4 j)^(-1/4). */
TSL_FN XC_SLOPES XC_(xc_r2scan_e1)(const XC_R2SCAN_LOCAL *l, R rs, R phi2, R p) {
  const R gamma = (R)XC_GAMMA * l->phi3, q = -l->e.e / gamma, q_x = -l->e.x / gamma;
  const R q_z = -XC_FMA((R)3 * l->bend, q, l->e.z / gamma);
  const R damp = (R)(1 / (0.361 * 0.361 * 0.361 * 0.361)), pd = damp * p * p;
  const R fade = XC_(xc_exp_any)(-pd), low_beta = (R)1 / XC_FMA((R)0.1778, rs, (R)1);
  const R beta = (R)0.06672455060314922 * XC_FMA((R)0.1, rs, (R)1) * low_beta;
  const R beta_x = (R)(0.06672455060314922 * 2 * (0.1 - 0.1778)) * rs * low_beta * low_beta;
  const R unit = (R)(XC_T2 / XC_P2 * XC_RS / XC_GAMMA) / (phi2 * rs);
  const R other = (R)XC_R2SCAN_DC * fade / (l->ds * l->phi3);
  const R w = XC_(xc_expm1)(q), inverse = (R)1 / w, ew = (R)1 + w;
  const R first = unit * beta, second = other * l->v, m = first - second; /* j = m p / w */
  const R m_x = XC_FMA(unit, XC_FMA((R)-2, beta, beta_x), -other * l->v_x);
  const R m_z = XC_FMA((R)-2 * l->bend, first,
                       XC_FMA(second, XC_FMA((R)3, l->bend, l->ds_bend), -other * l->v_z));
  const R m_p = XC_FMA((R)2 * pd, second, m), j = m * p * inverse;
  const R steep = (R)1 / XC_FMA((R)4, j, (R)1), g = XC_SQRT(XC_SQRT(steep));
  const R low = (R)1 / XC_FMA(w, (R)1 - g, (R)1), g_j = -g * steep;
  const int small = g > (R)0.5;
  const R logs = XC_(xc_log1p)(small ? w * ((R)1 - g) : -w * g / ew);
  const R all = small ? logs - q : logs;
  const R j_x = inverse * XC_FMA(-ew * q_x, j, m_x * p);
  const R j_z = inverse * XC_FMA(-ew * q_z, j, m_z * p);
  XC_SLOPES out;
  out.e = gamma * all;
  out.x = -gamma * low * XC_FMA(g, q_x, w * g_j * j_x);
  out.z = gamma * XC_FMA((R)3 * l->bend, all, -low * XC_FMA(g, q_z, w * g_j * j_z));
  out.p = -gamma * low * g_j * m_p;
  return out;
}

/** r2SCAN correlation; polarised, a constant: without it s has zeta 0. tau is that of both spins.
 *  @param[out] t  de/dtau  @return e per particle, n de/dn, de/dzeta, and s = de/dsigma n */
TSL_FN XC_PARTICLE XC_(xc_r2scan_particle)(const XC_SPINS *s, R sigma, R tau, int polarised, R *t) {
  const R eta = (R)0.001, r2 = s->r * s->r, r5 = r2 * r2 * s->r, y = (R)XC_RS * s->r;
  const R x = XC_SQRT(y), p = (R)XC_P2 * sigma * r5 * r2 * s->r, kinetic = tau * r5 / (R)XC_CF;
  const R p2 = s->p_root * s->p_root, m2 = s->m_root * s->m_root, phi = (R)0.5 * (p2 + m2);
  XC_R2SCAN_LOCAL l;
  R once, twice, gc_z, f_a;
  const R local = XC_(xc_r2scan_lda)(x, y, &once, &twice), gc = XC_(xc_r2scan_gc)(s, &gc_z);
  XC_(xc_pw92_curve)(s, x, y, polarised, &l.e, &l.x);
  l.v = (R)10 * (once * gc - l.e.x) - (R)45 * eta * (local * gc - l.e.e);
  l.v_x = (R)10 * (twice * gc - l.x.x) - (R)45 * eta * (once * gc - l.x.e);
  l.v_z = (R)10 * (once * gc_z - l.x.z) - (R)45 * eta * (local * gc_z - l.e.z);
  l.phi3 = phi * phi * phi;
  l.bend = (R)(1.0 / 3) * (s->p_inverse - s->m_inverse) / phi;
  l.ds = (R)0.5 * XC_FMA(s->p, p2, s->m * m2);
  l.ds_bend = (R)(5.0 / 6) * (p2 - m2) / l.ds;
  const XC_SLOPES e0 = XC_(xc_r2scan_e0)(local, once, gc, gc_z, p);
  const XC_SLOPES e1 = XC_(xc_r2scan_e1)(&l, y, phi * phi, p);
  const R whole = (R)1 / XC_FMA((R)(5.0 / 3) * eta, p, l.ds);
  const R a = XC_FMA((R)(-5.0 / 3), p, kinetic) * whole;
  const R f = XC_(xc_r2scan_switch)(a, (R)0.64, (R)1.5, (R)0.7, XC_R2SCAN_FC(R), &f_a);
  const R gap = e0.e - e1.e, by_a = f_a * gap * whole;
  const R e_x = XC_FMA(f, e0.x - e1.x, e1.x);
  const R e_p = XC_FMA(f, e0.p - e1.p, e1.p) + by_a * (R)(-5.0 / 3) * XC_FMA(eta, a, (R)1);
  XC_PARTICLE out;
  out.e = XC_FMA(f, gap, e1.e);
  out.n =
      XC_FMA((R)(-1.0 / 6), e_x, XC_FMA((R)(-8.0 / 3) * p, e_p, (R)(-5.0 / 3) * kinetic * by_a));
  out.z = XC_FMA(f, e0.z - e1.z, e1.z) - by_a * a * l.ds_bend * l.ds;
  out.s = (R)XC_P2 * r5 * e_p;
  *t = r2 * by_a / (R)XC_CF;
  return out;
}

/** r2SCAN correlation without polarisation. */
TSL_FN void XC_(xc_r2scan_c_rks)(R weight, XC_DENSITY d, R sigma, R tau, XC_RKS *out) {
  const R one = (R)1;
  const XC_SPINS s = {d.n, d.inverse, (R)0, one, one, one, one, one, one, one, one};
  R t;
  const XC_PARTICLE g = XC_(xc_r2scan_particle)(&s, sigma, tau, 0, &t);
  XC_(xc_particle_rks)(weight, d.n, g, out);
  out->t = XC_FMA(weight, t, out->t);
}

/** r2SCAN correlation, which sees the gradient of the total density. */
TSL_FN void XC_(xc_r2scan_c_uks)(R weight, const XC_SPINS *s, R saa, R sab, R sbb, R tau,
                                 XC_UKS *out) {
  R t;
  const XC_PARTICLE g = XC_(xc_r2scan_particle)(s, saa + (R)2 * sab + sbb, tau, 1, &t);
  XC_(xc_particle_uks)(weight, s, g, out);
  out->ta = XC_FMA(weight, t, out->ta);
  out->tb = XC_FMA(weight, t, out->tb);
}

#undef R
