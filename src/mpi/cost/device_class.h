/**
 * @file device_class.h
 * Equal devices get equal coefficients, so that plans give them equal shares. Pure functions,
 * tested without MPI.
 *
 * Ranks measure one by one, and noise tells equal devices apart: two equal cards were given shares
 * of 47 to 53. Where units cannot move once a run has begun, that is lost. So
 * ranks whose devices are of a kind and whose measurements agree share what they know; a device
 * that differs by more (a card that is throttled or limited, a core that others use) keeps its own.
 * Rebalancing and stealing go by what each rank then shows (timing_history.h,
 * shared_counter.h).
 */
#ifndef TSL_MPI_DEVICE_CLASS_H
#define TSL_MPI_DEVICE_CLASS_H

#include "cost.h"

/**
 * Measurements agree when all units on the device alone would take at most this part more or less
 * than in the middle of those that agree. The cards above were 6 % off their mean. Of 240
 * measurements of a socket by four ranks of a thread side by side, with others on the machine (xc,
 * vitamin C, processor clock), 90 % were within 6 % of the median of their four, 98 % within 10 %;
 * of its shortest kind of units, 2 % of the time, 90 % within 12 %, the worst 44 % off. Not more
 * than that, for a device that really is so much slower than the others makes a run that cannot be
 * rebalanced so much longer.
 */
#define TSL_ALIKE_BOUND 0.1

/**
 * Number the ranks by the kind of their devices.
 *
 * Of a kind are devices whose keys of the calibration file (calibrate.c) differ in nothing but
 * where the device is, its first and third word; and which as many ranks share.
 * @param[in]  keys  shape [n_ranks][key_bytes], each ends with 0
 * @param[out] kind  shape [n_ranks] the lowest rank of the same kind
 */
tsl_err tsl_device_class_kinds(const char *keys, size_t key_bytes, int n_ranks, int *kind);

/**
 * Give ranks of a kind whose measurements agree the same coefficients.
 *
 * Who is furthest from the middle is left out until all others agree with theirs; then those below
 * and those above are looked at in the same way, so that a node of slower cards has its own middle.
 * Ranks that agree get, of each kind of units, the coefficients of the one in the middle by what it
 * needs for all of them (the mean of two), and of first runs those in the middle by themselves: a
 * rank that noise has struck counts for no more than others. No order of ranks changes what a
 * device gets. Kinds without units stay as they are.
 * @param[in]     device  shape [cost->n_ranks], tsl_device_class_kinds
 * @param[in,out] cost    speeds
 */
tsl_err tsl_device_class_pool(const int *device, const tsl_unit *units, int64_t n_units,
                              tsl_cost *cost);

#endif
