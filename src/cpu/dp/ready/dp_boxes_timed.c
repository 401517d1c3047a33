/** @file dp_boxes_timed.c  Boxes of the triangle on a socket, with their seconds. */
#include "dp_backend.h"
#include "rna_weights.h"

#include <string.h>

static tsl_err open_triangle(void *worker, const dp_triangle_input *in, void **triangle) {
  tsl_err err = TSL_OK;
  const tsl_worker *w = worker;
  const dp_params *p = w->dp.c.p;
  dp_cpu_interval_input input = {.problem = (dp_problem)p->problem,
                                 .type = (tsl_type)p->type,
                                 .posts = dp_posts(p),
                                 .dims = in->dims,
                                 .gaps = in->gaps,
                                 .high = in->high,
                                 .low = in->low,
                                 .letters = in->letters,
                                 .energy = in->energy,
                                 .sizes = in->sizes,
                                 .span = p->span};
  dp_cpu_interval *opened = NULL;
  memcpy(input.pairs, in->pairs, sizeof input.pairs);
  TSL_TRY(dp_cpu_interval_open(&w->cpu, &input, &opened));
  *triangle = opened;
done:
  return err;
}

static void close_triangle(void **triangle) {
  dp_cpu_interval *opened = *triangle;
  dp_cpu_interval_close(&opened);
  *triangle = NULL;
}

static tsl_err begin_triangle(void *triangle) {
  dp_cpu_interval_begin(triangle);
  return TSL_OK;
}

static tsl_err compute_boxes(void *triangle, const dp_box *boxes, int64_t n) {
  dp_cpu_interval_boxes(triangle, boxes, n);
  return TSL_OK;
}

static tsl_err get_box(void *triangle, const dp_box *box, void *values) {
  dp_cpu_interval_get(triangle, box, values);
  return TSL_OK;
}

static tsl_err put_box(void *triangle, const dp_box *box, const void *values) {
  dp_cpu_interval_put(triangle, box, values);
  return TSL_OK;
}

static tsl_err edge_out(void *triangle, const dp_box *box, void *values) {
  dp_cpu_interval_edge_out(triangle, box, values);
  return TSL_OK;
}

static tsl_err edge_in(void *triangle, const dp_box *box, const void *values) {
  dp_cpu_interval_edge_in(triangle, box, values);
  return TSL_OK;
}

static tsl_err whole(void *triangle, void *value) {
  dp_cpu_interval_whole(triangle, value);
  return TSL_OK;
}

const dp_triangle_engine dp_engine_triangle_cpu = {.open = open_triangle,
                                                   .close = close_triangle,
                                                   .begin = begin_triangle,
                                                   .boxes = compute_boxes,
                                                   .get = get_box,
                                                   .put = put_box,
                                                   .edge_out = edge_out,
                                                   .edge_in = edge_in,
                                                   .whole = whole};

/* ---- sums over structures */

static tsl_err open_partition(void *worker, const dp_triangle_input *in, void **triangle) {
  tsl_err err = TSL_OK;
  const tsl_worker *w = worker;
  const dp_params *p = w->dp.c.p;
  const rna_weights_input input = {.posts = dp_posts(p),
                                   .letters = in->letters,
                                   .energy = in->energy,
                                   .sizes = in->sizes,
                                   .kt = 100 * p->kt};
  dp_cpu_partition *opened = NULL;
  TSL_TRY(dp_cpu_partition_open(&w->cpu, &input, &opened));
  *triangle = opened;
done:
  return err;
}

static void close_partition(void **triangle) {
  dp_cpu_partition *opened = *triangle;
  dp_cpu_partition_close(&opened);
  *triangle = NULL;
}

static tsl_err begin_partition(void *triangle) {
  dp_cpu_partition_begin(triangle);
  return TSL_OK;
}

static tsl_err compute_partition(void *triangle, const dp_box *boxes, int64_t n) {
  dp_cpu_partition_boxes(triangle, boxes, n);
  return TSL_OK;
}

static tsl_err get_partition(void *triangle, const dp_box *box, void *values) {
  dp_cpu_partition_get(triangle, box, values);
  return TSL_OK;
}

static tsl_err put_partition(void *triangle, const dp_box *box, const void *values) {
  dp_cpu_partition_edge_in(triangle, box, values);
  return TSL_OK;
}

static tsl_err partition_edge_out(void *triangle, const dp_box *box, void *values) {
  dp_cpu_partition_edge_out(triangle, box, values);
  return TSL_OK;
}

/** Ensemble energy in kcal/mol. */
static tsl_err partition_whole(void *triangle, void *value) {
  *(double *)value = dp_cpu_partition_energy(triangle);
  return TSL_OK;
}

const dp_triangle_engine dp_engine_partition_cpu = {.open = open_partition,
                                                    .close = close_partition,
                                                    .begin = begin_partition,
                                                    .boxes = compute_partition,
                                                    .get = get_partition,
                                                    .put = put_partition,
                                                    .edge_out = partition_edge_out,
                                                    .edge_in = put_partition,
                                                    .whole = partition_whole};

tsl_err dp_cpu_boxes_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  TSL_TRY(dp_boxes_run(&w->dp.boxes, units, n, parts));
  dp_cpu_spread(w, start, units, n, parts);
done:
  return err;
}
