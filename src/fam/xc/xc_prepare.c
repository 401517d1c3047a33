/* What the root needs before the first iteration: one-electron matrices, guess, bounds, metric. */
#include "xc_ecp_integrals.h"
#include "xc_family.h"
#include "xc_fit.h"
#include "xc_guess.h"
#include "xc_matrix.h"
#include "xc_one.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

void xc_set_charges(const xc_molecule *m, xc_charge *out) {
  xc_nuclei(m, out);
  for (int64_t k = 0; k < m->n_charges; k++) out[m->n_atoms + k] = m->charges[k];
}

tsl_err xc_all_charges(const xc_molecule *m, xc_charge **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(m->n_atoms + m->n_charges, sizeof **out, "charges", (void **)out));
  xc_set_charges(m, *out);
done:
  return err;
}

/** Atoms with spins. */
static tsl_err guess_spins(xc_own *own) {
  tsl_err err = TSL_OK;
  const int64_t n = own->orbital.n;
  own->start.n_spin = 2;
  TSL_TRY(xc_matrix_create(2 * n, n, "guess", &own->start.density));
  double *const density[2] = {own->start.density, own->start.density + n * n};
  TSL_TRY(xc_guess_atoms(&own->molecule, &own->orbital, own->spins, density, &own->unconverged));
  TSL_TRY(xc_start_begin(&own->start, &own->scf));
done:
  return err;
}

/** The first density. @param[out] work  [n][n] */
static tsl_err guess(const tsl_deck *deck, const xc_deck *s, xc_own *own, double *work) {
  tsl_err err = TSL_OK;
  bool begun = false;
  if (own->last != NULL)
    TSL_TRY(xc_last_begin(own->last, &own->molecule, &own->orbital, &own->scf, &begun));
  if (begun) goto done;
  if (own->start.density != NULL) {
    TSL_TRY(tsl_deck_blame(deck, "xc.guess.file",
                           xc_start_apply(s->guess.file, &own->orbital, &own->start, &own->scf)));
  } else if (own->spins != NULL) {
    TSL_TRY(guess_spins(own));
  } else {
    TSL_TRY(xc_guess_atoms(&own->molecule, &own->orbital, NULL, (double *const[2]){work, NULL},
                           &own->unconverged));
    TSL_TRY(xc_scf_start(&own->scf, work));
  }
done:
  xc_start_clear(&own->start);
  return err;
}

/** One-electron matrices of rows of shells. */
typedef struct one_electron {
  const xc_basis *basis;
  const xc_charge *charges;
  int64_t n_charges;
  double *overlap, *kinetic, *attraction;
} one_electron;

static tsl_err one_electron_rows(void *context, int slot, int64_t lo, int64_t hi) {
  const one_electron *o = context;
  (void)slot;
  xc_overlap_kinetic(o->basis, lo, hi, o->overlap, o->kinetic);
  xc_attraction(o->basis, o->charges, o->n_charges, lo, hi, o->attraction);
  return TSL_OK;
}

static tsl_err prepare_scf(const tsl_deck *deck, const xc_deck *s, xc_own *own,
                           const xc_params *p) {
  tsl_err err = TSL_OK;
  const xc_molecule *m = &own->molecule;
  const int64_t n = p->n;
  one_electron o = {.basis = &own->orbital, .n_charges = m->n_atoms + m->n_charges};
  xc_charge *charges = NULL;
  xc_scf_options options = xc_deck_scf(deck, s, p->gradient != 0);
  options.exchange = xc_functional_share(&p->functional);
  options.restricted = p->n_spin == 1;
  TSL_TRY(xc_matrix_create(n, n, "overlap", &o.overlap));
  TSL_TRY(xc_matrix_create(n, n, "kinetic energy", &o.kinetic));
  TSL_TRY(xc_matrix_create(n, n, "attraction", &o.attraction));
  TSL_TRY(xc_all_charges(m, &charges));
  o.charges = charges;
  TSL_TRY(tsl_parallel(p->n_shells, 1, one_electron_rows, &o));
  TSL_TRY(xc_ecp_add(m, &own->orbital.ecps, &own->orbital, o.attraction));
  TSL_TRY(
      tsl_deck_blame(deck, "xc.basis",
                     xc_scf_create(m, n, o.overlap, o.kinetic, o.attraction, &options, &own->scf)));
  own->scf.energies.lennard_jones = xc_lj_energy(&own->lennard_jones, m);
  own->scf.energies.dispersion = own->dispersion.energy;
  TSL_TRY(guess(deck, s, own, o.overlap));
done:
  TSL_FREE_ALL(o.overlap, o.kinetic, o.attraction, charges);
  return err;
}

/** A table of integrals by rows of shells, with an engine in each slot that works. */
typedef struct integral_table {
  const xc_integrals *integrals;
  const xc_basis *basis;
  xc_repulsion kind; /* quartets: bounds of pairs of shells; doubles: (P|Q) */
  double precision;
  double *out;
  xc_engine *engines[TSL_PARALLEL_MOST];
} integral_table;

static tsl_err integral_rows(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  integral_table *t = context;
  xc_engine **engine = &t->engines[slot];
  if (*engine == NULL) TSL_TRY(xc_engine_create(t->integrals, t->kind, 0, t->precision, engine));
  if (t->kind == XC_QUARTETS)
    xc_schwarz(*engine, t->basis, lo, hi, t->out);
  else
    xc_fit_metric(*engine, t->basis, lo, hi, t->out);
done:
  return err;
}

static tsl_err fill_table(integral_table *t) {
  const tsl_err err = tsl_parallel(t->basis->n_shells, 1, integral_rows, t);
  for (int slot = 0; slot < TSL_PARALLEL_MOST; slot++) xc_engine_destroy(&t->engines[slot]);
  return err;
}

static tsl_err prepare_pairs(const xc_integrals *integrals, xc_own *own, xc_params *p) {
  tsl_err err = TSL_OK;
  integral_table bounds = {.integrals = integrals,
                           .basis = &own->orbital,
                           .kind = XC_QUARTETS,
                           .precision = 0.01 * p->threshold * p->threshold};
  TSL_TRY(xc_matrix_create(p->n_shells, p->n_shells, "bounds of pairs", &bounds.out));
  TSL_TRY(fill_table(&bounds));
  TSL_TRY(xc_pairs_create(&own->orbital, bounds.out, 0.1 * p->threshold, &own->pairs));
  p->n_pairs = own->pairs.n;
  p->n_packed = own->pairs.n_packed;
done:
  tsl_free(bounds.out);
  return err;
}

static tsl_err prepare_metric(const xc_integrals *integrals, xc_own *own, const xc_params *p) {
  tsl_err err = TSL_OK;
  integral_table metric = {
      .integrals = integrals, .basis = &own->fitting, .kind = XC_DOUBLES, .precision = 1e-16};
  TSL_TRY(xc_matrix_create(p->n_fit, p->n_fit, "the fitting set", &own->metric));
  metric.out = own->metric;
  TSL_TRY(fill_table(&metric));
  TSL_TRY(xc_matrix_create(p->n_fit, 1, "bounds of the fitting set", &own->fit_bounds));
  for (int64_t f = 0; f < p->n_fit; f++) own->fit_bounds[f] = sqrt(own->metric[f * (p->n_fit + 1)]);
done:
  return err;
}

static tsl_err factor_metric(const tsl_deck *deck, xc_own *own, const xc_params *p) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_blame(deck, "xc.fitting",
                         (p->fitted_exchange ? xc_matrix_inverse_factor : xc_matrix_factor)(
                             p->n_fit, "the fitting set", own->metric)));
  if (!p->fitted_exchange) TSL_TRY(xc_matrix_hold(p->n_fit, p->n_fit, own->metric));
done:
  return err;
}

/* Orbitals of a spin that may hold electrons. */
static int64_t most_orbitals(const xc_deck *s, const xc_scf *scf) {
  if (s->smearing.kind != XC_SMEARING_NONE) return scf->m;
  return scf->electrons[0] > scf->electrons[1] ? scf->electrons[0] : scf->electrons[1];
}

/* Quartets are kept where all do: half of the memory of the ranks holds them, which are sockets. */
static void choose_quartet_cache(const tsl_problem *problem, const xc_own *own, xc_params *p) {
  const double all = xc_fock_cost(&own->orbital, &own->pairs, p->threshold, 0, own->pairs.n);
  double room = 0;
  bool sockets = true;
  for (int r = 0; r < problem->n_devices; r++) {
    const tsl_device *device = &problem->devices[r];
    sockets = sockets && device->kind == TSL_CPU;
    room += device->memory_limit > 0 ? 0.5 * (double)device->memory_limit : INFINITY;
  }
  xc_operator operators[XC_MOST_OPERATORS];
  const int n = xc_operators_of(p, operators);
  if (!sockets || n == 0 || 8 * all * n > room) p->quartet_cache = 0;
}

tsl_err xc_prepare_integrals(const tsl_deck *deck, xc_own *own, xc_params *p) {
  tsl_err err = TSL_OK;
  xc_integrals *integrals = NULL;
  TSL_TRY(tsl_deck_blame(deck, "xc.basis",
                         xc_integrals_create(&own->orbital, &own->fitting, &integrals)));
  TSL_TRY(prepare_pairs(integrals, own, p));
  if (p->fitted) TSL_TRY(prepare_metric(integrals, own, p));
done:
  xc_integrals_destroy(&integrals);
  return err;
}

tsl_err xc_prepare(const tsl_deck *deck, const xc_deck *s, const tsl_problem *problem, xc_own *own,
                   xc_params *p) {
  tsl_err err = TSL_OK;
  TSL_TRY(prepare_scf(deck, s, own, p));
  if (p->gradient && p->fitted_exchange) p->n_orbitals = most_orbitals(s, &own->scf);
  p->n_products = p->n_orbitals * (p->n_orbitals + 1) / 2;
  choose_quartet_cache(problem, own, p);
  if (p->fitted) TSL_TRY(factor_metric(deck, own, p));
  TSL_TRY(xc_matrix_create(p->n_spin * p->n, p->n, "exchange-correlation matrix", &own->xc));
  TSL_TRY(xc_matrix_create(p->n, p->n, "Coulomb matrix", &own->coulomb));
  TSL_TRY(tsl_alloc(own->scf.options.most_iterations, sizeof *own->history, "history",
                    (void **)&own->history));
  for (int t = 0; t < p->n_spin && xc_functional_exact(&p->functional); t++)
    TSL_TRY(xc_matrix_create(p->n, p->n, "exchange matrix", &own->exchange[t]));
done:
  return err;
}
