/* A token: read from a file that is its owner's alone, looked for in the text of INIT. */
#include "xc_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_of_token(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != '\0' && strchr("-_.+/=", c) != NULL);
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Of [at, at + n), without blanks at both ends. */
static const char *trim(const char *at, int64_t *n) {
  while (*n > 0 && is_blank(at[*n - 1])) --*n;
  while (*n > 0 && is_blank(*at)) at++, --*n;
  return at;
}

tsl_err xc_token_read(const char *path, char token[XC_TOKEN_MOST + 1]) {
  enum { ROOM = XC_TOKEN_MOST + 64 };
  tsl_err err = TSL_OK;
  char text[ROOM];
  struct stat about;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) TSL_FAIL(TSL_ERR_INPUT, "%s: %s", path, strerror(errno));
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
    TSL_FAIL(TSL_ERR_INPUT, "%s: is no plain file", path);
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: others may read or write it; chmod 600", path);
  int64_t n = read(fd, text, sizeof text);
  if (n < 0) TSL_FAIL(TSL_ERR_INPUT, "%s: %s", path, strerror(errno));
  const char *word = trim(text, &n);
  bool good = n >= XC_TOKEN_LEAST && n <= XC_TOKEN_MOST;
  for (int64_t k = 0; good && k < n; k++) good = is_of_token(word[k]);
  if (!good)
    TSL_FAIL(TSL_ERR_INPUT, "%s: a word of %d to %d letters, digits and -_.+/= is expected", path,
             XC_TOKEN_LEAST, XC_TOKEN_MOST);
  memcpy(token, word, (size_t)n);
  token[n] = '\0';
done:
  if (fd >= 0) (void)close(fd);
  return err;
}

/* As long as what is shown takes, wherever it differs. */
static bool is_equal(const char *shown, int64_t n, const char *token) {
  const size_t length = strlen(token);
  unsigned off = (size_t)n != length;
  for (int64_t k = 0; k < n; k++) off |= (unsigned char)(shown[k] ^ token[(size_t)k % length]);
  return off == 0;
}

bool xc_token_shown(const char *text, int64_t n, const char *token, bool *named) {
  static const char key[] = "token";
  bool right = false;
  *named = false;
  for (int64_t at = 0; at < n;) {
    const char *comma = memchr(text + at, ',', (size_t)(n - at));
    const int64_t length = comma != NULL ? comma - (text + at) : n - at;
    const char *colon = memchr(text + at, ':', (size_t)length);
    if (colon != NULL) {
      int64_t words = colon - (text + at), rest = length - words - 1;
      const char *name = trim(text + at, &words);
      const char *value = trim(colon + 1, &rest);
      if (words == (int64_t)sizeof key - 1 && memcmp(name, key, sizeof key - 1) == 0) {
        *named = true;
        right = is_equal(value, rest, token) || right;
      }
    }
    at += length + 1;
  }
  return right;
}
