/* unit.xc.functional_none: a build without libxc has the own functionals and says what it lacks. */
#include "xc_functional.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void refused(const char *text, xc_source source, const char *words) {
  xc_functional f;
  assert_int_equal(xc_functional_find(text, source, &f), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), words) == NULL) fail_msg("'%s'", tsl_err_message());
}

static void test_names(void **unused) {
  (void)unused;
  refused("hyb_gga_xc_b3pw91", XC_SOURCE_AUTO, "this build lacks libxc");
  refused("b3lip", XC_SOURCE_AUTO, "'b3lyp'");
  refused("pbe", XC_SOURCE_LIBXC, "this build lacks libxc");
  refused("revPBE", XC_SOURCE_AUTO, "this build lacks libxc");
  refused("CAM-B3LYP", XC_SOURCE_AUTO, "this build lacks libxc");
  refused("SCAN", XC_SOURCE_AUTO, "this build lacks libxc");
  refused("SCANL", XC_SOURCE_AUTO, "needs the Laplacian");
}

static void test_values(void **unused) {
  (void)unused;
  double rho = 0.3, sigma = 0.2, e = 0, v = 0, s = 0;
  const xc_points points = {
      .n = 1, .rho = {&rho}, .sigma = {&sigma}, .e = &e, .vrho = {&v}, .vsigma = {&s}};
  xc_functional f, other;
  xc_evaluator *ev = NULL;
  assert_int_equal(xc_functional_find("BHandHLYP", XC_SOURCE_OWN, &f), TSL_OK);
  assert_true(f.exchange == 0.5 && f.mix.b88 == 0.5 && f.mix.lyp == 1);
  assert_int_equal(xc_functional_find("0.25*hf+0.75*gga_x_pbe+gga_c_pbe", XC_SOURCE_AUTO, &f),
                   TSL_OK);
  assert_int_equal(xc_evaluator_create(&f, 1, 2, &ev), TSL_OK);
  xc_evaluate(ev, &points);
  assert_true(e < -0.1 && v < -0.3 && isfinite(s));
  xc_evaluator_destroy(&ev);
  other = f;
  other.n_terms = 1;
  strcpy(other.terms[0].name, "gga_x_pw91"); /* as if it came from a rank that has libxc */
  assert_int_equal(xc_evaluator_create(&other, 1, 2, &ev), TSL_ERR_INPUT);
  assert_null(ev);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
