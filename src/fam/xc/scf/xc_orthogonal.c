/* Both functions diagonalise with xc_matrix.h. Combinations of small overlap eigenvalues are
 * dropped, so there may be fewer orbitals than functions. */
#include "xc_orthogonal.h"

#include "xc_matrix.h"

#include "memory.h"

#include <math.h>
#include <string.h>

tsl_err xc_orthogonal_create(int64_t n, const double *overlap, double limit, double **half,
                             int64_t *independent, double *smallest) {
  tsl_err err = TSL_OK;
  double *vectors = NULL, *values = NULL;
  *half = NULL, *independent = 0;
  TSL_TRY(xc_matrix_create(n, n, "vectors of the overlap", &vectors));
  TSL_TRY(xc_matrix_create(n, 1, "eigenvalues of the overlap", &values));
  memcpy(vectors, overlap, (size_t)(n * n) * sizeof *vectors);
  TSL_TRY(xc_matrix_eigen(n, vectors, values));
  if (smallest != NULL) *smallest = values[0];
  for (int64_t k = 0; k < n; k++) {
    if (values[k] < limit) continue;
    for (int64_t i = 0; i < n; i++)
      vectors[*independent * n + i] = vectors[k * n + i] / sqrt(values[k]);
    ++*independent;
  }
  if (*independent == 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "no eigenvalue of the overlap reaches %g; the largest is %g", limit,
             values[n - 1]);
  *half = vectors;
  vectors = NULL;
done:
  TSL_FREE_ALL(vectors, values);
  return err;
}

tsl_err xc_orthogonal_orbitals(int64_t n, int64_t m, const double *fock, const double *half,
                               double *orbitals, double *energies) {
  tsl_err err = TSL_OK;
  double *work = NULL, *small = NULL;
  TSL_TRY(xc_matrix_create(m, n, "half a Fock matrix", &work));
  TSL_TRY(xc_matrix_create(m, m, "a Fock matrix", &small));
  TSL_TRY(xc_matrix_project(m, n, fock, half, work, small));
  TSL_TRY(xc_matrix_eigen(m, small, energies));
  TSL_TRY(xc_matrix_product(m, n, m, 1, small, false, half, false, orbitals));
done:
  TSL_FREE_ALL(work, small);
  return err;
}
