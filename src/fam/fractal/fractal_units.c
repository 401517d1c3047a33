/* The image cut into bands of rows of about equal expected cost, and bands into pieces where
 * needed.
 */
#include "fractal_family.h"
#include "integers.h"

#include <string.h>

enum { SMALL = 16384 }; /* pixels: bands are not cut into smaller pieces for balance */

/* Steps of the cost pass: about 0.1 s of one thread. */
static const fractal_effort OF_IMAGE = {.first = 16, .budget = 30000000, .part = 1.0 / 1024};

/* The same for a calibration sample, of which there are a few dozen. */
static const fractal_effort OF_SAMPLE = {.first = 8, .budget = 2000000, .part = 1.0 / 128};

/** How the image is cut; lengths in rows and columns. */
typedef struct cutter {
  const fractal_params *params;
  fractal_cost cost;
  int64_t wanted;     /**< units */
  int64_t quantum[2]; /**< cuts are at multiples of these */
  int64_t most;       /**< pixels of a unit, at least a quantum's */
} cutter;

/** Pixels that the limits allow in a unit; values are all that a unit holds. */
static int64_t pixels_within(const fractal_params *p, const tsl_limits *limits) {
  const int64_t bytes = tsl_min(limits->slab_bytes, limits->device_bytes);
  return tsl_max(1, bytes / (int64_t)tsl_type_bytes((tsl_type)p->value_type));
}

static tsl_err open_cutter(const tsl_problem *problem, const tsl_limits *limits, cutter *c) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  const int64_t tile = p->exact ? 1 : FRACTAL_TILE;
  const int64_t lo[2] = {0, 0}, hi[2] = {p->yres, p->xres};
  *c = (cutter){.params = p,
                .wanted = tsl_max(1, limits->target_units),
                .quantum = {tile, FRACTAL_TILE},
                .most = pixels_within(p, limits)};
  if (p->exact && c->most < FRACTAL_TILE) c->quantum[1] = 1;
  TSL_TRY(fractal_cost_make(problem, lo, hi, &OF_IMAGE, &c->cost));
done:
  return err;
}

/** Features of the box of u, which the cost model reads. */
static void fractal_units_set_features(const fractal_params *p, double steps, tsl_unit *u) {
  const double pixels = (double)(u->hi[0] - u->lo[0]) * (double)(u->hi[1] - u->lo[1]);
  u->count = steps;
  u->flops = 7 * steps;
  u->bytes = pixels * (double)tsl_type_bytes((tsl_type)p->value_type);
  u->device_bytes = u->bytes;
}

/* ------------------------------------------------------------------- cuts */

/** A line to be cut: rows of the image, or columns of a band [a, b). */
typedef struct line {
  const cutter *cutter;
  int axis;
  int64_t a, b;   /**< axis 1: the band */
  int64_t n;      /**< its length */
  int64_t most;   /**< of a piece, a multiple of the quantum */
  int64_t pieces; /**< wanted */
} line;

static double cost_between(const line *l, int64_t from, int64_t to) {
  const fractal_params *p = l->cutter->params;
  if (l->axis == 0) return fractal_cost_of(&l->cutter->cost, from, to, 0, p->xres);
  return fractal_cost_of(&l->cutter->cost, l->a, l->b, from, to);
}

/** Smallest end of a piece from `from` with at least the goal's cost, or the line's end. */
static int64_t end_for(const line *l, int64_t from, double goal) {
  int64_t low = from + 1, high = l->n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (cost_between(l, from, middle) >= goal)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** End of the piece that starts at `from`, when left more pieces are wanted. */
static int64_t next_cut(const line *l, int64_t from, int64_t left) {
  const int64_t quantum = l->cutter->quantum[l->axis];
  int64_t to = l->n;
  if (left > 1) to = end_for(l, from, cost_between(l, from, l->n) / (double)left);
  if (to < l->n) to = (to + quantum / 2) / quantum * quantum;
  to = tsl_max(to, from + quantum);
  return tsl_min(tsl_min(to, from + l->most), l->n);
}

/** Bands of full width, as many rows as fit, and no fewer than wanted. */
static line rows_of(const cutter *c) {
  const fractal_params *p = c->params;
  const int64_t fit = c->most / p->xres / c->quantum[0] * c->quantum[0];
  const int64_t most = tsl_max(fit, c->quantum[0]);
  return (line){.cutter = c,
                .n = p->yres,
                .most = most,
                .pieces = tsl_max(c->wanted, tsl_divide_up(p->yres, most))};
}

/** The band [a, b) is cut only when it is too large, or when there are too few rows to balance. */
static line columns_of(const cutter *c, int64_t a, int64_t b) {
  const fractal_params *p = c->params;
  const int64_t fit = c->most / (b - a) / c->quantum[1] * c->quantum[1];
  const int64_t most = tsl_max(fit, c->quantum[1]);
  const int64_t bands = tsl_divide_up(p->yres, c->quantum[0]);
  const int64_t room = tsl_max(1, p->xres / tsl_max(1, SMALL / (b - a)));
  const int64_t for_balance = tsl_min(tsl_divide_up(c->wanted, bands), room);
  return (line){.cutter = c,
                .axis = 1,
                .a = a,
                .b = b,
                .n = p->xres,
                .most = most,
                .pieces = tsl_max(for_balance, tsl_divide_up(p->xres, most))};
}

/** Pieces of the band, appended to list (NULL: counted) from entry n on. @return entries */
static int64_t cut_band(const cutter *c, int64_t a, int64_t b, tsl_unit *list, int64_t n) {
  const line columns = columns_of(c, a, b);
  int64_t piece = 0;
  for (int64_t from = 0, to = 0; from < columns.n; from = to, n++) {
    to = next_cut(&columns, from, columns.pieces - piece++);
    if (list == NULL) continue;
    list[n] = (tsl_unit){.id = n, .lo = {a, from, 0}, .hi = {b, to, 1}};
    fractal_units_set_features(c->params, cost_between(&columns, from, to), &list[n]);
  }
  return n;
}

/** All units; list may be NULL to count only. */
static int64_t cut_all(const cutter *c, tsl_unit *list) {
  const line rows = rows_of(c);
  int64_t n = 0, band = 0;
  for (int64_t from = 0, to = 0; from < rows.n; from = to) {
    to = next_cut(&rows, from, rows.pieces - band++);
    n = cut_band(c, from, to, list, n);
  }
  return n;
}

tsl_err fractal_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  cutter c = {0};
  void *memory = NULL;
  *units = (tsl_units){0};
  TSL_TRY(open_cutter(problem, limits, &c));
  const int64_t n = cut_all(&c, NULL);
  TSL_TRY(tsl_alloc(n, sizeof(tsl_unit), "units", &memory));
  units->list = memory;
  units->n = cut_all(&c, units->list);
done:
  fractal_cost_clear(&c.cost);
  return err;
}

/* ------------------------------------------------- samples and their place */

/** Part of [lo, hi) in its middle, of about fraction, cut at the quantum. */
static void shrink(int64_t *lo, int64_t *hi, double fraction, int64_t quantum) {
  const int64_t n = tsl_divide_up(*hi - *lo, quantum);
  const int64_t kept = tsl_max(1, tsl_min(n, (int64_t)(fraction * (double)n)));
  *lo += (n - kept) / 2 * quantum;
  *hi = tsl_min(*hi, *lo + kept * quantum);
}

void fractal_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                    tsl_unit *out) {
  const fractal_params *p = fractal_params_of(problem);
  const int64_t tile = p->exact ? 1 : FRACTAL_TILE;
  const double rows = (double)tsl_divide_up(whole->hi[0] - whole->lo[0], tile);
  fractal_cost cost;
  *out = *whole;
  if (!(fraction < 1)) return;
  shrink(&out->lo[0], &out->hi[0], fraction, tile);
  if (fraction * rows < 1) shrink(&out->lo[1], &out->hi[1], fraction * rows, FRACTAL_TILE);
  const int64_t *lo = out->lo, *hi = out->hi;
  if (fractal_cost_make(problem, lo, hi, &OF_SAMPLE, &cost) == TSL_OK)
    fractal_units_set_features(p, fractal_cost_of(&cost, lo[0], hi[0], lo[1], hi[1]), out);
  else /* no memory for samples: as the whole */
    *out = *whole;
  fractal_cost_clear(&cost);
}

void fractal_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                    int64_t hi[3]) {
  (void)problem;
  memset(lo, 0, 3 * sizeof lo[0]);
  hi[0] = 0, hi[1] = hi[2] = 1;
  if (field != FRACTAL_VALUES) return; /* the binarised image: written by finish, by no unit */
  memcpy(lo, unit->lo, 2 * sizeof lo[0]);
  memcpy(hi, unit->hi, 2 * sizeof hi[0]);
}
