/* From the deck's `input:` or `generator:` to rows of doubles. */
#include "tri_family.h"

#include <stdio.h>
#include <string.h>

/** A key of the set's, as the deck has it. */
const char *tri_load_key(const tri_deck *s, const char *key, char path[64]) {
  (void)snprintf(path, 64, "tri.%s%s", s->is_other ? "other." : "", key);
  return path;
}

tsl_err tri_load_source(const tsl_deck *deck, const tri_deck *s, int32_t *format) {
  tsl_err err = TSL_OK;
  char *path = NULL, key[64];
  table_source source = {.format = s->input.format};
  const char *const none = s->is_other ? "tri.other" : "tri";
  *format = TABLE_FORMAT_AUTO;
  if ((s->input.file != NULL) == (s->generator.kind != TRI_NONE))
    TSL_DECK_FAIL(deck, s->input.file != NULL ? tri_load_key(s, "generator.kind", key) : none,
                  "points come from either input.file or generator.kind: give exactly one");
  if (s->input.file == NULL) goto done;
  TSL_TRY(tsl_deck_path(deck, s->input.file, &path));
  source.path = path;
  TSL_TRY(
      tsl_deck_blame(deck, tri_load_key(s, "input.file", key), table_read_format(&source, format)));
done:
  tsl_free(path);
  return err;
}

static tsl_err find_comment(const tsl_deck *deck, const tri_deck *s, char *comment) {
  tsl_err err = TSL_OK;
  char key[64];
  const char *text = s->input.comment != NULL ? s->input.comment : "#";
  if (strlen(text) != 1 || strchr("0123456789+-.eE,; \t\"", text[0]) != NULL)
    TSL_DECK_FAIL(deck, tri_load_key(s, "input.comment", key),
                  "one character is needed that cannot be part of a number or a separator");
  *comment = text[0];
done:
  return err;
}

/** Columns of the coordinates, then of quantities and vectors; free *list. */
static tsl_err list_columns(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                            int64_t **list, int64_t *n) {
  tsl_err err = TSL_OK;
  const tri_quantity *q = s->equation.quantities.values;
  const tsl_ints *x = &s->input.columns, *v = &s->input.vector_columns;
  points->more = (int64_t)(s->equation.quantities.n + v->n);
  *n = (int64_t)x->n;
  *list = NULL;
  if (points->more > 0 && x->n == 0)
    TSL_DECK_FAIL(deck, "tri.input",
                  "give columns, those of the coordinates: with columns of quantities or vectors "
                  "the others are not all coordinates");
  TSL_TRY(tsl_alloc(*n + points->more, sizeof **list, "columns", (void **)list));
  for (uint64_t k = 0; k < x->n; k++) (*list)[k] = x->values[k];
  for (uint64_t k = 0; k < s->equation.quantities.n; k++) (*list)[(*n)++] = q[k].column;
  for (uint64_t k = 0; k < v->n; k++) (*list)[(*n)++] = v->values[k];
done:
  return err;
}

tsl_err tri_load_table(const tsl_deck *deck, const tri_deck *s, int32_t format,
                       const int64_t *columns, int64_t n_columns, int64_t extra, table_rows *table,
                       char *from, size_t size) {
  tsl_err err = TSL_OK;
  char *path = NULL, key[64];
  table_source source = {.format = format,
                         .dataset = s->input.dataset,
                         .delimiter = s->input.delimiter,
                         .header = s->input.header,
                         .columns = columns,
                         .n_columns = n_columns,
                         .extra = extra};
  TSL_TRY(find_comment(deck, s, &source.comment));
  TSL_TRY(tsl_deck_path(deck, s->input.file, &path));
  source.path = path;
  TSL_TRY(tsl_deck_blame(deck, tri_load_key(s, "input.file", key), table_read(&source, table)));
  table_describe(&source, table, from, size);
done:
  tsl_free(path);
  return err;
}

/** Columns of the coordinates where the deck names none, but columns of marks: all others. */
static tsl_err find_columns(const tsl_deck *deck, const tri_deck *s, int32_t format, int64_t extra,
                            int64_t **columns, int64_t *n) {
  tsl_err err = TSL_OK;
  const int64_t marks[] = {s->input.kind_column, s->input.weight_column, s->input.region_column,
                           extra};
  int64_t mark = -1;
  char from[64];
  table_rows one = {0};
  *n = 0;
  for (int k = 0; k < 3; k++)
    if (marks[k] >= 0) mark = marks[k];
  if (mark < 0 || format == TABLE_FORMAT_XYZ) goto done;
  TSL_TRY(tri_load_table(deck, s, format, &mark, 1, -1, &one, from, sizeof from));
  TSL_TRY(tsl_alloc(one.facts.width, sizeof **columns, "columns", (void **)columns));
  for (int64_t c = 0; c < one.facts.width; c++)
    if (c != marks[0] && c != marks[1] && c != marks[2] && c != marks[3]) (*columns)[(*n)++] = c;
  if (*n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "no column is left for coordinates: %lld in all",
             (long long)one.facts.width);
done:
  table_rows_clear(&one);
  return err;
}

static tsl_err read_points(const tsl_deck *deck, const tri_deck *s, int32_t format,
                           tri_points *points) {
  tsl_err err = TSL_OK;
  char key[64];
  const int64_t radius = s->input.radius_column, mass = s->input.mass_column;
  const int64_t extra = radius >= 0 ? radius : mass;
  int64_t *columns = NULL, n = 0;
  TSL_TRY(list_columns(deck, s, points, &columns, &n));
  if (n == 0) {
    tsl_free(columns);
    columns = NULL;
    TSL_TRY(tsl_deck_blame(deck, tri_load_key(s, "input.file", key),
                           find_columns(deck, s, format, extra, &columns, &n)));
  }
  TSL_TRY(tri_load_table(deck, s, format, columns, n, extra, &points->table, points->from,
                         sizeof points->from));
  points->has_extra = extra >= 0;
done:
  tsl_free(columns);
  return err;
}

/** Memory is the only thing that a checked generator can lack. */
static tsl_err blame_number(const tsl_deck *deck, const tri_deck *s, tsl_err err) {
  char why[TSL_ERR_MESSAGE_MAX], key[64];
  if (err == TSL_OK) return err;
  (void)snprintf(why, sizeof why, "%s", tsl_err_message());
  return tsl_deck_fail(deck, err, tri_load_key(s, "generator.n", key), __FILE__, __LINE__,
                       "%s; lower n or d", why);
}

static tsl_err make_points(const tsl_deck *deck, const tri_deck *s, tri_points *points) {
  tsl_err err = TSL_OK;
  char key[64];
  const bool boxed = s->box.n > 0 && !tsl_deck_given(deck, tri_load_key(s, "generator.side", key));
  const tri_generator generator = {.kind = s->generator.kind,
                                   .n = s->generator.n,
                                   .d = s->generator.d,
                                   .seed = s->generator.seed,
                                   .side = s->generator.side,
                                   .box = boxed ? s->box.values : NULL,
                                   .scale = s->generator.scale,
                                   .clusters = s->generator.clusters};
  if (s->generator.kind == TRI_PLUMMER && s->generator.d != 3)
    TSL_DECK_FAIL(deck, tri_load_key(s, "generator.d", key), "a Plummer sphere has 3 dimensions");
  if (boxed && (int64_t)s->box.n != s->generator.d)
    TSL_DECK_FAIL(deck, "tri.box", "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)s->box.n, (long long)s->generator.d);
  if (s->equation.quantities.n > 0)
    TSL_DECK_FAIL(deck, "tri.equation.quantities", "made-up points have no columns to take");
  TSL_TRY(blame_number(deck, s, tri_generate(&generator, &points->table)));
  (void)snprintf(points->from, sizeof points->from, "made up, %s with seed %lld",
                 tri_kind_words[s->generator.kind], (long long)s->generator.seed);
  points->made = true;
done:
  return err;
}

/** Unit of the coordinates and distances. */
static const char *find_unit(const tri_deck *s, int32_t format) {
  if (s->unit != NULL) return s->unit;
  if (tri_abouts[tri_deck_function(s)].prepare == TRI_SPHERE) return "km";
  return format == TABLE_FORMAT_XYZ ? "angstrom" : "1";
}

tsl_err tri_load(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_points *points) {
  tsl_err err = TSL_OK;
  if (s->generator.kind == TRI_NONE)
    TSL_TRY(read_points(deck, s, format, points));
  else
    TSL_TRY(make_points(deck, s, points));
  points->d = points->table.columns - points->more - points->has_extra;
  (void)snprintf(points->unit, sizeof points->unit, "%s", find_unit(s, format));
done:
  return err;
}
