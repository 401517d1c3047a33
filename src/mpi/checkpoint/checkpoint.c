/* Writing a checkpoint file: gathered in memory, as far as that goes, and then put on the disk. */
#include "checkpoint.h"

#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 1 << 20 }; /* a multiple of 8, so that the checksum may be taken buffer by buffer */

struct tsl_checkpoint_writer {
  char *path, *temporary; /* from malloc */
  int fd;                 /* -1: nothing has been written yet */
  char *buffer;           /* [room] from malloc */
  int64_t room, most;     /* the room now, and at most; multiples of LEAST */
  int64_t used, written;
  int64_t left; /* bytes that the block still wants */
  int64_t fill; /* zeros after it */
  tsl_checksum sum;
};

static tsl_err io_fail(const tsl_checkpoint_writer *w, const char *what) {
  return tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "checkpoint '%s': %s: %s", w->path, what,
                  strerror(errno));
}

static tsl_err name_file(tsl_checkpoint_writer *w, const char *path) {
  tsl_err err = TSL_OK;
  w->path = strdup(path);
  if (w->path == NULL || asprintf(&w->temporary, "%s.tmp", path) < 0) {
    w->temporary = NULL;
    TSL_FAIL(TSL_ERR_MEMORY, "checkpoint '%s': no memory for its name", path);
  }
done:
  return err;
}

/* ---- in memory */

/* Room for so many bytes more, or for as many as may be had. */
static void reserve(tsl_checkpoint_writer *w, int64_t bytes) {
  int64_t room = w->most;
  char *buffer = NULL;
  if (bytes <= w->room - w->used) return;
  if (bytes < w->most - w->used) room = (w->used + bytes + LEAST - 1) / LEAST * LEAST;
  buffer = room > w->room ? realloc(w->buffer, (size_t)room) : NULL;
  if (buffer == NULL) return;
  w->buffer = buffer, w->room = room;
}

/* ---- on the disk */

static tsl_err open_file(tsl_checkpoint_writer *w) {
  w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  return w->fd < 0 ? io_fail(w, "cannot create") : TSL_OK;
}

static tsl_err flush(tsl_checkpoint_writer *w) {
  const tsl_err err = w->fd < 0 ? open_file(w) : TSL_OK;
  if (err != TSL_OK) return err;
  tsl_checksum_add(&w->sum, w->buffer, w->used);
  if (!tsl_write_all(w->fd, w->buffer, w->used)) return io_fail(w, "cannot write");
  w->written += w->used, w->used = 0;
  return TSL_OK;
}

static tsl_err checkpoint_put(tsl_checkpoint_writer *w, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const char *from = bytes;
  while (n > 0) {
    if (w->used == w->room) TSL_TRY(flush(w));
    const int64_t more = n < w->room - w->used ? n : w->room - w->used;
    memcpy(w->buffer + w->used, from, (size_t)more);
    from += more, n -= more, w->used += more;
  }
done:
  return err;
}

/* ---- blocks */

tsl_err tsl_checkpoint_create(const char *path, int64_t most, tsl_checkpoint_writer **out) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_writer *w = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "checkpoint", (void **)&w));
  w->fd = -1;
  w->most = most > LEAST ? most / LEAST * LEAST : LEAST;
  TSL_TRY(name_file(w, path));
  reserve(w, LEAST);
  if (w->room == 0) TSL_FAIL(TSL_ERR_MEMORY, "checkpoint '%s': no memory for it", path);
  TSL_TRY(checkpoint_put(w, TSL_CHECKPOINT_MAGIC, 8));
  *out = w;
done:
  if (err != TSL_OK) tsl_checkpoint_drop(&w);
  return err;
}

tsl_err tsl_checkpoint_block(tsl_checkpoint_writer *w, tsl_block tag, int index, int64_t bytes) {
  tsl_err err = TSL_OK;
  const int32_t head[2] = {(int32_t)tag, (int32_t)index};
  if (w->left != 0 || bytes < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "checkpoint '%s': block %d begins too early", w->path, (int)tag);
  reserve(w,
          bytes < INT64_MAX - LEAST ? bytes + LEAST : bytes); /* its head, its end, the checksum */
  TSL_TRY(checkpoint_put(w, head, (int64_t)sizeof head));
  TSL_TRY(checkpoint_put(w, &bytes, (int64_t)sizeof bytes));
  w->left = bytes;
  w->fill = (8 - bytes % 8) % 8;
done:
  return err;
}

tsl_err tsl_checkpoint_put(tsl_checkpoint_writer *w, const void *bytes, int64_t n) {
  static const char zeros[8];
  tsl_err err = TSL_OK;
  if (n < 0 || n > w->left)
    TSL_FAIL(TSL_ERR_INTERNAL, "checkpoint '%s': %lld bytes for a block of %lld", w->path,
             (long long)n, (long long)w->left);
  TSL_TRY(checkpoint_put(w, bytes, n));
  w->left -= n;
  if (w->left > 0) goto done;
  TSL_TRY(checkpoint_put(w, zeros, w->fill));
  w->fill = 0;
done:
  return err;
}

tsl_err tsl_checkpoint_add(tsl_checkpoint_writer *w, tsl_block tag, int index, const void *bytes,
                           int64_t n) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_checkpoint_block(w, tag, index, n));
  TSL_TRY(tsl_checkpoint_put(w, bytes, n));
done:
  return err;
}

/* ---- the end */

static tsl_err sync_folder(const tsl_checkpoint_writer *w) {
  tsl_err err = TSL_OK;
  char *folder = strdup(w->path);
  char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
  int fd = -1;
  if (folder == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "checkpoint '%s': no memory for its folder", w->path);
  if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
  fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* Some file systems cannot sync a folder (EINVAL); the file itself is safe by then. */
  if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL)) TSL_TRY(io_fail(w, "cannot sync the folder"));
done:
  if (fd >= 0) (void)close(fd);
  free(folder);
  return err;
}

static tsl_err checkpoint_finish(tsl_checkpoint_writer *w) {
  tsl_err err = TSL_OK;
  uint64_t sum = 0;
  if (w->left != 0) TSL_FAIL(TSL_ERR_INTERNAL, "checkpoint '%s': a block is short", w->path);
  TSL_TRY(flush(w));
  sum = tsl_checksum_end(&w->sum);
  TSL_TRY(checkpoint_put(w, &sum, (int64_t)sizeof sum));
  TSL_TRY(flush(w));
  if (fsync(w->fd) != 0) TSL_TRY(io_fail(w, "fsync"));
  if (rename(w->temporary, w->path) != 0) TSL_TRY(io_fail(w, "cannot rename"));
  TSL_TRY(sync_folder(w));
done:
  return err;
}

tsl_err tsl_checkpoint_commit(tsl_checkpoint_writer **writer, int64_t *bytes) {
  const tsl_err err = checkpoint_finish(*writer);
  *bytes = (*writer)->written;
  tsl_checkpoint_drop(writer);
  return err;
}

void tsl_checkpoint_drop(tsl_checkpoint_writer **writer) {
  tsl_checkpoint_writer *w = *writer;
  if (w == NULL) return;
  if (w->fd >= 0) (void)close(w->fd);
  if (w->fd >= 0) (void)unlink(w->temporary); /* gone already when it was renamed */
  free(w->buffer);
  free(w->temporary);
  free(w->path);
  tsl_free(w);
  *writer = NULL;
}
