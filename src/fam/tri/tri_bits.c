/* Rows of bits in place of points: from numbers, or from bytes that hold eight each, to words. */
#include "tri_bits.h"

#include "integers.h"
#include "tri_family.h"

#include <math.h>

tsl_err tri_bits_check(const tri_preparing *c) {
  tsl_err err = TSL_OK;
  const tri_points *points = c->points;
  if (!points->packed) goto done;
  if (c->p->d > TRI_MAX_D)
    TSL_DECK_FAIL(c->deck, c->path, "the rows have %lld bits; at most %d are possible",
                  (long long)c->p->d, (int)TRI_MAX_D);
  for (int64_t i = 0; i < points->table.n; i++)
    for (int64_t k = 0; k < points->d; k++) {
      const double x = points->table.values[i * points->table.columns + k];
      if (!(x >= 0 && x <= UINT8_MAX && x == floor(x)))
        TSL_DECK_FAIL(c->deck, tri_blamed(c, i),
                      "point %lld (from 0): %g is no byte; with packed numbers are 0 to %d, eight "
                      "bits each",
                      tri_numbered(c, i), x, UINT8_MAX);
    }
done:
  return err;
}

/** Is dimension k of a row true? Of packed ones the first is the highest bit of the first byte. */
static bool is_true(const tri_points *points, const double *row, int64_t k) {
  if (!points->packed) return row[k] != 0;
  const unsigned byte = (unsigned)row[k / TRI_BYTE_BITS];
  return (byte >> (TRI_BYTE_BITS - 1 - k % TRI_BYTE_BITS) & 1) != 0;
}

/** Bits of a row into words[w stride]. @return how many are 1 */
static int64_t put_words(const tri_params *p, const tri_points *points, int64_t row,
                         uint64_t *words, int64_t stride) {
  const double *x = points->table.values + row * points->table.columns;
  int64_t ones = 0;
  for (int64_t w = 0; w < tri_words_of(p); w++) {
    const int64_t first = w * TRI_WORD_BITS, n = tsl_min(TRI_WORD_BITS, p->d - first);
    uint64_t word = 0;
    for (int64_t b = 0; b < n; b++) word |= (uint64_t)is_true(points, x, first + b) << b;
    words[w * stride] = word;
    ones += __builtin_popcountll(word);
  }
  return ones;
}

/** Words and numbers of ones of all points. */
static void put_points(const tri_points *points, tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  uint64_t *const words = problem->fields[TRI_WORDS].data;
  void *const totals = problem->fields[TRI_EXTRAS].data;
  for (int64_t i = 0; i < points->table.n; i++) {
    const int64_t place = tri_place_of(p, i);
    const int64_t ones = put_words(p, points, i, words + place, p->n_pad);
    if (p->type == TSL_F32)
      ((float *)totals)[place] = (float)ones;
    else
      ((double *)totals)[place] = (double)ones;
  }
}

tsl_err tri_bits_add(const tri_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t words = tri_of_bits(p) ? tri_words_of(p) : 0;
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "words",
                                 "Bits of the points, 64 dimensions a word, padded with zeros.",
                                 TSL_U64, words, p->n_pad, &added));
  if (words > 0) put_points(points, problem);
done:
  return err;
}
