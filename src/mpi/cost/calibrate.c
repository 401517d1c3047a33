/* The root looks up the keys of all ranks in the calibration file; when one is missing, all ranks
 * measure at once, and the root stores and pools what they send. */
#include "calibrate.h"

#include "bcast.h"
#include "collective_error.h"
#include "device_class.h"
#include "device_probe.h"
#include "measure.h"

#include <math.h>
#include <string.h>

/* ---- keys */

/* What a measurement holds for: units of about this size only, as small ones say little about large
 * ones. Strips are measured in bands, and what a band costs is divided among its lanes. */
static void make_key(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                     int n_ranks, char key[TSL_COST_KEY]) {
  const tsl_family *family = executor->problem->family;
  char what[96] = "";
  if (family->signature != NULL) family->signature(executor->problem, what);
  tsl_calibration_key(executor->placement, family, what, key);
  for (int kind = 0; kind < family->n_kinds; kind++) {
    const tsl_unit *unit = tsl_middle_unit(units, n_units, kind);
    const size_t used = strlen(key);
    (void)snprintf(key + used, TSL_COST_KEY - used, "|2^%d",
                   unit != NULL ? ilogb(unit->count + 1) : 0);
  }
  if (!tsl_measure_has_strips(executor->problem, units, n_units)) return;
  const int64_t lanes = units[n_units - 1].lane + 1;
  const size_t used = strlen(key);
  (void)snprintf(key + used, TSL_COST_KEY - used, "|%lld,lanes", (long long)(lanes / n_ranks));
}

/* ---- phases besides their units */

void tsl_calibration_keep_phases(const tsl_run_settings *settings, const tsl_cost *cost, int kind,
                                 double value) {
  double c[1][TSL_N_TERMS];
  if (cost->keys == NULL || value <= 0) return;
  if (!tsl_calibration_find(settings, cost->keys, kind, 1, c) ||
      fabs(c[0][0] / value - 1) > TSL_STEADY)
    tsl_calibration_keep(settings, cost->keys, kind, value);
}

/* ---- the root's part */

/* Speeds of all ranks by the file, or where these are wanted by the probe of what it has no line
 * of. */
static tsl_err look_up(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                       const tsl_run_settings *settings, int *known, tsl_cost *cost) {
  tsl_err err = TSL_OK;
  const tsl_family *family = problem->family;
  const bool look = settings->calibrate != TSL_CALIBRATE_ALWAYS && family->signature != NULL;
  tsl_calibration_line probe;
  char path[1024];
  TSL_TRY(tsl_calibration_path(settings, path, sizeof path));
  cost->guessed = 0;
  for (int r = 0; r < cost->n_ranks; r++) {
    const char *key = tsl_cost_key(cost, r);
    tsl_speed *speed = &cost->speeds[r];
    known[r] = look && tsl_calibration_find(settings, key, 0, family->n_kinds, speed->c);
    if (known[r] || settings->calibrate != TSL_CALIBRATE_PROBE) continue;
    TSL_TRY(tsl_device_probe_of(settings, key, &probe));
    if (probe.kind != TSL_PROBE)
      TSL_FAIL(TSL_ERR_INPUT,
               "run.calibrate: probe, but %s has no probe of rank %d's device; run `tesela probe "
               "--calibration %s` with as many ranks and threads",
               path, r, path);
    tsl_device_probe_speed(&probe, problem, units, n_units, speed);
    known[r] = true;
    cost->guessed++;
  }
done:
  return err;
}

/* What the middle one of the ranks with a key has measured. A home that cannot be written is no
 * error. */
static tsl_err store(const tsl_unit *units, int64_t n_units, const tsl_run_settings *settings,
                     const int *known, const tsl_cost *cost, int n_kinds) {
  tsl_err err = TSL_OK;
  int *middle = NULL;
  FILE *file = NULL;
  TSL_TRY(tsl_alloc(cost->n_ranks, sizeof *middle, "calibration keys", (void **)&middle));
  TSL_TRY(tsl_device_class_middle(units, n_units, cost, middle));
  if ((file = tsl_calibration_append(settings)) == NULL) goto done;
  for (int r = 0; r < cost->n_ranks; r++)
    for (int kind = 0; !known[r] && middle[r] == r && kind < n_kinds; kind++)
      tsl_calibration_put(file, tsl_cost_key(cost, r), kind, cost->speeds[r].c[kind]);
  (void)fclose(file);
done:
  tsl_free(middle);
  return err;
}

/* The root keeps what was measured, and gives equal devices equal speeds. */
static tsl_err keep(const tsl_family *family, const tsl_unit *units, int64_t n_units,
                    const tsl_run_settings *settings, const int *known, int measured,
                    tsl_cost *cost) {
  tsl_err err = TSL_OK;
  if (measured > 0 && family->signature != NULL && n_units > 0)
    TSL_TRY(store(units, n_units, settings, known, cost, family->n_kinds));
  TSL_TRY(tsl_device_class_pool(units, n_units, cost));
done:
  return err;
}

/* ---- all ranks */

/* Every rank has room for what the root knows of all. */
static tsl_err allocate(int size, tsl_cost *cost, int **known) {
  tsl_err err = TSL_OK;
  cost->n_ranks = size;
  tsl_free(cost->keys);
  cost->keys = NULL;
  TSL_TRY(tsl_alloc(size, sizeof *cost->speeds, "cost model", (void **)&cost->speeds));
  TSL_TRY(tsl_alloc(size, TSL_COST_KEY, "calibration keys", (void **)&cost->keys));
  TSL_TRY(tsl_alloc(size, sizeof **known, "calibration keys", (void **)known));
done:
  return err;
}

tsl_err tsl_calibrate(MPI_Comm comm, const tsl_executor *executor, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured) {
  tsl_err err = TSL_OK;
  const tsl_family *family = executor->problem->family;
  char key[TSL_COST_KEY];
  int rank = 0, size = 1, *known = NULL;
  tsl_speed speed = {{{0}}}, unused = speed;
  const int bytes = (int)sizeof speed;
  const bool warms = executor->placement->device.kind == TSL_GPU &&
                     !tsl_measure_has_strips(executor->problem, units, n_units);
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_COLLECTIVE_TRY(comm, allocate(size, cost, &known));
  make_key(executor, units, n_units, size, key);
  TSL_MPI(MPI_Gather(key, TSL_COST_KEY, MPI_CHAR, cost->keys, TSL_COST_KEY, MPI_CHAR, 0, comm));
  TSL_COLLECTIVE_TRY(
      comm, rank == 0 ? look_up(executor->problem, units, n_units, settings, known, cost) : TSL_OK);
  TSL_MPI(MPI_Bcast(known, size, MPI_INT, 0, comm));
  TSL_TRY(tsl_bcast_bytes(comm, cost->speeds, (int64_t)bytes * size));
  if (known[rank]) speed = cost->speeds[rank];
  *measured = 0;
  for (int r = 0; r < size; r++) *measured += !known[r];
  cost->sampled = *measured > 0;
  TSL_MPI(MPI_Barrier(comm)); /* all measure at once, or shared sockets would look too fast */
  TSL_COLLECTIVE_TRY(comm, *measured > 0
                               ? tsl_measure(executor, units, n_units, size, settings->memory,
                                             known[rank] ? &unused : &speed)
                           : warms ? tsl_measure_warm_up(executor, units, n_units, &speed)
                                   : TSL_OK);
  TSL_MPI(MPI_Gather(&speed, bytes, MPI_BYTE, cost->speeds, bytes, MPI_BYTE, 0, comm));
  TSL_COLLECTIVE_TRY(
      comm, rank == 0 ? keep(family, units, n_units, settings, known, *measured, cost) : TSL_OK);
  TSL_TRY(tsl_bcast_bytes(comm, cost->speeds, (int64_t)bytes * size));
done:
  if (family->signature == NULL) tsl_free(cost->keys), cost->keys = NULL;
  tsl_free(known);
  return err;
}
