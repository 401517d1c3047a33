/* Molecules, integrals and self-consistent fields on one thread, for tests. */
#pragma once

#include "xc_basis.h"
#include "xc_fit.h"
#include "xc_fock.h"
#include "xc_guess.h"
#include "xc_integrals.h"
#include "xc_matrix.h"
#include "xc_one.h"
#include "xc_scf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define good(call)                                           \
  do {                                                       \
    if ((call) != TSL_OK) fail_msg("%s", tsl_err_message()); \
  } while (0)

/** A molecule with all that its matrices need. */
typedef struct field {
  xc_molecule molecule;
  xc_basis orbital, fitting;
  xc_integrals *integrals;
  xc_engine *quartets, *triples;
  xc_pairs pairs;
  double *overlap, *kinetic, *attraction, *work, *largest;
  double *rows, *metric, *packed, *gamma; /* of fitting */
} field;

static inline double *room(int64_t rows, int64_t columns) {
  double *matrix = NULL;
  good(xc_matrix_create(rows, columns, "a test", &matrix));
  return matrix;
}

static inline void field_fit(field *f) {
  xc_engine *doubles = NULL;
  const int64_t n = f->fitting.n, shells = f->fitting.n_shells;
  good(xc_engine_create(f->integrals, XC_TRIPLES, 0, 1e-16, &f->triples));
  good(xc_engine_create(f->integrals, XC_DOUBLES, 0, 1e-16, &doubles));
  f->metric = room(n, n), f->rows = room(n, f->pairs.n_packed);
  f->packed = room(f->pairs.n_packed, 1), f->gamma = room(n, 1);
  xc_fit_metric(doubles, &f->fitting, 0, shells, f->metric);
  good(xc_matrix_factor(n, "the fitting set", f->metric));
  const int64_t cut = f->pairs.n / 3; /* two ranges */
  for (int64_t s = 0; s < shells; s++) {
    double *rows = f->rows + f->fitting.shells[s].first * f->pairs.n_packed;
    xc_fit_triples(f->triples, &f->orbital, &f->fitting, &f->pairs, s, 0, cut, rows);
    xc_fit_triples(f->triples, &f->orbital, &f->fitting, &f->pairs, s, cut, f->pairs.n, rows);
  }
  xc_engine_destroy(&doubles);
}

/** Atoms as XYZ text; sets by name; fitting NULL: none. Charges in bohr, borrowed. */
static inline void field_create(const char *xyz, int32_t multiplicity, const char *set_name,
                                const char *fitting, xc_kind kind, const xc_charge *charges,
                                int64_t n_charges, field *f) {
  xc_set set;
  memset(f, 0, sizeof *f);
  good(xc_molecule_parse_xyz("test.xyz", xyz, (int64_t)strlen(xyz), &f->molecule));
  good(tsl_alloc(n_charges, sizeof *charges, "charges", (void **)&f->molecule.charges));
  if (n_charges > 0) memcpy(f->molecule.charges, charges, (size_t)n_charges * sizeof *charges);
  f->molecule.n_charges = n_charges;
  f->molecule.multiplicity = multiplicity;
  good(xc_molecule_finish("test.xyz", &f->molecule));
  good(xc_set_read(set_name, TSL_BASIS_FOLDER, &set));
  good(xc_basis_create(&set, kind, &f->molecule, &f->orbital));
  xc_set_clear(&set);
  if (fitting != NULL) {
    good(xc_set_read_fitting(fitting, TSL_BASIS_FOLDER, &set));
    good(xc_basis_create(&set, kind, &f->molecule, &f->fitting));
    xc_set_clear(&set);
  }
  const int64_t n = f->orbital.n, m = f->orbital.n_shells, atoms = f->molecule.n_atoms;
  xc_charge all[32];
  assert_true(atoms + n_charges <= 32);
  xc_nuclei(&f->molecule, all);
  if (n_charges > 0) memcpy(all + atoms, charges, (size_t)n_charges * sizeof *charges);
  f->overlap = room(n, n), f->kinetic = room(n, n), f->attraction = room(n, n);
  f->work = room(n, n), f->largest = room(m, m);
  xc_overlap_kinetic(&f->orbital, 0, m, f->overlap, f->kinetic);
  xc_attraction(&f->orbital, all, atoms + n_charges, 0, m, f->attraction);
  good(xc_integrals_create(&f->orbital, &f->fitting, &f->integrals));
  good(xc_engine_create(f->integrals, XC_QUARTETS, 0, 1e-16, &f->quartets));
  xc_schwarz(f->quartets, &f->orbital, 0, m, f->largest);
  good(xc_pairs_create(&f->orbital, f->largest, 1e-13, &f->pairs));
  if (fitting != NULL) field_fit(f);
}

static inline void field_clear(field *f) {
  double *all[] = {f->overlap, f->kinetic, f->attraction, f->work, f->largest,
                   f->rows,    f->metric,  f->packed,     f->gamma};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsl_free(all[k]);
  xc_pairs_clear(&f->pairs);
  xc_engine_destroy(&f->quartets), xc_engine_destroy(&f->triples);
  xc_integrals_destroy(&f->integrals);
  xc_basis_clear(&f->orbital), xc_basis_clear(&f->fitting);
  xc_molecule_clear(&f->molecule);
}

/** Exact J (total not NULL) and K (spin not NULL), in batches of bra pairs. */
static inline void field_exact(field *f, const double *total, const double *const spin[2],
                               double *coulomb, double *const exchange[2]) {
  xc_fock fock = {.basis = &f->orbital,
                  .pairs = &f->pairs,
                  .threshold = 1e-13,
                  .total = total,
                  .spin = {spin[0], spin[1]},
                  .coulomb = coulomb,
                  .exchange = {exchange[0], exchange[1]}};
  const int64_t n = f->pairs.n;
  xc_fock_largest(&fock, f->largest);
  for (int64_t lo = 0; lo < n; lo += 17)
    xc_fock_batch(f->quartets, &fock, lo, lo + 17 < n ? lo + 17 : n);
  xc_fock_finish(&fock);
}

static inline void field_fitted(field *f, const double *total, double *coulomb) {
  const int64_t n = f->fitting.n, m = f->pairs.n_packed;
  xc_fit_pack(&f->orbital, &f->pairs, 0, f->pairs.n, total, f->packed);
  good(xc_matrix_product(n, 1, m, 1, f->rows, false, f->packed, false, f->gamma));
  good(xc_matrix_solve(n, f->metric, f->gamma));
  good(xc_matrix_product(m, 1, n, 1, f->rows, true, f->gamma, false, f->packed));
  xc_fit_unpack(&f->orbital, &f->pairs, 0, f->pairs.n, f->packed, coulomb);
}

/** Hartree-Fock to the end; fitted Coulomb where the field has a fitting set and fit is set. */
static inline void field_solve(field *f, const xc_scf_options *options, bool fit, xc_scf *scf) {
  const size_t bytes = (size_t)(f->orbital.n * f->orbital.n) * sizeof(double);
  const int64_t n = f->orbital.n;
  int64_t unconverged = 0;
  double *coulomb = room(n, n), *exchange[2] = {room(n, n), room(n, n)};
  good(xc_scf_create(&f->molecule, n, f->overlap, f->kinetic, f->attraction, options, scf));
  good(xc_guess_atoms(&f->molecule, &f->orbital, NULL, (double *const[2]){f->work}, &unconverged));
  assert_int_equal(unconverged, 0);
  good(xc_scf_start(scf, f->work));
  while (scf->state == XC_SCF_RUNNING) {
    const xc_scf_built built = {.coulomb = coulomb, .exchange = {exchange[0], exchange[1]}};
    const double *const spin[2] = {scf->ask_spin[0], scf->ask_spin[1]};
    memset(coulomb, 0, bytes), memset(exchange[0], 0, bytes), memset(exchange[1], 0, bytes);
    field_exact(f, fit ? NULL : scf->ask_total, spin, coulomb, exchange);
    if (fit) field_fitted(f, scf->ask_total, coulomb);
    good(xc_scf_step(scf, &built));
  }
  tsl_free(coulomb), tsl_free(exchange[0]), tsl_free(exchange[1]);
}
