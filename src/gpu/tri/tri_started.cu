/* Batches that are under way while the one before ends: their order, and the time of each. */
#include "tri_gpu.cuh"

enum { N_TIMERS = TSL_MOST_STARTED + 1 };

tsl_err tri_started_open(tri_started *s) {
  tsl_err err = TSL_OK;
  for (tsl_gpu_timer &timer : s->timers) TSL_TRY(tsl_gpu_timer_create(&timer));
done:
  return err;
}

void tri_started_close(tri_started *s) {
  for (tsl_gpu_timer &timer : s->timers) tsl_gpu_timer_destroy(&timer);
}

/* Timers go round, so that the one of the batch before is still there when a batch ends. */
static const tsl_gpu_timer *timer_of(const tri_started *s, int64_t batch) {
  return &s->timers[batch % N_TIMERS];
}

const tsl_gpu_timer *tri_started_timer(const tri_started *s) {
  return timer_of(s, s->finished + s->n);
}

/* cudaErrorNotReady is none: it must not show at the next launch. */
bool tri_batch_ended(tsl_worker *worker) {
  const tri_started *s = &((const tri_gpu *)worker)->started;
  const cudaError_t status = cudaEventQuery(timer_of(s, s->finished)->end);
  if (status == cudaErrorNotReady) (void)cudaGetLastError();
  return status != cudaErrorNotReady;
}

/* Seconds from the later of the batch's begin and the end of all before it to its own end. */
static tsl_err busy_seconds(tri_started *s, double *seconds) {
  tsl_err err = TSL_OK;
  const tsl_gpu_timer *mine = timer_of(s, s->finished);
  const tsl_gpu_timer *before = timer_of(s, s->finished + N_TIMERS - 1);
  float own = 0, after = 0;
  double since = 0;
  TSL_CUDA_TRY(cudaEventSynchronize(mine->end));
  TSL_CUDA_TRY(cudaEventElapsedTime(&own, mine->begin, mine->end));
  *seconds = own * 1e-3;
  if (s->finished == 0) return TSL_OK;
  TSL_CUDA_TRY(cudaEventElapsedTime(&after, before->end, mine->end));
  since = after * 1e-3 - s->late; /* the end of all before */
  s->late = since < 0 ? -since : 0;
  if (since < *seconds) *seconds = since > 0 ? since : 0;
done:
  return err;
}

tsl_err tri_batch_finish(tsl_worker *worker) {
  tsl_err err = TSL_OK;
  tri_gpu *w = (tri_gpu *)worker;
  tri_started *s = &w->started;
  const tri_batch batch = s->batches[0];
  double seconds = 0;
  if (s->n == 0) TSL_FAIL(TSL_ERR_INTERNAL, "no batch is started");
  err = busy_seconds(s, &seconds);
  for (int k = 1; k < s->n; k++) s->batches[k - 1] = s->batches[k];
  s->n--;
  s->finished++;
  TSL_TRY(err);
  tsl_seconds_spread(seconds, batch.units, batch.n, batch.parts);
done:
  return err;
}
