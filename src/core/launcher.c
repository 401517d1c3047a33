/* The names under which launchers tell a process its rank. */
#include "launcher.h"

#include <stddef.h>
#include <stdlib.h>

long tsl_launcher_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *text = getenv(names[k]);
    if (text != NULL) return strtol(text, NULL, 10);
  }
  return 0;
}
