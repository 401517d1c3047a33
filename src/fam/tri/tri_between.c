/* Two kinds of one set as two sets: rows are points of the first kind, columns of the other. */
#include "tri_marks.h"

#include <stdio.h>
#include <string.h>

tsl_err tri_between_check(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  const bool given = s->between.first != NULL || s->between.other != NULL;
  const bool kinds = s->input.kind_column >= 0 || s->input.kind_file != NULL || s->input.symbols;
  if (given && (s->between.first == NULL || s->between.other == NULL))
    TSL_DECK_FAIL(deck, "tri.between", "two kinds are needed: first and other");
  if (given && tri_other_given(deck))
    TSL_DECK_FAIL(deck, "tri.between", "the two sets are input and other already");
  if (given) TSL_TRY(tri_two_check(deck, s, "tri.between"));
  if (given && s->function.name >= TRI_WORD_LETTERS)
    TSL_DECK_FAIL(deck, "tri.between", "sequences have no kinds; give the second set as other");
  if (!given && kinds && s->output != TRI_HISTOGRAM)
    TSL_DECK_FAIL(deck, "tri.input",
                  "kinds are not used by output %s; remove them, or say between which two",
                  tri_output_words[s->output]);
done:
  return err;
}

/** A kind by its name. */
static tsl_err find_kind(const tsl_deck *deck, const tri_marks *m, const char *path,
                         const char *name, int32_t *kind) {
  tsl_err err = TSL_OK;
  char known[160] = "";
  for (*kind = 0; *kind < m->kinds; (*kind)++) {
    const size_t used = strlen(known);
    if (strcmp(m->names[*kind], name) == 0) goto done;
    if (used < sizeof known - TRI_KIND_NAME - 2)
      (void)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "",
                     m->names[*kind]);
  }
  TSL_DECK_FAIL(deck, path, "no point is of kind '%.24s'; the kinds are %s", name, known);
done:
  return err;
}

/** Rows of the points of the other kind, then of the first. */
static tsl_err choose(const tri_marks *m, int32_t first, int32_t other, tri_points *points,
                      int64_t *n) {
  tsl_err err = TSL_OK;
  *n = 0;
  TSL_TRY(tsl_alloc(m->n, sizeof *points->row, "rows of points", (void **)&points->row));
  for (int64_t i = 0; i < m->n; i++)
    if (m->kind[i] == other) points->row[(*n)++] = i;
  points->other = *n;
  for (int64_t i = 0; i < m->n; i++)
    if (m->kind[i] == first) points->row[(*n)++] = i;
done:
  return err;
}

/** Keep n chosen rows of the table and of the marks, whose kinds are then done with. */
static tsl_err keep(int64_t n, tri_points *points, tri_marks *m) {
  tsl_err err = TSL_OK;
  const int64_t width = points->table.columns;
  table_rows table = {0};
  int32_t *region = NULL;
  double *weight = NULL;
  TSL_TRY(table_rows_create(n, width, "the points of two kinds", &table));
  if (m->region != NULL) TSL_TRY(tsl_alloc(n, sizeof *region, "regions", (void **)&region));
  if (m->weight != NULL) TSL_TRY(tsl_alloc(n, sizeof *weight, "weights", (void **)&weight));
  for (int64_t i = 0; i < n; i++) {
    const int64_t from = points->row[i];
    memcpy(table.values + i * width, points->table.values + from * width,
           (size_t)width * sizeof(double));
    if (region != NULL) region[i] = m->region[from];
    if (weight != NULL) weight[i] = m->weight[from];
  }
  table.facts = points->table.facts;
  table_rows_clear(&points->table);
  points->table = table;
  const int32_t regions = m->regions;
  tri_marks_clear(m);
  *m = (tri_marks){.n = n, .region = region, .weight = weight, .kinds = 1, .regions = regions};
done:
  if (err != TSL_OK) {
    table_rows_clear(&table);
    TSL_FREE_ALL(region, weight);
  }
  return err;
}

tsl_err tri_between_split(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                          tri_marks *marks) {
  tsl_err err = TSL_OK;
  int32_t first = 0, other = 0;
  int64_t n = 0;
  if (marks->kind == NULL)
    TSL_DECK_FAIL(deck, "tri.between",
                  "the points have no kinds; give input.kind_column, kind_file or symbols");
  TSL_TRY(find_kind(deck, marks, "tri.between.first", s->between.first, &first));
  TSL_TRY(find_kind(deck, marks, "tri.between.other", s->between.other, &other));
  if (first == other)
    TSL_DECK_FAIL(deck, "tri.between", "two kinds are needed, not '%s' twice", s->between.first);
  TSL_TRY(choose(marks, first, other, points, &n));
  TSL_TRY(keep(n, points, marks));
done:
  return err;
}

/* ----------------------------------------------------------------- fields */

static tsl_err add_rows(tsl_problem *problem, const char *name, const char *doc, int64_t n) {
  tsl_field *added = NULL;
  tsl_field field = {
      .role = TSL_OUT, .type = TSL_I64, .combine = TSL_GATHER, .rank = 1, .shape = {n, 1, 1}};
  tsl_field_label(&field, name, "1", doc);
  return tsl_problem_add(problem, &field, &added);
}

tsl_err tri_between_add(tri_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tri_own *own = problem->own;
  if (points->row == NULL || p->output == TRI_HISTOGRAM) goto done;
  TSL_TRY(add_rows(problem, "points_first", "Points of the input that i counts, from 0.",
                   tri_rows_of(p)));
  TSL_TRY(
      add_rows(problem, "points_other", "Points of the input that j counts, from 0.", p->columns));
  own->row = points->row;
  points->row = NULL;
done:
  return err;
}

tsl_err tri_between_finish(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const char *const names[] = {"points_other", "points_first"};
  int64_t at = 0;
  if (own->row == NULL) goto done;
  for (int set = 0; set < 2; set++) {
    tsl_field *field = &problem->fields[tsl_problem_find(problem, names[set])];
    const int64_t n = set == 0 ? p->columns : tri_rows_of(p);
    TSL_TRY(tsl_field_allocate(field));
    if (n > 0) memcpy(field->data, own->row + at, (size_t)n * sizeof(int64_t));
    at += n;
  }
done:
  return err;
}
