/* Gzip in memory, member by member; alone sees zlib. */
#include "letters_file.h"

#include "integers.h"
#include "memory.h"
#include "table_read.h"

#include <string.h>
#include <zlib.h>

enum {
  GZIP_ALONE = 16 + MAX_WBITS, /* of inflateInit2: no zlib or raw streams */
  PIECE = 1 << 30,             /* zlib counts in 32 bits */
  FIRST_ROOM = 1 << 16,
  MOST_GROWTH = 8
};

/* What is unpacked, and what has come of it. */
typedef struct unpacking {
  const char *path;
  const char *bytes, *end;
  z_stream z; /* its next_in: what is left */
  char *text;
  int64_t n, room;
  int64_t member; /* from 1 */
} unpacking;

static int64_t left_of(const unpacking *u) {
  return u->end - (const char *)u->z.next_in;
}

/* Room for all text, if the rest is packed as well as what came so far, and a tenth more. */
static int64_t guess_room(const unpacking *u) {
  const double packed = (double)(u->end - u->bytes), used = packed - (double)left_of(u);
  const double all = used > 0 ? 1.1 * (double)u->n * packed / used : 0;
  const double least = 1.25 * (double)u->room + FIRST_ROOM, most = (double)u->room * MOST_GROWTH;
  const double room = all > most ? most : all;
  return (int64_t)(room > least ? room : least);
}

static tsl_err grow(unpacking *u) {
  tsl_err err = TSL_OK;
  void *text = NULL;
  const int64_t room = guess_room(u);
  TSL_TRY(table_check_memory(room, u->path));
  TSL_TRY(tsl_alloc(room, 1, u->path, &text));
  if (u->n > 0) memcpy(text, u->text, (size_t)u->n);
  tsl_free(u->text);
  u->text = text, u->room = room;
done:
  return err;
}

/* What inflate says, unless it goes on. */
static tsl_err judge(const unpacking *u, int code) {
  tsl_err err = TSL_OK;
  if (code == Z_OK || code == Z_STREAM_END) goto done;
  if (code == Z_MEM_ERROR) TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory to unpack gzip", u->path);
  if (code == Z_BUF_ERROR)
    TSL_FAIL(
        TSL_ERR_INPUT,
        "%s: the gzip file is cut off: its member %lld does not end (behind %lld bytes of text)",
        u->path, (long long)u->member, (long long)u->n);
  TSL_FAIL(TSL_ERR_INPUT,
           "%s: the gzip file is damaged: %s, in member %lld behind %lld bytes of text", u->path,
           u->z.msg != NULL ? u->z.msg : "no gzip", (long long)u->member, (long long)u->n);
done:
  return err;
}

static tsl_err unpack_member(unpacking *u) {
  tsl_err err = TSL_OK;
  int code = inflateReset(&u->z);
  u->member++;
  while (code == Z_OK) {
    if (u->n == u->room) TSL_TRY(grow(u));
    const uInt room = (uInt)tsl_min(u->room - u->n, PIECE);
    u->z.avail_in = (uInt)tsl_min(left_of(u), PIECE);
    u->z.next_out = (Bytef *)u->text + u->n, u->z.avail_out = room;
    code = inflate(&u->z, Z_NO_FLUSH);
    u->n += room - u->z.avail_out;
    TSL_TRY(judge(u, code));
  }
  TSL_TRY(judge(u, code));
done:
  return err;
}

static tsl_err unpack_all(unpacking *u) {
  tsl_err err = TSL_OK;
  while (left_of(u) > 0) {
    if (!letters_is_packed((const char *)u->z.next_in, left_of(u)))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: %lld bytes behind the end of the gzip file (member %lld) are not gzip", u->path,
               (long long)left_of(u), (long long)u->member);
    TSL_TRY(unpack_member(u));
  }
done:
  return err;
}

tsl_err letters_unpack(const char *path, const char *bytes, int64_t n, char **text,
                       int64_t *n_text) {
  tsl_err err = TSL_OK;
  unpacking u = {.path = path, .bytes = bytes, .end = bytes + n};
  u.z.next_in = (z_const Bytef *)bytes;
  *text = NULL, *n_text = 0;
  if (inflateInit2(&u.z, GZIP_ALONE) != Z_OK)
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory to unpack gzip", path);
  err = unpack_all(&u);
  (void)inflateEnd(&u.z);
  TSL_TRY(err);
  *text = u.text, *n_text = u.n;
  u.text = NULL;
done:
  tsl_free(u.text);
  return err;
}
