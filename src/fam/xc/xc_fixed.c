/* Rounding to integers, checked sums of integers, and the root's choice of bits from bounds of the
 * sums of a phase. */
#include "xc_fixed.h"

#include "xc_family.h"
#include "xc_matrix.h"

enum { PART = 40, MOST = 62 }; /* guards are in 2^40; sums stay below 2^62 */

bool xc_fixed_flush(int64_t n, double *values, double scale, int64_t *sums) {
  bool good = true;
  for (int64_t k = 0; k < n; k++) {
    if (values[k] == 0) continue;
    good = xc_fixed_add(&sums[k], values[k], scale) && good;
    values[k] = 0;
  }
  return good;
}

bool xc_fixed_join(int64_t n, const int64_t *more, int64_t *sums) {
  bool good = true;
  for (int64_t k = 0; k < n; k++)
    good = !__builtin_add_overflow(sums[k], more[k], &sums[k]) && good;
  return good;
}

/* How large sums are, in 2^40: less than this. */
static int64_t guard_of(int64_t n, const int64_t *sums) {
  uint64_t most = 0;
  for (int64_t k = 0; k < n; k++) {
    const uint64_t size = sums[k] < 0 ? -(uint64_t)sums[k] : (uint64_t)sums[k];
    if (size > most) most = size;
  }
  return (int64_t)(most >> PART) + 1;
}

void xc_fixed_set_guard(tsl_problem *problem, int which, int field) {
  const tsl_field *f = &problem->fields[field];
  int64_t *guards = problem->fields[XC_SUM_GUARD].data;
  guards[which] = guard_of(tsl_field_count(f), f->data);
}

tsl_err xc_fixed_held(bool all, const char *what) {
  if (all) return TSL_OK;
  return tsl_fail(TSL_ERR_NUMERIC, __FILE__, __LINE__,
                  "%s is not finite, or beyond what xc.reproducible can hold", what);
}

/* --------------------------------------------------------------------- bounds */

/* sum_kl |D_kl| Q_kl over both orders of the pairs. */
static double sum_pairs(const xc_own *own, const double *density) {
  const xc_basis *basis = &own->orbital;
  double sum = 0;
  for (int64_t k = 0; k < own->pairs.n; k++) {
    const xc_shell *a = &basis->shells[own->pairs.list[k].a];
    const xc_shell *b = &basis->shells[own->pairs.list[k].b];
    double block = 0;
    for (int i = 0; i < xc_shell_size(a); i++)
      for (int j = 0; j < xc_shell_size(b); j++)
        block += fabs(density[(a->first + i) * basis->n + b->first + j]);
    sum += 2 * block * own->pairs.list[k].bound;
  }
  return sum;
}

/* max_a sum_b Q_ab over functions b; rows are scratch memory [n_shells]. */
static double largest_row(const xc_own *own, double *rows) {
  double most = 0;
  for (int64_t k = 0; k < own->pairs.n; k++) {
    const xc_shell_pair *p = &own->pairs.list[k];
    rows[p->a] += p->bound * xc_shell_size(&own->orbital.shells[p->b]);
    if (p->a != p->b) rows[p->b] += p->bound * xc_shell_size(&own->orbital.shells[p->a]);
  }
  for (int64_t a = 0; a < own->orbital.n_shells; a++) most = fmax(most, rows[a]);
  return most;
}

static double largest_of(int64_t n, const double *values) {
  double most = 0;
  for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(values[k]));
  return most;
}

static double coulomb_bound(const tsl_problem *problem) {
  const xc_own *own = xc_own_of(problem);
  const double *c = problem->fields[XC_IN_COEFFICIENTS].data;
  const double most = own->pairs.n > 0 ? own->pairs.list[0].bound : 0;
  double sum = 0;
  if (!xc_params_of(problem)->fitted) return 2 * most * sum_pairs(own, own->scf.ask_total);
  for (int64_t f = 0; f < own->fitting.n; f++) sum += fabs(c[f]) * own->fit_bounds[f];
  return most * sum;
}

static tsl_err exchange_bound(const tsl_problem *problem, double *bound) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  const xc_params *p = xc_params_of(problem);
  double *rows = NULL, most = 0;
  *bound = 0;
  if (!xc_functional_exact(&p->functional)) goto done;
  TSL_TRY(tsl_alloc(p->n_shells, sizeof *rows, "bounds", (void **)&rows));
  for (int t = 0; t < p->n_spin; t++)
    most = fmax(most, largest_of(p->n * p->n, own->scf.ask_spin[t]));
  *bound = largest_row(own, rows);
  *bound *= 4 * most * *bound;
done:
  tsl_free(rows);
  return err;
}

/* ----------------------------------------------------------------------- root */

tsl_err xc_fixed_choose(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  enum { ROOM = MOST - 1, XC_BITS = 52, MOST_BITS = 1000 };
  const xc_own *own = xc_own_of(problem);
  tsl_field *field = &problem->fields[XC_IN_PRECISION];
  const double electrons = (double)(own->scf.electrons[0] + own->scf.electrons[1]);
  double bounds[XC_N_FIXED] = {0};
  if (!xc_params_of(problem)->reproducible) goto done;
  bounds[XC_FIXED_INTEGRALS] = 64 * (electrons + 1);
  bounds[XC_FIXED_COULOMB] = coulomb_bound(problem);
  TSL_TRY(exchange_bound(problem, &bounds[XC_FIXED_EXCHANGE]));
  for (int k = 0; k < XC_N_FIXED; k++) {
    int exponent = 0;
    if (!isfinite(bounds[k]))
      TSL_FAIL(TSL_ERR_NUMERIC, "the densities of the next phase are not finite");
    (void)frexp(bounds[k], &exponent);
    const int bits = ROOM - exponent < MOST_BITS ? ROOM - exponent : MOST_BITS;
    ((int32_t *)field->data)[1 + k] = k == XC_FIXED_XC ? XC_BITS : bits;
  }
  tsl_field_touch(field);
done:
  return err;
}

tsl_err xc_fixed_check(const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  static const char *const names[XC_N_FIXED] = {"the exchange-correlation matrix",
                                                "the exchange-correlation energy or electrons",
                                                "the Coulomb matrix", "the exchange matrix"};
  const int64_t *guards = problem->fields[XC_SUM_GUARD].data;
  if (!xc_params_of(problem)->reproducible) goto done;
  for (int k = 0; k < XC_N_FIXED; k++)
    if (guards[k] > INT64_C(1) << (MOST - PART))
      TSL_FAIL(TSL_ERR_NUMERIC, "%s: its sum over ranks may pass what xc.reproducible can hold, %g",
               names[k], ldexp(1, MOST - xc_fixed_bits(problem, k)));
done:
  return err;
}

void xc_fixed_take(const tsl_problem *problem, int which, int field, int64_t first, int64_t n,
                   double *out) {
  const double *data = (const double *)problem->fields[field].data + first;
  if (!xc_params_of(problem)->reproducible) {
    xc_matrix_copy(n, data, out);
    return;
  }
  const double unit = ldexp(1, -xc_fixed_bits(problem, which));
  const int64_t *fixed = (const int64_t *)problem->fields[field].data + first;
  for (int64_t k = 0; k < n; k++) out[k] = (double)fixed[k] * unit;
}
