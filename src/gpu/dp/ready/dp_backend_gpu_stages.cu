/* Stages of a band that overlap: one begins while the one before drains. */
#include "dp_backend_gpu.cuh"

bool dp_gpu_bands_overlap(const dp_params *p) {
  return p->mode == DP_VALUE && dp_ready_of(p)->affine;
}

/* Wait for the tiles in the engine of their band. */
static tsl_err dp_backend_gpu_stages_settle(dp_worker *w, dp_stage_gpu *s) {
  if (!s->under_way) return TSL_OK;
  s->under_way = false;
  return w->dp.bands.engine->finish(w->dp.bands.list[s->band].engine, &s->seconds);
}

static tsl_err settle_all(dp_worker *w) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < w->stages.n_started; k++)
    TSL_TRY(dp_backend_gpu_stages_settle(w, &w->stages.started[k]));
done:
  return err;
}

/* Is the band of the tiles, all of them, the one that is under way, if any is? */
static bool goes_on(const dp_worker *w, const dp_band *b) {
  for (int k = 0; k < w->stages.n_started; k++)
    if (w->stages.started[k].under_way && w->stages.started[k].band != b - w->dp.bands.list)
      return false;
  return true;
}

/* Queue the tiles of one band behind those of the stage before. */
static tsl_err start_band(dp_worker *w, dp_band *b, dp_stage_gpu *s) {
  tsl_err err = TSL_OK;
  const int64_t lo = s->units[0].lo[0], hi = s->units[0].hi[0];
  const void *left = NULL;
  void *out = NULL;
  TSL_TRY(dp_band_left(&w->dp.bands, b, &s->units[0], &left));
  TSL_TRY(dp_band_out(&w->dp.bands, b, hi - lo, &out));
  TSL_TRY(w->dp.bands.engine->start(b->engine, lo, hi, left, out));
  s->band = b - w->dp.bands.list;
  s->under_way = s->spread = true;
  b->row = hi;
  if (out != NULL) dp_band_sent(b, lo);
done:
  return err;
}

/* Tiles of several bands, or without cells, run as if nothing overlapped. */
static tsl_err start_stage(dp_worker *w, dp_stage_gpu *s) {
  tsl_err err = TSL_OK;
  const tsl_unit *first = &s->units[0], *last = &s->units[s->n - 1];
  const bool one = dp_band_end(&w->dp.bands, s->units, s->n, 0) == s->n;
  dp_band *b = one ? dp_band_find(&w->dp.bands, s->units, s->n) : NULL;
  if (b == NULL || !goes_on(w, b)) TSL_TRY(settle_all(w));
  if (!one || first->lo[0] == first->hi[0] || first->lo[1] == last->hi[1]) {
    TSL_TRY(settle_all(w));
    return dp_gpu_bands_tiles(w, s->units, s->n, s->parts);
  }
  if (b == NULL) TSL_TRY(dp_band_open(&w->dp.bands, s->units, s->n, &b));
  TSL_TRY(start_band(w, b, s));
done:
  return err;
}

tsl_err dp_gpu_bands_start(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_stages_gpu *stages = &w->stages;
  dp_stage_gpu s = {units, parts, n, 0, false, false, 0};
  if (stages->n_started == TSL_MOST_STARTED || !dp_gpu_bands_overlap(w->dp.c.p))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld cannot be started", (long long)units[0].id);
  TSL_TRY(start_stage(w, &s));
  stages->started[stages->n_started++] = s;
done:
  return err;
}

bool dp_gpu_bands_ended(const dp_worker *w) {
  const dp_stage_gpu *s = &w->stages.started[0];
  return w->stages.n_started == 0 || !s->under_way ||
         w->dp.bands.engine->ended(w->dp.bands.list[s->band].engine);
}

tsl_err dp_gpu_bands_finish(dp_worker *w) {
  tsl_err err = TSL_OK;
  dp_stages_gpu *stages = &w->stages;
  dp_stage_gpu s = stages->started[0];
  if (stages->n_started == 0) TSL_FAIL(TSL_ERR_INTERNAL, "dp: no tile is started");
  for (int k = 1; k < stages->n_started; k++) stages->started[k - 1] = stages->started[k];
  stages->n_started--;
  TSL_TRY(dp_backend_gpu_stages_settle(w, &s));
  if (!s.spread) return TSL_OK;
  tsl_seconds_spread(s.seconds, s.units, s.n, s.parts);
  TSL_TRY(dp_band_best(&w->dp.bands, s.units, s.n, s.parts));
done:
  return err;
}

/* ---- trial */

static tsl_err end_trial(dp_worker *w, const dp_trial_gpu *t, const tsl_unit *units, int64_t n,
                         tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(w->dp.bands.engine->finish(t->engine, &seconds));
  tsl_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

tsl_err dp_gpu_stages_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t lanes = dp_band_end(&w->dp.bands, units, n, 0), ahead = TSL_MOST_STARTED * lanes;
  int64_t most = 0;
  dp_trial_gpu t = {};
  for (int64_t k = 0; k < n; k++) {
    const int64_t rows = units[k].hi[0] - units[k].lo[0];
    if (rows > most) most = rows;
  }
  TSL_TRY(dp_gpu_trial_open(w, units, lanes, most, &t));
  for (int64_t k = 0; k < n + ahead; k += lanes) {
    if (k >= ahead) TSL_TRY(end_trial(w, &t, units + k - ahead, lanes, parts + k - ahead));
    if (k >= n) continue;
    const int64_t rows = units[k].hi[0] - units[k].lo[0];
    TSL_TRY(w->dp.bands.engine->start(t.engine, t.row, t.row + rows, t.left, NULL));
    t.row += rows;
  }
done:
  dp_band_engine_close(w->dp.bands.engine, &t.engine);
  return err;
}
