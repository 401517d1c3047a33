/* Gzip member by member, and where it may be entered; alone sees zlib. */
#include "letters_gzip.h"

#include "integers.h"
#include "letters_file.h"
#include "memory.h"
#include "sorted.h"
#include "table_read.h"

#include <string.h>
#include <zlib.h>

enum {
  GZIP_ALONE = 16 + MAX_WBITS, /* of inflateInit2: no zlib or raw streams */
  PIECE = 1 << 30,             /* zlib counts in 32 bits */
  INPUT = 1 << 16,
  HISTORY = 1 << MAX_WBITS,
  TRAILER = 8,   /* bytes of a checksum and a length */
  RARER = 8,     /* than those without one are entries with a history, */
  RAREST = 64,   /* to this */
  PARTS = 1 << 7 /* of a file: of each of them one, between these */
};

struct letters_inflater {
  letters_packed from;
  z_stream z;
  int64_t at;     /* of the file: behind what is in `input` */
  int64_t text;   /* bytes of text so far */
  int64_t member; /* from 1 */
  bool within;    /* a member, */
  bool entered;   /* but not from its beginning: its checksum is not known */
  bool failed;    /* it has to enter anew */
  letters_entries *notes;
  int64_t apart, room, room_histories;
  unsigned char input[INPUT];
};

/* ---- bytes */

/* At least n bytes to come, if the file has them. */
static tsl_err fill(letters_inflater *u, uInt n) {
  tsl_err err = TSL_OK;
  if (u->z.avail_in >= n || u->at == u->from.n) goto done;
  if (u->from.file == NULL) { /* all that is left, as it is */
    const int64_t first = u->at - u->z.avail_in, end = tsl_min(u->from.n, first + PIECE);
    u->z.next_in = (z_const Bytef *)u->from.bytes + first, u->z.avail_in = (uInt)(end - first);
    u->at = end;
    goto done;
  }
  memmove(u->input, u->z.next_in, u->z.avail_in);
  const int64_t end = tsl_min(u->from.n, u->at + INPUT - u->z.avail_in);
  TSL_TRY(
      letters_file_read(u->from.file, u->from.path, u->at, end, (char *)u->input + u->z.avail_in));
  u->z.next_in = u->input, u->z.avail_in += (uInt)(end - u->at);
  u->at = end;
done:
  return err;
}

/* Of the file, not yet read. */
static int64_t left_of(const letters_inflater *u) {
  return u->from.n - u->at + u->z.avail_in;
}

static void go_to(letters_inflater *u, int64_t at) {
  u->at = at;
  u->z.next_in = u->input, u->z.avail_in = 0;
}

/* What inflate says, unless it goes on. */
static tsl_err judge(const letters_inflater *u, int code) {
  tsl_err err = TSL_OK;
  if (code == Z_OK || code == Z_STREAM_END) goto done;
  if (code == Z_MEM_ERROR) TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory to unpack gzip", u->from.path);
  if (code == Z_BUF_ERROR)
    TSL_FAIL(
        TSL_ERR_INPUT,
        "%s: the gzip file is cut off: its member %lld does not end (behind %lld bytes of text)",
        u->from.path, (long long)u->member, (long long)u->text);
  TSL_FAIL(TSL_ERR_INPUT,
           "%s: the gzip file is damaged: %s, in member %lld behind %lld bytes of text",
           u->from.path, u->z.msg != NULL ? u->z.msg : "no gzip", (long long)u->member,
           (long long)u->text);
done:
  return err;
}

/* ---- entries */

void letters_entries_clear(letters_entries *entries) {
  TSL_FREE_ALL(entries->list, entries->histories);
  *entries = (letters_entries){.list = NULL};
}

/* One at this place; the end's is not counted. */
static tsl_err note(letters_inflater *u, int64_t bits, const unsigned char *history, uInt n) {
  tsl_err err = TSL_OK;
  letters_entries *const e = u->notes;
  const int64_t before = e->n > 0 ? e->list[e->n].history : 0;
  uLongf packed = compressBound(n);
  TSL_TRY(tsl_grow((void **)&e->list, e->n, 2, &u->room, sizeof *e->list, "entries of gzip"));
  TSL_TRY(tsl_grow((void **)&e->histories, before, (int64_t)packed, &u->room_histories, 1,
                   "entries of gzip"));
  if (n > 0)
    TSL_TRY(judge(u, compress2(e->histories + before, &packed, history, n, Z_BEST_SPEED)));
  else
    packed = 0;
  e->list[e->n++] = (letters_entry){.text = u->text,
                                    .at = u->at - u->z.avail_in,
                                    .bits = bits,
                                    .member = u->member,
                                    .history = before};
  e->list[e->n] = (letters_entry){.history = before + (int64_t)packed};
done:
  return err;
}

static bool is_far(const letters_inflater *u, int64_t apart) {
  const letters_entries *e = u->notes;
  return e != NULL && (e->n == 0 || u->text - e->list[e->n - 1].text >= apart);
}

static int64_t apart_of_blocks(const letters_inflater *u) {
  return tsl_max(RARER * u->apart, tsl_min(u->from.n / PARTS, RAREST * u->apart));
}

/* Behind a block that is not its member's last one. */
static tsl_err note_block(letters_inflater *u) {
  enum { LAST = 64, END = 128, BITS = 7 };
  unsigned char history[HISTORY];
  uInt n = 0;
  if ((u->z.data_type & END) == 0 || (u->z.data_type & LAST) != 0 || !is_far(u, apart_of_blocks(u)))
    return TSL_OK;
  (void)inflateGetDictionary(&u->z, history, &n);
  return note(u, u->z.data_type & BITS, history, n);
}

static void note_end(letters_inflater *u) {
  letters_entries *const e = u->notes;
  if (e == NULL) return;
  e->list[e->n].text = u->text, e->list[e->n].at = u->from.n;
}

void letters_inflater_note(letters_inflater *u, int64_t apart, letters_entries *entries) {
  u->notes = entries;
  u->apart = apart;
}

/* ---- text */

/* @param[out] ended  there is none */
static tsl_err begin_member(letters_inflater *u, bool *ended) {
  tsl_err err = TSL_OK;
  TSL_TRY(fill(u, 2));
  *ended = left_of(u) == 0;
  if (*ended) {
    note_end(u);
    goto done;
  }
  if (!letters_is_packed((const char *)u->z.next_in, u->z.avail_in))
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: %lld bytes behind the end of the gzip file (member %lld) are not gzip",
             u->from.path, (long long)left_of(u), (long long)u->member);
  u->member++;
  if (is_far(u, u->apart)) TSL_TRY(note(u, -1, NULL, 0));
  (void)inflateReset2(&u->z, GZIP_ALONE);
  u->within = true, u->entered = false;
done:
  return err;
}

static tsl_err end_member(letters_inflater *u) {
  tsl_err err = TSL_OK;
  if (u->entered && left_of(u) < TRAILER) TSL_TRY(judge(u, Z_BUF_ERROR));
  if (u->entered) go_to(u, u->from.n - left_of(u) + TRAILER);
  u->within = false;
done:
  return err;
}

/* What the input at hand has, or there is room for. */
static tsl_err unpack(letters_inflater *u) {
  tsl_err err = TSL_OK;
  const uInt room = u->z.avail_out;
  TSL_TRY(fill(u, 1));
  int code = inflate(&u->z, u->notes != NULL ? Z_BLOCK : Z_NO_FLUSH);
  if (code == Z_BUF_ERROR && left_of(u) > 0) code = Z_OK; /* a block's end that was read before */
  u->text += room - u->z.avail_out;
  TSL_TRY(judge(u, code));
  if (code == Z_STREAM_END)
    TSL_TRY(end_member(u));
  else if (u->notes != NULL)
    TSL_TRY(note_block(u));
done:
  return err;
}

tsl_err letters_inflater_read(letters_inflater *u, char *text, int64_t n, int64_t *got) {
  tsl_err err = TSL_OK;
  const int64_t first = u->text;
  bool ended = false;
  while (u->text - first < n) {
    if (!u->within) TSL_TRY(begin_member(u, &ended));
    if (ended) break;
    u->z.next_out = (Bytef *)text + (u->text - first);
    u->z.avail_out = (uInt)tsl_min(n - (u->text - first), PIECE);
    TSL_TRY(unpack(u));
  }
done:
  *got = u->text - first;
  u->failed = err != TSL_OK;
  return err;
}

/* ---- places */

static tsl_err enter(letters_inflater *u, const letters_entries *entries, int64_t k) {
  tsl_err err = TSL_OK;
  const letters_entry *e = &entries->list[k];
  unsigned char history[HISTORY];
  uLongf n = HISTORY;
  go_to(u, e->at);
  u->text = e->text, u->member = e->member, u->within = e->bits >= 0;
  if (!u->within) {
    u->member--; /* it begins */
    goto done;
  }
  u->entered = true;
  (void)inflateReset2(&u->z, -MAX_WBITS);
  if (e->bits > 0) {
    go_to(u, e->at - 1);
    TSL_TRY(fill(u, 1));
    (void)inflatePrime(&u->z, (int)e->bits, *u->z.next_in >> (8 - e->bits));
    u->z.next_in++, u->z.avail_in--;
  }
  if (e[1].history == e->history) goto done;
  TSL_TRY(judge(u, uncompress(history, &n, entries->histories + e->history,
                              (uLong)(e[1].history - e->history))));
  (void)inflateSetDictionary(&u->z, history, (uInt)n);
done:
  return err;
}

int64_t letters_entries_find(const letters_entries *entries, int64_t text) {
  return tsl_last_at_most(&entries->list->text, entries->n, sizeof *entries->list, text);
}

tsl_err letters_inflater_go(letters_inflater *u, const letters_entries *entries, int64_t text) {
  tsl_err err = TSL_OK;
  char passed[INPUT];
  const int64_t k = letters_entries_find(entries, text);
  int64_t got = 1;
  if (u->failed || u->text > text || u->text < entries->list[k].text) TSL_TRY(enter(u, entries, k));
  while (u->text < text && got > 0)
    TSL_TRY(letters_inflater_read(u, passed, tsl_min(text - u->text, INPUT), &got));
done:
  return err;
}

/* ---- files */

tsl_err letters_inflater_open(const letters_packed *packed, letters_inflater **out) {
  tsl_err err = TSL_OK;
  letters_inflater *u = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *u, "to unpack gzip", (void **)&u));
  u->from = *packed;
  if (inflateInit2(&u->z, GZIP_ALONE) != Z_OK) {
    tsl_free(u), u = NULL;
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory to unpack gzip", packed->path);
  }
  u->z.next_in = u->input;
done:
  *out = u;
  return err;
}

void letters_inflater_close(letters_inflater **inflater) {
  if (*inflater != NULL) (void)inflateEnd(&(*inflater)->z);
  tsl_free(*inflater);
  *inflater = NULL;
}

bool letters_inflater_is_of(const letters_inflater *u, const FILE *file) {
  return u->from.file == file;
}

/* Room for all text, if the rest is packed as well as what came so far, and a tenth more. */
static int64_t guess_room(const letters_inflater *u, int64_t now) {
  enum { FIRST = 1 << 16, MOST_GROWTH = 8 };
  const double packed = (double)u->from.n, used = packed - (double)left_of(u);
  const double all = used > 0 ? 1.1 * (double)u->text * packed / used : 0;
  const double least = 1.25 * (double)now + FIRST, most = (double)now * MOST_GROWTH;
  const double room = all > most ? most : all;
  return (int64_t)(room > least ? room : least);
}

tsl_err letters_unpack(const char *path, const char *bytes, int64_t n, char **text,
                       int64_t *n_text) {
  tsl_err err = TSL_OK;
  letters_inflater *u = NULL;
  const letters_packed packed = {.path = path, .bytes = bytes, .n = n};
  char *own = NULL, *grown = NULL;
  int64_t room = 0, got;
  TSL_TRY(letters_inflater_open(&packed, &u));
  do {
    const int64_t had = u->text, more = guess_room(u, room);
    TSL_TRY(table_check_memory(more, path));
    TSL_TRY(tsl_alloc(more, 1, path, (void **)&grown));
    if (had > 0) memcpy(grown, own, (size_t)had);
    tsl_free(own);
    own = grown, grown = NULL, room = more;
    TSL_TRY(letters_inflater_read(u, own + had, room - had, &got));
  } while (u->text == room);
  *text = own, *n_text = u->text;
  own = NULL;
done:
  if (err != TSL_OK) *text = NULL, *n_text = 0;
  letters_inflater_close(&u);
  tsl_free(own);
  return err;
}
