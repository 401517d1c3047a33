/** @file dp_recur_cpu.c  The worker of a recurrence on a socket, and its compiled code. */
#include "dp_recur_cpu.h"

#include <string.h>

/* ---- compiling for the job */

static bool needs_code(const tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  return p->problem == DP_RECURRENCE && p->interpret == 0 && p->n >= 0 && p->m >= 0;
}

tsl_err dp_recur_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  dp_recur *recur = NULL;
  char *text = NULL;
  if (!needs_code(problem)) return TSL_OK;
  TSL_TRY(dp_recur_open(problem, &recur));
  TSL_TRY(dp_emit(recur->recurrence, DP_TARGET_C, &recur->code, &text));
  TSL_TRY(lang_cpu_prepare(problem, text, &dp_purpose, devices, n));
done:
  dp_recur_close(&recur);
  tsl_free(text);
  return err;
}

/* ---- open */

static tsl_err find_functions(dp_recur_cpu *r) {
  tsl_err err = TSL_OK;
  void *address = NULL;
  switch ((dp_engine)r->recur->code.engine) {
  case DP_WAVEFRONT:
    TSL_TRY(lang_object_find(r->object, "tsl_dp_wave", &address));
    r->wave = (dp_wave_fn *)address;
    TSL_TRY(lang_object_find(r->object, "tsl_dp_edge", &address));
    r->edge = (dp_edge_fn *)address;
    break;
  case DP_ROWS:
    TSL_TRY(lang_object_find(r->object, "tsl_dp_row", &address));
    r->row = (dp_row_fn *)address;
    break;
  default:
    TSL_TRY(lang_object_find(r->object, "tsl_dp_tile", &address));
    r->tile = (dp_tile_fn *)address;
    break;
  }
done:
  return err;
}

static tsl_err load_code(dp_recur_cpu *r, const tsl_problem *problem, const tsl_device *device) {
  tsl_err err = TSL_OK;
  if (!needs_code(problem)) return TSL_OK;
  TSL_TRY(lang_cpu_load(problem, device, &r->object));
  TSL_TRY(find_functions(r));
done:
  return err;
}

/** Cells that the goal may choose, in folded rows and columns. */
static void set_choice(dp_recur_cpu *r) {
  const dp_code *c = &r->recur->code;
  const dp_equation *e = &r->recur->recurrence->equation;
  const lang_table *t = &e->names.tables[0];
  int64_t p, q;
  if (e->goal == DP_GOAL_EXPR) return;
  r->choice = (dp_area){.p1 = c->P, .q1 = c->Q};
  if (e->goal == DP_GOAL_ALL) return;
  dp_code_fold(c, t->rows - 1, t->cols - 1, &p, &q);
  if ((e->goal == DP_GOAL_ROW) == (c->fold.transpose != 0))
    r->choice.q0 = q, r->choice.q1 = q + 1;
  else
    r->choice.p0 = p, r->choice.p1 = p + 1;
}

static tsl_err take_memory(dp_recur_cpu *r) {
  tsl_err err = TSL_OK;
  const dp_code *c = &r->recur->code;
  const int64_t rows = c->engine == DP_ROWS && c->depth > 0 ? c->depth + 1 : c->P;
  void *memory = NULL;
  TSL_TRY(tsl_alloc(r->recur->n_wanted, sizeof *r->wanted, "goal", &memory));
  r->wanted = memory;
  TSL_TRY(tsl_alloc(c->engine == DP_WAVEFRONT ? c->Q : rows * c->Q, (size_t)r->bytes,
                    "rows of the table", &memory));
  if (c->engine == DP_WAVEFRONT)
    r->top = memory;
  else
    r->table = memory;
done:
  return err;
}

tsl_err dp_recur_cpu_open(tsl_worker *w, const tsl_device *device) {
  tsl_err err = TSL_OK;
  dp_recur_cpu *r = NULL;
  void *memory = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *r, "recurrence", &memory));
  r = w->recur = memory;
  r->pattern = (dp_pattern)w->dp.c.p->pattern;
  r->kept = dp_field(w->dp.c.problem, "kept");
  TSL_TRY(dp_recur_open(w->dp.c.problem, &r->recur));
  r->bytes = dp_code_bytes(&r->recur->code);
  r->step = r->bytes / r->recur->code.values;
  TSL_TRY(load_code(r, w->dp.c.problem, device));
  set_choice(r);
  TSL_TRY(take_memory(r));
done:
  return err;
}

void dp_recur_cpu_close(tsl_worker *w) {
  dp_recur_cpu *r = w->recur;
  if (r == NULL) return;
  dp_recur_wave_clear(r);
  dp_recur_close(&r->recur);
  lang_object_close(&r->object);
  TSL_FREE_ALL(r->wanted, r->top, r->table, r);
  w->recur = NULL;
}

tsl_err dp_recur_cpu_begin(tsl_worker *w) {
  dp_recur_cpu *r = w->recur;
  if (r->recur->n_wanted > 0) memset(r->wanted, 0, (size_t)r->recur->n_wanted * sizeof *r->wanted);
  r->best = (dp_recur_best){0, -1, -1, 0};
  r->front = dp_recur_front_begin();
  dp_recur_wave_clear(r);
  return TSL_OK;
}

/* ---- tiles */

/** The best so far to the slabs of tiles that give one. */
static void give_best(const tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  const dp_recur_cpu *r = w->recur;
  int64_t lo[3], hi[3];
  for (int64_t k = 0; w->dp.c.best >= 0 && k < n; k++) {
    int64_t *row = parts[k].slab[w->dp.c.best];
    w->dp.c.problem->family->region(w->dp.c.problem, &units[k], w->dp.c.best, lo, hi);
    if (hi[0] == lo[0]) continue;
    row[0] = r->best.bits, row[1] = r->best.i, row[2] = r->best.j, row[3] = r->best.layer;
  }
}

static tsl_err run_engine(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_engine engine = (dp_engine)w->dp.c.p->engine;
  if (engine == DP_INTERVAL) return dp_recur_boxes_run(w, units, n, parts);
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_units_end(units, n, k);
    TSL_TRY((engine == DP_ROWS ? dp_recur_rows_run : dp_recur_wave_run)(w, units + k, end - k,
                                                                        parts + k));
  }
done:
  return err;
}

tsl_err dp_recur_cpu_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  TSL_TRY(run_engine(w, units, n, parts));
  for (int64_t k = 0; k < n; k++) dp_recur_front_add(&w->recur->front, &units[k]);
  for (int64_t k = 0; k < n; k++) dp_recur_cpu_keep(w, &units[k], &parts[k]);
  give_best(w, units, n, parts);
  dp_cpu_spread(w, start, units, n, parts);
done:
  return err;
}

/** Columns of a row that pass between this rank's part [from, to) and others: whole lanes. */
typedef struct passage {
  int64_t lo, hi;
  bool in;
} passage;

static void find_passages(const tsl_worker *w, const tsl_unit *first, int64_t from, int64_t to,
                          passage list[4]) {
  const int64_t *reach = w->dp.c.p->reach, width = w->recur->recur->code.Q;
  const int64_t lane = first->hi[1] - first->lo[1];
  const int64_t left = reach[0] > 0 && reach[0] < lane ? lane : reach[0];
  const int64_t right = reach[1] > 0 && reach[1] < lane ? lane : reach[1];
  const int64_t before = from < left ? from : left;
  const int64_t after = width - to < right ? width - to : right;
  const int64_t own = to - from;
  list[0] = (passage){to - (to == width ? 0 : own < left ? own : left), to, false};
  list[1] = (passage){from, from + (from == 0 ? 0 : own < right ? own : right), false};
  list[2] = (passage){from - before, from, true};
  list[3] = (passage){to, to + after, true};
}

/** A sweep's row after a stage: edges of this rank's part out, those of others in, through memory
 *  of its own. In a run that is what keeps the cells out of caches.
 *  @param[in,out] edges  those of the stage before, which may be on their way still; NULL: none */
static tsl_err exchange_row(tsl_worker *w, const tsl_unit *first, const tsl_unit *last,
                            char **edges) {
  tsl_err err = TSL_OK;
  passage list[4];
  char *all = NULL, *at = NULL;
  tsl_unit part = *first;
  int64_t bytes[4], sum = 0;
  find_passages(w, first, first->lo[1], last->hi[1], list);
  for (int k = 0; k < 4; k++) {
    part.lo[1] = list[k].lo, part.hi[1] = list[k].hi;
    sum += bytes[k] = w->dp.c.problem->family->edge_bytes(w->dp.c.problem, &part);
  }
  TSL_TRY(tsl_alloc(sum, 1, "edges of a trial", (void **)&all));
  at = all;
  for (int k = 0; k < 4; k++) {
    part.lo[1] = list[k].lo, part.hi[1] = list[k].hi;
    if (list[k].in) memset(at, 0, (size_t)bytes[k]); /* arrives: fresh pages become real ones */
    TSL_TRY(list[k].in ? dp_recur_cpu_edge_in(w, &part, at) : dp_recur_cpu_edge_out(w, &part, at));
    at += bytes[k];
  }
done:
  tsl_free(*edges);
  *edges = all;
  return err;
}

/** Is the row that a stage ends with shared with other ranks? */
static bool shares_rows(const tsl_worker *w, const tsl_unit *first, const tsl_unit *last) {
  return w->dp.c.p->engine == DP_ROWS && last->hi[1] - first->lo[1] < w->recur->recur->code.Q;
}

tsl_err dp_recur_cpu_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  char *edges = NULL;
  w->recur->trial = true;
  for (int64_t k = 0, end; k < n; k = end) { /* boxes may need others */
    end = w->dp.c.p->engine == DP_INTERVAL ? k + 1 : dp_units_end(units, n, k);
    TSL_TRY(dp_recur_cpu_tiles(w, &units[k], end - k, &parts[k]));
    if (shares_rows(w, &units[k], &units[end - 1]))
      TSL_TRY(exchange_row(w, &units[k], &units[end - 1], &edges));
  }
done:
  tsl_free(edges);
  w->recur->trial = false;
  return err;
}

/* ---- edges, the goal's cells */

tsl_err dp_recur_cpu_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  if (w->dp.c.p->engine == DP_WAVEFRONT) return dp_recur_wave_edge_out(w->recur, unit, bytes);
  if (w->dp.c.p->engine == DP_ROWS)
    dp_recur_rows_edge_out(w->recur, unit, bytes);
  else
    dp_recur_boxes_edge_out(w->recur, unit, bytes);
  return TSL_OK;
}

tsl_err dp_recur_cpu_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  if (w->dp.c.p->engine == DP_WAVEFRONT) return dp_recur_wave_edge_in(w->recur, unit, bytes);
  if (w->dp.c.p->engine == DP_ROWS)
    dp_recur_rows_edge_in(w->recur, unit, bytes);
  else
    dp_recur_boxes_edge_in(w->recur, unit, bytes);
  return TSL_OK;
}

void dp_recur_cpu_collect(const tsl_worker *w, tsl_problem *problem) {
  const dp_recur_cpu *r = w->recur;
  const int wanted = dp_field(problem, "wanted");
  if (wanted >= 0 && r->recur->n_wanted > 0)
    memcpy(problem->fields[wanted].data, r->wanted, (size_t)r->recur->n_wanted * sizeof *r->wanted);
}
