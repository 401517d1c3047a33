/* Which engine computes a recurrence, and from where on no cell is boundary. */
#include "dp_emit.h"

#include "integers.h"

#include <string.h>

enum { MARGIN_MAX = 4, LANES_MOST = 128, LANES_LEAST = 32, LINES_BYTES = 1 << 18 };

void dp_code_fold(const dp_code *c, int64_t i, int64_t j, int64_t *p, int64_t *q) {
  const bool t = c->fold.transpose != 0;
  const int64_t rows = t ? c->Q : c->P, cols = t ? c->P : c->Q;
  const int64_t a = c->fold.flip_i != 0 ? rows - 1 - i : i;
  const int64_t b = c->fold.flip_j != 0 ? cols - 1 - j : j;
  *p = t ? b : a;
  *q = t ? a : b;
}

void dp_code_unfold(const dp_code *c, int64_t p, int64_t q, int64_t *i, int64_t *j) {
  const bool t = c->fold.transpose != 0;
  const int64_t rows = t ? c->Q : c->P, cols = t ? c->P : c->Q;
  const int64_t a = t ? q : p, b = t ? p : q;
  *i = c->fold.flip_i != 0 ? rows - 1 - a : a;
  *j = c->fold.flip_j != 0 ? cols - 1 - b : b;
}

void dp_code_args(const dp_recurrence *r, dp_args *args) {
  const lang_names *names = &r->equation.names;
  static const int64_t nothing[8] = {0};
  memset(args, 0, sizeof *args);
  args->rows = names->tables[0].rows;
  args->cols = names->tables[0].cols;
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) args->data[a] = nothing;
  for (int a = 0; a < names->n_arrays; a++) {
    if (r->data[a] != NULL) args->data[a] = r->data[a];
    args->shape[a][0] = names->arrays[a].shape[0];
    args->shape[a][1] = names->arrays[a].shape[1];
  }
  for (int s = 0; s < names->n_scalars; s++) {
    args->whole[s] = names->scalars[s].whole;
    args->real[s] = names->scalars[s].real;
  }
}

/* ------------------------------------------------------------------ margins */

/** User's rows or columns of folded ones from `first` on. */
static dp_span extent_from(int64_t n, int64_t first, bool flip) {
  return flip ? (dp_span){0, n - 1 - first} : (dp_span){first, n - 1};
}

/** Is no value of cell (p, q), p >= margin_p, q >= margin_q, a boundary value where all inner
 *  indices are beyond their margins? */
static bool is_margin(const dp_recurrence *r, const dp_code *c, dp_bounds *b) {
  const lang_table *t = &r->equation.names.tables[0];
  const bool turn = c->fold.transpose != 0;
  dp_bounds_init(r, b);
  b->i = extent_from(t->rows, turn ? c->margin_q : c->margin_p, c->fold.flip_i != 0);
  b->j = extent_from(t->cols, turn ? c->margin_p : c->margin_q, c->fold.flip_j != 0);
  for (int n = 0; n < t->n_inner; n++) b->inner[n].lo = c->margin_inner[n];
  for (int n = 0; n < r->equation.n_rules; n++)
    if (dp_bounds_truth(b, &r->rules[n].where, r->rules[n].where.root) != 0) return false;
  return true;
}

/** Margins of inner index n and those after it, of rows and of columns, whose sum is `left`. */
static bool fit_margins(const dp_recurrence *r, dp_code *c, int n, int32_t left, dp_bounds *b) {
  const lang_table *t = &r->equation.names.tables[0];
  if (n == t->n_inner || n == LANG_INNER_MAX) {
    for (int32_t m = 0; m <= MARGIN_MAX && m <= left; m++) {
      c->margin_p = m;
      c->margin_q = left - m;
      if (c->margin_q <= MARGIN_MAX && is_margin(r, c, b)) return true;
    }
    return false;
  }
  for (int32_t m = 0; m <= MARGIN_MAX && m < t->inner[n] && m <= left; m++) {
    c->margin_inner[n] = m;
    if (fit_margins(r, c, n + 1, left - m, b)) return true;
  }
  return false;
}

/** The margins with the least sum, if there are some. */
static void find_margins(const dp_recurrence *r, dp_code *c, dp_bounds *b) {
  const lang_table *t = &r->equation.names.tables[0];
  const int32_t most = t->cells == LANG_CELLS_ALL ? (2 + t->n_inner) * MARGIN_MAX : -1;
  for (int32_t sum = 0; sum <= most; sum++)
    if (fit_margins(r, c, 0, sum, b)) return;
  c->margin_p = c->margin_q = -1;
  memset(c->margin_inner, 0, sizeof c->margin_inner);
}

/* ------------------------------------------------------------------- engine */

/** Offset of a reference in folded rows and columns. */
static void folded_offset(const dp_code *c, const dp_reference *ref, dp_span *dp, dp_span *dq) {
  const dp_span di = c->fold.flip_i != 0 ? (dp_span){-ref->di.hi, -ref->di.lo} : ref->di;
  const dp_span dj = c->fold.flip_j != 0 ? (dp_span){-ref->dj.hi, -ref->dj.lo} : ref->dj;
  *dp = c->fold.transpose != 0 ? dj : di;
  *dq = c->fold.transpose != 0 ? di : dj;
}

/** Has every table a rule that gives all of the first row (side 0) or column (side 1)? */
static bool is_given(const dp_recurrence *r, const dp_code *c, int side, dp_bounds *b) {
  const lang_table *t = &r->equation.names.tables[0];
  const bool row = (side == 0) != (c->fold.transpose != 0); /* of the user's table */
  const bool flip = (row ? c->fold.flip_i : c->fold.flip_j) != 0;
  const int64_t at = flip ? (row ? t->rows : t->cols) - 1 : 0;
  uint32_t given = 0;
  for (int n = 0; n < r->equation.n_rules; n++) {
    dp_bounds_init(r, b);
    *(row ? &b->i : &b->j) = (dp_span){at, at};
    if (dp_bounds_truth(b, &r->rules[n].where, r->rules[n].where.root) == 1)
      given |= 1u << r->equation.rule_table[n];
  }
  return given == (1u << c->tables) - 1; /* every layer of it: inner indices were left free */
}

/** Are all reads of `cell` of the three neighbours, and the rules free of reads? Values before of
 *  the cell itself do not count. And is there no `cell` on the edges, which have no neighbours? */
static bool is_wave(const dp_recurrence *r, const dp_code *c, const dp_references *refs,
                    dp_bounds *b) {
  if (c->fold.rows_only != 0 || c->margin_p < 0 || c->margin_p > 1 || c->margin_q > 1) return false;
  if (refs->n == 0) return false;
  for (int n = 0; n < refs->n; n++) {
    dp_span dp, dq;
    if (dp_reference_same(&refs->list[n])) continue;
    folded_offset(c, &refs->list[n], &dp, &dq);
    if (refs->list[n].rule >= 0) return false;
    if (dp.lo != dp.hi || dq.lo != dq.hi || dp.lo < -1 || dp.lo > 0 || dq.lo < -1 || dq.lo > 0 ||
        (dp.lo == 0 && dq.lo == 0))
      return false;
    if ((dp.lo == -1 && c->margin_p < 1) || (dq.lo == -1 && c->margin_q < 1)) return false;
  }
  return (c->margin_p == 0 || is_given(r, c, 0, b)) && (c->margin_q == 0 || is_given(r, c, 1, b));
}

/** Rows of a strip: many, as long as its lines stay in a near cache. */
static int32_t lanes_of(const dp_code *c) {
  if (c->layers == 0) return LANES_MOST;
  return 3 * LANES_MOST * dp_code_bytes(c) > LINES_BYTES ? LANES_LEAST : LANES_MOST;
}

static int64_t reach_of(const dp_code *c, dp_wide columns) {
  return columns < 0 ? 0 : columns > c->Q ? c->Q : (int64_t)columns;
}

/** How far to either side cells are read. */
static void find_reach(const dp_references *refs, dp_code *c) {
  for (int n = 0; n < refs->n; n++) {
    dp_span dp, dq;
    folded_offset(c, &refs->list[n], &dp, &dq);
    const int64_t left = reach_of(c, -dq.lo), right = reach_of(c, dq.hi);
    if (left > c->reach[0]) c->reach[0] = left;
    if (right > c->reach[1]) c->reach[1] = right;
  }
}

/** Rows above that are read, 0 when not fixed or too many; and whether the own row may be. A
 *  pattern of rows alone refuses that when it happens, whatever the indices might be. */
static void find_depth(const dp_references *refs, dp_code *c) {
  c->depth = 1;
  for (int n = 0; n < refs->n; n++) {
    dp_span dp, dq;
    if (dp_reference_same(&refs->list[n])) continue;
    folded_offset(c, &refs->list[n], &dp, &dq);
    if (dp.hi >= 0 && c->fold.rows_only == 0) c->same_row = 1;
    if (dp.lo != dp.hi || dp.lo < -DP_DEPTH_ROWS) c->depth = 0;
    if (c->depth > 0 && -dp.lo > c->depth) c->depth = (int32_t)-dp.lo;
  }
}

/** Does it read the cell itself, or may it? */
static bool may_be_own(const dp_reference *ref) {
  return ref->di.lo <= 0 && ref->di.hi >= 0 && ref->dj.lo <= 0 && ref->dj.hi >= 0;
}

/** Which layers are read. */
static void find_layers(const dp_recurrence *r, const dp_references *refs, dp_code *c) {
  const lang_table *t = &r->equation.names.tables[0];
  bool each = true; /* no inner index is above its own */
  c->ascends = 1;
  for (int n = 0; n < refs->n; n++) {
    const dp_reference *const ref = &refs->list[n];
    if (ref->layer.hi > 0) c->ascends = 0;
    if (may_be_own(ref) && ref->layer.lo < 0) c->in_turn = 1;
    for (int d = 0; d < t->n_inner; d++) each = each && ref->inner[d].hi <= 0;
  }
  c->layers_down = each ? 0 : c->layers;
  for (int d = 0; d < t->n_inner && each; d++) c->layers_down += t->inner[d];
}

/** Steps from a cell's first chunk to its last. */
static int64_t steps_of_cell(const dp_code *c) {
  return c->in_turn != 0 ? dp_code_chunks(c) - 1 : 0;
}

/** Steps from a row's first cell to its last. */
static int64_t steps_of_row(const dp_code *c, const dp_step_launch *a) {
  return c->same_row != 0 ? a->q1 - a->q0 - 1 : 0;
}

int64_t dp_code_steps(const dp_code *c, const dp_step_launch *a) {
  return a->p1 - a->p0 + steps_of_row(c, a) + steps_of_cell(c);
}

int64_t dp_code_step_threads(const dp_code *c, dp_step_launch *a) {
  a->first = 0;
  a->lines = a->q1 - a->q0;
  if (c->same_row != 0) { /* rows that have begun and not ended */
    a->first = tsl_max(0, a->step - steps_of_cell(c) - steps_of_row(c, a));
    a->lines = tsl_min(a->step, a->p1 - a->p0 - 1) - a->first + 1;
  }
  return a->lines * dp_code_chunks(c);
}

static void choose_engine(const dp_recurrence *r, const dp_references *refs, dp_code *c,
                          dp_bounds *b) {
  find_depth(refs, c);
  find_reach(refs, c);
  find_layers(r, refs, c);
  if (is_wave(r, c, refs, b)) {
    c->engine = DP_WAVEFRONT;
    c->same_row = 1; /* diagonals, whatever is read */
    c->best = r->equation.goal == DP_GOAL_ALL;
    c->lanes = lanes_of(c);
  } else if (c->fold.rows_only != 0 ||
             (c->depth > 0 && r->equation.names.tables[0].cells == LANG_CELLS_ALL)) {
    c->engine = DP_ROWS;
  } else {
    c->engine = DP_INTERVAL;
  }
}

tsl_err dp_code_plan(const dp_recurrence *r, dp_pattern pattern, dp_code *out) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  dp_references *refs = NULL;
  dp_bounds *b = NULL;
  void *memory = NULL;
  memset(out, 0, sizeof *out);
  TSL_TRY(tsl_alloc(1, sizeof *refs, "dependencies", &memory));
  refs = memory;
  TSL_TRY(tsl_alloc(1, sizeof *b, "dependencies", &memory));
  b = memory;
  TSL_TRY(dp_depend_references(r, refs));
  out->fold = dp_pattern_fold(pattern);
  out->type = t->type;
  out->tables = r->equation.names.n_tables;
  out->layers = t->n_inner > 0 ? (int32_t)lang_layers(&r->equation.names) : 0;
  out->values = lang_values(&r->equation.names);
  out->P = out->fold.transpose != 0 ? t->cols : t->rows;
  out->Q = out->fold.transpose != 0 ? t->rows : t->cols;
  find_margins(r, out, b);
  choose_engine(r, refs, out, b);
done:
  TSL_FREE_ALL(refs, b);
  return err;
}
