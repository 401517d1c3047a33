/* Any words as a command line, a line for each: taken or refused with a message; what is taken
 * points to the words and stays within its bounds. */
#include "fuzz_driver.h"
#include "options.h"

#include <math.h>

enum { WORDS = 200 };

/* A text of the options is one of the words. */
static void must_be_word(const char *text, int n, char **words) {
  bool found = text == NULL;
  for (int k = 0; k < n && !found; k++) found = text == words[k];
  must(found, "a text that nobody gave");
}

static void try_words(int n, char **words, const char *allowed, bool need_deck) {
  tsl_options o;
  const tsl_err err = tsl_options_parse(n, words, allowed, need_deck, &o);
  must(err == TSL_OK || (err == TSL_ERR_USAGE && tsl_err_message()[0] != '\0'), "refusal");
  must(memchr(o.command, '\0', sizeof o.command) != NULL, "the command has no end");
  if (err != TSL_OK) return;
  must(!need_deck || o.help || o.deck != NULL, "no deck");
  must(o.n_sets >= 0 && o.n_sets <= TSL_MAX_SETS, "settings");
  must(isfinite(o.walltime) && o.walltime >= 0, "walltime");
  must_be_word(o.deck, n, words), must_be_word(o.output, n, words);
  must_be_word(o.trace, n, words), must_be_word(o.restart, n, words);
  must_be_word(o.ipi, n, words), must_be_word(o.mdi, n, words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static char run[] = "run";
  char *text = malloc(n_bytes + 1), *words[WORDS] = {run};
  int n = 1;
  if (text == NULL) return 0;
  memcpy(text, data, n_bytes);
  text[n_bytes] = '\0';
  words[n++] = text;
  for (char *at = text; *at != '\0' && n < WORDS; at++) {
    if (*at != '\n') continue;
    *at = '\0';
    words[n++] = at + 1;
  }
  try_words(n, words, "ostqwirmxpj", true);
  try_words(n, words, "", false);
  free(text);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "deck.yaml\n-o\nout.h5\n--set\na.b=1\n-q", "--trace\nt.json\ndeck.yaml\n--overwrite",
    "deck.yaml\n--max-walltime\n11:59:00\n--restart\nout.h5", "--help", ""};

static const char tokens[] =
    "\n\1-\1--\1=\1:\1-o\n\1--out\1--set\n\1--quiet\n\1-q\n\1--restart\n\1--max-walltime\n\1"
    "1:00:00\1--strict\n\1--interpret\n\1-h\1\xff\1%s\1%n";

FUZZ_MAIN("fuzz_options", "command lines")

#endif
