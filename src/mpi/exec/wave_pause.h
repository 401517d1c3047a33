/**
 * @file wave_pause.h
 * The stage before which all ranks of a WAVE phase pause. Private to wave.c.
 *
 * Each rank proposes the stage after the last one that it has begun, and begins none beyond it
 * until all have proposed; the latest of them is the cut. Nobody waits for a tile meanwhile: what
 * a rank has begun needs earlier stages only, or its own, which their owners may go on with.
 */
#pragma once

#include "wave_edges.h"

typedef struct tsl_wave_pause {
  MPI_Comm comm;       /**< not owned */
  MPI_Request request; /**< of the agreement under way */
  int64_t mine, stage; /**< proposed; agreed on, once known */
  bool proposed, known;
} tsl_wave_pause;

/** pauses: false, the phase runs to its end and nothing is agreed on. */
static inline tsl_wave_pause tsl_wave_pause_make(MPI_Comm comm, bool pauses) {
  return (tsl_wave_pause){.comm = comm,
                          .request = MPI_REQUEST_NULL,
                          .stage = INT64_MAX,
                          .proposed = !pauses,
                          .known = !pauses};
}

/** Collective on cut->comm, once on each rank at a time of its own: it does not wait. Propose a
 *  stage. The cut must stay where it is in memory until it is known. */
tsl_err tsl_wave_pause_propose(tsl_wave_pause *cut, int64_t stage);

/** Not collective. See whether all have proposed. */
tsl_err tsl_wave_pause_look(tsl_wave_pause *cut);

/** Stages below this one may be begun. */
static inline int64_t tsl_wave_pause_limit(const tsl_wave_pause *cut) {
  return cut->known ? cut->stage : cut->proposed ? cut->mine : INT64_MAX;
}

/**
 * Not collective; waits for messages. After a pause: the worker takes in all edges that lead from
 * what is done to what is left.
 * @param[in] next      first group that has not begun
 * @param[in] listened  first group whose receives are not posted
 * @param[in] stage     the cut
 */
tsl_err tsl_edges_across(const tsl_phase *phase, tsl_edges *edges, MPI_Comm comm, int64_t next,
                         int64_t listened, int64_t stage);
