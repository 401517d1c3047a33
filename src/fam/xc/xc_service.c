/* A served job: the conversation's life, i-PI's questions, and the density that the next geometry
 * begins with. QCSchema's questions: xc_lines.c. */
#include "xc_talk.h"

#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------- i-PI */

static tsl_err read_token(const tsl_deck *deck, const xc_deck *s, char *token) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  if (s->serve.token == NULL) goto done;
  TSL_TRY(tsl_deck_path(deck, s->serve.token, &path));
  TSL_TRY(tsl_deck_blame(deck, "xc.serve.token", xc_token_read(path, token)));
done:
  tsl_free(path);
  return err;
}

static tsl_err ipi_open(xc_talk *talk, const tsl_deck *deck, const xc_deck *s,
                        const tsl_serving *how) {
  tsl_err err = TSL_OK;
  const xc_address address = {"--ipi", how->address, s->serve.remote, s->serve.wait};
  TSL_TRY(xc_load_atoms(deck, s, &talk->asked, &talk->model));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule", xc_molecule_finish("the molecule", &talk->asked)));
  (void)snprintf(talk->model.driver, sizeof talk->model.driver, "gradient");
  (void)snprintf(talk->what, sizeof talk->what, "the places");
  TSL_TRY(read_token(deck, s, talk->token));
  TSL_TRY(xc_stream_connect(&address, &talk->stream));
  TSL_TRY(xc_ipi_open(&talk->stream, talk->asked.n_atoms,
                      talk->token[0] != '\0' ? talk->token : NULL, &talk->ipi));
done:
  return err;
}

static tsl_err ipi_next(xc_talk *talk, double seconds, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_ipi_next(&talk->ipi, seconds, asked));
  for (int64_t a = 0; *asked == TSL_ASKED_PROBLEM && a < talk->asked.n_atoms; a++)
    memcpy(talk->asked.atoms[a].at, talk->ipi.places[a], sizeof talk->asked.atoms[a].at);
done:
  return err;
}

double xc_force_energy(const xc_scf *scf) {
  const bool smeared = scf->options.smearing != XC_SMEARING_NONE;
  return scf->energies.total - (smeared ? scf->options.width * scf->entropy : 0);
}

/* -sum r dE/dr of atoms and point charges: what a change of the scale does to the energy. */
static void set_virial(const xc_own *own, double virial[9]) {
  const xc_molecule *m = &own->molecule;
  memset(virial, 0, 9 * sizeof *virial);
  for (int64_t k = 0; k < m->n_atoms + m->n_charges; k++) {
    const double *at = k < m->n_atoms ? m->atoms[k].at : m->charges[k - m->n_atoms].at;
    for (int x = 0; x < 9; x++) virial[x] -= own->gradient[k][x / 3] * at[x % 3];
  }
}

static tsl_err ipi_answer(xc_talk *talk, const tsl_problem *problem, const tsl_summary *summary,
                          tsl_err failed) {
  tsl_err err = failed;
  const xc_own *own = failed == TSL_OK ? xc_own_of(problem) : NULL;
  xc_ipi *ipi = &talk->ipi;
  if (failed != TSL_OK) goto done;
  if (!summary->valid) TSL_FAIL(TSL_ERR_NUMERIC, "no forces: %s", summary->reason);
  ipi->energy = xc_force_energy(&own->scf);
  for (int64_t a = 0; a < ipi->n_atoms; a++)
    for (int x = 0; x < 3; x++) ipi->forces[a][x] = -own->gradient[a][x];
  set_virial(own, ipi->virial);
  ipi->answered = true;
done:
  return err;
}

const xc_protocol xc_protocol_ipi = {
    .open = ipi_open, .next = ipi_next, .answer = ipi_answer, .deck_molecule = true};

/* ------------------------------------------------------------------ service */

/* Files of a run of one molecule, which the next one would replace. */
static tsl_err refuse_files(const tsl_deck *deck) {
  static const char *const keys[] = {
      "xc.molden",         "xc.qcschema", "xc.cube.density", "xc.cube.spin", "xc.cube.orbitals",
      "xc.cube.potential", NULL};
  tsl_err err = TSL_OK;
  for (int k = 0; keys[k] != NULL; k++)
    if (tsl_deck_given(deck, keys[k]))
      TSL_DECK_FAIL(deck, keys[k],
                    "a file of a run of one molecule; `tesela serve` and runs of several frames "
                    "write none; remove it");
done:
  return err;
}

static tsl_err refuse_frames(const tsl_deck *deck, const xc_talk *t) {
  tsl_err err = TSL_OK;
  if (t->protocol != &xc_protocol_series && tsl_deck_given(deck, "xc.molecule.frames"))
    TSL_DECK_FAIL(deck, "xc.molecule.frames", "`tesela run` computes frames; here others ask");
done:
  return err;
}

static void service_close(void **talk) {
  xc_talk *t = *talk;
  if (t == NULL) return;
  for (int k = 0; k < XC_N_SETS; k++) xc_set_clear(&t->sets[k].set);
  xc_last_clear(&t->last);
  xc_ipi_clear(&t->ipi);
  xc_mdi_clear(&t->mdi);
  xc_lines_clear(&t->lines);
  xc_frames_clear(&t->series.frames);
  xc_molecule_clear(&t->asked);
  xc_stream_close(&t->stream);
  tsl_free(t);
  *talk = NULL;
}

static tsl_err service_open(tsl_deck *deck, const tsl_serving *how, void **out) {
  static const xc_protocol *const protocols[] = {[TSL_PROTOCOL_IPI] = &xc_protocol_ipi,
                                                 [TSL_PROTOCOL_MDI] = &xc_protocol_mdi,
                                                 [TSL_PROTOCOL_QCSCHEMA] = &xc_protocol_lines,
                                                 [TSL_PROTOCOL_SERIES] = &xc_protocol_series};
  tsl_err err = TSL_OK;
  xc_deck s = {.basis = NULL};
  xc_talk *t = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *t, "conversation", out));
  t = *out;
  t->stream = (xc_stream){.in = -1, .out = -1};
  t->protocol = protocols[how->protocol];
  TSL_TRY(tsl_deck_bind(deck, "xc", xc_keys, sizeof s, &s));
  TSL_TRY(xc_deck_check(deck, &s, t->protocol->deck_molecule));
  TSL_TRY(refuse_files(deck));
  TSL_TRY(refuse_frames(deck, t));
  TSL_TRY(t->protocol->open(t, deck, &s, how));
done:
  return err;
}

static tsl_err service_next(void *talk, double seconds, tsl_asked *asked) {
  xc_talk *t = talk;
  if (!t->again) return t->protocol->next(t, seconds, asked);
  *asked = TSL_ASKED_PROBLEM;
  return TSL_OK;
}

static tsl_err service_answer(void *talk, const tsl_problem *problem, const tsl_summary *summary,
                              tsl_err failed) {
  tsl_err err = TSL_OK;
  xc_talk *t = talk;
  const xc_own *own = xc_own_of(problem);
  const bool good = failed == TSL_OK && summary->valid;
  t->again = failed == TSL_OK && !good && t->last.n > 0; /* densities kept may lead astray */
  if (!t->again) TSL_TRY(t->protocol->answer(t, problem, summary, failed));
  if (good)
    TSL_TRY(xc_last_keep(&t->last, &own->molecule, &own->orbital, &own->scf));
  else
    xc_last_clear(&t->last);
done:
  return err;
}

const tsl_service xc_service = {.open = service_open,
                                .next = service_next,
                                .answer = service_answer,
                                .close = service_close,
                                .series = &xc_series};
