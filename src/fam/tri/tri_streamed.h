/**
 * @file tri_streamed.h
 * What the root keeps of sequences that are read when they are wanted (tri_records.h).
 */
#pragma once

#include "letters_index.h"
#include "tri_family.h"
#include "tri_records.h"

typedef struct tri_streamed {
  letters_index index; /**< of the other set's file, then of the rows' */
  letters_ask asks[LETTERS_FILES];
  char *paths[LETTERS_FILES];          /**< of asks */
  double *work;                        /**< tri_own.work */
  tsl_err_copy unknown[LETTERS_FILES]; /**< of each set the first letter that the matrix lacks */
  int64_t most[2], pair[2];  /**< bytes of the largest alignment, on a socket and on a card, and
                                       its row */
  int64_t same[2];           /**< references that SAM writes alike; same[0] is -1: none */
  letters_reader *reader;    /**< of the window; or NULL */
  int64_t window[2];         /**< rows [lo, hi) */
  int64_t at[LETTERS_FILES]; /**< which of the reader's set record lo is */
} tri_streamed;

/**
 * Look at all records of two files.
 * @param[in]  asks  of the other set, then of the rows
 * @param[out] failed  as of letters_read; -1: an error is of another key, and has its place
 * @param[out] points  streamed, and of letters all but codes and names
 */
tsl_err tri_streamed_load(const tsl_deck *deck, const tri_deck *s, const letters_ask *asks,
                          int *failed, tri_points *points);

/** Who reads the records, and what is kept of gzip for that: a line, for people. */
void tri_streamed_describe(const tri_streamed *streamed, char *text, size_t size);

/** Are all letters known to the matrix? */
tsl_err tri_streamed_known(const tri_streamed *streamed);

/** Fields TRI_FILES to TRI_HISTORIES, and what params and own have of them; empty without. */
tsl_err tri_streamed_add(tsl_problem *problem);

void tri_streamed_clear(tri_streamed **streamed);
