/* `problem: recurrence` from the deck: equation, data, the checker's verdict, fields. */
#include "dp_family.h"
#include "dp_recur_strips.h"

#include <stdio.h>
#include <string.h>

/** What is read from the section. */
typedef struct loading {
  const tsl_deck *deck;
  dp_equation *equation;
  dp_places *places; /**< owned until it is a field */
  void *data[LANG_ARRAYS_MAX];
  dp_recurrence *recurrence;
} loading;

/** Cells must be countable, and there must be one where one is chosen. */
static tsl_err check_cells(const loading *l) {
  tsl_err err = TSL_OK;
  const lang_table *t = &l->equation->names.tables[0];
  int64_t cells = 0;
  if (!tsl_mul_i64(t->rows, t->cols, &cells) || !tsl_mul_i64(cells, 16 * LANG_TABLES_MAX, &cells) ||
      !tsl_mul_i64(cells, lang_layers(&l->equation->names), &cells))
    TSL_DECK_FAIL(l->deck, "dp.table", "%lld x %lld cells overflow a 64-bit count",
                  (long long)t->rows, (long long)t->cols);
  if (cells == 0 && l->equation->goal != DP_GOAL_EXPR)
    TSL_DECK_FAIL(l->deck, "dp.goal", "the table has no cell to choose from (%lld x %lld)",
                  (long long)t->rows, (long long)t->cols);
done:
  return err;
}

/* ------------------------------------------------------------------------ inputs */

static tsl_err add_data(tsl_problem *problem, loading *l) {
  tsl_err err = TSL_OK;
  const lang_names *names = &l->equation->names;
  char name[16], doc[80];
  for (int a = 0; a < names->n_arrays; a++) {
    (void)snprintf(name, sizeof name, "data%d", a);
    (void)snprintf(doc, sizeof doc, "Array '%s' of the recurrence.", names->arrays[a].name);
    TSL_TRY(dp_add_input(problem, name, doc, (tsl_type)names->arrays[a].type,
                         dp_array_count(&names->arrays[a]), l->data[a]));
    l->data[a] = NULL;
  }
done:
  return err;
}

static tsl_err add_places(tsl_problem *problem, loading *l) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_add_input(problem, "places", "Where its expressions stand in the deck.", TSL_U8,
                       (int64_t)sizeof *l->places, l->places));
  l->places = NULL;
  problem->fields[tsl_problem_find(problem, "places")].device = 1;
done:
  return err;
}

static tsl_err add_inputs(tsl_problem *problem, loading *l) {
  tsl_err err = TSL_OK;
  dp_equation *equation = l->equation;
  const tsl_field goal = {
      .type = lang_kind_of(equation->names.tables[0].type) == LANG_REAL ? TSL_F64 : TSL_I64,
      .combine = TSL_SUM,
      .rank = 1,
      .shape = {1, 1, 1},
      .infinite = 1};
  void *copy = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *equation, "recurrence", &copy));
  memcpy(copy, equation, sizeof *equation);
  TSL_TRY(dp_add_input(problem, "equation", "The recurrence.", TSL_U8, (int64_t)sizeof *equation,
                       copy));
  copy = NULL;
  TSL_TRY(dp_add_input(problem, "code_cpu", "Compiled for sockets.", TSL_U8, 0, NULL));
  TSL_TRY(dp_add_input(problem, "code_gpu", "Compiled for cards.", TSL_U8, 0, NULL));
  problem->fields[tsl_problem_find(problem, "code_cpu")].device = 1;
  problem->fields[tsl_problem_find(problem, "code_gpu")].device = 1;
  TSL_TRY(dp_add_output(problem, &goal, "goal", "The optimum."));
  TSL_TRY(add_places(problem, l));
  TSL_TRY(add_data(problem, l));
done:
  tsl_free(copy);
  return err;
}

/* ----------------------------------------------------------------------- outputs */

enum { DOC = 160 /* bytes of a field's */ };

/** ", k, l", as many as there are inner indices. */
static void name_inner(const lang_names *names, char text[16]) {
  text[0] = '\0';
  for (int n = 0; n < names->tables[0].n_inner; n++)
    (void)snprintf(text + strlen(text), 16 - strlen(text), ", %s", lang_inner_words[n]);
}

static void describe_path(const lang_names *names, char doc[DOC]) {
  char inner[16];
  name_inner(names, inner);
  (void)snprintf(doc, DOC,
                 "(i, j, from%s%s): values that the goal rests on, depth first; from: the record "
                 "that rests on it, -1 the goal.",
                 names->n_tables > 1 ? ", table" : "", inner);
}

static void describe_table(const lang_names *names, char doc[DOC]) {
  char inner[16];
  name_inner(names, inner);
  if (lang_values(names) == 1 && inner[0] == '\0')
    (void)snprintf(doc, DOC, "Cell [i][j] of the recurrence.");
  else
    (void)snprintf(
        doc, DOC, "Cell [i][j] of the recurrence, its values numbered by (%s%s), the last fastest.",
        inner[0] != '\0' ? inner + 2 : "",
        names->n_tables == 1 ? ""
        : inner[0] == '\0'   ? "table"
                             : ", table");
}

/** Whether the whole table is kept for the solution, or which strips of it. */
static tsl_err choose_strip(const loading *l, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  dp_own *own = dp_own_of(problem);
  const dp_code *code = &own->recur->code;
  const double bytes = (double)code->P * (double)code->Q * (double)dp_code_bytes(code);
  const int64_t rows = dp_recur_strip_rows(own->recur, p->budget);
  const double needed = rows > 0 ? dp_recur_strip_bytes(code, rows) : bytes;
  const size_t used = strlen(own->facts);
  char need[24], have[24];
  if (p->mode != DP_RECOVER) return TSL_OK;
  if (needed > (double)p->budget)
    TSL_DECK_FAIL(l->deck, "dp.memory",
                  "%s is too little to recover the solution of a recurrence, which keeps %s on one "
                  "rank: %s is needed",
                  tsl_bytes_text((double)p->budget, have),
                  rows > 0 ? "some rows of the table" : "the whole table",
                  tsl_bytes_text(needed, need));
  p->strip = rows;
  if (rows > 0)
    (void)snprintf(own->facts + used, sizeof own->facts - used,
                   "solution from rows kept each %lld, between which rank 0 computes again: %s "
                   "instead of %s\n",
                   (long long)rows, tsl_bytes_text(needed, need), tsl_bytes_text(bytes, have));
done:
  return err;
}

/** The rows that are kept of a table in strips. */
static tsl_err add_kept(tsl_problem *problem) {
  const dp_params *p = dp_params_of(problem);
  const dp_code *code = &dp_own_of(problem)->recur->code;
  const int64_t strips = (code->P + p->strip - 1) / p->strip;
  const tsl_field kept = {.type = p->type,
                          .combine = TSL_GATHER,
                          .rank = 3,
                          .shape = {(strips - 1) * dp_recur_depth(code), code->Q, p->values},
                          .hidden = 1,
                          .infinite = 1};
  return dp_add_output(problem, &kept, "kept", "Rows of the recurrence's table.");
}

static tsl_err add_cells(const loading *l, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const dp_recur *recur = dp_own_of(problem)->recur;
  const lang_names *names = &l->equation->names;
  const bool several = recur->code.tables > 1;
  const bool wanted = p->mode == DP_TABLE;
  TSL_TRY(choose_strip(l, problem));
  const tsl_field table = {.type = p->type,
                           .combine = TSL_GATHER,
                           .rank = several || names->tables[0].n_inner > 0 ? 3 : 2,
                           .shape = {p->strip > 0 ? 0 : p->n + 1, p->m + 1, p->values},
                           .stream = wanted,
                           .hidden = !wanted,
                           .infinite = 1}; /* `inf` is a number of the language */
  const tsl_field path = {.type = TSL_I64,
                          .combine = TSL_LIST,
                          .rank = 2,
                          .shape = {0, 3 + several + names->tables[0].n_inner, 1}};
  char doc[DOC];
  describe_path(names, doc);
  if (p->mode == DP_RECOVER) TSL_TRY(dp_add_output(problem, &path, "path", doc));
  describe_table(names, doc);
  if (p->mode != DP_VALUE) TSL_TRY(dp_add_output(problem, &table, "table", doc));
  if (p->strip > 0) TSL_TRY(add_kept(problem));
done:
  return err;
}

static tsl_err add_outputs(const loading *l, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_recur *recur = dp_own_of(problem)->recur;
  const tsl_field best = {.type = TSL_I64,
                          .combine = TSL_GATHER,
                          .rank = 2,
                          .shape = {DP_MAX_LANES, DP_BEST_ROW, 1},
                          .hidden = 1};
  const tsl_field wanted = {.type = TSL_I64,
                            .combine = TSL_SUM,
                            .rank = 1,
                            .shape = {recur->n_wanted, 1, 1},
                            .hidden = 1};
  if (l->equation->goal == DP_GOAL_EXPR)
    TSL_TRY(dp_add_output(problem, &wanted, "wanted", "Cells that the goal reads."));
  else
    TSL_TRY(dp_add_output(problem, &best, "best", "Best cell of each lane."));
  TSL_TRY(add_cells(l, problem));
done:
  return err;
}

/* ------------------------------------------------------------------------- whole */

/** Where the whole table is not asked for: cut it to what the goal rests on. */
static tsl_err cut_table(loading *l, const dp_params *p, dp_own *own) {
  tsl_err err = TSL_OK;
  lang_names *names = &l->equation->names;
  const int64_t all[2] = {names->tables[0].rows, names->tables[0].cols};
  dp_patch part;
  const size_t used = strlen(own->facts);
  if (p->mode == DP_TABLE) return TSL_OK;
  TSL_TRY(dp_needed_patch(l->recurrence, &part));
  const int64_t rows = part.i1 - part.i0, cols = part.j1 - part.j0;
  if (rows == all[0] && cols == all[1]) goto done;
  (void)snprintf(own->facts + used, sizeof own->facts - used,
                 "the goal needs rows %lld..%lld, columns %lld..%lld: a table of %lld x %lld "
                 "instead of %lld x %lld\n",
                 (long long)part.i0, (long long)part.i1 - 1, (long long)part.j0,
                 (long long)part.j1 - 1, (long long)rows, (long long)cols, (long long)all[0],
                 (long long)all[1]);
  names->origin[0] = part.i0, names->origin[1] = part.j0;
  for (int t = 0; t < names->n_tables; t++)
    names->tables[t].rows = rows, names->tables[t].cols = cols;
  dp_recurrence_destroy(&l->recurrence);
  TSL_TRY(dp_recurrence_create(l->equation, (const void *const *)l->data, &l->recurrence));
  dp_recurrence_place(l->recurrence, l->places);
done:
  return err;
}

/** Ask the checker; pattern, engine, depth and reach. */
static tsl_err settle_params(loading *l, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  dp_own *own = dp_own_of(problem);
  const lang_table *t = &l->equation->names.tables[0];
  dp_depend depend;
  dp_code code;
  void *memory = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *l->places, "recurrence", &memory));
  l->places = memory;
  dp_recur_places(l->deck, "dp", l->equation, l->places);
  TSL_TRY(dp_recurrence_create(l->equation, (const void *const *)l->data, &l->recurrence));
  dp_recurrence_place(l->recurrence, l->places);
  TSL_TRY(dp_depend_check(l->recurrence, (dp_pattern)l->equation->pattern, &depend));
  dp_depend_text(l->recurrence, &depend, own->facts, sizeof own->facts);
  TSL_TRY(cut_table(l, p, own));
  TSL_TRY(dp_code_plan(l->recurrence, depend.pattern, &code));
  p->pattern = (int32_t)depend.pattern;
  p->engine = code.engine;
  p->values = code.values;
  p->depth = code.depth;
  memcpy(p->reach, code.reach, sizeof p->reach);
  p->type = t->type;
  p->n = t->rows - 1;
  p->m = t->cols - 1;
done:
  return err;
}

tsl_err dp_recur_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  loading l = {.deck = deck};
  dp_params *p = problem->params;
  p->interpret = s->interpret;
  TSL_TRY(dp_own_create(deck, s, problem));
  TSL_TRY(dp_recur_read(deck, "dp", &s->recur, &l.equation, l.data));
  TSL_TRY(check_cells(&l));
  TSL_TRY(settle_params(&l, problem));
  TSL_TRY(add_inputs(problem, &l));
  TSL_TRY(dp_recur_open(problem, &dp_own_of(problem)->recur));
  TSL_TRY(add_outputs(&l, problem));
done:
  dp_recurrence_destroy(&l.recurrence);
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) tsl_free(l.data[a]);
  TSL_FREE_ALL(l.equation, l.places);
  return err;
}
