/* Where the basis sets that come with tesela are. */
#include "xc_family.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/** The folder of basis sets below a data folder; false when it has none. */
static bool below(const char *data, char folder[XC_FOLDER]) {
  static const char *const names[] = {"basis", "inputs/xc/basis"};
  for (int k = 0; k < 2; k++) {
    const int length = snprintf(folder, XC_FOLDER, "%s/%s", data, names[k]);
    if (length > 0 && length < XC_FOLDER && is_folder(folder)) return true;
  }
  return false;
}

/** PREFIX/share/tesela of the program PREFIX/bin/tesela. */
static bool below_prefix(char folder[XC_FOLDER]) {
  char data[PATH_MAX + 32];
  const ssize_t n = readlink("/proc/self/exe", data, PATH_MAX - 1);
  if (n <= 0) return false;
  data[n] = '\0';
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(data, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  (void)snprintf(data + strlen(data), 32, "/share/tesela");
  return below(data, folder);
}

tsl_err xc_basis_folder(char folder[XC_FOLDER]) {
  tsl_err err = TSL_OK;
  const char *data = getenv("TSL_DATA_DIR");
  if (data != NULL && data[0] != '\0') {
    if (!below(data, folder))
      TSL_FAIL(TSL_ERR_INPUT,
               "TSL_DATA_DIR is '%.300s', which has no folder 'basis' or 'inputs/xc/basis'", data);
  } else if (!below_prefix(folder) && !below(TSL_SOURCE_FOLDER, folder)) {
    TSL_FAIL(TSL_ERR_INPUT,
             "the basis sets that come with tesela are neither in ../share/tesela beside the "
             "program nor in its sources; TSL_DATA_DIR or xc.basis_folder may say where they are");
  }
done:
  return err;
}
