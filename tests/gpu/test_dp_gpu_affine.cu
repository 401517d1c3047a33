/* Global and local alignment with affine gaps on a card, in 16 and in 32 bits. */
#include "test_dp_gpu.cuh"

#include <string>

typedef std::vector<uint8_t> text_t;

/* Tables [n + 1][m + 1] by the definition. */
typedef struct affine_tables {
  std::vector<int> h, e, f;
  size_t w;
} affine_tables;

static affine_tables tables_of(bool local, const letters_scores &s, const text_t &a,
                               const text_t &b) {
  const size_t n = a.size(), m = b.size(), w = m + 1;
  affine_tables t = {std::vector<int>((n + 1) * w), std::vector<int>((n + 1) * w, -100000000),
                     std::vector<int>((n + 1) * w, -100000000), w};
  for (size_t i = 0; i <= n; i++)
    for (size_t j = 0; j <= m; j++) {
      const size_t at = i * w + j;
      if (i == 0 || j == 0) {
        t.h[at] = local || i + j == 0 ? 0 : -s.open - s.extend * (int)(i + j);
        continue;
      }
      t.e[at] = std::max(t.e[at - 1], t.h[at - 1] - s.open) - s.extend;
      t.f[at] = std::max(t.f[at - w], t.h[at - w] - s.open) - s.extend;
      t.h[at] = std::max(t.h[at - w - 1] + s.s[a[i - 1]][b[j - 1]], std::max(t.e[at], t.f[at]));
      if (local) t.h[at] = std::max(t.h[at], 0);
    }
  return t;
}

static dp_best best_of(const affine_tables &t, bool local) {
  const size_t w = t.w, cells = t.h.size();
  dp_best best = {};
  if (!local) return {t.h[cells - 1], (int64_t)(cells / w) - 1, (int64_t)w - 1};
  for (size_t at = 0; at < cells; at++)
    if (t.h[at] > best.score) best = {t.h[at], (int64_t)(at / w), (int64_t)(at % w)};
  return best;
}

/* Steps back from the best cell by the rule of dp_gpu.cuh, until a side of the table. */
static std::vector<uint8_t> steps_of(const affine_tables &t, bool local, const letters_scores &s,
                                     const text_t &a, const text_t &b, dp_best from) {
  std::vector<uint8_t> steps;
  size_t i = (size_t)from.row, j = (size_t)from.column;
  int state = DP_STEP_PAIR;
  while (i > 0 && j > 0) {
    const size_t at = i * t.w + j;
    if (state == DP_STEP_PAIR) {
      if (local && t.h[at] == 0) break;
      if (t.h[at] == t.h[at - t.w - 1] + s.s[a[i - 1]][b[j - 1]]) {
        steps.push_back(DP_STEP_PAIR);
        i--, j--;
      } else
        state = t.h[at] == t.e[at] ? DP_STEP_LEFT : DP_STEP_UP;
      continue;
    }
    steps.push_back((uint8_t)state);
    const bool left = state == DP_STEP_LEFT;
    const int value = left ? t.e[at] : t.f[at], before = t.h[left ? at - 1 : at - t.w];
    if (value == before - s.open - s.extend) state = DP_STEP_PAIR;
    if (left)
      j--;
    else
      i--;
  }
  return steps;
}

static bool better(const dp_best &x, const dp_best &y) {
  if (x.score != y.score) return x.score > y.score;
  return x.row != y.row ? x.row < y.row : x.column < y.column;
}

static int64_t again;         /* tiles done again in 32 bits since it was set to 0 */
static int64_t chained_again; /* the same of chained tiles with scores that are too large */

static tsl_err count_again(dp_affine *band) {
  int64_t tiles = 0;
  const tsl_err err = dp_affine_again(band, &tiles);
  again += tiles;
  return err;
}

/* The last row of the band against the tables: H, and F as it was computed. */
static tsl_err check_row(dp_affine *band, const affine_tables &t, int64_t c0, int64_t c1) {
  tsl_err err = TSL_OK;
  const size_t last = t.h.size() - t.w + (size_t)c0 + 1;
  std::vector<int32_t> h((size_t)(c1 - c0)), f(h.size());
  int64_t wrong = 0;
  if (t.h.size() == t.w || h.empty()) return err;
  TSL_TRY(dp_affine_row_get(band, h.data(), f.data()));
  for (size_t j = 0; j < h.size(); j++) wrong += h[j] != t.h[last + j] || f[j] != t.f[last + j];
  check(wrong == 0, "last row", c0, c1, wrong);
done:
  return err;
}

/* Bands and tiles by cuts; edges pass through the host. bits: of a value, 0: chosen. */
static tsl_err run_tiles(bool local, const letters_scores &s, int width, int bits, const text_t &a,
                         const text_t &b, const std::vector<int64_t> &rows,
                         const std::vector<int64_t> &columns, dp_best *best,
                         const affine_tables *t) {
  tsl_err err = TSL_OK;
  std::vector<std::vector<int32_t>> edges(rows.size());
  dp_affine *band = NULL;
  *best = dp_best{};
  if (!local) best->score = INT64_MIN;
  for (size_t k = 0; k + 1 < columns.size(); k++) {
    const int64_t c0 = columns[k], c1 = columns[k + 1];
    dp_best own = {};
    int64_t wrong = 0;
    TSL_TRY(dp_affine_open(&card, local ? DP_LOCAL : DP_GLOBAL, &s, a.data(), (int64_t)a.size(),
                           b.data() + c0, c1 - c0, (int64_t)b.size(), c0, width, &band));
    if (bits != 0) dp_affine_force(band, bits);
    for (size_t r = 0; r + 1 < rows.size(); r++) {
      const int64_t lo = rows[r], hi = rows[r + 1];
      std::vector<int32_t> right((size_t)(2 * (hi - lo + 1)), 12345);
      TSL_TRY(dp_affine_tile(band, lo, hi, k == 0 ? NULL : edges[r].data(), right.data(), false));
      edges[r] = right;
      for (int64_t i = lo; t != NULL && i <= hi; i++) {
        const size_t at = (size_t)i * t->w + (size_t)c1;
        wrong += right[2 * (i - lo)] != t->h[at];
        if (i > lo && c1 > 0) /* E' of dp.h */
          wrong += right[2 * (i - lo) + 1] != std::max(t->e[at], t->h[at] - s.open);
      }
    }
    if (t != NULL) check(wrong == 0, "edges", c0, c1, wrong);
    if (t != NULL) TSL_TRY(check_row(band, *t, c0, c1));
    TSL_TRY(count_again(band));
    TSL_TRY(dp_affine_best(band, &own));
    own.column += c0;
    if (local ? own.score > 0 && better(own, *best) : k + 2 == columns.size()) *best = own;
    dp_affine_close(&band);
  }
done:
  dp_affine_close(&band);
  return err;
}

/* Walk back through two kept chunks of two bands. */
static tsl_err check_trace(bool local, const letters_scores &s, int bits, dp_random &r,
                           const text_t &a, const text_t &b, const affine_tables &t) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size();
  const std::vector<int64_t> rows = random_cuts(r, n, 2), columns = random_cuts(r, m, 2);
  const dp_best best = best_of(t, local);
  const std::vector<uint8_t> wanted = steps_of(t, local, s, a, b, best);
  std::vector<uint8_t> got, some((size_t)(n + m + 1));
  std::vector<int32_t> edge[2];
  dp_place place = {best.row, best.column, DP_STEP_PAIR, best.score == 0 && local};
  dp_affine *band[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) {
    TSL_TRY(dp_affine_open(&card, local ? DP_LOCAL : DP_GLOBAL, &s, a.data(), n,
                           b.data() + columns[k], columns[k + 1] - columns[k], m, columns[k], 0,
                           &band[k]));
    if (bits != 0) dp_affine_force(band[k], bits);
  }
  for (int chunk = 1; chunk >= 0; chunk--) {
    for (int k = 0; k < 2; k++) {
      TSL_TRY(dp_affine_begin(band[k]));
      for (int c = 0; c <= chunk; c++) {
        std::vector<int32_t> right((size_t)(2 * (rows[c + 1] - rows[c] + 1)));
        TSL_TRY(dp_affine_tile(band[k], rows[c], rows[c + 1], k == 0 ? NULL : edge[c].data(),
                               right.data(), c == chunk));
        if (k == 0) edge[c] = right;
      }
    }
    for (int k = 1; k >= 0; k--) {
      int64_t count = 0;
      dp_place own = place;
      own.column -= columns[k];
      if (own.column <= 0 || own.row <= rows[chunk] || own.done) continue;
      TSL_TRY((chunk == 1 ? dp_affine_trace : dp_affine_trace_host)(band[k], &own, some.data(),
                                                                    (int64_t)some.size(), &count));
      place = own;
      place.column += columns[k];
      got.insert(got.end(), some.begin(), some.begin() + count);
    }
  }
  check(got == wanted, "way back", n, m, (long long)got.size() - (long long)wanted.size());
  for (int k = 0; k < 2; k++) TSL_TRY(count_again(band[k]));
done:
  for (int k = 0; k < 2; k++) dp_affine_close(&band[k]);
  return err;
}

/* H of all cells, in two tiles of one band. */
static tsl_err check_cells(bool local, const letters_scores &s, int bits, dp_random &r,
                           const text_t &a, const text_t &b, const affine_tables &t) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size(), ld = m + 3;
  const std::vector<int64_t> rows = random_cuts(r, n, 2);
  std::vector<int32_t> got((size_t)(n * ld));
  tsl_gpu_buffer cells = {};
  dp_affine *band = NULL;
  int64_t wrong = 0;
  TSL_TRY(tsl_gpu_reserve(&card.memory, &cells, 4 * n * ld + 4, "cells"));
  TSL_TRY(dp_affine_open(&card, local ? DP_LOCAL : DP_GLOBAL, &s, a.data(), n, b.data(), m, m, 0, 0,
                         &band));
  if (bits != 0) dp_affine_force(band, bits);
  for (int k = 0; k < 2; k++)
    TSL_TRY(dp_affine_tile_cells(band, rows[k], rows[k + 1], NULL, NULL,
                                 (int32_t *)cells.data + rows[k] * ld, ld));
  TSL_TRY(dp_card_wait(&card));
  TSL_CUDA_TRY(cudaMemcpy(got.data(), cells.data, got.size() * 4, cudaMemcpyDefault));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      wrong += got[(size_t)(i * ld + j)] != t.h[(size_t)(i + 1) * t.w + (size_t)j + 1];
  check(wrong == 0, "cells", n, m, wrong);
  TSL_TRY(count_again(band));
done:
  dp_affine_close(&band);
  tsl_gpu_release(&card.memory, &cells);
  return err;
}

/* ---- tiles that begin while the one before drains */

/* A band's tiles one at a time and in two halves; what has to be the same. */
typedef struct chained {
  dp_affine *one, *two;
  std::vector<int64_t> rows;
  std::vector<std::vector<int32_t>> left; /* [tiles]; none: the boundary */
  std::vector<std::vector<int32_t>> right;
  std::vector<tsl_gpu_buffer> on_card; /* [tiles] left */
  std::vector<int32_t *> out;          /* [tiles] pinned */
  int64_t columns;
  size_t started, finished;
} chained;

static size_t tiles_of(const chained *c) {
  return c->rows.size() - 1;
}

static tsl_err open_edges(chained *c) {
  tsl_err err = TSL_OK;
  c->on_card.resize(tiles_of(c));
  c->out.resize(tiles_of(c));
  for (size_t k = 0; k < tiles_of(c); k++) {
    const size_t bytes = 8 * (size_t)(c->rows[k + 1] - c->rows[k] + 1);
    TSL_CUDA_TRY(cudaHostAlloc((void **)&c->out[k], bytes, cudaHostAllocPortable));
    memset(c->out[k], 0x5a, bytes);
    if (c->left.empty()) continue;
    TSL_TRY(tsl_gpu_reserve(&card.memory, &c->on_card[k], (int64_t)bytes, "edge"));
    TSL_CUDA_TRY(cudaMemcpy(c->on_card[k].data, c->left[k].data(), bytes, cudaMemcpyDefault));
  }
done:
  return err;
}

static void close_edges(chained *c) {
  for (tsl_gpu_buffer &buffer : c->on_card) tsl_gpu_release(&card.memory, &buffer);
  for (int32_t *out : c->out)
    if (out != NULL) (void)cudaFreeHost(out);
  c->on_card.clear();
  c->out.clear();
}

static tsl_err finish_one(chained *c) {
  tsl_err err = TSL_OK;
  double seconds = -1;
  TSL_TRY(dp_affine_finish(c->two, &seconds));
  check(seconds >= 0, "seconds of a tile", (long long)c->finished);
  c->finished++;
done:
  return err;
}

/* Tile k is started, or run where it is empty or the dice say so: then none is under way. */
static tsl_err one_more(chained *c, dp_random &r, bool mixed) {
  tsl_err err = TSL_OK;
  const size_t k = c->started;
  const int64_t lo = c->rows[k], hi = c->rows[k + 1];
  const bool alone = lo == hi || c->columns == 0 || (mixed && r.below(4) == 0);
  while (c->started - c->finished > (alone ? 0u : 1u)) TSL_TRY(finish_one(c));
  c->started++;
  if (!alone)
    return dp_affine_start(c->two, lo, hi, (const int32_t *)c->on_card[k].data, c->out[k]);
  TSL_TRY(dp_affine_tile(c->two, lo, hi, (const int32_t *)c->on_card[k].data, c->out[k], false));
  c->finished++;
  if (mixed) check(dp_affine_ended(c->two), "nothing is under way");
done:
  return err;
}

static tsl_err compare_bands(chained *c, int64_t m) {
  tsl_err err = TSL_OK;
  std::vector<int32_t> h[2], f[2];
  dp_best best[2] = {};
  int64_t tiles[2] = {0, 0}, wrong = 0;
  dp_affine *const bands[2] = {c->one, c->two};
  for (size_t k = 0; k < tiles_of(c); k++)
    wrong += memcmp(c->right[k].data(), c->out[k], 4 * c->right[k].size()) != 0;
  check(wrong == 0, "edges of chained tiles", m, (long long)tiles_of(c), wrong);
  for (int k = 0; k < 2; k++) {
    h[k].resize((size_t)m);
    f[k].resize((size_t)m);
    TSL_TRY(dp_affine_row_get(bands[k], h[k].data(), f[k].data()));
    TSL_TRY(dp_affine_best(bands[k], &best[k]));
    TSL_TRY(dp_affine_again(bands[k], &tiles[k]));
  }
  check(h[0] == h[1] && f[0] == f[1], "last row of chained tiles", m, (long long)tiles_of(c));
  check(memcmp(&best[0], &best[1], sizeof best[0]) == 0, "best cell of chained tiles", m,
        (long long)tiles_of(c), best[1].score - best[0].score);
  check(tiles[0] == tiles[1], "chained tiles done again", m, tiles[0], tiles[1]);
  again += tiles[1];
done:
  return err;
}

static tsl_err run_both(chained *c, dp_random &r, bool mixed) {
  tsl_err err = TSL_OK;
  c->started = c->finished = 0;
  for (size_t k = 0; k < tiles_of(c); k++) {
    const int64_t lo = c->rows[k], hi = c->rows[k + 1];
    c->right.push_back(std::vector<int32_t>((size_t)(2 * (hi - lo + 1)), 12345));
    TSL_TRY(dp_affine_tile(c->one, lo, hi, c->left.empty() ? NULL : c->left[k].data(),
                           c->right[k].data(), false));
  }
  TSL_TRY(open_edges(c));
  while (c->started < tiles_of(c)) TSL_TRY(one_more(c, r, mixed));
  while (c->finished < c->started) TSL_TRY(finish_one(c));
done:
  return err;
}

/* Two bands side by side, each in `tiles` tiles; mixed: some of them one at a time. */
static tsl_err check_chained(bool local, const letters_scores &s, int width, int bits, dp_random &r,
                             const text_t &a, const text_t &b, int tiles, bool mixed) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size();
  const int64_t ends[] = {0, m - m / 3, m};
  chained c = {};
  c.rows = random_cuts(r, n, tiles);
  for (int k = 0; k < 2; k++) {
    c.columns = ends[k + 1] - ends[k];
    for (dp_affine **band : {&c.one, &c.two}) {
      TSL_TRY(dp_affine_open(&card, local ? DP_LOCAL : DP_GLOBAL, &s, a.data(), n,
                             b.data() + ends[k], ends[k + 1] - ends[k], m, ends[k], width, band));
      if (bits != 0) dp_affine_force(*band, bits);
    }
    TSL_TRY(run_both(&c, r, mixed));
    TSL_TRY(compare_bands(&c, ends[k + 1] - ends[k]));
    dp_affine_close(&c.one);
    dp_affine_close(&c.two);
    close_edges(&c);
    c.left.swap(c.right);
    c.right.clear();
  }
done:
  dp_affine_close(&c.one);
  dp_affine_close(&c.two);
  close_edges(&c);
  return err;
}

static letters_scores random_scores(dp_random &r, int letters, bool plain) {
  letters_scores s = {};
  s.alphabet = letters;
  s.open = plain ? 3 : (int)r.below(8);
  s.extend = plain ? 1 : (int)r.below(4);
  for (int x = 0; x < letters; x++)
    for (int y = 0; y < letters; y++)
      s.s[x][y] = plain ? (x == y ? 2 : -3) : x == y ? 3 + (int)r.below(9) : (int)r.below(9) - 6;
  return s;
}

/* All that a band gives, against the tables, in 16 and 32 bits and in those that are chosen. */
static tsl_err check_all(bool local, const letters_scores &s, dp_random &r, const text_t &a,
                         const text_t &b) {
  tsl_err err = TSL_OK;
  static const int of_try[] = {0, 16, 32, 16};
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size();
  const affine_tables t = tables_of(local, s, a, b);
  const dp_best wanted = best_of(t, local);
  const int tries = small_sizes ? 3 : 6;
  for (int k = 0; k < tries; k++) {
    const int width = k == 0 ? 0 : 4 << (k % 3), bits = of_try[k % 4];
    const std::vector<int64_t> rows = random_cuts(r, n, k + 1), columns = random_cuts(r, m, k + 1);
    dp_best best = {};
    TSL_TRY(run_tiles(local, s, width, bits, a, b, rows, columns, &best, &t));
    check(best.score == wanted.score && best.row == wanted.row && best.column == wanted.column,
          local ? "local" : "global", n, m, best.score - wanted.score);
  }
  for (int bits : {16, 32}) {
    TSL_TRY(check_trace(local, s, bits, r, a, b, t));
    TSL_TRY(check_cells(local, s, bits, r, a, b, t));
  }
done:
  return err;
}

static tsl_err check_sizes(bool local, int64_t n, int64_t m, int letters) {
  dp_random r((uint64_t)(n * 1000003 + m * 101 + letters + local));
  const text_t a = random_text(r, n, letters), b = relative_of(r, a, m, letters);
  return check_all(local, random_scores(r, letters, letters == 4), r, a, b);
}

/* Scores too large for 16 bits to be certain: those who try them see it and do it again. */
static tsl_err check_beyond(bool local, int64_t n, int64_t m, int letters, int factor) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)(n * 31 + m * 7 + factor + local));
  const text_t a = random_text(r, n, letters), b = relative_of(r, a, m, letters);
  letters_scores s = random_scores(r, letters, true);
  dp_affine *band = NULL;
  s.open *= factor;
  s.extend *= factor;
  for (int x = 0; x < letters; x++)
    for (int y = 0; y < letters; y++) s.s[x][y] *= factor;
  TSL_TRY(dp_affine_open(&card, local ? DP_LOCAL : DP_GLOBAL, &s, a.data(), n, b.data(), m, m, 0, 0,
                         &band));
  if (getenv("TSL_TEST_LANES") == NULL)
    for (int keep = 0; keep < 2; keep++)
      check(dp_affine_bits(band, keep != 0) == 32, "chosen bits", factor, keep);
  again = 0;
  TSL_TRY(check_all(local, s, r, a, b));
  check(again > 0, "16 bits that do not hold", n, m, factor);
  again = 0;
  for (int width : {4, 16})
    for (int tiles : {1, 2, 5, 16})
      TSL_TRY(check_chained(local, s, width, 16, r, a, b, tiles, tiles == 5));
  chained_again += again;
done:
  dp_affine_close(&band);
  return err;
}

/* The bits that are chosen; the environment; scores of which 16 bits hold none. */
static tsl_err check_bits(void) {
  tsl_err err = TSL_OK;
  dp_random r(5);
  const text_t text = random_text(r, 100, 4);
  const char *before = getenv("TSL_TEST_LANES");
  const std::string asked = before != NULL ? before : "";
  letters_scores s = random_scores(r, 4, true);
  dp_affine *band = NULL;
  int device = 0, major = 0;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  for (const char *lanes : {"", "16", "32", "17"}) {
    if (lanes[0] == 0)
      (void)unsetenv("TSL_TEST_LANES");
    else
      (void)setenv("TSL_TEST_LANES", lanes, 1);
    const tsl_err got =
        dp_affine_open(&card, DP_LOCAL, &s, text.data(), 100, text.data(), 100, 100, 0, 0, &band);
    check(got == (strcmp(lanes, "17") == 0 ? TSL_ERR_USAGE : TSL_OK), "TSL_TEST_LANES", got);
    if (got != TSL_OK) continue;
    const int bits = lanes[0] != 0 ? atoi(lanes) : major >= 9 ? 16 : 32;
    for (int keep = 0; keep < 2; keep++)
      check(dp_affine_bits(band, keep != 0) == bits, "bits", bits, keep);
    dp_affine_close(&band);
  }
  s.s[1][2] = -40000;
  (void)setenv("TSL_TEST_LANES", "16", 1);
  TSL_TRY(
      dp_affine_open(&card, DP_LOCAL, &s, text.data(), 100, text.data(), 100, 100, 0, 0, &band));
  check(dp_affine_bits(band, false) == 32, "a score beyond 16 bits");
done:
  dp_affine_close(&band);
  if (before != NULL)
    (void)setenv("TSL_TEST_LANES", asked.c_str(), 1);
  else
    (void)unsetenv("TSL_TEST_LANES");
  return err;
}

/* Two bands with cells left out, their best cell, and how many cells. known: a score that the
 * table has, or 0. */
static tsl_err pruned_best(const letters_scores &s, const text_t &a, const text_t &b, int width,
                           int tiles, int64_t known, dp_best *best, int64_t *cells) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size(), from[3] = {0, m / 3, m};
  std::vector<int32_t> edge(2 * (size_t)(n + 1));
  dp_affine *bands[2] = {NULL, NULL};
  *best = dp_best{};
  *cells = 0;
  for (int k = 0; k < 2; k++) {
    TSL_TRY(dp_affine_open(&card, DP_LOCAL, &s, a.data(), n, b.data() + from[k],
                           from[k + 1] - from[k], m, from[k], width, &bands[k]));
    TSL_TRY(dp_affine_prune(bands[k], n, m - from[k], known));
  }
  for (int64_t lo = 0, hi; lo < n; lo = hi) {
    hi = lo + n / tiles + 1 < n ? lo + n / tiles + 1 : n;
    for (int k = 0; k < 2; k++)
      TSL_TRY(dp_affine_tile(bands[k], lo, hi, k > 0 ? edge.data() : NULL,
                             k == 0 ? edge.data() : NULL, false));
  }
  for (int k = 0; k < 2; k++) {
    dp_best found = {};
    int64_t some = 0;
    TSL_TRY(dp_affine_best(bands[k], &found));
    TSL_TRY(dp_affine_pruned(bands[k], &some));
    found.column += from[k];
    if (found.score > best->score || (found.score == best->score && found.row < best->row))
      *best = found;
    *cells += some;
  }
done:
  for (dp_affine *&band : bands) dp_affine_close(&band);
  return err;
}

/* The best cell is that of a band without cells left out; where texts are equal some are. */
static tsl_err check_pruned(int64_t n, int64_t m, int letters, bool equal) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)(n * 17 + m));
  const text_t a = random_text(r, n, letters), b = equal ? a : relative_of(r, a, m, letters);
  const letters_scores s = random_scores(r, letters, letters == 4);
  dp_affine *band = NULL;
  dp_best want = {}, got = {};
  int64_t cells = 0;
  TSL_TRY(dp_affine_open(&card, DP_LOCAL, &s, a.data(), n, b.data(), (int64_t)b.size(),
                         (int64_t)b.size(), 0, 0, &band));
  TSL_TRY(dp_affine_tile(band, 0, n, NULL, NULL, false));
  TSL_TRY(dp_affine_best(band, &want));
  for (int width : {4, 8, 16})
    for (int tiles : {1, 3, 7, 0}) {
      const int64_t known = tiles == 0 ? want.score : 0; /* once with the best from the beginning */
      TSL_TRY(pruned_best(s, a, b, width, tiles == 0 ? 3 : tiles, known, &got, &cells));
      check(got.score == want.score && got.row == want.row && got.column == want.column,
            "best cell where some are left out", n, m, width);
      if (equal && dp_affine_bits(band, false) == 16)
        check(cells > n * n / 20, "cells left out", cells, width, tiles);
    }
done:
  dp_affine_close(&band);
  return err;
}

/* Many strips at once, or many rows; one row on the host. */
static tsl_err check_against_rows(bool local, const letters_scores &s, dp_random &r,
                                  const text_t &a, const text_t &b, int width) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size();
  std::vector<int> h((size_t)(m + 1)), f((size_t)(m + 1), -100000000);
  dp_best wanted = {}, best = {};
  for (int64_t j = 1; j <= m; j++) h[j] = local ? 0 : -s.open - s.extend * (int)j;
  for (int64_t i = 1; i <= n; i++) {
    int diagonal = h[0], e = -100000000;
    h[0] = local ? 0 : -s.open - s.extend * (int)i;
    for (int64_t j = 1; j <= m; j++) {
      const int up = h[j];
      e = std::max(e, h[j - 1] - s.open) - s.extend;
      f[j] = std::max(f[j], up - s.open) - s.extend;
      h[j] = std::max(diagonal + s.s[a[i - 1]][b[j - 1]], std::max(e, f[j]));
      if (local && h[j] < 0) h[j] = 0;
      if (local && h[j] > wanted.score) wanted = {h[j], i, j};
      diagonal = up;
    }
  }
  if (!local) wanted = {h[m], n, m};
  again = 0;
  for (int cuts = 1; cuts <= 3; cuts += 2)
    for (int bits : {16, 32}) {
      TSL_TRY(run_tiles(local, s, width, bits, a, b, random_cuts(r, n, cuts),
                        random_cuts(r, m, cuts), &best, NULL));
      check(best.score == wanted.score && best.row == wanted.row && best.column == wanted.column,
            "large", n, m, best.score - wanted.score);
    }
  check(again == 0, "16 bits hold", n, m, again);
done:
  return err;
}

static tsl_err check_large(bool local, int64_t n, int64_t m, int letters, int width) {
  dp_random r((uint64_t)(n + m + local));
  const text_t a = random_text(r, n, letters), b = relative_of(r, a, m, letters);
  return check_against_rows(local, random_scores(r, letters, true), r, a, b, width);
}

/* Local: strangers follow the best cell, until values lie more than 16 bits below it. */
static tsl_err check_decline(int width) {
  enum { ALIKE = 5000, STRANGERS = 12000, FACTOR = 4 };
  dp_random r((uint64_t)width);
  text_t a = random_text(r, ALIKE, 4), b = a;
  for (text_t *x : {&a, &b}) {
    const text_t other = random_text(r, STRANGERS, 4);
    x->insert(x->end(), other.begin(), other.end());
  }
  letters_scores s = random_scores(r, 4, true);
  s.open *= FACTOR, s.extend *= FACTOR;
  for (int x = 0; x < 4; x++)
    for (int y = 0; y < 4; y++) s.s[x][y] *= FACTOR;
  return check_against_rows(true, s, r, a, b, width);
}

/* Chained tiles are those that run one at a time, with fewer strips than the card has warps and
 * with more: TSL_TEST_WARPS takes most of them away. */
static tsl_err check_chains(bool local) {
  tsl_err err = TSL_OK;
  static const struct {
    int64_t n, m;
    int tiles;
  } sizes[] = {{1, 1, 1},       {37, 300, 3},      {1031, 509, 12},    {700, 5003, 40},
               {4001, 1300, 9}, {2003, 120011, 7}, {5003, 200003, 25}, {900, 700001, 5}};
  const int n_sizes = small_sizes ? 4 : 8;
  const char *before = getenv("TSL_TEST_WARPS");
  const std::string asked = before != NULL ? before : "";
  for (int k = 0; k < n_sizes; k++)
    for (int turn = 0; turn < 6; turn++) {
      dp_random r((uint64_t)(100 * k + 10 * turn + local));
      const text_t a = random_text(r, sizes[k].n, 4), b = relative_of(r, a, sizes[k].m, 4);
      if (turn % 2 == 0) (void)setenv("TSL_TEST_WARPS", "1", 1);
      err = check_chained(local, random_scores(r, 4, turn < 3), turn < 4 ? 4 : 0,
                          turn % 3 == 0 ? 32 : 16, r, a, b, sizes[k].tiles, turn % 2 == 1);
      (void)unsetenv("TSL_TEST_WARPS");
      TSL_TRY(err);
    }
done:
  if (before != NULL) (void)setenv("TSL_TEST_WARPS", asked.c_str(), 1);
  return err;
}

/* What cannot be started: without cells, out of order, a third, another shape; run meanwhile. */
static tsl_err check_starts(void) {
  tsl_err err = TSL_OK;
  dp_random r(11);
  const text_t a = random_text(r, 900, 4), b = random_text(r, 700, 4);
  const letters_scores s = random_scores(r, 4, true);
  dp_affine *band = NULL;
  double seconds = 0;
  TSL_TRY(dp_affine_open(&card, DP_LOCAL, &s, a.data(), 900, b.data(), 700, 700, 0, 0, &band));
  check(dp_affine_finish(band, &seconds) == TSL_ERR_INTERNAL, "finish of nothing");
  check(dp_affine_ended(band), "nothing is under way");
  check(dp_affine_start(band, 0, 0, NULL, NULL) == TSL_ERR_INTERNAL, "start without rows");
  check(dp_affine_start(band, 5, 9, NULL, NULL) == TSL_ERR_INTERNAL, "start in the middle");
  TSL_TRY(dp_affine_start(band, 0, 300, NULL, NULL));
  check(dp_affine_tile(band, 300, 600, NULL, NULL, false) == TSL_ERR_INTERNAL, "run meanwhile");
  TSL_TRY(dp_affine_start(band, 300, 600, NULL, NULL));
  check(dp_affine_start(band, 600, 900, NULL, NULL) == TSL_ERR_INTERNAL, "a third");
  TSL_TRY(dp_affine_finish(band, &seconds));
  dp_affine_force(band, dp_affine_bits(band, false) == 16 ? 32 : 16);
  check(dp_affine_start(band, 600, 900, NULL, NULL) == TSL_ERR_INTERNAL, "another shape");
  TSL_TRY(dp_affine_finish(band, &seconds));
  TSL_TRY(dp_affine_start(band, 600, 900, NULL, NULL)); /* closed while it is under way */
done:
  dp_affine_close(&band);
  return err;
}

/* Scores that may not fit are refused, as are letters outside the alphabet. */
static void check_refusals(void) {
  letters_scores s = {};
  dp_affine *band = NULL;
  uint8_t letters[] = {0, 1, 2};
  s.alphabet = 2;
  s.s[0][0] = 1 << 28;
  check(dp_affine_open(&card, DP_LOCAL, &s, letters, 2, letters, 2, 2, 0, 0, &band) ==
                TSL_ERR_INPUT &&
            band == NULL,
        "scores beyond 30 bits");
  s.s[0][0] = 1;
  check(dp_affine_open(&card, DP_LOCAL, &s, letters, 3, letters, 2, 2, 0, 0, &band) ==
                TSL_ERR_INPUT &&
            band == NULL,
        "letter outside the alphabet");
}

tsl_err test_affine(void) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> full = {0, 1, 2, 31, 33, 127, 509, 1031};
  const std::vector<int64_t> small = {0, 1, 37, 300};
  const std::vector<int64_t> &sizes = small_sizes ? small : full;
  check_refusals();
  TSL_TRY(check_bits());
  TSL_TRY(check_starts());
  for (int local = 0; local < 2; local++) {
    if (local != 0)
      for (int64_t n : {400, 6001, 20011})
        for (int64_t m : {n, n / 2, 2 * n})
          for (int letters : {4, 24}) TSL_TRY(check_pruned(n, m, letters, m == n && n > 6000));
    again = 0;
    for (int64_t n : sizes)
      for (int64_t m : sizes)
        for (int letters : {4, 7, 24, 32})
          if (letters == 4 || n == m) TSL_TRY(check_sizes(local, n, m, letters));
    TSL_TRY(check_sizes(local, small_sizes ? 90 : 700, small_sizes ? 1100 : 5003, 5));
    TSL_TRY(check_sizes(local, small_sizes ? 700 : 4001, small_sizes ? 90 : 1300, 5));
    check(again == 0, "16 bits hold", local, again);
    TSL_TRY(check_chains(local != 0));
    chained_again = 0;
    for (int factor : {60, 120, 170}) TSL_TRY(check_beyond(local, 1201, 1303, 4, factor));
    check(chained_again > 0, "16 bits that do not hold, chained", local);
    if (small_sizes) continue;
    TSL_TRY(check_beyond(local, 3001, 2503, 4, 40));
    TSL_TRY(check_large(local, 2003, 200003, 4, 4));
    TSL_TRY(check_large(local, 1777, 300007, 5, 8));
    TSL_TRY(check_large(local, 1500, 400009, 4, 16));
    TSL_TRY(check_large(local, 300, 1000003, 4, 0));
    TSL_TRY(check_large(local, 100003, 3001, 4, 16));
    TSL_TRY(check_large(local, 70001, 1999, 4, 8));
    for (int width : {4, 8, 16}) TSL_TRY(check_decline(width));
  }
done:
  return err;
}
