/**
 * @file new_file.h
 * Files that are written whole: nobody sees half of one, and none goes through a link.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

TSL_C_BEGIN

/** A file that is being written as PATH.part. */
typedef struct tsl_new_file {
  FILE *stream;
  char *path, *part;
} tsl_new_file;

/** Begin PATH.part; one that a dead run has left is replaced, one that a living run writes is not.
 *  @return TSL_ERR_IO */
tsl_err tsl_new_file_open(const char *path, tsl_new_file *file);

/**
 * End it: with err TSL_OK it gets its name once it is on disk, else it is removed. A file that is
 * there is replaced where tsl_files_replace() says so. In any state, twice too.
 * @return err, or TSL_ERR_IO
 */
tsl_err tsl_new_file_close(tsl_new_file *file, tsl_err err);

/** Write n bytes to an open file, as often as it takes. @return false: errno says why not */
bool tsl_write_all(int fd, const void *bytes, int64_t n);

/**
 * Lock an open file for this process alone, as long as it is open. The lock of a run that was just
 * killed is waited for, up to 5 s. A file system without locks tells nothing of others.
 * @return false: a living run has it
 */
bool tsl_lock_file(int fd);

/** Could PATH.part be begun? Nothing is left. @return 0, or errno of why not */
int tsl_new_file_try(const char *path);

/** A stream to a file that must not exist yet, for tables that are written line by line.
 *  @param[in] what  for the message, such as "--csv"
 *  @return TSL_ERR_INPUT */
tsl_err tsl_new_table_open(const char *what, const char *path, FILE **stream);

/** Could it be opened so? Nothing is left. @return TSL_ERR_INPUT */
tsl_err tsl_new_table_check(const char *what, const char *path);

/** Close it; NULL accepted. When not all was written it is removed. @return err, or TSL_ERR_IO */
tsl_err tsl_new_table_close(const char *what, const char *path, FILE **stream, tsl_err err);

TSL_C_END
