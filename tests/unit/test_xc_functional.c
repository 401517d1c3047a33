/* unit.xc.functional: the own formulas against libxc and against the papers' equations in quadruple
 * precision with potentials by differences; thresholds; levels; blocks; float; names. */
#include "xc_functional.h"
#include "xc_functional_own.h"
#include "xc_sweep.h"
#include "xc_truth.h"

#include "../gpu/xc_functional_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xc.h>

#include <cmocka.h>

static const double TOLERANCE = 1e-11;
static const double NOTHING = 1e-290; /* exp(-c n^(-1/3)) of LYP underflows below */

typedef struct part_case {
  const char *name; /* libxc's */
  xc_mix mix;
  truth_fn *truth;
  int gga, tau, exchange;
} part_case;

#define IS_LDA_X 1
#define IS_GGA_X 1
#define IS_LDA_C 0
#define IS_GGA_C 0
#define IS_MGGA_X 1
#define IS_MGGA_C 0
static const part_case parts[XC_N_PARTS] = {
#define X(name, form, threshold, libxc) \
  {libxc, {.name = 1}, truth_##name, XC_PART_GGA_##name, XC_PART_TAU_##name, IS_##form},
    XC_PART_LIST(X)
#undef X
};

/** The highest SIMD level of this processor. */
static int best_level(void) {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
  return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")
             ? 4
             : 3;
#else
  return 0;
#endif
}

/* ------------------------------------------------------------- one point */

static void own_uks(xc_mix mix, const double in[SWEEP_INPUTS], double out[SWEEP_OUTPUTS]) {
  const xc_uks_f64 o = xc_uks_point_f64(mix, in[0], in[1], in[2], in[3], in[4], in[5], in[6]);
  const double list[SWEEP_OUTPUTS] = {o.e, o.a, o.b, o.aa, o.ab, o.bb, o.ta, o.tb};
  memcpy(out, list, sizeof list);
}

/** libxc's values in the same order; e per volume. */
static void libxc_uks(const xc_func_type *f, const double in[SWEEP_INPUTS],
                      double out[SWEEP_OUTPUTS]) {
  const double least = f->nspin == XC_POLARIZED ? f->dens_threshold : 0;
  memset(out, 0, SWEEP_OUTPUTS * sizeof *out);
  double laplacian[2] = {0}, ignored[2];
  if (f->info->family == XC_FAMILY_LDA)
    xc_lda_exc_vxc(f, 1, in, out, out + 1);
  else if (f->info->family == XC_FAMILY_MGGA)
    xc_mgga_exc_vxc(f, 1, in, in + 2, laplacian, in + 5, out, out + 1, out + 3, ignored, out + 6);
  else
    xc_gga_exc_vxc(f, 1, in, in + 2, out, out + 1, out + 3);
  out[0] *= fmax(in[0], least) + fmax(in[1], least);
}

static double relative(double value, double exact) {
  return value == exact ? 0 : fabs(value - exact) / fabs(exact);
}

static quad truth_of(const part_case *p, const double in[SWEEP_INPUTS], int output) {
  quad wide[TRUTH_INPUTS];
  for (int k = 0; k < TRUTH_INPUTS; k++) wide[k] = in[k];
  if (p->exchange && output == 4) return 0;
  return output == 0 ? p->truth(wide) : truth_derivative(p->truth, p->exchange, wide, output - 1);
}

static double off_truth(double value, quad truth) {
  return truth == 0 ? fabs(value) : (double)(fabsq(value - truth) / fabsq(truth));
}

/** Meta-GGAs lose a digit more, as said at is_outside. */
static double tolerance_of(const part_case *p) {
  return p->tau ? 10 * TOLERANCE : TOLERANCE;
}

/** Outputs of a part. */
static int outputs_of(const part_case *p) {
  return p->tau ? SWEEP_OUTPUTS : p->gga ? 6 : 3;
}

/** A size of an output: 0, and for meta-GGAs, whose derivatives pass through 0, a tenth of the
 *  energy (exchange: of that spin; correlation: PBE's, as theirs vanishes for single orbitals) over
 *  what it is derived by. */
static double size_of(const part_case *p, const double in[SWEEP_INPUTS], int output) {
  static const int spins[SWEEP_OUTPUTS] = {-1, 0, 1, 0, -1, 1, 0, 1};
  static const int others[2][3] = {{1, 4, 6}, {0, 2, 5}};
  const int spin = spins[output];
  quad wide[TRUTH_INPUTS];
  if (!p->tau) return 0;
  for (int k = 0; k < TRUTH_INPUTS; k++) wide[k] = in[k];
  for (int k = 0; k < 3 && p->exchange && spin >= 0; k++) wide[others[spin][k]] = 0;
  const double by = output == 0 ? 1 : output == 4 ? sqrt(in[2] * in[4]) : in[output - 1];
  return 0.1 * fabs((double)(p->exchange ? p->truth : truth_pbe_c)(wide)) / by;
}

/** Where meta-GGAs are not compared: below thresholds of density and tau, where s > 10, as alpha is
 *  the difference of tau and tau_W and loses s^2 units in the last place, and near |zeta| = 1. */
static bool is_outside(const part_case *p, const double in[SWEEP_INPUTS]) {
  double most = 0;
  for (int k = 0; k < 2; k++)
    most = fmax(most, in[2 + 2 * k] / (4 * pow(6 * M_PI * M_PI, 2.0 / 3) * pow(in[k], 8.0 / 3)));
  return p->tau && (fmin(in[0], in[1]) < 1e-8 || fmin(in[5], in[6]) < 1e-18 || most > 100 ||
                    fmin(in[0], in[1]) < 1e-6 * fmax(in[0], in[1]));
}

/* ---------------------------------------------------------------- sweeps */

/** Energy and potentials against the papers' equations: every value, no exception. */
static void test_truth(void **unused) {
  (void)unused;
  for (int p = 0; p < XC_N_PARTS; p++) {
    uint64_t state = 7;
    double worst = 0;
    for (int k = 0; k < 1500; k++) {
      double in[SWEEP_INPUTS], own[SWEEP_OUTPUTS];
      sweep_point(&state, in);
      own_uks(parts[p].mix, in, own);
      for (int i = 0; i < outputs_of(&parts[p]) && !is_outside(&parts[p], in); i++) {
        const quad truth = truth_of(&parts[p], in, i);
        double off = fabsq(truth) < NOTHING ? 0 : off_truth(own[i], truth);
        if (off > TOLERANCE && size_of(&parts[p], in, i) > 0)
          off = fmin(off, fabs(own[i] - (double)truth) / size_of(&parts[p], in, i));
        if (off > worst) worst = off;
        if (!(off <= tolerance_of(&parts[p])))
          fail_msg("%s output %d: %.17g, exact %.17g at %g %g %g %g %g", parts[p].name, i, own[i],
                   (double)truth, in[0], in[1], in[2], in[3], in[4]);
      }
    }
    print_message("%-14s worst relative error %.1e\n", parts[p].name, worst);
  }
}

/** Own values are libxc's to 1e-11; where they are not, libxc must be the one that is off. */
static void test_libxc(void **unused) {
  (void)unused;
  for (int p = 0; p < XC_N_PARTS; p++) {
    xc_func_type f;
    uint64_t state = 11;
    int64_t values = 0, judged = 0;
    assert_int_equal(xc_func_init(&f, xc_functional_get_number(parts[p].name), XC_POLARIZED), 0);
    for (int k = 0; k < 20000; k++) {
      double in[SWEEP_INPUTS], own[SWEEP_OUTPUTS], theirs[SWEEP_OUTPUTS];
      sweep_point(&state, in);
      own_uks(parts[p].mix, in, own);
      libxc_uks(&f, in, theirs);
      for (int i = 0; i < outputs_of(&parts[p]) && !is_outside(&parts[p], in); i++) {
        quad truth;
        values++;
        if (relative(own[i], theirs[i]) <= TOLERANCE || fabs(theirs[i]) < NOTHING) continue;
        judged++;
        if (judged > 2000) continue; /* test_truth has more; each takes long */
        truth = truth_of(&parts[p], in, i);
        if (parts[p].tau && /* of little size, or as near as libxc */
            fabs(own[i] - (double)truth) <=
                fmax(tolerance_of(&parts[p]) * size_of(&parts[p], in, i),
                     fabs(theirs[i] - (double)truth)))
          continue;
        if (off_truth(own[i], truth) > tolerance_of(&parts[p]) / 2 ||
            off_truth(theirs[i], truth) < TOLERANCE / 2)
          fail_msg("%s output %d: own %.17g libxc %.17g exact %.17g at %g %g %g %g %g %g %g",
                   parts[p].name, i, own[i], theirs[i], (double)truth, in[0], in[1], in[2], in[3],
                   in[4], in[5], in[6]);
      }
    }
    print_message("%-14s %ld values, %ld where libxc is off by more than 1e-11\n", parts[p].name,
                  (long)values, (long)judged);
    xc_func_end(&f);
  }
}

/** Spin-restricted values are those of equal spins, and libxc's unpolarised ones. */
static void test_restricted(void **unused) {
  (void)unused;
  for (int p = 0; p < XC_N_PARTS; p++) {
    xc_func_type f;
    uint64_t state = 13;
    assert_int_equal(xc_func_init(&f, xc_functional_get_number(parts[p].name), XC_UNPOLARIZED), 0);
    for (int k = 0; k < 20000; k++) {
      double in[SWEEP_INPUTS], both[SWEEP_OUTPUTS], theirs[4] = {0, 0, 0, 0};
      sweep_point(&state, in);
      in[1] = in[0];
      in[3] = in[4] = in[2];
      in[6] = in[5];
      if (is_outside(&parts[p], in)) continue;
      own_uks(parts[p].mix, in, both);
      const double n = 2 * in[0], sigma = 4 * in[2], tau = 2 * in[5], laplacian = 0;
      const xc_rks_f64 own = xc_rks_point_f64(parts[p].mix, n, sigma, tau);
      const double list[4] = {own.e, own.v, own.s, own.t};
      const double from_both[4] = {both[0], both[1], (both[3] + both[4] + both[5]) / 4, both[6]};
      double ignored;
      if (parts[p].tau)
        xc_mgga_exc_vxc(&f, 1, &n, &sigma, &laplacian, &tau, theirs, theirs + 1, theirs + 2,
                        &ignored, theirs + 3);
      else if (parts[p].gga)
        xc_gga_exc_vxc(&f, 1, &n, &sigma, theirs, theirs + 1, theirs + 2);
      else
        xc_lda_exc_vxc(&f, 1, &n, theirs, theirs + 1);
      theirs[0] *= n;
      for (int i = 0; i < (parts[p].tau ? 4 : 3); i++) {
        const double by[] = {1, n, sigma, tau};
        const double size = parts[p].tau ? fabs(own.e) / by[i] : 0;
        /* LYP's coefficient (6 + 14 delta)/144 is a sum of terms 40 times as large */
        if (fabs(list[i] - from_both[i]) >
                (parts[p].tau ? 1e-11 : 1e-12) * fmax(fabs(from_both[i]), size) &&
            fabs(list[i]) > NOTHING)
          fail_msg("%s output %d: restricted %.17g polarised %.17g at n %g", parts[p].name, i,
                   list[i], from_both[i], n);
        if (fabs(list[i] - theirs[i]) > TOLERANCE * fmax(fabs(theirs[i]), size) &&
            !(fabs(theirs[i]) < NOTHING) && relative(theirs[i], from_both[i]) < TOLERANCE / 2)
          fail_msg("%s output %d: %.17g, libxc %.17g", parts[p].name, i, list[i], theirs[i]);
      }
    }
    xc_func_end(&f);
  }
}

/** Fully polarised and tiny densities: what libxc's thresholds give. */
static void test_thresholds(void **unused) {
  (void)unused;
  static const double densities[] = {0,     1e-30, 5e-16, 1e-15, 1.5e-15, 9e-15, 1.1e-14, 3e-13,
                                     1e-12, 3e-12, 1e-9,  1e-3,  1,       20,    9999,    -1e-9};
  enum { N = sizeof densities / sizeof densities[0] };
  for (int p = 0; p < XC_N_PARTS; p++) {
    xc_func_type f;
    assert_int_equal(xc_func_init(&f, xc_functional_get_number(parts[p].name), XC_POLARIZED), 0);
    for (int k = 0; k < N * N * 3; k++) {
      static const double sigmas[] = {0, -1e-20, 2};
      const double na = densities[k % N], nb = densities[k / N % N], sigma = sigmas[k / N / N];
      const double saa = sigma * pow(fabs(na), 8.0 / 3), sbb = 3 * sigma * pow(fabs(nb), 8.0 / 3);
      const double ta = sweep_tau(fmax(na, 1e-15), saa), tb = sweep_tau(fmax(nb, 1e-15), sbb);
      const double in[SWEEP_INPUTS] = {na, nb, saa, -(saa + sbb), sbb, ta, tb};
      double own[SWEEP_OUTPUTS], theirs[SWEEP_OUTPUTS];
      own_uks(parts[p].mix, in, own);
      libxc_uks(&f, in, theirs);
      for (int i = 0; i < SWEEP_OUTPUTS; i++) {
        /* libxc has 1 - zeta from zeta: near 1 its relative error is 2^-52 over that, its power
         * -1/3 enters the potential of the minority spin; log(1 + x) is inexact at small x */
        const double low = fmax(fmin(na, nb), 1e-15), high = fmax(fmax(na, nb), 1e-15);
        const double loose = (high < 1e-8 ? 1e-6 : 1e-10) + 4e-16 * high / low;
        const double power = i == 0 ? 4.0 / 3 : i < 3 ? 1.0 / 3 : -4.0 / 3; /* of local exchange */
        const double noise = (i < 3 ? 1e-12 : 1e-17) * pow(high, power);
        assert_true(isfinite(own[i]));
        if (parts[p].tau && i > 0) continue; /* derivatives of what is beyond a threshold */
        /* libxc bounds 1 +- zeta in exchange and LYP too, where nothing needs it */
        if ((parts[p].exchange || parts[p].mix.lyp != 0) && i > 0 && low < 1e-15 * high) continue;
        if (fabs(own[i] - theirs[i]) > fmin(loose, 0.5) * fabs(theirs[i]) + noise)
          fail_msg("%s output %d: %.17g, libxc %.17g at %g %g sigma %g", parts[p].name, i, own[i],
                   theirs[i], na, nb, sigma);
        if (theirs[i] == 0 && own[i] != 0 && i != 4)
          fail_msg("%s output %d: %.17g, libxc 0 at %g %g", parts[p].name, i, own[i], na, nb);
      }
    }
    xc_func_end(&f);
  }
}

static void test_nan(void **unused) {
  (void)unused;
  for (int p = 0; p < XC_N_PARTS; p++)
    for (int k = 0; k < (parts[p].tau ? 7 : parts[p].gga ? 5 : 2); k++) {
      double in[SWEEP_INPUTS] = {0.3, 0.2, 0.1, 0.05, 0.1, 0.2, 0.3}, own[SWEEP_OUTPUTS];
      if (parts[p].exchange && k == 3) continue; /* exchange does not see sigma_ab */
      in[k] = NAN;
      own_uks(parts[p].mix, in, own);
      assert_true(isnan(own[0]));
      if (k == 0 || k == 2)
        assert_true(isnan(xc_rks_point_f64(parts[p].mix, in[0], in[2], in[5]).e));
    }
}

/** Committed values of libxc that the test on cards uses. */
static void test_reference(void **unused) {
  (void)unused;
  static const xc_mix mixes[XC_N_OWN] = {
#define X(name, exact, parts, ...) {parts},
#define W(part, weight) .part = weight,
      XC_OWN_LIST(X, W)
#undef X
#undef W
  };
  enum { N = sizeof xc_references / sizeof xc_references[0] };
  for (int k = 0; k < N; k++) {
    double own[SWEEP_OUTPUTS];
    own_uks(mixes[xc_references[k].own], xc_references[k].in, own);
    for (int i = 0; i < SWEEP_OUTPUTS; i++)
      if (relative(own[i], xc_references[k].out[i]) > TOLERANCE)
        fail_msg("row %d output %d: %.17g, libxc %.17g", k, i, own[i], xc_references[k].out[i]);
  }
}

/** float follows double: errors in units of what local exchange gives. */
static void test_float(void **unused) {
  (void)unused;
  for (int p = 0; p < XC_N_PARTS; p++) {
    uint64_t state = 17;
    double worst[SWEEP_OUTPUTS] = {0};
    for (int k = 0; k < 20000; k++) {
      double in[SWEEP_INPUTS], own[SWEEP_OUTPUTS], size[SWEEP_OUTPUTS];
      sweep_point(&state, in);
      for (int i = 0; i < SWEEP_INPUTS; i++) in[i] = (double)(float)in[i];
      if (in[0] < 1e-7 || in[1] < 1e-7) continue;
      if (parts[p].tau && fmin(in[0], in[1]) < 1e-2 * fmax(in[0], in[1])) continue;
      own_uks(parts[p].mix, in, own);
      const xc_uks_f32 o = xc_uks_point_f32(parts[p].mix, (float)in[0], (float)in[1], (float)in[2],
                                            (float)in[3], (float)in[4], (float)in[5], (float)in[6]);
      const double narrow[SWEEP_OUTPUTS] = {o.e, o.a, o.b, o.aa, o.ab, o.bb, o.ta, o.tb};
      const double n = in[0] + in[1], s8 = pow(n, 8.0 / 3);
      size[0] = pow(n, 4.0 / 3);
      for (int i = 1; i < 3; i++) size[i] = fabs(own[i]) + cbrt(n);
      for (int i = 3; i < 6; i++) size[i] = fabs(own[i]) + 1e-3 * size[0] / s8;
      for (int i = 6; i < 8; i++) size[i] = fabs(own[i]) + 1e-3 * size[0] / pow(n, 5.0 / 3);
      for (int i = 0; i < SWEEP_OUTPUTS; i++) {
        const double off = fabs(narrow[i] - own[i]) / size[i];
        if (!(off <= worst[i])) worst[i] = off;
      }
    }
    print_message("%-14s float: e %.1e v %.1e %.1e vsigma %.1e %.1e %.1e\n", parts[p].name,
                  worst[0], worst[1], worst[2], worst[3], worst[4], worst[5]);
    for (int i = 0; i < SWEEP_OUTPUTS; i++) assert_true(worst[i] < (parts[p].tau ? 1e-3 : 3e-5));
  }
}

/* ---------------------------------------------------------------- blocks */

enum { POINTS = 1031, ARRAYS = SWEEP_INPUTS + SWEEP_OUTPUTS }; /* a prime number of points */

/** Arrays with a guard element behind each. */
typedef struct arrays {
  double a[ARRAYS][POINTS + 1];
  xc_points points;
} arrays;

static arrays *arrays_of(int64_t n, int n_spins) {
  arrays *x = calloc(1, sizeof *x);
  uint64_t state = 19;
  assert_non_null(x);
  for (int k = 0; k < POINTS; k++) {
    double in[SWEEP_INPUTS];
    sweep_point(&state, in);
    if (k % 50 == 49) in[0] = 0;
    for (int i = 0; i < SWEEP_INPUTS; i++) x->a[i][k] = in[i];
  }
  for (int i = SWEEP_INPUTS; i < ARRAYS; i++)
    for (int k = 0; k <= POINTS; k++) x->a[i][k] = 12345;
  x->points =
      (xc_points){n,
                  {x->a[0], n_spins == 2 ? x->a[1] : NULL},
                  {x->a[2], n_spins == 2 ? x->a[3] : NULL, n_spins == 2 ? x->a[4] : NULL},
                  {x->a[5], n_spins == 2 ? x->a[6] : NULL},
                  x->a[7],
                  {x->a[8], n_spins == 2 ? x->a[9] : NULL},
                  {x->a[10], n_spins == 2 ? x->a[11] : NULL, n_spins == 2 ? x->a[12] : NULL},
                  {x->a[13], n_spins == 2 ? x->a[14] : NULL}};
  return x;
}

static arrays *evaluated(const char *text, xc_source source, int n_spins, int level, int64_t n) {
  arrays *x = arrays_of(n, n_spins);
  xc_functional f;
  xc_evaluator *ev = NULL;
  if (xc_functional_find(text, source, &f) != TSL_OK ||
      xc_evaluator_create(&f, n_spins, level, &ev) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  xc_evaluate(ev, &x->points);
  xc_evaluator_destroy(&ev);
  xc_evaluator_destroy(&ev);
  for (int i = SWEEP_INPUTS; i < ARRAYS; i++)
    for (int64_t k = n; k <= POINTS; k++) assert_true(x->a[i][k] == 12345);
  return x;
}

/** Local exchange at a point over what an output is derived by: its size where it is near 0. */
static double size_at(const arrays *x, int n_spins, int array, int k) {
  const double n = x->a[0][k] + (n_spins == 2 ? x->a[1][k] : 0);
  const double by = array == SWEEP_INPUTS ? 1 : fabs(x->a[array - SWEEP_INPUTS - 1][k]);
  return by == 0 ? INFINITY : pow(n, 4.0 / 3) / by;
}

/** Levels, block lengths and the way through libxc give the same values. */
static void test_blocks(void **unused) {
  (void)unused;
  static const char *const names[] = {"svwn5",
                                      "pbe",
                                      "blyp",
                                      "pbe0",
                                      "b3lyp",
                                      "b3lyp5",
                                      "gga_c_lyp",
                                      "0.3*hf+lda_x+0.5*gga_c_pbe",
                                      "tpss",
                                      "r2scan0",
                                      "lda_x+0.5*mgga_c_r2scan"};
  static const int64_t lengths[] = {0, 1, 2, 7, 127, 128, 129, POINTS};
  const int top = best_level();
  for (size_t f = 0; f < sizeof names / sizeof names[0]; f++)
    for (int n_spins = 1; n_spins <= 2; n_spins++) {
      const bool is_meta = f >= 8;
      arrays *best = evaluated(names[f], XC_SOURCE_OWN, n_spins, top, POINTS);
      arrays *v2 = evaluated(names[f], XC_SOURCE_OWN, n_spins, 2, POINTS);
      arrays *v3 = evaluated(names[f], XC_SOURCE_OWN, n_spins, top < 3 ? top : 3, POINTS);
      for (int i = SWEEP_INPUTS; i < ARRAYS; i++) {
        assert_memory_equal(best->a[i], v3->a[i], sizeof v3->a[i]);
        for (int k = 0; k < POINTS; k++) {
          /* the gradient terms of pbe's exchange and correlation cancel at small gradients */
          const double least = n_spins == 1 ? best->a[0][k] : fmin(best->a[0][k], best->a[1][k]);
          double size = i < 10 || least == 0 ? 0 : 1e-14 * pow(least, -4.0 / 3);
          if (is_meta) size = 1e-10 * size_at(best, n_spins, i, k);
          if (fabs(v2->a[i][k] - best->a[i][k]) > 1e-11 * fabs(best->a[i][k]) + size + 1e-30)
            fail_msg("%s: level 2 %.17g, %d %.17g", names[f], v2->a[i][k], top, best->a[i][k]);
        }
      }
      for (int l = 0; l < 8; l++) {
        arrays *some = evaluated(names[f], XC_SOURCE_OWN, n_spins, top, lengths[l]);
        for (int i = SWEEP_INPUTS; i < ARRAYS; i++)
          assert_memory_equal(best->a[i], some->a[i], (size_t)lengths[l] * sizeof(double));
        free(some);
      }
      free(v2), free(v3), free(best);
    }
}

/** xc_evaluate through libxc against libxc called here; own formulas beside its terms. */
static void test_terms(void **unused) {
  (void)unused;
  for (int way = 0; way < 4; way++) {
    const int n_spins = 1 + way % 2;
    const double tolerance = way < 2 ? 1e-12 : 1e-4; /* own formulas are not off where libxc is */
    arrays *x =
        evaluated("0.5*gga_x_pw91+0.5*gga_x_b88+lda_c_pz+0.25*mgga_c_scan",
                  way < 2 ? XC_SOURCE_LIBXC : XC_SOURCE_AUTO, n_spins, best_level(), POINTS);
    static const char *const names[] = {"gga_x_pw91", "gga_x_b88", "lda_c_pz", "mgga_c_scan"};
    static const double weights[] = {0.5, 0.5, 1, 0.25};
    for (int k = 0; k < POINTS; k++) {
      double sum[SWEEP_OUTPUTS] = {0}, in[SWEEP_INPUTS], got[SWEEP_OUTPUTS] = {0};
      if (way >= 2 && x->a[0][k] == 0) continue; /* libxc's threshold hits or misses by rounding */
      for (int i = 0; i < SWEEP_INPUTS; i++) in[i] = x->a[i][k];
      if (n_spins == 1) in[1] = 0, in[3] = 0, in[4] = 0, in[6] = 0;
      for (int t = 0; t < 4; t++) {
        double one[SWEEP_OUTPUTS] = {0};
        xc_func_type f;
        xc_func_init(&f, xc_functional_get_number(names[t]), n_spins);
        libxc_uks(&f, in, one);
        xc_func_end(&f);
        for (int i = 0; i < SWEEP_OUTPUTS; i++) sum[i] += weights[t] * one[i];
      }
      for (int i = 0; i < SWEEP_OUTPUTS; i++)
        if (n_spins == 2 || i == 0 || i == 1 || i == 3 || i == 6)
          got[i] = x->a[SWEEP_INPUTS + i][k];
      for (int i = 0; i < SWEEP_OUTPUTS; i++)
        if (fabs(got[i] - sum[i]) > tolerance * (fabs(sum[i]) + 1e-3 * (i < 3)))
          fail_msg("spins %d output %d: %.17g, libxc %.17g", n_spins, i, got[i], sum[i]);
    }
    free(x);
  }
}

static void test_local(void **unused) {
  (void)unused;
  for (int way = 0; way < 2; way++) {
    const xc_source source = way == 0 ? XC_SOURCE_OWN : XC_SOURCE_LIBXC;
    arrays *with = evaluated("svwn5", source, 2, best_level(), 200);
    arrays *without = arrays_of(200, 2);
    xc_functional f;
    xc_evaluator *ev = NULL;
    for (int k = 0; k < 3; k++) without->points.sigma[k] = NULL, without->points.vsigma[k] = NULL;
    for (int k = 0; k < 2; k++) without->points.tau[k] = NULL, without->points.vtau[k] = NULL;
    assert_int_equal(xc_functional_find("svwn5", source, &f), TSL_OK);
    assert_int_equal(f.gga, 0);
    assert_int_equal(xc_evaluator_create(&f, 2, best_level(), &ev), TSL_OK);
    xc_evaluate(ev, &without->points);
    for (int i = 7; i < 10; i++)
      assert_memory_equal(with->a[i], without->a[i], 200 * sizeof(double));
    for (int i = 10; i < ARRAYS; i++)
      for (int k = 0; k < 200; k++) assert_true(with->a[i][k] == 0);
    xc_evaluator_destroy(&ev);
    free(with), free(without);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truth),      cmocka_unit_test(test_libxc),
      cmocka_unit_test(test_restricted), cmocka_unit_test(test_thresholds),
      cmocka_unit_test(test_nan),        cmocka_unit_test(test_reference),
      cmocka_unit_test(test_float),      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_terms),      cmocka_unit_test(test_local),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
