/* unit.xc.functional_names: what a text means, what is refused and with which words. */
#include "random.h"
#include "xc_functional.h"
#include "xc_functional_own.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static xc_functional found(const char *text, xc_source source) {
  xc_functional f;
  if (xc_functional_find(text, source, &f) != TSL_OK) fail_msg("%s", tsl_err_message());
  return f;
}

static void refused(const char *text, xc_source source, const char *words) {
  xc_functional f;
  const tsl_err err = xc_functional_find(text, source, &f);
  const xc_functional zero = {0};
  if (err != TSL_ERR_INPUT) fail_msg("'%.40s' is not refused (%d)", text, (int)err);
  if (strstr(tsl_err_message(), words) == NULL)
    fail_msg("'%.40s': '%s' lacks '%s'", text, tsl_err_message(), words);
  assert_memory_equal(&f, &zero, sizeof f);
}

static void test_own(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    int own, gga;
    double exchange;
  } cases[] = {
      {"svwn5", XC_OWN_svwn5, 0, 0},
      {"lda_x+lda_c_vwn", XC_OWN_svwn5, 0, 0},
      {"pbe", XC_OWN_pbe, 1, 0},
      {"PBE", XC_OWN_pbe, 1, 0},
      {" gga_c_pbe + GGA_X_PBE ", XC_OWN_pbe, 1, 0},
      {"gga-x-pbe+1*gga-c-pbe", XC_OWN_pbe, 1, 0},
      {"0.5*pbe+0.5*pbe", XC_OWN_pbe, 1, 0},
      {"blyp", XC_OWN_blyp, 1, 0},
      {"pbe0", XC_OWN_pbe0, 1, 0.25},
      {"pbe1pbe", XC_OWN_pbe0, 1, 0.25},
      {"hyb_gga_xc_pbeh", XC_OWN_pbe0, 1, 0.25},
      {"0.25*hf + 0.75*gga_x_pbe + gga_c_pbe", XC_OWN_pbe0, 1, 0.25},
      {"b3lyp", XC_OWN_b3lyp, 1, 0.2},
      {"hyb_gga_xc_b3lyp", XC_OWN_b3lyp, 1, 0.2},
      {"b3lyp5", XC_OWN_b3lyp5, 1, 0.2},
      {"hf", -1, 0, 1},
      {"0.3*hf+7e-1*gga_x_b88+gga_c_lyp", -1, 1, 0.3},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const xc_functional f = found(cases[k].text, XC_SOURCE_OWN);
    assert_string_equal(f.name, cases[k].text);
    assert_int_equal(f.own, cases[k].own);
    assert_int_equal(f.gga, cases[k].gga);
    assert_int_equal(f.n_terms, 0);
    assert_true(fabs(f.exchange - cases[k].exchange) < 1e-15);
  }
}

static void test_text(void **unused) {
  (void)unused;
  char text[XC_TEXT];
  const xc_functional f = found("b3lyp", XC_SOURCE_AUTO);
  assert_string_equal(xc_functional_text(&f, text),
                      "0.2*hf + 0.08*lda_x + 0.19*lda_c_vwn_rpa + 0.72*gga_x_b88 + 0.81*gga_c_lyp");
}

static void test_libxc(void **unused) {
  (void)unused;
  xc_functional f = found("hyb_gga_xc_b3pw91", XC_SOURCE_AUTO);
  assert_int_equal(f.n_terms, 1);
  assert_int_equal(f.own, -1);
  assert_int_equal(f.gga, 1);
  assert_true(fabs(f.exchange - 0.2) < 1e-15);
  f = found("B3PW91", XC_SOURCE_AUTO);
  assert_string_equal(f.terms[0].name, "hyb_gga_xc_b3pw91");
  f = found("hcth-93", XC_SOURCE_AUTO);
  assert_string_equal(f.terms[0].name, "gga_xc_hcth_93");
  f = found("0.5*gga_x_pw91+gga_c_pbe+0.5*gga_x_pw91", XC_SOURCE_AUTO);
  assert_int_equal(f.n_terms, 1);
  assert_true(f.terms[0].weight == 1 && f.mix.pbe_c == 1 && f.gga == 1);
  f = found("lda_c_pz", XC_SOURCE_AUTO);
  assert_int_equal(f.gga, 0);
  f = found("pbe0", XC_SOURCE_LIBXC);
  assert_int_equal(f.n_terms, 2);
  assert_int_equal(f.own, -1);
  assert_true(f.mix.pbe_x == 0 && f.gga == 1 && f.exchange == 0.25);
}

static void test_refused(void **unused) {
  (void)unused;
  char much[XC_TEXT + 10];
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"pbe00", "'pbe0'"},
      {"b3lip", "'b3lyp'"},
      {"hyb_gga_xc_b3pw92", "'hyb_gga_xc_b3pw91'"},
      {"b3pw99", "'b3pw91'"},
      {"quantum", "unknown functional"},
      {"am05", "'gga_x_am05+gga_c_am05'"},
      {"b97-d", "a correction for dispersion"},
      {"gga_xc_b97_d", "a correction for dispersion"},
      {"0.5*gga_x_pbe+0.5*gga_x_ssb_d", "a correction for dispersion"},
      {"gga_xc_beefvdw", "non-local correlation"},
      {"gga_x_optb88_vdw+gga_c_pbe", "non-local correlation"},
      {"gga_x_s12g+gga_c_pbe", "a correction for dispersion"},
      {"mgga_x_scan+mgga_c_scan_rvv10", "non-local correlation"},
      {"pbe-d3", "'pbe' is without"},
      {"b3lyp-d3bj", "'b3lyp' is without"},
      {"mgga_x_br89+gga_c_pbe", "the Laplacian of a meta-GGA"},
      {"mgga_c_scanl_vv10", "Laplacian"},
      {"modtpss", "unknown functional"},
      {"rppscan", "'mgga_x_rppscan+mgga_c_rppscan'"},
      {"revscan", "'mgga_x_revscan+mgga_c_revscan'"},
      {"hyb_gga_xc_lcy_pbe", "exact exchange by Yukawa's function"},
      {"rvv10", "non-local correlation"},
      {"gga_k_apbe", "kinetic"},
      {"lda_x_2d", "one or two dimensions"},
      {"gga_x_lb", "without an energy"},
      {"", "a name is missing"},
      {"pbe+", "a name is missing"},
      {"+pbe", "should begin with a number"},
      {"0.5pbe", "'*' is missing"},
      {"1e999*pbe", "a number of at most"},
      {"0x10000*pbe", "a number of at most"},
      {"1000*pbe", "a number of at most"},
      {"pbe pbe", "expected '+'"},
      {"pbe;rm", "expected '+'"},
      {"*pbe", "a name is missing"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    refused(cases[k].text, XC_SOURCE_AUTO, cases[k].words);
  refused("hyb_gga_xc_b3pw91", XC_SOURCE_OWN, "no own formulas");
  memset(much, 'a', sizeof much);
  much[sizeof much - 1] = '\0';
  refused(much, XC_SOURCE_AUTO, "at most");
  much[100] = '\0';
  refused(much, XC_SOURCE_AUTO, "at most");
  refused("gga_x_pw91+gga_c_pw91+lda_c_pz+lda_c_wigner+lda_c_rpa+lda_c_hl+lda_c_gl+lda_c_xalpha+"
          "lda_c_vwn_1",
          XC_SOURCE_AUTO, "more than 8 terms");
}

/** Every functional of libxc is either taken or refused with a reason. */
static void test_all(void **unused) {
  (void)unused;
  const char **names = NULL;
  int taken = 0, meta = 0, n = 0;
  assert_int_equal(xc_library_libxc.names(&names), TSL_OK);
  for (; names[n] != NULL; n++) {
    xc_functional f;
    if (xc_functional_find(names[n], XC_SOURCE_AUTO, &f) != TSL_OK) {
      if (strstr(tsl_err_message(), "known here") != NULL) fail_msg("%s", tsl_err_message());
      continue;
    }
    taken++;
    meta += f.tau;
  }
  print_message("%d of libxc's %d functionals\n", taken, n);
  assert_true(taken > 200 && meta > 60);
  tsl_free(names);
}

/** Texts of random pieces: no crash, and an error leaves nothing behind. */
static void test_random(void **unused) {
  (void)unused;
  static const char *const pieces[] = {
      "pbe", "+",    "*", "0.5", "-",  "gga_x_", "b88", " ",   "hf", "lyp", "1e9",   "\t",
      "xc",  "hyb_", "_", "%s",  "\n", "é",      "nan", "inf", ".",  "b3",  "lda_x", "mgga_"};
  uint64_t state = 3;
  for (int k = 0; k < 600; k++) {
    char text[XC_TEXT + 64] = "";
    xc_functional f;
    const int n = random_below(&state, 12);
    for (int i = 0; i < n; i++)
      strcat(text, pieces[random_below(&state, sizeof pieces / sizeof pieces[0])]);
    if (xc_functional_find(text, XC_SOURCE_AUTO, &f) == TSL_OK)
      assert_true(isfinite(f.exchange) && f.n_terms <= XC_MAX_TERMS);
    else
      assert_true(f.name[0] == '\0' && tsl_err_message()[0] != '\0');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own),     cmocka_unit_test(test_text), cmocka_unit_test(test_libxc),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_all),  cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
