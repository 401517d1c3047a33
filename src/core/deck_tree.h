/**
 * @file deck_tree.h
 * Private to deck*.c: the tree of a deck, its memory, and the steps from bytes to a struct.
 *
 *   bytes -> deck_yaml.c (tree) -> deck_set.c (overrides) -> deck_bind.c (checked tree with
 *   defaults) -> deck_yaml.c (YAML again) -> deck_load.c (libcyaml fills the caller's struct)
 */
#pragma once

#include "deck.h"
#include "memory.h"

enum {
  TSL_DECK_BYTES_MAX = 16 << 20, /**< bytes of a deck file */
  TSL_DECK_NODES_MAX = 1000000,  /**< values of a deck, aliases counted as copies */
  TSL_DECK_DEPTH_MAX = 32,       /**< nesting of maps and lists */
  TSL_DECK_KEYS_MAX = 1024,      /**< keys of one map: duplicates are looked for pair by pair */
  TSL_DECK_ANCHORS_MAX = 1000,   /**< anchors of a deck */
  TSL_DECK_TITLE_MAX = 1000,     /**< bytes of the title, which goes into an attribute */
  TSL_DECK_TEXT_MAX = 1 << 20,   /**< bytes of any other text */
  TSL_DECK_PATH_MAX = 256,       /**< bytes of "tri.input.file" in a message */
  TSL_DECK_SHOW_MAX = 80         /**< bytes of a user's word in a message */
};

typedef enum tsl_node_kind { TSL_NODE_SCALAR, TSL_NODE_LIST, TSL_NODE_MAP } tsl_node_kind;

/** A value of the deck. Memory of the deck's arena; members of lists and maps are chained. */
typedef struct tsl_node {
  tsl_node_kind kind;
  bool quoted;    /**< scalar in quotes: a text, never a number or nothing */
  int32_t set;    /**< 0: from the file, else number of the override, counted from 1 */
  int32_t line;   /**< counted from 1; of the key where there is one */
  int32_t column; /**< likewise */
  const char *key;
  const char *text;              /**< SCALAR; UTF-8 */
  struct tsl_node *first, *last; /**< LIST, MAP: members */
  struct tsl_node *next;
  int64_t n; /**< number of members */
} tsl_node;

/** Memory freed all at once. */
typedef struct tsl_arena {
  struct tsl_arena_block *blocks;
} tsl_arena;

/** A section bound to a struct. */
typedef struct tsl_bound {
  const char *section;
  const tsl_node *node; /**< checked, defaults filled in */
  const void *schema;   /**< of libcyaml, in the arena */
  void *data;           /**< libcyaml's struct; its texts and lists are shared with the caller's */
  struct tsl_bound *next;
} tsl_bound;

struct tsl_deck {
  tsl_arena arena;
  char *text; /**< as read, zero-ended, in the arena */
  size_t n_bytes;
  const char *name, *folder;
  const char **sets; /**< [n_sets] copies in the arena */
  int n_sets;
  int64_t n_nodes; /**< read so far */
  tsl_node *root;  /**< MAP */
  tsl_bound *bound, *last_bound;
};

/* deck_tree.c */
tsl_err tsl_arena_alloc(tsl_arena *arena, int64_t count, size_t size, void **out);
tsl_err tsl_arena_text(tsl_arena *arena, const char *text, size_t n_bytes, const char **out);
void tsl_arena_clear(tsl_arena *arena);

/** A new node placed (set, line, column) like at, which may be NULL. */
tsl_err tsl_node_new(tsl_arena *arena, tsl_node_kind kind, const tsl_node *at, tsl_node **out);
/** A new scalar; text is copied. */
tsl_err tsl_node_scalar(tsl_arena *arena, const char *text, bool quoted, const tsl_node *at,
                        tsl_node **out);
void tsl_node_append(tsl_node *parent, tsl_node *child);
tsl_node *tsl_node_find(const tsl_node *map, const char *key);
/** Plain "", "~" or "null". */
bool tsl_node_is_null(const tsl_node *node);

/** The place of a node: "file:line" or "--set a.b=c". */
void tsl_node_place(const tsl_deck *deck, const tsl_node *node, char *text, size_t size);

/** Start an error with the place of a node, "file:line: ..." or "--set a.b=c: ...".
 *  @return TSL_ERR_INPUT */
tsl_err tsl_node_fail(const tsl_deck *deck, const tsl_node *node, const char *file, int line,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#define TSL_NODE_FAIL(deck, node, ...)                                    \
  do {                                                                    \
    err = TSL_ERR_INPUT;                                                  \
    (void)tsl_node_fail((deck), (node), __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                                            \
  } while (0)

/** A user's word, shortened and printable, for a message; returns out. */
const char *tsl_deck_show(const char *text, char out[TSL_DECK_SHOW_MAX]);

/** "; did you mean 'x'? (allowed: x, y)" for a message; returns out. */
const char *tsl_deck_advice(const char *word, const char *const *words, size_t size, char *out);

/* deck_yaml.c */
/** Parse bytes of the file (set 0) or of the value of an override; *out is NULL when empty. */
tsl_err tsl_yaml_read(tsl_deck *deck, const char *text, size_t n_bytes, int32_t set,
                      tsl_node **out);
/** Write a tree as YAML; free *text with free(). */
tsl_err tsl_yaml_write(const tsl_node *node, char **text, size_t *n_bytes);

/* deck_set.c */
/** Apply override number set (counted from 1) to deck->root. */
tsl_err tsl_deck_override(tsl_deck *deck, int32_t set);

/* deck_value.c */
/** Check a scalar and bring it to normal form; as is one of the scalar types. */
tsl_err tsl_value_check(tsl_deck *deck, const tsl_node *value, const char *path, const tsl_key *key,
                        tsl_key_type as, tsl_node **out);
/** What the user wrote, for "expected X, got ..."; returns out. */
const char *tsl_value_got(const tsl_node *value, char out[TSL_DECK_SHOW_MAX]);

/* deck_load.c */
/** Check a table against its struct and build libcyaml's schema for it. */
tsl_err tsl_schema_create(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                          const void **schema);
/** Fill bound->data from bound->node. */
tsl_err tsl_bound_load(tsl_deck *deck, tsl_bound *bound);
/** Free bound->data with all texts and lists. */
void tsl_bound_clear(tsl_bound *bound);
