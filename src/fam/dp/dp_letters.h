/**
 * @file dp_letters.h
 * Sequences: from files and decks to codes, and tables of scores for their letters.
 *
 * A letter equals itself and no other, N and the other ambiguous ones too. Two ways of writing are
 * one letter: lower case and upper case of dna, rna and protein; U is T in dna, T is U in rna.
 */
#ifndef TSL_FAM_DP_LETTERS_H
#define TSL_FAM_DP_LETTERS_H

#include "dp.h"
#include "dp_source.h"

/** Words of `alphabet`. */
typedef enum dp_alphabet { DP_BYTES, DP_DNA, DP_RNA, DP_PROTEIN } dp_alphabet;

extern const char *const dp_alphabet_words[];

/** Code of a character, or -1. Bytes are their own codes. */
int dp_letter_code(int32_t alphabet, char character);

/** The character of a code. */
char dp_letter(int32_t alphabet, uint8_t code);

/** All letters of an alphabet in the order of their codes; "" for bytes. */
const char *dp_alphabet_letters(int32_t alphabet);

/** How many codes a problem with these letters has: those that usual sequences have (dna and rna 5,
 *  proteins 24, bytes 256), and up to the largest that occurs. */
int32_t dp_alphabet_size(int32_t alphabet, const uint8_t *codes, int64_t n);

/* ------------------------------------------------------------------- files */

/** What to read of a file of letters. */
typedef struct dp_text_ask {
  const char *path;
  int32_t format; /**< dp_text_format */
  int64_t record; /**< FASTA: from 1 */
  bool bytes;     /**< plain text: every byte is a letter; else blanks and line ends are none */
} dp_text_ask;

enum { DP_NAME = 255 }; /* SAM has names of up to 254 characters */

/** A text as read. */
typedef struct dp_text {
  char *letters; /**< [n] not zero-ended, from tsl_alloc */
  int64_t n;
  int32_t format;     /**< never AUTO */
  char name[DP_NAME]; /**< FASTA: first word of the header, what is not printable as '?' */
} dp_text;

/** Letters of a text in memory. Global for tests. @return TSL_ERR_INPUT naming the file */
tsl_err dp_text_parse(const dp_text_ask *ask, const char *bytes, int64_t n_bytes, dp_text *out);

/** Line and column, from 1, of letter k (from 0) of a text that was parsed. */
void dp_text_place(const dp_text_ask *ask, const dp_text *text, const char *bytes, int64_t n_bytes,
                   int64_t k, int64_t *line, int64_t *column);

/* ---------------------------------------------------------------- matrices */

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
tsl_err dp_scores_parse(const char *path, const char *text, int64_t bytes, int32_t alphabet,
                        dp_scores *scores, uint32_t *known);
tsl_err dp_scores_read(const char *path, int32_t alphabet, dp_scores *scores, uint32_t *known);

/* --------------------------------------------------------------- sequences */

/** A sequence of a problem. */
typedef struct dp_sequence {
  uint8_t *codes; /**< [n] from tsl_alloc; NULL for n = 0 */
  char *letters;  /**< [n] as they were written, from tsl_alloc; NULL unless asked for */
  int64_t n;
  char name[DP_NAME]; /**< of a FASTA record; else empty */
  char about[512];    /**< where it comes from and how it was read, one line */
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

#endif
