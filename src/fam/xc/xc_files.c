/* Files beside the output: can they be written, and writing them. */
#include "xc_family.h"

#include "file_name.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/** A kind of file: its key, its ending, and what stands near the beginning of one. */
typedef struct kind {
  const char *key, *ending, *head;
  tsl_err (*write)(const xc_params *p, const xc_own *own, FILE *file);
} kind;

static const kind kinds[XC_N_FILES] = {
    [XC_FILE_MOLDEN] = {"xc.molden", ".molden", "[Molden Format]", xc_molden_write},
    [XC_FILE_QCSCHEMA] = {"xc.qcschema", ".json", "\"qcschema_output\"", xc_qcschema_write},
};

/* -------------------------------------------------------------------- before */

static bool ends_in(const char *file, const char *ending) {
  const size_t n = strlen(file), m = strlen(ending);
  return n > m && strcasecmp(file + n - m, ending) == 0;
}

/** Empty, or a file of this kind. */
static bool may_replace(const char *file, const kind *k) {
  char head[65] = "";
  FILE *stream = fopen(file, "rb");
  if (stream == NULL) return false;
  const size_t n = fread(head, 1, sizeof head - 1, stream);
  (void)fclose(stream);
  return n == 0 || strstr(head, k->head) != NULL;
}

static bool part_name(const char *file, char part[PATH_MAX]) {
  return snprintf(part, PATH_MAX, "%s.part", file) < PATH_MAX;
}

/** Can FILE.part be written? @return 0, or why not */
static int try_part(const char *file) {
  char part[PATH_MAX];
  return part_name(file, part) ? tsl_try_write(part) : ENAMETOOLONG;
}

static tsl_err check_file(const tsl_deck *deck, const kind *k, const char *file) {
  tsl_err err = TSL_OK;
  struct stat there;
  if (!ends_in(file, k->ending))
    TSL_DECK_FAIL(deck, k->key, "'%s' must end in %s", file, k->ending);
  if (stat(file, &there) == 0) {
    if (!S_ISREG(there.st_mode))
      TSL_DECK_FAIL(deck, k->key, "'%s' is there and is no regular file", file);
    if (!may_replace(file, k))
      TSL_DECK_FAIL(deck, k->key, "'%s' is there and does not begin with %s; it is not replaced",
                    file, k->head);
  }
  const int why = try_part(file);
  if (why != 0) TSL_DECK_FAIL(deck, k->key, "'%s' cannot be written: %s", file, strerror(why));
done:
  return err;
}

tsl_err xc_files_check(const tsl_deck *deck, const xc_deck *s, const char *output) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < XC_N_FILES; f++) {
    const char *file = s->files[f];
    if (file == NULL) continue;
    if (output != NULL && tsl_same_file(file, output))
      TSL_DECK_FAIL(deck, kinds[f].key, "'%s' is the output file too", file);
    if (s->molecule.json != NULL && tsl_same_file(file, s->molecule.json))
      TSL_DECK_FAIL(deck, kinds[f].key, "'%s' is the molecule's file too", file);
    TSL_TRY(check_file(deck, &kinds[f], file));
  }
done:
  return err;
}

tsl_err xc_files_keep(const xc_deck *s, xc_own *own) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < XC_N_FILES; f++) {
    if (s->files[f] == NULL) continue;
    const size_t bytes = strlen(s->files[f]) + 1;
    TSL_TRY(tsl_alloc((int64_t)bytes, 1, "file name", (void **)&own->files[f]));
    memcpy(own->files[f], s->files[f], bytes);
  }
done:
  return err;
}

/* --------------------------------------------------------------------- after */

/** Write FILE.part and give it its name when it is whole. */
static tsl_err write_file(const kind *k, const xc_params *p, const xc_own *own, const char *name) {
  tsl_err err = TSL_OK;
  char part[PATH_MAX];
  FILE *file = NULL;
  (void)part_name(name, part); /* its length was checked */
  file = fopen(part, "wb");
  if (file == NULL) TSL_FAIL(TSL_ERR_IO, "%s: %s", part, strerror(errno));
  TSL_TRY(k->write(p, own, file));
  if (fflush(file) != 0 || ferror(file) || fsync(fileno(file)) != 0)
    TSL_FAIL(TSL_ERR_IO, "%s: %s", part, strerror(errno));
  if (rename(part, name) != 0) TSL_FAIL(TSL_ERR_IO, "%s: %s", name, strerror(errno));
done:
  if (file != NULL) (void)fclose(file);
  if (err != TSL_OK && file != NULL) (void)unlink(part);
  return err;
}

tsl_err xc_finish(tsl_problem *problem, const tsl_store *store) {
  tsl_err err = TSL_OK;
  const xc_own *own = xc_own_of(problem);
  (void)store;
  for (int f = 0; f < XC_N_FILES; f++)
    if (own->files[f] != NULL)
      TSL_TRY(write_file(&kinds[f], xc_params_of(problem), own, own->files[f]));
done:
  return err;
}
