/* The frames of an XYZ file are found by counting lines; of each only the head is looked at. */
#include "trajectory.h"

#include "table_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_ROOM = 4096, WHERE = 512 };

/* ------------------------------------------------------------- the comment */

/** The value of `key=` in a comment, without its quotes. @return NULL: it is not there */
static const char *find_value(const char *text, const char *end, const char *key,
                              const char **value_end) {
  const size_t n = strlen(key);
  for (const char *at = text; at + n < end; at++) {
    if (strncasecmp(at, key, n) != 0 || at[n] != '=') continue;
    if (at > text && at[-1] != ' ' && at[-1] != '\t') continue;
    at += n + 1;
    const bool quoted = at < end && (*at == '"' || *at == '\'');
    const char quote = quoted ? *at++ : ' ';
    const char *stop = at;
    while (stop < end && *stop != quote && (quoted || *stop != '\t')) stop++;
    *value_end = stop;
    return at;
  }
  return NULL;
}

/** The next word of a text. @return false: there is none */
static bool next_word(const char **at, const char *end, const char **word_end) {
  while (*at < end && (**at == ' ' || **at == '\t')) (*at)++;
  *word_end = *at;
  while (*word_end < end && **word_end != ' ' && **word_end != '\t') (*word_end)++;
  return *at < *word_end;
}

static tsl_err parse_lattice(const char *at, const char *end, const char *where,
                             trajectory_cell *cell) {
  tsl_err err = TSL_OK;
  const char *word_end = NULL;
  char shown[48];
  for (int k = 0; k < 9; k++, at = word_end)
    if (!next_word(&at, end, &word_end) ||
        table_number_parse(at, word_end, &cell->vectors[k / 3][k % 3]) != TABLE_NUMBER)
      TSL_FAIL(TSL_ERR_INPUT, "%s: Lattice needs 9 numbers; number %d is '%s'", where, k + 1,
               table_shown(at, word_end, shown));
  if (next_word(&at, end, &word_end))
    TSL_FAIL(TSL_ERR_INPUT, "%s: Lattice has more than 9 numbers", where);
  cell->given = 1;
  for (int k = 0; k < 3; k++) cell->periodic[k] = 1;
done:
  return err;
}

static tsl_err parse_periodic(const char *at, const char *end, const char *where,
                              trajectory_cell *cell) {
  tsl_err err = TSL_OK;
  const char *word_end = NULL;
  for (int k = 0; k < 3; k++, at = word_end) {
    if (!next_word(&at, end, &word_end) || strchr("TtFf10", *at) == NULL)
      TSL_FAIL(TSL_ERR_INPUT, "%s: pbc needs three of T and F", where);
    cell->periodic[k] = cell->given && strchr("Tt1", *at) != NULL;
  }
done:
  return err;
}

/** "species:S:1:pos:R:3:...": where pos begins, and species. */
static tsl_err parse_properties(const char *at, const char *end, const char *where,
                                trajectory_comment *c) {
  tsl_err err = TSL_OK;
  int64_t before = 0;
  c->column = c->species = -1;
  while (at < end) {
    const char *type = memchr(at, ':', (size_t)(end - at));
    const char *count = type == NULL ? NULL : memchr(type + 1, ':', (size_t)(end - type - 1));
    if (count == NULL) break;
    const long n = strtol(count + 1, NULL, 10);
    if (n < 1 || n > 1000) break;
    if (type - at == 3 && strncasecmp(at, "pos", 3) == 0 && n == 3) c->column = before;
    if (type - at == 7 && strncasecmp(at, "species", 7) == 0 && n == 1) c->species = before;
    before += n;
    at = memchr(count + 1, ':', (size_t)(end - count - 1));
    if (at == NULL) break;
    at++;
  }
  if (c->column < 0) TSL_FAIL(TSL_ERR_INPUT, "%s: Properties without pos:R:3", where);
done:
  return err;
}

tsl_err trajectory_comment_parse(const char *text, const char *end, const char *where,
                                 trajectory_comment *comment) {
  tsl_err err = TSL_OK;
  const char *stop = NULL, *at = NULL;
  *comment = (trajectory_comment){.column = 1};
  if ((at = find_value(text, end, "Lattice", &stop)) != NULL)
    TSL_TRY(parse_lattice(at, stop, where, &comment->cell));
  if ((at = find_value(text, end, "pbc", &stop)) != NULL)
    TSL_TRY(parse_periodic(at, stop, where, &comment->cell));
  if ((at = find_value(text, end, "Properties", &stop)) != NULL)
    TSL_TRY(parse_properties(at, stop, where, comment));
done:
  return err;
}

/* ------------------------------------------------------------------- lines */

/** A file, line by line. */
typedef struct lines {
  const char *path;
  FILE *file;
  char *buffer; /**< [ROOM] */
  size_t at, n;
  int64_t offset, number;   /**< of the line after this one; of this one, from 1 */
  char text[LINE_ROOM + 1]; /**< its beginning */
  size_t length;            /**< of text */
  bool cut;                 /**< it is longer than text */
  bool ended;               /**< by a line end, not by the end of the file */
} lines;

enum { ROOM = 1 << 18 };

static void keep(lines *l, const char *from, size_t n) {
  const size_t room = LINE_ROOM - l->length, m = n < room ? n : room;
  memcpy(l->text + l->length, from, m);
  l->length += m;
  l->cut |= m < n;
}

/** @return false at the end of the file */
static bool next_line(lines *l) {
  bool any = false;
  l->length = 0, l->cut = l->ended = false;
  while (!l->ended) {
    if (l->at == l->n) {
      l->at = 0, l->n = fread(l->buffer, 1, ROOM, l->file);
      if (l->n == 0) break;
    }
    const char *from = l->buffer + l->at, *end = memchr(from, '\n', l->n - l->at);
    const size_t n = end != NULL ? (size_t)(end - from) : l->n - l->at;
    keep(l, from, n);
    l->ended = end != NULL, any = true;
    l->at += n + l->ended;
    l->offset += (int64_t)n + l->ended;
  }
  l->number += any;
  if (!l->cut && l->length > 0 && l->text[l->length - 1] == '\r') l->length--;
  l->text[l->length] = '\0';
  return any;
}

static int64_t words_of(const lines *l) {
  const char *at = l->text, *end = at + l->length, *stop = NULL;
  int64_t n = 0;
  for (; next_word(&at, end, &stop); at = stop) n++;
  return n;
}

/* ------------------------------------------------------------------ frames */

/** Where in the file, for messages. */
static const char *where_of(const lines *l, int64_t line, int64_t frame, char text[WHERE]) {
  (void)snprintf(text, WHERE, "%.400s:%lld: frame %lld", l->path, (long long)line,
                 (long long)frame);
  return text;
}

static tsl_err read_count(const lines *l, int64_t frame, int64_t *n) {
  tsl_err err = TSL_OK;
  const char *at = l->text, *end = at + l->length, *stop = NULL, *rest = NULL;
  double value = 0;
  char where[WHERE], shown[48];
  const bool one = next_word(&at, end, &stop) && (rest = stop) && !next_word(&rest, end, &rest);
  if (!one || table_number_parse(at, stop, &value) != TABLE_NUMBER || value < 1 ||
      value > (double)TABLE_MAX_ROWS || value != (double)(int64_t)value)
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' is not a number of atoms",
             where_of(l, l->number, frame, where), table_shown(l->text, end, shown));
  *n = (int64_t)value;
done:
  return err;
}

static tsl_err add_frame(const lines *l, const trajectory_place *place, const trajectory_cell *cell,
                         int64_t room[2], trajectory *t) {
  tsl_err err = TSL_OK;
  char where[WHERE];
  TSL_TRY(tsl_grow((void **)&t->places, t->n, 1, &room[0], sizeof *t->places, "frames"));
  TSL_TRY(tsl_grow((void **)&t->cells, t->n, 1, &room[1], sizeof *t->cells, "cells of frames"));
  if (t->n > 0 && cell->given != t->cells[0].given)
    TSL_FAIL(TSL_ERR_INPUT, "%s has %s, the first one has %s",
             where_of(l, place->line + 1, place->number, where),
             cell->given ? "a Lattice" : "no Lattice", cell->given ? "none" : "one");
  t->places[t->n] = *place, t->cells[t->n] = *cell;
  t->n_cells = ++t->n;
done:
  return err;
}

/** The last frame lacks something: an error only where no other is before it. */
static tsl_err leave_out(const lines *l, const trajectory_place *place, int64_t n, int64_t found,
                         trajectory *t) {
  tsl_err err = TSL_OK;
  (void)snprintf(t->note, sizeof t->note,
                 "frame %lld of line %lld is cut off (%lld atoms announced, %lld found) and left "
                 "out",
                 (long long)place->number, (long long)place->line, (long long)n, (long long)found);
  if (t->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: %s; there is no other", l->path, t->note);
done:
  return err;
}

/** The frame whose first line is the current one. @param[out] whole  it is all there */
static tsl_err take_frame(lines *l, int64_t offset, int64_t room[2], trajectory *t, bool *whole) {
  tsl_err err = TSL_OK;
  const trajectory_place place = {.number = t->n + 1, .offset = offset, .line = l->number};
  trajectory_comment comment = {.column = 1};
  int64_t n = 0, found = 0;
  char where[WHERE];
  TSL_TRY(read_count(l, place.number, &n));
  if (t->n > 0 && n != t->n_atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s has %lld atoms, the first one %lld",
             where_of(l, place.line, place.number, where), (long long)n, (long long)t->n_atoms);
  if (next_line(l)) {
    if (l->cut)
      TSL_FAIL(TSL_ERR_INPUT, "%s: a comment of more than %d characters",
               where_of(l, l->number, place.number, where), LINE_ROOM);
    TSL_TRY(trajectory_comment_parse(l->text, l->text + l->length,
                                     where_of(l, l->number, place.number, where), &comment));
    while (found < n && next_line(l)) found++;
  }
  if (found == n && !l->ended && words_of(l) < comment.column + 3) found--; /* cut in a line */
  *whole = found == n;
  t->n_atoms = n;
  TSL_TRY(*whole ? add_frame(l, &place, &comment.cell, room, t)
                 : leave_out(l, &place, n, found, t));
done:
  return err;
}

tsl_err trajectory_xyz_scan(const char *path, trajectory *t) {
  tsl_err err = TSL_OK;
  lines *l = NULL;
  int64_t bytes = 0, room[2] = {0, 0};
  bool whole = true;
  TSL_TRY(tsl_alloc(1, sizeof *l, "lines", (void **)&l));
  TSL_TRY(tsl_alloc(ROOM, 1, "lines", (void **)&l->buffer));
  l->path = path;
  TSL_TRY(table_file_open(path, &l->file, &bytes));
  for (int64_t offset = 0; whole && next_line(l); offset = l->offset)
    if (words_of(l) > 0) TSL_TRY(take_frame(l, offset, room, t, &whole));
  if (ferror(l->file)) TSL_FAIL(TSL_ERR_IO, "%s: it cannot be read", path);
  if (t->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: an empty XYZ file", path);
done:
  if (l != NULL && l->file != NULL) (void)fclose(l->file);
  if (l != NULL) tsl_free(l->buffer);
  tsl_free(l);
  return err;
}
