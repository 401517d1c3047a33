/* Trees changed before they are checked: overrides, --set a.b=value; older forms. */
#include "deck_tree.h"

#include <string.h>

/** Put value under key, in place of what is there. */
static void deck_set_put(tsl_node *map, const char *key, tsl_node *value) {
  tsl_node *old = tsl_node_find(map, key);
  value->key = key;
  if (old == NULL) {
    tsl_node_append(map, value);
    return;
  }
  value->next = old->next;
  *old = *value; /* old keeps its place in the chain */
}

/** The map under key, made when it is absent or empty. */
static tsl_err deck_set_enter(tsl_deck *deck, tsl_node *map, const char *key, const tsl_node *at,
                              tsl_node **out) {
  tsl_err err = TSL_OK;
  char show[TSL_DECK_SHOW_MAX];
  *out = tsl_node_find(map, key);
  if (*out != NULL && (*out)->kind == TSL_NODE_MAP) goto done;
  if (*out != NULL && !tsl_node_is_null(*out))
    TSL_NODE_FAIL(deck, at, "'%s' is a %s, not a section", tsl_deck_show(key, show),
                  (*out)->kind == TSL_NODE_LIST ? "list" : "value");
  TSL_TRY(tsl_node_new(&deck->arena, TSL_NODE_MAP, at, out));
  deck_set_put(map, key, *out);
  *out = tsl_node_find(map, key);
done:
  return err;
}

tsl_err tsl_deck_override(tsl_deck *deck, int32_t set) {
  tsl_err err = TSL_OK;
  const tsl_node at = {.set = set, .line = 1, .column = 1};
  const char *text = deck->sets[set - 1], *equals = strchr(text, '='), *from = text;
  const char *key = NULL;
  tsl_node *map = deck->root, *value = NULL;
  if (equals == NULL) TSL_NODE_FAIL(deck, &at, "expected KEY=VALUE, as in tri.bins=400");
  TSL_TRY(tsl_yaml_read(deck, equals + 1, strlen(equals + 1), set, &value));
  if (value == NULL) TSL_TRY(tsl_node_scalar(&deck->arena, "", false, &at, &value));
  for (int depth = 0;; depth++) {
    const size_t n = strcspn(from, ".=");
    if (n == 0) TSL_NODE_FAIL(deck, &at, "a part of the key is empty");
    if (depth >= TSL_DECK_DEPTH_MAX / 2) TSL_NODE_FAIL(deck, &at, "nested deeper than 16");
    if (map->n >= TSL_DECK_KEYS_MAX) TSL_NODE_FAIL(deck, &at, "more than 1024 keys in one map");
    TSL_TRY(tsl_arena_text(&deck->arena, from, n, &key));
    from += n;
    if (from == equals) break;
    TSL_TRY(deck_set_enter(deck, map, key, &at, &map));
    from++;
  }
  deck_set_put(map, key, value);
done:
  return err;
}

bool tsl_deck_fold(tsl_deck *deck, const char *section, const char *key, const char *word) {
  tsl_node *map = tsl_node_find(deck->root, section), *last = NULL;
  const tsl_node *said = map != NULL ? tsl_node_find(map, key) : NULL;
  tsl_node *inner = map != NULL ? tsl_node_find(map, word) : NULL;
  if (said == NULL || said->kind != TSL_NODE_SCALAR || strcmp(said->text, word) != 0) return false;
  if (inner == NULL || inner->kind != TSL_NODE_MAP) return false;
  for (tsl_node *child = map->first; child != inner; child = child->next) last = child;
  if (last != NULL)
    last->next = inner->next;
  else
    map->first = inner->next;
  if (map->last == inner) map->last = last;
  map->n--;
  deck_set_put(map, key, inner);
  return true;
}
