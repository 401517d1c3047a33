/**
 * @file letters_records.h
 * All records of a FASTA or FASTQ file as codes.
 *
 * Read are: lines that end with LF, CR LF or CR, empty ones, blanks among letters, lower case,
 * headers without a name, comments of FASTA (lines that begin with ';'), letters and quality of
 * FASTQ on one line or several. Quality is counted and not kept.
 */
#ifndef TSL_FAM_LETTERS_RECORDS_H
#define TSL_FAM_LETTERS_RECORDS_H

#include "error.h"
#include "letters.h"

/** What to read. */
typedef struct letters_ask {
  const char *path;
  int32_t alphabet; /**< letters_alphabet; bytes: all but blanks */
} letters_ask;

/** Records as read; release with letters_clear. */
typedef struct letters_set {
  int64_t n;        /**< records, 1 or more */
  int64_t *starts;  /**< [n + 1] where each record's codes begin; the last: their number */
  uint8_t *codes;   /**< [starts[n]] of the alphabet; each record has one or more */
  int64_t *name_at; /**< [n + 1] where each name begins in names; the last: its length */
  char *names;     /**< first words of the headers, what is not printable as '?', each ended by 0 */
  char about[512]; /**< how it was read, one line for people: file, format, alphabet, sizes */
} letters_set;

/**
 * Read all records of a file: FASTA or FASTQ by its first character, plain or, by its first bytes,
 * gzip of one member or more. Threads: any. Memory: that of the file's text besides the set.
 * @param[out] out  cleared on failure
 * @return TSL_ERR_INPUT with file, line and record, for: no record at all; a record without
 *         letters; a letter that the alphabet lacks; FASTQ without '+' or with a quality that is
 *         shorter or longer than its letters; a name (but "") given twice; gzip that is cut off,
 *         corrupt or followed by something else
 */
tsl_err letters_read(const letters_ask *ask, letters_set *out);

/** The same of bytes in memory; ask->path is their name in messages. */
tsl_err letters_parse(const letters_ask *ask, const char *bytes, int64_t n, letters_set *out);

/** Free a set and zero it. */
void letters_clear(letters_set *set);

#endif
