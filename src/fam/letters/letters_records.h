/**
 * @file letters_records.h
 * All records of FASTA or FASTQ files as codes.
 *
 * Read are: lines that end with LF, CR LF or CR, empty ones, blanks among letters, lower case,
 * headers without a name, comments of FASTA (lines that begin with ';'), letters and quality of
 * FASTQ on one line or several. Quality is counted and not kept.
 */
#pragma once

#include "error.h"
#include "letters.h"

enum { LETTERS_FILES = 2 /* most files of a set */ };

/** What to read. */
typedef struct letters_ask {
  const char *path;
  int32_t alphabet; /**< letters_alphabet; bytes: all but blanks */
} letters_ask;

/** Records as read, those of one file behind another's; release with letters_clear. */
typedef struct letters_set {
  int64_t n;                 /**< records, 1 or more */
  int64_t of[LETTERS_FILES]; /**< records of each file */
  int64_t *starts;           /**< [n + 1] where each record's codes begin; the last: how many */
  uint8_t *codes;            /**< [starts[n]] of the alphabet; each record has one or more */
  int64_t *name_at;          /**< [n + 1] where each name begins in names; the last: its length */
  char *names;               /**< first words of the headers, what is not printable as '?', each
                                    ended by 0 */
  int32_t highest;           /**< of the codes */
  char about[LETTERS_FILES][512]; /**< how each was read, one line for people: file, format,
                                       alphabet, sizes */
} letters_set;

/**
 * Read all records of files: FASTA or FASTQ by their first characters, plain or, by their first
 * bytes, gzip of one member or more. Work is shared (parallel.h): of plain text pieces that begin
 * where records do, which are read twice and not kept; of gzip files. Memory besides the set: 32 to
 * 56 bytes a record, of gzip its text, of each thread a piece: 1 MiB or the longest record.
 * @param[in]  n  1 to LETTERS_FILES
 * @param[out] failed  which file an error is of: of several the last one
 * @param[out] out  cleared on failure
 * @return TSL_ERR_INPUT with file, line and record, for: no record at all; a record without
 *         letters; a letter that the alphabet lacks; FASTQ without '+' or with a quality that is
 *         shorter or longer than its letters; a name (but "") given twice in a file; gzip that is
 *         cut off, corrupt or followed by something else. TSL_ERR_IO also for a file that changes
 */
tsl_err letters_read(const letters_ask *asks, int n, int *failed, letters_set *out);

/** The same of one file's bytes in memory; ask->path is their name in messages. */
tsl_err letters_parse(const letters_ask *ask, const char *bytes, int64_t n, letters_set *out);

/** The same in pieces of about so many bytes, 1 or more; the result does not depend on them. */
tsl_err letters_parse_pieces(const letters_ask *ask, const char *bytes, int64_t n, int64_t size,
                             letters_set *out);

/** Free a set and zero it. */
void letters_clear(letters_set *set);
