/* Whole files are written to FILE.part under a lock, synced and renamed. Tables are created
 * exclusively and removed when writing fails. */
#include "new_file.h"

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 100 }; /* 5 s: the kernel closes files of a killed process after its memory */

bool tsl_write_all(int fd, const void *bytes, int64_t n) {
  for (const char *from = bytes; n > 0;) {
    const ssize_t put = write(fd, from, (size_t)n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put, n -= put;
  }
  return true;
}

bool tsl_lock_file(int fd) {
  const struct timespec nap = {.tv_nsec = 50000000};
  for (int try = 1; flock(fd, LOCK_EX | LOCK_NB) != 0; try++) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (try == LOCK_TRIES) return false;
    (void)nanosleep(&nap, NULL);
  }
  return true;
}

/* ------------------------------------------------------------------ whole */

/** Open FILE.part for this process alone. @return 0, or errno of why not */
static int open_part(const char *part, int *fd) {
  struct stat at, by_name;
  int why = 0;
  *fd = open(part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (*fd < 0) return errno;
  if (fstat(*fd, &at) != 0)
    why = errno;
  else if (!S_ISREG(at.st_mode) || at.st_nlink != 1)
    why = EEXIST; /* some other file, or another name of one */
  else if (!tsl_lock_file(*fd))
    why = ETXTBSY; /* another run writes it */
  else if (lstat(part, &by_name) != 0 || by_name.st_ino != at.st_ino)
    why = ETXTBSY; /* it has just ended that */
  if (why != 0) (void)close(*fd);
  return why;
}

static char *part_of(const char *path) {
  char *part = NULL;
  return asprintf(&part, "%s.part", path) < 0 ? NULL : part;
}

int tsl_new_file_try(const char *path) {
  struct stat at;
  int fd = -1;
  char *part = part_of(path);
  if (part == NULL) return ENOMEM;
  const bool there = lstat(part, &at) == 0; /* what a dead run has left stays */
  const int why = open_part(part, &fd);
  if (why == 0 && !there) (void)unlink(part);
  if (why == 0) (void)close(fd);
  free(part);
  return why;
}

tsl_err tsl_new_file_open(const char *path, tsl_new_file *file) {
  tsl_err err = TSL_OK;
  int fd = -1;
  *file = (tsl_new_file){.path = strdup(path), .part = part_of(path)};
  if (file->path == NULL || file->part == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "'%s': no memory for its name", path);
  const int why = open_part(file->part, &fd);
  if (why != 0) TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", path, strerror(why));
  file->stream = ftruncate(fd, 0) == 0 ? fdopen(fd, "wb") : NULL;
  if (file->stream == NULL)
    TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", path, strerror(errno));
  fd = -1;
done:
  if (fd >= 0) (void)unlink(file->part), (void)close(fd);
  if (err != TSL_OK) err = tsl_new_file_close(file, err);
  return err;
}

/** Bytes to the disk; the descriptor, whose lock keeps others away, stays open. */
static tsl_err new_file_settle(const tsl_new_file *f) {
  tsl_err err = TSL_OK;
  if (fflush(f->stream) != 0 || ferror(f->stream))
    TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", f->path, strerror(errno));
  if (fsync(fileno(f->stream)) != 0)
    TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", f->path, strerror(errno));
  const unsigned flags = tsl_files_replace() ? 0 : RENAME_NOREPLACE;
  int status = renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, flags);
  if (status != 0 && flags != 0 && (errno == EINVAL || errno == ENOSYS)) {
    /* the file system knows no such flag */
    status = access(f->path, F_OK) == 0 ? (errno = EEXIST, -1) : rename(f->part, f->path);
  }
  if (status != 0) TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", f->path, strerror(errno));
done:
  return err;
}

tsl_err tsl_new_file_close(tsl_new_file *file, tsl_err err) {
  if (file->stream != NULL && err == TSL_OK) err = new_file_settle(file);
  if (file->stream != NULL && err != TSL_OK) (void)unlink(file->part);
  if (file->stream != NULL) (void)fclose(file->stream);
  free(file->path);
  free(file->part);
  *file = (tsl_new_file){.stream = NULL};
  return err;
}

/* ----------------------------------------------------------------- tables */

tsl_err tsl_new_table_open(const char *what, const char *path, FILE **stream) {
  tsl_err err = TSL_OK;
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* follows no link */
  *stream = NULL;
  if (fd < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s %s: cannot write: %s%s", what, path, strerror(errno),
             errno == EEXIST ? "; choose another name, or remove it" : "");
  *stream = fdopen(fd, "w");
  if (*stream == NULL) {
    (void)close(fd);
    TSL_FAIL(TSL_ERR_IO, "%s %s: cannot write: %s", what, path, strerror(errno));
  }
done:
  return err;
}

tsl_err tsl_new_table_check(const char *what, const char *path) {
  FILE *stream = NULL;
  const tsl_err err = tsl_new_table_open(what, path, &stream);
  if (err != TSL_OK) return err;
  (void)fclose(stream);
  (void)unlink(path);
  return TSL_OK;
}

tsl_err tsl_new_table_close(const char *what, const char *path, FILE **stream, tsl_err err) {
  FILE *file = *stream;
  if (file == NULL) return err;
  *stream = NULL;
  const bool bad = ferror(file) != 0;
  const bool closed = fclose(file) == 0;
  if (!bad && closed) return err;
  (void)unlink(path);
  if (err != TSL_OK) return err;
  return tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "%s %s: cannot write: %s", what, path,
                  strerror(errno));
}
