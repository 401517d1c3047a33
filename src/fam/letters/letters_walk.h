/**
 * @file letters_walk.h
 * Files of records that gzip packed, from the beginning to the end: where they may be entered, and
 * what comes before the first record behind each of these places.
 */
#pragma once

#include "letters_pieces.h"
#include "letters_reader.h"

/** Marks in their order; release with tsl_free(marks). */
typedef struct letters_marks {
  letters_mark *marks; /**< [n] */
  int64_t n, room;
} letters_marks;

/** One more. */
tsl_err letters_marks_push(letters_marks *list, const letters_mark *mark);

/** What is before. */
letters_mark letters_marks_at(int64_t at, const letters_totals *before);

/**
 * Unpack all of a file and count its records; memory is the text between two entries, or a record.
 * @param[in,out] f  its source is open; gets format, ->has, and the source its entries
 * @param[in] size  bytes of text between entries, letters_inflater_note
 * @param[out] marks    empty before: pieces between entries, and the end
 * @param[out] entries  borrowed by the source
 * @return as letters_read of the records, what comes first in the text; of gzip with the record
 */
tsl_err letters_walk(letters_text_file *f, int64_t size, letters_marks *marks,
                     letters_entries *entries);
