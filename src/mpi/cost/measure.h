/**
 * @file measure.h
 * Time real units on this rank's device and fit the cost model's coefficients to them.
 *
 * A trial is a batch as a run has it: neighbouring units, no fewer than the device computes at once
 * (tsl_batch_least), or a part of a long one; of strips of a WAVE family (lanes of several tiles)
 * the neighbouring tiles of a stage that are a rank's part, as they are one band to its device, and
 * several stages of them. Trials grow until one takes long enough and its time grows with its work:
 * what a device takes besides, such as a pipeline that fills, is then told from it. Of a bag trials
 * at other places follow. All are fitted together.
 *
 * Units that keep something for later runs (tsl_unit.setup) run twice: the first run less the
 * second is the set-up. The worker then holds what these units keep; open it anew before it
 * computes.
 */
#pragma once

#include "calibrate.h"

/**
 * Not collective, but ranks that share hardware should measure at once. Measure all kinds that have
 * units.
 * @param[in]  n_ranks  that measure, and will share the units
 * @param[in]  memory   bytes of a batch's results at most
 * @param[out] speed    kinds without units stay as they are
 */
tsl_err tsl_measure(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                    int n_ranks, int64_t memory, tsl_speed *speed);

/**
 * Run a small part of a unit of each kind that keeps nothing, so that a card's kernels are loaded
 * and its libraries begun before the run's time begins: what a measurement does besides, where the
 * speed is known. Not for strips, whose units hang together. Not collective.
 * @param[in] speed  of this rank
 */
tsl_err tsl_measure_warm_up(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                            const tsl_speed *speed);

/** The unit in the middle of the list, which stands for its kind; NULL when the kind has none. */
const tsl_unit *tsl_middle_unit(const tsl_unit *units, int64_t n, int kind);

/** Are the units strips: several stages of the same lanes, of one kind? */
bool tsl_measure_has_strips(const tsl_problem *problem, const tsl_unit *units, int64_t n_units);
