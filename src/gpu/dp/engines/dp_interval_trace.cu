/* Solutions of interval problems: splits are found again from the values, each interval by one
 * block. Blocks take intervals from a queue until no interval is left. */
#include "dp_interval.cuh"

enum { THREADS = 128 };

typedef struct trace_queue {
  int2 *intervals;      /**< [room] */
  uint32_t *ready;      /**< [room] 1: the interval is there */
  uint32_t *next, *end; /**< tickets of takers and of givers */
  uint32_t *open;       /**< intervals given and not finished */
} trace_queue;

/* Called by one thread. */
static __device__ void give(const trace_queue &q, int a, int b) {
  const uint32_t place = atomicAdd(q.end, 1u);
  q.intervals[place] = make_int2(a, b);
  __threadfence();
  dp_store_release(&q.ready[place], 1);
}

/* Next interval, or x < 0 when all are finished. Called by one thread. */
static __device__ int2 dp_interval_trace_take(const trace_queue &q, uint32_t room) {
  const uint32_t place = atomicAdd(q.next, 1u);
  while (place < room) {
    if (dp_load_acquire(&q.ready[place]) != 0) return __ldcg(&q.intervals[place]);
    if (dp_load_acquire(q.open) == 0) break;
  }
  return make_int2(-1, -1);
}

template <class P>
static __device__ bool attains(const dp_interval_args<typename P::T> &g, int a, int k, int b,
                               typename P::T value) {
  typedef typename P::T T;
  const T term_a = P::TERM ? g.dims[a] * g.dims[k] : 0, term_b = P::TERM ? g.dims[b] : 0;
  const T sum =
      P::step(P::worst(), *dp_cell_at(g.tiles, a, k), *dp_cell_at(g.tiles, k, b), term_a, term_b);
  return P::finish(g, a, b, sum, sum) == value;
}

/* Nussinov: the split alone, without the pair that finish would allow. */
template <>
__device__ bool attains<dp_nussinov>(const dp_interval_args<int32_t> &g, int a, int k, int b,
                                     int32_t value) {
  return *dp_cell_at(g.tiles, a, k) + *dp_cell_at(g.tiles, k, b) == value;
}

/* Smallest split of (a, b), or b when there is none. All threads. */
template <class P>
static __device__ int find_split(const dp_interval_args<typename P::T> &g, int a, int b,
                                 int *found) {
  const typename P::T value = *dp_cell_at(g.tiles, a, b);
  for (int k0 = a + 1; k0 < b; k0 += THREADS) {
    const int k = k0 + (int)threadIdx.x;
    if (threadIdx.x == 0) *found = b;
    __syncthreads();
    if (k < b && attains<P>(g, a, k, b, value)) atomicMin(found, k);
    __syncthreads();
    const int split = *found;
    __syncthreads();
    if (split < b) return split;
  }
  return b;
}

/* What an interval gives: one thread. */
template <class P>
static __device__ int divide(const dp_interval_args<typename P::T> &g, const trace_queue &q, int a,
                             int k, int b, long long *first, long long *second) {
  int given = 0;
  if (k < b) {
    first[k] = a;
    second[k] = b;
    if (k - a >= 2) give(q, a, k), given++;
    if (b - k >= 2) give(q, k, b), given++;
  }
  return given;
}

template <>
__device__ int divide<dp_nussinov>(const dp_interval_args<int32_t> &g, const trace_queue &q, int a,
                                   int k, int b, long long *first, long long *) {
  int given = 0;
  if (k < b) {
    if (k - a >= 2 && *dp_cell_at(g.tiles, a, k) > 0) give(q, a, k), given++;
    if (b - k >= 2 && *dp_cell_at(g.tiles, k, b) > 0) give(q, k, b), given++;
  } else {
    first[a] = b - 1;
    first[b - 1] = a;
    if (b - a >= 4 && *dp_cell_at(g.tiles, a + 1, b - 1) > 0) give(q, a + 1, b - 1), given++;
  }
  return given;
}

template <class P>
static __global__ void __launch_bounds__(THREADS)
    trace_kernel(const __grid_constant__ dp_interval_args<typename P::T> g,
                 const __grid_constant__ trace_queue q, uint32_t room, long long *first,
                 long long *second) {
  __shared__ int2 interval;
  __shared__ int found;
  for (;;) {
    if (threadIdx.x == 0) interval = dp_interval_trace_take(q, room);
    __syncthreads();
    const int a = interval.x, b = interval.y;
    __syncthreads();
    if (a < 0) return;
    const int k = find_split<P>(g, a, b, &found);
    if (threadIdx.x == 0) {
      atomicAdd(q.open, 2u); /* as many as may be given; before they can be finished */
      const int given = divide<P>(g, q, a, k, b, first, second);
      __threadfence();
      atomicAdd(q.open, (uint32_t)(given - 3)); /* this one is finished */
    }
  }
}

/* The first interval, when it has anything to find. */
static __global__ void start_kernel(trace_queue q, int a, int b) {
  *q.open = 1;
  give(q, a, b);
}

static tsl_err trace_value(dp_interval *w, bool *empty) {
  tsl_err err = TSL_OK;
  int64_t value = 0;
  *empty = w->posts < 3;
  if (*empty) goto done;
  if (w->problem != DP_NUSSINOV) goto done;
  TSL_TRY(dp_interval_value(w, 0, w->posts - 1, &value));
  *empty = value == 0;
done:
  return err;
}

template <class P>
static tsl_err dp_interval_trace_launch(dp_interval *w, const trace_queue &q, uint32_t room,
                                        long long *first, long long *second) {
  tsl_err err = TSL_OK;
  const dp_interval_args<typename P::T> args = dp_interval_args_of<typename P::T>(w);
  unsigned blocks = 0;
  TSL_TRY(dp_card_blocks(w->card, (const void *)trace_kernel<P>, THREADS / 32, 0,
                         (int64_t)THREADS / 32 * room, &blocks));
  TSL_LAUNCH(start_kernel, dim3(1), 1, 0, w->card->stream, q, 0, (int)w->posts - 1);
  TSL_LAUNCH((trace_kernel<P>), dim3((unsigned)blocks), THREADS, 0, w->card->stream, args, q, room,
             first, second);
done:
  return err;
}

tsl_err dp_interval_trace(dp_interval *w, int64_t *first, int64_t *second) {
  tsl_err err = TSL_OK;
  const int64_t room = 2 * w->posts + 2, bytes = 8 * w->posts;
  bool empty = false;
  trace_queue q = {};
  long long *solution = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->queue, 12 * room + 16, "queue of intervals"));
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->solution, 2 * bytes, "solution"));
  q.intervals = (int2 *)w->queue.data;
  q.ready = (uint32_t *)(q.intervals + room);
  q.next = q.ready + room;
  q.end = q.next + 1;
  q.open = q.next + 2;
  solution = (long long *)w->solution.data;
  TSL_TRY(trace_value(w, &empty));
  TSL_CUDA_TRY(cudaMemsetAsync(q.intervals, 0, (size_t)(12 * room + 16), w->card->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(solution, 0xff, (size_t)(2 * bytes), w->card->stream));
  if (!empty)
    TSL_TRY(dp_interval_as(w, [=](auto p) {
      return dp_interval_trace_launch<decltype(p)>(w, q, (uint32_t)room, solution,
                                                   solution + w->posts);
    }));
  TSL_CUDA_TRY(cudaMemcpyAsync(first, solution, (size_t)bytes, cudaMemcpyDefault, w->card->stream));
  TSL_TRY(tsl_gpu_copy(w->card, second, solution + w->posts, bytes));
done:
  return err;
}
