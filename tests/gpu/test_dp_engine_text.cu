/* gpu.dp.text: the engine's text compiles at run time for the newest and the oldest card. No card
 * is needed. */
#include "dp_engine_text.h"

#include <nvrtc.h>
#include <stdio.h>
#include <vector>

static long n_checks, n_failures;

static const char cell[] =
    "#include \"dp_engine.cuh\"\n"
    "template <class V> struct sum {\n"
    "  typedef V T;\n"
    "  typedef struct DATA { const V *w; } DATA;\n"
    "  static const bool BEST = true, WAYS = true;\n"
    "  DATA d;\n"
    "  __device__ sum(const DATA &data) : d(data) {}\n"
    "  __device__ T operator()(T up, T left, T diagonal, long long p, long long q, int &bad) const "
    "{\n"
    "    if (up > 100) bad |= 1;\n"
    "    return (T)(up + left + diagonal + d.w[p + q]);\n"
    "  }\n"
    "  __device__ bool ahead(T v, T best) const { return v > best; }\n"
    "  __device__ bool before(long long p, long long, long long p2, long long) const {\n"
    "    return p < p2;\n"
    "  }\n"
    "  __device__ int way(T up, T, T, T v, long long, long long) const { return v == up; }\n"
    "};\n"
    "#define WAVE(name, V, NC) \\\n"
    "  extern \"C\" __global__ void name(dp_engine_args<sum<V>> a) { dp_engine_run<sum<V>, NC>(a); "
    "}\n"
    "WAVE(wave_i16, short, 8)\nWAVE(wave_i32, int, 8)\nWAVE(wave_i64, long long, 4)\n"
    "WAVE(wave_f32, float, 4)\nWAVE(wave_f64, double, 8)\n";

static void check_compiles(const char *architecture) {
  const char *const options[] = {architecture, "--std=c++17", "--fmad=false"};
  nvrtcProgram program = NULL;
  size_t bytes = 0;
  n_checks++;
  if (nvrtcCreateProgram(&program, cell, "recurrence.cu", 2, dp_engine_texts, dp_engine_names) !=
          NVRTC_SUCCESS ||
      nvrtcCompileProgram(program, 3, options) != NVRTC_SUCCESS ||
      nvrtcGetPTXSize(program, &bytes) != NVRTC_SUCCESS || bytes < 1000) {
    n_failures++;
    printf("FAIL the engine does not compile with %s\n", architecture);
    if (program != NULL && nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS) {
      std::vector<char> log(bytes + 1);
      if (nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS) printf("%s\n", log.data());
    }
  }
  if (program != NULL) (void)nvrtcDestroyProgram(&program);
}

int main(void) {
  check_compiles("--gpu-architecture=compute_90");
  check_compiles("--gpu-architecture=compute_75");
  printf("%s: %ld checks, %ld failures\n", n_failures == 0 ? "PASS" : "FAIL", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
