/** @file dp_recur_rows.c  Sweeps: a row after the other, its columns shared out to threads. */
#include "dp_recur_cpu.h"

#include <string.h>

enum { GRAIN_ITEMS = 16384 /* of the innermost loop, for a thread at a time */ };

static char *row_at(const dp_recur_cpu *r, int64_t p) {
  const dp_code *c = &r->recur->code;
  return r->table + (c->depth > 0 ? p % (c->depth + 1) : p) * c->Q * r->bytes;
}

/** Rows p, p - 1, ... as compiled code takes them. */
static void set_rows(const dp_recur_cpu *r, int64_t p, void *rows[DP_DEPTH_ROWS + 1]) {
  const int64_t depth = r->recur->code.depth;
  for (int64_t d = 0; d <= DP_DEPTH_ROWS; d++)
    rows[d] = d <= depth && d <= p ? row_at(r, p - d) : NULL;
}

static dp_view view_of(const dp_recur_cpu *r, int64_t p, void *const *rows) {
  const dp_code *c = &r->recur->code;
  const int64_t depth = c->depth < p ? c->depth : p;
  if (c->depth > 0) return (dp_view){.rows = rows, .p = p, .depth = depth};
  return (dp_view){.cells = {0, c->P, 0, c->Q, r->table, c->Q}};
}

/** Columns [q0, q1) of row p. */
static tsl_err dp_recur_rows_compute(const dp_recur_cpu *r, int64_t p, int64_t q0, int64_t q1) {
  tsl_err err = TSL_OK;
  void *rows[DP_DEPTH_ROWS + 1];
  set_rows(r, p, rows);
  const dp_view view = view_of(r, p, rows);
  if (r->row == NULL) {
    TSL_TRY(dp_recur_interpret(r, &view, p, p + 1, q0, q1));
  } else if (r->row(&r->recur->args, rows, r->recur->code.Q, p, q0, q1) != 0) {
    TSL_TRY(dp_recur_explain(r, &view, p, p + 1, q0, q1));
  }
done:
  return err;
}

/** A tile, or neighbouring ones, and how it is shared out. */
typedef struct sweep {
  tsl_worker *w;
  const tsl_unit *units;
  tsl_part *parts;
  int64_t n, lo[2], hi[2], grain;
  dp_fault fault;
} sweep;

static void do_piece(sweep *s, int64_t p, int64_t q0) {
  dp_recur_cpu *r = s->w->recur;
  const int64_t q1 = q0 + s->grain < s->hi[1] ? q0 + s->grain : s->hi[1];
  if (dp_fault_is(&s->fault)) return;
  dp_fault_keep(&s->fault, dp_recur_rows_compute(r, p, q0, q1));
  const dp_area cells = {p, p + 1, q0, q1, row_at(r, p) + q0 * r->bytes, 0};
  dp_recur_watch(r, &cells, false);
  dp_recur_store(s->w, &cells, s->units, s->n, s->parts);
}

static void set_grain(sweep *s) {
  const int64_t columns = s->hi[1] - s->lo[1];
  double items = 0, cells = (double)columns * (double)(s->hi[0] - s->lo[0]);
  for (int64_t k = 0; k < s->n; k++) items += s->units[k].count;
  s->grain = (int64_t)(GRAIN_ITEMS * cells / (items + 1)) + 16;
  if (s->w->cpu.threads == 1 || s->w->recur->recur->code.same_row != 0 || s->grain > columns)
    s->grain = columns;
}

tsl_err dp_recur_rows_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  sweep s = {.w = w, .units = units, .parts = parts, .n = n};
  s.lo[0] = units[0].lo[0], s.hi[0] = units[0].hi[0];
  s.lo[1] = units[0].lo[1], s.hi[1] = units[n - 1].hi[1];
  set_grain(&s);
  if (s.grain == s.hi[1] - s.lo[1]) {
    for (int64_t p = s.lo[0]; p < s.hi[0]; p++) do_piece(&s, p, s.lo[1]);
  } else {
#pragma omp parallel num_threads(w->cpu.threads)
    for (int64_t p = s.lo[0]; p < s.hi[0]; p++) {
#pragma omp for schedule(dynamic)
      for (int64_t q = s.lo[1]; q < s.hi[1]; q += s.grain) do_piece(&s, p, q);
    }
  }
  return dp_fault_settle(&s.fault);
}

/* ---- edges: the last rows of a tile */

static int64_t first_row(const dp_recur_cpu *r, const tsl_unit *u) {
  const int64_t rows = u->hi[0] - u->lo[0], depth = r->recur->code.depth;
  return u->hi[0] - (rows < depth ? rows : depth);
}

void dp_recur_rows_edge_out(const dp_recur_cpu *r, const tsl_unit *u, void *bytes) {
  const int64_t width = (u->hi[1] - u->lo[1]) * r->bytes, from = first_row(r, u);
  for (int64_t p = from; p < u->hi[0]; p++)
    memcpy((char *)bytes + (p - from) * width, row_at(r, p) + u->lo[1] * r->bytes, (size_t)width);
}

void dp_recur_rows_edge_in(dp_recur_cpu *r, const tsl_unit *u, const void *bytes) {
  const int64_t width = (u->hi[1] - u->lo[1]) * r->bytes, from = first_row(r, u);
  for (int64_t p = from; p < u->hi[0]; p++)
    memcpy(row_at(r, p) + u->lo[1] * r->bytes, (const char *)bytes + (p - from) * width,
           (size_t)width);
}
