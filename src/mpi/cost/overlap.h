/**
 * @file overlap.h
 * Do batches of a rank overlap on its device (tsl_backend.start)?
 */
#ifndef TSL_MPI_OVERLAP_H
#define TSL_MPI_OVERLAP_H

#include "calibrate.h"

/**
 * Not collective. Ask the worker; only while nothing is queued on the hand.
 * @param[out] overlaps  false also where TSL_TEST_SLOW (linger.h) is set: the hand sleeps after a
 *                       batch then, which slows the device only if no other goes on meanwhile
 */
tsl_err tsl_overlaps(const tsl_station *station, bool *overlaps);

#endif
