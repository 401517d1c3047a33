/**
 * @file placement.h
 * Where a rank sits: its host, device, cores and threads. Made by machine.h.
 */
#pragma once

#include "contract.h"

/** What a person should hear about a placement; or'ed together in tsl_placement.notes. */
typedef enum tsl_note {
  TSL_NOTE_NARROW = 1,      /**< the launcher binds the rank to fewer cores than threads wanted */
  TSL_NOTE_CROWDED = 2,     /**< more ranks than cores: the rank is not pinned */
  TSL_NOTE_SHARED_CARD = 4, /**< another rank uses the same card */
  TSL_NOTE_IDLE_CARDS = 8,  /**< the node has cards that no rank uses */
  TSL_NOTE_IDLE_CORES = 16, /**< less than half of the node's cores is used and no card is idle */
  TSL_NOTE_OMP_PLACES =
      32,               /**< OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY overrides the pins */
  TSL_NOTE_THREADS = 64 /**< more threads asked for than the rank's share has cores */
} tsl_note;

/** One rank and its device: plain data, sent as bytes. */
typedef struct tsl_placement {
  int32_t rank;          /**< in the communicator of tsl_machine_gather */
  int32_t node;          /**< 0.., numbered by the lowest rank on the node */
  int32_t local_rank;    /**< 0.. within the node */
  int32_t local_size;    /**< ranks on the node */
  int32_t threads;       /**< OpenMP threads; 1 on a GPU rank */
  int32_t node_cores;    /**< cores of the host that the job may use */
  int32_t allowed_cores; /**< cores that launcher and job leave to this rank */
  int32_t cores;         /**< cores in cpuset */
  int32_t node_cards;    /**< cards of the node that at least one rank sees */
  int32_t notes;         /**< tsl_note bits */
  char host[64];         /**< host name */
  char cpuset[256];      /**< hardware threads of this rank as list, "0-3,8" */
  tsl_device device;     /**< threads, memory_limit and host_limit filled in */
} tsl_placement;

/** Where a rank's backend comes from. */
static inline const tsl_platform *tsl_platform_of(const tsl_placement *placement) {
  return placement->device.kind == TSL_GPU ? &tsl_platform_gpu : &tsl_platform_cpu;
}
