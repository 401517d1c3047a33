/* Memory of a socket as if it were a card's: what the driver (src/host/dp) forgets to zero, to copy
 * or to wait for is seen without a card. */
#include "dp_queued.h"

#include "dp_backend.h"

#include <string.h>

enum { MOST = 4096, POISON = 0xA5 };

/** Copies out as they were when they were queued. */
static struct {
  void *to, *bytes;
  int64_t n;
} queue[MOST];
static int n_queued;

static const tsl_backend *socket_backend;

static tsl_err reserve_poison(dp_buffer *buffer, int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  if (bytes <= buffer->bytes) return TSL_OK;
  tsl_free(buffer->data);
  *buffer = (dp_buffer){NULL, 0};
  TSL_TRY(tsl_alloc(bytes, 1, what, &buffer->data));
  memset(buffer->data, POISON, (size_t)bytes);
  buffer->bytes = bytes;
done:
  return err;
}

static void release_any(dp_buffer *buffer) {
  tsl_free(buffer->data);
  *buffer = (dp_buffer){NULL, 0};
}

static tsl_err queued_reserve(void *device, dp_buffer *buffer, int64_t bytes, const char *what) {
  (void)device;
  return reserve_poison(buffer, bytes, what);
}

static void queued_release(void *device, dp_buffer *buffer) {
  (void)device;
  release_any(buffer);
}

static tsl_err pinned_reserve(dp_buffer *buffer, int64_t bytes) {
  return reserve_poison(buffer, bytes, "pinned");
}

static tsl_err queued_wait(void *device) {
  (void)device;
  for (int k = 0; k < n_queued; k++) {
    memcpy(queue[k].to, queue[k].bytes, (size_t)queue[k].n);
    tsl_free(queue[k].bytes);
  }
  n_queued = 0;
  return TSL_OK;
}

static tsl_err queued_copy(void *device, void *to, const void *from, int64_t bytes,
                           dp_copy_kind kind) {
  tsl_err err = TSL_OK;
  if (bytes == 0) return TSL_OK;
  if (kind != DP_COPY_OUT) {
    memcpy(to, from, (size_t)bytes);
    return TSL_OK;
  }
  if (n_queued == MOST) TSL_TRY(queued_wait(device));
  TSL_TRY(tsl_alloc(bytes, 1, "copy", &queue[n_queued].bytes));
  memcpy(queue[n_queued].bytes, from, (size_t)bytes);
  memset(to, POISON, (size_t)bytes);
  queue[n_queued].to = to;
  queue[n_queued++].n = bytes;
done:
  return err;
}

static tsl_err queued_copy_rows(void *device, void *to, int64_t to_step, const void *from,
                                int64_t from_step, int64_t bytes, int64_t rows, dp_copy_kind kind) {
  tsl_err err = TSL_OK;
  for (int64_t r = 0; r < rows; r++)
    TSL_TRY(queued_copy(device, (char *)to + r * to_step, (const char *)from + r * from_step, bytes,
                        kind));
done:
  return err;
}

static tsl_err queued_zero(void *device, void *memory, int64_t bytes) {
  (void)device;
  memset(memory, 0, (size_t)bytes);
  return TSL_OK;
}

static const dp_memory_ops queued_memory = {.reserve = queued_reserve,
                                            .release = queued_release,
                                            .copy = queued_copy,
                                            .copy_rows = queued_copy_rows,
                                            .zero = queued_zero,
                                            .wait = queued_wait,
                                            .reserve_pinned = pinned_reserve,
                                            .release_pinned = release_any};

/* ---- the backend: waits after the tiles of a call, as a card's does */

static tsl_err queued_open(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  TSL_TRY(socket_backend->open(problem, device, worker));
  (*worker)->dp.c.memory = &queued_memory;
done:
  return err;
}

static tsl_err queued_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  const tsl_err err = socket_backend->tiles(w, units, n, parts);
  const tsl_err late = queued_wait(NULL);
  return err != TSL_OK ? err : late;
}

static tsl_err queued_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  const tsl_err err = socket_backend->run(w, units, n, parts);
  const tsl_err late = queued_wait(NULL);
  return err != TSL_OK ? err : late;
}

const tsl_backend *dp_queued_backend(const tsl_backend *socket) {
  static tsl_backend queued;
  socket_backend = socket;
  queued = *socket;
  queued.open = queued_open;
  queued.tiles = queued_tiles;
  queued.run = queued_run;
  return &queued;
}
