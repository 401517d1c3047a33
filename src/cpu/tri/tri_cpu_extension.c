/** @file tri_cpu_extension.c  Extensions: which cells are computed, and directions in strips of
 *  antidiagonals, of which those before the last are computed again on the way back. */
#include "tri_cpu_extension.h"

#include "integers.h"
#include "tri_cpu_letters.h"

#include <string.h>

/** A strip, and where the cells before it are kept. */
typedef struct extension_strip {
  tri_extension_state state;
  int64_t cells; /**< place in tri_extender.cells */
} extension_strip;

struct tri_extender {
  const tri_cpu_letters *l;
  tri_extension x;
  int32_t *rows; /**< memory of the cells of x */
  tri_extension_state s;
  /* traced: */
  uint8_t *directions; /**< [directions_n] of the strip at work */
  tri_extension_line *lines;
  extension_strip *strips; /**< [strips_n] */
  int32_t *cells;          /**< [cells_n] of antidiagonals before strips */
  int64_t directions_n, lines_n, strips_n, strips_room, cells_n, cells_room;
};

/* ---- memory */

tsl_err tri_extender_create(const tri_cpu_letters *l, tri_extender **out) {
  tsl_err err = TSL_OK;
  tri_extender *t = NULL;
  const int64_t width = l->p->longest + TRI_EXTENSION_BESIDE, codes = l->p->codes;
  TSL_TRY(tsl_alloc(1, sizeof *t, "extension", (void **)&t));
  *out = t;
  t->l = l;
  tri_extension *const x = &t->x;
  x->open = l->p->open, x->extend = l->p->extend;
  TSL_TRY(tsl_alloc(width, 1, "letters", (void **)&x->a));
  TSL_TRY(tsl_alloc(width, 1, "letters", (void **)&x->b));
  TSL_TRY(tsl_alloc(codes * TRI_LETTER_CODES, sizeof *x->scores, "scores", (void **)&x->scores));
  TSL_TRY(tsl_alloc(tri_extension_cells(l->p->longest), sizeof *t->rows, "antidiagonals",
                    (void **)&t->rows));
  for (int64_t a = 0; a < codes; a++)
    for (int64_t b = 0; b < codes; b++)
      x->scores[a * TRI_LETTER_CODES + b] = l->scores[a * codes + b];
  int32_t **const arrays[TRI_EXTENSION_ARRAYS] = {&x->h[0], &x->h[1], &x->h[2], &x->e[0],
                                                  &x->e[1], &x->f[0], &x->f[1]};
  for (int k = 0; k < TRI_EXTENSION_ARRAYS; k++) *arrays[k] = t->rows + k * width + 1;
done:
  return err;
}

void tri_extender_clear(tri_extender **extender) {
  tri_extender *t = *extender;
  if (t == NULL) return;
  TSL_FREE_ALL(t->x.a, t->x.b, t->x.scores, t->rows, t->directions, t->lines, t->strips, t->cells,
               t);
  *extender = NULL;
}

/* ---- antidiagonals */

/** Cell (0, 0) is done. */
static void begin(tri_extender *t, int64_t row, int64_t column) {
  const tri_sequences *s = &t->l->sequences;
  const uint8_t *const b = s->codes + s->starts[column];
  tri_extension *const x = &t->x;
  x->n = tri_sequence_length(s, row), x->m = tri_sequence_length(s, column);
  memcpy(x->a + 1, s->codes + s->starts[row], (size_t)x->n);
  for (int64_t j = 0; j < x->m; j++) x->b[j] = b[x->m - 1 - j];
  x->a[0] = x->b[x->m] = 0; /* looked up beside cells that are minus infinity */
  for (int64_t i = -1; i <= 1; i++)
    x->h[0][i] = x->h[1][i] = x->e[0][i] = x->f[0][i] = TRI_EXTENSION_MINUS;
  x->h[0][0] = 0;
  t->s = tri_extension_begin();
}

/** Its largest value. */
static void look(tri_extender *t, int32_t lo, int32_t most) {
  if (most < t->s.top) return;
  while (t->x.h[0][lo] != most) lo++;
  tri_extension_look(&t->s, most, lo);
}

/** Compute rows [lo, hi] of antidiagonal k, and go on to the next. */
static void step(tri_extender *t, int32_t lo, int32_t hi, uint8_t *directions) {
  tri_extension *const x = &t->x;
  tri_extension_state *const s = &t->s;
  int32_t first = lo, last = hi;
  int32_t *const h = x->h[2], *const e = x->e[1], *const f = x->f[1];
  x->h[2] = x->h[1], x->h[1] = x->h[0], x->h[0] = h;
  x->e[1] = x->e[0], x->e[0] = e;
  x->f[1] = x->f[0], x->f[0] = f;
  look(t, lo, t->l->kernels->extension(x, s->k, lo, hi, s->top - t->l->p->x_drop, directions));
  while (first <= last && h[first] == TRI_EXTENSION_MINUS) first++;
  while (first <= last && h[last] == TRI_EXTENSION_MINUS) last--;
  tri_extension_next(s, lo, hi, first, last);
}

/** Rows of the next antidiagonal. @return any? */
static bool find_rows(const tri_extender *t, int32_t *lo, int32_t *hi) {
  return tri_extension_rows(&t->s, (int32_t)t->x.n, (int32_t)t->x.m, lo, hi);
}

int64_t tri_extend(tri_extender *t, int64_t row, int64_t column) {
  int32_t lo, hi;
  begin(t, row, column);
  while (find_rows(t, &lo, &hi)) step(t, lo, hi, NULL);
  return t->s.top;
}

/* ---- strips */

/** What is kept of the cells before a strip: antidiagonals k - 1 and, of values, k - 2. */
enum { KEPT = 4 };

static void kept_arrays(const tri_extension *x, int32_t *arrays[KEPT]) {
  arrays[0] = x->h[0], arrays[1] = x->h[1], arrays[2] = x->e[0], arrays[3] = x->f[0];
}

static tsl_err begin_strip(tri_extender *t) {
  tsl_err err = TSL_OK;
  const tri_extension_state *s = &t->s;
  const int64_t n = s->most - s->least + 1;
  int32_t *arrays[KEPT];
  kept_arrays(&t->x, arrays);
  TSL_TRY(tsl_grow((void **)&t->strips, t->strips_n, 1, &t->strips_room, sizeof *t->strips,
                   "strips of an alignment"));
  TSL_TRY(tsl_grow((void **)&t->cells, t->cells_n, KEPT * n, &t->cells_room, sizeof *t->cells,
                   "strips of an alignment"));
  t->strips[t->strips_n++] = (extension_strip){*s, t->cells_n};
  for (int k = 0; k < KEPT; k++, t->cells_n += n)
    memcpy(t->cells + t->cells_n, arrays[k] + s->least, (size_t)n * sizeof *t->cells);
done:
  return err;
}

/** The last strip again, up to antidiagonal `end`. */
static void run_strip(tri_extender *t, int64_t end) {
  const extension_strip *strip = &t->strips[t->strips_n - 1];
  const int64_t least = strip->state.least, n = strip->state.most - least + 1;
  int32_t lo, hi;
  int32_t *arrays[KEPT];
  kept_arrays(&t->x, arrays);
  for (int k = 0; k < KEPT; k++)
    memcpy(arrays[k] + least, t->cells + strip->cells + k * n, (size_t)n * sizeof *t->cells);
  t->s = strip->state;
  while (t->s.k < end && find_rows(t, &lo, &hi))
    step(t, lo, hi, t->directions + t->lines[t->s.k].place);
}

tsl_err tri_extend_traced(tri_extender *t, int64_t row, int64_t column, int64_t *value,
                          int64_t at[2]) {
  tsl_err err = TSL_OK;
  int32_t lo, hi;
  begin(t, row, column);
  const int64_t room = tri_extension_strip(t->x.n, t->x.m, TRI_EXTENSION_STRIP);
  TSL_TRY(tri_traceback_renew(room, 1, &t->directions_n, (void **)&t->directions));
  TSL_TRY(
      tri_traceback_renew(t->x.n + t->x.m + 1, sizeof *t->lines, &t->lines_n, (void **)&t->lines));
  t->strips_n = t->cells_n = 0;
  for (int64_t place = room, next; find_rows(t, &lo, &hi); place = next) {
    if (place + hi - lo + 1 > room) {
      TSL_TRY(begin_strip(t));
      place = 0;
    }
    t->lines[t->s.k] = (tri_extension_line){lo, place};
    next = place + hi - lo + 1;
    step(t, lo, hi, t->directions + place);
  }
  *value = t->s.top;
  at[0] = t->s.at[0], at[1] = t->s.at[1];
done:
  return err;
}

uint8_t tri_extension_direction(tri_extender *t, int64_t i, int64_t j) {
  const tri_extension_line *line = &t->lines[i + j];
  if (i + j < t->strips[t->strips_n - 1].state.k) {
    while (i + j < t->strips[t->strips_n - 1].state.k) t->strips_n--;
    run_strip(t, t->strips[t->strips_n].state.k);
  }
  return t->directions[line->place + i - line->lo];
}
