/** @file dp_backend.c  The backend of dp on a socket, by the engine of the problem. */
#include "dp_recur_cpu.h"
#include "dp_shortcut.h"

#include <omp.h>
#include <string.h>

void dp_cpu_spread(const tsl_worker *w, double start, const tsl_unit *units, int64_t n,
                   tsl_part *parts) {
  tsl_seconds_spread(tsl_cpu_unit_seconds(start, w->slow, 1), units, n, parts);
}

/* ---- the contract */

static void dp_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  dp_driver_clear(&w->dp);
  dp_recur_cpu_close(w);
  tsl_free(w);
  *worker = NULL;
}

static const dp_band_engine *band_engine(const dp_params *p) {
  if (p->mode == DP_TABLE) return &dp_engine_plain_cpu;
  if (dp_edge_is_bits(p)) return &dp_engine_bits_cpu;
  return p->problem == DP_DTW ? &dp_engine_dtw_cpu : &dp_engine_align_cpu;
}

static tsl_err open_engine(tsl_worker *w, const tsl_device *device) {
  if (w->dp.c.p->problem == DP_RECURRENCE) return dp_recur_cpu_open(w, device);
  if (w->dp.c.p->engine == DP_ROWS)
    return dp_rows_open(&w->dp.rows, &w->dp.c, &dp_engine_sweep_cpu, false);
  if (w->dp.c.p->engine == DP_INTERVAL)
    return dp_boxes_open(&w->dp.boxes, &w->dp.c,
                         w->dp.c.p->problem == DP_PARTITION ? &dp_engine_partition_cpu
                                                            : &dp_engine_triangle_cpu);
  dp_bands_open(&w->dp.bands, &w->dp.c, band_engine(w->dp.c.p), 1);
  return TSL_OK;
}

static tsl_err dp_open_cpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "dp worker", (void **)&w));
  dp_context_set(&w->dp.c, problem, w, &dp_memory_host, NULL);
  TSL_TRY(dp_cpu_open(device->threads > 0 ? device->threads : omp_get_max_threads(), &w->cpu));
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  w->room = device->host_limit;
  TSL_TRY(open_engine(w, device));
  *worker = w;
done:
  if (err != TSL_OK) dp_close_cpu(&w);
  return err;
}

static tsl_err dp_begin_cpu(tsl_worker *w, int phase) {
  (void)phase;
  if (w->recur != NULL) return dp_recur_cpu_begin(w);
  dp_cpu_rows_trial_end(w);
  return dp_driver_begin(&w->dp);
}

static tsl_err dp_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_trial(w, units, n, parts);
  if (w->dp.c.p->engine == DP_WAVEFRONT) return dp_cpu_bands_trial(w, units, n, parts);
  if (w->dp.c.p->engine == DP_ROWS) return dp_cpu_rows_trial(w, units, n, parts);
  return dp_cpu_boxes_tiles(w, units, n, parts);
}

static tsl_err dp_tiles_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (w->recur != NULL) return dp_recur_cpu_tiles(w, units, n, parts);
  if (w->dp.c.p->engine == DP_WAVEFRONT) return dp_cpu_bands_tiles(w, units, n, parts);
  if (w->dp.c.p->engine == DP_ROWS) return dp_cpu_rows_tiles(w, units, n, parts);
  return dp_cpu_boxes_tiles(w, units, n, parts);
}

/** Threads take strips one block of rows after another (dp_pipe.h): the last begins, and the first
 *  ends, that much before the others. */
static double dp_pipeline_fill_cpu(const tsl_problem *problem, const tsl_device *device,
                                   int n_ranks, bool *overlap) {
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
  return dp_driver_edge_out(&w->dp, unit, bytes);
}

static tsl_err dp_edge_in_cpu(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_edge_in(w, unit, bytes);
  return dp_driver_edge_in(&w->dp, unit, bytes);
}

static tsl_err dp_traceback_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                                tsl_list *list) {
  return dp_driver_walk(&w->dp, units, n, cursor, list);
}

static tsl_err dp_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  if (w->recur == NULL) return dp_driver_goal(&w->dp, &problem->fields[DP_GOAL]);
  memset(problem->fields[DP_GOAL].data, 0, 8);
  dp_recur_cpu_collect(w, problem);
  return TSL_OK;
}

static void dp_notes_cpu(const tsl_worker *w, char text[TSL_NOTES]) {
  dp_driver_notes(&w->dp, text);
}

/* ---- checkpoints */

static int64_t dp_state_bytes_cpu(const tsl_worker *w, const tsl_unit *unit, int64_t stage) {
  if (w->recur != NULL) return dp_recur_cpu_state_bytes(w, unit, stage);
  return dp_driver_state_bytes(&w->dp, unit, stage);
}

static tsl_err dp_save_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes) {
  if (w->recur != NULL) return dp_recur_cpu_save(w, unit, stage, bytes);
  return dp_driver_save(&w->dp, unit, stage, bytes);
}

static tsl_err dp_load_cpu(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                           int64_t lanes, const void *bytes, int64_t n) {
  if (w->recur != NULL) return dp_recur_cpu_load(w, unit, stage, own, bytes, n);
  return dp_driver_load(&w->dp, unit, stage, own, lanes, bytes, n);
}

const tsl_backend dp_backend_cpu = {
    .family = "dp",
    .prepare = dp_recur_cpu_prepare,
    .open = dp_open_cpu,
    .shortcut = dp_shortcut_cpu,
    .shortcut_part = dp_shortcut_part_cpu,
    .begin = dp_begin_cpu,
    .run = dp_run_cpu,
    .tiles = dp_tiles_cpu,
    .pipeline_fill = dp_pipeline_fill_cpu,
    .edge_out = dp_edge_out_cpu,
    .edge_in = dp_edge_in_cpu,
    .traceback = dp_traceback_cpu,
    .state_bytes = dp_state_bytes_cpu,
    .save = dp_save_cpu,
    .load = dp_load_cpu,
    .collect = dp_collect_cpu,
    .notes = dp_notes_cpu,
    .close = dp_close_cpu,
};
