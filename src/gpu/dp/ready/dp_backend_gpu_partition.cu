/* Sums over structures on a card: the engine of the driver's boxes. */
#include "dp_backend_gpu.cuh"
#include "dp_interval.h"
#include "dp_partition.cuh"

static dp_partition *sums_of(void *triangle) {
  return (dp_partition *)triangle;
}

static tsl_err open_sums(void *worker, const dp_triangle_input *in, void **triangle) {
  tsl_err err = TSL_OK;
  dp_worker *w = (dp_worker *)worker;
  const dp_params *p = w->dp.c.p;
  rna_weights_input input = {};
  dp_partition *opened = NULL;
  input.posts = dp_posts(p);
  input.letters = in->letters;
  input.energy = (const rna_exact *)in->energy;
  input.sizes = (const double *)in->sizes;
  input.kt = 100 * p->kt;
  TSL_TRY(dp_partition_open(&w->card, &input, &opened));
  *triangle = opened;
done:
  return err;
}

static void close_sums(void **triangle) {
  dp_partition *opened = sums_of(*triangle);
  dp_partition_close(&opened);
  *triangle = NULL;
}

static tsl_err begin_sums(void *triangle) {
  return dp_partition_begin(sums_of(triangle));
}

static tsl_err compute_sums(void *triangle, const dp_box *boxes, int64_t n) {
  return dp_partition_boxes(sums_of(triangle), boxes, n);
}

static tsl_err get_sums(void *triangle, const dp_box *box, void *values) {
  return dp_partition_get(sums_of(triangle), box, (double *)values);
}

static int64_t edge_values(const dp_box *box) {
  dp_params p = {};
  tsl_unit unit = {};
  p.problem = DP_PARTITION;
  for (int k = 0; k < 3; k++) unit.lo[k] = box->lo[k], unit.hi[k] = box->hi[k];
  return dp_interval_edge_values(&p, &unit);
}

static tsl_err sums_out(void *triangle, const dp_box *box, void *values) {
  return dp_partition_edge_out(sums_of(triangle), box, edge_values(box), (double *)values);
}

static tsl_err sums_in(void *triangle, const dp_box *box, const void *values) {
  return dp_partition_edge_in(sums_of(triangle), box, edge_values(box), (const double *)values);
}

static tsl_err whole_sum(void *triangle, void *value) {
  return dp_partition_energy(sums_of(triangle), (double *)value);
}

const dp_triangle_engine dp_engine_partition = {
    .open = open_sums,
    .close = close_sums,
    .begin = begin_sums,
    .boxes = compute_sums,
    .get = get_sums,
    .put = sums_in,
    .edge_out = sums_out,
    .edge_in = sums_in,
    .whole = whole_sum,
};
