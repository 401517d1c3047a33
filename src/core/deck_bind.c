/* A section against its table: unknown and missing keys, types, ranges, defaults. */
#include "deck_tree.h"

#include <stdio.h>
#include <string.h>

enum { ADVICE_MAX = 1024 };

static tsl_err check_map(tsl_deck *deck, const tsl_node *map, const char *path, const tsl_key *keys,
                         tsl_node **out);

static const char *deck_bind_join(const char *path, const char *name, char out[TSL_DECK_PATH_MAX]) {
  char show[TSL_DECK_SHOW_MAX];
  const size_t used = strlen(path);
  (void)snprintf(out, TSL_DECK_PATH_MAX, "%s", path);
  if (used < TSL_DECK_PATH_MAX)
    (void)snprintf(out + used, TSL_DECK_PATH_MAX - used, ".%s", tsl_deck_show(name, show));
  return out;
}

static const tsl_key *find_key(const tsl_key *keys, const char *name) {
  for (; keys->name != NULL; keys++)
    if (strcmp(keys->name, name) == 0) return keys;
  return NULL;
}

static tsl_err deck_bind_fail_unknown(tsl_deck *deck, const tsl_node *node, const char *path,
                                      const tsl_key *keys) {
  tsl_err err = TSL_OK;
  char advice[ADVICE_MAX], show[TSL_DECK_SHOW_MAX];
  const char **words = NULL;
  void *memory = NULL;
  int n = 0;
  while (keys[n].name != NULL) n++;
  TSL_TRY(tsl_arena_alloc(&deck->arena, n + 1, sizeof *words, &memory));
  words = memory;
  for (int i = 0; i < n; i++) words[i] = keys[i].name;
  TSL_NODE_FAIL(deck, node, "unknown key '%s' in '%s'%s", tsl_deck_show(node->key, show), path,
                tsl_deck_advice(node->key, words, sizeof advice, advice));
done:
  return err;
}

static tsl_err fail_kind(const tsl_deck *deck, const tsl_node *value, const char *path,
                         const char *expected) {
  char got[TSL_DECK_SHOW_MAX];
  (void)tsl_node_fail(deck, value, __FILE__, __LINE__, "%s: expected %s, got %s", path, expected,
                      tsl_value_got(value, got));
  return TSL_ERR_INPUT;
}

/** Numbers, words or texts? */
static bool is_list(const tsl_key *key) {
  return key->type == TSL_KEY_REALS || key->type == TSL_KEY_INTS || key->type == TSL_KEY_WORDS ||
         key->type == TSL_KEY_TEXTS;
}

/** What one of its entries is. */
static tsl_key_type entry_type(const tsl_key *key) {
  switch (key->type) {
  case TSL_KEY_WORDS:
    return TSL_KEY_CHOICE;
  case TSL_KEY_TEXTS:
    return TSL_KEY_TEXT;
  case TSL_KEY_REALS:
    return TSL_KEY_REAL;
  default:
    return TSL_KEY_INT;
  }
}

static tsl_err check_once(const tsl_deck *deck, const tsl_node *list, const tsl_node *word,
                          const char *path) {
  tsl_err err = TSL_OK;
  char show[TSL_DECK_SHOW_MAX];
  for (const tsl_node *other = list->first; other != NULL; other = other->next)
    if (strcmp(other->text, word->text) == 0)
      TSL_NODE_FAIL(deck, word, "%s: '%s' is in the list already", path,
                    tsl_deck_show(word->text, show));
done:
  return err;
}

/** A list of numbers, words or texts; a single one counts as a list of one. */
static tsl_err check_list(tsl_deck *deck, const tsl_node *value, const char *path,
                          const tsl_key *key, tsl_node **out) {
  const bool words = key->type == TSL_KEY_WORDS;
  const tsl_key_type as = entry_type(key);
  tsl_err err = TSL_OK;
  char name[TSL_DECK_PATH_MAX + 32];
  tsl_node *entry = NULL;
  int64_t i = 0;
  if (value->kind == TSL_NODE_MAP || tsl_node_is_null(value))
    return fail_kind(deck, value, path,
                     words                ? "a word or a list of words"
                     : as == TSL_KEY_TEXT ? "a text or a list of texts"
                                          : "a number or a list of numbers");
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_LIST, value, out));
  if (value->kind == TSL_NODE_SCALAR) {
    TSL_TRY(tsl_value_check(deck, value, path, key, as, &entry));
    tsl_node_append(*out, entry);
  }
  for (const tsl_node *child = value->first; child != NULL; child = child->next, i++) {
    (void)snprintf(name, sizeof name, "%s[%lld]", path, (long long)i);
    TSL_TRY(tsl_value_check(deck, child, name, key, as, &entry));
    if (words) TSL_TRY(check_once(deck, *out, entry, name));
    tsl_node_append(*out, entry);
  }
done:
  return err;
}

static tsl_err check_maps(tsl_deck *deck, const tsl_node *value, const char *path,
                          const tsl_key *key, tsl_node **out) {
  tsl_err err = TSL_OK;
  char name[TSL_DECK_PATH_MAX];
  tsl_node *map = NULL;
  int64_t i = 0;
  if (value->kind != TSL_NODE_LIST) return fail_kind(deck, value, path, "a list of maps");
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_LIST, value, out));
  for (const tsl_node *child = value->first; child != NULL; child = child->next, i++) {
    (void)snprintf(name, sizeof name, "%.220s[%lld]", path, (long long)i);
    TSL_TRY(check_map(deck, child, name, key->keys, &map));
    tsl_node_append(*out, map);
  }
done:
  return err;
}

/** A word that stands for a map with its first key. */
static tsl_err check_word(tsl_deck *deck, const tsl_node *word, const char *path,
                          const tsl_key *key, tsl_node **out) {
  tsl_err err = TSL_OK;
  tsl_node *map = NULL, *child = NULL;
  if (word->kind != TSL_NODE_SCALAR || tsl_node_is_null(word))
    return fail_kind(deck, word, path, "a word or a map");
  TSL_TRY(tsl_value_check(deck, word, path, key, TSL_KEY_CHOICE, &child));
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_MAP, word, &map));
  child->key = key->keys[0].name;
  tsl_node_append(map, child);
  TSL_TRY(check_map(deck, map, path, key->keys, out));
done:
  return err;
}

static tsl_err check_value(tsl_deck *deck, const tsl_node *value, const char *path,
                           const tsl_key *key, tsl_node **out) {
  switch (key->type) {
  case TSL_KEY_MAP:
    return key->choices != NULL && value->kind != TSL_NODE_MAP
               ? check_word(deck, value, path, key, out)
               : check_map(deck, value, path, key->keys, out);
  case TSL_KEY_MAPS:
    return check_maps(deck, value, path, key, out);
  case TSL_KEY_REALS:
  case TSL_KEY_INTS:
  case TSL_KEY_WORDS:
  case TSL_KEY_TEXTS:
    return check_list(deck, value, path, key, out);
  default:
    return tsl_value_check(deck, value, path, key, key->type, out);
  }
}

/** The table's default as a node that may be checked; NULL for "absent". */
static tsl_err read_standard(tsl_deck *deck, const tsl_node *at, const tsl_key *key,
                             tsl_node **out) {
  tsl_err err = TSL_OK;
  const bool empty = key->standard[0] == '\0';
  const int64_t n_nodes = deck->n_nodes;
  *out = NULL;
  if (key->type == TSL_KEY_MAP) return tsl_node_new(&deck->arena, TSL_NODE_MAP, at, out);
  if (key->type == TSL_KEY_MAPS || (is_list(key) && empty))
    return tsl_node_new(&deck->arena, TSL_NODE_LIST, at, out);
  if (empty) return TSL_OK;
  if (!is_list(key)) return tsl_node_scalar(&deck->arena, key->standard, false, at, out);
  TSL_TRY(tsl_yaml_read(deck, key->standard, strlen(key->standard), 0, out));
done:
  deck->n_nodes = n_nodes; /* defaults do not count */
  return err;
}

/** Append the default of an absent key, if it has one. A bad default is the table's fault, not the
 * user's. */
static tsl_err add_standard(tsl_deck *deck, const tsl_node *at, const char *path,
                            const tsl_key *key, tsl_node *map) {
  tsl_err err = TSL_OK;
  char why[512];
  tsl_node *standard = NULL, *value = NULL;
  err = read_standard(deck, at, key, &standard);
  if (err == TSL_OK && standard != NULL) err = check_value(deck, standard, path, key, &value);
  if (err == TSL_ERR_INPUT && key->type != TSL_KEY_MAP) {
    (void)snprintf(why, sizeof why, "%s", tsl_err_message());
    TSL_FAIL(TSL_ERR_INTERNAL, "the table's default of '%s' is bad: %s", path, why);
  }
  TSL_TRY(err);
  if (value == NULL) goto done;
  if (value->kind != TSL_NODE_SCALAR && value->n == 0) goto done; /* absent stays absent */
  value->key = key->name;
  tsl_node_append(map, value);
done:
  return err;
}

/** All keys the user gave, in the user's order, so that the first error is the topmost. */
static tsl_err check_given(tsl_deck *deck, const tsl_node *map, const char *path,
                           const tsl_key *keys, tsl_node *given) {
  tsl_err err = TSL_OK;
  char name[TSL_DECK_PATH_MAX];
  tsl_node *value = NULL;
  for (const tsl_node *child = map->first; child != NULL; child = child->next) {
    const tsl_key *key = find_key(keys, child->key);
    if (key == NULL) return deck_bind_fail_unknown(deck, child, path, keys);
    TSL_TRY(check_value(deck, child, deck_bind_join(path, key->name, name), key, &value));
    value->key = key->name;
    tsl_node_append(given, value);
  }
done:
  return err;
}

static tsl_err check_map(tsl_deck *deck, const tsl_node *map, const char *path, const tsl_key *keys,
                         tsl_node **out) {
  tsl_err err = TSL_OK;
  char name[TSL_DECK_PATH_MAX];
  tsl_node *given = NULL, *copy = NULL;
  if (map->kind != TSL_NODE_MAP && !tsl_node_is_null(map))
    return fail_kind(deck, map, path, "a map (keys with values)");
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_MAP, map, &given));
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_MAP, map, out));
  TSL_TRY(check_given(deck, map, path, keys, given));
  for (; keys->name != NULL; keys++) {
    const tsl_node *value = tsl_node_find(given, keys->name);
    if (value != NULL) {
      TSL_TRY(tsl_node_new(&deck->arena, value->kind, value, &copy));
      *copy = *value;
      tsl_node_append(*out, copy);
    } else if (keys->standard == NULL) {
      TSL_NODE_FAIL(deck, map, "missing key '%s' in '%s' (%s)", keys->name, path,
                    keys->doc != NULL ? keys->doc : "required");
    } else {
      TSL_TRY(add_standard(deck, map, deck_bind_join(path, keys->name, name), keys, *out));
    }
  }
done:
  return err;
}

static tsl_err take_bound(tsl_deck *deck, const char *section, tsl_bound **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  TSL_TRY(tsl_arena_alloc(&deck->arena, 1, sizeof **out, &memory));
  *out = memory;
  TSL_TRY(tsl_arena_text(&deck->arena, section, strlen(section), &(*out)->section));
done:
  return err;
}

tsl_err tsl_deck_bind(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                      void *out) {
  tsl_err err = TSL_OK;
  const tsl_node *node = tsl_node_find(deck->root, section);
  tsl_node *empty = NULL, *checked = NULL;
  tsl_bound *bound = NULL;
  memset(out, 0, bytes);
  TSL_TRY(take_bound(deck, section, &bound));
  TSL_TRY(tsl_schema_create(deck, section, keys, bytes, &bound->schema));
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_MAP, deck->root, &empty));
  TSL_TRY(check_map(deck, node != NULL ? node : empty, section, keys, &checked));
  checked->key = bound->section;
  bound->node = checked;
  TSL_TRY(tsl_bound_load(deck, bound));
  if (deck->last_bound != NULL)
    deck->last_bound->next = bound;
  else
    deck->bound = bound;
  deck->last_bound = bound;
  if (bound->data != NULL) memcpy(out, bound->data, bytes);
done:
  return err;
}
