/* Reads a frame of an XYZ file from its place. */
#include "trajectory.h"

#include "table_read.h"

#include <stdio.h>
#include <string.h>

typedef struct state {
  const char *path; /**< owned */
  FILE *file;
  char *text; /**< [room] of the frame that is read */
  int64_t room, n;
} state;

void trajectory_xyz_close(void *state_) {
  state *s = state_;
  if (s == NULL) return;
  if (s->file != NULL) (void)fclose(s->file);
  TSL_FREE_ALL((void *)s->path, s->text, s);
}

tsl_err trajectory_xyz_open(const char *path, void **out) {
  tsl_err err = TSL_OK;
  state *s = NULL;
  int64_t bytes = 0;
  char *name = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *s, "a reader of XYZ", (void **)&s));
  TSL_TRY(tsl_alloc((int64_t)strlen(path) + 1, 1, "a file's name", (void **)&name));
  memcpy(name, path, strlen(path) + 1);
  s->path = name;
  TSL_TRY(table_file_open(path, &s->file, &bytes));
done:
  if (err != TSL_OK) trajectory_xyz_close(s), s = NULL;
  *out = s;
  return err;
}

/** More of the file after what is there. @return TSL_ERR_INPUT at its end */
static tsl_err read_more(state *s, int64_t number) {
  enum { LEAST = 1 << 16 };
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&s->text, s->n, LEAST, &s->room, 1, "text of a frame"));
  const size_t n = fread(s->text + s->n, 1, (size_t)(s->room - s->n - 1), s->file);
  if (n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld ends before its last atom; has the file changed?",
             s->path, (long long)number);
  s->n += (int64_t)n;
done:
  return err;
}

/** Read until n lines are there. @param[out] bytes  of them */
static tsl_err read_lines(state *s, const trajectory_place *place, int64_t n, int64_t *bytes) {
  tsl_err err = TSL_OK;
  int64_t at = 0;
  s->n = 0;
  if (fseeko(s->file, (off_t)place->offset, SEEK_SET) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s: it cannot be read at byte %lld", s->path, (long long)place->offset);
  for (int64_t k = 0; k < n; k++) {
    const char *end = NULL;
    int64_t looked = at;
    while ((end = s->n > looked ? memchr(s->text + looked, '\n', (size_t)(s->n - looked)) : NULL) ==
           NULL) {
      looked = s->n;
      if (k == n - 1 && feof(s->file) && s->n > at) break; /* a last line without an end */
      TSL_TRY(read_more(s, place->number));
    }
    at = end == NULL ? s->n : end - s->text + 1;
  }
  *bytes = at;
done:
  return err;
}

/** Exact where digits and power of ten are exact in double precision (Clinger, PLDI 1990); else,
 *  and for all that is no plain decimal number, false. */
static bool parse_plain(const char *at, const char *end, double *value) {
  static const double tens[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool minus = at < end && *at == '-';
  int64_t digits = 0;
  int n = 0, decimals = 0;
  bool point = false;
  for (at += minus; at < end; at++) {
    if (*at == '.' && !point) {
      point = true;
      continue;
    }
    if (*at < '0' || *at > '9' || ++n > 15) return false;
    digits = 10 * digits + (*at - '0');
    decimals += point;
  }
  if (n == 0) return false;
  *value = (double)digits / tens[decimals];
  if (minus) *value = -*value;
  return true;
}

static tsl_err take_name(const table_lines *l, const char *begin, const char *end,
                         trajectory_name name) {
  tsl_err err = TSL_OK;
  char shown[48];
  if (end - begin >= TRAJECTORY_NAME)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: a symbol of more than %d letters: '%s'", l->path,
             (long long)l->number, TRAJECTORY_NAME - 1, table_shown(begin, end, shown));
  memset(name, 0, TRAJECTORY_NAME);
  memcpy(name, begin, (size_t)(end - begin));
done:
  return err;
}

/** @param[out] name  or NULL */
static tsl_err read_atom(const table_lines *l, const trajectory_comment *comment, double at[3],
                         char *name) {
  tsl_err err = TSL_OK;
  const char *c = l->line, *end = l->line_end;
  const int64_t column = comment->column, species = name != NULL ? comment->species : -1;
  const int64_t words = species < column + 3 ? column + 3 : species + 1;
  for (int64_t word = 0; word < words; word++) {
    while (c < end && (*c == ' ' || *c == '\t')) c++;
    const char *begin = c;
    while (c < end && *c != ' ' && *c != '\t') c++;
    if (begin == c)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %lld words where %lld or more are expected", l->path,
               (long long)l->number, (long long)word, (long long)words);
    if (word == species) TSL_TRY(take_name(l, begin, c, name));
    if (word >= column && word < column + 3 && !parse_plain(begin, c, &at[word - column]))
      TSL_TRY(table_field_parse(l, word, begin, c, &at[word - column]));
  }
done:
  return err;
}

tsl_err trajectory_xyz_read(void *state_, const trajectory_place *place, trajectory_frame *frame) {
  tsl_err err = TSL_OK;
  state *s = state_;
  trajectory_comment comment;
  table_lines l;
  int64_t bytes = 0;
  char where[512];
  TSL_TRY(read_lines(s, place, frame->n + 2, &bytes));
  s->text[bytes] = '\0';
  l = (table_lines){
      .path = s->path, .at = s->text, .end = s->text + bytes, .number = place->line - 1};
  (void)table_lines_next(&l);
  (void)table_lines_next(&l);
  (void)snprintf(where, sizeof where, "%.400s:%lld: frame %lld", s->path, (long long)l.number,
                 (long long)place->number);
  TSL_TRY(trajectory_comment_parse(l.line, l.line_end, where, &comment));
  frame->cell = comment.cell;
  if (frame->names != NULL && comment.species < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: Properties without species:S:1, and symbols are wanted", where);
  for (int64_t i = 0; i < frame->n; i++) {
    (void)table_lines_next(&l);
    TSL_TRY(
        read_atom(&l, &comment, frame->at + 3 * i, frame->names != NULL ? frame->names[i] : NULL));
  }
done:
  return err;
}
