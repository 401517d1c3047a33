/* The memory of a card as a table of operations for the driver of dp (dp_host.h). */
#include "dp_backend_gpu.cuh"

/* By dp_copy_kind. */
static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                       cudaMemcpyDeviceToDevice};

static dp_card *card_of(void *device) {
  return (dp_card *)device;
}

static tsl_err card_reserve(void *device, dp_buffer *buffer, int64_t bytes, const char *what) {
  tsl_gpu_buffer held = {buffer->data, buffer->bytes};
  const tsl_err err = tsl_gpu_reserve(&card_of(device)->memory, &held, bytes, what);
  *buffer = dp_buffer{held.data, held.bytes};
  return err;
}

static void card_release(void *device, dp_buffer *buffer) {
  tsl_gpu_buffer held = {buffer->data, buffer->bytes};
  tsl_gpu_release(&card_of(device)->memory, &held);
  *buffer = dp_buffer{};
}

/* Plain host memory has been read when the copy to the card returns. */
static tsl_err card_copy(void *device, void *to, const void *from, int64_t bytes,
                         dp_copy_kind kind) {
  tsl_err err = TSL_OK;
  if (bytes > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, kinds[kind], card_of(device)->stream));
done:
  return err;
}

static tsl_err card_copy_rows(void *device, void *to, int64_t to_step, const void *from,
                              int64_t from_step, int64_t bytes, int64_t rows, dp_copy_kind kind) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpy2DAsync(to, (size_t)to_step, from, (size_t)from_step, (size_t)bytes,
                                 (size_t)rows, kinds[kind], card_of(device)->stream));
done:
  return err;
}

static tsl_err card_zero(void *device, void *memory, int64_t bytes) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(memory, 0, (size_t)bytes, card_of(device)->stream));
done:
  return err;
}

static tsl_err card_wait(void *device) {
  return dp_card_wait(card_of(device));
}

static int64_t card_left(void *device) {
  const tsl_gpu_memory *memory = &card_of(device)->memory;
  return memory->limit > 0 ? memory->limit - memory->used : INT64_MAX;
}

tsl_err dp_pinned_reserve(dp_buffer *buffer, int64_t bytes) {
  tsl_err err = TSL_OK;
  if (bytes <= buffer->bytes) return TSL_OK;
  dp_pinned_release(buffer);
  TSL_CUDA_TRY(cudaHostAlloc(&buffer->data, (size_t)bytes, cudaHostAllocPortable));
  buffer->bytes = bytes;
done:
  if (err != TSL_OK) buffer->data = NULL;
  return err;
}

void dp_pinned_release(dp_buffer *buffer) {
  if (buffer->data != NULL) (void)cudaFreeHost(buffer->data);
  *buffer = dp_buffer{};
}

const dp_memory_ops dp_memory_card = {
    .reserve = card_reserve,
    .release = card_release,
    .copy = card_copy,
    .copy_rows = card_copy_rows,
    .zero = card_zero,
    .wait = card_wait,
    .left = card_left,
    .reserve_pinned = dp_pinned_reserve,
    .release_pinned = dp_pinned_release,
};
