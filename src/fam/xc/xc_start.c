/* The guess from the output of another run of the same atoms in the same basis. */
#include "xc_family.h"
#include "xc_matrix.h"
#include "xc_one.h"

#include "table_read.h"

#include <math.h>
#include <string.h>

/* Atoms may have moved by this between the two, bohr (0.5 Angstrom). */
static const double farthest = 0.5 / XC_BOHR;
/* Exponents and coefficients may differ by this part, electrons of the density by this number. */
static const double near_part = 1e-10, near_electrons = 1e-4;

/* --------------------------------------------------------------------- read */

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

static tsl_err check_atoms(const char *path, const table_rows *atoms, const xc_molecule *m,
                           xc_start *start) {
  tsl_err err = TSL_OK;
  if (atoms->columns != XC_N_ATOM_COLUMNS || atoms->n != m->n_atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s has %lld atoms, the molecule %lld", path, (long long)atoms->n,
             (long long)m->n_atoms);
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *start->at, "atoms of the guess", (void **)&start->at));
  for (int64_t a = 0; a < m->n_atoms; a++) {
    const double *row = atoms->values + a * XC_N_ATOM_COLUMNS, *at = m->atoms[a].at;
    memcpy(start->at[a], row + 1, sizeof start->at[a]);
    const double moved = hypot(hypot(row[1] - at[0], row[2] - at[1]), row[3] - at[2]);
    if (row[0] != m->atoms[a].z)
      TSL_FAIL(TSL_ERR_INPUT, "%s: atom %lld has the atomic number %g, in the molecule %d", path,
               (long long)a + 1, row[0], (int)m->atoms[a].z);
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

static bool same_row(const double *a, const double *b) {
  for (int c = 0; c < XC_N_BASIS_COLUMNS; c++)
    if (!(fabs(a[c] - b[c]) <= (c < 4 ? 0 : near_part * fabs(b[c])))) return false;
  return true;
}

static tsl_err check_basis(const char *path, const table_rows *rows, const xc_basis *basis) {
  tsl_err err = TSL_OK;
  int64_t r = 0;
  bool same = rows->columns == XC_N_BASIS_COLUMNS;
  for (int64_t k = 0; k < basis->n_shells && same; k++)
    for (int p = 0; p < basis->shells[k].n && same; p++, r++) {
      double row[XC_N_BASIS_COLUMNS];
      xc_basis_row(&basis->shells[k], k, p, row);
      same = r < rows->n && same_row(rows->values + r * rows->columns, row);
    }
  if (!same || r != rows->n)
    TSL_FAIL(TSL_ERR_INPUT, "%s is of another basis: they differ at primitive %lld", path,
             (long long)r);
done:
  return err;
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
  TSL_TRY(check_basis(path, &shells, basis));
  TSL_TRY(read_table(path, "/results/density", true, &density));
  TSL_TRY(take_density(path, &density, basis->n, start));
done:
  table_rows_clear(&atoms), table_rows_clear(&shells), table_rows_clear(&density);
  return err;
}

void xc_start_clear(xc_start *start) {
  TSL_FREE_ALL(start->density, start->at);
  *start = (xc_start){.n_spin = 0};
}

/* --------------------------------------------------------------------- move */

/* The overlap when the atoms were where the guess has them. */
static tsl_err old_overlap(const xc_basis *basis, const xc_start *start, double *overlap) {
  tsl_err err = TSL_OK;
  const int64_t n = basis->n;
  xc_basis old = *basis;
  double *kinetic = NULL;
  old.shells = NULL;
  TSL_TRY(tsl_alloc(basis->n_shells, sizeof *old.shells, "shells", (void **)&old.shells));
  memcpy(old.shells, basis->shells, (size_t)basis->n_shells * sizeof *old.shells);
  for (int64_t k = 0; k < old.n_shells; k++)
    memcpy(old.shells[k].at, start->at[old.shells[k].atom], sizeof old.shells[k].at);
  TSL_TRY(xc_matrix_create(n, n, "kinetic energy", &kinetic));
  xc_overlap_kinetic(&old, 0, old.n_shells, overlap, kinetic);
done:
  TSL_FREE_ALL(kinetic, old.shells);
  return err;
}

/* out = matrix^power; what belongs to eigenvalues below the limit is left out. */
static tsl_err matrix_power(int64_t n, const double *matrix, double power, double limit,
                            double *out) {
  tsl_err err = TSL_OK;
  double *vectors = NULL, *values = NULL, *scaled = NULL;
  TSL_TRY(xc_matrix_create(n, n, "vectors of the overlap", &vectors));
  TSL_TRY(xc_matrix_create(n, n, "vectors of the overlap", &scaled));
  TSL_TRY(xc_matrix_create(n, 1, "eigenvalues of the overlap", &values));
  memcpy(vectors, matrix, (size_t)(n * n) * sizeof *vectors);
  TSL_TRY(xc_matrix_eigen(n, vectors, values));
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++)
      scaled[k * n + i] = values[k] < limit ? 0 : pow(values[k], power) * vectors[k * n + i];
  xc_matrix_product(n, n, n, 1, vectors, true, scaled, false, out);
done:
  tsl_free(vectors), tsl_free(values), tsl_free(scaled);
  return err;
}

/* D' = X D X^T with X = S'^(-1/2) S^(1/2): the same orbitals, orthonormal again where the atoms are
 * now. */
static tsl_err move_density(int64_t n, const double *old, const double *now, double limit,
                            xc_start *start) {
  tsl_err err = TSL_OK;
  double *half = NULL, *inverse = NULL, *work = NULL, *moved = NULL;
  TSL_TRY(xc_matrix_create(n, n, "S^1/2", &half));
  TSL_TRY(xc_matrix_create(n, n, "S^-1/2", &inverse));
  TSL_TRY(xc_matrix_create(n, n, "S'^-1/2 S^1/2", &work));
  TSL_TRY(xc_matrix_create(n, n, "density", &moved));
  TSL_TRY(matrix_power(n, old, 0.5, limit, half));
  TSL_TRY(matrix_power(n, now, -0.5, limit, inverse));
  xc_matrix_product(n, n, n, 1, inverse, false, half, false, work);
  for (int t = 0; t < start->n_spin; t++) {
    double *density = start->density + t * n * n;
    xc_matrix_project(n, n, density, work, half, moved);
    memcpy(density, moved, (size_t)(n * n) * sizeof *moved);
  }
done:
  tsl_free(half), tsl_free(inverse), tsl_free(work), tsl_free(moved);
  return err;
}

/* -------------------------------------------------------------------- spins */

/* The density of spin t of the field from those of the guess, with the field's electrons. */
static void set_spin(const xc_start *start, const xc_scf *scf, int t, double *out) {
  const int64_t nn = scf->n * scf->n;
  const double *a = start->density, *b = start->density + (start->n_spin - 1) * nn;
  const bool mean = scf->n_spin < start->n_spin;
  for (int64_t k = 0; k < nn; k++) out[k] = mean ? 0.5 * (a[k] + b[k]) : (t == 0 ? a : b)[k];
  double there = xc_matrix_dot(nn, out, scf->overlap);
  if (!(there > near_electrons)) { /* a spin without electrons in the guess: as the other */
    memcpy(out, a, (size_t)nn * sizeof *out);
    there = xc_matrix_dot(nn, out, scf->overlap);
  }
  for (int64_t k = 0; k < nn; k++) out[k] *= (double)scf->electrons[t] / there;
}

/* A density of orbitals has a whole number of electrons of each spin. */
static tsl_err check_electrons(const char *name, int64_t n, const double *overlap,
                               const xc_start *start) {
  tsl_err err = TSL_OK;
  for (int t = 0; t < start->n_spin; t++) {
    const double there = xc_matrix_dot(n * n, start->density + t * n * n, overlap);
    if (!(there > -near_electrons && fabs(there - round(there)) <= near_electrons) ||
        (t == 0 && there < 0.5))
      TSL_FAIL(TSL_ERR_INPUT, "%s: its density holds %.6f electrons of spin %d", name, there, t);
  }
done:
  return err;
}

tsl_err xc_start_apply(const char *name, const xc_basis *basis, xc_start *start, xc_scf *scf) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n;
  double *overlap = NULL, *spins[2] = {NULL, NULL};
  TSL_TRY(xc_matrix_create(n, n, "overlap of the guess", &overlap));
  TSL_TRY(old_overlap(basis, start, overlap));
  TSL_TRY(check_electrons(name, n, overlap, start));
  if (start->moved > 0)
    TSL_TRY(move_density(n, overlap, scf->overlap, scf->options.overlap_limit, start));
  for (int t = 0; t < scf->n_spin; t++) {
    TSL_TRY(xc_matrix_create(n, n, "guess", &spins[t]));
    set_spin(start, scf, t, spins[t]);
  }
  xc_scf_restart(scf, (const double *const *)spins, 0);
done:
  tsl_free(overlap), tsl_free(spins[0]), tsl_free(spins[1]);
  return err;
}
