/* Between phases, on the root: fitting coefficients, the step of the SCF, the final fields. */
#include "xc_family.h"
#include "xc_fixed.h"
#include "xc_matrix.h"
#include "xc_nonlocal.h"
#include "xc_one.h"

#include "parallel.h"

#include <string.h>

/** The exchange-correlation matrices of this iteration. */
static double *xc_matrices(xc_own *own) {
  return own->stability.running ? own->stability.xc : own->xc;
}

/** Keep what the first (or only) phase of an iteration has summed. */
static void keep_sums(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const int64_t nn = p->n * p->n;
  xc_fixed_take(problem, XC_FIXED_XC, XC_SUM_XC, 0, p->n_spin * nn, xc_matrices(own));
  if (!own->stability.running)
    xc_fixed_take(problem, XC_FIXED_INTEGRALS, XC_SUM_INTEGRALS, 0, XC_N_INTEGRALS, own->integrals);
  for (int t = 0; t < p->n_spin && xc_functional_exact(&p->functional); t++)
    xc_fixed_take(problem, XC_FIXED_EXCHANGE, XC_SUM_EXCHANGE, t * nn, nn, own->exchange[t]);
}

static tsl_err solve_coefficients(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  double *c = problem->fields[XC_IN_COEFFICIENTS].data;
  memcpy(c, problem->fields[XC_SUM_GAMMA].data, (size_t)p->n_fit * sizeof *c);
  TSL_TRY(xc_matrix_solve(p->n_fit, xc_own_of(problem)->metric, c));
  tsl_field_touch(&problem->fields[XC_IN_COEFFICIENTS]);
  TSL_TRY(xc_fixed_choose(problem));
done:
  return err;
}

/** What the second phase of an iteration needs of the first. */
static tsl_err between_phases(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  if (xc_params_of(problem)->fitted) TSL_TRY(solve_coefficients(problem));
  TSL_TRY(xc_nonlocal_sites(problem));
done:
  return err;
}

/** Sums of batches become J and K. */
static void finish_batches(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  const xc_own *own = xc_own_of(problem);
  const bool exact = xc_functional_exact(&p->functional) && !p->fitted_exchange;
  const xc_fock fock = {
      .basis = &own->orbital,
      .total = p->fitted ? NULL : own->scf.ask_total,
      .spin = {exact ? own->scf.ask_spin[0] : NULL, exact ? own->scf.ask_spin[1] : NULL},
      .coulomb = own->coulomb,
      .exchange = {own->exchange[0], own->exchange[1]}};
  xc_fock_finish(&fock);
}

static xc_scf_built built_of(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const double *xc = xc_matrices(own);
  return (xc_scf_built){.coulomb = own->coulomb,
                        .exchange = {own->exchange[0], own->exchange[1]},
                        .xc = {xc, p->n_spin == 2 ? xc + p->n * p->n : NULL},
                        .xc_energy = own->integrals[XC_INTEGRAL_ENERGY]};
}

/** One line of the history, which has room for the most iterations. */
static void note(xc_own *own) {
  const xc_scf *scf = &own->scf;
  double *line = own->history[own->n_history++];
  line[0] = scf->iteration;
  line[1] = scf->energies.total;
  line[2] = scf->change;
  line[3] = scf->commutator;
}

/** Memory of a final field, made here when the runtime has not. */
static tsl_err final(tsl_problem *problem, int f, double **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_field_allocate(&problem->fields[f]));
  *out = problem->fields[f].data;
done:
  return err;
}

typedef struct dipoles {
  const xc_basis *basis;
  double *moments[3];
} dipoles;

static tsl_err dipole_rows(void *context, int slot, int64_t lo, int64_t hi) {
  static const double origin[3];
  const dipoles *d = context;
  (void)slot;
  xc_dipole(d->basis, origin, lo, hi, d->moments);
  return TSL_OK;
}

static tsl_err set_dipole(xc_own *own) {
  tsl_err err = TSL_OK;
  const int64_t n = own->orbital.n;
  dipoles d = {.basis = &own->orbital};
  for (int x = 0; x < 3; x++) TSL_TRY(xc_matrix_create(n, n, "dipole moments", &d.moments[x]));
  TSL_TRY(tsl_parallel(own->orbital.n_shells, 1, dipole_rows, &d));
  xc_scf_dipole(&own->scf, &own->molecule, (const double *const *)d.moments, own->dipole);
done:
  for (int x = 0; x < 3; x++) tsl_free(d.moments[x]);
  return err;
}

static tsl_err set_sizes(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tsl_field *field = &problem->fields[XC_OUT_SIZES];
  const xc_groups *groups = &xc_own_of(problem)->groups; /* all */
  TSL_TRY(tsl_field_allocate(field));
  int64_t(*sizes)[2] = field->data;
  for (int64_t g = 0; g < groups->n; g++)
    sizes[g][0] = groups->list[g].n, sizes[g][1] = groups->list[g].functions;
done:
  return err;
}

/** What the matrices are of, so that the output speaks for itself. */
static tsl_err set_molecule(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  double *atoms = NULL, *basis = NULL;
  TSL_TRY(final(problem, XC_OUT_ATOMS, &atoms));
  TSL_TRY(final(problem, XC_OUT_BASIS, &basis));
  for (int64_t a = 0; a < own->molecule.n_atoms; a++, atoms += XC_N_ATOM_COLUMNS) {
    atoms[0] = xc_signed_z(&own->molecule.atoms[a]);
    memcpy(atoms + 1, own->molecule.atoms[a].at, sizeof own->molecule.atoms[a].at);
    atoms[4] = own->molecule.atoms[a].core;
  }
  for (int64_t k = 0; k < own->orbital.n_shells; k++)
    for (int p = 0; p < own->orbital.shells[k].n; p++, basis += XC_N_BASIS_COLUMNS)
      xc_basis_row(&own->orbital.shells[k], k, p, basis);
done:
  return err;
}

static tsl_err set_hirshfeld(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  double *charges = NULL;
  if (own->hirshfeld == NULL) goto done;
  TSL_TRY(final(problem, XC_OUT_HIRSHFELD, &charges));
  memcpy(charges, own->hirshfeld, (size_t)own->molecule.n_atoms * sizeof *charges);
done:
  return err;
}

static tsl_err set_history(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  double *history = NULL;
  TSL_TRY(final(problem, XC_OUT_HISTORY, &history));
  memcpy(history, own->history, (size_t)own->n_history * sizeof *own->history);
  problem->fields[XC_OUT_HISTORY].shape[0] = own->n_history;
done:
  return err;
}

/** What the runtime has summed last goes; the whole gradient, and none of a field that stopped. */
static tsl_err set_gradient(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  const int64_t atoms = own->molecule.n_atoms, charges = own->molecule.n_charges;
  double *on_charges = NULL;
  if (!own->gradient_done) {
    problem->fields[XC_SUM_GRADIENT].hidden = problem->fields[XC_OUT_ON_CHARGES].hidden = 1;
    goto done;
  }
  TSL_TRY(final(problem, XC_OUT_ON_CHARGES, &on_charges));
  memcpy(problem->fields[XC_SUM_GRADIENT].data, own->gradient, (size_t)atoms * 3 * sizeof(double));
  if (charges > 0)
    memcpy(on_charges, own->gradient + atoms, (size_t)charges * 3 * sizeof *on_charges);
done:
  return err;
}

static tsl_err set_results(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  const int64_t nn = scf->n * scf->n;
  double *density = NULL, *fock = NULL, *levels = NULL, *charges = NULL, *orbitals = NULL,
         *overlap = NULL, *occupations = NULL;
  TSL_TRY(final(problem, XC_OUT_DENSITY, &density));
  TSL_TRY(final(problem, XC_OUT_FOCK, &fock));
  TSL_TRY(final(problem, XC_OUT_LEVELS, &levels));
  TSL_TRY(final(problem, XC_OUT_OCCUPATIONS, &occupations));
  TSL_TRY(final(problem, XC_OUT_CHARGES, &charges));
  TSL_TRY(final(problem, XC_OUT_ORBITALS, &orbitals));
  TSL_TRY(final(problem, XC_OUT_OVERLAP, &overlap));
  for (int t = 0; t < scf->n_spin; t++) {
    memcpy(density + t * nn, scf->density[t], (size_t)nn * sizeof *density);
    memcpy(fock + t * nn, scf->fock[t], (size_t)nn * sizeof *fock);
    memcpy(levels + t * scf->m, scf->levels[t], (size_t)scf->m * sizeof *levels);
    memcpy(occupations + t * scf->m, scf->occupations[t], (size_t)scf->m * sizeof *occupations);
    memcpy(orbitals + t * scf->m * scf->n, scf->orbitals[t],
           (size_t)(scf->m * scf->n) * sizeof *orbitals);
  }
  memcpy(overlap, scf->overlap, (size_t)nn * sizeof *overlap);
  TSL_TRY(set_sizes(problem));
  TSL_TRY(set_molecule(problem));
  TSL_TRY(set_history(problem));
  TSL_TRY(set_dipole(xc_own_of(problem)));
  xc_scf_mulliken(scf, &own->molecule, &own->orbital, charges);
  TSL_TRY(set_hirshfeld(problem));
  problem->fields[XC_SUM_XC].type = problem->fields[XC_SUM_INTEGRALS].type = TSL_F64;
  memcpy(problem->fields[XC_SUM_XC].data, own->xc, (size_t)(scf->n_spin * nn) * sizeof *fock);
  memcpy(problem->fields[XC_SUM_INTEGRALS].data, own->integrals, sizeof own->integrals);
  TSL_TRY(set_gradient(problem));
done:
  return err;
}

/** Nothing is left of the field and its gradient; what follows is at points of space. */
static tsl_err end(tsl_problem *problem, bool *more) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_points_begin(problem, more));
  if (!*more) TSL_TRY(set_results(problem));
done:
  return err;
}

static tsl_err advance_points(tsl_problem *problem, bool *more) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_points_advance(problem, more));
  if (!*more) TSL_TRY(set_results(problem));
done:
  return err;
}

/** Near the end all is to be in double; the energy's change then needs two such iterations. */
static void set_precision(tsl_problem *problem) {
  static const double limit = 1e-3; /* hartree; float makes errors of 1e-5 */
  xc_scf *scf = &xc_own_of(problem)->scf;
  tsl_field *field = &problem->fields[XC_IN_PRECISION];
  const double last = 10 * scf->options.commutator_limit;
  if (!scf->rough || scf->commutator > (last > limit ? last : limit)) return;
  scf->rough = 0;
  *(int32_t *)field->data = 0;
  tsl_field_touch(field);
}

/** After a phase of the gradient. */
static tsl_err advance_gradient(tsl_problem *problem, int phase, bool *more) {
  tsl_err err = TSL_OK;
  const int phases = xc_phases(xc_params_of(problem));
  *more = true;
  if (xc_task_of(problem) == XC_TASK_PRODUCTS) {
    TSL_TRY(xc_gradient_solve(problem));
    goto done;
  }
  xc_gradient_take(problem);
  if (phase % phases != phases - 1) {
    TSL_TRY(between_phases(problem));
    goto done;
  }
  TSL_TRY(xc_gradient_finish(problem));
  TSL_TRY(end(problem, more));
done:
  return err;
}

/** The field has ended. In checkpoints the state stays that before the last iteration, which a
 * restart
 *  repeats, and from which more iterations may go on. */
static tsl_err leave_field(tsl_problem *problem, bool *more) {
  const bool gradient = xc_params_of(problem)->gradient != 0;
  *more = gradient && xc_own_of(problem)->scf.state == XC_SCF_CONVERGED;
  return *more ? xc_gradient_begin(problem) : end(problem, more);
}

/** It goes on. @param[in] anew  with other densities than those of its last step */
static tsl_err go_on(tsl_problem *problem, bool anew) {
  xc_state_save(problem, anew);
  return xc_put_densities(problem);
}

/** After an iteration of the field. */
static tsl_err advance_field(tsl_problem *problem, const xc_scf_built *built, bool *more) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  xc_scf *scf = &own->scf;
  TSL_TRY(xc_scf_step(scf, built));
  note(own);
  set_precision(problem);
  if (scf->state == XC_SCF_RUNNING) {
    TSL_TRY(go_on(problem, false));
    goto done;
  }
  if (scf->state == XC_SCF_CONVERGED && scf->options.stability != XC_STABILITY_NONE)
    TSL_TRY(xc_stability_begin(scf, &own->stability));
  TSL_TRY(own->stability.running ? xc_put_densities(problem) : leave_field(problem, more));
done:
  return err;
}

/** After a product of the second derivatives. */
static tsl_err advance_stability(tsl_problem *problem, const xc_scf_built *built, bool *more) {
  tsl_err err = TSL_OK;
  enum { MOST_FOLLOWS = 5 };
  xc_own *own = xc_own_of(problem);
  xc_stability *s = &own->stability;
  TSL_TRY(xc_stability_step(&own->scf, built, s));
  if (s->running) {
    TSL_TRY(xc_put_densities(problem));
  } else if (own->scf.options.stability == XC_STABILITY_FOLLOW && xc_stability_unstable(s) &&
             s->follows < MOST_FOLLOWS) {
    TSL_TRY(xc_stability_follow(&own->scf, s));
    TSL_TRY(go_on(problem, true));
  } else {
    TSL_TRY(leave_field(problem, more));
  }
done:
  return err;
}

tsl_err xc_advance(tsl_problem *problem, int phase, bool *more) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const int phases = xc_phases(p);
  *more = true;
  if (own->idle) {
    own->idle = false;
    goto done;
  }
  xc_root_algebra(p);
  TSL_TRY(xc_fixed_check(problem));
  if (!xc_has_sums(problem)) return advance_points(problem, more);
  if (own->gradient_begun) return advance_gradient(problem, phase, more);
  const bool first = phase % phases == 0, last = phase % phases == phases - 1;
  if (p->fitted ? last : first)
    xc_fixed_take(problem, XC_FIXED_COULOMB, XC_SUM_COULOMB, 0, p->n * p->n, own->coulomb);
  if (first) {
    keep_sums(problem);
    finish_batches(problem);
  }
  if (!last) {
    TSL_TRY(between_phases(problem));
    goto done;
  }
  TSL_TRY(xc_nonlocal_add(problem, xc_matrices(own)));
  const xc_scf_built built = built_of(problem);
  TSL_TRY(own->stability.running ? advance_stability(problem, &built, more)
                                 : advance_field(problem, &built, more));
done:
  return err;
}
