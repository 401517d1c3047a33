/* Any bytes as a deck: refused with a message, or loaded, and then the resolved text must load
 * to the same resolved text.
 *
 * With libFuzzer:  clang -fsanitize=fuzzer,address -DTSL_LIBFUZZER ...; ./fuzz_deck CORPUS
 * Without:         ./fuzz_deck SECONDS FILE...   mutates the files (and built-in decks) at random
 *
 * Lines that start with "#set " are also given as overrides. */
#include "deck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

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

enum { SEED_MAX = 4096, SEEDS_MAX = 256 };

typedef struct seed {
  char bytes[SEED_MAX];
  size_t n;
} seed;

static seed seeds[SEEDS_MAX];
static int n_seeds;
static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % below;
}

static void add_seed(const char *bytes, size_t n) {
  if (n_seeds == SEEDS_MAX || n > SEED_MAX) return;
  memcpy(seeds[n_seeds].bytes, bytes, n);
  seeds[n_seeds++].n = n;
}

static void add_built_in(void) {
  static const char *const decks[] = {
      "family: tri\ntitle: \"a\\u00e9\\x01\"\ntri:\n  choice: one\n  flag: no\n  whole: -1e6\n"
      "  bytes: 1.5 GiB\n  real: 1e-320\n  text: 'it''s'\n  reals: [1, .5, -2e300]\n"
      "  ints: 1_000\n  map: {file: x, skip: 7}\n  maps:\n    - file: a\n    - {rows: []}\n",
      "#set tri.real=3\n#set tri.ints=[1,2]\n#set title=x\nfamily: tri\ntri: &a\n  text: |\n    "
      "two\n"
      "    lines\n  map: &b {file: \"\\U0001F600\\L\\P\\N\"}\n  maps: [*b, *b]\n",
      "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b]\n? d\n: !!str e\n--- \n"};
  for (size_t i = 0; i < sizeof decks / sizeof *decks; i++) add_seed(decks[i], strlen(decks[i]));
}

static int add_file(const char *path) {
  char bytes[SEED_MAX];
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return 1;
  }
  add_seed(bytes, fread(bytes, 1, sizeof bytes, file));
  (void)fclose(file);
  return 0;
}

/** Remove, insert, copy within, change or splice a few bytes. */
static size_t mutate(char *bytes, size_t n) {
  static const char *const tokens[] = {"[",
                                       "]",
                                       "{",
                                       "}",
                                       ": ",
                                       "- ",
                                       "\n",
                                       "\n  ",
                                       "&a ",
                                       "*a",
                                       "\"",
                                       "'",
                                       "|\n ",
                                       "\\x",
                                       "\\u",
                                       "1e999",
                                       "-",
                                       "_",
                                       " GiB",
                                       "~",
                                       "? ",
                                       "!!x ",
                                       "---\n",
                                       "%",
                                       "\xef\xbb\xbf",
                                       "\x85",
                                       "#set tri.map.skip=",
                                       "tri",
                                       "family: tri\n",
                                       "\t",
                                       "\r"};
  const char *piece = tokens[draw(sizeof tokens / sizeof *tokens)];
  const seed *other = &seeds[draw((uint64_t)n_seeds)];
  size_t at = draw(n + 1), length = strlen(piece);
  switch (draw(5)) {
  case 0: /* remove */
    length = draw((n - at < 16 ? n - at : 16) + 1);
    memmove(bytes + at, bytes + at + length, n - at - length);
    return n - length;
  case 1: /* change */
    if (at < n) bytes[at] = (char)draw(256);
    return n;
  case 2: /* a piece of another deck */
    if (other->n == 0) return n;
    piece = other->bytes + draw(other->n);
    length = (size_t)(other->bytes + other->n - piece);
    length = draw((length < 40 ? length : 40) + 1);
    break;
  default:
    break;
  }
  if (n + length > SEED_MAX) return n;
  memmove(bytes + at + length, bytes + at, n - at);
  memcpy(bytes + at, piece, length);
  return n + length;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 10;
  const time_t start = time(NULL);
  static char bytes[SEED_MAX];
  long long runs = 0;
  add_built_in();
  for (int i = 2; i < argc; i++)
    if (add_file(argv[i]) != 0) return 2;
  for (int i = 0; i < n_seeds; i++)
    (void)LLVMFuzzerTestOneInput((const uint8_t *)seeds[i].bytes, seeds[i].n);
  for (; difftime(time(NULL), start) < seconds; runs++) {
    const seed *from = &seeds[draw((uint64_t)n_seeds)];
    size_t n = from->n;
    memcpy(bytes, from->bytes, n);
    for (uint64_t i = draw(2) == 0 ? 1 : draw(8) + 1; i > 0; i--) n = mutate(bytes, n);
    (void)LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
  }
  (void)printf("fuzz_deck: %lld mutated decks from %d seeds, %lld accepted, none failed\n", runs,
               n_seeds, n_accepted);
  return n_accepted > 0 ? 0 : 1; /* decks that never load test nothing */
}

#endif
