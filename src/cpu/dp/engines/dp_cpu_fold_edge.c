/** @file dp_cpu_fold_edge.c  Values of a folding's boxes for others: tables, edges, the whole. */
#include "dp_cpu_fold.h"
#include "dp_cpu_interval.h"

#include <string.h>

/** Lists of one box, one behind the other: see dp.h, edges. */
typedef struct edge {
  int64_t rows, columns;
  int32_t *v, *m, *first_row, *last_column, *f;
} edge;

static edge edge_of(const dp_box *box, int32_t *values) {
  edge e = {.rows = box->hi[0] - box->lo[0], .columns = box->hi[1] - box->lo[1], .v = values};
  e.m = e.v + e.rows * e.columns;
  e.first_row = e.m + e.rows * e.columns;
  e.last_column = e.first_row + e.columns;
  e.f = e.last_column + e.rows;
  return e;
}

static int32_t *v_at(const dp_cpu_fold *f, int64_t a, int64_t b) {
  return fold_tile(f, a / DP_SIDE, b / DP_SIDE) + a % DP_SIDE * DP_SIDE + b % DP_SIDE;
}

static int32_t *m_at(const dp_cpu_interval *w, int64_t a, int64_t b) {
  return (int32_t *)(void *)interval_at(w, a, b);
}

/** Place of D[lo[0]][b], and of D[a][b] in the last column of a tile. */
static int32_t *row_at(const dp_cpu_fold *f, const dp_box *box, int64_t b) {
  return f->split_row + fold_number(f, box->lo[0] / DP_SIDE, b / DP_SIDE) * DP_SIDE + b % DP_SIDE;
}

static int32_t *column_at(const dp_cpu_fold *f, int64_t a, int64_t b) {
  return f->split_column + fold_number(f, a / DP_SIDE, b / DP_SIDE) * DP_SIDE + a % DP_SIDE;
}

/** M or D, sign turned: there is one number for none, whatever vectors have added to it. */
static int32_t plain(int32_t value) {
  return value < -RNA_NONE / 2 ? -RNA_NONE : value;
}

static int64_t first_of(const dp_box *box, int64_t a) {
  return a + 1 > box->lo[1] ? a + 1 : box->lo[1];
}

void dp_cpu_fold_get(const dp_cpu_interval *w, const dp_box *box, int32_t *values) {
  const int64_t columns = box->hi[1] - box->lo[1];
  memset(values, 0, (size_t)((box->hi[0] - box->lo[0]) * columns) * sizeof *values);
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = first_of(box, a); b < box->hi[1]; b++)
      values[(a - box->lo[0]) * columns + b - box->lo[1]] = *v_at(w->fold, a, b);
}

void dp_cpu_interval_edge_out(const dp_cpu_interval *w, const dp_box *box, void *values) {
  const dp_cpu_fold *f = w->fold;
  if (f == NULL) {
    dp_cpu_interval_get(w, box, values);
    return;
  }
  const edge e = edge_of(box, values);
  dp_cpu_fold_get(w, box, e.v);
  memset(e.m, 0, (size_t)(e.rows * e.columns) * sizeof *e.m);
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = first_of(box, a); b < box->hi[1]; b++)
      e.m[(a - box->lo[0]) * e.columns + b - box->lo[1]] = plain(*m_at(w, a, b));
  for (int64_t b = box->lo[1]; b < box->hi[1]; b++) {
    e.first_row[b - box->lo[1]] = plain(*row_at(f, box, b));
    e.f[b - box->lo[1]] = box->lo[0] == 0 ? f->f[b] : 0;
  }
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    e.last_column[a - box->lo[0]] = plain(*column_at(f, a, box->hi[1] - 1));
}

void dp_cpu_interval_edge_in(dp_cpu_interval *w, const dp_box *box, const void *values) {
  const dp_cpu_fold *f = w->fold;
  if (f == NULL) {
    dp_cpu_interval_put(w, box, values);
    return;
  }
  const edge e = edge_of(box, (int32_t *)(uintptr_t)values); /* read only */
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = first_of(box, a); b < box->hi[1]; b++) {
      const int64_t k = (a - box->lo[0]) * e.columns + b - box->lo[1];
      *v_at(f, a, b) = e.v[k];
      *m_at(w, a, b) = e.m[k];
    }
  for (int64_t b = box->lo[1]; b < box->hi[1]; b++) {
    *row_at(f, box, b) = e.first_row[b - box->lo[1]];
    if (b % DP_SIDE == DP_SIDE - 1) *column_at(f, box->lo[0], b) = e.first_row[b - box->lo[1]];
    if (box->lo[0] == 0) f->f[b] = e.f[b - box->lo[1]];
  }
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    *column_at(f, a, box->hi[1] - 1) = e.last_column[a - box->lo[0]];
}

void dp_cpu_interval_whole(const dp_cpu_interval *w, void *value) {
  const dp_box corner = {{0, w->posts - 1}, {1, w->posts}};
  if (w->fold != NULL)
    *(int32_t *)value = w->fold->f[w->posts - 1];
  else
    dp_cpu_interval_get(w, &corner, value);
}
