/* How the input was read, in one line for people. */
#include "xc_family.h"

#include <stdio.h>
#include <string.h>

/* A line that grows; what does not fit is left out. */
typedef struct line {
  char *text;
  size_t size, used;
} line;

#define ADD(l, ...)                                                                             \
  do {                                                                                          \
    if ((l)->used < (l)->size)                                                                  \
      (l)->used += (size_t)snprintf((l)->text + (l)->used, (l)->size - (l)->used, __VA_ARGS__); \
  } while (0)

/* A name as the user gave it, control characters as '?'. */
static void add_name(line *l, const char *name) {
  const size_t from = l->used;
  ADD(l, "%s", name);
  for (size_t k = from; k < l->used && k < l->size; k++)
    if ((unsigned char)l->text[k] < ' ' || l->text[k] == 0x7f) l->text[k] = '?';
}

/* C6H6O: carbon, hydrogen, then by atomic number. */
static void add_formula(line *l, const xc_molecule *m) {
  enum { CARBON = 6 };
  int64_t count[XC_MAX_Z + 1] = {0}, ghosts = 0;
  for (int64_t a = 0; a < m->n_atoms; a++)
    count[xc_real_z(&m->atoms[a])]++, ghosts += m->atoms[a].ghost;
  for (int k = 0; k <= XC_MAX_Z; k++) {
    const int z = k == 0 ? CARBON : k;
    if (z == 0 || count[z] == 0 || k == CARBON) continue;
    ADD(l, "%s", xc_symbol(z));
    if (count[z] > 1) ADD(l, "%lld", (long long)count[z]);
  }
  if (ghosts > 0) ADD(l, " and %lld ghost%s", (long long)ghosts, ghosts == 1 ? "" : "s");
}

static void add_molecule(line *l, const xc_deck *s, const xc_molecule *m) {
  const char *file = s->molecule.xyz != NULL ? s->molecule.xyz : s->molecule.json;
  add_formula(l, m);
  ADD(l, ", %lld atom%s from ", (long long)m->n_atoms, m->n_atoms == 1 ? "" : "s");
  add_name(l, file != NULL ? file : "the deck");
  ADD(l, " in %s, charge %d, multiplicity %d", s->molecule.json != NULL ? "bohr" : "Angstrom",
      (int)m->charge, (int)m->multiplicity);
  if (m->n_charges == 0) return;
  double sum = 0;
  for (int64_t k = 0; k < m->n_charges; k++) sum += m->charges[k].q;
  ADD(l, "; %lld point charge%s, in all %.6g e, from ", (long long)m->n_charges,
      m->n_charges == 1 ? "" : "s", sum);
  add_name(l, s->molecule.charges != NULL ? s->molecule.charges : "the JSON");
  ADD(l, " in %s", s->molecule.charges != NULL ? "Angstrom" : "bohr");
}

static void add_set(line *l, const char *what, const char *name, const xc_deck *s,
                    const xc_basis *basis) {
  bool spherical = false, cartesian = false;
  for (int64_t k = 0; k < basis->n_shells; k++) {
    if (basis->shells[k].l < 2) continue; /* the same either way */
    if (basis->shells[k].spherical) spherical = true;
    if (!basis->shells[k].spherical) cartesian = true;
  }
  ADD(l, "; %s ", what);
  add_name(l, name);
  if (strpbrk(name, "./") != NULL) {
    ADD(l, ", a file");
  } else if (s->basis_folder != NULL) {
    ADD(l, " of ");
    add_name(l, s->basis_folder);
  } else {
    ADD(l, " of those that come with tesela");
  }
  ADD(l, ", %lld functions%s", (long long)basis->n,
      cartesian   ? ", Cartesian"
      : spherical ? ", spherical"
                  : "");
}

/* "; cores of 28 electrons of Ag, 46 of Te replaced by potentials of ecp.nw" */
static void add_cores(line *l, const xc_deck *s, const xc_ecps *ecps) {
  for (int64_t k = 0; k < ecps->n; k++)
    ADD(l, "%s%d %s %s", k == 0 ? "; cores of " : ", ", (int)ecps->list[k].core,
        k == 0 ? "electrons of" : "of", xc_symbol(ecps->list[k].z));
  if (ecps->n == 0) return;
  ADD(l, " replaced by potentials of ");
  if (s->ecp != NULL)
    add_name(l, s->ecp);
  else
    ADD(l, "the basis");
}

void xc_input_text(const xc_deck *s, xc_own *own) {
  line l = {own->input, sizeof own->input, 0};
  ADD(&l, "read ");
  add_molecule(&l, s, &own->molecule);
  add_set(&l, "basis", own->basis_name, s, &own->orbital);
  add_cores(&l, s, &own->orbital.ecps);
  if (own->fitting.n_shells > 0) add_set(&l, "fitting set", xc_deck_fitting(s), s, &own->fitting);
  if (s->guess.file == NULL) return;
  ADD(&l, "; guess from ");
  add_name(&l, s->guess.file);
  if (own->start.projected)
    ADD(&l, ", projected from %lld functions", (long long)own->start.basis.n);
  if (own->start.moved > 0)
    ADD(&l, ", atoms moved by up to %.3g Angstrom", own->start.moved * XC_BOHR);
}
