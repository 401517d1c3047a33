/* The checkpoint file: what is written is read back; what is damaged, foreign or impossible is
 * refused with a message, and a failed write leaves the file before as it was. */
#include "checkpoint_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/tsl_checkpoint_XXXXXX";
static char path[256];

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  (void)snprintf(path, sizeof path, "%s/a.ckpt.0", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  (void)unlink(path);
  return rmdir(folder);
}

static void write_one(int64_t sequence, int64_t *bytes) {
  if (fix_write(path, sequence, bytes) != TSL_OK) fail_msg("%s", tsl_err_message());
}

static void round_trip(void **state) {
  tsl_checkpoint c;
  int64_t bytes = 0;
  struct stat st;
  (void)state;
  write_one(3, &bytes);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_size, bytes);
  if (tsl_checkpoint_read(path, &c) != TSL_OK) fail_msg("%s", tsl_err_message());
  assert_int_equal(c.head.sequence, 3);
  assert_int_equal(c.head.inputs, 77);
  assert_string_equal(c.version, "test");
  assert_string_equal(c.family, "tri");
  assert_string_equal(c.deck, fix_deck);
  for (int u = 0; u < FIX_UNITS; u++) {
    const tsl_unit unit = fix_unit(u);
    assert_memory_equal(&c.units[u], &unit, sizeof unit);
  }
  assert_int_equal(c.rows[1].unit.id, 2);
  assert_int_equal(c.rows[1].check, 5);
  assert_memory_equal(c.fields, fix_fields, sizeof fix_fields);
  assert_memory_equal(c.tiles, fix_tiles, sizeof fix_tiles);
  assert_memory_equal(c.states, fix_states, FIX_STATES);
  assert_memory_equal(c.data[0], fix_sum, sizeof fix_sum);
  assert_null(c.data[1]);
  assert_null(c.counts[0]);
  assert_memory_equal(c.counts[2], fix_counts, sizeof fix_counts);
  assert_memory_equal(c.records[2], fix_records, sizeof fix_records);
  tsl_checkpoint_clear(&c);
  assert_null(c.bytes);
}

/* No bit may be turned, no byte lost or added. */
static void every_bit_counts(void **state) {
  int64_t bytes = 0, n = 0;
  tsl_checkpoint c;
  (void)state;
  write_one(0, &bytes);
  char *good = fix_load(path, &n);
  assert_int_equal(n, bytes);
  for (int64_t at = 0; at < 8 * n; at++) {
    char *copy = malloc((size_t)n);
    memcpy(copy, good, (size_t)n);
    copy[at / 8] = (char)(copy[at / 8] ^ (1 << (at % 8)));
    assert_int_equal(tsl_checkpoint_parse("bit", copy, n, &c), TSL_ERR_INPUT);
    tsl_checkpoint_clear(&c);
  }
  for (int64_t cut = 0; cut < n; cut++) {
    char *copy = malloc((size_t)n);
    memcpy(copy, good, (size_t)n);
    assert_int_equal(tsl_checkpoint_parse("cut", copy, cut, &c), TSL_ERR_INPUT);
    tsl_checkpoint_clear(&c);
  }
  free(good);
}

/* Byte `at` of the block with this tag replaced, the checksum made right: still refused. */
static void hostile(int32_t tag, int64_t at, int64_t value) {
  int64_t n = 0, place = 8;
  tsl_checkpoint c;
  char *bytes = fix_load(path, &n);
  for (;;) {
    int32_t head[2];
    int64_t length = 0;
    assert_true(place + 16 <= n - 8);
    memcpy(head, bytes + place, 8);
    memcpy(&length, bytes + place + 8, 8);
    if (head[0] == tag) break;
    place += 16 + (length + 7) / 8 * 8;
  }
  memcpy(bytes + place + at, &value, 8);
  fix_seal(bytes, n);
  assert_int_equal(tsl_checkpoint_parse("hostile", bytes, n, &c), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "hostile"));
  tsl_checkpoint_clear(&c);
}

enum { IN = 16 }; /* payload behind tag, index and length */

static void hostile_sizes(void **state) {
  int64_t bytes = 0;
  (void)state;
  write_one(0, &bytes);
  hostile(TSL_BLOCK_UNITS, 8, INT64_MAX); /* length */
  hostile(TSL_BLOCK_UNITS, 8, -1);
  hostile(TSL_BLOCK_UNITS, 0, 99);                                             /* tag */
  hostile(TSL_BLOCK_RECORDS, 0, TSL_BLOCK_RECORDS + (INT64_C(1000000) << 32)); /* index */
  hostile(TSL_BLOCK_HEAD, IN + offsetof(tsl_checkpoint_head, n_units), INT64_MAX);
  hostile(TSL_BLOCK_HEAD, IN + offsetof(tsl_checkpoint_head, n_units), -1);
  hostile(TSL_BLOCK_HEAD, IN + offsetof(tsl_checkpoint_head, n_rows), 4);
  hostile(TSL_BLOCK_HEAD, IN + offsetof(tsl_checkpoint_head, n_fields), INT64_C(1) << 40);
  hostile(TSL_BLOCK_HEAD, IN + offsetof(tsl_checkpoint_head, phase), -5);
  hostile(TSL_BLOCK_UNITS, IN + offsetof(tsl_unit, id), 1); /* not 0 */
  hostile(TSL_BLOCK_ROWS, IN, 3);                           /* no such unit */
  hostile(TSL_BLOCK_ROWS, IN, 2);                           /* twice */
  hostile(TSL_BLOCK_FIELDS, IN + offsetof(tsl_checkpoint_field, shape), INT64_MAX); /* overflow */
  hostile(TSL_BLOCK_FIELDS, IN + offsetof(tsl_checkpoint_field, type), 1000);
  hostile(TSL_BLOCK_TILES, IN, -1);
  hostile(TSL_BLOCK_TILES, IN, INT64_MAX);
  hostile(TSL_BLOCK_TILES, IN, 9);                                   /* too many */
  hostile(TSL_BLOCK_TILES, 0, TSL_BLOCK_DATA + (INT64_C(1) << 32));  /* states without sizes */
  hostile(TSL_BLOCK_STATES, 0, TSL_BLOCK_DATA + (INT64_C(1) << 32)); /* sizes without states */
  hostile(TSL_BLOCK_STATES, 8, FIX_STATES - 1);                      /* too few */
  hostile(TSL_BLOCK_COUNTS, IN, -1);
  hostile(TSL_BLOCK_COUNTS, IN, INT64_MAX);
  hostile(TSL_BLOCK_COUNTS, IN, 3); /* too many */
}

static void foreign(void **state) {
  tsl_checkpoint c;
  char link[300];
  FILE *file = fopen(path, "w");
  (void)state;
  assert_non_null(file);
  (void)fputs("\211HDF\r\n\032\n and what follows in such a file", file);
  (void)fclose(file);
  assert_int_equal(tsl_checkpoint_read(path, &c), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "no checkpoint"));
  assert_int_equal(tsl_checkpoint_read(folder, &c), TSL_ERR_INPUT);
  assert_int_equal(tsl_checkpoint_read("/nowhere/at/all", &c), TSL_ERR_INPUT);
  (void)snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink(path, link), 0);
  assert_int_equal(tsl_checkpoint_read(link, &c), TSL_ERR_INPUT);
  (void)unlink(link);
}

/* A limit of the file's size stands for a full disk. */
static void full_disk(void **state) {
  int64_t bytes = 0, n = 0, same = 0;
  char temporary[300];
  struct rlimit old, small;
  (void)state;
  write_one(1, &bytes);
  char *before = fix_load(path, &n);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old, small.rlim_cur = 200;
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const tsl_err err = fix_write(path, 2, &bytes);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(err, TSL_ERR_IO);
  char *after = fix_load(path, &same);
  assert_int_equal(n, same);
  assert_memory_equal(before, after, (size_t)n);
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  assert_int_not_equal(access(temporary, F_OK), 0);
  free(before), free(after);
}

static void short_block(void **state) {
  tsl_checkpoint_writer *w = NULL;
  int64_t bytes = 0;
  (void)state;
  assert_int_equal(tsl_checkpoint_create(path, 0, &w), TSL_OK);
  assert_int_equal(tsl_checkpoint_block(w, TSL_BLOCK_DECK, 0, 10), TSL_OK);
  assert_int_equal(tsl_checkpoint_put(w, "abc", 3), TSL_OK);
  assert_int_equal(tsl_checkpoint_put(w, "abcdefgh", 8), TSL_ERR_INTERNAL);
  assert_int_equal(tsl_checkpoint_commit(&w, &bytes), TSL_ERR_INTERNAL);
  assert_null(w);
}

static void decks_differ(void **state) {
  char keys[100];
  (void)state;
  assert_int_equal(tsl_checkpoint_differ(fix_deck, fix_deck, NULL, keys, sizeof keys), 0);
  assert_int_equal(
      tsl_checkpoint_differ(fix_deck, /* run may be another */
                            "family: \"tri\"\ntitle: x\nrun:\n  threads: 9\n  plan: 1\n"
                            "tri:\n  n: 7\n  box:\n    - 1\n",
                            NULL, keys, sizeof keys),
      0);
  assert_int_equal(
      tsl_checkpoint_differ(fix_deck,
                            "family: \"dp\"\nrun:\n  threads: 0\ntri:\n  n: 8\n  box:\n"
                            "    - 1\n",
                            NULL, keys, sizeof keys),
      2);
  assert_string_equal(keys, "family, tri.n");
  assert_int_equal(
      tsl_checkpoint_differ(fix_deck,
                            "family: \"dp\"\nrun:\n  threads: 0\ntri:\n  n: 8\n  box:\n"
                            "    - 1\n",
                            (const char *const[]){"dp.n", "tri.n", NULL}, keys, sizeof keys),
      1);
  assert_string_equal(keys, "family");
  assert_int_equal(
      tsl_checkpoint_differ(fix_deck, "family: \"tri\"\ntri:\n  n: 7\n", NULL, keys, sizeof keys),
      1);
  assert_string_equal(keys, "tri.box");
  assert_true(tsl_checkpoint_differ(fix_deck, "", NULL, keys, 8) > 0); /* cut, not overrun */
}

/* Fletcher's sums by their definition. */
static void checksum(void **state) {
  uint8_t bytes[61];
  tsl_checksum whole = {0}, parts = {0};
  uint64_t a = 0, b = 0;
  (void)state;
  for (int k = 0; k < 61; k++) bytes[k] = (uint8_t)(37 * k + 11);
  for (int word = 0; word < 8; word++) {
    uint64_t value = 0;
    for (int k = 0; k < 8 && 8 * word + k < 61; k++)
      value |= (uint64_t)bytes[8 * word + k] << (8 * k);
    a += value, b += a;
  }
  a += 61, b += a;
  tsl_checksum_add(&whole, bytes, 61);
  tsl_checksum_add(&parts, bytes, 16);
  tsl_checksum_add(&parts, bytes + 16, 45);
  assert_true(tsl_checksum_end(&whole) == (a ^ (b << 32 | b >> 32)));
  assert_true(tsl_checksum_end(&parts) == tsl_checksum_end(&whole));
  bytes[3] = 0, bytes[11] = 0;
  whole = (tsl_checksum){0};
  assert_true(tsl_checksum_end(&whole) != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),    cmocka_unit_test(every_bit_counts),
      cmocka_unit_test(hostile_sizes), cmocka_unit_test(foreign),
      cmocka_unit_test(full_disk),     cmocka_unit_test(short_block),
      cmocka_unit_test(decks_differ),  cmocka_unit_test(checksum),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
