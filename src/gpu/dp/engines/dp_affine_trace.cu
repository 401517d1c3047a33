/* The way back through the directions of a kept tile, by one warp: its lanes hold a window of 32
 * rows of 8 columns. */
#include "dp_affine_band.cuh"

typedef struct walk_args {
  const uint32_t *history;
  int64_t steps; /**< of a strip */
  int lag;       /**< rows between neighbouring lanes */
  uint8_t *out;
  long long *result; /**< row and column in the tile, state, done (in and out), count */
} walk_args;

typedef struct walk_state {
  int64_t i, j, count;
  int state, done;
} walk_state;

static __host__ __device__ uint32_t directions_of(const walk_args *a, int64_t row, int64_t word) {
  const int64_t strip = word / DP_WARP, lane = word % DP_WARP;
  if (row < 1) return 0;
  return a->history[(strip * a->steps + row - 1 + a->lag * lane) * DP_WARP + lane];
}

/* One step: a change of state or a letter, which lane 0 notes. */
static __host__ __device__ __forceinline__ void walk(const walk_args *a, walk_state *s,
                                                     uint32_t cell, int lane) {
  if (s->state == DP_STEP_PAIR) {
    const uint32_t from = cell & DP_FROM_MASK;
    s->done = from == DP_FROM_NOTHING;
    s->state = from == DP_FROM_LEFT ? DP_STEP_LEFT : from == DP_FROM_UP ? DP_STEP_UP : DP_STEP_PAIR;
    if (from != DP_FROM_PAIR) return;
    if (lane == 0) a->out[s->count] = DP_STEP_PAIR;
    s->i--;
    s->j--;
  } else {
    const bool left = s->state == DP_STEP_LEFT;
    if (lane == 0) a->out[s->count] = (uint8_t)s->state;
    if ((cell & (left ? DP_LEFT_EXTENDS : DP_UP_EXTENDS)) == 0) s->state = DP_STEP_PAIR;
    if (left)
      s->j--;
    else
      s->i--;
  }
  s->count++;
}

static __global__ void walk_kernel(const __grid_constant__ walk_args a) {
  const int lane = threadIdx.x, width = DP_AFFINE_KEEP_WIDTH;
  walk_state s = {a.result[0], a.result[1], 0, (int)a.result[2], (int)a.result[3]};
  __syncwarp();
  while (s.i > 0 && s.j > 0 && !s.done) {
    const int64_t top = s.i, word = (s.j - 1) / width;
    const uint32_t mine = directions_of(&a, top - lane, word);
    while (s.i > 0 && s.i > top - DP_WARP && s.j > word * width && !s.done) {
      const uint32_t row = __shfl_sync(DP_ALL_LANES, mine, (int)(top - s.i));
      walk(&a, &s, row >> (4 * ((s.j - 1) % width)), lane);
    }
  }
  if (lane != 0) return;
  a.result[0] = s.i;
  a.result[1] = s.j;
  a.result[2] = s.state;
  a.result[3] = s.done;
  a.result[4] = s.count;
}

static tsl_err check_place(const dp_affine *b, const dp_place *place, int64_t room) {
  tsl_err err = TSL_OK;
  if (place->row < b->kept_lo || place->row > b->kept_hi || place->column < 0 ||
      place->column > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)place->row,
             (long long)place->column);
  if (room < place->row - b->kept_lo + place->column)
    TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld steps; %lld are possible", (long long)room,
             (long long)(place->row - b->kept_lo + place->column));
done:
  return err;
}

tsl_err dp_affine_trace(dp_affine *b, dp_place *place, uint8_t *steps, int64_t room,
                        int64_t *count) {
  tsl_err err = TSL_OK;
  long long values[5] = {place->row - b->kept_lo, place->column, place->state, place->done, 0};
  walk_args args = {};
  TSL_TRY(check_place(b, place, room));
  TSL_TRY(
      tsl_gpu_reserve(&b->card->memory, &b->steps, 64 + b->kept_hi - b->kept_lo + b->m, "steps"));
  args.history = (const uint32_t *)b->history.data;
  args.steps = b->kept_steps;
  args.lag = b->kept_lag;
  TSL_TRY(dp_card_walk(b->card, walk_kernel, args, &b->steps, values, steps));
  place->row = b->kept_lo + values[0];
  place->column = values[1];
  place->state = (int32_t)values[2];
  place->done = (int32_t)values[3];
  *count = values[4];
done:
  return err;
}

tsl_err dp_affine_trace_host(dp_affine *b, dp_place *place, uint8_t *steps, int64_t room,
                             int64_t *count) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_affine_keep_bytes(b->kept_hi - b->kept_lo, b->m);
  walk_state s = {place->row - b->kept_lo, place->column, 0, place->state, place->done};
  walk_args args = {};
  uint32_t *history = NULL;
  TSL_TRY(check_place(b, place, room));
  TSL_TRY(tsl_alloc(bytes, 1, "directions of a tile", (void **)&history));
  TSL_TRY(tsl_gpu_copy(b->card, history, b->history.data, bytes));
  args.history = history;
  args.steps = b->kept_steps;
  args.lag = b->kept_lag;
  args.out = steps;
  while (s.i > 0 && s.j > 0 && !s.done) {
    const int64_t word = (s.j - 1) / DP_AFFINE_KEEP_WIDTH;
    walk(&args, &s, directions_of(&args, s.i, word) >> (4 * ((s.j - 1) % DP_AFFINE_KEEP_WIDTH)), 0);
  }
  place->row = b->kept_lo + s.i;
  place->column = s.j;
  place->state = s.state;
  place->done = s.done;
  *count = s.count;
done:
  tsl_free(history);
  return err;
}
