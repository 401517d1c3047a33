/* Life of the output file: check, create, commit, discard. The root's file is opened by the
   driver of out_disk.c; only the stream of a parallel library goes through MPI-IO. */
#include "out_h5_own.h"

#include "collective_error.h"
#include "heartbeat.h"
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ------------------------------------------------------------------- errors */

static herr_t innermost(unsigned n, const H5E_error2_t *entry, void *text) {
  if (n == 0)
    (void)snprintf(text, 400, "%s: %s", entry->func_name ? entry->func_name : "?",
                   entry->desc ? entry->desc : "no message");
  return 0;
}

tsl_err tsl_out_h5_fail(const tsl_out *out, const char *file, int line, const char *what,
                        const char *name) {
  char text[400] = "no message";
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, text);
  (void)H5Eclear2(H5E_DEFAULT);
  return tsl_fail(TSL_ERR_IO, file, line, "%s: HDF5 cannot %s '%s' (%s)", out->part, what, name,
                  text);
}

static double free_bytes(int fd) {
  struct statvfs fs;
  return fstatvfs(fd, &fs) == 0 ? (double)fs.f_bavail * (double)fs.f_frsize : 0;
}

static tsl_err disk_full(const tsl_out *out) {
  char needed[24], left[24], limit_text[24];
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  (void)getrlimit(RLIMIT_FSIZE, &limit);
  return tsl_fail(
      TSL_ERR_IO, __FILE__, __LINE__, "%s: %s; needed %s more, %s free on its file system%s%s",
      out->part, strerror(out->disk.failed), tsl_bytes_text((double)out->disk.needed, needed),
      tsl_bytes_text(free_bytes(out->disk.fd), left),
      limit.rlim_cur == RLIM_INFINITY ? "" : ", limit of a file's size (ulimit -f) ",
      limit.rlim_cur == RLIM_INFINITY ? "" : tsl_bytes_text((double)limit.rlim_cur, limit_text));
}

tsl_err tsl_out_settle(tsl_out *out, tsl_err err) {
  if (out->failure.code != TSL_OK) return err;
  if (out->disk.failed != 0) err = disk_full(out);
  if (err == TSL_ERR_IO) tsl_err_save(err, &out->failure);
  return err;
}

tsl_err tsl_out_ready(const tsl_out *out, tsl_out_stage stage) {
  if (out->failure.code != TSL_OK) return tsl_err_restore(&out->failure);
  if (out->stage != stage || (out->rank == 0 && out->file < 0))
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "output '%s': call in the wrong stage",
                    out->path);
  return TSL_OK;
}

/* -------------------------------------------------------------------- paths */

tsl_err tsl_out_folder(const char *path, char **folder) {
  tsl_err err = TSL_OK;
  const char *slash = strrchr(path, '/');
  const int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
  if (asprintf(folder, "%.*s", length, slash == NULL ? "." : path) < 0) {
    *folder = NULL;
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory for its folder's name", path);
  }
done:
  return err;
}

static tsl_err check_target(const char *path, bool overwrite) {
  tsl_err err = TSL_OK;
  struct stat st;
  const size_t length = strlen(path);
  if (length == 0 || path[length - 1] == '/')
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' names no file", path);
  if (stat(path, &st) != 0) goto done;
  if (S_ISDIR(st.st_mode))
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' is a folder; add a file name", path);
  if (!S_ISREG(st.st_mode)) TSL_FAIL(TSL_ERR_INPUT, "output '%s' is not a regular file", path);
  if (!overwrite)
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' exists; choose another name, or --overwrite to replace it",
             path);
done:
  return err;
}

static tsl_err check_room(const char *path, const char *folder, int64_t bytes) {
  tsl_err err = TSL_OK;
  char needed[24], left[24];
  struct statvfs fs;
  struct rlimit limit;
  (void)tsl_bytes_text((double)bytes, needed);
  if (statvfs(folder, &fs) != 0)
    TSL_FAIL(TSL_ERR_IO, "output '%s': cannot look at '%s': %s", path, folder, strerror(errno));
  if (fs.f_blocks > 0 && (double)fs.f_bavail * (double)fs.f_frsize < (double)bytes)
    TSL_FAIL(TSL_ERR_IO, "output '%s': needs %s, but '%s' has only %s free", path, needed, folder,
             tsl_bytes_text((double)fs.f_bavail * (double)fs.f_frsize, left));
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      (double)limit.rlim_cur < (double)bytes)
    TSL_FAIL(TSL_ERR_IO, "output '%s': needs %s, but files may have %s at most (ulimit -f)", path,
             needed, tsl_bytes_text((double)limit.rlim_cur, left));
done:
  return err;
}

tsl_err tsl_out_precheck(const char *path, bool overwrite, int64_t bytes) {
  tsl_err err = TSL_OK;
  char *folder = NULL;
  struct stat st;
  TSL_TRY(check_target(path, overwrite));
  TSL_TRY(tsl_out_folder(path, &folder));
  if (stat(folder, &st) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "output '%s': folder '%s': %s", path, folder, strerror(errno));
  if (!S_ISDIR(st.st_mode))
    TSL_FAIL(TSL_ERR_INPUT, "output '%s': '%s' is not a folder", path, folder);
  if (access(folder, W_OK | X_OK) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "output '%s': cannot write to '%s': %s", path, folder, strerror(errno));
  TSL_TRY(check_room(path, folder, bytes));
done:
  free(folder);
  return err;
}

/* ------------------------------------------------------------------- create */

/* Open FILE.part and lock it: the lock of a dead run is gone, so its file is taken over. A file
   system without locks cannot tell a living run; then the file is taken over as well. */
static tsl_err take_part(tsl_out *out) {
  tsl_err err = TSL_OK;
  struct stat by_fd, by_name;
  const int flags = O_RDWR | (out->resume ? 0 : O_CREAT) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  out->disk.fd = open(out->part, flags, 0666);
  if (out->disk.fd < 0 && out->resume)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: cannot open '%s', which holds the rows computed so far: %s; without it, "
             "remove the checkpoints and run without --restart",
             out->part, strerror(errno));
  if (out->disk.fd < 0)
    TSL_FAIL(errno == ENOSPC || errno == EDQUOT || errno == EIO ? TSL_ERR_IO : TSL_ERR_INPUT,
             "output '%s': cannot create: %s", out->part, strerror(errno));
  if (fstat(out->disk.fd, &by_fd) != 0 || !S_ISREG(by_fd.st_mode) || by_fd.st_nlink > 1)
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' is not a plain file of its own; remove it", out->part);
  if (!tsl_lock_file(out->disk.fd))
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' is being written by another run", out->part);
  if (stat(out->part, &by_name) != 0 || by_name.st_ino != by_fd.st_ino)
    TSL_FAIL(TSL_ERR_INPUT, "output '%s' was just finished or removed by another run", out->part);
  out->made = true;
  out->disk.resume = out->resume;
  if (!out->resume && ftruncate(out->disk.fd, 0) != 0)
    TSL_FAIL(TSL_ERR_IO, "output '%s': cannot empty: %s", out->part, strerror(errno));
done:
  return err;
}

tsl_err tsl_out_open_root(tsl_out *out, bool create) {
  tsl_err err = TSL_OK;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  TSL_H5(out, access, "set up", "access");
  TSL_H5(out, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set up", "access");
  if (out->parallel || out->plain)
    TSL_H5(out, H5Pset_alignment(access, 1 << 20, 1 << 16), "set up", "access");
  TSL_H5(out, tsl_disk_driver(access, &out->disk, &out->driver), "register", "driver");
  out->file = create ? H5Fcreate(out->part, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                     : H5Fopen(out->part, H5F_ACC_RDWR, access);
  TSL_H5(out, out->file, create ? "create" : "open", "file");
done:
  if (access >= 0) (void)H5Pclose(access);
  return err;
}

herr_t tsl_out_close_file(tsl_out *out) {
  herr_t status = 0;
  for (int s = 0; s < out->n_streams; s++) {
    if (out->streams[s].dataset >= 0 && H5Dclose(out->streams[s].dataset) < 0) status = -1;
    out->streams[s].dataset = -1;
  }
  if (out->file >= 0 && H5Fclose(out->file) < 0) status = -1;
  out->file = -1;
  if (out->driver >= 0) (void)H5FDunregister(out->driver);
  out->driver = -1;
  out->mpio = false;
  return status;
}

static tsl_err create_root(tsl_out *out) {
  static const char *const groups[] = {"/run", "/results", "/input"};
  tsl_err err = TSL_OK;
  hid_t group = -1;
  TSL_TRY(check_target(out->path, out->overwrite));
  TSL_TRY(take_part(out));
  TSL_TRY(tsl_out_open_root(out, true));
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    group = H5Gcreate2(out->file, groups[g], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    TSL_H5(out, group, "create group", groups[g]);
    TSL_H5(out, H5Gclose(group), "close group", groups[g]);
  }
  err = tsl_out_settle(out, err);
done:
  return err;
}

static tsl_err name_files(tsl_out *out, const char *path) {
  tsl_err err = TSL_OK;
  out->path = strdup(path);
  if (out->path == NULL || asprintf(&out->part, "%s.part", path) < 0) {
    out->part = NULL;
    TSL_FAIL(TSL_ERR_MEMORY, "output '%s': no memory for its name", path);
  }
done:
  return err;
}

static tsl_err create(MPI_Comm comm, const char *path, bool overwrite, int compress, bool plain,
                      bool resume, tsl_out **result) {
  tsl_err err = TSL_OK;
  tsl_out *out = NULL;
  *result = NULL;
  TSL_COLLECTIVE_TRY(comm, tsl_alloc(1, sizeof *out, "output", (void **)&out));
  *result = out;
  out->comm = MPI_COMM_NULL;
  out->file = out->driver = -1;
  out->disk.fd = -1;
  out->overwrite = overwrite;
  out->compress = compress;
  out->resume = out->keep = resume;
  out->plain = plain;
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  TSL_MPI(MPI_Comm_dup(comm, &out->comm));
  TSL_MPI(MPI_Comm_set_errhandler(out->comm, MPI_ERRORS_RETURN));
  TSL_MPI(MPI_Comm_rank(out->comm, &out->rank));
  TSL_MPI(MPI_Comm_size(out->comm, &out->size));
#ifdef H5_HAVE_PARALLEL
  out->parallel = out->size > 1;
#endif
  TSL_TRY(name_files(out, path));
  if (out->rank == 0) TSL_TRY(create_root(out));
done:
  if (*result == NULL) tsl_free(out);
  return err;
}

tsl_err tsl_out_create(MPI_Comm comm, const char *path, bool overwrite, int compress,
                       tsl_out **result) {
  return create(comm, path, overwrite, compress, false, false, result);
}

tsl_err tsl_out_create_lasting(MPI_Comm comm, const char *path, bool overwrite, int compress,
                               bool resume, tsl_out **result) {
  return create(comm, path, overwrite, compress, true, resume, result);
}

/* ---------------------------------------------------------- commit, discard */

static tsl_err sync_folder(const char *path) {
  tsl_err err = TSL_OK;
  char *folder = NULL;
  int fd = -1;
  TSL_TRY(tsl_out_folder(path, &folder));
  fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* Some file systems cannot sync a folder (EINVAL); the file itself is safe by then. */
  if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
    TSL_FAIL(TSL_ERR_IO, "output '%s': cannot sync folder '%s': %s", path, folder, strerror(errno));
done:
  if (fd >= 0) (void)close(fd);
  free(folder);
  return err;
}

/* Rename without replacing a file that appeared meanwhile. */
static tsl_err move_into_place(tsl_out *out) {
  tsl_err err = TSL_OK;
  int status =
      renameat2(AT_FDCWD, out->part, AT_FDCWD, out->path, out->overwrite ? 0 : RENAME_NOREPLACE);
  if (status != 0 && (errno == EINVAL || errno == ENOSYS)) { /* flag unknown to the file system */
    TSL_TRY(check_target(out->path, out->overwrite));
    status = rename(out->part, out->path);
  }
  if (status != 0)
    TSL_FAIL(TSL_ERR_IO, "cannot rename '%s' to '%s': %s", out->part, out->path, strerror(errno));
  out->made = false;
done:
  return err;
}

static tsl_err commit_root(tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  TSL_H5(out, H5Fflush(out->file, H5F_SCOPE_LOCAL), "flush", "file");
  TSL_H5(out, tsl_out_close_file(out), "close", "file");
  TSL_TRY(tsl_out_settle(out, err));
  if (fsync(out->disk.fd) != 0) TSL_FAIL(TSL_ERR_IO, "%s: fsync: %s", out->part, strerror(errno));
  err = tsl_out_restore(out);
  if (err == TSL_OK) err = move_into_place(out);
  if (err != TSL_OK) TSL_TRY(tsl_out_rescue(out, err));
  TSL_TRY(sync_folder(out->path));
done:
  return err;
}

tsl_err tsl_out_commit(tsl_out **result) {
  tsl_err err = TSL_OK;
  tsl_out *out = *result;
  err = tsl_collective_error(out->comm, out->rank == 0 ? commit_root(out) : TSL_OK);
  tsl_out_discard(result); /* removes the file only when it still has its working name */
  return err;
}

void tsl_out_keep(tsl_out *out, bool keep) {
  out->keep = keep;
}

void tsl_out_forget(tsl_out *out) {
  if (out->keep) return;
  if (out->made) (void)unlink(out->part);
  out->made = false;
}

void tsl_out_discard(tsl_out **result) {
  tsl_out *out = *result;
  if (out == NULL) return;
  *result = NULL;
  if (tsl_heart_alarm()) {
    tsl_out_forget(out);
    return;
  }
  (void)tsl_out_close_file(out);
  (void)H5Eclear2(H5E_DEFAULT);
  tsl_out_forget(out);
  if (out->disk.fd >= 0) (void)close(out->disk.fd);
  if (out->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&out->comm);
  free(out->path);
  free(out->part);
  tsl_free(out);
}
