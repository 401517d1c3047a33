/* What test_deck.c and test_deck_messages.c share: loading, refusing. */
#pragma once

#include "deck_tables.h"
#include "memory.h"
#include "must.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/** Parse, check the top level, bind "tri"; the error is left in the thread. */
static inline tsl_err load_sets(const char *text, size_t n, const char *const *sets, int n_sets,
                                tri *out, tsl_deck **deck) {
  int family = -1;
  tsl_err err = tsl_deck_parse(text, n, "d.yaml", sets, n_sets, deck);
  if (err == TSL_OK) err = tsl_deck_top(*deck, families, &family);
  if (err == TSL_OK) err = tsl_deck_bind(*deck, "tri", tri_keys, sizeof *out, out);
  return err;
}

static inline tsl_err load(const char *text, tri *out, tsl_deck **deck) {
  return load_sets(text, strlen(text), NULL, 0, out, deck);
}

/** The deck is refused with exactly this message. */
static inline void refused_set(const char *text, const char *set, const char *message) {
  tsl_deck *deck = NULL;
  tri t = {0};
  const char *const sets[] = {set};
  assert_int_equal(load_sets(text, strlen(text), sets, set != NULL, &t, &deck), TSL_ERR_INPUT);
  assert_string_equal(tsl_err_message(), message);
  tsl_deck_destroy(&deck);
  assert_null(deck);
}

static inline void refused(const char *text, const char *message) {
  refused_set(text, NULL, message);
}

/** Head of a good deck: three lines, so what follows is on line 4. */
#define HEAD "family: tri\ntri:\n  function: gravity\n"
#define TAIL "  input: {file: a.csv}\n"
#define HEAD_TAIL HEAD TAIL
