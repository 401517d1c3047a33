/* Arithmetic of compiled expressions for one type, R: part of the text that is emitted, for host
 * compilers and NVRTC alike, and included by tests once for float and once for double. No guard, no
 * header: the includer sets R, LANG_BYTES (4 or 8), LANG_(name) and LANG_FN.
 *
 * All operations round as IEEE 754 has it and nothing is contracted, so that sockets and cards give
 * the same bits. exp and log are branch-free, so that loops become vector code; bounds are in units
 * of the last place (unit.lang.math measures them). NaN gives NaN. */

#if LANG_BYTES == 4
#define LANG_UINT unsigned int
#ifdef __CUDACC__
#define LANG_FMA(a, b, c) fmaf(a, b, c)
#define LANG_SQRT(x) sqrtf(x)
#define LANG_FLOOR(x) floorf(x)
#define LANG_ABS(x) fabsf(x)
#else
#define LANG_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define LANG_SQRT(x) __builtin_sqrtf(x)
#define LANG_FLOOR(x) __builtin_floorf(x)
#define LANG_ABS(x) __builtin_fabsf(x)
#endif
#define LANG_MANTISSA 23
#define LANG_MASK 0x7fffffu
#define LANG_BIAS 127
#define LANG_ROOT_HALF 0x3f3504f3u
#define LANG_ONE 0x3f800000u
#define LANG_ROUND 0x1.8p23f
#define LANG_LN2_HIGH 0.693138123f
#define LANG_LN2_LOW 9.05800061e-6f
#define LANG_EXP_LEAST (-88.1f)
#define LANG_EXP_MOST 88.8f
#define LANG_NORMAL 0x1p-126f
#define LANG_LIFT 0x1p24f
#define LANG_LIFT_BITS 24
/* (e^r - 1 - r) / r^2 and (2 atanh(s) / s - 2) / z, z = s^2, of tools/xc_polynomials */
#define LANG_EXP_TAIL(r)                                                                           \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(0.0013926183588f, r, 0.0083631790527f), r, 0.041666554617f), \
                    r, 0.1666657699f),                                                             \
           r, 0.5f)
#define LANG_LOG_TAIL(z) LANG_FMA(LANG_FMA(0.29579949392f, z, 0.39988780566f), z, 0.6666668504f)
/* of tools/lang_polynomials: (sin(r) / r - 1) / x and (cos(r) - 1 + x / 2) / x^2 at x = r^2,
 * erf(r) / r - 1 at x = r^2 <= 1, log(erfc(x + 2)) */
#define LANG_HALF_PI_HIGH 0x1.921fb6p+0f
#define LANG_HALF_PI_MIDDLE -0x1.777a5cp-25f
#define LANG_HALF_PI_LOW -0x1.ee59dap-50f
#define LANG_ANGLE_MOST 1e5f
#define LANG_ERF_MOST 4.0f
#define LANG_SIN_TAIL(x) \
  LANG_FMA(LANG_FMA(-0.00019516374944f, x, 0.0083321709217f), x, -0.16666654816f)
#define LANG_COS_TAIL(x) \
  LANG_FMA(LANG_FMA(2.4437954528e-5f, x, -0.001388736367f), x, 0.041666646801f)
#define LANG_ERF_TAIL(x)                                                                          \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(7.8897843059e-5f, x, -0.00080209945723f), \
                                               x, 0.0051895458206f),                              \
                                      x, -0.026854445272f),                                       \
                             x, 0.11283600033f),                                                  \
                    x, -0.37612627103f),                                                          \
           x, 0.1283791659f)
#define LANG_ERFC_LOG(x)                                                                           \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(0.00018548714176f, x, -0.00071297836072f), \
                                               x, 0.0035434009253f),                               \
                                      x, -0.016487393652f),                                        \
                             x, -0.92375307271f),                                                  \
                    x, -4.4181593514f),                                                            \
           x, -5.3649410556f)
#else
#define LANG_UINT unsigned long long
#ifdef __CUDACC__
#define LANG_FMA(a, b, c) fma(a, b, c)
#define LANG_SQRT(x) sqrt(x)
#define LANG_FLOOR(x) floor(x)
#define LANG_ABS(x) fabs(x)
#else
#define LANG_FMA(a, b, c) __builtin_fma(a, b, c)
#define LANG_SQRT(x) __builtin_sqrt(x)
#define LANG_FLOOR(x) __builtin_floor(x)
#define LANG_ABS(x) __builtin_fabs(x)
#endif
#define LANG_MANTISSA 52
#define LANG_MASK 0xfffffffffffffull
#define LANG_BIAS 1023
#define LANG_ROOT_HALF 0x3fe6a09e667f3bcdull
#define LANG_ONE 0x3ff0000000000000ull
#define LANG_ROUND 0x1.8p52
#define LANG_LN2_HIGH 0x1.62e42feep-1
#define LANG_LN2_LOW 1.9082149292705877e-10
#define LANG_EXP_LEAST (-708.8)
#define LANG_EXP_MOST 709.9
#define LANG_NORMAL 0x1p-1022
#define LANG_LIFT 0x1p54
#define LANG_LIFT_BITS 54
#define LANG_EXP_TAIL(r) LANG_FMA(LANG_EXP_TAIL_HIGH(r), r, 0.50000000000000010221)
#define LANG_EXP_TAIL_HIGH(r)                                                       \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_EXP_TAIL_TOP(r), r, 0.0083333333333300618325), r, \
                    0.041666666666624127873),                                       \
           r, 0.16666666666666667453)
#define LANG_EXP_TAIL_TOP(r)                                                                      \
  LANG_FMA(                                                                                       \
      LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(2.5100385495510319078e-8, r, 2.7620088445409748161e-7), \
                                 r, 2.7557268459997064772e-6),                                    \
                        r, 0.000024801521295954375131),                                           \
               r, 0.00019841269863053616878),                                                     \
      r, 0.0013888888917213716901)
#define LANG_LOG_TAIL(z)                                                          \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_LOG_TAIL_TOP(z), z, 0.28571428625975484921), z, \
                    0.3999999999989950449),                                       \
           z, 0.66666666666666696862)
#define LANG_LOG_TAIL_TOP(z)                                                       \
  LANG_FMA(LANG_FMA(LANG_FMA(0.1461644968504340586, z, 0.15331721600556041269), z, \
                    0.1818288912526172208),                                        \
           z, 0.22222211134795079855)
#define LANG_HALF_PI_HIGH 0x1.921fb54442d18p+0
#define LANG_HALF_PI_MIDDLE 0x1.1a62633145c07p-54
#define LANG_HALF_PI_LOW -0x1.f1976b7ed8fbcp-110
#define LANG_ANGLE_MOST 1e9
#define LANG_ERF_MOST 6.0
#define LANG_SIN_TAIL(x)                                                     \
  LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(1.5896532747343687221e-10, x, \
                                               -2.5050753817087685074e-8),   \
                                      x, 2.7557313666242719715e-6),          \
                             x, -0.00019841269829739950162),                 \
                    x, 0.0083333333333223387426),                            \
           x, -0.16666666666666631795)
#define LANG_COS_TAIL(x)                                                                           \
  LANG_FMA(                                                                                        \
      LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(-1.1359471739818773913e-11, x, 2.087572008219446156e-9), \
                                 x, -2.75573143305870419e-7),                                      \
                        x, 0.00002480158728941355655),                                             \
               x, -0.0013888888888874025477),                                                      \
      x, 0.041666666666666598974)
#define LANG_ERF_TAIL(x)                                                                           \
  LANG_FMA(                                                                                        \
      LANG_FMA(                                                                                    \
          LANG_FMA(                                                                                \
              LANG_FMA(                                                                            \
                  LANG_FMA(                                                                        \
                      LANG_FMA(                                                                    \
                          LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(LANG_FMA(-7.8011672555040885724e-10, \
                                                                       x, 1.37229630947217322e-8), \
                                                              x, -1.6209172446283547225e-7),       \
                                                     x, 1.6447517162289516163e-6),                 \
                                            x, -0.000014924744615649546903),                       \
                                   x, 0.0001205529531765560306),                                   \
                          x, -0.0008548325989587976321),                                           \
                      x, 0.0052239776074208572718),                                                \
                  x, -0.02686617064327583495),                                                     \
              x, 0.11283791670945249086),                                                          \
          x, -0.37612638903183546188),                                                             \
      x, 0.12837916709551256665)
#define LANG_ERFC_LOG(x)                                                                          \
  LANG_FMA(                                                                                       \
      LANG_FMA(                                                                                   \
          LANG_FMA(                                                                               \
              LANG_FMA(                                                                           \
                  LANG_FMA(                                                                       \
                      LANG_FMA(                                                                   \
                          LANG_FMA(                                                               \
                              LANG_FMA(                                                           \
                                  LANG_FMA(                                                       \
                                      LANG_FMA(                                                   \
                                          LANG_FMA(                                               \
                                              LANG_FMA(                                           \
                                                  LANG_FMA(                                       \
                                                      LANG_FMA(                                   \
                                                          LANG_FMA(                               \
                                                              LANG_FMA(                           \
                                                                  LANG_FMA(                       \
                                                                      -4.7856145952375534453e-12, \
                                                                      x,                          \
                                                                      3.628621092312552486e-11),  \
                                                                  x, -7.1689257253930364898e-11), \
                                                              x, -2.5503715299488371899e-10),     \
                                                          x, 2.6093874957644301304e-9),           \
                                                      x, -1.3994399401869516508e-8),              \
                                                  x, 5.7696577575979836439e-8),                   \
                                              x, -1.7316601503939931408e-7),                      \
                                          x, 2.0372760434429270105e-7),                           \
                                      x, 1.9521829410305196961e-6),                               \
                                  x, -0.000020706471542991022525),                                \
                              x, 0.00013530933207025313307),                                      \
                          x, -0.00073239937748219948089),                                         \
                      x, 0.0035707563476778381573),                                               \
                  x, -0.016465118137465783008),                                                   \
              x, -0.92375084182394349608),                                                        \
          x, -4.4181608059944111429),                                                             \
      x, -5.3649412646166361072)
#endif

#define LANG_INF LANG_(lang_real)((LANG_UINT)(2 * LANG_BIAS + 1) << LANG_MANTISSA)

#ifdef __CUDA_ARCH__
#if LANG_BYTES == 4
LANG_FN LANG_UINT LANG_(lang_bits)(R x) {
  return __float_as_uint(x);
}
LANG_FN R LANG_(lang_real)(LANG_UINT bits) {
  return __uint_as_float(bits);
}
#else
LANG_FN LANG_UINT LANG_(lang_bits)(R x) {
  return (LANG_UINT)__double_as_longlong(x);
}
LANG_FN R LANG_(lang_real)(LANG_UINT bits) {
  return __longlong_as_double((long long)bits);
}
#endif
#else
LANG_FN LANG_UINT LANG_(lang_bits)(R x) {
  LANG_UINT bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
LANG_FN R LANG_(lang_real)(LANG_UINT bits) {
  R x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
#endif

/**
 * e^x; 1.5 ulp; float: 0 below -87.6, infinite above 88.03; double: 0 below -708.7, infinite above
 * 709.4. x = r + k log(2); 2^k is 0 for the least k and infinite for the largest, so that beyond
 * LANG_EXP_LEAST and LANG_EXP_MOST it does not matter whether x is moved there or the result
 * chosen.
 */
LANG_FN R LANG_(lang_exp)(R x) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800 && LANG_BYTES == 4
  R inside;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(inside) : "f"(x), "f"(LANG_EXP_LEAST));
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(inside) : "f"(inside), "f"(LANG_EXP_MOST));
#else
  const R inside = x;
#endif
  const R shifted = LANG_FMA(inside, (R)1.4426950408889634, LANG_ROUND);
  const R k = shifted - LANG_ROUND;
  const R r = LANG_FMA(-k, LANG_LN2_LOW, LANG_FMA(-k, LANG_LN2_HIGH, inside));
  const R scale =
      LANG_(lang_real)((LANG_(lang_bits)(shifted) << LANG_MANTISSA) + (LANG_UINT)LANG_ONE);
  R v = scale * ((R)1 + LANG_FMA(r * r, LANG_EXP_TAIL(r), r));
#if !(defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800 && LANG_BYTES == 4)
  v = x < LANG_EXP_LEAST ? (R)0 : v;
  v = x > LANG_EXP_MOST ? LANG_INF : v;
#endif
  return v;
}

/** Natural logarithm; 1.5 ulp; -infinity of 0, NaN of less. */
LANG_FN R LANG_(lang_log)(R x) {
  const int small = x < LANG_NORMAL;
  const R lifted = small ? x * LANG_LIFT : x;
  const LANG_UINT bits = LANG_(lang_bits)(lifted) + (LANG_UINT)(LANG_ONE - LANG_ROOT_HALF);
  const R count = LANG_(lang_real)((bits >> LANG_MANTISSA) | LANG_(lang_bits)(LANG_ROUND));
  const R k = (count - LANG_ROUND) - (R)(small ? LANG_BIAS + LANG_LIFT_BITS : LANG_BIAS);
  const R f = LANG_(lang_real)((bits & LANG_MASK) + (LANG_UINT)LANG_ROOT_HALF) - (R)1;
  const R s = f / ((R)2 + f), z = s * s, half = (R)0.5 * f * f;
  const R tail = z * LANG_LOG_TAIL(z);
  const R v = k * LANG_LN2_HIGH - ((half - (s * (half + tail) + k * LANG_LN2_LOW)) - f);
  const R beyond = x == (R)0 ? -LANG_INF : x > (R)0 ? x : LANG_INF - LANG_INF;
  return x > (R)0 &&
                 x <= LANG_(lang_real)(((LANG_UINT)(2 * LANG_BIAS) << LANG_MANTISSA) | LANG_MASK)
             ? v
             : beyond;
}

/** log(1 + x); 2.5 ulp. What 1 + x rounds off is a factor that its distance to 1 has, too (Kahan;
 *  Goldberg 1991, theorem 4). */
LANG_FN R LANG_(lang_log1p)(R x) {
  const R u = (R)1 + x, d = u - (R)1;
  return d == (R)0 || u == LANG_INF ? x : LANG_(lang_log)(u) * (x / d);
}

LANG_FN R LANG_(lang_sqrt)(R x) {
  return LANG_SQRT(x);
}
LANG_FN R LANG_(lang_floor)(R x) {
  return LANG_FLOOR(x);
}

/** One more term v of log(e^a + e^b + ...): *sum of e^(term - *most), *most the greatest; begin
 *  with -infinity and 0, end with *most + log(*sum). Terms of -infinity add nothing. */
LANG_FN void LANG_(lang_logsum_add)(R v, R *most, R *sum) {
  const R rise = v - *most, e = LANG_(lang_exp)(-LANG_ABS(rise));
  const R term = rise == rise ? e : (R)0;
  *sum = rise > (R)0 ? *sum * term + (R)1 : *sum + term;
  *most = rise > (R)0 ? v : *most;
}

/** log(e^a + e^b). */
LANG_FN R LANG_(lang_logsum)(R a, R b) {
  R most = -LANG_INF, sum = (R)0;
  LANG_(lang_logsum_add)(a, &most, &sum);
  LANG_(lang_logsum_add)(b, &most, &sum);
  return most + LANG_(lang_log)(sum);
}

/** sin(x + quarter pi / 2); 1.5 ulp; NaN beyond LANG_ANGLE_MOST. pi / 2 in three parts: what
 *  multiply-adds leave of x is exact but for the last two (Cody and Waite 1980). */
LANG_FN R LANG_(lang_circular)(R x, const LANG_UINT quarter) {
  const R shifted = LANG_FMA(x, (R)0.63661977236758134, LANG_ROUND);
  const R k = shifted - LANG_ROUND;
  const R r = LANG_FMA(-k, LANG_HALF_PI_LOW,
                       LANG_FMA(-k, LANG_HALF_PI_MIDDLE, LANG_FMA(-k, LANG_HALF_PI_HIGH, x)));
  const LANG_UINT turn = LANG_(lang_bits)(shifted) + quarter;
  const R s = r * r;
  const R sine = LANG_FMA(r * s, LANG_SIN_TAIL(s), r);
  const R half = (R)0.5 * s, one = (R)1 - half;
  const R cosine = one + LANG_FMA(s * s, LANG_COS_TAIL(s), ((R)1 - one) - half);
  const R v = turn & 1 ? cosine : sine;
  return LANG_ABS(x) <= LANG_ANGLE_MOST ? (turn & 2 ? -v : v) : LANG_INF - LANG_INF;
}
LANG_FN R LANG_(lang_sin)(R x) {
  return LANG_(lang_circular)(x, 0);
}
LANG_FN R LANG_(lang_cos)(R x) {
  return LANG_(lang_circular)(x, 1);
}

/** The error function; 1.5 ulp. To 1 a polynomial, then 1 - exp of one; 1 beyond LANG_ERF_MOST. */
LANG_FN R LANG_(lang_erf)(R x) {
  const R size = LANG_ABS(x), most = size > LANG_ERF_MOST ? LANG_ERF_MOST : size;
  const R z = size * size, t = most - (R)2;
  const R near = LANG_FMA(x, LANG_ERF_TAIL(z), x);
  const R far = (R)1 - LANG_(lang_exp)(LANG_ERFC_LOG(t));
  return size < (R)1 ? near : x < (R)0 ? -far : far;
}

/** The less and the greater; of equal values the first. */
LANG_FN R LANG_(lang_min)(R a, R b) {
  return b < a ? b : a;
}
LANG_FN R LANG_(lang_max)(R a, R b) {
  return b > a ? b : a;
}

/** x^n of a constant n, 0 to 64, by squares. */
LANG_FN R LANG_(lang_power)(const int n, R x) {
  R result = (R)1;
  R square = x;
  if (n & 1) result = x;
  square = square * square;
  if (n & 2) result = n & 1 ? result * square : square;
  if (n >= 4) square = square * square;
  if (n & 4) result = n & 3 ? result * square : square;
  if (n >= 8) square = square * square;
  if (n & 8) result = n & 7 ? result * square : square;
  if (n >= 16) square = square * square;
  if (n & 16) result = n & 15 ? result * square : square;
  if (n >= 32) square = square * square;
  if (n & 32) result = n & 31 ? result * square : square;
  if (n >= 64) result = square * square;
  return result;
}
