/**
 * @file out_h5.h
 * The output: one HDF5 file, written as FILE.part and renamed when whole.
 *
 *   tsl_out_precheck                         root, before anything is computed
 *   tsl_out_create or _create_lasting        collective
 *   tsl_out_field (each streamed field)      all ranks, same order
 *   tsl_out_open_stream                      collective
 *     tsl_out_slab, tsl_out_append           not collective
 *   tsl_out_close_stream                     collective
 *   tsl_out_read_rows, tsl_out_write_rows    root: streamed fields once more, for what is derived
 *   tsl_out_array, _scale, _attr_*, _table.. root does it, other ranks return at once
 *   tsl_out_commit or tsl_out_discard        collective
 *
 * Rank 0 alone creates and describes. With a parallel HDF5 library and several ranks the file is
 * open by MPI-IO between open_stream and close_stream and each rank writes its own boxes of
 * contiguous datasets whose space was reserved before. With a serial library all boxes go
 * through rank 0 into chunked, checksummed and (when asked) compressed datasets.
 *
 * Errors: an error on one rank stays on it; the caller agrees on the verdict after each stage.
 * After a failed write each call returns that failure again; tsl_out_discard always ends. A full
 * disk is TSL_ERR_IO with file, needed and free bytes. Ignore SIGXFSZ in the program, so that a
 * file-size limit is an error and no death.
 * Threads: one thread of a process at a time (HDF5 is not built thread-safe).
 */
#pragma once

#include "columns.h"
#include "machine.h"
#include "out_unit.h"

/** An output file being written. */
typedef struct tsl_out tsl_out;

/**
 * Root, not collective. Can a file of about this size be written there? Leaves nothing behind.
 * @param[in] bytes  expected size of the file
 * @return TSL_ERR_INPUT: no folder, not writable, a folder, exists without overwrite;
 *         TSL_ERR_IO: no room, with needed and free bytes
 */
tsl_err tsl_out_precheck(const char *path, bool overwrite, int64_t bytes);

/**
 * Collective on comm, which is duplicated. Create FILE.part; the .part of a dead run is replaced,
 * that of a living one is refused.
 * @param[in]  path      the same on all ranks
 * @param[in]  compress  deflate level 0..9 for chunked datasets
 * @param[out] out       set on all ranks, also when it fails, so that discard can follow; owned by
 *                       the caller
 */
tsl_err tsl_out_create(MPI_Comm comm, const char *path, bool overwrite, int compress,
                       tsl_out **out);

/**
 * Collective on comm. As tsl_out_create, but the rows of streamed GATHER fields may outlive this
 * run: their datasets are contiguous, without filters, and at the same place of FILE.part for any
 * number of ranks.
 * @param[in] resume  take over FILE.part of an earlier run: all of it is described anew, and the
 *                    rows in it stay as they are; what fails leaves FILE.part there
 * @return TSL_ERR_INPUT when there is none to resume
 */
tsl_err tsl_out_create_lasting(MPI_Comm comm, const char *path, bool overwrite, int compress,
                               bool resume, tsl_out **out);

/** Root, before open_stream: address of a streamed GATHER field's rows in FILE.part; -1 none. */
int64_t tsl_out_place(const tsl_out *out, const tsl_field *field);

/** Root, before open_stream: read a box of a streamed GATHER field; otherwise as tsl_out_slab. */
tsl_err tsl_out_read_slab(tsl_out *out, const tsl_field *field, const int64_t lo[3],
                          const int64_t hi[3], void *data);

/** Collective on out->comm, between open_stream and close_stream; nothing when a rank is silent. Is
 *  FILE.part still there? Removed with its folder, it is made anew with all that was written, where
 *  that can be; else a warning says so, and the end of the run finds another place. */
tsl_err tsl_out_look(tsl_out *out);

/** Collective on out->comm, between open_stream and close_stream. Everything written so far is the
 *  system's, on all ranks, so that an fsync of tsl_out_rows brings it to the disk. When a rank is
 *  silent (heartbeat.h): what this rank has written, and not collective. */
tsl_err tsl_out_flush(tsl_out *out);

/** Not collective; after tsl_out_look. A descriptor of FILE.part for fsync, closed by the caller,
 *  which any thread may use; -1: this rank writes no rows. */
tsl_err tsl_out_rows(const tsl_out *out, int *fd);

/** Does each rank write its own rows, so that each host has some to sync? While the stream is open;
 *  the same answer on all ranks. */
bool tsl_out_by_all(const tsl_out *out);

/** Not collective; the same on all ranks. FILE.part stays when the run fails or ends early, as it
 *  can be continued; or does not again. */
void tsl_out_keep(tsl_out *out, bool keep);

/**
 * Not collective, but called by all ranks in the same order, before open_stream: rank 0 creates,
 * the others take note. Create /results/NAME for a streamed field: GATHER with its full shape (zero
 * extents are legal), LIST empty and extendible.
 */
tsl_err tsl_out_field(tsl_out *out, const tsl_field *field);

/** Collective on out->comm. Make the streamed fields writable. */
tsl_err tsl_out_open_stream(tsl_out *out);

/**
 * Does each rank write its own slabs? Same answer on all ranks, valid after open_stream.
 * False: slabs must be sent to rank 0. True for one rank, and for a parallel library unless a
 * LIST field is streamed.
 */
bool tsl_out_independent(const tsl_out *out);

/**
 * Not collective: any rank when independent, else rank 0. Write a box of a streamed GATHER field.
 * @param[in] lo,hi  half-open box within the shape; an empty box is legal
 * @param[in] data   the box, row-major; borrowed for the call
 */
tsl_err tsl_out_slab(tsl_out *out, const tsl_field *field, const int64_t lo[3], const int64_t hi[3],
                     const void *data);

/**
 * Rank 0, not collective; also after the stream, until tsl_out_end_rows. Append records to a
 * streamed LIST field.
 * @param[in] data  n records of shape[1] * shape[2] elements each
 */
tsl_err tsl_out_append(tsl_out *out, const tsl_field *field, const void *data, int64_t n);

/** Collective on out->comm. End the streaming; after it only rank 0 has the file open. */
tsl_err tsl_out_close_stream(tsl_out *out);

/* All below to tsl_out_summary, not collective: rank 0 acts, other ranks return TSL_OK at once. Not
 * while the stream is open. */

/**
 * Read rows [lo, hi) of the first dimension of a streamed GATHER field back from the file.
 *
 * The dataset stays open with a cache of its chunks (at most 64 MiB) until tsl_out_end_rows or the
 * end of the file: rows taken in order read each chunk once.
 * @param[out] rows  row-major, (hi - lo) * shape[1] * shape[2] elements
 */
tsl_err tsl_out_read_rows(tsl_out *out, const tsl_field *field, int64_t lo, int64_t hi, void *rows);

/** Replace rows [lo, hi) of a streamed GATHER field; otherwise as tsl_out_read_rows. */
tsl_err tsl_out_write_rows(tsl_out *out, const tsl_field *field, int64_t lo, int64_t hi,
                           const void *rows);

/** Close what read_rows and write_rows left open, writing it out. Root; others return at once. */
tsl_err tsl_out_end_rows(tsl_out *out);

/** Write a field held in memory to /results/NAME (an IN field: /input/NAME). */
tsl_err tsl_out_array(tsl_out *out, const tsl_field *field);

/**
 * Attach the dataset of scale as dimension scale of the dataset of field, and label the dimension
 * with its name. Both datasets exist: /results/NAME of OUT fields, /input/NAME of others.
 * @param[in] dim  counts from 0
 */
tsl_err tsl_out_scale(tsl_out *out, const tsl_field *field, int dim, const tsl_field *scale);

/** Attributes. object is an absolute path; "/run", "/results", "/" and "/input" always exist.
 *  Text longer than 32 KiB is TSL_ERR_INTERNAL: use tsl_out_text. */
tsl_err tsl_out_attr_text(tsl_out *out, const char *object, const char *name, const char *value);
tsl_err tsl_out_attr_i64(tsl_out *out, const char *object, const char *name, int64_t value);
tsl_err tsl_out_attr_f64(tsl_out *out, const char *object, const char *name, double value);

/** A text of any length as scalar UTF-8 dataset, "/run/deck". */
tsl_err tsl_out_text(tsl_out *out, const char *path, const char *text);

/** A table: shape [n] of compound type, n >= 0; columns end with TSL_NO_COLUMN. */
tsl_err tsl_out_table(tsl_out *out, const char *path, const tsl_column *columns, const void *rows,
                      size_t row_bytes, int64_t n);

/** A row of /run/calibration: one coefficient of the cost model. */
typedef struct tsl_out_coefficient {
  char device[80]; /**< name of the device */
  char term[24];   /**< "constant", "flops", "bytes", "count" */
  int32_t rank;    /**< rank it holds for */
  int32_t kind;    /**< unit kind */
  double seconds;  /**< per term */
} tsl_out_coefficient;

/** /run/machine: one row for each rank. */
tsl_err tsl_out_machine(tsl_out *out, const tsl_placement *placements, int64_t n);
/** /run/units. */
tsl_err tsl_out_units(tsl_out *out, const tsl_out_unit *rows, int64_t n);
/** /run/calibration. */
tsl_err tsl_out_calibration(tsl_out *out, const tsl_out_coefficient *rows, int64_t n);

/** Texts of /run; all borrowed, NULL is stored as "". */
typedef struct tsl_out_about {
  const char *family, *title, *version, *git_hash, *plan, *start_time; /**< attributes of /run */
  const char *command, *deck, *resolved, *facts;                       /**< datasets of /run */
} tsl_out_about;

/** Store the texts; the layout version goes to attribute "tesela_format" of "/". */
tsl_err tsl_out_about_run(tsl_out *out, const tsl_out_about *about);

/** Verdict to /run (verdict, reason); lines as attributes NAME and NAME_unit of /results. */
tsl_err tsl_out_summary(tsl_out *out, const tsl_summary *summary);

/** Collective on out->comm; sets NULL. Close, fsync, rename to the final name, fsync the folder. On
 *  failure on any rank the .part is removed and all ranks return an error. */
tsl_err tsl_out_commit(tsl_out **out);

/** Not collective; rank 0 acts, others return; may be repeated. The file will be discarded: remove
 *  its working name at once, before a launcher that loses patience kills the ranks. */
void tsl_out_forget(tsl_out *out);

/** Collective on out->comm, after any error in any state; NULL accepted, sets NULL. Close and
 *  remove FILE.part. When a rank is silent (heartbeat.h), rank 0 removes FILE.part and nothing is
 *  closed. */
void tsl_out_discard(tsl_out **out);
