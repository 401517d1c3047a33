/* Binomial coefficients, resource allotment and stagecoach on a card. */
#include "dp_sweep_band.cuh"
#include "test_dp_gpu.cuh"

/* All columns of the last row from the bands. */
template <class T>
static tsl_err gather(const std::vector<int64_t> &cuts, const std::vector<dp_sweep *> &bands,
                      std::vector<T> &row) {
  tsl_err err = TSL_OK;
  row.assign((size_t)cuts.back() + 1, 0);
  for (size_t b = 0; b < bands.size(); b++) TSL_TRY(dp_sweep_get(bands[b], row.data() + cuts[b]));
  row.pop_back();
done:
  return err;
}

static void close_all(std::vector<dp_sweep *> &bands) {
  for (dp_sweep *&band : bands) dp_sweep_close(&band);
  bands.clear();
}

/* Rows lo + 1 .. hi on all bands. */
template <class T>
static tsl_err step(const std::vector<int64_t> &cuts, const std::vector<dp_sweep *> &bands,
                    bool whole, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  std::vector<T> row;
  TSL_TRY(gather(cuts, bands, row));
  for (size_t b = 0; b < bands.size(); b++) {
    const int64_t halo = dp_sweep_halo(bands[b], lo, hi);
    const T *others = whole ? row.data() : row.data() + cuts[b] - halo;
    TSL_TRY(dp_sweep_rows(bands[b], lo, hi, halo > 0 ? others : NULL));
  }
done:
  return err;
}

/* Row n of Pascal's triangle, columns 0..k, modulo p. */
static std::vector<int64_t> pascal(int64_t n, int64_t k, int64_t p) {
  std::vector<int64_t> row((size_t)(k + 1), 0);
  row[0] = 1 % p;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = k; j > 0; j--)
      row[j] = (int64_t)(((unsigned __int128)row[j] + (unsigned __int128)row[j - 1]) %
                         (unsigned __int128)p);
  return row;
}

static tsl_err check_binomial(dp_random &r, int64_t n, int64_t k, int64_t modulus) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> wanted = pascal(n, k, modulus);
  std::vector<dp_sweep *> bands;
  for (int pieces = 1; pieces <= 3; pieces++) {
    const std::vector<int64_t> cuts = random_cuts(r, k + 1, pieces),
                               rows = random_cuts(r, n, pieces);
    std::vector<int64_t> got;
    for (size_t b = 0; b + 1 < cuts.size(); b++) {
      dp_sweep *band = NULL;
      TSL_TRY(dp_sweep_open_binomial(&card, n, k, modulus, cuts[b], cuts[b + 1] - cuts[b], &band));
      bands.push_back(band);
    }
    for (size_t p = 0; p + 1 < rows.size(); p++)
      TSL_TRY(step<int64_t>(cuts, bands, false, rows[p], rows[p + 1]));
    TSL_TRY(gather(cuts, bands, got));
    check(got == wanted, "binomial", n, k, modulus);
    close_all(bands);
  }
done:
  close_all(bands);
  return err;
}

/* Exact: what fits is right although cells beside it do not fit; what does not fit is refused. */
static tsl_err check_exact(int64_t n, int64_t k, int64_t wanted) {
  tsl_err err = TSL_OK, failed = TSL_OK;
  dp_sweep *band = NULL;
  std::vector<int64_t> row((size_t)(k + 1));
  TSL_TRY(dp_sweep_open_binomial(&card, n, k, 0, 0, k + 1, &band));
  failed = dp_sweep_rows(band, 0, n, NULL);
  if (wanted < 0) {
    check(failed == TSL_ERR_NUMERIC, "binomial beyond 64 bits", n, k);
    goto done;
  }
  TSL_TRY(failed);
  TSL_TRY(dp_sweep_get(band, row.data()));
  check(row[(size_t)k] == wanted, "exact binomial", n, k, row[(size_t)k]);
done:
  dp_sweep_close(&band);
  return err;
}

static tsl_err test_binomial(void) {
  tsl_err err = TSL_OK;
  dp_random r(3);
  for (int64_t n : {0, 1, 2, 37, 700})
    for (int64_t k : {0, 1, 37, 1009, 5003}) {
      if (small_sizes && (n > 500 || k > 2000)) continue;
      TSL_TRY(check_binomial(r, n, k, 1000003));
      TSL_TRY(check_binomial(r, n, k, ((int64_t)1 << 62) + 57));
      TSL_TRY(check_binomial(r, n, k, 1));
    }
  TSL_TRY(check_exact(0, 0, 1));
  TSL_TRY(check_exact(3, 5, 0));
  TSL_TRY(check_exact(66, 33, 7219428434016265740LL));
  TSL_TRY(check_exact(70, 65, 12103014)); /* C(70, 35) does not fit */
  TSL_TRY(check_exact(67, 33, -1));
  TSL_TRY(check_exact(1000, 999, 1000));
done:
  return err;
}

/* Values with ties; whole numbers in all types. */
template <class T> static std::vector<T> random_values(dp_random &r, int64_t n, int64_t below) {
  std::vector<T> list((size_t)n + 1);
  for (T &v : list) v = (T)(r.below(below) - below / 4);
  return list;
}

/* Tables [rows + 1][width] and choices from column. */
template <class T> struct sweep_problem {
  bool stages;
  int64_t rows, width;
  std::vector<T> data, start, t;

  sweep_problem(dp_random &r, bool s, int64_t n, int64_t w, int64_t below)
      : stages(s), rows(n), width(w) {
    data = random_values<T>(r, rows * width * (stages ? width : 1), below);
    start = random_values<T>(r, width, below);
    t.assign((size_t)((rows + 1) * width), 0);
    for (int64_t j = 0; j < width; j++) t[j] = stages ? start[j] : 0;
    for (int64_t i = 1; i <= rows; i++)
      for (int64_t j = 0; j < width; j++) {
        T best = candidate(i, j, 0);
        for (int64_t x = 1; x < (stages ? width : j + 1); x++) {
          const T v = candidate(i, j, x);
          if (stages ? v < best : v > best) best = v;
        }
        t[i * width + j] = best;
      }
  }
  T candidate(int64_t i, int64_t j, int64_t x) const {
    const T *above = t.data() + (i - 1) * width;
    return stages ? above[x] + data[((i - 1) * width + x) * width + j]
                  : above[j - x] + data[(i - 1) * width + x];
  }
  std::vector<int64_t> choices(int64_t j) const {
    std::vector<int64_t> list((size_t)rows);
    for (int64_t i = rows; i > 0; i--) {
      int64_t x = 0;
      while (candidate(i, j, x) != t[i * width + j]) x++;
      list[i - 1] = x;
      j = stages ? x : j - x;
    }
    return list;
  }
  tsl_err open(tsl_type type, int64_t first, int64_t count, bool keep, dp_sweep **band) const {
    return stages ? dp_sweep_open_stagecoach(&card, type, rows + 1, width, data.data(),
                                             start.data(), first, count, keep, band)
                  : dp_sweep_open_allotment(&card, type, rows, width - 1, data.data(), first, count,
                                            keep, band);
  }
};

template <class T>
static tsl_err check_sweep(dp_random &r, const sweep_problem<T> &x, tsl_type type) {
  tsl_err err = TSL_OK;
  const std::vector<T> wanted(x.t.begin() + x.rows * x.width, x.t.end());
  std::vector<dp_sweep *> bands;
  std::vector<int64_t> choices((size_t)x.rows + 1);
  for (int pieces = 1; pieces <= 3; pieces++) {
    const std::vector<int64_t> cuts = random_cuts(r, x.width, pieces);
    std::vector<T> got;
    for (size_t b = 0; b + 1 < cuts.size(); b++) {
      dp_sweep *band = NULL;
      TSL_TRY(x.open(type, cuts[b], cuts[b + 1] - cuts[b], pieces == 1, &band));
      bands.push_back(band);
    }
    for (int64_t i = 0; i < x.rows; i++) TSL_TRY(step<T>(cuts, bands, x.stages, i, i + 1));
    TSL_TRY(gather(cuts, bands, got));
    check(got == wanted, x.stages ? "stagecoach" : "allotment", x.rows, x.width, pieces);
    if (pieces == 1) {
      const int64_t column = r.below(x.width);
      TSL_TRY(dp_sweep_trace(bands[0], column, choices.data()));
      choices.pop_back();
      check(choices == x.choices(column), "choices", x.rows, x.width);
    }
    close_all(bands);
  }
done:
  close_all(bands);
  return err;
}

template <class T> static tsl_err test_type(tsl_type type) {
  tsl_err err = TSL_OK;
  dp_random r(9);
  for (int64_t rows : {0, 1, 2, 7})
    for (int64_t width : {1, 2, 37, 513, 1201}) {
      if (small_sizes && width > 600) continue;
      for (int64_t below : {4, 1000}) {
        const sweep_problem<T> allot(r, false, rows, width, below);
        const sweep_problem<T> stages(r, true, rows, width < 600 ? width : 300, below);
        TSL_TRY(check_sweep(r, allot, type));
        TSL_TRY(check_sweep(r, stages, type));
      }
    }
done:
  return err;
}

tsl_err test_sweep(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(test_binomial());
  TSL_TRY(test_type<int32_t>(TSL_I32));
  TSL_TRY(test_type<int64_t>(TSL_I64));
  TSL_TRY(test_type<float>(TSL_F32));
  TSL_TRY(test_type<double>(TSL_F64));
done:
  return err;
}
