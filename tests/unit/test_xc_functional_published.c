/* unit.xc.functional_published: names that people publish with mean what they mean to PySCF,
 * however they are written; those that need more than is computed here are refused with it. */
#include "xc_functional.h"
#include "xc_functional_own.h"
#include "xc_published_reference.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N_REFERENCES = sizeof references / sizeof references[0] };

static xc_functional found(const char *text) {
  xc_functional f;
  if (xc_functional_find(text, XC_SOURCE_AUTO, &f) != TSL_OK) fail_msg("%s", tsl_err_message());
  return f;
}

static void refused(const char *text, const char *words) {
  xc_functional f;
  const tsl_err err = xc_functional_find(text, XC_SOURCE_AUTO, &f);
  if (err != TSL_ERR_INPUT) fail_msg("'%s' is not refused (%d)", text, (int)err);
  if (strstr(tsl_err_message(), words) == NULL)
    fail_msg("'%s': '%s' lacks '%s'", text, tsl_err_message(), words);
}

/** e, v_a, v_b, v_aa, v_ab, v_bb, and by tau_a, tau_b at the points of the reference. */
static void compute(const xc_functional *f, double out[N_POINTS][8]) {
  double in[7][N_POINTS], to[8][N_POINTS];
  const xc_points points = {N_POINTS, {in[0], in[1]}, {in[2], in[3], in[4]}, {in[5], in[6]},
                            to[0],    {to[1], to[2]}, {to[3], to[4], to[5]}, {to[6], to[7]}};
  xc_evaluator *evaluator = NULL;
  for (int k = 0; k < N_POINTS; k++)
    for (int x = 0; x < 7; x++) in[x][k] = reference_points[k][x];
  if (xc_evaluator_create(f, 2, 2, &evaluator) != TSL_OK) fail_msg("%s", tsl_err_message());
  xc_evaluate(evaluator, &points);
  for (int k = 0; k < N_POINTS; k++)
    for (int x = 0; x < 8; x++) out[k][x] = to[x][k];
  xc_evaluator_destroy(&evaluator);
}

/** The largest difference, relative to the largest value of its kind at its point. */
static double difference(const double one[N_POINTS][8], const double other[N_POINTS][8]) {
  static const int kinds[][2] = {{0, 1}, {1, 3}, {3, 6}, {6, 8}};
  double worst = 0;
  for (int k = 0; k < N_POINTS; k++)
    for (int kind = 0; kind < 4; kind++) {
      double size = 0, off = 0;
      for (int x = kinds[kind][0]; x < kinds[kind][1]; x++) {
        size = fmax(size, fabs(other[k][x]));
        off = fmax(off, fabs(one[k][x] - other[k][x]));
      }
      if (off > 0) worst = fmax(worst, off / size);
    }
  return worst;
}

/** Water's energy of exchange and correlation, 9 hartree, is then the same to 1e-9 hartree. */
static const double SAME = 1e-10;

static void test_values(void **unused) {
  (void)unused;
  double worst = 0;
  for (int k = 0; k < N_REFERENCES; k++) {
    double out[N_POINTS][8];
    const xc_functional f = found(references[k].name);
    compute(&f, out);
    const double off = difference(out, references[k].out);
    if (!(off < SAME)) print_error("%s: %.1e away\n", references[k].name, off);
    if (fabs(f.exchange - references[k].exchange) > 1e-12 ||
        fabs(f.far - references[k].far) > 1e-12 || fabs(f.omega - references[k].omega) > 1e-12)
      fail_msg("%s: %.6f of exact exchange, %.6f by %.6f", references[k].name, f.exchange, f.far,
               f.omega);
    worst = fmax(worst, off);
  }
  print_message("%d names, %.1e at most\n", N_REFERENCES, worst);
  assert_true(worst < SAME);
}

/** The comparison tells any two functionals apart that are not the same. */
static void test_apart(void **unused) {
  (void)unused;
  double least = 1;
  for (int k = 0; k < N_REFERENCES; k++)
    for (int l = 0; l < k; l++) {
      const double off = difference(references[k].out, references[l].out);
      const bool exchange = fabs(references[k].exchange - references[l].exchange) > 1e-9;
      const xc_functional one = found(references[k].name), other = found(references[l].name);
      char a[XC_TEXT], b[XC_TEXT];
      if (strcmp(xc_functional_text(&one, a), xc_functional_text(&other, b)) == 0) continue;
      if (!exchange) least = fmin(least, off);
    }
  print_message("the nearest two are %.1e apart\n", least);
  assert_true(least > 1e4 * SAME);
}

/** Every name that is computed has its numbers, every own one too. */
static void test_all_proven(void **unused) {
  (void)unused;
  int n;
  const xc_published *const rows = xc_published_rows(&n);
  for (int k = 0; k < n; k++) {
    int at = 0;
    while (at < N_REFERENCES && strcmp(references[at].name, rows[k].name) != 0) at++;
    if (rows[k].sum != NULL && at == N_REFERENCES) fail_msg("%s is not compared", rows[k].name);
    if (rows[k].sum == NULL && at < N_REFERENCES) fail_msg("%s is refused", rows[k].name);
  }
}

/** No two rows are one name; a row that libxc has by its short name too is the same functional. */
static void test_unambiguous(void **unused) {
  (void)unused;
  static const char *const prefixes[] = {"hyb_gga_xc_", "gga_xc_", "hyb_mgga_xc_"};
  int n, shared = 0;
  const xc_published *const rows = xc_published_rows(&n);
  for (int k = 0; k < n; k++) {
    char key[XC_NAME], full[XC_NAME];
    assert_ptr_equal(xc_published_find(rows[k].name), &rows[k]);
    assert_int_equal((rows[k].sum != NULL) + (rows[k].lacks != 0) + (rows[k].choices != NULL), 1);
    xc_name_fold(rows[k].name, key);
    for (int p = 0; p < 3; p++) {
      double one[N_POINTS][8], other[N_POINTS][8];
      xc_library_info info;
      xc_functional f, direct;
      (void)snprintf(full, sizeof full, "%s%.40s", prefixes[p], key);
      if (!xc_library_libxc.find(full, &info) || info.kind != XC_KIND_GOOD) continue;
      if (xc_functional_find(full, XC_SOURCE_LIBXC, &direct) != TSL_OK) continue;
      f = found(rows[k].name);
      compute(&f, one);
      compute(&direct, other);
      if (!(difference(one, other) < SAME) || fabs(f.exchange - direct.exchange) > 1e-12)
        fail_msg("%s is not %s", rows[k].name, full);
      shared++;
    }
  }
  print_message("%d names are libxc's too\n", shared);
  assert_true(shared > 15);
}

/** Upper and lower case, with '_' and ' ' for '-' or nothing: all the same. */
static void test_spellings(void **unused) {
  (void)unused;
  int n;
  const xc_published *const rows = xc_published_rows(&n);
  for (int k = 0; k < n; k++) {
    if (rows[k].sum == NULL) continue;
    char texts[5][XC_NAME] = {"", "", "", "", ""}, parts[2][XC_TEXT];
    const xc_functional usual = found(rows[k].name);
    for (int c = 0, m = 0; rows[k].name[c] != '\0'; c++) {
      const char letter = rows[k].name[c];
      texts[0][c] = (char)toupper((unsigned char)letter);
      texts[1][c] = (char)tolower((unsigned char)letter);
      texts[2][c] = letter == '-' ? '_' : letter;
      texts[3][c] = letter == '-' ? ' ' : letter;
      if (letter != '-') texts[4][m++] = letter;
    }
    for (int t = 0; t < 5; t++) {
      const xc_functional other = found(texts[t]);
      assert_string_equal(xc_functional_text(&usual, parts[0]),
                          xc_functional_text(&other, parts[1]));
    }
  }
}

static void test_meaning(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *parts;
  } cases[] = {
      {"revPBE", "1*gga_c_pbe + 1*gga_x_pbe_r"},
      {"B 97-1", "0.21*hf + 1*hyb_gga_xc_b97_1"},
      {"m PW1 pw91", "0.25*hf + 0.75*gga_x_mpw91 + 1*gga_c_pw91"},
      {"PBE 0", "0.25*hf + 0.75*gga_x_pbe + 1*gga_c_pbe"},
      {"B3-LYP", "0.2*hf + 0.08*lda_x + 0.19*lda_c_vwn_rpa + 0.72*gga_x_b88 + 0.81*gga_c_lyp"},
      {"PBE50", "0.5*hf + 0.5*gga_x_pbe + 1*gga_c_pbe"},
      {"0.5*BP86+0.5*BPBE", "0.5*gga_c_pbe + 1*gga_x_b88 + 0.5*gga_c_p86"},
      {"0.5*BP86 + 0.5*OLYP", "0.5*gga_x_b88 + 0.5*gga_c_lyp + 0.5*gga_c_p86 + 0.5*gga_x_optx"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char parts[XC_TEXT];
    const xc_functional f = found(cases[k].text);
    assert_string_equal(xc_functional_text(&f, parts), cases[k].parts);
    assert_string_equal(f.name, cases[k].text);
  }
  assert_int_equal(found("BPBE").n_terms, 0); /* own parts alone: on cards too */
  assert_int_equal(found("BHandHLYP").n_terms, 0);
  assert_int_equal(found("SPW92").gga, 0);
  assert_int_equal(found("TPSS").own, XC_OWN_tpss);
  assert_int_equal(found("r\xc2\xb2SCAN").own, XC_OWN_r2scan);
  assert_int_equal(found("r2SCAN50").n_terms, 0);
  assert_true(found("camb3lyp").omega == 0.33 && found("\xcf\x89"
                                                       "B97X")
                                                         .far > 0.8);
  assert_true(found("HSE06").far == -0.25 && found("LC-wPBE").exchange == 0 &&
              found("pbe0").far == 0);
  assert_true(found("wB97X-V").nonlocal.b == 6 && found("wB97XV").nonlocal.c == 0.01 &&
              found("VV10").nonlocal.b == 5.9 && found("wB97X").nonlocal.b == 0);
  assert_true(found("M06 2X").tau == 1 && found("M06 2X").gga == 1 && found("pbe").tau == 0);
}

static void test_refused(void **unused) {
  (void)unused;
  static const char meta[] = "the Laplacian of a meta-GGA",
                    dispersion[] = "a correction for dispersion",
                    local[] = "non-local correlation other",
                    twice[] = "the perturbative correlation of a double hybrid";
  const struct {
    const char *text, *words;
  } cases[] = {
      {"SCANL", meta},
      {"r\xc2\xb2SCANL", "(r2SCANL) needs"},
      {"HSE", "write hse06"},
      {"wB97X-D", "(wB97X-D) needs a correction for dispersion"},
      {"wB97X-rV", "(wB97X-rV) needs non-local correlation"},
      {"wB97M-rV", local},
      {"0.5*wB97M-V", "taken once and whole"},
      {"wB97M-V + B97M-V", "taken once and whole"},
      {"hyb_gga_xc_camy_b3lyp", "exact exchange by Yukawa's function"},
      {"0.5*CAM-B3LYP + 0.5*HSE06", "separates the ranges of exact exchange by 0.11"},
      {"B97-D", dispersion},
      {"B97 D", dispersion},
      {"B97D", dispersion},
      {"B97-D3(BJ)", dispersion},
      {"B97M-rV", local},
      {"B2PLYP", twice},
      {"B2-PLYP", twice},
      {"PBE0-DH", twice},
      {"B2PLYP-D3(BJ)", "a correction for dispersion and the perturbative"},
      {"B3LYP-D3(BJ)", "'b3lyp' is without"},
      {"B3LYP-D3 (BJ)", "'b3lyp' is without"},
      {"PBE D3", "'pbe' is without"},
      {"revPBE-D3(0)", "'revpbe' is without"},
      {"BP86-D4", "'bp86' is without"},
      {"PBE0-MBD", "'pbe0' is without"},
      {"PBE-3c", "basis set"},
      {"B3LYP+D3", "(D3) needs"},
      {"B3LYP-NL", "'b3lyp' is without, and xc.nonlocal"},
      {"TPSS-D3", "'tpss' is without"},
      {"r2SCAN-3c", "corrections for its basis set"},
      {"PBEh-3c", "corrections for its basis set"},
      {"0.5*pbe+0.5*scanl", meta},
      {"wB97M(2)", twice},
      {"DSD-PBEP86", twice},
      {"svwn", "several; write svwn5 or"},
      {"LDA", "write svwn5, spw92"},
      {"B98", "write sb98_2c"},
      {"LSDA-D3", "write svwn5"},
      {"swvn5", "'svwn5'"},
      {"b3pw92", "'b3pw91'"},
      {"revpbee", "'revpbe'"},
      {"mpw1pw92", "'mpw1pw91'"},
      {"rpbee", "'rpbe'"},
      {"(pbe)", "a name is missing"},
      {"0.5*(pbe+hf)", "a name is missing"},
      {"pbe(", "expected '+'"},
      {"pbe()", "expected '+'"},
      {"pbe(0.5)", "expected '+'"},
      {"pbe pbe", "expected '+'"},
      {"pbe hf", "expected '+'"},
      {"BP86 (own)", "expected '+'"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    refused(cases[k].text, cases[k].words);
}

/** All that is lacking is refused by its name in any spelling and source, with that name. */
static void test_lacking(void **unused) {
  (void)unused;
  int n, refusals = 0;
  const xc_published *const rows = xc_published_rows(&n);
  for (int k = 0; k < n; k++) {
    if (rows[k].lacks == 0) continue;
    char squeezed[XC_NAME], words[XC_TEXT + XC_NAME], text[XC_TEXT];
    xc_squeeze(rows[k].name, squeezed);
    (void)snprintf(words, sizeof words, "(%s) needs %s", rows[k].name,
                   xc_lacks_text(rows[k].lacks, text));
    refused(rows[k].name, words);
    refused(squeezed, words);
    refusals++;
  }
  print_message("%d names are refused\n", refusals);
  assert_true(refusals > 80);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),     cmocka_unit_test(test_apart),
      cmocka_unit_test(test_all_proven), cmocka_unit_test(test_unambiguous),
      cmocka_unit_test(test_spellings),  cmocka_unit_test(test_meaning),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_lacking),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
