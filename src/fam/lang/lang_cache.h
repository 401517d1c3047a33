/**
 * @file lang_cache.h
 * Compiled recurrences on disk: files that hold an object and all the text it was made from.
 *
 * The folder is $XDG_CACHE_HOME/tesela/recurrences (else below ~/.cache), of mode 0700 and the
 * user's own. Every folder above it must belong to the user or to root and must not be writable by
 * others, unless it is sticky as /tmp is: whoever can rename a folder on the way can put another in
 * its place while a compiler reads and writes there. Anything else is refused.
 *
 * An object is taken only when the text in its file is, byte for byte, the one asked for. A file
 * that is damaged, or belongs to somebody else, is as good as none. Ranks of one host may keep the
 * same object at once: each writes a file of its own and renames it.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TSL_C_BEGIN

/** What an object is made from; zero it first, release with lang_cache_clear. */
typedef struct lang_cache_key {
  char *text; /**< [n] all texts with their closing zeros */
  int64_t n, room;
} lang_cache_key;

/** Add a text and its closing zero. @return TSL_ERR_MEMORY */
tsl_err lang_cache_add_text(lang_cache_key *key, const char *text);
void lang_cache_clear(lang_cache_key *key);

/**
 * Open the folder, which is made if need be, after a look at all folders above it.
 * @param[out] folder  [size] its name without symbolic links
 * @param[out] fd      the caller's to close
 * @return TSL_ERR_INPUT: not safe, and why; TSL_ERR_IO: cannot be made
 */
tsl_err lang_cache_folder(char *folder, size_t size, int *fd);

/** The whole of a regular file in the folder that is the user's own; *bytes is NULL when there is
 *  none. */
tsl_err lang_cache_read(int folder, const char *name, void **bytes, int64_t *n);

/** Write n bytes to an open file. @param[in] path  for the message of TSL_ERR_IO */
tsl_err lang_write(int fd, const void *data, int64_t n, const char *path);

/**
 * Take an object out of the cache.
 * @param[in]  suffix  ".so"
 * @param[out] bytes   [*n], free with tsl_free; NULL when there is no sound one
 * @return TSL_ERR_INPUT, TSL_ERR_IO when the cache cannot be used; the message says what to do
 */
tsl_err lang_cache_take(const lang_cache_key *key, const char *suffix, void **bytes, int64_t *n);

/** Put an object into the cache. */
tsl_err lang_cache_keep(const lang_cache_key *key, const char *suffix, const void *bytes,
                        int64_t n);

TSL_C_END
