/* A file without a name. */
#include "scratch_file.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* File systems without O_TMPFILE (some shared ones) get a name that is taken away at once. */
static int open_nameless(const char *folder) {
  char path[1024];
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  if (snprintf(path, sizeof path, "%s/tesela.XXXXXX", folder) >= (int)sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) (void)unlink(path);
  return fd;
}

tsl_err tsl_scratch_open(const char *folder, int64_t limit, tsl_scratch_file *file) {
  tsl_err err = TSL_OK;
  *file = (tsl_scratch_file){.fd = -1};
  const int fd = open_nameless(folder);
  if (fd < 0) TSL_FAIL(TSL_ERR_INPUT, "no file can be made in '%s': %s", folder, strerror(errno));
  *file = (tsl_scratch_file){.fd = fd, .limit = limit, .folder = folder};
done:
  return err;
}

int64_t tsl_scratch_free(const tsl_scratch_file *file) {
  struct statvfs system;
  if (fstatvfs(file->fd, &system) != 0) return 0;
  return (int64_t)system.f_bavail * (int64_t)system.f_frsize;
}

tsl_err tsl_scratch_append(tsl_scratch_file *file, const void *bytes, int64_t n, int64_t *at) {
  tsl_err err = TSL_OK;
  char limit[24];
  if (n > file->limit - file->used)
    TSL_FAIL(TSL_ERR_IO, "a scratch file in '%s' needs more than its %s", file->folder,
             tsl_bytes_text((double)file->limit, limit));
  for (int64_t done = 0; done < n;) {
    const ssize_t put =
        pwrite(file->fd, (const char *)bytes + done, (size_t)(n - done), file->used + done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      TSL_FAIL(TSL_ERR_IO, "cannot write to a scratch file in '%s': %s", file->folder,
               put < 0 ? strerror(errno) : "no room");
    done += put;
  }
  *at = file->used;
  file->used += n;
done:
  return err;
}

tsl_err tsl_scratch_read(const tsl_scratch_file *file, int64_t at, int64_t n, void *bytes) {
  tsl_err err = TSL_OK;
  for (int64_t done = 0; done < n;) {
    const ssize_t got = pread(file->fd, (char *)bytes + done, (size_t)(n - done), at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      TSL_FAIL(TSL_ERR_IO, "cannot read a scratch file in '%s': %s", file->folder,
               got < 0 ? strerror(errno) : "it ends too early");
    done += got;
  }
done:
  return err;
}

void tsl_scratch_close(tsl_scratch_file *file) {
  if (file->folder != NULL) (void)close(file->fd);
  *file = (tsl_scratch_file){.fd = -1};
}
