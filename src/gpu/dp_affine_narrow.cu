/* Bands of alignments in 16 bits: kernels, what the scores allow, and the way back to 32 bits. */
#include "dp_affine_narrow.cuh"

enum { REACH_LEAST = 8192 }; /* below, a base would move all the time */

/*
 * Between two checks a half computes DP_AFFINE_CHUNK rows, and whatever path leads through them
 * from checked values goes down by at most as many. So H grows by at most a pair in each row,
 * beyond that of a checked G by open + extend, and falls by at most a gap that goes on in each row;
 * G lies open + extend below H, and a pair or a gap that is tried another such step lower.
 */
void dp_narrow_measure(dp_affine *b, const dp_scores *s) {
  int64_t most = 0, least = -2 * (int64_t)b->open_extend;
  for (int x = 0; x < s->alphabet; x++)
    for (int y = 0; y < s->alphabet; y++) {
      most = s->s[x][y] > most ? s->s[x][y] : most;
      least = s->s[x][y] < least ? s->s[x][y] : least;
    }
  const int64_t row = most > b->extend ? most : b->extend;
  const int64_t reach =
      INT16_MAX - (DP_AFFINE_CHUNK + 1) * row - 3 * (int64_t)b->open_extend + least;
  b->reach = reach < REACH_LEAST ? 0 : (int32_t)reach;
  b->slope = reach < REACH_LEAST ? 0 : (int32_t)(most + b->extend);
}

/*
 * H of cells k rows and columns apart differ by at most k slope + 2 open: a path to the farther
 * one, cut where it leaves the nearer one's row or column, and a gap from there. A strip has values
 * of 64 width columns, of the rows that its last half is behind the first, and of a chunk of edges.
 */
bool dp_narrow_fits(const dp_affine *b, int width) {
  const int64_t apart = DP_NARROW_HALVES * (width + 1) + DP_AFFINE_CHUNK;
  return b->reach > 0 &&
         apart * b->slope + 2 * (int64_t)(b->open_extend - b->extend) <= b->reach / 2;
}

template <bool LOCAL> static dp_affine_function pick(int width, int mode) {
  if (mode == DP_AFFINE_WAYS)
    return dp_narrow_kernel<DP_AFFINE_KEEP_WIDTH / 2, LOCAL, DP_AFFINE_WAYS>;
  if (mode == DP_AFFINE_CELLS) return dp_narrow_kernel<4, LOCAL, DP_AFFINE_CELLS>;
  return width == 16  ? dp_narrow_kernel<16, LOCAL, DP_AFFINE_VALUES>
         : width == 8 ? dp_narrow_kernel<8, LOCAL, DP_AFFINE_VALUES>
                      : dp_narrow_kernel<4, LOCAL, DP_AFFINE_VALUES>;
}

dp_affine_function dp_narrow_pick(bool local, int width, int mode) {
  return local ? pick<true>(width, mode) : pick<false>(width, mode);
}

tsl_err dp_narrow_save(dp_affine *b, int64_t rows) {
  tsl_err err = TSL_OK;
  cudaStream_t stream = b->card->stream;
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->old_edge, 8 * (rows + 1), "edge"));
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->old_best, b->best.bytes, "best cells"));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->old_edge.data, b->edge.data, (size_t)(8 * (rows + 1)),
                               cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->old_best.data, b->best.data, (size_t)b->best.bytes,
                               cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(b->flags.data, 0, 4, stream));
done:
  return err;
}

typedef struct restore_args {
  uint32_t *flags, *finished, *ticket;
  const int2 *old_edge;
  int2 *edge;
  const dp_best *old_best;
  dp_best *best;
  int64_t edges, bests, counters;
} restore_args;

static __global__ void restore_kernel(const __grid_constant__ restore_args a) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (a.flags[0] == 0) return;
  if (i < a.edges) a.edge[i] = a.old_edge[i];
  if (i < a.bests) a.best[i] = a.old_best[i];
  if (i < a.counters) a.finished[i] = 0;
  if (i > 0) return;
  a.flags[1]++;
  *a.ticket = 0;
}

tsl_err dp_narrow_restore(dp_affine *b, int64_t rows) {
  tsl_err err = TSL_OK;
  restore_args a = {};
  a.flags = (uint32_t *)b->flags.data;
  a.finished = (uint32_t *)b->finished.data;
  a.ticket = (uint32_t *)b->card->ticket.data;
  a.old_edge = (const int2 *)b->old_edge.data;
  a.edge = (int2 *)b->edge.data;
  a.old_best = (const dp_best *)b->old_best.data;
  a.best = (dp_best *)b->best.data;
  a.edges = rows + 1;
  a.bests = b->best.bytes / (int64_t)sizeof(dp_best);
  a.counters = b->finished.bytes / 4;
  {
    const int64_t most = a.edges > a.counters ? a.edges : a.counters;
    TSL_LAUNCH(restore_kernel, dim3((unsigned)tsl_ceil_div(most, 256)), 256, 0, b->card->stream, a);
  }
done:
  return err;
}
