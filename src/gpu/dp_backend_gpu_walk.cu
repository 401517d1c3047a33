/* The walk back through a worker's bands: rows are computed once more, with what the walk needs of
 * each cell. */
#include "dp_backend_gpu.cuh"

static dp_band_gpu *band_with(dp_bands_gpu *bands, int64_t column) {
  for (int64_t k = 0; k < bands->n; k++)
    if (bands->list[k].lo < column && column <= bands->list[k].hi) return &bands->list[k];
  return NULL;
}

static int64_t kept_with(const dp_band_gpu *b, int64_t row) {
  int64_t low = 0, high = b->n_kept - 1; /* the rows are in low..high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (b->kept[middle].hi >= row)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static tsl_err keep_cells(dp_worker *w, dp_band_gpu *b, int64_t at) {
  tsl_err err = TSL_OK;
  const dp_band_engine *engine = w->bands.engine;
  const dp_kept_rows *kept = &b->kept[at];
  if (b->at == at) return TSL_OK;
  b->at = -1;
  TSL_TRY(engine->state_put(b->engine, kept->lo, kept->top.data));
  TSL_TRY(
      engine->tile(b->engine, kept->lo, kept->hi, kept->left.data, NULL, true, dp_window{NULL, 0}));
  b->at = at;
done:
  return err;
}

tsl_err dp_gpu_bands_walk(dp_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                          dp_steps *steps) {
  tsl_err err = TSL_OK;
  while (cursor->lane >= 0) {
    dp_band_gpu *b = band_with(&w->bands, cursor->at[1]);
    if (b == NULL) break;
    if (cursor->at[0] < 1 || cursor->at[0] > b->row || b->n_kept == 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "dp: no row %lld to walk back from", (long long)cursor->at[0]);
    TSL_TRY(keep_cells(w, b, kept_with(b, cursor->at[0])));
    TSL_TRY(w->bands.engine->trace(b->engine, cursor, steps));
    if (cursor->lane < 0 || cursor->at[1] <= b->lo) { /* it does not come back to the band */
      w->bands.engine->forget(b->engine);
      b->at = -1;
    }
    if (cursor->lane < 0) break;
    cursor->lane = -1;
    if (cursor->at[0] > 0 && cursor->at[1] > 0)
      cursor->lane = dp_lane_of(units, n, cursor->at[1] - 1);
  }
done:
  return err;
}
