/* Bands on a card with their seconds: tiles of a run, which are waited for once, and trials of them
 * before it. */
#include "dp_backend_gpu.cuh"

void dp_gpu_stages_clear(dp_worker *w) {
  tsl_gpu_release(&w->card.memory, &w->stages.trial_left);
  tsl_gpu_release(&w->card.memory, &w->stages.trial_right);
  w->stages = dp_stages_gpu{};
}

tsl_err dp_gpu_bands_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_band_end(&w->dp.bands, units, n, k);
    TSL_TRY(dp_band_run(&w->dp.bands, units + k, end - k, parts + k));
  }
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_band_end(&w->dp.bands, units, n, k);
    TSL_TRY(dp_band_best(&w->dp.bands, units + k, end - k, parts + k));
  }
  tsl_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* LOCAL: the rows of the tile itself, from zeros: where the texts are alike, warps note one best
 * cell after the other. */
static tsl_err begin_at(dp_worker *w, void *engine, int64_t columns, int64_t row) {
  tsl_err err = TSL_OK;
  dp_buffer *state = &w->dp.bands.state;
  const int64_t bytes = w->dp.bands.engine->state_bytes(w->dp.c.p, columns);
  TSL_TRY(dp_reserve(&w->dp.c, state, bytes, "row of a trial"));
  TSL_TRY(dp_zero(&w->dp.c, state->data, bytes));
  TSL_TRY(w->dp.bands.engine->state_put(engine, row, state->data));
done:
  return err;
}

tsl_err dp_gpu_trial_open(dp_worker *w, const tsl_unit *units, int64_t n, int64_t rows,
                          dp_trial_gpu *t) {
  tsl_err err = TSL_OK;
  tsl_gpu_buffer *left = &w->stages.trial_left, *right = &w->stages.trial_right;
  const int64_t size = dp_edge_size(w->dp.c.p, rows), lo = units[0].lo[1], hi = units[n - 1].hi[1];
  const dp_box cells = {{0, lo}, {w->dp.c.p->n, hi}};
  *t = dp_trial_gpu{};
  t->row = w->dp.c.p->problem == DP_LOCAL && w->dp.c.table < 0 ? units[0].lo[0] : 0;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, left, size, "edge"));
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, right, size, "edge"));
  TSL_CUDA_TRY(cudaMemsetAsync(left->data, 0, (size_t)size, w->card.stream));
  TSL_TRY(dp_band_engine_open(w->dp.bands.engine, &w->dp.c, &cells, &t->engine));
  if (t->row > 0) TSL_TRY(begin_at(w, t->engine, hi - lo, t->row));
  if (lo > 0) t->left = left->data;
done:
  return err;
}

/* One band, alone. */
static tsl_err try_band(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t rows = units[0].hi[0] - units[0].lo[0];
  const dp_window window = dp_window_of(&w->dp.c, &units[0], &parts[0]);
  dp_trial_gpu t = {};
  double seconds = 0;
  TSL_TRY(dp_gpu_trial_open(w, units, n, rows, &t));
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  TSL_TRY(dp_band_engine_tile(w->dp.bands.engine, t.engine, t.row, t.row + rows, t.left,
                              w->stages.trial_right.data, false, window));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  tsl_seconds_spread(seconds, units, n, parts);
done:
  dp_band_engine_close(w->dp.bands.engine, &t.engine);
  return err;
}

tsl_err dp_gpu_bands_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (dp_gpu_bands_overlap(w->dp.c.p) && units[0].stage < units[n - 1].stage)
    return dp_gpu_stages_trial(w, units, n, parts);
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_band_end(&w->dp.bands, units, n, k);
    TSL_TRY(try_band(w, units + k, end - k, parts + k));
  }
done:
  return err;
}
