/**
 * @file tri_frames_kernels.cuh
 * Atoms of a frame are sorted into the cells of a grid by counting; a warp takes a cell, its lanes
 * the atoms that the cell must look at. Each warp counts into shared memory of its own. What the
 * order of atoms within a cell is does not matter to counts. Included once.
 */
#pragma once

#include "tri_frames.cuh"

namespace {

enum {
  FRAME_BLOCK = 256,
  FLUSH = 1 << 30 /* pairs that a warp counts before it adds them up: below 2^32 in a bin */
};

/* A frame on the card; R is float or double. */
template <class R> struct frame_args {
  const uint32_t *u[3]; /* [n] sorted */
  const int *first;     /* [cells + 1] */
  const tri_step *steps;
  int n_steps, n1, n2, n3, bins, warps;
  R m[6], lo, hi, inv_width;
  const int *kind;            /* [n] sorted; null: all are alike */
  const int *place_of;        /* [classes][classes] where the counts of two kinds begin */
  int classes, room;          /* room: slots bins */
  unsigned long long *counts; /* [slots][bins] */
};

__device__ __forceinline__ int bin_of(const frame_args<float> &a, uint32_t x, uint32_t y,
                                      uint32_t z) {
  return tri_bin_f32(tri_frame_distance_f32(a.m, x, y, z), a.lo, a.hi, a.inv_width, a.bins);
}
__device__ __forceinline__ int bin_of(const frame_args<double> &a, uint32_t x, uint32_t y,
                                      uint32_t z) {
  return tri_bin_f64(tri_frame_distance_f64(a.m, x, y, z), a.lo, a.hi, a.inv_width, a.bins);
}

/* The counts of a warp: its own in shared memory, or those of the frame where there is no room. */
struct tally {
  unsigned *mine;
  unsigned since;
};

template <class R> __device__ void flush(const frame_args<R> &a, tally *t) {
  __syncwarp();
  for (int b = threadIdx.x % 32; t->mine != nullptr && b < a.room; b += 32) {
    if (t->mine[b] != 0) atomicAdd(a.counts + b, (unsigned long long)t->mine[b]);
    t->mine[b] = 0;
  }
  t->since = 0;
  __syncwarp();
}

/* Atoms [lo, hi) of a cell with the atoms [from, to) of others; within: those after it. */
template <class R>
__device__ void look(const frame_args<R> &a, tally *t, int lo, int hi, int from, int to,
                     bool within) {
  for (int first = from; first < to; first += 32) {
    const int j = first + (int)threadIdx.x % 32;
    const bool there = j < to;
    const int kind = there && a.kind != nullptr ? a.kind[j] : 0;
    const uint32_t x = there ? a.u[0][j] : 0, y = there ? a.u[1][j] : 0, z = there ? a.u[2][j] : 0;
    for (int i = lo; i < hi; i++) {
      int b = bin_of(a, x - a.u[0][i], y - a.u[1][i], z - a.u[2][i]);
      if (!there || b < 0 || (within && j <= i)) continue;
      if (a.kind != nullptr) b += a.place_of[a.kind[i] * a.classes + kind];
      if (t->mine != nullptr)
        atomicAdd(t->mine + b, 1u);
      else
        atomicAdd(a.counts + b, 1ull);
    }
    t->since += 32u * (unsigned)(hi - lo < FLUSH / 32 ? hi - lo : FLUSH / 32);
    if (t->since >= (unsigned)FLUSH) flush(a, t);
  }
}

/* Cell k of a row of cells, and all cells after it that are near. */
template <class R> __device__ void take_cell(const frame_args<R> &a, tally *t, int row, int k) {
  const int *const own = a.first + (int64_t)row * a.n1;
  const int lo = own[k], hi = own[k + 1];
  if (lo == hi) return;
  look(a, t, lo, hi, lo, hi, true);
  for (int s = 0; s < a.n_steps; s++) {
    const tri_step step = a.steps[s];
    const int other = (row / a.n2 + step.d3) % a.n3 * a.n2 + (row % a.n2 + step.d2) % a.n2;
    if (other < row) continue;
    const int *const its = a.first + (int64_t)other * a.n1;
    int begin, end;
    const int rest = tri_step_run(&step, a.n1, k, &begin, &end);
    if (other == row) { /* cells after this one */
      if (rest > k) look(a, t, lo, hi, hi, own[rest + 1], false);
      begin = begin > k ? begin : k + 1;
    } else if (rest >= 0) {
      look(a, t, lo, hi, its[0], its[rest + 1], false);
    }
    if (begin <= end) look(a, t, lo, hi, its[begin], its[end + 1], false);
  }
}

template <class R> __global__ void __launch_bounds__(FRAME_BLOCK) frame_kernel(frame_args<R> a) {
  extern __shared__ unsigned shared[];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int cells = a.n1 * a.n2 * a.n3;
  tally t = {a.warps > 0 ? shared + warp * a.room : nullptr, 0};
  for (int b = threadIdx.x % 32; t.mine != nullptr && b < a.room; b += 32) t.mine[b] = 0;
  __syncwarp();
  for (int c = blockIdx.x * warps + warp; c < cells; c += gridDim.x * warps)
    take_cell(a, &t, c / a.n1, c % a.n1);
  flush(a, &t);
}

/* Places of a frame as they came, and where they go. */
struct sort_args {
  const uint32_t *u; /* [3][n] */
  uint32_t *sorted;  /* [3][n] */
  const int *kind;   /* [n]; null: all are alike */
  int *sorted_kind;  /* [n] */
  int *cell;         /* [n] */
  int *count;        /* [cells + 1] atoms of each, then where the next one goes */
  int n, cells[3];
};

__global__ void __launch_bounds__(FRAME_BLOCK) count_kernel(sort_args a) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= a.n) return;
  int at[3];
  for (int k = 0; k < 3; k++) at[k] = tri_frame_cell(a.u[(int64_t)k * a.n + i], a.cells[k]);
  a.cell[i] = (at[2] * a.cells[1] + at[1]) * a.cells[0] + at[0];
  atomicAdd(a.count + a.cell[i], 1);
}

__global__ void __launch_bounds__(FRAME_BLOCK) put_kernel(sort_args a) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= a.n) return;
  const int to = atomicAdd(a.count + a.cell[i], 1);
  for (int k = 0; k < 3; k++) a.sorted[(int64_t)k * a.n + to] = a.u[(int64_t)k * a.n + i];
  if (a.kind != nullptr) a.sorted_kind[to] = a.kind[i];
}

} // namespace
