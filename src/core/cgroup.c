/* The group's path is read from /proc/self/cgroup, and its limit and those of the groups around it
 * from files below /sys/fs/cgroup. */
#include "cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a version names its files, and the lines of memory.stat with the pages of files. */
typedef struct version {
  const char *mount, *limit, *used, *pages[2];
} version;

static const version versions[] = {
    {"/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

/* A file with one number; false for "max" and where there is no such file. */
static bool read_number(const char *folder, const char *name, int64_t *number) {
  char path[2 * PATH_MAX];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  const bool read = fscanf(file, "%" SCNd64, number) == 1;
  (void)fclose(file);
  return read;
}

/* Bytes of the group's pages of files, which the kernel drops before it refuses memory. */
static int64_t pages_of_files(const char *folder, const version *v) {
  char path[2 * PATH_MAX], line[128], name[64];
  int64_t sum = 0, bytes = 0;
  (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "%63s %" SCNd64, name, &bytes) == 2 &&
        (strcmp(name, v->pages[0]) == 0 || strcmp(name, v->pages[1]) == 0))
      sum += bytes;
  (void)fclose(file);
  return sum;
}

/* What one group leaves: INT64_MAX without a limit. */
static int64_t group_free(const char *folder, const version *v) {
  int64_t limit = 0, used = 0;
  if (!read_number(folder, v->limit, &limit) || !read_number(folder, v->used, &used))
    return INT64_MAX;
  const int64_t pages = pages_of_files(folder, v), kept = used > pages ? used - pages : 0;
  return limit > kept ? limit - kept : 0;
}

/* The least that a group and those around it leave; a container may not show the outer ones. */
static int64_t least_free(const char *root, const version *v, const char *group) {
  char folder[PATH_MAX];
  const int mount = snprintf(folder, sizeof folder, "%s%s", root, v->mount);
  int64_t least = INT64_MAX;
  if (mount < 0 || (size_t)mount + strlen(group) >= sizeof folder) return least;
  strcpy(folder + mount, group);
  for (;;) {
    const int64_t left = group_free(folder, v);
    if (left < least) least = left;
    char *slash = strrchr(folder + mount, '/');
    if (slash == NULL) return least;
    *slash = '\0';
  }
}

/* A line of /proc/self/cgroup, "number:controllers:path": the version it is of, and where the path
 * begins; NULL when it does not speak of memory. */
static const version *version_of(char *line, const char **group) {
  char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;
  if (path == NULL) return NULL;
  *path = '\0';
  *group = path + 1;
  path[1 + strcspn(path + 1, "\n")] = '\0';
  if (names[1] == '\0') return &versions[0];
  for (char *rest = names + 1, *name; (name = strsep(&rest, ",")) != NULL;)
    if (strcmp(name, "memory") == 0) return &versions[1];
  return NULL;
}

int64_t tsl_cgroup_free(const char *root) {
  char path[PATH_MAX], line[PATH_MAX + 256];
  int64_t least = INT64_MAX;
  (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "r");
  if (file == NULL) return least;
  while (fgets(line, sizeof line, file) != NULL) {
    const char *group = NULL;
    const version *v = version_of(line, &group);
    const int64_t left = v != NULL ? least_free(root, v, group) : INT64_MAX;
    if (left < least) least = left;
  }
  (void)fclose(file);
  return least;
}
