/* Edit distances of sequences, for test_tri_gpu.cu: the card beside tables filled cell by cell. */
#ifndef TEST_TRI_GPU_LETTERS_CUH
#define TEST_TRI_GPU_LETTERS_CUH

#include "test_tri_gpu_check.cuh"
#include "tri_letters.h"

/* Sequences of a problem of one set, or of two: the other's come first. */
template <class R> struct letters_data {
  tri_params p = {};
  tsl_problem problem = {};
  std::vector<uint8_t> codes;
  std::vector<int64_t> starts;

  letters_data(const std::vector<int64_t> &lengths, int64_t columns, int n_codes) {
    const int64_t n = (int64_t)lengths.size();
    p.function = TRI_EDIT;
    p.output = TRI_CONDENSED;
    p.type = sizeof(R) == 4 ? TSL_F32 : TSL_F64;
    p.two = columns > 0;
    p.columns = columns;
    p.first = (columns + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
    p.n = p.first + n - columns;
    p.n_pad = (p.n + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
    p.codes = n_codes;
    starts.push_back(0);
    for (int64_t place = 0, k = 0; place < p.n_pad; place++) {
      const bool there = place < columns || (place >= p.first && place < p.n);
      if (there) add(lengths[(size_t)k++], place);
      starts.push_back((int64_t)codes.size());
    }
    bind();
  }

  /* Made up; every third one a copy of the one before it with some letters changed. */
  void add(int64_t length, int64_t place) {
    const int64_t before = place > 0 ? starts[(size_t)place - 1] : 0;
    const int64_t there = starts[(size_t)place] - before;
    p.longest = std::max(p.longest, length);
    for (int64_t k = 0; k < length; k++) {
      const uint64_t draw = (uint64_t)(place * 100003 + k);
      const bool copied = place % 3 == 2 && k < there && random_at(draw) < 0.9;
      codes.push_back(copied ? codes[(size_t)(before + k)]
                             : (uint8_t)(random_at(draw ^ 0x5555) * p.codes));
    }
  }

  void bind() {
    tsl_field *f = problem.fields;
    problem.params = &p;
    problem.params_bytes = sizeof p;
    problem.n_fields = TRI_OUT + 1;
    f[TRI_POINTS].rank = 2;
    f[TRI_POINTS].shape[1] = p.n_pad;
    f[TRI_POINTS].shape[2] = 1;
    f[TRI_POINTS].type = f[TRI_EXTRAS].type = p.type;
    f[TRI_EXTRAS].rank = 1;
    f[TRI_EXTRAS].shape[1] = f[TRI_EXTRAS].shape[2] = 1;
    f[TRI_LETTERS].data = codes.data();
    f[TRI_STARTS].data = starts.data();
  }

  /* Wagner and Fischer 1974, a column at a time. */
  int distance(int64_t i, int64_t j) const {
    const uint8_t *const a = codes.data() + starts[(size_t)i], *b = codes.data();
    const int64_t n = starts[(size_t)i + 1] - starts[(size_t)i];
    std::vector<int> column((size_t)n + 1);
    for (int64_t k = 0; k <= n; k++) column[(size_t)k] = (int)k;
    for (int64_t t = starts[(size_t)j]; t < starts[(size_t)j + 1]; t++) {
      int corner = column[0]++;
      for (int64_t k = 0; k < n; k++) {
        const int least = std::min(column[(size_t)k], column[(size_t)k + 1]) + 1;
        const int here = std::min(least, corner + (a[k] != b[t]));
        corner = column[(size_t)k + 1];
        column[(size_t)k + 1] = here;
      }
    }
    return column[(size_t)n];
  }
};

/* Rows [lo, hi) of condensed output beside the tables. */
template <class R>
static tsl_err letters_rows(const tri_case *c, letters_data<R> *data, tsl_worker *worker,
                            int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const tri_params *p = &data->p;
  const int64_t values =
      p->two ? (hi - lo) * p->columns : tri_condensed_row(p->n, hi) - tri_condensed_row(p->n, lo);
  tsl_unit unit = {};
  tsl_part part = {};
  unit.lo[0] = lo, unit.hi[0] = hi;
  TSL_TRY(
      backend->host_alloc(std::max<int64_t>(values, 1) * (int64_t)sizeof(R), &part.slab[TRI_OUT]));
  TSL_TRY(backend->run(worker, &unit, 1, &part));
  for (int64_t i = lo, at = 0; i < hi; i++)
    for (int64_t j = p->two ? 0 : i + 1; j < (p->two ? p->columns : p->n); j++, at++) {
      const double got = (double)((const R *)part.slab[TRI_OUT])[at];
      const double want = data->distance(p->first + i, j);
      n_checks++;
      if (got != want) report(c, 0, "edit", i * p->n + j, got, want);
    }
done:
  backend->host_free(part.slab[TRI_OUT]);
  return err;
}

template <class R>
static tsl_err letters_case(const std::vector<int64_t> &lengths, int64_t columns, int n_codes) {
  tsl_err err = TSL_OK;
  letters_data<R> data(lengths, columns, n_codes);
  const tri_case c = {TRI_EDIT, TRI_CONDENSED, data.p.type, (int64_t)lengths.size(), 0, 0, 0};
  const int64_t rows = data.p.n - data.p.first, cuts[] = {0, rows / 5, rows / 5 + 1, rows};
  tsl_worker *worker = NULL;
  TSL_TRY(backend->open(&data.problem, &device, &worker));
  TSL_TRY(backend->begin(worker, 0));
  for (int k = 0; k < 3; k++) TSL_TRY(letters_rows(&c, &data, worker, cuts[k], cuts[k + 1]));
done:
  backend->close(&worker);
  return err;
}

/* Lengths about words of 32 letters, and about the 256 and 1024 where kernels and passes change. */
static tsl_err test_letters(void) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> ends, many, longer = {1023, 1024, 1025, 2047, 2049, 3100, 7, 200};
  for (int64_t words = 0; words <= 9; words++)
    for (int64_t more = -1; more <= 1; more++)
      if (32 * words + more > 0) ends.push_back(32 * words + more);
  for (int64_t k = 0; k < 4500; k++) many.push_back(1 + (int64_t)(40 * random_at((uint64_t)k)));
  for (int codes : {2, 5, 24, 256}) {
    TSL_TRY(letters_case<float>(ends, 0, codes));
    TSL_TRY(letters_case<double>(ends, 11, codes));
  }
  TSL_TRY(letters_case<float>(longer, 0, 4));
  TSL_TRY(letters_case<double>(longer, 3, 4));
  TSL_TRY(letters_case<float>(many, 4400, 4));
  TSL_TRY(letters_case<float>({5}, 0, 4));
done:
  return err;
}

#endif
