/* Derivatives of (P|mn) of fitted Coulomb and exchange on a card (xc_exchange.h): weights of some
 * rows at a time from products of orbitals, pairs of primitives expanded, kernels by class. Those
 * of (P|Q) are the host's (xc_batches_gradient_metric). */
#include "xc_gpu.cuh"
#include "xc_gpu_triple_slopes.cuh"

#include "xc_exchange.h"

#include <algorithm>
#include <limits.h>
#include <vector>

enum {
  TRIPLE_BYTES = 256 << 20, /* bytes for expansions at a time, if one pair does not need more */
  TRIPLE_BLOCK = 128,
  TRIPLE_WARPS = 4 /* of a block that expands */
};

/** What a call has on the card. */
struct slope_buffers {
  tsl_gpu_buffer twos, e, parts, primitives, joins;
};

static double *rows_of(const xc_gpu *w) {
  return (double *)w->x.fit.data;
}

/* ------------------------------------------------------------------- weights */

/* c_P D_mn. Block (elements, row). */
static __global__ void coulomb_kernel(const double *c, const double *packed, int64_t n_packed,
                                      double *rows) {
  const int64_t at = (int64_t)blockIdx.x * TRIPLE_BLOCK + threadIdx.x;
  if (at < n_packed) rows[blockIdx.y * n_packed + at] = c[blockIdx.y] * packed[at];
}

/* C_Pij of both orders; those of unlike orbitals are times the root of 2. Block (elements, row). */
static __global__ void square_kernel(const double *products, int64_t n_products, int m,
                                     double *squares) {
  const int at = (int)(blockIdx.x * TRIPLE_BLOCK + threadIdx.x), i = at / m, j = at % m;
  if (i >= m) return;
  const int64_t high = i > j ? i : j, low = i > j ? j : i;
  squares[(int64_t)blockIdx.y * m * m + at] =
      products[blockIdx.y * n_products + high * (high + 1) / 2 + low] *
      (i == j ? 1 : 0.70710678118654752);
}

/* Subtract exchange's part, both orders of a pair in one. Block (pair, row). */
static __global__ void exchange_kernel(const xc_triple_bra *bras, const xc_shell *shells,
                                       const double *squares, int64_t n, double share,
                                       int64_t n_packed, double *rows) {
  const xc_triple_bra bra = bras[blockIdx.x];
  const xc_shell *a = &shells[bra.a], *b = &shells[bra.b];
  const int nb = xc_shell_size(b), size = xc_shell_size(a) * nb;
  const double times = share * (bra.a == bra.b ? 1 : 2);
  const double *const square = squares + blockIdx.y * n * n;
  double *const to = rows + blockIdx.y * n_packed + bra.packed;
  for (int k = (int)threadIdx.x; k < size; k += XC_WARP)
    to[k] -= times * square[(a->first + k / nb) * n + b->first + k % nb];
}

/* sum_ij C_Pij c_mi c_nj of a spin off the weights of n functions from `first` on. */
static tsl_err subtract_exchange(xc_gpu *w, int spin, int64_t first, int64_t n_rows) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const double one = 1, zero = 0, share = p->functional.exchange * (p->n_spin == 1 ? 2 : 1);
  int64_t orbital = 0;
  const int64_t rank = xc_exchange_rank(w->problem, spin, &orbital), nn = p->n * p->n;
  const int n = (int)p->n, m = (int)rank, rows = (int)n_rows;
  const double *c = (const double *)w->x.orbitals.data + spin * nn + orbital * p->n;
  double *square = (double *)w->x.products.data, *x = (double *)w->x.x.data;
  double *products = square + w->x.n_rows * p->n_orbitals * p->n_orbitals;
  double *const squares = (double *)w->x.squares.data;
  if (m == 0) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(products, xc_exchange_products(w->problem, spin, first),
                               (size_t)(n_rows * p->n_products) * 8, cudaMemcpyHostToDevice,
                               w->stream));
  TSL_LAUNCH(square_kernel,
             dim3((unsigned)tsl_ceil_div(rank * rank, TRIPLE_BLOCK), (unsigned)n_rows),
             TRIPLE_BLOCK, 0, w->stream, products, p->n_products, m, square);
  TSL_BLAS_TRY(tsl_blas.DgemmStridedBatched(w->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, m, &one, c, n,
                                            0, square, m, rank * rank, &zero, x, n, (int64_t)m * n,
                                            rows));
  TSL_BLAS_TRY(tsl_blas.DgemmStridedBatched(w->blas, CUBLAS_OP_N, CUBLAS_OP_T, n, n, m, &one, c, n,
                                            0, x, n, (int64_t)m * n, &zero, squares, n, nn, rows));
  TSL_LAUNCH(exchange_kernel, dim3((unsigned)w->triples->lists.n_bras, (unsigned)n_rows), XC_WARP,
             0, w->stream, (const xc_triple_bra *)w->triples->bras.data,
             (const xc_shell *)w->shells.data, squares, p->n, share, p->n_packed, rows_of(w));
done:
  return err;
}

static tsl_err make_weights(xc_gpu *w, int64_t first, int64_t n_rows) {
  tsl_err err = TSL_OK;
  TSL_LAUNCH(coulomb_kernel,
             dim3((unsigned)tsl_ceil_div(w->p->n_packed, TRIPLE_BLOCK), (unsigned)n_rows),
             TRIPLE_BLOCK, 0, w->stream, (const double *)w->coefficients.data + first,
             (const double *)w->packed.data, w->p->n_packed, rows_of(w));
  for (int s = 0; s < w->p->n_spin; s++) TSL_TRY(subtract_exchange(w, s, first, n_rows));
done:
  return err;
}

/* -------------------------------------------------------------------- expand */

/** Where the expansion of a range of pairs of primitives goes. */
struct triple_range {
  int64_t first, n;
  int H, N, size, chunks; /* as of xc_gpu_triples.cu */
  xc_slope_two *twos;
  double *e;
};

/* A warp a pair of primitives. */
static __global__ void expand_kernel(const triple_range k, const xc_triple_bra *bras,
                                     const xc_triple_two *twos, const xc_shell *shells,
                                     const xc_triple_tables *tables) {
  __shared__ xc_triple_pair pairs[TRIPLE_WARPS];
  const int warp = threadIdx.x / XC_WARP, lane = threadIdx.x % XC_WARP,
            stride = xc_triple_stride(k.N);
  const int64_t at = (int64_t)blockIdx.x * TRIPLE_WARPS + warp;
  const int64_t count = (int64_t)k.chunks * XC_SLOPE_SETS * k.H * stride;
  if (at >= k.n) return;
  const xc_triple_two two = twos[k.first + at];
  const xc_shell *a = &shells[bras[two.bra].a], *b = &shells[bras[two.bra].b];
  const double alpha = a->exponent[two.i];
  xc_triple_pair *q = &pairs[warp];
  const int nb = xc_shell_size(b);
  xc_triple_begin(a, b, two, lane, q);
  if (lane == 0) k.twos[at] = {q->p, {q->at[0], q->at[1], q->at[2]}, alpha / q->p};
  for (int64_t x = lane; x < count; x += XC_WARP) {
    const int f = (int)(x % stride), h = (int)(x / stride % k.H);
    const int set = (int)(x / stride / k.H % XC_SLOPE_SETS), axis = set > 0 ? set - 1 : 0;
    const int ab = (int)(x / stride / k.H / XC_SLOPE_SETS) * k.N + f;
    k.e[at * count + x] =
        f < k.N && ab < k.size
            ? xc_slope_element(tables, q, &tables->of[a->spherical != 0][a->l][ab / nb],
                               &tables->of[b->spherical != 0][b->l][ab % nb], h, set, alpha,
                               q->at[axis] - a->at[axis])
            : 0;
  }
}

/* ------------------------------------------------------------------- classes */

static const xc_triple_slope_class *slope_class_of(const xc_triple_group *g) {
  return xc_triple_class_of(xc_triple_slope_low, xc_triple_slope_high, g);
}

static int64_t slope_bytes_of_two(const xc_triple_group *g) {
  const xc_triple_slope_class *c = slope_class_of(g);
  return 8 * (int64_t)xc_triple_chunks(c, g->size) * XC_SLOPE_SETS * xc_hermite_count(g->L) *
         xc_triple_stride(c->N);
}

static int64_t triple_twos_of(const xc_triple_group *g) {
  return std::max(g->most, std::min(g->twos, TRIPLE_BYTES / slope_bytes_of_two(g)));
}

/* -------------------------------------------------------------------- memory */

/* All that a call needs, for as many rows as are worked on together. */
static tsl_err reserve_all(xc_gpu *w, slope_buffers *b) {
  tsl_err err = TSL_OK;
  enum { PARTS = XC_MAX_L / 2 + 1 };
  const xc_triple_lists *all = &w->triples->lists;
  const int64_t shells = std::min(w->x.n_rows, w->p->n_fit_shells);
  int64_t twos = 1, e = 8;
  for (int64_t k = 0; k < all->n_groups; k++) {
    const int64_t some = triple_twos_of(&all->groups[k]);
    twos = std::max(twos, some), e = std::max(e, some * slope_bytes_of_two(&all->groups[k]));
  }
  TSL_TRY(xc_gradient_reserve(w, &b->twos, twos * (int64_t)sizeof(xc_slope_two)));
  TSL_TRY(xc_gradient_reserve(w, &b->e, e));
  TSL_TRY(xc_gradient_reserve(w, &b->parts, shells * PARTS * (int64_t)sizeof(xc_triple_part)));
  TSL_TRY(xc_gradient_reserve(w, &b->primitives,
                              shells * PARTS * XC_MAX_PRIMITIVES *
                                  (int64_t)sizeof(xc_triple_primitive)));
  TSL_TRY(xc_gradient_reserve(w, &b->joins, shells * (int64_t)sizeof(xc_triple_join)));
done:
  return err;
}

static tsl_err upload(xc_gpu *w, const tsl_gpu_buffer *buffer, const void *from, size_t bytes) {
  tsl_err err = TSL_OK;
  if (bytes > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(buffer->data, from, bytes, cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

/* ----------------------------------------------------------------------- run */

/* Pairs of shells [lo, hi) of a group with all parts. */
static tsl_err run_range(xc_gpu *w, const slope_buffers *b, const xc_triple_group *g, int64_t lo,
                         int64_t hi, const xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  const xc_triples *t = w->triples;
  const xc_triple_slope_class *c = slope_class_of(g);
  const int64_t first = t->lists.bras[lo].first;
  const int64_t twos = t->lists.bras[hi - 1].first + t->lists.bras[hi - 1].n - first;
  const triple_range k = {first,
                          twos,
                          xc_hermite_count(g->L),
                          c->N,
                          g->size,
                          xc_triple_chunks(c, g->size),
                          (xc_slope_two *)b->twos.data,
                          (double *)b->e.data};
  xc_triple_slope_task task = {};
  TSL_LAUNCH(expand_kernel, (unsigned)tsl_ceil_div(twos, TRIPLE_WARPS), TRIPLE_WARPS * XC_WARP, 0,
             w->stream, k, (const xc_triple_bra *)t->bras.data, (const xc_triple_two *)t->twos.data,
             (const xc_shell *)w->shells.data, (const xc_triple_tables *)t->tables.data);
  task.bras = (const xc_triple_bra *)t->bras.data + lo;
  task.shells = (const xc_shell *)w->shells.data, task.twos = k.twos, task.e = k.e;
  task.primitives = (const xc_triple_primitive *)b->primitives.data;
  task.boys = ((const xc_triple_tables *)t->tables.data)->boys[0];
  task.sums = (double *)w->gradient.integrals.data, task.n_packed = w->p->n_packed;
  task.copies = XC_GRADIENT_COPIES, task.n_sums = (int32_t)(3 * w->p->n_atoms);
  task.first = (int32_t)first, task.n_bras = (int32_t)(hi - lo);
  task.size = k.size, task.chunks = k.chunks;
  for (int l = 0; l <= XC_MAX_L; l++) {
    task.parts = (const xc_triple_part *)b->parts.data + parts->first[l];
    task.n_parts = (int32_t)(parts->first[l + 1] - parts->first[l]);
    TSL_TRY(c->run[l](&task, w->stream));
  }
done:
  return err;
}

static tsl_err run_groups(xc_gpu *w, const slope_buffers *b, const xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  const xc_triple_lists *all = &w->triples->lists;
  for (int64_t k = 0; k < all->n_groups; k++) {
    const xc_triple_group *g = &all->groups[k];
    const int64_t end = g->first + g->n, most = triple_twos_of(g);
    for (int64_t lo = g->first, hi, twos; lo < end; lo = hi) {
      hi = xc_triple_lists_take(all, lo, end, most, &twos);
      if (twos > 0) TSL_TRY(run_range(w, b, g, lo, hi, parts));
    }
  }
done:
  return err;
}

/* Shells from lo on, as many as the buffers take. @param[out] end  the shell behind them */
static tsl_err run_shells(xc_gpu *w, const slope_buffers *b, int64_t lo, int64_t last,
                          int64_t *end) {
  tsl_err err = TSL_OK;
  const int64_t first = xc_batches_first(w->batches, lo), columns = w->p->n_packed;
  std::vector<xc_triple_ket> kets;
  xc_triple_parts parts = {};
  int64_t s = lo;
  for (; s < last && xc_batches_first(w->batches, s + 1) - first <= w->x.n_rows; s++)
    kets.push_back({&w->view.fitting.shells[s],
                    rows_of(w) + (xc_batches_first(w->batches, s) - first) * columns});
  *end = s;
  TSL_TRY(make_weights(w, first, xc_batches_first(w->batches, s) - first));
  TSL_TRY(xc_triple_parts_create(kets.data(), (int64_t)kets.size(), columns, &parts));
  TSL_TRY(upload(w, &b->parts, parts.list, (size_t)parts.n * sizeof *parts.list));
  TSL_TRY(upload(w, &b->primitives, parts.primitives,
                 (size_t)parts.n_primitives * sizeof *parts.primitives));
  TSL_TRY(upload(w, &b->joins, parts.joins, (size_t)parts.n_joins * sizeof *parts.joins));
  TSL_TRY(xc_triple_join_parts(w, b->joins.data, parts.n_joins, true));
  TSL_TRY(run_groups(w, b, &parts));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the lists go */
done:
  xc_triple_parts_clear(&parts);
  return err;
}

/* The shell that begins with a function: ranges of functions are of whole shells. */
static int64_t shell_of(const xc_gpu *w, int64_t function) {
  int64_t s = 0;
  while (xc_batches_first(w->batches, s) < function) s++;
  return s;
}

tsl_err xc_exchange_slopes(xc_gpu *w, const tsl_unit *unit, bool *done) {
  tsl_err err = TSL_OK;
  const int64_t last = shell_of(w, unit->hi[0]);
  slope_buffers b = {};
  bool ready = false;
  *done = false;
  if (w->p->n_packed == 0) goto done;
  TSL_TRY(xc_triples_lists(w, &ready));
  if (!ready) goto done;
  err = reserve_all(w, &b);
  if (err == TSL_ERR_DEVICE_MEMORY) {
    err = TSL_OK;
    goto done;
  }
  TSL_TRY(err);
  for (int64_t s = shell_of(w, unit->lo[0]), end; s < last; s = end)
    TSL_TRY(run_shells(w, &b, s, last, &end));
  *done = true;
done:
  (void)cudaStreamSynchronize(w->stream);
  for (tsl_gpu_buffer *buffer : {&b.twos, &b.e, &b.parts, &b.primitives, &b.joins})
    tsl_gpu_release(&w->memory, buffer);
  return err;
}

/* --------------------------------------------------------------------- (P|Q) */

/* share sum_ij C_Pij C_Qij of a spin, Q up to the last P; rows of pairs are columns to cuBLAS. */
static tsl_err add_pairs(xc_gpu *w, int spin, const tsl_unit *unit, double *products,
                         double *pairs) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const double one = 1, share = p->functional.exchange * (p->n_spin == 1 ? 2 : 1);
  const int rows = (int)(unit->hi[0] - unit->lo[0]), all = (int)unit->hi[0];
  const int row = (int)p->n_products, fit = (int)p->n_fit;
  TSL_CUDA_TRY(cudaMemcpyAsync(products, xc_exchange_products(w->problem, spin, 0),
                               (size_t)(unit->hi[0] * p->n_products) * 8, cudaMemcpyHostToDevice,
                               w->stream));
  TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_T, CUBLAS_OP_N, all, rows, row, &share, products,
                              row, products + unit->lo[0] * p->n_products, row, &one, pairs, fit));
done:
  return err;
}

tsl_err xc_exchange_pairs(xc_gpu *w, const tsl_unit *unit, double **pairs) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t rows = unit->hi[0] - unit->lo[0], bytes = rows * p->n_fit * 8;
  const double minus = -1, *c = (const double *)w->coefficients.data;
  tsl_gpu_buffer products = {}, weights = {};
  *pairs = NULL;
  err = xc_gradient_reserve(w, &products, unit->hi[0] * p->n_products * 8);
  if (err == TSL_OK) err = xc_gradient_reserve(w, &weights, bytes);
  if (err == TSL_ERR_DEVICE_MEMORY) {
    err = TSL_OK;
    goto done;
  }
  TSL_TRY(err);
  TSL_TRY(tsl_alloc(rows, p->n_fit * 8, "weights of pairs", (void **)pairs));
  TSL_CUDA_TRY(cudaMemsetAsync(weights.data, 0, (size_t)bytes, w->stream));
  TSL_BLAS_TRY(tsl_blas.Dger(w->blas, (int)p->n_fit, (int)rows, &minus, c, 1, c + unit->lo[0], 1,
                             (double *)weights.data, (int)p->n_fit));
  for (int s = 0; s < p->n_spin; s++)
    TSL_TRY(add_pairs(w, s, unit, (double *)products.data, (double *)weights.data));
  TSL_TRY(tsl_gpu_copy(w, *pairs, weights.data, bytes));
done:
  tsl_gpu_release(&w->memory, &products);
  tsl_gpu_release(&w->memory, &weights);
  return err;
}
