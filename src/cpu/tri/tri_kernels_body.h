/* Kernels of tri_kernels.h for one type; included once for float and once for double. No guard:
 * the includer sets R and T(name); the end unsets them. */

/**
 * Pass of n_k dimensions from k0 over n_rows rows and n columns: acc = step(acc, ...), started
 * at 0 when first and finished when last. Constant n_rows, n_k, first, last after inlining.
 *
 * Long steps go dimension by dimension: what is between them is nothing beside them; so do single
 * rows, but where searches, which have no others, need them. Points on a sphere have 3 dimensions,
 * wrapped ones no more.
 */
#define TRI_FILL(NAME, name, prepare, extra_kind, sum_kind, unit, flops_d, ...)                  \
  TSL_FN void T(pass_##name)(const tri_view *v, int64_t i, const int n_rows, int64_t k0,         \
                             const int n_k, const bool first, const bool last, int64_t j0,       \
                             int64_t n, R *restrict out, int64_t out_ld) {                       \
    const R *const restrict x = (const R *)v->x + k0 * v->ld + j0;                               \
    const R *const xi = (const R *)v->x + k0 * v->ld + i;                                        \
    const R *const restrict extra = (const R *)v->extra;                                         \
    const bool has = (extra_kind) != TRI_NO_EXTRA && last;                                       \
    const int64_t ld = v->ld;                                                                    \
    const R scale = (R)v->scale;                                                                 \
    R a[4 * TRI_FILL_ROWS], box[4], e[TRI_FILL_ROWS];                                            \
    for (int k = 0; k < n_k; k++)                                                                \
      box[k] = (sum_kind) == TRI_POWERS ? scale : k0 + k < 3 ? (R)v->box[k0 + k] : (R)0;         \
    for (int r = 0; r < n_rows; r++) {                                                           \
      e[r] = has ? extra[i + r] : (R)0;                                                          \
      for (int k = 0; k < n_k; k++) a[4 * r + k] = xi[k * ld + r];                               \
    }                                                                                            \
    SIMD for (int64_t c = 0; c < n; c++) {                                                       \
      UNROLL for (int r = 0; r < n_rows; r++) {                                                  \
        R acc = first ? (R)0 : out[r * out_ld + c];                                              \
        UNROLL for (int k = 0; k < n_k; k++) acc =                                               \
            T(tri_step_##name)(acc, a[4 * r + k], x[k * ld + c], box[k]);                        \
        const R ej = has ? extra[j0 + c] : (R)0;                                                 \
        out[r * out_ld + c] = last ? T(tri_finish_##name)(acc, e[r], ej, scale) : acc;           \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  TSL_FN void T(each_##name)(const tri_view *v, int64_t i, int64_t j, int64_t n, R *out) {       \
    int64_t k = 0;                                                                               \
    memset(out, 0, (size_t)n * sizeof *out);                                                     \
    for (; k + 2 <= v->d; k += 2) T(pass_##name)(v, i, 1, k, 2, false, false, j, n, out, 0);     \
    if (k < v->d) T(pass_##name)(v, i, 1, k, 1, false, false, j, n, out, 0);                     \
    T(pass_##name)(v, i, 1, 0, 0, false, true, j, n, out, 0);                                    \
  }                                                                                              \
  TSL_FN void T(many_##name)(const tri_view *v, int64_t i, const int rows, int64_t j, int64_t n, \
                             R *out, int64_t ld) {                                               \
    const int64_t last = v->d - ((v->d - 1) % 4 + 1);                                            \
    int64_t k = 4;                                                                               \
    T(pass_##name)(v, i, rows, 0, 4, true, false, j, n, out, ld);                                \
    for (; k < last; k += 4) T(pass_##name)(v, i, rows, k, 4, false, false, j, n, out, ld);      \
    if (v->d - k == 1) T(pass_##name)(v, i, rows, k, 1, false, true, j, n, out, ld);             \
    if (v->d - k == 2) T(pass_##name)(v, i, rows, k, 2, false, true, j, n, out, ld);             \
    if (v->d - k == 3) T(pass_##name)(v, i, rows, k, 3, false, true, j, n, out, ld);             \
    if (v->d - k == 4) T(pass_##name)(v, i, rows, k, 4, false, true, j, n, out, ld);             \
  }                                                                                              \
  static void T(fill_##name)(const tri_view *v, int64_t i, int rows, int64_t j, int64_t n,       \
                             void *values, int64_t ld) {                                         \
    const int64_t d = (prepare) == TRI_SPHERE ? 3 : v->d;                                        \
    const bool few = (prepare) == TRI_SPHERE || (prepare) == TRI_WRAPPED;                        \
    const bool in_long_steps = (flops_d) >= TRI_LONG_STEP, searched = (sum_kind) < TRI_TERMS;    \
    R *out = values;                                                                             \
    if (!in_long_steps && !few && d > 4 && rows == TRI_FILL_ROWS) {                              \
      T(many_##name)(v, i, TRI_FILL_ROWS, j, n, out, ld);                                        \
      return;                                                                                    \
    }                                                                                            \
    for (int r = 0; r < rows; r++, out += ld) {                                                  \
      if (in_long_steps || (!searched && d > 4)) {                                               \
        T(each_##name)(v, i + r, j, n, out);                                                     \
        continue;                                                                                \
      }                                                                                          \
      if (d == 1) T(pass_##name)(v, i + r, 1, 0, 1, true, true, j, n, out, 0);                   \
      if (d == 2) T(pass_##name)(v, i + r, 1, 0, 2, true, true, j, n, out, 0);                   \
      if (d == 3) T(pass_##name)(v, i + r, 1, 0, 3, true, true, j, n, out, 0);                   \
      if (!few && d == 4) T(pass_##name)(v, i + r, 1, 0, 4, true, true, j, n, out, 0);           \
      if (!few && searched && d > 4) T(many_##name)(v, i + r, 1, j, n, out, 0);                  \
    }                                                                                            \
  }
TRI_STEP_LIST(TRI_FILL)
#undef TRI_FILL

/** The tiles and bounds of a search, see tri_cpu.h. */
#define TRI_NEAR(NAME, name, prepare, extra_kind, ...)                                             \
  static void T(tiles_##name)(const tri_view *v, int64_t i, const int32_t *tiles, int64_t n,       \
                              void *values) {                                                      \
    R *out = values;                                                                               \
    int64_t t = 0;                                                                                 \
    if (v->d == 3)                                                                                 \
      for (; t < n; t++, out += TRI_TILE)                                                          \
        T(pass_##name)(v, i, 1, 0, 3, true, true, (int64_t)tiles[t] * TRI_TILE, TRI_TILE, out, 0); \
    for (; t < n; t++, out += TRI_TILE)                                                            \
      T(fill_##name)(v, i, 1, (int64_t)tiles[t] * TRI_TILE, TRI_TILE, out, 0);                     \
  }                                                                                                \
  static void T(bound_##name)(const tri_view *v, const tri_query *q, const tri_boxes *b,           \
                              void *values) {                                                      \
    R *const restrict out = values;                                                                \
    const R *const extra = (const R *)b->extra;                                                    \
    const bool has = (extra_kind) != TRI_NO_EXTRA;                                                 \
    const R e = has ? (R)q->extra : (R)0, scale = (R)v->scale;                                     \
    for (int64_t k = 0; k < v->d; k++) {                                                           \
      const R *const restrict lo = (const R *)b->lo + k * b->ld;                                   \
      const R *const restrict hi = (const R *)b->hi + k * b->ld;                                   \
      const R a = (R)q->lo[k], z = (R)q->hi[k], box = k < 3 ? (R)v->box[k] : (R)0;                 \
      SIMD for (int64_t c = 0; c < b->n; c++) {                                                    \
        const R gap = (prepare) == TRI_WRAPPED ? T(tri_gap_periodic)(a, z, lo[c], hi[c], box)      \
                                               : T(tri_gap)(a, z, lo[c], hi[c]);                   \
        out[c] = T(tri_step_##name)(k == 0 ? (R)0 : out[c], gap, (R)0, (R)INFINITY);               \
      }                                                                                            \
    }                                                                                              \
    SIMD for (int64_t c = 0; c < b->n; c++) {                                                      \
      const R bound = T(tri_finish_##name)(out[c], e, has ? extra[c] : (R)0, scale);               \
      out[c] = (prepare) == TRI_SPHERE ? T(tri_bound_of_sphere)(bound) : bound;                    \
    }                                                                                              \
  }
TRI_DIRECT_LIST(TRI_NEAR)
#undef TRI_NEAR

/** Values of row i and columns j.. from their inner products; the few that are rounding of the
 * products are computed from the points. */
static void T(from_products)(const tri_view *view, int64_t i, int64_t j, int64_t n, void *values) {
  R *const v = values;
  const R noise = T(tri_product_noise)((R)view->d);
  int any = 0;
  _Pragma("omp simd reduction(| : any)") for (int64_t k = 0; k < n; k++) {
    v[k] = T(tri_product_cosine)(v[k]);
    any |= v[k] < noise;
  }
  for (int64_t k = 0; any && k < n; k++)
    if (v[k] < noise) T(fill_cosine)(view, i, 1, j + k, 1, v + k, 1);
}

/** Chunks without a hit are passed over by a vector test. */
static int64_t T(select)(const void *values, int64_t n, double most_, int32_t *places) {
  enum { CHUNK = 64 };
  const R *const v = values;
  const R most = (R)most_;
  int64_t found = 0, k = 0;
  for (; k + CHUNK <= n; k += CHUNK) {
    int any = 0;
    _Pragma("omp simd reduction(| : any)") for (int c = 0; c < CHUNK; c++) any |= v[k + c] <= most;
    if (!any) continue;
    for (int c = 0; c < CHUNK; c += T(PACK))
      found += T(pack)(v + k + c, most, k + c, places + found);
  }
  for (; k + T(PACK) <= n; k += T(PACK)) found += T(pack)(v + k, most, k, places + found);
  for (; k < n; k++) {
    places[found] = (int32_t)k;
    found += v[k] <= most;
  }
  return found;
}

/** Of up to TRI_TILE places; a constant n after inlining. */
TSL_FN void T(link_tile)(const R *v, const int n, R most, const int32_t *component,
                         int32_t *links) {
  uint32_t first = (uint32_t)links[0]; /* no component is negative: it is larger than all */
  int32_t last = links[1];
  _Pragma("omp simd reduction(min : first) reduction(max : last)") for (int k = 0; k < n; k++) {
    const int32_t c = v[k] <= most ? component[k] : TRI_NO_COMPONENT;
    first = (uint32_t)c < first ? (uint32_t)c : first;
    last = c > last ? c : last;
  }
  links[0] = (int32_t)first, links[1] = last;
}

static void T(link)(const void *values, int64_t n, double most, const int32_t *tiles,
                    const int32_t *component, int32_t *links) {
  const R *v = values;
  for (int64_t c = 0; c < n; c += TRI_TILE, v += TRI_TILE) {
    const int32_t *const of = component + (tiles == NULL ? c : tiles[c / TRI_TILE] * TRI_TILE);
    if (n - c >= TRI_TILE)
      T(link_tile)(v, TRI_TILE, (R)most, of, links);
    else
      T(link_tile)(v, (int)(n - c), (R)most, of, links);
  }
}

static void T(bin)(const void *values, int64_t n, double lo_, double hi_, double inv_width_,
                   int bins, int32_t *restrict out) {
  const R *const restrict v = values;
  const R lo = (R)lo_, hi = (R)hi_, inv_width = (R)inv_width_;
  SIMD for (int64_t k = 0; k < n; k++) out[k] = 1 + T(tri_bin)(v[k], lo, hi, inv_width, bins);
}

/** Lanes of a chunk, then the chunks in double: the order of tri_equation_loops.h. */
static void T(add)(const void *values, const void *weights, int64_t n, double *sum) {
  const R *restrict v = values, *restrict w = weights;
  for (int64_t k = 0; k < n; k += TRI_SUM_CHUNK) {
    const int64_t end = n - k < TRI_SUM_CHUNK ? n : k + TRI_SUM_CHUNK;
    R lane[TRI_SUM_LANES] = {0};
    int64_t c = k;
    for (; c + TRI_SUM_LANES <= end; c += TRI_SUM_LANES)
      SIMD for (int l = 0; l < TRI_SUM_LANES; l++) lane[l] =
          T(tri_add)(v[c + l], w[c + l], lane[l]);
    for (int l = 0; c < end; c++, l++) lane[l] = T(tri_add)(v[c], w[c], lane[l]);
    for (int h = TRI_SUM_LANES / 2; h > 0; h /= 2)
      for (int l = 0; l < h; l++) lane[l] = lane[l] + lane[l + h];
    *sum += (double)lane[0];
  }
}

#undef R
#undef T
