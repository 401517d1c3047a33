/**
 * @file letters_source.h
 * The text of a file of records, read piece by piece: pieces begin where records do, and may be
 * read in any order by several threads.
 */
#pragma once

#include "letters_gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Where text comes from; release with letters_source_clear. */
typedef struct letters_source {
  const char *path;  /**< for messages */
  FILE *file;        /**< NULL: all is in memory */
  const char *bytes; /**< [n] where it is in memory, borrowed or `text` */
  char *text;        /**< from tsl_alloc: unpacked; or NULL */
  int64_t n;         /**< bytes of the text; before letters_source_unpack or _enter of the file */
  int64_t n_file;    /**< bytes of the file */
  bool packed;       /**< it is gzip, */
  const letters_entries *entries; /**< which is unpacked piece by piece, borrowed; or NULL */
  int32_t format;                 /**< LETTERS_FASTA or LETTERS_FASTQ, from letters_source_look */
} letters_source;

/** Memory of a thread for pieces that are not in memory. */
typedef struct letters_buffer {
  char *bytes;
  int64_t room;
  letters_inflater *inflater; /**< of the file that was read last; or NULL */
} letters_buffer;

/** Open a regular file. One thread at a time. @return TSL_ERR_INPUT or _IO */
tsl_err letters_source_open(const char *path, letters_source *out);

/** The same of bytes in memory, which are borrowed. */
letters_source letters_source_of(const char *path, const char *bytes, int64_t n);

/** Unpack gzip, all of it; nothing where it is none. @return as letters_unpack; _IO */
tsl_err letters_source_unpack(letters_source *s);

/** Pieces of gzip are unpacked when they are taken. @param[in] entries  borrowed */
void letters_source_enter(letters_source *s, const letters_entries *entries);

/** Where in the file one reads for byte `text` of the text. */
int64_t letters_source_place(const letters_source *s, int64_t text);

/** What is packed in an open file. */
letters_packed letters_source_packed(const letters_source *s);

/** The format by the beginning of the text, which has more than blanks or is all. @return as
 *  letters_source_look */
tsl_err letters_source_judge(const char *path, const char *bytes, int64_t n, int32_t *format);

/** Find the format. @return TSL_ERR_INPUT: nothing but blanks, or neither FASTA nor FASTQ */
tsl_err letters_source_look(letters_source *s, letters_buffer *buffer);

/** Bytes [lo, hi) of the text, as long as the buffer is not used again.
 *  @return TSL_ERR_INPUT for more than half of this host's memory; _IO, _MEMORY */
tsl_err letters_source_take(const letters_source *s, int64_t lo, int64_t hi, letters_buffer *buffer,
                            const char **bytes);

/**
 * Where in [from, to), from > 0, a record begins first. Of FASTA that is certain. Of FASTQ it is a
 * header if the text before it is records and nothing else: a line of quality may look like one.
 * @param[out] at  -1: nowhere, or behind FASTQ of more than a line of letters
 */
tsl_err letters_source_border(const letters_source *s, int64_t from, int64_t to,
                              letters_buffer *buffer, int64_t *at);

void letters_source_clear(letters_source *s);
void letters_buffer_clear(letters_buffer *buffer);
