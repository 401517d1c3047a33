/* The weights of a grid's points on the root's card: the cells of xc_weights.c, whose functions
 * these are, with the same operations in the same order. A warp takes a point, and of its lanes
 * XC_CELL_LANES a cell, so that it has CELLS_AT_A_TIME of them at a time. */
#include "xc_gpu_shares.cuh"

#include "gpu.cuh"
#include "warp.cuh"
#include "xc_weights_own.h"

#include <algorithm>

enum {
  SHARES_WARP = 32,
  CELL_LANES = XC_CELL_LANES,
  CELL_PIECE = XC_CELL_PIECE,
  CELLS_AT_A_TIME = SHARES_WARP / CELL_LANES,
  SHARES_WARPS = 8,       /* of a block at most */
  SHARES_RANKED = 256,    /* threads that put an atom's neighbours in order */
  SHARES_BYTES = 48 << 10 /* bytes of a block, if one warp does not need more */
};

/** The partition, the neighbours of each atom by distance, and the points, on the card. */
struct shares_task {
  const double *at, *inverse, *shift; /**< of xc_partition */
  double *far;                        /**< [n][n] distances from an owner, ascending */
  int32_t *order;                     /**< [n][n] whose they are */
  double *points;                     /**< [4][n_points] x y z, volume: becomes the weight */
  const int32_t *owners;
  int64_t n_points;
  double cut, over, ratio; /**< of xc_partition; of ssf_share */
  int32_t n, row;          /**< atoms; to a multiple of CELL_LANES */
};

/** A point and its owner's neighbours, by which atoms are numbered here. */
struct shares_point {
  const int32_t *order;
  const double *far;
  double at[3];
  double *r;      /**< [n] shared memory of the warp: distances of the first `set` atoms */
  int32_t *cells; /**< [n] likewise: ssf_cells */
  int set;
};

static __host__ __device__ __forceinline__ int64_t warp_bytes(int64_t n) {
  return n * 8 + (n + n % 2) * 4;
}

static __device__ __forceinline__ int lane_of() {
  return (int)threadIdx.x % SHARES_WARP;
}

static __device__ __forceinline__ double distance(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrt(x * x + y * y + z * z);
}

/* ------------------------------------------------------------------- order */

/* Block: an owner. An atom's place is the number of those before it. */
static __global__ void __launch_bounds__(SHARES_RANKED) order_kernel(const shares_task k) {
  const double *const own = k.at + 3 * (int64_t)blockIdx.x;
  const int64_t first = (int64_t)blockIdx.x * k.n;
  for (int i = (int)threadIdx.x; i < k.n; i += SHARES_RANKED) {
    const double far = distance(own, k.at + 3 * i);
    int before = 0;
    for (int j = 0; j < k.n; j++) {
      const double other = distance(own, k.at + 3 * j);
      before += other < far || (other == far && j < i);
    }
    k.far[first + before] = far, k.order[first + before] = i;
  }
}

/* Distances of the first n atoms from the point. */
static __device__ void set_distances(const shares_task &k, shares_point &p, int n) {
  const int to = min(n, k.n);
  for (int a = p.set + lane_of(); a < to; a += SHARES_WARP)
    p.r[a] = distance(p.at, k.at + 3 * p.order[a]);
  p.set = max(p.set, to);
  __syncwarp();
}

/* Atoms within reach of the owner, a multiple of CELL_LANES; each cell's lanes ask for theirs. */
static __device__ int within(const shares_task &k, const shares_point &p, double reach) {
  const int own = lane_of() % CELL_LANES, first = lane_of() - own;
  int n = 0;
  for (bool more = true; __any_sync(~0u, more);) {
    const int a = n + CELL_LANES * own;
    const unsigned votes = __ballot_sync(~0u, more && a < k.n && p.far[a] <= reach);
    const int found = __popc(votes >> first & ((1u << CELL_LANES) - 1));
    n += CELL_LANES * found;
    more = found == CELL_LANES;
  }
  return n;
}

/* The first of the nearest of n atoms. */
static __device__ int nearest_of(const shares_point &p, int n) {
  double least = INFINITY;
  int nearest = n;
  for (int a = lane_of(); a < n; a += SHARES_WARP)
    if (p.r[a] < least) least = p.r[a], nearest = a;
  for (int d = SHARES_WARP / 2; d > 0; d /= 2) {
    const double r = __shfl_xor_sync(~0u, least, d);
    const int a = __shfl_xor_sync(~0u, nearest, d);
    if (r < least || (r == least && a < nearest)) least = r, nearest = a;
  }
  return nearest;
}

/* ------------------------------------------------------------------- cells */

/* product_of of the lanes of a cell. */
static __device__ __forceinline__ double product_of(double s) {
  for (int d = 1; d < CELL_LANES; d *= 2) s *= __shfl_xor_sync(~0u, s, d);
  return s;
}

/* The cell of atom j against the first n atoms, 0 once it is at most stop, to all of its lanes; 0
 * of a j below 0. */
template <bool BECKE>
static __device__ double cell_of(const shares_task &k, const shares_point &p, int j, int n,
                                 double stop) {
  const double own = j >= 0 ? p.r[j] : 0;
  const int64_t row = j >= 0 ? (int64_t)p.order[j] * k.n : 0;
  double product = j >= 0 ? 1 : 0, factors = 1;
  if (j < 0) n = 0;
  for (int lo = 0, piece = CELL_LANES; __any_sync(~0u, lo < n); lo += piece, piece = CELL_PIECE) {
    const int hi = min(min(lo + piece, n), k.n);
    for (int u = lo + lane_of() % CELL_LANES; u < hi; u += CELL_LANES) {
      const int64_t pair = row + p.order[u];
      const double mu = (own - p.r[u]) * k.inverse[pair];
      const double nu = mu + k.shift[pair] * (1 - mu * mu);
      factors *= BECKE ? becke_step(nu) : ssf_step(nu);
    }
    const double all = product_of(factors);
    if (lo < n) product = all;
    if (lo < n && product <= stop) product = 0, n = 0;
  }
  return product;
}

/* A sum goes on with cells, one after another. */
static __device__ __forceinline__ double add_cells(double sum, double cell) {
  for (int c = 0; c < CELLS_AT_A_TIME; c++) sum += __shfl_sync(~0u, cell, c * CELL_LANES);
  return sum;
}

/* ------------------------------------------------------------------ shares */

static __device__ double becke_share(const shares_task &k, shares_point &p, double volume) {
  set_distances(k, p, k.n);
  const int m = nearest_of(p, k.n);
  const double nearest = cell_of<true>(k, p, m, k.row, 0);
  const double least = 0.5 * k.cut / fabs(volume) * nearest;
  const double own = m == 0 ? nearest : cell_of<true>(k, p, 0, k.row, least);
  if (own <= 0) return 0;
  const double stop = XC_LEAST_CELL * fmax(own, nearest);
  double sum = m == 0 ? own : own + nearest;
  for (int first = 1; first < k.n; first += CELLS_AT_A_TIME) {
    const int j = first + lane_of() / CELL_LANES;
    sum = add_cells(sum, cell_of<true>(k, p, j < k.n && j != m ? j : -1, k.row, stop));
  }
  return own / sum;
}

/* The owner, and of the first n atoms those whose step to atom m is not over. @return how many */
static __device__ int ssf_cells(const shares_task &k, const shares_point &p, int m, int n) {
  const int64_t row = (int64_t)p.order[m] * k.n;
  int cells = 0;
  for (int lo = 0; lo < n; lo += SHARES_WARP) {
    const int j = lo + lane_of();
    bool found = j == 0 || j == m;
    if (j < n && !found) {
      const int64_t pair = row + p.order[j];
      const double mu = (p.r[m] - p.r[j]) * k.inverse[pair];
      found = mu + k.shift[pair] * (1 - mu * mu) > -XC_SSF_A;
    }
    const unsigned votes = __ballot_sync(~0u, j < n && found);
    if (j < n && found) p.cells[cells + __popc(votes & ((1u << lane_of()) - 1))] = j;
    cells += __popc(votes);
  }
  __syncwarp();
  return cells;
}

static __device__ double ssf_share(const shares_task &k, shares_point &p) {
  set_distances(k, p, 1);
  const double r = p.r[0];
  double own = 0, sum = 0;
  if (k.n == 1 || r <= 0.5 * (1 - k.over) * p.far[1]) return 1;
  const int rivals = within(k, p, (1 + k.ratio) * r), others = min(rivals, k.n);
  set_distances(k, p, rivals);
  const int cells = ssf_cells(k, p, nearest_of(p, others), others);
  for (int first = 0; first < cells; first += CELLS_AT_A_TIME) {
    const int c = first + lane_of() / CELL_LANES, j = c < cells ? p.cells[c] : -1;
    const int near = within(k, p, j < 0 ? -1 : r + k.ratio * p.r[j]);
    set_distances(k, p, tsl_warp_max(near));
    const double cell = cell_of<false>(k, p, j, j == 0 ? rivals : near, 0);
    if (first == 0) own = __shfl_sync(~0u, cell, 0);
    if (own <= 0) return 0;
    sum = add_cells(sum, cell);
  }
  return own / sum;
}

template <bool BECKE>
static __global__ void __launch_bounds__(SHARES_WARP *SHARES_WARPS)
    shares_kernel(const shares_task k) {
  extern __shared__ double shares_memory[];
  const int warp = (int)threadIdx.x / SHARES_WARP;
  const int64_t i = (int64_t)blockIdx.x * (blockDim.x / SHARES_WARP) + warp;
  if (i >= k.n_points) return;
  const int64_t first = (int64_t)k.owners[i] * k.n;
  double *const x = k.points + i, *const w = x + 3 * k.n_points, volume = *w;
  shares_point p = {k.order + first, k.far + first, {x[0], x[k.n_points], x[2 * k.n_points]}};
  p.r = (double *)((char *)shares_memory + warp * warp_bytes(k.n));
  p.cells = (int32_t *)(p.r + k.n);
  const double share = BECKE ? becke_share(k, p, volume) : ssf_share(k, p);
  if (lane_of() == 0) *w = volume * share;
}

/* -------------------------------------------------------------------- step */

/** What a step has of the card. */
struct shares_card {
  tsl_gpu_memory memory;
  cudaStream_t stream;
  tsl_gpu_buffer at, inverse, shift, far, order, points, owners;
};

static tsl_err upload(shares_card *c, const xc_weighing *w, shares_task *k) {
  tsl_err err = TSL_OK;
  const xc_partition *p = w->partition;
  const xc_grid *g = w->grid;
  const int64_t n = p->n;
  TSL_TRY(tsl_gpu_reserve(&c->memory, &c->far, n * n * 8, "neighbours of atoms"));
  TSL_TRY(tsl_gpu_reserve(&c->memory, &c->order, n * n * 4, "neighbours of atoms"));
  TSL_TRY(tsl_gpu_upload(c, &c->at, p->at, n * 3 * 8, "atoms"));
  TSL_TRY(tsl_gpu_upload(c, &c->inverse, p->inverse, n * n * 8, "pairs of atoms"));
  TSL_TRY(tsl_gpu_upload(c, &c->shift, p->shift, n * n * 8, "pairs of atoms"));
  TSL_TRY(tsl_gpu_upload(c, &c->points, g->block, g->n * 4 * 8, "points of the grid"));
  TSL_TRY(tsl_gpu_upload(c, &c->owners, g->atom, g->n * 4, "owners of points"));
  *k = {(const double *)c->at.data,
        (const double *)c->inverse.data,
        (const double *)c->shift.data,
        (double *)c->far.data,
        (int32_t *)c->order.data,
        (double *)c->points.data,
        (const int32_t *)c->owners.data,
        g->n,
        p->cut,
        p->over,
        (1 + p->over) / (1 - p->over),
        (int32_t)n,
        (int32_t)(tsl_ceil_div(n, CELL_LANES) * CELL_LANES)};
done:
  return err;
}

template <bool BECKE> static tsl_err launch(const shares_card *c, const shares_task *k) {
  tsl_err err = TSL_OK;
  const int64_t own = warp_bytes(k->n);
  const int64_t warps = std::clamp<int64_t>(SHARES_BYTES / own, 1, SHARES_WARPS);
  TSL_CUDA_TRY(cudaFuncSetAttribute(
      shares_kernel<BECKE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(warps * own)));
  TSL_LAUNCH(order_kernel, (unsigned)k->n, SHARES_RANKED, 0, c->stream, *k);
  TSL_LAUNCH((shares_kernel<BECKE>), (unsigned)tsl_ceil_div(k->n_points, warps),
             (unsigned)(warps * SHARES_WARP), (size_t)(warps * own), c->stream, *k);
done:
  return err;
}

static tsl_err check_shared(int64_t n, int card) {
  tsl_err err = TSL_OK;
  int bytes = 0;
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, card));
  if (warp_bytes(n) > bytes)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "card %s: %lld atoms are more than a warp can hold",
             tsl_gpu_card(), (long long)n);
done:
  return err;
}

static tsl_err weigh(const tsl_device *card, const xc_weighing *w, shares_card *c) {
  tsl_err err = TSL_OK;
  tsl_device own = *card;
  shares_task task = {};
  TSL_TRY(tsl_platform_gpu.select(&own));
  c->memory.limit = own.memory_limit;
  TSL_TRY(check_shared(w->partition->n, own.index));
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
  TSL_TRY(upload(c, w, &task));
  TSL_TRY(w->partition->becke ? launch<true>(c, &task) : launch<false>(c, &task));
  TSL_TRY(tsl_gpu_copy(c, w->grid->w, task.points + 3 * w->grid->n, w->grid->n * 8));
done:
  return err;
}

tsl_err xc_shares_take(const tsl_device *card, void *arguments, bool *taken) {
  shares_card c = {};
  tsl_err err = weigh(card, (const xc_weighing *)arguments, &c);
  for (tsl_gpu_buffer *buffer :
       {&c.at, &c.inverse, &c.shift, &c.far, &c.order, &c.points, &c.owners})
    tsl_gpu_release(&c.memory, buffer);
  if (c.stream != NULL) (void)cudaStreamDestroy(c.stream);
  *taken = err == TSL_OK;
  return err == TSL_ERR_DEVICE_MEMORY ? TSL_OK : err; /* the host's threads do it */
}
