/* Alphabets: letters and their codes. */
#include "letters.h"

#include "fn.h"

#include <ctype.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
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

/* ---- encoding */

letters_coder letters_coder_of(int32_t alphabet) {
  enum { ROW = '@', LOWER = 'a' - 'A' };
  letters_coder coder = {.alphabet = alphabet};
  for (int c = 0; c < 256; c++)
    coder.code_of[c] = (int16_t)(isspace(c) ? LETTERS_BLANK : letters_code(alphabet, (char)c));
  for (int k = 0; k < LOWER; k++) coder.row[k] = (uint8_t)coder.code_of[ROW + k];
  coder.star = (uint8_t)coder.code_of['*'];
  return coder;
}

static bool encode_each(const letters_coder *coder, const char *characters, int64_t n,
                        uint8_t *codes) {
  int all = 0;
  for (int64_t k = 0; k < n; k++) {
    const int16_t code = coder->code_of[(unsigned char)characters[k]];
    codes[k] = (uint8_t)code;
    all |= code;
  }
  return all >= 0;
}

#ifdef __x86_64__
enum { BLOCK = 32 };

/* Tables of 16 codes for each lane of a vector. */
typedef struct rows {
  __m256i upper, lower, star; /* of '@' to 'O', 'P' to '_', and of all characters that are '*' */
} rows;

/* 32 characters at once; a code above 127 is none. */
__attribute__((target("avx2"))) static inline __m256i
encode_block(const rows *r, const char *characters, uint8_t *codes) {
  const __m256i c = _mm256_loadu_si256((const __m256i *)characters);
  const __m256i second = _mm256_slli_epi16(c, 3); /* the highest bit: bit 4 of the character */
  const __m256i is_star = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('*'));
  const __m256i other = _mm256_cmpgt_epi8(_mm256_set1_epi8('@'), c); /* as signed: above 127, too */
  const __m256i code = _mm256_blendv_epi8(_mm256_shuffle_epi8(r->upper, c),
                                          _mm256_shuffle_epi8(r->lower, c), second);
  const __m256i known = _mm256_blendv_epi8(_mm256_or_si256(code, other), r->star, is_star);
  _mm256_storeu_si256((__m256i *)codes, known);
  return known;
}

/* n >= BLOCK. */
__attribute__((target("avx2"))) static bool
encode_blocks(const letters_coder *coder, const char *characters, int64_t n, uint8_t *codes) {
  const rows r = {_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)coder->row)),
                  _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)coder->row + 1)),
                  _mm256_set1_epi8((char)coder->star)};
  __m256i all = _mm256_setzero_si256();
  for (int64_t k = 0; k < n - BLOCK; k += BLOCK)
    all = _mm256_or_si256(all, encode_block(&r, characters + k, codes + k));
  characters += n - BLOCK, codes += n - BLOCK; /* some of them once more */
  return _mm256_movemask_epi8(_mm256_or_si256(all, encode_block(&r, characters, codes))) == 0;
}

static bool is_fast(const letters_coder *coder, int64_t n) {
  return n >= BLOCK && coder->alphabet != LETTERS_BYTES && __builtin_cpu_supports("avx2");
}
#else
static bool is_fast(const letters_coder *coder, int64_t n) {
  return (void)coder, (void)n, false;
}
#define encode_blocks encode_each
#endif

bool letters_encode(const letters_coder *coder, const char *characters, int64_t n, uint8_t *codes) {
  return is_fast(coder, n) ? encode_blocks(coder, characters, n, codes)
                           : encode_each(coder, characters, n, codes);
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
