/* From a deck to parameters and fields; the family's table. */
#include "dp_family.h"
#include "integers.h"

#include <stdio.h>
#include <string.h>

tsl_err dp_add_output(tsl_problem *problem, const tsl_field *ask, const char *name,
                      const char *doc) {
  tsl_field field = *ask, *added = NULL;
  field.role = TSL_OUT;
  tsl_field_label(&field, name, "1", doc);
  return tsl_problem_add(problem, &field, &added);
}

static bool is_real(const dp_params *p) {
  return p->type == TSL_F32 || p->type == TSL_F64;
}

static tsl_err add_table(const char *quantity, tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  const char *doc = dp_ready_of(p)->table;
  const bool wanted = p->mode == DP_TABLE;
  const int64_t edge = dp_has_boundary(p);
  tsl_field ask = {.type = p->type,
                   .combine = TSL_GATHER,
                   .rank = 2,
                   .shape = {p->n + edge, p->m + edge, 1},
                   .stream = wanted,
                   .hidden = !wanted};
  if (p->engine == DP_INTERVAL) ask.shape[0] = ask.shape[1] = dp_posts(p);
  if (p->problem == DP_PARTITION) ask.shape[0] = ask.shape[1] = tsl_max(p->n, 1);
  (void)snprintf(ask.quantity, sizeof ask.quantity, "%s", quantity);
  return dp_add_output(problem, &ask, "table",
                       doc != NULL ? doc : "The table; row 0 and column 0 are its boundary.");
}

static tsl_err add_outputs(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const dp_ready *ready = dp_ready_of(p);
  const char *quantity = dp_ready_rows[s->problem].goal;
  tsl_field goal = {
      .type = is_real(p) ? TSL_F64 : TSL_I64, .combine = TSL_SUM, .rank = 1, .shape = {1, 1, 1}};
  const tsl_field best = {.type = TSL_I64,
                          .combine = TSL_GATHER,
                          .rank = 2,
                          .shape = {DP_MAX_LANES, dp_best_width(p), 1},
                          .hidden = 1};
  const tsl_field path = {
      .type = TSL_I64, .combine = TSL_LIST, .rank = 2, .shape = {0, ready->columns, 1}};
  const tsl_field alignments = {
      .type = TSL_I64, .combine = TSL_LIST, .rank = 2, .shape = {0, 6, 1}};
  const tsl_field text = {.type = TSL_U8, .combine = TSL_LIST, .rank = 1, .shape = {0, 1, 1}};
  (void)snprintf(goal.quantity, sizeof goal.quantity, "%s", quantity);
  TSL_TRY(dp_add_output(problem, &goal, "goal",
                        p->problem == DP_FOLD        ? "The optimum in 0.01 kcal/mol."
                        : p->problem == DP_PARTITION ? "Ensemble energy -kT ln Z in kcal/mol."
                                                     : "The optimum."));
  if (dp_has_best(p)) TSL_TRY(dp_add_output(problem, &best, "best", "Best cell of each lane."));
  if (p->mode == DP_RECOVER && ready->columns == 0)
    TSL_DECK_FAIL(deck, "dp.mode", "problem %s has no solution to recover",
                  dp_problem_words[s->problem]);
  if (p->mode == DP_RECOVER) TSL_TRY(dp_add_output(problem, &path, "path", ready->path));
  if (s->best > 1)
    TSL_TRY(dp_add_output(problem, &alignments, "alignments",
                          "Alignments, the best first: score, first letter of a and end in a, of "
                          "b, runs in path."));
  if (p->mode == DP_RECOVER && (p->problem == DP_FOLD || p->problem == DP_PARTITION))
    TSL_TRY(dp_add_output(problem, &text, "structure", "Dots and brackets, a letter each, ASCII."));
  if (p->problem == DP_PARTITION) TSL_TRY(dp_add_partition_outputs(problem));
  if (p->mode == DP_TABLE || (p->mode == DP_RECOVER && p->engine == DP_INTERVAL))
    TSL_TRY(add_table(quantity, problem));
done:
  return err;
}

/** Cells of the table must be countable, intervals to be recovered must fit the memory. */
static tsl_err check_sizes(const tsl_deck *deck, const dp_params *p) {
  tsl_err err = TSL_OK;
  int64_t cells = 0, posts = dp_posts(p);
  char need[24], have[24];
  if (!tsl_mul_i64(p->n + 2, p->m + 2, &cells) || !tsl_mul_i64(cells, 16, &cells))
    (void)tsl_deck_fail(deck, err = TSL_ERR_NUMERIC, "dp", __FILE__, __LINE__,
                        "%lld x %lld cells overflow a 64-bit count", (long long)p->n,
                        (long long)p->m);
  if (err != TSL_OK) goto done;
  if (p->engine == DP_INTERVAL && p->mode == DP_RECOVER) {
    const double bytes = (double)posts * (double)posts * (double)tsl_type_bytes((tsl_type)p->type);
    if (bytes > (double)p->budget)
      TSL_DECK_FAIL(deck, "dp.memory", "%s is too little to recover a solution: %s is needed",
                    tsl_bytes_text((double)p->budget, have), tsl_bytes_text(bytes, need));
  }
  if (p->engine == DP_WAVEFRONT && (p->n > INT32_MAX - 64 || p->m > INT32_MAX - 64))
    TSL_DECK_FAIL(deck, "dp", "sequences of more than 2^31 letters are not supported (%lld, %lld)",
                  (long long)p->n, (long long)p->m);
done:
  return err;
}

/** Half of the memory is for the table of the alignments after the best one. */
static tsl_err check_others(const tsl_deck *deck, const dp_deck *s, const tsl_problem *problem,
                            dp_params *p) {
  tsl_err err = TSL_OK;
  const tsl_device *root = problem->n_devices > 0 ? &problem->devices[0] : NULL;
  char need[24], have[24];
  if (s->best <= 1) return TSL_OK;
  const int64_t bytes = dp_others_bytes(p);
  if (bytes > p->budget / 2)
    TSL_DECK_FAIL(deck, "dp.memory",
                  "%s is too little for best: %lld: rank 0 keeps a table in half of it, and %s is "
                  "needed",
                  tsl_bytes_text((double)p->budget, have), (long long)s->best,
                  tsl_bytes_text(2.0 * (double)bytes, need));
  if (root != NULL && root->kind == TSL_CPU && root->memory_limit > 0 &&
      bytes > root->memory_limit / 2)
    TSL_DECK_FAIL(deck, "dp.best", "rank 0 may use %s of its host, and %s is needed",
                  tsl_bytes_text((double)root->memory_limit, have),
                  tsl_bytes_text(2.0 * (double)bytes, need));
  p->budget -= bytes;
done:
  return err;
}

/** Where a recovery's rows go to disk: is there a folder, with room as this host sees it? */
static tsl_err settle_rows(const tsl_deck *deck, const dp_deck *s, const tsl_problem *problem,
                           dp_params *p) {
  tsl_err err = TSL_OK;
  const char *folder = s->special_rows.folder;
  const int64_t ranks = problem->n_devices > 0 ? problem->n_devices : 1;
  tsl_scratch_file file = {.folder = NULL};
  char need[24], have[24];
  if (!tsl_deck_given(deck, "dp.special_rows")) return TSL_OK;
  if (folder == NULL || folder[0] == '\0')
    TSL_DECK_FAIL(deck, "dp.special_rows", "needs the key folder");
  if (snprintf(p->special_folder, sizeof p->special_folder, "%s", folder) >=
      (int)sizeof p->special_folder)
    TSL_DECK_FAIL(deck, "dp.special_rows.folder", "longer than %d bytes",
                  (int)sizeof p->special_folder - 1);
  TSL_TRY(tsl_deck_blame(deck, "dp.special_rows.folder",
                         tsl_scratch_open(p->special_folder, 0, &file)));
  const int64_t n_free = tsl_scratch_free(&file) / ranks;
  p->special_rows = s->special_rows.size > 0 ? s->special_rows.size : n_free / 2;
  if (p->special_rows > n_free || p->special_rows == 0)
    TSL_DECK_FAIL(deck, "dp.special_rows.size",
                  "%s, but '%s' has only %s free for each of %lld rank%s",
                  tsl_bytes_text((double)p->special_rows, need), folder,
                  tsl_bytes_text((double)n_free, have), (long long)ranks, ranks == 1 ? "" : "s");
done:
  tsl_scratch_close(&file);
  return err;
}

static tsl_err create_ready(tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  p->engine = (int32_t)dp_ready_of(p)->engine, p->type = s->type;
  TSL_TRY(settle_rows(deck, s, problem, p));
  TSL_TRY(dp_own_create(deck, s, problem));
  TSL_TRY(dp_ready_of(p)->load(deck, s, problem));
  TSL_TRY(check_sizes(deck, p));
  TSL_TRY(check_others(deck, s, problem, p));
  TSL_TRY(add_outputs(deck, s, problem));
done:
  return err;
}

static tsl_err dp_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_deck s;
  dp_params *p = NULL;
  memset(&s, 0, sizeof s);
  TSL_TRY(tsl_alloc(1, sizeof(dp_params), "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof(dp_params);
  p = problem->params;
  TSL_TRY(tsl_deck_bind(deck, "dp", dp_keys, sizeof s, &s));
  TSL_TRY(dp_deck_settle(deck, &s));
  p->problem = (int32_t)dp_ready_rows[s.problem].problem;
  p->mode = s.mode, p->budget = s.memory, p->host = s.recover, p->band = s.band;
  p->free_ends = s.free_ends;
  TSL_TRY(p->problem == DP_RECURRENCE ? dp_recur_create(deck, &s, problem)
                                      : create_ready(deck, &s, problem));
  problem->shortcut = problem->shortcut && dp_diagonals_apply(p);
done:
  return err;
}

/** FNV-1a of the texts of an equation (Fowler, Noll, Vo). */
static unsigned long long hash_equation(const dp_equation *equation) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int32_t k = 0; k < equation->n_text; k++)
    hash = (hash ^ (unsigned char)equation->text[k]) * UINT64_C(1099511628211);
  return hash;
}

/** What the speed of a cell depends on; a: anchors foretell which are left out. */
static void dp_signature(const tsl_problem *problem, char text[96]) {
  const dp_params *p = dp_params_of(problem);
  if (p->problem == DP_RECURRENCE) {
    (void)snprintf(text, 96, "recurrence %016llx %s %s p%d i%d",
                   hash_equation(problem->fields[DP_A].data), dp_mode_words[p->mode],
                   tsl_type_name((tsl_type)p->type), p->pattern, p->interpret);
    return;
  }
  (void)snprintf(text, 96, "%s %s %s u%d l%d w%d a%d", dp_problem_words[p->problem],
                 dp_mode_words[p->mode], tsl_type_name((tsl_type)p->type), p->unit, p->letters,
                 p->modulus > 0, p->least > 0);
}

/** What anchors say before the table is filled. */
static void tell_first_look(const tsl_problem *problem, char *text, size_t size) {
  const dp_params *p = dp_params_of(problem);
  const int64_t lo[2] = {0, 0}, hi[2] = {p->n, p->m};
  (void)snprintf(text, size,
                 "anchors: an alignment has the score %lld, so that about %.2g %% of the table's "
                 "cells are to be computed\n",
                 (long long)p->least, 100 * dp_needed_part(p, dp_own_of(problem)->needed, lo, hi));
}

static void tell_rows(const dp_params *p, char *text, size_t size) {
  char most[24];
  (void)snprintf(text, size, "special rows go to disk in '%s', at most %s of a rank\n",
                 p->special_folder, tsl_bytes_text((double)p->special_rows, most));
}

/** How the input was read; what the dependency checker found in the deck's recurrence; bands of
 *  diagonals; what the way back costs. */
static void dp_describe(const tsl_problem *problem, char *text, size_t size) {
  const dp_own *own = dp_own_of(problem);
  int used = snprintf(text, size, "%s%s", own->input, own->facts);
  if (used >= 0 && (size_t)used < size) dp_attempts_tell(problem, text + used, size - (size_t)used);
  used = (int)strlen(text);
  if (own->needed != NULL) tell_first_look(problem, text + used, size - (size_t)used);
  used = (int)strlen(text);
  if (own->pruned > 0) {
    dp_pruned_text(problem, text + used, size - (size_t)used);
    used = (int)strlen(text);
    (void)snprintf(text + used, size - (size_t)used, "\n");
    used = (int)strlen(text);
  }
  if (own->wanted > 1)
    used += snprintf(text + used, size - (size_t)used,
                     "rank 0 alone finds the alignments after the best one, after the table\n");
  if (own->all_again > 0 && !own->attempts.certain)
    used += snprintf(text + used, size - (size_t)used,
                     "the way back computes about %.3g of the table again\n", own->all_again);
  if (dp_params_of(problem)->special_rows > 0 && (size_t)used < size)
    tell_rows(dp_params_of(problem), text + used, size - (size_t)used);
}

const tsl_family tsl_family_dp = {
    .name = "dp",
    .doc = "Dynamic programming: alignments, knapsacks, chains, trees, your own recurrence.",
    .shape = TSL_WAVE,
    .n_kinds = 2,
    .keys = dp_keys,
    .create = dp_create,
    .units = dp_units,
    .sample = dp_sample,
    .signature = dp_signature,
    .describe = dp_describe,
    .region = dp_region,
    .predecessors = dp_predecessors,
    .edge_bytes = dp_edge_bytes,
    .traceback_begin = dp_traceback_begin,
    .traceback_part = dp_traceback_part,
    .traceback_steps = dp_traceback_steps,
    .traceback_so_far = dp_traceback_so_far,
    .traceback_resume = dp_traceback_resume,
    .finish = dp_finish,
    .summary = dp_summary,
    .destroy = dp_destroy,
};
