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

static __device__ uint32_t bits_of(const trace_args *a, int64_t row, int64_t word, int part) {
  if (row < 0) return 0;
  if (row == 0) return a->above[part * a->stride + word];
  const int64_t strip = word / DP_WARP, lane = word % DP_WARP;
  const int64_t block = (row - 1) / DP_BITS_ROWS, q = (row - 1) % DP_BITS_ROWS;
  return a->history[(((strip * a->steps + block + lane) * DP_BITS_ROWS + q) * a->parts + part) *
                        DP_WARP +
                    lane];
}

static __device__ trace_window look(const trace_args *a, int64_t top, int64_t word, int lane) {
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
    const trace_window w = look(&a, top, word, lane);
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

tsl_err dp_bits_trace(dp_bits *b, int64_t *row, int64_t *column, dp_pair *pairs, int64_t room,
                      int64_t *count) {
  tsl_err err = TSL_OK;
  long long place[3] = {*row, *column, 0};
  const int64_t rows = b->kept_hi - b->kept_lo, most = rows < b->m ? rows : b->m;
  char *result = (char *)b->card->ticket.data;
  trace_args args = {};
  if (*row < b->kept_lo || *row > b->kept_hi || *column < 0 || *column > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)*row,
             (long long)*column);
  if (room < most)
    TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld pairs; %lld are possible", (long long)room,
             (long long)most);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->pairs, (most + 1) * (int64_t)sizeof(dp_pair),
                          "pairs of a solution"));
  TSL_CUDA_TRY(cudaMemcpyAsync(result, place, sizeof place, cudaMemcpyDefault, b->card->stream));
  args.history = (const uint32_t *)b->history.data;
  args.above = (const uint32_t *)b->above.data;
  args.lo = b->kept_lo;
  args.stride = b->stride;
  args.parts = b->parts;
  args.steps = DP_BITS_BLOCKS * (int)(tsl_ceil_div(rows, 32) + 4);
  args.pairs = (dp_pair *)b->pairs.data;
  args.result = (long long *)result;
  TSL_LAUNCH(trace_kernel, dim3(1), DP_WARP, 0, b->card->stream, args);
  TSL_CUDA_TRY(cudaMemcpyAsync(place, result, sizeof place, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  TSL_CUDA_TRY(
      cudaMemcpy(pairs, b->pairs.data, (size_t)place[2] * sizeof(dp_pair), cudaMemcpyDefault));
  *row = place[0];
  *column = place[1];
  *count = place[2];
done:
  return err;
}
