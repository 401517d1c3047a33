/** @file dp_cpu_bits.h  A band of bits, shared by dp_cpu_bits.c and dp_cpu_bits_trace.c. */
#pragma once

#include "dp_cpu.h"
#include "dp_kernels.h"

/** A strip; its words of state, by lane, begin at entry `at`. */
typedef struct bits_strip {
  int64_t word, at; /**< first word of the band; entry of p, n and (times planes) b */
  int64_t keep_at;  /**< entry of keep */
  int32_t lanes, wide;
} bits_strip;

struct dp_cpu_bits {
  dp_cpu cpu;
  dp_problem problem;
  const uint8_t *rows, *columns; /**< not owned */
  int64_t n, m;
  int32_t planes, parts;
  int64_t vector; /**< words of a vector */
  uint8_t code[256];
  bits_strip *strips;
  int64_t n_strips, entries;
  uint64_t *p, *q; /**< [entries] state: LCS p; EDIT p and q (+1, -1) */
  uint64_t *b;     /**< [planes][entries] by strip: bits of the columns' codes */
  uint64_t *room;  /**< [threads][room_words] */
  uint32_t *edge;  /**< [parts][groups] of the tile being computed */
  int64_t edge_words;
  uint64_t *keep, *top; /**< bits of the tile kept; p of the row above it, [entries] */
  int64_t keep_words, keep_lo, keep_hi;
};

static inline int bits_words_of(const bits_strip *s) {
  return s->wide ? DP_WORDS : 1;
}

/** The strip that holds a word of the band. */
static inline const bits_strip *bits_strip_of(const dp_cpu_bits *b, int64_t word) {
  int64_t s = word / (DP_WORDS * b->vector);
  if (s >= b->n_strips) s = b->n_strips - 1;
  while (s + 1 < b->n_strips && b->strips[s + 1].word <= word) s++;
  return &b->strips[s];
}

/** Place of a word of the band among the words of its strip. */
static inline int64_t bits_place(const dp_cpu_bits *b, const bits_strip *s, int64_t word) {
  const int64_t k = word - s->word, r = bits_words_of(s);
  return k % r * b->vector + s->lanes - 1 - k / r;
}

/** Words that one step of a strip keeps. */
static inline int64_t bits_step_words(const dp_cpu_bits *b, const bits_strip *s) {
  return b->parts * bits_words_of(s) * b->vector;
}
