/** @file dp_cpu_partition_outside.c  Sums over structures: the sweep outside. */
#include "dp_cpu_partition.h"
#include "integers.h"

#include <omp.h>
#include <string.h>

static void turn(const double *from, double *to) {
  for (int r = 0; r < DP_SIDE; r++)
    for (int q = 0; q < DP_SIDE; q++) to[q * DP_SIDE + r] = from[r * DP_SIDE + q];
}

void partition_outside_meet(dp_cpu_partition *f, int64_t i, int64_t j, const int64_t right[2],
                            const int64_t above[2]) {
  double *turned = f->scratch[omp_get_thread_num()].turned[0];
  const int64_t e = partition_e(f, i, j);
  for (int64_t k = right[0]; k < right[1]; k++) { /* oM += oD(i, k) S(j, k)' */
    turn(partition_at(f, PART_STEM, j, k), turned);
    f->cpu.kernels->partition_meet(
        partition_at(f, PART_OUT_D, i, k), turned, partition_at(f, PART_OUT_D, i, j),
        rna_weights_power(e - partition_e(f, i, k) + partition_e(f, j, k)));
  }
  for (int64_t k = above[0]; k < above[1]; k++) { /* oS += M(k, i)' oD(k, j) */
    turn(partition_at(f, PART_STEMS, k, i), turned);
    f->cpu.kernels->partition_meet(
        turned, partition_at(f, PART_OUT_D, k, j), partition_at(f, PART_OUT_V, i, j),
        rna_weights_power(e - partition_e(f, k, j) + partition_e(f, k, i)));
  }
}

/* ------------------------------------------------------------------ what lies around */

static const rna_list outer[] = {RNA_OUTER_GENERIC, RNA_OUTER_ONE, RNA_OUTER_TWO_THREE,
                                 RNA_OUTER_BULGE};

/** Rows above tile (i, j) and columns behind it. Row 0 of the windows is row -DP_FOLD_HALO. */
static void put_around(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j) {
  memset(s->window, 0, sizeof s->window);
  for (int64_t r = 0; r < DP_FOLD_LD; r++) {
    const int64_t a = i * DP_SIDE + r - DP_FOLD_HALO, row = a < 0 ? -1 : a / DP_SIDE;
    if (row < 0 || a >= f->posts) continue;
    const int64_t inside = a % DP_SIDE * DP_SIDE;
    const int after = f->w.letters[a + 1];
    if (row < i)
      partition_window(f, s, outer, r, 0, a, after, j * DP_SIDE, DP_SIDE,
                       partition_at(f, PART_OUT_V, row, j) + inside,
                       partition_scale(f, i, j, row, j));
    if (j + 1 < f->tiles)
      partition_window(f, s, outer, r, DP_SIDE, a, after, (j + 1) * DP_SIDE, DP_FOLD_HALO,
                       partition_at(f, PART_OUT_V, row, j + 1) + inside,
                       partition_scale(f, i, j, row, j + 1));
  }
}

/* ------------------------------------------------------------------ a row */

/** oD and oR of row r. @param[in,out] rest  [DP_SIDE] oR of the row above, of this row
 *  @param[in] jj  S of tile (j, j), transposed */
static void run_splits(const dp_cpu_partition *f, const partition_scratch *s, int64_t i, int64_t j,
                       int r, const double *jj, double *rest) {
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  double *row = partition_at(f, PART_OUT_D, i, j) + r * DP_SIDE;
  const double of_jj = rna_weights_power(partition_e(f, j, j));
  const double *closing =
      a > 0 ? partition_list(f, RNA_OUTER_MULTI, f->w.letters[a - 1], f->w.letters[a], column + 1)
            : NULL;
  const double *around = &s->window[DP_FOLD_PLAIN][DP_FOLD_HALO + r - 1][1];
  for (int q = DP_SIDE - 1; q >= 0; q--) {
    if (column + q <= a || column + q >= f->posts) {
      row[q] = rest[q] = 0;
      continue;
    }
    rest[q] = row[q] + f->w.base * rest[q];
    if (a > 0) row[q] += closing[q] * around[q];
    f->cpu.kernels->partition_add(jj + q * DP_SIDE, row[q] * of_jj, row);
  }
}

/** oS of row r, in place of sums over splits. */
static void run_stems(const dp_cpu_partition *f, int64_t i, int64_t j, int r, const double *rest,
                      double *stem) {
  const double *ii = partition_at(f, PART_STEMS, i, i), *d = partition_at(f, PART_OUT_D, i, j);
  const double of_ii = rna_weights_power(partition_e(f, i, i));
  double behind = j + 1 < f->tiles ? partition_side_at(f, PART_OUT_STEM_COLUMN, i, j + 1)[r] *
                                         partition_scale(f, i, j, i, j + 1)
                                   : 0;
  for (int k = 0; k < r; k++)
    f->cpu.kernels->partition_add(d + k * DP_SIDE, ii[k * DP_SIDE + r] * of_ii, stem);
  for (int q = DP_SIDE - 1; q >= 0; q--) stem[q] = behind = stem[q] + rest[q] + f->w.base * behind;
}

/** oV of row r: exterior, multiloops, loops of two pairs. @param[in] stem  [DP_SIDE] oS */
static void run_pairs(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j, int r,
                      const double *stem, double *v) {
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  const int x = f->w.letters[a], before = f->w.letters[a - 1];
  const double scale = f->prefix[a] / f->whole.m *
                       rna_weights_power((int64_t)f->prefix_e[i] + f->suffix_e[j] +
                                         partition_e(f, i, j) - f->whole.e);
  const double *ends =
      partition_list(f, RNA_LIST_EXTERIOR, x, a > 0 ? before : RNA_MISSING, column);
  const double *stems = partition_list(f, RNA_LIST_STEM, x, before, column);
  dp_partition_row t = {.step = -1, .costs = &f->w.costs, .sum = v};
  for (int q = 0; q < DP_SIDE; q++)
    v[q] = ends[q] * f->suffix[column + q] * scale + stems[q] * stem[q];
  for (int k = 0; k < DP_FOLD_WINDOWS; k++) t.window[k] = s->window[k][DP_FOLD_HALO + r];
  for (int k = 0; k < DP_FOLD_PLAIN; k++)
    t.own[k] = partition_list(f, (rna_list)(RNA_INNER_GENERIC + k), x, before, column);
  for (int k = 0; k < DP_FOLD_NEAR; k++) {
    const int key = rna_list_key(f->w.letters + a - 1 - dp_fold_near[k][0], 1);
    t.near[k] = f->w.near + ((int64_t)k * RNA_KEYS + key) * RNA_KEYS;
    t.key[k] = f->w.key + column + 1 + dp_fold_near[k][1];
  }
  f->cpu.kernels->partition_row(&t);
  for (int q = 0; q < DP_SIDE; q++)
    if (column + q <= a) v[q] = 0;
  partition_window(f, s, outer, DP_FOLD_HALO + r, 0, a, f->w.letters[a + 1], column, DP_SIDE, v, 1);
}

void partition_outside_join(dp_cpu_partition *f, int64_t i, int64_t j) {
  partition_scratch *s = &f->scratch[omp_get_thread_num()];
  const int64_t rows = tsl_min(f->posts - i * DP_SIDE, DP_SIDE);
  double rest[DP_SIDE] = {0}, stem[DP_SIDE];
  double *v = partition_at(f, PART_OUT_V, i, j);
  put_around(f, s, i, j);
  turn(partition_at(f, PART_STEM, j, j), s->turned[1]);
  if (i > 0) {
    const double above = partition_scale(f, i, j, i - 1, j);
    for (int q = 0; q < DP_SIDE; q++)
      rest[q] = partition_side_at(f, PART_OUT_R_ROW, i - 1, j)[q] * above;
  }
  for (int r = 0; r < rows; r++) {
    run_splits(f, s, i, j, r, s->turned[1], rest);
    memcpy(stem, v + r * DP_SIDE, sizeof stem);
    run_stems(f, i, j, r, rest, stem);
    partition_side_at(f, PART_OUT_STEM_COLUMN, i, j)[r] = stem[0];
    run_pairs(f, s, i, j, r, stem, v + r * DP_SIDE);
  }
  memcpy(partition_side_at(f, PART_OUT_R_ROW, i, j), rest, sizeof rest);
}
