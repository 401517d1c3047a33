/* Functions of groups kept on the card, the smallest first. Memory comes from the card's pool in the
 * order of the worker's stream. */
#include "gpu_pool.cuh"
#include "xc_gpu.cuh"

#include <string.h>

tsl_err xc_cache_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_cache *cache = &w->cache;
  cache->n = w->p->n_groups;
  cache->most = w->p->card_cache;
  TSL_TRY(tsl_alloc(cache->n, sizeof *cache->kept, "cache of functions", (void **)&cache->kept));
  if (cache->most > 0) TSL_TRY(tsl_gpu_keep(UINT64_MAX));
done:
  return err;
}

static void drop(xc_gpu *w, xc_kept *kept) {
  if (kept->block == NULL) return;
  (void)cudaFreeAsync(kept->block, w->stream);
  w->cache.used -= kept->bytes;
  w->memory.used -= kept->bytes;
  kept->block = NULL, kept->bytes = kept->batch = 0, kept->ready = false;
}

static void drop_all(xc_gpu *w) {
  for (int64_t g = 0; g < w->cache.n; g++) drop(w, &w->cache.kept[g]);
  (void)cudaStreamSynchronize(w->stream);
}

tsl_err xc_cache_drop(xc_gpu *w) {
  tsl_err err = TSL_OK;
  if (w->cache.most <= 0) goto done;
  drop_all(w);
  TSL_TRY(tsl_gpu_keep(0));
  TSL_TRY(tsl_gpu_keep(UINT64_MAX));
done:
  return err;
}

void xc_cache_close(xc_gpu *w) {
  if (w->cache.kept != NULL) drop_all(w);
  if (w->cache.most > 0) (void)tsl_gpu_keep(TSL_GPU_KEPT);
  tsl_free(w->cache.kept);
  memset(&w->cache, 0, sizeof w->cache);
}

/* Bytes that the cache may hold now: what the others have left of the limit, less a batch's. */
static int64_t most_bytes(const xc_gpu *w) {
  const int64_t others = w->memory.used - w->cache.used;
  const int64_t batch = w->room > w->batch.bytes ? w->room - w->batch.bytes : 0;
  const int64_t left = w->memory.limit - others - batch;
  return w->cache.most < left ? w->cache.most : left;
}

static bool xc_gpu_cache_make_room(xc_gpu *w, int64_t bytes) {
  const int64_t most = most_bytes(w);
  if (bytes > most) return false;
  while (w->cache.used > most - bytes) {
    xc_kept *victim = xc_cache_largest(&w->cache, bytes);
    if (victim == NULL) return false;
    drop(w, victim);
  }
  return true;
}

void xc_cache_find(xc_gpu *w, int64_t group, void **block, bool *ready) {
  xc_cache *cache = &w->cache;
  xc_kept *k = &cache->kept[group];
  const int64_t bytes = xc_block_bytes(w, &w->view.groups[group]);
  *block = NULL, *ready = false;
  k->asked = bytes;
  if (k->block != NULL) {
    if (k->batch == cache->batch && !k->ready) return; /* this batch fills it: not to be read yet */
    k->batch = cache->batch;
    k->ready = true; /* batches follow one another in the stream */
    *block = k->block, *ready = true;
    return;
  }
  if (!xc_gpu_cache_make_room(w, bytes)) return;
  if (cudaMallocAsync(&k->block, (size_t)bytes, w->stream) != cudaSuccess) {
    (void)cudaGetLastError(); /* the card is fuller than its limit: keep no more than now */
    k->block = NULL;
    cache->most = cache->used;
    return;
  }
  k->bytes = bytes, k->batch = cache->batch, k->ready = false;
  cache->used += bytes;
  w->memory.used += bytes;
  *block = k->block;
}
