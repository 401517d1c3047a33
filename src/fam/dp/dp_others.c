/* LOCAL: the next best alignments, none of which has a pair of letters of one before it (Waterman
 * and Eggert 1987, J. Mol. Biol. 197, 723). Rank 0 fills the table again without the pairs that are
 * taken, a byte for each cell; after each alignment from the kept row above it on, until a kept row
 * below it is what it was. */
#include "dp_others.h"

#include "dp_family.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_EACH = 256 /* rows from one that is kept to the next */ };
enum { PAIR = 1, LEFT = 2, LEFT_OPENED = 4, UP_OPENED = 8, TAKEN = 16 }; /* bits of a cell */
#define MINUS (INT32_MIN / 2)

/** The table at work; rows and columns of cells from 0, of row i and column j of the letters. */
typedef struct table {
  const dp_params *p;
  const uint8_t *a, *b;
  uint8_t *cells; /**< [n][m] */
  int32_t *h, *f; /**< [m + 1] the row above, f behind h: values, gaps upwards */
  int32_t *kept;  /**< [rows / KEPT_EACH][2][m + 1] the same before each KEPT_EACH-th row */
  int32_t *most;  /**< [n] best value of each row */
  int32_t *at;    /**< [n] its first column */
} table;

static int64_t width_of(const dp_params *p) {
  return 2 * (p->m + 1);
}

int64_t dp_others_bytes(const dp_params *p) {
  const int64_t rows = p->n / KEPT_EACH + 2;
  return p->n * p->m + rows * width_of(p) * (int64_t)sizeof(int32_t) +
         2 * p->n * (int64_t)sizeof(int32_t);
}

static tsl_err table_create(const tsl_problem *problem, table *t) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const int64_t width = width_of(p);
  *t = (table){.p = p, .a = problem->fields[DP_A].data, .b = problem->fields[DP_B].data};
  TSL_TRY(tsl_alloc(p->n * p->m, 1, "table of alignments", (void **)&t->cells));
  TSL_TRY(tsl_alloc(width, sizeof *t->h, "row", (void **)&t->h));
  TSL_TRY(tsl_alloc((p->n / KEPT_EACH + 1) * width, sizeof *t->kept, "rows", (void **)&t->kept));
  TSL_TRY(tsl_alloc(p->n, sizeof *t->most, "best cells", (void **)&t->most));
  TSL_TRY(tsl_alloc(p->n, sizeof *t->at, "best cells", (void **)&t->at));
  t->f = t->h + p->m + 1;
done:
  return err;
}

static void table_clear(table *t) {
  TSL_FREE_ALL(t->cells, t->h, t->kept, t->most, t->at);
}

/* ---- rows */

static void fill_row(table *t, int64_t i) {
  const int32_t extend = t->p->scores.extend, gap = t->p->scores.open + extend;
  const int32_t *const scores = t->p->scores.s[t->a[i]];
  uint8_t *const cells = t->cells + i * t->p->m;
  int32_t corner = 0, left = 0, along = MINUS, most = 0, at = 0;
  for (int64_t j = 0; j < t->p->m; j++) {
    const int32_t pair = cells[j] & TAKEN ? MINUS : corner + scores[t->b[j]];
    const int32_t e_opened = left - gap, e_longer = along - extend;
    const int32_t f_opened = t->h[j + 1] - gap, f_longer = t->f[j + 1] - extend;
    const int32_t down = f_opened > f_longer ? f_opened : f_longer;
    along = e_opened > e_longer ? e_opened : e_longer;
    const int32_t gaps = along > down ? along : down, best = pair > gaps ? pair : gaps;
    corner = t->h[j + 1];
    left = best > 0 ? best : 0;
    t->h[j + 1] = left, t->f[j + 1] = down;
    cells[j] = (uint8_t)((cells[j] & TAKEN) | (left == pair) * PAIR | (left == along) * LEFT |
                         (e_opened >= e_longer) * LEFT_OPENED | (f_opened >= f_longer) * UP_OPENED);
    if (left > most) most = left, at = (int32_t)j;
  }
  t->most[i] = most, t->at[i] = at;
}

/** Rows from `first` on, which is one before which a row is kept; below `last`, the last one with
 *  pairs newly taken, until nothing changes any more. fresh: nothing is kept yet. */
static void fill(table *t, int64_t first, int64_t last, bool fresh) {
  const int64_t width = width_of(t->p);
  const size_t bytes = (size_t)width * sizeof *t->h;
  for (int64_t j = 0; j < width; j++) t->h[j] = j <= t->p->m ? 0 : MINUS;
  if (!fresh) memcpy(t->h, t->kept + first / KEPT_EACH * width, bytes);
  for (int64_t i = first; i < t->p->n; i++) {
    int32_t *const kept = t->kept + i / KEPT_EACH * width;
    if (i % KEPT_EACH == 0 && !fresh && i > last && memcmp(kept, t->h, bytes) == 0) return;
    if (i % KEPT_EACH == 0) memcpy(kept, t->h, bytes);
    fill_row(t, i);
  }
}

/* ---- alignments */

/** The pairs of an alignment are taken. */
static void take(table *t, const letters_alignment *al) {
  int64_t i = al->begin[0], j = al->begin[1];
  for (int64_t k = al->n_steps - 1; k >= 0; k--) {
    const int64_t *run = al->steps[k];
    if (run[0] == DP_MATCH || run[0] == DP_MISMATCH)
      for (int64_t r = 0; r < run[1]; r++) t->cells[(i + r) * t->p->m + j + r] |= TAKEN;
    if (run[0] != DP_INSERT) i += run[1];
    if (run[0] != DP_DELETE) j += run[1];
  }
}

/** Steps from the end of an alignment. */
typedef struct steps {
  int64_t (*at)[2];
  int64_t n, room;
} steps;

static tsl_err add(steps *s, int64_t operation) {
  tsl_err err = TSL_OK;
  if (s->n == 0 || s->at[s->n - 1][0] != operation) {
    TSL_TRY(tsl_grow((void **)&s->at, s->n, 1, &s->room, sizeof *s->at, "alignment"));
    s->at[s->n][0] = operation, s->at[s->n++][1] = 0;
  }
  s->at[s->n - 1][1]++;
done:
  return err;
}

/** From the cell before (end[0], end[1]) to where the value is 0. @param[out] begin  there */
static tsl_err walk(const table *t, int64_t value, const int64_t end[2], int64_t begin[2],
                    steps *s) {
  tsl_err err = TSL_OK;
  enum { CELL, ALONG, DOWN } state = CELL;
  int64_t i = end[0], j = end[1];
  while (state != CELL || value > 0) {
    const uint8_t cell = t->cells[(i - 1) * t->p->m + j - 1];
    if (state == CELL && cell & PAIR) {
      const uint8_t x = t->a[--i], y = t->b[--j];
      TSL_TRY(add(s, x == y ? DP_MATCH : DP_MISMATCH));
      value -= t->p->scores.s[x][y];
      continue;
    }
    if (state == CELL) state = cell & LEFT ? ALONG : DOWN;
    TSL_TRY(add(s, state == ALONG ? DP_INSERT : DP_DELETE));
    value += t->p->scores.extend;
    if (cell & (state == ALONG ? LEFT_OPENED : UP_OPENED)) {
      value += t->p->scores.open;
      *(state == ALONG ? &j : &i) -= 1;
      state = CELL;
    } else {
      *(state == ALONG ? &j : &i) -= 1;
    }
  }
  begin[0] = i, begin[1] = j;
done:
  return err;
}

/** The best alignment of what is left; without steps where there is none. */
static tsl_err find(const table *t, letters_alignment *al) {
  tsl_err err = TSL_OK;
  steps s = {NULL, 0, 0};
  int64_t best = 0;
  for (int64_t i = 1; i < t->p->n; i++)
    if (t->most[i] > t->most[best]) best = i;
  if (t->most[best] == 0) return TSL_OK;
  al->value = t->most[best];
  al->end[0] = best + 1, al->end[1] = t->at[best] + 1;
  TSL_TRY(walk(t, al->value, al->end, al->begin, &s));
  al->steps = (const int64_t(*)[2])s.at, al->n_steps = s.n;
  s.at = NULL;
done:
  tsl_free(s.at);
  return err;
}

tsl_err dp_others_find(const tsl_problem *problem, letters_alignment *list, int64_t most,
                       int64_t *n) {
  tsl_err err = TSL_OK;
  table t = {0};
  if (*n >= most || list[0].n_steps == 0) return TSL_OK;
  TSL_TRY(table_create(problem, &t));
  take(&t, &list[0]);
  fill(&t, 0, 0, true);
  for (; *n < most; (*n)++) {
    letters_alignment *const next = &list[*n];
    *next = list[0];
    next->steps = NULL, next->n_steps = 0, next->other = true;
    TSL_TRY(find(&t, next));
    if (next->n_steps == 0) break;
    take(&t, next);
    fill(&t, next->begin[0] / KEPT_EACH * KEPT_EACH, next->end[0] - 1, false);
  }
done:
  table_clear(&t);
  return err;
}

/* ---- checks */

static int ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/** The pairs of an alignment as places in the table. @return their number */
static int64_t list_pairs(const letters_alignment *al, int64_t columns, int64_t *places) {
  int64_t i = al->begin[0], j = al->begin[1], n = 0;
  for (int64_t k = al->n_steps - 1; k >= 0; k--) {
    const int64_t *run = al->steps[k];
    const bool paired = run[0] == DP_MATCH || run[0] == DP_MISMATCH;
    for (int64_t r = 0; r < run[1] && paired; r++) places[n++] = (i + r) * columns + j + r;
    if (run[0] != DP_INSERT) i += run[1];
    if (run[0] != DP_DELETE) j += run[1];
  }
  return n;
}

tsl_err dp_others_check(const tsl_problem *problem, const letters_alignment *list, int64_t n,
                        bool *apart) {
  tsl_err err = TSL_OK;
  int64_t *places = NULL, room = 0, found = 0;
  for (int64_t k = 0; k < n; k++) room += list[k].end[0] - list[k].begin[0];
  *apart = true;
  TSL_TRY(tsl_alloc(room, sizeof *places, "pairs of letters", (void **)&places));
  for (int64_t k = 0; k < n; k++)
    found += list_pairs(&list[k], dp_params_of(problem)->m, places + found);
  if (found > 0) qsort(places, (size_t)found, sizeof *places, ascending);
  for (int64_t k = 1; k < found; k++) *apart = *apart && places[k - 1] != places[k];
  for (int64_t k = 1; k < n; k++) *apart = *apart && list[k - 1].value >= list[k].value;
done:
  tsl_free(places);
  return err;
}
