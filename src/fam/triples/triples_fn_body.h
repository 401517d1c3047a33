/* Bodies of triples_fn.h for one type; no guard: the includer sets TRIPLES_REAL, TRIPLES_(name),
 * TRIPLES_FMA, TRIPLES_SQRT and TRIPLES_INVERSE_ROOT, which the end unsets. */

#define R TRIPLES_REAL

/** What a side gives to the triangles that it belongs to; cube and fifth are 0 where it is none:
 *  longer than the cut-off, or a point and itself. */
typedef struct TRIPLES_(triples_side) {
  R square; /**< r^2 */
  R cube;   /**< r^-3 */
  R fifth;  /**< r^-5 */
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
  side.cube = is ? y2 * y : (R)0;
  side.fifth = side.cube * y2;
  return side;
}

/** What a pair keeps while k runs, from its a = r_ij^2: -3/5 a, -1/5 a^2, -8/25 a^3. */
typedef struct TRIPLES_(triples_pair) {
  R first, second, third;
} TRIPLES_(triples_pair);

TSL_FN TRIPLES_(triples_pair) TRIPLES_(triples_pair_of)(R a) {
  TRIPLES_(triples_pair) p;
  p.first = (R)-0.6 * a;
  p.second = (R)-0.2 * (a * a);
  p.third = (R)-0.32 * (a * (a * a));
  return p;
}

/** Add the term of the point k to a pair's sums of w z and of q, see triples_fn.h. 8 operations. */
TSL_FN void TRIPLES_(triples_term)(TRIPLES_(triples_pair) p, TRIPLES_(triples_side) ik,
                                   TRIPLES_(triples_side) jk, R *wz, R *q) {
  const R t = ik.square - jk.square, s = ik.square + jk.square;
  const R z = TRIPLES_FMA(s + p.first, TRIPLES_FMA(t, t, p.second), p.third);
  *wz = TRIPLES_FMA(ik.fifth * jk.fifth, z, *wz);
  *q = TRIPLES_FMA(ik.cube, jk.cube, *q);
}

/** sum of w z - 8/5 a q, of TRIPLES_TILE points at most. */
TSL_FN R TRIPLES_(triples_sum)(TRIPLES_(triples_pair) p, R wz, R q) {
  return TRIPLES_FMA((R)(8.0 / 3.0) * p.first, q, wz);
}

/** Energy of one triangle without nu. */
TSL_FN R TRIPLES_(triples_energy)(TRIPLES_(triples_side) ij, TRIPLES_(triples_side) ik,
                                  TRIPLES_(triples_side) jk) {
  const R a = ij.square, b = ik.square, c = jk.square;
  const R p = ((a + b) - c) * ((a - b) + c) * ((b + c) - a);
  const R q = ij.cube * ik.cube * jk.cube, w = ij.fifth * ik.fifth * jk.fifth;
  return TRIPLES_FMA((R)0.375 * p, w, q);
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
