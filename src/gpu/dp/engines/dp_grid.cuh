/**
 * @file dp_grid.cuh
 * Launches of the engine for any recurrence (dp_engine.cuh), and bands made of them.
 */
#pragma once

#include "dp_cells.cuh"
#include "dp_gpu.cuh"

enum { DP_GRID_COLUMNS = 8, DP_GRID_FEW = 4 /**< columns of a lane, when there are few */ };

template <class CELL, int NC>
__global__ void __launch_bounds__(128)
    dp_grid_kernel(const __grid_constant__ dp_engine_args<CELL> a) {
  dp_engine_run<CELL, NC>(a);
}

/** Columns of a lane for a launch. */
static inline int dp_grid_width(const dp_card *card, int64_t columns) {
  const int64_t strips = columns / (DP_WARP * DP_GRID_COLUMNS);
  return strips >= (int64_t)4 * card->processors ? DP_GRID_COLUMNS : DP_GRID_FEW;
}

/** Launch; strips, ticket and finished of args are filled in. @param[in] finished  [columns / 128]
 */
template <class CELL, int NC>
tsl_err dp_grid_launch(dp_card *card, dp_engine_args<CELL> args, tsl_gpu_buffer *finished) {
  tsl_err err = TSL_OK;
  unsigned blocks = 0;
  int warps = 0;
  args.strips = (int)tsl_ceil_div(args.columns, DP_WARP * NC);
  args.ticket = (unsigned *)card->ticket.data;
  TSL_TRY(tsl_gpu_reserve(&card->memory, finished, 4 * (int64_t)args.strips + 4, "counters"));
  args.finished = (unsigned *)finished->data;
  TSL_CUDA_TRY(cudaMemsetAsync(finished->data, 0, (size_t)finished->bytes, card->stream));
  TSL_TRY(dp_card_reset(card));
  warps = dp_card_warps(card, args.strips);
  TSL_TRY(
      dp_card_blocks(card, (const void *)dp_grid_kernel<CELL, NC>, warps, 0, args.strips, &blocks));
  TSL_LAUNCH((dp_grid_kernel<CELL, NC>), dim3((unsigned)blocks), (unsigned)(32 * warps), 0,
             card->stream, args);
done:
  return err;
}

/** The band. */
struct dp_grid {
  dp_card *card; /**< not owned */
  dp_problem problem;
  tsl_type type;
  bool square;
  int32_t insert, remove, replace;
  int64_t n, m, first, row;
  int now;
  tsl_gpu_buffer rows, columns, line[2], edge, finished, bad, ways, steps;
  int64_t kept_lo, kept_hi;
};
