/**
 * @file xc_frames.h
 * XYZ files of several frames: a path of a reaction, a trajectory. All frames are of the same atoms
 * in the same order, each as xc_molecule_parse_xyz has it, one after another; empty lines may stand
 * between them. Of extended XYZ the comment is looked at for its Properties, which must begin with
 * the element and the place ("species:S:1:pos:R:3"); a Lattice is not used.
 */
#pragma once

#include "table_read.h"
#include "xc_molecule.h"

TSL_C_BEGIN

/** Release with xc_frames_clear. */
typedef struct xc_frames {
  int64_t n, n_atoms;
  int64_t *number; /**< [n] of the frame in the file, from 1 */
  xc_atom *atoms;  /**< [n][n_atoms], bohr */
} xc_frames;

/**
 * Read all frames of a text.
 * @param[in] path  for messages
 * @return TSL_ERR_INPUT naming file, line and frame: what is no frame, or of other atoms than the
 *         first
 */
tsl_err xc_frames_parse(const char *path, const char *text, int64_t bytes, xc_frames *frames);

/**
 * Keep some frames of those that were read: "all", "first:last" or "first:last:step", numbers from
 * 1, both ends included; without first from the first, without last to the last.
 * @return TSL_ERR_INPUT: no such words, or no such frames
 */
tsl_err xc_frames_choose(const char *which, xc_frames *frames);

void xc_frames_clear(xc_frames *frames);

/**
 * The next frame of a text.
 * @param[in] number  of the frame, for messages; 0: there is one alone
 * @param[out] atoms  [n] from tsl_alloc, the caller's; NULL when it fails
 */
tsl_err xc_xyz_next(table_lines *lines, int64_t number, xc_atom **atoms, int64_t *n);

TSL_C_END
