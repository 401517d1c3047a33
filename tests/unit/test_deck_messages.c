/* unit.deck_messages: every class of complaint with its line number, word for word. */
#include "deck_fixture.h"

static void unknown_and_missing(void **state) {
  (void)state;
  refused(HEAD "  outpt: square\n",
          "d.yaml:4: unknown key 'outpt' in 'tri'; did you mean 'output'? (allowed: function, "
          "output, k, cap, seed, periodic, check, cutoff, note, box, rows, sides, marks, input, "
          "probes)");
  refused(HEAD "  input:\n    file: a\n\n    bogus1: 3\n",
          "d.yaml:7: unknown key 'bogus1' in 'tri.input' (allowed: file, columns, skip)");
  refused("family: tri\n\ntri:\n  k: 1\n", "d.yaml:3: missing key 'function' in 'tri' (pairs)");
  refused("family: tri\n", "d.yaml:1: missing key 'function' in 'tri' (pairs)");
  refused(HEAD, "d.yaml:2: missing key 'file' in 'tri.input' (data file)");
  refused(HEAD "  input: {skip: 1}\n", "d.yaml:4: missing key 'file' in 'tri.input' (data file)");
  refused(HEAD "  probes:\n    - at: 1\n    - name: x\n",
          "d.yaml:6: missing key 'at' in 'tri.probes[1]' (place, m)");
}

static void wrong_type(void **state) {
  (void)state;
  refused(HEAD "  k: abc\n", "d.yaml:4: tri.k: expected a whole number, got 'abc'");
  refused(HEAD "  k: 1.5\n", "d.yaml:4: tri.k: expected a whole number, got '1.5'");
  refused(HEAD "  k: \"5\"\n", "d.yaml:4: tri.k: expected a whole number, got the text \"5\"");
  refused(HEAD "  k: 0x10\n", "d.yaml:4: tri.k: expected a whole number, got '0x10'");
  refused(HEAD "  k: 1__0\n", "d.yaml:4: tri.k: expected a whole number, got '1__0'");
  refused(HEAD "  k:\n", "d.yaml:4: tri.k: expected a whole number, got nothing");
  refused(HEAD "  k: [1]\n", "d.yaml:4: tri.k: expected a whole number, got a list");
  refused(HEAD "  check: 1\n", "d.yaml:4: tri.check: expected yes or no, got '1'");
  refused(HEAD "  check: \"yes\"\n",
          "d.yaml:4: tri.check: expected yes or no, got the text \"yes\"");
  refused(HEAD "  cutoff: wide\n", "d.yaml:4: tri.cutoff: expected a finite number, got 'wide'");
  refused(HEAD "  cutoff: .inf\n", "d.yaml:4: tri.cutoff: expected a finite number, got '.inf'");
  refused(HEAD "  cutoff: nan\n", "d.yaml:4: tri.cutoff: expected a finite number, got 'nan'");
  refused(HEAD "  cutoff: 1e400\n",
          "d.yaml:4: tri.cutoff: expected a number of at most 1.8e308, got '1e400'");
  refused(HEAD "  note: {a: 1}\n", "d.yaml:4: tri.note: expected a text, got a map");
  refused(HEAD "  note: ~\n", "d.yaml:4: tri.note: expected a text, got nothing");
  refused(HEAD "  box: [1,\n    x]\n", "d.yaml:5: tri.box[1]: expected a finite number, got 'x'");
  refused(HEAD "  rows: [[1]]\n", "d.yaml:4: tri.rows[0]: expected a whole number, got a list");
  refused(HEAD "  rows: {a: 1}\n",
          "d.yaml:4: tri.rows: expected a number or a list of numbers, got a map");
  refused(HEAD "  sides: [top,\n    top]\n",
          "d.yaml:5: tri.sides[1]: 'top' is in the list already");
  refused(HEAD "  sides: [tap]\n",
          "d.yaml:4: tri.sides[0]: unknown word 'tap'; did you mean 'top'? (allowed: top, left, "
          "right)");
  refused(HEAD "  sides: {top: 1}\n",
          "d.yaml:4: tri.sides: expected a word or a list of words, got a map");
  refused(HEAD "  sides: [[top]]\n", "d.yaml:4: tri.sides[0]: expected a word, got a list");
  refused(HEAD "  marks: {a: 1}\n",
          "d.yaml:4: tri.marks: expected a text or a list of texts, got a map");
  refused(HEAD "  marks: [a,\n    [b]]\n", "d.yaml:5: tri.marks[1]: expected a text, got a list");
  refused(HEAD "  input: a.csv\n",
          "d.yaml:4: tri.input: expected a map (keys with values), got 'a.csv'");
  refused(HEAD "  probes: {at: 1}\n", "d.yaml:4: tri.probes: expected a list of maps, got a map");
  refused(HEAD "  probes: [3]\n",
          "d.yaml:4: tri.probes[0]: expected a map (keys with values), got '3'");
}

static void wrong_size(void **state) {
  static const char *const bad[] = {"2 GiBB", "two", "2 Gi", "500M", "1e", "GiB", "", "- 3 MB"};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[128], message[256];
    (void)snprintf(text, sizeof text, HEAD "  cap: \"%s\"\n", bad[i]);
    (void)snprintf(message, sizeof message,
                   "d.yaml:4: tri.cap: expected a size in bytes, such as 500 MB or 2 GiB (B, kB "
                   ".. PB, KiB .. PiB), got the text \"%s\"",
                   bad[i]);
    refused(text, message);
  }
  refused(HEAD "  cap: -1 kB\n",
          "d.yaml:4: tri.cap: expected a size of at least 0 bytes, got '-1 kB'");
  refused(HEAD "  cap: 8192 PiB\n",
          "d.yaml:4: tri.cap: expected fewer than 2^63 bytes, got '8192 PiB'");
}

static void out_of_range(void **state) {
  (void)state;
  refused(HEAD "  k: 0\n", "d.yaml:4: tri.k: 0 is outside 1 .. 1024");
  refused(HEAD "  k: 1025\n", "d.yaml:4: tri.k: 1025 is outside 1 .. 1024");
  refused(HEAD "  cutoff: -1e-9\n", "d.yaml:4: tri.cutoff: -1e-9 is outside 0 .. 1000000000");
  refused(HEAD "  box:\n    - 1\n    - -1\n", "d.yaml:6: tri.box[1]: -1 is outside 0 .. 1000000");
  refused(HEAD "  seed: 9223372036854775808\n",
          "d.yaml:4: tri.seed: expected a whole number of at most 64 bits, got "
          "'9223372036854775808'");
  refused(HEAD "  seed: 1e19\n",
          "d.yaml:4: tri.seed: expected a whole number of at most 64 bits, got '1e19'");
  refused(HEAD "  seed: 1e999999999\n",
          "d.yaml:4: tri.seed: expected a whole number of at most 64 bits, got '1e999999999'");
}

static void unknown_word(void **state) {
  (void)state;
  refused("family: tri\ntri:\n  function: euclidian\n",
          "d.yaml:3: tri.function: unknown word 'euclidian'; did you mean 'euclidean'? (allowed: "
          "euclidean, manhattan, cosine, gravity)");
  refused("family: tri\ntri: {function: zzz}\n",
          "d.yaml:2: tri.function: unknown word 'zzz' (allowed: euclidean, manhattan, cosine, "
          "gravity)");
}

static void top_level(void **state) {
  (void)state;
  refused("tri: {}\n", "d.yaml:1: missing key 'family' (allowed: tri, dp)");
  refused("family: tr\n",
          "d.yaml:1: family: unknown word 'tr'; did you mean 'tri'? (allowed: tri, dp)");
  refused("\nfamily: []\n", "d.yaml:2: family: expected a word, got a list");
  refused("family: tri\noutptu: {}\n",
          "d.yaml:2: unknown section 'outptu'; did you mean 'output'? (allowed: family, title, "
          "run, output, tri)");
  refused("family: tri\ndp: {}\n",
          "d.yaml:2: section 'dp' does not belong to family 'tri'; remove one of them");
  refused("family: tri\ntitle: [a]\n", "d.yaml:2: title: expected a text, got a list");
  refused("family: tri\nrun: 3\n", "d.yaml:2: run: expected a map (keys with values), got '3'");
}

static void bad_yaml(void **state) {
  (void)state;
  refused("family: tri\ntri:\n\tk: 1\n", "d.yaml:3:1: a tab; YAML wants blanks there");
  refused("family: tri\ntri: [1\n", "d.yaml:3:1: did not find expected ',' or ']'");
  refused("a: 1\nb: 2\na: 3\n", "d.yaml:3: key 'a' is given twice, first on line 1");
  refused("a: 1\n---\nb: 2\n", "d.yaml:2:1: more than one YAML document");
  refused("a: !!int 1\n", "d.yaml:1:4: tags such as !!int are not used in decks");
  refused("? [1]\n: 2\n", "d.yaml:1:3: a key must be a word");
  refused("a: *b\n", "d.yaml:1:4: an alias to an anchor that is not complete before it");
  refused("a: &b [*b]\n", "d.yaml:1:8: an alias to an anchor that is not complete before it");
  refused("a: \"x\\0y\"\n", "d.yaml:1:4: a zero byte in a text");
  refused("a: b\nc\xff: d\n", "d.yaml:2:2: invalid leading UTF-8 octet");
  refused("", "d.yaml:1:1: the deck is empty");
  refused("# nothing\n", "d.yaml:1:1: the deck is empty");
  refused("---\n", "d.yaml:1:1: the deck is empty");
  refused("- 1\n", "d.yaml:1:1: a deck is a map: lines of 'key: value'");
  refused("\n text", "d.yaml:2:2: a deck is a map: lines of 'key: value'");
}

static void first_error_is_topmost(void **state) {
  (void)state;
  refused("family: tri\ntri:\n  k: 0\n  functon: x\n", "d.yaml:3: tri.k: 0 is outside 1 .. 1024");
}

#define T(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      T(unknown_and_missing), T(wrong_type), T(wrong_size), T(out_of_range),
      T(unknown_word),        T(top_level),  T(bad_yaml),   T(first_error_is_topmost)};
  return cmocka_run_group_tests_name("unit.deck_messages", tests, NULL, NULL);
}
