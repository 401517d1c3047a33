/* Edges in the middle of a band of alignments, kept by one pass: those of bands that end there. */
#include "test_dp_gpu.cuh"

typedef std::vector<uint8_t> text_t;

enum { EVERY = DP_AFFINE_ALIGN };

static letters_scores scores_of(int letters, int factor) {
  letters_scores s = {};
  s.alphabet = letters;
  s.open = 5 * factor;
  s.extend = factor;
  for (int x = 0; x < letters; x++)
    for (int y = 0; y < letters; y++) s.s[x][y] = factor * (x == y ? 3 : -2 - (x + y) % 2);
  return s;
}

/* A case: rows in two tiles, of which the second continues the first. */
typedef struct sides_case {
  letters_scores s;
  int bits, width;
  text_t a, b;
} sides_case;

static tsl_err open_case(const sides_case *c, int64_t columns, dp_affine **band) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_affine_open(&card, DP_LOCAL, &c->s, c->a.data(), (int64_t)c->a.size(), c->b.data(),
                         columns, (int64_t)c->b.size(), 0, c->width, band));
  if (c->bits != 0) dp_affine_force(*band, c->bits);
done:
  return err;
}

/* Right edges of both tiles of the first `columns` columns: [n + 2][2]. */
static tsl_err edges_of(const sides_case *c, int64_t columns, std::vector<int32_t> *out) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)c->a.size(), half = n / 2;
  dp_affine *band = NULL;
  out->assign(2 * (size_t)(n + 2), 0);
  TSL_TRY(open_case(c, columns, &band));
  TSL_TRY(dp_affine_tile(band, 0, half, NULL, out->data(), false));
  TSL_TRY(dp_affine_tile(band, half, n, NULL, out->data() + 2 * (half + 1), false));
  TSL_TRY(dp_card_wait(&card));
done:
  dp_affine_close(&band);
  return err;
}

/* The same of all columns by one pass: [m / every][n + 2][2]. *again: tiles done in 32 bits. */
static tsl_err sides_of(const sides_case *c, int64_t every, std::vector<int32_t> *out,
                        int64_t *again) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)c->a.size(), m = (int64_t)c->b.size(), rows[3] = {0, n / 2, n};
  dp_affine *band = NULL;
  tsl_gpu_buffer sides = {};
  out->assign(2 * (size_t)(n + 2) * (size_t)(m / every), 0);
  TSL_TRY(tsl_gpu_reserve(&card.memory, &sides, m / every * 8 * (n + 2), "edges"));
  TSL_TRY(open_case(c, m, &band));
  for (int tile = 0; tile < 2; tile++) {
    const int64_t bytes = 8 * (rows[tile + 1] - rows[tile] + 1), from = rows[tile] + tile;
    TSL_TRY(
        dp_affine_tile_sides(band, rows[tile], rows[tile + 1], NULL, every, (int32_t *)sides.data));
    for (int64_t k = 0; k < m / every; k++)
      TSL_TRY(tsl_gpu_copy(&card, out->data() + 2 * (k * (n + 2) + from),
                           (const char *)sides.data + k * bytes, bytes));
  }
  TSL_TRY(dp_affine_again(band, again));
done:
  dp_affine_close(&band);
  tsl_gpu_release(&card.memory, &sides);
  return err;
}

static tsl_err check_sides(const sides_case *c, int64_t every, int64_t *again) {
  tsl_err err = TSL_OK;
  const int64_t m = (int64_t)c->b.size(), each = 2 * ((int64_t)c->a.size() + 2);
  std::vector<int32_t> sides, edges;
  int64_t redone = 0;
  TSL_TRY(sides_of(c, every, &sides, &redone));
  *again += redone;
  for (int64_t k = 0; k < m / every; k++) {
    TSL_TRY(edges_of(c, (k + 1) * every, &edges));
    check(std::equal(edges.begin(), edges.end(), sides.begin() + k * each), "edge of a pass", k,
          every, c->bits);
  }
done:
  return err;
}

/* With cells left out: what the best path goes through is as it was, here the diagonal. */
static tsl_err check_pruned_sides(int64_t n, int64_t every) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)n);
  const text_t a = random_text(r, n, 4);
  const letters_scores s = scores_of(4, 1);
  std::vector<int32_t> edge(2 * (size_t)(n + 1));
  dp_affine *band = NULL;
  tsl_gpu_buffer sides = {};
  int64_t cells = 0;
  TSL_TRY(tsl_gpu_reserve(&card.memory, &sides, n / every * 8 * (n + 1), "edges"));
  TSL_TRY(dp_affine_open(&card, DP_LOCAL, &s, a.data(), n, a.data(), n, n, 0, 0, &band));
  TSL_TRY(dp_affine_prune(band, n, n, 3 * n));
  TSL_TRY(dp_affine_tile_sides(band, 0, n, NULL, every, (int32_t *)sides.data));
  for (int64_t k = 0; k < n / every; k++) {
    const int64_t row = (k + 1) * every;
    TSL_TRY(
        tsl_gpu_copy(&card, edge.data(), (const char *)sides.data + k * 8 * (n + 1), 8 * (n + 1)));
    check(edge[2 * (size_t)row] == 3 * row, "edge of a pass that leaves cells out", k, every,
          edge[2 * (size_t)row]);
  }
  TSL_TRY(dp_affine_pruned(band, &cells));
  check(dp_affine_bits(band, false) == 32 || cells > n * n / 4, "cells left out", cells, n);
done:
  dp_affine_close(&band);
  tsl_gpu_release(&card.memory, &sides);
  return err;
}

/* Columns that no edge may lie behind; edges of what is not local. */
static tsl_err check_refused(void) {
  tsl_err err = TSL_OK;
  dp_random r(3);
  const text_t a = random_text(r, 100, 4), b = random_text(r, 3 * EVERY, 4);
  const sides_case c = {scores_of(4, 1), 0, 0, a, b};
  dp_affine *band = NULL;
  TSL_TRY(open_case(&c, 3 * EVERY, &band));
  for (int64_t every : {(int64_t)0, (int64_t)EVERY / 2, (int64_t)EVERY + 1, 2 * (int64_t)EVERY})
    check(dp_affine_tile_sides(band, 0, 100, NULL, every, NULL) == TSL_ERR_INTERNAL, "refused",
          every);
  dp_affine_close(&band);
  TSL_TRY(dp_affine_open(&card, DP_GLOBAL, &c.s, a.data(), 100, b.data(), 3 * EVERY, 3 * EVERY, 0,
                         0, &band));
  check(dp_affine_tile_sides(band, 0, 100, NULL, EVERY, NULL) == TSL_ERR_INTERNAL, "global");
done:
  dp_affine_close(&band);
  return err;
}

tsl_err test_sides(void) {
  tsl_err err = TSL_OK;
  int64_t again = 0;
  TSL_TRY(check_refused());
  for (int factor : {1, 60, 170})
    for (int bits : {0, 16, 32})
      for (int width : {4, 8, 16}) {
        dp_random r((uint64_t)(factor + bits + width));
        const int64_t n = small_sizes ? 333 : 2731, m = small_sizes ? 2 * EVERY : 6 * EVERY;
        const text_t a = random_text(r, n, 4), b = relative_of(r, a, m, 4);
        const sides_case c = {scores_of(4, factor), bits, width, a, b};
        for (int64_t every = EVERY; every <= m / 2; every *= small_sizes ? 2 : 3)
          TSL_TRY(check_sides(&c, every, &again));
      }
  check(again > 0, "16 bits that do not hold", again);
  for (int64_t every = EVERY; every <= 4 * EVERY; every *= 4)
    TSL_TRY(check_pruned_sides(small_sizes ? 8 * EVERY : 32 * EVERY, every));
done:
  return err;
}
