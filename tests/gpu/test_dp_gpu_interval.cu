/* Matrix chain, optimal search tree and Nussinov on a card. */
#include "test_dp_gpu.cuh"

/* An instance and its triangle by plain loops. */
typedef struct instance {
  dp_interval_input in;
  std::vector<int64_t> dims, keys, gaps, high, low;
  std::vector<double> real_high, real_low, real_gaps; /* whole numbers, which are exact */
  std::vector<uint8_t> letters;
  int64_t posts;
  std::vector<int64_t> x; /* [posts][posts] */
} instance;

static int64_t weight(const instance &s, int64_t a, int64_t b) {
  int64_t sum = 0;
  for (int64_t t = a + 1; t < b; t++) sum += s.keys[t - 1];
  for (int64_t t = a; t < b; t++) sum += s.gaps[t];
  return sum;
}

static bool may_pair(const instance &s, int64_t a, int64_t b) {
  return b - 1 - a > s.in.loop && (s.in.pairs[s.letters[a]] >> s.letters[b - 1] & 1) != 0;
}

static int64_t candidate(const instance &s, int64_t a, int64_t k, int64_t b) {
  const int64_t v = s.x[a * s.posts + k] + s.x[k * s.posts + b];
  return s.in.problem == DP_MATRIX_CHAIN ? v + s.dims[a] * s.dims[k] * s.dims[b] : v;
}

static int64_t cell(const instance &s, int64_t a, int64_t b) {
  const bool most = s.in.problem == DP_NUSSINOV, tree = s.in.problem == DP_SEARCH_TREE;
  int64_t best = candidate(s, a, a + 1, b);
  for (int64_t k = a + 2; k < b; k++) {
    const int64_t v = candidate(s, a, k, b);
    best = most ? std::max(best, v) : std::min(best, v);
  }
  if (most && may_pair(s, a, b)) best = std::max(best, s.x[(a + 1) * s.posts + b - 1] + 1);
  return tree ? best + weight(s, a, b) : best;
}

static void fill(instance &s) {
  s.x.assign((size_t)(s.posts * s.posts), 0);
  for (int64_t d = 1; d < s.posts; d++)
    for (int64_t a = 0; a + d < s.posts; a++) {
      int64_t &v = s.x[a * s.posts + a + d];
      if (d == 1)
        v = s.in.problem == DP_SEARCH_TREE ? s.gaps[a] : 0;
      else
        v = cell(s, a, a + d);
    }
}

/* Sums of weights: (a, b) weighs high[b] - low[a]; n % 5 == 1: as doubles, where they are exact. */
static void add_sums(instance &s) {
  int64_t sum = 0;
  for (int64_t a = 0; a <= s.in.n + 1; a++) {
    s.high.push_back(sum);
    if (a > 0 && a <= s.in.n) sum += s.keys[a - 1];
    s.low.push_back(sum);
    if (a <= s.in.n) sum += s.gaps[a];
  }
  s.real_high.assign(s.high.begin(), s.high.end());
  s.real_low.assign(s.low.begin(), s.low.end());
  s.real_gaps.assign(s.gaps.begin(), s.gaps.end());
  s.in.real = s.in.problem == DP_SEARCH_TREE && s.in.n % 5 == 1 && sum < 1 << 30;
  s.in.high = s.in.real ? (const void *)s.real_high.data() : s.high.data();
  s.in.low = s.in.real ? (const void *)s.real_low.data() : s.low.data();
  s.in.base = s.in.real ? (const void *)s.real_gaps.data() : s.gaps.data();
}

/* big: values that need more than 53 bits. */
static void make(instance &s, dp_problem problem, int64_t n, bool big, bool even) {
  dp_random r((uint64_t)(n * 7 + problem));
  const int64_t most = !big ? 1000 : problem == DP_MATRIX_CHAIN ? 100000 : (int64_t)1 << 40;
  s.in = dp_interval_input{};
  s.in.problem = problem;
  s.in.n = n;
  s.posts = n + (problem == DP_SEARCH_TREE ? 2 : 1);
  for (int64_t k = 0; k <= n; k++) {
    s.dims.push_back(even ? 7 : 1 + r.below(most));
    s.keys.push_back(even ? 1 : r.below(most));
    s.gaps.push_back(even ? 1 : r.below(most));
    s.letters.push_back((uint8_t)r.below(4));
  }
  s.in.dims = s.dims.data();
  if (n % 3 == 0) s.gaps.assign((size_t)(n + 1), 0);
  add_sums(s);
  s.in.letters = s.letters.data();
  s.in.loop = even ? 0 : (int)(n % 4);
  s.in.pairs[0] = 1u << 3; /* A-U, G-C, G-U */
  s.in.pairs[1] = 1u << 2;
  s.in.pairs[2] = 1u << 1 | 1u << 3;
  s.in.pairs[3] = 1u << 0 | 1u << 2;
  fill(s);
}

/* Values of the whole triangle against the loops. */
template <class O> static tsl_err check_values(const instance &s, dp_interval *w) {
  tsl_err err = TSL_OK;
  const int64_t lo[2] = {0, 0}, hi[2] = {s.posts, s.posts};
  std::vector<O> got((size_t)(s.posts * s.posts));
  int64_t wrong = 0;
  TSL_TRY(dp_interval_get(w, lo, hi, got.data()));
  for (size_t at = 0; at < got.size(); at++) wrong += got[at] != (O)s.x[at];
  check(wrong == 0, "triangle", s.in.problem, s.in.n, wrong);
done:
  return err;
}

static tsl_err check_all(const instance &s, dp_interval *w) {
  if (s.in.real) return check_values<double>(s, w);
  return s.in.problem == DP_NUSSINOV ? check_values<int32_t>(s, w) : check_values<int64_t>(s, w);
}

/* The solution by the rule of dp_gpu.cuh. */
static void solve(const instance &s, int64_t a, int64_t b, std::vector<int64_t> &first,
                  std::vector<int64_t> &second) {
  const int64_t value = s.x[a * s.posts + b];
  const bool pairs = s.in.problem == DP_NUSSINOV;
  if (b - a < 2 || (pairs && value == 0)) return;
  const int64_t own = s.in.problem == DP_SEARCH_TREE ? weight(s, a, b) : 0;
  for (int64_t k = a + 1; k < b; k++) {
    if (candidate(s, a, k, b) + own != value) continue;
    if (!pairs) first[k] = a, second[k] = b;
    solve(s, a, k, first, second);
    solve(s, k, b, first, second);
    return;
  }
  first[a] = b - 1;
  first[b - 1] = a;
  solve(s, a + 1, b - 1, first, second);
}

static tsl_err check_solution(const instance &s, dp_interval *w) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> first((size_t)s.posts, -1), second((size_t)s.posts, -1);
  std::vector<int64_t> got_first((size_t)s.posts), got_second((size_t)s.posts);
  solve(s, 0, s.posts - 1, first, second);
  TSL_TRY(dp_interval_trace(w, got_first.data(), got_second.data()));
  check(first == got_first && second == got_second, "solution", s.in.problem, s.in.n);
done:
  return err;
}

/* Boxes of `step` tiles on three cards' worth of workers, which pass on what others need. */
static tsl_err check_boxes(const instance &s, int64_t step) {
  enum { WORKERS = 3 };
  tsl_err err = TSL_OK;
  dp_interval *w[WORKERS] = {};
  const int64_t box = step * DP_INTERVAL_TILE, boxes = tsl_ceil_div(s.posts, box);
  std::vector<int64_t> values((size_t)(box * box));
  for (int k = 0; k < WORKERS; k++) TSL_TRY(dp_interval_open(&card, &s.in, &w[k]));
  for (int64_t d = 0; d < boxes; d++)
    for (int64_t i = 0; i + d < boxes; i++) {
      const int64_t lo[2] = {i * box, (i + d) * box};
      const int64_t hi[2] = {std::min(lo[0] + box, s.posts), std::min(lo[1] + box, s.posts)};
      const int owner = (int)((i + 2 * d) % WORKERS);
      TSL_TRY(dp_interval_box(w[owner], lo, hi));
      TSL_TRY(dp_interval_get(w[owner], lo, hi, values.data()));
      for (int k = 0; k < WORKERS; k++)
        if (k != owner) TSL_TRY(dp_interval_put(w[k], lo, hi, values.data()));
    }
  for (int k = 0; k < WORKERS; k++) TSL_TRY(check_all(s, w[k]));
done:
  for (int k = 0; k < WORKERS; k++) dp_interval_close(&w[k]);
  return err;
}

static tsl_err check_instance(dp_problem problem, int64_t n, bool big, bool even) {
  tsl_err err = TSL_OK;
  instance s;
  dp_interval *w = NULL;
  int64_t value = 0;
  double real = 0;
  make(s, problem, n, big, even);
  const int64_t lo[2] = {0, 0}, hi[2] = {s.posts, s.posts};
  TSL_TRY(dp_interval_open(&card, &s.in, &w));
  for (int again = 0; again < 2; again++) {
    TSL_TRY(dp_interval_begin(w));
    TSL_TRY(dp_interval_box(w, lo, hi));
    TSL_TRY(check_all(s, w));
  }
  TSL_TRY(dp_interval_value(w, 0, s.posts - 1, s.in.real ? (void *)&real : &value));
  if (s.in.real) value = (int64_t)real;
  check(value == s.x[s.posts - 1], "value", problem, n, value);
  TSL_TRY(check_solution(s, w));
  if (n > 0) TSL_TRY(check_boxes(s, n < 500 ? 1 : 2));
done:
  dp_interval_close(&w);
  return err;
}

/* Known answers that need no table: equal dimensions, and G^k A^m C^k. */
static tsl_err check_known(int64_t n) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> dims((size_t)(n + 1), 11);
  std::vector<uint8_t> letters((size_t)n, 0);
  dp_interval_input in = {};
  dp_interval *w = NULL;
  int64_t value = 0;
  const int64_t zero[2] = {0, 0}, end[2] = {n + 1, n + 1};
  in.problem = DP_MATRIX_CHAIN;
  in.n = n;
  in.dims = dims.data();
  TSL_TRY(dp_interval_open(&card, &in, &w));
  TSL_TRY(dp_interval_box(w, zero, end));
  TSL_TRY(dp_interval_value(w, 0, n, &value));
  check(value == (n - 1) * 11 * 11 * 11, "equal dimensions", n, value);
  dp_interval_close(&w);
  for (int64_t k = 0; k < n / 3; k++) letters[k] = 2, letters[n - 1 - k] = 1;
  in.problem = DP_NUSSINOV;
  in.letters = letters.data();
  in.pairs[1] = 1u << 2;
  in.pairs[2] = 1u << 1;
  TSL_TRY(dp_interval_open(&card, &in, &w));
  TSL_TRY(dp_interval_box(w, zero, end));
  TSL_TRY(dp_interval_value(w, 0, n, &value));
  check(value == n / 3, "G^k A^m C^k", n, value);
done:
  dp_interval_close(&w);
  return err;
}

static void check_refusals(void) {
  const int64_t dims[] = {(int64_t)1 << 30, (int64_t)1 << 30, (int64_t)1 << 30};
  const int64_t negative[] = {3, -1, 2};
  dp_interval_input in = {};
  dp_interval *w = NULL;
  in.problem = DP_MATRIX_CHAIN;
  in.n = 2;
  in.dims = dims;
  check(dp_interval_open(&card, &in, &w) == TSL_ERR_INPUT && w == NULL, "values beyond 62 bits");
  in.dims = negative;
  check(dp_interval_open(&card, &in, &w) == TSL_ERR_INPUT && w == NULL, "negative dimension");
}

tsl_err test_interval(void) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> full = {0, 1, 2, 3, 61, 62, 63, 64, 65, 127, 128, 211, 509, 700};
  const std::vector<int64_t> small = {0, 1, 2, 5, 70, 211};
  check_refusals();
  for (dp_problem problem : {DP_MATRIX_CHAIN, DP_SEARCH_TREE, DP_NUSSINOV})
    for (int64_t n : small_sizes ? small : full) {
      TSL_TRY(check_instance(problem, n, false, false));
      if (n == 70 || n == 509) TSL_TRY(check_instance(problem, n, false, true));
      if (problem != DP_NUSSINOV) TSL_TRY(check_instance(problem, n, true, false));
    }
  TSL_TRY(check_known(small_sizes ? 200 : 6000));
done:
  return err;
}
