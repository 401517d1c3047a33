/* Parser of TSL_TEST_SLOW for this process's launcher rank, and the sleep that makes a unit last
 * longer. */
#include "test_delay.h"

#include "launcher.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What one entry makes of a unit. */
typedef struct slow_entry {
  long rank; /* -1: all */
  bool at_least;
  double value; /* a factor, or seconds with at_least */
} slow_entry;

/* Read one entry at *text and step behind it and its comma. */
static bool read_entry(const char **text, slow_entry *entry) {
  char *end = NULL;
  const size_t word = strcspn(*text, ",");
  entry->rank = -1;
  if (memchr(*text, ':', word) != NULL) {
    entry->rank = strtol(*text, &end, 10);
    if (end == *text || *end != ':' || entry->rank < 0) return false;
    *text = end + 1;
  }
  entry->at_least = **text == '+';
  entry->value = strtod(*text, &end);
  if (end == *text || (*end != 0 && (*end != ',' || entry->rank < 0))) return false;
  *text = *end == ',' ? end + 1 : end;
  return entry->at_least ? entry->value >= 0 && entry->value <= 100
                         : entry->value >= 1 && entry->value <= 1e6;
}

static double least_seconds; /* of a unit, by "+S" */

tsl_err tsl_test_delay_factor(double *factor) {
  tsl_err err = TSL_OK;
  const char *all = getenv("TSL_TEST_SLOW");
  const long mine = tsl_launcher_rank();
  *factor = 1;
  least_seconds = 0;
  for (const char *text = all; text != NULL && *text != 0;) {
    slow_entry entry;
    if (!read_entry(&text, &entry))
      TSL_FAIL(TSL_ERR_USAGE,
               "TSL_TEST_SLOW=%s: expected F, +S or rank:F,rank:+S with 1 <= F <= 1e6, S <= 100",
               all);
    if (entry.rank >= 0 && entry.rank != mine) continue;
    *(entry.at_least ? &least_seconds : factor) = entry.value;
  }
done:
  return err;
}

/* Seconds overslept so far, which the next units repay: a busy machine wakes a sleeper late. */
static _Thread_local double late;

/* More is not repaid: a process that stood still for long was stopped, not late. */
static const double MOST_LATE = 0.1;

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_seconds(double seconds) {
  const time_t whole = (time_t)seconds;
  struct timespec left = {whole, (long)((seconds - (double)whole) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

double tsl_test_delay_sleep(double used, double factor, int64_t units) {
  const double slower = (factor - 1) * used, short_of = least_seconds * (double)units - used;
  const double due = slower > short_of ? slower : short_of, wait = due - late;
  if (due <= 0) return 0;
  const double start = seconds_now();
  if (wait > 0) sleep_seconds(wait);
  late = fmin(seconds_now() - start - wait, MOST_LATE);
  return due;
}
