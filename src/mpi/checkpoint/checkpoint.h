/**
 * @file checkpoint.h
 * The checkpoint file: what has been computed so far, so that another run can go on.
 *
 *     magic[8]  block...  checksum
 *     block     tag (i32)  index (i32)  bytes (i64)  payload, filled up with zeros to 8 bytes
 *
 * Native byte order; the checksum (checksum.h, u64) covers all bytes before it. The format belongs
 * to one version of the program: another version's file is refused. Rows of streamed fields are not
 * in it: they are in FILE.part, and each unit's row of the log holds their checksum.
 *
 * A file is written under a temporary name, synced and renamed, so that a name never holds half a
 * checkpoint. No MPI; errors of the disk are TSL_ERR_IO, of a file's content TSL_ERR_INPUT.
 */
#pragma once

#include "checksum.h"
#include "out_unit.h"

/** First bytes of a file; the last ones count the format. */
#define TSL_CHECKPOINT_MAGIC "TSLCKP\0\4"

/** Plain numbers of a checkpoint. */
typedef struct tsl_checkpoint_head {
  int64_t sequence; /**< counts the checkpoints of a run; the higher of two is the newer */
  int64_t phase;    /**< the phase to go on with */
  int64_t n_units, n_rows, n_fields;
  uint64_t inputs;   /**< checksum of the IN fields; 0: not known */
  tsl_limits limits; /**< the units were cut by; reserved bytes zero */
  double seconds;    /**< that the run had taken, s */
} tsl_checkpoint_head;

/** What a field was. */
typedef struct tsl_checkpoint_field {
  char name[TSL_NAME];
  int64_t shape[3];
  int32_t type, combine, role, stream;
  int64_t place; /**< streamed GATHER: address of its rows in FILE.part; else -1 */
} tsl_checkpoint_field;

/* ------------------------------------------------------------------ writing */

typedef enum tsl_block {
  TSL_BLOCK_HEAD = 1,
  TSL_BLOCK_VERSION, /**< text: version and git hash of the program */
  TSL_BLOCK_FAMILY,  /**< text */
  TSL_BLOCK_DECK,    /**< text: the resolved deck */
  TSL_BLOCK_UNITS,   /**< tsl_unit [n_units] */
  TSL_BLOCK_ROWS,    /**< tsl_out_unit [n_rows]: the finished units */
  TSL_BLOCK_FIELDS,  /**< tsl_checkpoint_field [n_fields] */
  TSL_BLOCK_TILES,   /**< WAVE: bytes saved of each unit, i64 [n_units] */
  TSL_BLOCK_STATES,  /**< WAVE: those bytes in order of units */
  TSL_BLOCK_WALK,    /**< WAVE, a traceback that has begun: tsl_cursor, then its steps so far */
  TSL_BLOCK_DATA,    /**< index: field; its array */
  TSL_BLOCK_COUNTS,  /**< index: LIST field; records of each unit, i64 [n_units] */
  TSL_BLOCK_RECORDS, /**< index: LIST field; the records in order of units */
  TSL_N_BLOCKS
} tsl_block;

/** A file being written. */
typedef struct tsl_checkpoint_writer tsl_checkpoint_writer;

/**
 * Begin a file in memory. The disk is not touched before the memory is used up or it is committed.
 * @param[in] most  bytes of memory that it may take (1 MiB at least): what is beyond is written to
 *                  PATH.tmp as it comes, and so it is where memory cannot be had
 * @param[out] out  end with tsl_checkpoint_commit or tsl_checkpoint_drop; one thread at a time
 */
tsl_err tsl_checkpoint_create(const char *path, int64_t most, tsl_checkpoint_writer **out);

/** Begin a block of so many bytes; tsl_checkpoint_put follows until it has them all. */
tsl_err tsl_checkpoint_block(tsl_checkpoint_writer *writer, tsl_block tag, int index,
                             int64_t bytes);
tsl_err tsl_checkpoint_put(tsl_checkpoint_writer *writer, const void *bytes, int64_t n);

/** A whole block. */
tsl_err tsl_checkpoint_add(tsl_checkpoint_writer *writer, tsl_block tag, int index,
                           const void *bytes, int64_t n);

/** Write PATH.tmp, fsync, rename to PATH, fsync the folder. Frees the writer, sets NULL, also when
 *  it fails: then nothing of it stays, and an older PATH is as it was. */
tsl_err tsl_checkpoint_commit(tsl_checkpoint_writer **writer, int64_t *bytes);

/** Remove PATH.tmp and free; NULL accepted, sets NULL. */
void tsl_checkpoint_drop(tsl_checkpoint_writer **writer);

/* ------------------------------------------------------------------ reading */

/** A checkpoint in memory; arrays point into bytes. */
typedef struct tsl_checkpoint {
  char *bytes; /**< [n_bytes] the file, owned */
  int64_t n_bytes;
  tsl_checkpoint_head head;
  const char *version, *family, *deck; /**< zero-ended */
  const tsl_unit *units;               /**< [n_units] */
  const tsl_out_unit *rows;            /**< [n_rows], ids within n_units, each at most once */
  const tsl_checkpoint_field *fields;  /**< [n_fields], n_fields at most TSL_MAX_FIELDS */
  const int64_t *tiles;                /**< WAVE: [n_units], not negative; else NULL */
  const char *states;                  /**< WAVE: as many bytes as tiles say, in order of units */
  const tsl_cursor *walk;              /**< WAVE: the traceback has begun; else NULL */
  const int64_t (*steps)[2];           /**< [n_steps] of it */
  int64_t n_steps;
  const void *data[TSL_MAX_FIELDS];      /**< array of a field that has one, else NULL */
  const int64_t *counts[TSL_MAX_FIELDS]; /**< LIST: [n_units], not negative; else NULL */
  const char *records[TSL_MAX_FIELDS];   /**< LIST: as many as counts say, in order of units */
} tsl_checkpoint;

/**
 * Check and take apart a file's bytes. Every size is checked before it is used, also of a file
 * whose checksum is right. Global for tests.
 * @param[in] name   for messages
 * @param[in] bytes  [n], from malloc with an address that suits any type; owned by the checkpoint,
 *                   also when it fails
 * @return TSL_ERR_INPUT: what is wrong with it
 */
tsl_err tsl_checkpoint_parse(const char *name, char *bytes, int64_t n, tsl_checkpoint *out);

/** Read and check a file: a regular one, not through a link. */
tsl_err tsl_checkpoint_read(const char *path, tsl_checkpoint *out);

/** Zeroed one is accepted. */
void tsl_checkpoint_clear(tsl_checkpoint *checkpoint);

/**
 * Keys in which two resolved decks differ, as "tri.n, tri.seed", sections run and output and the
 * title left out.
 * @param[in] free_keys  NULL-ended, left out too; NULL: none
 * @param[out] keys  zero-ended, cut to size
 * @return their number
 */
int tsl_checkpoint_differ(const char *deck, const char *other, const char *const *free_keys,
                          char *keys, size_t size);
