/* The way back through the bits of a kept tile, by one warp: its lanes hold a window of 32 rows of
 * one word, so that most steps touch no memory. */
#include "dp_bits.cuh"

typedef struct trace_args {
  const uint32_t *history, *above;
  int64_t lo, stride;
  int parts, steps;
  dp_pair *pairs;
  long long *result; /**< row, column (in and out), count */
} trace_args;

/** Lane l: row top - l of the tile (row 0 is the one above), word `word`. */
typedef struct trace_window {
  uint32_t bits[2];
} trace_window;

static __host__ __device__ uint32_t bits_of(const trace_args *a, int64_t row, int64_t word,
                                            int part) {
  if (row < 0) return 0;
  if (row == 0) return a->above[part * a->stride + word];
  const int64_t strip = word / DP_WARP, lane = word % DP_WARP;
  const int64_t block = (row - 1) / DP_BITS_ROWS, q = (row - 1) % DP_BITS_ROWS;
  return a->history[(((strip * a->steps + block + lane) * DP_BITS_ROWS + q) * a->parts + part) *
                        DP_WARP +
                    lane];
}

static __device__ trace_window dp_bits_trace_look(const trace_args *a, int64_t top, int64_t word,
                                                  int lane) {
  trace_window w = {};
  for (int part = 0; part < a->parts; part++) w.bits[part] = bits_of(a, top - lane, word, part);
  return w;
}

/* Places of the walk, 1-based in the tile. */
typedef struct trace_state {
  int64_t i, j, count;
} trace_state;

static __device__ void give_pair(const trace_args *a, trace_state *s, int lane) {
  if (lane == 0) {
    a->pairs[s->count].row = a->lo + s->i - 1;
    a->pairs[s->count].column = s->j - 1;
  }
  s->count++;
  s->i--;
  s->j--;
}

/* One step inside a window; a run of steps to the left counts as one. */
static __device__ void step_lcs(const trace_args *a, trace_state *s, const trace_window *w,
                                int64_t top, int64_t word, int lane) {
  const int at = (int)(top - s->i), b = (int)((s->j - 1) % 32);
  const uint32_t here = __shfl_sync(DP_ALL_LANES, w->bits[0], at);
  const uint32_t over = __shfl_sync(DP_ALL_LANES, w->bits[0], at + 1);
  const uint32_t left = here & (b == 31 ? ~0u : (2u << b) - 1);
  if (left == 0) {
    s->j = 32 * word;
    return;
  }
  s->j = 32 * word + 32 - __clz((int)left);
  if (over >> ((s->j - 1) % 32) & 1)
    s->i--;
  else
    give_pair(a, s, lane);
}

static __device__ void step_edit(const trace_args *a, trace_state *s, const trace_window *w,
                                 int64_t top, int lane) {
  const int at = (int)(top - s->i), b = (int)((s->j - 1) % 32);
  const uint32_t pair = __shfl_sync(DP_ALL_LANES, w->bits[0], at);
  const uint32_t left = __shfl_sync(DP_ALL_LANES, w->bits[1], at);
  if (pair >> b & 1)
    give_pair(a, s, lane);
  else if (left >> b & 1)
    s->j--;
  else
    s->i--;
}

static __global__ void trace_kernel(const __grid_constant__ trace_args a) {
  const int lane = threadIdx.x;
  trace_state s = {a.result[0] - a.lo, a.result[1], 0};
  __syncwarp();
  while (s.i > 0 && s.j > 0) {
    const int64_t top = s.i, word = (s.j - 1) / 32;
    const trace_window w = dp_bits_trace_look(&a, top, word, lane);
    while (s.i > 0 && s.j > 32 * word && s.i > top - DP_WARP + 1) {
      if (a.parts == 1)
        step_lcs(&a, &s, &w, top, word, lane);
      else
        step_edit(&a, &s, &w, top, lane);
    }
  }
  if (lane == 0) {
    a.result[0] = a.lo + s.i;
    a.result[1] = s.j;
    a.result[2] = s.count;
  }
}

/* Pairs that a walk from (row, column) can give. */
static int64_t most_pairs(const dp_bits *b, int64_t row, int64_t column) {
  return row - b->kept_lo < column ? row - b->kept_lo : column;
}

static tsl_err check_place(const dp_bits *b, int64_t row, int64_t column, int64_t room) {
  tsl_err err = TSL_OK;
  if (row < b->kept_lo || row > b->kept_hi || column < 0 || column > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)row,
             (long long)column);
  if (room < most_pairs(b, row, column))
    TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld pairs; %lld are possible", (long long)room,
             (long long)most_pairs(b, row, column));
done:
  return err;
}

static int steps_of(const dp_bits *b) {
  return DP_BITS_BLOCKS * (int)(tsl_ceil_div(b->kept_hi - b->kept_lo, 32) + 4);
}

tsl_err dp_bits_trace(dp_bits *b, int64_t *row, int64_t *column, dp_pair *pairs, int64_t room,
                      int64_t *count) {
  tsl_err err = TSL_OK;
  long long place[3] = {*row, *column, 0};
  char *result = (char *)b->card->ticket.data;
  trace_args args = {};
  TSL_TRY(check_place(b, *row, *column, room));
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->pairs,
                          (most_pairs(b, *row, *column) + 1) * (int64_t)sizeof(dp_pair),
                          "pairs of a solution"));
  TSL_CUDA_TRY(cudaMemcpyAsync(result, place, sizeof place, cudaMemcpyDefault, b->card->stream));
  args.history = (const uint32_t *)b->history.data;
  args.above = (const uint32_t *)b->above.data;
  args.lo = b->kept_lo;
  args.stride = b->stride;
  args.parts = b->parts;
  args.steps = steps_of(b);
  args.pairs = (dp_pair *)b->pairs.data;
  args.result = (long long *)result;
  TSL_LAUNCH(trace_kernel, dim3(1), DP_WARP, 0, b->card->stream, args);
  TSL_TRY(tsl_gpu_copy(b->card, place, result, sizeof place));
  TSL_CUDA_TRY(
      cudaMemcpy(pairs, b->pairs.data, (size_t)place[2] * sizeof(dp_pair), cudaMemcpyDefault));
  *row = place[0];
  *column = place[1];
  *count = place[2];
done:
  return err;
}

/* -------------------------------------------------------------------------------- by the host */

static bool bit_of(const trace_args *a, int64_t i, int64_t j, int part) {
  return bits_of(a, i, (j - 1) / 32, part) >> ((j - 1) % 32) & 1;
}

/* The steps of trace_kernel, one cell at a time. */
static void trace_cells(const trace_args *a, trace_state *s) {
  while (s->i > 0 && s->j > 0) {
    const bool first = bit_of(a, s->i, s->j, 0);
    const bool left = a->parts == 1 ? !first : !first && bit_of(a, s->i, s->j, 1);
    const bool pair = a->parts == 1 ? first && !bit_of(a, s->i - 1, s->j, 0) : first;
    if (pair) a->pairs[s->count++] = dp_pair{a->lo + s->i - 1, s->j - 1};
    s->i -= !left;
    s->j -= left || pair;
  }
}

tsl_err dp_bits_trace_host(dp_bits *b, int64_t *row, int64_t *column, dp_pair *pairs, int64_t room,
                           int64_t *count) {
  tsl_err err = TSL_OK;
  const int64_t bytes =
      dp_bits_keep_bytes(b->parts == 2 ? DP_EDIT : DP_LCS, b->kept_hi - b->kept_lo, b->m);
  const int64_t row_bytes = 4 * b->parts * b->stride;
  uint32_t *history = NULL, *above = NULL;
  trace_state s = {*row - b->kept_lo, *column, 0};
  trace_args args = {};
  TSL_TRY(check_place(b, *row, *column, room));
  TSL_TRY(tsl_alloc(bytes, 1, "bits of a tile", (void **)&history));
  TSL_TRY(tsl_alloc(row_bytes, 1, "row above a tile", (void **)&above));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(history, b->history.data, (size_t)bytes, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(tsl_gpu_copy(b->card, above, b->above.data, row_bytes));
  args.history = history;
  args.above = above;
  args.lo = b->kept_lo;
  args.stride = b->stride;
  args.parts = b->parts;
  args.steps = steps_of(b);
  args.pairs = pairs;
  trace_cells(&args, &s);
  *row = b->kept_lo + s.i;
  *column = s.j;
  *count = s.count;
done:
  tsl_free(history);
  tsl_free(above);
  return err;
}
