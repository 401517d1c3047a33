/** @file tri_cpu_traceback.c  Alignments of the pairs that a unit keeps: those of like lengths side
 *  by side, a lane each; few pairs, those of unlike lengths and of large tables, one by one. */
#include "tri_cpu_traceback.h"

#include "dp.h"
#include "integers.h"
#include "tri_cpu.h"
#include "tri_cpu_single.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
  LONGEST = 8192 /* letters of a pattern that goes side by side */
};

/** Where operations of a pair are. */
typedef struct traceback_place {
  int32_t thread;
  int64_t first;
} traceback_place;

/* ---- memory of a thread */

/** What one thread owns. */
typedef struct traceback_room {
  tri_single_path path; /**< of a pair alone */
  uint32_t *operations; /**< [n] of the pairs done, each from its end */
  int64_t n, n_room;
  tri_pairs_thread *pairs; /**< side by side */
} traceback_room;

static void room_clear(traceback_room *r) {
  tri_pairs_thread_clear(&r->pairs);
  TSL_FREE_ALL(r->path.steps, r->operations);
}

/** What all threads align by: edit distances are scores of 0 and -1 with gaps of -1 a letter. */
typedef struct traceback_rules {
  tri_params params;
  tri_cpu_letters letters;
  int32_t *scores; /**< [codes][codes] of a row's letter with a column's */
} traceback_rules;

static tsl_err make_rules(const tri_cpu_letters *l, traceback_rules *rules) {
  tsl_err err = TSL_OK;
  const int64_t codes = l->p->codes;
  rules->params = *l->p;
  rules->letters = *l;
  rules->letters.single = NULL;
  rules->letters.extends = l->p->function == TRI_EXTENSION;
  if (l->p->function != TRI_EXTENSION) rules->params.longest = tsl_min(LONGEST, l->p->longest);
  rules->letters.p = &rules->params;
  if (tri_is_scored(l->p)) goto done;
  TSL_TRY(tsl_alloc(codes * codes, sizeof *rules->scores, "scores", (void **)&rules->scores));
  for (int64_t k = 0; k < codes * codes; k++) rules->scores[k] = -(k / codes != k % codes);
  rules->letters.scores = rules->scores;
  rules->letters.bytes = codes < TRI_LETTER_CODES;
  rules->params.function = TRI_GLOBAL;
  rules->params.open = rules->params.most = 0;
  rules->params.extend = 1, rules->params.least = -1;
done:
  return err;
}

struct tri_tracer {
  traceback_rules rules;
  int threads;
  traceback_room *rooms; /**< [threads] */
};

tsl_err tri_tracer_create(const tri_cpu_letters *l, int threads, tri_tracer **out) {
  tsl_err err = TSL_OK;
  tri_tracer *t = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *t, "alignments", (void **)&t));
  *out = t;
  t->threads = threads;
  TSL_TRY(tsl_alloc(threads, sizeof *t->rooms, "alignments", (void **)&t->rooms));
  TSL_TRY(make_rules(l, &t->rules));
  TSL_TRY(tri_single_create(&t->rules.letters, &t->rules.letters.single));
  for (int k = 0; k < threads && t->rules.params.codes < TRI_LETTER_CODES; k++)
    TSL_TRY(tri_pairs_thread_create(&t->rules.letters, &t->rooms[k].pairs));
done:
  return err;
}

void tri_tracer_take(tri_tracer *t, const tri_sequences *sequences) {
  t->rules.letters.sequences = *sequences;
}

void tri_tracer_clear(tri_tracer **tracer) {
  tri_tracer *t = *tracer;
  if (t == NULL) return;
  for (int k = 0; t->rooms != NULL && k < t->threads; k++) room_clear(&t->rooms[k]);
  tri_single_destroy(&t->rules.letters.single);
  TSL_FREE_ALL(t->rooms, t->rules.scores, t);
  *tracer = NULL;
}

int64_t tri_tracer_again(const tri_tracer *t) {
  int64_t again = 0;
  for (int k = 0; t != NULL && k < t->threads; k++) again += t->rooms[k].path.again;
  return again;
}

tsl_err tri_traceback_renew(int64_t n, size_t size, int64_t *had, void **memory) {
  tsl_err err = TSL_OK;
  if (n <= *had) return TSL_OK;
  tsl_free(*memory);
  *memory = NULL, *had = 0;
  TSL_TRY(tsl_alloc(n, size, "table of an alignment", memory));
  *had = n;
done:
  return err;
}

/* ---- the table of a pair */

/** A pair at work: its directions are those of a lane, or of its thread's extender. */
typedef struct traceback_table {
  const tri_cpu_letters *l;
  traceback_room *r;
  const uint8_t *a, *b;
  int64_t n, m; /**< letters of a, of b */
  int lane;     /**< -1: extender */
  bool local;
} traceback_table;

static traceback_table table_of(const tri_cpu_letters *l, traceback_room *r, const tri_pair *pair,
                                int lane) {
  const tri_sequences *s = &l->sequences;
  return (traceback_table){.l = l,
                           .r = r,
                           .a = s->codes + s->starts[pair->text],
                           .b = s->codes + s->starts[pair->pattern],
                           .n = tri_sequence_length(s, pair->text),
                           .m = tri_sequence_length(s, pair->pattern),
                           .lane = lane,
                           .local = l->p->function == TRI_LOCAL};
}

/** Side by side: the bit of a cell's plane, rows and columns from 0. */
static int plane_bit(const traceback_table *t, int64_t i, int64_t j, int plane) {
  const tri_letter_pairs *p = &t->r->pairs->align;
  const int64_t at = (i * p->m + j) * tri_planes(t->local) + plane;
  return (int)(p->directions[at] >> t->lane & 1);
}

/** The directions of a cell, rows and columns from 1. */
static uint8_t direction_at(const traceback_table *t, int64_t i, int64_t j) {
  int bits = 0;
  if (t->lane < 0) return tri_extension_direction(t->r->pairs->extender, i, j);
  for (int plane = 0; plane < TRI_PLANE_TOP; plane++)
    bits |= plane_bit(t, i - 1, j - 1, plane) << plane;
  return (uint8_t)bits;
}

/* ---- the traceback */

/** Add letters of an operation at the end of the pair's list, which begins at `first`. */
static tsl_err add(traceback_room *r, int64_t first, uint32_t operation, int64_t letters) {
  enum { BITS = 4, MOST = (1 << 28) - 1 };
  tsl_err err = TSL_OK;
  while (letters > 0) {
    uint32_t *const last = r->n > first ? &r->operations[r->n - 1] : NULL;
    const bool same = last != NULL && (*last & 15) == operation && *last >> BITS < MOST;
    const int64_t here = tsl_min(letters, same ? MOST - (*last >> BITS) : MOST);
    if (same) {
      *last += (uint32_t)here << BITS;
    } else {
      TSL_TRY(tsl_grow((void **)&r->operations, r->n, 1, &r->n_room, sizeof *r->operations,
                       "operations"));
      r->operations[r->n++] = (uint32_t)here << BITS | operation;
    }
    letters -= here;
  }
done:
  return err;
}

/** From a cell to where the alignment begins. @param[in] value  of the cell
 *  @param[in,out] at  the cell, then the place */
static tsl_err walk(const traceback_table *t, int64_t first, int64_t value, int64_t at[2]) {
  tsl_err err = TSL_OK;
  const tri_params *p = t->l->p;
  enum { CELL, LEFT, UP } state = CELL;
  while (at[0] > 0 && at[1] > 0 && !(t->local && state == CELL && value == 0)) {
    const int direction = direction_at(t, at[0], at[1]), a = t->a[at[0] - 1], b = t->b[at[1] - 1];
    const bool pair = state == CELL && direction >> TRI_PLANE_PAIR & 1;
    if (pair) {
      TSL_TRY(add(t->r, first, a == b ? TRI_BAM_SAME : TRI_BAM_OTHER, 1));
      value -= t->l->scores[a * p->codes + b];
      at[0]--, at[1]--;
      continue;
    }
    if (state == CELL) state = direction >> TRI_PLANE_LEFT & 1 ? LEFT : UP;
    const int opened = state == LEFT ? TRI_PLANE_LEFT_OPENED : TRI_PLANE_UP_OPENED;
    TSL_TRY(add(t->r, first, state == LEFT ? TRI_BAM_D : TRI_BAM_I, 1));
    at[state == LEFT]--;
    value += p->extend;
    if (direction >> opened & 1) state = CELL, value += p->open;
  }
  if (t->local) goto done;
  TSL_TRY(add(t->r, first, TRI_BAM_I, at[0]));
  TSL_TRY(add(t->r, first, TRI_BAM_D, at[1]));
  at[0] = at[1] = 0;
done:
  return err;
}

/** The traceback from cell `at` of this value. @param[out] span  of the field "spans" */
static tsl_err trace(const traceback_table *t, int64_t value, int64_t at[2],
                     int64_t span[TRI_SPAN]) {
  tsl_err err = TSL_OK;
  const int64_t first = t->r->n;
  span[1] = at[0], span[3] = at[1];
  TSL_TRY(walk(t, first, value, at));
  span[0] = at[0], span[2] = at[1], span[4] = t->r->n - first;
done:
  return err;
}

static tsl_err extend_one(const tri_cpu_letters *l, traceback_room *r, const tri_pair *pair,
                          int64_t *value, int64_t span[TRI_SPAN]) {
  tsl_err err = TSL_OK;
  const traceback_table t = table_of(l, r, pair, -1);
  int64_t at[2];
  TSL_TRY(tri_extend_traced(r->pairs->extender, pair->text, pair->pattern, value, at));
  TSL_TRY(trace(&t, *value, at, span));
done:
  return err;
}

/** The steps of a pair alone as operations. */
static tsl_err add_steps(traceback_room *r, int64_t first, const uint8_t *a, const uint8_t *b) {
  tsl_err err = TSL_OK;
  int64_t i = r->path.end[0], j = r->path.end[1];
  for (int64_t k = 0; k < r->path.n; k++) {
    const uint8_t step = r->path.steps[k];
    const uint32_t operation = step == DP_STEP_LEFT   ? TRI_BAM_D
                               : step == DP_STEP_UP   ? TRI_BAM_I
                               : a[i - 1] == b[j - 1] ? TRI_BAM_SAME
                                                      : TRI_BAM_OTHER;
    TSL_TRY(add(r, first, operation, 1));
    i -= step != DP_STEP_LEFT, j -= step != DP_STEP_UP;
  }
done:
  return err;
}

static tsl_err align_one(const tri_cpu_letters *l, traceback_room *r, const tri_pair *pair,
                         int64_t *value, int64_t span[TRI_SPAN]) {
  tsl_err err = TSL_OK;
  if (l->p->function == TRI_EXTENSION) return extend_one(l, r, pair, value, span);
  const int64_t first = r->n, *const begin = r->path.begin, *const end = r->path.end;
  const traceback_table t = table_of(l, r, pair, -1);
  TSL_TRY(tri_single_trace(l->single, pair->text, pair->pattern, value, &r->path));
  TSL_TRY(add_steps(r, first, t.a, t.b));
  span[0] = t.local ? begin[0] : 0, span[1] = end[0];
  span[2] = t.local ? begin[1] : 0, span[3] = end[1];
  if (!t.local) TSL_TRY(add(r, first, TRI_BAM_I, begin[0]));
  if (!t.local) TSL_TRY(add(r, first, TRI_BAM_D, begin[1]));
  span[4] = r->n - first;
done:
  return err;
}

/* ---- pairs side by side */

/** The best cell of a lane: the last one that is larger than all before it in its row. */
static void best_cell(const traceback_table *t, int64_t value, int64_t at[2]) {
  const int64_t row = t->r->pairs->best_row[t->lane];
  at[0] = at[1] = 0;
  if (value == 0) return;
  at[0] = row + 1, at[1] = t->m;
  while (!plane_bit(t, row, at[1] - 1, TRI_PLANE_TOP)) at[1]--;
}

/** Align n pairs. @param[out] values  [n]; spans, places: by number of the pairs */
static tsl_err align_lanes(const tri_cpu_letters *l, traceback_room *r, const tri_pair *pairs,
                           int n, int64_t *values, int64_t (*spans)[TRI_SPAN],
                           traceback_place *places) {
  tsl_err err = TSL_OK;
  tri_pairs_load(l, r->pairs, pairs, n);
  TSL_TRY(tri_pairs_trace(l, r->pairs, values));
  for (int k = 0; k < n; k++) {
    const traceback_table t = table_of(l, r, &pairs[k], k);
    int64_t at[2] = {t.n, t.m};
    if (t.local) best_cell(&t, values[k], at);
    places[pairs[k].number].first = r->n;
    TSL_TRY(trace(&t, values[k], at, spans[pairs[k].number]));
  }
done:
  return err;
}

/** Do pairs go side by side? Their directions must fit a thread's memory. */
static bool go_together(const tri_cpu_letters *l, const tri_pair *pairs, int n) {
  int64_t most[2] = {0};
  double cells = 0;
  for (int k = 0; k < n; k++) {
    const int64_t text = tri_sequence_length(&l->sequences, pairs[k].text);
    const int64_t pattern = tri_sequence_length(&l->sequences, pairs[k].pattern);
    most[0] = tsl_max(most[0], text), most[1] = tsl_max(most[1], pattern);
    cells += (double)text * (double)pattern;
  }
  return !l->extends && l->p->codes < TRI_LETTER_CODES && most[1] <= LONGEST &&
         most[0] * most[1] <= TRI_TRACEBACK_TOGETHER / TRI_TRACEBACK_CELL &&
         !tri_single_is_faster(l->single, most[0], most[1], cells);
}

/* ---- the pairs of a unit */

/** Pairs, and where their operations are. */
typedef struct traceback_unit {
  tsl_worker *w;
  const tsl_unit *unit;
  const tsl_part *part;
  tri_tracer *tracer;
  int64_t n;
  tri_pair *pairs; /**< [n] in the order in which they are aligned */
  int64_t (*spans)[TRI_SPAN];
  traceback_place *places; /**< [n] */
} traceback_unit;

static tsl_err list_pairs(traceback_unit *u) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(u->n, sizeof *u->pairs, "pairs", (void **)&u->pairs));
  for (int64_t k = 0; k < u->n; k++) {
    int64_t place[2];
    tri_kept_pair(u->w->p, u->unit->lo[0], u->part, k, place);
    u->pairs[k] = (tri_pair){place[0], place[1], k};
  }
  TSL_TRY(tri_pairs_sort(&u->tracer->rules.letters, u->pairs, u->n));
done:
  return err;
}

/** Align n pairs. @param[out] values  [n] */
static tsl_err align_group(traceback_unit *u, int thread, const tri_pair *pairs, int n,
                           int64_t *values) {
  tsl_err err = TSL_OK;
  const tri_cpu_letters *l = &u->tracer->rules.letters;
  traceback_room *const r = &u->tracer->rooms[thread];
  for (int k = 0; k < n; k++) u->places[pairs[k].number].thread = thread;
  if (go_together(l, pairs, n)) return align_lanes(l, r, pairs, n, values, u->spans, u->places);
  for (int k = 0; k < n; k++) {
    u->places[pairs[k].number].first = r->n;
    TSL_TRY(align_one(l, r, &pairs[k], &values[k], u->spans[pairs[k].number]));
  }
done:
  return err;
}

/** Values of a group of pairs into a part that has none yet. */
static void put_values(const traceback_unit *u, const tri_pair *pairs, int n,
                       const int64_t *values) {
  const int sign = tri_is_scored(u->w->p) ? 1 : -1;
  for (int k = 0; k < n; k++)
    tri_pairs_put(u->w, u->part->slab[TRI_OUT], pairs[k].number, (double)(sign * values[k]));
}

/** Pairs that a thread takes at once: side by side, or one. @param[out] first  [n + 1] of each, and
 *  behind the last  @return their number */
static int64_t cut_pairs(const traceback_unit *u, int64_t *first) {
  const tri_cpu_letters *l = &u->tracer->rules.letters;
  const int64_t lanes = tri_pairs_lanes(l);
  int64_t n = 0;
  for (int64_t from = 0, to; from < u->n; from = to) {
    to = tsl_min(from + lanes, u->n);
    const bool together = go_together(l, u->pairs + from, (int)(to - from));
    for (int64_t k = from; k < (together ? from + 1 : to); k++) first[n++] = k;
  }
  first[n] = u->n;
  return n;
}

static tsl_err align_all(traceback_unit *u) {
  tsl_err err = TSL_OK;
  tri_failure failure = {.code = TSL_OK};
  int64_t *first = NULL;
  TSL_TRY(tsl_alloc(u->n + 1, sizeof *first, "pairs", (void **)&first));
  const int64_t groups = cut_pairs(u, first);
#pragma omp parallel for schedule(dynamic, 1) num_threads(u->w->threads)
  for (int64_t g = groups - 1; g >= 0; g--) { /* the long ones first */
    const tri_pair *const pairs = u->pairs + first[g];
    const int n = (int)(first[g + 1] - first[g]);
    int64_t values[TRI_LETTER_LANES];
    if (tri_failure_is(&failure)) continue;
    const tsl_err failed = align_group(u, omp_get_thread_num(), pairs, n, values);
    if (failed != TSL_OK)
      tri_failure_note(&failure, failed);
    else if (u->w->p->output == TRI_PAIRED)
      put_values(u, pairs, n, values);
  }
  err = tri_failure_take(&failure);
done:
  tsl_free(first);
  return err;
}

/** Lists from malloc, operations of each pair from its beginning. */
static tsl_err hand_over(const traceback_unit *u, tsl_part *part) {
  tsl_err err = TSL_OK;
  const int field = tri_spans_of(u->w->p);
  int64_t total = 0, at = 0;
  part->list[field] = part->list[field + 1] = (tsl_list){NULL, 0};
  for (int64_t k = 0; k < u->n; k++) total += u->spans[k][4];
  if (u->n == 0) goto done;
  int64_t(*const spans)[TRI_SPAN] = malloc((size_t)u->n * sizeof *spans);
  part->list[field] = (tsl_list){spans, u->n};
  uint32_t *const operations = malloc((size_t)(total + 1) * sizeof *operations);
  part->list[field + 1] = (tsl_list){operations, total};
  if (spans == NULL || operations == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "no memory for alignments of %lld pairs", (long long)u->n);
  memcpy(spans, u->spans, (size_t)u->n * sizeof *spans);
  for (int64_t k = 0; k < u->n; k++) {
    const uint32_t *from = u->tracer->rooms[u->places[k].thread].operations + u->places[k].first;
    for (int64_t o = spans[k][4] - 1; o >= 0; o--) operations[at++] = from[o];
  }
done:
  return err;
}

tsl_err tri_traceback_run(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  traceback_unit u = {.w = w, .unit = unit, .part = part, .tracer = w->tracer};
  u.n = tri_kept_pairs(w->p, unit->lo[0], unit->hi[0], part);
  for (int k = 0; k < w->threads; k++) u.tracer->rooms[k].n = 0;
  TSL_TRY(list_pairs(&u));
  TSL_TRY(tsl_alloc(u.n, sizeof *u.spans, "alignments", (void **)&u.spans));
  TSL_TRY(tsl_alloc(u.n, sizeof *u.places, "alignments", (void **)&u.places));
  TSL_TRY(align_all(&u));
  TSL_TRY(hand_over(&u, part));
done:
  TSL_FREE_ALL(u.spans, u.places, u.pairs);
  return err;
}
