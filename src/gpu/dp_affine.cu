/* Bands of alignments with affine gaps: set-up and tiles. */
#include "dp_affine.cuh"

#include <stdlib.h>
#include <string.h>

/* Row 0: nothing (local) or one gap. H[0][j], F[0][j] = -inf. */
static __global__ void begin_kernel(int64_t stride, int64_t first, bool local, int64_t open,
                                    int64_t extend, int32_t *h, int32_t *f) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= stride) return;
  h[j] = local ? 0 : (int32_t)(-open - extend * (first + j + 1));
  f[j] = DP_MINUS_INFINITY;
}

/* Column 0 beside rows lo - 1 .. lo + rows - 1. */
static __global__ void boundary_kernel(int64_t lo, int64_t rows, bool local, int64_t open,
                                       int64_t extend, int2 *edge) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i = lo + r;
  if (r > rows) return;
  edge[r] = make_int2(local || i == 0 ? 0 : (int32_t)(-open - extend * i), DP_MINUS_INFINITY);
}

/* The edge as all devices have it: the corner, and E' = max(E, H - open); m 0: what came in. */
static __global__ void leave_kernel(const int32_t *h_above, int64_t m, int64_t rows, int32_t open,
                                    int2 *edge) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r > rows) return;
  const int2 at = edge[r];
  if (r > 0)
    edge[r].y = at.y > at.x - open ? at.y : at.x - open;
  else
    edge[0] = make_int2(m > 0 ? h_above[m - 1] : at.x, DP_MINUS_INFINITY);
}

/* Largest |score| times the longest path must stay below 2^30; a local one grows by pairs. */
static tsl_err check_range(const dp_scores *s, bool local, int64_t n, int64_t m) {
  tsl_err err = TSL_OK;
  int64_t most = (int64_t)s->open + s->extend, bound = 0;
  for (int a = 0; a < s->alphabet; a++)
    for (int b = 0; b < s->alphabet; b++) {
      const int64_t v = s->s[a][b] < 0 ? -(int64_t)s->s[a][b] : s->s[a][b];
      if (v > most) most = v;
    }
  const int64_t longest = (local ? (n < m ? n : m) : n + m) + 2;
  if (n > INT32_MAX - 64 || m > INT32_MAX - DP_AFFINE_ALIGN ||
      !tsl_mul_i64(longest, most, &bound) || bound >= (int64_t)1 << 30)
    TSL_FAIL(TSL_ERR_INPUT,
             "an alignment of %lld and %lld letters with scores up to %lld may exceed 30 bits; "
             "divide the scores by a common factor",
             (long long)n, (long long)m, (long long)most);
done:
  return err;
}

static tsl_err check_letters(const uint8_t *text, int64_t n, int alphabet, const char *what) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < n; i++)
    if (text[i] >= alphabet)
      TSL_FAIL(TSL_ERR_INPUT, "letter %lld of the %s has code %d; the alphabet has 0..%d",
               (long long)(i + 1), what, text[i], alphabet - 1);
done:
  return err;
}

static tsl_err upload_scores(dp_affine *b, const dp_scores *s) {
  tsl_err err = TSL_OK;
  const int letters = b->letters;
  int32_t *table = NULL;
  TSL_TRY(tsl_alloc((int64_t)letters * (letters + 1), 4, "scores", (void **)&table));
  for (int x = 0; x < letters; x++) {
    for (int y = 0; y < letters; y++) table[x * (letters + 1) + y] = s->s[x][y];
    table[x * (letters + 1) + letters] = DP_MINUS_INFINITY / 2;
  }
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->scores, 4 * letters * (letters + 1), "scores"));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->scores.data, table, (size_t)(4 * letters * (letters + 1)),
                               cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  tsl_free(table);
  return err;
}

static tsl_err upload(dp_affine *b, const uint8_t *rows, const uint8_t *columns) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *memory = &b->card->memory;
  cudaStream_t stream = b->card->stream;
  const int64_t strips = tsl_ceil_div(b->stride, 4 * DP_WARP);
  TSL_TRY(tsl_gpu_reserve(memory, &b->rows, b->n + 1, "letters of the rows"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->columns, b->stride, "letters of the columns"));
  for (int side = 0; side < 2; side++) {
    TSL_TRY(tsl_gpu_reserve(memory, &b->h[side], 4 * b->stride, "row of the table"));
    TSL_TRY(tsl_gpu_reserve(memory, &b->f[side], 4 * b->stride, "row of the table"));
  }
  TSL_TRY(tsl_gpu_reserve(memory, &b->flags, 8, "counters"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->finished, 4 * strips, "counters"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->best, (int64_t)sizeof(dp_best) * strips, "best cells"));
  TSL_CUDA_TRY(cudaMemsetAsync(b->flags.data, 0, 8, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(b->columns.data, b->letters, (size_t)b->stride, stream));
  if (b->n > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(b->rows.data, rows, (size_t)b->n, cudaMemcpyDefault, stream));
  if (b->m > 0)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(b->columns.data, columns, (size_t)b->m, cudaMemcpyDefault, stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

/* Test knob: the environment TSL_TEST_LANES=16 or 32 (dp_affine_force). */
static tsl_err choose_bits(dp_affine *b) {
  tsl_err err = TSL_OK;
  const char *asked = getenv("TSL_TEST_LANES");
  int device = 0, major = 0;
  if (asked != NULL && strcmp(asked, "16") != 0 && strcmp(asked, "32") != 0)
    TSL_FAIL(TSL_ERR_USAGE, "TSL_TEST_LANES=%s: expected 16 or 32", asked);
  b->asked = asked == NULL ? 0 : atoi(asked);
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  b->packed = major >= 9;
done:
  return err;
}

tsl_err dp_affine_open(dp_card *card, dp_problem problem, const dp_scores *scores,
                       const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                       int64_t total, int64_t first, int width, dp_affine **out) {
  tsl_err err = TSL_OK;
  dp_affine *b = NULL;
  *out = NULL;
  if (problem != DP_LOCAL && problem != DP_GLOBAL)
    TSL_FAIL(TSL_ERR_INTERNAL, "no alignment engine for problem %d", (int)problem);
  if (scores->alphabet < 1 || scores->alphabet > DP_MAX_ALPHABET || scores->open < 0 ||
      scores->extend < 0)
    TSL_FAIL(TSL_ERR_INPUT, "alphabet of %d letters, gaps %d + %d g; allowed 1..%d letters, >= 0",
             scores->alphabet, scores->open, scores->extend, DP_MAX_ALPHABET);
  if (n < 0 || m < 0 || first < 0 || total < first + m)
    TSL_FAIL(TSL_ERR_INTERNAL, "columns %lld + %lld of %lld", (long long)first, (long long)m,
             (long long)total);
  TSL_TRY(check_range(scores, problem == DP_LOCAL, n, total));
  TSL_TRY(check_letters(rows, n, scores->alphabet, "rows"));
  TSL_TRY(check_letters(columns, m, scores->alphabet, "columns"));
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  b->card = card;
  b->local = problem == DP_LOCAL;
  b->width = width == 4 || width == 8 || width == 16 ? width : 0;
  TSL_TRY(choose_bits(b));
  b->letters = scores->alphabet;
  b->extend = scores->extend;
  b->open_extend = scores->open + scores->extend;
  b->n = n;
  b->m = m;
  b->first = first;
  b->stride = DP_AFFINE_ALIGN * tsl_ceil_div(m + 1, DP_AFFINE_ALIGN);
  dp_narrow_measure(b, scores);
  TSL_TRY(upload(b, rows, columns));
  TSL_TRY(upload_scores(b, scores));
  TSL_TRY(dp_affine_begin(b));
  *out = b;
done:
  if (err != TSL_OK) dp_affine_close(&b);
  return err;
}

void dp_affine_close(dp_affine **band) {
  dp_affine *b = *band;
  if (b == NULL) return;
  tsl_gpu_buffer *all[] = {&b->rows,     &b->columns, &b->scores,   &b->h[0],  &b->h[1],
                           &b->f[0],     &b->f[1],    &b->edge,     &b->best,  &b->finished,
                           &b->old_edge, &b->history, &b->old_best, &b->steps, &b->flags};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&b->card->memory, buffer);
  tsl_free(b);
  *band = NULL;
}

static tsl_err enter(dp_affine *b, int64_t lo, int64_t rows, const int32_t *left) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->edge, 8 * (rows + 1), "edge"));
  b->edge_rows = rows;
  if (left != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(b->edge.data, left, (size_t)(8 * (rows + 1)), cudaMemcpyDefault,
                                 b->card->stream));
  else
    TSL_LAUNCH(boundary_kernel, dim3((unsigned)tsl_ceil_div(rows + 1, 256)), 256, 0,
               b->card->stream, lo, rows, b->local, (int64_t)(b->open_extend - b->extend),
               (int64_t)b->extend, (int2 *)b->edge.data);
  TSL_CUDA_TRY(cudaMemsetAsync(b->finished.data, 0, (size_t)b->finished.bytes, b->card->stream));
  TSL_TRY(dp_card_reset(b->card));
done:
  return err;
}

tsl_err dp_affine_begin(dp_affine *b) {
  tsl_err err = TSL_OK;
  b->now = 0;
  b->row = 0;
  TSL_CUDA_TRY(cudaMemsetAsync(b->best.data, 0, (size_t)b->best.bytes, b->card->stream));
  TSL_LAUNCH(begin_kernel, dim3((unsigned)tsl_ceil_div(b->stride, 256)), 256, 0, b->card->stream,
             b->stride, b->first, b->local, (int64_t)(b->open_extend - b->extend),
             (int64_t)b->extend, (int32_t *)b->h[0].data, (int32_t *)b->f[0].data);
  TSL_TRY(enter(b, 0, 0, NULL));
done:
  return err;
}

static int choose_width(const dp_affine *b, int mode, int bits) {
  if (mode == DP_AFFINE_WAYS) return bits == 16 ? DP_AFFINE_KEEP_WIDTH / 2 : DP_AFFINE_KEEP_WIDTH;
  if (mode == DP_AFFINE_CELLS) return 4;
  if (b->width != 0) return b->width;
  return dp_affine_wide(b->card->processors, b->letters, b->m, bits == 16 ? 2 * DP_WARP : DP_WARP);
}

/* 16 bits where they hold for sure and the card has instructions for them. */
static dp_affine_shape choose_shape(const dp_affine *b, int mode) {
  const int least = mode == DP_AFFINE_VALUES && b->width != 0 ? b->width : 4;
  int width = choose_width(b, mode, 16);
  while (b->asked == 0 && width > least && !dp_narrow_fits(b, width)) width /= 2;
  if (b->asked == 16 ? b->reach > 0 : b->asked == 0 && b->packed && dp_narrow_fits(b, width))
    return dp_affine_shape{16, width};
  return dp_affine_shape{32, choose_width(b, mode, 32)};
}

int dp_affine_bits(const dp_affine *b, bool keep) {
  return choose_shape(b, keep ? DP_AFFINE_WAYS : DP_AFFINE_VALUES).bits;
}

void dp_affine_force(dp_affine *b, int bits) {
  b->asked = bits == 16 || bits == 32 ? bits : 0;
}

template <bool LOCAL> static dp_affine_function pick(int width, int mode) {
  if (mode == DP_AFFINE_WAYS) return dp_affine_kernel<DP_AFFINE_KEEP_WIDTH, LOCAL, DP_AFFINE_WAYS>;
  if (mode == DP_AFFINE_CELLS) return dp_affine_kernel<4, LOCAL, DP_AFFINE_CELLS>;
  return width == 16  ? dp_affine_kernel<16, LOCAL, DP_AFFINE_VALUES>
         : width == 8 ? dp_affine_kernel<8, LOCAL, DP_AFFINE_VALUES>
                      : dp_affine_kernel<4, LOCAL, DP_AFFINE_VALUES>;
}

static dp_affine_args args_of(const dp_affine *b, int64_t lo, int64_t hi) {
  dp_affine_args a = {};
  a.h_above = (const int32_t *)b->h[b->now].data;
  a.f_above = (const int32_t *)b->f[b->now].data;
  a.h_below = (int32_t *)b->h[1 - b->now].data;
  a.f_below = (int32_t *)b->f[1 - b->now].data;
  a.rows = (const uint8_t *)b->rows.data + lo;
  a.columns = (const uint8_t *)b->columns.data;
  a.scores = (const int32_t *)b->scores.data;
  a.edge = (int2 *)b->edge.data;
  a.ticket = (uint32_t *)b->card->ticket.data;
  a.finished = (uint32_t *)b->finished.data;
  a.best = (dp_best *)b->best.data;
  a.history = (uint32_t *)b->history.data;
  a.row0 = lo;
  a.rows_n = (int)(hi - lo);
  a.columns_n = (int)b->m;
  a.steps = b->kept_steps;
  a.lag = b->kept_lag;
  a.reach = b->reach;
  a.letters = b->letters;
  a.open_extend = b->open_extend;
  a.extend = b->extend;
  return a;
}

/* What a tile writes besides rows and edges. */
typedef struct extra {
  int mode; /* dp_affine_mode */
  int32_t *cells;
  int64_t ld;
} extra;

static tsl_err launch(dp_affine *b, dp_affine_args *args, dp_affine_shape shape, int mode) {
  tsl_err err = TSL_OK;
  const int width = shape.width, bytes = dp_affine_shared(width, b->letters);
  const dp_affine_function kernel = shape.bits == 16 ? dp_narrow_pick(b->local, width, mode)
                                    : b->local       ? pick<true>(width, mode)
                                                     : pick<false>(width, mode);
  unsigned blocks = 0;
  args->strips = (int)tsl_ceil_div(b->m, (shape.bits == 16 ? 2 : 1) * DP_WARP * width);
  int warps = dp_card_warps(b->card, args->strips);
  while (warps > 1 && warps * bytes > b->card->shared_limit) warps /= 2;
  TSL_TRY(dp_card_blocks(b->card, (const void *)kernel, warps, (size_t)(warps * bytes),
                         args->strips, &blocks));
  TSL_LAUNCH(kernel, dim3((unsigned)blocks), (unsigned)(32 * warps), (size_t)(warps * bytes),
             b->card->stream, *args);
done:
  return err;
}

/* In 16 bits, and again in 32 where they did not hold: the card decides, nobody waits. */
static tsl_err compute(dp_affine *b, int64_t lo, int64_t hi, const extra *x) {
  tsl_err err = TSL_OK;
  const dp_affine_shape shape = choose_shape(b, x->mode);
  dp_affine_args args = args_of(b, lo, hi);
  args.cells = x->cells;
  args.ld = x->ld;
  if (shape.bits == 16) {
    args.spoiled = (uint32_t *)b->flags.data;
    TSL_TRY(dp_narrow_save(b, hi - lo));
    TSL_TRY(launch(b, &args, shape, x->mode));
    TSL_TRY(dp_narrow_restore(b, hi - lo));
  }
  TSL_TRY(launch(b, &args, dp_affine_shape{32, choose_width(b, x->mode, 32)}, x->mode));
done:
  return err;
}

static int64_t history_steps(int64_t rows) {
  return (int64_t)dp_affine_chunks((int)rows, DP_AFFINE_LAG) * DP_AFFINE_CHUNK;
}

int64_t dp_affine_keep_bytes(int64_t rows, int64_t m) {
  const int64_t strips = tsl_ceil_div(m, DP_WARP * DP_AFFINE_KEEP_WIDTH);
  return strips * history_steps(rows) * DP_WARP * 4;
}

static tsl_err run_tile(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left, int32_t *right,
                        const extra *x) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo;
  if (lo != b->row || hi > b->n || lo > hi)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld do not continue row %lld of %lld", (long long)lo,
             (long long)hi, (long long)b->row, (long long)b->n);
  if (x->mode == DP_AFFINE_WAYS) {
    TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->history, dp_affine_keep_bytes(rows, b->m) + 4,
                            "directions of the tile"));
    b->kept_lo = lo;
    b->kept_hi = hi;
    b->kept_steps = history_steps(rows);
    b->kept_lag = choose_shape(b, x->mode).bits == 16 ? DP_AFFINE_LAG : 1;
  }
  TSL_TRY(enter(b, lo, rows, left));
  if (rows > 0 && b->m > 0) TSL_TRY(compute(b, lo, hi, x));
  if (right != NULL)
    TSL_LAUNCH(leave_kernel, dim3((unsigned)tsl_ceil_div(rows + 1, 256)), 256, 0, b->card->stream,
               (const int32_t *)b->h[b->now].data, b->m, rows, b->open_extend - b->extend,
               (int2 *)b->edge.data);
  if (rows > 0 && b->m > 0) b->now = 1 - b->now;
  b->row = hi;
  if (right == NULL) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(right, b->edge.data, (size_t)(8 * (rows + 1)), cudaMemcpyDefault,
                               b->card->stream));
  if (!dp_card_holds(right)) TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_affine_tile(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left, int32_t *right,
                       bool keep) {
  const extra x = {keep ? DP_AFFINE_WAYS : DP_AFFINE_VALUES, NULL, 0};
  return run_tile(b, lo, hi, left, right, &x);
}

tsl_err dp_affine_tile_cells(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left,
                             int32_t *right, int32_t *cells, int64_t ld) {
  const extra x = {DP_AFFINE_CELLS, cells, ld};
  return run_tile(b, lo, hi, left, right, &x);
}

/* H, then F, of the real columns; what stands right of them reaches no column of the band. */
int64_t dp_affine_state_bytes(const dp_affine *b) {
  return 8 * b->m;
}

void dp_affine_forget(dp_affine *b) {
  tsl_gpu_release(&b->card->memory, &b->history);
  b->kept_lo = b->kept_hi = 0;
}

tsl_err dp_affine_state_get(dp_affine *b, void *state) {
  tsl_err err = TSL_OK;
  const size_t half = (size_t)(4 * b->m);
  TSL_CUDA_TRY(cudaMemcpyAsync(state, b->h[b->now].data, half, cudaMemcpyDefault, b->card->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync((char *)state + half, b->f[b->now].data, half, cudaMemcpyDefault,
                               b->card->stream));
done:
  return err;
}

tsl_err dp_affine_state_put(dp_affine *b, int64_t row, const void *state) {
  tsl_err err = TSL_OK;
  const size_t half = (size_t)(4 * b->m);
  TSL_CUDA_TRY(cudaMemcpyAsync(b->h[b->now].data, state, half, cudaMemcpyDefault, b->card->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->f[b->now].data, (const char *)state + half, half,
                               cudaMemcpyDefault, b->card->stream));
  b->row = row;
done:
  return err;
}

tsl_err dp_affine_row_get(dp_affine *b, int32_t *h, int32_t *f) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(4 * b->m);
  TSL_CUDA_TRY(cudaMemcpyAsync(h, b->h[b->now].data, bytes, cudaMemcpyDefault, b->card->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(f, b->f[b->now].data, bytes, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_affine_again(dp_affine *b, int64_t *tiles) {
  tsl_err err = TSL_OK;
  uint32_t flags[2] = {0, 0};
  TSL_CUDA_TRY(
      cudaMemcpyAsync(flags, b->flags.data, sizeof flags, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  *tiles = flags[1];
done:
  return err;
}

static tsl_err last_cell(dp_affine *b, dp_best *best) {
  tsl_err err = TSL_OK;
  int32_t h = 0;
  const int32_t *place = b->m > 0 ? (const int32_t *)b->h[b->now].data + b->m - 1
                                  : (const int32_t *)b->edge.data + 2 * b->edge_rows;
  TSL_CUDA_TRY(cudaMemcpyAsync(&h, place, 4, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  best->score = h;
  best->row = b->row;
  best->column = b->m;
done:
  return err;
}

tsl_err dp_affine_best(dp_affine *b, dp_best *best) {
  tsl_err err = TSL_OK;
  const int64_t strips = b->best.bytes / (int64_t)sizeof(dp_best);
  dp_best *list = NULL;
  *best = dp_best{};
  if (!b->local) return last_cell(b, best);
  TSL_TRY(tsl_alloc(strips, sizeof *list, "best cells", (void **)&list));
  TSL_CUDA_TRY(cudaMemcpyAsync(list, b->best.data, (size_t)b->best.bytes, cudaMemcpyDefault,
                               b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  for (int64_t s = 0; s < strips; s++) {
    const dp_best *x = &list[s];
    const bool sooner = x->row < best->row || (x->row == best->row && x->column < best->column);
    if (x->score > best->score || (x->score == best->score && x->score > 0 && sooner)) *best = *x;
  }
done:
  tsl_free(list);
  return err;
}

tsl_err dp_affine_best_put(dp_affine *b, const dp_best *best) {
  tsl_err err = TSL_OK;
  if (!b->local) return TSL_OK;
  TSL_CUDA_TRY(
      cudaMemcpyAsync(b->best.data, best, sizeof *best, cudaMemcpyHostToDevice, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}
