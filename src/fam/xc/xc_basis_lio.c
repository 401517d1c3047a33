/* LIO's text of basis sets. */
#include "xc_basis_own.h"

#include <stdio.h>
#include <string.h>

/* Numbers that run over lines. */
typedef struct stream {
  table_lines lines;
  xc_words words;
  int64_t at; /* next word */
} stream;

static tsl_err next_word(stream *s) {
  tsl_err err = TSL_OK;
  while (s->at >= s->words.n) {
    if (!xc_words_next(&s->lines, &s->words))
      TSL_FAIL(TSL_ERR_INPUT, "%s: ends within an element", s->lines.path);
    s->at = 0;
  }
  s->at++;
done:
  return err;
}

static tsl_err next_integer(stream *s, const char *what, int64_t lo, int64_t hi, int64_t *value) {
  tsl_err err = TSL_OK;
  TSL_TRY(next_word(s));
  TSL_TRY(xc_word_integer(&s->words, s->at - 1, what, lo, hi, value));
done:
  return err;
}

static tsl_err next_real(stream *s, double *value) {
  tsl_err err = TSL_OK;
  TSL_TRY(next_word(s));
  TSL_TRY(xc_word_real(&s->words, s->at - 1, value));
done:
  return err;
}

enum { MOST = 256 };

/* Block "Z primitives contractions ..." of an element. */
static tsl_err read_element(stream *s, xc_set *set) {
  tsl_err err = TSL_OK;
  int64_t z = 0, primitives = 0, n = 0, sum = 0, many[MOST], l[MOST];
  double exponent = 0, coefficient = 0;
  xc_set_shell *shell = NULL;
  TSL_TRY(next_integer(s, "an atomic number", 1, XC_MAX_Z, &z));
  TSL_TRY(xc_set_check_new(set, &s->lines, (int32_t)z));
  TSL_TRY(
      next_integer(s, "a number of primitives", 1, (int64_t)MOST * XC_MAX_PRIMITIVES, &primitives));
  TSL_TRY(next_integer(s, "a number of contractions", 1, MOST, &n));
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(next_integer(s, "the primitives of a contraction", 1, XC_MAX_PRIMITIVES, &many[k]));
    sum += many[k];
  }
  if (sum != primitives)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: element %s: contractions of %lld primitives, but %lld announced",
             s->lines.path, (long long)s->lines.number, xc_symbol((int)z), (long long)sum,
             (long long)primitives);
  for (int64_t k = 0; k < n; k++)
    TSL_TRY(next_integer(s, "an angular momentum", 0, XC_MAX_L, &l[k]));
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(xc_set_add(set, &s->lines, (int32_t)z, (int32_t)l[k], &shell));
    for (int64_t p = 0; p < many[k]; p++) {
      TSL_TRY(next_real(s, &exponent));
      TSL_TRY(next_real(s, &coefficient));
      TSL_TRY(xc_set_put(shell, &s->lines, exponent, coefficient));
    }
  }
  if (s->at < s->words.n)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: words behind the last number of element %s", s->lines.path,
             (long long)s->lines.number, xc_symbol((int)z));
done:
  return err;
}

/* "gaussian", orbital block, fitting block, again, "endbasis". */
static tsl_err parse(stream *s, xc_set *orbital, xc_set *fitting) {
  tsl_err err = TSL_OK;
  bool end = false;
  char shown[48];
  while (!end && xc_words_next(&s->lines, &s->words)) {
    end = xc_word_is(&s->words, 0, "endbasis");
    if (end) continue;
    if (!xc_word_is(&s->words, 0, "gaussian"))
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: '%s' where 'gaussian' or 'endbasis' is expected",
               s->lines.path, (long long)s->lines.number, xc_word_shown(&s->words, 0, shown));
    s->at = s->words.n;
    TSL_TRY(read_element(s, orbital));
    TSL_TRY(read_element(s, fitting));
    if (orbital->shells[orbital->n - 1].z != fitting->shells[fitting->n - 1].z)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: the fitting functions above belong to another element",
               s->lines.path, (long long)s->lines.number);
  }
  if (!end) TSL_FAIL(TSL_ERR_INPUT, "%s: no 'endbasis'", s->lines.path);
  if (orbital->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no element", s->lines.path);
done:
  return err;
}

bool xc_set_is_lio(const char *text, int64_t bytes) {
  table_lines lines;
  xc_words words;
  table_lines_open("", text, bytes, '#', &lines);
  return xc_words_next(&lines, &words) && words.n == 1 && xc_word_is(&words, 0, "gaussian");
}

tsl_err xc_set_parse_lio(const char *name, const char *text, int64_t bytes, xc_set *orbital,
                         xc_set *fitting) {
  tsl_err err = TSL_OK;
  stream s = {.at = 0};
  memset(orbital, 0, sizeof *orbital);
  memset(fitting, 0, sizeof *fitting);
  (void)snprintf(orbital->name, sizeof orbital->name, "%s", name);
  (void)snprintf(fitting->name, sizeof fitting->name, "%s", name);
  orbital->kind = fitting->kind = XC_KIND_CARTESIAN;
  if (bytes > XC_SET_MAX_BYTES)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld bytes; a basis set may have %d", name, (long long)bytes,
             XC_SET_MAX_BYTES);
  table_lines_open(name, text, bytes, '#', &s.lines);
  TSL_TRY(parse(&s, orbital, fitting));
done:
  if (err != TSL_OK) xc_set_clear(orbital), xc_set_clear(fitting);
  return err;
}
