/* The names under which launchers tell a process its rank, and how many there are. */
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

long tsl_launcher_size(void) {
  const char *text = getenv("PMI_SIZE");
  return text != NULL && getenv("OMPI_COMM_WORLD_SIZE") == NULL ? strtol(text, NULL, 10) : 0;
}
