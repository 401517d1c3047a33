/* Effective core potentials of elements and atoms. */
#include "xc_ecp.h"

#include <string.h>

void xc_ecps_clear(xc_ecps *ecps) {
  tsl_free(ecps->list);
  *ecps = (xc_ecps){.n = 0};
}

const xc_ecp *xc_ecp_of(const xc_ecps *ecps, int32_t z) {
  for (int64_t k = 0; k < ecps->n; k++)
    if (ecps->list[k].z == z) return &ecps->list[k];
  return NULL;
}

bool xc_ecp_core(int32_t core, double electrons[4]) {
  /* closed shells of each l; by n, but that 4f comes before 5s, or 5s and 5p before 4f */
  static const int shells[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 1, 0, 0}, {3, 2, 0, 0},
                                  {3, 2, 1, 0}, {4, 3, 1, 0}, {4, 3, 2, 0}, {5, 4, 2, 0},
                                  {4, 3, 2, 1}, {5, 4, 2, 1}, {5, 4, 3, 1}};
  for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
    const int *n = shells[k];
    if (2 * n[0] + 6 * n[1] + 10 * n[2] + 14 * n[3] != core) continue;
    for (int l = 0; l < 4; l++) electrons[l] = n[l] * 2 * (2 * l + 1);
    return true;
  }
  memset(electrons, 0, 4 * sizeof *electrons);
  return false;
}

static bool has_element(const xc_molecule *molecule, int32_t z) {
  for (int64_t a = 0; a < molecule->n_atoms; a++)
    if (xc_real_z(&molecule->atoms[a]) == z) return true;
  return false;
}

tsl_err xc_ecps_choose(const xc_ecps *from, const xc_molecule *molecule, xc_ecps *out) {
  tsl_err err = TSL_OK;
  *out = (xc_ecps){.n = 0};
  if (from->n == 0) goto done;
  TSL_TRY(tsl_alloc(from->n, sizeof *out->list, "core potentials", (void **)&out->list));
  for (int64_t k = 0; k < from->n; k++)
    if (has_element(molecule, from->list[k].z)) out->list[out->n++] = from->list[k];
done:
  return err;
}

tsl_err xc_ecps_place(const char *what, const xc_ecps *ecps, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  for (int64_t a = 0; a < molecule->n_atoms; a++) {
    xc_atom *atom = &molecule->atoms[a];
    const xc_ecp *ecp = xc_ecp_of(ecps, xc_real_z(atom));
    atom->core = ecp != NULL ? ecp->core : 0;
  }
  TSL_TRY(xc_molecule_count(what, molecule));
done:
  return err;
}
