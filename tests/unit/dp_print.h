/* Trees as text, which parses to the same tree. */
#pragma once

#include "lang_expr.h"

#include <stdio.h>
#include <string.h>

typedef struct printer {
  const lang_names *names;
  const lang_expr *expr;
  char *text;
  size_t size, used;
} printer;

static void print(printer *p, int32_t node);

static void put(printer *p, const char *word) {
  const size_t n = strlen(word);
  for (size_t c = 0; c < n; c++)
    if (p->used + c + 1 < p->size) p->text[p->used + c] = word[c];
  p->used += n;
}

static const char *const infix[LANG_N_OPS] = {
    [LANG_OP_ADD] = " + ",     [LANG_OP_SUB] = " - ",         [LANG_OP_MUL] = " * ",
    [LANG_OP_DIV] = " / ",     [LANG_OP_MOD] = " % ",         [LANG_OP_LT] = " < ",
    [LANG_OP_LE] = " <= ",     [LANG_OP_GT] = " > ",          [LANG_OP_GE] = " >= ",
    [LANG_OP_EQ] = " == ",     [LANG_OP_NE] = " != ",         [LANG_OP_AND] = " && ",
    [LANG_OP_OR] = " || ",     [LANG_OP_BIT_AND] = " & ",     [LANG_OP_BIT_OR] = " | ",
    [LANG_OP_BIT_XOR] = " ^ ", [LANG_OP_SHIFT_LEFT] = " << ", [LANG_OP_SHIFT_RIGHT] = " >> "};

static const char *const calls[LANG_N_OPS] = {[LANG_OP_ABS] = "abs(",
                                              [LANG_OP_MIN] = "min(",
                                              [LANG_OP_MAX] = "max(",
                                              [LANG_OP_RANGE_MIN] = "min(",
                                              [LANG_OP_RANGE_MAX] = "max(",
                                              [LANG_OP_RANGE_SUM] = "sum(",
                                              [LANG_OP_LOGSUM] = "logsum(",
                                              [LANG_OP_RANGE_LOGSUM] = "logsum(",
                                              [LANG_OP_RANGE_PROD] = "prod(",
                                              [LANG_OP_RANGE_ARGMIN] = "argmin(",
                                              [LANG_OP_RANGE_ARGMAX] = "argmax("};

static void print_number(printer *p, const lang_node *n) {
  char number[64];
  if (n->kind == LANG_WHOLE)
    (void)snprintf(number, sizeof number, "%lld", (long long)n->whole);
  else if (n->real > 1.7976931348623157e308)
    (void)snprintf(number, sizeof number, "inf");
  else
    (void)snprintf(number, sizeof number, "%.17g", n->real);
  put(p, number);
  if (n->kind == LANG_REAL && strpbrk(number, ".inf") == NULL)
    put(p, strchr(number, 'e') == NULL ? ".0" : "");
}

/** A real such as 1e+300 would read as an integer or not at all: give the mantissa a point. */
static void print_real(printer *p, const lang_node *n) {
  char number[64], *e;
  (void)snprintf(number, sizeof number, "%.17g", n->real);
  e = strchr(number, 'e');
  if (e == NULL || strchr(number, '.') != NULL) {
    print_number(p, n);
    return;
  }
  *e = '\0';
  put(p, number);
  put(p, ".0e");
  put(p, e + 1);
}

static void print_extent(printer *p, const lang_node *n) {
  put(p, n->dim == 0 ? "rows(" : "cols(");
  put(p, n->ref >= 0 ? p->names->arrays[n->ref].name : p->names->tables[-1 - n->ref].name);
  put(p, ")");
}

static void print_indexed(printer *p, const lang_node *n, const char *name) {
  put(p, name);
  for (int32_t c = n->first; c >= 0; c = p->expr->nodes[c].next) {
    put(p, "[");
    print(p, c);
    put(p, "]");
  }
}

static void print_list(printer *p, const lang_node *n, const char *open, const char *between,
                       const char *close) {
  put(p, open);
  for (int32_t c = n->first; c >= 0; c = p->expr->nodes[c].next) {
    print(p, c);
    if (p->expr->nodes[c].next >= 0) put(p, between);
  }
  put(p, close);
}

/** A name that starts at byte at of the expression's own text. */
static void put_name(printer *p, int32_t at) {
  char name[LANG_NAME_MAX];
  int n = 0;
  for (const char *c = p->expr->text + at; n + 1 < LANG_NAME_MAX; c++) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!letter && !(*c >= '0' && *c <= '9')) break;
    name[n++] = *c;
  }
  name[n] = '\0';
  put(p, name);
}

static void print_range(printer *p, int32_t node) {
  const lang_node *n = &p->expr->nodes[node];
  put(p, calls[n->op]);
  put_name(p, n->dim);
  put(p, " = ");
  print(p, lang_child(p->expr, node, 0));
  put(p, " .. ");
  print(p, lang_child(p->expr, node, 1));
  put(p, " : ");
  print(p, lang_child(p->expr, node, 2));
  if (lang_child(p->expr, node, 3) >= 0) {
    put(p, " else ");
    print(p, lang_child(p->expr, node, 3));
  }
  put(p, ")");
}

static void print_cond(printer *p, int32_t node) {
  put(p, "(");
  print(p, lang_child(p->expr, node, 0));
  put(p, " ? ");
  print(p, lang_child(p->expr, node, 1));
  put(p, " : ");
  print(p, lang_child(p->expr, node, 2));
  put(p, ")");
}

static void print(printer *p, int32_t node) {
  const lang_node *n = &p->expr->nodes[node];
  switch (n->op) {
  case LANG_OP_NUMBER:
    if (n->kind == LANG_REAL)
      print_real(p, n);
    else
      print_number(p, n);
    break;
  case LANG_OP_I:
  case LANG_OP_J:
    put(p, n->op == LANG_OP_I ? "i" : "j");
    break;
  case LANG_OP_INNER:
    put(p, lang_inner_words[n->ref]);
    break;
  case LANG_OP_LOOP:
    put_name(p, n->at);
    break;
  case LANG_OP_SCALAR:
    put(p, p->names->scalars[n->ref].name);
    break;
  case LANG_OP_EXTENT:
    print_extent(p, n);
    break;
  case LANG_OP_TABLE:
    print_indexed(p, n, p->names->tables[n->ref].name);
    break;
  case LANG_OP_DATA:
    print_indexed(p, n, p->names->arrays[n->ref].name);
    break;
  case LANG_OP_TO_REAL:
    print(p, n->first);
    break;
  case LANG_OP_NEG:
  case LANG_OP_NOT:
    print_list(p, n, n->op == LANG_OP_NEG ? "(-" : "(!", "", ")");
    break;
  case LANG_OP_ABS:
  case LANG_OP_MIN:
  case LANG_OP_MAX:
  case LANG_OP_LOGSUM:
    print_list(p, n, calls[n->op], ", ", ")");
    break;
  case LANG_OP_CALL:
    put(p, lang_function_words[n->ref]);
    print_list(p, n, "(", ", ", ")");
    break;
  case LANG_OP_COND:
    print_cond(p, node);
    break;
  case LANG_OP_RANGE_MIN:
  case LANG_OP_RANGE_MAX:
  case LANG_OP_RANGE_SUM:
  case LANG_OP_RANGE_LOGSUM:
    print_range(p, node);
    break;
  default:
    print_list(p, n, "(", infix[n->op], ")");
    break;
  }
}

/** The tree with all brackets. @param[out] text  [size], zero-ended; cut when too small
 *  @return bytes needed, the closing zero not counted */
static size_t dp_expr_print(const lang_names *names, const lang_expr *expr, char *text,
                            size_t size) {
  printer p = {names, expr, text, size, 0};
  print(&p, expr->root);
  if (size > 0) text[p.used < size ? p.used : size - 1] = '\0';
  return p.used;
}
