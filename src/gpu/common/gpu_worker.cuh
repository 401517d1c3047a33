/**
 * @file gpu_worker.cuh
 * What workers of a card begin with.
 */
#pragma once

#include "gpu.cuh"

/** Limit of the memory, multiprocessors, stream and timer of a zeroed worker, whose close gives
 *  them back on failure, too. @return TSL_ERR_DEVICE */
template <class W> tsl_err tsl_gpu_worker_open(W *w, const tsl_device *device) {
  tsl_err err = TSL_OK;
  w->memory.limit = device->memory_limit;
  TSL_CUDA_TRY(
      cudaDeviceGetAttribute(&w->processors, cudaDevAttrMultiProcessorCount, device->index));
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_gpu_timer_create(&w->timer));
done:
  return err;
}
