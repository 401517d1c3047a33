/**
 * @file gpu.cuh
 * What every CUDA file uses: checked calls and launches, accounted device memory, event timers.
 *
 * TSL_CUDA_TRY and TSL_LAUNCH need `tsl_err err = TSL_OK;` and a label `done:`. A device error
 * names the card by its UUID. Device memory is counted against the limit the runtime gave.
 * With the environment variable TSL_CUDA_SYNC set, every launch is waited for, so that an error
 * is reported at the kernel that made it.
 */
#pragma once

#include "contract.h"

#include <cuda_runtime.h>

/** Remember the card of this thread for messages; id is copied. */
void tsl_gpu_name_card(const char *id);

/** UUID of this thread's card, "GPU-..."; static storage of the thread. */
const char *tsl_gpu_card(void);

/**
 * Start an error message for a CUDA status and clear it.
 * @return TSL_ERR_DEVICE_MEMORY for an allocation that did not fit, else TSL_ERR_DEVICE
 */
tsl_err tsl_gpu_fail(cudaError_t status, const char *what, const char *file, int line);

/** Check a launch just made; waits for it when TSL_CUDA_SYNC is set. */
tsl_err tsl_gpu_launched(const char *kernel, cudaStream_t stream, const char *file, int line);

#define TSL_CUDA_TRY(call)                                         \
  do {                                                             \
    const cudaError_t cuda_status_ = (call);                       \
    if (cuda_status_ != cudaSuccess) {                             \
      err = tsl_gpu_fail(cuda_status_, #call, __FILE__, __LINE__); \
      goto done;                                                   \
    }                                                              \
  } while (0)

/** Launch a kernel (an expression; put a template-id in parentheses). An empty grid does nothing.
 */
#define TSL_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)        \
  do {                                                                    \
    const dim3 grid_(grid), block_(block);                                \
    if (grid_.x != 0 && grid_.y != 0 && grid_.z != 0) {                   \
      (kernel)<<<grid_, block_, (shared_bytes), (stream)>>>(__VA_ARGS__); \
      err = tsl_gpu_launched(#kernel, (stream), __FILE__, __LINE__);      \
      if (err != TSL_OK) goto done;                                       \
    }                                                                     \
  } while (0)

/** Device memory of one worker. */
typedef struct tsl_gpu_memory {
  int64_t limit; /**< bytes this worker may hold; 0: what the card gives */
  int64_t used;  /**< bytes held now */
} tsl_gpu_memory;

/** A piece of device memory that grows; zero-initialise, release at the end. */
typedef struct tsl_gpu_buffer {
  void *data; /**< device memory, aligned to 256 bytes */
  int64_t bytes;
} tsl_gpu_buffer;

/**
 * Make a buffer at least this large. A buffer that has to grow loses its contents.
 * Waits for the device when it has to free memory (cudaFree does).
 * @return TSL_ERR_DEVICE_MEMORY when the limit or the card does not allow it; the buffer is then
 * empty
 */
tsl_err tsl_gpu_reserve(tsl_gpu_memory *memory, tsl_gpu_buffer *buffer, int64_t bytes,
                        const char *what);

/** tsl_gpu_reserve, and host memory to it, queued. w: a worker or card: its memory, its stream. */
template <class W>
tsl_err tsl_gpu_upload(W *w, tsl_gpu_buffer *buffer, const void *from, int64_t bytes,
                       const char *what) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, buffer, bytes, what));
  if (bytes > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(buffer->data, from, (size_t)bytes, cudaMemcpyDefault, w->stream));
done:
  return err;
}

/** Copy bytes to, from or on the card, and wait for the stream of a worker or card. */
template <class W> tsl_err tsl_gpu_copy(W *w, void *to, const void *from, int64_t bytes) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, w->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

/** Give the memory back; an empty buffer is accepted. */
void tsl_gpu_release(tsl_gpu_memory *memory, tsl_gpu_buffer *buffer);

/** tsl_backend.host_alloc: pinned memory that kernels may write to. @return TSL_ERR_MEMORY */
tsl_err tsl_gpu_host_alloc(int64_t bytes, void **out);
/** tsl_backend.host_free; NULL is accepted. */
void tsl_gpu_host_free(void *memory);

/** Device time between two points of a stream. */
typedef struct tsl_gpu_timer {
  cudaEvent_t begin, end;
} tsl_gpu_timer;

/** Make both events; on failure none is left. @return TSL_ERR_DEVICE */
tsl_err tsl_gpu_timer_create(tsl_gpu_timer *timer);
/** Free both events; a zeroed timer is accepted. */
void tsl_gpu_timer_destroy(tsl_gpu_timer *timer);
/** Mark the begin in the stream; does not wait. */
tsl_err tsl_gpu_timer_start(tsl_gpu_timer *timer, cudaStream_t stream);
/** Mark the end, wait for it. @param[out] seconds  since start */
tsl_err tsl_gpu_timer_stop(tsl_gpu_timer *timer, cudaStream_t stream, double *seconds);

/** ceil(a / b) for a >= 0, b > 0. */
static __host__ __device__ __forceinline__ int64_t tsl_ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
