/* unit.letters.index: any records of two files by their index, against all of them read at once, in
 * random layouts, pieces and windows; and the same messages for what is wrong. */
#include "../cpu/cases.h"
#include "must.h"

#include "letters_index.h"
#include "parallel.h"
#include "random.h"

#include <unistd.h>
#include <zlib.h>

enum { FILES = 2, TEXT = 1 << 18, MESSAGE = TSL_ERR_MESSAGE_MAX };

typedef struct made {
  char path[24], text[TEXT];
  int64_t n;
} made;

static made files[FILES];

static void put(made *m, const char *text) {
  const int64_t n = (int64_t)strlen(text);
  assert_true(m->n + n < TEXT);
  memcpy(m->text + m->n, text, (size_t)n);
  m->n += n;
}

/** Text on lines of so many characters. */
static void put_lines(made *m, const char *text, int width) {
  char line[512];
  for (int64_t at = 0; at < (int64_t)strlen(text); at += width) {
    (void)snprintf(line, sizeof line, "%.*s\n", width, text + at);
    put(m, line);
  }
}

static void make_file(made *m, int records, bool quality, int width, uint64_t *state) {
  char letters[301], scores[301], header[64];
  m->n = 0;
  for (int k = 0; k < records; k++) {
    const int n = 1 + random_below(state, 300);
    for (int i = 0; i < n; i++) {
      letters[i] = "ACGTN"[random_below(state, 5)];
      scores[i] = (char)('!' + random_below(state, '~' - '!' + 1));
    }
    letters[n] = scores[n] = '\0';
    (void)snprintf(header, sizeof header, "%cr%d.%d of %d\n", quality ? '@' : '>', k,
                   random_below(state, 9), n);
    put(m, k % 11 == 3 ? (quality ? "@\n" : ">\n") : header);
    put_lines(m, letters, width);
    if (quality) put(m, "+\n"), put_lines(m, scores, width);
  }
}

static void save_bytes(const char *path, const void *bytes, int64_t n) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, (size_t)n, file), n);
  assert_int_equal(fclose(file), 0);
}

static void save(made *m) {
  save_bytes(m->path, m->text, m->n);
}

/** As gzip of so many members, the last ones empty; a block has some hundred bytes of text. */
static void save_packed(made *m, int members) {
  static unsigned char packed[2 * TEXT];
  int64_t n = 0, at = 0;
  for (int k = 0; k <= members; k++) {
    const int64_t end = k < members ? m->n * (k + 1) / members : m->n;
    z_stream z = {.next_in = (z_const Bytef *)m->text + at, .avail_in = (uInt)(end - at)};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 1, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = packed + n, z.avail_out = (uInt)(sizeof packed - (size_t)n);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    n = z.next_out - packed, at = end;
    (void)deflateEnd(&z);
  }
  save_bytes(m->path, packed, n);
}

/** Plain, or packed in one way or another. */
static void save_somehow(made *m, uint64_t *state) {
  if (random_below(state, 2) == 0)
    save(m);
  else
    save_packed(m, random_below(state, 2) == 0 ? 1 : 1 + random_below(state, 90));
}

/** Records of both files that were looked at. */
typedef struct seen {
  const letters_set *whole;
  int64_t next;
} seen;

/** Record k of a window's file is that of the whole set. */
static void is_record(const letters_set *set, int64_t at, const letters_set *whole, int64_t k) {
  const int64_t n = whole->starts[k + 1] - whole->starts[k];
  assert_int_equal(set->starts[at + 1] - set->starts[at], n);
  assert_memory_equal(set->codes + set->starts[at], whole->codes + whole->starts[k], (size_t)n);
  assert_string_equal(set->names + set->name_at[at], whole->names + whole->name_at[k]);
}

static tsl_err look(void *context, const letters_window *w) {
  seen *s = context;
  assert_int_equal(w->lo, s->next);
  assert_true(w->hi > w->lo);
  s->next = w->hi;
  if (s->whole->n == 0) return TSL_OK; /* there is a fault behind */
  for (int64_t k = w->lo; k < w->hi; k++) {
    is_record(w->set, w->at[0] + k - w->lo, s->whole, k);
    is_record(w->set, w->at[1] + k - w->lo, s->whole, w->of[0] + k);
  }
  return TSL_OK;
}

static int taken; /* pieces of the caller's memory */

static tsl_err take_memory(int64_t bytes, void **memory) {
  *memory = malloc((size_t)bytes);
  taken++;
  return *memory != NULL ? TSL_OK : TSL_ERR_MEMORY;
}

static void give_back(void *memory) {
  if (memory != NULL) taken--;
  free(memory);
}

/* own: codes and starts are in the caller's memory. */
static void read_windows(const letters_index *x, const letters_ask *asks, const letters_set *whole,
                         uint64_t *state, bool own) {
  letters_marked marked[FILES];
  letters_reader *reader = NULL;
  const int64_t rows = x->of[0] < x->of[1] ? x->of[0] : x->of[1];
  letters_index_files(x, asks, marked);
  MUST(letters_reader_open(marked, FILES, 2, &reader));
  if (own) MUST(letters_reader_memory(reader, &(letters_memory){take_memory, give_back}, 3, 100));
  assert_int_equal(taken, own ? 2 : 0);
  for (int w = 0; w < 30; w++) {
    int64_t lo[FILES], hi[FILES], at[FILES];
    for (int i = 0; i < FILES; i++) {
      lo[i] = random_below(state, (int)rows);
      hi[i] = lo[i] + 1 + random_below(state, (int)(rows - lo[i]));
    }
    MUST(letters_reader_aim(reader, lo, hi));
    for (int64_t k = letters_reader_pieces(reader) - 1; k >= 0; k--) /* in any order */
      MUST(letters_reader_fill(reader, k, (int)(k % 2)));
    const letters_set *set = letters_reader_set(reader, at);
    for (int i = 0; i < FILES; i++)
      for (int64_t k = lo[i]; k < hi[i]; k++)
        is_record(set, at[i] + k - lo[i], whole, (i > 0 ? x->of[0] : 0) + k);
    assert_int_equal(taken, own ? 2 : 0);
  }
  letters_reader_close(&reader);
  assert_int_equal(taken, 0);
}

/** By an index as all at once: records and what is said of them, or the message. */
static void is_same(int64_t size, uint64_t *state) {
  letters_ask asks[FILES];
  char message[MESSAGE] = "";
  letters_set whole;
  letters_index x;
  seen s = {.whole = &whole};
  const letters_looker looker = {look, &s};
  int failed[2] = {-1, -1};
  for (int i = 0; i < FILES; i++)
    asks[i] = (letters_ask){.path = files[i].path, .alphabet = LETTERS_DNA};
  const tsl_err err = letters_read(asks, FILES, &failed[0], &whole);
  if (err != TSL_OK) (void)snprintf(message, sizeof message, "%s", tsl_err_message());
  const tsl_err other = letters_index_make(asks, FILES, size, &looker, &failed[1], &x);
  if (err != TSL_OK) {
    assert_string_equal(tsl_err_message(), message);
    assert_int_equal(failed[1], failed[0]);
    assert_int_equal(other, err);
    return;
  }
  MUST(other);
  for (int i = 0; i < FILES; i++) {
    assert_int_equal(x.of[i], whole.of[i]);
    assert_string_equal(x.about[i], whole.about[i]);
  }
  assert_int_equal(x.highest, whole.highest);
  assert_int_equal(s.next, x.of[0] < x.of[1] ? x.of[0] : x.of[1]);
  read_windows(&x, asks, &whole, state, false);
  read_windows(&x, asks, &whole, state, true);
  letters_index_clear(&x);
  letters_clear(&whole);
}

static void begin_files(void) {
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(files[i].path, sizeof files[i].path, "/tmp/tsl_index_XXXXXX");
    (void)close(mkstemp(files[i].path));
  }
}

static void end_files(void) {
  for (int i = 0; i < FILES; i++) (void)unlink(files[i].path);
}

/** Lines of letters on one line or several, FASTA or FASTQ, as many records or not. */
static void windows(void **unused) {
  (void)unused;
  begin_files();
  for (int threads = 1; threads <= 2; threads++) {
    MUST(tsl_parallel_open(threads));
    for (uint64_t seed = 0; seed < 48; seed++) {
      uint64_t state = seed + 7;
      for (int i = 0; i < FILES; i++) {
        make_file(&files[i], 150 + random_below(&state, 3) * 20, (seed >> i & 1) != 0,
                  random_below(&state, 2) == 0 ? 300 : 50, &state);
        save_somehow(&files[i], &state);
      }
      is_same(1 + random_below(&state, 9000), &state);
    }
  }
  tsl_parallel_close();
  end_files();
}

/** One byte is another one, or a part comes again: in the one file or the other. */
static void faults(void **unused) {
  static const char bytes[] = ">@+;\n A-\x7f";
  (void)unused;
  begin_files();
  MUST(tsl_parallel_open(2));
  for (uint64_t seed = 0; seed < 200; seed++) {
    uint64_t state = seed + 99;
    if (!case_is_mine((int64_t)seed)) continue;
    for (int i = 0; i < FILES; i++)
      make_file(&files[i], 120, (seed >> i & 1) != 0, seed % 3 == 0 ? 60 : 300, &state);
    made *bad = &files[seed / 4 % 2];
    if (seed % 5 == 4)
      bad->n -= random_below(&state, 300);
    else if (seed % 5 == 3)
      memcpy(bad->text + bad->n, bad->text, 2000), bad->n += 2000;
    else
      bad->text[random_below(&state, (int)bad->n)] = bytes[random_below(&state, sizeof bytes)];
    for (int i = 0; i < FILES; i++) save_somehow(&files[i], &state);
    is_same(1 + random_below(&state, 5000), &state);
  }
  tsl_parallel_close();
  end_files();
}

static tsl_err look_at_none(void *context, const letters_window *window) {
  (void)context, (void)window;
  return TSL_OK;
}

/** A file that is another one than when its index was made, plain or packed; and one that is spoilt
 *  where an entry was. */
static void changed(void **unused) {
  const letters_looker looker = {look_at_none, NULL};
  const int64_t lo[FILES] = {0, 0}, hi[FILES] = {40, 40};
  letters_ask asks[FILES];
  letters_marked marked[FILES];
  letters_reader *reader = NULL;
  letters_index x;
  uint64_t state = 5;
  int failed = -1;
  (void)unused;
  begin_files();
  for (int i = 0; i < FILES; i++) {
    make_file(&files[i], 40, false, 300, &state);
    save(&files[i]);
    asks[i] = (letters_ask){.path = files[i].path, .alphabet = LETTERS_DNA};
  }
  MUST(letters_index_make(asks, FILES, 1000, &looker, &failed, &x));
  letters_index_files(&x, asks, marked);
  make_file(&files[1], 40, false, 300, &state);
  save(&files[1]);
  MUST(letters_reader_open(marked, FILES, 1, &reader));
  assert_true(letters_reader_read(reader, lo, hi) != TSL_OK);
  letters_reader_close(&reader);
  letters_index_clear(&x);
  save_packed(&files[1], 2);
  assert_int_equal(letters_reader_open(marked, FILES, 1, &reader), TSL_ERR_IO);
  MUST(letters_index_make(asks, FILES, 1000, &looker, &failed, &x));
  letters_index_files(&x, asks, marked);
  assert_int_equal(marked[0].entries.n, 0);
  assert_true(marked[1].entries.n > 2);
  make_file(&files[1], 40, false, 300, &state);
  save_packed(&files[1], 7);
  MUST(letters_reader_open(marked, FILES, 1, &reader));
  assert_true(letters_reader_read(reader, lo, hi) != TSL_OK);
  save_bytes(files[1].path, "\x1f\x8b", 2);
  letters_reader_close(&reader);
  MUST(letters_reader_open(marked, FILES, 1, &reader));
  assert_true(letters_reader_read(reader, lo, hi) != TSL_OK);
  letters_reader_close(&reader);
  letters_index_clear(&x);
  end_files();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(windows), cmocka_unit_test(faults),
                                     cmocka_unit_test(changed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
