/* The verdict is the lowest failing rank's, found by a nonblocking reduction and then broadcast
 * with its message. Waiting ranks sleep and look for lost ranks. */
#include "collective_error.h"

#include "clock.h"
#include "heartbeat.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

tsl_err tsl_mpi_fail(int mpi_code, const char *call, const char *file, int line) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)MPI_Error_string(mpi_code, text, &length);
  return tsl_fail(TSL_ERR_MPI, file, line, "%.60s: %s", call, text);
}

/* Say where the error happened, unless it is bad input that every rank would see alike. */
static void name_place(tsl_err_copy *copy, int rank) {
  char host[64] = "";
  char message[TSL_ERR_MESSAGE_MAX];
  if (tsl_err_status(copy->code) == 2) return;
  if (strncmp(copy->message, "rank ", 5) == 0) return; /* an inner stage named it already */
  (void)gethostname(host, sizeof host - 1);
  memcpy(message, copy->message, sizeof message);
  (void)snprintf(copy->message, sizeof copy->message, "rank %d on %s: %.1900s", rank, host,
                 message);
}

/* Sleep for a tenth of the time waited so far: a core that waits is another thread's to use, such
 * as the one that writes what rank 0 has handed to the kernel. */
static void nap(double since) {
  static const double SHORT = 2e-5, LONG = 1e-3; /* s */
  const double tenth = (tsl_now() - since) / 10;
  if (tenth < SHORT) return;
  const struct timespec time = {0, (long)(1e9 * (tenth < LONG ? tenth : LONG))};
  (void)nanosleep(&time, NULL);
}

tsl_err tsl_mpi_wait(MPI_Request *request, int peer, int64_t bytes) {
  static const double SLOW = 1e8; /* bytes/s */
  tsl_err err = TSL_OK;
  const double since = tsl_now() + (double)bytes / SLOW;
  int done = 0;
  while (!done) {
    TSL_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    if (!done && (peer < 0 ? tsl_heart_calls() : tsl_heart_gone(peer)))
      return tsl_heart_lost(__FILE__, __LINE__);
    if (!done) nap(since);
  }
done:
  return err;
}

/* The smallest number of all ranks. Nothing is allocated: ranks agree on lack of memory, too. Where
 * a rank is lost MPI may still write to the place used, which is not used again. */
static tsl_err smallest(MPI_Comm comm, int *number) {
  enum { PLACES = 64 };
  static int places[PLACES], n_lost;
  tsl_err err = TSL_OK;
  MPI_Request request = MPI_REQUEST_NULL;
  int *all = &places[n_lost];
  *all = *number;
  TSL_MPI(MPI_Iallreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_MIN, comm, &request));
  TSL_TRY(tsl_mpi_wait(&request, -1, 0));
  *number = *all;
done:
  if (err == TSL_ERR_LOST && n_lost < PLACES - 1) n_lost++;
  return err;
}

tsl_err tsl_collective_error(MPI_Comm comm, tsl_err mine) {
  tsl_err err = TSL_OK;
  tsl_err_copy copy;
  int rank = 0, size = 1, lowest = 0;
  if (mine == TSL_ERR_LOST) return mine; /* the others hear of it, but for one that cannot */
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  lowest = mine == TSL_OK ? size : rank;
  TSL_TRY(smallest(comm, &lowest));
  if (lowest == size) return TSL_OK;
  tsl_err_save(mine, &copy);
  if (rank == lowest) name_place(&copy, rank);
  TSL_MPI(MPI_Bcast(&copy, (int)sizeof copy, MPI_BYTE, lowest, comm));
  err = tsl_err_restore(&copy);
done:
  return err;
}

/* An answer is kept as an attribute of its communicator and of duplicates: a split costs as much as
 * all else before a phase where many ranks share cores. */
tsl_err tsl_on_one_host(MPI_Comm comm, bool *one) {
  static int key = MPI_KEYVAL_INVALID;
  static bool answers[2] = {false, true};
  tsl_err err = TSL_OK;
  MPI_Comm host = MPI_COMM_NULL;
  const bool *known = NULL;
  int here = 0, size = 0, all = 0, found = 0;
  if (key == MPI_KEYVAL_INVALID)
    TSL_MPI(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  TSL_MPI(MPI_Comm_get_attr(comm, key, &known, &found));
  if (found) return *one = *known, TSL_OK;
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  TSL_MPI(MPI_Comm_size(host, &here));
  here = here == size;
  TSL_MPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm));
  *one = all != 0;
  TSL_MPI(MPI_Comm_set_attr(comm, key, &answers[*one]));
done:
  if (host != MPI_COMM_NULL) (void)MPI_Comm_free(&host);
  return err;
}
