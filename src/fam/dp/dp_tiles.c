/* What a tile fills, what it needs of others, and what it gives them. */
#include "dp_family.h"
#include "dp_interval.h"
#include "dp_saved.h"
#include "integers.h"

/* ---- regions */

/** Box of the table. The boundary goes with the first tiles. */
static void table_region(const dp_params *p, const tsl_unit *u, int64_t lo[3], int64_t hi[3]) {
  const int64_t row = dp_has_boundary(p);
  const int64_t column = row && p->engine == DP_WAVEFRONT;
  const int64_t top = p->problem == DP_STAGECOACH; /* stage 0 is no tile's, but goes with stage 1 */
  lo[0] = u->lo[0] > top ? u->lo[0] + row : 0, hi[0] = u->hi[0] + row;
  lo[1] = u->lo[1] > 0 ? u->lo[1] + column : 0, hi[1] = u->hi[1] + column;
  if (p->engine == DP_INTERVAL) lo[0] = u->lo[0], lo[1] = u->lo[1];
  if (p->problem == DP_PARTITION) { /* letters i = a and j = b - 1, of the sweep outside */
    lo[1] = tsl_max(u->lo[1], 1) - 1, hi[1] = u->hi[1] - 1;
    hi[0] = tsl_min(u->hi[0], p->n);
    if (u->lo[2] == 0 || lo[0] >= hi[0] || lo[1] >= hi[1]) lo[0] = hi[0] = lo[1] = hi[1] = 0;
  }
  lo[2] = 0, hi[2] = 1;
}

void dp_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
               int64_t hi[3]) {
  const dp_params *p = dp_params_of(problem);
  if (p->problem == DP_RECURRENCE) {
    dp_recur_region(problem, unit, field, lo, hi);
    return;
  }
  for (int k = 0; k < 3; k++) lo[k] = hi[k] = 0;
  if (field == dp_field(problem, "table")) table_region(p, unit, lo, hi);
  if (field == dp_field(problem, "best") && unit->hi[0] == p->n)
    lo[0] = unit->lane, hi[0] = unit->lane + 1, hi[1] = dp_best_width(p), hi[2] = 1;
}

/* ---- predecessors */

/** Append ids first..last; those beyond room are only counted. Returns the new number. */
static int64_t put_range(int64_t first, int64_t last, int64_t *list, int64_t room, int64_t n) {
  for (int64_t id = first; id <= last; id++, n++)
    if (n < room) list[n] = id;
  return n;
}

/** Lanes in a stage; the list is stage after stage. */
static int64_t lanes_of(const tsl_unit *units, int64_t n_units) {
  int64_t low = 0, high = n_units; /* the first unit of a later stage is in low..high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (units[middle].stage > 0)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

int64_t dp_lane_of(const tsl_unit *units, int64_t n, int64_t column) {
  int64_t low = 0, high = lanes_of(units, n) - 1; /* the lane is in low..high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (units[middle].hi[1] > column)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

int64_t dp_units_end(const tsl_unit *units, int64_t n, int64_t k) {
  for (k++; k < n; k++)
    if (units[k].lo[1] != units[k - 1].hi[1] || units[k].lo[0] != units[k - 1].lo[0] ||
        units[k].hi[0] != units[k - 1].hi[0])
      break;
  return k;
}

static int64_t before_sweep(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                            int64_t id, int64_t *list, int64_t room) {
  const dp_params *p = dp_params_of(problem);
  const dp_ready *ready = dp_ready_of(p);
  const tsl_unit *u = &units[id];
  const int64_t row = id - u->lane, lanes = lanes_of(units, n_units);
  const int64_t far =
      ready->reach != NULL ? u->lo[1] - ready->reach(problem, u->lo[0], u->hi[0]) : -1;
  int64_t first = u->lane, n = 0;
  while (first > 0 && units[row + first - 1].hi[1] > far) first--;
  if (p->problem == DP_KNAPSACK_UNBOUNDED) return put_range(row + first, id - 1, list, room, 0);
  if (u->stage == 0) return 0;
  n = put_range(row - lanes + first, row - lanes + u->lane - 1, list, room, 0);
  if (p->problem == DP_STAGECOACH) n = put_range(row - lanes + u->lane + 1, row - 1, list, room, n);
  return n;
}

/** Number of the tile of diagonal d in tile row r: diagonals one after another. */
static int64_t tile_id(int64_t boxes, int64_t r, int64_t d) {
  return d * boxes - d * (d - 1) / 2 + r;
}

/** Tiles to the left and below, (r, r + d) and (c - d, c); pairs also (r + 1, c - 1). */
static int64_t before_interval(const dp_params *p, const tsl_unit *u, int64_t *list, int64_t room) {
  const int64_t boxes = tsl_divide_up(dp_posts(p), DP_BOX), r = u->lo[0] / DP_BOX;
  const bool rna = p->problem == DP_NUSSINOV || p->problem == DP_FOLD || p->problem == DP_PARTITION;
  int64_t n = 0;
  for (int64_t d = 0; d < u->stage; d++) {
    const int64_t left = tile_id(boxes, r, d), below = tile_id(boxes, r + u->stage - d, d);
    n = put_range(left, left, list, room, n);
    if (rna && d == u->stage - 2) n = put_range(left + 1, left + 1, list, room, n);
    n = put_range(below, below, list, room, n);
  }
  return n;
}

/** Number of the tile of the sweep outside: diagonals from the last on. */
static int64_t outside_id(int64_t boxes, int64_t r, int64_t d) {
  const int64_t later = boxes - 1 - d; /* diagonals before it, of 1, 2, ... tiles */
  return boxes * (boxes + 1) / 2 + later * (later + 1) / 2 + r;
}

/** Outside: tiles inside (k, i), (i, j) and (j, k); outside (k, j), (i, k), (i - 1, j + 1). */
static int64_t before_outside(const dp_params *p, const tsl_unit *u, int64_t *list, int64_t room) {
  const int64_t boxes = tsl_divide_up(dp_posts(p), DP_BOX), i = u->lo[0] / DP_BOX;
  const int64_t j = u->lo[1] / DP_BOX;
  int64_t n = 0;
  for (int64_t d = 0; d < boxes; d++) {
    const int64_t rows[3] = {i - d, d == j - i ? i : -1, j + d < boxes ? j : -1};
    for (int k = 0; k < 3; k++) {
      const int64_t id = rows[k] >= 0 ? tile_id(boxes, rows[k], d) : -1;
      if (id >= 0 && (k == 0 || rows[k] != rows[k - 1])) n = put_range(id, id, list, room, n);
    }
  }
  for (int64_t d = boxes - 1; d > j - i; d--) {
    const int64_t above = j - d, right = i + d < boxes ? i : -1;
    if (above >= 0)
      n = put_range(outside_id(boxes, above, d), outside_id(boxes, above, d), list, room, n);
    if (d == j - i + 2 && i > 0 && j + 1 < boxes)
      n = put_range(outside_id(boxes, i - 1, d), outside_id(boxes, i - 1, d), list, room, n);
    if (right >= 0)
      n = put_range(outside_id(boxes, right, d), outside_id(boxes, right, d), list, room, n);
  }
  return n;
}

int64_t dp_predecessors(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                        int64_t id, int64_t *list, int64_t room) {
  const dp_params *p = dp_params_of(problem);
  const tsl_unit *u = &units[id];
  if (p->problem == DP_RECURRENCE)
    return dp_recur_predecessors(problem, units, n_units, id, list, room);
  if (p->engine == DP_INTERVAL)
    return u->lo[2] != 0 ? before_outside(p, u, list, room) : before_interval(p, u, list, room);
  if (p->engine == DP_ROWS) return before_sweep(problem, units, n_units, id, list, room);
  return u->lane > 0 ? put_range(id - 1, id - 1, list, room, 0) : 0;
}

/* ---- edges */

int64_t dp_edge_bytes(const tsl_problem *problem, const tsl_unit *u) {
  const dp_params *p = dp_params_of(problem);
  if (p->problem == DP_RECURRENCE) return dp_recur_edge_bytes(problem, u);
  const int64_t bytes = (int64_t)tsl_type_bytes((tsl_type)p->type);
  const int64_t rows = u->hi[0] - u->lo[0], columns = u->hi[1] - u->lo[1];
  if (p->engine == DP_INTERVAL) return dp_interval_edge_values(p, u) * bytes;
  if (p->engine == DP_ROWS) return columns * bytes;
  return dp_edge_size(p, rows);
}
