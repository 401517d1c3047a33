/* Walks of fractal_cost.c for one type; included once for double and once for float. No guard: the
 * includer sets FRACTAL_REAL and FRACTAL_(name); the end unsets them. */

#define R FRACTAL_REAL

/** Walk the point (px, py) for at most cap steps, with the shortcuts that are on. */
TSL_FN walk FRACTAL_(walk_point)(const plan *w, R px, R py) {
  const fractal_params *p = w->params;
  R x, y, cx, cy;
  FRACTAL_(fractal_start)(p, px, py, &x, &y, &cx, &cy);
  if (w->interior && FRACTAL_(fractal_is_interior)(cx, cy)) return (walk){0, 0, 1};
  R x_saved = x, y_saved = y;
  int64_t k = 1, save = 2;
  for (; k < w->most && !FRACTAL_(fractal_is_out)(x, y); k++) {
    FRACTAL_(fractal_step)(p->set, &x, &y, cx, cy);
    if (!w->periodicity) continue;
    if (x == x_saved && y == y_saved) return (walk){k, 0, 1};
    if (k != save) continue;
    x_saved = x, y_saved = y;
    save *= 2;
  }
  if (k < w->most) return (walk){k, k, 1};
  return (walk){k, 0, k >= p->maxiter};
}

/** Walk the samples of one row of the grid. @return steps walked */
TSL_FN int64_t FRACTAL_(walk_row)(const plan *w, int64_t row, walk *walks) {
  const R *x = (const R *)w->x, y = ((const R *)w->y)[sample_at(w, 0, row)];
  int64_t steps = 0;
  for (int64_t i = 0; i < w->n[1]; i++) {
    walks[i] = FRACTAL_(walk_point)(w, x[sample_at(w, 1, i)], y);
    steps += walks[i].steps;
  }
  return steps;
}

#undef R
#undef FRACTAL_REAL
#undef FRACTAL_
