/* Plain text: what a terminal must not obey is not printed. */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 character at text, 1 to 4, and its number; 0: there is none. (RFC 3629) */
static int text_character(const unsigned char *text, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char c = text[0];
  const int n = c < 0x80                ? 1
                : c >= 0xf0 && c < 0xf8 ? 4
                : c >= 0xe0 && c < 0xf0 ? 3
                : c >= 0xc0 && c < 0xe0 ? 2
                                        : 0;
  *code = n < 2 ? c : c & (0xffU >> (n + 1));
  for (int k = 1; k < n; k++) {
    if ((text[k] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (text[k] & 0x3fU);
  }
  return n > 0 && *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? n
                                                                                               : 0;
}

static bool text_is_hidden(uint32_t code) {
  static const uint32_t ranges[][2] = {{0x00, 0x08},     {0x0b, 0x1f},      {0x7f, 0x9f},
                                       {0x61c, 0x61c},   {0x180e, 0x180e},  {0x200b, 0x200f},
                                       {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                       {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
    if (code >= ranges[r][0] && code <= ranges[r][1]) return true;
  return false;
}

void tsl_text_plain(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c != '\0';) {
    uint32_t code = 0;
    const int n = text_character(c, &code);
    if (n == 0 || text_is_hidden(code)) memset(c, '?', n == 0 ? 1 : (size_t)n);
    c += n == 0 ? 1 : n;
  }
}

void tsl_text_print(FILE *file, const char *text) {
  char piece[5];
  while (*text != '\0') {
    uint32_t code = 0;
    const int n = text_character((const unsigned char *)text, &code);
    memcpy(piece, text, n == 0 ? 1 : (size_t)n);
    piece[n == 0 ? 1 : n] = '\0';
    text += n == 0 ? 1 : n;
    tsl_text_plain(piece);
    (void)fputs(piece[0] == '\n' || piece[0] == '\t' ? " " : piece, file);
  }
}
