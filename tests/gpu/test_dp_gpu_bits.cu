/* Longest common subsequence and unit edit distance on a card. */
#include "test_dp_gpu.cuh"

typedef std::vector<uint8_t> text_t;

/* The whole table, [n + 1][m + 1]. */
static std::vector<int> table_of(dp_problem problem, const text_t &a, const text_t &b) {
  const size_t n = a.size(), m = b.size(), w = m + 1;
  std::vector<int> t((n + 1) * w);
  for (size_t i = 0; i <= n; i++)
    for (size_t j = 0; j <= m; j++) {
      int &v = t[i * w + j];
      if (i == 0 || j == 0) {
        v = problem == DP_LCS ? 0 : (int)(i + j);
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      const int diagonal = t[(i - 1) * w + j - 1], up = t[(i - 1) * w + j], left = t[i * w + j - 1];
      v = problem == DP_LCS ? std::max(diagonal + same, std::max(up, left))
                            : std::min(diagonal + !same, std::min(up, left) + 1);
    }
  return t;
}

/* The way back by the rule of dp_gpu.cuh. */
static std::vector<dp_pair> way_of(dp_problem problem, const text_t &a, const text_t &b,
                                   const std::vector<int> &t) {
  const size_t w = b.size() + 1;
  size_t i = a.size(), j = b.size();
  std::vector<dp_pair> pairs;
  while (i > 0 && j > 0) {
    const int v = t[i * w + j], up = t[(i - 1) * w + j], left = t[i * w + j - 1];
    int go; /* 0 pair, 1 left, 2 up */
    if (problem == DP_LCS)
      go = left == v ? 1 : up == v ? 2 : 0;
    else
      go = t[(i - 1) * w + j - 1] + (a[i - 1] != b[j - 1]) == v ? 0 : left + 1 == v ? 1 : 2;
    if (go == 0) pairs.push_back({(int64_t)i - 1, (int64_t)j - 1});
    if (go != 1) i--;
    if (go != 2) j--;
  }
  return pairs;
}

typedef struct bits_case {
  dp_problem problem;
  int words;
  std::vector<int64_t> rows, columns; /* cuts */
} bits_case;

/* All tiles of a case; edges pass through the host. sum: over all bands. */
static tsl_err run_tiles(const bits_case &c, const text_t &a, const text_t &b, int64_t *sum,
                         std::vector<uint32_t> *last) {
  tsl_err err = TSL_OK;
  std::vector<std::vector<uint32_t>> edges(c.rows.size());
  const int parts = c.problem == DP_EDIT ? 2 : 1;
  dp_bits *band = NULL;
  *sum = 0;
  for (size_t k = 0; k + 1 < c.columns.size(); k++) {
    const int64_t c0 = c.columns[k], c1 = c.columns[k + 1];
    int64_t part = 0;
    TSL_TRY(dp_bits_open(&card, c.problem, a.data(), (int64_t)a.size(), b.data() + c0, c1 - c0,
                         c.words, &band));
    for (size_t r = 0; r + 1 < c.rows.size(); r++) {
      const int64_t lo = c.rows[r], hi = c.rows[r + 1];
      std::vector<uint32_t> right((size_t)(parts * ((hi - lo + 31) / 32)), 0xdeadbeef);
      TSL_TRY(dp_bits_tile(band, lo, hi, k == 0 ? NULL : edges[r].data(), right.data(), false));
      edges[r] = right;
    }
    TSL_TRY(dp_bits_sum(band, &part));
    *sum += part;
    dp_bits_close(&band);
  }
  if (last != NULL) *last = edges[0];
done:
  dp_bits_close(&band);
  return err;
}

/* Bits of the right edge of rows [0, hi) against the table. */
static void check_edge(const bits_case &c, const std::vector<int> &t, int64_t m,
                       const std::vector<uint32_t> &edge) {
  const int64_t hi = c.rows[1], words = (hi + 31) / 32;
  int64_t wrong = 0;
  for (int64_t r = 0; r < 32 * words; r++) {
    const int d = r < hi ? t[(r + 1) * (m + 1) + m] - t[r * (m + 1) + m] : 0;
    if ((int)(edge[r / 32] >> (r % 32) & 1) != (d == 1)) wrong++;
    if (c.problem == DP_EDIT && (int)(edge[words + r / 32] >> (r % 32) & 1) != (d == -1)) wrong++;
  }
  check(wrong == 0, "bits of the right edge", hi, m, wrong);
}

/* The last row by dp_bits_row_get, put into a fresh band, goes on as before. */
static tsl_err check_row(dp_problem problem, const text_t &a, const text_t &b,
                         const std::vector<int> &t) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size(), words = (m + 31) / 32;
  const int64_t half = n / 2;
  std::vector<uint32_t> bits((size_t)(2 * words + 1));
  dp_bits *band = NULL;
  int64_t sum = 0, wrong = 0;
  TSL_TRY(dp_bits_open(&card, problem, a.data(), n, b.data(), m, 2, &band));
  TSL_TRY(dp_bits_tile(band, 0, half, NULL, NULL, false));
  TSL_TRY(dp_bits_row_get(band, bits.data()));
  for (int64_t j = 0; j < m; j++) {
    const int d = t[half * (m + 1) + j + 1] - t[half * (m + 1) + j];
    if ((int)(bits[j / 32] >> (j % 32) & 1) != (d == 1)) wrong++;
    if (problem == DP_EDIT && (int)(bits[words + j / 32] >> (j % 32) & 1) != (d == -1)) wrong++;
  }
  check(wrong == 0, "bits of a row", n, m, wrong);
  TSL_TRY(dp_bits_begin(band));
  TSL_TRY(dp_bits_row_put(band, bits.data()));
  TSL_TRY(dp_bits_tile(band, half, n, NULL, NULL, false));
  TSL_TRY(dp_bits_sum(band, &sum));
  check(sum == t[n * (m + 1) + m] - t[n * (m + 1)], "value after a row is put back", n, m, sum);
done:
  dp_bits_close(&band);
  return err;
}

/* Walk back through two kept row chunks of two bands. */
static tsl_err check_trace(dp_problem problem, dp_random &r, const text_t &a, const text_t &b,
                           const std::vector<int> &t) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)a.size(), m = (int64_t)b.size();
  const std::vector<int64_t> rows = random_cuts(r, n, 2), columns = random_cuts(r, m, 2);
  const std::vector<dp_pair> wanted = way_of(problem, a, b, t);
  std::vector<dp_pair> got, some((size_t)(std::min(n, m) + 1));
  std::vector<uint32_t> edge[2];
  int64_t i = n, j = m;
  dp_bits *band[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++)
    TSL_TRY(dp_bits_open(&card, problem, a.data(), n, b.data() + columns[k],
                         columns[k + 1] - columns[k], 0, &band[k]));
  for (int chunk = 1; chunk >= 0; chunk--) {
    for (int k = 0; k < 2; k++) {
      TSL_TRY(dp_bits_begin(band[k]));
      for (int c = 0; c <= chunk; c++) {
        std::vector<uint32_t> right((size_t)(2 * ((rows[c + 1] - rows[c] + 31) / 32)) + 1);
        TSL_TRY(dp_bits_tile(band[k], rows[c], rows[c + 1], k == 0 ? NULL : edge[c].data(),
                             right.data(), c == chunk));
        if (k == 0) edge[c] = right;
      }
    }
    for (int k = 1; k >= 0; k--) {
      int64_t count = 0, column = j - columns[k];
      if (column <= 0 || i <= rows[chunk]) continue;
      TSL_TRY(dp_bits_trace(band[k], &i, &column, some.data(), (int64_t)some.size(), &count));
      j = column + columns[k];
      for (int64_t p = 0; p < count; p++) got.push_back({some[p].row, some[p].column + columns[k]});
    }
  }
  check(got.size() == wanted.size() && std::equal(got.begin(), got.end(), wanted.begin(),
                                                  [](const dp_pair &x, const dp_pair &y) {
                                                    return x.row == y.row && x.column == y.column;
                                                  }),
        "way back", n, m, (long long)got.size() - (long long)wanted.size());
done:
  for (int k = 0; k < 2; k++) dp_bits_close(&band[k]);
  return err;
}

static tsl_err check_sizes(dp_problem problem, int64_t n, int64_t m, int letters) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)(n * 1000003 + m * 101 + letters));
  const text_t a = random_text(r, n, letters), b = relative_of(r, a, m, letters);
  const std::vector<int> t = table_of(problem, a, b);
  const int64_t wanted = t[(size_t)(n * (m + 1) + m)] - t[(size_t)(n * (m + 1))];
  const int tries = small_sizes ? 2 : 5;
  for (int k = 0; k < tries; k++) {
    bits_case c = {problem, k == 0 ? 0 : 1 << (k % 3), {0, n}, {0, m}};
    std::vector<uint32_t> edge;
    int64_t sum = 0;
    if (k > 0) c.rows = random_cuts(r, n, k), c.columns = random_cuts(r, m, k);
    TSL_TRY(run_tiles(c, a, b, &sum, &edge));
    check(sum == wanted, problem == DP_LCS ? "LCS" : "edit distance", n, m, sum - wanted);
    check_edge(c, t, m, edge);
  }
  TSL_TRY(check_row(problem, a, b, t));
  TSL_TRY(check_trace(problem, r, a, b, t));
done:
  return err;
}

/* Large enough for many strips at once; the value alone, by rows on the host. */
static tsl_err check_large(dp_problem problem, int64_t n, int64_t m, int letters, int words) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)(n + m));
  const text_t a = random_text(r, n, letters), b = relative_of(r, a, m, letters);
  std::vector<int> row((size_t)(m + 1));
  const bool lcs = problem == DP_LCS;
  int64_t sum = 0;
  for (int64_t j = 0; j <= m; j++) row[j] = lcs ? 0 : (int)j;
  for (int64_t i = 0; i < n; i++) {
    int diagonal = row[0];
    if (!lcs) row[0]++;
    for (int64_t j = 1; j <= m; j++) {
      const int up = row[j], same = a[i] == b[j - 1];
      row[j] = lcs ? std::max(diagonal + same, std::max(up, row[j - 1]))
                   : std::min(diagonal + !same, std::min(up, row[j - 1]) + 1);
      diagonal = up;
    }
  }
  for (int cuts = 1; cuts <= 3; cuts += 2) {
    const bits_case c = {problem, words, random_cuts(r, n, cuts), random_cuts(r, m, cuts)};
    TSL_TRY(run_tiles(c, a, b, &sum, NULL));
    check(sum == row[m] - row[0], "large", n, m, sum);
  }
done:
  return err;
}

tsl_err test_bits(void) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> full = {0, 1, 2, 31, 32, 33, 127, 509, 1024, 2003};
  const std::vector<int64_t> small = {0, 1, 37, 300};
  const std::vector<int64_t> &sizes = small_sizes ? small : full;
  for (dp_problem problem : {DP_LCS, DP_EDIT})
    for (int64_t n : sizes)
      for (int64_t m : sizes)
        for (int letters : {4, 16, 40, 256})
          if (letters == 4 || n == m || (n > 30 && m > 500))
            TSL_TRY(check_sizes(problem, n, m, letters));
  for (dp_problem problem : {DP_LCS, DP_EDIT}) {
    TSL_TRY(check_sizes(problem, small_sizes ? 90 : 700, small_sizes ? 2100 : 9001, 4));
    if (small_sizes) continue;
    TSL_TRY(check_large(problem, 3001, 400003, 4, 1));
    TSL_TRY(check_large(problem, 2003, 400003, 5, 2));
    TSL_TRY(check_large(problem, 1777, 600011, 60, 4));
    TSL_TRY(check_large(problem, 1777, 300007, 256, 4));
  }
done:
  return err;
}
