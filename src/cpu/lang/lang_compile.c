/** @file lang_compile.c  One compilation: a private folder, the arguments for a SIMD level, the
 * compiler as a child process. An object is loaded by dlopen from a memory file. */
#include "lang_compile.h"

#include "lang_cache.h"
#include "memory.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 4096, ARGS_MAX = 32, WORDS_MAX = 8, LOG_BYTES = 1500 };

struct lang_object {
  void *handle; /**< of dlopen */
  int fd;       /**< memory file; open, so that no other object gets its name */
  void *bytes;  /**< [n] */
  int64_t n;
};

/** A compilation: names and arguments. */
typedef struct job {
  char folder[PATH_BYTES - 128], text[PATH_BYTES], made[PATH_BYTES];
  char temporary[PATH_BYTES]; /**< "TMPDIR=..." of the compiler */
  char compiler[512];
  int work; /**< the folder, open */
  char *args[ARGS_MAX];
  int n_args;
} job;

/* -------------------------------------------------------------------- files */

/** A folder that only this process uses, in the cache's: all files of a compilation are there. */
static tsl_err make_work(job *j) {
  tsl_err err = TSL_OK;
  int cache = -1;
  TSL_TRY(lang_cache_folder(j->folder, sizeof j->folder - 128, &cache));
  (void)strcat(j->folder, "/work-XXXXXX");
  if (mkdtemp(j->folder) == NULL) {
    const int code = errno;
    *strrchr(j->folder, '/') = '\0';
    TSL_FAIL(TSL_ERR_IO, "no folder can be made in %s: %s; set XDG_CACHE_HOME to a folder of yours",
             j->folder, strerror(code));
  }
  j->work =
      openat(cache, strrchr(j->folder, '/') + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (j->work < 0) TSL_FAIL(TSL_ERR_IO, "%s: cannot be opened: %s", j->folder, strerror(errno));
  (void)snprintf(j->text, sizeof j->text, "%s/text.c", j->folder);
  (void)snprintf(j->made, sizeof j->made, "%s/object.so", j->folder);
  (void)snprintf(j->temporary, sizeof j->temporary, "TMPDIR=%s", j->folder);
done:
  if (cache >= 0) (void)close(cache);
  return err;
}

/** The folder and all that the compiler has left in it. */
static void remove_work(job *j) {
  DIR *const files = j->work >= 0 ? fdopendir(j->work) : NULL;
  for (struct dirent *f = NULL; files != NULL && (f = readdir(files)) != NULL;)
    (void)unlinkat(dirfd(files), f->d_name, 0);
  if (files != NULL)
    (void)closedir(files);
  else if (j->work >= 0)
    (void)close(j->work);
  if (j->work >= 0) (void)rmdir(j->folder);
  j->work = -1;
}

static tsl_err make_file(const job *j, const char *name, int *fd) {
  tsl_err err = TSL_OK;
  *fd = openat(j->work, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (*fd < 0) TSL_FAIL(TSL_ERR_IO, "%s/%s: cannot be made: %s", j->folder, name, strerror(errno));
done:
  return err;
}

/* ---------------------------------------------------------------- arguments */

static void add_arg(job *j, const char *word) {
  if (j->n_args < ARGS_MAX - 1) j->args[j->n_args++] = (char *)word;
}

/** The compiler's words and the flags; file names are added later. */
static void set_args(job *j, int level) {
  static const char *const flags[] = {"-x",
                                      "c",
                                      "-std=gnu11",
                                      "-O3",
                                      "-fPIC",
                                      "-w",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-shared",
                                      "-fno-trapping-math"};
  static const char *const levels[] = {"-march=native", "-march=native", "-march=x86-64-v2",
                                       "-march=x86-64-v3", "-march=x86-64-v4"};
  const char *cc = getenv("CC");
  char *rest = NULL;
  (void)snprintf(j->compiler, sizeof j->compiler, "%s", cc != NULL && cc[0] != '\0' ? cc : "cc");
  for (char *word = strtok_r(j->compiler, " \t", &rest); word != NULL && j->n_args < WORDS_MAX;
       word = strtok_r(NULL, " \t", &rest))
    add_arg(j, word);
  for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) add_arg(j, flags[f]);
#if defined(__x86_64__)
  add_arg(j, levels[level >= 2 && level <= 4 ? level : 0]);
  if (level == 4) add_arg(j, "-mprefer-vector-width=512");
#else
  (void)level;
  add_arg(j, levels[0]);
#endif
}

/* ---------------------------------------------------------------- compiling */

/** This process's environment with a TMPDIR that is as private as the rest. */
static tsl_err set_environment(const job *j, char ***out) {
  tsl_err err = TSL_OK;
  int64_t n = 0, kept = 0;
  while (environ[n] != NULL) n++;
  TSL_TRY(tsl_alloc(n + 2, sizeof **out, "environment of the compiler", (void **)out));
  for (int64_t k = 0; k < n; k++)
    if (strncmp(environ[k], "TMPDIR=", 7) != 0) (*out)[kept++] = environ[k];
  (*out)[kept] = (char *)j->temporary;
done:
  return err;
}

/** Run the compiler, its messages into the log; *status as of waitpid, -1: could not be started. */
static tsl_err run_compiler(const job *j, int log, int *status) {
  tsl_err err = TSL_OK;
  posix_spawn_file_actions_t actions;
  pid_t child = -1;
  char **environment = NULL;
  *status = -1;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return tsl_fail(TSL_ERR_MEMORY, __FILE__, __LINE__, "no memory to run a compiler");
  if (posix_spawn_file_actions_adddup2(&actions, log, 1) != 0 ||
      posix_spawn_file_actions_adddup2(&actions, log, 2) != 0 ||
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "no memory to run a compiler");
  TSL_TRY(set_environment(j, &environment));
  if (posix_spawnp(&child, j->args[0], &actions, NULL, j->args, environment) != 0) goto done;
  while (waitpid(child, status, 0) < 0)
    if (errno != EINTR) TSL_FAIL(TSL_ERR_IO, "the compiler was lost: %s", strerror(errno));
done:
  (void)posix_spawn_file_actions_destroy(&actions);
  tsl_free(environment);
  return err;
}

static tsl_err fail_compiler(const job *j, const lang_purpose *purpose, int log, int status) {
  char said[LOG_BYTES];
  const ssize_t n = pread(log, said, sizeof said - 1, 0);
  said[n > 0 ? n : 0] = '\0';
  if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                    "the %s must be compiled, but there is no compiler '%s' here; install "
                    "one, name it in CC%s run once where there is one%s",
                    purpose->what, j->args[0], purpose->without[0] == '\0' ? " or" : ",",
                    purpose->without);
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__,
                  "'%s' does not compile the %s (status %d): %s", j->args[0], purpose->what, status,
                  said);
}

static tsl_err compile(job *j, const char *text, const lang_purpose *purpose, void **bytes,
                       int64_t *n) {
  tsl_err err = TSL_OK;
  int source = -1, log = -1, status = 0;
  TSL_TRY(make_work(j));
  TSL_TRY(make_file(j, "text.c", &source));
  TSL_TRY(lang_write(source, text, (int64_t)strlen(text), j->text));
  TSL_TRY(make_file(j, "log", &log));
  add_arg(j, "-o");
  add_arg(j, j->made);
  add_arg(j, j->text);
  TSL_TRY(run_compiler(j, log, &status));
  if (status != 0) TSL_TRY(fail_compiler(j, purpose, log, status));
  /* Whatever the umask of the compiler. */
  if (fchmodat(j->work, "object.so", 0600, 0) != 0 && errno != ENOENT)
    TSL_FAIL(TSL_ERR_IO, "%s: cannot set its mode: %s", j->made, strerror(errno));
  TSL_TRY(lang_cache_read(j->work, "object.so", bytes, n));
  if (*bytes == NULL) TSL_FAIL(TSL_ERR_IO, "%s: the compiler left no object", j->made);
done:
  if (source >= 0) (void)close(source);
  if (log >= 0) (void)close(log);
  remove_work(j);
  return err;
}

/* ------------------------------------------------------------------ objects */

tsl_err lang_object_load(const void *bytes, int64_t n, lang_object **out) {
  tsl_err err = TSL_OK;
  lang_object *o = NULL;
  void *memory = NULL;
  char path[64];
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *o, "compiled object", &memory));
  o = memory;
  o->fd = memfd_create("tesela-compiled", MFD_CLOEXEC);
  if (o->fd < 0) TSL_FAIL(TSL_ERR_IO, "no memory file can be made: %s", strerror(errno));
  TSL_TRY(tsl_alloc(n, 1, "compiled object", &o->bytes));
  memcpy(o->bytes, bytes, (size_t)n);
  o->n = n;
  TSL_TRY(lang_write(o->fd, bytes, n, "memory file"));
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
  o->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (o->handle == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "the compiled code cannot be loaded: %s", dlerror());
  *out = o;
done:
  if (err != TSL_OK) lang_object_close(&o);
  return err;
}

/** What an object is made from: the text, the compiler and its flags. */
static tsl_err set_key(const job *j, const char *text, lang_cache_key *key) {
  tsl_err err = TSL_OK;
  TSL_TRY(lang_cache_add_text(key, text));
  for (int a = 0; a < j->n_args; a++) TSL_TRY(lang_cache_add_text(key, j->args[a]));
done:
  return err;
}

tsl_err lang_object_open(const char *text, int level, const lang_purpose *purpose,
                         lang_object **out) {
  tsl_err err = TSL_OK;
  job *j = NULL;
  lang_cache_key key = {0};
  void *memory = NULL, *bytes = NULL;
  int64_t n = 0;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *j, "compilation", &memory));
  j = memory;
  j->work = -1;
  set_args(j, level);
  if (j->n_args == 0) TSL_FAIL(TSL_ERR_INPUT, "CC is blank; name a compiler");
  TSL_TRY(set_key(j, text, &key));
  TSL_TRY(lang_cache_take(&key, ".so", &bytes, &n));
  if (bytes == NULL) {
    TSL_TRY(compile(j, text, purpose, &bytes, &n));
    TSL_TRY(lang_cache_keep(&key, ".so", bytes, n));
  }
  TSL_TRY(lang_object_load(bytes, n, out));
done:
  lang_cache_clear(&key);
  TSL_FREE_ALL(j, bytes);
  return err;
}

/* -------------------------------------------------------------------- using */

tsl_err lang_object_bytes(const lang_object *object, void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(object->n, 1, "compiled object", bytes));
  memcpy(*bytes, object->bytes, (size_t)object->n);
  *n = object->n;
done:
  return err;
}

tsl_err lang_object_find(const lang_object *object, const char *name, void **address) {
  tsl_err err = TSL_OK;
  *address = dlsym(object->handle, name);
  if (*address == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "the compiled code has no '%s'", name);
done:
  return err;
}

void lang_object_close(lang_object **object) {
  if (object == NULL || *object == NULL) return;
  if ((*object)->handle != NULL) (void)dlclose((*object)->handle);
  if ((*object)->fd > 0) (void)close((*object)->fd);
  TSL_FREE_ALL((*object)->bytes, *object);
  *object = NULL;
}
