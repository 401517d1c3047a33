/* Text that goes to a terminal: what a terminal obeys, or what hides other text, becomes '?'. */
#include "text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void becomes(const char *text, const char *plain) {
  char copy[64];
  assert_true(strlen(text) < sizeof copy);
  strcpy(copy, text);
  tsl_text_plain(copy);
  assert_string_equal(copy, plain);
}

static void plain_text_stays(void **state) {
  (void)state;
  becomes("", "");
  becomes("g(r) of water\n\tand \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80",
          "g(r) of water\n\tand \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80");
}

static void controls_go(void **state) {
  (void)state;
  becomes("\x1b[31mred\x1b]0;x\x07", "?[31mred?]0;x?");
  becomes("a\rb\x7f", "a?b?");
  becomes("c1: \xc2\x9b", "c1: ??");
}

static void what_reorders_goes(void **state) {
  (void)state;
  becomes("\xe2\x80\xae"
          "evil",
          "???evil"); /* U+202E */
  becomes("a\xe2\x81\xa6"
          "b\xe2\x80\x8b"
          "c",
          "a???b???c");             /* U+2066, U+200B */
  becomes("\xef\xbb\xbfx", "???x"); /* byte order mark */
}

static void broken_utf8_goes(void **state) {
  (void)state;
  becomes("\xff\xfe", "??");
  becomes("cut \xe2\x82", "cut ??");
  becomes("long \xc0\x9b[", "long ??[");       /* ESC in two bytes */
  becomes("half \xed\xa0\x80", "half ???");    /* a surrogate */
  becomes("far \xf4\x90\x80\x80", "far ????"); /* beyond U+10FFFF */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_text_stays),
      cmocka_unit_test(controls_go),
      cmocka_unit_test(what_reorders_goes),
      cmocka_unit_test(broken_utf8_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
