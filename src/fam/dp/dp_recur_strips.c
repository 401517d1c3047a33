/* Strips of a recurrence's table from the last one up, and what the solution rests on in each. */
#include "dp_recur_strips.h"

#include "dp_family.h"
#include "dp_recur_saved.h"
#include "integers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  WORD = 64,
  ROWS_GOOD = 1024, /* of a strip: fewer are stages that cost more than their cells, the cells of
                       more are in no cache */
};

/** With which the least memory is needed. */
static int64_t least_rows(const dp_code *c) {
  const int64_t depth = dp_recur_depth(c);
  return tsl_max((int64_t)ceil(sqrt((double)c->P * (double)depth)), 2 * depth);
}

int64_t dp_recur_strip_rows(const dp_recur *r, int64_t bytes) {
  const dp_code *c = &r->code;
  const double whole = (double)c->P * (double)c->Q * (double)dp_code_bytes(c);
  const bool path = dp_trace_most(r->recurrence) <= 1;
  if (c->engine == DP_INTERVAL || dp_recur_depth(c) == 0) return 0;
  if (whole <= (double)bytes && (!path || c->P <= ROWS_GOOD)) return 0;
  const bool fits = dp_recur_strip_bytes(c, ROWS_GOOD) <= (double)bytes;
  return fits && c->P > ROWS_GOOD ? tsl_max(ROWS_GOOD, least_rows(c)) : least_rows(c);
}

double dp_recur_path_bytes(const dp_code *c) {
  enum { OF_STEP = 48 }; /* a node, a link, a cell to be followed, in lists that have grown */
  return OF_STEP * ((double)c->P + (double)c->Q);
}

double dp_recur_strip_bytes(const dp_code *c, int64_t strip) {
  const double row = (double)c->Q * (double)dp_code_bytes(c);
  const double bits = (double)c->Q * c->values / 8 + 8, depth = (double)dp_recur_depth(c);
  const double kept = (double)(tsl_divide_up(c->P, strip) - 1) * depth;
  return (kept + (double)strip + depth) * row + ((double)strip + depth) * bits +
         dp_recur_path_bytes(c);
}

int64_t dp_recur_number(const dp_code *c, int64_t i, int64_t j, int32_t value) {
  int64_t p, q;
  dp_code_fold(c, i, j, &p, &q);
  return (p * c->Q + q) * c->values + value;
}

int64_t dp_recur_solution_find(const dp_recur_solution *s, int64_t number) {
  int64_t low = 0, high = s->n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (s->nodes[middle][0] > number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->n && s->nodes[low][0] == number ? low : -1;
}

void dp_recur_solution_clear(dp_recur_solution *s) {
  TSL_FREE_ALL(s->nodes, s->links);
  s->nodes = NULL, s->links = NULL;
  s->n = s->n_links = s->room = s->link_room = 0;
}

/* ------------------------------------------------------------------------- a strip */

/** The strip that is in memory, and the rows kept above it. */
typedef struct strips {
  const tsl_problem *problem;
  const tsl_field_rows *store;
  const dp_recur *recur;
  const dp_code *code;
  dp_recur_solution *out;
  dp_eval eval;
  int64_t rows, depth, bytes; /**< of a strip; rows kept of it; of a cell */
  int64_t p0, p1;             /**< rows in memory */
  int64_t at[2], width;       /**< its first row and column in the deck's table, and columns */
  char *cells;                /**< [rows][Q] at most, as in the deck's table */
  uint64_t *wanted;           /**< [depth + rows][words] values that the goal rests on, from row
                                   p0 - depth on */
  int64_t words;
} strips;

/** Rows above a strip, as they are kept. */
static const char *kept_rows(const strips *s, int64_t p) {
  const int64_t strip = p / s->rows, row = p % s->rows - (s->rows - s->depth);
  const char *rows = s->problem->fields[dp_field(s->problem, "kept")].data;
  return rows + (strip * s->depth + row) * s->code->Q * s->bytes;
}

/** The rows above the strip as a backend saves them of the tile that has them.
 *  @param[out] bytes  [*n] from tsl_alloc */
static tsl_err save_rows(const strips *s, const tsl_unit *above, int64_t stage, void **bytes,
                         int64_t *n) {
  tsl_err err = TSL_OK;
  dp_recur_front front = dp_recur_front_begin(); /* no lane: no goal goes with it */
  int64_t lo, hi;
  front.done = s->p0;
  *n = dp_recur_saved_bytes(s->recur, &front, above, stage);
  TSL_TRY(tsl_alloc(*n, 1, "rows of the table", bytes));
  char *rows = dp_recur_saved_put(s->recur, &front, above, stage, NULL, NULL, *bytes, &lo, &hi);
  memcpy(rows, kept_rows(s, lo), (size_t)((hi - lo) * s->code->Q * s->bytes));
done:
  return err;
}

/** Compute columns [0, q1) of the strip again. */
static tsl_err fill_strip(strips *s, int64_t q1) {
  tsl_err err = TSL_OK;
  const int64_t stage = s->p0 / s->rows;
  int64_t best[DP_BEST_ROW], hi[2], n = 0;
  tsl_part part = {0};
  void *bytes = NULL;
  tsl_unit before = {.stage = stage - 1}, unit = {.stage = stage};
  before.lo[0] = s->p0 - s->depth, before.hi[0] = s->p0, before.hi[1] = s->code->Q;
  unit.lo[0] = s->p0, unit.hi[0] = s->p1, unit.hi[1] = q1;
  before.hi[2] = unit.hi[2] = 1;
  dp_recur_set_features(s->recur, &unit, NULL);
  dp_recur_tile_box(s->code, &unit, s->at, hi);
  s->width = hi[1] - s->at[1];
  part.slab[dp_field(s->problem, "table")] = s->cells;
  if (dp_field(s->problem, "best") >= 0) part.slab[dp_field(s->problem, "best")] = best;
  if (s->p0 > 0) TSL_TRY(save_rows(s, &before, stage, &bytes, &n));
  TSL_TRY(s->store->again(s->store->state, n > 0 ? &before : NULL, bytes, n, &unit, &part));
done:
  tsl_free(bytes);
  return err;
}

static dp_value value_at(const strips *s, int64_t i, int64_t j, int32_t value) {
  int64_t p, q;
  dp_code_fold(s->code, i, j, &p, &q);
  const char *cell = p >= s->p0 ? s->cells + ((i - s->at[0]) * s->width + j - s->at[1]) * s->bytes
                                : kept_rows(s, p) + q * s->bytes;
  return dp_recur_value(s->recur,
                        dp_recur_bits(s->code->type, cell + value * (s->bytes / s->code->values)));
}

static tsl_err read_cell(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value, dp_value *out) {
  (void)expr, (void)node;
  *out = value_at(self, i, j, value);
  return TSL_OK;
}

/* ----------------------------------------------------------------- what is rested on */

static void want(strips *s, int64_t number) {
  const int64_t row = s->code->Q * s->code->values, p = number / row, at = number % row;
  uint64_t *words = s->wanted + (p - s->p0 + s->depth) * s->words;
  words[at / WORD] |= UINT64_C(1) << (at % WORD);
}

static tsl_err add_node(strips *s, int64_t number) {
  tsl_err err = TSL_OK;
  dp_recur_solution *o = s->out;
  TSL_TRY(tsl_grow((void **)&o->nodes, o->n, 1, &o->room, sizeof *o->nodes, "solution"));
  o->nodes[o->n][0] = number, o->nodes[o->n++][1] = o->n_links;
done:
  return err;
}

static tsl_err add_link(strips *s, int64_t number) {
  tsl_err err = TSL_OK;
  dp_recur_solution *o = s->out;
  char have[24];
  if (o->n * (int64_t)sizeof *o->nodes + o->n_links * (int64_t)sizeof *o->links > o->bytes)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s are too little for the solution, which rests on more than %lld values; "
             "raise it, or ask for dp.mode: value",
             tsl_bytes_text((double)o->bytes, have), (long long)o->n);
  TSL_TRY(tsl_grow((void **)&o->links, o->n_links, 1, &o->link_room, sizeof *o->links, "solution"));
  o->links[o->n_links++] = number;
done:
  return err;
}

/** Note what a value rests on. */
static tsl_err look_at(strips *s, int64_t number) {
  tsl_err err = TSL_OK;
  const int64_t cell = number / s->code->values;
  dp_links links = {0};
  s->eval.value = (int32_t)(number % s->code->values);
  dp_code_unfold(s->code, cell / s->code->Q, cell % s->code->Q, &s->eval.i, &s->eval.j);
  s->eval.work = DP_WORK_MAX;
  TSL_TRY(dp_recur_rescore(&s->eval, value_at(s, s->eval.i, s->eval.j, s->eval.value),
                           s->out->mismatch));
  TSL_TRY(add_node(s, number));
  TSL_TRY(dp_trace_cell(&s->eval, &links));
  for (int64_t k = 0; k < links.n; k++) {
    const dp_link *link = &links.list[k];
    if (link->to_i < 0) continue;
    const int64_t to = dp_recur_number(s->code, link->to_i, link->to_j, link->to_value);
    if (to >= number)
      TSL_FAIL(TSL_ERR_INTERNAL, "dp: the path goes from (%lld, %lld) to (%lld, %lld)",
               (long long)s->eval.i, (long long)s->eval.j, (long long)link->to_i,
               (long long)link->to_j);
    TSL_TRY(add_link(s, to));
    want(s, to);
  }
done:
  tsl_free(links.list);
  return err;
}

/** All wanted values of a row, the last one first: they may want others of the row. */
static tsl_err look_at_row(strips *s, int64_t p) {
  tsl_err err = TSL_OK;
  const uint64_t *words = s->wanted + (p - s->p0 + s->depth) * s->words;
  for (int64_t w = s->words - 1; w >= 0; w--) {
    uint64_t done = 0;
    while ((words[w] & ~done) != 0) {
      const int bit = WORD - 1 - __builtin_clzll(words[w] & ~done);
      done |= UINT64_C(1) << bit;
      TSL_TRY(look_at(s, p * s->code->Q * s->code->values + w * WORD + bit));
    }
  }
done:
  return err;
}

/** One past the last column with a wanted value; 0: none. */
static int64_t wanted_columns(const strips *s) {
  int64_t last = -1;
  for (int64_t r = s->depth; r < s->depth + s->p1 - s->p0; r++) {
    const uint64_t *words = s->wanted + r * s->words;
    for (int64_t w = s->words - 1; w >= 0 && w * WORD + WORD - 1 > last; w--) {
      if (words[w] == 0) continue;
      last = tsl_max(last, w * WORD + WORD - 1 - __builtin_clzll(words[w]));
      break;
    }
  }
  return last < 0 ? 0 : last / s->code->values + 1;
}

/* --------------------------------------------------------------------------- all strips */

/** Make this strip the one in memory: wanted rows above the one below are its last. */
static void turn_to(strips *s, int64_t strip, const int64_t *roots, int64_t n) {
  const size_t row = (size_t)s->words * sizeof *s->wanted;
  const int64_t below = s->p0, cells = s->code->Q * s->code->values;
  s->p0 = strip * s->rows, s->p1 = tsl_min(s->p0 + s->rows, s->code->P);
  if (below == s->p1) memmove(s->wanted + s->rows * s->words, s->wanted, (size_t)s->depth * row);
  memset(s->wanted, 0, (size_t)s->rows * row);
  if (below != s->p1) memset(s->wanted + s->rows * s->words, 0, (size_t)s->depth * row);
  for (int64_t k = 0; k < n; k++)
    if (roots[k] / cells >= s->p0 && roots[k] / cells < s->p1) want(s, roots[k]);
}

static tsl_err do_strip(strips *s) {
  tsl_err err = TSL_OK;
  const int64_t columns = wanted_columns(s);
  if (columns == 0) return TSL_OK;
  TSL_TRY(fill_strip(s, s->code->engine == DP_WAVEFRONT ? columns : s->code->Q));
  for (int64_t p = s->p1 - 1; p >= s->p0; p--) TSL_TRY(look_at_row(s, p));
done:
  return err;
}

static tsl_err take_memory(strips *s) {
  tsl_err err = TSL_OK;
  const int64_t Q = s->code->Q;
  s->words = tsl_divide_up(Q * s->code->values, WORD);
  TSL_TRY(tsl_alloc(s->rows * Q, (size_t)s->bytes, "a strip of the table", (void **)&s->cells));
  TSL_TRY(tsl_alloc((s->depth + s->rows) * s->words, sizeof *s->wanted, "solution",
                    (void **)&s->wanted));
done:
  return err;
}

tsl_err dp_recur_strips_solve(const tsl_problem *problem, const tsl_field_rows *store,
                              const int64_t *roots, int64_t n, dp_recur_solution *solution) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const dp_recur *recur = dp_own_of(problem)->recur;
  strips s = {.problem = problem,
              .store = store,
              .recur = recur,
              .code = &recur->code,
              .out = solution,
              .rows = p->strip,
              .depth = dp_recur_depth(&recur->code),
              .bytes = dp_code_bytes(&recur->code),
              .p0 = -1};
  s.eval = (dp_eval){.recurrence = recur->recurrence, .read = read_cell, .self = &s};
  TSL_TRY(take_memory(&s));
  for (int64_t strip = tsl_divide_up(s.code->P, s.rows) - 1; strip >= 0; strip--) {
    turn_to(&s, strip, roots, n);
    TSL_TRY(do_strip(&s));
  }
done:
  TSL_FREE_ALL(s.cells, s.wanted);
  return err;
}
