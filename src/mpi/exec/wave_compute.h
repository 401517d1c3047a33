/**
 * @file wave_compute.h
 * What the compute thread does for a group of tiles. Private to wave.c.
 */
#pragma once

#include "result_writer.h"
#include "wave_edges.h"

/** A group on its way: edges in, tiles, edges out, on the compute thread; then delivered. */
typedef struct tsl_wave_batch {
  tsl_task task;
  const tsl_phase *phase; /**< not owned, as the next two */
  tsl_edges *edges;
  double *freed; /**< tsl_now() when the device had done the last group; the compute thread's */
  int rank;
  int64_t group;        /**< in edges */
  tsl_unit *units;      /**< [room] */
  tsl_part *parts;      /**< [room] */
  tsl_message *parcels; /**< [room] */
  bool posted, sending;
  double start;   /**< tsl_now() when the device began, or was free for it */
  double seconds; /**< predicted */
} tsl_wave_batch;

/** A batch whose task computes a group; units, parts and parcels are the caller's to set.
 *  @param[in] overlaps  the device begins a group while it ends the one before */
tsl_wave_batch tsl_wave_batch_make(const tsl_phase *phase, tsl_edges *edges, int rank,
                                   bool overlaps, double *freed);
