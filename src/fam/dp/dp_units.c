/* The table cut into tiles: lanes for ranks, stages for time. */
#include "dp_cut.h"
#include "dp_family.h"
#include "dp_saved.h"
#include "dp_space.h"
#include "integers.h"

#include <math.h>
#include <string.h>

enum {
  LANES_OF_RANK = 32,      /* strips of one rank, so that shares can follow speeds */
  SWEEP_LANES_OF_RANK = 8, /* the same of row sweeps, which have many stages */
  MOST_WISHED = 4096,      /* strips that the user may ask for */
  ALONE_COLUMNS = 1 << 18, /* a strip of a single rank: calibrations try some strips of many */
  LANE_QUANTUM = 64,       /* strips end at multiples of this many columns */
  STAGE_QUANTUM = 64,      /* and stages of this many rows, where there are enough */
  SWEEP_ROWS = 32,         /* rows of one stage of a sweep with halo */
  COPY_ITEMS = 8,          /* items that take as long as a stage's copy of the row before */
  HALO = 8,                /* the halo of a stage is at most this part of a rank's columns */
  SLAB_BYTES = 1 << 24,    /* of a tile of the table */
  FEW_TILES = 1 << 22,     /* above, sweeps get fewer strips */
  MOST_TILES = 1 << 24
};

/* Time of a cell that is left out, of one that is computed: sides of blocks are looked at and
 * handed on (docs/adr/0039). Strips wait for each other, so that the slowest tiles of each stage
 * count: too much for cells left out foretells too short a pipeline. On sockets 0.035 to 0.052 by
 * least squares over tiles; cards, whose blocks are smaller, 0.25 to 0.6 of all in sum. */
static const double LEFT_OUT = 0.04, LEFT_OUT_CARDS = 0.1;

static int64_t dp_units_value_bytes(const dp_params *p) {
  return (int64_t)tsl_type_bytes((tsl_type)p->type);
}

/* ---- features */

/** Items of a tile: what the innermost loop does for its cells. */
static double tile_items(const dp_params *p, const tsl_unit *u) {
  const double rows = (double)(u->hi[0] - u->lo[0]), columns = (double)(u->hi[1] - u->lo[1]);
  const dp_ready *ready = dp_ready_of(p);
  if (p->engine ==
      DP_INTERVAL) { /* b - a splits of each pair; outside, those of larger intervals */
    const double distance = (double)(u->lo[1] - u->lo[0]);
    const double more = ready->items != NULL ? ready->items(p, u) : 0;
    if (u->lo[2] != 0)
      return rows * columns * ((double)dp_posts(p) - distance + more / (distance > 0 ? 1 : 2));
    return distance > 0 ? rows * columns * (distance + more)
                        : rows * columns * (columns / 6 + more / 2) + columns;
  }
  return rows * columns * (ready->items != NULL ? ready->items(p, u) : 1);
}

static void dp_units_set_features(const dp_params *p, tsl_unit *u) {
  u->count = tile_items(p, u);
  u->flops = u->count;
  u->bytes =
      (double)((u->hi[0] - u->lo[0]) + (u->hi[1] - u->lo[1])) * (double)dp_units_value_bytes(p);
  u->device_bytes = (double)(u->hi[1] - u->lo[1]) * (double)dp_units_value_bytes(p);
}

/* ---- memory of a rank */

/** Bytes of an interval: fold has two tables, partition five; sockets need two bytes for fewer than
 *  2^14 pairs. */
static double interval_bytes(const dp_params *p) {
  if (p->problem == DP_PARTITION) return 5 * sizeof(double);
  if (p->problem == DP_NUSSINOV) return dp_posts(p) < INT16_MAX ? sizeof(int16_t) : sizeof(int32_t);
  return 8;
}

/** Bytes that each rank keeps at least, on its card or host: half a square of intervals; four rows
 *  of a sweep; of a wavefront little. */
static double rank_bytes(const dp_params *p) {
  const double posts = (double)dp_posts(p);
  if (p->engine == DP_INTERVAL) return posts * posts / 2 * interval_bytes(p);
  return p->engine == DP_ROWS ? 4 * (double)dp_width(p) * sizeof(int32_t) : 0;
}

static tsl_err check_rank(const dp_params *p, const tsl_limits *limits) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  if (limits->keep_bytes > 0 && rank_bytes(p) > (double)limits->keep_bytes)
    TSL_FAIL(TSL_ERR_INPUT,
             "dp: this table needs %s on each rank, which may use %s (run.host_memory; of a card "
             "run.device_memory)",
             tsl_bytes_text(rank_bytes(p), need), tsl_bytes_text((double)limits->keep_bytes, have));
done:
  return err;
}

/* ---- memory of a recovery */

/** Stages of a recovery. */
typedef struct stage_range {
  double least, most;
  bool fits;
} stage_range;

/** Sweeps keep all decisions, or on one rank those of one stage in half of the budget, and the rows
 *  between stages in the other; halos would be missing on more. */
static stage_range stages_in(const dp_params *p, dp_space_ranks ranks, double budget, bool halves) {
  const double columns = ceil((double)dp_width(p) / (double)ranks.n);
  const double all = (double)p->n * columns * dp_space_cell_bits(p) / 8;
  stage_range s = {.least = ceil(2 * all / budget)};
  if (p->engine == DP_WAVEFRONT) {
    const dp_space space = dp_space_plan(p, ranks, budget, halves);
    return (stage_range){space.least, space.most, space.fits};
  }
  s.most = ranks.n > 1 ? 0 : floor(budget / 2 / (columns * dp_space_state_bytes(p) + 64));
  if (s.least < 1) s.least = 1;
  if (all <= budget) s = (stage_range){.least = 1, .most = (double)p->n};
  s.fits = s.least <= s.most;
  return s;
}

/** Bytes that the device with least has for a recovery; HUGE_VAL: not known. */
static double device_room(const dp_params *p, const tsl_limits *limits) {
  double room = limits->keep_bytes > 0 ? (double)limits->keep_bytes : HUGE_VAL;
  if (p->host && limits->host_bytes > 0 && (double)limits->host_bytes < room)
    room = (double)limits->host_bytes;
  return room;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

/** A sweep keeps all decisions where the deck's memory has room for them; so must the device. */
static tsl_err check_decisions(const dp_params *p, int64_t ranks, double room) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  const double all =
      ceil((double)dp_width(p) / (double)ranks) * (double)p->n * dp_space_cell_bits(p) / 8;
  if (p->engine == DP_ROWS && all <= (double)p->budget && all > room)
    TSL_FAIL(TSL_ERR_INPUT,
             "dp.memory: the decisions of this table need %s on each rank, which may use %s "
             "(run.host_memory; of a card run.device_memory); with less dp.memory one rank keeps "
             "rows and decides again",
             tsl_bytes_text(all, need), tsl_bytes_text(room, have));
done:
  return err;
}

/** One row and the left edges must fit the disk, whatever the memory. */
static tsl_err check_rows(const dp_params *p, dp_space_ranks ranks) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  const double least = dp_space_least_rows(p, ranks);
  if (p->engine == DP_WAVEFRONT && p->special_rows > 0 && (double)p->special_rows < least)
    TSL_FAIL(TSL_ERR_INPUT,
             "dp.special_rows.size: %s for each rank is too little: one row of its columns and the "
             "left edge of all rows need %s",
             tsl_bytes_text((double)p->special_rows, have), tsl_bytes_text(least, need));
done:
  return err;
}

/** The stages that fit; an error that says how much memory is enough where none do. */
static tsl_err stages_for_memory(const dp_params *p, const tsl_limits *limits, int64_t ranks,
                                 stage_range *s) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  const dp_space_ranks shared = {ranks, limits->widest};
  const double room = device_room(p, limits);
  double enough = smaller((double)p->budget, room);
  TSL_TRY(check_decisions(p, ranks, room));
  TSL_TRY(check_rows(p, shared));
  const bool halves = !(room < (double)p->budget); /* ranks halve regions by dp.memory alone */
  *s = stages_in(p, shared, enough, halves);
  if (s->fits) return TSL_OK;
  for (stage_range t = *s; !t.fits; t = stages_in(p, shared, enough, halves)) enough *= 1.05;
  enough *= 1.01;
  if (enough > room)
    TSL_FAIL(
        TSL_ERR_INPUT,
        "dp.mode: to recover the solution of this table each of %lld rank%s needs about %s and "
        "may use %s (run.host_memory; of a card run.device_memory); use more ranks, less "
        "dp.memory, or mode value",
        (long long)ranks, ranks == 1 ? "" : "s", tsl_bytes_text(enough, need),
        tsl_bytes_text(room, have));
  TSL_FAIL(TSL_ERR_INPUT,
           "dp.memory: %s for each rank is too little to recover the solution of this table; about "
           "%s is needed with %lld rank%s",
           tsl_bytes_text((double)p->budget, have), tsl_bytes_text(enough, need), (long long)ranks,
           ranks == 1 ? "" : "s");
done:
  return err;
}

/* ---- strips and stages */

/** How a table is cut. */
typedef struct shape {
  int64_t ranks, lanes, stages;
  bool alone; /* one rank, and no wish for tiles */
} shape;

static void choose_lanes(const dp_params *p, const tsl_limits *limits, shape *s) {
  const int64_t of_rank = p->engine == DP_ROWS ? SWEEP_LANES_OF_RANK : LANES_OF_RANK;
  s->ranks = tsl_max(limits->n_ranks, 1);
  s->alone = s->ranks == 1 && !limits->given;
  s->lanes = s->ranks * of_rank;
  if (s->alone) s->lanes = p->engine == DP_ROWS ? 1 : tsl_max(dp_width(p) / ALONE_COLUMNS, 1);
  if (limits->given) s->lanes = tsl_min(limits->target_units, MOST_WISHED);
  s->lanes = tsl_min(s->lanes, DP_MAX_LANES);
}

/** Stages that keep the table's tiles small. */
static int64_t stages_for_slabs(const dp_params *p, const tsl_limits *limits, int64_t lanes) {
  const double room = (double)tsl_min(tsl_max(limits->slab_bytes, 1), SLAB_BYTES);
  const double tile =
      ceil((double)dp_width(p) / (double)lanes) * (double)p->n * (double)dp_units_value_bytes(p);
  return p->mode == DP_TABLE ? (int64_t)tsl_min((int64_t)ceil(tile / room), p->n) : 1;
}

static tsl_err choose_stages(const tsl_problem *problem, const tsl_limits *limits, shape *s) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  stage_range fit = {1, (double)p->n, true};
  s->stages = dp_cut_stages(s->ranks, p->engine == DP_WAVEFRONT ? limits->pipeline_fill : 0,
                            limits->overlap);
  s->stages = tsl_max(s->stages, stages_for_slabs(p, limits, s->lanes));
  if (p->mode == DP_RECOVER) TSL_TRY(stages_for_memory(p, limits, s->ranks, &fit));
  if ((double)s->stages > fit.most) s->stages = (int64_t)fit.most;
  if ((double)s->stages < fit.least) s->stages = (int64_t)fit.least;
done:
  return err;
}

/** Items of a knapsack until their halo is too wide. */
static tsl_err sack_ends(const tsl_problem *problem, const shape *s, dp_ends *e) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const int64_t *weights = problem->fields[DP_A].data;
  const int64_t most = (p->m + 1) / s->ranks / HALO;
  int64_t begin = 0, halo = 0;
  TSL_TRY(tsl_alloc(p->n, sizeof *e->at, "tiles", (void **)&e->at));
  for (int64_t i = 0; i < p->n; i++) {
    const int64_t more = weights[i] <= p->m ? weights[i] : 0;
    if (i > begin && (halo + more > most || i - begin == SWEEP_ROWS))
      e->at[e->n++] = i, begin = i, halo = 0;
    halo += more;
  }
  e->at[e->n++] = p->n;
done:
  return err;
}

/** An unbounded knapsack whose values alone are asked for takes the items of a stage together, from
 *  one row in memory to the next; with decisions, or the table, one after another. */
static bool takes_together(const dp_params *p) {
  return p->problem == DP_KNAPSACK_UNBOUNDED && p->mode == DP_VALUE;
}

/** Stages of a sweep on several ranks, or with tiles that the user wants. */
static int64_t sweep_stages(const dp_params *p, int64_t ranks, int64_t rows) {
  if (p->problem == DP_BINOMIAL) return tsl_divide_up(rows, SWEEP_ROWS);
  if (!takes_together(p) || rows == 0) return rows;
  return tsl_min(rows, dp_cut_stages(ranks, (double)COPY_ITEMS / (double)rows, false));
}

/** Rows of the stages, counted from the first row that is computed. */
static tsl_err row_ends(const tsl_problem *problem, const shape *s, dp_ends *e) {
  const dp_params *p = dp_params_of(problem);
  const int64_t rows = p->problem == DP_STAGECOACH ? p->n - 1 : p->n;
  const bool sweeps = p->engine == DP_ROWS && !s->alone;
  const dp_cut c = sweeps ? dp_cut_make(rows, sweep_stages(p, s->ranks, rows), 1)
                          : dp_cut_make(rows, s->stages, STAGE_QUANTUM);
  return sweeps && p->problem == DP_KNAPSACK ? sack_ends(problem, s, e) : dp_cut_ends(&c, e);
}

static tsl_err column_ends(const dp_params *p, const shape *s, int64_t stages, dp_ends *e) {
  tsl_err err = TSL_OK;
  int64_t lanes = s->lanes, n = 0;
  if (p->engine == DP_ROWS && stages > FEW_TILES / lanes)
    lanes = tsl_max(s->ranks, FEW_TILES / stages);
  const dp_cut c = dp_cut_make(dp_width(p), lanes, LANE_QUANTUM);
  if (!tsl_mul_i64(stages, c.pieces, &n) || n > MOST_TILES)
    TSL_FAIL(TSL_ERR_INPUT, "dp: %lld stages of %lld tiles are too many; use fewer ranks",
             (long long)stages, (long long)c.pieces);
  TSL_TRY(dp_cut_ends(&c, e));
done:
  return err;
}

/** LOCAL: cells that are left out take a part of the time. */
static void leave_out(const dp_params *p, const tsl_limits *limits, const dp_needed *needed,
                      tsl_units *units) {
  const bool sockets = limits->device_bytes == INT64_MAX;
  const double left_out = sockets ? LEFT_OUT : LEFT_OUT_CARDS;
  for (int64_t k = 0; k < units->n; k++) {
    tsl_unit *u = &units->list[k];
    const double part = dp_needed_part(p, needed, u->lo, u->hi);
    u->count *= part + (1 - part) * left_out;
    u->flops = u->count;
  }
}

/* ---- what the way back computes again */

/** Of a wavefront's tiles; the ranks' columns are taken to be as many. */
static tsl_err wave_again(const dp_params *p, const tsl_limits *limits, const shape *s,
                          const dp_ends *rows, const tsl_units *units, double *again) {
  tsl_err err = TSL_OK;
  double *cells = NULL;
  TSL_TRY(tsl_alloc(rows->n * s->ranks, sizeof *cells, "plan of the way back", (void **)&cells));
  dp_space_again(p, rows, s->ranks, limits->device_bytes == INT64_MAX, cells);
  for (int64_t k = 0; k < units->n; k++) {
    const tsl_unit *u = &units->list[k];
    const double middle = (double)(u->lo[1] + u->hi[1]) / 2;
    const int64_t rank = (int64_t)(middle / (double)p->m * (double)s->ranks);
    const int64_t band = /* 0 of a table with fewer columns than ranks: no cells are its */
        dp_space_column(p, s->ranks, rank + 1) - dp_space_column(p, s->ranks, rank);
    const double part = (double)(u->hi[1] - u->lo[1]) / (double)tsl_max(band, 1);
    again[k] = cells[u->stage * s->ranks + rank] * part / u->count;
  }
done:
  tsl_free(cells);
  return err;
}

/** Sweeps make all decisions again where these are too many to be kept. */
static void sweep_again(const dp_params *p, const tsl_units *units, double *again) {
  const double all = (double)p->n * (double)dp_width(p) * dp_space_cell_bits(p) / 8;
  for (int64_t k = 0; k < units->n; k++) again[k] = all > (double)p->budget ? 1 : 0;
}

static tsl_err count_again(const tsl_problem *problem, const tsl_limits *limits, const shape *s,
                           const dp_ends *rows, const tsl_units *units) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  double sum = 0;
  tsl_free(own->again);
  own->again = NULL, own->all_again = 0;
  if (p->mode != DP_RECOVER) return TSL_OK;
  TSL_TRY(tsl_alloc(units->n, sizeof *own->again, "plan of the way back", (void **)&own->again));
  if (p->engine == DP_WAVEFRONT)
    TSL_TRY(wave_again(p, limits, s, rows, units, own->again));
  else
    sweep_again(p, units, own->again);
  for (int64_t k = 0; k < units->n; k++) sum += own->again[k] * units->list[k].count;
  own->all_again = sum / (double)p->n / (double)dp_width(p);
done:
  return err;
}

double dp_traceback_part(const tsl_problem *problem, const tsl_unit *unit) {
  const double *again = dp_own_of(problem)->again;
  return again != NULL ? again[unit->id] : 0;
}

static tsl_err strips(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  shape s;
  dp_ends rows = {0}, columns = {0};
  choose_lanes(p, limits, &s);
  TSL_TRY(choose_stages(problem, limits, &s));
  TSL_TRY(check_rank(p, limits));
  TSL_TRY(row_ends(problem, &s, &rows));
  TSL_TRY(column_ends(p, &s, rows.n, &columns));
  TSL_TRY(tsl_alloc(rows.n * columns.n, sizeof *units->list, "tiles", (void **)&units->list));
  dp_cut_tiles(&rows, &columns, p->problem == DP_STAGECOACH ? 1 : 0, units);
  for (int64_t k = 0; k < units->n; k++) dp_units_set_features(p, &units->list[k]);
  if (own->needed != NULL) leave_out(p, limits, own->needed, units);
  TSL_TRY(count_again(problem, limits, &s, &rows, units));
  tsl_free(own->lane_end);
  own->lane_end = columns.at, own->n_lanes = rows.n > 0 ? columns.n : 0;
  columns.at = NULL;
done:
  TSL_FREE_ALL(rows.at, columns.at);
  return err;
}

/* ---- the triangle */

/** The root keeps the whole table to recover a solution, beside its own part where no rank drives a
 *  card. */
static tsl_err check_triangle(const dp_params *p, const tsl_limits *limits) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  const bool sockets = limits->device_bytes == INT64_MAX;
  const double square = (double)dp_posts(p) * (double)dp_posts(p);
  const double bytes = square * (double)dp_units_value_bytes(p) + (sockets ? rank_bytes(p) : 0);
  if (p->mode == DP_RECOVER && limits->host_bytes > 0 && bytes > (double)limits->host_bytes)
    TSL_FAIL(TSL_ERR_INPUT,
             "dp.mode: to recover the solution of this table rank 0 needs %s and may use %s "
             "(run.host_memory)",
             tsl_bytes_text(bytes, need), tsl_bytes_text((double)limits->host_bytes, have));
  TSL_TRY(check_rank(p, limits));
done:
  return err;
}

/** Tiles of a diagonal, as the next stage. */
static void fill_diagonal(const dp_params *p, int64_t d, int64_t stage, int64_t sweep,
                          tsl_units *units) {
  const int64_t posts = dp_posts(p);
  for (int64_t a = 0; a + d * DP_BOX < posts; a += DP_BOX) {
    tsl_unit *u = &units->list[units->n];
    const int64_t b = a + d * DP_BOX;
    *u = (tsl_unit){.id = units->n, .stage = stage, .lane = units->n, .kind = d > 0};
    u->lo[0] = a, u->hi[0] = tsl_min(a + DP_BOX, posts);
    u->lo[1] = b, u->hi[1] = tsl_min(b + DP_BOX, posts);
    u->lo[2] = sweep, u->hi[2] = sweep + 1;
    dp_units_set_features(p, u);
    units->n++;
  }
}

static tsl_err triangle(const dp_params *p, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  const int64_t boxes = tsl_divide_up(dp_posts(p), DP_BOX), n = boxes * (boxes + 1) / 2;
  const bool outside = p->problem == DP_PARTITION && p->mode != DP_VALUE;
  TSL_TRY(check_triangle(p, limits));
  TSL_TRY(tsl_alloc(outside ? 2 * n : n, sizeof *units->list, "tiles", (void **)&units->list));
  for (int64_t d = 0; d < boxes; d++) fill_diagonal(p, d, d, 0, units);
  for (int64_t d = boxes - 1; d >= 0 && outside; d--)
    fill_diagonal(p, d, 2 * boxes - 1 - d, 1, units);
done:
  return err;
}

/* ---- for the runtime */

tsl_err dp_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  const dp_params *p = dp_params_of(problem);
  *units = (tsl_units){0};
  if (p->problem == DP_RECURRENCE) return dp_recur_units(problem, limits, units);
  if (p->engine == DP_INTERVAL) return triangle(p, limits, units);
  if (p->n == 0 || (p->engine == DP_WAVEFRONT && p->m == 0)) return TSL_OK;
  if (p->problem == DP_BINOMIAL && p->mode == DP_VALUE && p->m > p->n) return TSL_OK;
  dp_own_of(problem)->n_lanes = 0;
  if (dp_own_of(problem)->attempts.certain) return TSL_OK;
  const tsl_err err = strips(problem, limits, units);
  return err == TSL_ERR_INPUT && problem->shortcut ? TSL_OK : err;
}

/** About `fraction` of the cost of whole. */
static void shrink(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                   tsl_unit *out) {
  const dp_params *p = dp_params_of(problem);
  const int64_t rows = whole->hi[0] - whole->lo[0], columns = whole->hi[1] - whole->lo[1];
  if (p->engine == DP_INTERVAL) { /* a tile nearer to the diagonal */
    const int64_t distance = (whole->lo[1] - whole->lo[0]) / DP_BOX;
    const int64_t nearer = tsl_max((int64_t)ceil(fraction * (double)distance), distance > 0);
    out->lo[1] = whole->lo[0] + nearer * DP_BOX;
    out->hi[1] = tsl_min(out->lo[1] + DP_BOX, dp_posts(p));
    out->lo[2] = 0, out->hi[2] = 1;
  } else if (takes_together(p) && rows > 1) {
    /* blocks of columns are as wide as the lightest item is heavy: some items would be faster */
    out->hi[1] = whole->lo[1] + tsl_max((int64_t)ceil(fraction * (double)columns), 1);
  } else {
    out->hi[0] = whole->lo[0] + tsl_max((int64_t)ceil(fraction * (double)rows), 1);
  }
}

void dp_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out) {
  const dp_params *p = dp_params_of(problem);
  *out = *whole;
  if (p->problem == DP_RECURRENCE) {
    if (fraction < 1) dp_recur_sample(problem, whole, fraction, out);
    return;
  }
  if (fraction < 1) shrink(problem, whole, fraction, out);
  dp_units_set_features(p, out); /* calibrations leave no cells out */
}
