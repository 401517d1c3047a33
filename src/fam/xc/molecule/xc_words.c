/* Lines are cut at blanks into words, and words are read as elements, integers or reals, in which d
 * and D mark Fortran exponents. Messages name file and line. */
#include "xc_words.h"

#include "deck.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

void xc_words_cut(const table_lines *lines, xc_words *words) {
  const char *c = lines->line, *end = lines->line_end;
  words->lines = lines;
  words->n = 0;
  for (;;) {
    while (c < end && is_blank(*c)) c++;
    if (c == end) return;
    const char *begin = c;
    while (c < end && !is_blank(*c)) c++;
    if (words->n < XC_MAX_WORDS) words->text[words->n] = begin, words->end[words->n] = c;
    words->n++;
  }
}

bool xc_words_next(table_lines *lines, xc_words *words) {
  while (table_lines_content(lines)) {
    xc_words_cut(lines, words);
    if (words->n > 0) return true;
  }
  return false;
}

bool xc_word_is(const xc_words *words, int64_t w, const char *text) {
  const size_t n = strlen(text);
  return w < words->n && w < XC_MAX_WORDS && (size_t)(words->end[w] - words->text[w]) == n &&
         strncasecmp(words->text[w], text, n) == 0;
}

const char *xc_word_shown(const xc_words *words, int64_t w, char shown[48]) {
  if (w >= words->n || w >= XC_MAX_WORDS) return strcpy(shown, "");
  return table_shown(words->text[w], words->end[w], shown);
}

/* Copy word w to a buffer, d and D of Fortran exponents as e. false when it is too long. */
static bool copy_number(const xc_words *words, int64_t w, char copy[64], const char **end) {
  if (w >= words->n || w >= XC_MAX_WORDS) return false;
  const size_t n = (size_t)(words->end[w] - words->text[w]);
  if (n >= 64) return false;
  for (size_t k = 0; k < n; k++) {
    const char c = words->text[w][k];
    copy[k] = (char)(c == 'd' || c == 'D' ? 'e' : c);
  }
  copy[n] = '\0';
  *end = copy + n;
  return true;
}

tsl_err xc_word_real(const xc_words *words, int64_t w, double *value) {
  tsl_err err = TSL_OK;
  char copy[64], shown[48];
  const char *end = NULL;
  *value = 0;
  const table_number verdict =
      copy_number(words, w, copy, &end) ? table_number_parse(copy, end, value) : TABLE_NO_NUMBER;
  if (verdict != TABLE_NUMBER)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: word %lld: '%s' is not a %snumber", words->lines->path,
             (long long)words->lines->number, (long long)w + 1, xc_word_shown(words, w, shown),
             verdict == TABLE_NOT_FINITE ? "finite " : "");
done:
  return err;
}

tsl_err xc_word_integer(const xc_words *words, int64_t w, const char *what, int64_t lo, int64_t hi,
                        int64_t *value) {
  tsl_err err = TSL_OK;
  char copy[64], shown[48];
  const char *end = NULL;
  double real = 0;
  *value = 0;
  if (!copy_number(words, w, copy, &end) || table_number_parse(copy, end, &real) != TABLE_NUMBER ||
      real < (double)lo || real > (double)hi || real != (double)(int64_t)real)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: '%s' where %s is expected, an integer in %lld..%lld",
             words->lines->path, (long long)words->lines->number, xc_word_shown(words, w, shown),
             what, (long long)lo, (long long)hi);
  *value = (int64_t)real;
done:
  return err;
}

/** The element of a ghost's name, "" when it is none. */
static void ghost_of(const char *name, char element[8]) {
  static const char *const fronts[] = {"@", "Gh:", "Gh-", "Gh(", "Ghost:", "Ghost-", "X:", "X-"};
  static const char *const backs[] = {":", "-Bq"};
  const size_t length = strlen(name);
  element[0] = '\0';
  for (size_t k = 0; k < sizeof fronts / sizeof fronts[0]; k++) {
    const size_t n = strlen(fronts[k]);
    const bool closed = fronts[k][n - 1] == '(';
    if (strncasecmp(name, fronts[k], n) != 0 || (closed && name[length - 1] != ')')) continue;
    (void)snprintf(element, 8, "%.*s", (int)(length - n - closed), name + n);
  }
  for (size_t k = 0; k < sizeof backs / sizeof backs[0]; k++) {
    const size_t n = strlen(backs[k]);
    if (length > n && strcasecmp(name + length - n, backs[k]) == 0)
      (void)snprintf(element, 8, "%.*s", (int)(length - n), name);
  }
}

tsl_err xc_word_atom(const xc_words *words, int64_t w, int32_t *z, int32_t *ghost) {
  char shown[48], element[8];
  (void)xc_word_shown(words, w, shown);
  ghost_of(shown, element);
  *z = element[0] == '\0' ? 0 : (int32_t)xc_element(element);
  *ghost = *z != 0;
  return *ghost ? TSL_OK : xc_word_element(words, w, z);
}

tsl_err xc_word_element(const xc_words *words, int64_t w, int32_t *z) {
  tsl_err err = TSL_OK;
  char shown[48];
  int64_t number = 0;
  *z = 0;
  (void)xc_word_shown(words, w, shown);
  if (isdigit((unsigned char)shown[0])) {
    TSL_TRY(xc_word_integer(words, w, "an atomic number", 1, XC_MAX_Z, &number));
    *z = (int32_t)number;
  } else {
    *z = (int32_t)xc_element(shown);
  }
  if (*z == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: unknown element '%s'; H to %s are known%s%s",
             words->lines->path, (long long)words->lines->number, shown, xc_symbol(XC_MAX_Z),
             xc_element_near(shown) != NULL ? "; did you mean " : "",
             xc_element_near(shown) != NULL ? xc_element_near(shown) : "");
done:
  return err;
}

tsl_err xc_word_atoms(const xc_words *words, int64_t w, const xc_molecule *molecule, bool *named,
                      int64_t *found) {
  tsl_err err = TSL_OK;
  int64_t number = 0;
  int32_t z = 0;
  *found = 0;
  if (isdigit((unsigned char)words->text[w][0]))
    TSL_TRY(xc_word_integer(words, w, "the number of an atom", 1, molecule->n_atoms, &number));
  else
    TSL_TRY(xc_word_element(words, w, &z));
  for (int64_t k = 0; k < molecule->n_atoms; k++) {
    named[k] = number > 0 ? k + 1 == number : xc_real_z(&molecule->atoms[k]) == z;
    *found += named[k];
  }
done:
  return err;
}
