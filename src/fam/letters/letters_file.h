/**
 * @file letters_file.h
 * Whole files of letters in memory; what gzip has packed is unpacked.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A file's text; release with letters_file_clear. */
typedef struct letters_file {
  char *bytes; /**< [n] from tsl_alloc */
  int64_t n;
  bool packed; /**< it was gzip */
} letters_file;

/** Read a regular file and, where its first bytes are those of gzip, unpack it.
 *  @return TSL_ERR_INPUT also for more than half of this host's memory; _IO, _MEMORY */
tsl_err letters_file_load(const char *path, letters_file *out);

void letters_file_clear(letters_file *file);

/** Bytes [lo, hi) of an open file; threads share it. @return TSL_ERR_IO */
tsl_err letters_file_read(FILE *file, const char *path, int64_t lo, int64_t hi, char *to);

/** Do bytes begin as those of gzip do (RFC 1952)? */
bool letters_is_packed(const char *bytes, int64_t n);

/**
 * All members of a gzip file, one after another, as bgzip writes them; checksums and lengths are
 * checked. Memory: the text, and up to twice as much on the way.
 * @param[in]  path  for messages
 * @param[out] text  [*n_text] from tsl_alloc; NULL on failure
 * @return TSL_ERR_INPUT: cut off, damaged, something else behind it, or more than half of this
 *         host's memory
 */
tsl_err letters_unpack(const char *path, const char *bytes, int64_t n, char **text,
                       int64_t *n_text);

/** Printable copy of a file's name, its end where it is long; returns shown. */
const char *letters_shown_file(const char *file, char shown[104]);
