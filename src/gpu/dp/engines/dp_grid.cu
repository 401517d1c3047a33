/* Bands of the weighted edit distance and of dynamic time warping. */
#include "dp_grid.cuh"

#include <math.h>
#include <stdlib.h>

static int64_t dp_grid_value_bytes(const dp_grid *b) {
  return (int64_t)tsl_type_bytes(b->type);
}

/* Boundary M[0][j] and M[i][0]. */
template <class T> static __global__ void row_kernel(T *row, int64_t m, int64_t first, T each) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (j < m) row[j] = each * (T)(first + j + 1);
}
template <class T> static __global__ void column_kernel(T *edge, int64_t rows, int64_t lo, T each) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r <= rows) edge[r] = lo + r == 0 ? (T)0 : each * (T)(lo + r);
}
template <class T> static __global__ void corner_kernel(const T *above, int64_t m, T *edge) {
  edge[0] = above[m - 1];
}

/* What a step along the boundary adds; LCS: costs are 0. */
static double boundary_step(const dp_grid *b, int32_t cost) {
  return b->problem == DP_DTW ? INFINITY : (double)cost;
}

/* F is called with a value of the type. */
template <class F> static tsl_err as_type(const dp_grid *b, F call) {
  if (b->type == TSL_I32) return call((int32_t)0);
  return b->type == TSL_F32 ? call(0.0f) : call(0.0);
}

static tsl_err open_band(dp_card *card, const dp_grid *like, const void *rows, const void *columns,
                         int64_t letter_bytes, dp_grid **out) {
  tsl_err err = TSL_OK;
  dp_grid *b = NULL;
  tsl_gpu_memory *memory = &card->memory;
  const size_t n = (size_t)(like->n * letter_bytes), m = (size_t)(like->m * letter_bytes);
  *out = NULL;
  if (like->n < 0 || like->n > INT32_MAX - 64 || like->m < 0 || like->m > INT32_MAX - 512)
    TSL_FAIL(TSL_ERR_INPUT, "a table of %lld x %lld cells is too large for a card",
             (long long)like->n, (long long)like->m);
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  *b = *like;
  b->card = card;
  TSL_TRY(tsl_gpu_reserve(memory, &b->rows, (int64_t)n + 1, "rows"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->columns, (int64_t)m + 1, "columns"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->bad, 4, "flags"));
  for (int k = 0; k < 2; k++)
    TSL_TRY(tsl_gpu_reserve(memory, &b->line[k], dp_grid_value_bytes(b) * (b->m + 1), "row"));
  if (n > 0) TSL_CUDA_TRY(cudaMemcpyAsync(b->rows.data, rows, n, cudaMemcpyDefault, card->stream));
  if (m > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(b->columns.data, columns, m, cudaMemcpyDefault, card->stream));
  TSL_TRY(dp_card_wait(card));
  TSL_TRY(dp_grid_begin(b));
  *out = b;
done:
  if (err != TSL_OK) dp_grid_close(&b);
  return err;
}

tsl_err dp_grid_open_edit(dp_card *card, int64_t insert, int64_t remove, int64_t replace,
                          const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                          int64_t total, int64_t first, dp_grid **out) {
  tsl_err err = TSL_OK;
  const int64_t most = insert > remove ? insert : remove;
  int64_t bound = 0;
  dp_grid like = {};
  *out = NULL;
  if (insert < 0 || remove < 0 || replace < 0)
    TSL_FAIL(TSL_ERR_INPUT, "costs %lld, %lld, %lld; allowed >= 0", (long long)insert,
             (long long)remove, (long long)replace);
  if (!tsl_mul_i64(n + total + 2, most > replace ? most : replace, &bound) || bound >= (int64_t)1
                                                                                           << 30)
    TSL_FAIL(TSL_ERR_INPUT,
             "distances of %lld and %lld letters may exceed 30 bits; divide the "
             "costs by a common factor",
             (long long)n, (long long)total);
  like.problem = DP_EDIT;
  like.type = TSL_I32;
  like.insert = (int32_t)insert;
  like.remove = (int32_t)remove;
  like.replace = (int32_t)replace;
  like.n = n;
  like.m = m;
  like.first = first;
  TSL_TRY(open_band(card, &like, rows, columns, 1, out));
done:
  return err;
}

tsl_err dp_grid_open_lcs(dp_card *card, const uint8_t *rows, int64_t n, const uint8_t *columns,
                         int64_t m, int64_t first, dp_grid **out) {
  dp_grid like = {};
  like.problem = DP_LCS;
  like.type = TSL_I32;
  like.n = n;
  like.m = m;
  like.first = first;
  return open_band(card, &like, rows, columns, 1, out);
}

tsl_err dp_grid_open_dtw(dp_card *card, tsl_type type, bool square, const void *rows, int64_t n,
                         const void *columns, int64_t m, int64_t first, dp_grid **out) {
  tsl_err err = TSL_OK;
  dp_grid like = {};
  *out = NULL;
  if (type != TSL_F32 && type != TSL_F64)
    TSL_FAIL(TSL_ERR_INTERNAL, "time warping in %s", tsl_type_name(type));
  like.problem = DP_DTW;
  like.type = type;
  like.square = square;
  like.n = n;
  like.m = m;
  like.first = first;
  TSL_TRY(open_band(card, &like, rows, columns, dp_grid_value_bytes(&like), out));
done:
  return err;
}

void dp_grid_close(dp_grid **band) {
  dp_grid *b = *band;
  if (b == NULL) return;
  tsl_gpu_buffer *all[] = {&b->rows,     &b->columns, &b->line[0], &b->line[1], &b->edge,
                           &b->finished, &b->bad,     &b->ways,    &b->steps};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&b->card->memory, buffer);
  tsl_free(b);
  *band = NULL;
}

tsl_err dp_grid_begin(dp_grid *b) {
  b->now = 0;
  b->row = 0;
  return as_type(b, [=](auto zero) {
    typedef decltype(zero) T;
    tsl_err err = TSL_OK;
    const T each = (T)boundary_step(b, b->insert);
    TSL_LAUNCH((row_kernel<T>), dim3((unsigned)tsl_ceil_div(b->m, 256)), 256, 0, b->card->stream,
               (T *)b->line[0].data, b->m, b->first, each);
    TSL_CUDA_TRY(cudaMemsetAsync(b->bad.data, 0, 4, b->card->stream));
  done:
    return err;
  });
}

template <class T> static tsl_err enter(dp_grid *b, int64_t lo, int64_t rows, const void *left) {
  tsl_err err = TSL_OK;
  const T each = (T)boundary_step(b, b->remove);
  const int64_t bytes = (rows + 1) * (int64_t)sizeof(T);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->edge, bytes, "edge"));
  if (left != NULL)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(b->edge.data, left, (size_t)bytes, cudaMemcpyDefault, b->card->stream));
  else
    TSL_LAUNCH((column_kernel<T>), dim3((unsigned)tsl_ceil_div(rows + 1, 256)), 256, 0,
               b->card->stream, (T *)b->edge.data, rows, lo, each);
done:
  return err;
}

static void fill_data(const dp_grid *b, dp_edit_cell::DATA *d) {
  d->a = (const uint8_t *)b->rows.data;
  d->b = (const uint8_t *)b->columns.data - b->first;
  d->insert = b->insert;
  d->remove = b->remove;
  d->replace = b->replace;
}
static void fill_data(const dp_grid *b, dp_lcs_cell::DATA *d) {
  d->a = (const uint8_t *)b->rows.data;
  d->b = (const uint8_t *)b->columns.data - b->first;
}
template <class D> static void fill_data(const dp_grid *b, D *d) {
  d->a = (decltype(d->a))b->rows.data;
  d->b = (decltype(d->b))b->columns.data - b->first;
  d->square = b->square;
}

/* What a tile writes besides rows and edges. */
typedef struct grid_extra {
  bool keep;
  void *cells;
  int64_t ld;
} grid_extra;

template <class CELL>
static tsl_err launch(dp_grid *b, int64_t lo, int64_t rows, const grid_extra *x) {
  typedef typename CELL::T T;
  dp_engine_args<CELL> a = {};
  fill_data(b, &a.data);
  a.above = (const T *)b->line[b->now].data;
  a.below = (T *)b->line[1 - b->now].data;
  a.edge = (T *)b->edge.data;
  a.table = (T *)x->cells;
  a.stride = x->ld;
  a.ways = x->keep ? (unsigned *)b->ways.data : NULL;
  a.bad = (int *)b->bad.data;
  a.p0 = lo + 1;
  a.q0 = b->first + 1;
  a.rows = (int)rows;
  a.columns = (int)b->m;
  if (x->keep || dp_grid_width(b->card, b->m) == DP_GRID_COLUMNS)
    return dp_grid_launch<CELL, DP_GRID_COLUMNS>(b->card, a, &b->finished);
  return dp_grid_launch<CELL, DP_GRID_FEW>(b->card, a, &b->finished);
}

static tsl_err launch_any(dp_grid *b, int64_t lo, int64_t rows, const grid_extra *x) {
  if (b->problem == DP_EDIT) return launch<dp_edit_cell>(b, lo, rows, x);
  if (b->problem == DP_LCS) return launch<dp_lcs_cell>(b, lo, rows, x);
  return b->type == TSL_F32 ? launch<dp_dtw_cell<float>>(b, lo, rows, x)
                            : launch<dp_dtw_cell<double>>(b, lo, rows, x);
}

int64_t dp_grid_keep_bytes(int64_t rows, int64_t m) {
  return 4 * DP_WARP * dp_engine_steps(rows) * tsl_ceil_div(m, DP_WARP * DP_GRID_COLUMNS);
}

template <class T>
static tsl_err tile(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right,
                    const grid_extra *x) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo;
  TSL_TRY(enter<T>(b, lo, rows, left));
  if (rows > 0 && b->m > 0) TSL_TRY(launch_any(b, lo, rows, x));
  if (b->m > 0 && right != NULL)
    TSL_LAUNCH((corner_kernel<T>), dim3(1), 1, 0, b->card->stream, (const T *)b->line[b->now].data,
               b->m, (T *)b->edge.data);
  if (rows > 0 && b->m > 0) b->now = 1 - b->now;
  b->row = hi;
  if (right == NULL) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(right, b->edge.data, (size_t)(rows + 1) * sizeof(T),
                               cudaMemcpyDefault, b->card->stream));
  if (!dp_card_holds(right)) TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

static tsl_err run_tile(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right,
                        const grid_extra *x) {
  tsl_err err = TSL_OK;
  if (lo != b->row || hi > b->n || lo > hi)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld do not continue row %lld of %lld", (long long)lo,
             (long long)hi, (long long)b->row, (long long)b->n);
  if (x->keep) {
    TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->ways, dp_grid_keep_bytes(hi - lo, b->m) + 4,
                            "ways of the tile"));
    b->kept_lo = lo;
    b->kept_hi = hi;
  }
  TSL_TRY(as_type(b, [=](auto zero) { return tile<decltype(zero)>(b, lo, hi, left, right, x); }));
done:
  return err;
}

tsl_err dp_grid_tile(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right, bool keep) {
  const grid_extra x = {keep, NULL, 0};
  return run_tile(b, lo, hi, left, right, &x);
}

tsl_err dp_grid_tile_cells(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right,
                           void *cells, int64_t ld) {
  const grid_extra x = {false, cells, ld};
  return run_tile(b, lo, hi, left, right, &x);
}

int64_t dp_grid_state_bytes(const dp_grid *b) {
  return b->m * dp_grid_value_bytes(b);
}

tsl_err dp_grid_state_get(dp_grid *b, void *state) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(state, b->line[b->now].data, (size_t)dp_grid_state_bytes(b),
                               cudaMemcpyDefault, b->card->stream));
done:
  return err;
}

tsl_err dp_grid_state_put(dp_grid *b, int64_t row, const void *state) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(b->line[b->now].data, state, (size_t)dp_grid_state_bytes(b),
                               cudaMemcpyDefault, b->card->stream));
  b->row = row;
done:
  return err;
}

tsl_err dp_grid_last(dp_grid *b, double *value) {
  return as_type(b, [=](auto zero) {
    tsl_err err = TSL_OK;
    auto last = zero;
    TSL_TRY(tsl_gpu_copy(b->card, &last, (const decltype(zero) *)b->line[b->now].data + b->m - 1,
                         sizeof last));
    *value = (double)last;
  done:
    return err;
  });
}
