/* Can the pictures be written? Asked before anything is computed. */
#include "fractal_family.h"

#include "files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool ends_in_png(const char *file) {
  const size_t n = strlen(file);
  return n > 4 && strcasecmp(file + n - 4, ".png") == 0;
}

/** Is there no plain file, or an empty one, or a PNG file? */
static bool may_replace(const char *file) {
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  unsigned char head[8];
  struct stat there;
  if (lstat(file, &there) != 0 || !S_ISREG(there.st_mode)) return true;
  FILE *stream = fopen(file, "rb");
  if (stream == NULL) return false;
  const size_t n = fread(head, 1, sizeof head, stream);
  (void)fclose(stream);
  return n == 0 || (n == sizeof head && memcmp(head, signature, sizeof head) == 0);
}

static tsl_err check_file(const tsl_deck *deck, const char *key, const char *file) {
  tsl_err err = TSL_OK;
  if (!ends_in_png(file)) TSL_DECK_FAIL(deck, key, "'%s' must end in .png", file);
  if (!may_replace(file))
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
