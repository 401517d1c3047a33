/* The dependency graph of a window: stages and cycles; and the two-poison test. */
#include "dp_depend.h"

#include <stdio.h>
#include <string.h>

typedef struct cell {
  int64_t i, j;
} cell;

static int64_t dp_graph_place(const dp_patch *w, int64_t i, int64_t j) {
  return (i - w->i0) * (w->j1 - w->j0) + (j - w->j0);
}

static bool is_inside(const dp_patch *w, int64_t i, int64_t j) {
  return i >= w->i0 && i < w->i1 && j >= w->j0 && j < w->j1;
}

static int64_t count(const dp_patch *w) {
  return (w->i1 - w->i0) * (w->j1 - w->j0);
}

/* ------------------------------------------------------------------- stages */

/** Depths of cells by depth-first search on an explicit stack. */
typedef struct searcher {
  const dp_recurrence *recurrence;
  const dp_patch *window;
  dp_eval eval;
  int64_t *stage; /**< [cells]: -1 unknown, -2 on the stack */
  cell *stack;    /**< [cells + 1] */
  int64_t n, deepest;
  int64_t *reads;
  bool pending;
} searcher;

enum { UNKNOWN = -1, OPEN = -2 };

/** The cells of a cycle in words: stack[first..n-1], then `again`. */
static void write_cycle(const searcher *s, int64_t first, cell again, char *text, size_t size) {
  const lang_names *names = &s->recurrence->equation.names;
  const char *name = names->n_tables == 1 ? names->tables[0].name : ""; /* a cell of all values */
  size_t used = 0;
  text[0] = '\0';
  for (int64_t c = first; c <= s->n && used + 100 < size; c++) {
    if (c - first == 5 && s->n - c > 2) {
      used += (size_t)snprintf(text + used, size - used, " reads ...");
      c = s->n - 1;
    }
    const cell at = c < s->n ? s->stack[c] : again;
    used += (size_t)snprintf(text + used, size - used, "%s%s[%lld][%lld]",
                             c == first ? "" : " reads ", name, (long long)at.i, (long long)at.j);
  }
}

/** Is it the cell itself, and a value before? */
static bool is_before(const dp_eval *e, int64_t i, int64_t j, int32_t value) {
  return i == e->i && j == e->j && value < e->value;
}

/** Visit what each value of cell (eval->i, eval->j) can read. */
static tsl_err read_values(dp_eval *e, dp_visit_fn *visit, void *self) {
  tsl_err err = TSL_OK;
  const lang_names *names = &e->recurrence->equation.names;
  const int32_t n = lang_values(names);
  for (e->value = 0; e->value < n; e->value = dp_next_value(names, e->value))
    TSL_TRY(dp_reads(e, visit, self));
done:
  return err;
}

/** A reference being looked for: the first that reads a cell. */
typedef struct sought {
  const dp_eval *eval;
  cell to;
  const lang_expr *expr; /**< NULL: not yet found */
  int32_t node;
} sought;

static tsl_err visit_sought(void *self, const lang_expr *x, int32_t node, int64_t i, int64_t j,
                            int32_t value) {
  sought *f = self;
  if (i != f->to.i || j != f->to.j || is_before(f->eval, i, j, value)) return TSL_OK;
  f->expr = x;
  f->node = node;
  return TSL_ERR_STOPPED;
}

static bool is_cell(const dp_recurrence *r, const lang_expr *x) {
  for (int t = 0; t < r->equation.names.n_tables; t++)
    if (x == &r->cells[t]) return true;
  return false;
}

/** A cycle that goes through a boundary rule is the rule's: `cell` may read the boundary. */
static bool find_rule(searcher *s, int64_t first, cell again, sought *out) {
  for (int64_t c = first; c < s->n; c++) {
    *out = (sought){.eval = &s->eval, .to = c + 1 < s->n ? s->stack[c + 1] : again};
    s->eval.i = s->stack[c].i;
    s->eval.j = s->stack[c].j;
    (void)read_values(&s->eval, visit_sought, out);
    if (out->expr != NULL && !is_cell(s->recurrence, out->expr)) return true;
  }
  return false;
}

static tsl_err fail_cycle(searcher *s, const lang_expr *x, int32_t node, cell again) {
  char text[600];
  int64_t first = s->n - 1;
  const cell here = s->stack[s->n - 1];
  sought rule;
  while (s->stack[first].i != again.i || s->stack[first].j != again.j) first--;
  write_cycle(s, first, again, text, sizeof text);
  if (find_rule(s, first, again, &rule))
    return dp_eval_fail(&s->eval, TSL_ERR_INPUT, rule.expr, rule.node, __FILE__, __LINE__,
                        "cells need each other: %s;", text);
  s->eval.i = here.i;
  s->eval.j = here.j;
  return dp_eval_fail(&s->eval, TSL_ERR_INPUT, x, node, __FILE__, __LINE__,
                      "cells need each other: %s;", text);
}

static tsl_err visit_stage(void *self, const lang_expr *x, int32_t node, int64_t i, int64_t j,
                           int32_t value) {
  searcher *s = self;
  if (--*s->reads < 0) return TSL_ERR_STOPPED;
  if (!is_inside(s->window, i, j) || is_before(&s->eval, i, j, value)) return TSL_OK;
  const int64_t stage = s->stage[dp_graph_place(s->window, i, j)];
  if (stage >= s->deepest) s->deepest = stage + 1;
  if (stage >= 0) return TSL_OK;
  if (stage == OPEN) return fail_cycle(s, x, node, (cell){i, j});
  s->stack[s->n++] = (cell){i, j};
  s->pending = true;
  return TSL_ERR_STOPPED;
}

/** Settle the top cell, or put one it reads on top. */
static tsl_err search_top(searcher *s) {
  const cell top = s->stack[s->n - 1];
  s->stage[dp_graph_place(s->window, top.i, top.j)] = OPEN;
  s->pending = false;
  s->deepest = 0;
  s->eval.i = top.i;
  s->eval.j = top.j;
  const tsl_err err = read_values(&s->eval, visit_stage, s);
  if (err == TSL_ERR_STOPPED && s->pending) return TSL_OK;
  if (err != TSL_OK) return err;
  s->stage[dp_graph_place(s->window, top.i, top.j)] = s->deepest;
  s->n--;
  return TSL_OK;
}

static tsl_err search(searcher *s, int64_t *stages) {
  tsl_err err = TSL_OK;
  const lang_table *t = &s->recurrence->equation.names.tables[0];
  const dp_patch *w = s->window;
  for (int64_t c = 0; c < count(w); c++) s->stage[c] = UNKNOWN;
  for (int64_t i = w->i0; i < w->i1; i++)
    for (int64_t j = w->j0; j < w->j1; j++) {
      if (!lang_has_cell(t, i, j) || s->stage[dp_graph_place(w, i, j)] >= 0) continue;
      s->stack[s->n++] = (cell){i, j};
      while (s->n > 0) {
        err = search_top(s);
        if (err == TSL_ERR_STOPPED || s->eval.work < 0) return TSL_OK; /* enough looked at */
        TSL_TRY(err);
      }
      const int64_t stage = s->stage[dp_graph_place(w, i, j)];
      if (stage >= *stages) *stages = stage + 1;
    }
done:
  return err;
}

tsl_err dp_depend_stages(const dp_recurrence *r, const dp_patch *w, int64_t *reads,
                         int64_t *stages) {
  tsl_err err = TSL_OK;
  searcher s = {.recurrence = r, .window = w, .reads = reads};
  void *memory = NULL;
  s.eval = (dp_eval){.recurrence = r, .work = DP_LOOK_WORK};
  TSL_TRY(tsl_alloc(count(w), sizeof *s.stage, "dependency graph", &memory));
  s.stage = memory;
  TSL_TRY(tsl_alloc(count(w) + 1, sizeof *s.stack, "dependency graph", &memory));
  s.stack = memory;
  TSL_TRY(search(&s, stages));
done:
  TSL_FREE_ALL(s.stage, s.stack);
  return err;
}

/* ------------------------------------------------------------------- poison */

/** A window filled in order; cells outside it have made-up values, later ones the poison. */
typedef struct filler {
  const dp_patch *window;
  const dp_eval *eval;
  int32_t in_cell; /**< lang_values */
  lang_kind kind;
  dp_value poison;
  dp_value *values; /**< [cells][in_cell] */
  uint8_t *known;   /**< [cells] */
} filler;

static tsl_err read_poisoned(void *self, const lang_expr *x, int32_t node, int64_t i, int64_t j,
                             int32_t value, dp_value *out) {
  const filler *f = self;
  (void)x, (void)node;
  if (!is_inside(f->window, i, j)) {
    const int64_t made_up = (i % 5 + 2 * (j % 3) + value) % 4;
    if (f->kind == LANG_REAL)
      out->real = (double)made_up;
    else
      out->whole = made_up;
    return TSL_OK;
  }
  const int64_t at = dp_graph_place(f->window, i, j);
  const bool known = f->known[at] != 0 || is_before(f->eval, i, j, value);
  *out = known ? f->values[at * f->in_cell + value] : f->poison;
  return TSL_OK;
}

/** A cell that fails fails again when the engines run; here it counts as 0 of its own. */
static void fill_cell(filler *f, dp_eval *e, int64_t i, int64_t j) {
  dp_value *values = &f->values[dp_graph_place(f->window, i, j) * f->in_cell];
  for (e->value = 0; e->value < f->in_cell; e->value++)
    if (dp_eval_cell(e, &values[e->value]) != TSL_OK) values[e->value] = (dp_value){0};
}

/** @return false when ranges are too long for a test */
static bool dp_graph_fill(filler *f, const dp_recurrence *r, dp_pattern pattern) {
  const lang_table *t = &r->equation.names.tables[0];
  const dp_patch *w = f->window;
  const int64_t rows = w->i1 - w->i0, cols = w->j1 - w->j0;
  dp_eval e = {.recurrence = r, .read = read_poisoned, .self = f, .work = DP_LOOK_WORK};
  int64_t i = 0, j = 0;
  f->eval = &e;
  memset(f->known, 0, (size_t)count(w));
  for (int64_t s = 0; s < dp_pattern_stages(pattern, rows, cols); s++) {
    const int64_t width = dp_pattern_width(pattern, rows, cols, s);
    for (int64_t l = 0; l < 2 * width; l++) { /* first all values, then all are known */
      dp_pattern_cell(pattern, rows, cols, s, l % width, &i, &j);
      e.i = i + w->i0;
      e.j = j + w->j0;
      if (!lang_has_cell(t, e.i, e.j)) continue;
      if (l < width)
        fill_cell(f, &e, e.i, e.j);
      else
        f->known[i * cols + j] = 1;
      if (e.work < 0) return false;
    }
  }
  return true;
}

static void set_poison(filler *f, int32_t type, int sign) {
  static const int64_t most[] = {
      [TSL_I16] = INT16_MAX, [TSL_I32] = INT32_MAX, [TSL_I64] = INT64_MAX};
  f->kind = lang_kind_of(type);
  if (f->kind == LANG_REAL)
    f->poison.real = sign * 1e30;
  else
    f->poison.whole = sign * (most[type] / 3);
}

/** The cell has different values. */
static tsl_err fail_poisoned(const dp_recurrence *r, dp_pattern pattern, int64_t i, int64_t j,
                             int32_t value) {
  tsl_err err = TSL_OK;
  char text[128];
  const lang_expr *expr = NULL;
  int32_t rule = -1;
  dp_eval e = {.recurrence = r, .i = i, .j = j, .value = value, .work = DP_LOOK_WORK};
  TSL_TRY(dp_eval_rule(&e, &rule, &expr));
  err = lang_expr_fail(
      TSL_ERR_INPUT, expr, __FILE__, __LINE__, "%s depends on a cell that %s computes later",
      dp_value_text(&r->equation.names, i, j, value, text, sizeof text), dp_pattern_words[pattern]);
done:
  return err;
}

tsl_err dp_depend_poison(const dp_recurrence *r, const dp_patch *w, dp_pattern pattern) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  filler f = {.window = w, .in_cell = lang_values(&r->equation.names)};
  const int64_t n_values = count(w) * f.in_cell, columns = w->j1 - w->j0;
  dp_value *values[2] = {NULL, NULL};
  void *memory = NULL;
  TSL_TRY(tsl_alloc(count(w), 1, "poison test", &memory));
  f.known = memory;
  for (int n = 0; n < 2; n++) {
    TSL_TRY(tsl_alloc(n_values, sizeof *f.values, "poison test", &memory));
    f.values = values[n] = memory;
    set_poison(&f, t->type, n == 0 ? 1 : -1);
    if (!dp_graph_fill(&f, r, pattern)) goto done;
  }
  for (int64_t v = 0; v < n_values; v++) {
    const int64_t c = v / f.in_cell;
    if (memcmp(&values[0][v], &values[1][v], sizeof values[0][v]) != 0)
      TSL_TRY(fail_poisoned(r, pattern, w->i0 + c / columns, w->j0 + c % columns,
                            (int32_t)(v % f.in_cell)));
  }
done:
  TSL_FREE_ALL(f.known, values[0], values[1]);
  return err;
}
