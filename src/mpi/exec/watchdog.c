/* A rank whose device passes both limits prints the units, removes the working name of the output
 * and aborts the job. */
#include "watchdog.h"

#include <stdio.h>
#include <unistd.h>

static const double PATIENCE = 20; /* predictions that a hung unit may last */

void tsl_watchdog_check(const tsl_phase *phase, int rank, const tsl_unit *units, int64_t n,
                        double waited, double predicted) {
  char host[64] = "";
  if (phase->watchdog <= 0 || waited < phase->watchdog || waited <= PATIENCE * predicted) return;
  (void)gethostname(host, sizeof host - 1);
  if (phase->out != NULL) tsl_out_forget(phase->out);
  fprintf(stderr,
          "tesela: error: rank %d on %s: %s has been computing units %lld to %lld for %.0f s "
          "(predicted %.3g s) and does not end; look at that device, and raise run.watchdog if it "
          "is only slow\n",
          rank, host, phase->executor->placement->device.name, (long long)units[0].id,
          (long long)units[n - 1].id, waited, predicted);
  (void)MPI_Abort(phase->comm, tsl_err_status(TSL_ERR_DEVICE));
}
