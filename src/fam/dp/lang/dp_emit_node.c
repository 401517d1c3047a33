/* Trees as C expressions, with the checks that could not be proved away. */
#include "dp_emit_own.h"
#include "dp_real.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dp_put(dp_text *t, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (t->err == TSL_OK && t->used + (size_t)n + 1 > t->room) {
    const size_t room = 2 * (t->used + (size_t)n + 1) + 1024;
    void *memory = NULL;
    t->err = tsl_alloc((int64_t)room, 1, "emitted text", &memory);
    if (t->err == TSL_OK) {
      if (t->used > 0) memcpy(memory, t->text, t->used);
      tsl_free(t->text);
      t->text = memory;
      t->room = room;
    }
  }
  if (t->err == TSL_OK) {
    (void)vsnprintf(t->text + t->used, t->room - t->used, fmt, again);
    t->used += (size_t)n;
  }
  va_end(again);
}

static const char *type_word(dp_as as) {
  return as == DP_AS_INDEX ? "i64" : "V";
}

static char type_letter(dp_as as) {
  return as == DP_AS_INDEX ? 'l' : 'v';
}

/** The code may fail here. */
static void note_check(dp_emitter *e) {
  e->code->checks = 1;
}

static bool fits(dp_emitter *e, const dp_expr *x, int32_t node, int32_t type) {
  return dp_bounds_fits(&e->bounds, x, node, dp_span_of_type(type));
}

/** A value that does not fit 32 bits makes all of them wide. */
static void note_width(dp_emitter *e, const dp_expr *x, int32_t node, dp_as as) {
  if (as == DP_AS_VALUE && x->nodes[node].kind == DP_WHOLE && !e->wide &&
      !fits(e, x, node, TSL_I32))
    e->misfit = true;
}

const char *dp_emit_type(const dp_expr *x, int32_t node, dp_as as) {
  return x->nodes[node].kind == DP_REAL ? "R" : type_word(as);
}

/* ------------------------------------------------------------------- leaves */

static void put_whole(dp_text *out, int64_t value, dp_as as) {
  if (value == INT64_MIN)
    dp_put(out, "(-9223372036854775807LL - 1)");
  else if (as == DP_AS_INDEX || value > INT32_MAX || value < INT32_MIN)
    dp_put(out, "%lldLL", (long long)value);
  else
    dp_put(out, "(V)%lld", (long long)value);
}

static void put_real(dp_text *out, double value) {
  if (value > 1.7976931348623157e308)
    dp_put(out, "DP_INF");
  else
    dp_put(out, "((R)%a)", value);
}

static void emit_leaf(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const dp_node *n = &x->nodes[node];
  const char *type = type_word(as);
  (void)e;
  switch (n->op) {
  case DP_OP_NUMBER:
    if (n->kind == DP_REAL)
      put_real(out, n->real);
    else
      put_whole(out, n->whole, as);
    break;
  case DP_OP_I:
  case DP_OP_J:
    dp_put(out, "(%s)%c", type, n->op == DP_OP_I ? 'i' : 'j');
    break;
  case DP_OP_LOOP:
    dp_put(out, "(%s)k%d", type, (int)n->ref);
    break;
  case DP_OP_SCALAR:
    dp_put(out, n->kind == DP_REAL ? "%sS%d" : "(%s)S%d", n->kind == DP_REAL ? "" : type,
           (int)n->ref);
    break;
  default: /* DP_OP_EXTENT */
    if (n->ref < 0)
      dp_put(out, "(%s)%s", type, n->dim == 0 ? "NR" : "NC");
    else
      dp_put(out, "(%s)A%d_%c", type, (int)n->ref, n->dim == 0 ? 'r' : 'c');
    break;
  }
}

/* --------------------------------------------------------------------- data */

static void emit_data_index(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, int d) {
  const dp_array *array = &e->recurrence->equation.names.arrays[x->nodes[node].ref];
  const int32_t index = dp_child(x, node, d);
  const dp_span inside = {0, (dp_wide)array->shape[d] - 1};
  if (dp_span_within(dp_bounds_span(&e->bounds, x, index), inside)) {
    dp_put(out, "(");
    dp_emit_node(e, out, x, index, DP_AS_INDEX);
    dp_put(out, ")");
    return;
  }
  note_check(e);
  dp_put(out, "dp_inside(");
  dp_emit_node(e, out, x, index, DP_AS_INDEX);
  dp_put(out, ", A%d_%c, bad)", (int)x->nodes[node].ref, d == 0 ? 'r' : 'c');
}

static void emit_data(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const dp_node *n = &x->nodes[node];
  const dp_array *array = &e->recurrence->equation.names.arrays[n->ref];
  const char *type = n->kind == DP_REAL ? "R" : type_word(as);
  const int hoisted = e->hoist != NULL ? dp_hoist_number(e, x, node) : -1;
  if (hoisted >= 0) {
    dp_put(out, "(%s)H%d", type, hoisted);
    return;
  }
  if (dp_array_count(array) == 0) {
    note_check(e);
    dp_put(out, "(%s)dp_no_data(bad)", type);
    return;
  }
  dp_put(out, "(%s)A%d[", type, (int)n->ref);
  emit_data_index(e, out, x, node, 0);
  if (array->rank == 2) {
    dp_put(out, " * A%d_c + ", (int)n->ref);
    emit_data_index(e, out, x, node, 1);
  }
  dp_put(out, "]");
}

/* -------------------------------------------------------------------- table */

/** Offset of an index from i or j when it is a constant. */
static bool constant_offset(dp_emitter *e, const dp_expr *x, int32_t index, dp_opcode op,
                            int64_t *offset) {
  const dp_span s = dp_bounds_offset(&e->bounds, x, index, op);
  if (s.lo != s.hi || s.lo < -(1 << 20) || s.lo > 1 << 20) return false;
  *offset = (int64_t)s.lo;
  return true;
}

/** Is the read known to be inside the table and to follow the order? */
static bool is_proved(dp_emitter *e, const dp_expr *x, int32_t node) {
  const dp_table *t = &e->recurrence->equation.names.tables[0];
  const dp_fold *f = &e->code->fold;
  const int32_t row = dp_child(x, node, 0), column = dp_child(x, node, 1);
  const dp_span rows = {0, (dp_wide)t->rows - 1}, columns = {0, (dp_wide)t->cols - 1};
  const dp_span slant = dp_bounds_slant(&e->bounds, x, node);
  const dp_reference ref = {.expr = x,
                            .node = node,
                            .di = dp_bounds_offset(&e->bounds, x, row, DP_OP_I),
                            .dj = dp_bounds_offset(&e->bounds, x, column, DP_OP_J)};
  for (int p = 0; p < DP_N_PATTERNS; p++) {
    const dp_fold g = dp_pattern_fold((dp_pattern)p);
    if (memcmp(&g, f, sizeof g) == 0 && !dp_reference_proved(&ref, (dp_pattern)p)) return false;
  }
  if (t->cells == DP_CELLS_UPPER && slant.lo < 0) return false;
  if (t->cells == DP_CELLS_LOWER && slant.hi > 0) return false;
  return dp_span_within(dp_bounds_span(&e->bounds, x, row), rows) &&
         dp_span_within(dp_bounds_span(&e->bounds, x, column), columns);
}

/** Folded row (way 0) or column (way 1) that the reference reads, as an index. */
static void emit_place(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, int way) {
  const dp_fold *f = &e->code->fold;
  const bool column = (way == 1) != (f->transpose != 0); /* of the user's table */
  const int32_t index = dp_child(x, node, column ? 1 : 0);
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t offset = 0;
  if (constant_offset(e, x, index, column ? DP_OP_J : DP_OP_I, &offset)) {
    dp_put(out, "(%c + (%lld))", way == 0 ? 'p' : 'q', (long long)(flip ? -offset : offset));
    return;
  }
  if (flip) dp_put(out, "(i64)((u64)%s - 1 - (u64)", column ? "NC" : "NR");
  dp_put(out, "(");
  dp_emit_node(e, out, x, index, DP_AS_INDEX);
  dp_put(out, flip ? "))" : ")");
}

/** Rows back that the reference reads, when it is a constant; -1 otherwise. */
static int64_t rows_back(dp_emitter *e, const dp_expr *x, int32_t node) {
  const dp_fold *f = &e->code->fold;
  const bool column = f->transpose != 0;
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t offset = 0;
  if (!constant_offset(e, x, dp_child(x, node, column ? 1 : 0), column ? DP_OP_J : DP_OP_I,
                       &offset))
    return -1;
  return flip ? offset : -offset;
}

static void emit_neighbour(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node) {
  const dp_fold *f = &e->code->fold;
  const bool column = f->transpose == 0;
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t along = 0;
  (void)constant_offset(e, x, dp_child(x, node, column ? 1 : 0), column ? DP_OP_J : DP_OP_I,
                        &along);
  if (flip) along = -along;
  dp_put(out, "%s", rows_back(e, x, node) == 0 ? "left" : along == 0 ? "up" : "diag");
}

static void emit_table(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const char *type = x->nodes[node].kind == DP_REAL ? "R" : type_word(as);
  const int64_t back = rows_back(e, x, node);
  const bool by_rows = e->code->engine == DP_ROWS && e->code->depth > 0;
  dp_put(out, "(%s)", type);
  if (e->code->engine == DP_WAVEFRONT) {
    emit_neighbour(e, out, x, node);
  } else if (!is_proved(e, x, node) || (by_rows && back < 0)) {
    note_check(e);
    dp_put(out, "dp_get(NR, NC, DP_TPASS, p, q, ");
    emit_place(e, out, x, node, 0);
    dp_put(out, ", ");
    emit_place(e, out, x, node, 1);
    dp_put(out, ", bad)");
  } else if (by_rows) {
    dp_put(out, "r%lld[", (long long)back);
    emit_place(e, out, x, node, 1);
    dp_put(out, "]");
  } else {
    dp_put(out, "t[");
    emit_place(e, out, x, node, 0);
    dp_put(out, " * st + ");
    emit_place(e, out, x, node, 1);
    dp_put(out, "]");
  }
}

/* ---------------------------------------------------------------- operators */

static void emit_list(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as,
                      const char *between) {
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next) {
    dp_emit_node(e, out, x, c, as);
    if (x->nodes[c].next >= 0) dp_put(out, "%s", between);
  }
}

/** The checking function of an operation, NULL where it cannot fail. */
static const char *check_of(dp_emitter *e, const dp_expr *x, int32_t node) {
  static const char *const names[DP_N_OPS] = {[DP_OP_ADD] = "dp_add",
                                              [DP_OP_SUB] = "dp_sub",
                                              [DP_OP_MUL] = "dp_mul",
                                              [DP_OP_DIV] = "dp_div",
                                              [DP_OP_MOD] = "dp_mod"};
  static const char *const reals[DP_N_OPS] = {[DP_OP_ADD] = "dp_real_add",
                                              [DP_OP_SUB] = "dp_real_sub",
                                              [DP_OP_MUL] = "dp_real_mul",
                                              [DP_OP_DIV] = "dp_real_div"};
  const dp_node *n = &x->nodes[node];
  const bool divides = n->op == DP_OP_DIV || n->op == DP_OP_MOD;
  if (n->kind == DP_REAL) return dp_real_safe(&e->bounds, x, node) ? NULL : reals[n->op];
  const dp_span divisor = dp_bounds_span(&e->bounds, x, x->nodes[n->first].next);
  const bool safe = fits(e, x, node, TSL_I64) && (!divides || divisor.lo > 0 || divisor.hi < -1);
  return safe ? NULL : names[n->op];
}

void dp_emit_arithmetic(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as,
                        const char *left) {
  static const char signs[DP_N_OPS] = {[DP_OP_ADD] = '+',
                                       [DP_OP_SUB] = '-',
                                       [DP_OP_MUL] = '*',
                                       [DP_OP_DIV] = '/',
                                       [DP_OP_MOD] = '%'};
  const dp_node *n = &x->nodes[node];
  const char *const check = check_of(e, x, node);
  note_width(e, x, node, as);
  if (check != NULL) note_check(e);
  dp_put(out, "%s(", check != NULL ? check : "");
  if (left != NULL)
    dp_put(out, "%s", left);
  else
    dp_emit_node(e, out, x, n->first, as);
  if (check == NULL)
    dp_put(out, " %c ", signs[n->op]);
  else
    dp_put(out, ", ");
  dp_emit_node(e, out, x, x->nodes[n->first].next, as);
  dp_put(out, check == NULL ? ")" : ", bad)");
}

static void emit_unary(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const dp_node *n = &x->nodes[node];
  const bool plain = n->kind == DP_REAL || fits(e, x, node, TSL_I64);
  const char letter = n->kind == DP_REAL ? 'r' : type_letter(as);
  if (!plain) note_check(e);
  if (plain && n->op == DP_OP_NEG)
    dp_put(out, "(-");
  else if (plain)
    dp_put(out, "dp_abs_%c(", letter);
  else
    dp_put(out, n->op == DP_OP_NEG ? "dp_sub(0, " : "dp_abs_bad(");
  dp_emit_node(e, out, x, n->first, as);
  dp_put(out, plain ? ")" : ", bad)");
}

static void emit_compare(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node) {
  static const char *const signs[DP_N_OPS] = {
      [DP_OP_LT] = " < ",  [DP_OP_LE] = " <= ", [DP_OP_GT] = " > ",
      [DP_OP_GE] = " >= ", [DP_OP_EQ] = " == ", [DP_OP_NE] = " != "};
  dp_put(out, "(");
  emit_list(e, out, x, node, DP_AS_VALUE, signs[x->nodes[node].op]);
  dp_put(out, ")");
}

void dp_emit_condition(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node) {
  const dp_node *n = &x->nodes[node];
  const int32_t n_facts = e->bounds.n_facts;
  if (n->op >= DP_OP_LT && n->op <= DP_OP_NE) {
    emit_compare(e, out, x, node);
  } else if (dp_is_long(x, node)) {
    dp_emit_long(e, out, x, node, DP_AS_VALUE);
  } else if (n->op == DP_OP_AND || n->op == DP_OP_OR) {
    dp_put(out, "(");
    dp_emit_logic(e, out, x, node);
    e->bounds.n_facts = n_facts;
    dp_put(out, ")");
  } else if (n->op == DP_OP_NOT) {
    dp_put(out, "!");
    dp_emit_condition(e, out, x, n->first);
  } else {
    dp_put(out, "(");
    dp_emit_node(e, out, x, node, DP_AS_VALUE);
    dp_put(out, " != 0)");
  }
}

static void emit_cond(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const int32_t condition = x->nodes[node].first, n_facts = e->bounds.n_facts;
  dp_put(out, "(");
  dp_emit_condition(e, out, x, condition);
  dp_put(out, " ? ");
  dp_bounds_assume(&e->bounds, x, condition, true);
  dp_emit_node(e, out, x, dp_child(x, node, 1), as);
  e->bounds.n_facts = n_facts;
  dp_put(out, " : ");
  dp_bounds_assume(&e->bounds, x, condition, false);
  dp_emit_node(e, out, x, dp_child(x, node, 2), as);
  e->bounds.n_facts = n_facts;
  dp_put(out, ")");
}

static void emit_call(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  if (node == e->split && x == &e->recurrence->cell) {
    dp_put(out, "dp_rest(DP_PASS, DP_TPASS, sofar, from, p, q, i, j, bad)");
    return;
  }
  const int32_t number = dp_emit_range(e, x, node, as);
  dp_put(out, "dp_range%d(DP_PASS, DP_TPASS, p, q, i, j", (int)number);
  for (int l = 0; l < x->nodes[node].ref; l++) dp_put(out, ", k%d", l);
  dp_put(out, ", bad)");
}

void dp_emit_node(dp_emitter *e, dp_text *out, const dp_expr *x, int32_t node, dp_as as) {
  const dp_node *n = &x->nodes[node];
  note_width(e, x, node, as);
  if (dp_is_long(x, node)) {
    dp_emit_long(e, out, x, node, as);
    return;
  }
  switch (n->op) {
  case DP_OP_TABLE:
    emit_table(e, out, x, node, as);
    break;
  case DP_OP_DATA:
    emit_data(e, out, x, node, as);
    break;
  case DP_OP_TO_REAL:
    dp_put(out, "((R)");
    dp_emit_node(e, out, x, n->first, as);
    dp_put(out, ")");
    break;
  case DP_OP_NEG:
  case DP_OP_ABS:
    emit_unary(e, out, x, node, as);
    break;
  case DP_OP_ADD:
  case DP_OP_SUB:
  case DP_OP_MUL:
  case DP_OP_DIV:
  case DP_OP_MOD:
    dp_emit_arithmetic(e, out, x, node, as, NULL);
    break;
  case DP_OP_COND:
    emit_cond(e, out, x, node, as);
    break;
  case DP_OP_MIN:
  case DP_OP_MAX:
    dp_emit_extreme(e, out, x, node, as);
    break;
  case DP_OP_RANGE_MIN:
  case DP_OP_RANGE_MAX:
  case DP_OP_RANGE_SUM:
    emit_call(e, out, x, node, as);
    break;
  default:
    if (n->first >= 0) {
      dp_put(out, "(%s)", type_word(as));
      dp_emit_condition(e, out, x, node);
    } else {
      emit_leaf(e, out, x, node, as);
    }
    break;
  }
}
