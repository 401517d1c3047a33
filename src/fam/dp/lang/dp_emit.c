/* The whole text: macros, ranges, the cell, the boundary, the loops. */
#include "dp_emit_own.h"
#include "dp_real.h"
#include "lang_pair.h"

#include <stdio.h>

/* ------------------------------------------------------------------- ranges */

static void put_outer_loops(lang_text *out, int level) {
  for (int l = 0; l < level; l++) lang_put(out, ", const i64 k%d", l);
}

/** What an empty range gives. */
static void put_empty(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const int32_t otherwise = lang_child(x, node, 3);
  lang_put(out, "  if (hi < lo) {\n");
  if (otherwise >= 0) {
    lang_put(out, "    return ");
    dp_emit_node(e, out, x, otherwise, as);
    lang_put(out, ";\n");
  } else {
    const int32_t op = x->nodes[node].op;
    if (op == LANG_OP_RANGE_MIN || op == LANG_OP_RANGE_MAX || lang_is_argument(op)) {
      e->code->checks = 1;
      lang_put(out, "    *bad |= DP_BAD_RANGE;\n");
    }
    lang_put(out, "    return %s;\n",
             op == LANG_OP_RANGE_LOGSUM ? "-DP_INF"
             : op == LANG_OP_RANGE_PROD ? "1"
                                        : "0");
  }
  lang_put(out, "  }\n");
}

/** The ends of the range, and the check that it is not too long. */
static void put_ends(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  lang_put(out, "  const i64 lo = ");
  dp_emit_node(e, out, x, lang_child(x, node, 0), DP_AS_INDEX);
  lang_put(out, ", hi = ");
  dp_emit_node(e, out, x, lang_child(x, node, 1), DP_AS_INDEX);
  lang_put(out, ";\n");
  if (!dp_bounds_ordered(&e->bounds, x, lang_child(x, node, 0), lang_child(x, node, 1)))
    put_empty(e, out, x, node, as);
  const dp_span lo = dp_bounds_span(&e->bounds, x, lang_child(x, node, 0));
  const dp_span hi = dp_bounds_span(&e->bounds, x, lang_child(x, node, 1));
  if (hi.hi - lo.lo < LANG_RANGE_MAX) return;
  e->code->checks = 1;
  lang_put(out,
           "  if ((u64)hi - (u64)lo >= 2147483647u) {\n    *bad |= DP_BAD_RANGE;\n    return 0;\n"
           "  }\n");
}

/** The loop's head and one value, v. */
static void put_each(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const int32_t n_open = e->n_open, body = lang_child(x, node, 2);
  lang_put(out, "  for (i64 k%d = lo; k%d <= hi; k%d++) {\n    const %s v = ", n->ref, n->ref,
           n->ref, dp_emit_type(x, body, as));
  e->n_open = n->ref + 1;
  dp_emit_node(e, out, x, body, as);
  e->n_open = n_open;
  lang_put(out, ";\n");
}

static void put_end(const dp_emitter *e, lang_text *out, int32_t level, const char *value) {
  if (e->bounds.k[level].hi >= INT64_MAX)
    lang_put(out, "    if (k%d == %lldLL) break;\n", level, (long long)INT64_MAX);
  lang_put(out, "  }\n  return %s;\n}\n\n", value);
}

static void put_logsum(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  e->functions_of_reals = true;
  lang_put(out, "  R most = -DP_INF, sum = 0;\n");
  dp_bounds_range(&e->bounds, x, node);
  put_each(e, out, x, node, as);
  lang_put(out, "    lang_logsum_add(v, &most, &sum);\n");
  put_end(e, out, x->nodes[node].ref, "most + lang_log(sum)");
}

/** argmin, argmax: the best value is of the body's kind. */
static void put_argument(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const int32_t body = lang_child(x, node, 2), level = x->nodes[node].ref;
  lang_put(out, "  %s best = 0;\n  i64 at = lo;\n", dp_emit_type(x, body, DP_AS_VALUE));
  dp_bounds_range(&e->bounds, x, node);
  put_each(e, out, x, node, DP_AS_VALUE);
  lang_put(out, "    if (k%d == lo || v %c best) best = v, at = k%d;\n", (int)level,
           x->nodes[node].op == LANG_OP_RANGE_ARGMIN ? '<' : '>', (int)level);
  put_end(e, out, level, "at");
}

/** sum, prod. */
static void put_total(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const bool sum = n->op == LANG_OP_RANGE_SUM, real = n->kind == LANG_REAL;
  const bool fits = dp_bounds_fits(&e->bounds, x, node, dp_span_of_type(TSL_I64));
  lang_put(out, "  %s best = %d;\n", dp_emit_type(x, node, as), sum ? 0 : 1);
  dp_bounds_range(&e->bounds, x, node);
  const bool safe = sum && (real ? dp_real_sum_safe(&e->bounds, x, lang_child(x, node, 2)) : fits);
  if (!safe) e->code->checks = 1;
  put_each(e, out, x, node, as);
  if (safe)
    lang_put(out, "    best += v;\n");
  else
    lang_put(out, "    best = %s%s(best, v, bad);\n", real ? "dp_real_" : "dp_",
             sum ? "add" : "mul");
  put_end(e, out, n->ref, "best");
}

/** min, max. */
static void put_extreme(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const char *type = dp_emit_type(x, node, as);
  const char *most = as == DP_AS_INDEX ? "DP_MOST_L" : "DP_MOST_V";
  const bool minimum = n->op == LANG_OP_RANGE_MIN, real = n->kind == LANG_REAL;
  if (real)
    lang_put(out, "  %s best = 0;\n", type);
  else
    lang_put(out, "  %s best = %s%s;\n", type, minimum ? "" : "-1 - ", most);
  dp_bounds_range(&e->bounds, x, node);
  put_each(e, out, x, node, as);
  if (real)
    lang_put(out, "    if (k%d == lo || v %c best) best = v;\n", n->ref, minimum ? '<' : '>');
  else
    lang_put(out, "    best = v %c best ? v : best;\n", minimum ? '<' : '>');
  put_end(e, out, n->ref, "best");
}

/** What comes of the values. */
static void put_fold(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const int32_t op = x->nodes[node].op;
  if (op == LANG_OP_RANGE_LOGSUM)
    put_logsum(e, out, x, node, as);
  else if (lang_is_argument(op))
    put_argument(e, out, x, node);
  else if (op == LANG_OP_RANGE_SUM || op == LANG_OP_RANGE_PROD)
    put_total(e, out, x, node, as);
  else
    put_extreme(e, out, x, node, as);
}

int32_t dp_emit_range(dp_emitter *e, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const bool inside = e->hoist != NULL && e->hoist->inside;
  const int32_t n_facts = e->bounds.n_facts, number = e->n_ranges++;
  if (e->hoist != NULL) e->hoist->inside = true;
  const dp_span saved = e->bounds.k[n->ref];
  const char *type = dp_emit_type(x, node, as);
  lang_text body = {0};
  lang_put(&body,
           "DP_FN %s dp_range%d(DP_TAKE, DP_CTAKE, const i64 p, const i64 q, const i64 i,\n"
           "                    const i64 j",
           type, (int)number);
  put_outer_loops(&body, n->ref);
  lang_put(&body, ", int *bad) {\n");
  put_ends(e, &body, x, node, as);
  put_fold(e, &body, x, node, as);
  e->bounds.n_facts = n_facts;
  e->bounds.k[n->ref] = saved;
  if (e->hoist != NULL) e->hoist->inside = inside;
  dp_emit_append(e, &body);
  return number;
}

/* -------------------------------------------------------------------- cells */

static void put_place(lang_text *out, const dp_code *c) {
  const char *a = c->fold.transpose != 0 ? "q" : "p", *b = c->fold.transpose != 0 ? "p" : "q";
  lang_put(out, c->fold.flip_i != 0 ? "  const i64 i = NR - 1 - %s;\n" : "  const i64 i = %s;\n",
           a);
  lang_put(out, c->fold.flip_j != 0 ? "  const i64 j = NC - 1 - %s;\n" : "  const i64 j = %s;\n",
           b);
}

/** Return the value v of an expression as one of the table, checked. */
static void put_return(dp_emitter *e, lang_text *out, const lang_expr *x) {
  if (lang_kind_of(e->code->type) == LANG_WHOLE &&
      !dp_bounds_fits(&e->bounds, x, x->root, dp_span_of_type(e->code->type))) {
    e->code->checks = 1;
    lang_put(out, "  *bad |= v != (V)(E)v ? DP_BAD_OVERFLOW : 0;\n");
  }
  lang_put(out, "  return (E)v;\n}\n\n");
}

void dp_emit_append(dp_emitter *e, lang_text *body) {
  if (body->err == TSL_OK) lang_put(&e->functions, "%s", body->text);
  if (e->functions.err == TSL_OK) e->functions.err = body->err;
  tsl_free(body->text);
  *body = (lang_text){0};
}

void dp_emit_value(dp_emitter *e, int32_t rule, const char *name, const char *more) {
  const dp_recurrence *r = e->recurrence;
  const lang_expr *x = dp_recurrence_value(r, rule);
  dp_hoist hoist = {0};
  lang_text body = {0};
  e->table = dp_recurrence_table(r, rule);
  dp_bounds_restart(&e->bounds);
  dp_bounds_rule(&e->bounds, rule);
  const dp_bounds always = e->bounds;
  lang_put(&body, "DP_FN E %s(DP_TAKE, DP_CTAKE, %sconst i64 p, const i64 q, int *bad) {\n", name,
           more);
  put_place(&body, e->code);
  const bool first = rule < 0 && e->code->layers > 0;
  if (first) dp_emit_reads_first(e, &body, x, &always, &hoist);
  lang_put(&body, "  const %s v = ", dp_emit_type(x, x->root, DP_AS_VALUE));
  dp_emit_node(e, &body, x, x->root, DP_AS_VALUE);
  if (first) e->hoist = NULL;
  lang_put(&body, ";\n");
  put_return(e, &body, x);
  dp_emit_append(e, &body);
}

/* Any cell: the rules in turn, then `cell` or, where it is NULL, a failure. */
static void put_full(dp_emitter *e, int32_t table, const char *name, const char *cell,
                     const char *take, const char *pass) {
  const dp_recurrence *r = e->recurrence;
  const int32_t cells = r->equation.names.tables[0].cells;
  lang_text body = {0};
  e->table = table;
  lang_put(&body, "DP_FN E %s_%d(DP_TAKE, DP_CTAKE, %sconst i64 p, const i64 q, int *bad) {\n",
           name, (int)table, take);
  put_place(&body, e->code);
  if (cells != LANG_CELLS_ALL)
    lang_put(&body, "  if (i %c j) return 0;\n", cells == LANG_CELLS_UPPER ? '>' : '<');
  dp_bounds_restart(&e->bounds);
  for (int32_t n = 0; n < r->equation.n_rules; n++) {
    if (r->equation.rule_table[n] != table) continue;
    lang_put(&body, "  if (");
    dp_emit_condition(e, &body, &r->rules[n].where, r->rules[n].where.root);
    lang_put(&body, ") return dp_value%d(DP_PASS, DP_CPASS, p, q, bad);\n", (int)n);
    dp_bounds_assume(&e->bounds, &r->rules[n].where, r->rules[n].where.root, false);
  }
  if (cell == NULL)
    lang_put(&body, "  *bad |= DP_BAD_RULE;\n  return 0;\n}\n\n");
  else
    lang_put(&body, "  return %s_%d(DP_PASS, DP_CPASS, %sp, q, bad);\n}\n\n", cell, (int)table,
             pass);
  dp_emit_append(e, &body);
}

/** A layer of a cell, to `own`. */
static void emit_layer(dp_emitter *e, const char *name, const char *take, const char *pass) {
  lang_text body = {0};
  lang_put(&body, "DP_FN void %s(DP_TAKE, DP_CTAKE, %sconst i64 p, const i64 q, int *bad) {\n",
           name, take);
  for (int32_t t = 0; t < e->code->tables; t++)
    lang_put(&body,
             "  DP_AT(own, DP_LAYER * DP_TABLES + %d) = %s_%d(DP_PASS, DP_CPASS, %sp, q, bad);\n",
             (int)t, name, (int)t, pass);
  lang_put(&body, "}\n\n");
  dp_emit_append(e, &body);
}

void dp_emit_tables(dp_emitter *e, const char *name, const char *take, const char *pass) {
  lang_text body = {0};
  if (e->code->layers > 0) {
    emit_layer(e, name, take, pass);
    return;
  }
  lang_put(&body, "DP_FN T %s(DP_TAKE, DP_TTAKE, %sconst i64 p, const i64 q, int *bad) {\n", name,
           take);
  lang_put(&body, "  T own = DP_ZERO;\n");
  for (int32_t t = 0; t < e->code->tables; t++)
    lang_put(&body, "  DP_OF(own, %d) = %s_%d(DP_PASS, DP_CPASS, %sp, q, bad);\n", (int)t, name,
             (int)t, pass);
  lang_put(&body, "  return own;\n}\n\n");
  dp_emit_append(e, &body);
}

void dp_emit_full(dp_emitter *e, const char *name, const char *cell, const char *take,
                  const char *pass) {
  for (int32_t t = 0; t < e->code->tables; t++) put_full(e, t, name, cell, take, pass);
  dp_emit_tables(e, name, take, pass);
}

/** All functions, with 32-bit values if wide is not set. */
static void put_functions(dp_emitter *e, dp_target target) {
  char name[24];
  e->code->checks = 0;
  e->n_ranges = 0;
  e->functions.used = 0;
  e->split = -1;
  for (int32_t n = 0; n < e->recurrence->equation.n_rules; n++) {
    (void)snprintf(name, sizeof name, "dp_value%d", (int)n);
    dp_emit_value(e, n, name, "");
  }
  for (int32_t t = 0; t < e->code->tables; t++) {
    (void)snprintf(name, sizeof name, "dp_cell_%d", (int)t);
    dp_emit_value(e, -1 - t, name, "");
  }
  dp_emit_tables(e, "dp_cell", "", "");
  dp_emit_full(e, "dp_full", e->code->engine == DP_WAVEFRONT ? NULL : "dp_cell", "", "");
  if (e->code->engine == DP_WAVEFRONT && e->code->layers > 0)
    dp_emit_full(e, "dp_low", "dp_cell", "", "");
  if (target == DP_TARGET_C && e->code->engine == DP_ROWS) dp_emit_hoisted(e);
  if (target == DP_TARGET_C && e->code->engine == DP_INTERVAL) dp_emit_split(e);
}

/* -------------------------------------------------------------------- whole */

static void put_loops(const dp_emitter *e, dp_target target, lang_text *out) {
  const bool c = target == DP_TARGET_C;
  if (!c && e->code->layers > 0) {
    lang_put(out, "%s", dp_text_cuda_layers);
    return;
  }
  switch (e->code->engine) {
  case DP_WAVEFRONT:
    lang_put(out, "%s", c ? dp_text_c_wave : dp_text_cuda_wave);
    break;
  case DP_ROWS:
    lang_put(out, "%s", c ? dp_text_c_rows : dp_text_cuda_rows);
    if (!c && e->code->same_row != 0) lang_put(out, "%s", dp_text_cuda_tile);
    break;
  default:
    lang_put(out, "%s", c ? dp_text_c_tile : dp_text_cuda_tile);
    break;
  }
}

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

/** Values of the expressions that give cells, when cells have the values of `table`. */
static dp_span next_span(dp_emitter *e, dp_span table) {
  const dp_recurrence *r = e->recurrence;
  dp_span all = {0, 0}; /* a failed cell */
  for (int32_t rule = -r->equation.names.n_tables; rule < r->equation.n_rules; rule++) {
    const lang_expr *x = dp_recurrence_value(r, rule);
    dp_bounds_init(r, &e->bounds);
    dp_bounds_rule(&e->bounds, rule);
    e->bounds.table = table;
    all = dp_span_hull(all, dp_bounds_span(&e->bounds, x, x->root));
  }
  return all;
}

/** Members that a chain of values that need each other has at most. Each lies on a cell before or,
 *  in the same one, is a value before. */
static dp_wide longest_chain(const dp_code *c) {
  const dp_wide cells = (dp_wide)c->P + (c->fold.rows_only != 0 ? 0 : (dp_wide)c->Q);
  return c->ascends != 0 ? (cells + c->layers_down) * c->tables : cells * c->values;
}

static dp_span common(dp_span a, dp_span b) {
  return (dp_span){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

/** Values of cells: of the type, what the expressions can give, what growing can reach. */
static dp_span table_span(dp_emitter *e, dp_wide steps) {
  const dp_code *c = e->code;
  dp_span values = dp_span_of_type(c->type), grown;
  if (lang_kind_of(c->type) == LANG_REAL) return values;
  if (dp_bounds_growth(e->recurrence, steps, &grown)) values = common(values, grown);
  for (int round = 0; round < 3; round++) values = common(values, next_span(e, values));
  return values;
}

static void put_all(dp_emitter *e, dp_target target, lang_text *out) {
  lang_put(out, "%s", target == DP_TARGET_C ? dp_text_c_head : dp_text_cuda_head);
  lang_put(out,
           "enum { DP_BAD_OVERFLOW = %d, DP_BAD_DIVISION = %d, DP_BAD_TABLE = %d, DP_BAD_DATA = "
           "%d, DP_BAD_RANGE = %d, DP_BAD_REAL = %d, DP_BAD_RULE = %d };\n",
           DP_BAD_OVERFLOW, DP_BAD_DIVISION, DP_BAD_TABLE, DP_BAD_DATA, DP_BAD_RANGE, DP_BAD_REAL,
           DP_BAD_RULE);
  lang_put(out, "%s;\n", TEXT(DP_ARGS_STRUCT));
  if (target == DP_TARGET_C)
    lang_put(out, "%s;\n", TEXT(DP_WAVE_STRUCT));
  else
    lang_put(out, "%s;\n%s;\n%s;\n%s;\n", TEXT(DP_ROW_LAUNCH_STRUCT), TEXT(DP_EDGE_LAUNCH_STRUCT),
             TEXT(DP_TILE_LAUNCH_STRUCT), TEXT(DP_STEP_LAUNCH_STRUCT));
  dp_emit_macros(e, target, out);
  lang_put(out, "%s", dp_text_helpers);
  if (e->functions_of_reals)
    lang_put(out, "#define LANG_FN DP_FN\n#define LANG_BYTES %d\n#define LANG_(name) name\n%s%s",
             lang_is_single(&e->recurrence->equation.names) ? 4 : 8, lang_math_text,
             dp_text_functions);
  if (e->functions.err == TSL_OK) lang_put(out, "%s", e->functions.text);
  put_loops(e, target, out);
}

tsl_err dp_emit(const dp_recurrence *r, dp_target target, dp_code *code, char **text) {
  tsl_err err = TSL_OK;
  dp_emitter *e = NULL;
  lang_text out = {0};
  void *memory = NULL;
  *text = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "emitter", &memory));
  e = memory;
  e->recurrence = r;
  e->code = code;
  const dp_wide steps = longest_chain(code);
  const dp_span values = table_span(e, steps);
  dp_bounds_init(r, &e->bounds);
  e->bounds.table = values;
  if (lang_kind_of(code->type) == LANG_REAL) e->bounds.reals = dp_real_growth(r, (double)steps);
  put_functions(e, target);
  if (e->misfit) {
    e->wide = true;
    put_functions(e, target);
  }
  code->narrow = !e->wide;
  put_all(e, target, &out);
  TSL_TRY(e->functions.err);
  TSL_TRY(out.err);
  *text = out.text;
  out.text = NULL;
done:
  if (e != NULL) tsl_free(e->functions.text);
  TSL_FREE_ALL(e, out.text);
  return err;
}
