/**
 * @file wave_hand.h
 * What the hand does for a group of tiles. Private to wave.c.
 */
#ifndef TSL_MPI_WAVE_HAND_H
#define TSL_MPI_WAVE_HAND_H

#include "deliver.h"
#include "wave_edges.h"

/** A group on its way: edges in, tiles, edges out, on the hand; then delivered. */
typedef struct tsl_flight {
  tsl_task task;
  const tsl_phase *phase; /**< not owned, as the next two */
  tsl_edges *edges;
  double *freed; /**< tsl_now() when the device had done the last group; the hand's */
  int rank;
  int64_t group;       /**< in edges */
  tsl_unit *units;     /**< [room] */
  tsl_part *parts;     /**< [room] */
  tsl_parcel *parcels; /**< [room] */
  bool posted, sending;
  double start;   /**< tsl_now() when the device began, or was free for it */
  double seconds; /**< predicted */
} tsl_flight;

/** A flight whose task computes a group; units, parts and parcels are the caller's to set.
 *  @param[in] overlaps  the device begins a group while it ends the one before */
tsl_flight tsl_flight_make(const tsl_phase *phase, tsl_edges *edges, int rank, bool overlaps,
                           double *freed);

#endif
