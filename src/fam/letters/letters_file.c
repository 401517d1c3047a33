/* Whole files of letters in memory. */
#include "letters_file.h"

#include "memory.h"
#include "table_read.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

tsl_err letters_file_read(FILE *file, const char *path, int64_t lo, int64_t hi, char *to) {
  tsl_err err = TSL_OK;
  while (lo < hi) {
    const ssize_t got = pread(fileno(file), to, (size_t)(hi - lo), (off_t)lo);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      TSL_FAIL(TSL_ERR_IO, "cannot read '%s': %s", path, got < 0 ? strerror(errno) : "shrinking");
    lo += got, to += got;
  }
done:
  return err;
}

bool letters_is_packed(const char *bytes, int64_t n) {
  return n >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

tsl_err letters_file_load(const char *path, letters_file *out) {
  tsl_err err = TSL_OK;
  char *bytes = NULL;
  int64_t n = 0;
  *out = (letters_file){.bytes = NULL};
  TSL_TRY(table_file_load(path, &bytes, &n));
  out->packed = letters_is_packed(bytes, n);
  if (out->packed) {
    TSL_TRY(letters_unpack(path, bytes, n, &out->bytes, &out->n));
  } else {
    out->bytes = bytes, out->n = n;
    bytes = NULL;
  }
done:
  tsl_free(bytes);
  return err;
}

void letters_file_clear(letters_file *file) {
  tsl_free(file->bytes);
  *file = (letters_file){.bytes = NULL};
}

const char *letters_shown_file(const char *file, char shown[104]) {
  const size_t length = strlen(file), skipped = length > 100 ? length - 97 : 0;
  int n = snprintf(shown, 104, "%s%s", skipped > 0 ? "..." : "", file + skipped);
  for (int k = 0; k < n; k++)
    if (!isprint((unsigned char)shown[k])) shown[k] = '?';
  return shown;
}
