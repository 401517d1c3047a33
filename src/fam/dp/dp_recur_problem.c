/* The recurrence of a problem as workers and the root use it. */
#include "dp_recur_problem.h"

#include "integers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp_recur_frame(const dp_params *p, dp_code *code) {
  memset(code, 0, sizeof *code);
  code->fold = dp_pattern_fold((dp_pattern)p->pattern);
  code->P = 1 + (code->fold.transpose != 0 ? p->m : p->n);
  code->Q = 1 + (code->fold.transpose != 0 ? p->n : p->m);
  code->engine = p->engine;
  code->type = p->type;
  code->values = p->values;
  code->depth = p->depth;
  memcpy(code->reach, p->reach, sizeof code->reach);
}

int64_t dp_recur_depth(const dp_code *c) {
  return c->engine == DP_ROWS ? c->depth : 1;
}

int64_t dp_recur_kept(const dp_code *c, int64_t strip, const tsl_unit *u, int64_t *lo,
                      int64_t *hi) {
  const int64_t number = u->lo[0] / strip, depth = dp_recur_depth(c);
  const int64_t end = (number + 1) * strip, first = end - depth;
  *lo = tsl_max(u->lo[0], first);
  *hi = end < c->P ? tsl_max(u->hi[0], *lo) : *lo;
  return number * depth + *lo - first;
}

void dp_recur_tile_box(const dp_code *code, const tsl_unit *u, int64_t lo[2], int64_t hi[2]) {
  int64_t i[2], j[2];
  dp_code_unfold(code, u->lo[0], u->lo[1], &i[0], &j[0]);
  dp_code_unfold(code, u->hi[0] - 1, u->hi[1] - 1, &i[1], &j[1]);
  lo[0] = tsl_min(i[0], i[1]), hi[0] = tsl_max(i[0], i[1]) + 1;
  lo[1] = tsl_min(j[0], j[1]), hi[1] = tsl_max(j[0], j[1]) + 1;
}

/* -------------------------------------------------------------- wanted cells */

/** Values that the goal reads, as (p, q, number of the value). */
typedef struct wish {
  const dp_code *code;
  int64_t (*list)[3];
  int64_t n, room;
} wish;

static tsl_err note_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value) {
  tsl_err err = TSL_OK;
  wish *w = self;
  if (w->n == DP_WANTED_MAX)
    return lang_node_fail(TSL_ERR_INPUT, expr, node, __FILE__, __LINE__,
                          "reads more than %d cells; use a row of the table more instead",
                          DP_WANTED_MAX);
  TSL_TRY(tsl_grow((void **)&w->list, w->n, 1, &w->room, sizeof *w->list, "goal"));
  dp_code_fold(w->code, i, j, &w->list[w->n][0], &w->list[w->n][1]);
  w->list[w->n++][2] = value;
done:
  return err;
}

static int by_place(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  for (int k = 0; k < 3; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static tsl_err find_wanted(dp_recur *r) {
  tsl_err err = TSL_OK;
  wish w = {.code = &r->code};
  dp_eval e = {.recurrence = r->recurrence, .i = -1, .j = -1, .work = DP_WORK_MAX};
  if (r->recurrence->equation.goal != DP_GOAL_EXPR) return TSL_OK;
  TSL_TRY(dp_reads_goal(&e, note_read, &w));
  if (w.n > 0) qsort(w.list, (size_t)w.n, sizeof *w.list, by_place);
  for (int64_t k = 0; k < w.n; k++) {
    if (k > 0 && by_place(w.list[k], w.list[k - 1]) == 0) continue;
    memmove(w.list[r->n_wanted++], w.list[k], sizeof *w.list);
  }
  for (int64_t k = 0; k < r->n_wanted; k++)
    dp_code_unfold(&r->code, w.list[k][0], w.list[k][1], &w.list[k][0], &w.list[k][1]);
  r->wanted = w.list;
  w.list = NULL;
done:
  tsl_free(w.list);
  return err;
}

int64_t dp_recur_wanted_from(const dp_recur *r, int64_t p, int64_t q) {
  const int64_t place[3] = {p, q, 0};
  int64_t low = 0, high = r->n_wanted, at[3] = {0, 0, 0};
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    dp_code_fold(&r->code, r->wanted[middle][0], r->wanted[middle][1], &at[0], &at[1]);
    if (by_place(at, place) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ------------------------------------------------------------------ best cells */

int64_t dp_recur_bits(int32_t type, const void *address) {
  double real = 0;
  int64_t bits = 0;
  switch (type) {
  case TSL_I16:
    return *(const int16_t *)address;
  case TSL_I32:
    return *(const int32_t *)address;
  case TSL_I64:
    return *(const int64_t *)address;
  case TSL_F32:
    real = *(const float *)address;
    break;
  default:
    real = *(const double *)address;
    break;
  }
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

dp_value dp_recur_value(const dp_recur *r, int64_t bits) {
  dp_value v = {.whole = bits};
  if (lang_kind_of(r->code.type) == LANG_REAL) memcpy(&v.real, &bits, sizeof bits);
  return v;
}

/** -1, 0, 1: a is better, equal, worse. */
static int compare(const dp_recur *r, int64_t a, int64_t b) {
  double x = (double)a, y = (double)b;
  const int sign = r->recurrence->equation.maximum != 0 ? -1 : 1;
  if (lang_kind_of(r->code.type) == LANG_WHOLE) return sign * ((a > b) - (a < b));
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  return sign * ((x > y) - (x < y));
}

bool dp_recur_better(const dp_recur *r, const dp_recur_best *a, const dp_recur_best *b) {
  if (a->i < 0 || b->i < 0) return a->i >= 0 && b->i < 0;
  const int order = compare(r, a->bits, b->bits);
  if (order != 0) return order < 0;
  if (a->i != b->i) return a->i < b->i;
  return a->j < b->j || (a->j == b->j && a->layer < b->layer);
}

bool dp_recur_candidate(const dp_recur *r, int64_t i, int64_t j) {
  const dp_equation *e = &r->recurrence->equation;
  const lang_table *t = &e->names.tables[0];
  if (e->goal == DP_GOAL_EXPR) return false;
  if (e->goal == DP_GOAL_ROW && i != t->rows - 1) return false;
  if (e->goal == DP_GOAL_COLUMN && j != t->cols - 1) return false;
  return lang_has_cell(t, i, j);
}

/* ------------------------------------------------------------------------ open */

/** Pointers to the arrays' fields. */
static tsl_err find_data(const tsl_problem *problem, const dp_equation *equation,
                         const void *data[LANG_ARRAYS_MAX]) {
  tsl_err err = TSL_OK;
  char name[16];
  for (int a = 0; a < equation->names.n_arrays; a++) {
    (void)snprintf(name, sizeof name, "data%d", a);
    const int field = dp_field(problem, name);
    if (field < 0) TSL_FAIL(TSL_ERR_INTERNAL, "dp: no field '%s'", name);
    data[a] = problem->fields[field].data;
  }
done:
  return err;
}

/** Messages of every rank name the line of the deck. */
static tsl_err find_places(const tsl_problem *problem, dp_recurrence *recurrence) {
  tsl_err err = TSL_OK;
  const int field = dp_field(problem, "places");
  if (field < 0 || problem->fields[field].shape[0] != (int64_t)sizeof(dp_places))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: no field 'places'");
  dp_recurrence_place(recurrence, problem->fields[field].data);
done:
  return err;
}

/** narrow and checks of the code. */
static tsl_err settle_code(dp_recur *r) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  if (r->code.P > 0 && r->code.Q > 0) TSL_TRY(dp_emit(r->recurrence, DP_TARGET_C, &r->code, &text));
done:
  tsl_free(text);
  return err;
}

tsl_err dp_recur_open(const tsl_problem *problem, dp_recur **out) {
  tsl_err err = TSL_OK;
  dp_recur *r = NULL;
  const void *data[LANG_ARRAYS_MAX] = {NULL};
  const tsl_field *field = &problem->fields[DP_A];
  void *memory = NULL;
  *out = NULL;
  if (field->shape[0] != (int64_t)sizeof(dp_equation))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: an equation of %lld bytes", (long long)field->shape[0]);
  TSL_TRY(tsl_alloc(1, sizeof *r, "recurrence", &memory));
  r = memory;
  TSL_TRY(find_data(problem, field->data, data));
  TSL_TRY(dp_recurrence_create(field->data, data, &r->recurrence));
  TSL_TRY(find_places(problem, r->recurrence));
  TSL_TRY(dp_code_plan(r->recurrence, (dp_pattern)dp_params_of(problem)->pattern, &r->code));
  r->strip = dp_params_of(problem)->strip;
  TSL_TRY(settle_code(r));
  TSL_TRY(find_wanted(r));
  dp_code_args(r->recurrence, &r->args);
  *out = r;
done:
  if (err != TSL_OK) dp_recur_close(&r);
  return err;
}

void dp_recur_close(dp_recur **recur) {
  if (recur == NULL || *recur == NULL) return;
  dp_recurrence_destroy(&(*recur)->recurrence);
  TSL_FREE_ALL((*recur)->wanted, *recur);
  *recur = NULL;
}
