/* WAVEFRONT on a card: tiles of neighbouring lanes as one band, from the last row and a left edge.
 *
 * A band is computed in pieces of rows. In a launch the edge's last column replaces the left one,
 * so each piece has a copy (side) of its rows of `left`, and what comes out is added to `right`.
 * Cells inside of a piece are seen only where they are stored (cells); else pieces end where a row
 * is wanted. With a depth a launch's cells are in memory (dp_recur_layers.cu), and those that are
 * seen are copied from there. */
#include "dp_recur_own.cuh"

#include "dp_grid.cuh"
#include "integers.h"

#include <string.h>

/* Of a piece: cells that are stored, also with a depth. */
static const int64_t CELLS_BYTES = 128 << 20, DEPTH_BYTES = INT64_C(2) << 30;

enum {
  STOPS = 16, /* rows wanted in a tile; where there are more, its cells are stored */
  MOST_ROWS = 1 << 30
};

/* The layout of the engine's arguments, in which cells are behind pointers; the emitted cell has
 * the same DATA. */
struct like_cell {
  typedef char T;
  typedef dp_args DATA;
};

/* Tiles of neighbouring lanes. */
struct band {
  dp_recur_box box;
  int64_t mp, mq;           /* cells before them are boundary */
  bool stored;              /* cells go to w->cells */
  int64_t stops[STOPS + 1]; /* rows after which a piece ends */
  int n_stops;
  const tsl_unit *units;
  int64_t n;
  tsl_part *parts;
};

/* ----------------------------------------------------------------------------------- edges */

tsl_err dp_recur_wave_open(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  if (w->code.layers > 0) w->code.best = 0; /* it is looked for among the stored cells */
  if (w->code.Q > INT32_MAX - 512)
    TSL_FAIL(TSL_ERR_INPUT, "a table of %lld columns is too wide for a card", (long long)w->code.Q);
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->line, w->code.Q * w->bytes + 1, "last row"));
done:
  return err;
}

static void clear_edges(dp_recur_card *w) {
  for (int64_t k = 0; k < w->n_edges; k++)
    if (w->edges[k].data != NULL) (void)cudaFreeHost(w->edges[k].data);
  tsl_free(w->edges);
  w->edges = NULL;
  w->n_edges = w->edge_room = 0;
}

void dp_recur_wave_close(dp_recur_card *w) {
  clear_edges(w);
}

tsl_err dp_recur_wave_begin(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  clear_edges(w);
  TSL_CUDA_TRY(cudaMemsetAsync(w->line.data, 0, (size_t)(w->code.Q * w->bytes), w->card->stream));
done:
  return err;
}

static dp_recur_edge *find_edge(dp_recur_card *w, int64_t column) {
  for (int64_t k = 0; k < w->n_edges; k++)
    if (w->edges[k].column == column) return &w->edges[k];
  return NULL;
}

/* Where the edge of rows p0..p1 at a column is kept. */
static tsl_err keep_edge(dp_recur_card *w, int64_t column, int64_t p0, int64_t p1,
                         dp_recur_edge **out) {
  tsl_err err = TSL_OK;
  const int64_t bytes = (p1 - p0 + 1) * w->bytes;
  dp_recur_edge *edge = find_edge(w, column);
  if (edge == NULL) {
    TSL_TRY(tsl_grow((void **)&w->edges, w->n_edges, 1, &w->edge_room, sizeof *w->edges, "edges"));
    edge = &w->edges[w->n_edges++];
    *edge = dp_recur_edge{};
    edge->column = column;
  }
  if (edge->bytes < bytes) {
    if (edge->data != NULL) (void)cudaFreeHost(edge->data);
    edge->data = NULL;
    edge->bytes = 0;
    TSL_CUDA_TRY(cudaMallocHost(&edge->data, (size_t)bytes));
    edge->bytes = bytes;
  }
  edge->row = p0;
  edge->rows = p1 - p0;
  *out = edge;
done:
  return err;
}

static tsl_err fail_order(int64_t p0, int64_t column) {
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__,
                  "dp: no edge of rows from %lld on at column %lld", (long long)p0,
                  (long long)column);
}

tsl_err dp_recur_wave_edge_in(dp_recur_card *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  dp_recur_edge *edge = NULL;
  TSL_TRY(keep_edge(w, unit->hi[1], unit->lo[0], unit->hi[0], &edge));
  memcpy(edge->data, bytes, (size_t)((edge->rows + 1) * w->bytes));
done:
  return err;
}

tsl_err dp_recur_wave_edge_out(dp_recur_card *w, const tsl_unit *unit, void *bytes) {
  const dp_recur_edge *edge = find_edge(w, unit->hi[1]);
  if (edge == NULL || edge->row != unit->lo[0] || edge->rows != unit->hi[0] - unit->lo[0])
    return fail_order(unit->lo[0], unit->hi[1]);
  memcpy(bytes, edge->data, (size_t)((edge->rows + 1) * w->bytes));
  return TSL_OK;
}

/* ------------------------------------------------------------------------------- boundaries */

static tsl_err boundary(dp_recur_card *w, dp_recur_box b, void *out) {
  dp_edge_launch a = {b.p0, b.p1, b.q0, b.q1, out, (int *)w->bad.data};
  return dp_recur_run(w, DP_KERNEL_EDGE, tsl_ceil_div((b.p1 - b.p0) * (b.q1 - b.q0), 256), 256,
                      w->card->stream, &a);
}

/* The column left of the cells that are computed, from row p0 - 1 on, to w->left. */
static tsl_err enter_left(dp_recur_card *w, const band *t) {
  tsl_err err = TSL_OK;
  const dp_recur_box b = t->box;
  const size_t bytes = (size_t)((b.p1 - b.p0 + 1) * w->bytes);
  const dp_recur_edge *edge = b.q0 > 0 && !w->trial ? find_edge(w, b.q0) : NULL;
  if (edge != NULL && edge->row == b.p0 && edge->rows == b.p1 - b.p0) {
    TSL_CUDA_TRY(
        cudaMemcpyAsync(w->left.data, edge->data, bytes, cudaMemcpyHostToDevice, w->card->stream));
  } else if (b.q0 > 0 && !w->trial) {
    TSL_TRY(fail_order(b.p0, b.q0));
  } else {
    TSL_CUDA_TRY(cudaMemsetAsync(w->left.data, 0, bytes, w->card->stream));
  }
  if (b.q0 >= t->mq) goto done;
  TSL_TRY(dp_recur_copy(w, w->left.data, w->line.data, 1));
  TSL_TRY(boundary(w, dp_recur_box{b.p0, b.p1, 0, 1}, dp_recur_at(w, &w->left, 1)));
done:
  return err;
}

static dp_recur_view column_view(const dp_recur_card *w, const tsl_gpu_buffer *edge, int64_t p0,
                                 dp_recur_box box) {
  return dp_recur_view{dp_recur_at(w, edge, 1 + box.p0 - p0), 1, box};
}

/* Row 0, where it is boundary. */
static tsl_err enter_top(dp_recur_card *w, const band *t) {
  tsl_err err = TSL_OK;
  const dp_recur_box row = {0, 1, t->box.q0, t->box.q1};
  char *const line = dp_recur_at(w, &w->line, row.q0);
  TSL_TRY(boundary(w, row, line));
  TSL_TRY(dp_recur_copy(w, dp_recur_at(w, &w->right, 1), dp_recur_at(w, &w->line, row.q1 - 1), 1));
  if (t->stored) TSL_TRY(dp_recur_copy(w, w->cells.data, line, row.q1 - row.q0));
  if (w->code.best != 0) TSL_TRY(dp_recur_note_best(w, dp_recur_view{line, row.q1 - row.q0, row}));
done:
  return err;
}

/* Column 0, where it is boundary, of rows a..b. */
static tsl_err enter_side(dp_recur_card *w, const band *t, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const int64_t from = 1 + a - t->box.p0, width = t->box.q1 - t->box.q0;
  const dp_recur_view side = column_view(w, &w->left, t->box.p0, dp_recur_box{a, b, 0, 1});
  TSL_TRY(dp_recur_copy(w, w->line.data, dp_recur_at(w, &w->left, b - t->box.p0), 1));
  if (width == 1) TSL_TRY(dp_recur_copy(w, dp_recur_at(w, &w->right, from), side.cells, b - a));
  if (t->stored)
    TSL_CUDA_TRY(cudaMemcpy2DAsync(w->cells.data, (size_t)(width * w->bytes), side.cells,
                                   (size_t)w->bytes, (size_t)w->bytes, (size_t)(b - a),
                                   cudaMemcpyDeviceToDevice, w->card->stream));
  if (!t->stored || w->code.best != 0) TSL_TRY(dp_recur_note_best(w, side));
done:
  return err;
}

/* ---------------------------------------------------------------------------------- launches */

static tsl_err launch_shape(dp_recur_card *w, dp_recur_kernel kernel, int64_t strips,
                            int64_t *blocks, int *warps) {
  tsl_err err = TSL_OK;
  int resident = 0;
  *warps = dp_card_warps(w->card, strips);
  TSL_TRY(lang_module_resident(w->kernels, kernel, DP_WARP * *warps, &resident));
  *blocks = tsl_ceil_div(strips, *warps);
  if (*blocks > (int64_t)resident * w->card->processors)
    *blocks = (int64_t)resident * w->card->processors;
done:
  return err;
}

/* Cells of a box without boundary, from line, side and to line, side; also to table. */
static tsl_err dp_recur_wave_launch(dp_recur_card *w, dp_recur_box b, void *table, int64_t stride) {
  tsl_err err = TSL_OK;
  dp_engine_args<like_cell> a = {};
  const bool few = dp_grid_width(w->card, b.q1 - b.q0) == DP_GRID_FEW;
  const dp_recur_kernel kernel = few ? DP_KERNEL_WAVE_FEW : DP_KERNEL_WAVE;
  int64_t blocks = 0;
  int warps = 0;
  void *params[] = {&a};
  a.data = w->args;
  a.rows = (int)(b.p1 - b.p0);
  a.columns = (int)(b.q1 - b.q0);
  a.strips = (int)tsl_ceil_div(a.columns, DP_WARP * (few ? DP_GRID_FEW : DP_GRID_COLUMNS));
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->finished, 4 * (int64_t)a.strips + 4, "counters"));
  TSL_TRY(launch_shape(w, kernel, a.strips, &blocks, &warps));
  a.above = dp_recur_at(w, &w->line, b.q0);
  a.below = (char *)w->below.data;
  a.edge = (char *)w->side.data;
  a.table = (char *)table;
  a.stride = stride;
  a.ticket = (unsigned *)w->card->ticket.data;
  a.finished = (unsigned *)w->finished.data;
  a.best = (dp_engine_best<char> *)w->bests.data;
  a.bad = (int *)w->bad.data;
  a.p0 = b.p0;
  a.q0 = b.q0;
  TSL_CUDA_TRY(cudaMemsetAsync(w->finished.data, 0, (size_t)w->finished.bytes, w->card->stream));
  TSL_TRY(dp_card_reset(w->card));
  TSL_TRY(dp_recur_start(w, kernel, blocks, DP_WARP * warps, w->card->stream, params));
done:
  return err;
}

/* The same with a depth. @param[in] from  entry of `left` for the row above the box */
static tsl_err inner_layers(dp_recur_card *w, dp_recur_box box, int64_t from, void *table,
                            int64_t stride) {
  tsl_err err = TSL_OK;
  const int64_t rows = box.p1 - box.p0, columns = box.q1 - box.q0;
  void *const line = dp_recur_at(w, &w->line, box.q0), *const left = dp_recur_at(w, &w->left, from);
  void *const right = dp_recur_at(w, &w->right, from + 1);
  TSL_TRY(dp_recur_skewed_put(w, rows, dp_recur_box{0, 1, 1, columns + 1}, line));
  TSL_TRY(dp_recur_skewed_put(w, rows, dp_recur_box{0, rows + 1, 0, 1}, left));
  TSL_TRY(dp_recur_layers_run(w, box, w->skewed.data, rows + 1, w->card->stream));
  TSL_TRY(dp_recur_skewed_get(w, rows, dp_recur_box{1, rows + 1, columns, columns + 1}, right, 1));
  TSL_TRY(
      dp_recur_skewed_get(w, rows, dp_recur_box{rows, rows + 1, 1, columns + 1}, line, columns));
  if (table != NULL)
    TSL_TRY(dp_recur_skewed_get(w, rows, dp_recur_box{1, rows + 1, 1, columns + 1}, table, stride));
done:
  return err;
}

/* Cells of rows a..b that are no boundary. */
static tsl_err inner(dp_recur_card *w, const band *t, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const int64_t p0 = t->box.p0, width = t->box.q1 - t->box.q0;
  const dp_recur_box box = {a > t->mp ? a : t->mp, b, t->box.q0 > t->mq ? t->box.q0 : t->mq,
                            t->box.q1};
  const int64_t at = (box.p0 - a) * width + box.q0 - t->box.q0, from = box.p0 - p0;
  void *const table = t->stored ? dp_recur_at(w, &w->cells, at) : NULL;
  if (dp_recur_empty(&box)) return TSL_OK;
  if (w->code.layers > 0) return inner_layers(w, box, from, table, width);
  TSL_TRY(dp_recur_copy(w, w->side.data, dp_recur_at(w, &w->left, from), b - box.p0 + 1));
  TSL_TRY(dp_recur_wave_launch(w, box, table, width));
  TSL_TRY(dp_recur_copy(w, dp_recur_at(w, &w->right, from + 1), dp_recur_at(w, &w->side, 1),
                        b - box.p0));
  TSL_TRY(dp_recur_copy(w, dp_recur_at(w, &w->line, box.q0), w->below.data, box.q1 - box.q0));
done:
  return err;
}

/* ------------------------------------------------------------------------------------ pieces */

/* What is asked of the cells of rows a..b, which are done. */
static tsl_err dp_recur_wave_look(dp_recur_card *w, const band *t, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const dp_recur_box all = {a, b, t->box.q0, t->box.q1};
  const dp_recur_box row = {b - 1, b, all.q0, all.q1}, column = {a, b, all.q1 - 1, all.q1};
  const int64_t width = all.q1 - all.q0;
  const dp_recur_view line = {dp_recur_at(w, &w->line, all.q0), width, row};
  const dp_recur_view seen = t->stored ? dp_recur_view{w->cells.data, width, all} : line;
  TSL_TRY(dp_recur_note_wanted(w, seen));
  if (t->stored) TSL_TRY(dp_recur_note_table(w, seen, t->units, t->n, t->parts));
  if (w->code.best != 0) goto done;
  TSL_TRY(dp_recur_note_best(w, seen));
  if (!t->stored) TSL_TRY(dp_recur_note_best(w, column_view(w, &w->right, t->box.p0, column)));
done:
  return err;
}

static tsl_err piece(dp_recur_card *w, const band *t, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  if (a < t->mp) TSL_TRY(enter_top(w, t));
  TSL_TRY(inner(w, t, a, b));
  if (t->box.q0 < t->mq) TSL_TRY(enter_side(w, t, a, b));
  TSL_TRY(dp_recur_wave_look(w, t, a, b));
done:
  return err;
}

/* Rows of a piece whose cells are stored; memory for them. */
static tsl_err store_rows(dp_recur_card *w, const band *t, int64_t *rows) {
  tsl_err err = TSL_OK;
  const int64_t row = (t->box.q1 - t->box.q0) * w->bytes, all = t->box.p1 - t->box.p0;
  const int64_t budget = w->code.layers > 0 ? DEPTH_BYTES : CELLS_BYTES;
  const int64_t most = tsl_min(tsl_min(tsl_max(budget / row, 1), all), *rows);
  TSL_TRY(dp_recur_reserve_rows(w, &w->cells, row, 1, most, "cells of a tile", rows));
done:
  return err;
}

static void add_stop(band *t, int64_t row) {
  if (row < t->box.p0 || row >= t->box.p1 - 1 || t->n_stops > STOPS) return;
  int at = t->n_stops;
  for (int k = 0; k < t->n_stops; k++)
    if (t->stops[k] == row) return;
  for (; at > 0 && t->stops[at - 1] > row; at--) t->stops[at] = t->stops[at - 1];
  t->stops[at] = row;
  t->n_stops++;
}

/* Where pieces end, and whether cells are stored. */
static void plan_pieces(const dp_recur_card *w, band *t) {
  const dp_recur *r = w->recur;
  const bool all = r->recurrence->equation.goal == DP_GOAL_ALL;
  const dp_recur_box goal = dp_recur_common(w->goal, t->box);
  const bool by_row = !dp_recur_empty(&goal) && !all && w->goal.p1 - w->goal.p0 == 1;
  const bool by_column = !dp_recur_empty(&goal) && !all && w->goal.q1 - w->goal.q0 == 1;
  const int64_t last = dp_recur_wanted_from(r, t->box.p1, 0);
  for (int64_t k = dp_recur_wanted_from(r, t->box.p0, 0); k < last && t->n_stops <= STOPS; k++) {
    int64_t p, q;
    dp_code_fold(&w->code, r->wanted[k][0], r->wanted[k][1], &p, &q);
    if (q >= t->box.q0 && q < t->box.q1) add_stop(t, p);
  }
  if (by_row) add_stop(t, w->goal.p0);
  t->stored = dp_recur_gives(w->table, t->parts) || (all && w->code.best == 0) ||
              t->n_stops > STOPS || (by_column && w->goal.q0 >= t->mq && w->goal.q1 < t->box.q1);
  if (t->stored) t->n_stops = 0;
}

static tsl_err reserve(dp_recur_card *w, const band *t) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *m = &w->card->memory;
  const int64_t edge = (t->box.p1 - t->box.p0 + 1) * w->bytes;
  TSL_TRY(tsl_gpu_reserve(m, &w->left, edge, "left edge"));
  TSL_TRY(tsl_gpu_reserve(m, &w->right, edge, "right edge"));
  if (w->code.layers > 0) goto done;
  TSL_TRY(tsl_gpu_reserve(m, &w->side, edge, "edge of a launch"));
  TSL_TRY(tsl_gpu_reserve(m, &w->below, (t->box.q1 - t->box.q0) * w->bytes, "row of a launch"));
done:
  return err;
}

static tsl_err leave_right(dp_recur_card *w, const band *t) {
  tsl_err err = TSL_OK;
  dp_recur_edge *edge = NULL;
  if (t->box.q1 == w->code.Q || w->trial) return TSL_OK;
  TSL_TRY(keep_edge(w, t->box.q1, t->box.p0, t->box.p1, &edge));
  TSL_CUDA_TRY(cudaMemcpyAsync(edge->data, w->right.data, (size_t)((edge->rows + 1) * w->bytes),
                               cudaMemcpyDeviceToHost, w->card->stream));
done:
  return err;
}

tsl_err dp_recur_wave_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  int64_t step = MOST_ROWS;
  int stop = 0;
  band t = {};
  t.box = dp_recur_box_of(units);
  t.box.q1 = units[n - 1].hi[1];
  t.mp = w->code.margin_p, t.mq = w->code.margin_q;
  t.units = units, t.n = n, t.parts = parts;
  if (dp_recur_empty(&t.box)) return TSL_OK;
  plan_pieces(w, &t);
  TSL_TRY(reserve(w, &t));
  if (w->code.layers > 0)
    TSL_TRY(dp_recur_skewed_reserve(w, t.box.p1 - t.box.p0, t.box.q1 - t.box.q0, &step));
  if (t.stored) TSL_TRY(store_rows(w, &t, &step));
  TSL_TRY(enter_left(w, &t));
  TSL_TRY(dp_recur_copy(w, w->right.data, dp_recur_at(w, &w->line, t.box.q1 - 1), 1));
  for (int64_t a = t.box.p0, b; a < t.box.p1; a = b) {
    b = step < t.box.p1 - a ? a + step : t.box.p1;
    if (stop < t.n_stops && t.stops[stop] < b) b = t.stops[stop++] + 1;
    TSL_TRY(piece(w, &t, a, b));
  }
  TSL_TRY(leave_right(w, &t));
done:
  return err;
}
