/* The field begins with the densities of a guess: their orbitals made orthonormal again where atoms
 * have moved, projected where their basis is another one; as many electrons as the field has. */
#include "xc_family.h"
#include "xc_matrix.h"
#include "xc_one.h"

#include <math.h>
#include <string.h>

/* Electrons of a density of orbitals may differ from a whole number by this. */
static const double near_electrons = 1e-4;

/* Overlap of the shells of a, then of b; those of b are where at has their atoms, NULL: where they
 * are. @param[out] overlap  [a->n + b->n][a->n + b->n], made here */
static tsl_err overlap_of(const xc_basis *a, const xc_basis *b, double (*at)[3], double **overlap) {
  tsl_err err = TSL_OK;
  xc_basis all = {.n_shells = a->n_shells + b->n_shells, .n = a->n + b->n};
  double *kinetic = NULL;
  TSL_TRY(tsl_alloc(all.n_shells, sizeof *all.shells, "shells", (void **)&all.shells));
  if (a->n_shells > 0) memcpy(all.shells, a->shells, (size_t)a->n_shells * sizeof *all.shells);
  for (int64_t k = 0; k < b->n_shells; k++) {
    xc_shell *shell = &all.shells[a->n_shells + k];
    *shell = b->shells[k];
    shell->first += a->n;
    if (at != NULL) memcpy(shell->at, at[shell->atom], sizeof shell->at);
  }
  TSL_TRY(xc_matrix_create(all.n, all.n, "kinetic energy", &kinetic));
  TSL_TRY(xc_matrix_create(all.n, all.n, "overlap of the guess", overlap));
  xc_overlap_kinetic(&all, 0, all.n_shells, *overlap, kinetic);
done:
  TSL_FREE_ALL(kinetic, all.shells);
  return err;
}

/* D' = X D X^T with X = S'^(-1/2) S^(1/2): the same orbitals, orthonormal again where the atoms are
 * now. */
static tsl_err move_density(int64_t n, const double *old, const double *now, double limit,
                            xc_start *start) {
  tsl_err err = TSL_OK;
  double *half = NULL, *inverse = NULL, *work = NULL, *moved = NULL;
  TSL_TRY(xc_matrix_create(n, n, "S^1/2", &half));
  TSL_TRY(xc_matrix_create(n, n, "S^-1/2", &inverse));
  TSL_TRY(xc_matrix_create(n, n, "S'^-1/2 S^1/2", &work));
  TSL_TRY(xc_matrix_create(n, n, "density", &moved));
  TSL_TRY(xc_matrix_power(n, old, 0.5, limit, half));
  TSL_TRY(xc_matrix_power(n, now, -0.5, limit, inverse));
  TSL_TRY(xc_matrix_product(n, n, n, 1, inverse, false, half, false, work));
  for (int t = 0; t < start->n_spin; t++) {
    double *density = start->density + t * n * n;
    TSL_TRY(xc_matrix_project(n, n, density, work, half, moved));
    memcpy(density, moved, (size_t)(n * n) * sizeof *moved);
  }
done:
  tsl_free(half), tsl_free(inverse), tsl_free(work), tsl_free(moved);
  return err;
}

/* ------------------------------------------------------------------ project */

/* From a basis of n0 functions to one of n1. */
typedef struct projection {
  int64_t n0, n1;
  double *root, *inverse; /* [n0][n0] S0^1/2, S0^-1/2 */
  double *cross;          /* [n0][n1] overlap of both */
  double *onto;           /* [n0][n1] cross S1^-1 */
} projection;

static void projection_clear(projection *p) {
  TSL_FREE_ALL(p->root, p->inverse, p->cross, p->onto);
}

static tsl_err projection_create(const xc_basis *from, const xc_basis *to, double limit,
                                 projection *p) {
  tsl_err err = TSL_OK;
  const int64_t n0 = from->n, n1 = to->n, all = n0 + n1;
  double *joint = NULL, *old = NULL, *new = NULL, *work = NULL;
  *p = (projection){.n0 = n0, .n1 = n1};
  TSL_TRY(overlap_of(to, from, NULL, &joint));
  TSL_TRY(xc_matrix_create(n0, n0, "overlap of the guess", &old));
  TSL_TRY(xc_matrix_create(n1, n1, "overlap", &new));
  TSL_TRY(xc_matrix_create(n1, n1, "S^-1", &work));
  TSL_TRY(xc_matrix_create(n0, n0, "S^1/2", &p->root));
  TSL_TRY(xc_matrix_create(n0, n0, "S^-1/2", &p->inverse));
  TSL_TRY(xc_matrix_create(n0, n1, "overlap of two bases", &p->cross));
  TSL_TRY(xc_matrix_create(n0, n1, "projection", &p->onto));
  for (int64_t i = 0; i < n1; i++) memcpy(new + i *n1, joint + i * all, (size_t)n1 * sizeof *new);
  for (int64_t i = 0; i < n0; i++) {
    const double *row = joint + (n1 + i) * all;
    memcpy(p->cross + i * n1, row, (size_t)n1 * sizeof *row);
    memcpy(old + i * n0, row + n1, (size_t)n0 * sizeof *row);
  }
  TSL_TRY(xc_matrix_power(n0, old, 0.5, limit, p->root));
  TSL_TRY(xc_matrix_power(n0, old, -0.5, limit, p->inverse));
  TSL_TRY(xc_matrix_power(n1, new, -1, limit, work));
  TSL_TRY(xc_matrix_product(n0, n1, n1, 1, p->cross, false, work, false, p->onto));
done:
  TSL_FREE_ALL(joint, old, new, work);
  return err;
}

/* The orthonormal orbitals of a density that hold most electrons.
 * @param[out] orbitals  [count][n0] */
static tsl_err fullest_orbitals(const projection *p, const double *density, int64_t count,
                                double *orbitals) {
  tsl_err err = TSL_OK;
  const int64_t n = p->n0;
  double *vectors = NULL, *values = NULL, *work = NULL;
  TSL_TRY(xc_matrix_create(n, n, "natural orbitals", &vectors));
  TSL_TRY(xc_matrix_create(n, n, "natural orbitals", &work));
  TSL_TRY(xc_matrix_create(n, 1, "their electrons", &values));
  TSL_TRY(xc_matrix_project(n, n, density, p->root, work, vectors));
  TSL_TRY(xc_matrix_eigen(n, vectors, values));
  TSL_TRY(xc_matrix_product(count, n, n, 1, vectors + (n - count) * n, false, p->inverse, false,
                            orbitals));
done:
  TSL_FREE_ALL(vectors, values, work);
  return err;
}

/* D' = C'^T (C' S' C'^T)^-1 C' with C' = C S_old,new S'^-1, C the occupied orbitals. */
static tsl_err project_density(const projection *p, const double *density, int64_t count,
                               double limit, double *out) {
  tsl_err err = TSL_OK;
  const int64_t n0 = p->n0, n1 = p->n1;
  double *orbitals = NULL, *moved = NULL, *crossed = NULL, *metric = NULL, *inverse = NULL;
  TSL_TRY(xc_matrix_create(count, n0, "occupied orbitals", &orbitals));
  TSL_TRY(xc_matrix_create(count, n1, "projected orbitals", &moved));
  TSL_TRY(xc_matrix_create(count, n1, "projected orbitals", &crossed));
  TSL_TRY(xc_matrix_create(count, count, "their overlap", &metric));
  TSL_TRY(xc_matrix_create(count, count, "their overlap", &inverse));
  TSL_TRY(fullest_orbitals(p, density, count, orbitals));
  TSL_TRY(xc_matrix_product(count, n1, n0, 1, orbitals, false, p->onto, false, moved));
  TSL_TRY(xc_matrix_product(count, n1, n0, 1, orbitals, false, p->cross, false, crossed));
  TSL_TRY(xc_matrix_product(count, count, n1, 1, crossed, false, moved, true, metric));
  TSL_TRY(xc_matrix_power(count, metric, -1, limit, inverse));
  TSL_TRY(xc_matrix_product(count, n1, count, 1, inverse, false, moved, false, crossed));
  TSL_TRY(xc_matrix_product(n1, n1, count, 1, moved, true, crossed, false, out));
done:
  TSL_FREE_ALL(orbitals, moved, crossed, metric, inverse);
  return err;
}

/* Both spins to another basis. @param[in] count  electrons of each spin */
static tsl_err project_spins(const xc_basis *to, const int64_t count[2], double limit,
                             xc_start *start) {
  tsl_err err = TSL_OK;
  const int64_t n0 = start->basis.n, n1 = to->n;
  projection p = {0};
  double *projected = NULL;
  TSL_TRY(projection_create(&start->basis, to, limit, &p));
  TSL_TRY(xc_matrix_create(start->n_spin * n1, n1, "projected densities", &projected));
  for (int t = 0; t < start->n_spin; t++)
    if (count[t] > 0)
      TSL_TRY(project_density(&p, start->density + t * n0 * n0, count[t], limit,
                              projected + t * n1 * n1));
  tsl_free(start->density);
  start->density = projected, projected = NULL;
done:
  projection_clear(&p);
  tsl_free(projected);
  return err;
}

/* -------------------------------------------------------------------- spins */

/* The density of spin t of the field from those of the guess, with the field's electrons. */
static void set_spin(const xc_start *start, const xc_scf *scf, int t, double *out) {
  const int64_t nn = scf->n * scf->n;
  const double *a = start->density, *b = start->density + (start->n_spin - 1) * nn;
  const bool mean = scf->n_spin < start->n_spin;
  for (int64_t k = 0; k < nn; k++) out[k] = mean ? 0.5 * (a[k] + b[k]) : (t == 0 ? a : b)[k];
  double there = xc_matrix_dot(nn, out, scf->overlap);
  if (!(there > near_electrons)) { /* a spin without electrons in the guess: as the other */
    memcpy(out, a, (size_t)nn * sizeof *out);
    there = xc_matrix_dot(nn, out, scf->overlap);
  }
  for (int64_t k = 0; k < nn; k++) out[k] *= (double)scf->electrons[t] / there;
}

/* A density of orbitals has a whole number of electrons of each spin, which is counted. */
static tsl_err count_electrons(const char *name, const double *overlap, const xc_start *start,
                               int64_t count[2]) {
  tsl_err err = TSL_OK;
  const int64_t n = start->basis.n;
  for (int t = 0; t < start->n_spin; t++) {
    const double there = xc_matrix_dot(n * n, start->density + t * n * n, overlap);
    if (!(there > -near_electrons && fabs(there - round(there)) <= near_electrons) ||
        (t == 0 && there < 0.5) || there > (double)n + 0.5)
      TSL_FAIL(TSL_ERR_INPUT, "%s: its density holds %.6f electrons of spin %d", name, there, t);
    count[t] = (int64_t)round(there);
  }
done:
  return err;
}

/* To where the atoms are and to the field's basis. */
static tsl_err start_fit(const char *name, const xc_basis *basis, double limit, xc_start *start) {
  tsl_err err = TSL_OK;
  const xc_basis none = {.n = 0};
  double *old = NULL, *now = NULL;
  int64_t count[2] = {0, 0};
  TSL_TRY(overlap_of(&none, &start->basis, start->at, &old));
  TSL_TRY(count_electrons(name, old, start, count));
  if (start->moved > 0) {
    TSL_TRY(overlap_of(&none, &start->basis, NULL, &now));
    TSL_TRY(move_density(start->basis.n, old, now, limit, start));
  }
  if (start->projected) TSL_TRY(project_spins(basis, count, limit, start));
done:
  TSL_FREE_ALL(old, now);
  return err;
}

tsl_err xc_start_begin(const xc_start *start, xc_scf *scf) {
  tsl_err err = TSL_OK;
  double *spins[2] = {NULL, NULL};
  for (int t = 0; t < scf->n_spin; t++) {
    TSL_TRY(xc_matrix_create(scf->n, scf->n, "guess", &spins[t]));
    set_spin(start, scf, t, spins[t]);
  }
  TSL_TRY(xc_scf_restart(scf, (const double *const *)spins, 0));
done:
  TSL_FREE_ALL(spins[0], spins[1]);
  return err;
}

tsl_err xc_start_apply(const char *name, const xc_basis *basis, xc_start *start, xc_scf *scf) {
  tsl_err err = TSL_OK;
  TSL_TRY(start_fit(name, basis, scf->options.overlap_limit, start));
  TSL_TRY(xc_start_begin(start, scf));
done:
  return err;
}
