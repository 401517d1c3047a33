/* Files of a private folder: the object, then a sum of its bytes. */
#include "dp_cache.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };
#define OBJECT_MAX (INT64_C(64) << 20)

/** What follows the object in its file. */
typedef struct trailer {
  char magic[8];
  dp_cache_key key;
} trailer;

static const char magic[8] = "tesela1";

/* ------------------------------------------------------------------ sums */

dp_cache_key dp_cache_start(void) {
  return (dp_cache_key){{UINT64_C(0xcbf29ce484222325), UINT64_C(0x9e3779b97f4a7c15)}};
}

static void add_bytes(dp_cache_key *key, const void *data, size_t n) {
  const unsigned char *bytes = data;
  for (size_t b = 0; b < n; b++) {
    key->sum[0] = (key->sum[0] ^ bytes[b]) * UINT64_C(0x100000001b3);
    key->sum[1] = (key->sum[1] ^ bytes[b]) * UINT64_C(0x100000001b3) + 1;
  }
}

void dp_cache_add_text(dp_cache_key *key, const char *text) {
  add_bytes(key, text, strlen(text) + 1);
}

/* ----------------------------------------------------------------- files */

static tsl_err write_all(int fd, const void *data, int64_t n, const char *path) {
  tsl_err err = TSL_OK;
  for (int64_t written = 0; written < n;) {
    const ssize_t part = write(fd, (const char *)data + written, (size_t)(n - written));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) TSL_FAIL(TSL_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    written += part;
  }
done:
  return err;
}

/** Is the open file a regular one of ours that nobody else may write? */
static bool is_own(int fd, int64_t *size) {
  struct stat status;
  if (fstat(fd, &status) != 0) return false;
  *size = status.st_size;
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0 &&
         status.st_size <= OBJECT_MAX;
}

tsl_err dp_cache_read(const char *path, void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  int64_t size = 0;
  void *memory = NULL;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 || !is_own(fd, &size)) goto done;
  TSL_TRY(tsl_alloc(size + 1, 1, "compiled object", &memory));
  for (*n = 0; *n < size;) {
    const ssize_t part = read(fd, (char *)memory + *n, (size_t)(size - *n));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) goto done;
    *n += part;
  }
  *bytes = memory;
  memory = NULL;
done:
  if (fd >= 0) (void)close(fd);
  tsl_free(memory);
  return err;
}

tsl_err dp_cache_folder(char *folder, size_t size) {
  tsl_err err = TSL_OK;
  struct stat status;
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  const bool given = cache != NULL && cache[0] == '/';
  if (!given && (home == NULL || home[0] != '/'))
    TSL_FAIL(TSL_ERR_IO, "neither XDG_CACHE_HOME nor HOME names a folder for compiled recurrences");
  const int n = snprintf(folder, size, "%s%s/tesela/recurrences", given ? cache : home,
                         given ? "" : "/.cache");
  if (n < 0 || (size_t)n >= size) TSL_FAIL(TSL_ERR_IO, "the name of the cache folder is too long");
  for (char *c = folder + 1; *c != '\0'; c++) {
    if (*c != '/') continue;
    *c = '\0';
    (void)mkdir(folder, 0700); /* the last one tells whether it worked */
    *c = '/';
  }
  if (mkdir(folder, 0700) != 0 && errno != EEXIST)
    TSL_FAIL(TSL_ERR_IO, "%s cannot be made: %s; set XDG_CACHE_HOME to a folder of yours", folder,
             strerror(errno));
  if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 077) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s is not a private folder of yours (mode 0700)", folder);
done:
  return err;
}

/** The file of a key, and the folder it is in. */
static tsl_err find_file(const dp_cache_key *key, const char *suffix, char folder[PATH_BYTES - 128],
                         char path[PATH_BYTES]) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_cache_folder(folder, PATH_BYTES - 128));
  (void)snprintf(path, PATH_BYTES, "%s/dp-%016llx%016llx%s", folder,
                 (unsigned long long)key->sum[0], (unsigned long long)key->sum[1], suffix);
done:
  return err;
}

/* ----------------------------------------------------------------- objects */

tsl_err dp_cache_take(const dp_cache_key *key, const char *suffix, void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  char folder[PATH_BYTES - 128], path[PATH_BYTES];
  trailer end;
  *bytes = NULL;
  *n = 0;
  TSL_TRY(find_file(key, suffix, folder, path));
  TSL_TRY(dp_cache_read(path, bytes, n));
  if (*bytes == NULL) goto done;
  if (*n > (int64_t)sizeof end) {
    dp_cache_key sum = dp_cache_start();
    *n -= (int64_t)sizeof end;
    memcpy(&end, (char *)*bytes + *n, sizeof end);
    add_bytes(&sum, *bytes, (size_t)*n);
    if (memcmp(end.magic, magic, sizeof magic) == 0 && memcmp(&end.key, &sum, sizeof sum) == 0)
      goto done;
  }
  tsl_free(*bytes);
  *bytes = NULL;
done:
  return err;
}

tsl_err dp_cache_keep(const dp_cache_key *key, const char *suffix, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  char folder[PATH_BYTES - 128], path[PATH_BYTES], work[PATH_BYTES] = "";
  trailer end = {.key = dp_cache_start()};
  int fd = -1;
  memcpy(end.magic, magic, sizeof magic);
  add_bytes(&end.key, bytes, (size_t)n);
  TSL_TRY(find_file(key, suffix, folder, path));
  (void)snprintf(work, sizeof work, "%s/work-XXXXXX", folder);
  fd = mkostemp(work, O_CLOEXEC);
  if (fd < 0) {
    const int code = errno;
    work[0] = '\0';
    TSL_FAIL(TSL_ERR_IO, "no file can be made in %s: %s; set XDG_CACHE_HOME to a folder of yours",
             folder, strerror(code));
  }
  TSL_TRY(write_all(fd, bytes, n, work));
  TSL_TRY(write_all(fd, &end, sizeof end, work));
  if (rename(work, path) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s: cannot be kept: %s", path, strerror(errno));
  work[0] = '\0';
done:
  if (fd >= 0) (void)close(fd);
  if (work[0] != '\0') (void)unlink(work);
  return err;
}
