/** @file cpu.c  SIMD level and clock. */
#include "cpu.h"

#include <math.h>
#include <stdint.h>
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
  if (*level < TSL_SIMD_LOWEST)
    TSL_FAIL(TSL_ERR_USAGE, "TSL_SIMD=%s: this build has kernels for level %d alone", text,
             TSL_SIMD_LOWEST);
  if (*level > most)
    TSL_FAIL(TSL_ERR_USAGE,
             "TSL_SIMD=%s: this processor has level %d; unset it or name a lower one", text, most);
done:
  return err;
}

/** Is this the clock that tests ask for? */
static bool clock_is(const char *name) {
  const char *text = getenv("TSL_TEST_CLOCK");
  return text != NULL && strcmp(text, name) == 0;
}

double tsl_cpu_seconds(void) {
  struct timespec now;
  (void)clock_gettime(clock_is("processor") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tsl_cpu_virtual_seconds(const tsl_unit *unit, double factor, tsl_part *part) {
  if (!clock_is("work")) return;
  const uint64_t mixed = (uint64_t)unit->id * UINT64_C(0x9E3779B97F4A7C15); /* golden ratio */
  part->seconds = 1e-9 * unit->flops * (0.75 + 0.5 * ldexp((double)mixed, -64)) * factor;
}

double tsl_cpu_unit_seconds(double start, double factor, int64_t units) {
  const double used = tsl_cpu_seconds() - start;
  if (clock_is("processor") || clock_is("work")) return used * factor;
  return used + tsl_test_delay_sleep(used, factor, units);
}
