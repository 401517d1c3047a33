/* Checkpoints: the density that the next iteration is of, what it belongs to, and all that the next
 * iterations depend on: J, K and what they are of, DIIS, the history. */
#include "xc_matrix.h"
#include "xc_talk.h"

#include <math.h>
#include <string.h>

/* Changes when the meaning of the marks does. */
static const double format = 4;

/* tr(D S) of a spin may differ from its electrons by this. */
static const double electrons_off = 1e-6;

/** FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *data, size_t bytes) {
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ ((const unsigned char *)data)[k]) * UINT64_C(0x100000001b3);
  return hash;
}

/* A term of the energy, though not of the density. */
static uint64_t add_sites(uint64_t hash, const xc_lj *lj, const xc_molecule *m) {
  if (lj->sites == NULL) return hash;
  const size_t n = (size_t)(m->n_atoms + m->n_charges);
  return add_bytes(add_bytes(hash, &lj->mixing, sizeof lj->mixing), lj->sites,
                   n * sizeof *lj->sites);
}

uint64_t xc_state_hash(const xc_own *own, bool places) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const xc_molecule *m = &own->molecule;
  for (int64_t k = 0; k < m->n_atoms; k++) {
    const int32_t z[2] = {xc_signed_z(&m->atoms[k]), m->atoms[k].core};
    hash = add_bytes(hash, z, sizeof z);
    if (places) hash = add_bytes(hash, m->atoms[k].at, sizeof m->atoms[k].at);
  }
  for (int64_t k = 0; k < m->n_charges; k++)
    hash = add_bytes(hash, &m->charges[k], sizeof m->charges[k]);
  hash = add_sites(hash, &own->lennard_jones, m);
  for (int64_t k = 0; k < own->orbital.n_shells; k++) {
    const xc_shell *shell = &own->orbital.shells[k];
    const int32_t head[4] = {shell->atom, shell->l, shell->spherical, shell->n};
    hash = add_bytes(hash, head, sizeof head);
    hash = add_bytes(hash, shell->exponent, (size_t)shell->n * sizeof *shell->exponent);
    hash = add_bytes(hash, shell->coefficient, (size_t)shell->n * sizeof *shell->coefficient);
  }
  for (int64_t k = 0; k < own->orbital.ecps.n; k++)
    hash = add_bytes(hash, &own->orbital.ecps.list[k], sizeof own->orbital.ecps.list[k]);
  return hash;
}

static void set_marks(const xc_own *own, double marks[XC_N_MARKS]) {
  const xc_scf *scf = &own->scf;
  const uint64_t hash = xc_state_hash(own, true);
  marks[XC_MARK_FORMAT] = format;
  marks[XC_MARK_ITERATION] = scf->iteration;
  marks[XC_MARK_SPINS] = scf->n_spin;
  marks[XC_MARK_ALPHA] = (double)scf->electrons[0];
  marks[XC_MARK_BETA] = (double)scf->electrons[1];
  marks[XC_MARK_FUNCTIONS] = (double)scf->n;
  marks[XC_MARK_HASH] = (double)(hash >> 32);
  marks[XC_MARK_HASH + 1] = (double)(hash & UINT32_MAX);
}

/* ------------------------------------------------------- the field and history */

/* Numbers behind the marks: the field's own, the lines of history, and these. */
static int64_t numbers_of(const xc_own *own, int64_t lines) {
  return xc_scf_numbers(&own->scf) + 1 + lines * (int64_t)XC_N_HISTORY;
}

int64_t xc_state_numbers(const xc_own *own) {
  return numbers_of(own, own->scf.options.most_iterations);
}

static void save_numbers(const xc_own *own, bool whole, double *numbers) {
  xc_scf_save(&own->scf, whole, numbers);
  numbers += xc_scf_numbers(&own->scf);
  numbers[0] = (double)own->n_history;
  memcpy(numbers + 1, own->history, (size_t)own->n_history * sizeof *own->history);
}

void xc_state_save(tsl_problem *problem, bool whole) {
  const xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  tsl_field *mark = &problem->fields[XC_STATE_MARK];
  const int64_t nn = scf->n * scf->n;
  double *density = problem->fields[XC_STATE_DENSITY].data;
  for (int t = 0; t < scf->n_spin; t++) xc_matrix_copy(nn, scf->density[t], density + t * nn);
  set_marks(own, mark->data);
  save_numbers(own, whole, (double *)mark->data + XC_N_MARKS);
  mark->shape[0] = XC_N_MARKS + numbers_of(own, own->n_history);
}

/* Memory of the longest that the field of marks can be. */
static tsl_err take_memory(tsl_problem *problem) {
  tsl_field *mark = &problem->fields[XC_STATE_MARK];
  tsl_free(mark->data);
  mark->data = NULL;
  mark->shape[0] = XC_N_MARKS + xc_state_numbers(xc_own_of(problem));
  return tsl_alloc(mark->shape[0], sizeof(double), mark->name, &mark->data);
}

tsl_err xc_state_create(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_field_allocate(&problem->fields[XC_STATE_DENSITY]));
  TSL_TRY(take_memory(problem));
  xc_state_save(problem, true);
done:
  return err;
}

int32_t xc_state_phase(const tsl_problem *problem) {
  const double *marks = problem->fields[XC_STATE_MARK].data;
  return (int32_t)marks[XC_MARK_ITERATION] * xc_phases(xc_params_of(problem));
}

/* ------------------------------------------------------------------ restart */

static tsl_err check_marks(const xc_own *own, const double saved[XC_N_MARKS]) {
  tsl_err err = TSL_OK;
  static const char *const names[XC_N_MARKS] = {
      "format", "iteration", "kinds of spins", "alpha electrons", "beta electrons", "functions"};
  double now[XC_N_MARKS];
  set_marks(own, now);
  for (int k = 0; k < XC_MARK_HASH; k++)
    if (k != XC_MARK_ITERATION && saved[k] != now[k])
      TSL_FAIL(TSL_ERR_INPUT, "the density of the checkpoint does not fit: its %s: %g, here %g",
               names[k], saved[k], now[k]);
  for (int k = XC_MARK_HASH; k < XC_N_MARKS; k++)
    if (saved[k] != now[k])
      TSL_FAIL(TSL_ERR_INPUT, "the density of the checkpoint does not fit: it is of another "
                              "molecule, other point charges, other Lennard-Jones parameters or "
                              "another basis");
  if (!(saved[XC_MARK_ITERATION] >= 0 && saved[XC_MARK_ITERATION] < INT32_MAX))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint is of iteration %g", saved[XC_MARK_ITERATION]);
done:
  return err;
}

static tsl_err check_density(const xc_scf *scf, int t, const double *density) {
  tsl_err err = TSL_OK;
  const double found = xc_matrix_dot(scf->n * scf->n, density, scf->overlap);
  if (!(fabs(found - (double)scf->electrons[t]) < electrons_off))
    TSL_FAIL(TSL_ERR_INPUT,
             "the density of the checkpoint holds %.6f electrons of spin %d where there are %lld",
             found, t, (long long)scf->electrons[t]);
done:
  return err;
}

/* Is the field as long as its own numbers say? */
static tsl_err check_length(const xc_own *own, const tsl_field *mark) {
  tsl_err err = TSL_OK;
  const double *marks = mark->data;
  const int64_t least = XC_N_MARKS + numbers_of(own, 0);
  const int32_t most = own->scf.options.most_iterations;
  if (mark->shape[0] < least)
    TSL_FAIL(TSL_ERR_INPUT, "the state of the checkpoint has %lld numbers where at least %lld are",
             (long long)mark->shape[0], (long long)least);
  const double lines = marks[least - 1], done = marks[XC_MARK_ITERATION];
  if (done >= most)
    TSL_FAIL(TSL_ERR_INPUT,
             "xc.scf.iterations is %d, and %.0f are done in the checkpoint; ask for more",
             (int)most, done);
  if (!(lines >= 0 && lines <= done) || lines != floor(lines) ||
      mark->shape[0] != least + (int64_t)lines * XC_N_HISTORY)
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint has %g lines of history after %g iterations", lines,
             done);
done:
  return err;
}

/* Densities and iterations are set. */
static tsl_err load_numbers(tsl_problem *problem, const double *numbers) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  tsl_field *precision = &problem->fields[XC_IN_PRECISION];
  TSL_TRY(xc_scf_load(&own->scf, numbers));
  numbers += xc_scf_numbers(&own->scf);
  own->n_history = (int64_t)numbers[0];
  memcpy(own->history, numbers + 1, (size_t)own->n_history * sizeof *own->history);
  ((int32_t *)precision->data)[0] = own->scf.rough;
  tsl_field_touch(precision);
done:
  return err;
}

tsl_err xc_restore(tsl_problem *problem, int phase) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  if (own == NULL) return xc_series_restore(xc_talk_of(problem), problem); /* of a whole series */
  const int64_t n = own->scf.n;
  const double *density = problem->fields[XC_STATE_DENSITY].data;
  tsl_field *mark = &problem->fields[XC_STATE_MARK];
  const double *marks = mark->data;
  const double *const spins[2] = {density, density + n * n};
  if (mark->shape[0] < XC_N_MARKS)
    TSL_FAIL(TSL_ERR_INPUT, "the state of the checkpoint has %lld numbers",
             (long long)mark->shape[0]);
  TSL_TRY(check_marks(own, marks));
  TSL_TRY(check_length(own, mark));
  for (int t = 0; t < own->scf.n_spin; t++) TSL_TRY(check_density(&own->scf, t, spins[t]));
  TSL_TRY(xc_scf_restart(&own->scf, spins, (int32_t)marks[XC_MARK_ITERATION]));
  TSL_TRY(load_numbers(problem, marks + XC_N_MARKS));
  own->idle = phase % xc_phases(xc_params_of(problem)) != 0;
  TSL_TRY(take_memory(problem));
  xc_state_save(problem, true);
  TSL_TRY(xc_put_densities(problem));
done:
  return err;
}
