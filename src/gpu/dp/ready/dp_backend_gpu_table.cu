/* Bands whose cells all go to the host: the mode TABLE, which is bound by the way there. Longest
 * common subsequences and edit distances are computed as values here; their edges are bits. */
#include "dp_backend_gpu.cuh"
#include "dp_ptx.cuh"

#include <math.h>
#include <string.h>

enum { SCAN_THREADS = 1024 };

typedef struct table_band {
  dp_band_head band;
  dp_affine *align;           /* alignments with affine gaps */
  dp_grid *grid;              /* the others */
  tsl_gpu_buffer cells;       /* of a tile, [rows][hi - lo] */
  tsl_gpu_buffer left, right; /* bits: the edges as values, [rows + 1] */
  tsl_gpu_buffer corner;      /* value left of the last row, lo > 0 */
} table_band;

/* ---- edges between bits and values */

/* Sum of the block's threads before this one; *total: of all. */
static __device__ int scan(int mine, int *total) {
  __shared__ int of_warp[SCAN_THREADS / DP_WARP];
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  int sum = mine, before = 0;
  for (int d = 1; d < DP_WARP; d *= 2) {
    const int other = __shfl_up_sync(DP_ALL_LANES, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == DP_WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  *total = 0;
  for (int k = 0; k < SCAN_THREADS / DP_WARP; k++) {
    if (k < warp) before += of_warp[k];
    *total += of_warp[k];
  }
  __syncthreads();
  return before + sum - mine;
}

/* One block: values of a column from the bits of its differences; corner is the value above. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    values_kernel(const uint32_t *bits, int parts, int64_t rows, const int32_t *corner,
                  int32_t *values) {
  const int64_t groups = tsl_ceil_div(rows, 32);
  int at = corner[0];
  if (threadIdx.x == 0) values[0] = at;
  for (int64_t base = 0; base < groups; base += SCAN_THREADS) {
    const int64_t g = base + threadIdx.x;
    const uint32_t up = g < groups ? bits[g] : 0;
    const uint32_t down = g < groups && parts == 2 ? bits[groups + g] : 0;
    int total = 0, value = at + scan(__popc(up) - __popc(down), &total);
    for (int q = 0; q < 32 && 32 * g + q < rows; q++) {
      value += (int)(up >> q & 1) - (int)(down >> q & 1);
      values[32 * g + q + 1] = value;
    }
    at += total;
  }
}

static __global__ void bits_kernel(const int32_t *values, int parts, int64_t rows, uint32_t *bits) {
  const int64_t g = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, groups = tsl_ceil_div(rows, 32);
  uint32_t up = 0, down = 0;
  if (g >= groups) return;
  for (int q = 0; q < 32 && 32 * g + q < rows; q++) {
    const int32_t step = values[32 * g + q + 1] - values[32 * g + q];
    if (step > 0) up |= 1u << q;
    if (step < 0) down |= 1u << q;
  }
  bits[g] = up;
  if (parts == 2) bits[groups + g] = down;
}

/* ---- open and close */

static void close_table(void *engine) {
  table_band *e = (table_band *)engine;
  dp_affine_close(&e->align);
  dp_grid_close(&e->grid);
  tsl_gpu_buffer *const all[] = {&e->cells, &e->left, &e->right, &e->corner};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&dp_card_of(e->band.c)->memory, buffer);
}

static tsl_err open_cells(table_band *e) {
  const dp_context *c = e->band.c;
  const dp_params *p = c->p;
  dp_card *card = dp_card_of(c);
  const int64_t lo = e->band.lo, m = e->band.hi - lo;
  const void *a = dp_input(c, DP_A), *b = (const char *)dp_input(c, DP_B) + lo;
  const uint8_t *rows = (const uint8_t *)a, *columns = (const uint8_t *)b;
  if (dp_ready_of(p)->affine)
    return dp_affine_open(card, (dp_problem)p->problem, &p->scores, rows, p->n, columns, m, p->m,
                          lo, 0, &e->align);
  if (p->problem == DP_LCS) return dp_grid_open_lcs(card, rows, p->n, columns, m, lo, &e->grid);
  if (p->problem == DP_EDIT)
    return dp_grid_open_edit(card, p->insert, p->remove, p->replace, rows, p->n, columns, m, p->m,
                             lo, &e->grid);
  return dp_grid_open_dtw(card, (tsl_type)p->type, p->square != 0, a, p->n,
                          (const char *)dp_input(c, DP_B) + lo * c->bytes, m, lo, &e->grid);
}

static tsl_err open_table(void *engine, int64_t) {
  tsl_err err = TSL_OK;
  table_band *e = (table_band *)engine;
  dp_card *card = dp_card_of(e->band.c);
  const int32_t corner = (int32_t)dp_boundary(e->band.c->p, e->band.lo, false);
  TSL_TRY(open_cells(e));
  TSL_TRY(tsl_gpu_reserve(&card->memory, &e->corner, 8, "corner"));
  TSL_TRY(tsl_gpu_copy(card, e->corner.data, &corner, 4));
done:
  return err;
}

/* ---- tiles */

/* The tile by values, its edges as bits. */
static tsl_err tile_of_bits(table_band *e, int64_t lo, int64_t hi, const void *left, void *right) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo, bytes = 4 * (rows + 1);
  const int parts = dp_bit_parts(e->band.c->p);
  tsl_gpu_memory *memory = &dp_card_of(e->band.c)->memory;
  cudaStream_t stream = dp_card_of(e->band.c)->stream;
  TSL_TRY(tsl_gpu_reserve(memory, &e->left, bytes, "edge"));
  TSL_TRY(tsl_gpu_reserve(memory, &e->right, bytes, "edge"));
  if (left != NULL) {
    TSL_LAUNCH(values_kernel, dim3(1), SCAN_THREADS, 0, stream, (const uint32_t *)left, parts, rows,
               (const int32_t *)e->corner.data, (int32_t *)e->left.data);
    TSL_CUDA_TRY(cudaMemcpyAsync(e->corner.data, (const int32_t *)e->left.data + rows, 4,
                                 cudaMemcpyDeviceToDevice, stream));
  }
  TSL_TRY(dp_grid_tile_cells(e->grid, lo, hi, left != NULL ? e->left.data : NULL, e->right.data,
                             e->cells.data, e->band.hi - e->band.lo));
  if (right != NULL)
    TSL_LAUNCH(bits_kernel, dim3((unsigned)tsl_ceil_div(tsl_ceil_div(rows, 32), 128)), 128, 0,
               stream, (const int32_t *)e->right.data, parts, rows, (uint32_t *)right);
done:
  return err;
}

/* Values as edges have them: that left of the last row. */
static tsl_err keep_corner(table_band *e, int64_t rows, const void *left) {
  tsl_err err = TSL_OK;
  if (left != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(
        e->corner.data, (const char *)left + rows * dp_edge_entry(e->band.c->p),
        (size_t)e->band.c->bytes, cudaMemcpyDeviceToDevice, dp_card_of(e->band.c)->stream));
done:
  return err;
}

static tsl_err tile_table(void *engine, int64_t lo, int64_t hi, const void *left, void *right, bool,
                          dp_window window) {
  tsl_err err = TSL_OK;
  table_band *e = (table_band *)engine;
  const dp_params *p = e->band.c->p;
  const int64_t rows = hi - lo, width = e->band.hi - e->band.lo, each = e->band.c->bytes;
  TSL_TRY(tsl_gpu_reserve(&dp_card_of(e->band.c)->memory, &e->cells, rows * width * each,
                          "cells of a tile"));
  if (dp_edge_is_bits(p))
    TSL_TRY(tile_of_bits(e, lo, hi, left, right));
  else if (dp_ready_of(p)->affine)
    TSL_TRY(dp_affine_tile_cells(e->align, lo, hi, (const int32_t *)left, (int32_t *)right,
                                 (int32_t *)e->cells.data, width));
  else
    TSL_TRY(dp_grid_tile_cells(e->grid, lo, hi, left, right, e->cells.data, width));
  if (!dp_edge_is_bits(p)) TSL_TRY(keep_corner(e, rows, left));
  if (rows > 0 && window.cells != NULL)
    TSL_CUDA_TRY(cudaMemcpy2DAsync(window.cells, (size_t)(window.ld * each), e->cells.data,
                                   (size_t)(width * each), (size_t)(width * each), (size_t)rows,
                                   cudaMemcpyDeviceToHost, dp_card_of(e->band.c)->stream));
done:
  return err;
}

/* ---- state: the value left of the last row, its values, affine then F */

/* Column 0 of the table in the last row, as a value of the problem's type. */
static void side_value(const table_band *e, char value[8]) {
  const dp_params *p = e->band.c->p;
  const double real = e->band.row == 0 ? 0 : (double)INFINITY;
  const float single = (float)real;
  const int32_t whole = (int32_t)dp_boundary(p, e->band.row, true);
  memset(value, 0, 8);
  if (p->problem != DP_DTW)
    memcpy(value, &whole, sizeof whole);
  else if (p->type == TSL_F32)
    memcpy(value, &single, sizeof single);
  else
    memcpy(value, &real, sizeof real);
}

static tsl_err state_get_table(void *engine, void *state) {
  tsl_err err = TSL_OK;
  table_band *e = (table_band *)engine;
  const int64_t each = e->band.c->bytes;
  char side[8];
  side_value(e, side);
  TSL_CUDA_TRY(cudaMemcpyAsync(state, e->band.lo > 0 ? (const void *)e->corner.data : side,
                               (size_t)each, cudaMemcpyDefault, dp_card_of(e->band.c)->stream));
  TSL_TRY(e->align != NULL ? dp_affine_state_get(e->align, (char *)state + each)
                           : dp_grid_state_get(e->grid, (char *)state + each));
done:
  return err;
}

static tsl_err state_put_table(void *engine, int64_t row, const void *state) {
  tsl_err err = TSL_OK;
  table_band *e = (table_band *)engine;
  const int64_t each = e->band.c->bytes;
  TSL_CUDA_TRY(cudaMemcpyAsync(e->corner.data, state, (size_t)each, cudaMemcpyDeviceToDevice,
                               dp_card_of(e->band.c)->stream));
  TSL_TRY(e->align != NULL ? dp_affine_state_put(e->align, row, (const char *)state + each)
                           : dp_grid_state_put(e->grid, row, (const char *)state + each));
  e->band.row = row;
done:
  return err;
}

/* ---- results */

static tsl_err goal_table(void *engine, bool last, double *goal) {
  tsl_err err = TSL_OK;
  table_band *e = (table_band *)engine;
  dp_best best = {};
  int32_t corner = 0;
  *goal = 0;
  if (dp_edge_is_bits(e->band.c->p)) { /* each band its columns */
    TSL_TRY(dp_grid_last(e->grid, goal));
    if (e->band.lo > 0)
      TSL_CUDA_TRY(cudaMemcpy(&corner, e->corner.data, 4, cudaMemcpyDeviceToHost));
    *goal -= corner;
  } else if (last && e->align != NULL) {
    TSL_TRY(dp_affine_best(e->align, &best));
    *goal = (double)best.score;
  } else if (last) {
    TSL_TRY(dp_grid_last(e->grid, goal));
  }
done:
  return err;
}

static tsl_err best_table(void *engine, int64_t best[3]) {
  const table_band *e = (const table_band *)engine;
  return dp_gpu_align_best(e->align, e->band.lo, best);
}

static tsl_err best_put_table(void *engine, const int64_t best[3]) {
  const table_band *e = (const table_band *)engine;
  return dp_gpu_align_best_put(e->align, e->band.lo, best);
}

const dp_band_engine dp_engine_table = {
    .bytes = sizeof(table_band),
    .open = open_table,
    .close = close_table,
    .tile = tile_table,
    .state_bytes = dp_state_bytes,
    .state_get = state_get_table,
    .state_put = state_put_table,
    .goal = goal_table,
    .best = best_table,
    .best_put = best_put_table,
};
