/* Knapsacks and the other row sweeps on a card. */
#include "test_dp_gpu.cuh"

typedef std::vector<int64_t> list_t;

typedef struct knapsack {
  bool unbounded;
  list_t w, v;
  int64_t capacity;
} knapsack;

/* Rows after each item, [n + 1][capacity + 1]. */
static std::vector<list_t> rows_of(const knapsack &k) {
  std::vector<list_t> rows(1, list_t((size_t)(k.capacity + 1), 0));
  for (size_t i = 0; i < k.w.size(); i++) {
    list_t row = rows.back();
    const list_t &before = rows.back();
    for (int64_t c = k.w[i]; c <= k.capacity; c++) {
      const int64_t from = (k.unbounded ? row : before)[c - k.w[i]] + k.v[i];
      if (from > row[c]) row[c] = from;
    }
    rows.push_back(row);
  }
  return rows;
}

static knapsack make(dp_random &r, bool unbounded, int64_t n, int64_t capacity, int64_t heaviest,
                     int64_t dearest) {
  knapsack k = {unbounded, {}, {}, capacity};
  for (int64_t i = 0; i < n; i++) {
    k.w.push_back((unbounded ? 1 : 0) + r.below(heaviest));
    k.v.push_back(r.below(dearest));
  }
  return k;
}

static tsl_err open_bands(const knapsack &k, const list_t &cuts,
                          std::vector<dp_knapsack *> &bands) {
  tsl_err err = TSL_OK;
  for (size_t b = 0; b + 1 < cuts.size(); b++) {
    dp_knapsack *band = NULL;
    TSL_TRY(dp_knapsack_open(&card, k.unbounded ? DP_KNAPSACK_UNBOUNDED : DP_KNAPSACK,
                             (int64_t)k.w.size(), k.w.data(), k.v.data(), cuts[b],
                             cuts[b + 1] - cuts[b], &band));
    bands.push_back(band);
  }
done:
  return err;
}

/* The last row of all bands, [0, upto). */
static tsl_err gather(const list_t &cuts, const std::vector<dp_knapsack *> &bands, list_t &row) {
  tsl_err err = TSL_OK;
  row.assign((size_t)cuts.back() + 1, 0);
  for (size_t b = 0; b < bands.size(); b++)
    TSL_TRY(dp_knapsack_get(bands[b], cuts[b], cuts[b + 1], row.data() + cuts[b]));
done:
  return err;
}

/* Items lo..hi-1 on all bands, from the right so that each finds the row before to its left. */
static tsl_err step(const list_t &cuts, const std::vector<dp_knapsack *> &bands, int64_t lo,
                    int64_t hi, bool keep) {
  tsl_err err = TSL_OK;
  list_t row;
  TSL_TRY(gather(cuts, bands, row));
  for (size_t b = 0; b < bands.size(); b++) {
    const int64_t halo = dp_knapsack_halo(bands[b], lo, hi);
    TSL_TRY(
        dp_knapsack_items(bands[b], lo, hi, halo > 0 ? row.data() + cuts[b] - halo : NULL, keep));
  }
done:
  return err;
}

/* How often the loops take each item, by the rule of dp_gpu.cuh. */
static list_t taken_of(const knapsack &k, const std::vector<list_t> &rows) {
  list_t taken(k.w.size(), 0);
  int64_t c = k.capacity;
  for (size_t i = k.w.size(); i > 0;) {
    if (rows[i][c] > rows[i - 1][c]) {
      taken[i - 1]++;
      c -= k.w[i - 1];
      if (k.unbounded) continue;
    }
    i--;
  }
  return taken;
}

/* Items in two kept chunks, walked back over the bands. */
static tsl_err check_taken(const knapsack &k, const std::vector<list_t> &rows, const list_t &cuts,
                           const std::vector<dp_knapsack *> &bands) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)k.w.size(), half = n / 3;
  const int64_t lo[2] = {0, half}, hi[2] = {half, n};
  list_t got((size_t)n, 0), part((size_t)n + 1);
  int64_t item = n, capacity = k.capacity;
  for (int chunk = 1; chunk >= 0; chunk--) {
    for (dp_knapsack *band : bands) TSL_TRY(dp_knapsack_begin(band));
    if (chunk == 1) TSL_TRY(step(cuts, bands, 0, half, false));
    TSL_TRY(step(cuts, bands, lo[chunk], hi[chunk], true));
    for (size_t b = bands.size(); b-- > 0;) {
      if (capacity < cuts[b] || item <= lo[chunk]) continue;
      TSL_TRY(dp_knapsack_trace(bands[b], &item, &capacity, part.data()));
      for (int64_t i = lo[chunk]; i < hi[chunk]; i++) got[i] += part[i - lo[chunk]];
    }
  }
  check(got == taken_of(k, rows), "taken items", n, k.capacity);
done:
  return err;
}

static tsl_err check_knapsack(dp_random &r, const knapsack &k) {
  tsl_err err = TSL_OK;
  const std::vector<list_t> rows = rows_of(k);
  const int64_t n = (int64_t)k.w.size();
  std::vector<dp_knapsack *> bands;
  list_t cuts, row;
  for (int pieces = 1; pieces <= 3; pieces++) {
    const std::vector<int64_t> items = random_cuts(r, n, pieces);
    cuts = random_cuts(r, k.capacity + 1, pieces);
    TSL_TRY(open_bands(k, cuts, bands));
    for (size_t p = 0; p + 1 < items.size(); p++) {
      TSL_TRY(step(cuts, bands, items[p], items[p + 1], false));
      TSL_TRY(gather(cuts, bands, row));
      row.pop_back();
      check(row == rows[items[p + 1]], k.unbounded ? "unbounded knapsack" : "knapsack", n,
            k.capacity, items[p + 1]);
    }
    TSL_TRY(check_taken(k, rows, cuts, bands));
    for (dp_knapsack *&band : bands) dp_knapsack_close(&band);
    bands.clear();
  }
done:
  for (dp_knapsack *&band : bands) dp_knapsack_close(&band);
  return err;
}

static void check_refusals(void) {
  const int64_t one[] = {1}, zero[] = {0}, minus[] = {-1}, huge[] = {INT64_MAX / 2 + 2};
  dp_knapsack *band = NULL;
  check(dp_knapsack_open(&card, DP_KNAPSACK, 1, minus, one, 0, 9, &band) == TSL_ERR_INPUT,
        "negative weight");
  check(dp_knapsack_open(&card, DP_KNAPSACK, 1, one, huge, 0, 9, &band) == TSL_ERR_INPUT,
        "value beyond 62 bits");
  check(dp_knapsack_open(&card, DP_KNAPSACK_UNBOUNDED, 1, zero, one, 0, 9, &band) == TSL_ERR_INPUT,
        "weight 0 without end");
}

static tsl_err test_knapsack(void) {
  tsl_err err = TSL_OK;
  dp_random r(11);
  const int64_t capacities[] = {0, 1, 37, 1009, 8192, 20011};
  check_refusals();
  for (int unbounded = 0; unbounded < 2; unbounded++)
    for (int64_t n : {0, 1, 2, 17, 60})
      for (int64_t capacity : capacities)
        for (int64_t dearest : {10, 1000, 1 << 30}) {
          if (small_sizes && (capacity > 10000 || dearest == 10 || n == 17)) continue;
          const int64_t heaviest = dearest == 10 ? 30 : dearest == 1000 ? 900 : capacity + 2;
          TSL_TRY(check_knapsack(r, make(r, unbounded, n, capacity, heaviest, dearest)));
        }
  if (small_sizes) goto done;
  TSL_TRY(check_knapsack(r, make(r, false, 40, 1000003, 5000, 1000)));
  TSL_TRY(check_knapsack(r, make(r, false, 40, 1000003, 400000, (int64_t)1 << 40)));
done:
  return err;
}

tsl_err test_rows(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(test_knapsack());
done:
  return err;
}
