/**
 * @file trace.h
 * Chrome/Perfetto trace: what every rank's device and main thread did when.
 */
#pragma once

#include "contract.h"

#include <mpi.h>

/** Which thread of a rank an event belongs to. */
typedef enum tsl_track { TSL_TRACK_DEVICE, TSL_TRACK_MAIN } tsl_track;

/** One span of time; plain data. */
typedef struct tsl_event {
  char name[24];
  int32_t track; /**< tsl_track */
  int32_t rank;
  int64_t unit; /**< id of the unit, -1 none */
  double start; /**< s after the common start */
  double seconds;
} tsl_event;

/** Events of this rank; grows; does nothing when off. */
typedef struct tsl_timeline {
  bool on;
  int32_t rank;
  double origin;     /**< tsl_now() at the common start */
  tsl_event *events; /**< [n] */
  int64_t n, capacity;
} tsl_timeline;

/** Collective on comm: a barrier sets the common origin. Begin a timeline; off, it stays empty. */
tsl_err tsl_trace_start(MPI_Comm comm, bool on, tsl_timeline *trace);

/** Not collective. Note a span; start as tsl_now() gave it. @return TSL_ERR_MEMORY */
tsl_err tsl_trace_add(tsl_timeline *trace, tsl_track track, const char *name, int64_t unit,
                      double start, double seconds);

/** Collective on comm. Gather on rank 0 and write JSON to path, which tsl_files_write knows as
 *  "--trace"; a file that cannot be written is lost (tsl_files_lose), not an error. */
tsl_err tsl_trace_write(MPI_Comm comm, const tsl_timeline *trace, const char *path);

/** Not collective. Free the events and zero the timeline. */
void tsl_trace_clear(tsl_timeline *trace);
