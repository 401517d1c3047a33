/* Points from the deck's `input:` or `generator:`, with the columns that functions want. */
#include "tri_family.h"
#include "tri_streamed.h"

#include <stdio.h>

points_source tri_source(const tsl_deck *deck, const tri_deck *s, int32_t format) {
  return (points_source){.deck = deck,
                         .section = tri_section(s),
                         .input = &s->input.points,
                         .generator = &s->generator,
                         .format = format};
}

/** Columns of the coordinates, then of quantities and vectors; free *list. */
static tsl_err list_columns(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                            int64_t **list, int64_t *n) {
  tsl_err err = TSL_OK;
  const lang_quantity *q = s->function.quantities.values;
  const tsl_ints *x = &s->input.points.columns, *v = &s->input.vector_columns;
  char key[POINTS_PATH];
  points->more = (int64_t)(s->function.quantities.n + v->n);
  *n = (int64_t)x->n;
  *list = NULL;
  if (points->more > 0 && x->n == 0)
    TSL_DECK_FAIL(deck, points_key(tri_section(s), "input", key),
                  "give columns, those of the coordinates: with columns of quantities or vectors "
                  "the others are not all coordinates");
  TSL_TRY(tsl_alloc(*n + points->more, sizeof **list, "columns", (void **)list));
  for (uint64_t k = 0; k < x->n; k++) (*list)[k] = x->values[k];
  for (uint64_t k = 0; k < s->function.quantities.n; k++) (*list)[(*n)++] = q[k].column;
  for (uint64_t k = 0; k < v->n; k++) (*list)[(*n)++] = v->values[k];
done:
  return err;
}

/** Columns of the coordinates where the deck names none, but columns of marks: all others. */
static tsl_err find_columns(const points_source *source, const tri_deck *s, int64_t extra,
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
  if (mark < 0 || source->format == TABLE_FORMAT_XYZ) goto done;
  TSL_TRY(points_read(source, &mark, 1, -1, &one, from, sizeof from));
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

static tsl_err read_points(const points_source *source, const tri_deck *s, tri_points *points) {
  tsl_err err = TSL_OK;
  char key[POINTS_PATH];
  const int64_t radius = s->input.radius_column, mass = s->input.mass_column;
  const int64_t extra = radius >= 0 ? radius : mass;
  int64_t *columns = NULL, n = 0;
  TSL_TRY(list_columns(source->deck, s, points, &columns, &n));
  if (n == 0) {
    tsl_free(columns);
    columns = NULL;
    TSL_TRY(tsl_deck_blame(source->deck, points_key(source->section, "input.file", key),
                           find_columns(source, s, extra, &columns, &n)));
  }
  TSL_TRY(
      points_read(source, columns, n, extra, &points->table, points->from, sizeof points->from));
  points->has_extra = extra >= 0;
  points->packed = s->input.packed;
done:
  tsl_free(columns);
  return err;
}

static tsl_err make_points(const tsl_deck *deck, const tri_deck *s, tri_points *points) {
  tsl_err err = TSL_OK;
  const points_source source = tri_source(deck, s, TABLE_FORMAT_AUTO);
  if (s->function.quantities.n > 0)
    TSL_DECK_FAIL(deck, "tri.function.quantities", "made-up points have no columns to take");
  TSL_TRY(
      points_make(&source, &s->box, "tri.box", &points->table, points->from, sizeof points->from));
  points->made = true;
done:
  return err;
}

/** Unit of the coordinates and distances. */
static const char *find_unit(const tri_deck *s, const points_source *source) {
  if (s->unit != NULL) return s->unit;
  return tri_abouts[tri_deck_function(s)].prepare == TRI_SPHERE ? "km" : points_unit(source);
}

void tri_points_clear(tri_points *points) {
  tsl_free(points->row);
  table_rows_clear(&points->table);
  letters_clear(&points->letters);
  tri_streamed_clear(&points->streamed);
}

tsl_err tri_load(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_points *points) {
  tsl_err err = TSL_OK;
  const points_source source = tri_source(deck, s, format);
  if (s->function.name >= TRI_WORD_LETTERS) return tri_letters_load(deck, s, points);
  if (s->generator.kind == POINTS_NONE)
    TSL_TRY(read_points(&source, s, points));
  else
    TSL_TRY(make_points(deck, s, points));
  points->d = points->table.columns - points->more - points->has_extra;
  (void)snprintf(points->unit, sizeof points->unit, "%s", find_unit(s, &source));
  TSL_TRY(tri_types_settle(deck, s, points));
done:
  return err;
}
