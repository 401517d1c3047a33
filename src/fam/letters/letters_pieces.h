/**
 * @file letters_pieces.h
 * Files of records in pieces that threads take: cut where records begin, and counted.
 *
 * What is wrong with a piece is found by any thread, and said in the order of the file: when the
 * lines and records before it are known, the first piece that fails is read again for its message.
 */
#pragma once

#include "letters_records.h"
#include "letters_scan.h"
#include "letters_source.h"

/** How much there is. */
typedef struct letters_totals {
  int64_t records, letters, names, lines; /**< names: their characters, each with its 0 */
  int64_t shortest, longest;
} letters_totals;

/** A part of a file that begins with a record; the first one of a file with the file. */
typedef struct letters_piece {
  int file;
  int64_t lo, hi;             /**< bytes; lo -1: no record begins there */
  letters_totals has, before; /**< of itself; of the file's pieces before it */
  bool failed;                /**< its text is wrong */
  int64_t taken;              /**< records whose names are in the set */
  int64_t others;             /**< letters_others */
  uint8_t highest;            /**< of its codes */
  uint64_t sum;               /**< letters_mark */
} letters_piece;

/** A file. */
typedef struct letters_text_file {
  const letters_ask *ask;
  letters_source source;
  tsl_err_copy error;         /**< what is wrong with it; it has no pieces then */
  int64_t first, n;           /**< pieces */
  letters_totals has, before; /**< of itself; what is added to its places for those in the set */
  letters_coder coder;
} letters_text_file;

/** All that is read together. */
typedef struct letters_reading {
  letters_text_file *files; /**< [n] */
  int n;
  letters_piece *pieces;   /**< [n_pieces], file by file */
  int64_t n_pieces, size;  /**< size: bytes of text of a piece, about */
  letters_buffer *buffers; /**< [tsl_parallel_slots()] */
  uint64_t *hashes;        /**< [set->n] of names */
  letters_set *set;
} letters_reading;

/** Keep an error as the file's own; nothing for TSL_OK. */
void letters_pieces_note(letters_text_file *f, tsl_err err);

/** Has the file no error? */
bool letters_pieces_good(const letters_text_file *f);

void letters_totals_add(letters_totals *sum, const letters_totals *t);

/** Texts of the files, in pieces. Sources are open, or have errors.
 *  @param[out] r  pieces, from tsl_alloc; errors of files */
tsl_err letters_pieces_open(letters_reading *r);

/** Count the records of all: `has` and `before` of pieces and files, set->n and ->of; errors of
 *  files. Pieces are whole records then, and no other text of FASTQ follows. */
tsl_err letters_pieces_count(letters_reading *r);

/** Count records from a scan's place on. @param[in] stop  up to the first header here or behind
 *  @param[out] border  that header; NULL: all was counted */
tsl_err letters_pieces_count_to(letters_scan *s, const char *stop, letters_totals *t,
                                const char **border);

/** Has it a record? @return TSL_ERR_INPUT: none */
tsl_err letters_pieces_some(const letters_text_file *f);

/** How it was read, one line for people: file, format, alphabet, sizes.
 *  @param[in] others  letters_others of all */
void letters_pieces_describe(const letters_text_file *f, int64_t others, char *about, size_t size);

/** Begin to scan a piece, lines and records numbered as those of the file. */
tsl_err letters_pieces_scan(const letters_reading *r, const letters_piece *p, int slot,
                            letters_scan *s);

/** Take pieces [lo, hi) one after another; one that is refused as input is marked. */
typedef tsl_err letters_piece_fn(const letters_reading *r, letters_piece *p, int slot);
tsl_err letters_pieces_each(const letters_reading *r, int slot, int64_t lo, int64_t hi,
                            letters_piece_fn *take);
