/* Scalars of a deck: what the user may write, and its normal form. */
#include "deck_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 64 };

typedef struct suffix {
  const char *name;
  double factor;
} suffix;

static const suffix suffixes[] = {
    {"", 1},         {"B", 1},        {"kB", 1e3},    {"KB", 1e3},     {"MB", 1e6},
    {"GB", 1e9},     {"TB", 1e12},    {"PB", 1e15},   {"KiB", 0x1p10}, {"MiB", 0x1p20},
    {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};

const char *tsl_value_got(const tsl_node *value, char out[TSL_DECK_SHOW_MAX]) {
  char show[TSL_DECK_SHOW_MAX];
  if (value->kind != TSL_NODE_SCALAR) {
    (void)snprintf(out, TSL_DECK_SHOW_MAX, value->kind == TSL_NODE_LIST ? "a list" : "a map");
  } else if (tsl_node_is_null(value)) {
    (void)snprintf(out, TSL_DECK_SHOW_MAX, "nothing");
  } else {
    (void)snprintf(out, TSL_DECK_SHOW_MAX, value->quoted ? "the text \"%.60s\"" : "'%.60s'",
                   tsl_deck_show(value->text, show));
  }
  return out;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/** Copy the decimal number that text starts with, underscores between digits left out.
 *  @return the first character after it, or NULL when there is none or it is too long */
static const char *deck_value_take_number(const char *text, char number[NUMBER_MAX]) {
  size_t n = 0;
  for (const char *c = text;; c++) {
    const bool sign = (*c == '+' || *c == '-') && (c == text || c[-1] == 'e' || c[-1] == 'E');
    const bool exponent =
        (*c == 'e' || *c == 'E') && c > text && (is_digit(c[1]) || c[1] == '+' || c[1] == '-');
    if (*c == '_' && c > text && is_digit(c[-1]) && is_digit(c[1])) continue;
    if (!is_digit(*c) && *c != '.' && !sign && !exponent) {
      number[n] = '\0';
      return n > 0 ? c : NULL;
    }
    if (n + 1 >= NUMBER_MAX) return NULL;
    number[n++] = *c;
  }
}

/** The whole of number as a double. */
static bool parse_real(const char *number, double *out) {
  char *end = NULL;
  *out = strtod(number, &end);
  return end != number && *end == '\0';
}

typedef enum parsed { PARSED, NOT_A_NUMBER, NOT_WHOLE, TOO_LARGE } parsed;

static parsed whole_of_real(double real, int64_t *out) {
  if (real != floor(real)) return NOT_WHOLE;
  if (!(real >= -0x1p63 && real < 0x1p63)) return TOO_LARGE;
  *out = (int64_t)real;
  return PARSED;
}

static parsed parse_whole(const char *text, int64_t *out) {
  char number[NUMBER_MAX], *end = NULL;
  const char *rest = deck_value_take_number(text, number);
  double real = 0;
  if (rest == NULL || *rest != '\0') return NOT_A_NUMBER;
  errno = 0;
  *out = strtoll(number, &end, 10);
  if (end != number && *end == '\0') return errno == ERANGE ? TOO_LARGE : PARSED;
  return parse_real(number, &real) ? whole_of_real(real, out) : NOT_A_NUMBER;
}

static parsed parse_bytes(const char *text, int64_t *out) {
  char number[NUMBER_MAX];
  const char *rest = deck_value_take_number(text, number);
  double real = 0;
  if (rest == NULL) return NOT_A_NUMBER;
  if (*rest == '\0') return parse_whole(text, out);
  while (*rest == ' ') rest++;
  if (!parse_real(number, &real)) return NOT_A_NUMBER;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (strcmp(rest, suffixes[i].name) == 0)
      return whole_of_real(floor(real * suffixes[i].factor), out);
  return NOT_A_NUMBER;
}

static bool has_range(const tsl_key *key) {
  return key->min != 0 || key->max != 0;
}

static tsl_err deck_value_check_range(const tsl_deck *deck, const tsl_node *value, const char *path,
                                      const tsl_key *key, double number) {
  tsl_err err = TSL_OK;
  char show[TSL_DECK_SHOW_MAX];
  if (has_range(key) && !(number >= key->min && number <= key->max))
    TSL_NODE_FAIL(deck, value, "%s: %s is outside %.15g .. %.15g", path,
                  tsl_deck_show(value->text, show), key->min, key->max);
done:
  return err;
}

static tsl_err fail_type(const tsl_deck *deck, const tsl_node *value, const char *path,
                         const char *expected) {
  char got[TSL_DECK_SHOW_MAX];
  return tsl_node_fail(deck, value, __FILE__, __LINE__, "%s: expected %s, got %s", path, expected,
                       tsl_value_got(value, got));
}

#define TYPE_FAIL(expected)                         \
  do {                                              \
    err = TSL_ERR_INPUT;                            \
    (void)fail_type(deck, value, path, (expected)); \
    goto done;                                      \
  } while (0)

static tsl_err check_bool(tsl_deck *deck, const tsl_node *value, const char *path, tsl_node **out) {
  static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
  tsl_err err = TSL_OK;
  for (int i = 0; i < 6 && !value->quoted; i++)
    if (strcasecmp(value->text, words[i]) == 0)
      return tsl_node_scalar(&deck->arena, words[i % 2], false, value, out);
  TYPE_FAIL("yes or no");
done:
  return err;
}

static tsl_err check_whole(tsl_deck *deck, const tsl_node *value, const char *path,
                           const tsl_key *key, tsl_key_type as, tsl_node **out) {
  const char *expected = as == TSL_KEY_INT
                             ? "a whole number"
                             : "a size in bytes, such as 500 MB or 2 GiB (B, kB .. PB, KiB .. PiB)";
  tsl_err err = TSL_OK;
  char text[32];
  int64_t number = 0;
  if (value->quoted && as == TSL_KEY_INT) TYPE_FAIL(expected);
  switch (as == TSL_KEY_INT ? parse_whole(value->text, &number)
                            : parse_bytes(value->text, &number)) {
  case PARSED:
    break;
  case TOO_LARGE:
    TYPE_FAIL(as == TSL_KEY_INT ? "a whole number of at most 64 bits" : "fewer than 2^63 bytes");
  default:
    TYPE_FAIL(expected);
  }
  if (as == TSL_KEY_BYTES && number < 0) TYPE_FAIL("a size of at least 0 bytes");
  TSL_TRY(deck_value_check_range(deck, value, path, key, (double)number));
  (void)snprintf(text, sizeof text, "%lld", (long long)number);
  TSL_TRY(tsl_node_scalar(&deck->arena, text, false, value, out));
done:
  return err;
}

/** Shortest decimal text that reads back as the same double. */
static void print_real(double real, char text[32]) {
  for (int digits = 15; digits <= 17; digits++) {
    (void)snprintf(text, 32, "%.*g", digits, real);
    if (strtod(text, NULL) == real) return;
  }
}

static tsl_err check_real(tsl_deck *deck, const tsl_node *value, const char *path,
                          const tsl_key *key, tsl_node **out) {
  tsl_err err = TSL_OK;
  char number[NUMBER_MAX], text[32];
  const char *rest = deck_value_take_number(value->text, number);
  double real = 0;
  if (value->quoted || rest == NULL || *rest != '\0' || !parse_real(number, &real))
    TYPE_FAIL("a finite number");
  if (!isfinite(real)) TYPE_FAIL("a number of at most 1.8e308");
  TSL_TRY(deck_value_check_range(deck, value, path, key, real));
  print_real(real, text);
  TSL_TRY(tsl_node_scalar(&deck->arena, text, false, value, out));
done:
  return err;
}

static tsl_err check_choice(tsl_deck *deck, const tsl_node *value, const char *path,
                            const tsl_key *key, tsl_node **out) {
  tsl_err err = TSL_OK;
  char advice[1024], show[TSL_DECK_SHOW_MAX];
  for (int i = 0; key->choices[i] != NULL; i++)
    if (strcmp(value->text, key->choices[i]) == 0)
      return tsl_node_scalar(&deck->arena, value->text, true, value, out);
  TSL_NODE_FAIL(deck, value, "%s: unknown word '%s'%s", path, tsl_deck_show(value->text, show),
                tsl_deck_advice(value->text, key->choices, sizeof advice, advice));
done:
  return err;
}

tsl_err tsl_value_check(tsl_deck *deck, const tsl_node *value, const char *path, const tsl_key *key,
                        tsl_key_type as, tsl_node **out) {
  static const char *const expected[] = {
      [TSL_KEY_BOOL] = "yes or no",       [TSL_KEY_INT] = "a whole number",
      [TSL_KEY_REAL] = "a finite number", [TSL_KEY_BYTES] = "a size in bytes",
      [TSL_KEY_TEXT] = "a text",          [TSL_KEY_CHOICE] = "a word"};
  tsl_err err = TSL_OK;
  if (as > TSL_KEY_CHOICE) TSL_FAIL(TSL_ERR_INTERNAL, "%s is no scalar", path);
  if (value->kind != TSL_NODE_SCALAR || tsl_node_is_null(value)) TYPE_FAIL(expected[as]);
  switch (as) {
  case TSL_KEY_BOOL:
    return check_bool(deck, value, path, out);
  case TSL_KEY_REAL:
    return check_real(deck, value, path, key, out);
  case TSL_KEY_CHOICE:
    return check_choice(deck, value, path, key, out);
  case TSL_KEY_TEXT:
    if (strlen(value->text) > TSL_DECK_TEXT_MAX)
      TSL_NODE_FAIL(deck, value, "%s: a text of %zu bytes; at most %d", path, strlen(value->text),
                    TSL_DECK_TEXT_MAX);
    return tsl_node_scalar(&deck->arena, value->text, true, value, out);
  default:
    return check_whole(deck, value, path, key, as, out);
  }
done:
  return err;
}
