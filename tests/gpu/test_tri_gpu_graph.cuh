/* Row reductions and the phases of tri_graph.h on a card against loops over all values, for
 * test_tri_gpu.cu. */
#pragma once

#include "test_tri_gpu_check.cuh"

#include "tri_graph.h"

/* A problem with the fields of tri_graph.h: blocks of places are components, some of none; some
 * rows are not active, some have a bound. */
template <class R> struct tri_graph_data {
  tri_problem_data<R> base;
  int32_t stage;
  std::vector<int32_t> component;
  std::vector<uint8_t> active;
  std::vector<R> bound;

  tri_graph_data(const tri_case &c, int stage_) : base(c), stage(stage_) {
    tri_params *p = &base.p;
    const bool nearest = c.output == TRI_LINKAGE;
    if (nearest || c.output == TRI_MINIMUM) p->k = p->n > 1;
    if (c.output == TRI_DBSCAN) p->k = 4;
    for (int64_t r = 0; r < p->n; r++) {
      const int block = (int)(r / 50);
      component.push_back(!nearest && block % 4 == 3 ? TRI_NO_COMPONENT : block / 2);
      active.push_back(r % 6 != 5);
      bound.push_back(r % 3 == 0 ? (R)HUGE_VAL : (R)p->threshold);
    }
    add(TRI_OUT_3 + 1, "stage", &stage);
    add(TRI_OUT_3 + 2, "component", component.data());
    add(TRI_OUT_3 + 3, "active", active.data());
    add(TRI_OUT_3 + 4, "bound", bound.data());
    base.problem.n_fields = TRI_OUT_3 + 5;
  }

  void add(int f, const char *name, void *data) {
    (void)snprintf(base.problem.fields[f].name, TSL_NAME, "%s", name);
    base.problem.fields[f].data = data;
  }

  /* The point of the input that a row is. */
  int64_t point(int64_t row) const {
    return base.p.near && tri_rows_are_places(&base.p) ? base.order[(size_t)row] : row;
  }
};

/* Slabs and lists of all rows: TRI_OUT, TRI_OUT_2, TRI_OUT_3. */
template <class R> static tsl_err run_graph(tri_graph_data<R> *data, std::vector<char> out[3]) {
  tsl_err err = TSL_OK;
  const int64_t n = data->base.p.n, cuts[4] = {0, n / 7, n / 2, n};
  const int64_t bytes[3] = {8, (int64_t)sizeof(R), 4};
  const bool csr = data->base.p.output == TRI_CSR;
  tsl_worker *worker = NULL;
  TSL_TRY(backend->open(&data->base.problem, &device, &worker));
  TSL_TRY(backend->begin(worker, 0));
  for (int s = 0; s < 3; s++) out[s].assign(csr && s < 2 ? 0 : (size_t)(n * bytes[s]), (char)0xff);
  for (int u = 0; u < 3; u++) {
    tsl_unit unit = {};
    tsl_part part = {};
    unit.id = u, unit.lo[0] = cuts[u], unit.hi[0] = cuts[u + 1];
    if (unit.lo[0] == unit.hi[0]) continue;
    for (int s = 0; s < 3; s++) part.slab[TRI_OUT + s] = out[s].data() + cuts[u] * bytes[s];
    TSL_TRY(backend->run(worker, &unit, 1, &part));
    for (int s = 0; s < 2; s++) {
      const tsl_list *list = &part.list[TRI_OUT + s];
      const char *from = (const char *)list->data;
      const int64_t each = s == 0 ? 4 : (int64_t)sizeof(R);
      if (list->n > 0) out[s].insert(out[s].end(), from, from + list->n * each);
      free(list->data);
    }
  }
done:
  backend->close(&worker);
  return err;
}

/* What a row should report. */
template <class R> struct wanted_row {
  int64_t number; /* degree, or the point */
  int32_t links[2];
  R value;
};

template <class R>
static wanted_row<R> wanted_of(const tri_graph_data<R> &data, const std::vector<R> &ref,
                               int64_t row) {
  const tri_params *p = &data.base.p;
  const int64_t n = p->n, i = data.point(row);
  const bool far = p->output == TRI_MAXIMUM, graph = tri_is_graph(p);
  const bool link = graph && data.stage == TRI_STAGE_LINK;
  const int32_t own = data.component[(size_t)row];
  const R cut = p->output == TRI_LINKAGE ? data.bound[(size_t)row]
                : tri_has_threshold(p)   ? (R)p->threshold
                                         : (R)HUGE_VAL;
  wanted_row<R> w = {0, {own >= 0 ? own : INT32_MAX, own}, far ? -(R)HUGE_VAL : (R)HUGE_VAL};
  std::vector<R> within;
  int64_t best = -1;
  for (int64_t q = 0; q < n; q++) {
    const int64_t j = data.point(q);
    const R v = ref[(size_t)(i * n + j)];
    const int32_t c = data.component[(size_t)q];
    if (j == i || v > cut || (graph && !data.active[(size_t)row])) continue;
    within.push_back(v);
    if (c >= 0) w.links[0] = std::min(w.links[0], c), w.links[1] = std::max(w.links[1], c);
    if (p->output == TRI_LINKAGE && c == own) continue;
    if ((far ? v > w.value : v < w.value) || (v == w.value && (best < 0 || j < best)))
      w.value = v, best = j;
  }
  w.number = p->output == TRI_DEGREE ? (int64_t)within.size() : best;
  if (graph && data.stage == TRI_STAGE_CORE) {
    std::sort(within.begin(), within.end());
    w.value = (int64_t)within.size() >= p->k ? within[(size_t)p->k - 1] : (R)HUGE_VAL;
  }
  if (!link && graph)
    w.links[0] = data.stage == TRI_STAGE_CORE ? -1 : (int32_t)best, w.links[1] = 0;
  if (link) w.value = 0;
  return w;
}

template <class R>
static void check_csr(const tri_case *c, const tri_graph_data<R> &data, const std::vector<R> &ref,
                      const std::vector<char> out[3]) {
  const int32_t *columns = (const int32_t *)out[0].data(),
                *lengths = (const int32_t *)out[2].data();
  const R *values = (const R *)out[1].data();
  const int64_t n = c->n, count = (int64_t)out[0].size() / 4;
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t first = at;
    for (int64_t j = 0; j < n; j++) {
      const R v = ref[(size_t)(i * n + j)];
      if (j == i || v > (R)data.base.p.threshold) continue;
      if (at >= count || columns[at] != j || values[at] != v)
        report(c, 0, "entry", at, 0, (double)j);
      at++;
    }
    if (lengths[i] != at - first) report(c, 0, "length", i, lengths[i], (double)(at - first));
  }
  if (at != count) report(c, 0, "entries", 0, (double)count, (double)at);
}

template <class R>
static tsl_err check_graph(const tri_case *c, const std::vector<R> &ref, int stage, bool near) {
  tsl_err err = TSL_OK;
  tri_graph_data<R> data(*c, stage);
  std::vector<char> out[3];
  if (near) TSL_TRY(data.base.sort());
  if (stage == TRI_STAGE_CORE) std::fill(data.active.begin(), data.active.end(), (uint8_t)1);
  TSL_TRY(run_graph(&data, out));
  n_checks++;
  if (c->output == TRI_CSR) {
    check_csr(c, data, ref, out);
    return TSL_OK;
  }
  for (int64_t r = 0; r < c->n; r++) {
    const wanted_row<R> w = wanted_of(data, ref, r);
    const int64_t number = ((const int64_t *)out[0].data())[r];
    const int32_t *links = (const int32_t *)out[0].data() + 2 * r;
    const R value = ((const R *)out[1].data())[r];
    if (c->n < 2 && tri_output_in(&data.base.p, TRI_BIT(MINIMUM) | TRI_BIT(MAXIMUM))) continue;
    if (!tri_is_graph(&data.base.p) && number != w.number)
      report(c, stage, "number", r, (double)number, (double)w.number);
    if (tri_is_graph(&data.base.p) && (links[0] != w.links[0] || links[1] != w.links[1]))
      report(c, stage, "links", r, links[0], w.links[0]);
    if (!tri_output_in(&data.base.p, TRI_BIT(DEGREE) | TRI_BIT(COMPONENTS)) && value != w.value)
      report(c, stage, "value", r, (double)value, (double)w.value);
  }
done:
  return err;
}

/* All outputs and stages of one function. */
template <class R> static tsl_err check_graphs(tri_case c) {
  static const struct {
    int output, stage;
  } all[] = {{TRI_DEGREE, 0},
             {TRI_MINIMUM, 0},
             {TRI_MAXIMUM, 0},
             {TRI_CSR, 0},
             {TRI_COMPONENTS, TRI_STAGE_LINK},
             {TRI_DBSCAN, TRI_STAGE_CORE},
             {TRI_DBSCAN, TRI_STAGE_LINK},
             {TRI_LINKAGE, TRI_STAGE_NEAREST}};
  tsl_err err = TSL_OK;
  const std::vector<R> ref = ref_matrix<R>(c);
  if (tolerance(&c) > 0) return TSL_OK; /* values are not ours: products by cuBLAS */
  for (const auto &one : all)
    for (int near = 0; near <= 1; near++) {
      tri_params asked = {};
      c.output = asked.output = one.output;
      asked.function = c.function, asked.d = c.d;
      if (near == 1 && (c.n == 0 || !tri_near_possible(&asked))) continue;
      TSL_TRY(check_graph<R>(&c, ref, one.stage, near == 1));
    }
done:
  return err;
}

static tsl_err test_graph(const std::vector<int64_t> &sizes, const std::vector<int64_t> &dims) {
  tsl_err err = TSL_OK;
  for (int64_t n : sizes)
    for (int64_t d : dims)
      for (int function = 0; function < TRI_N_PAIRS; function++) {
        if (tri_abouts[function].prepare == TRI_SPHERE && d != 3) continue;
        if (tri_abouts[function].prepare == TRI_WRAPPED && d > 3) continue;
        tri_case c = {function, TRI_DEGREE, TSL_F32, n, d, TRI_MAP_AUTO, 16};
        TSL_TRY(check_graphs<float>(c));
        c.type = TSL_F64;
        TSL_TRY(check_graphs<double>(c));
      }
done:
  return err;
}
