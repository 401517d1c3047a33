/* A trial times each way as a calibration does and keeps the fastest. */
#include "trial.h"

#include "calibrate.h"
#include "collective_error.h"
#include "files.h"
#include "measure.h"
#include "stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what create asks */

static int deciding_rank(const tsl_session *s) {
  for (int r = 0; r < s->size; r++)
    if (s->placements[r].device.kind == TSL_GPU) return r;
  return 0;
}

/* The key of the device that decides. */
static void make_key(const tsl_session *s, const char *what, char key[TSL_COST_KEY]) {
  tsl_calibration_key(&s->placements[deciding_rank(s)], s->family, what, key);
}

/* What a trial on the device has found; -1: not known, or to be found anew. */
static int32_t known_way(const tsl_session *s, const char *what) {
  char key[TSL_COST_KEY];
  double c[1][TSL_N_TERMS];
  make_key(s, what, key);
  if (s->run.calibrate == TSL_CALIBRATE_ALWAYS ||
      !tsl_calibration_find(&s->run, key, TSL_WAY, 1, c))
    return -1;
  return (int32_t)fmin(INT16_MAX, c[0][0]);
}

static int32_t decide(tsl_trial *trial, const char *what, int32_t n) {
  tsl_session *s = ((tsl_decider *)trial)->session;
  if (s->limited) {
    s->way = s->limits.way;
  } else if (strcmp(s->ways_of, what) != 0) {
    s->way = known_way(s, what);
    s->way_open = s->way < 0 && s->run.calibrate != TSL_CALIBRATE_PROBE;
  }
  if (s->way < 0 || s->way >= n) s->way = n / 2;
  (void)snprintf(s->ways_of, sizeof s->ways_of, "%s", what);
  s->n_ways = n;
  return s->way;
}

tsl_decider tsl_session_decider(tsl_session *session) {
  return (tsl_decider){.trial.way = decide, .session = session};
}

/* ---- the trial */

static tsl_err create_way(tsl_session *s, int32_t way) {
  tsl_err err = TSL_OK;
  s->way = way;
  tsl_session_drop(s);
  if (s->rank == 0) tsl_files_unname(s->n_files);
  TSL_TRY(tsl_session_problem(s));
done:
  return err;
}

/* s that all units of kind 0 take the device that decides, with everything in place. */
static tsl_err time_way(tsl_session *s, int32_t way, double *seconds) {
  tsl_err err = TSL_OK;
  tsl_speed speed = {{{0}}};
  int64_t n = 0;
  *seconds = 0;
  TSL_TRY(create_way(s, way));
  TSL_TRY(tsl_session_worker(s));
  while (n < s->units.n && s->units.list[n].kind == 0) n++;
  TSL_COLLECTIVE_TRY(s->comm,
                     tsl_measure(&s->executor, s->units.list, n, s->size, s->run.memory, &speed));
  for (int64_t u = 0; u < n; u++) *seconds += tsl_speed_seconds(&speed, &s->units.list[u]);
  TSL_MPI(MPI_Bcast(seconds, 1, MPI_DOUBLE, deciding_rank(s), s->comm));
done:
  return err;
}

/* The middle one, unless another is faster by more than times of a device vary. */
static int fastest(const double *seconds, int n) {
  int best = 0;
  for (int way = 1; way < n; way++)
    if (seconds[way] < seconds[best]) best = way;
  return seconds[best] * (1 + TSL_NOISE) < seconds[n / 2] ? best : n / 2;
}

/* Root. */
static void tell(const tsl_session *s, const double *seconds, int n, int best) {
  if (s->options->quiet) return;
  printf("trial on %s:", s->placements[deciding_rank(s)].device.name);
  for (int way = 0; way < n; way++) printf(" %.3g", seconds[way]);
  printf(" s; way %d of %d is kept\n", best + 1, n);
}

tsl_err tsl_session_try_ways(tsl_session *s) {
  tsl_err err = TSL_OK;
  double *seconds = NULL;
  char key[TSL_COST_KEY];
  int n = s->way_open ? s->n_ways : 0, best = 0;
  TSL_MPI(MPI_Bcast(&n, 1, MPI_INT, 0, s->comm));
  if (n == 0) return TSL_OK;
  s->way_open = false;
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(n, sizeof *seconds, "trial", (void **)&seconds));
  for (int way = 0; way < n; way++) TSL_TRY(time_way(s, way, &seconds[way]));
  best = fastest(seconds, n);
  if (s->rank == 0) {
    tell(s, seconds, n, best);
    make_key(s, s->ways_of, key);
    tsl_calibration_keep(&s->run, key, TSL_WAY, best);
  }
  TSL_TRY(create_way(s, best));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CALIBRATE));
done:
  tsl_free(seconds);
  return err;
}
