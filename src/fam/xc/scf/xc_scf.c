/* Memory of the field, and one step: energies, commutator, DIIS, level shift, damping, new
 * densities, convergence. */
#include "xc_scf.h"

#include "xc_matrix.h"
#include "xc_orthogonal.h"

#include <math.h>
#include <string.h>

void xc_scf_standard(xc_scf_options *options) {
  *options = (xc_scf_options){.energy_limit = 1e-8,
                              .commutator_limit = 1e-5,
                              .overlap_limit = 1e-7,
                              .exchange = 1,
                              .damping_until = 0.01,
                              .diis = 8,
                              .adiis = 1,
                              .most_iterations = 100,
                              .rebuild = 8,
                              .restricted = 1};
}

/* ------------------------------------------------------------------- set up */

static tsl_err check(const xc_molecule *molecule, const xc_scf_options *o) {
  tsl_err err = TSL_OK;
  if (!(o->energy_limit > 0) || !(o->commutator_limit > 0) || !(o->overlap_limit > 0))
    TSL_FAIL(TSL_ERR_INPUT, "limits of energy, commutator and overlap must be positive");
  if (!(o->damping >= 0 && o->damping < 1) || !(o->level_shift >= 0) || !(o->exchange >= 0))
    TSL_FAIL(TSL_ERR_INPUT, "damping %g must be in 0..1, level shift %g and exchange %g at least 0",
             o->damping, o->level_shift, o->exchange);
  if (o->diis < 0 || o->diis > XC_DIIS_MOST || o->most_iterations < 1 || o->rebuild < 1)
    TSL_FAIL(TSL_ERR_INPUT, "diis %d must be in 0..%d, iterations %d and rebuild %d at least 1",
             (int)o->diis, XC_DIIS_MOST, (int)o->most_iterations, (int)o->rebuild);
  if (o->smearing < 0 || o->smearing >= XC_N_SMEARINGS ||
      (o->smearing != XC_SMEARING_NONE && (!(o->width > 0) || o->level_shift > 0)))
    TSL_FAIL(TSL_ERR_INPUT, "smearing needs a positive width and no level shift; they are %g, %g",
             o->width, o->level_shift);
  if (o->restricted && molecule->alpha != molecule->beta)
    TSL_FAIL(TSL_ERR_INPUT,
             "a restricted method needs as many alpha as beta electrons; there are %lld and %lld",
             (long long)molecule->alpha, (long long)molecule->beta);
done:
  return err;
}

/* The [n][n] matrices in one table. */
static int matrices_of(xc_scf *s, double **list[24]) {
  double **shared[] = {&s->overlap,   &s->core,    &s->kinetic,    &s->total,
                       &s->ask_total, &s->coulomb, &s->last_total, &s->work};
  double **spin[] = {s->density, s->ask_spin, s->exchange, s->last_spin};
  int n = 0;
  for (int k = 0; k < 8; k++) list[n++] = shared[k];
  for (int k = 0; k < 4; k++)
    for (int t = 0; t < s->n_spin; t++) list[n++] = &spin[k][t];
  return n;
}

static tsl_err take_memory(xc_scf *s) {
  tsl_err err = TSL_OK;
  double **list[24], *both = NULL;
  const int count = matrices_of(s, list);
  for (int k = 0; k < count; k++)
    TSL_TRY(xc_matrix_create(s->n, s->n, "matrices of the SCF", list[k]));
  TSL_TRY(xc_matrix_create(s->n_spin * s->n, s->n, "Fock matrices", &both));
  s->fock[0] = both;
  if (s->n_spin == 2) s->fock[1] = both + s->n * s->n;
done:
  return err;
}

static tsl_err take_orbitals(xc_scf *s) {
  tsl_err err = TSL_OK;
  for (int t = 0; t < s->n_spin; t++) {
    TSL_TRY(xc_matrix_create(s->m, s->n, "orbitals", &s->orbitals[t]));
    TSL_TRY(xc_matrix_create(s->m, 1, "orbital energies", &s->levels[t]));
    TSL_TRY(xc_matrix_create(s->m, 1, "occupations", &s->occupations[t]));
    if (s->electrons[t] > s->m)
      TSL_FAIL(TSL_ERR_INPUT,
               "%lld electrons of a spin, but the basis has %lld independent functions",
               (long long)s->electrons[t], (long long)s->m);
  }
  TSL_TRY(xc_matrix_create(s->n_spin * s->m, s->m, "commutators", &s->error));
  TSL_TRY(xc_matrix_create(s->n_spin * s->m, s->m, "Fock matrices", &s->fock_half[0]));
  TSL_TRY(xc_matrix_create(s->n_spin * s->m, s->m, "densities", &s->density_half[0]));
  if (s->n_spin == 2) {
    s->fock_half[1] = s->fock_half[0] + s->m * s->m;
    s->density_half[1] = s->density_half[0] + s->m * s->m;
  }
  if (s->options.diis > 0)
    TSL_TRY(
        xc_diis_create(s->n_spin * s->m * s->m, s->options.diis, s->options.adiis != 0, &s->diis));
done:
  return err;
}

tsl_err xc_scf_create(const xc_molecule *molecule, int64_t n, const double *overlap,
                      const double *kinetic, const double *attraction,
                      const xc_scf_options *options, xc_scf *scf) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(n * n) * sizeof *overlap;
  *scf = (xc_scf){.options = *options,
                  .n = n,
                  .n_spin = options->restricted ? 1 : 2,
                  .electrons = {molecule->alpha, molecule->beta}};
  TSL_TRY(check(molecule, options));
  TSL_TRY(take_memory(scf));
  memcpy(scf->overlap, overlap, bytes);
  memcpy(scf->kinetic, kinetic, bytes);
  memcpy(scf->core, kinetic, bytes);
  xc_matrix_add(n * n, 1, attraction, scf->core);
  TSL_TRY(xc_orthogonal_create(n, overlap, options->overlap_limit, &scf->half, &scf->m,
                               &scf->smallest_overlap));
  TSL_TRY(xc_matrix_hold(scf->m, n, scf->half));
  TSL_TRY(take_orbitals(scf));
  scf->energies.nuclei = xc_repulsion_nuclei(molecule) + xc_repulsion_charges(molecule);
done:
  if (err != TSL_OK) xc_scf_clear(scf);
  return err;
}

void xc_scf_clear(xc_scf *scf) {
  double **list[24];
  const int count = matrices_of(scf, list);
  xc_matrix_drop(scf->half);
  for (int k = 0; k < count; k++) tsl_free(*list[k]);
  for (int t = 0; t < 2; t++) TSL_FREE_ALL(scf->orbitals[t], scf->levels[t], scf->occupations[t]);
  TSL_FREE_ALL(scf->fock[0], scf->half, scf->error, scf->fock_half[0], scf->density_half[0]);
  xc_diis_clear(&scf->diis);
  memset(scf, 0, sizeof *scf);
}

/* ------------------------------------------------------------------ density */

static void sum_spins(xc_scf *s) {
  const double factors[2] = {s->n_spin == 1 ? 2 : 1, 1};
  xc_matrix_combine(s->n * s->n, s->n_spin, factors, (const double *const *)s->density, s->total);
}

static void subtract(int64_t n, const double *a, const double *b, double *out) {
  const double factors[2] = {1, -1};
  xc_matrix_combine(n, 2, factors, (const double *const[2]){a, b}, out);
}

void xc_scf_ask(xc_scf *s) {
  const int64_t nn = s->n * s->n;
  subtract(nn, s->total, s->last_total, s->ask_total);
  for (int t = 0; t < s->n_spin; t++) subtract(nn, s->density[t], s->last_spin[t], s->ask_spin[t]);
}

/* J and K, and what they are of: the next are asked for anew. */
static void forget(xc_scf *s) {
  const size_t bytes = (size_t)(s->n * s->n) * sizeof *s->total;
  memset(s->coulomb, 0, bytes), memset(s->last_total, 0, bytes);
  for (int t = 0; t < s->n_spin; t++)
    memset(s->exchange[t], 0, bytes), memset(s->last_spin[t], 0, bytes);
}

/* The difference, or anew for everything. */
static void ask(xc_scf *s) {
  if (s->iteration % s->options.rebuild == 0) forget(s);
  xc_scf_ask(s);
}

void xc_scf_vary(xc_scf *scf) {
  sum_spins(scf);
  if (scf->options.rebuild == 1) forget(scf);
  xc_scf_ask(scf);
}

/* So many products and diagonalisations of a spin, and so many matrices moved. All regions have the
 * memory of the largest, which a card then keeps. */
static tsl_err enter(const xc_scf *s, double products, int eigen, int moved) {
  return xc_matrix_enter(&(xc_matrix_region){.order = s->n,
                                             .matrices = 1 + 5 * s->n_spin,
                                             .moved = moved * s->n_spin,
                                             .products = products * s->n_spin,
                                             .eigen = eigen * s->n_spin});
}

/* D' = half S D S half^T, which for densities of orbitals is exact. The Fock matrix is made later:
 * its memory holds half S. */
static tsl_err set_density_half(xc_scf *s) {
  tsl_err err = TSL_OK;
  double *turn = s->fock[0];
  TSL_TRY(enter(s, 3, 0, 3));
  TSL_TRY(xc_matrix_product(s->m, s->n, s->n, 1, s->half, false, s->overlap, false, turn));
  for (int t = 0; t < s->n_spin; t++) {
    TSL_TRY(xc_matrix_project(s->m, s->n, s->density[t], turn, s->work, s->density_half[t]));
    TSL_TRY(xc_matrix_fetch(s->density_half[t]));
  }
done:
  xc_matrix_leave();
  return err;
}

static tsl_err xc_scf_begin(xc_scf *s) {
  tsl_err err = TSL_OK;
  s->iteration = 0; /* so that everything is asked for */
  s->state = XC_SCF_RUNNING;
  s->energies.total = 0, s->entropy = 0;
  s->diis.n = s->diis.next = 0;
  s->filled[0] = s->filled[1] = 0;
  TSL_TRY(set_density_half(s));
  sum_spins(s);
  ask(s);
done:
  return err;
}

tsl_err xc_scf_start(xc_scf *scf, const double *total) {
  const double all = (double)(scf->electrons[0] + scf->electrons[1]);
  for (int t = 0; t < scf->n_spin; t++)
    for (int64_t k = 0; k < scf->n * scf->n; k++)
      scf->density[t][k] = (double)scf->electrons[t] / all * total[k];
  return xc_scf_begin(scf);
}

tsl_err xc_scf_restart(xc_scf *scf, const double *const density[2], int32_t done) {
  tsl_err err = TSL_OK;
  for (int t = 0; t < scf->n_spin; t++)
    memcpy(scf->density[t], density[t], (size_t)(scf->n * scf->n) * sizeof **density);
  TSL_TRY(xc_scf_begin(scf));
  scf->iteration = done;
done:
  return err;
}

/* --------------------------------------------------------------------- step */

void xc_scf_sum(xc_scf *s, const xc_scf_built *built) {
  const int64_t nn = s->n * s->n;
  const double factors[4] = {1, 1, -s->options.exchange, 1};
  xc_matrix_add(nn, 1, built->coulomb, s->coulomb);
  xc_matrix_copy(nn, s->total, s->last_total);
  for (int t = 0; t < s->n_spin; t++) {
    const double *const parts[4] = {s->core, s->coulomb, s->exchange[t], built->xc[t]};
    if (s->options.exchange != 0) xc_matrix_add(nn, 1, built->exchange[t], s->exchange[t]);
    xc_matrix_copy(nn, s->density[t], s->last_spin[t]);
    xc_matrix_combine(nn, built->xc[t] != NULL ? 4 : 3, factors, parts, s->fock[t]);
  }
}

static void set_energies(xc_scf *s, double xc) {
  const int64_t nn = s->n * s->n;
  xc_energies *e = &s->energies;
  const double last = e->total;
  e->kinetic = xc_matrix_dot(nn, s->total, s->kinetic);
  e->attraction = xc_matrix_dot(nn, s->total, s->core) - e->kinetic;
  e->coulomb = 0.5 * xc_matrix_dot(nn, s->total, s->coulomb);
  e->exchange = 0;
  for (int t = 0; t < s->n_spin; t++)
    e->exchange -= (s->n_spin == 1 ? 1 : 0.5) * s->options.exchange *
                   xc_matrix_dot(nn, s->density[t], s->exchange[t]);
  e->xc = xc;
  e->total = e->nuclei + e->lennard_jones + e->kinetic + e->attraction + e->coulomb + e->exchange +
             e->xc + e->dispersion;
  s->change = e->total - last;
}

/* F', and error = F' D' - D' F' of all spins; its largest element. */
static tsl_err set_commutator(xc_scf *s) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n, m = s->m;
  s->commutator = 0;
  TSL_TRY(enter(s, 3, 0, 4));
  for (int t = 0; t < s->n_spin; t++) {
    double *small = s->fock_half[t], *error = s->error + t * m * m;
    TSL_TRY(xc_matrix_project(m, n, s->fock[t], s->half, s->work, small));
    TSL_TRY(xc_matrix_product(m, m, m, 1, small, false, s->density_half[t], false, error));
    TSL_TRY(xc_matrix_fetch(small));
    TSL_TRY(xc_matrix_fetch(error));
    s->commutator = fmax(s->commutator, xc_matrix_antisymmetrise(m, error));
  }
done:
  xc_matrix_leave();
  return err;
}

/* Raise the empty orbitals: F' += shift (1 - D'). */
static void shift_levels(xc_scf *s, int t, double shift) {
  const int64_t m = s->m;
  xc_matrix_add(m * m, -shift, s->density_half[t], s->fock_half[t]);
  for (int64_t k = 0; k < m; k++) s->fock_half[t][k * (m + 1)] += shift;
}

/* Occupations of the levels of spin t. @return its part of the entropy */
static double occupy(xc_scf *s, int t) {
  return (s->n_spin == 1 ? 2 : 1) * xc_occupy((xc_smearing)s->options.smearing, s->options.width,
                                              s->m, s->levels[t], s->electrons[t],
                                              s->occupations[t], &s->fermi[t]);
}

/* Occupied vectors of spin t times the roots of their occupations. @param[out] filled  how many */
static tsl_err weigh_vectors(const xc_scf *s, int t, double *vectors, int64_t *filled) {
  tsl_err err = TSL_OK;
  const double *part = s->occupations[t];
  int64_t k = 0;
  bool whole = true;
  for (; k < s->m && part[k] > 0; k++) whole = whole && part[k] == 1;
  *filled = k;
  if (whole) goto done;
  TSL_TRY(xc_matrix_fetch(vectors));
  for (k = 0; k < *filled; k++)
    for (int64_t i = 0; i < s->m && part[k] < 1; i++) vectors[k * s->m + i] *= sqrt(part[k]);
  xc_matrix_drop(vectors);
done:
  return err;
}

/* New densities of the occupied orbitals; share of the old ones kept. The error's memory, of which
 * DIIS has its copy, holds the vectors of F'. */
static tsl_err set_spin_density(xc_scf *s, int t, double keep, double shift) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n, m = s->m;
  const int64_t most = s->options.smearing == XC_SMEARING_NONE ? s->electrons[t] : m;
  double *vectors = s->error + t * m * m;
  int64_t filled = 0;
  if (shift > 0) shift_levels(s, t, shift);
  TSL_TRY(xc_matrix_eigen_lowest(m, most, s->fock_half[t], s->levels[t], vectors));
  s->entropy += occupy(s, t);
  TSL_TRY(weigh_vectors(s, t, vectors, &filled));
  TSL_TRY(xc_matrix_outer(m, filled, 1 - keep, vectors, keep, s->density_half[t]));
  TSL_TRY(xc_matrix_product(filled, n, m, 1, vectors, false, s->half, false, s->orbitals[t]));
  TSL_TRY(xc_matrix_outer(n, filled, 1 - keep, s->orbitals[t], keep, s->density[t]));
  TSL_TRY(xc_matrix_fetch(s->density_half[t]));
  TSL_TRY(xc_matrix_fetch(s->density[t]));
  if (filled > 0) TSL_TRY(xc_matrix_fetch(s->orbitals[t]));
  s->filled[t] = keep == 0 ? filled : 0;
done:
  return err;
}

static tsl_err set_density(xc_scf *s, double keep, double shift) {
  tsl_err err = TSL_OK;
  const double filled = (double)s->electrons[0] / (double)s->n;
  s->entropy = 0;
  TSL_TRY(enter(s, 3 * filled, 1, 3));
  for (int t = 0; t < s->n_spin; t++) TSL_TRY(set_spin_density(s, t, keep, shift));
done:
  xc_matrix_leave();
  return err;
}

/* Orbitals of the Fock matrix of the last density; the entropy stays that of the density. */
static tsl_err end(xc_scf *s, xc_scf_state state) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n, m = s->m;
  TSL_TRY(enter(s, 1, 1, 2));
  for (int t = 0; t < s->n_spin; t++) {
    double *vectors = s->fock_half[t];
    TSL_TRY(xc_matrix_eigen(m, vectors, s->levels[t]));
    (void)occupy(s, t);
    TSL_TRY(xc_matrix_product(m, n, m, 1, vectors, false, s->half, false, s->orbitals[t]));
    TSL_TRY(xc_matrix_fetch(s->orbitals[t]));
  }
  s->filled[0] = s->filled[1] = 0;
  s->state = state;
done:
  xc_matrix_leave();
  return err;
}

/* Share of ADIIS in the weights: all far from the end, nothing near it; all, too, where the energy
 * rises late, which early it may. Its model is of densities of orbitals, which those of damped
 * fields are not, and it knows no entropy. */
static double adiis_share(const xc_scf *s) {
  enum { LATE = 15 };
  static const double far = 0.3, near = 0.03, uphill = 1e-3; /* hartree */
  const xc_scf_options *o = &s->options;
  if (!o->adiis || o->damping > 0 || o->smearing != XC_SMEARING_NONE) return 0;
  if (s->iteration > LATE && s->change > uphill) return 1;
  return fmin(1, fmax(0, (s->commutator - near) / (far - near)));
}

static tsl_err go_on(xc_scf *s) {
  tsl_err err = TSL_OK;
  const bool far = s->commutator > s->options.damping_until;
  if (s->options.diis > 0)
    xc_diis_step(&s->diis, s->error, s->density_half[0], adiis_share(s), s->fock_half[0]);
  TSL_TRY(set_density(s, far ? s->options.damping : 0, far ? s->options.level_shift : 0));
  sum_spins(s);
  ask(s);
done:
  return err;
}

tsl_err xc_scf_step(xc_scf *scf, const xc_scf_built *built) {
  tsl_err err = TSL_OK;
  xc_scf_sum(scf, built);
  set_energies(scf, built->xc_energy);
  if (!isfinite(scf->energies.total))
    TSL_FAIL(TSL_ERR_NUMERIC, "iteration %d: the energy is %g", (int)scf->iteration + 1,
             scf->energies.total);
  TSL_TRY(set_commutator(scf));
  scf->iteration++;
  if (!scf->rough && scf->iteration > 1 && fabs(scf->change) < scf->options.energy_limit &&
      scf->commutator < scf->options.commutator_limit)
    TSL_TRY(end(scf, XC_SCF_CONVERGED));
  else if (scf->iteration >= scf->options.most_iterations)
    TSL_TRY(end(scf, XC_SCF_STOPPED));
  else
    TSL_TRY(go_on(scf));
done:
  return err;
}
