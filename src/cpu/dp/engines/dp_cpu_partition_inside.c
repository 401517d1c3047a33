/** @file dp_cpu_partition_inside.c  Sums over structures: the sweep inside, F and G. */
#include "dp_cpu_partition.h"
#include "integers.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/** The tile's exponent is e at least; what it has is scaled with it. */
static void raise_to(dp_cpu_partition *f, int64_t i, int64_t j, int64_t e) {
  int32_t *now = &f->exponent[partition_tile(f, i, j)];
  double *c = partition_at(f, PART_STEMS, i, j);
  if (e <= *now) return;
  const double scale = rna_weights_power(*now - e);
  for (int k = 0; k < DP_SIDE * DP_SIDE; k++) c[k] *= scale;
  *now = (int32_t)e;
}

void partition_inside_meet(dp_cpu_partition *f, int64_t i, int64_t j, int64_t k0, int64_t k1) {
  int64_t most = INT32_MIN;
  for (int64_t k = k0; k < k1; k++)
    most = tsl_max(most, (int64_t)partition_e(f, i, k) + partition_e(f, k, j) + RNA_WEIGHTS_HIGH);
  if (k0 >= k1) return;
  raise_to(f, i, j, most);
  for (int64_t k = k0; k < k1; k++)
    f->cpu.kernels->partition_meet(partition_at(f, PART_STEMS, i, k),
                                   partition_at(f, PART_STEM, k, j),
                                   partition_at(f, PART_STEMS, i, j),
                                   rna_weights_power((int64_t)partition_e(f, i, k) +
                                                     partition_e(f, k, j) - partition_e(f, i, j)));
}

/* ------------------------------------------------------------------ what lies around */

void partition_window(const dp_cpu_partition *f, partition_scratch *s, const rna_list kinds[4],
                      int64_t r, int at, int64_t a, int neighbour, int64_t b, int n,
                      const double *v, double scale) {
  double *plain = &s->window[DP_FOLD_PLAIN][r][at];
  for (int q = 0; q < n; q++) plain[q] = v[q] * scale;
  for (int k = 0; k < DP_FOLD_PLAIN; k++)
    f->cpu.kernels->partition_times(plain,
                                    partition_list(f, kinds[k], f->w.letters[a], neighbour, b), 1,
                                    n, &s->window[k][r][at]);
}

static const rna_list inner[] = {RNA_INNER_GENERIC, RNA_INNER_ONE, RNA_INNER_TWO_THREE,
                                 RNA_INNER_BULGE};

/** Rows below tile (i, j) and columns before it. */
static void put_around(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j) {
  memset(s->window, 0, sizeof s->window);
  for (int64_t r = 0; r < DP_FOLD_LD; r++) {
    const int64_t row = i + r / DP_SIDE, a = i * DP_SIDE + r, inside = r % DP_SIDE * DP_SIDE;
    if (a >= f->posts) return;
    const int before = f->w.letters[a - 1];
    if (row < j)
      partition_window(f, s, inner, r, 0, a, before, j * DP_SIDE - DP_FOLD_HALO, DP_FOLD_HALO,
                       partition_at(f, PART_V, row, j - 1) + inside + DP_SIDE - DP_FOLD_HALO,
                       partition_scale(f, row, j - 1, i, j));
    if (r >= DP_SIDE && row <= j)
      partition_window(f, s, inner, r, DP_FOLD_HALO, a, before, j * DP_SIDE, DP_SIDE,
                       partition_at(f, PART_V, row, j) + inside, partition_scale(f, row, j, i, j));
  }
}

/** The splits D around the tile: below and before it. */
static void put_splits(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j) {
  memset(s->split, 0, sizeof s->split);
  if (i == j) return;
  const double before = partition_scale(f, i, j - 1, i, j),
               below = partition_scale(f, i + 1, j, i, j);
  for (int r = 0; r < DP_SIDE; r++) {
    s->split[r][0] = partition_side_at(f, PART_D_COLUMN, i, j - 1)[r] * before;
    s->split[DP_SIDE][r + 1] = partition_side_at(f, PART_D_ROW, i + 1, j)[r] * below;
  }
  if (i + 1 < j)
    s->split[DP_SIDE][0] =
        *partition_side_at(f, PART_D_COLUMN, i + 1, j - 1) * partition_scale(f, i + 1, j - 1, i, j);
}

/** An exponent with which the tile's numbers fit: that of its neighbours. */
static void raise_as_around(dp_cpu_partition *f, int64_t i, int64_t j) {
  if (i == j) return;
  raise_to(f, i, j, partition_e(f, i, j - 1));
  raise_to(f, i, j, partition_e(f, i + 1, j));
  if (i + 1 < j) raise_to(f, i, j, partition_e(f, i + 1, j - 1));
}

/* ------------------------------------------------------------------ a row */

/** Hairpins whose letters may have energies of their own. */
static void add_small_hairpins(const dp_cpu_partition *f, int64_t a, int64_t column, double scale,
                               double *v) {
  for (int k = 0; k < RNA_WEIGHTS_HAIRPINS; k++) {
    const int64_t q = a + rna_weights_hairpin[k] + 2 - column;
    if (q >= 0 && q < DP_SIDE) v[q] += f->w.hairpins[k * f->columns + a] * scale;
  }
}

/** V of row a: hairpins, multiloops, loops of two pairs. */
static void run_row(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j, int r) {
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  const int x = f->w.letters[a], after = f->w.letters[a + 1],
            key = rna_list_key(f->w.letters + a, 1);
  const double one = rna_weights_power(-(int64_t)partition_e(f, i, j));
  const double *sizes = f->w.sizes + 2 * DP_SIDE + column - a;
  const double *hairpin = partition_list(f, RNA_OUTER_HAIRPIN, x, after, column);
  const double *closing = partition_list(f, RNA_OUTER_MULTI, x, after, column);
  double *v = partition_at(f, PART_V, i, j) + r * DP_SIDE;
  dp_partition_row t = {.step = 1, .costs = &f->w.costs, .sum = v};
  for (int q = 0; q < DP_SIDE; q++)
    v[q] = sizes[q] * hairpin[q] * one + closing[q] * s->split[r + 1][q];
  add_small_hairpins(f, a, column, one, v);
  for (int k = 0; k < DP_FOLD_WINDOWS; k++) t.window[k] = &s->window[k][r][DP_FOLD_HALO];
  for (int k = 0; k < DP_FOLD_PLAIN; k++)
    t.own[k] = partition_list(f, (rna_list)(RNA_OUTER_GENERIC + k), x, after, column);
  for (int k = 0; k < DP_FOLD_NEAR; k++) {
    t.near[k] = f->w.near + ((int64_t)k * RNA_KEYS + key) * RNA_KEYS;
    t.key[k] = f->w.key + column;
  }
  f->cpu.kernels->partition_row(&t);
  partition_window(f, s, inner, r, DP_FOLD_HALO, a, f->w.letters[a - 1], column, DP_SIDE, v, 1);
}

/** S, R and M of row r. @param[in,out] rest  [DP_SIDE] R of the row below, of this row */
static void join_row(const dp_cpu_partition *f, partition_scratch *s, int64_t i, int64_t j, int r,
                     double *rest) {
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  const int columns = (int)tsl_min(f->posts - column, DP_SIDE), first = i < j ? 0 : r + 1;
  const dp_kernels *kernels = f->cpu.kernels;
  const double *stem =
      partition_list(f, RNA_LIST_STEM, f->w.letters[a], f->w.letters[a - 1], column);
  const double *v = partition_at(f, PART_V, i, j) + r * DP_SIDE;
  const double *jj = partition_at(f, PART_STEM, j, j);
  double *one = partition_at(f, PART_STEM, i, j), *all = partition_at(f, PART_STEMS, i, j);
  double *row = all + r * DP_SIDE;
  const double of_jj = rna_weights_power(partition_e(f, j, j));
  double before = 0;
  if (i < j) {
    const double *ii = partition_at(f, PART_STEMS, i, i) + r * DP_SIDE;
    const double of_ii = rna_weights_power(partition_e(f, i, i));
    for (int k = r + 1; k < DP_SIDE; k++)
      kernels->partition_add(one + k * DP_SIDE, ii[k] * of_ii, row);
    before = partition_at(f, PART_STEM, i, j - 1)[r * DP_SIDE + DP_SIDE - 1] *
             partition_scale(f, i, j - 1, i, j);
  }
  for (int q = first; q < columns; q++) {
    before = f->w.base * before + stem[q] * v[q];
    one[r * DP_SIDE + q] = before;
    rest[q] = f->w.base * rest[q] + before;
  }
  for (int q = first; q < columns; q++) {
    s->split[r][q + 1] = row[q];
    row[q] += rest[q];
    kernels->partition_add(jj + q * DP_SIDE, row[q] * of_jj, row);
  }
}

/** The exponent with which the largest number is near 2^RNA_WEIGHTS_HIGH. */
static void normalise(dp_cpu_partition *f, int64_t i, int64_t j) {
  static const partition_table tables[] = {PART_V, PART_STEM, PART_STEMS};
  static const partition_side sides[] = {PART_D_ROW, PART_D_COLUMN, PART_R_ROW};
  double most = 0;
  int e = 0;
  for (int t = 0; t < 3; t++) {
    const double *list = partition_at(f, tables[t], i, j);
    for (int k = 0; k < DP_SIDE * DP_SIDE; k++) most = list[k] > most ? list[k] : most;
  }
  if (most == 0) return;
  (void)frexp(most, &e);
  const double scale = rna_weights_power(RNA_WEIGHTS_HIGH - e);
  for (int t = 0; t < 3; t++) {
    double *list = partition_at(f, tables[t], i, j);
    double *side = partition_side_at(f, sides[t], i, j);
    for (int k = 0; k < DP_SIDE * DP_SIDE; k++) list[k] *= scale;
    for (int k = 0; k < DP_SIDE; k++) side[k] *= scale;
  }
  f->exponent[partition_tile(f, i, j)] += e - RNA_WEIGHTS_HIGH;
}

void partition_inside_join(dp_cpu_partition *f, int64_t i, int64_t j) {
  partition_scratch *s = &f->scratch[omp_get_thread_num()];
  const int64_t rows = tsl_min(f->posts - i * DP_SIDE, DP_SIDE);
  double rest[DP_SIDE] = {0};
  raise_as_around(f, i, j);
  put_around(f, s, i, j);
  put_splits(f, s, i, j);
  if (i < j) {
    const double below = partition_scale(f, i + 1, j, i, j);
    for (int q = 0; q < DP_SIDE; q++)
      rest[q] = partition_side_at(f, PART_R_ROW, i + 1, j)[q] * below;
  }
  for (int r = (int)rows - 1; r >= 0; r--) {
    run_row(f, s, i, j, r);
    join_row(f, s, i, j, r, rest);
  }
  memcpy(partition_side_at(f, PART_R_ROW, i, j), rest, sizeof rest);
  memcpy(partition_side_at(f, PART_D_ROW, i, j), s->split[0] + 1, DP_SIDE * sizeof(double));
  for (int r = 0; r < DP_SIDE; r++)
    partition_side_at(f, PART_D_COLUMN, i, j)[r] = s->split[r][DP_SIDE];
  normalise(f, i, j);
}

/* ------------------------------------------------------------------ the exterior */

static const double *exterior_list(const dp_cpu_partition *f, int64_t a, int64_t column) {
  return partition_list(f, RNA_LIST_EXTERIOR, f->w.letters[a],
                        a > 0 ? f->w.letters[a - 1] : RNA_MISSING, column);
}

/** Numbers of a stretch near 1. */
static void normalise_stretch(double *list, int64_t n, int32_t *exponent) {
  double most = 0;
  int e = 0;
  for (int64_t k = 0; k < n; k++) most = list[k] > most ? list[k] : most;
  (void)frexp(most, &e);
  for (int64_t k = 0; k < n; k++) list[k] *= rna_weights_power(-e);
  *exponent += e;
}

void partition_whole(dp_cpu_partition *f) {
  f->whole = (partition_number){f->prefix[f->posts - 1], f->prefix_e[f->tiles - 1]};
}

void partition_prefix(dp_cpu_partition *f, int64_t j) {
  const int64_t column = j * DP_SIDE, n = tsl_min(DP_SIDE, f->posts - column);
  double sum[DP_SIDE] = {0}, before = j == 0 ? 1 : f->prefix[column - 1];
  int64_t e = j == 0 ? 0 : f->prefix_e[j - 1];
  for (int64_t i = 0; i < j; i++) e = tsl_max(e, f->prefix_e[i] + (int64_t)partition_e(f, i, j));
  for (int64_t a = 0; a < column; a++) {
    const int64_t i = a / DP_SIDE;
    const double *v = partition_at(f, PART_V, i, j) + a % DP_SIDE * DP_SIDE;
    const double *ends = exterior_list(f, a, column);
    const double scale =
        f->prefix[a] * rna_weights_power(f->prefix_e[i] + partition_e(f, i, j) - e);
    for (int64_t q = 0; q < n; q++) sum[q] += v[q] * ends[q] * scale;
  }
  if (j > 0) before *= rna_weights_power(f->prefix_e[j - 1] - e);
  const double *v = partition_at(f, PART_V, j, j), own = rna_weights_power(partition_e(f, j, j));
  for (int64_t q = 0; q < n; q++) {
    double all = before + sum[q];
    for (int64_t r = 0; r < q; r++)
      all += f->prefix[column + r] * own * v[r * DP_SIDE + q] *
             exterior_list(f, column + r, column)[q];
    f->prefix[column + q] = before = all;
  }
  f->prefix_e[j] = (int32_t)e;
  normalise_stretch(f->prefix + column, n, &f->prefix_e[j]);
  if (column + n == f->posts) partition_whole(f);
}

void partition_suffix(dp_cpu_partition *f, int64_t i) {
  const int64_t row = i * DP_SIDE, n = tsl_min(DP_SIDE, f->posts - row);
  const bool last = i == f->tiles - 1;
  double sum[DP_SIDE] = {0}, after = last ? 1 : f->suffix[row + DP_SIDE];
  int64_t e = last ? 0 : f->suffix_e[i + 1];
  for (int64_t j = i + 1; j < f->tiles; j++)
    e = tsl_max(e, f->suffix_e[j] + (int64_t)partition_e(f, i, j));
  for (int64_t j = i + 1; j < f->tiles; j++) {
    const double scale = rna_weights_power(f->suffix_e[j] + partition_e(f, i, j) - e);
    for (int64_t r = 0; r < n; r++) {
      const double *v = partition_at(f, PART_V, i, j) + r * DP_SIDE;
      const double *ends = exterior_list(f, row + r, j * DP_SIDE);
      for (int64_t q = 0; q < DP_SIDE; q++)
        sum[r] += v[q] * ends[q] * (f->suffix[j * DP_SIDE + q] * scale);
    }
  }
  if (!last) after *= rna_weights_power(f->suffix_e[i + 1] - e);
  const double own = rna_weights_power(partition_e(f, i, i));
  for (int64_t r = n - 1; r >= 0; r--) {
    double all = after + sum[r];
    for (int64_t q = r + 1; q < n; q++)
      all += f->suffix[row + q] * own * partition_at(f, PART_V, i, i)[r * DP_SIDE + q] *
             exterior_list(f, row + r, row)[q];
    f->suffix[row + r] = after = all;
  }
  f->suffix_e[i] = (int32_t)e;
  normalise_stretch(f->suffix + row, n, &f->suffix_e[i]);
}
