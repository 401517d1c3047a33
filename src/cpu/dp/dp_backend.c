/** @file dp_backend.c  The backend of dp on a socket, by the engine of the problem. */
#include "dp_recur_cpu.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared */

tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second) {
  tsl_err err = TSL_OK;
  if (steps->n == steps->room) {
    const int64_t room = steps->room > 0 ? 2 * steps->room : 1024;
    void *more = realloc(steps->at, (size_t)room * sizeof *steps->at);
    if (more == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for %lld steps", (long long)room);
    steps->at = more, steps->room = room;
  }
  steps->at[steps->n][0] = first;
  steps->at[steps->n++][1] = second;
done:
  return err;
}

tsl_err dp_steps_run(dp_steps *steps, int64_t op, int64_t length) {
  if (steps->n == 0 || steps->at[steps->n - 1][0] != op) return dp_steps_add(steps, op, length);
  steps->at[steps->n - 1][1] += length;
  return TSL_OK;
}

int64_t dp_run_end(const tsl_unit *units, int64_t n, int64_t k) {
  for (k++; k < n; k++)
    if (units[k].lo[1] != units[k - 1].hi[1] || units[k].lo[0] != units[k - 1].lo[0] ||
        units[k].hi[0] != units[k - 1].hi[0])
      break;
  return k;
}

void dp_spread_seconds(const tsl_worker *w, double start, const tsl_unit *units, int64_t n,
                       tsl_part *parts) {
  const double seconds = tsl_cpu_unit_seconds(start, w->slow);
  double items = 0;
  for (int64_t k = 0; k < n; k++) items += units[k].count;
  for (int64_t k = 0; k < n; k++)
    parts[k].seconds = items > 0 ? seconds * units[k].count / items : seconds / (double)n;
}

/* ---- the contract */

static void dp_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  dp_bands_clear(w);
  dp_rows_clear(w);
  dp_boxes_clear(w);
  dp_recur_cpu_close(w);
  tsl_free(w);
  *worker = NULL;
}

static const dp_band_ops *band_ops(const dp_params *p) {
  if (p->mode == DP_TABLE) return &dp_band_plain;
  if (p->problem == DP_LCS || (p->problem == DP_EDIT && p->unit)) return &dp_band_bits;
  return p->problem == DP_DTW ? &dp_band_dtw : &dp_band_align;
}

static tsl_err open_engine(tsl_worker *w, const tsl_device *device) {
  if (w->p->problem == DP_RECURRENCE) return dp_recur_cpu_open(w, device);
  if (w->p->engine == DP_ROWS) return dp_rows_open(w);
  if (w->p->engine == DP_INTERVAL) return dp_boxes_open(w);
  w->bands.ops = band_ops(w->p);
  return TSL_OK;
}

static tsl_err dp_open_cpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "dp worker", (void **)&w));
  w->problem = problem;
  w->p = dp_params_of(problem);
  w->table = dp_field(problem, "table");
  w->best = dp_field(problem, "best");
  w->bytes = (int64_t)tsl_type_bytes((tsl_type)w->p->type);
  TSL_TRY(dp_cpu_open(device->threads > 0 ? device->threads : omp_get_max_threads(), &w->cpu));
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  TSL_TRY(open_engine(w, device));
  *worker = w;
done:
  if (err != TSL_OK) dp_close_cpu(&w);
  return err;
}

static tsl_err dp_begin_cpu(tsl_worker *w, int phase) {
  (void)phase;
  w->boxes.whole = false;
  if (w->recur != NULL) return dp_recur_cpu_begin(w);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_begin(w);
  return w->p->engine == DP_ROWS ? dp_rows_begin(w) : TSL_OK;
}

static tsl_err dp_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_trial(w, units, n, parts);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_trial(w, units, n, parts);
  if (w->p->engine == DP_ROWS) return dp_rows_trial(w, units, n, parts);
  return dp_boxes_tiles(w, units, n, parts);
}

static tsl_err dp_tiles_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_tiles(w, units, n, parts);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_tiles(w, units, n, parts);
  if (w->p->engine == DP_ROWS) return dp_rows_tiles(w, units, n, parts);
  return dp_boxes_tiles(w, units, n, parts);
}

/** Threads take strips one block of rows after another (dp_pipe.h): the last begins, and the first
 *  ends, that much before the others. */
static double dp_ramp_cpu(const tsl_problem *problem, const tsl_device *device, int n_ranks,
                          bool *overlap) {
  enum { BLOCK = 256 }; /* rows; the engines have smaller blocks in short stages only */
  const dp_params *p = dp_params_of(problem);
  dp_code code = {0};
  (void)n_ranks;
  *overlap = false;
  if (p->engine != DP_WAVEFRONT || device->threads <= 1) return 0;
  if (p->problem == DP_RECURRENCE) dp_recur_frame(p, &code);
  const int64_t rows = p->problem == DP_RECURRENCE ? code.P : p->n;
  return rows > 0 ? (double)BLOCK * (double)(device->threads - 1) / (double)rows : 0;
}

static tsl_err dp_edge_out_cpu(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_edge_out(w, unit, bytes);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_edge_out(w, unit, bytes);
  if (w->p->engine == DP_ROWS) return dp_rows_edge_out(w, unit, bytes);
  return dp_boxes_edge_out(w, unit, bytes);
}

static tsl_err dp_edge_in_cpu(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_edge_in(w, unit, bytes);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_edge_in(w, unit, bytes);
  if (w->p->engine == DP_ROWS) return dp_rows_edge_in(w, unit, bytes);
  return dp_boxes_edge_in(w, unit, bytes);
}

static tsl_err dp_walk_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                           tsl_list *list) {
  tsl_err err = TSL_OK;
  dp_steps steps = {0};
  if (w->recur != NULL) TSL_FAIL(TSL_ERR_INTERNAL, "dp: recurrences are recovered on the root");
  if (w->p->engine == DP_WAVEFRONT)
    TSL_TRY(dp_bands_walk(w, units, n, cursor, &steps));
  else if (w->p->engine == DP_ROWS)
    TSL_TRY(dp_rows_walk(w, units, n, cursor, &steps));
  else
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: intervals are recovered on the root");
  *list = (tsl_list){.data = steps.at, .n = steps.n};
  steps.at = NULL;
done:
  free(steps.at);
  return err;
}

static tsl_err dp_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  tsl_field *goal = &problem->fields[DP_GOAL];
  memset(goal->data, 0, 8);
  if (w->recur != NULL) return dp_recur_cpu_collect(w, problem), TSL_OK;
  if (w->p->engine == DP_WAVEFRONT) dp_bands_goal(w, goal);
  if (w->p->engine == DP_ROWS) dp_rows_goal(w, goal);
  return w->p->engine == DP_INTERVAL ? dp_boxes_goal(w, goal) : TSL_OK;
}

/* ---- checkpoints */

static int64_t dp_state_bytes_cpu(const tsl_worker *w, const tsl_unit *unit, int64_t stage) {
  if (w->recur != NULL) return dp_recur_cpu_state_bytes(w, unit, stage);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_state_bytes(w, unit, stage);
  if (w->p->engine == DP_ROWS) return dp_rows_state_bytes(w, unit, stage);
  return dp_boxes_state_bytes(w, unit);
}

static tsl_err dp_save_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_save(w, unit, stage, bytes);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_save(w, unit, stage, bytes);
  if (w->p->engine == DP_ROWS) return dp_rows_save(w, unit, stage, bytes);
  return dp_boxes_edge_out(w, unit, bytes);
}

static tsl_err dp_load_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                           int64_t lanes, const void *bytes, int64_t n) {
  if (w->recur != NULL) return dp_recur_cpu_load(w, unit, stage, own, bytes, n);
  if (w->p->engine == DP_WAVEFRONT) return dp_bands_load(w, unit, stage, own, lanes, bytes, n);
  if (w->p->engine == DP_ROWS) return dp_rows_load(w, unit, stage, own, lanes, bytes, n);
  return dp_boxes_load(w, unit, bytes, n);
}

const tsl_backend dp_backend_cpu = {
    .family = "dp",
    .prepare = dp_recur_cpu_prepare,
    .open = dp_open_cpu,
    .begin = dp_begin_cpu,
    .run = dp_run_cpu,
    .tiles = dp_tiles_cpu,
    .ramp = dp_ramp_cpu,
    .edge_out = dp_edge_out_cpu,
    .edge_in = dp_edge_in_cpu,
    .walk = dp_walk_cpu,
    .state_bytes = dp_state_bytes_cpu,
    .save = dp_save_cpu,
    .load = dp_load_cpu,
    .collect = dp_collect_cpu,
    .close = dp_close_cpu,
};
