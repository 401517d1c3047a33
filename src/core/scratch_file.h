/**
 * @file scratch_file.h
 * A file for what does not fit in memory: nameless, of one process, gone when it ends, however that
 * is.
 */
#pragma once

#include "error.h"

#include <stdint.h>

TSL_C_BEGIN

/** Bytes that were appended can be read again. */
typedef struct tsl_scratch_file {
  int fd;              /**< when open */
  int64_t used, limit; /**< bytes */
  const char *folder;  /**< not owned; NULL: not open */
} tsl_scratch_file;

/**
 * Open it in a folder, where it has no name.
 * @param[in]  folder  lives as long as the file
 * @param[in]  limit   bytes at most
 * @param[out] file    tsl_scratch_close() closes it; not open on failure
 * @return TSL_ERR_INPUT: not a folder in which this process may make files
 */
tsl_err tsl_scratch_open(const char *folder, int64_t limit, tsl_scratch_file *file);

/** Bytes that its file system has free for this user. */
int64_t tsl_scratch_free(const tsl_scratch_file *file);

/** Append n bytes. *at: where they are.
 *  @return TSL_ERR_IO: they are more than the limit leaves, or than the disk has room for */
tsl_err tsl_scratch_append(tsl_scratch_file *file, const void *bytes, int64_t n, int64_t *at);

/** Read n bytes that were appended at a place. @return TSL_ERR_IO */
tsl_err tsl_scratch_read(const tsl_scratch_file *file, int64_t at, int64_t n, void *bytes);

/** Close and forget it; nothing where it is not open. */
void tsl_scratch_close(tsl_scratch_file *file);

TSL_C_END
