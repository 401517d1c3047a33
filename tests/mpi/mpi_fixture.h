/* What cmocka programs on several ranks share: the ranks, assertions that all of them fail
 * together, a folder of the test's own. */
#pragma once

#include "collective_error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int rank, size;

static inline void begin_ranks(int *argc, char ***argv) {
  int provided = 0;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) exit(77);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* The exit status of the program. */
static inline int end_ranks(int failed) {
  (void)MPI_Finalize();
  return failed;
}

/* An assertion that fails on all ranks when it fails on one, so that nobody waits for ever. */
static inline void check_all(bool mine, const char *what, int line) {
  int all = mine;
  if (!mine)
    (void)fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, line, what, tsl_err_message());
  (void)MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all) fail_msg("line %d: %s", line, what);
}
#define CHECK(condition) check_all((condition), #condition, __LINE__)

static char folder[64]; /* the same on all ranks, which are on one host */

static inline void make_folder(void) {
  (void)snprintf(folder, sizeof folder, "/tmp/tsl_test_XXXXXX");
  if (rank == 0 && mkdtemp(folder) == NULL) (void)MPI_Abort(MPI_COMM_WORLD, 1);
  (void)MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Of a file in the folder; the text holds until the next call. */
static inline const char *path_of(const char *name) {
  static char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}
