/**
 * @file dp_interval.cuh
 * The triangle in tiles of 64 x 64 values.
 *
 * A block takes tiles by tickets, diagonal after diagonal. For tile (I, J) it multiplies, in the
 * semiring of the problem, tiles (I, K) and (K, J) for the K between, from the middle outwards: the
 * last two are the ones that were finished last. Then it closes the tile with the triangles (I, I)
 * and (J, J), one anti-diagonal after the other, writes it and marks it as ready. There is no
 * launch and no wait for all between diagonals.
 */
#pragma once

#include "dp_interval_rules.cuh"

/** Shared memory of a block: slices while multiplying, then tiles while closing. */
template <class T> struct dp_slices {
  static const int ROW = DP_SLICE + 16 / (int)sizeof(T); /**< no two rows of a group in one bank */
  T a[2][DP_TILE][ROW];
  T b[2][DP_SLICE][DP_TILE];
};
template <class T> struct dp_closing {
  T x[DP_TILE][DP_CLOSE_ROW]; /**< the tile */
  T u[DP_TILE][DP_CLOSE_ROW]; /**< above the diagonal (I, I); below it (J, J) transposed */
  T under[DP_TILE + 1];       /**< X[last row + 1][first column - 1 ..] */
  T left[DP_TILE];            /**< X[first row + 1 ..][first column - 1] */
};
template <class T> union dp_interval_shared {
  dp_slices<T> slices;
  dp_closing<T> closing;
};

/** A block at work on a tile. */
template <class P> struct dp_tile_block {
  typedef typename P::T T;
  static const int GROUPS = DP_TILE / P::COLUMNS; /**< threads side by side */
  static const int DOWN = DP_TILE / P::ROWS;      /**< threads below each other */
  static const int THREADS = DOWN * GROUPS;
  static const int V = 16 / (int)sizeof(T); /**< values of 16 bytes */

  const dp_interval_args<T> &g;
  dp_interval_shared<T> &s;
  int I, J, thread, row0, group;
  T best[P::ROWS][P::COLUMNS];
  T dim_a[P::TERM ? P::ROWS : 1], dim_b[P::TERM ? P::COLUMNS : 1];

  __device__ dp_tile_block(const dp_interval_args<T> &args, dp_interval_shared<T> &shared, int2 at)
      : g(args), s(shared), I(at.x), J(at.y), thread((int)threadIdx.x) {
    row0 = thread / GROUPS;
    group = thread % GROUPS;
  }

  __device__ __forceinline__ int row(int q) const {
    return row0 + DOWN * q;
  }
  __device__ __forceinline__ int column(int c) const {
    return group * V + c % V + c / V * GROUPS * V;
  }

  __device__ void wait(int i, int j) {
    if (thread == 0)
      while (dp_load_acquire(&g.ready[dp_tile_number(i, j)]) == 0) {
      }
  }

  /** Begin to copy slice number t of all K. */
  __device__ __forceinline__ void fetch(int t) {
    const int K = middle_out(t / (DP_TILE / DP_SLICE)), part = t % (DP_TILE / DP_SLICE);
    const T *a = dp_tile_at(g.tiles, I, K) + part * DP_SLICE;
    const T *b = dp_tile_at(g.tiles, K, J) + part * DP_SLICE * DP_TILE;
    dp_slices<T> &to = s.slices;
    if (part == 0) {
      wait(I, K);
      wait(K, J);
      __syncthreads();
    }
#pragma unroll
    for (int w = thread; w < DP_TILE * DP_SLICE / V; w += THREADS) {
      const int r = w / (DP_SLICE / V), c = w % (DP_SLICE / V) * V;
      dp_copy16(&to.a[t % 2][r][c], a + r * DP_TILE + c);
    }
#pragma unroll
    for (int w = thread; w < DP_TILE * DP_SLICE / V; w += THREADS)
      dp_copy16(&to.b[t % 2][0][0] + w * V, b + w * V);
    dp_copy_commit();
  }

  /** Distance from the middle grows: 0, -1, +1, -2, ... as far as there are tiles. */
  __device__ __forceinline__ int middle_out(int t) const {
    const int middle = (I + J) / 2, step = (t + 1) / 2;
    return t % 2 == 1 ? middle + ((I + J) % 2 == 0 ? -step : step)
                      : middle + ((I + J) % 2 == 0 ? step : -step);
  }

  /** Multiply a slice. */
  __device__ __forceinline__ void multiply(int t) {
    const dp_slices<T> &from = s.slices;
    const int K = middle_out(t / (DP_TILE / DP_SLICE)), part = t % (DP_TILE / DP_SLICE);
#pragma unroll
    for (int k0 = 0; k0 < DP_SLICE; k0 += V) {
      T a[P::ROWS][V];
#pragma unroll
      for (int q = 0; q < P::ROWS; q++)
#pragma unroll
        for (int v = 0; v < V; v++) a[q][v] = from.a[t % 2][row(q)][k0 + v];
#pragma unroll
      for (int v = 0; v < V; v++) {
        T b[P::COLUMNS], dim = 0;
        if (P::TERM) dim = g.dims[K * DP_TILE + part * DP_SLICE + k0 + v];
#pragma unroll
        for (int c = 0; c < P::COLUMNS; c++) b[c] = from.b[t % 2][k0 + v][column(c)];
#pragma unroll
        for (int q = 0; q < P::ROWS; q++) {
          const T ak = P::TERM ? dim_a[P::TERM ? q : 0] * dim : 0;
#pragma unroll
          for (int c = 0; c < P::COLUMNS; c++)
            best[q][c] = P::step(best[q][c], a[q][v], b[c], ak, dim_b[P::TERM ? c : 0]);
        }
      }
    }
  }

  /** All K between I and J. */
  __device__ void multiply_all(void) {
    const int slices = (J - I - 1) * (DP_TILE / DP_SLICE);
#pragma unroll
    for (int q = 0; q < P::ROWS; q++) {
      if (P::TERM) dim_a[P::TERM ? q : 0] = g.dims[I * DP_TILE + row(q)];
#pragma unroll
      for (int c = 0; c < P::COLUMNS; c++) best[q][c] = P::worst();
    }
#pragma unroll
    for (int c = 0; c < P::COLUMNS; c++)
      if (P::TERM) dim_b[P::TERM ? c : 0] = g.dims[J * DP_TILE + column(c)];
    if (slices > 0) fetch(0);
    for (int t = 0; t < slices; t++) {
      if (t + 1 < slices) {
        fetch(t + 1);
        dp_copy_wait<1>();
      } else
        dp_copy_wait<0>();
      __syncthreads();
      multiply(t);
      __syncthreads();
    }
  }

  /** The tile, both triangles and the values around it to shared memory. */
  __device__ void gather(void) {
    dp_closing<T> &to = s.closing;
    wait(I, I);
    wait(J, J);
    wait(I + 1, J);
    wait(I, J - 1);
    __syncthreads();
    const T *di = dp_tile_at(g.tiles, I, I), *dj = dp_tile_at(g.tiles, J, J);
    for (int w = thread; w < DP_TILE_CELLS; w += THREADS) {
      const int r = w / DP_TILE, c = w % DP_TILE;
      if (c <= r) continue;
      to.u[r][c] = __ldcg(di + w);
      to.u[c][r] = __ldcg(dj + w);
    }
    for (int c = thread; c <= DP_TILE; c += THREADS) {
      const int a = I * DP_TILE + c, b = J * DP_TILE - 1;
      if (c < DP_TILE)
        to.under[c + 1] = __ldcg(dp_cell_at(g.tiles, (I + 1) * DP_TILE, J * DP_TILE + c));
      if (c < DP_TILE) to.left[c] = __ldcg(dp_cell_at(g.tiles, a, b));
      if (c == DP_TILE) to.under[0] = I + 1 < J ? __ldcg(dp_cell_at(g.tiles, a, b)) : (T)0;
    }
#pragma unroll
    for (int q = 0; q < P::ROWS; q++)
#pragma unroll
      for (int c = 0; c < P::COLUMNS; c++) to.x[row(q)][column(c)] = best[q][c];
    __syncthreads();
  }

  /** X[a+1][b-1] of a cell of the tile. */
  __device__ __forceinline__ T inner(int r, int c) const {
    const dp_closing<T> &from = s.closing;
    if (r + 1 == DP_TILE) return from.under[c];
    return c == 0 ? from.left[r + 1] : from.x[r + 1][c - 1];
  }

  /** Best over the k of the rows and of the columns of the tile. */
  __device__ __forceinline__ T close_cell(int r, int c) const {
    const dp_closing<T> &from = s.closing;
    const int a = I * DP_TILE + r, b = J * DP_TILE + c;
    const T da = P::TERM ? g.dims[a] : 0, db = P::TERM ? g.dims[b] : 0;
    T value = from.x[r][c];
#pragma unroll 4
    for (int k = r + 1; k < DP_TILE; k++)
      value = P::step(value, from.u[r][k], from.x[k][c], P::TERM ? da * g.dims[I * DP_TILE + k] : 0,
                      db);
#pragma unroll 4
    for (int k = 0; k < c; k++)
      value = P::step(value, from.x[r][k], from.u[c][k], P::TERM ? da * g.dims[J * DP_TILE + k] : 0,
                      db);
    return b == a + 1 ? P::base(g, a) : P::finish(g, a, b, value, inner(r, c));
  }

  /** A tile off the diagonal. */
  __device__ void close(void) {
    gather();
    for (int d = 0; d < 2 * DP_TILE - 1; d++) {
      const int c = thread, r = DP_TILE - 1 - d + c;
      if (c < DP_TILE && r >= 0 && r < DP_TILE) s.closing.x[r][c] = close_cell(r, c);
      __syncthreads();
    }
  }

  /** A tile of the diagonal. */
  __device__ void solve(void) {
    dp_closing<T> &to = s.closing;
    for (int w = thread; w < DP_TILE_CELLS; w += THREADS) to.x[w / DP_TILE][w % DP_TILE] = 0;
    __syncthreads();
    for (int d = 1; d < DP_TILE; d++) {
      const int r = thread, c = r + d, a = I * DP_TILE + r, b = a + d;
      if (c < DP_TILE) {
        T value = P::worst();
        for (int k = r + 1; k < c; k++)
          value =
              P::step(value, to.x[r][k], to.x[k][c],
                      P::TERM ? g.dims[a] * g.dims[I * DP_TILE + k] : 0, P::TERM ? g.dims[b] : 0);
        to.x[r][c] = d == 1 ? P::base(g, a) : P::finish(g, a, b, value, to.x[r + 1][c - 1]);
      }
      __syncthreads();
    }
  }

  __device__ void write(void) {
    T *tile = dp_tile_at(g.tiles, I, J);
    for (int w = thread; w < DP_TILE_CELLS; w += THREADS)
      __stcg(tile + w, s.closing.x[w / DP_TILE][w % DP_TILE]);
    __syncthreads();
    mark();
  }

  /** Tell the others that the tile is ready, after a barrier. */
  __device__ void mark(void) {
    if (thread != 0) return;
    __threadfence();
    dp_store_release(&g.ready[dp_tile_number(I, J)], 1);
  }
};

template <class P>
__global__ void __launch_bounds__(dp_tile_block<P>::THREADS)
    dp_interval_kernel(const __grid_constant__ dp_interval_args<typename P::T> g) {
  typedef typename P::T T;
  dp_interval_shared<T> &shared = *(dp_interval_shared<T> *)dp_shared();
  __shared__ uint32_t number;
  for (;;) {
    if (threadIdx.x == 0) number = atomicAdd(g.ticket, 1u);
    __syncthreads();
    if (number >= (uint32_t)g.count) return;
    dp_tile_block<P> block(g, shared, g.list[number]);
    __syncthreads();
    if (block.I == block.J)
      block.solve();
    else {
      block.multiply_all();
      block.close();
    }
    block.write();
  }
}

struct dp_fold_tables;

/** The worker. */
struct dp_interval {
  dp_card *card; /**< not owned */
  dp_problem problem;
  int64_t n, posts, tiles; /**< tiles: on a side */
  bool wide;               /**< int64 inside, else doubles (or int32, NUSSINOV) */
  bool real;               /**< doubles outside, too */
  int value_bytes;         /**< inside */
  uint32_t pairs[33];
  int loop;
  tsl_gpu_buffer values, ready, list, posts_data[4], box, queue, solution;
  struct dp_fold_tables *fold; /**< FOLD, else NULL; X is its M */
};

/** @return TSL_ERR_INTERNAL: the box is not made of whole tiles */
tsl_err dp_interval_check_box(const dp_interval *w, const int64_t lo[2], const int64_t hi[2]);

template <class T> dp_interval_args<T> dp_interval_args_of(const dp_interval *w) {
  dp_interval_args<T> g = {};
  g.tiles = (T *)w->values.data;
  g.ready = (uint32_t *)w->ready.data;
  g.list = (const int2 *)w->list.data;
  g.ticket = (uint32_t *)w->card->ticket.data;
  if (w->problem == DP_MATRIX_CHAIN) g.dims = (const T *)w->posts_data[0].data;
  if (w->problem == DP_SEARCH_TREE) {
    g.high = (const T *)w->posts_data[0].data;
    g.low = (const T *)w->posts_data[1].data;
    g.base = (const T *)w->posts_data[2].data;
  }
  if (w->problem == DP_NUSSINOV) g.letters = (const uint8_t *)w->posts_data[0].data;
  for (int x = 0; x < 33; x++) g.pairs[x] = w->pairs[x];
  g.loop = w->loop;
  return g;
}

/** Which problem in which type: F is called with a policy. */
template <class F> tsl_err dp_interval_as(const dp_interval *w, F call) {
  if (w->problem == DP_NUSSINOV) return call(dp_nussinov());
  if (w->problem == DP_MATRIX_CHAIN)
    return w->wide ? call(dp_chain<int64_t>()) : call(dp_chain<double>());
  return w->wide ? call(dp_tree<int64_t>()) : call(dp_tree<double>());
}
