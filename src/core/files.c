/* What is read and what is to be written; each file to be written is held against all others. */
#include "files.h"

#include "file_name.h"
#include "memory.h"
#include "new_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_OUTPUTS = 64, MOST_LOST = 16, LOST_TEXT = 600 };

typedef struct input {
  dev_t device;
  ino_t inode;
  const char *what;
} input;

typedef struct output {
  tsl_file_kind kind;
  const char *key;
  char path[TSL_FILE_NAME_MAX + 1];
} output;

static struct {
  tsl_files_mode mode;
  input *inputs;
  int64_t n_inputs, room;
  output outputs[MOST_OUTPUTS];
  int n_outputs;
  char lost[MOST_LOST][LOST_TEXT];
  int n_lost;
} the_files;

void tsl_files_clear(void) {
  tsl_free(the_files.inputs);
  memset(&the_files, 0, sizeof the_files);
}

void tsl_files_mode_set(tsl_files_mode mode) {
  the_files.mode = mode;
}

bool tsl_files_replace(void) {
  return the_files.mode == TSL_FILES_REPLACE || the_files.mode == TSL_FILES_RESTART;
}

/* ------------------------------------------------------------------ inputs */

static const input *find_input(dev_t device, ino_t inode) {
  for (int64_t k = 0; k < the_files.n_inputs; k++)
    if (the_files.inputs[k].device == device && the_files.inputs[k].inode == inode)
      return &the_files.inputs[k];
  return NULL;
}

tsl_err tsl_files_read(int fd, const char *what) {
  tsl_err err = TSL_OK;
  struct stat at;
  if (fstat(fd, &at) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s cannot be looked at: %s", what, strerror(errno));
  if (find_input(at.st_dev, at.st_ino) != NULL) return TSL_OK;
  TSL_TRY(tsl_grow((void **)&the_files.inputs, the_files.n_inputs, 1, &the_files.room,
                   sizeof *the_files.inputs, "list of inputs"));
  the_files.inputs[the_files.n_inputs++] = (input){at.st_dev, at.st_ino, what};
done:
  return err;
}

/* ----------------------------------------------------------------- outputs */

/** Start an error of a file; a key of the deck stands before it already. */
static tsl_err refuse(const output *o, const char *text) {
  const bool of_deck = strchr(o->key, '.') != NULL;
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "%s%s'%s' %s", of_deck ? "" : o->key,
                  of_deck ? "" : " ", o->path, text);
}

static bool ends_in(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n >= m && strcmp(path + n - m, ending) == 0;
}

/** FILE.ckpt.N with any digits. */
static bool is_checkpoint(const char *path) {
  const char *at = path + strlen(path);
  while (at > path && isdigit((unsigned char)at[-1])) at--;
  return *at != '\0' && at - path >= 6 && memcmp(at - 6, ".ckpt.", 6) == 0;
}

static tsl_err check_name(const output *o) {
  const size_t n = strlen(o->path);
  if (n == 0 || o->path[n - 1] == '/') return refuse(o, "names no file");
  if (ends_in(o->path, ".part") || ends_in(o->path, ".tmp") || is_checkpoint(o->path))
    return refuse(o, "has an ending of unfinished files (.part, .tmp, .ckpt.N), which are replaced "
                     "and removed without asking; choose another name");
  return TSL_OK;
}

/** All names that are written or removed for a file are held against the inputs. */
static tsl_err check_inputs(const output *o) {
  static const char *const endings[] = {"",        ".part",       ".ckpt.0",
                                        ".ckpt.1", ".ckpt.0.tmp", ".ckpt.1.tmp"};
  const int n = o->kind == TSL_FILE_OUTPUT ? 6 : o->kind == TSL_FILE_BESIDE ? 2 : 1;
  for (int k = 0; k < n; k++) {
    char path[TSL_FILE_NAME_MAX + 16], text[200];
    struct stat at;
    const input *found = NULL;
    (void)snprintf(path, sizeof path, "%s%s", o->path, endings[k]);
    if (stat(path, &at) == 0) found = find_input(at.st_dev, at.st_ino);
    if (found == NULL) continue;
    (void)snprintf(text, sizeof text, "%s%s%sis %s; choose another name", k > 0 ? "needs FILE" : "",
                   endings[k], k > 0 ? ", which " : "", found->what);
    return refuse(o, text);
  }
  return TSL_OK;
}

static tsl_err check_others(const output *o) {
  char text[100];
  for (const output *other = the_files.outputs; other < o; other++) {
    if (!tsl_same_file(o->path, other->path)) continue;
    if (other->kind == TSL_FILE_OUTPUT) return refuse(o, "is the output file too");
    (void)snprintf(text, sizeof text, "is the file of %s too", other->key);
    return refuse(o, text);
  }
  return TSL_OK;
}

static bool may_replace(const output *o) {
  if (the_files.mode == TSL_FILES_RESTART) return strchr(o->key, '.') != NULL;
  return the_files.mode != TSL_FILES_NEW;
}

/** What is there under the file's own name. */
static tsl_err check_there(const output *o) {
  struct stat at;
  if (o->kind == TSL_FILE_GROWS || lstat(o->path, &at) != 0) return TSL_OK;
  if (S_ISLNK(at.st_mode)) return refuse(o, "is a link; give the file's own name");
  if (S_ISDIR(at.st_mode)) return refuse(o, "is a folder; add a file name");
  if (!S_ISREG(at.st_mode)) return refuse(o, "is there and is no regular file");
  if (o->kind == TSL_FILE_BESIDE && !may_replace(o))
    return refuse(o, "exists; choose another name, or --overwrite to replace it");
  return TSL_OK;
}

static tsl_err check_output(const output *o) {
  tsl_err err = TSL_OK;
  char text[200];
  TSL_TRY(check_name(o));
  TSL_TRY(check_inputs(o));
  TSL_TRY(check_others(o));
  TSL_TRY(check_there(o));
  if (o->kind != TSL_FILE_BESIDE) goto done;
  const int why = tsl_new_file_try(o->path);
  if (why == 0) goto done;
  (void)snprintf(text, sizeof text, "cannot be written: %s", strerror(why));
  TSL_TRY(refuse(o, text));
done:
  return err;
}

tsl_err tsl_files_write(tsl_file_kind kind, const char *key, const char *path) {
  tsl_err err = TSL_OK;
  if (strlen(path) > TSL_FILE_NAME_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: the name has %zu bytes; at most %d", key, strlen(path),
             TSL_FILE_NAME_MAX);
  if (the_files.n_outputs == MOST_OUTPUTS)
    TSL_FAIL(TSL_ERR_INTERNAL, "%s: more than %d files are to be written", key, MOST_OUTPUTS);
  output *o = &the_files.outputs[the_files.n_outputs++];
  *o = (output){.kind = kind, .key = key};
  (void)snprintf(o->path, sizeof o->path, "%s", path);
  err = check_output(o);
  if (err != TSL_OK) the_files.n_outputs--;
done:
  return err;
}

int tsl_files_named(void) {
  return the_files.n_outputs;
}

void tsl_files_unname(int n) {
  if (n < the_files.n_outputs) the_files.n_outputs = n;
}

tsl_err tsl_files_check(const tsl_deck *deck) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < the_files.n_outputs; k++) {
    const output *o = &the_files.outputs[k];
    err = check_output(o);
    if (err != TSL_OK && strchr(o->key, '.') != NULL) err = tsl_deck_blame(deck, o->key, err);
    TSL_TRY(err);
  }
done:
  return err;
}

/* -------------------------------------------------------------------- lost */

bool tsl_files_lose(const char *key, tsl_err err) {
  if (err == TSL_OK) return false;
  if (the_files.n_lost < MOST_LOST)
    (void)snprintf(the_files.lost[the_files.n_lost++], LOST_TEXT, "%s: %s", key, tsl_err_message());
  return true;
}

const char *tsl_files_lost(int n) {
  return n < the_files.n_lost ? the_files.lost[n] : NULL;
}

void tsl_files_make_folders(const char *path) {
  char folder[1024];
  (void)snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0777);
    *slash = '/';
  }
}
