/**
 * @file letters_reader.h
 * Some records of large files at a time: of each file those from one number to another.
 *
 * It is known where in their text pieces begin, and where gzip may be entered (letters_index.h), so
 * that any rank reads what it needs, and no more than a piece before and behind it. Memory: that
 * text, and of each slot a piece.
 */
#pragma once

#include "letters_gzip.h"
#include "letters_records.h"

TSL_C_BEGIN

/** Where a piece begins, in bytes, and what comes before it in its file; plain data. */
typedef struct letters_mark {
  int64_t at, records, letters, names, lines;
  int64_t sum; /**< a checksum of its own codes: who goes on with a run has the same letters */
} letters_mark;

/** A file in pieces; borrowed. */
typedef struct letters_marked {
  letters_ask ask;
  int32_t format;
  const letters_mark *marks; /**< [n + 1], the last one: the end */
  int64_t n;
  letters_entries entries; /**< of gzip, at the first piece and before others */
} letters_marked;

typedef struct letters_reader letters_reader;

/**
 * Open files; marks and paths are borrowed as long as the reader.
 * @param[in]  n      1 to LETTERS_FILES
 * @param[in]  slots  threads that will fill
 * @param[out] reader letters_reader_close() releases it; NULL on failure
 */
tsl_err letters_reader_open(const letters_marked *files, int n, int slots, letters_reader **reader);
void letters_reader_close(letters_reader **reader);

/** Memory of another kind, such as a device takes at once; free accepts NULL. */
typedef struct letters_memory {
  tsl_err (*alloc)(int64_t bytes, void **memory);
  void (*free)(void *memory);
} letters_memory;

/** Codes and starts of sets are in such memory; before anything is read.
 *  @param[in] records,letters  room for so many is taken now; larger sets take theirs when read
 *  @return TSL_ERR_MEMORY */
tsl_err letters_reader_memory(letters_reader *reader, const letters_memory *memory, int64_t records,
                              int64_t letters);

/** What is to be read next: of file f records [lo[f], hi[f]), numbered from 0. What was read before
 *  is lost. @return TSL_ERR_MEMORY */
tsl_err letters_reader_aim(letters_reader *reader, const int64_t *lo, const int64_t *hi);

/** Pieces that have them, and fill the set with one: in any order, a thread each slot.
 *  @return TSL_ERR_INPUT with file, line and record; TSL_ERR_IO also for a file that has changed */
int64_t letters_reader_pieces(const letters_reader *reader);
tsl_err letters_reader_fill(letters_reader *reader, int64_t piece, int slot);

/** All at once, by the threads of parallel.h; as many slots. */
tsl_err letters_reader_read(letters_reader *reader, const int64_t *lo, const int64_t *hi);

/** These records are wanted soon: the host may read ahead. */
void letters_reader_ahead(const letters_reader *reader, const int64_t *lo, const int64_t *hi);

/** The set: those of file 0, then those of file 1, and some before and behind them.
 *  @param[out] at  [n] which of the set record lo[f] is; or NULL */
const letters_set *letters_reader_set(const letters_reader *reader, int64_t *at);

/** For who checks the text: pieces of the set, file by file, which note what fails. */
struct letters_reading *letters_reader_reading(letters_reader *reader);

/** Number of the last piece of a file that begins with record k or before it. */
int64_t letters_marked_find(const letters_mark *marks, int64_t n, int64_t k);

TSL_C_END
