/* Pairs of sequences, for test_tri_gpu.cu: the card beside tables filled cell by cell. */
#pragma once

#include "test_tri_gpu_check.cuh"
#include "tri_letters.h"
#include "tri_traceback.h"

/* Sequences of a problem of one set, or of two: the other's come first. */
template <class R> struct letters_data {
  tri_params p = {};
  tsl_problem problem = {};
  std::vector<uint8_t> codes;
  std::vector<int64_t> starts;
  std::vector<int32_t> scores;

  letters_data(int function, const std::vector<int64_t> &lengths, int64_t columns, int n_codes) {
    const int64_t n = (int64_t)lengths.size();
    p.function = function;
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

  /* A matrix that is not symmetric; the larger `size`, the sooner tables leave 16 bits. */
  void score(int size, int open, int extend) {
    p.open = open, p.extend = extend;
    for (int a = 0; a < p.codes; a++)
      for (int b = 0; b < p.codes; b++) {
        const int s = (int)(random_at((uint64_t)(a * 64 + b)) * 7) - 5 + (a == b ? 6 : 0);
        scores.push_back(s * size);
        p.least = std::min(p.least, scores.back());
        p.most = std::max(p.most, scores.back());
      }
    bind();
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
    f[TRI_SCORES].data = scores.data();
    f[TRI_SCORES].rank = 1;
    f[TRI_SCORES].shape[0] = (int64_t)scores.size();
    f[TRI_SCORES].shape[1] = f[TRI_SCORES].shape[2] = 1;
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

/* EXTENSION with x_drop or without, test_tri_gpu_extension.cuh: the score; at: the best cell. */
template <class R>
static int extension_of(const letters_data<R> &d, int64_t row, int64_t column, int64_t at[2]);

/* Gotoh 1982 by its definition, a column at a time; of EXTENSION without x_drop the best cell. */
template <class R> static int score_of(const letters_data<R> &d, int64_t i, int64_t j) {
  int64_t at[2];
  if (tri_is_dropping(&d.p)) return extension_of(d, i, j, at);
  const bool local = d.p.function == TRI_LOCAL;
  const uint8_t *const a = d.codes.data() + d.starts[(size_t)i], *b = d.codes.data();
  const int64_t n = d.starts[(size_t)i + 1] - d.starts[(size_t)i], low = INT32_MIN / 2;
  const auto edge = [&](int64_t k) -> int64_t {
    return local || k == 0 ? 0 : -(d.p.open + k * d.p.extend);
  };
  std::vector<int64_t> h((size_t)n + 1), along((size_t)n + 1, low);
  int64_t best = 0;
  for (int64_t k = 0; k <= n; k++) h[(size_t)k] = edge(k);
  for (int64_t t = d.starts[(size_t)j]; t < d.starts[(size_t)j + 1]; t++) {
    int64_t corner = h[0], down = low;
    h[0] = edge(t + 1 - d.starts[(size_t)j]);
    for (size_t k = 1; k <= (size_t)n; k++) {
      const int64_t s = d.scores[(size_t)(a[k - 1] * d.p.codes + b[t])];
      along[k] = std::max(along[k], h[k] - d.p.open) - d.p.extend;
      down = std::max(down, h[k - 1] - d.p.open) - d.p.extend;
      const int64_t here = std::max({corner + s, along[k], down, local ? (int64_t)0 : low});
      corner = h[k];
      h[k] = here;
      best = std::max(best, here);
    }
  }
  return (int)(d.p.function == TRI_GLOBAL ? h[(size_t)n] : best);
}

/* Score of an alignment by its operations, INT32_MIN: it is none. */
template <class R>
static int worth_of(const letters_data<R> &d, int64_t i, int64_t j, const int64_t *span,
                    const uint32_t *operations) {
  const bool edit = d.p.function == TRI_EDIT;
  const int64_t a = d.starts[(size_t)i], b = d.starts[(size_t)j];
  int64_t at[2] = {span[0], span[2]}, sum = 0;
  for (int64_t k = 0; k < span[4]; k++) {
    const int64_t letters = operations[k] >> 4, what = operations[k] & 15;
    if (letters < 1 || (k > 0 && (operations[k - 1] & 15) == what)) return INT32_MIN;
    if (what == TRI_BAM_I || what == TRI_BAM_D) {
      sum -= edit ? letters : d.p.open + letters * d.p.extend;
      at[what == TRI_BAM_D] += letters;
      continue;
    }
    for (int64_t q = 0; q < letters; q++, at[0]++, at[1]++) {
      const int x = d.codes[(size_t)(a + at[0])], y = d.codes[(size_t)(b + at[1])];
      if ((x == y) != (what == TRI_BAM_SAME)) return INT32_MIN;
      sum += edit ? -(x != y) : d.scores[(size_t)(x * d.p.codes + y)];
    }
  }
  return at[0] == span[1] && at[1] == span[3] ? (int)sum : INT32_MIN;
}

/* The alignments of paired rows [lo, hi). */
template <class R>
static void check_alignments(const tri_case *c, const letters_data<R> &data, const tsl_part &part,
                             int64_t lo, int64_t hi) {
  const int field = tri_spans_of(&data.p);
  const auto *spans = (const int64_t(*)[TRI_SPAN])part.list[field].data;
  const uint32_t *operations = (const uint32_t *)part.list[field + 1].data;
  const bool edit = data.p.function == TRI_EDIT, local = data.p.function == TRI_LOCAL;
  if (part.list[field].n != hi - lo) report(c, 0, "alignments", lo, (double)part.list[field].n, 0);
  for (int64_t i = lo; i < hi && part.list[field].n == hi - lo;
       operations += spans[i - lo][4], i++) {
    const int64_t *const span = spans[i - lo], place = data.p.first + i;
    int64_t end[2] = {data.starts[(size_t)place + 1] - data.starts[(size_t)place],
                      data.starts[(size_t)i + 1] - data.starts[(size_t)i]};
    if (data.p.function == TRI_EXTENSION) (void)extension_of(data, place, i, end);
    const int want = edit ? -data.distance(place, i) : score_of(data, place, i);
    const bool whole = span[0] == 0 && span[2] == 0 && span[1] == end[0] && span[3] == end[1];
    const int got = local || whole ? worth_of(data, place, i, span, operations) : INT32_MIN;
    n_checks++;
    if (got != want) report(c, 0, "alignments", i, got, want);
  }
}

/* Rows [lo, hi) of condensed or paired output beside the tables. */
template <class R>
static tsl_err letters_rows(const tri_case *c, letters_data<R> *data, tsl_worker *worker,
                            int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const tri_params *p = &data->p;
  int64_t values = 0, first = 0, end = 0;
  tsl_unit unit = {};
  tsl_part part = {};
  unit.lo[0] = lo, unit.hi[0] = hi;
  for (int64_t i = lo; i < hi; i++) {
    tri_row_span(p, i, &first, &end);
    values += end - first;
  }
  TSL_TRY(
      backend->host_alloc(std::max<int64_t>(values, 1) * (int64_t)sizeof(R), &part.slab[TRI_OUT]));
  TSL_TRY(backend->run(worker, &unit, 1, &part));
  for (int64_t i = lo, at = 0; i < hi; i++) {
    tri_row_span(p, i, &first, &end);
    for (int64_t j = first; j < end; j++, at++) {
      const double got = (double)((const R *)part.slab[TRI_OUT])[at];
      const double want = p->function == TRI_EDIT ? data->distance(p->first + i, j)
                                                  : score_of(*data, p->first + i, j);
      n_checks++;
      if (got != want) report(c, 0, "sequences", i * p->n + j, got, want);
    }
  }
  if (p->aligned) check_alignments(c, *data, part, lo, hi);
done:
  backend->host_free(part.slab[TRI_OUT]);
  for (tsl_list &list : part.list) free(list.data);
  return err;
}

template <class R> static tsl_err check_letters(letters_data<R> &data) {
  tsl_err err = TSL_OK;
  const int64_t rows = data.p.n - data.p.first, cuts[] = {0, rows / 5, rows / 5 + 1, rows};
  const tri_case c = {data.p.function, data.p.output, data.p.type, data.p.n, 0, 0, 0};
  tsl_worker *worker = NULL;
  TSL_TRY(backend->open(&data.problem, &device, &worker));
  TSL_TRY(backend->begin(worker, 0));
  for (int k = 0; k < 3; k++) TSL_TRY(letters_rows(&c, &data, worker, cuts[k], cuts[k + 1]));
done:
  backend->close(&worker);
  return err;
}

template <class R>
static tsl_err letters_case(const std::vector<int64_t> &lengths, int64_t columns, int n_codes) {
  letters_data<R> data(TRI_EDIT, lengths, columns, n_codes);
  return check_letters(data);
}

/* All whole tables of alignments; size: of scores, open and extend too. */
template <class R>
static tsl_err align_case(const std::vector<int64_t> &lengths, int64_t columns, int n_codes,
                          int size, int open, int extend) {
  tsl_err err = TSL_OK;
  for (int function : {TRI_GLOBAL, TRI_LOCAL, TRI_EXTENSION}) {
    letters_data<R> data(function, lengths, columns, n_codes);
    data.p.x_drop = TRI_NO_DROP;
    data.score(size, size * open, size * extend);
    TSL_TRY(check_letters(data));
  }
done:
  return err;
}

/* Record by record of two sets with these lengths, all functions; size: of scores. Alignments of
 * EXTENSION have tests of their own. */
template <class R>
static tsl_err paired_case(std::vector<int64_t> lengths, const std::vector<int64_t> &others,
                           int n_codes, int size) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)lengths.size();
  lengths.insert(lengths.end(), others.begin(), others.end());
  for (int function : {TRI_EDIT, TRI_GLOBAL, TRI_LOCAL, TRI_EXTENSION}) {
    if (n_codes > TRI_LETTERS_SCORED && function != TRI_EDIT) continue;
    letters_data<R> data(function, lengths, n, n_codes);
    data.p.output = TRI_PAIRED;
    data.p.aligned = function != TRI_EXTENSION;
    data.p.x_drop = TRI_NO_DROP;
    if (function != TRI_EDIT) data.score(size, size * 5, size * 2);
    TSL_TRY(check_letters(data));
  }
done:
  return err;
}

/* In 4 MiB of device memory alignments are made in several batches, few side by side; the largest
 * alone takes 2 MiB. */
static tsl_err test_paired_in_little_memory(const std::vector<int64_t> &a,
                                            const std::vector<int64_t> &b) {
  tsl_err err = TSL_OK;
  const int64_t limit = device.memory_limit;
  device.memory_limit = 4 << 20;
  TSL_TRY(paired_case<float>(a, b, 24, 1));
done:
  device.memory_limit = limit;
  return err;
}

/* Ragged lengths about words and tiles, none, one letter, a long one among short ones, and couples
 * of which one is long where the other is short; 2048 letters and more of a text. */
static tsl_err test_paired(void) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> a, b, longer = {4000, 0, 1, 33, 2049, 300, 2048, 5};
  const std::vector<int64_t> beside = {40, 7, 0, 2100, 2050, 3000, 1, 2048};
  for (int64_t k = 0; k < 900; k++) {
    a.push_back((int64_t)(140 * random_at((uint64_t)k)));
    b.push_back((int64_t)(140 * random_at((uint64_t)(k + 7000))));
  }
  a[17] = b[500] = 14000, a[18] = 0, b[18] = 0, a[19] = b[19] = 1, a[20] = 257, a[21] = 1025;
  for (int codes : {4, 24, 32, 256}) TSL_TRY(paired_case<float>(a, b, codes, 1));
  for (int size : {1, 30, 1500}) TSL_TRY(paired_case<double>(a, b, 20, size));
  TSL_TRY(test_paired_in_little_memory(a, b));
  for (int64_t k = 0; k < 900; k++) { /* all numbers of letters and tiles of eight lanes */
    a[(size_t)k] = (k * 37) % 400, b[(size_t)k] = (k * 101) % 300;
  }
  TSL_TRY(paired_case<float>(a, b, 24, 2));
  TSL_TRY(paired_case<float>(longer, beside, 5, 1));
  TSL_TRY(paired_case<double>(longer, beside, 24, 3));
  TSL_TRY(paired_case<float>({6000, 2500, 3000, 2049, 600}, {5990, 7000, 2999, 20, 5000}, 20, 3));
  TSL_TRY(paired_case<float>({3}, {4}, 4, 1));
done:
  return err;
}

/* Lengths about words of 32 letters, and about those where kernels and passes change: 256 and 1024
 * of edit distances, 2048 of alignments; copies so long that their scores leave 16 bits. */
static tsl_err test_letters(void) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> ends, many, longer = {1023, 1024, 1025, 2047, 2049, 3100, 7, 200};
  const std::vector<int64_t> copies = {70, 5000, 4990, 4900, 0, 4000, 3900, 1, 2049};
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
  for (int size : {1, 10, 100, 1500}) {
    TSL_TRY(align_case<float>(ends, 0, 24, size, 5, 2));
    TSL_TRY(align_case<double>(ends, 13, 32, size, 11, 1));
  }
  TSL_TRY(align_case<float>(ends, 9, 4, 1, 0, 1));
  TSL_TRY(align_case<float>(ends, 9, 4, 1, 3, 100));
  TSL_TRY(align_case<float>(longer, 0, 5, 1, 5, 2));
  TSL_TRY(align_case<double>(longer, 2, 20, 1, 11, 1));
  TSL_TRY(align_case<float>(many, 4400, 20, 1, 11, 1));
  TSL_TRY(align_case<float>(copies, 0, 20, 3, 5, 2));
  TSL_TRY(align_case<double>(copies, 4, 20, 3, 5, 2));
  TSL_TRY(align_case<float>({3}, 0, 4, 1, 5, 2));
done:
  return err;
}
