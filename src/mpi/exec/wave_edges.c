/* Needs of edges that cross ranks are listed and sorted; from them come groups of tiles, messages
 * in and messages out. */
#include "wave_edges.h"

#include "collective_error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A need: tile user of a rank needs the edge of a tile. */
typedef struct need {
  int64_t tile, user;
  int32_t rank; /* owner of user */
} need;

typedef struct needs {
  need *list;
  int64_t n, room;
} needs;

static tsl_err add_need(needs *all, int64_t tile, int64_t user, int rank) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&all->list, all->n, 1, &all->room, sizeof *all->list, "edges"));
  all->list[all->n++] = (need){.tile = tile, .user = user, .rank = (int32_t)rank};
done:
  return err;
}

static int by_tile_rank_user(const void *a, const void *b) {
  const need *x = a, *y = b;
  if (x->tile != y->tile) return x->tile < y->tile ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x->user < y->user ? -1 : x->user > y->user;
}

/* Sorted, and of each (tile, rank) only the first user. */
static void unique(needs *all) {
  int64_t kept = 0;
  if (all->n == 0) return;
  qsort(all->list, (size_t)all->n, sizeof *all->list, by_tile_rank_user);
  for (int64_t k = 0; k < all->n; k++)
    if (kept == 0 || all->list[k].tile != all->list[kept - 1].tile ||
        all->list[k].rank != all->list[kept - 1].rank)
      all->list[kept++] = all->list[k];
  all->n = kept;
}

/* ---- what is needed */

/* Predecessors of one tile after another. */
typedef struct lookup {
  const tsl_phase *phase;
  int rank;
  int64_t *list, n, room;
  needs in, out; /* edges that come to this rank, that leave it */
  bool *waits;   /* [n_units] own tile that needs another rank's tile of its stage */
} lookup;

static tsl_err look_up(lookup *l, int64_t u) {
  tsl_err err = TSL_OK;
  const tsl_phase *phase = l->phase;
  const tsl_family *family = phase->problem->family;
  for (;;) {
    l->n = family->predecessors(phase->problem, phase->units, phase->plan->n_units, u, l->list,
                                l->room);
    if (l->n <= l->room) break;
    tsl_free(l->list);
    l->list = NULL, l->room = 2 * l->n;
    TSL_TRY(tsl_alloc(l->room, sizeof *l->list, "predecessors", (void **)&l->list));
  }
done:
  return err;
}

static bool is_finished(const tsl_phase *phase, int64_t u) {
  return phase->plan->finished != NULL && phase->plan->finished[u];
}

/* Needs of tile u that cross to or from this rank; edges of finished tiles are in already. */
static tsl_err note_tile(lookup *l, int64_t u) {
  tsl_err err = TSL_OK;
  const int32_t *owner = l->phase->plan->owner;
  if (is_finished(l->phase, u)) return TSL_OK;
  TSL_TRY(look_up(l, u));
  for (int64_t k = 0; k < l->n; k++) {
    const int64_t tile = l->list[k];
    if (tile < 0 || tile >= u)
      TSL_FAIL(TSL_ERR_INTERNAL, "tile %lld needs tile %lld, which does not come before it",
               (long long)u, (long long)tile);
    if (owner[u] == owner[tile] || is_finished(l->phase, tile)) continue;
    if (owner[u] == l->rank) {
      TSL_TRY(add_need(&l->in, tile, u, l->rank));
      if (l->phase->units[tile].stage == l->phase->units[u].stage) l->waits[u] = true;
    }
    if (owner[tile] == l->rank) TSL_TRY(add_need(&l->out, tile, u, owner[u]));
  }
done:
  return err;
}

/* ---- groups */

/* A tile joins the group before it when that has its stage and room and the tile waits for no other
 * rank's tile of the same stage (which might wait for the group). */
static tsl_err make_groups(const tsl_phase *phase, int rank, int64_t room, const bool *waits,
                           tsl_edges *e, int64_t *group_of) {
  tsl_err err = TSL_OK;
  const tsl_plan *plan = phase->plan;
  for (int64_t u = 0; u < plan->n_units; u++)
    e->n_own += plan->owner[u] == rank && !is_finished(phase, u);
  TSL_TRY(tsl_alloc(e->n_own, sizeof *e->own, "tiles", (void **)&e->own));
  TSL_TRY(tsl_alloc(e->n_own, sizeof *e->groups, "groups", (void **)&e->groups));
  for (int64_t u = 0, k = 0; u < plan->n_units; u++) {
    if (plan->owner[u] != rank || is_finished(phase, u)) continue;
    tsl_group *last = e->n_groups > 0 ? &e->groups[e->n_groups - 1] : NULL;
    const bool joins = last != NULL && last->n < room && !waits[u] &&
                       phase->units[e->own[k - 1]].stage == phase->units[u].stage;
    if (!joins) e->groups[e->n_groups++] = (tsl_group){.first = k};
    e->groups[e->n_groups - 1].n++;
    group_of[u] = e->n_groups - 1;
    e->own[k++] = u;
  }
done:
  return err;
}

static int by_group(const void *a, const void *b) {
  const tsl_edge *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return x->tile < y->tile ? -1 : x->tile > y->tile;
}

static tsl_err sized(const tsl_phase *phase, int64_t tile, int64_t *bytes) {
  tsl_err err = TSL_OK;
  *bytes = phase->problem->family->edge_bytes(phase->problem, &phase->units[tile]);
  if (*bytes < 0 || *bytes > INT_MAX)
    TSL_FAIL(TSL_ERR_INPUT,
             "the edge of tile %lld has %lld bytes, at most %d can be sent; raise "
             "run.units",
             (long long)tile, (long long)*bytes, INT_MAX);
done:
  return err;
}

static tsl_err fill_in(const tsl_phase *phase, const needs *in, const int64_t *group_of,
                       tsl_edges *e) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(in->n, sizeof *e->in, "edges", (void **)&e->in));
  for (int64_t k = 0; k < in->n; k++) {
    const need *d = &in->list[k];
    tsl_edge *edge = &e->in[e->n_in++];
    *edge = (tsl_edge){.tile = d->tile,
                       .group = group_of[d->user],
                       .peer = phase->plan->owner[d->tile],
                       .n_peers = 1,
                       .request = MPI_REQUEST_NULL};
    TSL_TRY(sized(phase, d->tile, &edge->bytes));
  }
  qsort(e->in, (size_t)e->n_in, sizeof *e->in, by_group);
done:
  return err;
}

static tsl_err fill_out(const tsl_phase *phase, const needs *out, const int64_t *group_of,
                        tsl_edges *e) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(out->n, sizeof *e->out, "edges", (void **)&e->out));
  TSL_TRY(tsl_alloc(out->n, sizeof *e->receivers, "edges", (void **)&e->receivers));
  for (int64_t k = 0; k < out->n; k++) {
    const need *d = &out->list[k];
    e->receivers[k] = d->rank;
    if (e->n_out == 0 || e->out[e->n_out - 1].tile != d->tile) {
      e->out[e->n_out++] = (tsl_edge){.tile = d->tile,
                                      .group = group_of[d->tile],
                                      .peer = (int32_t)k,
                                      .stage = phase->units[d->user].stage,
                                      .request = MPI_REQUEST_NULL};
      TSL_TRY(sized(phase, d->tile, &e->out[e->n_out - 1].bytes));
    }
    tsl_edge *edge = &e->out[e->n_out - 1];
    if (phase->units[d->user].stage > edge->stage) edge->stage = phase->units[d->user].stage;
    edge->n_peers++;
  }
  qsort(e->out, (size_t)e->n_out, sizeof *e->out, by_group);
done:
  return err;
}

static void set_ranges(tsl_edges *e) {
  int64_t in = 0, out = 0;
  for (int64_t g = 0; g < e->n_groups; g++) {
    tsl_group *group = &e->groups[g];
    group->in_lo = in, group->out_lo = out;
    while (in < e->n_in && e->in[in].group == g) in++;
    while (out < e->n_out && e->out[out].group == g) out++;
    group->in_hi = in, group->out_hi = out;
  }
}

tsl_err tsl_edges_make(const tsl_phase *phase, int rank, int64_t room, tsl_edges *e) {
  tsl_err err = TSL_OK;
  const int64_t n = phase->plan->n_units;
  lookup l = {.phase = phase, .rank = rank};
  int64_t *group_of = NULL;
  *e = (tsl_edges){0};
  TSL_TRY(tsl_alloc(n, sizeof *group_of, "groups", (void **)&group_of));
  TSL_TRY(tsl_alloc(n, sizeof *l.waits, "groups", (void **)&l.waits));
  for (int64_t u = 0; u < n; u++) TSL_TRY(note_tile(&l, u));
  TSL_TRY(make_groups(phase, rank, room, l.waits, e, group_of));
  unique(&l.in);
  unique(&l.out);
  TSL_TRY(fill_in(phase, &l.in, group_of, e));
  TSL_TRY(fill_out(phase, &l.out, group_of, e));
  set_ranges(e);
done:
  TSL_FREE_ALL(l.in.list, l.out.list, l.list, l.waits, group_of);
  return err;
}

tsl_err tsl_edge_receive(tsl_edge *edge, MPI_Comm comm) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(edge->bytes, 1, "edge", &edge->data));
  TSL_MPI(MPI_Irecv(edge->data, (int)edge->bytes, MPI_BYTE, edge->peer, (int)edge->tile, comm,
                    &edge->request));
done:
  return err;
}

void tsl_edges_clear(tsl_edges *e) {
  for (int64_t k = 0; k < e->n_in; k++) tsl_free(e->in[k].data);
  for (int64_t k = 0; k < e->n_out; k++) tsl_free(e->out[k].data);
  TSL_FREE_ALL(e->own, e->groups, e->in, e->out, e->receivers);
  *e = (tsl_edges){0};
}

tsl_err tsl_edges_wait(MPI_Request *sends, int64_t n) {
  tsl_err err = TSL_OK;
  enum { ROUND = 1 << 20 };
  for (int64_t at = 0; at < n; at += ROUND)
    TSL_MPI(MPI_Waitall((int)(n - at < ROUND ? n - at : ROUND), sends + at, MPI_STATUSES_IGNORE));
done:
  return err;
}

void tsl_edges_drop(tsl_edges *edges, MPI_Request *sends) {
  for (int64_t k = 0; k < edges->n_in; k++)
    if (edges->in[k].request != MPI_REQUEST_NULL) {
      (void)MPI_Cancel(&edges->in[k].request);
      (void)MPI_Wait(&edges->in[k].request, MPI_STATUS_IGNORE);
    }
  for (int64_t k = 0; k < edges->n_out; k++)
    for (int r = 0; r < edges->out[k].n_peers; r++) {
      MPI_Request *send = &sends[edges->out[k].peer + r];
      int done = 1;
      if (*send != MPI_REQUEST_NULL) (void)MPI_Test(send, &done, MPI_STATUS_IGNORE);
      if (!done) (void)MPI_Request_free(send), edges->out[k].data = NULL;
    }
}
