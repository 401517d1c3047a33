/**
 * @file table_range.h
 * Which frames of a file are meant: "all", "first:last" or "first:last:step", numbers from 1, both
 * ends included; without first from the first, without last to the last.
 */
#pragma once

#include "error.h"

#include <stdint.h>

TSL_C_BEGIN

/** Frames first, first + step, ... up to last, numbers from 1. */
typedef struct table_range {
  int64_t first, last, step;
} table_range;

/** @param[in] n  frames of the file. @return TSL_ERR_INPUT: no such words, or no such frames */
tsl_err table_range_parse(const char *which, int64_t n, table_range *range);

TSL_C_END
