/* Reading a checkpoint file: nothing in it is believed before it was checked. */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_HEAD = 16 };

#define BAD(...) TSL_FAIL(TSL_ERR_INPUT, __VA_ARGS__)

/* The payloads of the blocks as they lie in the file; NULL: not there. */
typedef struct blocks {
  const char *one[TSL_N_BLOCKS]; /* of tags without index */
  int64_t bytes[TSL_N_BLOCKS];
  const char *of[3][TSL_MAX_FIELDS]; /* DATA, COUNTS, RECORDS of each field */
  int64_t of_bytes[3][TSL_MAX_FIELDS];
} blocks;

static tsl_err note_block(const char *name, blocks *b, int32_t tag, int32_t index,
                          const char *payload, int64_t bytes) {
  tsl_err err = TSL_OK;
  const char **place = NULL;
  if (tag < TSL_BLOCK_HEAD || tag >= TSL_N_BLOCKS || index < 0 || index >= TSL_MAX_FIELDS)
    BAD("checkpoint '%s': has a block of unknown kind %d.%d", name, (int)tag, (int)index);
  place = tag < TSL_BLOCK_DATA ? &b->one[tag] : &b->of[tag - TSL_BLOCK_DATA][index];
  if (*place != NULL) BAD("checkpoint '%s': has block %d.%d twice", name, (int)tag, (int)index);
  *place = payload;
  *(tag < TSL_BLOCK_DATA ? &b->bytes[tag] : &b->of_bytes[tag - TSL_BLOCK_DATA][index]) = bytes;
done:
  return err;
}

static tsl_err find_blocks(const char *name, const char *bytes, int64_t n, blocks *b) {
  tsl_err err = TSL_OK;
  int64_t at = 8;
  while (at < n) {
    int32_t head[2];
    int64_t length = 0, padded = 0;
    if (n - at < BLOCK_HEAD) BAD("checkpoint '%s': ends within a block", name);
    memcpy(head, bytes + at, sizeof head);
    memcpy(&length, bytes + at + 8, sizeof length);
    at += BLOCK_HEAD;
    if (length < 0 || length > n - at) BAD("checkpoint '%s': ends within block %d", name, head[0]);
    padded = length + (8 - length % 8) % 8;
    if (padded > n - at) BAD("checkpoint '%s': ends within block %d", name, head[0]);
    TSL_TRY(note_block(name, b, head[0], head[1], bytes + at, length));
    at += padded;
  }
done:
  return err;
}

/* ---- the blocks that each checkpoint has */

static tsl_err want(const char *name, const blocks *b, tsl_block tag, int64_t n, size_t size) {
  tsl_err err = TSL_OK;
  int64_t bytes = 0;
  if (b->one[tag] == NULL) BAD("checkpoint '%s': lacks block %d", name, (int)tag);
  if (!tsl_mul_i64(n, (int64_t)size, &bytes) || bytes != b->bytes[tag])
    BAD("checkpoint '%s': block %d has %lld bytes, which do not fit its %lld entries", name,
        (int)tag, (long long)b->bytes[tag], (long long)n);
done:
  return err;
}

static tsl_err text_of(const char *name, const blocks *b, tsl_block tag, const char **text) {
  tsl_err err = TSL_OK;
  if (b->one[tag] == NULL || b->bytes[tag] < 1 || b->one[tag][b->bytes[tag] - 1] != '\0')
    BAD("checkpoint '%s': text %d is missing or has no end", name, (int)tag);
  *text = b->one[tag];
done:
  return err;
}

static tsl_err take_head(const char *name, const blocks *b, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  TSL_TRY(want(name, b, TSL_BLOCK_HEAD, 1, sizeof c->head));
  memcpy(&c->head, b->one[TSL_BLOCK_HEAD], sizeof c->head);
  if (c->head.n_fields < 0 || c->head.n_fields > TSL_MAX_FIELDS || c->head.n_units < 0 ||
      c->head.n_rows < 0 || c->head.n_rows > c->head.n_units || c->head.phase < 0 ||
      c->head.phase > INT32_MAX || c->head.sequence < 0)
    BAD("checkpoint '%s': its counts are impossible", name);
  TSL_TRY(want(name, b, TSL_BLOCK_UNITS, c->head.n_units, sizeof *c->units));
  TSL_TRY(want(name, b, TSL_BLOCK_ROWS, c->head.n_rows, sizeof *c->rows));
  TSL_TRY(want(name, b, TSL_BLOCK_FIELDS, c->head.n_fields, sizeof *c->fields));
  c->units = (const void *)b->one[TSL_BLOCK_UNITS];
  c->rows = (const void *)b->one[TSL_BLOCK_ROWS];
  c->fields = (const void *)b->one[TSL_BLOCK_FIELDS];
  TSL_TRY(text_of(name, b, TSL_BLOCK_VERSION, &c->version));
  TSL_TRY(text_of(name, b, TSL_BLOCK_FAMILY, &c->family));
  TSL_TRY(text_of(name, b, TSL_BLOCK_DECK, &c->deck));
done:
  return err;
}

/* ---- rows and fields */

static tsl_err check_rows(const char *name, const tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  char *seen = calloc((size_t)c->head.n_units + 1, 1);
  if (seen == NULL) TSL_FAIL(TSL_ERR_MEMORY, "checkpoint '%s': no memory to check it", name);
  for (int64_t u = 0; u < c->head.n_units; u++)
    if (c->units[u].id != u) BAD("checkpoint '%s': its units are not in order", name);
  for (int64_t k = 0; k < c->head.n_rows; k++) {
    const int64_t id = c->rows[k].unit.id;
    if (id < 0 || id >= c->head.n_units || seen[id]++)
      BAD("checkpoint '%s': finished unit %lld is none, or is there twice", name, (long long)id);
  }
done:
  free(seen);
  return err;
}

/* Bytes of an element of a LIST (one record) or of the whole array. */
static tsl_err size_of(const char *name, const tsl_checkpoint_field *f, bool record, int64_t *out) {
  tsl_err err = TSL_OK;
  int64_t bytes = 1;
  bool fits = memchr(f->name, '\0', sizeof f->name) != NULL && f->type >= 0 &&
              f->type < TSL_N_TYPES && f->combine >= 0 && f->combine <= TSL_LIST;
  for (int k = record; k < 3; k++) fits = fits && tsl_mul_i64(bytes, f->shape[k], &bytes);
  fits = fits && tsl_mul_i64(bytes, (int64_t)tsl_type_bytes((tsl_type)f->type), &bytes);
  if (!fits) BAD("checkpoint '%s': a field is impossible", name);
  *out = bytes;
done:
  return err;
}

/* What is saved of tiles: sizes and bytes, or neither. */
static tsl_err take_tiles(const char *name, const blocks *b, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  int64_t sum = 0;
  const int64_t *tiles = (const void *)b->one[TSL_BLOCK_TILES];
  if (tiles == NULL && b->one[TSL_BLOCK_STATES] == NULL) return TSL_OK;
  if (tiles == NULL || b->one[TSL_BLOCK_STATES] == NULL)
    BAD("checkpoint '%s': the states of its tiles are incomplete", name);
  TSL_TRY(want(name, b, TSL_BLOCK_TILES, c->head.n_units, sizeof *tiles));
  for (int64_t u = 0; u < c->head.n_units; u++)
    if (tiles[u] < 0 || !tsl_add_i64(sum, tiles[u], &sum))
      BAD("checkpoint '%s': the state of tile %lld is impossible", name, (long long)u);
  if (sum != b->bytes[TSL_BLOCK_STATES])
    BAD("checkpoint '%s': the states of its tiles are incomplete", name);
  c->tiles = tiles;
  c->states = b->one[TSL_BLOCK_STATES];
done:
  return err;
}

/* A cursor and its steps, or neither. */
static tsl_err take_walk(const char *name, const blocks *b, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  const int64_t bytes = b->bytes[TSL_BLOCK_WALK] - (int64_t)sizeof *c->walk;
  if (b->one[TSL_BLOCK_WALK] == NULL) return TSL_OK;
  if (bytes < 0 || bytes % (int64_t)sizeof *c->steps != 0)
    BAD("checkpoint '%s': the solution so far is incomplete", name);
  c->walk = (const void *)b->one[TSL_BLOCK_WALK];
  c->steps = (const void *)(b->one[TSL_BLOCK_WALK] + sizeof *c->walk);
  c->n_steps = bytes / (int64_t)sizeof *c->steps;
done:
  return err;
}

static tsl_err take_lists(const char *name, const blocks *b, int f, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  int64_t record = 0, sum = 0, bytes = 0;
  const int64_t *counts = (const void *)b->of[1][f];
  if (counts == NULL && b->of[2][f] == NULL) return TSL_OK;
  TSL_TRY(size_of(name, &c->fields[f], true, &record));
  if (counts == NULL || b->of[2][f] == NULL || c->fields[f].combine != TSL_LIST ||
      b->of_bytes[1][f] / (int64_t)sizeof *counts != c->head.n_units ||
      b->of_bytes[1][f] % (int64_t)sizeof *counts != 0)
    BAD("checkpoint '%s': the lists of field %d are incomplete", name, f);
  for (int64_t u = 0; u < c->head.n_units; u++)
    if (!tsl_add_i64(sum, counts[u], &sum))
      BAD("checkpoint '%s': the lists of field %d are impossible", name, f);
  if (!tsl_mul_i64(sum, record, &bytes) || bytes != b->of_bytes[2][f])
    BAD("checkpoint '%s': the records of field %d are incomplete", name, f);
  c->counts[f] = counts;
  c->records[f] = b->of[2][f];
done:
  return err;
}

static tsl_err take_fields(const char *name, const blocks *b, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < TSL_MAX_FIELDS; f++) {
    int64_t bytes = 0;
    if (f >= c->head.n_fields && (b->of[0][f] || b->of[1][f] || b->of[2][f]))
      BAD("checkpoint '%s': has data of a field that it does not have", name);
    if (f >= c->head.n_fields) continue;
    TSL_TRY(size_of(name, &c->fields[f], false, &bytes));
    if (b->of[0][f] != NULL && b->of_bytes[0][f] != bytes)
      BAD("checkpoint '%s': field '%s' is incomplete", name, c->fields[f].name);
    c->data[f] = b->of[0][f];
    TSL_TRY(take_lists(name, b, f, c));
  }
done:
  return err;
}

tsl_err tsl_checkpoint_parse(const char *name, char *bytes, int64_t n, tsl_checkpoint *c) {
  tsl_err err = TSL_OK;
  tsl_checksum sum = {0};
  uint64_t stored = 0;
  blocks b = {.one = {NULL}};
  *c = (tsl_checkpoint){.bytes = bytes, .n_bytes = n};
  if (n < 16 || memcmp(bytes, TSL_CHECKPOINT_MAGIC, 8) != 0)
    BAD("'%s' is no checkpoint of this version of tesela", name);
  if (n % 8 != 0) BAD("checkpoint '%s' is damaged: it is cut off", name);
  memcpy(&stored, bytes + n - 8, sizeof stored);
  tsl_checksum_add(&sum, bytes, n - 8);
  if (tsl_checksum_end(&sum) != stored)
    BAD("checkpoint '%s' is damaged: its checksum is wrong", name);
  TSL_TRY(find_blocks(name, bytes, n - 8, &b));
  TSL_TRY(take_head(name, &b, c));
  TSL_TRY(check_rows(name, c));
  TSL_TRY(take_tiles(name, &b, c));
  TSL_TRY(take_walk(name, &b, c));
  TSL_TRY(take_fields(name, &b, c));
done:
  return err;
}

/* ---- the file */

static tsl_err checkpoint_read_load(const char *path, int fd, char *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  int64_t at = 0;
  while (at < n) {
    const ssize_t got = read(fd, bytes + at, (size_t)(n - at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) TSL_FAIL(TSL_ERR_IO, "checkpoint '%s': %s", path, strerror(errno));
    if (got == 0) BAD("checkpoint '%s': became shorter while it was read", path);
    at += got;
  }
done:
  return err;
}

tsl_err tsl_checkpoint_read(const char *path, tsl_checkpoint *out) {
  tsl_err err = TSL_OK;
  struct stat st;
  char *bytes = NULL;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  *out = (tsl_checkpoint){.bytes = NULL};
  if (fd < 0) BAD("checkpoint '%s': %s", path, strerror(errno));
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    BAD("checkpoint '%s' is not a regular file", path);
  bytes = malloc((size_t)st.st_size + 1);
  if (bytes == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "checkpoint '%s': no memory for its %lld bytes", path,
             (long long)st.st_size);
  TSL_TRY(checkpoint_read_load(path, fd, bytes, st.st_size));
  err = tsl_checkpoint_parse(path, bytes, st.st_size, out);
  bytes = NULL;
done:
  free(bytes);
  if (fd >= 0) (void)close(fd);
  if (err != TSL_OK) tsl_checkpoint_clear(out);
  return err;
}

void tsl_checkpoint_clear(tsl_checkpoint *checkpoint) {
  free(checkpoint->bytes);
  *checkpoint = (tsl_checkpoint){.bytes = NULL};
}
