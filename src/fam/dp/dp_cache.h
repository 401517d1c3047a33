/**
 * @file dp_cache.h
 * Compiled recurrences on disk: files under a hash of what they were made from.
 *
 * The folder is $XDG_CACHE_HOME/tesela/recurrences (else below ~/.cache), of mode 0700 and the
 * user's own. A file that is damaged, or belongs to somebody else, is as good as none. Ranks of one
 * host may keep the same object at once: each writes a file of its own and renames it.
 */
#ifndef TSL_FAM_DP_CACHE_H
#define TSL_FAM_DP_CACHE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an object is made from, summed up: FNV-1a (Fowler, Noll, Vo), twice with different starts.
 */
typedef struct dp_cache_key {
  uint64_t sum[2];
} dp_cache_key;

dp_cache_key dp_cache_start(void);
/** Add a text and its closing zero. */
void dp_cache_add_text(dp_cache_key *key, const char *text);

/** Name of the folder, which is made if need be. @return TSL_ERR_IO: cannot be used, and why */
tsl_err dp_cache_folder(char *folder, size_t size);

/** The whole of a regular file that is the user's own; *bytes is NULL when there is none. */
tsl_err dp_cache_read(const char *path, void **bytes, int64_t *n);

/**
 * Take an object out of the cache.
 * @param[in]  suffix  ".so"
 * @param[out] bytes   [*n], free with tsl_free; NULL when there is no sound one
 * @return TSL_ERR_IO when the cache cannot be used; the message says what to do
 */
tsl_err dp_cache_take(const dp_cache_key *key, const char *suffix, void **bytes, int64_t *n);

/** Put an object into the cache. */
tsl_err dp_cache_keep(const dp_cache_key *key, const char *suffix, const void *bytes, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
