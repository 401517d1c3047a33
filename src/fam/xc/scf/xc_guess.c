/* Each element's atom is solved once by spherically averaged restricted Hartree-Fock with DIIS. Its
 * density is placed on all atoms of the element. */
#include "xc_guess.h"

#include "xc_diis.h"
#include "xc_ecp_integrals.h"
#include "xc_fock.h"
#include "xc_harmonics.h"
#include "xc_matrix.h"
#include "xc_one.h"
#include "xc_orthogonal.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 100 };
static const double settled = 1e-6;

void xc_guess_occupation(double all, int32_t core, double electrons[4]) {
  double left = all, replaced[4];
  (void)xc_ecp_core(core, replaced);
  memset(electrons, 0, 4 * sizeof *electrons);
  for (int sum = 1; left > 0; sum++) /* n + l = sum, l falling */
    for (int l = (sum - 1) / 2; l >= 0 && left > 0; l--) {
      const double full = 2 * (2 * l + 1), taken = fmin(left, full);
      if (l < 4 && replaced[l] > 0) {
        replaced[l] -= full;
        continue;
      }
      if (l < 4) electrons[l] += taken;
      left -= taken;
    }
}

/* An atom alone: its shells as spherical ones at the origin. */
typedef struct lone {
  xc_basis basis;
  xc_atom atom;
  double electrons[4];
  xc_integrals *integrals;
  xc_engine *engine;
  xc_pairs pairs;
  xc_diis diis;
  double *core, *overlap, *density, *coulomb, *exchange, *fock, *error, *work, *largest;
} lone;

static void lone_clear(lone *a) {
  double *all[] = {a->core, a->overlap, a->density, a->coulomb, a->exchange,
                   a->fock, a->error,   a->work,    a->largest};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsl_free(all[k]);
  xc_diis_clear(&a->diis);
  xc_pairs_clear(&a->pairs);
  xc_engine_destroy(&a->engine);
  xc_integrals_destroy(&a->integrals);
  xc_basis_clear(&a->basis);
}

static tsl_err lone_shells(const xc_basis *basis, int64_t first, int64_t n, xc_basis *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *out->shells, "shells of an atom", (void **)&out->shells));
  for (int64_t k = 0; k < n; k++) {
    xc_shell *shell = &out->shells[out->n_shells++];
    *shell = basis->shells[first + k];
    shell->spherical = 1, shell->first = out->n, shell->atom = 0;
    memset(shell->at, 0, sizeof shell->at);
    out->n += xc_shell_size(shell);
  }
done:
  return err;
}

static tsl_err lone_matrices(lone *a) {
  tsl_err err = TSL_OK;
  const int64_t n = a->basis.n, m = a->basis.n_shells;
  double **all[] = {&a->core,     &a->overlap, &a->density, &a->coulomb,
                    &a->exchange, &a->fock,    &a->error,   &a->work};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    TSL_TRY(xc_matrix_create(n, n, "matrices of an atom", all[k]));
  TSL_TRY(xc_matrix_create(m, m, "bounds of an atom", &a->largest));
  TSL_TRY(xc_integrals_create(&a->basis, NULL, &a->integrals));
  TSL_TRY(xc_engine_create(a->integrals, XC_QUARTETS, 0, 1e-14, &a->engine));
  xc_schwarz(a->engine, &a->basis, 0, m, a->largest);
  TSL_TRY(xc_pairs_create(&a->basis, a->largest, 0, &a->pairs));
  TSL_TRY(xc_diis_create(n * n, 8, false, &a->diis));
  xc_overlap_kinetic(&a->basis, 0, m, a->overlap, a->core);
done:
  return err;
}

/* core = kinetic energy, in it already, and attraction by the nucleus and its potential. */
static tsl_err lone_core(lone *a, const xc_ecps *ecps) {
  tsl_err err = TSL_OK;
  const int64_t n = a->basis.n;
  const xc_charge nucleus = {.q = xc_nuclear(&a->atom)};
  const xc_molecule alone = {.atoms = &a->atom, .n_atoms = 1};
  xc_attraction(&a->basis, &nucleus, 1, 0, a->basis.n_shells, a->work);
  TSL_TRY(xc_ecp_add(&alone, ecps, &a->basis, a->work));
  xc_matrix_add(n * n, 1, a->work, a->core);
done:
  return err;
}

/* ------------------------------------------------------- one angular momentum */

/* Rows of the functions m = 0 of angular momentum l; their number. */
static int64_t radial_rows(const xc_basis *basis, int l, int64_t *rows) {
  int64_t n = 0;
  for (int64_t k = 0; k < basis->n_shells; k++)
    if (basis->shells[k].l == l) rows[n++] = basis->shells[k].first + l;
  return n;
}

static void xc_guess_pick(const double *matrix, int64_t n, const int64_t *rows, int64_t m,
                          double *out) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < m; j++) out[i * m + j] = matrix[rows[i] * n + rows[j]];
}

/* Density of the radial functions of l (all m alike): the lowest orbitals, 2 (2l + 1) electrons
 * each, the last one in part. */
static tsl_err fill_momentum(lone *a, int l, const int64_t *rows, int64_t m) {
  tsl_err err = TSL_OK;
  double *block = NULL, *half = NULL, *orbitals = NULL, *values = NULL, left = a->electrons[l];
  int64_t independent = 0;
  TSL_TRY(xc_matrix_create(m, m, "an atom's block", &block));
  TSL_TRY(xc_matrix_create(m, m, "an atom's orbitals", &orbitals));
  TSL_TRY(xc_matrix_create(m, 1, "an atom's energies", &values));
  xc_guess_pick(a->overlap, a->basis.n, rows, m, block);
  TSL_TRY(xc_orthogonal_create(m, block, 1e-8, &half, &independent, NULL));
  xc_guess_pick(a->fock, a->basis.n, rows, m, block);
  TSL_TRY(xc_orthogonal_orbitals(m, independent, block, half, orbitals, values));
  for (int64_t k = 0; k < independent && left > 0; k++) {
    const double each = fmin(left, 2 * (2 * l + 1)) / (2 * l + 1);
    left -= each * (2 * l + 1);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < m; j++)
        for (int t = -l; t <= l; t++)
          a->density[(rows[i] + t) * a->basis.n + rows[j] + t] +=
              each * orbitals[k * m + i] * orbitals[k * m + j];
  }
done:
  tsl_free(block), tsl_free(half), tsl_free(orbitals), tsl_free(values);
  return err;
}

static tsl_err fill_density(lone *a) {
  tsl_err err = TSL_OK;
  int64_t *rows = NULL;
  memset(a->density, 0, (size_t)(a->basis.n * a->basis.n) * sizeof *a->density);
  TSL_TRY(tsl_alloc(a->basis.n_shells, sizeof *rows, "an atom's rows", (void **)&rows));
  for (int l = 0; l < 4; l++) {
    const int64_t m = radial_rows(&a->basis, l, rows);
    if (m > 0 && a->electrons[l] > 0) TSL_TRY(fill_momentum(a, l, rows, m));
  }
done:
  tsl_free(rows);
  return err;
}

/* --------------------------------------------------------------- iterations */

/* F = H + J - K/2 of the density. */
static void build_fock(lone *a) {
  const int64_t n = a->basis.n;
  xc_fock fock = {.basis = &a->basis,
                  .pairs = &a->pairs,
                  .threshold = 1e-12,
                  .total = a->density,
                  .spin = {a->density},
                  .coulomb = a->coulomb,
                  .exchange = {a->exchange}};
  memset(a->coulomb, 0, (size_t)(n * n) * sizeof *a->coulomb);
  memset(a->exchange, 0, (size_t)(n * n) * sizeof *a->exchange);
  xc_fock_largest(&fock, a->largest);
  xc_fock_batch(a->engine, &fock, 0, a->pairs.n);
  xc_fock_finish(&fock);
  memcpy(a->fock, a->core, (size_t)(n * n) * sizeof *a->fock);
  xc_matrix_add(n * n, 1, a->coulomb, a->fock);
  xc_matrix_add(n * n, -0.5, a->exchange, a->fock);
}

/* error = F D S - S D F; its largest element. */
static tsl_err commutator(lone *a, double *largest) {
  tsl_err err = TSL_OK;
  const int64_t n = a->basis.n;
  TSL_TRY(xc_matrix_product(n, n, n, 1, a->fock, false, a->density, false, a->work));
  TSL_TRY(xc_matrix_product(n, n, n, 1, a->work, false, a->overlap, false, a->error));
  *largest = xc_matrix_antisymmetrise(n, a->error);
done:
  return err;
}

static tsl_err lone_solve(lone *a, bool *converged) {
  tsl_err err = TSL_OK;
  double largest = 0;
  *converged = false;
  memcpy(a->fock, a->core, (size_t)(a->basis.n * a->basis.n) * sizeof *a->fock);
  TSL_TRY(fill_density(a));
  for (int k = 0; k < MOST_ITERATIONS && !*converged; k++) {
    build_fock(a);
    TSL_TRY(commutator(a, &largest));
    *converged = largest < settled;
    xc_diis_step(&a->diis, a->error, NULL, 0, a->fock);
    TSL_TRY(fill_density(a));
  }
done:
  return err;
}

/* ----------------------------------------------------------------- molecule */

/* Block of shells i and j of the atom to the molecule, whose shells may be Cartesian. */
static void place_block(const xc_harmonics *h, const lone *a, int64_t i, int64_t j,
                        const xc_shell *to_i, const xc_shell *to_j, int64_t n, double *density) {
  const xc_shell *from_i = &a->basis.shells[i], *from_j = &a->basis.shells[j];
  const int mi = xc_shell_size(from_i), mj = xc_shell_size(from_j);
  for (int p = 0; p < xc_shell_size(to_i); p++)
    for (int q = 0; q < xc_shell_size(to_j); q++) {
      double sum = 0;
      for (int s = 0; s < mi; s++)
        for (int t = 0; t < mj; t++)
          sum += (to_i->spherical ? s == p : h->of[from_i->l][s][p]) *
                 (to_j->spherical ? t == q : h->of[from_j->l][t][q]) *
                 a->density[(from_i->first + s) * a->basis.n + from_j->first + t];
      density[(to_i->first + p) * n + to_j->first + q] = sum;
    }
}

static void place_atom(const xc_harmonics *h, const lone *a, const xc_basis *basis, int64_t first,
                       double *density) {
  for (int64_t i = 0; i < a->basis.n_shells; i++)
    for (int64_t j = 0; j < a->basis.n_shells; j++)
      place_block(h, a, i, j, &basis->shells[first + i], &basis->shells[first + j], basis->n,
                  density);
}

/* A molecule's guess while it is made. */
typedef struct guessing {
  const xc_molecule *molecule;
  const xc_basis *basis;
  const double *spins;
  xc_harmonics harmonics;
  double *density[2];
  bool unconverged[XC_MAX_Z + 1];
} guessing;

/* Solve the atom whose shells begin at first. */
static tsl_err make_lone(guessing *g, int64_t first, int32_t z, lone *a) {
  tsl_err err = TSL_OK;
  const xc_basis *basis = g->basis;
  const xc_ecp *ecp = xc_ecp_of(&basis->ecps, z);
  int64_t n = 0;
  bool converged = false;
  while (first + n < basis->n_shells && basis->shells[first + n].atom == basis->shells[first].atom)
    n++;
  a->atom = (xc_atom){.z = z, .core = ecp != NULL ? ecp->core : 0};
  xc_guess_occupation(xc_nuclear(&a->atom), a->atom.core, a->electrons);
  TSL_TRY(lone_shells(basis, first, n, &a->basis));
  TSL_TRY(lone_matrices(a));
  TSL_TRY(lone_core(a, &basis->ecps));
  TSL_TRY(lone_solve(a, &converged));
  g->unconverged[z] = !converged;
done:
  return err;
}

/* The densities of both spins of an atom with unpaired electrons. */
static tsl_err place_spins(const guessing *g, lone *a, double spin, int64_t first) {
  tsl_err err = TSL_OK;
  const int64_t n = a->basis.n;
  for (int t = 0; t < 2; t++) {
    xc_guess_occupation(xc_nuclear(&a->atom) + (t == 0 ? spin : -spin), a->atom.core, a->electrons);
    TSL_TRY(fill_density(a));
    for (int64_t k = 0; k < n * n; k++) a->density[k] *= 0.5;
    place_atom(&g->harmonics, a, g->basis, first, g->density[t]);
  }
done:
  return err;
}

/* Solve element z and place it on all its atoms. */
static tsl_err do_element(guessing *g, int32_t z) {
  tsl_err err = TSL_OK;
  const xc_basis *basis = g->basis;
  lone a = {.basis = {.n = 0}};
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const int32_t atom = basis->shells[k].atom;
    if (xc_real_z(&g->molecule->atoms[atom]) != z || (k > 0 && basis->shells[k - 1].atom == atom))
      continue;
    if (a.basis.n == 0) TSL_TRY(make_lone(g, k, z, &a));
    if (g->spins == NULL)
      place_atom(&g->harmonics, &a, basis, k, g->density[0]);
    else
      TSL_TRY(place_spins(g, &a, g->spins[atom], k));
  }
done:
  lone_clear(&a);
  return err;
}

/* Elements [lo, hi), the heaviest first. */
static tsl_err do_elements(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) TSL_TRY(do_element(context, (int32_t)(XC_MAX_Z - k)));
done:
  return err;
}

tsl_err xc_guess_atoms(const xc_molecule *molecule, const xc_basis *basis, const double *spins,
                       double *const density[2], int64_t *n_unconverged) {
  tsl_err err = TSL_OK;
  guessing g = {.molecule = molecule, .basis = basis, .spins = spins};
  xc_harmonics_fill(&g.harmonics);
  *n_unconverged = 0;
  for (int t = 0; t < (spins == NULL ? 1 : 2); t++) {
    g.density[t] = density[t];
    memset(density[t], 0, (size_t)(basis->n * basis->n) * sizeof **density);
  }
  TSL_TRY(tsl_parallel(XC_MAX_Z, 1, do_elements, &g));
  for (int z = 1; z <= XC_MAX_Z; z++) *n_unconverged += g.unconverged[z];
done:
  return err;
}

tsl_err xc_guess_radial(const xc_basis *basis, int64_t first, int64_t n, int32_t z,
                        double *radial) {
  tsl_err err = TSL_OK;
  guessing g = {.basis = basis};
  lone a = {.basis = {.n = 0}};
  if (n > XC_MAX_FREE_SHELLS)
    TSL_FAIL(TSL_ERR_INPUT, "%s has %lld shells; densities of free atoms have at most %d",
             xc_symbol(z), (long long)n, XC_MAX_FREE_SHELLS);
  TSL_TRY(make_lone(&g, first, z, &a));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      const xc_shell *p = &a.basis.shells[i], *q = &a.basis.shells[j];
      radial[i * n + j] =
          p->l == q->l ? a.density[(p->first + p->l) * a.basis.n + q->first + q->l] : 0;
    }
done:
  lone_clear(&a);
  return err;
}
