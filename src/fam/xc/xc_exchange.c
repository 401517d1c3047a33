/* Orbitals of the densities that exchange is asked for. */
#include "xc_exchange.h"

#include "xc_family.h"
#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* Parts of a density below this part of the largest are rounding. */
static const double rounding = 1e-13;

/* Those of a density; nothing of it may be left, as of a negative occupation there is.
 * @param[out] work,orbitals  [n][n] */
static tsl_err orbitals_of(int64_t n, const double *density, double *work, double *orbitals,
                           int32_t *occupied) {
  tsl_err err = TSL_OK;
  double most = 0, left = 0;
  int64_t rank = 0;
  xc_matrix_copy(n * n, density, orbitals);
  xc_matrix_copy(n * n, density, work);
  TSL_TRY(xc_matrix_factor_pivoted(n, rounding, orbitals, &rank));
  TSL_TRY(xc_matrix_outer(n, rank, -1, orbitals, 1, work));
  for (int64_t k = 0; k < n * n; k++) {
    most = fmax(most, fabs(density[k]));
    if (!(fabs(work[k]) <= left)) left = fabs(work[k]); /* NaN stays */
  }
  if (!(left <= 1e3 * rounding * most))
    TSL_FAIL(
        TSL_ERR_NUMERIC,
        "a density has a negative occupation: of elements of at most %g a sum of squares leaves "
        "%g, so exchange cannot be fitted",
        most, left);
  *occupied = (int32_t)rank;
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
  double *orbitals = problem->fields[XC_IN_ORBITALS].data, *work = NULL;
  int32_t *occupied = problem->fields[XC_IN_OCCUPIED].data;
  if (!p->fitted_exchange) goto done;
  TSL_TRY(xc_matrix_create(n, n, "what is left of a density", &work));
  for (int s = 0; s < p->n_spin; s++) {
    double *to = orbitals + s * n * n;
    if (take_filled(&xc_own_of(problem)->scf, s, to, &occupied[s])) continue;
    TSL_TRY(orbitals_of(n, xc_asked_spin(problem, s), work, to, &occupied[s]));
  }
  tsl_field_touch(&problem->fields[XC_IN_ORBITALS]);
  tsl_field_touch(&problem->fields[XC_IN_OCCUPIED]);
done:
  tsl_free(work);
  return err;
}
