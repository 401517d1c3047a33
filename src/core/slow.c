#include "slow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The launcher's rank of this process, 0 without a launcher. */
static long launcher_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *text = getenv(names[k]);
    if (text != NULL) return strtol(text, NULL, 10);
  }
  return 0;
}

/* Read one "F" or "rank:F" at *text and step behind it and its comma. */
static bool slow_entry(const char **text, long *rank, double *factor) {
  char *end = NULL;
  const size_t word = strcspn(*text, ",");
  *rank = -1;
  if (memchr(*text, ':', word) != NULL) {
    *rank = strtol(*text, &end, 10);
    if (end == *text || *end != ':' || *rank < 0) return false;
    *text = end + 1;
  }
  *factor = strtod(*text, &end);
  if (end == *text || !(*factor >= 1) || *factor > 1e6) return false;
  if (*end != 0 && (*end != ',' || *rank < 0)) return false;
  *text = *end == ',' ? end + 1 : end;
  return true;
}

static double least_seconds; /* of a unit, by "+S" */

tsl_err tsl_slow_factor(double *factor) {
  tsl_err err = TSL_OK;
  const char *all = getenv("TSL_TEST_SLOW");
  char *end = NULL;
  const long mine = launcher_rank();
  *factor = 1;
  least_seconds = 0;
  if (all != NULL && *all == '+') {
    least_seconds = strtod(all + 1, &end);
    if (end == all + 1 || *end != 0 || !(least_seconds >= 0) || least_seconds > 100)
      TSL_FAIL(TSL_ERR_USAGE, "TSL_TEST_SLOW=%s: expected +S with 0 <= S <= 100", all);
    all = NULL;
  }
  for (const char *text = all; text != NULL && *text != 0;) {
    long rank = 0;
    double value = 1;
    if (!slow_entry(&text, &rank, &value))
      TSL_FAIL(TSL_ERR_USAGE, "TSL_TEST_SLOW=%s: expected F or rank:F,rank:F with 1 <= F <= 1e6",
               all);
    if (rank < 0 || rank == mine) *factor = value;
  }
done:
  return err;
}

double tsl_slow_sleep(double used, double factor, int64_t units) {
  const double slower = (factor - 1) * used, short_of = least_seconds * (double)units - used;
  const double wait = slower > short_of ? slower : short_of;
  if (wait <= 0) return 0;
  struct timespec left = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
  return wait;
}
