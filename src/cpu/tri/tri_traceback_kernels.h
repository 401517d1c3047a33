/**
 * @file tri_traceback_kernels.h
 * The table of one pair of sequences row by row, with the directions that attain each value; part
 * of tri_letter_kernels.h.
 */

/* A row's pairs and gaps from above, and the best of them; what a gap along the row may begin with.
 */
static void traceback_from_above(const tri_traceback *x, const int32_t *scores) {
  const int32_t extend = x->extend, floor = x->local ? 0 : INT32_MIN;
  const int32_t *restrict h = x->h, *restrict f = x->f;
  const uint8_t *restrict b = x->b;
  int32_t *restrict pair = x->pair, *restrict best = x->now;
  for (int64_t j = 1; j <= x->m; j++) pair[j] = scores[b[j - 1]];
  _Pragma("omp simd") for (int64_t j = 1; j <= x->m; j++) {
    const int32_t with = pair[j] + h[j - 1], gap = f[j] - extend;
    const int32_t better = with > gap ? with : gap;
    pair[j] = with;
    best[j] = better > floor ? better : floor;
  }
}

/* Gaps along the row: e[j] is what one at j comes from, the best of all cells before it less its
 * letters since then. With those counted from the row's begin it is a running maximum. */
static void traceback_along(const tri_traceback *x, int32_t left) {
  const int32_t extend = x->extend, open = x->open;
  const int32_t *restrict best = x->now;
  int32_t *restrict from = x->e, most = left - open;
  _Pragma("omp simd reduction(inscan, max : most)") for (int32_t j = 1; j <= (int32_t)x->m; j++) {
    from[j] = most - (j - 1) * extend;
    _Pragma("omp scan exclusive(most)") {
      const int32_t opened = best[j] - open + j * extend;
      most = most > opened ? most : opened;
    }
  }
}

/* The cells, and the largest of them. */
static int32_t traceback_cells(const tri_traceback *x, uint8_t *restrict directions) {
  const int32_t extend = x->extend, open = x->open;
  int32_t *restrict h = x->h, *restrict f = x->f, *restrict now = x->now;
  const int32_t *restrict e = x->e, *restrict pair = x->pair;
  int32_t most = INT32_MIN;
  _Pragma("omp simd reduction(max : most)") for (int64_t j = 1; j <= x->m; j++) {
    const int32_t along = e[j] - extend;
    now[j] = now[j] > along ? now[j] : along;
    most = now[j] > most ? now[j] : most;
  }
  _Pragma("omp simd") for (int64_t j = 1; j <= x->m; j++) {
    const int32_t at = now[j], opened = at - open, gap = f[j] - extend;
    int32_t direction = at == pair[j] ? 1 << TRI_PLANE_PAIR : 0;
    direction |= at == e[j] - extend ? 1 << TRI_PLANE_LEFT : 0;
    direction |= now[j - 1] - open >= e[j] ? 1 << TRI_PLANE_LEFT_OPENED : 0;
    direction |= h[j] - open >= f[j] ? 1 << TRI_PLANE_UP_OPENED : 0;
    directions[j] = (uint8_t)direction;
    f[j] = gap > opened ? gap : opened;
  }
  memcpy(h + 1, now + 1, (size_t)x->m * sizeof *h);
  return most;
}

static int32_t traceback_row(const tri_traceback *x, const int32_t *scores, int32_t left,
                             uint8_t *directions) {
  traceback_from_above(x, scores);
  traceback_along(x, left);
  x->now[0] = left;
  const int32_t most = traceback_cells(x, directions);
  x->h[0] = left;
  return most;
}
