/**
 * @file collective_error.h
 * The ranks agree on the verdict after each stage and leave together.
 */
#pragma once

#include "error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * Collective on comm. Tell all ranks whether any failed; the lowest failing rank's error becomes
 * everyone's. Ends early with TSL_ERR_LOST, here alone, when a rank is silent (heartbeat.h).
 *
 * @param[in] mine  this rank's result of the stage; TSL_ERR_LOST is returned at once, without the
 *                  others
 * @return TSL_OK when all succeeded; otherwise the code of the lowest failing rank, whose message
 *         (with its rank and host) is this thread's error on every rank
 */
tsl_err tsl_collective_error(MPI_Comm comm, tsl_err mine);

/** Collective on comm. Do all ranks share memory? The same answer on all. */
tsl_err tsl_on_one_host(MPI_Comm comm, bool *one);

/** Collective on comm. TSL_TRY for a stage: `TSL_COLLECTIVE_TRY(comm, call)` runs call, agrees, and
 *  goes to done on failure. */
#define TSL_COLLECTIVE_TRY(comm, call)          \
  do {                                          \
    err = tsl_collective_error((comm), (call)); \
    if (err != TSL_OK) {                        \
      (void)tsl_trace(err, __FILE__, __LINE__); \
      goto done;                                \
    }                                           \
  } while (0)

/** An MPI call inside a function with `done:`; MPI errors are returned (MPI_ERRORS_RETURN). */
#define TSL_MPI(call)                                           \
  do {                                                          \
    const int mpi_code_ = (call);                               \
    if (mpi_code_ != MPI_SUCCESS) {                             \
      err = tsl_mpi_fail(mpi_code_, #call, __FILE__, __LINE__); \
      goto done;                                                \
    }                                                           \
  } while (0)

/**
 * Not collective. Wait for a request of this rank, asleep most of the time.
 * @param[in] peer   the rank that it depends on; -1: all
 * @param[in] bytes  of a message that is on its way: awake as long as it should take, as both ranks
 *                   may have to hand over piece by piece; 0: nobody knows when it begins
 * @return TSL_ERR_LOST when that rank is gone, or any is (heartbeat.h): the request then goes on,
 *         and its buffer must stay
 */
tsl_err tsl_mpi_wait(MPI_Request *request, int peer, int64_t bytes);

/** Start an error from an MPI return code; returns TSL_ERR_MPI. */
tsl_err tsl_mpi_fail(int mpi_code, const char *call, const char *file, int line);
