/* Free atoms by their radial densities, and sums over the points of the groups. */
#include "xc_hirshfeld.h"

#include "xc_functions.h"
#include "xc_guess.h"

#include "fn.h"
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
    out->z[a] = xc_real_z(&molecule->atoms[a]);
    if (out->z[a] > 0) task.example[out->z[a]] = a + 1;
  }
  TSL_TRY(tsl_parallel(XC_MAX_Z, 1, free_elements, &task));
done:
  if (err != TSL_OK) xc_free_atoms_clear(out);
  return err;
}

/* sum_l r^2l sum_ij d_ij f_i f_j: a closed subshell's squares add up to r^2l (xc_functions.h). */
TSL_LEVELS
static void free_density(int64_t n, const xc_shell *shells, const double *d,
                         const xc_places *places, double *f, double *out) {
  const int n_points = (int)places->n;
  double r2[XC_PLACES], row[XC_PLACES];
#pragma omp simd
  for (int p = 0; p < n_points; p++) {
    const double x = places->x[p] - shells->at[0], y = places->y[p] - shells->at[1],
                 z = places->z[p] - shells->at[2];
    r2[p] = x * x + y * y + z * z;
    out[p] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    double *restrict to = f + i * XC_PLACES;
    for (int p = 0; p < n_points; p++) to[p] = row[p] = 0;
    for (int k = 0; k < shells[i].n; k++) {
      const double a = shells[i].exponent[k], c = shells[i].coefficient[k];
#pragma omp simd
      for (int p = 0; p < n_points; p++) to[p] += c * xc_exp_f64(-a * r2[p]);
    }
    for (int64_t j = 0; j <= i; j++) {
      const double both = (j < i ? 2 : 1) * d[i * n + j], *restrict from = f + j * XC_PLACES;
      if (both == 0) continue; /* of another l */
#pragma omp simd
      for (int p = 0; p < n_points; p++) row[p] += both * from[p];
    }
    for (int l = 0; l < shells[i].l; l++)
#pragma omp simd
      for (int p = 0; p < n_points; p++) row[p] *= r2[p];
#pragma omp simd
    for (int p = 0; p < n_points; p++) out[p] += row[p] * to[p];
  }
}

void xc_free_atom_density(const xc_free_atoms *atoms, int64_t atom, const xc_places *places,
                          double *scratch, double *out) {
  const int64_t first = atoms->first[atom];
  if (atoms->z[atom] == 0) { /* a ghost has none */
    for (int64_t p = 0; p < places->n; p++) out[p] = 0;
    return;
  }
  free_density(atoms->first[atom + 1] - first, atoms->basis->shells + first,
               atoms->radial[atoms->z[atom]], places, scratch, out);
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
  int64_t most_atoms;               /* of a group */
  double *share[TSL_PARALLEL_MOST]; /* [most_atoms + XC_MAX_FREE_SHELLS][XC_PLACES] */
} sharing;

/* Atoms of the shells of a group, each once. */
static int64_t next_atom(const sharing *s, const xc_group *g, int64_t k) {
  const int32_t *list = s->groups->shells + g->shells;
  const int32_t atom = s->basis->shells[list[k]].atom;
  while (k < g->n_shells && s->basis->shells[list[k]].atom == atom) k++;
  return k;
}

static void set_most_atoms(sharing *s) {
  for (int64_t k = 0; k < s->groups->n; k++) {
    const xc_group *g = &s->groups->list[k];
    int64_t n = 0;
    for (int64_t i = 0; i < g->n_shells; i = next_atom(s, g, i)) n++;
    if (n > s->most_atoms) s->most_atoms = n;
  }
}

/* Share out the electrons at points: share[k] of the k-th atom of the group, [XC_PLACES] each. */
static void share_points(const sharing *s, const xc_group *g, const xc_places *places,
                         const double *electrons, double *share) {
  const int32_t *list = s->groups->shells + g->shells;
  double *part = s->part + g->shells, sum[XC_PLACES] = {0};
  double *scratch = share + s->most_atoms * XC_PLACES;
  int64_t n = 0;
  for (int64_t k = 0; k < g->n_shells; k = next_atom(s, g, k), n++) {
    double *of = share + n * XC_PLACES;
    xc_free_atom_density(s->atoms, s->basis->shells[list[k]].atom, places, scratch, of);
    for (int64_t p = 0; p < places->n; p++) sum[p] += of[p];
  }
  /* far from all atoms their densities underflow, and so does that of the molecule */
  for (int64_t p = 0; p < places->n; p++) sum[p] = sum[p] > 0 ? electrons[p] / sum[p] : 0;
  for (int64_t k = 0; k < n; k++)
    for (int64_t p = 0; p < places->n; p++) part[k] += sum[p] * share[k * XC_PLACES + p];
}

static tsl_err share_group(const sharing *s, int slot, const xc_group *g, xc_values *values) {
  tsl_err err = TSL_OK;
  double rho[XC_PLACES];
  for (int64_t at = g->first; at < g->first + g->n; at += XC_PLACES) {
    const int64_t left = g->first + g->n - at;
    const xc_places places = {s->point[0] + at, s->point[1] + at, s->point[2] + at,
                              left < XC_PLACES ? left : XC_PLACES};
    TSL_TRY(xc_values_fill(s->basis, s->groups->shells + g->shells, g->n_shells, &places, values));
    xc_values_density(values, s->total, rho);
    for (int64_t p = 0; p < places.n; p++) rho[p] *= s->point[3][at + p];
    share_points(s, g, &places, rho, s->share[slot]);
  }
done:
  return err;
}

static tsl_err share_groups(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  sharing *s = context;
  double **share = &s->share[slot];
  if (*share == NULL)
    TSL_TRY(tsl_alloc((s->most_atoms + XC_MAX_FREE_SHELLS) * XC_PLACES, sizeof **share,
                      "shares of atoms", (void **)share));
  for (int64_t g = lo; g < hi; g++)
    TSL_TRY(share_group(s, slot, &s->groups->list[g], &s->values[slot]));
done:
  return err;
}

/* Sums of all groups, in their order. */
static void add_parts(const sharing *s, double *charges) {
  for (int64_t a = 0; a < s->molecule->n_atoms; a++)
    charges[a] = xc_nuclear(&s->molecule->atoms[a]);
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
  set_most_atoms(s);
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
