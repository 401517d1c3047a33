/**
 * @file measure_own.h
 * What measure.c and measure_wave.c share.
 */
#ifndef TSL_MPI_MEASURE_OWN_H
#define TSL_MPI_MEASURE_OWN_H

#include "measure.h"

/** Device seconds of each of n units that travel together, at most TSL_MAX_BATCH. */
tsl_err tsl_measure_each(const tsl_executor *executor, const tsl_unit *units, int64_t n,
                         double *seconds);

/** Of all of them. */
tsl_err tsl_measure_units(const tsl_executor *executor, const tsl_unit *units, int64_t n,
                          double *seconds);

/** A part of a unit, or all of it. */
void tsl_measure_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                        tsl_unit *out);

/** The mean unit of n that travelled together, with its share of their time. */
tsl_sample tsl_measure_mean(const tsl_unit *units, int64_t n, double seconds);

/** Samples of one size tell how fast the device is, and nothing of what its time depends on. */
bool tsl_measure_alike(const tsl_sample *samples, int n);

/** Coefficients as expected, and as many times longer as the samples took. */
void tsl_measure_scale(const tsl_sample *samples, int n, const tsl_speed *expected, double *c);

/** Are the units strips: several stages of the same lanes, of one kind? */
bool tsl_measure_has_strips(const tsl_problem *problem, const tsl_unit *units, int64_t n_units);

/** tsl_measure for strips. */
tsl_err tsl_measure_strips(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                           int n_ranks, int64_t memory, tsl_speed *speed);

#endif
