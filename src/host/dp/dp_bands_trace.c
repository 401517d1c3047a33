/** @file dp_bands_trace.c  The traceback through a worker's bands, one piece of kept rows after
 * another. */
#include "dp_bands_region.h"

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

tsl_err dp_bands_trace(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       dp_steps *steps) {
  tsl_err err = TSL_OK;
  dp_band *b = band_with(bands, cursor->at[0], cursor->at[1]);
  if (b == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: no rows to walk back through from row %lld, column %lld",
             (long long)cursor->at[0], (long long)cursor->at[1]);
  TSL_TRY(dp_bands_region(bands, b, &b->kept[kept_with(b, cursor->at[0])], cursor, steps));
  if (cursor->lane < 0) goto done;
  cursor->lane = -1;
  if (cursor->at[0] > 0 && cursor->at[1] > 0)
    cursor->lane = dp_lane_of(units, n, cursor->at[1] - 1);
done:
  return err;
}
