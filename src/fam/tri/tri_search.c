/* The key `search`: all pairs, or near ones only. */
#include "tri_family.h"

#include "integers.h"

#include <stdio.h>
#include <string.h>

/** How much longer a pair or box of a search takes than one pair of many, at most: it has short
 *  rows and branches, where all pairs have none. */
static const double dearer = 4;

/** Work of the rows before each chunk, as units are cut: rows of histogram are places. */
static tsl_err set_work(const tri_params *p, const tri_tree *tree, const tri_look *look,
                        double **work) {
  tsl_err err = TSL_OK;
  const int64_t rows = tri_rows_of(p), chunks = tsl_divide_up(rows, TRI_CHUNK);
  TSL_TRY(tsl_alloc(chunks + 1, sizeof **work, "work of rows", (void **)work));
  for (int64_t c = 0; c < chunks; c++) {
    double sum = 0;
    for (int64_t i = c * TRI_CHUNK; i < tsl_min((c + 1) * TRI_CHUNK, rows); i++)
      sum += look->row[(tri_rows_are_places(p) ? i : tree->place[i] - p->first) / TRI_TILE];
    (*work)[c + 1] = (*work)[c] + sum;
  }
done:
  return err;
}

static tsl_err check_possible(const tsl_deck *deck, const tri_params *p) {
  tsl_err err = TSL_OK;
  if (p->d > TRI_NEAR_D)
    TSL_DECK_FAIL(deck, "tri.search", "near goes with %d dimensions at most; the points have %lld",
                  TRI_NEAR_D, (long long)p->d);
  if (tri_is_terms(p))
    TSL_DECK_FAIL(deck, "tri.search", "near points cannot be told by their coordinates for %s",
                  tri_function_words[p->function]);
  if (p->k > TRI_FEW_K)
    TSL_DECK_FAIL(deck, "tri.search", "a search finds up to %d neighbours, not %lld", TRI_FEW_K,
                  (long long)p->k);
  if (!tri_near_possible(p))
    TSL_DECK_FAIL(deck, "tri.search",
                  "%s of %d dimensions or more is a matrix product of all pairs",
                  tri_function_words[p->function], TRI_GEMM_D);
done:
  return err;
}

/** Pairs that a run without cut-offs looks at. */
static double all_pairs(const tri_params *p) {
  const bool halves = p->two || tri_output_in(p, TRI_BIT(THRESHOLD) | TRI_BIT(HISTOGRAM));
  return halves ? tri_pairs_of(p) : 2 * tri_pairs_of(p);
}

static void say(const tri_params *p, const tri_look *look, tri_own *own) {
  const size_t used = strlen(own->text);
  (void)snprintf(own->text + used, sizeof own->text - used,
                 "search: near pairs, about %.2g %% of all are looked at\n",
                 100 * look->pairs / all_pairs(p));
}

/** Sort and count, for a few rows; *tree is of the sorted points, which the problem then has. */
static tsl_err look_near(tsl_problem *problem, tri_tree *tree, tri_look *look) {
  enum { PILOT = 64 };
  tsl_err err = TSL_OK;
  int32_t *order = NULL;
  TSL_TRY(tsl_alloc(tri_params_of(problem)->n, sizeof *order, "order", (void **)&order));
  TSL_TRY(tri_near_sort(problem, order));
  TSL_TRY(tri_near_apply(problem, order));
  order = NULL;
  TSL_TRY(tri_tree_create(problem, tree));
  TSL_TRY(tri_near_count(problem, tree, PILOT, look));
done:
  tsl_free(order);
  return err;
}

/** Count again, for as many rows as take no time, and keep the work of all. */
static tsl_err count_work(tsl_problem *problem, const tri_tree *tree, tri_look *look) {
  const double budget = 2e7, most = 4096, least = 64; /* boxes: 0.5 s of one thread; rows */
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tri_own *own = problem->own;
  const double affordable = budget * (double)tri_rows_of(p) / (look->boxes + 1);
  const double rows = affordable < least ? least : affordable > most ? most : affordable;
  tsl_free(look->row);
  TSL_TRY(tri_near_count(problem, tree, (int64_t)rows, look));
  TSL_TRY(set_work(p, tree, look, &own->work));
  say(p, look, own);
done:
  return err;
}

/** Back to the order of the input. */
static tsl_err undo(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tsl_field *field = &problem->fields[TRI_ORDER];
  int32_t *order = field->data, *place = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *place, "places of points", (void **)&place));
  for (int64_t r = 0; r < p->n; r++) {
    const int64_t set = r < p->first ? 0 : p->first; /* where the point's set begins */
    if (set == p->first || r < p->columns) place[set + order[r]] = (int32_t)(r - set);
  }
  TSL_TRY(tri_near_apply(problem, place));
  tsl_free(order);
  field->data = NULL;
  field->shape[0] = 0;
done:
  tsl_free(place);
  return err;
}

tsl_err tri_search_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  enum { FEW = 1 << 23 }; /* pairs that take no time */
  tri_params *p = problem->params;
  tri_tree tree = {0};
  tri_look look = {0};
  const bool wanted = s->search == TRI_SEARCH_NEAR;
  if (wanted) TSL_TRY(check_possible(deck, p));
  if (tri_pairs_of(p) == 0 ||
      (!wanted && (s->search == TRI_SEARCH_ALL || !tri_near_possible(p) || tri_pairs_of(p) < FEW)))
    goto done;
  if (!wanted && dearer * tri_near_least(problem) >= 1) goto done; /* nothing is sorted in vain */
  TSL_TRY(look_near(problem, &tree, &look));
  p->near = wanted || dearer * (look.pairs + look.boxes) < all_pairs(p);
  TSL_TRY(p->near ? count_work(problem, &tree, &look) : undo(problem));
done:
  tri_tree_clear(&tree);
  tsl_free(look.row);
  return err;
}
