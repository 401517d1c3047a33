/* What the readers of all formats share: whole files in checked memory, rows, choice of columns,
 * lines and numbers. */
#include "table_read.h"

#include "files.h"
#include "memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_WIDTH = 1 << 24 }; /* columns of a file, of which at most TABLE_MAX_COLUMNS are used */

/* ------------------------------------------------------------------ files */

tsl_err table_file_open(const char *path, FILE **file, int64_t *bytes) {
  tsl_err err = TSL_OK;
  struct stat info;
  /* O_NONBLOCK: a named pipe must not hang the run before it is refused */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  *file = NULL;
  if (fd < 0 || fstat(fd, &info) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode)) TSL_FAIL(TSL_ERR_INPUT, "'%s' is not a regular file", path);
  TSL_TRY(tsl_files_read(fd, "an input of this run"));
  *bytes = (int64_t)info.st_size;
  *file = fdopen(fd, "rb");
  if (*file == NULL) TSL_FAIL(TSL_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
  fd = -1;
done:
  if (fd >= 0) (void)close(fd);
  return err;
}

/** Half of the host's memory: what one array of the input may take. */
static int64_t memory_bound(void) {
  int64_t bytes = 0;
  const int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && tsl_mul_i64(pages, size, &bytes) ? bytes / 2 : INT64_MAX;
}

tsl_err table_check_memory(int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  if (bytes > memory_bound())
    TSL_FAIL(TSL_ERR_INPUT, "%s: %s needed, more than half of this host's memory (%s)", what,
             tsl_bytes_text((double)bytes, need),
             tsl_bytes_text(2.0 * (double)memory_bound(), have));
done:
  return err;
}

tsl_err table_file_load(const char *path, char **text, int64_t *bytes) {
  tsl_err err = TSL_OK;
  FILE *file = NULL;
  void *memory = NULL;
  *text = NULL;
  TSL_TRY(table_file_open(path, &file, bytes));
  TSL_TRY(table_check_memory(*bytes, path));
  TSL_TRY(tsl_alloc(*bytes + 1, 1, path, &memory));
  if ((int64_t)fread(memory, 1, (size_t)*bytes, file) != *bytes)
    TSL_FAIL(TSL_ERR_IO, "cannot read '%s': %s", path,
             ferror(file) ? strerror(errno) : "shrinking");
  *text = (char *)memory;
  memory = NULL;
done:
  tsl_free(memory);
  if (file != NULL) (void)fclose(file);
  return err;
}

/* ----------------------------------------------------------------- tables */

tsl_err table_rows_create(int64_t n, int64_t columns, const char *what, table_rows *table) {
  tsl_err err = TSL_OK;
  int64_t count = 0, bytes = 0;
  void *memory = NULL;
  if (n > TABLE_MAX_ROWS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld points; at most %lld are allowed", what, (long long)n,
             (long long)TABLE_MAX_ROWS);
  if (columns > TABLE_MAX_COLUMNS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld columns; at most %d are allowed", what, (long long)columns,
             TABLE_MAX_COLUMNS - 1);
  if (!tsl_mul_i64(n, columns, &count) || !tsl_mul_i64(count, sizeof(double), &bytes))
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld x %lld numbers overflow the address space", what,
             (long long)n, (long long)columns);
  TSL_TRY(table_check_memory(bytes, what));
  TSL_TRY(tsl_alloc(count, sizeof(double), what, &memory));
  *table = (table_rows){.values = memory, .n = n, .columns = columns};
done:
  return err;
}

void table_rows_clear(table_rows *table) {
  tsl_free(table->values);
  memset(table, 0, sizeof *table);
}

tsl_err table_rows_put(const table_source *source, const table_pick *pick, int64_t row,
                       int64_t column, double value, table_rows *table) {
  tsl_err err = TSL_OK;
  if (!isfinite(value))
    TSL_FAIL(TSL_ERR_INPUT, "%s: row %lld, column %lld (both from 0) is %s", source->path,
             (long long)row, (long long)pick->from[column], isnan(value) ? "NaN" : "infinite");
  table->values[row * table->columns + column] = value;
done:
  return err;
}

/* ---------------------------------------------------------------- columns */

static tsl_err check_column(const table_source *source, int64_t column, int64_t width) {
  tsl_err err = TSL_OK;
  if (column < 0 || column >= width)
    TSL_FAIL(TSL_ERR_INPUT, "%s: column %lld is asked for, but it has %lld columns (0 to %lld)",
             source->path, (long long)column, (long long)width, (long long)width - 1);
done:
  return err;
}

tsl_err table_pick_create(const table_source *source, int64_t width, table_pick *pick) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  const int64_t all = source->format == TABLE_FORMAT_XYZ ? 3 : width;
  const bool every = source->n_columns == 0;
  *pick = (table_pick){0};
  if (width > MAX_WIDTH)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld columns; at most %lld are read", source->path,
             (long long)width, (long long)MAX_WIDTH);
  TSL_TRY(tsl_alloc((every ? all : source->n_columns) + 1, sizeof(int64_t), "columns", &memory));
  pick->from = memory;
  for (int64_t c = 0; every && c < all; c++)
    if (c != source->extra) pick->from[pick->n++] = c;
  for (int64_t c = 0; c < source->n_columns; c++) pick->from[pick->n++] = source->columns[c];
  if (pick->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no column is left for coordinates", source->path);
  if (source->extra >= 0) pick->from[pick->n++] = source->extra;
  for (int64_t c = 0; c < pick->n; c++) TSL_TRY(check_column(source, pick->from[c], width));
done:
  if (err != TSL_OK) table_pick_clear(pick);
  return err;
}

void table_pick_clear(table_pick *pick) {
  tsl_free(pick->from);
  *pick = (table_pick){0};
}

/* ------------------------------------------------------------ lines, numbers */

void table_lines_open(const char *path, const char *text, int64_t bytes, char comment,
                      table_lines *lines) {
  *lines = (table_lines){.path = path, .at = text, .end = text + bytes, .comment = comment};
  if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) lines->at += 3;
}

bool table_lines_next(table_lines *lines) {
  const char *stop = NULL;
  if (lines->at >= lines->end) return false;
  stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
  lines->line = lines->at;
  lines->line_end = stop != NULL ? stop : lines->end;
  lines->at = stop != NULL ? stop + 1 : lines->end;
  lines->number++;
  if (lines->line_end > lines->line && lines->line_end[-1] == '\r') lines->line_end--;
  return true;
}

/** Start of the comment in [line, end), quoted text skipped, or end. */
static const char *comment_start(const char *line, const char *end, char comment) {
  bool quoted = false;
  for (const char *c = line; c < end; c++) {
    if (*c == '"') quoted = !quoted;
    if (*c == comment && !quoted) return c;
  }
  return end;
}

bool table_lines_content(table_lines *lines) {
  while (table_lines_next(lines)) {
    if (lines->comment != '\0')
      lines->line_end = comment_start(lines->line, lines->line_end, lines->comment);
    while (lines->line < lines->line_end && *lines->line == ' ') lines->line++;
    while (lines->line < lines->line_end && lines->line_end[-1] == ' ') lines->line_end--;
    if (lines->line < lines->line_end) return true;
  }
  return false;
}

static bool is_word(const char *text, const char *end, const char *word) {
  return (size_t)(end - text) == strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

/** Are these decimal digits of a whole number that double precision rounds? */
static bool is_rounded(const char *digits, const char *end, double value) {
  enum { SAFE = 15, ROOM = 320 };
  char exact[ROOM];
  while (digits < end - 1 && *digits == '0') digits++;
  if (end - digits <= SAFE) return false;
  for (const char *c = digits; c < end; c++)
    if (!isdigit((unsigned char)*c)) return false;
  (void)snprintf(exact, sizeof exact, "%.0f", fabs(value));
  return !is_word(digits, end, exact);
}

/** A number that is not 0 and turned into 0. */
static bool is_lost(const char *text, const char *end, double value) {
  if (value != 0) return false;
  for (const char *c = text; c < end && *c != 'e' && *c != 'E'; c++)
    if (*c >= '1' && *c <= '9') return true;
  return false;
}

table_number table_number_parse(const char *text, const char *end, double *value) {
  static const char *const unfit[] = {"nan", "inf", "infinity"};
  const char *unsigned_text = text < end && (*text == '-' || *text == '+') ? text + 1 : text;
  char *stop = NULL;
  for (int w = 0; w < 3; w++)
    if (is_word(unsigned_text, end, unfit[w])) return TABLE_NOT_FINITE;
  for (const char *c = text; c < end;
       c++) /* keeps strtod from hexadecimal and from leaving the field */
    if (!isdigit((unsigned char)*c) && strchr("+-.eE", *c) == NULL) return TABLE_NO_NUMBER;
  if (text == end || memchr(text, '\0', (size_t)(end - text)) != NULL) return TABLE_NO_NUMBER;
  *value = strtod(text, &stop);
  if (stop != end) return TABLE_NO_NUMBER;
  if (is_rounded(unsigned_text, end, *value) || is_lost(text, end, *value)) return TABLE_NOT_HELD;
  return isfinite(*value) ? TABLE_NUMBER : TABLE_NOT_FINITE;
}

const char *table_shown(const char *text, const char *end, char shown[48]) {
  const size_t length = (size_t)(end - text), kept = length < 40 ? length : 40;
  for (size_t c = 0; c < kept; c++) shown[c] = isprint((unsigned char)text[c]) ? text[c] : '?';
  (void)snprintf(shown + kept, 8, "%s", kept < length ? "..." : "");
  return shown;
}

bool table_decimal_comma(const char *text, const char *end) {
  char copy[64];
  double value;
  const char *comma = memchr(text, ',', (size_t)(end - text));
  if (comma == NULL || (size_t)(end - text) >= sizeof copy) return false;
  memcpy(copy, text, (size_t)(end - text));
  copy[end - text] = '\0';
  copy[comma - text] = '.';
  return table_number_parse(copy, copy + (end - text), &value) == TABLE_NUMBER;
}

/** Digits, blanks, digits: what is between two decimal commas that were taken for separators. */
static bool is_between_commas(const char *text, const char *end) {
  const char *c = text;
  while (c < end && isdigit((unsigned char)*c)) c++;
  const char *blank = c;
  while (c < end && isblank((unsigned char)*c)) c++;
  const char *digits = c + (c < end && (*c == '-' || *c == '+'));
  for (c = digits; c < end && isdigit((unsigned char)*c);) c++;
  return blank > text && digits > blank && c > digits && c == end;
}

/** What may be wrong with a field that is no number. */
static const char *find_hint(table_number verdict, const char *text, const char *end) {
  if (verdict == TABLE_NOT_HELD) return " that double precision can hold";
  if (table_decimal_comma(text, end)) return "; decimals have a point here, not a comma";
  if (is_between_commas(text, end))
    return "; a comma separates columns here, decimals have a point";
  return "";
}

tsl_err table_field_parse(const table_lines *lines, int64_t column, const char *text,
                          const char *end, double *value) {
  tsl_err err = TSL_OK;
  char shown[48];
  const table_number verdict = table_number_parse(text, end, value);
  if (verdict != TABLE_NUMBER)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: column %lld (from 0): '%s' is not a %snumber%s", lines->path,
             (long long)lines->number, (long long)column, table_shown(text, end, shown),
             verdict == TABLE_NOT_FINITE ? "finite " : "", find_hint(verdict, text, end));
done:
  return err;
}

tsl_err table_check_width(const table_source *source, const table_rows *table, int64_t wanted) {
  tsl_err err = TSL_OK;
  const long long columns = (long long)table->columns;
  if (table->columns == wanted) goto done;
  if (wanted == 1 && table->n == 1 && source->n_columns == 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: one row of %lld numbers where a series stands in one column; write one number "
             "per row, or name a column with columns: [0]",
             source->path, columns);
  if (wanted == 1)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: %lld columns where a series is one; name it with columns: [0], columns: [1] or "
             "so",
             source->path, columns);
  TSL_FAIL(TSL_ERR_INPUT, "%s: rows of %lld numbers where rows of %lld are expected", source->path,
           columns, (long long)wanted);
done:
  return err;
}
