/* Basis sets by name or file. */
#include "xc_basis_own.h"

#include "deck.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAMES = 256, NAME_BYTES = 64 };
static const char suffix[] = ".nw";

/* Names of the sets of a folder, sorted. */
typedef struct names {
  char text[MOST_NAMES][NAME_BYTES];
  int64_t n;
} names;

static int by_name(const void *a, const void *b) {
  return strcasecmp(a, b);
}

/* Name of a set from the name of its file; false when it is none. */
static bool strip(const char *file, char name[NAME_BYTES]) {
  const size_t n = strlen(file), tail = sizeof suffix - 1;
  if (n <= tail || n - tail >= NAME_BYTES || strcmp(file + n - tail, suffix) != 0) return false;
  memcpy(name, file, n - tail);
  name[n - tail] = '\0';
  return true;
}

static tsl_err list_folder(const char *folder, names *list) {
  tsl_err err = TSL_OK;
  list->n = 0;
  DIR *dir = opendir(folder);
  const struct dirent *entry = NULL;
  if (dir == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "folder of basis sets '%s': %s", folder, strerror(errno));
  while (list->n < MOST_NAMES && (entry = readdir(dir)) != NULL)
    if (strip(entry->d_name, list->text[list->n])) list->n++;
  qsort(list->text, (size_t)list->n, NAME_BYTES, by_name);
done:
  if (dir != NULL) (void)closedir(dir);
  return err;
}

/* '*' of Pople's names cannot be in a portable file name: 6-31G* is 6-31Gs there. */
static void plain_name(const char *name, char out[NAME_BYTES]) {
  size_t k = 0;
  for (; name[k] != '\0' && k + 1 < NAME_BYTES; k++)
    out[k] = (char)(name[k] == '*' ? 's' : name[k]);
  out[k] = '\0';
}

static tsl_err xc_basis_find_fail_unknown(const char *name, const char *folder, const names *list) {
  const char *words[MOST_NAMES + 1];
  char text[1024] = "";
  for (int64_t k = 0; k < list->n; k++) {
    const size_t used = strlen(text);
    words[k] = list->text[k];
    (void)snprintf(text + used, sizeof text - used, "%s%s", k > 0 ? ", " : "", list->text[k]);
  }
  words[list->n] = NULL;
  const char *near = tsl_nearest_word(name, words);
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "unknown basis set '%s'%s%s%s; %s has %s; a file is named with its path (./NAME)",
                  name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                  near != NULL ? "'?" : "", folder, list->n > 0 ? text : "none");
}

static tsl_err find_path(const char *name, const char *folder, char path[1024]) {
  tsl_err err = TSL_OK;
  names *list = NULL;
  char plain[NAME_BYTES];
  int64_t k = 0;
  if (strlen(name) >= NAME_BYTES)
    TSL_FAIL(TSL_ERR_INPUT, "basis set: a name of more than %d characters", NAME_BYTES - 1);
  TSL_TRY(tsl_alloc(1, sizeof *list, "names of basis sets", (void **)&list));
  TSL_TRY(list_folder(folder, list));
  plain_name(name, plain);
  while (k < list->n && strcasecmp(list->text[k], plain) != 0) k++;
  if (k == list->n) TSL_TRY(xc_basis_find_fail_unknown(name, folder, list));
  if (snprintf(path, 1024, "%s/%s%s", folder, list->text[k], suffix) >= 1024)
    TSL_FAIL(TSL_ERR_INPUT, "folder of basis sets: a path of more than 1000 characters");
done:
  tsl_free(list);
  return err;
}

static tsl_err read_set(const char *name, const char *folder, bool fit, xc_set *set) {
  tsl_err err = TSL_OK;
  char path[1024], *text = NULL;
  int64_t bytes = 0;
  xc_set other = {0};
  const bool file = strchr(name, '/') != NULL || strchr(name, '.') != NULL;
  memset(set, 0, sizeof *set);
  if (!file) TSL_TRY(find_path(name, folder, path));
  TSL_TRY(table_file_load(file ? name : path, &text, &bytes));
  if (!xc_set_is_lio(text, bytes)) {
    TSL_TRY(xc_set_parse(name, text, bytes, set));
    goto done;
  }
  TSL_TRY(xc_set_parse_lio(name, text, bytes, fit ? &other : set, fit ? set : &other));
  if (fit && set->n == 0) { /* a file of one block an element */
    *set = other;
    other = (xc_set){0};
  }
done:
  xc_set_clear(&other);
  tsl_free(text);
  return err;
}

tsl_err xc_set_read(const char *name, const char *folder, xc_set *set) {
  return read_set(name, folder, false, set);
}

tsl_err xc_set_read_fitting(const char *name, const char *folder, xc_set *set) {
  return read_set(name, folder, true, set);
}
