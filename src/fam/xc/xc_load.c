/* From the deck to a molecule, its shells and a functional. */
#include "data_folder.h"
#include "table_read.h"
#include "xc_nonlocal.h"
#include "xc_talk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ----------------------------------------------------------------- molecule */

/** Atoms in the deck as the text of an XYZ file. */
static tsl_err read_inline(const char *atoms, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t lines = 0;
  bool words = false;
  const size_t room = strlen(atoms) + 32;
  TSL_TRY(tsl_alloc((int64_t)room, 1, "atoms", (void **)&text));
  for (const char *c = atoms;; c++) {
    const bool end = *c == '\0' || *c == '\n' || *c == ';';
    if (end) lines += words, words = false;
    if (!end && *c != ' ' && *c != '\t' && *c != '\r') words = true;
    if (*c == '\0') break;
  }
  (void)snprintf(text, room, "%lld\n\n%s\n", (long long)lines, atoms);
  for (char *c = text; *c != '\0'; c++)
    if (*c == ';') *c = '\n';
  TSL_TRY(xc_molecule_parse_xyz("atoms as XYZ", text, (int64_t)strlen(text), molecule));
done:
  tsl_free(text);
  return err;
}

/** Name and text of the XYZ file, from tsl_alloc. */
static tsl_err load_xyz(const tsl_deck *deck, const xc_deck *s, char **path, char **text,
                        int64_t *bytes) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_path(deck, s->molecule.xyz, path));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule.xyz", table_file_load(*path, text, bytes)));
done:
  return err;
}

tsl_err xc_load_frames(const tsl_deck *deck, const xc_deck *s, xc_frames *frames) {
  tsl_err err = TSL_OK;
  char *path = NULL, *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(load_xyz(deck, s, &path, &text, &bytes));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule.xyz", xc_frames_parse(path, text, bytes, frames)));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule.frames", xc_frames_choose(s->molecule.frames, frames)));
done:
  TSL_FREE_ALL(path, text);
  return err;
}

/** The first of the frames that a run computes. */
static tsl_err load_first(const tsl_deck *deck, const xc_deck *s, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  xc_frames frames = {.n = 0};
  TSL_TRY(xc_load_frames(deck, s, &frames));
  molecule->atoms = frames.atoms, molecule->n_atoms = frames.n_atoms;
  frames.atoms = NULL;
done:
  xc_frames_clear(&frames);
  return err;
}

tsl_err xc_load_atoms(const tsl_deck *deck, const xc_deck *s, xc_molecule *molecule,
                      xc_model *model) {
  tsl_err err = TSL_OK;
  char *path = NULL, *text = NULL;
  int64_t bytes = 0;
  if (s->molecule.frames != NULL) {
    TSL_TRY(load_first(deck, s, molecule));
  } else if (s->molecule.xyz != NULL) {
    TSL_TRY(load_xyz(deck, s, &path, &text, &bytes));
    TSL_TRY(tsl_deck_blame(deck, "xc.molecule.xyz",
                           xc_molecule_parse_xyz(path, text, bytes, molecule)));
  } else if (s->molecule.json != NULL) {
    TSL_TRY(tsl_deck_path(deck, s->molecule.json, &path));
    TSL_TRY(tsl_deck_blame(deck, "xc.molecule.json", xc_molecule_read_json(path, molecule, model)));
  } else {
    TSL_TRY(tsl_deck_blame(deck, "xc.molecule.atoms", read_inline(s->molecule.atoms, molecule)));
  }
  if (s->molecule.json == NULL) {
    molecule->charge = (int32_t)s->molecule.charge;
    molecule->multiplicity = (int32_t)s->molecule.multiplicity;
  }
done:
  TSL_FREE_ALL(path, text);
  return err;
}

/** A charge or multiplicity that the deck gives is not another than that of the question. */
static tsl_err check_asked(const tsl_deck *deck, const xc_deck *s, const xc_talk *talk) {
  tsl_err err = TSL_OK;
  const xc_molecule *m = &talk->asked;
  if (tsl_deck_given(deck, "xc.molecule.charge") && s->molecule.charge != m->charge)
    TSL_DECK_FAIL(deck, "xc.molecule.charge", "is %lld, and %s asks for %d",
                  (long long)s->molecule.charge, talk->what, (int)m->charge);
  if (s->molecule.multiplicity > 0 && m->multiplicity > 0 &&
      s->molecule.multiplicity != m->multiplicity)
    TSL_DECK_FAIL(deck, "xc.molecule.multiplicity", "is %lld, and %s asks for %d",
                  (long long)s->molecule.multiplicity, talk->what, (int)m->multiplicity);
done:
  return err;
}

/** Of a served job: what is asked for. */
static tsl_err take_atoms(const tsl_deck *deck, const xc_deck *s, const xc_talk *talk,
                          xc_molecule *molecule, xc_model *model) {
  tsl_err err = TSL_OK;
  const xc_molecule *asked = &talk->asked;
  TSL_TRY(check_asked(deck, s, talk));
  *molecule = (xc_molecule){.charge = asked->charge, .multiplicity = asked->multiplicity};
  if (molecule->multiplicity == 0) molecule->multiplicity = (int32_t)s->molecule.multiplicity;
  *model = talk->model;
  TSL_TRY(tsl_alloc(asked->n_atoms, sizeof *asked->atoms, "atoms", (void **)&molecule->atoms));
  molecule->n_atoms = asked->n_atoms;
  memcpy(molecule->atoms, asked->atoms, (size_t)asked->n_atoms * sizeof *asked->atoms);
  if (asked->n_charges == 0) goto done;
  TSL_TRY(tsl_alloc(asked->n_charges, sizeof *asked->charges, "point charges",
                    (void **)&molecule->charges));
  molecule->n_charges = asked->n_charges;
  memcpy(molecule->charges, asked->charges, (size_t)asked->n_charges * sizeof *asked->charges);
done:
  return err;
}

/** Point charges, and Lennard-Jones of those and the atoms. */
static tsl_err load_charges(const tsl_deck *deck, const xc_deck *s, xc_molecule *molecule,
                            xc_lj *lj) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  const char *atoms = s->molecule.lennard_jones.atoms;
  if (molecule->n_charges > 0)
    TSL_DECK_FAIL(deck, "xc.molecule.charges",
                  "the JSON, or who asks, has point charges of its own");
  TSL_TRY(tsl_deck_path(deck, s->molecule.charges, &path));
  TSL_TRY(tsl_deck_blame(deck, "xc.molecule.charges", xc_molecule_read_charges(path, molecule)));
  lj->mixing = s->molecule.lennard_jones.mixing;
  TSL_TRY(tsl_deck_blame(deck, atoms != NULL ? "xc.molecule.lennard_jones" : "xc.molecule.charges",
                         xc_lj_read(atoms, path, molecule, lj)));
done:
  tsl_free(path);
  return err;
}

static tsl_err load_molecule(const tsl_deck *deck, const xc_deck *s, const xc_talk *talk,
                             xc_own *own, xc_model *model) {
  tsl_err err = TSL_OK;
  xc_molecule *m = &own->molecule;
  TSL_TRY(talk != NULL ? take_atoms(deck, s, talk, m, model) : xc_load_atoms(deck, s, m, model));
  if (s->molecule.charges != NULL) TSL_TRY(load_charges(deck, s, m, &own->lennard_jones));
  if (talk != NULL)
    TSL_TRY(xc_molecule_finish(talk->what, m));
  else
    TSL_TRY(tsl_deck_blame(deck, "xc.molecule", xc_molecule_finish("the molecule", m)));
done:
  return err;
}

/* --------------------------------------------------------------------- sets */

static const char *const set_keys[XC_N_SETS] = {
    [XC_SET_BASIS] = "xc.basis", [XC_SET_FITTING] = "xc.fitting", [XC_SET_ECP] = "xc.ecp"};

static tsl_err read_set(const tsl_deck *deck, const xc_deck *s, const char *name, bool fitting,
                        xc_set *set) {
  tsl_err err = TSL_OK;
  char *path = NULL, *given = NULL, shipped[TSL_DATA_FOLDER] = "";
  const char *named = shipped;
  if (s->basis_folder != NULL) {
    TSL_TRY(tsl_deck_path(deck, s->basis_folder, &given));
    named = given;
  } else {
    TSL_TRY(tsl_data_folder("basis", "xc/basis", shipped));
  }
  if (strpbrk(name, "./") != NULL) TSL_TRY(tsl_deck_path(deck, name, &path));
  TSL_TRY((fitting ? xc_set_read_fitting : xc_set_read)(path ? path : name, named, set));
  if (set->warning[0] != '\0') fprintf(stderr, "tesela: warning: %s\n", set->warning);
done:
  TSL_FREE_ALL(path, given);
  return err;
}

/** A set is read once in a served job, until another one is asked for.
 *  @param[in,out] own  keeps it where no job does */
static tsl_err load_set(const tsl_deck *deck, const xc_deck *s, xc_talk *talk, xc_set_kind kind,
                        const char *name, xc_kept_set *own, const xc_set **set) {
  tsl_err err = TSL_OK;
  xc_kept_set *kept = talk != NULL ? &talk->sets[kind] : own;
  if (strcmp(kept->name, name) != 0) {
    xc_set_clear(&kept->set);
    kept->name[0] = '\0';
    TSL_TRY(tsl_deck_blame(deck, set_keys[kind],
                           read_set(deck, s, name, kind == XC_SET_FITTING, &kept->set)));
    (void)snprintf(kept->name, sizeof kept->name, "%s", name);
  }
  *set = &kept->set;
done:
  return err;
}

/** Potentials of xc.ecp, else those that come with the basis; the electrons that are left. */
static tsl_err load_ecps(const tsl_deck *deck, const xc_deck *s, xc_talk *talk, const xc_set *set,
                         xc_molecule *molecule, xc_basis *basis) {
  tsl_err err = TSL_OK;
  xc_kept_set own = {.name = ""};
  if (s->ecp != NULL) TSL_TRY(load_set(deck, s, talk, XC_SET_ECP, s->ecp, &own, &set));
  if (s->ecp != NULL && set->ecps.n == 0)
    TSL_DECK_FAIL(deck, "xc.ecp", "%s has no effective core potentials", set->name);
  TSL_TRY(xc_ecps_choose(&set->ecps, molecule, &basis->ecps));
  TSL_TRY(
      tsl_deck_blame(deck, "xc.molecule", xc_ecps_place("the molecule", &basis->ecps, molecule)));
done:
  xc_set_clear(&own.set);
  return err;
}

static tsl_err load_basis(const tsl_deck *deck, const xc_deck *s, xc_talk *talk, const char *name,
                          xc_molecule *molecule, xc_basis *basis) {
  tsl_err err = TSL_OK;
  xc_kept_set own = {.name = ""};
  const xc_set *set = NULL;
  TSL_TRY(load_set(deck, s, talk, XC_SET_BASIS, name, &own, &set));
  TSL_TRY(tsl_deck_blame(deck, "xc.basis",
                         xc_basis_create(set, (xc_kind)s->functions, molecule, basis)));
  TSL_TRY(load_ecps(deck, s, talk, set, molecule, basis));
  TSL_TRY(tsl_deck_blame(deck, "xc.basis", xc_basis_check_core(set->name, molecule, basis)));
done:
  xc_set_clear(&own.set);
  return err;
}

static tsl_err load_fitting(const tsl_deck *deck, const xc_deck *s, xc_talk *talk,
                            const xc_molecule *molecule, xc_basis *basis) {
  tsl_err err = TSL_OK;
  xc_kept_set own = {.name = ""};
  const xc_set *set = NULL;
  TSL_TRY(load_set(deck, s, talk, XC_SET_FITTING, xc_deck_fitting(s), &own, &set));
  TSL_TRY(tsl_deck_blame(deck, "xc.fitting",
                         xc_basis_create(set, (xc_kind)s->functions, molecule, basis)));
done:
  xc_set_clear(&own.set);
  return err;
}

/** What the deck says, else what the JSON file says of itself; a served question that says another
 *  than the deck is not answered by what it does not ask for. */
static tsl_err xc_load_choose(const tsl_deck *deck, const char *path, const char *said,
                              const char *model, const xc_talk *talk, char name[XC_ASKED]) {
  tsl_err err = TSL_OK;
  const char *chosen = said != NULL ? said : model;
  if (talk != NULL && said != NULL && model[0] != '\0' && strcasecmp(said, model) != 0)
    TSL_DECK_FAIL(deck, path, "is %s, and %s asks for %s", said, talk->what, model);
  if (chosen[0] == '\0') TSL_DECK_FAIL(deck, path, "is missing; only a QCSchema file may say it");
  if (strlen(chosen) >= XC_ASKED)
    TSL_DECK_FAIL(deck, path, "has %zu characters; at most %d are allowed", strlen(chosen),
                  XC_ASKED - 1);
  (void)snprintf(name, XC_ASKED, "%s", chosen);
done:
  return err;
}

/** What the deck asks for, else the driver of the JSON file. */
static tsl_err choose_task(const tsl_deck *deck, const xc_deck *s, const char *driver,
                           const xc_talk *talk, int32_t *gradient) {
  tsl_err err = TSL_OK;
  const bool slope = strcmp(driver, "gradient") == 0;
  const bool known = slope || driver[0] == '\0' || strcmp(driver, "energy") == 0 ||
                     strcmp(driver, "properties") == 0;
  if (!known && talk != NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s: the driver is '%s'; energy, gradient and properties are computed",
             talk->what, driver);
  if (!known)
    TSL_DECK_FAIL(deck, "xc.molecule.json",
                  "the file's driver is '%s'; energy, gradient and properties are computed here",
                  driver);
  const bool asked = talk != NULL && driver[0] != '\0';
  *gradient = tsl_deck_given(deck, "xc.task") && !asked ? s->task == XC_TASK_GRADIENT : slope;
  if (talk == NULL) TSL_TRY(xc_deck_check_gradient(deck, *gradient != 0));
done:
  return err;
}

static tsl_err load_spins(const tsl_deck *deck, const xc_deck *s, xc_own *own) {
  tsl_err err = TSL_OK;
  if (s->reference == XC_REFERENCE_RESTRICTED)
    TSL_DECK_FAIL(deck, "xc.reference",
                  "restricted orbitals are the same for both spins, and xc.guess.spins wants "
                  "unlike ones; remove one of them");
  TSL_TRY(
      tsl_alloc(own->molecule.n_atoms, sizeof *own->spins, "spins of atoms", (void **)&own->spins));
  TSL_TRY(tsl_deck_blame(deck, "xc.guess.spins",
                         xc_molecule_parse_spins(s->guess.spins, &own->molecule, own->spins)));
done:
  return err;
}

static tsl_err load_guess(const tsl_deck *deck, const xc_deck *s, const xc_talk *talk,
                          xc_own *own) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  if (s->guess.spins != NULL) TSL_TRY(load_spins(deck, s, own));
  if (talk != NULL) own->last = &talk->last;
  if (s->guess.file == NULL || (talk != NULL && (talk->last.n > 0 || talk->series.row > 0)))
    goto done;
  TSL_TRY(tsl_deck_path(deck, s->guess.file, &path));
  TSL_TRY(tsl_deck_blame(deck, "xc.guess.file",
                         xc_start_read(path, &own->molecule, &own->orbital, &own->start)));
done:
  tsl_free(path);
  return err;
}

tsl_err xc_load(const tsl_deck *deck, const xc_deck *s, xc_talk *talk, xc_own *own, xc_params *p) {
  tsl_err err = TSL_OK;
  xc_model model = {.method = ""};
  xc_molecule *m = &own->molecule;
  TSL_TRY(load_molecule(deck, s, talk, own, &model));
  TSL_TRY(choose_task(deck, s, model.driver, talk, &p->gradient));
  TSL_TRY(xc_load_choose(deck, "xc.functional", s->functional, model.method, talk, own->method));
  TSL_TRY(xc_load_choose(deck, "xc.basis", s->basis, model.basis, talk, own->basis_name));
  TSL_TRY(tsl_deck_blame(deck, "xc.functional",
                         xc_functional_find(own->method, (xc_source)s->source, &p->functional)));
  TSL_TRY(xc_nonlocal_choose(deck, s, p));
  TSL_TRY(tsl_deck_blame(deck, "xc.dispersion",
                         xc_dispersion_compute((xc_dispersion_kind)s->dispersion, &p->functional, m,
                                               &own->dispersion)));
  TSL_TRY(load_basis(deck, s, talk, own->basis_name, m, &own->orbital));
  p->fitted = s->coulomb == XC_COULOMB_FITTED;
  if (p->fitted) TSL_TRY(load_fitting(deck, s, talk, m, &own->fitting));
  if (s->exchange == XC_EXCHANGE_FITTED && p->functional.far != 0)
    TSL_DECK_FAIL(deck, "xc.exchange",
                  "fitted is not made for range-separated functionals; use exact");
  if (s->exchange == XC_EXCHANGE_FITTED && !xc_functional_exact(&p->functional))
    TSL_DECK_FAIL(deck, "xc.exchange", "%s has no exact exchange to be fitted; remove it",
                  p->functional.name);
  p->fitted_exchange = s->exchange == XC_EXCHANGE_FITTED;
  TSL_TRY(xc_nonlocal_check(deck, s, p));
  if (s->reference == XC_REFERENCE_RESTRICTED && m->alpha != m->beta)
    TSL_DECK_FAIL(deck, "xc.reference",
                  "restricted orbitals need as many alpha as beta electrons; there are %lld and "
                  "%lld",
                  (long long)m->alpha, (long long)m->beta);
  p->n_spin =
      s->reference == XC_REFERENCE_UNRESTRICTED || s->guess.spins != NULL || m->alpha != m->beta
          ? 2
          : 1;
  p->n_occupied = p->n_spin == 2 ? m->alpha + m->beta : m->alpha;
  p->parallel = s->parallel;
  p->cache = s->cache;
  p->card_cache = s->card_cache;
  p->fitting_cache = s->fitting_cache;
  p->quartet_cache = s->quartet_cache;
  p->mixed = s->precision == XC_PRECISION_MIXED;
  p->reproducible = s->reproducible;
  p->threshold = s->threshold;
  p->n = own->orbital.n;
  p->n_shells = own->orbital.n_shells;
  p->n_fit = own->fitting.n;
  p->n_fit_shells = own->fitting.n_shells;
  TSL_TRY(load_guess(deck, s, talk, own));
  xc_input_text(s, own);
done:
  return err;
}
