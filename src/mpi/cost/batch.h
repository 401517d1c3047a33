/**
 * @file batch.h
 * How many units travel to the device together, in phases and when calibrating alike.
 */
#pragma once

#include "executor.h"

#include <stdlib.h>

enum { TSL_MAX_BATCH = 256 };

/** Batches need not be shorter than these seconds, which hide the start of the next one on a card;
 *  nor than this part of a phase, the most that the last one can be late by. */
#define TSL_BATCH_SHORT 3e-3
enum { TSL_BATCHES = 64 };

/**
 * Units of one batch that can have slabs: short units with small slabs share buffers' room.
 * @param[in] units   all units, shape [n]
 * @param[in] memory  bytes of host memory of this rank for results in flight
 * @return 1..TSL_MAX_BATCH; TSL_MAX_BATCH when no unit fills a slab
 */
int64_t tsl_batch_room(const tsl_problem *problem, const tsl_unit *units, int64_t n,
                       int64_t memory);

/** Units of a kind that the device computes at once, and a batch has while there are as many: 1 or
 *  more. Only while nothing is queued on the compute thread.
 *  @param[in] unit  stands for the kind; NULL: it has none */
int64_t tsl_batch_least(const tsl_executor *executor, const tsl_unit *unit);

/** Do batches of a rank overlap on its device (tsl_backend.start)? Only while nothing is queued on
 *  the compute thread. False also where TSL_TEST_SLOW (test_delay_card.h) is set: the compute
 *  thread sleeps after a batch then, which slows the device only if no other goes on meanwhile. */
static inline bool tsl_overlaps(const tsl_executor *executor) {
  const tsl_backend *backend = executor->backend;
  return backend->start != NULL && getenv("TSL_TEST_SLOW") == NULL &&
         (backend->overlaps == NULL || backend->overlaps(executor->worker));
}
