/* Sums over structures on a card: set-up, boxes, probabilities. */
#include "dp_partition.cuh"

#include "dp_partition_inside.cuh"
#include "dp_partition_outside.cuh"

#include <string.h>

enum { MOST = DP_BOX / DP_PART }; /* tiles along a side of a box */

/* ---- kernels */

/** Tiles of a box: rows [i0, i1), columns [j0, j1). */
struct tile_range {
  int i0, i1, j0, j1;
};

static __device__ tile_range tiles_of(const dp_box &box) {
  return {(int)(box.lo[0] / DP_PART), (int)((box.hi[0] + DP_PART - 1) / DP_PART),
          (int)(box.lo[1] / DP_PART), (int)((box.hi[1] + DP_PART - 1) / DP_PART)};
}

/** Is this a tile of the box, on or above the diagonal? */
static __device__ bool is_tile(const tile_range &r, int i, int j) {
  return i < r.i1 && j >= r.j0 && j < r.j1 && i <= j;
}

/** Products with tiles outside of the boxes; a block a tile. */
template <bool IN>
static __global__ void __launch_bounds__(PART_THREADS)
    meet_kernel(const __grid_constant__ dp_part_args g, const dp_box *boxes) {
  const tile_range r = tiles_of(boxes[blockIdx.x / (MOST * MOST)]);
  const int t = (int)blockIdx.x % (MOST * MOST), i = r.i0 + t / MOST, j = r.j0 + t % MOST;
  if (!is_tile(r, i, j)) return;
  if constexpr (IN) {
    dp_part_inside block(g, i, j);
    block.meet_all(r.i1, r.j0);
    block.keep_exponent();
  } else {
    dp_part_outside(g, i, j).meet_all(r.j1, g.tiles, 0, r.i0);
  }
}

static __device__ void finish(const dp_part_args &g, const tile_range &r, int i, int j,
                              dp_part_inside block) {
  const int low = min(r.i1, j), high = max(max(r.j0, low), i + 1);
  block.meet_all(i + 1, low);
  block.meet_all(high, j);
  block.join();
  if (i == 0) dp_part_inside(g, j, j).prefix();
  if (j == g.tiles - 1) dp_part_inside(g, i, i).suffix();
}

static __device__ void finish(const dp_part_args &, const tile_range &r, int i, int j,
                              dp_part_outside block) {
  block.meet_all(j + 1, r.j1, r.i0, i);
  block.join();
}

/** Tiles of diagonal d of the boxes, the lower left one being 0; a block a row. */
template <class BLOCK>
static __global__ void __launch_bounds__(PART_THREADS)
    finish_kernel(const __grid_constant__ dp_part_args g, const dp_box *boxes, int d) {
  const tile_range r = tiles_of(boxes[blockIdx.x / MOST]);
  const int row = (int)blockIdx.x % MOST, i = r.i0 + row, j = r.j0 + d - (MOST - 1 - row);
  if (is_tile(r, i, j)) finish(g, r, i, j, BLOCK(g, i, j));
}

static __global__ void begin_kernel(const __grid_constant__ dp_part_args g, int64_t n) {
  const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) g.exponent[t] = -RNA_WEIGHTS_HIGH;
  if (t == 0) *g.whole = {1, 0};
}

/** Letters a = a0.. and b - 1, b = b0..: [rows][columns]. */
static __global__ void get_kernel(const __grid_constant__ dp_part_args g, int64_t a0, int64_t b0,
                                  int64_t rows, int64_t columns, double *values) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= rows * columns) return;
  const int a = (int)(a0 + w / columns), b = (int)(b0 + w % columns);
  const int cell = a % DP_PART * DP_PART + b % DP_PART, i = a / DP_PART, j = b / DP_PART;
  values[w] = a < b ? g.at(PART_V, i, j)[cell] * g.at(PART_OUT_V, i, j)[cell] : 0;
}

/* ---- open */

static tsl_err upload(dp_partition *w, tsl_gpu_buffer *to, const void *from, int64_t bytes,
                      int64_t room) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, to, bytes + 2 * room, "weights of loops"));
  TSL_CUDA_TRY(cudaMemsetAsync(to->data, 0, (size_t)(bytes + 2 * room), w->card->stream));
  TSL_TRY(tsl_gpu_copy(w->card, (char *)to->data + room, from, bytes));
done:
  return err;
}

/** The lists to the card; the host's are given back but for what the energy needs. */
static tsl_err upload_weights(dp_partition *w, const rna_weights_input *in) {
  tsl_err err = TSL_OK;
  rna_weights *x = &w->w;
  const int64_t f64 = sizeof(double), n = in->posts - 1;
  dp_part_args *g = &w->args;
  rna_weights kept = {};
  TSL_TRY(rna_weights_open(in, x));
  for (int k = 0; k < rna_weights_parts(); k++) rna_weights_fill(x, k);
  TSL_TRY(upload(w, &w->letters, x->letters, n, 2 * DP_PART));
  TSL_TRY(upload(w, &w->sizes, x->sizes, (x->columns + 2 * DP_PART) * f64, 0));
  TSL_TRY(upload(w, &w->hairpins, x->hairpins, RNA_WEIGHTS_HAIRPINS * x->columns * f64, 0));
  TSL_TRY(upload(w, &w->near, x->near, (int64_t)DP_FOLD_NEAR * RNA_KEYS * RNA_KEYS * f64, 0));
  TSL_TRY(upload(w, &w->lists, x->lists, x->columns * RNA_N_LISTS * RNA_COMBOS * f64,
                 DP_PART_LISTS_ROOM * f64));
  TSL_TRY(upload(w, &w->key, x->key, x->columns * 4, 0));
  TSL_TRY(upload(w, &w->costs, &x->costs, sizeof x->costs, 0));
  g->letters = (const uint8_t *)w->letters.data + 2 * DP_PART;
  g->sizes = (const double *)w->sizes.data;
  g->hairpins = (const double *)w->hairpins.data;
  g->near = (const double *)w->near.data;
  g->lists = (const double *)w->lists.data + DP_PART_LISTS_ROOM;
  g->key = (const int32_t *)w->key.data;
  g->costs = (const rna_weights_costs *)w->costs.data;
  g->base = x->base;
  memcpy(g->near_letters, dp_fold_near, sizeof dp_fold_near);
  memcpy(g->hairpin_letters, rna_weights_hairpin, sizeof rna_weights_hairpin);
  g->posts = (int)x->posts, g->tiles = (int)x->tiles, g->columns = (int)x->columns;
  kept.beta = x->beta;
  kept.posts = x->posts, kept.tiles = x->tiles, kept.columns = x->columns;
  rna_weights_clear(x);
  *x = kept;
done:
  return err;
}

static int64_t n_tiles(const dp_partition *w) {
  return w->w.tiles * (w->w.tiles + 1) / 2;
}

static tsl_err take(dp_partition *w, tsl_gpu_buffer *buffer, int64_t bytes, void **to) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, buffer, bytes, "sums over structures"));
  *to = buffer->data;
done:
  return err;
}

static tsl_err take_tables(dp_partition *w) {
  tsl_err err = TSL_OK;
  const int64_t n = n_tiles(w), f64 = sizeof(double), columns = w->w.columns;
  dp_part_args *g = &w->args;
  for (int k = 0; k < PART_TABLES; k++)
    TSL_TRY(take(w, &w->table[k], n * DP_PART_CELLS * f64, (void **)&g->table[k]));
  for (int k = 0; k < PART_SIDES; k++)
    TSL_TRY(take(w, &w->side[k], n * DP_PART * f64, (void **)&g->side[k]));
  TSL_TRY(take(w, &w->exponent, n * 4, (void **)&g->exponent));
  TSL_TRY(take(w, &w->prefix, columns * f64, (void **)&g->prefix));
  TSL_TRY(take(w, &w->suffix, columns * f64, (void **)&g->suffix));
  TSL_TRY(take(w, &w->prefix_e, w->w.tiles * 4, (void **)&g->prefix_e));
  TSL_TRY(take(w, &w->suffix_e, w->w.tiles * 4, (void **)&g->suffix_e));
  TSL_TRY(take(w, &w->whole, sizeof(partition_number), (void **)&g->whole));
done:
  return err;
}

static tsl_err allow_shared(const dp_card *card) {
  tsl_err err = TSL_OK;
  const void *const kernels[] = {(const void *)meet_kernel<true>, (const void *)meet_kernel<false>,
                                 (const void *)finish_kernel<dp_part_inside>,
                                 (const void *)finish_kernel<dp_part_outside>};
  const int bytes = (int)sizeof(dp_part_shared);
  if (bytes > card->shared_limit)
    TSL_FAIL(TSL_ERR_DEVICE,
             "card %s: partition needs %d bytes of shared memory in a block, there are %d; run "
             "with --set run.device=cpu",
             tsl_gpu_card(), bytes, card->shared_limit);
  for (const void *kernel : kernels)
    TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
done:
  return err;
}

tsl_err dp_partition_open(dp_card *card, const rna_weights_input *in, dp_partition **out) {
  tsl_err err = TSL_OK;
  dp_partition *w = NULL;
  *out = NULL;
  TSL_TRY(allow_shared(card));
  TSL_TRY(tsl_alloc(1, sizeof *w, "sums over structures", (void **)&w));
  w->card = card;
  TSL_TRY(upload_weights(w, in));
  TSL_TRY(take_tables(w));
  TSL_TRY(dp_partition_begin(w));
  *out = w;
done:
  if (err != TSL_OK) dp_partition_close(&w);
  return err;
}

void dp_partition_close(dp_partition **worker) {
  dp_partition *w = *worker;
  if (w == NULL) return;
  tsl_gpu_buffer *all[] = {&w->exponent, &w->prefix,  &w->suffix, &w->prefix_e, &w->suffix_e,
                           &w->whole,    &w->letters, &w->sizes,  &w->hairpins, &w->near,
                           &w->lists,    &w->key,     &w->costs,  &w->list,     &w->edge};
  for (tsl_gpu_buffer &buffer : w->table) tsl_gpu_release(&w->card->memory, &buffer);
  for (tsl_gpu_buffer &buffer : w->side) tsl_gpu_release(&w->card->memory, &buffer);
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card->memory, buffer);
  rna_weights_clear(&w->w);
  tsl_free(w);
  *worker = NULL;
}

static tsl_err zero(const dp_partition *w, const tsl_gpu_buffer *buffer) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(buffer->data, 0, (size_t)buffer->bytes, w->card->stream));
done:
  return err;
}

tsl_err dp_partition_begin(dp_partition *w) {
  tsl_err err = TSL_OK;
  for (const tsl_gpu_buffer &buffer : w->table) TSL_TRY(zero(w, &buffer));
  for (const tsl_gpu_buffer &buffer : w->side) TSL_TRY(zero(w, &buffer));
  TSL_TRY(zero(w, &w->prefix));
  TSL_TRY(zero(w, &w->suffix));
  TSL_TRY(zero(w, &w->prefix_e));
  TSL_TRY(zero(w, &w->suffix_e));
  TSL_LAUNCH(begin_kernel, dim3((unsigned)tsl_ceil_div(n_tiles(w), 256)), 256, 0, w->card->stream,
             w->args, n_tiles(w));
done:
  return err;
}

/* ---- boxes */

template <class BLOCK> static tsl_err launch(dp_partition *w, const dp_box *boxes, int64_t n) {
  tsl_err err = TSL_OK;
  const size_t shared = sizeof(dp_part_shared);
  cudaStream_t stream = w->card->stream;
  TSL_LAUNCH(meet_kernel<BLOCK::IN>, dim3((unsigned)(n * MOST * MOST)), PART_THREADS, shared,
             stream, w->args, boxes);
  for (int d = 0; d < 2 * MOST - 1; d++)
    TSL_LAUNCH(finish_kernel<BLOCK>, dim3((unsigned)(n * MOST)), PART_THREADS, shared, stream,
               w->args, boxes, BLOCK::IN ? d : 2 * MOST - 2 - d);
done:
  return err;
}

tsl_err dp_partition_boxes(dp_partition *w, const dp_box *boxes, int64_t n) {
  tsl_err err = TSL_OK;
  const dp_box *there = NULL;
  if (n == 0) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->list, n * (int64_t)sizeof *boxes, "boxes"));
  there = (const dp_box *)w->list.data;
  TSL_CUDA_TRY(cudaMemcpyAsync(w->list.data, boxes, (size_t)n * sizeof *boxes, cudaMemcpyDefault,
                               w->card->stream));
  if (boxes->lo[2] == 0)
    TSL_TRY(launch<dp_part_inside>(w, there, n));
  else
    TSL_TRY(launch<dp_part_outside>(w, there, n));
done:
  return err;
}

tsl_err dp_partition_get(dp_partition *w, const dp_box *box, double *values) {
  tsl_err err = TSL_OK;
  const int64_t a0 = box->lo[0], b0 = box->lo[1] > 0 ? box->lo[1] : 1;
  const int64_t rows = (box->hi[0] < w->w.posts ? box->hi[0] : w->w.posts - 1) - a0;
  const int64_t columns = box->hi[1] - b0;
  if (box->lo[2] == 0 || rows <= 0 || columns <= 0) return TSL_OK;
  TSL_LAUNCH(get_kernel, dim3((unsigned)tsl_ceil_div(rows * columns, 256)), 256, 0, w->card->stream,
             w->args, a0, b0, rows, columns, values);
done:
  return err;
}

tsl_err dp_partition_energy(dp_partition *w, double *energy) {
  tsl_err err = TSL_OK;
  partition_number whole = {};
  TSL_TRY(tsl_gpu_copy(w->card, &whole, w->whole.data, sizeof whole));
  *energy = rna_weights_ensemble(&w->w, whole.m, whole.e);
done:
  return err;
}
