/** @file dp_bands_walk.c  The walk back through a worker's bands: stages are computed once more,
 * with what the walk needs of each cell. */
#include "dp_backend.h"

/** Bands of runs before a restart have kept the rows above. */
static dp_band *band_with(dp_bands *bands, int64_t row, int64_t column) {
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band *b = &bands->list[k];
    if (b->lo < column && column <= b->hi && b->n_stages > 0 && b->stages[0].lo < row &&
        row <= b->row)
      return b;
  }
  return NULL;
}

static int64_t stage_with(const dp_band *b, int64_t row) {
  int64_t low = 0, high = b->n_stages - 1; /* the stage is in low..high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (b->stages[middle].hi >= row)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static tsl_err keep_cells(const tsl_worker *w, dp_band *b, int64_t s) {
  tsl_err err = TSL_OK;
  const dp_stage *stage = &b->stages[s];
  if (b->kept == s) return TSL_OK;
  b->kept = -1;
  TSL_TRY(w->bands.ops->row_put(b->engine, stage->lo, stage->top));
  TSL_TRY(w->bands.ops->tile(b->engine, stage->lo, stage->hi, stage->left, NULL, true,
                             (dp_window){NULL, 0}));
  b->kept = s;
done:
  return err;
}

/** One stage. */
tsl_err dp_bands_walk(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                      dp_steps *steps) {
  tsl_err err = TSL_OK;
  dp_band *b = band_with(&w->bands, cursor->at[0], cursor->at[1]);
  if (b == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: no rows to walk back through from row %lld, column %lld",
             (long long)cursor->at[0], (long long)cursor->at[1]);
  TSL_TRY(keep_cells(w, b, stage_with(b, cursor->at[0])));
  TSL_TRY(w->bands.ops->trace(b->engine, cursor, steps));
  if (cursor->lane < 0) goto done;
  cursor->lane = -1;
  if (cursor->at[0] > 0 && cursor->at[1] > 0)
    cursor->lane = dp_lane_of(units, n, cursor->at[1] - 1);
done:
  return err;
}
