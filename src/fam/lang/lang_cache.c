/* Files of the private folder: a head, the text that the object was made from, the object. */
#include "lang_cache.h"

#include "memory.h"
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 64 };
#define FILE_MAX (INT64_C(64) << 20)

/** What a file begins with. */
typedef struct head {
  char magic[8];
  int64_t n_text, n_object;
  uint64_t sum; /**< of text and object: files are cut short by full disks */
} head;

static const char magic[8] = "tesela2";

/* ------------------------------------------------------------------ keys */

/** FNV-1a (Fowler, Noll, Vo): names files and notices damage; it proves nothing. */
static uint64_t add_bytes(uint64_t sum, const void *data, int64_t n) {
  const unsigned char *bytes = data;
  for (int64_t b = 0; b < n; b++) sum = (sum ^ bytes[b]) * UINT64_C(0x100000001b3);
  return sum;
}

static const uint64_t start = UINT64_C(0xcbf29ce484222325);

tsl_err lang_cache_add_text(lang_cache_key *key, const char *text) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)strlen(text) + 1;
  TSL_TRY(tsl_grow((void **)&key->text, key->n, n, &key->room, 1, "text of a compiled object"));
  memcpy(key->text + key->n, text, (size_t)n);
  key->n += n;
done:
  return err;
}

void lang_cache_clear(lang_cache_key *key) {
  tsl_free(key->text);
  *key = (lang_cache_key){0};
}

static void name_file(const lang_cache_key *key, const char *suffix, char name[NAME_BYTES]) {
  (void)snprintf(name, NAME_BYTES, "dp-%016llx%s",
                 (unsigned long long)add_bytes(start, key->text, key->n), suffix);
}

/* ----------------------------------------------------------------- files */

tsl_err lang_write(int fd, const void *data, int64_t n, const char *path) {
  tsl_err err = TSL_OK;
  if (!tsl_write_all(fd, data, n))
    TSL_FAIL(TSL_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
done:
  return err;
}

/** Is the open file a regular one of ours that nobody else may write? */
static bool is_own(int fd, int64_t *size) {
  struct stat status;
  if (fstat(fd, &status) != 0) return false;
  *size = status.st_size;
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0 &&
         status.st_size <= FILE_MAX;
}

tsl_err lang_cache_read(int folder, const char *name, void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  int64_t size = 0;
  void *memory = NULL;
  *bytes = NULL;
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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

/* ----------------------------------------------------------------- objects */

/** Is it a whole file, made from this very text? */
static bool is_of(const lang_cache_key *key, const char *bytes, int64_t n, head *h) {
  if (n < (int64_t)sizeof *h) return false;
  memcpy(h, bytes, sizeof *h);
  const int64_t rest = n - (int64_t)sizeof *h;
  return memcmp(h->magic, magic, sizeof magic) == 0 && h->n_text == key->n && h->n_text <= rest &&
         h->n_object == rest - h->n_text &&
         memcmp(bytes + sizeof *h, key->text, (size_t)key->n) == 0 &&
         h->sum == add_bytes(start, bytes + sizeof *h, rest);
}

tsl_err lang_cache_take(const lang_cache_key *key, const char *suffix, void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  char folder[PATH_BYTES], name[NAME_BYTES], *whole = NULL;
  int fd = -1;
  head h;
  *bytes = NULL;
  *n = 0;
  TSL_TRY(lang_cache_folder(folder, sizeof folder, &fd));
  name_file(key, suffix, name);
  TSL_TRY(lang_cache_read(fd, name, (void **)&whole, n));
  if (whole == NULL || !is_of(key, whole, *n, &h)) goto done;
  memmove(whole, whole + sizeof h + h.n_text, (size_t)h.n_object);
  *n = h.n_object;
  *bytes = whole;
  whole = NULL;
done:
  if (fd >= 0) (void)close(fd);
  tsl_free(whole);
  return err;
}

/** All parts to an open file. */
static tsl_err write_file(int fd, const lang_cache_key *key, const void *bytes, int64_t n,
                          const char *path) {
  tsl_err err = TSL_OK;
  head h = {.n_text = key->n, .n_object = n};
  memcpy(h.magic, magic, sizeof magic);
  h.sum = add_bytes(add_bytes(start, key->text, key->n), bytes, n);
  TSL_TRY(lang_write(fd, &h, sizeof h, path));
  TSL_TRY(lang_write(fd, key->text, key->n, path));
  TSL_TRY(lang_write(fd, bytes, n, path));
done:
  return err;
}

tsl_err lang_cache_keep(const lang_cache_key *key, const char *suffix, const void *bytes,
                        int64_t n) {
  tsl_err err = TSL_OK;
  char folder[PATH_BYTES - 128], name[NAME_BYTES], work[PATH_BYTES] = "";
  int fd = -1, at = -1;
  TSL_TRY(lang_cache_folder(folder, sizeof folder, &at));
  name_file(key, suffix, name);
  (void)snprintf(work, sizeof work, "%s/work-XXXXXX", folder);
  fd = mkostemp(work, O_CLOEXEC);
  if (fd < 0) {
    const int code = errno;
    work[0] = '\0';
    TSL_FAIL(TSL_ERR_IO, "no file can be made in %s: %s; set XDG_CACHE_HOME to a folder of yours",
             folder, strerror(code));
  }
  TSL_TRY(write_file(fd, key, bytes, n, work));
  if (renameat(at, work + strlen(folder) + 1, at, name) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s/%s: cannot be kept: %s", folder, name, strerror(errno));
  work[0] = '\0';
done:
  if (fd >= 0) (void)close(fd);
  if (work[0] != '\0') (void)unlink(work);
  if (at >= 0) (void)close(at);
  return err;
}
