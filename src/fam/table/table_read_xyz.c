/* XYZ: number of atoms, a comment line, then "symbol x y z [more]" with coordinates in angstrom. */
#include "memory.h"
#include "table_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_WORDS = 64 };

typedef struct word {
  const char *text, *end;
} word;

/** Blank-separated words of the current line; at most MAX_WORDS are stored. */
static int64_t split(const table_lines *lines, word words[MAX_WORDS]) {
  static const char blanks[] = " \t";
  int64_t n = 0;
  const char *c = lines->line, *end = lines->line_end;
  for (;;) {
    while (c < end && memchr(blanks, *c, 2) != NULL) c++;
    if (c == end) return n;
    const char *begin = c;
    while (c < end && memchr(blanks, *c, 2) == NULL) c++;
    if (n < MAX_WORDS) words[n] = (word){begin, c};
    n++;
  }
}

/** Extended XYZ says in its second line what the columns are. */
static tsl_err check_order(const table_source *source, const table_lines *lines) {
  static const char key[] = "Properties=", usual[] = "species:S:1:pos:R:3";
  tsl_err err = TSL_OK;
  const size_t n = (size_t)(lines->line_end - lines->line);
  const char *at = memmem(lines->line, n, key, sizeof key - 1);
  char shown[48];
  if (at == NULL || source->n_columns > 0) goto done;
  at += sizeof key - 1;
  if (at < lines->line_end && *at == '"') at++;
  if ((size_t)(lines->line_end - at) < sizeof usual - 1 ||
      strncasecmp(at, usual, sizeof usual - 1) != 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s:2: '%s' is not the order %s; say with columns: where x, y and z are (the word "
             "after the symbol is column 0)",
             lines->path, table_shown(at, lines->line_end, shown), usual);
done:
  return err;
}

/** First line: one count; second line: anything. */
static tsl_err read_count(const table_source *source, table_lines *lines, int64_t *n) {
  tsl_err err = TSL_OK;
  word words[MAX_WORDS];
  double value = 0;
  char shown[48];
  if (!table_lines_next(lines)) TSL_FAIL(TSL_ERR_INPUT, "%s: an empty XYZ file", lines->path);
  if (split(lines, words) != 1 ||
      table_number_parse(words[0].text, words[0].end, &value) != TABLE_NUMBER || value < 0 ||
      value > 9e15 || value != (double)(int64_t)value)
    TSL_FAIL(TSL_ERR_INPUT, "%s:1: '%s' is not a number of atoms", lines->path,
             table_shown(lines->line, lines->line_end, shown));
  *n = (int64_t)value;
  if (table_lines_next(lines)) TSL_TRY(check_order(source, lines));
done:
  return err;
}

static tsl_err read_atom(const table_source *source, const table_lines *lines,
                         const table_pick *pick, int64_t width, int64_t row, table_rows *table) {
  tsl_err err = TSL_OK;
  word words[MAX_WORDS];
  double value = 0;
  const int64_t n = split(lines, words);
  if (n != width)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %lld words where 'symbol x y z' and %lld more are expected",
             lines->path, (long long)lines->number, (long long)n, (long long)width - 4);
  for (int64_t c = 0; c < pick->n; c++) {
    const word w = words[pick->from[c] + 1];
    TSL_TRY(table_field_parse(lines, pick->from[c], w.text, w.end, &value));
    TSL_TRY(table_rows_put(source, pick, row, c, value, table));
  }
done:
  return err;
}

static bool only_blanks(const table_lines *lines) {
  for (const char *c = lines->line; c < lines->line_end; c++)
    if (*c != ' ' && *c != '\t') return false;
  return true;
}

/** Nothing but blank lines may follow. */
static tsl_err check_end(table_lines *lines, int64_t n) {
  tsl_err err = TSL_OK;
  while (table_lines_next(lines))
    if (!only_blanks(lines))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%lld: more lines than the %lld atoms of line 1 (one frame per file)",
               lines->path, (long long)lines->number, (long long)n);
done:
  return err;
}

/** Words of the first atom's line; 4 when there is none. */
static int64_t find_width(table_lines lines) {
  word words[MAX_WORDS];
  return table_lines_next(&lines) ? split(&lines, words) : 4;
}

static tsl_err read_atoms(const table_source *source, table_lines *lines, int64_t n,
                          table_rows *table) {
  tsl_err err = TSL_OK;
  table_pick pick = {0};
  const int64_t width = n > 0 ? find_width(*lines) : 4;
  if (width < 4 || width > MAX_WORDS)
    TSL_FAIL(TSL_ERR_INPUT, "%s:3: %lld words where 'symbol x y z' is expected", lines->path,
             (long long)width);
  if (n > (lines->end - lines->at) / 7 + 1) /* shortest atom: "H 0 0 0" */
    TSL_FAIL(TSL_ERR_INPUT, "%s:1: %lld atoms cannot be in a file this short", lines->path,
             (long long)n);
  TSL_TRY(table_pick_create(source, width - 1, &pick));
  TSL_TRY(table_rows_create(n, pick.n, source->path, table));
  table->facts = (table_facts){.kind = "XYZ", .width = width - 1};
  for (int64_t row = 0; row < n; row++) {
    if (!table_lines_next(lines))
      TSL_FAIL(TSL_ERR_INPUT, "%s: %lld atoms announced in line 1, %lld found", lines->path,
               (long long)n, (long long)row);
    TSL_TRY(read_atom(source, lines, &pick, width, row, table));
  }
  TSL_TRY(check_end(lines, n));
done:
  table_pick_clear(&pick);
  return err;
}

tsl_err table_read_xyz(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  char *memory = NULL;
  int64_t bytes = 0, n = 0;
  table_lines lines;
  TSL_TRY(table_file_load(source->path, &memory, &bytes));
  table_lines_open(source->path, memory, bytes, '\0', &lines);
  TSL_TRY(read_count(source, &lines, &n));
  TSL_TRY(read_atoms(source, &lines, n, table));
done:
  tsl_free(memory);
  return err;
}
