/**
 * @file letters_scan.h
 * FASTA, FASTQ and plain letters in memory, part by part: headers, and lines of letters.
 *
 * Lines end with LF, CR LF or CR; blanks and empty lines are layout; of FASTA, lines that begin
 * with ';' are comments. FASTQ may have its letters and its quality on several lines: as many
 * characters of quality are read as there are letters, also where a line of them begins with '@'.
 * Threads: one scan each. Time linear in the bytes.
 */
#pragma once

#include "error.h"
#include "letters.h"

#include <stdbool.h>
#include <stdint.h>

/** Formats of files of letters, in the order of the deck's words. */
typedef enum letters_format {
  LETTERS_AUTO,  /**< by the file's name and its first character, else plain text */
  LETTERS_FASTA, /**< records behind lines that begin with '>' */
  LETTERS_FASTQ, /**< records behind lines that begin with '@', with a quality for each letter */
  LETTERS_PLAIN  /**< the whole file is one sequence */
} letters_format;

/** Words of `format`, ended by NULL. */
extern const char *const letters_format_words[];

/** What was found. */
typedef enum letters_part { LETTERS_END, LETTERS_HEADER, LETTERS_LINE } letters_part;

/** Bytes not yet read, and the line before them. */
typedef struct letters_scan {
  const char *path; /**< for messages */
  int32_t format;   /**< letters_format, not AUTO */
  const char *at, *end;
  const char *feed, *carriage; /**< the next LF and CR from `at` on, or the end */
  const char *line;
  int64_t length, number; /**< of the line, without its end; from 1 */
  int64_t record;         /**< headers seen */
  const char *header;     /**< the last one, with what it begins with; NULL before the first */
  int64_t header_length;
  int64_t letters;            /**< of the line: all but blanks */
  int64_t wanted, had;        /**< letters of the record so far; FASTQ: characters of its quality */
  const letters_coder *coder; /**< NULL, or set between calls: lines that are letters alone are */
  uint8_t *codes;             /**< [room] encoded to here, if they fit */
  int64_t room;
  bool encoded; /**< the line is */
} letters_scan;

/** First byte behind a byte order mark. */
const char *letters_skip_mark(const char *bytes, int64_t n);

/** First byte that is neither of a byte order mark nor blank; the end without one. */
const char *letters_first(const char *bytes, int64_t n);

/** Begin. Where bytes are not a file's first ones, they begin with a header, and number and record
 *  are set to the lines and records before it.
 *  @param[in] path,bytes  borrowed as long as the scan */
letters_scan letters_scan_begin(const char *path, int32_t format, const char *bytes, int64_t n);

/**
 * The next header or line of letters, which may be blank; line, length and number are its own.
 * @return TSL_ERR_INPUT with file, line and record: FASTQ without '+', with a quality that is
 *         shorter or longer than its letters, or with something else where a header should be
 */
tsl_err letters_scan_next(letters_scan *scan, letters_part *part);

enum { LETTERS_PLACE = 2048 };

/** "FILE:LINE: record NUMBER 'NAME'", the line read last and the header before it; returns said. */
const char *letters_scan_place(const letters_scan *scan, char said[LETTERS_PLACE]);

/** First word of the last header, what is not printable as '?', cut to room - 1 characters;
 *  without room nothing is written. @return characters of the whole word */
int64_t letters_scan_name(const letters_scan *scan, char *name, int64_t room);
