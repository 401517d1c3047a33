/* On the chip: shared memory, divergence, arithmetic, atomics, read-only paths. */
#include "probe_gpu.cuh"

#include <cstdio>

enum { BLOCK = 256, ROUNDS = 2048 };

static double threads(const probe_card *card) {
  return (double)probe_grid(card) * BLOCK;
}

/* Lanes `step` words apart: step a power of two puts so many lanes on one of 32 banks. */
static __global__ void read_banks(float *out, int step) {
  __shared__ volatile float words[32 * 33];
  float sum = 0;
  for (int k = threadIdx.x; k < 32 * 33; k += BLOCK) words[k] = (float)k;
  __syncthreads();
  int at = threadIdx.x % 32 * step % (32 * 32);
  for (int k = 0; k < ROUNDS; k++) {
    sum += words[at];
    at ^= 1; // a neighbour of equal conflict, so that the compiler reads again
  }
  if (sum < 0) out[0] = sum;
}

/* `paths` different chains of work within a warp. */
static __global__ void diverge(float *out, int paths) {
  float x = threadIdx.x;
  const int path = threadIdx.x % 32 % paths;
  for (int p = 0; p < paths; p++)
    if (path == p)
      for (int k = 0; k < ROUNDS / 4; k++) x = fmaf(x, 0.999f + (float)p, 0.5f);
  if (x == 12345.0f) out[0] = x;
}

template <class Real> static __global__ void multiply_add(Real *out, Real factor) {
  Real x[8];
#pragma unroll
  for (int k = 0; k < 8; k++) x[k] = (Real)(threadIdx.x + k);
  for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = fma(x[k], factor, (Real)0.5);
  }
#pragma unroll
  for (int k = 1; k < 8; k++) x[0] += x[k];
  if (x[0] == (Real)12345) out[0] = x[0];
}

/* Adds to `places` counters, a power of two. */
static __global__ void add_shared(int *out, int places) {
  __shared__ int counts[1024];
  for (int k = threadIdx.x; k < 1024; k += BLOCK) counts[k] = 0;
  __syncthreads();
  for (int k = 0; k < ROUNDS / 16; k++) atomicAdd(&counts[(threadIdx.x + k) & (places - 1)], 1);
  __syncthreads();
  if (counts[threadIdx.x & (places - 1)] < 0) out[0] = 1;
}

static __global__ void add_global(int *out, int places) {
  for (int k = 0; k < ROUNDS / 16; k++)
    atomicAdd(&out[(blockIdx.x * BLOCK + threadIdx.x + k) & (places - 1)], 1);
}

static __constant__ float table[1024];

static __global__ void read_constant(float *out, int step) {
  float sum = 0;
  for (int k = 0; k < ROUNDS; k++) sum += table[(threadIdx.x * step + k) & 1023];
  if (sum != 0) out[0] = sum;
}

/* A neighbourhood of 5 x 5 of a picture, by three paths. */
enum { SIDE = 4096, AROUND = 2 };

template <class Read> static __device__ float neighbourhood(Read read) {
  const int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 8 + threadIdx.x / 32;
  float sum = 0;
  for (int dy = -AROUND; dy <= AROUND; dy++)
    for (int dx = -AROUND; dx <= AROUND; dx++)
      sum += read(min(max(x + dx, 0), SIDE - 1), min(max(y + dy, 0), SIDE - 1));
  return sum;
}

static __global__ void blur_plain(float *out, const volatile float *in) {
  const float sum = neighbourhood([=](int x, int y) { return in[y * SIDE + x]; });
  if (sum != 0) out[0] = sum;
}
static __global__ void blur_read_only(float *out, const float *in) {
  const float sum = neighbourhood([=](int x, int y) { return __ldg(&in[y * SIDE + x]); });
  if (sum != 0) out[0] = sum;
}
static __global__ void blur_texture(float *out, cudaTextureObject_t in) {
  const float sum = neighbourhood(
      [=](int x, int y) { return tex2D<float>(in, (float)x + 0.5f, (float)y + 0.5f); });
  if (sum != 0) out[0] = sum;
}

/* Adds to fewer and fewer places: from so many on, each time a `by`th. */
static tsl_err probe_adds(probe_card *card, void (*kernel)(int *, int), int from, int by,
                          const char *what, const char *advice, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double best = 0;
  for (int places = from; places >= 1; places /= by) {
    double seconds = 0;
    char name[48];
    TSL_TRY(
        probe_kernel(card, &seconds, probe_grid(card), BLOCK, kernel, (int *)card->a.data, places));
    const double rate = threads(card) * (ROUNDS / 16) / seconds * 1e-9;
    if (places == from) best = rate;
    (void)snprintf(name, sizeof name, "%s, %d place%s", what, places, places > 1 ? "s" : "");
    TSL_TRY(tsl_figures_add(f, name, rate, "G/s", best, places == 1 ? advice : NULL));
  }
done:
  return err;
}

static tsl_err probe_banks(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double seconds = 0, best = 0;
  tsl_figures_group(f, "shared memory");
  for (int step = 1; step <= 32; step *= 2) {
    char name[48];
    TSL_TRY(probe_kernel(card, &seconds, probe_grid(card), BLOCK, read_banks, (float *)card->a.data,
                         step));
    const double rate = threads(card) * ROUNDS / seconds * 1e-9;
    if (step == 1) best = rate;
    (void)snprintf(name, sizeof name, "reads, %d lane%s on a bank", step, step > 1 ? "s" : "");
    TSL_TRY(tsl_figures_add(f, name, rate, "G/s", best,
                            step == 32 ? "pad rows by a word so that columns spread over banks"
                                       : NULL));
  }
  TSL_TRY(probe_adds(card, add_shared, 1024, 32, "atomic adds",
                     "reduce in a warp before adding to one place", f));
done:
  return err;
}

static tsl_err probe_divergence(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double best = 0;
  tsl_figures_group(f, "divergence");
  for (int paths = 1; paths <= 32; paths *= 2) {
    double seconds = 0;
    char name[48];
    TSL_TRY(probe_kernel(card, &seconds, probe_grid(card), BLOCK, diverge, (float *)card->a.data,
                         paths));
    const double rate = 2 * threads(card) * (ROUNDS / 4) / seconds * 1e-12;
    if (paths == 1) best = rate;
    (void)snprintf(name, sizeof name, "%d path%s in a warp", paths, paths > 1 ? "s" : "");
    TSL_TRY(
        tsl_figures_add(f, name, rate, "TFLOP/s", best,
                        paths == 2 ? "lanes of a warp should branch alike; sort the work" : NULL));
  }
done:
  return err;
}

/* Units of a multiprocessor by compute capability (CUDA C++ Programming Guide, "arithmetic
 * instructions"). */
static double units(int capability, bool is_double) {
  if (is_double)
    return capability == 80                                             ? 32
           : capability == 90 || capability == 100 || capability == 103 ? 64
                                                                        : 2;
  return capability < 86 ? 64 : 128;
}

static tsl_err probe_arithmetic(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  const double flops = 2.0 * 8 * ROUNDS * threads(card), lanes = 2 * card->processors * card->clock;
  tsl_figures_group(f, "arithmetic");
  TSL_TRY(probe_kernel(card, &seconds, probe_grid(card), BLOCK, multiply_add<float>,
                       (float *)card->a.data, 0.999f));
  TSL_TRY(tsl_figures_add(f, "multiply-add fp32", flops / seconds * 1e-12, "TFLOP/s",
                          lanes * units(card->capability, false) * 1e-12, NULL));
  tsl_figures_mark(f, TSL_TERM_COMPUTE);
  TSL_TRY(probe_kernel(card, &seconds, probe_grid(card), BLOCK, multiply_add<double>,
                       (double *)card->a.data, 0.999));
  TSL_TRY(tsl_figures_add(f, "multiply-add fp64", flops / seconds * 1e-12, "TFLOP/s",
                          lanes * units(card->capability, true) * 1e-12, NULL));
  tsl_figures_note(f, "consumer cards: 1/32 or 1/64 of fp32; mind an accidental double");
done:
  return err;
}

static tsl_err probe_atomics(probe_card *card, tsl_figures *f) {
  tsl_figures_group(f, "atomics in global memory");
  return probe_adds(card, add_global, 1 << 20, 1024, "adds",
                    "one place serialises: reduce per block first", f);
}

static tsl_err probe_constant(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double best = 0;
  tsl_figures_group(f, "constant memory");
  for (int step = 0; step <= 1; step++) {
    double seconds = 0;
    TSL_TRY(probe_kernel(card, &seconds, probe_grid(card), BLOCK, read_constant,
                         (float *)card->a.data, step));
    const double rate = threads(card) * ROUNDS / seconds * 1e-9;
    if (step == 0) best = rate;
    TSL_TRY(tsl_figures_add(f, step == 0 ? "one word for the warp" : "32 words for the warp", rate,
                            "G/s", best, NULL));
    if (step == 0) tsl_figures_note(f, "for what all lanes read alike");
  }
done:
  return err;
}

static tsl_err make_texture(const void *data, cudaTextureObject_t *texture) {
  tsl_err err = TSL_OK;
  cudaResourceDesc resource = {};
  cudaTextureDesc how = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = (void *)data;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = resource.res.pitch2D.height = SIDE;
  resource.res.pitch2D.pitchInBytes = SIDE * sizeof(float);
  how.readMode = cudaReadModeElementType;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  TSL_CUDA_TRY(cudaCreateTextureObject(texture, &resource, &how, NULL));
done:
  return err;
}

static tsl_err probe_read_only(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const dim3 size(SIDE / 32, SIDE / 8);
  const double reads = 1e-9 * SIDE * SIDE * (2 * AROUND + 1) * (2 * AROUND + 1);
  cudaTextureObject_t texture = 0;
  double plain = 0, cached = 0, sampled = 0;
  TSL_TRY(make_texture(card->b.data, &texture));
  TSL_TRY(probe_kernel(card, &plain, size, BLOCK, blur_plain, (float *)card->a.data,
                       (const float *)card->b.data));
  TSL_TRY(probe_kernel(card, &cached, size, BLOCK, blur_read_only, (float *)card->a.data,
                       (const float *)card->b.data));
  TSL_TRY(probe_kernel(card, &sampled, size, BLOCK, blur_texture, (float *)card->a.data, texture));
  tsl_figures_group(f, "reads of 5 x 5 neighbours");
  TSL_TRY(tsl_figures_add(f, "read-only path", reads / cached, "G/s", 0,
                          "const __restrict__ lets the compiler use it"));
  TSL_TRY(tsl_figures_add(f, "plain", reads / plain, "G/s", reads / cached, NULL));
  TSL_TRY(tsl_figures_add(f, "texture", reads / sampled, "G/s", reads / cached,
                          "for filtering and clamping, not for speed of plain reads"));
done:
  if (texture != 0) (void)cudaDestroyTextureObject(texture);
  return err;
}

const probe_part probe_on_chip[] = {
    probe_arithmetic, probe_banks, probe_divergence, probe_atomics, probe_constant,
    probe_read_only,  NULL};
