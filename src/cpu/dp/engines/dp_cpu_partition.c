/** @file dp_cpu_partition.c  Sums over structures: lists of weights, memory, boxes. */
#include "dp_cpu_partition.h"

#include "dp_cpu_interval.h"
#include "integers.h"

#include <assert.h>
#include <string.h>

static_assert((int)RNA_WEIGHTS_TILE == (int)DP_SIDE, "tiles");

/* ------------------------------------------------------------------ opening */

static int64_t n_tiles(const dp_cpu_partition *f) {
  return f->tiles * (f->tiles + 1) / 2;
}

void dp_cpu_partition_begin(dp_cpu_partition *f) {
  const int64_t n = n_tiles(f);
#pragma omp parallel for num_threads(f->cpu.threads)
  for (int64_t t = 0; t < n; t++) {
    for (int k = 0; k < PART_TABLES; k++)
      memset(f->table[k] + t * DP_SIDE * DP_SIDE, 0, DP_SIDE * DP_SIDE * sizeof(double));
    for (int k = 0; k < PART_SIDES; k++)
      memset(f->side[k] + t * DP_SIDE, 0, DP_SIDE * sizeof(double));
    f->exponent[t] = -RNA_WEIGHTS_HIGH;
  }
  for (int64_t k = 0; k < f->columns; k++) f->prefix[k] = f->suffix[k] = 0;
  for (int64_t k = 0; k < f->tiles; k++) f->prefix_e[k] = f->suffix_e[k] = 0;
  f->whole = (partition_number){1, 0};
}

static tsl_err take_tables(dp_cpu_partition *f) {
  tsl_err err = TSL_OK;
  static const char what[] = "sums over structures";
  const int64_t n = n_tiles(f);
  for (int k = 0; k < PART_TABLES; k++)
    TSL_TRY(tsl_alloc(n * DP_SIDE * DP_SIDE, sizeof(double), what, (void **)&f->table[k]));
  for (int k = 0; k < PART_SIDES; k++)
    TSL_TRY(tsl_alloc(n * DP_SIDE, sizeof(double), what, (void **)&f->side[k]));
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), what, (void **)&f->exponent));
  TSL_TRY(tsl_alloc(f->columns, sizeof(double), what, (void **)&f->prefix));
  TSL_TRY(tsl_alloc(f->columns, sizeof(double), what, (void **)&f->suffix));
  TSL_TRY(tsl_alloc(f->tiles, sizeof(int32_t), what, (void **)&f->prefix_e));
  TSL_TRY(tsl_alloc(f->tiles, sizeof(int32_t), what, (void **)&f->suffix_e));
  TSL_TRY(tsl_alloc(f->cpu.threads, sizeof *f->scratch, what, (void **)&f->scratch));
done:
  return err;
}

tsl_err dp_cpu_partition_open(const dp_cpu *cpu, const rna_weights_input *in,
                              dp_cpu_partition **out) {
  tsl_err err = TSL_OK;
  dp_cpu_partition *f = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *f, "sums over structures", (void **)&f));
  f->cpu = *cpu;
  TSL_TRY(rna_weights_open(in, &f->w));
  f->posts = f->w.posts;
  f->tiles = f->w.tiles;
  f->columns = f->w.columns;
  TSL_TRY(take_tables(f));
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
  for (int k = 0; k < rna_weights_parts(); k++) rna_weights_fill(&f->w, k);
  dp_cpu_partition_begin(f);
  *out = f;
done:
  if (err != TSL_OK) dp_cpu_partition_close(&f);
  return err;
}

void dp_cpu_partition_close(dp_cpu_partition **partition) {
  dp_cpu_partition *f = *partition;
  if (f == NULL) return;
  for (int k = 0; k < PART_TABLES; k++) tsl_free(f->table[k]);
  for (int k = 0; k < PART_SIDES; k++) tsl_free(f->side[k]);
  rna_weights_clear(&f->w);
  TSL_FREE_ALL(f->exponent, f->prefix, f->suffix, f->prefix_e, f->suffix_e, f->scratch, f);
  *partition = NULL;
}

/* ------------------------------------------------------------------ boxes */

enum { MOST = DP_BOX / DP_SIDE }; /* tiles along a side of a box */

/** Products with tiles outside of the box, which are finished. */
static void meet_outside(dp_cpu_partition *f, const dp_box *box, int64_t i, int64_t j) {
  const dp_tile_range r = dp_tiles_of(box);
  if (box->lo[2] == 0)
    partition_inside_meet(f, i, j, r.i1, r.j0);
  else
    partition_outside_meet(f, i, j, (int64_t[]){r.j1, f->tiles}, (int64_t[]){0, r.i0});
}

/** The tile after those of the box that it needs. */
static void finish_tile(dp_cpu_partition *f, const dp_box *box, int64_t i, int64_t j) {
  const dp_tile_range r = dp_tiles_of(box);
  if (box->lo[2] != 0) {
    partition_outside_meet(f, i, j, (int64_t[]){j + 1, r.j1}, (int64_t[]){r.i0, i});
    partition_outside_join(f, i, j);
    return;
  }
  const int64_t low = tsl_min(r.i1, j), high = tsl_max(tsl_max(r.j0, low), i + 1);
  partition_inside_meet(f, i, j, i + 1, low);
  partition_inside_meet(f, i, j, high, j);
  partition_inside_join(f, i, j);
  if (i == 0) partition_prefix(f, j);
  if (j == f->tiles - 1) partition_suffix(f, i);
}

/** Number t of a box's tiles, rows after rows; false: there is none on or above the diagonal. */
static bool tile_of(const dp_box *box, int64_t t, int64_t *i, int64_t *j) {
  const dp_tile_range r = dp_tiles_of(box);
  *i = r.i0 + t / MOST;
  *j = r.j0 + t % MOST;
  return *i < r.i1 && *j < r.j1 && *i <= *j;
}

void dp_cpu_partition_boxes(dp_cpu_partition *f, const dp_box *boxes, int64_t n) {
#pragma omp parallel for schedule(dynamic) num_threads(f->cpu.threads)
  for (int64_t t = 0; t < n * MOST * MOST; t++) {
    int64_t i = 0, j = 0;
    if (tile_of(&boxes[t / (MOST * MOST)], t % (MOST * MOST), &i, &j))
      meet_outside(f, &boxes[t / (MOST * MOST)], i, j);
  }
  for (int64_t d = 0; d < 2 * MOST - 1; d++) {
#pragma omp parallel for schedule(dynamic) num_threads(f->cpu.threads)
    for (int64_t t = 0; t < n * MOST; t++) {
      const dp_box *box = &boxes[t / MOST];
      const int64_t row = t % MOST, from = box->lo[2] == 0 ? d : 2 * MOST - 2 - d;
      const int64_t column = from - (MOST - 1 - row); /* of the lower left tile: 0 */
      int64_t i = 0, j = 0;
      if (column >= 0 && column < MOST && tile_of(box, row * MOST + column, &i, &j))
        finish_tile(f, box, i, j);
    }
  }
}
