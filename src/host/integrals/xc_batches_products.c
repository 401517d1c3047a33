/* Gradient of fitted exchange (xc_exchange.h): B_Q of products of orbitals, and what the fitted
 * products weigh the derivatives of (P|mn) and (P|Q) by. */
#include "xc_batches_own.h"
#include "xc_exchange.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* Spins that a density stands for, times a. */
static double share_of(const xc_params *p) {
  return p->functional.exchange * (p->n_spin == 1 ? 2 : 1);
}

/* Orbitals of a spin, [rank][n]. */
static const double *orbitals_of(const xc_batches *b, int s, int *rank) {
  int64_t first = 0;
  *rank = (int)xc_exchange_rank(b->problem, s, &first);
  return xc_exchange_orbitals(b->problem, s) + first * b->p->n;
}

/* ---------------------------------------------------------------- integrals */

/* B_Qij of a spin from B_Qmn, which is square. */
static void transform(const xc_batches *b, xc_batch_thread *t, int s, double *out) {
  const int n = (int)b->p->n;
  int m = 0;
  const double *orbitals = orbitals_of(b, s, &m);
  double *half = t->half, *whole = half + b->p->n_orbitals * n;
  if (m == 0) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, n, 1, orbitals, n, t->square, n, 0,
              half, n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, m, n, 1, half, n, orbitals, n, 0, whole,
              m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) *out++ = (i == j ? 1 : M_SQRT2) * whole[i * m + j];
}

tsl_err xc_batches_products_place(xc_batches *b, double **place) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  if (b->products == NULL)
    TSL_TRY(tsl_alloc(p->n_spin * p->n_fit, p->n_products * (int64_t)sizeof(double),
                      "products of orbitals", (void **)&b->products));
  *place = b->products;
done:
  return err;
}

tsl_err xc_batches_products(xc_batches *b, int64_t first, int64_t n) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  double *place = NULL;
  TSL_TRY(xc_batches_gradient_open(b));
  TSL_TRY(xc_batches_products_place(b, &place));
#pragma omp parallel for schedule(static) num_threads(b->threads)
  for (int64_t f = first; f < first + n; f++) {
    xc_batch_thread *t = &b->thread[omp_get_thread_num()];
    memset(t->square, 0, (size_t)(p->n * p->n) * sizeof *t->square);
    xc_fit_unpack(&b->view.orbital, &b->view.pairs, 0, b->view.pairs.n, b->row[f], t->square);
    for (int s = 0; s < p->n_spin; s++)
      transform(b, t, s, place + (s * p->n_fit + f) * p->n_products);
  }
done:
  return err;
}

tsl_err xc_batches_products_collect(xc_batches *b, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  tsl_field *field = &problem->fields[XC_SUM_PRODUCTS];
  const bool made = xc_task_of(problem) == XC_TASK_PRODUCTS;
  tsl_free(field->data);
  field->data = NULL;
  field->shape[0] = made ? p->n_spin : 0;
  if (b->products == NULL || !made)
    TSL_TRY(tsl_field_allocate(field));
  else
    field->data = b->products, b->products = NULL;
done:
  return err;
}

/* ------------------------------------------------------------------ weights */

/* sum_ij C_Pij c_mi c_nj of a spin, square. */
static void back_transform(const xc_batches *b, xc_batch_thread *t, int s, int64_t f) {
  const int n = (int)b->p->n;
  int m = 0;
  const double *orbitals = orbitals_of(b, s, &m), *in = xc_exchange_products(b->problem, s, f);
  double *half = t->half, *whole = half + b->p->n_orbitals * n;
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++)
      whole[i * m + j] = whole[j * m + i] = *in++ * (i == j ? 1 : M_SQRT1_2);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, m, 1, whole, m, orbitals, n, 0, half,
              n);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, m, 1, orbitals, n, half, n, 0,
              t->square, n);
}

static void subtract_packed(const xc_batches *b, const double *square, double factor, double *to) {
  const int64_t n = b->p->n;
  for (int64_t k = 0; k < b->view.pairs.n; k++) {
    const xc_shell *p = &b->view.orbital.shells[b->view.pairs.list[k].a];
    const xc_shell *q = &b->view.orbital.shells[b->view.pairs.list[k].b];
    const double times = factor * (p == q ? 1 : 2);
    for (int i = 0; i < xc_shell_size(p); i++)
      for (int j = 0; j < xc_shell_size(q); j++)
        *to++ -= times * square[(p->first + i) * n + q->first + j];
  }
}

void xc_batches_products_weigh(const xc_batches *b, int64_t first, int64_t n) {
  const double share = share_of(b->p);
#pragma omp parallel for schedule(static) num_threads(b->threads)
  for (int64_t f = first; f < first + n; f++) {
    xc_batch_thread *t = &b->thread[omp_get_thread_num()];
    for (int s = 0; s < b->p->n_spin; s++) {
      int rank = 0;
      (void)orbitals_of(b, s, &rank);
      if (rank == 0) continue;
      back_transform(b, t, s, f);
      subtract_packed(b, t->square, share, b->weights + (f - first) * b->p->n_packed);
    }
  }
}

void xc_batches_products_pair(const xc_batches *b, xc_batch_thread *t, int64_t first, int64_t n) {
  const int m = (int)b->p->n_products;
  for (int s = 0; s < b->p->n_spin && first > 0; s++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)first, m, share_of(b->p),
                xc_exchange_products(b->problem, s, first), m,
                xc_exchange_products(b->problem, s, 0), m, 1, t->pairs, (int)b->p->n_fit);
}
