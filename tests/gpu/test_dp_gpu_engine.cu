/* The engine for any recurrence, weighted edit distance and time warping on a card. */
#include "dp_grid.cuh"
#include "test_dp_gpu.cuh"

#include <math.h>

/* A recurrence whose values show every mistake in an operand, an index or an order. */
template <class V> struct mix_cell {
  typedef V T;
  typedef struct DATA {
    const int32_t *a, *b;
    int modulus;
  } DATA;
  static const bool BEST = true, WAYS = true;
  DATA d;

  __host__ __device__ mix_cell(const DATA &data) : d(data) {
  }
  __host__ __device__ T operator()(T up, T left, T diagonal, long long p, long long q,
                                   int &bad) const {
    const long long v = 3 * (long long)up + 5 * (long long)left + 7 * (long long)diagonal + 11 * p +
                        13 * q + d.a[p - 1] * d.b[q - 1];
    if (v % 100003 == 77) bad |= 4;
    return (T)(v % d.modulus);
  }
  __host__ __device__ bool ahead(T v, T best) const {
    return v > best;
  }
  __host__ __device__ bool before(long long p, long long q, long long p2, long long q2) const {
    return p < p2 || (p == p2 && q < q2);
  }
  __host__ __device__ int way(T up, T left, T, T v, long long, long long) const {
    return v == up ? 2 : v == left ? 1 : 0;
  }
};

/* An instance on host and card. */
template <class V> struct mix_problem {
  typedef mix_cell<V> CELL;
  int64_t n, m;
  std::vector<int32_t> a, b;
  std::vector<V> t; /* [n + 1][m + 1] */
  dp_engine_best<V> best;
  int bad;
  typename CELL::DATA data;

  mix_problem(dp_random &r, int64_t rows, int64_t columns, int modulus) : n(rows), m(columns) {
    for (int64_t i = 0; i < n; i++) a.push_back((int32_t)r.below(100));
    for (int64_t j = 0; j < m; j++) b.push_back((int32_t)r.below(100));
    data.a = a.data();
    data.b = b.data();
    data.modulus = modulus;
    const CELL cell(data);
    best = dp_engine_best<V>{0, -1, -1};
    bad = 0;
    t.assign((size_t)((n + 1) * (m + 1)), 0);
    for (int64_t i = 0; i <= n; i++)
      for (int64_t j = 0; j <= m; j++) {
        V &v = at(i, j);
        if (i == 0 || j == 0) {
          v = (V)r.below(modulus);
          continue;
        }
        v = cell(at(i - 1, j), at(i, j - 1), at(i - 1, j - 1), i, j, bad);
        if (best.p < 0 || v > best.value) best = dp_engine_best<V>{v, i, j};
      }
  }
  V &at(int64_t i, int64_t j) {
    return t[(size_t)(i * (m + 1) + j)];
  }
};

template <class T> static tsl_err upload(tsl_gpu_buffer *b, const T *data, int64_t count) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&card.memory, b, count * (int64_t)sizeof(T) + 8, "test data"));
  TSL_CUDA_TRY(cudaMemcpy(b->data, data, (size_t)count * sizeof(T), cudaMemcpyDefault));
done:
  return err;
}

/* Rows lo..hi-1, columns c0..c1-1 of the table's inside as one tile; all that it writes is
 * compared. */
template <class V, int NC>
static tsl_err check_tile(mix_problem<V> &x, int64_t lo, int64_t hi, int64_t c0, int64_t c1) {
  typedef mix_cell<V> CELL;
  enum { A, B, ABOVE, BELOW, EDGE, TABLE, BEST, BAD, FINISHED, COUNT };
  tsl_err err = TSL_OK;
  tsl_gpu_buffer buffers[COUNT] = {};
  dp_engine_args<CELL> args = {};
  const int64_t rows = hi - lo, columns = c1 - c0, strips = columns / (32 * NC) + 1;
  std::vector<V> edge, below((size_t)columns), table((size_t)(rows * columns));
  std::vector<dp_engine_best<V>> best((size_t)strips, dp_engine_best<V>{0, -1, -1});
  dp_engine_best<V> most = {0, -1, -1}, wanted = {0, -1, -1};
  int bad = 0, wanted_bad = 0;
  int64_t wrong = 0;
  for (int64_t i = lo; i <= hi; i++) edge.push_back(x.at(i, c0));
  TSL_TRY(upload(&buffers[A], x.a.data(), x.n));
  TSL_TRY(upload(&buffers[B], x.b.data(), x.m));
  TSL_TRY(upload(&buffers[ABOVE], &x.at(lo, c0 + 1), columns));
  TSL_TRY(upload(&buffers[BELOW], below.data(), columns));
  TSL_TRY(upload(&buffers[EDGE], edge.data(), rows + 1));
  TSL_TRY(upload(&buffers[TABLE], table.data(), rows * columns));
  TSL_TRY(upload(&buffers[BEST], best.data(), strips));
  TSL_TRY(upload(&buffers[BAD], &bad, 1));
  args.data = x.data;
  args.data.a = (const int32_t *)buffers[A].data;
  args.data.b = (const int32_t *)buffers[B].data;
  args.above = (const V *)buffers[ABOVE].data;
  args.below = (V *)buffers[BELOW].data;
  args.edge = (V *)buffers[EDGE].data;
  args.table = (V *)buffers[TABLE].data;
  args.stride = columns;
  args.best = (dp_engine_best<V> *)buffers[BEST].data;
  args.bad = (int *)buffers[BAD].data;
  args.p0 = lo + 1;
  args.q0 = c0 + 1;
  args.rows = (int)rows;
  args.columns = (int)columns;
  TSL_TRY((dp_grid_launch<CELL, NC>(&card, args, &buffers[FINISHED])));
  TSL_TRY(dp_card_wait(&card));
  TSL_CUDA_TRY(cudaMemcpy(edge.data(), args.edge, edge.size() * sizeof(V), cudaMemcpyDefault));
  TSL_CUDA_TRY(cudaMemcpy(below.data(), args.below, below.size() * sizeof(V), cudaMemcpyDefault));
  TSL_CUDA_TRY(cudaMemcpy(table.data(), args.table, table.size() * sizeof(V), cudaMemcpyDefault));
  TSL_CUDA_TRY(cudaMemcpy(best.data(), args.best, best.size() * sizeof best[0], cudaMemcpyDefault));
  TSL_CUDA_TRY(cudaMemcpy(&bad, args.bad, sizeof bad, cudaMemcpyDefault));
  {
    const mix_cell<V> cell(x.data);
    for (int64_t i = lo + 1; i <= hi; i++)
      for (int64_t j = c0 + 1; j <= c1; j++) {
        const V v = cell(x.at(i - 1, j), x.at(i, j - 1), x.at(i - 1, j - 1), i, j, wanted_bad);
        if (wanted.p < 0 || v > wanted.value) wanted = dp_engine_best<V>{v, i, j};
        wrong += table[(size_t)((i - lo - 1) * columns + j - c0 - 1)] != v;
      }
    for (int64_t i = lo + 1; i <= hi; i++) wrong += edge[(size_t)(i - lo)] != x.at(i, c1);
    for (int64_t j = c0 + 1; j <= c1; j++) wrong += below[(size_t)(j - c0 - 1)] != x.at(hi, j);
    for (const auto &b : best)
      if (b.p >= 0 && (most.p < 0 || b.value > most.value ||
                       (b.value == most.value && cell.before(b.p, b.q, most.p, most.q))))
        most = b;
  }
  check(wrong == 0, "tile of the engine", rows, columns, wrong);
  check(most.value == wanted.value && most.p == wanted.p && most.q == wanted.q, "best cell", rows,
        columns);
  check(bad == wanted_bad, "bad cells", rows, columns, bad);
done:
  for (tsl_gpu_buffer &b : buffers) tsl_gpu_release(&card.memory, &b);
  return err;
}

template <class V> static tsl_err test_mix(int modulus) {
  tsl_err err = TSL_OK;
  dp_random r((uint64_t)modulus);
  const std::vector<int64_t> full = {1, 2, 31, 33, 127, 509, 2003}, small = {1, 37, 300};
  for (int64_t n : small_sizes ? small : full)
    for (int64_t m : small_sizes ? small : full) {
      mix_problem<V> x(r, n, m, modulus);
      const int64_t lo = r.below(n), c0 = r.below(m);
      const int64_t hi = lo + 1 + r.below(n - lo), c1 = c0 + 1 + r.below(m - c0);
      TSL_TRY((check_tile<V, 8>(x, 0, n, 0, m)));
      TSL_TRY((check_tile<V, 8>(x, lo, hi, c0, c1)));
      TSL_TRY((check_tile<V, 4>(x, lo, hi, c0, c1)));
    }
done:
  return err;
}

/* ------------------------------------------------------ weighted edit distance, time warping */

typedef struct grid_case {
  dp_problem problem;
  tsl_type type;
  bool square;
  int64_t insert, remove, replace;
} grid_case;

/* Table and steps back by plain loops; T is the type of values. */
template <class T> struct grid_problem {
  grid_case c;
  std::vector<uint8_t> a, b;
  std::vector<T> x, y, t;
  int64_t n, m;

  T change(int64_t i, int64_t j) const {
    if (c.problem == DP_EDIT) return (T)(a[i - 1] == b[j - 1] ? 0 : c.replace);
    const T d = x[i - 1] - y[j - 1];
    return c.square ? d * d : d < 0 ? -d : d;
  }
  T &at(int64_t i, int64_t j) {
    return t[(size_t)(i * (m + 1) + j)];
  }
  grid_problem(dp_random &r, const grid_case &g, int64_t rows, int64_t columns)
      : c(g), a(random_text(r, rows, 4)), b(relative_of(r, a, columns, 4)), n(rows), m(columns) {
    const bool edit = c.problem == DP_EDIT;
    for (int64_t i = 0; i < n; i++) x.push_back((T)((double)r.below(1000) / 7));
    for (int64_t j = 0; j < m; j++) y.push_back((T)((double)r.below(1000) / 7));
    t.resize((size_t)((n + 1) * (m + 1)));
    for (int64_t i = 0; i <= n; i++)
      for (int64_t j = 0; j <= m; j++)
        if (i + j == 0)
          at(i, j) = 0;
        else if (i == 0 || j == 0)
          at(i, j) = (T)(edit ? (double)(i * c.remove + j * c.insert) : INFINITY);
        else if (edit)
          at(i, j) = std::min(at(i - 1, j - 1) + change(i, j),
                              std::min(at(i, j - 1) + (T)c.insert, at(i - 1, j) + (T)c.remove));
        else
          at(i, j) =
              change(i, j) + std::min(at(i - 1, j - 1), std::min(at(i, j - 1), at(i - 1, j)));
  }
  std::vector<uint8_t> steps() {
    std::vector<uint8_t> list;
    for (int64_t i = n, j = m; i > 0 && j > 0;) {
      const T beside = c.problem == DP_EDIT ? (T)c.insert : change(i, j);
      const int go = at(i - 1, j - 1) + change(i, j) == at(i, j) ? DP_STEP_PAIR
                     : at(i, j - 1) + beside == at(i, j)         ? DP_STEP_LEFT
                                                                 : DP_STEP_UP;
      list.push_back((uint8_t)go);
      if (go != DP_STEP_LEFT) i--;
      if (go != DP_STEP_UP) j--;
    }
    return list;
  }
  tsl_err open(int64_t c0, int64_t c1, dp_grid **band) const {
    if (c.problem == DP_EDIT)
      return dp_grid_open_edit(&card, c.insert, c.remove, c.replace, a.data(), n, b.data() + c0,
                               c1 - c0, m, c0, band);
    return dp_grid_open_dtw(&card, c.type, c.square, x.data(), n, y.data() + c0, c1 - c0, c0, band);
  }
};

/* Tiles of random cuts, edges through the host, then the way back over two kept chunks. */
template <class T> static tsl_err check_grid(dp_random &r, grid_problem<T> &x) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> rows = random_cuts(r, x.n, 2), columns = random_cuts(r, x.m, 2);
  std::vector<T> edge[2];
  std::vector<uint8_t> got, some((size_t)(x.n + x.m + 1));
  int64_t wrong = 0, i = x.n, j = x.m;
  dp_grid *band[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) TSL_TRY(x.open(columns[k], columns[k + 1], &band[k]));
  for (int chunk = 1; chunk >= 0; chunk--) {
    for (int k = 0; k < 2; k++) {
      TSL_TRY(dp_grid_begin(band[k]));
      for (int c = 0; c <= chunk; c++) {
        std::vector<T> right((size_t)(rows[c + 1] - rows[c] + 1));
        TSL_TRY(dp_grid_tile(band[k], rows[c], rows[c + 1], k == 0 ? NULL : edge[c].data(),
                             right.data(), c == chunk));
        for (int64_t p = rows[c]; p <= rows[c + 1]; p++)
          wrong += right[(size_t)(p - rows[c])] != x.at(p, columns[k + 1]);
        if (k == 0) edge[c] = right;
      }
    }
    for (int k = 1; k >= 0; k--) {
      int64_t count = 0, column = j - columns[k];
      if (column <= 0 || i <= rows[chunk]) continue;
      TSL_TRY(dp_grid_trace(band[k], &i, &column, some.data(), (int64_t)some.size(), &count));
      j = column + columns[k];
      got.insert(got.end(), some.begin(), some.begin() + count);
    }
  }
  check(wrong == 0, "edges of a grid", x.n, x.m, wrong);
  check(got == x.steps(), "way back of a grid", x.n, x.m);
done:
  for (int k = 0; k < 2; k++) dp_grid_close(&band[k]);
  return err;
}

template <class T> static tsl_err test_grid(const grid_case &c) {
  tsl_err err = TSL_OK;
  dp_random r(5);
  const std::vector<int64_t> full = {0, 1, 2, 33, 127, 509, 1531}, small = {0, 1, 37, 300};
  for (int64_t n : small_sizes ? small : full)
    for (int64_t m : small_sizes ? small : full) {
      grid_problem<T> x(r, c, n, m);
      TSL_TRY(check_grid(r, x));
    }
done:
  return err;
}

tsl_err test_engine(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(test_mix<int32_t>(1000003));
  TSL_TRY(test_mix<int32_t>(5));
  TSL_TRY(test_mix<long long>(1000003));
  TSL_TRY(test_mix<short>(8191));
  TSL_TRY(test_mix<float>(4093));
  TSL_TRY(test_mix<double>(1000003));
  TSL_TRY(test_grid<int32_t>({DP_EDIT, TSL_I32, false, 2, 3, 4}));
  TSL_TRY(test_grid<int32_t>({DP_EDIT, TSL_I32, false, 1, 1, 3}));
  TSL_TRY(test_grid<float>({DP_DTW, TSL_F32, true, 0, 0, 0}));
  TSL_TRY(test_grid<double>({DP_DTW, TSL_F64, false, 0, 0, 0}));
done:
  return err;
}
