/* Between host and card: kinds of host memory, overlap by streams, launches. */
#include "probe_gpu.cuh"

#include <chrono>
#include <cstdlib>
#include <cstring>

static const size_t BYTES = (size_t)64 << 20;
enum { BLOCK = 256, STREAMS = 4, LAUNCHES = 256 };

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Reads n words, wherever they lie. */
static __global__ void read_words(const float4 *words, int64_t n, float *out) {
  float sum = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (int64_t)blockDim.x) {
    const float4 w = words[i];
    sum += w.x + w.y + w.z + w.w;
  }
  if (sum == 12345.0f) out[0] = sum;
}

/* Some work for each word, as long as its transfer takes. */
static __global__ void work_on(float *words, int64_t n, int rounds) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (int64_t)blockDim.x) {
    float x = words[i];
    for (int r = 0; r < rounds; r++) x = fmaf(x, 0.999f, 0.5f);
    words[i] = x;
  }
}

static __global__ void nothing() {
}

/* ---- kinds of host memory */

static tsl_err time_copy(probe_card *card, void *to, const void *from, cudaMemcpyKind kind,
                         double *rate) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  const auto move = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_CUDA_TRY(cudaMemcpyAsync(to, from, BYTES, kind, card->stream));
  done:
    return err;
  };
  TSL_TRY(probe_best(card, move, &seconds));
  *rate = (double)BYTES / seconds * 1e-9;
done:
  return err;
}

static tsl_err time_reading(probe_card *card, const void *words, double *rate) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  const auto read = [&]() -> tsl_err {
    tsl_err err = TSL_OK;
    TSL_LAUNCH(read_words, (unsigned)card->processors * 4, BLOCK, 0, card->stream,
               (const float4 *)words, (int64_t)(BYTES / sizeof(float4)), (float *)card->a.data);
  done:
    return err;
  };
  TSL_TRY(probe_best(card, read, &seconds));
  *rate = (double)BYTES / seconds * 1e-9;
done:
  return err;
}

/* Managed pages that the host touched last, read by a kernel once: they travel on demand. */
static tsl_err time_managed(probe_card *card, float *managed, double *rate) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  memset(managed, 0, BYTES);
  TSL_TRY(tsl_gpu_timer_start(&card->timer, card->stream));
  TSL_LAUNCH(read_words, (unsigned)card->processors * 4, BLOCK, 0, card->stream,
             (const float4 *)managed, (int64_t)(BYTES / sizeof(float4)), (float *)card->a.data);
  TSL_TRY(tsl_gpu_timer_stop(&card->timer, card->stream, &seconds));
  *rate = (double)BYTES / seconds * 1e-9;
done:
  return err;
}

static tsl_err probe_kinds(probe_card *card, void *pageable, void *pinned, void *mapped,
                           float *managed, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double best = 0, rate = 0;
  TSL_TRY(time_copy(card, card->a.data, pinned, cudaMemcpyHostToDevice, &best));
  tsl_figures_group(f, "host to card");
  TSL_TRY(tsl_figures_add(f, "pinned", best, "GB/s", 0, "tesela keeps results in pinned memory"));
  TSL_TRY(time_copy(card, card->a.data, pageable, cudaMemcpyHostToDevice, &rate));
  TSL_TRY(tsl_figures_add(f, "pageable", rate, "GB/s", best,
                          "goes through a pinned buffer of the driver"));
  TSL_TRY(time_reading(card, mapped, &rate));
  TSL_TRY(tsl_figures_add(f, "mapped, read by a kernel", rate, "GB/s", best,
                          "pays for what is read once, and where host and card share memory"));
  TSL_TRY(time_managed(card, managed, &rate));
  TSL_TRY(tsl_figures_add(f, "managed, touched on demand", rate, "GB/s", best,
                          "page by page: prefetch, or copy"));
  TSL_TRY(time_copy(card, pinned, card->a.data, cudaMemcpyDeviceToHost, &best));
  tsl_figures_group(f, "card to host");
  TSL_TRY(tsl_figures_add(f, "pinned", best, "GB/s", 0, NULL));
  tsl_figures_mark(f, TSL_TERM_TRANSFER);
  TSL_TRY(time_copy(card, pageable, card->a.data, cudaMemcpyDeviceToHost, &rate));
  TSL_TRY(tsl_figures_add(f, "pageable", rate, "GB/s", best, NULL));
done:
  return err;
}

/* ---- overlap */

/* In, work, out, in pieces dealt to n streams. */
static tsl_err pipeline(probe_card *card, float *host, cudaStream_t *streams, int n, int rounds,
                        double *seconds) {
  enum { PIECES = 16 };
  tsl_err err = TSL_OK;
  const size_t piece = BYTES / PIECES;
  const double begin = now();
  for (int p = 0; p < PIECES; p++) {
    float *here = host + p * (piece / sizeof(float));
    float *there = (float *)card->a.data + p * (piece / sizeof(float));
    cudaStream_t stream = streams[p % n];
    TSL_CUDA_TRY(cudaMemcpyAsync(there, here, piece, cudaMemcpyHostToDevice, stream));
    TSL_LAUNCH(work_on, (unsigned)card->processors, BLOCK, 0, stream, there,
               (int64_t)(piece / sizeof(float)), rounds);
    TSL_CUDA_TRY(cudaMemcpyAsync(here, there, piece, cudaMemcpyDeviceToHost, stream));
  }
  for (int s = 0; s < n; s++) TSL_CUDA_TRY(cudaStreamSynchronize(streams[s]));
  *seconds = now() - begin;
done:
  return err;
}

static tsl_err best_pipeline(probe_card *card, float *host, cudaStream_t *streams, int n,
                             int rounds, double *best) {
  tsl_err err = TSL_OK;
  *best = INFINITY;
  for (int run = 0; run < 4; run++) {
    double seconds = 0;
    TSL_TRY(pipeline(card, host, streams, n, rounds, &seconds));
    if (run > 0) *best = fmin(*best, seconds);
  }
done:
  return err;
}

static tsl_err probe_overlap(probe_card *card, float *host, tsl_figures *f) {
  enum { WORK = 2000 };
  tsl_err err = TSL_OK;
  cudaStream_t streams[STREAMS] = {};
  double one = 0, many = 0;
  for (int s = 0; s < STREAMS; s++)
    TSL_CUDA_TRY(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
  TSL_TRY(best_pipeline(card, host, streams, STREAMS, WORK, &many));
  TSL_TRY(best_pipeline(card, host, streams, 1, WORK, &one));
  tsl_figures_group(f, "copy in, work, copy out");
  TSL_TRY(tsl_figures_add_time(f, "4 streams", many * 1e3, "ms", 0, NULL));
  TSL_TRY(tsl_figures_add_time(f, "1 stream", one * 1e3, "ms", many * 1e3,
                               "streams let transfers and work overlap"));
done:
  for (int s = 0; s < STREAMS; s++)
    if (streams[s] != NULL) (void)cudaStreamDestroy(streams[s]);
  return err;
}

static tsl_err probe_copies(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  void *pageable = malloc(BYTES), *pinned = NULL, *mapped = NULL, *seen = NULL;
  float *managed = NULL;
  if (pageable == NULL) TSL_FAIL(TSL_ERR_MEMORY, "probe: no host memory for %zu bytes", BYTES);
  memset(pageable, 0, BYTES);
  TSL_CUDA_TRY(cudaMallocHost(&pinned, BYTES));
  TSL_CUDA_TRY(cudaHostAlloc(&mapped, BYTES, cudaHostAllocMapped));
  TSL_CUDA_TRY(cudaHostGetDevicePointer(&seen, mapped, 0));
  TSL_CUDA_TRY(cudaMallocManaged(&managed, BYTES));
  memset(pinned, 0, BYTES), memset(mapped, 0, BYTES);
  TSL_TRY(probe_kinds(card, pageable, pinned, seen, managed, f));
  TSL_TRY(probe_overlap(card, (float *)pinned, f));
done:
  free(pageable);
  if (pinned != NULL) (void)cudaFreeHost(pinned);
  if (mapped != NULL) (void)cudaFreeHost(mapped);
  if (managed != NULL) (void)cudaFree(managed);
  return err;
}

/* ---- launches */

static tsl_err launch_many(probe_card *card, bool wait, double *us) {
  tsl_err err = TSL_OK;
  double begin = 0;
  TSL_CUDA_TRY(cudaStreamSynchronize(card->stream));
  begin = now();
  for (int k = 0; k < LAUNCHES; k++) {
    TSL_LAUNCH(nothing, 1, 1, 0, card->stream);
    if (wait) TSL_CUDA_TRY(cudaStreamSynchronize(card->stream));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(card->stream));
  *us = (now() - begin) / LAUNCHES * 1e6;
done:
  return err;
}

static tsl_err launch_graph(probe_card *card, double *us) {
  tsl_err err = TSL_OK;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t ready = NULL;
  double begin = 0;
  TSL_CUDA_TRY(cudaStreamBeginCapture(card->stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < LAUNCHES; k++) nothing<<<1, 1, 0, card->stream>>>();
  TSL_CUDA_TRY(cudaStreamEndCapture(card->stream, &graph));
  TSL_CUDA_TRY(cudaGraphInstantiate(&ready, graph, 0));
  for (int run = 0; run < 2; run++) { /* the first warms up */
    begin = now();
    TSL_CUDA_TRY(cudaGraphLaunch(ready, card->stream));
    TSL_CUDA_TRY(cudaStreamSynchronize(card->stream));
  }
  *us = (now() - begin) / LAUNCHES * 1e6;
done:
  if (ready != NULL) (void)cudaGraphExecDestroy(ready);
  if (graph != NULL) (void)cudaGraphDestroy(graph);
  return err;
}

static tsl_err probe_launches(probe_card *card, tsl_figures *f) {
  tsl_err err = TSL_OK;
  double queued = 0, waited = 0, graph = 0;
  TSL_TRY(launch_many(card, false, &queued)); /* loads the kernel */
  TSL_TRY(launch_many(card, false, &queued));
  TSL_TRY(launch_many(card, true, &waited));
  TSL_TRY(launch_graph(card, &graph));
  tsl_figures_group(f, "launches");
  TSL_TRY(tsl_figures_add_time(f, "kernel of a graph", graph, "us", 0, NULL));
  TSL_TRY(tsl_figures_add_time(f, "kernel, queued", queued, "us", 0,
                               "work shorter than ten of these should be batched"));
  TSL_TRY(tsl_figures_add_time(f, "kernel, waited for", waited, "us", queued,
                               "wait once at the end, not after each kernel"));
  tsl_figures_mark(f, TSL_TERM_LAUNCH);
done:
  return err;
}

const probe_part probe_transfers[] = {probe_copies, probe_launches, NULL};
