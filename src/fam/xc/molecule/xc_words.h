/**
 * @file xc_words.h
 * Words of a line of a text file, for the readers of molecules and basis sets.
 */
#pragma once

#include "table_read.h"
#include "xc_molecule.h"

enum { XC_MAX_WORDS = 64 };

/** Blank-separated words of the current line; they point into the file's text. */
typedef struct xc_words {
  const table_lines *lines;
  const char *text[XC_MAX_WORDS], *end[XC_MAX_WORDS];
  int64_t n; /**< words of the line, of which the first XC_MAX_WORDS are stored */
} xc_words;

/** Cut the current line of lines. */
void xc_words_cut(const table_lines *lines, xc_words *words);

/** Go to the next line that has words, comments left out, and cut it. @return false at the end */
bool xc_words_next(table_lines *lines, xc_words *words);

/** Is word w (any case) the zero-ended text? false when there is no word w. */
bool xc_word_is(const xc_words *words, int64_t w, const char *text);

/** Copy word w, shortened to 47 characters, unprintable ones as '?'; returns shown. */
const char *xc_word_shown(const xc_words *words, int64_t w, char shown[48]);

/** Finite real number; exponents may be written with d or D.
 *  @return TSL_ERR_INPUT naming file, line and word */
tsl_err xc_word_real(const xc_words *words, int64_t w, double *value);

/** Integer in lo..hi; what names it. @return TSL_ERR_INPUT naming file, line, word and range */
tsl_err xc_word_integer(const xc_words *words, int64_t w, const char *what, int64_t lo, int64_t hi,
                        int64_t *value);

/** Element by symbol or atomic number. @return TSL_ERR_INPUT with the nearest symbol */
tsl_err xc_word_element(const xc_words *words, int64_t w, int32_t *z);

/** Likewise, or the ghost of an element in one of the spellings of xc_molecule.h. */
tsl_err xc_word_atom(const xc_words *words, int64_t w, int32_t *z, int32_t *ghost);

/** Atoms of a molecule that word w names, by number or element; an element names no ghosts.
 *  @param[out] named  [n_atoms]
 *  @param[out] found  how many
 *  @return TSL_ERR_INPUT: it is no element, and no number of an atom */
tsl_err xc_word_atoms(const xc_words *words, int64_t w, const xc_molecule *molecule, bool *named,
                      int64_t *found);
