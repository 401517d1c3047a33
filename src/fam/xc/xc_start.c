/* Density, atoms and basis of the output of another run of the same atoms, for a guess. */
#include "xc_family.h"
#include "xc_matrix.h"

#include "table_read.h"

#include <math.h>
#include <string.h>

/* Atoms may have moved by this between the two, bohr (0.5 Angstrom). */
static const double farthest = 0.5 / XC_BOHR;
/* Exponents and coefficients of the same basis may differ by this part. */
static const double near_part = 1e-10;

static tsl_err read_table(const char *path, const char *dataset, bool deep, table_rows *rows) {
  const table_source source = {
      .path = path, .format = TABLE_FORMAT_HDF5, .dataset = dataset, .extra = -1, .deep = deep};
  return table_read(&source, rows);
}

static tsl_err check_format(const char *path) {
  tsl_err err = TSL_OK;
  const table_source source = {.path = path, .extra = -1};
  int32_t format = 0;
  TSL_TRY(table_read_format(&source, &format));
  if (format != TABLE_FORMAT_HDF5)
    TSL_FAIL(TSL_ERR_INPUT, "%s is no HDF5 file; an output of a run of family xc is needed", path);
done:
  return err;
}

/* Columns of atoms without a core, as outputs of earlier versions have them. */
enum { BEFORE_CORES = 4 };

static tsl_err check_atoms(const char *path, const table_rows *atoms, const xc_molecule *m,
                           xc_start *start) {
  tsl_err err = TSL_OK;
  if (atoms->columns < BEFORE_CORES || atoms->columns > XC_N_ATOM_COLUMNS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: its atoms have %lld columns", path, (long long)atoms->columns);
  if (atoms->n != m->n_atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s has %lld atoms, the molecule %lld", path, (long long)atoms->n,
             (long long)m->n_atoms);
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *start->at, "atoms of the guess", (void **)&start->at));
  for (int64_t a = 0; a < m->n_atoms; a++) {
    const double *row = atoms->values + a * atoms->columns, *at = m->atoms[a].at;
    const double core = atoms->columns > BEFORE_CORES ? row[BEFORE_CORES] : 0;
    memcpy(start->at[a], row + 1, sizeof start->at[a]);
    const double moved = hypot(hypot(row[1] - at[0], row[2] - at[1]), row[3] - at[2]);
    if (row[0] != xc_signed_z(&m->atoms[a]))
      TSL_FAIL(TSL_ERR_INPUT, "%s: atom %lld has the atomic number %g, in the molecule %d", path,
               (long long)a + 1, row[0], (int)xc_signed_z(&m->atoms[a]));
    if (core != m->atoms[a].core)
      TSL_FAIL(
          TSL_ERR_INPUT,
          "%s: an effective core potential replaces %g electrons of atom %lld, in the molecule "
          "%d; a density of other electrons is no guess",
          path, core, (long long)a + 1, (int)m->atoms[a].core);
    if (!(moved <= farthest))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: atom %lld is %.3g Angstrom from where it is in the molecule; at most %.3g is "
               "allowed",
               path, (long long)a + 1, moved * XC_BOHR, farthest * XC_BOHR);
    start->moved = fmax(start->moved, moved);
  }
done:
  return err;
}

void xc_basis_row(const xc_shell *shell, int64_t number, int p, double row[XC_N_BASIS_COLUMNS]) {
  row[0] = (double)number, row[1] = shell->atom, row[2] = shell->l, row[3] = shell->spherical;
  row[4] = shell->exponent[p], row[5] = shell->coefficient[p];
}

/* Append a primitive of a row to shell k. */
static tsl_err take_row(const char *path, int64_t r, const double *row, const xc_molecule *m,
                        int64_t k, xc_shell *shell) {
  tsl_err err = TSL_OK;
  const double atom = row[1], l = row[2], spherical = row[3];
  const bool good = row[0] == (double)k && atom >= 0 && atom < (double)m->n_atoms && l >= 0 &&
                    l <= XC_MAX_L && (spherical == 0 || spherical == 1) && row[4] > 0 &&
                    atom == floor(atom) && l == floor(l) && shell->n < XC_MAX_PRIMITIVES;
  if (!good ||
      (shell->n > 0 && (shell->atom != atom || shell->l != l || shell->spherical != spherical)))
    TSL_FAIL(TSL_ERR_INPUT, "%s: row %lld of its basis is no primitive of a shell", path,
             (long long)r);
  shell->atom = (int32_t)atom, shell->l = (int32_t)l, shell->spherical = (int32_t)spherical;
  memcpy(shell->at, m->atoms[shell->atom].at, sizeof shell->at);
  shell->exponent[shell->n] = row[4], shell->coefficient[shell->n++] = row[5];
done:
  return err;
}

/* The shells of the file, where the molecule's atoms are. */
static tsl_err take_basis(const char *path, const table_rows *rows, const xc_molecule *m,
                          xc_basis *basis) {
  tsl_err err = TSL_OK;
  if (rows->columns != XC_N_BASIS_COLUMNS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: a basis of %lld columns", path, (long long)rows->columns);
  TSL_TRY(
      tsl_alloc(rows->n, sizeof *basis->shells, "shells of the guess", (void **)&basis->shells));
  for (int64_t r = 0; r < rows->n; r++) {
    const double *row = rows->values + r * rows->columns;
    if (r == 0 || row[0] != row[-rows->columns]) basis->n_shells++;
    TSL_TRY(take_row(path, r, row, m, basis->n_shells - 1, &basis->shells[basis->n_shells - 1]));
  }
  for (int64_t k = 0; k < basis->n_shells; k++) {
    basis->shells[k].first = basis->n;
    basis->n += xc_shell_size(&basis->shells[k]);
  }
done:
  return err;
}

static bool same_shell(const xc_shell *a, const xc_shell *b) {
  if (a->atom != b->atom || a->l != b->l || a->spherical != b->spherical || a->n != b->n)
    return false;
  for (int p = 0; p < a->n; p++)
    if (!(fabs(a->exponent[p] - b->exponent[p]) <= near_part * b->exponent[p]) ||
        !(fabs(a->coefficient[p] - b->coefficient[p]) <= near_part * fabs(b->coefficient[p])))
      return false;
  return true;
}

bool xc_basis_same(const xc_basis *a, const xc_basis *b) {
  if (a->n_shells != b->n_shells) return false;
  for (int64_t k = 0; k < a->n_shells; k++)
    if (!same_shell(&a->shells[k], &b->shells[k])) return false;
  return true;
}

static tsl_err take_density(const char *path, const table_rows *rows, int64_t n, xc_start *start) {
  tsl_err err = TSL_OK;
  if (rows->columns != n || (rows->n != n && rows->n != 2 * n))
    TSL_FAIL(TSL_ERR_INPUT, "%s: a density of %lld x %lld where %lld functions are", path,
             (long long)rows->n, (long long)rows->columns, (long long)n);
  start->n_spin = (int32_t)(rows->n / n);
  TSL_TRY(xc_matrix_create(rows->n, n, "density of the guess", &start->density));
  memcpy(start->density, rows->values, (size_t)(rows->n * n) * sizeof *start->density);
  for (int t = 0; t < start->n_spin; t++) xc_matrix_symmetrise(n, 0.5, start->density + t * n * n);
done:
  return err;
}

tsl_err xc_start_read(const char *path, const xc_molecule *molecule, const xc_basis *basis,
                      xc_start *start) {
  tsl_err err = TSL_OK;
  table_rows atoms = {0}, shells = {0}, density = {0};
  TSL_TRY(check_format(path));
  TSL_TRY(read_table(path, "/results/atoms", false, &atoms));
  TSL_TRY(check_atoms(path, &atoms, molecule, start));
  TSL_TRY(read_table(path, "/results/basis", false, &shells));
  TSL_TRY(take_basis(path, &shells, molecule, &start->basis));
  start->projected = !xc_basis_same(&start->basis, basis);
  TSL_TRY(read_table(path, "/results/density", true, &density));
  TSL_TRY(take_density(path, &density, start->basis.n, start));
done:
  table_rows_clear(&atoms), table_rows_clear(&shells), table_rows_clear(&density);
  return err;
}

void xc_start_clear(xc_start *start) {
  TSL_FREE_ALL(start->density, start->at);
  xc_basis_clear(&start->basis);
  *start = (xc_start){.n_spin = 0};
}
