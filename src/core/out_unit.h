/**
 * @file out_unit.h
 * What is known about a unit that has been computed: a row of /run/units and of a checkpoint.
 */
#pragma once

#include "contract.h"

/** A row of /run/units. */
typedef struct tsl_out_unit {
  tsl_unit unit;
  int32_t owner;    /**< rank that computed it, -1 nobody: it was finished before a restart */
  int32_t phase;    /**< the last phase it ran in */
  int32_t dynamic;  /**< 1: taken from another rank, for whom it was planned */
  int32_t reserved; /**< zero */
  double predicted; /**< s */
  double measured;  /**< s, of that phase */
  double start;     /**< s after the start of the run */
  uint64_t check;   /**< checksum (checksum.h) of its boxes of streamed fields; 0: has none */
} tsl_out_unit;
