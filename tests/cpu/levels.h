/* Which SIMD levels tests go through. */
#pragma once

#include "cpu.h"

#include <stdlib.h>

/** Lowest SIMD level that this build has and this processor runs: above 2 where TSL_SIMD=native was
 *  asked of CMake; 0 on processors other than x86-64. */
static inline int lowest_level(void) {
  const int most = tsl_cpu_level();
  int level = most < 2 ? most : 2, used = 0;
  for (; level < most; level++) {
    const char text[2] = {(char)('0' + level), 0};
    (void)setenv("TSL_SIMD", text, 1);
    if (tsl_cpu_level_use(&used) == TSL_OK) break;
  }
  (void)unsetenv("TSL_SIMD");
  return level;
}
