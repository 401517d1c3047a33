/* Tokens to a tree: recursive descent, its depth counted. */
#include "lang_parse_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tsl_err lang_parse_finish(lang_parser *p, lang_opcode op, int32_t at, int32_t *out) {
  return lang_node_new(p->expr, op, at, p->end - at, out);
}

/* ------------------------------------------------------------------ tokens */

tsl_err lang_parse_take(lang_parser *p) {
  p->end = p->token.at + p->token.length;
  return lang_lex(p->text, p->end, &p->token);
}

bool lang_parse_next(const lang_parser *p, const char *word) {
  return lang_token_is(p->text, &p->token, word);
}

tsl_err lang_parse_expect(lang_parser *p, const char *word, const char *where) {
  tsl_err err = TSL_OK;
  if (!lang_parse_next(p, word)) {
    if (p->token.sign == LANG_SIGN_END)
      LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, 1, "the text ends; expected '%s' %s", word,
                   where);
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, p->token.length,
                 "expected '%s' %s, got '%.*s'", word, where, (int)p->token.length,
                 p->text + p->token.at);
  }
  TSL_TRY(lang_parse_take(p));
done:
  return err;
}

/** The name in the token, shortened to a C string; returns out. */
static const char *token_text(const lang_parser *p, const lang_token *token, char out[64]) {
  (void)snprintf(out, 64, "%.*s", (int)token->length, p->text + token->at);
  return out;
}

/* ------------------------------------------------------------------- names */

/** All that could have been meant, for the nearest word. */
static const char *nearest(const lang_parser *p, const char *word) {
  const char *words[LANG_LOOPS_MAX + LANG_TABLES_MAX + LANG_ARRAYS_MAX + LANG_SCALARS_MAX + 32];
  const bool pair = p->scope == LANG_SCOPE_PAIR;
  int n = 0;
  for (int l = 0; l < p->n_loops; l++) words[n++] = p->loops[l];
  for (int t = 0; t < p->names->n_tables; t++) words[n++] = p->names->tables[t].name;
  for (int a = 0; a < p->names->n_arrays; a++) words[n++] = p->names->arrays[a].name;
  for (int s = 0; s < p->names->n_scalars; s++) words[n++] = p->names->scalars[s].name;
  for (int w = pair ? LANG_WORDS_OF_CELLS : 0; lang_words[w] != NULL; w++)
    words[n++] = lang_words[w];
  for (int f = 0; f < LANG_N_FUNCTIONS; f++) words[n++] = lang_function_words[f];
  words[n] = NULL;
  return tsl_nearest_word(word, words);
}

/** Which of n structs, each of so many bytes and beginning with its name, has this one; or -1. */
static int find(const void *first, int n, size_t bytes, const char *name) {
  for (int k = 0; k < n; k++)
    if (strcmp((const char *)first + (size_t)k * bytes, name) == 0) return k;
  return -1;
}

static int find_table(const lang_names *names, const char *name) {
  return find(names->tables, names->n_tables, sizeof *names->tables, name);
}

static int find_array(const lang_names *names, const char *name) {
  return find(names->arrays, names->n_arrays, sizeof *names->arrays, name);
}

static tsl_err lang_parse_fail_unknown(const lang_parser *p, const lang_token *name) {
  tsl_err err = TSL_OK;
  char word[64];
  const char *near = nearest(p, token_text(p, name, word));
  if (near != NULL)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name->at, name->length,
                 "unknown name '%s'; did you mean '%s'?", word, near);
  LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name->at, name->length, "unknown name '%s'", word);
done:
  return err;
}

/* ----------------------------------------------------------------- primary */

enum { NOT_SHIFTED = -1 };

/** The node plus or minus n, over the same text. */
static tsl_err shift_node(lang_parser *p, lang_opcode op, int64_t n, int32_t *node) {
  tsl_err err = TSL_OK;
  const lang_node of = p->expr->nodes[*node];
  int32_t sum = -1, number = -1;
  TSL_TRY(lang_node_new(p->expr, op, of.at, of.length, &sum));
  TSL_TRY(lang_node_new(p->expr, LANG_OP_NUMBER, of.at, of.length, &number));
  p->expr->nodes[number].whole = n;
  lang_node_adopt(p->expr, sum, *node);
  lang_node_adopt(p->expr, sum, number);
  *node = sum;
done:
  return err;
}

/** Place of the text to place of the table, dim 0 a row, 1 a column; i and j themselves were
 *  shifted the other way. */
static tsl_err shift_index(lang_parser *p, int dim, int32_t *index) {
  const lang_opcode place = dim == 0 ? LANG_OP_I : LANG_OP_J;
  const int32_t first = p->expr->nodes[*index].first;
  if (p->names->origin[dim] == 0) return TSL_OK;
  if (first < 0 || p->expr->nodes[first].op != (int32_t)place ||
      p->expr->nodes[*index].op != LANG_OP_ADD)
    return shift_node(p, LANG_OP_SUB, p->names->origin[dim], index);
  *index = first;
  return TSL_OK;
}

/** An index of a table's row (0) or column (1); NOT_SHIFTED: an inner one or of data. */
static tsl_err parse_index(lang_parser *p, int dim, int32_t node) {
  tsl_err err = TSL_OK;
  int32_t index = -1;
  TSL_TRY(lang_parse_expect(p, "[", "before an index"));
  TSL_TRY(lang_parse_inner(p, &index));
  TSL_TRY(lang_parse_expect(p, "]", "after an index"));
  if (dim != NOT_SHIFTED) TSL_TRY(shift_index(p, dim, &index));
  lang_node_adopt(p->expr, node, index);
  p->expr->nodes[node].length = p->end - p->expr->nodes[node].at;
done:
  return err;
}

/** As many indices more as the table has inner ones. */
static tsl_err parse_inner_indices(lang_parser *p, const lang_token *name, int table,
                                   int32_t node) {
  tsl_err err = TSL_OK;
  const lang_table *t = &p->names->tables[table];
  for (int n = 0; n < t->n_inner; n++) {
    if (!lang_parse_next(p, "["))
      LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name->at, p->end - name->at,
                   "'%s' has %d indices, as `depth` is given; these are %d", t->name,
                   2 + (int)t->n_inner, 2 + n);
    TSL_TRY(parse_index(p, NOT_SHIFTED, node));
  }
  if (lang_parse_next(p, "["))
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, 1,
                 "'%s' has %d indices only; each size of `depth` gives it one more", t->name,
                 2 + (int)t->n_inner);
done:
  return err;
}

static tsl_err parse_table(lang_parser *p, const lang_token *name, int table, int32_t *out) {
  tsl_err err = TSL_OK;
  if (p->scope != LANG_SCOPE_CELL && p->scope != LANG_SCOPE_GOAL)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name->at, name->length, "the table '%s' cannot be read %s",
                 p->names->tables[table].name,
                 p->scope == LANG_SCOPE_WHERE ? "in a condition of 'boundary'" : "here");
  TSL_TRY(lang_parse_finish(p, LANG_OP_TABLE, name->at, out));
  p->expr->nodes[*out].ref = table;
  p->expr->nodes[*out].dim = p->expr->n_refs++;
  p->expr->nodes[*out].reads = 1;
  TSL_TRY(parse_index(p, 0, *out));
  TSL_TRY(parse_index(p, 1, *out));
  TSL_TRY(parse_inner_indices(p, name, table, *out));
done:
  return err;
}

static tsl_err parse_data(lang_parser *p, const lang_token *name, int array, int32_t *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(lang_parse_finish(p, LANG_OP_DATA, name->at, out));
  p->expr->nodes[*out].ref = array;
  for (int d = 0; d < p->names->arrays[array].rank; d++) TSL_TRY(parse_index(p, NOT_SHIFTED, *out));
  if (lang_parse_next(p, "["))
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, 1, "'%s' has %d %s only",
                 p->names->arrays[array].name, (int)p->names->arrays[array].rank,
                 p->names->arrays[array].rank == 1 ? "index" : "indices");
done:
  return err;
}

static tsl_err parse_leaf(lang_parser *p, const lang_token *name, lang_opcode op, int ref,
                          int32_t *out) {
  tsl_err err = TSL_OK;
  if ((op == LANG_OP_I || op == LANG_OP_J || op == LANG_OP_INNER) &&
      (p->scope != LANG_SCOPE_CELL && p->scope != LANG_SCOPE_WHERE))
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name->at, name->length,
                 "'%.*s' is the place of a cell; there is none here", (int)name->length,
                 p->text + name->at);
  TSL_TRY(lang_parse_finish(p, op, name->at, out));
  p->expr->nodes[*out].ref = ref;
  if ((op == LANG_OP_I || op == LANG_OP_J) && p->names->origin[op == LANG_OP_J] != 0)
    TSL_TRY(shift_node(p, LANG_OP_ADD, p->names->origin[op == LANG_OP_J], out));
done:
  return err;
}

/** len(x), rows(x), cols(x); the word is taken. */
static tsl_err parse_extent(lang_parser *p, const lang_token *word, int32_t *out) {
  tsl_err err = TSL_OK;
  char text[64];
  TSL_TRY(lang_parse_expect(p, "(", "before the name of an array"));
  const lang_token name = p->token;
  (void)token_text(p, &name, text);
  const int array = find_array(p->names, text), table = find_table(p->names, text);
  if (name.sign != LANG_SIGN_NAME)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name.at, name.length, "expected the name of an array");
  if (array < 0 && table < 0) TSL_TRY(lang_parse_fail_unknown(p, &name));
  if (array < 0 && (p->scope == LANG_SCOPE_SIZE || p->scope == LANG_SCOPE_CONSTANT))
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, name.at, name.length,
                 "the extents of '%s' are not yet known here", text);
  TSL_TRY(lang_parse_take(p));
  TSL_TRY(lang_parse_expect(p, ")", "after the name of an array"));
  TSL_TRY(lang_parse_finish(p, LANG_OP_EXTENT, word->at, out));
  p->expr->nodes[*out].ref = array >= 0 ? array : -1 - table;
  p->expr->nodes[*out].dim = lang_token_is(p->text, word, "cols");
done:
  return err;
}

/** After "(": is it "name =", the start of a range? */
static bool is_range(const lang_parser *p) {
  lang_token next;
  if (p->token.sign != LANG_SIGN_NAME) return false;
  if (lang_lex(p->text, p->token.at + p->token.length, &next) != TSL_OK) return false;
  return lang_token_is(p->text, &next, "=");
}

/** "k =": the name of a range variable; it counts once the ends of the range are read. */
static tsl_err parse_variable(lang_parser *p, lang_token *variable) {
  tsl_err err = TSL_OK;
  char name[64];
  const lang_token token = p->token;
  (void)token_text(p, &token, name);
  if (p->n_loops == LANG_LOOPS_MAX)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, token.at, token.length,
                 "more than %d ranges in each other", LANG_LOOPS_MAX);
  if (find(p->loops, p->n_loops, sizeof *p->loops, name) >= 0)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, token.at, token.length,
                 "'%s' is the outer range's variable", name);
  err = lang_check_name(p->names, name);
  if (err != TSL_OK) {
    char why[256];
    (void)snprintf(why, sizeof why, "%.200s", tsl_err_message());
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, token.at, token.length, "%s", why);
  }
  *variable = token;
  TSL_TRY(lang_parse_take(p));
  TSL_TRY(lang_parse_expect(p, "=", "after the range's variable"));
done:
  return err;
}

/** Functions of some arguments and of a range; those of recurrences alone come last. */
static const struct {
  const char *word;
  lang_opcode arguments, range; /* arguments: LANG_N_OPS where it takes a range alone */
  const char *empty;            /* a range's value where it is empty; NULL: that after else */
} folds[] = {{"min", LANG_OP_MIN, LANG_OP_RANGE_MIN, NULL},
             {"max", LANG_OP_MAX, LANG_OP_RANGE_MAX, NULL},
             {"sum", LANG_N_OPS, LANG_OP_RANGE_SUM, "0"},
             {"logsum", LANG_OP_LOGSUM, LANG_OP_RANGE_LOGSUM, "-inf"},
             {"prod", LANG_N_OPS, LANG_OP_RANGE_PROD, "1"},
             {"argmin", LANG_N_OPS, LANG_OP_RANGE_ARGMIN, NULL},
             {"argmax", LANG_N_OPS, LANG_OP_RANGE_ARGMAX, NULL}};
enum { N_FOLDS_OF_PAIRS = 3, N_FOLDS = sizeof folds / sizeof *folds };

/** N_FOLDS: none of this name. */
static int find_fold(const lang_parser *p, const lang_token *word) {
  const int n = p->scope == LANG_SCOPE_PAIR ? N_FOLDS_OF_PAIRS : N_FOLDS;
  int f = 0;
  while (f < n && !lang_token_is(p->text, word, folds[f].word)) f++;
  return f < n ? f : N_FOLDS;
}

static tsl_err parse_range(lang_parser *p, const lang_token *word, int fold, int32_t *out) {
  tsl_err err = TSL_OK;
  int32_t part[4] = {-1, -1, -1, -1};
  lang_token variable;
  char name[64];
  TSL_TRY(parse_variable(p, &variable));
  TSL_TRY(lang_parse_inner(p, &part[0]));
  TSL_TRY(lang_parse_expect(p, "..", "between the ends of a range"));
  TSL_TRY(lang_parse_inner(p, &part[1]));
  TSL_TRY(lang_parse_expect(p, ":", "after the end of a range"));
  (void)snprintf(p->loops[p->n_loops++], LANG_NAME_MAX, "%.31s", token_text(p, &variable, name));
  TSL_TRY(lang_parse_inner(p, &part[2]));
  p->n_loops--;
  if (lang_parse_next(p, "else")) {
    if (folds[fold].empty != NULL)
      LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, p->token.length,
                   "an empty %s is %s; it takes no 'else'", folds[fold].word, folds[fold].empty);
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(lang_parse_inner(p, &part[3]));
  }
  TSL_TRY(lang_parse_expect(p, ")", "after a range"));
  TSL_TRY(lang_parse_finish(p, folds[fold].range, word->at, out));
  p->expr->nodes[*out].ref = p->n_loops;
  p->expr->nodes[*out].dim = variable.at;
  for (int i = 0; i < 4 && part[i] >= 0; i++) lang_node_adopt(p->expr, *out, part[i]);
done:
  return err;
}

static tsl_err parse_argument(lang_parser *p, int32_t node) {
  tsl_err err = TSL_OK;
  int32_t argument = -1;
  TSL_TRY(lang_parse_inner(p, &argument));
  lang_node_adopt(p->expr, node, argument);
done:
  return err;
}

/** The end of a call that began with the word. */
static tsl_err end_arguments(lang_parser *p, const lang_token *word, int32_t node) {
  const tsl_err err = lang_parse_expect(p, ")", "after the arguments");
  p->expr->nodes[node].length = p->end - word->at;
  return err;
}

/** min(..), sum(..), the other folds, abs(..); the word is taken. */
static tsl_err parse_call(lang_parser *p, const lang_token *word, int32_t *out) {
  tsl_err err = TSL_OK;
  const int fold = find_fold(p, word);
  const lang_opcode op = fold < N_FOLDS ? folds[fold].arguments : LANG_OP_ABS;
  TSL_TRY(lang_parse_expect(p, "(", "after the name of a function"));
  if (fold < N_FOLDS && is_range(p)) return parse_range(p, word, fold, out);
  if (op == LANG_N_OPS)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, p->token.at, p->token.length,
                 "%s takes a range: %s(k = lo .. hi : expression)", folds[fold].word,
                 folds[fold].word);
  TSL_TRY(lang_node_new(p->expr, op, word->at, 0, out));
  TSL_TRY(parse_argument(p, *out));
  while (op != LANG_OP_ABS && lang_parse_next(p, ",")) {
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(parse_argument(p, *out));
  }
  TSL_TRY(end_arguments(p, word, *out));
done:
  return err;
}

/** sqrt(..), pow(.., ..), ...; the word is taken. */
static tsl_err parse_function(lang_parser *p, const lang_token *word, lang_function function,
                              int32_t *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(lang_parse_expect(p, "(", "after the name of a function"));
  TSL_TRY(lang_node_new(p->expr, LANG_OP_CALL, word->at, 0, out));
  p->expr->nodes[*out].ref = (int32_t)function;
  TSL_TRY(parse_argument(p, *out));
  if (function == LANG_POW) {
    TSL_TRY(lang_parse_expect(p, ",", "before the power"));
    TSL_TRY(parse_argument(p, *out));
  }
  TSL_TRY(end_arguments(p, word, *out));
done:
  return err;
}

/** The function of this name, LANG_N_FUNCTIONS for none; in recurrences before a bracket only, so
 *  that arrays may have such names. */
static int find_function(const lang_parser *p, const char *name) {
  int f = 0;
  if (p->scope != LANG_SCOPE_PAIR && !lang_parse_next(p, "(")) return LANG_N_FUNCTIONS;
  while (f < LANG_N_FUNCTIONS && strcmp(name, lang_function_words[f]) != 0) f++;
  return f;
}

static tsl_err parse_name(lang_parser *p, int32_t *out) {
  tsl_err err = TSL_OK;
  const lang_token name = p->token;
  char text[64];
  int found;
  TSL_TRY(lang_parse_take(p));
  (void)token_text(p, &name, text);
  if (name.length >= LANG_NAME_MAX) return lang_parse_fail_unknown(p, &name);
  if ((found = find_function(p, text)) < LANG_N_FUNCTIONS)
    return parse_function(p, &name, (lang_function)found, out);
  if (p->scope != LANG_SCOPE_PAIR) {
    if (strcmp(text, "i") == 0) return parse_leaf(p, &name, LANG_OP_I, 0, out);
    if (strcmp(text, "j") == 0) return parse_leaf(p, &name, LANG_OP_J, 0, out);
    for (int n = 0; n < p->names->tables[0].n_inner; n++)
      if (strcmp(text, lang_inner_words[n]) == 0)
        return parse_leaf(p, &name, LANG_OP_INNER, n, out);
  }
  if (strcmp(text, "len") == 0 || strcmp(text, "rows") == 0 || strcmp(text, "cols") == 0)
    return parse_extent(p, &name, out);
  if (find_fold(p, &name) < N_FOLDS || strcmp(text, "abs") == 0) return parse_call(p, &name, out);
  if (strcmp(text, "inf") == 0) {
    TSL_TRY(lang_parse_finish(p, LANG_OP_NUMBER, name.at, out));
    p->expr->nodes[*out].kind = LANG_REAL;
    p->expr->nodes[*out].real = HUGE_VAL;
    return TSL_OK;
  }
  if ((found = find(p->loops, p->n_loops, sizeof *p->loops, text)) >= 0)
    return parse_leaf(p, &name, LANG_OP_LOOP, found, out);
  if ((found = find(p->names->scalars, p->names->n_scalars, sizeof *p->names->scalars, text)) >= 0)
    return parse_leaf(p, &name, LANG_OP_SCALAR, found, out);
  if ((found = find_table(p->names, text)) >= 0) return parse_table(p, &name, found, out);
  if ((found = find_array(p->names, text)) >= 0) return parse_data(p, &name, found, out);
  return lang_parse_fail_unknown(p, &name);
done:
  return err;
}

tsl_err lang_parse_primary(lang_parser *p, int32_t *out) {
  tsl_err err = TSL_OK;
  const lang_token token = p->token;
  if (token.sign == LANG_SIGN_NAME) return parse_name(p, out);
  if (token.sign == LANG_SIGN_NUMBER) {
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(lang_parse_finish(p, LANG_OP_NUMBER, token.at, out));
    p->expr->nodes[*out].kind = token.kind;
    p->expr->nodes[*out].whole = token.whole;
    p->expr->nodes[*out].real = token.real;
    goto done;
  }
  if (lang_parse_next(p, "(")) {
    TSL_TRY(lang_parse_take(p));
    TSL_TRY(lang_parse_inner(p, out));
    TSL_TRY(lang_parse_expect(p, ")", "to close the bracket"));
    goto done;
  }
  if (token.sign == LANG_SIGN_END)
    LANG_FAIL_AT(TSL_ERR_INPUT, p->text, token.at, 1, "the text ends; expected a value");
  LANG_FAIL_AT(TSL_ERR_INPUT, p->text, token.at, token.length, "expected a value, got '%.*s'",
               (int)token.length, p->text + token.at);
done:
  return err;
}

/* --------------------------------------------------------------- the whole */

tsl_err lang_expr_parse(const lang_names *names, lang_scope scope, const char *text,
                        lang_expr *out) {
  tsl_err err = TSL_OK;
  lang_parser p = {.names = names, .expr = out, .scope = scope};
  memset(out, 0, sizeof *out);
  TSL_TRY(lang_expr_keep(out, text));
  p.text = out->text;
  TSL_TRY(lang_lex(p.text, 0, &p.token));
  TSL_TRY(lang_parse_inner(&p, &out->root));
  if (p.token.sign != LANG_SIGN_END)
    LANG_FAIL_AT(TSL_ERR_INPUT, p.text, p.token.at, p.token.length, "unexpected '%.*s'%s",
                 (int)p.token.length, p.text + p.token.at,
                 p.token.sign == LANG_SIGN_OTHER ? "" : "; an operator is missing before it");
  TSL_TRY(lang_type_check(names, scope, out));
done:
  if (err != TSL_OK) lang_expr_clear(out);
  return err;
}
