/**
 * @file lang_lex.h
 * Private to lang_lex.c, lang_parse.c and lang_type.c: words of the language, and the steps
 * text -> tokens -> tree -> checked tree.
 */
#pragma once

#include "lang_expr.h"

typedef enum lang_sign {
  LANG_SIGN_END,
  LANG_SIGN_NUMBER,
  LANG_SIGN_NAME,
  LANG_SIGN_OTHER /**< an operator or bracket: its text tells */
} lang_sign;

typedef struct lang_token {
  lang_sign sign;
  int32_t at, length; /**< bytes of the text */
  lang_kind kind;     /**< NUMBER */
  int64_t whole;
  double real;
} lang_token;

/** Read the token that starts at or after byte at. @return TSL_ERR_INPUT with its column */
tsl_err lang_lex(const char *text, int32_t at, lang_token *token);

/** Is the token this operator, bracket or word? */
bool lang_token_is(const char *text, const lang_token *token, const char *word);

/** The language's own words, NULL-ended: i, j, min, max, ...; the first few are of cells alone. */
enum { LANG_WORDS_OF_CELLS = 6 };
extern const char *const lang_words[];

/** Kinds, conversions, depth, the rule that indices do not read tables. */
tsl_err lang_type_check(const lang_names *names, lang_scope scope, lang_expr *expr);

/** Append a node for bytes [at, at + length). @return TSL_ERR_MEMORY */
tsl_err lang_node_new(lang_expr *expr, lang_opcode op, int32_t at, int32_t length, int32_t *out);

/** Copy a text into the expression. @return TSL_ERR_INPUT when it is too long */
tsl_err lang_expr_keep(lang_expr *expr, const char *text);

/** Make child the last child of node; takes over depth and reads. */
void lang_node_adopt(lang_expr *expr, int32_t node, int32_t child);
