/* Functions of groups kept on the card, the smallest first. Memory comes from a pool of the worker,
 * in the order of its stream. */
#include "xc_gpu.cuh"

#include <string.h>

static tsl_err make_pool(xc_gpu *w) {
  tsl_err err = TSL_OK;
  int device = 0, supported = 0;
  cudaMemPoolProps props = {};
  uint64_t all = UINT64_MAX;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (!supported) goto done;
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = device;
  TSL_CUDA_TRY(cudaMemPoolCreate(&w->pool, &props));
  TSL_CUDA_TRY(cudaMemPoolSetAttribute(w->pool, cudaMemPoolAttrReleaseThreshold, &all));
done:
  return err;
}

tsl_err xc_cache_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_cache *cache = &w->cache;
  cache->n = w->p->n_groups;
  cache->most = w->p->card_cache;
  TSL_TRY(tsl_alloc(cache->n, sizeof *cache->kept, "cache of functions", (void **)&cache->kept));
  if (cache->most > 0) TSL_TRY(make_pool(w));
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

tsl_err xc_cache_drop(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_cache *cache = &w->cache;
  if (w->pool == NULL) return TSL_OK;
  for (int64_t g = 0; g < cache->n; g++) drop(w, &cache->kept[g]);
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  TSL_CUDA_TRY(cudaMemPoolTrimTo(w->pool, 0));
done:
  return err;
}

void xc_cache_close(xc_gpu *w) {
  if (w->cache.kept != NULL) (void)xc_cache_drop(w);
  if (w->pool != NULL) (void)cudaMemPoolDestroy(w->pool);
  tsl_free(w->cache.kept);
  w->pool = NULL;
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
  if (w->pool == NULL || !xc_gpu_cache_make_room(w, bytes)) return;
  if (cudaMallocFromPoolAsync(&k->block, (size_t)bytes, w->pool, w->stream) != cudaSuccess) {
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
