/* TSL_TEST_FAULT is parsed at each call; the named rank fails, hangs, dies or spoils its result at
 * the named unit. */
#include "fault.h"

#include "slab_pool.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is asked for, when it is this rank and one of these units; *which is its place. */
static bool asked(int rank, const tsl_unit *units, int64_t n, char what[8], int64_t *which) {
  const char *text = getenv("TSL_TEST_FAULT");
  int victim = -1;
  long long unit = -1;
  if (text == NULL || sscanf(text, "%7[a-z]:%d:%lld", what, &victim, &unit) != 3) return false;
  for (*which = 0; *which < n; ++*which)
    if (victim == rank && units[*which].id == unit) return true;
  return false;
}

tsl_err tsl_fault_begin(int rank, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  char what[8] = "";
  int64_t k = 0;
  if (!asked(rank, units, n, what, &k)) return TSL_OK;
  if (strcmp(what, "kill") == 0) (void)raise(SIGKILL);
  if (strcmp(what, "error") == 0)
    TSL_FAIL(TSL_ERR_DEVICE, "unit %lld: injected failure of the device", (long long)units[k].id);
  if (strcmp(what, "oom") == 0)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY,
             "unit %lld: injected lack of device memory; lower "
             "run.device_memory or raise run.units",
             (long long)units[k].id);
done:
  return err;
}

void tsl_fault_wait(int rank, const tsl_unit *units, int64_t n) {
  char what[8] = "";
  int64_t k = 0;
  if (!asked(rank, units, n, what, &k)) return;
  while (strcmp(what, "hang") == 0) (void)sleep(1);
}

tsl_err tsl_fault_before(int rank, const tsl_unit *units, int64_t n) {
  tsl_fault_wait(rank, units, n);
  return tsl_fault_begin(rank, units, n);
}

static void spoil(tsl_type type, void *data) {
  const float single = NAN;
  const double twice = NAN;
  if (type == TSL_F32) memcpy(data, &single, sizeof single);
  if (type == TSL_F64) memcpy(data, &twice, sizeof twice);
}

void tsl_fault_after(const tsl_problem *problem, int rank, const tsl_unit *units, int64_t n,
                     tsl_part *parts) {
  char what[8] = "";
  int64_t k = 0;
  if (!asked(rank, units, n, what, &k) || strcmp(what, "nan") != 0) return;
  for (int f = 0; f < problem->n_fields; f++) {
    const tsl_field *field = &problem->fields[f];
    if (tsl_slab_bytes(problem, &units[k], f) > 0)
      spoil((tsl_type)field->type, parts[k].slab[f]);
    else if ((field->role & TSL_OUT) && field->combine == TSL_LIST && parts[k].list[f].n > 0)
      spoil((tsl_type)field->type, parts[k].list[f].data);
  }
}
