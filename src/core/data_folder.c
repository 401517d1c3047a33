/* Where the data that come with tesela are. */
#include "data_folder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** What is looked for, in the order of the places. */
typedef struct wanted {
  const char *name, *source;
} wanted;

static bool is_folder(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool below(const char *data, wanted w, char folder[TSL_DATA_FOLDER]) {
  int length = snprintf(folder, TSL_DATA_FOLDER, "%s/%s", data, w.name);
  if (length > 0 && length < TSL_DATA_FOLDER && is_folder(folder)) return true;
  length = snprintf(folder, TSL_DATA_FOLDER, "%s/inputs/%s", data, w.source);
  return length > 0 && length < TSL_DATA_FOLDER && is_folder(folder);
}

/** PREFIX/share/tesela of the program PREFIX/bin/tesela. */
static bool below_prefix(wanted w, char folder[TSL_DATA_FOLDER]) {
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
  return below(data, w, folder);
}

tsl_err tsl_data_folder(const char *name, const char *source, char folder[TSL_DATA_FOLDER]) {
  tsl_err err = TSL_OK;
  const wanted w = {name, source};
  const char *data = getenv("TSL_DATA_DIR");
  if (data != NULL && data[0] != '\0') {
    if (!below(data, w, folder))
      TSL_FAIL(TSL_ERR_INPUT, "TSL_DATA_DIR is '%.300s', which has no folder '%s' or 'inputs/%s'",
               data, name, source);
  } else if (!below_prefix(w, folder) && !below(TSL_SOURCE_FOLDER, w, folder)) {
    TSL_FAIL(TSL_ERR_INPUT,
             "the %s that come with tesela (inputs/%s) are neither in ../share/tesela beside the "
             "program nor in its sources; TSL_DATA_DIR may say where they are",
             name, source);
  }
done:
  return err;
}
