/** @file dp_cpu.c  The kernels of this socket. */
#include "dp_cpu.h"

#include "cpu.h"
#include "dp_kernels.h"

tsl_err dp_cpu_open(int threads, dp_cpu *cpu) {
  tsl_err err = TSL_OK;
  int level = 0;
  if (threads < 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp on a socket: %d threads; at least 1 is needed", threads);
  TSL_TRY(tsl_cpu_level_use(&level));
  *cpu = (dp_cpu){dp_kernels_at(level), threads};
done:
  return err;
}
