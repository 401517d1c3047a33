/* What a table was read from, in words. */
#include "table_read.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { LISTED = 8 /* columns named one by one */ };

/** A text that grows up to its size. */
typedef struct line {
  char *text;
  size_t size, used;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(l->text + l->used, l->size - l->used, format, arguments);
  va_end(arguments);
  l->used = n < 0 || (size_t)n >= l->size - l->used ? l->size - 1 : l->used + (size_t)n;
}

/** Names of files may hold anything. */
static void add_name(line *l, const char *name) {
  for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
    add(l, "%c", *c < 128 && !isprint(*c) ? '?' : *c);
}

/** Column of the file that is column c of the table, as table_pick_create has it. */
static int64_t column_of(const table_source *source, const table_rows *table, int64_t c) {
  if (source->extra >= 0 && c == table->columns - 1) return source->extra;
  if (source->n_columns > 0) return source->columns[c];
  return c + (source->extra >= 0 && source->extra <= c);
}

static void add_columns(line *l, const table_source *source, const table_rows *table) {
  const int64_t width = table->facts.width;
  if (source->n_columns == 0 && table->columns == width) {
    add(l, width == 1 ? ", 1 column" : ", all %lld columns", (long long)width);
    return;
  }
  add(l, ", column%s", table->columns == 1 ? "" : "s");
  for (int64_t c = 0; c < table->columns && c < LISTED; c++) {
    add(l, "%s %lld", c > 0 ? "," : "", (long long)column_of(source, table, c));
  }
  if (table->columns > LISTED) add(l, " and %lld more", (long long)(table->columns - LISTED));
  add(l, " of %lld", (long long)width);
}

void table_describe(const table_source *source, const table_rows *table, char *text, size_t size) {
  const table_facts *facts = &table->facts;
  line l = {text, size, 0};
  if (size == 0) return;
  add_name(&l, source->path);
  add(&l, ": %s", facts->kind);
  if (source->format == TABLE_FORMAT_HDF5) add(&l, " "), add_name(&l, source->dataset);
  add(&l, ", %lld row%s", (long long)table->n, table->n == 1 ? "" : "s");
  add_columns(&l, source, table);
  if (facts->header > 0)
    add(&l, ", line %lld skipped as a header ('%s')", (long long)facts->header, facts->heading);
}
