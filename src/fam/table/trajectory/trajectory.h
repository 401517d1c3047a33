/**
 * @file trajectory.h
 * Trajectories: files of many frames, each the places of the same atoms and a periodic cell.
 *
 * XYZ and extended XYZ (`Lattice="ax ay az bx by bz cx cy cz"`, `pbc="T T F"`, `Properties=...`)
 * are read here. XTC, TRR, DCD, PDB and others go through the C interface of libchemfiles, which is
 * loaded at run time: Debian 12 has no package of it, PyPI's wheel `chemfiles` holds it.
 *
 * The root scans a file (trajectory_scan) and tells all where frames are; then each thread that
 * reads has a reader of its own, and reads any frame in any order. Lengths are in angstrom.
 */
#pragma once

#include "memory.h"

TSL_C_BEGIN

enum { TRAJECTORY_NOTE = 256, TRAJECTORY_NAME = 24 };

typedef enum trajectory_format { TRAJECTORY_XYZ, TRAJECTORY_LIBRARY } trajectory_format;

/** Where a frame is: plain data, sent as bytes. */
typedef struct trajectory_place {
  int64_t number; /**< from 1 */
  int64_t offset; /**< XYZ: of its first line, bytes */
  int64_t line;   /**< XYZ: number of that line, from 1 */
} trajectory_place;

/** The cell of a frame; rows are the vectors a, b, c. */
typedef struct trajectory_cell {
  double vectors[3][3]; /**< zero where there is none */
  int32_t periodic[3];  /**< 1: along this vector */
  int32_t given;        /**< 1: the frame has one */
} trajectory_cell;

/** What a file holds; trajectory_clear frees it. */
typedef struct trajectory {
  int32_t format; /**< trajectory_format */
  int64_t n, n_atoms;
  int64_t bytes; /**< of the file that are read, before a last frame that is cut off; 0: all */
  trajectory_place *places;   /**< [n] */
  trajectory_cell *cells;     /**< [n_cells] of the first frames */
  int64_t n_cells;            /**< XYZ: n; else 1, as others are known only when they are read */
  char note[TRAJECTORY_NOTE]; /**< of a last frame that is left out; empty: none is */
} trajectory;

/** Name of an atom, zero-filled to its end. */
typedef char trajectory_name[TRAJECTORY_NAME];

/** A frame as read; from trajectory_frame_create. */
typedef struct trajectory_frame {
  int64_t n;
  double *at; /**< [n][3] */
  trajectory_cell cell;
  trajectory_name *names; /**< [n] symbols of XYZ, else the library's types of atoms; or NULL */
} trajectory_frame;

/** Reads the frames of one file; of one thread at a time. */
typedef struct trajectory_reader trajectory_reader;

/**
 * Find the frames of a file by the ending of its name. XYZ: all of the same number of atoms, with a
 * cell in all frames or in none; a last frame that is cut off is left out and noted.
 * @return TSL_ERR_INPUT naming file, line and frame; of an unknown ending, or a library that lacks
 */
tsl_err trajectory_scan(const char *path, trajectory *t);
void trajectory_clear(trajectory *t);

/**
 * Keep "all", "first:last" or "first:last:step", numbers from 1, both ends included.
 * @return TSL_ERR_INPUT: no such words, or no such frames
 */
tsl_err trajectory_choose(const char *which, trajectory *t);

/** @param[in] names  reading gives names, too */
tsl_err trajectory_frame_create(int64_t n, bool names, trajectory_frame *frame);
void trajectory_frame_clear(trajectory_frame *frame);

/** @param[in] format,bytes  as from the scan */
tsl_err trajectory_open(const char *path, int32_t format, int64_t bytes,
                        trajectory_reader **reader);
/** NULL accepted, sets NULL. */
void trajectory_close(trajectory_reader **reader);

/** Read a frame of frame->n atoms. @return TSL_ERR_INPUT naming file, frame, and of XYZ the line;
 *  of names that are wanted and lack, or are longer than TRAJECTORY_NAME - 1 */
tsl_err trajectory_read(trajectory_reader *reader, const trajectory_place *place,
                        trajectory_frame *frame);

/* ------------------------------------------------ for the readers */

/** Columns of extended XYZ, words of an atom's line counted from 0. */
typedef struct trajectory_comment {
  trajectory_cell cell;
  int64_t column;  /**< of x */
  int64_t species; /**< of the symbol; -1: there is none */
} trajectory_comment;

/** Parse the second line of a frame. @param[in] where  "FILE:LINE: frame N", for messages */
tsl_err trajectory_comment_parse(const char *text, const char *end, const char *where,
                                 trajectory_comment *comment);

tsl_err trajectory_xyz_scan(const char *path, trajectory *t);
tsl_err trajectory_xyz_open(const char *path, void **state);
void trajectory_xyz_close(void *state);
tsl_err trajectory_xyz_read(void *state, const trajectory_place *place, trajectory_frame *frame);

/** What the bytes of a file say about its end, whatever libchemfiles makes of them. */
typedef struct trajectory_end {
  int64_t whole;             /**< frames that are all there; -1: not known */
  char cut[TRAJECTORY_NOTE]; /**< what is there of the frame after them; empty: nothing */
  int64_t announced;         /**< DCD: frames, by the header; else 0 */
  int64_t atoms;             /**< PDB: of a frame after the last END; -1: there is none */
  bool ended;                /**< PDB: an END is there */
  int64_t keep;              /**< LAMMPS, GRO: bytes before the frame of `cut`, else 0 */
} trajectory_end;

/**
 * Look at the end of a file of DCD, XTC, TRR, PDB, GRO or LAMMPS; of others nothing is known. A
 * file that does not begin as its ending says is left to the library, which refuses it.
 * @return TSL_ERR_INPUT: a header or a frame in the middle is broken
 */
tsl_err trajectory_end_find(const char *path, trajectory_end *end);

tsl_err trajectory_library_scan(const char *path, trajectory *t);
/** @param[in] bytes  that the library sees; 0: all */
tsl_err trajectory_library_open(const char *path, int64_t bytes, void **state);
void trajectory_library_close(void *state);
tsl_err trajectory_library_read(void *state, const trajectory_place *place,
                                trajectory_frame *frame);

TSL_C_END
