/**
 * @file tri_cpu_search.c
 * Near pairs of a unit: rows that lie in one tile go down the tree of boxes together, and each
 * takes of what they find the tiles within its own cut.
 */
#include "integers.h"
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
  ROOM = 1024, /**< tiles found before rows look at them */
  CHUNK = 32   /**< tiles of which values are computed at once: fits tri_thread.values */
};

/** What a thread finds. Boxes of the tiles are gathered, so that rows test them as vectors. */
typedef struct tri_finds {
  int64_t n;           /**< tiles found */
  int32_t tiles[ROOM]; /**< ascending */
  int32_t own[ROOM];   /**< of these, a row's; then its tiles */
  double bounds[ROOM]; /**< in the type of the points */
  void *lo, *hi;       /**< [d][ROOM] */
  void *extra;         /**< [ROOM] or NULL */
} tri_finds;

/** Rows that search together. */
typedef struct tri_group {
  int64_t n;             /**< 1..TRI_TILE */
  const int32_t *places; /**< [n] ascending, in one tile */
  tri_query box;
  double cut;        /**< the largest of the rows' */
  int64_t own;       /**< the tile of the rows; two sets: one near them */
  int32_t component; /**< of all rows, or TRI_MIXED */
  tri_job *job;
} tri_group;

tsl_err tri_finds_create(const tsl_worker *w, tri_finds **finds) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)w->value_bytes;
  TSL_TRY(tsl_alloc(1, sizeof **finds, "tiles found", (void **)finds));
  TSL_TRY(tsl_alloc(w->p->d * ROOM, bytes, "boxes of tiles", &(*finds)->lo));
  TSL_TRY(tsl_alloc(w->p->d * ROOM, bytes, "boxes of tiles", &(*finds)->hi));
  if (w->tree.extra != NULL) TSL_TRY(tsl_alloc(ROOM, bytes, "boxes of tiles", &(*finds)->extra));
done:
  return err;
}

void tri_finds_clear(tri_finds **finds) {
  if (*finds == NULL) return;
  TSL_FREE_ALL((*finds)->lo, (*finds)->hi, (*finds)->extra, *finds);
  *finds = NULL;
}

static double element(const tsl_worker *w, const void *array, int64_t at) {
  return w->t ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

/** The box of the rows at n places. */
static void set_query(const tsl_worker *w, const int32_t *places, int64_t n, tri_query *q) {
  for (int64_t k = 0; k < w->p->d; k++) {
    q->lo[k] = q->hi[k] = element(w, w->view.x, k * w->view.ld + places[0]);
    for (int64_t r = 1; r < n; r++) {
      const double x = element(w, w->view.x, k * w->view.ld + places[r]);
      q->lo[k] = x < q->lo[k] ? x : q->lo[k], q->hi[k] = x > q->hi[k] ? x : q->hi[k];
    }
  }
  q->extra = 0;
  for (int64_t r = 0; r < n && w->view.extra != NULL; r++)
    q->extra = fmax(q->extra, element(w, w->view.extra, places[r]));
}

/** The row's number in the output. */
static int64_t row_number(const tsl_worker *w, int32_t place) {
  return tri_rows_are_places(w->p) ? place - w->p->first : w->order[place];
}

/** Values beyond it do not matter to the row in this slot any more. */
static double cut_of(const tsl_worker *w, const tri_thread *thread, int64_t slot) {
  if (!w->nearest) return w->cut;
  if (w->p->output == TRI_DBSCAN) return thread->cuts[slot];
  return thread->heap_n[slot] == w->p->k ? thread->heap[slot * w->p->k].value : thread->cuts[slot];
}

/** Are columns of the rows only those at later places? */
static bool after_rows(const tsl_worker *w) {
  return w->p->output == TRI_HISTOGRAM && !w->p->two;
}

/** Hand the values of up to CHUNK tiles over to the output. */
static tsl_err take_tiles(tsl_worker *w, tri_thread *thread, const tri_group *g, int64_t slot,
                          const int32_t *tiles, int64_t n) {
  const int32_t place = g->places[slot];
  const int64_t last = w->tree.nodes[0] - 1;
  tri_row row = {.i = row_number(w, place),
                 .self = w->p->two ? -1 : w->order[place],
                 .place = place,
                 .hi = n * TRI_TILE,
                 .slot = slot,
                 .tiles = tiles,
                 .values = thread->values};
  if (n == 0) return TSL_OK;
  w->kernels->tiles[w->t][w->function](&w->view, place, tiles, n, thread->values);
  if (tiles[n - 1] == last) row.hi -= (last + 1) * TRI_TILE - tri_columns_of(w->p);
  if (after_rows(w) && tiles[0] == place / TRI_TILE) {
    row.lo = place % TRI_TILE + 1;
    row.values = (const char *)thread->values + row.lo * w->value_bytes;
  }
  return row.lo < row.hi ? g->job->take(w, thread, g->job, &row) : TSL_OK;
}

static tsl_err take_chunks(tsl_worker *w, tri_thread *thread, const tri_group *g, int64_t slot,
                           const int32_t *tiles, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t c = 0; c < n; c += CHUNK)
    TSL_TRY(take_tiles(w, thread, g, slot, tiles + c, tsl_min(CHUNK, n - c)));
done:
  return err;
}

/** Component of a place; TRI_MIXED where components do not matter. */
static int32_t component_at(const tsl_worker *w, int32_t place) {
  return w->skips ? w->graph.component[place] : TRI_MIXED;
}

/** Do nodes at an index of the tree's levels tell rows of this component nothing? */
static bool is_skipped(const tsl_worker *w, int32_t component, int64_t node) {
  return w->skips && tri_graph_skips(component, w->uniform[node]);
}

/** topk: tiles around the row, whose k-th value is the first cut. */
static tsl_err seed_row(tsl_worker *w, tri_thread *thread, const tri_group *g, int64_t slot,
                        int64_t first, int64_t end) {
  int32_t *const own = thread->finds->own;
  for (int64_t t = first; t < end; t++) own[t - first] = (int32_t)t;
  return take_chunks(w, thread, g, slot, own, end - first);
}

static void set_seeds(const tsl_worker *w, const tri_group *g, int64_t *first, int64_t *end) {
  const int64_t tiles = w->tree.nodes[0], seeds = tri_near_seeds(w->p);
  *first = tri_near_seed(tiles, seeds, g->own);
  *end = tsl_min(*first + seeds, tiles);
}

/** topk: of n own tiles with ascending places in the finds: take some, look again what is left. */
static tsl_err take_nearest(tsl_worker *w, tri_thread *thread, const tri_group *g, int64_t slot,
                            int64_t n) {
  enum { FEW = 4 }; /* tiles between two looks at the cut */
  tsl_err err = TSL_OK;
  tri_finds *f = thread->finds;
  int64_t first, end;
  int32_t few[FEW];
  set_seeds(w, g, &first, &end);
  for (int64_t c = 0; c < n;) {
    const double cut = cut_of(w, thread, slot);
    int64_t m = 0;
    for (; c < n && m < FEW; c++) {
      const int32_t at = f->own[c], tile = f->tiles[at];
      if (element(w, f->bounds, at) <= cut && (tile < first || tile >= end)) few[m++] = tile;
    }
    TSL_TRY(take_tiles(w, thread, g, slot, few, m));
  }
done:
  return err;
}

/** A row looks at the tiles found that are within its cut. */
static tsl_err look(tsl_worker *w, tri_thread *thread, const tri_group *g, int64_t slot) {
  tri_finds *f = thread->finds;
  const tri_boxes boxes = {f->lo, f->hi, f->extra, ROOM, f->n};
  const bool topk = w->nearest;
  const int32_t component = component_at(w, g->places[slot]);
  tri_query q;
  if (g->n == 1 && !topk) return take_chunks(w, thread, g, slot, f->tiles, f->n);
  set_query(w, g->places + slot, 1, &q);
  w->kernels->bound[w->t][w->function](&w->view, &q, &boxes, f->bounds);
  const int64_t near = w->kernels->select[w->t](f->bounds, f->n, cut_of(w, thread, slot), f->own);
  int64_t n = 0;
  for (int64_t c = 0; c < near; c++)
    if (!is_skipped(w, component, f->tiles[f->own[c]])) f->own[n++] = f->own[c];
  if (topk) return take_nearest(w, thread, g, slot, n);
  for (int64_t c = 0; c < n; c++) f->own[c] = f->tiles[f->own[c]];
  return take_chunks(w, thread, g, slot, f->own, n);
}

/** Gather the boxes of the tiles found. */
static void gather(const tsl_worker *w, tri_finds *f) {
  const tri_tree *t = &w->tree;
  for (int64_t k = 0; k < w->p->d; k++)
    for (int64_t c = 0; c < f->n; c++) {
      const int64_t to = k * ROOM + c, from = k * t->ld + f->tiles[c];
      if (w->t) {
        ((double *)f->lo)[to] = ((const double *)t->lo)[from];
        ((double *)f->hi)[to] = ((const double *)t->hi)[from];
      } else {
        ((float *)f->lo)[to] = ((const float *)t->lo)[from];
        ((float *)f->hi)[to] = ((const float *)t->hi)[from];
      }
    }
  for (int64_t c = 0; t->extra != NULL && c < f->n; c++)
    memcpy((char *)f->extra + c * w->value_bytes,
           (const char *)t->extra + f->tiles[c] * w->value_bytes, (size_t)w->value_bytes);
}

/** All rows look at what is found; then there is room again. */
static tsl_err look_all(tsl_worker *w, tri_thread *thread, const tri_group *g) {
  tsl_err err = TSL_OK;
  tri_finds *f = thread->finds;
  if (f->n > 0 && (g->n > 1 || w->nearest)) gather(w, f);
  for (int64_t slot = 0; slot < g->n && f->n > 0; slot++) TSL_TRY(look(w, thread, g, slot));
  f->n = 0;
done:
  return err;
}

/** Bounds of the rows with nodes [begin, end) of a level, at most TRI_FAN, into the finds. */
static void set_bounds(const tsl_worker *w, tri_finds *f, const tri_query *box, int level,
                       int64_t begin, int64_t end) {
  const tri_tree *t = &w->tree;
  const int64_t at = (t->first[level] + begin) * w->value_bytes;
  const tri_boxes boxes = {(const char *)t->lo + at, (const char *)t->hi + at,
                           t->extra != NULL ? (const char *)t->extra + at : NULL, t->ld,
                           end - begin};
  w->kernels->bound[w->t][w->function](&w->view, box, &boxes, f->bounds);
}

/** Two sets: a tile near the rows, by the nearest box of each level. */
static int64_t nearest_tile(const tsl_worker *w, tri_finds *f, const tri_query *box) {
  const tri_tree *t = &w->tree;
  int64_t begin = 0;
  for (int level = t->levels - 1; level >= 0; level--) {
    const int64_t n = tsl_min(TRI_FAN, t->nodes[level] - begin);
    int64_t best = 0;
    set_bounds(w, f, box, level, begin, begin + n);
    for (int64_t m = 1; m < n; m++)
      if (element(w, f->bounds, m) < element(w, f->bounds, best)) best = m;
    begin = (begin + best) * (level > 0 ? TRI_FAN : 1);
  }
  return begin;
}

/** Nodes [begin, end) of a level, at most TRI_FAN, and what is below them. */
static tsl_err go_down(tsl_worker *w, tri_thread *thread, const tri_group *g, int level,
                       int64_t begin, int64_t end) {
  tsl_err err = TSL_OK;
  const tri_tree *t = &w->tree;
  tri_finds *f = thread->finds;
  int32_t places[TRI_FAN];
  if (after_rows(w)) begin = tsl_max(begin, g->own >> 5 * level);
  if (begin >= end) goto done;
  set_bounds(w, f, &g->box, level, begin, end);
  const int64_t n = w->kernels->select[w->t](f->bounds, end - begin, g->cut, places);
  for (int64_t c = 0; c < n; c++) {
    const int64_t m = begin + places[c];
    if (is_skipped(w, g->component, t->first[level] + m)) continue;
    if (level > 0) {
      TSL_TRY(go_down(w, thread, g, level - 1, m * TRI_FAN,
                      tsl_min((m + 1) * TRI_FAN, t->nodes[level - 1])));
      continue;
    }
    if (f->n == ROOM) TSL_TRY(look_all(w, thread, g));
    f->tiles[f->n++] = (int32_t)m;
  }
done:
  return err;
}

/** Rows at n places of one tile, from start to finish. */
static tsl_err search_group(tsl_worker *w, tri_thread *thread, tri_job *job, const int32_t *places,
                            int64_t n) {
  tsl_err err = TSL_OK;
  tri_group g = {.n = n, .places = places, .job = job, .component = component_at(w, places[0])};
  const int top = w->tree.levels - 1;
  int64_t first, end;
  set_query(w, places, n, &g.box);
  g.own = w->p->two ? nearest_tile(w, thread->finds, &g.box) : places[0] / TRI_TILE;
  set_seeds(w, &g, &first, &end);
  for (int64_t slot = 0; slot < n; slot++) {
    if (w->nearest) thread->cuts[slot] = tri_first_cut(w, row_number(w, places[slot]));
    if (component_at(w, places[slot]) != g.component) g.component = TRI_MIXED;
  }
  if (job->start != NULL) job->start(w, thread, n);
  for (int64_t slot = 0; slot < n && w->nearest; slot++)
    TSL_TRY(seed_row(w, thread, &g, slot, first, end));
  g.cut = -INFINITY;
  for (int64_t slot = 0; slot < n; slot++) g.cut = fmax(g.cut, cut_of(w, thread, slot));
  thread->finds->n = 0;
  TSL_TRY(go_down(w, thread, &g, top, 0, w->tree.nodes[top]));
  TSL_TRY(look_all(w, thread, &g));
  for (int64_t slot = 0; slot < n && job->finish != NULL; slot++)
    TSL_TRY(job->finish(w, thread, job,
                        &(tri_row){.i = row_number(w, places[slot]),
                                   .self = w->order[places[slot]],
                                   .slot = slot}));
done:
  return err;
}

/* ------------------------------------------------------------------- rows */

/** Sort places ascending, 11 bits at a time; scratch [n]; the result is in either. */
static int32_t *sort_places(int32_t *from, int32_t *to, int64_t n) {
  enum { BITS = 11, BUCKETS = 1 << BITS };
  for (int shift = 0; shift < 31; shift += BITS) {
    int64_t begin[BUCKETS + 1] = {0};
    for (int64_t r = 0; r < n; r++) begin[(from[r] >> shift & (BUCKETS - 1)) + 1]++;
    for (int b = 0; b < BUCKETS; b++) begin[b + 1] += begin[b];
    for (int64_t r = 0; r < n; r++) to[begin[from[r] >> shift & (BUCKETS - 1)]++] = from[r];
    int32_t *const other = from;
    from = to, to = other;
  }
  return from;
}

/** Where the unit's rows lie. @param[out] groups  [rows + 1] where rows of another tile begin */
static int32_t *set_groups(const tsl_worker *w, const tsl_unit *unit, int32_t *one, int32_t *other,
                           int64_t *groups, int64_t *n_groups) {
  const int64_t lo = unit->lo[0], hi = unit->hi[0];
  const bool places = tri_rows_are_places(w->p);
  int32_t *sorted = one;
  int64_t rows = 0;
  for (int64_t r = lo; r < hi; r++)
    if (w->graph.active == NULL || w->graph.active[r])
      one[rows++] = places ? (int32_t)(w->p->first + r) : w->tree.place[r];
  if (!places) sorted = sort_places(one, other, rows);
  *n_groups = 0;
  for (int64_t r = 0; r < rows; r++)
    if (r == 0 || sorted[r] / TRI_TILE != sorted[r - 1] / TRI_TILE) groups[(*n_groups)++] = r;
  groups[*n_groups] = rows;
  return sorted;
}

tsl_err tri_search(tsl_worker *w, tri_job *job) {
  tsl_err err = TSL_OK;
  tri_failure first = {.code = TSL_OK};
  const int64_t rows = job->unit->hi[0] - job->unit->lo[0];
  int64_t *groups = NULL, n = 0;
  int32_t *one = NULL, *other = NULL;
  TSL_TRY(tsl_alloc(rows, sizeof *one, "rows", (void **)&one));
  TSL_TRY(tsl_alloc(rows, sizeof *other, "rows", (void **)&other));
  TSL_TRY(tsl_alloc(rows + 1, sizeof *groups, "groups of rows", (void **)&groups));
  const int32_t *const sorted = set_groups(w, job->unit, one, other, groups, &n);
#pragma omp parallel for schedule(dynamic, 8) num_threads(w->threads)
  for (int64_t g = 0; g < n; g++) {
    if (tri_failure_is(&first)) continue;
    const tsl_err failed = search_group(w, &w->thread[omp_get_thread_num()], job,
                                        sorted + groups[g], groups[g + 1] - groups[g]);
    if (failed != TSL_OK) tri_failure_note(&first, failed);
  }
  err = tri_failure_take(&first);
done:
  TSL_FREE_ALL(one, other, groups);
  return err;
}
