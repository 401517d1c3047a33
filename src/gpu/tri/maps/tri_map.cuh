/**
 * @file tri_map.cuh
 * The seed's maps as kernels: a tile of B x B values for each block of B x R threads, R a divisor
 * of B; with R = B one value for each thread.
 * The maps run over the lower triangle of the m = b - a rows of a slab. Condensed output is an
 * upper triangle: cell (r, c) stands for the pair (b-1-r, b-1-c) there, which keeps neighbouring
 * threads on neighbouring memory. Included once for each type.
 */
#pragma once

#include "tri_fn.cuh"
#include "tri_maps.cuh"

/** Where the cells of the diagonal triangle of a slab lie. */
typedef struct tri_target {
  int square;
  int n, a, b;
  int m; /**< rows of the triangle, b - a */
  int64_t columns, origin;
} tri_target;

static inline tri_target tri_target_of(const tri_params *p, const tri_slab *slab) {
  tri_target t = {};
  t.square = p->output == TRI_SQUARE;
  t.n = (int)p->n;
  t.a = (int)slab->a;
  t.b = (int)slab->b;
  t.m = t.b - t.a;
  t.columns = slab->columns;
  t.origin = tri_condensed_row(p->n, slab->a);
  return t;
}

/** Threads of a block. */
static inline dim3 tri_map_block(const tri_params *p) {
  return dim3((unsigned)p->block, (unsigned)(p->block_rows > 0 ? p->block_rows : p->block));
}

/** The rows of a tile that are this thread's; the one of a square block without a loop, which
 * costs flat maps an eighth of their speed. */
template <class Row> static __device__ __forceinline__ void tri_map_rows(Row row) {
  if (blockDim.y == blockDim.x)
    row((int)threadIdx.y);
  else
    for (int ty = threadIdx.y; ty < (int)blockDim.x; ty += blockDim.y) row(ty);
}

/** Compute and store the pair (i, j) of the output. */
template <int F, class R>
static __device__ __forceinline__ void tri_store_pair(const tri_args<R> &args, const tri_target &t,
                                                      int i, int j, R *out) {
  const int64_t place = t.square ? (int64_t)(i - t.a) * t.columns + j
                                 : tri_condensed_row(t.n, i) - t.origin + (j - i - 1);
  const R value = tri_value<F, R>(args, i, j);
  out[place] =
      i != j ? value : tri_diagonal<F, R>(args, args.extra != NULL ? __ldg(args.extra + i) : (R)0);
}

template <int F, class R>
static __device__ __forceinline__ void tri_store_cell(const tri_args<R> &args, const tri_target &t,
                                                      tri_cell cell, R *out) {
  if (cell.r < 0 || (!t.square && cell.r == cell.c)) return;
  if (t.square)
    tri_store_pair<F>(args, t, t.a + cell.r, t.a + cell.c, out);
  else
    tri_store_pair<F>(args, t, t.b - 1 - cell.r, t.b - 1 - cell.c, out);
}

/** Level of rec that is its pass over the diagonal. */
enum { TRI_REC_DIAGONAL = -1 };

/** Which map a kernel follows: one, or as the launch says. */
enum { TRI_ANY_MAP = TRI_N_MAPS };

/** Cell of a thread by the map, in row ty of the tile. */
static __device__ __forceinline__ tri_cell tri_cell_at(int map, int m, int level,
                                                       const tri_segment &segment, int ty) {
  const int side = blockDim.x, tx = threadIdx.x;
  const int x = blockIdx.x, y = blockIdx.y;
  switch (map) {
  case TRI_MAP_BB:
    return tri_map_bb(x, y, tx, ty, side, m);
  case TRI_MAP_RB:
    return tri_map_rb(x * side + tx, y * side + ty, m);
  case TRI_MAP_REC:
    return level == TRI_REC_DIAGONAL ? tri_map_rec_diagonal(x, tx, ty, side, m)
                                     : tri_map_rec(x, y, level, tx, ty, side, m);
  case TRI_MAP_LTM:
    return tri_map_ltm(x, tx, ty, side, m);
  case TRI_MAP_FRB:
    return tri_map_flat(segment, x, y, tri_log2_float((unsigned)y), tx, ty, side, m);
  default:
    return tri_map_flat(segment, x, y, tri_log2_clz((unsigned)y), tx, ty, side, m);
  }
}

/** Both cells of a thread in row ty of a block that does diagonal tiles of the flat maps. */
template <int F, class R>
static __device__ __forceinline__ void
tri_store_diagonal(const tri_args<R> &args, const tri_target &t, const tri_segment &segment, int ty,
                   R *out) {
  const int side = blockDim.x, tx = threadIdx.x;
  for (int second = 0; second < 2; second++)
    tri_store_cell<F>(args, t,
                      tri_flat_diagonal(segment, (int)blockIdx.x, tx, ty, side, t.m, second), out);
}

/** MAP: tri_map, or TRI_ANY_MAP: the argument `map`; TRI_MAP_AUTO is the rectangle beside the
 * triangle. level: of rec. */
template <int MAP, int F, class R>
static __global__ void __launch_bounds__(1024)
    tri_map_kernel(tri_args<R> args, tri_target t, int map, int level, tri_segment segment,
                   R *out) {
  const int one = MAP == TRI_ANY_MAP ? map : MAP;
  tri_map_rows([&](int ty) {
    if (one == TRI_MAP_AUTO) {
      const int i = t.a + (int)(blockIdx.y * blockDim.x) + ty;
      const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x) + (t.square ? 0 : t.b);
      if (i < t.b && j < (t.square ? t.a : t.n)) tri_store_pair<F>(args, t, i, j, out);
    } else if ((one == TRI_MAP_FR || one == TRI_MAP_FRB) && blockIdx.y == 0) {
      tri_store_diagonal<F>(args, t, segment, ty, out);
    } else {
      tri_store_cell<F>(args, t, tri_cell_at(one, t.m, level, segment, ty), out);
    }
  });
}

template <class R> struct tri_map_pointer {
  typedef void (*type)(tri_args<R>, tri_target, int, int, tri_segment, R *);
};

/** Kernels of euclidean, one for each map. */
template <class R> static typename tri_map_pointer<R>::type tri_map_euclidean(int map) {
  switch (map) {
  case TRI_MAP_BB:
    return tri_map_kernel<TRI_MAP_BB, TRI_EUCLIDEAN, R>;
  case TRI_MAP_RB:
    return tri_map_kernel<TRI_MAP_RB, TRI_EUCLIDEAN, R>;
  case TRI_MAP_REC:
    return tri_map_kernel<TRI_MAP_REC, TRI_EUCLIDEAN, R>;
  case TRI_MAP_LTM:
    return tri_map_kernel<TRI_MAP_LTM, TRI_EUCLIDEAN, R>;
  case TRI_MAP_FRB:
    return tri_map_kernel<TRI_MAP_FRB, TRI_EUCLIDEAN, R>;
  case TRI_MAP_FR:
    return tri_map_kernel<TRI_MAP_FR, TRI_EUCLIDEAN, R>;
  default:
    return tri_map_kernel<TRI_MAP_AUTO, TRI_EUCLIDEAN, R>;
  }
}

/** Kernels of a function: of the one that is measured for each map, of others one for all. */
template <int F, class R> static typename tri_map_pointer<R>::type tri_map_pick(int map) {
  if constexpr (F == TRI_EUCLIDEAN)
    return tri_map_euclidean<R>(map);
  else
    return tri_map_kernel<TRI_ANY_MAP, tri_same<F>::value, R>;
}

/** Kernel of a map and function; cdp has its own file. */
template <class R> typename tri_map_pointer<R>::type tri_map_kernel_of(int map, int function) {
  switch (function) {
#define X(NAME, ...) \
  case TRI_##NAME:   \
    return tri_map_pick<TRI_##NAME, R>(map);
    TRI_DIRECT_LIST(X)
#undef X
  default:
    return NULL;
  }
}
