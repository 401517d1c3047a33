/* Small tables filled by the interpreter, their goal, and the solution behind it. */
#include "dp_eval.h"

#include <stdio.h>
#include <string.h>

static const lang_table *table_of(const dp_oracle *grid) {
  return &grid->recurrence->equation.names.tables[0];
}

static dp_eval eval_of(const dp_oracle *grid, dp_read_fn *read, void *self) {
  return (dp_eval){.recurrence = grid->recurrence,
                   .i = -1,
                   .j = -1,
                   .read = read,
                   .self = self,
                   .work = grid->work};
}

tsl_err dp_oracle_create(const dp_recurrence *recurrence, dp_oracle *grid) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  *grid = (dp_oracle){.recurrence = recurrence,
                      .rows = recurrence->equation.names.tables[0].rows,
                      .cols = recurrence->equation.names.tables[0].cols,
                      .in_cell = lang_values(&recurrence->equation.names),
                      .work = DP_WORK_MAX};
  /* the product was checked when the recurrence was created */
  const int64_t cells = grid->rows * grid->cols * grid->in_cell;
  if (cells > DP_ORACLE_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%lld x %lld cells are too many for the interpreter",
             (long long)grid->rows, (long long)grid->cols);
  TSL_TRY(tsl_alloc(cells, sizeof *grid->values, "table", &memory));
  grid->values = memory;
  TSL_TRY(tsl_alloc(cells, 1, "table", &memory));
  grid->state = memory;
done:
  if (err != TSL_OK) dp_oracle_clear(grid);
  return err;
}

void dp_oracle_clear(dp_oracle *grid) {
  TSL_FREE_ALL(grid->values, grid->state);
  grid->values = NULL;
  grid->state = NULL;
}

/* ------------------------------------------------------------ fill by need */

enum { UNKNOWN, OPEN, KNOWN };

/** Place of a cell in the grid's arrays. */
static int64_t place_of(const dp_oracle *grid, int64_t i, int64_t j, int32_t value) {
  return (i * grid->cols + j) * grid->in_cell + value;
}

static int64_t places(const dp_oracle *grid) {
  return grid->rows * grid->cols * grid->in_cell;
}

typedef struct cell {
  int64_t i, j;
  int32_t value;
} cell;

static cell cell_of(const dp_oracle *grid, int64_t place) {
  const int64_t c = place / grid->in_cell;
  return (cell){c / grid->cols, c % grid->cols, (int32_t)(place % grid->in_cell)};
}

/** Cells being computed, each waiting for the next. */
typedef struct filler {
  dp_oracle *grid;
  cell *stack; /**< [rows * cols * in_cell + 1] */
  int64_t n;
  bool pending; /**< the evaluation stopped for the cell on top */
} filler;

static tsl_err fail_cycle(const filler *f, cell again) {
  char text[1200];
  size_t used = 0;
  int64_t first = f->n - 1;
  char name[128];
  while (f->stack[first].i != again.i || f->stack[first].j != again.j ||
         f->stack[first].value != again.value)
    first--;
  text[0] = '\0';
  for (int64_t c = first; c <= f->n && used + 160 < sizeof text; c++) {
    if (c - first == 6 && f->n - c > 2) {
      used += (size_t)snprintf(text + used, sizeof text - used, " -> ...");
      c = f->n - 1;
    }
    const cell at = c < f->n ? f->stack[c] : again;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", c == first ? "" : " -> ",
                             dp_value_text(&f->grid->recurrence->equation.names, at.i, at.j,
                                           at.value, name, sizeof name));
  }
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "the cells need each other: %s", text);
}

static tsl_err read_need(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value, dp_value *out) {
  filler *f = self;
  const int64_t at = place_of(f->grid, i, j, value);
  (void)expr, (void)node;
  *out = f->grid->values[at];
  if (f->grid->state[at] == KNOWN) return TSL_OK;
  if (f->grid->state[at] == OPEN) return fail_cycle(f, (cell){i, j, value});
  f->stack[f->n++] = (cell){i, j, value};
  f->pending = true;
  return TSL_ERR_STOPPED;
}

/** Compute the top cell, or put what it needs on top of it. */
static tsl_err fill_top(filler *f, dp_eval *e) {
  const cell top = f->stack[f->n - 1];
  const int64_t at = place_of(f->grid, top.i, top.j, top.value);
  dp_value v = {0};
  f->grid->state[at] = OPEN;
  f->pending = false;
  e->i = top.i;
  e->j = top.j;
  e->value = top.value;
  const tsl_err err = dp_eval_cell(e, &v);
  if (err == TSL_ERR_STOPPED && f->pending) return TSL_OK;
  if (err != TSL_OK) return err;
  f->grid->values[at] = v;
  f->grid->state[at] = KNOWN;
  f->n--;
  return TSL_OK;
}

tsl_err dp_oracle_fill(dp_oracle *grid) {
  tsl_err err = TSL_OK;
  filler f = {.grid = grid};
  void *memory = NULL;
  TSL_TRY(tsl_alloc(places(grid) + 1, sizeof *f.stack, "stack", &memory));
  f.stack = memory;
  dp_eval e = eval_of(grid, read_need, &f);
  for (int64_t c = 0; c < places(grid); c++) {
    const cell here = cell_of(grid, c);
    if (grid->state[c] == KNOWN || !lang_has_cell(table_of(grid), here.i, here.j)) continue;
    f.stack[f.n++] = here;
    while (f.n > 0) TSL_TRY(fill_top(&f, &e));
  }
done:
  tsl_free(f.stack);
  return err;
}

/* ----------------------------------------------------------- fill in order */

typedef struct ordered {
  dp_oracle *grid;
  dp_eval *eval;
  dp_pattern pattern;
} ordered;

static tsl_err read_order(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                          int32_t value, dp_value *out) {
  tsl_err err = TSL_OK;
  const ordered *o = self;
  char name[128];
  const int64_t at = place_of(o->grid, i, j, value), di = i - o->eval->i, dj = j - o->eval->j;
  *out = o->grid->values[at];
  if ((o->grid->state[at] != KNOWN && (di != 0 || dj != 0)) ||
      !dp_pattern_admits(o->pattern, di, dj, o->eval->value, value))
    DP_EVAL_FAIL(
        o->eval, TSL_ERR_INPUT, expr, node, "%s comes later; %s",
        dp_value_text(&o->grid->recurrence->equation.names, i, j, value, name, sizeof name),
        dp_pattern_rule(o->pattern));
done:
  return err;
}

static tsl_err fill_cell(dp_oracle *grid, dp_eval *e, int64_t i, int64_t j) {
  tsl_err err = TSL_OK;
  if (!lang_has_cell(table_of(grid), i, j)) goto done;
  e->i = i;
  e->j = j;
  for (e->value = 0; e->value < grid->in_cell; e->value++)
    TSL_TRY(dp_eval_cell(e, &grid->values[place_of(grid, i, j, e->value)]));
done:
  return err;
}

tsl_err dp_oracle_fill_order(dp_oracle *grid, dp_pattern pattern) {
  tsl_err err = TSL_OK;
  const int64_t rows = grid->rows, cols = grid->cols;
  dp_eval e;
  ordered o = {grid, &e, pattern};
  int64_t i = 0, j = 0;
  e = eval_of(grid, read_order, &o);
  memset(grid->state, UNKNOWN, (size_t)places(grid));
  for (int64_t s = 0; s < dp_pattern_stages(pattern, rows, cols); s++) {
    const int64_t width = dp_pattern_width(pattern, rows, cols, s);
    for (int64_t l = 0; l < width; l++) {
      dp_pattern_cell(pattern, rows, cols, s, l, &i, &j);
      TSL_TRY(fill_cell(grid, &e, i, j));
    }
    for (int64_t l = 0; l < width; l++) { /* cells of a stage do not see each other */
      dp_pattern_cell(pattern, rows, cols, s, l, &i, &j);
      memset(&grid->state[place_of(grid, i, j, 0)], KNOWN, (size_t)grid->in_cell);
    }
  }
done:
  return err;
}

/* -------------------------------------------------------------------- goal */

tsl_err dp_oracle_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                       int32_t value, dp_value *out) {
  const dp_oracle *grid = self;
  (void)expr, (void)node;
  *out = grid->values[place_of(grid, i, j, value)];
  return TSL_OK;
}

static bool is_candidate(const dp_oracle *grid, int64_t i, int64_t j) {
  const int32_t goal = grid->recurrence->equation.goal;
  if (goal == DP_GOAL_ROW && i != grid->rows - 1) return false;
  if (goal == DP_GOAL_COLUMN && j != grid->cols - 1) return false;
  return lang_has_cell(table_of(grid), i, j);
}

static bool is_better(const dp_oracle *grid, dp_value a, dp_value b) {
  const bool maximum = grid->recurrence->equation.maximum != 0;
  if (lang_kind_of(table_of(grid)->type) == LANG_REAL)
    return maximum ? b.real > a.real : b.real < a.real;
  return maximum ? b.whole > a.whole : b.whole < a.whole;
}

tsl_err dp_oracle_goal(const dp_oracle *grid, dp_value *value, int64_t *i, int64_t *j,
                       int64_t *layer) {
  tsl_err err = TSL_OK;
  const dp_recurrence *r = grid->recurrence;
  int64_t best = -1;
  *i = *j = -1, *layer = 0;
  if (r->equation.goal == DP_GOAL_EXPR) {
    dp_eval e = eval_of(grid, dp_oracle_read, (void *)grid);
    return dp_evaluate(&e, &r->goal, r->goal.root, value);
  }
  for (int64_t c = r->equation.goal_table; c < places(grid); c += r->equation.names.n_tables) {
    const cell here = cell_of(grid, c);
    if (is_candidate(grid, here.i, here.j) &&
        (best < 0 || is_better(grid, grid->values[best], grid->values[c])))
      best = c;
  }
  if (best < 0) TSL_FAIL(TSL_ERR_INPUT, "goal: the table has no cell to choose from");
  *i = cell_of(grid, best).i;
  *j = cell_of(grid, best).j;
  *layer = cell_of(grid, best).value / r->equation.names.n_tables;
  *value = grid->values[best];
done:
  return err;
}
