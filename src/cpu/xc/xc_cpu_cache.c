/** @file xc_cpu_cache.c  Functions of groups kept between iterations, the smallest first. */
#include "xc_cpu.h"

#include <stdlib.h>

tsl_err xc_cache_open(int64_t n_groups, int64_t most, xc_cache *cache) {
  *cache = (xc_cache){.n = n_groups, .most = most};
  return tsl_alloc(n_groups, sizeof *cache->kept, "cache of functions", (void **)&cache->kept);
}

static void drop(xc_cache *cache, xc_kept *kept) {
  free(kept->block);
  cache->used -= kept->bytes;
  *kept = (xc_kept){.asked = kept->asked};
}

void xc_cache_close(xc_cache *cache) {
  for (int64_t g = 0; cache->kept != NULL && g < cache->n; g++) drop(cache, &cache->kept[g]);
  tsl_free(cache->kept);
  *cache = (xc_cache){.n = 0};
}

void xc_cache_batch(xc_cache *cache) {
  cache->batch++;
}

static bool xc_cpu_cache_make_room(xc_cache *cache, int64_t bytes) {
  xc_kept *victim;
  if (bytes > cache->most) return false;
  while (cache->used > cache->most - bytes) {
    if ((victim = xc_cache_largest(cache, bytes)) == NULL) return false;
    drop(cache, victim);
  }
  return true;
}

void xc_cache_find(xc_cache *cache, int64_t group, int64_t bytes, double **block, bool *ready) {
  xc_kept *k = &cache->kept[group];
  *block = NULL, *ready = false;
  k->asked = bytes;
  if (k->block != NULL) { /* one that this very batch is filling is not to be read yet */
    if (!k->ready) return;
    k->batch = cache->batch;
    *block = k->block, *ready = true;
    return;
  }
  if (!xc_cpu_cache_make_room(cache, bytes)) return;
  k->block = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  if (k->block == NULL) return; /* no memory left: as if the cache were smaller */
  k->bytes = bytes, k->batch = cache->batch, k->ready = false;
  cache->used += bytes;
  *block = k->block;
}

void xc_cache_ready(xc_cache *cache, int64_t group) {
  cache->kept[group].ready = true;
}
