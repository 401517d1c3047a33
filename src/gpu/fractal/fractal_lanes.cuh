/**
 * @file fractal_lanes.cuh
 * A warp whose lanes each follow a pixel of their own and are refilled from a source.
 *
 * The warp advances in blocks of `length` runs of steps without any test. After a block every lane
 * tests once, and length grows (1, 2, 4, ..) as long as no pixel leaves; when one does it goes back
 * to 1. A lane that is done waits until tuning.refill lanes are; then those that left are walked
 * again, step by step from the begin of their block, all together, values are put, and the lanes
 * take new pixels. Values are those of the plain loop (fractal_fn.h says why).
 *
 * A SOURCE has, for the whole warp at once:
 *   bool empty() const                             nothing left to take; known once a take failed
 *   bool take(bool wanted, R *px, R *py)           a pixel for each wanting lane; false: none
 * and for each lane:
 *   void put(uint32_t value)                       the value of the pixel this lane took last
 */
#pragma once

#include "fractal_gpu.cuh"
#include "fractal_walk.cuh"

#define FRACTAL_ALL 0xffffffffu

enum fractal_state {
  FRACTAL_IDLE,  /**< no pixel */
  FRACTAL_WORKS, /**< on its way */
  FRACTAL_LEFT,  /**< out at the end of the block that began at (x0, y0) after n steps */
  FRACTAL_STAYS  /**< value 0 */
};

/** What a lane knows of its pixel. */
template <class W, bool PERIODIC> struct fractal_lane {
  typedef typename W::R R;
  W z;
  R x0, y0;       /* state at the begin of the block */
  R xs, ys;       /* PERIODIC: state that a later one may repeat */
  uint32_t n;     /* steps done before the block */
  uint32_t again; /* PERIODIC: save the state from here on */
  int state;

  __device__ __forceinline__ void start(const fractal_params *p, R px, R py) {
    z.start(p, px, py);
    n = 0;
    state = FRACTAL_WORKS;
    if (!PERIODIC) return;
    xs = z.x;
    ys = z.y;
    again = W::RUN;
  }

  /* Has the state come back? R. P. Brent, BIT 20 (1980) 176: saved at growing distances. */
  __device__ __forceinline__ bool repeats() {
    const bool same = fractal_same_bits(z.x, xs) && fractal_same_bits(z.y, ys);
    if (n >= again) {
      xs = z.x;
      ys = z.y;
      again = 2 * n;
    }
    return same;
  }

  /* A block of length runs. @return whether this pixel left in it */
  __device__ __forceinline__ bool block(int length, uint32_t last) {
    bool out = false;
    if (state == FRACTAL_WORKS) {
      x0 = z.x;
      y0 = z.y;
    }
    for (int r = 0; r < length; r++) out |= z.run();
    if (W::WAY != FRACTAL_WILD) out = z.is_out();
    if (state != FRACTAL_WORKS) return false;
    if (out) {
      state = FRACTAL_LEFT;
      return true;
    }
    n += (uint32_t)(length * W::RUN);
    if (n >= last || (PERIODIC && repeats())) state = FRACTAL_STAYS;
    return false;
  }

  /* The value of a pixel that left or stays. */
  __device__ __forceinline__ uint32_t value(uint32_t last) {
    if (state == FRACTAL_STAYS) return 0;
    z.x = x0;
    z.y = y0;
    for (; n < last && !z.is_out(); n++) z.step();
    return n < last ? n + 1 : 0;
  }
};

/** Give the lanes that want one a pixel, until few are without or the source is empty. */
template <class LANE, class R, class SOURCE>
static __device__ __forceinline__ void fractal_refill(const fractal_args<R> &a, LANE &lane,
                                                      SOURCE &source) {
  do {
    R px, py;
    if (source.take(lane.state == FRACTAL_IDLE, &px, &py)) {
      lane.start(&a.p, px, py);
      if (a.p.set == FRACTAL_MANDELBROT && a.p.interior && fractal_is_interior(px, py)) {
        source.put(0);
        lane.state = FRACTAL_IDLE;
      }
    }
    __syncwarp();
  } while (!source.empty() &&
           __popc(__ballot_sync(FRACTAL_ALL, lane.state == FRACTAL_IDLE)) >= a.tuning.refill);
}

/** Compute all pixels of the source. All 32 lanes of the warp call it. */
template <class W, bool PERIODIC, class SOURCE>
static __device__ __forceinline__ void fractal_lanes(const fractal_args<typename W::R> &a,
                                                     SOURCE &source) {
  const uint32_t last = (uint32_t)a.p.maxiter - 1; /* states 0..last - 1 are tested */
  fractal_lane<W, PERIODIC> lane = {};
  int length = 1;
  for (;;) {
    const int busy = __popc(__ballot_sync(FRACTAL_ALL, lane.state == FRACTAL_WORKS));
    if (source.empty() ? busy == 0 : 32 - busy >= a.tuning.refill) {
      if (lane.state > FRACTAL_WORKS) {
        source.put(lane.value(last));
        lane.state = FRACTAL_IDLE;
      }
      __syncwarp();
      fractal_refill(a, lane, source);
      if (!__any_sync(FRACTAL_ALL, lane.state == FRACTAL_WORKS)) return;
      length = 1;
    }
    const bool left = __any_sync(FRACTAL_ALL, lane.block(length, last));
    length = left ? 1 : min(2 * length, a.tuning.longest);
  }
}
