/**
 * @file batch.h
 * How many units travel to the device together, in phases and when calibrating alike.
 */
#ifndef TSL_MPI_BATCH_H
#define TSL_MPI_BATCH_H

#include "contract.h"

enum { TSL_MAX_BATCH = 256 };

/** Seconds of a batch that hide its start well; no more units than that travel together. */
#define TSL_BATCH_LONGEST 0.01

/**
 * Units of one batch that can have slabs: short units with small slabs share buffers' room.
 * @param[in] units   all units, shape [n]
 * @param[in] memory  bytes of host memory of this rank for results in flight
 * @return 1..TSL_MAX_BATCH; TSL_MAX_BATCH when no unit fills a slab
 */
int64_t tsl_batch_room(const tsl_problem *problem, const tsl_unit *units, int64_t n,
                       int64_t memory);

/** Units of about seconds each that make a batch of at most longest seconds; 1..room. */
int64_t tsl_batch_size(double seconds, double longest, int64_t room);

#endif
