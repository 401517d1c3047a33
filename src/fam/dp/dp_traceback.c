/* Recovery on the root: where the traceback begins, and its steps. */
#include "dp_ends.h"
#include "dp_family.h"

#include "files.h"

#include <stdio.h>
#include <string.h>

tsl_err dp_own_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_own *own = NULL;
  if (s->alignment != NULL)
    TSL_TRY(tsl_deck_blame(deck, "dp.alignment",
                           tsl_files_write(TSL_FILE_BESIDE, "dp.alignment", s->alignment)));
  if (s->structure != NULL)
    TSL_TRY(tsl_deck_blame(deck, "dp.structure",
                           tsl_files_write(TSL_FILE_BESIDE, "dp.structure", s->structure)));
  if (s->dot_plot != NULL)
    TSL_TRY(tsl_deck_blame(deck, "dp.dot_plot",
                           tsl_files_write(TSL_FILE_BESIDE, "dp.dot_plot", s->dot_plot)));
  TSL_TRY(tsl_alloc(1, sizeof *own, "solution", (void **)&own));
  own->alphabet = s->alphabet;
  own->wanted = s->best;
  own->alignment = s->alignment;
  own->structure = s->structure;
  own->dot_plot = s->dot_plot;
  problem->own = own;
done:
  return err;
}

void dp_destroy(tsl_problem *problem) {
  dp_own *own = dp_own_of(problem);
  if (own == NULL) return;
  TSL_FREE_ALL(own->lane_end, own->again);
  dp_sequence_clear(&own->a);
  dp_sequence_clear(&own->b);
  for (int64_t k = 1; k < own->n_list; k++) tsl_free((void *)own->list[k].steps);
  TSL_FREE_ALL(own->list, own->steps, own->energy, own->sizes, own->needed);
  dp_recur_close(&own->recur);
  tsl_free(own);
  problem->own = NULL;
}

void dp_note_input(dp_own *own, const char *name, const char *about) {
  const size_t used = strlen(own->input);
  (void)snprintf(own->input + used, sizeof own->input - used, "%s: %s\n", name, about);
}

/* ---- the walk */

/** Is the first row of "best" better? */
static bool beats(const tsl_problem *problem, const int64_t *x, const int64_t *y) {
  double costs[2];
  if (dp_params_of(problem)->problem == DP_LOCAL) {
    if (x[0] != y[0] || x[0] == 0) return x[0] > y[0];
    return x[1] < y[1] || (x[1] == y[1] && x[2] < y[2]);
  }
  if (problem->fields[DP_GOAL].type == TSL_I64) return x[0] < y[0];
  memcpy(&costs[0], &x[0], sizeof costs[0]);
  memcpy(&costs[1], &y[0], sizeof costs[1]);
  return costs[0] < costs[1];
}

const int64_t *dp_best_of(const tsl_problem *problem) {
  const int64_t *rows = problem->fields[dp_field(problem, "best")].data, *best = rows;
  const int64_t width = dp_best_width(dp_params_of(problem));
  for (int64_t k = 1; k < dp_own_of(problem)->n_lanes; k++)
    if (beats(problem, rows + k * width, best)) best = rows + k * width;
  return best;
}

void dp_end_of(const tsl_problem *problem, int64_t end[3]) {
  const int f = dp_field(problem, "best");
  dp_ends_find(dp_params_of(problem), problem->fields[f].data, dp_own_of(problem)->n_lanes, end);
}

static int64_t lane_of(const dp_own *own, int64_t column) {
  int64_t lane = 0;
  while (lane < own->n_lanes - 1 && own->lane_end[lane] <= column) lane++;
  return lane;
}

tsl_err dp_traceback_begin(tsl_problem *problem, tsl_cursor *cursor) {
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  const bool sweep = p->engine == DP_ROWS;
  *cursor = (tsl_cursor){.lane = -1, .at = {p->n, p->m}};
  if (p->mode != DP_RECOVER || p->engine == DP_INTERVAL || p->problem == DP_RECURRENCE)
    return TSL_OK;
  if (p->free_ends != 0) {
    int64_t end[3];
    dp_end_of(problem, end);
    cursor->at[0] = end[1], cursor->at[1] = end[2];
  } else if (dp_ready_of(p)->best && own->n_lanes > 0) {
    const int64_t *best = dp_best_of(problem);
    cursor->at[0] = best[1], cursor->at[1] = best[2];
    if (p->problem == DP_LOCAL) cursor->at[DP_CURSOR_SCORE] = best[0];
  }
  own->end[0] = cursor->at[0], own->end[1] = cursor->at[1];
  if (own->n_lanes == 0) return TSL_OK;
  if (cursor->at[0] == 0 || (!sweep && cursor->at[1] == 0)) return TSL_OK;
  cursor->lane = lane_of(own, cursor->at[1] - !sweep);
  return TSL_OK;
}

tsl_err dp_traceback_steps(tsl_problem *problem, const int64_t (*steps)[2], int64_t n) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  if (n == 0) return TSL_OK;
  TSL_TRY(
      tsl_grow((void **)&own->steps, own->n_steps, n, &own->room, sizeof *own->steps, "solution"));
  memcpy(own->steps + own->n_steps, steps, (size_t)n * sizeof *steps);
  own->n_steps += n;
done:
  return err;
}

/* ---- a run that goes on */

/* Sweeps begin anew: what leads to their cursor is not in their steps. */
void dp_traceback_so_far(const tsl_problem *problem, const int64_t (**steps)[2], int64_t *n) {
  const dp_own *own = dp_own_of(problem);
  *steps = (const int64_t(*)[2])own->steps;
  *n = dp_params_of(problem)->engine == DP_WAVEFRONT ? own->n_steps : 0;
}

/** One step back from cell (i, j): does it stay in the table? */
static bool step_back(const dp_params *p, const int64_t step[2], int64_t at[2]) {
  if (dp_ready_of(p)->steps == DP_STEPS_PLACES) {
    if (step[0] < 0 || step[1] < 0 || step[0] >= at[0] || step[1] >= at[1]) return false;
    /* the letters of an lcs are used up, the cells of a warping may share a row or a column */
    at[0] = step[0] + (p->problem == DP_DTW), at[1] = step[1] + (p->problem == DP_DTW);
    return true;
  }
  if (step[0] < DP_MATCH || step[0] > DP_DELETE || step[1] < 1) return false;
  const int64_t rows = step[0] == DP_INSERT ? 0 : step[1],
                columns = step[0] == DP_DELETE ? 0 : step[1];
  if (rows > at[0] || columns > at[1]) return false;
  at[0] -= rows, at[1] -= columns;
  return true;
}

tsl_err dp_traceback_resume(tsl_problem *problem, const tsl_cursor *cursor,
                            const int64_t (*steps)[2], int64_t n) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const dp_own *own = dp_own_of(problem);
  const bool runs = dp_ready_of(p)->steps == DP_STEPS_RUNS;
  int64_t at[2] = {own->end[0], own->end[1]};
  bool good = p->engine == DP_WAVEFRONT && p->mode == DP_RECOVER;
  for (int64_t k = 0; k < n && good; k++) good = step_back(p, steps[k], at);
  for (int axis = 0; axis < 2 && good; axis++)
    good = cursor->at[axis] > 0 && cursor->at[axis] <= at[axis] &&
           (!runs || cursor->at[axis] == at[axis]);
  good = good && cursor->at[2] >= DP_STEP_PAIR && cursor->at[2] <= DP_STEP_UP &&
         cursor->lane == lane_of(own, cursor->at[1] - 1);
  if (good && p->problem == DP_LOCAL)
    good =
        cursor->at[DP_CURSOR_SCORE] >= 0 && cursor->at[DP_CURSOR_SCORE] <= dp_best_of(problem)[0];
  if (!good)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: the checkpoint's part of the solution is none of this table");
  TSL_TRY(dp_traceback_steps(problem, steps, n));
done:
  return err;
}
