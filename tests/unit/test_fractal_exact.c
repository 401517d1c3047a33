/* unit.fractal.exact: the arithmetic of fractal_fn.h, and that its shortcuts change nothing. */
#include "fractal_fixture.h"
#include "random.h"

#include <complex.h>
#include <math.h>

static fractal_params params(int32_t set, int64_t maxiter) {
  return (fractal_params){.set = set, .type = TSL_F64, .maxiter = maxiter};
}

/* ------------------------------------------------------------ known values */

static void values_by_hand(void **state) {
  static const struct {
    double x, y;
    int64_t k;
  } points[] = {{0, 0, 0},    {2, 0, 2},     {-2, 0, 2}, {1, 0, 3},  {0, 1, 0},
                {-1, 0, 0},   {0, 2, 2},     {1, 1, 3},  {3, -9, 2}, {0.5, 0, 6},
                {0.25, 0, 0}, {-0.75, 0, 0}, {1e9, 0, 2}};
  const fractal_params p = params(FRACTAL_MANDELBROT, 1000);
  (void)state;
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    assert_int_equal(fractal_plain_f64(&p, points[i].x, points[i].y), points[i].k);
    assert_int_equal(fractal_plain_f32(&p, (float)points[i].x, (float)points[i].y), points[i].k);
  }
}

static void maxiter_is_excluded(void **state) {
  (void)state;
  for (int64_t maxiter = 1; maxiter < 9; maxiter++) {
    const fractal_params p = params(FRACTAL_MANDELBROT, maxiter);
    assert_int_equal(fractal_plain_f64(&p, 0.5, 0), maxiter > 6 ? 6 : 0);
    assert_int_equal(fractal_plain_f64(&p, 5, 0), maxiter > 2 ? 2 : 0);
  }
  fractal_params p = params(FRACTAL_JULIA, 2);
  assert_int_equal(fractal_plain_f64(&p, 5, 0), 1);
  p.maxiter = 1;
  assert_int_equal(fractal_plain_f64(&p, 5, 0), 0);
}

/** Near 1/4 the steps are pi / sqrt(e), near -3/4 they are pi / e (Boll 1991, Klebanoff 2001). */
static void pi_appears(void **state) {
  const double pi = acos(-1.0);
  const fractal_params p = params(FRACTAL_MANDELBROT, 100000000);
  (void)state;
  for (double e = 1e-2; e > 1e-9; e /= 100)
    assert_true(fabs((double)fractal_plain_f64(&p, 0.25 + e, 0) * sqrt(e) - pi) < 4 * sqrt(e));
  for (double e = 1e-2; e > 1e-6; e /= 10)
    assert_true(fabs((double)fractal_plain_f64(&p, -0.75, e) * e - pi) < 4 * e);
}

/** Far from the border rounding does not matter: complex arithmetic of the C library agrees. */
static int64_t by_complex(int32_t set, double complex z, double complex c, int64_t maxiter) {
  for (int64_t k = 1; k < maxiter; k++) {
    if (cabs(z) >= 2) return k;
    if (set == FRACTAL_BURNING_SHIP) z = fabs(creal(z)) + I * fabs(cimag(z));
    z = z * z + c;
  }
  return 0;
}

static void complex_agrees(void **state) {
  enum { POINTS = 20000, MAXITER = 40 };
  uint64_t seed = 5;
  (void)state;
  for (int32_t set = 0; set < FRACTAL_N_SETS; set++) {
    fractal_params p = params(set, MAXITER);
    p.c[0] = -0.4, p.c[1] = 0.6;
    int differ = 0;
    for (int i = 0; i < POINTS; i++) {
      const double x = 5 * random_unit(&seed) - 2.5, y = 5 * random_unit(&seed) - 2.5;
      const bool julia = set == FRACTAL_JULIA;
      const double complex z = julia ? x + I * y : 0, c = julia ? p.c[0] + I * p.c[1] : x + I * y;
      differ += fractal_plain_f64(&p, x, y) != by_complex(set, z, c, MAXITER);
    }
    assert_true(differ <= 2); /* a point on the circle, if ever */
  }
}

/* ---------------------------------------------------------------- shortcuts */

/** c whose fixed point has the multiplier m, or whose 2-cycle has. */
static double complex of_multiplier(double complex m, bool disc) {
  return disc ? m / 4 - 1 : m / 2 - m * m / 4;
}

/** Multipliers of all directions, and of those where the cardioid has its cusp and its disc. */
static double complex near_border(int i, double r, uint64_t *seed) {
  const double pi = acos(-1.0), narrow = pow(10, -1 - 7 * random_unit(seed));
  const double angle = i % 3 == 0 ? narrow : i % 3 == 1 ? pi - narrow : 2 * pi * random_unit(seed);
  return r * cexp(I * angle);
}

static void interior_is_inside(void **state) {
  const fractal_params p = params(FRACTAL_MANDELBROT, 20000);
  uint64_t seed = 8;
  int found[2] = {0, 0};
  (void)state;
  for (int i = 0; i < 12000; i++) {
    const double r = 1 - pow(10, -1 - 10 * random_unit(&seed));
    const double complex c = of_multiplier(near_border(i, r, &seed), i % 2 == 1);
    if (fractal_is_interior_f64(creal(c), cimag(c))) {
      assert_int_equal(fractal_plain_f64(&p, creal(c), cimag(c)), 0);
      found[0]++;
    }
    if (fractal_is_interior_f32((float)creal(c), (float)cimag(c))) {
      assert_int_equal(fractal_plain_f32(&p, (float)creal(c), (float)cimag(c)), 0);
      found[1]++;
    }
  }
  print_message("interior: %d and %d of 12000\n", found[0], found[1]);
  assert_true(found[0] > 6000 && found[1] > 2000);
}

/** Steps between cardioid and disc are pi / y: the fp32 test must not reach across. */
static void pinch_is_no_interior(void **state) {
  (void)state;
  for (float y = 1e-2f; y > 1e-7f; y *= 0.7f)
    for (float x = -0.75f - 1e-6f; x < -0.75f + 1e-6f; x += 6e-8f)
      assert_false(fractal_is_interior_f32(x, y));
  for (double y = 1e-2; y > 1e-12; y *= 0.7)
    for (double x = -0.75 - 2e-15; x < -0.75 + 2e-15; x += 2e-16)
      assert_false(fractal_is_interior_f64(x, y));
}

static void outside_is_no_interior(void **state) {
  uint64_t seed = 9;
  (void)state;
  for (int i = 0; i < 300000; i++) {
    const double r = 1 + pow(10, -10 * random_unit(&seed));
    const double complex m = near_border(i, r, &seed);
    const double complex a = of_multiplier(m, false), b = of_multiplier(m, true);
    const bool other = cabs(2 - m) < 1; /* the second fixed point attracts */
    /* beyond the cardioid is the disc and the other way round: near -3/4 */
    if (creal(a) > -0.75 && !other) {
      assert_false(fractal_is_interior_f64(creal(a), cimag(a)));
      assert_false(fractal_is_interior_f32((float)creal(a), (float)cimag(a)));
    }
    if (creal(b) < -0.75) assert_false(fractal_is_interior_f64(creal(b), cimag(b)));
  }
}

/** Most of the area is found: the two hold pi (3/8 + 1/16) of it. */
static void interior_is_large(void **state) {
  enum { N = 1000 };
  int found[2] = {0, 0};
  (void)state;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      const double x = -1.5 + 2.0 * (i + 0.5) / N, y = -1 + 2.0 * (j + 0.5) / N;
      found[0] += fractal_is_interior_f64(x, y);
      found[1] += fractal_is_interior_f32((float)x, (float)y);
    }
  const double area = acos(-1.0) * (3.0 / 8 + 1.0 / 16);
  print_message("part of the area: %.5f, fp32 %.5f\n", found[0] * 4.0 / (N * N) / area,
                found[1] * 4.0 / (N * N) / area);
  assert_true(fabs(found[0] * 4.0 / (N * N) / area - 1) < 1e-3);
  assert_true(found[1] * 4.0 / (N * N) / area > 0.99);
}

/** x + x by adding 1 to the exponent, whatever x is. */
#define DOUBLED(R, name, UINT, MANTISSA) \
  static R name(R x) {                   \
    UINT bits;                           \
    memcpy(&bits, &x, sizeof bits);      \
    bits += (UINT)1 << MANTISSA;         \
    memcpy(&x, &bits, sizeof bits);      \
    return x;                            \
  }
DOUBLED(double, doubled, uint64_t, 52)
DOUBLED(float, doubled_f32, uint32_t, 23)
#undef DOUBLED

#define PLAIN_DOUBLING(R, name, T, FMA, FABS, TWICE)            \
  static int64_t name(const fractal_params *p, R px, R py) {    \
    R x, y, cx, cy;                                             \
    int64_t k = 1;                                              \
    fractal_start_##T(p, px, py, &x, &y, &cx, &cy);             \
    for (; k < p->maxiter && !fractal_is_out_##T(x, y); k++) {  \
      const R a = p->set == FRACTAL_BURNING_SHIP ? FABS(x) : x; \
      const R b = p->set == FRACTAL_BURNING_SHIP ? FABS(y) : y; \
      x = FMA(a - b, a + b, cx);                                \
      y = FMA(TWICE(a), b, cy);                                 \
    }                                                           \
    return k < p->maxiter ? k : 0;                              \
  }
PLAIN_DOUBLING(double, plain_doubling, f64, fma, fabs, doubled)
PLAIN_DOUBLING(float, plain_doubling_f32, f32, fmaf, fabsf, doubled_f32)
#undef PLAIN_DOUBLING

/** Where the family allows it, the exponent trick gives the same values. */
static void doubling_is_exact(void **state) {
  static const char *const sections[] = {
      " view: {corners: [-2, -1.5, 1, 1.5]}\n",
      " set: burning_ship\n",
      " set: julia\n c: [-0.8, 0.156]\n",
      " set: julia\n c: [0, -1e-200]\n",
      " set: burning_ship\n view: {corners: [-2, -1e-260, 1, 1e-260]}\n",
      " view: {corners: [-2, -1e-265, 0.5, 1e-265]}\n",
      " precision: fp32\n",
      " precision: fp32\n set: julia\n c: [0.285, 0.01]\n",
      " precision: fp32\n view: {corners: [-2, -1e-26, 0.5, 1e-26]}\n"};
  (void)state;
  for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
    char section[256];
    made m;
    (void)snprintf(section, sizeof section, " xres: 150\n yres: 101\n maxiter: 300\n%s",
                   sections[s]);
    const fractal_params *p = make_good(section, &m);
    assert_true(p->doubling);
    for (int64_t j = 0; j < p->yres; j++)
      for (int64_t i = 0; i < p->xres; i++) {
        const double x = coordinate(&m, FRACTAL_X, i), y = coordinate(&m, FRACTAL_Y, j);
        if (p->type == TSL_F64)
          assert_int_equal(plain_doubling(p, x, y), fractal_plain_f64(p, x, y));
        else
          assert_int_equal(plain_doubling_f32(p, (float)x, (float)y),
                           fractal_plain_f32(p, (float)x, (float)y));
      }
    release(&m);
  }
}

/** And where it does not, it would be wrong: c real, orbits that reach x = 0 with y small. */
static void doubling_is_refused_for_cause(void **state) {
  made m;
  (void)state;
  const fractal_params *p = make_good(" set: julia\n c: [-1, 0]\n", &m);
  double x = 0, y = 1e-3; /* x = 0: y' must be 0 + cy */
  assert_false(p->doubling);
  const double wrong = fma(doubled(x), y, p->c[1]);
  fractal_step_f64(p->set, &x, &y, p->c[0], p->c[1]);
  assert_true(y == 0 && wrong != 0);
  release(&m);
}

/** Once out, always out: what the sparse test rests on. */
static void leaving_is_for_ever(void **state) {
  enum { POINTS = 100000, AFTER = 24 };
  uint64_t seed = 21;
  (void)state;
  for (int i = 0; i < POINTS; i++) {
    const int32_t set = i % FRACTAL_N_SETS;
    const double angle = 6.283185307179586 * random_unit(&seed);
    const double r = i % 2 == 0 ? 2 * random_unit(&seed) : 2 - 2e-9 - 1e-6 * random_unit(&seed);
    const double cx = r * cos(angle), cy = r * sin(angle);
    double x = set == FRACTAL_JULIA ? 4 * random_unit(&seed) - 2 : 0;
    double y = set == FRACTAL_JULIA ? 4 * random_unit(&seed) - 2 : 0;
    int after = 0;
    if (fractal_is_wild_f64(cx, cy)) continue;
    for (int k = 0; k < 200 && after < AFTER; k++) {
      if (after > 0 || fractal_is_out_f64(x, y)) {
        assert_true(fractal_is_out_f64(x, y));
        after++;
      }
      fractal_step_f64(set, &x, &y, cx, cy);
    }
  }
  assert_true(fractal_is_wild_f64(2, 0) && fractal_is_wild_f64(0, -2) && fractal_is_wild_f64(2, 2));
  assert_true(fractal_is_wild_f64(NAN, 0) && !fractal_is_wild_f64(-1.99999999, 0));
}

static void one_in_64_is_sampled(void **state) {
  int64_t sampled = 0, empty_tiles = 0;
  (void)state;
  for (int64_t row = 0; row < 1024; row += FRACTAL_TILE)
    for (int64_t column = 0; column < 1024; column += FRACTAL_TILE) {
      int64_t here = 0;
      for (int64_t j = row; j < row + FRACTAL_TILE; j++)
        for (int64_t i = column; i < column + FRACTAL_TILE; i++) here += fractal_is_sampled(j, i);
      sampled += here, empty_tiles += here == 0;
    }
  print_message("sampled %lld of %d, tiles without %lld\n", (long long)sampled, 1 << 20,
                (long long)empty_tiles);
  assert_true(sampled > 16384 * 0.97 && sampled < 16384 * 1.03);
  assert_true(empty_tiles < 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_by_hand),       cmocka_unit_test(maxiter_is_excluded),
      cmocka_unit_test(pi_appears),           cmocka_unit_test(complex_agrees),
      cmocka_unit_test(interior_is_inside),   cmocka_unit_test(outside_is_no_interior),
      cmocka_unit_test(pinch_is_no_interior), cmocka_unit_test(interior_is_large),
      cmocka_unit_test(doubling_is_exact),    cmocka_unit_test(doubling_is_refused_for_cause),
      cmocka_unit_test(leaving_is_for_ever),  cmocka_unit_test(one_in_64_is_sampled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
