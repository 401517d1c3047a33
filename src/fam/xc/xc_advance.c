/* Between phases, on the root: fitting coefficients, the step of the SCF, the final fields. */
#include "xc_family.h"
#include "xc_matrix.h"

#include <string.h>

/** Keep what the first (or only) phase of an iteration has summed. */
static void keep_sums(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const tsl_field *f = problem->fields;
  const int64_t nn = p->n * p->n;
  const size_t bytes = (size_t)nn * sizeof(double);
  memcpy(own->xc, f[XC_SUM_XC].data, (size_t)p->n_spin * bytes);
  memcpy(own->integrals, f[XC_SUM_INTEGRALS].data, sizeof own->integrals);
  for (int t = 0; t < p->n_spin && p->functional.exchange != 0; t++)
    memcpy(own->exchange[t], (const double *)f[XC_SUM_EXCHANGE].data + t * nn, bytes);
}

static void solve_coefficients(tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  double *c = problem->fields[XC_IN_COEFFICIENTS].data;
  memcpy(c, problem->fields[XC_SUM_GAMMA].data, (size_t)p->n_fit * sizeof *c);
  xc_matrix_solve(p->n_fit, xc_own_of(problem)->metric, c);
}

/** Sums of batches become J and K. */
static void finish_batches(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  const xc_own *own = xc_own_of(problem);
  const bool exact = p->functional.exchange != 0;
  const xc_fock fock = {
      .basis = &own->orbital,
      .total = p->fitted ? NULL : own->scf.ask_total,
      .spin = {exact ? own->scf.ask_spin[0] : NULL, exact ? own->scf.ask_spin[1] : NULL},
      .coulomb = problem->fields[XC_SUM_COULOMB].data,
      .exchange = {own->exchange[0], own->exchange[1]}};
  xc_fock_finish(&fock);
}

static tsl_err step(tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const xc_scf_built built = {.coulomb = problem->fields[XC_SUM_COULOMB].data,
                              .exchange = {own->exchange[0], own->exchange[1]},
                              .xc = {own->xc, p->n_spin == 2 ? own->xc + p->n * p->n : NULL},
                              .xc_energy = own->integrals[XC_INTEGRAL_ENERGY]};
  return xc_scf_step(&own->scf, &built);
}

/** Memory of a final field, made here when the runtime has not. */
static tsl_err final(tsl_problem *problem, int f, double **out) {
  tsl_err err = TSL_OK;
  tsl_field *field = &problem->fields[f];
  if (field->data == NULL)
    TSL_TRY(tsl_alloc(tsl_field_count(field), sizeof(double), field->name, &field->data));
  *out = field->data;
done:
  return err;
}

static tsl_err set_results(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  const int64_t nn = scf->n * scf->n;
  double *density = NULL, *fock = NULL, *levels = NULL, *charges = NULL;
  TSL_TRY(final(problem, XC_OUT_DENSITY, &density));
  TSL_TRY(final(problem, XC_OUT_FOCK, &fock));
  TSL_TRY(final(problem, XC_OUT_LEVELS, &levels));
  TSL_TRY(final(problem, XC_OUT_CHARGES, &charges));
  for (int t = 0; t < scf->n_spin; t++) {
    memcpy(density + t * nn, scf->density[t], (size_t)nn * sizeof *density);
    memcpy(fock + t * nn, scf->fock[t], (size_t)nn * sizeof *fock);
    memcpy(levels + t * scf->m, scf->levels[t], (size_t)scf->m * sizeof *levels);
  }
  xc_scf_mulliken(scf, &own->molecule, &own->orbital, charges);
  memcpy(problem->fields[XC_SUM_XC].data, own->xc, (size_t)(scf->n_spin * nn) * sizeof *fock);
  memcpy(problem->fields[XC_SUM_INTEGRALS].data, own->integrals, sizeof own->integrals);
done:
  return err;
}

tsl_err xc_advance(tsl_problem *problem, int phase, bool *more) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  *more = true;
  if (!p->fitted || phase % 2 == 0) {
    keep_sums(problem);
    finish_batches(problem);
  }
  if (p->fitted && phase % 2 == 0) {
    solve_coefficients(problem);
    goto done;
  }
  TSL_TRY(step(problem));
  *more = own->scf.state == XC_SCF_RUNNING;
  if (*more)
    xc_put_densities(problem);
  else
    TSL_TRY(set_results(problem));
done:
  return err;
}
