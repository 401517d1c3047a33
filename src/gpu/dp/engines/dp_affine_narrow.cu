/* Bands of alignments in 16 bits: kernels, what the scores allow, and the way back to 32 bits. */
#include "dp_affine_narrow.cuh"

#include "dp_affine_band.cuh"

enum { REACH_LEAST = 8192 }; /* below, a base would move all the time */

/*
 * Between two checks a half computes DP_AFFINE_CHUNK rows, and whatever path leads through them
 * from checked values goes down by at most as many. So H grows by at most a pair in each row,
 * beyond that of a checked G by open + extend, and falls by at most a gap that goes on in each row;
 * G lies open + extend below H, and a pair or a gap that is tried another such step lower.
 */
void dp_narrow_measure(dp_affine *b, const letters_scores *s) {
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
int32_t dp_narrow_apart(const dp_affine *b, int width) {
  const int64_t apart = DP_NARROW_HALVES * (width + 1) + DP_AFFINE_CHUNK;
  const int64_t most = apart * b->slope + 2 * (int64_t)(b->open_extend - b->extend);
  return most < INT32_MAX / 2 ? (int32_t)most : INT32_MAX / 2;
}

bool dp_narrow_fits(const dp_affine *b, int width) {
  return b->reach > 0 && dp_narrow_apart(b, width) <= b->reach / 2;
}

template <bool LOCAL, int MODE> static dp_affine_function pick_narrow_width(int width) {
  return width == 16  ? dp_narrow_kernel<16, LOCAL, MODE>
         : width == 8 ? dp_narrow_kernel<8, LOCAL, MODE>
                      : dp_narrow_kernel<4, LOCAL, MODE>;
}

/* SIDES: of local alignments alone. */
template <bool LOCAL> static dp_affine_function pick_narrow(int width, int mode) {
  if (mode == DP_AFFINE_WAYS)
    return dp_narrow_kernel<DP_AFFINE_KEEP_WIDTH / 2, LOCAL, DP_AFFINE_WAYS>;
  if (mode == DP_AFFINE_CELLS) return dp_narrow_kernel<4, LOCAL, DP_AFFINE_CELLS>;
  return LOCAL && mode == DP_AFFINE_SIDES ? pick_narrow_width<true, DP_AFFINE_SIDES>(width)
                                          : pick_narrow_width<LOCAL, DP_AFFINE_VALUES>(width);
}

dp_affine_function dp_narrow_pick(bool local, int width, int mode) {
  return local ? pick_narrow<true>(width, mode) : pick_narrow<false>(width, mode);
}

tsl_err dp_narrow_save(dp_affine *b, int k, int64_t rows, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  dp_affine_own *own = &b->own[k];
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &own->old_edge, own->edge.bytes, "edge"));
  TSL_CUDA_TRY(cudaMemcpyAsync(own->old_edge.data, own->edge.data, (size_t)(8 * (rows + 1)),
                               cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync((uint32_t *)b->flags.data + k, 0, 4, stream));
done:
  return err;
}

typedef struct restore_args {
  const uint32_t *spoiled;
  uint32_t *again, *counters;
  const int2 *old_edge;
  int2 *edge;
  int64_t edges, n_counters;
} restore_args;

static __global__ void restore_kernel(const __grid_constant__ restore_args a) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (*a.spoiled == 0) return;
  if (i < a.edges) a.edge[i] = a.old_edge[i];
  if (i < a.n_counters) a.counters[i] = 0;
  if (i == 0) ++*a.again;
}

tsl_err dp_narrow_restore(dp_affine *b, int k, int64_t rows, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const dp_affine_own *own = &b->own[k];
  restore_args a = {};
  a.spoiled = (const uint32_t *)b->flags.data + k;
  a.again = (uint32_t *)b->flags.data + 2;
  a.counters = (uint32_t *)own->counters.data;
  a.old_edge = (const int2 *)own->old_edge.data;
  a.edge = (int2 *)own->edge.data;
  a.edges = rows + 1;
  a.n_counters = own->counters.bytes / 4;
  {
    const int64_t most = a.edges > a.n_counters ? a.edges : a.n_counters;
    TSL_LAUNCH(restore_kernel, dim3((unsigned)tsl_ceil_div(most, 256)), 256, 0, stream, a);
  }
done:
  return err;
}
