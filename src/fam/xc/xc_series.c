/* A series: frames of a file in turn, each from the densities of those before, and the fields of
 * them all. */
#include "xc_talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- fields */

typedef struct about {
  const char *name, *unit, *quantity, *doc;
  int32_t type, scaled; /* scaled: by the number of the frame */
} about;

static const about abouts[XC_N_SERIES] = {
    [XC_SERIES_FRAMES] = {"frames", "1", "frame", "Number of each frame in its file, from 1.",
                          TSL_I64, 0},
    [XC_SERIES_NUMBERS] = {"atomic_numbers", "1", "",
                           "Atomic number of each atom; negative: a ghost.", TSL_I64, 0},
    [XC_SERIES_PLACES] = {"coordinates", "bohr", "", "Places x y z of the atoms in each frame.",
                          TSL_F64, 1},
    [XC_SERIES_COMPUTED] = {"computed", "1", "", "1: the frame has been computed.", TSL_U8, 1},
    [XC_SERIES_CONVERGED] = {"converged", "1", "", "1: the frame's field has converged.", TSL_U8,
                             1},
    [XC_SERIES_ITERATIONS] = {"iterations", "1", "", "Iterations of each frame.", TSL_I64, 1},
    [XC_SERIES_ENERGIES] = {"energies", "hartree", "total energy", "Total energy of each frame.",
                            TSL_F64, 1},
    [XC_SERIES_FREE] = {"free_energies", "hartree", "free energy",
                        "Energy less width times entropy.", TSL_F64, 1},
    [XC_SERIES_COMMUTATORS] = {"commutators", "hartree", "", "Commutator at the end of each frame.",
                               TSL_F64, 1},
    [XC_SERIES_DIPOLES] = {"dipoles", "e bohr", "", "Dipole moment of each frame about the origin.",
                           TSL_F64, 1},
    [XC_SERIES_CHARGES] = {"mulliken_charges", "e", "", "Mulliken's charges of the atoms.", TSL_F64,
                           1},
    [XC_SERIES_SHARES] = {"hirshfeld_charges", "e", "", "Hirshfeld's charges of the atoms.",
                          TSL_F64, 1},
    [XC_SERIES_GRADIENTS] =
        {"gradients", "hartree/bohr", "",
         "Derivatives of the energy (smeared: the free energy) with respect to the places "
         "x y z of the atoms; of a field that has not converged 0.",
         TSL_F64, 1},
    [XC_SERIES_ON_CHARGES] = {"charge_gradients", "hartree/bohr", "",
                              "Likewise with respect to the places of the point charges.", TSL_F64,
                              1},
    [XC_SERIES_MARK] = {"mark", "1", "", "Of basis, point charges and Lennard-Jones parameters.",
                        TSL_U64, 0},
};

static tsl_err count_charges(const tsl_deck *deck, const xc_deck *s, int64_t *n) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  xc_molecule around = {.n_atoms = 0};
  if (s->molecule.charges == NULL) goto done;
  TSL_TRY(tsl_deck_path(deck, s->molecule.charges, &path));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule.charges", xc_molecule_read_charges(path, &around)));
  *n = around.n_charges;
done:
  xc_molecule_clear(&around);
  tsl_free(path);
  return err;
}

/* Rank and shape of a field; hidden where nobody asked for it. */
static void set_shape(const xc_frame_series *o, int k, tsl_field *field) {
  const xc_frames *f = &o->frames;
  const int64_t all[XC_N_SERIES][3] = {
      [XC_SERIES_FRAMES] = {f->n, 0, 0},
      [XC_SERIES_NUMBERS] = {f->n_atoms, 0, 0},
      [XC_SERIES_PLACES] = {f->n, f->n_atoms, 3},
      [XC_SERIES_COMPUTED] = {f->n, 0, 0},
      [XC_SERIES_CONVERGED] = {f->n, 0, 0},
      [XC_SERIES_ITERATIONS] = {f->n, 0, 0},
      [XC_SERIES_ENERGIES] = {f->n, 0, 0},
      [XC_SERIES_FREE] = {o->smeared ? f->n : 0, 0, 0},
      [XC_SERIES_COMMUTATORS] = {f->n, 0, 0},
      [XC_SERIES_DIPOLES] = {f->n, 3, 0},
      [XC_SERIES_CHARGES] = {f->n, f->n_atoms, 0},
      [XC_SERIES_SHARES] = {o->shares ? f->n : 0, f->n_atoms, 0},
      [XC_SERIES_GRADIENTS] = {o->gradient ? f->n : 0, f->n_atoms, 3},
      [XC_SERIES_ON_CHARGES] = {o->gradient && o->n_charges > 0 ? f->n : 0, o->n_charges, 3},
      [XC_SERIES_MARK] = {1, 0, 0}};
  field->rank = 1;
  for (int d = 0; d < 3; d++) {
    field->shape[d] = all[k][d];
    if (d > 0 && all[k][d] > 0) field->rank = d + 1;
    if (d > 0 && all[k][d] == 0) field->shape[d] = 1;
  }
  field->hidden = k == XC_SERIES_MARK || k == XC_SERIES_COMPUTED || field->shape[0] == 0;
  if (abouts[k].scaled && !field->hidden) field->scale[0] = 1 + XC_SERIES_FRAMES;
}

static tsl_err add_field(const xc_frame_series *series, int k, tsl_problem *all) {
  tsl_err err = TSL_OK;
  const about *a = &abouts[k];
  tsl_field field = {.role = TSL_OUT | TSL_STATE, .type = a->type, .combine = TSL_GATHER};
  tsl_field *added = NULL;
  tsl_field_label(&field, a->name, a->unit, a->doc);
  (void)snprintf(field.quantity, sizeof field.quantity, "%s", a->quantity);
  set_shape(series, k, &field);
  TSL_TRY(tsl_problem_add(all, &field, &added));
  TSL_TRY(tsl_field_allocate(added));
done:
  return err;
}

static void fill_asked(const xc_frames *frames, tsl_problem *all) {
  int64_t *number = all->fields[XC_SERIES_NUMBERS].data;
  double *place = all->fields[XC_SERIES_PLACES].data;
  memcpy(all->fields[XC_SERIES_FRAMES].data, frames->number,
         (size_t)frames->n * sizeof *frames->number);
  for (int64_t a = 0; a < frames->n_atoms; a++) number[a] = xc_signed_z(&frames->atoms[a]);
  for (int64_t k = 0; k < frames->n * frames->n_atoms; k++)
    memcpy(place + 3 * k, frames->atoms[k].at, 3 * sizeof *place);
}

static tsl_err series_fields(void *talk, tsl_problem *all) {
  tsl_err err = TSL_OK;
  xc_talk *t = talk;
  for (int k = 0; k < XC_N_SERIES; k++) TSL_TRY(add_field(&t->series, k, all));
  fill_asked(&t->series.frames, all);
  memcpy(t->series.fields, all->fields, sizeof t->series.fields);
done:
  return err;
}

tsl_err xc_series_restore(xc_talk *talk, const tsl_problem *all) {
  tsl_err err = TSL_OK;
  const xc_frames *f = &talk->series.frames;
  const tsl_field *fields = all->fields;
  const int64_t *number = fields[XC_SERIES_NUMBERS].data;
  const double *place = fields[XC_SERIES_PLACES].data;
  bool same =
      fields[XC_SERIES_FRAMES].shape[0] == f->n &&
      fields[XC_SERIES_NUMBERS].shape[0] == f->n_atoms &&
      memcmp(fields[XC_SERIES_FRAMES].data, f->number, (size_t)f->n * sizeof *f->number) == 0;
  for (int64_t a = 0; same && a < f->n_atoms; a++) same = number[a] == xc_signed_z(&f->atoms[a]);
  for (int64_t k = 0; same && k < f->n * f->n_atoms; k++)
    same = memcmp(place + 3 * k, f->atoms[k].at, 3 * sizeof *place) == 0;
  if (!same)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the frames have changed since the checkpoint was written");
  memcpy(talk->series.fields, fields, sizeof talk->series.fields);
done:
  return err;
}

/* ----------------------------------------------------------------- protocol */

/* A frame's atoms; those of the molecule are as many. */
static void take_frame(const xc_frames *frames, int64_t row, xc_talk *talk) {
  memcpy(talk->asked.atoms, frames->atoms + row * frames->n_atoms,
         (size_t)frames->n_atoms * sizeof *frames->atoms);
  (void)snprintf(talk->what, sizeof talk->what, "frame %lld", (long long)frames->number[row]);
}

/* Before any work: can all of them be? */
static tsl_err check_frames(const tsl_deck *deck, xc_talk *talk) {
  tsl_err err = TSL_OK;
  for (int64_t k = talk->series.frames.n - 1; k >= 0; k--) {
    take_frame(&talk->series.frames, k, talk);
    TSL_TRY(tsl_deck_blame(deck, "xc.molecule.xyz", xc_molecule_finish(talk->what, &talk->asked)));
  }
done:
  return err;
}

static tsl_err series_open(xc_talk *talk, const tsl_deck *deck, const xc_deck *s,
                           const tsl_serving *how) {
  tsl_err err = TSL_OK;
  xc_frame_series *series = &talk->series;
  (void)how;
  xc_molecule *m = &talk->asked;
  TSL_TRY(xc_load_frames(deck, s, &series->frames));
  TSL_TRY(tsl_alloc(series->frames.n_atoms, sizeof *m->atoms, "atoms", (void **)&m->atoms));
  m->n_atoms = series->frames.n_atoms;
  m->charge = (int32_t)s->molecule.charge;
  m->multiplicity = (int32_t)s->molecule.multiplicity;
  TSL_TRY(check_frames(deck, talk));
  TSL_TRY(count_charges(deck, s, &series->n_charges));
  series->gradient = s->task == XC_TASK_GRADIENT;
  series->smeared = s->smearing.kind != XC_SMEARING_NONE;
  series->shares = s->hirshfeld;
  TSL_TRY(xc_deck_check_gradient(deck, series->gradient));
done:
  return err;
}

static tsl_err series_next(xc_talk *talk, double seconds, tsl_asked *asked) {
  xc_frame_series *series = &talk->series;
  const uint8_t *computed = series->fields[XC_SERIES_COMPUTED].data;
  int64_t row = 0;
  (void)seconds;
  while (row < series->frames.n && computed[row]) row++;
  *asked = row < series->frames.n || series->answered == 0 ? TSL_ASKED_PROBLEM : TSL_ASKED_END;
  if (*asked == TSL_ASKED_END) return TSL_OK;
  series->row = row < series->frames.n ? row : series->frames.n - 1;
  take_frame(&series->frames, series->row, talk);
  return TSL_OK;
}

/* Of an earlier job that computed other frames: with the same sets and charges? */
static tsl_err check_mark(const xc_talk *talk, const xc_own *own) {
  tsl_err err = TSL_OK;
  uint64_t *mark = talk->series.fields[XC_SERIES_MARK].data;
  const uint64_t now = xc_state_hash(own, false);
  if (*mark != 0 && *mark != now)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: the frames of the checkpoint are of another basis, other point charges or "
             "other Lennard-Jones parameters");
  *mark = now;
done:
  return err;
}

static double *row_of(const xc_frame_series *series, int k) {
  const tsl_field *field = &series->fields[k];
  return (double *)field->data + series->row * tsl_field_row(field);
}

static void keep_found(xc_frame_series *series, const tsl_problem *problem, bool valid) {
  const xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  const size_t atoms = (size_t)own->molecule.n_atoms, charges = (size_t)own->molecule.n_charges;
  tsl_field *fields = series->fields;
  ((uint8_t *)fields[XC_SERIES_COMPUTED].data)[series->row] = 1;
  ((uint8_t *)fields[XC_SERIES_CONVERGED].data)[series->row] = valid;
  ((int64_t *)fields[XC_SERIES_ITERATIONS].data)[series->row] = scf->iteration;
  *row_of(series, XC_SERIES_ENERGIES) = scf->energies.total;
  if (series->smeared)
    *row_of(series, XC_SERIES_FREE) = scf->energies.total - scf->options.width * scf->entropy;
  *row_of(series, XC_SERIES_COMMUTATORS) = scf->commutator;
  memcpy(row_of(series, XC_SERIES_DIPOLES), own->dipole, sizeof own->dipole);
  memcpy(row_of(series, XC_SERIES_CHARGES), problem->fields[XC_OUT_CHARGES].data,
         atoms * sizeof(double));
  if (series->shares && own->hirshfeld != NULL)
    memcpy(row_of(series, XC_SERIES_SHARES), own->hirshfeld, atoms * sizeof *own->hirshfeld);
  if (!series->gradient || !own->gradient_done) return;
  memcpy(row_of(series, XC_SERIES_GRADIENTS), own->gradient, atoms * sizeof *own->gradient);
  if (charges > 0)
    memcpy(row_of(series, XC_SERIES_ON_CHARGES), own->gradient + atoms,
           charges * sizeof *own->gradient);
}

static tsl_err series_answer(xc_talk *talk, const tsl_problem *problem, const tsl_summary *summary,
                             tsl_err failed) {
  tsl_err err = failed; /* what no frame can be is the end of the run */
  if (failed != TSL_OK) goto done;
  TSL_TRY(check_mark(talk, xc_own_of(problem)));
  keep_found(&talk->series, problem, summary->valid);
  (void)snprintf(talk->series.input, sizeof talk->series.input, "%s", xc_own_of(problem)->input);
  talk->series.answered++;
done:
  return err;
}

const xc_protocol xc_protocol_series = {
    .open = series_open, .next = series_next, .answer = series_answer, .deck_molecule = true};

/* ------------------------------------------------------------------- people */

static bool series_asked(const tsl_deck *deck) {
  return tsl_deck_given(deck, "xc.molecule.frames");
}

static void series_tell(const void *talk, char *text, size_t size) {
  const xc_talk *t = talk;
  const xc_frame_series *s = &t->series;
  const tsl_field *fields = s->fields;
  text[0] = '\0';
  if (t->again) return;
  (void)snprintf(text, size, "frame %lld, %lld of %lld: energy %.9f hartree, %lld iterations%s",
                 (long long)s->frames.number[s->row], (long long)s->row + 1, (long long)s->frames.n,
                 *row_of(s, s->smeared ? XC_SERIES_FREE : XC_SERIES_ENERGIES),
                 (long long)((const int64_t *)fields[XC_SERIES_ITERATIONS].data)[s->row],
                 ((const uint8_t *)fields[XC_SERIES_CONVERGED].data)[s->row] ? ""
                                                                             : ", NOT converged");
}

void xc_series_describe(const xc_talk *talk, char *text, size_t size) {
  const xc_frames *f = &talk->series.frames;
  (void)snprintf(text, size, "read %lld frames of %lld atoms, %lld to %lld of the file\n%s%s",
                 (long long)f->n, (long long)f->n_atoms, (long long)f->number[0],
                 (long long)f->number[f->n - 1], talk->series.input,
                 talk->series.answered > 0 ? "\n" : "");
}

/* The frames that have not converged, the first few by number. */
static void judge(const xc_frame_series *s, tsl_summary *summary) {
  enum { MOST = 8 };
  const uint8_t *converged = s->fields[XC_SERIES_CONVERGED].data;
  char list[128] = "";
  int64_t bad = 0;
  size_t used = 0;
  for (int64_t k = 0; k < s->frames.n; k++) {
    if (converged[k]) continue;
    if (bad < MOST)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", bad > 0 ? ", " : "",
                               (long long)s->frames.number[k]);
    bad++;
  }
  summary->valid = bad == 0;
  if (bad > 0)
    (void)snprintf(summary->reason, sizeof summary->reason, "%lld of %lld frames: %s%s",
                   (long long)bad, (long long)s->frames.n, list, bad > MOST ? ", ..." : "");
}

static tsl_err series_summary(const void *talk, tsl_summary *summary) {
  const xc_talk *t = talk;
  const xc_frame_series *s = &t->series;
  const tsl_field *fields = s->fields;
  const double *energy = fields[s->smeared ? XC_SERIES_FREE : XC_SERIES_ENERGIES].data;
  int64_t low = 0, high = 0, iterations = 0;
  double steepest = 0;
  for (int64_t k = 0; k < s->frames.n; k++) {
    if (energy[k] < energy[low]) low = k;
    if (energy[k] > energy[high]) high = k;
    iterations += ((const int64_t *)fields[XC_SERIES_ITERATIONS].data)[k];
  }
  for (int64_t k = 0; k < tsl_field_count(&fields[XC_SERIES_GRADIENTS]); k++)
    steepest = fmax(steepest, fabs(((const double *)fields[XC_SERIES_GRADIENTS].data)[k]));
  tsl_summary_add(summary, "frames", (double)s->frames.n, "1");
  tsl_summary_add(summary, "lowest energy", energy[low], "hartree");
  tsl_summary_add(summary, "frame of lowest energy", (double)s->frames.number[low], "1");
  tsl_summary_add(summary, "highest energy", energy[high], "hartree");
  tsl_summary_add(summary, "frame of highest energy", (double)s->frames.number[high], "1");
  if (s->gradient) tsl_summary_add(summary, "largest gradient component", steepest, "hartree/bohr");
  tsl_summary_add(summary, "iterations", (double)iterations, "1");
  judge(s, summary);
  return TSL_OK;
}

const tsl_series xc_series = {
    .asked = series_asked, .fields = series_fields, .tell = series_tell, .summary = series_summary};
