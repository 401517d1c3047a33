/* Intervals on a card: boxes of the triangle, in tiles of 64. */
#include "dp_backend_gpu.cuh"
#include "dp_interval.h"

enum { AT_ONCE = 64 /* boxes whose values are copied out together */ };

static void set_pairs(const dp_params *p, uint32_t pairs[32]) {
  for (int x = 0; x < p->letters && x < 32; x++)
    for (int y = 0; y < p->letters && y < 32; y++)
      if (dp_pairs(p, x, y)) pairs[x] |= UINT32_C(1) << y;
}

tsl_err dp_gpu_boxes_open(dp_worker *w) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->c.p;
  const int64_t posts = dp_posts(p);
  void *high = NULL, *low = NULL;
  dp_interval_input in = {};
  in.problem = (dp_problem)p->problem;
  in.n = p->n;
  in.real = p->type == TSL_F64;
  in.loop = p->span;
  if (p->problem == DP_MATRIX_CHAIN) in.dims = (const int64_t *)dp_input(&w->c, DP_A);
  if (p->problem == DP_NUSSINOV) {
    in.letters = (const uint8_t *)dp_input(&w->c, DP_A);
    set_pairs(p, in.pairs);
  }
  if (p->problem == DP_SEARCH_TREE) {
    TSL_TRY(tsl_alloc(posts, (size_t)w->c.bytes, "weights", &high));
    TSL_TRY(tsl_alloc(posts, (size_t)w->c.bytes, "weights", &low));
    dp_tree_sums(p, dp_input(&w->c, DP_A), dp_input(&w->c, DP_B), high, low);
    in.base = dp_input(&w->c, DP_B);
    in.high = high;
    in.low = low;
  }
  TSL_TRY(dp_interval_open(&w->card, &in, &w->boxes.triangle));
done:
  tsl_free(high);
  tsl_free(low);
  return err;
}

void dp_gpu_boxes_clear(dp_worker *w) {
  dp_interval_close(&w->boxes.triangle);
  tsl_gpu_release(&w->card.memory, &w->boxes.values);
  dp_pinned_release(&w->boxes.out);
  tsl_free(w->boxes.last);
  w->boxes = dp_boxes_gpu{};
}

tsl_err dp_gpu_boxes_begin(dp_worker *w) {
  w->boxes.whole = false;
  w->boxes.n_last = w->boxes.out_from = w->boxes.out_to = 0;
  return dp_interval_begin(w->boxes.triangle);
}

static dp_interval_range range_of(const tsl_unit *u) {
  return dp_interval_range{{u->lo[0], u->lo[1]}, {u->hi[0], u->hi[1]}};
}

static int64_t bytes_of(const dp_worker *w, const dp_interval_range *box) {
  return (box->hi[0] - box->lo[0]) * (box->hi[1] - box->lo[1]) * w->c.bytes;
}

/* Remember the boxes of this call. */
static tsl_err list_boxes(dp_worker *w, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  dp_boxes_gpu *b = &w->boxes;
  b->n_last = b->out_from = b->out_to = 0;
  for (int64_t k = 0; k < n; k++) {
    TSL_TRY(dp_list_grow((void **)&b->last, b->n_last, &b->room, sizeof *b->last));
    b->last[b->n_last++] = range_of(&units[k]);
  }
done:
  return err;
}

/* Queue: values of boxes lo..hi-1 of this call to device memory and from there to the host. */
static tsl_err queue_out(dp_worker *w, int64_t lo, int64_t hi, void *const *out) {
  tsl_err err = TSL_OK;
  dp_boxes_gpu *b = &w->boxes;
  int64_t all = 0, at = 0;
  for (int64_t k = lo; k < hi; k++) all += bytes_of(w, &b->last[k]);
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &b->values, all, "values of boxes"));
  for (int64_t k = lo; k < hi; k++) {
    char *values = (char *)b->values.data + at;
    TSL_TRY(dp_interval_get(b->triangle, b->last[k].lo, b->last[k].hi, values));
    TSL_CUDA_TRY(cudaMemcpyAsync(out[k - lo], values, (size_t)bytes_of(w, &b->last[k]),
                                 cudaMemcpyDeviceToHost, w->card.stream));
    at += bytes_of(w, &b->last[k]);
  }
done:
  return err;
}

static tsl_err queue_table(dp_worker *w, int64_t n, const tsl_part *parts) {
  tsl_err err = TSL_OK;
  void *out[AT_ONCE];
  for (int64_t lo = 0; lo < n && w->c.table >= 0; lo += AT_ONCE) {
    const int64_t hi = lo + AT_ONCE < n ? lo + AT_ONCE : n;
    for (int64_t k = lo; k < hi; k++) out[k - lo] = parts[k].slab[w->c.table];
    TSL_TRY(queue_out(w, lo, hi, out));
  }
done:
  return err;
}

/* Tiles of one stage do not need each other. */
tsl_err dp_gpu_boxes_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(list_boxes(w, units, n));
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  TSL_TRY(dp_interval_boxes(w->boxes.triangle, w->boxes.last, n));
  TSL_TRY(queue_table(w, n, parts));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  for (int64_t k = 0; k < n; k++)
    if (units[k].lo[0] == 0 && units[k].hi[1] == dp_posts(w->c.p)) w->boxes.whole = true;
  dp_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* Each tile as if all that it needs were there. */
tsl_err dp_gpu_boxes_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_interval_pretend(w->boxes.triangle));
  TSL_TRY(dp_gpu_boxes_tiles(w, units, n, parts));
done:
  return err;
}

/* ---- edges */

/* Values of boxes from `from` on to host memory. */
static tsl_err fetch(dp_worker *w, int64_t from) {
  tsl_err err = TSL_OK;
  dp_boxes_gpu *b = &w->boxes;
  const int64_t to = from + AT_ONCE < b->n_last ? from + AT_ONCE : b->n_last;
  void *out[AT_ONCE];
  int64_t all = 0, at = 0;
  b->out_from = b->out_to = 0;
  for (int64_t k = from; k < to; k++) all += bytes_of(w, &b->last[k]);
  TSL_TRY(dp_pinned_reserve(&b->out, all));
  for (int64_t k = from; k < to; k++) {
    out[k - from] = (char *)b->out.data + at;
    at += bytes_of(w, &b->last[k]);
  }
  TSL_TRY(queue_out(w, from, to, out));
  TSL_TRY(dp_card_wait(&w->card));
  b->out_from = from;
  b->out_to = to;
done:
  return err;
}

/* Edges leave in the order of tiles, so those behind are fetched with the first. */
tsl_err dp_gpu_boxes_edge_out(dp_worker *w, const tsl_unit *unit, void *bytes) {
  tsl_err err = TSL_OK;
  dp_boxes_gpu *b = &w->boxes;
  int64_t k = 0, at = 0;
  while (k < b->n_last && (b->last[k].lo[0] != unit->lo[0] || b->last[k].lo[1] != unit->lo[1])) k++;
  if (k == b->n_last) return dp_interval_get(b->triangle, unit->lo, unit->hi, bytes);
  if (k < b->out_from || k >= b->out_to) TSL_TRY(fetch(w, k));
  for (int64_t q = b->out_from; q < k; q++) at += bytes_of(w, &b->last[q]);
  memcpy(bytes, (const char *)b->out.data + at, (size_t)bytes_of(w, &b->last[k]));
done:
  return err;
}

tsl_err dp_gpu_boxes_edge_in(dp_worker *w, const tsl_unit *unit, const void *bytes) {
  return dp_interval_put(w->boxes.triangle, unit->lo, unit->hi, bytes);
}

/* The upper right corner is the whole. */
tsl_err dp_gpu_boxes_goal(dp_worker *w, tsl_field *goal) {
  const int64_t last = dp_posts(w->c.p) - 1;
  if (!w->boxes.whole || last == 0) return TSL_OK;
  return dp_interval_value(w->boxes.triangle, 0, last, goal->data);
}
