/* One question: asked, computed, answered. */
#include "question.h"

#include "collective_error.h"
#include "phases.h"
#include "service.h"
#include "trial.h"

static tsl_err open_talk(tsl_session *s, const tsl_serving *how) {
  tsl_err err = TSL_OK;
  if (s->family->service == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s: family '%s' is not served; `tesela run` computes it once",
             s->options->deck, s->family->name);
  TSL_TRY(s->family->service->open(s->deck, how, &s->talk));
done:
  return err;
}

tsl_err tsl_question_open(tsl_session *s, const tsl_serving *how) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? open_talk(s, how) : TSL_OK);
done:
  return err;
}

static tsl_err ask(tsl_session *s, tsl_asked *asked) {
  static const double LOOK = 1; /* s */
  tsl_err err = TSL_OK;
  *asked = TSL_ASKED_NOTHING;
  while (*asked == TSL_ASKED_NOTHING) {
    if (tsl_stop_signal != 0)
      TSL_FAIL(TSL_ERR_STOPPED, "stopped by signal %d between two questions", tsl_stop_signal);
    TSL_TRY(s->family->service->next(s->talk, LOOK, asked));
  }
done:
  return err;
}

tsl_err tsl_question_next(tsl_session *s, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  int number = TSL_ASKED_NOTHING;
  *asked = TSL_ASKED_NOTHING;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? ask(s, asked) : TSL_OK);
  number = *asked;
  TSL_MPI(MPI_Bcast(&number, 1, MPI_INT, 0, s->comm));
  *asked = (tsl_asked)number;
done:
  return err;
}

tsl_err tsl_question_compute(tsl_session *s, tsl_record *record) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_session_problem(s));
  TSL_TRY(tsl_session_try_ways(s));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
  TSL_TRY(tsl_phases_run(s, NULL, record));
  record->summary = (tsl_summary){.valid = true};
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 && s->family->summary != NULL
                                  ? s->family->summary(&s->problem, &record->summary)
                                  : TSL_OK);
done:
  return err;
}

tsl_err tsl_question_answer(tsl_session *s, const tsl_summary *summary, tsl_err failed) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(
      s->comm,
      s->rank == 0 ? s->family->service->answer(s->talk, &s->problem, summary, failed) : TSL_OK);
done:
  return err;
}

bool tsl_question_alone(tsl_err err) {
  return err == TSL_ERR_INPUT || err == TSL_ERR_NUMERIC || err == TSL_ERR_MEMORY ||
         err == TSL_ERR_DEVICE_MEMORY;
}

void tsl_question_close(tsl_session *s) {
  if (s->talk != NULL) s->family->service->close(&s->talk);
}
