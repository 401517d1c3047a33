/* Where a WAVE phase pauses, and the edges across. */
#include "wave_pause.h"

#include "collective_error.h"

tsl_err tsl_wave_pause_propose(tsl_wave_pause *cut, int64_t stage) {
  tsl_err err = TSL_OK;
  if (cut->proposed) return TSL_OK;
  cut->proposed = true;
  cut->mine = stage;
  TSL_MPI(
      MPI_Iallreduce(&cut->mine, &cut->stage, 1, MPI_INT64_T, MPI_MAX, cut->comm, &cut->request));
done:
  return err;
}

tsl_err tsl_wave_pause_look(tsl_wave_pause *cut) {
  tsl_err err = TSL_OK;
  int done = 0;
  if (!cut->proposed || cut->known) return TSL_OK;
  TSL_MPI(MPI_Test(&cut->request, &done, MPI_STATUS_IGNORE));
  cut->known = done != 0;
done:
  return err;
}

/* ---- edges across the cut */

typedef struct crossing {
  tsl_task task;
  const tsl_phase *phase;
  tsl_edges *edges;
  int64_t next, stage;
} crossing;

static bool crosses(const crossing *c, const tsl_edge *edge) {
  return c->phase->units[edge->tile].stage < c->stage;
}

/* First edge of a group or, beyond the last group, the end. */
static int64_t first_edge(const tsl_edges *e, int64_t group) {
  return group < e->n_groups ? e->groups[group].in_lo : e->n_in;
}

static tsl_err take_in(tsl_task *task) {
  tsl_err err = TSL_OK;
  const crossing *c = (const crossing *)task;
  const tsl_executor *st = c->phase->executor;
  for (int64_t k = first_edge(c->edges, c->next); k < c->edges->n_in; k++) {
    const tsl_edge *edge = &c->edges->in[k];
    if (!crosses(c, edge)) continue;
    TSL_TRY(st->backend->edge_in(st->worker, &c->phase->units[edge->tile], edge->data));
  }
done:
  return err;
}

tsl_err tsl_edges_across(const tsl_phase *phase, tsl_edges *edges, MPI_Comm comm, int64_t next,
                         int64_t listened, int64_t stage) {
  tsl_err err = TSL_OK;
  crossing c = {.task.run = take_in, .phase = phase, .edges = edges, .next = next, .stage = stage};
  for (int64_t k = first_edge(edges, listened); k < edges->n_in; k++)
    if (crosses(&c, &edges->in[k])) TSL_TRY(tsl_edge_receive(&edges->in[k], comm));
  for (int64_t k = first_edge(edges, next); k < edges->n_in; k++)
    if (crosses(&c, &edges->in[k])) TSL_MPI(MPI_Wait(&edges->in[k].request, MPI_STATUS_IGNORE));
  TSL_TRY(tsl_compute_thread_call(phase->executor->thread, &c.task));
done:
  return err;
}
