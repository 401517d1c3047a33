/** @file dp_bands_trace.c  The traceback through a worker's bands: rows are computed once more,
 * with what it needs of each cell. */
#include "dp_bands.h"

/** Bands of runs before a restart have kept the rows above. */
static dp_band *band_with(dp_bands *bands, int64_t row, int64_t column) {
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band *b = &bands->list[k];
    if (b->lo < column && column <= b->hi && b->n_kept > 0 && b->kept[0].lo < row && row <= b->row)
      return b;
  }
  return NULL;
}

static int64_t kept_with(const dp_band *b, int64_t row) {
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

static tsl_err keep_cells(dp_bands *bands, dp_band *b, int64_t at) {
  tsl_err err = TSL_OK;
  const dp_band_engine *engine = bands->engine;
  const dp_kept_rows *kept = &b->kept[at];
  const void *left = kept->left.data;
  if (b->at == at) return TSL_OK;
  b->at = -1;
  if (b->engine == NULL) TSL_TRY(engine->open(bands->c->worker, b->lo, b->hi, &b->engine));
  TSL_TRY(engine->state_put(b->engine, kept->lo, kept->top.data));
  if (b->lo == 0) TSL_TRY(dp_bands_side(bands, kept->hi - kept->lo, &left));
  TSL_TRY(engine->tile(b->engine, kept->lo, kept->hi, left, NULL, true, (dp_window){NULL, 0}));
  b->at = at;
done:
  return err;
}

/** The traceback does not come back to the band. */
static void leave(const dp_bands *bands, dp_band *b) {
  if (b->past)
    bands->engine->close(&b->engine);
  else if (bands->engine->forget != NULL)
    bands->engine->forget(b->engine);
  b->at = -1;
}

tsl_err dp_bands_trace(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       dp_steps *steps) {
  tsl_err err = TSL_OK;
  dp_band *b = band_with(bands, cursor->at[0], cursor->at[1]);
  if (b == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: no rows to walk back through from row %lld, column %lld",
             (long long)cursor->at[0], (long long)cursor->at[1]);
  TSL_TRY(keep_cells(bands, b, kept_with(b, cursor->at[0])));
  TSL_TRY(bands->engine->trace(b->engine, cursor, steps));
  if (cursor->lane < 0 || cursor->at[1] <= b->lo || cursor->at[0] <= b->kept[0].lo) leave(bands, b);
  if (cursor->lane < 0) goto done;
  cursor->lane = -1;
  if (cursor->at[0] > 0 && cursor->at[1] > 0)
    cursor->lane = dp_lane_of(units, n, cursor->at[1] - 1);
done:
  return err;
}
