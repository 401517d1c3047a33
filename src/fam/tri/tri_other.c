/* The other of two sets: keys as those of the points, below `other`; its rows come first. */
#include "tri_family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tri_other_given(const tsl_deck *deck) {
  return tsl_deck_given(deck, "tri.other");
}

bool tri_two_given(const tsl_deck *deck, const tri_deck *s) {
  return s->between.first != NULL || (tri_other_given(deck) && !s->self);
}

tri_deck tri_other_as(const tri_deck *s) {
  tri_deck other = *s;
  other.input = s->other.input;
  other.generator = s->other.generator;
  other.is_other = true;
  return other;
}

tsl_err tri_two_check(const tsl_deck *deck, const tri_deck *s, const char *path) {
  static const uint32_t of_one =
      TRI_BIT(SQUARE) | TRI_BIT(COMPONENTS) | TRI_BIT(DBSCAN) | TRI_BIT(LINKAGE);
  tsl_err err = TSL_OK;
  if ((of_one >> s->output & 1) != 0)
    TSL_DECK_FAIL(deck, path, "output %s is of one set of points; %s", tri_output_words[s->output],
                  s->output == TRI_SQUARE ? "condensed gives the matrix of two" : "remove it");
  if (s->output == TRI_CONDENSED && s->map != TRI_MAP_AUTO)
    TSL_DECK_FAIL(deck, "tri.map",
                  "maps are of triangles, and two sets are a rectangle; remove it");
  if (!s->self && tsl_deck_given(deck, "tri.function.diagonal"))
    TSL_DECK_FAIL(deck, "tri.function.diagonal",
                  "two sets have no pair of a point with itself; remove it");
done:
  return err;
}

/** Keys that only another set has, or only one set, or only the first. */
static tsl_err check_together(const tsl_deck *deck, const tri_deck *s) {
  static const char *const of_columns[][2] = {{"tri.input.mass_column", "masses"},
                                              {"tri.input.vector_columns", "vectors"}};
  tsl_err err = TSL_OK;
  TSL_TRY(tri_two_check(deck, s, "tri.other"));
  if (s->other.input.frames != NULL)
    TSL_DECK_FAIL(deck, "tri.other.input.frames", "frames are of one set; remove it");
  if (s->self && s->output != TRI_HISTOGRAM)
    TSL_DECK_FAIL(deck, "tri.self", "pairs within the sets are counted by output histogram only");
  for (int k = 0; k < 2; k++)
    if (tsl_deck_given(deck, of_columns[k][0]))
      TSL_DECK_FAIL(deck, of_columns[k][0], "%s are those of the other set: give other%s",
                    of_columns[k][1], of_columns[k][0] + strlen("tri"));
done:
  return err;
}

tsl_err tri_other_settle(const tsl_deck *deck, tri_deck *s, int32_t *format) {
  tsl_err err = TSL_OK;
  tri_deck other = tri_other_as(s);
  TSL_TRY(check_together(deck, s));
  TSL_TRY(tri_choose_source(deck, &other, format));
  TSL_TRY(tri_deck_settle(deck, *format, &other));
  if (!tsl_deck_given(deck, "tri.other.generator.seed")) other.generator.seed = 2;
  s->other.input = other.input;
  s->other.generator = other.generator;
done:
  return err;
}

/** Two sets have the same columns. */
static tsl_err check_columns(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                             const tri_points *other) {
  tsl_err err = TSL_OK;
  if (points->has_extra != other->has_extra && s->function.name != TRI_WORD_GRAVITY)
    TSL_DECK_FAIL(deck, "tri.other",
                  "one set has a column of radii, the other has none: give "
                  "radius_column for both, or radius for all");
  if (points->packed != other->packed)
    TSL_DECK_FAIL(deck, "tri.other", "one set has packed bits, the other has not");
  if (points->d != other->d)
    TSL_DECK_FAIL(deck, "tri.other", "the other set has %lld dimensions, the points have %lld",
                  (long long)other->d, (long long)points->d);
done:
  return err;
}

/** To rows from `first` on; columns that the points do not have stay 0. Sequences have none. */
static void copy_rows(table_rows *to, int64_t first, const tri_points *points) {
  const table_rows *from = &points->table;
  const int64_t common = from->columns - points->has_extra;
  for (int64_t i = 0; i < from->n && from->columns > 0; i++) {
    double *const row = to->values + (first + i) * to->columns;
    const double *const own = from->values + i * from->columns;
    memcpy(row, own, (size_t)common * sizeof *row);
    if (points->has_extra) row[to->columns - 1] = own[common];
  }
}

tsl_err tri_other_load(const tsl_deck *deck, const tri_deck *s, int32_t format,
                       tri_points *points) {
  tsl_err err = TSL_OK;
  const tri_deck as = tri_other_as(s);
  tri_points other = {0};
  table_rows both = {0};
  char from[TRI_FROM];
  if (points->letters.n > 0)
    tri_letters_other(points, &other);
  else
    TSL_TRY(tri_load(deck, &as, format, &other));
  TSL_TRY(check_columns(deck, s, points, &other));
  const table_rows *a = &other.table, *b = &points->table;
  TSL_TRY(table_rows_create(a->n + b->n, a->columns, "the points of both sets", &both));
  copy_rows(&both, 0, &other);
  copy_rows(&both, a->n, points);
  (void)snprintf(from, sizeof from, "%.640s; other: %.640s", points->from, other.from);
  memcpy(points->from, from, sizeof from);
  points->moved = fmax(points->moved, other.moved);
  points->other = a->n;
  points->more = other.more;
  points->has_extra = other.has_extra;
  points->other_made = other.made;
  table_rows_clear(&points->table);
  points->table = both;
  both = (table_rows){0};
done:
  tri_points_clear(&other);
  table_rows_clear(&both);
  return err;
}
