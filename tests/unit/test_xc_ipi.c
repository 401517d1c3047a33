/* unit.xc.ipi: i-PI's messages in whole, in pieces and at random, over a pair of sockets;
 * tokens. */
#include "xc_talk.h"
#include "xc_token.h"

#include <sys/stat.h>

enum { ATOMS = 2, ROOM = 4096 };

static void open_talk_with(const char *token, talk *t) {
  open_ends(t);
  assert_int_equal(xc_ipi_open(&t->stream, ATOMS, token, &t->ipi), TSL_OK);
}

static void open_talk(talk *t) {
  open_talk_with(NULL, t);
}

static void close_talk(talk *t) {
  xc_ipi_clear(&t->ipi);
  close_ends(t);
}

/* A header, and a number of atoms with places all of the same value. @return bytes */
static size_t posdata(char *to, int32_t n, double value) {
  double places[3 * ATOMS];
  memset(to, 0, 12 + 144);
  (void)snprintf(to, 13, "%-12s", "POSDATA");
  to[12] = 0;
  memcpy(to + 156, &n, sizeof n);
  for (int k = 0; k < 3 * ATOMS; k++) places[k] = value + k;
  memcpy(to + 160, places, sizeof places);
  return 160 + sizeof places;
}

static tsl_err next(talk *t, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  *asked = TSL_ASKED_NOTHING;
  for (int k = 0; k < 3 && err == TSL_OK && *asked == TSL_ASKED_NOTHING; k++)
    err = xc_ipi_next(&t->ipi, 0, asked);
  return err;
}

static void expect(talk *t, const char *word) {
  char header[13] = "";
  assert_int_equal(read(t->there, header, 12), 12);
  assert_memory_equal(header, word, strlen(word));
}

static void whole(void **state) {
  talk t;
  tsl_asked asked;
  char bytes[ROOM], answer[ROOM];
  (void)state;
  open_talk(&t);
  say(&t, "STATUS      ", 12);
  assert_int_equal(next(&t, &asked), TSL_OK);
  expect(&t, "NEEDINIT");
  say(&t, "INIT        \0\0\0\0\2\0\0\0ab", 22);
  say(&t, "STATUS      ", 12);
  assert_int_equal(next(&t, &asked), TSL_OK);
  expect(&t, "READY");
  say(&t, bytes, posdata(bytes, ATOMS, 0.5));
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_PROBLEM);
  assert_true(t.ipi.places[1][2] == 5.5);
  t.ipi.energy = -1.5, t.ipi.forces[0][1] = 2, t.ipi.virial[8] = 3, t.ipi.answered = true;
  say(&t, "STATUS      GETFORCE    STATUS      ", 36);
  assert_int_equal(next(&t, &asked), TSL_OK);
  expect(&t, "HAVEDATA");
  const size_t n = 12 + 8 + 4 + 48 + 72 + 4 + 1;
  assert_int_equal(read(t.there, answer, n), n);
  assert_memory_equal(answer, "FORCEREADY  ", 12);
  double value;
  memcpy(&value, answer + 12, sizeof value);
  assert_true(value == -1.5);
  memcpy(&value, answer + 24 + 8, sizeof value);
  assert_true(value == 2);
  memcpy(&value, answer + 24 + 48 + 64, sizeof value);
  assert_true(value == 3);
  expect(&t, "READY");
  say(&t, "EXIT        ", 12);
  assert_int_equal(next(&t, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_END);
  close_talk(&t);
}

static void in_pieces(void **state) {
  char bytes[ROOM];
  const size_t n = posdata(bytes, ATOMS, 0);
  tsl_asked asked;
  (void)state;
  for (size_t k = 1; k < n; k++) {
    assert_int_equal(cut_off(bytes, k, &asked), TSL_ERR_IO);
    assert_non_null(strstr(tsl_err_message(), "middle of a message"));
  }
  assert_int_equal(cut_off(bytes, n, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_PROBLEM);
  assert_int_equal(cut_off(bytes, 0, &asked), TSL_OK);
  assert_int_equal(asked, TSL_ASKED_END);
  byte_by_byte(bytes, n);
}

static void refused(void **state) {
  char bytes[ROOM];
  tsl_asked asked;
  (void)state;
  for (int32_t n = -1; n <= ATOMS + 1; n++)
    assert_int_equal(cut_off(bytes, posdata(bytes, n, 0), &asked),
                     n == ATOMS ? TSL_OK : TSL_ERR_INPUT);
  assert_int_equal(cut_off(bytes, posdata(bytes, ATOMS, NAN), &asked), TSL_ERR_INPUT);
  assert_int_equal(cut_off(bytes, posdata(bytes, ATOMS, -INFINITY), &asked), TSL_ERR_INPUT);
  assert_int_equal(cut_off("GETFORCE    ", 12, &asked), TSL_ERR_INPUT);
  assert_int_equal(cut_off("status      ", 12, &asked), TSL_ERR_INPUT);
  assert_int_equal(cut_off("INIT        \0\0\0\0\377\377\377\377", 20, &asked), TSL_ERR_INPUT);
}

/* Messages, some of them damaged, as they come. */
static void at_random(void **state) {
  static const char *const words[] = {"STATUS      ", "GETFORCE    ", "EXIT        ",
                                      "INIT        \1\1\1\1\1"};
  (void)state;
  srand(1);
  for (int round = 0; round < 4000; round++) {
    char bytes[ROOM];
    size_t n = 0;
    tsl_asked asked;
    for (int k = rand() % 6; k >= 0; k--) {
      const char *word = words[rand() % 4];
      if (rand() % 3 == 0)
        n += posdata(bytes + n, ATOMS, rand());
      else
        memcpy(bytes + n, word, strlen(word)), n += strlen(word);
    }
    for (int k = rand() % 3; k > 0; k--) bytes[(size_t)rand() % n] = (char)rand();
    const tsl_err err = cut_off(bytes, n - (size_t)rand() % 3, &asked);
    assert_true(err == TSL_OK || err == TSL_ERR_INPUT || err == TSL_ERR_IO);
  }
}

/* What an INIT with a text of n bytes comes to, then places. */
static tsl_err init_with(const char *token, const char *text, int32_t n) {
  char bytes[ROOM];
  tsl_asked asked;
  talk t;
  open_talk_with(token, &t);
  say(&t, "INIT        \0\0\0\0", 16);
  say(&t, &n, sizeof n);
  say(&t, text, (size_t)n);
  say(&t, bytes, posdata(bytes, ATOMS, 0));
  const tsl_err err = next(&t, &asked);
  assert_true(err == TSL_ERR_INPUT || asked == TSL_ASKED_PROBLEM);
  close_talk(&t);
  return err;
}

static void tokens(void **state) {
  static const char token[] = "abcdefgh-0123456=";
  static const struct {
    const char *text;
    bool right;
  } cases[] = {{" token : abcdefgh-0123456= , ", true},
               {"token:abcdefgh-0123456=", true},
               {" name : water , token : abcdefgh-0123456= , a : 1 ", true},
               {"", false},
               {",,,:,:", false},
               {" token : abcdefgh-0123456 , ", false},
               {" token : abcdefgh-0123456== , ", false},
               {" token : bbcdefgh-0123456= , ", false},
               {" token : , ", false},
               {" token , ", false},
               {" tokens : abcdefgh-0123456= ", false},
               {" token : abcdefgh : 0123456= ", false},
               {"abcdefgh-0123456=", false}};
  char bytes[ROOM];
  tsl_asked asked;
  talk t;
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    assert_int_equal(init_with(token, cases[k].text, (int32_t)strlen(cases[k].text)),
                     cases[k].right ? TSL_OK : TSL_ERR_INPUT);
  assert_int_equal(init_with(token, "token:\0abcdefgh-0123456=", 24), TSL_ERR_INPUT);
  assert_int_equal(init_with(NULL, "token:x", 7), TSL_OK);
  open_talk_with(token, &t);
  say(&t, bytes, posdata(bytes, ATOMS, 0));
  assert_int_equal(next(&t, &asked), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "before an INIT"));
  close_talk(&t);
}

static tsl_err read_as(const char *path, const char *text, mode_t mode, char *token) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fputs(text, file);
  (void)fclose(file);
  assert_int_equal(chmod(path, mode), 0);
  return xc_token_read(path, token);
}

static void token_files(void **state) {
  char path[] = "/tmp/tsl_token_XXXXXX", token[XC_TOKEN_MOST + 1], longest[XC_TOKEN_MOST + 2];
  const int fd = mkstemp(path);
  (void)state;
  assert_true(fd >= 0);
  (void)close(fd);
  assert_int_equal(read_as(path, " abcdefgh01234567\n", 0600, token), TSL_OK);
  assert_string_equal(token, "abcdefgh01234567");
  assert_int_equal(read_as(path, "abcdefgh01234567", 0640, token), TSL_ERR_INPUT);
  assert_int_equal(read_as(path, "abcdefgh01234567", 0604, token), TSL_ERR_INPUT);
  assert_int_equal(read_as(path, "", 0600, token), TSL_ERR_INPUT);
  assert_int_equal(read_as(path, "abcdefgh0123456", 0600, token), TSL_ERR_INPUT);
  assert_int_equal(read_as(path, "abcdefgh 01234567", 0600, token), TSL_ERR_INPUT);
  assert_int_equal(read_as(path, "abcdefgh,01234567", 0600, token), TSL_ERR_INPUT);
  memset(longest, 'a', sizeof longest);
  longest[XC_TOKEN_MOST + 1] = '\0';
  assert_int_equal(read_as(path, longest, 0600, token), TSL_ERR_INPUT);
  longest[XC_TOKEN_MOST] = '\0';
  assert_int_equal(read_as(path, longest, 0600, token), TSL_OK);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(xc_token_read(path, token), TSL_ERR_INPUT);
  assert_int_equal(xc_token_read("/tmp", token), TSL_ERR_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole),     cmocka_unit_test(in_pieces), cmocka_unit_test(refused),
      cmocka_unit_test(at_random), cmocka_unit_test(tokens),    cmocka_unit_test(token_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
