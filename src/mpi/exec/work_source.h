/**
 * @file work_source.h
 * Where a rank's next units come from: its own part of the plan, then what others have planned and
 * not begun (parts.h), by ranges that all ranks see (shared_counter.h).
 *
 * The latter makes up for predictions that missed. A plan with dynamic 0 is kept as it is.
 */
#pragma once

#include "shared_counter.h"

typedef struct tsl_work_source tsl_work_source;

/**
 * Collective on comm, after tsl_counter_open; close before it. Make this rank's source of units,
 * and set its range before any rank goes on.
 * @param[in] units,plan,cost  not owned
 * @param[in] least            [n_kinds] units of a batch (tsl_backend.saturating_units); not owned
 * @param[in] overlaps         batches of this rank overlap on its device
 */
tsl_err tsl_work_source_open(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                             const tsl_unit *units, const tsl_cost *cost, const int64_t *least,
                             bool overlaps, tsl_work_source **out);
/** Not collective; NULL accepted, sets NULL. */
void tsl_work_source_close(tsl_work_source **source);

/**
 * Not collective. The next unit of this rank.
 * @param[in]  ahead    s until the device has done what it has; 0: idle
 * @param[in]  fetch    take or ask for more when nothing is in hand; false: within a batch, which
 *                      so stays as short as what was taken
 * @param[out] unit     its place in the list, or -1: nothing now
 */
tsl_err tsl_work_source_next(tsl_work_source *source, double ahead, bool fetch, int64_t *unit);

/** May there be more? */
bool tsl_work_source_left(const tsl_work_source *source);

/** The device became free: the next call asks the others again at once.
 *  @param[in] slower  measured over predicted seconds of late */
void tsl_work_source_wake(tsl_work_source *source, double slower);

/** Seconds of a batch at most: a small part of the phase, so that nobody waits long for the last.
 */
double tsl_work_source_longest(const tsl_work_source *source);

/**
 * A device with more seconds ahead than these gets no more. What waits on a device cannot be taken
 * by others, so it is no more than hides a start; where batches overlap, a batch, so that there is
 * always one that begins where another leaves room; near the end of its own part less.
 */
double tsl_work_source_enough(const tsl_work_source *source);
