/** @file cpu.c  SIMD level, clock and the test knob of slowness. */
#include "cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __x86_64__
int tsl_cpu_level(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 0;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
    return 2;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 4 : 3;
}
#else
int tsl_cpu_level(void) {
  return 0;
}
#endif

tsl_err tsl_cpu_level_use(int *level) {
  tsl_err err = TSL_OK;
  const char *text = getenv("TSL_SIMD");
  const int most = tsl_cpu_level();
  *level = most;
#ifdef __x86_64__
  if (most < 2) TSL_FAIL(TSL_ERR_DEVICE, "this processor is older than x86-64-v2 (SSE4.2, POPCNT)");
#endif
  if (text == NULL || text[0] == 0) goto done;
  if (strlen(text) != 1 || text[0] < '2' || text[0] > '4')
    TSL_FAIL(TSL_ERR_USAGE, "TSL_SIMD=%s: allowed are 2, 3, 4 (x86-64-v2 to v4)", text);
  *level = text[0] - '0';
  if (*level > most)
    TSL_FAIL(TSL_ERR_USAGE,
             "TSL_SIMD=%s: this processor has level %d; unset it or name a lower one", text, most);
done:
  return err;
}

double tsl_cpu_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** The launcher's rank of this process, 0 without a launcher. */
static long launcher_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *text = getenv(names[k]);
    if (text != NULL) return strtol(text, NULL, 10);
  }
  return 0;
}

/** Read one "F" or "rank:F" at *text and step behind it and its comma. */
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

tsl_err tsl_cpu_slow_factor(double *factor) {
  tsl_err err = TSL_OK;
  const char *all = getenv("TSL_TEST_SLOW");
  const long mine = launcher_rank();
  *factor = 1;
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

double tsl_cpu_unit_seconds(double start, double factor) {
  const double used = tsl_cpu_seconds() - start;
  if (factor <= 1) return used;
  const double wait = (factor - 1) * used;
  struct timespec left = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
  return tsl_cpu_seconds() - start;
}
