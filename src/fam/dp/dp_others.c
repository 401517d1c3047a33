/* LOCAL: the next best alignments, none of which has a pair of letters of one before it (Waterman
 * and Eggert 1987, J. Mol. Biol. 197, 723). Rank 0 fills the table again without the pairs that are
 * taken, a byte for each cell; after each alignment from the kept row above it on, until a kept row
 * below it is what it was. */
#include "dp_others.h"

#include "dp_family.h"
#include "integers.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

enum { BAND = 256 /* rows; the one above each band is kept */ };
enum { BLOCKS = 4 /* of columns for each thread */, LEAST = 256 /* columns of one */ };
enum { PAIR = 1, LEFT = 2, LEFT_OPENED = 4, UP_OPENED = 8, TAKEN = 16 }; /* bits of a cell */
#define MINUS (INT32_MIN / 2)

/** A band at work: what its next block begins with. */
typedef struct band {
  int32_t left[BAND], along[BAND]; /**< of each row: value, gaps along the row */
  int32_t corner;                  /**< value above the first one of `left` */
  bool changed;                    /**< the row above is not what it was */
} band;

/** The table at work; rows and columns of cells from 0, of row i and column j of the letters. */
typedef struct table {
  const dp_params *p;
  const uint8_t *a, *b;
  uint8_t *cells; /**< [n][m] */
  int32_t *h, *f; /**< [m] the row above, f behind h: values, gaps upwards */
  int32_t *kept;  /**< [bands][2][m] the same above each band */
  int32_t *most;  /**< [n] best value of each row */
  int32_t *at;    /**< [n] its first column */
  band *bands;    /**< [n_bands] of a group, which threads share: each a block behind the one
                        before it */
  int64_t n_bands, columns, group, wave; /**< columns of a block; first band; step of the group */
} table;

static int64_t width_of(const dp_params *p) {
  return 2 * p->m;
}

int64_t dp_others_bytes(const dp_params *p) {
  const int64_t rows = p->n / BAND + 2; /* the one at work, too */
  return p->n * p->m + rows * width_of(p) * (int64_t)sizeof(int32_t) +
         2 * p->n * (int64_t)sizeof(int32_t);
}

static tsl_err table_create(const tsl_problem *problem, table *t) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const int64_t width = width_of(p), slots = tsl_parallel_slots();
  *t = (table){.p = p,
               .a = problem->fields[DP_A].data,
               .b = problem->fields[DP_B].data,
               .n_bands = slots,
               .columns = tsl_max(LEAST, tsl_divide_up(p->m, BLOCKS * slots))};
  TSL_TRY(tsl_alloc(p->n * p->m, 1, "table of alignments", (void **)&t->cells));
  TSL_TRY(tsl_alloc(width, sizeof *t->h, "row", (void **)&t->h));
  TSL_TRY(tsl_alloc((p->n / BAND + 1) * width, sizeof *t->kept, "rows", (void **)&t->kept));
  TSL_TRY(tsl_alloc(p->n, sizeof *t->most, "best cells", (void **)&t->most));
  TSL_TRY(tsl_alloc(p->n, sizeof *t->at, "best cells", (void **)&t->at));
  TSL_TRY(tsl_alloc(slots, sizeof *t->bands, "bands", (void **)&t->bands));
  t->f = t->h + p->m;
done:
  return err;
}

static void table_clear(table *t) {
  TSL_FREE_ALL(t->cells, t->h, t->kept, t->most, t->at, t->bands);
}

/* ---- bands of rows, cut into blocks of columns that come one after another */

/** Columns [lo, hi) of a row. @param[in] corner  value above and left of them */
static void fill_row(table *t, band *to, int64_t i, int64_t lo, int64_t hi, int32_t corner) {
  const int32_t extend = t->p->scores.extend, gap = t->p->scores.open + extend;
  const int32_t *const scores = t->p->scores.s[t->a[i]];
  uint8_t *const cells = t->cells + i * t->p->m;
  int32_t left = to->left[i % BAND], along = to->along[i % BAND];
  int32_t most = lo > 0 ? t->most[i] : 0, at = lo > 0 ? t->at[i] : 0;
  for (int64_t j = lo; j < hi; j++) {
    const int32_t pair = cells[j] & TAKEN ? MINUS : corner + scores[t->b[j]];
    const int32_t e_opened = left - gap, e_longer = along - extend;
    const int32_t f_opened = t->h[j] - gap, f_longer = t->f[j] - extend;
    const int32_t down = f_opened > f_longer ? f_opened : f_longer;
    along = e_opened > e_longer ? e_opened : e_longer;
    const int32_t gaps = along > down ? along : down, best = pair > gaps ? pair : gaps;
    corner = t->h[j];
    left = best > 0 ? best : 0;
    t->h[j] = left, t->f[j] = down;
    cells[j] = (uint8_t)((cells[j] & TAKEN) | (left == pair) * PAIR | (left == along) * LEFT |
                         (e_opened >= e_longer) * LEFT_OPENED | (f_opened >= f_longer) * UP_OPENED);
    if (left > most) most = left, at = (int32_t)j;
  }
  to->left[i % BAND] = left, to->along[i % BAND] = along;
  t->most[i] = most, t->at[i] = at;
}

/** Keep the row above a block. @return is it another one than before? */
static bool keep(table *t, int64_t number, int64_t lo, int64_t hi) {
  int32_t *const h = t->kept + number * width_of(t->p) + lo, *const f = h + t->p->m;
  const size_t bytes = (size_t)(hi - lo) * sizeof *h;
  const bool same = memcmp(h, t->h + lo, bytes) == 0 && memcmp(f, t->f + lo, bytes) == 0;
  memcpy(h, t->h + lo, bytes);
  memcpy(f, t->f + lo, bytes);
  return !same;
}

static void fill_block(table *t, int64_t number, int64_t block) {
  band *const to = &t->bands[number % t->n_bands];
  const int64_t first = number * BAND, end = tsl_min(first + BAND, t->p->n);
  const int64_t lo = block * t->columns, hi = tsl_min(lo + t->columns, t->p->m);
  if (block == 0) {
    to->corner = 0, to->changed = false;
    for (int r = 0; r < BAND; r++) to->left[r] = 0, to->along[r] = MINUS;
  }
  const bool changed = keep(t, number, lo, hi);
  to->changed = to->changed || changed;
  int32_t corner = to->corner;
  to->corner = t->h[hi - 1];
  for (int64_t i = first; i < end; i++) {
    const int32_t next = to->left[i % BAND];
    fill_row(t, to, i, lo, hi, corner);
    corner = next;
  }
}

/** tsl_parallel_body: bands [lo, hi) of a group, each with the block that is next. */
static tsl_err fill_blocks(void *context, int slot, int64_t lo, int64_t hi) {
  table *t = context;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) {
    const int64_t block = t->wave - k;
    if (block >= 0 && block * t->columns < t->p->m) fill_block(t, t->group + k, block);
  }
  return TSL_OK;
}

/** Bands from that of row `first` on; below row `last`, the last one with pairs newly taken, until
 *  nothing changes any more. fresh: nothing is kept yet. */
static tsl_err fill(table *t, int64_t first, int64_t last, bool fresh) {
  tsl_err err = TSL_OK;
  const int64_t width = width_of(t->p), all = tsl_divide_up(t->p->n, BAND);
  const int64_t blocks = tsl_divide_up(t->p->m, t->columns);
  for (int64_t j = 0; j < width && fresh; j++) t->h[j] = j < t->p->m ? 0 : MINUS;
  t->group = first / BAND;
  if (!fresh) memcpy(t->h, t->kept + t->group * width, (size_t)width * sizeof *t->h);
  for (; t->group < all; t->group += t->n_bands) {
    const int64_t n = tsl_min(t->n_bands, all - t->group);
    for (t->wave = 0; t->wave < n + blocks - 1; t->wave++)
      TSL_TRY(tsl_parallel(n, 1, fill_blocks, t));
    for (int64_t k = t->group; k < t->group + n && !fresh; k++)
      if (k * BAND > last && !t->bands[k % t->n_bands].changed) return TSL_OK;
  }
done:
  return err;
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
  TSL_TRY(fill(&t, 0, 0, true));
  for (; *n < most; (*n)++) {
    letters_alignment *const next = &list[*n];
    *next = list[0];
    next->steps = NULL, next->n_steps = 0, next->other = true;
    TSL_TRY(find(&t, next));
    if (next->n_steps == 0) break;
    take(&t, next);
    TSL_TRY(fill(&t, next->begin[0], next->end[0] - 1, false));
  }
done:
  table_clear(&t);
  return err;
}

/* ---- checks */

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
  if (found > 0) qsort(places, (size_t)found, sizeof *places, tsl_ascending);
  for (int64_t k = 1; k < found; k++) *apart = *apart && places[k - 1] != places[k];
  for (int64_t k = 1; k < n; k++) *apart = *apart && list[k - 1].value >= list[k].value;
done:
  tsl_free(places);
  return err;
}
