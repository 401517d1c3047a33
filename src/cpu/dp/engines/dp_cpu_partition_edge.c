/** @file dp_cpu_partition_edge.c  Sums over structures: edges, probabilities, the whole. */
#include "dp_cpu_partition.h"
#include "integers.h"

#include <string.h>

/** Moves numbers between a worker and an edge, one list behind the other: see dp.h, edges. */
typedef struct edge {
  dp_cpu_partition *f;
  const dp_box *box;
  double *out; /**< NULL: numbers come in */
  const double *in;
} edge;

static void move(edge *e, double *value) {
  if (e->out != NULL)
    *e->out++ = *value;
  else
    *value = *e->in++;
}

static void move_whole(edge *e, int32_t *value) {
  double number = *value;
  move(e, &number);
  *value = (int32_t)number;
}

/** Values of a table, row-major, zero below the diagonal of tiles. */
static void move_table(edge *e, partition_table table) {
  for (int64_t a = e->box->lo[0]; a < e->box->hi[0]; a++)
    for (int64_t b = e->box->lo[1]; b < e->box->hi[1]; b++) {
      const int64_t i = a / DP_SIDE, j = b / DP_SIDE;
      double nothing = 0;
      move(e, i <= j ? partition_at(e->f, table, i, j) + a % DP_SIDE * DP_SIDE + b % DP_SIDE
                     : &nothing);
    }
}

/** A list of the box's columns, kept by its tiles of row i. */
static void move_row(edge *e, partition_side side, int64_t i) {
  for (int64_t b = e->box->lo[1]; b < e->box->hi[1]; b++) {
    double nothing = 0;
    move(e,
         i <= b / DP_SIDE ? partition_side_at(e->f, side, i, b / DP_SIDE) + b % DP_SIDE : &nothing);
  }
}

/** A list of the box's rows, kept by its tiles of column j. */
static void move_column(edge *e, partition_side side, int64_t j) {
  for (int64_t a = e->box->lo[0]; a < e->box->hi[0]; a++) {
    double nothing = 0;
    move(e,
         a / DP_SIDE <= j ? partition_side_at(e->f, side, a / DP_SIDE, j) + a % DP_SIDE : &nothing);
  }
}

/** D[a][b] in the corner of a tile is in its first row and in its last column. */
static void copy_corners(edge *e) {
  const int64_t i = e->box->lo[0] / DP_SIDE;
  for (int64_t j = tsl_max(i, e->box->lo[1] / DP_SIDE); j * DP_SIDE < e->box->hi[1]; j++)
    *partition_side_at(e->f, PART_D_COLUMN, i, j) =
        partition_side_at(e->f, PART_D_ROW, i, j)[DP_SIDE - 1];
}

/** F of the columns and G of the rows; those of other boxes are nothing. */
static void move_exterior(edge *e) {
  const dp_box *b = e->box;
  const bool first = b->lo[0] == 0, last = b->hi[1] == e->f->posts;
  double nothing = 0;
  int32_t none = 0;
  for (int64_t k = b->lo[1]; k < b->hi[1]; k++) move(e, first ? &e->f->prefix[k] : &nothing);
  for (int64_t k = b->lo[0]; k < b->hi[0]; k++) move(e, last ? &e->f->suffix[k] : &nothing);
  for (int64_t j = b->lo[1] / DP_SIDE; j * DP_SIDE < b->hi[1]; j++)
    move_whole(e, first ? &e->f->prefix_e[j] : &none);
  for (int64_t i = b->lo[0] / DP_SIDE; i * DP_SIDE < b->hi[0]; i++)
    move_whole(e, last ? &e->f->suffix_e[i] : &none);
}

static void move_exponents(edge *e) {
  const dp_box *b = e->box;
  for (int64_t i = b->lo[0] / DP_SIDE; i * DP_SIDE < b->hi[0]; i++)
    for (int64_t j = b->lo[1] / DP_SIDE; j * DP_SIDE < b->hi[1]; j++) {
      int32_t none = 0;
      move_whole(e, i <= j ? &e->f->exponent[partition_tile(e->f, i, j)] : &none);
    }
}

static void move_inside(edge *e) {
  const dp_box *b = e->box;
  const int64_t i0 = b->lo[0] / DP_SIDE, j1 = (b->hi[1] - 1) / DP_SIDE;
  move_exponents(e);
  move_table(e, PART_V);
  move_table(e, PART_STEM);
  move_table(e, PART_STEMS);
  move_row(e, PART_D_ROW, i0);
  move_row(e, PART_R_ROW, i0);
  move_column(e, PART_D_COLUMN, j1);
  move_exterior(e);
}

static void move_outside(edge *e) {
  const dp_box *b = e->box;
  move_exponents(e);
  move_table(e, PART_OUT_V);
  move_table(e, PART_OUT_D);
  move_row(e, PART_OUT_R_ROW, (b->hi[0] - 1) / DP_SIDE);
  move_column(e, PART_OUT_STEM_COLUMN, b->lo[1] / DP_SIDE);
  move(e, &e->f->whole.m);
  move_whole(e, &e->f->whole.e);
}

void dp_cpu_partition_edge_out(dp_cpu_partition *f, const dp_box *box, double *values) {
  edge e = {.f = f, .box = box, .out = values};
  if (box->lo[2] == 0)
    move_inside(&e);
  else
    move_outside(&e);
}

void dp_cpu_partition_edge_in(dp_cpu_partition *f, const dp_box *box, const double *values) {
  edge e = {.f = f, .box = box, .in = values};
  if (box->lo[2] == 0) {
    move_inside(&e);
    copy_corners(&e);
    if (box->lo[0] == 0 && box->hi[1] == f->posts) partition_whole(f);
  } else {
    move_outside(&e);
  }
}

void dp_cpu_partition_get(const dp_cpu_partition *f, const dp_box *box, double *values) {
  for (int64_t a = box->lo[0]; a < tsl_min(box->hi[0], f->posts - 1) && box->lo[2] != 0; a++)
    for (int64_t b = tsl_max(box->lo[1], 1); b < box->hi[1]; b++) {
      const int64_t i = a / DP_SIDE, j = b / DP_SIDE, k = a % DP_SIDE * DP_SIDE + b % DP_SIDE;
      *values++ =
          a < b ? partition_at(f, PART_V, i, j)[k] * partition_at(f, PART_OUT_V, i, j)[k] : 0;
    }
}

double dp_cpu_partition_energy(const dp_cpu_partition *f) {
  return rna_weights_ensemble(&f->w, f->whole.m, f->whole.e);
}
