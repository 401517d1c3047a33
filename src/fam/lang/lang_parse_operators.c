/* Operators by precedence. */
#include "lang_parse_own.h"

/** The whole expression is at depth 1; what it encloses is deeper. */
static tsl_err go_deeper(lang_parser *p, int32_t at) {
  tsl_err err = TSL_OK;
  if (p->depth++ > LANG_DEPTH_MAX)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, at, 1, "nested deeper than %d", LANG_DEPTH_MAX);
done:
  return err;
}

/** Operators of bits are those of recurrences. */
static tsl_err need_cells(const lang_parser *p) {
  tsl_err err = TSL_OK;
  if (p->scope == LANG_SCOPE_PAIR)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, p->token.length,
                 "values of pairs are reals; '%.*s' takes bits of integers", (int)p->token.length,
                 p->text + p->token.at);
done:
  return err;
}

/** ~x as -1 ^ x. */
static tsl_err complement(lang_parser *p, int32_t at, int32_t operand, int32_t *out) {
  tsl_err err = TSL_OK;
  int32_t one = -1, minus_one = -1;
  TSL_TRY(lang_node_new(p->expr, LANG_OP_NUMBER, at, 1, &one));
  p->expr->nodes[one].whole = 1;
  TSL_TRY(lang_node_new(p->expr, LANG_OP_NEG, at, 1, &minus_one));
  lang_node_adopt(p->expr, minus_one, one);
  TSL_TRY(lang_parse_finish(p, LANG_OP_BIT_XOR, at, out));
  lang_node_adopt(p->expr, *out, minus_one);
  lang_node_adopt(p->expr, *out, operand);
done:
  return err;
}

static tsl_err parse_unary(lang_parser *p, int32_t *out) {
  tsl_err err = TSL_OK;
  const int32_t at = p->token.at;
  int32_t operand = -1;
  const bool minus = lang_parse_next(p, "-"), not = lang_parse_next(p, "!"),
             bits = lang_parse_next(p, "~");
  if (!minus && !not &&!bits && !lang_parse_next(p, "+")) return lang_parse_primary(p, out);
  if (bits) TSL_TRY(need_cells(p));
  TSL_TRY(go_deeper(p, at));
  TSL_TRY(lang_parse_take(p));
  TSL_TRY(parse_unary(p, &operand));
  *out = operand;
  if (bits) TSL_TRY(complement(p, at, operand, out));
  if (minus || not ) {
    TSL_TRY(lang_parse_finish(p, minus ? LANG_OP_NEG : LANG_OP_NOT, at, out));
    lang_node_adopt(p->expr, *out, operand);
  }
  p->depth--;
done:
  return err;
}

enum { EQUAL = 3, ORDER, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY };

/** Operators by precedence; comparisons do not chain. */
static const struct {
  const char *text;
  int precedence;
  lang_opcode op;
} operators[] = {{"||", 1, LANG_OP_OR},
                 {"&&", 2, LANG_OP_AND},
                 {"==", EQUAL, LANG_OP_EQ},
                 {"!=", EQUAL, LANG_OP_NE},
                 {"<=", ORDER, LANG_OP_LE},
                 {">=", ORDER, LANG_OP_GE},
                 {"<", ORDER, LANG_OP_LT},
                 {">", ORDER, LANG_OP_GT},
                 {"|", BIT_OR, LANG_OP_BIT_OR},
                 {"^", BIT_XOR, LANG_OP_BIT_XOR},
                 {"&", BIT_AND, LANG_OP_BIT_AND},
                 {"<<", SHIFT, LANG_OP_SHIFT_LEFT},
                 {">>", SHIFT, LANG_OP_SHIFT_RIGHT},
                 {"+", SUM, LANG_OP_ADD},
                 {"-", SUM, LANG_OP_SUB},
                 {"*", PRODUCT, LANG_OP_MUL},
                 {"/", PRODUCT, LANG_OP_DIV},
                 {"%", PRODUCT, LANG_OP_MOD}};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static int next_operator(const lang_parser *p, int precedence) {
  for (int o = 0; o < N_OPERATORS; o++)
    if (operators[o].precedence == precedence && lang_parse_next(p, operators[o].text)) return o;
  return -1;
}

static tsl_err parse_binary(lang_parser *p, int precedence, int32_t *out) {
  tsl_err err = TSL_OK;
  const int32_t at = p->token.at;
  int32_t left = -1, right = -1;
  if (precedence == UNARY) return parse_unary(p, out);
  TSL_TRY(parse_binary(p, precedence + 1, out));
  for (int o, n = 0; (o = next_operator(p, precedence)) >= 0; n++) {
    if (precedence >= BIT_OR && precedence <= SHIFT) TSL_TRY(need_cells(p));
    if (n > 0 && (precedence == EQUAL || precedence == ORDER))
      LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, p->token.length,
                   "comparisons do not chain; write a < b && b < c");
    left = *out;
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(parse_binary(p, precedence + 1, &right));
    TSL_TRY(lang_parse_finish(p, operators[o].op, at, out));
    lang_node_adopt(p->expr, *out, left);
    lang_node_adopt(p->expr, *out, right);
  }
done:
  return err;
}

tsl_err lang_parse_inner(lang_parser *p, int32_t *out) {
  tsl_err err = TSL_OK;
  const int32_t at = p->token.at;
  int32_t part[3] = {-1, -1, -1};
  TSL_TRY(go_deeper(p, at));
  TSL_TRY(parse_binary(p, 1, out));
  if (lang_parse_next(p, "?")) {
    part[0] = *out;
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(lang_parse_inner(p, &part[1]));
    TSL_TRY(lang_parse_expect(p, ":", "between the two values of '?'"));
    TSL_TRY(lang_parse_inner(p, &part[2]));
    TSL_TRY(lang_parse_finish(p, LANG_OP_COND, at, out));
    for (int i = 0; i < 3; i++) lang_node_adopt(p->expr, *out, part[i]);
  }
  p->depth--;
done:
  return err;
}
