/**
 * @file letters_index.h
 * Where records are in large files: one pass counts them, another checks them window by window.
 *
 * Memory is a mark of 48 bytes for each 128 KiB of text, 11 bytes a record for names while
 * they are compared, and a window. FASTQ with letters on several lines has no pieces that could be
 * told without reading it from its beginning: its text is in memory once. Gzip is unpacked from its
 * beginning by a thread a file, which counts its records on the way; then there are an entry and a
 * mark for each 1 to 8 MiB of its text, or each 128 KiB where its members are short.
 */
#pragma once

#include "letters_reader.h"

/** Release with letters_index_clear. */
typedef struct letters_index {
  int n;
  int64_t of[LETTERS_FILES];          /**< records of each file */
  int32_t format[LETTERS_FILES];      /**< letters_format */
  letters_mark *marks[LETTERS_FILES]; /**< [pieces + 1] */
  int64_t pieces[LETTERS_FILES];
  letters_entries entries[LETTERS_FILES]; /**< of gzip */
  int32_t highest;                        /**< of the codes */
  int64_t longest;                        /**< letters of a record */
  char about[LETTERS_FILES][512];
} letters_index;

/** Records [lo, hi) of all files, in their order; borrowed for the call. */
typedef struct letters_window {
  const int64_t *of; /**< [n] records of each file */
  int64_t lo, hi;
  const letters_set *set;
  int64_t at[LETTERS_FILES]; /**< which of the set record lo of each file is */
  letters_reader *other;     /**< another reader of the files, to look at single records */
} letters_window;

/** Who looks at the records on the way: those that all files have, as long as nothing is wrong. */
typedef struct letters_looker {
  tsl_err (*look)(void *context, const letters_window *window);
  void *context;
} letters_looker;

enum { LETTERS_INDEX_PIECE = 1 << 17 /* bytes: what is read in vain before and behind a window */ };

/** Root: index of files, in pieces of about so many bytes, 1 or more, on which records do not
 *  depend. @return as letters_read, whose parameters the others are */
tsl_err letters_index_make(const letters_ask *asks, int n, int64_t size,
                           const letters_looker *looker, int *failed, letters_index *out);

/** The files as readers take them. @param[out] files  [index->n] */
void letters_index_files(const letters_index *index, const letters_ask *asks,
                         letters_marked *files);

/** Name of record k of a file, by a reader that has nothing else to do; borrowed from it. */
tsl_err letters_index_name(letters_reader *reader, int file, int64_t k, const char **name);

void letters_index_clear(letters_index *index);
