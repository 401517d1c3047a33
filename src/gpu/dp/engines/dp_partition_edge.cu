/* Sums over structures on a card: what boxes leave for others, in the order of dp.h, edges. */
#include "dp_partition.cuh"

/** An edge in the card's memory, one list behind the other. */
struct part_edge {
  int64_t lo[2], hi[2];
  int64_t i0, i1, j0, j1; /* tiles, the last ones too */
  bool inside;
  double *values;
};

/** Where a number of an edge lies; neither: it is nothing, 0. */
struct part_place {
  double *number;
  int32_t *whole;
};

/** Finds the list in which number w is; w becomes its place there. */
struct part_cursor {
  int64_t w;
  __device__ bool within(int64_t n) {
    if (w < n) return true;
    w -= n;
    return false;
  }
};

static __device__ part_place cell_place(const dp_part_args &g, const part_edge &e,
                                        partition_table table, int64_t w) {
  const int64_t columns = e.hi[1] - e.lo[1], a = e.lo[0] + w / columns, b = e.lo[1] + w % columns;
  const int i = (int)(a / DP_PART), j = (int)(b / DP_PART);
  if (i > j) return {};
  return {g.at(table, i, j) + a % DP_PART * DP_PART + b % DP_PART, nullptr};
}

/** Of a list of the box's columns, kept by its tiles of row i. */
static __device__ part_place row_place(const dp_part_args &g, const part_edge &e,
                                       partition_side side, int64_t i, int64_t w) {
  const int64_t b = e.lo[1] + w, j = b / DP_PART;
  if (i > j) return {};
  return {g.side_at(side, (int)i, (int)j) + b % DP_PART, nullptr};
}

/** Of a list of the box's rows, kept by its tiles of column j. */
static __device__ part_place column_place(const dp_part_args &g, const part_edge &e,
                                          partition_side side, int64_t j, int64_t w) {
  const int64_t a = e.lo[0] + w, i = a / DP_PART;
  if (i > j) return {};
  return {g.side_at(side, (int)i, (int)j) + a % DP_PART, nullptr};
}

/** F of the columns and G of the rows; those of other boxes are nothing. */
static __device__ part_place exterior_place(const dp_part_args &g, const part_edge &e,
                                            part_cursor at) {
  const bool first = e.lo[0] == 0, last = e.hi[1] == g.posts;
  if (at.within(e.hi[1] - e.lo[1])) return {first ? g.prefix + e.lo[1] + at.w : nullptr, nullptr};
  if (at.within(e.hi[0] - e.lo[0])) return {last ? g.suffix + e.lo[0] + at.w : nullptr, nullptr};
  if (at.within(e.j1 - e.j0 + 1)) return {nullptr, first ? g.prefix_e + e.j0 + at.w : nullptr};
  return {nullptr, last ? g.suffix_e + e.i0 + at.w : nullptr};
}

static __device__ part_place inside_place(const dp_part_args &g, const part_edge &e,
                                          part_cursor at) {
  const int64_t rows = e.hi[0] - e.lo[0], columns = e.hi[1] - e.lo[1];
  if (at.within(rows * columns)) return cell_place(g, e, PART_V, at.w);
  if (at.within(rows * columns)) return cell_place(g, e, PART_STEM, at.w);
  if (at.within(rows * columns)) return cell_place(g, e, PART_STEMS, at.w);
  if (at.within(columns)) return row_place(g, e, PART_D_ROW, e.i0, at.w);
  if (at.within(columns)) return row_place(g, e, PART_R_ROW, e.i0, at.w);
  if (at.within(rows)) return column_place(g, e, PART_D_COLUMN, e.j1, at.w);
  return exterior_place(g, e, at);
}

static __device__ part_place outside_place(const dp_part_args &g, const part_edge &e,
                                           part_cursor at) {
  const int64_t rows = e.hi[0] - e.lo[0], columns = e.hi[1] - e.lo[1];
  if (at.within(rows * columns)) return cell_place(g, e, PART_OUT_V, at.w);
  if (at.within(rows * columns)) return cell_place(g, e, PART_OUT_D, at.w);
  if (at.within(columns)) return row_place(g, e, PART_OUT_R_ROW, e.i1, at.w);
  if (at.within(rows)) return column_place(g, e, PART_OUT_STEM_COLUMN, e.j0, at.w);
  if (at.w == 0) return {&g.whole->m, nullptr};
  return {nullptr, &g.whole->e};
}

static __device__ part_place place_of(const dp_part_args &g, const part_edge &e, int64_t w) {
  const int64_t tiles = e.j1 - e.j0 + 1;
  part_cursor at = {w};
  if (at.within((e.i1 - e.i0 + 1) * tiles)) {
    const int i = (int)(e.i0 + at.w / tiles), j = (int)(e.j0 + at.w % tiles);
    return {nullptr, i <= j ? g.exponent + g.number(i, j) : nullptr};
  }
  return e.inside ? inside_place(g, e, at) : outside_place(g, e, at);
}

static __global__ void edge_out_kernel(const __grid_constant__ dp_part_args g,
                                       const __grid_constant__ part_edge e, int64_t n) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= n) return;
  const part_place p = place_of(g, e, w);
  e.values[w] = p.number != nullptr ? *p.number : p.whole != nullptr ? (double)*p.whole : 0;
}

static __global__ void edge_in_kernel(const __grid_constant__ dp_part_args g,
                                      const __grid_constant__ part_edge e, int64_t n) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= n) return;
  const part_place p = place_of(g, e, w);
  if (p.number != nullptr) *p.number = e.values[w];
  if (p.whole != nullptr) *p.whole = (int32_t)e.values[w];
}

/** D[a][b] in the corner of a tile is in its first row and in its last column. And F[n]. */
static __global__ void corner_kernel(const __grid_constant__ dp_part_args g,
                                     const __grid_constant__ part_edge e) {
  const int i = (int)e.i0;
  for (int64_t j = (e.j0 > e.i0 ? e.j0 : e.i0) + threadIdx.x; j <= e.j1; j += blockDim.x)
    *g.side_at(PART_D_COLUMN, i, (int)j) = g.side_at(PART_D_ROW, i, (int)j)[DP_PART - 1];
  if (threadIdx.x == 0 && e.lo[0] == 0 && e.hi[1] == g.posts)
    *g.whole = {g.prefix[g.posts - 1], g.prefix_e[g.tiles - 1]};
}

static tsl_err reserve_edge(dp_partition *w, const dp_box *box, int64_t n, part_edge *e) {
  tsl_err err = TSL_OK;
  TSL_TRY(
      tsl_gpu_reserve(&w->card->memory, &w->edge, n * (int64_t)sizeof(double), "edge of a box"));
  for (int k = 0; k < 2; k++) e->lo[k] = box->lo[k], e->hi[k] = box->hi[k];
  e->i0 = box->lo[0] / DP_PART, e->i1 = (box->hi[0] - 1) / DP_PART;
  e->j0 = box->lo[1] / DP_PART, e->j1 = (box->hi[1] - 1) / DP_PART;
  e->inside = box->lo[2] == 0;
  e->values = (double *)w->edge.data;
done:
  return err;
}

tsl_err dp_partition_edge_out(dp_partition *w, const dp_box *box, int64_t n, double *values) {
  tsl_err err = TSL_OK;
  part_edge e = {};
  TSL_TRY(reserve_edge(w, box, n, &e));
  TSL_LAUNCH(edge_out_kernel, dim3((unsigned)tsl_ceil_div(n, 256)), 256, 0, w->card->stream,
             w->args, e, n);
  TSL_TRY(tsl_gpu_copy(w->card, values, e.values, (size_t)n * sizeof(double)));
done:
  return err;
}

tsl_err dp_partition_edge_in(dp_partition *w, const dp_box *box, int64_t n, const double *values) {
  tsl_err err = TSL_OK;
  part_edge e = {};
  TSL_TRY(reserve_edge(w, box, n, &e));
  TSL_CUDA_TRY(cudaMemcpyAsync(e.values, values, (size_t)n * sizeof(double), cudaMemcpyDefault,
                               w->card->stream));
  TSL_LAUNCH(edge_in_kernel, dim3((unsigned)tsl_ceil_div(n, 256)), 256, 0, w->card->stream, w->args,
             e, n);
  if (e.inside) TSL_LAUNCH(corner_kernel, dim3(1), 32, 0, w->card->stream, w->args, e);
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}
