/* Molecules from XYZ files, point charges from tables. */
#include "xc_molecule.h"
#include "xc_words.h"

#include <math.h>
#include <string.h>

static tsl_err read_count(table_lines *lines, int64_t *n) {
  tsl_err err = TSL_OK;
  xc_words words;
  if (!table_lines_next(lines)) TSL_FAIL(TSL_ERR_INPUT, "%s: an empty XYZ file", lines->path);
  xc_words_cut(lines, &words);
  if (words.n != 1)
    TSL_FAIL(TSL_ERR_INPUT, "%s:1: %lld words where the number of atoms is expected", lines->path,
             (long long)words.n);
  TSL_TRY(xc_word_integer(&words, 0, "the number of atoms", 1, XC_MAX_ATOMS, n));
  (void)table_lines_next(lines);
done:
  return err;
}

static tsl_err read_atom(const table_lines *lines, xc_atom *atom) {
  tsl_err err = TSL_OK;
  xc_words words;
  xc_words_cut(lines, &words);
  if (words.n < 4)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %lld words where 'symbol x y z' is expected", lines->path,
             (long long)lines->number, (long long)words.n);
  TSL_TRY(xc_word_atom(&words, 0, &atom->z, &atom->ghost));
  for (int k = 0; k < 3; k++) {
    TSL_TRY(xc_word_real(&words, k + 1, &atom->at[k]));
    atom->at[k] /= XC_BOHR;
  }
done:
  return err;
}

static tsl_err check_end(table_lines *lines, int64_t n) {
  tsl_err err = TSL_OK;
  xc_words words;
  while (table_lines_next(lines)) {
    xc_words_cut(lines, &words);
    if (words.n > 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%lld: more lines than the %lld atoms of line 1 (one frame a file)", lines->path,
               (long long)lines->number, (long long)n);
  }
done:
  return err;
}

tsl_err xc_molecule_parse_xyz(const char *path, const char *text, int64_t bytes,
                              xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  table_lines lines;
  xc_atom *atoms = NULL;
  int64_t n = 0;
  table_lines_open(path, text, bytes, '\0', &lines);
  TSL_TRY(read_count(&lines, &n));
  if (n > (lines.end - lines.at) / 7 + 1) /* shortest atom: "H 0 0 0" */
    TSL_FAIL(TSL_ERR_INPUT, "%s:1: %lld atoms cannot be in a file this short", path, (long long)n);
  TSL_TRY(tsl_alloc(n, sizeof *atoms, "atoms", (void **)&atoms));
  for (int64_t k = 0; k < n; k++) {
    if (!table_lines_next(&lines))
      TSL_FAIL(TSL_ERR_INPUT, "%s: %lld atoms announced in line 1, %lld found", path, (long long)n,
               (long long)k);
    TSL_TRY(read_atom(&lines, &atoms[k]));
  }
  TSL_TRY(check_end(&lines, n));
  tsl_free(molecule->atoms);
  molecule->atoms = atoms, molecule->n_atoms = n;
  atoms = NULL;
done:
  tsl_free(atoms);
  return err;
}

tsl_err xc_molecule_read_xyz(const char *path, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_load(path, &text, &bytes));
  TSL_TRY(xc_molecule_parse_xyz(path, text, bytes, molecule));
done:
  tsl_free(text);
  return err;
}

tsl_err xc_molecule_read_charges(const char *path, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  table_source source = {.path = path, .comment = '#', .extra = -1};
  table_rows rows = {0};
  xc_charge *charges = NULL;
  TSL_TRY(table_read_format(&source, &source.format));
  TSL_TRY(table_read(&source, &rows));
  if (rows.n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no point charge in it; remove the key for none", path);
  if (rows.columns != 4 && rows.columns != 6)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: %lld columns where 'x y z q' (Angstrom, charge) is expected, or 'x y z q epsilon "
             "sigma'",
             path, (long long)rows.columns);
  TSL_TRY(tsl_alloc(rows.n, sizeof *charges, "point charges", (void **)&charges));
  for (int64_t k = 0; k < rows.n; k++) {
    const double *row = rows.values + k * rows.columns;
    charges[k] = (xc_charge){{row[0] / XC_BOHR, row[1] / XC_BOHR, row[2] / XC_BOHR}, row[3]};
    for (int x = 0; x < 3; x++)
      if (!isfinite(charges[k].at[x]))
        TSL_FAIL(TSL_ERR_INPUT, "%s: point charge %lld: %g Angstrom is no place of a charge", path,
                 (long long)k + 1, row[x]);
  }
  tsl_free(molecule->charges);
  molecule->charges = charges, molecule->n_charges = rows.n;
  charges = NULL;
done:
  tsl_free(charges);
  table_rows_clear(&rows);
  return err;
}
