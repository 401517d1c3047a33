/* Boxes of the triangle on a card, in tiles of 64, with their seconds. */
#include "dp_backend_gpu.cuh"
#include "rna_energy.h"

#include <string.h>

static dp_interval *triangle_of(void *triangle) {
  return (dp_interval *)triangle;
}

static tsl_err open_triangle(void *worker, const dp_triangle_input *in, void **triangle) {
  tsl_err err = TSL_OK;
  dp_worker *w = (dp_worker *)worker;
  const dp_params *p = w->dp.c.p;
  dp_interval_input input = {};
  dp_interval *opened = NULL;
  input.problem = (dp_problem)p->problem;
  input.n = p->n;
  input.dims = in->dims;
  input.real = p->type == TSL_F64;
  input.high = in->high;
  input.low = in->low;
  input.base = in->gaps;
  input.letters = in->letters;
  memcpy(input.pairs, in->pairs, sizeof input.pairs);
  input.loop = p->span;
  input.energy = (const rna_energy *)(const void *)in->energy;
  input.sizes = (const int32_t *)in->sizes;
  TSL_TRY(dp_interval_open(&w->card, &input, &opened));
  *triangle = opened;
done:
  return err;
}

static void close_triangle(void **triangle) {
  dp_interval *opened = triangle_of(*triangle);
  dp_interval_close(&opened);
  *triangle = NULL;
}

static tsl_err begin_triangle(void *triangle) {
  return dp_interval_begin(triangle_of(triangle));
}

static tsl_err compute_boxes(void *triangle, const dp_box *boxes, int64_t n) {
  return dp_interval_boxes(triangle_of(triangle), boxes, n);
}

static tsl_err get_box(void *triangle, const dp_box *box, void *values) {
  return dp_interval_get(triangle_of(triangle), box->lo, box->hi, values);
}

static tsl_err put_box(void *triangle, const dp_box *box, const void *values) {
  return dp_interval_put(triangle_of(triangle), box->lo, box->hi, values);
}

const dp_triangle_engine dp_engine_triangle = {
    .open = open_triangle,
    .close = close_triangle,
    .begin = begin_triangle,
    .boxes = compute_boxes,
    .get = get_box,
    .put = put_box,
};

static tsl_err edge_out(void *triangle, const dp_box *box, void *values) {
  return dp_interval_edge_out(triangle_of(triangle), box->lo, box->hi, values);
}

static tsl_err edge_in(void *triangle, const dp_box *box, const void *values) {
  return dp_interval_edge_in(triangle_of(triangle), box->lo, box->hi, values);
}

static tsl_err whole(void *triangle, void *value) {
  return dp_interval_energy(triangle_of(triangle), (int32_t *)value);
}

const dp_triangle_engine dp_engine_fold = {
    .open = open_triangle,
    .close = close_triangle,
    .begin = begin_triangle,
    .boxes = compute_boxes,
    .get = get_box,
    .put = put_box,
    .edge_out = edge_out,
    .edge_in = edge_in,
    .whole = whole,
};

/* Tiles of one stage do not need each other. */
tsl_err dp_gpu_boxes_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  TSL_TRY(dp_boxes_run(&w->dp.boxes, units, n, parts));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  tsl_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* Each tile as if all that it needs were there. */
tsl_err dp_gpu_boxes_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (w->dp.c.p->problem != DP_PARTITION)
    TSL_TRY(dp_interval_pretend(triangle_of(w->dp.boxes.triangle)));
  TSL_TRY(dp_gpu_boxes_tiles(w, units, n, parts));
done:
  return err;
}
