/* Bodies of xc_functions.h for one type; included once for double and once for float. No guard: the
 * includer sets XC_REAL, XC_(name) and XC_FMA; the end unsets them. */

#define R XC_REAL

/** f = sum_k c_k exp(-a_k r2) and g = 2 df/d(r2) of n primitives. */
TSL_FN void XC_(xc_radial)(int n, const R *a, const R *c, R r2, R *f, R *g) {
  R sum = 0, slope = 0;
  for (int k = 0; k < n; k++) {
    const R e = c[k] * XC_(xc_exp)(-a[k] * r2);
    sum += e;
    slope = XC_FMA(-a[k], e, slope);
  }
  *f = sum;
  *g = slope + slope;
}

/** What the bodies below fill: functions and their gradients, [1..15] each. */
#define XC_OUT R *value, R *dx, R *dy, R *dz

/* Function i: polynomial p with partial derivatives px, py, pz. */
#define P_(i, p, px, py, pz)                  \
  do {                                        \
    const R at = (p);                         \
    value[i] = at * f;                        \
    dx[i] = XC_FMA((R)(px), f, at * (x * g)); \
    dy[i] = XC_FMA((R)(py), f, at * (y * g)); \
    dz[i] = XC_FMA((R)(pz), f, at * (z * g)); \
  } while (0)

/* -------------------------------------------------------------- spherical */

TSL_FN void XC_(xc_spherical_1)(R x, R y, R z, R f, R g, XC_OUT) {
  P_(0, y, 0, 1, 0);
  P_(1, z, 0, 0, 1);
  P_(2, x, 1, 0, 0);
}

TSL_FN void XC_(xc_spherical_2)(R x, R y, R z, R f, R g, XC_OUT) {
  const R s = (R)1.7320508075688772935, h = (R)0.8660254037844386468; /* sqrt(3), sqrt(3)/2 */
  P_(0, s * x * y, s * y, s * x, 0);
  P_(1, s * y * z, 0, s * z, s * y);
  P_(2, z * z - (R)0.5 * (x * x + y * y), -x, -y, z + z);
  P_(3, s * x * z, s * z, 0, s * x);
  P_(4, h * (x * x - y * y), s * x, -s * y, 0);
}

TSL_FN void XC_(xc_spherical_3)(R x, R y, R z, R f, R g, XC_OUT) {
  const R s3 = (R)0.79056941504209483300; /* sqrt(5/8) */
  const R s2 = (R)3.8729833462074168852;  /* sqrt(15) */
  const R s1 = (R)0.61237243569579452455; /* sqrt(3/8) */
  const R xx = x * x, yy = y * y, zz = z * z;
  P_(0, s3 * y * (3 * xx - yy), 6 * s3 * x * y, 3 * s3 * (xx - yy), 0);
  P_(1, s2 * x * y * z, s2 * y * z, s2 * x * z, s2 * x * y);
  P_(2, s1 * y * (4 * zz - xx - yy), -2 * s1 * x * y, s1 * (4 * zz - xx - 3 * yy), 8 * s1 * y * z);
  P_(3, z * (zz - (R)1.5 * (xx + yy)), -3 * x * z, -3 * y * z, 3 * zz - (R)1.5 * (xx + yy));
  P_(4, s1 * x * (4 * zz - xx - yy), s1 * (4 * zz - 3 * xx - yy), -2 * s1 * x * y, 8 * s1 * x * z);
  P_(5, (R)0.5 * s2 * z * (xx - yy), s2 * x * z, -s2 * y * z, (R)0.5 * s2 * (xx - yy));
  P_(6, s3 * x * (xx - 3 * yy), 3 * s3 * (xx - yy), -6 * s3 * x * y, 0);
}

TSL_FN void XC_(xc_spherical_4)(R x, R y, R z, R f, R g, XC_OUT) {
  const R s4 = (R)2.9580398915498080213;  /* sqrt(35)/2 */
  const R s3 = (R)2.0916500663351888699;  /* sqrt(35/8) */
  const R s2 = (R)1.1180339887498948482;  /* sqrt(5)/2 */
  const R s1 = (R)0.79056941504209483300; /* sqrt(5/8) */
  const R xx = x * x, yy = y * y, zz = z * z, q = xx + yy;
  const R u = 6 * zz - q, v = 4 * zz - 3 * q;
  P_(0, s4 * x * y * (xx - yy), s4 * y * (3 * xx - yy), s4 * x * (xx - 3 * yy), 0);
  P_(1, s3 * y * z * (3 * xx - yy), 6 * s3 * x * y * z, 3 * s3 * z * (xx - yy),
     s3 * y * (3 * xx - yy));
  P_(2, s2 * x * y * u, s2 * y * (u - 2 * xx), s2 * x * (u - 2 * yy), 12 * s2 * x * y * z);
  P_(3, s1 * y * z * v, -6 * s1 * x * y * z, s1 * z * (v - 6 * yy), s1 * y * (v + 8 * zz));
  P_(4, zz * zz - 3 * zz * q + (R)0.375 * q * q, x * ((R)1.5 * q - 6 * zz),
     y * ((R)1.5 * q - 6 * zz), z * (4 * zz - 6 * q));
  P_(5, s1 * x * z * v, s1 * z * (v - 6 * xx), -6 * s1 * x * y * z, s1 * x * (v + 8 * zz));
  P_(6, (R)0.5 * s2 * (xx - yy) * u, s2 * x * (u - (xx - yy)), -s2 * y * (u + (xx - yy)),
     6 * s2 * z * (xx - yy));
  P_(7, s3 * x * z * (xx - 3 * yy), 3 * s3 * z * (xx - yy), -6 * s3 * x * y * z,
     s3 * x * (xx - 3 * yy));
  P_(8, (R)0.25 * s4 * (xx * xx - 6 * xx * yy + yy * yy), s4 * x * (xx - 3 * yy),
     s4 * y * (yy - 3 * xx), 0);
}

/* -------------------------------------------------------------- Cartesian */

/* Monomial x^a y^b z^c; a, b, c are digits: Xa is x^a and Ja its derivative. */
#define M_(i, a, b, c) P_(i, X##a *Y##b *Z##c, J##a *Y##b *Z##c, X##a *K##b *Z##c, X##a *Y##b *L##c)

TSL_FN void XC_(xc_cartesian)(int l, R x, R y, R z, R f, R g, XC_OUT) {
  const R X0 = 1, X1 = x, X2 = x * x, X3 = X2 * x, X4 = X2 * X2;
  const R Y0 = 1, Y1 = y, Y2 = y * y, Y3 = Y2 * y, Y4 = Y2 * Y2;
  const R Z0 = 1, Z1 = z, Z2 = z * z, Z3 = Z2 * z, Z4 = Z2 * Z2;
  const R J0 = 0, J1 = 1, J2 = 2 * x, J3 = 3 * X2, J4 = 4 * X3;
  const R K0 = 0, K1 = 1, K2 = 2 * y, K3 = 3 * Y2, K4 = 4 * Y3;
  const R L0 = 0, L1 = 1, L2 = 2 * z, L3 = 3 * Z2, L4 = 4 * Z3;
  if (l == 0) {
    M_(0, 0, 0, 0);
  } else if (l == 1) {
    M_(0, 1, 0, 0);
    M_(1, 0, 1, 0);
    M_(2, 0, 0, 1);
  } else if (l == 2) {
    M_(0, 2, 0, 0);
    M_(1, 1, 1, 0);
    M_(2, 1, 0, 1);
    M_(3, 0, 2, 0);
    M_(4, 0, 1, 1);
    M_(5, 0, 0, 2);
  } else if (l == 3) {
    M_(0, 3, 0, 0);
    M_(1, 2, 1, 0);
    M_(2, 2, 0, 1);
    M_(3, 1, 2, 0);
    M_(4, 1, 1, 1);
    M_(5, 1, 0, 2);
    M_(6, 0, 3, 0);
    M_(7, 0, 2, 1);
    M_(8, 0, 1, 2);
    M_(9, 0, 0, 3);
  } else if (l == 4) {
    M_(0, 4, 0, 0);
    M_(1, 3, 1, 0);
    M_(2, 3, 0, 1);
    M_(3, 2, 2, 0);
    M_(4, 2, 1, 1);
    M_(5, 2, 0, 2);
    M_(6, 1, 3, 0);
    M_(7, 1, 2, 1);
    M_(8, 1, 1, 2);
    M_(9, 1, 0, 3);
    M_(10, 0, 4, 0);
    M_(11, 0, 3, 1);
    M_(12, 0, 2, 2);
    M_(13, 0, 1, 3);
    M_(14, 0, 0, 4);
  }
}

/** Values and gradients of the functions of a shell at (x, y, z) from its centre. */
TSL_FN void XC_(xc_functions)(int l, int spherical, R x, R y, R z, R f, R g, XC_OUT) {
  if (l == 0 || !spherical)
    XC_(xc_cartesian)(l, x, y, z, f, g, value, dx, dy, dz);
  else if (l == 1)
    XC_(xc_spherical_1)(x, y, z, f, g, value, dx, dy, dz);
  else if (l == 2)
    XC_(xc_spherical_2)(x, y, z, f, g, value, dx, dy, dz);
  else if (l == 3)
    XC_(xc_spherical_3)(x, y, z, f, g, value, dx, dy, dz);
  else
    XC_(xc_spherical_4)(x, y, z, f, g, value, dx, dy, dz);
}

/** Values alone; the compiler drops what only the gradient needs. */
TSL_FN void XC_(xc_function_values)(int l, int spherical, R x, R y, R z, R f, R *value) {
  R dx[XC_MAX_FUNCTIONS], dy[XC_MAX_FUNCTIONS], dz[XC_MAX_FUNCTIONS];
  XC_(xc_functions)(l, spherical, x, y, z, f, 0, value, dx, dy, dz);
}

#undef M_
#undef P_
#undef XC_OUT
#undef R
#undef XC_REAL
#undef XC_
#undef XC_FMA
