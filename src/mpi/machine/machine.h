/**
 * @file machine.h
 * The table of all ranks: who sits on which device of which host.
 */
#pragma once

#include "placement.h"

#include <mpi.h>
#include <stdio.h>

/** What the user asks of the binding. */
typedef struct tsl_bind_ask {
  const char
      *devices;    /**< "auto", "gpu", "cpu", or one word per local rank: "gpu0,gpu1,cpu,cpu1" */
  int32_t threads; /**< OpenMP threads of each CPU rank; 0: one for each core of its share */
  bool allow_shared_gpu; /**< two ranks on one card are not refused */
  bool pin;              /**< bind the calling thread to the placement's cpuset */
  int64_t host_memory;   /**< bytes of the host's memory that a rank may use, at most what is free;
                              0: half of that, split among the host's ranks */
  double device_memory;  /**< share of a card's free memory that a rank may use at most; 0: 0.9 */
} tsl_bind_ask;

/**
 * Collective on comm, also when it fails: an error shows on the ranks of the node that has it,
 * other ranks return TSL_OK, and the caller agrees on the verdict. Decide this rank's device, pin
 * the calling thread, and build the table of all ranks. No card is started: until one is selected
 * (memory_share), memory_limit is what it would be if all of the card's memory were free.
 * @param[in]  ask    the same on all ranks
 * @param[out] placements  shape [size of comm], by rank; from tsl_alloc, owned by the caller; NULL
 *                         on error
 * @return TSL_ERR_INPUT when a device is asked for that is absent, taken or not understood (it is
 *         never replaced by another); TSL_ERR_DEVICE, TSL_ERR_MEMORY, TSL_ERR_MPI
 */
tsl_err tsl_machine_gather(MPI_Comm comm, const tsl_bind_ask *ask, tsl_placement **placements);

/** Print the table, one line per rank in aligned columns. */
void tsl_machine_print(const tsl_placement *placements, int64_t n, FILE *file);

/** Print one warning for each kind of note in the table, with the flag that mends it. */
void tsl_machine_warn(const tsl_placement *placements, int64_t n, FILE *file);

/**
 * Compare the number of ranks with the Slurm allocation.
 * @param[in]  look  reads an environment variable, getenv in the program
 * @param[out] text  the warning, or empty
 */
void tsl_machine_slurm_note(int64_t n_ranks, char *(*look)(const char *), char text[512]);
