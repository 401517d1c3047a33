/** @file dp_cpu_bits_trace.c  Rows of bits, and the way back through the bits of a tile. */
#include "dp_cpu_bits.h"

int64_t dp_cpu_bits_keep_bytes(const dp_cpu *cpu, dp_problem problem, int64_t rows, int64_t m) {
  const int64_t vector = cpu->kernels->bytes / (int64_t)sizeof(uint64_t);
  const double blocks = (double)(rows / DP_BITS_BLOCK + 1);
  const double steps = (double)rows + blocks * (double)(vector - 1);
  const double words = (double)(m / 64 + DP_WORDS * vector);
  const double bytes = (problem == DP_EDIT ? 2 : 1) * steps * words * sizeof(uint64_t);
  return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

/** Word of a row by lane, bits from m on zero. */
static uint64_t word_at(const dp_cpu_bits *b, const uint64_t *row, int64_t word) {
  const bits_strip *s = bits_strip_of(b, word);
  const int64_t left = b->m - 64 * word;
  const uint64_t real = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
  const uint64_t bits = row[s->at + bits_place(b, s, word)];
  return (b->problem == DP_LCS ? ~bits : bits) & real;
}

int64_t dp_cpu_bits_sum(const dp_cpu_bits *b) {
  int64_t sum = 0;
  for (int64_t w = 0; w < (b->m + 63) / 64; w++) {
    sum += __builtin_popcountll(word_at(b, b->p, w));
    if (b->q != NULL) sum -= __builtin_popcountll(word_at(b, b->q, w));
  }
  return sum;
}

void dp_cpu_bits_row_get(const dp_cpu_bits *b, uint32_t *bits) {
  const int64_t halves = (b->m + 31) / 32;
  for (int part = 0; part < b->parts; part++)
    for (int64_t h = 0; h < halves; h++)
      bits[part * halves + h] =
          (uint32_t)(word_at(b, part == 0 ? b->p : b->q, h / 2) >> h % 2 * 32);
}

void dp_cpu_bits_row_put(dp_cpu_bits *b, const uint32_t *bits) {
  const int64_t halves = (b->m + 31) / 32;
  dp_cpu_bits_begin(b);
  for (int part = 0; part < b->parts; part++)
    for (int64_t w = 0; w < (b->m + 63) / 64; w++) {
      const bits_strip *s = bits_strip_of(b, w);
      const uint32_t *from = bits + part * halves + 2 * w;
      const uint64_t word = from[0] | (2 * w + 1 < halves ? (uint64_t)from[1] << 32 : 0);
      uint64_t *row = part == 0 ? b->p : b->q;
      row[s->at + bits_place(b, s, w)] = b->problem == DP_LCS ? ~word : word;
    }
}

/* ------------------------------------------------------------------ the way back */

/** Bit of the cell (row, column) of the tile, row from 1, column from 0; row 0: the row above. */
static bool kept_bit(const dp_cpu_bits *b, int64_t row, int64_t column, int part) {
  const int64_t word = column / 64;
  const bits_strip *s = bits_strip_of(b, word);
  const int64_t place = bits_place(b, s, word), step = bits_step_words(b, s);
  if (row == 0) return b->top[s->at + place] >> column % 64 & 1;
  const int64_t block = (row - 1) / DP_BITS_BLOCK, within = (row - 1) % DP_BITS_BLOCK;
  const int64_t lane = s->lanes - 1 - (word - s->word) / bits_words_of(s);
  const int64_t at = block * (DP_BITS_BLOCK + s->lanes - 1) + within + s->lanes - 1 - lane;
  const int64_t size = bits_words_of(s) * b->vector;
  return b->keep[s->keep_at + at * step + part * size + place] >> column % 64 & 1;
}

typedef enum way { WAY_PAIR, WAY_LEFT, WAY_UP } way;

static way way_back(const dp_cpu_bits *b, int64_t i, int64_t j) {
  if (b->problem == DP_LCS) {
    if (kept_bit(b, i, j - 1, 0)) return WAY_LEFT;
    return kept_bit(b, i - 1, j - 1, 0) ? WAY_PAIR : WAY_UP;
  }
  const bool equal = b->rows[b->keep_lo + i - 1] == b->columns[j - 1];
  if (equal || !kept_bit(b, i, j - 1, 0)) return WAY_PAIR;
  return kept_bit(b, i, j - 1, 1) ? WAY_LEFT : WAY_UP;
}

tsl_err dp_cpu_bits_trace(const dp_cpu_bits *b, int64_t *row, int64_t *column, dp_pair *pairs,
                          int64_t room, int64_t *count) {
  tsl_err err = TSL_OK;
  int64_t i = *row - b->keep_lo, j = *column;
  *count = 0;
  if (i < 0 || *row > b->keep_hi || j < 0 || j > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)*row,
             (long long)*column);
  while (i > 0 && j > 0) {
    const way w = way_back(b, i, j);
    if (w == WAY_PAIR) {
      if (*count == room)
        TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld pairs is too little", (long long)room);
      pairs[(*count)++] = (dp_pair){b->keep_lo + i - 1, j - 1};
    }
    i -= w != WAY_LEFT;
    j -= w != WAY_UP;
  }
  *row = b->keep_lo + i;
  *column = j;
done:
  return err;
}
