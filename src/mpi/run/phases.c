/* All phases of a problem, one after another, and the walk of a solution after them. */
#include "phases.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "phase_run.h"
#include "rebalance_phases.h"
#include "traceback.h"

static tsl_err advance(tsl_session *s, int phase, bool *more) {
  tsl_err err = TSL_OK;
  int flag = 0;
  *more = false;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 && s->family->advance != NULL
                                  ? s->family->advance(&s->problem, phase, more)
                                  : TSL_OK);
  flag = *more;
  TSL_MPI(MPI_Bcast(&flag, 1, MPI_INT, 0, s->comm));
  *more = flag != 0;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_ADVANCE));
  TSL_COLLECTIVE_TRY(s->comm, tsl_stage_rows(s, phase));
done:
  return err;
}

/* What goes on while a solution is recovered. */
typedef struct walking {
  tsl_session *session;
  tsl_out *out;
  const tsl_record *record;
} walking;

static tsl_err look_after_walk(void *state, const tsl_cursor *cursor) {
  const walking *w = state;
  return tsl_checkpoints_walk(w->session, w->out, w->record->last, w->record->n_last, cursor);
}

static tsl_err walk(tsl_session *s, tsl_out *out, const tsl_record *record) {
  walking state = {s, out, record};
  const tsl_checkpoint_manager *k = s->checkpoints;
  const tsl_traceback_break between = {.state = &state,
                                       .look = look_after_walk,
                                       .on = k->on,
                                       .from = &k->cursor,
                                       .steps = (const int64_t(*)[2])k->steps,
                                       .n_steps = k->n_steps};
  return tsl_traceback(s->comm, &s->executor, &s->problem, s->units.list, &s->plan, &between);
}

tsl_err tsl_phases_run(tsl_session *s, tsl_out *out, tsl_record *record) {
  tsl_err err = TSL_OK;
  const bool talk = s->rank == 0 && !s->options->quiet;
  bool more = true;
  for (int phase = s->checkpoints->phase; more; phase++) {
    TSL_TRY(tsl_phase_run(s, out, phase, record));
    TSL_TRY(advance(s, phase, &more));
    if (more) TSL_TRY(tsl_rebalance_phases_next(s, phase, record));
    if (talk && record->n_phases + more > 1) tsl_rebalance_phases_print(record, stdout);
    if (more) TSL_TRY(tsl_checkpoints_between(s, out, phase + 1));
  }
  TSL_TRY(walk(s, out, record));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_TRACEBACK));
  TSL_TRY(tsl_checkpoints_settle(s, out));
  if (out != NULL) TSL_COLLECTIVE_TRY(s->comm, tsl_out_close_stream(out));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_WRITE));
done:
  return err;
}
