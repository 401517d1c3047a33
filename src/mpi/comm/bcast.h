/**
 * @file bcast.h
 * Root to all: raw bytes, the problem, its IN fields.
 */
#pragma once

#include "contract.h"

#include <mpi.h>

/**
 * Collective on comm. Broadcast bytes of any length in pieces from rank 0.
 */
tsl_err tsl_bcast_bytes(MPI_Comm comm, void *bytes, int64_t n);

/** Not collective. Bytes of any length from one rank to another in pieces; both wait. */
tsl_err tsl_bcast_send(MPI_Comm comm, int to, int tag, const void *bytes, int64_t n);
tsl_err tsl_bcast_receive(MPI_Comm comm, int from, int tag, void *bytes, int64_t n);

/**
 * Collective on comm, and agrees. Send a problem made on the root to every rank: params, the field
 * table, IN data.
 *
 * Away from the root, memory is allocated for params, IN fields and accumulators (SUM, MIN, MAX);
 * on the root also for GATHER fields that are not streamed. Free with tsl_problem_clear.
 *
 * @param[in,out] problem  root: filled by family.create; others: zeroed, family set
 */
tsl_err tsl_bcast_problem(MPI_Comm comm, tsl_problem *problem);

/** Collective on comm. Broadcast the data of the IN fields that the root has touched since they
 *  were shared last, and the numbers of their changes. */
tsl_err tsl_bcast_inputs(MPI_Comm comm, tsl_problem *problem);
