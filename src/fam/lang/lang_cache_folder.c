/* The folder of compiled recurrences, and whether others could put another in its place. */
#include "lang_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static tsl_err name_folder(char name[PATH_BYTES]) {
  tsl_err err = TSL_OK;
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  const bool given = cache != NULL && cache[0] == '/';
  if (!given && (home == NULL || home[0] != '/'))
    TSL_FAIL(TSL_ERR_INPUT,
             "neither XDG_CACHE_HOME nor HOME names a folder for compiled recurrences");
  const int n = snprintf(name, PATH_BYTES, "%s%s/tesela/recurrences", given ? cache : home,
                         given ? "" : "/.cache");
  if (n < 0 || n >= PATH_BYTES) TSL_FAIL(TSL_ERR_INPUT, "the name of the cache folder is too long");
done:
  return err;
}

/** Can nobody but the user and root change what is in the folder that is the user's? */
static bool is_safe(const struct stat *s) {
  const bool ours = s->st_uid == geteuid() || s->st_uid == 0;
  return ours && ((s->st_mode & 022) == 0 || (s->st_mode & S_ISVTX) != 0);
}

/** One step down: `name` in *fd, which is closed; path: all of it, for the message. */
static tsl_err lang_cache_folder_enter(int *fd, const char *name, const char *path) {
  tsl_err err = TSL_OK;
  struct stat status;
  const int below = openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (below < 0 || fstat(below, &status) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s cannot be opened: %s; set XDG_CACHE_HOME to a folder of yours", path,
             strerror(errno));
  if (!is_safe(&status))
    TSL_FAIL(TSL_ERR_INPUT,
             "%s can be changed by others (owner %u, mode %04o): compiled recurrences are not kept "
             "below it; set XDG_CACHE_HOME to a folder of yours",
             path, (unsigned)status.st_uid, (unsigned)(status.st_mode & 07777));
done:
  (void)close(*fd);
  *fd = below;
  return err;
}

/** Down an absolute path from *fd at the root, making what is missing. */
static tsl_err descend(int *fd, char *path) {
  tsl_err err = TSL_OK;
  for (char *name = path + 1; *name != '\0';) {
    char *const end = name + strcspn(name, "/");
    const bool last = *end == '\0';
    *end = '\0';
    if (mkdirat(*fd, name, 0700) != 0 && errno != EEXIST)
      TSL_FAIL(TSL_ERR_IO, "%s cannot be made: %s; set XDG_CACHE_HOME to a folder of yours", path,
               strerror(errno));
    TSL_TRY(lang_cache_folder_enter(fd, name, path));
    if (last) break;
    *end = '/';
    name = end + 1;
  }
done:
  return err;
}

/** The path without symbolic links; what does not exist yet is kept as it is. */
static tsl_err resolve(const char *path, char out[PATH_BYTES]) {
  tsl_err err = TSL_OK;
  char front[PATH_BYTES], real[PATH_MAX];
  size_t n = strlen(path);
  memcpy(front, path, n + 1);
  while (realpath(front, real) == NULL) {
    if (errno != ENOENT || n <= 1)
      TSL_FAIL(TSL_ERR_IO, "%s cannot be used: %s; set XDG_CACHE_HOME to a folder of yours", front,
               strerror(errno));
    while (n > 1 && front[n - 1] == '/') n--;
    while (n > 1 && front[n - 1] != '/') n--;
    front[n] = '\0';
  }
  while (path[n] == '/') n++;
  const char *const between = strcmp(real, "/") == 0 || path[n] == '\0' ? "" : "/";
  if (strstr(path + n, "..") != NULL || strstr(path + n, "//") != NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s: a cache folder that does not exist is named without .. and //",
             path);
  if (snprintf(out, PATH_BYTES, "%s%s%s", real, between, path + n) >= PATH_BYTES)
    TSL_FAIL(TSL_ERR_INPUT, "the name of the cache folder is too long");
done:
  return err;
}

/** The last folder must be nobody else's at all. */
static tsl_err check_private(int fd, const char *path) {
  tsl_err err = TSL_OK;
  struct stat status;
  if (fstat(fd, &status) != 0 || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s is not a private folder of yours (mode 0700)", path);
done:
  return err;
}

tsl_err lang_cache_folder(char *folder, size_t size, int *fd) {
  tsl_err err = TSL_OK;
  char name[PATH_BYTES], path[PATH_BYTES];
  int at = -1;
  *fd = -1;
  TSL_TRY(name_folder(name));
  TSL_TRY(resolve(name, path));
  if (strlen(path) >= size) TSL_FAIL(TSL_ERR_INPUT, "the name of the cache folder is too long");
  at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) TSL_FAIL(TSL_ERR_IO, "/ cannot be opened: %s", strerror(errno));
  TSL_TRY(lang_cache_folder_enter(&at, ".", "/"));
  TSL_TRY(descend(&at, path));
  TSL_TRY(check_private(at, path));
  *fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd < 0) TSL_FAIL(TSL_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
  (void)snprintf(folder, size, "%s", path);
done:
  if (at >= 0) (void)close(at);
  return err;
}
