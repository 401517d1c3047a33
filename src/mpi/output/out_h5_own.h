/**
 * @file out_h5_own.h
 * Shared by the files out_h5*.c only.
 */
#pragma once

#include "out_disk.h"
#include "out_h5.h"

/** A streamed field. */
typedef struct tsl_out_stream {
  char name[TSL_NAME];
  bool is_list;
  hid_t dataset; /**< -1: not open on this rank */
  hsize_t count; /**< LIST: records so far */
} tsl_out_stream;

typedef enum tsl_out_stage { TSL_OUT_DEFINE, TSL_OUT_STREAM, TSL_OUT_DESCRIBE } tsl_out_stage;

struct tsl_out {
  MPI_Comm comm; /**< own copy, MPI_COMM_NULL before */
  int rank, size;
  char *path, *part; /**< final name, working name */
  bool overwrite;
  bool made;     /**< root: FILE.part is ours to remove */
  bool parallel; /**< the library writes by MPI-IO and there are several ranks */
  bool mpio;     /**< the file is open by MPI-IO now */
  bool plain;    /**< rows may be taken over by another run */
  bool resume;   /**< rows of an earlier run are taken over */
  bool keep;     /**< FILE.part stays when the run fails */
  bool gone;     /**< root: FILE.part was removed and could not be made anew: it was said */
  bool reopens;  /**< the file is closed while it gets a new place */
  int compress;
  tsl_out_stage stage;
  tsl_disk disk; /**< root; fd holds the lock for the whole life, -1: not open */
  hid_t driver;  /**< root */
  hid_t file;    /**< -1: not open on this rank */
  tsl_out_stream streams[TSL_MAX_FIELDS];
  int n_streams;
  tsl_err_copy failure; /**< code not TSL_OK: returned by each later call */
};

/** Native HDF5 type of a tsl_type. */
hid_t tsl_out_type(int32_t type);

/** Start an error with HDF5's innermost message; what is "write dataset 'x'". */
tsl_err tsl_out_h5_fail(const tsl_out *out, const char *file, int line, const char *what,
                        const char *name);

/** The folder of a file's name; freed by the caller. */
tsl_err tsl_out_folder(const char *path, char **folder);

/** Collective on out->comm. An error where a host does not see the root's file under its name:
 *  MPI_File_open would hang, or take another file for it. */
tsl_err tsl_out_check_visible(tsl_out *out);

/** Root, once the file is open by MPI-IO: remove the files of Open MPI's shared file pointer, which
 *  nobody uses, while they are open, so that a run that is killed leaves none. Those of dead runs
 *  go as well. */
void tsl_out_remove_pointers(const tsl_out *out);

/** Turn a failed write of the driver into an error, and keep any error for later calls. */
tsl_err tsl_out_settle(tsl_out *out, tsl_err err);

/** An error when an earlier call failed or the stage is another one. */
tsl_err tsl_out_ready(const tsl_out *out, tsl_out_stage stage);

/**
 * Creation properties: contiguous, or chunked with checksum and compression.
 * @param[in] dims     shape [rank]
 * @param[in] grows    the first extent is unlimited
 * @param[in] filters  chunked; false: contiguous, space reserved at once
 */
hid_t tsl_out_layout(const tsl_out *out, int rank, const hsize_t *dims, size_t element, bool grows,
                     bool filters);

/** Root: open the file with our own driver; create it, or open it again after an MPI-IO stream. */
tsl_err tsl_out_open_root(tsl_out *out, bool create);

/** Root: is FILE.part the file that is open? */
bool tsl_out_in_place(const tsl_out *out);

/** Root, all closed: make FILE.part anew when it was removed. */
tsl_err tsl_out_restore(tsl_out *out);

/** Root: a whole file that cannot get its name gets another, here or in another folder.
 *  @return why, with the name in its message */
tsl_err tsl_out_rescue(tsl_out *out, tsl_err why);

/** Collective on out->comm, and agrees. Open the file and its streamed fields by MPI-IO. */
tsl_err tsl_out_open_mpio(tsl_out *out);

/** Collective on out->comm while mpio, else not. Close what is open of the file on this rank;
 *  descriptor and lock stay. */
herr_t tsl_out_close_file(tsl_out *out);

/** Access properties of a streamed dataset: a cache for its chunks. -1 on failure. */
hid_t tsl_out_stream_access(void);

/** The entry of a streamed field, list or not; an error in another stage or when there is none. */
tsl_err tsl_out_find_stream(tsl_out *out, tsl_out_stage stage, const tsl_field *field, bool is_list,
                            tsl_out_stream **stream);

/** Root, after the stream: open the dataset for the calls that follow, if it is not open. */
tsl_err tsl_out_reopen(tsl_out *out, tsl_out_stream *stream, const tsl_field *field);

/** "/results/NAME" of an OUT field, "/input/NAME" of others; returns path. */
char *tsl_out_path_of(const tsl_field *field, char path[TSL_NAME + 16]);

/** unit, doc, order of a field. */
herr_t tsl_out_put_field(hid_t dataset, const tsl_field *field);

#define TSL_H5(out, call, what, name)                                   \
  do {                                                                  \
    if ((call) < 0) {                                                   \
      err = tsl_out_h5_fail((out), __FILE__, __LINE__, (what), (name)); \
      goto done;                                                        \
    }                                                                   \
  } while (0)
