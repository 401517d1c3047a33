/**
 * @file xc_cache.h
 * Which groups' functions a worker keeps between iterations: the smallest. Where blocks come from
 * is the backend's affair.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A group's functions. */
typedef struct xc_kept {
  void *block; /**< pieces one after another; NULL: not kept */
  int64_t bytes;
  int64_t batch; /**< the last that used it */
  int64_t asked; /**< bytes asked for in this phase; 0: not asked for */
  bool ready;    /**< filled */
} xc_kept;

typedef struct xc_cache {
  xc_kept *kept;         /**< [n] by group */
  int64_t n, used, most; /**< bytes of all blocks; most: that they may take together */
  int64_t batch;         /**< the present one: what it uses stays */
} xc_cache;

/** Begin a phase: nothing has been asked for. */
void xc_cache_begin(xc_cache *cache);
/** What of the phase's groups is not kept, as text for tsl_backend.notes; empty: nothing.
 *  @param[in] keys  of the deck, that decide it */
void xc_cache_tell(const xc_cache *cache, const char *keys, char *text, size_t size);
/** The largest block that is larger than bytes and idle, or NULL. */
xc_kept *xc_cache_largest(const xc_cache *cache, int64_t bytes);

#ifdef __cplusplus
}
#endif
