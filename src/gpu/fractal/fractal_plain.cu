/* The seed's threads: one for each column of a box, or one for each pixel; the plain loop. */
#include "fractal_gpu.cuh"
#include "fractal_walk.cuh"

enum { WIDTH = FRACTAL_BLOCK_WIDTH, COLUMNS = 128, PIXELS = 256, MOST = 1024 }; /* of a block */

template <class R, class V>
static __global__ void __launch_bounds__(MOST)
    columns_kernel(const __grid_constant__ fractal_args<R> a, fractal_box box) {
  const int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= box.columns) return;
  const R x = a.x[box.column + c];
  for (int64_t r = 0; r < box.rows; r++)
    ((V *)box.out)[r * box.columns + c] = (V)fractal_plain(&a.p, x, a.y[box.row + r]);
}

/* blockIdx.y has less range than there may be rows: further rows are a loop. */
template <class R, class V>
static __global__ void __launch_bounds__(MOST)
    pixels_kernel(const __grid_constant__ fractal_args<R> a, fractal_box box) {
  const int64_t c = (int64_t)blockIdx.x * WIDTH + threadIdx.x;
  if (c >= box.columns) return;
  for (int64_t r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; r < box.rows;
       r += (int64_t)gridDim.y * blockDim.y)
    ((V *)box.out)[r * box.columns + c] =
        (V)fractal_plain(&a.p, a.x[box.column + c], a.y[box.row + r]);
}

template <class R, class V> static tsl_err run_box(const fractal_gpu *w, const fractal_box *box) {
  tsl_err err = TSL_OK;
  const fractal_args<R> args = fractal_args_of<R>(w, 0, 0);
  const bool columns = w->p.threads == FRACTAL_THREADS_1D;
  const unsigned threads = w->p.block > 0 ? (unsigned)w->p.block : columns ? COLUMNS : PIXELS;
  const int64_t down = tsl_ceil_div(box->rows, threads / WIDTH);
  const dim3 grid((unsigned)tsl_ceil_div(box->columns, WIDTH),
                  (unsigned)(down < 65535 ? down : 65535));
  if (columns)
    TSL_LAUNCH((columns_kernel<R, V>), (unsigned)tsl_ceil_div(box->columns, threads), threads, 0,
               w->stream, args, *box);
  else
    TSL_LAUNCH((pixels_kernel<R, V>), grid, dim3(WIDTH, threads / WIDTH), 0, w->stream, args, *box);
done:
  return err;
}

template <class R> static tsl_err run_typed(const fractal_gpu *w, const fractal_box *box) {
  return fractal_is_wide(&w->p) ? run_box<R, uint32_t>(w, box) : run_box<R, uint16_t>(w, box);
}

tsl_err fractal_plain_run(fractal_gpu *w, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t b = 0; b < n; b++) {
    if (w->p.type == TSL_F64)
      TSL_TRY(run_typed<double>(w, &w->list[b]));
    else
      TSL_TRY(run_typed<float>(w, &w->list[b]));
  }
done:
  return err;
}
