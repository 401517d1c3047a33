/* The fitted Coulomb matrix on a card: (P|mn) is computed there once and stays while its part of
 * the memory lasts; gamma and J are products with it. The rest, and all when sums are to be
 * reproducible, is the host's (xc_batches.h). */
#include "xc_gpu.cuh"

#include <limits.h>
#include <string.h>

enum { FIT_PART = 2 }; /* of the card's memory for (P|mn) */

tsl_err xc_fit_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  if (!p->fitted || p->reproducible) goto done;
  if (p->n_packed > INT_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%lld elements in the pairs of shells; fitting on cards takes %d",
             (long long)p->n_packed, INT_MAX);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->packed, p->n_packed * 8, "packed density"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->fitted, p->n_packed * 8, "packed Coulomb matrix"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->gamma, p->n_fit * 8, "gamma"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->coefficients, p->n_fit * 8, "fitting coefficients"));
done:
  return err;
}

void xc_fit_close(xc_gpu *w) {
  for (int64_t k = 0; k < w->n_rows; k++) tsl_gpu_release(&w->memory, &w->kept_rows[k].card);
  tsl_free(w->kept_rows);
  xc_triples_close(w);
  tsl_gpu_buffer *const all[] = {&w->packed, &w->fitted, &w->gamma, &w->coefficients};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
}

tsl_err xc_fit_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const size_t packed = (size_t)p->n_packed * 8, fit = (size_t)p->n_fit * 8;
  if (!p->fitted || p->reproducible) goto done;
  if (w->phase % xc_phases(p) == 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(w->packed.data, xc_batches_packed(w->batches), packed,
                                 cudaMemcpyHostToDevice, w->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(w->coefficients.data, w->problem->fields[XC_IN_COEFFICIENTS].data,
                               fit, cudaMemcpyHostToDevice, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->fitted.data, 0, packed, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->gamma.data, 0, fit, w->stream));
done:
  return err;
}

/* A place for the rows of [lo, hi), functions [first, first + n). */
static tsl_err new_rows(xc_gpu *w, int64_t lo, int64_t hi, int64_t first, int64_t n,
                        xc_rows **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(
      tsl_grow((void **)&w->kept_rows, w->n_rows, 1, &w->room_rows, sizeof *w->kept_rows, "rows"));
  *out = &w->kept_rows[w->n_rows++];
  memset(*out, 0, sizeof **out);
  (*out)->lo = lo, (*out)->hi = hi;
  (*out)->first = first, (*out)->n = n;
  (*out)->phase = w->phase;
done:
  return err;
}

/* Bytes of rows on the card. */
static int64_t card_bytes(const xc_gpu *w) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < w->n_rows; k++) bytes += w->kept_rows[k].card.bytes;
  return bytes;
}

/* Memory on the card for rows, where its part allows; the cache of functions makes room. */
static tsl_err reserve_card(xc_gpu *w, xc_rows *rows, int64_t bytes) {
  tsl_err err = TSL_OK;
  if (bytes == 0 || bytes > w->memory.limit / FIT_PART - card_bytes(w)) goto done;
  if (bytes > w->memory.limit - w->memory.used) TSL_TRY(xc_cache_drop(w));
  err = tsl_gpu_reserve(&w->memory, &rows->card, bytes, "fitting integrals");
  if (err == TSL_ERR_DEVICE_MEMORY) err = TSL_OK; /* then they are the host's */
done:
  return err;
}

static xc_rows *find_rows(const xc_gpu *w, const tsl_unit *unit) {
  for (int64_t k = 0; k < w->n_rows; k++)
    if (w->kept_rows[k].lo == unit->lo[0] && w->kept_rows[k].hi == unit->hi[0])
      return &w->kept_rows[k];
  return NULL;
}

/* Places for the rows of units that have none, with memory of the card if it can fill them. */
static tsl_err reserve_rows(xc_gpu *w, const tsl_unit *units, int64_t n, bool card) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n; u++) {
    xc_rows *rows = NULL;
    int64_t count = 0;
    if (units[u].kind != XC_UNIT_FIT || find_rows(w, &units[u]) != NULL) continue;
    const int64_t first = xc_batches_first(w->batches, units[u].lo[0]);
    TSL_TRY(new_rows(w, units[u].lo[0], units[u].hi[0], first,
                     xc_batches_first(w->batches, units[u].hi[0]) - first, &rows));
    if (!tsl_mul_i64(rows->n, w->p->n_packed, &count) || count > INT64_MAX / 8)
      TSL_FAIL(TSL_ERR_INPUT, "the fitting integrals overflow 64-bit counts");
    if (card) TSL_TRY(reserve_card(w, rows, count * 8));
  }
done:
  return err;
}

/* Fill the rows from number `first` on that have memory of the card. */
static tsl_err fill_rows(xc_gpu *w, int64_t first, double *seconds) {
  tsl_err err = TSL_OK;
  xc_triple_ket *kets = NULL;
  int64_t n = 0, most = 0;
  for (int64_t k = first; k < w->n_rows; k++) most += w->kept_rows[k].hi - w->kept_rows[k].lo;
  TSL_TRY(tsl_alloc(most, sizeof *kets, "fitting shells", (void **)&kets));
  for (int64_t k = first; k < w->n_rows; k++) {
    const xc_rows *rows = &w->kept_rows[k];
    for (int64_t s = rows->lo; s < rows->hi && rows->card.data != NULL; s++) {
      const xc_shell *shell = &w->view.fitting.shells[s];
      kets[n++] = {shell,
                   (double *)rows->card.data + (shell->first - rows->first) * w->p->n_packed};
    }
  }
  TSL_TRY(xc_triples_fill(w, kets, n, seconds));
done:
  tsl_free(kets);
  return err;
}

static void release_rows(xc_gpu *w, int64_t first) {
  for (int64_t k = first; k < w->n_rows; k++) tsl_gpu_release(&w->memory, &w->kept_rows[k].card);
}

tsl_err xc_fit_fill(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds) {
  tsl_err err = TSL_OK;
  const int64_t first = w->n_rows;
  bool ready = false, any = false;
  *seconds = 0;
  for (int64_t u = 0; u < n && !w->p->reproducible; u++)
    any = any || (units[u].kind == XC_UNIT_FIT && find_rows(w, &units[u]) == NULL);
  if (!any || w->p->n_packed == 0) return TSL_OK;
  TSL_TRY(xc_triples_prepare(w, &ready));
  TSL_TRY(reserve_rows(w, units, n, ready));
  if (ready) TSL_TRY(fill_rows(w, first, seconds));
done:
  if (err != TSL_OK) release_rows(w, first);
  if (err == TSL_ERR_DEVICE_MEMORY) return TSL_OK; /* then they are the host's */
  if (err != TSL_OK) w->n_rows = first;            /* nothing is kept half filled */
  return err;
}

/* Rows are column by column a matrix [n_packed][n]. */
static tsl_err card_product(xc_gpu *w, const xc_rows *rows) {
  tsl_err err = TSL_OK;
  const double one = 1;
  const int m = (int)w->p->n_packed, n = (int)rows->n;
  const double *v = (const double *)rows->card.data;
  if (w->phase % 2 == 0)
    TSL_BLAS_TRY(tsl_blas.Dgemv(w->blas, CUBLAS_OP_T, m, n, &one, v, m,
                                (const double *)w->packed.data, 1, &one,
                                (double *)w->gamma.data + rows->first, 1));
  else
    TSL_BLAS_TRY(tsl_blas.Dgemv(w->blas, CUBLAS_OP_N, m, n, &one, v, m,
                                (const double *)w->coefficients.data + rows->first, 1, &one,
                                (double *)w->fitted.data, 1));
done:
  return err;
}

bool xc_fit_on_card(const xc_gpu *w, const tsl_unit *unit) {
  const xc_rows *rows = w->p->reproducible ? NULL : find_rows(w, unit);
  return rows != NULL && rows->card.data != NULL;
}

tsl_err xc_fit_run(xc_gpu *w, const tsl_unit *unit) {
  if (xc_fit_on_card(w, unit)) return card_product(w, find_rows(w, unit));
  return xc_batches_fit(w->batches, unit->lo[0], unit->hi[0]);
}

/* Give back rows that were last used in phases [from, end). */
static void forget(xc_gpu *w, int from, int end) {
  for (int64_t k = w->n_rows - 1; k >= 0; k--) {
    if (w->kept_rows[k].phase < from || w->kept_rows[k].phase >= end) continue;
    tsl_gpu_release(&w->memory, &w->kept_rows[k].card);
    w->kept_rows[k] = w->kept_rows[--w->n_rows];
  }
}

void xc_fit_forget(xc_gpu *w, int phase) {
  forget(w, phase, INT_MAX);
}

tsl_err xc_fit_place(xc_gpu *w, int64_t lo, int64_t hi, double **place) {
  tsl_err err = TSL_OK;
  xc_rows *rows = NULL;
  *place = NULL;
  forget(w, 0, w->phase - 1); /* those of ranges that have gone to another rank */
  TSL_TRY(new_rows(w, lo, hi, lo, hi - lo, &rows));
  TSL_TRY(reserve_card(w, rows, rows->n * w->p->n_packed * 8));
  *place = (double *)rows->card.data;
done:
  if (rows != NULL && *place == NULL) w->n_rows--;
  return err;
}

const double *xc_fit_kept(const xc_gpu *w, int64_t lo, int64_t hi) {
  for (int64_t k = 0; k < w->n_rows; k++) {
    xc_rows *rows = &w->kept_rows[k];
    if (rows->lo > lo || rows->hi < hi) continue;
    rows->phase = w->phase;
    return (const double *)rows->card.data + (lo - rows->lo) * w->p->n_packed;
  }
  return NULL;
}

tsl_err xc_fit_collect(xc_gpu *w, double *fitted, double *gamma) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  TSL_CUDA_TRY(cudaMemcpyAsync(fitted, w->fitted.data, (size_t)p->n_packed * 8,
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_TRY(tsl_gpu_copy(w, gamma, w->gamma.data, (size_t)p->n_fit * 8));
done:
  return err;
}
