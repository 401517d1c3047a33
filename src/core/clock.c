/* The monotonic clock, and when the program began by it. */
#include "clock.h"

#include <time.h>

double tsl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tsl_program_start(void) {
  static double start;
  if (start == 0) start = tsl_now();
  return start;
}
