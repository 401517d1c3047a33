/* A served job as an engine of MDI: the deck's molecule, where the driver says it is, and the
 * charges that it puts around it. */
#include "xc_talk.h"

#include <stdio.h>
#include <string.h>

static tsl_err engine_open(xc_talk *talk, const tsl_deck *deck, const xc_deck *s,
                           const tsl_serving *how) {
  tsl_err err = TSL_OK;
  xc_molecule *m = &talk->asked;
  const xc_address address = {.option = "--mdi", .text = how->address, .wait = s->serve.wait};
  int32_t *elements = NULL;
  double(*places)[3] = NULL;
  if (s->serve.token != NULL)
    TSL_DECK_FAIL(deck, "xc.serve.token",
                  "a driver of MDI cannot send one; remove it, and take a tunnel, ssh -L, to "
                  "another host");
  TSL_TRY(xc_load_atoms(deck, s, m, &talk->model));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule", xc_molecule_finish("the molecule", m)));
  (void)snprintf(talk->model.driver, sizeof talk->model.driver, "gradient");
  (void)snprintf(talk->what, sizeof talk->what, "the driver");
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *elements, "elements", (void **)&elements));
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *places, "places", (void **)&places));
  for (int64_t a = 0; a < m->n_atoms; a++) {
    elements[a] = xc_nuclear(&m->atoms[a]);
    memcpy(places[a], m->atoms[a].at, sizeof places[a]);
  }
  TSL_TRY(xc_stream_connect(&address, &talk->stream));
  TSL_TRY(xc_mdi_open(&talk->stream, m->n_atoms, elements, (const double(*)[3])places, &talk->mdi));
  talk->mdi.charge = m->charge, talk->mdi.multiplicity = m->multiplicity;
done:
  TSL_FREE_ALL(elements, places);
  return err;
}

/* The question: places, and the charges of the lattice. */
static tsl_err take_question(xc_talk *talk) {
  tsl_err err = TSL_OK;
  const xc_mdi *mdi = &talk->mdi;
  xc_molecule *m = &talk->asked;
  for (int64_t a = 0; a < m->n_atoms; a++)
    memcpy(m->atoms[a].at, mdi->places + 3 * a, sizeof m->atoms[a].at);
  tsl_free(m->charges);
  m->charges = NULL, m->n_charges = 0;
  if (mdi->n_lattice == 0) goto done;
  TSL_TRY(tsl_alloc(mdi->n_lattice, sizeof *m->charges, "lattice", (void **)&m->charges));
  m->n_charges = mdi->n_lattice;
  for (int64_t k = 0; k < m->n_charges; k++) {
    memcpy(m->charges[k].at, mdi->lattice_places + 3 * k, sizeof m->charges[k].at);
    m->charges[k].q = mdi->lattice_charges[k];
  }
done:
  return err;
}

static tsl_err engine_next(xc_talk *talk, double seconds, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_mdi_next(&talk->mdi, seconds, asked));
  if (*asked == TSL_ASKED_PROBLEM) TSL_TRY(take_question(talk));
done:
  return err;
}

static tsl_err engine_answer(xc_talk *talk, const tsl_problem *problem, const tsl_summary *summary,
                             tsl_err failed) {
  xc_mdi *mdi = &talk->mdi;
  if (failed != TSL_OK || !summary->valid) return xc_mdi_fail(mdi);
  const xc_own *own = xc_own_of(problem);
  const int64_t n = mdi->n_atoms;
  mdi->energy = xc_force_energy(&own->scf);
  for (int64_t a = 0; a < n + mdi->n_lattice; a++)
    for (int x = 0; x < 3; x++)
      (a < n ? mdi->forces + 3 * a : mdi->lattice_forces + 3 * (a - n))[x] = -own->gradient[a][x];
  memcpy(mdi->charges, problem->fields[XC_OUT_CHARGES].data,
         (size_t)mdi->n_atoms * sizeof *mdi->charges);
  return xc_mdi_answer(mdi);
}

const xc_protocol xc_protocol_mdi = {
    .open = engine_open, .next = engine_next, .answer = engine_answer, .deck_molecule = true};
