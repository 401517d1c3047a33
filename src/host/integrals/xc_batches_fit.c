/* (P|mn): kept as far as the room goes, else anew; gamma and J of them. */
#include "xc_batches_own.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int most_size(const xc_basis *basis) {
  int most = 1;
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const int size = xc_shell_size(&basis->shells[k]);
    if (size > most) most = size;
  }
  return most;
}

double xc_batches_least(const tsl_problem *problem) {
  const xc_params *p = xc_params_of(problem);
  xc_view view;
  xc_view_set(problem, &view);
  return p->fitted ? 8 * (double)p->n_packed * most_size(&view.fitting) : 0;
}

tsl_err xc_batches_fit_open(xc_batches *b, double room) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  const double shell = xc_batches_least(b->problem);
  TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed density", (void **)&b->packed));
  if (p->reproducible)
    TSL_TRY(tsl_alloc(p->n_packed, sizeof(int64_t), "packed Coulomb matrix",
                      (void **)&b->fixed_fitted));
  else
    TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed Coulomb matrix", (void **)&b->fitted));
  TSL_TRY(tsl_alloc(p->n_fit, sizeof(double), "gamma", (void **)&b->gamma));
  b->scratch_shells = 2 * b->threads;
  while (b->scratch_shells > 1 && 4 * shell * (double)b->scratch_shells > room) b->scratch_shells--;
  b->rows_most = fmin(room - shell * (double)b->scratch_shells, (double)p->fitting_cache);
done:
  return err;
}

void xc_batches_fit_close(xc_batches *b) {
  for (int64_t k = 0; k < b->n_rows; k++) free(b->rows[k].rows);
  TSL_FREE_ALL(b->rows, b->scratch, b->packed, b->fitted, b->fixed_fitted, b->gamma);
}

double xc_batches_kept(const xc_batches *b, bool *anew) {
  *anew = b->scratch != NULL;
  return b->rows_bytes;
}

void xc_batches_tell(const xc_batches *b, char *text, size_t size) {
  char kept[24];
  bool anew = false;
  const double bytes = xc_batches_kept(b, &anew);
  text[0] = '\0';
  if (anew)
    (void)snprintf(text, size,
                   "keeps %s of fitting integrals, others are computed anew in each phase "
                   "(xc.fitting_cache, run.host_memory)",
                   tsl_bytes_text(bytes, kept));
}

const double *xc_batches_packed(const xc_batches *b) {
  return b->packed;
}

/* --------------------------------------------------------------------- rows */

/* Units that have gone to another rank give their rows back. */
static void drop_idle(xc_batches *b) {
  for (int64_t k = 0; k < b->n_rows; k++) {
    if (b->rows[k].phase >= b->phase - 2) continue;
    b->rows_bytes -= b->rows[k].bytes;
    free(b->rows[k].rows);
    b->rows[k--] = b->rows[--b->n_rows];
  }
}

/* Not zeroed: the threads that fill rows touch them first, so they are near and no thread waits. */
static tsl_err new_rows(int64_t n, int64_t n_packed, double **rows) {
  tsl_err err = TSL_OK;
  int64_t count = 0;
  char text[24];
  if (!tsl_mul_i64(n, n_packed, &count) || count > INT64_MAX / 16)
    TSL_FAIL(TSL_ERR_INPUT, "the fitting integrals overflow 64-bit counts");
  *rows = aligned_alloc(64, (size_t)(count / 8 + 1) * 64);
  if (*rows == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "no host memory for %s of fitting integrals",
             tsl_bytes_text(8 * (double)count, text));
done:
  return err;
}

/* Rows of the shells; not ready: to be filled; NULL: they do not fit. */
static tsl_err find_rows(xc_batches *b, int64_t lo, int64_t hi, double **rows, bool *ready) {
  tsl_err err = TSL_OK;
  const int64_t n = xc_fit_functions(&b->view.fitting, lo, hi);
  const double bytes = 8 * (double)n * (double)b->p->n_packed;
  *rows = NULL;
  for (int64_t k = 0; k < b->n_rows; k++)
    if (b->rows[k].lo == lo && b->rows[k].hi == hi) {
      *rows = b->rows[k].rows, *ready = true;
      b->rows[k].phase = b->phase;
      return TSL_OK;
    }
  *ready = false;
  if (b->rows_bytes + bytes > b->rows_most) drop_idle(b);
  if (b->rows_bytes + bytes > b->rows_most) return TSL_OK;
  TSL_TRY(tsl_grow((void **)&b->rows, b->n_rows, 1, &b->rows_room, sizeof *b->rows, "rows"));
  TSL_TRY(new_rows(n, b->p->n_packed, rows));
  b->rows[b->n_rows++] = (xc_rows){lo, hi, b->phase, bytes, *rows};
  b->rows_bytes += bytes;
done:
  return err;
}

int64_t xc_batches_first(const xc_batches *b, int64_t shell) {
  return shell < b->p->n_fit_shells ? b->view.fitting.shells[shell].first : b->p->n_fit;
}

void xc_batches_triples(xc_batches *b, int64_t lo, int64_t hi, double *rows) {
  const int64_t before = xc_batches_first(b, lo);
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (int64_t s = lo; s < hi; s++)
    xc_fit_triples(b->thread[omp_get_thread_num()].triples, &b->view.orbital, &b->view.fitting,
                   &b->view.pairs, s, s + 1,
                   rows + (xc_batches_first(b, s) - before) * b->p->n_packed);
}

/* --------------------------------------------------------------------- sums */

/* In an order that does not depend on where the row lies. */
static double dot(int64_t n, const double *x, const double *y) {
  enum { LANES = 8 };
  double part[LANES] = {0}, sum = 0;
  int64_t k = 0;
  for (; k + LANES <= n; k += LANES)
    for (int l = 0; l < LANES; l++) part[l] += x[k + l] * y[k + l];
  for (; k < n; k++) part[k % LANES] += x[k] * y[k];
  for (int l = 0; l < LANES; l++) sum += part[l];
  return sum;
}

static void add_gamma(xc_batches *b, int64_t first, int64_t n, const double *rows) {
  const int64_t m = b->p->n_packed;
#pragma omp parallel for schedule(static) num_threads(b->threads)
  for (int64_t f = 0; f < n; f++) b->gamma[first + f] += dot(m, rows + f * m, b->packed);
}

/* c rows of elements [lo, hi), one function after another. */
static bool add_slice(const xc_batches *b, int64_t n, const double *c, const double *rows,
                      double scale, int64_t lo, int64_t hi) {
  const int64_t m = b->p->n_packed;
  bool good = true;
  for (int64_t f = 0; f < n; f++) {
    const double *row = rows + f * m;
    if (b->fixed_fitted == NULL)
      for (int64_t k = lo; k < hi; k++) b->fitted[k] += c[f] * row[k];
    else
      for (int64_t k = lo; k < hi; k++)
        good = xc_fixed_add(&b->fixed_fitted[k], c[f] * row[k], scale) && good;
  }
  return good;
}

static void add_fitted(xc_batches *b, int64_t first, int64_t n, const double *rows) {
  enum { SLICE = 4096 };
  const int64_t m = b->p->n_packed;
  const double *c = (const double *)b->problem->fields[XC_IN_COEFFICIENTS].data + first;
  const double scale = b->p->reproducible ? xc_fixed_scale(b->problem, XC_FIXED_COULOMB) : 1;
  bool good = true;
#pragma omp parallel for schedule(static) num_threads(b->threads) reduction(&& : good)
  for (int64_t lo = 0; lo < m; lo += SLICE)
    good = add_slice(b, n, c, rows, scale, lo, lo + SLICE < m ? lo + SLICE : m) && good;
  if (!good) b->bad_fit = true;
}

static void add_rows(xc_batches *b, int64_t lo, int64_t hi, const double *rows) {
  const int64_t first = xc_batches_first(b, lo), n = xc_fit_functions(&b->view.fitting, lo, hi);
  if (b->phase % 2 == 0)
    add_gamma(b, first, n, rows);
  else
    add_fitted(b, first, n, rows);
}

/* A few shells at a time, through scratch memory. */
static tsl_err fit_anew(xc_batches *b, int64_t first, int64_t end) {
  tsl_err err = TSL_OK;
  const int64_t most = b->scratch_shells, size = most * most_size(&b->view.fitting);
  if (b->scratch == NULL)
    TSL_TRY(tsl_alloc(size * b->p->n_packed, sizeof(double), "a few fitting integrals",
                      (void **)&b->scratch));
  for (int64_t lo = first, hi; lo < end; lo = hi) {
    hi = lo + most < end ? lo + most : end;
    xc_batches_triples(b, lo, hi, b->scratch);
    add_rows(b, lo, hi, b->scratch);
  }
done:
  return err;
}

tsl_err xc_batches_fit(xc_batches *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  double *rows = NULL;
  bool ready = false;
  TSL_TRY(find_rows(b, lo, hi, &rows, &ready));
  if (rows == NULL) {
    TSL_TRY(fit_anew(b, lo, hi));
    goto done;
  }
  if (!ready) xc_batches_triples(b, lo, hi, rows);
  add_rows(b, lo, hi, rows);
done:
  return err;
}
