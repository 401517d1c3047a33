/* What the engines of dp share on a card. */
#include "dp_gpu.cuh"

#include <stdlib.h>

tsl_err dp_card_open(int64_t memory_limit, dp_card *card) {
  tsl_err err = TSL_OK;
  int device = 0;
  *card = dp_card{};
  card->memory.limit = memory_limit;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&card->processors, cudaDevAttrMultiProcessorCount, device));
  TSL_CUDA_TRY(
      cudaDeviceGetAttribute(&card->shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&card->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_gpu_timer_create(&card->timer));
  TSL_TRY(tsl_gpu_reserve(&card->memory, &card->ticket, 32, "tickets"));
  TSL_TRY(dp_card_reset(card));
done:
  if (err != TSL_OK) dp_card_close(card);
  return err;
}

void dp_card_close(dp_card *card) {
  tsl_gpu_release(&card->memory, &card->ticket);
  tsl_gpu_timer_destroy(&card->timer);
  if (card->stream != NULL) (void)cudaStreamDestroy(card->stream);
  *card = dp_card{};
}

tsl_err dp_card_wait(dp_card *card) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaStreamSynchronize(card->stream));
done:
  return err;
}

bool dp_card_holds(const void *memory) {
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
}

tsl_err dp_card_reset(dp_card *card) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(card->ticket.data, 0, 32, card->stream));
done:
  return err;
}

int dp_card_warps(const dp_card *card, int64_t strips) {
  const int64_t each = tsl_ceil_div(strips, card->processors);
  return each >= 4 ? 4 : each >= 2 ? 2 : 1;
}

int dp_card_most_warps(void) {
  const char *text = getenv("TSL_TEST_WARPS");
  const int most = text != NULL ? atoi(text) : 0;
  return most > 0 ? most : 0;
}

tsl_err dp_card_blocks(const dp_card *card, const void *kernel, int warps, size_t shared_bytes,
                       int64_t strips, unsigned *blocks) {
  tsl_err err = TSL_OK;
  int resident = 0;
  if (shared_bytes > 48 * 1024)
    TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)shared_bytes));
  TSL_CUDA_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 32 * warps, shared_bytes));
  if (resident < 1)
    TSL_FAIL(TSL_ERR_DEVICE, "card %s: a block of %d warps with %zu bytes does not fit",
             tsl_gpu_card(), warps, shared_bytes);
  if (dp_card_most_warps() > 0 && warps * resident > dp_card_most_warps())
    resident = dp_card_most_warps() > warps ? dp_card_most_warps() / warps : 1;
  {
    const int64_t most = (int64_t)resident * card->processors, want = tsl_ceil_div(strips, warps);
    *blocks = (unsigned)(want < most ? want : most);
  }
done:
  return err;
}
