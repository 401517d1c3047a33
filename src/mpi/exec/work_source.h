/**
 * @file work_source.h
 * Where a rank's next units come from: its own part of the plan, then the tail (shared_counter.h),
 * then what others have planned and not begun.
 *
 * The last makes up for predictions that missed: a rank that has nothing left takes units from the
 * end of the part of the rank that would need longest, when it can do them sooner. A plan without
 * tail is kept as it is.
 */
#ifndef TSL_MPI_WORK_SOURCE_H
#define TSL_MPI_WORK_SOURCE_H

#include "plan.h"
#include "shared_counter.h"

/** The planned units of all ranks one after another; plain arrays. */
typedef struct tsl_parts {
  int n_ranks;
  int64_t *order; /**< [start[n_ranks]] units of rank 0 in order of id, then of rank 1, ...; without
                       finished ones */
  int64_t *start; /**< [n_ranks + 1] where each rank's begin in order */
  double *before; /**< [start[n_ranks] + 1] seconds before each on rank 0's device, in that order */
} tsl_parts;

/** List the planned units by owner. Global for tests, as the two below.
 *  @param[out] parts  free with tsl_parts_clear */
tsl_err tsl_parts_make(const tsl_plan *plan, const tsl_unit *units, const tsl_cost *cost,
                       tsl_parts *parts);
void tsl_parts_clear(tsl_parts *parts);

/**
 * Whose units a rank with nothing left should take, and how many from the end; a pure rule.
 *
 * The rank with the longest unclaimed part loses half of what would let both end together, but no
 * more than a batch: others may be idle in a moment.
 * @param[in]  claims  shape [n_ranks]
 * @param[in]  slower  shape [n_ranks], measured over predicted seconds
 * @param[in]  ahead   s until this rank's device is free
 * @param[in]  batch   s of a batch of this rank
 * @param[out] victim  the rank
 * @return 0 when no unit would be done sooner that way
 */
int64_t tsl_work_source_steal(const tsl_parts *parts, const tsl_range *claims,
                              const tsl_unit *units, const tsl_cost *cost, const double *slower,
                              int rank, double ahead, double batch, int *victim);

typedef struct tsl_work_source tsl_work_source;

/**
 * Collective on comm, after tsl_counter_open; close before it. Make this rank's source of units,
 * and set its claim before any rank goes on.
 * @param[in] units,plan,cost  not owned
 * @param[in] overlaps         batches of this rank overlap on its device
 */
tsl_err tsl_work_source_open(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                             const tsl_unit *units, const tsl_cost *cost, bool overlaps,
                             tsl_work_source **out);
/** Not collective; NULL accepted, sets NULL. */
void tsl_work_source_close(tsl_work_source **source);

/**
 * Not collective. The next unit of this rank.
 * @param[in]  ahead    s until the device has done what it has; 0: idle
 * @param[in]  fetch    claim or ask for more when nothing is in hand; false: within a batch, which
 *                      so stays as short as what was claimed
 * @param[out] unit     its id, or -1: nothing now
 * @param[out] dynamic  it was not planned for this rank
 */
tsl_err tsl_work_source_next(tsl_work_source *source, double ahead, bool fetch, int64_t *unit,
                             bool *dynamic);

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
 * always one that begins where another leaves room.
 */
double tsl_work_source_enough(const tsl_work_source *source);

/** Work of all units that are not finished, in seconds on rank 0's device. */
double tsl_work_source_total(const tsl_work_source *source);

#endif
