/**
 * @file letters_scores.h
 * Scores of alignments: of pairs of letters, plain or of a matrix, and of gaps.
 */
#pragma once

#include "deck.h"
#include "letters.h"

TSL_C_BEGIN

enum { LETTERS_SCORED = 32 /**< most letters that have scores; other alphabets have 256 */ };

/** Scores of an alignment: a gap of length g costs open + g extend (both >= 0). */
typedef struct letters_scores {
  int32_t open, extend;
  int32_t alphabet; /**< letters 0..alphabet-1 */
  int32_t reserved;
  int32_t s[LETTERS_SCORED][LETTERS_SCORED]; /**< score of a pair, symmetric or not: s[a][b] */
} letters_scores;

/**
 * A score matrix in the format of NCBI's BLOSUM files: a line of letters, then for each of them a
 * line with the letter (of a) and its scores with those of the first line (of b).
 *
 * Refused, with the letter and the line: one that the alphabet lacks, or that is there twice, also
 * in two ways of writing; one with a row and no column, or the other way round; too few or too many
 * scores. Letters without scores have 0 and must not occur.
 * @param[in,out] scores  s and alphabet are set
 * @param[out]    known   bit of each letter that has scores
 */
tsl_err letters_scores_parse(const char *path, const char *text, int64_t bytes, int32_t alphabet,
                             letters_scores *scores, uint32_t *known);
tsl_err letters_scores_read(const char *path, int32_t alphabet, letters_scores *scores,
                            uint32_t *known);

/** The map `scores:` of a deck. */
typedef struct letters_scores_deck {
  int64_t match, mismatch, open, extend;
  char *matrix;
} letters_scores_deck;

extern const tsl_key letters_scores_keys[];
/** The same without standards, for a family that fills in LETTERS_MATCH and so on itself. */
extern const tsl_key letters_scores_bare_keys[];
enum { LETTERS_MATCH = 2, LETTERS_MISMATCH = -3, LETTERS_OPEN = 5, LETTERS_EXTEND = 2 };

/**
 * Scores of the map, all but alphabet, which a matrix alone sets.
 * @param[in]  key    where the map is, "dp.scores", for messages
 * @param[out] path   the matrix's file, from tsl_alloc; NULL without one
 * @param[out] known  letters that have scores; untouched without a matrix
 */
tsl_err letters_scores_settle(const tsl_deck *deck, const char *key, const letters_scores_deck *map,
                              int32_t alphabet, letters_scores *scores, char **path,
                              uint32_t *known);

TSL_C_END
