/* LIO's text of basis sets. */
#include "xc_basis_own.h"

#include <stdio.h>
#include <string.h>

/* Text that LIO's Fortran reads record by record: each begins on a new line, goes on over lines
 * until it has its words, and what its last line has beyond them is passed over. */
typedef struct stream {
  table_lines lines;
  xc_words words;
  int64_t at;                     /* next word */
  int64_t surplus, first_surplus; /* lines with words beyond; the first */
  int64_t zeros, first_zero;      /* primitives of exponent zero, likewise */
  int64_t left_out;               /* elements beyond what is supported */
  char first_left_out[64];
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

static void end_record(stream *s) {
  if (s->at < s->words.n && s->surplus++ == 0) s->first_surplus = s->lines.number;
  s->at = s->words.n;
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

enum { MOST = 256, MOST_Z = 118, MOST_L = 12 };

/* What an element's first three records say. */
typedef struct head {
  int64_t z, primitives, n, many[MOST], l[MOST];
} head;

static tsl_err read_head(stream *s, head *h) {
  tsl_err err = TSL_OK;
  int64_t sum = 0;
  TSL_TRY(next_integer(s, "an atomic number", 1, MOST_Z, &h->z));
  TSL_TRY(next_integer(s, "a number of primitives", 1, (int64_t)MOST * MOST, &h->primitives));
  TSL_TRY(next_integer(s, "a number of contractions", 1, MOST, &h->n));
  end_record(s);
  for (int64_t k = 0; k < h->n; k++) {
    TSL_TRY(next_integer(s, "the primitives of a contraction", 1, MOST, &h->many[k]));
    sum += h->many[k];
  }
  if (sum != h->primitives)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: element %lld: contractions of %lld primitives, but %lld announced",
             s->lines.path, (long long)s->lines.number, (long long)h->z, (long long)sum,
             (long long)h->primitives);
  end_record(s);
  for (int64_t k = 0; k < h->n; k++)
    TSL_TRY(next_integer(s, "an angular momentum", 0, MOST_L, &h->l[k]));
  end_record(s);
done:
  return err;
}

/* Why an element cannot be used here; NULL when it can. */
static const char *reason_against(const head *h) {
  if (h->z > XC_MAX_Z) return "elements beyond radon are not known";
  for (int64_t k = 0; k < h->n; k++) {
    if (h->l[k] > XC_MAX_L) return "functions beyond g are not supported";
    if (h->many[k] > XC_MAX_PRIMITIVES) return "a contraction has too many primitives";
  }
  return NULL;
}

/* To LIO a primitive of exponent zero is nothing: its norm is zero.
 * @param[in] shell  NULL: of an element that is left out */
static tsl_err read_primitive(stream *s, xc_set_shell *shell) {
  tsl_err err = TSL_OK;
  double exponent = 0, coefficient = 0;
  TSL_TRY(next_real(s, &exponent));
  TSL_TRY(next_real(s, &coefficient));
  end_record(s);
  if (shell == NULL) goto done;
  if (exponent == 0) {
    if (s->zeros++ == 0) s->first_zero = s->lines.number;
    goto done;
  }
  TSL_TRY(xc_set_put(shell, &s->lines, exponent, coefficient));
done:
  return err;
}

static void leave_out(stream *s, const head *h, const char *why) {
  if (s->left_out++ == 0)
    (void)snprintf(s->first_left_out, sizeof s->first_left_out, "%d, %s", (int)h->z, why);
}

/* Block "Z primitives contractions ..." of an element. */
static tsl_err read_element(stream *s, xc_set *set, int64_t *z) {
  tsl_err err = TSL_OK;
  head h;
  xc_set_shell *shell = NULL;
  TSL_TRY(read_head(s, &h));
  const char *why = reason_against(&h);
  if (why != NULL) leave_out(s, &h, why);
  *z = h.z;
  if (why == NULL) TSL_TRY(xc_set_check_new(set, &s->lines, (int32_t)h.z));
  for (int64_t k = 0; k < h.n; k++) {
    if (why == NULL) TSL_TRY(xc_set_add(set, &s->lines, (int32_t)h.z, (int32_t)h.l[k], &shell));
    for (int64_t p = 0; p < h.many[k]; p++) TSL_TRY(read_primitive(s, shell));
    if (shell != NULL && shell->n == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: element %s: a contraction whose exponents are all zero",
               s->lines.path, (long long)s->lines.number, xc_symbol((int)h.z));
  }
done:
  return err;
}

/* Does another block of numbers follow, or the next word? */
static bool block_follows(const stream *s) {
  stream ahead = *s;
  if (!xc_words_next(&ahead.lines, &ahead.words)) return false;
  return !xc_word_is(&ahead.words, 0, "gaussian") && !xc_word_is(&ahead.words, 0, "endbasis");
}

/* An element's orbital block and, in files that have them, its fitting block. */
static tsl_err read_blocks(stream *s, xc_set *orbital, xc_set *fitting, int64_t *with) {
  tsl_err err = TSL_OK;
  int64_t z = 0, other = 0;
  TSL_TRY(read_element(s, orbital, &z));
  if (!block_follows(s)) goto done;
  ++*with;
  TSL_TRY(read_element(s, fitting, &other));
  if (other != z)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: the fitting functions above belong to another element",
             s->lines.path, (long long)s->lines.number);
done:
  return err;
}

/* "gaussian", blocks of an element, again, "endbasis". */
static tsl_err xc_basis_lio_parse(stream *s, xc_set *orbital, xc_set *fitting) {
  tsl_err err = TSL_OK;
  bool end = false;
  char shown[48];
  int64_t elements = 0, with = 0;
  while (!end && xc_words_next(&s->lines, &s->words)) {
    end = xc_word_is(&s->words, 0, "endbasis");
    if (end) continue;
    if (!xc_word_is(&s->words, 0, "gaussian"))
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: '%s' where 'gaussian' or 'endbasis' is expected",
               s->lines.path, (long long)s->lines.number, xc_word_shown(&s->words, 0, shown));
    s->at = s->words.n;
    TSL_TRY(read_blocks(s, orbital, fitting, &with));
    elements++;
    if (with != 0 && with != elements)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: of elements above some have fitting functions, some not",
               s->lines.path, (long long)s->lines.number);
  }
  if (!end) TSL_FAIL(TSL_ERR_INPUT, "%s: no 'endbasis'", s->lines.path);
  if (orbital->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no element that is known here", s->lines.path);
done:
  return err;
}

/* What was read otherwise than it is written; empty: nothing. */
static void warn(const stream *s, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
#define ADD(...) \
  if (used < size) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
  if (s->surplus + s->zeros + s->left_out > 0) ADD("%.96s: read as LIO does", s->lines.path);
  if (s->surplus > 0)
    ADD("; surplus words on %lld lines passed over (first on line %lld)", (long long)s->surplus,
        (long long)s->first_surplus);
  if (s->zeros > 0)
    ADD("; %lld primitives of exponent 0 left out (first on line %lld)", (long long)s->zeros,
        (long long)s->first_zero);
  if (s->left_out > 0)
    ADD("; %lld elements left out (first Z = %s)", (long long)s->left_out, s->first_left_out);
#undef ADD
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
  TSL_TRY(xc_basis_lio_parse(&s, orbital, fitting));
  warn(&s, orbital->warning, sizeof orbital->warning);
  warn(&s, fitting->warning, sizeof fitting->warning);
done:
  if (err != TSL_OK) xc_set_clear(orbital), xc_set_clear(fitting);
  return err;
}
