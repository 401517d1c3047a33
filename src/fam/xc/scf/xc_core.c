/* Has a basis functions for the electrons near the nuclei? Sets that were made for an effective
 * core potential have none, and without the potential their energies mean nothing. */
#include "xc_basis.h"
#include "xc_matrix.h"
#include "xc_orthogonal.h"

#include <math.h>

/* One electron at the bare nucleus has -Z^2/2. All-electron sets reach 0.93 of it and more (STO-3G
 * 0.98, a single Gaussian 0.85); what was made for a potential reaches 0.01 to 0.78, but for
 * lithium and beryllium with uncontracted functions. Hydrogen and helium have no core. */
static const double part_needed = 0.8;
enum { FIRST_WITH_CORE = 3 };

/* Sums over the primitives of two s shells at the nucleus. */
static void integrate(const xc_shell *p, const xc_shell *q, double z, double *overlap,
                      double *energy) {
  *overlap = *energy = 0;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < q->n; j++) {
      const double a = p->exponent[i], b = q->exponent[j], sum = a + b;
      const double part = p->coefficient[i] * q->coefficient[j] * pow(M_PI / sum, 1.5);
      *overlap += part;
      *energy += part * (3 * a * b / sum - 2 * z * sqrt(sum / M_PI));
    }
}

/* Lowest level of one electron in the s shells among the n given. @param[out] level  0: none */
static tsl_err lowest_level(const xc_shell *shells, int64_t n, double z, double *level) {
  tsl_err err = TSL_OK;
  const xc_shell **list = NULL;
  double *overlap = NULL, *energy = NULL, *half = NULL, *orbitals = NULL, *levels = NULL;
  int64_t m = 0, independent = 0;
  *level = 0;
  TSL_TRY(tsl_alloc(n > 0 ? n : 1, sizeof *list, "s shells", (void **)&list));
  for (int64_t k = 0; k < n; k++)
    if (shells[k].l == 0) list[m++] = &shells[k];
  if (m == 0) goto done;
  TSL_TRY(xc_matrix_create(m, m, "overlap of s shells", &overlap));
  TSL_TRY(xc_matrix_create(m, m, "energies of s shells", &energy));
  TSL_TRY(xc_matrix_create(m, m, "orbitals of s shells", &orbitals));
  TSL_TRY(xc_matrix_create(m, 1, "levels of s shells", &levels));
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < m; j++)
      integrate(list[i], list[j], z, &overlap[i * m + j], &energy[i * m + j]);
  TSL_TRY(xc_orthogonal_create(m, overlap, 1e-8, &half, &independent, NULL));
  TSL_TRY(xc_orthogonal_orbitals(m, independent, energy, half, orbitals, levels));
  *level = levels[0];
done:
  tsl_free(list);
  tsl_free(overlap), tsl_free(energy), tsl_free(half), tsl_free(orbitals), tsl_free(levels);
  return err;
}

tsl_err xc_basis_check_core(const char *name, const xc_molecule *molecule, const xc_basis *basis) {
  tsl_err err = TSL_OK;
  bool seen[XC_MAX_Z + 1] = {false};
  for (int64_t k = 0, n; k < basis->n_shells; k += n) {
    const int32_t atom = basis->shells[k].atom, z = molecule->atoms[atom].z;
    double level = 0;
    for (n = 1; k + n < basis->n_shells && basis->shells[k + n].atom == atom;) n++;
    if (z < FIRST_WITH_CORE || seen[z] || molecule->atoms[atom].core > 0) continue;
    seen[z] = true;
    TSL_TRY(lowest_level(&basis->shells[k], n, z, &level));
    if (!(-level >= part_needed * 0.5 * z * z))
      TSL_FAIL(
          TSL_ERR_INPUT,
          "basis %s has no functions for the core of %s (atom %lld): at the bare nucleus they "
          "reach %.3g of the lowest level; it seems made for an effective core potential, which "
          "xc.ecp names",
          name, xc_symbol(z), (long long)atom + 1, -level / (0.5 * z * z));
  }
done:
  return err;
}
