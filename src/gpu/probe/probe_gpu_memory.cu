/* Device memory: effective bandwidth by access pattern, layout, items a thread, and warps. */
#include "probe_gpu.cuh"

#include <cstdio>

enum { BLOCK = 256 };

template <class Word>
static __global__ void copy(Word *__restrict__ to, const Word *__restrict__ from, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)BLOCK + threadIdx.x;
  if (i < n) to[i] = from[i];
}

template <int ITEMS>
static __global__ void copy_items(float *__restrict__ to, const float *__restrict__ from,
                                  int64_t n) {
  const int64_t base = blockIdx.x * (int64_t)(BLOCK * ITEMS) + threadIdx.x;
  float item[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; k++) item[k] = base + k * BLOCK < n ? from[base + k * BLOCK] : 0;
#pragma unroll
  for (int k = 0; k < ITEMS; k++)
    if (base + k * BLOCK < n) to[base + k * BLOCK] = item[k];
}

/* Each thread updates the words offset + i * stride. */
static __global__ void update_strided(float *__restrict__ a, int64_t n, int stride, int offset) {
  const int64_t i = (blockIdx.x * (int64_t)BLOCK + threadIdx.x) * stride + offset;
  if (i < n) a[i] += 1;
}

/* Words in a scattered order: multiplication by an odd number permutes a power of two. */
static __global__ void update_scattered(float *__restrict__ a, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)BLOCK + threadIdx.x;
  if (i < n) a[i * 2654435761 & (n - 1)] += 1;
}

static unsigned blocks(int64_t n, int64_t a_block) {
  return (unsigned)tsl_ceil_div(n, a_block);
}

static tsl_err probe_copy(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const double bytes = 2.0 * sizeof(float) * (double)card->words;
  float *to = (float *)card->a.data, *from = (float *)card->b.data;
  double seconds = 0;
  const auto wide = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_LAUNCH((copy<float4>), blocks(card->words / 4, BLOCK), BLOCK, 0, card->stream, (float4 *)to,
               (const float4 *)from, card->words / 4);
  done:
    return err;
  };
  tsl_figures_group(f, "global memory");
  TSL_TRY(probe_best(card, wide, &seconds));
  TSL_TRY(tsl_figures_add(f, "copy, 16 bytes a thread", bytes / seconds * 1e-9, "GB/s",
                          card->peak_bytes * 1e-9, NULL));
  tsl_figures_note(f, "the ceiling of whatever moves more than it computes");
  tsl_figures_mark(f, TSL_TERM_MEMORY);
done:
  return err;
}

template <int ITEMS> static tsl_err probe_items(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const double bytes = 2.0 * sizeof(float) * (double)card->words;
  const char *advice = ITEMS == 1 ? "grain: a word a thread leaves the launch to limit" : NULL;
  char name[48];
  double seconds = 0;
  const auto narrow = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_LAUNCH((copy_items<ITEMS>), blocks(card->words, BLOCK * ITEMS), BLOCK, 0, card->stream,
               (float *)card->a.data, (const float *)card->b.data, card->words);
  done:
    return err;
  };
  (void)snprintf(name, sizeof name, "copy, %d word%s a thread", ITEMS, ITEMS > 1 ? "s" : "");
  TSL_TRY(probe_best(card, narrow, &seconds));
  TSL_TRY(
      tsl_figures_add(f, name, bytes / seconds * 1e-9, "GB/s", card->peak_bytes * 1e-9, advice));
done:
  return err;
}

/* Useful bytes: what is updated, read and written. */
static tsl_err useful(probe_card *card, int stride, int offset, double *rate) {
  tsl_err err = TSL_OK;
  const int64_t n = card->words / stride;
  double seconds = 0;
  const auto update = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_LAUNCH(update_strided, blocks(n, BLOCK), BLOCK, 0, card->stream, (float *)card->a.data,
               card->words, stride, offset);
  done:
    return err;
  };
  TSL_TRY(probe_best(card, update, &seconds));
  *rate = 2.0 * sizeof(float) * (double)n / seconds * 1e-9;
done:
  return err;
}

static tsl_err probe_strides(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double best = 0, rate = 0, seconds = 0;
  const auto scatter = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_LAUNCH(update_scattered, blocks(card->words, BLOCK), BLOCK, 0, card->stream,
               (float *)card->a.data, card->words);
  done:
    return err;
  };
  tsl_figures_group(f, "global memory: useful bytes");
  for (int stride = 1; stride <= 32; stride *= 2) {
    char name[48];
    (void)snprintf(name, sizeof name, "stride %d word%s", stride, stride > 1 ? "s" : "");
    TSL_TRY(useful(card, stride, 0, &rate));
    if (stride == 1) best = rate;
    TSL_TRY(tsl_figures_add(f, name, rate, "GB/s", best,
                            stride == 8 ? "sectors of 32 bytes are moved for 4 of use" : NULL));
    if (stride == 1) tsl_figures_note(f, "coalesced: a warp's words lie side by side");
  }
  TSL_TRY(useful(card, 1, 1, &rate));
  TSL_TRY(tsl_figures_add(f, "stride 1, begun one word late", rate, "GB/s", best,
                          "align what a warp reads: each warp moves a sector more"));
  TSL_TRY(useful(card, 8, 0, &rate));
  TSL_TRY(tsl_figures_add(f, "one of 8 members of a struct", rate, "GB/s", best,
                          "arrays of structures waste this; lay members out as arrays"));
  TSL_TRY(probe_best(card, scatter, &seconds));
  TSL_TRY(tsl_figures_add(f, "scattered words",
                          2.0 * sizeof(float) * (double)card->words / seconds * 1e-9, "GB/s", best,
                          "sort, or stage through shared memory"));
done:
  return err;
}

/* Dynamic shared memory that leaves room for so many blocks of a processor only. */
static tsl_err probe_occupancy(probe_card *card, tsl_figures *f) {
  enum { KEPT = 1024 }; /* what the system takes of each block's shared memory */
  tsl_err err = TSL_OK;
  const double bytes = 2.0 * sizeof(float) * (double)card->words;
  int per_processor = 0, per_block = 0, device = 0;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(
      cudaDeviceGetAttribute(&per_processor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  TSL_CUDA_TRY(cudaFuncSetAttribute((const void *)copy<float>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, per_block));
  tsl_figures_group(f, "warps that hide latency");
  for (int n_blocks = 1; n_blocks <= 8; n_blocks *= 2) {
    const int wanted = per_processor / n_blocks - KEPT;
    const int shared = wanted < per_block ? wanted : per_block;
    double seconds = 0;
    char name[48];
    const auto limited = [&]() -> tsl_err {
      tsl_err err = TSL_OK;
      TSL_LAUNCH((copy<float>), blocks(card->words, BLOCK), BLOCK, (size_t)shared, card->stream,
                 (float *)card->a.data, (const float *)card->b.data, card->words);
    done:
      return err;
    };
    (void)snprintf(name, sizeof name, "copy with %d warps a processor", n_blocks * BLOCK / 32);
    TSL_TRY(probe_best(card, limited, &seconds));
    TSL_TRY(tsl_figures_add(f, name, bytes / seconds * 1e-9, "GB/s", card->peak_bytes * 1e-9,
                            n_blocks == 1 ? "few warps: give each thread more independent reads"
                                          : NULL));
  }
done:
  return err;
}

const probe_part probe_memory[] = {
    probe_copy, probe_items<1>, probe_items<4>, probe_items<16>, probe_strides, probe_occupancy,
    NULL};
