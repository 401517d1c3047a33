/* The traceback through a sweep by the decisions kept, by a kernel. */
#include "dp_backend_gpu.cuh"
#include "dp_ptx.cuh"

/* A way back through the decisions of some items; places count from their first item and column. */
typedef struct trace_args {
  const uint32_t *bits;         /* knapsacks, [items][words] */
  const int32_t *k;             /* others, [items][columns] */
  int64_t words, columns, from; /* from: column of the table that column 0 is */
  const int64_t *weights;       /* of these items */
  bool again;                   /* unbounded: an item is looked at again after it was taken */
  bool stages;                  /* k is the column before, not the amount */
  int64_t *out;                 /* [items] how often taken, or k */
  long long *place;             /* items not yet decided, column (in and out) */
} trace_args;

/* One warp looks at 32 items at once for the capacity that is left. */
static __global__ void bits_kernel(const __grid_constant__ trace_args a) {
  const int lane = (int)threadIdx.x;
  int64_t item = a.place[0], c = a.place[1];
  __syncwarp();
  while (item > 0 && c >= 0) {
    const int64_t mine = item - 1 - lane;
    const bool bit = mine >= 0 && (a.bits[mine * a.words + c / 32] >> (c % 32) & 1) != 0;
    const uint32_t all = __ballot_sync(DP_ALL_LANES, bit);
    const int left_out = all == 0 ? DP_WARP : __ffs((int)all) - 1;
    if (lane == left_out) a.out[mine]++;
    item -= left_out < item ? left_out : item;
    if (all == 0) continue;
    c -= a.weights[item - 1];
    if (!a.again) item--;
  }
  if (lane != 0) return;
  a.place[0] = item;
  a.place[1] = c;
}

/* One thread: each decision is where the one before says. */
static __global__ void k_kernel(const __grid_constant__ trace_args a) {
  int64_t item = a.place[0], c = a.place[1];
  while (item > 0 && c >= 0 && c < a.columns) {
    const int64_t k = a.k[(item - 1) * a.columns + c];
    a.out[item - 1] = k;
    c = a.stages ? k - a.from : c - k;
    item--;
  }
  a.place[0] = item;
  a.place[1] = c;
}

/* out: [items] zeroed, host. */
static tsl_err trace_decisions(dp_worker *w, const dp_decisions *d, long long place[2],
                               int64_t *out) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(8 * (d->hi - d->lo));
  const bool sack = dp_is_sack(w->dp.c.p);
  tsl_gpu_buffer *buffer = &w->sweep.trace;
  trace_args a = {};
  cudaStream_t stream = w->card.stream;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, buffer, 16 + (int64_t)bytes, "walk"));
  a.bits = sack ? (const uint32_t *)d->made.data : NULL;
  a.k = sack ? NULL : (const int32_t *)d->made.data;
  a.columns = d->to - d->from;
  a.words = tsl_ceil_div(a.columns, 32);
  a.from = d->from;
  a.weights = sack ? (const int64_t *)w->sweep.numbers.data + d->lo : NULL;
  a.again = w->dp.c.p->problem == DP_KNAPSACK_UNBOUNDED;
  a.stages = w->dp.c.p->problem == DP_STAGECOACH;
  a.place = (long long *)buffer->data;
  a.out = (int64_t *)buffer->data + 2;
  TSL_CUDA_TRY(cudaMemcpyAsync(a.place, place, 16, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(a.out, 0, bytes, stream));
  if (sack)
    TSL_LAUNCH(bits_kernel, dim3(1), DP_WARP, 0, stream, a);
  else
    TSL_LAUNCH(k_kernel, dim3(1), 1, 0, stream, a);
  TSL_CUDA_TRY(cudaMemcpyAsync(place, a.place, 16, cudaMemcpyDefault, stream));
  TSL_TRY(tsl_gpu_copy(&w->card, out, a.out, bytes));
done:
  return err;
}

/* Steps of items first-1 down to last of d from `column` on. */
static tsl_err add_steps(const dp_worker *w, const dp_decisions *d, const int64_t *out,
                         int64_t first, int64_t last, int64_t column, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bool stages = w->dp.c.p->problem == DP_STAGECOACH;
  for (int64_t i = first - 1; i >= last; i--) {
    if (stages)
      TSL_TRY(dp_steps_add(steps, d->lo + i, column));
    else if (out[i] > 0)
      TSL_TRY(dp_steps_add(steps, d->lo + i, out[i]));
    if (stages) column = out[i];
  }
done:
  return err;
}

/* at[0] counts rows; stages are counted from 0, items from 1. */
tsl_err dp_gpu_rows_trace(void *worker, const dp_decisions *d, tsl_cursor *cursor,
                          dp_steps *steps) {
  tsl_err err = TSL_OK;
  dp_worker *w = (dp_worker *)worker;
  const int64_t stages = w->dp.c.p->problem == DP_STAGECOACH;
  const int64_t first = cursor->at[0] + stages - d->lo, column = cursor->at[1];
  long long place[2] = {first, column - d->from};
  int64_t last = 0, *out = NULL;
  TSL_TRY(tsl_alloc(d->hi - d->lo, sizeof *out, "decisions", (void **)&out));
  TSL_TRY(trace_decisions(w, d, place, out));
  /* unbounded: the item at which it left has been taken as well */
  last = place[0] > 0 && out[place[0] - 1] > 0 && !stages ? place[0] - 1 : place[0];
  TSL_TRY(add_steps(w, d, out, first, last, column, steps));
  cursor->at[0] = d->lo + place[0] - stages;
  cursor->at[1] = d->from + place[1];
done:
  tsl_free(out);
  return err;
}
