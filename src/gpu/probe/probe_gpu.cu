/* The card as a whole: what it could reach by its data sheet, and the groups in order. */
#include "probe_gpu.cuh"

static tsl_err attribute(cudaDeviceAttr which, int index, double *value) {
  tsl_err err = TSL_OK;
  int number = 0;
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&number, which, index));
  *value = number;
done:
  return err;
}

static tsl_err open_card(const tsl_device *device, probe_card *card) {
  static const int64_t BYTES = (int64_t)256 << 20;
  tsl_err err = TSL_OK;
  double memory_khz = 0, bus_bits = 0, khz = 0;
  *card = {};
  card->processors = device->processors;
  card->capability = device->capability;
  TSL_TRY(attribute(cudaDevAttrMemoryClockRate, device->index, &memory_khz));
  TSL_TRY(attribute(cudaDevAttrGlobalMemoryBusWidth, device->index, &bus_bits));
  TSL_TRY(attribute(cudaDevAttrClockRate, device->index, &khz));
  card->peak_bytes = 2 * memory_khz * 1e3 * bus_bits / 8; // double data rate
  card->clock = khz * 1e3;
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&card->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_gpu_timer_create(&card->timer));
  card->memory.limit = device->memory_limit;
  card->words = BYTES / (int64_t)sizeof(float);
  TSL_TRY(tsl_gpu_reserve(&card->memory, &card->a, BYTES, "probe"));
  TSL_TRY(tsl_gpu_reserve(&card->memory, &card->b, BYTES, "probe"));
  TSL_CUDA_TRY(cudaMemset(card->a.data, 0, (size_t)BYTES));
  TSL_CUDA_TRY(cudaMemset(card->b.data, 0, (size_t)BYTES));
done:
  return err;
}

static void close_card(probe_card *card) {
  tsl_gpu_release(&card->memory, &card->a);
  tsl_gpu_release(&card->memory, &card->b);
  tsl_gpu_timer_destroy(&card->timer);
  if (card->stream != NULL) (void)cudaStreamDestroy(card->stream);
}

tsl_err tsl_gpu_probe(const tsl_device *device, tsl_figures *figures) {
  tsl_err err = TSL_OK;
  const probe_part *const groups[] = {probe_memory, probe_on_chip, probe_code, probe_transfers};
  probe_card card;
  TSL_TRY(open_card(device, &card));
  for (const probe_part *part : groups)
    for (; *part != NULL; part++) TSL_TRY((*part)(&card, figures));
done:
  close_card(&card);
  return err;
}
