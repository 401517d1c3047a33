/**
 * @file launcher.h
 * What mpirun, srun and the like say of a process before MPI begins.
 */
#pragma once

/** This process's rank (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID); 0 without one. */
long tsl_launcher_rank(void);

/** Processes that MPICH's mpirun and others that speak PMI say they have started (PMI_SIZE); 0
 *  without one, or under mpirun of Open MPI. */
long tsl_launcher_size(void);
