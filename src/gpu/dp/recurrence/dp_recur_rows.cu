/* ROWS and INTERVAL on a card. The window holds rows base .. base + room - 1 of the table, all
 * columns: as many as fit a budget where a cell reads a fixed number of rows above, else all. */
#include "dp_recur_own.cuh"
#include "integers.h"

enum {
  WINDOW_BYTES = 64 << 20, /* of a window that need not be the whole table */
  LAYERS_BYTES = 1 << 30,  /* the same with a depth */
  SIDE = 64                /* of the squares that tsl_dp_tile computes, a thread for each row */
};

/* Does the window move? */
static bool moves(const dp_recur_card *w) {
  return w->code.engine == DP_ROWS && w->code.depth > 0;
}

tsl_err dp_recur_rows_open(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  const int64_t row = w->code.Q * w->bytes;
  const int64_t budget = w->code.layers > 0 ? LAYERS_BYTES : WINDOW_BYTES;
  int64_t bytes = 0, least = w->code.P;
  w->room = w->code.P;
  if (moves(w) && row > 0) {
    least = tsl_min(w->code.P, 4 * (int64_t)w->code.depth + 8);
    w->room = tsl_min(w->code.P, tsl_max(budget / row, least));
  }
  if (!tsl_mul_i64(w->room, row, &bytes))
    TSL_FAIL(TSL_ERR_INPUT, "a table of %lld x %lld cells is too large for a card",
             (long long)w->code.P, (long long)w->code.Q);
  TSL_TRY(dp_recur_reserve_rows(w, &w->window, row, least, w->room,
                                moves(w) ? "rows of the table" : "the whole table", &w->room));
  if (w->code.engine != DP_INTERVAL) goto done;
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&w->fork, cudaEventDisableTiming));
  for (int s = 0; s < DP_RECUR_STREAMS; s++) {
    TSL_CUDA_TRY(cudaStreamCreateWithFlags(&w->streams[s], cudaStreamNonBlocking));
    TSL_CUDA_TRY(cudaEventCreateWithFlags(&w->joins[s], cudaEventDisableTiming));
  }
done:
  return err;
}

void dp_recur_rows_close(dp_recur_card *w) {
  for (int s = 0; s < DP_RECUR_STREAMS; s++) {
    if (w->streams[s] != NULL) (void)cudaStreamDestroy(w->streams[s]);
    if (w->joins[s] != NULL) (void)cudaEventDestroy(w->joins[s]);
  }
  if (w->fork != NULL) (void)cudaEventDestroy(w->fork);
}

tsl_err dp_recur_rows_begin(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  w->base = 0;
  TSL_CUDA_TRY(cudaMemsetAsync(w->window.data, 0, (size_t)w->window.bytes, w->card->stream));
done:
  return err;
}

/* --------------------------------------------------------------------------------- the window */

/* Cell (p, 0). */
static char *row_at(const dp_recur_card *w, int64_t p) {
  return dp_recur_at(w, &w->window, (p - w->base) * w->code.Q);
}

/* Move the window so that rows p0..p1 and those that they read are in it. */
static tsl_err reach(dp_recur_card *w, int64_t p0, int64_t p1) {
  tsl_err err = TSL_OK;
  const int64_t first = p0 > w->code.depth ? p0 - w->code.depth : 0, by = first - w->base;
  if (p1 <= w->base + w->room) return TSL_OK;
  if (p1 - first > w->room || by <= 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld do not fit the %lld rows on the card",
             (long long)first, (long long)p1, (long long)w->room);
  for (int64_t p = first; p < w->base + w->room; p += by) /* pieces that do not overlap */
    TSL_TRY(dp_recur_copy(w, row_at(w, p - by), row_at(w, p),
                          tsl_min(by, w->base + w->room - p) * w->code.Q));
  w->base = first;
done:
  return err;
}

static dp_recur_view view_of(const dp_recur_card *w, dp_recur_box box) {
  return dp_recur_view{row_at(w, box.p0) + box.q0 * w->bytes, w->code.Q, box};
}

/* ------------------------------------------------------------------------------------- edges */

/* Last rows of a tile that others read. */
static dp_recur_box edge_box(const dp_recur_card *w, const tsl_unit *unit) {
  dp_recur_box box = dp_recur_box_of(unit);
  if (w->code.engine != DP_ROWS) return box;
  if (box.p1 - box.p0 > w->code.depth) box.p0 = box.p1 - w->code.depth;
  return box;
}

/* Box between the window and packed host memory. */
static tsl_err move_box(dp_recur_card *w, dp_recur_box box, void *host, bool out) {
  tsl_err err = TSL_OK;
  const size_t row = (size_t)((box.q1 - box.q0) * w->bytes), rows = (size_t)(box.p1 - box.p0);
  const size_t pitch = (size_t)(w->code.Q * w->bytes);
  if (dp_recur_empty(&box)) return TSL_OK;
  void *const here = view_of(w, box).cells;
  if (out)
    TSL_CUDA_TRY(cudaMemcpy2DAsync(host, row, here, pitch, row, rows, cudaMemcpyDeviceToHost,
                                   w->card->stream));
  else
    TSL_CUDA_TRY(cudaMemcpy2DAsync(here, pitch, host, row, row, rows, cudaMemcpyHostToDevice,
                                   w->card->stream));
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

tsl_err dp_recur_rows_get(dp_recur_card *w, dp_recur_box box, void *values) {
  if (!dp_recur_empty(&box) && (box.p0 < w->base || box.p1 > w->base + w->room))
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "dp: rows %lld..%lld are not on the card",
                    (long long)box.p0, (long long)box.p1);
  return move_box(w, box, values, true);
}

tsl_err dp_recur_rows_put(dp_recur_card *w, dp_recur_box box, const void *values) {
  tsl_err err = TSL_OK;
  if (dp_recur_empty(&box)) return TSL_OK;
  if (moves(w)) TSL_TRY(reach(w, box.p0, box.p1));
  if (box.p0 < w->base)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: row %lld comes after row %lld", (long long)box.p0,
             (long long)w->base);
  TSL_TRY(move_box(w, box, (void *)values, false));
done:
  return err;
}

tsl_err dp_recur_rows_edge_out(dp_recur_card *w, const tsl_unit *unit, void *bytes) {
  return dp_recur_rows_get(w, edge_box(w, unit), bytes);
}

tsl_err dp_recur_rows_edge_in(dp_recur_card *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  if (moves(w)) TSL_TRY(reach(w, unit->lo[0], unit->hi[0]));
  TSL_TRY(move_box(w, edge_box(w, unit), (void *)bytes, false));
done:
  return err;
}

/* ---------------------------------------------------------------------------------- launches */

static tsl_err run_row(dp_recur_card *w, int64_t p, int64_t q0, int64_t q1) {
  dp_row_launch a = {};
  for (int64_t d = 0; d <= DP_DEPTH_ROWS; d++)
    a.rows[d] = row_at(w, d <= p - w->base ? p - d : p); /* those not there are not read */
  a.stride = w->code.Q;
  a.p = p;
  a.q0 = q0;
  a.q1 = q1;
  a.bad = (int *)w->bad.data;
  return dp_recur_run(w, DP_KERNEL_ROW, tsl_ceil_div(q1 - q0, 256), 256, w->card->stream, &a);
}

/* All cells of a box, its squares diagonal by diagonal or, with a depth, its steps. */
static tsl_err run_box(dp_recur_card *w, dp_recur_box box, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  if (w->code.layers > 0) return dp_recur_layers_run(w, box, row_at(w, 0), w->code.Q, stream);
  const int64_t down = tsl_ceil_div(box.p1 - box.p0, SIDE);
  const int64_t across = tsl_ceil_div(box.q1 - box.q0, SIDE);
  dp_tile_launch a = {};
  a.table = row_at(w, 0); /* maybe before the window */
  a.stride = w->code.Q;
  a.p0 = box.p0, a.p1 = box.p1, a.q0 = box.q0, a.q1 = box.q1;
  a.side = SIDE;
  a.bad = (int *)w->bad.data;
  for (int64_t d = 0; d < down + across - 1; d++) {
    a.diagonal = d;
    a.first = d < across ? 0 : d - across + 1;
    TSL_TRY(dp_recur_run(w, DP_KERNEL_TILE, tsl_min(d, down - 1) - a.first + 1, SIDE, stream, &a));
  }
done:
  return err;
}

static tsl_err dp_recur_rows_look(dp_recur_card *w, dp_recur_box box, const tsl_unit *units,
                                  int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_recur_view view = view_of(w, box);
  TSL_TRY(dp_recur_note_wanted(w, view));
  TSL_TRY(dp_recur_note_best(w, view));
  TSL_TRY(dp_recur_note_table(w, view, units, n, parts));
done:
  return err;
}

/* -------------------------------------------------------------------------------------- ROWS */

tsl_err dp_recur_rows_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_recur_box box = dp_recur_box_of(units);
  const int64_t end = box.p1, step = moves(w) ? w->room - w->code.depth : w->room;
  const bool boxes = w->code.same_row != 0 || w->code.layers > 0;
  box.q1 = units[n - 1].hi[1];
  if (dp_recur_empty(&box)) return TSL_OK;
  if (end - box.p0 > 1 && (box.q0 > 0 || box.q1 < w->code.Q) && !w->trial)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld has several rows but not all columns",
             (long long)units->id);
  if (w->trial && moves(w)) w->base = box.p0 > w->code.depth ? box.p0 - w->code.depth : 0;
  for (; box.p0 < end; box.p0 = box.p1) {
    box.p1 = tsl_min(box.p0 + step, end);
    if (w->room == w->code.P) box.p1 = end;
    if (moves(w)) TSL_TRY(reach(w, box.p0, box.p1));
    if (boxes) TSL_TRY(run_box(w, box, w->card->stream));
    for (int64_t p = box.p0; p < box.p1 && !boxes; p++) TSL_TRY(run_row(w, p, box.q0, box.q1));
    TSL_TRY(dp_recur_rows_look(w, box, units, n, parts));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------------------- INTERVAL */

/* May b read cells of a? */
static bool reads(const tsl_unit *b, const tsl_unit *a) {
  return a->lo[0] < b->hi[0] && a->lo[1] < b->hi[1];
}

/* How many of the units do not read each other. */
static int64_t independent(const tsl_unit *units, int64_t n) {
  for (int64_t k = 1; k < n; k++)
    for (int64_t l = 0; l < k; l++)
      if (reads(&units[k], &units[l]) || reads(&units[l], &units[k])) return k;
  return n;
}

/* Units that do not read each other, at once. */
static tsl_err run_boxes(dp_recur_card *w, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  const int64_t streams = tsl_min(n, DP_RECUR_STREAMS);
  if (n == 1) return run_box(w, dp_recur_box_of(units), w->card->stream);
  TSL_CUDA_TRY(cudaEventRecord(w->fork, w->card->stream));
  for (int64_t s = 0; s < streams; s++)
    TSL_CUDA_TRY(cudaStreamWaitEvent(w->streams[s], w->fork, 0));
  for (int64_t k = 0; k < n; k++)
    TSL_TRY(run_box(w, dp_recur_box_of(&units[k]), w->streams[k % streams]));
  for (int64_t s = 0; s < streams; s++) {
    TSL_CUDA_TRY(cudaEventRecord(w->joins[s], w->streams[s]));
    TSL_CUDA_TRY(cudaStreamWaitEvent(w->card->stream, w->joins[s], 0));
  }
done:
  return err;
}

tsl_err dp_recur_boxes_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, m; k < n; k += m) {
    m = independent(units + k, n - k);
    TSL_TRY(run_boxes(w, units + k, m));
    for (int64_t l = k; l < k + m; l++)
      TSL_TRY(dp_recur_rows_look(w, dp_recur_box_of(&units[l]), units + l, 1, parts + l));
  }
done:
  return err;
}
