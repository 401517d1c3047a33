/**
 * @file bind.h
 * Which device and which cores a rank gets. The decision is a pure function of plain data.
 */
#pragma once

#include "machine.h"

#include <hwloc.h>

/** A core of a host. */
typedef struct tsl_core {
  int32_t package; /**< socket, 0.. in hwloc's logical order */
  int32_t numa;    /**< OS index of its NUMA node, -1 unknown */
  int32_t pu;      /**< OS index of its first hardware thread */
} tsl_core;

/** A card of a host. */
typedef struct tsl_card {
  char id[48];  /**< UUID */
  int32_t numa; /**< OS index of the nearest NUMA node, -1 unknown */
} tsl_card;

/** A host as the ranks on it see it; nothing is owned. */
typedef struct tsl_bind_host {
  int32_t n_cores, n_cards, n_ranks;
  const tsl_core *cores; /**< [n_cores], whole host, in hwloc's logical order */
  const tsl_card *cards; /**< [n_cards], distinct */
  const bool *in_job;    /**< [n_cores], cores that the job may use at all */
  const bool *may_run;   /**< [n_ranks][n_cores], what launcher and job leave to the rank */
  const int32_t
      *ordinal;        /**< [n_ranks][n_cards], number by which the rank sees the card, -1: not */
  const char *no_card; /**< why there is no card at all; for the message */
} tsl_bind_host;

/** What one rank gets. */
typedef struct tsl_bind_choice {
  int32_t kind;    /**< tsl_device_kind */
  int32_t card;    /**< index into cards, -1 for a CPU rank */
  int32_t package; /**< socket of its cores */
  int32_t threads; /**< OpenMP threads, 1 on a GPU rank */
  int32_t n_cores; /**< number of true entries in its row of cores */
  int32_t sharers; /**< ranks on the same card, itself included; 0 for a CPU rank */
  int32_t notes;   /**< tsl_note bits */
} tsl_bind_choice;

/**
 * Decide for all ranks of a host.
 *
 * "auto": cards first, one rank per card (each rank near its card where its cores allow), the
 * other ranks on sockets, those that feed fewer cards first. One core near its card is kept for
 * each GPU rank; GPU ranks divide the cores of a socket that no CPU rank uses. CPU ranks on one
 * socket split its cores evenly. A rank for which no core is left runs one thread unpinned.
 * @param[out] choices  shape [n_ranks]
 * @param[out] cores    shape [n_ranks][n_cores], the cores of each rank
 * @return TSL_ERR_INPUT with the reason when the request cannot be met
 */
tsl_err tsl_bind_decide(const tsl_bind_ask *ask, const tsl_bind_host *host,
                        tsl_bind_choice *choices, bool *cores);

/**
 * The cores of a topology (this host's, or recorded XML or synthetic in tests).
 * @param[out] cores  shape [*n], from tsl_alloc, owned by the caller
 */
tsl_err tsl_bind_cores(hwloc_topology_t topology, tsl_core **cores, int32_t *n);

/**
 * The hardware threads of chosen cores that also are in allowed, as list text.
 * @param[in]  chosen   shape [n] as tsl_bind_cores orders them
 * @return TSL_ERR_INTERNAL when the text does not fit
 */
tsl_err tsl_bind_cpuset(hwloc_topology_t topology, const bool *chosen, int32_t n,
                        hwloc_const_bitmap_t allowed, char text[256]);

/**
 * The cores of all ranks of a rank's node, for work that the others wait for.
 * @param[in]  placements  shape [n]
 * @param[out] all  the rank's placement with the hardware threads of them all, and as many cores as
 *                  they may have threads: of a socket no more than run.threads; its cpuset stays
 *                  empty when the rank is not pinned
 * @return TSL_ERR_INTERNAL when the text does not fit
 */
tsl_err tsl_bind_node(const tsl_placement *placements, int n, int rank, tsl_placement *all);

/**
 * Bind the calling thread to the placement's hardware threads; OpenMP threads that it creates
 * inherit them. Called first thing by a compute thread. Threads: any. Does nothing for an empty
 * cpuset.
 * @return TSL_ERR_INTERNAL when the system refuses
 */
tsl_err tsl_bind_thread(const tsl_placement *placement);
