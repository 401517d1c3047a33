/* What the workers of a WAVE family keep between stages: saved and loaded tile by tile. */
#include "checkpoint_manager.h"

#include "bcast.h"
#include "collective_error.h"

#include <string.h>

enum { TAG_TILE = 41 };

int64_t tsl_checkpoints_stage(const tsl_session *s, const uint8_t *finished) {
  int64_t u = 0;
  while (u < s->units.n && finished[u]) u++;
  return u < s->units.n ? s->units.list[u].stage : INT64_MAX;
}

/* The backend's calls run on the compute thread. */
typedef struct task_state {
  tsl_task task;
  tsl_session *s;
  int64_t stage, unit;
  int64_t *tiles; /* [n_units] bytes of each */
  uint8_t *own;   /* [lanes] 1: of this rank */
  char *bytes;    /* [room] of one tile */
  int64_t lanes, room, total;
  tsl_err err; /* the first one; the others still wait for their messages */
  tsl_err_copy error;
} task_state;

static bool is_mine(const task_state *e, int64_t unit) {
  return e->s->plan.owner[unit] == e->s->rank;
}

static void keep_error(task_state *e, tsl_err err) {
  if (err == TSL_OK || e->err != TSL_OK) return;
  e->err = err;
  tsl_err_save(err, &e->error);
}

static tsl_err checkpoint_manager_tiles_settle(const task_state *e) {
  return e->err == TSL_OK ? TSL_OK : tsl_err_restore(&e->error);
}

static void call(task_state *e, tsl_err (*run)(tsl_task *task)) {
  e->task.run = run;
  keep_error(e, tsl_compute_thread_call(e->s->executor.thread, &e->task));
}

/* Room for the largest tile. */
static tsl_err take_room(task_state *e) {
  tsl_err err = TSL_OK;
  e->total = e->room = 0;
  for (int64_t u = 0; u < e->s->units.n; u++) {
    if (e->tiles[u] > e->room) e->room = e->tiles[u];
    e->total += e->tiles[u];
  }
  TSL_TRY(tsl_alloc(e->room, 1, "state of a tile", (void **)&e->bytes));
done:
  return err;
}

static void clear(task_state *e) {
  TSL_FREE_ALL(e->tiles, e->own, e->bytes);
}

/* ---- save */

static tsl_err checkpoint_manager_tiles_measure(tsl_task *task) {
  task_state *e = (task_state *)task;
  const tsl_executor *st = &e->s->executor;
  for (int64_t u = 0; u < e->s->units.n; u++)
    if (is_mine(e, u) && e->s->checkpoints->finished[u])
      e->tiles[u] = st->backend->state_bytes(st->worker, &e->s->units.list[u], e->stage);
  return TSL_OK;
}

static tsl_err save(tsl_task *task) {
  task_state *e = (task_state *)task;
  const tsl_executor *st = &e->s->executor;
  return st->backend->save(st->worker, &e->s->units.list[e->unit], e->stage, e->bytes);
}

/* One tile: from its worker to rank 0's sink. */
static tsl_err move_tile(task_state *e, const tsl_checkpoints_sink *sink) {
  tsl_err err = TSL_OK;
  const tsl_session *s = e->s;
  const int owner = s->plan.owner[e->unit];
  const int64_t n = e->tiles[e->unit];
  if (owner == s->rank) call(e, save);
  if (owner == s->rank && owner != 0) TSL_TRY(tsl_bcast_send(s->comm, 0, TAG_TILE, e->bytes, n));
  if (s->rank == 0 && owner != 0) TSL_TRY(tsl_bcast_receive(s->comm, owner, TAG_TILE, e->bytes, n));
  if (s->rank == 0) sink->put(sink->state, e->bytes, n);
done:
  return err;
}

tsl_err tsl_checkpoints_save_tiles(tsl_session *s, const tsl_checkpoints_sink *sink) {
  tsl_err err = TSL_OK;
  task_state e = {.s = s, .stage = tsl_checkpoints_stage(s, s->checkpoints->finished)};
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->units.n, sizeof *e.tiles, "states", (void **)&e.tiles));
  call(&e, checkpoint_manager_tiles_measure);
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, e.tiles, (int)s->units.n, MPI_INT64_T, MPI_SUM, s->comm));
  TSL_COLLECTIVE_TRY(s->comm, take_room(&e));
  if (s->rank == 0) sink->begin(sink->state, e.tiles, s->units.n, e.total);
  for (e.unit = 0; e.unit < s->units.n; e.unit++)
    if (e.tiles[e.unit] > 0) TSL_TRY(move_tile(&e, sink));
  TSL_COLLECTIVE_TRY(s->comm, checkpoint_manager_tiles_settle(&e));
done:
  clear(&e);
  return err;
}

/* ---- load */

static tsl_err checkpoint_manager_tiles_load(tsl_task *task) {
  task_state *e = (task_state *)task;
  const tsl_executor *st = &e->s->executor;
  return st->backend->load(st->worker, &e->s->units.list[e->unit], e->stage, e->own, e->lanes,
                           e->bytes, e->tiles[e->unit]);
}

static tsl_err open_load(task_state *e) {
  tsl_err err = TSL_OK;
  const tsl_session *s = e->s;
  TSL_TRY(tsl_alloc(s->units.n, sizeof *e->tiles, "states", (void **)&e->tiles));
  TSL_TRY(tsl_alloc(s->units.n, 1, "lanes", (void **)&e->own));
  for (int64_t u = 0; u < s->units.n; u++) {
    const int64_t lane = s->units.list[u].lane;
    if (is_mine(e, u)) e->own[lane] = 1;
    if (lane >= e->lanes) e->lanes = lane + 1;
  }
  if (s->rank == 0 && s->units.n > 0)
    memcpy(e->tiles, s->checkpoints->from.tiles, (size_t)s->units.n * sizeof *e->tiles);
done:
  return err;
}

static tsl_err load_tiles(tsl_session *s) {
  tsl_err err = TSL_OK;
  task_state e = {.s = s, .stage = tsl_checkpoints_stage(s, s->checkpoints->finished)};
  const char *from = s->checkpoints->from.states;
  TSL_COLLECTIVE_TRY(s->comm, open_load(&e));
  TSL_TRY(tsl_bcast_bytes(s->comm, e.tiles, s->units.n * (int64_t)sizeof *e.tiles));
  TSL_COLLECTIVE_TRY(s->comm, take_room(&e));
  for (e.unit = 0; e.unit < s->units.n; e.unit++) {
    const int64_t n = e.tiles[e.unit];
    if (n == 0) continue;
    if (s->rank == 0) memcpy(e.bytes, from, (size_t)n), from += n;
    TSL_TRY(tsl_bcast_bytes(s->comm, e.bytes, n));
    call(&e, checkpoint_manager_tiles_load);
  }
  TSL_COLLECTIVE_TRY(s->comm, checkpoint_manager_tiles_settle(&e));
done:
  clear(&e);
  return err;
}

tsl_err tsl_checkpoints_begun(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || !k->on || s->family->shape != TSL_WAVE || !k->restart) return TSL_OK;
  TSL_TRY(load_tiles(s));
  tsl_checkpoint_clear(&k->from);
done:
  return err;
}
