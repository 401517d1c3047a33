/**
 * @file dp_lex.h
 * Private to dp_lex.c, dp_parse.c and dp_type.c: words of the language, and the steps
 * text -> tokens -> tree -> checked tree.
 */
#ifndef TSL_FAM_DP_LEX_H
#define TSL_FAM_DP_LEX_H

#include "dp_expr.h"

typedef enum dp_sign {
  DP_SIGN_END,
  DP_SIGN_NUMBER,
  DP_SIGN_NAME,
  DP_SIGN_OTHER /**< an operator or bracket: its text tells */
} dp_sign;

typedef struct dp_token {
  dp_sign sign;
  int32_t at, length; /**< bytes of the text */
  dp_kind kind;       /**< NUMBER */
  int64_t whole;
  double real;
} dp_token;

/** Read the token that starts at or after byte at. @return TSL_ERR_INPUT with its column */
tsl_err dp_lex(const char *text, int32_t at, dp_token *token);

/** Is the token this operator, bracket or word? */
bool dp_token_is(const char *text, const dp_token *token, const char *word);

/** The language's own words, NULL-ended: min, max, ... */
extern const char *const dp_words[];

/** Kinds, conversions, depth, the rule that indices do not read tables. */
tsl_err dp_type_check(const dp_names *names, dp_scope scope, dp_expr *expr);

/** Append a node for bytes [at, at + length). @return TSL_ERR_MEMORY */
tsl_err dp_node_new(dp_expr *expr, dp_opcode op, int32_t at, int32_t length, int32_t *out);

/** Make child the last child of node; takes over depth and reads. */
void dp_node_adopt(dp_expr *expr, int32_t node, int32_t child);

#endif
