/* Orbitals of the densities that exchange is asked for. */
#include "xc_exchange.h"

#include "xc_family.h"
#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* Occupations below this part of the largest are rounding. */
static const double rounding = 1e-13;

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
  double *orbitals = problem->fields[XC_IN_ORBITALS].data;
  int32_t *occupied = problem->fields[XC_IN_OCCUPIED].data;
  if (!p->fitted_exchange) goto done;
  for (int s = 0; s < p->n_spin; s++) {
    double *to = orbitals + s * n * n;
    int64_t rank = 0;
    if (take_filled(&xc_own_of(problem)->scf, s, to, &occupied[s])) continue;
    TSL_TRY(xc_matrix_roots(n, "a density that exchange is fitted of", xc_asked_spin(problem, s),
                            to, &rank));
    occupied[s] = (int32_t)rank;
  }
  tsl_field_touch(&problem->fields[XC_IN_ORBITALS]);
  tsl_field_touch(&problem->fields[XC_IN_OCCUPIED]);
done:
  return err;
}
