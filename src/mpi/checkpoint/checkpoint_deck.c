/* Is a checkpoint of this deck? Resolved decks hold every key of a section in the same order. */
#include "checkpoint.h"

#include <stdio.h>
#include <string.h>

enum { DEEPEST = 16, PATH = 256 };

/* A walk through the lines of a deck. */
typedef struct walker {
  const char *at;   /* next line */
  const char *line; /* the present one, without what leads it; NULL: no more */
  int length;       /* of line */
  int depth;        /* 0: top level */
  char names[DEEPEST][TSL_NAME];
} walker;

static bool is_left_out(const walker *w) {
  return strcmp(w->names[0], "run") == 0 || strcmp(w->names[0], "output") == 0 ||
         strcmp(w->names[0], "title") == 0;
}

static void take_line(walker *w) {
  const char *end = strchr(w->at, '\n');
  const char *stop = end != NULL ? end : w->at + strlen(w->at);
  const char *colon = NULL;
  int indent = 0;
  while (w->at[indent] == ' ') indent++;
  w->line = w->at + indent;
  w->length = (int)(stop - w->line);
  w->depth = indent / 2 < DEEPEST ? indent / 2 : DEEPEST - 1;
  colon = memchr(w->line, ':', (size_t)w->length);
  (void)snprintf(w->names[w->depth], TSL_NAME, "%.*s",
                 colon != NULL ? (int)(colon - w->line) : w->length, w->line);
  w->at = end != NULL ? end + 1 : stop;
}

/* The next line that counts. */
static bool next_line(walker *w) {
  w->line = NULL;
  while (*w->at != '\0') {
    take_line(w);
    if (w->length > 0 && !is_left_out(w)) return true;
  }
  w->line = NULL;
  return false;
}

static void path_of(const walker *w, char path[PATH]) {
  size_t used = 0;
  path[0] = '\0';
  for (int k = 0; k <= w->depth && used < PATH; k++)
    used += (size_t)snprintf(path + used, PATH - used, "%s%s", k > 0 ? "." : "", w->names[k]);
}

static bool is_free(const walker *w, const char *const *free_keys) {
  char path[PATH];
  path_of(w, path);
  for (; free_keys != NULL && *free_keys != NULL; free_keys++)
    if (strcmp(path, *free_keys) == 0) return true;
  return false;
}

static void add_key(const walker *w, char *keys, size_t size) {
  char path[PATH];
  const size_t used = strlen(keys);
  path_of(w, path);
  if (used < size) (void)snprintf(keys + used, size - used, "%s%s", used > 0 ? ", " : "", path);
}

static bool same_key(const walker *a, const walker *b) {
  return a->depth == b->depth && strcmp(a->names[a->depth], b->names[b->depth]) == 0;
}

int tsl_checkpoint_differ(const char *deck, const char *other, const char *const *free_keys,
                          char *keys, size_t size) {
  walker a = {.at = deck}, b = {.at = other};
  int n = 0;
  keys[0] = '\0';
  for (;;) {
    const bool more = next_line(&a), others = next_line(&b);
    if (!more && !others) return n;
    if (more && others && same_key(&a, &b)) {
      if (a.length == b.length && memcmp(a.line, b.line, (size_t)a.length) == 0) continue;
      if (is_free(&a, free_keys)) continue;
      add_key(&a, keys, size);
      n++;
      continue;
    }
    /* A key that only one of them has; what follows cannot be told apart line by line. */
    add_key(more ? &a : &b, keys, size);
    return n + 1;
  }
}
