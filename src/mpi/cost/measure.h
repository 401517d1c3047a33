/**
 * @file measure.h
 * Time real units on this rank's device and fit the cost model's coefficients to them.
 *
 * A kind's samples grow from a part of a unit to what takes long enough; then units at places from
 * few items a byte to many. Units that keep something for later runs (tsl_unit.setup) run on: the
 * first run less later ones is the set-up, the later ones are the cost. The worker then holds what
 * these units keep; open it anew before it computes.
 *
 * Strips of a WAVE family (lanes of several tiles) are measured as they run: the neighbouring tiles
 * of a stage that are a rank's fair part are one to its device (backend.tiles). What such a band
 * costs besides its cells goes to its tiles in equal parts. Where stages overlap the cost is what a
 * stage adds that others go before.
 */
#ifndef TSL_MPI_MEASURE_H
#define TSL_MPI_MEASURE_H

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

/** The unit in the middle of the list, which stands for its kind; NULL when the kind has none. */
const tsl_unit *tsl_measure_middle(const tsl_unit *units, int64_t n, int kind);

#endif
