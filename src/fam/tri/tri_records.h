/**
 * @file tri_records.h
 * PAIRED of sequences (params.streamed): records are read by whoever computes them.
 *
 * The root finds where records are (letters_index.h) and shares that; a rank reads those of a unit
 * from the files, which all ranks must see. A unit is then a problem of its own: its columns have
 * places from 0 on, its rows from `first` on.
 * Fields, [0] where records are not streamed:
 *   TRI_FILES  IN  u8 [.]   path of the other set's file, then of the rows', each zero-ended
 *   TRI_MARKS  IN  i64 [.][6]  letters_mark: pieces of the one and their end, then of the other
 *   TRI_ENTRIES  IN  i64 [.][5]  letters_entry, likewise, of files that are gzip
 *   TRI_HISTORIES  IN  u8 [.]  text before them, packed, of the one, then of the other
 */
#pragma once

#include "letters_reader.h"
#include "tri_letters.h"

TSL_C_BEGIN

enum {
  TRI_WINDOW_BYTES = 1 << 26, /**< of the letters of a unit of several records */
  TRI_RECORD_BYTES = 32       /**< of a pair beside its letters: places, names' places */
};

/** A rank's reader. @param[in] slots  threads that will fill; letters_reader_close() releases it */
tsl_err tri_records_open(const tsl_problem *problem, int slots, letters_reader **reader);

/** Aim at the records of rows [lo, hi). */
tsl_err tri_records_aim(letters_reader *reader, int64_t lo, int64_t hi);

/** Ask the host for rows [lo, hi) ahead. */
void tri_records_ahead(const letters_reader *reader, int64_t lo, int64_t hi);

/** What was read, as a problem of its own: sequences by place.
 *  @param[out] first  place of its first row, columns being from 0 on */
tri_sequences tri_records_sequences(const letters_reader *reader, int64_t *first);

/** Bytes that rows [lo, hi) take when they are read. Any rank. */
int64_t tri_records_bytes(const tsl_problem *problem, int64_t lo, int64_t hi);

TSL_C_END
