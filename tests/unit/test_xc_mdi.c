/* unit.xc.mdi: messages of the MolSSI Driver Interface in whole, in pieces and at random, over a
 * pair of sockets. */
#include "xc_talk.h"

enum { ATOMS = 2, ROOM = 8192, LENGTH = 256, INT = 1, DOUBLE = 2, CHAR = 3 };

static void hear(talk *t, void *bytes, size_t n) {
  assert_int_equal(recv(t->there, bytes, n, MSG_WAITALL), n);
}

static void open_talk(talk *t) {
  static const int32_t elements[ATOMS] = {8, 1};
  static const double places[ATOMS][3] = {{0, 0, 0}, {0, 0, 1.8}};
  open_ends(t);
  assert_int_equal(xc_mdi_open(&t->stream, ATOMS, elements, places, &t->mdi), TSL_OK);
}

static void close_talk(talk *t) {
  xc_mdi_clear(&t->mdi);
  close_ends(t);
}

static tsl_err next(talk *t, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  *asked = TSL_ASKED_NOTHING;
  for (int k = 0; k < 3 && err == TSL_OK && *asked == TSL_ASKED_NOTHING; k++)
    err = xc_mdi_next(&t->mdi, 0, asked);
  return err;
}

static size_t put_message(char *to, int32_t type, int32_t count, const void *data, size_t n) {
  const int32_t head[4] = {0, 0, type, count};
  memcpy(to, head, sizeof head);
  memcpy(to + sizeof head, data, n);
  return sizeof head + n;
}

static size_t put_word(char *to, const char *word) {
  char text[LENGTH] = "";
  memcpy(text, word, strlen(word));
  return put_message(to, CHAR, LENGTH, text, sizeof text);
}

static size_t put_places(char *to, double value) {
  double places[3 * ATOMS];
  for (int k = 0; k < 3 * ATOMS; k++) places[k] = value + k;
  const size_t n = put_word(to, ">COORDS");
  return n + put_message(to + n, DOUBLE, 3 * ATOMS, places, sizeof places);
}

/* Version and lengths as the library sends them. */
static size_t put_greeting(char *to) {
  const int32_t numbers[5] = {1, 4, 40, LENGTH, LENGTH};
  memcpy(to, numbers, sizeof numbers);
  return sizeof numbers;
}

static void greet(talk *t) {
  char bytes[ROOM];
  tsl_asked asked;
  int32_t numbers[5];
  open_talk(t);
  say(t, bytes, put_greeting(bytes));
  assert_int_equal(next(t, &asked), TSL_OK);
  hear(t, numbers, sizeof numbers);
  assert_int_equal(numbers[0], 1);
  assert_int_equal(numbers[4], LENGTH);
}

static void expect_doubles(talk *t, int32_t count, double *values) {
  int32_t head[4];
  hear(t, head, sizeof head);
  assert_int_equal(head[0], 0);
  assert_int_equal(head[2], DOUBLE);
  assert_int_equal(head[3], count);
  hear(t, values, (size_t)count * sizeof *values);
}

static void whole(void **state) {
  talk t;
  tsl_asked asked;
  char bytes[ROOM];
  double values[3 * ATOMS];
  int32_t head[4];
  (void)state;
  greet(&t);
  say(&t, bytes, put_places(bytes, 0.5));
  say(&t, bytes, put_word(bytes, "<ENERGY"));
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_PROBLEM);
  assert_true(t.mdi.places[5] == 5.5);
  t.mdi.energy = -1.5, t.mdi.forces[3] = 2;
  assert_int_equal(xc_mdi_answer(&t.mdi), TSL_OK);
  expect_doubles(&t, 1, values);
  assert_true(values[0] == -1.5);
  say(&t, bytes, put_word(bytes, "<FORCES"));
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_NOTHING); /* of the same places */
  expect_doubles(&t, 3 * ATOMS, values);
  assert_true(values[3] == 2);
  say(&t, bytes, put_places(bytes, 1));
  say(&t, bytes, put_word(bytes, "<CHARGES"));
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_PROBLEM);
  assert_int_equal(xc_mdi_fail(&t.mdi), TSL_OK);
  hear(&t, head, sizeof head);
  assert_int_equal(head[0], 1);
  say(&t, bytes, put_word(bytes, "EXIT"));
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_END);
  close_talk(&t);
}

static void in_pieces(void **state) {
  char bytes[ROOM];
  size_t n = put_greeting(bytes);
  tsl_asked asked;
  (void)state;
  n += put_places(bytes + n, 0);
  n += put_word(bytes + n, "<FORCES");
  for (size_t k = 0; k < n; k++) assert_int_equal(cut_off(bytes, k, &asked), TSL_ERR_IO);
  assert_int_equal(cut_off(bytes, n, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_PROBLEM);
  byte_by_byte(bytes, n);
}

/* Messages, some of them damaged, as they come. */
static void at_random(void **state) {
  static const char *const words[] = {"<NATOMS", "<COMMANDS", ">NLATTICE", ">LATTICE", "<@",
                                      "<FORCES", ">COORDS",   "@DEFAULT",  "EXIT",     ">CELL"};
  (void)state;
  srand(1);
  for (int round = 0; round < 4000; round++) {
    char bytes[ROOM];
    size_t n = put_greeting(bytes);
    tsl_asked asked;
    for (int k = rand() % 6; k >= 0; k--) {
      const int32_t few = rand() % 3;
      if (rand() % 3 == 0)
        n += put_places(bytes + n, rand());
      else if (rand() % 4 == 0)
        n += put_message(bytes + n, INT, 1, &few, sizeof few);
      else
        n += put_word(bytes + n, words[rand() % 10]);
    }
    for (int k = rand() % 3; k > 0; k--) bytes[(size_t)rand() % n] = (char)rand();
    const tsl_err err = cut_off(bytes, n - (size_t)rand() % 3, &asked);
    assert_true(err == TSL_OK || err == TSL_ERR_INPUT || err == TSL_ERR_IO);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole),
      cmocka_unit_test(in_pieces),
      cmocka_unit_test(at_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
