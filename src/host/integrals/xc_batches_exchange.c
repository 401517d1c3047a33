/* Fitted Coulomb and exchange (xc_exchange.h) on the threads of a host: rows B_Q are kept as far as
 * the room goes; others are made anew in each phase, a block at a time. Each product is a thread's
 * own. */
#include "xc_batches_own.h"
#include "xc_exchange.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

enum { MOST_ROWS = 256 }; /* (P|mn), and rows made anew, at a time */

void xc_batches_mirror(int64_t n, double *matrix) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) matrix[i * n + j] = matrix[j * n + i];
}

/* ------------------------------------------------------------------- memory */

double xc_batches_exchange_least(const xc_params *p, int most_size) {
  return p->fitted_exchange ? 8 * (double)p->n_packed * (most_size + 1) : 0;
}

void xc_batches_exchange_open(xc_batches *b, int most_size, double *room) {
  enum { PART = 4 }; /* of the room, for each of both */
  const double row = 8 * (double)b->p->n_packed;
  const double share = row > 0 ? *room / PART / row : MOST_ROWS;
  const int64_t rows = share < MOST_ROWS ? (int64_t)share : MOST_ROWS;
  b->fit_rows = rows > most_size ? rows : most_size;
  b->anew_rows = rows > 1 ? rows : 1;
  *room -= row * (double)(b->fit_rows + b->anew_rows);
}

static void drop(xc_batches *b, xc_kept_rows *kept) {
  b->rows_bytes -= 8 * (double)(kept->hi - kept->lo) * (double)b->p->n_packed;
  tsl_free(kept->rows);
  *kept = b->kept[--b->n_kept];
}

void xc_batches_exchange_close(xc_batches *b) {
  while (b->n_kept > 0) drop(b, &b->kept[b->n_kept - 1]);
  TSL_FREE_ALL(b->kept, b->fit_scratch, b->anew);
}

void xc_batches_exchange_begin(xc_batches *b) {
  for (int64_t k = b->n_kept - 1; k >= 0; k--)
    if (b->kept[k].phase >= b->phase) drop(b, &b->kept[k]);
}

/* Those of ranges that have gone to another rank. */
static void drop_idle(xc_batches *b) {
  for (int64_t k = b->n_kept - 1; k >= 0; k--)
    if (b->kept[k].phase < b->phase - 1) drop(b, &b->kept[k]);
}

/* ------------------------------------------------------------------ rows of B */

/* (P|mn) of the shells from lo on that the scratch takes. @return the shell behind them */
static int64_t fill_fit(xc_batches *b, int64_t lo) {
  const int64_t first = xc_batches_first(b, lo);
  int64_t s = lo;
  for (; s < b->p->n_fit_shells && xc_batches_first(b, s + 1) - first <= b->fit_rows; s++) {
    b->fill[s - lo] = s;
    for (int64_t f = xc_batches_first(b, s); f < xc_batches_first(b, s + 1); f++)
      b->row[f] = b->fit_scratch + (f - first) * b->p->n_packed;
  }
  xc_batches_fill(b, s - lo);
  return s;
}

/* What (P|mn) of P in [first, end) add to rows [lo, hi), those before the first are done. */
static void add_rows(const xc_batches *b, int64_t first, int64_t end, int64_t lo, int64_t hi,
                     double *rows) {
  const int64_t columns = b->p->n_packed, slabs = 4 * (int64_t)b->threads;
  const int64_t from = lo > first ? lo : first;
  const int fit = (int)b->p->n_fit;
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (int64_t s = 0; s < slabs; s++) {
    const int64_t at = columns * s / slabs, n = columns * (s + 1) / slabs - at;
    if (n > 0)
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(hi - from), (int)n,
                  (int)(end - first), 1, xc_exchange_metric(b->problem, from, first), fit,
                  b->fit_scratch + at, (int)columns, 1, rows + (from - lo) * columns + at,
                  (int)columns);
  }
}

/* Rows [lo, hi) of B. */
static tsl_err make_rows(xc_batches *b, int64_t lo, int64_t hi, double *rows) {
  tsl_err err = TSL_OK;
  if (b->fit_scratch == NULL)
    TSL_TRY(tsl_alloc(b->fit_rows * b->p->n_packed, sizeof(double), "a few fitting integrals",
                      (void **)&b->fit_scratch));
  memset(rows, 0, (size_t)((hi - lo) * b->p->n_packed) * sizeof *rows);
  for (int64_t s = 0, end; s < b->p->n_fit_shells && xc_batches_first(b, s) < hi; s = end) {
    end = fill_fit(b, s);
    add_rows(b, xc_batches_first(b, s), xc_batches_first(b, end), lo, hi, rows);
  }
done:
  return err;
}

/* Rows [lo, hi), kept from now on. @param[out] rows  NULL: there is no room for them */
static tsl_err keep_rows(xc_batches *b, int64_t lo, int64_t hi, double **rows) {
  tsl_err err = TSL_OK;
  const double bytes = 8 * (double)(hi - lo) * (double)b->p->n_packed;
  if (b->rows_bytes + bytes > b->rows_most) drop_idle(b);
  if (b->rows_bytes + bytes > b->rows_most) goto done;
  TSL_TRY(tsl_grow((void **)&b->kept, b->n_kept, 1, &b->room_kept, sizeof *b->kept, "rows"));
  TSL_TRY(tsl_alloc((hi - lo) * b->p->n_packed, sizeof(double), "orthonormal fitting integrals",
                    (void **)rows));
  TSL_TRY(make_rows(b, lo, hi, *rows));
  b->rows_bytes += bytes;
  b->kept[b->n_kept++] = (xc_kept_rows){lo, hi, b->phase, *rows};
done:
  if (err != TSL_OK) tsl_free(*rows);
  return err;
}

/* Rows [lo, *end), *end <= hi: kept ones all, else as many as there is scratch memory for. */
static tsl_err find_rows(xc_batches *b, int64_t lo, int64_t hi, int64_t *end, double **rows) {
  tsl_err err = TSL_OK;
  *rows = NULL;
  *end = hi;
  for (int64_t k = 0; k < b->n_kept; k++) {
    xc_kept_rows *kept = &b->kept[k];
    if (kept->lo > lo || kept->hi < hi) continue;
    kept->phase = b->phase;
    *rows = kept->rows + (lo - kept->lo) * b->p->n_packed;
    goto done;
  }
  TSL_TRY(keep_rows(b, lo, hi, rows));
  if (*rows != NULL) goto done;
  if (b->anew == NULL)
    TSL_TRY(tsl_alloc(b->anew_rows * b->p->n_packed, sizeof(double),
                      "a few orthonormal fitting integrals", (void **)&b->anew));
  *end = hi - lo < b->anew_rows ? hi : lo + b->anew_rows;
  *rows = b->anew;
  TSL_TRY(make_rows(b, lo, *end, *rows));
done:
  return err;
}

/* --------------------------------------------------------------------- sums */

/* X of spin s of Q in [lo, hi), and K += X^T X, the upper triangle, in the sums of a thread. */
static void add_exchange(const xc_batches *b, xc_batch_thread *t, int s, int64_t lo, int64_t hi) {
  const int n = (int)b->p->n, m = (int)xc_exchange_count(b->problem, s);
  for (int64_t q = lo; q < hi; q++) {
    memset(t->square, 0, (size_t)(n * n) * sizeof *t->square);
    xc_fit_unpack(&b->view.orbital, &b->view.pairs, 0, b->view.pairs.n, b->row[q], t->square);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, n, 1,
                xc_exchange_orbitals(b->problem, s), n, t->square, n, 0, t->x + (q - lo) * m * n,
                n);
  }
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, m * (int)(hi - lo), 1, t->x, n, 1,
              t->exchange[s], n);
}

/* Each thread has the same rows, and as many at a time as their X has room. */
static void add_products(xc_batches *b, int s, int64_t lo, int64_t hi) {
  const int64_t m = xc_exchange_count(b->problem, s), most = m > 0 ? b->p->n / m : 0;
  if (m == 0) return;
#pragma omp parallel for schedule(static, 1) num_threads(b->threads)
  for (int t = 0; t < b->threads; t++) {
    const int64_t from = lo + (hi - lo) * t / b->threads,
                  to = lo + (hi - lo) * (t + 1) / b->threads;
    for (int64_t q = from, end; q < to; q = end) {
      end = to - q > most ? q + most : to;
      add_exchange(b, &b->thread[t], s, q, end);
    }
  }
}

tsl_err xc_batches_exchange(xc_batches *b, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  double *rows = NULL;
  for (int64_t lo = unit->lo[0], hi; lo < unit->hi[0]; lo = hi) {
    TSL_TRY(find_rows(b, lo, unit->hi[0], &hi, &rows));
    for (int64_t q = lo; q < hi; q++) b->row[q] = rows + (q - lo) * b->p->n_packed;
    xc_batches_gamma(b, lo, hi - lo);
    if (xc_task_of(b->problem) == XC_TASK_PRODUCTS) {
      TSL_TRY(xc_batches_products(b, lo, hi - lo));
      continue;
    }
    xc_batches_coulomb(b, lo, hi - lo, b->gamma);
    for (int s = 0; s < b->p->n_spin; s++) add_products(b, s, lo, hi);
  }
done:
  return err;
}
