/* Problems of sequences: letters, scores and costs. */
#include "dp_family.h"
#include "dp_saved.h"

#include <stdio.h>

tsl_err dp_load_sequence(const tsl_deck *deck, const dp_sequence_ask *ask, tsl_problem *problem,
                         dp_sequence *kept, int64_t *n) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_check_source(deck, ask->key, true));
  TSL_TRY(dp_sequence_read(deck, ask, kept));
  dp_note_input(dp_own_of(problem), ask->key + 3, kept->about);
  *n = kept->n;
  const int32_t letters = letters_codes(ask->alphabet, kept->codes, *n);
  dp_params *p = problem->params;
  if (letters > p->letters) p->letters = letters;
  TSL_TRY(dp_add_input(problem, ask->key + 3, "Letters as codes.", TSL_U8, *n, kept->codes));
  kept->codes = NULL;
done:
  return err;
}

/** Largest size of a score or cost of one letter. */
static int64_t largest_score(const dp_params *p) {
  int64_t most = p->scores.open + (int64_t)p->scores.extend;
  if (p->problem == DP_EDIT) {
    const int64_t gap = p->insert > p->remove ? p->insert : p->remove;
    return gap > p->replace ? gap : p->replace;
  }
  for (int32_t x = 0; x < p->scores.alphabet; x++)
    for (int32_t y = 0; y < p->scores.alphabet; y++) {
      const int64_t size = p->scores.s[x][y] < 0 ? -(int64_t)p->scores.s[x][y] : p->scores.s[x][y];
      if (size > most) most = size;
    }
  return most;
}

/** Scores below 2^30 in size, whatever the letters are. */
static tsl_err check_scores(const tsl_deck *deck, const dp_params *p) {
  tsl_err err = TSL_OK;
  int64_t bound = 0;
  const int64_t most = largest_score(p);
  if (dp_edge_is_bits(p)) return TSL_OK;
  if (!tsl_mul_i64(p->n + p->m + 2, most, &bound) || bound >= (int64_t)1 << 30)
    err = tsl_deck_fail(deck, TSL_ERR_NUMERIC, p->problem == DP_EDIT ? "dp.edit" : "dp.scores",
                        __FILE__, __LINE__,
                        "%lld and %lld letters with scores up to %lld may exceed 30 bits; scale "
                        "the scores down",
                        (long long)p->n, (long long)p->m, (long long)most);
  return err;
}

/** Both sequences, of letters that have scores. */
static tsl_err load_pair(const tsl_deck *deck, const dp_deck *s, const char *matrix, uint32_t known,
                         tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  dp_own *own = dp_own_of(problem);
  dp_sequence_ask ask = {.key = "dp.a",
                         .source = &s->a,
                         .alphabet = s->alphabet,
                         .known = known,
                         .matrix = matrix,
                         .keep = s->alignment != NULL};
  TSL_TRY(dp_load_sequence(deck, &ask, problem, &own->a, &p->n));
  const dp_sequence first = {.codes = problem->fields[DP_A].data, .n = p->n}; /* borrowed */
  ask.key = "dp.b", ask.source = &s->b, ask.of = &first;
  TSL_TRY(dp_load_sequence(deck, &ask, problem, &own->b, &p->m));
  TSL_TRY(dp_add_unused(problem));
done:
  return err;
}

/** LOCAL: a score that is known before the table is filled, and what is then left to fill. */
static tsl_err look_first(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  dp_own *own = dp_own_of(problem);
  dp_chain chain = {0};
  TSL_TRY(dp_chain_find(p, problem->fields[DP_A].data, problem->fields[DP_B].data, &chain));
  p->least = chain.score;
  if (p->least == 0) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *own->needed, "part of the table", (void **)&own->needed));
  dp_needed_set(p, &chain, own->needed);
done:
  dp_chain_clear(&chain);
  return err;
}

tsl_err dp_load_texts(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  const bool scored = dp_ready_of(p)->affine;
  char *matrix = NULL;
  uint32_t known = 0;
  p->insert = s->edit.insert, p->remove = s->edit.remove, p->replace = s->edit.replace;
  p->unit = p->insert == 1 && p->remove == 1 && p->replace == 1;
  if (scored)
    TSL_TRY(letters_scores_settle(deck, "dp.scores", &s->scores, s->alphabet, &p->scores, &matrix,
                                  &known));
  TSL_TRY(load_pair(deck, s, matrix, known, problem));
  if (matrix == NULL) p->scores.alphabet = scored ? p->letters : 0;
  TSL_TRY(check_scores(deck, p));
  if (p->problem == DP_LOCAL && p->mode != DP_TABLE) TSL_TRY(look_first(problem));
  if (problem->shortcut && dp_diagonals_apply(p)) TSL_TRY(dp_attempts_look(problem));
done:
  tsl_free(matrix);
  return err;
}

tsl_err dp_load_nussinov(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  const dp_sequence_ask ask = {.key = "dp.a", .source = &s->a, .alphabet = s->alphabet};
  p->span = (int32_t)s->span;
  p->wobble = s->wobble;
  TSL_TRY(dp_load_sequence(deck, &ask, problem, &dp_own_of(problem)->a, &p->n));
  TSL_TRY(dp_add_unused(problem));
  p->m = p->n;
done:
  return err;
}
