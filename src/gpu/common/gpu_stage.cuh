/**
 * @file gpu_stage.cuh
 * Moves between a card and memory that the program allocates itself, by all threads of the process:
 * the driver's own way through pageable memory uses one.
 */
#pragma once

#include "gpu.cuh"

/** Two pieces of pinned memory, used in turn. */
typedef struct tsl_gpu_stage {
  char *piece[2];
  cudaEvent_t moved[2];
} tsl_gpu_stage;

/** Make both pieces; on failure none is left. @return TSL_ERR_MEMORY or TSL_ERR_DEVICE */
tsl_err tsl_gpu_stage_create(tsl_gpu_stage *stage);
/** Free both; a zeroed stage is accepted. */
void tsl_gpu_stage_destroy(tsl_gpu_stage *stage);

/** Copy bytes of device memory to the host's, after what the stream has done so far. Threads empty
 *  a piece while the other one fills, and touch the pages of new memory. Waits. */
tsl_err tsl_gpu_fetch(tsl_gpu_stage *stage, const void *from, int64_t bytes, void *to,
                      cudaStream_t stream);
/** The same from the host's memory to the device's. */
tsl_err tsl_gpu_send(tsl_gpu_stage *stage, const void *from, int64_t bytes, void *to,
                     cudaStream_t stream);
