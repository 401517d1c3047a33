/**
 * @file deck.h
 * Decks: YAML text checked against a table of keys and loaded into plain structs by libcyaml.
 *
 * A section of a deck ("run:", "output:", "tri:") is described by one table of tsl_key and
 * bound to one struct. The table is the schema, the source of defaults, the help text
 * (`tesela run --help FAMILY`) and docs/families. Errors read
 *     stars.yaml:7: unknown key 'functon' in 'tri'; did you mean 'function'?
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

/** What a key holds, and the C type at its offset. */
typedef enum tsl_key_type {
  TSL_KEY_BOOL,   /**< bool */
  TSL_KEY_INT,    /**< int64_t; 1e6 and 1_000_000 are accepted when integral */
  TSL_KEY_REAL,   /**< double, finite */
  TSL_KEY_BYTES,  /**< int64_t bytes; "2 GiB", "500 MB", plain number */
  TSL_KEY_TEXT,   /**< char *, owned by the deck; NULL when absent and the standard is "" */
  TSL_KEY_CHOICE, /**< int32_t, index into choices */
  TSL_KEY_REALS,  /**< tsl_reals; a single number counts as a list of one */
  TSL_KEY_INTS,   /**< tsl_ints; likewise */
  TSL_KEY_WORDS,  /**< int32_t, bit k: the list has word k of choices; each at most once; a single
                       word counts as a list of one */
  TSL_KEY_TEXTS,  /**< tsl_texts; a single text counts as a list of one */
  TSL_KEY_MAP, /**< nested struct described by keys; with choices, one of these words alone stands
                       for a map with the first of keys, a CHOICE of them */
  TSL_KEY_MAPS /**< tsl_maps: list of structs described by keys, each struct_bytes long */
} tsl_key_type;

typedef struct tsl_reals {
  double *values; /**< [n], owned by the deck */
  uint64_t n;
} tsl_reals;

typedef struct tsl_ints {
  int64_t *values; /**< [n], owned by the deck */
  uint64_t n;
} tsl_ints;

typedef struct tsl_texts {
  char **values; /**< [n], they and the list owned by the deck */
  uint64_t n;
} tsl_texts;

typedef struct tsl_maps {
  void *values; /**< [n] structs, owned by the deck */
  uint64_t n;
} tsl_maps;

/** One key of a section. A table ends with an entry whose name is NULL. */
typedef struct tsl_key {
  const char *name;
  tsl_key_type type;
  size_t offset;        /**< of the member in the section's struct */
  const char *standard; /**< default as deck text, within min..max; "" = absent (zero, NULL,
                             empty list, nested defaults); NULL: key is required */
  double min, max;      /**< closed range for INT, REAL, BYTES and list members; both 0: any */
  const char *const *choices; /**< CHOICE, WORDS: allowed words, NULL-ended, WORDS at most 31;
                                   MAP: likewise, or NULL */
  const struct tsl_key *keys; /**< MAP, MAPS: nested table */
  size_t struct_bytes;        /**< MAP, MAPS: size of the nested struct */
  const char *doc;            /**< one sentence with the physical unit */
} tsl_key;

/* A key of each type; `at` is its offset. Numbers in lists and maps have no standard. */
#define TSL_BOOL_KEY(name, at, standard, doc) \
  { name, TSL_KEY_BOOL, at, standard, 0, 0, NULL, NULL, 0, doc }
#define TSL_INT_KEY(name, at, standard, min, max, doc) \
  { name, TSL_KEY_INT, at, standard, min, max, NULL, NULL, 0, doc }
#define TSL_REAL_KEY(name, at, standard, min, max, doc) \
  { name, TSL_KEY_REAL, at, standard, min, max, NULL, NULL, 0, doc }
#define TSL_BYTES_KEY(name, at, standard, min, max, doc) \
  { name, TSL_KEY_BYTES, at, standard, min, max, NULL, NULL, 0, doc }
#define TSL_TEXT_KEY(name, at, standard, doc) \
  { name, TSL_KEY_TEXT, at, standard, 0, 0, NULL, NULL, 0, doc }
#define TSL_CHOICE_KEY(name, at, standard, choices, doc) \
  { name, TSL_KEY_CHOICE, at, standard, 0, 0, choices, NULL, 0, doc }
#define TSL_REALS_KEY(name, at, min, max, doc) \
  { name, TSL_KEY_REALS, at, "", min, max, NULL, NULL, 0, doc }
#define TSL_INTS_KEY(name, at, min, max, doc) \
  { name, TSL_KEY_INTS, at, "", min, max, NULL, NULL, 0, doc }
#define TSL_WORDS_KEY(name, at, standard, choices, doc) \
  { name, TSL_KEY_WORDS, at, standard, 0, 0, choices, NULL, 0, doc }
#define TSL_TEXTS_KEY(name, at, doc) \
  { name, TSL_KEY_TEXTS, at, "", 0, 0, NULL, NULL, 0, doc }
#define TSL_MAP_KEY(name, at, keys, bytes, doc) \
  { name, TSL_KEY_MAP, at, "", 0, 0, NULL, keys, bytes, doc }
#define TSL_MAPS_KEY(name, at, keys, bytes, doc) \
  { name, TSL_KEY_MAPS, at, "", 0, 0, NULL, keys, bytes, doc }

/** A parsed deck; create with tsl_deck_read or tsl_deck_parse, free with tsl_deck_destroy. */
typedef struct tsl_deck tsl_deck;

/**
 * Read and parse a deck file and apply overrides.
 * @param[in]  path    file; must be a regular file of at most 16 MiB
 * @param[in]  sets    shape [n_sets], "a.b=value" as given to --set; value is YAML
 * @param[out] out     owned by the caller
 * @return TSL_ERR_INPUT with "file:line:column: what" for bad YAML, a duplicate key or a bad
 * override
 */
tsl_err tsl_deck_read(const char *path, const char *const *sets, int n_sets, tsl_deck **out);

/** As tsl_deck_read for text in memory; name stands for the file in messages. */
tsl_err tsl_deck_parse(const char *text, size_t n_bytes, const char *name, const char *const *sets,
                       int n_sets, tsl_deck **out);

/** Free the deck and all texts and lists of the structs bound to it; NULL accepted, sets NULL. */
void tsl_deck_destroy(tsl_deck **deck);

/**
 * Check the top level: "family" (required, one of families, NULL-ended) and "title" are scalars;
 * the sections "run", "output" and the one named like the family are maps; there is nothing else.
 * @param[out] family  index into families
 */
tsl_err tsl_deck_top(tsl_deck *deck, const char *const *families, int *family);

/**
 * Check a section against its table, fill in defaults, load it.
 * An absent section is bound as if it were empty.
 * @param[in]  keys    the table; must outlive the deck
 * @param[out] out     struct of bytes size, overwritten; its texts and lists belong to the deck
 * @return TSL_ERR_INPUT with file:line, what is wrong, what is allowed, the nearest key or word;
 *         TSL_ERR_INTERNAL when the table itself is wrong (a bad default, an offset outside bytes)
 */
tsl_err tsl_deck_bind(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                      void *out);

/**
 * A deck of an older form: where a section has `key: word` and a map `word: {...}`, the map becomes
 * that of the key. Call before the section is bound. @return whether it was so
 */
bool tsl_deck_fold(tsl_deck *deck, const char *section, const char *key, const char *word);

/** Was the key given by the user (file or override), not filled in? path as "tri.input.file", in a
 *  list "dp.data[2].name". */
bool tsl_deck_given(const tsl_deck *deck, const char *path);
/** The same of a key of a map. @param[in] map  "dp.a", of at most 100 bytes with the key */
bool tsl_deck_given_in(const tsl_deck *deck, const char *map, const char *key);

/**
 * Start an error about a key: the message becomes "file:line: path: ...".
 * @param[in] path  "tri.box"; the nearest existing parent gives the line
 * @return code
 */
tsl_err tsl_deck_fail(const tsl_deck *deck, tsl_err code, const char *path, const char *file,
                      int line, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#define TSL_DECK_FAIL(deck, path, ...)                                         \
  do {                                                                         \
    err = TSL_ERR_INPUT;                                                       \
    (void)tsl_deck_fail((deck), err, (path), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                                 \
  } while (0)

/** "file:line: path", as tsl_deck_fail has it; cut when it is too long. */
void tsl_deck_place(const tsl_deck *deck, const char *path, char *text, size_t size);

/** Give the error of this thread, when there is one, the place of a path. @return err */
tsl_err tsl_deck_blame(const tsl_deck *deck, const char *path, tsl_err err);

/** The deck's text as read; its title ("" when absent). Not owned, never NULL. */
const char *tsl_deck_text(const tsl_deck *deck);
const char *tsl_deck_title(const tsl_deck *deck);

/** The path of a file named in the deck, taken from the deck's folder ("." for text in memory)
 *  unless it begins with "/"; free with tsl_free. @return TSL_ERR_MEMORY */
tsl_err tsl_deck_path(const tsl_deck *deck, const char *file, char **path);

/**
 * The deck with overrides applied and every default of the bound sections written out; keys
 * that are absent and have no default stay absent.
 * @param[out] text  YAML, zero-ended; free with free()
 */
tsl_err tsl_deck_resolved(const tsl_deck *deck, char **text);

/** Of words (NULL-ended) the only one that begins with word, or the nearest by edit distance; NULL
 *  when none is close. */
const char *tsl_nearest_word(const char *word, const char *const *words);

TSL_C_END
