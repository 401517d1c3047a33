/* An equation is filled text by text within fixed room, and parsed with its data into a recurrence.
 * */
#include "dp_recur.h"

#include "dp_real.h"

#include <stdio.h>
#include <string.h>

const lang_purpose dp_purpose = {"recurrence", ", or compute it slowly without: --interpret"};

/* ---------------------------------------------------------------- equation */

tsl_err dp_equation_add(dp_equation *equation, const char *text, int32_t *at) {
  tsl_err err = TSL_OK;
  const size_t n = strlen(text) + 1;
  if (n > (size_t)(DP_EQUATION_BYTES - equation->n_text))
    TSL_FAIL(TSL_ERR_INPUT, "the expressions of the recurrence have more than %d characters",
             DP_EQUATION_BYTES);
  *at = equation->n_text;
  memcpy(equation->text + *at, text, n);
  equation->n_text += (int32_t)n;
done:
  return err;
}

tsl_err dp_equation_rule(dp_equation *equation, int32_t table, const char *where,
                         const char *value) {
  tsl_err err = TSL_OK;
  if (equation->n_rules == DP_RULES_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "more than %d rules; join some of them with || and ?:", DP_RULES_MAX);
  TSL_TRY(dp_equation_add(equation, where, &equation->where_at[equation->n_rules]));
  TSL_TRY(dp_equation_add(equation, value, &equation->value_at[equation->n_rules]));
  equation->rule_table[equation->n_rules++] = table;
done:
  return err;
}

enum { WORDS_MAX = 6 };

/** Words of a text, blanks aside; more than there is room for: all but the last of them. */
static int split_words(const char *text, char words[WORDS_MAX][LANG_NAME_MAX]) {
  int n = 0;
  for (;;) {
    text += strspn(text, " \n\t");
    const size_t length = strcspn(text, " \n\t");
    if (length == 0 || length >= LANG_NAME_MAX || n == WORDS_MAX) return length == 0 ? n : 0;
    memcpy(words[n], text, length);
    words[n++][length] = '\0';
    text += length;
  }
}

/** Which cells "over all", "over last row" or "over last column" are; DP_GOAL_EXPR: none. */
static dp_goal goal_of(char words[][LANG_NAME_MAX], int n) {
  if (n < 2 || strcmp(words[0], "over") != 0) return DP_GOAL_EXPR;
  if (n == 2 && strcmp(words[1], "all") == 0) return DP_GOAL_ALL;
  if (n != 3 || strcmp(words[1], "last") != 0) return DP_GOAL_EXPR;
  return strcmp(words[2], "row") == 0      ? DP_GOAL_ROW
         : strcmp(words[2], "column") == 0 ? DP_GOAL_COLUMN
                                           : DP_GOAL_EXPR;
}

/** The table that a goal over cells names, the only one where it names none. */
static tsl_err find_goal_table(dp_equation *equation, const char *name) {
  tsl_err err = TSL_OK;
  const lang_names *names = &equation->names;
  equation->goal_table = 0;
  if (name == NULL && names->n_tables > 1)
    TSL_FAIL(TSL_ERR_INPUT, "there are %d tables: say over whose cells, as in `max %s over all`",
             (int)names->n_tables, names->tables[0].name);
  if (name == NULL) goto done;
  while (equation->goal_table < names->n_tables &&
         strcmp(names->tables[equation->goal_table].name, name) != 0)
    equation->goal_table++;
  if (equation->goal_table == names->n_tables)
    TSL_FAIL(TSL_ERR_INPUT, "there is no table '%s'", name);
done:
  return err;
}

tsl_err dp_equation_goal(dp_equation *equation, const char *text) {
  tsl_err err = TSL_OK;
  char words[WORDS_MAX][LANG_NAME_MAX];
  const int n = split_words(text, words);
  const bool maximum = n > 0 && strcmp(words[0], "max") == 0;
  equation->goal = DP_GOAL_EXPR;
  if (maximum || (n > 0 && strcmp(words[0], "min") == 0)) {
    const bool named = n > 1 && strcmp(words[1], "over") != 0;
    equation->goal = (int32_t)goal_of(words + 1 + named, n - 1 - named);
    equation->maximum = maximum;
    if (equation->goal != DP_GOAL_EXPR) TSL_TRY(find_goal_table(equation, named ? words[1] : NULL));
  }
  TSL_TRY(dp_equation_add(equation, text, &equation->goal_at));
done:
  return err;
}

/* -------------------------------------------------------------------- data */

int64_t dp_array_count(const lang_array *array) {
  return array->shape[0] * array->shape[1];
}

static int64_t whole_at(int32_t type, const void *data, int64_t n) {
  if (type == TSL_U8) return ((const uint8_t *)data)[n];
  if (type == TSL_I32) return ((const int32_t *)data)[n];
  return ((const int64_t *)data)[n];
}

void dp_array_limits(lang_array *array, const void *data) {
  const int64_t n = dp_array_count(array);
  array->lo = 0;
  array->hi = -1;
  array->least = array->most = 0;
  if (lang_kind_of(array->type) == LANG_REAL) {
    const dp_reach reach = dp_real_limits(array->type, data, n);
    array->least = reach.least, array->most = reach.most;
    return;
  }
  for (int64_t e = 0; e < n; e++) {
    const int64_t value = whole_at(array->type, data, e);
    if (e == 0 || value < array->lo) array->lo = value;
    if (e == 0 || value > array->hi) array->hi = value;
  }
}

/* ------------------------------------------------------------------ create */

/** Sizes and types that the rest relies on. */
static tsl_err check_table(const lang_table *table) {
  tsl_err err = TSL_OK;
  int64_t cells = 0, bytes = 0;
  int64_t layers = 1;
  if (table->type != TSL_I16 && table->type != TSL_I32 && table->type != TSL_I64 &&
      table->type != TSL_F32 && table->type != TSL_F64)
    TSL_FAIL(TSL_ERR_INTERNAL, "table '%s': type %d", table->name, (int)table->type);
  if (table->rows < 0 || table->cols < 0)
    TSL_FAIL(TSL_ERR_INPUT, "table '%s': %lld rows, %lld columns: a size is negative", table->name,
             (long long)table->rows, (long long)table->cols);
  if (table->n_inner < 0 || table->n_inner > LANG_INNER_MAX)
    TSL_FAIL(TSL_ERR_INTERNAL, "table '%s': %d inner indices", table->name, (int)table->n_inner);
  for (int n = 0; n < table->n_inner; n++)
    if (table->inner[n] < 1 || table->inner[n] > LANG_LAYERS_MAX ||
        (layers *= table->inner[n]) > LANG_LAYERS_MAX)
      TSL_FAIL(TSL_ERR_INPUT, "table '%s': a depth of %lld, or more than 2^21 layers", table->name,
               (long long)table->inner[n]);
  if (!tsl_mul_i64(table->rows, table->cols, &cells) ||
      !tsl_mul_i64(cells, 16 * LANG_TABLES_MAX * layers, &bytes))
    TSL_FAIL(TSL_ERR_INPUT, "table '%s': %lld x %lld cells overflow 64-bit counts", table->name,
             (long long)table->rows, (long long)table->cols);
done:
  return err;
}

/** Tables of one order are of one shape. */
static tsl_err check_alike(const lang_table *a, const lang_table *b) {
  tsl_err err = TSL_OK;
  if (a->type != b->type || a->cells != b->cells || a->rows != b->rows || a->cols != b->cols ||
      a->n_inner != b->n_inner || memcmp(a->inner, b->inner, sizeof a->inner) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "tables '%s' and '%s' differ in rows, cols, depth, cells or type",
             a->name, b->name);
done:
  return err;
}

/** Parse one text; the message starts with what. */
static tsl_err dp_recur_parse(const dp_recurrence *r, lang_scope scope, int32_t at,
                              const char *what, lang_expr *out) {
  const tsl_err err = lang_expr_parse(&r->equation.names, scope, r->equation.text + at, out);
  if (err == TSL_OK) return err;
  char why[TSL_ERR_MESSAGE_MAX];
  (void)snprintf(why, sizeof why, "%s", tsl_err_message());
  return tsl_fail(err, __FILE__, __LINE__, "%s: %s", what, why);
}

static tsl_err parse_all(dp_recurrence *r) {
  tsl_err err = TSL_OK;
  const dp_equation *s = &r->equation;
  char what[48];
  for (int n = 0; n < s->n_rules; n++) {
    (void)snprintf(what, sizeof what, "boundary[%d].where", n);
    TSL_TRY(dp_recur_parse(r, LANG_SCOPE_WHERE, s->where_at[n], what, &r->rules[n].where));
    (void)snprintf(what, sizeof what, "boundary[%d].value", n);
    TSL_TRY(dp_recur_parse(r, LANG_SCOPE_CELL, s->value_at[n], what, &r->rules[n].value));
  }
  for (int t = 0; t < s->names.n_tables; t++)
    TSL_TRY(dp_recur_parse(r, LANG_SCOPE_CELL, s->cell_at[t], "cell", &r->cells[t]));
  if (s->goal == DP_GOAL_EXPR)
    TSL_TRY(dp_recur_parse(r, LANG_SCOPE_GOAL, s->goal_at, "goal", &r->goal));
done:
  return err;
}

tsl_err dp_recurrence_create(const dp_equation *equation, const void *const *data,
                             dp_recurrence **out) {
  tsl_err err = TSL_OK;
  dp_recurrence *r = NULL;
  void *memory = NULL;
  *out = NULL;
  if (equation->names.n_tables < 1 || equation->names.n_tables > LANG_TABLES_MAX)
    TSL_FAIL(TSL_ERR_INTERNAL, "a recurrence with %d tables", (int)equation->names.n_tables);
  TSL_TRY(tsl_alloc(1, sizeof *r, "recurrence", &memory));
  r = memory;
  r->equation = *equation;
  for (int a = 0; a < equation->names.n_arrays; a++) r->data[a] = data[a];
  TSL_TRY(check_table(&equation->names.tables[0]));
  for (int t = 1; t < equation->names.n_tables; t++)
    TSL_TRY(check_alike(&equation->names.tables[0], &equation->names.tables[t]));
  TSL_TRY(parse_all(r));
  *out = r;
done:
  if (err != TSL_OK) dp_recurrence_destroy(&r);
  return err;
}

void dp_recurrence_place(dp_recurrence *r, const dp_places *places) {
  r->goal.place = places->of[0];
  for (int t = 0; t < r->equation.names.n_tables; t++) r->cells[t].place = places->of[1 + t];
  for (int n = 0; n < r->equation.n_rules; n++) {
    r->rules[n].where.place = places->of[1 + LANG_TABLES_MAX + 2 * n];
    r->rules[n].value.place = places->of[2 + LANG_TABLES_MAX + 2 * n];
  }
}

void dp_recurrence_destroy(dp_recurrence **recurrence) {
  if (recurrence == NULL || *recurrence == NULL) return;
  for (int t = 0; t < LANG_TABLES_MAX; t++) lang_expr_clear(&(*recurrence)->cells[t]);
  lang_expr_clear(&(*recurrence)->goal);
  for (int n = 0; n < DP_RULES_MAX; n++) {
    lang_expr_clear(&(*recurrence)->rules[n].where);
    lang_expr_clear(&(*recurrence)->rules[n].value);
  }
  tsl_free(*recurrence);
  *recurrence = NULL;
}
