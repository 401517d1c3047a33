/** @file dp_cpu_fold.c  Tiles of a folding. */
#include "dp_cpu_fold.h"

#include "dp_cpu_interval.h"
#include "integers.h"
#include "rna_lists.h"

#include <omp.h>
#include <string.h>

enum { NO_SPLIT = INT32_MIN / 2 };

static const int32_t *list_of(const dp_cpu_fold *f, rna_list list, int letter, int neighbour,
                              int64_t column) {
  return f->lists + rna_list_place(f->columns, list, letter, neighbour) + column;
}

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

#define RNA(name) rna_##name
#define RNA_NUMBER int32_t
#define LOOPS dp_cpu_fold
#define LOOPS_NUMBER int32_t
#define LOOPS_WEIGHT(f, energy) least(energy, RNA_FORBIDDEN)
#define LOOPS_NEVER RNA_FORBIDDEN
#define LOOPS_TILE DP_SIDE
#include "rna_lists_fill.h"

/* ------------------------------------------------------------------ opening */

void dp_cpu_fold_begin(dp_cpu_fold *f) {
  const int64_t tiles = f->tiles * (f->tiles + 1) / 2;
#pragma omp parallel for num_threads(f->cpu.threads)
  for (int64_t t = 0; t < tiles; t++) {
    for (int64_t k = 0; k < DP_SIDE * DP_SIDE; k++) f->v[t * DP_SIDE * DP_SIDE + k] = RNA_NONE;
    for (int64_t k = 0; k < DP_SIDE; k++)
      f->split_row[t * DP_SIDE + k] = f->split_column[t * DP_SIDE + k] = NO_SPLIT;
  }
  memset(f->f, 0, (size_t)f->columns * sizeof *f->f);
}

static tsl_err take_tables(dp_cpu_fold *f) {
  tsl_err err = TSL_OK;
  const int64_t count = f->tiles * (f->tiles + 1) / 2;
  TSL_TRY(tsl_alloc(count * DP_SIDE * DP_SIDE, 4, "triangle of a folding", (void **)&f->v));
  TSL_TRY(tsl_alloc(count * DP_SIDE, 4, "folding", (void **)&f->split_row));
  TSL_TRY(tsl_alloc(count * DP_SIDE, 4, "folding", (void **)&f->split_column));
  TSL_TRY(tsl_alloc(f->columns, 4, "folding", (void **)&f->f));
  TSL_TRY(tsl_alloc(f->columns, 4, "folding", (void **)&f->key));
  TSL_TRY(tsl_alloc(f->columns + 2 * DP_SIDE, 4, "folding", (void **)&f->sizes));
  TSL_TRY(tsl_alloc(f->columns * RNA_N_LISTS * RNA_COMBOS, 4, "folding", (void **)&f->lists));
  TSL_TRY(tsl_alloc((int64_t)DP_FOLD_NEAR * RNA_KEYS * RNA_KEYS, 4, "folding", (void **)&f->near));
  TSL_TRY(tsl_alloc(f->cpu.threads, sizeof *f->scratch, "folding", (void **)&f->scratch));
done:
  return err;
}

tsl_err dp_cpu_fold_open(const dp_cpu *cpu, const dp_cpu_interval_input *in, dp_cpu_fold **out) {
  tsl_err err = TSL_OK;
  dp_cpu_fold *f = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *f, "folding", (void **)&f));
  f->cpu = *cpu;
  f->posts = in->posts;
  f->tiles = (in->posts + DP_SIDE - 1) / DP_SIDE;
  f->columns = (f->tiles + 1) * DP_SIDE;
  TSL_TRY(tsl_alloc(1, sizeof *f->energy, "energies", (void **)&f->energy));
  *f->energy = *in->energy;
  TSL_TRY(take_letters(f, in->letters));
  TSL_TRY(take_tables(f));
  fill_short(f, in->sizes);
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
  for (int k = 0; k < LOOPS_PARTS; k++) fill_part(f, k);
  *out = f;
done:
  if (err != TSL_OK) dp_cpu_fold_close(&f);
  return err;
}

void dp_cpu_fold_close(dp_cpu_fold **fold) {
  dp_cpu_fold *f = *fold;
  if (f == NULL) return;
  TSL_FREE_ALL(f->energy, f->around, f->sizes, f->v, f->split_row, f->split_column, f->f, f->near,
               f->key, f->lists, f->scratch, f);
  *fold = NULL;
}

/* ------------------------------------------------------------------ a tile */

/** Row a of the windows, n columns from column b on: V and with what pairs inside of a loop add. */
static void put_window(const dp_cpu_fold *f, dp_fold_scratch *s, int64_t r, int64_t a, int at,
                       int64_t b, int n, const int32_t *v) {
  static const rna_list inner[] = {RNA_INNER_GENERIC, RNA_INNER_ONE, RNA_INNER_TWO_THREE,
                                   RNA_INNER_BULGE};
  const int x = f->letters[a], before = f->letters[a - 1];
  memcpy(&s->window[DP_FOLD_PLAIN][r][at], v, (size_t)n * sizeof *v);
  for (int k = 0; k < DP_FOLD_PLAIN; k++)
    f->cpu.kernels->fold_add(v, list_of(f, inner[k], x, before, b), n, &s->window[k][r][at]);
}

/** What lies around tile (i, j): rows below it and columns before it. */
static void put_around(const dp_cpu_fold *f, dp_fold_scratch *s, int64_t i, int64_t j) {
  int32_t nothing[DP_SIDE];
  for (int q = 0; q < DP_SIDE; q++) nothing[q] = RNA_NONE;
  for (int64_t r = 0; r < DP_FOLD_LD; r++) {
    const int64_t row = i + r / DP_SIDE, a = i * DP_SIDE + r, inside = r % DP_SIDE * DP_SIDE;
    const bool left = row < j, below = r >= DP_SIDE && row <= j;
    put_window(f, s, r, a, 0, left ? (j - 1) * DP_SIDE + DP_SIDE - DP_FOLD_HALO : 0, DP_FOLD_HALO,
               left ? fold_tile(f, row, j - 1) + inside + DP_SIDE - DP_FOLD_HALO : nothing);
    if (r >= DP_SIDE)
      put_window(f, s, r, a, DP_FOLD_HALO, j * DP_SIDE, DP_SIDE,
                 below ? fold_tile(f, row, j) + inside : nothing);
  }
}

/** The splits around the tile: below and before it. */
static void put_splits(const dp_cpu_fold *f, dp_fold_scratch *s, int64_t i, int64_t j) {
  for (int r = 0; r <= DP_SIDE; r++)
    for (int q = 0; q <= DP_SIDE; q++) s->split[r][q] = NO_SPLIT;
  for (int r = 0; r < DP_SIDE && i < j; r++) {
    s->split[r][0] = f->split_column[fold_number(f, i, j - 1) * DP_SIDE + r];
    s->split[DP_SIDE][r + 1] = f->split_row[fold_number(f, i + 1, j) * DP_SIDE + r];
  }
  if (i + 1 < j) s->split[DP_SIDE][0] = f->split_column[fold_number(f, i + 1, j - 1) * DP_SIDE];
}

/** V of hairpins whose letters may have energies of their own. */
static void small_hairpins(const dp_cpu_fold *f, int64_t a, int64_t column, int32_t *v) {
  static const int which[] = {3, 4, 6};
  for (int q = 0; q < DP_SIDE; q++) v[q] = RNA_NONE;
  for (int k = 0; k < 3; k++) {
    const int64_t q = a + which[k] + 2 - column;
    if (q >= 0 && q < DP_SIDE && column + q < f->posts)
      v[q] = rna_hairpin(f->energy, f->small, f->letters + a, which[k]);
  }
}

static void run_row(const dp_cpu_fold *f, dp_fold_scratch *s, int64_t i, int64_t j, int r) {
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  const int x = f->letters[a], after = f->letters[a + 1], key = rna_list_key(f->letters + a, 1);
  dp_fold_row t = {.costs = &f->costs,
                   .key = f->key + column,
                   .sizes = f->sizes + 2 * DP_SIDE + column - a,
                   .hairpin = list_of(f, RNA_OUTER_HAIRPIN, x, after, column),
                   .closing = list_of(f, RNA_OUTER_MULTI, x, after, column),
                   .split = s->split[r + 1],
                   .v = fold_tile(f, i, j) + r * DP_SIDE};
  for (int k = 0; k < DP_FOLD_WINDOWS; k++) t.window[k] = &s->window[k][r][DP_FOLD_HALO];
  for (int k = 0; k < DP_FOLD_PLAIN; k++)
    t.outer[k] = list_of(f, (rna_list)(RNA_OUTER_GENERIC + k), x, after, column);
  for (int k = 0; k < DP_FOLD_NEAR; k++)
    t.near[k] = f->near + ((int64_t)k * RNA_KEYS + key) * RNA_KEYS;
  small_hairpins(f, a, column, t.v);
  f->cpu.kernels->fold_row(&t);
  for (int64_t q = 0; q < DP_SIDE; q++)
    if (column + q < a + RNA_HAIRPIN + 2 || column + q >= f->posts) t.v[q] = RNA_NONE;
  put_window(f, s, r, a, DP_FOLD_HALO, column, DP_SIDE, t.v);
}

static void join_row(const dp_cpu_interval *w, dp_fold_scratch *s, int64_t i, int64_t j, int r) {
  const dp_cpu_fold *f = w->fold;
  const int64_t a = i * DP_SIDE + r, column = j * DP_SIDE;
  const int64_t rows = tsl_min(f->posts - i * DP_SIDE, DP_SIDE);
  int32_t stem[DP_SIDE], nothing[DP_SIDE];
  dp_fold_join t = {.c = (int32_t *)(void *)interval_tile(w, i, j),
                    .jj = (const int32_t *)(const void *)interval_tile(w, j, j),
                    .row = r,
                    .rows = (int)rows,
                    .columns = (int)tsl_min(f->posts - column, DP_SIDE),
                    .first = i < j ? 0 : r + 1,
                    .stem = stem,
                    .below = nothing,
                    .before = NO_SPLIT,
                    .base = f->energy->multi_base,
                    .split = s->split[r] + 1};
  if (i < j) t.ii = (const int32_t *)(const void *)interval_tile(w, i, i);
  if (i < j)
    t.before =
        ((const int32_t *)(const void *)interval_tile(w, i, j - 1))[r * DP_SIDE + DP_SIDE - 1];
  f->cpu.kernels->fold_add(fold_tile(f, i, j) + r * DP_SIDE,
                           list_of(f, RNA_LIST_STEM, f->letters[a], f->letters[a - 1], column),
                           DP_SIDE, stem);
  for (int q = 0; q < DP_SIDE; q++) nothing[q] = NO_SPLIT;
  if (r + 1 < rows)
    t.below = t.c + (r + 1) * DP_SIDE;
  else if (i < j)
    t.below = (const int32_t *)(const void *)interval_tile(w, i + 1, j);
  f->cpu.kernels->fold_join(&t);
}

/** F of the columns of tile column j, after all of its tiles. */
static void run_exterior(const dp_cpu_fold *f, int64_t j) {
  const int64_t column = j * DP_SIDE, end = tsl_min(column + DP_SIDE, f->posts);
  int32_t best[DP_SIDE];
  for (int q = 0; q < DP_SIDE; q++) best[q] = RNA_NONE;
  for (int64_t a = 0; a < column; a++)
    f->cpu.kernels->fold_least(fold_tile(f, a / DP_SIDE, j) + a % DP_SIDE * DP_SIDE,
                               list_of(f, RNA_LIST_EXTERIOR, f->letters[a],
                                       a > 0 ? f->letters[a - 1] : RNA_MISSING, column),
                               f->f[a], best);
  for (int64_t b = column; b < end; b++) {
    int32_t energy = least(b > 0 ? f->f[b - 1] : 0, best[b - column]);
    for (int64_t a = column; a < b; a++) {
      const int before = a > 0 ? f->letters[a - 1] : RNA_MISSING;
      energy = least(energy, f->f[a] + fold_tile(f, j, j)[(a - column) * DP_SIDE + b - column] +
                                 *list_of(f, RNA_LIST_EXTERIOR, f->letters[a], before, b));
    }
    f->f[b] = energy;
  }
}

void dp_cpu_fold_join(const dp_cpu_interval *w, int64_t i, int64_t j) {
  const dp_cpu_fold *f = w->fold;
  dp_fold_scratch *s = &f->scratch[omp_get_thread_num()];
  const int64_t rows = tsl_min(f->posts - i * DP_SIDE, DP_SIDE), number = fold_number(f, i, j);
  put_around(f, s, i, j);
  put_splits(f, s, i, j);
  for (int64_t r = rows; r < DP_SIDE; r++) /* only where i = j: nothing is below */
    for (int k = 0; k < DP_FOLD_WINDOWS; k++)
      for (int q = DP_FOLD_HALO; q < DP_FOLD_LD; q++) s->window[k][r][q] = RNA_NONE;
  for (int r = (int)rows - 1; r >= 0; r--) {
    run_row(f, s, i, j, r);
    join_row(w, s, i, j, r);
  }
  memcpy(f->split_row + number * DP_SIDE, s->split[0] + 1, DP_SIDE * sizeof(int32_t));
  for (int r = 0; r < DP_SIDE; r++) f->split_column[number * DP_SIDE + r] = s->split[r][DP_SIDE];
  if (i == 0) run_exterior(f, j);
}
