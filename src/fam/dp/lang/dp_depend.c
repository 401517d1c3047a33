/* The checker's order of work: proof from offsets, reads of sampled windows, the graph of each
 * window, the poison test, and the choice among the orders that are left. */
#include "dp_depend.h"

#include <stdio.h>
#include <string.h>

enum {
  SIDE_WHOLE = 96,
  SIDE_WINDOW = 24,
  POISON_VALUES = 40 * 40,
  POISON_LEAST = 3,
  POISON_MOST = 1 << 17,
  WINDOWS = 9
};
/* Looked at: all layers, or of each inner index so many values at both ends and between, by how
 * many indices there are. */
enum { LAYERS = 24 };
static const int64_t pieces[LANG_INNER_MAX] = {LAYERS / 3, 2, 1, 1};
#define READS_MAX INT64_C(4000000)

/* ------------------------------------------------------------------ windows */

/** Two or three pieces of an extent: all of it, or its ends and its middle. */
static int cut_extent(int64_t n, bool whole, int64_t start[3], int64_t end[3]) {
  start[0] = 0;
  end[0] = n;
  if (whole || n <= SIDE_WINDOW) return 1;
  for (int p = 0; p < 3; p++) {
    start[p] = p == 0 ? 0 : p == 1 ? (n - SIDE_WINDOW) / 2 : n - SIDE_WINDOW;
    end[p] = start[p] + SIDE_WINDOW;
  }
  return 3;
}

static int cut_table(const dp_recurrence *r, bool *whole, dp_patch windows[WINDOWS]) {
  const lang_table *t = &r->equation.names.tables[0];
  int64_t i0[3], i1[3], j0[3], j1[3];
  int n = 0;
  *whole =
      t->rows <= SIDE_WHOLE && t->cols <= SIDE_WHOLE && lang_layers(&r->equation.names) <= LAYERS;
  const int rows = cut_extent(t->rows, *whole, i0, i1), cols = cut_extent(t->cols, *whole, j0, j1);
  for (int a = 0; a < rows; a++)
    for (int b = 0; b < cols; b++) windows[n++] = (dp_patch){i0[a], i1[a], j0[b], j1[b]};
  return n;
}

/** The value to be looked at after this one, of an index with n of them; n: none. */
static int64_t next_of_index(int64_t n, int64_t piece, int64_t value) {
  const int64_t middle = (n - piece) / 2;
  if (n <= 3 * piece) return value + 1;
  if (value + 1 == piece) return middle;
  return value + 1 == middle + piece ? n - piece : value + 1;
}

int32_t dp_next_value(const lang_names *names, int32_t value) {
  const int32_t next = value + 1, tables = names->n_tables;
  const lang_table *t = &names->tables[0];
  const int64_t layers = lang_layers(names);
  if (layers <= LAYERS || next % tables != 0) return next;
  int64_t layer = value / tables;
  for (int d = t->n_inner - 1; d >= 0; d--) {
    const int64_t stride = lang_layer_stride(names, d), at = lang_inner_of(names, layer, d);
    const int64_t to = next_of_index(t->inner[d], pieces[t->n_inner - 1], at);
    if (to < t->inner[d]) return (int32_t)(layer + (to - at) * stride) * tables;
    layer -= at * stride; /* from its beginning, with the next of the index before */
  }
  return (int32_t)layers * tables;
}

/* -------------------------------------------------------------------- reads */

typedef struct looker {
  dp_depend *out;
  dp_eval eval;
  int64_t left; /**< reads that may still be looked at */
} looker;

/** Does an equation of table `from` name the cell itself in table `to`? */
static bool reads_same(const dp_references *refs, int32_t from, int32_t to) {
  for (int n = 0; n < refs->n; n++) {
    const dp_reference *f = &refs->list[n];
    if (f->from == from && f->expr->nodes[f->node].ref == to && f->di.lo == 0 && f->di.hi == 0 &&
        f->dj.lo == 0 && f->dj.hi == 0 && f->layer.lo == 0 && f->layer.hi == 0)
      return true;
  }
  return false;
}

/** A cell reads itself in a layer that is computed later, or the one being computed. */
static tsl_err fail_later_layer(const dp_eval *e, const lang_expr *x, int32_t node, int32_t value) {
  char to[128], indices[4 * LANG_INNER_MAX] = "";
  const lang_node *n = &x->nodes[node];
  const int n_inner = e->recurrence->equation.names.tables[0].n_inner;
  for (int d = 0; d < n_inner; d++)
    (void)snprintf(indices + strlen(indices), sizeof indices - strlen(indices), "%s%s",
                   d == 0 ? "" : ", ", lang_inner_words[d]);
  return dp_eval_fail(
      e, TSL_ERR_INPUT, x, node, __FILE__, __LINE__,
      "%.*s reads %s of the same cell, which is computed %s: %s ascend%s;",
      n->length < 80 ? (int)n->length : 80, x->text + n->at,
      dp_value_text(&e->recurrence->equation.names, e->i, e->j, value, to, sizeof to),
      value == e->value ? "from it" : "after it", indices,
      n_inner == 1 ? "s" : ", the last index fastest");
}

/** A cell reads itself in a table that is computed later. */
static tsl_err fail_later(const dp_eval *e, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const dp_recurrence *r = e->recurrence;
  const lang_table *tables = r->equation.names.tables;
  const char *from = tables[dp_eval_table(e)].name, *to = tables[x->nodes[node].ref].name;
  dp_references *refs = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *refs, "dependencies", (void **)&refs));
  TSL_TRY(dp_depend_references(r, refs));
  if (reads_same(refs, x->nodes[node].ref, dp_eval_table(e)))
    DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, node,
                 "%s reads the same cell of %s, and %s that of %s: neither can be computed first;",
                 from, to, to, from);
  DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, node,
               "%s reads the same cell of %s, which is computed after it; put %s before %s in "
               "tables;",
               from, to, to, from);
done:
  tsl_free(refs);
  return err;
}

static tsl_err visit_read(void *self, const lang_expr *x, int32_t node, int64_t i, int64_t j,
                          int32_t to) {
  looker *l = self;
  const lang_names *names = &l->eval.recurrence->equation.names;
  const int32_t from = l->eval.value, tables = names->n_tables;
  if (--l->left < 0) return TSL_ERR_STOPPED;
  l->out->reads++;
  if (i == l->eval.i && j == l->eval.j) {
    if (to < from) return TSL_OK;
    if (to / tables > from / tables || (to == from && names->tables[0].n_inner > 0))
      return fail_later_layer(&l->eval, x, node, to);
    if (to > from) return fail_later(&l->eval, x, node);
  }
  for (int p = 0; p < DP_N_PATTERNS; p++) {
    dp_clash *clash = &l->out->clash[p];
    if (clash->expr != NULL || dp_pattern_allows((dp_pattern)p, i - l->eval.i, j - l->eval.j))
      continue;
    *clash = (dp_clash){x, node, l->eval.i, l->eval.j, i, j, to};
  }
  return TSL_OK;
}

static tsl_err look_at(const dp_recurrence *r, const dp_patch *w, dp_depend *out) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  const lang_names *names = &r->equation.names;
  const int32_t n_values = lang_values(names);
  looker l = {.out = out, .left = READS_MAX};
  l.eval = (dp_eval){.recurrence = r, .work = DP_LOOK_WORK};
  for (l.eval.i = w->i0; l.eval.i < w->i1; l.eval.i++)
    for (l.eval.j = w->j0; l.eval.j < w->j1; l.eval.j++) {
      if (!lang_has_cell(t, l.eval.i, l.eval.j)) continue;
      for (l.eval.value = 0, err = TSL_OK; l.eval.value < n_values && err == TSL_OK;
           l.eval.value = dp_next_value(names, l.eval.value))
        err = dp_reads(&l.eval, visit_read, &l);
      if (err == TSL_ERR_STOPPED ||
          l.eval.work < 0) { /* long ranges: the rest is left to the guards */
        out->whole = false;
        return TSL_OK;
      }
      TSL_TRY(err);
      out->cells++;
    }
done:
  return err;
}

/* ------------------------------------------------------------------- choice */

static tsl_err fail_clash(const dp_recurrence *r, dp_pattern p, const dp_clash *c) {
  char to[128];
  const lang_node *n = &c->expr->nodes[c->node];
  return lang_node_fail(
      TSL_ERR_INPUT, c->expr, c->node, __FILE__, __LINE__,
      "%.*s reads %s at i = %lld, j = %lld; %s", (int)n->length, c->expr->text + n->at,
      dp_value_text(&r->equation.names, c->to_i, c->to_j, c->to_value, to, sizeof to),
      (long long)c->i, (long long)c->j, dp_pattern_rule(p));
}

static tsl_err fail_all(const dp_recurrence *r, const dp_depend *d) {
  char text[1200];
  size_t used = 0;
  for (int p = 0; p < DP_N_PATTERNS && used < sizeof text; p++) {
    const dp_clash *c = &d->clash[p];
    const lang_node *n = &c->expr->nodes[c->node];
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "\n    %s, but %.*s (at i = %lld, j = %lld)",
                             dp_pattern_rule((dp_pattern)p), n->length < 40 ? (int)n->length : 40,
                             c->expr->text + n->at, (long long)c->i, (long long)c->j);
  }
  return lang_expr_fail(TSL_ERR_INPUT, &r->cells[0], __FILE__, __LINE__,
                        "the recurrence fits none of the eight patterns:%s", text);
}

static bool dp_depend_better(const dp_recurrence *r, const dp_depend *d, int p, int best) {
  const lang_table *t = &r->equation.names.tables[0];
  const int64_t a = dp_pattern_stages((dp_pattern)p, t->rows, t->cols);
  if (d->clash[p].expr != NULL) return false;
  if (best < 0) return true;
  if (t->cells != LANG_CELLS_ALL && (p == DP_SONE || p == DP_NESO)) return best != DP_SONE;
  if (t->cells != LANG_CELLS_ALL && (best == DP_SONE || best == DP_NESO)) return false;
  if (d->proved[p] != d->proved[best]) return d->proved[p];
  return a < dp_pattern_stages((dp_pattern)best, t->rows, t->cols);
}

static tsl_err dp_depend_choose(const dp_recurrence *r, dp_pattern asked, dp_depend *d) {
  int best = -1;
  if (asked != DP_AUTO) {
    d->pattern = asked;
    if (d->clash[asked].expr != NULL) return fail_clash(r, asked, &d->clash[asked]);
    return TSL_OK;
  }
  for (int p = 0; p < DP_N_PATTERNS; p++)
    if (dp_depend_better(r, d, p, best)) best = p;
  if (best < 0) return fail_all(r, d);
  d->pattern = (dp_pattern)best;
  return TSL_OK;
}

static tsl_err prove(const dp_recurrence *r, dp_depend *d) {
  tsl_err err = TSL_OK;
  dp_references *references = NULL;
  void *memory = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *references, "dependencies", &memory));
  references = memory;
  TSL_TRY(dp_depend_references(r, references));
  for (int p = 0; p < DP_N_PATTERNS; p++) {
    d->proved[p] = true;
    for (int n = 0; n < references->n; n++)
      d->proved[p] &= dp_reference_proved(&references->list[n], (dp_pattern)p);
  }
done:
  tsl_free(references);
  return err;
}

/** The poison test costs two fills: a corner of the window is enough, and none of very many layers,
 *  which are left to the guards. */
static tsl_err poison(const dp_recurrence *r, const dp_patch *w, dp_pattern pattern) {
  dp_patch part = *w;
  const int64_t layers = lang_layers(&r->equation.names);
  int64_t side = POISON_LEAST;
  if (side * side * layers > POISON_MOST) return TSL_OK;
  while ((side + 1) * (side + 1) * layers <= POISON_VALUES) side++;
  if (part.i1 - part.i0 > side) part.i1 = part.i0 + side;
  if (part.j1 - part.j0 > side) part.j1 = part.j0 + side;
  return dp_depend_poison(r, &part, pattern);
}

tsl_err dp_depend_check(const dp_recurrence *r, dp_pattern asked, dp_depend *out) {
  tsl_err err = TSL_OK;
  dp_patch windows[WINDOWS];
  int64_t reads = READS_MAX;
  memset(out, 0, sizeof *out);
  const int n = cut_table(r, &out->whole, windows);
  TSL_TRY(prove(r, out));
  for (int w = 0; w < n; w++) TSL_TRY(look_at(r, &windows[w], out));
  for (int w = 0; w < n; w++) TSL_TRY(dp_depend_stages(r, &windows[w], &reads, &out->stages));
  TSL_TRY(dp_depend_choose(r, asked, out));
  for (int w = 0; w < n; w++) TSL_TRY(poison(r, &windows[w], out->pattern));
done:
  return err;
}

void dp_depend_text(const dp_recurrence *r, const dp_depend *d, char *text, size_t size) {
  const lang_table *t = &r->equation.names.tables[0];
  size_t used = 0;
  used += (size_t)snprintf(text, size, "patterns that fit:");
  for (int p = 0; p < DP_N_PATTERNS && used < size; p++)
    if (d->clash[p].expr == NULL)
      used += (size_t)snprintf(text + used, size - used, " %s%s", dp_pattern_words[p],
                               d->proved[p] ? "" : " (not proved, guarded)");
  if (used < size)
    used += (size_t)snprintf(
        text + used, size - used,
        "\nused: %s, %lld stages; %s %lld cells and %lld reads looked at, %lld stages at least\n",
        dp_pattern_words[d->pattern], (long long)dp_pattern_stages(d->pattern, t->rows, t->cols),
        d->whole ? "all" : "some", (long long)d->cells, (long long)d->reads, (long long)d->stages);
}
