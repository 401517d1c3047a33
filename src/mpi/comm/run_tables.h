/**
 * @file run_tables.h
 * Tables of /run that `tesela show` reads back: their rows, and the columns of these.
 */
#pragma once

#include "columns.h"
#include "placement.h"

/** One rank's share of the work; a row of /run/balance. */
typedef struct tsl_share_line {
  int32_t rank, reserved;
  int64_t units, dynamic; /**< computed; of these taken from other ranks */
  double static_share;    /**< share 0..1 of all items in this rank's units dealt before the run */
  double predicted;       /**< s, of the units it got */
  double busy, finish;    /**< s of device time; s from the phase's start to its last unit's end */
  double idle;            /**< s of the phase without device work: wall - busy */
} tsl_share_line;

/** /run/machine, of tsl_placement; /run/balance, of tsl_share_line. */
extern const tsl_column tsl_machine_columns[], tsl_balance_columns[];
