/* Polynomials of the functions of a shell (xc_functions.h); included by xc_functions_body.h for
 * gradients and for second derivatives. No guard: the includer sets XC_SHELL_(name), XC_PARTS (f, g
 * and what else P_ needs), XC_OUT (what is filled), XC_PASS (names of both) and
 *   P_(i, p, x, y, z, xx, xy, xz, yy, yz, zz)
 * function i with its polynomial p and the derivatives of that; the end unsets them. */

/* -------------------------------------------------------------- spherical */

TSL_FN void XC_SHELL_(xc_spherical_1)(R x, R y, R z, XC_PARTS, XC_OUT) {
  P_(0, y, 0, 1, 0, 0, 0, 0, 0, 0, 0);
  P_(1, z, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  P_(2, x, 1, 0, 0, 0, 0, 0, 0, 0, 0);
}

TSL_FN void XC_SHELL_(xc_spherical_2)(R x, R y, R z, XC_PARTS, XC_OUT) {
  const R s = (R)1.7320508075688772935, half = (R)0.8660254037844386468; /* sqrt(3), sqrt(3)/2 */
  P_(0, s * x * y, s * y, s * x, 0, 0, s, 0, 0, 0, 0);
  P_(1, s * y * z, 0, s * z, s * y, 0, 0, 0, 0, s, 0);
  P_(2, z * z - (R)0.5 * (x * x + y * y), -x, -y, z + z, -1, 0, 0, -1, 0, 2);
  P_(3, s * x * z, s * z, 0, s * x, 0, 0, s, 0, 0, 0);
  P_(4, half * (x * x - y * y), s * x, -s * y, 0, s, 0, 0, -s, 0, 0);
}

TSL_FN void XC_SHELL_(xc_spherical_3)(R x, R y, R z, XC_PARTS, XC_OUT) {
  const R s3 = (R)0.79056941504209483300; /* sqrt(5/8) */
  const R s2 = (R)3.8729833462074168852;  /* sqrt(15) */
  const R s1 = (R)0.61237243569579452455; /* sqrt(3/8) */
  const R xx = x * x, yy = y * y, zz = z * z;
  P_(0, s3 * y * (3 * xx - yy), 6 * s3 * x * y, 3 * s3 * (xx - yy), 0, 6 * s3 * y, 6 * s3 * x, 0,
     -6 * s3 * y, 0, 0);
  P_(1, s2 * x * y * z, s2 * y * z, s2 * x * z, s2 * x * y, 0, s2 * z, s2 * y, 0, s2 * x, 0);
  P_(2, s1 * y * (4 * zz - xx - yy), -2 * s1 * x * y, s1 * (4 * zz - xx - 3 * yy), 8 * s1 * y * z,
     -2 * s1 * y, -2 * s1 * x, 0, -6 * s1 * y, 8 * s1 * z, 8 * s1 * y);
  P_(3, z * (zz - (R)1.5 * (xx + yy)), -3 * x * z, -3 * y * z, 3 * zz - (R)1.5 * (xx + yy), -3 * z,
     0, -3 * x, -3 * z, -3 * y, 6 * z);
  P_(4, s1 * x * (4 * zz - xx - yy), s1 * (4 * zz - 3 * xx - yy), -2 * s1 * x * y, 8 * s1 * x * z,
     -6 * s1 * x, -2 * s1 * y, 8 * s1 * z, -2 * s1 * x, 0, 8 * s1 * x);
  P_(5, (R)0.5 * s2 * z * (xx - yy), s2 * x * z, -s2 * y * z, (R)0.5 * s2 * (xx - yy), s2 * z, 0,
     s2 * x, -s2 * z, -s2 * y, 0);
  P_(6, s3 * x * (xx - 3 * yy), 3 * s3 * (xx - yy), -6 * s3 * x * y, 0, 6 * s3 * x, -6 * s3 * y, 0,
     -6 * s3 * x, 0, 0);
}

TSL_FN void XC_SHELL_(xc_spherical_4)(R x, R y, R z, XC_PARTS, XC_OUT) {
  const R s4 = (R)2.9580398915498080213;  /* sqrt(35)/2 */
  const R s3 = (R)2.0916500663351888699;  /* sqrt(35/8) */
  const R s2 = (R)1.1180339887498948482;  /* sqrt(5)/2 */
  const R s1 = (R)0.79056941504209483300; /* sqrt(5/8) */
  const R xx = x * x, yy = y * y, zz = z * z, q = xx + yy;
  const R u = 6 * zz - q, v = 4 * zz - 3 * q;
  P_(0, s4 * x * y * (xx - yy), s4 * y * (3 * xx - yy), s4 * x * (xx - 3 * yy), 0, 6 * s4 * x * y,
     3 * s4 * (xx - yy), 0, -6 * s4 * x * y, 0, 0);
  P_(1, s3 * y * z * (3 * xx - yy), 6 * s3 * x * y * z, 3 * s3 * z * (xx - yy),
     s3 * y * (3 * xx - yy), 6 * s3 * y * z, 6 * s3 * x * z, 6 * s3 * x * y, -6 * s3 * y * z,
     3 * s3 * (xx - yy), 0);
  P_(2, s2 * x * y * u, s2 * y * (u - 2 * xx), s2 * x * (u - 2 * yy), 12 * s2 * x * y * z,
     -6 * s2 * x * y, s2 * (u - 2 * q), 12 * s2 * y * z, -6 * s2 * x * y, 12 * s2 * x * z,
     12 * s2 * x * y);
  P_(3, s1 * y * z * v, -6 * s1 * x * y * z, s1 * z * (v - 6 * yy), s1 * y * (v + 8 * zz),
     -6 * s1 * y * z, -6 * s1 * x * z, -6 * s1 * x * y, -18 * s1 * y * z,
     s1 * (v - 6 * yy + 8 * zz), 24 * s1 * y * z);
  P_(4, zz * zz - 3 * zz * q + (R)0.375 * q * q, x * ((R)1.5 * q - 6 * zz),
     y * ((R)1.5 * q - 6 * zz), z * (4 * zz - 6 * q), (R)1.5 * q - 6 * zz + 3 * xx, 3 * x * y,
     -12 * x * z, (R)1.5 * q - 6 * zz + 3 * yy, -12 * y * z, 12 * zz - 6 * q);
  P_(5, s1 * x * z * v, s1 * z * (v - 6 * xx), -6 * s1 * x * y * z, s1 * x * (v + 8 * zz),
     -18 * s1 * x * z, -6 * s1 * y * z, s1 * (v - 6 * xx + 8 * zz), -6 * s1 * x * z,
     -6 * s1 * x * y, 24 * s1 * x * z);
  P_(6, (R)0.5 * s2 * (xx - yy) * u, s2 * x * (u - (xx - yy)), -s2 * y * (u + (xx - yy)),
     6 * s2 * z * (xx - yy), s2 * (u - 5 * xx + yy), 0, 12 * s2 * x * z, -s2 * (u + xx - 5 * yy),
     -12 * s2 * y * z, 6 * s2 * (xx - yy));
  P_(7, s3 * x * z * (xx - 3 * yy), 3 * s3 * z * (xx - yy), -6 * s3 * x * y * z,
     s3 * x * (xx - 3 * yy), 6 * s3 * x * z, -6 * s3 * y * z, 3 * s3 * (xx - yy), -6 * s3 * x * z,
     -6 * s3 * x * y, 0);
  P_(8, (R)0.25 * s4 * (xx * xx - 6 * xx * yy + yy * yy), s4 * x * (xx - 3 * yy),
     s4 * y * (yy - 3 * xx), 0, 3 * s4 * (xx - yy), -6 * s4 * x * y, 0, 3 * s4 * (yy - xx), 0, 0);
}

/* -------------------------------------------------------------- Cartesian */

/* Second derivatives of x^a, y^a and z^a. */
#define U0 0
#define U1 0
#define U2 2
#define U3 (6 * X1)
#define U4 (12 * X2)
#define V0 0
#define V1 0
#define V2 2
#define V3 (6 * Y1)
#define V4 (12 * Y2)
#define W0 0
#define W1 0
#define W2 2
#define W3 (6 * Z1)
#define W4 (12 * Z2)

/* Monomial x^a y^b z^c; a, b, c are digits: Xa is x^a, Ja its derivative and Ua its second. */
#define M_(i, a, b, c)                                                                            \
  P_(i, X##a *Y##b *Z##c, J##a *Y##b *Z##c, X##a *K##b *Z##c, X##a *Y##b *L##c, U##a *Y##b *Z##c, \
     J##a *K##b *Z##c, J##a *Y##b *L##c, X##a *V##b *Z##c, X##a *K##b *L##c, X##a *Y##b *W##c)

TSL_FN void XC_SHELL_(xc_cartesian)(int l, R x, R y, R z, XC_PARTS, XC_OUT) {
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

/** All functions of a shell at (x, y, z) from its centre. */
TSL_FN void XC_SHELL_(xc_shell_functions)(int l, int spherical, R x, R y, R z, XC_PARTS, XC_OUT) {
  if (l == 0 || !spherical)
    XC_SHELL_(xc_cartesian)(l, x, y, z, XC_PASS);
  else if (l == 1)
    XC_SHELL_(xc_spherical_1)(x, y, z, XC_PASS);
  else if (l == 2)
    XC_SHELL_(xc_spherical_2)(x, y, z, XC_PASS);
  else if (l == 3)
    XC_SHELL_(xc_spherical_3)(x, y, z, XC_PASS);
  else
    XC_SHELL_(xc_spherical_4)(x, y, z, XC_PASS);
}

#undef U0
#undef U1
#undef U2
#undef U3
#undef U4
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef W0
#undef W1
#undef W2
#undef W3
#undef W4
#undef M_
#undef P_
#undef XC_SHELL_
#undef XC_PARTS
#undef XC_OUT
#undef XC_PASS
