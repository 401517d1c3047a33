/**
 * @file tri_cpu_traceback.h
 * Alignments of the pairs of sequences that a unit keeps, on a socket (fam/tri/tri_traceback.h).
 */
#ifndef TSL_CPU_TRI_CPU_TRACEBACK_H
#define TSL_CPU_TRI_CPU_TRACEBACK_H

#include "tri_traceback.h"

/** Ways of a cell: how it is attained, the first of these that does but END before all; whether
 *  gaps that end in it were just opened. */
enum {
  TRI_DIRECTION_PAIR = 0,
  TRI_DIRECTION_LEFT = 1,
  TRI_DIRECTION_UP = 2,
  TRI_DIRECTION_END = 3,
  TRI_DIRECTION_MASK = 3,
  TRI_DIRECTION_LEFT_OPENED = 4,
  TRI_DIRECTION_UP_OPENED = 8,
  TRI_DIRECTION_TOP = 16 /**< side by side, LOCAL: larger than all before it in its row */
};

/** A pair's table at work, row above all. */
typedef struct tri_traceback {
  const uint8_t *b; /**< [m] the pattern's letters */
  int64_t m;
  int32_t *h, *f;          /**< [m + 1] the row above: values, what gaps downwards come from */
  int32_t *now, *e, *pair; /**< [m + 1] of the row */
  int32_t open, extend;
  bool local;
} tri_traceback;

/** Align the pairs of a part that is computed, and fill its lists of spans and operations. */
tsl_err tri_traceback_run(tsl_worker *worker, const tsl_unit *unit, tsl_part *part);

#endif
