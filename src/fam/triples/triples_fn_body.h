/* Bodies of triples_fn.h for one type; no guard: the includer sets TRIPLES_REAL, TRIPLES_(name),
 * TRIPLES_FMA, TRIPLES_SQRT and TRIPLES_INVERSE_ROOT, which the end unsets. */

#define R TRIPLES_REAL

/** What a side gives to the triangles that it belongs to; inverse and cube are 0 where it is none:
 *  longer than the cut-off, or a point and itself. */
typedef struct TRIPLES_(triples_side) {
  R square;  /**< r^2 */
  R inverse; /**< r^-2 */
  R cube;    /**< r^-3 */
} TRIPLES_(triples_side);

/** Difference of two coordinates; of the nearest image where both are within [0, box). box:
 *  INFINITY without. */
TSL_FN R TRIPLES_(triples_difference)(R a, R b, R box) {
  const R t = a - b, half = box * (R)0.5;
  return t > half ? t - box : t < -half ? t + box : t;
}

TSL_FN R TRIPLES_(triples_square)(R dx, R dy, R dz) {
  return TRIPLES_FMA(dx, dx, TRIPLES_FMA(dy, dy, dz * dz));
}

/** cutoff2: square of the cut-off, INFINITY without. */
TSL_FN TRIPLES_(triples_side) TRIPLES_(triples_side_of)(R square, R cutoff2) {
  TRIPLES_(triples_side) side;
  const int is = square > (R)0 && square <= cutoff2;
  const R y = TRIPLES_INVERSE_ROOT(is ? square : (R)1), y2 = y * y;
  side.square = square;
  side.inverse = is ? y2 : (R)0;
  side.cube = is ? y2 * y : (R)0;
  return side;
}

/** What a pair keeps while k runs, from its a = r_ij^2; of no side five_halves_by_a is 0. */
typedef struct TRIPLES_(triples_pair) {
  R five_halves_by_a, minus_half_a, minus_half_a2;
} TRIPLES_(triples_pair);

TSL_FN TRIPLES_(triples_pair) TRIPLES_(triples_pair_of)(TRIPLES_(triples_side) ij) {
  TRIPLES_(triples_pair) p;
  p.five_halves_by_a = (R)2.5 * ij.inverse;
  p.minus_half_a = (R)-0.5 * ij.square;
  p.minus_half_a2 = (R)-0.5 * (ij.square * ij.square);
  return p;
}

/** acc plus the term of the point k, see triples_fn.h. 10 operations. */
TSL_FN R TRIPLES_(triples_term)(TRIPLES_(triples_pair) p, TRIPLES_(triples_side) ik,
                                TRIPLES_(triples_side) jk, R acc) {
  const R t = ik.square - jk.square, t2 = t * t, s = ik.square + jk.square;
  const R slope = TRIPLES_FMA(p.five_halves_by_a, t2, p.minus_half_a);
  const R z = TRIPLES_FMA(s, slope, TRIPLES_FMA((R)-1.5, t2, p.minus_half_a2));
  const R v = ik.inverse * jk.inverse, q = ik.cube * jk.cube;
  return TRIPLES_FMA(q, TRIPLES_FMA(v, z, (R)-4), acc);
}

/** Energy of one triangle without nu. */
TSL_FN R TRIPLES_(triples_energy)(TRIPLES_(triples_side) ij, TRIPLES_(triples_side) ik,
                                  TRIPLES_(triples_side) jk) {
  const R a = ij.square, b = ik.square, c = jk.square;
  const R p = ((a + b) - c) * ((a - b) + c) * ((b + c) - a);
  const R v = ij.inverse * ik.inverse * jk.inverse, q = ij.cube * ik.cube * jk.cube;
  return TRIPLES_FMA(q, (R)0.375 * (p * v), q);
}

/** Bin of a side: floor((r - lo) bins / (hi - lo)) for lo <= r < hi, else -1. */
TSL_FN int TRIPLES_(triples_bin)(R square, R lo, R hi, R inverse_width, int bins) {
  const R r = TRIPLES_SQRT(square);
  const int is = r >= lo && r < hi;
  const int b = (int)((is ? r - lo : (R)0) * inverse_width);
  return is ? (b < bins ? b : bins - 1) : -1;
}

#undef R
#undef TRIPLES_REAL
#undef TRIPLES_
#undef TRIPLES_FMA
#undef TRIPLES_SQRT
#undef TRIPLES_INVERSE_ROOT
