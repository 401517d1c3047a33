/* What caches of functions on sockets and cards have alike: the count of what is kept, and the
 * choice of what makes room. */
#include "xc_cache.h"

#include "memory.h"

#include <stdio.h>

void xc_cache_begin(xc_cache *cache) {
  for (int64_t g = 0; g < cache->n; g++) cache->kept[g].asked = 0;
}

void xc_cache_tell(const xc_cache *cache, const char *keys, char *text, size_t size) {
  int64_t asked = 0, kept = 0, n_asked = 0, n_kept = 0;
  char part[24], all[24];
  for (int64_t g = 0; g < cache->n; g++) {
    const xc_kept *k = &cache->kept[g];
    if (k->asked == 0) continue;
    n_asked++, asked += k->asked;
    if (k->block != NULL) n_kept++, kept += k->bytes;
  }
  text[0] = '\0';
  if (n_kept < n_asked)
    (void)snprintf(text, size, "keeps functions of %lld of %lld groups, %s of %s (%s)",
                   (long long)n_kept, (long long)n_asked, tsl_bytes_text((double)kept, part),
                   tsl_bytes_text((double)asked, all), keys);
}

xc_kept *xc_cache_largest(const xc_cache *cache, int64_t bytes) {
  xc_kept *found = NULL;
  for (int64_t g = 0; g < cache->n; g++) {
    xc_kept *k = &cache->kept[g];
    if (k->block == NULL || k->batch == cache->batch || k->bytes <= bytes) continue;
    if (found == NULL || k->bytes > found->bytes) found = k;
  }
  return found;
}
