/* Bands of alignments with affine gaps: set-up and tiles. */
#include "dp_affine_band.cuh"

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

/* A tile without cells: the corner of the edge that leaves, and E' = max(E, H - open) of what came
 * in. Where there are cells the last strip does it. */
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
static tsl_err dp_affine_check_range(const letters_scores *s, bool local, int64_t n, int64_t m) {
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

static tsl_err upload_scores(dp_affine *b, const letters_scores *s) {
  tsl_err err = TSL_OK;
  const int letters = b->letters;
  int32_t *table = NULL;
  TSL_TRY(tsl_alloc((int64_t)letters * (letters + 1), 4, "scores", (void **)&table));
  for (int x = 0; x < letters; x++) {
    for (int y = 0; y < letters; y++) table[x * (letters + 1) + y] = s->s[x][y];
    table[x * (letters + 1) + letters] = DP_MINUS_INFINITY / 2;
  }
  TSL_TRY(tsl_gpu_upload(b->card, &b->scores, table, 4 * letters * (letters + 1), "scores"));
  TSL_TRY(dp_card_wait(b->card));
done:
  tsl_free(table);
  return err;
}

tsl_err dp_affine_reserve_set(dp_affine *b, int set) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *memory = &b->card->memory;
  dp_affine_rows *rows = &b->sets[set];
  const int64_t bests = (int64_t)sizeof(dp_best) * dp_affine_grains(b);
  TSL_TRY(tsl_gpu_reserve(memory, &rows->h, 4 * b->stride, "row of the table"));
  TSL_TRY(tsl_gpu_reserve(memory, &rows->f, 4 * b->stride, "row of the table"));
  TSL_TRY(tsl_gpu_reserve(memory, &rows->best, bests, "best cells"));
  TSL_CUDA_TRY(cudaMemsetAsync(rows->best.data, 0, (size_t)bests, b->card->stream));
done:
  return err;
}

static tsl_err dp_affine_upload(dp_affine *b, const uint8_t *rows, const uint8_t *columns) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *memory = &b->card->memory;
  cudaStream_t stream = b->card->stream;
  TSL_TRY(tsl_gpu_reserve(memory, &b->rows, b->n + 1, "letters of the rows"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->columns, b->stride, "letters of the columns"));
  for (int set = 0; set < b->sides; set++) TSL_TRY(dp_affine_reserve_set(b, set));
  TSL_TRY(tsl_gpu_reserve(memory, &b->flags, sizeof(dp_affine_flags), "counters"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->marks, 4 * dp_affine_grains(b), "counters"));
  TSL_CUDA_TRY(cudaMemsetAsync(b->flags.data, 0, sizeof(dp_affine_flags), stream));
  TSL_CUDA_TRY(cudaMemsetAsync(b->marks.data, 0, (size_t)b->marks.bytes, stream));
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

tsl_err dp_affine_open(dp_card *card, dp_problem problem, const letters_scores *scores,
                       const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                       int64_t total, int64_t first, int width, dp_affine **out) {
  tsl_err err = TSL_OK;
  dp_affine *b = NULL;
  *out = NULL;
  if (problem != DP_LOCAL && problem != DP_GLOBAL)
    TSL_FAIL(TSL_ERR_INTERNAL, "no alignment engine for problem %d", (int)problem);
  if (scores->alphabet < 1 || scores->alphabet > LETTERS_SCORED || scores->open < 0 ||
      scores->extend < 0)
    TSL_FAIL(TSL_ERR_INPUT, "alphabet of %d letters, gaps %d + %d g; allowed 1..%d letters, >= 0",
             scores->alphabet, scores->open, scores->extend, LETTERS_SCORED);
  if (n < 0 || m < 0 || first < 0 || total < first + m)
    TSL_FAIL(TSL_ERR_INTERNAL, "columns %lld + %lld of %lld", (long long)first, (long long)m,
             (long long)total);
  TSL_TRY(dp_affine_check_range(scores, problem == DP_LOCAL, n, total));
  TSL_TRY(check_letters(rows, n, scores->alphabet, "rows"));
  TSL_TRY(check_letters(columns, m, scores->alphabet, "columns"));
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  b->card = card;
  b->sides = 2;
  b->local = problem == DP_LOCAL;
  b->width = width == 4 || width == 8 || width == 16 ? width : 0;
  TSL_TRY(choose_bits(b));
  b->letters = scores->alphabet;
  for (int k = 0; k < b->letters * b->letters; k++) {
    const int32_t pair = scores->s[k / b->letters][k % b->letters];
    b->pair = pair > b->pair ? pair : b->pair;
  }
  b->extend = scores->extend;
  b->open_extend = scores->open + scores->extend;
  b->n = n;
  b->m = m;
  b->first = first;
  b->stride = DP_AFFINE_ALIGN * tsl_ceil_div(m + 1, DP_AFFINE_ALIGN);
  dp_narrow_measure(b, scores);
  TSL_TRY(dp_affine_upload(b, rows, columns));
  TSL_TRY(upload_scores(b, scores));
  TSL_TRY(dp_affine_begin(b));
  *out = b;
done:
  if (err != TSL_OK) dp_affine_close(&b);
  return err;
}

tsl_err dp_affine_prune(dp_affine *b, int64_t rows, int64_t columns, int64_t known) {
  b->rows_left = b->local ? rows : 0;
  b->columns_left = columns;
  b->known = (int)known;
  return dp_affine_know(b, known);
}

void dp_affine_close(dp_affine **band) {
  dp_affine *b = *band;
  if (b == NULL) return;
  tsl_gpu_memory *memory = &b->card->memory;
  tsl_gpu_buffer *all[] = {&b->rows,    &b->columns, &b->scores, &b->marks,
                           &b->history, &b->steps,   &b->flags};
  dp_affine_chain_close(b);
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(memory, buffer);
  for (dp_affine_rows &set : b->sets)
    for (tsl_gpu_buffer *buffer : {&set.h, &set.f, &set.best}) tsl_gpu_release(memory, buffer);
  for (dp_affine_own &own : b->own)
    for (tsl_gpu_buffer *buffer : {&own.edge, &own.old_edge, &own.counters})
      tsl_gpu_release(memory, buffer);
  tsl_free(b);
  *band = NULL;
}

/* Stages differ by some rows; a buffer that grows waits for the card. */
enum { MORE_ROWS = 64 };

tsl_err dp_affine_enter(dp_affine *b, int k, int64_t lo, int64_t rows, const int32_t *left,
                        cudaStream_t stream) {
  tsl_err err = TSL_OK;
  dp_affine_own *own = &b->own[k];
  tsl_gpu_memory *memory = &b->card->memory;
  TSL_TRY(tsl_gpu_reserve(memory, &own->counters,
                          4 * (dp_affine_grains(b) + 1 + 4 * (int64_t)b->card->processors),
                          "counters"));
  if (own->edge.bytes < 8 * (rows + 1))
    TSL_TRY(tsl_gpu_reserve(memory, &own->edge, 8 * (rows + 1 + MORE_ROWS), "edge"));
  if (left != NULL)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(own->edge.data, left, (size_t)(8 * (rows + 1)), cudaMemcpyDefault, stream));
  else
    TSL_LAUNCH(boundary_kernel, dim3((unsigned)tsl_ceil_div(rows + 1, 256)), 256, 0, stream, lo,
               rows, b->local, (int64_t)(b->open_extend - b->extend), (int64_t)b->extend,
               (int2 *)own->edge.data);
  TSL_CUDA_TRY(cudaMemsetAsync(own->counters.data, 0, (size_t)own->counters.bytes, stream));
done:
  return err;
}

tsl_err dp_affine_begin(dp_affine *b) {
  tsl_err err = TSL_OK;
  dp_affine_flags *const flags = (dp_affine_flags *)b->flags.data;
  b->now = 0;
  b->row = 0;
  for (int set = 0; set < b->sides; set++)
    TSL_CUDA_TRY(cudaMemsetAsync(b->sets[set].best.data, 0, (size_t)b->sets[set].best.bytes,
                                 b->card->stream));
  TSL_LAUNCH(begin_kernel, dim3((unsigned)tsl_ceil_div(b->stride, 256)), 256, 0, b->card->stream,
             b->stride, b->first, b->local, (int64_t)(b->open_extend - b->extend),
             (int64_t)b->extend, (int32_t *)b->sets[0].h.data, (int32_t *)b->sets[0].f.data);
  TSL_TRY(dp_affine_know(b, 0));
  TSL_CUDA_TRY(cudaMemsetAsync(&flags->rested, 0, sizeof flags->rested, b->card->stream));
  TSL_TRY(dp_affine_enter(b, 0, 0, 0, NULL, b->card->stream));
  b->last = 0;
  b->edge_rows = 0;
done:
  return err;
}

static int choose_width(const dp_affine *b, int mode, int bits) {
  if (mode == DP_AFFINE_WAYS) return bits == 16 ? DP_AFFINE_KEEP_WIDTH / 2 : DP_AFFINE_KEEP_WIDTH;
  if (mode == DP_AFFINE_CELLS) return 4;
  if (b->width != 0) return b->width;
  return dp_affine_wide(b->card->processors, b->letters, b->m, bits == 16 ? 2 * DP_WARP : DP_WARP);
}

dp_affine_shape dp_affine_choose_wide(const dp_affine *b, int mode) {
  return dp_affine_shape{32, choose_width(b, mode, 32)};
}

dp_affine_shape dp_affine_choose(const dp_affine *b, int mode) {
  const int least = b->width != 0 ? b->width : 4; /* other modes have 4 */
  int width = choose_width(b, mode, 16);
  while (b->asked == 0 && width > least && !dp_narrow_fits(b, width)) width /= 2;
  if (b->asked == 16 ? b->reach > 0 : b->asked == 0 && b->packed && dp_narrow_fits(b, width))
    return dp_affine_shape{16, width};
  return dp_affine_choose_wide(b, mode);
}

int dp_affine_bits(const dp_affine *b, bool keep) {
  return dp_affine_choose(b, keep ? DP_AFFINE_WAYS : DP_AFFINE_VALUES).bits;
}

void dp_affine_force(dp_affine *b, int bits) {
  b->asked = bits == 16 || bits == 32 ? bits : 0;
}

template <bool LOCAL, int MODE> static dp_affine_function pick_width(int width) {
  return width == 16  ? dp_affine_kernel<16, LOCAL, MODE>
         : width == 8 ? dp_affine_kernel<8, LOCAL, MODE>
                      : dp_affine_kernel<4, LOCAL, MODE>;
}

/* SIDES: of local alignments alone. */
template <bool LOCAL> static dp_affine_function pick(int width, int mode) {
  if (mode == DP_AFFINE_WAYS) return dp_affine_kernel<DP_AFFINE_KEEP_WIDTH, LOCAL, DP_AFFINE_WAYS>;
  if (mode == DP_AFFINE_CELLS) return dp_affine_kernel<4, LOCAL, DP_AFFINE_CELLS>;
  return LOCAL && mode == DP_AFFINE_SIDES ? pick_width<true, DP_AFFINE_SIDES>(width)
                                          : pick_width<LOCAL, DP_AFFINE_VALUES>(width);
}

dp_affine_args dp_affine_args_of(const dp_affine *b, int k, int64_t lo, int64_t hi) {
  dp_affine_args a = {};
  const dp_affine_rows *above = &b->sets[b->now], *below = &b->sets[(b->now + 1) % b->sides];
  a.h_above = (const int32_t *)above->h.data;
  a.f_above = (const int32_t *)above->f.data;
  a.best_above = (const dp_best *)above->best.data;
  a.h_below = (int32_t *)below->h.data;
  a.f_below = (int32_t *)below->f.data;
  a.best_below = (dp_best *)below->best.data;
  a.rows = (const uint8_t *)b->rows.data + lo;
  a.columns = (const uint8_t *)b->columns.data;
  a.scores = (const int32_t *)b->scores.data;
  a.edge = (int2 *)b->own[k].edge.data;
  a.finished = (uint32_t *)b->own[k].counters.data;
  a.ticket = a.finished + dp_affine_grains(b);
  a.taken = a.ticket + 1;
  a.processors = b->card->processors;
  a.marks = (uint32_t *)b->marks.data;
  a.number = b->number + 1;
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
  if (b->rows_left > 0) {
    dp_affine_flags *flags = (dp_affine_flags *)b->flags.data;
    a.pair = b->pair;
    a.rows_left = b->rows_left - lo;
    a.columns_left = b->columns_left;
    a.known = &flags->known;
    a.rested = &flags->rested;
  }
  return a;
}

/* What a tile writes besides rows and edges. */
typedef struct extra {
  int mode; /* dp_affine_mode */
  int32_t *cells;
  int64_t ld;
  int32_t *sides;
  int every;
} extra;

/* Blocks of a launch that leaves a place on the card: one less than there are places. */
static tsl_err leave_place(const dp_affine *b, const void *kernel, int warps, size_t bytes,
                           unsigned *blocks) {
  tsl_err err = TSL_OK;
  unsigned places = 0;
  TSL_TRY(dp_card_blocks(b->card, kernel, warps, bytes, INT32_MAX, &places));
  if (places < 2)
    TSL_FAIL(TSL_ERR_DEVICE, "card %s has room for one block only: launches cannot overlap",
             tsl_gpu_card());
  if (*blocks >= places) *blocks = places - 1;
done:
  return err;
}

tsl_err dp_affine_launch(dp_affine *b, dp_affine_args *args, dp_affine_shape shape, int mode,
                         cudaStream_t stream, bool beside) {
  tsl_err err = TSL_OK;
  const int width = shape.width, bytes = dp_affine_shared(width, b->letters);
  const dp_affine_function kernel = shape.bits == 16 ? dp_narrow_pick(b->local, width, mode)
                                    : b->local       ? pick<true>(width, mode)
                                                     : pick<false>(width, mode);
  unsigned blocks = 0;
  args->apart = dp_narrow_apart(b, width);
  const int columns = (shape.bits == 16 ? 2 : 1) * DP_WARP * width;
  args->strips = (int)tsl_ceil_div(b->m, columns);
  args->each = args->every / columns;
  int warps = dp_card_warps(b->card, args->strips);
  while (warps > 1 && warps * bytes > b->card->shared_limit) warps /= 2;
  TSL_TRY(dp_card_blocks(b->card, (const void *)kernel, warps, (size_t)(warps * bytes),
                         args->strips, &blocks));
  if (beside)
    TSL_TRY(leave_place(b, (const void *)kernel, warps, (size_t)(warps * bytes), &blocks));
  TSL_LAUNCH(kernel, dim3((unsigned)blocks), (unsigned)(32 * warps), (size_t)(warps * bytes),
             stream, *args);
done:
  return err;
}

/* In 16 bits, and again in 32 where they did not hold: the card decides, nobody waits. */
static tsl_err dp_affine_compute(dp_affine *b, int64_t lo, int64_t hi, const extra *x) {
  tsl_err err = TSL_OK;
  const dp_affine_shape shape = dp_affine_choose(b, x->mode);
  cudaStream_t stream = b->card->stream;
  dp_affine_args args = dp_affine_args_of(b, 0, lo, hi);
  args.cells = x->cells;
  args.ld = x->ld;
  args.sides = (int2 *)x->sides;
  args.every = x->every;
  if (shape.bits == 16) {
    args.spoiled = (uint32_t *)b->flags.data;
    TSL_TRY(dp_narrow_save(b, 0, hi - lo, stream));
    TSL_TRY(dp_affine_launch(b, &args, shape, x->mode, stream, false));
    TSL_TRY(dp_narrow_restore(b, 0, hi - lo, stream));
  }
  TSL_TRY(dp_affine_launch(b, &args, dp_affine_choose_wide(b, x->mode), x->mode, stream, false));
  b->number++;
  b->now = (b->now + 1) % b->sides;
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

tsl_err dp_affine_check_rows(const dp_affine *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  if (lo != b->row || hi > b->n || lo > hi)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld do not continue row %lld of %lld", (long long)lo,
             (long long)hi, (long long)b->row, (long long)b->n);
done:
  return err;
}

static tsl_err keep_ways(dp_affine *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->history, dp_affine_keep_bytes(hi - lo, b->m) + 4,
                          "directions of the tile"));
  b->kept_lo = lo;
  b->kept_hi = hi;
  b->kept_steps = history_steps(hi - lo);
  b->kept_lag = dp_affine_choose(b, DP_AFFINE_WAYS).bits == 16 ? DP_AFFINE_LAG : 1;
done:
  return err;
}

static tsl_err run_tile(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left, int32_t *right,
                        const extra *x) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo;
  TSL_TRY(dp_affine_check_rows(b, lo, hi));
  if (b->chain.started > b->chain.finished)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld: those before are not finished", (long long)lo,
             (long long)hi);
  if (x->mode == DP_AFFINE_WAYS) TSL_TRY(keep_ways(b, lo, hi));
  TSL_TRY(dp_affine_enter(b, 0, lo, rows, left, b->card->stream));
  b->last = 0;
  b->edge_rows = rows;
  if (rows > 0 && b->m > 0)
    TSL_TRY(dp_affine_compute(b, lo, hi, x));
  else
    TSL_LAUNCH(leave_kernel, dim3((unsigned)tsl_ceil_div(rows + 1, 256)), 256, 0, b->card->stream,
               (const int32_t *)b->sets[b->now].h.data, b->m, rows, b->open_extend - b->extend,
               (int2 *)b->own[0].edge.data);
  b->row = hi;
  if (right == NULL) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(right, b->own[0].edge.data, (size_t)(8 * (rows + 1)),
                               cudaMemcpyDefault, b->card->stream));
  if (!dp_card_holds(right)) TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_affine_tile(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left, int32_t *right,
                       bool keep) {
  const extra x = {keep ? DP_AFFINE_WAYS : DP_AFFINE_VALUES};
  return run_tile(b, lo, hi, left, right, &x);
}

tsl_err dp_affine_tile_sides(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left,
                             int64_t every, int32_t *sides) {
  tsl_err err = TSL_OK;
  const extra x = {DP_AFFINE_SIDES, NULL, 0, sides, (int)every};
  if (!b->local || every < DP_AFFINE_ALIGN || every % DP_AFFINE_ALIGN != 0 || b->m % every != 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "an edge of each %lld of %lld columns", (long long)every,
             (long long)b->m);
  TSL_TRY(run_tile(b, lo, hi, left, NULL, &x));
done:
  return err;
}

tsl_err dp_affine_tile_cells(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left,
                             int32_t *right, int32_t *cells, int64_t ld) {
  const extra x = {DP_AFFINE_CELLS, cells, ld};
  return run_tile(b, lo, hi, left, right, &x);
}
