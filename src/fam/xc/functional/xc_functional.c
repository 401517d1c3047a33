/** @file xc_functional.c  From a text to what a functional is. */
#include "xc_functional_own.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Weights of a sum, in size; larger ones are typing errors. */
static const double WEIGHT_MOST = 100;

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/** An optional "number *" in front of a name. */
static tsl_err read_weight(const char **at, const char *text, double *weight) {
  tsl_err err = TSL_OK;
  const char *const begin = skip_blanks(*at);
  char *end;
  *weight = 1;
  *at = begin;
  if (*begin == '\0' || strchr("+-.0123456789", *begin) == NULL) return TSL_OK;
  *weight = strtod(begin, &end);
  if (end == begin || !isfinite(*weight) || fabs(*weight) > WEIGHT_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s': '%.20s' should begin with a number of at most %g",
             text, begin, WEIGHT_MOST);
  *at = skip_blanks(end);
  if (**at != '*')
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s': '*' is missing between number and name at '%.20s'",
             text, begin);
  *at = skip_blanks(*at + 1);
done:
  return err;
}

void xc_name_fold(const char *name, char out[XC_NAME]) {
  int length = 0;
  for (; *name != '\0' && length + 1 < XC_NAME; name++)
    out[length++] = (char)(*name == '-' ? '_' : tolower((unsigned char)*name));
  out[length] = '\0';
}

/** Letters of names that are not ASCII, in UTF-8: "\u03c9B97X" and "r\u00b2SCAN". */
static const struct {
  const char *bytes;
  char ascii;
} letters[] = {{"\xcf\x89", 'w'}, {"\xc2\xb2", '2'}};

/** The character of a name at c and the bytes it takes; 0 bytes at the end of the name. */
static int letter_at(const char *c, char *letter) {
  *letter = *c;
  if (isalnum((unsigned char)*c) || *c == '_' || *c == '-') return 1;
  for (size_t k = 0; k < sizeof letters / sizeof letters[0]; k++)
    if (strncmp(c, letters[k].bytes, 2) == 0) return *letter = letters[k].ascii, 2;
  return 0;
}

/** Bytes of "(BJ)" at c, letters and digits in parentheses; 0 when there is no such thing. */
static int bracket_at(const char *c) {
  int n = 1;
  if (*c != '(') return 0;
  while (isalnum((unsigned char)c[n])) n++;
  return n > 1 && c[n] == ')' ? n + 1 : 0;
}

/** Append one word to a name: letters, digits, '_', '-', and "(BJ)" behind a letter, as "_bj". */
static tsl_err read_word(const char **at, const char *text, char name[XC_NAME]) {
  tsl_err err = TSL_OK;
  const char *c = *at, *close = NULL;
  char raw[XC_NAME], letter;
  int length = (int)strlen(name), n;
  (void)snprintf(raw, sizeof raw, "%s", name);
  for (;; c += n) {
    n = letter_at(c, &letter);
    if (n == 0 && length > 0 && close == NULL && bracket_at(c) > 0) {
      close = c + bracket_at(c) - 1;
      letter = '_';
      n = 1;
    } else if (close != NULL && c == close) {
      close = NULL;
      n = 1;
      continue;
    }
    if (n == 0) break;
    if (length + 1 == XC_NAME)
      TSL_FAIL(TSL_ERR_INPUT, "functional '%s': a name has at most %d characters", text,
               XC_NAME - 1);
    raw[length++] = letter;
  }
  raw[length] = '\0';
  xc_name_fold(raw, name);
  if (length == 0)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s': a name is missing at '%.20s'", text, c);
  *at = skip_blanks(c);
done:
  return err;
}

/** A name in lower case with '_'; words behind it belong to it where together they are a name. */
static tsl_err read_name(const char **at, const char *text, char name[XC_NAME]) {
  tsl_err err = TSL_OK;
  char joined[XC_NAME];
  name[0] = '\0';
  TSL_TRY(read_word(at, text, name));
  (void)snprintf(joined, sizeof joined, "%s", name);
  for (const char *ahead = *at; isalnum((unsigned char)*ahead) || bracket_at(ahead) > 0;) {
    const size_t length = strlen(joined);
    if (length + 1 + strcspn(ahead, " \t+") >= XC_NAME) break;
    if (*ahead != '(') joined[length] = '_', joined[length + 1] = '\0';
    TSL_TRY(read_word(&ahead, text, joined));
    if (!xc_name_known(joined)) continue;
    (void)snprintf(name, XC_NAME, "%s", joined);
    *at = ahead;
  }
done:
  return err;
}

/** term { '+' term } */
tsl_err xc_sum_add(double weight, const char *text, xc_functional *out) {
  tsl_err err = TSL_OK;
  const char *at = text;
  char name[XC_NAME];
  double factor;
  for (;;) {
    TSL_TRY(read_weight(&at, text, &factor));
    TSL_TRY(read_name(&at, text, name));
    TSL_TRY(xc_name_add(weight * factor, name, out));
    if (*at == '\0') break;
    if (*at != '+')
      TSL_FAIL(TSL_ERR_INPUT, "functional '%s': expected '+' or the end at '%.20s'", text, at);
    at++;
  }
done:
  return err;
}

/** Give the own parts to libxc. */
static tsl_err hand_over(xc_functional *f) {
  tsl_err err = TSL_OK;
  xc_mix mix = f->mix;
  xc_library_info info;
  memset(&f->mix, 0, sizeof f->mix);
  if (xc_library_libxc.version() == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s' by libxc: this build lacks libxc", f->name);
  for (int part = 0; part < XC_N_PARTS; part++) {
    const double weight = xc_mix_list(&mix)[part];
    int gga, tau;
    const char *const name = xc_part_name(part, &gga, &tau);
    if (weight == 0) continue;
    if (!xc_library_libxc.find(name, &info))
      TSL_FAIL(TSL_ERR_INPUT, "functional '%s': libxc %s lacks '%s'", f->name,
               xc_library_libxc.version(), name);
    if (f->n_terms == XC_MAX_TERMS)
      TSL_FAIL(TSL_ERR_INPUT, "functional '%s' has more than %d terms of libxc", f->name,
               XC_MAX_TERMS);
    f->terms[f->n_terms].weight = weight;
    (void)snprintf(f->terms[f->n_terms++].name, XC_NAME, "%s", name);
  }
done:
  return err;
}

tsl_err xc_functional_find(const char *text, xc_source source, xc_functional *out) {
  tsl_err err = TSL_OK;
  memset(out, 0, sizeof *out);
  if (strlen(text) >= XC_TEXT)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%.40s...': at most %d characters", text, XC_TEXT - 1);
  (void)snprintf(out->name, sizeof out->name, "%s", text);
  TSL_TRY(xc_sum_add(1, text, out));
  for (int part = 0, gga, tau; part < XC_N_PARTS; part++) {
    (void)xc_part_name(part, &gga, &tau);
    if (xc_mix_list(&out->mix)[part] != 0) out->gga |= gga, out->tau |= tau;
  }
  if (source == XC_SOURCE_OWN && out->n_terms > 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': '%s' has no own formulas (" XC_OWN_NAMES
             "hf and sums of their parts have)",
             text, out->terms[0].name);
  if (source == XC_SOURCE_LIBXC) TSL_TRY(hand_over(out));
  out->own = xc_own_of(&out->mix);
done:
  if (err != TSL_OK) memset(out, 0, sizeof *out);
  return err;
}

const char *xc_functional_text(const xc_functional *functional, char text[XC_TEXT]) {
  xc_mix mix = functional->mix;
  char far[XC_NAME];
  size_t used = 0;
  int gga, tau;
  text[0] = '\0';
#define ADD(weight, name)                                                                    \
  if ((weight) != 0 && used < XC_TEXT)                                                       \
  used += (size_t)snprintf(text + used, XC_TEXT - used, "%s%.10g*%s", used > 0 ? " + " : "", \
                           (double)(weight), (name))
  ADD(functional->exchange, "hf");
  (void)snprintf(far, sizeof far, "hf(erf %g/bohr)", functional->omega);
  ADD(functional->far, far);
  for (int k = 0; k < XC_N_PARTS; k++) ADD(xc_mix_list(&mix)[k], xc_part_name(k, &gga, &tau));
  for (int k = 0; k < functional->n_terms; k++)
    ADD(functional->terms[k].weight, functional->terms[k].name);
#undef ADD
  if (functional->nonlocal.b != 0 && used < XC_TEXT)
    (void)snprintf(text + used, XC_TEXT - used, " + VV10 (b %g, C %g)", functional->nonlocal.b,
                   functional->nonlocal.c);
  return text;
}
