/* Decks: reading, asking, the resolved text. The steps are listed in deck_tree.h. */
#include "deck.h"
#include "deck_file.h"
#include "deck_tree.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- reading */

/** Read at most n bytes; *got says how many there were. */
static tsl_err read_bytes(int fd, const char *path, char *bytes, size_t n, size_t *got) {
  tsl_err err = TSL_OK;
  for (*got = 0; *got < n;) {
    const ssize_t part = read(fd, bytes + *got, n - *got);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) TSL_FAIL(TSL_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (part == 0) break;
    *got += (size_t)part;
  }
done:
  return err;
}

/** A whole regular file; free *text with tsl_free. */
static tsl_err read_file(const char *path, char **text, size_t *n_bytes) {
  tsl_err err = TSL_OK;
  struct stat status;
  void *memory = NULL;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
  if (fd < 0) TSL_FAIL(TSL_ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
  if (fstat(fd, &status) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s: cannot be looked at: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) TSL_FAIL(TSL_ERR_INPUT, "%s: not a regular file", path);
  if (status.st_size > TSL_DECK_BYTES_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld bytes; a deck has at most 16 MiB", path,
             (long long)status.st_size);
  TSL_TRY(tsl_files_read(fd, "the deck"));
  TSL_TRY(tsl_alloc(status.st_size + 1, 1, "deck", &memory));
  TSL_TRY(read_bytes(fd, path, memory, (size_t)status.st_size, n_bytes));
  *text = memory;
  memory = NULL;
done:
  if (fd >= 0) (void)close(fd);
  tsl_free(memory);
  return err;
}

/** Copy name, folder, text and overrides into the deck. */
static tsl_err keep(tsl_deck *deck, const char *text, const char *name, const char *const *sets) {
  tsl_err err = TSL_OK;
  const char *copy = NULL;
  void *memory = NULL;
  TSL_TRY(tsl_arena_text(&deck->arena, name, strlen(name), &deck->name));
  TSL_TRY(tsl_arena_alloc(&deck->arena, (int64_t)deck->n_bytes + 1, 1, &memory));
  deck->text = memory;
  if (deck->n_bytes > 0) memcpy(deck->text, text, deck->n_bytes);
  TSL_TRY(tsl_arena_alloc(&deck->arena, (int64_t)deck->n_sets + 1, sizeof *deck->sets, &memory));
  deck->sets = memory;
  for (int i = 0; i < deck->n_sets; i++) {
    TSL_TRY(tsl_arena_text(&deck->arena, sets[i], strlen(sets[i]), &copy));
    deck->sets[i] = copy;
  }
done:
  return err;
}

static tsl_err keep_folder(tsl_deck *deck, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return tsl_arena_text(&deck->arena, ".", 1, &deck->folder);
  return tsl_arena_text(&deck->arena, path, slash == path ? 1 : (size_t)(slash - path),
                        &deck->folder);
}

static tsl_err deck_parse(const char *text, size_t n_bytes, const char *name, const char *folder_of,
                          const char *const *sets, int n_sets, tsl_deck **out) {
  tsl_err err = TSL_OK;
  tsl_deck *deck = NULL;
  void *memory = NULL;
  *out = NULL;
  if (n_bytes > TSL_DECK_BYTES_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %zu bytes; a deck has at most 16 MiB", name, n_bytes);
  TSL_TRY(tsl_alloc(1, sizeof *deck, "deck", &memory));
  deck = memory;
  deck->n_bytes = n_bytes;
  deck->n_sets = n_sets;
  TSL_TRY(keep(deck, text, name, sets));
  TSL_TRY(keep_folder(deck, folder_of));
  TSL_TRY(tsl_yaml_read(deck, deck->text, n_bytes, 0, &deck->root));
  if (deck->root == NULL || tsl_node_is_null(deck->root))
    TSL_FAIL(TSL_ERR_INPUT, "%s:1:1: the deck is empty", name);
  if (deck->root->kind != TSL_NODE_MAP)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%d:%d: a deck is a map: lines of 'key: value'", name,
             (int)deck->root->line, (int)deck->root->column);
  for (int i = 0; i < n_sets; i++) TSL_TRY(tsl_deck_override(deck, i + 1));
  *out = deck;
done:
  if (err != TSL_OK) tsl_deck_destroy(&deck);
  return err;
}

tsl_err tsl_deck_parse(const char *text, size_t n_bytes, const char *name, const char *const *sets,
                       int n_sets, tsl_deck **out) {
  return deck_parse(text, n_bytes, name, "", sets, n_sets, out);
}

tsl_err tsl_deck_read(const char *path, const char *const *sets, int n_sets, tsl_deck **out) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  size_t n_bytes = 0;
  *out = NULL;
  TSL_TRY(read_file(path, &text, &n_bytes));
  TSL_TRY(deck_parse(text, n_bytes, path, path, sets, n_sets, out));
done:
  tsl_free(text);
  return err;
}

void tsl_deck_destroy(tsl_deck **deck) {
  if (deck == NULL || *deck == NULL) return;
  for (tsl_bound *bound = (*deck)->bound; bound != NULL; bound = bound->next)
    tsl_bound_clear(bound);
  tsl_arena_clear(&(*deck)->arena);
  tsl_free(*deck);
  *deck = NULL;
}

/* ----------------------------------------------------------------- asking */

const char *tsl_deck_text(const tsl_deck *deck) {
  return deck->text;
}

tsl_err tsl_deck_path(const tsl_deck *deck, const char *file, char **path) {
  tsl_err err = TSL_OK;
  const size_t bytes = strlen(deck->folder) + strlen(file) + 2;
  TSL_TRY(tsl_alloc((int64_t)bytes, 1, "path", (void **)path));
  if (file[0] == '/')
    (void)snprintf(*path, bytes, "%s", file);
  else
    (void)snprintf(*path, bytes, "%s/%s", deck->folder, file);
done:
  return err;
}

const char *tsl_deck_title(const tsl_deck *deck) {
  const tsl_node *title = tsl_node_find(deck->root, "title");
  if (title == NULL || title->kind != TSL_NODE_SCALAR || tsl_node_is_null(title)) return "";
  return title->text;
}

/** Member number n of a list, NULL when there is none. */
static const tsl_node *follow_index(const tsl_node *node, int64_t n) {
  if (node->kind != TSL_NODE_LIST) return NULL;
  node = node->first;
  for (; n > 0 && node != NULL; n--) node = node->next;
  return node;
}

/** Follow "tri.input.file" or "dp.data[2].name" as far as it goes; *whole says whether to its end.
 */
static const tsl_node *follow(const tsl_deck *deck, const char *path, bool *whole) {
  const tsl_node *node = deck->root;
  char key[TSL_DECK_PATH_MAX];
  for (*whole = false; !*whole; path++) {
    const size_t n = strcspn(path, ".[");
    if (n >= sizeof key) return node;
    memcpy(key, path, n);
    key[n] = '\0';
    const tsl_node *next = tsl_node_find(node, key);
    for (path += n; next != NULL && *path == '['; path += *path == ']') {
      node = next;
      next = follow_index(node, strtoll(path + 1, NULL, 10));
      path += strcspn(path, "]");
    }
    if (next == NULL) return node;
    node = next;
    *whole = *path == '\0';
  }
  return node;
}

bool tsl_deck_given(const tsl_deck *deck, const char *path) {
  bool whole = false;
  (void)follow(deck, path, &whole);
  return whole;
}

bool tsl_deck_given_in(const tsl_deck *deck, const char *map, const char *key) {
  char path[104];
  (void)snprintf(path, sizeof path, "%s.%s", map, key);
  return tsl_deck_given(deck, path);
}

void tsl_deck_place(const tsl_deck *deck, const char *path, char *text, size_t size) {
  bool whole = false;
  tsl_node_place(deck, follow(deck, path, &whole), text, size);
  const size_t used = strlen(text);
  (void)snprintf(text + used, size - used, ": %s", path);
}

tsl_err tsl_deck_fail(const tsl_deck *deck, tsl_err code, const char *path, const char *file,
                      int line, const char *fmt, ...) {
  char what[TSL_ERR_MESSAGE_MAX - 128];
  bool whole = false;
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  (void)tsl_node_fail(deck, follow(deck, path, &whole), file, line, "%s: %s", path, what);
  return code;
}

tsl_err tsl_deck_blame(const tsl_deck *deck, const char *path, tsl_err err) {
  char why[TSL_ERR_MESSAGE_MAX];
  if (err == TSL_OK) return err;
  (void)snprintf(why, sizeof why, "%s", tsl_err_message());
  return tsl_deck_fail(deck, err, path, __FILE__, __LINE__, "%s", why);
}

/* -------------------------------------------------------------- top level */

static tsl_err find_family(const tsl_deck *deck, const char *const *families, int *family) {
  tsl_err err = TSL_OK;
  static const char *const key[] = {"family", NULL};
  char advice[1024], show[TSL_DECK_SHOW_MAX];
  const tsl_node *node = tsl_node_find(deck->root, key[0]);
  for (const tsl_node *other = deck->root->first; node == NULL && other != NULL;
       other = other->next)
    if (tsl_nearest_word(other->key, key) != NULL)
      TSL_NODE_FAIL(deck, other, "unknown key '%s'; did you mean 'family'?",
                    tsl_deck_show(other->key, show));
  if (node == NULL)
    TSL_NODE_FAIL(deck, deck->root, "missing key 'family'%s",
                  tsl_deck_advice("", families, sizeof advice, advice));
  if (node->kind != TSL_NODE_SCALAR || tsl_node_is_null(node))
    TSL_NODE_FAIL(deck, node, "family: expected a word, got %s", tsl_value_got(node, show));
  for (*family = 0; families[*family] != NULL; (*family)++)
    if (strcmp(families[*family], node->text) == 0) return TSL_OK;
  TSL_NODE_FAIL(deck, node, "family: unknown word '%s'%s", tsl_deck_show(node->text, show),
                tsl_deck_advice(node->text, families, sizeof advice, advice));
done:
  return err;
}

static tsl_err check_top(const tsl_deck *deck, const tsl_node *node, const char *const *words,
                         const char *const *families) {
  tsl_err err = TSL_OK;
  char advice[1024], show[TSL_DECK_SHOW_MAX];
  int i = 0;
  while (words[i] != NULL && strcmp(words[i], node->key) != 0) i++;
  for (int f = 0; words[i] == NULL && families[f] != NULL; f++)
    if (strcmp(families[f], node->key) == 0)
      TSL_NODE_FAIL(deck, node, "section '%s' does not belong to family '%s'; remove one of them",
                    node->key, words[4]);
  if (words[i] == NULL)
    TSL_NODE_FAIL(deck, node, "unknown section '%s'%s", tsl_deck_show(node->key, show),
                  tsl_deck_advice(node->key, words, sizeof advice, advice));
  if (i < 2 && node->kind != TSL_NODE_SCALAR)
    TSL_NODE_FAIL(deck, node, "%s: expected a text, got %s", node->key, tsl_value_got(node, show));
  if (i == 1 && !tsl_node_is_null(node) && strlen(node->text) > TSL_DECK_TITLE_MAX)
    TSL_NODE_FAIL(deck, node, "title: %zu bytes; at most %d", strlen(node->text),
                  TSL_DECK_TITLE_MAX);
  if (i >= 2 && node->kind != TSL_NODE_MAP && !tsl_node_is_null(node))
    TSL_NODE_FAIL(deck, node, "%s: expected a map (keys with values), got %s", node->key,
                  tsl_value_got(node, show));
done:
  return err;
}

tsl_err tsl_deck_top(tsl_deck *deck, const char *const *families, int *family) {
  tsl_err err = TSL_OK;
  TSL_TRY(find_family(deck, families, family));
  const char *const words[] = {"family", "title", "run", "output", families[*family], NULL};
  for (const tsl_node *node = deck->root->first; node != NULL; node = node->next)
    TSL_TRY(check_top(deck, node, words, families));
done:
  return err;
}

tsl_err tsl_deck_sections(const tsl_deck *deck, const char *const *sections) {
  tsl_err err = TSL_OK;
  char advice[1024], show[TSL_DECK_SHOW_MAX];
  for (const tsl_node *node = deck->root->first; node != NULL; node = node->next) {
    int i = 0;
    while (sections[i] != NULL && strcmp(sections[i], node->key) != 0) i++;
    if (sections[i] == NULL)
      TSL_NODE_FAIL(deck, node, "unknown section '%s'%s", tsl_deck_show(node->key, show),
                    tsl_deck_advice(node->key, sections, sizeof advice, advice));
  }
done:
  return err;
}

/* --------------------------------------------------------------- resolved */

/** Append a copy of node to map: a node is in one chain only. */
static tsl_err append_copy(tsl_arena *arena, tsl_node *map, const tsl_node *node) {
  tsl_err err = TSL_OK;
  tsl_node *copy = NULL;
  TSL_TRY(tsl_node_new(arena, node->kind, node, &copy));
  *copy = *node;
  if (copy->kind == TSL_NODE_SCALAR) copy->quoted = true;
  tsl_node_append(map, copy);
done:
  return err;
}

tsl_err tsl_deck_resolved(const tsl_deck *deck, char **text) {
  static const char *const words[] = {"family", "title"};
  tsl_err err = TSL_OK;
  tsl_arena arena = {NULL};
  tsl_node *map = NULL;
  size_t n_bytes = 0;
  *text = NULL;
  TSL_TRY(tsl_node_new(&arena, TSL_NODE_MAP, NULL, &map));
  for (int i = 0; i < 2; i++) {
    const tsl_node *node = tsl_node_find(deck->root, words[i]);
    if (node != NULL && node->kind == TSL_NODE_SCALAR && !tsl_node_is_null(node))
      TSL_TRY(append_copy(&arena, map, node));
  }
  for (const tsl_bound *bound = deck->bound; bound != NULL; bound = bound->next)
    if (tsl_node_find(map, bound->section) == NULL) TSL_TRY(append_copy(&arena, map, bound->node));
  TSL_TRY(tsl_yaml_write(map, text, &n_bytes));
done:
  tsl_arena_clear(&arena);
  return err;
}
