/* Batches of forces on a card. The last blocks of a batch leave much of the card idle, so a second
 * batch is under way meanwhile, on streams and buffers of its own: its blocks fill what the first
 * leaves free. The short kernel that follows the long one of a batch has a stream of high priority:
 * else it would have to wait until all blocks of the other batch have begun. The bits of a row do
 * not depend on any of it (tri_gravity.cu).
 *
 * A lane's buffers grow with the largest batch; growing waits for the card (cudaFree). */
#include "tri_gpu.cuh"

/* ------------------------------------------------------------------- lanes */

static tsl_err open_lane(tri_lane *lane, int low, int high) {
  tsl_err err = TSL_OK;
  for (cudaStream_t &stream : lane->sums)
    TSL_CUDA_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, low));
  TSL_CUDA_TRY(cudaStreamCreateWithPriority(&lane->results, cudaStreamNonBlocking, high));
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&lane->summed, cudaEventDisableTiming));
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&lane->free, cudaEventDisableTiming));
done:
  return err;
}

tsl_err tri_forces_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  int low = 0, high = 0;
  TSL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&low, &high));
  for (tri_lane &lane : w->lanes) TSL_TRY(open_lane(&lane, low, high));
done:
  return err;
}

static void wait_for_lane(const tri_lane *lane) {
  for (cudaStream_t stream : lane->sums)
    if (stream != NULL) (void)cudaStreamSynchronize(stream);
  if (lane->results != NULL) (void)cudaStreamSynchronize(lane->results);
}

static void release_lane(tri_gpu *w, tri_lane *lane) {
  wait_for_lane(lane);
  tsl_gpu_release(&w->memory, &lane->partial);
  tsl_gpu_release(&w->memory, &lane->acc);
  tsl_gpu_release(&w->memory, &lane->phi);
}

void tri_forces_release(tri_gpu *w) {
  for (tri_lane &lane : w->lanes) release_lane(w, &lane);
}

void tri_forces_close(tri_gpu *w) {
  tri_forces_release(w);
  for (tri_lane &lane : w->lanes) {
    if (lane.summed != NULL) (void)cudaEventDestroy(lane.summed);
    if (lane.free != NULL) (void)cudaEventDestroy(lane.free);
    for (cudaStream_t stream : lane.sums)
      if (stream != NULL) (void)cudaStreamDestroy(stream);
    if (lane.results != NULL) (void)cudaStreamDestroy(lane.results);
    lane = {};
  }
}

static bool has_buffers(const tri_lane *lane) {
  return lane->partial.data != NULL || lane->acc.data != NULL || lane->phi.data != NULL;
}

/* ------------------------------------------------------------------- batches */

/* Neighbouring units: the kernel gains from more rows. */
typedef struct rows {
  const tsl_unit *units; /* [n], each beginning where the one before ends */
  tsl_part *parts;       /* [n] */
  int64_t n;
} rows;

/* Copy the forces on rows [a, b) to the slabs of the units they belong to. */
static tsl_err copy_forces(const tri_gpu *w, const tri_lane *lane, const rows *all, int64_t a,
                           int64_t b) {
  tsl_err err = TSL_OK;
  const int64_t d = w->p.d_read;
  const double *acc = (const double *)lane->acc.data, *phi = (const double *)lane->phi.data;
  for (int64_t u = 0; u < all->n; u++) {
    const tsl_unit *unit = &all->units[u];
    const int64_t lo = unit->lo[0] > a ? unit->lo[0] : a, hi = unit->hi[0] < b ? unit->hi[0] : b;
    const int64_t at = lo - unit->lo[0];
    if (lo >= hi) continue;
    TSL_CUDA_TRY(cudaMemcpyAsync((double *)all->parts[u].slab[TRI_OUT] + at * d, acc + (lo - a) * d,
                                 (size_t)((hi - lo) * d * 8), cudaMemcpyDeviceToHost,
                                 lane->results));
    TSL_CUDA_TRY(cudaMemcpyAsync((double *)all->parts[u].slab[TRI_OUT_2] + at, phi + (lo - a),
                                 (size_t)((hi - lo) * 8), cudaMemcpyDeviceToHost, lane->results));
  }
done:
  return err;
}

static tsl_err queue_rows(tri_gpu *w, tri_lane *lane, const rows *all, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const int64_t count = b - a;
  double *partial = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &lane->partial, tri_gravity_bytes(w, count),
                          "partial sums of forces"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &lane->acc, count * w->p.d_read * 8, "accelerations"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &lane->phi, count * 8, "potential"));
  partial = (double *)lane->partial.data;
  for (cudaStream_t stream : lane->sums) TSL_CUDA_TRY(cudaStreamWaitEvent(stream, lane->free, 0));
  TSL_TRY(tri_gravity_sums(w, a, b, partial, lane->sums[0], lane->sums[1]));
  for (cudaStream_t stream : lane->sums) { /* an event may be recorded again when it is awaited */
    TSL_CUDA_TRY(cudaEventRecord(lane->summed, stream));
    TSL_CUDA_TRY(cudaStreamWaitEvent(lane->results, lane->summed, 0));
  }
  TSL_TRY(tri_gravity_combine(w, partial, count, (double *)lane->acc.data, (double *)lane->phi.data,
                              lane->results));
  TSL_CUDA_TRY(cudaEventRecord(lane->free, lane->results));
  TSL_TRY(copy_forces(w, lane, all, a, b));
done:
  return err;
}

/* After rows did not fit: again without what the idle lane holds, else with fewer rows. Not while
 * another batch is under way: the caller comes back when that is finished. */
static bool try_again(tri_gpu *w, const tri_lane *lane, tsl_err failed, int64_t count,
                      int64_t *most) {
  if (failed != TSL_ERR_DEVICE_MEMORY || w->started.n > 0) return false;
  for (tri_lane &other : w->lanes)
    if (&other != lane && has_buffers(&other)) {
      release_lane(w, &other);
      return true;
    }
  return tri_smaller_batch(w, failed, count, most);
}

static tsl_err queue_neighbours(tri_gpu *w, tri_lane *lane, const rows *all) {
  tsl_err err = TSL_OK;
  const int64_t end = all->units[all->n - 1].hi[0];
  int64_t a = all->units[0].lo[0], most = tri_gravity_rows(w, end - a);
  while (a < end) {
    const int64_t b = a + most < end ? a + most : end;
    err = queue_rows(w, lane, all, a, b);
    if (try_again(w, lane, err, b - a, &most)) continue;
    TSL_TRY(err);
    a = b;
  }
done:
  return err;
}

static tsl_err queue_all(tri_gpu *w, const tri_batch *batch, const tsl_gpu_timer *timer) {
  tsl_err err = TSL_OK;
  tri_lane *lane = &w->lanes[batch->lane];
  rows all = {};
  TSL_CUDA_TRY(cudaEventRecord(timer->begin, lane->sums[0]));
  for (int64_t u = 0; u < batch->n; u += all.n) {
    all.units = batch->units + u;
    all.parts = batch->parts + u;
    all.n = tsl_neighbours(all.units, batch->n - u);
    TSL_TRY(queue_neighbours(w, lane, &all));
  }
  TSL_CUDA_TRY(cudaEventRecord(timer->end, lane->results));
done:
  return err;
}

/* The first lane that is free: the one that has had buffers for longest, if only one has room. */
static int free_lane(const tri_started *s) {
  int lane = 0;
  while (lane < s->n && s->batches[0].lane == lane) lane++;
  return lane;
}

tsl_err tri_forces_queue(tri_gpu *w, tri_batch *batch, const tsl_gpu_timer *timer) {
  batch->lane = free_lane(&w->started);
  const tsl_err err = queue_all(w, batch, timer);
  if (err != TSL_OK) release_lane(w, &w->lanes[batch->lane]);
  return err;
}
