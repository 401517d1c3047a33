/* Checkpoints: the density that the next iteration is of, and what it belongs to; reproducible: all
 * that the next iterations depend on. */
#include "xc_family.h"
#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* Changes when the meaning of the marks does. */
static const double format = 1;

/* tr(D S) of a spin may differ from its electrons by this. */
static const double electrons_off = 1e-6;

/** FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *data, size_t bytes) {
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ ((const unsigned char *)data)[k]) * UINT64_C(0x100000001b3);
  return hash;
}

static uint64_t hash_of(const xc_own *own) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const xc_molecule *m = &own->molecule;
  for (int64_t k = 0; k < m->n_atoms; k++) {
    hash = add_bytes(hash, &m->atoms[k].z, sizeof m->atoms[k].z);
    hash = add_bytes(hash, m->atoms[k].at, sizeof m->atoms[k].at);
  }
  for (int64_t k = 0; k < m->n_charges; k++)
    hash = add_bytes(hash, &m->charges[k], sizeof m->charges[k]);
  for (int64_t k = 0; k < own->orbital.n_shells; k++) {
    const xc_shell *shell = &own->orbital.shells[k];
    const int32_t head[4] = {shell->atom, shell->l, shell->spherical, shell->n};
    hash = add_bytes(hash, head, sizeof head);
    hash = add_bytes(hash, shell->exponent, (size_t)shell->n * sizeof *shell->exponent);
    hash = add_bytes(hash, shell->coefficient, (size_t)shell->n * sizeof *shell->coefficient);
  }
  return hash;
}

static void set_marks(const xc_own *own, double marks[XC_N_MARKS]) {
  const xc_scf *scf = &own->scf;
  const uint64_t hash = hash_of(own);
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

int64_t xc_state_numbers(const xc_params *p, const xc_own *own) {
  const int64_t history = own->scf.options.most_iterations * (int64_t)XC_N_HISTORY;
  return p->reproducible ? xc_scf_numbers(&own->scf) + 1 + history : 0;
}

static void save_numbers(const xc_own *own, double *numbers) {
  xc_scf_save(&own->scf, numbers);
  numbers += xc_scf_numbers(&own->scf);
  numbers[0] = (double)own->n_history;
  memcpy(numbers + 1, own->history, (size_t)own->n_history * sizeof *own->history);
}

/* Densities and iterations are set. */
static tsl_err load_numbers(tsl_problem *problem, const double *numbers) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  const double lines = numbers[xc_scf_numbers(&own->scf)];
  if (!(lines >= 0 && lines <= own->scf.iteration && lines <= own->scf.options.most_iterations))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint has %g lines of history after %d of %d iterations",
             lines, (int)own->scf.iteration, (int)own->scf.options.most_iterations);
  xc_scf_load(&own->scf, numbers);
  if (own->scf.diis.n < 0 || own->scf.diis.n > own->scf.diis.room || own->scf.diis.next < 0 ||
      own->scf.diis.next >= (own->scf.diis.room > 0 ? own->scf.diis.room : 1))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint's DIIS has %d matrices, here at most %d",
             (int)own->scf.diis.n, (int)own->scf.diis.room);
  own->n_history = (int64_t)lines;
  memcpy(own->history, numbers + xc_scf_numbers(&own->scf) + 1,
         (size_t)own->n_history * sizeof *own->history);
  ((int32_t *)problem->fields[XC_IN_PRECISION].data)[0] = own->scf.rough;
  tsl_field_touch(&problem->fields[XC_IN_PRECISION]);
done:
  return err;
}

void xc_state_save(tsl_problem *problem) {
  const xc_scf *scf = &xc_own_of(problem)->scf;
  double *marks = problem->fields[XC_STATE_MARK].data;
  const int64_t nn = scf->n * scf->n;
  double *density = problem->fields[XC_STATE_DENSITY].data;
  for (int t = 0; t < scf->n_spin; t++)
    memcpy(density + t * nn, scf->density[t], (size_t)nn * sizeof *density);
  set_marks(xc_own_of(problem), marks);
  if (xc_params_of(problem)->reproducible) save_numbers(xc_own_of(problem), marks + XC_N_MARKS);
}

tsl_err xc_state_create(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  for (int f = XC_STATE_DENSITY; f <= XC_STATE_MARK; f++)
    TSL_TRY(tsl_alloc(tsl_field_count(&problem->fields[f]), sizeof(double), problem->fields[f].name,
                      &problem->fields[f].data));
  xc_state_save(problem);
done:
  return err;
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
                              "molecule, other point charges or another basis");
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

tsl_err xc_restore(tsl_problem *problem, int phase) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  const int64_t n = own->scf.n;
  const double *density = problem->fields[XC_STATE_DENSITY].data;
  const double *marks = problem->fields[XC_STATE_MARK].data;
  const double *const spins[2] = {density, density + n * n};
  TSL_TRY(check_marks(own, marks));
  for (int t = 0; t < own->scf.n_spin; t++) TSL_TRY(check_density(&own->scf, t, spins[t]));
  xc_scf_restart(&own->scf, spins, (int32_t)marks[XC_MARK_ITERATION]);
  if (xc_params_of(problem)->reproducible) TSL_TRY(load_numbers(problem, marks + XC_N_MARKS));
  own->idle = xc_params_of(problem)->fitted && phase % 2 != 0;
  TSL_TRY(xc_put_densities(problem));
done:
  return err;
}
