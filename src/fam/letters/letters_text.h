/**
 * @file letters_text.h
 * One sequence of a file as it was written: a record of FASTA or FASTQ, or the whole of a text.
 */
#pragma once

#include "letters_scan.h"

/** What to read of a file of letters. */
typedef struct letters_text_ask {
  const char *path;
  int32_t format; /**< letters_format */
  int64_t record; /**< FASTA, FASTQ: from 1 */
  bool bytes;     /**< plain text: every byte is a letter; else blanks and line ends are none */
} letters_text_ask;

enum { LETTERS_NAME = 255 }; /* SAM has names of up to 254 characters */

/** A text as read. */
typedef struct letters_text {
  char *letters; /**< [n] not zero-ended, from tsl_alloc */
  int64_t n;
  int32_t format;          /**< never AUTO */
  char name[LETTERS_NAME]; /**< first word of a record's header, what is not printable as '?' */
} letters_text;

/** Letters of a text in memory, unpacked. @return TSL_ERR_INPUT naming the file */
tsl_err letters_text_parse(const letters_text_ask *ask, const char *bytes, int64_t n_bytes,
                           letters_text *out);

/** Line and column, from 1, of letter k (from 0) of a text that was parsed. */
void letters_text_place(const letters_text_ask *ask, const letters_text *text, const char *bytes,
                        int64_t n_bytes, int64_t k, int64_t *line, int64_t *column);
