/* Any text as a function of pairs: refused with a message, or it has a value and is written out. */
#include "fuzz_driver.h"
#include "lang_pair.h"
#include "memory.h"

static long long n_written;

static void set_names(lang_names *n, bool single) {
  static const char *const arrays[] = {"x_i", "x_j", "dx"};
  static const char *const scalars[] = {"r2", "r", "q_i", "q_j", "d", "s"};
  memset(n, 0, sizeof *n);
  n->tables[0].type = single ? TSL_F32 : TSL_F64;
  for (int a = 0; a < 3; a++) {
    n->arrays[a] = (lang_array){.type = TSL_F64, .rank = 1, .shape = {3, 1}};
    (void)snprintf(n->arrays[a].name, sizeof n->arrays[a].name, "%s", arrays[a]);
  }
  n->n_arrays = 3;
  for (int s = 0; s < 6; s++) {
    n->scalars[s] = (lang_scalar){.kind = s == 4 ? LANG_WHOLE : LANG_REAL, .whole = 3, .real = 0.5};
    (void)snprintf(n->scalars[s].name, sizeof n->scalars[s].name, "%s", scalars[s]);
  }
  n->n_scalars = 6;
}

static void check_refusal(tsl_err err) {
  must(err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0', "a refusal of another kind");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static const double scalars[] = {2, 1.5, -1, 3}, x[] = {0.25, 1, -2};
  static const double *const arrays[] = {x, x, x};
  static const char *const words[] = {"r2", "r", "a.q0", "b.q0"}, *const of[] = {"a.x", "b.x",
                                                                                 "dx"};
  lang_names names;
  lang_expr expr;
  lang_text out = {0};
  lang_pair_uses uses = {0};
  double value = 0;
  char *text = malloc(n_bytes + 1);
  if (text == NULL) abort();
  memcpy(text, data, n_bytes);
  text[n_bytes] = '\0';
  set_names(&names, n_bytes % 2 == 0);
  tsl_err err = lang_expr_parse(&names, LANG_SCOPE_PAIR, text, &expr);
  if (err == TSL_OK) {
    const lang_pair pair = {&names, &expr, 4};
    const lang_pair_values values = {scalars, arrays};
    const lang_pair_words called = {words, of};
    const tsl_err valued = lang_pair_value(&pair, &values, &value);
    if (valued != TSL_OK) check_refusal(valued);
    const tsl_err written = lang_pair_emit(&pair, &called, &uses, &out);
    if (written != TSL_OK) check_refusal(written);
    n_written += written == TSL_OK;
    tsl_free(out.text);
    lang_expr_clear(&expr);
  } else {
    check_refusal(err);
  }
  free(text);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {"exp(-r2 / (2 * s * s)) * q_i * q_j",
                                    "r < 0.3 && !(r <= 0.1) || q_i > 2 ? pow(r, 3) : log(1 + r)",
                                    "sum(k = 0 .. d - 1 : abs(dx[k]) + max(l = 0 .. k : x_i[l]))",
                                    "min(sqrt(r2), inf, min(k = 1 .. 2 : x_j[k % 2] else 1 / 2))"};

static const char tokens[] =
    "(\1)\1[\1]\1 ? \1 : \1min(\1max(\1sum(k = \1 .. \1 else "
    "\1exp(\1log(\1sqrt(\1pow(\1sin(\1cos(\1"
    "erf(\1"
    "r\1r2\1q_i\1q_j\1x_i[\1x_j[\1dx[\1k\1d\1s\1+\1-\1*\1/\1%\1<\1>=\1==\1&&\1||\1!\1"
    "0\0012\0011.5\0011e9\1inf\0019223372036854775807\1len(x_i)\1\n\1,";

FUZZ_MAIN_COUNTED("fuzz_lang_pair", "texts", "written", n_written)

#endif
