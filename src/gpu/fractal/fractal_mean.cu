/* Totals of an image that is in memory: the seed's three sums of the values, and the count of
 * pixels inside; and binarising. */
#include "fractal_gpu.cuh"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 256, SMALL_CHUNK = 1024, LARGE_CHUNK = 1 << 27 };

/* Values of a box, one after another. */
template <class V> struct values {
  const V *at;
  int64_t n;
};

/* Sum over the block in shared memory, by halves; in thread 0. */
static __device__ unsigned long long block_tree(unsigned long long v) {
  __shared__ unsigned long long tree[BLOCK];
  __syncthreads();
  tree[threadIdx.x] = v;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  __syncthreads();
  return tree[0];
}

/* tree, first kernel: each block's sum of its values. */
template <class V>
static __global__ void __launch_bounds__(BLOCK)
    tree_kernel(values<V> image, unsigned long long *partial) {
  unsigned long long sum = 0;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < image.n;
       i += (int64_t)gridDim.x * BLOCK)
    sum += image.at[i];
  sum = block_tree(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/* tree, second kernel: one block adds the sums to the total. */
static __global__ void __launch_bounds__(BLOCK)
    tree_end_kernel(const unsigned long long *partial, int n, unsigned long long *total) {
  unsigned long long sum = 0;
  for (int i = (int)threadIdx.x; i < n; i += BLOCK) sum += partial[i];
  sum = block_tree(sum);
  if (threadIdx.x == 0) *total += sum;
}

/* atomic: every value is added to one number. */
template <class V>
static __global__ void __launch_bounds__(BLOCK)
    atomic_kernel(values<V> image, unsigned long long *total) {
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < image.n;
       i += (int64_t)gridDim.x * BLOCK)
    atomicAdd(total, (unsigned long long)image.at[i]);
}

/* Count the zeros; with `sums` also add up the values. */
template <class V>
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(values<V> image, bool sums, unsigned long long *totals) {
  unsigned long long sum = 0, zeros = 0;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < image.n;
       i += (int64_t)gridDim.x * BLOCK) {
    sum += image.at[i];
    zeros += image.at[i] == 0;
  }
  sum = block_tree(sum);
  zeros = block_tree(zeros);
  if (threadIdx.x != 0) return;
  if (sums) atomicAdd(totals + FRACTAL_TOTAL_VALUES, sum);
  atomicAdd(totals + FRACTAL_TOTAL_INSIDE, zeros);
}

template <class V>
static __global__ void __launch_bounds__(BLOCK) double_kernel(values<V> image, double *out) {
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < image.n;
       i += (int64_t)gridDim.x * BLOCK)
    out[i] = (double)image.at[i];
}

static __global__ void add_kernel(const double *sum, unsigned long long *total) {
  *total += (unsigned long long)*sum;
}

template <class V>
static __global__ void __launch_bounds__(BLOCK)
    binarise_kernel(values<V> image, uint32_t edge, uint8_t *out) {
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < image.n;
       i += (int64_t)gridDim.x * BLOCK)
    out[i] = (uint8_t)(image.at[i] >= edge ? 255 : 0);
}

/* A thread for each of the image's columns. */
template <class V>
static __global__ void __launch_bounds__(BLOCK)
    binarise_columns_kernel(values<V> image, int64_t columns, uint32_t edge, uint8_t *out) {
  const int64_t c = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (c >= columns) return;
  for (int64_t i = c; i < image.n; i += columns) out[i] = (uint8_t)(image.at[i] >= edge ? 255 : 0);
}

static unsigned blocks_of(const fractal_gpu *w, int64_t n) {
  const int64_t wanted = tsl_ceil_div(n, BLOCK), most = 8 * (int64_t)w->processors;
  return (unsigned)(wanted < most ? wanted : most);
}

/* ----------------------------------------------------------------- cuBLAS */

static tsl_err open_blas(fractal_gpu *w) {
  tsl_err err = TSL_OK;
  if (w->blas != NULL) return TSL_OK;
  TSL_TRY(tsl_blas_create(w->stream, &w->blas));
  TSL_BLAS_TRY(tsl_blas.SetPointerMode(w->blas, CUBLAS_POINTER_MODE_DEVICE));
done:
  if (err != TSL_OK) tsl_blas_destroy(&w->blas);
  return err;
}

/* Values whose sum stays below 2^53, and not too many. */
static int64_t exact_chunk(const fractal_gpu *w) {
  const int64_t exact = (INT64_C(1) << 53) / w->p.maxiter;
  return exact < LARGE_CHUNK ? exact : (int64_t)LARGE_CHUNK;
}

template <class V> static tsl_err cublas_sum(fractal_gpu *w, values<V> image) {
  tsl_err err = TSL_OK;
  double *const sum = (double *)w->scratch.data;
  int64_t chunk = w->scratch.bytes / 8 - 1;
  if (chunk > exact_chunk(w)) chunk = exact_chunk(w);
  for (int64_t i = 0; i < image.n; i += chunk) {
    const values<V> part = {image.at + i, image.n - i < chunk ? image.n - i : chunk};
    TSL_LAUNCH((double_kernel<V>), blocks_of(w, part.n), BLOCK, 0, w->stream, part, sum + 1);
    TSL_BLAS_TRY(tsl_blas.Dasum(w->blas, (int)part.n, sum + 1, 1, sum));
    TSL_LAUNCH(add_kernel, 1, 1, 0, w->stream, sum, fractal_totals_of(w) + FRACTAL_TOTAL_VALUES);
  }
done:
  return err;
}

/* ----------------------------------------------------------------- totals */

/* cublas: as many doubles as the largest box has values, or as the memory allows. */
static tsl_err reserve_doubles(fractal_gpu *w, int64_t values) {
  tsl_err err = TSL_OK;
  int64_t chunk = values < exact_chunk(w) ? values : exact_chunk(w);
  for (;; chunk /= 2) {
    err = tsl_gpu_reserve(&w->memory, &w->scratch, 8 * (chunk + 1), "the image as doubles");
    if (err != TSL_ERR_DEVICE_MEMORY || chunk <= SMALL_CHUNK) return err;
  }
}

tsl_err fractal_totals_reserve(fractal_gpu *w, int64_t n) {
  tsl_err err = TSL_OK;
  int64_t most = 0;
  for (int64_t b = 0; b < n; b++) {
    const int64_t values = w->list[b].rows * w->list[b].columns;
    if (values > most) most = values;
  }
  if (w->p.mean == FRACTAL_MEAN_TREE)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->scratch, 8 * (int64_t)blocks_of(w, most),
                            "sums of blocks"));
  if (w->p.mean == FRACTAL_MEAN_CUBLAS) {
    TSL_TRY(reserve_doubles(w, most));
    TSL_TRY(open_blas(w));
  }
done:
  return err;
}

template <class V> static tsl_err tree_sum(fractal_gpu *w, values<V> image) {
  tsl_err err = TSL_OK;
  const unsigned blocks = blocks_of(w, image.n);
  unsigned long long *const partial = (unsigned long long *)w->scratch.data;
  TSL_LAUNCH((tree_kernel<V>), blocks, BLOCK, 0, w->stream, image, partial);
  TSL_LAUNCH(tree_end_kernel, 1, BLOCK, 0, w->stream, partial, (int)blocks,
             fractal_totals_of(w) + FRACTAL_TOTAL_VALUES);
done:
  return err;
}

template <class V> static tsl_err totals_of(fractal_gpu *w, const fractal_box *box) {
  tsl_err err = TSL_OK;
  const values<V> image = {(const V *)box->out, box->rows * box->columns};
  if (image.n == 0) return TSL_OK;
  if (w->p.threads != FRACTAL_THREADS_AUTO)
    TSL_LAUNCH((count_kernel<V>), blocks_of(w, image.n), BLOCK, 0, w->stream, image,
               w->p.mean == FRACTAL_MEAN_AUTO, fractal_totals_of(w));
  if (w->p.mean == FRACTAL_MEAN_CUBLAS) TSL_TRY(cublas_sum(w, image));
  if (w->p.mean == FRACTAL_MEAN_TREE) TSL_TRY(tree_sum(w, image));
  if (w->p.mean == FRACTAL_MEAN_ATOMIC)
    TSL_LAUNCH((atomic_kernel<V>), blocks_of(w, image.n), BLOCK, 0, w->stream, image,
               fractal_totals_of(w) + FRACTAL_TOTAL_VALUES);
done:
  return err;
}

tsl_err fractal_totals_run(fractal_gpu *w, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t b = 0; b < n; b++) {
    if (fractal_is_wide(&w->p))
      TSL_TRY(totals_of<uint32_t>(w, &w->list[b]));
    else
      TSL_TRY(totals_of<uint16_t>(w, &w->list[b]));
  }
done:
  return err;
}

template <class V>
static tsl_err binarise(const fractal_gpu *w, const void *image, int64_t count, uint32_t edge,
                        uint8_t *out) {
  tsl_err err = TSL_OK;
  const values<V> values_of = {(const V *)image, count};
  const int64_t columns = w->p.xres;
  if (w->p.threads == FRACTAL_THREADS_1D)
    TSL_LAUNCH((binarise_columns_kernel<V>), (unsigned)tsl_ceil_div(columns, BLOCK), BLOCK, 0,
               w->stream, values_of, columns, edge, out);
  else
    TSL_LAUNCH((binarise_kernel<V>), blocks_of(w, count), BLOCK, 0, w->stream, values_of, edge,
               out);
done:
  return err;
}

tsl_err fractal_binarise_run(const fractal_gpu *w, const void *image, int64_t count, uint64_t sum,
                             uint64_t total, uint8_t *out) {
  /* v >= sum / total for integers v */
  const uint32_t edge = (uint32_t)(sum / total + (sum % total != 0));
  return fractal_is_wide(&w->p) ? binarise<uint32_t>(w, image, count, edge, out)
                                : binarise<uint16_t>(w, image, count, edge, out);
}
