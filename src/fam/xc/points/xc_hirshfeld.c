/* Free atoms by their radial densities, and sums over the points of the groups. */
#include "xc_hirshfeld.h"

#include "xc_functions.h"
#include "xc_guess.h"
#include "xc_values.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

/* --------------------------------------------------------------- free atoms */

void xc_free_atoms_clear(xc_free_atoms *atoms) {
  for (int z = 0; z <= XC_MAX_Z; z++) tsl_free(atoms->radial[z]);
  TSL_FREE_ALL(atoms->first, atoms->z);
  memset(atoms, 0, sizeof *atoms);
}

typedef struct free_task {
  xc_free_atoms *atoms;
  int64_t example[XC_MAX_Z + 1]; /* an atom of the element, plus 1 */
} free_task;

/* Elements [lo, hi), the heaviest first. */
static tsl_err free_elements(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const free_task *task = context;
  xc_free_atoms *atoms = task->atoms;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) {
    const int32_t z = (int32_t)(XC_MAX_Z - k);
    const int64_t a = task->example[z] - 1;
    if (a < 0) continue;
    const int64_t n = atoms->first[a + 1] - atoms->first[a];
    TSL_TRY(tsl_alloc(n * n, sizeof(double), "density of a free atom", (void **)&atoms->radial[z]));
    TSL_TRY(xc_guess_radial(atoms->basis, atoms->first[a], n, z, atoms->radial[z]));
  }
done:
  return err;
}

tsl_err xc_free_atoms_create(const xc_molecule *molecule, const xc_basis *basis,
                             xc_free_atoms *out) {
  tsl_err err = TSL_OK;
  free_task task = {.atoms = out};
  memset(out, 0, sizeof *out);
  out->basis = basis;
  TSL_TRY(tsl_alloc(molecule->n_atoms + 1, sizeof *out->first, "free atoms", (void **)&out->first));
  TSL_TRY(tsl_alloc(molecule->n_atoms, sizeof *out->z, "free atoms", (void **)&out->z));
  for (int64_t s = 0; s < basis->n_shells; s++) out->first[basis->shells[s].atom + 1]++;
  for (int64_t a = 0; a < molecule->n_atoms; a++) {
    out->first[a + 1] += out->first[a];
    out->z[a] = molecule->atoms[a].z;
    task.example[out->z[a]] = a + 1;
  }
  TSL_TRY(tsl_parallel(XC_MAX_Z, 1, free_elements, &task));
done:
  if (err != TSL_OK) xc_free_atoms_clear(out);
  return err;
}

/* sum_l r^2l sum_ij d_ij f_i f_j: a closed subshell's squares add up to r^2l (xc_functions.h). */
double xc_free_atom_density(const xc_free_atoms *atoms, int64_t atom, double r) {
  const int64_t n = atoms->first[atom + 1] - atoms->first[atom];
  const xc_shell *shells = atoms->basis->shells + atoms->first[atom];
  const double *d = atoms->radial[atoms->z[atom]];
  double f[XC_MAX_FREE_SHELLS], slope, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    xc_radial_f64(shells[i].n, shells[i].exponent, shells[i].coefficient, r * r, &f[i], &slope);
    for (int k = 0; k < shells[i].l; k++) f[i] *= r;
    double row = 0.5 * d[i * n + i] * f[i];
    for (int64_t j = 0; j < i; j++) row += d[i * n + j] * f[j];
    sum += 2 * f[i] * row;
  }
  return sum;
}

/* ------------------------------------------------------------------- groups */

/* The sums of group g begin at part[shells of g]: one for each atom of these shells. */
typedef struct sharing {
  const xc_free_atoms *atoms;
  const xc_molecule *molecule;
  const xc_basis *basis;
  const xc_groups *groups;
  const double *const *point;
  const double *total;
  double *part;
  xc_values values[TSL_PARALLEL_MOST];
  double *share[TSL_PARALLEL_MOST]; /* [n_atoms] */
} sharing;

/* Atoms of the shells of a group, each once. */
static int64_t next_atom(const sharing *s, const xc_group *g, int64_t k) {
  const int32_t *list = s->groups->shells + g->shells;
  const int32_t atom = s->basis->shells[list[k]].atom;
  while (k < g->n_shells && s->basis->shells[list[k]].atom == atom) k++;
  return k;
}

/* Share out electrons at a point. */
static void share_point(const sharing *s, const xc_group *g, int64_t p, double electrons,
                        double *share) {
  const int32_t *list = s->groups->shells + g->shells;
  double *part = s->part + g->shells, sum = 0;
  int64_t n = 0;
  for (int64_t k = 0; k < g->n_shells; k = next_atom(s, g, k), n++) {
    const int32_t atom = s->basis->shells[list[k]].atom;
    const double *at = s->molecule->atoms[atom].at;
    const double x = s->point[0][p] - at[0], y = s->point[1][p] - at[1], z = s->point[2][p] - at[2];
    share[n] = xc_free_atom_density(s->atoms, atom, sqrt(x * x + y * y + z * z));
    sum += share[n];
  }
  if (sum <= 0) return; /* so far from all atoms that their densities underflow */
  for (int64_t k = 0; k < n; k++) part[k] += electrons * share[k] / sum;
}

static tsl_err share_group(const sharing *s, int slot, const xc_group *g, xc_values *values) {
  tsl_err err = TSL_OK;
  double rho[XC_PLACES];
  for (int64_t at = g->first; at < g->first + g->n; at += XC_PLACES) {
    const int64_t left = g->first + g->n - at;
    const xc_places points = {s->point[0] + at, s->point[1] + at, s->point[2] + at,
                              left < XC_PLACES ? left : XC_PLACES};
    TSL_TRY(xc_values_fill(s->basis, s->groups->shells + g->shells, g->n_shells, &points, values));
    xc_values_density(values, s->total, rho);
    for (int64_t p = 0; p < points.n; p++)
      share_point(s, g, at + p, s->point[3][at + p] * rho[p], s->share[slot]);
  }
done:
  return err;
}

static tsl_err share_groups(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  sharing *s = context;
  double **share = &s->share[slot];
  if (*share == NULL)
    TSL_TRY(tsl_alloc(s->molecule->n_atoms, sizeof **share, "shares of atoms", (void **)share));
  for (int64_t g = lo; g < hi; g++)
    TSL_TRY(share_group(s, slot, &s->groups->list[g], &s->values[slot]));
done:
  return err;
}

/* Sums of all groups, in their order. */
static void add_parts(const sharing *s, double *charges) {
  for (int64_t a = 0; a < s->molecule->n_atoms; a++) charges[a] = s->molecule->atoms[a].z;
  for (int64_t k = 0; k < s->groups->n; k++) {
    const xc_group *g = &s->groups->list[k];
    const int32_t *list = s->groups->shells + g->shells;
    const double *part = s->part + g->shells;
    for (int64_t i = 0; i < g->n_shells; i = next_atom(s, g, i))
      charges[s->basis->shells[list[i]].atom] -= *part++;
  }
}

tsl_err xc_hirshfeld(const xc_molecule *molecule, const xc_basis *basis, const xc_groups *groups,
                     const double *const point[4], const double *total, double *charges) {
  tsl_err err = TSL_OK;
  xc_free_atoms atoms = {.basis = basis};
  sharing *s = NULL;
  TSL_TRY(xc_free_atoms_create(molecule, basis, &atoms));
  TSL_TRY(tsl_alloc(1, sizeof *s, "Hirshfeld's charges", (void **)&s));
  s->atoms = &atoms, s->molecule = molecule, s->basis = basis, s->groups = groups;
  s->point = point, s->total = total;
  TSL_TRY(tsl_alloc(groups->n_shells, sizeof *s->part, "Hirshfeld's charges", (void **)&s->part));
  TSL_TRY(tsl_parallel(groups->n, 1, share_groups, s));
  add_parts(s, charges);
done:
  for (int k = 0; s != NULL && k < TSL_PARALLEL_MOST; k++) {
    xc_values_clear(&s->values[k]);
    tsl_free(s->share[k]);
  }
  if (s != NULL) tsl_free(s->part);
  tsl_free(s);
  xc_free_atoms_clear(&atoms);
  return err;
}
