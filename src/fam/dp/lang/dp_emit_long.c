/* Extremes; and chains of operators and calls with many arguments as functions of a statement for
 * each: compilers have a limit for brackets inside each other, and a chain may be as long as its
 * text. */
#include "dp_emit_own.h"

/** Operators on the way down from node along the first operands: of arithmetic, or of one logic. */
static int32_t chain_length(const lang_expr *x, int32_t node) {
  const int32_t op = x->nodes[node].op;
  int32_t n = 0;
  if (op == LANG_OP_AND || op == LANG_OP_OR)
    for (; x->nodes[node].op == op; node = x->nodes[node].first) n++;
  else
    for (; lang_is_arithmetic(x->nodes[node].op); node = x->nodes[node].first) n++;
  return n;
}

static int32_t n_children(const lang_expr *x, int32_t node) {
  int32_t n = 0;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next) n++;
  return n;
}

bool dp_is_long(const lang_expr *x, int32_t node) {
  const int32_t op = x->nodes[node].op;
  if (op == LANG_OP_MIN || op == LANG_OP_MAX || op == LANG_OP_LOGSUM)
    return n_children(x, node) > LANG_CHAIN_MAX;
  return chain_length(x, node) > LANG_CHAIN_MAX;
}

void dp_emit_logic(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  if (x->nodes[n->first].op == n->op)
    dp_emit_logic(e, out, x, n->first);
  else
    dp_emit_condition(e, out, x, n->first);
  lang_put(out, n->op == LANG_OP_AND ? " && " : " || ");
  dp_bounds_assume(&e->bounds, x, n->first, n->op == LANG_OP_AND);
  dp_emit_condition(e, out, x, x->nodes[n->first].next);
}

/** The lowest operator of the chain, then those above it: v = v op operand. */
static void put_chain(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const int32_t n = chain_length(x, node);
  int32_t *chain = NULL;
  if (out->err == TSL_OK) out->err = tsl_alloc(n, sizeof *chain, "chain", (void **)&chain);
  if (out->err != TSL_OK) return;
  for (int32_t k = n - 1, at = node; k >= 0; k--, at = x->nodes[at].first) chain[k] = at;
  lang_put(out, "  %s v = ", dp_emit_type(x, node, as));
  dp_emit_node(e, out, x, x->nodes[chain[0]].first, as);
  lang_put(out, ";\n");
  for (int32_t k = 0; k < n; k++) {
    lang_put(out, "  v = ");
    dp_emit_arithmetic(e, out, x, chain[k], as, "v");
    lang_put(out, ";\n");
  }
  tsl_free(chain);
}

static const char *extreme_name(const lang_expr *x, int32_t node, dp_as as) {
  static const char *const names[2][3] = {{"dp_min_v", "dp_min_l", "dp_min_r"},
                                          {"dp_max_v", "dp_max_l", "dp_max_r"}};
  const lang_node *n = &x->nodes[node];
  if (n->op == LANG_OP_LOGSUM) return "lang_logsum";
  return names[n->op == LANG_OP_MAX][n->kind == LANG_REAL ? 2 : as == DP_AS_INDEX];
}

void dp_emit_extreme(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  for (int32_t c = x->nodes[n->first].next; c >= 0; c = x->nodes[c].next)
    lang_put(out, "%s(", extreme_name(x, node, as));
  dp_emit_node(e, out, x, n->first, as);
  for (int32_t c = x->nodes[n->first].next; c >= 0; c = x->nodes[c].next) {
    lang_put(out, ", ");
    dp_emit_node(e, out, x, c, as);
    lang_put(out, ")");
  }
}

static void put_arguments(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node,
                          dp_as as) {
  const char *const name = extreme_name(x, node, as);
  lang_put(out, "  %s v = ", dp_emit_type(x, node, as));
  dp_emit_node(e, out, x, x->nodes[node].first, as);
  lang_put(out, ";\n");
  for (int32_t c = x->nodes[x->nodes[node].first].next; c >= 0; c = x->nodes[c].next) {
    lang_put(out, "  v = %s(v, ", name);
    dp_emit_node(e, out, x, c, as);
    lang_put(out, ");\n");
  }
}

static void put_condition(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const int32_t n_facts = e->bounds.n_facts;
  lang_put(out, "  const int v = ");
  dp_emit_logic(e, out, x, node);
  e->bounds.n_facts = n_facts;
  lang_put(out, ";\n");
}

void dp_emit_long(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const int32_t number = e->n_ranges++, op = x->nodes[node].op;
  const bool inside = e->hoist != NULL && e->hoist->inside;
  lang_text body = {0};
  if (e->hoist != NULL) e->hoist->inside = true;
  lang_put(&body,
           "DP_FAR %s dp_long%d(DP_TAKE, DP_CTAKE, const i64 p, const i64 q, const i64 i,\n"
           "                   const i64 j",
           dp_emit_type(x, node, as), (int)number);
  for (int32_t l = 0; l < e->n_open; l++) lang_put(&body, ", const i64 k%d", (int)l);
  lang_put(&body, ", int *bad) {\n");
  if (lang_is_arithmetic(op))
    put_chain(e, &body, x, node, as);
  else if (op == LANG_OP_AND || op == LANG_OP_OR)
    put_condition(e, &body, x, node);
  else
    put_arguments(e, &body, x, node, as);
  lang_put(&body, "  return v;\n}\n\n");
  if (e->hoist != NULL) e->hoist->inside = inside;
  dp_emit_append(e, &body);
  lang_put(out, "dp_long%d(DP_PASS, DP_CPASS, p, q, i, j", (int)number);
  for (int32_t l = 0; l < e->n_open; l++) lang_put(out, ", k%d", (int)l);
  lang_put(out, ", bad)");
}
