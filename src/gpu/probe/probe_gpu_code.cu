/* How code is written: fast mathematics, divisions, doubles by accident, short branches, unrolling,
 * fetching ahead, chains of work in a thread, threads of a block, tiles, arguments of a launch. */
#include "probe_gpu.cuh"

#include <cstdio>

enum { BLOCK = 256, ROUNDS = 512, CHAINS = 8 };

/* CHAINS independent values a thread, ROUNDS steps of each. */
template <class Value, class Step>
static __device__ void steps(Value *out, Value first, Step step) {
  Value x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = first + (Value)k;
#pragma unroll 1
  for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
    for (int k = 0; k < CHAINS; k++) x[k] = step(x[k]);
  }
#pragma unroll
  for (int k = 1; k < CHAINS; k++) x[0] += x[k];
  if (x[0] == (Value)12345) out[0] = x[0];
}

static __global__ void sine_library(float *out) {
  steps<float>(out, (float)threadIdx.x, [](float x) { return sinf(x) * 3; });
}
static __global__ void sine_fast(float *out) {
  steps<float>(out, (float)threadIdx.x, [](float x) { return __sinf(x) * 3; });
}
static __global__ void divide(unsigned *out, unsigned by) {
  steps<unsigned>(out, threadIdx.x + 1000000007u, [=](unsigned x) { return x / by + 900000001u; });
}
static __global__ void shift(unsigned *out, unsigned by) {
  steps<unsigned>(out, threadIdx.x + 1000000007u,
                  [=](unsigned x) { return (x >> by) + 900000001u; });
}
static __global__ void single_constants(float *out) {
  steps<float>(out, (float)threadIdx.x, [](float x) { return x * 0.999f + 0.5f; });
}
static __global__ void double_constants(float *out) {
  steps<float>(out, (float)threadIdx.x, [](float x) { return (float)(x * 0.999 + 0.5); });
}
static __global__ void no_branch(float *out, float a) {
  steps<float>(out, (float)threadIdx.x, [=](float x) { return fmaf(x, a, 0.5f); });
}
static __global__ void short_branch(float *out, float a) {
  const bool odd = threadIdx.x % 2 != 0;
  steps<float>(out, (float)threadIdx.x, [=](float x) {
    if (odd) return fmaf(x, a, 0.5f);
    return fmaf(x, 0.75f, a);
  });
}

/* A chain of multiply-adds, `UNROLLED` steps of its loop written out. */
template <int UNROLLED> static __global__ void loop(float *out, float a, int rounds) {
  float x = (float)threadIdx.x;
#pragma unroll UNROLLED
  for (int r = 0; r < rounds; r++) x = fmaf(x, a, 0.5f);
  if (x == 12345.0f) out[0] = x;
}

/* MINE chains in each of few threads. */
template <int MINE> static __global__ void chains(float *out, float a) {
  float x[MINE];
#pragma unroll
  for (int k = 0; k < MINE; k++) x[k] = (float)(threadIdx.x + k);
#pragma unroll 1
  for (int r = 0; r < 8 * ROUNDS / MINE; r++) {
#pragma unroll
    for (int k = 0; k < MINE; k++) x[k] = fmaf(x[k], a, 0.5f);
  }
#pragma unroll
  for (int k = 1; k < MINE; k++) x[0] += x[k];
  if (x[0] == 12345.0f) out[0] = x[0];
}

/* Words of memory with work on each, the next word asked for before or after it. */
template <bool AHEAD> static __global__ void fetch(float *out, const float *in, int words) {
  const int stride = gridDim.x * blockDim.x;
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, next = AHEAD ? in[at] : 0;
#pragma unroll 1
  for (; at < words; at += stride) {
    float x = AHEAD ? next : in[at];
    if (AHEAD) next = in[at + stride < words ? at + stride : at];
#pragma unroll
    for (int k = 0; k < 64; k++) x = fmaf(x, 0.999f, sum);
    sum = x * 1e-9f;
  }
  if (sum == 12345.0f) out[0] = sum;
}

/* C = A B of SIDE rows, values read from memory by each thread that needs them, or once a tile. */
enum { SIDE = 1024 };

static __global__ void product_plain(float *c, const float *ab) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float *a = ab, *b = ab + SIDE * SIDE;
  float sum = 0;
  for (int k = 0; k < SIDE; k++) sum = fmaf(a[y * SIDE + k], b[k * SIDE + x], sum);
  c[y * SIDE + x] = sum;
}

template <int TILE> static __global__ void product_tiles(float *c, const float *ab) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  float sum = 0;
  for (int k = 0; k < SIDE; k += TILE) {
    a[ty][tx] = ab[y * SIDE + k + tx];
    b[ty][tx] = ab[SIDE * SIDE + (k + ty) * SIDE + x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; j++) sum = fmaf(a[ty][j], b[j][tx], sum);
    __syncthreads();
  }
  c[y * SIDE + x] = sum;
}

/* A launch whose arguments are many, or lie in memory. */
struct many_arguments {
  float value[1000];
};
static __global__ void takes_many(float *out, many_arguments many) {
  if (many.value[threadIdx.x] == 12345.0f) out[0] = 1;
}
static __global__ void takes_pointer(float *out, const many_arguments *many) {
  if (many->value[threadIdx.x] == 12345.0f) out[0] = 1;
}

static tsl_err probe_instructions(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  float *const out = (float *)card->a.data;
  unsigned *const numbers = (unsigned *)card->a.data;
  const double count = 1e-9 * CHAINS * ROUNDS * BLOCK * probe_grid(card);
  double fast = 0, slow = 0;
  tsl_figures_group(f, "instructions");
  TSL_TRY(probe_kernel(card, &fast, probe_grid(card), BLOCK, sine_fast, out));
  TSL_TRY(probe_kernel(card, &slow, probe_grid(card), BLOCK, sine_library, out));
  TSL_TRY(tsl_figures_add(f, "sine, __sinf", count / fast, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "sine, sinf", count / slow, "G/s", count / fast,
                          "__sinf, or --use_fast_math, where its error does no harm"));
  TSL_TRY(probe_kernel(card, &fast, probe_grid(card), BLOCK, shift, numbers, 3u));
  TSL_TRY(probe_kernel(card, &slow, probe_grid(card), BLOCK, divide, numbers, 8u));
  TSL_TRY(tsl_figures_add(f, "shifts", count / fast, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "divisions by 8 unknown to the compiler", count / slow, "G/s",
                          count / fast, "powers of two as constants, or shift and mask"));
  TSL_TRY(probe_kernel(card, &fast, probe_grid(card), BLOCK, single_constants, out));
  TSL_TRY(probe_kernel(card, &slow, probe_grid(card), BLOCK, double_constants, out));
  TSL_TRY(tsl_figures_add(f, "fp32 with constants 0.5f", count / fast, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "fp32 with constants 0.5", count / slow, "G/s", count / fast,
                          "an f after each constant of fp32 code"));
  TSL_TRY(probe_kernel(card, &fast, probe_grid(card), BLOCK, no_branch, out, 0.999f));
  TSL_TRY(probe_kernel(card, &slow, probe_grid(card), BLOCK, short_branch, out, 0.999f));
  TSL_TRY(tsl_figures_add(f, "no branch", count / fast, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "lanes that differ, a step either way", count / slow, "G/s",
                          count / fast, "make the values differ, not the steps"));
done:
  return err;
}

static tsl_err probe_loops(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  float *const out = (float *)card->a.data;
  const unsigned few = (unsigned)card->processors;
  const double count = 1e-9 * 8 * ROUNDS;
  double fast = 0, slow = 0;
  tsl_figures_group(f, "loops and chains");
  TSL_TRY(probe_kernel(card, &fast, probe_grid(card), BLOCK, loop<8>, out, 0.999f, 8 * ROUNDS));
  TSL_TRY(probe_kernel(card, &slow, probe_grid(card), BLOCK, loop<1>, out, 0.999f, 8 * ROUNDS));
  TSL_TRY(tsl_figures_add(f, "eight steps unrolled", count * BLOCK * probe_grid(card) / fast, "G/s",
                          0, NULL));
  TSL_TRY(tsl_figures_add(f, "the loop step by step", count * BLOCK * probe_grid(card) / slow,
                          "G/s", count * BLOCK * probe_grid(card) / fast,
                          "#pragma unroll of short bodies"));
  TSL_TRY(probe_kernel(card, &fast, few, 128, chains<8>, out, 0.999f));
  TSL_TRY(probe_kernel(card, &slow, few, 128, chains<1>, out, 0.999f));
  TSL_TRY(
      tsl_figures_add(f, "4 warps, 8 chains a thread", count * 128 * few / fast, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "4 warps, 1 chain a thread", count * 128 * few / slow, "G/s",
                          count * 128 * few / fast,
                          "more values a thread hide the latency of registers"));
  TSL_TRY(probe_kernel(card, &slow, few, 1024, chains<1>, out, 0.999f));
  TSL_TRY(
      tsl_figures_add(f, "32 warps, 1 chain a thread", count * 1024 * few / slow, "G/s", 0, NULL));
  tsl_figures_note(f, "warps hide that latency as chains do");
done:
  return err;
}

static tsl_err probe_fetches(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  float *const out = (float *)card->a.data;
  const float *const in = (const float *)card->b.data;
  const int words = (int)(card->words / 4);
  const double count = 4e-9 * words;
  double fast = 0, slow = 0;
  tsl_figures_group(f, "fetching ahead");
  TSL_TRY(
      probe_kernel(card, &fast, (unsigned)card->processors, BLOCK, fetch<true>, out, in, words));
  TSL_TRY(
      probe_kernel(card, &slow, (unsigned)card->processors, BLOCK, fetch<false>, out, in, words));
  TSL_TRY(tsl_figures_add(f, "8 warps, next word asked for before the work", count / fast, "GB/s",
                          0, NULL));
  TSL_TRY(tsl_figures_add(f, "8 warps, word asked for when it is needed", count / slow, "GB/s",
                          count / fast, "load the next value before the work on this one"));
done:
  return err;
}

/* Useful multiply-adds of blocks of some threads, each block in whole warps. */
static tsl_err probe_blocks(probe_card *card, tsl_figures *f) {
  static const unsigned threads[] = {256, 250, 225, 96, 80, 33};
  tsl_err err = TSL_OK;
  double best = 0;
  tsl_figures_group(f, "threads of a block");
  for (unsigned n : threads) {
    double seconds = 0;
    char name[48];
    const unsigned blocks = (unsigned)(card->processors * 2048 * 4) / n;
    TSL_TRY(probe_kernel(card, &seconds, blocks, n, no_branch, (float *)card->a.data, 0.999f));
    const double rate = 1e-9 * CHAINS * ROUNDS * n * blocks / seconds;
    if (best == 0) best = rate;
    (void)snprintf(name, sizeof name, "blocks of %u, %u of %u lanes", n, n, (n + 31) / 32 * 32);
    TSL_TRY(tsl_figures_add(f, name, rate, "G/s", best, "a multiple of 32 threads"));
  }
done:
  return err;
}

static tsl_err probe_tiles(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  float *const c = (float *)card->a.data;
  const float *const ab = (const float *)card->b.data;
  const double flops = 2e-12 * SIDE * SIDE * SIDE;
  double tiles32 = 0, tiles16 = 0, plain = 0;
  const dim3 small(16, 16), large(32, 32);
  tsl_figures_group(f, "product of 1024 x 1024 matrices");
  TSL_TRY(
      probe_kernel(card, &tiles32, dim3(SIDE / 32, SIDE / 32), large, product_tiles<32>, c, ab));
  TSL_TRY(
      probe_kernel(card, &tiles16, dim3(SIDE / 16, SIDE / 16), small, product_tiles<16>, c, ab));
  TSL_TRY(probe_kernel(card, &plain, dim3(SIDE / 16, SIDE / 16), small, product_plain, c, ab));
  TSL_TRY(
      tsl_figures_add(f, "tiles of 32 x 32 in shared memory", flops / tiles32, "TFLOP/s", 0, NULL));
  tsl_figures_note(f, "cuBLAS has further levels of tiles, in registers");
  TSL_TRY(
      tsl_figures_add(f, "tiles of 16 x 16", flops / tiles16, "TFLOP/s", flops / tiles32, NULL));
  TSL_TRY(tsl_figures_add(f, "all from memory and its caches", flops / plain, "TFLOP/s",
                          flops / tiles32, "what a block reads again belongs in shared memory"));
done:
  return err;
}

/* Microseconds of a launch, many in a row. */
template <class Argument>
static tsl_err launch_time(probe_card *card, void (*kernel)(float *, Argument), Argument argument,
                           double *microseconds) {
  enum { LAUNCHES = 200 };
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(probe_best(
      card,
      [&]() -> tsl_err {
        tsl_err err = TSL_OK;
        for (int k = 0; k < LAUNCHES; k++)
          TSL_LAUNCH(kernel, 1, 32, 0, card->stream, (float *)card->a.data, argument);
      done:
        return err;
      },
      &seconds));
  *microseconds = seconds / LAUNCHES * 1e6;
done:
  return err;
}

static tsl_err probe_arguments(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const many_arguments many = {};
  double by_value = 0, by_pointer = 0;
  tsl_figures_group(f, "arguments of a launch");
  TSL_TRY(launch_time(card, takes_pointer, (const many_arguments *)card->b.data, &by_pointer));
  TSL_TRY(launch_time(card, takes_many, many, &by_value));
  TSL_TRY(tsl_figures_add_time(f, "a pointer to 4000 bytes in memory", by_pointer, "us", 0, NULL));
  TSL_TRY(tsl_figures_add_time(f, "4000 bytes of arguments", by_value, "us", by_pointer,
                               "what stays the same belongs in memory, not in every launch"));
done:
  return err;
}

const probe_part probe_code[] = {probe_instructions, probe_loops,     probe_fetches, probe_blocks,
                                 probe_tiles,        probe_arguments, NULL};
