/* What the weights of points add to the gradient of groups: derivatives of the fuzzy partition of
 * space as of xc_weights_gradient.c, whose names and formulas these are. A warp takes some points
 * of a piece, one after another, its lanes the atoms; sums of atoms are a warp's own in shared
 * memory until those of a block are added as integers. */
#include "warp.cuh"
#include "xc_gpu.cuh"

#include "xc_weights_own.h"

#include <algorithm>

enum { WEIGHT_WARPS = 8, EACH = 4 }; /* warps of a block at most; points of a warp */

/** The partition on the card, and where sums go. */
struct weights_task {
  const double *at, *inverse, *shift; /**< of xc_partition */
  double over, scale;
  const int32_t *owners;
  const double *points; /**< [3][n_points] */
  int64_t n_points;
  unsigned long long *sums, *flag;
  int32_t n, warps; /**< atoms; warps of a block */
};

/** What a warp has in shared memory, [n] each: sums of all atoms; of a point's rivals distance,
 *  cell, atom. */
struct weights_own {
  double *sums, *r, *cell;
  int32_t *atom;
  int n;        /**< rivals */
  double reach; /**< cells of rivals farther away are 0 */
};

static __host__ __device__ __forceinline__ int64_t own_bytes(int64_t n) {
  return n * (5 * 8) + (n + n % 2) * 4;
}

static __device__ __forceinline__ double least_of(double v) {
  for (int d = XC_WARP / 2; d > 0; d /= 2) v = fmin(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

static __device__ __forceinline__ double sum_of(double v) {
  for (int d = XC_WARP / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

template <bool BECKE> static __device__ __forceinline__ double step_of(double nu) {
  return BECKE ? becke_step(nu) : ssf_step(nu);
}

/* Rivals of a point in their order. @return false: one cell is all */
template <bool BECKE>
static __device__ bool find_rivals(const weights_task &k, const double at[3], weights_own &w) {
  const int lane = threadIdx.x % XC_WARP;
  const double ratio = (1 + k.over) / (1 - k.over);
  double nearest = INFINITY, farthest = 0;
  int cells = 0;
  for (int a = lane; a < k.n; a += XC_WARP) {
    double square = 0;
    for (int c = 0; c < 3; c++) square += (at[c] - k.at[3 * a + c]) * (at[c] - k.at[3 * a + c]);
    w.r[a] = sqrt(square);
    nearest = fmin(nearest, w.r[a]);
  }
  nearest = least_of(nearest);
  w.reach = BECKE ? INFINITY : ratio * nearest;
  for (int a = lane; a < k.n; a += XC_WARP)
    if (w.r[a] <= w.reach) cells++, farthest = fmax(farthest, w.r[a]);
  cells = tsl_warp_sum(cells);
  farthest = -least_of(-farthest);
  w.n = 0;
  if (cells == 1) return false;
  for (int lo = 0; lo < k.n; lo += XC_WARP) { /* to a place not behind where it was */
    const int a = lo + lane;
    const double r = a < k.n ? w.r[a] : INFINITY;
    const bool rival = a < k.n && (BECKE || r <= ratio * farthest);
    const unsigned votes = __ballot_sync(~0u, rival);
    const int to = w.n + __popc(votes & ((1u << lane) - 1));
    if (rival) w.r[to] = r, w.atom[to] = a;
    w.n += __popc(votes);
    __syncwarp();
  }
  return true;
}

/** A pair of rivals: mu, nu, the step, and how nu changes with r_i - r_k. */
struct weights_pair {
  double mu, nu, inverse, rate;
};

static __device__ __forceinline__ weights_pair pair_of(const weights_task &k, const weights_own &w,
                                                       int i, int other) {
  const int64_t at = (int64_t)w.atom[i] * k.n + w.atom[other];
  const double inverse = __ldg(k.inverse + at), shift = __ldg(k.shift + at);
  const double mu = (w.r[i] - w.r[other]) * inverse;
  return {mu, mu + shift * (1 - mu * mu), inverse, (1 - 2 * shift * mu) * inverse};
}

/* The cells of 32 rivals, each lane one; lanes with none have 0. */
template <bool BECKE>
static __device__ double cells_of(const weights_task &k, const weights_own &w, int i) {
  double product = i < w.n && w.r[i] <= w.reach ? 1 : 0;
  for (int other = 0; other < w.n && __any_sync(~0u, product != 0); other++)
    if (product != 0) product *= step_of<BECKE>(pair_of(k, w, i, other).nu);
  return product;
}

/* All cells, and their sum. */
template <bool BECKE> static __device__ double set_cells(const weights_task &k, weights_own &w) {
  const int lane = threadIdx.x % XC_WARP;
  double nearest = INFINITY, most = 0, sum = 0;
  for (int i = lane; i < w.n; i += XC_WARP) nearest = fmin(nearest, w.r[i]);
  nearest = least_of(nearest);
  for (int lo = 0; lo < w.n; lo += XC_WARP) {
    const double cell = cells_of<BECKE>(k, w, lo + lane);
    if (lo + lane < w.n) w.cell[lo + lane] = cell;
    if (lo + lane < w.n && w.r[lo + lane] == nearest) most = cell;
  }
  most = -least_of(-most);
  for (int i = lane; i < w.n; i += XC_WARP) {
    if (w.cell[i] <= XC_LEAST_CELL * most) w.cell[i] = 0;
    sum += w.cell[i];
  }
  __syncwarp();
  return sum_of(sum);
}

/* Add c d ln P_i; own: what the point's owner gets, a lane's part. Of the sums each lane adds to
 * those of the rivals it has. */
template <bool BECKE>
static __device__ void add_cell(const weights_task &k, const weights_own &w, const double at[3],
                                int i, double c, double own[3]) {
  const int lane = threadIdx.x % XC_WARP;
  const double *const here = k.at + 3 * w.atom[i];
  const double over_i = w.r[i] > 0 ? 1 / w.r[i] : 0;
  double moved[3] = {0, 0, 0};
  for (int other = lane; other < w.n; other += XC_WARP) {
    const weights_pair pair = pair_of(k, w, i, other);
    const double s = step_of<BECKE>(pair.nu);
    const double t = c * (BECKE ? becke_slope(pair.nu, s) : ssf_slope(pair.nu, s)) * pair.rate;
    const double along = t * pair.mu * pair.inverse, over = w.r[other] > 0 ? 1 / w.r[other] : 0;
    const double *const there = k.at + 3 * w.atom[other];
    for (int x = 0; x < 3 && t != 0; x++) {
      const double u = t * (at[x] - there[x]) * over, stretch = along * (here[x] - there[x]);
      const double u_i = t * (at[x] - here[x]) * over_i;
      w.sums[3 * w.atom[other] + x] += u + stretch;
      own[x] += u_i - u;
      moved[x] -= stretch + u_i;
    }
  }
  for (int x = 0; x < 3; x++) {
    const double all = sum_of(moved[x]);
    if (lane == i % XC_WARP) w.sums[3 * w.atom[i] + x] += all;
  }
}

template <bool BECKE>
static __device__ void do_point(const weights_task &k, weights_own &w, int64_t point,
                                double amount) {
  const double at[3] = {k.points[point], k.points[k.n_points + point],
                        k.points[2 * k.n_points + point]};
  const int32_t owner = k.owners[point];
  double own[3] = {0, 0, 0};
  if (!find_rivals<BECKE>(k, at, w)) return;
  const double sum = set_cells<BECKE>(k, w);
  for (int i = 0; i < w.n; i++) {
    const double share = w.cell[i] / sum;
    const bool mine = w.atom[i] == owner;
    if (!mine && share < XC_LEAST_CELL) continue;
    add_cell<BECKE>(k, w, at, i, amount * ((mine ? 1 : 0) - share), own);
  }
  __syncwarp();
  for (int x = 0; x < 3; x++) {
    const double all = sum_of(own[x]);
    if (threadIdx.x % XC_WARP == 0) w.sums[3 * owner + x] += all;
  }
  __syncwarp();
}

/* Block (points, piece). */
template <bool BECKE>
static __global__ void __launch_bounds__(XC_WARP *WEIGHT_WARPS)
    weights_kernel(const weights_task k, const xc_piece *pieces, const double *amounts) {
  extern __shared__ double weights_memory[];
  const int warp = threadIdx.x / XC_WARP, lane = threadIdx.x % XC_WARP;
  const xc_piece piece = pieces[blockIdx.y];
  const int lo = ((int)blockIdx.x * k.warps + warp) * EACH, hi = min(lo + EACH, piece.n);
  weights_own w;
  w.sums = (double *)((char *)weights_memory + warp * own_bytes(k.n));
  w.r = w.sums + 3 * k.n, w.cell = w.r + k.n, w.atom = (int32_t *)(w.cell + k.n);
  if ((int)blockIdx.x * k.warps * EACH >= piece.n) return;
  for (int a = lane; a < 3 * k.n; a += XC_WARP) w.sums[a] = 0;
  __syncwarp();
  for (int p = lo; p < hi; p++) do_point<BECKE>(k, w, piece.first + p, amounts[piece.points + p]);
  __syncthreads();
  for (int a = (int)threadIdx.x; a < 3 * k.n; a += (int)blockDim.x) {
    double sum = 0;
    for (int other = 0; other < k.warps; other++)
      sum += ((const double *)((const char *)weights_memory + other * own_bytes(k.n)))[a];
    if (sum != 0) xc_gradient_add(&k.sums[a], sum, k.scale, piece.group, k.flag);
  }
}

template <bool BECKE>
static tsl_err run(xc_gpu *w, const xc_batch *batch, const weights_task *task) {
  tsl_err err = TSL_OK;
  const int64_t bytes = task->warps * own_bytes(task->n);
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, task->warps * EACH), (unsigned)batch->n);
  TSL_CUDA_TRY(cudaFuncSetAttribute(weights_kernel<BECKE>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  TSL_LAUNCH((weights_kernel<BECKE>), grid, (unsigned)(task->warps * XC_WARP), (size_t)bytes,
             w->stream, *task, batch->card, batch->arrays + XC_AMOUNT * batch->stride);
done:
  return err;
}

tsl_err xc_weights_run(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  enum { SHARED = 64 << 10 }; /* bytes of a block, if one warp does not need more */
  const xc_gpu_gradient *g = &w->gradient;
  weights_task task = {};
  if (!w->p->response) goto done;
  task.at = (const double *)g->at.data, task.over = g->over;
  task.scale = xc_gradient_scale(w->p);
  task.inverse = (const double *)g->inverse.data, task.shift = (const double *)g->shift.data;
  task.owners = (const int32_t *)g->owners.data;
  task.points = (const double *)w->points.data, task.n_points = w->p->n_points;
  task.sums = (unsigned long long *)g->groups.data;
  task.flag = (unsigned long long *)w->flag.data;
  task.n = (int32_t)w->p->n_atoms;
  task.warps = (int32_t)std::clamp<int64_t>(SHARED / own_bytes(task.n), 1, WEIGHT_WARPS);
  TSL_TRY(g->becke ? run<true>(w, batch, &task) : run<false>(w, batch, &task));
done:
  return err;
}

/* -------------------------------------------------------------------- memory */

double xc_weights_bytes(const xc_params *p) {
  const double n = (double)p->n_atoms;
  return p->response ? 8 * n * (2 * n + 3) : 0;
}

static tsl_err upload(xc_gpu *w, tsl_gpu_buffer *buffer, const double *from, int64_t n) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, buffer, n * 8, "partition of space"));
  TSL_CUDA_TRY(cudaMemcpy(buffer->data, from, (size_t)n * 8, cudaMemcpyHostToDevice));
done:
  return err;
}

static tsl_err check_shared(int64_t n) {
  tsl_err err = TSL_OK;
  int device = 0, bytes = 0;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (own_bytes(n) > bytes)
    TSL_FAIL(TSL_ERR_INPUT, "card %s: %lld atoms; derivatives of weights take %lld on this card",
             tsl_gpu_card(), (long long)n, (long long)bytes / own_bytes(2) * 2);
done:
  return err;
}

tsl_err xc_weights_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->p->n_atoms;
  xc_gpu_gradient *g = &w->gradient;
  xc_partition *partition = NULL;
  if (!w->p->response) goto done;
  TSL_TRY(check_shared(n));
  TSL_TRY(xc_partition_create(&w->p->grid, (const xc_atom *)w->problem->fields[XC_IN_ATOMS].data, n,
                              &partition));
  g->becke = partition->becke, g->over = partition->over;
  TSL_TRY(upload(w, &g->at, partition->at, 3 * n));
  TSL_TRY(upload(w, &g->inverse, partition->inverse, n * n));
  TSL_TRY(upload(w, &g->shift, partition->shift, n * n));
done:
  xc_partition_destroy(&partition);
  return err;
}
