/* Exact exchange by density fitting on a card (xc_exchange.h), of all units of a call together, as
 * many orbitals at a time as there is memory for X. (P|mn) that are kept for the Coulomb matrix
 * serve here too; others are computed when they are first needed and kept likewise, or, where there
 * is no memory, computed anew, a block of functions P at a time. */
#include "xc_gpu.cuh"

#include "xc_exchange.h"
#include "xc_memory.h"

#include <algorithm>
#include <limits.h>
#include <vector>

enum { BLOCK = 256, X_PART = 4, ROWS_PART = 8, MOST_ROWS = 1024 }; /* parts of the memory left */

/* Place of element (i, j) in a packed matrix, -1 where pairs are not listed. */
static tsl_err upload_map(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n;
  std::vector<int32_t> map((size_t)(n * n), -1);
  for (int64_t k = 0; k < w->view.pairs.n; k++) {
    const xc_shell_pair *pair = &w->view.pairs.list[k];
    const xc_shell *a = &w->view.orbital.shells[pair->a], *b = &w->view.orbital.shells[pair->b];
    int64_t at = pair->packed;
    for (int i = 0; i < xc_shell_size(a); i++)
      for (int j = 0; j < xc_shell_size(b); j++, at++) {
        map[(size_t)((a->first + i) * n + b->first + j)] = (int32_t)at;
        if (a != b) map[(size_t)((b->first + j) * n + a->first + i)] = (int32_t)at;
      }
  }
  TSL_CUDA_TRY(
      cudaMemcpy(w->x.map.data, map.data(), map.size() * sizeof map[0], cudaMemcpyHostToDevice));
done:
  return err;
}

static tsl_err upload_metric(xc_gpu *w) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpy(w->x.metric.data, w->problem->fields[XC_IN_METRIC].data,
                          (size_t)(w->p->n_fit * w->p->n_fit) * 8, cudaMemcpyHostToDevice));
done:
  return err;
}

/* Blocks as large as their parts of the memory that is left, at least the smallest. */
static void choose_blocks(xc_gpu *w) {
  const xc_params *p = w->p;
  const int64_t left = w->memory.limit - w->memory.used;
  const int64_t most = INT_MAX / std::max(p->n, p->n_fit);
  w->x.most = std::max<int64_t>(1, left / X_PART / (8 * (p->n_fit + 1) * p->n));
  w->x.most = std::min({w->x.most, p->n_slots, most});
  w->x.n_rows =
      std::max<int64_t>(left / ROWS_PART / (8 * (p->n * p->n + p->n_packed)), XC_EXCHANGE_ROWS);
  w->x.n_rows = std::min<int64_t>(w->x.n_rows, MOST_ROWS);
}

tsl_err xc_exchange_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t n = p->n, fit = p->n_fit;
  bool ready = false;
  if (!p->fitted_exchange) goto done;
  TSL_TRY(xc_triples_prepare(w, &ready));
  if (!ready)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY,
             "card %s: no memory for lists of pairs, which fitted exchange needs: raise "
             "run.device_memory, or ask for xc.exchange exact",
             tsl_gpu_card());
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.metric, fit * fit * 8, "the fitting set"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.orbitals, p->n_spin * n * n * 8, "orbitals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.sums, p->n_spin * n * n * 8, "exchange matrix"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.map, n * n * 4, "places of pairs"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.pointers, MOST_ROWS * 8, "rows"));
  choose_blocks(w);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.taken, w->x.most * n * 8, "orbitals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.x, w->x.most * n * fit * 8, "transformed integrals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.squares, w->x.n_rows * n * n * 8, "integrals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.rows, w->x.n_rows * p->n_packed * 8, "integrals"));
  TSL_TRY(upload_map(w));
  TSL_TRY(upload_metric(w));
done:
  return err;
}

void xc_exchange_close(xc_gpu *w) {
  tsl_gpu_buffer *const all[] = {&w->x.metric, &w->x.orbitals, &w->x.sums,
                                 &w->x.map,    &w->x.pointers, &w->x.taken,
                                 &w->x.x,      &w->x.squares,  &w->x.rows};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
}

tsl_err xc_exchange_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t nn = p->n * p->n;
  if (!p->fitted_exchange) goto done;
  TSL_CUDA_TRY(cudaMemsetAsync(w->x.sums.data, 0, (size_t)(p->n_spin * nn) * 8, w->stream));
  for (int s = 0; s < p->n_spin && xc_is_active(p, w->phase, XC_UNIT_EXCHANGE); s++)
    TSL_CUDA_TRY(cudaMemcpyAsync((double *)w->x.orbitals.data + s * nn,
                                 xc_exchange_orbital(w->problem, s, 0),
                                 (size_t)(xc_exchange_before(w->problem, s, p->n_slots) * p->n) * 8,
                                 cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

/* squares[f][i][j] of rows[f]; both indices of a square at once. */
static __global__ void square_kernel(const double *const *rows, const int32_t *map, double *squares,
                                     int64_t nn) {
  const int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (at >= nn) return;
  const int32_t from = map[at];
  squares[blockIdx.y * nn + at] = from < 0 ? 0 : rows[blockIdx.y][from];
}

/* Rows of a block: by function, where they are; those to compute first; what is left for such that
 * do not stay. */
typedef struct block_rows {
  std::vector<const double *> of;
  std::vector<xc_triple_ket> missing;
  double *spare;
} block_rows;

static void add_rows(const xc_gpu *w, const xc_shell *shell, const double *at, block_rows *rows) {
  for (int f = 0; f < xc_shell_size(shell); f++) rows->of.push_back(at + f * w->p->n_packed);
}

/* Rows of shells [lo, hi), none of which is kept. */
static tsl_err add_missing(xc_gpu *w, int64_t lo, int64_t hi, block_rows *rows) {
  tsl_err err = TSL_OK;
  double *at = NULL;
  TSL_TRY(xc_fit_place(w, lo, hi, &at));
  if (at == NULL) at = rows->spare;
  for (const xc_shell *s = w->view.fitting.shells + lo; s < w->view.fitting.shells + hi; s++) {
    rows->missing.push_back({s, at});
    add_rows(w, s, at, rows);
    at += xc_shell_size(s) * w->p->n_packed;
  }
  if (xc_fit_kept(w, lo) == NULL) rows->spare = at;
done:
  return err;
}

/* Shells from lo on that a block takes: [lo, return value). */
static int64_t block_end(const xc_gpu *w, int64_t lo) {
  int64_t n = 0;
  for (; lo < w->p->n_fit_shells; lo++) {
    n += xc_shell_size(&w->view.fitting.shells[lo]);
    if (n > w->x.n_rows) break;
  }
  return lo;
}

/* Rows of the shells [lo, hi). */
static tsl_err fill_block(xc_gpu *w, int64_t lo, int64_t hi, block_rows *rows) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  bool ready = true;
  *rows = {{}, {}, (double *)w->x.rows.data};
  for (int64_t s = lo, end; s < hi; s = end) {
    const double *kept = xc_fit_kept(w, s);
    end = s + 1;
    if (kept != NULL) {
      add_rows(w, &w->view.fitting.shells[s], kept, rows);
      continue;
    }
    while (end < hi && xc_fit_kept(w, end) == NULL) end++;
    TSL_TRY(add_missing(w, s, end, rows));
  }
  if (rows->missing.empty() || w->p->n_packed == 0) goto done;
  TSL_TRY(xc_triples_prepare(w, &ready));
  if (!ready)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "card %s: no memory to compute fitting integrals",
             tsl_gpu_card());
  TSL_TRY(xc_triples_fill(w, rows->missing.data(), (int64_t)rows->missing.size(), &seconds));
done:
  return err;
}

/* X_P = (P|mn) c of all P, for m orbitals that are taken. */
static tsl_err transform(xc_gpu *w, int m) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n, nn = n * n;
  const double one = 1, zero = 0;
  block_rows rows;
  double *to = (double *)w->x.x.data;
  for (int64_t lo = 0, hi; lo < w->p->n_fit_shells; lo = hi) {
    hi = block_end(w, lo);
    TSL_TRY(fill_block(w, lo, hi, &rows));
    const size_t count = rows.of.size();
    const dim3 grid((unsigned)tsl_ceil_div(nn, BLOCK), (unsigned)count);
    TSL_CUDA_TRY(cudaMemcpyAsync(w->x.pointers.data, rows.of.data(), count * sizeof rows.of[0],
                                 cudaMemcpyHostToDevice, w->stream));
    TSL_LAUNCH(square_kernel, grid, BLOCK, 0, w->stream, (const double *const *)w->x.pointers.data,
               (const int32_t *)w->x.map.data, (double *)w->x.squares.data, nn);
    TSL_BLAS_TRY(cublasDgemmStridedBatched(w->blas, CUBLAS_OP_N, CUBLAS_OP_N, (int)n, m, (int)n,
                                           &one, (const double *)w->x.squares.data, (int)n, nn,
                                           (const double *)w->x.taken.data, (int)n, 0, &zero, to,
                                           (int)n, m * n, (int)count));
    to += (int64_t)count * m * n;
    TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* rows is used again */
  }
done:
  return err;
}

/* X is column by column a matrix [n m][n_fit], and one of [n][m n_fit]. */
static tsl_err run_block(xc_gpu *w, int spin, int m) {
  tsl_err err = TSL_OK;
  const int n = (int)w->p->n, fit = (int)w->p->n_fit;
  const double one = 1;
  double *x = (double *)w->x.x.data;
  if (m == 0) goto done;
  TSL_TRY(transform(w, m));
  TSL_BLAS_TRY(cublasDtrsm(w->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                           CUBLAS_DIAG_NON_UNIT, n * m, fit, &one, (const double *)w->x.metric.data,
                           fit, x, n * m));
  TSL_BLAS_TRY(cublasDsyrk(w->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, m * fit, &one, x, n,
                           &one, (double *)w->x.sums.data + (int64_t)spin * n * n, n));
done:
  return err;
}

/* Orbitals of a unit are taken; whenever there are as many as a block takes, they are computed. */
static tsl_err take(xc_gpu *w, const tsl_unit *unit, int64_t *taken) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n, s = unit->lo[1];
  const int64_t end = xc_exchange_before(w->problem, s, unit->hi[0]);
  const double *orbitals = (const double *)w->x.orbitals.data + s * n * n;
  for (int64_t k = xc_exchange_before(w->problem, s, unit->lo[0]), some; k < end; k += some) {
    some = std::min(end - k, w->x.most - *taken);
    TSL_CUDA_TRY(cudaMemcpyAsync((double *)w->x.taken.data + *taken * n, orbitals + k * n,
                                 (size_t)(some * n) * 8, cudaMemcpyDeviceToDevice, w->stream));
    *taken += some;
    if (*taken < w->x.most) continue;
    TSL_TRY(run_block(w, (int)s, (int)*taken));
    *taken = 0;
  }
done:
  return err;
}

tsl_err xc_exchange_run(xc_gpu *w, const tsl_unit *units, int64_t n, double *orbitals) {
  tsl_err err = TSL_OK;
  *orbitals = 0;
  for (int s = 0; s < w->p->n_spin; s++) {
    int64_t taken = 0;
    for (int64_t u = 0; u < n; u++) {
      if (units[u].kind != XC_UNIT_EXCHANGE || units[u].lo[1] != s) continue;
      *orbitals += units[u].count;
      TSL_TRY(take(w, &units[u], &taken));
    }
    TSL_TRY(run_block(w, s, (int)taken));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

tsl_err xc_exchange_collect(xc_gpu *w, double *exchange) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(exchange, w->x.sums.data,
                               (size_t)(w->p->n_spin * w->p->n * w->p->n) * 8,
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}
