/* What a recovery within little memory needs and what it costs. */
#include "dp_space.h"

#include "dp_saved.h"

#include <math.h>

double dp_space_cell_bits(const dp_params *p) {
  return dp_edge_is_bits(p) ? dp_ready_of(p)->bits : dp_ready_of(p)->history;
}

double dp_space_state_bytes(const dp_params *p) {
  return dp_edge_is_bits(p) ? dp_ready_of(p)->bits / 8.0 : (double)dp_edge_entry(p);
}

/** Does a region fit, with what its halves keep, and what a tile begins with? */
static bool region_fits(const dp_params *p, double rows, double columns, double bytes) {
  const double each = dp_space_state_bytes(p), cell = dp_space_cell_bits(p) / 8;
  bytes -= (rows + columns) * each;
  while (bytes > 0 && rows * columns * cell > bytes &&
         (rows > DP_SPACE_LEAST || columns > DP_SPACE_LEAST)) {
    const bool across = columns >= rows;
    bytes -= (across ? rows : columns) * each;
    *(across ? &columns : &rows) /= 2;
  }
  return bytes > 0;
}

double dp_space_rows(const dp_params *p, int64_t columns, bool edges, double bytes) {
  const double each = dp_space_state_bytes(p), row = (double)columns * each + 64;
  const double rest = bytes - (edges ? (double)p->n * each : 0);
  const double most = floor((bytes / 2 - (bytes - rest)) / row);
  if (most >= 1 && region_fits(p, (double)p->n / most, (double)columns, rest - most * row))
    return most;
  return region_fits(p, (double)p->n, (double)columns, rest - row) ? 1 : 0;
}

dp_space dp_space_plan(const dp_params *p, int64_t ranks, double bytes) {
  const double columns = ceil((double)p->m / (double)ranks);
  const double widest = ranks > 1 ? 1.25 * columns : columns; /* shares are not all the same */
  const double all = (double)p->n * columns * dp_space_cell_bits(p) / 8;
  dp_space s = {.least = ceil(2 * all / bytes)};
  s.most = dp_space_rows(p, (int64_t)widest, ranks > 1, bytes);
  if (s.least < 1) s.least = 1;
  s.fits = s.most >= 1;
  s.halves = s.least > s.most;
  /* Half of each strip; by halves, half as much again as there is in the squares on the path. */
  s.work = s.halves ? 1.5 + 1 / s.most : 1.5;
  if (s.halves) s.least = s.most;
  return s;
}
