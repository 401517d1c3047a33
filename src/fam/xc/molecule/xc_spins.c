/* Spins of atoms from the deck's text: a line "atom spin" each. */
#include "xc_molecule.h"
#include "xc_words.h"

#include <math.h>
#include <string.h>

/* Set the atoms that word 0 names. @param[out] named  [n_atoms], scratch */
static tsl_err set_atoms(const xc_words *words, const xc_molecule *m, double spin, bool *named,
                         double *spins) {
  tsl_err err = TSL_OK;
  char shown[48];
  int64_t found = 0;
  TSL_TRY(xc_word_atoms(words, 0, m, named, &found));
  if (found == 0) TSL_FAIL(TSL_ERR_INPUT, "there is no atom %s", xc_word_shown(words, 0, shown));
  for (int64_t k = 0; k < m->n_atoms; k++) {
    if (!named[k]) continue;
    spins[k] = spin;
    if (fabs(spin) > xc_nuclear(&m->atoms[k]))
      TSL_FAIL(TSL_ERR_INPUT, "atom %lld (%s) has no %g electrons to be unpaired", (long long)k + 1,
               xc_symbol(m->atoms[k].z), fabs(spin));
  }
done:
  return err;
}

static tsl_err check_sum(const xc_molecule *m, const double *spins) {
  tsl_err err = TSL_OK;
  double sum = 0;
  for (int64_t k = 0; k < m->n_atoms; k++) sum += spins[k];
  if (!(fabs(sum - (double)(m->alpha - m->beta)) < 1e-6))
    TSL_FAIL(
        TSL_ERR_INPUT,
        "the atoms have %g unpaired electrons in all, the molecule %lld by its multiplicity %d",
        sum, (long long)(m->alpha - m->beta), (int)m->multiplicity);
done:
  return err;
}

tsl_err xc_molecule_parse_spins(const char *text, const xc_molecule *molecule, double *spins) {
  tsl_err err = TSL_OK;
  char *copy = NULL;
  bool *named = NULL;
  table_lines lines;
  xc_words words;
  const int64_t bytes = (int64_t)strlen(text);
  TSL_TRY(tsl_alloc(bytes + 1, 1, "spins", (void **)&copy));
  TSL_TRY(tsl_alloc(molecule->n_atoms, sizeof *named, "spins", (void **)&named));
  for (int64_t k = 0; k <= bytes; k++) copy[k] = (char)(text[k] == ';' ? '\n' : text[k]);
  memset(spins, 0, (size_t)molecule->n_atoms * sizeof *spins);
  table_lines_open("spins", copy, bytes, '\0', &lines);
  while (xc_words_next(&lines, &words)) {
    double spin = 0;
    if (words.n != 2)
      TSL_FAIL(TSL_ERR_INPUT, "spins:%lld: %lld words where 'atom spin' is expected",
               (long long)lines.number, (long long)words.n);
    TSL_TRY(xc_word_real(&words, 1, &spin));
    TSL_TRY(set_atoms(&words, molecule, spin, named, spins));
  }
  TSL_TRY(check_sum(molecule, spins));
done:
  TSL_FREE_ALL(copy, named);
  return err;
}
