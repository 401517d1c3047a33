/* (P|mn): kept as far as the room goes, else anew; gamma and J of them. */
#include "xc_batches_own.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int xc_batches_most_size(const xc_basis *basis) {
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
  if (p->fitted_exchange) return xc_batches_exchange_least(p, xc_batches_most_size(&view.fitting));
  return p->fitted ? 8 * (double)p->n_packed * xc_batches_most_size(&view.fitting) : 0;
}

tsl_err xc_batches_fit_open(xc_batches *b, double room) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  const double shell = 8 * (double)p->n_packed * xc_batches_most_size(&b->view.fitting);
  TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed density", (void **)&b->packed));
  if (p->reproducible)
    TSL_TRY(tsl_alloc(p->n_packed, sizeof(int64_t), "packed Coulomb matrix",
                      (void **)&b->fixed_fitted));
  else
    TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed Coulomb matrix", (void **)&b->fitted));
  TSL_TRY(tsl_alloc(p->n_fit, sizeof(double), "gamma", (void **)&b->gamma));
  TSL_TRY(tsl_alloc(p->n_fit_shells, sizeof *b->rows, "rows", (void **)&b->rows));
  TSL_TRY(tsl_alloc(p->n_fit_shells, sizeof *b->fill, "rows", (void **)&b->fill));
  TSL_TRY(tsl_alloc(p->n_fit, sizeof *b->row, "rows", (void **)&b->row));
  if (p->fitted_exchange) {
    xc_batches_exchange_open(b, xc_batches_most_size(&b->view.fitting), &room);
    b->rows_most = fmin(room, (double)p->fitting_cache);
    goto done;
  }
  b->scratch_shells = 2 * b->threads;
  while (b->scratch_shells > 1 && 4 * shell * (double)b->scratch_shells > room) b->scratch_shells--;
  b->rows_most = fmin(room - shell * (double)b->scratch_shells, (double)p->fitting_cache);
done:
  return err;
}

void xc_batches_fit_close(xc_batches *b) {
  for (int64_t s = 0; b->rows != NULL && s < b->p->n_fit_shells; s++) free(b->rows[s].rows);
  xc_batches_exchange_close(b);
  TSL_FREE_ALL(b->rows, b->row, b->fill, b->scratch, b->packed, b->fitted, b->fixed_fitted,
               b->gamma);
}

double xc_batches_kept(const xc_batches *b, bool *anew) {
  *anew = b->scratch != NULL || b->anew != NULL;
  return b->rows_bytes;
}

void xc_batches_tell(const xc_batches *b, char *text, size_t size) {
  char kept[24];
  bool rows = false, quartets = false;
  const double row_bytes = xc_batches_kept(b, &rows);
  const double quartet_bytes = xc_batches_quartets_kept(b, &quartets);
  text[0] = '\0';
  if (rows || quartets)
    (void)snprintf(text, size,
                   "keeps %s of %s integrals, others are computed anew in each phase "
                   "(xc.%s_cache, run.host_memory)",
                   tsl_bytes_text(rows ? row_bytes : quartet_bytes, kept),
                   rows ? "fitting" : "four-centre", rows ? "fitting" : "quartet");
}

const double *xc_batches_packed(const xc_batches *b) {
  return b->packed;
}

/* --------------------------------------------------------------------- rows */

static double bytes_of(const xc_batches *b, int64_t shell) {
  return 8 * (double)xc_shell_size(&b->view.fitting.shells[shell]) * (double)b->p->n_packed;
}

/* Shells whose units have gone to another rank give their rows back. */
static void drop_idle(xc_batches *b) {
  for (int64_t s = 0; s < b->p->n_fit_shells; s++) {
    if (b->rows[s].rows == NULL || b->rows[s].phase >= b->phase - 2) continue;
    b->rows_bytes -= bytes_of(b, s);
    free(b->rows[s].rows);
    b->rows[s].rows = NULL;
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

/* Memory for the rows of a shell, if they may be kept. */
static tsl_err keep_rows(xc_batches *b, int64_t shell) {
  tsl_err err = TSL_OK;
  const double bytes = bytes_of(b, shell);
  const int64_t n = xc_shell_size(&b->view.fitting.shells[shell]);
  if (b->rows_bytes + bytes > b->rows_most && b->dropped != b->phase) {
    drop_idle(b);
    b->dropped = b->phase;
  }
  if (b->rows_bytes + bytes > b->rows_most) goto done;
  TSL_TRY(new_rows(n, b->p->n_packed, &b->rows[shell].rows));
  b->rows_bytes += bytes;
done:
  return err;
}

int64_t xc_batches_first(const xc_batches *b, int64_t shell) {
  return shell < b->p->n_fit_shells ? b->view.fitting.shells[shell].first : b->p->n_fit;
}

/* Shells are few, so threads share pairs of each of them, too. */
void xc_batches_fill(xc_batches *b, int64_t n) {
  enum { TASKS = 4 }; /* of a thread, about */
  const int64_t parts = n > 0 ? 1 + TASKS * b->threads / n : 1, pairs = b->view.pairs.n;
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads) if (n > 0)
  for (int64_t k = 0; k < n * parts; k++) {
    const int64_t shell = b->fill[k / parts], part = k % parts;
    xc_fit_triples(b->thread[omp_get_thread_num()].triples, &b->view.orbital, &b->view.fitting,
                   &b->view.pairs, shell, pairs * part / parts, pairs * (part + 1) / parts,
                   b->row[xc_batches_first(b, shell)]);
  }
}

/* Rows that are not kept lie in scratch memory of scratch_shells shells. */
tsl_err xc_batches_rows(xc_batches *b, int64_t lo, int64_t end, int64_t *hi) {
  tsl_err err = TSL_OK;
  const int64_t m = b->p->n_packed, room = xc_batches_most_size(&b->view.fitting) * m;
  int64_t s = lo, n = 0, anew = 0;
  for (; s < end; s++) {
    xc_rows *kept = &b->rows[s];
    double *rows = kept->rows;
    if (rows == NULL) TSL_TRY(keep_rows(b, s));
    if (kept->rows == NULL && anew == b->scratch_shells) break;
    if (kept->rows == NULL && b->scratch == NULL)
      TSL_TRY(tsl_alloc(b->scratch_shells * room, sizeof(double), "a few fitting integrals",
                        (void **)&b->scratch));
    if (rows == NULL) {
      b->fill[n++] = s;
      rows = kept->rows != NULL ? kept->rows : b->scratch + room * anew++;
    }
    kept->phase = b->phase;
    for (int64_t f = xc_batches_first(b, s); f < xc_batches_first(b, s + 1); f++, rows += m)
      b->row[f] = rows;
  }
  xc_batches_fill(b, n);
  *hi = s;
done:
  return err;
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

void xc_batches_gamma(xc_batches *b, int64_t first, int64_t n) {
#pragma omp parallel for schedule(static) num_threads(b->threads) if (n * b->p->n_packed > XC_ALONE)
  for (int64_t f = first; f < first + n; f++)
    b->gamma[f] += dot(b->p->n_packed, b->row[f], b->packed);
}

/* c rows of elements [lo, hi), one function after another. */
static bool add_slice(const xc_batches *b, int64_t first, int64_t n, const double *c, double scale,
                      int64_t lo, int64_t hi) {
  bool good = true;
  for (int64_t f = first; f < first + n; f++) {
    const double *row = b->row[f];
    if (b->fixed_fitted == NULL)
      for (int64_t k = lo; k < hi; k++) b->fitted[k] += c[f] * row[k];
    else
      for (int64_t k = lo; k < hi; k++)
        good = xc_fixed_add(&b->fixed_fitted[k], c[f] * row[k], scale) && good;
  }
  return good;
}

void xc_batches_coulomb(xc_batches *b, int64_t first, int64_t n, const double *c) {
  enum { SLICE = 4096 };
  const int64_t m = b->p->n_packed;
  const double scale = b->p->reproducible ? xc_fixed_scale(b->problem, XC_FIXED_COULOMB) : 1;
  bool good = true;
#pragma omp parallel for schedule(static) num_threads(b->threads) if (m > SLICE) \
    reduction(&& : good)
  for (int64_t lo = 0; lo < m; lo += SLICE)
    good = add_slice(b, first, n, c, scale, lo, lo + SLICE < m ? lo + SLICE : m) && good;
  if (!good) b->bad_fit = true;
}

tsl_err xc_batches_fit(xc_batches *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  for (int64_t end; lo < hi; lo = end) {
    TSL_TRY(xc_batches_rows(b, lo, hi, &end));
    const int64_t first = xc_batches_first(b, lo), n = xc_batches_first(b, end) - first;
    if (b->phase % 2 == 0)
      xc_batches_gamma(b, first, n);
    else
      xc_batches_coulomb(b, first, n, b->problem->fields[XC_IN_COEFFICIENTS].data);
  }
done:
  return err;
}
