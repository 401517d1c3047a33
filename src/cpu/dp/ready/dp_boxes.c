/** @file dp_boxes.c  Intervals: boxes of the triangle. */
#include "dp_backend.h"
#include "dp_interval.h"

static void set_pairs(const dp_params *p, uint32_t pairs[32]) {
  for (int x = 0; x < p->letters; x++)
    for (int y = 0; y < p->letters; y++)
      if (dp_pairs(p, x, y)) pairs[x] |= UINT32_C(1) << y;
}

tsl_err dp_boxes_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->c.p;
  const int64_t posts = dp_posts(p);
  void *high = NULL, *low = NULL;
  dp_cpu_interval_input in = {.problem = (dp_problem)p->problem,
                              .type = (tsl_type)p->type,
                              .posts = posts,
                              .span = p->span};
  if (p->problem == DP_MATRIX_CHAIN) in.dims = dp_input(&w->c, DP_A);
  if (p->problem == DP_NUSSINOV) in.letters = dp_input(&w->c, DP_A), set_pairs(p, in.pairs);
  if (p->problem == DP_SEARCH_TREE) {
    TSL_TRY(tsl_alloc(posts, (size_t)w->c.bytes, "weights", &high));
    TSL_TRY(tsl_alloc(posts, (size_t)w->c.bytes, "weights", &low));
    dp_tree_sums(p, dp_input(&w->c, DP_A), dp_input(&w->c, DP_B), high, low);
    in.gaps = dp_input(&w->c, DP_B), in.high = high, in.low = low;
  }
  TSL_TRY(dp_cpu_interval_open(&w->cpu, &in, &w->boxes.triangle));
done:
  tsl_free(high);
  tsl_free(low);
  return err;
}

void dp_boxes_clear(tsl_worker *w) {
  dp_cpu_interval_close(&w->boxes.triangle);
}

static dp_cpu_box box_of(const tsl_unit *u) {
  return (dp_cpu_box){{u->lo[0], u->lo[1]}, {u->hi[0], u->hi[1]}};
}

/** Tiles of one stage do not need each other. */
tsl_err dp_boxes_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_cpu_box *boxes = NULL;
  const double start = tsl_cpu_seconds();
  TSL_TRY(tsl_alloc(n, sizeof *boxes, "boxes", (void **)&boxes));
  for (int64_t k = 0; k < n; k++) boxes[k] = box_of(&units[k]);
  dp_cpu_interval_boxes(w->boxes.triangle, boxes, n);
  for (int64_t k = 0; k < n; k++) {
    if (w->c.table >= 0)
      dp_cpu_interval_get(w->boxes.triangle, &boxes[k], parts[k].slab[w->c.table]);
    if (units[k].lo[0] == 0 && units[k].hi[1] == dp_posts(w->c.p)) w->boxes.whole = true;
  }
  dp_cpu_spread(w, start, units, n, parts);
done:
  tsl_free(boxes);
  return err;
}

tsl_err dp_boxes_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  const dp_cpu_box box = box_of(unit);
  dp_cpu_interval_get(w->boxes.triangle, &box, bytes);
  return TSL_OK;
}

tsl_err dp_boxes_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  const dp_cpu_box box = box_of(unit);
  dp_cpu_interval_put(w->boxes.triangle, &box, bytes);
  return TSL_OK;
}

int64_t dp_boxes_state_bytes(const tsl_worker *w, const tsl_unit *unit) {
  return (unit->hi[0] - unit->lo[0]) * (unit->hi[1] - unit->lo[1]) * w->c.bytes;
}

tsl_err dp_boxes_load(tsl_worker *w, const tsl_unit *unit, const void *bytes, int64_t n) {
  if (n != dp_boxes_state_bytes(w, unit))
    return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                    "the checkpoint's state of tile %lld is not one of this table",
                    (long long)unit->id);
  return dp_boxes_edge_in(w, unit, bytes);
}

/** The last box, of which the upper right corner is the whole. */
tsl_err dp_boxes_goal(const tsl_worker *w, tsl_field *goal) {
  tsl_err err = TSL_OK;
  const int64_t last = dp_posts(w->c.p) - 1;
  const dp_cpu_box box = {{0, last / DP_BOX * DP_BOX},
                          {last + 1 < DP_BOX ? last + 1 : DP_BOX, last + 1}};
  char *values = NULL;
  if (!w->boxes.whole || last == 0) return TSL_OK;
  TSL_TRY(
      tsl_alloc(box.hi[0] * (box.hi[1] - box.lo[1]), (size_t)w->c.bytes, "box", (void **)&values));
  dp_cpu_interval_get(w->boxes.triangle, &box, values);
  const void *corner = values + (last - box.lo[1]) * w->c.bytes;
  if (w->c.p->type == TSL_F64)
    *(double *)goal->data = *(const double *)corner;
  else if (w->c.p->type == TSL_I64)
    *(int64_t *)goal->data = *(const int64_t *)corner;
  else
    *(int64_t *)goal->data = *(const int32_t *)corner;
done:
  tsl_free(values);
  return err;
}
