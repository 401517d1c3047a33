/* Kinds, regions and weights of points: read, named, joined. */
#include "tri_marks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tri_marks_clear(tri_marks *m) {
  TSL_FREE_ALL(m->kind, m->region, m->weight, m->names);
  *m = (tri_marks){0};
}

/* ------------------------------------------------------------------ names */

/** The kind of a name, a new one if need be; n_bytes of it count. */
static tsl_err kind_of(tri_marks *m, const char *name, size_t n_bytes, int32_t *kind) {
  tsl_err err = TSL_OK;
  char own[TRI_KIND_NAME] = {0}, shown[48];
  if (n_bytes >= TRI_KIND_NAME)
    TSL_FAIL(TSL_ERR_INPUT, "'%s': a kind's name has %d letters at most",
             table_shown(name, name + n_bytes, shown), TRI_KIND_NAME - 1);
  for (size_t c = 0; c < n_bytes; c++)
    if ((unsigned char)name[c] <= ' ' || name[c] == 127) n_bytes = 0;
  if (n_bytes == 0) TSL_FAIL(TSL_ERR_INPUT, "a kind without a name of printable letters");
  memcpy(own, name, n_bytes);
  for (*kind = 0; *kind < m->kinds; (*kind)++)
    if (memcmp(m->names[*kind], own, sizeof own) == 0) goto done;
  if (m->kinds == TRI_MOST_KINDS)
    TSL_FAIL(TSL_ERR_INPUT, "more than %d kinds of points", TRI_MOST_KINDS);
  memcpy(m->names[m->kinds++], own, sizeof own);
done:
  return err;
}

static int by_name(const void *a, const void *b) {
  char *end_a = NULL, *end_b = NULL;
  const long long x = strtoll(a, &end_a, 10), y = strtoll(b, &end_b, 10);
  if (*end_a == '\0' && *end_b == '\0') return (x > y) - (x < y);
  return strcmp(a, b);
}

/** Names in ascending order: numbers by value, words by letters. */
static void sort_names(tri_marks *m) {
  char before[TRI_MOST_KINDS][TRI_KIND_NAME];
  int32_t now[TRI_MOST_KINDS];
  if (m->kind == NULL) return;
  memcpy(before, m->names, (size_t)m->kinds * sizeof *before);
  qsort(m->names, (size_t)m->kinds, sizeof *m->names, by_name);
  for (int32_t k = 0; k < m->kinds; k++)
    for (now[k] = 0; memcmp(m->names[now[k]], before[k], sizeof *before) != 0;) now[k]++;
  for (int64_t i = 0; i < m->n; i++) m->kind[i] = now[m->kind[i]];
}

static tsl_err alloc_kinds(tri_marks *m) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(m->n, sizeof *m->kind, "kinds", (void **)&m->kind));
  TSL_TRY(tsl_alloc(TRI_MOST_KINDS, sizeof *m->names, "kinds", (void **)&m->names));
done:
  return err;
}

tsl_err tri_marks_name(int64_t n, const tri_kind_name *names, tri_marks *m) {
  tsl_err err = TSL_OK;
  *m = (tri_marks){.n = n, .regions = 1};
  TSL_TRY(alloc_kinds(m));
  for (int64_t i = 0; i < n; i++) TSL_TRY(kind_of(m, names[i], strlen(names[i]), &m->kind[i]));
  sort_names(m);
done:
  return err;
}

/* ---------------------------------------------------------------- reading */

/** As many as points? */
static tsl_err check_number(const char *path, const char *what, int64_t got, int64_t n) {
  tsl_err err = TSL_OK;
  if (got != n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld %s for %lld points", path, (long long)got, what,
             (long long)n);
done:
  return err;
}

/** A word for each point: the first of each line. XYZ: of the lines after the second. */
static tsl_err read_words(const char *path, bool xyz, tri_marks *m) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0, i = 0;
  table_lines lines;
  TSL_TRY(table_file_load(path, &text, &bytes));
  table_lines_open(path, text, bytes, xyz ? '\0' : '#', &lines);
  for (int k = 0; k < 2 && xyz; k++) (void)table_lines_next(&lines);
  for (; table_lines_content(&lines); i++) {
    size_t n = 0;
    while (lines.line + n < lines.line_end && strchr(" \t,;", lines.line[n]) == NULL) n++;
    if (i < m->n) TSL_TRY(kind_of(m, lines.line, n, &m->kind[i]));
  }
  TSL_TRY(check_number(path, "kinds", i, m->n));
done:
  tsl_free(text);
  return err;
}

/** A number for each point: a column of the points' file, or a file of its own. */
static tsl_err read_numbers(const tsl_deck *deck, const tri_deck *s, int32_t format, int64_t column,
                            const char *file, const char *what, tri_marks *m, table_rows *table) {
  tsl_err err = TSL_OK;
  char *path = NULL, from[64];
  table_source source = {.extra = -1, .comment = '#'};
  const points_source points = tri_source(deck, s, format);
  if (file == NULL) return points_read(&points, &column, 1, -1, table, from, 64);
  TSL_TRY(tsl_deck_path(deck, file, &path));
  source.path = path;
  TSL_TRY(table_read_format(&source, &source.format));
  TSL_TRY(table_read(&source, table));
  TSL_TRY(table_check_width(&source, table, 1));
  TSL_TRY(check_number(path, what, table->n, m->n));
done:
  tsl_free(path);
  return err;
}

static tsl_err check_whole(double value, const char *what, int64_t row) {
  tsl_err err = TSL_OK;
  if (!(fabs(value) <= INT32_MAX) || value != floor(value))
    TSL_FAIL(TSL_ERR_INPUT, "point %lld (from 0): %s %g is no whole number%s", (long long)row, what,
             value, fabs(value) > INT32_MAX ? " of 32 bits" : "");
done:
  return err;
}

static tsl_err read_kinds(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_marks *m) {
  tsl_err err = TSL_OK;
  char *path = NULL, name[TRI_KIND_NAME];
  table_rows table = {0};
  TSL_TRY(alloc_kinds(m));
  if (s->input.kind_column >= 0) {
    TSL_TRY(read_numbers(deck, s, format, s->input.kind_column, NULL, "kinds", m, &table));
    for (int64_t i = 0; i < m->n; i++) {
      TSL_TRY(check_whole(table.values[i], "kind", i));
      const int n = snprintf(name, sizeof name, "%lld", (long long)table.values[i]);
      TSL_TRY(kind_of(m, name, (size_t)n, &m->kind[i]));
    }
  } else {
    TSL_TRY(
        tsl_deck_path(deck, s->input.symbols ? s->input.points.file : s->input.kind_file, &path));
    TSL_TRY(read_words(path, s->input.symbols, m));
  }
  sort_names(m);
done:
  tsl_free(path);
  table_rows_clear(&table);
  return err;
}

static tsl_err read_regions(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_marks *m) {
  tsl_err err = TSL_OK;
  table_rows table = {0};
  TSL_TRY(tsl_alloc(m->n, sizeof *m->region, "regions", (void **)&m->region));
  TSL_TRY(read_numbers(deck, s, format, s->input.region_column, s->input.region_file, "regions", m,
                       &table));
  for (int64_t i = 0; i < m->n; i++) {
    TSL_TRY(check_whole(table.values[i], "region", i));
    if (table.values[i] < 0 || table.values[i] >= TRI_MOST_REGIONS)
      TSL_FAIL(TSL_ERR_INPUT, "point %lld (from 0): region %g is outside 0 .. %d", (long long)i,
               table.values[i], TRI_MOST_REGIONS - 1);
    m->region[i] = (int32_t)table.values[i];
    if (m->region[i] >= m->regions) m->regions = m->region[i] + 1;
  }
done:
  table_rows_clear(&table);
  return err;
}

static tsl_err read_weights(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_marks *m) {
  tsl_err err = TSL_OK;
  table_rows table = {0};
  TSL_TRY(tsl_alloc(m->n, sizeof *m->weight, "weights", (void **)&m->weight));
  TSL_TRY(read_numbers(deck, s, format, s->input.weight_column, s->input.weight_file, "weights", m,
                       &table));
  for (int64_t i = 0; i < m->n; i++) m->weight[i] = table.values[i];
done:
  table_rows_clear(&table);
  return err;
}

/** Two places for the same thing. */
static tsl_err check_one(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  const tri_input *in = &s->input;
  char key[POINTS_PATH];
  if ((in->kind_column >= 0) + (in->kind_file != NULL) + in->symbols > 1)
    TSL_DECK_FAIL(deck, points_key(tri_section(s), "input", key),
                  "kinds come from one of kind_column, kind_file and symbols");
  if (in->region_column >= 0 && in->region_file != NULL)
    TSL_DECK_FAIL(deck, points_key(tri_section(s), "input", key),
                  "regions come from one of region_column and region_file");
  if (in->weight_column >= 0 && in->weight_file != NULL)
    TSL_DECK_FAIL(deck, points_key(tri_section(s), "input", key),
                  "weights come from one of weight_column and weight_file");
done:
  return err;
}

tsl_err tri_marks_read(const tsl_deck *deck, const tri_deck *s, int32_t format, int64_t n,
                       tri_marks *m) {
  tsl_err err = TSL_OK;
  const tri_input *in = &s->input;
  char key[POINTS_PATH];
  *m = (tri_marks){.n = n};
  TSL_TRY(check_one(deck, s));
  if (in->kind_column >= 0 || in->kind_file != NULL || in->symbols)
    TSL_TRY(tsl_deck_blame(deck,
                           points_key(tri_section(s),
                                      in->symbols             ? "input.symbols"
                                      : in->kind_file != NULL ? "input.kind_file"
                                                              : "input.kind_column",
                                      key),
                           read_kinds(deck, s, format, m)));
  if (in->region_column >= 0 || in->region_file != NULL)
    TSL_TRY(tsl_deck_blame(
        deck,
        points_key(tri_section(s),
                   in->region_file != NULL ? "input.region_file" : "input.region_column", key),
        read_regions(deck, s, format, m)));
  if (in->weight_column >= 0 || in->weight_file != NULL)
    TSL_TRY(tsl_deck_blame(
        deck,
        points_key(tri_section(s),
                   in->weight_file != NULL ? "input.weight_file" : "input.weight_column", key),
        read_weights(deck, s, format, m)));
done:
  if (m->kinds < 1) m->kinds = 1;
  if (m->regions < 1) m->regions = 1;
  return err;
}

/* ---------------------------------------------------------------- joining */

/** Rows of one set to those of both from row `at` on. */
static tsl_err join_kinds(const tri_marks *from, int64_t at, tri_marks *to) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < from->n; i++) {
    const char *name = from->names[from->kind[i]];
    TSL_TRY(kind_of(to, name, strlen(name), &to->kind[at + i]));
  }
done:
  return err;
}

/** Kinds of the two sets: first and other. */
static tsl_err kinds_of_sets(int64_t n_other, tri_marks *both) {
  tsl_err err = TSL_OK;
  int32_t kind = 0;
  TSL_TRY(kind_of(both, "first", 5, &kind));
  TSL_TRY(kind_of(both, "other", 5, &kind));
  for (int64_t i = 0; i < n_other; i++) both->kind[i] = kind;
done:
  return err;
}

/** Both sets have them, or none. */
static tsl_err check_both(const tsl_deck *deck, bool first, bool other, const char *what) {
  tsl_err err = TSL_OK;
  if (first != other)
    TSL_DECK_FAIL(deck, "tri.other", "one set has %s, the other has none: give them for both",
                  what);
done:
  return err;
}

tsl_err tri_marks_join(const tsl_deck *deck, const tri_deck *s, const tri_marks *first,
                       const tri_marks *other, tri_marks *both) {
  tsl_err err = TSL_OK;
  const int64_t at = other->n;
  *both = (tri_marks){.n = first->n + other->n};
  if (s->self && (first->kind != NULL || other->kind != NULL))
    TSL_DECK_FAIL(deck, "tri.self", "the kinds are then the two sets; leave out those of points");
  TSL_TRY(check_both(deck, first->kind != NULL, other->kind != NULL, "kinds"));
  TSL_TRY(check_both(deck, first->region != NULL, other->region != NULL, "regions"));
  if (first->kind != NULL || s->self) TSL_TRY(alloc_kinds(both));
  if (first->kind != NULL) {
    TSL_TRY(join_kinds(other, 0, both));
    TSL_TRY(join_kinds(first, at, both));
  }
  if (s->self) TSL_TRY(kinds_of_sets(at, both));
  sort_names(both);
  if (first->region != NULL) {
    TSL_TRY(tsl_alloc(both->n, sizeof *both->region, "regions", (void **)&both->region));
    if (at > 0) memcpy(both->region, other->region, (size_t)at * sizeof *both->region);
    if (first->n > 0)
      memcpy(both->region + at, first->region, (size_t)first->n * sizeof *both->region);
  }
  if (first->weight != NULL || other->weight != NULL) {
    TSL_TRY(tsl_alloc(both->n, sizeof *both->weight, "weights", (void **)&both->weight));
    for (int64_t i = 0; i < both->n; i++) {
      const tri_marks *of = i < at ? other : first;
      both->weight[i] = of->weight != NULL ? of->weight[i < at ? i : i - at] : 1;
    }
  }
done:
  if (both->kinds < 1) both->kinds = 1;
  both->regions = first->regions > other->regions ? first->regions : other->regions;
  return err;
}
