/**
 * @file dp_partition_outside.cuh
 * Sums over structures: a block and a tile of the sweep outside.
 */
#pragma once

#include "dp_partition_block.cuh"

struct dp_part_outside : dp_part_block<-1> {
  __device__ dp_part_outside(const dp_part_args &args, int i, int j)
      : dp_part_block<-1>(args, i, j) {
  }

  /** Products over tiles (I, k), k in [right0, right1), and (k, J), k in [above0, above1). */
  __device__ void meet_all(int right0, int right1, int above0, int above1) {
    double c[4][4];
    if (right0 < right1) {
      take(c, g.at(PART_OUT_D, I, J));
      for (int k = right0; k < right1; k++) /* oM += oD(I, k) S(J, k)' */
        meet(c, g.at(PART_OUT_D, I, k), false, g.at(PART_STEM, J, k), true,
             (int64_t)E - g.e(I, k) + g.e(J, k));
      put(c, g.at(PART_OUT_D, I, J));
    }
    if (above0 < above1) {
      take(c, g.at(PART_OUT_V, I, J));
      for (int k = above0; k < above1; k++) /* oS += M(k, I)' oD(k, J) */
        meet(c, g.at(PART_STEMS, k, I), true, g.at(PART_OUT_D, k, J), false,
             (int64_t)E - g.e(k, J) + g.e(k, I));
      put(c, g.at(PART_OUT_V, I, J));
    }
  }

  __device__ void gather(void) {
    gather_costs();
    for (int w = thread; w < PART_RING * (PART_LD + 1); w += PART_THREADS) (&s.ring[0][0])[w] = 0;
    load(s.jj, g.at(PART_STEM, J, J), true);
    __syncthreads();
    fill_rows(0, PART_HALO);
    if (group == 0)
      s.rest[column] = I > 0 ? g.side_at(PART_OUT_R_ROW, I - 1, J)[column] * scale_of(I - 1, J) : 0;
  }

  /** oS over splits in the rows of tile (I, I). */
  __device__ double sum_chain(int r) const {
    const double *d = g.at(PART_OUT_D, I, J), *ii = g.at(PART_STEMS, I, I) + r;
    const double of_ii = rna_weights_power(g.e(I, I));
    double sum = g.at(PART_OUT_V, I, J)[r * DP_PART + column];
#pragma unroll 4
    for (int k = 0; k < r; k++) sum += d[k * DP_PART + column] * (ii[k * DP_PART] * of_ii);
    return sum;
  }

  /** oD and oR of row r, by a warp: a lane has two columns. */
  __device__ void run_splits(int r) {
    const int lane = thread % DP_WARP, q0 = lane, q1 = lane + DP_WARP;
    const int a = I * DP_PART + r, first = J * DP_PART;
    const double *around = s.ring[(window_row(r) - 1) % PART_RING] + 1;
    const double of_jj = rna_weights_power(g.e(J, J));
    double *row = g.at(PART_OUT_D, I, J) + r * DP_PART;
    double d0 = row[q0], d1 = row[q1], add0 = 0, add1 = 0;
    if (a > 0) {
      const double *closing = g.list(RNA_OUTER_MULTI, g.letters[a - 1], g.letters[a], first + 1);
      add0 = closing[q0] * around[q0];
      add1 = closing[q1] * around[q1];
    }
    for (int q = DP_PART - 1; q >= 0; q--) {
      const bool none = first + q <= a || first + q >= g.posts;
      if (q == q0) {
        s.rest[q] = none ? 0 : d0 + g.base * s.rest[q];
        d0 = none ? 0 : d0 + add0;
      }
      if (q == q1) {
        s.rest[q] = none ? 0 : d1 + g.base * s.rest[q];
        d1 = none ? 0 : d1 + add1;
      }
      if (none) continue;
      const double d = __shfl_sync(DP_ALL_LANES, q < DP_WARP ? d0 : d1, q % DP_WARP) * of_jj;
      d0 += s.jj[q][q0] * d;
      d1 += s.jj[q][q1] * d;
    }
    row[q0] = d0, row[q1] = d1;
  }

  /** oS of row r, one column after the other. */
  __device__ void run_stems(int r) {
    double behind =
        J + 1 < g.tiles ? g.side_at(PART_OUT_STEM_COLUMN, I, J + 1)[r] * scale_of(I, J + 1) : 0;
    for (int q = DP_PART - 1; q >= 0; q--) s.stem[q] = behind = s.stem[q] + g.base * behind;
    g.side_at(PART_OUT_STEM_COLUMN, I, J)[r] = behind;
  }

  /** oV of a cell: exterior, multiloops, loops of two pairs. */
  __device__ void pair(int r, int generic) {
    const int a = I * DP_PART + r, b = J * DP_PART + column;
    const int x = g.letters[a], before = g.letters[a - 1];
    const double scale = g.prefix[a] / g.whole->m *
                         rna_weights_power((int64_t)g.prefix_e[I] + g.suffix_e[J] + E - g.whole->e);
    double v =
        *g.list(RNA_LIST_EXTERIOR, x, a > 0 ? before : RNA_MISSING, b) * g.suffix[b] * scale +
        *g.list(RNA_LIST_STEM, x, before, b) * s.stem[column];
    v = add_loops(r, generic, v);
    if (b <= a) v = 0;
    g.at(PART_OUT_V, I, J)[r * DP_PART + column] = v;
    s.ring[window_row(r) % PART_RING][column] = v;
  }

  __device__ void row(int r, int generic) {
    if (group == 0) s.bulge[column] = sum_bulge(r);
    if (group == 1) s.one[column] = sum_one(r), s.two_three[column] = sum_two_three(r);
    if (group == 2 && column < DP_WARP) run_splits(r);
    if (group == 3) s.chain[column] = sum_chain(r);
    __syncthreads();
    if (group == 0) s.stem[column] = s.chain[column] + s.rest[column];
    __syncthreads();
    if (thread == 0) run_stems(r);
    __syncthreads();
    if (group == 0) pair(r, generic);
    __syncthreads();
  }

  __device__ void join(void) {
    __syncthreads();
    gather();
    __syncthreads();
    for (int top = 0; top < rows; top += 3) {
      const int n = min(rows - top, 3);
      fill_rows(window_row(top), n);
      if (group < n) s.generic[group][column] = sum_generic(top + group);
      __syncthreads();
      for (int k = 0; k < n; k++) row(top + k, k);
    }
    if (group == 0) g.side_at(PART_OUT_R_ROW, I, J)[column] = s.rest[column];
  }
};
