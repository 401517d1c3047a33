/* Which items a knapsack takes. */
#include "dp_knapsack.cuh"

/* One warp looks at 32 items at once for the capacity that is left. */
static __global__ void taken_kernel(const uint32_t *bits, int64_t stride, bool again,
                                    const int64_t *weights, int64_t *taken, long long *place) {
  const int lane = threadIdx.x;
  int64_t item = place[0], c = place[1];
  __syncwarp();
  while (item > 0 && c >= 0) {
    const int64_t mine = item - 1 - lane;
    const bool bit = mine >= 0 && (bits[mine * stride + c / 32] >> (c % 32) & 1) != 0;
    const uint32_t all = __ballot_sync(DP_ALL_LANES, bit);
    const int left_out = all == 0 ? 32 : __ffs((int)all) - 1;
    if (lane == left_out) taken[mine]++;
    item -= left_out < item ? left_out : item;
    if (all == 0) continue;
    c -= weights[item - 1];
    if (!again) item--;
  }
  if (lane != 0) return;
  place[0] = item;
  place[1] = c;
}

tsl_err dp_knapsack_trace(dp_knapsack *b, int64_t *item, int64_t *capacity, int64_t *taken) {
  tsl_err err = TSL_OK;
  const int64_t items = b->kept_hi - b->kept_lo;
  const size_t bytes = (size_t)(8 * items);
  cudaStream_t stream = b->card->stream;
  long long place[2] = {*item - b->kept_lo, *capacity - b->first};
  int64_t *data = NULL;
  if (place[0] < 0 || place[0] > items || place[1] < 0 || place[1] >= b->count)
    TSL_FAIL(TSL_ERR_INTERNAL, "item %lld, capacity %lld are not kept", (long long)*item,
             (long long)*capacity);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->items, 16 * (items + 1), "taken items"));
  data = (int64_t *)b->items.data;
  TSL_CUDA_TRY(cudaMemcpyAsync(data, place, 16, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(data + 2, b->weights + b->kept_lo, bytes, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(data + 2 + items, 0, bytes, stream));
  TSL_LAUNCH(taken_kernel, dim3(1), DP_WARP, 0, stream, (const uint32_t *)b->bits.data,
             tsl_ceil_div(b->count, 32), b->unbounded, data + 2, data + 2 + items,
             (long long *)data);
  TSL_CUDA_TRY(cudaMemcpyAsync(place, data, 16, cudaMemcpyDefault, stream));
  TSL_TRY(tsl_gpu_copy(b->card, taken, data + 2 + items, bytes));
  *item = b->kept_lo + place[0];
  *capacity = b->first + place[1];
done:
  return err;
}
