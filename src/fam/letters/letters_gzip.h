/**
 * @file letters_gzip.h
 * Text that gzip packed, from its beginning or from a place where it may be entered.
 *
 * Deflate (RFC 1951) refers to the 32 KiB of text before it, and who has these may go on at the end
 * of any of its blocks. A member (RFC 1952) refers to nothing before it: bgzip's have 64 KiB of
 * text at most. Checksums and lengths of members are checked where they are read from their
 * beginning.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

TSL_C_BEGIN

/** What is packed; borrowed. */
typedef struct letters_packed {
  const char *path;  /**< for messages */
  FILE *file;        /**< or NULL: */
  const char *bytes; /**< [n] */
  int64_t n;         /**< bytes of the file */
} letters_packed;

/** Where gzip may be entered; plain data. */
typedef struct letters_entry {
  int64_t text;    /**< bytes of text before it */
  int64_t at;      /**< the first byte of the file that is behind it in full */
  int64_t bits;    /**< so many bits of the byte before are, too; -1: a member begins */
  int64_t member;  /**< that it is in, from 1 */
  int64_t history; /**< where its text before begins in `histories`: up to the next one's */
} letters_entry;

/** Where a file may be entered: at its beginning, and every so many bytes. */
typedef struct letters_entries {
  letters_entry *list; /**< [n + 1], the last one: the end */
  int64_t n;           /**< 0: none, it is plain text */
  uint8_t *histories;  /**< [list[n].history] packed by zlib */
} letters_entries;

/** Unpacks a file, one thread at a time. */
typedef struct letters_inflater letters_inflater;

/** At the beginning. @param[out] out  letters_inflater_close() releases it; NULL on failure */
tsl_err letters_inflater_open(const letters_packed *packed, letters_inflater **out);
void letters_inflater_close(letters_inflater **inflater);

/** Is it of this open file? */
bool letters_inflater_is_of(const letters_inflater *inflater, const FILE *file);

/**
 * The next n bytes of text. @param[out] got  fewer only at the end
 * @return TSL_ERR_INPUT: cut off, damaged, or something else behind it
 */
tsl_err letters_inflater_read(letters_inflater *inflater, char *text, int64_t n, int64_t *got);

/** Go on with byte `text` of the text: from where it is, or the last entry before. */
tsl_err letters_inflater_go(letters_inflater *inflater, const letters_entries *entries,
                            int64_t text);

/**
 * From now on, at the beginning: note entries of what is read, which has its end when all is.
 * @param[in] apart  at least so many bytes of text between them; before those that have a history,
 *                   of 9 to 17 KiB, 8 to 64 times as many: as many as a 128th of the file has bytes
 * @param[in,out] entries  empty, borrowed; letters_entries_clear() releases them
 */
void letters_inflater_note(letters_inflater *inflater, int64_t apart, letters_entries *entries);

/** The last entry at byte `text` of the text or before it; the end is none. */
int64_t letters_entries_find(const letters_entries *entries, int64_t text);

void letters_entries_clear(letters_entries *entries);

TSL_C_END
