/**
 * @file fractal_auto.cuh
 * Launches of our own kernels; included by fractal_auto_f32.cu and fractal_auto_f64.cu.
 */
#pragma once

#include "fractal_fill.cuh"

/** Blocks of a persistent grid: what the card holds, or what the work asks for. */
static inline unsigned fractal_blocks(const fractal_gpu *w, int64_t pieces) {
  const int64_t resident = (int64_t)w->processors * FRACTAL_RESIDENT;
  const int64_t wanted = tsl_ceil_div(pieces, FRACTAL_BLOCK / 32);
  return (unsigned)(wanted < resident ? wanted : resident);
}

template <class W, bool PERIODIC>
static tsl_err fractal_launch(const fractal_gpu *w, const fractal_args<typename W::R> &args) {
  tsl_err err = TSL_OK;
  const unsigned blocks = fractal_blocks(w, args.n_pieces);
  if (w->p.exact)
    TSL_LAUNCH((fractal_rows_kernel<W, PERIODIC>), blocks, FRACTAL_BLOCK, 0, w->stream, args);
  else
    TSL_LAUNCH((fractal_fill_kernel<W, PERIODIC>), blocks, FRACTAL_BLOCK, 0, w->stream, args);
done:
  return err;
}

template <class R, bool SHIP, int WAY>
static tsl_err fractal_launch_way(const fractal_gpu *w, const fractal_args<R> &args) {
  typedef fractal_walk<R, SHIP, WAY> walk;
  return w->p.periodicity ? fractal_launch<walk, true>(w, args)
                          : fractal_launch<walk, false>(w, args);
}

template <class R, bool SHIP>
static tsl_err fractal_launch_set(const fractal_gpu *w, const fractal_args<R> &args) {
  if (w->p.wild) return fractal_launch_way<R, SHIP, FRACTAL_WILD>(w, args);
  if (w->p.doubling) return fractal_launch_way<R, SHIP, FRACTAL_CARRY>(w, args);
  return fractal_launch_way<R, SHIP, FRACTAL_PLAIN>(w, args);
}

template <class R> tsl_err fractal_auto_run(fractal_gpu *w, int64_t n) {
  tsl_err err = TSL_OK;
  fractal_args<R> args = {};
  int64_t n_pieces = 0;
  TSL_TRY(fractal_upload_boxes(w, n, &n_pieces));
  args = fractal_args_of<R>(w, n, n_pieces);
  if (w->p.set == FRACTAL_BURNING_SHIP)
    TSL_TRY((fractal_launch_set<R, true>(w, args)));
  else
    TSL_TRY((fractal_launch_set<R, false>(w, args)));
done:
  return err;
}
