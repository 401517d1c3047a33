/* The table of a recurrence cut into tiles: boxes of folded rows and columns. */
#include "dp_cut.h"
#include "dp_family.h"
#include "dp_recur_strips.h"
#include "integers.h"

#include <math.h>
#include <string.h>

enum {
  LANES_OF_RANK = 32,      /* strips of one rank, so that shares can follow speeds */
  SWEEP_LANES_OF_RANK = 8, /* the same of row sweeps, which have a stage for each row */
  MOST_WISHED = 4096,      /* strips that the user may ask for */
  LANE_QUANTUM = 64,
  STAGE_QUANTUM = 64,
  SLAB_BYTES = 1 << 24, /* of a tile of the table */
  FEW_TILES = 1 << 22,  /* above, sweeps get fewer strips */
  MOST_TILES = 1 << 24,
  MOST_BOXES = 4096, /* of an interval problem; boxes get larger */
  COLUMNS_KEPT = 3,  /* of a wavefront's tile: both sides, and between strips */
  LOOKED_AT = 1024   /* stages whose cost is looked at; others cost what the one before does */
};

/* ---- features */

static double items_of(dp_eval *e, const lang_expr *x, int32_t node);

static double range_items(dp_eval *e, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t n_k = e->n_k;
  dp_value lo = {0}, hi = {0};
  if (dp_evaluate(e, x, lang_child(x, node, 0), &lo) != TSL_OK ||
      dp_evaluate(e, x, lang_child(x, node, 1), &hi) != TSL_OK || hi.whole < lo.whole)
    return 0;
  const double length = (double)hi.whole - (double)lo.whole + 1;
  e->n_k = n->ref + 1;
  e->k[n->ref] = lo.whole + (hi.whole - lo.whole) / 2;
  const double body = items_of(e, x, lang_child(x, node, 2));
  e->n_k = n_k;
  return length * (1 + body);
}

/** Values of ranges that the subtree goes through at the place. */
static double items_of(dp_eval *e, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  double items = 0;
  dp_value truth = {0};
  if (lang_is_range(n->op)) return range_items(e, x, node);
  if (n->op == LANG_OP_COND && x->nodes[n->first].reads == 0 &&
      dp_evaluate(e, x, n->first, &truth) == TSL_OK)
    return items_of(e, x, lang_child(x, node, truth.whole != 0 ? 1 : 2));
  for (int32_t c = n->first; c >= 0; c = x->nodes[c].next) items += items_of(e, x, c);
  return items;
}

/** What the innermost loop does for cell (p, q); 0 where there is none. */
static double cell_items(const dp_recur *r, int64_t p, int64_t q) {
  const lang_expr *expr = NULL;
  int32_t rule = -1;
  dp_eval e = {.recurrence = r->recurrence, .work = INT64_MAX};
  dp_code_unfold(&r->code, p, q, &e.i, &e.j);
  if (!lang_has_cell(&r->recurrence->equation.names.tables[0], e.i, e.j)) return 0;
  double items = 0;
  const lang_names *names = &r->recurrence->equation.names;
  int32_t n = 0;
  for (e.value = 0; e.value < r->code.values; e.value = dp_next_value(names, e.value), n++) {
    items += 1;
    if (dp_eval_rule(&e, &rule, &expr) == TSL_OK) items += items_of(&e, expr, expr->root);
  }
  return items / n * r->code.values;
}

/** Items of a tile from its corners and its middle. */
static double tile_items(const dp_recur *r, const tsl_unit *u) {
  const double cells = (double)(u->hi[0] - u->lo[0]) * (double)(u->hi[1] - u->lo[1]);
  const int64_t p[3] = {u->lo[0], (u->lo[0] + u->hi[0]) / 2, u->hi[0] - 1};
  const int64_t q[3] = {u->lo[1], (u->lo[1] + u->hi[1]) / 2, u->hi[1] - 1};
  double sum = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) sum += cell_items(r, p[a], q[b]);
  return cells * sum / 9 + 1;
}

void dp_recur_set_features(const dp_recur *r, tsl_unit *u, const tsl_unit *like) {
  const double bytes = (double)dp_code_bytes(&r->code);
  const double rows = (double)(u->hi[0] - u->lo[0]), columns = (double)(u->hi[1] - u->lo[1]);
  u->count = like != NULL ? like->count : tile_items(r, u);
  u->flops = u->count;
  u->bytes = (rows + columns) * bytes;
  u->device_bytes = columns * bytes;
}

/* ---- strips */

/** How a table is cut. */
typedef struct shape {
  int64_t ranks, lanes, stages;
  bool single; /**< a lane only */
} shape;

static bool is_single(const dp_recur *r, const tsl_limits *limits) {
  const bool alone = limits->n_ranks <= 1 && !limits->given;
  return alone || (r->code.engine == DP_ROWS && (r->code.depth == 0 || r->code.same_row != 0));
}

static shape choose_shape(const dp_recur *r, const dp_params *p, const tsl_limits *limits) {
  const int64_t of_rank = r->code.engine == DP_ROWS ? SWEEP_LANES_OF_RANK : LANES_OF_RANK;
  const double room = (double)tsl_min(tsl_max(limits->slab_bytes, 1), SLAB_BYTES);
  shape s = {.ranks = tsl_max(limits->n_ranks, 1), .single = is_single(r, limits)};
  s.lanes = limits->given ? tsl_min(limits->target_units, MOST_WISHED) : s.ranks * of_rank;
  s.lanes = s.single ? 1 : tsl_min(s.lanes, DP_MAX_LANES);
  s.stages = dp_cut_stages(s.single ? 1 : s.ranks,
                           r->code.engine == DP_ROWS ? 0 : limits->pipeline_fill, limits->overlap);
  if (r->code.engine == DP_ROWS && !s.single) s.stages = r->code.P;
  if (p->mode == DP_VALUE || p->strip > 0) return s;
  const double tile = ceil((double)r->code.Q / (double)s.lanes) * (double)r->code.P *
                      (double)dp_code_bytes(&r->code);
  s.stages = tsl_min(tsl_max(s.stages, (int64_t)ceil(tile / room)), r->code.P);
  return s;
}

/** Of some stages; those between have the features of the stage before. */
static void look_at_strips(const dp_recur *r, int64_t stages, int64_t lanes, tsl_units *units) {
  const int64_t every = tsl_divide_up(stages, LOOKED_AT);
  for (int64_t k = 0; k < units->n; k++) {
    tsl_unit *u = &units->list[k];
    dp_recur_set_features(r, u, u->stage % every == 0 ? NULL : u - lanes);
  }
}

/** Where stages end: where each strip whose last rows are kept does, and between. */
static tsl_err strip_ends(const dp_recur *r, int64_t strip, int64_t stages, dp_ends *ends) {
  tsl_err err = TSL_OK;
  const int64_t P = r->code.P, each = tsl_divide_up(stages, tsl_divide_up(P, strip));
  const int64_t rows = stages == P ? 1 : tsl_divide_up(strip, each);
  TSL_TRY(tsl_alloc(tsl_divide_up(P, strip) * tsl_divide_up(strip, rows), sizeof *ends->at, "tiles",
                    (void **)&ends->at));
  for (int64_t at = 0; at < P; ends->at[ends->n++] = at)
    at = tsl_min(tsl_min(at + rows, (at / strip + 1) * strip), P);
done:
  return err;
}

static tsl_err stage_ends(const dp_recur *r, const dp_params *p, int64_t stages, dp_ends *ends) {
  const dp_cut cut = dp_cut_make(r->code.P, stages, stages == r->code.P ? 1 : STAGE_QUANTUM);
  return p->strip > 0 ? strip_ends(r, p->strip, stages, ends) : dp_cut_ends(&cut, ends);
}

static tsl_err strips(const dp_recur *r, const dp_params *p, const shape *s, tsl_units *units,
                      int64_t *n_lanes) {
  tsl_err err = TSL_OK;
  int64_t lanes = s->lanes, n = 0;
  dp_ends rows = {0}, columns = {0};
  TSL_TRY(stage_ends(r, p, s->stages, &rows));
  if (rows.n > FEW_TILES / lanes) lanes = tsl_max(s->ranks, FEW_TILES / rows.n);
  const dp_cut cut = dp_cut_make(r->code.Q, s->single ? 1 : lanes, LANE_QUANTUM);
  if (!tsl_mul_i64(rows.n, cut.pieces, &n) || n > MOST_TILES)
    TSL_FAIL(TSL_ERR_INPUT, "dp: %lld stages of %lld tiles are too many; use fewer ranks",
             (long long)rows.n, (long long)cut.pieces);
  TSL_TRY(dp_cut_ends(&cut, &columns));
  TSL_TRY(tsl_alloc(n, sizeof *units->list, "tiles", (void **)&units->list));
  dp_cut_tiles(&rows, &columns, 0, units);
  look_at_strips(r, rows.n, columns.n, units);
  *n_lanes = columns.n;
done:
  TSL_FREE_ALL(rows.at, columns.at);
  return err;
}

/* ---- boxes */

/** Has the box a cell that the table has? */
static bool has_cell(const dp_recur *r, const int64_t lo[3], const int64_t hi[3]) {
  const int32_t cells = r->recurrence->equation.names.tables[0].cells;
  int64_t i[2], j[2];
  dp_code_unfold(&r->code, lo[0], lo[1], &i[0], &j[0]);
  dp_code_unfold(&r->code, hi[0] - 1, hi[1] - 1, &i[1], &j[1]);
  if (cells == LANG_CELLS_UPPER) return tsl_min(i[0], i[1]) <= tsl_max(j[0], j[1]);
  if (cells == LANG_CELLS_LOWER) return tsl_max(i[0], i[1]) >= tsl_min(j[0], j[1]);
  return true;
}

static tsl_err boxes(const dp_recur *r, tsl_units *units) {
  tsl_err err = TSL_OK;
  const int64_t P = r->code.P, Q = r->code.Q;
  int64_t side = DP_BOX, stage = 0;
  while (tsl_divide_up(P, side) > MOST_BOXES / tsl_divide_up(Q, side)) side *= 2;
  const int64_t down = tsl_divide_up(P, side), across = tsl_divide_up(Q, side);
  TSL_TRY(tsl_alloc(down * across, sizeof *units->list, "tiles", (void **)&units->list));
  for (int64_t d = 0; d < down + across - 1; d++) {
    const int64_t before = units->n;
    for (int64_t a = tsl_max(0, d - across + 1); a <= d && a < down; a++) {
      tsl_unit u = {.id = units->n, .lane = units->n, .stage = stage};
      u.lo[0] = a * side, u.hi[0] = tsl_min(u.lo[0] + side, P);
      u.lo[1] = (d - a) * side, u.hi[1] = tsl_min(u.lo[1] + side, Q);
      u.hi[2] = 1;
      if (!has_cell(r, u.lo, u.hi)) continue;
      dp_recur_set_features(r, &u, NULL);
      units->list[units->n++] = u;
    }
    stage += units->n > before;
  }
done:
  return err;
}

/* ---- memory */

/** Bytes of host memory that a rank takes for tables: the root's whole one, or strips of it, from
 *  which a solution is recovered; a socket's own where cells read any earlier one, and else rows,
 *  and of a wavefront columns, of cells that a depth makes large. */
static double table_bytes(const dp_recur *r, const dp_params *p, const tsl_limits *limits) {
  const double table = (double)r->code.P * (double)r->code.Q * (double)dp_code_bytes(&r->code);
  const bool sockets = limits->device_bytes == INT64_MAX;
  const bool kept =
      r->code.engine == DP_INTERVAL || (r->code.engine == DP_ROWS && r->code.depth == 0);
  const double cell = (double)dp_code_bytes(&r->code);
  const double lines = r->code.engine == DP_WAVEFRONT
                           ? (double)r->code.Q + COLUMNS_KEPT * (double)r->code.P
                           : (double)(r->code.depth + 1) * (double)r->code.Q;
  const double own = kept ? table : r->code.layers > 0 ? lines * cell : 0;
  const double recover = p->strip > 0 ? dp_recur_strip_bytes(&r->code, p->strip) : table;
  return (p->mode == DP_RECOVER ? recover : 0) + (sockets ? own : 0);
}

/** Are they rows and columns alone? */
static bool is_lines(const dp_recur *r, const dp_params *p) {
  return (p->mode != DP_RECOVER || p->strip > 0) &&
         (r->code.engine == DP_WAVEFRONT || (r->code.engine == DP_ROWS && r->code.depth > 0));
}

static tsl_err check_memory(const dp_recur *r, const dp_params *p, const tsl_limits *limits) {
  tsl_err err = TSL_OK;
  const double bytes = table_bytes(r, p, limits);
  char need[24], have[24];
  if (limits->host_bytes > 0 && bytes > (double)limits->host_bytes)
    TSL_FAIL(TSL_ERR_INPUT,
             "the recurrence's %s needed: %s of host memory, and a rank may use %s; "
             "raise run.host_memory, ask for fewer ranks on a host%s",
             is_lines(r, p) ? "rows and columns of cells are" : "whole table is",
             tsl_bytes_text(bytes, need), tsl_bytes_text((double)limits->host_bytes, have),
             p->mode == DP_RECOVER ? ", or ask for dp.mode: value" : "");
done:
  return err;
}

/* ---- what the way back computes again */

/** All of each strip; of a wavefront what lies left of a path from corner to corner. */
static double part_again(const dp_recur *r, const dp_params *p, const tsl_unit *u) {
  const int64_t end = tsl_min((u->lo[0] / p->strip + 1) * p->strip, r->code.P);
  const double left = (double)r->code.Q * (double)end / (double)r->code.P - (double)u->lo[1];
  const double part = left / (double)(u->hi[1] - u->lo[1]);
  return r->code.engine == DP_WAVEFRONT ? fmin(fmax(part, 0), 1) : 1;
}

static tsl_err count_again(const dp_params *p, const tsl_units *units, dp_own *own) {
  tsl_err err = TSL_OK;
  double sum = 0, all = 0;
  tsl_free(own->again);
  own->again = NULL, own->all_again = 0;
  if (p->strip == 0) return TSL_OK;
  TSL_TRY(tsl_alloc(units->n, sizeof *own->again, "plan of the way back", (void **)&own->again));
  for (int64_t k = 0; k < units->n; k++) {
    own->again[k] = part_again(own->recur, p, &units->list[k]);
    sum += own->again[k] * units->list[k].count, all += units->list[k].count;
  }
  own->all_again = sum / all;
done:
  return err;
}

/* ---- for the runtime */

tsl_err dp_recur_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  const dp_recur *r = own->recur;
  if (r->code.P == 0 || r->code.Q == 0) return TSL_OK;
  TSL_TRY(check_memory(r, dp_params_of(problem), limits));
  if (r->code.engine == DP_INTERVAL) {
    TSL_TRY(boxes(r, units));
    own->n_lanes = units->n;
  } else {
    const shape s = choose_shape(r, dp_params_of(problem), limits);
    TSL_TRY(strips(r, dp_params_of(problem), &s, units, &own->n_lanes));
    TSL_TRY(count_again(dp_params_of(problem), units, own));
  }
done:
  return err;
}

void dp_recur_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                     tsl_unit *out) {
  const int64_t rows = whole->hi[0] - whole->lo[0];
  const int64_t part = tsl_max((int64_t)ceil(fraction * (double)rows), 1);
  const double ratio = (double)part / (double)rows;
  (void)problem;
  *out = *whole;
  out->hi[0] = whole->lo[0] + part;
  out->count *= ratio, out->flops *= ratio;
  out->bytes *= ratio;
}

/* ---- what a tile fills */

void dp_recur_region(const tsl_problem *problem, const tsl_unit *u, int field, int64_t lo[3],
                     int64_t hi[3]) {
  const dp_params *p = dp_params_of(problem);
  dp_code code;
  dp_recur_frame(p, &code);
  for (int k = 0; k < 3; k++) lo[k] = hi[k] = 0;
  if (field == dp_field(problem, "table") && p->strip == 0) {
    dp_recur_tile_box(&code, u, lo, hi);
    hi[2] = p->values;
  }
  if (field == dp_field(problem, "kept") && p->strip > 0) {
    int64_t from, to;
    lo[0] = dp_recur_kept(&code, p->strip, u, &from, &to);
    hi[0] = lo[0] + to - from;
    lo[1] = u->lo[1], hi[1] = u->hi[1], hi[2] = p->values;
  }
  if (field == dp_field(problem, "best") && (p->engine == DP_INTERVAL || u->hi[0] == code.P))
    lo[0] = u->lane, hi[0] = u->lane + 1, hi[1] = DP_BEST_ROW, hi[2] = 1;
}

/* ---- predecessors and edges */

static int64_t dp_recur_units_put(int64_t id, int64_t *list, int64_t room, int64_t n) {
  if (n < room) list[n] = id;
  return n + 1;
}

/** Tiles up and left. */
static int64_t before_box(const tsl_unit *units, int64_t id, int64_t *list, int64_t room) {
  const tsl_unit *u = &units[id];
  int64_t n = 0;
  for (int64_t t = 0; t < id; t++)
    if (units[t].lo[0] <= u->lo[0] && units[t].lo[1] <= u->lo[1])
      n = dp_recur_units_put(t, list, room, n);
  return n;
}

/** Tiles of the stage before, other lanes, with columns within reach. */
static int64_t before_row(const dp_params *p, const tsl_unit *units, int64_t id, int64_t *list,
                          int64_t room) {
  const int64_t lo = units[id].lo[1] - p->reach[0], hi = units[id].hi[1] + p->reach[1];
  const int64_t stage = units[id].stage;
  int64_t n = 0, first = id - units[id].lane - 1;
  if (stage == 0) return 0;
  while (first > 0 && units[first - 1].stage == stage - 1) first--;
  for (int64_t t = first; units[t].stage < stage; t++)
    if (units[t].lane != units[id].lane && units[t].hi[1] > lo && units[t].lo[1] < hi)
      n = dp_recur_units_put(t, list, room, n);
  return n;
}

int64_t dp_recur_predecessors(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                              int64_t id, int64_t *list, int64_t room) {
  const dp_params *p = dp_params_of(problem);
  (void)n_units;
  if (p->engine == DP_INTERVAL) return before_box(units, id, list, room);
  if (p->engine == DP_ROWS) return before_row(p, units, id, list, room);
  return units[id].lane > 0 ? dp_recur_units_put(id - 1, list, room, 0) : 0;
}

int64_t dp_recur_edge_bytes(const tsl_problem *problem, const tsl_unit *u) {
  const dp_params *p = dp_params_of(problem);
  const int64_t bytes = (int64_t)tsl_type_bytes((tsl_type)p->type) * p->values;
  const int64_t rows = u->hi[0] - u->lo[0], columns = u->hi[1] - u->lo[1];
  if (p->engine == DP_INTERVAL) return rows * columns * bytes;
  if (p->engine == DP_ROWS) return tsl_min(p->depth, rows) * columns * bytes;
  return (rows + 1) * bytes;
}
