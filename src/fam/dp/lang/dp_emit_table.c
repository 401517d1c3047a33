/* Reads of the table: which cell, which value of it, and how the engine reaches it. */
#include "dp_emit_own.h"

#include <string.h>

/** Offset of an index from the cell's own when it is a constant. */
static bool constant_offset(dp_emitter *e, const lang_expr *x, int32_t index, int own,
                            int64_t *offset) {
  const dp_span s = dp_bounds_offset(&e->bounds, x, index, own);
  if (s.lo != s.hi || s.lo < -(1 << 20) || s.lo > 1 << 20) return false;
  *offset = (int64_t)s.lo;
  return true;
}

/** The reference as the checker sees it where it is being written. */
static dp_reference reference_of(dp_emitter *e, const lang_expr *x, int32_t node) {
  dp_reference ref = dp_reference_at(&e->bounds, x, node);
  ref.from = e->table;
  return ref;
}

/** Is inner index n of the reference known to be inside the table? */
static bool is_inner_proved(dp_emitter *e, const lang_expr *x, int32_t node, int n) {
  const dp_span all = {0, (dp_wide)e->recurrence->equation.names.tables[0].inner[n] - 1};
  return dp_span_within(dp_bounds_span(&e->bounds, x, lang_child(x, node, 2 + n)), all);
}

bool dp_read_is_proved(dp_emitter *e, const lang_expr *x, int32_t node) {
  const lang_table *t = &e->recurrence->equation.names.tables[0];
  const dp_fold *f = &e->code->fold;
  const int32_t row = lang_child(x, node, 0), column = lang_child(x, node, 1);
  const dp_span rows = {0, (dp_wide)t->rows - 1}, columns = {0, (dp_wide)t->cols - 1};
  const dp_span slant = dp_bounds_slant(&e->bounds, x, node);
  const dp_reference ref = reference_of(e, x, node);
  for (int p = 0; p < DP_N_PATTERNS; p++) {
    const dp_fold g = dp_pattern_fold((dp_pattern)p);
    if (memcmp(&g, f, sizeof g) == 0 && !dp_reference_proved(&ref, (dp_pattern)p)) return false;
  }
  if (t->cells == LANG_CELLS_UPPER && slant.lo < 0) return false;
  if (t->cells == LANG_CELLS_LOWER && slant.hi > 0) return false;
  for (int n = 0; n < t->n_inner; n++)
    if (!is_inner_proved(e, x, node, n)) return false;
  return dp_span_within(dp_bounds_span(&e->bounds, x, row), rows) &&
         dp_span_within(dp_bounds_span(&e->bounds, x, column), columns);
}

/** Inner index n that the reference reads. */
static void emit_inner(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, int n) {
  const int32_t index = lang_child(x, node, 2 + n);
  const bool inside = is_inner_proved(e, x, node, n);
  int64_t offset = 0;
  if (!inside) e->code->checks = 1;
  lang_put(out, "%s(", inside ? "" : "dp_inner");
  if (constant_offset(e, x, index, DP_INNER + n, &offset))
    lang_put(out, "x%d + (%lld)", n, (long long)offset);
  else
    dp_emit_node(e, out, x, index, DP_AS_INDEX);
  if (inside)
    lang_put(out, ")");
  else
    lang_put(out, ", %lldLL, bad)", (long long)e->recurrence->equation.names.tables[0].inner[n]);
}

/** Number of the value that the reference reads, in its cell. */
static void emit_number(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const lang_table *t = &e->recurrence->equation.names.tables[0];
  const int table = (int)x->nodes[node].ref;
  if (t->n_inner == 0) {
    lang_put(out, "%d", table);
    return;
  }
  for (int n = 0; n < t->n_inner; n++) lang_put(out, "(");
  for (int n = 0; n < t->n_inner; n++) {
    if (n > 0) lang_put(out, " * %lldLL + ", (long long)t->inner[n]);
    emit_inner(e, out, x, node, n);
    if (n > 0) lang_put(out, ")");
  }
  lang_put(out, " * DP_TABLES + %d)", table);
}

/** Folded row (way 0) or column (way 1) that the reference reads, as an index. */
static void emit_place(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, int way) {
  const dp_fold *f = &e->code->fold;
  const bool column = (way == 1) != (f->transpose != 0); /* of the user's table */
  const int32_t index = lang_child(x, node, column ? 1 : 0);
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t offset = 0;
  if (constant_offset(e, x, index, column ? DP_COLUMN : DP_ROW, &offset)) {
    lang_put(out, "(%c + (%lld))", way == 0 ? 'p' : 'q', (long long)(flip ? -offset : offset));
    return;
  }
  if (flip) lang_put(out, "(i64)((u64)%s - 1 - (u64)", column ? "NC" : "NR");
  lang_put(out, "(");
  dp_emit_node(e, out, x, index, DP_AS_INDEX);
  lang_put(out, flip ? "))" : ")");
}

/** Rows back that the reference reads, when it is a constant; -1 otherwise. */
static int64_t rows_back(dp_emitter *e, const lang_expr *x, int32_t node) {
  const dp_fold *f = &e->code->fold;
  const bool column = f->transpose != 0;
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t offset = 0;
  if (!constant_offset(e, x, lang_child(x, node, column ? 1 : 0), column ? DP_COLUMN : DP_ROW,
                       &offset))
    return -1;
  return flip ? offset : -offset;
}

static void emit_neighbour(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const dp_fold *f = &e->code->fold;
  const bool column = f->transpose == 0;
  const bool flip = (column ? f->flip_j : f->flip_i) != 0;
  int64_t along = 0;
  (void)constant_offset(e, x, lang_child(x, node, column ? 1 : 0), column ? DP_COLUMN : DP_ROW,
                        &along);
  if (flip) along = -along;
  lang_put(out, "%s", rows_back(e, x, node) == 0 ? "left" : along == 0 ? "up" : "diag");
}

/** A read that may be outside, of the cell itself or against the order: checked when it runs. */
static void emit_guarded(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const bool deep = e->code->layers > 0;
  e->code->checks = 1;
  e->other_layers = true;
  lang_put(out, "dp_get(NR, NC, DP_CPASS, ");
  emit_number(e, out, x, node);
  if (deep)
    lang_put(out, ", DP_LAYER * DP_TABLES + %d", (int)e->table);
  else
    lang_put(out, ", %d", x->nodes[node].ref < e->table);
  lang_put(out, ", p, q, ");
  emit_place(e, out, x, node, 0);
  lang_put(out, ", ");
  emit_place(e, out, x, node, 1);
  lang_put(out, ", bad)");
}

/** The cell in memory. */
static void emit_stored(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node,
                        bool by_rows) {
  if (by_rows) {
    lang_put(out, "r%lld[", (long long)rows_back(e, x, node));
  } else {
    lang_put(out, "t[");
    emit_place(e, out, x, node, 0);
    lang_put(out, " * st + ");
  }
  emit_place(e, out, x, node, 1);
  lang_put(out, e->code->layers > 0 ? "].v" : "]");
}

/** May a read of the own cell be of the run of layers being computed, of another layer? */
static bool is_of_run(const dp_emitter *e, const dp_reference *ref) {
  const lang_table *t = &e->recurrence->equation.names.tables[0];
  for (int n = 0; n + 1 < t->n_inner; n++)
    if (ref->inner[n].hi < 0) return false;
  return ref->layer.lo < 0;
}

void dp_emit_table(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const char *type = dp_emit_type(x, node, as);
  const dp_reference ref = reference_of(e, x, node);
  const bool same = dp_reference_same(&ref), wave = e->code->engine == DP_WAVEFRONT;
  const bool by_rows = e->code->engine == DP_ROWS && e->code->depth > 0;
  const int hoisted =
      e->hoist != NULL && e->hoist->always != NULL ? dp_hoist_number(e, x, node) : -1;
  lang_put(out, "(%s)", type);
  if (hoisted >= 0) {
    lang_put(out, "H%d", hoisted);
    return;
  }
  if (!same && !wave &&
      (!dp_read_is_proved(e, x, node) || (by_rows && rows_back(e, x, node) < 0))) {
    emit_guarded(e, out, x, node);
    return;
  }
  lang_put(out, e->code->layers > 0 ? "DP_AT(" : "DP_OF(");
  e->other_layers |= same && is_of_run(e, &ref);
  if (same)
    lang_put(out, "own");
  else if (wave)
    emit_neighbour(e, out, x, node);
  else
    emit_stored(e, out, x, node, by_rows);
  lang_put(out, ", ");
  emit_number(e, out, x, node);
  lang_put(out, ")");
}
