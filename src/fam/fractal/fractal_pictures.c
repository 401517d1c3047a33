/* Can the pictures be written? Asked before anything is computed. */
#include "fractal_family.h"

#include "file_name.h"
#include "files.h"

#include <string.h>

static tsl_err check_file(const tsl_deck *deck, const char *key, const char *file) {
  static const char signature[] = "\x89PNG\r\n\x1a\n";
  tsl_err err = TSL_OK;
  if (!tsl_ends_in(file, ".png")) TSL_DECK_FAIL(deck, key, "'%s' must end in .png", file);
  if (!tsl_may_replace(file, signature, strlen(signature)))
    TSL_DECK_FAIL(deck, key, "'%s' is there and is no PNG file; it is not replaced", file);
  TSL_TRY(tsl_deck_blame(deck, key, tsl_files_write(TSL_FILE_BESIDE, key, file)));
done:
  return err;
}

static tsl_err check_sides(const tsl_deck *deck, const char *key, const fractal_deck *s) {
  tsl_err err = TSL_OK;
  const bool wide = s->xres > FRACTAL_PNG_MAX;
  if (wide || s->yres > FRACTAL_PNG_MAX)
    TSL_DECK_FAIL(deck, key,
                  "%lld %s: a PNG file has at most %lld; ask for fewer, or leave the picture out "
                  "(the HDF5 output has no such limit)",
                  (long long)(wide ? s->xres : s->yres), wide ? "columns" : "rows",
                  (long long)FRACTAL_PNG_MAX);
done:
  return err;
}

tsl_err fractal_check_pictures(const tsl_deck *deck, const fractal_deck *s) {
  tsl_err err = TSL_OK;
  static const char *const keys[2] = {"fractal.png", "fractal.binarised_png"};
  const char *const files[2] = {s->png, s->binarised_png};
  for (int f = 0; f < 2; f++) {
    if (files[f] == NULL) continue;
    TSL_TRY(check_sides(deck, keys[f], s));
    TSL_TRY(check_file(deck, keys[f], files[f]));
  }
done:
  return err;
}
