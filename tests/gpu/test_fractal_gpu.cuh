/* Images made by hand, their references and the rule of the filling, for test_fractal_gpu.cu. */
#pragma once

#include "fractal_fn.h"
#include "fractal_reference.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>
#include <vector>

/* A view of a set. */
typedef struct test_view {
  const char *name;
  int set;
  double x, y, width;
  double c[2];
  int doubling; /* 1: allowed (fractal_fn.h) */
} test_view;

static const test_view test_views[] = {
    {"mandelbrot whole", FRACTAL_MANDELBROT, -0.75, 0, 3.5, {0, 0}, 1},
    {"mandelbrot spiral",
     FRACTAL_MANDELBROT,
     -0.743643887037151,
     0.131825904205330,
     2e-3,
     {0, 0},
     1},
    {"mandelbrot seahorse", FRACTAL_MANDELBROT, -0.7453, 0.1127, 4e-2, {0, 0}, 1},
    {"mandelbrot inside", FRACTAL_MANDELBROT, -0.15, 0.05, 0.2, {0, 0}, 1},
    {"mandelbrot outside", FRACTAL_MANDELBROT, 0, 3, 8, {0, 0}, 1},
    {"mandelbrot needle", FRACTAL_MANDELBROT, -1.9, 0, 0.25, {0, 0}, 1},
    {"julia dust", FRACTAL_JULIA, 0, 0, 3.6, {-0.8, 0.156}, 1},
    {"julia rabbit", FRACTAL_JULIA, 0, 0, 3.2, {-0.122561, 0.744862}, 1},
    {"julia basilica", FRACTAL_JULIA, 0, 0, 3.6, {-1, 0}, 0},
    {"julia disc", FRACTAL_JULIA, 0, 0, 2.5, {0, 0}, 0},
    {"julia wild", FRACTAL_JULIA, 0, 0, 5, {-2.5, 0.1}, 1},
    {"julia wild corner", FRACTAL_JULIA, 0.3, 0.2, 6, {1.5, 1.5}, 1},
    {"ship whole", FRACTAL_BURNING_SHIP, -0.5, -0.5, 4, {0, 0}, 1},
    {"ship small", FRACTAL_BURNING_SHIP, -1.755, -0.03, 0.08, {0, 0}, 1},
};

/* A problem with its fields, as a backend sees it. */
template <class R> struct test_image {
  fractal_params p = {};
  tsl_problem problem = {};
  std::vector<R> x, y;
  std::vector<double> x_double, y_double;
  uint64_t totals[FRACTAL_N_TOTALS] = {};

  test_image(const test_view &view, int64_t xres, int64_t yres, int64_t maxiter) {
    p.set = view.set;
    p.type = sizeof(R) == 8 ? TSL_F64 : TSL_F32;
    p.value_type = maxiter <= 65536 ? TSL_U16 : TSL_U32;
    p.exact = p.interior = p.periodicity = 1;
    p.doubling = view.doubling;
    p.xres = xres;
    p.yres = yres;
    p.maxiter = maxiter;
    for (int k = 0; k < 2; k++) p.c[k] = (double)(R)view.c[k];
    p.wild = view.set == FRACTAL_JULIA &&
             (sizeof(R) == 8 ? fractal_is_wild_f64(p.c[0], p.c[1])
                             : fractal_is_wild_f32((float)p.c[0], (float)p.c[1]));
    const double step = view.width / (double)xres;
    for (int64_t i = 0; i < xres; i++)
      x.push_back((R)(view.x + ((double)i + 0.5 - (double)xres / 2) * step));
    for (int64_t j = 0; j < yres; j++)
      y.push_back((R)(view.y - ((double)j + 0.5 - (double)yres / 2) * step));
    x_double.assign(x.begin(), x.end());
    y_double.assign(y.begin(), y.end());
    bind();
  }

  void bind() {
    problem.params = &p;
    problem.params_bytes = sizeof p;
    problem.n_fields = FRACTAL_TOTALS + 1;
    const int64_t shape[] = {p.xres, p.yres, 1, FRACTAL_N_TOTALS};
    void *const data[] = {x.data(), y.data(), NULL, totals};
    for (int f = FRACTAL_X; f <= FRACTAL_TOTALS; f++) {
      problem.fields[f].rank = 1;
      problem.fields[f].shape[0] = shape[f];
      problem.fields[f].shape[1] = problem.fields[f].shape[2] = 1;
      problem.fields[f].type = f < FRACTAL_VALUES ? p.type : TSL_U64;
      problem.fields[f].data = data[f];
    }
  }

  std::vector<uint32_t> reference() const {
    reference_image r = {p.set,     p.type == TSL_F32, p.xres,          p.yres,
                         p.maxiter, x_double.data(),   y_double.data(), {p.c[0], p.c[1]}};
    std::vector<uint32_t> values((size_t)(p.xres * p.yres));
    reference_values(&r, values.data());
    return values;
  }
};

/* Mariani-Silver by its rule, on the values of the plain loop. */
struct test_filling {
  std::vector<uint32_t> values;
  std::vector<char> filled;
  int64_t xres, yres;

  bool uniform(int64_t r0, int64_t c0, int64_t r1, int64_t c1) const {
    for (int64_t r = r0; r < r1; r++)
      for (int64_t c = c0; c < c1; c++)
        if ((r == r0 || r == r1 - 1 || c == c0 || c == c1 - 1) &&
            values[(size_t)(r * xres + c)] != values[(size_t)(r0 * xres + c0)])
          return false;
    return true;
  }

  void box(int64_t r0, int64_t c0, int64_t r1, int64_t c1) {
    if (r0 >= r1 || c0 >= c1) return;
    if (uniform(r0, c0, r1, c1)) {
      for (int64_t r = r0 + 1; r < r1 - 1; r++)
        for (int64_t c = c0 + 1; c < c1 - 1; c++) {
          values[(size_t)(r * xres + c)] = values[(size_t)(r0 * xres + c0)];
          filled[(size_t)(r * xres + c)] = 1;
        }
      return;
    }
    if (r1 - r0 <= 4 || c1 - c0 <= 4) return;
    const int64_t rm = r0 + (r1 - r0) / 2, cm = c0 + (c1 - c0) / 2;
    box(r0, c0, rm, cm);
    box(r0, cm, rm, c1);
    box(rm, c0, r1, cm);
    box(rm, cm, r1, c1);
  }

  test_filling(const std::vector<uint32_t> &plain, int64_t columns, int64_t rows)
      : values(plain), filled(plain.size(), 0), xres(columns), yres(rows) {
    for (int64_t r = 0; r < yres; r += FRACTAL_TILE)
      for (int64_t c = 0; c < xres; c += FRACTAL_TILE)
        box(r, c, std::min(r + FRACTAL_TILE, yres), std::min(c + FRACTAL_TILE, xres));
  }

  void totals(const std::vector<uint32_t> &plain, uint64_t totals[FRACTAL_N_TOTALS]) const {
    for (int t = 0; t < FRACTAL_N_TOTALS; t++) totals[t] = 0;
    for (size_t i = 0; i < values.size(); i++) {
      totals[FRACTAL_TOTAL_VALUES] += values[i];
      totals[FRACTAL_TOTAL_INSIDE] += values[i] == 0;
      if (!filled[i]) continue;
      totals[FRACTAL_TOTAL_FILLED]++;
      if (!fractal_is_sampled((int64_t)i / xres, (int64_t)i % xres)) continue;
      totals[FRACTAL_TOTAL_SAMPLED]++;
      totals[FRACTAL_TOTAL_WRONG] += values[i] != plain[i];
    }
  }
};

/* Boxes of a cut: 0 the whole, 1 bands of `side` rows, 2 boxes of side x 2 side, last ones first,
 * with empty ones among them. */
static std::vector<tsl_unit> units_of(const fractal_params *p, int cut, int64_t side) {
  std::vector<tsl_unit> list;
  const int64_t rows = cut == 0 ? p->yres : side, columns = cut < 2 ? p->xres : 2 * side;
  for (int64_t r = 0; r < p->yres; r += rows)
    for (int64_t c = 0; c < p->xres; c += columns) {
      tsl_unit unit = {};
      unit.lo[0] = r;
      unit.lo[1] = c;
      unit.hi[0] = std::min(r + rows, p->yres);
      unit.hi[1] = std::min(c + columns, p->xres);
      unit.hi[2] = 1;
      unit.count = (double)((unit.hi[0] - r) * (unit.hi[1] - c));
      list.push_back(unit);
      if (cut == 2 && list.size() % 5 == 1) {
        unit.hi[list.size() % 2] = unit.lo[list.size() % 2];
        unit.count = 0;
        list.push_back(unit);
      }
    }
  if (cut == 2) std::reverse(list.begin(), list.end());
  for (size_t u = 0; u < list.size(); u++) list[u].id = (int64_t)u;
  return list;
}
