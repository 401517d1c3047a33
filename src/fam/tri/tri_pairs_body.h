/* Bodies of tri_pairs.h for one type; included once for float and once for double. No guard:
 * the includer sets TRI_REAL, TRI_(name), TRI_ABS, TRI_FMA, TRI_SQRT, TRI_EPSILON, TRI_TALLY,
 * TRI_ASIN_P; the end unsets them. */

#define R TRI_REAL

/**
 * asin(x) for 0 <= x <= 1, the same bits on every device (libm and CUDA differ in the last place).
 * x <= 1/2: x + x z P(z), z = x^2; above: pi/2 - 2 asin(sqrt((1 - x)/2)).
 */
TSL_FN R TRI_(tri_asin)(R x) {
  const int folded = x > (R)0.5;
  const R half = ((R)1 - x) * (R)0.5;
  const R z = folded ? half : x * x;
  const R y = folded ? TRI_SQRT(half) : x;
  const R a = y + y * (z * TRI_ASIN_P(z));
  return folded ? (R)1.5707963267948966 - (a + a) : a;
}

/* ---- steps: add dimension k of a pair; a = x[k][i], b = x[k][j], box = period of dimension k */

/** A step that is that of another function. */
#define TRI_SAME_STEP(name, same)                          \
  TSL_FN R TRI_(tri_step_##name)(R acc, R a, R b, R box) { \
    return TRI_(tri_step_##same)(acc, a, b, box);          \
  }

TSL_FN R TRI_(tri_step_sqeuclidean)(R acc, R a, R b, R box) {
  (void)box;
  const R t = a - b;
  return TRI_FMA(t, t, acc);
}
TSL_FN R TRI_(tri_step_manhattan)(R acc, R a, R b, R box) {
  (void)box;
  return acc + TRI_ABS(a - b);
}
TSL_FN R TRI_(tri_step_chebyshev)(R acc, R a, R b, R box) {
  (void)box;
  const R t = TRI_ABS(a - b);
  return t > acc ? t : acc;
}
/** Of unit vectors: 1 - cos is half the square of their difference, without cancellation. */
TRI_SAME_STEP(cosine, sqeuclidean)
/** Minimum image for coordinates wrapped into [0, box): the nearer of |a - b| and box - |a - b|. */
TSL_FN R TRI_(tri_step_euclidean_periodic)(R acc, R a, R b, R box) {
  const R t = TRI_ABS(a - b);
  const R u = box - t;
  const R m = u < t ? u : t;
  return TRI_FMA(m, m, acc);
}
TRI_SAME_STEP(euclidean, sqeuclidean)
TRI_SAME_STEP(correlation, cosine)
TRI_SAME_STEP(haversine, sqeuclidean)
TRI_SAME_STEP(overlap, sqeuclidean)
TRI_SAME_STEP(seuclidean, sqeuclidean)
TRI_SAME_STEP(mahalanobis, sqeuclidean)
/** x^p = e^(p log x), 0 of 0. */
TSL_FN R TRI_(tri_power)(R x, R p) {
  return x > (R)0 ? TRI_(lang_exp)(p * TRI_(lang_log)(x)) : (R)0;
}
/** order: p */
TSL_FN R TRI_(tri_step_minkowski)(R acc, R a, R b, R order) {
  return acc + TRI_(tri_power)(TRI_ABS(a - b), order);
}
/** 0 where both are 0. */
TSL_FN R TRI_(tri_step_canberra)(R acc, R a, R b, R box) {
  (void)box;
  const R size = TRI_ABS(a) + TRI_ABS(b);
  return acc + (size > (R)0 ? TRI_ABS(a - b) / size : (R)0);
}
TRI_SAME_STEP(braycurtis, manhattan)
/** x log x, 0 of 0. */
TSL_FN R TRI_(tri_entropy)(R x) {
  return x > (R)0 ? x * TRI_(lang_log)(x) : (R)0;
}
/**
 * a log(a/m) + b log(b/m), m the mean of both, no term below 0: m times what follows of
 * t = (a - b) / (a + b), (1+t) log(1+t) + (1-t) log(1-t) = sum t^2k / (k (2k - 1)), which a small t
 * is left to.
 */
TSL_FN R TRI_(tri_step_jensenshannon)(R acc, R a, R b, R box) {
  (void)box;
  const R mean = (a + b) * (R)0.5, one = mean > (R)0 ? mean : (R)1;
  const R t = (a - b) / (one + one), s = t * t;
  const R tail = (R)(1.0 / 15) + s * ((R)(1.0 / 28) + s * (R)(1.0 / 45));
  const R small = s * ((R)1 + s * ((R)(1.0 / 6) + s * tail));
  const R large = TRI_(tri_entropy)(a / one) + TRI_(tri_entropy)(b / one);
  return acc + mean * (s < (R)0x1p-10 ? small : large);
}
/** How many coordinates differ. */
TSL_FN R TRI_(tri_step_hamming)(R acc, R a, R b, R box) {
  (void)box;
  return acc + (a != b ? (R)1 : (R)0);
}
TSL_FN R TRI_(tri_step_inner)(R acc, R a, R b, R box) {
  (void)box;
  return TRI_FMA(a, b, acc);
}

/* ---- finishes: ei, ej = extra numbers of the points; scale = sphere radius of haversine, order of
 * minkowski, sign of inner, number of coordinates where a mean is taken of them */

TSL_FN R TRI_(tri_finish_euclidean)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return TRI_SQRT(acc);
}
TSL_FN R TRI_(tri_finish_euclidean_periodic)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return TRI_SQRT(acc);
}
TSL_FN R TRI_(tri_finish_sqeuclidean)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return acc;
}
TSL_FN R TRI_(tri_finish_manhattan)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return acc;
}
TSL_FN R TRI_(tri_finish_chebyshev)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return acc;
}
TSL_FN R TRI_(tri_finish_cosine)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  const R v = acc * (R)0.5;
  return v > (R)2 ? (R)2 : v;
}
TSL_FN R TRI_(tri_finish_correlation)(R acc, R ei, R ej, R scale) {
  return TRI_(tri_finish_cosine)(acc, ei, ej, scale);
}

/**
 * The same from an inner product r of many dimensions, as matrix products give it. Where the value
 * is below tri_product_noise(d), it is r's rounding: the formula above is to be used there, which
 * gives 0 for equal points and nothing below.
 */
TSL_FN R TRI_(tri_product_cosine)(R r) {
  const R v = (R)1 - r;
  return v > (R)2 ? (R)2 : v;
}
/** Above what d products and sums in any order, and lengths rounded to 1, leave of 1 - 1. */
TSL_FN R TRI_(tri_product_noise)(R d) {
  return (d + (R)8) * TRI_EPSILON;
}

/** Unit vectors at chord c span the angle 2 asin(c/2) (haversine formula in Cartesian form). */
TSL_FN R TRI_(tri_finish_haversine)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej;
  const R s = TRI_SQRT(acc) * (R)0.5;
  const R a = TRI_(tri_asin)(s < (R)1 ? s : (R)1);
  return scale * (a + a);
}
TSL_FN R TRI_(tri_finish_overlap)(R acc, R ei, R ej, R scale) {
  (void)scale;
  return TRI_SQRT(acc) - (ei + ej);
}

TSL_FN R TRI_(tri_finish_seuclidean)(R acc, R ei, R ej, R scale) {
  return TRI_(tri_finish_euclidean)(acc, ei, ej, scale);
}
TSL_FN R TRI_(tri_finish_mahalanobis)(R acc, R ei, R ej, R scale) {
  return TRI_(tri_finish_euclidean)(acc, ei, ej, scale);
}
TSL_FN R TRI_(tri_finish_minkowski)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej;
  return TRI_(tri_power)(acc, (R)1 / scale);
}
TSL_FN R TRI_(tri_finish_canberra)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return acc;
}
/** 0 where the denominator is. */
TSL_FN R TRI_(tri_ratio)(R part, R whole) {
  return whole > (R)0 ? part / whole : (R)0;
}
TSL_FN R TRI_(tri_finish_braycurtis)(R acc, R ei, R ej, R scale) {
  (void)scale;
  return TRI_(tri_ratio)(acc, ei + ej);
}
TSL_FN R TRI_(tri_finish_jensenshannon)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return TRI_SQRT(acc > (R)0 ? acc * (R)0.5 : (R)0);
}
TSL_FN R TRI_(tri_finish_hamming)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej;
  return TRI_(tri_ratio)(acc, scale);
}
/** sign: 1, or -1 where small values are looked for; 0 is +0. */
TSL_FN R TRI_(tri_finish_inner)(R acc, R ei, R ej, R sign) {
  (void)ei, (void)ej;
  return TRI_FMA(acc, sign, (R)0);
}
/* Of truths: ei and ej are true, both of them `both`; scale: number of coordinates. */

/** How many are true of one of them alone. */
TSL_FN R TRI_(tri_differ)(R both, R ei, R ej) {
  return ei + ej - (both + both);
}
TSL_FN R TRI_(tri_finish_jaccard)(R both, R ei, R ej, R scale) {
  (void)scale;
  const R differ = TRI_(tri_differ)(both, ei, ej);
  return TRI_(tri_ratio)(differ, both + differ);
}
TSL_FN R TRI_(tri_finish_dice)(R both, R ei, R ej, R scale) {
  (void)scale;
  return TRI_(tri_ratio)(TRI_(tri_differ)(both, ei, ej), ei + ej);
}
TSL_FN R TRI_(tri_finish_russellrao)(R both, R ei, R ej, R scale) {
  (void)ei, (void)ej;
  return TRI_(tri_ratio)(scale - both, scale);
}
TSL_FN R TRI_(tri_finish_rogerstanimoto)(R both, R ei, R ej, R scale) {
  const R differ = TRI_(tri_differ)(both, ei, ej);
  return TRI_(tri_ratio)(differ + differ, scale + differ);
}
TSL_FN R TRI_(tri_finish_sokalsneath)(R both, R ei, R ej, R scale) {
  (void)scale;
  const R differ = TRI_(tri_differ)(both, ei, ej);
  return TRI_(tri_ratio)(differ + differ, both + (differ + differ));
}
TSL_FN R TRI_(tri_finish_yule)(R both, R ei, R ej, R scale) {
  const R neither = scale - both - TRI_(tri_differ)(both, ei, ej);
  const R mixed = (ei - both) * (ej - both);
  return TRI_(tri_ratio)(mixed + mixed, both * neither + mixed);
}

/* ---- bounds, see tri_near.h: rounding is monotone, so that steps over these differences and
 * finish with the largest extra numbers give no more than the value of any pair in the boxes */

/** Least |x - y| of x in [a, a_end] and y in [b, b_end]. */
TSL_FN R TRI_(tri_gap)(R a, R a_end, R b, R b_end) {
  const R below = b - a_end, above = a - b_end;
  const R gap = below > above ? below : above;
  return gap > (R)0 ? gap : (R)0;
}
/** Likewise of the nearer images; all within [0, box). */
TSL_FN R TRI_(tri_gap_periodic)(R a, R a_end, R b, R b_end, R box) {
  const R gap = TRI_(tri_gap)(a, a_end, b, b_end);
  const R up = b_end - a, down = a_end - b;
  const R around = box - (up > down ? up : down);
  const R least = around > (R)0 ? around : (R)0;
  return least < gap ? least : gap;
}
/** Haversine alone ends in a polynomial, monotone but for its rounding: far less than this. */
TSL_FN R TRI_(tri_bound_of_sphere)(R bound) {
  return bound * ((R)1 - (R)64 * TRI_EPSILON);
}

/** A term of a sum. */
TSL_FN R TRI_(tri_add)(R value, R weight, R sum) {
  return TRI_FMA(value, weight, sum);
}

/**
 * Histogram bin of a value: floor((value - lo) * inv_width) for lo <= value < hi, else -1.
 * The same operations on every device, so counts agree exactly.
 */
TSL_FN int TRI_(tri_bin)(R value, R lo, R hi, R inv_width, int bins) {
  const int b = (int)((value - lo) * inv_width);
  const int last = b < bins ? b : bins - 1;
  return value >= lo && value < hi ? last : -1;
}

/** An axis of a histogram. */
typedef struct TRI_(tri_axis) {
  R lo, hi, inv_width; /**< as tri_bin wants them */
  const R *edges;      /**< [bins + 1], or NULL: uniform */
  int bins;
} TRI_(tri_axis);

/** Bin b with edges[b] <= v < edges[b + 1], else -1: by comparisons, the same on every device. */
TSL_FN int TRI_(tri_axis_bin)(const TRI_(tri_axis) * a, R v) {
  int b = 0;
  if (a->edges == 0) return TRI_(tri_bin)(v, a->lo, a->hi, a->inv_width, a->bins);
  if (!(v >= a->edges[0] && v < a->edges[a->bins])) return -1;
  for (int n = a->bins; n > 1;) {
    const int half = n / 2;
    if (v >= a->edges[b + half]) b += half;
    n -= half;
  }
  return b;
}

/** Distance of points i and j across the last of d axes, or along it. x: [d][ld] */
TSL_FN R TRI_(tri_apart)(const R *x, int64_t ld, int d, const R *box, bool wrapped, bool along,
                         int64_t i, int64_t j) {
  R acc = (R)0;
  for (int k = along ? d - 1 : 0; k < (along ? d : d - 1); k++) {
    const R a = x[k * ld + i], b = x[k * ld + j];
    acc = wrapped ? TRI_(tri_step_euclidean_periodic)(acc, a, b, k < 3 ? box[k] : (R)0)
                  : TRI_(tri_step_euclidean)(acc, a, b, (R)0);
  }
  return TRI_SQRT(acc);
}

#undef R
#undef TRI_SAME_STEP
#undef TRI_REAL
#undef TRI_
#undef TRI_ABS
#undef TRI_FMA
#undef TRI_SQRT
#undef TRI_EPSILON
#undef TRI_TALLY
#undef TRI_ASIN_P
