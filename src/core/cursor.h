/**
 * @file cursor.h
 * Where the recovery of a WAVE problem's solution stands (contract.h).
 */
#pragma once

#include <stdint.h>

/**
 * Where the recovery of a WAVE problem's solution stands: plain data, sent between ranks as bytes.
 * The path walks back through the tiles; the rank that owns the lane it is in walks on as far as
 * it can, then the cursor goes to the next owner.
 */
typedef struct tsl_cursor {
  int64_t lane;  /**< whose owner goes on; -1: the traceback is over */
  int64_t at[7]; /**< meaning known to the family and its backends only */
} tsl_cursor;
