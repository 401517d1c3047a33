/** @file dp_kept.c  Special rows and columns in memory or on disk. */
#include "dp_kept.h"

static bool on_disk(const dp_context *c) {
  return c->p->special_rows > 0;
}

int64_t dp_keep_most(const dp_context *c) {
  return on_disk(c) ? c->p->special_rows : c->p->budget;
}

tsl_err dp_kept_reserve(const dp_context *c, dp_keep *keep, int64_t bytes, const char *what,
                        dp_kept *kept) {
  kept->bytes = bytes;
  keep->bytes += bytes;
  return dp_reserve(c, &kept->data, bytes, what);
}

tsl_err dp_kept_store(const dp_context *c, dp_keep *keep, dp_kept *kept) {
  tsl_err err = TSL_OK;
  void *host = NULL;
  if (!on_disk(c) || kept->bytes == 0) return TSL_OK;
  if (!kept->in_file) {
    if (keep->file.folder == NULL)
      TSL_TRY(tsl_scratch_open(c->p->special_folder, c->p->special_rows, &keep->file));
    TSL_TRY(tsl_alloc(kept->bytes, 1, "special row", &host));
    TSL_TRY(dp_copy(c, host, kept->data.data, kept->bytes, DP_COPY_OUT));
    TSL_TRY(dp_wait(c));
    TSL_TRY(tsl_scratch_append(&keep->file, host, kept->bytes, &kept->at));
    kept->in_file = true;
  }
  dp_kept_release(c, kept);
done:
  tsl_free(host);
  return err;
}

tsl_err dp_kept_fetch(const dp_context *c, const dp_keep *keep, dp_kept *kept) {
  tsl_err err = TSL_OK;
  void *host = NULL;
  if (kept->bytes == 0 || kept->data.data != NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(kept->bytes, 1, "special row", &host));
  TSL_TRY(tsl_scratch_read(&keep->file, kept->at, kept->bytes, host));
  TSL_TRY(dp_reserve(c, &kept->data, kept->bytes, "special row"));
  TSL_TRY(dp_copy(c, kept->data.data, host, kept->bytes, DP_COPY_IN));
  TSL_TRY(dp_wait(c));
done:
  tsl_free(host);
  return err;
}

void dp_kept_release(const dp_context *c, dp_kept *kept) {
  dp_release(c, &kept->data);
}

int64_t dp_keep_held(const dp_context *c, const dp_keep *keep, int64_t fetched) {
  return on_disk(c) ? fetched : keep->bytes;
}

void dp_keep_clear(dp_keep *keep) {
  tsl_scratch_close(&keep->file);
  keep->bytes = 0;
}
