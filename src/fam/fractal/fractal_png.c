/* PNG files row by row. libpng leaves a function by longjmp when it fails: each function that calls
 * it sets the way back first and keeps no changing locals. */
#include "fractal_family.h"

#include "new_file.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { EFFORT = 3 }; /* zlib level: twice as fast as the usual 6, files a tenth larger */

struct fractal_png {
  tsl_new_file file;
  png_structp png;
  png_infop info;
  int64_t columns;
  int number;       /**< errno of the write that failed */
  char reason[128]; /**< of libpng */
};

static void on_error(png_structp png, png_const_charp reason) {
  fractal_png *f = png_get_error_ptr(png);
  (void)snprintf(f->reason, sizeof f->reason, "%s", reason);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp reason) {
  (void)png, (void)reason; /* of odd metadata, which we do not write */
}

static void on_write(png_structp png, png_bytep bytes, size_t n) {
  fractal_png *f = png_get_io_ptr(png);
  if (fwrite(bytes, 1, n, f->file.stream) == n) return;
  f->number = errno;
  png_error(png, "write failed");
}

static void on_flush(png_structp png) {
  (void)png; /* the end of the file flushes */
}

/** The file's error from what was noted. */
static tsl_err fail(const fractal_png *f) {
  return tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "cannot write the picture '%s': %s", f->file.path,
                  f->number != 0 ? strerror(f->number) : f->reason);
}

/* ------------------------------------------------------------------ steps */

/* true: done. Run under setjmp alone, so that a jump skips nothing that must be freed. */
static bool try_head(fractal_png *f, int64_t rows, const uint8_t (*palette)[3]) {
  png_color colours[256];
  if (setjmp(png_jmpbuf(f->png))) return false;
  png_set_write_fn(f->png, f, on_write, on_flush);
  png_set_user_limits(f->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_compression_level(f->png, EFFORT);
  png_set_filter(f->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_IHDR(f->png, f->info, (png_uint_32)f->columns, (png_uint_32)rows, 8,
               palette != NULL ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (palette != NULL) {
    for (int c = 0; c < 256; c++)
      colours[c] = (png_color){palette[c][0], palette[c][1], palette[c][2]};
    png_set_PLTE(f->png, f->info, colours, 256);
  }
  png_write_info(f->png, f->info);
  return true;
}

static bool try_rows(const fractal_png *f, const uint8_t *pixels, int64_t n) {
  if (setjmp(png_jmpbuf(f->png))) return false;
  for (int64_t row = 0; row < n; row++) png_write_row(f->png, pixels + row * f->columns);
  return true;
}

static bool try_end(const fractal_png *f) {
  if (setjmp(png_jmpbuf(f->png))) return false;
  png_write_end(f->png, NULL);
  return true;
}

/* -------------------------------------------------------------- interface */

tsl_err fractal_png_open(const char *path, int64_t columns, int64_t rows,
                         const uint8_t (*palette)[3], fractal_png **out) {
  tsl_err err = TSL_OK;
  fractal_png *f = NULL;
  *out = NULL;
  if (columns < 1 || rows < 1 || columns > FRACTAL_PNG_MAX || rows > FRACTAL_PNG_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "'%s': %lld x %lld pixels; a PNG file has 1 to %lld along a side", path,
             (long long)columns, (long long)rows, (long long)FRACTAL_PNG_MAX);
  TSL_TRY(tsl_alloc(1, sizeof *f, "picture", (void **)&f));
  f->columns = columns;
  TSL_TRY(tsl_new_file_open(path, &f->file));
  f->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, f, on_error, on_warning);
  if (f->png != NULL) f->info = png_create_info_struct(f->png);
  if (f->info == NULL) TSL_FAIL(TSL_ERR_MEMORY, "picture '%s': libpng has no memory", path);
  if (!try_head(f, rows, palette)) TSL_TRY(fail(f));
  *out = f;
done:
  if (err != TSL_OK) fractal_png_discard(&f);
  return err;
}

tsl_err fractal_png_rows(fractal_png *png, const uint8_t *pixels, int64_t n) {
  tsl_err err = TSL_OK;
  if (!try_rows(png, pixels, n)) TSL_TRY(fail(png));
done:
  return err;
}

tsl_err fractal_png_close(fractal_png **png) {
  tsl_err err = TSL_OK;
  fractal_png *f = *png;
  if (!try_end(f)) TSL_TRY(fail(f));
  TSL_TRY(tsl_new_file_close(&f->file, TSL_OK));
done:
  fractal_png_discard(png);
  return err;
}

void fractal_png_discard(fractal_png **png) {
  fractal_png *f = *png;
  if (f == NULL) return;
  (void)tsl_new_file_close(&f->file, TSL_ERR_IO); /* nothing when it is closed */
  if (f->png != NULL) png_destroy_write_struct(&f->png, &f->info);
  tsl_free(f);
  *png = NULL;
}
