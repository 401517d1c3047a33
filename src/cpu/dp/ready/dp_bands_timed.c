/** @file dp_bands_timed.c  Bands on a socket with their seconds: tiles of a run, and trials of them
 * before it. */
#include "dp_backend.h"

tsl_err dp_cpu_bands_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, end; k < n; k = end) {
    const double start = tsl_cpu_seconds();
    end = dp_band_end(&w->dp.bands, units, n, k);
    TSL_TRY(dp_band_run(&w->dp.bands, units + k, end - k, parts + k));
    TSL_TRY(dp_band_best(&w->dp.bands, units + k, end - k, parts + k));
    dp_cpu_spread(w, start, units + k, end - k, parts + k);
  }
done:
  return err;
}

/** LOCAL: the time depends on the values. */
static tsl_err put_guess(tsl_worker *w, void *engine, const tsl_unit *unit, int64_t columns,
                         int32_t *left) {
  tsl_err err = TSL_OK;
  dp_score_guess g = {.row = unit->lo[0],
                      .column = unit->lo[1],
                      .rows = unit->hi[0] - unit->lo[0],
                      .columns = columns,
                      .left = left};
  TSL_TRY(tsl_alloc(columns, 2 * sizeof *g.above, "row of a trial", (void **)&g.above));
  TSL_TRY(dp_score_guess_sides(w, &g));
  TSL_TRY(w->dp.bands.engine->state_put(engine, g.row, g.above));
done:
  tsl_free(g.above);
  return err;
}

/** As tiles would run, from the top of the table and with zeros on the left, or from values like
 *  those around them. */
static tsl_err try_band(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = &w->dp.c;
  const bool guess = c->p->problem == DP_LOCAL && c->p->mode != DP_TABLE;
  const int64_t rows = units[0].hi[0] - units[0].lo[0], from = units[0].lo[1];
  const int64_t size = dp_edge_size(c->p, rows), top = guess ? units[0].lo[0] : 0;
  const dp_box cells = {{0, from}, {c->p->n, units[n - 1].hi[1]}};
  double start = 0;
  void *engine = NULL, *left = NULL, *right = NULL;
  TSL_TRY(tsl_alloc(size, 1, "edge", &left));
  TSL_TRY(tsl_alloc(size, 1, "edge", &right));
  TSL_TRY(dp_band_engine_open(w->dp.bands.engine, c, &cells, &engine));
  if (guess) TSL_TRY(put_guess(w, engine, units, units[n - 1].hi[1] - from, left));
  start = tsl_cpu_seconds();
  TSL_TRY(dp_band_engine_tile(w->dp.bands.engine, engine, top, top + rows, from > 0 ? left : NULL,
                              right, false, dp_window_of(c, &units[0], &parts[0])));
  dp_cpu_spread(w, start, units, n, parts);
done:
  dp_band_engine_close(w->dp.bands.engine, &engine);
  TSL_FREE_ALL(left, right);
  return err;
}

tsl_err dp_cpu_bands_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_band_end(&w->dp.bands, units, n, k);
    TSL_TRY(try_band(w, units + k, end - k, parts + k));
  }
done:
  return err;
}
