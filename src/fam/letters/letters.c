/* Alphabets: letters and their codes. */
#include "letters.h"

#include "fn.h"

#include <ctype.h>
#include <string.h>

/** An alphabet: its letters in the order of their codes, those of usual sequences first. */
typedef struct letter_set {
  const char *letters;
  int32_t usual;       /* codes that a problem has whatever its sequences are */
  int32_t plain;       /* letters that stand for one base or amino acid; bytes: to make up from */
  const char *plainly; /* what they are, for people */
} letter_set;

static const letter_set alphabets[] = {
    [LETTERS_BYTES] = {"", 256, 26, ""},
    [LETTERS_DNA] = {"ACGTNRYSWKMBDHVX", 5, 4, "A C G T"},
    [LETTERS_RNA] = {"ACGUNRYSWKMBDHVX", 5, 4, "A C G U"},
    [LETTERS_PROTEIN] = {"ARNDCQEGHILKMFPSTWYVBZX*UOJ", 24, 20, "the 20 amino acids"}};

const char *const letters_alphabet_words[] = {"bytes", "dna", "rna", "protein", NULL};

const char *letters_all(int32_t alphabet) {
  return alphabets[alphabet].letters;
}

char letters_char(int32_t alphabet, uint8_t code) {
  return alphabet == LETTERS_BYTES ? (char)code : alphabets[alphabet].letters[code];
}

void letters_spell(int32_t alphabet, const uint8_t *codes, int64_t n, char *characters) {
  const char *const letters = alphabets[alphabet].letters;
  for (int64_t k = 0; k < n; k++)
    characters[k] = alphabet == LETTERS_BYTES ? (char)codes[k] : letters[codes[k]];
}

int letters_code(int32_t alphabet, char character) {
  char letter = (char)toupper((unsigned char)character);
  const char *place;
  if (alphabet == LETTERS_BYTES) return (unsigned char)character;
  if (alphabet == LETTERS_DNA && letter == 'U') letter = 'T';
  if (alphabet == LETTERS_RNA && letter == 'T') letter = 'U';
  if (letter == '\0') return -1;
  place = strchr(alphabets[alphabet].letters, letter);
  return place != NULL ? (int)(place - alphabets[alphabet].letters) : -1;
}

enum { BLOCK = 64 /* letters that are encoded together */ };

/* Bits 1 and 2 tell the letters apart. Written without comparisons of several letters, which a
 * compiler makes a table of bits of, and no vectors. */
static inline void encode_block(const char *restrict characters, uint8_t *restrict codes,
                                uint8_t *restrict other) {
  for (int k = 0; k < BLOCK; k++) {
    const uint8_t c = (uint8_t)characters[k] & 0xdf; /* upper case */
    const uint8_t bits = c & 6;                      /* A 0, C 2, G 6, T and U 4 */
    const uint8_t is_t = bits == 4 ? 0xff : 0;
    const uint8_t letter = (uint8_t)((is_t & 'T') | (~is_t & ('A' | bits)));
    other[k] |= (uint8_t)((c & (is_t & 1 ? 0xfe : 0xff)) ^ letter);
    codes[k] = (uint8_t)((bits >> 1) ^ (bits >> 2));
  }
}

TSL_LEVELS bool letters_encode_plain(int32_t alphabet, const char *restrict characters, int64_t n,
                                     uint8_t *restrict codes) {
  uint8_t other[BLOCK] = {0}, any = 0, few_codes[BLOCK];
  char few[BLOCK];
  if (alphabet != LETTERS_DNA && alphabet != LETTERS_RNA) return false;
  for (int64_t k = 0; k < n - BLOCK; k += BLOCK) encode_block(characters + k, codes + k, other);
  if (n >= BLOCK) {
    encode_block(characters + n - BLOCK, codes + n - BLOCK, other); /* some of them once more */
  } else {
    memset(few, 'A', BLOCK);
    memcpy(few, characters, (size_t)n);
    encode_block(few, few_codes, other);
    memcpy(codes, few_codes, (size_t)n);
  }
  for (int b = 0; b < BLOCK; b++) any |= other[b];
  return any == 0;
}

int32_t letters_codes(int32_t alphabet, const uint8_t *codes, int64_t n) {
  int32_t size = alphabets[alphabet].usual;
  for (int64_t k = 0; k < n; k++)
    if (codes[k] >= size) size = codes[k] + 1;
  return size;
}

int32_t letters_plain(int32_t alphabet) {
  return alphabets[alphabet].plain;
}

TSL_LEVELS int64_t letters_others(int32_t alphabet, const uint8_t *codes, int64_t n) {
  enum { MANY = 192 }; /* counted in bytes, of which a vector has many: they cannot overflow */
  const uint8_t plain = (uint8_t)alphabets[alphabet].plain;
  int64_t others = 0;
  for (int64_t k = 0; k < n && alphabet != LETTERS_BYTES; k += MANY) {
    const uint8_t *block = codes + k;
    const int64_t m = n - k < MANY ? n - k : MANY;
    uint8_t some = 0;
    for (int64_t b = 0; b < m; b++) some += block[b] >= plain;
    others += some;
  }
  return others;
}

const char *letters_plainly(int32_t alphabet) {
  return alphabets[alphabet].plainly;
}
