/* Trees: nodes, children, the text that they stand for. */
#include "lang_lex.h"

#include <string.h>

tsl_err lang_node_new(lang_expr *expr, lang_opcode op, int32_t at, int32_t length, int32_t *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&expr->nodes, expr->n_nodes, 1, &expr->room, sizeof *expr->nodes,
                   "expression"));
  *out = expr->n_nodes++;
  expr->nodes[*out] = (lang_node){.op = op, .first = -1, .next = -1, .at = at, .length = length};
done:
  return err;
}

void lang_node_adopt(lang_expr *expr, int32_t node, int32_t child) {
  lang_node *n = &expr->nodes[node], *c = &expr->nodes[child];
  int32_t *link = &n->first;
  while (*link >= 0) link = &expr->nodes[*link].next;
  *link = child;
  c->next = -1;
  if (n->depth < c->depth + 1) n->depth = c->depth + 1;
  n->reads |= c->reads;
}

int32_t lang_child(const lang_expr *expr, int32_t node, int n) {
  int32_t child = expr->nodes[node].first;
  for (; n > 0 && child >= 0; n--) child = expr->nodes[child].next;
  return child;
}

tsl_err lang_expr_keep(lang_expr *out, const char *text) {
  tsl_err err = TSL_OK;
  const size_t n = strnlen(text, LANG_TEXT_MAX + 1);
  void *memory = NULL;
  if (n > LANG_TEXT_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "the expression has more than %d characters", LANG_TEXT_MAX);
  TSL_TRY(tsl_alloc((int64_t)n + 1, 1, "expression", &memory));
  out->text = memory;
  memcpy(out->text, text, n);
done:
  return err;
}

void lang_expr_clear(lang_expr *expr) {
  TSL_FREE_ALL(expr->text, expr->nodes);
  memset(expr, 0, sizeof *expr);
}
