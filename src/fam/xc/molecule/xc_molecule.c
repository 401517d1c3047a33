/* Elements, checks of a molecule, classical energies. */
#include "xc_molecule.h"

#include "deck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const symbols[XC_MAX_Z + 2] = {
    "?",  "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si",
    "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu",
    "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru",
    "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr",
    "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",
    "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", NULL};

int xc_element(const char *symbol) {
  for (int z = 1; z <= XC_MAX_Z; z++)
    if (strcasecmp(symbol, symbols[z]) == 0) return z;
  return 0;
}

const char *xc_symbol(int z) {
  return z >= 1 && z <= XC_MAX_Z ? symbols[z] : symbols[0];
}

const char *xc_element_near(const char *symbol) {
  return tsl_nearest_word(symbol, symbols + 1);
}

void xc_basis_clear(xc_basis *basis) {
  tsl_free(basis->shells);
  tsl_free(basis->ecps.list);
  memset(basis, 0, sizeof *basis);
}

void xc_molecule_clear(xc_molecule *molecule) {
  TSL_FREE_ALL(molecule->atoms, molecule->charges);
  memset(molecule, 0, sizeof *molecule);
}

static double distance(const double a[3], const double b[3]) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* ------------------------------------------------------------------ checks */

/* An atom or point charge on the x axis of a sweep. */
typedef struct place {
  const double *at;
  int64_t number; /* from 0 */
  bool charge;
} place;

static int by_x(const void *a, const void *b) {
  const place *p = a, *q = b;
  if (p->at[0] != q->at[0]) return p->at[0] < q->at[0] ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

static tsl_err too_close(const char *what, const place *p, const place *q) {
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "%s: %s %lld and %s %lld (counted from 1) are %.4g Angstrom apart; at least 0.1 "
                  "is needed",
                  what, p->charge ? "point charge" : "atom", (long long)p->number + 1,
                  q->charge ? "point charge" : "atom", (long long)q->number + 1,
                  distance(p->at, q->at) * XC_BOHR);
}

/* Atoms and charges sorted by x; two charges may be close, they do not meet. */
static tsl_err check_distances(const char *what, const xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  place *list = NULL;
  const int64_t n = molecule->n_atoms + molecule->n_charges;
  TSL_TRY(tsl_alloc(n, sizeof *list, "places of atoms", (void **)&list));
  for (int64_t k = 0; k < molecule->n_atoms; k++)
    list[k] = (place){molecule->atoms[k].at, k, false};
  for (int64_t k = 0; k < molecule->n_charges; k++)
    list[molecule->n_atoms + k] = (place){molecule->charges[k].at, k, true};
  qsort(list, (size_t)n, sizeof *list, by_x);
  for (int64_t p = 0; p < n; p++)
    for (int64_t q = p + 1; q < n && list[q].at[0] - list[p].at[0] < XC_NEAREST; q++)
      if (!(list[p].charge && list[q].charge) && distance(list[p].at, list[q].at) < XC_NEAREST)
        TSL_TRY(too_close(what, &list[p], &list[q]));
done:
  tsl_free(list);
  return err;
}

/* Places in bohr beyond this are no molecule. */
static const double farthest = 1e6;

static bool is_sane(const double at[3]) {
  return fabs(at[0]) <= farthest && fabs(at[1]) <= farthest && fabs(at[2]) <= farthest;
}

static tsl_err check_numbers(const char *what, const xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  if (molecule->n_atoms < 1 || molecule->n_atoms > XC_MAX_ATOMS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld atoms; 1 to %d are allowed", what,
             (long long)molecule->n_atoms, XC_MAX_ATOMS);
  for (int64_t k = 0; k < molecule->n_atoms; k++) {
    const xc_atom *atom = &molecule->atoms[k];
    if (atom->z < 1 || atom->z > XC_MAX_Z)
      TSL_FAIL(TSL_ERR_INPUT, "%s: atom %lld has atomic number %d; 1 to %d are known", what,
               (long long)k + 1, (int)atom->z, XC_MAX_Z);
    if (!is_sane(atom->at))
      TSL_FAIL(TSL_ERR_INPUT, "%s: atom %lld is at (%g, %g, %g) bohr; at most %g is allowed", what,
               (long long)k + 1, atom->at[0], atom->at[1], atom->at[2], farthest);
  }
  for (int64_t k = 0; k < molecule->n_charges; k++) {
    const xc_charge *charge = &molecule->charges[k];
    if (!is_sane(charge->at) || !(fabs(charge->q) <= 1e3))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: point charge %lld is %g at (%g, %g, %g) bohr; at most 1000 within %g bohr is "
               "allowed",
               what, (long long)k + 1, charge->q, charge->at[0], charge->at[1], charge->at[2],
               farthest);
  }
done:
  return err;
}

tsl_err xc_molecule_count(const char *what, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  int64_t nuclear = 0;
  for (int64_t k = 0; k < molecule->n_atoms; k++) nuclear += xc_nuclear(&molecule->atoms[k]);
  const int64_t electrons = nuclear - molecule->charge;
  if (molecule->charge > XC_MAX_CHARGE || molecule->charge < -XC_MAX_CHARGE || electrons < 1)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: charge %d leaves %lld electrons; at least one, and a charge within -%d..%d, is "
             "needed",
             what, (int)molecule->charge, (long long)electrons, XC_MAX_CHARGE, XC_MAX_CHARGE);
  if (molecule->multiplicity == 0) molecule->multiplicity = (int32_t)(1 + electrons % 2);
  const int64_t unpaired = (int64_t)molecule->multiplicity - 1;
  if (unpaired < 0 || unpaired > electrons || (electrons - unpaired) % 2 != 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: multiplicity %d does not fit %lld electrons (charge %d); allowed are %s up to "
             "%lld",
             what, (int)molecule->multiplicity, (long long)electrons, (int)molecule->charge,
             electrons % 2 == 0 ? "1, 3, 5, ..." : "2, 4, 6, ...", (long long)electrons + 1);
  molecule->beta = (electrons - unpaired) / 2;
  molecule->alpha = electrons - molecule->beta;
done:
  return err;
}

tsl_err xc_molecule_finish(const char *what, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_numbers(what, molecule));
  TSL_TRY(check_distances(what, molecule));
  TSL_TRY(xc_molecule_count(what, molecule));
done:
  return err;
}

/* ---------------------------------------------------------------- energies */

double xc_repulsion_nuclei(const xc_molecule *molecule) {
  double energy = 0;
  for (int64_t a = 0; a < molecule->n_atoms; a++)
    for (int64_t b = 0; b < a; b++)
      energy += xc_nuclear(&molecule->atoms[a]) * xc_nuclear(&molecule->atoms[b]) /
                distance(molecule->atoms[a].at, molecule->atoms[b].at);
  return energy;
}

double xc_repulsion_charges(const xc_molecule *molecule) {
  double energy = 0;
  for (int64_t a = 0; a < molecule->n_atoms; a++)
    for (int64_t b = 0; b < molecule->n_charges; b++)
      energy += xc_nuclear(&molecule->atoms[a]) * molecule->charges[b].q /
                distance(molecule->atoms[a].at, molecule->charges[b].at);
  return energy;
}

/* d/da of z_a z_b / |a - b|, and the opposite for b. */
static void add_repulsion(double charges, const double *a, const double *b, double *on_a,
                          double *on_b) {
  const double r = distance(a, b), factor = -charges / (r * r * r);
  for (int x = 0; x < 3; x++) {
    on_a[x] += factor * (a[x] - b[x]);
    on_b[x] -= factor * (a[x] - b[x]);
  }
}

void xc_repulsion_gradient(const xc_molecule *molecule, double (*gradient)[3]) {
  const xc_atom *atoms = molecule->atoms;
  const xc_charge *charges = molecule->charges;
  double(*on_charges)[3] = gradient + molecule->n_atoms;
  for (int64_t a = 0; a < molecule->n_atoms; a++) {
    for (int64_t b = 0; b < a; b++)
      add_repulsion(xc_nuclear(&atoms[a]) * xc_nuclear(&atoms[b]), atoms[a].at, atoms[b].at,
                    gradient[a], gradient[b]);
    for (int64_t b = 0; b < molecule->n_charges; b++)
      add_repulsion(xc_nuclear(&atoms[a]) * charges[b].q, atoms[a].at, charges[b].at, gradient[a],
                    on_charges[b]);
  }
}
