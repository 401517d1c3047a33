/** @file dp_backend.c  The backend of dp on a socket, by the engine of the problem. */
#include "dp_recur_cpu.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

void dp_cpu_spread(const tsl_worker *w, double start, const tsl_unit *units, int64_t n,
                   tsl_part *parts) {
  dp_seconds_spread(tsl_cpu_unit_seconds(start, w->slow), units, n, parts);
}

/* ---- the contract */

static void dp_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  dp_bands_clear(&w->bands);
  dp_rows_clear(&w->rows);
  dp_boxes_clear(&w->boxes);
  dp_recur_cpu_close(w);
  tsl_free(w);
  *worker = NULL;
}

static const dp_band_engine *band_engine(const dp_params *p) {
  if (p->mode == DP_TABLE) return &dp_engine_plain_cpu;
  if (p->problem == DP_LCS || (p->problem == DP_EDIT && p->unit)) return &dp_engine_bits_cpu;
  return p->problem == DP_DTW ? &dp_engine_dtw_cpu : &dp_engine_align_cpu;
}

static tsl_err open_engine(tsl_worker *w, const tsl_device *device) {
  if (w->c.p->problem == DP_RECURRENCE) return dp_recur_cpu_open(w, device);
  if (w->c.p->engine == DP_ROWS) return dp_rows_open(&w->rows, &w->c, &dp_engine_sweep_cpu, false);
  if (w->c.p->engine == DP_INTERVAL)
    return dp_boxes_open(&w->boxes, &w->c, &dp_engine_triangle_cpu);
  dp_bands_open(&w->bands, &w->c, band_engine(w->c.p), 1);
  return TSL_OK;
}

static tsl_err dp_open_cpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "dp worker", (void **)&w));
  dp_context_set(&w->c, problem, w, &dp_memory_host, NULL);
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
  if (w->recur != NULL) return dp_recur_cpu_begin(w);
  if (w->c.p->engine == DP_WAVEFRONT) {
    dp_bands_clear(&w->bands);
    return TSL_OK;
  }
  if (w->c.p->engine == DP_INTERVAL) return dp_boxes_begin(&w->boxes);
  dp_cpu_rows_trial_end(w);
  return dp_rows_begin(&w->rows);
}

static tsl_err dp_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_trial(w, units, n, parts);
  if (w->c.p->engine == DP_WAVEFRONT) return dp_cpu_bands_trial(w, units, n, parts);
  if (w->c.p->engine == DP_ROWS) return dp_cpu_rows_trial(w, units, n, parts);
  return dp_cpu_boxes_tiles(w, units, n, parts);
}

static tsl_err dp_tiles_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_tiles(w, units, n, parts);
  if (w->c.p->engine == DP_WAVEFRONT) return dp_cpu_bands_tiles(w, units, n, parts);
  if (w->c.p->engine == DP_ROWS) return dp_cpu_rows_tiles(w, units, n, parts);
  return dp_cpu_boxes_tiles(w, units, n, parts);
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
  if (w->c.p->engine == DP_WAVEFRONT) return dp_bands_edge_out(&w->bands, unit, bytes);
  if (w->c.p->engine == DP_ROWS) return dp_rows_edge_out(&w->rows, unit, bytes);
  return dp_boxes_edge_out(&w->boxes, unit, bytes);
}

static tsl_err dp_edge_in_cpu(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_edge_in(w, unit, bytes);
  if (w->c.p->engine == DP_WAVEFRONT) return dp_bands_edge_in(&w->bands, unit, bytes);
  if (w->c.p->engine == DP_ROWS) return dp_rows_edge_in(&w->rows, unit, bytes);
  return dp_boxes_edge_in(&w->boxes, unit, bytes);
}

static tsl_err dp_walk_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                           tsl_list *list) {
  tsl_err err = TSL_OK;
  dp_steps steps = {0};
  if (w->recur != NULL) TSL_FAIL(TSL_ERR_INTERNAL, "dp: recurrences are recovered on the root");
  if (w->c.p->engine == DP_WAVEFRONT)
    TSL_TRY(dp_bands_trace(&w->bands, units, n, cursor, &steps));
  else if (w->c.p->engine == DP_ROWS)
    TSL_TRY(dp_rows_trace(&w->rows, units, n, cursor, &steps));
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
  if (w->c.p->engine == DP_WAVEFRONT) return dp_bands_goal(&w->bands, goal);
  if (w->c.p->engine == DP_ROWS) return dp_rows_goal(&w->rows, goal);
  return dp_boxes_goal(&w->boxes, goal);
}

/* ---- checkpoints */

static int64_t dp_state_bytes_cpu(const tsl_worker *w, const tsl_unit *unit, int64_t stage) {
  if (w->recur != NULL) return dp_recur_cpu_state_bytes(w, unit, stage);
  if (w->c.p->engine == DP_WAVEFRONT) return dp_bands_state_bytes(&w->bands, unit, stage);
  if (w->c.p->engine == DP_ROWS) return dp_rows_state_bytes(&w->rows, unit, stage);
  return dp_boxes_state_bytes(&w->boxes, unit);
}

static tsl_err dp_save_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_save(w, unit, stage, bytes);
  if (w->c.p->engine == DP_WAVEFRONT) return dp_bands_save(&w->bands, unit, stage, bytes);
  if (w->c.p->engine == DP_ROWS) return dp_rows_save(&w->rows, unit, stage, bytes);
  return dp_boxes_edge_out(&w->boxes, unit, bytes);
}

static tsl_err dp_load_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                           int64_t lanes, const void *bytes, int64_t n) {
  if (w->recur != NULL) return dp_recur_cpu_load(w, unit, stage, own, bytes, n);
  if (w->c.p->engine == DP_WAVEFRONT)
    return dp_bands_load(&w->bands, unit, stage, own, lanes, bytes, n);
  if (w->c.p->engine == DP_ROWS) return dp_rows_load(&w->rows, unit, stage, own, lanes, bytes, n);
  return dp_boxes_load(&w->boxes, unit, bytes, n);
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
