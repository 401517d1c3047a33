/* Bands of alignments with affine gaps: tiles that begin while the one before drains. */
#include "dp_affine_band.cuh"

/* Streams, events and a third set of rows. */
static tsl_err open_chain(dp_affine *b) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  if (c->open) return TSL_OK;
  TSL_TRY(dp_affine_reserve_set(b, 2));
  b->sides = 3;
  for (cudaStream_t &stream : c->streams)
    if (stream == NULL) TSL_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int k = 0; k < 3; k++) {
    if (c->begin[k] == NULL) TSL_CUDA_TRY(cudaEventCreate(&c->begin[k]));
    if (c->end[k] == NULL) TSL_CUDA_TRY(cudaEventCreate(&c->end[k]));
  }
  if (c->ready == NULL) TSL_CUDA_TRY(cudaEventCreateWithFlags(&c->ready, cudaEventDisableTiming));
  if (c->spoiled == NULL)
    TSL_CUDA_TRY(
        cudaHostAlloc((void **)&c->spoiled, 2 * sizeof *c->spoiled, cudaHostAllocPortable));
  c->open = true;
done:
  return err;
}

void dp_affine_chain_close(dp_affine *b) {
  dp_affine_chain *c = &b->chain;
  for (cudaStream_t stream : c->streams)
    if (stream != NULL) {
      (void)cudaStreamSynchronize(stream);
      (void)cudaStreamDestroy(stream);
    }
  for (cudaEvent_t event :
       {c->begin[0], c->begin[1], c->begin[2], c->end[0], c->end[1], c->end[2], c->ready})
    if (event != NULL) (void)cudaEventDestroy(event);
  if (c->spoiled != NULL) (void)cudaFreeHost(c->spoiled);
  *c = dp_affine_chain{};
}

/* ---- queue */

/* The edge that came in is where it belongs: what strips write is E', and counters are zero. */
static tsl_err queue_edge(dp_affine *b, int64_t k, int64_t lo, const int32_t *left) {
  tsl_err err = TSL_OK;
  const dp_affine_flight *f = &b->chain.flights[k % 2];
  cudaStream_t stream = b->chain.streams[k % 2];
  TSL_TRY(dp_affine_enter(b, (int)(k % 2), lo, f->rows, left, stream));
  if (f->shape.bits == 16) TSL_TRY(dp_narrow_save(b, (int)(k % 2), f->rows, stream));
done:
  return err;
}

/* All that comes back, by copies alone: kernels might wait for the next launch to end. */
static tsl_err queue_results(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  const dp_affine_flight *f = &c->flights[k % 2];
  cudaStream_t stream = c->streams[k % 2];
  if (f->right != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(f->right, b->own[k % 2].edge.data, (size_t)(8 * (f->rows + 1)),
                                 cudaMemcpyDeviceToHost, stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(&c->spoiled[k % 2], (uint32_t *)b->flags.data + k % 2, 4,
                               cudaMemcpyDeviceToHost, stream));
  TSL_CUDA_TRY(cudaEventRecord(c->end[k % 3], stream));
done:
  return err;
}

/* After what the card's own stream has done for it, and all that the launch before needs to begin.
 */
static tsl_err queue_order(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  cudaStream_t stream = c->streams[k % 2];
  TSL_CUDA_TRY(cudaEventRecord(c->ready, b->card->stream));
  TSL_CUDA_TRY(cudaStreamWaitEvent(stream, c->ready, 0));
  if (k > c->finished) TSL_CUDA_TRY(cudaStreamWaitEvent(stream, c->begin[(k - 1) % 3], 0));
done:
  return err;
}

static tsl_err queue_kernel(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  dp_affine_flight *f = &c->flights[k % 2];
  TSL_CUDA_TRY(cudaEventRecord(c->begin[k % 3], c->streams[k % 2]));
  TSL_TRY(dp_affine_launch(b, &f->args, f->shape, DP_AFFINE_VALUES, c->streams[k % 2], true));
done:
  return err;
}

/* Launches that overlap have places of the same size on the card. */
static bool fits_behind(const dp_affine_chain *c, dp_affine_shape shape) {
  const dp_affine_shape before = c->flights[(c->started + 1) % 2].shape;
  return c->started == c->finished || (before.bits == shape.bits && before.width == shape.width);
}

static tsl_err may_start(const dp_affine *b, int64_t lo, int64_t hi, dp_affine_shape shape) {
  tsl_err err = TSL_OK;
  const dp_affine_chain *c = &b->chain;
  TSL_TRY(dp_affine_check_rows(b, lo, hi));
  if (hi == lo || b->m == 0 || c->started - c->finished >= 2 || !fits_behind(c, shape))
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld of %lld columns cannot start behind %lld tiles",
             (long long)lo, (long long)hi, (long long)b->m, (long long)(c->started - c->finished));
done:
  return err;
}

static dp_affine_args args_of(const dp_affine *b, int64_t k, int64_t lo, int64_t hi) {
  const int own = (int)(k % 2);
  uint32_t *flags = (uint32_t *)b->flags.data;
  dp_affine_args args = dp_affine_args_of(b, own, lo, hi);
  if (b->chain.flights[own].shape.bits == 16) {
    args.spoiled = flags + own;
    args.given_up = k > b->chain.finished ? flags + 1 - own : NULL;
  }
  return args;
}

tsl_err dp_affine_start(dp_affine *b, int64_t lo, int64_t hi, const int32_t *left, int32_t *right) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  const int64_t k = c->started;
  const dp_affine_shape shape = dp_affine_choose(b, DP_AFFINE_VALUES);
  dp_affine_flight *f = &c->flights[k % 2];
  TSL_TRY(may_start(b, lo, hi, shape));
  TSL_TRY(open_chain(b));
  *f = dp_affine_flight{};
  f->rows = hi - lo;
  f->right = right;
  f->shape = shape;
  TSL_TRY(queue_order(b, k));
  TSL_TRY(queue_edge(b, k, lo, left));
  f->args = args_of(b, k, lo, hi);
  TSL_TRY(queue_kernel(b, k));
  b->number++;
  b->now = (b->now + 1) % b->sides;
  b->row = hi;
  b->last = (int)(k % 2);
  b->edge_rows = hi - lo;
  c->started++;
  TSL_TRY(queue_results(b, k));
done:
  return err;
}

/* ---- finish */

/* Queue: the edge as it came in, counters at zero. */
static tsl_err put_back(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_own *own = &b->own[k % 2];
  const dp_affine_flight *f = &b->chain.flights[k % 2];
  cudaStream_t stream = b->chain.streams[k % 2];
  TSL_CUDA_TRY(cudaMemcpyAsync(own->edge.data, own->old_edge.data, (size_t)(8 * (f->rows + 1)),
                               cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(own->counters.data, 0, (size_t)own->counters.bytes, stream));
  TSL_CUDA_TRY(cudaMemsetAsync((uint32_t *)b->flags.data + k % 2, 0, 4, stream));
done:
  return err;
}

/* In 32 bits, with nothing else on the card. */
static tsl_err again_wide(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  dp_affine_flight *f = &c->flights[k % 2];
  TSL_TRY(put_back(b, k));
  f->args.spoiled = NULL;
  f->args.given_up = NULL;
  TSL_TRY(dp_affine_launch(b, &f->args, dp_affine_choose_wide(b, DP_AFFINE_VALUES),
                           DP_AFFINE_VALUES, c->streams[k % 2], false));
  TSL_TRY(queue_results(b, k));
  TSL_CUDA_TRY(cudaStreamSynchronize(c->streams[k % 2]));
  b->redone++;
done:
  return err;
}

/* Tile k did not hold. The one behind it, if any, has given up with it or has still to: when both
 * have ended k is done again, and then the other begins anew. */
static tsl_err repair(dp_affine *b, int64_t k) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  const bool behind = c->started > k + 1;
  if (behind) TSL_CUDA_TRY(cudaEventSynchronize(c->end[(k + 1) % 3]));
  TSL_TRY(again_wide(b, k));
  if (!behind || c->spoiled[(k + 1) % 2] == 0) goto done;
  TSL_TRY(put_back(b, k + 1));
  c->flights[(k + 1) % 2].args.given_up = NULL;
  TSL_TRY(queue_kernel(b, k + 1));
  TSL_TRY(queue_results(b, k + 1));
done:
  return err;
}

/* From the later of the tile's begin and the end of the one before; 0 where its results were on the
 * host before that one's were: copies of two streams keep no order. */
static tsl_err take_seconds(const dp_affine_chain *c, int64_t k, double *seconds) {
  tsl_err err = TSL_OK;
  float own = 0, after = 0;
  TSL_CUDA_TRY(cudaEventElapsedTime(&own, c->begin[k % 3], c->end[k % 3]));
  if (k > 0) TSL_CUDA_TRY(cudaEventElapsedTime(&after, c->end[(k - 1) % 3], c->end[k % 3]));
  if (k > 0 && after < own) own = after > 0 ? after : 0;
  *seconds = 1e-3 * own;
done:
  return err;
}

bool dp_affine_ended(const dp_affine *b) {
  const dp_affine_chain *c = &b->chain;
  if (c->started == c->finished) return true;
  if (cudaEventQuery(c->end[c->finished % 3]) != cudaErrorNotReady) return true;
  (void)cudaGetLastError(); /* it is no error */
  return false;
}

tsl_err dp_affine_finish(dp_affine *b, double *seconds) {
  tsl_err err = TSL_OK;
  dp_affine_chain *c = &b->chain;
  const int64_t k = c->finished;
  *seconds = 0;
  if (c->started == k) TSL_FAIL(TSL_ERR_INTERNAL, "no tile is started");
  TSL_CUDA_TRY(cudaEventSynchronize(c->end[k % 3]));
  if (c->spoiled[k % 2] != 0) TSL_TRY(repair(b, k));
  TSL_TRY(take_seconds(c, k, seconds));
done:
  if (c->started > k) c->finished++;
  return err;
}
