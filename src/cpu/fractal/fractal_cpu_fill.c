/**
 * @file fractal_cpu_fill.c
 * exact = 0: tiles whose uniform borders are filled (Mariani-Silver), a strip of tiles at a time.
 *
 * The image is cut into tiles of FRACTAL_TILE x FRACTAL_TILE at multiples of it; a tile is clipped
 * to the box of its unit. The rule, the same as on a card: compute the border of a box; where it is
 * uniform, fill the inside with its value; else, where a side is at most SMALL, compute the inside;
 * else cut rows and columns in the middle and do the same with the four. All boxes of one depth of
 * a strip are computed together, so that lanes stay busy. Filled pixels chosen by
 * fractal_is_sampled are computed in the end, and compared; they keep the filled value.
 */
#include "fractal_cpu.h"
#include "fractal_fn.h"
#include "integers.h"

#include <string.h>

enum {
  SMALL = 4,
  TILES = 16, /**< of a strip */
  WIDTH = TILES * FRACTAL_TILE,
  PIXELS = FRACTAL_TILE * WIDTH,
  MAX_BOXES = TILES * 64 /**< of the last depth: sides 32, 16, 8, 4 */
};

/** A part of a tile, strip coordinates. */
typedef struct box {
  int16_t row, column, rows, columns;
  int16_t all; /**< its inside is to be computed; else its border */
} box;

enum { UNKNOWN, KNOWN, FILLED };

struct fractal_strip {
  /* where it is, and the values of its unit */
  int64_t row, column; /**< of its first pixel in the image */
  int64_t rows, columns;
  int64_t ld; /**< columns of the unit */
  char *values;
  int64_t unit;
  /* boxes of this depth and of the next */
  box boxes[2][MAX_BOXES];
  int64_t n_boxes[2];
  uint8_t state[PIXELS]; /**< [row * WIDTH + column] */
  /* pixels to be computed */
  double x[PIXELS], y[PIXELS]; /**< of params.type: floats take the first half */
  int64_t place[PIXELS];
  int64_t n;
  uint32_t sample[PIXELS]; /**< of params.value_type: values of the pixels of the sample */
};

/** A strip's list as the only piece of a source. */
typedef struct list_source {
  fractal_source source;
  fractal_piece piece;
} list_source;

int64_t fractal_strip_count(const tsl_unit *unit) {
  const int64_t down = (unit->hi[0] - 1) / FRACTAL_TILE - unit->lo[0] / FRACTAL_TILE + 1;
  const int64_t across = (unit->hi[1] - 1) / WIDTH - unit->lo[1] / WIDTH + 1;
  return down * across;
}

tsl_err fractal_strip_create(fractal_strip **strip) {
  return tsl_alloc(1, sizeof **strip, "strip of tiles", (void **)strip);
}

void fractal_strip_destroy(fractal_strip **strip) {
  tsl_free(*strip);
  *strip = NULL;
}

/** Strip number of the unit, cut to the unit. */
static void strip_set(fractal_strip *s, const tsl_unit *unit, int64_t number) {
  const int64_t left = unit->lo[1] / WIDTH;
  const int64_t across = (unit->hi[1] - 1) / WIDTH - left + 1;
  const int64_t row = (unit->lo[0] / FRACTAL_TILE + number / across) * FRACTAL_TILE;
  const int64_t column = (left + number % across) * WIDTH;
  s->row = tsl_max(row, unit->lo[0]);
  s->column = tsl_max(column, unit->lo[1]);
  s->rows = tsl_min(row + FRACTAL_TILE, unit->hi[0]) - s->row;
  s->columns = tsl_min(column + WIDTH, unit->hi[1]) - s->column;
  s->ld = fractal_width(unit);
  memset(s->state, UNKNOWN, sizeof s->state);
}

/** Its tiles are the first boxes. */
static void strip_tiles(fractal_strip *s) {
  s->n_boxes[0] = 0;
  for (int64_t from = s->column, to; from < s->column + s->columns; from = to) {
    to = tsl_min((from / FRACTAL_TILE + 1) * FRACTAL_TILE, s->column + s->columns);
    s->boxes[0][s->n_boxes[0]++] = (box){.column = (int16_t)(from - s->column),
                                         .rows = (int16_t)s->rows,
                                         .columns = (int16_t)(to - from)};
  }
}

static uint32_t strip_value(const tsl_worker *w, const fractal_strip *s, int64_t r, int64_t c) {
  return fractal_value(w, s->values, r * s->ld + c);
}

/* ------------------------------------------------------------------ lists */

static void list_add(const tsl_worker *w, fractal_strip *s, int64_t r, int64_t c, int64_t place) {
  const int64_t b = w->r_bytes;
  memcpy((char *)s->x + s->n * b, w->x + (s->column + c) * b, (size_t)b);
  memcpy((char *)s->y + s->n * b, w->y + (s->row + r) * b, (size_t)b);
  s->place[s->n++] = place;
}

/** What the box needs and is not known. */
static void list_box(const tsl_worker *w, fractal_strip *s, const box *b) {
  for (int r = b->row; r < b->row + b->rows; r++) {
    const bool whole = b->all != 0 || r == b->row || r == b->row + b->rows - 1;
    const int step = whole || b->columns == 1 ? 1 : b->columns - 1;
    for (int c = b->column; c < b->column + b->columns; c += step) {
      if (s->state[r * WIDTH + c] != UNKNOWN) continue;
      s->state[r * WIDTH + c] = KNOWN;
      list_add(w, s, r, c, r * s->ld + c);
    }
  }
}

static bool list_next(fractal_source *source, fractal_piece *piece) {
  list_source *const list = (list_source *)source;
  *piece = list->piece;
  list->piece.n = 0;
  return piece->n > 0;
}

/** Values of the list to out[place]; empties it. */
static void list_compute(const tsl_worker *w, fractal_strip *s, void *out, double *work) {
  fractal_counts counts = {.work = work}; /* totals are taken from the whole strip */
  list_source list = {
      .source = {list_next},
      .piece = {.x = s->x, .y = s->y, .out = out, .place = s->place, .n = s->n, .unit = s->unit}};
  w->kernels->paint[w->t](w->p, &list.source, &counts);
  s->n = 0;
}

/* ------------------------------------------------------------------ the rule */

static bool is_uniform(const tsl_worker *w, const fractal_strip *s, const box *b) {
  const uint32_t value = strip_value(w, s, b->row, b->column);
  const int bottom = b->row + b->rows - 1, right = b->column + b->columns - 1;
  for (int c = b->column; c <= right; c++)
    if (strip_value(w, s, b->row, c) != value || strip_value(w, s, bottom, c) != value)
      return false;
  for (int r = b->row; r <= bottom; r++)
    if (strip_value(w, s, r, b->column) != value || strip_value(w, s, r, right) != value)
      return false;
  return true;
}

static void fractal_cpu_fill_fill(const tsl_worker *w, fractal_strip *s, const box *b) {
  const uint32_t value = strip_value(w, s, b->row, b->column);
  for (int r = b->row + 1; r < b->row + b->rows - 1; r++)
    for (int c = b->column + 1; c < b->column + b->columns - 1; c++) {
      s->state[r * WIDTH + c] = FILLED;
      if (w->value_bytes == 2)
        ((uint16_t *)s->values)[r * s->ld + c] = (uint16_t)value;
      else
        ((uint32_t *)s->values)[r * s->ld + c] = value;
    }
}

static void quarter(const box *b, box four[4]) {
  const int16_t rows = b->rows / 2, columns = b->columns / 2;
  for (int q = 0; q < 4; q++) {
    const bool low = q / 2 != 0, right = q % 2 != 0;
    four[q] = (box){.row = (int16_t)(b->row + (low ? rows : 0)),
                    .column = (int16_t)(b->column + (right ? columns : 0)),
                    .rows = (int16_t)(low ? b->rows - rows : rows),
                    .columns = (int16_t)(right ? b->columns - columns : columns)};
  }
}

/** From boxes whose borders are known to those of the next depth. */
static void divide(const tsl_worker *w, fractal_strip *s, int depth) {
  box *const next = s->boxes[(depth + 1) % 2];
  int64_t n = 0;
  for (int64_t k = 0; k < s->n_boxes[depth % 2]; k++) {
    const box *b = &s->boxes[depth % 2][k];
    if (b->all != 0) continue;
    if (is_uniform(w, s, b)) {
      fractal_cpu_fill_fill(w, s, b);
    } else if (b->rows <= SMALL || b->columns <= SMALL) {
      next[n] = *b;
      next[n++].all = 1;
    } else {
      quarter(b, next + n);
      n += 4;
    }
  }
  s->n_boxes[(depth + 1) % 2] = n;
}

/** Compute the filled pixels of the sample and count those that differ. */
static void sample(const tsl_worker *w, fractal_strip *s, fractal_counts *counts) {
  for (int64_t r = 0; r < s->rows; r++)
    for (int64_t c = 0; c < s->columns; c++) {
      if (s->state[r * WIDTH + c] != FILLED) continue;
      counts->totals[FRACTAL_TOTAL_FILLED]++;
      if (fractal_is_sampled(s->row + r, s->column + c)) list_add(w, s, r, c, r * WIDTH + c);
    }
  counts->totals[FRACTAL_TOTAL_SAMPLED] += (uint64_t)s->n;
  const int64_t n = s->n;
  list_compute(w, s, s->sample, counts->work);
  for (int64_t k = 0; k < n; k++) {
    const int64_t at = s->place[k];
    counts->totals[FRACTAL_TOTAL_WRONG] +=
        fractal_value(w, s->sample, at) != strip_value(w, s, at / WIDTH, at % WIDTH);
  }
}

static void strip_run(const tsl_worker *w, fractal_strip *s, fractal_counts *counts) {
  strip_tiles(s);
  for (int depth = 0; s->n_boxes[depth % 2] > 0; depth++) {
    for (int64_t k = 0; k < s->n_boxes[depth % 2]; k++) list_box(w, s, &s->boxes[depth % 2][k]);
    list_compute(w, s, s->values, counts->work);
    divide(w, s, depth);
  }
  sample(w, s, counts);
  for (int64_t r = 0; r < s->rows; r++)
    fractal_count_values(w, s->values + r * s->ld * w->value_bytes, s->columns, counts->totals);
}

void fractal_strips_run(tsl_worker *w, fractal_job *job, int thread, fractal_counts *counts) {
  fractal_strip *const s = w->strips[thread];
  for (;;) {
    const int64_t item = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
    if (item >= job->first[job->n]) break;
    s->unit = fractal_unit_of(job, item);
    const tsl_unit *unit = &job->units[s->unit];
    strip_set(s, unit, item - job->first[s->unit]);
    s->values = (char *)job->parts[s->unit].slab[FRACTAL_VALUES] +
                ((s->row - unit->lo[0]) * s->ld + s->column - unit->lo[1]) * w->value_bytes;
    strip_run(w, s, counts);
  }
}
