/* Batches are limited by the bytes of their slabs (32 MiB, a quarter of the rank's memory). */
#include "batch.h"

#include "slab_pool.h"

enum { MOST_BYTES = 1 << 25 }; /* slabs of several units share a batch up to this */
enum { SHARE = 4 };            /* and up to this part of the rank's memory */

int64_t tsl_batch_least(const tsl_executor *executor, const tsl_unit *unit) {
  const tsl_backend *backend = executor->backend;
  if (unit == NULL || backend->saturating_units == NULL) return 1;
  return backend->saturating_units(executor->worker, unit);
}

int64_t tsl_batch_room(const tsl_problem *problem, const tsl_unit *units, int64_t n,
                       int64_t memory) {
  const int64_t share = memory / SHARE, room = share < MOST_BYTES ? share : MOST_BYTES;
  int64_t bytes = 0, largest[TSL_MAX_FIELDS];
  tsl_slab_largest(problem, units, n, largest);
  for (int f = 0; f < problem->n_fields; f++) bytes += largest[f];
  if (bytes * TSL_MAX_BATCH <= room) return TSL_MAX_BATCH;
  return bytes >= room ? 1 : room / bytes;
}
