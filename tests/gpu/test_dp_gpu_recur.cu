/* gpu.dp.recur: emitted CUDA on a card against the interpreter.
 *
 * usage: test_dp_gpu_recur text [FOLDER]  every text compiles with NVRTC; no card is needed; the
 * PTX goes to FOLDER test_dp_gpu_recur run [FOLDER]   compiled here, or taken from FOLDER; skipped
 * without a card test_dp_gpu_recur bench [FOLDER] a deck's LCS against the engine's own
 *
 * NVRTC is loaded when it is needed, so that PTX made elsewhere runs where it is missing. */
#include "dp_cells.cuh"
#include "dp_engine_text.h"
#include "dp_recur_cases.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <string.h>
#include <string>
#include <vector>

static long n_checks, n_failures;

static void failed(const char *what, const char *why) {
  n_failures++;
  printf("FAIL %s: %s\n", what, why);
}

#define CUDA(call)                                                       \
  do {                                                                   \
    const cudaError_t code_ = (call);                                    \
    if (code_ != cudaSuccess) {                                          \
      printf("FAIL line %d: %s\n", __LINE__, cudaGetErrorString(code_)); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define DRIVER(call)                                                   \
  do {                                                                 \
    const CUresult code_ = (call);                                     \
    if (code_ != CUDA_SUCCESS) {                                       \
      printf("FAIL line %d: driver error %d\n", __LINE__, (int)code_); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

/* --------------------------------------------------------------------------------- compiling */

static void *nvrtc_function(const char *name) {
  static void *library = NULL;
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                      "/usr/local/cuda/lib64/libnvrtc.so"};
  for (const char *file : names)
    if (library == NULL) library = dlopen(file, RTLD_NOW);
  void *function = library != NULL ? dlsym(library, name) : NULL;
  if (function == NULL) {
    printf("skipped: there is no NVRTC here (%s)\n", name);
    exit(77);
  }
  return function;
}
#define NVRTC(name) ((decltype(&name))nvrtc_function(#name))

static std::string file_name(const char *folder, const char *name) {
  return std::string(folder) + "/" + name + ".ptx";
}

/** PTX of a text; empty when it does not compile. */
static std::string compile(const char *text, const char *what) {
  const char *const options[] = {"--gpu-architecture=compute_75", "--std=c++17", "--fmad=false"};
  nvrtcProgram program = NULL;
  size_t bytes = 0;
  std::string ptx;
  n_checks++;
  (void)NVRTC(nvrtcCreateProgram)(&program, text, "recurrence.cu", 2, dp_engine_texts,
                                  dp_engine_names);
  if (NVRTC(nvrtcCompileProgram)(program, 3, options) == NVRTC_SUCCESS &&
      NVRTC(nvrtcGetPTXSize)(program, &bytes) == NVRTC_SUCCESS) {
    ptx.resize(bytes);
    (void)NVRTC(nvrtcGetPTX)(program, &ptx[0]);
  } else if (NVRTC(nvrtcGetProgramLogSize)(program, &bytes) == NVRTC_SUCCESS) {
    std::vector<char> log(bytes + 1);
    (void)NVRTC(nvrtcGetProgramLog)(program, log.data());
    failed(what, log.data());
  }
  (void)NVRTC(nvrtcDestroyProgram)(&program);
  return ptx;
}

static std::string take(const char *text, const char *what, const char *folder, const char *name) {
  std::string ptx;
  FILE *file = folder != NULL ? fopen(file_name(folder, name).c_str(), "rb") : NULL;
  if (file == NULL) return compile(text, what);
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) ptx.push_back((char)c);
  (void)fclose(file);
  return ptx;
}

static void keep(const std::string &ptx, const char *folder, const char *name) {
  FILE *file = folder != NULL ? fopen(file_name(folder, name).c_str(), "wb") : NULL;
  if (file == NULL) return;
  (void)fwrite(ptx.data(), 1, ptx.size(), file);
  (void)fclose(file);
}

/* ----------------------------------------------------------------------------------- running */

/** Device copies of a case. */
struct card_case {
  const recur_case *c;
  CUmodule module = NULL;
  size_t bytes;
  dp_args args;
  std::vector<void *> owned;
  char *table = NULL;
  int *bad = NULL;

  void *put(const void *host, size_t n) {
    void *device = NULL;
    CUDA(cudaMalloc(&device, n + 16));
    CUDA(cudaMemset(device, 0, n + 16));
    if (host != NULL) CUDA(cudaMemcpy(device, host, n, cudaMemcpyHostToDevice));
    owned.push_back(device);
    return device;
  }

  card_case(const recur_case *the, const std::string &ptx) : c(the), args(the->args) {
    const lang_names *names = &c->r->equation.names;
    bytes = (size_t)dp_code_bytes(&c->code);
    DRIVER(cuModuleLoadData(&module, ptx.c_str()));
    for (int a = 0; a < LANG_ARRAYS_MAX; a++) {
      const bool used = a < names->n_arrays;
      const size_t n = used ? (size_t)dp_array_count(&names->arrays[a]) : 0;
      args.data[a] = put(used ? c->args.data[a] : NULL,
                         used ? n * tsl_type_bytes((tsl_type)names->arrays[a].type) : 0);
    }
    bad = (int *)put(NULL, sizeof(int));
  }
  ~card_case() {
    for (void *device : owned) (void)cudaFree(device);
    (void)cuModuleUnload(module);
  }

  char *at(int64_t p, int64_t q) const {
    return table + (size_t)(p * c->code.Q + q) * bytes;
  }

  void launch(const char *name, int64_t blocks, unsigned threads, void **params) const {
    CUfunction function = NULL;
    DRIVER(cuModuleGetFunction(&function, module, name));
    DRIVER(cuLaunchKernel(function, (unsigned)blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
  }
};

static int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static int64_t lesser(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void run_rows(card_case *k) {
  const dp_code *code = &k->c->code;
  for (int64_t p = 0; p < code->P; p++) {
    dp_row_launch a = {};
    for (int64_t d = 0; d <= DP_DEPTH_ROWS; d++) a.rows[d] = d <= p ? k->at(p - d, 0) : NULL;
    a.stride = code->Q, a.p = p, a.q1 = code->Q, a.bad = k->bad;
    void *params[] = {&k->args, &a};
    k->launch("tsl_dp_row", ceil_div(code->Q, 256), 256, params);
  }
}

static void run_tiles(card_case *k) {
  const dp_code *code = &k->c->code;
  const int64_t side = 32, down = ceil_div(code->P, side), across = ceil_div(code->Q, side);
  for (int64_t d = 0; d < down + across - 1; d++) {
    const int64_t first = d < across ? 0 : d - across + 1;
    dp_tile_launch a = {};
    a.table = k->table, a.stride = code->Q, a.p1 = code->P, a.q1 = code->Q;
    a.side = side, a.diagonal = d, a.first = first, a.bad = k->bad;
    void *params[] = {&k->args, &a};
    k->launch("tsl_dp_tile", lesser(d, down - 1) - first + 1, 64, params);
  }
}

static void run_edge(card_case *k, int64_t p0, int64_t p1, int64_t q0, int64_t q1, void *out) {
  dp_edge_launch a = {p0, p1, q0, q1, out, k->bad};
  void *params[] = {&k->args, &a};
  if (p1 > p0 && q1 > q0)
    k->launch("tsl_dp_edge", ceil_div((p1 - p0) * (q1 - q0), 256), 256, params);
}

/** For the layout of the engine's arguments; the emitted cell has the same T and DATA. */
template <class V> struct like_cell {
  typedef V T;
  typedef dp_args DATA;
};

/** The wavefront in one launch; best of all strips to *p, *q; seconds of the launch. */
template <class V>
static float run_wave(card_case *k, bool few, bool keep_table, int64_t *best_p, int64_t *best_q) {
  const dp_code *code = &k->c->code;
  const int64_t mp = lesser(code->margin_p, code->P), mq = lesser(code->margin_q, code->Q);
  const int64_t rows = code->P - mp, columns = code->Q - mq, width = few ? 128 : 256;
  const int64_t strips = ceil_div(columns, width);
  dp_engine_args<like_cell<V>> a = {};
  std::vector<dp_engine_best<V>> best((size_t)strips, dp_engine_best<V>{V(), -1, -1});
  cudaEvent_t begin, end;
  float ms = 0;
  V *const top = (V *)k->put(NULL, (size_t)code->Q * sizeof(V));
  V *const side = (V *)k->put(NULL, (size_t)code->P * sizeof(V));
  V *const edge = (V *)k->put(NULL, (size_t)(rows + 1) * sizeof(V));
  run_edge(k, 0, mp, 0, code->Q, top);
  run_edge(k, 0, code->P, 0, mq, side);
  if (keep_table && mp > 0)
    CUDA(cudaMemcpy(k->table, top, (size_t)code->Q * sizeof(V), cudaMemcpyDefault));
  if (keep_table && mq > 0)
    CUDA(cudaMemcpy2D(k->table, (size_t)code->Q * sizeof(V), side, sizeof(V), sizeof(V),
                      (size_t)code->P, cudaMemcpyDefault));
  if (rows <= 0 || columns <= 0) return 0;
  CUDA(cudaMemcpy(edge + 1 - mp, side, (size_t)code->P * sizeof(V), cudaMemcpyDefault));
  a.data = k->args;
  a.above = top + mq, a.below = (V *)k->put(NULL, (size_t)columns * sizeof(V)), a.edge = edge;
  a.table = keep_table ? (V *)k->at(mp, mq) : NULL, a.stride = code->Q;
  a.ticket = (unsigned *)k->put(NULL, sizeof(unsigned));
  a.finished = (unsigned *)k->put(NULL, (size_t)strips * sizeof(unsigned));
  a.best = (dp_engine_best<V> *)k->put(best.data(), best.size() * sizeof best[0]);
  a.bad = k->bad, a.p0 = mp, a.q0 = mq;
  a.rows = (int)rows, a.columns = (int)columns, a.strips = (int)strips;
  void *params[] = {&a};
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventRecord(begin));
  k->launch(few ? "tsl_dp_wave_few" : "tsl_dp_wave", ceil_div(strips, 4), 128, params);
  CUDA(cudaEventRecord(end));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  CUDA(cudaMemcpy(best.data(), a.best, best.size() * sizeof best[0], cudaMemcpyDefault));
  *best_p = *best_q = -1;
  for (const dp_engine_best<V> &b : best) { /* the host's part of the engine's rule */
    int64_t i, j, i2, j2;
    if (b.p < 0) continue;
    dp_code_unfold(code, b.p, b.q, &i, &j);
    dp_code_unfold(code, *best_p, *best_q, &i2, &j2);
    V now = V();
    if (*best_p >= 0)
      memcpy(&now, k->c->values + (*best_p * code->Q + *best_q) * sizeof(V), sizeof now);
    const bool more = k->c->r->equation.maximum != 0 ? b.value > now : b.value < now;
    if (*best_p >= 0 && !more && !(b.value == now && (i < i2 || (i == i2 && j < j2)))) continue;
    *best_p = b.p, *best_q = b.q;
  }
  return ms / 1000;
}

/** Cells of the table to the skewed place of a wavefront's launch (dp_emit.h) or from there. */
static void move_cells(card_case *k, const dp_step_launch *a, bool out) {
  const dp_code *code = &k->c->code;
  const int64_t values = code->values, stride = a->stride;
  const size_t step = k->bytes / (size_t)values, all = (size_t)(code->P * code->Q) * k->bytes;
  const size_t room = (size_t)(stride * (stride + a->q1 - a->q0)) * k->bytes;
  std::vector<char> table(all), skewed(room);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(table.data(), k->table, all, cudaMemcpyDefault));
  if (out) CUDA(cudaMemcpy(skewed.data(), a->table, room, cudaMemcpyDefault));
  for (int64_t p = a->p0 > 0 ? a->p0 - 1 : 0; p < a->p1; p++)
    for (int64_t q = a->q0 > 0 ? a->q0 - 1 : 0; q < a->q1; q++)
      for (int64_t n = 0; n < values; n++) {
        const int64_t r = p - a->p0 + 1, diagonal = r + q - a->q0 + 1;
        char *const there = &skewed[(size_t)((diagonal * values + n) * stride + r) * step];
        char *const plain = &table[(size_t)((p * code->Q + q) * values + n) * step];
        memcpy(out ? plain : there, out ? there : plain, step);
      }
  if (out)
    CUDA(cudaMemcpy(k->table, table.data(), all, cudaMemcpyDefault));
  else
    CUDA(cudaMemcpy(a->table, skewed.data(), room, cudaMemcpyDefault));
}

/** With a depth: the boundary of a wavefront, then all steps of the rest. */
static void run_layers(card_case *k) {
  const dp_code *code = &k->c->code;
  const bool wave = code->engine == DP_WAVEFRONT;
  const int64_t mp = wave ? lesser(code->margin_p, code->P) : 0;
  const int64_t mq = wave ? lesser(code->margin_q, code->Q) : 0;
  char *const side = (char *)k->put(NULL, (size_t)code->P * k->bytes);
  run_edge(k, 0, mp, 0, code->Q, k->table);
  run_edge(k, mp, code->P, 0, mq, side);
  if (mq > 0 && code->P > mp)
    CUDA(cudaMemcpy2D(k->at(mp, 0), (size_t)code->Q * k->bytes, side, k->bytes, k->bytes,
                      (size_t)(code->P - mp), cudaMemcpyDefault));
  dp_step_launch a = {k->table, code->Q, mp, code->P, mq, code->Q, k->bad, 0, 0, 0};
  if (a.p0 >= a.p1 || a.q0 >= a.q1) return;
  if (wave) {
    a.stride = a.p1 - a.p0 + 1;
    a.table = k->put(NULL, (size_t)(a.stride * (a.stride + a.q1 - a.q0)) * k->bytes);
    move_cells(k, &a, false);
  }
  for (; a.step < dp_code_steps(code, &a); a.step++) {
    const int64_t threads = dp_code_step_threads(code, &a);
    void *params[] = {&k->args, &a};
    k->launch("tsl_dp_step", ceil_div(threads, 128), 128, params);
  }
  if (wave) move_cells(k, &a, true);
}

static float run_wave_any(card_case *k, bool few, bool keep_table, int64_t *p, int64_t *q) {
  switch (k->c->code.type) {
  case TSL_I16:
    return run_wave<short>(k, few, keep_table, p, q);
  case TSL_I32:
    return run_wave<int>(k, few, keep_table, p, q);
  case TSL_I64:
    return run_wave<long long>(k, few, keep_table, p, q);
  case TSL_F32:
    return run_wave<float>(k, few, keep_table, p, q);
  default:
    return run_wave<double>(k, few, keep_table, p, q);
  }
}

static void compare(const card_case *k, const char *how, int64_t best_p, int64_t best_q) {
  const recur_case *c = k->c;
  const size_t n = (size_t)(c->code.P * c->code.Q) * k->bytes;
  std::vector<char> table(n + 1);
  int bad = 0;
  char why[160];
  n_checks++;
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(&bad, k->bad, sizeof bad, cudaMemcpyDefault));
  CUDA(cudaMemcpy(table.data(), k->table, n, cudaMemcpyDefault));
  if ((bad != 0) != c->fails) {
    (void)snprintf(why, sizeof why, "%s: bad is %d", how, bad);
    failed(c->what, why);
  } else if (!c->fails && memcmp(table.data(), c->values, n) != 0) {
    size_t at = 0;
    while (table[at] == c->values[at]) at++;
    at /= k->bytes;
    (void)snprintf(why, sizeof why, "%s: folded cell %zu, %zu differs", how, at / (size_t)c->code.Q,
                   at % (size_t)c->code.Q);
    failed(c->what, why);
  } else if (!c->fails && c->code.best != 0 && (best_p != c->best_p || best_q != c->best_q)) {
    (void)snprintf(why, sizeof why, "%s: best cell %lld, %lld, not %lld, %lld", how,
                   (long long)best_p, (long long)best_q, (long long)c->best_p,
                   (long long)c->best_q);
    failed(c->what, why);
  }
}

static void run_case(const recur_case *c, const std::string &ptx) {
  const bool deep = c->code.layers > 0, wave = c->code.engine == DP_WAVEFRONT && !deep;
  for (int few = 0; few < (wave ? 2 : 1); few++) {
    card_case k(c, ptx);
    int64_t best_p = -1, best_q = -1;
    k.table = (char *)k.put(NULL, (size_t)(c->code.P * c->code.Q) * k.bytes);
    if (deep)
      run_layers(&k);
    else if (wave)
      (void)run_wave_any(&k, few != 0, true, &best_p, &best_q);
    else if (c->code.engine == DP_ROWS && c->code.same_row == 0)
      run_rows(&k);
    else
      run_tiles(&k);
    compare(&k, few != 0 ? "few columns" : "whole", best_p, best_q);
  }
}

/* ------------------------------------------------------------------------------------- bench */

__global__ void __launch_bounds__(128) own_kernel(dp_engine_args<dp_lcs_cell> a) {
  dp_engine_run<dp_lcs_cell, 8>(a);
}

/** The engine's own LCS on the same letters. */
static float run_own(card_case *k) {
  const int64_t n = k->c->code.P - 1, strips = ceil_div(n, 256);
  dp_engine_args<dp_lcs_cell> a = {};
  cudaEvent_t begin, end;
  float ms = 0;
  a.data.a = (const uint8_t *)k->args.data[0], a.data.b = (const uint8_t *)k->args.data[1];
  a.above = (int *)k->put(NULL, (size_t)n * 4), a.below = (int *)k->put(NULL, (size_t)n * 4);
  a.edge = (int *)k->put(NULL, (size_t)(n + 1) * 4);
  a.ticket = (unsigned *)k->put(NULL, 4);
  a.finished = (unsigned *)k->put(NULL, (size_t)strips * 4);
  a.bad = k->bad, a.p0 = 1, a.q0 = 1;
  a.rows = a.columns = (int)n, a.strips = (int)strips;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventRecord(begin));
  own_kernel<<<(unsigned)ceil_div(strips, 4), 128>>>(a);
  CUDA(cudaEventRecord(end));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  return ms / 1000;
}

enum { BENCH_SIDE = 400000 };

static void bench(const char *folder) {
  std::vector<uint8_t> a(BENCH_SIDE), b(BENCH_SIDE);
  recur_case c;
  uint64_t state = 1;
  for (int n = 0; n < BENCH_SIDE; n++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a[n] = "ACGT"[state >> 62];
    b[n] = "ACGT"[state >> 60 & 3];
  }
  if (recur_case_letters(recur_lcs, "0", BENCH_SIDE, a.data(), b.data(), &c) != TSL_OK) {
    failed("lcs", tsl_err_message());
    return;
  }
  const std::string ptx = take(c.text, c.what, folder, "lcs");
  double deck = 1e9, own = 1e9;
  for (int round = 0; round < 4; round++) {
    card_case k(&c, ptx);
    int64_t p, q;
    const double t = run_wave_any(&k, false, false, &p, &q), u = run_own(&k);
    if (t < deck) deck = t;
    if (u < own) own = u;
  }
  const double cells = (double)BENCH_SIDE * BENCH_SIDE;
  printf("LCS %d x %d, int32: deck %.1f, built-in %.1f thousand million cells/s (ratio %.3f)\n",
         BENCH_SIDE, BENCH_SIDE, cells / deck / 1e9, cells / own / 1e9, deck / own);
  recur_case_clear(&c);
}

/* -------------------------------------------------------------------------------------- main */

static bool has_card(void) {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
}

static void text_only(const char *folder) {
  static const uint8_t letters[4] = {1, 2, 3, 4};
  recur_case c;
  for (int n = 0; n < recur_n_cases(); n++) {
    const std::string name = "case" + std::to_string(n);
    if (recur_case_make(n, &c) != TSL_OK)
      failed(c.what, tsl_err_message());
    else
      keep(compile(c.text, c.what), folder, name.c_str());
    recur_case_clear(&c);
  }
  if (recur_case_letters(recur_lcs, "0", 4, letters, letters, &c) == TSL_OK)
    keep(compile(c.text, c.what), folder, "lcs");
  recur_case_clear(&c);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "text", *folder = argc > 2 ? argv[2] : NULL;
  if (strcmp(mode, "text") == 0) {
    text_only(folder);
  } else if (!has_card()) {
    printf("skipped: no card\n");
    return 77;
  } else {
    CUDA(cudaSetDevice(0));
    CUDA(cudaFree(NULL));
    recur_case c;
    for (int n = 0; n < recur_n_cases() && strcmp(mode, "run") == 0; n++) {
      const std::string name = "case" + std::to_string(n);
      if (recur_case_make(n, &c) != TSL_OK)
        failed(c.what, tsl_err_message());
      else
        run_case(&c, take(c.text, c.what, folder, name.c_str()));
      recur_case_clear(&c);
    }
    if (strcmp(mode, "bench") == 0) bench(folder);
  }
  printf("%s: %ld checks, %ld failures\n", n_failures == 0 ? "PASS" : "FAIL", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
