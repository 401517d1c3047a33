/**
 * @file station.h
 * A rank's device as the main thread sees it.
 */
#ifndef TSL_MPI_STATION_H
#define TSL_MPI_STATION_H

#include "hand.h"
#include "seat.h"

/** What a rank needs to run units: backend, worker, and the hand that drives them. */
typedef struct tsl_station {
  const tsl_problem *problem; /**< not owned */
  const tsl_backend *backend; /**< not owned */
  tsl_worker *worker;         /**< opened on the hand */
  tsl_hand *hand;
  const tsl_seat *seat; /**< this rank's; not owned */
} tsl_station;

#endif
