/**
 * @file dp_source.h
 * Where letters or numbers of a deck come from.
 */
#pragma once

#include "deck.h"

/** Where a sequence or an array of numbers comes from: exactly one of text, values, file, random.
 */
typedef struct dp_source {
  char *text, *file, *dataset;
  tsl_reals values;
  tsl_ints columns;
  int64_t record, random, seed;
  double lo, hi, mutate;
  int32_t format; /**< letters_format */
} dp_source;
