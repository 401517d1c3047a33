/** @file lang_parse_own.h  Private to lang_parse.c and lang_parse_operators.c: the descent. */
#pragma once

#include "lang_lex.h"

typedef struct lang_parser {
  const lang_names *names;
  lang_expr *expr;
  const char *text;
  lang_token token; /**< the next one, not yet taken */
  int32_t end;      /**< end of the token taken last */
  int32_t depth;    /**< of the descent */
  int32_t n_loops;  /**< ranges that the next token is in */
  char loops[LANG_LOOPS_MAX][LANG_NAME_MAX];
  lang_scope scope;
} lang_parser;

/** Go on to the next token. */
tsl_err lang_parse_take(lang_parser *p);

/** Is the next token this word? */
bool lang_parse_next(const lang_parser *p, const char *word);

/** Take this word; where: "before the name of an array", for the message without it. */
tsl_err lang_parse_expect(lang_parser *p, const char *word, const char *where);

/** A node over what was read since byte at. */
tsl_err lang_parse_finish(lang_parser *p, lang_opcode op, int32_t at, int32_t *out);

/** A number, a name with its indices or arguments, an expression in brackets. */
tsl_err lang_parse_primary(lang_parser *p, int32_t *out);

/** An expression, inside others or the whole one. */
tsl_err lang_parse_inner(lang_parser *p, int32_t *out);
