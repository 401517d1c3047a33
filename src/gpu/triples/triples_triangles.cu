/* triangles on a card: a block of threads takes a row, lists its neighbours, and takes all pairs of
 * them; counts are in shared memory where they fit. */
#include "triples_points.cuh"

#include "integers.h"

enum { TRIANGLE_THREADS = 256 };

/* A neighbour: where it is, and the bin of its side. */
template <class R> struct __align__(4 * sizeof(R)) neighbour {
  R x, y, z;
  int bin;
};

/* What a launch needs besides the points. */
template <class R> struct triangles_job {
  const int *starts; /* TRIPLES_CELLS */
  int64_t cells[3];
  double box[3]; /* of triples_around_cell */
  R lo, hi, inverse_width;
  int bins;
  int end;             /* rows are taken up to here */
  int *next;           /* the row that is taken next */
  neighbour<R> *lists; /* [blocks][room] */
  int64_t room;
  unsigned long long *counts; /* [bins^3] */
};

template <class R>
static __device__ __forceinline__ int bin_between(const triples_args<R> &args,
                                                  const triangles_job<R> &job,
                                                  const neighbour<R> &a, R x, R y, R z) {
  typedef triples_formulas<R> fn;
  const R dx = fn::difference(a.x, x, args.box[0]);
  const R dy = fn::difference(a.y, y, args.box[1]);
  const R dz = fn::difference(a.z, z, args.box[2]);
  return fn::bin(fn::square(dx, dy, dz), job.lo, job.hi, job.inverse_width, job.bins);
}

/* The neighbours of row i that come after it, in any order, into list; *n was 0. */
template <class R>
static __device__ void list_neighbours(const triples_args<R> &args, const triangles_job<R> &job,
                                       int i, neighbour<R> *list, int *n) {
  const R *const x = args.x, *const y = x + args.ld, *const z = y + args.ld;
  const int64_t cells = job.cells[0] * job.cells[1] * job.cells[2];
  const int64_t own = triples_cell_of_place(job.starts, cells, i);
  const triples_around a = triples_around_cell(job.cells, job.box, own);
  const neighbour<R> row = {x[i], y[i], z[i], 0};
  for (int m = 0; m < triples_around_count(&a); m++) {
    const int64_t cell = triples_cell_around(job.cells, &a, m);
    const int begin = job.starts[cell] > i ? job.starts[cell] : i + 1;
    for (int j = begin + (int)threadIdx.x; j < job.starts[cell + 1]; j += TRIANGLE_THREADS) {
      neighbour<R> other = {x[j], y[j], z[j], 0};
      other.bin = bin_between(args, job, row, other.x, other.y, other.z);
      if (other.bin >= 0) list[atomicAdd(n, 1)] = other;
    }
  }
}

/* All pairs of n > 1 neighbours, each once: neighbour k with the (n - 1) / 2 after it, around the
 * end; of an even number, the first half of them with the one opposite, too. */
template <class R, class COUNT>
static __device__ void count_pairs(const triples_args<R> &args, const triangles_job<R> &job,
                                   const neighbour<R> *list, int n, COUNT *counts) {
  const int64_t pairs = (int64_t)n * (n - 1) / 2;
  const int all = job.bins * job.bins * job.bins;
  int k = (int)threadIdx.x % n, step = (int)threadIdx.x / n + 1;
  for (int64_t e = threadIdx.x; e < pairs; e += TRIANGLE_THREADS) {
    const int j = k + step < n ? k + step : k + step - n;
    const neighbour<R> a = list[k], b = list[j];
    const int place =
        triples_place(a.bin, b.bin, bin_between(args, job, a, b.x, b.y, b.z), job.bins);
    if (place < all) atomicAdd(&counts[place], (COUNT)1);
    k += TRIANGLE_THREADS % n;
    step += TRIANGLE_THREADS / n + (k >= n);
    k -= k >= n ? n : 0;
  }
}

/* SHARED: counts of 32 bits in shared memory, brought to the others before they can overflow. */
template <class R, bool SHARED>
static __global__ void __launch_bounds__(TRIANGLE_THREADS)
    triangles_kernel(triples_args<R> args, triangles_job<R> job) {
  extern __shared__ unsigned shared_counts[];
  __shared__ int row, n;
  neighbour<R> *const list = job.lists + blockIdx.x * job.room;
  const int all = job.bins * job.bins * job.bins;
  int64_t since = 0;
  for (int c = (int)threadIdx.x; SHARED && c < all; c += TRIANGLE_THREADS) shared_counts[c] = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) row = atomicAdd(job.next, 1), n = 0;
    __syncthreads();
    if (row >= job.end) break;
    list_neighbours(args, job, row, list, &n);
    __syncthreads();
    if (n < 2) continue;
    if constexpr (SHARED) {
      since += (int64_t)n * (n - 1) / 2;
      count_pairs(args, job, list, n, shared_counts);
      if (since < INT64_C(1) << 31) continue;
      __syncthreads();
      for (int c = (int)threadIdx.x; c < all; c += TRIANGLE_THREADS) {
        atomicAdd(&job.counts[c], (unsigned long long)shared_counts[c]);
        shared_counts[c] = 0;
      }
      since = 0;
    } else {
      count_pairs(args, job, list, n, job.counts);
    }
  }
  if constexpr (SHARED)
    for (int c = (int)threadIdx.x; c < all; c += TRIANGLE_THREADS)
      if (shared_counts[c] > 0) atomicAdd(&job.counts[c], (unsigned long long)shared_counts[c]);
}

/* ---------------------------------------------------------------- launches */

tsl_err triples_triangles_open(triples_gpu *w, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tsl_field *cells = &problem->fields[TRIPLES_CELLS];
  w->room = tsl_max(1, triples_most_around(&w->p, (const int32_t *)cells->data));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->next, sizeof(int), "row"));
  TSL_TRY(triples_upload(w, cells, &w->cells));
done:
  return err;
}

int64_t triples_counts_bytes(const triples_params *p) {
  return (int64_t)p->bins * p->bins * p->bins * (int64_t)sizeof(uint64_t);
}

tsl_err triples_triangles_zero(triples_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t bytes = triples_counts_bytes(&w->p);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->counts, bytes, "counts"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->counts.data, 0, (size_t)bytes, w->stream));
done:
  return err;
}

template <class R> static triangles_job<R> job_of(const triples_gpu *w, int64_t end) {
  triangles_job<R> job = {};
  const triples_params *p = &w->p;
  job.starts = (const int *)w->cells.data;
  for (int k = 0; k < 3; k++) job.cells[k] = p->cells[k], job.box[k] = p->box[k];
  job.lo = (R)p->range_lo;
  job.hi = (R)p->range_hi;
  job.inverse_width = (R)(p->bins / (p->range_hi - p->range_lo));
  job.bins = p->bins;
  job.end = (int)end;
  job.next = (int *)w->next.data;
  job.lists = (neighbour<R> *)w->lists.data;
  job.room = w->room;
  job.counts = (unsigned long long *)w->counts.data;
  return job;
}

/* Blocks of threads that are on the card at once, fewer where their lists do not fit. */
template <class R>
static tsl_err blocks_of(triples_gpu *w, const void *kernel, int shared, int64_t *blocks) {
  tsl_err err = TSL_OK;
  int each = 0;
  const int64_t list = w->room * (int64_t)sizeof(neighbour<R>);
  TSL_CUDA_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, TRIANGLE_THREADS, shared));
  *blocks = tsl_max(1, tsl_min((int64_t)each * w->processors, TRIPLES_SCRATCH / list));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->lists, *blocks * list, "neighbours"));
done:
  return err;
}

template <class R, bool SHARED>
static tsl_err launch(triples_gpu *w, int64_t lo, int64_t hi, int shared) {
  tsl_err err = TSL_OK;
  const triples_args<R> args = triples_args_of<R>(w);
  const int first = (int)lo;
  void (*const kernel)(triples_args<R>, triangles_job<R>) = triangles_kernel<R, SHARED>;
  int64_t blocks = 0;
  TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  TSL_TRY(blocks_of<R>(w, (const void *)kernel, shared, &blocks));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(w->next.data, &first, sizeof first, cudaMemcpyHostToDevice, w->stream));
  TSL_LAUNCH(kernel, dim3((unsigned)blocks), TRIANGLE_THREADS, shared, w->stream, args,
             job_of<R>(w, hi));
done:
  return err;
}

template <class R> static tsl_err run(triples_gpu *w, int64_t lo, int64_t hi) {
  const int64_t shared = triples_counts_bytes(&w->p) / 2;
  const bool fits = shared <= w->shared_limit - 1024 && w->room < 1 << 15;
  return fits ? launch<R, true>(w, lo, hi, (int)shared) : launch<R, false>(w, lo, hi, 0);
}

tsl_err triples_triangles_run(triples_gpu *w, int64_t lo, int64_t hi) {
  return w->p.type == TSL_F64 ? run<double>(w, lo, hi) : run<float>(w, lo, hi);
}
