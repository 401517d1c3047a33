/** @file xc_cpu_fock.c  Batches of quartets, and of (P|mn). */
#include "xc_cpu.h"
#include "xc_fit.h"

#include <omp.h>
#include <string.h>

/* ---------------------------------------------------------------- quartets */

static bool has_exchange(const tsl_worker *w) {
  return w->p->functional.exchange != 0;
}

static xc_fock fock_of(const tsl_worker *w, const xc_thread *t) {
  xc_fock fock = {.basis = &w->view.orbital,
                  .pairs = &w->view.pairs,
                  .largest = w->largest,
                  .threshold = w->p->threshold,
                  .total = w->p->fitted ? NULL : xc_asked_total(w->problem),
                  .coulomb = t->coulomb};
  for (int s = 0; s < w->p->n_spin && has_exchange(w); s++) {
    fock.spin[s] = xc_asked_spin(w->problem, s);
    fock.exchange[s] = t->exchange[s];
  }
  return fock;
}

/* Pair k of the unit goes to thread k modulo threads: neighbours in the list cost the same. */
tsl_err xc_run_fock(tsl_worker *w, const tsl_unit *unit) {
#pragma omp parallel num_threads(w->threads)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    const xc_fock fock = fock_of(w, &w->thread[me]);
    for (int64_t pair = unit->lo[0] + me; pair < unit->hi[0]; pair += all)
      xc_fock_batch(w->thread[me].quartets, &fock, pair, pair + 1);
  }
  return TSL_OK;
}

/* --------------------------------------------------------------------- fit */

/* Rows of the unit; empty ones are to be filled. */
static tsl_err find_rows(tsl_worker *w, const tsl_unit *unit, double **rows, bool *ready) {
  tsl_err err = TSL_OK;
  xc_rows *more = NULL;
  const int64_t n = xc_fit_functions(&w->view.fitting, unit->lo[0], unit->hi[0]);
  int64_t count = 0;
  *ready = true;
  for (int64_t k = 0; k < w->n_rows; k++)
    if (w->rows[k].lo == unit->lo[0] && w->rows[k].hi == unit->hi[0]) {
      *rows = w->rows[k].rows;
      return TSL_OK;
    }
  *ready = false;
  if (w->n_rows == w->rows_room) {
    TSL_TRY(tsl_alloc(2 * w->n_rows + 16, sizeof *more, "rows", (void **)&more));
    if (w->n_rows > 0) memcpy(more, w->rows, (size_t)w->n_rows * sizeof *more);
    tsl_free(w->rows);
    w->rows = more, w->rows_room = 2 * w->n_rows + 16;
  }
  if (!tsl_mul_i64(n, w->p->n_packed, &count))
    TSL_FAIL(TSL_ERR_INPUT, "the fitting integrals overflow 64-bit counts");
  TSL_TRY(tsl_alloc(count, sizeof **rows, "fitting integrals", (void **)rows));
  w->rows[w->n_rows++] = (xc_rows){unit->lo[0], unit->hi[0], *rows};
done:
  return err;
}

static int64_t first_function(const tsl_worker *w, int64_t shell) {
  return shell < w->p->n_fit_shells ? w->view.fitting.shells[shell].first : w->p->n_fit;
}

static void fill_rows(const tsl_worker *w, const tsl_unit *unit, double *rows) {
  const int64_t before = first_function(w, unit->lo[0]);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t s = unit->lo[0]; s < unit->hi[0]; s++)
    xc_fit_triples(w->thread[omp_get_thread_num()].triples, &w->view.orbital, &w->view.fitting,
                   &w->view.pairs, s, s + 1,
                   rows + (first_function(w, s) - before) * w->p->n_packed);
}

static void add_gamma(tsl_worker *w, int64_t first, int64_t n, const double *rows) {
  const int64_t m = w->p->n_packed;
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t f = 0; f < n; f++) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < m; k++) sum += rows[f * m + k] * w->packed[k];
    w->gamma[first + f] += sum;
  }
}

static void add_fitted(tsl_worker *w, int64_t first, int64_t n, const double *rows) {
  enum { SLICE = 4096 };
  const int64_t m = w->p->n_packed;
  const double *c = w->problem->fields[XC_IN_COEFFICIENTS].data;
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t lo = 0; lo < m; lo += SLICE) {
    const int64_t hi = lo + SLICE < m ? lo + SLICE : m;
    for (int64_t f = 0; f < n; f++)
      for (int64_t k = lo; k < hi; k++) w->fitted[k] += c[first + f] * rows[f * m + k];
  }
}

tsl_err xc_run_fit(tsl_worker *w, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  double *rows = NULL;
  bool ready = false;
  const int64_t first = first_function(w, unit->lo[0]);
  const int64_t n = xc_fit_functions(&w->view.fitting, unit->lo[0], unit->hi[0]);
  TSL_TRY(find_rows(w, unit, &rows, &ready));
  if (!ready) fill_rows(w, unit, rows);
  if (w->phase % 2 == 0)
    add_gamma(w, first, n, rows);
  else
    add_fitted(w, first, n, rows);
done:
  return err;
}

/* ------------------------------------------------------------------ memory */

static tsl_err open_thread(const tsl_worker *w, xc_thread *t) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t nn = p->n * p->n;
  if (!p->fitted || has_exchange(w))
    TSL_TRY(xc_engine_create(w->integrals, XC_QUARTETS, 1e-3 * p->threshold, &t->quartets));
  if (p->fitted) TSL_TRY(xc_engine_create(w->integrals, XC_TRIPLES, 1e-16, &t->triples));
  if (!p->fitted) TSL_TRY(tsl_alloc(nn, sizeof(double), "Coulomb matrix", (void **)&t->coulomb));
  for (int s = 0; s < p->n_spin && has_exchange(w); s++)
    TSL_TRY(tsl_alloc(nn, sizeof(double), "exchange matrix", (void **)&t->exchange[s]));
done:
  return err;
}

tsl_err xc_fock_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  TSL_TRY(xc_integrals_create(&w->view.orbital, &w->view.fitting, &w->integrals));
  TSL_TRY(tsl_alloc(p->n_shells * p->n_shells, sizeof(double), "largest elements",
                    (void **)&w->largest));
  for (int t = 0; t < w->threads; t++) TSL_TRY(open_thread(w, &w->thread[t]));
  if (!p->fitted) goto done;
  TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed density", (void **)&w->packed));
  TSL_TRY(tsl_alloc(p->n_packed, sizeof(double), "packed Coulomb matrix", (void **)&w->fitted));
  TSL_TRY(tsl_alloc(p->n_fit, sizeof(double), "gamma", (void **)&w->gamma));
done:
  return err;
}

void xc_fock_close(tsl_worker *w) {
  for (int t = 0; w->thread != NULL && t < w->threads; t++) {
    xc_engine_destroy(&w->thread[t].quartets);
    xc_engine_destroy(&w->thread[t].triples);
    tsl_free(w->thread[t].coulomb);
    for (int s = 0; s < 2; s++) tsl_free(w->thread[t].exchange[s]);
  }
  for (int64_t k = 0; k < w->n_rows; k++) tsl_free(w->rows[k].rows);
  tsl_free(w->rows);
  tsl_free(w->largest);
  tsl_free(w->packed);
  tsl_free(w->fitted);
  tsl_free(w->gamma);
  xc_integrals_destroy(&w->integrals);
}

void xc_fock_begin(tsl_worker *w) {
  const xc_params *p = w->p;
  const size_t bytes = (size_t)(p->n * p->n) * sizeof(double);
  const xc_fock fock = fock_of(w, &w->thread[0]);
  xc_fock_largest(fock.basis, fock.total, fock.spin, w->largest);
  for (int t = 0; t < w->threads; t++) {
    if (w->thread[t].coulomb != NULL) memset(w->thread[t].coulomb, 0, bytes);
    for (int s = 0; s < 2; s++)
      if (w->thread[t].exchange[s] != NULL) memset(w->thread[t].exchange[s], 0, bytes);
  }
  if (!p->fitted) return;
  memset(w->gamma, 0, (size_t)p->n_fit * sizeof *w->gamma);
  memset(w->fitted, 0, (size_t)p->n_packed * sizeof *w->fitted);
  xc_fit_pack(&w->view.orbital, &w->view.pairs, xc_asked_total(w->problem), w->packed);
}

static void sum_threads(const tsl_worker *w, int which, double *out) {
  const int64_t nn = w->p->n * w->p->n;
  memset(out, 0, (size_t)nn * sizeof *out);
  for (int t = 0; t < w->threads; t++) {
    const double *from = which < 0 ? w->thread[t].coulomb : w->thread[t].exchange[which];
    for (int64_t k = 0; k < nn; k++) out[k] += from[k];
  }
}

void xc_fock_collect(tsl_worker *w, tsl_problem *problem) {
  const xc_params *p = w->p;
  double *coulomb = problem->fields[XC_SUM_COULOMB].data;
  double *exchange = problem->fields[XC_SUM_EXCHANGE].data;
  if (!p->fitted)
    sum_threads(w, -1, coulomb);
  else
    xc_fit_unpack(&w->view.orbital, &w->view.pairs, w->fitted, coulomb);
  for (int s = 0; s < p->n_spin && has_exchange(w); s++)
    sum_threads(w, s, exchange + s * p->n * p->n);
  if (p->fitted)
    memcpy(problem->fields[XC_SUM_GAMMA].data, w->gamma, (size_t)p->n_fit * sizeof *w->gamma);
}
