/* Foldings on a card: set-up, boxes, and what boxes leave for others. */
#include "dp_fold.cuh"

#include <string.h>

/** What a folding has besides its M. */
struct dp_fold_tables {
  int64_t columns; /**< of whole tiles */
  tsl_gpu_buffer v, split_row, split_column, f, letters, energy, sizes, loops, edge;
};

static dp_fold_args fold_args_of(const dp_interval *w) {
  const dp_fold_tables *f = w->fold;
  dp_fold_args g = {};
  g.v = (int32_t *)f->v.data;
  g.split_row = (int32_t *)f->split_row.data;
  g.split_column = (int32_t *)f->split_column.data;
  g.f = (int32_t *)f->f.data;
  g.letters = (const uint8_t *)f->letters.data + DP_FOLD_AROUND;
  g.energy = (const rna_energy *)f->energy.data;
  g.sizes = (const int32_t *)f->sizes.data;
  g.loops = (const uchar2 *)f->loops.data;
  g.posts = (int)w->posts;
  return g;
}

/* ---- open */

static tsl_err upload(dp_interval *w, tsl_gpu_buffer *to, const void *from, int64_t bytes) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_upload(w->card, to, from, bytes, "folding"));
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

/* Letters as rna_energy.h has them, with room around. */
static tsl_err upload_letters(dp_interval *w, const uint8_t *letters) {
  tsl_err err = TSL_OK;
  const int64_t bytes = w->fold->columns + 2 * DP_FOLD_AROUND;
  uint8_t *list = NULL;
  TSL_TRY(tsl_alloc(bytes, 1, "letters", (void **)&list));
  for (int64_t k = 0; k < w->n; k++)
    list[DP_FOLD_AROUND + k] = letters[k] < 4 ? (uint8_t)(letters[k] + 1) : 0;
  TSL_TRY(upload(w, &w->fold->letters, list, bytes));
done:
  tsl_free(list);
  return err;
}

/* Which formula rna_interior takes: lanes of a warp should take the same. */
static int kind_of(int n1, int n2) {
  const int more = n1 > n2 ? n1 : n2, less = n1 > n2 ? n2 : n1;
  if (more <= 2) return 0;
  return less == 0 ? 1 : less == 1 ? 2 : less == 2 && more == 3 ? 3 : 4;
}

static tsl_err upload_loops(dp_interval *w) {
  uchar2 loops[DP_FOLD_LOOPS];
  int count = 0;
  for (int kind = 0; kind <= 4; kind++)
    for (int n1 = 0; n1 <= RNA_LOOP; n1++)
      for (int n2 = 0; n2 <= RNA_LOOP - n1; n2++)
        if (kind_of(n1, n2) == kind)
          loops[count++] = make_uchar2((unsigned char)n1, (unsigned char)n2);
  return upload(w, &w->fold->loops, loops, (int64_t)sizeof loops);
}

tsl_err dp_fold_open(dp_interval *w, const dp_interval_input *in) {
  tsl_err err = TSL_OK;
  const int64_t tiles = dp_tile_number(0, w->tiles);
  tsl_gpu_memory *memory = &w->card->memory;
  TSL_TRY(tsl_alloc(1, sizeof *w->fold, "folding", (void **)&w->fold));
  w->fold->columns = w->tiles * DP_TILE;
  TSL_TRY(tsl_gpu_reserve(memory, &w->fold->v, tiles * DP_TILE_CELLS * 4, "triangle of pairs"));
  TSL_TRY(tsl_gpu_reserve(memory, &w->fold->split_row, tiles * DP_TILE * 4, "folding"));
  TSL_TRY(tsl_gpu_reserve(memory, &w->fold->split_column, tiles * DP_TILE * 4, "folding"));
  TSL_TRY(tsl_gpu_reserve(memory, &w->fold->f, w->fold->columns * 4, "folding"));
  TSL_TRY(upload_letters(w, in->letters));
  TSL_TRY(upload(w, &w->fold->energy, in->energy, (int64_t)sizeof(rna_energy)));
  TSL_TRY(upload(w, &w->fold->sizes, in->sizes, (in->n + 1) * 4));
  TSL_TRY(upload_loops(w));
done:
  return err;
}

void dp_fold_close(dp_interval *w) {
  dp_fold_tables *f = w->fold;
  if (f == NULL) return;
  tsl_gpu_buffer *all[] = {&f->v,      &f->split_row, &f->split_column, &f->f,   &f->letters,
                           &f->energy, &f->sizes,     &f->loops,        &f->edge};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card->memory, buffer);
  tsl_free(f);
  w->fold = NULL;
}

int32_t *dp_fold_pairs(const dp_interval *w) {
  return (int32_t *)w->fold->v.data;
}

static tsl_err set_bytes(const dp_interval *w, const tsl_gpu_buffer *buffer, int byte) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(buffer->data, byte, (size_t)buffer->bytes, w->card->stream));
done:
  return err;
}

tsl_err dp_fold_pretend(dp_interval *w) {
  return set_bytes(w, &w->fold->v, 0);
}

/* On and below the diagonal, also of tiles that come in: bytes 0x40 are more than RNA_HIGH, those
 * of 0xc0 less than its opposite, so that nothing pairs and nothing is split there. */
tsl_err dp_fold_begin(dp_interval *w) {
  tsl_err err = TSL_OK;
  const dp_fold_tables *f = w->fold;
  TSL_TRY(set_bytes(w, &f->v, 0x40));
  TSL_TRY(set_bytes(w, &w->values, 0xc0));
  TSL_TRY(set_bytes(w, &f->split_row, 0xc0));
  TSL_TRY(set_bytes(w, &f->split_column, 0xc0));
  TSL_TRY(set_bytes(w, &f->f, 0));
done:
  return err;
}

/* ---- boxes */

static __global__ void __launch_bounds__(dp_fold_block::THREADS, 2)
    fold_kernel(const __grid_constant__ dp_interval_args<int32_t> g,
                const __grid_constant__ dp_fold_args f) {
  __shared__ uint32_t number;
  for (;;) {
    if (threadIdx.x == 0) number = atomicAdd(g.ticket, 1u);
    __syncthreads();
    if (number >= (uint32_t)g.count) return;
    dp_fold_block block(g, f, g.list[number]);
    __syncthreads();
    block.multiply_all();
    block.close();
    block.store();
    if (block.I == 0) block.exterior();
    block.mark();
  }
}

tsl_err dp_fold_launch(dp_interval *w, int64_t count) {
  tsl_err err = TSL_OK;
  const int warps = dp_fold_block::THREADS / DP_WARP;
  const size_t shared = sizeof(dp_fold_shared);
  dp_interval_args<int32_t> args = dp_interval_args_of<int32_t>(w);
  unsigned blocks = 0;
  args.count = (int)count;
  TSL_TRY(dp_card_reset(w->card));
  TSL_TRY(
      dp_card_blocks(w->card, (const void *)fold_kernel, warps, shared, count * warps, &blocks));
  TSL_LAUNCH(fold_kernel, dim3((unsigned)blocks), dp_fold_block::THREADS, shared, w->card->stream,
             args, fold_args_of(w));
done:
  return err;
}

/* ---- edges */

/** Lists of one box in an edge, one behind the other: see dp.h, edges. */
struct fold_edge {
  int64_t a0, b0, rows, columns;
  int32_t *v, *m, *first_row, *last_column, *f;
};

static fold_edge edge_of(const int64_t lo[2], const int64_t hi[2], int32_t *values) {
  fold_edge e = {};
  e.a0 = lo[0], e.b0 = lo[1];
  e.rows = hi[0] - lo[0], e.columns = hi[1] - lo[1];
  e.v = values;
  e.m = e.v + e.rows * e.columns;
  e.first_row = e.m + e.rows * e.columns;
  e.last_column = e.first_row + e.columns;
  e.f = e.last_column + e.rows;
  return e;
}

static int64_t edge_bytes(const int64_t lo[2], const int64_t hi[2]) {
  const int64_t rows = hi[0] - lo[0], columns = hi[1] - lo[1];
  return 4 * (2 * rows * columns + 2 * columns + rows);
}

/** Place of D[a][b] in lists of first rows or of last columns. */
static __device__ int32_t *split_at(int32_t *list, int64_t a, int64_t b, int64_t k) {
  return list + dp_tile_number(a / DP_TILE, b / DP_TILE) * DP_TILE + k % DP_TILE;
}

/** As sockets have it. */
static __device__ int32_t plain(int32_t value) {
  return value < -RNA_NONE / 2 ? -RNA_NONE : value;
}

static __global__ void edge_out_kernel(int32_t *tiles, dp_fold_args g, fold_edge e) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t a = e.a0 + w / e.columns, b = e.b0 + w % e.columns;
  if (w >= e.rows * e.columns) return;
  e.v[w] = a < b ? *dp_cell_at(g.v, a, b) : 0;
  e.m[w] = a < b ? plain(*dp_cell_at(tiles, a, b)) : 0;
  if (a == e.a0) {
    e.first_row[b - e.b0] = plain(*split_at(g.split_row, a, b, b));
    e.f[b - e.b0] = a == 0 ? g.f[b] : 0;
  }
  if (b == e.b0 + e.columns - 1)
    e.last_column[a - e.a0] = plain(*split_at(g.split_column, a, b, a));
}

static __global__ void edge_in_kernel(int32_t *tiles, uint32_t *ready, dp_fold_args g,
                                      fold_edge e) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t a = e.a0 + w / e.columns, b = e.b0 + w % e.columns;
  if (w >= e.rows * e.columns || a / DP_TILE > b / DP_TILE) return;
  if (a < b) {
    *dp_cell_at(g.v, a, b) = e.v[w];
    *dp_cell_at(tiles, a, b) = e.m[w];
  }
  if (a == e.a0) {
    const int32_t split = e.first_row[b - e.b0];
    *split_at(g.split_row, a, b, b) = split;
    if (b % DP_TILE == DP_TILE - 1) *split_at(g.split_column, a, b, a) = split;
    if (a == 0) g.f[b] = e.f[b - e.b0];
  }
  if (b == e.b0 + e.columns - 1) *split_at(g.split_column, a, b, a) = e.last_column[a - e.a0];
  if (a % DP_TILE == 0 && b % DP_TILE == 0) ready[dp_tile_number(a / DP_TILE, b / DP_TILE)] = 1;
}

static tsl_err reserve_edge(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                            fold_edge *e) {
  tsl_err err = TSL_OK;
  dp_fold_tables *f = w->fold;
  TSL_TRY(dp_interval_check_box(w, lo, hi));
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &f->edge, edge_bytes(lo, hi), "edge of a box"));
  *e = edge_of(lo, hi, (int32_t *)f->edge.data);
done:
  return err;
}

tsl_err dp_interval_edge_out(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                             void *values) {
  tsl_err err = TSL_OK;
  fold_edge e = {};
  TSL_TRY(reserve_edge(w, lo, hi, &e));
  TSL_LAUNCH(edge_out_kernel, dim3((unsigned)tsl_ceil_div(e.rows * e.columns, 256)), 256, 0,
             w->card->stream, (int32_t *)w->values.data, fold_args_of(w), e);
  TSL_TRY(tsl_gpu_copy(w->card, values, e.v, (size_t)edge_bytes(lo, hi)));
done:
  return err;
}

tsl_err dp_interval_edge_in(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                            const void *values) {
  tsl_err err = TSL_OK;
  fold_edge e = {};
  TSL_TRY(reserve_edge(w, lo, hi, &e));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(e.v, values, (size_t)edge_bytes(lo, hi), cudaMemcpyDefault, w->card->stream));
  TSL_LAUNCH(edge_in_kernel, dim3((unsigned)tsl_ceil_div(e.rows * e.columns, 256)), 256, 0,
             w->card->stream, (int32_t *)w->values.data, (uint32_t *)w->ready.data, fold_args_of(w),
             e);
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

tsl_err dp_interval_energy(dp_interval *w, int32_t *energy) {
  tsl_err err = TSL_OK;
  const int32_t *f = (const int32_t *)w->fold->f.data;
  TSL_TRY(tsl_gpu_copy(w->card, energy, f + w->posts - 1, 4));
done:
  return err;
}
