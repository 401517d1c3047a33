/* When the place of the output is taken away while the run goes on: its folder is removed or cannot
   be written any more, or another file has its name. What was computed is in the open file. */
#include "out_h5_own.h"

#include "collective_error.h"
#include "files.h"
#include "heartbeat.h"
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER_NAMES = 9, CHUNK = 1 << 20 };

bool tsl_out_in_place(const tsl_out *out) {
  struct stat by_fd, by_name;
  return fstat(out->disk.fd, &by_fd) == 0 && lstat(out->part, &by_name) == 0 &&
         by_fd.st_ino == by_name.st_ino && by_fd.st_dev == by_name.st_dev;
}

/* ------------------------------------------------------------------- copies */

/* All bytes of a file, whose offset is not used. @return 0, or errno */
static int copy_bytes(int from, int to) {
  void *room = NULL;
  off_t at = 0;
  ssize_t got = 1;
  if (tsl_alloc(CHUNK, 1, "copy of the output", &room) != TSL_OK) return ENOMEM;
  while (got != 0) {
    got = pread(from, room, CHUNK, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !tsl_write_all(to, room, got)) break;
    at += got;
  }
  const int why = got != 0 || fsync(to) != 0 ? errno : 0;
  tsl_free(room);
  return why;
}

/* A file of this name and no other. @return 0, or errno */
static int make_file(const char *path, int *fd) {
  *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (*fd < 0) return errno;
  (void)flock(*fd, LOCK_EX | LOCK_NB);
  return 0;
}

/* The run goes on in the file that fd is open for. */
static int take_fd(tsl_out *out, int fd, int why) {
  if (why == 0 && dup3(fd, out->disk.fd, O_CLOEXEC) < 0) why = errno;
  if (why != 0) (void)unlink(out->part);
  (void)close(fd);
  return why;
}

/* ------------------------------------------------------- while the run goes on */

/* Make the folder and an empty FILE.part. @return 0, or errno */
static int make_place(const tsl_out *out, int *fd) {
  tsl_files_make_folders(out->part);
  return make_file(out->part, fd);
}

static void tell_gone(tsl_out *out, int why) {
  if (why == 0)
    fprintf(stderr,
            "tesela: warning: '%s' was removed while the run goes on; it is made anew, with all "
            "that is computed\n",
            out->part);
  else if (!out->gone)
    fprintf(stderr,
            "tesela: warning: '%s' was removed while the run goes on, and cannot be made anew "
            "(%s); the results will be put elsewhere\n",
            out->part, strerror(why));
  out->gone = why != 0;
}

/* Root: 1 when there is a new place for the file. */
static int out_h5_place_look(tsl_out *out, int *fd) {
  if (tsl_out_in_place(out)) return 0;
  const int why = make_place(out, fd);
  if (why != 0) tell_gone(out, why);
  return why == 0;
}

/* Root, the file closed on all ranks that had it open by its name. */
static tsl_err move_over(tsl_out *out, int fd) {
  tsl_err err = TSL_OK;
  const int why = take_fd(out, fd, copy_bytes(out->disk.fd, fd));
  tell_gone(out, why);
  if (why != 0 && out->reopens)
    TSL_FAIL(TSL_ERR_IO, "output '%s' was removed while the run went on: %s", out->part,
             strerror(why));
done:
  return err;
}

tsl_err tsl_out_look(tsl_out *out) {
  tsl_err err = TSL_OK;
  int anew = 0, fd = -1;
  if (tsl_heart_alarm()) return TSL_OK;
  if (out->rank == 0) anew = out_h5_place_look(out, &fd);
  TSL_MPI(MPI_Bcast(&anew, 1, MPI_INT, 0, out->comm));
  if (anew == 0) return TSL_OK;
  out->reopens = out->mpio; /* MPI-IO has the old file open by its name */
  if (out->reopens)
    TSL_COLLECTIVE_TRY(out->comm, tsl_out_close_file(out) < 0 ? TSL_ERR_IO : TSL_OK);
  TSL_COLLECTIVE_TRY(out->comm, out->rank == 0 ? move_over(out, fd) : TSL_OK);
  if (out->reopens) TSL_TRY(tsl_out_open_mpio(out));
done:
  return err;
}

tsl_err tsl_out_restore(tsl_out *out) {
  tsl_err err = TSL_OK;
  int fd = -1;
  if (tsl_out_in_place(out)) return TSL_OK;
  int why = make_place(out, &fd);
  if (why == 0) why = take_fd(out, fd, copy_bytes(out->disk.fd, fd));
  if (why != 0)
    TSL_FAIL(TSL_ERR_IO, "'%s' was removed while the run went on, and cannot be made anew: %s",
             out->part, strerror(why));
  tell_gone(out, 0);
done:
  return err;
}

/* --------------------------------------------------------------- at its end */

/* "FILE-2.h5" of "FILE.h5". */
static char *other_name(const char *path, int number) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  const bool ending = dot != NULL && dot > (slash != NULL ? slash + 1 : path);
  const int n = (int)(ending ? dot - path : (long)strlen(path));
  char *name = NULL;
  return asprintf(&name, "%.*s-%d%s", n, path, number, ending ? dot : "") < 0 ? NULL : name;
}

/* FILE.part under another name of its folder; NULL when that cannot be. */
static char *rename_beside(tsl_out *out) {
  for (int k = 1; k <= OTHER_NAMES && tsl_out_in_place(out); k++) {
    char *name = other_name(out->path, k);
    if (name != NULL && renameat2(AT_FDCWD, out->part, AT_FDCWD, name, RENAME_NOREPLACE) == 0) {
      out->made = false;
      return name;
    }
    free(name);
  }
  return NULL;
}

/* A copy in a folder, under a name that is free; NULL when that cannot be. */
static char *copy_into(const tsl_out *out, const char *folder) {
  const char *slash = strrchr(out->path, '/');
  char *first = NULL, *name = NULL;
  int fd = -1;
  if (asprintf(&first, "%s/%s", folder, slash != NULL ? slash + 1 : out->path) < 0) return NULL;
  for (int k = 0; k <= OTHER_NAMES && fd < 0; k++) {
    free(name);
    name = k == 0 ? strdup(first) : other_name(first, k);
    if (name == NULL || make_file(name, &fd) != 0) fd = -1;
  }
  free(first);
  const bool good = fd >= 0 && copy_bytes(out->disk.fd, fd) == 0;
  if (fd >= 0 && !good) (void)unlink(name);
  if (fd >= 0) (void)close(fd);
  if (!good) free(name), name = NULL;
  return name;
}

tsl_err tsl_out_rescue(tsl_out *out, tsl_err why) {
  const char *const folders[] = {".", getenv("HOME"), getenv("TMPDIR"), "/tmp"};
  tsl_err_copy first;
  char *name = rename_beside(out);
  tsl_err_save(why, &first);
  for (size_t k = 0; k < sizeof folders / sizeof *folders && name == NULL; k++)
    if (folders[k] != NULL && folders[k][0] != '\0') name = copy_into(out, folders[k]);
  if (name == NULL) out->keep = true; /* FILE.part, if it is there */
  (void)tsl_fail(why, __FILE__, __LINE__, "%.1000s; the finished result is in '%s'", first.message,
                 name != NULL ? name : out->part);
  free(name);
  return why;
}
