/* After the tiles: the goal, the solution in the file, the lines of the summary. */
#include "dp_family.h"

#include "files.h"
#include "rna_energy.h"

#include <stdio.h>
#include <string.h>

/* ---- the solution, from its beginning */

/** Steps of boundary cells that no tile holds: the rest of a or of b after the walk. Where that
 *  is free the solution begins behind it. */
static tsl_err add_boundary(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  dp_own *own = dp_own_of(problem);
  int64_t i = own->end[0], j = own->end[1];
  for (int64_t k = 0; k < own->n_steps; k++) {
    if (own->steps[k][0] != DP_INSERT) i -= own->steps[k][1];
    if (own->steps[k][0] != DP_DELETE) j -= own->steps[k][1];
  }
  const bool local = p->problem == DP_LOCAL;
  const int64_t rest[2][2] = {{DP_DELETE, i}, {DP_INSERT, j}};
  if (!local && !(p->free_ends & DP_A_BEGIN)) {
    if (i > 0) TSL_TRY(dp_traceback_steps(problem, &rest[0], 1));
    i = 0;
  }
  if (!local && !(p->free_ends & DP_B_BEGIN)) {
    if (j > 0) TSL_TRY(dp_traceback_steps(problem, &rest[1], 1));
    j = 0;
  }
  own->begin[0] = i, own->begin[1] = j;
done:
  return err;
}

/** Neighbouring runs of one operation become one. */
static void join_runs(dp_own *own) {
  int64_t kept = 0;
  for (int64_t k = 0; k < own->n_steps; k++) {
    if (own->steps[k][1] == 0) continue;
    if (kept > 0 && own->steps[kept - 1][0] == own->steps[k][0])
      own->steps[kept - 1][1] += own->steps[k][1];
    else
      memmove(own->steps[kept++], own->steps[k], sizeof own->steps[k]);
  }
  own->n_steps = kept;
}

/** n steps from the end. */
static tsl_err store_steps(tsl_problem *problem, const int64_t (*steps)[2], int64_t n,
                           const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  int64_t(*forward)[2] = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *forward, "solution", (void **)&forward));
  for (int64_t k = 0; k < n; k++) memcpy(forward[k], steps[n - 1 - k], sizeof forward[k]);
  TSL_TRY(store->append(store->state, dp_field(problem, "path"), forward, n));
done:
  tsl_free(forward);
  return err;
}

/* ---- alignments */

/** The best one, and as many others as the deck asks for. */
static tsl_err list_alignments(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  bool apart = true;
  TSL_TRY(tsl_alloc(own->wanted, sizeof *own->list, "alignments", (void **)&own->list));
  own->list[0] = dp_alignment_of(problem);
  own->n_list = 1;
  TSL_TRY(dp_others_find(problem, own->list, own->wanted, &own->n_list));
  if (own->n_list > 1) TSL_TRY(dp_others_check(problem, own->list, own->n_list, &apart));
  if (!apart)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "two alignments have a pair of letters in common, or are not in order");
done:
  return err;
}

static tsl_err store_alignments(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const dp_own *own = dp_own_of(problem);
  for (const letters_alignment *a = own->list; a < own->list + own->n_list; a++) {
    const int64_t record[] = {a->value, a->begin[0], a->end[0], a->begin[1], a->end[1], a->n_steps};
    TSL_TRY(store_steps(problem, a->steps, a->n_steps, store));
    if (own->wanted > 1 && a->n_steps > 0)
      TSL_TRY(store->append(store->state, dp_field(problem, "alignments"), record, 1));
  }
done:
  return err;
}

/* ---- the goal where no tile gives it */

/** One stage: the state that is cheapest to begin in. */
static tsl_err single_stage(tsl_problem *problem) {
  const tsl_field *start = &problem->fields[DP_B];
  int64_t best[1][2] = {{0, 0}};
  for (int64_t s = 1; s < start->shape[0]; s++)
    if (dp_field_number(start, s) < dp_field_number(start, best[0][1])) best[0][1] = s;
  dp_goal_set(&problem->fields[DP_GOAL], dp_field_number(start, best[0][1]));
  return dp_params_of(problem)->mode == DP_RECOVER
             ? dp_traceback_steps(problem, (const int64_t(*)[2])best, 1)
             : TSL_OK;
}

/** Tables without tiles: the end of the only row or column, or a binomial above the diagonal. */
static tsl_err empty_goal(tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  if (p->problem == DP_STAGECOACH) return single_stage(problem);
  *(int64_t *)problem->fields[DP_GOAL].data =
      p->m > 0 ? dp_boundary(p, p->m, false) : dp_boundary(p, p->n, true);
  return TSL_OK;
}

static tsl_err settle_end(tsl_problem *problem) {
  dp_own *own = dp_own_of(problem);
  int64_t end[3];
  dp_end_of(problem, end);
  *(int64_t *)problem->fields[DP_GOAL].data = end[0];
  own->end[0] = end[1], own->end[1] = end[2];
  return TSL_OK;
}

/** Of all bands; nothing when one of them went on from a checkpoint. */
static void count_pruned(tsl_problem *problem) {
  const int64_t *lanes = problem->fields[dp_field(problem, "best")].data;
  const int64_t width = dp_best_width(dp_params_of(problem));
  dp_own *own = dp_own_of(problem);
  double pruned = 0;
  bool known = true;
  for (int64_t k = 0; k < own->n_lanes; k++) {
    pruned += (double)lanes[width * k + 3];
    known = known && lanes[width * k + 3] >= 0;
  }
  own->pruned = known ? pruned : 0;
}

/** The table must have what anchors have shown. */
static void compare_anchored(const tsl_problem *problem) {
  const int64_t goal = *(const int64_t *)problem->fields[DP_GOAL].data;
  const int64_t least = dp_params_of(problem)->least;
  dp_own *own = dp_own_of(problem);
  if (goal < least)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "the table's best score is %lld, but anchors give an alignment of %lld",
                   (long long)goal, (long long)least);
}

static tsl_err settle_goal(tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  if (p->engine == DP_INTERVAL) return TSL_OK;
  if (dp_own_of(problem)->attempts.certain) {
    *(int64_t *)problem->fields[DP_GOAL].data = dp_own_of(problem)->attempts.goal;
    return TSL_OK;
  }
  if (p->free_ends != 0) return settle_end(problem);
  if (dp_own_of(problem)->n_lanes == 0) return empty_goal(problem);
  if (p->problem == DP_LOCAL) count_pruned(problem);
  if (dp_ready_of(p)->best) /* the same bits in both types */
    memcpy(problem->fields[DP_GOAL].data, dp_best_of(problem), sizeof(int64_t));
  if (p->problem == DP_LOCAL) compare_anchored(problem);
  return TSL_OK;
}

/* ---- the boundary of a table without tiles */

static tsl_err store_boundary(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const int f = dp_field(problem, "table");
  const tsl_field *field = &problem->fields[f];
  const int64_t n = field->shape[0] * field->shape[1];
  void *values = NULL;
  if (p->problem == DP_STAGECOACH)
    return store->write(store->state, f, 0, 1, problem->fields[DP_B].data);
  TSL_TRY(tsl_alloc(n, 8, "table", &values));
  for (int64_t k = 0; k < n; k++)
    if (field->type == TSL_I32)
      ((int32_t *)values)[k] = (int32_t)dp_boundary(p, k, p->n > 0);
    else if (field->type == TSL_I64)
      ((int64_t *)values)[k] = dp_boundary(p, k, p->n > 0);
  TSL_TRY(store->write(store->state, f, 0, field->shape[0], values));
done:
  tsl_free(values);
  return err;
}

/* ---- finish */

static tsl_err finish_traceback(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const dp_ready *ready = dp_ready_of(dp_params_of(problem));
  dp_own *own = dp_own_of(problem);
  const bool runs = ready->steps == DP_STEPS_RUNS;
  if (runs) TSL_TRY(add_boundary(problem));
  if (ready->steps != DP_STEPS_PLACES) join_runs(own);
  if (runs) TSL_TRY(list_alignments(problem));
  ready->rescore(problem);
  TSL_TRY(runs ? store_alignments(problem, store)
               : store_steps(problem, (const int64_t(*)[2])own->steps, own->n_steps, store));
  if (own->alignment != NULL) (void)tsl_files_lose("dp.alignment", dp_write_alignment(problem));
done:
  return err;
}

tsl_err dp_finish(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const bool interval = p->engine == DP_INTERVAL;
  if (p->problem == DP_RECURRENCE) return dp_recur_finish(problem, store);
  TSL_TRY(settle_goal(problem));
  if (p->mode == DP_TABLE && !interval && dp_own_of(problem)->n_lanes == 0)
    TSL_TRY(store_boundary(problem, store));
  if (p->mode == DP_RECOVER)
    TSL_TRY(p->problem == DP_FOLD        ? dp_recover_fold(problem, store)
            : p->problem == DP_PARTITION ? dp_recover_partition(problem, store)
            : interval                   ? dp_recover_interval(problem, store)
                                         : finish_traceback(problem, store));
done:
  return err;
}

/* ---- summary */

static double goal_value(const tsl_field *goal) {
  return goal->type == TSL_F64 ? *(const double *)goal->data : (double)*(const int64_t *)goal->data;
}

void dp_pruned_text(const tsl_problem *problem, char *text, size_t size) {
  const dp_params *p = dp_params_of(problem);
  const double cells = (double)p->n * (double)p->m, pruned = dp_own_of(problem)->pruned;
  text[0] = '\0';
  if (pruned > 0)
    (void)snprintf(text, size,
                   "%.4g %% of the table's cells computed: no better score in the others",
                   100 * (1 - pruned / cells));
}

/** Letters, dots and brackets, and the energy, as RNAfold prints them. */
static void show_structure(const tsl_problem *problem, tsl_summary *summary) {
  const dp_own *own = dp_own_of(problem);
  char *to = summary->text;
  if (own->shown[0] == '\0') return;
  if (dp_params_of(problem)->problem == DP_FOLD)
    (void)snprintf(to, sizeof summary->text, "%s (%6.2f)", own->shown,
                   goal_value(&problem->fields[DP_GOAL]) / 100);
  else if (own->centroid < RNA_HIGH)
    (void)snprintf(to, sizeof summary->text, "%s {%6.2f d=%.2f}", own->shown,
                   (double)own->centroid / 100, own->distance);
  else
    (void)snprintf(to, sizeof summary->text, "%s {d=%.2f}", own->shown, own->distance);
  const size_t used = strlen(to);
  if (own->accurate[0] != '\0' && used + strlen(own->accurate) + 2 < sizeof summary->text)
    (void)snprintf(to + used, sizeof summary->text - used, "\n%s", own->accurate);
}

tsl_err dp_summary(const tsl_problem *problem, tsl_summary *summary) {
  const dp_params *p = dp_params_of(problem);
  const dp_own *own = dp_own_of(problem);
  const tsl_field *goal = &problem->fields[DP_GOAL];
  summary->valid = true;
  summary->other_work = own->needed == NULL && own->pruned > 0; /* cells not foretold left out */
  const int64_t one = p->problem == DP_RECURRENCE;
  tsl_summary_add(summary, "rows", (double)(p->n + one), "1");
  tsl_summary_add(summary, "columns", (double)(p->m + one), "1");
  if (p->problem == DP_FOLD)
    tsl_summary_add(summary, "energy", goal_value(goal) / 100, "kcal/mol");
  else if (p->problem == DP_PARTITION)
    tsl_summary_add(summary, "ensemble energy", goal_value(goal), "kcal/mol");
  else
    tsl_summary_add(summary, goal->quantity[0] != '\0' ? goal->quantity : goal->name,
                    goal_value(goal), "1");
  if (p->problem == DP_PARTITION && p->mode == DP_RECOVER) {
    if (own->centroid < RNA_HIGH)
      tsl_summary_add(summary, "energy of the centroid", (double)own->centroid / 100, "kcal/mol");
    tsl_summary_add(summary, "distance to the centroid", own->distance, "pairs");
    tsl_summary_add(summary, "maximum expected accuracy", own->accuracy, "letters");
  }
  show_structure(problem, summary);
  if (p->problem == DP_LOCAL) dp_pruned_text(problem, summary->text, sizeof summary->text);
  if ((p->problem == DP_LOCAL || p->free_ends != 0) && p->mode == DP_RECOVER) {
    tsl_summary_add(summary, "first letter of a", (double)own->begin[0], "1");
    tsl_summary_add(summary, "first letter of b", (double)own->begin[1], "1");
  }
  if (own->wanted > 1 && own->list != NULL)
    tsl_summary_add(summary, "alignments", (double)own->n_list, "1");
  if (p->free_ends != 0) {
    tsl_summary_add(summary, "end in a", (double)own->end[0], "1");
    tsl_summary_add(summary, "end in b", (double)own->end[1], "1");
  }
  if (own->mismatch[0] != '\0') {
    summary->valid = false;
    (void)snprintf(summary->reason, sizeof summary->reason, "%s", own->mismatch);
  }
  return TSL_OK;
}
