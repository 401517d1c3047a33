/* The way back through the ways of a kept tile of dp_grid.cu. */
#include "dp_grid.cuh"

typedef struct grid_walk_args {
  const unsigned *ways;
  int64_t steps;
  uint8_t *out;
  long long *result; /**< row and column in the tile (in and out), count */
} grid_walk_args;

/* Ways of 8 columns in a row of the tile, from 1; word: 8 columns. */
static __host__ __device__ __forceinline__ unsigned ways_of(const grid_walk_args *a, int64_t row,
                                                            int64_t word) {
  const int64_t strip = word / DP_WARP, owner = word % DP_WARP;
  return row > 0 ? a->ways[(strip * a->steps + row - 1 + owner) * DP_WARP + owner] : 0;
}

/* One warp; its lanes hold 32 rows of 8 columns. */
static __global__ void walk_kernel(const __grid_constant__ grid_walk_args a) {
  const int lane = threadIdx.x;
  int64_t i = a.result[0], j = a.result[1], count = 0;
  __syncwarp();
  while (i > 0 && j > 0) {
    const int64_t top = i, word = (j - 1) / DP_GRID_COLUMNS;
    const unsigned mine = ways_of(&a, top - lane, word);
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

static tsl_err check_place(const dp_grid *b, int64_t row, int64_t column, int64_t room) {
  tsl_err err = TSL_OK;
  if (row < b->kept_lo || row > b->kept_hi || column < 0 || column > b->m ||
      room < row - b->kept_lo + column)
    TSL_FAIL(TSL_ERR_INTERNAL,
             "cell (%lld, %lld) is not in the kept tile, or room for %lld steps "
             "is not enough",
             (long long)row, (long long)column, (long long)room);
done:
  return err;
}

tsl_err dp_grid_trace(dp_grid *b, int64_t *row, int64_t *column, uint8_t *steps, int64_t room,
                      int64_t *count) {
  static_assert((int)DP_WAY_PAIR == DP_STEP_PAIR && (int)DP_WAY_LEFT == DP_STEP_LEFT &&
                    (int)DP_WAY_UP == DP_STEP_UP,
                "ways are steps");
  tsl_err err = TSL_OK;
  long long values[3] = {*row - b->kept_lo, *column, 0};
  grid_walk_args args = {};
  TSL_TRY(check_place(b, *row, *column, room));
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->steps, 64 + values[0] + values[1], "steps"));
  args.ways = (const unsigned *)b->ways.data;
  args.steps = dp_engine_steps(b->kept_hi - b->kept_lo);
  TSL_TRY(dp_card_walk(b->card, walk_kernel, args, &b->steps, values, steps));
  *row = b->kept_lo + values[0];
  *column = values[1];
  *count = values[2];
done:
  return err;
}

tsl_err dp_grid_trace_host(dp_grid *b, int64_t *row, int64_t *column, uint8_t *steps, int64_t room,
                           int64_t *count) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_grid_keep_bytes(b->kept_hi - b->kept_lo, b->m);
  int64_t i = *row - b->kept_lo, j = *column, n = 0;
  unsigned *ways = NULL;
  grid_walk_args args = {};
  TSL_TRY(check_place(b, *row, *column, room));
  TSL_TRY(tsl_alloc(bytes, 1, "ways of a tile", (void **)&ways));
  TSL_TRY(tsl_gpu_copy(b->card, ways, b->ways.data, bytes));
  args.ways = ways;
  args.steps = dp_engine_steps(b->kept_hi - b->kept_lo);
  while (i > 0 && j > 0) {
    const unsigned all = ways_of(&args, i, (j - 1) / DP_GRID_COLUMNS);
    const unsigned way = all >> (2 * ((j - 1) % DP_GRID_COLUMNS)) & 3;
    steps[n++] = (uint8_t)way;
    i -= way != DP_WAY_LEFT;
    j -= way != DP_WAY_UP;
  }
  *row = b->kept_lo + i;
  *column = j;
  *count = n;
done:
  tsl_free(ways);
  return err;
}
