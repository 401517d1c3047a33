/* exp, log, cube root and arc tangent of xc_fn.h for one type, branch-free, so that a loop over
 * points becomes vector code. No guard: included by xc_fn.h for double and float, which sets
 * XC_REAL and its companions. Bounds are in units of the last place (ulp) of the result, for
 * double; test_xc_fn_math.c measures them. NaN gives NaN. */

#define R XC_REAL

TSL_FN XC_UINT XC_(xc_bits)(R x) {
  XC_UINT bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TSL_FN R XC_(xc_real)(XC_UINT bits) {
  R x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/** log((1 + f) 2^k), 1 + f in [sqrt(1/2), sqrt(2)). */
TSL_FN R XC_(xc_log_reduced)(R f, R k) {
  const R s = f / ((R)2 + f), z = s * s, half = (R)0.5 * f * f;
  const R tail = z * XC_LOG_TAIL(z);
  return k * XC_LN2_HIGH - ((half - (s * (half + tail) + k * XC_LN2_LOW)) - f);
}

/** Natural logarithm of a normal x > 0; 1 ulp. */
TSL_FN R XC_(xc_log)(R x) {
  const XC_UINT shifted = XC_(xc_bits)(x) + (XC_ONE_BITS - XC_ROOT_HALF_BITS);
  const R k = XC_(xc_real)((shifted >> XC_MANTISSA) | XC_COUNT_BITS) - (XC_COUNT + XC_BIAS);
  const R m = XC_(xc_real)((shifted & XC_MANTISSA_MASK) + XC_ROOT_HALF_BITS);
  return XC_(xc_log_reduced)(m - (R)1, k) + (x - x);
}

/** log(1 + x) for x > -1; 2 ulp. What 1 + x loses by rounding is carried on. */
TSL_FN R XC_(xc_log1p)(R x) {
  const R u = (R)1 + x, back = u - (R)1;
  const R lost = ((R)1 - (u - back)) + (x - back);
  const XC_UINT shifted = XC_(xc_bits)(u) + (XC_ONE_BITS - XC_ROOT_HALF_BITS);
  const XC_UINT biased = shifted >> XC_MANTISSA;
  const R k = XC_(xc_real)(biased | XC_COUNT_BITS) - (XC_COUNT + XC_BIAS);
  const R m = XC_(xc_real)((shifted & XC_MANTISSA_MASK) + XC_ROOT_HALF_BITS);
  const R shrink = XC_(xc_real)((XC_TWICE_BIAS - biased) << XC_MANTISSA);
  return XC_(xc_log_reduced)((m - (R)1) + lost * shrink, k);
}

/** e^r - 1 and 2^k with x = r + k log(2); x is moved into XC_EXP_LEAST..XC_EXP_MOST. */
TSL_FN R XC_(xc_exp_parts)(R x, R *scale) {
  const R inside = x < XC_EXP_LEAST ? XC_EXP_LEAST : x > XC_EXP_MOST ? XC_EXP_MOST : x;
  const R shifted = XC_FMA(inside, XC_LOG2E, XC_ROUND);
  const R k = shifted - XC_ROUND;
  const R r = XC_FMA(-k, XC_LN2_LOW, XC_FMA(-k, XC_LN2_HIGH, inside));
  *scale = XC_(xc_real)((XC_(xc_bits)(shifted) + XC_BIAS_BITS) << XC_MANTISSA);
  return XC_FMA(r * r, XC_EXP_TAIL(r), r);
}

/** e^x; 2 ulp; 0 below XC_EXP_LEAST (-708, float -87), e^709 (float e^88) at most. */
TSL_FN R XC_(xc_exp_any)(R x) {
  R scale;
  const R less_one = XC_(xc_exp_parts)(x, &scale);
  return x < XC_EXP_LEAST ? (R)0 : XC_FMA(scale, less_one, scale);
}

/** e^x - 1; 3 ulp; x as for xc_exp_any. */
TSL_FN R XC_(xc_expm1)(R x) {
  R scale;
  const R less_one = XC_(xc_exp_parts)(x, &scale);
  return XC_FMA(scale, less_one, scale - (R)1);
}

/** arctan(y / x) for y >= 0, x > 0; 3 ulp. Moved below tan(pi/8) by a turn of 0, pi/4 or pi/2. */
TSL_FN R XC_(xc_atan)(R y, R x) {
  const int high = y > x * (R)2.414213562373095, middle = y > x * (R)0.41421356237309503;
  const R turn = high ? (R)1.5707963267948966 : middle ? (R)0.78539816339744831 : (R)0;
  const R t = (high ? -x : middle ? y - x : y) / (high ? y : middle ? y + x : x);
  const R z = t * t;
  return turn + XC_FMA(t * z, XC_ATAN_TAIL(z), t);
}

/**
 * x^(1/3) and x^(-1/3) of a normal x > 0; 4 and 2 ulp.
 * A guess within 4 % from the bits of x, then two steps of y (1 - h)^(-1/3), h = 1 - x y^3.
 */
TSL_FN R XC_(xc_roots)(R x, R *inverse) {
  R y = XC_(xc_root_guess)(x);
  R h = XC_FMA(-(x * y) * y, y, (R)1);
  y = XC_FMA(y * h, XC_ROOT_FIRST(h), y);
  h = XC_FMA(-(x * y) * y, y, (R)1);
  y = XC_FMA(y * h, XC_ROOT_SECOND(h), y);
  *inverse = y;
  return x * y * y;
}

#undef R
