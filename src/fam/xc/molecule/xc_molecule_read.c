/* Molecules from XYZ files of one frame, point charges from tables. */
#include "xc_frames.h"
#include "xc_words.h"

#include <math.h>

static tsl_err check_end(table_lines *lines, int64_t n) {
  tsl_err err = TSL_OK;
  xc_words words;
  while (table_lines_next(lines)) {
    xc_words_cut(lines, &words);
    if (words.n > 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%lld: more lines than the %lld atoms of line 1 (one frame a file, unless "
               "xc.molecule.frames says which to compute)",
               lines->path, (long long)lines->number, (long long)n);
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
  TSL_TRY(xc_xyz_next(&lines, 0, &atoms, &n));
  TSL_TRY(check_end(&lines, n));
  tsl_free(molecule->atoms);
  molecule->atoms = atoms, molecule->n_atoms = n;
  atoms = NULL;
done:
  tsl_free(atoms);
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
