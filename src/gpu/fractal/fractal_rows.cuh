/**
 * @file fractal_rows.cuh
 * Exact: all pixels of the boxes of a launch, in pieces of rows that warps draw by tickets.
 *
 * The rows of a box are cut into pieces of FRACTAL_PIECE pixels, the last one shorter; pieces of
 * all boxes are numbered through. A warp draws a number of pieces at once, many at the begin and
 * one at the end (guided), and hands out their pixels to its lanes from left to right.
 */
#pragma once

#include "fractal_lanes.cuh"

enum { FRACTAL_MAX_GRANT = 32 };

/** Index of the box that piece t belongs to: the last one with first <= t. */
static __device__ inline int64_t fractal_box_of(const fractal_box *boxes, int64_t n, int64_t t) {
  int64_t lo = 0, hi = n;
  while (hi - lo > 1) {
    const int64_t mid = (lo + hi) / 2;
    if (boxes[mid].first <= t)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

/** Sums of a lane. */
struct fractal_count {
  unsigned long long values, inside;

  __device__ __forceinline__ void add(uint32_t value) {
    values += value;
    inside += value == 0;
  }
};

/** Sum of all lanes, in lane 0. */
static __device__ __forceinline__ unsigned long long fractal_warp_sum(unsigned long long v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FRACTAL_ALL, v, step);
  return v;
}

/** Add the warp's sum of v to *total. */
static __device__ __forceinline__ void fractal_add_total(unsigned long long *total,
                                                         unsigned long long v) {
  v = fractal_warp_sum(v);
  if (threadIdx.x % 32 == 0 && v != 0) atomicAdd(total, v);
}

/** Draw `count` tickets for the warp; lane 0 asks. @return the first of them */
static __device__ __forceinline__ int64_t fractal_draw(unsigned long long *ticket, int count) {
  unsigned long long t = 0;
  if (threadIdx.x % 32 == 0) t = atomicAdd(ticket, (unsigned long long)count);
  return (int64_t)__shfl_sync(FRACTAL_ALL, t, 0);
}

/** SOURCE of fractal_lanes.cuh; the same in all lanes but for the last two members. */
template <class R> struct fractal_rows {
  const fractal_args<R> &a;
  fractal_box box;
  int64_t in_box;      /* index of the box */
  int64_t row;         /* of the box */
  int64_t column, end; /* pixels of the row that are still to be handed out, box coordinates */
  int left, grant;     /* pieces drawn and not begun; pieces to draw next */
  bool dry;
  int64_t at; /* this lane's pixel in the box */
  void *out;  /* and the values of that box */
  fractal_count count;

  __device__ __forceinline__ explicit fractal_rows(const fractal_args<R> &args)
      : a(args), box(), in_box(-1), row(0), column(0), end(0), left(0), grant(0), dry(false), at(0),
        out(nullptr), count() {
    grant = share(a.n_pieces);
  }

  __device__ __forceinline__ bool empty() const {
    return dry;
  }

  /* A quarter of what each warp would get of the pieces that are left. */
  __device__ __forceinline__ int share(int64_t pieces) const {
    const int64_t warps = (int64_t)gridDim.x * (FRACTAL_BLOCK / 32);
    return (int)max((int64_t)1, min((int64_t)FRACTAL_MAX_GRANT, pieces / (4 * warps)));
  }

  /* Begin at the piece of this number. */
  __device__ __forceinline__ void locate(int64_t t) {
    in_box = fractal_box_of(a.boxes, a.n_boxes, t);
    box = a.boxes[in_box];
    const int64_t in_row = tsl_ceil_div(box.columns, FRACTAL_PIECE);
    row = (t - box.first) / in_row;
    column = (t - box.first) % in_row * FRACTAL_PIECE;
  }

  /* The next row, in this box or the next that is not empty. */
  __device__ __forceinline__ void next_row() {
    column = 0;
    if (++row < box.rows) return;
    row = 0;
    do box = a.boxes[++in_box];
    while (box.rows == 0 || box.columns == 0);
  }

  /* Pieces of one row to hand out. */
  __device__ __forceinline__ void next_segment() {
    if (left > 0) {
      next_row();
    } else {
      const int64_t t = fractal_draw(a.ticket, grant);
      dry = t >= a.n_pieces;
      if (dry) return;
      left = (int)min((int64_t)grant, a.n_pieces - t);
      grant = share(a.n_pieces - t);
      locate(t);
    }
    const int64_t in_row = tsl_ceil_div(box.columns - column, FRACTAL_PIECE);
    const int taken = (int)min((int64_t)left, in_row);
    end = min(box.columns, column + (int64_t)taken * FRACTAL_PIECE);
    left -= taken;
  }

  __device__ __forceinline__ bool take(bool wanted, R *px, R *py) {
    const unsigned wants = __ballot_sync(FRACTAL_ALL, wanted);
    if (column == end) next_segment();
    if (dry) return false;
    const int64_t mine = column + __popc(wants & ((1u << (threadIdx.x % 32)) - 1));
    const bool got = wanted && mine < end;
    if (got) {
      *px = a.x[box.column + mine];
      *py = a.y[box.row + row];
      at = row * box.columns + mine;
      out = box.out;
    }
    column = min(end, column + __popc(wants));
    return got;
  }

  __device__ __forceinline__ void put(uint32_t value) {
    if (a.p.value_type == TSL_U32)
      ((uint32_t *)out)[at] = value;
    else
      ((uint16_t *)out)[at] = (uint16_t)value;
    count.add(value);
  }
};

template <class W, bool PERIODIC>
static __global__ void __launch_bounds__(FRACTAL_BLOCK, FRACTAL_RESIDENT)
    fractal_rows_kernel(const __grid_constant__ fractal_args<typename W::R> a) {
  fractal_rows<typename W::R> source(a);
  fractal_lanes<W, PERIODIC>(a, source);
  if (a.sums) fractal_add_total(a.totals + FRACTAL_TOTAL_VALUES, source.count.values);
  fractal_add_total(a.totals + FRACTAL_TOTAL_INSIDE, source.count.inside);
}
