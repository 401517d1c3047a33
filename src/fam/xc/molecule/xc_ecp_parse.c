/* Effective core potentials in NWChem and Gaussian94 texts of basis sets. */
#include "xc_basis_own.h"

#include "file_name.h"

#include <ctype.h>
#include <string.h>

static const char letters[] = "spdfgh";

/* A new element; *ecp is valid until the next call. */
static tsl_err add_ecp(xc_set *set, const table_lines *lines, int32_t z, int64_t core,
                       xc_ecp **ecp) {
  tsl_err err = TSL_OK;
  xc_ecp *grown = NULL;
  double electrons[4];
  *ecp = NULL;
  if (xc_ecp_of(&set->ecps, z) != NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: the potential of %s comes a second time", lines->path,
             (long long)lines->number, xc_symbol(z));
  if (core >= z || !xc_ecp_core((int32_t)core, electrons))
    TSL_FAIL(
        TSL_ERR_INPUT,
        "%s:%lld: a potential of %s that replaces %lld electrons; cores of closed shells with "
        "fewer electrons than the nucleus has are known: 2, 10, 18, 28, 36, 46, 54, 60, 68, 78",
        lines->path, (long long)lines->number, xc_symbol(z), (long long)core);
  TSL_TRY(tsl_alloc(set->ecps.n + 1, sizeof *grown, "core potentials", (void **)&grown));
  if (set->ecps.n > 0) memcpy(grown, set->ecps.list, (size_t)set->ecps.n * sizeof *grown);
  tsl_free(set->ecps.list);
  set->ecps.list = grown;
  *ecp = &grown[set->ecps.n++];
  **ecp = (xc_ecp){.z = z, .core = (int32_t)core};
done:
  return err;
}

/* A row "power exponent coefficient". */
static tsl_err add_term(xc_ecp *ecp, int32_t l, const xc_words *words) {
  tsl_err err = TSL_OK;
  const table_lines *lines = words->lines;
  int64_t power = 0;
  xc_ecp_term term = {.l = l};
  if (words->n != 3)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: %lld words where a row 'power exponent coefficient' is expected",
             lines->path, (long long)lines->number, (long long)words->n);
  TSL_TRY(xc_word_integer(words, 0, "a power of r", 0, 2, &power));
  TSL_TRY(xc_word_real(words, 1, &term.exponent));
  TSL_TRY(xc_word_real(words, 2, &term.coefficient));
  if (!(term.exponent >= 0.05 && term.exponent <= 1e7) ||
      !(term.coefficient >= -1e7 && term.coefficient <= 1e7))
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: exponent %g with coefficient %g; of potentials 0.05 to 1e7 and -1e7 to 1e7 "
             "are allowed",
             lines->path, (long long)lines->number, term.exponent, term.coefficient);
  if (ecp->n == XC_MAX_ECP_TERMS)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: more than %d rows in a potential", lines->path,
             (long long)lines->number, XC_MAX_ECP_TERMS);
  term.power = (int32_t)power;
  if (term.coefficient != 0) ecp->terms[ecp->n++] = term;
done:
  return err;
}

/* ------------------------------------------------------------------ NWChem */

enum { LOCAL = -1, NO_PART = -2 };

/* The local part was read without knowing L. */
static void nwchem_close(xc_ecp *ecp) {
  for (int32_t k = 0; ecp != NULL && k < ecp->n; k++)
    if (ecp->terms[k].l == LOCAL) ecp->terms[k].l = ecp->l;
}

/* "I nelec 28", "I ul" or "I S". @param[in,out] ecp  the potential that is read, or NULL */
static tsl_err nwchem_head(xc_set *set, const xc_words *words, xc_ecp **ecp, int32_t *part) {
  tsl_err err = TSL_OK;
  int32_t z = 0;
  int64_t core = 0;
  const bool electrons = words->n == 3 && xc_word_is(words, 1, "nelec");
  const char letter = words->n == 2 ? (char)tolower((unsigned char)*words->text[1]) : '\0';
  const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
  TSL_TRY(xc_word_element(words, 0, &z));
  if (electrons) {
    TSL_TRY(xc_word_integer(words, 2, "a number of electrons", 1, XC_MAX_Z, &core));
    nwchem_close(*ecp);
    TSL_TRY(add_ecp(set, words->lines, z, core, ecp));
    *part = NO_PART;
    goto done;
  }
  *part = words->n == 2 && xc_word_is(words, 1, "ul")                   ? LOCAL
          : found != NULL && xc_word_is(words, 1, (char[2]){letter, 0}) ? (int32_t)(found - letters)
                                                                        : NO_PART;
  if (*part == NO_PART || *part >= XC_MAX_ECP_L || *ecp == NULL || (*ecp)->z != z)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:%lld: 'element nelec electrons' is expected, or a part of the element before: "
             "'element ul', or S, P, D, F, G",
             words->lines->path, (long long)words->lines->number);
  if (*part >= (*ecp)->l) (*ecp)->l = *part + 1;
done:
  return err;
}

tsl_err xc_ecp_parse_nwchem(table_lines *lines, xc_set *set) {
  tsl_err err = TSL_OK;
  xc_words words;
  xc_ecp *ecp = NULL;
  int32_t part = NO_PART;
  while (xc_words_next(lines, &words)) {
    if (xc_word_is(&words, 0, "end")) goto done;
    if (part != NO_PART && isdigit((unsigned char)*words.text[0])) {
      TSL_TRY(add_term(ecp, part, &words));
      continue;
    }
    TSL_TRY(nwchem_head(set, &words, &ecp, &part));
  }
  TSL_FAIL(TSL_ERR_INPUT, "%s: no END after ECP", lines->path);
done:
  nwchem_close(ecp);
  return err;
}

/* -------------------------------------------------------------- Gaussian94 */

bool xc_ecp_begins_gaussian(const xc_words *words) {
  char shown[48];
  (void)xc_word_shown(words, 0, shown);
  return tsl_ends_in(shown, "-ecp");
}

tsl_err xc_ecp_parse_gaussian(table_lines *lines, const xc_words *head, int32_t z, xc_set *set) {
  tsl_err err = TSL_OK;
  xc_words words;
  xc_ecp *ecp = NULL;
  int64_t l = 0, core = 0, n = 0;
  TSL_TRY(xc_word_integer(head, 1, "the local part's angular momentum", 0, XC_MAX_ECP_L, &l));
  TSL_TRY(xc_word_integer(head, 2, "a number of electrons", 1, XC_MAX_Z, &core));
  TSL_TRY(add_ecp(set, lines, z, core, &ecp));
  ecp->l = (int32_t)l;
  for (int32_t part = 0; part <= ecp->l; part++) { /* the local one is first */
    for (int line = 0; line < 2; line++)
      if (!xc_words_next(lines, &words))
        TSL_FAIL(TSL_ERR_INPUT, "%s: ends within the potential of %s", lines->path, xc_symbol(z));
    TSL_TRY(xc_word_integer(&words, 0, "a number of rows", 1, XC_MAX_ECP_TERMS, &n));
    for (int64_t row = 0; row < n; row++) {
      if (!xc_words_next(lines, &words))
        TSL_FAIL(TSL_ERR_INPUT, "%s: ends within the potential of %s", lines->path, xc_symbol(z));
      TSL_TRY(add_term(ecp, part == 0 ? ecp->l : part - 1, &words));
    }
  }
done:
  return err;
}
