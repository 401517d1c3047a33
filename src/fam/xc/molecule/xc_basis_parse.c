/* NWChem and Gaussian94 texts of basis sets. */
#include "xc_basis_own.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_CONTRACTIONS = 32 };

tsl_err xc_set_add(xc_set *set, const table_lines *lines, int32_t z, int32_t l,
                   xc_set_shell **shell) {
  tsl_err err = TSL_OK;
  xc_set_shell *grown = NULL;
  *shell = NULL;
  if (l < 0 || l > XC_MAX_L)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: angular momentum %d; at most %d (g) is supported",
             lines->path, (long long)lines->number, (int)l, XC_MAX_L);
  if (set->n == set->n_room) {
    const int32_t room = set->n_room == 0 ? 64 : 2 * set->n_room;
    if (room > XC_SET_MAX_SHELLS)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: more than %d shells", lines->path, (long long)lines->number,
               XC_SET_MAX_SHELLS);
    TSL_TRY(tsl_alloc(room, sizeof *grown, "shells of a basis set", (void **)&grown));
    if (set->n > 0) memcpy(grown, set->shells, (size_t)set->n * sizeof *grown);
    tsl_free(set->shells);
    set->shells = grown, set->n_room = room;
  }
  *shell = &set->shells[set->n++];
  **shell = (xc_set_shell){.z = z, .l = l};
done:
  return err;
}

tsl_err xc_set_put(xc_set_shell *shell, const table_lines *lines, double exponent,
                   double coefficient) {
  tsl_err err = TSL_OK;
  if (shell->n == XC_MAX_PRIMITIVES)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: more than %d primitives in a contraction", lines->path,
             (long long)lines->number, XC_MAX_PRIMITIVES);
  if (!(exponent >= 1e-6 && exponent <= 1e12) || !(coefficient >= -1e6 && coefficient <= 1e6))
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: exponent %g with coefficient %g; allowed are 1e-6 to 1e12 and -1e6 to 1e6",
             lines->path, (long long)lines->number, exponent, coefficient);
  shell->exponent[shell->n] = exponent;
  shell->coefficient[shell->n++] = coefficient;
done:
  return err;
}

tsl_err xc_set_check_new(const xc_set *set, const table_lines *lines, int32_t z) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < set->n; k++)
    if (set->shells[k].z == z)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: element %s comes a second time", lines->path,
               (long long)lines->number, xc_symbol(z));
done:
  return err;
}

/* Angular momenta of "S", "SP", "L" (as SP), "d", ...; word w of the line. */
static tsl_err read_momenta(const xc_words *words, int64_t w, int32_t l[XC_MAX_L + 1], int32_t *n) {
  tsl_err err = TSL_OK;
  static const char letters[] = "spdfghik";
  char shown[48];
  (void)xc_word_shown(words, w, shown);
  const char *text = strcasecmp(shown, "l") == 0 ? "sp" : shown;
  for (*n = 0; text[*n] != '\0' && *n <= XC_MAX_L; ++*n) {
    const char *found = strchr(letters, tolower((unsigned char)text[*n]));
    if (found == NULL) break;
    l[*n] = (int32_t)(found - letters);
    if (l[*n] > XC_MAX_L)
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%lld: shell '%s' has angular momentum %d; at most %d (G) is supported",
               words->lines->path, (long long)words->lines->number, shown, (int)l[*n], XC_MAX_L);
  }
  if (*n == 0 || text[*n] != '\0')
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: '%s' is no shell; allowed are S, P, D, F, G and such as SP",
             words->lines->path, (long long)words->lines->number, shown);
done:
  return err;
}

static bool begins_number(const xc_words *words) {
  if (words->n == 0) return false;
  const char c = *words->text[0];
  return isdigit((unsigned char)c) || strchr("+-.", c) != NULL;
}

/* ------------------------------------------------------------------ NWChem */

/* Contractions that are being filled: shells [first, first + n) of the set. */
typedef struct block {
  int64_t first;
  int32_t n, l[XC_MAX_L + 1], n_l, z;
} block;

/* A row "exponent c1 c2 ...": the first row of a block opens its shells. */
static tsl_err nwchem_row(xc_set *set, block *b, const xc_words *words) {
  tsl_err err = TSL_OK;
  xc_set_shell *shell = NULL;
  double exponent = 0, coefficient = 1;
  const int64_t n = words->n > 1 ? words->n - 1 : 1;
  if (b->n_l > 1 && n != b->n_l)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: %lld words where an exponent and %d coefficients are expected",
             words->lines->path, (long long)words->lines->number, (long long)words->n, (int)b->n_l);
  if (n > MOST_CONTRACTIONS || (b->n > 0 && n != b->n))
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %lld coefficients; %s %d are allowed", words->lines->path,
             (long long)words->lines->number, (long long)n, b->n > 0 ? "as above" : "at most",
             b->n > 0 ? (int)b->n : MOST_CONTRACTIONS);
  if (b->n == 0) {
    b->first = set->n;
    for (; b->n < (int32_t)n; b->n++)
      TSL_TRY(xc_set_add(set, words->lines, b->z, b->l[b->n_l > 1 ? b->n : 0], &shell));
  }
  TSL_TRY(xc_word_real(words, 0, &exponent));
  for (int32_t k = 0; k < b->n; k++) {
    if (words->n > 1) TSL_TRY(xc_word_real(words, k + 1, &coefficient));
    if (coefficient == 0 && b->n > 1) continue; /* a general contraction leaves it out */
    TSL_TRY(xc_set_put(&set->shells[b->first + k], words->lines, exponent, coefficient));
  }
done:
  return err;
}

static tsl_err nwchem_close(const xc_set *set, const block *b, const table_lines *lines) {
  tsl_err err = TSL_OK;
  if (b->z != 0 && b->n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: the shell above has no primitives", lines->path,
             (long long)lines->number);
  for (int32_t k = 0; k < b->n; k++)
    if (set->shells[b->first + k].n == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: column %d of the shell above has no primitives",
               lines->path, (long long)lines->number, (int)k + 1);
done:
  return err;
}

/* "BASIS "ao basis" SPHERICAL PRINT": without a word NWChem means Cartesian. */
static void nwchem_kind(const xc_words *words, xc_set *set) {
  set->kind = XC_KIND_CARTESIAN;
  for (int64_t w = 1; w < words->n; w++)
    if (xc_word_is(words, w, "spherical")) set->kind = XC_KIND_SPHERICAL;
}

static tsl_err nwchem_shell(block *b, const xc_words *words) {
  tsl_err err = TSL_OK;
  if (words->n != 2)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: %lld words where 'element shell' or a row of numbers is "
             "expected",
             words->lines->path, (long long)words->lines->number, (long long)words->n);
  *b = (block){0};
  TSL_TRY(xc_word_element(words, 0, &b->z));
  TSL_TRY(read_momenta(words, 1, b->l, &b->n_l));
done:
  return err;
}

static tsl_err parse_nwchem(table_lines *lines, xc_set *set) {
  tsl_err err = TSL_OK;
  xc_words words;
  block b = {0};
  bool inside = false;
  while (xc_words_next(lines, &words)) {
    if (!inside && xc_word_is(&words, 0, "ecp")) {
      TSL_TRY(xc_ecp_parse_nwchem(lines, set));
    } else if (inside && xc_word_is(&words, 0, "end")) {
      TSL_TRY(nwchem_close(set, &b, lines));
      b = (block){0}, inside = false;
    } else if (!inside) {
      if (!xc_word_is(&words, 0, "basis") || set->n > 0)
        TSL_FAIL(TSL_ERR_INPUT,
                 "%s:%lld: one block 'BASIS ... END' is expected, and one 'ECP ... END'",
                 lines->path, (long long)lines->number);
      nwchem_kind(&words, set);
      inside = true;
    } else if (b.z != 0 && begins_number(&words)) {
      TSL_TRY(nwchem_row(set, &b, &words));
    } else {
      TSL_TRY(nwchem_close(set, &b, lines));
      TSL_TRY(nwchem_shell(&b, &words));
    }
  }
  if (inside) TSL_FAIL(TSL_ERR_INPUT, "%s: no END after BASIS", lines->path);
done:
  return err;
}

/* -------------------------------------------------------------- Gaussian94 */

/* "SP 3 1.00" and its rows. */
static tsl_err gaussian_shell(table_lines *lines, const xc_words *head, int32_t z, xc_set *set) {
  tsl_err err = TSL_OK;
  int32_t l[XC_MAX_L + 1], n_l = 0;
  int64_t n = 0, first = set->n;
  double scale = 1, exponent = 0, coefficient = 0;
  xc_set_shell *shell = NULL;
  xc_words words;
  TSL_TRY(read_momenta(head, 0, l, &n_l));
  TSL_TRY(xc_word_integer(head, 1, "a number of primitives", 1, XC_MAX_PRIMITIVES, &n));
  if (head->n > 2) TSL_TRY(xc_word_real(head, 2, &scale));
  if (!(scale > 0 && scale <= 1e3))
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: scale factor %g is not in 0..1000", lines->path,
             (long long)lines->number, scale);
  for (int32_t k = 0; k < n_l; k++) TSL_TRY(xc_set_add(set, lines, z, l[k], &shell));
  for (int64_t row = 0; row < n; row++) {
    if (!xc_words_next(lines, &words))
      TSL_FAIL(TSL_ERR_INPUT, "%s: ends within a shell", lines->path);
    if (words.n != n_l + 1)
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%lld: %lld words where an exponent and %d coefficients are "
               "expected",
               lines->path, (long long)lines->number, (long long)words.n, (int)n_l);
    TSL_TRY(xc_word_real(&words, 0, &exponent));
    for (int32_t k = 0; k < n_l; k++) {
      TSL_TRY(xc_word_real(&words, k + 1, &coefficient));
      TSL_TRY(xc_set_put(&set->shells[first + k], lines, exponent * scale * scale, coefficient));
    }
  }
done:
  return err;
}

/* "O 0" or "-O 0". */
static tsl_err gaussian_element(const xc_words *words, int32_t *z) {
  tsl_err err = TSL_OK;
  xc_words bare = *words;
  if (bare.n > 0 && *bare.text[0] == '-') bare.text[0]++;
  if (words->n > 2 || (words->n == 2 && !xc_word_is(words, 1, "0")))
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: 'element 0' is expected", words->lines->path,
             (long long)words->lines->number);
  TSL_TRY(xc_word_element(&bare, 0, z));
done:
  return err;
}

static tsl_err parse_gaussian(table_lines *lines, xc_set *set) {
  tsl_err err = TSL_OK;
  xc_words words;
  int32_t z = 0;
  bool fresh = false; /* of the element nothing but its name has been read */
  while (xc_words_next(lines, &words)) {
    if (xc_word_is(&words, 0, "****")) {
      z = 0;
    } else if (fresh && xc_ecp_begins_gaussian(&words)) {
      TSL_TRY(xc_ecp_parse_gaussian(lines, &words, z, set));
      z = 0, fresh = false;
    } else if (z != 0) {
      if (fresh) TSL_TRY(xc_set_check_new(set, lines, z));
      fresh = false;
      TSL_TRY(gaussian_shell(lines, &words, z, set));
    } else if (set->n == 0 && xc_word_is(&words, 0, "spherical")) {
      set->kind = XC_KIND_SPHERICAL;
    } else if (set->n == 0 && xc_word_is(&words, 0, "cartesian")) {
      set->kind = XC_KIND_CARTESIAN;
    } else {
      TSL_TRY(gaussian_element(&words, &z));
      fresh = true;
    }
  }
  if (z != 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no '****' after element %s", lines->path, xc_symbol(z));
done:
  return err;
}

/* NWChem's comments begin with '#', Gaussian's with '!'. */
static bool is_nwchem(const char *name, const char *text, int64_t bytes) {
  table_lines lines;
  xc_words words;
  table_lines_open(name, text, bytes, '#', &lines);
  return xc_words_next(&lines, &words) &&
         (xc_word_is(&words, 0, "basis") || xc_word_is(&words, 0, "ecp"));
}

tsl_err xc_set_parse(const char *name, const char *text, int64_t bytes, xc_set *set) {
  tsl_err err = TSL_OK;
  table_lines lines;
  memset(set, 0, sizeof *set);
  (void)snprintf(set->name, sizeof set->name, "%s", name);
  if (bytes > XC_SET_MAX_BYTES)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld bytes; a basis set may have %d", name, (long long)bytes,
             XC_SET_MAX_BYTES);
  const bool nwchem = is_nwchem(name, text, bytes);
  table_lines_open(name, text, bytes, nwchem ? '#' : '!', &lines);
  TSL_TRY(nwchem ? parse_nwchem(&lines, set) : parse_gaussian(&lines, set));
  if (set->n == 0 && set->ecps.n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no shell found; NWChem or Gaussian94 format is expected", name);
done:
  if (err != TSL_OK) xc_set_clear(set);
  return err;
}
