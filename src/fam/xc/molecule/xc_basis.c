/* From a set to the shells of a molecule: normalisation, radii. */
#include "xc_basis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double FUNCTION_LIMIT = 1e-10; /* of xc_shell.radius */

void xc_set_clear(xc_set *set) {
  tsl_free(set->shells);
  xc_ecps_clear(&set->ecps);
  memset(set, 0, sizeof *set);
}

/* ----------------------------------------------------------- one shell */

/* Integral of x^(2l) exp(-p r^2) over space: (2l - 1)!! / (2 p)^l (pi / p)^(3/2). */
static double moment(int l, double p) {
  double value = pow(M_PI / p, 1.5);
  for (int k = 1; k <= l; k++) value *= (2 * k - 1) / (2 * p);
  return value;
}

tsl_err xc_shell_normalise(xc_shell *shell) {
  tsl_err err = TSL_OK;
  const double *a = shell->exponent;
  double *c = shell->coefficient, norm = 0, size = 0;
  for (int k = 0; k < shell->n; k++) c[k] /= sqrt(moment(shell->l, 2 * a[k]));
  for (int j = 0; j < shell->n; j++)
    for (int k = 0; k < shell->n; k++) {
      const double part = c[j] * c[k] * moment(shell->l, a[j] + a[k]);
      norm += part, size += fabs(part);
    }
  if (!isfinite(size) || !(norm > 1e-12 * size))
    TSL_FAIL(TSL_ERR_INPUT, "a contraction with l = %d cannot be normalised: its norm is %g",
             (int)shell->l, norm);
  for (int k = 0; k < shell->n; k++) c[k] /= sqrt(norm);
done:
  return err;
}

/* Logarithm of the bound r^l sum |c_k| exp(-a_k r^2), free of underflow. */
static double log_bound(const xc_shell *shell, double r) {
  double most = -INFINITY, sum = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < shell->n; k++) {
      if (shell->coefficient[k] == 0) continue;
      const double term = log(fabs(shell->coefficient[k])) - shell->exponent[k] * r * r;
      if (pass == 0)
        most = fmax(most, term);
      else
        sum += exp(term - most);
    }
  return (shell->l > 0 ? shell->l * log(r) : 0) + most + log(sum);
}

/**
 * Radius beyond which no function of the shell exceeds FUNCTION_LIMIT: the largest root of
 * r^l sum_k |c_k| exp(-a_k r^2) = limit, by bisection to 1e-9 (all angular parts are <= 1).
 */
static double radius_of(const xc_shell *shell) {
  double lo = 0, hi = 0;
  const double wanted = log(FUNCTION_LIMIT);
  for (int k = 0; k < shell->n; k++) /* beyond its maximum each term falls */
    lo = fmax(lo, sqrt(shell->l / (2 * shell->exponent[k])));
  if (lo > 0 && log_bound(shell, lo) <= wanted) return lo;
  if (lo == 0 && log_bound(shell, 0) <= wanted) return 0;
  for (hi = lo + 1; log_bound(shell, hi) > wanted; hi *= 2) lo = hi;
  while (hi - lo > 1e-9 * hi) {
    const double middle = 0.5 * (lo + hi);
    if (log_bound(shell, middle) > wanted)
      lo = middle;
    else
      hi = middle;
  }
  return hi;
}

/* ------------------------------------------------------------- a molecule */

static int64_t count_shells(const xc_set *set, int32_t z) {
  int64_t n = 0;
  for (int64_t k = 0; k < set->n; k++) n += set->shells[k].z == z;
  return n;
}

/* Every element of the molecule must be in the set; names all that are not. */
static tsl_err check_elements(const xc_set *set, const xc_molecule *molecule,
                              int64_t counts[XC_MAX_Z + 1]) {
  tsl_err err = TSL_OK;
  char list[256] = "";
  bool seen[XC_MAX_Z + 1] = {false};
  for (int64_t a = 0; a < molecule->n_atoms; a++) {
    const int32_t z = molecule->atoms[a].z;
    if (!seen[z]) counts[z] = count_shells(set, z);
    if (!seen[z] && counts[z] == 0) {
      const size_t used = strlen(list);
      (void)snprintf(list + used, sizeof list - used, "%s%s (atom %lld)", used > 0 ? ", " : "",
                     xc_symbol(z), (long long)a + 1);
    }
    seen[z] = true;
  }
  if (list[0] != '\0') TSL_FAIL(TSL_ERR_INPUT, "basis %s has no functions for %s", set->name, list);
done:
  return err;
}

static tsl_err place_shell(const xc_set *set, const xc_set_shell *from, bool spherical,
                           const xc_molecule *molecule, int64_t atom, xc_shell *shell) {
  tsl_err err = TSL_OK;
  *shell = (xc_shell){.atom = (int32_t)atom, .l = from->l, .spherical = spherical, .n = from->n};
  memcpy(shell->at, molecule->atoms[atom].at, sizeof shell->at);
  memcpy(shell->exponent, from->exponent, sizeof shell->exponent);
  memcpy(shell->coefficient, from->coefficient, sizeof shell->coefficient);
  if (xc_shell_normalise(shell) != TSL_OK) {
    char why[160];
    (void)snprintf(why, sizeof why, "%s", tsl_err_message());
    TSL_FAIL(TSL_ERR_INPUT, "basis %s, element %s: %s", set->name, xc_symbol(from->z), why);
  }
  shell->radius = radius_of(shell);
done:
  return err;
}

tsl_err xc_basis_create(const xc_set *set, xc_kind kind, const xc_molecule *molecule,
                        xc_basis *basis) {
  tsl_err err = TSL_OK;
  int64_t counts[XC_MAX_Z + 1] = {0}, n = 0;
  const xc_kind wanted = kind != XC_KIND_AUTO ? kind : (xc_kind)set->kind;
  memset(basis, 0, sizeof *basis);
  TSL_TRY(check_elements(set, molecule, counts));
  for (int64_t a = 0; a < molecule->n_atoms; a++) n += counts[molecule->atoms[a].z];
  if (n > XC_SET_MAX_SHELLS)
    TSL_FAIL(TSL_ERR_INPUT, "basis %s: %lld shells for this molecule; at most %d are allowed",
             set->name, (long long)n, XC_SET_MAX_SHELLS);
  TSL_TRY(tsl_alloc(n, sizeof *basis->shells, "shells", (void **)&basis->shells));
  for (int64_t a = 0; a < molecule->n_atoms; a++)
    for (int64_t k = 0; k < set->n; k++) {
      if (set->shells[k].z != molecule->atoms[a].z) continue;
      xc_shell *shell = &basis->shells[basis->n_shells];
      TSL_TRY(place_shell(set, &set->shells[k], wanted != XC_KIND_CARTESIAN, molecule, a, shell));
      shell->first = basis->n;
      basis->n += xc_shell_size(shell);
      basis->n_shells++;
    }
done:
  if (err != TSL_OK) xc_basis_clear(basis);
  return err;
}
