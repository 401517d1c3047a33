/**
 * @file device_class.h
 * Equal devices get equal coefficients, so that plans give them equal shares. A pure function,
 * tested without MPI.
 *
 * Ranks measure one by one, and noise tells equal devices apart: two equal cards were given shares
 * of 47 to 53. Where units cannot move once a run has begun, that is lost. A device that differs by
 * more (a card that is throttled or limited, a core that others use) keeps its own.
 */
#pragma once

#include "cost.h"

/**
 * Give ranks of a class that agree with its median the coefficients of the median, the mean of two;
 * likewise those below and those above. They agree when all units on the device alone would take
 * TSL_NOISE more or less at most. No order of ranks changes what a device gets.
 *
 * Of a class are devices whose keys of the calibration file (calibrate.c) differ in nothing but
 * where the device is, its first and third word.
 * @param[in,out] cost  speeds; has keys
 */
tsl_err tsl_device_class_pool(const tsl_unit *units, int64_t n_units, tsl_cost *cost);

/**
 * Of ranks with the same key, which share a line of the calibration file, the one in the middle by
 * the seconds of all units: one whose measurement was disturbed does not speak for all.
 * @param[out] middle  shape [cost->n_ranks]: for each rank that rank, the same of equal keys
 */
tsl_err tsl_device_class_middle(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                                int *middle);
