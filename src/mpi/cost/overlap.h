/**
 * @file overlap.h
 * Do batches of a rank overlap on its device (tsl_backend.start)?
 */
#pragma once

#include "calibrate.h"

/**
 * Not collective. Ask the worker; only while nothing is queued on the compute thread.
 * @param[out] overlaps  false also where TSL_TEST_SLOW (test_delay_card.h) is set: the compute
 *                       thread sleeps after a batch then, which slows the device only if no other
 *                       goes on meanwhile
 */
tsl_err tsl_overlaps(const tsl_executor *executor, bool *overlaps);
