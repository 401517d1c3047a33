/* Data that are the same along a row: read once, before its loop. With a depth, what a layer reads
 * in any case: read first. */
#include "dp_emit_own.h"

/** Does the subtree change along a row, or within ranges? */
static bool varies(const lang_expr *x, int32_t node, lang_opcode along) {
  const int32_t op = x->nodes[node].op;
  if (op == (int32_t)along || op == LANG_OP_LOOP || op == LANG_OP_TABLE) return true;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
    if (varies(x, c, along)) return true;
  return false;
}

/** Is every index in the subtree inside its array wherever no cell is boundary? */
static bool is_inside(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  for (int32_t c = n->first; c >= 0; c = x->nodes[c].next)
    if (!is_inside(b, x, c)) return false;
  if (n->op == LANG_OP_DIV || n->op == LANG_OP_MOD) {
    const dp_span divisor = dp_bounds_span(b, x, x->nodes[n->first].next);
    if (divisor.lo <= 0) return false;
  }
  if (n->kind == LANG_WHOLE && n->op >= LANG_OP_NEG && n->op <= LANG_OP_SHIFT_RIGHT &&
      !dp_bounds_fits(b, x, node, dp_span_of_type(TSL_I64)))
    return false;
  if (n->op != LANG_OP_DATA) return n->op < LANG_OP_RANGE_MIN;
  const lang_array *array = &b->recurrence->equation.names.arrays[n->ref];
  for (int d = 0; d < array->rank; d++) {
    const dp_span inside = {0, (dp_wide)array->shape[d] - 1};
    if (!dp_span_within(dp_bounds_span(b, x, lang_child(x, node, d)), inside)) return false;
  }
  return true;
}

/** Knowledge that holds for a whole row beyond the margins, whatever its conditions. */
static void row_bounds(const dp_emitter *e, dp_bounds *b) {
  const lang_table *t = &e->recurrence->equation.names.tables[0];
  const dp_code *c = e->code;
  const bool turn = c->fold.transpose != 0, flip = (turn ? c->fold.flip_j : c->fold.flip_i) != 0;
  const int64_t n = turn ? t->cols : t->rows;
  const dp_span rows = flip ? (dp_span){0, n - 1 - c->margin_p} : (dp_span){c->margin_p, n - 1};
  dp_bounds_init(e->recurrence, b);
  b->n_facts = 0; /* the table's own fact is about cells */
  if (turn)
    b->j = rows;
  else
    b->i = rows;
}

static bool has_loop(const lang_expr *x, int32_t node) {
  if (x->nodes[node].op == LANG_OP_LOOP) return true;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
    if (has_loop(x, c)) return true;
  return false;
}

/** Can it be read wherever the function is called? */
static bool is_always_read(dp_emitter *e, const lang_expr *x, int32_t node) {
  const dp_bounds here = e->bounds;
  if (has_loop(x, node)) return false;
  e->bounds = *e->hoist->always;
  const bool can = is_inside(&e->bounds, x, node) &&
                   (x->nodes[node].op != LANG_OP_TABLE || dp_read_is_proved(e, x, node));
  e->bounds = here;
  return can;
}

/** Is it the same along a row, and inside? */
static bool is_of_row(dp_emitter *e, const lang_expr *x, int32_t node) {
  dp_bounds b;
  if (varies(x, node, e->code->fold.transpose != 0 ? LANG_OP_I : LANG_OP_J)) return false;
  row_bounds(e, &b);
  return is_inside(&b, x, node);
}

int dp_hoist_number(dp_emitter *e, const lang_expr *x, int32_t node) {
  dp_hoist *h = e->hoist;
  if (h->inside || x != h->expr) return -1;
  for (int n = 0; n < h->n; n++)
    if (lang_same(x, h->node[n], x, node)) return n;
  if (h->n == DP_HOISTS_MAX) return -1;
  if (!(h->always != NULL ? is_always_read : is_of_row)(e, x, node)) return -1;
  h->node[h->n] = node;
  return h->n++;
}

/** Find what of an expression is hoisted: write it and throw that away. */
static void find_hoisted(dp_emitter *e, const lang_expr *x) {
  const int32_t n_ranges = e->n_ranges;
  lang_text functions = e->functions, body = {0};
  const dp_bounds saved = e->bounds;
  e->functions = (lang_text){0};
  dp_emit_node(e, &body, x, x->root, DP_AS_VALUE);
  if (functions.err == TSL_OK) functions.err = body.err != TSL_OK ? body.err : e->functions.err;
  TSL_FREE_ALL(body.text, e->functions.text);
  e->functions = functions;
  e->n_ranges = n_ranges;
  e->bounds = saved;
}

void dp_emit_reads_first(dp_emitter *e, lang_text *out, const lang_expr *x, const dp_bounds *always,
                         dp_hoist *h) {
  *h = (dp_hoist){.expr = x, .always = always};
  e->hoist = h;
  find_hoisted(e, x);
  e->hoist = NULL;
  for (int n = 0; n < h->n; n++) {
    const lang_node *node = &x->nodes[h->node[n]];
    const int32_t type = node->op == LANG_OP_TABLE
                             ? e->code->type
                             : e->recurrence->equation.names.arrays[node->ref].type;
    lang_put(out, "  const %s H%d = (%s)", dp_type_word(type), n, dp_type_word(type));
    dp_emit_node(e, out, x, h->node[n], DP_AS_INDEX);
    lang_put(out, ";\n");
  }
  e->hoist = h;
}

static void put_loads(dp_emitter *e, const dp_hoist *h, lang_text *out) {
  const dp_code *c = e->code;
  const bool turn = c->fold.transpose != 0, flip = (turn ? c->fold.flip_j : c->fold.flip_i) != 0;
  lang_put(out, "#define DP_HLOAD const i64 %c = %s%sp;", turn ? 'j' : 'i',
           flip ? (turn ? "NC" : "NR") : "", flip ? " - 1 - " : "");
  e->hoist = NULL;
  dp_bounds b;
  const dp_bounds saved = e->bounds;
  row_bounds(e, &b);
  e->bounds = b;
  for (int n = 0; n < h->n; n++) {
    const lang_array *array = &e->recurrence->equation.names.arrays[h->expr->nodes[h->node[n]].ref];
    lang_put(out, " const %s H%d = (%s)", dp_type_word(array->type), n, dp_type_word(array->type));
    dp_emit_node(e, out, h->expr, h->node[n], DP_AS_INDEX);
    lang_put(out, ";");
  }
  e->bounds = saved;
  lang_put(out, "\n#define DP_HPASS");
  for (int n = 0; n < h->n; n++) lang_put(out, " H%d,", n);
  lang_put(out, "\n\n");
}

void dp_emit_hoisted(dp_emitter *e) {
  dp_hoist h = {.expr = &e->recurrence->cells[0]};
  lang_text body = {0}, more = {0}, pass = {0};
  if (e->code->margin_p < 0 || e->code->values > 1 || e->code->layers > 0) {
    lang_put(&e->functions, "#define dp_cell_row dp_cell\n#define DP_HLOAD\n#define DP_HPASS\n\n");
    return;
  }
  e->hoist = &h; /* once to find them, then to write them */
  const int32_t n_ranges = e->n_ranges;
  lang_text functions = e->functions;
  e->functions = (lang_text){0};
  dp_emit_value(e, -1, "dp_cell_row_0", "");
  tsl_free(e->functions.text);
  if (functions.err == TSL_OK) functions.err = e->functions.err;
  e->functions = functions;
  e->n_ranges = n_ranges;
  for (int n = 0; n < h.n; n++) {
    const lang_array *array = &e->recurrence->equation.names.arrays[h.expr->nodes[h.node[n]].ref];
    lang_put(&more, "const %s H%d, ", dp_type_word(array->type), n);
    lang_put(&pass, "H%d, ", n);
  }
  const bool some = h.n > 0 && more.err == TSL_OK && pass.err == TSL_OK;
  dp_emit_value(e, -1, "dp_cell_row_0", some ? more.text : "");
  dp_emit_tables(e, "dp_cell_row", some ? more.text : "", some ? pass.text : "");
  put_loads(e, &h, &body);
  dp_emit_append(e, &body);
  TSL_FREE_ALL(more.text, pass.text);
}
