/* Any bytes as a deck: refused with a message, or loaded, and then the resolved text must load
 * to the same resolved text.
 *
 * Lines that start with "#set " are also given as overrides. */
#include "../unit/deck_tables.h"
#include "fuzz_driver.h"

static long long n_accepted; /* decks that loaded */

/** Everything a run does with a deck. @return the resolved text, NULL when the deck is refused */
static char *resolve(const char *text, size_t n_bytes, const char *const *sets, int n_sets) {
  tsl_deck *deck = NULL;
  tri s;
  char *resolved = NULL;
  int family = 0;
  tsl_err err = tsl_deck_parse(text, n_bytes, "fuzz", sets, n_sets, &deck);
  if (err == TSL_OK) {
    (void)tsl_deck_given(deck, "tri.input.file");
    (void)tsl_deck_fail(deck, TSL_ERR_INPUT, "tri.input.x", __FILE__, __LINE__, "%s",
                        tsl_deck_title(deck));
    err = tsl_deck_top(deck, families, &family);
  }
  if (err == TSL_OK) err = tsl_deck_bind(deck, families[family], tri_keys, sizeof s, &s);
  if (err == TSL_OK) err = tsl_deck_resolved(deck, &resolved);
  tsl_deck_destroy(&deck);
  if (err == TSL_OK) return resolved;
  if (err != TSL_ERR_INPUT || tsl_err_message()[0] == '\0') {
    (void)fprintf(stderr, "error %d: %s\n", (int)err, tsl_err_message());
    abort();
  }
  return NULL;
}

/** Overrides are the lines "#set KEY=VALUE"; text is cut there. */
static int find_sets(char *text, const char *sets[8]) {
  int n = 0;
  for (char *line = strtok(text, "\n"); line != NULL && n < 8; line = strtok(NULL, "\n"))
    if (strncmp(line, "#set ", 5) == 0) sets[n++] = line + 5;
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  const char *sets[8];
  char *lines = malloc(n_bytes + 1), *bytes = malloc(n_bytes + 1);
  if (lines == NULL || bytes == NULL) abort();
  memcpy(lines, data, n_bytes);
  memcpy(bytes, data, n_bytes);
  lines[n_bytes] = '\0';
  char *first = resolve(bytes, n_bytes, sets, find_sets(lines, sets));
  char *second = first != NULL ? resolve(first, strlen(first), NULL, 0) : NULL;
  if (first != NULL && (second == NULL || strcmp(first, second) != 0)) {
    (void)fprintf(stderr, "resolved:\n%s\nagain:\n%s\n", first,
                  second != NULL ? second : "refused");
    abort();
  }
  n_accepted += first != NULL;
  free(first);
  free(second);
  free(lines);
  free(bytes);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "family: tri\ntitle: \"a\\u00e9\\x01\"\ntri:\n  function: cosine\n  output: on\n"
    "  periodic: no\n  seed: -1e6\n  cap: 1.5 GiB\n  cutoff: 1e-320\n  note: 'it''s'\n"
    "  box: [1, .5, 2e3]\n  rows: 1_000\n  sides: [top, left]\n  input: {file: x, skip: 7}\n"
    "  probes:\n    - {at: 1, name: a}\n    - {at: -2, bins: []}\n",
    "#set tri.cutoff=3\n#set tri.rows=[1,2]\n#set title=x\nfamily: tri\ntri: &a\n"
    "  function: gravity\n  note: |\n    two\n    lines\n"
    "  input: &b {file: \"\\U0001F600\\L\\P\\N\"}\n  probes: [{at: 1}, {at: 2}]\n",
    "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b]\n? d\n: !!str e\n--- \n"};

static const char tokens[] =
    "[\1]\1{\1}\1: \1- \1\n\1\n  \1&a \1*a\1\"\1'\1|\n \1\\x\1\\u\0011e999\1-\1_\1 GiB\1~\1? \1!!x "
    "\1"
    "---\n\1%\1\xef\xbb\xbf\1\x85\1#set tri.input.skip=\1tri\1family: tri\n\1\t\1\r";

FUZZ_MAIN_COUNTED("fuzz_deck", "decks", "accepted", n_accepted)

#endif
