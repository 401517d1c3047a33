/* Text to tokens, and messages with a caret under the place. */
#include "lang_lex.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 96 /* columns of the text in a message */ };

const char *const lang_words[] = {"i",   "j",   "logsum", "prod", "argmin", "argmax", "min",  "max",
                                  "sum", "abs", "len",    "rows", "cols",   "inf",    "else", NULL};
const char *const lang_function_words[] = {"sqrt", "exp", "log",   "pow",   "sin",
                                           "cos",  "erf", "log1p", "floor", NULL};

/* ---------------------------------------------------------------- messages */

/** The part of a line that is shown, with the place in it. */
typedef struct excerpt {
  char line[SHOWN_MAX + 1], caret[SHOWN_MAX + 1];
  int32_t number, column, n_lines;
} excerpt;

static void cut_excerpt(const char *text, int32_t at, int32_t length, excerpt *e) {
  const int32_t n = (int32_t)strlen(text);
  int32_t first = at < n ? at : n, end = first;
  memset(e, 0, sizeof *e);
  e->number = e->n_lines = 1;
  for (int32_t c = 0; c < n; c++) {
    e->n_lines += text[c] == '\n' && c + 1 < n;
    e->number += text[c] == '\n' && c < at;
  }
  while (first > 0 && text[first - 1] != '\n') first--;
  while (end < n && text[end] != '\n') end++;
  e->column = at - first + 1;
  if (at - first > SHOWN_MAX * 2 / 3) first = at - SHOWN_MAX / 2;
  if (end - first > SHOWN_MAX) end = first + SHOWN_MAX;
  for (int32_t c = first; c < end; c++)
    e->line[c - first] = text[c] >= ' ' && text[c] < 127 ? text[c] : '?';
  memset(e->caret, ' ', (size_t)(at - first));
  for (int32_t c = at; c < at + (length > 0 ? length : 1) && c - first < SHOWN_MAX; c++)
    if (c == at || c < end) e->caret[c - first] = c == at ? '^' : '~';
}

tsl_err lang_fail_at(tsl_err code, const char *text, int32_t at, int32_t length, const char *file,
                     int line, const char *fmt, ...) {
  char what[TSL_ERR_MESSAGE_MAX / 2];
  excerpt e;
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  cut_excerpt(text, at, length, &e);
  if (e.n_lines > 1)
    return tsl_fail(code, file, line, "line %d, column %d: %s\n    %s\n    %s", (int)e.number,
                    (int)e.column, what, e.line, e.caret);
  return tsl_fail(code, file, line, "column %d: %s\n    %s\n    %s", (int)e.column, what, e.line,
                  e.caret);
}

tsl_err lang_expr_fail(tsl_err code, const lang_expr *expr, const char *file, int line,
                       const char *fmt, ...) {
  char what[TSL_ERR_MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  return tsl_fail(code, file, line, "%s%s%s", expr->place != NULL ? expr->place : "",
                  expr->place != NULL ? ": " : "", what);
}

tsl_err lang_node_fail(tsl_err code, const lang_expr *expr, int32_t node, const char *file,
                       int line, const char *fmt, ...) {
  char what[TSL_ERR_MESSAGE_MAX / 2], whole[TSL_ERR_MESSAGE_MAX];
  const lang_node *n = &expr->nodes[node];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  (void)lang_fail_at(code, expr->text, n->at, n->length, file, line, "%s", what);
  (void)snprintf(whole, sizeof whole, "%s", tsl_err_message());
  return lang_expr_fail(code, expr, file, line, "%s", whole);
}

/* ----------------------------------------------------------------- numbers */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/** Bytes of the number at text: digits, a fraction (not the dots of a range), an exponent. */
static int32_t number_length(const char *text, bool *point) {
  int32_t n = 0, e;
  while (is_digit(text[n])) n++;
  *point = text[n] == '.' && text[n + 1] != '.';
  if (*point) n++;
  while (*point && is_digit(text[n])) n++;
  if (text[n] != 'e' && text[n] != 'E') return n;
  e = n + 1;
  if (text[e] == '+' || text[e] == '-') e++;
  if (!is_digit(text[e])) return n;
  while (is_digit(text[e])) e++;
  return e;
}

/** Value of digits with a non-negative exponent. @return false when it overflows or is no integer
 */
static bool whole_number(const char *text, int32_t length, int64_t *out) {
  int64_t value = 0, power = 0;
  int32_t c = 0;
  for (; c < length && is_digit(text[c]); c++)
    if (!tsl_mul_i64(value, 10, &value) || !tsl_add_i64(value, text[c] - '0', &value)) return false;
  if (c < length && text[++c] == '+') c++;
  if (c < length && text[c] == '-') return false;
  for (; c < length; c++)
    if (power < 100) power = power * 10 + (text[c] - '0');
  for (; power > 0 && value > 0; power--)
    if (!tsl_mul_i64(value, 10, &value)) return false;
  *out = value;
  return true;
}

static tsl_err lex_number(const char *text, lang_token *token) {
  tsl_err err = TSL_OK;
  char number[64];
  bool point = false;
  token->sign = LANG_SIGN_NUMBER;
  token->length = number_length(text + token->at, &point);
  if (token->length >= (int32_t)sizeof number)
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, token->length,
                 "a number of %d characters; at most 63", (int)token->length);
  memcpy(number, text + token->at, (size_t)token->length);
  number[token->length] = '\0';
  if (is_letter(text[token->at + token->length]))
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, token->length + 1,
                 "an operator is missing between a number and a name");
  token->kind = LANG_WHOLE;
  if (!point && whole_number(number, token->length, &token->whole)) goto done;
  token->kind = LANG_REAL;
  token->real = strtod(number, NULL);
  if (!point && strpbrk(number, "eE") == NULL)
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, token->length,
                 "the integer is larger than 9223372036854775807");
  if (token->real > DBL_MAX)
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, token->length, "the number is too large");
  if (token->real < DBL_MIN && strcspn(number, "123456789") < strcspn(number, "eE"))
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, token->length, "the number is too small");
done:
  return err;
}

/** 'A': a printable character between quotes. */
static tsl_err lex_letter(const char *text, lang_token *token) {
  tsl_err err = TSL_OK;
  const char *at = text + token->at;
  if (at[1] < ' ' || at[1] >= 127 || at[2] != '\'')
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, 1,
                 "a letter is one character between quotes: 'A'");
  *token = (lang_token){LANG_SIGN_NUMBER, token->at, 3, LANG_WHOLE, .whole = at[1]};
done:
  return err;
}

/* ------------------------------------------------------------------ tokens */

static tsl_err lex_other(const char *text, lang_token *token) {
  static const char *const pairs[] = {"..", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};
  tsl_err err = TSL_OK;
  const char *at = text + token->at;
  token->sign = LANG_SIGN_OTHER;
  token->length = 2;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strncmp(at, pairs[i], 2) == 0) goto done;
  token->length = 1;
  if (strchr("+-*/%<>!?:,()[]=&|^~", *at) != NULL) goto done;
  if (*at >= ' ' && *at < 127)
    LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, 1, "unexpected character '%c'", *at);
  LANG_FAIL_AT(TSL_ERR_INPUT, text, token->at, 1, "unexpected byte 0x%02x",
               (unsigned)(unsigned char)*at);
done:
  return err;
}

tsl_err lang_lex(const char *text, int32_t at, lang_token *token) {
  while (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') at++;
  *token = (lang_token){.sign = LANG_SIGN_END, .at = at};
  if (text[at] == '\0') return TSL_OK;
  if (is_digit(text[at]) || (text[at] == '.' && is_digit(text[at + 1])))
    return lex_number(text, token);
  if (text[at] == '\'') return lex_letter(text, token);
  if (!is_letter(text[at])) return lex_other(text, token);
  token->sign = LANG_SIGN_NAME;
  while (is_letter(text[at + token->length]) || is_digit(text[at + token->length])) token->length++;
  return TSL_OK;
}

bool lang_token_is(const char *text, const lang_token *token, const char *word) {
  const size_t n = strlen(word);
  return token->sign != LANG_SIGN_NUMBER && token->length == (int32_t)n &&
         strncmp(text + token->at, word, n) == 0;
}

/* ------------------------------------------------------------------- names */

static bool taken(const lang_names *names, const char *name) {
  for (int n = 0; n < names->n_tables; n++)
    if (strcmp(names->tables[n].name, name) == 0) return true;
  for (int n = 0; n < names->n_arrays; n++)
    if (strcmp(names->arrays[n].name, name) == 0) return true;
  for (int n = 0; n < names->n_scalars; n++)
    if (strcmp(names->scalars[n].name, name) == 0) return true;
  return false;
}

tsl_err lang_check_name(const lang_names *names, const char *name) {
  tsl_err err = TSL_OK;
  size_t n = 0;
  while (is_letter(name[n]) || (n > 0 && is_digit(name[n]))) n++;
  if (n == 0 || name[n] != '\0')
    TSL_FAIL(TSL_ERR_INPUT, "'%.40s' is no name: letters, digits and _, a letter first", name);
  if (n >= LANG_NAME_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "the name '%.40s...' is longer than %d letters", name,
             LANG_NAME_MAX - 1);
  for (int w = 0; lang_words[w] != NULL; w++)
    if (strcmp(lang_words[w], name) == 0)
      TSL_FAIL(TSL_ERR_INPUT, "'%s' is a word of the language; choose another name", name);
  for (int d = 0; d < names->tables[0].n_inner; d++)
    if (strcmp(lang_inner_words[d], name) == 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "'%s' is an index of the table, as `depth` is given; choose another name", name);
  if (taken(names, name)) TSL_FAIL(TSL_ERR_INPUT, "the name '%s' is given twice", name);
done:
  return err;
}
