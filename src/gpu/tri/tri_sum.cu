/* sum: y_i = sum_j value(i, j) v_j, in the order of tri_equation.h: lanes of a chunk, then chunks,
 * however they are shared out. */
#include "tri_bits.h"
#include "tri_equation.h"
#include "tri_fn.cuh"
#include "tri_strips.cuh"

enum { SUM_THREADS = 128, PARTIAL_BYTES = 1 << 30 };

/** Chunk's lanes to one, in the order of tri_equation_loops.h. */
template <class R> static __device__ __forceinline__ R fold(R (&lane)[TRI_SUM_LANES]) {
#pragma unroll
  for (int h = TRI_SUM_LANES / 2; h > 0; h /= 2)
#pragma unroll
    for (int l = 0; l < TRI_SUM_LANES; l++)
      if (l < h) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}

static __device__ __forceinline__ float add(float v, float w, float sum) {
  return tri_add_f32(v, w, sum);
}
static __device__ __forceinline__ double add(double v, double w, double sum) {
  return tri_add_f64(v, w, sum);
}

/** Values by the formula; those of a strip are tri_matrix's. */
template <int F, class R> struct formula {
  static __device__ __forceinline__ R value(const tri_args<R> &args, int i, int j) {
    return tri_value<F, R>(args, i, j);
  }
};

/** A row for each thread; chunks y, y + gridDim.y, ... */
template <class V, class R>
static __global__ void __launch_bounds__(SUM_THREADS)
    tri_sum_kernel(tri_args<R> args, tri_sum_rows o, bool keeps) {
  const int64_t row = o.a + (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x;
  const int i = (int)(row < o.b ? row : o.b - 1);
  double total = 0;
  for (int64_t chunk = blockIdx.y; chunk < o.chunks; chunk += gridDim.y) {
    const int j0 = (int)(chunk * TRI_SUM_CHUNK);
    const int m = o.n - j0 < TRI_SUM_CHUNK ? (int)(o.n - j0) : TRI_SUM_CHUNK;
    R lane[TRI_SUM_LANES] = {};
#pragma unroll 1
    for (int k = 0; k < m; k += TRI_SUM_LANES)
#pragma unroll
      for (int l = 0; l < TRI_SUM_LANES; l++) {
        const int j = j0 + k + l;
        if (k + l >= m) continue;
        const R v = j == i && !keeps ? (R)0 : V::value(args, i, j);
        lane[l] = add(v, __ldg((const R *)o.w + j), lane[l]);
      }
    const double sum = (double)fold(lane);
    total += sum;
    if (o.partial != NULL && row < o.b) o.partial[chunk * (o.b - o.a) + row - o.a] = sum;
  }
  if (o.partial == NULL && row < o.b) o.sums[(row - o.a) * o.stride] = total;
}

/** Chunks in order. */
static __global__ void __launch_bounds__(SUM_THREADS)
    tri_sum_join_kernel(tri_sum_rows o, int terms) {
  const int term = blockIdx.y;
  const int64_t k = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x;
  double total = 0;
  if (k >= o.b - o.a) return;
  for (int64_t chunk = 0; chunk < o.chunks; chunk++)
    total += o.partial[(chunk * terms + term) * (o.b - o.a) + k];
  o.sums[k * o.stride + term] = total;
}

template <class R> struct kernel_of { typedef void (*pointer)(tri_args<R>, tri_sum_rows, bool); };

template <class R> static typename kernel_of<R>::pointer pick(int function) {
  switch (function) {
#define X(NAME, ...) \
  case TRI_##NAME:   \
    return tri_sum_kernel<formula<tri_same<TRI_##NAME>::value, R>, R>;
    TRI_STEP_LIST(X)
#undef X
  default:
    return NULL;
  }
}

template <class R>
static tsl_err sum_rows(tri_gpu *w, const tri_args<R> &args, const tri_sum_rows *rows, int splits) {
  tsl_err err = TSL_OK;
  const typename kernel_of<R>::pointer kernel =
      args.given ? tri_sum_kernel<tri_matrix<R>, R> : pick<R>(w->p.function);
  if (kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", w->p.function);
  TSL_LAUNCH(
      kernel,
      dim3((unsigned)((rows->b - rows->a + SUM_THREADS - 1) / SUM_THREADS), (unsigned)splits),
      SUM_THREADS, 0, w->stream, args, *rows, w->p.keeps_diagonal != 0);
done:
  return err;
}

/* Numbers that one pass over the pairs gives for a row. */
static int terms_of(const tri_gpu *w) {
  return w->p.gradient ? 1 + (int)w->p.d : 1;
}

/* Blocks that share a row's chunks: few rows alone would leave the card idle. */
static int splits_of(const tri_gpu *w, const tri_sum_rows *rows) {
  const int64_t each = tri_is_equation(&w->p) ? tri_equation_sum_rows(w) : (int64_t)SUM_THREADS;
  const int64_t blocks = (rows->b - rows->a + each - 1) / each,
                wanted = 16 * (int64_t)w->processors;
  const int64_t splits = wanted / blocks;
  const int64_t most = rows->chunks < 4096 ? rows->chunks : 4096;
  if (rows->chunks * terms_of(w) * (rows->b - rows->a) * 8 > PARTIAL_BYTES) return 1;
  return (int)(splits < 2 ? 1 : splits < most ? splits : most);
}

template <class R>
static tsl_err sum_vector(tri_gpu *w, const tri_args<R> &args, tri_sum_rows rows) {
  tsl_err err = TSL_OK;
  const int splits = splits_of(w, &rows);
  if (splits > 1) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[0],
                            rows.chunks * terms_of(w) * (rows.b - rows.a) * 8, "sums of chunks"));
    rows.partial = (double *)w->work[0].data;
  }
  if (tri_is_equation(&w->p))
    TSL_TRY(tri_equation_sum(w, &rows, splits));
  else
    TSL_TRY(sum_rows<R>(w, args, &rows, splits));
  if (splits > 1)
    TSL_LAUNCH(
        tri_sum_join_kernel,
        dim3((unsigned)((rows.b - rows.a + SUM_THREADS - 1) / SUM_THREADS), (unsigned)terms_of(w)),
        SUM_THREADS, 0, w->stream, rows, terms_of(w));
done:
  return err;
}

/* A vector of ones, where the deck gives none. */
template <class R> static __global__ void tri_ones_kernel(R *ones, int64_t n) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) ones[k] = (R)1;
}

static tsl_err find_vectors(tri_gpu *w, const char **vectors) {
  tsl_err err = TSL_OK;
  const tsl_field *extras = &w->problem->fields[TRI_EXTRAS];
  const unsigned blocks = (unsigned)((w->p.n_pad + 255) / 256);
  *vectors = (const char *)w->extras.data +
             (extras->shape[0] - w->p.n_vectors * w->p.n_pad) * tri_value_bytes(w);
  if (w->p.n_vectors > 0) goto done;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[1], w->p.n_pad * 8, "vector of ones"));
  *vectors = (const char *)w->work[1].data;
  if (w->p.type == TSL_F64)
    TSL_LAUNCH((tri_ones_kernel<double>), blocks, 256, 0, w->stream, (double *)w->work[1].data,
               w->p.n_pad);
  else
    TSL_LAUNCH((tri_ones_kernel<float>), blocks, 256, 0, w->stream, (float *)w->work[1].data,
               w->p.n_pad);
done:
  return err;
}

/* The rows' sums with each vector. */
template <class R>
static tsl_err sum_vectors(tri_gpu *w, const tri_args<R> &args, tri_sum_rows rows,
                           const char *vectors) {
  tsl_err err = TSL_OK;
  double *const sums = rows.sums;
  for (int64_t k = 0; k < rows.stride; k += terms_of(w)) {
    rows.w = vectors + k * w->p.n_pad * tri_value_bytes(w);
    rows.sums = sums + k;
    TSL_TRY(sum_vector<R>(w, args, rows));
  }
done:
  return err;
}

/* Bits and letters: strip by strip. */
template <class R>
static tsl_err sum_all(tri_gpu *w, const tri_sum_rows &rows, const char *vectors) {
  if (!tri_of_bits(&w->p) && w->letters == NULL)
    return sum_vectors<R>(w, tri_args_of<R>(w), rows, vectors);
  return tri_each_strip<R>(w, rows.a - w->p.first, rows.b - w->p.first, false,
                           [=](const tri_args<R> &args, int64_t a, int64_t b) {
                             tri_sum_rows part = rows;
                             part.a = a, part.b = b;
                             part.sums = rows.sums + (a - rows.a) * rows.stride;
                             return sum_vectors<R>(w, args, part, vectors);
                           });
}

/* Columns [from, to) of the sums of a unit to a slab. */
static tsl_err copy_columns(tri_gpu *w, const tsl_unit *unit, int64_t lo, int64_t from, int64_t to,
                            void *slab) {
  tsl_err err = TSL_OK;
  const int64_t m = tri_sums(&w->p), rows = unit->hi[0] - unit->lo[0];
  const double *const sums = (const double *)w->out.data + (unit->lo[0] - lo) * m + from;
  const size_t row = (size_t)(to - from) * 8;
  if (rows > 0)
    TSL_CUDA_TRY(cudaMemcpy2DAsync(slab, row, sums, (size_t)m * 8, row, (size_t)rows,
                                   cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}

static tsl_err give_sums(tri_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t m = tri_sums(&w->p), first = w->p.gradient ? 1 : 0;
  for (int64_t u = 0; u < n; u++) {
    TSL_TRY(copy_columns(w, &units[u], units[0].lo[0], first, m, parts[u].slab[TRI_OUT]));
    if (w->p.gradient)
      TSL_TRY(copy_columns(w, &units[u], units[0].lo[0], 0, 1, parts[u].slab[TRI_OUT_2]));
  }
done:
  return err;
}

tsl_err tri_sum_run(tri_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t m = tri_sums(&w->p);
  const int64_t lo = units[0].lo[0], hi = units[n - 1].hi[0];
  const char *vectors = NULL;
  tri_sum_rows rows = {};
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, (hi - lo) * m * 8, "sums"));
  TSL_TRY(find_vectors(w, &vectors));
  rows.n = tri_columns_of(&w->p);
  rows.a = w->p.first + lo;
  rows.b = w->p.first + hi;
  rows.stride = m;
  rows.chunks = (rows.n + TRI_SUM_CHUNK - 1) / TRI_SUM_CHUNK;
  rows.sums = (double *)w->out.data;
  if (rows.n == 0) /* the other set is empty */
    TSL_CUDA_TRY(cudaMemsetAsync(rows.sums, 0, (size_t)((hi - lo) * m * 8), w->stream));
  else
    TSL_TRY(w->p.type == TSL_F64 ? sum_all<double>(w, rows, vectors)
                                 : sum_all<float>(w, rows, vectors));
  TSL_TRY(give_sums(w, units, n, parts));
done:
  return err;
}
