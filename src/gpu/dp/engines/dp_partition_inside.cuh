/**
 * @file dp_partition_inside.cuh
 * Sums over structures: a block and a tile of the sweep inside, F and G.
 */
#pragma once

#include "dp_partition_block.cuh"

struct dp_part_inside : dp_part_block<1> {
  __device__ dp_part_inside(const dp_part_args &args, int i, int j) : dp_part_block<1>(args, i, j) {
  }

  /* ---- products */

  /** Products over tiles k in [k0, k1), which are finished. */
  __device__ void meet_all(int k0, int k1) {
    double *tile = g.at(PART_STEMS, I, J), c[4][4];
    int most = INT32_MIN;
    if (k0 >= k1) return;
    for (int k = k0; k < k1; k++) most = max(most, g.e(I, k) + g.e(k, J) + RNA_WEIGHTS_HIGH);
    take(c, tile);
    if (most > E) {
      const double scale = rna_weights_power((int64_t)E - most);
      for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) c[x][y] *= scale;
      E = most;
    }
    for (int k = k0; k < k1; k++)
      meet(c, g.at(PART_STEMS, I, k), false, g.at(PART_STEM, k, J), false,
           (int64_t)g.e(I, k) + g.e(k, J) - E);
    put(c, tile);
  }

  __device__ void keep_exponent(void) {
    __syncthreads();
    if (thread == 0) g.exponent[g.number(I, J)] = E;
    __syncthreads();
  }

  __device__ void raise_to(int e) {
    double *tile = g.at(PART_STEMS, I, J);
    if (e <= E) return;
    const double scale = rna_weights_power((int64_t)E - e);
    for (int w = thread; w < DP_PART_CELLS; w += PART_THREADS) tile[w] *= scale;
    E = e;
  }

  /** An exponent with which the tile's numbers fit: that of its neighbours. */
  __device__ void raise_as_around(void) {
    if (I == J) return;
    raise_to(g.e(I, J - 1));
    raise_to(g.e(I + 1, J));
    if (I + 1 < J) raise_to(g.e(I + 1, J - 1));
  }

  /* ---- a row */

  __device__ void gather(void) {
    const bool off = I < J, corner = I + 1 < J;
    gather_costs();
    for (int w = thread; w < PART_RING * (PART_LD + 1); w += PART_THREADS) (&s.ring[0][0])[w] = 0;
    if (off)
      load(s.jj, g.at(PART_STEM, J, J), false);
    else
      for (int w = thread; w < DP_PART * PART_ROW; w += PART_THREADS) (&s.jj[0][0])[w] = 0;
    __syncthreads();
    fill_rows(DP_PART, PART_HALO);
    if (group != 0) return;
    const double before = off ? scale_of(I, J - 1) : 0, under = off ? scale_of(I + 1, J) : 0;
    s.rest[column] = off ? g.side_at(PART_R_ROW, I + 1, J)[column] * under : 0;
    s.left[column] = off ? g.side_at(PART_D_COLUMN, I, J - 1)[column] * before : 0;
    s.below[column + 1] = off ? g.side_at(PART_D_ROW, I + 1, J)[column] * under : 0;
    if (column == 0)
      s.below[0] = corner ? *g.side_at(PART_D_COLUMN, I + 1, J - 1) * scale_of(I + 1, J - 1) : 0;
  }

  /** M over splits in the rows of tile (I, I). */
  __device__ double sum_chain(int r) const {
    const double *one = g.at(PART_STEM, I, J), *ii = g.at(PART_STEMS, I, I) + r * DP_PART;
    double sum = g.at(PART_STEMS, I, J)[r * DP_PART + column];
    if (I == J) return sum;
    const double of_ii = rna_weights_power(g.e(I, I));
#pragma unroll 4
    for (int k = r + 1; k < DP_PART; k++) sum += one[k * DP_PART + column] * (ii[k] * of_ii);
    return sum;
  }

  /** V of a cell: hairpins, multiloops, loops of two pairs; then what S takes of it. */
  __device__ void pair(int r, int generic) {
    const int a = I * DP_PART + r, b = J * DP_PART + column;
    const int x = g.letters[a], after = g.letters[a + 1];
    const double unit = rna_weights_power(-(int64_t)E);
    double v = g.sizes[2 * DP_PART + b - a] * *g.list(RNA_OUTER_HAIRPIN, x, after, b) * unit +
               *g.list(RNA_OUTER_MULTI, x, after, b) * s.below[column];
    for (int k = 0; k < RNA_WEIGHTS_HAIRPINS; k++)
      if (b == a + g.hairpin_letters[k] + 2) v += g.hairpins[k * g.columns + a] * unit;
    v = add_loops(r, generic, v);
    g.at(PART_V, I, J)[r * DP_PART + column] = v;
    s.ring[r % PART_RING][PART_HALO + column] = v;
    s.stem[column] = *g.list(RNA_LIST_STEM, x, g.letters[a - 1], b) * v;
  }

  /** S of row r, one column after the other. */
  __device__ void run_stems(int r, int first, int columns) {
    double before =
        I < J ? g.at(PART_STEM, I, J - 1)[r * DP_PART + DP_PART - 1] * scale_of(I, J - 1) : 0;
    for (int q = first; q < columns; q++) s.stem[q] = before = g.base * before + s.stem[q];
  }

  /** D and M of row r, by a warp: a lane has two columns. */
  __device__ void run_splits(int r, int first, int columns) {
    const int q0 = thread, q1 = thread + DP_WARP;
    const double of_jj = rna_weights_power(g.e(J, J));
    double m0 = s.chain[q0], m1 = s.chain[q1], d0 = 0, d1 = 0;
    for (int q = first; q < columns; q++) {
      if (q == q0) d0 = m0, m0 += s.rest[q];
      if (q == q1) d1 = m1, m1 += s.rest[q];
      const double m = __shfl_sync(DP_ALL_LANES, q < DP_WARP ? m0 : m1, q % DP_WARP) * of_jj;
      m0 += s.jj[q][q0] * m;
      m1 += s.jj[q][q1] * m;
    }
    double *row = g.at(PART_STEMS, I, J) + r * DP_PART;
    row[q0] = m0, row[q1] = m1;
    s.below[q0 + 1] = d0, s.below[q1 + 1] = d1;
    if (thread == 0) s.below[0] = s.left[r];
    if (q1 == DP_PART - 1) g.side_at(PART_D_COLUMN, I, J)[r] = d1;
    if (r > 0) return;
    g.side_at(PART_D_ROW, I, J)[q0] = d0;
    g.side_at(PART_D_ROW, I, J)[q1] = d1;
  }

  __device__ void row(int r, int generic) {
    const int first = I < J ? 0 : r + 1, columns = min(g.posts - J * DP_PART, (int)DP_PART);
    if (group == 0) s.bulge[column] = sum_bulge(r);
    if (group == 1) s.one[column] = sum_one(r);
    if (group == 2) s.two_three[column] = sum_two_three(r);
    if (group == 3) s.chain[column] = sum_chain(r);
    __syncthreads();
    if (group == 0) pair(r, generic);
    __syncthreads();
    if (thread == 0) run_stems(r, first, columns);
    __syncthreads();
    if (group == 0 && column >= first && column < columns) {
      s.rest[column] = g.base * s.rest[column] + s.stem[column];
      g.at(PART_STEM, I, J)[r * DP_PART + column] = s.stem[column];
      if (I == J) s.jj[r][column] = s.stem[column];
    }
    __syncthreads();
    if (thread < DP_WARP) run_splits(r, first, columns);
    __syncthreads();
  }

  /* ---- a tile */

  /** Numbers of the tile and its lists by that scale. */
  __device__ void multiply_all_by(double scale) {
    const partition_table tables[] = {PART_V, PART_STEM, PART_STEMS};
    const partition_side sides[] = {PART_D_ROW, PART_D_COLUMN, PART_R_ROW};
    for (int t = 0; t < 3; t++) {
      double *list = g.at(tables[t], I, J);
      for (int w = thread; w < DP_PART_CELLS; w += PART_THREADS) list[w] *= scale;
      if (group == t) g.side_at(sides[t], I, J)[column] *= scale;
    }
  }

  /** The exponent with which the largest number is near 2^RNA_WEIGHTS_HIGH. */
  __device__ void normalise(void) {
    const double *v = g.at(PART_V, I, J), *one = g.at(PART_STEM, I, J);
    const double *all = g.at(PART_STEMS, I, J);
    double most = 0;
    int e = 0;
    for (int w = thread; w < DP_PART_CELLS; w += PART_THREADS)
      most = fmax(most, fmax(v[w], fmax(one[w], all[w])));
    most = largest(most);
    if (most == 0) return;
    (void)frexp(most, &e);
    multiply_all_by(rna_weights_power(RNA_WEIGHTS_HIGH - e));
    E += e - RNA_WEIGHTS_HIGH;
  }

  __device__ void join(void) {
    raise_as_around();
    keep_exponent();
    gather();
    __syncthreads();
    for (int top = rows - 1; top >= 0; top -= 3) {
      fill_rows(max(top - 2, 0), min(top + 1, 3));
      if (group < 3 && top - group >= 0) s.generic[group][column] = sum_generic(top - group);
      __syncthreads();
      for (int r = top; r >= 0 && r > top - 3; r--) row(r, top - r);
    }
    if (group == 0) g.side_at(PART_R_ROW, I, J)[column] = s.rest[column];
    __syncthreads();
    normalise();
    keep_exponent();
  }

  /* ---- the exterior */

  __device__ double ends(int a, int b) const {
    return *g.list(RNA_LIST_EXTERIOR, g.letters[a], a > 0 ? g.letters[a - 1] : RNA_MISSING, b);
  }

  /** Numbers of a stretch near 1. */
  __device__ void normalise_stretch(double *list, int n, int32_t *exponent, int e) {
    const double most = largest(thread < n ? list[thread] : 0);
    int more = 0;
    (void)frexp(most, &more);
    if (thread < n) list[thread] *= rna_weights_power(-(int64_t)more);
    if (thread == 0) *exponent = e + more;
    __syncthreads();
  }

  /** Sum of what a column of tiles above (a, J), or a row of them (I, b), adds to each column or
   *  row of 64: thread's of the first group. */
  __device__ void add_products(double *sum, int tile_row, int tile_column, bool by_rows, int e) {
    dp_part_adding &to = shared.adding;
    const double *v = g.at(PART_V, tile_row, tile_column);
    const int from = by_rows ? g.suffix_e[tile_column] : g.prefix_e[tile_row];
    const double power = rna_weights_power((int64_t)from + g.e(tile_row, tile_column) - e);
    __syncthreads();
    for (int w = thread; w < DP_PART_CELLS; w += PART_THREADS) {
      const int r = w / DP_PART, q = w % DP_PART;
      const int a = tile_row * DP_PART + r, b = tile_column * DP_PART + q;
      const double scale = (by_rows ? g.suffix[b] : g.prefix[a]) * power;
      to.product[r][q] = a < g.posts ? v[w] * ends(a, b) * scale : 0;
    }
    __syncthreads();
    if (group != 0) return;
#pragma unroll 4
    for (int k = 0; k < DP_PART; k++)
      *sum += by_rows ? to.product[column][k] : to.product[k][column];
  }

  /** F, or backwards G, of the tile's own posts: one after the other, by a warp. */
  __device__ void finish_exterior(double *list, int n, double start, double sum, bool back) {
    dp_part_adding &to = shared.adding;
    const double *v = g.at(PART_V, I, J), own = rna_weights_power(E);
    const int first = I * DP_PART;
    __syncthreads();
    if (group == 0) to.product[0][column] = sum;
    __syncthreads();
    for (int step = 0; step < n && thread < DP_WARP; step++) {
      const int q = back ? n - 1 - step : step;
      for (int k = back ? q + 1 + thread : thread; k < (back ? n : q); k += DP_WARP) {
        const int r = back ? q : k, c = back ? k : q;
        to.term[k] = list[k] * own * v[r * DP_PART + c] * ends(first + r, first + c);
      }
      __syncwarp();
      if (thread == 0) {
        double all = start + to.product[0][q];
        for (int k = back ? q + 1 : 0; k < (back ? n : q); k++) all += to.term[k];
        list[q] = start = all;
      }
      __syncwarp();
    }
    __syncthreads();
  }

  /** F of the columns of a tile of the diagonal (J, J), after tiles (0..J-1, J). */
  __device__ void prefix(void) {
    const int n = min((int)DP_PART, g.posts - J * DP_PART);
    double sum = 0, start = J == 0 ? 1 : g.prefix[J * DP_PART - 1];
    int e = J == 0 ? 0 : g.prefix_e[J - 1];
    for (int i = 0; i < J; i++) e = max(e, g.prefix_e[i] + g.e(i, J));
    for (int i = 0; i < J; i++) add_products(&sum, i, J, false, e);
    if (J > 0) start *= rna_weights_power((int64_t)g.prefix_e[J - 1] - e);
    finish_exterior(g.prefix + J * DP_PART, n, start, sum, false);
    normalise_stretch(g.prefix + J * DP_PART, n, g.prefix_e + J, e);
    if (thread == 0 && J == g.tiles - 1) *g.whole = {g.prefix[g.posts - 1], g.prefix_e[J]};
    __syncthreads();
  }

  /** G of the rows of a tile of the diagonal (I, I), after tiles (I, I+1..). */
  __device__ void suffix(void) {
    const bool last = I == g.tiles - 1;
    double sum = 0, start = last ? 1 : g.suffix[(I + 1) * DP_PART];
    int e = last ? 0 : g.suffix_e[I + 1];
    for (int j = I + 1; j < g.tiles; j++) e = max(e, g.suffix_e[j] + g.e(I, j));
    for (int j = I + 1; j < g.tiles; j++) add_products(&sum, I, j, true, e);
    if (!last) start *= rna_weights_power((int64_t)g.suffix_e[I + 1] - e);
    finish_exterior(g.suffix + I * DP_PART, rows, start, sum, true);
    normalise_stretch(g.suffix + I * DP_PART, rows, g.suffix_e + I, e);
  }
};
