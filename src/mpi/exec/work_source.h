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
 * Not collective. The next batch of this rank, of units that it has taken together: a small part of
 * the phase, so that nobody waits long for the last.
 * @param[in]  ahead  s until the device has done what it has; 0: idle
 * @param[in]  room   units at most
 * @param[out] units  their places in the list, owned by the source
 * @param[out] n      0: nothing now
 */
tsl_err tsl_work_source_batch(tsl_work_source *source, double ahead, int64_t room,
                              const int64_t **units, int64_t *n);

/** May there be more? */
bool tsl_work_source_left(const tsl_work_source *source);

/** The device became free: the next call asks the others again at once.
 *  @param[in] slower  measured over predicted seconds of late */
void tsl_work_source_wake(tsl_work_source *source, double slower);

/**
 * A device with more seconds ahead than these gets no more. What waits on a device cannot be taken
 * by others, so it is no more than hides a start; where batches overlap, a batch, so that there is
 * always one that begins where another leaves room; near the end of its own part less.
 */
double tsl_work_source_enough(const tsl_work_source *source);
