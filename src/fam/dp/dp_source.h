/**
 * @file dp_source.h
 * Where letters or numbers of a deck come from.
 */
#ifndef TSL_FAM_DP_SOURCE_H
#define TSL_FAM_DP_SOURCE_H

#include "deck.h"

/** Formats of files of letters, in the order of the deck's words. */
typedef enum dp_text_format {
  DP_TEXT_AUTO,  /**< FASTA by the file's name and its first character, else plain text */
  DP_TEXT_FASTA, /**< records behind lines that begin with '>' */
  DP_TEXT_PLAIN  /**< the whole file is one sequence */
} dp_text_format;

/** Where a sequence or an array of numbers comes from: exactly one of text, values, file, random.
 */
typedef struct dp_source {
  char *text, *file, *dataset;
  tsl_reals values;
  tsl_ints columns;
  int64_t record, random, seed;
  double lo, hi, mutate;
  int32_t format; /**< dp_text_format */
} dp_source;

#endif
