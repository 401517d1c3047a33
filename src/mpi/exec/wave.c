/* The main thread's loop of a WAVE phase: receive edges, feed groups to the device, send finished
 * edges, agree on a cut when it pauses. */
#include "wave.h"

#include "batch.h"
#include "collective_error.h"
#include "heartbeat.h"
#include "phase_loop.h"
#include "slab_pool.h"
#include "watchdog.h"
#include "wave_compute.h"
#include "wave_pause.h"

#include <stdlib.h>
#include <string.h>

enum {
  N_BATCHES = 3,    /* groups: one computing, one waiting behind it or begun, one being delivered */
  AHEAD = 2,        /* posted to the compute thread at most */
  LISTEN = 8,       /* groups whose receives are posted */
  MOST_TILES = 4096 /* of one group */
};

/* Naps of the main thread, which shares the rank's cores with the compute thread: short while the
 * device waits for an edge, or could begin a group, or an edge is leaving, else a part of what a
 * group takes. */
static const long SHORT_NAP_US = 50, LONG_NAP_US = 1000;
static const double NAP = 0.02;

static const int64_t MOST_UNSENT = (int64_t)1 << 28; /* bytes, see is_far_ahead */

/* The state of this rank's phase. */
typedef struct wave {
  tsl_phase_loop loop;
  tsl_edges edges;
  tsl_wave_batch batches[N_BATCHES];
  MPI_Comm comm;      /* edges travel apart from results */
  MPI_Request *sends; /* [n_sends], of edges.out in order */
  int64_t n_sends, room;
  int64_t listened; /* groups whose receives are posted */
  int64_t next;     /* group to be posted to the compute thread */
  int64_t landed;   /* groups back from the compute thread */
  int64_t left;     /* edges.out before this one have left and are freed */
  int64_t unsent;   /* bytes of those that are done and have not */
  int posted;
  bool overlaps; /* the device begins a group while it ends the one before */
  double freed;  /* tsl_now() when it had done the last group; the compute thread's */
  tsl_wave_pause cut;
  double group; /* s of the last group */
  double since; /* the device began its present group, about */
} wave;

/* ---- edges in */

static tsl_err listen(wave *w) {
  tsl_err err = TSL_OK;
  while (!w->loop.abort && w->listened < w->edges.n_groups && w->listened < w->landed + LISTEN) {
    const tsl_group *group = &w->edges.groups[w->listened++];
    for (int64_t k = group->in_lo; k < group->in_hi; k++)
      TSL_TRY(tsl_edge_receive(&w->edges.in[k], w->comm));
  }
done:
  return err;
}

static tsl_err all_here(wave *w, const tsl_group *group, bool *here) {
  tsl_err err = TSL_OK;
  *here = true;
  for (int64_t k = group->in_lo; k < group->in_hi && *here; k++) {
    int flag = 1;
    TSL_MPI(MPI_Test(&w->edges.in[k].request, &flag, MPI_STATUS_IGNORE));
    *here = flag != 0;
  }
done:
  return err;
}

/* ---- feeding */

static int64_t stage_of(const wave *w, int64_t group) {
  return w->loop.phase->units[w->edges.own[w->edges.groups[group].first]].stage;
}

/* Is there a group that may begin? */
static bool may_begin(const wave *w) {
  return w->next < w->edges.n_groups && stage_of(w, w->next) < tsl_wave_pause_limit(&w->cut);
}

static tsl_wave_batch *idle_batch(wave *w) {
  for (int k = 0; k < N_BATCHES; k++)
    if (!w->batches[k].posted && !w->batches[k].sending) return &w->batches[k];
  return NULL;
}

/* A rank that waits for nobody may be far ahead of those that need its edges: they fill its memory.
 * It goes on when they are for its next group's stage or later: who needs them may be waiting for
 * that group. So the first of all tiles that are not done is never held back: every stage before
 * its own is done, and has got what it needs. */
static bool is_far_ahead(const wave *w) {
  const int64_t most = w->loop.phase->unsent > 0 ? w->loop.phase->unsent : MOST_UNSENT;
  return w->unsent > most && w->edges.out[w->left].stage < stage_of(w, w->next);
}

static tsl_err feed(wave *w, bool *moved) {
  tsl_err err = TSL_OK;
  tsl_wave_batch *f;
  bool here = false;
  TSL_TRY(listen(w));
  while (!w->loop.abort && may_begin(w) && !is_far_ahead(w) && w->posted < AHEAD &&
         (f = idle_batch(w)) != NULL) {
    const tsl_group *group = &w->edges.groups[w->next];
    TSL_TRY(all_here(w, group, &here));
    if (!here) break;
    f->seconds = 0;
    for (int64_t k = 0; k < group->n; k++) {
      f->units[k] = w->loop.phase->units[w->edges.own[group->first + k]];
      f->seconds += tsl_cost_seconds(w->loop.phase->cost, w->loop.rank, &f->units[k]);
    }
    f->group = w->next++;
    f->posted = true;
    if (w->posted++ == 0) w->since = tsl_now();
    tsl_compute_thread_post(w->loop.phase->executor->thread, &f->task);
    *moved = true;
  }
done:
  return err;
}

/* ---- a group is done */

static tsl_err send_edges(wave *w, const tsl_group *group) {
  tsl_err err = TSL_OK;
  for (int64_t k = group->out_lo; k < group->out_hi; k++) {
    const tsl_edge *edge = &w->edges.out[k];
    w->unsent += edge->bytes;
    for (int r = 0; r < edge->n_peers; r++)
      TSL_MPI(MPI_Isend(edge->data, (int)edge->bytes, MPI_BYTE, w->edges.receivers[edge->peer + r],
                        (int)edge->tile, w->comm, &w->sends[edge->peer + r]));
  }
done:
  return err;
}

static void free_edges_in(wave *w, const tsl_group *group) {
  for (int64_t k = group->in_lo; k < group->in_hi; k++) {
    tsl_free(w->edges.in[k].data);
    w->edges.in[k].data = NULL;
  }
}

static tsl_err retire(wave *w, tsl_wave_batch *f) {
  tsl_err err = TSL_OK;
  const tsl_group *group = &w->edges.groups[f->group];
  double start = f->start, work = 0;
  f->posted = false;
  w->posted--;
  w->since = tsl_now();
  TSL_TRY(tsl_err_restore(&f->task.error));
  if (w->loop.abort) return TSL_OK;
  w->landed++;
  free_edges_in(w, group);
  TSL_TRY(send_edges(w, group));
  f->sending = true;
  for (int64_t k = 0; k < group->n; k++) {
    TSL_TRY(tsl_complete_unit(w->loop.phase, w->loop.delivery, w->loop.rank, &f->units[k], false,
                              &start, &f->parts[k]));
    TSL_TRY(
        tsl_result_writer_send(w->loop.delivery, &f->units[k], 1, &f->parts[k], &f->parcels[k]));
    work += tsl_phase_loop_work(&w->loop, &f->units[k]);
  }
  TSL_TRY(tsl_result_writer_flush(w->loop.delivery));
  w->group = start - f->start;
  w->loop.phase->finish = start - w->loop.phase->origin;
  TSL_TRY(tsl_counter_add_done(w->loop.counter, work));
done:
  return err;
}

/* Free the edges that all receivers have got, in order. */
static tsl_err release_edges(wave *w) {
  tsl_err err = TSL_OK;
  while (!w->loop.abort && w->left < w->edges.n_out && w->edges.out[w->left].group < w->landed) {
    tsl_edge *edge = &w->edges.out[w->left];
    int done = 0;
    TSL_MPI(MPI_Testall(edge->n_peers, &w->sends[edge->peer], &done, MPI_STATUSES_IGNORE));
    if (!done) break;
    tsl_free(edge->data);
    edge->data = NULL;
    w->unsent -= edge->bytes;
    w->left++;
  }
done:
  return err;
}

static tsl_err release_sent(wave *w, bool *moved) {
  tsl_err err = TSL_OK;
  TSL_TRY(release_edges(w));
  for (int k = 0; k < N_BATCHES; k++) {
    tsl_wave_batch *f = &w->batches[k];
    bool all = f->sending;
    for (int64_t u = 0; all && u < w->edges.groups[f->group].n; u++)
      TSL_TRY(tsl_message_sent(&f->parcels[u], &all));
    if (all) f->sending = false, *moved = true;
  }
done:
  return err;
}

/* ---- the loop */

/* The stage after the last group that has begun; a part of a phase does one stage at least. */
static int64_t how_far(const wave *w) {
  if (w->edges.n_groups == 0) return 0;
  return stage_of(w, w->next > 0 ? w->next - 1 : 0) + 1;
}

/* When it is to pause, or has no more to begin, a rank says how far it has come. */
static tsl_err look_at_cut(wave *w) {
  tsl_err err = TSL_OK;
  if (w->loop.pause || w->loop.abort || w->next == w->edges.n_groups)
    TSL_TRY(tsl_wave_pause_propose(&w->cut, how_far(w)));
  TSL_TRY(tsl_wave_pause_look(&w->cut));
done:
  return err;
}

/* The group that the device computes, or will end first, is the one posted first. */
static void end_if_hung(const wave *w, double now) {
  for (int k = 0; k < N_BATCHES; k++) {
    const tsl_wave_batch *f = &w->batches[k];
    if (f->posted && f->group == w->landed)
      tsl_watchdog_check(w->loop.phase, w->loop.rank, f->units, w->edges.groups[f->group].n,
                         now - w->since, f->seconds);
  }
}

/* Nothing is under way on the device, and nothing will begin in this part of the phase. */
static bool is_done(const wave *w) {
  return w->landed == w->next && w->cut.known && !may_begin(w);
}

static bool all_idle(const wave *w) {
  for (int k = 0; k < N_BATCHES; k++)
    if (w->batches[k].posted || (w->batches[k].sending && !w->loop.abort)) return false;
  return true;
}

static bool edges_leave(const wave *w) {
  return w->left < w->edges.n_out && w->edges.out[w->left].group < w->landed;
}

static long nap(const wave *w) {
  const double part = NAP * 1e6 * w->group;
  if (w->posted < (w->overlaps ? AHEAD : 1) || edges_leave(w) || part < (double)SHORT_NAP_US)
    return SHORT_NAP_US;
  return part < (double)LONG_NAP_US ? (long)part : LONG_NAP_US;
}

/* One turn; errors of any part are kept and the loop goes on until everybody has left. */
static void turn(wave *w) {
  bool moved = false;
  tsl_task *landed;
  end_if_hung(w, tsl_now());
  w->loop.lost = tsl_heart_alarm(); /* its tiles are missing, so nothing can be saved */
  w->loop.abort = w->loop.abort || w->loop.lost;
  tsl_phase_loop_keep(&w->loop, tsl_phase_loop_look_around(&w->loop));
  tsl_phase_loop_keep(&w->loop, look_at_cut(w));
  tsl_phase_loop_keep(&w->loop, feed(w, &moved));
  tsl_phase_loop_keep(&w->loop, tsl_result_writer_serve(w->loop.delivery, w->loop.abort, &moved));
  tsl_phase_loop_keep(&w->loop, release_sent(w, &moved));
  if (w->loop.abort && w->loop.phase->out != NULL) tsl_out_forget(w->loop.phase->out);
  landed = tsl_compute_thread_done(w->loop.phase->executor->thread, moved ? 0 : nap(w));
  if (landed != NULL) tsl_phase_loop_keep(&w->loop, retire(w, (tsl_wave_batch *)landed));
  if (!w->loop.ended && (w->loop.abort || is_done(w)) && all_idle(w) && !w->loop.lost) {
    tsl_phase_loop_keep(&w->loop, tsl_result_writer_end(w->loop.delivery));
    w->loop.ended = true;
  }
}

/* ---- set-up and end */

static tsl_err open_batch(wave *w, const int64_t slabs[TSL_MAX_FIELDS], tsl_wave_batch *f) {
  tsl_err err = TSL_OK;
  const tsl_phase *phase = w->loop.phase;
  *f = tsl_wave_batch_make(phase, &w->edges, w->loop.rank, w->overlaps, &w->freed);
  TSL_TRY(tsl_alloc(w->room, sizeof *f->units, "tiles", (void **)&f->units));
  TSL_TRY(tsl_alloc(w->room, sizeof *f->parts, "results", (void **)&f->parts));
  TSL_TRY(tsl_alloc(w->room, sizeof *f->parcels, "results", (void **)&f->parcels));
  for (int64_t p = 0; p < w->room; p++)
    TSL_TRY(tsl_part_init(phase->problem, phase->executor->backend, slabs, &f->parts[p]));
done:
  return err;
}

static void close_batch(wave *w, tsl_wave_batch *f) {
  for (int64_t p = 0; p < w->room && f->parts != NULL; p++)
    tsl_part_clear(w->loop.phase->problem, w->loop.phase->executor->backend, &f->parts[p]);
  for (int64_t p = 0; p < w->room && f->parcels != NULL; p++) tsl_message_drop(&f->parcels[p]);
  TSL_FREE_ALL(f->units, f->parts, f->parcels);
}

/* Tiles of the first stage when each lane is a single tile (stages then get shorter), else 0. */
static int64_t widest_stage(const tsl_phase *phase) {
  const int64_t n = phase->plan->n_units;
  int64_t first = 0;
  for (int64_t u = 0; u < n; u++) {
    if (phase->units[u].lane != u) return 0;
    first += phase->units[u].stage == phase->units[0].stage;
  }
  return first;
}

/* Tiles of a group: all where results are small, as in batch.h where they fill slabs. Single tiles
 * go in several groups a stage: the edges of one travel while the next is computed. */
static int64_t group_room(const tsl_phase *phase, int size) {
  enum { GROUPS = 4 };
  const int64_t n = phase->plan->n_units, ahead = widest_stage(phase) / size / GROUPS + 1;
  int64_t room = tsl_batch_room(phase->problem, phase->units, n, phase->memory);
  if (room == TSL_MAX_BATCH) room = MOST_TILES;
  if (size > 1 && ahead > 1 && room > ahead) room = ahead;
  return room < n ? room : n > 0 ? n : 1;
}

static tsl_err open_wave(wave *w) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = w->loop.phase;
  int64_t largest = 1, slabs[TSL_MAX_FIELDS];
  w->overlaps = tsl_overlaps(phase->executor);
  TSL_TRY(tsl_edges_make(phase, w->loop.rank, group_room(phase, w->loop.size), &w->edges));
  for (int64_t g = 0; g < w->edges.n_groups; g++)
    if (w->edges.groups[g].n > largest) largest = w->edges.groups[g].n;
  w->room = largest;
  for (int64_t k = 0; k < w->edges.n_out; k++) w->n_sends += w->edges.out[k].n_peers;
  TSL_TRY(tsl_alloc(w->n_sends, sizeof *w->sends, "edges", (void **)&w->sends));
  for (int64_t k = 0; k < w->n_sends; k++) w->sends[k] = MPI_REQUEST_NULL;
  tsl_slab_largest(phase->problem, phase->units, phase->plan->n_units, slabs);
  for (int k = 0; k < N_BATCHES; k++) TSL_TRY(open_batch(w, slabs, &w->batches[k]));
  TSL_TRY(tsl_phase_loop_open(&w->loop));
done:
  return err;
}

static void close_wave(wave *w) {
  if (w->sends != NULL) tsl_edges_drop(&w->edges, w->sends);
  for (int k = 0; k < N_BATCHES; k++) close_batch(w, &w->batches[k]);
  tsl_edges_clear(&w->edges);
  tsl_free(w->sends);
  tsl_phase_loop_close(&w->loop);
  if (w->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&w->comm);
}

/* The edges of what is done arrive, on all ranks, and is anything left? */
static tsl_err wave_settle(wave *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->loop.phase->plan->n_units;
  w->loop.phase->paused = n > 0 && w->cut.stage <= w->loop.phase->units[n - 1].stage;
  if (w->loop.phase->paused)
    TSL_TRY(
        tsl_edges_across(w->loop.phase, &w->edges, w->comm, w->next, w->listened, w->cut.stage));
  TSL_TRY(tsl_edges_wait(w->sends, w->n_sends));
done:
  return err;
}

static bool has_ended(const wave *w) {
  if (w->loop.lost) return w->posted == 0;
  return w->loop.ended && w->cut.known && tsl_result_writer_complete(w->loop.delivery);
}

tsl_err tsl_wave_run(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  wave w = {.comm = MPI_COMM_NULL};
  phase->paused = false;
  TSL_TRY(tsl_phase_loop_make(phase, &w.loop));
  TSL_MPI(MPI_Comm_dup(phase->comm, &w.comm));
  TSL_MPI(MPI_Comm_set_errhandler(w.comm, MPI_ERRORS_RETURN));
  w.cut = tsl_wave_pause_make(w.comm, phase->can_pause);
  TSL_COLLECTIVE_TRY(phase->comm, open_wave(&w));
  TSL_COLLECTIVE_TRY(phase->comm, tsl_counter_open(phase->comm, &w.loop.counter));
  tsl_phase_loop_start(&w.loop);
  while (!has_ended(&w)) turn(&w);
  tsl_progress_end(&w.loop.progress);
  if (w.loop.err == TSL_OK && !w.loop.abort) tsl_phase_loop_keep(&w.loop, wave_settle(&w));
  if (w.loop.err != TSL_OK) (void)tsl_err_restore(&w.loop.error);
  TSL_COLLECTIVE_TRY(phase->comm, w.loop.lost ? tsl_heart_lost(__FILE__, __LINE__) : w.loop.err);
done:
  if (err != TSL_ERR_LOST) close_wave(&w); /* else MPI may still read it */
  return err;
}
