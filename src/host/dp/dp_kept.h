/**
 * @file dp_kept.h
 * What a recovery keeps of a wavefront (special rows and columns): in memory of the device, or,
 * with dp.special_rows, in a scratch file, from which it is fetched when the way back comes there.
 */
#pragma once

#include "dp_host.h"
#include "scratch_file.h"

TSL_C_BEGIN

/** A state or an edge. */
typedef struct dp_kept {
  dp_buffer data; /**< memory of the device; empty: it is in the file, or there is none */
  int64_t bytes;  /**< 0: there is none, but the boundary */
  int64_t at;     /**< its place in the file; meaningful when in_file */
  bool in_file;
} dp_kept;

/** All that is kept; zero-initialise, dp_keep_clear. */
typedef struct dp_keep {
  int64_t bytes; /**< of all, wherever they are */
  tsl_scratch_file file;
} dp_keep;

/** Bytes that may be kept: dp.memory or dp.special_rows.size. */
int64_t dp_keep_most(const dp_context *c);

/** Room in memory of the device for so many bytes more. @return errors of the device */
tsl_err dp_kept_reserve(const dp_context *c, dp_keep *keep, int64_t bytes, const char *what,
                        dp_kept *kept);

/** Where rows go to a file: write it there unless that is done, and free its memory; waits.
 *  @return TSL_ERR_INPUT: no file can be made in the folder; TSL_ERR_IO */
tsl_err dp_kept_store(const dp_context *c, dp_keep *keep, dp_kept *kept);

/** Back to memory of the device, if it is not there; waits. @return TSL_ERR_IO, or the device's */
tsl_err dp_kept_fetch(const dp_context *c, const dp_keep *keep, dp_kept *kept);

/** Free its memory. */
void dp_kept_release(const dp_context *c, dp_kept *kept);

/** Bytes of memory that all takes, while some bytes are fetched. */
int64_t dp_keep_held(const dp_context *c, const dp_keep *keep, int64_t fetched);

void dp_keep_clear(dp_keep *keep);

TSL_C_END
