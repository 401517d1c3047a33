/** @file dp_cpu_interval_run.c  Boxes of interval tables: products of finished tiles, then joins.
 */
#include "dp_cpu_interval.h"

enum { STRIPES = DP_SIDE / DP_STRIPE };

/** Rows of a stripe of tile (i, j) with all k in tiles [k0, k1), which are finished. */
static void meet(const dp_cpu_interval *w, int64_t i, int64_t j, int stripe, int64_t k0,
                 int64_t k1) {
  const int64_t rows = stripe * DP_STRIPE, skip = rows * DP_SIDE * w->size;
  const int64_t list = DP_SIDE * w->size;
  for (int64_t k = k0; k < k1; k++)
    w->cpu.kernels->meet[w->kind](
        interval_tile(w, i, k) + skip, interval_tile(w, k, j), interval_tile(w, i, j) + skip,
        w->d != NULL ? w->d + i * list + rows * w->size : NULL,
        w->d != NULL ? w->d + k * list : NULL, w->d != NULL ? w->d + j * list : NULL);
}

/** What Nussinov's pairs need: bits of pairs, and X[a + 1][first column - 1]. */
static void look_at_pairs(const dp_cpu_interval *w, dp_join *t, uint64_t *pairs, char *left) {
  for (int r = 0; r < t->rows; r++) {
    const int64_t a = t->row + r, before = t->column - 1;
    pairs[r] = 0;
    for (int q = 0; q < t->columns; q++)
      if (t->column + q > a + 1) pairs[r] |= (uint64_t)interval_pairs(w, a, t->column + q) << q;
    if (!(pairs[r] & 1)) continue;
    if (w->kind == DP_JOIN_I16)
      ((int16_t *)left)[r] = *(const int16_t *)interval_at(w, a + 1, before);
    else
      ((int32_t *)left)[r] = *(const int32_t *)interval_at(w, a + 1, before);
  }
  t->pairs = pairs;
  t->left = left;
  if (t->column > t->row) t->below = interval_at(w, t->row + DP_SIDE, t->column);
}

static void dp_cpu_interval_run_join(const dp_cpu_interval *w, int64_t i, int64_t j) {
  if (w->fold != NULL) {
    dp_cpu_fold_join(w, i, j);
    return;
  }
  const int64_t list = DP_SIDE * w->size;
  uint64_t pairs[DP_SIDE];
  int32_t left[DP_SIDE];
  dp_join t = {.c = interval_tile(w, i, j),
               .ii = i < j ? interval_tile(w, i, i) : NULL,
               .jj = interval_tile(w, j, j),
               .row = i * DP_SIDE,
               .column = j * DP_SIDE};
  t.rows = (int)(w->posts - t.row < DP_SIDE ? w->posts - t.row : DP_SIDE);
  t.columns = (int)(w->posts - t.column < DP_SIDE ? w->posts - t.column : DP_SIDE);
  if (w->d != NULL) t.da = w->d + i * list, t.db = w->d + j * list;
  if (w->base != NULL) t.base = w->base + i * list;
  if (w->high != NULL) t.high = w->high + j * list, t.low = w->low + i * list;
  if (w->letters != NULL) look_at_pairs(w, &t, pairs, (char *)left);
  w->cpu.kernels->join[w->kind](&t);
}

/** Tile number t of those of all boxes on inner diagonal d: the box's lower left tile is 0. */
static bool find_tile(const dp_box *boxes, int64_t n, int64_t d, int64_t t, dp_tile_range *r,
                      int64_t *i, int64_t *j) {
  for (int64_t b = 0; b < n; b++) {
    *r = dp_tiles_of(&boxes[b]);
    const int64_t rows = r->i1 - r->i0, columns = r->j1 - r->j0;
    const int64_t up = d < rows ? d : rows - 1; /* rows above the lowest */
    const int64_t down = d < columns ? 0 : d - columns + 1;
    if (up < down) continue;
    if (t <= up - down) {
      *i = r->i1 - 1 - (down + t);
      *j = r->j0 + d - (down + t);
      return true;
    }
    t -= up - down + 1;
  }
  return false;
}

static int64_t tiles_on(const dp_box *boxes, int64_t n, int64_t d) {
  int64_t count = 0, i = 0, j = 0;
  dp_tile_range r;
  while (find_tile(boxes, n, d, count, &r, &i, &j)) count++;
  return count;
}

/** All tiles of all boxes with what lies between their rows and columns: all finished before. */
static void meet_outside(const dp_cpu_interval *w, const dp_tile_range *r, int64_t task) {
  const int64_t columns = r->j1 - r->j0, tile = task / STRIPES;
  const int64_t i = r->i0 + tile / columns, j = r->j0 + tile % columns;
  if (i <= j) meet(w, i, j, (int)(task % STRIPES), r->i1, r->j0);
}

/** A tile of inner diagonal d, after those before it. */
static void finish_tile(const dp_cpu_interval *w, const dp_tile_range *r, int64_t i, int64_t j) {
  /* between i and j, what meet_outside has not done */
  const int64_t low = r->i1 < j ? r->i1 : j, high = r->j0 > low ? r->j0 : low;
  for (int s = 0; s < STRIPES; s++) {
    meet(w, i, j, s, i + 1, low);
    meet(w, i, j, s, high > i ? high : i + 1, j);
  }
  dp_cpu_interval_run_join(w, i, j);
}

void dp_cpu_interval_boxes(dp_cpu_interval *w, const dp_box *boxes, int64_t n) {
  int64_t diagonals = 0;
#pragma omp parallel num_threads(w->cpu.threads)
  for (int64_t b = 0; b < n; b++) {
    const dp_tile_range r = dp_tiles_of(&boxes[b]);
    const int64_t tasks = (r.i1 - r.i0) * (r.j1 - r.j0) * STRIPES;
#pragma omp for schedule(dynamic) nowait
    for (int64_t task = 0; task < tasks; task++) meet_outside(w, &r, task);
  }
  for (int64_t b = 0; b < n; b++) {
    const dp_tile_range r = dp_tiles_of(&boxes[b]);
    const int64_t d = r.i1 - r.i0 + r.j1 - r.j0 - 1;
    if (d > diagonals) diagonals = d;
  }
  for (int64_t d = 0; d < diagonals; d++) {
    const int64_t count = tiles_on(boxes, n, d);
#pragma omp parallel for schedule(dynamic) num_threads(w->cpu.threads)
    for (int64_t t = 0; t < count; t++) {
      dp_tile_range r;
      int64_t i = 0, j = 0;
      if (find_tile(boxes, n, d, t, &r, &i, &j) && i <= j) finish_tile(w, &r, i, j);
    }
  }
}

void dp_cpu_interval_all(dp_cpu_interval *w) {
  for (int64_t d = 0; d < w->tiles; d++) {
    const int64_t count = w->tiles - d;
#pragma omp parallel num_threads(w->cpu.threads)
    {
#pragma omp for schedule(dynamic)
      for (int64_t task = 0; task < count * STRIPES; task++) {
        const int64_t i = task / STRIPES;
        meet(w, i, i + d, (int)(task % STRIPES), i + 1, i + d);
      }
#pragma omp for schedule(dynamic)
      for (int64_t i = 0; i < count; i++) dp_cpu_interval_run_join(w, i, i + d);
    }
  }
}
