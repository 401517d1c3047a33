/* Frames of a trajectory on a card: threads of the host that read, sort and count them there. */
#include "parallel.h"
#include "tri_frames_kernels.cuh"
#include "tri_gpu.cuh"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <stdlib.h>
#include <string.h>

namespace {

enum {
  SHARED = 48 << 10, /* bytes of a block */
  CELL_ROOM = 64 + 2 /* cells beyond 2 n, as tri_frame_prepare makes them, and the ends */
};

/* What a thread has for the frame it is at. */
struct seat {
  tri_frames_slot slot;
  cudaStream_t stream;
  tsl_gpu_buffer u, sorted, kind, cell, count, first, scratch, steps, counts;
  uint64_t *host; /* [slots][bins] pinned */
};

/* A frame of a unit. */
struct errand {
  int64_t unit, frame;
};

} // namespace

struct tri_frames_gpu {
  const tsl_problem *problem;
  tri_params p;
  int card, processors;
  int threads;    /* of the team, that have a seat */
  tsl_team *team; /* of the worker's own */
  size_t scratch; /* bytes of the scan */
  tsl_gpu_memory memory;
  tsl_gpu_buffer kinds, place_of; /* with kinds: of the atoms, and where counts of two begin */
  seat *seats;                    /* [threads] */
  /* of a run */
  const tsl_unit *units;
  tsl_part *parts;
  const errand *errands;
};

namespace {

/* ------------------------------------------------------------------ memory */

tsl_err seat_create(tri_frames_gpu *w, seat *s) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p.n, cells = 2 * n + CELL_ROOM, counts = tri_cells_of(&w->p);
  void *host = nullptr;
  TSL_TRY(tri_frames_slot_create(w->problem, &s->slot));
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->u, 12 * n, "atoms"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->sorted, 12 * n, "sorted atoms"));
  if (w->p.classes > 0) TSL_TRY(tsl_gpu_reserve(&w->memory, &s->kind, 4 * n, "kinds of atoms"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->cell, 4 * n, "cells of atoms"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->count, 4 * cells, "cells"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->first, 4 * cells, "cells"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->scratch, (int64_t)w->scratch, "scratch"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->steps, TRI_STEPS * (int64_t)sizeof(tri_step), "steps"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->counts, 8 * counts, "counts"));
  TSL_TRY(tsl_gpu_host_alloc(8 * counts, &host));
  s->host = (uint64_t *)host;
done:
  return err;
}

void seat_clear(tri_frames_gpu *w, seat *s) {
  if (s->stream != nullptr) (void)cudaStreamSynchronize(s->stream);
  tri_frames_slot_clear(&s->slot);
  tsl_gpu_buffer *const buffers[] = {&s->u,     &s->sorted,  &s->kind,  &s->cell,  &s->count,
                                     &s->first, &s->scratch, &s->steps, &s->counts};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  tsl_gpu_host_free(s->host);
  s->host = nullptr;
  if (s->stream != nullptr) (void)cudaStreamDestroy(s->stream);
  s->stream = nullptr;
}

/* Kinds of the atoms, and where the counts of two kinds begin: for all threads. */
tsl_err put_kinds(tri_frames_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p.n, pairs = (int64_t)w->p.classes * w->p.classes;
  const tsl_field *f = w->problem->fields;
  const int32_t *slots = (const int32_t *)f[TRI_FRAMES_SLOTS].data;
  int32_t *places = nullptr;
  if (pairs == 0) return TSL_OK;
  places = (int32_t *)calloc((size_t)pairs, sizeof *places);
  if (places == nullptr) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for kinds");
  for (int64_t k = 0; k < pairs; k++) places[k] = slots[k] * w->p.bins;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->kinds, 4 * n, "kinds of atoms"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->place_of, 4 * pairs, "places of counts"));
  TSL_CUDA_TRY(
      cudaMemcpy(w->kinds.data, f[TRI_FRAMES_CLASSES].data, (size_t)n * 4, cudaMemcpyHostToDevice));
  TSL_CUDA_TRY(cudaMemcpy(w->place_of.data, places, (size_t)pairs * 4, cudaMemcpyHostToDevice));
done:
  free(places);
  return err;
}

/* As many threads as cores, fewer where memory does not suffice. */
tsl_err make_seats(tri_frames_gpu *w) {
  tsl_err err = TSL_OK;
  const int wanted = std::min<int>(tsl_usable_cores(), TRI_READERS);
  w->seats = (seat *)calloc((size_t)wanted, sizeof *w->seats);
  if (w->seats == nullptr) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for frames");
  for (int k = 0; k < wanted; k++) {
    err = seat_create(w, &w->seats[k]);
    if ((err == TSL_ERR_DEVICE_MEMORY || err == TSL_ERR_MEMORY) && k > 0) {
      seat_clear(w, &w->seats[k]);
      return TSL_OK;
    }
    w->threads = k + 1; /* also to be cleared */
    TSL_TRY(err);
  }
done:
  return err;
}

/* ------------------------------------------------------------------- frames */

tsl_err sort_frame(tri_frames_gpu *w, seat *s) {
  tsl_err err = TSL_OK;
  const tri_frame *f = &s->slot.frame;
  const int n = (int)f->n, cells = f->cells[0] * f->cells[1] * f->cells[2];
  sort_args a = {(const uint32_t *)s->u.data,
                 (uint32_t *)s->sorted.data,
                 w->p.classes > 0 ? (const int *)w->kinds.data : nullptr,
                 (int *)s->kind.data,
                 (int *)s->cell.data,
                 (int *)s->count.data,
                 n,
                 {f->cells[0], f->cells[1], f->cells[2]}};
  const dim3 grid((unsigned)tsl_ceil_div(n, FRAME_BLOCK));
  const size_t bytes = (size_t)(cells + 1) * 4;
  size_t scratch = w->scratch;
  TSL_CUDA_TRY(
      cudaMemcpyAsync(s->u.data, f->u[0], (size_t)n * 12, cudaMemcpyHostToDevice, s->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(s->steps.data, f->steps, (size_t)f->n_steps * sizeof(tri_step),
                               cudaMemcpyHostToDevice, s->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(a.count, 0, bytes, s->stream));
  TSL_LAUNCH(count_kernel, grid, FRAME_BLOCK, 0, s->stream, a);
  TSL_CUDA_TRY(cub::DeviceScan::ExclusiveSum(s->scratch.data, scratch, a.count,
                                             (int *)s->first.data, cells + 1, s->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(a.count, s->first.data, bytes, cudaMemcpyDeviceToDevice, s->stream));
  TSL_LAUNCH(put_kernel, grid, FRAME_BLOCK, 0, s->stream, a);
done:
  return err;
}

template <class R> tsl_err count_frame(tri_frames_gpu *w, seat *s) {
  tsl_err err = TSL_OK;
  const tri_params *p = &w->p;
  const tri_frame *f = &s->slot.frame;
  const int64_t cells = (int64_t)f->cells[0] * f->cells[1] * f->cells[2];
  const int64_t counts = tri_cells_of(p);
  const int room = (int)(SHARED / 4 / counts);
  const int warps = room >= FRAME_BLOCK / 32 || room == 0 ? FRAME_BLOCK / 32 : room;
  const int64_t blocks = tsl_ceil_div(cells, warps), most = 16 * (int64_t)w->processors;
  frame_args<R> a = {};
  for (int k = 0; k < 3; k++) a.u[k] = (const uint32_t *)s->sorted.data + k * f->n;
  for (int k = 0; k < 6; k++) a.m[k] = (R)f->m[k];
  a.first = (const int *)s->first.data;
  a.steps = (const tri_step *)s->steps.data;
  a.n_steps = f->n_steps;
  a.n1 = f->cells[0], a.n2 = f->cells[1], a.n3 = f->cells[2];
  a.bins = p->bins;
  a.kind = p->classes > 0 ? (const int *)s->kind.data : nullptr;
  a.place_of = (const int *)w->place_of.data;
  a.classes = p->classes, a.room = (int)counts;
  a.warps = room == 0 ? 0 : warps;
  a.lo = (R)p->range_lo, a.hi = (R)p->range_hi;
  a.inv_width = (R)(p->bins / (p->range_hi - p->range_lo));
  a.counts = (unsigned long long *)s->counts.data;
  TSL_CUDA_TRY(cudaMemsetAsync(a.counts, 0, (size_t)counts * 8, s->stream));
  TSL_LAUNCH((frame_kernel<R>), dim3((unsigned)(blocks < most ? blocks : most)), warps * 32,
             (size_t)a.warps * counts * 4, s->stream, a);
  TSL_TRY(tsl_gpu_copy(s, s->host, a.counts, (size_t)counts * 8));
done:
  return err;
}

tsl_err run_frame(tri_frames_gpu *w, seat *s, const errand *e) {
  tsl_err err = TSL_OK;
  TSL_TRY(tri_frames_slot_read(w->problem, e->frame, &s->slot));
  if (w->p.frames_pairs > 0) { /* so few that the host has them at once */
    tri_frames_put_pairs(w->problem, &w->units[e->unit], e->frame, &s->slot, &w->parts[e->unit]);
    return TSL_OK;
  }
  TSL_TRY(sort_frame(w, s));
  TSL_TRY(w->p.type == TSL_F64 ? count_frame<double>(w, s) : count_frame<float>(w, s));
  tri_frames_put(w->problem, &w->units[e->unit], e->frame, s->slot.frame.volume, s->host,
                 &w->parts[e->unit]);
done:
  if (err != TSL_OK) (void)cudaStreamSynchronize(s->stream);
  return err;
}

/* A range of one frame. */
tsl_err take_frame(void *context, int slot, int64_t k, int64_t) {
  tri_frames_gpu *const w = (tri_frames_gpu *)context;
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaSetDevice(w->card));
  TSL_TRY(run_frame(w, &w->seats[slot], &w->errands[k]));
done:
  return err;
}

double now() {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

} // namespace

/* --------------------------------------------------------------- the worker */

void tri_frames_close_gpu(tri_frames_gpu **frames) {
  tri_frames_gpu *w = *frames;
  if (w == nullptr) return;
  tsl_team_close(&w->team);
  for (int k = 0; k < w->threads; k++) seat_clear(w, &w->seats[k]);
  tsl_gpu_release(&w->memory, &w->kinds);
  tsl_gpu_release(&w->memory, &w->place_of);
  free(w->seats);
  free(w);
  *frames = nullptr;
}

tsl_err tri_frames_open_gpu(const tsl_problem *problem, const tsl_device *device,
                            tri_frames_gpu **out) {
  tsl_err err = TSL_OK;
  tri_frames_gpu *w = (tri_frames_gpu *)calloc(1, sizeof *w);
  if (w == nullptr) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for a worker");
  w->problem = problem;
  w->p = *tri_params_of(problem);
  w->card = device->index;
  w->memory.limit = device->memory_limit;
  if (w->p.n > 1000000000)
    TSL_FAIL(TSL_ERR_INPUT, "a card takes frames of 1e9 atoms at most; run.device: cpu takes more");
  TSL_CUDA_TRY(
      cudaDeviceGetAttribute(&w->processors, cudaDevAttrMultiProcessorCount, device->index));
  TSL_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, w->scratch, (int *)nullptr, (int *)nullptr,
                                             (int)(2 * w->p.n + CELL_ROOM)));
  TSL_TRY(put_kinds(w));
  TSL_TRY(make_seats(w));
  TSL_TRY(tsl_team_open(w->threads, &w->team));
done:
  if (err != TSL_OK) tri_frames_close_gpu(&w);
  *out = w;
  return err;
}

int64_t tri_frames_saturating_gpu(const tri_frames_gpu *frames) {
  return 4 * (int64_t)frames->threads; /* threads wait for the last frames of a batch */
}

tsl_err tri_frames_run_gpu(tri_frames_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = now();
  errand *errands = nullptr;
  int64_t m = 0;
  for (int64_t u = 0; u < n; u++) m += units[u].hi[0] - units[u].lo[0];
  errands = (errand *)calloc((size_t)(m > 0 ? m : 1), sizeof *errands);
  if (errands == nullptr) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for frames");
  m = 0;
  for (int64_t u = 0; u < n; u++)
    for (int64_t k = units[u].lo[0]; k < units[u].hi[0]; k++) errands[m++] = {u, k};
  w->units = units, w->parts = parts, w->errands = errands;
  TSL_TRY(tsl_team_run(w->team, m, 1, take_frame, w));
  for (int64_t u = 0; u < n; u++)
    parts[u].seconds =
        m > 0 ? (now() - start) * (double)(units[u].hi[0] - units[u].lo[0]) / (double)m : 0;
done:
  free(errands);
  return err;
}
