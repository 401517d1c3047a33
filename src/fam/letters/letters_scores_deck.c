/* Scores of alignments from a deck. */
#include "data_folder.h"
#include "letters_scores.h"
#include "memory.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(letters_scores_deck, member)
#define LARGEST 10000

/** The table; arguments are the standards of its numbers. */
#define KEYS(match_standard, mismatch_standard, open_standard, extend_standard)                \
  TSL_INT_KEY("match", AT(match), match_standard, 0, LARGEST, "Score of two equal letters."),  \
      TSL_INT_KEY("mismatch", AT(mismatch), mismatch_standard, -LARGEST, LARGEST,              \
                  "Score of two different letters."),                                          \
      TSL_INT_KEY("open", AT(open), open_standard, 0, LARGEST,                                 \
                  "Cost of a gap, whatever its length."),                                      \
      TSL_INT_KEY("extend", AT(extend), extend_standard, 0, LARGEST,                           \
                  "Cost of each letter of a gap; a gap of length g costs open + g * extend."), \
      TSL_TEXT_KEY(                                                                            \
          "matrix", AT(matrix), "",                                                            \
          "Scores of all pairs of letters, instead of match and mismatch: BLOSUM45 BLOSUM50 "  \
          "BLOSUM62 BLOSUM80 BLOSUM90 PAM30 PAM70 PAM250 NUC.4.4, or a file in their format.")

const tsl_key letters_scores_keys[] = {KEYS("2", "-3", "5", "2"), {0}};
const tsl_key letters_scores_bare_keys[] = {KEYS("", "", "", ""), {0}};

/** Scores of equal and of different letters, for all that there are. */
static void set_plain(const letters_scores_deck *map, letters_scores *scores) {
  for (int32_t x = 0; x < LETTERS_SCORED; x++)
    for (int32_t y = 0; y < LETTERS_SCORED; y++)
      scores->s[x][y] = (int32_t)(x == y ? map->match : map->mismatch);
}

/** Does the matrix of that name come with tesela? All others are files of the user's. */
static bool comes_along(const char *name) {
  static const char *const names[] = {"BLOSUM45", "BLOSUM50", "BLOSUM62", "BLOSUM80", "BLOSUM90",
                                      "PAM30",    "PAM70",    "PAM250",   "NUC.4.4"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

static tsl_err find_matrix(const tsl_deck *deck, const char *name, char **path) {
  tsl_err err = TSL_OK;
  char folder[TSL_DATA_FOLDER];
  void *made = NULL;
  if (!comes_along(name)) {
    TSL_TRY(tsl_deck_path(deck, name, path));
    goto done;
  }
  TSL_TRY(tsl_data_folder("matrices", "matrices", folder));
  const size_t bytes = strlen(folder) + 1 + strlen(name) + 1;
  TSL_TRY(tsl_alloc((int64_t)bytes, 1, "path", &made));
  *path = made;
  (void)snprintf(*path, bytes, "%s/%s", folder, name);
done:
  return err;
}

tsl_err letters_scores_settle(const tsl_deck *deck, const char *key, const letters_scores_deck *map,
                              int32_t alphabet, letters_scores *scores, char **path,
                              uint32_t *known) {
  tsl_err err = TSL_OK;
  char matrix[64];
  *path = NULL;
  scores->open = (int32_t)map->open;
  scores->extend = (int32_t)map->extend;
  if (map->matrix == NULL) {
    set_plain(map, scores);
    goto done;
  }
  (void)snprintf(matrix, sizeof matrix, "%s.matrix", key);
  if (tsl_deck_given_in(deck, key, "match") || tsl_deck_given_in(deck, key, "mismatch"))
    TSL_DECK_FAIL(deck, matrix, "give either a matrix or match and mismatch");
  TSL_TRY(tsl_deck_blame(deck, matrix, find_matrix(deck, map->matrix, path)));
  TSL_TRY(tsl_deck_blame(deck, matrix, letters_scores_read(*path, alphabet, scores, known)));
done:
  return err;
}
