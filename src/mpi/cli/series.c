/* The problems of a series one after another, as questions of the deck. Between them the session
 * is that of the whole: its problem has the fields of all, its checkpoints are theirs. */
#include "series.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "question.h"
#include "service.h"
#include "worker_notes.h"

#include <stdio.h>

/* What a session has of the whole while it computes a problem. */
typedef struct whole {
  tsl_problem problem;
  tsl_checkpoint_manager *checkpoints;
  bool away; /* they are here, and the session's are of a problem */
} whole;

bool tsl_series_asked(const tsl_session *s) {
  const tsl_service *service = s->family->service;
  return service != NULL && service->series != NULL && service->series->asked(s->deck);
}

/* ---- the session is of the whole, or of a problem */

static void exchange(tsl_session *s, whole *w) {
  tsl_checkpoint_manager *const checkpoints = s->checkpoints;
  const tsl_problem problem = s->problem;
  s->checkpoints = w->checkpoints, w->checkpoints = checkpoints;
  s->problem = w->problem, w->problem = problem;
  w->away = !w->away;
}

/* No checkpoint within a problem. */
static tsl_err leave_whole(tsl_session *s, whole *w) {
  tsl_err err = TSL_OK;
  exchange(s, w);
  TSL_TRY(tsl_checkpoints_foresee(s));
  s->checkpoints->on = false;
done:
  return err;
}

static void return_to_whole(tsl_session *s, whole *w) {
  if (!w->away) return;
  tsl_session_drop(s);
  tsl_checkpoints_free(s);
  exchange(s, w);
}

static tsl_err make_fields(tsl_session *s) {
  s->problem.family = s->family;
  s->problem.output = s->path;
  s->problem.talk = s->talk;
  return s->rank == 0 ? s->family->service->series->fields(s->talk, &s->problem) : TSL_OK;
}

/* A restart takes over what is computed; its problems are cut anew. */
static tsl_err begin_whole(tsl_session *s) {
  static const double EVERY = 1e-3; /* s: after each problem, where that costs at most 2 % */
  tsl_err err = TSL_OK;
  if (s->run.checkpoint > EVERY) s->run.checkpoint = EVERY;
  TSL_COLLECTIVE_TRY(s->comm, make_fields(s));
  TSL_TRY(tsl_checkpoints_ready(s));
  s->checkpoints->told = true; /* how often is this file's choice */
  for (int f = 0; f < TSL_MAX_FIELDS; f++) s->checkpoints->place[f] = -1; /* no rows in a file */
  s->limited = false;
  s->finished = NULL;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CHECKPOINT));
done:
  return err;
}

/* ---- a problem */

static void tell(const tsl_session *s, bool talks, double since) {
  char text[256];
  s->family->service->series->tell(s->talk, text, sizeof text);
  if (text[0] == '\0' || !talks) return;
  printf("%s, %.3g s\n", text, tsl_now() - since);
  (void)fflush(stdout);
}

static tsl_err compute_one(tsl_session *s, whole *w, bool talks, tsl_record *record) {
  tsl_err err = TSL_OK;
  const double since = tsl_now();
  tsl_record_clear(record);
  TSL_TRY(leave_whole(s, w));
  TSL_TRY(tsl_question_compute(s, record));
  TSL_TRY(tsl_worker_notes_gather(s, record));
  TSL_TRY(tsl_question_answer(s, &record->summary, TSL_OK));
  if (s->rank == 0) tell(s, talks, since);
done:
  return_to_whole(s, w);
  return err;
}

/* A problem that a signal has ended: a checkpoint is due. */
static tsl_err end_stopped(tsl_session *s, tsl_err stopped) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_checkpoints_between(s, NULL, 0));
  err = stopped;
done:
  return err;
}

static tsl_err compute_next(tsl_session *s, whole *w, bool talks, tsl_record *record,
                            tsl_asked *asked) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_question_next(s, asked));
  if (*asked == TSL_ASKED_PROBLEM) TSL_TRY(compute_one(s, w, talks, record));
done:
  return err;
}

static tsl_err compute_all(tsl_session *s, whole *w, bool talks, tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_asked asked = TSL_ASKED_NOTHING;
  while (asked != TSL_ASKED_END) {
    err = compute_next(s, w, talks, record, &asked);
    if (err == TSL_ERR_STOPPED) TSL_TRY(end_stopped(s, err));
    TSL_TRY(err);
    TSL_TRY(tsl_stage_fold(s));
    TSL_TRY(tsl_checkpoints_between(s, NULL, 0));
  }
done:
  return err;
}

tsl_err tsl_series_run(tsl_session *s, tsl_options *options, tsl_record *record) {
  tsl_err err = TSL_OK;
  const bool talks = s->rank == 0 && !options->quiet;
  whole w = {.checkpoints = NULL};
  char facts[TSL_FACTS];
  TSL_TRY(tsl_question_open(s, &(tsl_serving){.protocol = TSL_PROTOCOL_SERIES}));
  TSL_TRY(begin_whole(s));
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  tsl_session_facts(s, facts);
  if (talks) {
    tsl_report_head(s, stdout);
    tsl_machine_print(s->placements, s->size, stdout);
    printf("%s", facts);
    (void)fflush(stdout);
  }
  options->quiet = true;
  TSL_TRY(compute_all(s, &w, talks, record));
  if (talks) tsl_worker_notes_print(record, stdout);
  options->quiet = !talks;
done:
  return err;
}
