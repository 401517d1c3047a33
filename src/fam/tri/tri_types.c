/* Coordinates of types shorter than fp32: numbers that are read are rounded to those that the type
 * has, and all after that is fp32. */
#include "tri_family.h"

#include <math.h>
#include <string.h>

/** Numbers of a type: of sign, `bits` binary digits and exponents from `least` on, or whole. */
typedef struct short_type {
  int bits, least;
  double lo, hi; /**< ends, which are in it */
  bool whole;
} short_type;

static const short_type types[] = {[TRI_FP16] = {11, -14, -65504, 65504, false},
                                   [TRI_BF16] = {8, -126, -0x1.fep127, 0x1.fep127, false},
                                   [TRI_INT8] = {.lo = -128, .hi = 127, .whole = true}};

/** The number of the type that is nearest, of two the one with an even last digit: rounded once. */
static double nearest(const short_type *type, double x) {
  int exponent = 0;
  if (type->whole) return nearbyint(x);
  (void)frexp(x, &exponent); /* x < 2^exponent */
  if (exponent - 1 < type->least) exponent = type->least + 1;
  return ldexp(nearbyint(ldexp(x, type->bits - exponent)), exponent - type->bits);
}

/** A number of 16 bits that are the first ones of an fp32 number. */
static double from_bits(double bits) {
  const uint32_t word = (uint32_t)bits << 16;
  float value = 0;
  memcpy(&value, &word, sizeof value);
  return (double)value;
}

static tsl_err read_bits(const tsl_deck *deck, const char *path, tri_points *points) {
  tsl_err err = TSL_OK;
  const table_rows *t = &points->table;
  for (int64_t i = 0; i < t->n; i++)
    for (int64_t k = 0; k < points->d; k++) {
      double *const x = &t->values[i * t->columns + k];
      const bool bits = *x >= 0 && *x <= UINT16_MAX && *x == floor(*x);
      if (!bits || !isfinite(from_bits(*x)))
        TSL_DECK_FAIL(deck, path,
                      "point %lld, coordinate %lld (both from 0): %g %s; with bfloat16 numbers are "
                      "the 16 bits of one, 0 to %d",
                      (long long)i, (long long)k, *x,
                      bits ? "are the bits of no finite number" : "is no number of 16 bits",
                      UINT16_MAX);
      *x = from_bits(*x);
    }
done:
  return err;
}

static tsl_err round_points(const tsl_deck *deck, const char *path, int32_t precision,
                            tri_points *points) {
  tsl_err err = TSL_OK;
  const table_rows *t = &points->table;
  const short_type *type = &types[precision];
  const char *name = tri_precision_words[precision];
  for (int64_t i = 0; i < t->n; i++)
    for (int64_t k = 0; k < points->d; k++) {
      double *const x = &t->values[i * t->columns + k];
      const double near = nearest(type, *x);
      if (*x < type->lo || *x > type->hi || (type->whole && *x != near))
        TSL_DECK_FAIL(
            deck, path,
            "point %lld, coordinate %lld (both from 0): %.17g is no %s, which has %s %g to "
            "%g; use precision: fp32",
            (long long)i, (long long)k, *x, name,
            type->whole ? "whole numbers from" : "numbers from", type->lo, type->hi);
      points->moved = fmax(points->moved, fabs(*x - near));
      *x = near;
    }
done:
  return err;
}

tsl_err tri_types_settle(const tsl_deck *deck, const tri_deck *s, tri_points *points) {
  tsl_err err = TSL_OK;
  char key[POINTS_PATH];
  const char *path = points_key(tri_section(s), points->made ? "generator" : "input.file", key);
  if (s->input.bfloat16) TSL_TRY(read_bits(deck, path, points));
  if (s->precision > TRI_FP64) TSL_TRY(round_points(deck, path, s->precision, points));
done:
  return err;
}
