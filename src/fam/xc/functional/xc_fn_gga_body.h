/* PBE and Becke 88 exchange, PBE and LYP correlation of xc_fn.h for one type. No guard: included by
 * xc_fn.h for double and float, after xc_fn_lda_body.h. */

#define R XC_REAL

/* --------------------------------------------------------------- exchange */

/** PBE exchange of one spin: e, de/dn, de/dsigma. F = 1 + kappa t/(1 + t), t = mu s^2 / kappa. */
TSL_FN void XC_(xc_pbe_x)(XC_DENSITY d, R sigma, R *e, R *v, R *s) {
  const R kappa = (R)0.804, scale = (R)(0.2195149727645171 / 0.804 * XC_S2);
  const R i2 = d.inverse * d.inverse, i4 = i2 * i2;
  const R t = scale * (sigma * i4) * i4, whole = (R)1 / ((R)1 + t);
  const R slope = (R)-XC_SLATER * d.root;
  const R part = kappa * (t * whole);
  *e = slope * d.n * ((R)1 + part);
  *v = (R)(4.0 / 3) * slope * XC_FMA(part, (t - (R)1) * whole, (R)1);
  *s = (R)-XC_SLATER * kappa * scale * whole * whole * i4;
}

/**
 * Becke 88 exchange of one spin: e, de/dn, de/dsigma. With q = x^2, x = sqrt(sigma) n^(-4/3),
 * a = arsinh x, D = 1 + 6 beta x a:  e = -n^(4/3) (C + beta q / D).
 */
TSL_FN void XC_(xc_b88)(XC_DENSITY d, R sigma, R *e, R *v, R *s) {
  const R beta = (R)0.0042, six = (R)(6 * 0.0042);
  const R i2 = d.inverse * d.inverse, i4 = i2 * i2;
  const R q = (sigma * i4) * i4, x = XC_SQRT(q), length = XC_SQRT(q + (R)1);
  const R xa = x * XC_(xc_log)(x + length), xr = q / length;
  const R whole = (R)1 / XC_FMA(six, xa, (R)1), bq = beta * q * whole;
  *e = -d.n * d.root * ((R)XC_SLATER + bq);
  *v = (R)(-4.0 / 3) * d.root * XC_FMA(bq * whole, XC_FMA(six, xr, (R)-1), (R)XC_SLATER);
  *s = -beta * i4 * whole * whole * XC_FMA((R)0.5 * six, xa - xr, (R)1);
}

/* -------------------------------------------------------- PBE correlation */

/** L = log(1 - w/((1+w) Y)), its derivatives, and what it lacks to the local limit. */
typedef struct XC_(xc_pbe_log) {
  R l;    /**< L */
  R by_q; /**< dL/dq at constant t^2 */
  R by_t; /**< t^2 dL/dt^2 at constant q */
  R bend; /**< L - q dL/dq, without cancellation at small t */
  R rise; /**< dL/dt^2 gamma / beta: (1 + 2 y)/(Y D) */
} XC_(xc_pbe_log);

/**
 * With w = e^q - 1, y = (beta/gamma) t^2 / w, Y = 1 + y + y^2, D = 1 + (1 + w) y (1 + y):
 *   L = log(1 - w/((1+w) Y)) = log(1 + w y (1 + y)/Y) - q
 * The second form serves y < 1/2, where L - q dL/dq is small, the first one all others.
 * y stops at XC_Y_MOST: L and all derivatives are 0 to rounding there.
 */
TSL_FN XC_PBE_LOG XC_(xc_pbe_log_of)(R q, R t2) {
  const R w = XC_(xc_expm1)(q), ratio = (R)(0.06672455060314922 / XC_GAMMA) * t2 / w;
  const R y = ratio > XC_Y_MOST ? XC_Y_MOST : ratio, ew = (R)1 + w;
  const R up = y * ((R)1 + y), whole = (R)1 / ((R)1 + up), inverse = (R)1 / XC_FMA(ew, up, (R)1);
  const R twice = XC_FMA((R)2, y, (R)1) * whole;
  const int small = y < (R)0.5;
  const R rest = XC_(xc_log1p)(small ? w * up * whole : -w * whole / ew);
  const R from_local = ew * y * whole * inverse * y * y * ((R)2 + y); /* 1 + dL/dq */
  XC_PBE_LOG out;
  out.l = small ? rest - q : rest;
  out.by_q = -XC_FMA(ew * y, twice, (R)1) * inverse;
  out.by_t = w * y * twice * inverse;
  out.bend = small ? XC_FMA(-q, from_local, rest) : XC_FMA(-q, out.by_q, rest);
  out.rise = twice * inverse;
  return out;
}

/** An energy per particle, n d/dn and d/dzeta of it, and its derivative by sigma times n. */
typedef struct XC_(xc_particle) {
  R e, n, z, s;
} XC_(xc_particle);

/**
 * PBE correlation of a particle.
 * @param[in] eps    local energy
 * @param[in] gamma  gamma phi^3
 * @param[in] bend   dlog(phi)/dzeta
 * @param[in] t2     t^2 over sigma
 */
TSL_FN XC_PARTICLE XC_(xc_pbe_particle)(XC_ENERGY eps, R gamma, R bend, R t2, R n, R sigma) {
  const XC_PBE_LOG l = XC_(xc_pbe_log_of)(-eps.e / gamma, t2 * sigma);
  XC_PARTICLE out;
  out.e = gamma * l.l;
  out.n = XC_FMA(l.by_q, eps.x * (R)(1.0 / 6), (R)(-7.0 / 3) * gamma * l.by_t);
  out.z = XC_FMA((R)3 * gamma * bend, XC_FMA((R)(-2.0 / 3), l.by_t, l.bend), -l.by_q * eps.z);
  out.s = (R)(0.06672455060314922 / XC_GAMMA) * gamma * t2 * n * l.rise;
  return out;
}

/** PBE correlation without polarisation. */
TSL_FN XC_PARTICLE XC_(xc_pbe_alike)(XC_DENSITY d, R sigma) {
  const R r = d.inverse, r2 = r * r, y = (R)XC_RS * r;
  return XC_(xc_pbe_particle)(XC_(xc_pw92_rks)(XC_SQRT(y), y), (R)XC_GAMMA, (R)0,
                              (R)XC_T2 * r2 * r2 * r2 * r, d.n, sigma);
}

/** PBE correlation of any spins; sigma is that of the total density. */
TSL_FN XC_PARTICLE XC_(xc_pbe_spins)(const XC_SPINS *s, R sigma) {
  const R r2 = s->r * s->r, r7 = r2 * r2 * r2 * s->r;
  const R phi = (R)0.5 * XC_FMA(s->p_root, s->p_root, s->m_root * s->m_root), phi2 = phi * phi;
  const R bend = (R)(1.0 / 3) * (s->p_inverse - s->m_inverse) / phi;
  return XC_(xc_pbe_particle)(XC_(xc_pw92_uks)(s), (R)XC_GAMMA * phi2 * phi, bend,
                              (R)XC_T2 * r7 / phi2, s->n, sigma);
}

/** Of a functional of the total density's gradient, weight times e, v, s to the sums. */
TSL_FN void XC_(xc_particle_rks)(R weight, R n, XC_PARTICLE g, XC_RKS *out) {
  out->e = XC_FMA(weight, n * g.e, out->e);
  out->v = XC_FMA(weight, g.e + g.n, out->v);
  out->s = XC_FMA(weight, g.s, out->s);
}

TSL_FN void XC_(xc_particle_uks)(R weight, const XC_SPINS *s, XC_PARTICLE g, XC_UKS *out) {
  const R v = g.e + g.n;
  out->e = XC_FMA(weight, s->n * g.e, out->e);
  out->a = XC_FMA(weight, XC_FMA(s->m, g.z, v), out->a);
  out->b = XC_FMA(weight, XC_FMA(-s->p, g.z, v), out->b);
  out->aa = XC_FMA(weight, g.s, out->aa);
  out->ab = XC_FMA((R)2 * weight, g.s, out->ab);
  out->bb = XC_FMA(weight, g.s, out->bb);
}

/** PBE correlation without polarisation. */
TSL_FN void XC_(xc_pbe_c_rks)(R weight, XC_DENSITY d, R sigma, XC_RKS *out) {
  const XC_PARTICLE g = XC_(xc_pbe_alike)(d, sigma);
  XC_(xc_particle_rks)(weight, d.n, g, out);
}

/** PBE correlation, which sees the gradient of the total density. */
TSL_FN void XC_(xc_pbe_c_uks)(R weight, const XC_SPINS *s, R saa, R sab, R sbb, XC_UKS *out) {
  const XC_PARTICLE g = XC_(xc_pbe_spins)(s, saa + (R)2 * sab + sbb);
  XC_(xc_particle_uks)(weight, s, g, out);
}

/* -------------------------------------------------------- LYP correlation */

/** What LYP needs of r = n^(-1/3); the derivatives are n d/dn. */
typedef struct XC_(xc_lyp) {
  R first, first_n; /**< 1/(1 + d r) */
  R e;              /**< a b exp(-c r)/(1 + d r); n d/dn of it is e delta/3 */
  R delta, delta_n; /**< c r + d r/(1 + d r) */
} XC_(xc_lyp);

TSL_FN XC_LYP XC_(xc_lyp_of)(R r) {
  const R c = (R)XC_LYP_C, d = (R)XC_LYP_D, whole = (R)1 / XC_FMA(d, r, (R)1);
  XC_LYP out;
  out.first = whole;
  out.first_n = whole * whole * d * r * (R)(1.0 / 3);
  out.e = (R)(XC_LYP_A * XC_LYP_B) * XC_(xc_exp_any)(-c * r) * whole;
  out.delta = r * XC_FMA(d, whole, c);
  out.delta_n = r * (R)(-1.0 / 3) * XC_FMA(d * whole, whole, c);
  return out;
}

/** e = n (-a/(1+dr) - C_F E) + E n^(-5/3) sigma (3 + 7 delta)/72. */
TSL_FN void XC_(xc_lyp_rks)(R weight, XC_DENSITY d, R sigma, XC_RKS *out) {
  const XC_LYP l = XC_(xc_lyp_of)(d.inverse);
  const R r2 = d.inverse * d.inverse, r5 = r2 * r2 * d.inverse, tau = sigma * r5 * r2 * d.inverse;
  const R g = XC_FMA((R)-XC_LYP_A, l.first, (R)-XC_CF * l.e);
  const R g_n = XC_FMA((R)-XC_LYP_A, l.first_n, (R)(-XC_CF / 3) * l.e * l.delta);
  const R b = (R)(1.0 / 72) * XC_FMA((R)7, l.delta, (R)3);
  const R b_n = XC_FMA((l.delta - (R)5) * (R)(1.0 / 3), b, (R)(7.0 / 72) * l.delta_n);
  out->e = XC_FMA(weight, d.n * XC_FMA(l.e * tau, b, g), out->e);
  out->v = XC_FMA(weight, g + XC_FMA(l.e * tau, b_n, g_n), out->v);
  out->s = XC_FMA(weight, l.e * r5 * b, out->s);
}

/**
 * The coefficient B of -E n^(-5/3) sigma_aa, from p = n_a/n, m = n_b/n:
 * B = p m / 9 (1 - 3 delta - (delta - 11) p) - m^2. Swap p and m for sigma_bb.
 * @param[out] n  n dB/dn of E n^(-5/3) B over E n^(-5/3)
 * @param[out] z  dB/dp - dB/dm
 */
TSL_FN R XC_(xc_lyp_same)(const XC_LYP *l, R p, R m, R *n, R *z) {
  const R tilt = l->delta - (R)11, inner = XC_FMA((R)-3, l->delta, (R)1) - tilt * p;
  const R b = XC_FMA(p * m * (R)(1.0 / 9), inner, -m * m);
  *n = XC_FMA((l->delta - (R)5) * (R)(1.0 / 3), b, (R)(-1.0 / 9) * p * m * ((R)3 + p) * l->delta_n);
  *z = XC_FMA((R)(1.0 / 9), (m - p) * inner - p * m * tilt, (R)2 * m);
  return b;
}

/** Of -E n^(-5/3) sigma_ab: B = p m (47 - 7 delta)/9 - 4/3. */
TSL_FN R XC_(xc_lyp_cross)(const XC_LYP *l, R p, R m, R *n, R *z) {
  const R inner = (R)(1.0 / 9) * XC_FMA((R)-7, l->delta, (R)47);
  const R b = XC_FMA(p * m, inner, (R)(-4.0 / 3));
  *n = XC_FMA((l->delta - (R)5) * (R)(1.0 / 3), b, (R)(-7.0 / 9) * p * m * l->delta_n);
  *z = (m - p) * inner;
  return b;
}

TSL_FN void XC_(xc_lyp_uks)(R weight, const XC_SPINS *s, R saa, R sab, R sbb, XC_UKS *out) {
  const XC_LYP l = XC_(xc_lyp_of)(s->r);
  const R p = (R)0.5 * s->p, m = (R)0.5 * s->m, pm = p * m;
  const R r2 = s->r * s->r, r5 = r2 * r2 * s->r, r8 = r5 * r2 * s->r;
  /* C_F 2^(11/3) p^(8/3) = 4 C_F p (2 p)^(5/3) */
  const R p53 = s->p * s->p_root * s->p_root, m53 = s->m * s->m_root * s->m_root;
  const R kinetic = (R)(4 * XC_CF) * XC_FMA(p, p53, m * m53);
  const R bare = XC_FMA((R)(-4 * XC_LYP_A), l.first, -l.e * kinetic), g = pm * bare;
  const R g_n = pm * XC_FMA((R)(-4 * XC_LYP_A), l.first_n, (R)(-1.0 / 3) * l.delta * l.e * kinetic);
  const R g_z = XC_FMA(m - p, bare, (R)(-32.0 / 3 * XC_CF) * l.e * pm * (p53 - m53));
  R aa_n, aa_z, ab_n, ab_z, bb_n, bb_z;
  const R aa = XC_(xc_lyp_same)(&l, p, m, &aa_n, &aa_z);
  const R ab = XC_(xc_lyp_cross)(&l, p, m, &ab_n, &ab_z);
  const R bb = XC_(xc_lyp_same)(&l, m, p, &bb_n, &bb_z);
  const R taa = saa * r8, tab = sab * r8, tbb = sbb * r8, scale = -weight * l.e * r5;
  const R slope = XC_FMA(tab, ab, XC_FMA(taa, aa, tbb * bb));
  const R slope_n = XC_FMA(tab, ab_n, XC_FMA(taa, aa_n, tbb * bb_n));
  const R slope_z = XC_FMA(tab, ab_z, XC_FMA(taa, aa_z, -tbb * bb_z));
  const R v = g + XC_FMA(-l.e, slope_n, g_n), z = XC_FMA(-l.e, slope_z, g_z);
  out->e = XC_FMA(weight, s->n * XC_FMA(-l.e, slope, g), out->e);
  out->a = XC_FMA(weight, XC_FMA(m, z, v), out->a);
  out->b = XC_FMA(weight, XC_FMA(-p, z, v), out->b);
  out->aa = XC_FMA(scale, aa, out->aa);
  out->ab = XC_FMA(scale, ab, out->ab);
  out->bb = XC_FMA(scale, bb, out->bb);
}

#undef R
