/* The gradient on the root: its phases begin, what units add is kept, and what no unit does
 * follows: one-electron matrices, the energy-weighted density, nuclei. */
#include "xc_ecp_integrals.h"
#include "xc_family.h"
#include "xc_matrix.h"
#include "xc_one_gradient.h"

#include "parallel.h"

#include <string.h>

/* ------------------------------------------------------------------- phases */

tsl_err xc_gradient_begin(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  TSL_TRY(tsl_alloc(own->molecule.n_atoms + own->molecule.n_charges, sizeof *own->gradient,
                    "gradient", (void **)&own->gradient));
  own->gradient_begun = true;
  xc_set_task(problem, xc_params_of(problem)->n_products > 0 ? XC_TASK_PRODUCTS : XC_TASK_GRADIENT,
              0);
  TSL_TRY(xc_put_whole(problem));
done:
  return err;
}

void xc_gradient_take(const tsl_problem *problem) {
  const double(*sum)[3] = problem->fields[XC_SUM_GRADIENT].data;
  xc_own *own = xc_own_of(problem);
  for (int64_t a = 0; a < own->molecule.n_atoms; a++)
    for (int x = 0; x < 3; x++) own->gradient[a][x] += sum[a][x];
}

/* out[P][k] = sum_Q (L^-1)_QP in[Q][k]; columns of L^-1 are rows here. */
static tsl_err solve(const tsl_problem *problem, int64_t n, const double *in, double *out) {
  const int64_t fit = xc_params_of(problem)->n_fit;
  return xc_matrix_product(fit, n, fit, 1, xc_own_of(problem)->metric, false, in, false, out);
}

tsl_err xc_gradient_solve(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  tsl_field *fields = problem->fields;
  const int64_t size = p->n_fit * p->n_products;
  const double *from = fields[XC_SUM_PRODUCTS].data;
  double *to = fields[XC_IN_PRODUCTS].data;
  TSL_TRY(solve(problem, 1, fields[XC_SUM_GAMMA].data, fields[XC_IN_COEFFICIENTS].data));
  for (int s = 0; s < p->n_spin; s++)
    TSL_TRY(solve(problem, p->n_products, from + s * size, to + s * size));
  tsl_field_touch(&fields[XC_IN_COEFFICIENTS]);
  tsl_field_touch(&fields[XC_IN_PRODUCTS]);
  xc_set_task(problem, XC_TASK_GRADIENT, 0);
done:
  return err;
}

/* ------------------------------------------------- energy-weighted density */

/**
 * weighted += D F S^-1 + S^-1 F D times half the spins that D stands for. With orbitals and levels
 * of F it is sum_k n_k e_k c_k c_k^T; so, of D and its own F, it is the derivative of the energy
 * when functions move and D stays orthonormal by Loewdin's way, whatever the occupations, however
 * far from the end (P. Pulay, Mol. Phys. 17 (1969) 197). S^-1 is half^T half.
 */
static tsl_err add_weighted(const xc_scf *scf, int t, double *work[3], double *weighted) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n, m = scf->m;
  TSL_TRY(xc_matrix_product(n, n, n, 1, scf->fock[t], false, scf->density[t], false, work[0]));
  TSL_TRY(xc_matrix_product(m, n, n, 1, scf->half, false, work[0], false, work[1]));
  TSL_TRY(xc_matrix_product(n, n, m, 1, scf->half, true, work[1], false, work[2]));
  xc_matrix_symmetrise(n, scf->n_spin == 1 ? 1 : 0.5, work[2]);
  xc_matrix_add(n * n, 1, work[2], weighted);
done:
  return err;
}

static tsl_err make_weighted(const xc_scf *scf, double **weighted) {
  tsl_err err = TSL_OK;
  double *work[3] = {NULL, NULL, NULL};
  for (int k = 0; k < 3; k++)
    TSL_TRY(xc_matrix_create(scf->n, scf->n, "energy-weighted density", &work[k]));
  TSL_TRY(xc_matrix_create(scf->n, scf->n, "energy-weighted density", weighted));
  for (int t = 0; t < scf->n_spin; t++) TSL_TRY(add_weighted(scf, t, work, *weighted));
done:
  for (int k = 0; k < 3; k++) tsl_free(work[k]);
  return err;
}

/* ------------------------------------------------------------- one electron */

/* Rows of shells are dealt to so many sums, however many threads there are. */
enum { PARTS = 32 };

typedef struct one_electron {
  const xc_basis *basis;
  const xc_charge *charges; /* nuclei, then point charges */
  int64_t n_charges;
  const double *density, *weighted; /* weighted: of the overlap, with its sign */
  double (*sums)[3];                /* [PARTS][n_charges] */
} one_electron;

static tsl_err add_parts(void *context, int slot, int64_t lo, int64_t hi) {
  const one_electron *o = context;
  (void)slot;
  for (int64_t part = lo; part < hi; part++) {
    double(*sum)[3] = o->sums + part * o->n_charges;
    for (int64_t a = part; a < o->basis->n_shells; a += PARTS) {
      xc_overlap_kinetic_gradient(o->basis, a, a + 1, o->weighted, o->density, sum);
      xc_attraction_gradient(o->basis, o->charges, o->n_charges, a, a + 1, o->density, sum, sum);
    }
  }
  return TSL_OK;
}

static tsl_err add_one_electron(xc_own *own, double *weighted) {
  tsl_err err = TSL_OK;
  const xc_molecule *m = &own->molecule;
  const int64_t n = m->n_atoms + m->n_charges;
  xc_charge *charges = NULL;
  one_electron o = {&own->orbital, NULL, n, own->scf.total, weighted, NULL};
  TSL_TRY(xc_all_charges(m, &charges));
  TSL_TRY(tsl_alloc(PARTS * n, sizeof *o.sums, "gradients", (void **)&o.sums));
  o.charges = charges;
  for (int64_t k = 0; k < own->scf.n * own->scf.n; k++) weighted[k] = -weighted[k];
  TSL_TRY(tsl_parallel(PARTS, 1, add_parts, &o));
  for (int64_t k = 0; k < PARTS * n; k++)
    for (int x = 0; x < 3; x++) own->gradient[k % n][x] += o.sums[k][x];
done:
  TSL_FREE_ALL(charges, o.sums);
  return err;
}

tsl_err xc_gradient_finish(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  double *weighted = NULL;
  TSL_TRY(make_weighted(&own->scf, &weighted));
  TSL_TRY(add_one_electron(own, weighted));
  TSL_TRY(xc_ecp_gradient(&own->molecule, &own->orbital.ecps, &own->orbital, own->scf.total,
                          own->gradient));
  xc_repulsion_gradient(&own->molecule, own->gradient);
  xc_lj_gradient(&own->lennard_jones, &own->molecule, own->gradient);
  for (int64_t a = 0; a < own->molecule.n_atoms && own->dispersion.gradient != NULL; a++)
    for (int x = 0; x < 3; x++) own->gradient[a][x] += own->dispersion.gradient[a][x];
  own->gradient_done = true;
done:
  tsl_free(weighted);
  return err;
}
