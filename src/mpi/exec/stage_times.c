/* The main thread's stages: a stopwatch whose laps are summed by stage and phase. */
#include "stage_times.h"

#include "collective_error.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

#define STAGE_WORD(name, word) word,
static const char *const words[TSL_N_STAGES] = {TSL_STAGE_LIST(STAGE_WORD)};
#undef STAGE_WORD

/* The lap's start. */
static double stage_lap(tsl_stage_clock *clock, tsl_stage stage) {
  const double start = clock->since;
  clock->since = tsl_now();
  clock->spent[stage] += clock->since - start;
  return start;
}

void tsl_stage_start(tsl_session *s) {
  s->stages = (tsl_stage_clock){.since = s->trace.origin};
  s->stages.spent[TSL_STAGE_START] = s->trace.origin - s->opened;
}

tsl_err tsl_stage_end(tsl_session *s, tsl_stage stage) {
  tsl_err err = TSL_OK;
  const double start = stage_lap(&s->stages, stage);
  if (!s->trace.on) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, tsl_trace_add(&s->trace, TSL_TRACK_MAIN, words[stage], -1, start,
                                            s->stages.since - start));
done:
  return err;
}

tsl_err tsl_stage_rows(tsl_session *s, int64_t phase) {
  tsl_err err = TSL_OK;
  tsl_stage_clock *clock = &s->stages;
  for (int k = 0; k < TSL_N_STAGES && s->rank == 0; k++) {
    if (clock->spent[k] <= 0) continue;
    TSL_TRY(tsl_grow((void **)&clock->rows, clock->n_rows, 1, &clock->capacity, sizeof *clock->rows,
                     "stages"));
    tsl_stage_row *row = &clock->rows[clock->n_rows++];
    *row = (tsl_stage_row){.phase = phase, .seconds = clock->spent[k]};
    (void)snprintf(row->stage, sizeof row->stage, "%s", words[k]);
  }
  memset(clock->spent, 0, sizeof clock->spent);
done:
  return err;
}

/* Of a phase, besides checkpoints; messages where they cross no network. */
static bool is_of_phase(const tsl_session *s, const char *stage) {
  static const tsl_stage always[] = {TSL_STAGE_REBALANCE, TSL_STAGE_BEGIN,  TSL_STAGE_COMPUTE,
                                     TSL_STAGE_COLLECT,   TSL_STAGE_RECORD, TSL_STAGE_ADVANCE};
  bool found = false, one_node = true;
  for (int r = 0; r < s->size; r++) one_node = one_node && s->placements[r].node == 0;
  for (size_t k = 0; k < sizeof always / sizeof always[0]; k++)
    found = found || strcmp(stage, words[always[k]]) == 0;
  return found || (one_node && (strcmp(stage, words[TSL_STAGE_SHARE]) == 0 ||
                                strcmp(stage, words[TSL_STAGE_COMBINE]) == 0));
}

void tsl_stage_phases(const tsl_session *s, int64_t first, int64_t n, double *seconds) {
  const tsl_stage_clock *clock = &s->stages;
  memset(seconds, 0, (size_t)n * sizeof *seconds);
  for (int64_t r = 0; r < clock->n_rows; r++) {
    const tsl_stage_row *row = &clock->rows[r];
    if (row->phase >= first && row->phase < first + n && is_of_phase(s, row->stage))
      seconds[row->phase - first] += row->seconds;
  }
}

tsl_err tsl_stage_fold(tsl_session *s) {
  tsl_stage_clock *clock = &s->stages;
  for (int64_t r = 0; r < clock->n_rows; r++)
    for (int k = 0; k < TSL_N_STAGES; k++)
      if (strcmp(clock->rows[r].stage, words[k]) == 0) clock->spent[k] += clock->rows[r].seconds;
  clock->n_rows = 0;
  return tsl_stage_rows(s, -1);
}

static const tsl_column columns[] = {
    TSL_COLUMN(tsl_stage_row, phase, ""),
    TSL_TEXT_COLUMN(tsl_stage_row, stage, "stage"),
    TSL_COLUMN(tsl_stage_row, seconds, "s"),
    TSL_NO_COLUMN,
};

tsl_err tsl_stage_store(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  tsl_stage_clock *clock = &s->stages;
  (void)stage_lap(clock, TSL_STAGE_WRITE);
  TSL_TRY(tsl_stage_rows(s, -1));
  TSL_TRY(
      tsl_out_table(out, "/run/stages", columns, clock->rows, sizeof *clock->rows, clock->n_rows));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "total_seconds", clock->since - s->opened));
done:
  return err;
}

void tsl_stage_restart(tsl_session *s) {
  tsl_stage_clock *clock = &s->stages;
  memset(clock->spent, 0, sizeof clock->spent);
  clock->n_rows = 0;
  clock->since = tsl_now();
}

void tsl_stage_text(const tsl_session *s, char *text, size_t size) {
  static const double LEAST = 1e-4; /* s; less is not told */
  const tsl_stage_clock *clock = &s->stages;
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < TSL_N_STAGES; k++) {
    double sum = clock->spent[k];
    for (int64_t r = 0; r < clock->n_rows; r++)
      if (strcmp(clock->rows[r].stage, words[k]) == 0) sum += clock->rows[r].seconds;
    if (sum >= LEAST && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%.1f ms %s", used > 0 ? ", " : "",
                               1e3 * sum, words[k]);
  }
}

void tsl_stage_clear(tsl_stage_clock *clock) {
  tsl_free(clock->rows);
  *clock = (tsl_stage_clock){0};
}
