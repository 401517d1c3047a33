/* The backend of dp on a card, by the engine of the problem. */
#include "dp_backend_gpu.cuh"

#include "dp_recur_gpu.cuh"

#include <string.h>

/* Wait for the card after a failure: what was queued may still write to the caller's memory. */
static void calm(dp_worker *w) {
  (void)cudaStreamSynchronize(w->card.stream);
  (void)cudaGetLastError();
}

/* ---- the contract */

static tsl_err dp_prepare_gpu(tsl_problem *problem, const tsl_device *devices, int n) {
  return dp_params_of(problem)->problem == DP_RECURRENCE ? dp_recur_prepare_gpu(problem, devices, n)
                                                         : TSL_OK;
}

static dp_worker *worker_of(tsl_worker *worker) {
  return (dp_worker *)worker;
}

static void dp_close_gpu(tsl_worker **worker) {
  dp_worker *w = worker_of(*worker);
  if (w == NULL) return;
  if (w->card.stream != NULL) calm(w);
  dp_driver_clear(&w->dp);
  dp_gpu_stages_clear(w);
  dp_gpu_sweep_clear(w);
  dp_recur_card_close(&w->recur);
  dp_card_close(&w->card);
  tsl_free(w);
  *worker = NULL;
}

static const dp_band_engine *engine_of(const dp_params *p) {
  if (p->mode == DP_TABLE) return &dp_engine_table;
  if (dp_edge_is_bits(p)) return &dp_engine_bits;
  return dp_ready_of(p)->affine ? &dp_engine_align : &dp_engine_grid;
}

static const dp_triangle_engine *triangle_engine_of(const dp_params *p) {
  return p->problem == DP_FOLD        ? &dp_engine_fold
         : p->problem == DP_PARTITION ? &dp_engine_partition
                                      : &dp_engine_triangle;
}

static tsl_err open_engine(dp_worker *w, const tsl_device *device) {
  if (w->dp.c.p->problem == DP_RECURRENCE)
    return dp_recur_card_open(&w->card, w->dp.c.problem, device->capability, &w->recur);
  if (w->dp.c.p->engine == DP_ROWS) return dp_gpu_rows_open(w);
  if (w->dp.c.p->engine == DP_INTERVAL)
    return dp_boxes_open(&w->dp.boxes, &w->dp.c, triangle_engine_of(w->dp.c.p));
  dp_bands_open(&w->dp.bands, &w->dp.c, engine_of(w->dp.c.p),
                dp_gpu_bands_overlap(w->dp.c.p) ? 2 : 1);
  return TSL_OK;
}

static tsl_err dp_open_gpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  dp_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "dp worker", (void **)&w));
  dp_context_set(&w->dp.c, problem, w, &dp_memory_card, &w->card);
  TSL_TRY(dp_card_open(device->memory_limit, &w->card));
  TSL_TRY(open_engine(w, device));
  *worker = (tsl_worker *)w;
done:
  if (err != TSL_OK) dp_close_gpu((tsl_worker **)&w);
  return err;
}

static tsl_err dp_begin_gpu(tsl_worker *worker, int phase) {
  tsl_err err = TSL_OK;
  dp_worker *w = worker_of(worker);
  (void)phase;
  if (w->recur != NULL) return dp_recur_card_begin(w->recur);
  dp_gpu_stages_clear(w);
  if (w->dp.c.p->engine == DP_ROWS) TSL_TRY(dp_zero(&w->dp.c, w->sweep.bad.data, 4));
  TSL_TRY(dp_driver_begin(&w->dp));
done:
  return err;
}

/* What was queued for parts is over when a call returns, whether it went well or not. */
typedef tsl_err (*units_fn)(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

static tsl_err call(dp_worker *w, units_fn run, const tsl_unit *units, int64_t n, tsl_part *parts) {
  const tsl_err err = n > 0 ? run(w, units, n, parts) : TSL_OK;
  if (err != TSL_OK) calm(w);
  return err;
}

static tsl_err dp_run_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  static const units_fn trials[DP_N_ENGINES] = {dp_gpu_bands_trial, dp_gpu_rows_trial,
                                                dp_gpu_boxes_trial};
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_trial(w->recur, units, n, parts);
  return call(w, trials[w->dp.c.p->engine], units, n, parts);
}

static tsl_err dp_tiles_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  static const units_fn tiles[DP_N_ENGINES] = {dp_gpu_bands_tiles, dp_gpu_rows_tiles,
                                               dp_gpu_boxes_tiles};
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_tiles(w->recur, units, n, parts);
  return call(w, tiles[w->dp.c.p->engine], units, n, parts);
}

static bool dp_overlaps_gpu(const tsl_worker *worker) {
  return dp_gpu_bands_overlap(((const dp_worker *)worker)->dp.c.p);
}

/* An error leaves the tiles started before as they are. */
static tsl_err dp_start_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  return dp_gpu_bands_start(worker_of(worker), units, n, parts);
}

static bool dp_ended_gpu(tsl_worker *worker) {
  return dp_gpu_bands_ended(worker_of(worker));
}

static tsl_err dp_finish_gpu(tsl_worker *worker) {
  return dp_gpu_bands_finish(worker_of(worker));
}

static tsl_err dp_edge_out_gpu(tsl_worker *worker, const tsl_unit *unit, void *bytes) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_edge_out(w->recur, unit, bytes);
  return dp_driver_edge_out(&w->dp, unit, bytes);
}

static tsl_err dp_edge_in_gpu(tsl_worker *worker, const tsl_unit *unit, const void *bytes) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_edge_in(w->recur, unit, bytes);
  return dp_driver_edge_in(&w->dp, unit, bytes);
}

static tsl_err dp_traceback_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n,
                                tsl_cursor *cursor, tsl_list *list) {
  return dp_driver_walk(&worker_of(worker)->dp, units, n, cursor, list);
}

static tsl_err dp_collect_gpu(tsl_worker *worker, tsl_problem *problem) {
  dp_worker *w = worker_of(worker);
  tsl_field *goal = &problem->fields[DP_GOAL];
  const int wanted = w->recur != NULL ? dp_field(problem, "wanted") : -1;
  if (w->recur == NULL) return dp_driver_goal(&w->dp, goal);
  memset(goal->data, 0, 8);
  return wanted >= 0 ? dp_recur_card_collect(w->recur, (int64_t *)problem->fields[wanted].data)
                     : TSL_OK;
}

static void dp_notes_gpu(const tsl_worker *worker, char text[TSL_NOTES]) {
  dp_driver_notes(&((const dp_worker *)worker)->dp, text);
}

/* ---- checkpoints, in the form that sockets have: dp_saved.h, dp_recur_saved.h */

static int64_t dp_state_bytes_gpu(const tsl_worker *worker, const tsl_unit *unit, int64_t stage) {
  const dp_worker *w = (const dp_worker *)worker;
  if (w->recur != NULL) return dp_recur_card_state_bytes(w->recur, unit, stage);
  return dp_driver_state_bytes(&w->dp, unit, stage);
}

static tsl_err dp_save_gpu(tsl_worker *worker, const tsl_unit *unit, int64_t stage, void *bytes) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_save(w->recur, unit, stage, bytes);
  return dp_driver_save(&w->dp, unit, stage, bytes);
}

static tsl_err dp_load_gpu(tsl_worker *worker, const tsl_unit *unit, int64_t stage,
                           const uint8_t *own, int64_t lanes, const void *bytes, int64_t n) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_load(w->recur, unit, stage, own, bytes, n);
  return dp_driver_load(&w->dp, unit, stage, own, lanes, bytes, n);
}

const tsl_backend dp_backend_gpu = {
    .family = "dp",
    .prepare = dp_prepare_gpu,
    .open = dp_open_gpu,
    .begin = dp_begin_gpu,
    .run = dp_run_gpu,
    .start = dp_start_gpu,
    .ended = dp_ended_gpu,
    .finish = dp_finish_gpu,
    .overlaps = dp_overlaps_gpu,
    .tiles = dp_tiles_gpu,
    .pipeline_fill = dp_gpu_pipeline_fill,
    .saturating_lanes = dp_gpu_saturating_lanes,
    .edge_out = dp_edge_out_gpu,
    .edge_in = dp_edge_in_gpu,
    .traceback = dp_traceback_gpu,
    .state_bytes = dp_state_bytes_gpu,
    .save = dp_save_gpu,
    .load = dp_load_gpu,
    .collect = dp_collect_gpu,
    .notes = dp_notes_gpu,
    .close = dp_close_gpu,
    .host_alloc = tsl_gpu_host_alloc,
    .host_free = tsl_gpu_host_free,
};
