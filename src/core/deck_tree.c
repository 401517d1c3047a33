/* The tree of a deck: its arena, its nodes, error messages with file and line, and the nearest
 * known word to a misspelt one. */
#include "deck_tree.h"

#include "text.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 16384, ALIGN = 16, WORD_MAX = 64 };

typedef struct tsl_arena_block {
  struct tsl_arena_block *next;
  int64_t used, size;
  _Alignas(16) char data[];
} tsl_arena_block;

tsl_err tsl_arena_alloc(tsl_arena *arena, int64_t count, size_t size, void **out) {
  tsl_err err = TSL_OK;
  tsl_arena_block *block = arena->blocks;
  int64_t bytes = 0;
  void *memory = NULL;
  *out = NULL;
  if (!tsl_mul_i64(count, (int64_t)size, &bytes) || !tsl_add_i64(bytes, ALIGN, &bytes))
    TSL_FAIL(TSL_ERR_MEMORY, "deck: %lld elements of %zu bytes are too many", (long long)count,
             size);
  bytes = bytes / ALIGN * ALIGN;
  if (block == NULL || block->size - block->used < bytes) {
    const int64_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    TSL_TRY(tsl_alloc(room + (int64_t)sizeof *block, 1, "deck", &memory));
    block = memory;
    block->size = room;
    block->next = arena->blocks;
    arena->blocks = block;
  }
  *out = block->data + block->used;
  block->used += bytes;
done:
  return err;
}

tsl_err tsl_arena_text(tsl_arena *arena, const char *text, size_t n_bytes, const char **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  TSL_TRY(tsl_arena_alloc(arena, (int64_t)n_bytes + 1, 1, &memory));
  if (n_bytes > 0) memcpy(memory, text, n_bytes);
  *out = memory;
done:
  return err;
}

void tsl_arena_clear(tsl_arena *arena) {
  while (arena->blocks != NULL) {
    tsl_arena_block *next = arena->blocks->next;
    tsl_free(arena->blocks);
    arena->blocks = next;
  }
}

tsl_err tsl_node_new(tsl_arena *arena, tsl_node_kind kind, const tsl_node *at, tsl_node **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  tsl_node *node = NULL;
  TSL_TRY(tsl_arena_alloc(arena, 1, sizeof *node, &memory));
  node = memory;
  node->kind = kind;
  node->set = at != NULL ? at->set : 0;
  node->line = at != NULL ? at->line : 1;
  node->column = at != NULL ? at->column : 1;
  *out = node;
done:
  return err;
}

tsl_err tsl_node_scalar(tsl_arena *arena, const char *text, bool quoted, const tsl_node *at,
                        tsl_node **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_node_new(arena, TSL_NODE_SCALAR, at, out));
  (*out)->quoted = quoted;
  TSL_TRY(tsl_arena_text(arena, text, strlen(text), &(*out)->text));
done:
  return err;
}

void tsl_node_append(tsl_node *parent, tsl_node *child) {
  child->next = NULL;
  if (parent->last != NULL)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->n++;
}

tsl_node *tsl_node_find(const tsl_node *map, const char *key) {
  if (map == NULL || map->kind != TSL_NODE_MAP) return NULL;
  for (tsl_node *node = map->first; node != NULL; node = node->next)
    if (strcmp(node->key, key) == 0) return node;
  return NULL;
}

bool tsl_node_is_null(const tsl_node *node) {
  static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
  if (node->kind != TSL_NODE_SCALAR || node->quoted) return false;
  for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
    if (strcmp(node->text, nothing[i]) == 0) return true;
  return false;
}

void tsl_node_place(const tsl_deck *deck, const tsl_node *node, char *text, size_t size) {
  char show[TSL_DECK_SHOW_MAX];
  if (node != NULL && node->set > 0)
    (void)snprintf(text, size, "--set %s", tsl_deck_show(deck->sets[node->set - 1], show));
  else
    (void)snprintf(text, size, "%s:%d", deck->name, node != NULL ? (int)node->line : 1);
}

tsl_err tsl_node_fail(const tsl_deck *deck, const tsl_node *node, const char *file, int line,
                      const char *fmt, ...) {
  char what[TSL_ERR_MESSAGE_MAX], place[TSL_ERR_MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  tsl_node_place(deck, node, place, sizeof place);
  return tsl_fail(TSL_ERR_INPUT, file, line, "%s: %s", place, what);
}

const char *tsl_deck_show(const char *text, char out[TSL_DECK_SHOW_MAX]) {
  const int n = (int)strnlen(text, TSL_DECK_SHOW_MAX - 4);
  (void)snprintf(out, TSL_DECK_SHOW_MAX, "%.*s%s", n, text, text[n] != '\0' ? "..." : "");
  for (char *c = out; *c != '\0'; c++)
    if (*c == '\n' || *c == '\t') *c = '?';
  tsl_text_plain(out);
  return out;
}

static int min3(int a, int b, int c) {
  const int ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/** Edits (insert, delete, replace, swap neighbours) from a to b, each at most WORD_MAX long. */
static int edit_distance(const char *a, const char *b) {
  int rows[3][WORD_MAX + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  const int n = (int)strlen(a), m = (int)strlen(b);
  for (int j = 0; j <= m; j++) before[j] = above[j] = j;
  for (int i = 1; i <= n; i++) {
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = min3(row[j], row[j], before[j - 2] + 1);
    }
    int *const free_row = before;
    before = above, above = row, row = free_row;
  }
  return above[m];
}

/** The one word that begins so, as --output does with --out; NULL: none, or several. */
static const char *begun_word(const char *word, const char *const *words) {
  const size_t dashes = strspn(word, "-"), length = strlen(word);
  const char *found = NULL;
  if (length - dashes < 2) return NULL;
  for (; *words != NULL; words++) {
    if (strncmp(word, *words, length) != 0) continue;
    if (found != NULL) return NULL;
    found = *words;
  }
  return found;
}

const char *tsl_nearest_word(const char *word, const char *const *words) {
  const size_t length = strlen(word);
  const char *nearest = begun_word(word, words);
  if (nearest != NULL) return nearest;
  if (length == 0 || length > WORD_MAX) return NULL;
  int limit = length / 3 > 2 ? (int)(length / 3) : 2;
  if (limit >= (int)length) limit = (int)length - 1; /* nothing in common is not near */
  for (; *words != NULL; words++) {
    if (strlen(*words) > WORD_MAX) continue;
    const int distance = edit_distance(word, *words);
    if (distance > limit) continue;
    nearest = *words;
    limit = distance - 1;
  }
  return nearest;
}

const char *tsl_deck_advice(const char *word, const char *const *words, size_t size, char *out) {
  const char *nearest = tsl_nearest_word(word, words);
  size_t used = 0;
  out[0] = '\0';
  if (nearest != NULL) (void)snprintf(out, size, "; did you mean '%s'?", nearest);
  for (int i = 0; words[i] != NULL && (used = strlen(out)) + 1 < size; i++)
    (void)snprintf(out + used, size - used, "%s%s", i == 0 ? " (allowed: " : ", ", words[i]);
  used = strlen(out);
  if (words[0] != NULL) (void)snprintf(out + used, size - used, ")");
  return out;
}
