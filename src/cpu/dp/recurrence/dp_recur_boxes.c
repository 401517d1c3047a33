/** @file dp_recur_boxes.c  Intervals: the whole table, boxes of a stage together. */
#include "dp_recur_cpu.h"
#include "integers.h"

#include <string.h>

enum { SIDE = 64 /* of what a thread computes at a time */ };

static char *cell(const dp_recur_cpu *r, int64_t p, int64_t q) {
  return r->table + (p * r->recur->code.Q + q) * r->bytes;
}

static tsl_err dp_recur_boxes_compute(const dp_recur_cpu *r, int64_t p0, int64_t p1, int64_t q0,
                                      int64_t q1) {
  tsl_err err = TSL_OK;
  const dp_code *c = &r->recur->code;
  const dp_view view = {.cells = {0, c->P, 0, c->Q, r->table, c->Q}};
  if (r->tile == NULL) {
    TSL_TRY(dp_recur_interpret(r, &view, p0, p1, q0, q1));
  } else if (r->tile(&r->recur->args, r->table, c->Q, p0, p1, q0, q1) != 0) {
    TSL_TRY(dp_recur_explain(r, &view, p0, p1, q0, q1));
  }
done:
  return err;
}

/** Small box (a, level - a) of a unit, if it has one. */
static void do_box(tsl_worker *w, const tsl_unit *u, tsl_part *part, int64_t a, int64_t level,
                   dp_fault *fault) {
  dp_recur_cpu *r = w->recur;
  const int64_t p0 = u->lo[0] + a * SIDE, q0 = u->lo[1] + (level - a) * SIDE;
  if (a > level || p0 >= u->hi[0] || q0 >= u->hi[1] || dp_fault_is(fault)) return;
  const int64_t p1 = tsl_min(p0 + SIDE, u->hi[0]), q1 = tsl_min(q0 + SIDE, u->hi[1]);
  const dp_area cells = {p0, p1, q0, q1, cell(r, p0, q0), r->recur->code.Q};
  dp_fault_keep(fault, dp_recur_boxes_compute(r, p0, p1, q0, q1));
  dp_recur_watch(r, &cells, false);
  dp_recur_store(w, &cells, u, 1, part);
}

/** Small boxes of a unit are ready along its diagonals; units of a stage do not need each other. */
tsl_err dp_recur_boxes_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  dp_fault fault = {0};
  int64_t down = 1, levels = 1;
  for (int64_t k = 0; k < n; k++) {
    const int64_t rows = tsl_divide_up(units[k].hi[0] - units[k].lo[0], SIDE);
    const int64_t columns = tsl_divide_up(units[k].hi[1] - units[k].lo[1], SIDE);
    if (rows > down) down = rows;
    if (rows + columns - 1 > levels) levels = rows + columns - 1;
  }
#pragma omp parallel num_threads(w->cpu.threads)
  for (int64_t level = 0; level < levels; level++) {
#pragma omp for schedule(dynamic)
    for (int64_t b = 0; b < n * down; b++)
      do_box(w, &units[b / down], &parts[b / down], b % down, level, &fault);
  }
  return dp_fault_settle(&fault);
}

/* ---- edges: whole tiles */

void dp_recur_boxes_edge_out(const dp_recur_cpu *r, const tsl_unit *u, void *bytes) {
  const int64_t width = (u->hi[1] - u->lo[1]) * r->bytes;
  for (int64_t p = u->lo[0]; p < u->hi[0]; p++)
    memcpy((char *)bytes + (p - u->lo[0]) * width, cell(r, p, u->lo[1]), (size_t)width);
}

void dp_recur_boxes_edge_in(dp_recur_cpu *r, const tsl_unit *u, const void *bytes) {
  const int64_t width = (u->hi[1] - u->lo[1]) * r->bytes;
  for (int64_t p = u->lo[0]; p < u->hi[0]; p++)
    memcpy(cell(r, p, u->lo[1]), (const char *)bytes + (p - u->lo[0]) * width, (size_t)width);
}
