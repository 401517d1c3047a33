/**
 * @file files.h
 * The files that a run reads and those that it is to write, so that no output is an input.
 *
 * Readers note what they opened, by device and inode: no other name, link or path below /proc hides
 * a file. Whoever writes a file names it before anything is computed. One list for the process,
 * kept by rank 0, used by one thread.
 */
#pragma once

#include "deck.h"

#include <stdbool.h>

TSL_C_BEGIN

/** How a file comes to its name. */
typedef enum tsl_file_kind {
  TSL_FILE_OUTPUT, /**< the run's output, with its checkpoints beside it */
  TSL_FILE_BESIDE, /**< written whole beside the output (new_file.h) */
  TSL_FILE_GROWS,  /**< lines are appended */
} tsl_file_kind;

/** What may be replaced. */
typedef enum tsl_files_mode {
  TSL_FILES_ANY,     /**< nothing will be written: existing files are not asked about */
  TSL_FILES_NEW,     /**< no file may exist */
  TSL_FILES_RESTART, /**< files that the deck names may: an earlier part may have made them */
  TSL_FILES_REPLACE, /**< --overwrite */
} tsl_files_mode;

/** Longest name of a file to be written, in bytes: ".ckpt.0.tmp" must fit behind it. */
enum { TSL_FILE_NAME_MAX = 1000 };

/** Forget all files; mode TSL_FILES_ANY. */
void tsl_files_clear(void);

/** Say what may be replaced; asked by later calls of tsl_files_write and tsl_files_check. */
void tsl_files_mode_set(tsl_files_mode mode);

/** May files beside the output replace others? */
bool tsl_files_replace(void);

/** Note an input that is open as fd. @param[in] what  "the deck", "an input of this run"; static */
tsl_err tsl_files_read(int fd, const char *what);

/**
 * Name a file to be written, and look whether it can be.
 * @param[in] key   key of the deck or option that names it, such as "fractal.png"; static
 * @param[in] path  copied
 * @return TSL_ERR_INPUT: it is an input or another output, its name is kept for unfinished files,
 *         it exists, is no plain file, or cannot be made
 */
tsl_err tsl_files_write(tsl_file_kind kind, const char *key, const char *path);

/** How many files to be written are named. */
int tsl_files_named(void);

/** Forget those named after the first n: of a problem that is created anew. */
void tsl_files_unname(int n);

/** Look at all of them again, once all inputs are noted. @param[in] deck  for places in messages */
tsl_err tsl_files_check(const tsl_deck *deck);

/**
 * A file beside the output could not be written: the results are worth more than it.
 * @param[in] err  of the writer; its message is kept for tsl_files_lost
 * @return was err not TSL_OK?
 */
bool tsl_files_lose(const char *key, tsl_err err);

/** Message of the n-th lost file, "KEY: why"; NULL when there are no more. */
const char *tsl_files_lost(int n);

/** Make the folders of a path of at most 1023 bytes where they are missing; a failure shows when
 *  its file is opened. */
void tsl_files_make_folders(const char *path);

TSL_C_END
