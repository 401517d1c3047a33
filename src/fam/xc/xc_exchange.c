/* Orbitals of the densities that exchange is asked for. */
#include "xc_exchange.h"

#include "xc_family.h"
#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* Eigenvalues of a density below this part of the largest are rounding. */
static const double rounding = 1e-13;

/* @param[in,out] vectors  the density; on return its orbitals, one a row */
static tsl_err orbitals_of(int64_t n, double *vectors, double *values, int32_t *occupied) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_matrix_eigen(n, vectors, values));
  const double least = rounding * fmax(fabs(values[0]), fabs(values[n - 1]));
  int64_t found = 0;
  if (values[0] < -1e3 * least)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "a density has a negative occupation (%g of at most %g), of which exchange cannot be "
             "fitted",
             values[0], values[n - 1]);
  for (int64_t k = 0; k < n; k++) {
    if (values[k] <= least) continue;
    double *to = vectors + found * n;
    for (int64_t i = 0; i < n; i++) to[i] = sqrt(values[k]) * vectors[k * n + i];
    found++;
  }
  *occupied = (int32_t)found;
done:
  return err;
}

/* Those that the density of spin s was made of, where it was; those that are as good as empty left
 * out. @return whether */
static bool take_filled(const xc_scf *scf, int s, double *orbitals, int32_t *occupied) {
  int64_t n = scf->filled[s];
  if (n == 0) return false;
  while (n > 1 && scf->occupations[s][n - 1] <= rounding * scf->occupations[s][0]) n--;
  memcpy(orbitals, scf->orbitals[s], (size_t)(n * scf->n) * sizeof *orbitals);
  *occupied = (int32_t)n;
  return true;
}

tsl_err xc_put_orbitals(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  const int64_t n = p->n;
  double *orbitals = problem->fields[XC_IN_ORBITALS].data, *values = NULL;
  int32_t *occupied = problem->fields[XC_IN_OCCUPIED].data;
  if (!p->fitted_exchange) goto done;
  TSL_TRY(xc_matrix_create(n, 1, "occupations", &values));
  for (int s = 0; s < p->n_spin; s++) {
    double *to = orbitals + s * n * n;
    if (take_filled(&xc_own_of(problem)->scf, s, to, &occupied[s])) continue;
    memcpy(to, xc_asked_spin(problem, s), (size_t)(n * n) * sizeof *to);
    TSL_TRY(orbitals_of(n, to, values, &occupied[s]));
  }
  tsl_field_touch(&problem->fields[XC_IN_ORBITALS]);
  tsl_field_touch(&problem->fields[XC_IN_OCCUPIED]);
done:
  tsl_free(values);
  return err;
}
