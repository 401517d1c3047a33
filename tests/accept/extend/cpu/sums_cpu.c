/* The backend of sums on a socket. */
#include "cpu.h"
#include "sums.h"

struct tsl_worker {
  const sums_params *p; /**< not owned */
};

static tsl_err sums_open(const tsl_problem *problem, const tsl_device *device,
                         tsl_worker **worker) {
  tsl_err err = TSL_OK;
  (void)device;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof **worker, "sums worker", (void **)worker));
  (*worker)->p = problem->params;
done:
  return err;
}

static tsl_err sums_begin(tsl_worker *worker, int phase) {
  (void)worker, (void)phase;
  return TSL_OK;
}

static tsl_err sums_run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  for (int64_t u = 0; u < n; u++) {
    const double start = tsl_cpu_seconds();
    double *const sums = parts[u].slab[SUMS_SUMS];
    for (int64_t i = units[u].lo[0]; i < units[u].hi[0]; i++) {
      double sum = 0;
      for (int64_t j = 0; j < worker->p->columns; j++) sum += 1.0 / (double)(i + j + 1);
      sums[i - units[u].lo[0]] = sum;
    }
    parts[u].seconds = tsl_cpu_seconds() - start;
  }
  return TSL_OK;
}

static void sums_close(tsl_worker **worker) {
  tsl_free(*worker);
  *worker = NULL;
}

const tsl_backend sums_backend_cpu = {
    .family = "sums",
    .open = sums_open,
    .begin = sums_begin,
    .run = sums_run,
    .close = sums_close,
};
