/**
 * @file dp_letters.h
 * Sequences of decks: from files, texts and dice to codes, and tables of scores for their letters.
 */
#pragma once

#include "dp.h"
#include "dp_source.h"
#include "letters.h"
#include "letters_text.h"

/* --------------------------------------------------------------- sequences */

/** A sequence of a problem. */
typedef struct dp_sequence {
  uint8_t *codes; /**< [n] from tsl_alloc; NULL for n = 0 */
  char *letters;  /**< [n] as they were written, from tsl_alloc; NULL unless asked for */
  int64_t n;
  char name[LETTERS_NAME]; /**< of a FASTA record; else empty */
  char about[512];         /**< where it comes from and how it was read, one line */
} dp_sequence;

/** What sequence is wanted. */
typedef struct dp_sequence_ask {
  const char *key; /**< "dp.a", for messages */
  const dp_source *source;
  int32_t alphabet;
  const dp_sequence *of; /**< what `mutate` copies; NULL none */
  uint32_t known;        /**< letters that have scores, a bit for each code */
  const char *matrix;    /**< the file that they are in; NULL: all letters are known */
  bool keep;             /**< letters as written are wanted, too */
} dp_sequence_ask;

/** @return TSL_ERR_INPUT with the place of a letter that cannot be: file, line, record */
tsl_err dp_sequence_read(const tsl_deck *deck, const dp_sequence_ask *ask, dp_sequence *out);

void dp_sequence_clear(dp_sequence *sequence);

/** Letters of a source as codes alone. @param[out] codes  [*n] from tsl_alloc; NULL for n = 0 */
tsl_err dp_read_letters(const tsl_deck *deck, const char *key, const dp_source *source,
                        int32_t alphabet, uint8_t **codes, int64_t *n);
