/* When checkpoints are due. */
#include "checkpoint_manager.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double MARGIN = 0.02, LEAST_MARGIN = 2, MOST_MARGIN = 60; /* of the walltime; s */
static const double SHARE = 0.02; /* of the run's time that checkpoints may cost */

/* Test knob: TSL_TEST_CHECKPOINTS=prompt, as often as asked for, however long the disk takes. */
static bool is_prompt(void) {
  const char *text = getenv("TSL_TEST_CHECKPOINTS");
  return text != NULL && strcmp(text, "prompt") == 0;
}

/* Slurm tells the moment (s since 1970) from version 23.02 on. */
static double slurm_seconds_left(void) {
  const char *text = getenv("SLURM_JOB_END_TIME");
  char *end = NULL;
  const double moment = text != NULL ? strtod(text, &end) : 0;
  if (text == NULL || end == text || *end != '\0' || !isfinite(moment)) return INFINITY;
  return moment - (double)time(NULL);
}

/* tsl_now() by which the run should pause for good; begins is when its time began. */
static double deadline_of(const tsl_session *s) {
  const double given = s->options->walltime;
  const double slurm = slurm_seconds_left();
  const double seconds = given > 0 ? given : slurm + tsl_now() - s->opened;
  const double margin = fmin(MOST_MARGIN, fmax(LEAST_MARGIN, MARGIN * seconds));
  return isinf(seconds) ? INFINITY : s->opened + fmax(0, seconds - margin);
}

void tsl_checkpoints_start_clock(tsl_session *s) {
  s->checkpoints->deadline = deadline_of(s);
  s->checkpoints->due = tsl_now() + s->run.checkpoint;
}

double tsl_checkpoints_pause_at(const tsl_checkpoint_manager *k) {
  return k->behind != NULL ? k->deadline : fmin(k->due, k->deadline);
}

/* Once. */
static void tell_later(tsl_session *s, const char *why, double seconds) {
  if (s->checkpoints->told) return;
  s->checkpoints->told = true;
  fprintf(stderr, "tesela: checkpoints are further apart than run.checkpoint (%g s): %s %.2g s\n",
          s->run.checkpoint, why, seconds);
}

void tsl_checkpoints_spend(tsl_session *s, double cost) {
  tsl_checkpoint_manager *k = s->checkpoints;
  const double asked = tsl_now() + s->run.checkpoint;
  k->spent += cost;
  k->due = is_prompt() ? asked : fmax(asked, s->opened + (k->spent + cost) / SHARE);
  if (k->due > asked)
    tell_later(s, "so that they cost at most 2 % of the run's time; the last took it", cost);
}

void tsl_checkpoints_put_off(tsl_session *s, double seconds) {
  if (tsl_now() > s->checkpoints->due) tell_later(s, "the disk takes for one", seconds);
}
