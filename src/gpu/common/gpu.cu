/* Messages of CUDA errors with the card's UUID, device memory counted against the worker's limit,
 * and timers of two events. */
#include "gpu.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static thread_local char card_id[48] = "GPU (none selected)";

void tsl_gpu_name_card(const char *id) {
  (void)snprintf(card_id, sizeof card_id, "%s", id);
}

const char *tsl_gpu_card(void) {
  return card_id;
}

tsl_err tsl_gpu_fail(cudaError_t status, const char *what, const char *file, int line) {
  const tsl_err code = status == cudaErrorMemoryAllocation ? TSL_ERR_DEVICE_MEMORY : TSL_ERR_DEVICE;
  (void)cudaGetLastError();
  return tsl_fail(code, file, line, "card %s: %s: %s (%s)", card_id, what,
                  cudaGetErrorString(status), cudaGetErrorName(status));
}

static bool waits_for_launches(void) {
  static const bool waits = getenv("TSL_CUDA_SYNC") != NULL;
  return waits;
}

tsl_err tsl_gpu_launched(const char *kernel, cudaStream_t stream, const char *file, int line) {
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess && waits_for_launches()) status = cudaStreamSynchronize(stream);
  return status == cudaSuccess ? TSL_OK : tsl_gpu_fail(status, kernel, file, line);
}

tsl_err tsl_gpu_reserve(tsl_gpu_memory *memory, tsl_gpu_buffer *buffer, int64_t bytes,
                        const char *what) {
  tsl_err err = TSL_OK;
  char wanted[24], limit[24];
  if (bytes <= buffer->bytes) return TSL_OK;
  tsl_gpu_release(memory, buffer);
  if (memory->limit > 0 && bytes > memory->limit - memory->used)
    TSL_FAIL(
        TSL_ERR_DEVICE_MEMORY,
        "card %s: %s needs %s, which goes beyond the limit of %s; raise the limit or use fewer "
        "points",
        card_id, what, tsl_bytes_text((double)bytes, wanted),
        tsl_bytes_text((double)memory->limit, limit));
  if (cudaMalloc(&buffer->data, (size_t)bytes) != cudaSuccess) {
    buffer->data = NULL;
    const cudaError_t status = cudaGetLastError();
    if (status != cudaErrorMemoryAllocation) return tsl_gpu_fail(status, what, __FILE__, __LINE__);
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "card %s: %s: no device memory for %s (this rank holds %s)",
             card_id, what, tsl_bytes_text((double)bytes, wanted),
             tsl_bytes_text((double)memory->used, limit));
  }
  buffer->bytes = bytes;
  memory->used += bytes;
done:
  return err;
}

void tsl_gpu_release(tsl_gpu_memory *memory, tsl_gpu_buffer *buffer) {
  if (buffer->data == NULL) return;
  (void)cudaFree(buffer->data);
  memory->used -= buffer->bytes;
  buffer->data = NULL;
  buffer->bytes = 0;
}

tsl_err tsl_gpu_host_alloc(int64_t bytes, void **out) {
  tsl_err err = TSL_OK;
  char text[24];
  *out = NULL;
  if (cudaHostAlloc(out, (size_t)(bytes > 0 ? bytes : 1),
                    cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
    (void)cudaGetLastError();
    TSL_FAIL(TSL_ERR_MEMORY, "no pinned host memory for a slab of %s; lower the memory limit",
             tsl_bytes_text((double)bytes, text));
  }
done:
  return err;
}

void tsl_gpu_host_free(void *memory) {
  if (memory != NULL) (void)cudaFreeHost(memory);
}

tsl_err tsl_gpu_timer_create(tsl_gpu_timer *timer) {
  tsl_err err = TSL_OK;
  timer->begin = timer->end = NULL;
  TSL_CUDA_TRY(cudaEventCreate(&timer->begin));
  TSL_CUDA_TRY(cudaEventCreate(&timer->end));
done:
  if (err != TSL_OK) tsl_gpu_timer_destroy(timer);
  return err;
}

void tsl_gpu_timer_destroy(tsl_gpu_timer *timer) {
  if (timer->begin != NULL) (void)cudaEventDestroy(timer->begin);
  if (timer->end != NULL) (void)cudaEventDestroy(timer->end);
  timer->begin = timer->end = NULL;
}

tsl_err tsl_gpu_timer_start(tsl_gpu_timer *timer, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaEventRecord(timer->begin, stream));
done:
  return err;
}

tsl_err tsl_gpu_timer_stop(tsl_gpu_timer *timer, cudaStream_t stream, double *seconds) {
  tsl_err err = TSL_OK;
  float milliseconds = 0;
  TSL_CUDA_TRY(cudaEventRecord(timer->end, stream));
  TSL_CUDA_TRY(cudaEventSynchronize(timer->end));
  TSL_CUDA_TRY(cudaEventElapsedTime(&milliseconds, timer->begin, timer->end));
  *seconds = milliseconds * 1e-3;
done:
  return err;
}
