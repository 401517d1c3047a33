/* Exact exchange by density fitting (xc_exchange.h) on the threads of a host: orbitals are taken as
 * many at a time as there is memory for X. Each product is a thread's own. */
#include "xc_batches_own.h"
#include "xc_exchange.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

/** Orbitals that are computed together. */
typedef struct block {
  const double *orbitals; /**< [n][functions] */
  int64_t n;
  int spin;
} block;

void xc_batches_mirror(int64_t n, double *matrix) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) matrix[i * n + j] = matrix[j * n + i];
}

/* X of functions [first, end), whose rows are there. Pairs that are not listed are 0. */
static void add_x(xc_batches *b, const block *k, int64_t first, int64_t end) {
  const int n = (int)b->p->n, m = (int)k->n;
#pragma omp parallel for schedule(static) num_threads(b->threads)
  for (int64_t f = first; f < end; f++) {
    double *square = b->thread[omp_get_thread_num()].square;
    xc_fit_unpack(&b->view.orbital, &b->view.pairs, b->row[f], square);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, n, 1, k->orbitals, n, square, n, 0,
                b->x + f * m * n, n);
  }
}

/* Y = L^-1 X, a slab of columns at a time; L is column by column, so by rows it is L^T. */
static void solve(xc_batches *b, const block *k) {
  const int64_t columns = k->n * b->p->n, slabs = 4 * (int64_t)b->threads;
  const int fit = (int)b->p->n_fit;
  const double *metric = b->problem->fields[XC_IN_METRIC].data;
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (int64_t s = 0; s < slabs; s++) {
    const int64_t lo = columns * s / slabs, hi = columns * (s + 1) / slabs;
    if (hi > lo)
      cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, fit,
                  (int)(hi - lo), 1, metric, fit, b->x + lo, (int)columns);
  }
}

/* K += Y^T Y, the upper triangle, of a share of the rows Y_Pi for each thread. */
static void add_products(xc_batches *b, const block *k) {
  const int64_t rows = b->p->n_fit * k->n, n = b->p->n;
#pragma omp parallel for schedule(static, 1) num_threads(b->threads)
  for (int t = 0; t < b->threads; t++) {
    const int64_t lo = rows * t / b->threads, hi = rows * (t + 1) / b->threads;
    if (hi > lo)
      cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)n, (int)(hi - lo), 1, b->x + lo * n,
                  (int)n, 1, b->thread[t].exchange[k->spin], (int)n);
  }
}

static tsl_err run_block(xc_batches *b, const block *k) {
  tsl_err err = TSL_OK;
  if (b->x == NULL)
    TSL_TRY(tsl_alloc(b->p->n_fit * b->x_orbitals * b->p->n, sizeof *b->x,
                      "transformed fitting integrals", (void **)&b->x));
  for (int64_t lo = 0, hi; lo < b->p->n_fit_shells; lo = hi) {
    TSL_TRY(xc_batches_rows(b, lo, b->p->n_fit_shells, &hi));
    add_x(b, k, xc_batches_first(b, lo), xc_batches_first(b, hi));
  }
  solve(b, k);
  add_products(b, k);
done:
  return err;
}

/* One unit: neighbouring slots have neighbouring orbitals. */
tsl_err xc_batches_exchange(xc_batches *b, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  const int64_t s = unit->lo[1];
  const int64_t end = xc_exchange_before(b->problem, s, unit->hi[0]);
  for (int64_t lo = xc_exchange_before(b->problem, s, unit->lo[0]), hi; lo < end; lo = hi) {
    hi = end - lo > b->x_orbitals ? lo + b->x_orbitals : end;
    const block k = {xc_exchange_orbital(b->problem, s, lo), hi - lo, (int)s};
    TSL_TRY(run_block(b, &k));
  }
done:
  return err;
}
