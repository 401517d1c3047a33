/* Files beside the output: can they be written, and writing them. */
#include "xc_family.h"

#include "file_name.h"
#include "files.h"
#include "new_file.h"

#include <stdio.h>
#include <string.h>

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

tsl_err xc_files_check_one(const tsl_deck *deck, const char *key, const char *ending,
                           const char *head, const char *file) {
  tsl_err err = TSL_OK;
  if (!tsl_ends_in(file, ending)) TSL_DECK_FAIL(deck, key, "'%s' must end in %s", file, ending);
  if (!tsl_may_replace(file, head, 64))
    TSL_DECK_FAIL(deck, key, "'%s' is there and does not begin with %s; it is not replaced", file,
                  head);
  TSL_TRY(tsl_deck_blame(deck, key, tsl_files_write(TSL_FILE_BESIDE, key, file)));
done:
  return err;
}

tsl_err xc_files_check(const tsl_deck *deck, const xc_deck *s) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < XC_N_FILES; f++)
    if (s->files[f] != NULL)
      TSL_TRY(xc_files_check_one(deck, kinds[f].key, kinds[f].ending, kinds[f].head, s->files[f]));
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

static tsl_err write_file(const kind *k, const xc_params *p, const xc_own *own, const char *name) {
  tsl_err err = TSL_OK;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(name, &file));
  TSL_TRY(k->write(p, own, file.stream));
done:
  return tsl_new_file_close(&file, err);
}

/** A file that cannot be written is lost, not the field. */
tsl_err xc_finish(tsl_problem *problem, const tsl_field_rows *store) {
  xc_own *own = xc_own_of(problem);
  const xc_params *p = xc_params_of(problem);
  (void)store;
  for (int f = 0; f < XC_N_FILES; f++)
    if (own->files[f] != NULL)
      (void)tsl_files_lose(kinds[f].key, write_file(&kinds[f], p, own, own->files[f]));
  return TSL_OK;
}
