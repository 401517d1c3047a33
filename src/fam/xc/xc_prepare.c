/* What the root needs before the first iteration: one-electron matrices, guess, bounds, metric. */
#include "xc_family.h"
#include "xc_fit.h"
#include "xc_guess.h"
#include "xc_matrix.h"
#include "xc_one.h"

#include <math.h>
#include <string.h>

/** Nuclei and point charges together. */
static tsl_err all_charges(const xc_molecule *m, xc_charge **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(m->n_atoms + m->n_charges, sizeof **out, "charges", (void **)out));
  xc_nuclei(m, *out);
  for (int64_t k = 0; k < m->n_charges; k++) (*out)[m->n_atoms + k] = m->charges[k];
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
  if (s->guess.file != NULL) {
    TSL_TRY(tsl_deck_blame(deck, "xc.guess.file",
                           xc_start_apply(s->guess.file, &own->orbital, &own->start, &own->scf)));
  } else if (own->spins != NULL) {
    TSL_TRY(guess_spins(own));
  } else {
    TSL_TRY(xc_guess_atoms(&own->molecule, &own->orbital, NULL, (double *const[2]){work, NULL},
                           &own->unconverged));
    xc_scf_start(&own->scf, work);
  }
  xc_start_clear(&own->start);
done:
  return err;
}

static tsl_err prepare_scf(const tsl_deck *deck, const xc_deck *s, xc_own *own,
                           const xc_params *p) {
  tsl_err err = TSL_OK;
  const xc_molecule *m = &own->molecule;
  const int64_t n = p->n, shells = p->n_shells;
  double *overlap = NULL, *kinetic = NULL, *attraction = NULL;
  xc_charge *charges = NULL;
  xc_scf_options options = xc_deck_scf(s);
  options.exchange = p->functional.exchange;
  options.restricted = p->n_spin == 1;
  TSL_TRY(xc_matrix_create(n, n, "overlap", &overlap));
  TSL_TRY(xc_matrix_create(n, n, "kinetic energy", &kinetic));
  TSL_TRY(xc_matrix_create(n, n, "attraction", &attraction));
  TSL_TRY(all_charges(m, &charges));
  xc_overlap_kinetic(&own->orbital, 0, shells, overlap, kinetic);
  xc_attraction(&own->orbital, charges, m->n_atoms + m->n_charges, 0, shells, attraction);
  TSL_TRY(tsl_deck_blame(deck, "xc.basis",
                         xc_scf_create(m, n, overlap, kinetic, attraction, &options, &own->scf)));
  TSL_TRY(guess(deck, s, own, overlap));
done:
  TSL_FREE_ALL(overlap, kinetic, attraction, charges);
  return err;
}

static tsl_err prepare_pairs(xc_integrals *integrals, xc_own *own, xc_params *p) {
  tsl_err err = TSL_OK;
  double *bounds = NULL;
  xc_engine *engine = NULL;
  TSL_TRY(xc_matrix_create(p->n_shells, p->n_shells, "bounds of pairs", &bounds));
  TSL_TRY(xc_engine_create(integrals, XC_QUARTETS, 0.01 * p->threshold * p->threshold, &engine));
  xc_schwarz(engine, &own->orbital, 0, p->n_shells, bounds);
  TSL_TRY(xc_pairs_create(&own->orbital, bounds, 0.1 * p->threshold, &own->pairs));
  p->n_pairs = own->pairs.n;
  p->n_packed = own->pairs.n_packed;
done:
  xc_engine_destroy(&engine);
  tsl_free(bounds);
  return err;
}

static tsl_err prepare_metric(const tsl_deck *deck, xc_integrals *integrals, xc_own *own,
                              const xc_params *p) {
  tsl_err err = TSL_OK;
  xc_engine *engine = NULL;
  TSL_TRY(xc_matrix_create(p->n_fit, p->n_fit, "the fitting set", &own->metric));
  TSL_TRY(xc_engine_create(integrals, XC_DOUBLES, 1e-16, &engine));
  xc_fit_metric(engine, &own->fitting, 0, p->n_fit_shells, own->metric);
  TSL_TRY(xc_matrix_create(p->n_fit, 1, "bounds of the fitting set", &own->fit_bounds));
  for (int64_t f = 0; f < p->n_fit; f++) own->fit_bounds[f] = sqrt(own->metric[f * (p->n_fit + 1)]);
  TSL_TRY(tsl_deck_blame(deck, "xc.fitting",
                         xc_matrix_factor(p->n_fit, "the fitting set", own->metric)));
done:
  xc_engine_destroy(&engine);
  return err;
}

tsl_err xc_prepare(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p) {
  tsl_err err = TSL_OK;
  xc_integrals *integrals = NULL;
  TSL_TRY(prepare_scf(deck, s, own, p));
  TSL_TRY(tsl_deck_blame(deck, "xc.basis",
                         xc_integrals_create(&own->orbital, &own->fitting, &integrals)));
  TSL_TRY(prepare_pairs(integrals, own, p));
  if (p->fitted) TSL_TRY(prepare_metric(deck, integrals, own, p));
  TSL_TRY(xc_matrix_create(p->n_spin * p->n, p->n, "exchange-correlation matrix", &own->xc));
  TSL_TRY(xc_matrix_create(p->n, p->n, "Coulomb matrix", &own->coulomb));
  TSL_TRY(tsl_alloc(own->scf.options.most_iterations, sizeof *own->history, "history",
                    (void **)&own->history));
  for (int t = 0; t < p->n_spin && p->functional.exchange != 0; t++)
    TSL_TRY(xc_matrix_create(p->n, p->n, "exchange matrix", &own->exchange[t]));
done:
  xc_integrals_destroy(&integrals);
  return err;
}
