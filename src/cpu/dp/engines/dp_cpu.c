/** @file dp_cpu.c  The kernels of this socket. */
#include "dp_cpu.h"

#include "cpu.h"
#include "dp_kernels.h"

#ifdef __x86_64__
static const dp_kernels *kernels_of(int level) {
  return level >= 4 ? &dp_kernels_v4 : level == 3 ? &dp_kernels_v3 : &dp_kernels_v2;
}
#else
static const dp_kernels *kernels_of(int level) {
  (void)level;
  return &dp_kernels_any;
}
#endif

tsl_err dp_cpu_open(int threads, dp_cpu *cpu) {
  tsl_err err = TSL_OK;
  int level = 0;
  if (threads < 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp on a socket: %d threads; at least 1 is needed", threads);
  TSL_TRY(tsl_cpu_level_use(&level));
  *cpu = (dp_cpu){kernels_of(level), threads};
done:
  return err;
}
