/**
 * @file table_read.h
 * Tables of numbers from files: text, NPY, HDF5 and XYZ, all delivered as rows of doubles. A row is
 * a point to those who read points.
 *
 * Files are hostile: sizes are checked before memory is taken, every number must be finite,
 * and messages name the file and the line (text, XYZ) or the row counted from 0 (NPY, HDF5).
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Most rows and columns of a table. */
#define TABLE_MAX_ROWS INT64_C(2147483519)
enum { TABLE_MAX_COLUMNS = (1 << 20) + 1 };

/** File formats in the order of the deck's words. */
typedef enum table_format {
  TABLE_FORMAT_AUTO, /**< by the first bytes, then by ".xyz", else text */
  TABLE_FORMAT_TEXT,
  TABLE_FORMAT_NPY,
  TABLE_FORMAT_HDF5,
  TABLE_FORMAT_XYZ
} table_format;

/** Separators of text in the order of the deck's words. */
typedef enum table_delimiter {
  TABLE_DELIMITER_AUTO, /**< the first of semicolon, comma, tab found in the first line, else blanks
                         */
  TABLE_DELIMITER_COMMA,
  TABLE_DELIMITER_SEMICOLON,
  TABLE_DELIMITER_TAB,
  TABLE_DELIMITER_BLANK /**< any run of blanks and tabs */
} table_delimiter;

/** Is the first line of a text a header? */
typedef enum table_header {
  TABLE_HEADER_AUTO, /**< yes when none of its wanted fields is a number, with a point or a comma */
  TABLE_HEADER_YES,
  TABLE_HEADER_NO
} table_header;

/** What to read; all pointers are borrowed. */
typedef struct table_source {
  const char *path;
  int32_t format;         /**< table_format; AUTO only for table_read_format */
  const char *dataset;    /**< HDF5 path of the dataset; may be NULL */
  int32_t delimiter;      /**< table_delimiter */
  int32_t header;         /**< table_header */
  char comment;           /**< text from here to the end of a line is ignored; 0: none */
  const int64_t *columns; /**< shape [n_columns], from 0 */
  int64_t n_columns;      /**< 0: all but extra (XYZ: 0, 1, 2) */
  int64_t extra;          /**< column delivered last (radius or mass), or -1 */
  bool deep; /**< HDF5: a dataset of three dimensions is taken as the rows of all its matrices */
} table_source;

/** What a reader found in the file, for table_describe. */
typedef struct table_facts {
  char kind[40];    /**< "text with commas", "NPY of f4" */
  int64_t width;    /**< columns of the file */
  int64_t header;   /**< line that was skipped as a header, from 1; 0: none */
  char heading[48]; /**< the beginning of that line */
} table_facts;

/** Rows read; release with table_rows_clear. */
typedef struct table_rows {
  double *values; /**< shape [n][columns]; when an extra column was asked for, it is the last */
  int64_t n;
  int64_t columns;
  table_facts facts;
} table_rows;

/**
 * The format of a file.
 * @param[out] format  never AUTO
 * @return TSL_ERR_INPUT when it cannot be opened or is no regular file, or of a known kind that is
 *         not read (compressed, UTF-16, ...): the message names it
 */
tsl_err table_read_format(const table_source *source, int32_t *format);

/** Read source->path in source->format (not AUTO). A file without a row is refused.
 *  @return TSL_ERR_INPUT, _IO or _MEMORY */
tsl_err table_read(const table_source *source, table_rows *table);

/**
 * How a file was read, as part of a line for people: "FILE: text with commas, 41 rows, columns 1, 2
 * of 4, line 1 skipped as a header ('name,lat,lon')". Printable characters only.
 */
void table_describe(const table_source *source, const table_rows *table, char *text, size_t size);

/**
 * Refuse a table whose rows are not of `wanted` numbers, 1 for a series: rows are never strung
 * together. @return TSL_ERR_INPUT saying how to name the columns
 */
tsl_err table_check_width(const table_source *source, const table_rows *table, int64_t wanted);

/** The readers behind table_read. */
tsl_err table_read_text(const table_source *source, table_rows *table);
tsl_err table_read_npy(const table_source *source, table_rows *table);
tsl_err table_read_h5(const table_source *source, table_rows *table);
tsl_err table_read_xyz(const table_source *source, table_rows *table);

/**
 * The side of table_read_h5 that reads (sandbox.h): writes int64 rows and columns, then all rows
 * with all columns as doubles. HDF5 may die in it. Global for tests.
 */
tsl_err table_h5_send(const table_source *source, int to);

/**
 * Memory for n rows, refused when rows, bytes or this host's memory do not allow it.
 * @param[in] what  the file, for messages
 */
tsl_err table_rows_create(int64_t n, int64_t columns, const char *what, table_rows *table);

/** Free the rows and zero the struct. */
void table_rows_clear(table_rows *table);

/* ------------------------------------------- for the readers */

/** Which columns of a file become columns of the table. */
typedef struct table_pick {
  int64_t *from; /**< shape [n] */
  int64_t n;
} table_pick;

/** Resolve source->columns for rows of width numbers; free with table_pick_clear. */
tsl_err table_pick_create(const table_source *source, int64_t width, table_pick *pick);
void table_pick_clear(table_pick *pick);

/** Store one finite number. @return TSL_ERR_INPUT naming row and file column for NaN and Inf */
tsl_err table_rows_put(const table_source *source, const table_pick *pick, int64_t row,
                       int64_t column, double value, table_rows *table);

/** Open a regular file for reading; *bytes is its size. */
tsl_err table_file_open(const char *path, FILE **file, int64_t *bytes);

/** Refuse what is more than half of this host's memory. @param[in] what  for the message
 *  @return TSL_ERR_INPUT */
tsl_err table_check_memory(int64_t bytes, const char *what);

/** Read a whole file; text is zero-ended; free with tsl_free. */
tsl_err table_file_load(const char *path, char **text, int64_t *bytes);

/** Lines of a text in memory. */
typedef struct table_lines {
  const char *path;
  const char *at, *end;
  int64_t number; /**< of the current line, from 1 */
  const char *line, *line_end;
  char comment;
} table_lines;

/** Start; skips a byte order mark. */
void table_lines_open(const char *path, const char *text, int64_t bytes, char comment,
                      table_lines *lines);
/** Next line as is, without its line end. @return false at the end */
bool table_lines_next(table_lines *lines);
/** Next line that is not empty, its comment and surrounding blanks cut off. */
bool table_lines_content(table_lines *lines);

/** Verdict on a field that should be a number. */
typedef enum table_number {
  TABLE_NUMBER,
  TABLE_NOT_FINITE,
  TABLE_NOT_HELD, /**< a whole number that double precision rounds, or one that it makes 0 */
  TABLE_NO_NUMBER
} table_number;

/** Decimal number in [text, end), nothing else allowed; end must be readable. */
table_number table_number_parse(const char *text, const char *end, double *value);

/** Would it be a number, if its comma were a point? */
bool table_decimal_comma(const char *text, const char *end);

/** Parse and report: "file:line: column c: 'abc' is not a number"; of a decimal comma a hint. */
tsl_err table_field_parse(const table_lines *lines, int64_t column, const char *text,
                          const char *end, double *value);

/** Printable copy of [text, end), shortened to 40 characters; returns shown. */
const char *table_shown(const char *text, const char *end, char shown[48]);
