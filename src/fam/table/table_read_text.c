/* Text: one point per line, fields separated by comma, semicolon, tab or blanks. */
#include "memory.h"
#include "table_read.h"

#include <string.h>
#include <strings.h>

typedef struct field {
  const char *text, *end;
} field;

typedef struct text {
  table_lines lines;
  char delimiter; /**< ' ' for runs of blanks and tabs */
  field *fields;  /**< shape [width] */
  int64_t width;  /**< fields per line */
  int64_t first;  /**< number of the line that set the width */
  table_pick pick;
} text;

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/** One past the end of the field that starts at c. */
static const char *field_end(const char *c, const char *end, char delimiter) {
  bool quoted = false;
  for (; c < end; c++) {
    if (*c == '"') quoted = !quoted;
    if (!quoted && (delimiter == ' ' ? is_blank(*c) : *c == delimiter)) break;
  }
  return c;
}

static field trimmed(const char *begin, const char *end) {
  while (begin < end && is_blank(*begin)) begin++;
  while (begin < end && is_blank(end[-1])) end--;
  if (end - begin >= 2 && *begin == '"' && end[-1] == '"') begin++, end--;
  return (field){begin, end};
}

/** Cut the current line; returns the number of fields, of which the first max are stored. */
static int64_t split(const text *t, field *fields, int64_t max) {
  int64_t n = 0;
  const char *c = t->lines.line, *end = t->lines.line_end;
  for (;;) {
    while (t->delimiter == ' ' && c < end && is_blank(*c)) c++;
    if (t->delimiter == ' ' && c == end) return n;
    const char *stop = field_end(c, end, t->delimiter);
    if (n < max) fields[n] = trimmed(c, stop);
    n++;
    if (stop == end) return n;
    c = stop + 1;
  }
}

static char find_delimiter(const table_lines *lines, int32_t wanted) {
  static const char fixed[] = {[TABLE_DELIMITER_COMMA] = ',',
                               [TABLE_DELIMITER_SEMICOLON] = ';',
                               [TABLE_DELIMITER_TAB] = '\t',
                               [TABLE_DELIMITER_BLANK] = ' '};
  static const char tries[] = {';', ',', '\t'};
  if (wanted != TABLE_DELIMITER_AUTO) return fixed[wanted];
  for (int t = 0; t < 3; t++)
    if (field_end(lines->line, lines->line_end, tries[t]) < lines->line_end) return tries[t];
  return ' ';
}

/** A missing value, as tables have them: no name of a column. */
static bool is_missing(field f) {
  static const char *const words[] = {"",  "na", "n/a", "null", "none", "missing", "#n/a", "nil",
                                      "-", "--", "?",   "*",    ".",    "<na>",    "nat"};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if ((size_t)(f.end - f.text) == strlen(words[w]) &&
        strncasecmp(f.text, words[w], strlen(words[w])) == 0)
      return true;
  return false;
}

static bool is_header(const text *t, int32_t header) {
  double value;
  if (header != TABLE_HEADER_AUTO) return header == TABLE_HEADER_YES;
  for (int64_t c = 0; c < t->pick.n; c++) {
    const field f = t->fields[t->pick.from[c]];
    if (table_number_parse(f.text, f.end, &value) != TABLE_NO_NUMBER || is_missing(f)) return false;
    if (table_decimal_comma(f.text, f.end)) return false;
  }
  return true;
}

/** Settle delimiter, width and columns by the first line with content. */
static tsl_err look_at_first(const table_source *source, text *t) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  t->delimiter = find_delimiter(&t->lines, source->delimiter);
  t->width = split(t, NULL, 0);
  t->first = t->lines.number;
  TSL_TRY(tsl_alloc(t->width, sizeof(field), "fields of a line", &memory));
  t->fields = memory;
  (void)split(t, t->fields, t->width);
  TSL_TRY(table_pick_create(source, t->width, &t->pick));
done:
  return err;
}

/** Lines with content from here on; an upper bound of the rows. */
static int64_t count_lines(table_lines lines) {
  int64_t n = 0;
  while (table_lines_content(&lines)) n++;
  return n;
}

static tsl_err read_row(const table_source *source, text *t, int64_t row, table_rows *table) {
  tsl_err err = TSL_OK;
  double value = 0;
  for (int64_t c = 0; c < t->pick.n; c++) {
    const field f = t->fields[t->pick.from[c]];
    TSL_TRY(table_field_parse(&t->lines, t->pick.from[c], f.text, f.end, &value));
    TSL_TRY(table_rows_put(source, &t->pick, row, c, value, table));
  }
done:
  return err;
}

/** Lines of whole numbers that commas cut into different numbers of fields: decimals, perhaps. */
static const char *comma_hint(const text *t) {
  const size_t n = (size_t)(t->lines.line_end - t->lines.line);
  const bool point = memchr(t->lines.line, '.', n) != NULL;
  return t->delimiter == ',' && !point ? "; a comma separates columns here, decimals have a point"
                                       : "";
}

static table_facts facts_of(const text *t, bool header) {
  const char *word = t->delimiter == ','    ? "commas"
                     : t->delimiter == ';'  ? "semicolons"
                     : t->delimiter == '\t' ? "tabs"
                                            : "blanks";
  table_facts facts = {.width = t->width, .header = header ? t->first : 0};
  (void)snprintf(facts.kind, sizeof facts.kind, "text with %s", word);
  if (header) (void)table_shown(t->lines.line, t->lines.line_end, facts.heading);
  return facts;
}

static tsl_err table_read_text_read_rows(const table_source *source, text *t, int64_t bytes,
                                         table_rows *table) {
  tsl_err err = TSL_OK;
  int64_t row = 0;
  const bool header = is_header(t, source->header);
  const table_facts facts = facts_of(t, header);
  bool more = !header || table_lines_content(&t->lines);
  /* a line of width fields has width bytes or more, so more lines than room are ragged */
  const int64_t lines = count_lines(t->lines) + 1, room = bytes / t->width + 1;
  TSL_TRY(table_rows_create(lines < room ? lines : room, t->pick.n, source->path, table));
  for (; more; more = table_lines_content(&t->lines), row++) {
    const int64_t n = split(t, t->fields, t->width);
    if (n != t->width || row == table->n)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %lld field%s, but line %lld has %lld%s", source->path,
               (long long)t->lines.number, (long long)n, n == 1 ? "" : "s", (long long)t->first,
               (long long)t->width, comma_hint(t));
    TSL_TRY(read_row(source, t, row, table));
  }
  table->n = row;
  table->facts = facts;
done:
  return err;
}

tsl_err table_read_text(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  char *memory = NULL;
  int64_t bytes = 0;
  text t = {0};
  TSL_TRY(table_file_load(source->path, &memory, &bytes));
  table_lines_open(source->path, memory, bytes, source->comment, &t.lines);
  if (table_lines_content(&t.lines)) {
    TSL_TRY(look_at_first(source, &t));
    TSL_TRY(table_read_text_read_rows(source, &t, bytes, table));
  } else {
    TSL_TRY(table_rows_create(0, source->n_columns + (source->extra >= 0), source->path, table));
  }
done:
  table_pick_clear(&t.pick);
  TSL_FREE_ALL(t.fields, memory);
  return err;
}
