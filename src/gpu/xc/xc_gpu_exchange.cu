/* Fitted Coulomb and exchange on a card (xc_exchange.h): rows B_Q are kept there as far as memory
 * goes; others are made anew in each phase, a block at a time. */
#include "xc_gpu.cuh"

#include "xc_exchange.h"
#include "xc_memory.h"

#include <algorithm>
#include <limits.h>
#include <vector>

enum { BLOCK = 256, PART = 8, MOST_ROWS = 256 }; /* of the memory left; (P|mn), B_Q at a time */

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

/* Rows that are worked on together: of the largest fitting shell at least; products with more
 * elements than an int holds are slow. */
static int64_t choose_rows(const xc_gpu *w) {
  const int64_t nn = w->p->n * w->p->n, left = w->memory.limit - w->memory.used;
  const int64_t orbitals = w->p->n_orbitals * w->p->n_orbitals + w->p->n_products;
  const int64_t fit = left / PART / (16 * (nn + w->p->n_packed) + 8 * orbitals);
  return std::max<int64_t>(XC_EXCHANGE_ROWS, std::min({fit, (int64_t)MOST_ROWS, INT_MAX / nn}));
}

tsl_err xc_exchange_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t nn = p->n * p->n;
  bool ready = false;
  if (!p->fitted_exchange) goto done;
  TSL_TRY(xc_triples_prepare(w, &ready));
  if (!ready)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY,
             "card %s: no memory for lists of pairs, which fitted exchange needs: raise "
             "run.device_memory, or ask for xc.exchange exact",
             tsl_gpu_card());
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.metric, p->n_fit * p->n_fit * 8, "the fitting set"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.orbitals, p->n_spin * nn * 8, "orbitals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.sums, p->n_spin * nn * 8, "exchange matrix"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.map, nn * 4, "places of pairs"));
  w->x.n_rows = choose_rows(w);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.squares, w->x.n_rows * nn * 8, "integrals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.x, w->x.n_rows * nn * 8, "transformed integrals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.fit, w->x.n_rows * p->n_packed * 8, "integrals"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.anew, w->x.n_rows * p->n_packed * 8, "integrals"));
  if (p->n_products > 0)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->x.products,
                            w->x.n_rows * (p->n_orbitals * p->n_orbitals + p->n_products) * 8,
                            "products of orbitals"));
  TSL_TRY(upload_map(w));
  TSL_TRY(upload_metric(w));
done:
  return err;
}

void xc_exchange_close(xc_gpu *w) {
  tsl_gpu_buffer *const all[] = {&w->x.metric, &w->x.orbitals, &w->x.sums,
                                 &w->x.map,    &w->x.squares,  &w->x.x,
                                 &w->x.fit,    &w->x.anew,     &w->x.products};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
}

tsl_err xc_exchange_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n, nn = n * n;
  if (!w->p->fitted_exchange) goto done;
  xc_fit_forget(w, w->phase); /* of trials */
  TSL_CUDA_TRY(cudaMemsetAsync(w->x.sums.data, 0, (size_t)(w->p->n_spin * nn) * 8, w->stream));
  for (int s = 0; s < w->p->n_spin; s++)
    TSL_CUDA_TRY(cudaMemcpyAsync(
        (double *)w->x.orbitals.data + s * nn, xc_exchange_orbitals(w->problem, s),
        (size_t)(xc_exchange_count(w->problem, s) * n) * 8, cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

/* ------------------------------------------------------------------ rows of B */

/* (P|mn) of the shells from lo on that the buffer takes. @param[out] end  the shell behind them */
static tsl_err fill_fit(xc_gpu *w, int64_t lo, int64_t *end) {
  tsl_err err = TSL_OK;
  const int64_t first = xc_batches_first(w->batches, lo);
  std::vector<xc_triple_ket> kets;
  double seconds = 0;
  bool ready = false;
  int64_t s = lo;
  for (; s < w->p->n_fit_shells; s++) {
    if (xc_batches_first(w->batches, s + 1) - first > w->x.n_rows) break;
    const int64_t row = xc_batches_first(w->batches, s) - first;
    kets.push_back({&w->view.fitting.shells[s], (double *)w->x.fit.data + row * w->p->n_packed});
  }
  TSL_TRY(xc_triples_prepare(w, &ready));
  if (!ready)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "card %s: no memory to compute fitting integrals",
             tsl_gpu_card());
  TSL_TRY(xc_triples_fill(w, kets.data(), (int64_t)kets.size(), &seconds));
  *end = s;
done:
  return err;
}

/* What (P|mn) of P in [first, end) add to rows [lo, hi), of which those before the first are done;
 * the first of all set them. Rows are columns to cuBLAS. */
static tsl_err add_rows(xc_gpu *w, int64_t first, int64_t end, int64_t lo, int64_t hi,
                        double *rows) {
  tsl_err err = TSL_OK;
  const int64_t columns = w->p->n_packed, fit = w->p->n_fit;
  const int64_t most = std::max<int64_t>(1, INT_MAX / columns);
  const double one = 1, keep = first > 0 ? 1 : 0;
  for (int64_t q = std::max(lo, first), n; q < hi; q += n) {
    n = std::min(most, hi - q);
    TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_N, CUBLAS_OP_T, (int)columns, (int)n,
                                (int)(end - first), &one, (const double *)w->x.fit.data,
                                (int)columns, (const double *)w->x.metric.data + first * fit + q,
                                (int)fit, &keep, rows + (q - lo) * columns, (int)columns));
  }
done:
  return err;
}

/* Rows [lo, hi) of B. */
static tsl_err make_rows(xc_gpu *w, int64_t lo, int64_t hi, double *rows) {
  tsl_err err = TSL_OK;
  for (int64_t s = 0, end; s < w->p->n_fit_shells && xc_batches_first(w->batches, s) < hi;
       s = end) {
    TSL_TRY(fill_fit(w, s, &end));
    TSL_TRY(add_rows(w, xc_batches_first(w->batches, s), xc_batches_first(w->batches, end), lo, hi,
                     rows));
    TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the buffer is used again */
  }
done:
  return err;
}

/* Rows [lo, *end), *end <= hi: kept ones all, else as many as the buffer takes. */
static tsl_err find_rows(xc_gpu *w, int64_t lo, int64_t hi, int64_t *end, const double **rows) {
  tsl_err err = TSL_OK;
  double *place = NULL;
  *end = hi;
  *rows = xc_fit_kept(w, lo, hi);
  if (*rows != NULL) goto done;
  TSL_TRY(xc_fit_place(w, lo, hi, &place));
  if (place == NULL) {
    place = (double *)w->x.anew.data;
    *end = std::min(hi, lo + w->x.n_rows);
  }
  *rows = place;
  err = make_rows(w, lo, *end, place);
  if (err != TSL_OK) xc_fit_forget(w, w->phase); /* nothing is kept half filled */
done:
  return err;
}

/* --------------------------------------------------------------------- sums */

/* squares[f][i][j] of rows[f]; both indices of a square at once. */
static __global__ void square_kernel(const double *rows, int64_t n_packed, const int32_t *map,
                                     double *squares, int64_t nn) {
  const int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (at >= nn) return;
  const int32_t from = map[at];
  squares[blockIdx.y * nn + at] = from < 0 ? 0 : rows[blockIdx.y * n_packed + from];
}

/* beta of functions [first, first + n), and their share of J. */
static tsl_err add_coulomb(xc_gpu *w, const double *rows, int64_t first, int64_t n) {
  tsl_err err = TSL_OK;
  const double one = 1, zero = 0;
  const int columns = (int)w->p->n_packed;
  double *beta = (double *)w->gamma.data + first;
  TSL_BLAS_TRY(tsl_blas.Dgemv(w->blas, CUBLAS_OP_T, columns, (int)n, &one, rows, columns,
                              (const double *)w->packed.data, 1, &zero, beta, 1));
  TSL_BLAS_TRY(tsl_blas.Dgemv(w->blas, CUBLAS_OP_N, columns, (int)n, &one, rows, columns, beta, 1,
                              &one, (double *)w->fitted.data, 1));
done:
  return err;
}

/* X of n squares, [Q][m][n], and K += X^T X: the upper triangle by rows is the lower to cuBLAS. */
static tsl_err add_exchange(xc_gpu *w, int spin, int n_rows) {
  tsl_err err = TSL_OK;
  const int n = (int)w->p->n, m = (int)xc_exchange_count(w->problem, spin);
  const int64_t nn = w->p->n * w->p->n;
  const double one = 1, zero = 0;
  double *x = (double *)w->x.x.data;
  if (m == 0) goto done;
  TSL_BLAS_TRY(tsl_blas.DgemmStridedBatched(
      w->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, n, &one, (const double *)w->x.squares.data, n, nn,
      (const double *)w->x.orbitals.data + spin * nn, n, 0, &zero, x, n, (int64_t)m * n, n_rows));
  TSL_BLAS_TRY(tsl_blas.Dsyrk(w->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, m * n_rows, &one, x,
                              n, &one, (double *)w->x.sums.data + spin * nn, n));
done:
  return err;
}

/* B_Qij of i >= j, those of unlike orbitals times the root of 2. Block (pairs of orbitals, Q). */
static __global__ void products_kernel(const double *squares, int64_t m, double *products,
                                       int64_t n_products) {
  const int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  int64_t i = (int64_t)((sqrt(8.0 * (double)at + 1) - 1) * 0.5);
  while ((i + 1) * (i + 2) / 2 <= at) i++;
  while (i * (i + 1) / 2 > at) i--;
  const int64_t j = at - i * (i + 1) / 2;
  if (i < m)
    products[blockIdx.y * n_products + at] =
        (i == j ? 1 : 1.4142135623730951) * squares[(blockIdx.y * m + i) * m + j];
}

/* B_Qij of a spin and n squares, of functions from `first` on, to the host. */
static tsl_err add_products(xc_gpu *w, int spin, int64_t first, int64_t n_rows) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const double one = 1, zero = 0;
  int64_t orbital = 0;
  const int64_t rank = xc_exchange_rank(w->problem, spin, &orbital), row = p->n_products;
  const int n = (int)p->n, m = (int)rank, rows = (int)n_rows;
  const int64_t nn = p->n * p->n, mm = rank * rank;
  const double *c = (const double *)w->x.orbitals.data + spin * nn + orbital * p->n;
  double *x = (double *)w->x.x.data, *square = (double *)w->x.products.data;
  double *packed = square + w->x.n_rows * p->n_orbitals * p->n_orbitals, *to = NULL;
  if (m == 0) goto done;
  TSL_TRY(xc_batches_products_place(w->batches, &to));
  TSL_BLAS_TRY(tsl_blas.DgemmStridedBatched(w->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, n, &one,
                                            (const double *)w->x.squares.data, n, nn, c, n, 0,
                                            &zero, x, n, (int64_t)m * n, rows));
  TSL_BLAS_TRY(tsl_blas.DgemmStridedBatched(w->blas, CUBLAS_OP_T, CUBLAS_OP_N, m, m, n, &one, c, n,
                                            0, x, n, (int64_t)m * n, &zero, square, m, mm, rows));
  TSL_CUDA_TRY(cudaMemsetAsync(packed, 0, (size_t)(n_rows * row) * 8, w->stream));
  TSL_LAUNCH(products_kernel,
             dim3((unsigned)tsl_ceil_div(rank * (rank + 1) / 2, BLOCK), (unsigned)n_rows), BLOCK, 0,
             w->stream, square, rank, packed, row);
  TSL_TRY(
      tsl_gpu_copy(w, to + (spin * p->n_fit + first) * row, packed, (size_t)(n_rows * row) * 8));
done:
  return err;
}

/* J and K of functions [first, end), whose rows are there; before a gradient products of orbitals
 * in place of K. */
static tsl_err add_rows_of(xc_gpu *w, const double *rows, int64_t first, int64_t end) {
  tsl_err err = TSL_OK;
  const int64_t nn = w->p->n * w->p->n, columns = w->p->n_packed;
  for (int64_t q = first, n; q < end; q += n, rows += n * columns) {
    n = std::min(w->x.n_rows, end - q);
    const dim3 grid((unsigned)tsl_ceil_div(nn, BLOCK), (unsigned)n);
    TSL_LAUNCH(square_kernel, grid, BLOCK, 0, w->stream, rows, columns,
               (const int32_t *)w->x.map.data, (double *)w->x.squares.data, nn);
    TSL_TRY(add_coulomb(w, rows, q, n));
    for (int s = 0; s < w->p->n_spin; s++)
      TSL_TRY(w->task == XC_TASK_PRODUCTS ? add_products(w, s, q, n) : add_exchange(w, s, (int)n));
  }
done:
  return err;
}

tsl_err xc_exchange_run(xc_gpu *w, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  const double *rows = NULL;
  if (w->p->n_packed == 0) goto done;
  for (int64_t lo = unit->lo[0], hi; lo < unit->hi[0]; lo = hi) {
    TSL_TRY(find_rows(w, lo, unit->hi[0], &hi, &rows));
    TSL_TRY(add_rows_of(w, rows, lo, hi));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

tsl_err xc_exchange_collect(xc_gpu *w, double *exchange) {
  tsl_err err = TSL_OK;
  TSL_TRY(
      tsl_gpu_copy(w, exchange, w->x.sums.data, (size_t)(w->p->n_spin * w->p->n * w->p->n) * 8));
done:
  return err;
}
