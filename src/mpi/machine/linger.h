/**
 * @file linger.h
 * The test knob TSL_TEST_SLOW (slow.h) where the backend does not know it: on cards.
 *
 * On the hand, after the device has computed; batches do not overlap then (overlap.h).
 */
#ifndef TSL_MPI_LINGER_H
#define TSL_MPI_LINGER_H

#include "station.h"

/**
 * Sleep as if the units had taken longer; nothing on sockets, whose backends do it.
 * @param[in]     units  as so many units do they count for "+S"
 * @param[in,out] parts  [n] what was slept is added to their seconds
 */
tsl_err tsl_linger(const tsl_station *station, int64_t units, tsl_part *parts, int64_t n);

/** Sleep after a turn of a walk that began at start (tsl_now), on any device. */
tsl_err tsl_linger_turn(double start);

#endif
