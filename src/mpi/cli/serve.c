/* `tesela serve`: the stages of a run without its output, once for each question. Deck, devices,
 * threads and the cost model are of the job; what a family keeps from question to question is its
 * own. */
#include "serve.h"

#include "checkpoint_manager.h"
#include "help.h"
#include "question.h"
#include "service.h"
#include "worker_notes.h"

#include <signal.h>
#include <stdio.h>

/* What the job's own lines are about. */
typedef struct server {
  tsl_session *session;
  bool tells;     /* a line a question; the stages themselves are quiet */
  int64_t number; /* of the question, from 1 */
} server;

/* ---- a question */

/* To people, who may want to know where the time goes. */
static void tell(const server *v, const tsl_summary *summary, tsl_err failed, double since) {
  char stages[512];
  const long long number = (long long)v->number;
  tsl_stage_text(v->session, stages, sizeof stages);
  if (failed != TSL_OK)
    fprintf(stderr, "tesela: question %lld failed: %s\n", number, tsl_err_message());
  else if (!summary->valid)
    fprintf(stderr, "tesela: question %lld is INVALID: %s\n", number, summary->reason);
  else if (v->tells)
    fprintf(stderr, "tesela: question %lld, %.1f ms: %s\n", number, 1e3 * (tsl_now() - since),
            stages);
}

/* What workers did without, once. */
static tsl_err tell_notes(tsl_session *s, tsl_record *record) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_worker_notes_gather(s, record));
  if (s->rank == 0) tsl_worker_notes_print(record, stderr);
done:
  return err;
}

static tsl_err serve_question(const server *v) {
  tsl_session *s = v->session;
  tsl_err err = TSL_OK, failed = TSL_OK;
  tsl_record record = {0};
  const double since = tsl_now();
  failed = tsl_question_compute(s, &record);
  if (failed != TSL_OK && !tsl_question_alone(failed)) return tsl_record_clear(&record), failed;
  if (s->rank == 0) tell(v, &record.summary, failed, since);
  TSL_TRY(tsl_question_answer(s, &record.summary, failed));
  if (v->number == 1 && failed == TSL_OK) TSL_TRY(tell_notes(s, &record));
done:
  tsl_session_drop(s);
  tsl_record_clear(&record);
  return err;
}

/* ---- the job */

static tsl_err serve_all(server *v) {
  tsl_err err = TSL_OK;
  tsl_session *s = v->session;
  for (v->number = 1;; v->number++) {
    tsl_asked asked = TSL_ASKED_NOTHING;
    TSL_TRY(tsl_question_next(s, &asked));
    tsl_stage_restart(s);
    if (asked == TSL_ASKED_END) break;
    TSL_TRY(serve_question(v));
  }
done:
  return err;
}

static tsl_err serve_session(tsl_session *s, tsl_options *options) {
  tsl_err err = TSL_OK;
  const tsl_serving how = {options->ipi != NULL   ? TSL_PROTOCOL_IPI
                           : options->mdi != NULL ? TSL_PROTOCOL_MDI
                                                  : TSL_PROTOCOL_QCSCHEMA,
                           options->ipi != NULL ? options->ipi : options->mdi};
  server v = {.session = s, .tells = s->rank == 0 && !options->quiet};
  TSL_TRY(tsl_session_deck(s));
  s->run.checkpoint = 0;
  TSL_TRY(tsl_checkpoints_foresee(s));
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  if (v.tells) tsl_machine_print(s->placements, s->size, stderr);
  TSL_TRY(tsl_question_open(s, &how));
  options->quiet = true; /* standard output is who asks */
  TSL_TRY(serve_all(&v));
done:
  return err;
}

tsl_err tsl_serve(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  tsl_options options;
  tsl_session session = {.comm = MPI_COMM_NULL};
  TSL_TRY(tsl_options_parse(argc, argv, "sqpdj", true, &options));
  if (options.help) return tsl_help(comm, "serve");
  if ((options.ipi != NULL) + (options.mdi != NULL) + options.qcschema != 1)
    TSL_FAIL(TSL_ERR_USAGE,
             "`tesela serve` needs one of --ipi ADDRESS, --mdi ADDRESS and --qcschema");
  (void)signal(SIGPIPE, SIG_IGN); /* who does not read any more is an error, not a death */
  TSL_TRY(tsl_session_open(comm, &options, &session));
  TSL_TRY(serve_session(&session, &options));
done:
  tsl_question_close(&session);
  tsl_session_close(&session);
  return err;
}
