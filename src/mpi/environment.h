/**
 * @file environment.h
 * What the program sets in its environment for the libraries that it uses. What the user has set
 * stands.
 *
 * Some read their variables in constructors, before main, and start threads there. For these
 * environment.c has a function in .preinit_array, which the dynamic linker calls before all
 * constructors: the program need not start itself anew, which would load its libraries twice.
 * These are, with OpenMP threads that wait asleep, OMP_WAIT_POLICY=passive (the main thread needs a
 * core to send and write, and threads spinning at a barrier for one that they displaced cost
 * several times the run) and, with no threads of OpenBLAS before one is asked for,
 * OPENBLAS_NUM_THREADS=1 (else each process has one for each of its processors, which turns for
 * 30 ms before it sleeps).
 */
#pragma once

/**
 * First thing in main, while there is one thread: kernels of OpenBLAS for processors that it does
 * not know (OPENBLAS_CORETYPE), and a warning to stderr when there was no room before main.
 */
void tsl_environment_settle(void);

/** Before MPI begins, in a process that is going to call it. */
void tsl_environment_before_mpi(void);

/** Once MPI has begun, before anybody else looks at the host. */
void tsl_environment_after_mpi(void);
