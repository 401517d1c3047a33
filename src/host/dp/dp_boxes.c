/** @file dp_boxes.c  Intervals: boxes of the triangle, their values on the way to the host. */
#include "dp_boxes.h"

#include "dp_interval.h"

#include <string.h>

enum { AT_ONCE = 64 /* boxes whose values are copied out together */ };

/* ---- open */

static void set_pairs(const dp_params *p, uint32_t pairs[32]) {
  for (int x = 0; x < p->letters && x < 32; x++)
    for (int y = 0; y < p->letters && y < 32; y++)
      if (dp_pairs(p, x, y)) pairs[x] |= UINT32_C(1) << y;
}

tsl_err dp_boxes_open(dp_boxes *boxes, const dp_context *c, const dp_triangle_engine *engine) {
  tsl_err err = TSL_OK;
  const int64_t posts = dp_posts(c->p);
  dp_triangle_input in = {0};
  *boxes = (dp_boxes){.c = c, .engine = engine};
  if (c->p->problem == DP_MATRIX_CHAIN) in.dims = dp_input(c, DP_A);
  if (c->p->problem == DP_NUSSINOV) in.letters = dp_input(c, DP_A), set_pairs(c->p, in.pairs);
  if (c->p->problem == DP_FOLD || c->p->problem == DP_PARTITION)
    in.letters = dp_input(c, DP_A), in.energy = dp_input(c, DP_B), in.sizes = dp_input(c, DP_C);
  if (c->p->problem == DP_SEARCH_TREE) {
    TSL_TRY(tsl_alloc(posts, (size_t)c->bytes, "weights", &in.high));
    TSL_TRY(tsl_alloc(posts, (size_t)c->bytes, "weights", &in.low));
    in.gaps = dp_input(c, DP_B);
    dp_tree_sums(c->p, dp_input(c, DP_A), in.gaps, in.high, in.low);
  }
  TSL_TRY(engine->open(c->worker, &in, &boxes->triangle));
done:
  TSL_FREE_ALL(in.high, in.low);
  return err;
}

void dp_boxes_clear(dp_boxes *boxes) {
  const dp_context *c = boxes->c;
  if (c == NULL) return;
  boxes->engine->close(&boxes->triangle);
  dp_release(c, &boxes->values);
  if (c->memory->release_pinned != NULL) c->memory->release_pinned(&boxes->out);
  tsl_free(boxes->last);
  *boxes = (dp_boxes){0};
}

tsl_err dp_boxes_begin(dp_boxes *boxes) {
  boxes->whole = false;
  boxes->n_last = boxes->out_from = boxes->out_to = 0;
  return boxes->engine->begin(boxes->triangle);
}

/* ---- values */

static dp_box box_of(const tsl_unit *u) {
  return (dp_box){{u->lo[0], u->lo[1], u->lo[2]}, {u->hi[0], u->hi[1], u->hi[2]}};
}

static int64_t bytes_of(const dp_boxes *boxes, const dp_box *box) {
  return dp_interval_values(boxes->c->p, box) * boxes->c->bytes;
}

static int64_t bytes_of_last(const dp_boxes *boxes, int64_t lo, int64_t hi) {
  int64_t all = 0;
  for (int64_t k = lo; k < hi; k++) all += bytes_of(boxes, &boxes->last[k]);
  return all;
}

/** Queue: values of boxes lo..hi-1 of those computed last to memory of the device and from there to
 *  the host. */
static tsl_err values_out(dp_boxes *boxes, int64_t lo, int64_t hi, void *const *out) {
  tsl_err err = TSL_OK;
  const dp_context *c = boxes->c;
  const bool direct = c->memory->reserve_pinned == NULL;
  int64_t at = 0;
  if (!direct)
    TSL_TRY(dp_reserve(c, &boxes->values, bytes_of_last(boxes, lo, hi), "values of boxes"));
  for (int64_t k = lo; k < hi; k++) {
    const dp_box *box = &boxes->last[k];
    char *values = direct ? out[k - lo] : (char *)boxes->values.data + at;
    TSL_TRY(boxes->engine->get(boxes->triangle, box, values));
    if (direct) continue;
    TSL_TRY(dp_copy(c, out[k - lo], values, bytes_of(boxes, box), DP_COPY_OUT));
    at += bytes_of(boxes, box);
  }
done:
  return err;
}

/* ---- tiles */

/** Does the optimum come with this tile? */
static bool is_whole(const dp_boxes *boxes, const tsl_unit *u) {
  return u->lo[0] == 0 && u->hi[1] == dp_posts(boxes->c->p) && u->lo[2] == 0;
}

static tsl_err list_boxes(dp_boxes *boxes, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  boxes->n_last = boxes->out_from = boxes->out_to = 0;
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(tsl_grow((void **)&boxes->last, boxes->n_last, 1, &boxes->room, sizeof *boxes->last,
                     "list"));
    boxes->last[boxes->n_last++] = box_of(&units[k]);
  }
done:
  return err;
}

tsl_err dp_boxes_run(dp_boxes *boxes, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = boxes->c;
  void *out[AT_ONCE];
  TSL_TRY(list_boxes(boxes, units, n));
  TSL_TRY(boxes->engine->boxes(boxes->triangle, boxes->last, n));
  for (int64_t lo = 0; lo < n && c->table >= 0; lo += AT_ONCE) {
    const int64_t hi = lo + AT_ONCE < n ? lo + AT_ONCE : n;
    for (int64_t k = lo; k < hi; k++) out[k - lo] = parts[k].slab[c->table];
    TSL_TRY(values_out(boxes, lo, hi, out));
  }
  for (int64_t k = 0; k < n; k++)
    if (is_whole(boxes, &units[k])) boxes->whole = true;
done:
  return err;
}

/* The upper right corner is the whole. */
tsl_err dp_boxes_goal(const dp_boxes *boxes, tsl_field *goal) {
  tsl_err err = TSL_OK;
  const int64_t last = dp_posts(boxes->c->p) - 1;
  const dp_box corner = {{0, last}, {1, last + 1}};
  int32_t narrow = 0;
  if (!boxes->whole || last == 0) return TSL_OK;
  void *to = boxes->c->p->type == TSL_I32 ? &narrow : goal->data;
  if (boxes->engine->whole != NULL)
    TSL_TRY(boxes->engine->whole(boxes->triangle, to));
  else
    TSL_TRY(boxes->engine->get(boxes->triangle, &corner, to));
  if (to == goal->data) return TSL_OK;
  *(int64_t *)goal->data = narrow;
done:
  return err;
}

/* ---- edges */

/** Values of boxes from `from` on to pinned memory. */
static tsl_err fetch(dp_boxes *boxes, int64_t from) {
  tsl_err err = TSL_OK;
  const dp_context *c = boxes->c;
  const int64_t to = from + AT_ONCE < boxes->n_last ? from + AT_ONCE : boxes->n_last;
  void *out[AT_ONCE];
  boxes->out_from = boxes->out_to = 0;
  TSL_TRY(c->memory->reserve_pinned(&boxes->out, bytes_of_last(boxes, from, to)));
  for (int64_t k = from; k < to; k++)
    out[k - from] = (char *)boxes->out.data + bytes_of_last(boxes, from, k);
  TSL_TRY(values_out(boxes, from, to, out));
  TSL_TRY(dp_wait(c));
  boxes->out_from = from;
  boxes->out_to = to;
done:
  return err;
}

/* Edges leave in the order of tiles, so those behind are fetched with the first. */
tsl_err dp_boxes_edge_out(dp_boxes *boxes, const tsl_unit *unit, void *bytes) {
  tsl_err err = TSL_OK;
  const dp_box box = box_of(unit), *last = boxes->last;
  if (boxes->engine->edge_out != NULL) return boxes->engine->edge_out(boxes->triangle, &box, bytes);
  int64_t k = boxes->c->memory->reserve_pinned == NULL ? boxes->n_last : 0;
  while (k < boxes->n_last && (last[k].lo[0] != box.lo[0] || last[k].lo[1] != box.lo[1])) k++;
  if (k == boxes->n_last) return boxes->engine->get(boxes->triangle, &box, bytes);
  if (k < boxes->out_from || k >= boxes->out_to) TSL_TRY(fetch(boxes, k));
  memcpy(bytes, (const char *)boxes->out.data + bytes_of_last(boxes, boxes->out_from, k),
         (size_t)bytes_of(boxes, &box));
done:
  return err;
}

tsl_err dp_boxes_edge_in(dp_boxes *boxes, const tsl_unit *unit, const void *bytes) {
  const dp_box box = box_of(unit);
  if (boxes->engine->edge_in != NULL) return boxes->engine->edge_in(boxes->triangle, &box, bytes);
  return boxes->engine->put(boxes->triangle, &box, bytes);
}

/* ---- checkpoints */

int64_t dp_boxes_state_bytes(const dp_boxes *boxes, const tsl_unit *unit) {
  return boxes->c->bytes * dp_interval_edge_values(boxes->c->p, unit);
}

tsl_err dp_boxes_load(dp_boxes *boxes, const tsl_unit *unit, bool own, const void *bytes,
                      int64_t n) {
  if (n != dp_boxes_state_bytes(boxes, unit)) return dp_saved_bad(unit);
  if (own && is_whole(boxes, unit)) boxes->whole = true;
  return dp_boxes_edge_in(boxes, unit, bytes);
}
