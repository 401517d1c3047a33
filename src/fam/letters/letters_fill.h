/**
 * @file letters_fill.h
 * Pieces of files of records into a set, in any order and by several threads.
 */
#pragma once

#include "letters_names.h"
#include "letters_pieces.h"

/** The records of a piece to their places in r->set: what the file has before it, and f->before.
 *  @return TSL_ERR_INPUT with file, line and record: a letter that the alphabet lacks; TSL_ERR_IO:
 *  the file has changed */
tsl_err letters_fill_piece(const letters_reading *r, letters_piece *p, int slot);

/** The same; r->hashes of their names, and which codes they are: p->others and ->highest. */
tsl_err letters_fill_look(const letters_reading *r, letters_piece *p, int slot);

/**
 * The first thing that is wrong with a file: of records [from, to), numbered from 0 in the file, a
 * name given twice, or the piece that failed; what is before is in the table of names.
 * @param[in] equal  compares records as numbered in the file
 */
tsl_err letters_fill_judge(const letters_reading *r, const letters_text_file *f,
                           letters_names *names, const letters_names_equal *equal, int64_t from,
                           int64_t to, int slot);
