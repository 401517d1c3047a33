/* Results through two pieces of pinned memory: one fills while threads empty the other. */
#include "gpu_stage.cuh"
#include "parallel.h"

#include <string.h>

enum { STAGE_PIECE = 4 << 20, STAGE_RANGE = 128 << 10 }; /* bytes of a piece, of a thread's share */

tsl_err tsl_gpu_stage_create(tsl_gpu_stage *stage) {
  tsl_err err = TSL_OK;
  *stage = {};
  for (int s = 0; s < 2; s++) {
    TSL_TRY(tsl_gpu_host_alloc(STAGE_PIECE, (void **)&stage->piece[s]));
    TSL_CUDA_TRY(cudaEventCreateWithFlags(&stage->full[s], cudaEventDisableTiming));
  }
done:
  if (err != TSL_OK) tsl_gpu_stage_destroy(stage);
  return err;
}

void tsl_gpu_stage_destroy(tsl_gpu_stage *stage) {
  for (int s = 0; s < 2; s++) {
    tsl_gpu_host_free(stage->piece[s]);
    if (stage->full[s] != NULL) (void)cudaEventDestroy(stage->full[s]);
  }
  *stage = {};
}

/* A piece that is full, and where it goes. */
typedef struct emptying {
  const char *from;
  char *to;
} emptying;

static tsl_err empty_range(void *context, int slot, int64_t lo, int64_t hi) {
  const emptying *e = (const emptying *)context;
  (void)slot;
  memcpy(e->to + lo, e->from + lo, (size_t)(hi - lo));
  return TSL_OK;
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
    emptying e = {stage->piece[(p + 1) % 2], (char *)to + before};
    if (p < pieces) {
      TSL_CUDA_TRY(cudaMemcpyAsync(stage->piece[p % 2], (const char *)from + at,
                                   (size_t)piece_bytes(bytes, at), cudaMemcpyDeviceToHost, stream));
      TSL_CUDA_TRY(cudaEventRecord(stage->full[p % 2], stream));
    }
    if (p == 0) continue;
    TSL_CUDA_TRY(cudaEventSynchronize(stage->full[(p + 1) % 2]));
    TSL_TRY(tsl_parallel(piece_bytes(bytes, before), STAGE_RANGE, empty_range, &e));
  }
done:
  return err;
}
