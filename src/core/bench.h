/**
 * @file bench.h
 * Tables and measurements of a build: `tesela bench`.
 */
#pragma once

#include "error.h"

TSL_C_BEGIN

/** A table or measurement run by `tesela bench NAME`. Prints to stdout. */
typedef struct tsl_bench {
  const char *name;
  const char *doc;
  /** @param[in] argv  arguments after the name; argv[0] is the name */
  tsl_err (*run)(int argc, char **argv);
} tsl_bench;

TSL_C_END
