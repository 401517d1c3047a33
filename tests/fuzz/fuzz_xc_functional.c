/* Any bytes as the name of a functional: understood or refused with a message; what is understood
 * has finite weights, says what it consists of and computes. */
#include "fuzz_driver.h"
#include "xc_functional.h"

#include <math.h>

static void try_evaluation(const xc_functional *f) {
  double rho = 0.3, sigma = 0.2, tau = 0.4, e = 0, v = 0, s = 0, t = 0;
  const xc_points points = {.n = 1,
                            .rho = {&rho},
                            .sigma = {&sigma},
                            .tau = {&tau},
                            .e = &e,
                            .vrho = {&v},
                            .vsigma = {&s},
                            .vtau = {&t}};
  xc_evaluator *evaluator = NULL;
  const tsl_err err = xc_evaluator_create(f, 1, 2, &evaluator);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "an evaluator");
  if (err == TSL_OK) xc_evaluate(evaluator, &points);
  xc_evaluator_destroy(&evaluator);
}

static void try_source(const char *text, xc_source source) {
  xc_functional f;
  char parts[XC_TEXT];
  const tsl_err err = xc_functional_find(text, source, &f);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
  if (err != TSL_OK) return;
  must(f.n_terms >= 0 && f.n_terms <= XC_MAX_TERMS && isfinite(f.exchange), "terms");
  for (int k = 0; k < f.n_terms; k++)
    must(isfinite(f.terms[k].weight) && memchr(f.terms[k].name, '\0', XC_NAME) != NULL, "a term");
  must(strlen(xc_functional_text(&f, parts)) < XC_TEXT, "its words");
  try_evaluation(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  char text[XC_TEXT];
  const size_t n = n_bytes < XC_TEXT ? n_bytes : XC_TEXT - 1; /* what the deck lets through */
  memcpy(text, data, n);
  text[n] = '\0';
  try_source(text, XC_SOURCE_AUTO);
  try_source(text, XC_SOURCE_LIBXC);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {"pbe",
                                    "b3lyp",
                                    "0.25*hf + 0.75*gga_x_pbe + gga_c_pbe",
                                    "svwn5",
                                    "lda_x",
                                    "hyb_gga_xc_b3pw91",
                                    "-1e-3*hf+lda_c_vwn",
                                    "wb97x",
                                    "0.5*B 97-1 + revPBE",
                                    "\xcf\x89"
                                    "B97X-D3(BJ)",
                                    ""};

static const char tokens[] =
    "+\1-\1*\1 \1e\1E\1.\1inf\1nan\1"
    "0\1"
    "(\1)\1(BJ)\1d3\1-D3\1\xcf\1\xcf\x89\1\xc2\xb2\1"
    "B97\1revPBE\1scan\1"
    "9\1"
    "1e308\1hf\1lda_x\1gga_x_\1gga_c_\1mgga_x_tpss\1hyb_\1pbe\1_\1\xff\1%s\1%n";

FUZZ_MAIN("fuzz_xc_functional", "texts")

#endif
