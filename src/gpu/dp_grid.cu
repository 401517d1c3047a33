/* Bands of the weighted edit distance and of dynamic time warping. */
#include "dp_grid.cuh"

#include <math.h>
#include <stdlib.h>

static int64_t value_bytes(const dp_grid *b) {
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

/* What a step along the boundary adds. */
static double boundary_step(const dp_grid *b, int32_t cost) {
  return b->problem == DP_EDIT ? (double)cost : INFINITY;
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
    TSL_TRY(tsl_gpu_reserve(memory, &b->line[k], value_bytes(b) * (b->m + 1), "row"));
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
  TSL_TRY(open_band(card, &like, rows, columns, value_bytes(&like), out));
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
template <class D> static void fill_data(const dp_grid *b, D *d) {
  d->a = (decltype(d->a))b->rows.data;
  d->b = (decltype(d->b))b->columns.data - b->first;
  d->square = b->square;
}

template <class CELL> static tsl_err launch(dp_grid *b, int64_t lo, int64_t rows, bool keep) {
  typedef typename CELL::T T;
  dp_engine_args<CELL> a = {};
  fill_data(b, &a.data);
  a.above = (const T *)b->line[b->now].data;
  a.below = (T *)b->line[1 - b->now].data;
  a.edge = (T *)b->edge.data;
  a.ways = keep ? (unsigned *)b->ways.data : NULL;
  a.bad = (int *)b->bad.data;
  a.p0 = lo + 1;
  a.q0 = b->first + 1;
  a.rows = (int)rows;
  a.columns = (int)b->m;
  if (keep || dp_grid_width(b->card, b->m) == DP_GRID_COLUMNS)
    return dp_grid_launch<CELL, DP_GRID_COLUMNS>(b->card, a, &b->finished);
  return dp_grid_launch<CELL, DP_GRID_FEW>(b->card, a, &b->finished);
}

static tsl_err launch_any(dp_grid *b, int64_t lo, int64_t rows, bool keep) {
  if (b->problem == DP_EDIT) return launch<dp_edit_cell>(b, lo, rows, keep);
  return b->type == TSL_F32 ? launch<dp_dtw_cell<float>>(b, lo, rows, keep)
                            : launch<dp_dtw_cell<double>>(b, lo, rows, keep);
}

int64_t dp_grid_keep_bytes(int64_t rows, int64_t m) {
  return 4 * DP_WARP * dp_engine_steps(rows) * tsl_ceil_div(m, DP_WARP * DP_GRID_COLUMNS);
}

template <class T>
static tsl_err tile(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right, bool keep) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo;
  TSL_TRY(enter<T>(b, lo, rows, left));
  if (rows > 0 && b->m > 0) TSL_TRY(launch_any(b, lo, rows, keep));
  if (b->m > 0 && right != NULL)
    TSL_LAUNCH((corner_kernel<T>), dim3(1), 1, 0, b->card->stream, (const T *)b->line[b->now].data,
               b->m, (T *)b->edge.data);
  if (rows > 0 && b->m > 0) b->now = 1 - b->now;
  b->row = hi;
  if (right == NULL) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(right, b->edge.data, (size_t)(rows + 1) * sizeof(T),
                               cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_grid_tile(dp_grid *b, int64_t lo, int64_t hi, const void *left, void *right, bool keep) {
  tsl_err err = TSL_OK;
  if (lo != b->row || hi > b->n || lo > hi)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld do not continue row %lld of %lld", (long long)lo,
             (long long)hi, (long long)b->row, (long long)b->n);
  if (keep) {
    TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->ways, dp_grid_keep_bytes(hi - lo, b->m) + 4,
                            "ways of the tile"));
    b->kept_lo = lo;
    b->kept_hi = hi;
  }
  TSL_TRY(
      as_type(b, [=](auto zero) { return tile<decltype(zero)>(b, lo, hi, left, right, keep); }));
done:
  return err;
}

tsl_err dp_grid_row_get(dp_grid *b, void *values) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(values, b->line[b->now].data, (size_t)(b->m * value_bytes(b)),
                               cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_grid_row_put(dp_grid *b, int64_t row, const void *values) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(b->line[b->now].data, values, (size_t)(b->m * value_bytes(b)),
                               cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  b->row = row;
done:
  return err;
}

/* ------------------------------------------------------------------------------ the way back */

typedef struct walk_args {
  const unsigned *ways;
  int64_t steps;
  uint8_t *out;
  long long *result; /**< row and column in the tile (in and out), count */
} walk_args;

/* One warp; its lanes hold 32 rows of 8 columns. */
static __global__ void walk_kernel(const __grid_constant__ walk_args a) {
  const int lane = threadIdx.x;
  int64_t i = a.result[0], j = a.result[1], count = 0;
  __syncwarp();
  while (i > 0 && j > 0) {
    const int64_t top = i, word = (j - 1) / DP_GRID_COLUMNS, row = top - lane;
    const int64_t strip = word / DP_WARP, owner = word % DP_WARP;
    const unsigned mine =
        row > 0 ? a.ways[(strip * a.steps + row - 1 + owner) * DP_WARP + owner] : 0;
    while (i > 0 && i > top - DP_WARP && j > word * DP_GRID_COLUMNS) {
      const unsigned ways = __shfl_sync(DP_ALL_LANES, mine, (int)(top - i));
      const unsigned way = ways >> (2 * ((j - 1) % DP_GRID_COLUMNS)) & 3;
      if (lane == 0) a.out[count] = (uint8_t)way;
      count++;
      if (way != DP_WAY_LEFT) i--;
      if (way != DP_WAY_UP) j--;
    }
  }
  if (lane != 0) return;
  a.result[0] = i;
  a.result[1] = j;
  a.result[2] = count;
}

tsl_err dp_grid_trace(dp_grid *b, int64_t *row, int64_t *column, uint8_t *steps, int64_t room,
                      int64_t *count) {
  static_assert((int)DP_WAY_PAIR == DP_STEP_PAIR && (int)DP_WAY_LEFT == DP_STEP_LEFT &&
                    (int)DP_WAY_UP == DP_STEP_UP,
                "ways are steps");
  tsl_err err = TSL_OK;
  long long values[3] = {*row - b->kept_lo, *column, 0};
  walk_args args = {};
  if (*row < b->kept_lo || *row > b->kept_hi || *column < 0 || *column > b->m ||
      room < values[0] + values[1])
    TSL_FAIL(TSL_ERR_INTERNAL,
             "cell (%lld, %lld) is not in the kept tile, or room for %lld steps "
             "is not enough",
             (long long)*row, (long long)*column, (long long)room);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->steps, 64 + values[0] + values[1], "steps"));
  args.ways = (const unsigned *)b->ways.data;
  args.steps = dp_engine_steps(b->kept_hi - b->kept_lo);
  args.result = (long long *)b->steps.data;
  args.out = (uint8_t *)b->steps.data + 64;
  TSL_CUDA_TRY(
      cudaMemcpyAsync(args.result, values, sizeof values, cudaMemcpyDefault, b->card->stream));
  TSL_LAUNCH(walk_kernel, dim3(1), DP_WARP, 0, b->card->stream, args);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(values, args.result, sizeof values, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  TSL_CUDA_TRY(cudaMemcpy(steps, args.out, (size_t)values[2], cudaMemcpyDefault));
  *row = b->kept_lo + values[0];
  *column = values[1];
  *count = values[2];
done:
  return err;
}
