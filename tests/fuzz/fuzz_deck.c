/* Any bytes as a deck: refused with a message, or loaded, and then the resolved text must load
 * to the same resolved text.
 *
 * Lines that start with "#set " are also given as overrides. */
#include "deck.h"
#include "fuzz_driver.h"

static long long n_accepted; /* decks that loaded */

typedef struct nested {
  char *file;
  int64_t skip;
  tsl_ints rows;
} nested;

typedef struct section {
  int32_t choice;
  bool flag;
  int64_t whole, bytes;
  double real;
  char *text;
  tsl_reals reals;
  tsl_ints ints;
  int32_t some;
  nested map;
  tsl_maps maps;
} section;

static const char *const words[] = {"one", "two", "three", NULL};

static const tsl_key nested_keys[] = {
    {"file", TSL_KEY_TEXT, offsetof(nested, file), "", 0, 0, NULL, NULL, 0, ""},
    {"skip", TSL_KEY_INT, offsetof(nested, skip), "1", 0, 100, NULL, NULL, 0, ""},
    {"rows", TSL_KEY_INTS, offsetof(nested, rows), "[1, 2]", 0, 0, NULL, NULL, 0, ""},
    {0}};

static const tsl_key keys[] = {
    {"choice", TSL_KEY_CHOICE, offsetof(section, choice), "two", 0, 0, words, NULL, 0, ""},
    {"flag", TSL_KEY_BOOL, offsetof(section, flag), "yes", 0, 0, NULL, NULL, 0, ""},
    {"whole", TSL_KEY_INT, offsetof(section, whole), "", 0, 0, NULL, NULL, 0, ""},
    {"bytes", TSL_KEY_BYTES, offsetof(section, bytes), "1 MB", 0, 0, NULL, NULL, 0, ""},
    {"real", TSL_KEY_REAL, offsetof(section, real), "0.1", 0, 0, NULL, NULL, 0, ""},
    {"text", TSL_KEY_TEXT, offsetof(section, text), "", 0, 0, NULL, NULL, 0, ""},
    {"reals", TSL_KEY_REALS, offsetof(section, reals), "", 0, 0, NULL, NULL, 0, ""},
    {"ints", TSL_KEY_INTS, offsetof(section, ints), "3", -9, 9e9, NULL, NULL, 0, ""},
    {"some", TSL_KEY_WORDS, offsetof(section, some), "[one, two]", 0, 0, words, NULL, 0, ""},
    {"map", TSL_KEY_MAP, offsetof(section, map), "", 0, 0, NULL, nested_keys, sizeof(nested), ""},
    {"maps", TSL_KEY_MAPS, offsetof(section, maps), "", 0, 0, NULL, nested_keys, sizeof(nested),
     ""},
    {0}};

static const char *const families[] = {"tri", "dp", NULL};

/** Everything a run does with a deck. @return the resolved text, NULL when the deck is refused */
static char *resolve(const char *text, size_t n_bytes, const char *const *sets, int n_sets) {
  tsl_deck *deck = NULL;
  section s;
  char *resolved = NULL;
  int family = 0;
  tsl_err err = tsl_deck_parse(text, n_bytes, "fuzz", sets, n_sets, &deck);
  if (err == TSL_OK) {
    (void)tsl_deck_given(deck, "tri.map.file");
    (void)tsl_deck_fail(deck, TSL_ERR_INPUT, "tri.map.x", __FILE__, __LINE__, "%s",
                        tsl_deck_title(deck));
    err = tsl_deck_top(deck, families, &family);
  }
  if (err == TSL_OK) err = tsl_deck_bind(deck, families[family], keys, sizeof s, &s);
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
    "family: tri\ntitle: \"a\\u00e9\\x01\"\ntri:\n  choice: one\n  flag: no\n  whole: -1e6\n"
    "  bytes: 1.5 GiB\n  real: 1e-320\n  text: 'it''s'\n  reals: [1, .5, -2e300]\n"
    "  ints: 1_000\n  map: {file: x, skip: 7}\n  maps:\n    - file: a\n    - {rows: []}\n",
    "#set tri.real=3\n#set tri.ints=[1,2]\n#set title=x\nfamily: tri\ntri: &a\n  text: |\n    "
    "two\n"
    "    lines\n  map: &b {file: \"\\U0001F600\\L\\P\\N\"}\n  maps: [*b, *b]\n",
    "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b]\n? d\n: !!str e\n--- \n"};

static const char tokens[] =
    "[\1]\1{\1}\1: \1- \1\n\1\n  \1&a \1*a\1\"\1'\1|\n \1\\x\1\\u\0011e999\1-\1_\1 GiB\1~\1? \1!!x "
    "\1"
    "---\n\1%\1\xef\xbb\xbf\1\x85\1#set tri.map.skip=\1tri\1family: tri\n\1\t\1\r";

int main(int argc, char **argv) {
  const fuzz_language language = {texts, sizeof texts / sizeof *texts, tokens};
  const long long runs = fuzz_run(argc, argv, &language);
  (void)printf("fuzz_deck: %lld decks tried, %lld accepted, none failed\n", runs, n_accepted);
  return n_accepted > 0 ? 0 : 1; /* decks that never load test nothing */
}

#endif
