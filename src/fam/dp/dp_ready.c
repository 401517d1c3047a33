/* The table of ready problems, and the functions of its rows: what a word says of the section,
 * boundaries, reach and work of a cell. */
#include "dp_family.h"

const char *const dp_problem_words[] = {
#define DP_READY(NAME, word, ...) #word,
#include "dp_ready.def"
#undef DP_READY
    NULL};

/* ---- what a word says of the section */

static tsl_err settle_alignment(const tsl_deck *deck, dp_deck *s) {
  tsl_err err = TSL_OK;
  if (!tsl_deck_given(deck, "dp.alphabet")) s->alphabet = LETTERS_DNA;
  if (s->alphabet == LETTERS_BYTES)
    TSL_DECK_FAIL(deck, "dp.alphabet", "alignments need dna, rna or protein");
done:
  return err;
}

static tsl_err settle_rna(const tsl_deck *deck, dp_deck *s) {
  tsl_err err = TSL_OK;
  if (!tsl_deck_given(deck, "dp.alphabet")) s->alphabet = LETTERS_RNA;
  if (s->alphabet != LETTERS_RNA) TSL_DECK_FAIL(deck, "dp.alphabet", "foldings need rna");
done:
  return err;
}

static tsl_err settle_dtw(const tsl_deck *deck, dp_deck *s) {
  tsl_err err = TSL_OK;
  if (s->type != TSL_F32 && s->type != TSL_F64)
    TSL_DECK_FAIL(deck, "dp.type", "dtw needs f32 or f64");
done:
  return err;
}

static tsl_err settle_tree(const tsl_deck *deck, dp_deck *s) {
  tsl_err err = TSL_OK;
  if (s->type != TSL_I64 && s->type != TSL_F64)
    TSL_DECK_FAIL(deck, "dp.type", "search trees need i64 or f64");
done:
  return err;
}

/* ---- M[0][k], M[k][0] */

static int64_t binomial_boundary(const dp_params *p, int64_t k, bool rows) {
  return (rows || k == 0) && p->modulus != 1;
}

static int64_t edit_boundary(const dp_params *p, int64_t k, bool rows) {
  return k * (rows ? p->remove : p->insert);
}

static int64_t global_boundary(const dp_params *p, int64_t k, bool rows) {
  (void)rows;
  return k > 0 ? -(p->scores.open + k * (int64_t)p->scores.extend) : 0;
}

/* ---- columns to the left that rows [lo, hi) reach */

static int64_t binomial_reach(const tsl_problem *problem, int64_t lo, int64_t hi) {
  (void)problem;
  return hi - lo;
}

/** Each item once. */
static int64_t sack_reach(const tsl_problem *problem, int64_t lo, int64_t hi) {
  const dp_params *p = dp_params_of(problem);
  const int64_t *weights = problem->fields[DP_A].data;
  int64_t sum = 0;
  for (int64_t i = lo; i < hi && sum <= p->m; i++)
    if (weights[i] <= p->m) sum += weights[i];
  return sum;
}

/** The heaviest item that fits: an unbounded knapsack finds its last row itself there, in which
 *  each item has been taken as often as is best. */
static int64_t unbounded_reach(const tsl_problem *problem, int64_t lo, int64_t hi) {
  const dp_params *p = dp_params_of(problem);
  const int64_t *weights = problem->fields[DP_A].data;
  int64_t most = 0;
  for (int64_t i = lo; i < hi; i++)
    if (weights[i] <= p->m && weights[i] > most) most = weights[i];
  return most;
}

/* ---- steps of a cell */

/** Amounts k = 0..j. */
static double allotment_items(const dp_params *p, const tsl_unit *unit) {
  (void)p;
  return (double)(unit->lo[1] + unit->hi[1]) / 2;
}

static double stagecoach_items(const dp_params *p, const tsl_unit *unit) {
  (void)unit;
  return (double)p->m;
}

/** Loops of two pairs, as many steps as splits would be: vectors, as those are. */
static double fold_items(const dp_params *p, const tsl_unit *unit) {
  (void)p, (void)unit;
  return 1000;
}

/* ---- the table */

#define RUNS                            \
  .columns = 2, .steps = DP_STEPS_RUNS, \
  .path = "Runs (operation, length): 0 match, 1 mismatch, 2 insert (letter of b), 3 delete."
#define AMOUNTS \
  .columns = 2, .steps = DP_STEPS_AMOUNTS, .path = "What is taken: (item, how many), items from 0."

const dp_ready dp_ready_rows[DP_N_PROBLEMS] = {
#define DP_READY(NAME, word, PROBLEM, ...) [DP_##NAME] = {.problem = DP_##PROBLEM, __VA_ARGS__},
#include "dp_ready.def"
#undef DP_READY
};
