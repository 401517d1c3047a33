/**
 * @file tri_read.h
 * Points from files: text, NPY, HDF5 and XYZ, all delivered as rows of doubles.
 *
 * Files are hostile: sizes are checked before memory is taken, every number must be finite,
 * and messages name the file and the line (text, XYZ) or the row counted from 0 (NPY, HDF5).
 */
#ifndef TSL_FAM_TRI_READ_H
#define TSL_FAM_TRI_READ_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** File formats in the order of the deck's words. */
typedef enum tri_format {
  TRI_FORMAT_AUTO, /**< by the first bytes, then by ".xyz", else text */
  TRI_FORMAT_TEXT,
  TRI_FORMAT_NPY,
  TRI_FORMAT_HDF5,
  TRI_FORMAT_XYZ
} tri_format;

/** Separators of text in the order of the deck's words. */
typedef enum tri_delimiter {
  TRI_DELIMITER_AUTO, /**< the first of semicolon, comma, tab found in the first line, else blanks
                       */
  TRI_DELIMITER_COMMA,
  TRI_DELIMITER_SEMICOLON,
  TRI_DELIMITER_TAB,
  TRI_DELIMITER_BLANK /**< any run of blanks and tabs */
} tri_delimiter;

/** Is the first line of a text a header? */
typedef enum tri_header {
  TRI_HEADER_AUTO, /**< yes when none of its wanted fields is a number */
  TRI_HEADER_YES,
  TRI_HEADER_NO
} tri_header;

/** What to read; all pointers are borrowed. */
typedef struct tri_source {
  const char *path;
  int32_t format;         /**< tri_format; AUTO only for tri_read_format */
  const char *dataset;    /**< HDF5 path of the dataset; may be NULL */
  int32_t delimiter;      /**< tri_delimiter */
  int32_t header;         /**< tri_header */
  char comment;           /**< text from here to the end of a line is ignored; 0: none */
  const int64_t *columns; /**< shape [n_columns], from 0 */
  int64_t n_columns;      /**< 0: all but extra (XYZ: 0, 1, 2) */
  int64_t extra;          /**< column delivered last (radius or mass), or -1 */
} tri_source;

/** Rows read; release with tri_table_clear. */
typedef struct tri_table {
  double *values; /**< shape [n][columns]; when an extra column was asked for, it is the last */
  int64_t n;
  int64_t columns;
} tri_table;

/**
 * The format of a file.
 * @param[out] format  never AUTO
 * @return TSL_ERR_INPUT when it cannot be opened or is no regular file
 */
tsl_err tri_read_format(const tri_source *source, int32_t *format);

/** Read source->path in source->format (not AUTO). @return TSL_ERR_INPUT, _IO or _MEMORY */
tsl_err tri_read(const tri_source *source, tri_table *table);

/** The readers behind tri_read. */
tsl_err tri_read_text(const tri_source *source, tri_table *table);
tsl_err tri_read_npy(const tri_source *source, tri_table *table);
tsl_err tri_read_h5(const tri_source *source, tri_table *table);
tsl_err tri_read_xyz(const tri_source *source, tri_table *table);

/**
 * Memory for n rows, refused when rows, bytes or this host's memory do not allow it.
 * @param[in] what  the file, for messages
 */
tsl_err tri_table_create(int64_t n, int64_t columns, const char *what, tri_table *table);

/** Free the rows and zero the struct. */
void tri_table_clear(tri_table *table);

/* ------------------------------------------- for the readers */

/** Which columns of a file become columns of the table. */
typedef struct tri_pick {
  int64_t *from; /**< shape [n] */
  int64_t n;
} tri_pick;

/** Resolve source->columns for rows of width numbers; free with tri_pick_clear. */
tsl_err tri_pick_create(const tri_source *source, int64_t width, tri_pick *pick);
void tri_pick_clear(tri_pick *pick);

/** Store one finite number. @return TSL_ERR_INPUT naming row and file column for NaN and Inf */
tsl_err tri_table_put(const tri_source *source, const tri_pick *pick, int64_t row, int64_t column,
                      double value, tri_table *table);

/** Open a regular file for reading; *bytes is its size. */
tsl_err tri_file_open(const char *path, FILE **file, int64_t *bytes);

/** Read a whole file; text is zero-ended; free with tsl_free. */
tsl_err tri_file_load(const char *path, char **text, int64_t *bytes);

/** Lines of a text in memory. */
typedef struct tri_lines {
  const char *path;
  const char *at, *end;
  int64_t number; /**< of the current line, from 1 */
  const char *line, *line_end;
  char comment;
} tri_lines;

/** Start; skips a byte order mark. */
void tri_lines_open(const char *path, const char *text, int64_t bytes, char comment,
                    tri_lines *lines);
/** Next line as is, without its line end. @return false at the end */
bool tri_lines_next(tri_lines *lines);
/** Next line that is not empty, its comment and surrounding blanks cut off. */
bool tri_lines_content(tri_lines *lines);

/** Verdict on a field that should be a number. */
typedef enum tri_number { TRI_NUMBER, TRI_NOT_FINITE, TRI_NO_NUMBER } tri_number;

/** Decimal number in [text, end), nothing else allowed; end must be readable. */
tri_number tri_number_parse(const char *text, const char *end, double *value);

/** Parse and report: "file:line: column c: 'abc' is not a number". */
tsl_err tri_field_parse(const tri_lines *lines, int64_t column, const char *text, const char *end,
                        double *value);

/** Printable copy of [text, end), shortened to fit; returns shown. */
const char *tri_shown(const char *text, const char *end, char shown[48]);

#endif
