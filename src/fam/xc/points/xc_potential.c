/* The density as Hermite Gaussians, a list of them for each shell, and their potential at points.
 */
#include "xc_potential.h"

#include "xc_primitives.h"

#include <math.h>
#include <string.h>

static const double SMALLEST = 1e-12; /* hartree */

/* Hermite Gaussians of one exponent and centre. */
typedef struct cloud {
  double p, at[3];
  int64_t first; /* of its numbers, of degree <= l */
  int32_t l, zero;
} cloud;

/* Pairs of one shell with those before it. */
typedef struct cloud_row {
  cloud *list;
  double *numbers;
  int64_t n, room, n_numbers, numbers_room;
} cloud_row;

struct xc_potential {
  const xc_charge *charges; /* [n_charges] */
  int64_t n_charges;
  const xc_basis *basis;
  cloud_row *rows; /* [n_shells] */
};

/* ---------------------------------------------------------------- one pair */

/* exp(-a b / (a + b) |AB|^2) of the s functions, as xc_attraction leaves pairs out. */
static double overlap_of(const xc_shell *a, const xc_shell *b, int i, int j) {
  const double alpha = a->exponent[i], beta = b->exponent[j];
  double d2 = 0;
  for (int x = 0; x < 3; x++) d2 += (a->at[x] - b->at[x]) * (a->at[x] - b->at[x]);
  return fabs(a->coefficient[i] * b->coefficient[j]) * 2 * M_PI / (alpha + beta) *
         exp(-alpha * beta / (alpha + beta) * d2);
}

int64_t xc_potential_pairs(const xc_basis *basis) {
  int64_t n = 0;
  for (int64_t s = 0; s < basis->n_shells; s++)
    for (int64_t t = 0; t <= s; t++)
      for (int i = 0; i < basis->shells[s].n; i++)
        for (int j = 0; j < basis->shells[t].n; j++)
          n += overlap_of(&basis->shells[s], &basis->shells[t], i, j) >= SMALLEST;
  return n;
}

/* Add the numbers of Cartesian functions of powers i and j whose density is d. */
static void add_element(const xc_expansion e[3], const int i[3], const int j[3], double d,
                        double *numbers) {
  for (int t = 0; t <= i[0] + j[0]; t++)
    for (int u = 0; u <= i[1] + j[1]; u++) {
      const double tu = d * e[0].of[i[0]][j[0]][t] * e[1].of[i[1]][j[1]][u];
      for (int v = 0; v <= i[2] + j[2]; v++)
        numbers[xc_hermite_at(t, u, v)] += tu * e[2].of[i[2]][j[2]][v];
    }
}

/* More than the potential of these numbers is anywhere: |R_tuv| < sqrt(2^d d!) p^(d/2). */
static double bound_of(const cloud *c, const double *numbers) {
  double bound = 0, factor = 1;
  for (int d = 0, h = 0; d <= c->l; d++) {
    for (; h < xc_hermite_count(d); h++) bound += factor * fabs(numbers[h]);
    factor *= sqrt(2 * (d + 1) * c->p);
  }
  return bound;
}

/* @param[in] block  of xc_primitives_density. @return false: too little to feel any charge */
static bool set_cloud(const xc_primitives *q, const double *block, cloud *c, double *numbers) {
  const xc_one_tables *tables = xc_one_tables_get();
  const int na = XC_CARTESIANS(q->a->l), nb = XC_CARTESIANS(q->b->l);
  double factor;
  if (!xc_primitives_feel(q, &factor)) return false;
  *c = (cloud){.p = q->p, .at = {q->at[0], q->at[1], q->at[2]}, .l = q->a->l + q->b->l};
  memset(numbers, 0, (size_t)xc_hermite_count(c->l) * sizeof *numbers);
  for (int k = 0; k < na; k++)
    for (int m = 0; m < nb; m++)
      add_element(q->e, tables->power[q->a->l][k], tables->power[q->b->l][m],
                  factor * block[k * nb + m], numbers);
  return bound_of(c, numbers) >= SMALLEST;
}

/* --------------------------------------------------------------------- rows */

static tsl_err add_cloud(cloud_row *row, const cloud *c, const double *numbers) {
  tsl_err err = TSL_OK;
  const int64_t count = xc_hermite_count(c->l);
  TSL_TRY(tsl_grow((void **)&row->list, row->n, 1, &row->room, sizeof *row->list,
                   "pairs of primitives"));
  TSL_TRY(tsl_grow((void **)&row->numbers, row->n_numbers, count, &row->numbers_room,
                   sizeof *row->numbers, "density of pairs of primitives"));
  row->list[row->n] = *c;
  row->list[row->n++].first = row->n_numbers;
  memcpy(row->numbers + row->n_numbers, numbers, (size_t)count * sizeof *numbers);
  row->n_numbers += count;
done:
  return err;
}

static tsl_err add_shells(const xc_basis *basis, const double *total, const xc_shell *a,
                          const xc_shell *b, cloud_row *row) {
  tsl_err err = TSL_OK;
  double block[XC_ONE_BLOCK], numbers[XC_HERMITES];
  xc_primitives_density(basis, a, b, total, block);
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++) {
      xc_primitives q;
      cloud c;
      xc_primitives_set(&q, a, b, i, j, 0, 0);
      if (set_cloud(&q, block, &c, numbers)) TSL_TRY(add_cloud(row, &c, numbers));
    }
done:
  return err;
}

tsl_err xc_potential_shell(xc_potential *v, const double *total, int64_t shell) {
  tsl_err err = TSL_OK;
  const xc_shell *shells = v->basis->shells;
  for (int64_t b = 0; b <= shell; b++)
    TSL_TRY(add_shells(v->basis, total, &shells[shell], &shells[b], &v->rows[shell]));
done:
  return err;
}

void xc_potential_destroy(xc_potential **potential) {
  xc_potential *v = *potential;
  if (v == NULL) return;
  for (int64_t s = 0; v->rows != NULL && s < v->basis->n_shells; s++)
    TSL_FREE_ALL(v->rows[s].list, v->rows[s].numbers);
  TSL_FREE_ALL(v->rows, v);
  *potential = NULL;
}

tsl_err xc_potential_create(const xc_charge *charges, int64_t n_charges, const xc_basis *basis,
                            xc_potential **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof **out, "the potential", (void **)out));
  xc_potential *v = *out;
  v->charges = charges, v->n_charges = n_charges, v->basis = basis;
  TSL_TRY(tsl_alloc(basis->n_shells, sizeof *v->rows, "the potential", (void **)&v->rows));
done:
  if (err != TSL_OK) xc_potential_destroy(out);
  return err;
}

/* ------------------------------------------------------------------- points */

static void add_charge(double q, const double at[3], const xc_places *points, double *out) {
  const double least = XC_POTENTIAL_NEAREST;
#pragma omp simd
  for (int64_t p = 0; p < points->n; p++) {
    const double x = points->x[p] - at[0], y = points->y[p] - at[1], z = points->z[p] - at[2];
    const double r = sqrt(x * x + y * y + z * z);
    out[p] += q / (r > least ? r : least);
  }
}

void xc_potential_at(const xc_potential *v, const xc_places *points, double *out) {
  const xc_one_tables *tables = xc_one_tables_get();
  const double *const places[3] = {points->x, points->y, points->z};
  memset(out, 0, (size_t)points->n * sizeof *out);
  for (int64_t s = 0; s < v->basis->n_shells; s++)
    for (int64_t k = 0; k < v->rows[s].n; k++) {
      const cloud *c = &v->rows[s].list[k];
      xc_hermite_points(tables, c->l, c->p, c->at, v->rows[s].numbers + c->first, places, points->n,
                        out);
    }
  for (int64_t k = 0; k < v->n_charges; k++)
    add_charge(v->charges[k].q, v->charges[k].at, points, out);
}
