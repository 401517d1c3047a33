/* The backend of dp on a card, by the engine of the problem. */
#include "dp_backend_gpu.cuh"

#include "dp_recur_gpu.cuh"

#include <stdlib.h>
#include <string.h>

/* ---- shared */

tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second) {
  tsl_err err = TSL_OK;
  if (steps->n == steps->room) {
    const int64_t room = steps->room > 0 ? 2 * steps->room : 1024;
    void *more = realloc(steps->at, (size_t)room * sizeof *steps->at);
    if (more == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for %lld steps", (long long)room);
    steps->at = (int64_t(*)[2])more;
    steps->room = room;
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

tsl_err dp_steps_ways(const dp_worker *w, const uint8_t *ways, int64_t n, int64_t i, int64_t j,
                      dp_steps *steps) {
  tsl_err err = TSL_OK;
  const uint8_t *a = (const uint8_t *)dp_input(w, DP_A), *b = (const uint8_t *)dp_input(w, DP_B);
  for (int64_t k = 0; k < n; k++) {
    const bool pair = ways[k] == DP_STEP_PAIR;
    const int op = pair                      ? (a[i - 1] == b[j - 1] ? DP_MATCH : DP_MISMATCH)
                   : ways[k] == DP_STEP_LEFT ? DP_INSERT
                                             : DP_DELETE;
    TSL_TRY(dp_steps_run(steps, op, 1));
    i -= ways[k] != DP_STEP_LEFT;
    j -= ways[k] != DP_STEP_UP;
  }
done:
  return err;
}

tsl_err dp_pinned_reserve(dp_pinned *memory, int64_t bytes) {
  tsl_err err = TSL_OK;
  if (bytes <= memory->bytes) return TSL_OK;
  dp_pinned_release(memory);
  TSL_CUDA_TRY(cudaHostAlloc(&memory->data, (size_t)bytes, cudaHostAllocPortable));
  memory->bytes = bytes;
done:
  if (err != TSL_OK) memory->data = NULL;
  return err;
}

void dp_pinned_release(dp_pinned *memory) {
  if (memory->data != NULL) (void)cudaFreeHost(memory->data);
  *memory = dp_pinned{};
}

tsl_err dp_list_grow(void **list, int64_t n, int64_t *room, size_t size) {
  tsl_err err = TSL_OK;
  void *more = NULL;
  const int64_t wanted = *room > 0 ? 2 * *room : 16;
  if (n < *room) return TSL_OK;
  TSL_TRY(tsl_alloc(wanted, size, "list", &more));
  if (n > 0) memcpy(more, *list, (size_t)n * size);
  tsl_free(*list);
  *list = more;
  *room = wanted;
done:
  return err;
}

int64_t dp_units_end(const tsl_unit *units, int64_t n, int64_t k) {
  for (k++; k < n; k++)
    if (units[k].lo[1] != units[k - 1].hi[1] || units[k].lo[0] != units[k - 1].lo[0] ||
        units[k].hi[0] != units[k - 1].hi[0])
      break;
  return k;
}

void dp_seconds_spread(double seconds, const tsl_unit *units, int64_t n, tsl_part *parts) {
  double items = 0;
  for (int64_t k = 0; k < n; k++) items += units[k].count;
  for (int64_t k = 0; k < n; k++)
    parts[k].seconds = items > 0 ? seconds * units[k].count / items : seconds / (double)n;
}

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
  dp_gpu_bands_clear(w);
  dp_gpu_rows_clear(w);
  dp_gpu_boxes_clear(w);
  dp_recur_card_close(&w->recur);
  dp_card_close(&w->card);
  tsl_free(w);
  *worker = NULL;
}

static const dp_band_engine *engine_of(const dp_params *p) {
  if (p->mode == DP_TABLE) return &dp_engine_table;
  if (p->problem == DP_LCS || (p->problem == DP_EDIT && p->unit)) return &dp_engine_bits;
  return p->problem == DP_GLOBAL || p->problem == DP_LOCAL ? &dp_engine_align : &dp_engine_grid;
}

static tsl_err open_engine(dp_worker *w, const tsl_device *device) {
  if (w->p->problem == DP_RECURRENCE)
    return dp_recur_card_open(&w->card, w->problem, device->capability, &w->recur);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_open(w);
  if (w->p->engine == DP_INTERVAL) return dp_gpu_boxes_open(w);
  w->bands.engine = engine_of(w->p);
  return TSL_OK;
}

static tsl_err dp_open_gpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  dp_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "dp worker", (void **)&w));
  w->problem = problem;
  w->p = dp_params_of(problem);
  w->table = dp_field(problem, "table");
  w->best = dp_field(problem, "best");
  w->bytes = (int64_t)tsl_type_bytes((tsl_type)w->p->type);
  TSL_TRY(dp_card_open(device->memory_limit, &w->card));
  TSL_TRY(open_engine(w, device));
  *worker = (tsl_worker *)w;
done:
  if (err != TSL_OK) dp_close_gpu((tsl_worker **)&w);
  return err;
}

static tsl_err dp_begin_gpu(tsl_worker *worker, int phase) {
  dp_worker *w = worker_of(worker);
  (void)phase;
  if (w->recur != NULL) return dp_recur_card_begin(w->recur);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_begin(w);
  if (w->p->engine == DP_INTERVAL) return dp_gpu_boxes_begin(w);
  dp_gpu_bands_clear(w);
  return TSL_OK;
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
  return call(w, trials[w->p->engine], units, n, parts);
}

static tsl_err dp_tiles_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  static const units_fn tiles[DP_N_ENGINES] = {dp_gpu_bands_tiles, dp_gpu_rows_tiles,
                                               dp_gpu_boxes_tiles};
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_tiles(w->recur, units, n, parts);
  return call(w, tiles[w->p->engine], units, n, parts);
}

static bool dp_overlaps_gpu(const tsl_worker *worker) {
  return dp_gpu_bands_overlap(((const dp_worker *)worker)->p);
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
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_edge_out(w, unit, bytes);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_edge_out(w, unit, bytes);
  return dp_gpu_boxes_edge_out(w, unit, bytes);
}

static tsl_err dp_edge_in_gpu(tsl_worker *worker, const tsl_unit *unit, const void *bytes) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_edge_in(w->recur, unit, bytes);
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_edge_in(w, unit, bytes);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_edge_in(w, unit, bytes);
  return dp_gpu_boxes_edge_in(w, unit, bytes);
}

static tsl_err dp_walk_gpu(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                           tsl_list *list) {
  tsl_err err = TSL_OK;
  dp_worker *w = worker_of(worker);
  dp_steps steps = {};
  if (w->recur != NULL) TSL_FAIL(TSL_ERR_INTERNAL, "dp: recurrences are recovered on the root");
  if (w->p->engine == DP_WAVEFRONT)
    TSL_TRY(dp_gpu_bands_walk(w, units, n, cursor, &steps));
  else if (w->p->engine == DP_ROWS)
    TSL_TRY(dp_gpu_rows_walk(w, units, n, cursor, &steps));
  else
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: intervals are recovered on the root");
  list->data = steps.at;
  list->n = steps.n;
  steps.at = NULL;
done:
  free(steps.at);
  return err;
}

static tsl_err dp_collect_gpu(tsl_worker *worker, tsl_problem *problem) {
  dp_worker *w = worker_of(worker);
  tsl_field *goal = &problem->fields[DP_GOAL];
  const int wanted = w->recur != NULL ? dp_field(problem, "wanted") : -1;
  memset(goal->data, 0, 8);
  if (w->recur != NULL)
    return wanted >= 0 ? dp_recur_card_collect(w->recur, (int64_t *)problem->fields[wanted].data)
                       : TSL_OK;
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_goal(w, goal);
  return w->p->engine == DP_ROWS ? dp_gpu_rows_goal(w, goal) : dp_gpu_boxes_goal(w, goal);
}

static tsl_err dp_host_alloc(int64_t bytes, void **out) {
  tsl_err err = TSL_OK;
  char text[24];
  *out = NULL;
  if (cudaHostAlloc(out, (size_t)(bytes > 0 ? bytes : 1), cudaHostAllocPortable) != cudaSuccess) {
    (void)cudaGetLastError();
    TSL_FAIL(TSL_ERR_MEMORY, "no pinned host memory for a slab of %s; lower the memory limit",
             tsl_bytes_text((double)bytes, text));
  }
done:
  return err;
}

static void dp_host_free(void *memory) {
  if (memory != NULL) (void)cudaFreeHost(memory);
}

/* ---- checkpoints, in the form that sockets have: dp_saved.h, dp_recur_saved.h */

/* Intervals: a tile is saved as its edge. */
static int64_t box_bytes(const dp_worker *w, const tsl_unit *unit) {
  return (unit->hi[0] - unit->lo[0]) * (unit->hi[1] - unit->lo[1]) * w->bytes;
}

static int64_t dp_state_bytes_gpu(const tsl_worker *worker, const tsl_unit *unit, int64_t stage) {
  const dp_worker *w = (const dp_worker *)worker;
  if (w->recur != NULL) return dp_recur_card_state_bytes(w->recur, unit, stage);
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_state_bytes(w, unit, stage);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_state_bytes(w, unit, stage);
  return box_bytes(w, unit);
}

static tsl_err dp_save_gpu(tsl_worker *worker, const tsl_unit *unit, int64_t stage, void *bytes) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_save(w->recur, unit, stage, bytes);
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_save(w, unit, stage, bytes);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_save(w, unit, stage, bytes);
  return dp_gpu_boxes_edge_out(w, unit, bytes);
}

static tsl_err dp_load_gpu(tsl_worker *worker, const tsl_unit *unit, int64_t stage,
                           const uint8_t *own, int64_t lanes, const void *bytes, int64_t n) {
  dp_worker *w = worker_of(worker);
  if (w->recur != NULL) return dp_recur_card_load(w->recur, unit, stage, own, bytes, n);
  if (w->p->engine == DP_WAVEFRONT) return dp_gpu_bands_load(w, unit, stage, own, lanes, bytes, n);
  if (w->p->engine == DP_ROWS) return dp_gpu_rows_load(w, unit, stage, own, lanes, bytes, n);
  return n == box_bytes(w, unit) ? dp_gpu_boxes_edge_in(w, unit, bytes) : dp_saved_bad(unit);
}

static tsl_backend make_backend(void) {
  tsl_backend b = {};
  b.family = "dp";
  b.prepare = dp_prepare_gpu;
  b.open = dp_open_gpu;
  b.begin = dp_begin_gpu;
  b.run = dp_run_gpu;
  b.tiles = dp_tiles_gpu;
  b.start = dp_start_gpu;
  b.ended = dp_ended_gpu;
  b.finish = dp_finish_gpu;
  b.overlaps = dp_overlaps_gpu;
  b.ramp = dp_gpu_ramp;
  b.busy = dp_gpu_busy;
  b.edge_out = dp_edge_out_gpu;
  b.edge_in = dp_edge_in_gpu;
  b.walk = dp_walk_gpu;
  b.state_bytes = dp_state_bytes_gpu;
  b.save = dp_save_gpu;
  b.load = dp_load_gpu;
  b.collect = dp_collect_gpu;
  b.close = dp_close_gpu;
  b.host_alloc = dp_host_alloc;
  b.host_free = dp_host_free;
  return b;
}

const tsl_backend dp_backend_gpu = make_backend();
