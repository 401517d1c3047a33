/* Points sorted into the leaves of a k-d tree, and the boxes of its nodes. */
#include "tri_near.h"

#include "integers.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

bool tri_near_possible(const tri_params *p) {
  const bool cut = tri_has_threshold(p) || tri_wants_nearest(p) || p->output == TRI_HISTOGRAM;
  const bool product = tri_abouts[p->function].sum == TRI_PRODUCT && p->d >= TRI_GEMM_D;
  const bool few = p->k <= TRI_FEW_K && p->d <= TRI_NEAR_D;
  return cut && few && p->function < TRI_GRAVITY && !product && !tri_is_terms(p);
}

double tri_near_cut(const tri_params *p) {
  if (p->output == TRI_HISTOGRAM) return p->axes == TRI_AXES_RP_PI ? p->reach : p->range_hi;
  return tri_has_threshold(p) ? p->threshold : INFINITY;
}

int64_t tri_near_seeds(const tri_params *p) {
  int64_t tiles = 2;
  while (tiles * TRI_TILE < p->k + TRI_TILE) tiles *= 2; /* the last tile may hold one point */
  return tiles;
}

/* ---------------------------------------------------------------- sorting */

/** Points [n] in the order so far. Coordinates follow them from time to time, so that those of a
 *  small cell lie together.
 *
 *  A point is a number of 64 bits: in the lower half where its coordinates are, in the upper half
 *  one of these, in 2^32 steps of its cell's extent: it is compared at once, and no two are equal.
 */
typedef struct sorting {
  bool wide;       /**< fp64 */
  char *x;         /**< [d][n] fp32 or fp64 */
  int32_t *number; /**< [n] of the point whose coordinates are there */
  char *moved;     /**< [n] a coordinate, or the numbers, in the order of now */
  int64_t d, n;
  uint64_t *points;    /**< [n] */
  int64_t cell, least; /**< points of the cells that are cut now, and down to which */
  int64_t k;           /**< the coordinate that moves now; d: the numbers */
} sorting;

/** Where the coordinates of a point are. */
static int64_t place_of(uint64_t point) {
  return (int64_t)(uint32_t)point;
}

static void swap_points(uint64_t *a, uint64_t *b) {
  const uint64_t was = *a;
  *a = *b, *b = was;
}

/** Element `at` of n in order to its place, those before it to its left (Hoare, CACM 4, 1961, 321).
 *  The pivot is of a sample from scattered places, and rather on the side of the many, so that few
 *  are left (Floyd and Rivest, CACM 18, 1975, 165). The partition is Lomuto's: it has no branch
 *  that nobody can predict. */
static void select_at(uint64_t *v, int64_t n, int64_t at) {
  enum { OF = 16, MOST = 127, ASIDE = 20 }; /* a sixteenth; 5 % aside: about its error */
  uint64_t state = (uint64_t)n;
  for (int64_t lo = 0, hi = n; hi - lo > 1;) {
    const int64_t left = hi - lo, sample = tsl_min(left / OF, MOST) | 1;
    int64_t rank = (at - lo) * sample / left, less = lo;
    rank += 2 * rank < sample ? sample / ASIDE : -(sample / ASIDE);
    for (int64_t c = 0; c < sample; c++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      swap_points(&v[lo + c], &v[lo + c + (int64_t)((state >> 33) % (uint64_t)(left - c))]);
    }
    select_at(v + lo, sample, rank);
    swap_points(&v[lo + rank], &v[hi - 1]);
    const uint64_t pivot = v[hi - 1];
    for (int64_t r = lo; r < hi - 1; r++) {
      const uint64_t point = v[r];
      v[r] = v[less];
      v[less] = point;
      less += point < pivot;
    }
    swap_points(&v[less], &v[hi - 1]);
    if (at == less) return;
    if (at < less)
      hi = less;
    else
      lo = less + 1;
  }
}

#define EXTENT(R, name)                                                                      \
  /** Of n > TRI_TILE points along x; in lanes, as a comparison waits for the one before. */ \
  static double name(const void *x_, const uint64_t *points, int64_t n, double *least) {     \
    enum { LANES = 4 };                                                                      \
    const R *const x = x_;                                                                   \
    R lo[LANES], hi[LANES];                                                                  \
    for (int l = 0; l < LANES; l++) lo[l] = hi[l] = x[place_of(points[l])];                  \
    for (int64_t r = LANES; r < n; r += LANES) {                                             \
      const uint64_t *const four = points + tsl_min(r, n - LANES);                           \
      for (int l = 0; l < LANES; l++) {                                                      \
        const R v = x[place_of(four[l])];                                                    \
        lo[l] = v < lo[l] ? v : lo[l], hi[l] = v > hi[l] ? v : hi[l];                        \
      }                                                                                      \
    }                                                                                        \
    for (int l = 1; l < LANES; l++)                                                          \
      lo[0] = lo[l] < lo[0] ? lo[l] : lo[0], hi[0] = hi[l] > hi[0] ? hi[l] : hi[0];          \
    *least = (double)lo[0];                                                                  \
    return (double)hi[0] - (double)lo[0];                                                    \
  }                                                                                          \
  /** Set the upper halves: steps from the least coordinate along x. */                      \
  static void name##_key(const void *x_, uint64_t *points, int64_t n, double least,          \
                         double steps) {                                                     \
    const R *const x = x_;                                                                   \
    for (int64_t r = 0; r < n; r++) {                                                        \
      const int64_t at = place_of(points[r]);                                                \
      points[r] = (uint64_t)(int64_t)(((double)x[at] - least) * steps) << 32 | (uint64_t)at; \
    }                                                                                        \
  }
EXTENT(float, extent_f32)
EXTENT(double, extent_f64)
#undef EXTENT

/** Set the keys of n > TRI_TILE points, along the dimension in which they extend most. */
static void set_keys(const sorting *s, uint64_t *points, int64_t n) {
  const double all = 0x1p32 - 0x1p12; /* steps; rounding does not reach 2^32 */
  double most = -1, least = 0, first;
  const char *along = s->x;
  for (int64_t k = 0; k < s->d; k++) {
    const char *const x = s->x + k * s->n * (s->wide ? 8 : 4);
    const double extent =
        s->wide ? extent_f64(x, points, n, &first) : extent_f32(x, points, n, &first);
    if (extent > most) most = extent, least = first, along = x;
  }
  const double steps = isfinite(all / most) ? all / most : 0;
  if (s->wide)
    extent_f64_key(along, points, n, least, steps);
  else
    extent_f32_key(along, points, n, least, steps);
}

/** Cut n points, the first of a cell of so many, in the middle of the cell, and the halves, down to
 *  cells of s->least. */
static void cut_cell(const sorting *s, uint64_t *points, int64_t n, int64_t cell) {
  const int64_t half = cell / 2;
  if (cell == s->least) return;
  if (n > half) {
    set_keys(s, points, n);
    select_at(points, n, half);
    cut_cell(s, points + half, n - half, half);
  }
  cut_cell(s, points, tsl_min(n, half), half);
}

static tsl_err cut_cells(void *context, int slot, int64_t first, int64_t last) {
  const sorting *s = context;
  (void)slot;
  for (int64_t c = first; c < last; c++)
    cut_cell(s, s->points + c * s->cell, tsl_min(s->cell, s->n - c * s->cell), s->cell);
  return TSL_OK;
}

/** Coordinate k, or the numbers, of points [first, last). */
static tsl_err move_row(void *context, int slot, int64_t first, int64_t last) {
  const sorting *s = context;
  const bool numbers = s->k == s->d, wide = s->wide && !numbers;
  const char *x = numbers ? (const char *)s->number : s->x + s->k * s->n * (s->wide ? 8 : 4);
  (void)slot;
  for (int64_t r = first; r < last; r++)
    if (wide)
      memcpy(s->moved + 8 * r, x + 8 * place_of(s->points[r]), 8);
    else
      memcpy(s->moved + 4 * r, x + 4 * place_of(s->points[r]), 4);
  return TSL_OK;
}

/** Coordinates and numbers in the order so far. */
static tsl_err move_rows(sorting *s, int64_t grain) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(s->n * (s->wide ? 8 : 4));
  for (s->k = 0; s->k <= s->d; s->k++) {
    TSL_TRY(tsl_parallel(s->n, grain, move_row, s));
    if (s->k < s->d)
      memcpy(s->x + (size_t)s->k * bytes, s->moved, bytes);
    else
      memcpy(s->number, s->moved, (size_t)s->n * sizeof *s->number);
  }
  for (int64_t r = 0; r < s->n; r++) s->points[r] = (uint64_t)r;
done:
  return err;
}

/** The points from place first on, as the input has them. */
static tsl_err set_points(const tsl_problem *problem, int64_t first, sorting *s) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const size_t size = tsl_type_bytes((tsl_type)p->type);
  const char *from = (const char *)problem->fields[TRI_POINTS].data + (size_t)first * size;
  TSL_TRY(tsl_alloc(s->n, sizeof *s->points, "points to sort", (void **)&s->points));
  TSL_TRY(tsl_alloc(s->n, sizeof *s->number, "points to sort", (void **)&s->number));
  TSL_TRY(tsl_alloc(s->d * s->n, size, "points to sort", (void **)&s->x));
  TSL_TRY(tsl_alloc(s->n, size, "points to sort", (void **)&s->moved));
  for (int64_t k = 0; k < s->d; k++)
    memcpy(s->x + (size_t)(k * s->n) * size, from + (size_t)(k * p->n_pad) * size,
           (size_t)s->n * size);
  for (int64_t r = 0; r < s->n; r++) s->points[r] = (uint64_t)r, s->number[r] = (int32_t)r;
done:
  return err;
}

/** Sort the n points from place first on. @param[out] order  [n] of them, counted from the first */
static tsl_err sort_set(const tsl_problem *problem, int64_t first, int64_t n, int32_t *order) {
  enum { GRAIN = 1 << 14 /* points; stay in a core's caches */ };
  enum { STAY = 4 /* cuts until coordinates move */ };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  sorting s = {.wide = p->type == TSL_F64, .d = p->d, .n = n, .cell = TRI_TILE};
  if (n == 0) goto done;
  TSL_TRY(set_points(problem, first, &s));
  while (s.cell < n) s.cell *= 2;
  for (int cuts = 1; s.cell > TRI_TILE; s.cell = s.least, cuts++) {
    s.least = s.cell > GRAIN ? s.cell / 2 : TRI_TILE;
    TSL_TRY(tsl_parallel(tsl_divide_up(n, s.cell), 1, cut_cells, &s));
    if (cuts % STAY == 0 || s.least == GRAIN) TSL_TRY(move_rows(&s, GRAIN));
  }
  for (int64_t r = 0; r < n; r++) order[r] = s.number[place_of(s.points[r])];
done:
  TSL_FREE_ALL(s.points, s.number, s.x, s.moved);
  return err;
}

tsl_err tri_near_sort(const tsl_problem *problem, int32_t *order) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  if (p->two) TSL_TRY(sort_set(problem, 0, p->columns, order));
  TSL_TRY(sort_set(problem, p->first, tri_rows_of(p), order + p->first));
done:
  return err;
}

/** Elements [first, first + n) in the order of their set. */
static void permute_set(int64_t bytes, const int32_t *order, int64_t first, int64_t n,
                        const char *from, char *to) {
  for (int64_t r = first; r < first + n; r++)
    if (bytes == 4)
      memcpy(to + 4 * r, from + 4 * (first + order[r]), 4);
    else
      memcpy(to + 8 * r, from + 8 * (first + order[r]), 8);
}

/** A row of p->n elements of 4 or 8 bytes in another order. */
static void permute(const tri_params *p, int64_t bytes, const int32_t *order, const void *from,
                    void *to) {
  if (p->two) permute_set(bytes, order, 0, p->columns, from, to);
  permute_set(bytes, order, p->first, tri_rows_of(p), from, to);
}

/** A field in another order, rows of n_pad elements. @param[out] to  from tsl_alloc */
static tsl_err permute_field(const tri_params *p, const tsl_field *field, int64_t rows,
                             int64_t bytes, const int32_t *order, void **to) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(rows * p->n_pad, (size_t)bytes, "points in order", to));
  for (int64_t k = 0; k < rows; k++)
    permute(p, bytes, order, (const char *)field->data + k * p->n_pad * bytes,
            (char *)*to + k * p->n_pad * bytes);
done:
  return err;
}

tsl_err tri_near_apply(tsl_problem *problem, int32_t *order) {
  static const int moved[] = {TRI_POINTS, TRI_EXTRAS, TRI_CLASSES, TRI_WEIGHTS};
  enum { MOVED = sizeof moved / sizeof moved[0] };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  void *to[MOVED] = {NULL};
  for (int m = 0; m < MOVED; m++) {
    const tsl_field *field = &problem->fields[moved[m]];
    const int64_t rows = moved[m] == TRI_POINTS ? p->d : field->shape[0] > 0;
    const bool real = moved[m] == TRI_POINTS || moved[m] == TRI_EXTRAS;
    const int64_t bytes = real ? (int64_t)tsl_type_bytes((tsl_type)p->type) : 4;
    TSL_TRY(permute_field(p, field, rows, bytes, order, &to[m]));
  }
  for (int m = 0; m < MOVED; m++) {
    tsl_free(problem->fields[moved[m]].data);
    problem->fields[moved[m]].data = to[m];
    to[m] = NULL;
  }
  problem->fields[TRI_ORDER].data = order;
  problem->fields[TRI_ORDER].shape[0] = p->n;
done:
  for (int m = 0; m < MOVED; m++) tsl_free(to[m]);
  return err;
}

/* ------------------------------------------------------------------ boxes */

void tri_tree_clear(tri_tree *t) {
  TSL_FREE_ALL(t->lo, t->hi, t->extra, t->place);
  *t = (tri_tree){0};
}

/** Numbers of nodes and where levels begin. */
static void set_levels(const tri_params *p, tri_tree *t) {
  int64_t nodes = tsl_divide_up(tri_columns_of(p), TRI_TILE);
  for (t->levels = 0; t->levels == 0 || t->nodes[t->levels - 1] > TRI_FAN;) {
    t->nodes[t->levels] = nodes;
    t->first[t->levels++] = t->ld;
    t->ld += tsl_divide_up(tsl_max(nodes, 1), TRI_FAN) * TRI_FAN;
    nodes = tsl_divide_up(nodes, TRI_FAN);
  }
}

#define BOXES(R, name)                                                                     \
  /** Least and largest of runs of `run` elements of n. lo, hi: [runs] */                  \
  static void name(const void *least, const void *most, int64_t n, int64_t run, void *lo_, \
                   void *hi_) {                                                            \
    R *const lo = lo_, *const hi = hi_;                                                    \
    for (int64_t first = 0, m = 0; first < n; first += run, m++) {                         \
      const R *const a = (const R *)least + first, *const b = (const R *)most + first;     \
      R low = a[0], high = b[0];                                                           \
      for (int64_t i = 1; i < tsl_min(run, n - first); i++)                                \
        low = a[i] < low ? a[i] : low, high = b[i] > high ? b[i] : high;                   \
      lo[m] = low, hi[m] = high;                                                           \
    }                                                                                      \
  }
BOXES(float, boxes_f32)
BOXES(double, boxes_f64)
#undef BOXES

/** All levels of one coordinate, lo and hi [ld]; its points are x. */
static void set_boxes(const tri_params *p, const tri_tree *t, const char *x, char *lo, char *hi) {
  void (*const boxes)(const void *, const void *, int64_t, int64_t, void *, void *) =
      p->type == TSL_F32 ? boxes_f32 : boxes_f64;
  const int64_t bytes = (int64_t)tsl_type_bytes((tsl_type)p->type);
  boxes(x, x, tri_columns_of(p), TRI_TILE, lo, hi);
  for (int l = 1; l < t->levels; l++) {
    const int64_t below = t->first[l - 1] * bytes, at = t->first[l] * bytes;
    boxes(lo + below, hi + below, t->nodes[l - 1], TRI_FAN, lo + at, hi + at);
  }
}

tsl_err tri_tree_create(const tsl_problem *problem, tri_tree *t) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int32_t *order = problem->fields[TRI_ORDER].data;
  const int64_t bytes = (int64_t)tsl_type_bytes((tsl_type)p->type), rows = tri_rows_of(p);
  const bool has = problem->fields[TRI_EXTRAS].shape[0] > 0;
  void *least = NULL;
  *t = (tri_tree){0};
  set_levels(p, t);
  TSL_TRY(tsl_alloc(p->d * t->ld, (size_t)bytes, "boxes", &t->lo));
  TSL_TRY(tsl_alloc(p->d * t->ld, (size_t)bytes, "boxes", &t->hi));
  TSL_TRY(tsl_alloc(rows, sizeof *t->place, "places of rows", (void **)&t->place));
  for (int64_t k = 0; k < p->d; k++) {
    const int64_t at = k * t->ld * bytes;
    const char *x = (const char *)problem->fields[TRI_POINTS].data + k * p->n_pad * bytes;
    set_boxes(p, t, x, (char *)t->lo + at, (char *)t->hi + at);
  }
  if (has) {
    TSL_TRY(tsl_alloc(t->ld, (size_t)bytes, "boxes", &t->extra));
    TSL_TRY(tsl_alloc(t->ld, (size_t)bytes, "boxes", &least));
    set_boxes(p, t, problem->fields[TRI_EXTRAS].data, least, t->extra);
  }
  for (int64_t r = 0; r < rows; r++) t->place[order[p->first + r]] = (int32_t)(p->first + r);
done:
  tsl_free(least);
  return err;
}
