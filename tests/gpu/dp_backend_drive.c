/* Backends of dp driven as the runtime drives them. */
#include "dp_backend_drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t dp_dice(uint64_t *seed, int64_t n) {
  uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

/* ---- problems */

tsl_err dp_made_open(const char *section, int ranks, int64_t wish, dp_made *made) {
  tsl_err err = TSL_OK;
  static char text[65536];
  const tsl_limits limits = {.slab_bytes = 1 << 16,
                             .device_bytes = INT64_MAX,
                             .target_units = wish > 0 ? wish : 512,
                             .n_ranks = ranks,
                             .given = wish > 0};
  const int n = snprintf(text, sizeof text, "family: dp\ndp:\n%s", section);
  *made = (dp_made){.problem.family = &tsl_family_dp};
  TSL_TRY(tsl_deck_parse(text, (size_t)n, "d.yaml", NULL, 0, &made->deck));
  TSL_TRY(tsl_family_dp.create(made->deck, &made->problem));
  TSL_TRY(tsl_family_dp.units(&made->problem, &limits, &made->units));
done:
  return err;
}

void dp_made_close(dp_made *made) {
  tsl_family_dp.destroy(&made->problem);
  tsl_problem_clear(&made->problem);
  tsl_deck_destroy(&made->deck);
  tsl_free(made->units.list);
}

int64_t dp_lanes(const dp_made *made) {
  int64_t most = 0;
  for (int64_t u = 0; u < made->units.n; u++)
    if (made->units.list[u].lane >= most) most = made->units.list[u].lane + 1;
  return most;
}

/* ---- a run */

/** Tiles that are started and not finished. */
typedef struct begun {
  int64_t *ids, n; /* the runtime's ids, as units and parts */
  tsl_unit *units;
  tsl_part *parts;
  char *table, *best; /* slabs */
} begun;

typedef struct run {
  dp_made *made;
  const dp_drive *drive;
  dp_outcome *out;
  tsl_worker *workers[DP_SEATS];
  const int *owner; /* [lanes] */
  bool *taken;      /* [placements][n_units] edge has gone in */
  int table, best, kept;
  const bool *needed; /* [n_units] edges that other placements need */
  begun begun[DP_SEATS][TSL_MOST_STARTED];
  int n_begun[DP_SEATS];
} run;

static const tsl_unit *unit_of(const run *r, int64_t id) {
  return &r->made->units.list[id];
}

static int owner_of(const run *r, int64_t id) {
  return r->owner[unit_of(r, id)->lane];
}

static const tsl_backend *backend_of(const run *r, int placement) {
  return r->drive->placements[placement].backend;
}

/** Every field's array in memory, on the root. */
static tsl_err open_fields(run *r) {
  tsl_err err = TSL_OK;
  tsl_problem *problem = &r->made->problem;
  for (int f = 0; f < problem->n_fields; f++) {
    tsl_field *field = &problem->fields[f];
    if (!(field->role & TSL_OUT) || field->combine == TSL_LIST) continue;
    tsl_free(field->data);
    field->data = NULL;
    TSL_TRY(tsl_alloc(tsl_field_count(field), tsl_type_bytes((tsl_type)field->type), field->name,
                      &field->data));
  }
done:
  return err;
}

static int64_t region_bytes(const run *r, const tsl_unit *unit, int field) {
  int64_t lo[3], hi[3];
  const tsl_problem *problem = &r->made->problem;
  problem->family->region(problem, unit, field, lo, hi);
  return (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) *
         (int64_t)tsl_type_bytes((tsl_type)problem->fields[field].type);
}

/** Rows of a slab to the field. */
static void gather(const run *r, const tsl_unit *unit, int field, const char *slab) {
  int64_t lo[3], hi[3];
  const tsl_problem *problem = &r->made->problem;
  const tsl_field *to = &problem->fields[field];
  problem->family->region(problem, unit, field, lo, hi);
  const int64_t each = (hi[2] - lo[2]) * (int64_t)tsl_type_bytes((tsl_type)to->type);
  for (int64_t i = lo[0]; i < hi[0]; i++)
    memcpy((char *)to->data + (i * to->shape[1] + lo[1]) * each,
           slab + (i - lo[0]) * (hi[1] - lo[1]) * each, (size_t)((hi[1] - lo[1]) * each));
}

/** Memory for the slabs of a group, unit after unit. */
static tsl_err open_slabs(const run *r, int placement, int field, const tsl_unit *units, int64_t n,
                          tsl_part *parts, char **memory) {
  tsl_err err = TSL_OK;
  const tsl_backend *backend = backend_of(r, placement);
  int64_t bytes = 0;
  *memory = NULL;
  if (field < 0) return TSL_OK;
  for (int64_t k = 0; k < n; k++) bytes += region_bytes(r, &units[k], field);
  if (backend->host_alloc != NULL)
    TSL_TRY(backend->host_alloc(bytes, (void **)memory));
  else
    TSL_TRY(tsl_alloc(bytes, 1, "slabs", (void **)memory));
  if (bytes > 0) memset(*memory, 0x5a, (size_t)bytes);
  bytes = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t own = region_bytes(r, &units[k], field);
    parts[k].slab[field] = own > 0 ? *memory + bytes : NULL;
    bytes += own;
  }
done:
  return err;
}

static void close_slabs(const run *r, int placement, char *memory) {
  const tsl_backend *backend = backend_of(r, placement);
  if (backend->host_alloc != NULL)
    backend->host_free(memory);
  else
    tsl_free(memory);
}

/** Tiles of one call, with their slabs. */
static tsl_err call_tiles(run *r, int placement, const tsl_unit *units, int64_t n, bool trial) {
  tsl_err err = TSL_OK;
  const tsl_backend *backend = backend_of(r, placement);
  char *table = NULL, *best = NULL, *kept = NULL;
  tsl_part *parts = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *parts, "parts", (void **)&parts));
  TSL_TRY(open_slabs(r, placement, r->table, units, n, parts, &table));
  TSL_TRY(open_slabs(r, placement, r->best, units, n, parts, &best));
  TSL_TRY(open_slabs(r, placement, r->kept, units, n, parts, &kept));
  TSL_TRY((trial ? backend->run : backend->tiles)(r->workers[placement], units, n, parts));
  for (int64_t k = 0; k < n; k++) {
    if (!(parts[k].seconds >= 0)) TSL_FAIL(TSL_ERR_INTERNAL, "a tile without seconds");
    if (trial) continue;
    if (r->table >= 0) gather(r, &units[k], r->table, parts[k].slab[r->table]);
    if (r->best >= 0) gather(r, &units[k], r->best, parts[k].slab[r->best]);
    if (r->kept >= 0) gather(r, &units[k], r->kept, parts[k].slab[r->kept]);
  }
done:
  close_slabs(r, placement, table);
  close_slabs(r, placement, best);
  close_slabs(r, placement, kept);
  tsl_free(parts);
  return err;
}

/* ---- edges */

static int64_t predecessors(const run *r, int64_t id, int64_t *list, int64_t room) {
  const tsl_problem *problem = &r->made->problem;
  return problem->family->predecessors(problem, r->made->units.list, r->made->units.n, id, list,
                                       room);
}

static tsl_err end_first(run *r, int placement);

static tsl_err take_edges(run *r, int placement, int64_t id, int64_t *list) {
  tsl_err err = TSL_OK;
  const int64_t n_units = r->made->units.n, n = predecessors(r, id, list, n_units);
  for (int64_t k = 0; k < n; k++) {
    bool *taken = &r->taken[placement * n_units + list[k]];
    if (owner_of(r, list[k]) == placement || *taken) continue;
    while (r->out->edges[list[k]] == NULL && r->n_begun[owner_of(r, list[k])] > 0)
      TSL_TRY(end_first(r, owner_of(r, list[k])));
    if (r->out->edges[list[k]] == NULL)
      TSL_FAIL(TSL_ERR_INTERNAL, "edge %lld is not there", (long long)list[k]);
    TSL_TRY(backend_of(r, placement)
                ->edge_in(r->workers[placement], unit_of(r, list[k]), r->out->edges[list[k]]));
    *taken = true;
  }
done:
  return err;
}

static tsl_err give_edge(run *r, int placement, int64_t id) {
  tsl_err err = TSL_OK;
  const tsl_problem *problem = &r->made->problem;
  const int64_t bytes = problem->family->edge_bytes(problem, unit_of(r, id));
  void *edge = calloc((size_t)bytes + 1, 1);
  r->out->edges[id] = edge;
  r->out->edge_bytes[id] = bytes;
  TSL_TRY(backend_of(r, placement)->edge_out(r->workers[placement], unit_of(r, id), edge));
done:
  return err;
}

/* ---- tiles of two stages at once */

static bool overlaps(const run *r, int placement) {
  const tsl_backend *backend = backend_of(r, placement);
  return r->drive->overlap && backend->start != NULL &&
         (backend->overlaps == NULL || backend->overlaps(r->workers[placement]));
}

static void drop_begun(const run *r, int placement, begun *b) {
  close_slabs(r, placement, b->table);
  close_slabs(r, placement, b->best);
  tsl_free(b->ids);
  tsl_free(b->units);
  tsl_free(b->parts);
  *b = (begun){0};
}

/** Wait for the group that was started first. */
static tsl_err end_first(run *r, int placement) {
  tsl_err err = TSL_OK;
  begun b = r->begun[placement][0];
  r->begun[placement][0] = r->begun[placement][1];
  r->begun[placement][--r->n_begun[placement]] = (begun){0};
  TSL_TRY(backend_of(r, placement)->finish(r->workers[placement]));
  for (int64_t k = 0; k < b.n; k++) {
    if (!(b.parts[k].seconds >= 0)) TSL_FAIL(TSL_ERR_INTERNAL, "a tile without seconds");
    if (r->best >= 0) gather(r, &b.units[k], r->best, b.parts[k].slab[r->best]);
    if (r->needed[b.ids[k]]) TSL_TRY(give_edge(r, placement, b.ids[k]));
  }
done:
  drop_begun(r, placement, &b);
  return err;
}

static tsl_err end_all(run *r) {
  tsl_err err = TSL_OK;
  for (int s = 0; s < r->drive->n_seats; s++)
    while (r->n_begun[s] > 0) TSL_TRY(end_first(r, s));
done:
  return err;
}

static tsl_err begin_group(run *r, int placement, const int64_t *ids, int64_t n) {
  tsl_err err = TSL_OK;
  begun b = {.n = n};
  TSL_TRY(tsl_alloc(n, sizeof *b.ids, "group", (void **)&b.ids));
  TSL_TRY(tsl_alloc(n, sizeof *b.units, "group", (void **)&b.units));
  TSL_TRY(tsl_alloc(n, sizeof *b.parts, "parts", (void **)&b.parts));
  for (int64_t k = 0; k < n; k++) b.ids[k] = ids[k], b.units[k] = *unit_of(r, ids[k]);
  TSL_TRY(open_slabs(r, placement, r->table, b.units, n, b.parts, &b.table));
  TSL_TRY(open_slabs(r, placement, r->best, b.units, n, b.parts, &b.best));
  TSL_TRY(backend_of(r, placement)->start(r->workers[placement], b.units, n, b.parts));
  r->begun[placement][r->n_begun[placement]++] = b;
  b = (begun){0};
done:
  drop_begun(r, placement, &b);
  return err;
}

/** Tiles whose edges another placement needs. */
static void mark_needed(const run *r, int64_t *list, bool *needed) {
  const int64_t n_units = r->made->units.n;
  for (int64_t u = 0; u < n_units; u++) {
    const int64_t n = predecessors(r, u, list, n_units);
    for (int64_t k = 0; k < n; k++)
      if (owner_of(r, list[k]) != owner_of(r, u)) needed[list[k]] = true;
  }
}

/** Does the tile need one of another placement in its own stage? */
static bool waits(const run *r, int64_t id, int64_t *list) {
  const int64_t n = predecessors(r, id, list, r->made->units.n);
  for (int64_t k = 0; k < n; k++)
    if (owner_of(r, list[k]) != owner_of(r, id) &&
        unit_of(r, list[k])->stage == unit_of(r, id)->stage)
      return true;
  return false;
}

/* ---- stages */

/** A placement's group of tiles of a stage: edges in, tiles, edges out. */
static tsl_err run_group(run *r, int placement, const int64_t *ids, int64_t n, int64_t *list,
                         const bool *needed) {
  tsl_err err = TSL_OK;
  tsl_unit *units = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *units, "group", (void **)&units));
  while (r->n_begun[placement] == TSL_MOST_STARTED) TSL_TRY(end_first(r, placement));
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(take_edges(r, placement, ids[k], list));
    units[k] = *unit_of(r, ids[k]);
  }
  if (overlaps(r, placement)) {
    TSL_TRY(begin_group(r, placement, ids, n));
    goto done;
  }
  TSL_TRY(call_tiles(r, placement, units, n, false));
  for (int64_t k = 0; k < n; k++)
    if (needed[ids[k]]) TSL_TRY(give_edge(r, placement, ids[k]));
done:
  tsl_free(units);
  return err;
}

/** Groups are cut at the same lanes in every stage, as the runtime does. */
static bool begins_group(const run *r, int64_t id) {
  uint64_t seed = r->drive->cuts + (uint64_t)unit_of(r, id)->lane;
  return r->drive->cuts != 0 && dp_dice(&seed, 3) == 0;
}

/** Tiles first..last-1 are a stage: placements' groups, in an order in which nobody waits. */
static tsl_err run_stage(run *r, int64_t first, int64_t last, int64_t *list, const bool *needed) {
  tsl_err err = TSL_OK;
  int64_t *ids = NULL;
  bool *done_tile = NULL;
  TSL_TRY(tsl_alloc(last - first, sizeof *ids, "ids", (void **)&ids));
  TSL_TRY(tsl_alloc(last - first, sizeof *done_tile, "ids", (void **)&done_tile));
  for (int64_t u = first; u < last; u++) {
    const int placement = owner_of(r, u);
    int64_t n = 0;
    if (done_tile[u - first]) continue;
    for (int64_t v = u; v < last; v++) {
      if (owner_of(r, v) != placement || done_tile[v - first]) continue;
      if (n > 0 && (waits(r, v, list) || begins_group(r, v))) break;
      ids[n++] = v;
      done_tile[v - first] = true;
    }
    TSL_TRY(run_group(r, placement, ids, n, list, needed));
  }
done:
  tsl_free(ids);
  tsl_free(done_tile);
  return err;
}

/* ---- a checkpoint between two stages */

static tsl_err open_workers(run *r);

/** FNV-1a. */
static uint64_t digest(uint64_t before, const void *bytes, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    before = (before ^ ((const uint8_t *)bytes)[k]) * UINT64_C(0x100000001b3);
  return before;
}

/** States of tiles 0..n-1. */
static tsl_err save_all(run *r, int64_t n, int64_t stage, int64_t *bytes, void **states) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n; u++) {
    const int placement = owner_of(r, u);
    bytes[u] = backend_of(r, placement)->state_bytes(r->workers[placement], unit_of(r, u), stage);
    TSL_TRY(tsl_alloc(bytes[u], 1, "state", &states[u]));
    if (bytes[u] > 0)
      TSL_TRY(
          backend_of(r, placement)->save(r->workers[placement], unit_of(r, u), stage, states[u]));
    r->out->saved = digest(r->out->saved * 31 + (uint64_t)bytes[u], states[u], bytes[u]);
  }
  r->out->paused = true;
done:
  return err;
}

/** To a placement that owns the lanes of r->owner. Damaged bytes are refused. */
static tsl_err load_all(run *r, int placement, int64_t n, int64_t stage, const int64_t *bytes,
                        void *const *states) {
  tsl_err err = TSL_OK;
  const int64_t lanes = dp_lanes(r->made);
  uint8_t *own = NULL;
  TSL_TRY(tsl_alloc(lanes, 1, "lanes", (void **)&own));
  for (int64_t k = 0; k < lanes; k++) own[k] = r->owner[k] == placement;
  for (int64_t u = 0; u < n; u++) {
    const tsl_backend *backend = backend_of(r, placement);
    tsl_worker *worker = r->workers[placement];
    if (bytes[u] == 0) continue;
    if (backend->load(worker, unit_of(r, u), stage, own, lanes, states[u], 1) == TSL_OK)
      TSL_FAIL(TSL_ERR_INTERNAL, "a state that is cut off is taken");
    TSL_TRY(backend->load(worker, unit_of(r, u), stage, own, lanes, states[u], bytes[u]));
    r->taken[placement * r->made->units.n + u] = true;
  }
done:
  tsl_free(own);
  return err;
}

/** Tiles 0..n-1 are done: all is saved, and new workers with other lanes go on from there. */
static tsl_err move_on(run *r, int64_t n, int64_t stage) {
  tsl_err err = TSL_OK;
  int64_t *bytes = NULL;
  void **states = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *bytes, "states", (void **)&bytes));
  TSL_TRY(tsl_alloc(n, sizeof *states, "states", (void **)&states));
  TSL_TRY(save_all(r, n, stage, bytes, states));
  for (int s = 0; s < r->drive->n_seats; s++) backend_of(r, s)->close(&r->workers[s]);
  TSL_TRY(open_workers(r));
  r->owner = r->drive->moved;
  for (int s = 0; s < r->drive->n_seats; s++) TSL_TRY(load_all(r, s, n, stage, bytes, states));
  for (int64_t k = 0; k < n * r->drive->n_seats; k++)
    r->taken[k / n * r->made->units.n + k % n] = true;
done:
  for (int64_t u = 0; u < n && states != NULL; u++) tsl_free(states[u]);
  tsl_free(states);
  tsl_free(bytes);
  return err;
}

static tsl_err run_stages(run *r) {
  tsl_err err = TSL_OK;
  const int64_t n = r->made->units.n;
  int64_t *list = NULL;
  bool *needed = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *list, "list", (void **)&list));
  TSL_TRY(tsl_alloc(n, sizeof *needed, "list", (void **)&needed));
  mark_needed(r, list, needed);
  r->needed = needed;
  for (int64_t first = 0, last; first < n; first = last) {
    const int64_t stage = unit_of(r, first)->stage;
    for (last = first; last < n && unit_of(r, last)->stage == stage;) last++;
    if (stage == r->drive->pause && stage > 0 && r->drive->moved != NULL) {
      TSL_TRY(end_all(r));
      TSL_TRY(move_on(r, first, stage));
      memset(needed, 0, (size_t)n * sizeof *needed);
      mark_needed(r, list, needed);
    }
    TSL_TRY(run_stage(r, first, last, list, needed));
  }
  TSL_TRY(end_all(r));
done:
  tsl_free(list);
  tsl_free(needed);
  return err;
}

/* ---- results */

/** Sum of the placements' SUM fields: the goal, and the cells that a recurrence's goal reads. */
static tsl_err collect(run *r) {
  tsl_err err = TSL_OK;
  tsl_problem *problem = &r->made->problem;
  const int f = dp_field(problem, "wanted");
  const int64_t n = f >= 0 ? tsl_field_count(&problem->fields[f]) : 0;
  int64_t *wanted = f >= 0 ? problem->fields[f].data : NULL, *sum = NULL;
  int64_t whole = 0;
  double real = 0;
  tsl_field *goal = &problem->fields[DP_GOAL];
  TSL_TRY(tsl_alloc(n, sizeof *sum, "wanted", (void **)&sum));
  for (int s = 0; s < r->drive->n_seats; s++) {
    TSL_TRY(backend_of(r, s)->collect(r->workers[s], problem));
    for (int64_t k = 0; k < n; k++) sum[k] += wanted[k];
    whole += *(int64_t *)goal->data;
    real += *(double *)goal->data;
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = whole;
  else
    *(double *)goal->data = real;
  if (n > 0) memcpy(wanted, sum, (size_t)n * sizeof *sum);
done:
  tsl_free(sum);
  return err;
}

static int owner_of_lane(const run *r, int64_t lane) {
  return lane < dp_lanes(r->made) ? r->owner[lane] : -1;
}

static tsl_err walk(run *r) {
  tsl_err err = TSL_OK;
  tsl_problem *problem = &r->made->problem;
  tsl_cursor cursor;
  tsl_list steps = {0};
  const bool pauses = r->drive->pause == INT64_MAX && r->drive->moved != NULL;
  TSL_TRY(problem->family->traceback_begin(problem, &cursor));
  for (int64_t turn = 0; cursor.lane >= 0; turn++) {
    const tsl_cursor before = cursor;
    if (pauses && turn == r->drive->turns) TSL_TRY(move_on(r, r->made->units.n, INT64_MAX));
    const int placement = owner_of_lane(r, cursor.lane);
    if (placement < 0) TSL_FAIL(TSL_ERR_INTERNAL, "no lane %lld", (long long)cursor.lane);
    TSL_TRY(backend_of(r, placement)
                ->traceback(r->workers[placement], r->made->units.list, r->made->units.n, &cursor,
                            &steps));
    r->out->n_steps += steps.n;
    TSL_TRY(problem->family->traceback_steps(problem, steps.data, steps.n));
    free(steps.data);
    steps = (tsl_list){0};
    if (memcmp(&before, &cursor, sizeof before) == 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "the walk stands still");
  }
done:
  free(steps.data);
  return err;
}

static tsl_err store_append(void *state, int field, const void *records, int64_t n) {
  tsl_err err = TSL_OK;
  run *r = state;
  const tsl_field *f = &r->made->problem.fields[field];
  const int64_t bytes = n * f->shape[1] * f->shape[2] * (int64_t)tsl_type_bytes((tsl_type)f->type);
  char *path = realloc(r->out->path, (size_t)(r->out->path_bytes + bytes) + 1);
  if (path == NULL) TSL_FAIL(TSL_ERR_MEMORY, "path");
  r->out->path = path;
  if (bytes > 0) memcpy(path + r->out->path_bytes, records, (size_t)bytes);
  r->out->path_bytes += bytes;
done:
  return err;
}

static tsl_err store_rows(void *state, int field, int64_t lo, int64_t hi, void *rows, bool out) {
  const run *r = state;
  const tsl_field *f = &r->made->problem.fields[field];
  const int64_t row = f->shape[1] * f->shape[2] * (int64_t)tsl_type_bytes((tsl_type)f->type);
  char *place = (char *)f->data + lo * row;
  memcpy(out ? rows : place, out ? place : rows, (size_t)((hi - lo) * row));
  return TSL_OK;
}

static tsl_err store_read(void *state, int field, int64_t lo, int64_t hi, void *rows) {
  return store_rows(state, field, lo, hi, rows, true);
}

static tsl_err store_write(void *state, int field, int64_t lo, int64_t hi, const void *rows) {
  return store_rows(state, field, lo, hi, (void *)rows, false);
}

/** By the first placement, as by the root. */
static tsl_err store_again(void *state, const tsl_unit *before, const void *bytes, int64_t n,
                           const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  run *r = state;
  const tsl_backend *backend = backend_of(r, 0);
  const uint8_t own[1] = {1};
  TSL_TRY(backend->begin(r->workers[0], 0));
  if (before != NULL) TSL_TRY(backend->load(r->workers[0], before, unit->stage, own, 1, bytes, n));
  TSL_TRY(backend->tiles(r->workers[0], unit, 1, part));
done:
  return err;
}

static tsl_err finish(run *r) {
  tsl_err err = TSL_OK;
  tsl_problem *problem = &r->made->problem;
  const tsl_field_rows store = {.state = r,
                                .read = store_read,
                                .write = store_write,
                                .append = store_append,
                                .again = store_again};
  tsl_summary summary = {0};
  TSL_TRY(problem->family->finish(problem, &store));
  TSL_TRY(problem->family->summary(problem, &summary));
  r->out->valid = summary.valid;
  if (!summary.valid) (void)snprintf(r->out->text, sizeof r->out->text, "%s", summary.reason);
done:
  return err;
}

static tsl_err copy_field(const run *r, int field, void **out, int64_t *bytes) {
  tsl_err err = TSL_OK;
  if (field < 0) return TSL_OK;
  const tsl_field *f = &r->made->problem.fields[field];
  *bytes = tsl_field_count(f) * (int64_t)tsl_type_bytes((tsl_type)f->type);
  *out = malloc((size_t)*bytes + 1);
  if (*out == NULL) TSL_FAIL(TSL_ERR_MEMORY, "results");
  memcpy(*out, f->data, (size_t)*bytes);
done:
  return err;
}

/* ---- all of it */

/** Tiles of the last stages, all lanes of each; 0 where lanes have no tile in some. */
static int64_t last_stages(const tsl_units *all, int64_t stages) {
  const int64_t lanes = all->n > 0 ? all->n / (all->list[all->n - 1].stage + 1) : 0;
  for (int64_t u = 0; u < all->n; u++)
    if (lanes == 0 || all->list[u].lane != u % lanes || all->list[u].stage != u / lanes) return 0;
  return all->n < stages * lanes ? all->n : stages * lanes;
}

/** Part of a tile, and tiles of several stages, before the run begins. */
static tsl_err try_tiles(run *r, int placement) {
  enum { MOST = 5, STAGES = 4 };
  tsl_err err = TSL_OK;
  const bool card = r->drive->placements[placement].device->kind == TSL_GPU;
  const tsl_units *all = &r->made->units;
  const int64_t n = card ? last_stages(all, STAGES) : all->n < MOST ? all->n : MOST;
  tsl_unit sample;
  if (all->n == 0) return TSL_OK;
  tsl_family_dp.sample(&r->made->problem, unit_of(r, all->n - 1), 0.5, &sample);
  TSL_TRY(call_tiles(r, placement, &sample, 1, true));
  for (int turn = 0; turn < 2 && n > 0; turn++)
    TSL_TRY(call_tiles(r, placement, unit_of(r, all->n - n), n, true));
done:
  return err;
}

static tsl_err open_workers(run *r) {
  tsl_err err = TSL_OK;
  for (int s = 0; s < r->drive->n_seats; s++) {
    const tsl_backend *backend = backend_of(r, s);
    if (backend->prepare != NULL)
      TSL_TRY(backend->prepare(&r->made->problem, r->drive->placements[s].device, 1));
    TSL_TRY(backend->open(&r->made->problem, r->drive->placements[s].device, &r->workers[s]));
    if (r->drive->trial) TSL_TRY(try_tiles(r, s));
    TSL_TRY(backend->begin(r->workers[s], 0));
  }
done:
  return err;
}

static tsl_err solve(run *r) {
  tsl_err err = TSL_OK;
  TSL_TRY(open_workers(r));
  TSL_TRY(run_stages(r));
  TSL_TRY(collect(r));
  TSL_TRY(walk(r));
  TSL_TRY(finish(r));
  memcpy(r->out->goal, r->made->problem.fields[DP_GOAL].data, 8);
  TSL_TRY(copy_field(r, r->table, &r->out->table, &r->out->table_bytes));
  TSL_TRY(copy_field(r, r->best, &r->out->best, &r->out->best_bytes));
done:
  return err;
}

tsl_err dp_drive_run(dp_made *made, const dp_drive *drive, dp_outcome *out) {
  tsl_err err = TSL_OK;
  run r = {.made = made, .drive = drive, .out = out, .owner = drive->owner};
  const int64_t n = made->units.n;
  *out = (dp_outcome){.n_units = n};
  r.table = dp_field(&made->problem, "table");
  r.best = dp_field(&made->problem, "best");
  r.kept = dp_field(&made->problem, "kept");
  TSL_TRY(open_fields(&r));
  TSL_TRY(tsl_alloc(n, sizeof *out->edges, "edges", (void **)&out->edges));
  TSL_TRY(tsl_alloc(n, sizeof *out->edge_bytes, "edges", (void **)&out->edge_bytes));
  TSL_TRY(tsl_alloc(n * drive->n_seats, sizeof *r.taken, "edges", (void **)&r.taken));
  out->err = solve(&r);
  if (out->err != TSL_OK) (void)snprintf(out->text, sizeof out->text, "%s", tsl_err_message());
done:
  for (int s = 0; s < drive->n_seats; s++)
    if (r.workers[s] != NULL) backend_of(&r, s)->close(&r.workers[s]);
  for (int s = 0; s < drive->n_seats; s++)
    for (int k = 0; k < r.n_begun[s]; k++) drop_begun(&r, s, &r.begun[s][k]);
  tsl_free(r.taken);
  return err;
}

void dp_outcome_clear(dp_outcome *out) {
  for (int64_t u = 0; u < out->n_units && out->edges != NULL; u++) free(out->edges[u]);
  tsl_free(out->edges);
  tsl_free(out->edge_bytes);
  free(out->table);
  free(out->best);
  free(out->path);
  *out = (dp_outcome){0};
}
