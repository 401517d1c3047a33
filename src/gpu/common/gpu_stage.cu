/* Moves through two pieces of pinned memory: one is on its way while threads copy the other. */
#include "gpu_stage.cuh"
#include "parallel.h"

#include <string.h>

enum { STAGE_PIECE = 8 << 20, STAGE_RANGE = 256 << 10 }; /* bytes of a piece, of a range */

tsl_err tsl_gpu_stage_create(tsl_gpu_stage *stage) {
  tsl_err err = TSL_OK;
  *stage = {};
  for (int s = 0; s < 2; s++) {
    TSL_TRY(tsl_gpu_host_alloc(STAGE_PIECE, (void **)&stage->piece[s]));
    TSL_CUDA_TRY(cudaEventCreateWithFlags(&stage->moved[s], cudaEventDisableTiming));
  }
done:
  if (err != TSL_OK) tsl_gpu_stage_destroy(stage);
  return err;
}

void tsl_gpu_stage_destroy(tsl_gpu_stage *stage) {
  for (int s = 0; s < 2; s++) {
    tsl_gpu_host_free(stage->piece[s]);
    if (stage->moved[s] != NULL) (void)cudaEventDestroy(stage->moved[s]);
  }
  *stage = {};
}

/* Between a piece and the program's memory. */
typedef struct copying {
  char *to;
  const char *from;
} copying;

static tsl_err copy_range(void *context, int slot, int64_t lo, int64_t hi) {
  const copying *c = (const copying *)context;
  (void)slot;
  memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
  return TSL_OK;
}

static void copy_shared(void *to, const void *from, int64_t bytes) {
  copying c = {(char *)to, (const char *)from};
  (void)tsl_parallel(bytes, STAGE_RANGE, copy_range, &c); /* a copy does not fail */
}

static int64_t piece_bytes(int64_t bytes, int64_t at) {
  return bytes - at < STAGE_PIECE ? bytes - at : (int64_t)STAGE_PIECE;
}

tsl_err tsl_gpu_fetch(tsl_gpu_stage *stage, const void *from, int64_t bytes, void *to,
                      cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const int64_t pieces = tsl_ceil_div(bytes, STAGE_PIECE);
  for (int64_t p = 0; p <= pieces; p++) {
    const int64_t at = p * STAGE_PIECE, before = at - STAGE_PIECE;
    if (p < pieces) {
      TSL_CUDA_TRY(cudaMemcpyAsync(stage->piece[p % 2], (const char *)from + at,
                                   (size_t)piece_bytes(bytes, at), cudaMemcpyDeviceToHost, stream));
      TSL_CUDA_TRY(cudaEventRecord(stage->moved[p % 2], stream));
    }
    if (p == 0) continue;
    TSL_CUDA_TRY(cudaEventSynchronize(stage->moved[(p + 1) % 2]));
    copy_shared((char *)to + before, stage->piece[(p + 1) % 2], piece_bytes(bytes, before));
  }
done:
  return err;
}

tsl_err tsl_gpu_send(tsl_gpu_stage *stage, const void *from, int64_t bytes, void *to,
                     cudaStream_t stream) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0, s = 0; at < bytes; at += STAGE_PIECE, s = 1 - s) {
    const int64_t n = piece_bytes(bytes, at);
    TSL_CUDA_TRY(cudaEventSynchronize(stage->moved[s]));
    copy_shared(stage->piece[s], (const char *)from + at, n);
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)to + at, stage->piece[s], (size_t)n,
                                 cudaMemcpyHostToDevice, stream));
    TSL_CUDA_TRY(cudaEventRecord(stage->moved[s], stream));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(stream));
done:
  return err;
}
