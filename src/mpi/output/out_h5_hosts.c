/* What several hosts need before they write the output together. */
#include "collective_error.h"
#include "out_h5_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* What rank 0 appends to the file and the others have to find there. A file of that name is not
   enough: it may be one of another run on a disk of that host's own. */
typedef struct mark {
  unsigned char bytes[16];
  int64_t at;
} mark;

static tsl_err put_mark(tsl_out *out, bool one_host, mark *m) {
  tsl_err err = TSL_OK;
  const ssize_t n = (ssize_t)sizeof m->bytes;
  m->at = lseek(out->disk.fd, 0, SEEK_END);
  if (m->at < 0 || getrandom(m->bytes, sizeof m->bytes, 0) != n)
    TSL_FAIL(TSL_ERR_IO, "%s: cannot mark: %s", out->part, strerror(errno));
  if (pwrite(out->disk.fd, m->bytes, sizeof m->bytes, m->at) != n) {
    out->disk.failed = errno != 0 ? errno : ENOSPC;
    out->disk.needed = n;
  } else if (!one_host && fsync(out->disk.fd) != 0) { /* over NFS others see what is synced */
    out->disk.failed = errno;
  }
  err = tsl_out_settle(out, err);
done:
  return err;
}

static tsl_err find_mark(const tsl_out *out, const mark *m) {
  tsl_err err = TSL_OK;
  char host[64] = "";
  unsigned char found[sizeof m->bytes] = {0};
  const int fd = open(out->part, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  (void)gethostname(host, sizeof host - 1);
  if (fd < 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "output '%s': not visible on host %s (%s); use a folder that all hosts share",
             out->part, host, strerror(errno));
  if (pread(fd, found, sizeof found, m->at) != (ssize_t)sizeof found ||
      memcmp(found, m->bytes, sizeof found) != 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "output '%s': host %s has another file of that name; use a folder that all hosts "
             "share",
             out->part, host);
done:
  if (fd >= 0) (void)close(fd);
  return err;
}

tsl_err tsl_out_check_visible(tsl_out *out) {
  tsl_err err = TSL_OK;
  bool one_host = false;
  mark m = {.at = 0};
  TSL_TRY(tsl_on_one_host(out->comm, &one_host));
  TSL_COLLECTIVE_TRY(out->comm, out->rank == 0 ? put_mark(out, one_host, &m) : TSL_OK);
  TSL_MPI(MPI_Bcast(&m, (int)sizeof m, MPI_BYTE, 0, out->comm));
  err = tsl_collective_error(out->comm, find_mark(out, &m));
  if (out->rank == 0 && ftruncate(out->disk.fd, m.at) != 0 && err == TSL_OK)
    err = tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "%s: cannot unmark: %s", out->part,
                   strerror(errno));
  TSL_COLLECTIVE_TRY(out->comm, err);
done:
  return err;
}

/* Is it FILE.part-NUMBERS.lock, by which Open MPI keeps a file pointer that hosts share? */
static bool is_pointer_file(const char *name, const char *part) {
  const size_t length = strlen(part);
  if (strncmp(name, part, length) != 0 || name[length] != '-') return false;
  name += length;
  return strcmp(name + strspn(name, "-0123456789"), ".lock") == 0;
}

void tsl_out_remove_pointers(const tsl_out *out) {
  const char *slash = strrchr(out->part, '/'), *base = slash != NULL ? slash + 1 : out->part;
  char *folder = NULL;
  DIR *all = NULL;
  const struct dirent *entry;
  if (tsl_out_folder(out->part, &folder) == TSL_OK) all = opendir(folder);
  while (all != NULL && (entry = readdir(all)) != NULL)
    if (is_pointer_file(entry->d_name, base)) (void)unlinkat(dirfd(all), entry->d_name, 0);
  if (all != NULL) (void)closedir(all);
  free(folder);
}
