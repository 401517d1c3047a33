/* Key tables of the section, and its arrays, constants, table, rules and goal read in that order,
 * with the deck's line in each message. */
#include "dp_recur_deck.h"

#include "dp_eval.h"
#include "dp_family.h"
#include "dp_real.h"
#include "integers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const type_words[] = {"i16", "i32", "i64", "f32", "f64", NULL};
static const char *const cells_words[] = {"all", "upper", "lower", NULL};
static const char *const kind_words[] = {"auto", "int", "real", "letters", NULL};
enum { AUTO, INTEGERS, REALS, LETTERS };
enum { PATH_MAX_ = 96, KEY_MAX_ = 40 };

#define TABLE(member) (offsetof(dp_recur_deck, table.member) - offsetof(dp_recur_deck, table))
#define ARRAY(member) offsetof(dp_recur_array, member)
#define BIG 0x1p53
#define SIZE_MOST (INT64_C(1) << 40)

const tsl_key dp_recur_table_keys[] = {
    TSL_TEXT_KEY("name", TABLE(name), "M", "Its name in expressions."),
    TSL_CHOICE_KEY("type", TABLE(type), "i32", type_words, "Type of the values."),
    TSL_TEXT_KEY("rows", TABLE(rows), "", "Number of rows: i is 0..rows-1."),
    TSL_TEXT_KEY("cols", TABLE(cols), "", "Number of columns: j is 0..cols-1."),
    TSL_TEXTS_KEY("depth", TABLE(depth),
                  "Extents of more indices, at most four: k is 0..depth[0]-1, then l, m, n."),
    TSL_CHOICE_KEY("cells", TABLE(cells), "all", cells_words,
                   "Which cells there are: all, upper (i <= j) or lower (i >= j)."),
    {0}};

const tsl_key dp_recur_data_keys[] = {
    TSL_TEXT_KEY("name", ARRAY(name), NULL, "Its name in expressions."),
    TSL_CHOICE_KEY("type", ARRAY(type), "auto", kind_words,
                   "int, real or letters; auto: letters for text, else as the table's values."),
    TSL_REALS_KEY("values", ARRAY(source.values), 0, 0, "Numbers."),
    TSL_TEXT_KEY("text", ARRAY(source.text), "", "Letters."),
    TSL_INT_KEY("width", ARRAY(width), "", 1, 0x1p40,
                "Numbers of a row: the array has two indices."),
    TSL_TEXT_KEY(
        "file", ARRAY(source.file), "",
        "Letters: FASTA or plain text; numbers: CSV, NPY or HDF5; relative to the deck's folder."),
    TSL_TEXT_KEY("dataset", ARRAY(source.dataset), "",
                 "HDF5: path of the dataset in the file, 1-D or 2-D."),
    TSL_INTS_KEY("columns", ARRAY(source.columns), 0, 1 << 20,
                 "Numbers: columns of the file to read, counted from 0; default all."),
    TSL_INT_KEY("record", ARRAY(source.record), "1", 1, 1e9,
                "FASTA, FASTQ: which record, counted from 1."),
    TSL_CHOICE_KEY(
        "format", ARRAY(source.format), "auto", letters_format_words,
        "Letters of a file: fasta, fastq; text: every byte is a letter; auto: by how the name ends "
        "(.fa .fasta .fna .faa ..., .fq .fastq, .gz behind it), else text."),
    TSL_INT_KEY("random", ARRAY(source.random), "0", 0, 0x1p40,
                "Make up this many letters or numbers."),
    TSL_INT_KEY("seed", ARRAY(source.seed), "1", 0, BIG, "Seed of what is made up."),
    TSL_REAL_KEY("lo", ARRAY(source.lo), "1", -BIG, BIG,
                 "Made-up numbers: smallest; whole numbers when lo and hi are whole."),
    TSL_REAL_KEY("hi", ARRAY(source.hi), "100", -BIG, BIG, "Made-up numbers: largest."),
    {0}};

const tsl_key dp_recur_constant_keys[] = {
    TSL_TEXT_KEY("name", offsetof(dp_recur_constant, name), NULL, "Its name in expressions."),
    TSL_TEXT_KEY("value", offsetof(dp_recur_constant, value), NULL,
                 "A number or an expression of constants and data."),
    {0}};

const tsl_key dp_recur_rule_keys[] = {TSL_TEXT_KEY("where", offsetof(dp_recur_rule, where), NULL,
                                                   "Condition on i and j (and k, l, m, n)."),
                                      TSL_TEXT_KEY("value", offsetof(dp_recur_rule, value), NULL,
                                                   "Value of the cells where it holds."),
                                      {0}};

const tsl_key dp_recur_tables_keys[] = {
    TSL_TEXT_KEY("name", offsetof(dp_recur_table, name), NULL, "Its name in expressions."),
    TSL_MAPS_KEY("boundary", offsetof(dp_recur_table, boundary), dp_recur_rule_keys,
                 sizeof(dp_recur_rule), "As without `tables`, of this one."),
    TSL_TEXT_KEY("cell", offsetof(dp_recur_table, cell), NULL,
                 "Value of its cell (i, j), which may read (i, j) of the tables before."),
    {0}};

/* ------------------------------------------------------------------ messages */

/** A section being read. */
typedef struct reader {
  const tsl_deck *deck;
  const char *section;
  const dp_recur_deck *s;
  dp_equation *equation;
  void **data;
} reader;

/** "dp.boundary[2].where"; returns path. */
static const char *path_of(const reader *r, char path[PATH_MAX_], const char *list, int64_t n,
                           const char *key) {
  if (n < 0)
    (void)snprintf(path, PATH_MAX_, "%s.%s", r->section, list);
  else
    (void)snprintf(path, PATH_MAX_, "%s.%s[%lld]%s%s", r->section, list, (long long)n,
                   key[0] != '\0' ? "." : "", key);
  return path;
}

static tsl_err give_name(const reader *r, const char *name, const char *path,
                         char out[LANG_NAME_MAX]) {
  const tsl_err err = lang_check_name(&r->equation->names, name != NULL ? name : "");
  if (err == TSL_OK) (void)snprintf(out, LANG_NAME_MAX, "%.31s", name);
  return tsl_deck_blame(r->deck, path, err);
}

/* ---------------------------------------------------------------------- data */

static bool is_whole(const double *values, int64_t n, double limit, int64_t *bad) {
  for (int64_t e = 0; e < n; e++)
    if (values[e] != floor(values[e]) || fabs(values[e]) > limit) {
      *bad = e;
      return false;
    }
  return true;
}

/** Doubles as elements of the array, in the smallest type that holds them. */
static tsl_err pack(const reader *r, const char *path, lang_kind kind, const double *values,
                    int64_t n, lang_array *array, void **out) {
  tsl_err err = TSL_OK;
  int64_t bad = 0;
  const bool single = lang_is_single(&r->equation->names);
  for (int64_t e = 0; e < n && kind == LANG_REAL; e++)
    if (!lang_real_fits(single, values[e]))
      TSL_DECK_FAIL(r->deck, path, "number %lld is %g: it does not fit the table's type",
                    (long long)e + 1, values[e]);
  if (kind == LANG_REAL)
    array->type = single ? TSL_F32 : TSL_F64;
  else if (!is_whole(values, n, BIG, &bad))
    TSL_DECK_FAIL(
        r->deck, path,
        "number %lld is %g: whole numbers up to 2^53 are needed (type: real, or a table of "
        "type f64, takes others)",
        (long long)bad + 1, values[bad]);
  else
    array->type = is_whole(values, n, INT32_MAX, &bad) ? TSL_I32 : TSL_I64;
  TSL_TRY(tsl_alloc(n, tsl_type_bytes((tsl_type)array->type), array->name, out));
  for (int64_t e = 0; e < n; e++) {
    if (array->type == TSL_F64)
      ((double *)*out)[e] = values[e];
    else if (array->type == TSL_F32)
      ((float *)*out)[e] = (float)values[e];
    else if (array->type == TSL_I32)
      ((int32_t *)*out)[e] = (int32_t)values[e];
    else
      ((int64_t *)*out)[e] = (int64_t)values[e];
  }
done:
  return err;
}

static tsl_err read_letters(const reader *r, const char *path, const dp_recur_array *a,
                            lang_array *array, void **out) {
  uint8_t *codes = NULL;
  array->type = TSL_U8;
  array->rank = 1;
  array->shape[1] = 1;
  const tsl_err err =
      dp_read_letters(r->deck, path, &a->source, LETTERS_BYTES, &codes, &array->shape[0]);
  *out = codes;
  return err;
}

static tsl_err read_numbers(const reader *r, const char *path, const dp_recur_array *a,
                            lang_array *array, void **out) {
  tsl_err err = TSL_OK;
  const lang_kind table = lang_kind_of(r->equation->names.tables[0].type);
  const lang_kind kind = a->type == AUTO ? table : a->type == REALS ? LANG_REAL : LANG_WHOLE;
  double *values = NULL;
  int64_t columns = a->width;
  TSL_TRY(dp_read_numbers(r->deck, path, &a->source, &columns, &values, &array->shape[0], NULL));
  array->shape[1] = columns;
  array->rank = a->width > 0 || columns > 1 ? 2 : 1;
  TSL_TRY(pack(r, path, kind, values, array->shape[0] * columns, array, out));
done:
  tsl_free(values);
  return err;
}

static tsl_err read_array(const reader *r, int64_t n) {
  tsl_err err = TSL_OK;
  const dp_recur_array *a = (const dp_recur_array *)r->s->data.values + n;
  lang_names *names = &r->equation->names;
  lang_array *array = &names->arrays[n];
  char path[PATH_MAX_], given[PATH_MAX_];
  const bool values = tsl_deck_given(r->deck, path_of(r, given, "data", n, "values"));
  (void)path_of(r, path, "data", n, "");
  TSL_TRY(give_name(r, a->name, path_of(r, given, "data", n, "name"), array->name));
  if (values + (a->source.text != NULL) + (a->source.file != NULL) + (a->source.random > 0) != 1)
    TSL_DECK_FAIL(r->deck, path, "give exactly one of values, text, file and random");
  if (a->source.text != NULL && a->type != AUTO && a->type != LETTERS)
    TSL_DECK_FAIL(r->deck, path, "text is letters, not type %s", kind_words[a->type]);
  if (a->type == LETTERS && (values || a->width > 0))
    TSL_DECK_FAIL(r->deck, path, "type letters takes text, file or random, without width");
  dp_recur_array entry = *a;
  entry.source.mutate = -1; /* not a key here */
  if (a->source.text != NULL || a->type == LETTERS)
    TSL_TRY(read_letters(r, path, &entry, array, &r->data[n]));
  else
    TSL_TRY(read_numbers(r, path, &entry, array, &r->data[n]));
  dp_array_limits(array, r->data[n]);
  names->n_arrays++;
done:
  return err;
}

/* --------------------------------------------------------------- expressions */

/** Value of an expression that knows constants and data only. */
static tsl_err evaluate(const reader *r, lang_scope scope, const char *text, const char *path,
                        lang_kind *kind, dp_value *value) {
  tsl_err err = TSL_OK;
  dp_recurrence *frame = NULL;
  lang_expr expr = {0};
  void *memory = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *frame, "constants", &memory));
  frame = memory;
  frame->equation.names = r->equation->names;
  for (int a = 0; a < r->equation->names.n_arrays; a++) frame->data[a] = r->data[a];
  dp_eval e = {.recurrence = frame, .i = -1, .j = -1, .work = DP_WORK_MAX};
  err = lang_expr_parse(&r->equation->names, scope, text, &expr);
  if (err == TSL_OK) *kind = (lang_kind)expr.nodes[expr.root].kind;
  if (err == TSL_OK) err = dp_evaluate(&e, &expr, expr.root, value);
  if (err == TSL_ERR_NUMERIC) err = TSL_ERR_INPUT; /* the deck's own number */
  err = tsl_deck_blame(r->deck, path, err);
done:
  lang_expr_clear(&expr);
  tsl_free(frame);
  return err;
}

static tsl_err read_constant(const reader *r, int64_t n) {
  tsl_err err = TSL_OK;
  const dp_recur_constant *c = (const dp_recur_constant *)r->s->constants.values + n;
  lang_names *names = &r->equation->names;
  lang_scalar *scalar = &names->scalars[n];
  lang_kind kind = LANG_WHOLE;
  dp_value value = {0};
  char path[PATH_MAX_];
  TSL_TRY(give_name(r, c->name, path_of(r, path, "constants", n, "name"), scalar->name));
  TSL_TRY(evaluate(r, LANG_SCOPE_CONSTANT, c->value, path_of(r, path, "constants", n, "value"),
                   &kind, &value));
  scalar->kind = kind;
  if (kind == LANG_WHOLE)
    scalar->whole = value.whole;
  else
    scalar->real = value.real;
  names->n_scalars++;
done:
  return err;
}

static tsl_err read_size(const reader *r, const char *text, const char *key, int64_t least,
                         int64_t most, int64_t *out) {
  tsl_err err = TSL_OK;
  lang_kind kind = LANG_WHOLE;
  dp_value value = {0};
  char path[PATH_MAX_];
  TSL_TRY(evaluate(r, LANG_SCOPE_SIZE, text, path_of(r, path, key, -1, ""), &kind, &value));
  if (value.whole < least || value.whole > most)
    TSL_DECK_FAIL(r->deck, path, "%lld; allowed %lld to 2^%d", (long long)value.whole,
                  (long long)least, 63 - __builtin_clzll((unsigned long long)most));
  *out = value.whole;
done:
  return err;
}

/** Parse a text for its errors and keep it. */
static tsl_err keep(const reader *r, lang_scope scope, const char *text, const char *path,
                    int32_t *at) {
  tsl_err err = TSL_OK;
  lang_expr expr = {0};
  TSL_TRY(tsl_deck_blame(r->deck, path, lang_expr_parse(&r->equation->names, scope, text, &expr)));
  TSL_TRY(tsl_deck_blame(r->deck, path, dp_equation_add(r->equation, text, at)));
done:
  lang_expr_clear(&expr);
  return err;
}

/** Where the keys of table t stand: "boundary" or "tables[1].boundary". */
static const char *key_of_table(bool several, int32_t t, const char *key, char out[KEY_MAX_]) {
  if (several)
    (void)snprintf(out, KEY_MAX_, "tables[%d].%s", (int)t, key);
  else
    (void)snprintf(out, KEY_MAX_, "%s", key);
  return out;
}

static tsl_err read_rules(const reader *r, int32_t table, const tsl_maps *boundary) {
  tsl_err err = TSL_OK;
  dp_equation *e = r->equation;
  const dp_recur_rule *rules = boundary->values;
  char path[PATH_MAX_], list[KEY_MAX_];
  (void)key_of_table(r->s->tables.n > 0, table, "boundary", list);
  for (int64_t n = 0; n < (int64_t)boundary->n; n++) {
    if (e->n_rules == DP_RULES_MAX)
      TSL_DECK_FAIL(r->deck, path_of(r, path, list, -1, ""),
                    "more than %d rules; join some of them with || and ?:", DP_RULES_MAX);
    TSL_TRY(keep(r, LANG_SCOPE_WHERE, rules[n].where, path_of(r, path, list, n, "where"),
                 &e->where_at[e->n_rules]));
    TSL_TRY(keep(r, LANG_SCOPE_CELL, rules[n].value, path_of(r, path, list, n, "value"),
                 &e->value_at[e->n_rules]));
    e->rule_table[e->n_rules++] = table;
  }
done:
  return err;
}

/** Rules and `cell` of each table. */
static tsl_err read_cells(const reader *r) {
  tsl_err err = TSL_OK;
  const bool several = r->s->tables.n > 0;
  const dp_recur_table one = {.cell = r->s->cell, .boundary = r->s->boundary};
  const dp_recur_table *tables = several ? r->s->tables.values : &one;
  char path[PATH_MAX_], key[KEY_MAX_];
  for (int32_t t = 0; t < r->equation->names.n_tables; t++) {
    TSL_TRY(read_rules(r, t, &tables[t].boundary));
    TSL_TRY(keep(r, LANG_SCOPE_CELL, tables[t].cell,
                 path_of(r, path, key_of_table(several, t, "cell", key), -1, ""),
                 &r->equation->cell_at[t]));
  }
done:
  return err;
}

static tsl_err read_goal(const reader *r) {
  tsl_err err = TSL_OK;
  int32_t at = 0;
  char path[PATH_MAX_];
  TSL_TRY(tsl_deck_blame(r->deck, path_of(r, path, "goal", -1, ""),
                         dp_equation_goal(r->equation, r->s->goal)));
  if (r->equation->goal == DP_GOAL_EXPR) TSL_TRY(keep(r, LANG_SCOPE_GOAL, r->s->goal, path, &at));
done:
  return err;
}

/* ------------------------------------------------------------------- the whole */

static tsl_err check_counts(const reader *r) {
  tsl_err err = TSL_OK;
  const dp_recur_deck *s = r->s;
  char path[PATH_MAX_];
  if (s->data.n > LANG_ARRAYS_MAX)
    TSL_DECK_FAIL(r->deck, path_of(r, path, "data", -1, ""), "%llu arrays; at most %d",
                  (unsigned long long)s->data.n, LANG_ARRAYS_MAX);
  if (s->constants.n > LANG_SCALARS_MAX)
    TSL_DECK_FAIL(r->deck, path_of(r, path, "constants", -1, ""), "%llu constants; at most %d",
                  (unsigned long long)s->constants.n, LANG_SCALARS_MAX);
  if (s->table.depth.n > LANG_INNER_MAX)
    TSL_DECK_FAIL(r->deck, path_of(r, path, "table.depth", -1, ""),
                  "%llu extents; a table has at most %d indices, these make %llu",
                  (unsigned long long)s->table.depth.n, 2 + LANG_INNER_MAX,
                  2 + (unsigned long long)s->table.depth.n);
  if (s->table.rows == NULL || s->table.cols == NULL)
    TSL_DECK_FAIL(r->deck, path_of(r, path, "table", -1, ""), "rows and cols are needed");
  if ((s->cell == NULL && s->tables.n == 0) || s->goal == NULL)
    TSL_DECK_FAIL(r->deck, r->section,
                  "problem recurrence needs the keys table, cell and goal (or tables for cell)");
done:
  return err;
}

/** With `tables` each has what else stands beside `table`. */
static tsl_err check_tables(const reader *r) {
  static const char *const own[] = {"table.name", "cell", "boundary"};
  tsl_err err = TSL_OK;
  char path[PATH_MAX_];
  if (r->s->tables.n > LANG_TABLES_MAX)
    TSL_DECK_FAIL(r->deck, path_of(r, path, "tables", -1, ""), "%llu tables; at most %d",
                  (unsigned long long)r->s->tables.n, LANG_TABLES_MAX);
  for (size_t k = 0; k < sizeof own / sizeof *own; k++)
    if (tsl_deck_given(r->deck, path_of(r, path, own[k], -1, "")))
      TSL_DECK_FAIL(r->deck, path,
                    "with `tables` each of them has its own; `table` is their shape");
done:
  return err;
}

/** Names and type; the shape comes after the data. */
static tsl_err read_tables(const reader *r) {
  static const tsl_type types[] = {TSL_I16, TSL_I32, TSL_I64, TSL_F32, TSL_F64};
  tsl_err err = TSL_OK;
  lang_names *names = &r->equation->names;
  const dp_recur_table *tables = r->s->tables.values;
  const int64_t n = (int64_t)r->s->tables.n;
  char path[PATH_MAX_];
  if (n > 0) TSL_TRY(check_tables(r));
  for (int64_t t = 0; t < tsl_max(n, 1); t++) {
    lang_table *table = &names->tables[t];
    if (n > 0)
      TSL_TRY(give_name(r, tables[t].name, path_of(r, path, "tables", t, "name"), table->name));
    else
      TSL_TRY(give_name(r, r->s->table.name, path_of(r, path, "table.name", -1, ""), table->name));
    table->type = types[r->s->table.type];
    table->cells = r->s->table.cells;
    table->n_inner = (int32_t)r->s->table.depth.n; /* words from here on; extents come later */
    names->n_tables++;
  }
done:
  return err;
}

/** Extents of the inner indices, whose product is the number of layers. */
static tsl_err read_depth(const reader *r) {
  tsl_err err = TSL_OK;
  lang_names *names = &r->equation->names;
  int64_t layers = 1, extent[LANG_INNER_MAX] = {0};
  char key[KEY_MAX_], path[PATH_MAX_];
  for (int n = 0; n < names->tables[0].n_inner; n++) {
    (void)snprintf(key, sizeof key, "table.depth[%d]", n);
    TSL_TRY(read_size(r, r->s->table.depth.values[n], key, 1, LANG_LAYERS_MAX, &extent[n]));
    if ((layers *= extent[n]) > LANG_LAYERS_MAX)
      TSL_DECK_FAIL(r->deck, path_of(r, path, key, -1, ""),
                    "%lld layers of a cell with this extent; allowed 1 to 2^21", (long long)layers);
  }
  for (int t = 0; t < names->n_tables; t++) memcpy(names->tables[t].inner, extent, sizeof extent);
done:
  return err;
}

static tsl_err read_all(const reader *r) {
  tsl_err err = TSL_OK;
  lang_names *names = &r->equation->names;
  int64_t rows = 0, cols = 0;
  TSL_TRY(check_counts(r));
  TSL_TRY(read_tables(r));
  for (int64_t n = 0; n < (int64_t)r->s->data.n; n++) TSL_TRY(read_array(r, n));
  for (int64_t n = 0; n < (int64_t)r->s->constants.n; n++) TSL_TRY(read_constant(r, n));
  TSL_TRY(read_size(r, r->s->table.rows, "table.rows", 0, SIZE_MOST, &rows));
  for (int t = 0; t < names->n_tables; t++) names->tables[t].rows = rows;
  TSL_TRY(read_size(r, r->s->table.cols, "table.cols", 0, SIZE_MOST, &cols));
  for (int t = 0; t < names->n_tables; t++) names->tables[t].cols = cols;
  TSL_TRY(read_depth(r));
  TSL_TRY(read_cells(r));
  TSL_TRY(read_goal(r));
  r->equation->pattern = r->s->pattern;
done:
  return err;
}

tsl_err dp_recur_read(const tsl_deck *deck, const char *section, const dp_recur_deck *s,
                      dp_equation **equation, void *data[LANG_ARRAYS_MAX]) {
  tsl_err err = TSL_OK;
  reader r = {deck, section, s, NULL, data};
  void *memory = NULL;
  *equation = NULL;
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) data[a] = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *r.equation, "recurrence", &memory));
  r.equation = memory;
  TSL_TRY(read_all(&r));
  *equation = r.equation;
  r.equation = NULL;
done:
  tsl_free(r.equation);
  for (int a = 0; a < LANG_ARRAYS_MAX && err != TSL_OK; a++) {
    tsl_free(data[a]);
    data[a] = NULL;
  }
  return err;
}

/** The key's place; of one that is too long, its end. */
static void put_place(const reader *r, const char *list, int64_t n, const char *key,
                      char out[DP_PLACE_MAX]) {
  char path[PATH_MAX_], place[4096 + 128];
  tsl_deck_place(r->deck, path_of(r, path, list, n, key), place, sizeof place);
  const size_t length = strlen(place);
  if (length < DP_PLACE_MAX)
    memcpy(out, place, length + 1);
  else
    (void)snprintf(out, DP_PLACE_MAX, "...%s", place + length - (DP_PLACE_MAX - 4));
}

void dp_recur_places(const tsl_deck *deck, const char *section, const dp_equation *equation,
                     dp_places *places) {
  const reader r = {.deck = deck, .section = section};
  char path[PATH_MAX_], key[KEY_MAX_];
  const bool several = tsl_deck_given(deck, path_of(&r, path, "tables", -1, ""));
  put_place(&r, "goal", -1, "", places->of[0]);
  for (int32_t t = 0; t < equation->names.n_tables; t++)
    put_place(&r, key_of_table(several, t, "cell", key), -1, "", places->of[1 + t]);
  for (int32_t n = 0, number = 0; n < equation->n_rules; n++, number++) {
    const int32_t table = equation->rule_table[n];
    if (n > 0 && table != equation->rule_table[n - 1]) number = 0;
    (void)key_of_table(several, table, "boundary", key);
    put_place(&r, key, number, "where", places->of[1 + LANG_TABLES_MAX + 2 * n]);
    put_place(&r, key, number, "value", places->of[2 + LANG_TABLES_MAX + 2 * n]);
  }
}
